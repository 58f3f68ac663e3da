"""The evidence table: one row for each distinct finding over all methods, shadows folded."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skdisc._registry import all_detectors
from skdisc._results._findings import GroupFindings
from skdisc._results._judgment import FOUND, confirmed_p
from skdisc._stats._rates import RATES
from skdisc.auditing._audited_rows import AuditedRows
from skdisc.auditing._cells import examined, strength
from skdisc.auditing._figures import (
    EQUAL,
    GAP,
    HELD_OUT,
    RATE_OF,
    REVERSED,
    as_gaps,
    finite_or_none,
    versus_of,
    what_is_shown,
)
from skdisc.auditing._plan import DESCRIBES, LEAD

CAUSE, RAW, CONTEXT = "cause", "gap", "context"
_KINDS = {"conditional": CAUSE, "marginal": RAW, "calibration": RAW, "contextual": CONTEXT}
_SAME = 0.8  # groups that share so much of their people are one finding
_EXPLAINED = 0.5  # share of an effect that a cause must account for to be called its cause
_RATES = frozenset(RATES)


@dataclass
class Evidence:
    """A finding of a lead, on its way to a row of the table.

    Parameters
    ----------
    what : str
        What its effect is, as in `Figures`.
    numbers : dict
        The finding's row in the table of its result.
    audited : AuditedRows
        Tell who belongs to the group. Masks of hundreds of findings are not kept: those of a
        million people would take gigabytes.
    p : float
        Its p-value, corrected over the whole audit.
    versus : str
        With whom the people are compared.
    is_of_sample : bool
        Whether the detector drew a sample of the people.
    shadows : list of Evidence
        What it accounts for.
    """

    step: object
    group: object
    what: str
    numbers: dict
    audited: AuditedRows
    p: float
    versus: str
    attributes: list
    is_of_sample: bool = False
    shadows: list = field(default_factory=list)

    @property
    def kind(self):
        """What it is: a cause, the gap of a protected group, or a gap within a context."""
        return _KINDS[self.step.null]

    @property
    def members(self):
        """The people of the group, a mask of the rows."""
        return self.audited.masks.members(self.group)

    @property
    def context(self):
        """Those who meet its conditions on other columns, a mask of the rows."""
        return self.audited.masks.context(self.group, self.step.protected)

    @cached_property
    def who(self):
        """What is equal for findings about the same people in the same context."""
        return tuple(np.packbits(mask).tobytes() for mask in (self.members, self.context))

    @property
    def people(self):
        """The number of people of the group who were examined."""
        if self.is_of_sample:
            return examined(self.numbers)
        return self.audited.people(self.members)

    @property
    def others(self):
        """The number of people in its context who are not in the group."""
        return self.audited.people(self.context & ~self.members)

    @property
    def fewest(self):
        """The number of people on the smaller side, or held out, or searched, if it is smaller."""
        parts = [self.numbers[n] for n in ("support", "held_out_support") if n in self.numbers]
        return int(min(self.people, self.others, *parts))

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
        worse = -_sign(self.step, self.numbers["measure"], self.effect)
        return (-np.log10(max(p, 1e-300)) if p == p else 0.0, z, worse)

    def is_side_of(self, finding):
        """Return True if another finding has the same protected part, measure and direction."""
        side, other_side = (
            (_protected_part(e), e.numbers["measure"], np.sign(e.effect)) for e in (self, finding)
        )
        return side == other_side

    def mirrors(self, finding):
        """Return True if it is about everybody else in the same context."""
        is_one = self.numbers["measure"] == finding.numbers["measure"] and self.kind == finding.kind
        return is_one and bool((self.members == (finding.context & ~finding.members)).all())


def find_evidence(audited, plan, results, verdicts, significance, figures):
    """Return the rows of the evidence table and the rows of the shadows.

    `audited`: AuditedRows. `verdicts`: from `judge`. `figures`: which has the numbers of all rows.
    Returns `evidence` and `shadows`: as in the document, with the number of the "fewest" people
    that a number is about.
    """
    findings = _distinct(_collected(audited, plan, results, verdicts, significance))
    rows = []
    for e in findings:
        if e.kind != CONTEXT and not any(e.mirrors(r) for r in rows):
            rows.append(e)
    for e in (e for e in findings if e.kind == CONTEXT):
        # What is found is no shadow of something that is not.
        home = _home(e, [r for r in rows if r.p <= significance or e.p > significance])
        if home is None:
            rows.append(e)
        elif home.who != e.who:
            home.shadows.append(e)
    rows.sort(key=lambda e: (e.p > significance, e.kind != CAUSE, e.p))
    found_members = _FoundMembers(audited.masks)
    ranked = []
    for rank, e in enumerate(rows, 1):
        agree, disagree = _agreeing_detectors(e, plan, results, significance, found_members)
        row = {
            **_row(rank, e, audited, significance, figures),
            "agree": agree,
            "disagree": disagree,
            "n_shadows": len(e.shadows),
            "again": _causes_of_same_people(e, rows, significance),
        }
        ranked.append(row)
    shadows = [_shadow(i, s, figures) for i, e in enumerate(rows, 1) for s in e.shadows]
    return ranked, shadows


def joined_evidence(several):
    """Return the rows of the evidence tables of several tables of people, and their shadows.

    `several`: from `find_evidence`.
    """
    numbered_rows = [(k, row) for k, (evidence, _) in enumerate(several) for row in evidence]
    numbered_rows.sort(key=lambda pair: (not pair[1]["found"], pair[1]["p_adjusted"]))
    rank = {(k, row["rank"]): i for i, (k, row) in enumerate(numbered_rows, 1)}
    evidence = [
        row | ranked_again(row, {r: new for (j, r), new in rank.items() if j == k})
        for k, row in numbered_rows
    ]
    shadows = [s | {"of": rank[k, s["of"]]} for k, (_, rows) in enumerate(several) for s in rows]
    return evidence, shadows


def ranked_again(row, ranks):
    """Return the new rank of a row, and the new ranks of the rows that it refers to."""
    repeats = row.get("again")
    ranks_shown = (
        [] if repeats is None else sorted(ranks[r] for r in repeats["ranks"] if r in ranks)
    )
    return {
        "rank": ranks[row["rank"]],
        "again": repeats | {"ranks": ranks_shown} if ranks_shown else None,
    }


def _collected(audited, plan, results, verdicts, significance):
    """Return the findings of all leads about groups, the strongest first."""
    cells = {(v["attribute"], v["null"]): v for v in verdicts if v["kind"] == "cell"}
    n_rejected = sum(v["verdict"] == FOUND for v in cells.values())
    scale, findings = len(cells) / max(n_rejected, 1), []
    for step in plan.steps:
        result = results.get(step.name)
        if step.role != LEAD or step.on != "given" or result is None:
            continue
        if not isinstance(result.findings, GroupFindings) or step.null not in _KINDS:
            continue
        table, cell = as_gaps(result.findings.table), cells[step.attribute, step.null]
        prefix, p_values = "held_out_" if "held_out_p_adjusted" in table else "", confirmed_p(table)
        for i in np.argsort(-strength(table, prefix), kind="stable"):
            numbers = table.iloc[i].to_dict()
            p = p_values.iloc[i]
            if not p <= significance or numbers["measure"] == "impact_ratio":
                continue
            corrected = min(1.0, p * scale)
            if cell["verdict"] != FOUND:
                corrected = max(corrected, cell["p_adjusted"], np.nextafter(significance, 1))
            numbers["measure"] = RATE_OF.get(numbers["measure"], numbers["measure"])
            group = result.findings.subgroups[i]
            finding = Evidence(
                step,
                group,
                what_is_shown(step, table, numbers["measure"]),
                numbers,
                audited,
                p=corrected,
                versus=_compared_with(result, step, group, numbers, audited),
                attributes=[step.attribute],
                is_of_sample=audited.drew_others(result),
            )
            findings.append(finding)
    return findings


def _compared_with(result, step, group, numbers, audited):
    """Return, as text, with whom the people of a finding are compared.

    Conditions on protected columns that the question is not about belong to both sides, and are
    named: in a question about sex, black women are compared with black men, and in a question about
    race with other women.
    """
    text = versus_of(result, numbers)
    columns = [c for c in audited.protected if c not in step.protected]
    shared = [str(p) for p in getattr(group, "predicates", ()) if p.column in columns]
    return f"{text}, {' and '.join(shared)}" if shared else text


def _distinct(findings):
    """Return the findings, joined where people, kind and measure are equal."""
    by_key = {}
    for e in findings:
        key = e.kind, e.numbers["measure"], e.who
        first = by_key.setdefault(key, e)
        if first is not e:
            first.attributes = list(dict.fromkeys([*first.attributes, *e.attributes]))
            if e.p < first.p:
                by_key[key] = e
                e.attributes, e.shadows = first.attributes, first.shadows
    return sorted(by_key.values(), key=lambda e: e.evidence, reverse=True)


def _home(e, rows):
    """Return the row that accounts for a finding within a context, or None."""
    same = [r for r in rows if r.who == e.who]
    if same:
        return same[0]
    causes_of_attribute = [
        r for r in rows if r.kind == CAUSE and set(r.attributes) & set(e.attributes)
    ]
    shares = [_explained(c, e) for c in causes_of_attribute]
    if max(shares, default=0.0) >= _EXPLAINED:
        return causes_of_attribute[int(np.argmax(shares))]
    return next((r for r in rows if r.kind != CAUSE and r.is_side_of(e)), None)


def _explained(cause, e):
    """Return the share of an effect that a cause adds to it: its effect times the overlap."""
    rest = e.context & ~e.members
    inside, beside = (_share_of(cause, mask) for mask in (e.members, rest))
    return cause.effect * (inside - beside) / e.effect if e.effect else 0.0


def _share_of(cause, mask):
    """Return the share of the people of a mask that are in the group of a cause; 0 of none."""
    n = cause.audited.people(mask)
    return cause.audited.people(cause.members & mask) / n if n else 0.0


def _protected_part(e):
    """Return the conditions of a group on the protected columns of its step, as text."""
    several = getattr(e.group, "predicates", ())
    return tuple(str(p) for p in several if p.column in e.step.protected)


def _shadow(rank, e, figures):
    """Return the row of a shadow."""
    return {
        "of": rank,
        "group": str(e.group),
        "null": e.step.null,
        "method": e.step.detector,
        **figures.numbers(e.what, e.step.attribute, e.group, e.numbers["measure"]),
        "people": e.people,
        "fewest": e.fewest,
        "p_adjusted": float(e.p),
    }


def _row(rank, e, audited, significance, figures):
    """Return the row of a finding, without what other methods find."""
    quantity = e.step.attribute, e.group, e.numbers["measure"]
    held = [f"held_out_{n}" for n in ("effect", "ci_low", "ci_high")]
    is_held = "held_out_effect" in e.numbers
    conditions = [
        {"column": str(p.column), "text": str(p), "protected": p.column in audited.protected}
        for p in getattr(e.group, "predicates", ())
    ]
    row = {
        "rank": rank,
        "group": str(e.group),
        "conditions": conditions,
        "attributes": e.attributes,
        "kind": e.kind,
        "null": e.step.null,
        "found": bool(e.p <= significance),
        "p_adjusted": float(e.p),
        **figures.numbers(e.what, *quantity),
        "p_value": finite_or_none(e.numbers["p_value"]),
        **figures.numbers(e.what + HELD_OUT, *quantity, held),
    }
    if e.kind == CAUSE:
        row |= figures.raw_gap(*quantity[:2], e.members, e.context)
        alone = ("alone", "alone_ci_low", "alone_ci_high")
        row |= figures.numbers(EQUAL + HELD_OUT * is_held, *quantity, alone)
    else:
        row |= figures.numbers(e.what, *quantity, ("gap", "gap_ci_low", "gap_ci_high"))
        row |= dict.fromkeys(("alone", "alone_ci_low", "alone_ci_high", "alone_ci_level"))
    is_raw = e.kind != CAUSE and e.numbers["measure"] == "selection_rate"
    equal = ("equal", "equal_ci_low", "equal_ci_high")
    row |= figures.numbers(EQUAL if is_raw else "", *quantity, equal)
    figures.tell_rates(GAP, *quantity, e.members, e.context)
    share = audited.people(e.members) / audited.people()
    row |= {"people": e.people, "fewest": e.fewest, "share": share}
    row["judged"] = bool(audited.share(e.members) >= figures.relevant_size)
    if audited.numbers is not None and e.numbers["measure"] == "selection_rate":
        row["rate_others"] = finite_or_none(audited.rate("selection_rate", e.context & ~e.members))
    return row | {
        "compared_with": e.versus,
        "measure": e.numbers["measure"],
        "lead": e.step.detector,
    }


class _FoundMembers:
    """The members of the significant findings of results, counted once."""

    def __init__(self, masks):
        self._masks, self._by_step = masks, {}

    def of(self, step, result, significance):
        """Return members, context, sign (-1: worse off) and measure of each significant finding."""
        if step.name not in self._by_step:
            table, groups = as_gaps(result.findings.table), result.findings.subgroups
            significant_places = (
                np.flatnonzero(confirmed_p(table) <= significance) if len(table) else []
            )
            self._by_step[step.name] = [
                (
                    self._masks.members(groups[i]),
                    self._masks.context(groups[i], step.protected),
                    _sign(step, table["measure"].iloc[i], table["effect"].iloc[i]),
                    table["measure"].iloc[i],
                )
                for i in significant_places
            ]
        return self._by_step[step.name]


def _agreeing_detectors(e, plan, results, significance, found_members):
    """Return the detectors that find the same gap of the same people, and those that do not.

    A detector is asked about a gap only if it measures that gap: the same measure, of the same
    people, against the same others, and both raw or both at equal columns. Those that do not find
    it come with the reason.
    """
    agree, disagree = [e.step.detector], {}
    direction = _sign(e.step, e.numbers["measure"], e.effect)
    for step in plan.steps:
        result = results.get(step.name)
        if result is None or step.on != "given" or step.detector in agree:
            continue
        is_about = step.role != DESCRIBES and set(step.protected) & set(e.step.protected)
        if not is_about or _kind_of_gap(step.null) != _kind_of_gap(e.step.null):
            continue
        if not isinstance(result.findings, GroupFindings):
            continue
        several = found_members.of(step, result, significance)
        if any(
            sign == direction
            and _is_same_measure(measure, e.numbers["measure"])
            and _are_alike(members, e.members, e.audited)
            and _are_alike(context, e.context, e.audited)
            for members, context, sign, measure in several
        ):
            agree.append(step.detector)
            disagree.pop(step.detector, None)
        elif (why := _why(e, result)) is not None:
            disagree[step.detector] = why
    return agree, [{"detector": d, "why": why} for d, why in disagree.items()]


def _kind_of_gap(null):
    """Return what a null hypothesis compares: raw gaps, of whatever context, are one kind."""
    return "gap" if null in ("marginal", "contextual") else null


def _is_same_measure(first, second):
    """Return True if two measures may be the same; a detector's own measures have other names."""
    first, second = RATE_OF.get(first, first), RATE_OF.get(second, second)
    return first == second or not {first, second} <= _RATES


def _causes_of_same_people(e, rows, significance):
    """Return the causes that are about the people of a gap, in parts: who found them, and ranks."""
    causes = [
        (rank, r)
        for rank, r in enumerate(rows, 1)
        if r.kind == CAUSE != e.kind and r.is_side_of(e) and r.p <= significance
    ]
    if not causes:
        return None
    return {"detector": causes[0][1].step.detector, "ranks": [rank for rank, _ in causes]}


def _sign(step, measure, effect):
    """Return the direction of an effect: -1 if the group is worse off."""
    worse = all_detectors()[step.detector].card.worse
    return np.sign(-worse * effect) * (-1 if measure in REVERSED else 1)


def _are_alike(first, second, audited):
    """Return True if two groups share nearly all of their people."""
    n_in_any, n_shared = audited.people(first | second), audited.people(first & second)
    return bool(n_in_any and n_shared >= _SAME * n_in_any)


def _why(e, result):
    """Return why a detector that tested a gap does not find it; None if it did not test it."""
    tested = result.tables.get("family")
    if tested is None:
        return None
    measure = tested["measure"].replace("", result.measure).replace(RATE_OF)
    tests_of_group = tested[(tested["group"] == str(e.group)) & (measure == e.numbers["measure"])]
    if not len(tests_of_group) or tests_of_group["found"].any():
        return None
    n = result.n_tested
    return f"not significant after its correction for {n:,} group{'s' * (n != 1)}"
