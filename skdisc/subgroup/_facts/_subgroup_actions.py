"""The plan of an audit of recourse: subgroups, the valid actions of each, and their costs."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from skdisc._space._codes import FREE, NO_ITEM, PAD
from skdisc._space._conjunction_texts import ConjunctionTexts
from skdisc._space._subgroup import Subgroup
from skdisc._utils._hashing import multipliers
from skdisc._utils._run_clock import go_on
from skdisc.subgroup._lattice import _kernels
from skdisc.subgroup._lattice._lattice import Lattice, least_of

_WORDS = 2**23  # words of the members of all subgroups made at once


class Layout:
    """The layout of people as bits, sorted by group, each group padded to whole 64-bit words."""

    def __init__(self, group, n_groups):
        sizes = np.bincount(group, minlength=n_groups)
        self.group, self.sizes = group, sizes
        self.edges = np.concatenate([[0], np.cumsum(-(-sizes // 64))])
        order = np.argsort(group, kind="stable")
        first = np.cumsum(sizes) - sizes
        self._place = np.empty(len(group), dtype=np.int64)
        group = group[order]
        self._place[order] = 64 * self.edges[group] + np.arange(len(group)) - first[group]

    def pack(self, masks):
        """Return bool rows (one column per person) as rows of 64-bit words."""
        wide = np.zeros((len(masks), 64 * self.edges[-1]), dtype=bool)
        wide[:, self._place] = masks
        return np.packbits(wide, axis=1).view(np.uint64)

    def unpack(self, bits):
        """Return packed rows as bool rows."""
        return np.unpackbits(bits.view(np.uint8), axis=1)[:, self._place].astype(bool)

    def count(self, bits, edges=None):
        """Count the people of each group, an int array of shape (n, n_groups)."""
        ones = np.bitwise_count(bits)
        out = np.empty((len(bits), len(self.sizes)), dtype=np.int64)
        for g, (start, stop) in enumerate(pairwise(self.edges if edges is None else edges)):
            out[:, g] = ones[:, start:stop].sum(axis=1)
        return out


@dataclass(frozen=True)
class StudyPlan:
    """Subgroups and their valid actions: pairs of the two, sorted by subgroup and then by cost.

    Attributes
    ----------
    patterns : ndarray of int, shape (n_subgroups, width)
        Numbers of sources, padded by PAD; each subgroup has at least one action.
    changes : ndarray of int, shape (n_changes, n_features)
        The target in each changed column, else FREE. An action changes only these columns of a
        member of a subgroup, so pairs with the same change have the same effect on a person.
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
        numbers, subgroup = np.unique(self.subgroup[pairs], return_inverse=True)
        change, cost = self.change[pairs], self.cost[pairs]
        patterns = self.patterns[numbers]
        return replace(self, patterns=patterns, subgroup=subgroup, change=change, cost=cost)

    def at(self, i):
        """Return the i-th `Subgroup`."""
        return Subgroup([self.moves.sources[s] for s in self.patterns[i] if s != PAD])

    @cached_property
    def subgroups(self):
        """All subgroups, a list."""
        return [self.at(i) for i in range(len(self))]

    def texts_with(self, group):
        """Return the texts of all subgroups with the conditions of a group, a list of str.

        As ``str(self.at(i) & group)``, but the text of each condition is made once.

        `group`: Predicate or Subgroup.
        """
        more = group.predicates if isinstance(group, Subgroup) else (group,)
        predicates = [*self.moves.sources, *more]
        if {p.column for p in more} & {p.column for p in self.moves.sources}:
            return [str(self.at(i) & group) for i in range(len(self))]
        those_of_group = np.arange(len(self.moves.sources), len(predicates))
        numbers = np.hstack([self.patterns, np.tile(those_of_group, (len(self), 1))])
        return ConjunctionTexts(predicates).of(numbers).tolist()

    def action(self, pair):
        """Return the change of a pair, as the `Subgroup` of the people who satisfy it."""
        targets = self.changes[self.change[pair]]
        return Subgroup([self.moves.targets[t] for t in targets if t != FREE])

    def covers(self, bits):
        """Return the members of each subgroup as bits, from those of each source and all."""
        covers = bits[self.patterns[:, 0]].copy() if self.patterns.shape[1] else bits[:0]
        for column in self.patterns.T[1:]:
            covers &= bits[column]  # PAD finds all rows, the last
        return covers


class PeopleBlocks:
    """The members of all subgroups, for one block of people after another.

    `sources`: the conditions of the subgroups. `X`: the people.
    """

    def __init__(self, sources, X, layout):
        columns = {p.column: X[[p.column]] for p in sources}
        masks = (p.mask(columns[p.column]) for p in sources)
        bits = [layout.pack(mask[None]) for mask in (*masks, np.ones(len(X), dtype=bool))]
        self._bits, self._layout = np.concatenate(bits), layout

    def of(self, plan):
        """Yield words of the layout, the edges of the groups inside, and the members there."""
        n_words = self._bits.shape[1]
        size = max(1, _WORDS // max(1, len(plan)))
        for start in range(0, max(1, n_words), size):
            words = slice(start, min(start + size, n_words))
            edges = np.clip(self._layout.edges, start, words.stop) - start
            yield words, edges, plan.covers(np.ascontiguousarray(self._bits[:, words]))


def frequent_in_groups(items, rows, group, n_groups, min_support, max_len, before_block):
    """Return the conjunctions that are frequent in at least one group.

    `rows`: positions of the rows that are counted. `group`: the group of each of them.
    `min_support`: smallest share of a group. Returns the item numbers of the conjunctions, of shape
    (n_patterns, width), and in which groups they are frequent, of shape (n_patterns, n_groups).
    """
    sizes = np.bincount(group, minlength=n_groups)
    least = least_of(min_support, sizes)
    chosen = replace(items, codes=items.codes[:, rows])
    single = np.flatnonzero((chosen.counts(group, n_groups) >= least).any(axis=1))
    search_order, first_equal_item = chosen.walk(single, distinct=False)
    lattice = Lattice(chosen.masks(search_order), items.feature[search_order], group, n_groups)
    patterns = lattice.mine(
        1,
        max_len,
        keep=lambda counts: (counts >= least).any(axis=1),
        before_block=before_block,
        numbers=first_equal_item,
    )
    return patterns.items, patterns.counts >= least


def make_pairs(moves, patterns, actions, contained):
    """Pair each subgroup with its valid actions.

    An action is valid if it is on the same columns as the subgroup (or on a subset of them), is
    allowed in each, and changes at least one of them. If subsets are allowed, an action that does
    not change a column equals the action without this column, and counts once.

    `patterns` and `actions`: numbers of sources, and of targets, padded by PAD. `contained`:
    whether actions on a subset of the columns are valid.
    """
    by_column = _by_column(patterns, moves.source_feature, len(moves.features))
    actions_by_column = _by_column(actions, moves.target_feature, len(moves.features))
    sets, members = _sets(by_column != NO_ITEM)
    action_sets, action_numbers = _sets(actions_by_column != NO_ITEM)
    pairs = [np.empty((2, 0), dtype=np.int64)]
    for columns, subgroup_numbers in zip(sets, members, strict=True):
        go_on(f"pairing groups with {len(actions):,} actions")
        beyond = action_sets & ~columns if contained else action_sets != columns
        for a in np.flatnonzero(~beyond.any(axis=1)):
            sources = by_column[subgroup_numbers]
            targets = actions_by_column[action_numbers[a]]
            p, q = np.nonzero(_valid(moves, sources, targets, action_sets[a], contained))
            pairs.append(np.array([subgroup_numbers[p], action_numbers[a][q]]))
    subgroup, action = np.concatenate(pairs, axis=1)
    source, target = by_column[subgroup], actions_by_column[action]
    moved = (target != NO_ITEM) & ~moves.is_same[source, target]
    cost = np.where(moved, moves.cost[source, target], 0).sum(axis=1).round(12)
    return _plan(moves, patterns, subgroup, np.where(moved, target, FREE), cost)


def _plan(moves, patterns, subgroup, change, cost):
    """Return the plan: pairs sorted by subgroup, cost and change, without repetitions."""
    key = _keys(moves, change)
    # Within a subgroup equal changes cost the same, so that they are neighbors in this order.
    order = np.lexsort((key, cost, subgroup))
    is_repeated = (np.diff(subgroup[order], prepend=-1) == 0) & (
        np.diff(key[order], prepend=key[:1]) == 0
    )
    order = order[~is_repeated]
    _, first, number = np.unique(key[order], return_index=True, return_inverse=True)
    changes = change[order[first]]
    numbers, subgroup = np.unique(subgroup[order], return_inverse=True)
    return StudyPlan(moves, patterns[numbers], subgroup, number, cost[order], changes)


def _keys(moves, change):
    """Return a 64-bit key of each change, which does not depend on the order of the columns."""
    place = np.append(moves.place, FREE)[change] + 1  # FREE finds the last
    with np.errstate(over="ignore"):
        return (place.astype(np.uint64) * multipliers(change.shape[1])).sum(axis=1, dtype=np.uint64)


def _by_column(conjunctions, feature, n_features):
    """Return the item of each conjunction on each column, or NO_ITEM."""
    out = np.full((len(conjunctions), n_features), NO_ITEM, dtype=np.int64)
    row, slot = np.nonzero(conjunctions != PAD)
    item = conjunctions[row, slot]
    out[row, feature[item]] = item
    return out


def _sets(used):
    """Return the distinct rows of a bool array, and the positions of each."""
    if not len(used):
        return used, []
    sets, number = np.unique(used, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    return sets, np.split(order, np.cumsum(np.bincount(number.ravel()))[:-1])


def _valid(moves, sources, targets, columns, contained):
    """Return which actions (columns) are valid for which subgroups (rows), a bool array."""
    feasible = np.ones((len(sources), len(targets)), dtype=bool)
    all_change, any_changes = feasible.copy(), ~feasible
    for j in np.flatnonzero(columns):
        block = np.ix_(sources[:, j], targets[:, j])
        changed = ~moves.is_same[block]
        feasible &= moves.is_feasible[block]
        all_change &= changed
        any_changes |= changed
    return feasible & (all_change if contained else any_changes)


def members_of_changes(plan, covers):
    """Return, for each change, the members of the subgroups that it is valid for, as bits.

    `plan`: StudyPlan. The result has shape (n_changes, n_words). Shapes: `covers` (n_subgroups,
    n_words).
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
    """Count, by group, the members of the subgroup of each pair whom its change helps."""
    return _kernels.count(covers, plan.subgroup[pairs], flips, plan.change[pairs], edges)
