"""Rates of each group, from the same table of counts as the measures."""

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._stats._rates import N_CELLS, RATES, WITHOUT_LABELS, hits_and_trials
from skdisc._utils._types import ArrayLike, FrameLike, Labels
from skdisc.measures._formula._decisions import group_decisions
from skdisc.measures._formula._design import PairDesign
from skdisc.measures._formula._evaluation import objects
from skdisc.measures._formula._pairs import CountPair
from skdisc.measures._formula._settings import check_settings


def group_rates(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    protected: ArrayLike | FrameLike,
    intersections: int = 1,
    missing: str = "category",
    sample_weight: ArrayLike | None = None,
    weights: str = "probability",
    groups: ArrayLike | None = None,
    pos_label: Labels = "auto",
    significance: float = 0.05,
) -> pd.DataFrame:
    """Rates of each group: selection rate, true and false positive rates, precision, ...

    Parameters
    ----------
    y_true : array-like of shape (n,), labels, or None, which leaves only the selection rate
    y_pred : array-like of shape (n,), decisions
    protected, intersections, missing, sample_weight, weights, groups, pos_label :
        As in every measure.
    significance : float, default=0.05

    Returns
    -------
    table : DataFrame
        One row per group and rate: attribute, group, rate, n (rows or weight in the denominator),
        estimate, ci_low, ci_high (Wilson). NaN if n is 0.

    Raises
    ------
    ValueError
        If an argument is invalid or has missing values, if there are no rows, or if decisions or
        labels are numbers.

    Examples
    --------
    >>> y, sex = [1, 1, 1, 0, 1, 0, 0], ["m", "m", "m", "m", "f", "f", "f"]
    >>> group_rates(None, y, protected=sex)[["group", "n", "estimate"]].round(2).values.tolist()
    [['f', 3.0, 0.33], ['m', 4.0, 0.75]]
    """
    check_settings(
        "group_rates",
        significance=significance,
        intersections=intersections,
        missing=missing,
        weights=weights,
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
    if rows.is_numeric:
        raise ValueError(
            "group_rates counts decisions, got numbers. Compare them with a threshold first."
        )
    names = list(WITHOUT_LABELS if y_true is None else RATES)
    cells = rows.counts[0].swapaxes(1, 2).reshape(-1, N_CELLS)  # 2 * label + decision
    counts = np.concatenate([members @ cells for *_, members in rows.groupings])
    x, n = np.stack([hits_and_trials(counts, name) for name in names], axis=-1).reshape(2, -1)
    rate = np.divide(x, n, out=np.full(len(n), np.nan), where=n > 0)
    size = _effective_sizes(rows, names) if rows.has_design else n
    low, high = _stats.wilson(rate * size, size, significance)
    attribute_groups = [(name, label) for name, labels, _ in rows.groupings for label in labels]
    data = {
        "attribute": [a for a, _ in attribute_groups for _ in names],
        "group": pd.Series(objects(g for _, g in attribute_groups for _ in names), dtype=object),
        "rate": names * len(attribute_groups),
        "n": n,
        "estimate": rate,
        "ci_low": low,
        "ci_high": high,
    }
    return pd.DataFrame(data)


def _effective_sizes(rows, names):
    """Return the effective number of rows behind each rate, by group and then by rate."""
    members = np.concatenate([members for *_, members in rows.groupings])
    design = PairDesign(rows, members, np.zeros_like(members))
    sizes = [CountPair(*[rows.counts] * 2, design=design).sizes(name)[0] for name in names]
    return np.stack(sizes, axis=-1).ravel()
