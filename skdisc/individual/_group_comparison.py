"""Comparisons of a group with a reference, which situation tests and FlipTest make."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skdisc._results._shared_values import MIN_CELL
from skdisc._space._bins import Bins
from skdisc._space._items import make_items
from skdisc._space._named_groups import named_group, named_values
from skdisc._space._subgroup import Subgroup
from skdisc._stats import may_be_best
from skdisc._task._shared_settings import VERBOSE
from skdisc._utils._settings import AT_LEAST_TWO, setting
from skdisc._utils._types import Columns
from skdisc._utils._validation import plain
from skdisc.base import BaseDetector

RULES = ("best", "largest", "rest")


class GroupsDetector(BaseDetector):
    """Base of the detectors that compare people of a group with people of a reference."""

    group: Any = setting(
        None,
        "no_validation",
        """The group whose members may complain. None: every group outside the reference, each
        compared separately.""",
        kind="value, dict of values by column, or None",
    )
    reference: Any = setting(
        "best",
        "no_validation",
        """The people that members are compared with: the group with the best outcome, the
        largest group, everyone outside the group, or the people named.""",
        kind='{"best", "largest", "rest"}, value, or dict of values by column',
    )
    features: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable]] | None = setting(
        None,
        ["array-like", dict, None],
        """The columns that distances are computed from; None: all but the protected ones. With
        ``combine="multiple"`` also a dict: a list for each protected column.""",
        kind="sequence of column names, dict of such, or None",
    )
    n_bins: int | dict | Bins = setting(
        4,
        [AT_LEAST_TWO, dict, Bins],
        "Bins of protected numbers.",
    )
    verbose: bool | int = VERBOSE
    protected: Columns | None = setting(
        None,
        text="""The protected columns. Numbers with more than `n_bins` values are cut at
        quantiles.""",
    )

    _takes_missing = False  # of features; a missing protected value is a group
    _smallest_reference = 1  # people that the group with the best outcome needs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan &= self._takes_missing or self.missing != "raise"
        return tags

    def _feature_names(self, X, protected=None):
        """Return the columns that people are compared by, by some protected columns or by all."""
        if not (isinstance(self.features, Mapping) and vars(self).get("combine") == "multiple"):
            return self._known_features(X, self.features)
        if set(self.features) != set(self.protected_):
            raise ValueError(
                f"features is a dict of {list(self.features)!r}; give a list of columns for each "
                f"protected column: {self.protected_!r}."
            )
        lists = [self._known_features(X, self.features[p]) for p in protected or self.protected_]
        return list(dict.fromkeys(name for names in lists for name in names))

    def _known_features(self, X, features):
        """Return the columns given, by default all but the protected ones; raise if unknown."""
        if isinstance(features, Mapping):
            raise ValueError(
                f"features={features!r} must be a list of columns. Only situation testing with "
                'combine="multiple" takes a dict: a list for each protected column.'
            )
        names = (
            [c for c in X.columns if c not in self.protected_]
            if features is None
            else list(features)
        )
        unknown = [c for c in names if c not in X.columns]
        if unknown or not names:
            raise ValueError(
                f"features={features!r} must name columns of X to compare people by; "
                f"unknown: {unknown!r}. Columns (n_features = {X.shape[1]}): {list(X.columns)!r}."
            )
        return names

    def _check_protected(self):
        if not self.protected_:
            raise ValueError(
                f"{type(self).__name__} needs protected=[...]: the columns whose groups are "
                "compared."
            )

    def _protected_items(self, task, protected):
        """Return the items of the protected columns: their values, or bins of numbers."""
        return make_items(task.X, task.space, protected, protected, Bins.of(self.n_bins).flat)

    def _comparisons(self, X, items, protected, outcome, best=None):
        settings = {name: getattr(self, name) for name in ("group", "reference", "combine")}
        least = self._smallest_reference
        return make_comparisons(X, items, protected, outcome, least=least, best=best, **settings)

    def _n_contrasts(self, comparisons, two_sided):
        """Return the number of tests that the comparisons were chosen from.

        A reference that is the best of m groups by its outcome could have been any of them.
        """
        n = sum(c.n_rivals for c in comparisons)
        # Two-sided, a pair of groups is one contrast, whichever of both is the reference.
        pairs_count_twice = two_sided and self.group is None and n > len(comparisons)
        return max(len(comparisons), -(-n // 2) if pairs_count_twice else n)


@dataclass(frozen=True)
class Comparison:
    """A group whose members may complain, and the reference that they are compared with.

    Parameters
    ----------
    columns : tuple
        The protected columns that define both.
    reference : Subgroup or None
        None: everyone outside the group.
    do : dict
        The intervention that makes members of the group members of the reference: its typical
        value of each protected column.
    n_rivals : int
        The number of groups among which the reference was chosen by its outcome, else 1.
    """

    columns: tuple
    group: Subgroup
    reference: Subgroup | None
    do: dict
    n_rivals: int = 1

    def control(self, X):
        """Return a boolean mask of the rows in the group."""
        return self.group.mask(X)

    def test(self, X):
        """Return a boolean mask of the rows in the reference."""
        return ~self.group.mask(X) if self.reference is None else self.reference.mask(X)

    @property
    def versus(self):
        """The reference, as text."""
        return "the rest" if self.reference is None else str(self.reference)


@dataclass(frozen=True)
class _SeenGroup:
    """A combination of protected values that occurs, its mean outcome and its size."""

    group: Subgroup
    mean: float
    size: int

    def is_inside(self, group, columns):
        """Return True if the group lies inside another, as far as these columns tell."""
        predicate_by_column = {p.column: p for p in self.group.predicates}
        return all(
            predicate_by_column[p.column] == p for p in group.predicates if p.column in columns
        )


def make_comparisons(
    X, items, protected, outcome, *, group, reference, combine, least=1, best=None
):
    """Return the comparisons that the settings of a detector define.

    Parameters
    ----------
    X : DataFrame
    items : Items
        Items of the protected columns.
    protected : list of column names
    outcome : ndarray of float, shape (n,)
        Higher is better.
    group, reference : value, dict of values by column, or rule; see the detectors
    combine : {"intersectional", "multiple"}
    least : int, default=1
        Number of people that the best group needs, if any group has as many; it is also one of at
        least 2 % of the people and 10 people.
    best : dict of tuple of column names to Subgroup, optional
        The best groups by these columns, where that is not decided by the outcome.

    Returns
    -------
    list of Comparison
    """
    column_sets = [(c,) for c in protected] if combine == "multiple" else [tuple(protected)]
    comparisons = []
    for columns in column_sets:
        seen_groups = _groups_seen(items, columns, outcome)
        chosen = _named("group", group, columns, protected, seen_groups)
        candidates = [s for s in seen_groups if chosen is None or not s.is_inside(chosen, columns)]
        by_outcome = isinstance(reference, str) and reference == "best"
        if by_outcome:
            large = may_be_best([s.size for s in candidates], least, MIN_CELL)
            candidates = [s for s, is_large in zip(candidates, large, strict=True) if is_large]
        versus = (best or {}).get(columns)
        if versus is None:
            versus = _reference(reference, columns, protected, seen_groups, candidates)
        outside = [s for s in seen_groups if versus is None or not s.is_inside(versus, columns)]
        groups = [s.group for s in outside] if chosen is None else [chosen]
        n_rivals = len(candidates) if by_outcome else 1
        comparisons += [_comparison(X, columns, g, versus, n_rivals) for g in groups]
    return comparisons


def _groups_seen(items, columns, outcome):
    """Return a `_SeenGroup` for every combination of values of these columns that occurs."""
    number = {p.column: j for p, j in zip(items.predicates, items.feature, strict=True)}
    codes = items.codes[[number[c] for c in columns]].T
    unique, group_of_row = np.unique(codes, axis=0, return_inverse=True)
    size = np.bincount(group_of_row.ravel())
    mean = np.bincount(group_of_row.ravel(), outcome) / size
    groups = [Subgroup([items.predicates[i] for i in row]) for row in unique]
    return list(map(_SeenGroup, groups, mean.tolist(), size.tolist()))


def _reference(reference, columns, protected, seen_groups, candidates):
    """Return the reference as a subgroup, None for everyone outside the group."""
    if isinstance(reference, str) and reference == "rest":
        return None
    if not (isinstance(reference, str) and reference in RULES):
        return _named("reference", reference, columns, protected, seen_groups)
    if not candidates:
        raise ValueError("group= contains every row of X, so no reference is left to compare with.")
    by = ("mean", "size") if reference == "best" else ("size", "mean")
    return max(candidates, key=lambda s: (*(getattr(s, name) for name in by), str(s.group))).group


def _named(setting, values, columns, protected, seen_groups):
    """Return the subgroup that a user named by values; None if no value was given."""
    if values is None:
        return None
    predicates_by_column = {c: [] for c in columns}
    for predicate in dict.fromkeys(p for s in seen_groups for p in s.group.predicates):
        predicates_by_column[predicate.column].append(predicate)
    values = named_values(setting, values, protected)
    predicates = [
        named_group(setting, c, v, predicates_by_column[c])
        for c, v in values.items()
        if c in columns
    ]
    return Subgroup(predicates) if predicates else None


def _comparison(X, columns, group, reference, n_rivals):
    rows = ~group.mask(X) if reference is None else reference.mask(X)
    n_common = int((rows & group.mask(X)).sum())
    if n_common:
        raise ValueError(
            f"group= ({group}) and reference= ({reference}) have {n_common} people in common, who "
            "would be compared with themselves. Name groups that exclude each other."
        )
    do = {c: _typical(X.loc[rows, c]) for c in columns}
    return Comparison(columns, group, reference, do, n_rivals)


def _typical(values):
    """Return the mode, or the (lower) median of a continuous column."""
    if pd.api.types.is_float_dtype(values.dtype) and values.nunique() > len(values) / 2:
        return plain(values.quantile(interpolation="lower"))
    most = values.mode()
    return plain(most.iloc[0]) if len(most) else None
