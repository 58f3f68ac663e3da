"""Distances between rows by name, as coordinates in which neighbors are searched."""

from copy import copy

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from skdisc._neighbors._mixed_space import MixedSpace, unit_of
from skdisc._utils._inputs import refuse_huge
from skdisc._utils._validation import of_numbers

METRICS = ("manhattan", "gower", "euclidean", "hvdm", "propensity")


def features_of(X, names):
    """Return the columns that enter distances, ordered categories as their ranks.

    Raise ValueError if a number is too large for a distance.
    """
    frame = X[list(names)].copy(deep=False)
    refuse_huge(frame)
    for name in frame.columns:
        if isinstance(frame[name].dtype, pd.CategoricalDtype) and frame[name].dtype.ordered:
            codes = frame[name].cat.codes.astype(float)
            frame[name] = codes.where(codes >= 0)
    return frame


class Distances:
    """Coordinates of rows, and the metric between coordinates; nothing changes after `__init__`.

    Parameters
    ----------
    metric : {"manhattan", "gower", "euclidean", "hvdm", "propensity"} or callable
        A callable takes two DataFrames of features, and returns the matrix of distances.
    frame : DataFrame
        The rows from which ranges and categories are learned, and the model of "propensity".
    scale : {"range", "std"} or None

    Attributes
    ----------
    metric : str or callable
        The metric between coordinates, as `NearestSearch` takes it.
    nominal : ndarray of bool, or None
        The coordinates that are indicators of categories.
    """

    def __init__(self, metric, frame, scale, unfavorable, is_control):
        self.setting, self.nominal, self._frames = metric, None, ()
        self.metric = {"manhattan": "cityblock", "propensity": "cityblock"}.get(metric, "euclidean")
        if callable(metric):
            self.metric = self._call
            return
        if metric == "gower":
            self.metric, self._units = self._over_known, [_unit(frame[c], scale) for c in frame]
            return
        self.space = MixedSpace(frame, "std" if metric == "hvdm" else scale)
        if metric in ("manhattan", "euclidean"):
            self.nominal = self.space.nominal
        elif metric == "hvdm":
            self._shares = _shares(frame, self.space, unfavorable)
        elif metric == "propensity":
            points = self.space.encode(frame)
            self._model = LogisticRegression(max_iter=1000).fit(points, is_control)

    def with_rows(self, X):
        """Return distances that cover the rows of X, and the coordinates of these rows.

        A callable metric takes rows, not coordinates: its coordinates are the positions of rows in
        the frames covered so far. Every other metric covers all rows.

        Parameters
        ----------
        X : DataFrame, the features of rows

        Returns
        -------
        distances : Distances
        points : ndarray of float, shape (n, n_coordinates)
        """
        if not callable(self.setting):
            return self, self.encode(X)
        distances, start = copy(self), sum(map(len, self._frames))
        distances._frames, distances.metric = (*self._frames, X), distances._call
        return distances, np.arange(start, start + len(X))[:, None].astype(float)

    def encode(self, X):
        """Return the coordinates of the rows of X under a metric given by name."""
        if self.setting == "gower":
            return self._values_and_known(X)
        points = self.space.encode(X)
        if self.setting == "euclidean":  # a mismatch changes two coordinates by 1/2
            return points * np.where(self.space.nominal, np.sqrt(2), 1.0)
        if self.setting == "hvdm":
            return self._heterogeneous(X, points)
        if self.setting == "propensity":
            return self._model.decision_function(points)[:, None]
        return points

    def _heterogeneous(self, X, points):
        """Return the coordinates of the heterogeneous value difference metric."""
        numbers = points[:, ~self.space.nominal] / 4
        looked_up = [X[name].map(shares) for name, shares in self._shares.items()]
        named = [np.sqrt(2) * s.astype(float).fillna(0.5).to_numpy()[:, None] for s in looked_up]
        return np.hstack([numbers, *named])

    def _values_and_known(self, X):
        """Return a number per column, and indicators of whether it is known."""
        values = [
            X[name].to_numpy(dtype=float, na_value=np.nan) / unit
            if isinstance(unit, float)
            else np.where(X[name].isna(), np.nan, unit.get_indexer(X[name]))
            for name, unit in zip(X.columns, self._units, strict=True)
        ]
        values = np.column_stack(values)
        is_known = ~np.isnan(values)
        return np.hstack([np.where(is_known, values, 0.0), is_known])

    def _over_known(self, points, pool):
        """Return p times the mean distance over the columns, of p, that both rows know."""
        p, total, n_known = len(self._units), 0.0, 0.0
        for j, unit in enumerate(self._units):
            are_known = points[:, p + j, None] * pool[:, p + j]
            gap = np.abs(points[:, j, None] - pool[:, j])
            total = total + are_known * (gap if isinstance(unit, float) else gap > 0)
            n_known = n_known + are_known
        return np.where(n_known > 0, p * total / np.maximum(n_known, 1.0), np.inf)

    def _call(self, points, pool):
        """Return the distances of the callable between rows given by position."""
        rows = pd.concat(self._frames, ignore_index=True)
        a, b = (rows.iloc[p[:, 0].astype(int)] for p in (points, pool))
        distances, shape = np.asarray(self.setting(a, b)), (len(a), len(b))
        if distances.shape != shape or distances.dtype.kind not in "fiub":
            raise ValueError(
                f"metric= must return the distances of {shape[0]} rows from {shape[1]} others, "
                f"an array of numbers of shape {shape}; it returned one of {distances.dtype} of "
                f"shape {distances.shape}."
            )
        return distances


def _unit(column, scale):
    """Return the unit of a numeric column, or the categories of another; missing values aside."""
    if not of_numbers(column.dtype):
        return pd.Index(column.dropna().unique())
    return unit_of(column.dropna().to_numpy(dtype=float), scale)


def _shares(frame, space, unfavorable):
    """Return the share of unfavorable decisions of each value, by nominal column."""
    shares = {}
    for name, levels in zip(frame.columns, space.columns, strict=True):
        if not isinstance(levels, float):
            shares[name] = pd.Series(unfavorable).groupby(frame[name].to_numpy()).mean()
    return shares
