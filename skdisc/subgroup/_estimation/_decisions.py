"""Favorable and unfavorable decisions of people, optionally weighted."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdisc._stats._rates import TN, TP

_ROUNDING = 1e-9


@dataclass(frozen=True)
class RowDecisions:
    """Rows with their decisions.

    *Sums* over groups are arrays of shape (n_groups, 4): weights of the rows with an unfavorable
    and with a favorable decision, squares of the weights, and number of rows.

    Attributes
    ----------
    rows : Counted or Summed
        Rows whose first measure is the selection rate.
    """

    rows: object

    def __len__(self):
        return len(self.rows)

    @cached_property
    def favored(self):
        """Whether the decision on each row is favorable, a bool array."""
        return self.rows.tree_target == 1

    @cached_property
    def columns(self):
        """What sums add up, shape (4, n_rows)."""
        w = self.weights
        return np.stack([w * ~self.favored, w * self.favored, w**2, np.ones(len(self))])

    @cached_property
    def weights(self):
        """Weight of each row, 1 where none is given."""
        return np.ones(len(self)) if self.rows.weight is None else self.rows.weight

    def sums(self, masks):
        """Return the sums over groups, given as an iterable of bool masks."""
        return np.array([self.columns[:, m].sum(axis=1) for m in masks]).reshape(-1, 4)

    def sums_of(self, patterns):
        """Return the sums over patterns mined from these rows."""
        if self.rows.weight is None:
            n = patterns.counts.sum(axis=1)
            return np.stack([patterns.counts[:, TN], patterns.counts[:, TP], n, n], axis=1)
        size, n, _, favored, _, squares = patterns.sums.reshape(-1, 6).T
        denied = np.where(size - favored > _ROUNDING * size, size - favored, 0.0)
        return np.stack([denied, favored, squares, n], axis=1)


def rest_of(sums, of_all):
    """Return the sums over the rows outside each group."""
    rest = of_all - sums
    return np.where(rest > _ROUNDING * of_all, rest, 0)


def effective_counts(sums):
    """Return the effective numbers of rows with an unfavorable decision, and of all rows.

    Without weights they are counts.
    """
    size = sums[:, :2].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(size > 0, size / sums[:, 2], 0.0)
    return sums[:, 0] * each, size * each
