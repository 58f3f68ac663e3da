"""One run of DisparityPursuit: from rows to a Discovery."""

import math
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from skdisc._expectations import said_about
from skdisc._results._audit_result import AuditResult
from skdisc._results._findings import Discovery, GroupFindings
from skdisc._results._judgment import UNSURE, Judgment
from skdisc._space._conjunction_texts import conditions_in
from skdisc._space._items import Items, count_values
from skdisc._space._subgroup import Subgroup
from skdisc._task._task import Task
from skdisc._utils._frequency import runs_of_equal_rows
from skdisc._utils._hashing import hashes_of_content, without_direction
from skdisc._utils._run_clock import OutOfTime, go_on, unhurried
from skdisc._verdicts._candidates import Candidates
from skdisc.subgroup._disparity_pursuit import _causes, _tables
from skdisc.subgroup._disparity_pursuit._context_groups import ContextGroups
from skdisc.subgroup._disparity_pursuit._expectations import adjust, in_folds
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores
from skdisc.subgroup._disparity_pursuit._search import pursue
from skdisc.subgroup._disparity_pursuit._threshold import Level
from skdisc.subgroup._estimation._confirmation import confirmed, with_effects_at_fit
from skdisc.subgroup._estimation._contrast_question import ranges_of, relevant_least
from skdisc.subgroup._estimation._contrasts import HIGHER_IS_WORSE, IN_CONTEXT, context_of
from skdisc.subgroup._estimation._discovery import FoundCounts, subgroup_discovery
from skdisc.subgroup._estimation._outcomes import Counted, Summed
from skdisc.subgroup._estimation._task_rows import rows_of

_MANY_CONTEXTS = 20_000  # from which a search within a time budget begins with shorter groups
_PER_VALUE = 5  # people of a value from which others like them can be expected
_SMALLEST = 1e-100  # outcomes whose squares are neither zero nor infinite
_SELECTED = {"selection_rate", "base_rate"}
VERSUS = "the others in the same context, at equal legitimate columns"
CHOSEN_BY_THEIR_DATA = (
    "The causes were chosen by the data that estimate them. For estimates on rows that were not "
    "searched, set confirm=."
)


def rows_under_audit(detector: Any, task: Task) -> Counted | Summed:
    """Return the rows with one outcome each, in an order that does not depend on the input order.

    Equal rows become one with a frequency, unless they have weights, clusters, or an estimator of
    the user learns from them: so draws are the same for repeated rows and for counts.
    """
    rows = rows_of(task, detector.metric, detector.output)
    y = rows.tree_target
    largest = np.nanmax(np.abs(y), initial=0)
    if largest and not _SMALLEST < largest < 1 / _SMALLEST:
        raise ValueError(
            f"The largest outcome is {largest:g} in size; it must be between {_SMALLEST:g} and "
            f"{1 / _SMALLEST:g}. Change the unit."
        )
    y = without_direction(y, rows.frequency)
    row = hashes_of_content(rows.X, y, rows.frequency)
    cluster = np.zeros(len(y)) if rows.cluster is None else pd.factorize(rows.cluster, sort=True)[0]
    order = np.lexsort((cluster, rows.mass, y, row))
    order = order[~np.isnan(y[order])]
    rows = rows.at(order)
    if not detector._counts_rows or rows.weight is not None or rows.cluster is not None:
        return rows
    return _counted(rows, row[order], y[order])


def _counted(rows, row, y):
    """Merge equal rows, which are ordered by hashes and outcomes, into rows with frequencies."""
    starts, people = runs_of_equal_rows([row, y], rows.frequency)
    if rows.frequency is None and len(starts) == len(rows):
        return rows
    return replace(rows.at(starts), frequency=None if people.max(initial=1) == 1 else people)


def searched(detector: Any, task: Task, rows: Counted | Summed) -> Discovery:
    """Search rows for the causes, and describe them."""
    rows, folds = _in_folds(detector, task, rows)
    items = detector._items_of(rows)
    task.memory = items.bare()
    depths = _depths(detector, items)

    def mined(depth):
        task.budget.tests = 0
        return _mined(detector, rows, items, lambda n: detector._spend(task, n), depth)

    candidates = mined(depths[0])
    residuals = _adjusted(detector, task, rows, candidates, folds)
    before, complete, max_depth = task.rng.bit_generator.state, None, depths[-1]
    for depth in depths:
        task.rng.bit_generator.state = before  # what is drawn does not depend on the depths before
        try:
            if depth > depths[0]:
                candidates = mined(depth)
            complete = depth, *_pursued(detector, task, candidates, residuals, complete is None)
        except OutOfTime:
            if complete is None:
                raise
            break
    depth, scores, pursuit, level = complete
    with unhurried():
        discovery = _described(detector, task, rows, items, scores, pursuit, level)
        discovery.notes += residuals.learned.notes if residuals.learned else []
        if depth < max_depth:
            conditions = "1 condition" if depth == 1 else f"{depth} conditions"
            discovery.notes.append(
                f"The time budget ended the search: no groups of more than {conditions} were "
                f"compared, of the {max_depth} asked for."
            )
        if pursuit.groups and detector.confirm is None:
            discovery.notes.append(CHOSEN_BY_THEIR_DATA)
        return _doubted(detector, rows, scores, pursuit.groups, discovery)


def _depths(detector, items):
    """Return the largest numbers of conditions of successive searches.

    With a time budget, a search of very many contexts is preceded by searches with fewer
    conditions, whose answers stand if the time ends. They need a small part of its time.
    """
    n_columns = len(items.codes)
    most = min(detector.max_predicates or n_columns, n_columns)
    n_contexts = math.comb(int((~items.protected).sum()), max(most - 1, 0))
    is_staged = detector._limit("seconds") is not None and n_contexts > _MANY_CONTEXTS
    return list(range(1, most + 1)) if is_staged else [most]


def _mined(detector, rows, items, spend, depth=None):
    """Return the candidates of at most `depth` conditions."""
    return ContextGroups.mined(
        items,
        detector._least(rows),
        detector.max_predicates,
        spend,
        frequency=rows.frequency,
        relevant=(relevant_least(detector, rows), rows.mass),
        depth=depth,
    )


def _pursued(detector, task, candidates, residuals, is_first):
    """Return the `Scores` of candidates, the `Pursuit`, and the `Level` of its evidence.

    A search that runs out of time returns its causes so far, or raises OutOfTime if one with fewer
    conditions is complete.
    """
    if not is_first:
        go_on(f"{len(candidates):,} groups listed")
    scores = Scores(candidates, residuals, detector.min_effect)
    level = Level(scores, detector.n_resamples, task.rng, detector.borrow)

    def in_time():
        if not is_first:
            go_on(f"{len(candidates):,} groups tested")
        task.progress(f"{len(candidates):,} groups tested, {task.budget.elapsed:.0f} s")
        return task.budget.affords(0)  # otherwise the result says what stopped it

    pursuit = pursue(scores, level, detector.significance, in_time, detector.k)
    scores = scores.on(pursuit.final.scale)
    fit = scores.fit(pursuit.groups)
    z = fit.effect / np.sqrt(np.maximum(np.diag(fit.covariance), 1e-300))
    order = np.lexsort((-np.abs(z), pursuit.p_adjusted))
    groups = [pursuit.groups[k] for k in order]
    return scores, pursuit._replace(groups=groups, p_adjusted=pursuit.p_adjusted[order]), level


def _in_folds(detector, task, rows):
    """Return rows, and the folds in which expectations of them are learned."""
    if not len(rows) or not detector._legitimate():
        return rows, None
    return in_folds(rows, detector.nuisance, task.rng)


def _adjusted(detector, task, rows, candidates, folds):
    """Return the residuals of outcomes and protected parts."""
    return adjust(
        rows,
        candidates.is_part,
        detector.space_,
        detector._legitimate(),
        detector.nuisance,
        task.rng,
        folds=folds,
        checked=candidates.single_parts,
    )


def _described(detector, task, rows, items, scores, pursuit, level):
    """Return the Discovery of the causes, with its tables."""
    measure = rows.names[0]
    worse = 1 if measure in HIGHER_IS_WORSE else -1  # sign of effects on who is treated worse
    n_tests = max(len(scores.candidates), 1)
    width = level.levels_of(pursuit.groups, scores, detector.significance)
    table, groups = _tables.causes(scores, pursuit.groups, width, worse)
    table["p_adjusted"], table["measure"] = pursuit.p_adjusted, measure
    table["test"] = np.full(len(table), _causes.TEST, dtype=object)
    findings = GroupFindings.of(groups, table, task.space)
    largest = level.largest_z(detector.significance)
    values = _people_of(items)
    legitimate = [c for c in detector._legitimate() or [] if c in rows.X]
    equal = _causes.at_equal_columns(scores, values, detector.significance)
    tables = {
        "groups": detector._single_groups(rows, items, n_tests),
        **_tables.about_causes(scores, pursuit, worse, largest),
        "gaps": _causes.parts_of_gaps(
            scores, pursuit.groups, groups, values, equal, detector.significance
        ),
        "comparable": equal,
        "associations": _tables.associations(items, values, legitimate, rows.frequency),
    }
    by_value = count_values(groups, groups, detector.protected_)
    counts = FoundCounts(len(scores.candidates), len(groups), by_value)
    discovery = subgroup_discovery(
        detector,
        rows=rows,
        findings=findings,
        counts=counts,
        groups=tables["groups"],
        tables=tables,
        versus=VERSUS,
    )
    discovery.notes += _tables.notes(tables, table, largest, bool(legitimate))
    discovery.notes += _tables.column_notes(tables["associations"])
    verdict_scores = Scores(scores.candidates.verdict_groups, scores.residuals)
    discovery.candidates = _candidates(detector, rows, items, verdict_scores, groups)
    return discovery


def _candidates(detector, rows, items, scores, causes):
    """Return the candidates that a verdict is about, with the causes among them."""
    gaps, problem = detector._matters(rows)
    candidates = _causes.candidates_of(scores, causes, rows.mass, gaps[0], problem)
    return replace(candidates, ranges=ranges_of(items))


def _people_of(items):
    """Return the people of each protected item, by its text."""
    masks = items.masks(np.flatnonzero(items.protected))
    return dict(zip(map(str, items.protected_predicates), masks, strict=True))


def _doubted(detector, rows, scores, groups, discovery):
    """Return the Discovery; evidence is insufficient if too little was compared or learned.

    Too little was learned if no finding would remain were its effect smaller by what the cells of
    legitimate columns would still add to it.
    """
    columns = detector._legitimate() or []
    discovery = _untested(rows, scores, discovery, columns, detector.space_)
    unlearned = [scores.unlearned(group) for group in groups]
    for finding, parts in zip(discovery.findings, unlearned, strict=True):
        if parts:
            discovery.notes.append(f"{finding.subject}: {said_about(parts)}")
    is_overturned = _causes.overturned_findings(
        scores, discovery.findings.table, groups, detector.significance
    )
    if not is_overturned.any():
        return discovery
    findings, overturned = list(discovery.findings), np.flatnonzero(is_overturned)
    names = [str(findings[k].subject) for k in overturned]
    decisive = [crossing for k in overturned for crossing in unlearned[k]]
    if all(u.has_joined for u in decisive):
        reason = (
            "cells of legitimate columns were adjusted for, perhaps for nothing, which moves "
            f"effects by as much as decides about {', '.join(names)}"
        )
    else:
        reason = (
            "the legitimate columns still predict what is left of the outcome and of the protected "
            f"part, by as much as decides about {', '.join(names)}; set nuisance= to a better "
            "estimator"
        )
    discovery.notes.append(reason[0].upper() + reason[1:] + ".")
    if not is_overturned.all():
        return discovery
    return replace(discovery, judgment=Judgment(UNSURE, reason))


def _too_fine(rows, columns, space):
    """Return the names of categories with fewer than five people for each value, in words."""
    n = len(rows) if rows.frequency is None else rows.frequency.sum()
    fine = [c for c in columns if c in rows.X and space[c].kind != "numeric"]
    fine = [str(c) for c in fine if _PER_VALUE * rows.X[c].nunique() > n]
    return f": {', '.join(fine)} (fewer than five people for each value)" if fine else ""


def _strong_names(discovery):
    """Return the columns that stand for a protected value, in brackets; "" if none does alone."""
    strong = _tables.strong_columns(discovery.tables["associations"])
    return f" ({', '.join(strong['column'].astype(str))})" if len(strong) else ""


def _untested(rows, scores, discovery, columns, space):
    """Return the Discovery with a note on groups that could not be tested, and why."""
    c, y, reason = scores.candidates, rows.tree_target, ""
    if len(y) and np.ptp(y) == 0:
        reason = f"all outcomes are equal ({y[0]:g}), so no disparity can appear"
    light = np.flatnonzero(scores.dominated)
    if len(light):
        discovery.notes.append(
            f"{len(light):,} of {len(c):,} groups were not tested: their weights, or those of whom "
            "they are compared with, amount to fewer than five people."
        )
    whole = [str(c.groups[i]) for i in light if len(c.groups[i].predicates) == 1]
    if whole and not reason:
        reason = (
            f"the weights of {', '.join(whole)}, or of those compared with, amount to fewer than "
            "five people, as some are far larger than all others"
        )
    untested = np.flatnonzero(~scores.testable & ~scores.dominated)
    if len(untested):
        discovery.notes.append(
            f"{len(untested):,} of {len(c):,} groups were not tested: the legitimate columns "
            "nearly determine who belongs to them."
        )
    single = [str(c.groups[i]) for i in untested if len(c.groups[i].predicates) == 1]
    if single and not reason:
        reason = (
            f"the legitimate columns nearly determine who belongs to {', '.join(single)}, so "
            "nobody like them is left to compare with; leave such columns"
            f"{_strong_names(discovery)} out (adjust_for, or --ignore)"
            f"{_too_fine(rows, columns, space)}"
        )
    if not reason or discovery.n_found:
        return discovery
    return replace(discovery, judgment=Judgment(UNSURE, reason))


def measured(
    detector: Any,
    task: Task,
    rows: Counted | Summed,
    findings: GroupFindings,
    folds: list | None = None,
) -> tuple[Scores, pd.DataFrame]:
    """Measure findings together on rows that were not searched, in folds, or None: in new ones.

    Returns `scores`: scores of the groups found, and of each single protected value after them, on
    the scale of the findings; `table`: the estimates of the groups found.
    """
    groups = findings.subgroups
    if folds is None:
        rows, folds = _in_folds(detector, task, rows)
    items = detector._items_again(task, rows)
    single = [Subgroup([predicate]) for predicate in items.protected_predicates]
    candidates = ContextGroups.of_groups(
        [*groups, *single], detector.protected_, rows.X, rows.frequency
    )
    scores = Scores(
        candidates, _adjusted(detector, task, rows, candidates, folds), detector.min_effect
    )
    if len(groups) and findings.table["scale"].iloc[0] in scores.residuals.scales:
        scores = scores.on(findings.table["scale"].iloc[0])
    positions = list(range(len(groups)))
    table = _causes.estimates(scores, positions, detector.significance)
    table["measure"] = rows.names[0]
    table["test"] = np.full(len(table), _causes.TEST_OF_FEW, dtype=object)
    return scores, table


def measured_causes(detector: Any, task: Task, rows: Counted | Summed) -> Discovery:
    """Return the Discovery of the causes of fit, measured together on other rows."""
    fit_findings = detector.result_.findings
    rows, folds = _in_folds(detector, task, rows)
    items = detector._items_again(task, rows)
    scores, table = measured(detector, task, rows, fit_findings, folds)
    table = with_effects_at_fit(table, fit_findings, "holm")
    is_confirmed = confirmed(table, detector.significance)
    counts = detector._counts(items, fit_findings.subgroups, is_confirmed)
    values, groups = _people_of(items), list(range(len(fit_findings)))
    equal = _causes.at_equal_columns(scores, values, detector.significance)
    tables = {
        "groups": detector._single_groups(rows, items, max(len(fit_findings), 1)),
        "gaps": _causes.parts_of_gaps(
            scores, groups, fit_findings.subgroups, values, equal, detector.significance
        ),
        "comparable": equal,
    }
    discovery = subgroup_discovery(
        detector,
        rows=rows,
        findings=fit_findings.with_table(table),
        counts=counts,
        groups=tables["groups"],
        tables=tables,
        versus=VERSUS,
    )
    causes = list(compress(fit_findings.subgroups, is_confirmed))
    discovery.candidates = candidates_on(detector, task, rows, items, causes, folds)
    return discovery


def candidates_on(
    detector: Any,
    task: Task,
    rows: Counted | Summed,
    items: Items,
    causes: list[Subgroup],
    folds: list | None = None,
) -> Candidates:
    """Return the candidates of the question on rows that were not searched."""
    if folds is None:
        rows, folds = _in_folds(detector, task, rows)
        items = items.on(rows.X)
    groups = _mined(detector, rows, items, lambda n: 0).verdict_groups
    scores = Scores(groups, _adjusted(detector, task, rows, groups, folds))
    return _candidates(detector, rows, items, scores, causes)


def explained_by(
    causes: AuditResult, result: AuditResult, X: pd.DataFrame, protected: list, items: Items
) -> pd.DataFrame:
    """Return how much of the effects of a result the causes of another account for.

    The conditions on protected columns among `items` tell who a reference is.
    """
    if not isinstance(result, AuditResult):
        raise ValueError(
            "explain_by takes an AuditResult, the result_ of a detector; got "
            f"{type(result).__name__}."
        )
    if not isinstance(result.findings, GroupFindings):
        raise ValueError(
            f"explain_by takes a result with findings about groups; those of {result.detector} are "
            "about single people."
        )
    effects = causes.findings.table["effect"].to_numpy(dtype=float)
    members = np.array([g.mask(X) for g in causes.findings.subgroups], dtype=float)
    members = members.reshape(len(effects), len(X))
    rows, alike = [], _comparable(causes, result)
    table = result.findings.table
    masks_by_value = {str(p): p.mask(X) for p in items.protected_predicates}
    references = table["reference"] if "reference" in table else [None] * len(table)
    for group, effect, measure, reference, is_alike in zip(
        result.findings.subgroups, table["effect"], table["measure"], references, alike, strict=True
    ):
        inside = group.mask(X)
        if result.versus in (IN_CONTEXT, VERSUS):
            rest = context_of(group, protected).mask(X) & ~inside
        else:
            rest = _compared_with(reference, inside, masks_by_value)
        parts = np.full(len(effects), np.nan)
        if is_alike and rest is not None:
            with np.errstate(invalid="ignore", divide="ignore"):
                share = members @ inside / inside.sum() - members @ rest / rest.sum()
            parts = effects * share
        best = int(np.argmax(np.abs(parts))) if len(parts) and np.abs(parts).max() > 0 else -1
        cause = str(causes.findings.subgroups[best]) if best >= 0 else ""
        rows.append((str(group), measure, effect, parts.sum(), effect - parts.sum(), cause))
    names = ["group", "measure", "effect", "explained", "left", "cause"]
    return pd.DataFrame(rows, columns=names)


def _compared_with(reference, inside, masks_by_value):
    """Return the people that a group is compared with, from their name; None if unknown."""
    if reference in (None, "overall"):
        return np.ones(len(inside), dtype=bool)
    if reference in ("rest", "the rest"):
        return ~inside
    masks = [masks_by_value.get(part) for part in conditions_in(str(reference))]
    return None if any(m is None for m in masks) else np.logical_and.reduce(masks)


def _comparable(causes, result):
    """Return whether the effects of a result are differences of the outcome of the causes."""
    measures = result.findings.table["measure"]
    cause_measures = set(causes.findings.table["measure"])
    if cause_measures & _SELECTED:
        cause_measures |= _SELECTED
    is_patterns = measures.str.startswith("discrimination by ") & bool(cause_measures & _SELECTED)
    return measures.isin(cause_measures | {"mean_difference"}) | is_patterns | (not cause_measures)
