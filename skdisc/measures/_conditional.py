"""Conditional measures: the difference between groups within strata that may explain it."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import special
from sklearn.base import clone

from skdisc._stats._means import Welch
from skdisc._utils._sample_weight import fit_weighted, positions, takes_weights
from skdisc._utils._types import ArrayLike, FrameLike
from skdisc.measures._formula import _contrast
from skdisc.measures._formula._contrast import CMH, Contrast
from skdisc.measures._formula._decorator import measure
from skdisc.measures._formula._pairs import ValuePair
from skdisc.measures._formula._strata import propensity_strata, strata_codes


@measure()
def unexplained_difference(pair, *, explanatory):
    r"""The part of the mean difference that explanatory columns do not explain.

    .. math::

        d_u = \tfrac12 \sum_z [p(z|s_0) + p(z|s_1)] \, [p(+|s_0, z) - p(+|s_1, z)] = d - d_e

    with the explained part :math:`d_e = \sum_z \tfrac12 [p(+|s_0,z) + p(+|s_1,z)] [p(z|s_0) -
    p(z|s_1)]` (Kitagawa's identity, if each stratum holds both groups).

    Other Parameters
    ----------------
    explanatory : DataFrame or array-like of shape (n,) or (n, n_columns); columns whose distinct
        rows are the strata, or the output of `cluster_strata` or `propensity_strata`

    Notes
    -----
    Above 0 the protected group is worse off within strata. Strata with a single group have no
    difference: they are left out, and the report gives their share. Stratified Newcombe interval
    (Yan and Su 2010) and Cochran-Mantel-Haenszel test; for numbers, the errors of Welch's test
    and Hall's correction for skewness.

    References
    ----------
    Kamiran, Zliobaite and Calders (2013), :doi:`10.1007/s10115-012-0584-8`; Yan and Su (2010),
    :doi:`10.1198/sbr.2009.0049`.

    Examples
    --------
    Stratum 7: 1 - 0, stratum 8: 1 - 1; each holds half of both groups.

    >>> unexplained_difference(
    ...     None, [1, 0, 1, 1], protected=[0, 1, 0, 1], reference=0, explanatory=[7, 7, 8, 8]
    ... )
    0.5
    """
    return _unexplained(pair, pair.is_numeric)


unexplained_difference_report = unexplained_difference.report


def _unexplained(pair, is_numeric):
    """Return the unexplained difference of a pair with strata."""
    rates = pair.strata  # shapes (n_strata, n_comparisons)
    used = (rates.n1 > 0) & (rates.n0 > 0)
    n1, n0 = (np.where(used, n, 0) for n in (rates.n1, rates.n0))
    share = (n1 / n1.sum(-2, keepdims=True) + n0 / n0.sum(-2, keepdims=True)) / 2
    value = np.where(used, share * (rates.reference - rates.protected), 0).sum(-2)
    value = np.where(used.any(axis=-2), value, np.nan)

    def interval(significance):
        if is_numeric:
            return _of_strata(pair, used, share, value).interval(significance)
        return _contrast.stratified_newcombe(rates, np.where(used, share, 0), value, significance)

    def p_value():
        if not is_numeric:
            return _contrast.normal_p(_contrast.mantel_haenszel(rates), CMH)()
        return _of_strata(pair, used, share, value).p_value(), "stratified z-test"

    return Contrast(value, interval, p_value, _left_out(rates, used))


def _of_strata(pair, used, share, value):
    """Return the `Welch` comparison of means, reference minus group, averaged over strata."""
    (e1, k1), (e0, k0) = pair.strata_moments

    def over_strata(values):
        return np.where(used, values, 0).sum(-2)

    with np.errstate(divide="ignore", invalid="ignore"):
        # Strata are independent: variances add up with squared shares, third cumulants with cubes.
        error = np.sqrt(over_strata(share**2 * (e1 + e0)))
        skewness = over_strata(share**3 * (k0 - k1)) / error**3
        most = over_strata(share**3 * (np.abs(k0) + np.abs(k1))) / error**3
    constant = error == 0
    skewness, most = (np.where(constant, 0.0, part) for part in (skewness, most))
    return Welch.bounded(value, error, np.full(np.shape(value), np.inf), skewness, most)


def _left_out(rates, used):
    """Return a note on the share of rows in strata with a single group, per comparison."""
    n = rates.n1 + rates.n0
    share = np.where(used, 0, n).sum(-2) / n.sum(-2)
    if share.ndim > 1:  # replicates of a bootstrap
        return None
    text = [f"left out: strata with a single group, {s:.1%} of rows" if s else "" for s in share]
    return np.array(text, dtype=object)


@measure(by_rows=True)
def propensity_stratified_difference(pair, *, X, n_strata=5, estimator=None):
    r"""Mean difference among rows with a similar probability of belonging to the protected group.

    .. math:: d_u \quad\text{within quantiles of}\quad \hat P(s_1 | x)

    A classifier estimates the probability from X, rows are split at its quantiles, and differences
    within strata are averaged as in `unexplained_difference`.

    Other Parameters
    ----------------
    X : DataFrame or array-like of shape (n, n_columns), without the protected column
    n_strata : int, default=5
    estimator : classifier with predict_proba, default=None; None: logistic regression

    Notes
    -----
    Above 0 the protected group is worse off within strata. The strata are learned for each
    comparison of a group with its reference; the interval treats them as fixed.

    References
    ----------
    Calders et al. (2013), :doi:`10.1109/ICDM.2013.114`; Rosenbaum and Rubin (1983),
    :doi:`10.1093/biomet/70.1.41`.

    Examples
    --------
    x is independent of the group: strata {1, 1} and {2, 2} with 1 - 0 and 1 - 1.

    >>> y, sex, x = [1, 0, 1, 1] * 5, ["m", "f", "m", "f"] * 5, [[1], [1], [2], [2]] * 5
    >>> propensity_stratified_difference(None, y, protected=sex, reference="m", X=x, n_strata=2)
    0.5
    """
    positions = np.concatenate([pair.one[4], pair.zero[4]])
    s = np.repeat([1, 0], [len(pair.one[4]), len(pair.zero[4])])
    strata = propensity_strata(take(X, positions), s, n_strata, estimator=estimator)
    k = len(pair.one[4])
    one, zero = ((*p[:3], z, p[4]) for p, z in ((pair.one, strata[:k]), (pair.zero, strata[k:])))
    stratified = ValuePair(one, zero, n_strata=int(strata.max()) + 1)
    values = np.unique(np.concatenate([pair.one[0], pair.zero[0]]))
    return _unexplained(stratified, is_numeric=not set(values) <= {0.0, 1.0})


propensity_stratified_difference_report = propensity_stratified_difference.report


def take(X, rows):
    """Return some rows of a frame or array, in order."""
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]


@measure()
def conditional_impact_ratio(pair, *, explanatory):
    r"""Impact ratio within strata: the Mantel-Haenszel risk ratio.

    .. math:: \frac{\sum_z x_{1z} n_{0z} / n_z}{\sum_z x_{0z} n_{1z} / n_z}

    Other Parameters
    ----------------
    explanatory : DataFrame or array-like of shape (n,) or (n, n_columns); columns whose distinct
        rows are the strata, or the output of `cluster_strata` or `propensity_strata`

    Notes
    -----
    Below 1 the protected group is worse off within strata. Strata with a single group contribute
    nothing; the report gives their share. Interval of Greenland and Robins, on the logarithm.

    References
    ----------
    Greenland and Robins (1985), :doi:`10.2307/2530643`.

    Examples
    --------
    Two strata of 2 men and 2 women: (1 · 2/4 + 1 · 2/4) / (2 · 2/4 + 1 · 2/4).

    >>> y, sex, z = [1, 1, 1, 0, 1, 0, 1, 0], ["m", "m", "f", "f"] * 2, [7] * 4 + [8] * 4
    >>> round(conditional_impact_ratio(None, y, protected=sex, reference="m", explanatory=z), 4)
    0.6667
    """
    r = pair.strata
    n, used = r.n1 + r.n0, (r.n1 > 0) & (r.n0 > 0)
    top = np.where(used, r.x1 * r.n0 / n, 0).sum(-2)
    bottom = np.where(used, r.x0 * r.n1 / n, 0).sum(-2)
    value = top / bottom

    def interval(significance):
        e, m = r.effective, r.effective.n1 + r.effective.n0
        terms = (e.n1 * e.n0 * (e.x1 + e.x0) - e.x1 * e.x0 * m) / m**2
        parts = (np.where(used, x * n / m, 0).sum(-2) for x, n in ((e.x1, e.n0), (e.x0, e.n1)))
        error = np.sqrt(np.where(used, terms, 0).sum(-2) / np.prod(list(parts), axis=0))
        half = -special.ndtri(significance / 2) * error
        return value * np.exp(-half), value * np.exp(half)

    test = _contrast.normal_p(_contrast.mantel_haenszel(r), CMH)
    return Contrast(value, interval, test, _left_out(r, used))


conditional_impact_ratio_report = conditional_impact_ratio.report


@measure(by_rows=True)
def belift(pair, *, explanatory, redlining=None, estimator=None):
    r"""Share of favorable decisions in the group, given columns, over the overall share.

    .. math:: \sum_z p(z) \frac{p(+|s_1, z)}{p(+)} \quad\text{or}\quad
              \frac{1}{n_1} \sum_{i \in s_1} \frac{p(+|s_1, x^r_i, x^a_i)}{p(+|x^a_i)}

    Other Parameters
    ----------------
    explanatory : DataFrame or array-like of shape (n,) or (n, n_columns); z, or x^a if `redlining`
        is given
    redlining : DataFrame or array-like of shape (n,) or (n, n_columns), default=None; x^r, proxies
        of the protected column
    estimator : classifier with predict_proba, default=None; estimates p(+|.); None: shares within
        strata

    Notes
    -----
    Below 1 the protected group is worse off. The first form, for `redlining=None`, is the survey's
    approximation, averaged over the strata with rows of the group. Columns that are associated with
    the protected one do not count as explanations. The survey's X = X^r ∪ X^r should be X^r ∪ X^a.
    With an estimator there is no interval.

    References
    ----------
    Mancuhan and Clifton (2014), :doi:`10.1007/s10506-014-9156-4`.

    Examples
    --------
    p(+) = ¾; the group has 0 in stratum 7 and 1 in stratum 8: ½ (0 + 1) / ¾.

    >>> y, s, z = [1, 0, 1, 1], [0, 1, 0, 1], [7, 7, 8, 8]
    >>> round(belift(None, y, protected=s, reference=0, explanatory=z), 4)
    0.6667
    """
    (y, _, weight, z, positions), is_one = _both_sides(pair)
    k = len(pair.one[0])
    if redlining is None:
        size = np.bincount(z, weight)
        n1 = np.bincount(z[:k], weight[:k], len(size))
        x1 = np.bincount(z[:k], (y * weight)[:k], len(size))
        used = n1 > 0
        rate = np.average(x1[used] / n1[used], weights=size[used])
        return Contrast(rate / np.average(y, weights=weight))
    if estimator is not None:
        wide = pd.concat([_frame(redlining, "r"), _frame(explanatory, "a")], axis=1).iloc[positions]
        group_rates = _chance(estimator, wide.assign(s=is_one * 1.0), y, weight)[:k]
        overall_rates = _chance(estimator, wide.filter(regex="^a"), y, weight)[:k]
        no_interval = (np.nan, np.nan)
        ratio = np.average(group_rates / overall_rates, weights=weight[:k])
        return Contrast(ratio, lambda significance: no_interval)
    cells = strata_codes(np.column_stack([z, strata_codes(redlining)[positions]]))
    group_rates = _shares(cells[:k], y[:k], weight[:k])
    return Contrast(np.average(group_rates / _shares(z, y, weight)[:k], weights=weight[:k]))


belift_report = belift.report


def belift_strata(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    protected: ArrayLike | FrameLike,
    explanatory: ArrayLike | FrameLike,
    **settings: Any,
) -> pd.DataFrame:
    r"""Belift ratio of each stratum, as the survey states it.

    .. math:: p(+|s_1, z_i) / p(+)

    Parameters
    ----------
    y_true : None or array-like of shape (n,), not used
    y_pred : array-like of shape (n,), the decisions
    protected : array-like of shape (n,) or (n, n_columns)
    explanatory : DataFrame or array-like of shape (n,) or (n, n_columns); columns whose distinct
        rows are the strata
    **settings
        `reference`, `missing`, `pos_label`, `sample_weight` and the like, as in `belift`.

    Returns
    -------
    table : DataFrame
        One row per group and stratum with members of the group: attribute, group, reference,
        stratum (the values of `explanatory`), n (weight of the group in the stratum), share
        :math:`p(z_i)`, rate :math:`p(+|s_1, z_i)` and estimate. Shares and the overall rate are
        those of the group and its reference together. `belift` is the mean of the estimates,
        weighted by share.

    Raises
    ------
    ValueError
        As in `belift`.

    References
    ----------
    Zliobaite (2017), :doi:`10.1007/s10618-017-0506-1`, section 3.3.3.

    Examples
    --------
    >>> y, s, z = [1, 0, 1, 1], [0, 1, 0, 1], [7, 7, 8, 8]
    >>> table = belift_strata(None, y, protected=s, reference=0, explanatory=z)
    >>> table[["stratum", "rate", "estimate"]].round(4).values.tolist()
    [[7.0, 0.0, 0.0], [8.0, 1.0, 1.3333]]
    """
    plan = belift.plan
    settings = {"protected": protected, "explanatory": explanatory, **settings}
    evaluation = plan.evaluate(plan.settings(y_true, y_pred, **settings))
    columns, rows = pd.DataFrame(explanatory).reset_index(drop=True), []
    for comparison, pair in evaluation.pairs():
        (y, _, weight, z, positions), is_one = _both_sides(pair)
        overall = np.average(y, weights=weight)
        codes, first = np.unique(z, return_index=True)
        for code, position in zip(codes, first, strict=True):
            is_member = is_one & (z == code)
            if not is_member.any():
                continue
            values = tuple(columns.iloc[positions[position]])
            rate = np.average(y[is_member], weights=weight[is_member])
            rows.append(
                {
                    "attribute": comparison.attribute,
                    "group": comparison.group,
                    "reference": comparison.reference,
                    "stratum": values[0] if len(values) == 1 else values,
                    "n": weight[is_member].sum(),
                    "share": weight[z == code].sum() / weight.sum(),
                    "rate": rate,
                    "estimate": rate / overall if overall else np.nan,
                }
            )
    names = ("attribute", "group", "reference", "stratum", "n", "share", "rate", "estimate")
    return pd.DataFrame(rows, columns=list(names))


def _shares(code, y, weight):
    """Return the share of favorable decisions in the stratum of each row."""
    return (np.bincount(code, y * weight) / np.bincount(code, weight))[code]


def _both_sides(pair):
    """Return the columns of the rows of both sides together, and which rows are of the first."""
    columns = zip(pair.one, pair.other, strict=True)
    joined = [None if a is None else np.concatenate([a, b]) for a, b in columns]
    return joined, np.repeat([True, False], [len(pair.one[0]), len(pair.other[0])])


def _frame(columns, prefix):
    """Return columns as a frame with numbered names."""
    frame = pd.DataFrame(columns).reset_index(drop=True)
    return frame.set_axis([f"{prefix}{j}" for j in range(frame.shape[1])], axis=1)


def _chance(estimator, X, y, weight):
    """Return the probability of a favorable decision that a classifier predicts."""
    model = clone(estimator)
    if not np.any(weight % 1):
        rows = positions(weight.astype(np.int64))
        model.fit(X.iloc[rows], y[rows])
    elif takes_weights(model):
        fit_weighted(model, X, y, weight)
    else:
        raise ValueError(
            f"estimator={type(model).__name__} takes no sample_weight in fit. Use a classifier "
            'that does, or whole weights with weights="frequency", which repeat rows.'
        )
    return model.predict_proba(X)[:, -1]
