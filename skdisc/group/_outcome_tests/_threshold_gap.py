"""The difference of two thresholds: estimate, interval and test, from draws of the density."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from skdisc.group._outcome_tests._threshold_model import ThresholdFit, parameters

_N_DRAWS = 20_000


@dataclass(frozen=True)
class ThresholdGap:
    """Draws of both thresholds at an average place, as probabilities."""

    group: np.ndarray
    reference: np.ndarray

    @classmethod
    def of(cls, fit: ThresholdFit, df: float, rng: np.random.Generator) -> "ThresholdGap":
        """Return draws of a fit.

        `df`: degrees of freedom of Student's t: the number of places that tell how places differ,
        minus one.
        """
        root = np.linalg.cholesky(fit.covariance)
        z = rng.standard_normal((_N_DRAWS // 2, len(root)))
        z /= np.sqrt(rng.chisquare(df, size=len(z)) / df)[:, None]
        # Each draw with its mirror image, so that the draws have the mode as their mean.
        theta = parameters(fit.mode + np.concatenate([z, -z]) @ root.T)
        middle, half = theta[:, 4], theta[:, 5] / 2
        return cls(expit(middle + half), expit(middle - half))

    @cached_property
    def gap(self) -> np.ndarray:
        """Threshold of the group minus that of the reference, in increasing order."""
        return np.sort(self.group - self.reference)

    @property
    def effect(self) -> float:
        """The median of the differences."""
        return float(np.median(self.gap))

    @property
    def error(self) -> float:
        """Half of the width of the interval of one standard error."""
        low, high = np.quantile(self.gap, [0.1587, 0.8413])
        return float(high - low) / 2

    def interval(self, significance: float, margin: float = 0.0) -> tuple[float, float]:
        """Return the two-sided interval of level 1 - `significance`, wider by a margin."""
        low, high = np.quantile(self.gap, [significance / 2, 1 - significance / 2])
        return max(-1.0, float(low) - margin), min(1.0, float(high) + margin)

    def p_value(self, margin: float = 0.0) -> float:
        """Return the two-sided p-value of a difference within a margin."""
        below, above = np.sum(self.gap <= margin), np.sum(self.gap >= -margin)
        return float(min(1.0, 2 * (1 + min(below, above)) / (1 + len(self.gap))))
