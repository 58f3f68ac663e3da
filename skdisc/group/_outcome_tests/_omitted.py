"""A column that decision makers saw and the data lack: what it does to risks."""

import numpy as np
from scipy.special import expit, logit

from skdisc._stats._bisection import bisected

_STEPS = 60  # of bisection
_FARTHEST = 40.0  # largest logit


def risk_with_omitted(
    risk: np.ndarray,
    selection: np.ndarray,
    prevalence: float,
    on_selection: float,
    on_outcome: float,
) -> np.ndarray:
    r"""Return the risks of all, where an omitted binary column moved selection and outcome.

    The column u is 1 with probability q, whatever the other columns. It adds :math:`\alpha` to the
    log-odds of selection a, and :math:`\delta` to those of the outcome y:

    .. math::

        P(a \mid x, u) = \operatorname{expit}(\gamma_x + \alpha u), \quad
        P(y \mid x, u) = \operatorname{expit}(\beta_x + \delta u).

    :math:`\gamma_x` and :math:`\beta_x` follow from what the data show: how many are selected, and
    the risk of those selected. The risk of all is :math:`\sum_u P(u) P(y \mid x, u)`.

    `risk`: probability of the outcome of those selected. `selection`: probability of selection.
    `prevalence`: q. `on_selection` and `on_outcome`: :math:`\alpha` and :math:`\delta`, log odds
    ratios.

    References
    ----------
    P. R. Rosenbaum, D. B. Rubin: Assessing sensitivity to an unobserved binary covariate in an
    observational study with binary outcome. JRSS B 45, 1983.
    """
    chosen = np.clip(selection, 1e-6, 1 - 1e-6)
    base = _offset(chosen, np.full(len(chosen), prevalence), on_selection)
    among = prevalence * expit(base + on_selection) / chosen  # P(u = 1 | selected)
    level = _offset(np.clip(risk, 1e-9, 1 - 1e-9), np.clip(among, 0, 1), on_outcome)
    return (1 - prevalence) * expit(level) + prevalence * expit(level + on_outcome)


def _offset(mean, share, effect):
    """Return b with (1 - share) expit(b) + share expit(b + effect) = mean."""
    ends = logit(mean) - max(effect, 0.0), logit(mean) - min(effect, 0.0)

    def is_below(b):
        return ~((1 - share) * expit(b) + share * expit(b + effect) > mean)

    return np.clip(sum(bisected(is_below, *ends, _STEPS)) / 2, -_FARTHEST, _FARTHEST)
