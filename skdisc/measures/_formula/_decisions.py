"""Decisions by protected group: the groups to compare, and the counts behind all measures."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.utils import check_consistent_length

from skdisc._space._codes import MISSING
from skdisc._stats import may_be_best
from skdisc._utils._inputs import check_order, factorized, in_order
from skdisc._utils._sample_weight import positions
from skdisc._utils._validation import refuse_missing
from skdisc.measures._formula._design import cluster_codes, design_weights, scaled
from skdisc.measures._formula._target import check_target

RULES = ("largest", "best", "rest", "overall", "pairs")
POLICIES = ("category", "drop", "raise")  # for missing protected values
NUMERIC_FROM = 20  # a protected column with more distinct numbers than this is numeric


@dataclass(frozen=True)
class ComparedGroups:
    """A group and its reference, with the cells of the table of counts that belong to each.

    Attributes
    ----------
    attribute : str, name of the protected column or columns
    group, reference : value or tuple of values; "rest", "overall"; None if there is no reference
    one, other : ndarray of bool, shape (n_cells,); disjoint
    overlap : bool, whether the reference is all rows, including the group
    """

    attribute: str
    group: object
    reference: object
    one: np.ndarray
    other: np.ndarray
    overlap: bool = False


@dataclass(frozen=True)
class GroupedDecisions:
    """Decisions and labels of rows, with their protected groups.

    Attributes
    ----------
    cell : ndarray of int, shape (n,); the combination of protected values of each row
    groupings : list of (attribute, labels, members); members is a mask of shape (n_groups, n_cells)
    pred, true : ndarray of bool or float, shape (n,); `true` may be None
    weight : ndarray of float, shape (n,), or None
    stratum : ndarray of int, shape (n,), or None
    positions : ndarray of int, shape (n,); the position of each row in the input
    cluster : ndarray of int, shape (n,), or None
    is_frequency : bool; whether weights say how often a row occurs
    """

    cell: np.ndarray
    groupings: list
    pred: np.ndarray
    true: np.ndarray | None
    weight: np.ndarray | None
    stratum: np.ndarray | None
    positions: np.ndarray
    cluster: np.ndarray | None = None
    is_frequency: bool = False

    @property
    def has_design(self):
        """Whether variances depend on weights or clusters."""
        return self.cluster is not None or (self.weight is not None and not self.is_frequency)

    @property
    def is_numeric(self):
        """Whether decisions or labels are numbers rather than classes."""
        return self.pred.dtype != bool or (self.true is not None and self.true.dtype != bool)

    @property
    def n_cells(self):
        """Number of combinations of protected values."""
        return self.groupings[0][2].shape[1]

    @cached_property
    def counts(self):
        """Weight per stratum, cell, decision and label, shape (n_strata, n_cells, 2, 2)."""
        n_strata, index = 1, self.cell
        if self.stratum is not None:
            n_strata = int(self.stratum.max(initial=0)) + 1
            index = self.stratum * self.n_cells + index
        index = index * 4
        if self.pred.dtype == bool:
            index += self.pred.view(np.int8) * np.int8(2)
        if self.true is not None and self.true.dtype == bool:
            index += self.true.view(np.int8)
        size = n_strata * self.n_cells * 4
        table = np.bincount(index, weights=self.weight, minlength=size)
        return table.astype(float).reshape(n_strata, self.n_cells, 2, 2)

    @cached_property
    def size(self):
        """Weight of each cell, shape (n_cells,)."""
        return self.counts.sum(axis=(0, 2, 3))

    @cached_property
    def total(self):
        """Number of favorable decisions, or sum of numbers, of each cell, shape (n_cells,)."""
        if self.pred.dtype == bool:
            return self.counts[:, :, 1].sum(axis=(0, 2))
        values = self.pred if self.weight is None else self.pred * self.weight
        return np.bincount(self.cell, weights=values, minlength=self.n_cells)

    def at(self, mask):
        """Return the rows selected by a mask."""
        names = ("cell", "pred", "true", "weight", "stratum", "positions", "cluster")
        parts = {name: getattr(self, name) for name in names}
        return replace(self, **{n: None if p is None else p[mask] for n, p in parts.items()})

    def repeated(self):
        """Return rows repeated as often as their frequency weights say, without weights.

        Fractions, as in bootstrap samples of rows with probability weights, stay as they are.
        """
        if self.weight is None or self.has_design or np.any(self.weight % 1):
            return self
        return replace(self.at(positions(self.weight.astype(np.int64))), weight=None)

    def comparisons(self, reference, min_size=0, min_cell=0):
        """Return a `ComparedGroups` for each group to compare.

        Parameters
        ----------
        reference : str, value, tuple or dict
            A rule of `RULES`, a group, or a group by name of the attribute.
        min_size, min_cell : float, default=0
            A group of less weight is not the best one; if all groups have less than `min_cell`,
            one of them is. Nor is a group below 2 % of the people.

        Raises
        ------
        ValueError
            If `reference` is neither a rule nor a group.
        """
        compared = []
        for grouping in self.groupings:
            compared += _compare(*grouping, self.size, self.total, reference, min_size, min_cell)
        return compared


def group_decisions(
    y_true,
    y_pred,
    protected,
    *,
    pos_label,
    sample_weight,
    intersections,
    missing,
    weights="probability",
    groups=None,
    strata=None,
):
    """Check the input of a measure and return `GroupedDecisions`.

    `y_true`, `y_pred`, `protected`, `pos_label`, `sample_weight`, `intersections`, `missing`,
    `weights` and `groups`: as in every measure. Raises ValueError if an argument is invalid, has
    missing values, or differs from the others in length, or if there are no rows.
    """
    if y_pred is None:
        raise ValueError(
            "y_pred is None. It holds the decisions to measure; pass historical decisions as "
            "y_pred, with y_true=None."
        )
    check_decided(y_pred, y_true)
    if not len(y_pred):
        raise ValueError("y_pred is empty: there are no decisions to compare.")
    if missing not in POLICIES:
        raise ValueError(f"missing must be one of {POLICIES}, got {missing!r}")
    check_order(
        y_pred=y_pred,
        y_true=y_true,
        protected=protected,
        sample_weight=sample_weight,
        groups=groups,
    )
    pred = check_target(y_pred, pos_label, "y_pred", y_true)
    true = None if y_true is None else check_target(y_true, pos_label, "y_true", y_pred)
    columns = [(name, *_codes(values)) for name, values in protected_columns(protected)]
    weight = design_weights(sample_weight, weights, len(pred))
    cluster = None if groups is None else cluster_codes(groups, len(pred))
    check_consistent_length(pred, true, weight, strata, cluster, *(c[1] for c in columns))
    present = np.logical_and.reduce([code != MISSING for _, code, _ in columns])
    if missing == "raise" and not present.all():
        refuse_missing(~present, [name for name, *_ in columns])
    if missing == "category":
        columns = [_with_missing(*column) for column in columns]
    cell, groupings = group_cells(columns, intersections, present, missing)
    rows = GroupedDecisions(cell, groupings, pred, true, weight, strata, np.arange(len(pred)))
    rows = replace(rows, cluster=cluster, is_frequency=weights == "frequency")
    stays = np.ones(len(pred), dtype=bool) if weight is None else weight > 0
    if missing == "drop":
        stays &= present
    rows = rows if stays.all() else rows.at(stays)
    return rows if rows.is_frequency else replace(rows, weight=scaled(rows.weight))


def check_decided(y_pred, y_true=None):
    """Raise ValueError if y_pred, or y_true if given, does not hold one value per row."""
    if np.ndim(y_pred) == 0:
        raise ValueError(f"y_pred must hold the decision of each row, got {y_pred!r}.")
    if y_true is not None and np.ndim(y_true) == 0:
        raise ValueError(f"y_true must hold the label of each row, got {y_true!r}.")


def check_rows(y_pred, **columns):
    """Raise ValueError if an argument that is given is not columns with the rows of y_pred."""
    check_decided(y_pred)
    for name, values in columns.items():
        if isinstance(values, str) or not (values is None or hasattr(values, "__len__")):
            raise ValueError(
                f"{name} must hold the values of each row, got {values!r}. Pass the columns "
                "themselves, e.g. X[['age']]."
            )
        if values is not None and len(values) != len(y_pred):
            raise ValueError(f"{name} has {len(values)} rows, and y_pred has {len(y_pred)}.")
    check_order(y_pred=y_pred, **columns)


def protected_columns(protected):
    """Return the protected columns as a list of pairs, a name and a Series.

    Raises ValueError if `protected` is a name or a scalar.
    """
    if hasattr(protected, "to_pandas"):
        protected = protected.to_pandas()
    if isinstance(protected, pd.DataFrame):
        if not protected.shape[1]:
            raise ValueError("protected has no columns. Pass those to compare, e.g. X[['sex']].")
        if not protected.columns.is_unique:
            raise ValueError(f"protected names columns twice: {list(protected.columns)!r}.")
        return [(str(name), protected[name]) for name in protected.columns]
    if isinstance(protected, pd.Series):
        return [(str(protected.name or "protected"), protected)]
    if isinstance(protected, pd.Categorical):
        return [("protected", pd.Series(protected))]
    if isinstance(protected, str) or np.ndim(protected) == 0:
        raise ValueError(
            f"protected must hold the protected value of each row, got {protected!r}. Scorers take "
            "names of columns; a measure takes the column itself, e.g. X['sex']."
        )
    if not isinstance(protected, np.ndarray):  # keeps None distinct from text, unlike NumPy
        protected = pd.DataFrame(protected).to_numpy() if np.ndim(protected) > 1 else protected
        protected = protected if isinstance(protected, np.ndarray) else pd.Series(protected)
    if getattr(protected, "ndim", 1) == 2:
        return [(f"protected_{j}", pd.Series(protected[:, j])) for j in range(protected.shape[1])]
    return [("protected", pd.Series(protected))]


def as_numbers(protected):
    """Return a numeric protected column as floats; None if its values are groups."""
    columns = protected_columns(protected)
    values = columns[0][1]
    if len(columns) > 1 or not pd.api.types.is_numeric_dtype(values.dtype):
        return None
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype == bool:
        return None
    return values.to_numpy(dtype=float) if values.nunique() > NUMERIC_FROM else None


def _codes(values):
    """Return the code of each row, MISSING without a value, and the sorted values."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.cat.codes.to_numpy().astype(np.int64), list(values.cat.categories)
    if pd.api.types.is_integer_dtype(values.dtype) and isinstance(values.dtype, np.dtype):
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 1000)
        if high - low < 1000:  # a few small integers need no hashing
            integers = values.to_numpy()  # unsigned ones may not fit in int64, nor gaps in int8
            integers = integers if integers.dtype.kind == "u" else integers.astype(np.int64)
            shifted = (integers - integers.dtype.type(low)).astype(np.int64)
            present = np.bincount(shifted, minlength=high - low + 1) > 0
            return (np.cumsum(present) - 1)[shifted], [
                i + low for i in np.flatnonzero(present).tolist()
            ]
    code, labels = factorized(values, f"The protected column {values.name!r}")
    labels = labels.tolist()
    ordered = in_order(labels)
    rank_of = {label: rank for rank, label in enumerate(ordered)}
    rank = np.array([*(rank_of[label] for label in labels), MISSING], dtype=np.int64)
    return rank[code], ordered


def _with_missing(name, code, labels):
    """Make missing values a group of their own."""
    if not np.any(code == MISSING):
        return name, code, labels
    return name, np.where(code == MISSING, len(labels), code), [*labels, float("nan")]


def group_cells(columns, intersections, present=slice(None), missing="category"):
    """Return the cell of each row, and the groups of every column and combination of columns.

    `columns`: per protected column, the position of each row's label. `intersections`: largest
    number of columns that are combined. `present`: rows without missing values; with
    ``missing="drop"`` only their cells are made. `missing`: one of "category", "drop", "raise".
    """
    if not 1 <= intersections <= len(columns):
        raise ValueError(
            f"intersections must lie between 1 and the {len(columns)} protected column(s), got "
            f"{intersections!r}. Intersections need several columns, e.g. X[['sex', 'race']]."
        )
    if len(columns) == 1:
        name, code, labels = columns[0]
        return code, [(name, labels, np.eye(len(labels), dtype=bool))]
    shape = [len(labels) for _, _, labels in columns]
    if 0 in shape:
        raise ValueError(f"The protected column {columns[shape.index(0)][0]!r} has no known value.")
    flat = np.ravel_multi_index([np.maximum(code, 0) for _, code, _ in columns], shape)
    cells, cell = _distinct(flat[present] if missing == "drop" else flat, math.prod(shape))
    if missing == "drop":
        full = np.zeros(len(flat), dtype=np.int64)
        full[present] = cell
        cell = full
    parts = np.array(np.unravel_index(cells, shape))
    chosen = (c for r in range(1, intersections + 1) for c in combinations(range(len(shape)), r))
    return cell, [_grouping(columns, list(c), parts) for c in chosen]


def _distinct(codes, n):
    """Return the distinct ones of codes below n in order, and the position of each among them."""
    if n > len(codes):
        return np.unique(codes, return_inverse=True)
    occurs = np.bincount(codes, minlength=n) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def _grouping(columns, chosen, parts):
    """Return attribute, labels and members of the groups of one combination of columns."""
    name = " & ".join(columns[j][0] for j in chosen)
    if len(chosen) == 1:
        labels = columns[chosen[0]][2]
        return name, labels, parts[chosen[0]] == np.arange(len(labels))[:, None]
    combos, index = np.unique(parts[chosen], axis=1, return_inverse=True)
    labels = [tuple(columns[j][2][c] for j, c in zip(chosen, k, strict=True)) for k in combos.T]
    return name, labels, index.ravel() == np.arange(len(labels))[:, None]


def _compare(attribute, labels, members, size, total, reference, min_size, min_cell):
    """Return the comparisons of one grouping."""
    n, nobody = members @ size, np.zeros(len(size), dtype=bool)
    if isinstance(reference, dict):
        parts = tuple(reference.get(part) for part in attribute.split(" & "))
        reference = reference.get(attribute, parts if len(parts) > 1 else parts[0])
    if pd.api.types.is_scalar(reference) and pd.isna(reference):
        reference = next((g for g in labels if pd.api.types.is_scalar(g) and pd.isna(g)), np.nan)
    is_absent = reference not in labels and reference not in RULES
    if is_absent and (not isinstance(reference, tuple) or None in reference):
        raise ValueError(f"reference={reference!r} is not a group of {attribute!r}: {labels!r}")
    if is_absent or np.count_nonzero(n) < 2:  # such a combination does not occur
        alone = zip(labels, members, strict=True)
        return [ComparedGroups(attribute, g, None, m, nobody) for g, m in alone]
    present = members.any(axis=0)
    if reference not in labels and reference in ("rest", "overall"):
        overlap = reference == "overall"
        pairs = zip(labels, members, strict=True)
        return [ComparedGroups(attribute, g, reference, m, present & ~m, overlap) for g, m in pairs]
    if reference not in labels and reference == "pairs":
        order = np.argsort(-n, kind="stable")
        chosen = [(i, j) for k, j in enumerate(order) for i in order[k + 1 :]]
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            large = may_be_best(n, min_size, min_cell)
            rate = np.where(large, (members @ total) / n, -np.inf)
            rank = {"largest": np.round(n / n.sum(), 12), "best": np.nan_to_num(rate, nan=-np.inf)}
        is_group = reference in labels
        base = labels.index(reference) if is_group else int(np.argmax(rank[reference]))
        chosen = [(i, base) for i in range(len(labels)) if i != base]
    return [
        ComparedGroups(attribute, labels[i], labels[j], members[i], members[j]) for i, j in chosen
    ]
