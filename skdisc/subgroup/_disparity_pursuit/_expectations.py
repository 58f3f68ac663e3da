"""Expectations of outcomes and protected parts given the legitimate columns, out of fold."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse import linalg
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingRegressor

from skdisc._blackbox._training import SMALL_TREES, threads_for
from skdisc._utils._frequency import deal, evenly
from skdisc._utils._types import Estimator
from skdisc.subgroup._disparity_pursuit._adjustment import (
    MANY_VALUES,
    MainEffects,
    Residuals,
    inflation_of,
)
from skdisc.subgroup._estimation._clusters import split

_MANY = 20_000  # rows from which trees may be large, and fewer folds are enough
_FOLDS, _FOLDS_OF_MANY, _FOLDS_OF_CHECK = 5, 3, 2
_REPEATS, _SMALL = 2, 1000  # folds are drawn so often below so many rows
_MOST_CATEGORIES = 255
_MOST_ROWS = 100_000  # rows that boosted trees learn from
_LARGE = {"max_iter": 40, "max_leaf_nodes": 31, "learning_rate": 0.15}
_CHECK = {  # in half of the time; they overfit less, where next to nothing is left to learn
    "max_iter": 20,
    "max_leaf_nodes": 16,
    "learning_rate": 0.2,
    "min_samples_leaf": 100,
}


def adjust(
    rows: Any,
    is_part: np.ndarray,
    space: Any,
    columns: Sequence[Hashable] | None,
    nuisance: Any,
    rng: np.random.Generator,
    folds: list | None = None,
    single: Sequence[Sequence[int]] = (),
) -> Residuals:
    """Adjust outcomes and memberships in protected parts for the legitimate columns.

    Parameters
    ----------
    rows : Counted or Summed
        Rows with one outcome each.
    is_part : ndarray of bool, shape (n_parts, n_rows)
    space : FeatureSpace
    columns : sequence of column names, or None
        The legitimate columns; None: candidates are centered in their own contexts instead.
    nuisance : {"auto", "additive", "boosting"} or estimator
    rng : numpy Generator
    folds : list of ndarray of bool, default=None
        Those of `in_folds`; None: drawn here, for rows of one person each.
    single : sequence of sequence of int, default=()
        Of each protected column that "auto" asks about, the parts that are conditions on it alone.

    Returns
    -------
    Residuals
    """
    y = rows.tree_target.astype(float)
    root, people = np.sqrt(rows.mass), rows.frequency
    cluster = None
    if rows.cluster is not None:
        cluster = np.unique(rows.cluster, return_inverse=True)[1]
    planes = np.vstack([y[None], is_part]).astype(float)
    if not len(y):
        return Residuals(y, planes[1:], root, root, None, "none", y, cluster, people=people)
    X = rows.X[list(columns or [])]
    effects = MainEffects(X, space, root, people)
    given = root, inflation_of(effects, people), effects
    if not columns:
        left = effects.residual(planes * root)
        centered = columns is None
        about = y * root, cluster, centered
        return Residuals(left[0], left[1:], *given, "none", *about, people=people)
    kind, notes, first, expected = nuisance, [], None, None
    if folds is None:
        rows, folds = in_folds(rows, nuisance, rng)
    if kind == "auto":
        about = np.vstack([y[None], *_coded(planes, single, effects, root)])
        kind, notes, first = _chosen(about, X, space, rows, folds, effects)
    if kind != "additive":
        is_boosting = kind == "boosting"
        learner = _trees(X, space, rows) if is_boosting else learner_of(kind, X, planes)
        planes -= _expected(learner, planes, folds, first)
        expected = y - planes[0]
    planes *= root
    left = effects.residual(planes)
    name = kind if isinstance(kind, str) else type(kind).__name__
    about = y * root, cluster, False, notes, people, expected
    return Residuals(left[0], left[1:], *given, name, *about)


def _coded(planes, single, effects, root):
    """Return each protected column as a number, by how its values fare at equal main effects."""
    left = effects.residual(planes * root)
    slope = left @ left[0] / np.maximum((left**2).sum(axis=1), 1e-300)
    return [(slope[1:][own] @ planes[1:][own])[None] for own in single]


def _chosen(planes, X, space, rows, folds, effects):
    """Return what predicts best, notes, and the outcomes that trees predict.

    "boosting" if trees are better than main effects by more than a standard error, else "additive".
    They are asked about the outcome, and then about each protected column: if columns interact
    strongly in who is protected, and too weakly in the outcome for trees to see, main effects leave
    what looks like a disparity.
    """
    if not folds or np.ptp(planes[0]) == 0:
        return "additive", [], None
    learners = _additive(effects, np.sqrt(rows.mass)), _trees(X, space, rows)
    notes, outcome = [], None
    for i, plane in enumerate(planes):
        predicted = [out_of_fold(learn, plane[None], folds)[0] for learn in learners]
        is_better, shares = _compared(plane, predicted, rows)
        outcome = outcome if i else predicted[1]
        if np.isfinite(shares).all() and (is_better or not i):
            notes = [
                f"Legitimate columns: main effects explain {100 * shares[0]:.3g} % of the variance "
                f"of {'a protected column' if i else 'the outcome'} out of fold, boosted trees "
                f"{100 * shares[1]:.3g} %; nuisance='auto' took "
                f"'{'boosting' if is_better else 'additive'}'."
            ]
        if is_better:
            return "boosting", notes, outcome
    return "additive", notes, outcome


def _compared(y, predicted, rows):
    """Return whether the second prediction is better, and what share of the variance each explains.

    It is better if its squared errors are smaller by more than a standard error.
    """
    loss = [(y - own) ** 2 for own in predicted]
    weight, better = rows.mass, loss[0] - loss[1]
    better = better if rows.weight is None else better * rows.weight
    if rows.cluster is not None:
        better = np.bincount(np.unique(rows.cluster, return_inverse=True)[1], better)
    mean, error = _mean_and_error(better, rows.frequency)
    size = max(weight @ (y - weight @ y / weight.sum()) ** 2, 1e-300)
    return mean > error, [1 - (weight @ part) / size for part in loss]


def _mean_and_error(values, frequency):
    """Return the mean over people, and its standard error; infinite for one person."""
    n = len(values) if frequency is None else int(frequency.sum())
    mean = np.average(values, weights=frequency)
    spread = np.sqrt(np.average((values - mean) ** 2, weights=frequency))
    return mean, spread / np.sqrt(n) if n > 1 else np.inf


def in_folds(rows: Any, nuisance: Any, rng: np.random.Generator) -> tuple[Any, list]:
    """Return rows, and the folds in which expectations of them are learned.

    The people of a row of many are dealt into the folds at random, as people in rows of their own
    are, and the row is divided accordingly: in whole rows, who have one outcome, none would learn
    from people like them with the other outcome only.

    Parameters
    ----------
    rows : Counted or Summed
    nuisance : {"auto", "additive", "boosting"} or estimator
    rng : numpy Generator

    Returns
    -------
    rows : Counted or Summed
    folds : list of ndarray of bool, shape (n_rows,)
        The rows that are predicted in each; empty if nothing is learned out of fold.
    """
    if isinstance(nuisance, str) and nuisance == "additive":
        return rows, []
    at, people, folds = _folds(rows, _REPEATS if rows.n < _SMALL else 1, rng)
    return (rows if people is None else replace(rows.at(at), frequency=people)), folds


def _folds(rows, n_repeats, rng, of_many=_FOLDS_OF_MANY):
    """Return masks of the rows that are predicted, each of a fold; clusters stay whole.

    Before them, the positions of the rows, and the people of each (None: 1) in the folds. No masks
    if all rows are in one cluster.
    """
    at, people = np.arange(len(rows)), rows.frequency
    n_units = rows.n if rows.cluster is None else len(np.unique(rows.cluster))
    n_folds = min(_FOLDS if rows.n < _MANY else of_many, n_units)
    if n_folds < 2:
        return at, people, []
    if people is not None:
        return _dealt(people, n_folds, n_repeats, rng)
    found = []
    for _ in range(n_repeats):
        ends = np.arange(1, n_folds + 1) / n_folds
        seed = int(rng.integers(2**31))
        before = np.zeros(len(rows), dtype=bool)
        for end in ends:
            upto = split(rows, end, np.random.default_rng(seed))
            found.append(upto & ~before)
            before = upto
    return at, None, found


def _dealt(people, n_folds, n_repeats, rng):
    """Return the positions of the rows, the people of each, and folds into which they are dealt."""
    at, found = np.arange(len(people)), []
    for _ in range(n_repeats):
        hands = deal(people, n_folds, rng).T
        row, fold = np.nonzero(hands)
        at, people = at[row], hands[row, fold]
        found = [mask[row] for mask in found] + [fold == k for k in range(n_folds)]
    return at, people, found


def _expected(learn, planes, folds, known=None):
    """Return out-of-fold predictions; of a part and all others, only one is learned.

    The first plane is not learned if its predictions are ``known``.
    """
    at, turned = np.arange(len(planes)), np.zeros(len(planes), dtype=bool)
    first = {}
    for i, plane in enumerate(planes[1:].astype(bool), 1):
        other = first.get((~plane).tobytes())
        if other is None:
            first.setdefault(plane.tobytes(), i)
        else:
            at[i], turned[i] = other, True
    learned = np.unique(at[0 if known is None else 1 :])
    found = np.empty(planes.shape)
    found[learned] = out_of_fold(learn, planes[learned], folds)
    if known is not None:
        found[0] = known
    return np.where(turned[:, None], 1 - found[at], found[at])


def out_of_fold(learn, planes, folds):
    """Return the mean prediction of each plane for each row by learners that did not see it."""
    total, times = np.zeros(planes.shape), np.zeros(planes.shape[1])
    for out in folds:
        total[:, out] += learn(planes, ~out, out)
        times[out] += 1
    return total / np.maximum(times, 1)


def _additive(effects, root):
    """Return a learner of main effects."""
    design = effects.design

    def learn(planes, rest, out):
        scaled = design[rest]
        gram = scaled.T @ scaled
        least = 1e-6 * max(gram.trace() / gram.shape[0], 1e-12)
        moments = scaled.T @ (planes[:, rest] * root[rest]).T
        return (design[out] @ _solved(gram, least, moments)).T / root[out]

    return learn


def _solved(gram, least, moments):
    """Return slopes: moments divided by a gram matrix to whose diagonal a number is added."""
    if gram.shape[0] > MANY_VALUES:
        gram = sparse.csc_matrix(gram + least * sparse.eye_array(gram.shape[0]))
        return linalg.splu(gram, permc_spec="MMD_AT_PLUS_A").solve(moments)
    gram = gram.toarray()
    gram.flat[:: len(gram) + 1] += least
    return np.linalg.solve(gram, moments)


def _trees(X, space, rows, large=_LARGE):
    """Return a learner of boosted trees; categories stay categories."""
    weight, people = rows.weight, rows.frequency
    table, categorical = [], []
    for name in X:
        column = space[name]
        is_numeric = column.kind == "numeric"
        x = X[name].to_numpy(float, na_value=np.nan) if is_numeric else column.encode(X[name]) + 0.0
        if not is_numeric:
            x[x < 0] = np.nan
        table.append(x)
        categorical.append(not is_numeric and len(column.values) <= _MOST_CATEGORIES)
    table = np.column_stack(table)

    def learn(planes, rest, out):
        at = np.flatnonzero(rest)
        at = at[evenly(np.ones(len(at), int) if people is None else people[at], _MOST_ROWS)]
        own = None if weight is None else weight[at]
        size = large if rows.n >= _MANY else {}
        settings = SMALL_TREES | size | {"categorical_features": categorical}
        found = np.empty((len(planes), int(out.sum())))
        with threads_for(len(at)):
            for plane, mean in zip(planes, found, strict=True):
                trees = HistGradientBoostingRegressor(**settings)
                mean[:] = trees.fit(table[at], plane[at], own).predict(table[out])
        return found

    return learn


def unexplained(
    residuals: Residuals,
    X: pd.DataFrame,
    space: Any,
    rows: Any,
    planes: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return how much of residual planes trees predict from the legitimate columns, out of fold.

    Parameters
    ----------
    residuals : Residuals
    X : DataFrame of the legitimate columns
    space : FeatureSpace
    rows : Counted or Summed
    planes : ndarray of float, shape (n, n_rows)
    rng : numpy Generator

    Returns
    -------
    ndarray of float, shape (n,)
        Out-of-fold R squared, less one standard error.
    """
    at, people, folds = _folds(rows, 1, rng, _FOLDS_OF_CHECK)
    planes = (planes / residuals.root)[:, at]
    if people is not None:
        rows, X = replace(rows.at(at), frequency=people), X.iloc[at]
    predicted = out_of_fold(_trees(X, space, rows, _CHECK), planes, folds)
    gain = (residuals.root / residuals.share)[at] ** 2 * (planes**2 - (planes - predicted) ** 2)
    found = np.array([_mean_and_error(own, people) for own in gain])
    size = np.average(planes**2, axis=1, weights=people)
    return (found[:, 0] - found[:, 1]) / np.maximum(size, 1e-300)


def learner_of(estimator: Estimator, X: pd.DataFrame, planes: np.ndarray) -> Callable:
    """Return a learner of clones of an estimator, for `out_of_fold`.

    Parameters
    ----------
    estimator : estimator
        A classifier predicts by ``predict_proba``.
    X : DataFrame of the legitimate columns
    planes : ndarray of float, shape (n_planes, n_rows)
        What it will learn.

    Returns
    -------
    callable
        ``learn(planes, rest, out)`` returns predictions, shape (n_planes, n_out).

    Raises
    ------
    ValueError
        If a classifier is to learn numbers, or has no ``predict_proba``; from the learner, if the
        estimator raises an error or does not predict one finite number per row.
    """
    name, decides = type(estimator).__name__, is_classifier(estimator)
    if decides and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"nuisance={name} is a classifier without predict_proba; expectations are "
            "probabilities. Use one that has it, or a regressor."
        )
    if decides and not np.isin(planes, (0.0, 1.0)).all():
        raise ValueError(
            f"nuisance={name} is a classifier, but the outcomes are numbers other than 0 and 1. "
            "Use a regressor."
        )

    def mean(plane, rest, out):
        target = plane[rest]
        if decides and np.ptp(target) == 0:
            return np.full(int(out.sum()), target[0])
        if not decides:
            return clone(estimator).fit(X[rest], target).predict(X[out])
        return clone(estimator).fit(X[rest], target.astype(int)).predict_proba(X[out])[:, 1]

    def learn(planes, rest, out):
        found = np.empty((len(planes), int(out.sum())))
        for plane, row in zip(planes, found, strict=True):
            try:
                row[:] = np.asarray(mean(plane, rest, out), dtype=float).reshape(len(row))
            except Exception as error:
                raise ValueError(
                    f"nuisance={name} failed on the legitimate columns {list(X)!r}, which it gets "
                    f"as a DataFrame of raw values: {error}. Encode them in a Pipeline."
                ) from error
        if not np.isfinite(found).all():
            raise ValueError(f"nuisance={name} predicts NaN or infinite values.")
        return found

    return learn
