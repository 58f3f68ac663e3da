"""The protected groups, the table of their counts, and the table of every measure for each."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special

from skdisc import _stats
from skdisc._space._items import make_items
from skdisc._space._named_groups import named_group, named_values
from skdisc._space._subgroup import Subgroup
from skdisc._utils._frequency import numbered_in_order, people_in
from skdisc._utils._hashing import numbers_of
from skdisc._utils._validation import closest, of_numbers
from skdisc.measures._disparities import disparity_columns, table_measures
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.measures._formula._decisions import (
    RULES,
    GroupedDecisions,
    group_cells,
)
from skdisc.measures._formula._evaluation import ALONE, EMPTY, FEW
from skdisc.measures._formula._target import check_target

EXACT = "Fisher's exact test"
PLAIN = ("mean_difference", "impact_ratio")
OF_SCORES = ("mean_difference",)
WITH_LABELS = ("equal_opportunity", "balance_negative_class", "predictive_parity")
_MEASURED = [
    *("attribute", "subject", "reference", "measure", "n", "n_reference", "estimate", "ci_low"),
    *("ci_high", "p_value", "p_adjusted", "test", "min_detectable_gap", "excluded", "reason"),
    "null",
]
_OBJECTS = ("group", "reference", "against", "subject")
_EFFECTS = ("effect", "effect_low", "effect_high", "min_detectable_gap")
_MORE = ("effect_at_fit", "ci_significance")
CALIBRATION = ("predictive_parity", "calibration_within_groups", "calibration_difference")
_OF_FINDINGS = [
    *("outcome", "effect", "ci_low", "ci_high", "p_value", "p_adjusted", "test", "support"),
    *("measure", "reference", "estimate", "min_detectable_gap"),
]


def null_of(measures):
    """Return the null hypothesis of measures given by name: "calibration" or "marginal"."""
    named = measures is not None and not isinstance(measures, str)
    return "calibration" if named and set(measures) <= set(CALIBRATION) else "marginal"


def conditions(people, space, protected, n_bins):
    """Return the predicates that define the groups of each protected column, a dict of lists."""
    items = make_items(people.X, space, protected, protected, n_bins, frequency=people.frequency)
    predicates = {name: [] for name in protected}
    for predicate in items.predicates:
        predicates[predicate.column].append(predicate)
    return predicates


def is_unknown(group):
    """Return True if a group, a predicate or several, has a missing value."""
    return any(p.values == (None,) for p in parts(group))


def unknown(people, predicates):
    """Return column, condition and number of rows for each group of a missing value."""
    missing_groups = [
        (name, p)
        for name, column_predicates in predicates.items()
        for p in column_predicates
        if is_unknown(p)
    ]
    return [
        (str(n), str(p), people_in(p.mask(people.X), people.frequency)) for n, p in missing_groups
    ]


def parts(group):
    """Return the predicates of a group."""
    return group if isinstance(group, tuple) else (group,)


def subgroup(group):
    """Return a group, a predicate or several, as a `Subgroup`."""
    return group if isinstance(group, Subgroup) else Subgroup(list(parts(group)))


def tested_groups(table, chosen):
    """Return the groups of chosen rows, a set; all groups of a column at once are its name."""
    pairs = zip(table["attribute"][chosen], table["group"][chosen], strict=True)
    return {name if isinstance(g, str) else subgroup(g) for name, g in pairs}


def text(group):
    """Return a group or a rule of comparison as text; None is "nobody"."""
    if group is None or isinstance(group, str):
        return group or "nobody"
    return str(subgroup(group))


def table_of_people(X, predicates, decided, labels, *, intersections, known_only, pos_label=True):
    """Return `GroupedDecisions` whose groups are predicates, or tuples of them.

    Parameters
    ----------
    X : DataFrame
    predicates : dict of lists of Predicate, from `conditions`
    decided : ndarray of bool or float
    labels : ndarray of bool, or None
    intersections : int
        Largest number of columns that are combined.
    known_only : bool
        Whether rows with a missing value are left out of the groups.
    pos_label : label or None, default=True
        The favorable decision; None for numbers.
    """
    pred = check_target(decided, pos_label, "decisions", labels)
    true = None if labels is None else check_target(labels, True, "labels", decided)
    columns = [(str(name), *_coded(X, listed)) for name, listed in predicates.items()]
    cell, groupings = group_cells(columns, min(intersections, len(columns)))
    reduced = [_without(*grouping, known_only) for grouping in groupings]
    return GroupedDecisions(cell, reduced, pred, true, None, None, np.arange(len(X)))


def _coded(X, predicates):
    """Return the number of each row's predicate, and the predicates, None for rows without one."""
    column = X[predicates[0].column]
    position, values = slice(None), X
    if not of_numbers(column.dtype):  # each value is looked up once
        position = numbered_in_order(numbers_of(column)[0])
        first = np.empty(int(position.max(initial=-1)) + 1, dtype=np.intp)
        first[position[::-1]] = np.arange(len(X))[::-1]
        values = X[[column.name]].iloc[first]
    code = np.full(len(values), len(predicates))
    for i, predicate in enumerate(predicates):
        code[predicate.mask(values)] = i
    code = code[position]
    has_unlisted = code.max(initial=0) == len(predicates)
    return code, [*predicates, None] if has_unlisted else predicates


def _without(attribute, groups, members, known_only):
    """Leave out values not seen at fit and, if `known_only`, missing values."""
    is_usable = [None not in parts(g) and not (known_only and is_unknown(g)) for g in groups]
    known_groups = [g for g, stays in zip(groups, is_usable, strict=True) if stays]
    return attribute, known_groups, members[np.array(is_usable, dtype=bool)]


def reference_among(reference, predicates):
    """Return the reference of a user as a rule, or as a predicate for each column."""
    if isinstance(reference, str) and reference in RULES and reference != "pairs":
        return reference
    values = named_values("reference", reference, list(predicates))
    lacking = [name for name in predicates if name not in values]
    if lacking:
        raise ValueError(f"reference={reference!r} has no value for {lacking[0]!r}.")
    return {str(c): named_group("reference", c, values[c], predicates[c]) for c in predicates}


def choose(names, rows):
    """Return the measures of these names; for None those that suit the rows, for "all" None."""
    measures_by_name = table_measures()
    if names is None:
        are_scores, has_labels = rows.pred.dtype != bool, rows.true is not None
        names = OF_SCORES if are_scores else PLAIN + WITH_LABELS * has_labels
    elif isinstance(names, str):
        return None
    unknown = [name for name in names if name not in measures_by_name]
    if unknown or not len(names):
        name = (unknown or ["none"])[0]
        hint = closest(name, measures_by_name) if unknown else "."
        raise ValueError(
            f"measures={list(names)!r}: {name!r} is not an absolute measure of groups{hint} "
            f"Measures: {', '.join(measures_by_name)}."
        )
    return [measures_by_name[name] for name in names]


def texts(groups):
    """Return several groups as text; those that are the same object are described once."""
    text_by_id = {id(g): g for g in groups}
    text_by_id = {number: text(g) for number, g in text_by_id.items()}
    return [text_by_id[id(g)] for g in groups]


def measure_groups(rows, evaluations, reference, settings, *, exact, correction):
    """Measure every group.

    Parameters
    ----------
    rows : GroupedDecisions
    settings : dict
        significance, n_resamples, permutations, random_state.
    exact : bool
        Whether the impact ratio is tested exactly.

    Returns
    -------
    DataFrame
        One row per measure and group: group and reference as predicates (group, against) and as
        text (subject, reference), the columns of `measures.disparities`, min_detectable_gap; effect
        with effect_low and effect_high, NaN for a measure without direction; outcome of the group,
        and support, its number of people whatever their weights; place, the position of the
        measure.
    """
    columns = disparity_columns(evaluations, settings)
    groups, against, names = (columns[name] for name in ("group", "reference", "measure"))
    columns |= {"against": against, "subject": texts(groups), "reference": texts(against)}
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    columns["place"] = np.array([places[name] for name in names], dtype=np.intp)
    columns["null"] = [null_of([name]) for name in names]
    if exact:
        _test_exactly(columns, rows)
    columns["p_adjusted"] = adjust(columns, columns["p_value"], reference, correction)
    n_tests = int(np.count_nonzero(~np.isnan(columns["p_value"])))
    level = settings["significance"]
    level_each = level if correction == "none" else level / max(n_tests, 1)
    columns |= _effects(columns, level, level_each)
    size, total = (_by_group(rows, values) for values in (rows.size, rows.total))
    size, total = (
        np.array([by_group.get(g, np.nan) for g in groups]) for by_group in (size, total)
    )
    people = rows if rows.is_frequency else replace(rows, weight=None)
    support = _by_group(people, people.size)
    support = np.array([support.get(g, np.nan) for g in groups])
    with np.errstate(divide="ignore", invalid="ignore"):
        columns |= {"support": support, "outcome": total / size}
    return pd.DataFrame(columns | {n: pd.Series(columns[n], dtype=object) for n in _OBJECTS})


def effect_ends(evaluations, names, settings):
    """Return the intervals of effects at another level, of some measures; NaN for the others.

    `settings`: significance, n_resamples, random_state. Returns an ndarray of float of shape (2,
    n_rows): in the order of the rows of `measure_groups`.
    """
    ends = []
    for evaluation in evaluations:
        if evaluation.entry.name in names:
            effects = _effect(evaluation.entry, evaluation.ends(**settings))
            ends.append([effects.min(axis=0), effects.max(axis=0)])
        else:
            ends.append(np.full((2, len(evaluation.comparisons)), np.nan))
    return np.hstack(ends)


def adjust(table, p_value, reference, correction):
    """Correct p-values for the number of tests; with "best", also for the choice of the best group.

    Each comparison of all groups of a column with the best of them is then one family, whose
    p-values are corrected by `best_p_value`; `correction` is applied to the smallest of each.
    """
    p = np.array(p_value, dtype=float)
    if reference != "best" or correction == "none":
        return _stats.adjust(p, correction)
    position = [i if isinstance(g, str | None) else -1 for i, g in enumerate(table["against"])]
    keys = {"place": table["place"], "attribute": table["attribute"], "alone": position}
    family = pd.DataFrame(keys).groupby(list(keys)).ngroup().to_numpy()
    smallest = np.full(family.max(initial=-1) + 1, np.nan)
    for k in range(len(smallest)):
        in_family = family == k
        p[in_family] = _stats.best_p_value(
            p[in_family], np.count_nonzero(~np.isnan(p[in_family])) + 1
        )
        smallest[k] = np.min(p[in_family], initial=np.inf, where=~np.isnan(p[in_family]))
    smallest[np.isinf(smallest)] = np.nan
    tested = np.count_nonzero(~np.isnan(smallest))
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = _stats.adjust(smallest, correction) / smallest
    factor = np.where(smallest == 0, tested, factor)
    return np.minimum(p * factor[family], 1.0)


def _by_group(rows, values):
    """Return the sum of `values` over the cells of each group, a dict."""
    return {
        group: float(member @ values)
        for _, labels, members in rows.groupings
        for group, member in zip(labels, members, strict=True)
    }


def _test_exactly(columns, rows):
    """Replace the test of the impact ratio by Fisher's exact test."""
    is_ratio = (columns["measure"] == "impact_ratio") & ~columns["excluded"]
    favorable = _by_group(rows, rows.total)
    groups = (columns[name][is_ratio] for name in ("group", "against"))
    x1, x0 = (np.array([favorable.get(g, np.nan) for g in several]) for several in groups)
    n1, n0 = (columns[name][is_ratio] for name in ("n", "n_reference"))
    if len(x1):
        columns["p_value"][is_ratio] = _stats.fisher(x1, n1, x0, n0)
        columns["test"][is_ratio] = EXACT


def _effects(columns, level, level_each):
    """Return the effects, their intervals, and the minimal detectable gaps, a dict of arrays."""
    estimates = np.array([columns[name] for name in ("estimate", "ci_low", "ci_high")], dtype=float)
    effects = np.empty((4, estimates.shape[1]))
    for place, name in enumerate(dict.fromkeys(columns["measure"])):
        rows = columns["place"] == place
        effects[:, rows] = _effects_of(CATALOGUE[name], *estimates[:, rows], level, level_each)
    return dict(zip(_EFFECTS, effects, strict=True))


def _effects_of(entry, estimate, low, high, level, level_each):
    """Return the effects of one measure, both ends, and the minimal detectable gaps."""
    ends = np.stack([_effect(entry, low), _effect(entry, high)])
    with np.errstate(divide="ignore", invalid="ignore"):
        width = np.log(high) - np.log(low) if entry.scale == "ratio" else high - low
        error = width / (-2 * special.ndtri(level / 2))
        gap = error * (special.ndtri(0.8) - special.ndtri(level_each / 2))
        gap = -np.expm1(-gap) if entry.scale == "ratio" else gap
    return _effect(entry, estimate), ends.min(axis=0), ends.max(axis=0), gap


def _effect(entry, value):
    """Return values as group minus reference: negative if the group is worse off.

    A ratio is expressed as group over reference, minus 1. NaN for measures without direction.
    """
    value = np.asarray(value, dtype=float)
    if entry.worse == "unsigned":
        return np.full(value.shape, np.nan)
    if entry.scale == "difference":
        return value - entry.none if entry.worse == "below" else entry.none - value
    with np.errstate(divide="ignore"):
        return (value if entry.worse == "below" else 1 / value) - 1


def references(table, reference):
    """Return the reference of each column and combination of columns, a dict.

    Where there was none, as for measures of all groups at once, it is the one that was wanted.
    """
    pairs = zip(table["attribute"], table["against"], strict=True)
    reference_of = {name: group for name, group in pairs if not isinstance(group, str | None)}
    if not isinstance(reference, dict):
        reference = dict.fromkeys(table["attribute"], reference)
    return reference | reference_of


def versus(reference):
    """Return the reference in words."""
    words = {
        "largest": "the largest group",
        "best": "the best-off group",
        "rest": "the rest of the people",
        "overall": "all people",
    }
    return words.get(reference, "the reference") if isinstance(reference, str) else "the reference"


def readable(table):
    """Return the table of measures with groups as text, each on the measure's own scale."""
    return table[_MEASURED].rename(columns={"subject": "group"})


def finding_columns(shown):
    """Return the columns of findings: effects with their intervals."""
    columns = {"effect_low": "ci_low", "effect_high": "ci_high"}
    shown = shown.drop(columns=["ci_low", "ci_high"]).rename(columns=columns)
    extra_columns = [c for c in shown if c in _MORE or c.startswith("held_out_")]
    return shown[[*_OF_FINDINGS, *extra_columns]].reset_index(drop=True)


def undefined(table):
    """Return the groups without a value, their size and the reason."""
    excluded = table[table["excluded"].astype(bool) & (table["subject"] != "all")]
    groups = excluded[["subject", "measure", "n", "reason"]].reset_index(drop=True)
    small = groups["reason"].str.startswith((EMPTY, ALONE, FEW))
    groups.loc[small, "measure"] = "any"
    return groups.drop_duplicates(ignore_index=True)
