"""Answers: what the first page says about each protected column, as numbers and names."""

from skdisc._results._judgment import FOUND, NOTHING, UNSURE

UNEQUAL = "unequal at equal columns"
OPEN = "unequal, open at equal columns"
ACCOUNTED = "unequal, accounted for"
NONE = "nothing found"
LIMITED = "nothing found as far as one can see"
UNKNOWN = "cannot tell"
STATES = (UNEQUAL, OPEN, ACCOUNTED, UNKNOWN, LIMITED, NONE)  # the most serious first
# A disparity in one of these is no matter of legitimate columns, or remains where they are equal.
_AT_EQUAL = ("conditional", "individual", "counterfactual", "calibration")
_RAW = ("marginal", "contextual")
_RATE = "selection_rate"
_MOST_ALSO = 3  # further groups that are named
# How a notice begins that says what a copy of the outcome among the columns does.
_OUTCOME_AGAIN = "if it is the outcome in other words"


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
    """
    rows = [row for row in document.get("verdicts") or [] if row.get("attribute") is not None]
    several = [
        _answer(attribute, [row for row in rows if row.get("attribute") == attribute], document)
        for attribute in dict.fromkeys(row.get("attribute") for row in rows)
    ]
    return sorted(several, key=lambda answer: STATES.index(answer["state"]))


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
    found = {row.get("null") for row in rows if row.get("verdict") == FOUND}
    conditional = {row.get("verdict") for row in rows if row.get("null") == "conditional"}
    if found & set(_AT_EQUAL):
        return UNEQUAL
    if found:
        return ACCOUNTED if conditional == {NOTHING} else OPEN
    if all(row.get("verdict") == NOTHING for row in rows):
        return NONE
    of_groups = [row.get("answer") or {} for row in rows if row.get("null") == "marginal"]
    # Without a question about whole groups, one within smaller groups says what can be seen.
    of_groups = of_groups or [row.get("answer") or {} for row in rows]
    return LIMITED if any(answer.get("n_cleared") for answer in of_groups) else UNKNOWN


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
    verdicts = {row.get("null"): row for row in rows if row.get("kind") != "fact"}
    state = state_of(rows)
    evidence = [
        row for row in document.get("evidence") or [] if attribute in (row.get("attributes") or [])
    ]
    raw = _raw(attribute, evidence, document)
    equal = _equal(attribute, raw, verdicts.get("conditional"), document)
    if state == ACCOUNTED and equal is not None and _outcome_again(equal["columns"], document):
        # Where the outcome is equal there is no gap, whatever the decisions depend on.
        nothing = dict.fromkeys(("gap", "ci_low", "ci_high", "ci_level", "bound"))
        equal |= nothing | {"reason": _outcome_again(equal["columns"], document)}
        state = OPEN
    return {
        "attribute": attribute,
        "state": state,
        "people": (document.get("about") or {}).get("n_rows"),
        "relevant_gap": _relevant_gap(rows),
        "reason": _reason(rows) if state == UNKNOWN else None,
        "raw": raw,
        "equal": equal,
        "worst": _worst(evidence, raw, equal),
        "single": _single(rows),
        "others": _others(verdicts),
    }


def _outcome_again(columns, document):
    """Return what was noticed of a column held equal that may be the outcome; '' if nothing."""
    for note in document.get("notices") or []:
        if note.get("column") in columns and str(note.get("done")).startswith(_OUTCOME_AGAIN):
            return (
                f"{note['column']!r}: {note.get('seen')}; {note.get('done')} ({note.get('option')})"
            )
    return ""


def _reason(rows):
    """Return why the groups as a whole were not compared; None if they were, and are too few."""
    row = next((row for row in rows if row.get("null") == "marginal"), rows[0])
    return None if (row.get("answer") or {}).get("n_family") else row.get("reason") or None


def _relevant_gap(rows):
    """Return the gap that matters, in rates of favorable outcomes; None if there is none."""
    for row in rows:
        gap = (row.get("answer") or {}).get("relevant_gap")
        gap = gap.get(_RATE) if isinstance(gap, dict) else gap
        if gap is not None:
            return gap
    return None


def _raw(attribute, evidence, document):
    """Return the largest gap found between groups of a column; where none is found, the largest."""
    shown = [
        row
        for row in document.get("groups") or []
        if row.get("attribute") == attribute
        and not row.get("suppressed")
        and row.get("rate") is not None
    ]
    rates = [row for row in shown if row.get("measure") == _RATE]
    groups = [row for row in shown if row.get("gap") is not None]
    found = [row for row in evidence if row.get("kind") == "gap" and row.get("found")]
    pairs = [(f, g) for f in found for g in groups if _about(f) == _about(g)]
    of_rate = [pair for pair in pairs if pair[1]["measure"] == _RATE]
    if pairs:
        # The gap of decisions comes before those of their errors, which go with it; a group that is
        # worse off before one that is better off.
        row = max(of_rate or pairs, key=lambda p: (p[1]["gap"] < 0, abs(p[1]["gap"])))[1]
    else:
        compared = [row for row in groups if row.get("measure") == _RATE]
        if not compared:
            return None
        row = max(compared, key=lambda r: (abs(r["gap"]), -r["gap"]))
    one = {"group": row["group"], "rate": row["rate"], "people": row.get("n")}
    rest = _other_side(row, rates, document)
    also = _also(row, rest, [group for _, group in of_rate])
    gap, low, high = row["gap"], row.get("ci_low"), row.get("ci_high")
    if gap > 0:  # the others are worse off
        one, rest = rest, one
        gap, low, high = -gap, None if high is None else -high, None if low is None else -low
    return {
        "worse_off": one,
        "better_off": rest,
        "measure": row.get("measure"),
        "found": bool(pairs),
        "also": also,
        "gap": gap,
        "ci_low": low,
        "ci_high": high,
        "ci_level": row.get("ci_level"),
    }


def _also(row, rest, found):
    """Return the further groups that are found, the largest gap first; not the other side."""
    others = [one for one in found if one["group"] not in (row["group"], rest["group"])]
    others.sort(key=lambda one: -abs(one["gap"]))
    return [{"group": one["group"], "gap": one["gap"]} for one in others[:_MOST_ALSO]]


def _other_side(row, rates, document):
    """Return whom a group is compared with: the reference group, the only other, or the rest."""
    # A reference has a rate, and no gap from itself.
    reference = [other for other in rates if other.get("gap") is None]
    others = [other for other in rates if other["group"] != row["group"]]
    total = (document.get("about") or {}).get("n_rows")
    n = row.get("n")
    named = reference if len(reference) == 1 else others if len(rates) == 2 else []
    if named:
        group, people = named[0]["group"], named[0].get("n")
    else:  # the group None is everyone else
        group, people = None, None if total is None or n is None else total - n
    return {"group": group, "rate": row["rate"] - row["gap"], "people": people}


def _about(row):
    return row.get("group"), row.get("measure")


def _equal(attribute, raw, verdict, document):
    """Return what remains of the raw gap at equal legitimate columns; None if it was not asked."""
    columns = [
        list(map(str, row.get("columns") or []))
        for row in document.get("legitimate") or []
        if row.get("attribute") == attribute
    ]
    if verdict is None:
        return None
    equal = {
        "columns": columns[0] if columns else [],  # none are known if the test did not run
        "verdict": verdict["verdict"],
        "bound": verdict.get("bound"),
        "n_groups": (verdict.get("answer") or {}).get("n_family"),
        "reason": None,
    }
    sides = {} if raw is None else {raw[side]["group"]: sign for side, sign in _SIDES}
    for row in document.get("comparable") or []:
        sign = sides.get(row.get("group"))
        if sign is not None and row.get("effect") is not None and raw["measure"] == _RATE:
            ends = [row["ci_low"], row["ci_high"]][::sign]
            return equal | {
                "gap": sign * row["effect"],
                "ci_low": sign * ends[0],
                "ci_high": sign * ends[1],
                "ci_level": row.get("ci_level"),
            }
    # Nobody is compared at equal columns; the reason, such as columns that stand for the protected
    # one, is what a reader must know next.
    reason = verdict.get("reason") if verdict.get("verdict") == UNSURE else None
    return equal | dict.fromkeys(("gap", "ci_low", "ci_high", "ci_level")) | {"reason": reason}


_SIDES = (("better_off", -1), ("worse_off", 1))


def _worst(evidence, raw, equal):
    """Return the largest gap that is found in smaller groups, at equal columns where there are."""
    said = [raw[side]["group"] for side, _ in _SIDES] if raw else []
    found = [
        row
        for row in evidence
        if row.get("found") and row.get("kind") != "gap" and row.get("group") not in said
    ]
    # A gap at equal columns says more than one that columns may account for.
    found = [row for row in found if row.get("kind") == "cause"] or found
    found = [row for row in found if row.get("judged") is not False]
    if not found:
        return None
    row = max(found, key=lambda r: abs(r["effect"]))
    names = ("group", "people", "judged", "effect", "ci_low", "ci_high", "ci_level", "measure")
    about = {name: row.get(name) for name in names}
    return about | {"at_equal_columns": row.get("kind") == "cause"}


def _single(rows):
    """Return how many people get another decision for another value of the column alone."""
    for row in rows:
        if row.get("null") in ("individual", "counterfactual") and row.get("effect") is not None:
            return {
                "share": row["effect"],
                "people": row.get("people"),
                "found": row.get("verdict") == FOUND,
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


def _excluded(row):
    """Return what an answer excludes of the groups that are not found; None if it has none."""
    answer = (row or {}).get("answer")
    if not answer:
        return None
    gap = answer.get("relevant_gap")
    return {
        "verdict": row.get("verdict"),
        "n": (answer.get("n_family") or 0) - (answer.get("n_found") or 0),
        "n_found": answer.get("n_found") or 0,
        "n_cleared": answer.get("n_cleared") or 0,
        "relevant_gap": gap.get(_RATE) if isinstance(gap, dict) else gap,
        "resolution": answer.get("resolution"),
        "bound": row.get("bound"),
        "level": 1 - (answer.get("significance") or 0.05),
        "n_without_counterparts": answer.get("n_without_counterparts") or 0,
    }
