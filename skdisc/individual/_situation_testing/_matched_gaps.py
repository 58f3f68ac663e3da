"""The verdict of a situation test: mean gaps among similar people, and the balance of features."""

from dataclasses import replace

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._expectations import said_about
from skdisc._neighbors._distances import features_of
from skdisc._results._judgment import judge_effects
from skdisc._results._shared_values import MIN_CELL
from skdisc._utils._hashing import canonical_order
from skdisc.causal._counterfactual_rows import counterfactual_rows, resampled
from skdisc.individual._situation_testing._mean_gap import (
    SMALLEST_K,
    as_numbers,
    column_of,
    mean_gap,
    too_fine,
)
from skdisc.individual._situation_testing._report import LARGE, SMALL

_N_RESAMPLES, _MOST_PEOPLE = 25, 2000  # behind the variance of a causal model
_CENTERS = 1000  # people of a group whose test groups are behind the table of balance


def gap_of(detector, task, part, outcome):
    """Return the `MeanGap` of one comparison among the rows under audit.

    Parameters
    ----------
    detector : SituationDetector
    task : Task
    part : Judged
    outcome : ndarray of float, shape (n,)
    """
    order = canonical_order(task.X, outcome)
    sides = part.comparison.test(task.X), part.comparison.control(task.X)
    rows = [order[side[order]] for side in sides]
    people = outcome, task.people.groups
    gap = _gap_at(detector, part, task.X, part.counterparts, people, rows)
    recipe = task.memory.recipes.get(part.comparison.columns[0])
    if recipe is not None and not np.isnan(gap.gap):
        gap = gap.with_variance(*_of_the_causal_model(detector, task, part, people, rows))
    pair, features = np.concatenate(rows), features_of(task.X, part.pools.columns)
    name = too_fine(features.iloc[pair], features)
    columns = []
    for values in (gap.residual, gap.expected):  # of all rows of the task
        columns.append(np.full(len(task.X), np.nan))
        columns[-1][pair] = values
    residual, expected = columns
    return replace(
        gap, matched=pair[gap.matched], residual=residual, expected=expected, too_fine=name
    )


def _gap_at(detector, part, X, counterparts, people, rows, learner="boosting"):
    """Return the `MeanGap` with the people of the group in the places of their counterfactuals.

    `people` are the outcomes and the clusters (or None) of X.
    """
    pools, frames = part.pools, (X.iloc[rows[0]], counterparts.iloc[rows[1]])
    features = pd.concat([features_of(frame, pools.columns) for frame in frames])
    distances, points = pools.distances.with_rows(features)
    outcome, cluster = (None if a is None else a[np.concatenate(rows)] for a in people)
    return mean_gap(
        points,
        features,
        outcome,
        np.repeat([False, True], [len(side) for side in rows]),
        k=SMALLEST_K,
        limit=pools.limit,
        is_binary=detector.output == "decision",
        cluster=cluster,
        learner=learner,
        checks_balance=counterparts is X,
        nominal=distances.nominal,
        metric=distances.metric,
        n_jobs=detector.n_jobs,
    )


def _of_the_causal_model(detector, task, part, people, rows):
    """Return the variance that a fitted causal model adds to a gap, and its degrees of freedom."""
    comparison, learned, cluster = part.comparison, task.memory.X, task.memory.clusters
    order, rng = canonical_order(learned), task.rng.spawn(1)[0]
    learned = learned.iloc[order]
    draw = _stats.resampler(comparison.control(learned), rng)
    if cluster is not None:
        draw = _stats.cluster_resampler(cluster[order], rng)
    name = comparison.columns[0]
    recipe, fitted = task.memory.recipes[name], task.memory.sources[name]
    rows, gaps = [side[:: max(1, len(side) // _MOST_PEOPLE)] for side in rows], []
    for _ in range(_N_RESAMPLES):
        source = resampled(recipe, fitted, learned.iloc[draw()])
        counterparts = counterfactual_rows(source, task.X, comparison.do)[0]
        gaps.append(_gap_at(detector, part, task.X, counterparts, people, rows, "additive").gap)
    return float(np.nanvar(gaps, ddof=1)), _N_RESAMPLES - 1


def gap_table(detector, comparisons, gaps):
    """Return the mean gap of each comparison, with its interval and p-values, a DataFrame."""
    rows = []
    for comparison, g in zip(comparisons, gaps, strict=True):
        sizes = g.n_group, g.n_reference, len(g.matched)
        p = g.p_value(detector.direction, detector.threshold)
        ends = g.interval(detector.significance)
        rows.append((str(comparison.group), comparison.versus, *sizes, g.gap, *ends, p))
    names = ["group", "reference", "n_group", "n_reference", "n_matched"]
    table = pd.DataFrame(rows, columns=[*names, "gap", "ci_low", "ci_high", "p_value"])
    two_sided = detector.direction == "both"
    n_tests = max(detector._n_contrasts(comparisons, two_sided), len(table))
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), "holm", n_tests)
    return table


def judgment(detector, table, gaps, outcome, still_open):
    """Return the `Judgment` of the mean gaps.

    Parameters
    ----------
    detector : SituationDetector
    table : DataFrame
        From `gap_table`.
    gaps : list of MeanGap
    outcome : ndarray of float
        The outcomes of the rows under audit.
    still_open : list of str
        The protected values too few of whose people are judged, with the numbers of both.
    """
    ends = np.array([g.interval(2 * detector.significance) for g in gaps]).reshape(-1, 2)
    effects = table[["group", "gap", "ci_low", "ci_high", "p_adjusted"]].copy()
    effects["low"], effects["high"] = ends.T
    relevant = detector._gap_that_matters(outcome)
    few = "too few of their people have similar people of the reference: " + ", ".join(still_open)
    names = ", ".join(dict.fromkeys(repr(g.too_fine) for g in gaps if g.too_fine))
    fine = f"too many values of {names} for people to be compared at equal ones; group the values"
    turned = [said_about(g.unlearned) for g in gaps if g.turns(detector)]
    reasons = [*turned, relevant.problem, few if still_open else "", fine if names else ""]
    reasons = [r for r in reasons if r]
    return judge_effects(effects, reasons, relevant.size, detector.significance)


def open_values(predicates, comparisons, gaps, X, excluded, share):
    """Return the protected values of which less than a share of the people are judged.

    Each is a text with the number of people judged, of those who are compared.
    """
    judged, concerned = np.zeros(len(X), bool), np.zeros(len(X), bool)
    for comparison, g in zip(comparisons, gaps, strict=True):
        concerned |= comparison.control(X)
        judged[g.matched] = True
    counts_by_group = {str(group): "none" for group, *_ in excluded}
    for predicate in predicates:
        people = predicate.mask(X) & concerned
        if people.any() and judged[people].mean() < share:
            n, n_judged = int(people.sum()), int(judged[people].sum())
            few = f"fewer than {MIN_CELL}"
            count = f"{n_judged:,}" if n_judged >= MIN_CELL else few
            counts_by_group.setdefault(
                str(predicate), f"{count} of {n:,}" if n >= MIN_CELL else few
            )
    return [f"{group} ({counts})" for group, counts in counts_by_group.items()]


def balance_table(detector, task, judged, gaps):
    """Return the standardized differences of each feature before and after matching.

    Before: the group minus its reference; after: the people judged (in a counterfactual test,
    their counterfactuals) minus the mean of their test groups, of at most 1,000 people. Bias: what
    the cells of the whole column would still add to the mean gap, with its standard error; NaN for
    counterfactuals.
    """
    parts = []
    for part, gap in zip(judged, gaps, strict=True):
        pools, X, comparison = part.pools, task.memory.X, part.comparison
        rows = canonical_order(task.X)
        rows = rows[comparison.control(task.X)[rows]]
        rows = rows[:: max(1, len(rows) // _CENTERS)]
        frames = [X.iloc[pools.control], X.iloc[pools.test], part.counterparts.iloc[rows]]
        frames = [features_of(frame, pools.columns) for frame in frames]
        numbers = as_numbers(pd.concat(frames))
        ends = np.cumsum([len(frame) for frame in frames])[:2]
        group, test, centers = np.split(numbers.to_numpy(), ends)
        spread = np.sqrt((group.var(axis=0) + test.var(axis=0)) / 2)
        spread[spread == 0] = np.nan
        after = pools.apart(frames[2], centers, test, detector._ks[0]) / spread
        before = (group.mean(axis=0) - test.mean(axis=0)) / spread
        names = {"group": str(comparison.group), "reference": comparison.versus}
        before, after = (np.round(x, 12) for x in (before, after))  # whatever the order of rows
        columns = {"feature": list(numbers.columns), "before": before, "after": after}
        sources = [column_of(label, frames[0]) for label in numbers.columns]
        columns["bias"] = np.array([gap.bias.get(c, np.nan) for c in sources]).round(12)
        columns["bias_error"] = np.array([gap.bias_error.get(c, np.nan) for c in sources]).round(12)
        parts.append(pd.DataFrame(names | columns))
    return pd.concat(parts, ignore_index=True)


def balance_notes(table, gaps):
    """Return notes on features that still differ, or add to the gaps, after matching."""
    notes = [said_about(g.unlearned) for g in gaps if g.unlearned]
    names = list(dict.fromkeys(repr(str(c)) for g in gaps for c in g.one_sided))
    if names:
        notes.append(
            f"Most values of {', '.join(names)} occur in one of the groups compared only: nobody "
            "of the other group is equal, and people with near values are compared."
        )
    return notes + _differing(table)


def _differing(table):
    """Return a note on the features that differ after matching, a list of str."""
    worst = table.loc[table["after"].abs() > SMALL].copy()
    if not len(worst):
        return []
    worst = worst.assign(size=worst["after"].abs()).sort_values("size", ascending=False)
    features = "; ".join(
        f"{row.feature} ({row.group}: {row.after:+.2f})" for row in worst[:3].itertuples()
    )
    degree = "much" if worst["size"].iloc[0] > LARGE else "somewhat"
    return [
        f"People and their test groups still differ {degree} in {features}, in standard deviations "
        "(see the table of balance): part of the differences in decisions may be due to it."
    ]
