"""Rates of groups known with a probability, if names tell nothing but the group (BIRDiE)."""

import numpy as np

from skdisc.group._pairwise._estimates import Estimate

_N_STEPS, _ACCURACY = 5000, 1e-10
_LEAST_SHARE = 1e-6  # smallest eigenvalue of memberships over the largest
_LEAST = 1e-3  # of a probability of an outcome, in the information


def latent_gap(y: np.ndarray, shares: np.ndarray, place: np.ndarray) -> Estimate | str:
    r"""Return the gap of two groups, where outcomes depend on group and place, not on names.

    Within a place, :math:`P(y = 1 \mid z) = \sum_a q_a \theta_a` with the rates :math:`\theta` of
    the groups, which EM finds (McCartan and others 2025). Rates of places are averaged over the
    members expected there. Errors come from influence functions, which need no model of y.

    `y`: outcomes, 0 or 1. `shares`, of shape (n, 2): probabilities of membership in the group and
    in its reference. Returns an Estimate or str: why there is none: memberships in some place vary
    too little to tell rates apart.
    """
    q = _with_rest(shares)
    vague = [code for code in np.unique(place) if not _are_apart(q[place == code])]
    if vague:
        n = int(np.isin(place, vague).sum())
        among = f" in {len(vague)} of {len(np.unique(place))} places ({n:,} of {len(y):,} people)"
        return (
            f"There is no estimate 'model': memberships{among if np.ptp(place) else ''} vary too "
            "little to tell the rates of groups apart."
        )
    rate_of_person, influence = np.zeros(q.shape), np.zeros(q.shape)
    sizes = q.sum(axis=0)
    for code in np.unique(place):
        in_place = place == code
        rates, moved = _of_place(y[in_place], q[in_place])
        rate_of_person[in_place], influence[in_place] = (
            rates,
            moved * q[in_place].sum(axis=0) / sizes,
        )
    means = (q * rate_of_person).sum(axis=0) / sizes
    influence += q * (rate_of_person - means) / sizes
    return Estimate.of_influence(means[0] - means[1], influence[:, 0] - influence[:, 1])


def updated_memberships(y: np.ndarray, shares: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return P(group | outcome, probabilities), by Bayes with the likely rates of each place.

    `y`: outcomes, 0 or 1. `shares`, of shape (n, n_groups): probabilities of membership, without
    NaN. Returns an ndarray of float of shape (n, n_groups): NaN in places where memberships vary
    too little to tell rates apart.
    """
    q = _with_rest(shares)
    updated = np.full(q.shape, np.nan)
    for code in np.unique(place):
        in_place = place == code
        if _are_apart(q[in_place]):
            rates = likely_rates(y[in_place], q[in_place])
            joint = q[in_place] * np.where(y[in_place, None] > 0, rates, 1 - rates)
            updated[in_place] = joint / joint.sum(axis=1, keepdims=True)
    return updated[:, : shares.shape[1]]


def _with_rest(shares):
    """Return memberships that add up to 1; the last column is for people of no group."""
    rest = np.clip(1 - shares.sum(axis=1), 0, 1)
    return np.column_stack([shares, rest]) if rest.max(initial=0) > 1e-9 else shares


def _are_apart(q):
    """Return whether memberships vary enough to tell the rates of groups apart."""
    live = q.sum(axis=0) > 0
    eigenvalues = np.linalg.eigvalsh(q[:, live].T @ q[:, live])
    return eigenvalues[0] > _LEAST_SHARE * eigenvalues[-1]


def _of_place(y, q):
    """Return the rates of groups in one place, and what each person adds to their errors."""
    live = q.sum(axis=0) > 0
    rates = likely_rates(y, q)
    p = np.clip(q @ rates, _LEAST, 1 - _LEAST)
    score = q[:, live] * ((y - p) / (p * (1 - p)))[:, None]
    information = (q[:, live] / (p * (1 - p))[:, None]).T @ q[:, live]
    influence = np.zeros(q.shape)
    influence[:, live] = np.linalg.solve(information, score.T).T
    return rates, influence


def likely_rates(y: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the rates that are most likely, by EM.

    The log likelihood is concave, so where EM ends is its maximum.

    `q`, of shape (n, n_groups): probabilities of membership; they add up to 1. Returns an ndarray
    of float: the mean of y for a group without members.
    """
    size = q.sum(axis=0)
    rates = np.full(q.shape[1], y.mean())
    for _ in range(_N_STEPS):
        hit, miss = q @ rates, q @ (1 - rates)
        with np.errstate(divide="ignore", invalid="ignore"):
            hits = rates * (q.T @ np.where(y > 0, y / hit, 0.0))
            misses = (1 - rates) * (q.T @ np.where(y < 1, (1 - y) / miss, 0.0))
        new = np.where(size > 0, hits / np.maximum(hits + misses, 1e-300), rates)
        if np.abs(new - rates).max() < _ACCURACY:
            return new
        rates = new
    return rates
