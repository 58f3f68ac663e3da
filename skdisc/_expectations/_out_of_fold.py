"""Expectations out of fold: of boosted trees, or of an estimator of the user."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingRegressor

from skdisc._blackbox._training import SMALL_TREES, threads_for
from skdisc._expectations._covariates import Covariates
from skdisc._utils._frequency import deal, evenly, taken
from skdisc._utils._run_clock import go_on
from skdisc._utils._types import Estimator

MANY_PEOPLE = 20_000  # from which trees are larger, and fewer folds and one split are enough
_SPLITS, _FOLDS, _FOLDS_OF_MANY = 3, 5, 3
LARGE_TREES = {"max_iter": 40, "max_leaf_nodes": 31, "learning_rate": 0.15}
_MOST_CATEGORIES = 255
_MOST_ROWS = 100_000  # people that boosted trees learn from

Learner = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]


def n_splits_of(n_people: int) -> int:
    """Return the number of sets of folds that people are split into for trees.

    Three below 20,000: with one, the seed alone moves a z-score by .18, with three by .10.
    """
    return _SPLITS if n_people < MANY_PEOPLE else 1


def draw_folds(
    n_rows: int,
    n_splits: int,
    rng: np.random.Generator,
    *,
    people: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
) -> np.ndarray | None:
    """Draw folds of rows, with whole clusters in each.

    `people`: number of people of each row, which all are in one fold: see `deal_rows`. Returns an
    ndarray of int of shape (n_splits, n_rows): the fold of each row in each split; None if there is
    only one row, or cluster.
    """
    unit = np.arange(n_rows) if cluster is None else cluster
    n_units = int(unit.max(initial=-1)) + 1
    n_folds = min(n_folds_of(n_rows if people is None else int(people.sum())), n_units)
    if n_folds < 2:
        return None
    return np.array([(rng.permutation(n_units) % n_folds)[unit] for _ in range(n_splits)])


def n_folds_of(n_people: int) -> int:
    """Return the number of folds that people are dealt into."""
    return _FOLDS if n_people < MANY_PEOPLE else _FOLDS_OF_MANY


def out_of_fold(learn: Learner, targets: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Return the mean prediction of each target for each row by learners that did not see it.

    `learn`: ``learn(target, rows)`` returns a predictor; it takes positions of rows. The result has
    shape (n_rows, n). Shapes: `targets` (n_rows, n), `folds` (n_splits, n_rows).
    """
    total = np.zeros(targets.shape)
    for fold in folds:
        for k in range(fold.max() + 1):
            rest, out = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            for target, sums in zip(targets.T, total.T, strict=True):
                go_on("learning expectations")
                sums[out] += learn(target, rest)(out)
    return total / len(folds)


class Trees:
    """Boosted trees of squared error; categories stay categories.

    Half of the columns are drawn at each split: trees that always split by the best column hardly
    see an interaction without main effects.

    `weight`: weight of each person of a row.
    """

    def __init__(
        self,
        covariates: Covariates,
        weight: np.ndarray | None = None,
        people: np.ndarray | None = None,
    ) -> None:
        self._table, self._weight, self._people = covariates.table(), weight, people
        n = covariates.n_rows if people is None else int(people.sum())
        self.categorical = [0 < size <= _MOST_CATEGORIES for size in covariates.sizes()]
        size = LARGE_TREES if n >= MANY_PEOPLE else {}
        self._settings = SMALL_TREES | size | {"categorical_features": self.categorical}

    def __call__(self, target: np.ndarray, rows: np.ndarray) -> Callable:
        """Return a predictor of a target, learned from some rows; it takes positions of rows."""
        model = self.model(target, rows)
        if model is None:
            constant = target[rows[0]] if len(rows) else 0.0
            return lambda out: np.full(len(out), constant)

        def predict(out):
            with threads_for(len(out)):
                return model.predict(self._table[out])

        return predict

    def model(self, target: np.ndarray, rows: np.ndarray) -> Any:
        """Fit trees to the target of some rows; return None if it is constant there.

        `rows`: positions of the rows to learn from.
        """
        if not len(rows) or np.ptp(target[rows]) == 0 or not self._table.shape[1]:
            return None
        people = np.ones(len(rows), int) if self._people is None else self._people[rows]
        if people.sum() > len(rows) or len(rows) > _MOST_ROWS:
            # A row of many people is repeated for each, as leaves have a smallest number of rows;
            # of more than _MOST_ROWS people, every second, third, ... is kept.
            rows = rows[evenly(people, _MOST_ROWS)]
        weight = taken(self._weight, rows)
        trees, table = HistGradientBoostingRegressor(**self._settings), self._table[rows]
        # scikit-learn finds no bins of a column that is missing in all rows: it is a constant here
        table[:, np.isnan(table).all(axis=0)] = 0.0
        with threads_for(len(rows)):
            return trees.fit(table, target[rows], weight)


class ClonesOf:
    """Clones of an estimator of the user, which get the columns as a DataFrame of raw values.

    Parameters
    ----------
    estimator : estimator
        A classifier predicts by ``predict_proba``.
    X : DataFrame of shape (n_rows, n_columns)
    targets : ndarray of float, shape (n_rows, n)
        What they will learn.

    Raises
    ------
    ValueError
        If a classifier is to learn numbers, or has no ``predict_proba``; from a clone, if it raises
        an error or does not predict one finite number per row.
    """

    def __init__(self, estimator: Estimator, X: pd.DataFrame, targets: np.ndarray) -> None:
        self.estimator, self.X = estimator, X
        self.setting = f"nuisance={type(estimator).__name__}"
        self._decides = is_classifier(estimator)
        if self._decides and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{self.setting} is a classifier without predict_proba; expectations are "
                "probabilities. Use one that has it, or a regressor."
            )
        if self._decides and not np.isin(targets, (0.0, 1.0)).all():
            raise ValueError(
                f"{self.setting} is a classifier, but the outcomes are numbers other than 0 and 1. "
                "Use a regressor."
            )

    def __call__(self, target: np.ndarray, rows: np.ndarray) -> Callable:
        """Return a predictor of a target, learned from some rows; it takes positions of rows."""
        if self._decides and np.ptp(target[rows]) == 0:
            return lambda out: np.full(len(out), target[rows[0]])

        def learned():
            y = target[rows].astype(int) if self._decides else target[rows]
            return clone(self.estimator).fit(self.X.iloc[rows], y)

        model = self._checked(learned)
        return lambda out: self._finite(self._checked(self._predicted, model, out))

    def _predicted(self, model, out):
        X = self.X.iloc[out]
        values = model.predict_proba(X)[:, 1] if self._decides else model.predict(X)
        return np.asarray(values, dtype=float).reshape(len(out))

    def _finite(self, values):
        if not np.isfinite(values).all():
            raise ValueError(f"{self.setting} predicts NaN or infinite values.")
        return values

    def _checked(self, call, *arguments):
        try:
            return call(*arguments)
        except Exception as error:
            raise ValueError(
                f"{self.setting} failed on the legitimate columns {list(self.X)!r}, which it gets "
                f"as a DataFrame of raw values: {error}. Encode them in a Pipeline."
            ) from error


def deal_rows(
    people: np.ndarray, n_splits: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Deal the people of rows of many into folds, as people in rows of their own are.

    In folds of whole rows, whose people have one outcome, nobody would learn from people like
    them with the other outcome only.

    `people`: number of equal people of each row. Returns `rows`: the row that each piece is of;
    `folds`, of shape (n_splits, n_pieces): None if there is only one person.
    """
    n = int(people.sum())
    rows, folds, n_folds = np.arange(len(people)), [], min(n_folds_of(n), n)
    if n_folds < 2:
        return rows, people, None
    for _ in range(n_splits):
        hands = deal(people, n_folds, rng).T
        piece, fold = np.nonzero(hands)
        rows, people = rows[piece], hands[piece, fold]
        folds = [*(earlier[piece] for earlier in folds), fold]
    return rows, people, np.array(folds)
