"""Redrawn: rows whose protected columns are drawn anew, given all other columns."""

import math
import warnings

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from skdisc._blackbox._default_models import default_model, small_boosting

N_BINS, RARE = 10, 10  # bins of a numeric column, rows of a class of its own
_MANY = 50_000  # rows of which two folds are enough
_MOST_KNOWN = 5_000_000  # probabilities kept
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
        rows = self.X.copy()
        for name, donor in self.donors(random_state).items():
            rows[name] = self.X[name].iloc[donor].set_axis(rows.index)
        return rows

    def donors(self, random_state):
        """Return, by protected column, the row from which each row's value is drawn.

        Parameters
        ----------
        random_state : int or sequence of int

        Returns
        -------
        dict of column name to ndarray of int, shape (n_rows,)
        """
        rng, donors = np.random.default_rng(random_state), []
        for law in self._laws:
            of_class = self._given(law, donors) if donors else law.learned
            donors.append(law.draw(of_class, rng))
        return {law.values.name: d for law, d in zip(self._laws, donors, strict=True)}

    def _given(self, law, donors):
        """Return the probabilities of the classes of a law, given the columns drawn before it.

        Where these have few values, probabilities given each of them are computed once.
        """
        before = self._laws[: len(donors)]
        n_values = math.prod(len(b.firsts) for b in before)
        if n_values * law.learned.size > _MOST_KNOWN:
            return law.mixed(self._features(before, donors))
        key = np.zeros(len(self.X), dtype=np.intp)
        for b, donor in zip(before, donors, strict=True):
            key = key * len(b.firsts) + b.codes[donor]
        of_class = np.empty_like(law.learned)
        for k in np.unique(key):
            if k not in law.known:
                at = np.unravel_index(k, [len(b.firsts) for b in before])
                alike = [np.full(len(key), b.firsts[i]) for b, i in zip(before, at, strict=True)]
                law.known[k] = law.mixed(self._features(before, alike))
            here = key == k
            of_class[here] = law.known[k][here]
        return of_class

    def _features(self, before, donors):
        """Return the features of a law: other columns, and those drawn, from rows of donors."""
        index = self.X.index
        drawn = [b.values.iloc[d].set_axis(index) for b, d in zip(before, donors, strict=True)]
        return _table([*self._others, *drawn], index)


class _ColumnLaw:
    """The distribution of one column given features; its values are those of rows of a class.

    Attributes
    ----------
    codes, firsts : ndarray of int
        The values as numbers, and the first row with each of them.
    learned : ndarray of float, shape (n_rows, n_classes)
        Probabilities given the features learned from.
    known : dict of int to ndarray
        Probabilities given values of the columns drawn before.
    """

    def __init__(self, values, features, seed):
        self.values, self.known, classes = values, {}, _classes(values)
        self.codes = pd.factorize(values, use_na_sentinel=False)[0]
        self.firsts = np.unique(self.codes, return_index=True)[1]
        self._members = [np.flatnonzero(classes == c) for c in range(classes.max(initial=0) + 1)]
        self._shares = np.bincount(classes) / max(len(classes), 1)
        self._folds = []
        n_folds = n_folds_of(len(values)) if len(self._members) > 1 and features.shape[1] else 0
        if n_folds > 1:
            for rest, at in KFold(n_folds, shuffle=True, random_state=seed).split(features):
                self._folds.append((at, _fitted(features.iloc[rest], classes[rest])))
        parts = self._parts(features)
        self._weights = _mixture(parts[:, np.arange(len(classes)), classes])
        self.learned = np.einsum("m,mnc->nc", self._weights, parts)

    def draw(self, of_class, rng):
        """Return, for each row, that from which its value is drawn, given the probabilities."""
        upper = of_class.cumsum(axis=1)
        drawn = (upper < rng.random(len(upper))[:, None] * upper[:, -1:]).sum(axis=1)
        donor = np.empty(len(drawn), dtype=np.intp)
        for c, members in enumerate(self._members):
            here = np.flatnonzero(drawn == c)
            donor[here] = rng.choice(members, len(here))
        return donor

    def mixed(self, features):
        """Return the probabilities of the classes, shape (n_rows, n_classes)."""
        return np.einsum("m,mnc->nc", self._weights, self._parts(features))

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


def n_folds_of(n_rows):
    """Return the number of folds out of which models are learned: five, or two of many rows."""
    return min(5 if n_rows < _MANY else 2, n_rows)


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
