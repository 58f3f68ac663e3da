"""BenchmarkResult: the cells of a benchmark, and what they say together."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from skdisc import _stats
from skdisc._utils._optional import require
from skdisc.benchmark._match import STRATA
from skdisc.benchmark._score import SCORES

_FEW = 6
_CELL = ("detector", "dataset", "repeat", "audited", "seed")
_COST = ("seconds", "seconds_to_score", "seconds_to_prepare", "n_queries")
_FIRST = ("queries_to_first", "seconds_to_first")
_COUNTS = (
    "n_claimed",
    "n_targets",
    "TSN",
    "DSN",
    "SUR",
    "DSS",
    "verdict",
    "stopped_by",
    "error",
    "settings",
)


class BenchmarkResult:
    """The outcome of `run_benchmark`.

    Parameters
    ----------
    table : DataFrame
        One row per cell and target, with the columns `COLUMNS`; a cell without target has one row.
    """

    COLUMNS = (*_CELL, *SCORES, *_COST, *_FIRST, *_COUNTS, "cell", "target", "hit", *STRATA)

    def __init__(self, table):
        order = [*_CELL[:4], "target"]
        self.table = table.sort_values(order, kind="stable", ignore_index=True)

    def __repr__(self):
        cells = self.to_frame()
        failed = int((cells["error"] != "").sum())
        return (
            f"BenchmarkResult({cells['detector'].nunique()} detectors, "
            f"{cells['dataset'].nunique()} data sets, {len(cells)} cells, {failed} failed)"
        )

    @classmethod
    def read(cls, folder):
        """Read the cells that `run_benchmark` stored in a folder.

        Raises
        ------
        ValueError
            If there are none, or cells of the same data with different settings or budgets.
        """
        require("pyarrow", extra="io", purpose="Reading cells")
        files = sorted(Path(folder).glob("*.parquet"))
        if not files:
            raise ValueError(f"There are no cells (*.parquet) in {str(folder)!r}.")
        table = pd.concat([pd.read_parquet(f) for f in files], ignore_index=True)
        times = table.groupby(list(_CELL))["cell"].nunique()
        if (times > 1).any():
            mixed = times[times > 1].index.get_level_values("detector").unique()
            raise ValueError(
                f"{str(folder)!r} holds several runs, with different settings or budgets of "
                f"{', '.join(mixed)}. Keep each run in a folder of its own."
            )
        return cls(table)

    def to_frame(self):
        """Return one row per cell: what was run, scores, costs, error ("" for none)."""
        names = [*_CELL, *SCORES, *_COST, *_FIRST, *_COUNTS]
        first = self.table.drop_duplicates(list(_CELL))
        return first[names].reset_index(drop=True)

    def targets(self):
        """Return one row per cell and planted subgroup: whether it was found, and its strata."""
        rows = self.table[self.table["target"] >= 0]
        return rows[[*_CELL, "target", "hit", *STRATA]].reset_index(drop=True)

    def to_sql(self, connection, name="benchmark", **how):
        """Write the table to a database through pandas (SQLite, or any of SQLAlchemy).

        Parameters
        ----------
        connection : as in `DataFrame.to_sql`
        name : str, default="benchmark"
        **how
            Further arguments of `DataFrame.to_sql`.
        """
        self.table.to_sql(name, connection, index=False, **how)

    def summary(self, by=("detector", "audited"), scores=("precision", "recall", "f1")):
        """Return the mean of scores over cells, with intervals.

        Parameters
        ----------
        by : sequence of str, default=("detector", "audited")
            Columns of `to_frame` that make the groups.
        scores : sequence of str, default=("precision", "recall", "f1")

        Returns
        -------
        DataFrame
            Per group: n_cells, n_failed, and for each score the mean, ``_low`` and ``_high`` (95 %
            t-interval over cells, within the limits of a share); NaN where it is defined for fewer
            than two.
        """
        cells = self.to_frame()
        rows = []
        for key, part in cells.groupby(list(by), sort=True):
            row = dict(zip(by, key, strict=True))
            row |= {"n_cells": len(part), "n_failed": int((part["error"] != "").sum())}
            for score in scores:
                mean, low, high = _interval(part[score].to_numpy(dtype=float), score)
                row |= {score: mean, f"{score}_low": low, f"{score}_high": high}
            rows.append(row)
        return pd.DataFrame(rows)

    def strata(self, name, bins=3):
        """Return the share of targets found by a property of theirs.

        Parameters
        ----------
        name : str
            Granularity, intersectionality, similarity, magnitude, n_people, imbalance, coverage,
            aleatoric or epistemic.
        bins : int, default=3
            Bins of a property with more than six values, with as many of the values in each.

        Returns
        -------
        DataFrame
            detector, audited, stratum, n, recall, ci_low, ci_high (Wilson, as if targets were
            independent).
        """
        rows = self.targets().dropna(subset=name)
        values = rows[name].astype(float).round(6)
        if values.nunique() > max(bins, _FEW):
            edges = np.quantile(values.unique(), np.linspace(0, 1, bins + 1))
            values = pd.cut(values, edges, include_lowest=True).map(_text)
        rows = rows.assign(stratum=values)
        found = rows.groupby(["detector", "audited", "stratum"], observed=True)["hit"]
        table = found.agg(["size", "sum"]).reset_index()
        low, high = _stats.wilson(table["sum"].to_numpy(), table["size"].to_numpy())
        table["recall"] = table["sum"] / table["size"]
        table = table.rename(columns={"size": "n"}).drop(columns="sum")
        return table.assign(ci_low=low, ci_high=high)

    def ranks(self, score="f1", audited=None):
        """Compare detectors by their mean ranks over data sets.

        Ranks are taken within each drawing (a cell without score ranks last); detectors whose mean
        ranks differ by less than the critical difference are not told apart (Nemenyi test, after
        Friedman's).

        Parameters
        ----------
        score : str, default="f1"
        audited : str, default=None
            Only cells that audit this; None: what most detectors audit.

        Returns
        -------
        ranks : Series, mean rank of each detector, best first
        critical_difference : float, at level 0.05; NaN with fewer than two drawings
        p_value : float, of Friedman's test; NaN with fewer than three detectors

        References
        ----------
        J. Demsar: Statistical comparisons of classifiers over multiple data sets. Journal of
        Machine Learning Research 7, 2006.
        """
        cells = self.to_frame()
        if audited is None:
            audited = cells.groupby("audited", sort=False)["detector"].nunique().idxmax()
        cells = cells[cells["audited"] == audited]
        wide = cells.pivot(index=["dataset", "repeat"], columns="detector", values=score)
        wide = wide.loc[:, wide.notna().any()].fillna(-np.inf)
        ranks = wide.rank(axis=1, ascending=False).mean().sort_values()
        n, k = wide.shape
        gap = p_value = np.nan
        if n > 1 and k > 1:
            gap = stats.studentized_range.ppf(0.95, k, np.inf) * np.sqrt(k * (k + 1) / (12 * n))
        if n > 1 and k > 2 and wide.nunique(axis=1).max() > 1:
            p_value = float(stats.friedmanchisquare(*wide.to_numpy().T).pvalue)
        return ranks, float(gap), p_value

    def plot(self, kind, **how):
        """Draw one of the figures; needs the extra ``plot``.

        Parameters
        ----------
        kind : {"recall", "precision_recall", "ranks", "heatmap", "time"}
            Recall by a stratum (``by="magnitude"``); precision against recall; critical-difference
            diagram; recall of detectors by stratum; recall against seconds.
        **how
            Arguments of that figure.

        Returns
        -------
        matplotlib Figure
        """
        from skdisc.benchmark import _figures

        if kind not in _figures.KINDS:
            raise ValueError(f"kind must be one of {', '.join(_figures.KINDS)}; got {kind!r}.")
        return _figures.KINDS[kind](self, **how)

    def to_latex(self, **how):
        """Return the summary as a LaTeX table (booktabs).

        Parameters
        ----------
        **how
            Arguments of `summary`.
        """
        from skdisc.benchmark._tables import latex, with_intervals

        scores = how.get("scores", ("precision", "recall", "f1"))
        return latex(with_intervals(self.summary(**how), scores))


def _interval(values, score):
    """Return mean and t-interval of the defined values."""
    values = values[~np.isnan(values)]
    if not len(values):
        return np.nan, np.nan, np.nan
    mean = float(values.mean())
    if len(values) < 2:
        return mean, np.nan, np.nan
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    shares = score in SCORES
    low, high = mean - half, mean + half
    return (mean, max(0.0, low), min(1.0, high)) if shares else (mean, low, high)


def _text(interval):
    return f"({interval.left:.3g}, {interval.right:.3g}]"
