"""Contrasts: groups against the other people in the same context.

A group has a *protected part*, its conditions on protected columns, and a *context*, the others.
Its contrast compares the members with those in the context who do not have the protected part.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from skdisc._space._codes import PAD
from skdisc._space._items import Items
from skdisc._space._subgroup import Group, Subgroup
from skdisc._stats._means import Means
from skdisc.subgroup._estimation._clusters import clustered, inflation, members_of
from skdisc.subgroup._estimation._outcome_rows import by_measure
from skdisc.subgroup._lattice._conjunctions import Patterns

IN_CONTEXT = "the others in the same context"
HIGHER_IS_WORSE = {"false_negative_rate", "false_omission_rate", "error_rate"}


def context_of(group: Group, protected: Sequence[Hashable]) -> Subgroup:
    """Return a group without its conditions on protected columns."""
    return Subgroup([p for p in group.predicates if p.column not in protected])


def protected_part(group: Group, protected: Sequence[Hashable]) -> Subgroup:
    """Return a group without its conditions on columns that are not protected."""
    return Subgroup([p for p in group.predicates if p.column in protected])


def why_too_skewed(tally: Any, level: float, n: int) -> np.ndarray:
    """Return why means of n groups cannot be compared at a level, "" where they can."""
    return tally.too_skewed(level) if isinstance(tally, Means) else np.full(n, "", dtype=object)


def is_protected(patterns: Patterns, items: Items) -> np.ndarray:
    """Return which conditions of mined groups are protected, of the shape of their items."""
    return np.append(items.protected, False)[patterns.items]  # PAD finds the last


@dataclass(frozen=True)
class Contrasts:
    """Groups, each against the rest of its context, by each measure.

    Attributes
    ----------
    sums, context_sums : list of ndarray, shape (n_sums, n_groups)
        By measure, the sums over each group, and over its context.
    support, support_context : ndarray of int, shape (n_groups,)
        Numbers of rows.
    size, size_context : ndarray, shape (n_groups,)
        Numbers of rows, or sums of their weights.
    inflation : ndarray of float, shape (n_measures, n_groups), or None
        Factor of the variance of rows in clusters.
    side_sums : list of ndarray, shape (n_sums, n_groups), or None
        By measure, the sums over all people of the protected part of each group, in any context;
        only of numbers, which may be skewed.
    """

    rows: object
    sums: list
    context_sums: list
    support: np.ndarray
    support_context: np.ndarray
    size: np.ndarray
    size_context: np.ndarray
    inflation: np.ndarray | None = None
    side_sums: list | None = None

    @classmethod
    def of_patterns(
        cls, rows: object, patterns: Patterns, contexts: Patterns, items: Items
    ) -> "tuple[Contrasts, np.ndarray]":
        """Compare mined groups with their contexts.

        `patterns`: the groups; only those with a protected item have a contrast. `contexts`: mined
        from the same items; they include the contexts of the groups. Returns `contrasts`: one per
        pattern; `has_contrast`: whether the group has a protected part and its context was mined.
        """
        protected = is_protected(patterns, items)
        context_items = np.where(protected, PAD, patterns.items)
        context_index, has_contrast = contexts.find(context_items)
        has_contrast = has_contrast & protected.any(axis=1)
        context_index = np.where(has_contrast, context_index, -1)  # the last: everyone
        sums, support_size = rows.pattern_sums(patterns), rows.support(patterns)
        whole, factors, side_sums = rows.support(contexts), None, None
        if rows.cluster is not None:
            masks = (members_of(items, numbers) for numbers in (patterns.items, context_items))
            factors = inflation(rows, *masks)
        if rows.has_numbers:
            part, is_mined = patterns.find(np.where(protected, patterns.items, PAD))
            part = np.where(is_mined & (part >= 0), part, np.arange(len(part)))
            side_sums = [group_sums[:, part] for group_sums in sums]
        contrasts = cls(
            rows,
            sums=sums,
            context_sums=[
                np.column_stack([sums_of_contexts, rows.total_sums(j)])[:, context_index]
                for j, sums_of_contexts in enumerate(rows.pattern_sums(contexts))
            ],
            support=support_size[0],
            support_context=np.append(whole[0], rows.n)[context_index],
            size=support_size[1],
            size_context=np.append(whole[1], rows.size)[context_index],
            inflation=factors,
            side_sums=side_sums,
        )
        return contrasts, has_contrast

    @classmethod
    def of_groups(
        cls, rows: object, groups: Sequence[Group], protected: Sequence[Hashable]
    ) -> "Contrasts":
        """Compare groups with the rest of their contexts."""
        masks = [g.mask(rows.X) for g in groups]
        contexts = [context_of(g, protected).mask(rows.X) for g in groups]
        contrasts = cls.of_masks(rows, masks, contexts)
        if not rows.has_numbers:
            return contrasts
        sides = [protected_part(g, protected).mask(rows.X) for g in groups]
        sums = [rows.group_sums(j, sides) for j in range(len(rows.names))]
        return replace(contrasts, side_sums=sums)

    @classmethod
    def of_masks(cls, rows: object, masks: Iterable, contexts: Iterable) -> "Contrasts":
        """Compare the rows of some bool masks with the other rows of the masks that hold them.

        Groups that share a context may share its mask, whose sums are then taken once.
        """
        masks, contexts = list(masks), list(contexts)
        distinct, places = {id(mask): mask for mask in contexts}, {}
        context_of = [places.setdefault(id(mask), len(places)) for mask in contexts]
        sides = masks, list(distinct.values())
        support, support_context = map(rows.people_in, sides)
        size, size_context = support, support_context
        if rows.weight is not None:
            size, size_context = (
                np.array([rows.weight[m].sum() for m in side_masks], dtype=float)
                for side_masks in sides
            )
        context_sums = [rows.group_sums(j, sides[1]) for j in range(len(rows.names))]
        return cls(
            rows,
            sums=[rows.group_sums(j, masks) for j in range(len(rows.names))],
            context_sums=[sums[:, context_of] for sums in context_sums],
            support=support,
            support_context=support_context[context_of],
            size=size,
            size_context=size_context[context_of],
            inflation=inflation(rows, masks, contexts),
        )

    @classmethod
    def joined(cls, first: "Contrasts", second: "Contrasts") -> "Contrasts":
        """Return the contrasts of both, by the same measures of the same rows."""
        return first._mapped(lambda *arrays: np.concatenate(arrays, axis=-1), second)

    def at(self, which: np.ndarray) -> "Contrasts":
        """Return some of the contrasts, given by position or as a bool array."""
        return self._mapped(lambda values: values[..., which])

    def _mapped(self, function, *more):
        """Return contrasts with a function of all arrays, whose last axis are the groups."""
        changed = {}
        for name in (field.name for field in fields(self) if field.name != "rows"):
            values = [getattr(contrasts, name) for contrasts in (self, *more)]
            if isinstance(values[0], list):
                changed[name] = [function(*arrays) for arrays in zip(*values, strict=True)]
            elif values[0] is not None:
                changed[name] = function(*values)
        return replace(self, **changed)

    def people(
        self, j: int, which: np.ndarray | slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how many people some contrasts compare by a measure, and how many count.

        Both are numbers of the group and of its rest, shape (2, n_groups). Those that count are
        effective numbers of rows with weights (Kish 1965); they do not depend on outcomes.
        """
        sums, context_sums = self.sums[j][:, which], self.context_sums[j][:, which]
        counted = np.array(
            [self.rows.effective(j, sums), self.rows.effective(j, context_sums - sums)]
        )
        if self.rows.weight is None:
            return counted, counted
        support = self.support[which]
        return np.array([support, self.support_context[which] - support]), counted

    @cached_property
    def tallies(self) -> list:
        """The comparison by each measure."""
        return [self.tally(j, slice(None)) for j in range(len(self.sums))]

    def tally(self, j: int, group: np.ndarray | slice) -> Any:
        """Return the comparison by a measure of some contrasts, given by position."""
        sums = [self.sums[j][:, group], self.context_sums[j][:, group]]
        if self.side_sums is not None:
            sums.append(self.side_sums[j][:, group])
        factor = None if self.inflation is None else self.inflation[j, group]
        return clustered(self.rows.tally(j, *sums), factor)

    @property
    def gap(self) -> np.ndarray:
        """Rate or mean of each group minus that of the rest, shape (n_measures, n_groups)."""
        return np.array([t.gap for t in self.tallies])

    def p_value(self) -> np.ndarray:
        """Return the p-value of each contrast, shape (n_measures, n_groups)."""
        return np.array([t.p_value() for t in self.tallies])

    def z(self) -> np.ndarray:
        """Return the size of each standardized gap, shape (n_measures, n_groups)."""
        return np.abs([t.z() for t in self.tallies])

    def enough(self, least: float) -> np.ndarray:
        """Return whether both sides have enough rows and events, shape (n_measures, n_groups)."""
        large = (self.size >= least) & (self.size_context - self.size >= least)
        return np.array([t.enough for t in self.tallies]) & large

    def too_skewed(self, level: float) -> np.ndarray:
        """Return why means cannot be compared at a level, "" where they can.

        The array has the shape (n_measures, n_groups).
        """
        by_measure = [why_too_skewed(t, level, len(self.support)) for t in self.tallies]
        return np.array(by_measure, dtype=object).reshape(len(self.sums), len(self.support))

    def table(
        self, measure: np.ndarray, group: np.ndarray, level: float | np.ndarray
    ) -> pd.DataFrame:
        """Return the statistics of some contrasts.

        `measure` and `group`: positions. `level`: one minus the confidence level of the intervals.
        Returns a DataFrame: the columns of `GroupTally.contrast`, ``support``, ``support_context``
        and ``measure``.
        """
        level = np.broadcast_to(level, measure.shape)
        table = by_measure(
            measure, lambda j, which: self.tally(j, group[which]).contrast(level[which])
        )
        table.insert(6, "support", self.support[group])
        table["support_context"] = self.support_context[group]
        table["measure"] = np.array(self.rows.names, dtype=object)[measure]
        return table
