"""The candidates of a question about groups in contexts, from mined patterns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from skdisc import _stats
from skdisc._space._codes import EVERYONE, PAD
from skdisc._space._items import Items
from skdisc._space._subgroup import Group
from skdisc._task._task import Task
from skdisc._utils._frequency import numbered_within
from skdisc._verdicts._candidates import Candidates
from skdisc._verdicts._whom import whom
from skdisc.subgroup._estimation._clusters import inflation, members_of
from skdisc.subgroup._estimation._contrasts import (
    HIGHER_IS_WORSE,
    Contrasts,
    is_protected,
    why_too_skewed,
)
from skdisc.subgroup._lattice._conjunctions import Patterns

_JOINT = -1  # a group whose protected part has several conditions, or none of its own


@dataclass(frozen=True)
class ContrastQuestion:
    """The contrasts of a question, each once: one of two sides that make up a context.

    Attributes
    ----------
    contrasts : Contrasts
        All contrasts, before one side of two is left out.
    side : ndarray of int, shape (n_measures, n_contrasts)
        For each contrast, itself or the side that stands for both.
    pattern : ndarray of int, shape (n_contrasts,)
        The position of the pattern that it is the contrast of, for those that the search tests;
        -1 for others.
    size : ndarray of float, shape (n_contrasts,)
        Size of the group; of two sides, the larger.
    name : ndarray of object, shape (n_contrasts,)
        The name of each contrast.
    ranges : str
        Which numbers are compared in bins.
    """

    contrasts: Contrasts
    side: np.ndarray
    pattern: np.ndarray
    size: np.ndarray
    name: np.ndarray
    ranges: str = ""

    def candidates(self, detector: Any, significant: np.ndarray | None = None) -> Candidates:
        """Return the candidates, the first measure first.

        `detector`: tells which gap matters. `significant`, of shape (n_measures, n_patterns): the
        findings, by their patterns. None: there are none.
        """
        names, n = self.contrasts.rows.names, len(self.size)
        is_found = np.zeros((len(names), n), dtype=bool)
        if significant is not None:
            is_tested = np.flatnonzero(self.pattern >= 0)
            measure, position = np.nonzero(significant[:, self.pattern[is_tested]])
            is_found[measure, self.side[measure, is_tested[position]]] = True
        is_representative = self.side == np.arange(n)
        measure, position = np.nonzero(is_representative)
        parts = [(j, np.flatnonzero(mask)) for j, mask in enumerate(is_representative)]
        tallies = [self.contrasts.tally(j, part) for j, part in parts]

        @cache  # of the few levels of an answer
        def interval(a):
            level = _stats.level_of_two_tests(a)
            ends = [np.broadcast_arrays(*tally.interval(level)) for tally in tallies]
            return tuple(np.concatenate([np.ravel(end[k]) for end in ends]) for k in (0, 1))

        people, effective = zip(*(self.contrasts.people(j, part) for j, part in parts), strict=True)
        n_group, n_others = np.concatenate(people, axis=1)
        gaps, problem = detector._matters(self.contrasts.rows)
        level_of_reasons = _stats.level_of_two_tests(detector.significance)
        return Candidates(
            n_group,
            n_others,
            np.concatenate([np.ravel(tally.gap) for tally in tallies]),
            interval,
            size=self.size[position],
            total=float(self.contrasts.rows.size),
            found=is_found[measure, position],
            name=self.name[position],
            measure=np.array(names, dtype=object)[measure] if len(names) > 1 else None,
            comparison_size=np.concatenate([_stats.compared_size(*sizes) for sizes in effective]),
            reason=np.concatenate(
                [
                    why_too_skewed(tally, level_of_reasons, len(part))
                    for tally, (_, part) in zip(tallies, parts, strict=True)
                ]
            ),
            relevant_gap=np.array(gaps, dtype=float)[measure],
            problem=problem,
            ranges=self.ranges,
            counted=whom(names),
        )


def question_about_patterns(
    contrasts: Contrasts, has_contrast: np.ndarray, patterns: Patterns, items: Items
) -> ContrastQuestion:
    """Return the contrasts of mined groups with the rest of their contexts, each once.

    A group with several protected conditions is compared with the others in the context of its
    legitimate ones, and by each of its protected conditions alone: with those who meet all of its
    other conditions. Definitions of the same rows are one group, the shortest.

    `contrasts` and `has_contrast`: from `Contrasts.of_patterns`. `patterns`: the groups, all of at
    least `relevant_size`.
    """
    protected = is_protected(patterns, items)
    part_item, context_items = _part_and_context(patterns, protected)
    source, single_item, single_context, single_contrasts = _by_one_condition(
        contrasts, patterns, items, protected
    )
    child, _ = repeated(contrasts, patterns)
    has_contrast = has_contrast.copy()
    has_contrast[child] = False
    keep = np.flatnonzero(has_contrast)
    extra = np.flatnonzero(has_contrast[source])
    pattern = np.concatenate([keep, source[extra]])
    part_item = np.concatenate([part_item[keep], single_item[extra]])
    context_items = np.vstack([context_items[keep], single_context[extra]])
    contrasts = Contrasts.joined(contrasts.at(keep), single_contrasts.at(extra))

    alone = items.names_of(part_item[len(keep) :, None])
    within = items.names_of(context_items[len(keep) :])
    name = np.concatenate([items.names_of(patterns.items[keep]), alone + " among " + within])
    tested = np.where(np.arange(len(pattern)) < len(keep), pattern, -1)
    return _each_context_once(contrasts, part_item, context_items, items, tested, name)


def question_about_everyone(
    rows: Any, patterns: Patterns, tested: np.ndarray, items: Items
) -> ContrastQuestion:
    """Return the comparisons of mined groups, those that are tested, with everyone else."""
    positions, n = np.flatnonzero(tested), int(np.count_nonzero(tested))
    sums = [s[:, positions] for s in rows.pattern_sums(patterns)]
    total = [np.repeat(rows.total_sums(j)[:, None], n, axis=1) for j in range(len(rows.names))]
    support, size = (values[positions] for values in rows.support(patterns))
    contrasts = Contrasts(
        rows,
        sums=sums,
        context_sums=total,
        support=support,
        support_context=np.full(n, rows.n),
        size=size,
        size_context=np.full(n, rows.size),
    )
    part_item = np.where(
        patterns.length[positions] == 1, patterns.items[positions].max(axis=1, initial=PAD), _JOINT
    )
    context_items = np.full((n, patterns.items.shape[1]), PAD)
    return _each_context_once(
        contrasts,
        part_item,
        context_items,
        items,
        positions,
        items.names_of(patterns.items[positions]),
    )


def candidates_of_rows(
    detector: Any,
    task: Task,
    rows: Any,
    items: Items,
    findings: Sequence[tuple[Group, str]],
    mined: Patterns | None,
) -> Candidates:
    """Return the candidates of a question from rows, whatever the search did.

    `items`: with the codes of these rows. `findings`: the findings, each with its measure. One that
    is no conjunction of items is added. `mined`: the groups of a question about everyone, from
    `judged_of`; None: they are mined.
    """
    most = detector._most_judged
    if mined is None:
        mine_patterns = rows.miner(items, relevant_least(detector, rows), True)
    if detector.versus == "everyone" and detector.null == "everyone":
        patterns = mine_patterns(most, None, in_time(task)) if mined is None else mined
        tested = np.ones(len(patterns), dtype=bool)
        if detector.must_include == "protected":
            tested = items.protected[patterns.items[:, 0]]
        question = question_about_everyone(rows, patterns, tested, items)
    else:
        fewer = None if most is None else most - 1
        contexts = mine_patterns(fewer, ~items.protected, in_time(task))
        patterns = publishable_groups(
            detector, mine_patterns(most, items.protected, in_time(task)), items
        )
        contrasts = Contrasts.of_patterns(rows, patterns, contexts, items)
        question = question_about_patterns(*contrasts, patterns, items)
    significant, unmatched = _matched_findings(rows, patterns, items, findings)
    groups = [group for group, _ in unmatched]
    question = _with_groups(question, groups, len(patterns), detector, items)
    extra = np.zeros((len(rows.names), len(unmatched)), dtype=bool)
    for position, (_, measure) in enumerate(unmatched):
        extra[rows.names.index(measure), position] = True
    return question.candidates(detector, np.hstack([significant, extra]))


def judged_of(
    detector: Any, task: Task, rows: Any, items: Items, patterns: Patterns
) -> Patterns | None:
    """Return which of the groups that a search compared with everyone are judged.

    None if the search may not have mined them all, or if sums of floats, which depend on the
    lattice in their last digits, tell how large they are.
    """
    least = relevant_least(detector, rows)
    is_complete = task.budget.stopped_by is None and detector._least(rows) <= least
    has_sums = patterns.sums is not None and patterns.sums.shape[1] > 0
    if not is_complete or has_sums:
        return None
    is_judged = rows.support(patterns)[1] >= least
    if not detector.distinct:
        frequent = np.flatnonzero(rows.sizes(items) >= least)
        is_first = np.zeros(len(items.predicates) + 1, dtype=bool)
        is_first[[*items.walk(frequent, True)[1], PAD]] = True  # PAD finds the last
        is_judged &= is_first[patterns.items].all(axis=1)
    return patterns.at(is_judged)


def publishable_groups(detector: Any, patterns: Patterns, items: Items) -> Patterns:
    """Return the mined groups that a public document may compare with the rest of their contexts.

    `detector`: its choice of groups depends on columns alone. `items`: with the codes of these
    rows.
    """
    choice = detector._choice
    if choice is None or not len(patterns):
        return patterns
    context_items = np.where(is_protected(patterns, items), PAD, patterns.items)
    masks = (np.array(list(members_of(items, p))) for p in (patterns.items, context_items))
    is_allowed = choice.looks_at(*masks)
    return patterns.at(is_allowed)


def relevant_least(detector: Any, rows: Any) -> float:
    """Return the smallest size of a group that is judged."""
    least = detector.relevant_size * float(rows.size) * (1 - 1e-9)
    return max(1.0, least if rows.weight is not None else float(np.ceil(least)))


def in_time(task: Task) -> Callable[[int], int]:
    """Return a function that allows all candidates until the time budget has elapsed."""
    return lambda n: 0 if task.budget.has_spent(1) else n


def _by_one_condition(contrasts, patterns, items, protected):
    """Return contrasts of groups with several protected conditions, by each condition alone.

    `contrasts`: one for each of the groups. Returns the group of each new contrast, the condition,
    the items of its context, and the contrasts.
    """
    is_one_of_several = protected & (protected.sum(axis=1) > 1)[:, None]
    source, slot = np.nonzero(is_one_of_several)
    context_items = patterns.items[source]
    context_items[np.arange(len(source)), slot] = PAD
    context, is_mined = patterns.find(context_items)
    source, slot, context = source[is_mined], slot[is_mined], context[is_mined]
    context_items, factors = context_items[is_mined], None
    if contrasts.rows.cluster is not None:
        masks = (members_of(items, p) for p in (patterns.items[source], context_items))
        factors = inflation(contrasts.rows, *masks)
    groups = contrasts.at(source)
    by_condition = replace(
        groups,
        context_sums=[sums[..., context] for sums in contrasts.sums],
        support_context=contrasts.support[..., context],
        size_context=contrasts.size[..., context],
        inflation=factors,
        side_sums=groups.sums if contrasts.rows.has_numbers else None,
    )
    return source, patterns.items[source, slot], context_items, by_condition


def repeated(contrasts: Contrasts, patterns: Patterns) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of groups with the rows of a shorter group, and of the latter."""
    child, parent, _ = patterns.parents()
    child, parent = child[parent >= 0], parent[parent >= 0]
    same = contrasts.support[child] == contrasts.support[parent]
    return child[same], parent[same]


def _part_and_context(patterns, protected):
    """Return the protected item of each group, -1 if there are several, and its context."""
    first = patterns.items[np.arange(len(patterns)), protected.argmax(axis=1)]
    part_item = np.where(protected.sum(axis=1) == 1, first, _JOINT)
    return part_item, np.where(protected, PAD, patterns.items)


def one_side_each(
    contrasts: Contrasts, tested: np.ndarray, patterns: Patterns, items: Items, direction: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return `tested` without the better-off side of two that make up one context.

    With the direction "lower" or "higher", the side with such a gap stays. Also return, of each
    group, itself or the side that stays in place of it, shape (n_measures, n_groups).
    """
    part_item, context_items = _part_and_context(patterns, is_protected(patterns, items))
    part_item = np.where(tested.any(axis=0), part_item, _JOINT)
    pairs = whole_contexts(
        part_item, context_items, contrasts.support, contrasts.support_context, items
    )
    twin = _sides(contrasts, pairs, tested, direction)
    return tested & (twin == np.arange(tested.shape[1])), twin


def _sides(contrasts, pairs, tested, direction):
    """Return each contrast, or the side of its context that stands for it where both are tested.

    That is the worse-off side, or the one with the larger gap in the direction.
    """
    (a, b), gap = pairs, contrasts.gap
    side = np.tile(np.arange(tested.shape[1]), (len(tested), 1))
    for j, measure in enumerate(contrasts.rows.names):
        worse = 1 if measure in HIGHER_IS_WORSE else -1
        sign = {"lower": -1, "higher": 1, "both": worse}[direction]
        are_tested = tested[j, a] & tested[j, b]
        first = sign * gap[j, a] >= sign * gap[j, b]
        side[j, np.where(first, b, a)[are_tested]] = np.where(first, a, b)[are_tested]
    return side


def _each_context_once(contrasts, part_item, context_items, items, pattern, name):
    """Return the contrasts, with the worse-off side standing for two that make up a context."""
    pairs = a, b = whole_contexts(
        part_item, context_items, contrasts.support, contrasts.support_context, items
    )
    size = contrasts.size.astype(float)
    size[a] = size[b] = np.maximum(size[a], size[b])
    is_tested = np.ones((len(contrasts.rows.names), len(part_item)), dtype=bool)
    side = _sides(contrasts, pairs, is_tested, "both")
    return ContrastQuestion(contrasts, side, pattern, size, name, ranges_of(items))


def ranges_of(items: Items) -> str:
    """Return which numbers are compared in bins, a sentence; "" if none is."""
    single = [p for i, p in enumerate(items.predicates) if i not in items.joined]
    cut = [p.column for p in single if p.values is None]
    if not cut or len(cut) < sum(p.values is None for p in items.predicates):
        return ""  # with wider ranges, other ranges are compared, too
    names = [f"{name} in {cut.count(name)} bins" for name in dict.fromkeys(cut)]
    return (
        f"Numbers are compared in bins ({', '.join(names)}): a gap in another range shows by the "
        "part of it in a bin. Bins(8, unions=True) asks about all runs of neighboring bins."
    )


def whole_contexts(
    protected_item: np.ndarray,
    context_items: np.ndarray,
    n: np.ndarray,
    n_context: np.ndarray,
    items: Items,
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of contrasts whose groups divide one context: each is the rest of the other.

    For example the women and the men of a department. Both contrasts say the same.

    `protected_item`: the protected item of the group; negative for groups with several.
    `context_items`, of shape (n_contrasts, max_len): the items of the context. `n` and `n_context`:
    people of the group, and of its context. Returns `one` and `other`: positions of the contrasts.
    """
    single = np.flatnonzero(protected_item >= 0)
    column = items.feature[protected_item[single]]
    context = np.sort(context_items[single], axis=1)
    # Contrasts with one key are about one protected column in one context.
    key = np.unique(np.column_stack([column, context]), axis=0, return_inverse=True)[1]
    key = key.ravel()  # numpy 2.0 has another shape
    i, j = _pairs_that_fill(key, n[single], n_context[single])
    # Sizes may add up by chance where items are ranges that overlap.
    values = {k: set(items.joined.get(k, [k])) for k in np.unique(protected_item[single])}
    pairs = zip(protected_item[single[i]], protected_item[single[j]], strict=True)
    is_disjoint = np.array([values[a].isdisjoint(values[b]) for a, b in pairs], dtype=bool)
    return single[i[is_disjoint]], single[j[is_disjoint]]


def _pairs_that_fill(key, n, n_whole):
    """Return pairs of positions i < j with equal keys, whose sizes n add up to the whole.

    As key and size are searched for as one number, this takes no loop over pairs.
    """
    most = int(n_whole.max(initial=0)) + 1
    code, complement_code = key * most + n, key * most + n_whole - n
    order = np.argsort(code, kind="stable")
    first, last = (
        np.searchsorted(code[order], complement_code, side) for side in ("left", "right")
    )
    n_partners = last - first
    j = np.repeat(np.arange(len(n)), n_partners)
    i = order[first[j] + numbered_within(n_partners)]
    order = np.lexsort([j, i])
    i, j = i[order], j[order]
    return i[i < j], j[i < j]


def _matched_findings(rows, patterns, items, findings):
    """Return which patterns are findings, by measure, and the findings that match no pattern."""
    significant = np.zeros((len(rows.names), len(patterns)), dtype=bool)
    groups, unmatched = list(dict.fromkeys(group for group, _ in findings)), []
    same_rows = dict(zip(groups, _with_rows_of(groups, rows, patterns, items), strict=True))
    for group, measure in findings:
        if len(same_rows[group]):
            significant[rows.names.index(measure), same_rows[group]] = True
        else:
            unmatched.append((group, measure))
    return significant, unmatched


def _with_rows_of(groups, rows, patterns, items):
    """Yield the positions of the patterns with the rows of each group."""
    numbers = [items.numbers_of(group) or [] for group in groups]
    conjunctions = np.full((len(groups), max(map(len, numbers), default=0) + 1), PAD)
    for conjunction, group_numbers in zip(conjunctions, numbers, strict=True):
        conjunction[: len(group_numbers)] = group_numbers
    positions, is_pattern = patterns.find(conjunctions)
    support = rows.support(patterns)[0]
    for group, position in zip(groups, np.where(is_pattern, positions, EVERYONE), strict=True):
        if position != EVERYONE:
            alike = np.flatnonzero(support == support[position])
            if len(alike) == 1:  # the group itself
                yield alike
                continue
        mask = items.rows_of(group, rows.X)
        alike = np.flatnonzero(support == rows.people_in([mask])[0])
        members = members_of(items, patterns.items[alike])
        yield [i for i, m in zip(alike, members, strict=True) if np.array_equal(m, mask)]


def _with_groups(question, groups, n_patterns, detector, items):
    """Add the contrasts of groups that are not patterns, numbered after the patterns."""
    if not groups:
        return question
    rows, n = question.contrasts.rows, len(question.size)
    if detector.null == "everyone":
        everyone = np.ones(len(rows), dtype=bool)
        masks = [items.rows_of(group, rows.X) for group in groups]
        group_contrasts = Contrasts.of_masks(rows, masks, [everyone] * len(groups))
    else:
        group_contrasts = Contrasts.of_groups(rows, groups, detector._protected_features)
    places = np.arange(n, n + len(groups))
    return ContrastQuestion(
        Contrasts.joined(question.contrasts, group_contrasts),
        np.hstack([question.side, np.tile(places, (len(rows.names), 1))]),
        np.concatenate([question.pattern, n_patterns + np.arange(len(groups))]),
        np.concatenate([question.size, group_contrasts.size.astype(float)]),
        np.concatenate([question.name, np.array([str(g) for g in groups], dtype=object)]),
        question.ranges,
    )
