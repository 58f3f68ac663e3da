"""Comparisons of people with people of another group, for situation tests and FlipTest."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval

from skdisc._space._items import make_items
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._validation import plain
from skdisc.base import BaseDetector


class GroupsDetector(BaseDetector):
    """Base of the detectors that compare people of a group with people of a reference."""

    _takes_missing = False  # what is missing has no distance, but may be a group
    _parameter_constraints = {
        **BaseDetector._parameter_constraints,
        "group": "no_validation",
        "reference": "no_validation",
        "features": ["array-like", None],
        "max_distance": [Interval(Real, 0, None, closed="left"), None],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan &= self._takes_missing
        return tags

    def _feature_names(self, X):
        """Return the columns that people are compared by."""
        names = [c for c in X.columns if c not in self.protected_]
        names = names if self.features is None else list(self.features)
        unknown = [c for c in names if c not in X.columns]
        if unknown or not names:
            raise ValueError(
                f"features={self.features!r} must name columns of X to compare people by; "
                f"unknown: {unknown!r}. Columns (n_features = {X.shape[1]}): {list(X.columns)!r}."
            )
        return names

    def _check_protected(self):
        if not self.protected_:
            raise ValueError(f"{type(self).__name__} needs protected=[...]: who is compared.")

    def _comparisons(self, task, outcome, protected):
        asked = {n: getattr(self, n) for n in ("group", "reference", "combine", "n_bins")}
        return make_comparisons(task.X, task.space, protected, outcome, **asked)


RULES = ("best", "largest", "rest")


@dataclass(frozen=True)
class Comparison:
    """A group whose members may complain, and the reference that they are compared with.

    Parameters
    ----------
    columns : tuple
        The protected columns that tell them apart.
    group : Subgroup
    reference : Subgroup or None
        None: everybody else.
    do : dict
        The protected values of the reference, which a counterfactual world gives to everybody.
    """

    columns: tuple
    group: Subgroup
    reference: Subgroup | None
    do: dict

    def control(self, X):
        """Say which rows belong to the group, a bool array."""
        return self.group.mask(X)

    def test(self, X):
        """Say which rows belong to the reference, a bool array."""
        return ~self.group.mask(X) if self.reference is None else self.reference.mask(X)

    @property
    def versus(self):
        """The reference, as text."""
        return "the rest" if self.reference is None else str(self.reference)


def make_comparisons(X, space, protected, outcome, *, group, reference, combine, n_bins):
    """Return the comparisons that the settings of a detector ask for, a list.

    Parameters
    ----------
    X : DataFrame
    space : FeatureSpace
    protected : list of column names
    outcome : ndarray of float, shape (n,)
        Higher is better.
    group, reference : value, dict of values by column, or rule; see the detectors
    combine : {"intersectional", "multiple"}
    n_bins : int
    """
    several = [(c,) for c in protected] if combine == "multiple" else [tuple(protected)]
    found = []
    for columns in several:
        cells = _cells(X, space, columns, outcome, n_bins)
        chosen = _named("group", group, columns, protected, cells)
        others = [c for c in cells if chosen is None or not _inside(c[0], chosen, columns)]
        versus = _reference(reference, columns, protected, cells, others)
        if chosen is not None:
            found.append(_comparison(X, columns, chosen, versus))
        else:
            inside = [c for c, *_ in cells if versus is None or not _inside(c, versus, columns)]
            found += [_comparison(X, columns, c, versus) for c in inside]
    return found


def _cells(X, space, columns, outcome, n_bins):
    """Return every combination of protected values seen, with its mean outcome and its size."""
    items = make_items(X, space, columns, columns, n_bins)
    codes = items.codes.T
    unique, at = np.unique(codes, axis=0, return_inverse=True)
    size = np.bincount(at.ravel())
    mean = np.bincount(at.ravel(), outcome) / size
    named = [Subgroup([items.predicates[i] for i in row]) for row in unique]
    return list(zip(named, mean.tolist(), size.tolist(), strict=True))


def _inside(cell, wanted, columns):
    values = {p.column: p for p in cell.predicates}
    return all(values[p.column] == p for p in wanted.predicates if p.column in columns)


def _reference(reference, columns, protected, cells, others):
    """Return the reference as a subgroup, None for everybody else."""
    if isinstance(reference, str) and reference == "rest":
        return None
    if not (isinstance(reference, str) and reference in RULES):
        return _named("reference", reference, columns, protected, cells)
    if not others:
        raise ValueError("group= takes in everybody: nobody is left to compare with.")
    by = (1, 2) if reference == "best" else (2, 1)
    return max(others, key=lambda c: (c[by[0]], c[by[1]], str(c[0])))[0]


def _named(what, given, columns, protected, cells):
    """Return what a user named, a value or one per column, as a subgroup; None if nothing was."""
    if given is None:
        return None
    if not isinstance(given, dict):
        if len(protected) > 1:
            raise ValueError(
                f"{what}={given!r} is one value and there are several protected columns, "
                f"{list(protected)!r}. Give a dict with a value for each."
            )
        given = {protected[0]: given}
    unknown = [c for c in given if c not in protected]
    if unknown:
        raise ValueError(f"{what} names {unknown[0]!r}, not among protected, {list(protected)!r}.")
    wanted = [_value(what, c, v, cells) for c, v in given.items() if c in columns]
    return Subgroup(wanted) if wanted else None


def _value(what, column, value, cells):
    known = {p.values: p for cell, *_ in cells for p in cell.predicates if p.column == column}
    if isinstance(value, Predicate):
        return value
    if (plain(value),) not in known:
        values = [v[0] if v else str(p) for v, p in known.items()]
        raise ValueError(
            f"{what} must be one of {values!r} for column {column!r}, got {value!r}; nobody in X "
            "has that value."
        )
    return known[(plain(value),)]


def _comparison(X, columns, group, reference):
    rows = ~group.mask(X) if reference is None else reference.mask(X)
    both = int((rows & group.mask(X)).sum())
    if both:
        raise ValueError(
            f"group= ({group}) and reference= ({reference}) have {both} people in common, who "
            "would be compared with themselves. Name groups that exclude each other."
        )
    return Comparison(columns, group, reference, {c: _typical(X.loc[rows, c]) for c in columns})


def _typical(values):
    """Return the value that most have; of many different numbers, the middle one."""
    if pd.api.types.is_float_dtype(values.dtype) and values.nunique() > len(values) / 2:
        return plain(values.quantile(interpolation="lower"))
    most = values.mode()
    return plain(most.iloc[0]) if len(most) else None
