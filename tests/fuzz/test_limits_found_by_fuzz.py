"""What the fuzz suite found at the limits of numbers, of budgets and of time."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fuzzing._detector_cases import _afterwards
from sklearn.linear_model import LogisticRegression

from skdisc import Audit, BlackBox, Limits, Rule
from skdisc import measures as m
from skdisc._expectations._least_squares import Spline
from skdisc._stats import level_of_two_tests, newcombe, people_needed, ratio_interval, score_z
from skdisc.group import GroupDisparity, OutcomeTest, RankingDisparity
from skdisc.individual import CounterfactualFairness, FlipTest, Themis
from skdisc.individual._counterfactual_fairness._mean_effects import _with_errors
from skdisc.repair import Massager, PreferentialSampler, Reweigher
from skdisc.subgroup import (
    FACTS,
    DiscriminationPatterns,
    DiscriminatoryRules,
    DisparityPursuit,
    DivExplorer,
)

pytestmark = pytest.mark.usefixtures("no_refits")

N = 60
RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "sex": RNG.choice(["F", "M"], N),
        "town": RNG.choice(list("abc"), N),
        "age": RNG.normal(size=N),
    }
)
Y = (RNG.random(N) < 0.3 + 0.4 * (X["sex"] == "M")).to_numpy(int)


@pytest.mark.parametrize("detector", [DiscriminatoryRules, DivExplorer])
def test_weights_may_be_as_far_apart_as_is_allowed(detector):
    weight = np.where(np.arange(N) % 3 == 1, 1e50, 1e-50)
    fitted = detector(protected="sex").fit(X, Y, sample_weight=weight, groups=np.arange(N) // 2)
    assert np.isfinite(fitted.result_.tables["groups"]["effect"]).all()
    with pytest.raises(ValueError, match=r"between 1e-50 and 1e\+50; got 2e\+50"):
        detector(protected="sex").fit(X, Y, sample_weight=2 * weight)


@pytest.mark.parametrize(
    "call",
    [
        lambda level: DiscriminationPatterns(protected="sex", rule=Rule(significance=level)).fit(
            X, Y
        ),
        lambda level: m.mean_difference.report(None, Y, protected=X["sex"], significance=level),
        lambda level: Audit(protected="sex", rule=Rule(significance=level)).fit(X, Y),
    ],
)
def test_one_less_half_a_level_is_not_one(call):
    with pytest.raises(ValueError, match=r"'significance' parameter .* range \[1e-12, 1"):
        call(5e-324)


def test_the_smallest_level_gives_intervals():
    table = (
        DiscriminationPatterns(protected="sex", rule=Rule(significance=1e-12))
        .fit(X, Y)
        .result_.to_frame()
    )
    assert table[["ci_low", "ci_high"]].notna().all(axis=None)
    themis = Themis(
        protected="sex", rule=Rule(significance=1e-12), limits=Limits(tests=50), random_state=0
    )
    share = themis.fit(X, Y, lambda rows: rows["sex"] == "F").result_.estimates
    assert (share["ci_high"] <= 1).all()


def test_a_budget_ends_patterns_alike_in_any_order_of_columns():
    columns = {"income": [18, 13, 13, 10, 0, 1, 11, 14, 1, 12, 9, 0], "score": range(12)}
    rows = pd.DataFrame(columns | {"sex": list("dccbadcbdcab")})
    labels = [0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1]
    given = {"limits": Limits(tests=50), "max_predicates": 2, "n_bins": 50, "delta": 0.1}
    patterns = DiscriminationPatterns(protected="sex", **given)
    one = patterns.fit(rows, labels).result_
    other = patterns.fit(rows[["score", "income", "sex"]], labels).result_
    assert one.stopped_by == "tests"
    assert (one.n_tested, one.n_found) == (other.n_tested, other.n_found)
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


@pytest.mark.parametrize("sampler", [PreferentialSampler, Massager])
def test_numbers_whose_squares_are_none_are_not_ranked(sampler):
    with pytest.raises(ValueError, match=r"Column 'age' of X has numbers beyond 1e\+150"):
        sampler("sex").fit_resample(X.assign(age=X["age"] * 1e200), Y)


def test_not_every_combination_of_many_values_is_an_intervention():
    rows = X.assign(pay=RNG.normal(size=N), points=RNG.normal(size=N))
    fairness = CounterfactualFairness(protected=["age", "pay", "points"], n_resamples=2)
    with pytest.raises(ValueError, match="more than 1,000 combinations of values"):
        fairness.fit(rows, Y, lambda X: X["age"] > 0)


@pytest.mark.parametrize(("ended", "says"), [("seconds", 0), ("tests", 1), (None, 1)])
def test_only_a_run_out_of_time_may_differ_from_the_next(ended, says):
    number = count()

    class Detector:
        def fit(self, *_):
            self.result_ = SimpleNamespace(number=next(number), stopped_by=ended)
            return self

    given = SimpleNamespace(X=X, y=Y), None, {}
    assert len(_afterwards("again", Detector, {}, given, Detector().fit(), None)) == says


@pytest.mark.parametrize("weights", ["frequency", "probability"])
def test_each_row_has_a_cluster(weights):
    pursuit = DisparityPursuit(protected="sex", weights=weights)
    for weight in (np.full(N, 2), np.arange(N) % 2):
        with pytest.raises(ValueError, match="each of 60 rows, got an array of shape"):
            pursuit.fit(X, Y, sample_weight=weight, groups=np.arange(N // 2))


def test_true_is_a_number_of_rows():
    twice = pd.concat([X, X], ignore_index=True)
    flips = FlipTest(protected="sex", limits=Limits(rows=True), n_draws=1, random_state=0)
    result = flips.fit(twice, np.tile(Y, 2), BlackBox(decisions=np.tile(Y, 2))).result_
    assert result.stopped_by is None


@pytest.mark.parametrize("reference", [pd.DataFrame(), ["M"], {"sex": []}])
def test_a_reference_that_is_no_value_is_refused(reference):
    with pytest.raises(ValueError, match="reference"):
        OutcomeTest(protected="sex", reference=reference).fit(X, Y, BlackBox(decisions=Y))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: m.consistency(None, Y, X=3), "X must hold the values of each row, got 3"),
        (lambda: m.consistency(None, Y, X=X.assign(age=1j)), "Complex data not supported"),
        (
            lambda: m.consistency(None, Y, X=X.assign(age=[1j] * N).to_numpy()),
            "Complex data not supp",
        ),
        (lambda: m.lipschitz_ratio(None, Y[:0], X=X[:0], pos_label=[1, 2]), "X has no rows"),
        (lambda: m.lipschitz_ratio(None, Y, X=X[["age", "age"]]), "several columns named 'age'"),
        (
            lambda: m.standardized_mean_difference(
                None, X["age"], protected=X[["sex"]].assign(town=None), missing="drop"
            ),
            "The protected column 'town' has no known value",
        ),
        (
            lambda: m.mean_difference(None, X["age"] * 1e200, protected=X["sex"], pos_label=None),
            r"y_pred has numbers beyond 1e\+150",
        ),
        (
            lambda: RankingDisparity(protected="sex").fit(X, X["age"] * 1e200),
            r"y has numbers beyond 1e\+150",
        ),
    ],
)
def test_tables_and_numbers_are_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("significance", [0.5, 0.5000000000005, 0.7, 0.9, 0.99])
def test_two_tests_of_a_level_beyond_a_half(significance):
    """Their interval has no level left: it is the estimate, and no group needs fewer than none."""
    x1, n1, x0, n0 = np.array([0, 4, 7, 9]), np.array([5, 7, 7, 30]), np.arange(1, 5), 9
    level = level_of_two_tests(significance)
    estimates = x1 / n1 - x0 / n0, x1 / n1 / (x0 / n0)
    for interval, estimate in zip((newcombe, ratio_interval), estimates, strict=True):
        low, high = interval(x1, n1, x0, n0, level)
        assert np.allclose((low, high), (estimate, estimate), atol=1e-12)
        assert (low <= high).all()
    assert people_needed([0, 0.5], 0.05, significance=significance).tolist() == (
        people_needed([0, 0.5], 0.05, significance=0.5).tolist()
    )
    found = GroupDisparity(protected="sex", rule=Rule(significance=significance)).fit(X, Y).result_
    table = found.tables["family"]
    assert len(table)
    assert table["estimate"].between(table["low"] - 1e-12, table["high"] + 1e-12).all()


def test_ratios_lie_in_the_narrowest_interval():
    x, n = np.random.default_rng(0).integers(1, [[9], [40]], (2, 5000)), np.array([[9], [40]])
    for level in (1.0, 1 - 1e-12):
        low, high = ratio_interval(x[0], n[0], x[1], n[1], level)
        ratio = x[0] / n[0] / (x[1] / n[1])
        assert (low <= ratio).all()
        assert (ratio <= high).all()


def test_nobody_has_recourse_at_a_level_of_nine_tenths():
    facts = FACTS(protected="sex", rule=Rule(significance=0.9), random_state=0)
    facts.fit(X, Y, model=lambda rows: np.arange(len(rows)) == 0)
    assert facts.result_.verdict == "insufficient evidence"


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-200, 1e300])
def test_expectations_do_not_depend_on_the_unit_of_a_number(unit):
    draw = np.random.default_rng(0)
    numbers = draw.integers(-40, 40, 200).astype(float)
    splines = [Spline(x, None).columns(x) for x in (numbers, numbers * unit)]
    np.testing.assert_allclose(*splines, atol=1e-9)
    mixed = np.r_[draw.integers(0, 9, 190) * unit, np.linspace(0.1, 1, 10)]
    assert np.isfinite(Spline(mixed, None).columns(mixed)).all()


def test_gaps_beyond_all_rates_are_never_exceeded():
    x1, n1, x0, n0 = np.array([5, 3]), 5, np.array([0, 4]), np.array([9, 9])
    for gap in (1.5, 1e308):
        assert (score_z(x1, n1, x0, n0, gap) == -np.inf).all()
        assert (score_z(x1, n1, x0, n0, -gap) == np.inf).all()


def test_odds_of_very_many_people_have_an_interval():
    weight = np.where(np.arange(12) < 3, 1e15, 1.0)
    table = m.odds_ratio_report(None, [1, 0] * 6, protected=["a", "b"] * 6, sample_weight=weight)
    assert (table["ci_low"] <= table["estimate"]).all()
    assert (table["estimate"] <= table["ci_high"]).all()


def test_weights_of_huge_columns_are_refused_in_words():
    X = pd.DataFrame({"sex": ["f", "m"] * 4, "pay": [1.7e308, -1.7e308] * 4})
    with pytest.raises(ValueError, match="'pay' of X has numbers beyond 1e"):
        Reweigher(LogisticRegression(), protected="sex").fit(X, [0, 1, 1, 0] * 2)


def test_effects_that_few_samples_know_have_no_interval():
    mine = pd.DataFrame({"group": ["a", "b"], "mean": [0.1, 0.2], "p_value": [0.1, 0.2]})
    mine[["n", "ci_low", "ci_high"]] = 30.0, np.nan, np.nan
    rng = np.random.default_rng(0)
    means = np.column_stack([rng.normal(size=30), [0.2, *[np.nan] * 29]])
    assert np.isfinite(_with_errors(mine, means)["error"]).tolist() == [True, False]


def test_a_huge_relevant_gap_needs_nobody():
    assert people_needed(0.3, relevant_gap=1e308, relevant_ratio=0) == 0


def test_scores_that_were_audited_are_needed_again():
    X = pd.DataFrame({"sex": ["F", "M"] * 20})
    ranked = RankingDisparity(protected="sex").fit(X, np.arange(40.0))
    with pytest.raises(ValueError, match="with their y"):
        ranked.audit(X)
