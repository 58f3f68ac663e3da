"""Redrawn: rows whose protected columns are drawn anew, given all other columns."""

import warnings

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from skdisc._blackbox._default_models import default_model, small_boosting

N_BINS, RARE, N_FOLDS = 10, 10, 5  # bins of a numeric column, rows of a class of its own, folds
N_STEPS = 200  # of the likeliest mixture, which converges in a few


class Redrawn:
    """The distribution of the protected columns given all others, learned out of fold.

    The columns are drawn one after the other, each given all others and those drawn before it, so
    their joint distribution stays. Each is drawn from a mixture of its marginal distribution, a
    logistic regression and boosted trees, with the weights that are likeliest out of fold: where
    neither model predicts the column, drawing is permuting.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    protected : list of column names
        Those among the columns of X are redrawn.
    weight : ndarray of shape (n_rows,), optional
        Sample weights, which are given like another column.
    random_state : int, default=0
        Seed of the folds.
    """

    def __init__(self, X, protected, weight=None, random_state=0):
        self.X = X
        names = sorted((c for c in protected if c in X), key=lambda c: X[c].nunique())
        others = [X[c] for c in X if c not in names]
        others += [] if weight is None else [pd.Series(weight, X.index)]
        self._others = [c for c in others if c.nunique(dropna=False) > 1]
        self._laws = []
        for i, name in enumerate(names):
            features = _table([*self._others, *(X[c] for c in names[:i])], X.index)
            self._laws.append(_ColumnLaw(X[name], features, random_state))

    def draw(self, random_state):
        """Return the rows with their protected columns drawn anew.

        Parameters
        ----------
        random_state : int or sequence of int

        Returns
        -------
        DataFrame of shape (n_rows, n_columns)
        """
        rng, rows, drawn = np.random.default_rng(random_state), self.X.copy(), []
        for law in self._laws:
            features = _table([*self._others, *drawn], rows.index) if drawn else None
            drawn.append(law.draw(features, rng))
            rows[drawn[-1].name] = drawn[-1]
        return rows


class _ColumnLaw:
    """The distribution of one column given features; its values are those of rows of a class."""

    def __init__(self, values, features, seed):
        self.values, classes = values, _classes(values)
        self._members = [np.flatnonzero(classes == c) for c in range(classes.max(initial=0) + 1)]
        self._shares = np.bincount(classes) / max(len(classes), 1)
        self._folds = []
        n_folds = min(N_FOLDS, len(values)) if len(self._members) > 1 and features.shape[1] else 0
        if n_folds > 1:
            for rest, at in KFold(n_folds, shuffle=True, random_state=seed).split(features):
                self._folds.append((at, _fitted(features.iloc[rest], classes[rest])))
        parts = self._parts(features)
        self._weights = _mixture(parts[:, np.arange(len(classes)), classes])
        self._learned = self._mixed(parts)

    def draw(self, features, rng):
        """Return the column drawn given features; None stands for those of the rows learned."""
        of_class = self._learned if features is None else self._mixed(self._parts(features))
        upper = of_class.cumsum(axis=1)
        drawn = (upper < rng.random(len(upper))[:, None] * upper[:, -1:]).sum(axis=1)
        donor = np.empty(len(drawn), dtype=np.intp)
        for c, members in enumerate(self._members):
            here = np.flatnonzero(drawn == c)
            donor[here] = rng.choice(members, len(here))
        return self.values.iloc[donor].set_axis(self.values.index)

    def _mixed(self, parts):
        return np.einsum("m,mnc->nc", self._weights, parts)

    def _parts(self, features):
        """Return the probabilities of the classes by each part, shape (n_parts, n, n_classes)."""
        n, k = len(features), len(self._members)
        parts = np.zeros((3 if self._folds else 1, n, k))
        parts[0] = self._shares
        for at, models in self._folds:
            rows = features.iloc[at]
            for part, model in zip(parts[1:], models, strict=True):
                part[np.ix_(at, model.classes_)] = model.predict_proba(rows)
        return parts


def _table(columns, index):
    """Return columns as a DataFrame, with names that every model accepts."""
    table = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=index)
    return table.set_axis([f"x{j}" for j in range(len(columns))], axis=1)


def _fitted(features, classes):
    """Return the models of the classes, fitted."""
    models = [default_model("logistic"), small_boosting()]
    if np.ptp(classes) == 0:
        models = [DummyClassifier()] * len(models)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a mixture needs no exact optimum
        return [model.fit(features, classes) for model in models]


def _classes(values):
    """Return the class of each value: itself, its bin, or one class of all rare ones."""
    numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if numeric and values.nunique() > N_BINS:
        values = pd.qcut(
            values.astype(float).rank(pct=True), N_BINS, labels=False, duplicates="drop"
        )
    codes = pd.factorize(values, use_na_sentinel=False)[0]
    rare = np.bincount(codes)[codes] < RARE
    return pd.factorize(np.where(rare, -1, codes))[0]


def _mixture(likelihood):
    """Return the likeliest weights of a mixture, given likelihoods of shape (n_parts, n)."""
    weights = np.full(len(likelihood), 1 / len(likelihood))
    for _ in range(N_STEPS):
        joint = weights[:, None] * likelihood
        weights = (joint / joint.sum(axis=0)).mean(axis=1)
    return weights
