"""Neighbors: the inputs that one step leads to, as candidates of a search."""

import numpy as np

from skdisc._space._codes import MISSING
from skdisc.individual._search._steps import Steps


class Neighbors:
    """The neighbors of some inputs, whose keys are computed before their rows are.

    Parameters
    ----------
    steps : Steps
        A neighbor is one of its single steps away.
    parents : ndarray of int, shape (n_parents, n_columns)
    limit : int or None
        Number of new neighbors tested at most.

    Attributes
    ----------
    parent, step : ndarray of int, shape (n_neighbors,)
        Position of the parent, and of the step in ``steps.single``.
    keys : ndarray of uint64, shape (n_neighbors,)

    Examples
    --------
    >>> from skdisc.extending import FeatureSpace
    >>> domains = {"sex": ["F", "M"], "age": (18, 65), "job": ["clerk", "nurse", "pilot"]}
    >>> space = FeatureSpace.from_domains(domains, protected=["sex"])
    >>> near = Neighbors(Steps(space), np.array([[0, 0, 0]]), limit=None)
    >>> near.codes(np.arange(len(near.keys)))  # one year older, or another job
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 2]])
    """

    def __init__(self, steps: Steps, parents: np.ndarray, limit: int | None) -> None:
        self.parents, self.limit, self.steps = parents, limit, steps.single
        single, space = steps.single, steps.space
        parent_codes = parents[:, single.column]
        is_change = (parent_codes != single.fixed) & (
            (parent_codes != MISSING) | ~single.is_relative
        )
        multiplier = space.multipliers[single.column]
        difference = single.target.astype(np.uint64) * multiplier
        keys = space.key(parents, space.np_index)[:, None] + difference
        absolute = np.flatnonzero(~single.is_relative)
        if len(absolute):  # the new code replaces the old one
            keys[:, absolute] -= parent_codes[:, absolute].astype(np.uint64) * multiplier[absolute]
        self.parent, self.step = np.nonzero(is_change)
        self.keys = keys[is_change]

    def codes(self, positions: np.ndarray) -> np.ndarray:
        """Return the neighbors at these positions as rows of codes."""
        step, rows = self.step[positions], self.parents.take(self.parent[positions], axis=0)
        column, is_relative = self.steps.column[step], self.steps.is_relative[step]
        cells = np.arange(len(rows)), column
        rows[cells] = rows[cells] * is_relative + self.steps.target[step]
        return rows
