"""The numbers of the pictures: groups by measures, parts of a gap, impact ratios."""

import math

from skdisc.report._audit_page import _words as words
from skdisc.report._svg import round_step

MEASURES_ABREAST, MOST_GROUPS, MOST_COLUMNS = 4, 60, 5
RATIO = "impact_ratio"
_OTHER_UNITS = ("standardized_mean_difference", "area_under_the_curve")


def axis(numbers):
    """Return low end, high end and step of a round axis that holds zero and all numbers."""
    numbers = [0.0, *(v for v in numbers if isinstance(v, (int, float)) and math.isfinite(v))]
    low, high = min(numbers), max(numbers)
    span = high - low
    span = span if span > 1e-300 else 0.2  # smaller ones have no logarithm of a third
    step = round_step(span, 3, 4)
    low, high = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return low * step, (high if high > low else low + 1) * step, step


def group_blocks(rows, findings):
    """Return groups by measures, at most `MEASURES_ABREAST` measures to a block.

    Parameters
    ----------
    rows : list of dict
        The groups of the document.
    findings : set of (str, str)
        Group and measure of each finding. Their groups are judged, however small they are.

    Returns
    -------
    list of dict
        ``measures`` (names), ``axes`` (one for each measure), ``are_shaded`` (whether the relevant
        gap is in the unit of the measure), ``rows``: dicts of attribute, group,
        people, and ``cells``, one for each measure (None where there is none).
    """
    rows = [r for r in rows if r["measure"] != RATIO]
    measures = list(dict.fromkeys(r["measure"] for r in rows))
    groups = {}
    for row in rows:
        groups.setdefault((row["attribute"], row["group"] or "–"), {})[row["measure"]] = row
    places = {attribute: i for i, (attribute, _) in reversed([*enumerate(groups)])}
    names = sorted(groups, key=lambda name: places[name[0]])
    blocks = []
    for start in range(0, len(measures), MEASURES_ABREAST):
        abreast = measures[start : start + MEASURES_ABREAST]
        blocks.append(
            {
                "measures": [m.replace("_", " ") for m in abreast],
                "axes": _axes(rows, abreast),
                "are_shaded": [m not in _OTHER_UNITS for m in abreast],
                "rows": [
                    _group(name, groups[name], abreast, findings) for name in names[:MOST_GROUPS]
                ],
                "left_out": words.shown(min(MOST_GROUPS, len(names)), len(names), "groups"),
            }
        )
    return blocks


def _axes(rows, measures):
    """Return one axis for each measure; measures between -1 and 1 share theirs."""
    values = {
        m: [
            r[end]
            for r in rows
            if r["measure"] == m and not r["suppressed"]
            for end in ("gap", "ci_low", "ci_high")
            if isinstance(r[end], (int, float))
        ]
        for m in measures
    }
    small = [m for m in measures if all(abs(v) <= 1 for v in values[m])]
    shared = axis([v for m in small for v in values[m]])
    return [shared if m in small else axis(values[m]) for m in measures]


def _group(name, cells, measures, findings):
    """Return one row of the picture."""
    sizes = [c["n"] for c in cells.values() if not c["suppressed"]]
    return {
        "attribute": name[0],
        "group": name[1],
        "label": _value_of(*name),
        "people": words.people(max(sizes)) if sizes else "",
        "cells": [_cell(cells.get(m), (name[1], m) in findings) for m in measures],
    }


def _value_of(attribute, group):
    """Return the value of a group that is one value of its attribute, else the group."""
    value = group.removeprefix(f"{attribute} = ")
    quoted = len(value) > 2 and value[0] == value[-1] == "'"
    return value[1:-1] if quoted and value != group else value


def _cell(row, is_finding):
    """Return the gap of one group by one measure."""
    if row is None:
        return None
    if row["suppressed"]:
        return {"state": "hidden", "numbers": None, "text": "too few people to show"}
    numbers = [row[name] for name in ("gap", "ci_low", "ci_high")]
    is_judged = row["judged"] or is_finding
    is_complete = None not in numbers and not any(isinstance(v, str) for v in numbers)
    differs = is_complete and (numbers[1] > 0 or numbers[2] < 0)
    return {
        "state": "open" if not is_judged else "differs" if differs else "same",
        "numbers": numbers if is_complete else None,
        "text": "compared with" if is_judged and numbers[0] is None else words.number(numbers[0]),
        "interval": words.interval(*numbers[1:], row["ci_level"]),
        "rate": "" if row["rate"] is None else words.number(row["rate"]),
    }


def impact_ratios(rows, size=""):
    """Return the impact ratios of the groups: attribute, group, people, rate, ratio, interval.

    `size` is the smallest share of the people that a group judged holds, in percent.
    """
    rates = {
        (r["attribute"], r["group"]): r["rate"] for r in rows if r["measure"] == "selection_rate"
    }
    return [
        _ratio_row(r, rates.get((r["attribute"], r["group"])), size)
        for r in rows
        if r["measure"] == RATIO
    ]


def _ratio_row(row, rate, size):
    """Return the texts of one impact ratio, without figures if the group is too small."""
    hidden = row["suppressed"]
    numbers = [None] * 3 if hidden else [row["n"], rate, _ratio(row)]
    return {
        "attribute": row["attribute"],
        "group": row["group"],
        "people": "" if hidden else words.count(numbers[0]),
        "rate": words.number(numbers[1]),
        "ratio": "too few people to show" if hidden else _ratio_text(row),
        "sort": numbers,
        "note": _ratio_note(row, size),
    }


def _ratio_note(row, size):
    """Return what to know about an impact ratio: whether it is the reference, or not judged."""
    if not row["judged"]:
        return f"under {size} of the people: not judged" if size else "not judged"
    return "the reference" if row["gap"] is None and row["rate"] == 1 else ""


def _ratio_text(row):
    """Return a ratio with its interval, which is that of the gap moved by ratio minus gap."""
    ratio, gap, low, high = _ratio(row), row["gap"], row["ci_low"], row["ci_high"]
    if None in (ratio, gap, low, high):
        return words.number(ratio)
    return words.estimate(ratio, ratio - gap + low, ratio - gap + high, row["ci_level"])


def _ratio(row):
    """Return the ratio of a row of groups: its rate, or its gap where it has no rate."""
    return row["rate"] if row["rate"] is not None else row["gap"]


def gap_parts(rows):
    """Return for each group how the parts add up to its gap, the largest gaps first.

    Of two groups whose gaps mirror each other, such as the two values of a column, the worse-off
    one is shown. Columns beyond `MOST_COLUMNS` are taken together.

    Returns
    -------
    list of dict
        ``group``, ``axis``, ``sentence``, and ``rows``: dicts of class, part, amount, interval, and
        ``bar``, the two ends of the part's bar, each starting where the last one ended.
    """
    groups = {}
    for row in rows:
        if isinstance(row["amount"], (int, float)):
            groups.setdefault(row["group"], []).append(row)
    gaps = {
        group: next((p["amount"] for p in parts if p["kind"] == "gap"), 0.0)
        for group, parts in groups.items()
    }
    order = sorted(groups, key=lambda group: (-round(abs(gaps[group]), 9), gaps[group]))
    waterfalls = {}
    for group in order:
        if not any(gaps[group] and abs(gaps[group] + gaps[mirror]) < 1e-9 for mirror in waterfalls):
            waterfalls[group] = _waterfall(group, groups[group])
    return list(waterfalls.values())


def _waterfall(group, parts):
    """Return the waterfall of one group: its gap, what adds up to it, and the causes in that."""
    total = [p for p in parts if p["kind"] == "gap"]
    components = _ordered([p for p in parts if p["kind"] != "gap"])
    bars, position = [(part, (0.0, part["amount"])) for part in total], 0.0
    whole = max(abs(part["amount"]) for part in parts)
    for part in components:
        if part["kind"] == "cause":  # a part of what remains, whose bar it lies beside
            start = position - sum(p["amount"] for p in components if p["kind"] == "equal")
            start += sum(p["amount"] for p, _ in bars if p["kind"] == "cause")
            bars.append((part, (start, start + part["amount"])))
            continue
        bars.append((part, (position, position + part["amount"])))
        position += part["amount"]
    return {
        "group": group,
        "axis": axis([end for _, bar in bars for end in bar]),
        "sentence": _added_up(total, components, whole),
        "rows": [
            {
                "class": part["kind"],
                "part": _PARTS.get(part["kind"]) or part["part"],
                "amount": _rounded(part["amount"], whole),
                "interval": words.interval(*(part[f"ci_{n}"] for n in ("low", "high", "level"))),
                "bar": bar,
            }
            for part, bar in bars
        ],
    }


_TINY = 0.001
_ORDER = ("gap", "column", "interactions", "equal", "cause")
_PARTS = {
    "gap": "The whole gap",
    "interactions": "Only several columns together",
    "equal": "What remains at equal legitimate columns",
}


def _ordered(parts):
    """Return parts by kind and size; the smallest columns as one part."""
    ordered = sorted(parts, key=lambda p: (_ORDER.index(p["kind"]), -abs(p["amount"])))
    columns = [p for p in ordered if p["kind"] == "column"]
    small = columns[MOST_COLUMNS:]
    if len(small) < 2:
        return ordered
    rest = {
        "kind": "column",
        "part": f"{len(small)} other columns",
        "amount": sum(p["amount"] for p in small),
        **dict.fromkeys(("ci_low", "ci_high", "ci_level")),
    }
    start = ordered.index(small[0])
    return [*ordered[:start], rest, *ordered[start + len(small) :]]


def _rounded(amount, whole):
    """Return an amount as text; of a gap that is not tiny, a tiny part is 0."""
    tiny = abs(amount) < _TINY and whole >= 20 * _TINY
    return words.number(0 if tiny else amount)


def _added_up(total, components, whole):
    """Return the sentence on explained and unexplained parts.

    Parts of opposite signs are larger than what they add up to; then the sentence says so.
    """
    if not total:
        return ""

    def amount(*kinds):
        return sum(p["amount"] for p in components if p["kind"] in kinds)

    explained, remaining, caused = (
        amount("column", "interactions"),
        amount("equal"),
        amount("cause"),
    )
    gap = total[0]["amount"]

    def told(part):
        text = _rounded(part, whole)
        is_other_way = part * gap < 0 and _rounded(gap, whole) != "0" and text != "0"
        return f"{text}, the other way," if is_other_way else text

    people = total[0].get("people")
    start = "Of a gap"
    if people is not None:
        start = f"In the rows of this question, with {people:,} people of the group, of a gap"
    sentence = (
        f"{start} of {_rounded(gap, whole)}, {told(explained)} goes with legitimate columns, and "
        f"{told(remaining)} remains where these are equal"
    )
    if not any(p["kind"] == "cause" for p in components):
        return f"{sentence}."
    elsewhere = remaining - caused
    if caused * elsewhere < 0:
        return f"{sentence}: {told(caused)} with the causes found, and {told(elsewhere)} elsewhere."
    return f"{sentence}, {_rounded(caused, whole)} of it with the causes found."
