"""SituationFeatures: how the nearest rows of the own group and of the others were decided."""

from typing import Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._neighbors._neighbor_sums import NeighborSums
from skdisc._utils import _validation as check
from skdisc._utils._favorable import favorable_labels
from skdisc._utils._inputs import check_order
from skdisc._utils._settings import AT_LEAST_ONE, HasSettings, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, Columns, FrameLike, Labels
from skdisc.preprocessing._rows import (
    FIT,
    NAMES_OUT,
    PROTECTED,
    TRANSFORM,
    frame_of,
    groups_of,
    like,
    named,
)

_NAMES = ("situation_own", "situation_others", "situation_difference")


class SituationFeatures(HasSettings, TransformerMixin, BaseEstimator):
    """Describe each row by the decisions about its nearest rows, as a situation test does.

    The columns are the share of favorable decisions among the nearest rows of the own protected
    group, among the nearest rows of the other groups, and the second minus the first. Distances are
    Manhattan over the columns that are not protected, numbers divided by their range.

    {parameters}

    Attributes
    ----------
    groups_ : list of tuple
        The values of each group.
    rate_ : float
        The share of favorable decisions among all rows; it stands for that of an empty pool.

    Notes
    -----
    `fit_transform` leaves each row out of its own neighbors, so that its decision does not describe
    itself; `transform` takes rows as new ones. They differ for the rows of `fit`.

    References
    ----------
    B. L. Thanh, S. Ruggieri, F. Turini: k-NN as an implementation of situation testing for
    discrimination discovery and prevention. KDD 2011. https://doi.org/10.1145/2020408.2020488

    Examples
    --------
    >>> X = pd.DataFrame({"sex": list("ffmm"), "points": [1, 2, 1, 2]})
    >>> features = SituationFeatures("sex", n_neighbors=1)
    >>> features.fit_transform(X, [0, 0, 1, 1])["situation_difference"].tolist()
    [1.0, 1.0, -1.0, -1.0]
    """

    protected: Columns | None = PROTECTED
    n_neighbors: int = setting(
        10,
        [AT_LEAST_ONE],
        "At most all rows of a pool are neighbors. Rows as far away as the last share its place.",
    )
    pos_label: Labels | None = setting(
        None,
        "no_validation",
        "The favorable labels; None: 1 or True.",
        kind="label or collection of labels",
    )

    @with_sections(FIT)
    def fit(self, X: FrameLike, y: ArrayLike) -> Self:
        """Keep the rows and their decisions.

        Raises
        ------
        ValueError
            If no protected column is given, no other column is left, values are missing, or there
            is one decision only.
        """
        self._validate_params()
        frame = self._complete(X, reset=True)
        if y is None:
            raise ValueError("SituationFeatures requires y to be passed, but the target y is None.")
        check_order(X=X, y=y)
        y = check.check_labels(y, len(frame))
        chosen, _ = favorable_labels(self.pos_label, check.check_decisions(y))
        self._favorable = check.is_favorable(y, chosen).astype(float)
        self._protected = named(self.protected, frame)
        self._group, self.groups_ = groups_of(frame[self._protected])
        free = frame.drop(columns=self._protected)
        if not free.shape[1]:
            raise ValueError(
                "People are compared on the columns that are not protected, and X has none "
                f"(n_features = {frame.shape[1]})."
            )
        self._space = MixedSpace(free)
        self._points = self._encoded(frame)
        self.rate_ = float(self._favorable.mean())
        return self

    def _complete(self, X, reset):
        """Return X as a frame without missing values."""
        frame = frame_of(self, X, reset=reset)
        has_missing = frame.isna().any()
        if has_missing.any():
            raise ValueError(
                f"Input X contains NaN: columns {list(frame.columns[has_missing])!r}, for which no "
                "distance is defined. Put an imputer before."
            )
        return frame

    def _encoded(self, frame):
        return self._space.encode(frame.drop(columns=self._protected))

    @with_sections(FIT)
    def fit_transform(self, X: FrameLike, y: ArrayLike) -> FrameLike:
        """Fit to the rows, and describe each by the others.

        Returns
        -------
        DataFrame or ndarray of shape (n_samples, 3)

        Raises
        ------
        ValueError
            As in `fit`.
        """
        self.fit(X, y)
        return self._described(self._points, self._group, True, X)

    @with_sections(TRANSFORM)
    def transform(self, X: FrameLike) -> FrameLike:
        """Describe new rows.

        Returns
        -------
        DataFrame or ndarray of shape (n_samples, 3)
            A frame for a frame.

        Raises
        ------
        ValueError
            If X has other columns than at fit, or values are missing.
        """
        check_is_fitted(self, "rate_")
        frame = self._complete(X, reset=False)
        number, values = groups_of(frame[self._protected])
        position = {v: i for i, v in enumerate(self.groups_)}
        group = np.array([position.get(v, len(position) + i) for i, v in enumerate(values)])
        return self._described(self._encoded(frame), group[number], False, X)

    def _described(self, points, group, is_own, X):
        """Return the columns of rows; `is_own`: the rows are the rows of fit."""
        group_share, share_of_others = np.empty(len(points)), np.empty(len(points))
        for g in np.unique(group):
            rows, pool = np.flatnonzero(group == g), self._group == g
            without = np.arange(len(rows)) if is_own else None
            group_share[rows] = self._share(points[rows], pool, without)
            share_of_others[rows] = self._share(points[rows], ~pool, None)
        table = dict(
            zip(_NAMES, (group_share, share_of_others, share_of_others - group_share), strict=True)
        )
        return like(pd.DataFrame(table), X)

    def _share(self, points, pool, places_in_pool):
        """Return the share of favorable decisions among the nearest rows of a pool."""
        k = min(self.n_neighbors, int(pool.sum()) - (places_in_pool is not None))
        if k < 1:
            return np.full(len(points), self.rate_)
        neighbors = NeighborSums(self._points[pool], self._favorable[pool, None])
        sums, weight = neighbors.query(points, [k], row_of_point=places_in_pool)
        return sums[:, 0, 0] / weight[:, 0]

    @with_sections(NAMES_OUT)
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the three columns.

        Returns
        -------
        ndarray of str, shape (3,)
        """
        check_is_fitted(self, "rate_")
        return np.array(_NAMES, dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.non_deterministic = True  # fit_transform leaves a row out of its own neighbors
        return tags
