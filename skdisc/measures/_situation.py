"""Situation measures: decisions about a row compared with those about similar rows."""

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._neighbors._neighbor_shares import NeighborShares
from skdisc._utils._inputs import check_choice, check_order
from skdisc._utils._sample_weight import check_weights
from skdisc._utils._types import ArrayLike, FrameLike, Labels
from skdisc.measures._conditional import take
from skdisc.measures._formula._contrast import Contrast
from skdisc.measures._formula._decisions import check_rows, protected_columns
from skdisc.measures._formula._decorator import measure
from skdisc.measures._formula._settings import check_settings
from skdisc.measures._formula._target import check_target


@measure(by_rows=True)
def situation_testing(pair, *, X, n_neighbors=15, threshold=0.1, direction="lower"):
    r"""Share of the group whose neighbors in the reference have better decisions than those in it.

    .. math:: \frac1{n_1} \#\{u \in s_1 : \bar y_0(u) - \bar y_1(u) > t\}

    with the mean decisions of the k nearest rows of the reference and of the group, without u.

    Other Parameters
    ----------------
    X : DataFrame or array-like of shape (n, n_columns), without the protected column
    n_neighbors : int, default=15
    threshold : float, default=0.1; t, a difference of shares or of numbers
    direction : {"lower", "higher", "both"}, default="lower"; whose neighbors in the group have
        worse decisions, better ones, or both, as in `SituationTesting`

    Notes
    -----
    Above 0 the protected group is worse off, in some of its rows compared with similar ones. The
    share is also above 0 for random decisions: compare it with the measure of the other group, or
    use permutations. The survey calls s_0 protected, here it is s_1. Manhattan distance, numbers
    over their range, categories 0 or 1; rows tied for the last places share them. Wilson's
    interval, which treats rows as independent.

    References
    ----------
    Luong, Ruggieri and Turini (2011), :doi:`10.1145/2020408.2020488`.

    Examples
    --------
    At x = 0 men are favored and women are not; at x = 9 all are.

    >>> y, sex = [1, 1, 0, 0, 1, 1, 1, 1], ["m", "m", "f", "f"] * 2
    >>> x = [[0], [0], [0], [0], [9], [9], [9], [9]]
    >>> situation_testing(None, y, protected=sex, reference="m", X=x, n_neighbors=1)
    0.5
    """
    check_choice("direction", direction, ("lower", "higher", "both"))
    (y1, _, w1, _, positions1), (y0, _, w0, _, positions0) = pair.one, pair.zero
    space = MixedSpace(take(X, np.concatenate([positions1, positions0])))
    one, zero = space.encode(take(X, positions1)), space.encode(take(X, positions0))
    if min(len(one) - 1, len(zero)) < n_neighbors:
        no_interval = (np.nan, np.nan)
        return Contrast(np.nan, lambda significance: no_interval)
    group_mean = _mean_of_neighbors(one, y1, w1, one, n_neighbors, np.arange(len(one)))
    reference_mean = _mean_of_neighbors(zero, y0, w0, one, n_neighbors, None)
    gap = {
        "lower": reference_mean - group_mean,
        "higher": group_mean - reference_mean,
        "both": np.abs(reference_mean - group_mean),
    }[direction]
    is_worse_off = (gap > threshold + 1e-9) * 1.0  # as in the detector: not the threshold itself
    hits, n = (is_worse_off * w1).sum(), w1.sum()
    return Contrast(hits / n, lambda significance: _stats.wilson(hits, n, significance))


situation_testing_report = situation_testing.report


def _mean_of_neighbors(pool, y, weight, points, k, own_places):
    """Return the mean decision of the k nearest rows of a pool, per point."""
    if np.any(weight != 1):
        raise ValueError("situation_testing does not support sample_weight; repeat the rows")
    index, share = NeighborShares(pool).query(points, k, row_of_point=own_places)
    return (y[index] * share).sum(axis=1) / k


def consistency(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    X: FrameLike,
    n_neighbors: int = 5,
    convention: str = "pairs",
    sample_weight: ArrayLike | None = None,
    pos_label: Labels | None = "auto",
) -> float:
    r"""One minus the difference of decisions between rows and their nearest neighbors.

    .. math::

        1 - \frac1{n k} \sum_i \sum_{j \in N(i)} |y_i - y_j| \quad\text{("pairs")},\qquad
        1 - \frac1n \sum_i |y_i - \bar y_{N(i)}| \quad\text{("mean")}

    Parameters
    ----------
    y_true : None or array-like of shape (n,), not used
    y_pred : array-like of shape (n,), the decisions
    X : DataFrame or array-like of shape (n, n_columns); the columns that define similar rows
    n_neighbors : int, default=5
    convention : {"pairs", "mean"}, default="pairs"; that of the survey, or of Zemel et al.; equal
        only for binary decisions
    sample_weight : array-like of shape (n,), default=None; weights of rows, not of their neighbors
    pos_label : label or set of labels, "auto", "high", "low" or None, default="auto"
        The favorable decision, as in every measure; None: decisions are numbers.

    Returns
    -------
    value : float, 1 if similar rows have equal decisions

    Raises
    ------
    ValueError
        If `convention` is unknown, an argument is invalid or has missing values, or there are fewer
        than `n_neighbors` other rows.

    Notes
    -----
    Below 1 similar rows have different decisions. The measure does not use the protected column,
    and does not say which group is worse off. A row is not its own neighbor; rows tied for the last
    places share them.

    References
    ----------
    Zemel et al. (2013), https://proceedings.mlr.press/v28/zemel13.html.

    Examples
    --------
    Only the pair at 0 has different decisions: 1 - 2/4.

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
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    X: FrameLike,
    n_neighbors: int = 5,
    convention: str = "pairs",
    protected: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Labels | None = "auto",
) -> pd.DataFrame:
    """Consistency of all rows and, if `protected` is given, of the rows of each group.

    Parameters
    ----------
    y_true, y_pred, X, n_neighbors, convention, sample_weight, pos_label : as in `consistency`
    protected : array-like of shape (n,), default=None

    Returns
    -------
    table : DataFrame
        Columns group ("everyone" for all rows), n, estimate; neighbors may be of any group.

    Raises
    ------
    ValueError
        As in `consistency`.

    See Also
    --------
    consistency : The measure as one number.
    """
    check_settings("consistency", n_neighbors=n_neighbors)
    if np.shape(X)[:1] == (0,):
        raise ValueError("X has no rows, so that there is nobody to compare.")
    check_choice("convention", convention, ("pairs", "mean"))
    y = check_target(y_pred, pos_label, "y_pred").astype(float)
    check_rows(y_pred, X=X, protected=protected)
    check_order(y_pred=y_pred, sample_weight=sample_weight)
    weight = np.ones(len(y)) if sample_weight is None else check_weights(sample_weight, len(y))
    points = MixedSpace(X).encode(X)
    index, share = NeighborShares(points).query(points, n_neighbors, row_of_point=np.arange(len(y)))
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
