"""ThresholdTest: the model by integration, and simulated decision makers with known thresholds."""

import numpy as np
import pandas as pd
import pytest
from deciders import counted, in_places
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import expit, logsumexp

from skdisc import BlackBox
from skdisc.group import OutcomeTest, ThresholdTest
from skdisc.group._outcome_tests._threshold_cells import cell_probabilities, of_rates
from skdisc.group._outcome_tests._threshold_gap import ThresholdGap
from skdisc.group._outcome_tests._threshold_model import ThresholdModel, parameters

CELL = st.tuples(st.floats(-4, 4), st.floats(-1, 1.5), st.floats(-3, 3))


def audited(X, y, decisions, **more):
    kept = {"protected": "race", "place": "place", "reference": "a", "random_state": 0}
    return ThresholdTest(**(kept | more)).fit(X, y, BlackBox(decisions=decisions)).result_


def gap_of(**more):
    """Return the difference of the thresholds of simulated decisions."""
    counts = counted(*in_places(**more))
    return ThresholdGap.of(ThresholdModel(counts).fit(), len(counts) - 1, np.random.default_rng(0))


@settings(deadline=None, max_examples=30)
@given(cell=CELL)
def test_cells_are_integrals_of_the_signal(cell):
    risk, separation, threshold = cell
    distance = np.exp(separation)

    def share(x, kind):
        return (expit(risk) if kind else expit(-risk)) * stats.norm.pdf(x, distance * kind)

    def posterior(x):
        return risk + distance * x - distance**2 / 2

    at = (threshold - risk + distance**2 / 2) / distance
    assert posterior(at) == pytest.approx(threshold)
    selected = [integrate.quad(share, at, at + 40, args=(kind,))[0] for kind in (1, 0)]
    logs, _ = cell_probabilities(*map(np.array, cell))
    assert np.exp(logs[:2]) == pytest.approx(selected, abs=1e-7)
    assert np.exp(logs).sum() == pytest.approx(1)


@settings(deadline=None, max_examples=30)
@given(cell=CELL)
def test_slopes_agree_with_differences_and_rates_lead_back(cell):
    at, step = np.array(cell), 1e-5

    def rates(x):
        logs, _ = cell_probabilities(*x)
        return np.array([np.logaddexp(*logs[:2]) - logs[2], logs[0] - logs[1]])

    def slopes(function):
        steps = step * np.eye(3)
        return np.array([(function(at + s) - function(at - s)) / (2 * step) for s in steps]).T

    own = cell_probabilities(*at)[1]
    numeric = slopes(lambda x: cell_probabilities(*x)[0])
    assert own == pytest.approx(numeric, rel=1e-4, abs=1e-6)
    if np.exp(cell_probabilities(*at)[0][2]) > 1e-6:  # else all are selected by many thresholds
        assert of_rates(*rates(at), at[1]) == pytest.approx((cell[0], cell[2]), abs=1e-6)


def test_the_integral_over_places_is_that_of_draws():
    counts = counted(*in_places(n=200, n_places=2))
    model, rng = ThresholdModel(counts), np.random.default_rng(0)
    x = np.array([[-1.2, 0.3, 0.2, 0.1, 0.4, 0.1, -0.5, -1.5, -1.6, -1.8, -1.7, 0.4]] * 2)
    x[1, 0], x[1, 8] = -1.0, -1.2
    value, modes = model.log_posterior(x, np.zeros((2, 3, 2, 4)))
    integrals = []
    for i, theta in enumerate(parameters(x)):  # importance sampling around the modes of places
        z = modes[i, 1] + 0.9 * rng.standard_t(8, size=(40_000, 2, 4))
        log_q = stats.t.logpdf((z - modes[i, 1]) / 0.9, 8).sum(axis=2)
        many = np.repeat(theta[None], len(z), 0)
        many[:, 2] += np.exp(theta[10]) * rng.normal(size=len(z))
        log_w = model._joint(many, z)[0] - log_q
        integrals.append((logsumexp(log_w, axis=0) - np.log(len(z))).sum())
    laplace = value - outside(x)
    assert laplace[1] - laplace[0] == pytest.approx(integrals[1] - integrals[0], abs=0.1)


def outside(x):
    """Return what does not depend on counts: the log posterior without people."""
    return ThresholdModel(np.zeros((1, 2, 3))).log_posterior(x, np.zeros((2, 3, 1, 4)))[0]


@pytest.mark.slow
def test_equal_thresholds_and_unequal_risks_differ_in_outcomes_only():
    X, y, decisions = in_places(n=800)
    box = BlackBox(decisions=decisions)
    other = OutcomeTest(protected="race", reference="a").fit(X, y, box).result_
    assert other.verdict == "disparity found"
    result = audited(X, y, decisions, model_error=0.0)
    assert result.verdict != "disparity found"
    row = result.findings.table.iloc[0]
    assert row["ci_low"] < 0 < row["ci_high"]
    assert result.null == "calibration"
    places = result.tables["places"]
    assert len(places) == 40
    off = places["selection_rate"] - places["selection_expected"]
    assert np.abs(off).max() < 0.05


@pytest.mark.slow
def test_unequal_thresholds_are_found():
    X, y, decisions = in_places(n=1000, thresholds=(-2.6, 0.8), n_places=20)
    result = audited(X, y, decisions)
    assert result.verdict == "disparity found"
    truth = expit(-2.6) - expit(0.8)
    row = result.findings.table.iloc[0]
    assert row["ci_low"] < truth < row["ci_high"] < 0
    swapped = audited(X, y, decisions, reference="b").findings.table.iloc[0]
    assert swapped["effect"] == pytest.approx(-row["effect"], abs=0.02)
    none = audited(X, y, decisions, model_error=0.9)
    assert none.verdict == "insufficient evidence"


@pytest.mark.slow
def test_only_outcomes_of_people_selected_are_read_and_rows_have_no_order():
    X, y, decisions = in_places(n=100, n_places=8)
    rng = np.random.default_rng(0)
    other = np.where(decisions == 1, y, rng.integers(0, 2, len(y)))
    at = rng.permutation(len(y))
    one = audited(X, y, decisions).findings.table
    pd.testing.assert_frame_equal(one, audited(X, other, decisions).findings.table)
    moved = audited(X.iloc[at].reset_index(drop=True), y[at], decisions[at]).findings.table
    pd.testing.assert_frame_equal(one, moved, rtol=1e-6)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"place": None}, "no column of places"),
        ({"n_places": 5}, "fewer than 6 places"),
        ({"thresholds": (9.0, -0.8)}, "too few people selected"),
    ],
)
def test_what_says_too_little_is_not_judged(more, reason):
    given = {k: v for k, v in more.items() if k != "place"}
    X, y, decisions = in_places(n=60, **({"n_places": 8} | given))
    result = audited(X, y, decisions, **{k: v for k, v in more.items() if k == "place"})
    assert result.verdict == "insufficient evidence"
    assert reason in result.discovery.excluded["reason"].iloc[0]


def test_a_place_is_a_column_that_is_not_protected():
    X, y, decisions = in_places(n=60, n_places=6)
    with pytest.raises(ValueError, match="did you mean 'place'"):
        audited(X, y, decisions, place="plac")
    with pytest.raises(ValueError, match="is protected"):
        audited(X, y, decisions, place="race")
    result = ThresholdTest(protected="race", place="place").fit(X, y).result_
    assert "no decisions beside the outcomes y" in result.reason


WORLDS = [{}, {"apart_spread": 0.4}, {"thresholds": (-2.6, 0.8)}]


@pytest.mark.statistics
@pytest.mark.parametrize("world", WORLDS)
def test_intervals_hold_the_difference_of_the_thresholds(world):
    first, second = world.get("thresholds", (-0.8, -0.8))
    truth = expit(first) - expit(second)
    for seed in range(3):
        low, high = gap_of(n=300, seed=seed, n_places=12, **world).interval(0.05, margin=0.15)
        assert low <= truth <= high
        assert (low > 0 or high < 0) == (truth != 0)
