"""The document of an audit: its answers as JSON types."""

import json

import numpy as np
import pandas as pd

from skdisc._results._findings import CaseFindings
from skdisc._results._judgment import FOUND, NOTHING, UNSURE
from skdisc._results._shared_values import SharedValues
from skdisc._space._bins import Bins
from skdisc._task._limits import Limits
from skdisc._utils._favorable import unfavorable_values
from skdisc._utils._interruption import INTERRUPTED, held
from skdisc._utils._json import jsonable, settings
from skdisc._utils._optional import versions
from skdisc._utils._shared_object import SharedObject
from skdisc._utils._validation import of_numbers
from skdisc._verdicts._candidates import MEASURABLE
from skdisc._verdicts._relevant import PROBABILITY
from skdisc._verdicts._rule import Rule
from skdisc.auditing._audit_report import SCHEMA, AuditReport
from skdisc.auditing._audited_rows import TRAINED
from skdisc.auditing._cells import NOT_RUN, judge
from skdisc.auditing._comparable import comparable, legitimate
from skdisc.auditing._details import shown_results
from skdisc.auditing._disclosure import public_document, public_notes
from skdisc.auditing._evidence import find_evidence, joined_evidence
from skdisc.auditing._families import families
from skdisc.auditing._figures import EQUAL, GAP, RATE_OF, Figures, as_gaps, what_is_shown
from skdisc.auditing._fingerprints import counts_fingerprint, data_fingerprint, fingerprints
from skdisc.auditing._internal import as_read, hidden_rows, notes_on_joined_values, without_hidden
from skdisc.auditing._notices import notices_of
from skdisc.auditing._numbers import DIFFERENCE, LOG, VALUE, named_by_mean
from skdisc.auditing._pay._gaps import PaidPeople, mean_gaps, median_gap
from skdisc.auditing._pay._record import gaps_at_equal_columns, pay_record
from skdisc.auditing._pay._templates import OF_RATES
from skdisc.auditing._plan import LEAD
from skdisc.auditing._privacy import without_people
from skdisc.auditing._scores import rows_of_scores
from skdisc.report._audit_page import META, labels
from skdisc.report._first_page import answers, in_a_row
from skdisc.report._summary import CAVEAT

EXIT_CODES = {NOTHING: 0, FOUND: 1, UNSURE: 3}
_EXAMPLES = 5
_OF_GAP = ["group", "kind", "part", "amount", "ci_low", "ci_high"]
_CODE_WIDTH = 79
_SUBJECTS = {
    "labels": "{n} recorded outcomes",
    "decisions": "{n} recorded decisions",
    "model": "The decisions of a model about {n} people",
    TRAINED: "The decisions of a model that was trained in this audit, about {n} people,",
    "counts": "Published counts of {n} people",
}


def make_report(audit, audited, plan, run, parts=None):
    """Return the `AuditReport` of the steps that ran.

    An interruption waits for it: all that was found would be lost. `parts`: the rows and plans of
    several tables, if the audit is about more than one.
    """
    with held() as interruptions:
        report = _made(audit, audited, plan, run, parts)
    if interruptions:
        report.document["verdict"]["exit_code"] = INTERRUPTED
    return report


def _made(audit, audited, plan, run, parts):
    """Return the report, without heed of interruptions."""
    results, level = run.results, audit.significance
    parts = [
        (g, p, Figures(g, p, results, audit._rule_in_force)) for g, p in parts or [(audited, plan)]
    ]
    figures = {step.attribute: f for _, p, f in parts for step in p.steps}
    verdicts = judge(plan, results, level, figures)
    _tell_why_not_run(verdicts, plan, run)
    if audited.numbers is not None and np.ptp(audited.numbers.raw) > 0:
        _tell_of_skewness(verdicts, audited, plan, results)
    several = [find_evidence(g, p, results, verdicts, level, f) for g, p, f in parts]
    evidence, shadows = several[0] if len(several) == 1 else joined_evidence(several)
    groups = [row for g, p, f in parts for row in _groups(audit, g, p, f, results)]
    notices = {}  # of all tables, each once
    for g, *_ in parts if audit.disclosure != "public" else ():
        notices |= dict.fromkeys(notices_of(as_read(g), audit.min_cell, audit.relevant_size))
    document = {
        "schema": SCHEMA,
        "skdisc": {"versions": versions()},
        "about": _about(audit, audited, run),
        "settings": _settings(audit),
        "plan": {"steps": [s.to_dict() for s in plan.steps], "sha256": audit._sha256_of_plan()},
        "fingerprints": fingerprints_of(audit, audited),
        "meta": {**dict.fromkeys(META), **(audit.meta or {})},
        "notices": [note.to_dict() for note in notices],
        "verdict": overall(verdicts, run.interrupted),
        "verdicts": verdicts,
        "evidence": evidence,
        "shadows": shadows,
        "groups": groups,
        "gaps": _gaps(plan, results, figures, audit.min_cell),
        "comparable": comparable(plan, results, groups, figures, audit.min_cell),
        "legitimate": legitimate(plan, results, audited),
        "figures": [row for *_, f in parts for row in f.rows()],
        "families": families(plan, results),
        "cases": _cases(plan, results),
        "log": [_line(s, results[s.name]) for s in plan.steps if s.name in results],
        "not_run": run.not_run,
        "robustness": [],
        "limits": _limits(audit, audited, run),
        "code": make_code(audit, _call(audit, audited)),
    }
    is_internal = audited.kind != "counts" and audited.choice is None
    # Values of published counts, and those of public documents, are joined until many share them.
    shared = _shared_values(audited, audit.min_cell) if is_internal else SharedValues({})
    document = without_people(document, shared, audit.min_cell)
    details = results if audited.kind == "counts" else {}
    if is_internal:
        rows = hidden_rows(document, audit, audited, plan, results)
        document = without_hidden(document, rows, plan, results, audit)
        is_all_known = audit.template not in OF_RATES
        details = shown_results(document, rows, plan, results, is_all_known)
    if audited.choice is not None:
        document = public_document(document, public_notes(audited, audit))
    X = as_read(audited).X
    for case in document["cases"]:
        case["examples"] = [e for e in case["examples"] if not _is_somebody(e, case, X)]
    document = jsonable(document)
    if audited.numbers is not None:
        for part in ("verdicts", "evidence", "groups", "figures", "families"):
            document[part] = named_by_mean(document[part])
    if audited.roll is not None:
        record = pay_record(audit, audited.roll, gaps_at_equal_columns(document))
        document |= {"pay": jsonable(record.rows), "about_pay": jsonable(record.about)}
        if audit.disclosure == "public":
            reason = "public reports of pay state figures, and ask no question about them"
            document["verdict"]["reason"] = reason
            del document["about"]["outcome"]
    document["answers"] = answers(document)
    return AuditReport(json.loads(json.dumps(document)), results, details)


def _shared_values(audited, min_cell):
    """Return the values that at least `min_cell` people share, also as they were read."""
    shared = SharedValues.of(audited.X, min_cell, frequency=audited.frequency)
    if audited.original is None:
        return shared
    read = SharedValues.of(audited.original, min_cell, frequency=audited.frequency)
    return SharedValues({name: [*v, *read.values[name]] for name, v in shared.values.items()})


def _tell_why_not_run(verdicts, plan, run):
    """Add to each question whose test did not run why not, in place."""
    reasons = {line["detector"]: line["reason"] for line in run.not_run}
    for row in verdicts:
        cell = row["attribute"], row["null"]
        names = [s.name for s in plan.steps if (s.attribute, s.null) == cell]
        why = [reasons[name] for name in names if name in reasons]
        if row["reason"] == NOT_RUN and why:
            row["reason"] = f"{NOT_RUN}: {why[0]}"


def _tell_of_skewness(verdicts, audited, plan, results):
    """Add to open questions about means that numbers are too skewed for them, in place."""
    for row in verdicts:
        leads = plan.leads_of((row["attribute"], row["null"]))
        ran = [results[step.name] for step in leads if step.name in results]
        family = ran[0].tables.get("family") if ran else None
        if row["verdict"] != UNSURE or row["bound"] is not None or family is None:
            continue
        family = family[family["judged"]]
        values = pd.Series(audited.numbers.compared).groupby(audited.X[row["attribute"]].to_numpy())
        if values.nunique().max() == 1:
            row["reason"] += (
                f"; the numbers of each group of {row['attribute']} are all equal, and show "
                "nothing of how much numbers vary"
            )
            continue
        is_skewed = np.isinf(family["low"]) & (family[["n", "n_others"]].min(axis=1) >= MEASURABLE)
        if is_skewed.any():
            row["reason"] += (
                f"; in {is_skewed.sum()} of {len(family)} comparisons the numbers are too skewed "
                "to compare means: check the largest, or compare logarithms (--outcome-scale log)"
            )


def fingerprints_of(audit, audited):
    """Return the hashes of what was audited, and how."""
    if audited.table is not None:
        data = counts_fingerprint(audited.table.recorded)
    else:
        roles = {"weight": audited.weight, "groups": audited.groups}
        data = data_fingerprint(as_read(audited).X, frequency=audited.frequency, **roles)
    return fingerprints(data, _settings(audit))


def overall(verdicts, interrupted=False):
    """Return the verdict of the whole audit, with its reason and exit code."""
    n = len(verdicts)
    with_disparity = [v for v in verdicts if v["verdict"] == FOUND]
    open_questions = [v for v in verdicts if v["verdict"] == UNSURE]
    if with_disparity:
        verdict, reason = FOUND, f"{_of(with_disparity, n)} answered with a disparity"
    elif open_questions or not n:
        verdict, reason = UNSURE, f"{_of(open_questions, n)} open"
    else:
        verdict, reason = NOTHING, "every question is answered without a disparity"
    code = INTERRUPTED if interrupted else EXIT_CODES[verdict]
    return {"verdict": verdict, "reason": reason, "exit_code": code}


def _of(several, n):
    """Return how many of n questions, with the verb."""
    verb = "is" if len(several) == 1 else "are"
    return f"{len(several)} of {n} question{'s' * (n != 1)} {verb}"


def _about(audit, audited, run):
    n = audited.people()
    subject = _SUBJECTS[audited.kind].format(n=f"{n:,}")
    names = in_a_row(audited.protected)
    sentence = f"{subject} were audited for {names}; favorable is {labels(audited.favorable)}."
    more = {}
    if audited.numbers is not None:
        more["outcome"] = audited.numbers.to_dict(audit._rule_in_force, audited.people_of_rows)
        sentence = _about_numbers(more["outcome"], n, names)
    return {
        "audited": audited.kind,
        "sentence": sentence,
        "n_rows": n,
        "columns": [str(c) for c in audited.X],
        "protected": [str(c) for c in audited.protected],
        "favorable": list(audited.favorable),
        "significance": audit.significance,
        "seconds": run.seconds,
        "interrupted": run.interrupted,
        "template": audit.template,
        "disclosure": audit.disclosure,
        "binned": _binned(audit, audited),
        **_counted(audited),
        **more,
    }


def _about_numbers(outcome, n, names):
    """Return what was audited, where it is numbers, in a sentence."""
    what = outcome["name"] or ("Probabilities" if outcome["output"] == PROBABILITY else "Numbers")
    compared = "means of logarithms" if outcome["scale"] == LOG else "means"
    return (
        f"{what}: {n:,} people were audited for {names}; {compared} are compared, and "
        f"{'less' if outcome['better'] == 'low' else 'more'} is better."
    )


def _binned(audit, audited):
    """Return the numbers that are compared in bins, and in how many, by column."""
    if audited.table is not None:
        edges = audited.counts.schema.edges
        return {str(name): len(cuts) + 1 for name, cuts in edges.items() if len(cuts)}
    bins, X = Bins.of(audit.n_bins), audited.X
    edges = bins.edges or {}
    number = {c: len(edges[c]) + 1 if c in edges else bins.most(c) for c in X}
    return {
        str(c): int(number[c])
        for c in X
        if of_numbers(X[c].dtype) and (c in edges or X[c].nunique() > number[c])
    }


def _counted(audited):
    """Return what was counted in place of rows, by "counts"; nothing for rows."""
    if audited.table is None:
        return {}
    edges = {str(name): cuts for name, cuts in audited.counts.schema.edges.items()}
    return {"counts": {"n_cells": len(audited.counts.n), "edges": edges}}


NOT_SETTINGS = ("estimator", "cache", "meta", "n_jobs", "verbose", "counterfactuals")


def shared_to_dict(audit):
    """Return rule and limits of an audit as JSON objects; `shared_from_dict` is the inverse."""
    limits = Limits() if audit.limits is None else audit.limits
    return {"rule": audit._rule_in_force.to_dict(), "limits": limits.to_dict()}


def shared_from_dict(settings):
    """Return settings of an audit with the objects of JSON objects."""
    kinds = {"rule": Rule, "limits": Limits}
    made = {
        name: kind.from_dict(settings[name])
        for name, kind in kinds.items()
        if isinstance(settings.get(name), dict)
    }
    return settings | made


def _settings(audit):
    """Return the parameters that the answers depend on."""
    parameters = audit.get_params(deep=False) | shared_to_dict(audit)
    if isinstance(audit.n_bins, Bins):
        parameters["n_bins"] = audit.n_bins.to_dict()
    return settings(parameters, NOT_SETTINGS)


def _groups(audit, audited, plan, figures, results):
    """Return the rate and the gap of every protected group by every measure."""
    rows, listed = [], set()
    for step in plan.steps:
        result = results.get(step.name)
        if step.detector != "GroupDisparity" or step.on != "given" or result is None:
            continue
        table = as_gaps(result.findings.table)
        findings = zip(result.findings.subgroups, table.itertuples(), strict=True)
        for group, row in findings:
            is_known = (str(group), row.measure) in listed
            if step.role != LEAD and is_known:
                continue  # the lead of its column has it
            listed.add((str(group), row.measure))
            rate = RATE_OF.get(row.measure, row.measure)
            labels = {"attribute": step.attribute, "group": str(group), "measure": rate}
            is_ratio = row.measure == "impact_ratio"
            members = group.mask(audited.X)
            quantity = what_is_shown(step, table, row.measure), step.attribute, group, rate
            figures.tell_rates(*quantity, members, np.ones(len(members), dtype=bool))
            numbers = figures.numbers(*quantity, ("gap", "ci_low", "ci_high"))
            value = row.estimate if is_ratio else audited.rate(rate, members)
            state = {"judged": audited.share(members) >= audit.relevant_size}
            sides = (audited.people(audited.among(rate, m)) for m in (members, ~members))
            held_out = getattr(row, "held_out_support", row.support)
            state["suppressed"] = min(*sides, row.support, held_out) < audit.min_cell
            n = int(row.support) if audit.confirm is None else audited.people(members)
            rows.append(labels | {"n": n, "rate": value} | numbers | state)
            if rate == RATE_OF["mean_difference"] and not state["suppressed"]:
                level = max(numbers["ci_level"] or 0.0, 1 - audit.significance)
                # With rows held out, gaps are those of these rows, and means those of everybody.
                level = level if audit.confirm is None else None
                rows[-1] |= _shares(audited, members, level, audit.significance)
                rows += rows_of_scores(
                    audited, members, rows[-1], audit.min_cell, audit.significance
                )
        if "impact_ratios" in result.tables:
            table = result.tables["impact_ratios"].assign(attribute=step.attribute)
            rows += _not_compared(table, rows, audit.min_cell)
    return rows


def _shares(audited, members, level, significance):
    """Return the gaps of mean and median as shares of the mean and median of the others.

    Nothing for decisions and logarithms; without `level`, no share of the mean, whose interval is
    that of reports of pay: the mean of the others varies, too. Each median is the number of a
    person or two, so that three digits of it are shown.
    """
    numbers = audited.numbers
    if numbers is None or numbers.output != VALUE or numbers.scale != DIFFERENCE:
        return {}
    weight = np.ones(len(members)) if audited.weight is None else audited.weight
    cluster = None if audited.groups is None else np.unique(audited.groups, return_inverse=True)[1]
    everybody = np.arange(len(members))
    if audited.frequency is not None:
        everybody = np.repeat(everybody, audited.frequency)
    people = PaidPeople(members, ~members, weight, cluster).only(everybody)
    medians = median_gap(numbers.raw[everybody], people, significance)
    median = _as_share(medians, 1 - significance)
    if median:
        value, others_median = (float(f"{average:.3g}") for average in medians.averages[:, 0])
        median |= {"value": value, "others": others_median}
    shares = {"median": median}
    # A mean below 0 is no share of another one, and the interval of a share ends at 100 % less.
    if level is not None and numbers.compared.min() >= 0:
        means = mean_gaps(numbers.compared[everybody], people, 1 - level)
        shares["relative"] = _as_share(means, level)
        # Numbers that do not vary do not show how far the means of other people may be apart.
        if not any(np.ptp(numbers.compared[side]) > 0 for side in (members, ~members)):
            shares["relative"] |= {"ci_low": None, "ci_high": None}
    return {name: share for name, share in shares.items() if share}


def _as_share(gaps, level):
    """Return a gap and its interval, negative where the group has less; empty if unknown."""
    gap, low, high = gaps.gap[0], gaps.low[0], gaps.high[0]
    if not np.isfinite((gap, low, high)).all():
        return {}
    return {"gap": -gap, "ci_low": -high, "ci_high": -low, "ci_level": level}


def _not_compared(table, rows, min_cell):
    """Return rows for the groups of a table of impact ratios that have no comparison.

    These are the reference, and groups that are too small or of unknown category.

    `table`: from `impact_ratios`. `rows`: the rows of the groups compared. `min_cell`: the rates of
    fewer people are not shown. Returns a list of dict: two for each group: its selection rate and
    its impact ratio.
    """
    compared, more = {row["group"] for row in rows}, []
    for row in table[~table["group"].isin(compared)].itertuples():
        is_reference, is_hidden = row.note == "reference", row.n < min_cell
        common = {"attribute": row.attribute, "group": row.group, "n": int(row.n)}
        common |= dict.fromkeys(("gap", "ci_low", "ci_high", "ci_level"))
        common |= {"judged": is_reference, "suppressed": is_hidden}
        ratio = 1.0 if is_reference else row.impact_ratio
        for measure, rate in (("selection_rate", row.rate), ("impact_ratio", ratio)):
            more.append(common | {"measure": measure, "rate": None if is_hidden else rate})
    return more


def _gaps(plan, results, figures, min_cell):
    """Return the decomposition of the gap of each group that is compared at equal columns.

    A gap is the sum of its parts: of the differences in each legitimate column, and of the gap at
    equal columns. The raw gap and the gap at equal columns are printed elsewhere, too, and take
    their numbers from there (`Figures`), so that a document has one number for one quantity. Where
    those are of other rows, as beside a sample or rows held out, they are not the sum of these
    parts: then the sum is that of the rows of the parts, and "people" says how many members of
    the group these have. Of fewer than `min_cell` on either side there is nothing, nor where what
    remains has no interval.

    Returns a list of dict: one for each part of each group.
    """
    rows, printed_as = [], {"gap": GAP, "equal": EQUAL}
    for step in plan.steps:
        result = results.get(step.name)
        table = None if result is None or step.on != "given" else result.tables.get("gaps")
        if step.role != LEAD or table is None or "kind" not in table:
            continue
        compared = result.tables["comparable"].dropna(subset="effect")["group"]
        n_rows = table.loc[table["kind"] == "gap", "support"].sum()
        for group, parts in table[table["group"].isin(compared)].groupby("group", sort=False):
            printed = {
                kind: figures[step.attribute].numbers(
                    what,
                    step.attribute,
                    group,
                    "selection_rate",
                    names=("amount", "ci_low", "ci_high"),
                )
                for kind, what in printed_as.items()
            }
            if printed["equal"]["amount"] is not None and printed["equal"]["ci_low"] is None:
                continue  # as where numbers are too skewed: what remains is not compared
            amounts = parts.set_index("kind")["amount"]
            other_rows = [
                kind
                for kind, numbers in printed.items()
                if numbers["amount"] is not None
                and not np.isclose(numbers["amount"], amounts[kind])
            ]
            n = int(parts["support"].iloc[0])
            if min(n, n_rows - n) < min_cell:
                continue
            for row in parts[_OF_GAP].to_dict("records"):
                numbers = printed.get(row["kind"], {"amount": None})
                row["ci_level"] = 1 - result.significance if row["kind"] in printed else None
                if numbers["amount"] is not None and row["kind"] not in other_rows:
                    row |= numbers
                rows.append(row | {"people": n} if other_rows else row)
    return rows


def _cases(plan, results):
    """Return the people with another outcome for another protected value, with examples."""
    rows = []
    for step in plan.steps:
        result = results.get(step.name)
        if result is None or not isinstance(result.findings, CaseFindings):
            continue
        if result.estimates is None or not len(result.estimates):
            continue
        _, share, low, high, n = result.estimates.iloc[0]
        made_up, shown = result.findings.row is None, []
        if made_up and result.findings.of_people is not None:
            shown = np.flatnonzero(~result.findings.of_people)[:_EXAMPLES].tolist()
        row = {
            "detector": step.detector,
            "attributes": list(map(str, step.protected)),
            "share": share,
            "ci_low": low,
            "ci_high": high,
            "n": int(n),
            "n_cases": 0 if np.isnan(share) else round(share * n),
            "made_up": made_up,
            "examples": [_example(result[i]) for i in shown],
        }
        rows.append(row)
    return rows


def _example(finding):
    """Return a case in JSON types."""
    case = finding.subject
    return {
        "changed": [str(c) for c in case.changed],
        "original": case.original,
        "altered": case.altered,
        "outcome": case.outcome,
        "altered_outcome": case.altered_outcome,
    }


def _is_somebody(example, case, X):
    """Return whether an example, as it is shown, has all values of a person that are not varied."""
    names = [c for c in X if str(c) not in case["attributes"]] or list(X)
    ends = (example["original"], example["altered"])
    equal = [np.logical_and.reduce([X[c].isin([end[c]]) for c in names]).any() for end in ends]
    return any(equal)


def _line(step, result):
    """Return the line of a step in the log."""
    names = ("n_tested", "n_found", "verdict", "reason", "n_queries", "stopped_by")
    return {
        **step.to_dict(),
        **{name: getattr(result, name) for name in names},
        "n_drawn": None if result.n_drawn_from is None else result.n_samples,
        "n_drawn_from": result.n_drawn_from,
        "seconds": result.total_time,
        "notes": list(result.notes),
    }


def _limits(audit, audited, run):
    """Return sentences on what the audit cannot tell."""
    limits = [
        CAVEAT,
        "The audit knows the columns it was given. What a legitimate column measures, and whether "
        "it is itself the result of discrimination, it cannot know; a difference that such a "
        "column accounts for is not thereby justified.",
    ]
    if audited.table is not None:
        limits += _about_counts(audited)
    limits += _about_samples(audited, run)
    if audited.kind in ("labels", "decisions"):
        limits.append(
            "There was no model to query: whether one person would have been decided about "
            "differently cannot be tested."
        )
    if audited.kind == TRAINED:
        limits.append(
            "The model was trained here. The disparity of one fitted model may be chance in "
            "training, so it counts only if the labels that it was trained on show one, too, or "
            "if models that could learn nothing from the protected columns show a smaller one."
        )
    if audited.choice is None:
        limits += _unfavorable(audit, audited) if audited.numbers is None else []
        limits += notes_on_joined_values(audited)
    if run.interrupted:
        limits.append("The audit was interrupted: questions whose tests did not run are open.")
    return limits


def _unfavorable(audit, audited):
    """Return which labels and decisions count as unfavorable, where there are several."""
    values = {"labels": audited.y}
    if audited.table is not None:
        values["decisions"] = audited.counts.outcomes(audited.counts.schema.decision)
    elif audited.box is not None:
        values["decisions"] = audited.box.decisions
    how = {"favorable": audited.favorable, "frequency": audited.frequency}
    return [
        text
        for name, column in values.items()
        if column is not None
        for text in unfavorable_values(name, column, least=audit.min_cell, **how)
    ]


def _about_counts(audited):
    """Return sentences on what counting leaves of a table."""
    edges = audited.counts.schema.edges
    binned = "; ".join(f"{name} at {', '.join(f'{c:g}' for c in e)}" for name, e in edges.items())
    bins = f" Numbers were cut into bins: {binned}." if binned else ""
    drawn = [] if audited.sample is None else audited.sample.note()
    return [
        *drawn,
        f"The table was reduced to counts: how many people have each of {len(audited.counts.n):,} "
        f"combinations of values, label and decision.{bins}",
    ]


def _about_samples(audited, run):
    """Return a sentence on each size of the samples that detectors drew."""
    names, because = {}, "" if audited.table is None else "cannot use counts, and "
    for step in run.plan.steps:
        result = run.results.get(step.name)
        if result is not None and audited.drew_others(result):
            names.setdefault((result.n_samples, result.n_drawn_from), {})[step.detector] = None
    return [
        f"{in_a_row(detectors)} {because}examined {n:,} of {n_all:,} rows, drawn by chance within "
        "each protected group. What follows from them is as uncertain as what follows from so "
        "many people, and smaller effects may be missed than with all rows."
        for (n, n_all), detectors in names.items()
    ]


def _call(audit, audited):
    """Return the code of the call of `fit`, with the parameters that were passed."""
    passed = ["X", "None" if audited.y is None else "y"]
    if audited.table is not None and audited.table.rows is None:
        passed = ["counts"]
    elif audited.box is not None and audit.estimator is None:
        passed.append("model")
    is_repeated = audited.frequency is not None and audited.table is None
    if audited.weight is not None or is_repeated:
        passed.append("sample_weight=sample_weight")
    if audited.groups is not None:
        passed.append("groups=groups")
    return f"({{arguments}}).fit({', '.join(passed)}).report_"


def make_code(audit, call):
    """Return the Python code that repeats the audit by a call, which has a place for settings."""
    defaults = type(audit)().get_params(deep=False)
    changed = {
        name: value
        for name, value in audit.get_params(deep=False).items()
        if name not in ("cache", "meta", "verbose") and repr(value) != repr(defaults[name])
    }
    arguments = [f"{name}={_as_code(value)}" for name, value in changed.items()]
    line = f"report = Audit{call.format(arguments=', '.join(arguments))}"
    if len(line) > _CODE_WIDTH or "#" in line:
        lines = "".join(f"\n    {_with_comma(argument)}" for argument in arguments) + "\n"
        line = f"report = Audit{call.format(arguments=lines)}"
    names = ["Audit", *(kind for kind in ("Limits", "Rule") if kind.lower() in changed)]
    return f"from skdisc import {', '.join(names)}\n\n{line}\n"


def _with_comma(argument):
    """Return an argument with a comma, before the comment if there is one."""
    code, mark, comment = argument.partition("  # ")
    return f"{code},{mark}{comment}"


def _as_code(value):
    plain = isinstance(value, (str, int, float, list, tuple, dict, SharedObject, type(None)))
    return repr(value) if plain else f"...  # {type(value).__name__}"
