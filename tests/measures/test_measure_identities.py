"""Identities that hold for all data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skdisc import measures as m
from skdisc.exceptions import UndefinedMeasureWarning
from skdisc.measures import disparities

COUNTS = st.tuples(*[st.integers(1, 30)] * 4)
PAIRWISE = [
    *("mean_difference", "normalized_difference", "impact_ratio", "elift", "odds_ratio"),
    *("area_under_curve", "balanced_residuals", "correlation", "equalized_odds"),
    *("equal_opportunity", "average_odds_difference", "two_proportions_test", "rank_test"),
    *("difference_of_means_test", "regression_slope_test", "many_proportions_test"),
    *("eta_neutrality", "mutual_information", "one_variable_prediction"),
    *("calibration_within_groups", "calibration_difference", "balance_positive_class"),
    "balance_negative_class",
]


def rows(counts):
    """Return decisions and groups of the table x0, n0 - x0, x1, n1 - x1."""
    y = np.repeat([1, 0, 1, 0], counts)
    return y, np.repeat([0, 0, 1, 1], counts)


@given(COUNTS)
def test_area_is_a_half_and_half_of_d(counts):
    y, s = rows(counts)
    d = m.mean_difference(None, y, protected=s, reference=0)
    assert m.area_under_curve(None, y, protected=s, reference=0) == pytest.approx((1 + d) / 2)
    numeric = m.area_under_curve(None, y, protected=s, reference=0, pos_label=None)
    assert numeric == pytest.approx((1 + d) / 2)


@given(COUNTS)
def test_one_minus_the_balanced_error_is_the_area(counts):
    y, s = rows(counts)
    guess = 1 - y
    error = (np.mean(guess[s == 0] == 1) + np.mean(guess[s == 1] == 0)) / 2
    assert 1 - error == pytest.approx(m.area_under_curve(None, y, protected=s, reference=0))


@given(st.tuples(*[st.integers(0, 30)] * 4))
def test_normalized_difference_lies_between_its_limits(counts):
    assume(counts[0] + counts[1] and counts[2] + counts[3])
    assume(0 < counts[0] + counts[2] < sum(counts))
    y, s = rows(counts)
    delta = m.normalized_difference(None, y, protected=s, reference=0)
    assert abs(delta) <= 1 + 1e-12
    d = m.mean_difference(None, y, protected=s, reference=0)
    assert np.sign(delta) == np.sign(d)
    assert abs(delta) >= abs(d) - 1e-12


@given(COUNTS)
def test_elift_follows_from_the_impact_ratio(counts):
    y, s = rows(counts)
    r, q = m.impact_ratio(None, y, protected=s, reference=0), np.mean(s)
    assert m.elift(None, y, protected=s, reference=0) == pytest.approx(r / (q * r + 1 - q))
    general = m.elift(None, y, protected=s, reference=0, convention="general")
    assert general == pytest.approx(1 / (q * r + 1 - q))


@pytest.mark.statistics
@given(COUNTS)
def test_intervals_hold_the_estimate(counts):
    y, s = rows(counts)
    for name in ("mean_difference", "impact_ratio", "elift", "odds_ratio", "area_under_curve"):
        row = getattr(m, name + "_report")(None, y, protected=s, reference=0).iloc[0]
        assert row.ci_low - 1e-9 <= row.estimate <= row.ci_high + 1e-9, name
        assert 0 <= row.p_value <= row.p_adjusted <= 1


TABLE = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 2)), min_size=8, max_size=60
)


@given(TABLE)
def test_kitagawa(data):
    y, s, z = np.array(data).T
    for k in range(3):
        inside = z == k
        assume(not inside.any() or len(set(s[inside])) == 2)
    assume(len(set(s)) == 2)
    d = m.mean_difference(None, y, protected=s, reference=0)
    explained = 0
    for k in np.unique(z):
        rate = [y[(z == k) & (s == g)].mean() for g in (0, 1)]
        share = [np.mean(z[s == g] == k) for g in (0, 1)]
        explained += sum(rate) / 2 * (share[0] - share[1])
    ours = m.unexplained_difference(None, y, protected=s, reference=0, explanatory=z)
    assert ours == pytest.approx(d - explained, abs=1e-12)
    same = m.stratified(m.mean_difference, None, y, protected=s, reference=0, strata=z)
    assert same == pytest.approx(ours, abs=1e-12)
    number = m.unexplained_difference(
        None, y, protected=s, reference=0, explanatory=z, pos_label=None
    )
    assert number == pytest.approx(ours, abs=1e-12)


@pytest.mark.every(6)
@pytest.mark.filterwarnings("ignore::skdisc.exceptions.UndefinedMeasureWarning")
@pytest.mark.parametrize("name", PAIRWISE)
@settings(max_examples=15)
@given(data=st.data())
def test_order_names_and_repeated_rows_change_nothing(name, data):
    table = data.draw(
        st.lists(st.tuples(*[st.integers(0, 1)] * 2, st.integers(0, 2)), min_size=6, max_size=30)
    )
    t, y, s = np.array(table).T
    measure = getattr(m, name)
    omnibus = measure.plan.omnibus or measure.plan.by_group
    how = {} if omnibus else {"reference": "rest", "average": "weighted"}
    plain = measure(t, y, protected=s, **how)
    order = np.array(data.draw(st.permutations(range(len(y)))))
    assert measure(t[order], y[order], protected=s[order], **how) == same(plain)
    assert measure(t, y, protected=np.array(["c", "a", "b"])[s], **how) == same(plain)
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(y), max_size=len(y))))
    long = (np.repeat(v, weight) for v in (t, y, s))
    t2, y2, s2 = long
    counted = {"sample_weight": weight, "weights": "frequency"}
    weighted = measure(t, y, protected=s, **counted, **how)
    assert weighted == same(measure(t2, y2, protected=s2, **how))


def same(value):
    return pytest.approx(value, nan_ok=True, abs=1e-9)


@pytest.mark.filterwarnings("ignore::skdisc.exceptions.UndefinedMeasureWarning")
@given(TABLE)
def test_rows_and_counts_give_the_same(data):
    y, t, s = np.array(data).T
    for name in ("mean_difference", "balanced_residuals", "correlation", "unexplained_difference"):
        measure = getattr(m, name)
        more = {"explanatory": t} if name == "unexplained_difference" else {}
        counts = measure(t, y, protected=s, reference="rest", **more)
        numbers = measure(t, y, protected=s, reference="rest", pos_label=None, **more)
        assert counts == same(numbers)


@pytest.mark.filterwarnings("ignore::skdisc.exceptions.UndefinedMeasureWarning")
def test_the_table_is_that_of_the_single_reports():
    rng = np.random.default_rng(0)
    t, y, s = rng.integers(0, 2, 300), rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    table = disparities(t, y, protected=s)
    assert (table["p_adjusted"].dropna() >= table["p_value"].dropna() - 1e-15).all()
    for name, part in table.groupby("measure"):
        alone = getattr(m, f"{name}_report")(t, y, protected=s)
        columns = ["group", "n", "estimate", "p_value", "reason"]
        pd.testing.assert_frame_equal(
            part[columns].reset_index(drop=True), alone[columns], obj=name
        )


def test_the_table_takes_permutations_and_groups_of_several_columns():
    rng = np.random.default_rng(0)
    people = pd.DataFrame(rng.integers(0, 2, (90, 2)), columns=["a", "b"])
    y = rng.integers(0, 2, 90)
    table = disparities(None, y, protected=people, intersections=2, permutations=19, n_resamples=19)
    assert {"a", "b", "a & b"} == set(table["attribute"])
    tested = table["test"] == "permutation test"
    assert tested.sum() == 7 * (1 + 1 + 3) + 0
    assert (table["p_value"][tested] >= 0.05).all()


def test_permutations_stay_within_strata():
    rng = np.random.default_rng(3)
    z, s = np.repeat([0, 1], 60), rng.integers(0, 2, 120)
    y = z.copy()  # decisions are those of the strata alone
    how = {"protected": s, "explanatory": z, "permutations": 99}
    for pos_label in (1, None):
        row = m.unexplained_difference_report(None, y, pos_label=pos_label, **how).iloc[0]
        assert (row.estimate, row.p_value) == (0, 1)


def test_permutation_agrees_with_the_exact_test():
    rng = np.random.default_rng(1)
    s = np.repeat([0, 1], [60, 40])
    y = (rng.random(100) < 0.4 + 0.15 * (s == 0)).astype(int)
    plain = m.mean_difference_report(None, y, protected=s, permutations=9999).iloc[0]
    from scipy.stats import fisher_exact

    table = [[y[s == 0].sum(), (1 - y)[s == 0].sum()], [y[s == 1].sum(), (1 - y)[s == 1].sum()]]
    assert plain.p_value == pytest.approx(fisher_exact(table).pvalue, abs=0.02)
    numbers = m.mean_difference_report(
        None, y, protected=s, permutations=4999, pos_label=None
    ).iloc[0]
    assert numbers.p_value == pytest.approx(plain.p_value, abs=0.03)


@pytest.mark.statistics
@pytest.mark.slow
def test_sums_of_subsets_have_the_mean_and_variance_of_draws_without_replacement():
    from skdisc.measures._formula._permutation import sums_of_subsets

    rng = np.random.default_rng(0)
    y = rng.exponential(size=200)
    for size in (1, 7, 100, 150, 199):
        sums = sums_of_subsets(y, size, 20_000, rng)
        variance = size * (200 - size) / 199 * y.var()
        assert abs(sums.mean() - size * y.mean()) < 5 * np.sqrt(variance / 20_000)
        assert sums.var() == pytest.approx(variance, rel=0.1)


def test_constant_decisions_share_no_information_whatever_the_shares_of_the_groups():
    """Shares of groups that do not add up to 1 in floating point leave no entropy of decisions."""
    for s in ([0, 0, 0, 1, 2], [0, 0, 0, 2, 1], [0, 1, 1, 1, 1, 1, 2, 2, 2, 2]):
        with pytest.warns(UndefinedMeasureWarning):
            value = m.mutual_information(None, np.ones(len(s), int), protected=s, pos_label=1)
        assert np.isnan(value)
        assert m.mutual_information(None, [1] * len(s), protected=s, normalized=False) == 0
