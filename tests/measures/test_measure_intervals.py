"""Intervals of measures at rare events and at equality, by simulation."""

import numpy as np
import pytest

from skdisc import measures as m

MEASURES = (
    *("equalized_odds", "mutual_information", "eta_neutrality", "one_variable_prediction"),
    *("calibration_difference", "balance_positive_class"),
)


def truth(name, p1, p0):
    """Return the value of a measure for two groups of equal size, decisions apart from labels."""
    cells = np.array([[1 - p0, p0], [1 - p1, p1]]) / 2
    overall, gap = cells.sum(axis=0), p0 - p1
    if name == "eta_neutrality":
        return (cells / overall * 2).max() - 1
    if name == "one_variable_prediction":
        return gap**2 / 4 / overall.prod()
    if name == "mutual_information":
        entropy = [-np.sum(c * np.log2(c)) for c in (overall, cells)]
        return (1 + entropy[0] - entropy[1]) / np.sqrt(entropy[0])
    return {"equalized_odds": abs(gap), "calibration_difference": 0.0}.get(name, gap)


@pytest.mark.statistics
@pytest.mark.parametrize("rates", [(0.02, 0.04), (0.03, 0.03), (0.2, 0.4)])
@pytest.mark.parametrize("name", MEASURES)
def test_intervals_cover_rare_events_and_equality(name, rates):
    """Of 300 seeds .96 to 1 are covered; the percentile bootstrap covered equality in .03."""
    s, covered, n_seeds = np.arange(400) % 2, 0, 80
    how = {} if getattr(m, name).plan.omnibus else {"reference": 0}
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        t = rng.integers(0, 2, 400)
        y = (rng.random(400) < np.where(s, *rates)).astype(int)
        row = getattr(m, name).report(t, y, protected=s, n_resamples=0, **how).iloc[0]
        covered += row.ci_low - 1e-9 <= truth(name, *rates) <= row.ci_high + 1e-9
    assert covered >= 70  # .95 of 80, less three standard errors


@pytest.mark.parametrize("name", MEASURES[:4])
def test_intervals_of_unsigned_measures_hold_their_value(name):
    rng = np.random.default_rng(0)
    for _ in range(50):
        s, t = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
        y = (rng.random(60) < rng.random()).astype(int)
        table = getattr(m, name).report(t, y, protected=s, n_resamples=0)
        table = table[~table["excluded"]]
        assert (table["ci_low"] >= 0).all()
        assert (table["ci_low"] <= table["estimate"] + 1e-9).all()
        assert (table["ci_high"] >= table["estimate"] - 1e-9).all()


def test_equal_rates_have_an_interval():
    s, y = np.repeat([0, 1], 100), np.tile([1, 0, 0, 0], 50)
    for name in MEASURES[1:4]:
        row = getattr(m, name).report(None, y, protected=s, n_resamples=0).iloc[0]
        assert (row.estimate, row.ci_low) == (pytest.approx(0, abs=1e-9), 0)
        assert 0 < row.ci_high < 0.6


PEOPLE_WHO_AGREE = {
    "two people": ("fm", [0, 1]),
    "one of two sexes": ("fmmm", [0, 1, 1, 1]),
    "all of each sex": ("ffffffmmmmmm", [0] * 6 + [1] * 6),
    "all people": ("fm" * 6, [1] * 12),
}


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("output", ["decisions", "numbers"])
@pytest.mark.parametrize("people", PEOPLE_WHO_AGREE)
def test_people_who_agree_make_no_gap_certain(people, output, clustered):
    """No interval has no width: a few people who agree tell little about all others.

    But for quantiles, whose intervals end at numbers of the sample.
    """
    sex, y = PEOPLE_WHO_AGREE[people]
    more = {"pos_label": None} if output == "numbers" else {"pos_label": 1}
    more |= {"groups": np.arange(len(y))} if clustered else {}
    labels, n_reports = np.arange(len(y)) % 2, 0
    for name in sorted(set(m.__all__) - {"quantile_difference_report"}):
        if not name.endswith("_report"):
            continue
        try:
            found = getattr(m, name)(
                labels, y, protected=np.array(list(sex)), n_resamples=99, **more
            )
        except (TypeError, ValueError):  # a measure of other outcomes, or without clusters
            continue
        if "ci_low" not in found:
            continue
        low, high = found["ci_low"], found["ci_high"]
        assert not np.isclose(low, high, rtol=0, atol=1e-9).any(), name
        n_reports += 1
    assert n_reports >= 5


def test_small_units_have_intervals_all_the_same():
    y, sex = np.random.default_rng(0).normal(size=60), np.arange(60) % 2
    for unit in (1e-15, 1, 1e15):
        row = m.wasserstein_distance_report(None, unit * y, protected=sex, pos_label=None).iloc[0]
        assert 0 <= row.ci_low < row.ci_high
