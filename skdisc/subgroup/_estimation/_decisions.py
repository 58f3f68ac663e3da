"""Favorable and unfavorable decisions of people, optionally weighted."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdisc._stats._effective_tally import EffectiveTally
from skdisc._stats._rates import TN, TP

_ROUNDING = 1e-9


@dataclass(frozen=True)
class RowDecisions:
    """Rows with their decisions.

    *Sums* over groups are arrays of shape (n_groups, 5): weights of the rows with an unfavorable
    and with a favorable decision, squares of the weights of all and of those with an unfavorable
    decision, and number of people.

    `rows`: rows whose first measure is the selection rate.
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
        """What sums add up, shape (5, n_rows)."""
        w, denied, squares = self.weights, ~self.favored, self.squares
        people = np.ones(len(self)) if self.rows.frequency is None else self.rows.frequency
        return np.stack([w * denied, w * self.favored, squares, squares * denied, people])

    @cached_property
    def weights(self):
        """Weight of the people of each row, 1 where none is given."""
        return self.rows.mass

    @cached_property
    def squares(self):
        """Sum of the squares of the weights of the people of each row."""
        return self.weights**2 if self.rows.frequency is None else self.weights

    @property
    def sizes(self):
        """The weights, their squares and the clusters, a dict."""
        cluster = self.rows.cluster
        return {"weight": self.weights, "squares": self.squares, "cluster": cluster}

    def sums(self, masks):
        """Return the sums over groups, given as an iterable of bool masks."""
        return np.array([self.columns[:, m].sum(axis=1) for m in masks]).reshape(-1, 5)

    def sums_of(self, patterns):
        """Return the sums over patterns mined from these rows."""
        if self.rows.weight is None and self.rows.cluster is not None:
            size, _, _, favored, *_ = patterns.sums.T
            return np.stack([size - favored, favored, size, size - favored, size], axis=1)
        if self.rows.weight is None:
            n = patterns.counts.sum(axis=1)
            denied = patterns.counts[:, TN]
            return np.stack([denied, patterns.counts[:, TP], n, denied, n], axis=1)
        size, n, _, favored, _, squares, favored_squares, *_ = patterns.sums.T
        denied = np.where(size - favored > _ROUNDING * size, size - favored, 0.0)
        denied_squares = np.where(denied > 0, np.maximum(squares - favored_squares, 0), 0.0)
        return np.stack([denied, favored, squares, denied_squares, n], axis=1)


def rest_of(sums, total):
    """Return the sums over the rows outside each group."""
    rest = total - sums
    return np.where(rest > _ROUNDING * total, rest, 0)


def effective_counts(sums, context_sums):
    """Return effective numbers of rows with an unfavorable decision, and of all rows.

    Without weights they are counts.

    `sums` and `context_sums`, of shape (n_groups, 5): sums over the groups and over their contexts.
    Returns `x1`, `n1`, `x0` and `n0`: counts and sizes of each group, and of the rest of its
    context.
    """
    rest = rest_of(sums, context_sums)
    if (context_sums[:, 2] == context_sums[:, 4]).all():
        return sums[:, 0], sums[:, 4], rest[:, 0], rest[:, 4]
    parts = []
    for denied, allowed, squares, denied_squares, _ in (sums.T, context_sums.T):
        size, fourth = denied + allowed, np.zeros_like(denied)
        parts.append(
            np.stack([size, denied, denied, squares, denied_squares, denied_squares, fourth])
        )
    return EffectiveTally.of_sums(*parts).sides
