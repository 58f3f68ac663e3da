"""Request and People: what a caller passed, and the rows that were read from it."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from skdisc._utils._sample_weight import check_weights


@dataclass(frozen=True)
class Request:
    """What a caller passed to `fit`, `audit` or `score`, unchanged."""

    X: object = None
    y: object = None
    model: object = None
    sample_weight: object = None

    def without_weightless(self):
        """Return the request without the rows of weight 0, and a mask of the rows that stay."""
        weight = check_weights(self.sample_weight, _num_samples(self.X))
        counts = weight > 0
        if counts.all():
            return replace(self, sample_weight=weight), counts
        at = np.flatnonzero(counts)
        y = None if self.y is None else _safe_indexing(self.y, at)
        rows = {"X": _safe_indexing(self.X, at), "y": y, "sample_weight": weight[at]}
        return replace(self, **rows), counts


@dataclass(frozen=True)
class People:
    """The rows under audit, read and checked once.

    Parameters
    ----------
    X : DataFrame or None
        None when a `FeatureSpace` alone was passed.
    y : ndarray of shape (n_rows,) or None
    weight : ndarray of float, shape (n_rows,), or None
        Sample weights as passed.
    stay : ndarray of bool, shape (n_passed,), or None
        Which of the rows that were passed are among these.
    n_dropped : int
        Number of rows left out because a protected value is missing.
    """

    X: pd.DataFrame | None = None
    y: np.ndarray | None = None
    weight: np.ndarray | None = None
    stay: np.ndarray | None = None
    n_dropped: int = 0

    def only(self, stay):
        """Return the rows where a mask is True; the others are counted as dropped."""
        if stay.all():
            return replace(self, stay=stay)
        y, weight = (None if a is None else a[stay] for a in (self.y, self.weight))
        X = self.X[stay].reset_index(drop=True)
        return People(X, y, weight, stay, int((~stay).sum()))
