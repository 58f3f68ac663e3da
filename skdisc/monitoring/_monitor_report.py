"""The report of a monitor: gaps with confidence sequences, wealths, changes, and the verdict."""

from dataclasses import replace

import numpy as np
import pandas as pd

from skdisc._results._findings import Discovery, GroupFindings
from skdisc._results._judgment import Judgment
from skdisc._results._shared_values import MIN_CELL
from skdisc._space import _keys
from skdisc._space._items import value_name
from skdisc._stats import level_of_two_tests
from skdisc._verdicts._answer import Answer, decide, family_table
from skdisc._verdicts._candidates import Candidates
from skdisc._verdicts._relevant import ALL_EQUAL
from skdisc.monitoring._stream import Stream, columns_of

_TEST = "betting against equal {compared}, at all times"
ALL = "all groups"  # in the history
_BY_ALL = "by all people so far, of whom the numbers below do not have the last ones"
_NONE = (None, None, None)
_RECORDED = ("log_wealth", "effect", "ci_low", "ci_high")  # of a group, by batch


def report(detector, stream: Stream, space) -> Discovery:
    """Return the Discovery of the state of a monitor.

    Parameters
    ----------
    detector : DisparityMonitor
    stream : Stream
    space : FeatureSpace or None
        The columns, for the keys of the groups.
    """
    d, table = detector, _table(stream, detector)
    evidence = np.log(table["p_adjusted"].clip(lower=1e-300)).round(9)
    order = np.lexsort((table["effect"], evidence))  # of a group and its mirror image, the worse
    table = table.iloc[order].reset_index(drop=True)
    groups = [stream.groups[i].group for i in order]
    is_found = table["p_adjusted"] <= d.significance
    is_tested = table["n_blocks"] > 0
    by_value = {
        value_name(g.predicates[0]): (int(t), int(f))
        for g, t, f in zip(groups, is_tested, is_found, strict=True)
        if len(g) == 1
    }
    candidates = _candidates(d, stream, order, is_found.to_numpy())
    answer = _answer(d, stream, candidates, is_found.to_numpy())
    tables = {"groups": _changes(stream, order, table), "history": _history(stream)}
    keys = [_key_of(group, space) for group in groups]
    return Discovery(
        findings=GroupFindings(groups, table, detector._columns, keys),
        measure=d.metric if d.output == "decision" else "mean",
        n_tested=int(is_tested.sum()),
        n_found=int(is_found.sum()),
        by_value=by_value,
        tables={**tables, "family": family_table(candidates, answer)},
        notes=[*_notes(stream), *_notes_on_wide_intervals(table[is_found]), *answer.sentences[1:]],
        versus="everyone else" if d.null == "marginal" else "the others in the same context",
        answer=answer,
        judgment=Judgment(answer.verdict, answer.reason),
    )


def report_to_show(detector, stream: Stream, space, verdict: str) -> Discovery:
    """Return the Discovery of what reports show, with the verdict that all people give.

    Parameters
    ----------
    detector : DisparityMonitor
    stream : Stream
    space : FeatureSpace or None
    verdict : str
    """
    shown = report(detector, stream.as_shown(), space)
    if stream.shown.n_people < stream.n_people:
        n = f"those after {stream.shown.n_people:,} people" if stream.shown.n_people else "none yet"
        shown.notes.append(
            f"The numbers of groups are {n}. They are renewed when so many people have come that "
            f"nothing follows about fewer than {MIN_CELL} of them."
        )
    rows = stream.shown.rows
    n_waiting = sum(
        row.numbers is None and bool(group.seen[0][0] >= MIN_CELL)
        for group, row in zip(stream.groups, rows, strict=True)
    )
    # Without names, as those of small groups are withheld.
    if n_waiting and any(row.numbers is not None for row in rows):
        of = "1 group" if n_waiting == 1 else f"{n_waiting:,} groups"
        shown.notes.append(
            f"No numbers are shown yet of {of} of {MIN_CELL} people or more, as nothing may follow "
            "about few of them, or of those whom they are compared with. How large gaps may be is "
            "said of the groups that are shown."
        )
    if shown.answer.verdict != verdict:
        answer = replace(shown.answer, verdict=verdict, reason=_BY_ALL)
        shown.answer, shown.judgment = answer, Judgment(verdict, answer.reason)
    return shown


def _table(stream, detector):
    """Return the statistics of the groups."""
    table = stream.table(detector.significance)
    table["test"] = np.full(len(table), _TEST.format(compared=_compared(stream)), dtype=object)
    table["measure"] = detector.metric if detector.output == "decision" else "mean"
    return table


def _key_of(group, space):
    """Return the key of a group; of values that the first batch did not have, their names."""
    try:
        if space is not None:
            return space.subgroup_key(group)
    except (KeyError, ValueError):
        pass
    return "~" + _keys.escape(str(group))


def _changes(stream, order, table):
    """Return the wealths and the estimated changes of the groups, a DataFrame."""
    wealths = [stream.groups[i] for i in order]
    columns = ["log_wealth", "largest_log_wealth", "n_blocks", "log_change"]
    out = table[columns].copy()
    out.insert(0, "group", [str(w.group) for w in wealths])
    out["share_of_level"] = [w.share for w in wealths]
    for name in ("changed_at", "change_since"):
        out[name] = pd.array([getattr(w, name) for w in wealths], dtype="Int64")
    return out


def _history(stream):
    """Return one row per batch and group, a DataFrame."""
    rows = [
        {"n": record["n"], "group": group, **dict(zip(_RECORDED, values, strict=True))}
        for record in stream.history
        for group, values in {ALL: [record["log_wealth"], *_NONE], **record["groups"]}.items()
    ]
    table = pd.DataFrame(rows, columns=["n", "group", *_RECORDED])
    return table.astype(dict.fromkeys(_RECORDED, float))


def _compared(stream):
    """Return what is compared: rates or means."""
    return "rates" if stream.rules.bounds is None else "means"


def _notes(stream):
    """Return what a reader has to know."""
    notes = []
    if stream.rules.bounds is not None:
        low, high = stream.rules.bounds
        n = stream.n_beyond
        people = f"fewer than {MIN_CELL} people" if n < MIN_CELL else f"{n:,} people"
        notes.append(
            f"Numbers count from {low:,.10g} to {high:,.10g}; those of {people} are beyond, and "
            "count as the bound. What is said holds for means of these numbers."
        )
    if stream.alarm_at is not None:
        notes.append(
            f"The evidence against equal {_compared(stream)} of all groups reached its level after "
            f"{stream.alarm_at:,} people."
        )
    for w in stream.groups:
        if w.changed_at is not None and not w.change_since:
            notes.append(f"{w.group} differs from the first people on: this is no change.")
        elif w.changed_at is not None:
            notes.append(
                f"A change of {w.group} was reported after {w.changed_at:,} people; it is "
                f"estimated to have begun after {w.change_since:,}."
            )
    closed = [str(w.group) for w in stream.groups if not w.n_blocks]
    if closed:
        notes.append(f"Not compared yet, for lack of people: {', '.join(closed)}.")
    return notes


def _notes_on_wide_intervals(found):
    """Return a note if intervals of groups that are found contain 0, as a list of str."""
    includes_zero = (found["ci_low"] <= 0) & (found["ci_high"] >= 0)
    if not includes_zero.any():
        return []
    return [
        "A group is found by its wealth, the evidence against equality. Intervals hold at all "
        "times, for which they are wider: that of a group that is found may still contain 0."
    ]


def _candidates(detector, stream, order, is_found):
    """Return the family of the question: the groups of the state, by confidence sequences.

    U holds at all times at once. A group stays in the family once it was large enough, so that the
    first relevant one covers the bound at all later times.
    """
    d, places, halves = detector, [], set()
    for place, i in enumerate(order):  # the gap of two halves is one question
        columns = columns_of(stream.groups[i].group)
        if not (stream.halves[i] and columns in halves):
            places.append(place)
        halves |= {columns} if stream.halves[i] else set()
    wealths = [stream.groups[order[place]] for place in places]
    n, outcome = stream.means(wealths)
    effect = outcome[:, 0] - outcome[:, 1]

    def sequence(a):
        return stream.sequence(wealths, float(level_of_two_tests(a)))

    def interval(a):
        ends = sequence(a)
        return ends["ci_low"], ends["ci_high"]

    def ratio(a):
        ends = sequence(a)
        with np.errstate(divide="ignore"):
            return np.clip(np.minimum(ends["ratio_low"], 1 / ends["ratio_high"]), 0, 1)

    judged = np.array([w.is_judged for w in wealths], dtype=bool)
    return Candidates(
        n[:, 0],
        n[:, 1],
        effect,
        interval,
        size=np.where(judged, 1.0, 0.0),
        total=1.0,
        found=is_found[places],
        ratio=ratio if d.null == "marginal" and d.output == "decision" else None,
        name=[str(w.group) for w in wealths],
    )


def _answer(detector, stream, candidates, is_found):
    """Return the Answer: an alarm stays, also where later people take evidence back."""
    d, has_alarm = detector, stream.alarm_at is not None
    reasons = []
    if stream.relevant_gap is None:
        reasons = [ALL_EQUAL if stream.n_people else "there are no outcomes"]
    answer = decide(
        candidates,
        relevant_gap=np.nan if stream.relevant_gap is None else stream.relevant_gap,
        significance=d.significance,
        relevant_ratio=d.relevant_ratio if candidates.ratio is not None else None,
        relevant_size=d.relevant_size,
        is_found=bool(is_found.any()) or has_alarm,
        reasons=reasons,
        people="the people so far",
    )
    if has_alarm and not is_found.any():
        reason = f"by all groups together, after {stream.alarm_at:,} people"
        return Answer(**{**vars(answer), "reason": reason})
    return answer
