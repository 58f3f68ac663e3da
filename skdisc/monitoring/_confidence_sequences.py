"""Confidence sequences: intervals of mean rates that hold at all times at once."""

import numpy as np

_TILTS = 8.0 * 0.75 ** np.arange(44)  # from 8 to 3e-5: for some people, and for 10^9
_SHARES = 1 / np.arange(1, 45)
_LOG_SHARES = np.log(_SHARES / _SHARES.sum())
_GROWTH = np.expm1(_TILTS)
_HALVINGS = 40


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
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        log_e = of_sum - people * np.log1p(middle[..., None] * _GROWTH)
        excluded = np.logaddexp.reduce(log_e, axis=-1) >= -np.log(level)
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return low


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
