"""Scales: numeric columns of one dtype, which are decoded together."""

import numpy as np


class Scales:
    """Numeric columns of the same NumPy dtype, which are decoded together."""

    def __init__(self, columns, dtype):
        scale = [(c.low, c.high, c.step) for c in columns]
        whole = dtype.kind in "iu"
        self.dtype, self.work = dtype, np.int64 if whole else _exact(np.array(scale, float), dtype)
        self.may_exceed = not whole and any(isinstance(c.low + c.step, float) for c in columns)
        self.low, self.high, self.step = np.array(scale, self.work).T[..., None]

    @classmethod
    def of(cls, columns):
        """Return the `Scales` of columns, or None if they are not numbers of the same dtype.

        None is also returned for numbers above 2 ** 53, which floats cannot represent exactly.
        """
        dtypes = {c.dtype if c.kind == "numeric" and c.is_plain else None for c in columns}
        dtype = dtypes.pop() if len(dtypes) == 1 else None
        small = all(max(abs(c.low), abs(c.high)) <= 2**53 for c in columns)
        return cls(columns, dtype) if dtype is not None and dtype.kind in "iuf" and small else None

    def decode(self, codes):
        """Return the values of codes >= 0, shape (n_rows, n_columns)."""
        x = codes.T.astype(self.work, order="C")
        x *= self.step
        x += self.low
        if self.may_exceed:
            np.minimum(x, self.high, out=x)  # rounding can exceed the bound
        return x.astype(self.dtype, copy=False).T


def _exact(scale, dtype):
    """Return the float dtype for computing values: their own if it is exact, otherwise float64."""
    low, high, step = scale.T
    largest = np.max([-low, high, high - low, step])
    is_exact = (scale == np.rint(scale)).all() and largest <= 2 ** (np.finfo(dtype).nmant + 1)
    return dtype if is_exact else np.dtype(float)
