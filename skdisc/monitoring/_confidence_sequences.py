"""Confidence sequences: intervals of means that hold at all times at once."""

import numpy as np

from skdisc._stats._bisection import bisected

_TILTS = 8.0 * 0.75 ** np.arange(44)  # from 8 to 3e-5: for some people, and for 10^9
_SHARES = 1 / np.arange(1, 45)
_LOG_SHARES = np.log(_SHARES / _SHARES.sum())
_GROWTH = np.expm1(_TILTS)
_HALVINGS = 40
_NARROW_TILTS = 0.9 * 0.75 ** np.arange(44)  # below 1, where the bound of a number ends
_COST_OF_SQUARES = -np.log1p(-_NARROW_TILTS) - _NARROW_TILTS


def rate_sequence(n: np.ndarray, x: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Return a confidence sequence for the mean rate of a group so far.

    For outcomes in [0, 1] and every tilt, :math:`\exp(\lambda \sum x - n \log(1 + p
    (e^\lambda - 1)))`, where p is the mean of the conditional rates of the people so far, is at
    most a martingale that starts at 1: so their mixture over tilts exceeds
    :math:`2 / \text{level}` with probability `level` / 2 at any time at all. Rates may drift, and
    people may differ.

    Parameters
    ----------
    n, x : ndarray, shape (...)
        Number of people, and sum of their outcomes.
    level : float
        Probability that the mean rate is outside of the interval at any time.

    Returns
    -------
    low, high : ndarray of float, shape (...)
        0 and 1 where there are no people.
    """
    n, x = np.asarray(n, dtype=float), np.asarray(x, dtype=float)
    return _lower(n, x, level / 2), 1 - _lower(n, n - x, level / 2)


def _lower(n, x, level):
    """Return the smallest mean rates that the mixture does not exclude."""
    low, high = np.zeros_like(x), np.where(n > 0, x / np.maximum(n, 1), 0.0)
    of_sum, people = _TILTS * x[..., None] + _LOG_SHARES, n[..., None]

    def is_excluded(mean):
        log_e = of_sum - people * np.log1p(mean[..., None] * _GROWTH)
        return np.logaddexp.reduce(log_e, axis=-1) >= -np.log(level)

    return bisected(is_excluded, low, high, _HALVINGS)[0]


def mean_sequence(
    n: np.ndarray, x: np.ndarray, squares: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return a confidence sequence for the mean of numbers so far, narrow where they vary little.

    For numbers in [0, 1], each predicted by a number :math:`\hat x` in [0, 1] from those before,
    and every tilt below 1, :math:`\exp(\lambda \sum (x - \mu) - \psi(\lambda) \sum (x - \hat
    x)^2)` with :math:`\psi(\lambda) = -\log(1 - \lambda) - \lambda` is at most a martingale that
    starts at 1 (Fan, Grama, Liu 2015; Howard, Ramdas, McAuliffe, Sekhon 2021, Theorem 4); here,
    too, tilts are mixed, and means may drift.

    Parameters
    ----------
    n, x, squares : ndarray, shape (...)
        Number of people, sum of their numbers, and sum of the squared errors of predictions.
    level : float

    Returns
    -------
    low, high : ndarray of float, shape (...)
        0 and 1 where there are no people.
    """
    n, x, squares = (np.asarray(a, dtype=float) for a in (n, x, squares))
    fixed = _LOG_SHARES - squares[..., None] * _COST_OF_SQUARES

    def is_inside(excess):
        log_e = np.logaddexp.reduce(fixed + _NARROW_TILTS * excess[..., None], axis=-1)
        return ~(log_e >= -np.log(level / 2))

    # What the sum may exceed its expectation by.
    _, far = bisected(is_inside, np.zeros_like(x), n, _HALVINGS)
    people = np.maximum(n, 1)
    low = np.where(n > 0, np.maximum((x - far) / people, 0), 0.0)
    return low, np.where(n > 0, np.minimum((x + far) / people, 1), 1.0)


def squared_errors(values: np.ndarray, n: float, x: float, rng: np.random.Generator) -> float:
    """Return the sum of the squared errors if each number is predicted by the mean before it.

    Parameters
    ----------
    values : ndarray of float in [0, 1]
        Numbers of a batch. Their order does not matter: they are put into a random one.
    n, x : float
        Number and sum of earlier ones.
    rng : numpy.random.Generator
    """
    ordered = rng.permutation(np.sort(values))
    sums = x + 0.5 + np.cumsum(ordered) - ordered  # one half, before there is any number
    return float(np.sum((ordered - sums / (n + 1 + np.arange(len(ordered)))) ** 2))


def difference_sequence(
    n: np.ndarray, x: np.ndarray, squares: np.ndarray, level: float
) -> dict[str, np.ndarray]:
    """Return a confidence sequence for the difference of the means of two groups.

    Parameters
    ----------
    n, x, squares : ndarray, shape (..., 2)
        As in `mean_sequence`, of each group.
    level : float

    Returns
    -------
    dict of ndarray, shape (...)
        ``ci_low`` and ``ci_high``.
    """
    low, high = mean_sequence(n, x, squares, level / 2)  # both groups together keep the level
    return {"ci_low": low[..., 0] - high[..., 1], "ci_high": high[..., 0] - low[..., 1]}


def gap_sequence(n: np.ndarray, x: np.ndarray, level: float) -> dict[str, np.ndarray]:
    """Return a confidence sequence for the gap and the ratio of the mean rates of two groups.

    Parameters
    ----------
    n, x : ndarray, shape (..., 2)
        People, and sums of their outcomes, of each group.
    level : float

    Returns
    -------
    dict of ndarray, shape (...)
        ``ci_low`` and ``ci_high`` of the gap, ``ratio_low`` and ``ratio_high`` of the ratio of the
        first rate to the second; for the rarer outcome, if that is the unfavorable one.
    """
    low, high = rate_sequence(n, x, level / 2)  # both groups together keep the level
    rarer_is_x = x.sum(axis=-1) <= n.sum(axis=-1) / 2
    least = np.where(rarer_is_x[..., None], low, 1 - high)
    most = np.where(rarer_is_x[..., None], high, 1 - low)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = least[..., 0] / most[..., 1], most[..., 0] / least[..., 1]
    return {
        "ci_low": low[..., 0] - high[..., 1],
        "ci_high": high[..., 0] - low[..., 1],
        "ratio_low": np.nan_to_num(ratios[0], nan=0.0),
        "ratio_high": np.nan_to_num(ratios[1], nan=np.inf, posinf=np.inf),
    }
