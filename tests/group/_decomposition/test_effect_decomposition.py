"""EffectDecomposition: discrete models by enumeration, double robustness, coverage."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression

from skdisc._expectations import Unlearned
from skdisc.datasets import make_loan
from skdisc.group import EffectDecomposition
from skdisc.group._decomposition._effects import CLIP, EffectNuisances, EffectParts

PARTS = ["total", "direct", "indirect", "spurious"]


def p_group(z):
    return 0.3 + 0.3 * z


def p_mediator(x, z):
    return 0.3 + 0.4 * x + 0.2 * z


def mean(x, z, w):
    """Return P(y = 1), with an interaction, so that the two directions differ."""
    return 0.2 + 0.1 * z + 0.3 * w - 0.15 * x + 0.1 * x * w


def enumerated(x1=1, x0=0):
    """Return the parts by the sums that define them."""
    pz = {0: 0.6, 1: 0.4}
    px = {z: {1: p_group(z), 0: 1 - p_group(z)} for z in pz}

    def z_given(x):
        joint = {z: pz[z] * px[z][x] for z in pz}
        return {z: v / sum(joint.values()) for z, v in joint.items()}

    def w_given(w, x, z):
        return p_mediator(x, z) if w else 1 - p_mediator(x, z)

    cells = list(product((0, 1), repeat=2))
    z0, z1 = z_given(x0), z_given(x1)
    direct = sum((mean(x1, z, w) - mean(x0, z, w)) * w_given(w, x0, z) * z0[z] for z, w in cells)
    indirect = sum(
        mean(x1, z, w) * (w_given(w, x0, z) - w_given(w, x1, z)) * z0[z] for z, w in cells
    )
    own = {z: sum(mean(x1, z, w) * w_given(w, x1, z) for w in (0, 1)) for z in pz}
    spurious = sum(own[z] * (z0[z] - z1[z]) for z in pz)
    return np.array([direct - indirect - spurious, direct, indirect, spurious])


def people(n, seed=0, fair=False):
    rng = np.random.default_rng(seed)
    z = rng.random(n) < 0.4
    x = rng.random(n) < (0.4 if fair else p_group(z))
    w = rng.random(n) < p_mediator(0 if fair else x, z)
    y = rng.random(n) < mean(0 if fair else x, z, w)
    X = pd.DataFrame({"sex": np.where(x, "F", "M"), "z": z.astype(int), "w": w.astype(int)})
    return X, y.astype(int)


def detector(**more):
    given = {"protected": "sex", "mediators": ["w"], "reference": "M", "random_state": 0}
    return EffectDecomposition(**(given | more))


def cell_nuisances(X, y, columns):
    """Return nuisances that are means of cells."""
    inside = (X["sex"] == "F").to_numpy()
    key = X[columns].apply(tuple, axis=1)
    share = pd.Series(inside.astype(float)).groupby(key).transform("mean").to_numpy()
    sides = [
        pd.Series(np.where(s, y, np.nan)).groupby(key).transform("mean").to_numpy()
        for s in (inside, ~inside)
    ]
    return EffectNuisances(share, *sides)


def test_with_means_of_cells_estimates_are_the_sums_of_the_definition():
    X, y = people(4000)
    inside = (X["sex"] == "F").to_numpy()
    own = EffectParts.of(
        y, inside, cell_nuisances(X, y, ["z", "w"]), cell_nuisances(X, y, ["z"])
    ).estimates
    F, M = X[inside], X[~inside]
    yf = pd.Series(y)[inside].groupby([F["z"], F["w"]]).mean()
    ym = pd.Series(y)[~inside].groupby([M["z"], M["w"]]).mean()
    zw = M.groupby(["z", "w"]).size() / len(M)
    assert own["direct"].value == pytest.approx(((yf - ym) * zw).sum())
    by_z = pd.Series(y)[inside].groupby(F["z"]).mean()
    z_m, z_f = (G["z"].value_counts(normalize=True) for G in (M, F))
    assert own["spurious"].value == pytest.approx((by_z * (z_m - z_f)).sum())
    assert own["indirect"].value == pytest.approx((yf * zw).sum() - (by_z * z_m).sum())


@pytest.mark.parametrize("nuisance", ["linear", "boosting", "auto"])
def test_estimates_are_near_the_enumerated_truth_in_both_directions(nuisance):
    X, y = people(20_000)
    table = detector(nuisance=nuisance).fit(X, y).result_.tables["effects"]
    truths = {"reference to group": enumerated(), "group to reference": enumerated(0, 1)}
    for direction, truth in truths.items():
        own = table[table["direction"] == direction].set_index("part").loc[PARTS]
        apart = (own["estimate"] - truth).abs() / own["std_error"]
        assert (apart < 3.5).all()
    assert abs(truths["reference to group"][1] + truths["group to reference"][1]) > 0.02


def test_one_wrong_nuisance_does_not_matter():
    X, y = people(20_000, 1)
    inside = (X["sex"] == "F").to_numpy()
    right = [cell_nuisances(X, y, c) for c in (["z", "w"], ["z"])]
    no_mean = [EffectNuisances(n.share, 0 * n.share, 0 * n.share) for n in right]
    no_share = [EffectNuisances(0 * n.share + 0.5, n.of_group, n.of_reference) for n in right]
    for wrong in (no_mean, no_share):
        own = EffectParts.of(y, inside, *wrong).estimates
        found = np.array([own[name].value for name in PARTS])
        assert found == pytest.approx(enumerated(), abs=0.03)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(60, 300))
def test_parts_add_up(seed, n):
    X, y = people(n, seed)
    table = detector(nuisance="linear", n_folds=2).fit(X, y).result_.tables["effects"]
    for _, own in table.groupby("direction"):
        part = own.set_index("part")["estimate"]
        rest = part["direct"] - part["indirect"] - part["spurious"]
        assert rest == pytest.approx(part["total"], abs=1e-12)


def test_without_confounders_nothing_is_spurious_and_without_mediators_nothing_indirect():
    X, y = people(500)
    for more, part in (
        ({"mediators": "others"}, "spurious"),
        ({"mediators": [], "confounders": ["z"]}, "indirect"),
    ):
        table = detector(nuisance="linear", **more).fit(X, y).result_.tables["effects"]
        assert (
            (table[table["part"] == part][["estimate", "std_error"]].abs() < 1e-12).to_numpy().all()
        )


def test_several_values_are_compared_with_the_reference():
    X, y = people(900)
    X["sex"] = np.random.default_rng(0).choice(["F", "M", "X"], len(X))
    result = detector(nuisance="linear").fit(X, y).result_
    assert sorted(map(str, result.findings.subgroups)) == ["sex = 'F'", "sex = 'X'"]


def test_learners_of_the_user_get_raw_columns_and_their_errors_are_named():
    X, y = people(1500)
    own = detector(nuisance=LogisticRegression(), classifier=LogisticRegression()).fit(X, y)
    linear = detector(nuisance=LinearRegression(), classifier="linear").fit(X, y)
    assert own.result_[0].effect == pytest.approx(linear.result_[0].effect, abs=0.01)
    named = X.assign(w=np.where(X["w"] == 1, "yes", "no"))
    with pytest.raises(ValueError, match="nuisance=LinearRegression failed on the columns"):
        detector(nuisance=LinearRegression(), classifier="linear").fit(named, y)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"mediators": ["sex"]}, "mediators names 'sex', which is among protected, too"),
        ({"confounders": ["w"]}, "mediators names 'w', which is among confounders, too"),
        ({"mediators": ["q"]}, "mediators"),
        ({"protected": None}, "needs protected="),
    ],
)
def test_errors_name_the_setting(more, message):
    with pytest.raises(ValueError, match=message):
        detector(**more).fit(*people(100))


def test_no_effect_is_found_where_the_columns_tell_the_group():
    """Men's salaries are round and women's are not: nobody of one side has one of the other."""
    X, _ = make_loan(n_samples=2000, random_state=5, return_X_y=True)
    decision = (X["annual_salary"] > 60_000).astype(int)
    result = EffectDecomposition(protected="gender", random_state=0).fit(X, decision).result_
    assert result.verdict == "insufficient evidence"
    assert result.reason.startswith("the columns nearly determine who belongs to the group")
    assert (result.findings.table[["ci_low", "ci_high"]].to_numpy() == [[-1, 1]]).all()


def test_a_group_is_told_by_those_who_belong_to_it():
    """A probability at the limit tells nothing if a learner's noise put it there."""

    def are_told(n_limit, n_other, n=1000):
        share = np.where(np.arange(n) < n_limit, CLIP, 0.5)
        inside = (np.arange(n) < n_other) | (np.arange(n) >= n // 2)
        nuisances = EffectNuisances(share, share, share)
        other_way = EffectNuisances(1 - share, share, share).swapped
        assert other_way.lack_overlap(inside) == nuisances.lack_overlap(inside)
        return nuisances.lack_overlap(inside)

    assert are_told(200, 0)
    assert not are_told(200, 10)  # a tenth as often as among all
    assert not are_told(400, 0, n=10_000)  # fewer than a tenth of the reference
    assert not are_told(20, 0, n=100)  # so few that the group may be there


@pytest.mark.slow
def test_without_overlap_the_evidence_is_insufficient():
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 600)
    X = pd.DataFrame({"sex": sex, "w": rng.normal(size=600) + 8 * (sex == "F")})
    result = detector().fit(X, rng.integers(0, 2, 600)).result_
    assert result.verdict == "insufficient evidence"
    assert "overlap" in result.reason


def of_places(n_places, n=2000):
    """Return people whose outcome depends on their place alone, where women live in other ones."""
    rng = np.random.default_rng(0)
    place = rng.integers(n_places, size=n)
    risk = place / (n_places - 1)
    X = pd.DataFrame({"sex": np.where(rng.random(n) < 0.25 + 0.5 * risk, "F", "M")})
    X["place"] = [f"p{i}" for i in place]
    return X, (rng.random(n) < 0.3 + 0.4 * risk).astype(int)


def test_learners_of_nothing_leave_the_gap_within_places():
    X, y = of_places(40)
    inside = (X["sex"] == "F").to_numpy()
    flat = np.full(len(y), 0.5)
    effects = pd.get_dummies(X["place"]).to_numpy(dtype=float)
    own = EffectNuisances(flat, flat, flat, effects=effects)
    np.testing.assert_allclose(own.weights(inside) @ effects, effects[~inside].mean(axis=0))
    rates = pd.Series(y).groupby([X["place"], inside]).mean().unstack()
    shares = X.loc[~inside, "place"].value_counts(normalize=True)
    within = ((rates[True] - rates[False]) * shares).sum()
    direct = EffectParts.of(y, inside, own, None).estimates["direct"]
    assert direct.value == pytest.approx(within)
    leaks = EffectParts.of(y, inside, EffectNuisances(flat, flat, flat), None).estimates["direct"]
    assert leaks.value > within + 0.05


@pytest.mark.slow
def test_small_places_are_no_direct_effect_and_too_small_ones_leave_it_open():
    trees = {"mediators": "others", "nuisance": "boosting", "classifier": "boosting"}
    small = detector(**trees).fit(*of_places(200)).result_
    assert small[0].ci_low <= 0 <= small[0].ci_high
    assert small.to_frame()["gap"][0] > 0.06
    tiny = detector(**trees | {"n_folds": 2}).fit(*of_places(300, 600)).result_
    assert tiny.verdict == "insufficient evidence"
    assert "nearly determine who belongs to the group" in tiny.reason
    assert tiny.tables["overlap"]["unmatched"].min() > 0.1


def test_a_confounder_as_strong_as_the_robustness_value_is_needed():
    """All of the effect is due to an omitted column: it is at least as strong as the value says."""
    rng = np.random.default_rng(0)
    n = 40_000
    u, w = rng.random(n) < 0.5, rng.random(n) < 0.5
    share = 0.3 + 0.4 * u
    x = rng.random(n) < share
    y = 0.5 * w + 0.8 * u + rng.normal(size=n)
    X = pd.DataFrame({"sex": np.where(x, "F", "M"), "w": w.astype(int)})
    result = detector(output="value", nuisance="linear", classifier="linear").fit(X, y).result_
    table = result.tables["sensitivity"].set_index("direction")
    odds = (1 - share) / share
    long = np.where(x, odds / (odds * x).mean(), -1 / (~x).mean())
    short = np.where(x, 1 / x.mean(), -1 / (~x).mean())
    of_weights = 1 - np.mean(short**2) / np.mean(long**2)
    sides = [y[x == s] - u[x == s] * 0.8 - 0.5 * w[x == s] for s in (True, False)]
    left = np.concatenate([(y - 0.5 * w)[x == s] - (y - 0.5 * w)[x == s].mean() for s in (1, 0)])
    of_outcome = 1 - np.concatenate(sides).var() / left.var()
    value = table.loc["reference to group", "robustness"]
    assert 0.05 < value <= max(of_weights, of_outcome) + 0.01
    fair = detector(nuisance="linear").fit(*people(2000, fair=True)).result_
    assert fair.tables["sensitivity"]["robustness_ci"].iloc[0] == 0
    assert value > table.loc["reference to group", "robustness_ci"] > 0


def few(seed, n=30, n_jobs=25):
    """Return 400 men and few women of whom an outcome depends on age alone, with many jobs."""
    rng = np.random.default_rng(seed)
    is_woman = np.arange(400 + n) >= 400
    age, job = rng.normal(size=400 + n) + is_woman, rng.integers(n_jobs, size=400 + n)
    X = pd.DataFrame({"sex": np.where(is_woman, "F", "M"), "age": age, "job": job.astype(str)})
    return X, (rng.random(400 + n) < 0.2 + 0.5 / (1 + np.exp(-age))).astype(int)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(10, 40))
def test_no_part_of_a_gap_in_rates_is_larger_than_one(seed, n):
    X, y = few(seed, n)
    learned = {"nuisance": "linear", "classifier": "linear", "n_folds": 2}
    found = detector(**learned, mediators="others").fit(X, y).result_
    table = found.tables["effects"]
    assert (table[["estimate", "ci_low", "ci_high"]].abs() <= 1).all(axis=None)
    assert ((table["ci_low"] <= table["estimate"]) & (table["estimate"] <= table["ci_high"])).all()
    direct = table[table["part"] == "direct"].set_index("direction")["estimate"]
    rates = pd.Series(y).groupby(X["sex"]).mean()
    assert 0 <= rates["M"] + direct["reference to group"] + 1e-9 <= 1 + 2e-9
    assert 0 <= rates["F"] + direct["group to reference"] + 1e-9 <= 1 + 2e-9


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.integers(3, 40), st.integers(1, 30))
def test_weights_are_shares(seed, n, n_effects):
    rng = np.random.default_rng(seed)
    inside, effects = np.arange(n + 50) < n, rng.normal(size=(n + 50, n_effects))
    share = rng.uniform(0.01, 0.99, n + 50)
    weight = EffectNuisances(share, share, share, effects=effects).weights(inside)
    assert (weight >= 0).all()
    assert weight.sum() == pytest.approx(1)
    assert not weight[~inside].any()
    odds = np.where(inside, (1 - share) / share, 0.0)
    wanted = effects[~inside].mean(axis=0)
    before = np.linalg.norm(wanted - odds / odds.sum() @ effects)
    assert np.linalg.norm(wanted - weight @ effects) <= before + 1e-9


@pytest.mark.statistics
@pytest.mark.parametrize("n_jobs", [3, 25])
def test_intervals_of_few_people_cover(n_jobs):
    n, inside = 100, 0
    linear = {"nuisance": "linear", "classifier": "linear", "n_folds": 3, "mediators": "others"}
    for seed in range(n):
        (found,) = detector(**linear).fit(*few(seed, n_jobs=n_jobs)).result_
        inside += found.ci_low <= 0 <= found.ci_high
    assert inside / n >= 0.95 - 2.5 * np.sqrt(0.95 * 0.05 / n)


@pytest.mark.statistics
@pytest.mark.parametrize(("nuisance", "n"), [("linear", 40), ("boosting", 20)])
def test_intervals_cover(nuisance, n):
    """Coverage of .7 would fail with probability .99 of 40, .89 of 20 runs."""
    truth, inside = enumerated(), np.zeros(4)
    for seed in range(n):
        X, y = people(2000, seed)
        own = detector(nuisance=nuisance, classifier=nuisance).fit(X, y).result_.tables["effects"]
        own = own[own["direction"] == "reference to group"].set_index("part").loc[PARTS]
        inside += (own["ci_low"] <= truth) & (truth <= own["ci_high"])
    assert (inside / n >= 0.95 - 2.5 * np.sqrt(0.95 * 0.05 / n)).all()


@pytest.mark.statistics
def test_where_nothing_differs_effects_are_rarely_found():
    n, linear = 60, {"nuisance": "linear", "classifier": "linear"}
    fits = [detector(**linear).fit(*people(1000, seed, fair=True)) for seed in range(n)]
    found = [fit.result_ for fit in fits]
    share = np.mean([result.verdict == "disparity found" for result in found])
    assert share <= 0.05 + 2 * np.sqrt(0.95 * 0.05 / n)  # .2: fails with probability .97
    zero = [(r.tables["effects"]["p_value"] > 1e-4).all() for r in found]
    assert all(zero)


def codes_world(seed, effect=0.0, n=2000):
    """Return people of 40 zip codes, which decisions and the share of women follow."""
    rng = np.random.default_rng(seed)
    place, at = rng.permutation([-1, 1] * 20), rng.integers(40, size=n)
    woman = rng.random(n) < 0.5 + 0.3 * place[at]
    X = pd.DataFrame({"zip": rng.choice(np.arange(10_000, 99_999), 40, False)[at]})
    X["sex"] = np.where(woman, "F", "M")
    return X, (rng.random(n) < 0.45 + 0.15 * place[at] + effect * woman).astype(int)


@pytest.mark.slow
def test_codes_read_as_numbers_are_no_direct_effect():
    """With main effects or trees alone, 11 of 15 such data sets had one."""
    found = 0
    for seed in range(3):
        detector = EffectDecomposition(protected="sex", reference={"sex": "M"})
        result = detector.fit(*codes_world(seed)).result_
        found += result.verdict == "disparity found"
        assert abs(result.findings.table["effect"].iloc[0]) < 0.08
    assert found <= 1
    real = EffectDecomposition(protected="sex", reference={"sex": "M"})
    real = real.fit(*codes_world(3, -0.15)).result_
    assert real.verdict == "disparity found"
    low, high = real.findings.table[["ci_low", "ci_high"]].iloc[0]
    assert low < -0.15 < high


def test_what_is_left_to_learn_widens_the_direct_effect_at_both_ends():
    X, y = codes_world(0)
    inside = X["sex"].eq("F").to_numpy()
    share = np.full(len(y), 0.5)
    nuisances = EffectNuisances(share, np.full(len(y), y.mean()), np.full(len(y), y.mean()))
    unlearned = (Unlearned(("zip",), 40, bias=0.1, error=0.02),)
    plain, widened = (
        EffectParts.of(y * 1.0, inside, n, None).estimates
        for n in (nuisances, replace(nuisances, unlearned=unlearned))
    )
    assert widened["direct"].value == plain["direct"].value
    assert widened["direct"].error == pytest.approx(plain["direct"].error + 0.14 / 1.96)
    assert widened["total"] == plain["total"]
