"""The search for causes: enter, drop, and exchange groups until the criterion falls no further."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from skdisc.subgroup._disparity_pursuit._orthogonal_scores import BesideFit, Scores
from skdisc.subgroup._disparity_pursuit._threshold import Level

_ALIKE = 0.05  # correlation of regressors from which an entry may change a chosen group
_ALONE = special.ndtri(0.95)  # standardized score that a cause has also without the others
_LEFT_OF_PAIR = 0.1  # of its information, what one of a pair has beside the other
_NEAR = 20  # candidates near a cause, pairs of which may take its place


class Step(NamedTuple):
    """One step of the search, for ``tables["path"]``."""

    action: str
    group: int
    z: float
    p_adjusted: float
    critical: float


class Found(NamedTuple):
    """The causes, the p-value of each at its entry, the steps, and the scores that are left."""

    groups: list
    p_adjusted: np.ndarray
    steps: list
    given: BesideFit
    before: BesideFit
    critical: float


def pursue(
    scores: Scores, level: Level, significance: float, in_time: Callable, most: int = 50
) -> Found:
    """Search for the causes.

    Groups enter in the order of their evidence while it is larger than chance gives to any
    candidate; after each entry, a chosen group whose evidence beside the others is too small is
    dropped, and one that another candidate surpasses is exchanged. No set of groups is visited
    twice, so the search ends; if it ends because it goes round in circles, as it may where a fit
    leaves nearly nothing of the outcome, the visited set with the best penalized fit is taken.

    Where nothing more enters, a chosen group may be divided: two others take its place if they fit
    better by more than the penalty for one more group. Each of two causes in the same protected
    group adds to that group, which can have more evidence than either, and enter before them.

    A group enters only if it is treated worse than its context also without the other causes.
    Otherwise it would correct a cause for the people whom that affects less: where few are hired
    anyway, holding women back makes a small difference, and "men" would look worse off.

    Parameters
    ----------
    scores : Scores
    level : Level
    significance : float
    in_time : callable
        Returns False when the search must end.
    most : int, default=50
        Largest number of causes.

    Returns
    -------
    Found
    """
    chosen, visited, steps = [], {frozenset(): []}, []
    before = scores.given([])
    critical = np.inf
    while len(chosen) < most and len(scores.candidates) and in_time():
        scores = scores.on_best_scale(chosen)
        given = scores.given(chosen)
        evidence, weights = level.evidence(given)
        best = int(np.argmax(np.where(_stands_alone(given, before), evidence, -np.inf)))
        critical = level.critical(given, weights, significance)
        p = float(level.p_adjusted(evidence[best], given, weights)[0])
        steps.append(Step("enter", best, float(given.z[best]), p, critical))
        if not (evidence[best] > critical and p <= significance):
            divided = _divided(scores, level, chosen, (before, critical), significance, in_time)
            if divided is None or frozenset(divided) in visited:
                steps[-1] = steps[-1]._replace(action="end")
                break
            steps.pop()
            chosen = visited[frozenset(divided)] = divided
            z = (scores.given([c for c in chosen if c != new]).z[new] for new in chosen[-2:])
            steps += [
                Step("divide", n, float(v), np.nan, critical)
                for n, v in zip(chosen[-2:], z, strict=True)
            ]
            continue
        wider = [*chosen, best]
        if frozenset(wider) in visited:
            chosen = min(
                visited.values(), key=lambda groups: _cost(scores, level, groups, significance)
            )
            break
        scores = scores.on_best_scale(wider)
        chosen = _settled(scores, level, wider, visited, steps, (before, critical), in_time)
    scores, p = _final(scores, level, chosen)
    while len(chosen) > 1 and p.max() > significance:
        dropped = chosen[int(np.argmax(p))]
        chosen = [group for group in chosen if group != dropped]
        scores, p = _final(scores, level, chosen)
        steps.append(Step("drop", dropped, np.nan, np.nan, critical))
    return Found(chosen, p, steps, scores.given(chosen), before, critical)


def _cost(scores, level, groups, significance):
    """Return -2 log-likelihood of the best joint fit of some groups, plus a penalty for each."""
    deviance = scores.residuals.n_people * np.log(max(scores.loss(groups), 1e-300))
    return deviance + level.largest_z(significance) ** 2 * len(groups)


def _divided(scores, level, chosen, limits, significance, in_time):
    """Return the chosen groups with one divided into the two that fit best, None if none is."""
    before, critical = limits
    found, least = None, _cost(scores, level, chosen, significance)
    for k in range(len(chosen)):
        if not in_time():
            break
        others = [*chosen[:k], *chosen[k + 1 :]]
        given = scores.given(others)
        evidence, _ = level.evidence(given)
        is_near = _stands_alone(given, before) & (evidence > critical)
        is_near[chosen] = False
        near = np.flatnonzero(is_near)
        near = near[np.argsort(-evidence[near], kind="stable")[:_NEAR]]
        pair = _best_pair(scores, given, near)
        if pair is None:
            continue
        trial = [*others, *pair]
        cost = _cost(scores, level, trial, significance)
        if cost < least and all(_enters(scores, level, trial, new, critical) for new in pair):
            found, least = trial, cost
    return found


def _best_pair(scores, given, near):
    """Return the two of some candidates that explain most beside a fit, None if there are none."""
    others = list(given.groups)
    cross = scores.crossed([*others, *near])
    free = cross[near][:, len(others) :]
    beside = cross[near][:, : len(others)]
    free = free - beside @ np.linalg.pinv(cross[others][:, : len(others)]) @ beside.T
    own, score = np.diag(free), given.score[near]
    i, j = np.triu_indices(len(near), 1)
    det = own[i] * own[j] - free[i, j] ** 2
    differ = det > _LEFT_OF_PAIR * own[i] * own[j]
    if not differ.any():
        return None
    i, j, det = i[differ], j[differ], det[differ]
    gain = score[i] ** 2 * own[j] + score[j] ** 2 * own[i] - 2 * score[i] * score[j] * free[i, j]
    best = int(np.argmax(gain / det))
    return [int(near[i[best]]), int(near[j[best]])]


def _enters(scores, level, groups, new, critical):
    """Return whether the evidence of a group beside others is larger than chance gives."""
    evidence, _ = level.evidence(scores.given([g for g in groups if g != new]))
    return bool(evidence[new] > critical)


def _stands_alone(given, before):
    """Return which candidates differ also without the causes found, by half as much at least."""
    is_alike = before.effect * np.sign(given.effect) >= np.abs(given.effect) / 2
    return is_alike & (before.z * np.sign(given.z) > _ALONE)


def _settled(scores, level, chosen, visited, steps, limits, in_time):
    """Return the chosen groups after drops and exchanges."""
    before, critical = limits
    visited[frozenset(chosen)] = chosen
    touched = _alike(scores, chosen)
    while len(chosen) > 1 and in_time():
        moves = []
        for k in np.flatnonzero(touched):
            others = [*chosen[:k], *chosen[k + 1 :]]
            given = scores.given(others)
            evidence, _ = level.evidence(given)
            own = evidence[chosen[k]]
            evidence = np.where(_stands_alone(given, before), evidence, -np.inf)
            best = int(np.argmax(evidence))
            if own < critical and frozenset(others) not in visited:
                moves.append((critical - own, "drop", chosen[k], others, given.z[chosen[k]]))
            swapped = [*others, best]
            if evidence[best] > max(own, critical) and frozenset(swapped) not in visited:
                moves.append((evidence[best] - own, "exchange", best, swapped, given.z[best]))
        if not moves:
            break
        _, action, group, chosen, z = max(moves, key=lambda move: move[0])
        visited[frozenset(chosen)] = chosen
        steps.append(Step(action, group, float(z), np.nan, critical))
        touched = _alike(scores, chosen) if action == "exchange" else np.ones(len(chosen), bool)
    return chosen


def _alike(scores, chosen):
    """Return which chosen groups the last one may change: those with correlated regressors."""
    size = np.sqrt(scores.in_room[chosen])
    return np.abs(scores.crossed(chosen)[chosen[-1]]) > _ALIKE * size * size[-1]


def _final(scores, level, chosen):
    """Return the scores on the best scale, and the adjusted p-value of each group beside others."""
    scores = scores.on_best_scale(chosen)
    p = np.ones(len(chosen))
    for k, group in enumerate(chosen):
        given = scores.given([*chosen[:k], *chosen[k + 1 :]])
        evidence, weights = level.evidence(given)
        p[k] = level.p_adjusted(evidence[group], given, weights)[0]
    return scores, p
