"""Comparison of two audits: which answers moved, and by how much."""

import math
import textwrap
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from skdisc._results._judgment import FOUND
from skdisc.auditing._cells import holm

_QUESTION = ["attribute", "null"]
_ROW = ["group", "null", "measure"]
_NUMBERS = ["effect", "ci_low", "ci_high", "ci_level"]
ASSUMED = (
    "Changes of effects assume that the two audits are of different people, drawn independently. "
    "Their intervals combine those of the audits (the method of variance estimates recovery: "
    "Zou, Donner 2008). Groups were listed because their effects are large, so part of a change "
    "may be regression to the mean, except between held-out estimates."
)


class AuditComparison:
    """What differs between two audits.

    Parameters
    ----------
    before, after : dict
        Documents of the two audits.

    Attributes
    ----------
    verdicts : DataFrame
        One row for each question: attribute, null, the two verdicts, and the change: "same",
        "other", "only before" or "only after".
    evidence : DataFrame
        One row for each finding of either audit, matched by group, null and measure: "both",
        "disappeared" or "appeared"; the effects, people and, of those in both, the change of the
        effect (after minus before) with interval, p-value, and p-value corrected by Holm.
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

    def __init__(self, before: dict, after: dict) -> None:
        self.verdicts = _verdicts(before, after)
        self.evidence = _evidence(before, after)
        self.notes = _differences(before, after) + [ASSUMED] * len(self.evidence[:1])

    @property
    def found_anew(self) -> bool:
        """Whether a question is answered "disparity found" that was not before."""
        return bool(((self.verdicts["after"] == FOUND) & (self.verdicts["before"] != FOUND)).any())

    def to_text(self) -> str:
        """Return the comparison as text."""
        lines = ["Verdicts"]
        for row in self.verdicts.itertuples():
            told = f"{row.before} -> {row.after}" if row.change != "same" else row.after
            told = {"only before": f"{row.before}; not asked after"}.get(row.change, told)
            told = {"only after": f"{row.after}; not asked before"}.get(row.change, told)
            lines.append(f"  {row.attribute}, {row.null}: {told}")
        lines += ["", "Evidence"]
        for row in self.evidence.itertuples():
            lines.append(f"  {row.group} ({row.null}, {row.measure})")
            lines.append(f"    {_told(row)}")
        lines += ["  none in either audit"] * (not len(self.evidence))
        for note in self.notes:
            lines += ["", *textwrap.wrap(note, 80)]
        return "\n".join(lines)

    def __repr__(self):
        n = (self.verdicts["change"] != "same").sum()
        return f"AuditComparison({n} of {len(self.verdicts)} verdicts differ)"


def _told(row):
    """Return what became of a finding."""
    if row.status == "appeared":
        return f"appeared: {row.effect_after:+.3f}, {row.people_after:,.0f} people"
    if row.status == "disappeared":
        return f"disappeared: {row.effect_before:+.3f}, {row.people_before:,.0f} people"
    told = f"{row.effect_before:+.3f} -> {row.effect_after:+.3f}: {row.change:+.3f}"
    return f"{told} [{row.ci_low:+.3f}, {row.ci_high:+.3f}], p = {row.p_value:.2g}"


def _verdicts(before, after):
    """Return the table of verdicts."""
    sides = [_frame(d["verdicts"], [*_QUESTION, "verdict"]) for d in (before, after)]
    both = _outer(*(s.rename(columns={"verdict": n}) for s, n in zip(sides, _ENDS, strict=True)))
    words = {"disappeared": "only before", "appeared": "only after"}
    change = np.where(both["before"] == both["after"], "same", "other")
    change = [words.get(s, c) for s, c in zip(both["status"], change, strict=True)]
    return both.drop(columns="status").assign(change=change)


_ENDS = ("before", "after")


def _outer(left, right):
    """Return an outer join: the rows of the left table in their order, then those of the right."""
    keys = [c for c in left if c in right]
    several = [list(map(tuple, side[keys].to_numpy().tolist())) for side in (left, right)]
    order = list(dict.fromkeys(several[0] + several[1]))
    index = pd.MultiIndex.from_tuples(order or [("",) * len(keys)], names=keys)[: len(order)]
    sides = [side.set_index(keys).reindex(index) for side in (left, right)]
    status = [(k in set(several[0]), k in set(several[1])) for k in order]
    words = {(True, True): "both", (True, False): "disappeared", (False, True): "appeared"}
    return pd.concat(sides, axis=1).reset_index().assign(status=[words[k] for k in status])


def _frame(rows, columns):
    return pd.DataFrame(rows, columns=columns)


def _evidence(before, after):
    """Return the table of findings."""
    names = [*_ROW, *_NUMBERS, *(f"held_out_{n}" for n in _NUMBERS), "people"]
    sides = [_frame(d["evidence"], names).drop_duplicates(_ROW) for d in (before, after)]
    held = all(s["held_out_effect"].notna().all() for s in sides)
    kept = []
    for side, end in zip(sides, _ENDS, strict=True):
        own = [f"held_out_{n}" if held else n for n in _NUMBERS]
        numbers = side[own].astype(float).set_axis(_NUMBERS, axis=1)
        side = pd.concat([side[_ROW], numbers, side["people"]], axis=1)
        kept.append(side.rename(columns={n: f"{n}_{end}" for n in [*_NUMBERS, "people"]}))
    both = _outer(*kept)
    significance = max(d["about"]["significance"] for d in (before, after))
    changes = _changes(both, -special.ndtri(significance / 2))
    columns = [*_ROW, "status", "effect_before", "effect_after", "people_before", "people_after"]
    return pd.concat([both[columns], changes], axis=1)


def _changes(both, z):
    """Return the change of each effect with its interval, and p-values.

    Intervals of the audits have levels of their own, so that each arm is divided by the quantile of
    its level; `z` is that of the interval of the change.
    """
    old, below_old, above_old = _arms(both, "before")
    new, below_new, above_new = _arms(both, "after")
    change = new - old
    down, up = np.hypot(below_new, above_old), np.hypot(above_new, below_old)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * special.ndtr(-np.abs(change) / np.where(change > 0, down, up))
    p = np.where(change == 0, 1.0, p)
    known = np.isfinite(p)
    adjusted = np.full(len(p), math.nan)
    if known.any():
        adjusted[known] = holm(p[known], np.full(known.sum(), 1 / known.sum()))
    numbers = {"change": change, "ci_low": change - z * down, "ci_high": change + z * up}
    return pd.DataFrame(numbers | {"p_value": p, "p_adjusted": adjusted}, index=both.index)


def _arms(both, end):
    """Return estimates, and both arms of their intervals in standard errors."""
    effect, low, high, level = (both[f"{n}_{end}"].to_numpy(float) for n in _NUMBERS)
    z = -special.ndtri((1 - level) / 2)
    return effect, (effect - low) / z, (high - effect) / z


def _flat(settings: dict) -> dict:
    """Return settings with the fields of the rule beside the others."""
    return {n: v for n, v in settings.items() if n != "rule"} | (settings.get("rule") or {})


def _differences(before: dict, after: dict) -> list[str]:
    """Return a note on settings that differ, and one on what was audited."""
    notes: list[str] = []
    sides = [_flat(d["settings"]) for d in (before, after)]
    pairs: dict[str, tuple[Any, Any]] = {
        name: (sides[0].get(name), sides[1].get(name)) for name in sorted({*sides[0], *sides[1]})
    }
    pairs |= {
        name: (before["about"][name], after["about"][name]) for name in ("audited", "favorable")
    }
    told = [f"{n} ({old!r} before, {new!r} after)" for n, (old, new) in pairs.items() if old != new]
    if told:
        notes.append(f"The audits differ in {', '.join(told)}.")
    data = [d["fingerprints"].get("data") for d in (before, after)]
    if data[0] is not None and data[0] == data[1]:
        notes.append("Both audits are of the same rows, so they are not independent.")
    return notes
