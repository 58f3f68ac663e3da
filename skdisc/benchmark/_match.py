"""Findings against the truth: which planted subgroup, if any, each of them is about."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from skdisc._space._subgroup import Subgroup

STRATA = (
    *("granularity", "intersectionality", "similarity", "magnitude", "n_people", "imbalance"),
    *("coverage", "aleatoric", "epistemic", "direct"),
)


@dataclass(frozen=True)
class Target:
    """A planted subgroup that a detector should find.

    Attributes
    ----------
    subgroup : Subgroup
    sign : int
        -1 where its members are treated worse because of the bias, 1 where better.
    protected : frozenset
        Protected columns of its definition.
    strata : dict
        Its values of `STRATA`; magnitude is the absolute effect of the bias, direct the share of
        the bias that does not go through a proxy.
    """

    subgroup: Subgroup
    sign: int
    protected: frozenset
    strata: dict


def targets_of(truth, protected):
    """Return the planted subgroups that carry a bias, a list of `Target`.

    Parameters
    ----------
    truth : Truth
    protected : sequence of column names
    """
    found = []
    for row in truth.groups.itertuples():
        for side in ("a", "b"):
            bias = getattr(row, f"bias_{side}")
            if not bias:
                continue
            group = getattr(row, f"subgroup_{side}")
            biased, fair = truth.mean(group)[0]
            values = {name: getattr(row, name, np.nan) for name in STRATA}
            values["magnitude"] = abs(float(biased - fair))
            values |= {"n_people": getattr(row, f"n_{side}"), "direct": truth.law.direct}
            columns = frozenset(p.column for p in group.predicates) & frozenset(protected)
            found.append(Target(group, int(np.sign(bias)), columns, values))
    return found


def match_groups(subgroups, signs, targets, X, threshold=0.5):
    """Match subgroups to targets, one to one.

    The likeness of two subgroups is the mean of two Jaccard indices: of their members among the
    rows of X, and of their conditions. Of all assignments of findings to targets with the same sign
    and a likeness of at least `threshold`, the one with the largest sum is taken.

    Parameters
    ----------
    subgroups : sequence of Subgroup
    signs : sequence of int
        Direction of each finding; 0 agrees with none.
    targets : list of Target
    X : DataFrame or Members
        People on whom memberships are compared.
    threshold : float, default=0.5

    Returns
    -------
    ndarray of int, shape (n_findings,)
        Number of the target of each finding, -1 for none.
    """
    matched = np.full(len(subgroups), -1)
    if not len(subgroups) or not targets:
        return matched
    alike = likeness(subgroups, [t.subgroup for t in targets], X)
    agree = np.asarray(signs)[:, None] == np.array([t.sign for t in targets])
    worth = np.where(agree & (alike >= threshold), alike, 0.0)
    for i, j in zip(*linear_sum_assignment(worth, maximize=True), strict=True):
        if worth[i, j] > 0:
            matched[i] = j
    return matched


class Members:
    """Who belongs to which subgroup; every condition is looked up once.

    Parameters
    ----------
    X : DataFrame
    """

    def __init__(self, X):
        self.X = X
        self._masks = {}

    def __call__(self, subgroups):
        """Return a 0/1 array of shape (n_subgroups, n_rows)."""
        out = np.ones((len(subgroups), len(self.X)), dtype=np.float32)
        for row, group in zip(out, subgroups, strict=True):
            for predicate in group.predicates:
                if predicate not in self._masks:
                    self._masks[predicate] = predicate.mask(self.X)
                row *= self._masks[predicate]
        return out


def likeness(first, second, X):
    """Return how alike subgroups are, in [0, 1], shape (n_first, n_second)."""
    members = X if isinstance(X, Members) else Members(X)
    masks = [members(groups) for groups in (first, second)]
    shared = masks[0] @ masks[1].T
    sizes = [m.sum(axis=1) for m in masks]
    by_members = _jaccard(shared, sizes[0][:, None], sizes[1])
    sets = [[frozenset(g.predicates) for g in groups] for groups in (first, second)]
    common = np.array([[len(a & b) for b in sets[1]] for a in sets[0]], dtype=float)
    counts = [np.array([len(s) for s in part], dtype=float) for part in sets]
    return (by_members + _jaccard(common, counts[0][:, None], counts[1])) / 2


def _jaccard(shared, n_first, n_second):
    """Return shared over united; 1 where both are empty."""
    united = n_first + n_second - shared
    return np.divide(shared, united, out=np.ones(united.shape), where=united > 0)


def match_cases(findings, targets):
    """Say for each case which target it shows.

    A case shows a target when one of its two rows belongs to the target, a protected column of the
    target's definition is changed, and the member is on the side that the bias puts it.

    Parameters
    ----------
    findings : CaseFindings
    targets : list of Target

    Returns
    -------
    ndarray of int, shape (n_cases,)
        Number of the first such target, -1 for none.
    """
    matched = np.full(len(findings), -1)
    if not len(findings):
        return matched
    before, after = findings.original, findings.altered
    gap = np.sign(findings.outcome - findings.altered_outcome)
    changed = {c: _differs(before[c], after[c]) for t in targets for c in t.protected}
    for j, target in reversed(list(enumerate(targets))):
        hit = np.zeros(len(findings), dtype=bool)
        for column in target.protected:
            hit |= changed[column]
        inside, beside = target.subgroup.mask(before), target.subgroup.mask(after)
        sides = (inside & ~beside & (gap == target.sign)) | (
            beside & ~inside & (gap == -target.sign)
        )
        matched[hit & sides] = j
    return matched


def _differs(a, b):
    """Say where two columns differ; two missing values do not."""
    a, b = a.to_numpy(dtype=object), b.to_numpy(dtype=object)
    both = np.array([x != x and y != y for x, y in zip(a, b, strict=True)], dtype=bool)
    return (a != b) & ~both
