"""What a page of an audit shows: the document in words, in the order of reading."""

import json
from collections import Counter

from skdisc._results._judgment import ONLY_THE_MODEL
from skdisc._task._limits import limit_named
from skdisc._utils._safe_text import clean, clean_lines
from skdisc._verdicts._whom import whom
from skdisc.report._audit_page import _words as words
from skdisc.report._audit_page._comparable import comparable, legitimate, on_half
from skdisc.report._audit_page._moves import moves
from skdisc.report._audit_page._pay import pay_page
from skdisc.report._audit_page._pictures import gap_parts, group_blocks, impact_ratios
from skdisc.report._audit_page._resolution import resolutions
from skdisc.report._first_page import (
    favorable_named,
    first_page,
    have_spellings,
    in_language,
    noted,
    opening,
    texts_of,
)
from skdisc.report._first_page.languages import en

MOST_FINDINGS, MOST_SHADOWS, MOST_STEPS, MOST_EXAMPLES = 100, 300, 200, 6
MOST_READ = 8  # notes on how the file was read


def view(document, language="en"):
    """Return the content of a page of an audit.

    Parameters
    ----------
    document : dict
        The document of an audit (`AuditReport.to_dict`).
    language : {"en", "de", "fr"}, default="en"
        Of figures of pay and of the first page; all that stands below is in English.

    Returns
    -------
    dict
        Texts without control characters, not yet escaped, and the numbers of pictures. Missing
        parts of the document are empty here.
    """
    code, document = clean_lines(document.get("code") or ""), clean(document)
    rule = words.RULES.get(document["about"]["template"])
    return {
        **_opening(document, language),
        "pay": pay_page(document, language),
        "first": first_page(document, language),
        "language": language,
        **_findings_part(document),
        "rule": rule,
        "ratios": impact_ratios(document["groups"], _size(document)) if rule else [],
        "limits": _limits(document),
        "facts": _facts(document),
        "meta": _meta(document),
        "settings": [(k, _as_text(v)) for k, v in document["settings"].items()],
        "fingerprints": _fingerprints(document),
        "code": code,
        "caveat": words.CAVEAT,
        "version": document["skdisc"]["versions"].get("skdisc", ""),
    }


def _opening(document, language):
    """Return the first screen: what was audited, the answers, and the groups by measures."""
    about, verdict = document["about"], document["verdict"]
    findings = {(e["group"], e["measure"]) for e in document["evidence"] if e["found"]}
    system = document["meta"]["system"]
    relevant, average = _relevant_gap(document), average_of(document)
    verdicts = [_with_share(row, document) for row in _by_attribute(document, about)]
    verdicts = [_with_whole(row, document) for row in verdicts]
    texts, reason = texts_of(document, language), verdict["reason"]
    is_as_written = language == "en" and not have_spellings(about["favorable"])
    return {
        "title": texts.TITLE_OF.format(system=system) if system else texts.TITLE,
        "sentence": about["sentence"] if is_as_written else opening(document, texts),
        "level": words.level(verdict["verdict"]),
        "verdict": _overall(document, texts),
        "reason": words.sentence(in_language(texts, reason)),
        "interrupted": _interrupted(document, texts) if about["interrupted"] else "",
        "noticed": _noticed(document, texts),
        "noticed_heading": texts.NOTICED,
        "verdicts": [
            _verdict(_with_size(row, relevant), _size(document), average) for row in verdicts
        ],
        "sure": f"{100 * (1 - about['significance']):g}\u00a0%",
        "half": on_half(document),
        "resolutions": resolutions(document),
        "notes": _notes(document, about),
        "size": _size(document),
        "comparable": comparable(document["comparable"]),
        "legitimate": legitimate(document),
        "blocks": group_blocks(document["groups"], findings),
        "relevant": relevant,
        "average": average,
    }


def _overall(document, texts):
    """Return the verdict of an audit; a report of pay that asks no question has none."""
    if document.get("about_pay") and not document["verdicts"]:
        return texts.NO_VERDICT
    return document["verdict"]["verdict"]


def average_of(document):
    """Return what groups are compared by: "rate", or "mean" where outcomes are numbers."""
    return "mean" if "outcome" in document["about"] else "rate"


def _noticed(document, texts):
    """Return what stands above the answers: what may change one, and how the file was read."""
    file_notes = document.get("source", {}).get("notes", [])
    first = [note for note in [*file_notes, *document["notices"]] if note["above"]]
    reading = [note for note in file_notes if not note["above"]]
    shown = [noted(texts, note) for note in [*first, *reading[:MOST_READ]]]
    if len(reading) > MOST_READ:
        shown.append(texts.MORE_READ.format(n=MOST_READ, total=len(reading)))
    return shown


def _limits(document):
    """Return what the audit cannot tell, what was noticed and changes no answer, and the caveat."""
    limits = [words.sentence(text) for text in document["limits"]]
    limits += [words.note(note) for note in document["notices"] if not note["above"]]
    return limits + [words.CAVEAT] * (words.CAVEAT not in limits)


def _findings_part(document):
    """Return what was found, of groups and of single people, and what was tried."""
    findings, log = _findings(document), document["log"]
    verdicts = {(v["attribute"], v["null"]): v for v in document["verdicts"]}
    notes = Counter(note for step in log for note in step["notes"])
    repeated = [note for note, n in notes.items() if n > 1]
    total = len(document["evidence"])
    return {
        "findings": findings,
        "findings_left_out": words.shown(len(findings), total, "findings"),
        "gaps": gap_parts(document["gaps"]),
        "moves": moves(document.get("robustness", []), average_of(document)),
        "cases": [_case(c) for c in document["cases"]],
        "log": [_step(s, repeated, verdicts) for s in log[:MOST_STEPS]],
        "log_notes": [words.sentence(note) for note in repeated],
        "log_left_out": words.shown(MOST_STEPS, len(log), "steps"),
        "not_run": document["not_run"],
    }


def _relevant_gap(document):
    """Return the gap that matters to rates of selection, None if no question is about it."""
    for row in document["verdicts"]:
        gap = (row["answer"] or {}).get("relevant_gap")
        gap = gap.get("selection_rate") if isinstance(gap, dict) else gap
        if _number_or_none(gap) is not None:
            return float(gap)
    return None


def _size(document):
    """Return the smallest share of the people that a group judged holds, in percent."""
    sizes = [(row["answer"] or {}).get("relevant_size") for row in document["verdicts"]]
    return words.percent(next((s for s in sizes if s), None)) if any(sizes) else ""


def _notes(document, about):
    """Return what a reader of the answers must know: how intervals and bins are meant."""
    rows = document["verdicts"]
    has_intervals = any(row["ci_level"] for row in rows)
    levels = words.about_levels(about["significance"])
    are_columns_equal = any(row["null"] in ("conditional", "linear") for row in rows)
    legitimate_columns = words.LEGITIMATE * are_columns_equal
    sentences = [levels * has_intervals, legitimate_columns, _binned(about["binned"])]
    return list(filter(None, sentences))


def _binned(binned):
    """Return the sentence on numbers that are compared in bins, or ''."""
    if not binned:
        return ""
    counts = sorted(set(binned.values()))
    several = [
        f"{', '.join(n for n, k in binned.items() if k == count)} in {_COUNTS.get(count, count)}"
        for count in counts
    ]
    return (
        f"Numbers are compared in bins ({'; '.join(several)}); a gap in another range shows by the "
        "part of it in a bin."
    )


_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 8: "eight"}


def _by_attribute(document, about):
    """Return the rows of verdicts, those of one attribute together, facts last."""
    rows, order = document["verdicts"], list(about["protected"])
    order += [r["attribute"] for r in rows]
    return sorted(rows, key=lambda r: (r["kind"] == "fact", order.index(r["attribute"])))


def _with_share(row, document):
    """Return a row on single people with the share of cases, if it has no number itself."""
    if not _is_share(row) or row["effect"] is not None:
        return row
    block = next((c for c in document["cases"] if c["detector"] == row["lead"]), None)
    if block is None:
        return row
    return row | {"effect": block["share"]} | {n: block[n] for n in ("ci_low", "ci_high")}


def _with_whole(row, document):
    """Return a row at equal columns that shows a smaller group, with the group as a whole."""
    wholes = [
        whole
        for whole in document["comparable"]
        if whole["attribute"] == row["attribute"] and whole["effect"] is not None
    ]
    shown = row["group"]
    if row["null"] != "conditional" or not wholes or not shown:
        return row
    if any(whole["group"] == shown for whole in wholes):
        return row
    containing = [whole for whole in wholes if whole["group"] in shown]
    whole = max(containing or wholes, key=lambda whole: abs(whole["effect"]))
    numbers = words.estimate(*(whole[name] for name in ("effect", "ci_low", "ci_high", "ci_level")))
    text = f"As a whole, {whole['group']}: {numbers}"
    return row | {"aside": " ".join(filter(None, [row["aside"], words.sentence(text)]))}


def _with_size(row, relevant):
    """Return a row with the reason why a gap that is found may not matter, if it is small."""
    ends = [row["ci_low"], row["ci_high"]]
    if words.level(row["verdict"]) != "found" or _is_share(row):
        return row
    if relevant is None or None in ends or max(map(abs, ends)) >= relevant:
        return row
    small = f"the gap is smaller than the gap that matters ({relevant:g})"
    return row | {"reason": "; ".join(filter(None, [small, row["reason"]]))}


def _is_share(row):
    """Return True if the number of a row is a share of cases, not a gap between groups."""
    return row["kind"] == "fact" or row["null"] == "individual"


def _verdict(row, size, average="rate"):
    """Return one row of the table of verdicts; groups are compared by rates or by means."""
    question, claim = words.question(row["null"], row["claim"], average)
    numbers = [row[name] for name in ("effect", "ci_low", "ci_high")]
    share, bound = _is_share(row), row["bound"]
    if words.level(row["verdict"]) == "found":
        bound = None  # that of the others is in the sentence: beside the finding it would mislead
    what = "share" if share and numbers[0] is not None else ""
    effect = "" if numbers[0] is None else words.number(numbers[0])
    interval = words.interval(*numbers[1:], row["ci_level"])
    return {
        "attribute": row["attribute"],
        "question": question,
        "claim": claim,
        "verdict": row["verdict"],
        "level": words.level(row["verdict"]),
        "fact": row["kind"] == "fact",
        "reason": " ".join(filter(None, map(words.sentence, [row["reason"], row["aside"]]))),
        "group": _marked(words.about(row["group"], row["measure"]), row, size),
        "what": what,
        "effect": effect,
        "interval": interval,
        "gap": " ".join(filter(None, [what, effect, interval])),
        "numbers": None if share or None in numbers else numbers,
        "sort": [row["effect"], row["people"], bound],
        "people": "" if row["people"] is None else words.count(row["people"]),
        "whom": "" if row["people"] is None else whom([row["measure"] or ""]).strip(),
        "bound": "" if bound is None else words.number(bound),
        "p": words.p_value(row["p_adjusted"]),
        "lead": row["lead"],
    }


def _marked(text, row, size):
    """Return what a row is about, marked if the group is too small to be judged."""
    small = row["judged"] is False and text
    return f"{text} (under {size or 'the size'} of the people: not judged)" if small else text


def _findings(document):
    """Return the distinct findings, each with the first of its shadows."""
    rows = document["evidence"][:MOST_FINDINGS]
    most_shadows = max(3, MOST_SHADOWS // max(len(rows), 1))
    shadows = {}
    for row in document["shadows"]:
        shadows.setdefault(row["of"], []).append(row)
    size, told = _size(document), Counter(map(_told, rows))
    groups = {row["rank"]: row["group"] for row in rows}
    p_of_labels = {
        (v["attribute"], v["null"]): v["p_adjusted"]
        for v in document["verdicts"]
        if v["reason"] == ONLY_THE_MODEL
    }
    findings = []
    for row in rows:
        finding = _finding(row, shadows.get(row["rank"], []), most_shadows, size)
        deciding = {p_of_labels.get((name, row["null"])) for name in row["attributes"]} - {None}
        if not row["found"] and row["p_adjusted"] in deciding:
            # The effect is the model's; the larger p-value decides, which is that of the labels.
            finding["p"] = f"{finding['p']} (of the labels)"
        # Of two rows that are otherwise told alike, the people compared with are the difference.
        against = finding["compared_with"] if told[_told(row)] > 1 else ""
        again = "" if row["again"] is None else _again(row["again"], row["group"], groups)
        findings.append(finding | {"against": against, "again": again})
    return findings


def _told(row):
    """Return what a list of findings tells of a row."""
    return row["group"], row["kind"], row["measure"]


def _finding(row, shadows, most_shadows, size):
    """Return one distinct finding."""
    ends = ("effect", "ci_low", "ci_high", "ci_level")
    held_out = [row[f"held_out_{name}"] for name in ends]
    estimate = [row[name] for name in ends]
    first, where = (estimate, "") if held_out[0] is None else (held_out, "on held-out rows")
    alone, equal, gap = (
        [row[f"{name}{end}"] for end in ("", "_ci_low", "_ci_high", "_ci_level")]
        for name in ("alone", "equal", "gap")
    )
    n = row["n_shadows"]
    return {
        "rank": row["rank"],
        "group": row["group"],
        "conditions": row["conditions"] or [{"text": row["group"], "protected": False}],
        "kind": _marked(words.about(_kind(row), row["measure"]), row, size),
        "found": row["found"],
        "is_raw": row["kind"] != "cause" and first == gap,
        "compared_with": row["compared_with"],
        "effect": words.number(first[0]),
        "interval": words.interval(*first[1:]),
        "where": where,
        "alone": "" if None in alone or alone == first else words.estimate(*alone),
        "equal": "" if None in equal else words.estimate(*equal),
        "numbers": None if None in first else first[:3],
        "searched": words.estimate(*estimate) if where else "",
        "gap": words.number(gap[0]),
        "gap_interval": words.interval(*gap[1:]),
        "people": words.count(row["people"]),
        "share": "" if row["share"] is None else words.percent(row["share"]),
        "p": words.p_value(row["p_adjusted"]),
        "sort": [first[0], row["gap"], row["people"], row["p_adjusted"]],
        "lead": row["lead"],
        "agree": [name for name in row["agree"] if name != row["lead"]],
        "disagree": [(d["detector"], d["why"]) for d in row["disagree"]],
        "n_shadows": n,
        "shadows": [_shadow(s) for s in shadows[:most_shadows]],
        "shadows_left_out": words.shown(min(most_shadows, len(shadows)), n, "shadows") if n else "",
    }


def _kind(row):
    """Return what kind of finding a row is, in words; without a context, none is told."""
    columns = {condition["column"] for condition in row["conditions"]}
    if row["kind"] == "context" and columns and columns <= set(row["attributes"]):
        return words.NO_CONTEXT
    return words.KINDS[row["kind"]]


def _again(rediscovery, group, groups):
    """Return which findings are what is left of a gap at equal columns.

    Those of other groups are a part of it. `groups`: of all findings, by their ranks.
    """
    ranks = rediscovery["ranks"]
    findings = f"finding{'s' * (len(ranks) != 1)} {', '.join(map(str, ranks))}"
    what = "it" if group in map(groups.get, ranks) else "part of it"
    return f"{rediscovery['detector']} finds {what} at equal columns: {findings}"


def _shadow(row):
    """Return one group whose gap another finding accounts for."""
    return {
        "group": row["group"],
        "method": row["method"],
        "estimate": words.estimate(*(row[n] for n in ("effect", "ci_low", "ci_high", "ci_level"))),
        "people": words.count(row["people"]),
        "p": words.p_value(row["p_adjusted"]),
    }


def _case(block):
    """Return what one search found about single people or inputs."""
    n, share = block["n"], words.percent(block["share"])
    ends = [block["ci_low"], block["ci_high"]]
    between = "" if None in ends else f" [{words.percent(ends[0])}, {words.percent(ends[1])}]"
    names = ", ".join(block["attributes"])
    counted = f"{words.count(block['n_cases'])} of {words.count(n)} examined"
    examples = block["examples"]
    return {
        "detector": block["detector"],
        "sentence": f"{counted} get another outcome for another value of {names} alone: "
        f"{share}{between}.",
        "note": "The examples are made up by the search; they are not rows of people."
        if block["made_up"]
        else "The examples are rows of the data.",
        "examples": [_example(e) for e in examples[:MOST_EXAMPLES]],
        "left_out": words.shown(min(MOST_EXAMPLES, len(examples)), len(examples), "cases"),
    }


def _example(example):
    """Return one case: what differs first, then what is the same."""
    before, after = example["original"], example["altered"]
    changed = [c for c in example["changed"] if c in before or c in after]
    return {
        "changed": [(c, _value(before.get(c)), _value(after.get(c))) for c in changed],
        "same": [(c, _value(v)) for c, v in before.items() if c not in changed],
        "outcome": words.outcomes(example["outcome"], example["altered_outcome"]),
    }


def _step(row, repeated, verdicts):
    """Return one step of the log; notes of several steps stand below it, once."""
    answer = verdicts.get((row["attribute"], row["null"]), row)["verdict"]
    is_alone = row["verdict"] == words.FOUND != answer
    stopped = row["stopped_by"]
    notes = [words.sentence(n) for n in row["notes"] if n not in repeated]
    notes += [f"Stopped by {limit_named(stopped)}."] if stopped else []
    seconds = row["seconds"]
    return {
        "name": row["name"],
        "question": row["null"] or "–",
        "role": words.ROLES[row["role"]],
        "tested": words.count(row["n_tested"]),
        "found": words.count(row["n_found"]),
        "verdict": words.FOUND_ALONE if is_alone else row["verdict"] or "–",
        "reason": words.sentence(row["reason"]),
        "seconds": "–" if seconds is None else f"{seconds:,.1f}",
        "queries": words.count(row["n_queries"]),
        "notes": notes,
        "sort": [row[n] for n in ("n_tested", "n_found", "n_queries", "seconds")],
    }


def _facts(document):
    """Return names and values of what was audited."""
    about = document["about"]
    versions = document["skdisc"]["versions"]
    favorable, is_cut = favorable_named(en, document)
    return [
        ("Audited", about["audited"]),
        ("Rows of data", words.count(about["n_rows"])),
        ("Protected columns", ", ".join(about["protected"])),
        ("Favorable outcome", favorable if is_cut else words.labels(about["favorable"]) or "–"),
        ("Columns", ", ".join(about["columns"])),
        ("Significance", words.number(about["significance"])),
        ("Time", f"{about['seconds']:,.1f} s"),
        ("Versions", ", ".join(f"{k} {v}" for k, v in versions.items()) or "–"),
    ]


def _meta(document):
    """Return what a reader must know about the audit, with "not stated" where it is missing."""
    meta = document["meta"]
    names = words.meta_fields(document["about"]["template"])
    rows = [(name, meta.get(key)) for key, name in names.items()]
    rows += [(key.replace("_", " "), v) for key, v in meta.items() if key not in names]
    return [(name, "not stated" if v in (None, "") else _as_text(v)) for name, v in rows]


def _fingerprints(document):
    """Return the hashes of what went into the audit."""
    rows = list(document["fingerprints"].items())
    rows.append(("plan", document["plan"]["sha256"]))
    return [(name, value or "not stated") for name, value in rows]


def _interrupted(document, texts):
    """Return the sentence on an audit that did not end."""
    steps = document["plan"]["steps"]
    return texts.INTERRUPTED.format(done=len(document["log"]), planned=len(steps))


def _value(value):
    """Return the value of a cell as text."""
    return "missing" if value is None else _as_text(value)


def _as_text(value):
    """Return a value of JSON types as text."""
    if isinstance(value, str):
        return value
    return words.number(value) if isinstance(value, float) else json.dumps(value)


def _number_or_none(value):
    """Return a number, or None for anything else."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else None
