"""The scan for a protected part that makes a difference within its context.

Outcomes are compared with what is expected of people with the same legitimate columns, and the scan
is repeated with protected columns drawn anew given all others (a conditional randomization test,
:doi:`10.1111/rssb.12265`): where the protected columns make no difference, the observed score is
one of these. The set of subsets cannot be listed, so no other correction for the search is known.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from skdisc._blackbox._default_models import (
    numbered,
    small_boosting,
    small_regression,
    sparse_logistic,
)
from skdisc._blackbox._redrawn import Redrawn, fitted, in_folds, nameless
from skdisc._blackbox._training import threads_for
from skdisc._utils._frequency import taken
from skdisc._utils._warnings import ignoring
from skdisc.subgroup._bias_scan._cells import Table
from skdisc.subgroup._bias_scan._scans import (
    Scanned,
    observed_ends,
    quick_scores_of_tables,
    rules_of,
    scans_of,
)
from skdisc.subgroup._bias_scan._starts import Starts
from skdisc.subgroup._estimation._contrasts import Contrasts
from skdisc.subgroup._estimation._outcomes import Summed

_TABLES, _ROWS_AT_ONCE = 8, 500_000  # of redrawn columns that are scanned together
_REDRAWN = "best score, against scans with redrawn protected columns"
NO_SCANS = "No data without bias were scanned: there is no p-value."
_WIDE = (
    "The intervals are as wide as the best scores of scans without bias. For estimates on rows "
    "that were not searched, set confirm=."
)


def discover_in_contexts(detector, task, outcome, items):
    """Scan for a protected part that makes a difference within its context.

    Returns
    -------
    Discovery
    """
    protected = [
        c for c in detector.protected_ if c in detector._chosen(list(detector.space_.names))
    ]
    scanned, o = scan_contexts(detector, task, outcome, items, protected)
    ends, masks = scanned.distinct(o, detector.k)
    rows = contrast_rows(outcome)
    groups, targets = [e.group for e in ends], np.array([e.target for e in ends], dtype=int)
    # The best scores by chance allow for clusters already, so intervals take rows as independent.
    contrasts = Contrasts.of_groups(replace(rows, cluster=None), groups, protected)
    p_value = np.array([scanned.p_value(e) for e in ends], dtype=float)
    group_numbers = np.arange(len(ends))
    level = level_of(scanned.by_chance(detector.significance), detector.penalty * n_values(groups))
    with_zero = np.minimum(level, contrasts.p_value()[targets, group_numbers])
    level = np.where(p_value > detector.significance, with_zero, level)
    table = contrasts.table(targets, group_numbers, level)
    table["direction"] = np.array([outcome.direction(e.sign) for e in ends], dtype=object)
    table["score"] = np.array([e.total for e in ends], dtype=float)
    means = [
        [np.average(v[e.target][m], weights=o.mass[m]) if m.any() else np.nan for v in (o.y, o.mu)]
        for e, m in zip(ends, masks, strict=True)
    ]
    table[["observed", "expected"]] = np.array(means, dtype=float).reshape(-1, 2)
    naive = Contrasts.of_groups(rows, groups, protected).p_value()
    table["naive_p_value"] = naive[targets, group_numbers]
    table["p_value"] = table["p_adjusted"] = p_value
    table["test"] = np.full(len(ends), _REDRAWN, dtype=object)
    discovery = detector._of_scans(task, rows, items, groups=groups, table=table, scanned=scanned)
    discovery.notes.append(_WIDE if len(scanned.null) else NO_SCANS)
    return discovery


def contrast_rows(outcome):
    """Return the rows with the values to contrast: outcomes, or outcomes less a model's."""
    values = outcome.y if outcome.is_mean else outcome.y - outcome.mu
    return Summed.ordered(
        outcome.X,
        outcome.sense * values,
        names=outcome.names,
        weight=outcome.weight,
        cluster=outcome.cluster,
        frequency=outcome.frequency,
    )


def scan_contexts(detector, task, outcome, items, protected):
    """Scan, and scan again with redrawn protected columns.

    Parameters
    ----------
    detector : BiasScan
    task : Task
    outcome : Outcome
    items : Items
    protected : list of column names

    Returns
    -------
    scanned : Scanned
    outcome : Outcome
        The rows, divided by fold, with the expectations used.
    """
    if not len(outcome):
        return Scanned([], pd.DataFrame(), np.empty(0)), outcome
    seed = int(task.rng.integers(2**31))
    outcome, items, fold = _divided(outcome, items, seed)
    o = legitimately_expected(outcome, protected, fold)
    table = Table(items, o)
    rules = rules_of(detector, table, o, table.protected)
    starts = Starts.draw(table.cells, rules, detector.n_restarts, task.rng)
    scans = scans_of(detector, table, o, rules)
    ends, frame = observed_ends(table, scans, starts, o, lambda n: detector._spend(task, n) == n)
    if not (detector.n_resamples and ends):
        return Scanned(ends, frame, np.empty(0)), o
    quick = quick_scores_of_tables([scans], [table.a], starts)[0]

    def scores():
        redrawn = Redrawn(o.X, protected, o.weight, seed, o.frequency, fold, o.cluster)
        n_tables = min(_TABLES, max(1, _ROWS_AT_ONCE // len(o)))
        for first in range(0, detector.n_resamples, n_tables):
            numbers = range(first, min(first + n_tables, detector.n_resamples))
            tables = [table.redrawn(redrawn.people([seed, i])) for i in numbers]
            redrawn_scans = [
                scans_of(detector, redrawn_table, o, rules) for redrawn_table in tables
            ]
            yield from quick_scores_of_tables(
                redrawn_scans, [redrawn_table.a for redrawn_table in tables], starts
            )

    null = _until_many(task, scores(), quick, detector.n_resamples, detector.significance)
    return Scanned(ends, frame, null, quick), o


def _until_many(task, scores, observed, n, significance):
    """Return scores without bias, until too many are as large as the one observed."""
    null, as_large, most = [], 0, significance * (n + 1)
    while len(null) < n and as_large + 1 <= most:
        if task.budget.stopped_by is not None or not task.budget.allow(1):
            break
        null.append(next(scores))
        as_large += null[-1] >= observed
        task.progress(f"{len(null)} of {n} scans of redrawn columns")
    return np.array(null)


def _divided(outcome, items, seed):
    """Return outcome and items in the order of column names, with the people of each fold in rows.

    The people of a row with a frequency are dealt into folds as if each had a row. In one fold,
    equal people with one outcome would get their expectation from those with the other outcome
    only.
    """
    X = outcome.X.iloc[:, np.argsort([str(c) for c in outcome.X.columns], kind="stable")]
    outcome = replace(outcome, X=X)
    row, people, fold = in_folds(len(X), outcome.frequency, seed, outcome.cluster)
    if people is not None:
        outcome = outcome.at(row, people)
        items = replace(items, codes=items.codes[:, row])
    return outcome, items, fold


def level_of(score, penalty):
    """Return the level of intervals as wide as a score from which penalties were taken."""
    return 2 * special.ndtr(-np.sqrt(2 * np.maximum(score + penalty, 0)))


def n_values(groups):
    """Return the number of values that define each group, which a scan penalizes."""
    sizes = [sum(len(p.values or (p,)) for p in g.predicates) for g in groups]
    return np.array(sizes, dtype=float)


def legitimately_expected(outcome, protected, fold):
    """Return the outcome with its expectations given the columns that are not protected.

    If a model's expectations were given, they count as one of these columns. The expectations are
    learned out of fold, by the mean of a linear model and boosted trees.
    """
    features = outcome.X.drop(columns=protected)
    if not outcome.is_mean:
        model_columns = {
            f"expected {name}": mu for name, mu in zip(outcome.names, outcome.mu, strict=True)
        }
        features = features.assign(**model_columns)
    features = features.loc[:, features.nunique(dropna=False) > 1]
    features = nameless([numbered(features[c]) for c in features], features.index)
    mu = np.array([_out_of_fold(features, y, outcome, fold) for y in outcome.y])
    if outcome.is_share:
        mu = np.clip(mu, 1e-3, 1 - 1e-3)
    elif outcome.kind == "rate":
        mu = np.maximum(mu, 1e-3 * max(float(outcome.y.mean()), 1e-6))
    return replace(outcome, mu=mu, is_mean=False)


def _out_of_fold(features, y, outcome, fold):
    """Return the expectation of each row by models fitted to the other folds."""
    mu, people = np.full(len(y), np.average(y, weights=outcome.mass)), outcome.frequency
    if not features.shape[1] or not fold.any():
        return mu
    for k in range(fold.max() + 1):
        rest, held_out = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        if len(np.unique(y[rest])) < 2:
            continue
        parts, rows = [], features.iloc[held_out]
        for model in _models(outcome.is_share):
            with ignoring(ConvergenceWarning), threads_for(len(rest)):
                fitted(model, features.iloc[rest], y[rest], taken(people, rest))
                parts.append(
                    model.predict_proba(rows)[:, 1] if is_classifier(model) else model.predict(rows)
                )
        mu[held_out] = np.mean(parts, axis=0)
    return mu


def _models(is_share):
    """Return the models whose mean is taken."""
    # The engine of expectations raises fewer false alarms next to codes, but then describes groups
    # worse (F1 .38 instead of .51, doc/expectations.md).
    if is_share:
        return sparse_logistic(), small_boosting()
    return (small_regression(),)
