"""The gap of decisions at equal risk, and its error with the risk learned again."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from skdisc._task._cross_fitting import folds_of
from skdisc.group._pairwise._estimates import Estimate

N_PARTS = 20  # of the jackknife
_PEOPLE_A_KNOT, _MOST_KNOTS = 50, 20
_CLIP = 1e-3  # smallest risk whose logit counts


def gap_at_equal_risk(decision: np.ndarray, inside: np.ndarray, risk: np.ndarray) -> float:
    """Return the group's coefficient in a regression of decisions on group and risk.

    Returns a float: NaN if risk determines the group.
    """
    curve = _pieces(logit(np.clip(risk, _CLIP, 1 - _CLIP)))
    # Frisch, Waugh and Lovell: the coefficient of the group is the slope on what the curve leaves.
    group = inside - curve @ np.linalg.lstsq(curve, inside.astype(float), rcond=None)[0]
    size = group @ group
    return float(group @ decision / size) if size > 1e-9 * len(group) else np.nan


def _pieces(x):
    """Return the columns of a continuous curve that is linear between quantiles of x."""
    n_knots = int(np.clip(len(x) // _PEOPLE_A_KNOT, 1, _MOST_KNOTS))
    knots = np.unique(np.quantile(x, np.linspace(0, 1, n_knots + 2)[1:-1]))
    return np.column_stack([np.ones(len(x)), x, np.maximum(x[:, None] - knots, 0)])


@dataclass(frozen=True)
class RiskRegression:
    """People, and how their risk is learned.

    `outcome`: read where it is known. `learned`: returns the risk of some rows (an index), learned
    from those with known outcomes.
    """

    decision: np.ndarray
    outcome: np.ndarray
    inside: np.ndarray
    learned: Callable

    def estimate(self, rng: np.random.Generator) -> tuple[Estimate, np.ndarray]:
        """Return the gap at equal risk with its error, and the risks.

        The error comes from a jackknife over parts of the people, which learns the risk again
        without each: with the risk taken as known, it would be a sixth to two thirds of this.
        """
        everyone = np.arange(len(self.decision))
        risk = self.learned(everyone)
        part = folds_of(self.inside, min(N_PARTS, len(risk)), rng)  # balanced in nothing learned
        without = np.array([self._gap_of(everyone[part != k]) for k in np.unique(part)])
        m = len(without)
        error = np.sqrt((m - 1) / m * np.sum((without - without.mean()) ** 2))
        value = gap_at_equal_risk(self.decision, self.inside, risk)
        return Estimate(value, float(error), m - 1), risk

    def _gap_of(self, rows):
        return gap_at_equal_risk(self.decision[rows], self.inside[rows], self.learned(rows))
