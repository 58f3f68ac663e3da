"""The structure of a fitted model: its trees or additive parts, and the features of each code."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skdisc._space._codes import MISSING, NO_COLUMN

_MOST_ROWS = 200_000  # a space with more values than this, over all columns, is not read
_CHECKED = 64


@dataclass
class Inputs:
    """The features that the last step of a model gets for each code of each column.

    Attributes
    ----------
    column : ndarray of int, shape (n_features,)
        The column of the space that each feature of the last step depends on, or `NO_COLUMN`.
    values : list of ndarray, one of shape (n_codes, n_features) per column
        The features of each code, a missing value last; only features of the column matter.
    """

    column: np.ndarray
    values: list


def trees_of(last):
    """Return the trees of a decision tree or forest with one output, None for other models."""
    if isinstance(last, DecisionTreeClassifier):
        trees = [last.tree_]
    elif isinstance(last, (RandomForestClassifier, ExtraTreesClassifier)):
        trees = [tree.tree_ for tree in last.estimators_]
    else:
        return None
    return trees if last.n_outputs_ == 1 else None


def has_margin_parts(last):
    """Return True if the margin of a two-class model is a sum of one part per feature."""
    linear = isinstance(last, LinearClassifierMixin) and hasattr(last, "coef_")
    return (linear or isinstance(last, GaussianNB)) and len(last.classes_) == 2


def margins_of(last, inputs):
    """Return the part of each code in the margin between two classes.

    Parameters
    ----------
    last : estimator
        See `has_margin_parts`.
    inputs : Inputs

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
    constant += parts[0][0, inputs.column == NO_COLUMN].sum()
    return constant, [p[:, inputs.column == j].sum(axis=1) for j, p in enumerate(parts)]


def read_inputs(before, queries, space):
    """Return the `Inputs` of the last step, None if a feature depends on several columns.

    `before`: the steps before the last one.
    """
    sizes = [c.size + c.missing for c in space.columns]
    if sum(sizes) > _MOST_ROWS:
        return None
    starts = np.cumsum([0, *sizes])
    rows = np.zeros((starts[-1], len(space)), dtype=np.int64)
    for j, column in enumerate(space.columns):
        codes = [*range(column.size), *([MISSING] if column.missing else [])]
        rows[:, j] = codes[0]
        rows[starts[j] : starts[j + 1], j] = codes
    features = _features_of(before, queries, space, rows)
    if not np.isfinite(features).all():
        return None
    values = [features[a:b] for a, b in pairwise(starts)]
    varies = np.array([(v != v[0]).any(axis=0) for v in values])
    inputs = Inputs(np.where(varies.any(axis=0), varies.argmax(axis=0), NO_COLUMN), values)
    checked = space.sample(_CHECKED, np.random.default_rng(0))
    expected = np.where(
        inputs.column != NO_COLUMN,
        np.take_along_axis(
            np.stack([v[checked[:, j]] for j, v in enumerate(values)]),
            np.maximum(inputs.column, 0)[None, None, :],
            axis=0,
        )[0],
        values[0][0],
    )
    is_same = np.array_equal(expected, _features_of(before, queries, space, checked))
    return inputs if is_same and (varies.sum(axis=0) <= 1).all() else None


def _features_of(earlier_steps, queries, space, codes):
    """Return the features that the last step gets for rows of codes, NaN if not numeric."""
    rows = queries.rows_for_model(space.decode(codes))
    if earlier_steps is not None:
        rows = earlier_steps.transform(rows)
    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    try:
        return rows.astype(float)
    except (TypeError, ValueError):
        return np.full((len(rows), 1), np.nan)  # text, which the last step cannot use
