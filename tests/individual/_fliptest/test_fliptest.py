"""FlipTest: what holds of any transport, and what does not pass for one."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from skdisc import Limits, _stats
from skdisc._utils import _optional
from skdisc.datasets import make_hiring
from skdisc.individual import FlipTest
from skdisc.individual._fliptest import _optimal_transport as transport


def people(n=120, seed=0):
    """Return as many women as men, in random order."""
    rng = np.random.default_rng(seed)
    sex = rng.permutation(["F", "M"] * (n // 2))
    x = rng.normal(0, 1, n) + (sex == "M")
    return pd.DataFrame({"sex": sex, "x": x, "z": rng.normal(0, 1, n)})


def model(X):
    return (X["x"] + X["z"] * np.where(X["sex"] == "F", 1, -1) > 0.5).astype(int)


def flips(X, rule=model, group="F", reference="M", y=None, **settings):
    settings = {"protected": "sex", "solver": "assignment", "random_state": 0, **settings}
    return FlipTest(group=group, reference=reference, **settings).fit(X, y, rule).result_


def of(result):
    return result.tables["flipsets"].iloc[0]


@pytest.mark.parametrize("cost", ["squared_l1", "l1", "squared_l2", lambda a, b: cdist(b, a).T])
def test_the_net_is_the_difference_in_accepted_people_for_any_bijection(cost):
    X = people()
    accepted = model(X).groupby(X["sex"]).sum()
    row = of(flips(X, cost=cost))
    assert row["exact"]
    assert row["net"] == accepted["F"] - accepted["M"]
    assert row["n"] == 60


def test_pairs_too_far_apart_are_no_cases():
    X = people().assign(x=lambda frame: frame["x"] - 3 * (frame["sex"] == "F"))
    near, every = (flips(X, max_distance=limit) for limit in (2.0, None))
    pairs = every.tables["transported"].set_index("row")
    distance = pairs.loc[pairs["case"], "distance"]
    assert 0 < (distance <= 2).sum() < len(distance)
    assert set(near.findings.row) == set(distance.index[distance <= 2])
    assert of(near)["net"] == of(every)["net"]


def test_the_optimum_is_that_of_the_solver_on_the_same_costs():
    X = people()
    z = (X[["x", "z"]] / X[["x", "z"]].std(ddof=0)).to_numpy()
    women, men = (np.flatnonzero(X["sex"] == s) for s in "FM")
    cost = cdist(z[women], z[men], "cityblock") ** 2
    i, j = linear_sum_assignment(cost)
    found = flips(X)
    assert of(found)["cost"] == pytest.approx(cost[i, j].mean())
    (distance,) = found.tables["runs"]["distance"]
    assert distance == pytest.approx(np.sqrt(cost[i, j]).mean())
    pairs = found.tables["transported"].sort_values("row")
    assert pairs["partner"].tolist() == men[j].tolist()
    own, other = model(X)[women].to_numpy(), model(X)[men[j]].to_numpy()
    assert of(found)["positive"] == np.sum(own > other)
    assert of(found)["negative"] == np.sum(own < other)


def test_pairs_have_the_protected_column():
    pairs = flips(people()).to_frame("pairs")
    assert len(pairs)
    assert list(pairs.columns[:3]) == ["sex", "x", "z"]
    assert pairs["sex"].tolist() == ["F", "M"] * (len(pairs) // 2)


def test_the_inverse_swaps_the_flipsets():
    X = people()
    there, back = of(flips(X)), of(flips(X, group="M", reference="F"))
    assert there[["positive", "negative"]].tolist() == back[["negative", "positive"]].tolist()
    assert there["positive"] > 0


def test_identical_groups_give_none():
    women = people()[lambda X: X["sex"] == "F"]
    X = pd.concat([women, women.assign(sex="M")], ignore_index=True)
    result = flips(X, lambda X: (X["x"] > 0).astype(int))
    assert (of(result)["cost"], len(result), result.n_found) == (0, 0, 0)
    assert len(result.tables["transparency"]) == 0


def test_transparency_report():
    result = flips(people())
    pairs, report = result.tables["transported"], result.tables["transparency"]
    X = people()
    z = X[["x", "z"]] / X[["x", "z"]].std(ddof=0)
    for name, sign in (("positive", 1), ("negative", -1)):
        some = pairs[pairs["flip"] == sign]
        gap = z.to_numpy()[some["row"]] - z.to_numpy()[some["partner"]]
        table = report[report["flipset"] == name]
        assert table["mean"].to_numpy() == pytest.approx(gap.mean(axis=0))
        assert table["sign"].to_numpy() == pytest.approx(np.sign(gap).mean(axis=0))
        assert sorted(table["rank_mean"]) == [1, 2]


def lipton(n):
    """Return the applicants of Lipton et al. as FlipTest's authors draw them, and its model."""
    work, hair = np.random.RandomState(0), np.random.RandomState(1)
    years = [work.poisson(mean, n) - work.normal(20, 0.2, n) for mean in (31, 25)]
    lengths = [35 * hair.beta(2, b, n) for b in (7, 2)]
    X = pd.DataFrame({"work": np.concatenate(years), "hair": np.concatenate(lengths)})
    unit = (X - X.mean()) / X.std(ddof=0)
    hired = 1.2956 * unit["work"] + 1.0862 * unit["hair"] > 0.8668
    return X.assign(sex=np.repeat(["M", "F"], n)), hired.astype(int)


@pytest.mark.parametrize(
    ("n", "positive", "negative", "cost", "solver"),
    [
        (1000, 157, 136, 4.8604, "assignment"),
        (2000, 343, 258, 4.879, "pot"),
        pytest.param(4000, 670, 537, None, "pot", marks=pytest.mark.slow),
    ],
)
def test_published_data_carried_exactly(n, positive, negative, cost, solver):
    if solver == "pot":
        pytest.importorskip("ot")
    X, hired = lipton(n)
    result = flips(X, rule=None, y=hired, solver=solver, limits=Limits(rows=n))
    row = of(result)
    assert row["exact"]
    assert row[["positive", "negative"]].tolist() == pytest.approx([positive, negative])
    assert cost is None or row["cost"] == pytest.approx(cost, abs=5e-4 if n > 1000 else 5e-5)
    report = result.tables["transparency"].set_index(["flipset", "feature"])
    if n == 1000:
        expected = [(-0.352, -1), (1.942, 1), (-1.731, -1), (0.346, 0.956)]
        pairs = [(f, name) for f in ("positive", "negative") for name in ("work", "hair")]
        assert report.loc[pairs, ["mean", "sign"]].to_numpy() == pytest.approx(
            np.array(expected), abs=5e-4
        )


def test_the_hiring_model_turns_on_hair():
    """Black et al.: favored women have longer hair than the men they are paired with."""
    hiring = make_hiring(800, random_state=1)
    detector = FlipTest(protected="gender", group="female", solver="assignment", random_state=0)
    report = detector.fit(hiring.data, hiring.decision).result_.tables["transparency"]
    table = report.set_index(["flipset", "feature"])
    assert table.loc[("positive", "hair_length"), "mean"] > 1.5
    assert table.loc[("positive", "hair_length"), "rank_mean"] == 1
    assert table.loc[("negative", "work_experience"), "mean"] < -1.2
    assert table.loc[("negative", "work_experience"), "rank_mean"] == 1


def test_groups_of_unequal_size_are_drawn_and_averaged():
    X = people().drop(index=[0, 1, 2, 3, 4, 5, 7])
    row = of(flips(X, n_draws=3))
    sizes = X["sex"].value_counts()
    assert not row["exact"]
    assert (row["draws"], row["n"]) == (3, pytest.approx(min(sizes)))
    again = of(flips(X, n_draws=3))
    assert row.equals(again)
    row = of(flips(people(), limits=Limits(rows=20)))
    assert (row["n"], row["exact"]) == (pytest.approx(20), False)


def test_within_labels_nobody_is_carried_to_another_label():
    X = people()
    y = (X["z"] > 0).astype(int)
    pairs = flips(X, y=y, equalized_odds=True).tables["transported"]
    assert (y[pairs["row"]].to_numpy() == y[pairs["partner"]].to_numpy()).all()
    settings = {"protected": "sex", "group": "F", "reference": "M", "solver": "assignment"}
    search = FlipTest(equalized_odds=True, random_state=0, **settings).fit(X, y, model)
    for swapped in (y, 1 - y):  # new people with these labels
        again = search.audit(X, swapped).tables["transported"]
        assert set(again["row"]) == set(np.flatnonzero(X["sex"] == "F"))
        assert (swapped[again["row"]].to_numpy() == y[again["partner"]].to_numpy()).all()
    for one in (0, 1):
        some = X[y == one]
        again = search.audit(some, y[y == one]).tables["transported"]
        assert (y[again["partner"]] == one).all()
        assert 0 < len(again) == (some["sex"] == "F").sum()


def test_labels_in_place_of_the_model():
    X = people()
    y = (X["z"] > 0).astype(int)
    pairs = flips(X, y=y, outcome="y").tables["transported"]
    assert pairs["outcome"].tolist() == y[pairs["row"]].tolist()
    assert flips(X, rule=None, y=y).tables["transported"].equals(pairs)


def test_new_people_are_carried_as_the_nearest_of_fit():
    X = people()
    settings = {"protected": "sex", "group": "F", "reference": "M", "solver": "assignment"}
    detector = FlipTest(**settings).fit(X, model=model)
    again = detector.audit(X)
    assert again.n_found == detector.result_.n_found
    assert again.findings.row.tolist() == detector.result_.findings.row.tolist()
    assert detector.score(X) == again.n_found / 60


def test_several_attributes_and_groups():
    rng = np.random.default_rng(0)
    X = people().assign(town=rng.choice(list("abc"), 120, p=[0.8, 0.1, 0.1]))
    detector = FlipTest(protected=["town", "sex"], solver="assignment", random_state=0)
    result = detector.fit(X, model=model).result_
    runs = result.tables["runs"].set_index("attribute")
    table = result.tables["flipsets"]
    pairs = 4  # three pairs of towns and one of sexes, of which the best decided which are seen
    assert table["p_adjusted"].tolist() == _stats.adjust(table["p_value"], n_tests=pairs).tolist()
    for name in ("town", "sex"):
        counts = result.metrics["dsn_by_attr_value"][name]
        assert (counts["TSN"], counts["DSN"]) == tuple(runs.loc[name, ["TSN", "DSN"]])
    assert runs.loc["town", "runs"] == 2
    assert runs.loc["sex", "runs"] == 1
    assert set(result.findings.table["attribute"]) <= {"town", "sex"}
    found = result.tables["transported"].query("case").groupby("attribute")
    with_a_case = found[["group", "reference"]].apply(lambda some: len(some.drop_duplicates()))
    assert runs["successful"].to_dict() == with_a_case.reindex(runs.index, fill_value=0).to_dict()
    detector.set_params(max_attributes=1).fit(X, model=model)
    assert detector.result_.tables["runs"]["attribute"].tolist() == ["sex"]
    both = detector.set_params(max_attributes=None, combine="intersectional").fit(X, model=model)
    assert len(both.result_.tables["flipsets"]) == 5


@pytest.mark.statistics
def test_flips_that_chance_gives_as_well_are_no_cases():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"sex": ["F", "M"] * 30, "x": rng.normal(0, 1, 60)})
    fair = flips(X, lambda A: (A["x"] > 0).astype(int), n_permutations=39)
    assert of(fair)["positive"] + of(fair)["negative"] > 0
    assert of(fair)["p_value"] > 0.05
    assert (len(fair), fair.n_found) == (0, 0)
    unfair = flips(X, lambda A: (A["sex"] == "M").astype(int), n_permutations=39)
    assert of(unfair)["p_value"] == 1 / 40
    assert unfair.n_found == 30


def lot(n, seed, gap=0.0):
    """Return people of two groups and labels by chance, likelier for M by `gap`."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.permutation(["F", "M"] * (n // 2)), "x": rng.normal(0, 1, n)})
    return X, (rng.random(n) < 0.5 + gap / 2 * np.where(X["sex"] == "M", 1, -1)).astype(int)


@pytest.mark.statistics
def test_people_of_one_population_seldom_have_a_case():
    found = 0
    for seed in range(40):
        X, y = lot(40, seed)
        result = flips(X, None, y=y, n_permutations=19, random_state=seed)
        assert of(result)["positive"] + of(result)["negative"] > 0
        found += result.verdict == "disparity found"
    assert found <= 6  # more than that at a level of 0.05: 3 in 1,000


def test_verdicts():
    decide = lambda X: (X["x"] > 0).astype(int)  # noqa: E731
    for n, verdict in ((2000, "no disparity found"), (60, "insufficient evidence")):
        result = flips(lot(n, 2)[0], decide, limits=Limits(rows=100))
        row = of(result)
        assert (result.verdict, row["positive"] + row["negative"] > 0) == (verdict, True)
        assert (result.answer.bound < 0.09) == (n == 2000)
        assert 0 < row["by_chance"] < 0.12  # 0.103 for 60 people in 999 permutations
    X, y = lot(200, 0, gap=0.5)  # nearly as many flips as by chance, but most in one direction
    assert of(flips(X, None, y=y))["p_value"] == 0.01
    balanced = flips(people(), lambda X: ((X["z"] > 0) == (X["sex"] == "F")).astype(int))
    assert of(balanced)[["positive", "negative"]].min() > 20  # many of which cancel
    assert balanced.verdict == "disparity found"
    assert of(flips(X, None, y=y, n_permutations=0))["p_value"] != 0.01
    untested = flips(lot(60, 1)[0], decide, n_permutations=0)
    assert len(untested) > 0
    assert (untested.verdict, untested.reason) == (
        "insufficient evidence",
        "n_permutations is 0, so flips were not tested",
    )
    assert any("were not compared" in note for note in untested.notes)


@pytest.mark.statistics
def test_within_labels_chance_is_that_within_labels():
    rng = np.random.default_rng(0)
    X, y = lot(300, 0, gap=0.8)
    decided = pd.Series(np.where(rng.random(300) < 0.2, 1 - y, y))
    rule = lambda X: decided[X.index]  # noqa: E731
    assert flips(X, rule, y=y).verdict == "disparity found"
    assert of(flips(X, rule, y=y, equalized_odds=True))["p_value"] > 0.05


class Unconverged:
    """A solver that stops before the optimum."""

    @staticmethod
    def emd(a, b, matrix, numItermax, log):
        return np.eye(len(matrix)) / len(matrix), {"warning": "stopped", "result_code": 3}


def test_an_unconverged_transport_is_refused(monkeypatch):
    monkeypatch.setattr(transport, "require", lambda *a, **k: Unconverged)
    with pytest.raises(ArithmeticError, match="did not converge"):
        flips(people(), solver="pot")


def test_wording(monkeypatch):
    X = people()
    with pytest.raises(ValueError, match="give y"):
        flips(X, equalized_odds=True)
    with pytest.raises(ValueError, match="give y"):
        flips(X, outcome="y")
    with pytest.raises(ValueError, match="must name columns"):
        flips(X, features=["q"])
    with pytest.raises(ValueError, match="needs protected"):
        FlipTest().fit(X, model=model)
    monkeypatch.setattr(_optional, "import_module", lambda name: (_ for _ in ()).throw(ImportError))
    with pytest.raises(ImportError, match=r"skdisc\[ot\]"):
        flips(X, solver="pot")


def test_pot_gives_the_same_flipsets_and_takes_unequal_groups():
    pytest.importorskip("ot")
    X = people()
    ours, theirs = flips(X), flips(X, solver="pot")
    assert of(theirs)["cost"] == pytest.approx(of(ours)["cost"])
    names = ["positive", "negative", "net"]
    assert of(theirs)[names].tolist() == pytest.approx(of(ours)[names].tolist())
    X = X.drop(index=range(7))
    row = of(flips(X, solver="pot"))
    assert row["exact"]
    rates = model(X).groupby(X["sex"]).mean()
    assert row["net"] / row["n"] == pytest.approx(rates["F"] - rates["M"])


def test_new_people_are_tested_among_themselves():
    detector = FlipTest(protected="sex", solver="assignment", random_state=0, pos_label=1)
    X, y = lot(400, 0, gap=0.8)
    detector.fit(X, y)
    assert detector.result_.verdict == "disparity found"
    fair = of(detector.audit(*lot(400, 1)))
    assert fair["p_value"] > 0.05 >= of(detector.audit(*lot(400, 2, gap=0.8)))["p_value"]
    assert detector.score(*lot(400, 1)) == 0.0
    women = X["sex"] == "F"
    alone = detector.audit(X[women], y[women])  # nobody of the reference: what was found at fit
    assert np.isnan(of(alone)["p_value"])
    assert alone.n_found == detector.result_.n_found > 0
    detector.fit(*lot(400, 1))
    assert detector.audit(X[women], y[women]).n_found == 0


def test_flips_by_chance_are_a_share_of_those_carried():
    X, y = lot(400, 0)
    few, all_at_once = (of(flips(X, None, y=y, limits=Limits(rows=n))) for n in (20, 200))
    assert few["by_chance"] == pytest.approx(all_at_once["by_chance"], rel=0.25)
