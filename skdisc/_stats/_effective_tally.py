"""Rates of rows with weights or in clusters, tested by effective counts."""

from dataclasses import dataclass

import numpy as np

from skdisc._stats._rates import GroupTally


@dataclass(frozen=True)
class EffectiveTally(GroupTally):
    r"""Rates of groups, with the sizes of unweighted samples that would be as accurate.

    Tests and intervals take these sizes, and the rates times them as counts (Rao and Scott 1981,
    :doi:`10.1080/01621459.1981.10477633`; Korn and Graubard 1998).

    Attributes
    ----------
    x, n : ndarray of float
        Sums of weights of events and of trials in each group.
    x_all, n_all : ndarray of float
        The same over all rows, or over the context of each group.
    size, size_rest : ndarray of float
        Effective numbers of trials of each group and of its rest.
    """

    size: np.ndarray
    size_rest: np.ndarray

    @classmethod
    def of_sums(cls, sums, total):
        """Compare groups by the sums of `Means` over 0/1 outcomes, centered at 0.

        Parameters
        ----------
        sums : ndarray of float, shape (7, n_groups)
        total : ndarray of float, shape (7,) or (7, n_groups)

        Returns
        -------
        EffectiveTally
        """
        total = total if total.ndim > 1 else total[:, None]
        return cls(sums[1], sums[0], total[1], total[0], *effective_sizes(sums, total))

    @property
    def sides(self):
        """Effective events and trials of each group, and of its rest."""
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.clip(self.x / self.n, 0, 1)
            rest = np.clip((self.x_all - self.x) / (self.n_all - self.n), 0, 1)
        x1, x0 = np.nan_to_num(rate) * self.size, np.nan_to_num(rest) * self.size_rest
        return x1, self.size, x0, self.size_rest


def effective_sizes(sums, total):
    r"""Return the effective numbers of rows of groups, and of the rest of their contexts.

    With linearized residuals :math:`w_i (y_i - p) / \sum w`, the size of a group is :math:`p(1-p)`
    over the sum of their squares: the smaller of two, by the rate and the residuals of the group
    (unless its rate is 0 or 1), and by those of its context per :math:`w^2`. So a group in which no
    event was drawn has the variance of the others.

    Parameters
    ----------
    sums, total : ndarray of float, shape (7, n_groups)
        As of `EffectiveTally.of_sums`, over the groups and over their contexts.

    Returns
    -------
    size, size_rest : ndarray of float, shape (n_groups,), 0 for an empty side
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        common, rate = _squares(total) / total[3], total[1] / total[0]
        common = np.where((rate > 0) & (rate < 1), rate * (1 - rate) / common, 1.0)
        return tuple(_size(side, common) for side in (sums, np.maximum(total - sums, 0)))


def _size(sums, common):
    weight, events, _, squares, *_ = sums
    kish, rate = weight**2 / squares, events / weight
    own = rate * (1 - rate) * weight**2 / _squares(sums) * (1 - 1 / kish)
    smaller = np.where(
        (rate > 0) & (rate < 1) & (kish > 1), np.fmin(own, common * kish), common * kish
    )
    return np.where(weight > 0, smaller, 0.0)


def _squares(sums):
    """Return the sum of squares of w (y - mean)."""
    mean = sums[1] / sums[0]
    return np.maximum(sums[5] - 2 * mean * sums[4] + mean**2 * sums[3], 0)
