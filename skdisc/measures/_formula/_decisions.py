"""Who is compared with whom, and one table of counts behind every measure."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_array


def check_people(y_true, y_pred, protected, **how):
    """Return the `Decisions` of `check_decisions`, refusing those about nobody."""
    if y_pred is not None and not len(y_pred):
        raise ValueError("y_pred is empty: there is nobody to compare.")
    return check_decisions(y_true, y_pred, protected, **how)


RULES = ("largest", "best", "rest", "overall", "pairs")
MISSING = ("category", "drop", "raise")
NUMERIC_FROM = 20  # a protected column with more distinct numbers than this is a number


@dataclass(frozen=True)
class GroupContrast:
    """A group, what it is compared with, and which cells of the table belong to each.

    Attributes
    ----------
    attribute : str, name of the protected column or columns
    group, reference : value or tuple of values; "rest", "overall"; None where there is nobody
    one, other : ndarray of bool, shape (n_cells,); disjoint
    overlap : bool, whether the reference is everyone, the group itself included
    """

    attribute: str
    group: object
    reference: object
    one: np.ndarray
    other: np.ndarray
    overlap: bool = False


@dataclass(frozen=True)
class Decisions:
    """The rows that are measured.

    Attributes
    ----------
    cell : ndarray of int, shape (n,); the combination of protected values of each row
    groupings : list of (attribute, labels, members); members has shape (n_groups, n_cells)
    pred, true : ndarray of bool or float, shape (n,); `true` may be None
    weight : ndarray of float, shape (n,), or None
    stratum : ndarray of int, shape (n,), or None
    kept : ndarray of int, the position of each row in what was handed in
    """

    cell: np.ndarray
    groupings: list
    pred: np.ndarray
    true: np.ndarray | None
    weight: np.ndarray | None
    stratum: np.ndarray | None
    kept: np.ndarray

    @property
    def is_numeric(self):
        """Whether decisions or labels are numbers and no classes."""
        return self.pred.dtype != bool or (self.true is not None and self.true.dtype != bool)

    @property
    def n_cells(self):
        return self.groupings[0][2].shape[1]

    @cached_property
    def counts(self):
        """Rows per stratum, cell, decision and label: one pass, shape (n_strata, n_cells, 2, 2)."""
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
        """Sum of decisions (favourable ones, or numbers) of each cell, shape (n_cells,)."""
        if self.pred.dtype == bool:
            return self.counts[:, :, 1].sum(axis=(0, 2))
        values = self.pred if self.weight is None else self.pred * self.weight
        return np.bincount(self.cell, weights=values, minlength=self.n_cells)

    def at(self, mask):
        """Return some of the rows."""
        parts = (self.pred, self.true, self.weight, self.stratum, self.kept)
        pred, true, weight, stratum, kept = (None if p is None else p[mask] for p in parts)
        return Decisions(self.cell[mask], self.groupings, pred, true, weight, stratum, kept)

    def comparisons(self, reference, min_size=0):
        """Return every `GroupContrast` under a rule of `RULES`, or against a group.

        A group smaller than `min_size` is never the best one.
        """
        found = []
        for grouping in self.groupings:
            found += _compare(*grouping, self.size, self.total, reference, min_size)
        return found


def check_decisions(
    y_true, y_pred, protected, *, pos_label, sample_weight, intersections, missing, strata=None
):
    """Check what a user hands in and return `Decisions`."""
    if y_pred is None:
        raise ValueError(
            "y_pred is None. It holds the decisions to be measured; historical decisions are "
            "measured as y_pred, with y_true=None."
        )
    if missing not in MISSING:
        raise ValueError(f"missing must be one of {MISSING}, got {missing!r}")
    pred = check_target(y_pred, pos_label, "y_pred", y_true)
    true = None if y_true is None else check_target(y_true, pos_label, "y_true", y_pred)
    columns = [(name, *_codes(values)) for name, values in protected_columns(protected)]
    weight = None if sample_weight is None else check_weight(sample_weight)
    given = [p for p in (pred, true, weight, strata, *(c[1] for c in columns)) if p is not None]
    check_consistent_length(*given)
    present = np.logical_and.reduce([code >= 0 for _, code, _ in columns])
    if missing == "raise" and not present.all():
        raise ValueError(
            f"{int((~present).sum())} rows have a missing value in protected. missing='category' "
            "makes it a group of its own, missing='drop' leaves the rows out."
        )
    if missing == "category":
        columns = [_with_missing(*column) for column in columns]
    cell, groupings = _group(columns, intersections, present, missing)
    rows = Decisions(cell, groupings, pred, true, weight, strata, np.arange(len(pred)))
    return rows.at(present) if missing == "drop" and not present.all() else rows


def check_target(y, pos_label, what, beside=None):
    """Return favourable decisions as a bool array, or numbers as floats.

    Fractions are numbers, as is all without `pos_label`; else it must occur, here or `beside`.
    """
    y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"{what} must have one dimension, got shape {y.shape}")
    if pd.isna(y).any():
        raise ValueError(f"{what} has missing values; drop these rows, or fill them in")
    if pos_label is None or (y.dtype.kind == "f" and np.any(y % 1)):
        return check_array(y, dtype=float, ensure_2d=False, ensure_min_samples=0, input_name=what)
    several = isinstance(pos_label, (list, tuple, set, frozenset, np.ndarray))
    favourable = np.isin(y, list(pos_label)) if several else np.asarray(y == pos_label, dtype=bool)
    if y.dtype == bool and pos_label is True:
        favourable = y
    if not favourable.any() and not several:
        classes = pd.unique(y).tolist()
        known = () if beside is None else pd.unique(np.asarray(beside)).tolist()
        coded = set(classes) <= {0, 1, -1} and pos_label in (0, 1, -1)
        if not coded and pos_label not in known:
            raise ValueError(
                f"pos_label={pos_label!r} never occurs in {what}, whose values are "
                f"{classes[:5]!r}. Pass the favourable one, or pos_label=None for numbers."
            )
    return favourable


def check_weight(sample_weight):
    """Return weights as floats, none of them negative."""
    weight = np.asarray(sample_weight, dtype=float)
    if weight.ndim != 1 or not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError("sample_weight must be one finite weight of at least 0 per row")
    return weight


def protected_columns(protected):
    """Return the protected columns as a list of names and 1-d values."""
    if hasattr(protected, "to_pandas"):
        protected = protected.to_pandas()
    if isinstance(protected, pd.DataFrame):
        return [(str(name), protected[name]) for name in protected.columns]
    if isinstance(protected, pd.Series):
        return [(str(protected.name or "protected"), protected)]
    if isinstance(protected, pd.Categorical):
        return [("protected", pd.Series(protected))]
    if isinstance(protected, str) or np.ndim(protected) == 0:
        raise ValueError(
            f"protected must hold the protected value of each row, got {protected!r}. Names of "
            "columns are for scorers; a measure takes the column itself, as X['sex']."
        )
    if not isinstance(protected, np.ndarray):  # keeps None and text apart, as NumPy would not
        protected = pd.DataFrame(protected).to_numpy() if np.ndim(protected) > 1 else protected
        protected = protected if isinstance(protected, np.ndarray) else pd.Series(protected)
    if getattr(protected, "ndim", 1) == 2:
        return [(f"protected_{j}", pd.Series(protected[:, j])) for j in range(protected.shape[1])]
    return [("protected", pd.Series(protected))]


def as_numbers(protected):
    """Return a protected column that is a number as floats; None where it stands for groups."""
    columns = protected_columns(protected)
    values = columns[0][1]
    if len(columns) > 1 or not pd.api.types.is_numeric_dtype(values.dtype):
        return None
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype == bool:
        return None
    return values.to_numpy(dtype=float) if values.nunique() > NUMERIC_FROM else None


def _codes(values):
    """Return the code of each row, -1 where missing, and the values in order."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.cat.codes.to_numpy().astype(np.int64), list(values.cat.categories)
    if pd.api.types.is_integer_dtype(values.dtype) and isinstance(values.dtype, np.dtype):
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 1000)
        if high - low < 1000:  # a few small integers need no hashing
            shifted = values.to_numpy() - low
            present = np.bincount(shifted, minlength=high - low + 1) > 0
            return (np.cumsum(present) - 1)[shifted], (np.flatnonzero(present) + low).tolist()
    code, labels = pd.factorize(values)
    labels = labels.tolist()
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:
        order = sorted(range(len(labels)), key=lambda i: str(labels[i]))
    rank = np.empty(len(labels) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(labels)), -1
    return rank[code], [labels[i] for i in order]


def _with_missing(name, code, labels):
    if code.min(initial=0) >= 0:
        return name, code, labels
    return name, np.where(code < 0, len(labels), code), [*labels, float("nan")]


def _group(columns, intersections, present, missing):
    """Return the cell of each row, and the groups of every column and combination of columns."""
    if not 1 <= intersections <= len(columns):
        raise ValueError(
            f"intersections must lie between 1 and the {len(columns)} protected column(s), got "
            f"{intersections!r}. Intersections need several columns, as X[['sex', 'race']]."
        )
    if len(columns) == 1:
        name, code, labels = columns[0]
        return code, [(name, labels, np.eye(len(labels), dtype=bool))]
    shape = [len(labels) for _, _, labels in columns]
    flat = np.ravel_multi_index([np.maximum(code, 0) for _, code, _ in columns], shape)
    cells, cell = np.unique(flat[present] if missing == "drop" else flat, return_inverse=True)
    if missing == "drop":
        full = np.zeros(len(flat), dtype=np.int64)
        full[present] = cell
        cell = full
    parts = np.array(np.unravel_index(cells, shape))
    chosen = (c for r in range(1, intersections + 1) for c in combinations(range(len(shape)), r))
    return cell, [_grouping(columns, list(c), parts) for c in chosen]


def _grouping(columns, chosen, parts):
    name = " & ".join(columns[j][0] for j in chosen)
    if len(chosen) == 1:
        labels = columns[chosen[0]][2]
        return name, labels, parts[chosen[0]] == np.arange(len(labels))[:, None]
    combos, index = np.unique(parts[chosen], axis=1, return_inverse=True)
    labels = [tuple(columns[j][2][c] for j, c in zip(chosen, k, strict=True)) for k in combos.T]
    return name, labels, index.ravel() == np.arange(len(labels))[:, None]


def _compare(attribute, labels, members, size, total, reference, min_size):
    """Return the comparisons of one grouping."""
    n, nobody = members @ size, np.zeros(len(size), dtype=bool)
    if isinstance(reference, dict):
        parts = tuple(reference.get(part) for part in attribute.split(" & "))
        reference = reference.get(attribute, parts if len(parts) > 1 else parts[0])
    is_nobody = reference not in labels and reference not in RULES
    if is_nobody and (not isinstance(reference, tuple) or None in reference):
        raise ValueError(f"reference={reference!r} is no group of {attribute!r}: {labels!r}")
    if is_nobody or np.count_nonzero(n) < 2:  # of a combination that does not occur here
        alone = zip(labels, members, strict=True)
        return [GroupContrast(attribute, g, None, m, nobody) for g, m in alone]
    everyone = members.any(axis=0)
    if reference not in labels and reference in ("rest", "overall"):
        overlap = reference == "overall"
        pairs = zip(labels, members, strict=True)
        return [GroupContrast(attribute, g, reference, m, everyone & ~m, overlap) for g, m in pairs]
    if reference not in labels and reference == "pairs":
        order = np.argsort(-n, kind="stable")
        chosen = [(i, j) for k, j in enumerate(order) for i in order[k + 1 :]]
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(n >= min_size, (members @ total) / n, -np.inf)
            rank = {"largest": n, "best": np.nan_to_num(rate, nan=-np.inf)}
        known = reference in labels
        base = labels.index(reference) if known else int(np.argmax(rank[reference]))
        chosen = [(i, base) for i in range(len(labels)) if i != base]
    return [
        GroupContrast(attribute, labels[i], labels[j], members[i], members[j]) for i, j in chosen
    ]
