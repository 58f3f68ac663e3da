"""The plan of an audit of recourse: which subgroups, which actions for each, and their cost."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from skdisc._space._subgroup import Subgroup
from skdisc._utils._hashing import multipliers
from skdisc.subgroup._lattice import _kernels
from skdisc.subgroup._lattice._lattice import Lattice


@dataclass(frozen=True)
class StudyPlan:
    """Subgroups and their valid actions; pairs of the two, sorted by subgroup and then by cost.

    Attributes
    ----------
    moves : Moves
    patterns : ndarray of int, shape (n_subgroups, width)
        Numbers of sources, padded by -1; every subgroup has at least one action.
    subgroup, change : ndarray of int, shape (n_pairs,)
    cost : ndarray of float, shape (n_pairs,)
    changes : ndarray of int, shape (n_changes, n_features)
        The target in each changed column, else -1. Applying an action to a member of a subgroup
        changes no more than this, so pairs with the same change have the same effect on a person.
    """

    moves: object
    patterns: np.ndarray
    subgroup: np.ndarray
    change: np.ndarray
    cost: np.ndarray
    changes: np.ndarray

    def __len__(self):
        return len(self.patterns)

    @cached_property
    def start(self):
        """First pair of each subgroup, and the end."""
        return np.searchsorted(self.subgroup, np.arange(len(self) + 1))

    def keep(self, pairs):
        """Return the plan with some of its pairs, and the subgroups that they leave."""
        kept, subgroup = np.unique(self.subgroup[pairs], return_inverse=True)
        rest = self.change[pairs], self.cost[pairs]
        return replace(self, **dict(zip(_PAIRS, (self.patterns[kept], subgroup, *rest))))  # noqa: B905

    def at(self, i):
        """Return the i-th `Subgroup`."""
        return Subgroup([self.moves.sources[s] for s in self.patterns[i] if s >= 0])

    @cached_property
    def subgroups(self):
        """All subgroups, a list."""
        return [self.at(i) for i in range(len(self))]

    def action(self, pair):
        """Return what a pair changes, as the `Subgroup` of those who have it so."""
        targets = self.changes[self.change[pair]]
        return Subgroup([self.moves.targets[t] for t in targets if t >= 0])

    def covers(self, X, layout):
        """Return the members of each subgroup among the rows of X, as bits."""
        masks = [p.mask(X) for p in self.moves.sources]
        bits = layout.pack(np.array([*masks, np.ones(len(X), bool)]))
        covers = bits[self.patterns[:, 0]].copy() if self.patterns.shape[1] else bits[:0]
        for column in self.patterns.T[1:]:
            covers &= bits[column]  # -1 finds everyone, the last
        return covers


_PAIRS = ("patterns", "subgroup", "change", "cost")


def frequent_in_groups(items, rows, group, n_groups, min_support, max_len, before_block):
    """Mine the conjunctions that are frequent in at least one group.

    Parameters
    ----------
    items : Items
    rows : ndarray of int
        The rows that count.
    group : ndarray of int, shape (n_rows,)
        The group of each of them.
    n_groups : int
    min_support : float
        Smallest share of a group.
    max_len : int or None
    before_block : callable or None

    Returns
    -------
    patterns : ndarray of int, shape (n_patterns, width)
        Numbers of items.
    frequent : ndarray of bool, shape (n_patterns, n_groups)
    """
    sizes = np.bincount(group, minlength=n_groups)
    least = np.maximum(1, np.ceil(min_support * sizes - 1e-9))
    chosen = replace(items, codes=items.codes[:, rows])
    single = np.flatnonzero((chosen.counts(group, n_groups) >= least).any(axis=1))
    lattice = Lattice(chosen.masks(single), items.feature[single], group, n_groups)
    found = lattice.mine(
        1,
        max_len,
        keep=lambda counts: (counts >= least).any(axis=1),
        before_block=before_block,
    )
    return np.append(single, -1)[found.items], found.counts >= least


def make_pairs(moves, patterns, actions, contained):
    """Pair every subgroup with its valid actions.

    Valid is an action on the same columns as the subgroup (or on a subset of them), feasible in
    each, that changes at least one of them. Where a subset is allowed, an action that leaves a
    column as it is equals the one without it, and counts once.

    Parameters
    ----------
    moves : Moves
    patterns, actions : ndarray of int, shapes (n_subgroups, width), (n_actions, width)
        Numbers of sources, and of targets, padded by -1.
    contained : bool
        Whether actions on a subset of the columns are valid.

    Returns
    -------
    StudyPlan
    """
    by_column = _by_column(patterns, moves.source_feature, len(moves.features))
    wanted = _by_column(actions, moves.target_feature, len(moves.features))
    sets, members = _sets(by_column >= 0)
    action_sets, doers = _sets(wanted >= 0)
    found = [np.empty((2, 0), dtype=np.int64)]
    for on, who in zip(sets, members, strict=True):
        fits = ~(action_sets & ~on).any(axis=1) if contained else (action_sets == on).all(axis=1)
        for a in np.flatnonzero(fits):
            valid = _valid(moves, by_column[who], wanted[doers[a]], action_sets[a], contained)
            p, q = np.nonzero(valid)
            found.append(np.array([who[p], doers[a][q]]))
    subgroup, action = np.concatenate(found, axis=1)
    source, target = by_column[subgroup], wanted[action]
    moved = (target >= 0) & ~moves.same[source, target]
    cost = np.where(moved, moves.cost[source, target], 0).sum(axis=1).round(12)
    return _plan(moves, patterns, subgroup, np.where(moved, target, -1), cost)


def _plan(moves, patterns, subgroup, change, cost):
    """Sort pairs by subgroup, cost and change; leave out repeated ones; number the changes."""
    m = multipliers(change.shape[1])
    with np.errstate(over="ignore"):
        key = ((change + 1).astype(np.uint64) * m).sum(axis=1, dtype=np.uint64)
    order = np.lexsort((key, cost, subgroup))
    again = (np.diff(subgroup[order], prepend=-1) == 0) & (
        np.diff(key[order], prepend=key[:1]) == 0
    )
    order = order[~again]
    _, first, number = np.unique(key[order], return_index=True, return_inverse=True)
    changes = change[order[first]]
    kept, subgroup = np.unique(subgroup[order], return_inverse=True)
    return StudyPlan(moves, patterns[kept], subgroup, number, cost[order], changes)


def _by_column(conjunctions, feature, n_features):
    """Return the item of each conjunction on each column, or -1."""
    out = np.full((len(conjunctions), n_features), -1, dtype=np.int64)
    row, at = np.nonzero(conjunctions >= 0)
    item = conjunctions[row, at]
    out[row, feature[item]] = item
    return out


def _sets(used):
    """Return the distinct rows of a bool array, and where each stands."""
    if not len(used):
        return used, []
    sets, number = np.unique(used, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    return sets, np.split(order, np.cumsum(np.bincount(number.ravel()))[:-1])


def _valid(moves, sources, targets, columns, contained):
    """Say which subgroups (rows) may take which actions (columns), all on the same columns."""
    feasible = np.ones((len(sources), len(targets)), dtype=bool)
    every, some = feasible.copy(), ~feasible
    for j in np.flatnonzero(columns):
        block = np.ix_(sources[:, j], targets[:, j])
        changed = ~moves.same[block]
        feasible &= moves.feasible[block]
        every &= changed
        some |= changed
    return feasible & (every if contained else some)


def fewest_changes(plan):
    """Say which pairs change as few columns as any action of their subgroup does."""
    n_changed = (plan.changes >= 0).sum(axis=1)[plan.change]
    if not len(n_changed):
        return np.zeros(0, dtype=bool)
    return n_changed == np.minimum.reduceat(n_changed, plan.start[:-1])[plan.subgroup]


def members_of_changes(plan, covers):
    """Return, for every change, who is in a subgroup that may take it, as bits.

    Parameters
    ----------
    plan : StudyPlan
    covers : ndarray of uint64, shape (n_subgroups, n_words)

    Returns
    -------
    ndarray of uint64, shape (n_changes, n_words)
    """
    out = np.zeros((len(plan.changes), covers.shape[1]), dtype=np.uint64)
    order = np.argsort(plan.change, kind="stable")
    ends = np.searchsorted(plan.change[order], np.arange(len(out) + 1))
    for c in range(len(out)):
        np.bitwise_or.reduce(
            covers[plan.subgroup[order[ends[c] : ends[c + 1]]]], axis=0, out=out[c]
        )
    return out


def count_pairs(plan, covers, flips, edges, pairs=slice(None)):
    """Count, by group, the members of each pair's subgroup whom its change helps."""
    return _kernels.count(covers, plan.subgroup[pairs], flips, plan.change[pairs], edges)
