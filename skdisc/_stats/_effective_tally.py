"""Rates of rows with weights or in clusters, tested by effective counts."""

from dataclasses import dataclass

import numpy as np

from skdisc._stats._rates import GroupTally


def kish_size(weight, people=1.0):
    """Return how many people of equal weight would be as accurate, by Kish's formula.

    `weight`: of rows, each of so many `people` with equal parts of it.
    """
    return weight.sum() ** 2 / (weight**2 / people).sum()


@dataclass(frozen=True)
class EffectiveTally(GroupTally):
    r"""Rates of groups, with the numbers of rows without weights that would be as accurate.

    With weights w, events count as :math:`\sum w / k_1` and other rows as :math:`\sum w / k_0`,
    where :math:`k = \sum w^2 / \sum w` over the events (or others) of the context; then both are
    as variable as counts. Where the own :math:`k` of a group make its rate less accurate, both are
    scaled down. Equal rates are equal odds of these counts, which the test compares: if all events
    have one weight and all others another, they are the numbers of rows, and tails are exact.
    Intervals take the *size* that has the linearized variance :math:`p^2 (1-p)^2 (1/a + 1/b)` of a
    rate p with a events and b others (Rao and Scott 1981, :doi:`10.1080/01621459.1981.10477633`).

    Attributes
    ----------
    x, n : ndarray of float
        Sums of weights of events and of trials in each group.
    x_all, n_all : ndarray of float
        The same over all rows, or over the context of each group.
    size, size_rest : ndarray of float
        Effective numbers of trials of each group and of its rest.
    cells : tuple of ndarray of float
        Effective events and trials of each group, and of its rest, for the test.
    """

    size: np.ndarray
    size_rest: np.ndarray
    cells: tuple

    @classmethod
    def of_sums(cls, sums, total):
        """Compare groups by the sums of `Means` over 0/1 outcomes, centered at 0.

        `sums`: as for `Means` with weights; the first five are used.
        """
        total = total if total.ndim > 1 else total[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            (x1, n1, size), (x0, n0, rest) = (
                _effective(side, total) for side in (sums, np.maximum(total - sums, 0))
            )
        return cls(sums[1], sums[0], total[1], total[0], size, rest, (x1, n1, x0, n0))

    @property
    def table(self):
        """Effective events and trials of each group, and of its rest, for the test."""
        return self.cells

    @property
    def sides(self):
        """Events and trials of each group, and of its rest, with the sizes of intervals."""
        rate, rest = (np.nan_to_num(np.clip(r, 0, 1)) for r in self.rates)
        return rate * self.size, self.size, rest * self.size_rest, self.size_rest


def effective_size(sums):
    """Return the effective number of rows of a group, from the sums of `Means` with weights.

    The number of rows without weights whose rate would have the same linearized variance (Rao and
    Scott 1981; see `EffectiveTally`).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(_effective(sums, sums)[2])


def _effective(side, total):
    """Return effective events, trials and size of groups, 0 for empty ones."""
    weight_of_row, weight_of_row_in_total, rate = (
        _per_row(side),
        _per_row(total),
        np.nan_to_num(total[1] / total[0]),
    )
    events, non_events = side[1], np.maximum(side[0] - side[1], 0)
    share = np.clip(events / side[0], 0, 1)
    scale = np.fmin(1.0, _mixed(weight_of_row_in_total, share) / _mixed(weight_of_row, share))
    scale = np.where(np.isnan(scale), 1.0, scale)
    a, b = (
        _rounded(scale * part / k)
        for part, k in zip((events, non_events), weight_of_row_in_total, strict=True)
    )
    size = scale * side[0] / _mixed(weight_of_row_in_total, rate)
    return tuple(np.where(side[0] > 0, v, 0.0) for v in (a, a + b, size))


def _per_row(sums):
    """Return which weight counts as one row: of events, and of others; of all if there are none."""
    weight, events, _, squares, squares_of_events, *_ = sums
    non_events, squares_of_non_events = (
        np.maximum(weight - events, 0),
        np.maximum(squares - squares_of_events, 0),
    )
    one = np.where(events > 0, squares_of_events / events, squares / weight)
    return one, np.where(non_events > 0, squares_of_non_events / non_events, squares / weight)


def _mixed(per_row, rate):
    """Return which weight counts as one row in the variance of a rate."""
    return (1 - rate) * per_row[0] + rate * per_row[1]


def _rounded(counts):
    nearest = np.round(counts)
    return np.where(np.isclose(counts, nearest, rtol=1e-9, atol=1e-9), nearest, counts)
