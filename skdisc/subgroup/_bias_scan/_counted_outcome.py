"""The statistics of a scan of shares: sums of whole numbers, exact however rows are counted."""

import numpy as np
import pandas as pd
from scipy import special

from skdisc import _stats
from skdisc._stats._proportions import EXACT_TEST, SMALL_COUNT
from skdisc._utils._frequency import count, runs_of_equal_rows, taken
from skdisc._utils._hashing import by_name
from skdisc.subgroup._bias_scan._weighted_outcome import NORMAL_TEST, measured

_EXACT = f"{EXACT_TEST}, observed against expected"
# A group is tested against expected outcomes, not against the rest of the rows: only its own
# expected counts matter here, not those of the rest as in `_stats.proportions_test`.
_MANY = 2000  # people above which the exact test, whose time grows with them, is not used


def equal_rows_once(outcome):
    """Return an outcome in the same order, however rows and columns are ordered.

    If outcomes are shares, and rows have no weights and no clusters, equal rows become one with the
    number of its people: so draws are the same for repeated rows and for counts.
    """
    X = by_name(outcome.X)
    row = pd.util.hash_pandas_object(X, index=False).to_numpy() if len(X) else np.empty(0)
    keys = outcome.mass, *outcome.mu, *outcome.y, row
    ties = () if outcome.cluster is None else (outcome.cluster,)
    order = np.lexsort((*ties, *keys))
    outcome = outcome.at(order)
    if not outcome.is_share or outcome.weight is not None or ties or not len(X):
        return outcome
    starts, people = runs_of_equal_rows([k[order] for k in keys[1:]], outcome.frequency)
    return outcome if people.max() == 1 else outcome.at(starts, people)


def people_with(mu, frequency, is_mean=False):
    """Return the distinct expectations, sorted, and the number of people with each of them."""
    if is_mean and len(mu):
        return mu[:1], np.array([len(mu) if frequency is None else frequency.sum()])
    if frequency is None:
        return np.unique(mu, return_counts=True)
    values, value_index = np.unique(mu, return_inverse=True)
    return values, count(value_index, len(values), frequency)


class Tally:
    """The people of a group: their number, those with the outcome, and what is expected.

    Parameters
    ----------
    outcome : Outcome
        Shares, without weights.
    inside : ndarray of bool, shape (n_rows,)
    target : int
    """

    def __init__(self, outcome, inside, target):
        frequency = taken(outcome.frequency, inside)
        y = outcome.y[target][inside]
        self.hits = y.sum() if frequency is None else y @ frequency
        if outcome.is_mean:
            self.mu, self.people = people_with(outcome.mu[target][inside], frequency, True)
        else:
            values, number = outcome.numbered_expectations[target]
            people = count(number[inside], len(values), frequency)
            self.mu, self.people = values[people > 0], people[people > 0]
        self.n = int(self.people.sum())

    @property
    def expected(self):
        """Expected number of people with the outcome."""
        return self.people @ self.mu

    @property
    def variance(self):
        """Variance of the number of people with the outcome if the expectations hold."""
        return self.people @ (self.mu * (1 - self.mu))


def compared(outcome, tally, target, significance):
    """Compare the observed outcomes of a group with the expected ones; see `Outcome.measure`."""
    n, x = tally.n, tally.hits
    rest = 1 - n / max(outcome.n, 1) if outcome.is_mean else 1.0  # the mean depends on the members
    observed, expected = (x / n, tally.expected / n) if n else (np.nan, np.nan)
    spread, p_value, test = np.sqrt(tally.variance * rest), np.nan, NORMAL_TEST
    few = 0 < n <= _MANY and min(tally.expected, n - tally.expected) < SMALL_COUNT
    if n and rest and spread:
        p_value = 2 * special.ndtr(-abs((x - tally.expected) / spread))
    if few and rest:
        p_value, test = _exact(outcome, tally, target), _EXACT
    interval = _interval(outcome, tally, rest, target, significance)
    return measured(outcome.sense, n, observed, expected, interval, p_value, test)


def _interval(outcome, tally, rest, target, significance):
    """Return the interval of observed minus expected."""
    if not tally.n or not rest:
        return np.nan, np.nan
    if outcome.is_mean:
        rest_hits = outcome.y[target] @ outcome.mass - tally.hits
        ends = _stats.newcombe(tally.hits, tally.n, rest_hits, outcome.n - tally.n, significance)
        return rest * float(ends[0]), rest * float(ends[1])
    low, high = _stats.wilson(tally.hits, tally.n, significance)
    expected = tally.expected / tally.n
    return float(low) - expected, float(high) - expected


def _exact(outcome, tally, target):
    """Return the two-sided mid-p of the people of a group with the outcome."""
    if outcome.is_mean:
        total = outcome.y[target] @ outcome.mass
        return float(
            _stats.fisher(
                tally.hits, tally.n, x0=total - tally.hits, n0=outcome.n - tally.n, mid=True
            )
        )
    mass = poisson_binomial(tally.mu, tally.people)
    p_observed = mass[int(tally.hits)]
    tied = np.abs(mass - p_observed) <= 1e-9 * p_observed
    return float(min(1.0, mass[(mass < p_observed) & ~tied].sum() + mass[tied].sum() / 2))


def score_of(outcome, inside, target, sign):
    """Return the score of a group by the odds, given as a bool array over the rows."""
    tally = Tally(outcome, inside, target)
    if not tally.n:
        return 0.0
    score = outcome.score(sign, tally.mu, target)
    return float(score.peak(sign * np.array([tally.hits]), tally.people[None].astype(float))[1][0])


def overall(outcome, target, significance):
    """Return observed share, ends of its interval, expected share, and number of people."""
    tally = Tally(outcome, np.ones(len(outcome), dtype=bool), target)
    n = tally.n
    if not n:
        return np.nan, np.nan, np.nan, np.nan, n
    low, high = map(float, _stats.wilson(tally.hits, n, significance))
    return tally.hits / n, low, high, tally.expected / n, n


def poisson_binomial(p, people=None):
    """Return the distribution of the number of successes of independent trials, shape (n + 1,).

    Its characteristic function is a product (Hong 2013, :doi:`10.1016/j.csda.2012.10.006`).

    >>> print(poisson_binomial(np.array([0.5, 0.2])).round(3))
    [0.4 0.5 0.1]

    Parameters
    ----------
    p : ndarray of float, shape (n_shares,)
    people : ndarray of int, shape (n_shares,), optional
        Number of trials with each probability; None: 1.
    """
    values, times = people_with(p, people)
    n = int(times.sum())
    turns = np.exp(2j * np.pi * np.arange(n + 1) / (n + 1))
    product = np.ones(n + 1, dtype=complex)
    for part in np.array_split(np.arange(len(values)), max(1, len(values) // 64)):
        factors = 1 - values[part] + values[part] * turns[:, None]
        product *= np.prod(factors ** times[part], axis=1)
    return np.clip(np.fft.fft(product).real / (n + 1), 0, 1)
