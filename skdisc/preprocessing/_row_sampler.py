"""RowSampler: imbalanced-learn's base class, for rows of any type."""

from typing import Self

import numpy as np
import pandas as pd
from imblearn.base import BaseSampler
from imblearn.utils import check_target_type
from sklearn.utils.validation import check_consistent_length

from skdisc._utils import _validation as check
from skdisc._utils._inputs import check_order
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, FrameLike
from skdisc.preprocessing._rows import FIT, frame_of


class RowSampler(BaseSampler):
    """Base of the samplers: rows are text, booleans and numbers, and values may be missing.

    A subclass has the method ``_resampled(X, frame, y)``, which gets X as an array or a frame, and
    as a frame, and returns rows and labels.
    """

    _sampling_type, sampling_strategy = "bypass", "auto"

    def _check_X_y(self, X, y):  # noqa: N802 - named by imbalanced-learn
        check_order(X=X, y=y)
        y, is_one_hot = check_target_type(y, indicate_one_vs_all=True)
        self._frame = frame_of(self, _dense(X))
        check_consistent_length(self._frame, y)
        return X if hasattr(X, "iloc") else np.asarray(X), check.check_labels(y), is_one_hot

    def _fit_resample(self, X, y):
        rows, labels = self._resampled(X, self.__dict__.pop("_frame"), y)
        if hasattr(rows, "iloc"):
            self._rows = rows = rows.reset_index(drop=True)
        return rows, labels

    @with_sections(FIT)
    def fit(self, X: FrameLike, y: ArrayLike) -> Self:
        """Resample the rows and keep the fitted attributes only; `fit_resample` returns the rows.

        Raises
        ------
        TypeError, ValueError
            As in `fit_resample`.
        """
        self.fit_resample(X, y)
        return self

    @with_sections(FIT)
    def fit_resample(self, X: FrameLike, y: ArrayLike) -> tuple[FrameLike, ArrayLike]:
        """Return the resampled rows and their labels, with a new index.

        Returns
        -------
        X_resampled : DataFrame or ndarray of shape (n_samples_new, n_features)
        y_resampled : Series or ndarray of shape (n_samples_new,)

        Raises
        ------
        TypeError, ValueError
            If a setting or a column does not fit, or y has the index of X in another order.
        """
        X, y = (v.to_pandas() if hasattr(v, "to_pandas") else v for v in (X, y))
        if np.ndim(y) == 1:
            check.check_labels(y)
        with np.errstate(invalid="ignore"):  # of labels beyond those of integers
            rows, labels = super().fit_resample(X, y)
        # imbalanced-learn casts a frame to the types of X, which cuts numbers off in columns of
        # integers: the frame as it was made is returned.
        return self.__dict__.pop("_rows", rows), labels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.allow_nan = False, True
        tags.input_tags.string = True
        tags.sampler_tags.sample_indices = True
        return tags


def _dense(X):
    """Return a frame without sparse columns; anything else as it is."""
    sparse = [c for c, d in getattr(X, "dtypes", {}).items() if isinstance(d, pd.SparseDtype)]
    return X.astype({c: X[c].dtype.subtype for c in sparse}) if sparse else X
