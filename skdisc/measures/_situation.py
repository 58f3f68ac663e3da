"""Situation measures: who is decided unlike people alike, and how many they are."""

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._neighbors._neighbor_shares import NeighborShares
from skdisc._utils._sample_weight import check_weights
from skdisc.measures._conditional import take
from skdisc.measures._formula._contrast import Contrast
from skdisc.measures._formula._decisions import check_target, protected_columns
from skdisc.measures._formula._decorator import measure


@measure(by_rows=True)
def situation_testing(pair, *, X, n_neighbors=15, threshold=0.1):
    r"""Share of the group whose neighbours in the reference are decided better than those in it.

    .. math:: \frac1{n_1} \#\{u \in s_1 : \bar y_0(u) - \bar y_1(u) \ge t\}

    with the mean decisions of the k nearest people of the reference and of the group, u left out.

    Other Parameters
    ----------------
    X : DataFrame or array-like of shape (n, n_columns), without the protected column
    n_neighbors : int, default=15
    threshold : float, default=0.1; t, a difference of shares, or of numbers

    Notes
    -----
    Above 0 the protected group is worse off: some of it, compared with people alike. On noise the
    share is above 0 as well: compare it with the same measure of the other group, or use
    permutations. The survey calls s_0 protected here, s_1 is. Distance is Manhattan, numbers over
    their range, categories 0 or 1; ties at the k-th place share it. Wilson's interval, as if people
    were independent.

    References
    ----------
    Luong, Ruggieri and Turini (2011), :doi:`10.1145/2020408.2020488`.

    Examples
    --------
    At x = 0 men are favoured and women are not, at x = 9 all are.

    >>> y, sex = [1, 1, 0, 0, 1, 1, 1, 1], ["m", "m", "f", "f"] * 2
    >>> x = [[0], [0], [0], [0], [9], [9], [9], [9]]
    >>> situation_testing(None, y, protected=sex, reference="m", X=x, n_neighbors=1)
    0.5
    """
    (y1, _, w1, _, kept1), (y0, _, w0, _, kept0) = pair.one, pair.zero
    space = MixedSpace(take(X, np.concatenate([kept1, kept0])))
    one, zero = space.encode(take(X, kept1)), space.encode(take(X, kept0))
    if min(len(one) - 1, len(zero)) < n_neighbors:
        nothing = (np.nan, np.nan)
        return Contrast(np.nan, lambda significance: nothing)
    own = _mean_of_neighbours(one, y1, w1, one, n_neighbors, np.arange(len(one)))
    other = _mean_of_neighbours(zero, y0, w0, one, n_neighbors, None)
    found = (other - own >= threshold - 1e-12) * 1.0
    hits, n = (found * w1).sum(), w1.sum()
    return Contrast(hits / n, lambda significance: _stats.wilson(hits, n, significance))


situation_testing_report = situation_testing.report


def _mean_of_neighbours(pool, y, weight, points, k, own):
    if np.any(weight != 1):
        raise ValueError("situation_testing takes no sample_weight; repeat the rows instead")
    index, share = NeighborShares(pool).query(points, k, own=own)
    return (y[index] * share).sum(axis=1) / k


def consistency(
    y_true, y_pred, *, X, n_neighbors=5, convention="pairs", sample_weight=None, pos_label=1
):
    r"""One minus how differently people and their nearest neighbours are decided.

    .. math::

        1 - \frac1{n k} \sum_i \sum_{j \in N(i)} |y_i - y_j| \quad\text{("pairs")},\qquad
        1 - \frac1n \sum_i |y_i - \bar y_{N(i)}| \quad\text{("mean")}

    Parameters
    ----------
    y_true : None or array-like of shape (n,), not used
    y_pred : array-like of shape (n,), the decisions
    X : DataFrame or array-like of shape (n, n_columns); what makes people alike
    n_neighbors : int, default=5
    convention : {"pairs", "mean"}, default="pairs"; the survey's, or that of Zemel et al.; equal
        for two classes only
    sample_weight : array-like of shape (n,), default=None; of the people, not of their neighbours
    pos_label : label or set of labels, default=1; None: decisions are numbers

    Returns
    -------
    value : float, 1 where people alike are decided alike

    Notes
    -----
    Below 1 people alike are decided differently, whoever they are: the protected column plays no
    part. A person is no neighbour of their own; ties at the k-th place share it.

    References
    ----------
    Zemel et al. (2013), https://proceedings.mlr.press/v28/zemel13.html.

    Examples
    --------
    Only the couple at 0 is decided differently: 1 - 2/4.

    >>> consistency(None, [1, 0, 1, 1], X=[[0], [0], [9], [9]], n_neighbors=1)
    0.5
    """
    table = consistency_report(
        y_true,
        y_pred,
        X=X,
        n_neighbors=n_neighbors,
        convention=convention,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
    return float(table["estimate"].iloc[0])


def consistency_report(
    y_true,
    y_pred,
    *,
    X,
    n_neighbors=5,
    convention="pairs",
    protected=None,
    sample_weight=None,
    pos_label=1,
):
    """Consistency of everyone and, where `protected` is given, of the people of each group.

    Parameters
    ----------
    y_true, y_pred, X, n_neighbors, convention, sample_weight, pos_label : as in `consistency`
    protected : array-like of shape (n,), default=None

    Returns
    -------
    table : DataFrame
        Columns group, n, estimate; neighbours may be of any group.

    See Also
    --------
    consistency : The measure, as one number.
    """
    if convention not in ("pairs", "mean"):
        raise ValueError(f'convention must be "pairs" or "mean", got {convention!r}')
    y = check_target(y_pred, pos_label, "y_pred").astype(float)
    weight = np.ones(len(y)) if sample_weight is None else check_weights(sample_weight, len(y))
    points = MixedSpace(X).encode(X)
    index, share = NeighborShares(points).query(points, n_neighbors, own=np.arange(len(y)))
    if convention == "pairs":
        gap = (np.abs(y[:, None] - y[index]) * share).sum(axis=1) / n_neighbors
    else:
        gap = np.abs(y - (y[index] * share).sum(axis=1) / n_neighbors)
    groups = [("everyone", np.ones(len(y), dtype=bool))]
    if protected is not None:
        values = protected_columns(protected)[0][1]
        groups += [(value, (values == value).to_numpy()) for value in pd.unique(values.dropna())]
    rows = [(g, weight[m].sum(), 1 - np.average(gap[m], weights=weight[m])) for g, m in groups]
    return pd.DataFrame(rows, columns=["group", "n", "estimate"])
