"""Comparison of two audits: which answers moved, and by how much."""

import math
import textwrap
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from skdisc._results._judgment import FOUND
from skdisc._stats import adjust
from skdisc.auditing._beside._paired import PairedPeople
from skdisc.auditing._internal import leaves_out_rows
from skdisc.auditing._pay._record import JOINED

_QUESTION = ["attribute", "null"]
_ROW = ["group", "null", "measure"]
_SAME = ("group", "measure")
_FIGURE = ["row", "figure", "component", "basis", "among", "group"]
_GAP = ["gap", "ci_low", "ci_high", "ci_level"]
_NUMBERS = ["effect", "ci_low", "ci_high", "ci_level"]
_NONE = "–"
PAIRED = (
    "Both models decided about the same people. The intervals of changes count how alike they "
    "decide about those whom a gap is about (Zou, Donner 2008, with the correlation of both "
    "estimates); at equal legitimate columns the correlation is that of the raw gaps."
)
SAME_ROWS = (
    "Both audits are of the same rows, so they are not independent: the intervals of changes are "
    "those of different people, and too wide where both models decide alike. Pass the rows and "
    "the decisions of both models for paired ones (skdisc compare --data)."
)
ASSUMED = (
    "Changes of effects assume that the two audits are of different people, drawn independently. "
    "Their intervals combine those of the audits (the method of variance estimates recovery: "
    "Zou, Donner 2008). Groups were listed because their effects are large, so part of a change "
    "may be regression to the mean, except between held-out estimates. Of two models and the same "
    "people, pass these for paired intervals (skdisc compare --data)."
)


OF_PAY = (
    "Changes of pay take the two tables as those of different people. Where most people are in "
    "both, the intervals of changes are too wide, so that a real change may have an interval with "
    "0 in it. Each interval of a change holds by itself with {level:.4g} %, those of categories, "
    "too: among many figures of other people, some have an interval without 0 by chance."
)
OF_JOINED = (
    "The categories that were joined, because few people work in them, are others in the two "
    "reports: no change is given of them."
)


class AuditComparison:
    """What differs between two audits.

    Parameters
    ----------
    before, after : dict
        Documents of the two audits.
    people : PairedPeople, optional
        The people of both audits, if they are the same.

    Attributes
    ----------
    verdicts : DataFrame
        One row for each question: attribute, null, the two verdicts, and the change: "same",
        "other", "only before" or "only after".
    evidence : DataFrame
        One row for each finding of either audit, matched by group, null and measure: "both",
        "disappeared" or "appeared"; the effects, people and the change of the effect (after minus
        before) with interval, p-value, and p-value corrected by Holm. The effect of a finding of
        one audit is in the other that of the same group there, at equal legitimate columns all
        that it differs by; NaN if it is not estimated, or estimated from people held out in the one
        audit only. ``paired``: whether the interval is that of the same people. ``has_turned``:
        whether the audit without the finding estimates a gap of the other sign, from all people.
    pay : DataFrame
        One row for each figure of pay of either report: which it is, gap and interval of both (of
        quarters, the share of women), and the change with its interval, as of different people;
        empty for other templates.
    notes : list of str
        What is assumed, and how the audits differ in their settings.

    Examples
    --------
    >>> from skdisc import Audit
    >>> from skdisc.datasets import make_loan
    >>> audit = Audit(protected="gender", random_state=0)
    >>> early, late = (
    ...     audit.fit(*make_loan(1000, random_state=seed, return_X_y=True)).report_
    ...     for seed in (0, 1)
    ... )
    >>> comparison = early.compare(late)
    >>> isinstance(comparison, AuditComparison), set(comparison.verdicts["change"])
    (True, {'same'})
    """

    def __init__(self, before: dict, after: dict, people: PairedPeople | None = None) -> None:
        _check_outcomes(before, after)
        self.verdicts = _verdicts(before, after)
        self.evidence = _evidence(before, after, people)
        self._are_asked = _are_asked(self.evidence, before, after)
        significance = max(d["about"]["significance"] for d in (before, after))
        self.pay = _pay(before, after, significance)
        paired = people is not None and bool(self.evidence["paired"].all())
        assumed = PAIRED if paired else ASSUMED
        self.notes = _differences(before, after, people) + [assumed] * len(self.evidence[:1])
        self.notes += [OF_PAY.format(level=100 * (1 - significance))] * len(self.pay[:1])
        has_joined = bool(len(self.pay)) and bool(_is_joined(self.pay).any())
        self.notes += [OF_JOINED] * (has_joined and _are_joined_otherwise(before, after))

    @property
    def found_anew(self) -> bool:
        """Whether a question is answered "disparity found" that was not, or the sides changed."""
        is_new = (self.verdicts["after"] == FOUND) & (self.verdicts["before"] != FOUND)
        of_groups = self.evidence[self.evidence["null"] == "marginal"]
        # The question has the same answer, but now others are worse off.
        has_turned = (of_groups["status"] == "appeared") & of_groups["has_turned"]
        return bool(is_new.any() or has_turned.any())

    def to_text(self) -> str:
        """Return the comparison as text."""
        lines = ["Verdicts"]
        for row in self.verdicts.itertuples():
            change = {
                "same": row.after,
                "other": f"{row.before} -> {row.after}",
                "only before": f"{row.before}; not asked after",
                "only after": f"{row.after}; not asked before",
            }[row.change]
            lines.append(f"  {row.attribute}, {row.null}: {change}")
        if len(self.pay):
            lines += ["", "Pay: women's is lower by, in percent, and the change in points"]
        for row in self.pay.itertuples():
            among = ", among those who receive it" * (row.among == "recipients")
            group = "" if pd.isna(row.group) else f" of {row.group}"
            what = f"{row.figure}, {row.component} pay{group}"
            if row.figure == "quarter":
                what = f"share of women in {row.group}"
            lines.append(f"  ({row.row}) {what}, {row.basis}{among}")
            old = _in_percent(row.gap_before, row.ci_low_before, row.ci_high_before)
            new = _in_percent(row.gap_after, row.ci_low_after, row.ci_high_after)
            change = _in_percent(row.change, row.ci_low, row.ci_high, sign="+")
            change = "" if pd.isna(row.change) else f": change {change}"
            has_points = row.figure == "receive" and (old, new) != (_NONE, _NONE)
            points = " points" * has_points
            lines.append(f"    {old} -> {new}{change}{points}")
        lines += ["", "Evidence"]
        for row, is_asked in zip(self.evidence.itertuples(), self._are_asked, strict=True):
            lines.append(f"  {row.group} ({row.null}, {row.measure})")
            lines.append(f"    {_fate_of_finding(row, is_asked)}")
        lines += ["  none in either audit"] * (not len(self.evidence))
        for note in self.notes:
            lines += ["", *textwrap.wrap(note, 80)]
        return "\n".join(lines)

    def __repr__(self):
        n = (self.verdicts["change"] != "same").sum()
        return f"AuditComparison({n} of {len(self.verdicts)} verdicts differ)"


def _pay(before, after, significance):
    """Return the gaps of both reports of pay side by side, and their changes.

    Of a quarter, the share of women stands for the gap.
    """
    frames = []
    for name, document in (("before", before), ("after", after)):
        rows = [
            row | ({"gap": row["women_value"]} if row["figure"] == "quarter" else {})
            for row in document.get("pay") or []
        ]
        frame = pd.DataFrame(rows, columns=[*_FIGURE, *_GAP])
        frames.append(frame.rename(columns={gap: f"{gap}_{name}" for gap in _GAP}))
    joined = frames[0].merge(frames[1], on=_FIGURE, how="outer", sort=False)
    effects = joined.rename(columns={f"gap_{end}": f"effect_{end}" for end in _ENDS})
    z = -special.ndtri(significance / 2)
    changes = _changes(effects, z, np.zeros(len(joined)))[["change", "ci_low", "ci_high"]]
    if _are_joined_otherwise(before, after):
        changes[_is_joined(joined)] = np.nan
    return pd.concat([joined, changes], axis=1)


def _is_joined(pay):
    """Return a boolean mask of the figures about small categories that were joined."""
    return pay["group"].isin([JOINED, f"all {JOINED}"])


def _are_joined_otherwise(before, after):
    """Return whether other small categories of workers are joined in two reports of pay."""
    first, second = ((d.get("about_pay") or {}).get("joined") for d in (before, after))
    return first != second


def _in_percent(gap, low, high, sign=""):
    """Return a gap with its interval in percent."""
    if pd.isna(gap):
        return _NONE
    ends = "" if pd.isna(low) or pd.isna(high) else f" [{100 * low:z.1f}, {100 * high:z.1f}]"
    return f"{100 * gap:{sign}z.1f}{ends}"


def _check_outcomes(before, after):
    """Raise ValueError if effects of the audits are in other units."""
    names = ("output", "scale")
    sides = [d["about"].get("outcome") for d in (before, after)]
    kinds = [None if one is None else [one[name] for name in names] for one in sides]
    if all(d.get("about_pay") for d in (before, after)):
        _check_pay(before, after)
    if kinds[0] != kinds[1]:
        outcomes = ["decisions" if k is None else f"{k[0]}s by their {k[1]}" for k in kinds]
        raise ValueError(
            f"The first audit compares {outcomes[0]}, the second {outcomes[1]}: their effects "
            "cannot be compared. Audit both with the same output and outcome_scale."
        )


def _check_pay(before, after):
    """Raise ValueError if one report of pay only is public, or per hour."""
    are_public = [d["about"].get("disclosure") == "public" for d in (before, after)]
    have_hours = [bool(d["about_pay"]["columns"].get("hours")) for d in (before, after)]
    words = ((are_public, "public", "internal"), (have_hours, "per hour", "not divided by hours"))
    for are, yes, no in words:
        if are[0] != are[1]:
            first, second = (yes if is_so else no for is_so in are)
            raise ValueError(
                f"The first report of pay is {first}, the second {second}: their figures cannot be "
                "compared. Make both in the same way."
            )


def _fate_of_finding(row, is_asked=True):
    """Return what became of a finding; nothing became of it where its question is not asked."""
    status = "" if row.status == "both" or not is_asked else f"{row.status}: "
    people = row.people_after if row.status == "appeared" else row.people_before
    if math.isnan(row.change):
        effect = row.effect_after if row.status == "appeared" else row.effect_before
        silent_audit = "before" if row.status == "appeared" else "after"
        silence = "estimated" if is_asked else "asked about"
        return f"{status}{effect:+z.3f}, {people:,.0f} people; not {silence} {silent_audit}"
    numbers = row.effect_before, row.effect_after, row.change, row.ci_low, row.ci_high
    before, after, change, low, high = (f"{v:+z.3f}" for v in numbers)
    text = f"{status}{before} -> {after}: {change} [{low}, {high}], p = {row.p_value:.2g}"
    return text if row.status == "both" else f"{text}; {people:,.0f} people"


def _verdicts(before, after):
    """Return the table of verdicts."""
    sides = [pd.DataFrame(d["verdicts"], columns=[*_QUESTION, "verdict"]) for d in (before, after)]
    joined = _outer(*(s.rename(columns={"verdict": n}) for s, n in zip(sides, _ENDS, strict=True)))
    words = {"disappeared": "only before", "appeared": "only after"}
    change = np.where(joined["before"] == joined["after"], "same", "other")
    change = [words.get(s, c) for s, c in zip(joined["status"], change, strict=True)]
    return joined.drop(columns="status").assign(change=change)


_ENDS = ("before", "after")


def _outer(left, right):
    """Return an outer join: rows of the left table in their order, then rows of the right only."""
    keys = [c for c in left if c in right]
    several = [list(map(tuple, side[keys].to_numpy().tolist())) for side in (left, right)]
    order = list(dict.fromkeys(several[0] + several[1]))
    index = pd.MultiIndex.from_tuples(order or [("",) * len(keys)], names=keys)[: len(order)]
    sides = [side.set_index(keys).reindex(index) for side in (left, right)]
    status = [(k in set(several[0]), k in set(several[1])) for k in order]
    words = {(True, True): "both", (True, False): "disappeared", (False, True): "appeared"}
    return pd.concat(sides, axis=1).reset_index().assign(status=[words[k] for k in status])


def _evidence(before, after, people):
    """Return the table of findings."""
    names = [*_ROW, *_NUMBERS, *(f"held_out_{n}" for n in _NUMBERS), "people"]
    sides = [
        pd.DataFrame(d["evidence"], columns=names).drop_duplicates(_ROW) for d in (before, after)
    ]
    are_held_out = all(s["held_out_effect"].notna().all() for s in sides)
    columns_of_numbers = [f"held_out_{n}" if are_held_out else n for n in _NUMBERS]
    tables = []
    for side, end in zip(sides, _ENDS, strict=True):
        numbers = side[columns_of_numbers].astype(float).set_axis(_NUMBERS, axis=1)
        side = pd.concat([side[_ROW], numbers, side["people"]], axis=1)
        tables.append(side.rename(columns={n: f"{n}_{end}" for n in [*_NUMBERS, "people"]}))
    joined = _outer(*tables)
    rows_by_key = _rows_by_key(before, after)
    likeness, has_turned = np.full(len(joined), np.nan), np.zeros(len(joined), dtype=bool)
    for i, key in enumerate(map(tuple, joined[_ROW].to_numpy().tolist())):
        row, gaps = rows_by_key[key], []
        if people is not None:
            likeness[i], gaps = people.likeness(row["conditions"], row["measure"])
        status = joined["status"].iloc[i]
        if status == "both":
            continue
        numbers = _without_finding(status, row, (before, after), gaps)
        if numbers is not None:
            has_turned[i] = row["effect"] * numbers[0] < 0
            if not are_held_out:  # otherwise they are of other people than the finding's numbers
                _complete(joined, i, row, numbers)
    joined["paired"], joined["has_turned"] = np.isfinite(likeness), has_turned
    significance = max(d["about"]["significance"] for d in (before, after))
    changes = _changes(joined, -special.ndtri(significance / 2), np.nan_to_num(likeness))
    columns = [*_ROW, "status", "effect_before", "effect_after", "people_before", "people_after"]
    return pd.concat([joined[columns], changes, joined[["paired", "has_turned"]]], axis=1)


def _rows_by_key(before, after):
    """Return the findings of both audits, those of the first where both have one."""
    return {tuple(row[n] for n in _ROW): row for d in (after, before) for row in d["evidence"]}


def _are_asked(evidence, before, after):
    """Return whether the audit without a finding asks its question about its columns, by finding.

    True where both have it.
    """
    asked = [{(v["attribute"], v["null"]) for v in d["verdicts"]} for d in (before, after)]
    rows, are_asked = _rows_by_key(before, after), []
    for row in evidence.itertuples():
        without = {"appeared": asked[:1], "disappeared": asked[1:]}.get(row.status, asked)
        attributes = rows[row.group, row.null, row.measure]["attributes"]
        are_asked.append(
            any((a, row.null) in questions for questions in without for a in attributes)
        )
    return are_asked


def _without_finding(status, row, documents, gaps):
    """Return what the audit without a finding says about its group, or None.

    Estimate, ends and level of the gap, from the document of that audit or, by `gaps`, from the
    people of both audits.
    """
    side = 1 if status == "disappeared" else 0
    numbers = _estimated(documents[side], row)
    is_estimable = row["null"] != "conditional" and not leaves_out_rows(documents[side])
    return gaps[side] if numbers is None and gaps and is_estimable else numbers


def _complete(joined, i, row, numbers):
    """Fill in what the audit without a finding says about its group, in place."""
    is_gone = joined["status"].iloc[i] == "disappeared"
    end_with_finding, end_without_finding = _ENDS if is_gone else _ENDS[::-1]
    at_equal = row["null"] == "conditional"
    joined.loc[joined.index[i], [f"{n}_{end_without_finding}" for n in _NUMBERS]] = numbers
    if at_equal and row["alone"] is not None:  # beside its other causes, it is another quantity
        alone = [row[f"alone{end}"] for end in ("", "_ci_low", "_ci_high", "_ci_level")]
        joined.loc[joined.index[i], [f"{n}_{end_with_finding}" for n in _NUMBERS]] = alone


def _estimated(document, row):
    """Return estimate, ends and level of the gap of a group in a document, or None."""
    what = "equal" if row["null"] == "conditional" else "gap"
    for figure in document["figures"]:
        if (figure["what"], *(figure[n] for n in _SAME)) == (what, *(row[n] for n in _SAME)):
            return [figure[n] for n in ("estimate", "low", "high", "level")]
    levels = {(v["attribute"], v["null"]): (v["answer"] or {}) for v in document["verdicts"]}
    for one in document["families"]:
        if all(one[n] == row[n] for n in _ROW) and None not in (one["estimate"], one["upper"]):
            level = levels.get((one["attribute"], one["null"]), {}).get("level", 0.05)
            arm = one["upper"] - abs(one["estimate"])  # its end holds with 1 - level
            return [one["estimate"], one["estimate"] - arm, one["estimate"] + arm, 1 - 2 * level]
    return None


def _changes(joined, z, likeness):
    """Return the change of each effect with its interval, and p-values.

    Intervals of the audits have levels of their own, so that each arm is divided by the quantile of
    its level; `z` is that of the interval of the change. `likeness` is the correlation of both
    estimates, 0 for different people.
    """
    old, below_old, above_old = _arms(joined, "before")
    new, below_new, above_new = _arms(joined, "after")
    change = new - old
    down, up = (
        np.sqrt(np.maximum(a**2 + b**2 - 2 * likeness * a * b, 0.0))
        for a, b in ((below_new, above_old), (above_new, below_old))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * special.ndtr(-np.abs(change) / np.where(change > 0, down, up))
    p = np.where(change == 0, 1.0, p)
    numbers = {"change": change, "ci_low": change - z * down, "ci_high": change + z * up}
    numbers |= {"p_value": p, "p_adjusted": adjust(p, "holm")}
    return pd.DataFrame(numbers, index=joined.index)


def _arms(joined, end):
    """Return estimates, and both arms of their intervals in standard errors."""
    effect, low, high, level = (joined[f"{n}_{end}"].to_numpy(float) for n in _NUMBERS)
    z = -special.ndtri((1 - level) / 2)
    return effect, (effect - low) / z, (high - effect) / z


def _flat(settings: dict) -> dict:
    """Return settings in one dict, including the fields of rule and limits."""
    shared = ("rule", "limits")
    flat = {n: v for n, v in settings.items() if n not in shared}
    for name in shared:
        flat |= settings.get(name) or {}
    return flat


def _differences(before: dict, after: dict, people: PairedPeople | None) -> list[str]:
    """Return a note on settings that differ, and one on what was audited."""
    notes: list[str] = []
    sides = [_flat(d["settings"]) for d in (before, after)]
    pairs: dict[str, tuple[Any, Any]] = {
        name: (sides[0].get(name), sides[1].get(name)) for name in sorted({*sides[0], *sides[1]})
    }
    pairs |= {
        name: (before["about"][name], after["about"][name]) for name in ("audited", "favorable")
    }
    # The same numbers may be in other units under another name, such as pay in cents.
    outcomes = [d["about"].get("outcome") or {} for d in (before, after)]
    pairs["the numbers compared"] = tuple(outcome.get("name") for outcome in outcomes)
    changed_settings = [
        f"{n} ({old!r} before, {new!r} after)" for n, (old, new) in pairs.items() if old != new
    ]
    if changed_settings:
        notes.append(f"The audits differ in {', '.join(changed_settings)}.")
    data = [d["fingerprints"].get("data") for d in (before, after)]
    has_same_rows = data[0] is not None and data[0] == data[1] and people is None
    if before["about"]["audited"] == "counts":  # other people may be in groups of the same sizes
        has_same_rows &= before["groups"] == after["groups"]
    if has_same_rows:
        notes.append(SAME_ROWS)
    return notes
