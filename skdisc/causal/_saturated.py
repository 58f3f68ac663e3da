"""The default models of nodes: saturated in nominal parents, linear in numeric ones."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression

FEW = 4
SMALLEST_SPREAD = 1e-300


def codes_of(series, levels):
    """Return the position of each value among `levels`, or -1 for other values."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        table = np.append(levels.get_indexer(series.cat.categories), -1)
        return table[series.cat.codes.to_numpy()]
    return levels.get_indexer(series)


def _indicators(series, levels):
    """Yield the boolean indicator of each level except the first."""
    if len(levels) <= FEW and isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return (series.to_numpy() == level for level in levels[1:])  # fast for a few numbers
    codes = codes_of(series, levels)
    return (codes == j for j in range(1, len(levels)))


class Design:
    """Design matrix: 1, all products of indicators of nominal columns, and scaled numbers.

    `values`: maps the nominal columns of X to their values; all others are numeric.
    """

    def __init__(self, X, values):
        self.levels = {c: pd.Index(values[c]) for c in X.columns if c in values}
        numbers = [c for c in X.columns if c not in values]
        self.scale = {c: (X[c].mean(), X[c].std() or 1.0) for c in numbers}

    def __call__(self, X):
        """Return the design matrix of the rows of X."""
        terms = [np.ones(len(X))]
        for name, levels in self.levels.items():
            terms += [term * i for i in _indicators(X[name], levels) for term in terms]
        terms += [(X[c].to_numpy(dtype=float) - m) / s for c, (m, s) in self.scale.items()]
        return np.array(terms).T


class SaturatedRegression(RegressorMixin, BaseEstimator):
    """Least squares on a saturated design, with the minimum-norm solution.

    `values`: maps nominal columns to their values. `log`: fit the logarithm, so that effects
    multiply.
    """

    def __init__(self, values, log):
        self.values = values
        self.log = log

    def fit(self, X, y):
        """Fit by least squares."""
        self.design_ = Design(X, self.values)
        y = np.asarray(y, dtype=float)
        self.coef_ = np.linalg.lstsq(self.design_(X), np.log(y) if self.log else y, rcond=None)[0]
        return self

    def predict(self, X):
        """Return the mean of each row, or with `log` the geometric mean."""
        mean = self.design_(X) @ self.coef_
        return np.exp(mean) if self.log else mean


class SaturatedLogistic(ClassifierMixin, BaseEstimator):
    """Logistic regression on a saturated design.

    `values`: maps nominal columns to their values.
    """

    def __init__(self, values):
        self.values = values

    def fit(self, X, y):
        """Fit by penalized likelihood."""
        self.design_ = Design(X, self.values)
        self.model_ = LogisticRegression(max_iter=1000).fit(self.design_(X)[:, 1:], y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        """Return one probability per class."""
        return self.model_.predict_proba(self.design_(X)[:, 1:])


class SaturatedSpread:
    """Standard deviation of noise: gamma regression of its square with a logarithmic link.

    `values`: maps nominal columns to their values.
    """

    def __init__(self, values):
        self.values = values

    def fit(self, X, noise, n_steps=20):
        """Fit by iterated least squares."""
        self.design_ = Design(X, self.values)
        squared, design = noise**2, self.design_(X)
        least = 1e-12 * max(float(squared.mean()), SMALLEST_SPREAD)
        eta = np.full(len(squared), np.log(squared.mean() + least))
        for _ in range(n_steps):
            # The variance of a gamma is its squared mean, so that with the logarithm as link all
            # weights are 1: each step is plain least squares of the working response z.
            z = eta + np.clip((squared + least) * np.exp(-eta) - 1, -1, 50)
            self.coef_ = np.linalg.lstsq(design, z, rcond=None)[0]
            eta = design @ self.coef_
        return self

    def predict(self, X):
        """Return the standard deviation of each row."""
        return np.exp(self.design_(X) @ self.coef_ / 2)
