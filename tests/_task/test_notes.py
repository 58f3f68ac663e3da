"""Finding nothing is no all-clear where something was not, or could not have been, shown."""

import numpy as np
import pandas as pd
import pytest

from skdisc import BlackBox, Limits, Rule
from skdisc.group import GroupDisparity, VeriFair
from skdisc.individual import (
    CounterfactualFairness,
    CounterfactualSituationTesting,
    FlipTest,
    SituationTesting,
)
from skdisc.subgroup import (
    BiasScan,
    DiscriminationPatterns,
    DiscriminatoryRules,
    DivExplorer,
    SliceFinder,
    SliceLine,
)

UNSURE, NOTHING = "insufficient evidence", "no disparity found"
RATES = [DivExplorer(), DiscriminatoryRules(), DiscriminationPatterns(), BiasScan(random_state=0)]


def name_of(value):
    return type(value).__name__ if hasattr(value, "fit") else None


def decide(rng, chance):
    return (rng.random(len(chance)) < chance).astype(int)


def of(detector, **settings):
    return type(detector)(**{**detector.get_params(), "pos_label": 1, **settings})


@pytest.mark.parametrize("detector", RATES[:3], ids=name_of)
def test_groups_too_small_to_be_tested_are_not_cleared(detector):
    rng = np.random.default_rng(1)
    race = rng.choice(list("abdec"), 8000, p=[0.25, 0.25, 0.24, 0.23, 0.03])
    X, y = pd.DataFrame({"race": race}), decide(rng, 0.5 - 0.2 * (race == "c"))
    result = of(detector, protected="race").fit(X, y).result_
    assert (result.n_found, result.verdict) == (0, NOTHING)
    assert "Not judged, with less than 5 % of the people: race = 'c'." in result.notes
    judged = of(detector, protected="race", rule=Rule(relevant_size=0.02)).fit(X, y).result_
    assert judged.verdict != NOTHING


@pytest.mark.parametrize("detector", RATES[:3], ids=name_of)
def test_at_most_ten_groups_that_were_not_tested_are_named(detector):
    race = np.concatenate([np.repeat(["a", "b"], 1000), [f"r{i}" for i in range(40)]])
    X, y = pd.DataFrame({"race": race}), np.arange(len(race)) % 2
    notes = of(detector, protected="race").fit(X, y).result_.notes
    (note,) = [n for n in notes if n.startswith("Not judged")]
    assert note.count("race = ") == 10
    assert note.endswith(" and 30 more.")


def test_too_few_draws_find_nothing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 1500), "z": rng.choice(["p", "q"], 1500)})
    y, women = decide(rng, 0.5 - 0.3 * (X["sex"] == "f")), X["sex"] == "f"
    settings = {"protected": "sex", "random_state": 0, "pos_label": 1}
    wrong = decide(rng, 0.1 + 0.3 * women)
    results = [
        BiasScan(n_resamples=10, **settings).fit(X, y).result_,
        SliceLine(n_permutations=10, versus="everyone", **settings)
        .fit(X, y, BlackBox(decisions=y ^ wrong))
        .result_,
    ]
    for result in results:
        assert (result.n_found, result.verdict) == (0, UNSURE)
        assert any("the smallest possible p-value is 0.091" in note for note in result.notes)


@pytest.mark.parametrize("detector", [*RATES, GroupDisparity()], ids=name_of)
def test_a_gap_that_has_turned_round_is_no_all_clear(detector):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 3000)})
    y = decide(rng, 0.5 - 0.1 * (X["sex"] == "f"))
    turned = decide(rng, 0.5 - 0.4 * (X["sex"] == "m"))
    fair = np.tile([0, 1], 1500)
    fitted = of(detector, protected="sex").fit(X, y)
    result = fitted.audit(X, turned)
    assert (result.n_found, result.verdict) == (0, UNSURE)
    assert any("differ significantly on these rows" in note for note in result.notes)
    assert fitted.audit(X.sort_values("sex", ignore_index=True), fair).verdict == NOTHING


@pytest.mark.parametrize("detector", [DivExplorer(), GroupDisparity()], ids=name_of)
def test_values_that_fit_did_not_know_are_not_cleared(detector):
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"race": ["a", "b"] * 3000})
    fitted = of(detector, protected="race").fit(X, np.repeat([0, 1], 3000))
    new = pd.DataFrame({"race": rng.choice(["a", "b", "d"], 6000, p=[0.49, 0.49, 0.02])})
    result = fitted.audit(new, decide(rng, 0.5 * (new["race"] != "d")))
    n = int((new["race"] == "d").sum())
    assert result.verdict == UNSURE
    assert any(note.startswith(f"{n} rows have values of race") for note in result.notes)


def test_verifair_clears_no_group_that_it_could_not_compare():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"race": rng.choice(list("abc"), 3000), "z": rng.choice(["p", "q"], 3000)})
    y = decide(rng, 0.5 * (X["race"] != "c"))
    model = lambda X: (X["z"] == "p").astype(int)  # noqa: E731
    search = VeriFair(protected="race", spec="equal_opportunity", random_state=0, slack=0.2)
    result = search.set_params(pos_label=1).fit(X, y, model).result_
    assert (result.n_found, result.verdict) == (0, UNSURE)
    assert result.excluded["subject"].tolist() == ["race = 'c'"]


@pytest.mark.parametrize(
    "detector", [*RATES, SliceFinder(random_state=0), SliceLine()], ids=name_of
)
def test_protected_columns_that_are_no_features_are_not_cleared(detector):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": ["f", "m"] * 1000, "race": np.repeat(["a", "b"], 1000)})
    y = decide(rng, 0.5 - 0.3 * (X["sex"] == "f"))
    settings = {"protected": ["sex", "race"], "features": ["race"]}
    result = of(detector, **settings).fit(X, y, BlackBox(decisions=np.tile([0, 1], 1000))).result_
    assert any(note.endswith("in no group: sex.") for note in result.notes)
    assert result.verdict != NOTHING


REFUSED = [
    ({"n_neighbors": 5, "rule": Rule(correction="bonferroni")}, 0.9),
    ({"n_neighbors": 5, "rule": Rule(correction="holm")}, 0.9),
    ({"n_neighbors": 4}, 0.2),
    ({"n_neighbors": 5}, 0.06),
    ({"n_neighbors": 5, "direction": "both"}, 0.1),
    ({"n_neighbors": 1, "criterion": "interval"}, 0.9),
    ({"n_neighbors": 2, "threshold": 0.1}, 0.5),
]


@pytest.mark.parametrize(("settings", "share"), REFUSED, ids=str)
def test_neighbors_too_few_to_show_a_case_clear_nobody(settings, share):
    X = pd.DataFrame({"g": ["f"] * 200 + ["m"] * 200, "x": np.tile(np.arange(200.0), 2)})
    y = np.ones(400, int)
    y[: int(share * 200)] = 0  # these women are refused, every man is accepted
    test = SituationTesting(protected="g", group="f", reference="m", pos_label=1, **settings)
    result = test.fit(X, y).result_
    assert result.n_found == 0
    assert result.verdict != "no disparity found"


@pytest.mark.parametrize("output", ["value", "probability"])
def test_outcomes_that_do_not_vary_have_no_test(output):
    n = 100
    X = pd.DataFrame({"g": ["f"] * n + ["m"] * n, "x": np.tile(np.arange(n) * 1.0, 2)})
    test = SituationTesting(protected="g", group="f", reference="m", output=output)
    if output == "value":
        result = test.fit(X, np.repeat([0.2, 0.9], n)).result_
    else:
        chance = lambda X: np.where(X["g"] == "f", 0.2, 0.9)  # noqa: E731
        result = test.set_params(pos_label=1).fit(X, model=chance).result_
    assert (result.n_tested, result.n_found) == (0, 0)  # no person is tested: nothing varies
    assert (result.verdict, result.reason[:20]) == ("disparity found", "mean gap of g = 'f':")
    assert result.tables["people"]["delta"].dropna().abs().round(6).eq(0.7).all()


def test_a_group_with_too_few_people_for_neighbors_is_not_cleared():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"g": ["q"] * 10 + ["f"] * 200 + ["m"] * 200, "x": rng.normal(size=410)})
    y = np.r_[np.zeros(10, int), np.ones(400, int)]
    result = SituationTesting(protected="g", reference="m", pos_label=1).fit(X, y).result_
    assert ("g = 'q'" in result.excluded["subject"].tolist(), result.verdict) == (True, UNSURE)


@pytest.mark.parametrize(("n_permutations", "verdict"), [(3, UNSURE), (99, "disparity found")])
def test_too_few_permutations_clear_no_group(n_permutations, verdict):
    X = pd.DataFrame({"g": ["f", "m"] * 100, "x": np.arange(200)})
    test = FlipTest(protected="g", n_permutations=n_permutations, random_state=0, pos_label=1)
    assert test.fit(X, np.tile([0, 1], 100)).result_.verdict == verdict


def test_permutations_enough_for_one_level_clear_groups():
    """Corrected p-values are as small as those of one group where all groups differ as much."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=90), "g": rng.choice(list("abc"), 90)})
    test = FlipTest(protected="g", n_permutations=30, random_state=0, pos_label=1)
    apart = test.fit(X, model=lambda X: 1 * ((X["x"] > 0) | (X["g"] == "b"))).result_
    assert apart.verdict == "disparity found"
    alike = test.fit(X, model=lambda X: 1 * (X["x"] > 0)).result_
    assert not any("random draws" in note for note in alike.notes)


def test_an_intervention_that_moves_nobody_clears_nobody():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"g": ["f", "m"] * 100, "x": rng.normal(size=200)})
    model = lambda X: ((X["x"] > 0.5) | ((X["g"] == "m") & (X["x"] > 0))).astype(int)  # noqa: E731
    test = CounterfactualFairness(protected="g", do={"g": "m"}, pos_label=1, n_resamples=0)
    assert test.fit(X, model=model).result_.verdict == "disparity found"
    assert test.audit(X[X["g"] == "m"]).verdict == UNSURE


def test_counterfactual_rows_stay_with_their_people():
    X = pd.DataFrame({"g": [None] * 5 + ["f", "m"] * 40, "x": np.arange(85.0)})
    test = CounterfactualFairness(protected="g", missing="drop", pos_label=1, n_resamples=0)
    test.set_params(counterfactuals=X.assign(g="m"))  # whoever sees x only flips nobody
    assert test.fit(X, model=lambda X: (X["x"] > 60).astype(int)).result_.n_found == 0
    test.set_params(counterfactuals=X.assign(g="m")[:80])
    with pytest.raises(ValueError, match=r"80 rows, but X has 85"):
        test.fit(X, model=lambda X: (X["x"] > 60).astype(int))


def test_counterfactual_neighbors_are_those_of_their_people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"g": ["f", "m"] * 40, "x": rng.normal(size=80)})
    y, given = (X["x"] > 0).to_numpy(int), X.assign(g="m", x=X["x"] + 0.5)
    test = CounterfactualSituationTesting(protected="g", reference="m", n_neighbors=5, pos_label=1)
    test.set_params(criterion="gap", counterfactuals=(given, y))
    whole = test.fit(X, y).result_
    assert whole.n_found > 0
    nobody = pd.DataFrame({"g": [None] * 5, "x": np.arange(5.0)})
    some = [pd.concat([nobody, frame], ignore_index=True) for frame in (X, given)]
    test.set_params(counterfactuals=(some[1], np.r_[[0] * 5, y]), missing="drop")
    left = test.fit(some[0], np.r_[[1] * 5, y]).result_
    pd.testing.assert_frame_equal(left.to_frame(), whole.to_frame())
    with pytest.raises(ValueError, match="counterfactuals has 80 rows, but X has 85"):
        test.set_params(counterfactuals=given).fit(some[0], np.r_[[1] * 5, y])


@pytest.mark.parametrize("detector", RATES, ids=name_of)
def test_a_budget_that_asks_nobody_finds_nothing(detector):
    X = pd.DataFrame({"sex": ["f", "m"] * 50})
    search = of(detector, protected="sex", limits=Limits(tests=0))
    result = search.fit(X, model=lambda X: X["sex"] == "m").result_
    assert (result.n_tested, result.n_found, result.verdict) == (0, 0, UNSURE)


def test_a_reference_that_does_not_occur_on_new_rows_is_nobody():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "race": rng.choice(["a", "b"], 400)})
    y, gone = rng.integers(0, 2, 400), (X["sex"] == "m") & (X["race"] == "b")
    detector = GroupDisparity(protected=["sex", "race"], reference={"sex": "m", "race": "b"})
    result = detector.set_params(pos_label=1).fit(X, y).audit(X[~gone], y[~gone])
    several = result.tables["measures"]["attribute"] == "sex & race"
    assert result.tables["measures"].loc[several, "estimate"].isna().all()
    assert result.verdict == UNSURE
