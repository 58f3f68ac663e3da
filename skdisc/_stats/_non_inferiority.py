"""Tests that one model is worse than another one by less than a margin, on the same people.

Each returns a z that is large if the alternative is *not* worse by the margin. The error is never
0: where two models differ about nobody, a Wald test would show whatever it is asked.
"""

import numpy as np

from skdisc._stats._ranks import midranks


def tango_z(won, lost, n, margin):
    r"""Score statistic of a difference of paired proportions (Tango 1998).

    Of n people, the alternative alone is right about `won` and the present model alone about
    `lost`. With the likeliest share :math:`\tilde q` of people who are won, if the alternative is
    worse by exactly the margin :math:`\delta`,

    .. math:: z = (b - c + n \delta) / \sqrt{n (2 \tilde q + \delta - \delta^2)}

    (:doi:`10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B`).

    Of 44 eyes, one method of disinfection alone succeeded once (Tango's example):

    >>> print(tango_z(0, 1, 44, 0.1).round(3), tango_z(0, 0, 268, 0.01).round(3))
    1.709 1.645

    Parameters
    ----------
    won, lost : array-like of int, people about whom one of the two models alone is right
    n : array-like of int, all people
    margin : float, in (-1, 1)

    Returns
    -------
    z : ndarray of float
    """
    won, lost, n = (np.asarray(v, dtype=float) for v in (won, lost, n))
    agreed = n - won - lost
    # The likeliest share won, times 2 n, solves 2 n q^2 + b q = won * margin * (1 - margin).
    b = (won + lost) * (1 - margin) - 2 * won * margin - 2 * agreed * margin
    root = np.sqrt(b * b + 8 * n * won * margin * (1 - margin))
    share = np.maximum((b + root) / (4 * n), np.maximum(0.0, -margin))
    return (won - lost + n * margin) / np.sqrt(n * (2 * share + margin - margin**2))


def bounded_mean_z(difference, margin, bound):
    """Statistic of a mean difference of scores per person, each at most `bound` in size.

    One person is added at each bound, so that the error is never 0. Gross errors that are rarer
    than one in n people are not seen, and not excluded.

    `difference`: score of the alternative less that of the present model; greater is better.
    """
    d = np.r_[difference, bound, -bound]
    return float((difference.mean() + margin) / np.sqrt(d.var() / len(d)))


def placements(score, positive):
    """Return the share of the other class that is on the right side of each person.

    Returns `of_positives`: share of the negatives with a lower score, ties counting half; its mean
    is the area; `of_negatives`: share of the positives with a higher score.
    """
    # The rank among all less the rank in one's own class is the number of the others below, so that
    # pairs need not be compared one by one.
    among_all = midranks(score, np.ones(len(score)))
    up, down = score[positive], score[~positive]
    among_up, among_down = midranks(up, np.ones(len(up))), midranks(down, np.ones(len(down)))
    of_positives = (among_all[positive] - among_up) / max(len(down), 1)
    return of_positives, 1 - (among_all[~positive] - among_down) / max(len(up), 1)


def paired_auc_z(present, alternative, margin):
    """Statistic of the difference of two areas under ROC curves (DeLong and others 1988).

    As in `bounded_mean_z`, the error counts one more person at each bound, in both classes.

    `present` and `alternative`: the `placements` of both models.
    """
    of_positives, of_negatives = (b - a for a, b in zip(present, alternative, strict=True))
    variance = sum(_variance_of_mean(d) for d in (of_positives, of_negatives))
    return float((of_positives.mean() + margin) / np.sqrt(variance))


def _variance_of_mean(difference):
    d = np.r_[difference, 1.0, -1.0]
    return d.var(ddof=1) / len(d)
