"""Selection by a threshold of the risk: probabilities of what is observed, and back."""

import numpy as np
from scipy.special import expit, log_expit, log_ndtr, ndtri

_N_STEPS = 50


def cell_probabilities(
    risk: np.ndarray, separation: np.ndarray, threshold: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the logs of P(success), P(failure), P(not selected), and their gradients.

    People of two kinds give normal signals with variance 1. Who has a high signal is probably of
    the kind that succeeds; selected are those for whom this probability is above the threshold.

    `risk`: logit of the share of people who would succeed. `separation`: log of the distance
    between the means of the signals of both kinds. `threshold`: logit of the probability above
    which people are selected. Returns `slopes`, of shape (3, 3, ...): by cell, and by parameter.
    Shapes: `logs` (3, ...).
    """
    distance = np.exp(separation)
    cut, share = (threshold - risk) / distance, expit(risk)
    half = distance / 2
    kinds = ((log_expit(risk), half - cut, 1 - share), (log_expit(-risk), -half - cut, -share))
    by_separation = half + cut, cut - half
    logs, slopes = [], []
    for sign in (1, -1):  # selected, not selected
        for (log_share, u, by_risk), slope in zip(kinds, by_separation, strict=True):
            log_cdf = log_ndtr(sign * u)
            up = sign * _hazard(u, log_cdf)
            logs.append(log_share + log_cdf)
            slopes.append(np.stack([by_risk + up / distance, up * slope, -up / distance]))
    log_rest = np.logaddexp(logs[2], logs[3])
    mix = np.exp(logs[2] - log_rest)
    mixed = mix * slopes[2] + (1 - mix) * slopes[3]
    return np.stack([*logs[:2], log_rest]), np.stack([*slopes[:2], mixed])


def of_rates(
    selection: np.ndarray, success: np.ndarray, separation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the risk and the threshold that lead to some rates.

    `selection` and `success`: logits of the share of people selected, and of successes among these.
    `separation`: as in `cell_probabilities`. Returns `risk` and `threshold`: as in
    `cell_probabilities`.
    """
    half = np.exp(separation) / 2
    log_success = log_expit(selection) + log_expit(success)
    log_failure = log_expit(selection) + log_expit(-success)
    cut = half - ndtri(np.exp(log_success))  # Newton's steps go down from here: the sum is convex
    for _ in range(_N_STEPS):
        log_selected_success, log_selected_failure = log_ndtr(half - cut), log_ndtr(-half - cut)
        logs = log_success - log_selected_success, log_failure - log_selected_failure
        total = np.logaddexp(*logs)
        rates = (
            _hazard(half - cut, log_selected_success),
            _hazard(-half - cut, log_selected_failure),
        )
        step = total / sum(np.exp(v - total) * r for v, r in zip(logs, rates, strict=True))
        cut = cut - step
        if np.abs(step).max(initial=0) < 1e-13:
            break
    log_selected_success, log_selected_failure = log_ndtr(half - cut), log_ndtr(-half - cut)
    risk = (log_success - log_selected_success) - (log_failure - log_selected_failure)
    threshold = risk + 2 * half * cut
    return risk, threshold


def _hazard(u, log_cdf):
    """Return the normal density at u, or -u, over a distribution function given as its log."""
    return np.exp(-0.5 * (u * u + np.log(2 * np.pi)) - log_cdf)
