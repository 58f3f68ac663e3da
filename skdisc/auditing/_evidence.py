"""The evidence table: one row for each distinct finding over all methods, shadows folded."""

from dataclasses import dataclass, field

import numpy as np

from skdisc import _stats
from skdisc._registry import all_detectors
from skdisc._results._findings import GroupFindings
from skdisc._results._judgment import FOUND, UNSURE, confirmed_p
from skdisc._utils._frequency import people_in
from skdisc.auditing._cells import RATE_OF, strength
from skdisc.auditing._plan import CORROBORATES, DESCRIBES, LEAD

CAUSE, GAP, CONTEXT = "cause", "gap", "context"
_KINDS = {"conditional": CAUSE, "marginal": GAP, "calibration": GAP, "contextual": CONTEXT}
_SAME = 0.8  # groups that share so much of their people are one finding
_EXPLAINED = 0.5  # share of an effect that a cause must account for to be called its cause
_ACCOUNTED = {
    "conditional": "legitimate columns, or the causes, account for it",
    "contextual": "its gap from the others in its context is not significant",
}


@dataclass
class Evidence:
    """A finding of a lead, on its way to a row of the table.

    Parameters
    ----------
    step : AuditStep
    group : Group
    numbers : dict
        The finding's row in the table of its result.
    members, context : ndarray of bool, shape (n_rows,)
        The people of the group, and those who meet its conditions on other columns.
    p : float
        Its p-value, corrected over the whole audit.
    versus : str
        With whom the people are compared.
    attributes : list of str
    frequency : ndarray of int64, shape (n_rows,), or None
        The number of people of each row; None: 1.
    shadows : list of Evidence
        What it accounts for.
    """

    step: object
    group: object
    numbers: dict
    members: np.ndarray
    context: np.ndarray
    p: float
    versus: str
    attributes: list
    frequency: np.ndarray | None = None
    shadows: list = field(default_factory=list)

    @property
    def kind(self):
        """What it is: a cause, the gap of a protected group, or a gap within a context."""
        return _KINDS[self.step.null]

    @property
    def people(self):
        """The number of people in the group."""
        return people_in(self.members, self.frequency)

    @property
    def others(self):
        """The number of people in its context who are not in the group."""
        return people_in(self.context & ~self.members, self.frequency)

    @property
    def effect(self):
        """The effect on the rows searched."""
        return self.numbers["effect"]

    @property
    def evidence(self):
        """How strong the evidence is, for sorting; of two equal sides, the one worse off first."""
        p = self.numbers.get("held_out_p_value", self.numbers["p_value"])
        width = self.numbers["ci_high"] - self.numbers["ci_low"]
        z = abs(self.effect) / width if width > 0 else 0.0
        return (-np.log10(max(p, 1e-300)) if p == p else 0.0, z, -self.effect)

    def is_side_of(self, other):
        """Return True if protected part, measure and direction are those of another finding."""
        mine, theirs = (
            (_protected_part(e), e.numbers["measure"], np.sign(e.effect)) for e in (self, other)
        )
        return mine == theirs

    def mirrors(self, other):
        """Return True if it is about everybody else in the same context."""
        is_one = self.numbers["measure"] == other.numbers["measure"] and self.kind == other.kind
        return is_one and bool((self.members == (other.context & ~other.members)).all())


def find_evidence(given, plan, results, verdicts, significance):
    """Return the rows of the evidence table, and those of the shadows.

    Parameters
    ----------
    given : AuditedRows
    plan : Plan
    results : dict of str to AuditResult
    verdicts : list of dict
        From `judge`.
    significance : float

    Returns
    -------
    evidence, shadows : list of dict
        As in the document, with the number of "others" in the context of each group.
    """
    found = _distinct(_collected(given, plan, results, verdicts, significance))
    rows = []
    for e in found:
        if e.kind != CONTEXT and not any(e.mirrors(r) for r in rows):
            rows.append(e)
    for e in (e for e in found if e.kind == CONTEXT):
        home = _home(e, rows)
        if home is None:
            rows.append(e)
        elif not (home.members == e.members).all():
            home.shadows.append(e)
    rows.sort(key=lambda e: (e.p > significance, e.kind != CAUSE, e.p))
    known = _FoundMembers(given.X)
    ranked = []
    for rank, e in enumerate(rows, 1):
        agree, disagree = _others(e, plan, results, significance, known)
        again = _again(e, rows, significance)
        left = [d for d in disagree if again is None or d["detector"] != again["detector"]]
        others = {"agree": agree, "disagree": left, "n_shadows": len(e.shadows)}
        others |= {"again": again if len(left) < len(disagree) else None}
        ranked.append(_row(rank, e, given, significance) | others)
    return ranked, [_shadow(i, s) for i, e in enumerate(rows, 1) for s in e.shadows]


def joined_evidence(several):
    """Return the rows of the evidence tables of several tables of people, and their shadows.

    Parameters
    ----------
    several : list of (list of dict, list of dict)
        From `find_evidence`.

    Returns
    -------
    evidence, shadows : list of dict
    """
    own = [(k, row) for k, (evidence, _) in enumerate(several) for row in evidence]
    own.sort(key=lambda pair: (not pair[1]["found"], pair[1]["p_adjusted"]))
    rank = {(k, row["rank"]): i for i, (k, row) in enumerate(own, 1)}
    evidence = [
        row | ranked_again(row, {r: new for (j, r), new in rank.items() if j == k})
        for k, row in own
    ]
    shadows = [
        s | {"of": rank.get((k, s["of"]))} for k, (_, rows) in enumerate(several) for s in rows
    ]
    return evidence, shadows


def ranked_again(row, ranks):
    """Return the rank of a row and those it refers to, by the map of old ranks to new ones."""
    again = row.get("again")
    kept = [] if again is None else sorted(ranks[r] for r in again["ranks"] if r in ranks)
    return {"rank": ranks[row["rank"]], "again": again | {"ranks": kept} if kept else None}


def _collected(given, plan, results, verdicts, significance):
    """Return the findings of all leads about groups, the strongest first."""
    cells = {(v["attribute"], v["null"]): v for v in verdicts if v["kind"] == "cell"}
    n_rejected = sum(v["verdict"] == FOUND for v in cells.values())
    scale, found = len(cells) / max(n_rejected, 1), []
    for step in plan.steps:
        result = results.get(step.name)
        if step.role != LEAD or step.on != "given" or result is None:
            continue
        if not isinstance(result.findings, GroupFindings) or step.null not in _KINDS:
            continue
        table, cell = result.findings.table, cells[step.attribute, step.null]
        at, p_values = "held_out_" if "held_out_p_adjusted" in table else "", confirmed_p(table)
        for i in np.argsort(-strength(table, at), kind="stable"):
            numbers = table.iloc[i].to_dict()
            p = p_values.iloc[i]
            if not p <= significance or numbers["measure"] == "impact_ratio":
                continue
            corrected = min(1.0, p * scale)
            if cell["verdict"] != FOUND:
                corrected = max(corrected, cell["p_adjusted"], np.nextafter(significance, 1))
            numbers["measure"] = RATE_OF.get(numbers["measure"], numbers["measure"])
            group = result.findings.subgroups[i]
            people = group.mask(given.X), _context(group, step.protected, given.X)
            about = corrected, _versus(result, numbers), [step.attribute], given.frequency
            found.append(Evidence(step, group, numbers, *people, *about))
    return found


def _versus(result, numbers):
    """Return with whom the people of a finding are compared."""
    reference = numbers.get("reference", result.versus)
    return "everyone else" if reference == "rest" else str(reference)


def _context(group, protected, X):
    """Return the people who meet the conditions of a group on columns that are not protected."""
    context = np.ones(len(X), dtype=bool)
    for p in getattr(group, "predicates", ()):
        if p.column not in protected:
            context &= p.mask(X)
    return context


def _distinct(found):
    """Return the findings with those of equal people, kind and measure joined."""
    kept = {}
    for e in found:
        key = e.kind, e.numbers["measure"], e.members.tobytes()
        first = kept.setdefault(key, e)
        if first is not e:
            first.attributes = list(dict.fromkeys([*first.attributes, *e.attributes]))
            if e.p < first.p:
                kept[key] = e
                e.attributes, e.shadows = first.attributes, first.shadows
    return sorted(kept.values(), key=lambda e: e.evidence, reverse=True)


def _home(e, rows):
    """Return the row that accounts for a finding within a context, or None."""
    same = [r for r in rows if (r.members == e.members).all()]
    if same:
        return same[0]
    own = [r for r in rows if r.kind == CAUSE and set(r.attributes) & set(e.attributes)]
    shares = [_explained(c, e) for c in own]
    if max(shares, default=0.0) >= _EXPLAINED:
        return own[int(np.argmax(shares))]
    return next((r for r in rows if r.kind != CAUSE and r.is_side_of(e)), None)


def _explained(cause, e):
    """Return the share of an effect that a cause adds to it: its effect times the overlap."""
    rest = e.context & ~e.members
    inside, beside = (_share_of(cause, mask) for mask in (e.members, rest))
    return cause.effect * (inside - beside) / e.effect if e.effect else 0.0


def _share_of(cause, mask):
    """Return the share of the people of a mask that are in the group of a cause; 0 of none."""
    n = people_in(mask, cause.frequency)
    return people_in(cause.members & mask, cause.frequency) / n if n else 0.0


def _protected_part(e):
    """Return the conditions of a group on the protected columns of its step, as text."""
    several = getattr(e.group, "predicates", ())
    return tuple(str(p) for p in several if p.column in e.step.protected)


def _shadow(rank, e):
    """Return the row of a shadow."""
    names = ("effect", "ci_low", "ci_high")
    numbers = {n: _number(e.numbers[n]) for n in names}
    about = {"of": rank, "group": str(e.group), "null": e.step.null, "method": e.step.detector}
    people = {"people": e.people, "others": e.others, "p_adjusted": float(e.p)}
    return about | numbers | people


def _number(value):
    """Return a float, or None for NaN."""
    value = float(value)
    return value if np.isfinite(value) else None


def _row(rank, e, given, significance):
    """Return the row of a finding, without what other methods find."""
    numbers = {n: _number(e.numbers[n]) for n in ("effect", "ci_low", "ci_high", "p_value")}
    held = {n: e.numbers.get(f"held_out_{n}", np.nan) for n in ("effect", "ci_low", "ci_high")}
    conditions = [
        {"column": str(p.column), "text": str(p), "protected": p.column in given.protected}
        for p in getattr(e.group, "predicates", ())
    ]
    row = {"rank": rank, "group": str(e.group), "conditions": conditions}
    row |= {"attributes": e.attributes, "kind": e.kind, "null": e.step.null}
    row |= {"found": bool(e.p <= significance), "p_adjusted": float(e.p)} | numbers
    row |= {f"held_out_{n}": _number(v) for n, v in held.items()}
    row |= _raw_gap(e, given) | _alone(e)
    row |= {"people": e.people, "others": e.others, "share": e.people / given.people()}
    return row | {
        "compared_with": e.versus,
        "measure": e.numbers["measure"],
        "lead": e.step.detector,
    }


def _alone(e):
    """Return what a cause differs by in all, on the rows held out if there are; else no number."""
    at = "held_out_" if "held_out_alone" in e.numbers else ""
    names = {"alone": "alone", "alone_ci_low": "alone_low", "alone_ci_high": "alone_high"}
    return {n: _number(e.numbers.get(f"{at}{own}", np.nan)) for n, own in names.items()}


def _raw_gap(e, given):
    """Return the difference of the rates of the members and of the others in their context."""
    if e.kind != CAUSE:
        return {f"gap{n}": _number(e.numbers[k]) for n, k in _ENDS}
    rest = e.context & ~e.members
    if given.weight is not None or not rest.any() or not e.members.any():
        return dict.fromkeys(("gap", "gap_ci_low", "gap_ci_high"))
    (k, n), (k_rest, n_rest) = (
        (given.people(m & (given.outcomes == 1)), given.people(m)) for m in (e.members, rest)
    )
    low, high = _stats.newcombe(k, n, k_rest, n_rest)
    gap = k / n - k_rest / n_rest
    return {"gap": float(gap), "gap_ci_low": float(low), "gap_ci_high": float(high)}


_ENDS = (("", "effect"), ("_ci_low", "ci_low"), ("_ci_high", "ci_high"))


class _FoundMembers:
    """The members of the significant findings of results, counted once."""

    def __init__(self, X):
        self.X, self._known = X, {}

    def of(self, step, result, significance):
        """Return the members of each significant finding, and signs: -1 if it is worse off."""
        if step.name not in self._known:
            table = result.findings.table
            is_sure = confirmed_p(table) <= significance if len(table) else []
            found = np.flatnonzero(is_sure)
            members = [result.findings.subgroups[i].mask(self.X) for i in found]
            effects = _less_is_worse(step) * table["effect"].to_numpy()[found]
            self._known[step.name] = members, np.sign(effects)
        return zip(*self._known[step.name], strict=True)


def _others(e, plan, results, significance, known):
    """Return the detectors that find the same people, and those that do not, with the reason."""
    agree, disagree = [e.step.detector], {}
    direction = np.sign(_less_is_worse(e.step) * e.effect)
    for step in plan.steps:
        result = results.get(step.name)
        if result is None or step.on != "given" or step.detector in agree:
            continue
        is_about = step.role != DESCRIBES and set(step.protected) & set(e.step.protected)
        if not is_about or not isinstance(result.findings, GroupFindings):
            continue
        several = known.of(step, result, significance)
        if any(sign == direction and _are_alike(m, e) for m, sign in several):
            agree.append(step.detector)
        elif result.verdict == UNSURE or not _may_be_tested(e, result):
            continue  # too little evidence to disagree
        elif step.role == CORROBORATES or step.null in ("conditional", "contextual"):
            disagree[step.detector] = _why(step, result)
    left = [d for d in disagree if d not in agree]
    return agree, [{"detector": d, "why": disagree[d]} for d in left]


def _again(e, rows, significance):
    """Return the causes that are about the people of a gap, in parts: who found them, and ranks."""
    causes = [
        (rank, r)
        for rank, r in enumerate(rows, 1)
        if r.kind == CAUSE != e.kind and r.is_side_of(e) and r.p <= significance
    ]
    if not causes:
        return None
    return {"detector": causes[0][1].step.detector, "ranks": [rank for rank, _ in causes]}


def _may_be_tested(e, result):
    """Return True if a group, and the others in its context, are as large as a detector asks."""
    everybody = people_in(np.ones_like(e.members), e.frequency)
    return min(e.people, e.others) >= everybody * (result.params.get("min_support") or 0.0)


def _less_is_worse(step):
    """Return the sign that makes effects of a detector negative for groups that are worse off."""
    return -all_detectors()[step.detector].card.worse


def _are_alike(members, e):
    """Return True if a group shares nearly all of its people with that of a finding."""
    either, both = (people_in(m, e.frequency) for m in (members | e.members, members & e.members))
    return bool(either and both >= _SAME * either)


def _why(step, result):
    """Return why a detector does not find a group."""
    if step.role == LEAD and step.null in _ACCOUNTED:
        return _ACCOUNTED[step.null]
    return f"lists no such group ({step.null}: {result.verdict})"
