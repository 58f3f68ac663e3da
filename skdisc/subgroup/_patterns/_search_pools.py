"""The patterns that are searched: all patterns of the model, or the patterns with enough rows."""

import math
from dataclasses import dataclass, field

import numpy as np

from skdisc._space._codes import PAD
from skdisc._space._items import value_name
from skdisc.subgroup._patterns._branch_and_bound import Branching
from skdisc.subgroup._patterns._meet_in_the_middle import Meeting, first
from skdisc.subgroup._patterns._naive_bayes import n_patterns

_MANY = 2**20


@dataclass
class PatternSearch:
    """The result of a search.

    Attributes
    ----------
    x, y : ndarray of int
        The best patterns.
    p_adjusted : ndarray of float
        The p-values of their x.
    n_tested, n_found, n_visited : int
        Numbers of patterns tested, of patterns above delta with a significant x, and of steps.
    by_x : tuple of three sequences
        The assignments x, and the patterns tested and found with each.
    """

    x: np.ndarray
    y: np.ndarray
    p_adjusted: np.ndarray
    n_tested: int = 0
    n_found: int = 0
    n_visited: int = 0
    by_x: tuple = field(default=((), (), ()))

    @property
    def conditions(self):
        """The conditions x and y of each pattern in one row."""
        return np.hstack([self.x, self.y])

    @property
    def n_x(self):
        """Number of hypotheses: the number of x with patterns."""
        return sum(n > 0 for n in self.by_x[1])


def choose(pool, k, p_adjusted, is_significant, is_insignificant, strength, budget, redundancy):
    """Return the k best patterns, and count all.

    Parameters
    ----------
    pool : ModelPatterns or PeoplesPatterns
    is_significant, is_insignificant : ndarray of bool, shape (n_x,)
        The significant assignments, and the other ones whose patterns may be shown.
    strength : ndarray of float, shape (n_x,), or None
        The strength of the evidence for each x: the best pattern of each significant x comes first,
        in this order, then the other patterns of significant x, then all others. None: the
        patterns come in the order of their scores, whatever the evidence.
    budget : Budget
        If it ended the search early, only the patterns visited are counted.
    redundancy : float or None
        Patterns that differ by at most this from one with one condition less are left out.
    """
    groups = (
        [is_significant | is_insignificant]
        if strength is None
        else [is_significant, is_insignificant]
    )
    shown, n_left = [], k
    for allowed in groups:
        if n_left and allowed.any():
            shown.append(_best(pool, n_left, allowed, strength, redundancy))
            n_left -= len(shown[-1][0])
    x, y = map(np.vstack, zip(*shown, strict=True)) if shown else pool.top(0, is_significant)
    number = {row.tobytes(): i for i, row in enumerate(pool.xs)}
    x_number = np.array([number[row.tobytes()] for row in x], dtype=np.int64)
    result = PatternSearch(x, y, p_adjusted[x_number], n_visited=pool.visited)
    n_found = pool.count(is_significant) if pool.is_counted or budget.stopped_by is None else None
    if not pool.is_counted and budget.stopped_by is not None:
        result.n_tested, result.n_found = (
            max(pool.visited, len(x)),
            int(is_significant[x_number].sum()),
        )
        return result
    result.n_tested, result.n_found = sum(pool.tested), int(n_found.sum())
    result.by_x = pool.xs, pool.tested, n_found.tolist()
    return result


def _best(pool, k, allowed, strength, redundancy):
    """Return the k best patterns: the best of each x by strength, then the others by score."""
    by_score = _lean(pool, k, allowed, redundancy)
    if strength is None or not k:
        return by_score
    order = np.flatnonzero(allowed)
    order = order[np.argsort(-strength[order].round(9), kind="stable")][:k]
    best_of_each = [_lean(pool, 1, np.arange(len(allowed)) == i, redundancy) for i in order]
    x, y = (np.vstack(parts) for parts in zip(*best_of_each, by_score, strict=True))
    _, first = np.unique(np.hstack([x, y]), axis=0, return_index=True)
    first = np.sort(first)[:k]
    return x[first], y[first]


def _lean(pool, k, allowed, redundancy):
    """Return the k best patterns that are not redundant; if there are none, the k best."""
    n = k
    while True:  # a search returns the best patterns, redundant or not: ask for more until k remain
        x, y = pool.top(n, allowed)
        lean = ~_redundant(pool.nb, x, y, redundancy)
        if lean.sum() >= k or len(x) < n:
            lean = lean if lean.any() else ~lean
            return x[lean][:k], y[lean][:k]
        n *= 2


def _redundant(nb, x, y, redundancy):
    """Return which patterns have nearly the discrimination of one with one condition less."""
    is_redundant = np.zeros(len(x), dtype=bool)
    if redundancy is None:
        return is_redundant
    conditions, n = np.hstack([x, y]), x.shape[1]
    for j in range(conditions.shape[1]):
        shorter = conditions.copy()
        shorter[:, j] = PAD
        step = np.abs(nb.delta(x, y) - nb.delta(shorter[:, :n], shorter[:, n:]))
        is_redundant |= (conditions[:, j] != PAD) & (step <= redundancy)
    return is_redundant


def count_by_value(items, result):
    """Count, for each protected item, the patterns tested and found whose x has it."""
    counts, (xs, *numbers) = {}, result.by_x
    for i in np.flatnonzero(items.protected):
        has = np.flatnonzero((np.asarray(xs) == i).any(axis=-1))
        counts[value_name(items.predicates[i])] = tuple(sum(n[j] for j in has) for n in numbers)
    return counts


class ModelPatterns:
    """All patterns of a naive Bayes model, with or without rows.

    Parameters
    ----------
    rank : {"discrimination", "divergence"}
    search : {"auto", "meet", "branch"}
    before : callable
        ``before(n)`` gets the number of steps that come next, and returns how many of them may be
        made.

    Attributes
    ----------
    xs : ndarray of int, shape (n_assignments, n_sensitive_features)
        Assignments x.
    tested : list of int
        Number of patterns with each x.
    visited : int
        Nodes visited by branch and bound, or halves joined by meeting in the middle.

    Raises
    ------
    ValueError
        If there are too many patterns, or ``search="meet"`` is not available for these settings.
    """

    is_counted = False  # a search that ended early has not visited all patterns

    def __init__(self, nb, delta, rank, max_predicates, search, before):
        n = math.prod(1 + len(nb.items[f]) for f in nb.sensitive_features)
        if n > _MANY:
            raise ValueError(
                f"The protected columns have {n:,} combinations of values, too many to search "
                "all patterns of the model. Set min_support, or protect fewer columns."
            )
        self.nb, self.delta, self.rank, self.limit = nb, delta, rank, max_predicates
        self.xs, self.visited, self._before = nb.assignments(), 0, before
        self.tested = n_patterns(nb, self.xs, max_predicates)
        self.is_tested = np.array(self.tested, dtype=object) > 0  # numbers may exceed 64 bits
        meets = max_predicates is None and rank == "discrimination"
        if search == "meet" and not meets:
            raise ValueError(
                "search='meet' ranks all patterns by their discrimination: set "
                "rank='discrimination' and max_predicates=None, or search='auto'."
            )
        self._meeting = Meeting(nb, self.xs) if meets and search != "branch" else None

    def top(self, k, allowed):
        """Return x and y of the k best patterns with an allowed x."""
        if self._meeting is not None:
            return self._meeting.top(k, self.delta, allowed, self._count_up)
        tree = Branching(self.nb, self.delta, allowed, self.rank, self.limit)
        x, y = tree.top(k, self._before)
        self.visited += tree.visited
        return x, y

    def _count_up(self, n):
        allowed = self._before(n)
        self.visited += allowed
        return allowed

    def count(self, allowed):
        """Return the number of patterns above delta for each x."""
        if self._meeting is not None:
            return self._meeting.count(self.delta, allowed, self._before)
        if self.limit is None:
            return Meeting(self.nb, self.xs).count(self.delta, allowed, self._before)
        tree = Branching(self.nb, self.delta, allowed, max_predicates=self.limit)
        return tree.count(self._before)


class PeoplesPatterns:
    """The patterns with enough rows; see `ModelPatterns`.

    Parameters
    ----------
    rank : {"discrimination", "divergence"}
    items : Items
        With the codes of the rows.
    least : float
        Smallest size of the subgroup of x and y.
    """

    is_counted = True

    def __init__(self, nb, delta, rank, max_predicates, items, rows, least, before):
        self.nb = nb
        patterns = rows.mine(items, least, max_predicates, items.protected, before)
        x, y = _split(patterns.items, items.protected)
        self.xs, self._x_of = np.unique(x, axis=0, return_inverse=True)
        self._x_of = self._x_of.ravel()
        self.tested = np.bincount(self._x_of, minlength=len(self.xs)).tolist()
        self.is_tested = np.ones(len(self.xs), dtype=bool)
        self.visited = len(patterns)
        delta_of = nb.delta(x, y)
        self._x, self._y, self._above = x, y, np.abs(delta_of) > delta
        divergent = rank == "divergence"
        self._score = nb.divergence(x, y, delta) if divergent else np.abs(delta_of)

    def top(self, k, allowed):
        """Return x and y of the k best patterns with an allowed x."""
        order = np.flatnonzero(self._above & allowed[self._x_of])
        order = order[first(self._score[order], self._x[order], self._y[order])[:k]]
        return self._x[order], self._y[order]

    def count(self, allowed):
        """Return the number of patterns above delta for each x."""
        is_above = self._above & allowed[self._x_of]
        return np.bincount(self._x_of[is_above], minlength=len(self.xs))


def _split(conjunctions, protected):
    """Split conjunctions into x, each non-empty part of the protected items, and y, the rest."""
    if not len(conjunctions):
        return np.empty((2, 0, 1), dtype=np.int64)
    is_protected = np.append(protected, False)[conjunctions]
    n_protected = is_protected.sum(axis=1)  # they come first
    xs, ys = [], []
    for n in range(1, n_protected.max() + 1):
        rows = conjunctions[n_protected == n]
        for part in range(1, 2**n):
            inside = np.zeros(rows.shape[1], dtype=bool)
            inside[:n] = part >> np.arange(n) & 1
            xs.append(np.where(inside, rows, PAD))
            ys.append(np.where(inside, PAD, rows))
    return -np.sort(-np.vstack(xs), axis=1), np.vstack(ys)
