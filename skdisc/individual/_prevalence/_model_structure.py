"""Read a fitted model column by column: what each code of a column becomes on its way in."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skdisc._space._codes import MISSING

_MOST_ROWS = 200_000  # a space with more values than this, over all columns, is not read
_CHECKED = 64


@dataclass
class Inputs:
    """What the last step of a model sees of each code.

    Attributes
    ----------
    column : ndarray of int, shape (n_features,)
        The column of the space that decides each feature of the last step; -1 if none does.
    values : list of ndarray, one of shape (n_codes, n_features) per column
        The features at each code, a missing value last; only those of the column matter.
    """

    column: np.ndarray
    values: list


def trees_of(last):
    """Return the trees of a decision tree or a forest, whose class shares are averaged, or None."""
    if isinstance(last, DecisionTreeClassifier):
        trees = [last.tree_]
    elif isinstance(last, (RandomForestClassifier, ExtraTreesClassifier)):
        trees = [tree.tree_ for tree in last.estimators_]
    else:
        return None
    return trees if last.n_outputs_ == 1 else None


def has_margin_parts(last):
    """Say whether the margin of a model between two classes is a sum of one part per feature."""
    linear = isinstance(last, LinearClassifierMixin) and hasattr(last, "coef_")
    return (linear or isinstance(last, GaussianNB)) and len(last.classes_) == 2


def margins_of(last, inputs):
    """Return the part that each code has in the margin between two classes.

    Returns
    -------
    constant : float
    parts : list of ndarray of float, one per column
        The margin is the constant plus one part per column.
    """
    if hasattr(last, "coef_"):
        parts = [v * np.ravel(last.coef_) for v in inputs.values]
        constant = float(np.ravel(last.intercept_)[0])
    else:
        two = [
            -0.5 * (np.log(var) + (v - mean) ** 2 / var)
            for v in inputs.values
            for mean, var in zip(last.theta_, last.var_, strict=True)
        ]
        parts = [b - a for a, b in zip(two[::2], two[1::2], strict=True)]
        constant = float(np.log(last.class_prior_[1]) - np.log(last.class_prior_[0]))
    constant += parts[0][0, inputs.column < 0].sum()
    return constant, [p[:, inputs.column == j].sum(axis=1) for j, p in enumerate(parts)]


def read_inputs(before, queries, space):
    """Find out what the last step sees, or return None if a feature mixes several columns."""
    sizes = [c.size + c.missing for c in space.columns]
    if sum(sizes) > _MOST_ROWS:
        return None
    starts = np.cumsum([0, *sizes])
    rows = np.zeros((starts[-1], len(space)), dtype=np.int64)
    for j, column in enumerate(space.columns):
        codes = [*range(column.size), *([MISSING] if column.missing else [])]
        rows[:, j] = codes[0]
        rows[starts[j] : starts[j + 1], j] = codes
    seen = _seen(before, queries, space, rows)
    if not np.isfinite(seen).all():
        return None
    values = [seen[a:b] for a, b in pairwise(starts)]
    moved = np.array([(v != v[0]).any(axis=0) for v in values])
    inputs = Inputs(np.where(moved.any(axis=0), moved.argmax(axis=0), -1), values)
    checked = space.sample(_CHECKED, np.random.default_rng(0))
    expected = np.where(
        inputs.column >= 0,
        np.take_along_axis(
            np.stack([v[checked[:, j]] for j, v in enumerate(values)]),
            np.maximum(inputs.column, 0)[None, None, :],
            axis=0,
        )[0],
        values[0][0],
    )
    same = np.array_equal(expected, _seen(before, queries, space, checked))
    return inputs if same and (moved.sum(axis=0) <= 1).all() else None


def _seen(before, queries, space, codes):
    """Return the features that the last step gets for rows of codes."""
    rows = queries.rows_for_model(space.decode(codes))
    if before is not None:
        rows = before.transform(rows)
    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    try:
        return rows.astype(float)
    except (TypeError, ValueError):
        return np.full((len(rows), 1), np.nan)  # names, which no last step here can take
