"""Tables of counterfactual fairness: group means with intervals, spread, rows with outcomes."""

import numpy as np
import pandas as pd
from scipy.special import ndtr

from skdisc import _stats
from skdisc._results._findings import feature_names
from skdisc._utils._inputs import sorted_unique
from skdisc._utils._validation import equal

FEW = 10  # protected columns with at most this many values are split into groups
_KEYS = ["world", "do", "group", "n", "mean"]
_INTERVAL = ["ci_low", "ci_high", "p_value", "p_adjusted"]
_SIZES = ["mean_abs", "max_abs", "share", "gains", "losses"]


def make_tables(comparison, groups, means):
    """Return the tables of the result, a dict of DataFrame.

    `comparison`: WorldComparison. `groups`: from `groups_of`. `means`, of shape (n_resamples,
    n_answers * n_groups): bootstrap replicates of the means of all answers and groups.
    """
    c, rows = comparison, []
    for a in c.answers:
        rows += [_effect(c, a, name, mask & a.is_changed) for name, mask in groups.items()]
    effects = pd.DataFrame(rows, columns=_KEYS + _INTERVAL + _SIZES)
    if means is not None:
        _add_intervals(effects, means, c.detector.significance)
    tables = {"effects": effects}
    results = {"outcome": c.outcome, "difference": c.factual_outcome - c.outcome}
    if len(c.detector.sources_) > 1 and c.n:
        worlds = effects.groupby(["do", "group"], sort=False)["mean"]
        spread = worlds.agg(lowest="min", highest="max").reset_index()
        tables["spread"] = spread.assign(spread=spread["highest"] - spread["lowest"])
        results |= _spread_of_people(c)
    tables["factual"] = _in_given_order(c, c.X, {"outcome": c.factual_outcome})
    tables["counterfactual"] = _in_given_order(c, c.rows, results)
    return tables


def groups_of(c):
    """Return the groups whose means are reported, a dict of name to bool mask."""
    groups, value_by_column = {"everyone": np.ones(c.n, dtype=bool)}, c.detector.group or {}
    named = []
    for name, value in value_by_column.items():
        values_present = sorted_unique(c.task.X[name].dropna()) if name in c.X.columns else []
        if value not in values_present:
            raise ValueError(
                f"group names {name!r} = {value!r}, but X has no such column, or no row with that "
                f"value. Columns: {list(c.X.columns)!r}."
            )
        named.append(
            (f"{name} = {values_present[values_present.index(value)]!r}", equal(c.X[name], value))
        )
    if named:
        texts, masks = zip(*named, strict=True)
        groups[" and ".join(texts)] = np.all(masks, axis=0)
    for name in c.detector.protected_:
        values = sorted_unique(c.X[name].dropna())
        for value in values if len(values) <= FEW else []:
            groups.setdefault(f"{name} = {value!r}", equal(c.X[name], value))
        if c.X[name].isna().any():
            groups[f"{name} missing"] = c.X[name].isna().to_numpy()
    return groups


def _effect(c, answer, name, mask):
    """Return the row of one group, the people in `mask` whose row the intervention changes."""
    gap, limit = (c.factual_outcome - answer.outcome)[mask], c.detector.min_gap
    values = (np.nan,) * 4
    if len(gap):
        size = np.abs(gap)
        values = gap.mean(), size.mean(), size.max(), np.mean(size > limit)
    mean, *sizes = map(float, values)
    flips = int(np.sum(gap < -limit)), int(np.sum(gap > limit))
    key = dict(zip(_KEYS, (answer.world, answer.do, name, len(gap), mean), strict=True))
    return key | dict.fromkeys(_INTERVAL, np.nan) | dict(zip(_SIZES, (*sizes, *flips), strict=True))


def _spread_of_people(c):
    """Return, for each person, the range of outcomes over worlds, and the share with a case.

    A person is looked at under one intervention, ``c.chosen``, the same in all worlds.

    Returns a dict of ndarray of float: ``spread`` and ``share_of_worlds``.
    """
    # Answers are in the order of worlds, and within a world of interventions.
    outcomes = np.array([a.outcome for a in c.answers]).reshape(-1, len(c.interventions), c.n)
    outcomes = outcomes[:, c.chosen, np.arange(c.n)]  # shape (n_worlds, n)
    has_case = np.abs(c.factual_outcome - outcomes) > c.detector.min_gap
    return {"spread": np.ptp(outcomes, axis=0), "share_of_worlds": has_case.mean(axis=0)}


def _in_given_order(c, rows, results):
    """Return rows and results in the order of X as passed."""
    results, back = {"row": c.order, **results}, np.empty(c.n, dtype=np.intp)
    back[c.order] = np.arange(c.n)
    names = feature_names(rows.columns, results)
    columns = {new: rows[name].array.take(back) for name, new in names.items()}
    columns |= {name: values[back] for name, values in results.items()}
    return pd.DataFrame(columns, copy=False)


def _add_intervals(effects, means, significance):
    """Add bootstrap intervals and p-values of the means."""
    low, high, error = np.full((3, means.shape[1]), np.nan)
    has_samples = ~np.isnan(means).all(axis=0)
    if not has_samples.any():  # a limit ended the run before the first sample
        return
    ends = [_stats.percentiles(column, significance) for column in means[:, has_samples].T]
    mean = effects["mean"].to_numpy(float)[has_samples]
    low[has_samples], high[has_samples] = _stats.widened(*np.transpose(ends), mean)
    error[has_samples] = np.nanstd(means[:, has_samples], axis=0)
    error[~(error > 1e-12)] = np.nan
    p = 2 * ndtr(-np.abs(effects["mean"].to_numpy() / error))
    effects[_INTERVAL] = np.column_stack([low, high, p, _stats.adjust(p)])
