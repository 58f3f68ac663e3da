"""The study of one or several protected columns: mine subgroups and actions, measure them."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd

from skdisc._space._codes import NOBODY, PAD
from skdisc._space._items import make_items
from skdisc._space._subgroup import Subgroup
from skdisc._utils._frequency import taken
from skdisc._utils._run_clock import go_on
from skdisc.subgroup._facts._actions import Changed, RowValues, make_moves
from skdisc.subgroup._facts._flips import find_flips
from skdisc.subgroup._facts._notions import Measured, Notion
from skdisc.subgroup._facts._recourse import Recourse
from skdisc.subgroup._facts._subgroup_actions import (
    Layout,
    PeopleBlocks,
    count_pairs,
    frequent_in_groups,
    make_pairs,
    members_of_changes,
)


@dataclass(frozen=True)
class StudyRows:
    """The rows under audit with their decisions, encoded once for all protected columns.

    `decided`: whether the decision is favorable. `chosen`: the rows on which the best actions are
    chosen; they are tested on the others.
    """

    X: pd.DataFrame
    decided: np.ndarray
    space: object
    settings: object
    chosen: np.ndarray | None = None

    def at(self, mask):
        """Return the rows selected by a mask."""
        return replace(
            self,
            X=self.X[mask].reset_index(drop=True),
            decided=self.decided[mask],
            chosen=taken(self.chosen, mask),
        )

    @cached_property
    def values(self):
        """The rows as codes of their values."""
        return RowValues.of(self.X)

    @cached_property
    def items(self):
        """The items of all columns, cut as for subgroups."""
        return self._made(self.settings.n_bins)

    @cached_property
    def action_items(self):
        """The items of all columns, cut as for actions."""
        s = self.settings
        return self.items if s.action_bins == s.n_bins else self._made(s.action_bins)

    def _made(self, n_bins):
        features = self.settings.features
        columns = [*features, *(c for c in self.space.names if c not in features)]
        return make_items(self.X, self.space, columns, (), n_bins)


@dataclass(frozen=True)
class StudyPeople:
    """The rows with an unfavorable decision that belong to one of the groups.

    Attributes
    ----------
    rows : StudyRows
        All rows, affected or not.
    positions : ndarray of int
        Positions of the affected rows.
    group : ndarray of int
        The group of each of them.
    chosen : ndarray of bool or None
        The affected rows on which the best actions are chosen.
    """

    rows: StudyRows
    positions: np.ndarray
    group: np.ndarray
    layout: Layout
    chosen: np.ndarray | None = None

    @classmethod
    def of(cls, rows, groups):
        """Find the affected rows of each group, a `Predicate` or a `Subgroup`."""
        code = np.full(len(rows.X), NOBODY)
        for g, predicate in enumerate(groups):
            code[predicate.mask(rows.X)] = g
        positions = np.flatnonzero(~rows.decided & (code != NOBODY))
        group, chosen = code[positions], taken(rows.chosen, positions)
        return cls(rows, positions, group, Layout(group, len(groups)), chosen)

    @property
    def X(self):  # noqa: N802
        """The affected rows, a DataFrame."""
        return self.rows.X.iloc[self.positions]


def study(cache, rows, columns, before_block):
    """Measure recourse in the subgroups of the groups of one protected column, or of several.

    `cache`: shared by the columns studied. `rows`: StudyRows. `columns`: the column, or those whose
    values are combined. `before_block`: charges candidate subgroups to the budget. Returns the
    Recourse, and the groups and subgroups left out: name, affected people, reason.
    """
    s = rows.settings
    groups, excluded = _groups(rows, columns)
    people = StudyPeople.of(rows, groups)
    mining = {f"frequent in {g}": 0 for g in groups}
    features = [f for f in s.features if f not in columns]
    plan, left_out = _paired(people, features, mining, before_block)
    c_inf = float(plan.cost.max(initial=0)) if s.c_inf is None else float(s.c_inf)
    plan, measured, everyone = measure(cache, people, plan, s, c_inf)
    recourse = Recourse(
        protected=columns[0] if len(columns) == 1 else " & ".join(map(str, columns)),
        groups=groups,
        n_affected=people.layout.sizes,
        plan=plan,
        measured=measured,
        everyone=everyone,
        mining=mining,
        phis=s.phis,
        budgets=_percentiles(measured) if s.budgets is None else s.budgets,
    )
    return recourse, excluded + left_out


def _groups(rows, columns):
    """Return the groups that some people refused belong to, and the others as excluded."""
    values_by_column = [_of_columns(rows.items, [column]).predicates for column in columns]
    masks = {p: p.mask(rows.X) for predicates in values_by_column for p in predicates}
    groups, excluded = [], []
    for parts in product(*values_by_column):
        mask = np.logical_and.reduce([masks[p] for p in parts])
        group = parts[0] if len(parts) == 1 else Subgroup(parts)
        if (mask & ~rows.decided).any():
            groups.append(group)
        elif mask.any():  # combinations that do not occur are no groups
            excluded.append((str(group), 0, "no member has an unfavorable decision"))
    return tuple(groups), excluded


def _of_columns(items, columns):
    return items.only(np.array([p.column in columns for p in items.predicates], dtype=bool))


def _paired(people, features, mining, before_block):
    """Return the plan, and the user's subgroups that are left out; fill in the counts."""
    rows, s = people.rows, people.rows.settings
    sources, patterns, left_out = _subgroups(people, features, mining, before_block)
    targets, actions, items = _actions(rows, features, mining)
    mining["common"] = len(patterns)
    go_on(f"listing the steps of {len(actions):,} actions")
    moves = make_moves(rows.X, rows.space, sources, targets, items, s.rules)
    plan = make_pairs(moves, patterns, actions, s.contained)
    if s.subgroups is not None:
        valid_subgroups = set(plan.subgroups)
        left_out += [
            (str(g), 0, "no valid action")
            for g in _named(sources, patterns)
            if g not in valid_subgroups
        ]
    mining |= {"valid pairs": len(plan.cost), "subgroups": len(plan)}
    mining["changes"] = len(np.unique(plan.change))
    return plan, left_out


def _subgroups(people, features, mining, before_block):
    """Return predicates, subgroups made of them, and the user's subgroups that are left out."""
    s, n_groups = people.rows.settings, len(people.layout.sizes)
    if n_groups < 2 or not features:
        return [], np.empty((0, 1), np.int64), []
    if s.subgroups is not None:
        groups = list(dict.fromkeys(s.subgroups))
        masks = [g.mask(people.rows.X)[people.positions] for g in groups]
        counts = [np.bincount(people.group[m], minlength=n_groups) for m in masks]
        left_out = [
            (str(g), int(c.sum()), "no affected people of one of the groups")
            for g, c in zip(groups, counts, strict=True)
            if not c.all()
        ]
        groups = [g for g, c in zip(groups, counts, strict=True) if c.all()]
        return *_numbered(groups), left_out
    items = _of_columns(people.rows.items, features)
    patterns, frequent = frequent_in_groups(
        items,
        people.positions,
        people.group,
        n_groups,
        min_support=s.min_support,
        max_len=s.max_predicates,
        before_block=before_block,
    )
    mining |= dict(zip(list(mining), frequent.sum(axis=0).tolist(), strict=True))
    return *_compact(items.predicates, patterns[frequent.all(axis=1)]), []


def _actions(rows, features, mining):
    """Return predicates, actions made of them, and all items that actions may be made of."""
    s, items = rows.settings, _of_columns(rows.action_items, features)
    if s.actions is not None:
        targets, actions = _numbered(list(dict.fromkeys(s.actions)))
    else:
        favored = np.flatnonzero(rows.decided)
        one_group = np.zeros(len(favored), dtype=np.int64)
        patterns, _ = frequent_in_groups(
            items,
            favored,
            one_group,
            1,
            min_support=s.action_support,
            max_len=s.max_predicates,
            before_block=None,
        )
        targets, actions = _compact(items.predicates, patterns)
    mining["actions"] = len(actions)
    return targets, actions, items


def _compact(predicates, patterns):
    """Return the predicates in use, and the patterns in their numbers."""
    used = np.unique(patterns[patterns != PAD])
    number = np.full(len(predicates) + 1, PAD)
    number[used] = np.arange(len(used))
    return [predicates[i] for i in used], number[patterns]


def _numbered(groups):
    """Return the predicates of subgroups, and the subgroups in their numbers."""
    predicates = list(dict.fromkeys(p for g in groups for p in g.predicates))
    patterns = np.full((len(groups), max(map(len, groups), default=1)), PAD)
    for row, group in zip(patterns, groups, strict=True):
        row[: len(group)] = [predicates.index(p) for p in group.predicates]
    return predicates, patterns


def _named(predicates, patterns):
    return [Subgroup([predicates[i] for i in row if i != PAD]) for row in patterns]


def _percentiles(measured):
    """Return the paper's budgets: percentiles of the cost of helping half of each group."""
    costs = measured.values(Notion("cost_of_effectiveness", "micro", 0.5)).ravel()
    costs = costs[np.isfinite(costs)]
    costs = costs if len(costs) else np.append(measured.cost, 0.0)
    return tuple(np.unique(np.percentile(costs, [30, 60, 90]).round(12)).tolist())


def measure(cache, people, plan, s, c_inf):
    """Query the model about the members of each subgroup after each change, and count.

    `cache`: DecisionCache. `people`: StudyPeople. `s`: Settings. `c_inf`: cost of recourse of
    people whom no action helps. Returns `plan`: without pairs that the budget did not allow to
    query.
    """
    go_on(f"counting the people of {len(plan):,} groups")
    changed = Changed(people.rows.values, plan.moves, s.shift)
    layout = people.layout
    blocks = PeopleBlocks(plan.moves.sources, people.X, layout)
    members = [members_of_changes(plan, covers) for _, _, covers in blocks.of(plan)]
    members = np.concatenate(members, axis=1)
    # Whom a pair helps depends only on the columns that its action changes, and many pairs share
    # these changes: on Adult, 105,372 pairs of support .01 make 1,353 changes.
    flips, n_asked = find_flips(cache, changed, people, plan.changes, members)
    plan = plan.keep(np.flatnonzero(plan.change < n_asked))
    return plan, *_measured(plan, blocks, flips, people, c_inf)


def _totals(parts):
    """Add up tuples of counts, entry by entry."""
    return tuple(map(sum, zip(*parts, strict=True)))


def _measured(plan, blocks, flips, people, c_inf):
    """Return what the actions of a plan do in each subgroup, and for everyone."""
    costs, layout = np.unique(plan.cost), people.layout
    chosen = None if people.chosen is None else layout.pack(people.chosen[None])
    wholes, parts, firsts, start = [], [], [], 0
    for words, edges, covers in blocks.of(plan):
        flipped = np.ascontiguousarray(flips[:, words])
        wholes.append(_counted(plan, covers, flipped, edges, layout))
        firsts.append(_everyone(plan, covers, flipped, edges, layout))
        if chosen is not None:
            covers &= chosen[:, start : start + covers.shape[1]]
            parts.append(_counted(plan, covers, flipped, edges, layout))
        start += covers.shape[1]
    part = None
    if chosen is not None:
        part = Measured(*_totals(parts), plan.cost, plan.start, c_inf)
    first = sum(firsts)
    if not len(costs):  # no action at all: stand in one that helps no one
        first, costs = np.zeros((1, first.shape[1]), int), np.zeros(1)
    ends = np.array([0, len(costs)])
    everyone = Measured(first, first, layout.sizes[None], costs, ends, c_inf)
    return Measured(*_totals(wholes), plan.cost, plan.start, c_inf, part), everyone


def _counted(plan, covers, flips, edges, layout):
    """Count the people helped by each pair, by each pair first, and the members, in a block."""
    hits = count_pairs(plan, covers, flips, edges)
    return hits, _first_hits(plan, covers, flips, edges), layout.count(covers, edges)


def _first_hits(plan, covers, flips, edges):
    """Count the people whom each action of a subgroup is the first to help."""
    first = np.zeros((len(plan.cost), len(edges) - 1), dtype=np.int64)
    rest, n_each = covers.copy(), np.diff(plan.start)
    for j in range(n_each.max(initial=0)):
        pairs = plan.start[:-1][n_each > j] + j
        first[pairs] = count_pairs(plan, rest, flips, edges, pairs)
        rest[plan.subgroup[pairs]] &= ~flips[plan.change[pairs]]
    return first


def _everyone(plan, covers, flips, edges, layout):
    """Count, by cost, the people whom the actions of this cost are the cheapest to help."""
    costs, level = np.unique(plan.cost, return_inverse=True)
    order = np.argsort(level, kind="stable")
    ends = np.searchsorted(level[order], np.arange(len(costs) + 1))
    helped = np.zeros((1, covers.shape[1]), dtype=np.uint64)
    first = np.zeros((len(costs), len(edges) - 1), dtype=np.int64)
    for i in range(len(costs)):
        pairs = order[ends[i] : ends[i + 1]]
        reached = covers[plan.subgroup[pairs]] & flips[plan.change[pairs]]
        new = np.bitwise_or.reduce(reached, axis=0, keepdims=True) & ~helped
        first[i] = layout.count(new, edges)[0]
        helped |= new
    return first
