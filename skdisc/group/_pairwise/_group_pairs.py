"""The protected groups, what each is compared with, and the rows of a pair."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skdisc._space._bins import Bins
from skdisc._space._items import make_items
from skdisc._space._named_groups import named_group, named_values
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._hashing import canonical_order

RULES = ("largest", "rest")


@dataclass(frozen=True)
class GroupPair:
    """A protected group and its reference.

    `reference`: None: everyone else.
    """

    group: Predicate
    reference: Predicate | None

    @property
    def subgroup(self) -> Subgroup:
        return Subgroup([self.group])

    @property
    def versus(self) -> str:
        """The reference in words."""
        return "the rest" if self.reference is None else str(self.reference)


@dataclass(frozen=True)
class PairRows:
    """The rows of a group and of its reference, in an order that depends on their content alone.

    Parameters
    ----------
    X : DataFrame of shape (n, n_columns)
    y : ndarray of float, shape (n,)
        The outcome that is compared.
    inside : ndarray of bool, shape (n,)
        Whether a row is of the group; the others are of the reference.
    labels : ndarray of float, shape (n,), or None
        1 for a favorable label, where labels enter as well as decisions.
    """

    X: pd.DataFrame
    y: np.ndarray
    inside: np.ndarray
    labels: np.ndarray | None = None

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of rows of the group and of the reference."""
        n = int(self.inside.sum())
        return n, len(self.inside) - n

    @property
    def gap(self) -> float:
        """Mean outcome of the group minus that of the reference."""
        return float(self.y[self.inside].mean() - self.y[~self.inside].mean())

    @classmethod
    def of(
        cls,
        pair: GroupPair,
        X: pd.DataFrame,
        y: np.ndarray,
        columns: Sequence[Hashable],
        labels: np.ndarray | None = None,
    ) -> "PairRows":
        """Return the rows of a pair; `columns` order them, the names of groups do not.

        `columns`: all other columns that enter the comparison. Shapes: `X` (n_rows, n_columns).
        """
        inside = pair.group.mask(X)
        reference = ~inside if pair.reference is None else pair.reference.mask(X)
        positions = np.flatnonzero(inside | reference)
        keys = (
            [inside[positions], y[positions]]
            if labels is None
            else [inside[positions], labels[positions], y[positions]]
        )
        people = X.iloc[positions]
        ties = canonical_order(people[list(columns)], *keys) if len(columns) else np.lexsort(keys)
        positions = positions[ties]
        pair_labels = None if labels is None else labels[positions]
        return cls(
            X.iloc[positions].reset_index(drop=True), y[positions], inside[positions], pair_labels
        )


def group_pairs(
    X: pd.DataFrame, space: Any, protected: Sequence[Hashable], reference: Any, n_bins: int
) -> list[GroupPair]:
    """Return each group of each protected column with its reference.

    `reference`: one of "largest", "rest". `n_bins`: quantile bins of a protected number. Returns a
    list of GroupPair: without the references themselves; with "rest", of two groups the one with
    fewer people. Raises ValueError if the reference is no group.
    """
    items = make_items(X, space, protected, protected, Bins.of(n_bins).flat)
    predicates_by_column: dict = {name: [] for name in protected}
    for predicate in items.predicates:
        predicates_by_column[predicate.column].append(predicate)
    is_rule = isinstance(reference, str) and reference in RULES
    named = {} if is_rule else named_values("reference", reference, list(protected))
    pairs = []
    for name, groups in predicates_by_column.items():
        by_size = sorted(groups, key=lambda p: -int(p.mask(X).sum()))
        if not is_rule:
            if name not in named:
                raise ValueError(f"reference={reference!r} has no value for {name!r}.")
            chosen = named_group("reference", name, named[name], groups)
        else:
            chosen = by_size[0] if reference == "largest" or len(groups) == 2 else None
        pairs += [GroupPair(g, chosen) for g in groups if g != chosen and len(groups) > 1]
    return pairs
