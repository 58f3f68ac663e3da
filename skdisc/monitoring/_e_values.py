"""E-values of blocks of decisions, and of pairs of numbers, against equal rates."""

from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp, xlog1py, xlogy

RATES = np.arange(1, 10) / 10  # predictions for the first block, before any rate was seen
_MEMORY = 2000.0  # people that a predicted rate remembers, so that it follows a drift
_LEAST = 0.2  # of a predicted rate and of its complement, what a predicted gap leaves
_LARGEST_BET = 0.5
_BLOCK = 25  # people of the smallest block: of n, one part in n is lost between blocks
_PARTS = (8, 7, 3, 1)  # one over the share of what is left: an eighth, an eighth, a quarter, a half
_SMALLEST = 16  # people of a first block that is cut into parts


def predicted_rates(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the predicted rates of the next block, shape (..., n_rates).

    Parameters
    ----------
    n, x : ndarray of float, shape (...)
        People and favorable decisions of earlier blocks, all groups together, as remembered.

    Returns
    -------
    ndarray of float
        One rate, repeated, where there are earlier blocks; else `RATES`.
    """
    rate = ((x + 0.5) / (n + 1))[..., None]
    return np.where(n[..., None] > 0, rate, RATES)


def remembered(n: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of earlier blocks, scaled down to the people that are remembered."""
    scale = np.minimum(1, _MEMORY / np.maximum(n, 1))
    return n * scale, x * scale


def is_complete(n: np.ndarray) -> np.ndarray:
    """Return whether the people who wait make a block, of shape (...).

    Both groups need people, and both together enough of them: how rates differ *between* blocks is
    no evidence, so that blocks of n people lose one part in n of it.

    Parameters
    ----------
    n : ndarray of int, shape (..., 2)
        People of both groups. Their outcomes play no part.
    """
    n = np.asarray(n)
    return n.all(axis=-1) & (n.sum(axis=-1) >= _BLOCK)


def log_e_of_block(n: np.ndarray, x: np.ndarray, rates: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    r"""Return the logarithm of the e-value of a block against equal rates of two groups.

    With predicted rates :math:`\theta_a, \theta_b` and :math:`\theta_0` their mean over the people
    of the block, the e-value is the likelihood of the predicted rates over that of
    :math:`\theta_0` (Turner, Ly, Grünwald 2024). Its expectation is at most 1 if the mean rates of
    both groups are equal in the block, whatever they are, and if people of a group differ, too.
    The predicted rates are those of a gap around a pooled rate, in units of twice its standard
    deviation; the e-values of several predictions of the pooled rate are averaged.

    Parameters
    ----------
    n, x : ndarray, shape (..., 2)
        People and favorable decisions of both groups; n is at least 1.
    rates : ndarray of float, shape (..., n_rates)
        Predictions of the pooled rate.
    gaps : ndarray of float, shape (n_gaps,)
        Predictions of the gap where the pooled rate is one half.

    Returns
    -------
    ndarray of float, shape (..., n_gaps)
    """
    n, x = (np.asarray(a, dtype=float)[..., None, None, :] for a in (n, x))
    rate = rates[..., None, :, None]
    gap = gaps[:, None, None] * 2 * np.sqrt(rate * (1 - rate))
    total = n.sum(axis=-1, keepdims=True)
    predicted = rate + gap * np.array([1, -1]) * n[..., ::-1] / total
    predicted = np.clip(predicted, _LEAST * rate, 1 - _LEAST * (1 - rate))
    pooled = (n * predicted).sum(axis=-1) / total[..., 0]
    log_e = (xlogy(x, predicted) + xlog1py(n - x, -predicted)).sum(axis=-1)
    x_all, n_all = x.sum(axis=-1), total[..., 0]
    log_e -= xlogy(x_all, pooled) + xlog1py(n_all - x_all, -pooled)
    return logsumexp(log_e, axis=-1) - np.log(rates.shape[-1])


def parts_of_first(n: np.ndarray, x: np.ndarray, rng: np.random.Generator) -> Iterator[tuple]:
    """Yield random parts of a first block, so that later parts are predicted by earlier ones.

    Parameters
    ----------
    n, x : ndarray of int, shape (2,)
        People and favorable decisions of both groups.
    rng : numpy.random.Generator

    Yields
    ------
    n, x : ndarray of int, shape (2,)
        A group without people in a part waits for the next part.
    """
    order = np.lexsort((x, n))  # so that a group and its mirror image are cut alike
    n_left, x_left, back = n[order], x[order], np.argsort(order)
    for one_over in _PARTS if n.sum() >= _SMALLEST else (1,):
        part = n_left // one_over
        if not part.all():
            continue
        favorable = rng.hypergeometric(x_left, n_left - x_left, part)
        n_left, x_left = n_left - part, x_left - favorable
        yield part[back], favorable[back]


def paired(values: tuple, rng: np.random.Generator) -> np.ndarray:
    """Return differences of means between random parts of two groups, in random order.

    Parameters
    ----------
    values : (ndarray, ndarray)
        Numbers of each group, at least one each. Their order does not matter.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float
        As many differences as the smaller group has people.
    """
    n = min(map(len, values))
    means, ordered = {}, [np.sort(of_group) for of_group in values]
    for i in sorted((0, 1), key=lambda i: (len(ordered[i]), ordered[i].tolist())):
        shuffled = rng.permutation(ordered[i])
        starts = np.arange(n) * len(shuffled) // n
        sizes = np.diff(np.append(starts, len(shuffled)))
        means[i] = np.add.reduceat(shuffled, starts) / sizes
    return means[0] - means[1]


def log_e_of_pairs(differences: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the logarithms of two e-values of differences whose mean is 0 if groups are equal.

    One bets on positive, one on negative differences:
    :math:`\prod_t (1 + \lambda_t d_t)`, where :math:`\lambda_t` is the mean of the earlier
    differences over their mean square (aGRAPA), at most one half (Chugg, Cortes-Gomez, Wilder,
    Ramdas 2023).

    Parameters
    ----------
    differences : ndarray of float in [-1, 1], shape (n_pairs,)
    sums : ndarray of float, shape (3,)
        Number, sum, and sum of squares of earlier differences.

    Returns
    -------
    log_e : ndarray of float, shape (2,)
    sums : ndarray of float, shape (3,)
        With those of these differences.
    """
    d = np.asarray(differences, dtype=float)
    steps = np.stack([np.ones(len(d)), d, d**2], axis=1)
    before = sums + np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])
    bet = before[:-1, 1] / (before[:-1, 2] + 0.25)  # a quarter stands for an earlier square
    signed = np.array([[1.0], [-1.0]]) * np.clip(np.array([[1.0], [-1.0]]) * bet, 0, _LARGEST_BET)
    return np.log1p(signed * d).sum(axis=1), before[-1]


def e_bh(log_e: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return p-values adjusted by e-BH, valid under any dependence (Wang and Ramdas 2022).

    Parameters
    ----------
    log_e : ndarray of float, shape (n_groups,)
        Logarithms of the current wealths.
    weight : ndarray of float, shape (n_groups,)
        Shares of the level; their sum is at most 1.

    Returns
    -------
    ndarray of float
        A group is found at a level if its adjusted p-value is at most this level.
    """
    weighted = log_e + np.log(weight)
    order = np.argsort(-weighted, kind="stable")
    rank = np.arange(1, len(order) + 1)
    bound = -weighted[order] - np.log(rank)
    adjusted = np.minimum.accumulate(bound[::-1])[::-1]
    out = np.empty(len(order))
    out[order] = np.exp(np.minimum(adjusted, 0.0))
    return out
