"""GroupDisparity's verdicts: nulls, the family of groups, gap and ratio, sizes."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_group_disparity import people

from skdisc import BlackBox, Rule, _stats
from skdisc.group import GroupDisparity

FOUND, NOTHING, UNSURE = "disparity found", "no disparity found", "insufficient evidence"


def draw(seed, sizes, rates):
    """Return people of groups of given sizes, and outcomes drawn with given rates."""
    rng = np.random.default_rng(seed)
    race = np.repeat([f"g{i}" for i in range(len(sizes))], sizes)
    return pd.DataFrame({"race": race}), (rng.random(len(race)) < np.repeat(rates, sizes)) * 1


def verdicts(seeds, sizes, rates, **settings):
    detector = GroupDisparity(protected="race", pos_label=1, **settings)
    return [detector.fit(*draw(seed, sizes, rates)).result_.verdict for seed in seeds]


@pytest.mark.parametrize(
    ("measures", "null"),
    [
        (None, "marginal"),
        ("all", "marginal"),
        (["predictive_parity"], "calibration"),
        (["predictive_parity", "mean_difference"], "marginal"),
    ],
)
def test_the_null_is_that_of_the_measures(measures, null):
    assert GroupDisparity(measures=measures).null == null
    X, y = people({("m",): (48, 80), ("f",): (12, 40)})
    labels = np.roll(y, 7)
    detector = GroupDisparity(protected="sex", measures=measures, pos_label=1, n_resamples=0)
    result = detector.fit(X, labels, BlackBox(decisions=y)).result_
    assert result.null == null
    of_each = result.to_frame("measures").set_index("measure")["null"]
    assert set(of_each.drop("predictive_parity", errors="ignore")) <= {"marginal", "calibration"}
    assert of_each.get("predictive_parity", "calibration") == "calibration"


def family(result):
    return result.to_frame("family").set_index("group")


def test_the_ratio_is_that_of_the_rarer_outcome():
    X, y = people({("m",): (950, 1000), ("f",): (900, 1000)})
    settings = {"protected": "sex", "reference": "m", "rule": Rule(significance=1e-6)}
    result = GroupDisparity(**settings).fit(X, y).result_
    row = family(result).loc["sex = 'f'"]
    assert row["reference"] == "sex = 'm'"
    assert row["estimate"] == pytest.approx(-0.05)
    assert row["low"] < row["estimate"] < row["high"]
    assert row["upper"] == -row["low"]
    low, high = _stats.ratio_interval(100, 1000, 50, 1000, 2e-6)
    assert 1 / high - 0.01 < result.answer.ratio <= 1 / high  # of the rejected, rounded down
    selected = GroupDisparity(preset="four_fifths", **settings).fit(X, y).result_
    low, high = _stats.ratio_interval(900, 1000, 950, 1000, 2e-6)
    assert low - 0.01 < selected.answer.ratio <= low  # of the selected


def test_everyone_as_reference_scales_the_gap():
    X, y = people({("m",): (50, 100), ("f",): (30, 300)})
    compared = GroupDisparity(protected="sex", reference="overall")
    row = family(compared.fit(X, y).result_).loc["sex = 'f'"]
    assert row["estimate"] == pytest.approx(0.1 - 80 / 400)


def test_a_value_under_the_relevant_size_is_not_judged():
    X, y = people({("m",): (3000, 6000), ("f",): (3000, 6000), ("x",): (30, 60)})
    result = GroupDisparity(protected="sex").fit(X, y).result_
    assert (result.verdict, result.answer.n_family) == (NOTHING, 1)
    row = family(result).loc["sex = 'x'"]
    assert (row["judged"], row["reason"]) == (False, "under 5 %: not judged")
    X, y = people({("m",): (300, 600), ("f",): (300, 600), ("x",): (31, 62)})  # 4.9 %
    assert GroupDisparity(protected="sex").fit(X, y).result_.answer.n_family == 1
    X, y = people({("m",): (300, 600), ("f",): (300, 600), ("x",): (32, 64)})  # 5.1 %
    small = GroupDisparity(protected="sex").fit(X, y).result_
    assert (small.answer.n_family, small.verdict) == (2, UNSURE)
    assert small.reason.startswith("no gap above 0.1 in 1 of 2 groups compared of 5 % of these")


def test_of_two_values_the_larger_counts():
    """Women are 3 % of the people, and men beside them are a group of 97 %."""
    X, y = people({("m",): (4850, 9700), ("f",): (150, 300)})
    for reference in ("rest", "largest", "m", "f"):
        answer = GroupDisparity(protected="sex", reference=reference).fit(X, y).result_.answer
        assert answer.n_family == 1, reference
    both = GroupDisparity(protected="sex", reference="rest").fit(X, y).result_
    assert family(both)["judged"].tolist() == [True, True]
    assert (family(both)["estimate"].sum(), len(family(both))) == (pytest.approx(0), 2)


def test_a_value_with_nobody_to_compare_with_keeps_the_question_open():
    X, y = people({("f",): (300, 600), ("m",): (2, 4)})
    result = GroupDisparity(protected="sex").fit(X, y).result_
    assert (result.verdict, result.answer.bound) == (UNSURE, None)
    assert result.reason == "1 group has next to nobody to compare with: sex = 'm'"


def test_the_order_does_not_depend_on_who_is_the_best():
    sizes = {("a",): 5000, ("b",): 2000, ("c",): 1000, ("d",): 600}
    orders = set()
    for best in sizes:
        X, y = people({g: (int(n * (0.5 + 0.01 * (g == best))), n) for g, n in sizes.items()})
        table = (
            GroupDisparity(protected="sex", reference="best").fit(X, y).result_.to_frame("family")
        )
        sized = dict(zip(table["group"], table["comparison"], strict=True))
        orders.add(tuple(sorted(sized.items())))
    joined = {}
    for order in orders:
        for group, size in order:
            assert joined.setdefault(group, size) == size


def test_what_is_said_of_the_others_after_a_finding():
    sizes = {("a",): (4000, 8000), ("b",): (1200, 4000), ("c",): (2000, 4000), ("d",): (440, 900)}
    X, y = people(sizes)
    result = GroupDisparity(protected="sex", reference="a", measures=["mean_difference"]).fit(X, y)
    answer = result.result_.answer
    assert (answer.verdict, answer.n_found, answer.n_family) == (FOUND, 1, 3)
    assert answer.level == pytest.approx(0.05 / 3)
    assert (
        "a gap is found in 1 of the 3 groups compared of 5 % of these people or more; "
        in answer.reason
    )


def test_equal_outcomes_of_all_are_no_evidence():
    X, _ = people({("m",): (0, 6000), ("f",): (0, 6000)})
    model = lambda A: np.ones(len(A), dtype=int)  # noqa: E731
    result = GroupDisparity(protected="sex", pos_label=1).fit(X, model=model).result_
    assert (result.n_found, result.verdict) == (0, UNSURE)
    assert result.reason == "all outcomes are equal"


def test_what_a_measure_without_direction_shows_is_found():
    X, y = people({("m",): (300, 600), ("f",): (100, 600)})
    detector = GroupDisparity(protected="sex", measures=["mutual_information"], n_resamples=0)
    result = detector.fit(X, y).result_
    assert (result.verdict, result.n_found, len(result)) == (FOUND, 1, 0)


@pytest.mark.parametrize("output", ["label", "value"])
def test_clusters_leave_the_number_of_people_as_it_is(output):
    rng = np.random.default_rng(0)
    household, sex = np.repeat(np.arange(60), 6), rng.choice(["f", "m"], 360)
    y = rng.normal(50, 5, 60)[household] + rng.normal(size=360)
    y = y if output == "value" else (y > 50).astype(int)
    settings = {"output": "value"} if output == "value" else {"pos_label": 1}
    detector = GroupDisparity(protected="sex", measures=["mean_difference"], **settings)
    X = pd.DataFrame({"sex": sex})
    alone, together = (
        detector.fit(X, y, groups=groups).result_.tables["family"] for groups in (None, household)
    )
    assert (together["n"] == [(sex == name).sum() for name in together["group"].str[7]]).all()
    assert (together[["n", "n_others"]] == alone[["n", "n_others"]]).all(axis=None)
    assert (together["low"] != alone["low"]).all()


@pytest.mark.parametrize("measures", [["mean_difference"], ["impact_ratio"]])
def test_min_effect_is_rejected_too(measures):
    X, y = people({("m",): (5000, 10_000), ("f",): (4600, 10_000)})
    settings = {"protected": "sex", "measures": measures}
    assert GroupDisparity(**settings).fit(X, y).result_.verdict == FOUND
    small = GroupDisparity(rule=Rule(min_effect=1e-9), **settings).fit(X, y).result_
    plain = GroupDisparity(**settings).fit(X, y).result_
    assert small[0].p_value == plain[0].p_value
    for least, verdict in ((0.02, FOUND), (0.035, NOTHING), (0.05, NOTHING)):
        result = GroupDisparity(rule=Rule(min_effect=least), **settings).fit(X, y).result_
        assert (result.verdict, result.n_found) == (verdict, int(verdict == FOUND))
    z = (0.04 - 0.02) / np.sqrt((0.25 + 0.46 * 0.54) / 10_000)
    adjusted = (
        GroupDisparity(rule=Rule(min_effect=0.02), **settings).fit(X, y).result_[0].p_adjusted
    )
    assert adjusted == pytest.approx(stats.norm.sf(z), rel=0.05)


def test_means_of_scores_have_no_ratio():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 3000), "points": rng.random(3000)})
    score = lambda A: A["points"].to_numpy()  # noqa: E731
    detector = GroupDisparity(protected="sex", output="probability", pos_label=1)
    result = detector.fit(X, None, score).result_
    row = result.to_frame("family").iloc[0]
    assert (result.verdict, row["judged"], result.answer.ratio) == (NOTHING, True, None)


@pytest.mark.statistics
def test_fair_data_of_enough_people_are_cleared():
    found = verdicts(range(30), [3000, 1500, 500], [0.3] * 3)
    assert found.count(NOTHING) >= 17  # .76 of 400 seeds, less three standard errors


@pytest.mark.statistics
@pytest.mark.parametrize("reference", ["largest", "best"])
def test_a_relevant_gap_or_ratio_is_seldom_cleared(reference):
    """At the margin .02 to .05 of 600 seeds are cleared; beyond it none of 200."""
    settings = {"reference": reference, "measures": ["mean_difference"]}
    ratio = verdicts(range(40), [3600, 1800, 600], [0.3, 0.3, 0.24], **settings)
    assert ratio.count(NOTHING) <= 6  # .05 of 40, and three standard errors
    far = verdicts(range(20), [3600, 1800, 600], [0.3, 0.3, 0.192], **settings)
    assert far.count(NOTHING) == 0
    gap = {"rule": Rule(relevant_ratio=0.5), **settings}
    assert verdicts(range(40), [3000, 1500, 500], [0.5, 0.5, 0.4], **gap).count(NOTHING) <= 6
    assert verdicts(range(20), [3000, 1500, 500], [0.5, 0.5, 0.3], **gap).count(NOTHING) == 0


@pytest.mark.statistics
def test_rare_outcomes_four_times_as_rare_in_one_group_are_not_cleared():
    assert verdicts(range(30), [500, 500], [0.02, 0.005]).count(NOTHING) == 0
