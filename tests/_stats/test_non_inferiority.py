"""Tests of non-inferiority, against published values, maximized likelihoods and brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from skdisc._stats._non_inferiority import bounded_mean_z, paired_auc_z, placements, tango_z


def test_published_values_of_tango():
    """Tango (1998): 44 eyes, T = 1.709 at a margin of .1, with a one-sided p-value of .044."""
    z = tango_z(0, 1, 44, 0.1)
    assert z == pytest.approx(1.709, abs=5e-4)
    assert norm.sf(z) == pytest.approx(0.0438, abs=5e-4)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 60), st.floats(0.01, 0.4))
def test_the_error_of_tango_is_that_of_the_likeliest_share(won, lost, agreed, margin):
    n = won + lost + agreed

    def minus_log_likelihood(share):  # of people won; margin more are lost
        cells = ((won, share), (lost, share + margin), (agreed, 1 - 2 * share - margin))
        return -sum(k * np.log(max(p, 1e-300)) for k, p in cells if k)

    likeliest = minimize_scalar(
        minus_log_likelihood, bounds=(0, (1 - margin) / 2), options={"xatol": 1e-10}
    ).x
    error = np.sqrt(n * (2 * likeliest + margin - margin**2))
    expected = (won - lost + n * margin) / error
    assert tango_z(won, lost, n, margin) == pytest.approx(expected, abs=1e-3)


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30))
def test_placements_are_shares_of_the_other_class(people):
    score = np.array([s for s, _ in people], dtype=float)
    positive = np.array([p for _, p in people])
    up, down = score[positive], score[~positive]
    if not len(up) or not len(down):
        return
    beats = lambda a, b: (a > b) + (a == b) / 2  # noqa: E731
    of_positives, of_negatives = placements(score, positive)
    assert of_positives == pytest.approx([np.mean([beats(a, b) for b in down]) for a in up])
    assert of_negatives == pytest.approx([np.mean([beats(a, b) for a in up]) for b in down])


def test_the_variance_of_areas_is_that_of_delong():
    """With many people those who are added do not count: then it is DeLong's own variance."""
    rng = np.random.default_rng(0)
    n = 3000
    positive = rng.random(n) < 0.4
    scores = [positive + rng.normal(size=n), positive + rng.normal(size=n)]
    both = [placements(s, positive) for s in scores]
    covariances = [np.cov(np.array([b[k] for b in both])) / len(both[0][k]) for k in (0, 1)]
    variance = sum(c[0, 0] + c[1, 1] - 2 * c[0, 1] for c in covariances)
    difference = both[1][0].mean() - both[0][0].mean()
    z = paired_auc_z(*both, 0.02)
    assert z == pytest.approx((difference + 0.02) / np.sqrt(variance), rel=0.02)


def test_two_models_that_never_differ_show_nothing_about_few_people():
    assert tango_z(0, 0, 200, 0.01) < norm.isf(0.05) < tango_z(0, 0, 300, 0.01)
    assert bounded_mean_z(np.zeros(200), 0.01, 1.0) < norm.isf(0.05)
    same = placements(np.arange(40.0), np.arange(40) % 2 == 0)
    assert paired_auc_z(same, same, 0.01) < norm.isf(0.05)
