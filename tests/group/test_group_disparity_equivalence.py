"""GroupDisparity's verdicts: nulls, equivalence by gap and ratio, groups too small to judge."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_group_disparity import people

from skdisc import BlackBox, Rule
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


def test_gap_and_ratio_are_those_of_the_rarer_outcome():
    X, y = people({("m",): (950, 1000), ("f",): (900, 1000)})
    settings = {"protected": "sex", "reference": "m"}
    row = GroupDisparity(**settings).fit(X, y).result_.to_frame("equivalence").iloc[0]
    assert (row["group"], row["reference"]) == ("sex = 'f'", "sex = 'm'")
    assert (row["gap"], row["ratio"]) == (pytest.approx(-0.05), pytest.approx(0.1 / 0.05))
    assert row["gap_low"] < row["gap"] < row["gap_high"]
    assert row["ratio_low"] < row["ratio"] < row["ratio_high"]
    z, p = stats.norm.ppf(0.95) + stats.norm.ppf(0.9), 1850 / 2000
    assert row["n_needed"] == pytest.approx(
        z**2 * max(p * (1 - p) / 0.01, p / (1 - p) / np.log(0.8) ** 2)
    )
    selected = GroupDisparity(preset="four_fifths", **settings).fit(X, y).result_
    row = selected.to_frame("equivalence").iloc[0]
    assert row["ratio"] == pytest.approx(0.9 / 0.95)


def test_everyone_as_reference_scales_gap_and_ratio():
    X, y = people({("m",): (50, 100), ("f",): (30, 300)})
    table = GroupDisparity(protected="sex", reference="overall").fit(X, y).result_
    row = table.to_frame("equivalence").set_index("group").loc["sex = 'f'"]
    assert row["gap"] == pytest.approx(0.1 - 80 / 400)
    assert row["ratio"] == pytest.approx(0.1 / (80 / 400))


def test_a_small_value_leaves_the_verdict_open_and_is_named():
    X, y = people({("m",): (3000, 6000), ("f",): (3000, 6000), ("x",): (30, 60)})
    result = GroupDisparity(protected="sex").fit(X, y).result_
    assert result.verdict == UNSURE
    assert result.reason == "too few people to judge: sex = 'x'; a group needs about 210"
    checked = result.to_frame("equivalence").set_index("group")
    assert 205 <= checked.loc["sex = 'x'", "n_needed"] < 215
    assert checked["open"].to_dict() == {"sex = 'm'": "", "sex = 'x'": "sex = 'x'"}
    assert not checked.loc["sex = 'x'", "judged"]


def test_small_intersections_are_listed_and_leave_the_verdict():
    """The ten people of one intersection are 0.2 % of the people of each of their values."""
    counts = {("m", "a"): (2500, 5000), ("m", "b"): (2500, 5000), ("f", "a"): (2500, 5000)}
    X, y = people(counts | {("f", "b"): (5, 10)})
    more, more_y = people({("f", "c"): (2500, 5000)})
    X, y = pd.concat([X, more], ignore_index=True), np.r_[y, more_y]
    result = GroupDisparity(protected=["sex", "race"]).fit(X, y).result_
    assert (result.verdict, result.reason[:12]) == (NOTHING, "no gap above")
    small = result.to_frame("equivalence").query("not judged")
    assert small["group"].tolist() == ["race = 'b' and sex = 'f'"]


def test_a_small_reference_is_open_too():
    X, y = people({("m",): (3000, 6000), ("f",): (3000, 6000), ("x",): (30, 60)})
    result = GroupDisparity(protected="sex", reference="x").fit(X, y).result_
    assert result.verdict == UNSURE
    assert "x" in result.to_frame("equivalence")["open"].str.cat()


def test_equal_outcomes_of_all_are_no_evidence():
    X, _ = people({("m",): (0, 6000), ("f",): (0, 6000)})
    model = lambda A: np.ones(len(A), dtype=int)  # noqa: E731
    result = GroupDisparity(protected="sex", pos_label=1).fit(X, model=model).result_
    assert (result.n_found, result.verdict) == (0, UNSURE)


def test_what_a_measure_without_direction_shows_is_found():
    X, y = people({("m",): (300, 600), ("f",): (100, 600)})
    detector = GroupDisparity(protected="sex", measures=["mutual_information"], n_resamples=0)
    result = detector.fit(X, y).result_
    assert (result.verdict, result.n_found, len(result)) == (FOUND, 1, 0)


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
    row = result.to_frame("equivalence").iloc[0]
    assert (result.verdict, row["judged"], row["ratio_inside"]) == (NOTHING, True, True)
    assert np.isnan(row["ratio"])


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
