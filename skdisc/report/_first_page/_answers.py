"""Answers: what the first page says about each protected column, as numbers and names."""

from math import ceil

import numpy as np
from scipy import special

from skdisc._results._judgment import FOUND, NOTHING, UNSURE, favored_leads
from skdisc._stats._equivalence import power_quantile
from skdisc.report._first_page._told import is_sentence
from skdisc.report._first_page._units import is_of_outcomes
from skdisc.report._first_page.languages.en import SENTENCES

UNEQUAL = "unequal at equal columns"
OPEN = "unequal, open at equal columns"
ACCOUNTED = "unequal, accounted for"
NONE = "nothing found"
LIMITED = "nothing found as far as one can see"
UNKNOWN = "cannot tell"
OF_FEW = ("open", "open several", "open of few", "after correction")  # reasons: too few people
EQUAL_OUTCOMES = ("equal outcomes", "equal outcomes by", "equal outcomes of")
STATES = (UNEQUAL, OPEN, ACCOUNTED, UNKNOWN, LIMITED, NONE)  # the most serious first
# A disparity in one of these is no matter of legitimate columns, or remains where they are equal.
AT_EQUAL = frozenset({"conditional", "individual", "counterfactual", "calibration"})
_RATE = "selection_rate"
_TO_REFERENCE = "gap to reference"  # what a figure is, where groups are compared with one of them
_WORSE = "worse_off"
SIDES = ("better_off", _WORSE)
_MOST_ALSO = 3  # further groups that are named


def answers(document):
    """Return what the first page says about each protected column, the most serious first.

    Parameters
    ----------
    document : dict
        The document of an audit. Nothing is said that is not in it.

    Returns
    -------
    list of dict
        ``attribute``, ``state`` (one of `STATES`), ``people``, ``relevant_gap``, ``reason`` (why
        nothing was compared, or None); and, each a dict or None: ``raw``, the gap between the
        groups; ``equal``, what remains of it at equal legitimate columns; ``worst``, the largest
        gap found elsewhere; ``single``, the people whose decision changes with the column alone;
        ``others``, what is excluded of groups that are not found: of the ``whole`` groups, ``raw``
        and at ``equal`` columns. Gaps are of the side that is worse off: negative.
        ``samples``: for each size of samples that questions are about, a dict of ``nulls`` (None:
        all questions of the column), ``n`` and ``n_drawn_from``.
    """
    is_less_better = document["about"].get("outcome", {}).get("better") == "low"
    if is_less_better:
        document = _turned(document)
    rows = [row | _examined(row, document) for row in document["verdicts"]]
    several = [
        _answer(attribute, [row for row in rows if row["attribute"] == attribute], document)
        for attribute in dict.fromkeys(row["attribute"] for row in rows)
    ]
    if is_less_better:
        several = [_with_means_turned(answer) for answer in several]
    return sorted(several, key=lambda answer: STATES.index(answer["state"]))


def _turned(document):
    """Return a document with gaps and means of the other sign, where less is better.

    All that follows then looks for the side that has less.
    """
    changed = {}
    for part in ("evidence", "groups", "comparable"):
        changed[part] = []
        for row in document[part]:
            copy = dict(row)
            for name in ("effect", "gap", "alone", "rate", "rate_others"):
                if copy.get(name) is not None:
                    copy[name] = -copy[name]
            copy |= _turned_ends(copy) | _turned_ends(copy, "alone_")
            for share in ("relative", "median"):
                if share in copy:
                    copy[share] = (
                        copy[share] | {"gap": -copy[share]["gap"]} | _turned_ends(copy[share])
                    )
            changed[part].append(copy)
    return document | changed


def _turned_ends(row, prefix=""):
    names = f"{prefix}ci_low", f"{prefix}ci_high"
    low, high = (_negative(row.get(name)) for name in names)
    return dict(zip(names, (high, low), strict=True))


def _with_means_turned(answer):
    """Return an answer with the means as they are."""
    raw, worst = answer["raw"], answer["worst"]
    if raw is not None:
        sides = {s: raw[s] | {"rate": _negative(raw[s]["rate"])} for s in SIDES}
        answer = answer | {"raw": raw | sides}
    if worst is not None and "rate_others" in worst:
        answer = answer | {"worst": worst | {"rate_others": _negative(worst["rate_others"])}}
    return answer


def _negative(value):
    return None if value is None else -value


def state_of(rows):
    """Return the state of a protected column.

    Parameters
    ----------
    rows : list of dict
        The verdicts of its questions.

    Returns
    -------
    str
        One of `STATES`.
    """
    found = {row["null"] for row in rows if row["verdict"] == FOUND}
    conditional = {row["verdict"] for row in rows if row["null"] == "conditional"}
    if found & AT_EQUAL:
        return UNEQUAL
    if found:
        return ACCOUNTED if conditional == {NOTHING} else OPEN
    if all(row["verdict"] == NOTHING for row in rows):
        return NONE
    of_groups = [row["answer"] for row in rows if row["null"] == "marginal"]
    # Without a question about whole groups, one within smaller groups says what can be seen.
    of_groups = of_groups or [row["answer"] for row in rows]
    is_cleared = any(answer and answer["n_cleared"] for answer in of_groups)
    return LIMITED if is_cleared else UNKNOWN


def exit_code(answers):
    """Return the exit code of answers if only gaps that remain at equal columns are failures.

    1 if a column is unequal at equal columns, else 3 if that is not known of one, else 0: so what
    the legitimate columns account for passes.
    """
    states = {answer["state"] for answer in answers}
    if UNEQUAL in states:
        return 1
    return 3 if states & {OPEN, LIMITED, UNKNOWN} else 0


def _answer(attribute, rows, document):
    """Return what the first page says about one protected column."""
    verdicts = {row["null"]: row for row in rows if row["kind"] != "fact"}
    state = state_of(rows)
    evidence = [row for row in document["evidence"] if attribute in row["attributes"]]
    raw = _raw(attribute, evidence, document)
    equal = _equal(attribute, raw, verdicts.get("conditional"), document)
    exclusions = _others(verdicts)
    if document["about"].get("outcome"):
        exclusions = _with_needed(exclusions, verdicts, document)
    outcome_note = _outcome_again(equal["columns"], document) if equal is not None else ""
    if state == ACCOUNTED and outcome_note:
        # Where the outcome is equal there is no gap, whatever the decisions depend on.
        no_gap = dict.fromkeys(("gap", "ci_low", "ci_high", "ci_level", "bound"))
        equal, exclusions["equal"], state = equal | no_gap | {"reason": outcome_note}, None, OPEN
    people, samples = document["about"]["n_rows"], _samples(rows)
    if samples and samples[0]["nulls"] is None:
        people = samples[0]["n"]
    return {
        "attribute": attribute,
        "state": state,
        "people": people,
        "samples": samples,
        "relevant_gap": _relevant_gap(rows),
        "reason": _reason(rows) if state == UNKNOWN else None,
        "raw": raw,
        "equal": equal,
        "worst": _worst(attribute, evidence, raw, equal),
        "single": _single(rows),
        "others": exclusions,
        **_calibration(evidence),
    }


def _examined(row, document):
    """Return how many people a question is about, and how many they were drawn from, if any."""
    about = row["attribute"], row["null"], row["lead"]
    for line in document["log"]:
        is_of_row = about == (line["attribute"], line["null"], line["detector"])
        if is_of_row and line.get("n_drawn_from") is not None:
            return {"examined": line["n_drawn"], "n_drawn_from": line["n_drawn_from"]}
    return {"examined": document["about"]["n_rows"], "n_drawn_from": None}


def _samples(rows):
    """Return the sizes of the samples that questions of a column are about, with the questions."""
    nulls = {}
    for row in rows:
        if row["n_drawn_from"] is not None:
            size = row["examined"], row["n_drawn_from"]
            nulls.setdefault(size, []).append(row["null"])
    is_one = len(nulls) == 1 and all(row["n_drawn_from"] is not None for row in rows)
    return [
        {"nulls": None if is_one else several, "n": n, "n_drawn_from": n_all}
        for (n, n_all), several in nulls.items()
    ]


def _outcome_again(columns, document):
    """Return what was noticed of a column held equal that may be the outcome; '' if nothing."""
    for note in document["notices"]:
        if note["column"] in columns and note["done"] == SENTENCES["outcome again"]:
            return f"{note['column']!r}: {note['seen']}; {note['done']} ({note['option']})"
    return ""


def _reason(rows):
    """Return why nothing is known of the groups as a whole; None if they are too few people."""
    row = next((row for row in rows if row["null"] == "marginal"), rows[0])
    is_of_few = row["bound"] is not None or is_sentence(row["reason"], *OF_FEW)
    return None if is_of_few else row["reason"] or None


def _relevant_gap(rows):
    """Return the gap that matters, in rates of favorable outcomes; None if there is none."""
    for row in rows:
        gap = _of_rates(row["answer"] or {})
        if gap is not None:
            return gap
    return None


def _of_rates(answer):
    """Return the gap that matters to an answer; of several measures, that of rates of decisions."""
    gap = answer.get("relevant_gap")
    return gap.get(_RATE) if isinstance(gap, dict) else gap


def _raw(attribute, evidence, document):
    """Return the largest gap found between groups of a column; where none is found, the largest."""
    shown = [
        row
        for row in document["groups"]
        if row["attribute"] == attribute and not row["suppressed"] and row["rate"] is not None
    ]
    rates = [row for row in shown if is_of_outcomes(row["measure"])]
    groups = [row for row in shown if row["gap"] is not None]
    findings = [row for row in evidence if row["kind"] == "gap" and row["found"]]
    pairs = [(f, g) for f in findings for g in groups if _about(f) == _about(g)]
    # A group that is too small to be judged is told where nothing else is found.
    pairs = [pair for pair in pairs if pair[0].get("judged") is not False] or pairs
    of_rate = [pair for pair in pairs if is_of_outcomes(pair[1]["measure"])]
    if pairs:
        # The gap of decisions comes before those of their errors, which go with it.
        row = _leading([group for _, group in of_rate or pairs])
    else:
        compared = [row for row in groups if is_of_outcomes(row["measure"])]
        if not compared:
            return None
        # "No gap is above" is not about groups that are too small to be judged.
        judged = [row for row in compared if row["judged"]]
        row = max(judged or compared, key=lambda r: (abs(r["gap"]), -r["gap"]))
    one = {"group": row["group"], "rate": row["rate"], "people": row["n"]}
    same = [group for group in shown if group["measure"] == row["measure"]]
    rest = _other_side(row, same, document)
    also = _also(row, rest, [group for _, group in of_rate])
    is_less = row["gap"] <= 0
    if not is_less:  # the others are worse off
        one, rest = rest, one
    return {
        "worse_off": one,
        "better_off": rest,
        "measure": row["measure"],
        "found": bool(pairs),
        "also": also,
        **seen_from(row, "gap", is_less),
        **_shares(row, one, rest, rates),
    }


def _leading(rows):
    """Return the group that is worse off most, unless a favored group leads."""
    largest = max(rows, key=lambda row: abs(row["gap"]))
    worst = max(rows, key=lambda row: -row["gap"])
    ends = [[row["ci_low"], row["ci_high"]] for row in (largest, worst)]
    ends = np.array(ends, dtype=float)
    leads = worst["gap"] >= 0 or favored_leads(ends[:1], ends[1:]).all()
    return largest if leads else worst


def _shares(row, one, rest, rates):
    """Return a gap of numbers as a share of the others' mean and medians; nothing without any.

    The gap of a worse-off group is a share of the others. Where everyone else is worse off than one
    group, the gap is a share of everyone else.
    """
    is_rest = one["group"] is None
    about = row if is_rest else next((r for r in rates if r["group"] == one["group"]), row)
    shares = {}
    if "relative" in about:
        shares["relative"] = seen_from(about["relative"], "gap", is_same=not is_rest)
    if "median" in about and not is_rest and (rest["group"] is None or len(rates) == 2):
        median = about["median"]
        sides = {"worse_off": median["value"], "better_off": median["others"]}
        shares["medians"] = sides | seen_from(median, "gap", is_same=True)
    return shares


def seen_from(row, name, is_same):
    """Return a gap with its interval, with the other sign where it is seen from the other side."""
    ends = row["ci_low"], row["ci_high"]
    if is_same:
        gap, (low, high) = row[name], ends
    else:
        gap, (high, low) = -row[name], (None if end is None else -end for end in ends)
    return {"gap": gap, "ci_low": low, "ci_high": high, "ci_level": row["ci_level"]}


def _also(row, rest, groups):
    """Return the other groups found, largest gap first, without the two sides of the raw gap."""
    further_groups = [one for one in groups if one["group"] not in (row["group"], rest["group"])]
    further_groups.sort(key=lambda one: -abs(one["gap"]))
    return [{"group": one["group"], "gap": one["gap"]} for one in further_groups[:_MOST_ALSO]]


def _other_side(row, rates, document):
    """Return whom a group is compared with: the reference group, the only other, or the rest."""
    is_of_all = document["settings"].get("confirm") is None
    against = _reference(row, document)
    if against is not None and all(group["group"] != against for group in rates):
        # It has no row; with rows held out, rates are of all people, and gaps are not.
        rate = row["rate"] - row["gap"] if is_of_all else None
        return {"group": against, "rate": rate, "people": None}
    # A reference has a rate, and no gap from itself.
    reference = [group for group in rates if group["gap"] is None]
    other_groups = [group for group in rates if group["group"] != row["group"]]
    total = document["about"]["n_rows"]
    n = row["n"]
    named = reference if len(reference) == 1 else other_groups if len(rates) == 2 else []
    if named:
        return {"group": named[0]["group"], "rate": named[0]["rate"], "people": named[0]["n"]}
    # With rows held out, rates are of all people, and gaps are not: they do not add up.
    return {  # the group None is everyone else
        "group": None,
        "rate": row["rate"] - row["gap"] if is_of_all else None,
        "people": None if total is None or n is None else total - n,
    }


def _reference(row, document):
    """Return the group that a group is compared with; None where that is everyone else."""
    for figure in document["figures"]:
        is_of_row = (figure["attribute"], *_about(figure)) == (row["attribute"], *_about(row))
        if is_of_row and str(figure["what"]).startswith(_TO_REFERENCE):
            return figure["compared_with"] or None
    return None


def _about(row):
    return row["group"], row["measure"]


def _equal(attribute, raw, verdict, document):
    """Return what remains of the raw gap at equal legitimate columns; None if it was not asked."""
    columns = [row["columns"] for row in document["legitimate"] if row["attribute"] == attribute]
    if verdict is None:
        return None
    equal = {
        "columns": columns[0] if columns else [],  # none are known if the test did not run
        "verdict": verdict["verdict"],
        "bound": verdict["bound"],
        "n_groups": (verdict["answer"] or {}).get("n_family"),
        "reason": None,
    }
    sides = {} if raw is None else {raw[side]["group"]: side == _WORSE for side in SIDES}
    gaps = {row["group"] for row in document["groups"] if row["gap"] is not None}
    # Of a group and its reference, what remains is that of the group.
    several = sorted(document["comparable"], key=lambda row: row["group"] not in gaps)
    for row in several:
        is_worse = sides.get(row["group"])
        if is_worse is not None and row["effect"] is not None and is_of_outcomes(raw["measure"]):
            return equal | seen_from(row, "effect", is_worse)
    # Nobody is compared at equal columns; the reason, such as columns that stand for the protected
    # one, is what a reader must know next.
    reason = verdict["reason"] if verdict["verdict"] == UNSURE else None
    return equal | dict.fromkeys(("gap", "ci_low", "ci_high", "ci_level")) | {"reason": reason}


def _worst(attribute, evidence, raw, equal):
    """Return the largest gap that is found in smaller groups, at equal columns where there are."""
    raw_groups = [raw[side]["group"] for side in SIDES] if raw else []
    findings = [
        row
        for row in evidence
        if row["found"] and row["kind"] != "gap" and row["group"] not in raw_groups
    ]
    if raw and raw["found"]:  # raw gaps of other groups as a whole are told of beside it
        findings = [r for r in findings if r["kind"] == "cause" or _context(r, attribute)]
    # A gap at equal columns says more than one that columns may account for.
    findings = [row for row in findings if row["kind"] == "cause"] or findings
    judged = [row for row in findings if row["judged"] is not False]
    # A group that is too small to be judged is told where nothing else is found.
    findings = findings if not judged and not (raw and raw["found"]) else judged
    if not findings:
        return None
    at_equal_columns = findings[0]["kind"] == "cause"
    row = max((in_all(row) for row in findings), key=lambda r: abs(r["effect"]))
    is_whole_larger = _is_sure(equal) and abs(row["effect"]) < abs(equal["gap"])
    if at_equal_columns and is_whole_larger:
        return None  # a group with a smaller gap than all together is not where it is worst
    names = ("group", "people", "judged", "effect", "ci_low", "ci_high", "ci_level", "measure")
    about = {name: row[name] for name in names}
    if "rate_others" in row:
        about["rate_others"] = row["rate_others"]
    context = " and ".join(_context(row, attribute)) or None
    return about | {"at_equal_columns": at_equal_columns, "context": context}


def _context(row, attribute):
    """Return the conditions of a finding about other columns, as texts."""
    return [c["text"] for c in row["conditions"] if c["column"] != attribute]


def _is_sure(gap):
    """Return whether the interval of a gap is known and excludes zero."""
    if gap is None or None in (gap["gap"], gap["ci_low"], gap["ci_high"]):
        return False
    return gap["ci_low"] > 0 or gap["ci_high"] < 0


def nulls_found(attribute, document):
    """Return the null hypotheses that are rejected of a protected column."""
    rows = [row for row in document["verdicts"] if row["attribute"] == attribute]
    return {row["null"] for row in rows if row["verdict"] == FOUND}


def is_of_smaller_group(answer, document):
    """Return whether the state of a column rests on smaller groups alone.

    Then nothing is found of the groups as a whole that would give the column this state.

    Parameters
    ----------
    answer : dict
        As `answers` returns it.
    document : dict

    Returns
    -------
    bool
    """
    attribute, state, worst = answer["attribute"], answer["state"], answer["worst"]
    if worst is None or worst["context"] is None:
        return False
    found = nulls_found(attribute, document)
    if state != UNEQUAL:
        return found == {"contextual"}
    if found & AT_EQUAL != {"conditional"} or _is_sure(answer["equal"]):
        return False
    is_whole_found = any(
        row["found"]
        and row["kind"] == "cause"
        and {condition["column"] for condition in row["conditions"]} <= {attribute}
        for row in document["evidence"]
        if attribute in row["attributes"]
    )
    return worst["at_equal_columns"] and not is_whole_found


def in_all(row):
    """Return a finding with its gap in all, in place of what a cause adds to other causes."""
    ends = [row[f"alone{end}"] for end in ("", "_ci_low", "_ci_high", "_ci_level")]
    if None in ends:
        return row
    return row | dict(zip(("effect", "ci_low", "ci_high", "ci_level"), ends, strict=True))


def _calibration(evidence):
    """Return the side whose outcomes are better than their scores, if that is found."""
    findings = [r for r in evidence if r["measure"] == "calibration_difference" and r["found"]]
    if not findings:
        return {}
    row = max(findings, key=lambda r: (r["effect"] < 0, abs(r["effect"])))
    side = {"group": row["group"], "compared_with": row["compared_with"]}
    return {"calibration": side | seen_from(row, "effect", is_same=row["effect"] < 0)}


def _single(rows):
    """Return how many people get another decision for another value of the column alone."""
    for row in rows:
        if row["null"] in ("individual", "counterfactual") and row["effect"] is not None:
            return {
                "share": row["effect"],
                "people": row["people"],
                "found": row["verdict"] == FOUND,
            }
    return None


def _others(verdicts):
    """Return what is excluded of groups that are not found: as a whole, raw, at equal columns."""
    raw = verdicts.get("contextual") or verdicts.get("marginal")
    return {
        "whole": _excluded(verdicts.get("marginal")),
        "raw": _excluded(raw),
        "equal": _excluded(verdicts.get("conditional")),
    }


def _with_needed(exclusions, verdicts, document):
    """Return what is excluded, with how many people on each side would exclude a relevant gap.

    How much the numbers vary follows from the widths of the intervals of the groups compared.
    """
    nulls = {"whole": "marginal", "raw": "contextual", "equal": "conditional"}
    result = dict(exclusions)
    attribute = next(iter(verdicts.values()), {}).get("attribute")
    for name, null in nulls.items():
        answer = exclusions[name]
        facts = verdicts[null]["answer"] if null in verdicts else None
        if not answer or not answer["relevant_gap"] or not facts or not facts["level"]:
            continue
        z = -special.ndtri(facts["level"])
        rows = [
            row
            for row in document["families"]
            if (row["attribute"], row["null"]) == (attribute, null)
        ]
        deviations = [
            (row["upper"] - abs(row["estimate"])) / z * row["comparison"] ** 0.5
            for row in rows
            if None not in (row["upper"], row["estimate"])
        ]
        if deviations:
            size = (power_quantile(0.05) * max(deviations) / answer["relevant_gap"]) ** 2
            still_open = [row for row in rows if not row["found"] and not row["cleared"]]
            # Groups that are as large and open have gaps about as large as the one that matters.
            if all(row["comparison"] < size for row in still_open):
                result[name] = answer | {"needed": ceil(2 * size)}
    return result


def _excluded(row):
    """Return what an answer excludes of the groups that are not found; None if it has none."""
    answer = row and row["answer"]
    if not answer:
        return None
    ratio = {"ratio": answer["ratio"]} if answer["open_by_ratio"] else {}
    return ratio | {
        "verdict": row["verdict"],
        # Findings of further measures are of groups that the family may not have.
        "n": max(answer["n_family"] - answer["n_found"], 0),
        "n_found": answer["n_found"],
        "n_cleared": answer["n_cleared"],
        "relevant_gap": _of_rates(answer),
        "resolution": answer["resolution"],
        "bound": row["bound"],
        "people": row["examined"],
        "level": 1 - answer["significance"],
        "n_without_counterparts": answer["n_without_counterparts"],
    }
