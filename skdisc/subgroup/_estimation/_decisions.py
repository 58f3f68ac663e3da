"""Favourable and unfavourable decisions of people, each of whom may count more or less."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdisc._stats._rates import TN, TP

_ROUNDING = 1e-9


@dataclass(frozen=True)
class RowDecisions:
    """People with their decisions.

    *Sums* over groups are arrays of shape (n_groups, 4): weights of the people with an unfavourable
    and with a favourable decision, squares of the weights, and people.

    Attributes
    ----------
    rows : Counted or Summed
        Of the selection rate.
    """

    rows: object

    def __len__(self):
        return len(self.rows)

    @property
    def people(self):
        """The people."""
        return self.rows.people

    @property
    def weight(self):
        """Weight of each person, or None."""
        return self.rows.weight

    @cached_property
    def favoured(self):
        """Whether the decision on each person is favourable, a bool array."""
        return self.rows.guide == 1

    @cached_property
    def columns(self):
        """What sums add up, shape (4, n_rows)."""
        w = self.weights
        return np.stack([w * ~self.favoured, w * self.favoured, w**2, np.ones(len(self))])

    @cached_property
    def weights(self):
        """Weight of each person, 1 where none is given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def sums(self, masks):
        """Return the sums over groups, given as an iterable of bool masks."""
        return np.array([self.columns[:, m].sum(axis=1) for m in masks]).reshape(-1, 4)

    def sums_of(self, patterns):
        """Return the sums over patterns mined from these rows."""
        if self.weight is None:
            n = patterns.counts.sum(axis=1)
            return np.stack([patterns.counts[:, TN], patterns.counts[:, TP], n, n], axis=1)
        size, n, _, favoured, _, squares = patterns.sums.reshape(-1, 6).T
        denied = np.where(size - favoured > _ROUNDING * size, size - favoured, 0.0)
        return np.stack([denied, favoured, squares, n], axis=1)


def rest_of(sums, of_all):
    """Return the sums over all that are not in the groups."""
    rest = of_all - sums
    return np.where(rest > _ROUNDING * of_all, rest, 0)


def effective_counts(sums):
    """Return the effective numbers of people with an unfavourable decision, and of all.

    They are those counted where nobody has a weight.
    """
    size = sums[:, :2].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(size > 0, size / sums[:, 2], 0.0)
    return sums[:, 0] * each, size * each
