"""Linear and logistic regressions whose coefficients know the influence of each row."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import expit

_RANK = 1e-10  # singular values, relative to the largest, that count as zero
_RIDGE = 1e-8  # of a logistic regression, in people
_STEPS, _FARTHEST = 100, 30.0


@dataclass(frozen=True)
class Coefficients:
    """Coefficients with what each row adds to their errors.

    `rows`, of shape (n_rows, n_terms): row i of the design times its residual; their sum times
    `bread` is the error. `bread`, of shape (n_terms, n_terms): maps sums of `rows` to coefficients.
    """

    values: np.ndarray
    rows: np.ndarray
    bread: np.ndarray

    def along(self, direction: np.ndarray) -> np.ndarray:
        """Return the influences, shape (n_rows,), on a linear combination of the coefficients."""
        return self.rows @ (self.bread.T @ direction)

    def mapped(self, T: np.ndarray) -> "Coefficients":
        """Return the coefficients T @ values."""
        return Coefficients(T @ self.values, self.rows, T @ self.bread)

    def mixed(self, coefficients: "Coefficients", share: float) -> "Coefficients":
        """Return share times these coefficients plus the rest of the other's, of other rows."""
        rows = np.hstack([self.rows, coefficients.rows])
        bread = np.hstack([share * self.bread, (1 - share) * coefficients.bread])
        return Coefficients(share * self.values + (1 - share) * coefficients.values, rows, bread)


def least_squares(D: np.ndarray, y: np.ndarray, used: np.ndarray | None = None) -> Coefficients:
    """Fit by least squares, with the influences of HC2 variances.

    `D`, of shape (n_rows, n_terms): with a column of ones. Redundant terms share a coefficient of
    least norm. `used`: the rows that are fitted; the others have no influence.
    """
    used = np.ones(len(y), bool) if used is None else used
    design, target = D[used], y[used]
    left, size, right = linalg.svd(design, full_matrices=False)
    is_nonzero = size > _RANK * size[0]
    left, right = left[:, is_nonzero], right[is_nonzero] / size[is_nonzero][:, None]
    values = right.T @ (left.T @ target)
    residual = (target - design @ values) / np.sqrt(np.maximum(1 - (left**2).sum(axis=1), 0.05))
    rows = np.zeros(D.shape)
    rows[used] = design * residual[:, None]
    return Coefficients(values, rows, right.T @ right)


def logistic(D: np.ndarray, y: np.ndarray, used: np.ndarray | None = None) -> Coefficients:
    """Fit a logistic regression by Newton's method, with a tiny ridge for separated outcomes.

    `D`, of shape (n_rows, n_terms): with a column of ones. `y`: 0 and 1.
    """
    used = np.ones(len(y), bool) if used is None else used
    design, target = D[used], y[used]
    ridge = _RIDGE * max(len(target), 1) * np.eye(D.shape[1])
    values = np.zeros(D.shape[1])
    for _ in range(_STEPS):
        p = expit(np.clip(design @ values, -_FARTHEST, _FARTHEST))
        bread = np.linalg.inv((design * (p * (1 - p))[:, None]).T @ design + ridge)
        step = bread @ (design.T @ (target - p) - ridge @ values)
        step /= max(1.0, np.abs(design @ step).max(initial=0) / 5)
        values = values + step
        if np.abs(design @ step).max(initial=0) < 1e-9:
            break
    p = expit(design @ values)
    rows = np.zeros(D.shape)
    rows[used] = design * (target - p)[:, None]
    return Coefficients(values, rows, bread)
