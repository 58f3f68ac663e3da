"""Structural causal models: the published counterfactuals, and what must hold for any model."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression, PoissonRegressor

from skdisc.causal import StructuralCausalModel

LAW = [("F", "LSAT"), ("N", "LSAT"), ("F", "UGPA"), ("N", "UGPA")]
FLIP = {0: 1, 1: 0}


@pytest.fixture(scope="module")
def people():
    """Return people with a confounded pair of causes, mediators of both kinds, and names."""
    rng = np.random.default_rng(0)
    n = 500
    sex, race = rng.choice(["F", "M"], n), rng.integers(0, 2, n)
    school = 3 + 2.0 * (sex == "M") - race + rng.normal(size=n)
    pay = np.exp(0.3 * school + 0.2 * (sex == "M") * race + 0.1 * rng.normal(size=n))
    p = 1 / (1 + np.exp(-np.column_stack([school - 3, 1 - race, np.zeros(n)])))
    job = np.array(["clerk", "judge", "cook"])[(p + rng.gumbel(size=(n, 3))).argmax(axis=1)]
    return pd.DataFrame(
        {"sex": sex, "race": race, "school": school, "pay": pay, "job": pd.Categorical(job)}
    )


DAG = [
    ("sex", "school"),
    ("race", "school"),
    ("school", "pay"),
    ("sex", "pay"),
    ("school", "job"),
    ("race", "job"),
    ("job", "pay"),
]
MODELS = {
    "additive": {},
    "multiplicative": {"noise": {"pay": "multiplicative"}},
    "gumbel": {"coupling": "gumbel"},
    "clipped": {"clip": {"school": (0, 9)}},
    "confounded": {"confounding": {"sex": 0.3}},
}


def law_school(load):
    """Return the law students with the coding of the published counterfactuals."""
    law = load("cst/clean_LawSchool")
    return pd.DataFrame(
        {
            "F": (law["sex"] == "Female").astype(int),
            "N": (law["race_nonwhite"] == "NonWhite").astype(int),
            "LSAT": law["LSAT"].round(),
            "UGPA": law["UGPA"],
        }
    )


@pytest.mark.parametrize(("world", "do"), [("Male", {"F": 0}), ("White", {"N": 0})])
def test_published_law_school_worlds(load, world, do):
    X, published = law_school(load), load(f"cst/cf_LawSchool_lev3_do{world}")
    clip = {"LSAT": (10, 48), "UGPA": (0, 4)}
    scm = StructuralCausalModel(LAW, regressor=LinearRegression()).fit(X)
    residuals = scm.abduct(X)
    rows = scm.counterfactual(X, do)
    clipped = scm.set_params(clip=clip).counterfactual(X, do)
    moved = X[next(iter(do))] == 1
    counts = {"Male": {"LSAT": 106, "UGPA": 10}, "White": {"LSAT": 172, "UGPA": 201}}[world]
    for name, (low, high) in clip.items():
        assert np.abs(residuals[name] - published[f"resid_{name}"]).max() < 1e-9
        ours = rows[name].round(3).clip(low, high)
        assert np.abs(ours - published[f"scf_{name}"]).max() < 1e-9
        assert np.abs(clipped[name].round(3) - published[f"scf_{name}"])[moved].max() < 1e-9
        assert (clipped[name] == X[name])[~moved].all()
    cut = {n: int(((X[n] < low) | (X[n] > high))[~moved].sum()) for n, (low, high) in clip.items()}
    ours = {n: clipped.attrs["clipped"][n] + cut[n] for n in clip}  # published: those at rest, too
    assert ours == counts


def test_published_law_school_world_of_the_product(load):
    X, published = law_school(load), load("cst/cf_LawSchool_lev3_doMaleWhite")
    X["FN"] = X["F"] * X["N"]
    scm = StructuralCausalModel([("FN", "LSAT"), ("FN", "UGPA")]).fit(X)
    rows = scm.counterfactual(X, {"FN": 0})
    for name, ends in {"LSAT": (10, 48), "UGPA": (0, 4)}.items():
        ours = rows[name].round(3).clip(*ends)
        assert np.abs(ours - published[f"scf_{name}"]).max() < 1e-9
    assert (rows["LSAT"] != X["LSAT"]).sum() == 1833


def test_published_loan_world(load):
    X, published = load("cst/LoanApplication_v2"), load("cst/cf_LoanApplication_v2")
    names = ["AnnualSalary", "AccountBalance"]
    dag = [("Gender", names[0]), ("Gender", names[1]), (names[0], names[1])]

    def rounded(model):
        return (
            lambda pa, u: (model.predict(pa) + u).round(2),
            lambda pa, x: (x - model.predict(pa)).round(2),
        )

    fits = {
        names[0]: LinearRegression().fit(X[["Gender"]], X[names[0]]),
        names[1]: LinearRegression().fit(X[["Gender", names[0]]], X[names[1]]),
    }
    by_hand = StructuralCausalModel(dag, equations={n: rounded(m) for n, m in fits.items()}).fit(X)
    rows = by_hand.counterfactual(X, {"Gender": {1: 0}})
    men = X["Gender"] == 0
    pd.testing.assert_frame_equal(rows[men], X[men], check_dtype=False, check_exact=True)
    gap = np.abs(rows[names] - published[names]).where(~men, 0)
    assert gap.max().max() < 1e-9
    free = StructuralCausalModel(dag).fit(X).counterfactual(X, {"Gender": 0})
    gap = np.abs(free[names] - published[names]).max()
    assert gap.to_numpy() == pytest.approx([0.0011, 0.0103], abs=4e-3)
    signs = np.sign(free[names[0]] + 5 * free[names[1]] - 225_000)
    assert (signs == published["LoanApproval"]).all()


@pytest.mark.parametrize("world", ["Male", "White"])
def test_published_worlds_given_the_latent_variable(load, world):
    column, do = {"Male": ("F", {"F": 0}), "White": ("N", {"N": 0})}[world]
    first, second = (load(f"cst/cf_LawSchool_lev2_{i}_do{world}") for i in (1, 2))
    X = law_school(load).iloc[first["row"] - 1].reset_index(drop=True).assign(U=first["U"])
    X["UGPA"], X["LSAT"] = first["UGPA"], first["LSAT"]
    dag = [*LAW, ("U", "LSAT"), ("U", "UGPA")]
    scm = StructuralCausalModel(dag, regressor=LinearRegression()).fit(X)
    rows, clip = scm.counterfactual(X, do), {"LSAT": (10, 48), "UGPA": (0, 4)}
    for name, ends in clip.items():
        ours = rows[name].round(3).clip(*ends)
        assert np.abs(ours - second[f"scf_{name}"]).max() < 1e-9
    weights = LinearRegression().fit(X[["U", "F", "N"]], first["pr_UGPA"])
    log_lsat = LinearRegression().fit(X[["U", "F", "N"]], np.log(first["pr_LSAT"]))
    means = {
        "UGPA": lambda pa: weights.predict(pa[["U", "F", "N"]]),
        "LSAT": lambda pa: np.exp(log_lsat.predict(pa[["U", "F", "N"]])),
    }
    mean_only = StructuralCausalModel(dag, equations=means, noise="none").fit(X)
    rows = mean_only.counterfactual(X, do)
    for name in means:
        assert np.abs(rows[name].clip(*clip[name]) - first[f"scf_{name}"]).max() < 1e-9
    own = mean_only.counterfactual(X, {column: X[column]})
    assert np.abs(own["UGPA"] - X["UGPA"]).max() > 0.4  # the published rule is not consistent


def decisions(X):
    return 0.6 * X["UGPA"] + 0.4 * X["LSAT"] >= 20.8


POISSON = PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000)
LOG_LINEAR = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)


@pytest.mark.parametrize(
    ("noise", "regressor", "flips"),
    [
        ("additive", LinearRegression(), (56, 231)),
        ("multiplicative", POISSON, (80, 347)),
        ("multiplicative", LOG_LINEAR, (80, 409)),
    ],
)
def test_the_form_of_the_noise_matters(load, noise, regressor, flips):
    X = law_school(load)
    own = decisions(X)
    scm = StructuralCausalModel(
        LAW,
        noise={"LSAT": noise},
        regressor={"LSAT": regressor, "UGPA": LinearRegression()},
    ).fit(X)
    for column, n in zip("FN", flips, strict=True):
        rows = scm.counterfactual(X, {column: 0})
        rows = rows.assign(LSAT=rows["LSAT"].clip(10, 48), UGPA=rows["UGPA"].clip(0, 4)).round(3)
        assert (~own & decisions(rows) & (X[column] == 1)).sum() == n


@pytest.mark.parametrize("name", MODELS)
def test_doing_what_was_observed_changes_nothing(people, name):
    scm = StructuralCausalModel(DAG, random_state=0, **MODELS[name]).fit(people)
    rows = scm.counterfactual(people, {"sex": people["sex"], "race": people["race"].to_numpy()})
    pd.testing.assert_frame_equal(rows, people, check_exact=True)
    men = people["sex"] == "M"
    rows = scm.counterfactual(people, {"sex": "M"})
    pd.testing.assert_frame_equal(rows[men], people[men], check_exact=True)
    assert (rows.loc[~men, "school"] != people.loc[~men, "school"]).all()


@pytest.mark.parametrize("name", ["additive", "multiplicative", "gumbel", "confounded"])
def test_there_and_back_again(people, name):
    scm = StructuralCausalModel(DAG, random_state=0, **MODELS[name]).fit(people)
    u = scm.abduct(people)
    pa = people[list(scm.parents_["pay"])]
    assert np.allclose(scm.mechanisms_["pay"].predict(pa, u["pay"].to_numpy()), people["pay"])
    numeric = StructuralCausalModel(DAG[:2], random_state=0).fit(people)
    flip = {"sex": {"F": "M", "M": "F"}}
    back = numeric.counterfactual(numeric.counterfactual(people, flip), flip)
    assert np.allclose(back["school"], people["school"], rtol=0, atol=1e-12)


@given(st.data())
@settings(max_examples=15)
def test_any_model_gives_back_what_was_observed(people, data):
    names = list(people.columns)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    dag = data.draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    few = people.iloc[: data.draw(st.integers(60, 120))]
    scm = StructuralCausalModel(
        [*names, *dag],
        noise={"pay": data.draw(st.sampled_from(["additive", "multiplicative"]))},
        coupling=data.draw(st.sampled_from(["quantile", "gumbel"])),
        random_state=0,
    ).fit(few)
    done = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    same = scm.counterfactual(few, {name: few[name] for name in done})
    pd.testing.assert_frame_equal(same, few, check_exact=True)
    kept = data.draw(st.sampled_from(names[:2]))
    value = few[kept].iloc[0]
    moved = scm.counterfactual(few, {kept: value})
    at_rest = few[kept] == value
    pd.testing.assert_frame_equal(moved[at_rest], few[at_rest], check_exact=True, check_dtype=False)
    before = names[: names.index(kept)]
    pd.testing.assert_frame_equal(moved[before], few[before])


def test_row_by_row_oracle(people):
    scm = StructuralCausalModel([("sex", "school"), ("school", "pay"), ("sex", "pay")]).fit(people)
    means = people.groupby("sex")["school"].mean()
    Z = np.column_stack([np.ones(len(people)), people["sex"] == "M", people["school"]])
    b = np.linalg.lstsq(Z.astype(float), people["pay"], rcond=None)[0]
    rows = scm.counterfactual(people, {"sex": "M"})
    for i in range(50):
        person = people.iloc[i]
        school = person["school"] + means["M"] - means[person["sex"]]
        u = person["pay"] - b @ [1, person["sex"] == "M", person["school"]]
        assert rows["school"].iloc[i] == pytest.approx(school, abs=1e-10)
        assert rows["pay"].iloc[i] == pytest.approx(b @ [1, 1, school] + u, abs=1e-9)


def test_a_blocked_edge_passes_nothing_on(people):
    scm = StructuralCausalModel([("sex", "school"), ("school", "pay"), ("sex", "pay")]).fit(people)
    direct = scm.counterfactual(people, {"sex": "M"}, block=[("sex", "school")])
    assert (direct["school"] == people["school"]).all()
    Z = np.column_stack([np.ones(len(people)), people["sex"] == "M", people["school"]])
    b = np.linalg.lstsq(Z.astype(float), people["pay"], rcond=None)[0]
    women = people["sex"] == "F"
    assert np.allclose((direct["pay"] - people["pay"])[women], b[1])
    both = scm.counterfactual(people, {"sex": "M"}, block=[("sex", "school"), ("sex", "pay")])
    pd.testing.assert_frame_equal(both.drop(columns="sex"), people.drop(columns="sex"))
    with pytest.raises(ValueError, match="block names"):
        scm.counterfactual(people, {"sex": "M"}, block=[("race", "school")])


@pytest.mark.parametrize("coupling", ["quantile", "gumbel"])
def test_nominal_counterfactuals_have_the_law_of_the_other_world(coupling):
    rng = np.random.default_rng(1)
    n, p = 40_000, np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
    a = rng.integers(0, 2, n)
    job = np.array(list("xyz"))[(rng.random(n)[:, None] > p[a].cumsum(axis=1)).sum(axis=1)]
    X = pd.DataFrame({"a": a, "job": job})
    law = {"job": lambda pa: p[pa["a"]]}
    scm = StructuralCausalModel(
        [("a", "job")], equations=law, coupling=coupling, random_state=0
    ).fit(X)
    rows = scm.counterfactual(X, {"a": FLIP})
    for value in (0, 1):
        shares = rows.loc[a == value, "job"].value_counts(normalize=True)[list("xyz")]
        assert np.abs(shares.to_numpy() - p[1 - value]).max() < 0.015
    again = scm.counterfactual(X, {"a": FLIP})
    pd.testing.assert_frame_equal(rows, again)
    kept = (rows["job"] == X["job"]).mean()
    assert kept > 0.4  # independent noise would keep a third


def test_a_node_of_one_value_stays(people):
    X = people.assign(job="clerk")
    rows = StructuralCausalModel([("sex", "job")]).fit(X).counterfactual(X, {"sex": "M"})
    assert (rows["job"] == "clerk").all()


def test_samples_look_like_the_data(people):
    scm = StructuralCausalModel(DAG, noise={"pay": "multiplicative"}, random_state=0).fit(people)
    new = scm.sample(20_000, random_state=1)
    assert list(new.columns) == list(scm.parents_)
    assert (new["sex"] == "M").mean() == pytest.approx((people["sex"] == "M").mean(), abs=0.02)
    for sex in "FM":
        ours, theirs = (t.loc[t["sex"] == sex, "school"] for t in (new, people))
        assert ours.mean() == pytest.approx(theirs.mean(), abs=0.15)
    pd.testing.assert_frame_equal(new, scm.sample(20_000, random_state=1))


def test_graphs_are_read_alike(people):
    nodes = list(dict.fromkeys(n for edge in DAG for n in edge))
    graph = SimpleNamespace(nodes=nodes, edges=DAG)  # what networkx's graphs have
    by_pairs, by_graph = (
        StructuralCausalModel(d, random_state=0).fit(people) for d in (DAG, graph)
    )
    do = {"sex": "M"}
    pd.testing.assert_frame_equal(
        by_pairs.counterfactual(people, do), by_graph.counterfactual(people, do)
    )
    alone = StructuralCausalModel(["sex"]).fit(people).counterfactual(people, do)
    pd.testing.assert_frame_equal(alone, people.assign(sex="M"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dag": [("sex", "pay"), ("pay", "school"), ("school", "sex")]}, "cycle: .* -> "),
        ({"dag": [("sex", "pay"), ("pay", "pay")]}, "cycle: pay -> pay"),
        ({"dag": [("sex", "wage")]}, r"\['wage'\] of the causal model are not columns of X"),
        ({"dag": [("sex", "pay", "job")]}, "must be a pair"),
        ({"dag": [("sex", "pay")], "noise": {"school": "additive"}}, r"noise names \['school'\]"),
        ({"dag": [("sex", "pay")], "noise": "cubic"}, "noise must be one of"),
        ({"dag": [("sex", "pay")], "kinds": {"pay": "odd"}}, "kinds must be"),
        ({"dag": [("sex", "school")], "noise": "multiplicative"}, "values down to -"),
        ({"dag": [("job", "pay")], "confounding": {"job": 0.1}}, "'job' has 3"),
        ({"dag": [("sex", "pay")], "confounding": {"sex": 1.0}}, r"lie in \(-1, 1\)"),
        ({"dag": [("sex", "pay"), ("U", "pay")], "latent": {"U": "luck"}}, "latent parents"),
    ],
)
def test_what_cannot_be_is_refused_by_name(people, settings, message):
    with pytest.raises(ValueError, match=message):
        StructuralCausalModel(**settings).fit(people)


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"town": 1}, r"do names \['town'\]"),
        ({"sex": "X"}, "'X', which is not a value of the column"),
        ({"sex": {"f": "M"}}, "'f', which is not a value of the column"),
        ({"sex": ["M", "F"]}, r"shape \(2,\)"),
        ({}, "do must map columns"),
    ],
)
def test_impossible_interventions_are_refused(people, do, message):
    scm = StructuralCausalModel([("sex", "pay")]).fit(people)
    with pytest.raises(ValueError, match=message):
        scm.counterfactual(people, do)


def test_missing_values_are_refused_by_name(people):
    holes = people.assign(pay=people["pay"].where(people["pay"] > 2))
    with pytest.raises(ValueError, match=r"\['pay'\] have missing values"):
        StructuralCausalModel([("sex", "pay")]).fit(holes)


@pytest.mark.statistics
@pytest.mark.slow
def test_draws_follow_the_posterior_of_the_latent_variable():
    rng = np.random.default_rng(2)
    n, a, b = 300, 0.8, -0.5
    s, u = rng.integers(0, 2, n), rng.standard_normal(n)
    X = pd.DataFrame({"s": s, "x": a * u + s + 0.6 * rng.normal(size=n)})
    X["z"] = np.exp(b * u * (1 + s) + 0.4 * rng.normal(size=n))
    scm = StructuralCausalModel(
        [("s", "x"), ("U", "x"), ("s", "z"), ("U", "z")],
        equations={
            "x": lambda pa: a * pa["U"] + pa["s"],
            "z": lambda pa: np.exp(b * pa["U"] * (1 + pa["s"])),
        },
        noise={"z": "multiplicative"},
        latent={"U": "luck"},
        scale={"x": 0.6, "z": 0.4},
        random_state=0,
    ).fit(X)
    draws = scm.abduct(X, n_draws=20)["U"]
    weight = b * (1 + s)
    precision = 1 + a**2 / 0.6**2 + weight**2 / 0.4**2
    mean = (a * (X["x"] - s) / 0.6**2 + weight * np.log(X["z"]) / 0.4**2) / precision
    by_row = draws.groupby(level=1)
    z = (by_row.mean() - mean) * np.sqrt(precision)
    assert abs(z.mean()) < 0.05
    assert z.std() < 0.35
    assert (by_row.var() * precision).mean() == pytest.approx(1, abs=0.08)
    rows = scm.counterfactual(X, {"s": FLIP}, n_draws=3)
    assert rows.shape == (3 * n, 3)
    assert list(rows.columns) == ["s", "x", "z"]
    assert np.allclose(rows["x"], np.tile(X["x"] + 1 - 2 * s, 3))
    own = scm.counterfactual(X, {"s": X["s"]})
    pd.testing.assert_frame_equal(own, X)


@pytest.mark.statistics
def test_assumed_confounding_is_taken_out():
    rng = np.random.default_rng(3)
    n, r = 200_000, 0.4
    latent = rng.standard_normal(n)
    a = (rng.standard_normal(n) + latent > 0).astype(int)
    e = 0.7 * latent + rng.standard_normal(n)
    rho = np.corrcoef(a, e)[0, 1]
    X = pd.DataFrame({"a": a, "x": 2.0 * a + e, "w": np.exp(0.5 * a + e)})
    plain = StructuralCausalModel([("a", "x"), ("a", "w")], noise={"w": "multiplicative"}).fit(X)
    known = StructuralCausalModel(**plain.get_params() | {"confounding": {"a": rho}}).fit(X)
    women = X[a == 0]
    shift = {m: m.counterfactual(women, {"a": 1}) for m in (plain, known)}
    assert (shift[plain]["x"] - women["x"]).mean() > 2 + r
    assert (shift[known]["x"] - women["x"]).mean() == pytest.approx(2, abs=0.02)
    assert np.log(shift[known]["w"] / women["w"]).mean() == pytest.approx(0.5, abs=0.02)


def test_arguments_stay_as_they_were(people):
    before = people.copy()
    scm = StructuralCausalModel(DAG, random_state=0).fit(people)
    scm.counterfactual(people, {"sex": "M"})
    pd.testing.assert_frame_equal(people, before)


def test_a_column_is_set_in_every_draw():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 20), "pay": rng.normal(0, 1, 20)})
    scm = StructuralCausalModel([("sex", "pay")]).fit(X)
    other = np.where(X["sex"] == "F", "M", "F")
    drawn = scm.counterfactual(X, {"sex": other}, n_draws=3)
    assert drawn.equals(scm.counterfactual(X, {"sex": {"F": "M", "M": "F"}}, n_draws=3))


def test_assumed_confounding_leaves_equations_that_are_given_alone():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=500)})
    X["x"] = 2 * X["a"] + rng.normal(size=500)
    given = {"equations": {"x": lambda pa: 2 * pa["a"]}, "confounding": {"a": 0.5}}
    moved = StructuralCausalModel([("a", "x")], **given).fit(X).counterfactual(X, {"a": X["a"] + 1})
    np.testing.assert_allclose(moved["x"] - X["x"], 2)
