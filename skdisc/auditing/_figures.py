"""The figures of a report: one record for each quantity, from which all of its tables take it."""

import numpy as np
import pandas as pd

from skdisc._results._findings import GroupFindings
from skdisc._results._judgment import confirmed_p
from skdisc._space._conjunction_texts import conditions_in
from skdisc._verdicts._candidates import Candidates
from skdisc.auditing._plan import DESCRIBES, LEAD

RATE_OF = {  # the rate that a measure compares
    "mean_difference": "selection_rate",
    "mean": "selection_rate",  # of numbers, whose measure is named in the document
    "value": "selection_rate",
    "equal_opportunity": "true_positive_rate",
    "balance_negative_class": "false_positive_rate",
    "predictive_parity": "positive_predictive_value",
}
REVERSED = ("predictive_parity", "positive_predictive_value")  # the worse off have more
GAP, EQUAL, BESIDE, RATIO = "gap", "equal", "beside", "ratio"
TO_REFERENCE = "gap to reference"
HELD_OUT = " (held out)"
_ROUNDING = 1e-9
_UNKNOWN = ("people", "others", "rate", "rate_others", "judged", "cleared")
WHAT = {"marginal": GAP, "contextual": GAP, "calibration": GAP, "conditional": EQUAL}
_ORDER = ("marginal", "calibration", "contextual", "conditional")


class Figures:
    """The quantities that an audit estimates.

    A quantity is *what* is compared (a raw gap, a gap at equal legitimate columns, what a cause
    adds to the others, a ratio), for which protected column, for which group and by which measure.
    The same gap is estimated by several detectors, with intervals of several levels; a reader must
    meet one number with one interval wherever the gap is printed. That of a finding has its
    false-coverage-rate interval; all others have the two-sided interval whose larger end is the one
    that verdicts are about. A question that comes earlier (marginal, calibration, contextual,
    conditional) has the say.

    `used`: the records that were asked for, by their keys, in the order of asking.
    """

    def __init__(self, audited, plan, results, rule):
        self.audited, self.significance = audited, rule.significance
        self.relevant_size = rule.relevant_size
        self.used, self._records, self._other_value = {}, {}, {}
        order = {null: i for i, null in enumerate(_ORDER)}
        steps = [s for s in plan.steps if s.on == "given" and s.name in results]
        steps.sort(key=lambda s: (s.role != LEAD, order.get(s.null, len(order))))
        steps = [s for s in steps if s.role in (LEAD, DESCRIBES) or s.detector == "GroupDisparity"]
        self._of_two_values = {
            str(s.attribute)
            for s in steps
            if s.null == "marginal"
            and len(s.protected) == 1
            and audited.X[s.protected[0]].nunique(dropna=False) == 2
        }
        for step in steps:
            self._learn_other_values(step, results[step.name])
        for is_found in (True, False):
            for step in steps:
                if not is_found:
                    self._take_family(step, results[step.name])
                    self._take_comparable(step, results[step.name])
                self._take_findings(step, results[step.name], is_found)

    def get(self, what, attribute, group, measure):
        """Return the record of a quantity; None if nobody estimated it."""
        key = self._named((what, str(attribute), str(group), RATE_OF.get(measure, measure)))
        record = self._records.get(key)
        if record is not None:
            self.used.setdefault(key, record)
        return record

    def numbers(self, what, attribute, group, measure, names=("effect", "ci_low", "ci_high")):
        """Return estimate, ends and level of a quantity as a dict; None where nothing is known."""
        record = self.get(what, attribute, group, measure) or {}
        values = [record.get(name) for name in ("estimate", "low", "high")]
        level = f"{names[1].removesuffix('_low')}_level"
        return dict(zip(names, values, strict=True)) | {level: record.get("level")}

    def raw_gap(self, attribute, group, members, context):
        """Return estimate and interval of the selection rates of members and others, as a dict.

        It is that of the question about raw gaps, if that compares the group.
        """
        key = GAP, str(attribute), str(group), "selection_rate"
        is_counted = self.audited.weight is None and self.audited.numbers is None
        if key not in self._records and is_counted:
            audited, rest = self.audited, context & ~members
            x1, n1, x0, n0 = (
                audited.people(m & s)
                for m in (members, rest)
                for s in (audited.outcomes == 1, True)
            )
            c = Candidates.of_rates([x1], [n1], [x0], [n0])
            if n1 and n0:
                row = c.table(self.significance).iloc[0]
                numbers = row[["estimate", "low", "high", "level"]].to_dict()
                self._add(key, "", **numbers, people=n1, others=n0)
        return self.numbers(*key[:3], key[3], ("gap", "gap_ci_low", "gap_ci_high"))

    def rows(self):
        """Return the records that were asked for, with the rates of both sides."""
        names = ("what", "attribute", "group", "measure")
        return [dict(zip(names, key, strict=True)) | record for key, record in self.used.items()]

    def tell_rates(self, what, attribute, group, measure, members, context):
        """Write the rates of both sides, and their people, into the record of a raw gap.

        Not where the gap is of other rows, such as the part that was searched.
        """
        record = self.get(what, attribute, group, measure)
        what, *_ = self._named((what, str(attribute)))
        if record is None or what not in (GAP, TO_REFERENCE) or record["rate"] is not None:
            return
        name, audited, rest = RATE_OF.get(measure, measure), self.audited, context & ~members
        rate, rate_others = audited.rate(name, members), audited.rate(name, rest)
        is_gap = what == GAP
        if is_gap and abs(rate - rate_others - record["estimate"]) > _ROUNDING * max(1, abs(rate)):
            return
        record["rate"] = finite_or_none(rate)
        record["people"] = audited.people(audited.among(name, members))
        if is_gap:
            record["rate_others"] = finite_or_none(rate_others)
            record["others"] = audited.people(audited.among(name, rest))

    def _learn_other_values(self, step, result):
        """Learn which value is all others, of protected columns of two values."""
        if step.null != "marginal" or not isinstance(result.findings, GroupFindings):
            return
        groups = {str(group): group for group in result.findings.subgroups}
        names, is_all = list(groups), str(step.attribute) in self._of_two_values
        if len(names) == 1:  # the other value may be the reference
            names.append(versus_of(result, result.findings.table.iloc[0].to_dict()))
        elif len(names) == 2 and not is_all:  # numbers of many values may be cut in two
            one, other = map(self.audited.masks.members, groups.values())
            is_all = bool((one != other).all())
        if len(names) == 2 and is_all:
            self._other_value[str(step.attribute)] = dict(zip(names, names[::-1], strict=True))

    def _named(self, key):
        """Return the key of a quantity: of two values, the reference is everyone else."""
        what, attribute, *_ = key
        is_gap = what.startswith(TO_REFERENCE) and attribute in self._of_two_values
        return (what.replace(TO_REFERENCE, GAP), *key[1:]) if is_gap else key

    def _mirrored(self, key):
        """Return the key of the others in the context, where one other value is all of them."""
        what, attribute, group, measure = key
        other_value = self._other_value.get(attribute, {})
        mirrored = " and ".join(other_value.get(c, c) for c in conditions_in(group))
        return None if mirrored == group else (what, attribute, mirrored, measure)

    def _add(self, key, versus, estimate, low, high, level, **more):
        """Keep a record, and a record of the other side of the comparison, unless there is one."""
        key = self._named(key)
        if not np.isfinite(estimate) or key in self._records:
            return
        details = dict.fromkeys(_UNKNOWN) | {"level": round(float(level), 10)} | more
        details["compared_with"] = versus
        ends = [float(estimate), finite_or_none(low), finite_or_none(high)]
        names = ("estimate", "low", "high")
        self._records[key] = dict(zip(names, ends, strict=True)) | details
        mirrored_key = self._mirrored(key)
        is_gap = not key[0].startswith((RATIO, TO_REFERENCE))
        if mirrored_key is None or not is_gap or mirrored_key in self._records:
            return
        ends = [None if v is None else -v for v in (ends[0], ends[2], ends[1])]
        sides = {"people": details["others"], "others": details["people"]}
        if versus == mirrored_key[2]:  # the reference itself is compared with the group
            sides["compared_with"] = key[2]
        self._records[mirrored_key] = dict(zip(names, ends, strict=True)) | details | sides

    def _take_findings(self, step, result, is_found):
        """Take the estimates of the findings that are significant, or of the others."""
        if step.null not in WHAT or not isinstance(result.findings, GroupFindings):
            return
        table, what = as_gaps(result.findings.table), gap_of(step)
        plain = 1 - result.significance
        for i in np.flatnonzero((confirmed_p(table) <= result.significance) == is_found):
            row, group = table.iloc[i].to_dict(), str(result.findings.subgroups[i])
            quantity = what_is_shown(step, table, row["measure"])
            key = quantity, str(step.attribute), group, RATE_OF.get(row["measure"], row["measure"])
            versus, people = versus_of(result, row), {"people": int(row["support"])}
            level = row.get("level", 1 - row.get("ci_significance", result.significance))
            if "held_out_effect" in table:
                ends = (row[f"held_out_{n}"] for n in ("effect", "ci_low", "ci_high"))
                held = {"people": int(row["held_out_support"])}
                self._add((quantity + HELD_OUT, *key[1:]), versus, *ends, plain, **held)
            ends = row["effect"], row["ci_low"], row["ci_high"]
            self._add(key, versus, *ends, level, **people)
            if quantity == BESIDE:
                ends = row["alone"], row["alone_low"], row["alone_high"]
                self._add((what, *key[1:]), versus, *ends, level, **people)
                if "held_out_alone" in table:
                    ends = (row[f"held_out_{n}"] for n in ("alone", "alone_low", "alone_high"))
                    self._add((what + HELD_OUT, *key[1:]), versus, *ends, plain)

    def _take_family(self, step, result):
        """Take the estimates of the candidates of a question."""
        table, what = result.tables.get("family"), gap_of(step)
        if table is None or not what:
            return
        for row in table.to_dict("records"):
            measure = row["measure"] or result.measure
            measure = RATE_OF.get(measure, measure)
            key = what, step.attribute, row["group"], measure
            numbers = {name: row[name] for name in ("estimate", "low", "high", "level")}
            numbers |= {"people": round(row["n"]), "others": whole_or_none(row["n_others"])}
            marks = {"judged": bool(row["judged"]), "cleared": bool(row["cleared"])}
            self._add(key, result.versus, **numbers)
            for one in filter(None, (key, self._mirrored(key))):
                if one in self._records and self._records[one]["judged"] is None:
                    self._records[one].update(marks)

    def _take_comparable(self, step, result):
        """Take the gaps of single protected values at equal columns, where no family has them."""
        level = 1 - result.significance
        for row in result.tables.get("comparable", pd.DataFrame()).to_dict("records"):
            if {"group", "effect", "ci_low", "ci_high", "support"} <= {*row}:
                key = EQUAL, step.attribute, row["group"], "selection_rate"
                ends = row["effect"], row["ci_low"], row["ci_high"]
                self._add(key, result.versus, *ends, level, people=int(row["support"]))


def what_is_shown(step, table, measure):
    """Return the quantity that the effects of findings are: of several causes, given each other.

    The effect of a single cause is all that its group differs by.
    """
    if measure == "impact_ratio":
        return RATIO
    return BESIDE if "alone" in table and len(table) > 1 else gap_of(step)


def gap_of(step):
    """Return what the candidates of a step differ by."""
    if step.null == "marginal" and has_reference(step):
        return TO_REFERENCE
    return WHAT.get(step.null, "")


def has_reference(step):
    """Return whether a step compares groups with one of them, as templates of rates do."""
    return bool(step.settings.get("preset")) or step.settings.get("reference", "rest") != "rest"


def versus_of(result, row):
    """Return with whom the people of a finding are compared."""
    reference = row.get("reference", result.versus)
    return "everyone else" if reference == "rest" else str(reference)


def whole_or_none(n):
    """Return a number of people, or None for one that is not known."""
    return round(n) if np.isfinite(n) else None


def finite_or_none(value):
    """Return a float, or None for what is not finite, which JSON does not have."""
    value = float(value)
    return value if np.isfinite(value) else None


def as_gaps(table):
    """Return findings with every effect as the rate of the group minus the rate of the others.

    `GroupDisparity` signs effects such that they are below 0 where the group is worse off. Of the
    people selected those of a group that is worse off do better, so there the gap is above 0.
    """
    if "measure" not in table or not (table["measure"] == "predictive_parity").any():
        return table
    rows = (table["measure"] == "predictive_parity").to_numpy()
    table = table.copy()
    for prefix in ("", "held_out_"):
        names = [f"{prefix}{name}" for name in ("effect", "ci_low", "ci_high")]
        if names[0] in table:
            effect, low, high = (table.loc[rows, name] for name in names)
            table.loc[rows, names[0]] = -effect
            table.loc[rows, names[1]], table.loc[rows, names[2]] = -high, -low
    return table
