"""Whether probabilities of membership are right, where some groups are known."""

from collections.abc import Hashable, Mapping

import numpy as np
import pandas as pd
from scipy import stats

from skdisc._stats import adjust
from skdisc._utils._types import ArrayLike
from skdisc._utils._validation import plain

_LEAST = 10.0  # expected variance of a number of members, for a normal law of it
_MOST_BINS = 5


def calibration_table(
    probabilities: Mapping[Hashable, np.ndarray],
    member: Mapping[Hashable, np.ndarray],
    correction: str,
    significance: float,
) -> pd.DataFrame:
    """Return a row per column of probabilities: what it expects of some people, and what is.

    `probabilities`: probabilities of the people whose group is known; NaN is left out. `member`:
    who of them belongs to the group. `correction`: correction over the columns. `significance`:
    level of the intervals.
    """
    rows = []
    for column, q in probabilities.items():
        has = ~np.isnan(q)
        rows.append({"column": column} | _compared(q[has], member[column][has], significance))
    table = pd.DataFrame(rows)
    return table.assign(p_adjusted=adjust(table["p_value"].to_numpy(dtype=float), correction))


def _compared(q, member, significance):
    """Return the numbers of one column."""
    expected, observed = (float(x.mean()) if len(q) else np.nan for x in (q, member))
    off = member - q
    variance = max(float(np.var(off)), float(np.mean(q * (1 - q)))) if len(q) else np.nan
    half = stats.norm.isf(significance / 2) * np.sqrt(variance / max(len(q), 1))
    p_value, n_bins = _test(q, off)
    gap = observed - expected
    return {
        "n": len(q),
        "expected": expected,
        "observed": observed,
        "difference": gap,
        "ci_low": gap - half,
        "ci_high": gap + half,
        "n_bins": n_bins,
        "p_value": p_value,
    }


def _test(q, off):
    """Return the p-value of the hypothesis that all probabilities are right, and how many bins.

    In each bin of probabilities the number of members has the mean sum q and the variance
    sum q (1 - q). A sum of squares of what remains has a chi-squared law.
    """
    if (np.abs(off) == 1).any():  # a certainty is wrong
        return 0.0, 0
    level, level_index = np.unique(q, return_inverse=True)
    room = np.bincount(level_index, q * (1 - q), len(level))
    total = room.sum()
    if total < _LEAST:
        return np.nan, 0
    least, number, bin_variance = max(_LEAST, (1 - 1e-9) * total / _MOST_BINS), [], 0.0
    bin_of = 0
    for level_variance in room:
        number.append(bin_of)
        bin_variance += level_variance
        if bin_variance >= least:
            bin_of, bin_variance = bin_of + 1, 0.0
    bins = np.minimum(number, max(bin_of - 1, 0))  # what is left over joins the last
    off_sum, variance = (
        np.bincount(bins, x) for x in (np.bincount(level_index, off, len(level)), room)
    )
    statistic = float((off_sum**2 / variance).sum())
    return float(stats.chi2.sf(statistic, len(variance))), len(variance)


def known_members(
    group: ArrayLike, columns: list[Hashable], groups: Mapping[Hashable, Hashable] | None, n: int
) -> tuple[np.ndarray, dict[Hashable, np.ndarray]]:
    """Return whose group is known, and who belongs to the group of each column.

    `group`: groups, missing where not known. `columns`: columns of probabilities. `groups`: None:
    column "p_black" is about "black". `n`: number of people. Raises ValueError if lengths differ,
    no group is known, or a column is about none of the known groups.
    """
    group = pd.Series(group).reset_index(drop=True)
    if len(group) != n:
        raise ValueError(f"known has {len(group)} values, but X has {n} rows. Pass one for each.")
    is_known = group.notna().to_numpy()
    values = [plain(v) for v in group[is_known].unique()]
    if not values:
        raise ValueError("known has missing values only: nobody's group is known.")
    named = {c: str(c).removeprefix("p_") for c in columns} if groups is None else groups
    member = {}
    for column in columns:
        if column not in named or (named[column] not in values and groups is None):
            raise ValueError(
                f"Column {column!r} is about none of the groups in known, {values!r}. Pass "
                f"groups={{{column!r}: ...}}, the group that each column is about."
            )
        member[column] = (group == named[column]).fillna(False).to_numpy(dtype=bool)
    return is_known, member
