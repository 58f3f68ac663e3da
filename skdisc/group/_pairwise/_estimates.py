"""An estimate with the influence of each row, its interval and its test."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error.

    Parameters
    ----------
    error : float
        Standard error.
    df : float, default=inf
        Degrees of freedom of Student's t.
    most : float, default=inf
        Largest possible size.
    """

    value: float
    error: float
    df: float = np.inf
    most: float = np.inf

    def interval(self, significance: float) -> tuple[float, float]:
        """Return the two-sided interval of level 1 - `significance`."""
        half = stats.t.ppf(1 - significance / 2, self.df) * self.error
        return max(self.value - half, -self.most), min(self.value + half, self.most)

    @property
    def p_value(self) -> float:
        """Two-sided p-value of zero; 1 if value and error are 0 up to rounding."""
        if not np.isfinite(self.error):
            return 1.0
        if self.error < 1e-12:
            return float(abs(self.value) < 1e-9)
        return float(2 * stats.t.sf(abs(self.value) / self.error, self.df))

    @classmethod
    def of_influence(
        cls, value: float, influence: np.ndarray, df: float = np.inf, most: float = np.inf
    ) -> "Estimate":
        """Return the estimate whose error is minus its value the sum of independent influences.

        `influence`: what each row adds to the error of the estimate; the sum of their squares is
        its variance.
        """
        return cls(float(value), float(np.sqrt(np.sum(influence**2))), df, most)

    def varying_more(self, variance: float) -> "Estimate":
        """Return the estimate with a variance that is added to its own."""
        return replace(self, error=float(np.sqrt(self.error**2 + variance)))


def estimate_table(estimates: dict[str, Estimate], significance: float) -> pd.DataFrame:
    """Return a row per estimate: part, estimate, std_error, ci_low, ci_high, p_value."""
    rows = [
        (name, e.value, e.error, *e.interval(significance), e.p_value)
        for name, e in estimates.items()
    ]
    names = ["part", "estimate", "std_error", "ci_low", "ci_high", "p_value"]
    return pd.DataFrame(rows, columns=names)
