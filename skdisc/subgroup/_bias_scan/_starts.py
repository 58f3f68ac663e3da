"""What a scan works on: attributes, cells, rules, and where ascents start."""

from dataclasses import dataclass

import numpy as np

_ORDERS = 20
_FEW = 10  # a random start does not narrow down to fewer rows than this, or a fifth of few rows


@dataclass(frozen=True)
class ScanAttribute:
    """One attribute of the scan.

    Attributes
    ----------
    size : int
        Number of its values.
    ranges : ndarray of bool, shape (n_sets, size), or None
        The sets of values to choose from where only some make sense; None: any set.
    """

    size: int
    ranges: np.ndarray | None = None

    def cost(self, sets, penalty):
        """Return the penalty of sets of values, a bool array of shape (..., size)."""
        full = sets.all(axis=-1)
        n = 1 if self.ranges is not None else sets.sum(axis=-1)
        return np.where(full, 0.0, penalty * n)


@dataclass(frozen=True)
class Cells:
    """Rows that agree in all values and in the bin of their expectation, counted together.

    Attributes
    ----------
    codes : ndarray of intp, shape (n_attributes, n_cells)
    attributes : list of ScanAttribute
    n : ndarray of float, shape (n_cells,)
        Rows.
    """

    codes: np.ndarray
    attributes: list
    n: np.ndarray


@dataclass(frozen=True)
class ScanRules:
    """What a subset must be like.

    Attributes
    ----------
    penalty : float
        Price of each value of a condition.
    min_rows : float
    max_conditions : int
    required : tuple of int
        Attributes one of which must have a condition; none: no such rule.
    """

    penalty: float
    min_rows: float
    max_conditions: int
    required: tuple


@dataclass(frozen=True)
class Starts:
    """Where ascents begin, and in which order attributes are visited.

    Attributes
    ----------
    sets : list of ndarray of bool, shape (n_starts, size)
        Per attribute.
    turns : ndarray of int
        The attributes in the order in which all ascents visit them, over and over.
    bound : ndarray of int, shape (n_starts,)
        The attribute that must keep a condition; -1 for none.
    """

    sets: list
    turns: np.ndarray
    bound: np.ndarray

    @classmethod
    def draw(cls, cells, rules, n_starts, rng):
        """Start once (once per required attribute) from everyone, else from random subsets."""
        m = len(cells.attributes)
        sets = [np.ones((n_starts, a.size), dtype=bool) for a in cells.attributes]
        turns = np.concatenate([rng.permutation(m) for _ in range(_ORDERS)])
        bound = np.full(n_starts, -1)
        least = max(min(_FEW, cells.n.sum() / 5), rules.min_rows)
        for i in range(n_starts):
            if rules.required:
                bound[i] = rules.required[i % len(rules.required)]
            keep, inside, used = rng.random(), np.ones(len(cells.n), dtype=bool), bound[i] >= 0
            order = rng.permutation(m) if i >= max(1, len(rules.required)) else ()
            for j in order:
                attribute = cells.attributes[j]
                chosen = rng.random(attribute.size) < keep
                if attribute.ranges is not None:
                    chosen = attribute.ranges[rng.integers(len(attribute.ranges))]
                narrower = inside & chosen[cells.codes[j]]
                full = chosen.all() or j == bound[i] or used >= rules.max_conditions
                if not full and narrower @ cells.n >= least:
                    sets[j][i], inside, used = chosen, narrower, used + 1
        return cls(sets, turns, bound)
