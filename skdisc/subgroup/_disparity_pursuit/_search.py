"""The search for causes: enter, drop, and exchange groups until the criterion falls no further."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from skdisc.subgroup._disparity_pursuit._fits import AdjustedScores
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores
from skdisc.subgroup._disparity_pursuit._threshold import Level

_ALIKE = 0.05  # correlation of regressors from which an entry may change a chosen group
_ALONE = special.ndtri(0.95)  # standardized score that a cause has also without the others
_LEFT_OF_PAIR = 0.1  # share of its information that each of a pair must keep given the other
_NEAR = 20  # candidates near a cause, pairs of which may take its place


class Step(NamedTuple):
    """One step of the search, for ``tables["path"]``, which says what an entry had to exceed."""

    action: str
    group: int
    z: float
    evidence: float
    critical: float
    p_adjusted: float


class Pursuit(NamedTuple):
    """The causes, their p-values, the steps, and scores adjusted for all causes and for none."""

    groups: list
    p_adjusted: np.ndarray
    steps: list
    final: AdjustedScores
    initial: AdjustedScores
    critical: float


def pursue(
    scores: Scores, level: Level, significance: float, in_time: Callable, most: int = 50
) -> Pursuit:
    """Search for the causes.

    Groups enter in the order of their evidence while it is larger than chance gives to any
    candidate; after each entry, a chosen group whose evidence given the others is too small is
    dropped, and one that another candidate surpasses is exchanged. No set of groups is visited
    twice, so the search ends; if it ends because it goes round in circles, as it may where a fit
    leaves nearly nothing of the outcome, the visited set with the best penalized fit is taken.

    Where nothing more enters, a chosen group may be divided: two others take its place if they fit
    better by more than the penalty for one more group. Each of two causes in the same protected
    group adds to that group, which can have more evidence than either, and enter before them.

    A group enters only if it is treated worse than its context also without the other causes.
    Otherwise it would correct a cause for the people whom that affects less: where few are hired
    anyway, holding women back makes a small difference, and "men" would look worse off.

    `in_time`: returns False when the search must end. `most`: largest number of causes.
    """
    return _Search(scores, level, significance, in_time).run(most)


class _Search:
    """A search, with its steps, and the sets of groups visited."""

    def __init__(self, scores, level, significance, in_time):
        self.scores, self.level, self.significance = scores, level, significance
        self.in_time, self.initial, self.critical = in_time, scores.adjusted_for([]), np.inf
        self.visited, self.steps = {frozenset(): []}, []

    def run(self, most):
        """Return the `Pursuit`, with at most `most` groups."""
        groups = []
        while len(self.scores.candidates) and self.in_time():
            self.scores, is_full = self.scores.on_best_scale(groups), len(groups) >= most
            entry, is_clear = self._entry(groups)
            if is_clear and not is_full:
                self.steps.append(entry)
                wider = [*groups, entry.group]
                if frozenset(wider) in self.visited:
                    groups = min(self.visited.values(), key=self._cost)
                    break
                self.scores = self.scores.on_best_scale(wider)
                groups = self._settled(wider, _alike(self.scores, wider))
                continue
            divided = None if is_full else self._divided(groups)
            after = divided or self._settled(groups, None)
            if after == groups:
                self.steps += [] if is_full else [entry._replace(action="end")]
                break
            groups = after
        return self._result(groups)

    def _entry(self, groups):
        """Return the step that enters the strongest group, and whether it exceeds chance."""
        adjusted_scores = self.scores.adjusted_for(groups)
        evidence, weights = self.level.evidence(adjusted_scores)
        self.critical = self.level.critical(adjusted_scores, weights, self.significance)
        best = self._strongest(adjusted_scores, evidence, weights)
        p = float(self.level.p_adjusted(evidence[best], adjusted_scores, weights)[0])
        is_clear = evidence[best] > self.critical and p <= self.significance
        return self._step("enter", best, adjusted_scores, evidence)._replace(p_adjusted=p), is_clear

    def _step(self, action, group, adjusted_scores, evidence):
        z, group_evidence = float(adjusted_scores.z[group]), float(evidence[group])
        return Step(action, group, z, group_evidence, self.critical, np.nan)

    def _strongest(self, adjusted_scores, evidence, weights):
        """Return the group of highest rank with enough evidence, else the one with the most."""
        evidence = np.where(_stands_alone(adjusted_scores, self.initial), evidence, -np.inf)
        is_clear = evidence > self.critical
        if not is_clear.any():
            return int(np.argmax(evidence))
        rank = self.level.rank(adjusted_scores, evidence, weights)
        return int(np.argmax(np.where(is_clear, rank, -np.inf)))

    def _settled(self, groups, is_checked):
        """Return the chosen groups after drops and exchanges.

        Only groups with ``is_checked`` are looked at, and only where a move seems possible by the
        variances of the joint fit. If None, all are looked at, until one moves.
        """
        self.visited[frozenset(groups)] = groups
        while len(groups) > 1 and self.in_time():
            moves = []
            for k in range(len(groups)) if is_checked is None else np.flatnonzero(is_checked):
                cause, rest = groups[k], [*groups[:k], *groups[k + 1 :]]
                nearly = self.scores.nearly_adjusted_for(rest, groups)
                if is_checked is None or self._moves(nearly, rest, cause):
                    moves += self._sure_moves(nearly, rest, cause)
            if not moves:
                break
            _, step, groups = max(moves, key=lambda move: move[0])
            self.visited[frozenset(groups)] = groups
            self.steps.append(step)
            is_new = step.action == "exchange"
            is_checked = _alike(self.scores, groups) if is_new else np.ones(len(groups), bool)
        return groups

    def _sure_moves(self, adjusted_scores, rest, cause):
        """Return `_moves` with exact variances of the cause and of its replacement."""
        adjusted_scores = self.scores.with_exact_variance(adjusted_scores, cause)
        for _, step, _ in self._moves(adjusted_scores, rest, cause):
            if step.action == "exchange":
                adjusted_scores = self.scores.with_exact_variance(adjusted_scores, step.group)
        return self._moves(adjusted_scores, rest, cause)

    def _moves(self, adjusted_scores, rest, cause):
        """Return the moves of one cause, given the others, with the gain of each in evidence."""
        evidence, weights = self.level.evidence(adjusted_scores)
        cause_evidence = evidence[cause]
        rank = self.level.rank(adjusted_scores, evidence, weights)
        moves = []
        best = self._strongest(adjusted_scores, evidence, weights)
        if cause_evidence < self.critical and frozenset(rest) not in self.visited:
            moves.append((self.critical - cause_evidence, "drop", cause, rest))
        swapped = [*rest, best]
        is_stronger = evidence[best] > self.critical and rank[best] > rank[cause]
        if is_stronger and frozenset(swapped) not in self.visited:
            moves.append((rank[best] - rank[cause], "exchange", best, swapped))
        return [
            (gain, self._step(action, group, adjusted_scores, evidence), after)
            for gain, action, group, after in moves
        ]

    def _divided(self, groups):
        """Return the causes with one divided into the best two; None if no division is better."""
        divided, least = None, self._cost(groups)
        for k in range(len(groups)):
            if not self.in_time():
                break
            rest = [*groups[:k], *groups[k + 1 :]]
            adjusted_scores = self.scores.nearly_adjusted_for(rest, groups)
            evidence, _ = self.level.evidence(adjusted_scores)
            is_near = _stands_alone(adjusted_scores, self.initial) & (evidence > self.critical)
            is_near[groups] = False
            near = np.flatnonzero(is_near)
            near = near[np.argsort(-evidence[near], kind="stable")[:_NEAR]]
            pair = _best_pair(self.scores, adjusted_scores, near)
            if pair is None:
                continue
            trial = [*rest, *pair]
            cost = self._cost(trial)
            if cost < least and all(self._enters(trial, new) for new in pair):
                divided, least = trial, cost
        if divided is None or frozenset(divided) in self.visited:
            return None
        self.visited[frozenset(divided)] = divided
        for new in divided[-2:]:
            adjusted_scores = self.scores.adjusted_for_others(new, divided)
            evidence, _ = self.level.evidence(adjusted_scores)
            self.steps.append(self._step("divide", new, adjusted_scores, evidence))
        return divided

    def _enters(self, groups, new):
        """Return whether the evidence of a group, given others, is larger than chance gives."""
        evidence, _ = self.level.evidence(self.scores.adjusted_for_others(new, groups))
        return bool(evidence[new] > self.critical)

    def _cost(self, groups):
        """Return -2 log-likelihood of the best joint fit of groups, plus a penalty for each."""
        # By chance, the best of all candidates lowers the deviance by the square of the largest z
        # that chance gives: a group must lower it by more.
        deviance = self.scores.residuals.n_people * np.log(max(self.scores.loss(groups), 1e-300))
        return deviance + self.level.largest_z(self.significance) ** 2 * len(groups)

    def _result(self, groups):
        """Return the causes, after dropping those that are not significant given the others.

        Backward elimination: the group with the largest p-value is dropped until all are
        significant, or one is left. p-values given the other groups take long, so after a drop only
        those that were not significant are computed again; before the end, all are computed again,
        given the same final groups.
        """
        p, to_test = {}, groups
        while to_test:
            p |= self._p_adjusted(to_test, groups)
            worst = max(to_test, key=p.get)
            if p[worst] > self.significance and len(groups) > 1:
                self.steps.append(Step("drop", worst, np.nan, np.nan, self.critical, p[worst]))
                groups = [g for g in groups if g != worst]
                to_test = [g for g in to_test if g != worst and p[g] > self.significance] or groups
            else:
                all_tested = len(to_test) == len(groups)
                to_test = [] if all_tested else groups
        return Pursuit(
            groups=groups,
            p_adjusted=np.array([p[group] for group in groups]),
            steps=self.steps,
            final=self.scores.adjusted_for(groups),
            initial=self.initial,
            critical=self.critical,
        )

    def _p_adjusted(self, tested, groups):
        """Return the adjusted p-values of some of the groups, each given all others, as a dict."""
        self.scores, p_adjusted = self.scores.on_best_scale(groups), {}
        for group in tested:
            fit = self.scores.adjusted_for_others(group, groups)
            evidence, weights = self.level.evidence(fit)
            p_adjusted[group] = self.level.p_adjusted(evidence[group], fit, weights)[0]
        return p_adjusted


def _best_pair(scores, adjusted_scores, near):
    """Return the two candidates that explain most of what a fit leaves, None if there are none.

    The score statistic of each pair, with the inverse of its 2 x 2 information matrix in closed
    form. Pairs that are nearly the same group, whose matrix is nearly singular, are left out.
    """
    groups = list(adjusted_scores.groups)
    cross = scores.crossed([*groups, *near])
    free = cross[near][:, len(groups) :]
    shared = cross[near][:, : len(groups)]
    free = free - shared @ np.linalg.pinv(cross[groups][:, : len(groups)]) @ shared.T
    information, score = np.diag(free), adjusted_scores.score[near]
    i, j = np.triu_indices(len(near), 1)
    det = information[i] * information[j] - free[i, j] ** 2
    differ = det > _LEFT_OF_PAIR * information[i] * information[j]
    if not differ.any():
        return None
    i, j, det = i[differ], j[differ], det[differ]
    gain = (
        score[i] ** 2 * information[j]
        + score[j] ** 2 * information[i]
        - 2 * score[i] * score[j] * free[i, j]
    )
    best = int(np.argmax(gain / det))
    return [int(near[i[best]]), int(near[j[best]])]


def _stands_alone(adjusted_scores, initial):
    """Return which candidates also differ when no cause is adjusted for, at least half as much."""
    # Half of the effect, in the same direction: otherwise a group may only correct a cause for
    # people whom that affects less (see `pursue`).
    is_alike = (
        initial.effect * np.sign(adjusted_scores.effect) >= np.abs(adjusted_scores.effect) / 2
    )
    return is_alike & (initial.z * np.sign(adjusted_scores.z) > _ALONE)


def _alike(scores, chosen):
    """Return which chosen groups the last one may change: those with correlated regressors."""
    size = np.sqrt(scores.in_room[chosen])
    return np.abs(scores.crossed(chosen)[chosen[-1]]) > _ALIKE * size * size[-1]
