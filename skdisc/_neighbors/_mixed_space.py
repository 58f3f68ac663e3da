"""Mixed columns as coordinates."""

import numpy as np

from skdisc._utils._inputs import as_frame, distinct_values, refuse_huge, refuse_twice
from skdisc._utils._validation import of_numbers

_SMALLEST = 1e-150  # the squares of smaller differences are 0, so that they have no deviation


class MixedSpace:
    r"""Columns as coordinates whose Manhattan distance is that of situation testing.

    .. math:: d(u, v) = \sum_j w_j d_j(u_j, v_j)

    with :math:`d_j = |u_j - v_j| / scale_j` for numbers, and for categories 1 if they differ and 0
    otherwise: indicators over 2, since a difference changes two of them by ½.

    `X`, of shape (n, n_columns): the rows from which ranges, deviations and categories are learned.
    `scale` ({"range", "std"} or None): unit of numbers; None: as they are. A constant column
    contributes 0. Raises ValueError if `scale` is unknown, or X has missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> space = MixedSpace(pd.DataFrame({"age": [20, 60], "job": ["a", "b"]}))
    >>> space.encode(pd.DataFrame({"age": [30], "job": ["b"]}))
    array([[0.75, 0.  , 0.5 ]])
    """

    def __init__(self, X, scale="range"):
        if scale not in ("range", "std", None):
            raise ValueError(f'scale must be "range", "std" or None, got {scale!r}')
        frame = _frame(X)
        if not frame.shape[1]:
            raise ValueError("X has no columns, so that rows cannot be compared.")
        self.columns = []
        for j in range(frame.shape[1]):
            column = frame.iloc[:, j]
            if not of_numbers(column.dtype):
                self.columns.append(distinct_values(column))
                continue
            values = column.to_numpy(dtype=float)
            self.columns.append(unit_of(values, scale))

    @property
    def nominal(self):
        """Mask of the coordinates that are indicators of categories, shape (n_coordinates,)."""
        sizes = [1 if isinstance(c, float) else len(c) for c in self.columns]
        kinds = [not isinstance(c, float) for c in self.columns]
        return np.repeat(np.array(kinds, dtype=bool), sizes)

    def encode(self, X):
        """Return the coordinates of rows, shape (n, n_coordinates).

        Raises ValueError if X has missing values.
        """
        frame, parts = _frame(X), []
        for j, levels in enumerate(self.columns):
            column = frame.iloc[:, j]
            if isinstance(levels, float):
                parts.append(column.to_numpy(dtype=float)[:, None] / levels)
            else:
                parts.append((column.to_numpy()[:, None] == np.asarray(levels)[None, :]) / 2)
        return np.hstack(parts).astype(float)


def unit_of(values, scale):
    """Return the unit in which numbers are compared, infinite if they are constant.

    Parameters
    ----------
    values : ndarray of float, without missing values
    scale : {"range", "std"} or None
        None: 1, so that numbers are compared as they are.
    """
    if not len(values) or np.ptp(values) < _SMALLEST:
        return np.inf
    return {"range": float(np.ptp(values)), "std": float(values.std()), None: 1.0}[scale]


def _frame(X):
    """Return X as a DataFrame without missing values."""
    frame = as_frame(as_frame(X).infer_objects())  # which finds complex numbers among objects
    refuse_twice(frame)
    refuse_huge(frame)
    has_missing = frame.isna().any()
    if has_missing.any():
        raise ValueError(
            f"columns {list(has_missing.index[has_missing])!r} of X have missing values (NaN), for "
            "which no distance is defined; impute them first"
        )
    return frame
