"""Distances between people by name, as coordinates in which neighbours are searched."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._utils._scalars import of_numbers

METRICS = ("manhattan", "gower", "euclidean", "hvdm", "propensity")


def features_of(X, names):
    """Return the columns that distances look at, ordered categories as their ranks."""
    frame = X[list(names)].copy(deep=False)
    for name in frame.columns:
        if isinstance(frame[name].dtype, pd.CategoricalDtype) and frame[name].dtype.ordered:
            codes = frame[name].cat.codes.astype(float)
            frame[name] = codes.where(codes >= 0)
    return frame


class Distances:
    """Coordinates of people, and the metric between them.

    Parameters
    ----------
    metric : {"manhattan", "gower", "euclidean", "hvdm", "propensity"} or callable
        A callable gets two frames of features, and returns the matrix of distances.
    frame : DataFrame
        Where ranges, categories, and what a metric learns come from.
    scale : {"range", "std"}
    unfavourable : ndarray of float, shape (n,)
    is_control : ndarray of bool, shape (n,)

    Attributes
    ----------
    name : str or callable
        What `NeighborSums` takes as its metric.
    nominal : ndarray of bool
        The coordinates that stand for categories.
    """

    def __init__(self, metric, frame, scale, unfavourable, is_control):
        self.metric, self.frames = metric, []
        self.name = {"manhattan": "cityblock", "propensity": "cityblock"}.get(metric, "euclidean")
        self.nominal = None
        if callable(metric):
            self.name = self._called
            return
        if metric == "gower":
            self.name, self._units = self._over_known, [_unit(frame[c], scale) for c in frame]
            return
        self.space = MixedSpace(frame, "std" if metric == "hvdm" else scale)
        if metric == "manhattan":
            self.nominal = self.space.nominal
        elif metric == "hvdm":
            self._shares = _shares(frame, self.space, unfavourable)
        elif metric == "propensity":
            points = self.space.encode(frame)
            self._model = LogisticRegression(max_iter=1000).fit(points, is_control)

    def encode(self, X):
        """Return the coordinates of the rows of X, shape (n, n_coordinates)."""
        if callable(self.metric):
            start = sum(map(len, self.frames))
            self.frames.append(X.reset_index(drop=True))
            return np.arange(start, start + len(X))[:, None].astype(float)
        if self.metric == "gower":
            return self._values_and_known(X)
        points = self.space.encode(X)
        if self.metric == "euclidean":  # a mismatch moves two coordinates by 1/2
            return points * np.where(self.space.nominal, np.sqrt(2), 1.0)
        if self.metric == "hvdm":
            return self._heterogeneous(X, points)
        if self.metric == "propensity":
            return self._model.decision_function(points)[:, None]
        return points

    def _heterogeneous(self, X, points):
        numbers = points[:, ~self.space.nominal] / 4
        looked_up = [X[name].map(shares) for name, shares in self._shares.items()]
        named = [np.sqrt(2) * s.astype(float).fillna(0.5).to_numpy()[:, None] for s in looked_up]
        return np.hstack([numbers, *named])

    def _values_and_known(self, X):
        """Return a number per column, and whether it is known."""
        values = [
            X[name].to_numpy(dtype=float, na_value=np.nan) / unit
            if isinstance(unit, float)
            else np.where(X[name].isna(), np.nan, unit.get_indexer(X[name]))
            for name, unit in zip(X.columns, self._units, strict=True)
        ]
        values = np.column_stack(values)
        known = ~np.isnan(values)
        return np.hstack([np.where(known, values, 0.0), known])

    def _over_known(self, points, pool):
        """Return p times the mean of the distances in those of p columns that both know."""
        p, total, n_known = len(self._units), 0.0, 0.0
        for j, unit in enumerate(self._units):
            both = points[:, p + j, None] * pool[:, p + j]
            gap = np.abs(points[:, j, None] - pool[:, j])
            total = total + both * (gap if isinstance(unit, float) else gap > 0)
            n_known = n_known + both
        return np.where(n_known > 0, p * total / np.maximum(n_known, 1.0), np.inf)

    def _called(self, points, pool):
        rows = pd.concat(self.frames, ignore_index=True)
        a, b = (rows.iloc[p[:, 0].astype(int)] for p in (points, pool))
        return self.metric(a, b)


def _unit(column, scale):
    """Return the unit of a column of numbers, the categories of another; what is missing aside."""
    if not of_numbers(column.dtype):
        return pd.Index(column.dropna().unique())
    values = column.dropna().to_numpy(dtype=float)
    unit = (np.ptp(values) if scale == "range" else values.std()) if len(values) else 0.0
    return float(unit) if unit > 0 else np.inf


def _shares(frame, space, unfavourable):
    """Return by nominal column the share of unfavourable decisions of each value."""
    shares = {}
    for name, known in zip(frame.columns, space.columns, strict=True):
        if not isinstance(known, float):
            shares[name] = pd.Series(unfavourable).groupby(frame[name].to_numpy()).mean()
    return shares
