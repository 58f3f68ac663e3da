"""Any measure within strata, and many measures from one table of counts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._utils._types import ArrayLike, FrameLike, Labels, RandomState
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.measures._formula._decisions import as_numbers, check_rows, group_decisions
from skdisc.measures._formula._decorator import Measure
from skdisc.measures._formula._evaluation import COLUMNS, Evaluation, tidy
from skdisc.measures._formula._settings import check_settings
from skdisc.measures._formula._strata import strata_codes

_RULES = {"significance": 0.05, "n_resamples": 999, "permutations": 0}


def stratified(
    measure: Measure,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    protected: ArrayLike | FrameLike,
    strata: ArrayLike | FrameLike,
    **settings: Any,
) -> float:
    r"""Any measure within strata, averaged over them.

    .. math:: \bar m = \sum_z w_z m_z, \quad w_z = \tfrac12 [p(z|s_0) + p(z|s_1)]

    over the strata in which it is defined, of logarithms for ratios.

    Parameters
    ----------
    measure : function of `skdisc.measures` that compares a group with a reference
    y_true, y_pred, protected : as in the measure
    strata : DataFrame or array-like of shape (n,) or (n, n_columns)
        Columns whose distinct rows are the strata, or the output of `cluster_strata` or
        `propensity_strata`.
    **settings
        Other settings and options of the measure. The reference is chosen once, for all strata.

    Returns
    -------
    value : float, NaN if it is undefined in all strata

    Raises
    ------
    ValueError
        If the measure compares all groups at once, or rejects the input.

    Warns
    -----
    UndefinedMeasureWarning
        If a group has no value in any stratum.

    See Also
    --------
    stratified_report : The table of all strata.

    Examples
    --------
    Stratum 7: 1 - 0, stratum 8: 1 - 1; each holds half of both groups.

    >>> from skdisc.measures import mean_difference
    >>> s, z = [0, 1, 0, 1], [7, 7, 8, 8]
    >>> stratified(mean_difference, None, [1, 0, 1, 1], protected=s, reference=0, strata=z)
    0.5
    """
    average = settings.get("average", "max")
    whole, parts, share = _evaluate(measure, y_true, y_pred, protected, strata, settings)
    values = np.stack([p.values(p.contrasts(), average) for p in parts])
    return whole.reduce(_combine(measure.entry, values, share)[0], average)


def stratified_report(
    measure: Measure,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    protected: ArrayLike | FrameLike,
    strata: ArrayLike | FrameLike,
    **settings: Any,
) -> pd.DataFrame:
    """The values of a measure in each stratum, and their mean.

    Parameters
    ----------
    measure, y_true, y_pred, protected, strata : as in `stratified`
    **settings
        Settings and options of the measure and of its report.

    Returns
    -------
    table : DataFrame
        The report of the measure with a first column stratum: 0, 1, ... and then "all", the mean,
        whose interval combines those of the strata in quadrature. Strata in which the measure is
        undefined are listed, and left out of the mean; its `reason` gives their share.

    Raises
    ------
    ValueError
        As in `stratified`.

    See Also
    --------
    stratified : The mean as one number.
    """
    options = {"correction": "bh", "random_state": 0} | _RULES
    options = {name: settings.pop(name, default) for name, default in options.items()}
    check_settings("stratified_report", **options)
    whole, parts, share = _evaluate(measure, y_true, y_pred, protected, strata, settings)
    tables = [tidy(p.columns(**options)).assign(stratum=z) for z, p in enumerate(parts)]
    estimate, low, high = (
        np.stack([t[name].to_numpy() for t in tables]) for name in ("estimate", "ci_low", "ci_high")
    )
    value, used = _combine(measure.entry, estimate, share)
    total = tables[0].assign(stratum="all", n=whole.n, n_reference=whole.n_reference)
    total["estimate"] = value
    total["ci_low"], total["ci_high"] = _quadrature(measure.entry, value, estimate, low, high, used)
    total["p_value"], total["test"], total["excluded"] = np.nan, "", np.isnan(value)
    lost = np.where(np.isnan(estimate), share, 0).sum(axis=0)
    total["reason"] = [f"left out: undefined strata, {x:.1%} of rows" if x else "" for x in lost]
    table = pd.concat([*tables, total], ignore_index=True)
    table["p_adjusted"] = _stats.adjust(table["p_value"], options["correction"])
    return table[["stratum", *[c for c in table.columns if c != "stratum"]]]


def _evaluate(measure, y_true, y_pred, protected, strata, settings):
    """Return the evaluations of all rows and of each stratum, and the weights of the strata."""
    if not hasattr(measure, "plan"):
        raise ValueError(f"measure must be a function of skdisc.measures, got {measure!r}")
    check_rows(y_pred, strata=strata)
    settings = measure.plan.settings(y_true, y_pred, protected=protected, **settings)
    whole = measure.plan.evaluate(settings)
    if not isinstance(whole, Evaluation) or whole.omnibus:
        raise ValueError(f"stratified needs a measure that compares groups, not {measure.__name__}")
    code = strata_codes(strata)[whole.rows.positions]
    parts = [replace(whole, rows=whole.rows.at(code == z)) for z in range(code.max() + 1)]
    with np.errstate(invalid="ignore"):
        share = np.stack([p.n / whole.n + p.n_reference / whole.n_reference for p in parts]) / 2
    return whole, parts, share


def _combine(entry, values, share):
    """Return the mean over strata, and the weight of each; NaN and 0 where undefined."""
    used = np.where(np.isnan(values), 0, share)
    with np.errstate(divide="ignore", invalid="ignore"):
        used = used / used.sum(axis=0)
        scaled = np.log(values) if entry.scale == "ratio" else values
        mean = np.where(used > 0, used * scaled, 0).sum(axis=0)
        mean = np.exp(mean) if entry.scale == "ratio" else mean
    return np.where(np.isnan(values).all(axis=0), np.nan, mean), used


def _quadrature(entry, value, estimate, low, high, used):
    """Return the interval of the mean, which combines the intervals of the strata in quadrature."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if entry.scale == "ratio":
            value, estimate, low, high = (np.log(v) for v in (value, estimate, low, high))
        gaps = (np.where(used > 0, used * np.abs(estimate - end), 0) for end in (low, high))
        below, above = (np.sqrt((g**2).sum(axis=0)) for g in gaps)
        ends = value - below, value + above
        return tuple(np.exp(e) for e in ends) if entry.scale == "ratio" else ends


def disparities(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    protected: ArrayLike | FrameLike,
    measures: list[Measure] | None = None,
    reference: object = "largest",
    intersections: int = 1,
    missing: str = "category",
    min_size: float = 1,
    sample_weight: ArrayLike | None = None,
    weights: str = "probability",
    groups: ArrayLike | None = None,
    pos_label: Labels | None = "auto",
    significance: float = 0.05,
    correction: str = "bh",
    n_resamples: int = 999,
    permutations: int = 0,
    random_state: RandomState = 0,
) -> pd.DataFrame:
    """Many measures for all groups, from one table of counts.

    Parameters
    ----------
    y_true : array-like of shape (n,), labels, or None
        None leaves out the measures that need labels.
    measures : list of functions, default=None
        Absolute measures of this module; None: all that are defined for the decisions and labels.
    y_pred, protected, reference, intersections, missing, min_size :
        As in every measure.
    sample_weight, weights, groups, pos_label :
        As in every measure.
    significance, correction, n_resamples, permutations, random_state :
        As in every report. p-values are corrected over the whole table. `n_resamples=0` leaves out
        the intervals that need a bootstrap.

    Returns
    -------
    table : DataFrame
        One row per measure and comparison: measure, and the columns of a report.

    Raises
    ------
    ValueError
        If an argument is invalid or has missing values, if there are no rows, if `protected` is
        numeric, or if a measure in `measures` needs labels and y_true is None.

    Examples
    --------
    >>> y, sex = [1, 1, 1, 0, 1, 0, 0], ["m", "m", "m", "m", "f", "f", "f"]
    >>> table = disparities(None, y, protected=sex).set_index("measure")
    >>> table.loc[["mean_difference", "odds_ratio"], "estimate"].round(2).tolist()
    [0.42, 6.0]
    """
    check_settings(
        "disparities",
        significance=significance,
        correction=correction,
        n_resamples=n_resamples,
        permutations=permutations,
        random_state=random_state,
        intersections=intersections,
        missing=missing,
        weights=weights,
        min_size=min_size,
    )
    if as_numbers(protected) is not None:
        raise ValueError(
            "protected is a number with many values. Bin it first, e.g. by pandas.cut."
        )
    rows = group_decisions(
        y_true,
        y_pred,
        protected,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weights=weights,
        groups=groups,
        intersections=intersections,
        missing=missing,
    )
    options = {
        "significance": significance,
        "n_resamples": n_resamples,
        "permutations": permutations,
    }
    options["random_state"] = random_state
    table = tidy(disparity_columns(evaluations(rows, measures, reference, min_size), options))
    return table.assign(p_adjusted=_stats.adjust(table["p_value"], correction))


def evaluations(rows, measures, reference, min_size, min_cell=0):
    """Return the `Evaluation` of each measure on checked rows, a list.

    `rows`: GroupedDecisions. `min_cell`: groups of fewer people are not the best one, unless all
    are. Raises ValueError if a measure needs labels, and there are none.
    """
    without = rows if rows.true is None else replace(rows, true=None)
    if rows.true is not None and not rows.is_numeric:
        without = rows  # the same table of counts serves both
    results = []
    for measure in _chosen(measures, rows, without):
        plan = measure.plan
        options = {name: p.default for name, p in plan.options.items()}
        used = rows if measure.entry.needs_labels else without
        rule = "rest" if plan.by_group else reference
        results.append(Evaluation.of(plan, used, rule, min_size, options, min_cell))
    return results


def disparity_columns(evaluations, options):
    """Return the columns of `disparities` as a dict, without correction of the p-values.

    Parameters
    ----------
    evaluations : list of Evaluation
    options : dict of significance, n_resamples, permutations (or a dict of them by name of measure)
        and random_state
    """
    tables = []
    for evaluation in evaluations:
        name, n = evaluation.entry.name, options["permutations"]
        if isinstance(n, dict):
            n = n.get(name, 0)
        settings = {"correction": "none", "permutations": 0 if evaluation.omnibus else n}
        columns = evaluation.columns(**options | settings)
        tables.append({"measure": [name] * len(columns["n"]), **columns})
    return {c: np.concatenate([t[c] for t in tables]) for c in ["measure", *COLUMNS]}


def table_measures():
    """Return the measures that `disparities` can compute, by name: the absolute ones."""
    from skdisc import measures as module

    measures_by_name = {name: getattr(module, name, None) for name in CATALOGUE}
    return {
        name: m
        for name, m in measures_by_name.items()
        if hasattr(m, "plan") and m.entry.aspect == "absolute"
    }


def _chosen(measures, rows, without):
    """Return the measures given, or all absolute ones that are defined for the rows."""
    if measures is not None:
        lacking = [m.__name__ for m in measures if m.entry.needs_labels and rows.true is None]
        if lacking:
            raise ValueError(f"{lacking[0]} compares decisions with labels: y_true is needed")
        return measures
    return [
        m
        for m in table_measures().values()
        if (rows.true is not None or not m.entry.needs_labels)
        and m.entry.suits((rows if m.entry.needs_labels else without).is_numeric)
    ]
