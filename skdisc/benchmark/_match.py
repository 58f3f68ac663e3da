"""Matching of findings to planted subgroups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from skdisc._results._case_findings import CaseFindings
from skdisc._space._codes import NOBODY
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._validation import plain
from skdisc.datasets import Truth

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
        -1 if the bias is to the disadvantage of its members, 1 if it is to their advantage.
    protected : frozenset
        Protected columns in its definition.
    strata : dict
        Its values of `STRATA`. The magnitude is the absolute effect of the bias; direct is the
        share of the bias that does not act through a proxy.

    Examples
    --------
    >>> from skdisc.benchmark import targets_of
    >>> from skdisc.datasets import make_discrimination
    >>> made = make_discrimination(2, bias=2.0, null_fraction=0, random_state=0)
    >>> isinstance(targets_of(made.truth, made.protected)[0], Target)
    True
    """

    subgroup: Subgroup
    sign: int
    protected: frozenset
    strata: dict


def targets_of(truth: Truth, protected: Sequence[str]) -> list[Target]:
    """Return the planted subgroups that carry a bias.

    Parameters
    ----------
    truth : Truth
    protected : sequence of column names

    Returns
    -------
    list of Target

    Examples
    --------
    >>> from skdisc.datasets import make_discrimination
    >>> made = make_discrimination(2, bias=2.0, null_fraction=0, random_state=0)
    >>> targets = targets_of(made.truth, made.protected)
    >>> isinstance(targets[0], Target), len(targets)
    (True, 2)
    """
    targets = []
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
            targets.append(Target(group, int(np.sign(bias)), columns, values))
    return targets


def match_groups(
    subgroups: Sequence[Subgroup],
    signs: Sequence[int],
    targets: list[Target],
    X: "pd.DataFrame | Members",
    threshold: float = 0.5,
    alternatives: pd.DataFrame | None = None,
) -> np.ndarray:
    """Match subgroups to targets, one to one.

    The similarity of two subgroups is the mean of two Jaccard indices, of their members among the
    rows of X and of their conditions. Findings are assigned to targets of the same sign with a
    similarity of at least `threshold`, so that the sum of the similarities is maximal.

    A target with one protected condition has a mirror image: the people in the same context who do
    not satisfy it, with the opposite sign. A finding with exactly this protected condition is
    compared with the mirror image as with the target. A target or mirror image among the
    alternatives of a finding has similarity 1.

    Parameters
    ----------
    subgroups : sequence of Subgroup
    signs : sequence of int
        Direction of each finding; 0 matches no target.
    targets : list of Target
    X : DataFrame or Members
        The people on whom members are compared.
    threshold : float, default=0.5
    alternatives : DataFrame, default=None
        Groups that the data cannot distinguish from those found: ``finding`` (position in
        `subgroups`), ``group`` (Subgroup, or its text), and, if their direction can differ from
        that of the finding, ``effect``.

    Returns
    -------
    ndarray of int, shape (n_findings,)
        Number of the target of each finding, or -1 for none.

    Examples
    --------
    >>> from skdisc.benchmark import targets_of
    >>> from skdisc.datasets import make_discrimination
    >>> made = make_discrimination(2, bias=2.0, null_fraction=0, random_state=0)
    >>> targets = targets_of(made.truth, made.protected)
    >>> match_groups([targets[1].subgroup], [targets[1].sign], targets, made.data)
    array([1])
    """
    matched = np.full(len(subgroups), NOBODY)
    if not len(subgroups) or not targets:
        return matched
    members, signs = X if isinstance(X, Members) else Members(X), np.asarray(signs)
    columns = {c for t in targets for c in t.protected}
    parts = [frozenset(p for p in g.predicates if p.column in columns) for g in subgroups]
    worth = np.zeros((len(subgroups), len(targets)))
    for images, sign in (([t.subgroup for t in targets], 1), (_mirrors(targets, members), -1)):
        positions = [j for j, g in enumerate(images) if g is not None]
        if not positions:
            continue
        similarity = likeness(subgroups, [images[j] for j in positions], members)
        agree = signs[:, None] == [sign * targets[j].sign for j in positions]
        if sign < 0:
            protected_parts = [
                frozenset(p for p in images[j].predicates if p.column in columns) for j in positions
            ]
            agree &= np.array(
                [[part == protected_part for protected_part in protected_parts] for part in parts]
            )
        similarity = np.where(agree & (similarity >= threshold), similarity, 0.0)
        worth[:, positions] = np.maximum(worth[:, positions], similarity)
        target_of = {(str(images[j]), sign * targets[j].sign): j for j in positions}
        for i, j in _named(alternatives, signs, target_of):
            worth[i, j] = 1.0
    for i, j in zip(*linear_sum_assignment(worth, maximize=True), strict=True):
        if worth[i, j] > 0:
            matched[i] = j
    return matched


def _named(alternatives, signs, target_of):
    """Yield (finding, target) for each alternative whose text and sign are in `target_of`."""
    if alternatives is None or not len(alternatives):
        return
    owner = alternatives["finding"].to_numpy(dtype=int)
    signs_of_alternatives = (
        np.sign(alternatives["effect"]) if "effect" in alternatives else signs[owner]
    )
    for i, group, sign in zip(owner, alternatives["group"], signs_of_alternatives, strict=True):
        if (str(group), sign) in target_of:
            yield i, target_of[str(group), sign]


def _mirrors(targets, members):
    """Return the mirror image of each target; None for several protected conditions."""
    mirrors = []
    for target in targets:
        part = [p for p in target.subgroup.predicates if p.column in target.protected]
        rest = [p for p in target.subgroup.predicates if p.column not in target.protected]
        complement = members.complement(part[0]) if len(part) == 1 else None
        mirrors.append(None if complement is None else Subgroup([*rest, complement]))
    return mirrors


class Members:
    """Memberships of rows in subgroups; the mask of each condition is computed once."""

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

    def complement(self, predicate):
        """Return the condition that a column has another known value; None for an interval."""
        if predicate.values is None:
            return None
        values = [plain(v) for v in self.X[predicate.column].unique()]
        other_values = [v for v in values if v is not None and v == v and v not in predicate.values]
        return Predicate.isin(predicate.column, other_values) if other_values else None


def likeness(first, second, X):
    """Return the similarities of subgroups in [0, 1], shape (n_first, n_second)."""
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
    """Return the Jaccard index of two sets; 1 if both are empty."""
    united = n_first + n_second - shared
    return np.divide(shared, united, out=np.ones(united.shape), where=united > 0)


def match_cases(findings: CaseFindings, targets: list[Target]) -> np.ndarray:
    """Match cases to targets.

    A case matches a target if exactly one of its two rows belongs to the target, a protected column
    in the target's definition changes, and the outcome of the member differs in the direction of
    the bias.

    Parameters
    ----------
    findings : CaseFindings
    targets : list of Target

    Returns
    -------
    ndarray of int, shape (n_cases,)
        Number of the first matching target, or -1 for none.

    Examples
    --------
    >>> from skdisc import Limits
    >>> from skdisc.benchmark import targets_of
    >>> from skdisc.datasets import make_discrimination
    >>> from skdisc.individual import KOSEI
    >>> made = make_discrimination(2, bias=2.0, null_fraction=0, random_state=0)
    >>> search = KOSEI(protected=made.protected, limits=Limits(tests=200), random_state=0)
    >>> result = search.fit(made.data, model=made.truth.oracle).result_
    >>> len(match_cases(result.findings, targets_of(made.truth, made.protected))) == len(result)
    True
    """
    matched = np.full(len(findings), NOBODY)
    if not len(findings):
        return matched
    before, after = findings.original, findings.altered
    gap = np.sign(findings.outcome - findings.altered_outcome)
    changed = {c: _differs(before[c], after[c]) for t in targets for c in t.protected}
    for j, target in reversed(list(enumerate(targets))):
        hit = np.zeros(len(findings), dtype=bool)
        for column in target.protected:
            hit |= changed[column]
        inside, inside_after = target.subgroup.mask(before), target.subgroup.mask(after)
        sides = (inside & ~inside_after & (gap == target.sign)) | (
            inside_after & ~inside & (gap == -target.sign)
        )
        matched[hit & sides] = j
    return matched


def _differs(a, b):
    """Return a mask of the rows in which two columns differ; missing values are equal."""
    a, b = a.to_numpy(dtype=object), b.to_numpy(dtype=object)
    are_missing = np.array([x != x and y != y for x, y in zip(a, b, strict=True)], dtype=bool)
    return (a != b) & ~are_missing
