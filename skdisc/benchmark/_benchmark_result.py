"""BenchmarkResult: the cells of a benchmark, with summaries and tests."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from scipy import stats

from skdisc import _stats
from skdisc._results._judgment import FOUND
from skdisc._utils._files import write_text
from skdisc._utils._optional import require
from skdisc._utils._types import FilePath
from skdisc.benchmark._match import STRATA
from skdisc.benchmark._score import CLAIMS, SCORES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEW = 6
_FEWEST_DRAWS = 5  # that an interval is made from
_MOST_LACKING = 0.1  # share of cells without which a method is still compared
_PLAN = "plan.json"
_STOPPED, _MISSING = "stopped by the time limit", "missing"
_CELL = ("detector", "dataset", "repeat", "audited", "seed")
_COST = ("seconds", "seconds_to_score", "seconds_to_prepare", "n_queries")
_FIRST = ("queries_to_first", "seconds_to_first")
_COUNTS = (
    *CLAIMS,
    "null",
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
        One row per cell and target, with the columns `COLUMNS`; a cell without targets has one row.
    planned : sequence of (dataset, repeat, audited, list of detectors), default=None
        The cells that the run is to have; None if that is not known.

    Examples
    --------
    >>> from skdisc.benchmark import run_benchmark
    >>> from skdisc.subgroup import DivExplorer
    >>> data = {"strong": {"n_pairs": 2, "bias": 3.0, "n_background": 200}}
    >>> run_benchmark({"DivExplorer": DivExplorer()}, data, audited=["labels"], n_repeats=1)
    BenchmarkResult(1 detectors, 1 data sets, 1 cells, 1 targets, 0 failed)
    """

    COLUMNS = (*_CELL, *SCORES, *_COST, *_FIRST, *_COUNTS, "cell", "target", "hit", *STRATA)

    def __init__(self, table: pd.DataFrame, planned: Sequence | None = None) -> None:
        order = [*_CELL[:4], "target"]
        self.table = table.sort_values(order, kind="stable", ignore_index=True)
        self.planned = planned

    def __repr__(self):
        cells, lacking = self.to_frame(), self.incomplete()["reason"]
        failed = int((cells["error"] != "").sum())
        counts = {"stopped": (lacking == _STOPPED).sum(), "missing": (lacking == _MISSING).sum()}
        more = "".join(f", {n} {what}" for what, n in counts.items() if n)
        return (
            f"BenchmarkResult({cells['detector'].nunique()} detectors, "
            f"{cells['dataset'].nunique()} data sets, {len(cells)} cells, {len(self.targets())} "
            f"targets, {failed} failed{more})"
        )

    def incomplete(self) -> pd.DataFrame:
        """Return the cells that a time limit stopped, and those that were planned but are missing.

        Limits on numbers of tests, queries and findings are part of a protocol; what a time limit
        leaves depends on the machine.

        Returns
        -------
        DataFrame
            detector, dataset, repeat, audited, reason.
        """
        keys = list(_CELL[:4])
        cells = self.to_frame()
        stopped = cells.loc[cells["stopped_by"] == "seconds", keys].assign(reason=_STOPPED)
        planned = [
            (detector, dataset, repeat, audited)
            for dataset, repeat, audited, detectors in self.planned or []
            for detector in detectors
        ]
        done = set(cells[keys].itertuples(index=False, name=None))
        missing = pd.DataFrame([c for c in planned if c not in done], columns=keys)
        parts = [part for part in (stopped, missing.assign(reason=_MISSING)) if len(part)]
        return pd.concat(parts, ignore_index=True) if parts else stopped

    def left_out(self) -> pd.DataFrame:
        """Return the methods that `comparable` leaves out: detector, audited, and the reasons."""
        lacking = self.incomplete().groupby(["detector", "audited"])["reason"]
        counts = lacking.agg(["size", lambda r: " and ".join(sorted(set(r)))])
        counts.columns = ["n", "reason"]
        cells = self.to_frame().groupby(["detector", "audited"]).size()
        missing = self.incomplete().query("reason == @_MISSING")
        total = cells.add(missing.groupby(["detector", "audited"]).size(), fill_value=0)
        share = counts["n"] / total.reindex(counts.index)
        return counts.loc[share > _MOST_LACKING, ["reason"]].reset_index()

    def comparable(self) -> "BenchmarkResult":
        """Return the cells on which methods can be compared.

        A method is left out of the audits of one kind if a tenth of its cells there are missing or
        were stopped by a time limit (`left_out`). A drawing that is incomplete for one of
        the other methods is left out for all of them.

        Returns
        -------
        BenchmarkResult
        """
        lacking = self.incomplete()
        if lacking.empty:
            return self
        out = _pairs(self.left_out(), ["detector", "audited"])
        lacking = lacking[~_pairs(lacking, ["detector", "audited"]).isin(out)]
        draws = _pairs(lacking, list(_CELL[1:4]))
        is_out = _pairs(self.table, ["detector", "audited"]).isin(out)
        is_out |= _pairs(self.table, list(_CELL[1:4])).isin(draws)
        return BenchmarkResult(self.table[~is_out])

    @classmethod
    def read(cls, folder: FilePath) -> Self:
        """Read the cells that `run_benchmark` stored in a folder.

        Parameters
        ----------
        folder : str or Path

        Returns
        -------
        BenchmarkResult

        Raises
        ------
        ValueError
            If there are no cells, a file is damaged or is not a cell, or several cells of the same
            data have different settings or limits.
        ImportError
            If the extra ``io`` (pyarrow) is not installed.
        """
        require("pyarrow", extra="io", purpose="Reading cells")
        files = sorted(Path(folder).glob("*.parquet"))
        if not files:
            raise ValueError(f"There are no cells (*.parquet) in {str(folder)!r}.")
        table = pd.concat([read_cell(f) for f in files], ignore_index=True)
        table = table.reindex(columns=cls.COLUMNS)  # cells of 0.1 lack some
        times = table.groupby(list(_CELL))["cell"].nunique()
        if (times > 1).any():
            mixed = times[times > 1].index.get_level_values("detector").unique()
            raise ValueError(
                f"{str(folder)!r} holds several runs, with different settings or limits of "
                f"{', '.join(mixed)}. Keep each run in its own folder."
            )
        return cls(table, read_plan(folder))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell: its settings, scores, costs, and error ("" for none)."""
        names = [*_CELL, *SCORES, *_COST, *_FIRST, *_COUNTS]
        first = self.table.drop_duplicates(list(_CELL))
        return first[names].reset_index(drop=True)

    def targets(self) -> pd.DataFrame:
        """Return one row per cell and planted subgroup: whether it was found, and its strata."""
        rows = self.table[self.table["target"] >= 0]
        return rows[[*_CELL, "target", "hit", *STRATA]].reset_index(drop=True)

    def to_sql(self, connection: Any, name: str = "benchmark", **how: Any) -> None:
        """Write the table to a database, by `DataFrame.to_sql`.

        Parameters
        ----------
        connection : connection of sqlite3, or connection or engine of SQLAlchemy
        name : str, default="benchmark"
            Name of the table.
        **how
            Further arguments of `DataFrame.to_sql`.

        Raises
        ------
        ValueError
            If the table exists and `if_exists` is not passed.
        """
        self.table.to_sql(name, connection, index=False, **how)

    def summary(
        self,
        by: Sequence[str] = ("detector", "audited"),
        scores: Sequence[str] = ("precision", "recall", "f1"),
    ) -> pd.DataFrame:
        """Return mean scores over cells, with intervals.

        Parameters
        ----------
        by : sequence of str, default=("detector", "audited")
            Columns of `to_frame` by which cells are grouped.
        scores : sequence of str, default=("precision", "recall", "f1")

        Returns
        -------
        DataFrame
            One row per group: n_cells, n_failed, and the numbers of cells stopped by a time limit
            and missing, n_stopped and n_missing (see `incomplete`), on which no score rests;
            n_null, the cells where nothing is planted, and
            false_alarms, those of them with the verdict "disparity found"; and for each score its
            mean, ``_low`` and ``_high`` (95 % t-interval over cells, clipped to [0, 1]), and
            ``_n``, the number of cells in which it is defined. Intervals are NaN if these are of
            fewer than five drawings of data.
        """
        cells, by = self.to_frame(), list(by)
        lacking = self.incomplete()
        keys = [c for c in by if c in lacking]
        counts = lacking.groupby([*keys, "reason"]).size() if keys else pd.Series(dtype=int)
        rows = []
        for key, part in cells.groupby(by, sort=True):
            row = dict(zip(by, key, strict=True))
            row |= {"n_cells": len(part), "n_failed": int((part["error"] != "").sum())}
            cell_key = tuple(row[c] for c in keys)
            row |= {
                "n_stopped": int((part["stopped_by"] == "seconds").sum()),
                "n_missing": int(counts.get((*cell_key, _MISSING), 0)),
            }
            part = part[part["stopped_by"] != "seconds"]
            null = part[part["n_targets"] == 0]
            row |= {"n_null": len(null), "false_alarms": int((null["verdict"] == FOUND).sum())}
            for score in scores:
                values = part[score].to_numpy(dtype=float)
                n_draws = len(part.loc[~np.isnan(values), ["dataset", "repeat"]].drop_duplicates())
                mean, low, high = _interval(values, score, n_draws)
                row |= {score: mean, f"{score}_low": low, f"{score}_high": high}
                row[f"{score}_n"] = int(part[score].notna().sum())
            rows.append(row)
        return pd.DataFrame(rows)

    def pooled(
        self,
        by: Sequence[str] = ("detector", "audited"),
        limits: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """Return the scores of all claims and targets together, over all cells of a group.

        Parameters
        ----------
        by : sequence of str, default=("detector", "audited")
            Columns of `to_frame` by which cells are grouped.
        limits : DataFrame, default=None
            The detection limit of targets: the highest probability with which a method could find
            them, as the column ``limit``; ``target`` and any of dataset, repeat, audited and seed
            say of which.

        Returns
        -------
        DataFrame
            One row per group: n_claimed, and precision, recall and f1 by the planted groups and,
            with the prefix ``own_``, by the question of the method. With `limits` also the mean
            ``limit`` of the targets that have one, and ``of_limit``, the number of them that were
            found over the sum of their limits.

        Raises
        ------
        ValueError
            If `limits` names a target twice.
        """
        by, cells = list(by), self.to_frame()
        sums = cells[cells["error"] == ""].groupby(by)[list(CLAIMS)].sum(min_count=1)
        table = sums[["n_claimed"]].astype(int)
        for prefix in ("", "own_"):
            right, hit, n_targets = (sums[prefix + n] for n in ("n_right", "n_hit", "n_targets"))
            precision, recall = right / sums["n_claimed"], hit / n_targets
            f1 = 2 * precision * recall / (precision + recall)
            f1 = f1.mask((right == 0) & (n_targets > 0), 0.0)
            rates = {"precision": precision, "recall": recall, "f1": f1}
            table = table.assign(**{prefix + name: values for name, values in rates.items()})
        if limits is not None:
            table = table.join(self._of_limits(by, limits))
        return table.reset_index()

    def _of_limits(self, by, limits):
        """Return the mean limit of targets, and the targets found over the sum of limits."""
        targets = self.table[(self.table["target"] >= 0) & (self.table["error"] == "")]
        keys = [c for c in (*_CELL[1:], "target") if c in limits]
        limited = targets.merge(limits[[*keys, "limit"]], on=keys, validate="many_to_one")
        groups = limited.groupby(by)
        share_of_limit = groups["hit"].sum() / groups["limit"].sum()
        return pd.DataFrame({"limit": groups["limit"].mean(), "of_limit": share_of_limit})

    def strata(self, name: str, bins: int = 3) -> pd.DataFrame:
        """Return the share of targets found, by one of their properties.

        Parameters
        ----------
        name : str
            The property: granularity, intersectionality, similarity, magnitude, n_people,
            imbalance, coverage, aleatoric, epistemic or direct.
        bins : int, default=3
            Number of bins, with equally many distinct values each, for a property with more than
            six values.

        Returns
        -------
        DataFrame
            detector, audited, stratum, n, recall, ci_low, ci_high (Wilson's interval, as if targets
            were independent; NaN if they are from fewer than five drawings of data).

        Raises
        ------
        KeyError
            If there is no such property.
        """
        rows = self.targets().dropna(subset=name)
        values = rows[name].astype(float).round(6)
        if values.nunique() > max(bins, _FEW):
            edges = np.quantile(values.unique(), np.linspace(0, 1, bins + 1))
            values = pd.cut(values, edges, include_lowest=True).map(_text)
        rows = rows.assign(stratum=values)
        draw = rows["dataset"].astype(str) + " " + rows["repeat"].astype(str)
        groups = rows.assign(draw=draw).groupby(["detector", "audited", "stratum"], observed=True)
        table = groups["hit"].agg(["size", "sum"]).reset_index()
        low, high = _stats.wilson(table["sum"].to_numpy(), table["size"].to_numpy())
        is_few = groups["draw"].nunique().to_numpy() < _FEWEST_DRAWS
        low, high = np.where(is_few, np.nan, low), np.where(is_few, np.nan, high)
        table["recall"] = table["sum"] / table["size"]
        table = table.rename(columns={"size": "n"}).drop(columns="sum")
        return table.assign(ci_low=low, ci_high=high)

    def ranks(
        self, score: str = "f1", audited: str | None = None
    ) -> tuple[pd.Series, float, float]:
        """Compare detectors by their mean ranks over data sets.

        Ranks are computed within each draw of a data set; a cell without a score ranks last. Mean
        ranks that differ by less than the critical difference are not significantly different
        (Nemenyi's test, after Friedman's).

        Parameters
        ----------
        score : str, default="f1"
        audited : str, default=None
            Restricts the comparison to the cells that audit this; None stands for what most
            detectors audit.

        Returns
        -------
        ranks : Series
            Mean rank of each detector, the best first.
        critical_difference : float
            At level 0.05; NaN with fewer than two draws.
        p_value : float
            P-value of Friedman's test; NaN with fewer than three detectors.

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

    def plot(self, kind: str, **how: Any) -> "Figure":
        """Draw a figure.

        Parameters
        ----------
        kind : {"recall", "precision_recall", "ranks", "heatmap", "time"}
            Recall by a stratum (``by="magnitude"``); precision and recall of detectors;
            critical-difference diagram; recall of detectors by stratum; their seconds and recall.
        **how
            Arguments of this figure: `by` and `bins` (recall, heatmap), `score` (ranks), `own`
            (precision_recall, by the question of the method), `audited`.

        Returns
        -------
        matplotlib Figure

        Raises
        ------
        ValueError
            If `kind` is unknown.
        ImportError
            If the extra ``plot`` (matplotlib) is not installed.
        """
        from skdisc.benchmark import _figures

        if kind not in _figures.KINDS:
            raise ValueError(f"kind must be one of {', '.join(_figures.KINDS)}; got {kind!r}.")
        return _figures.KINDS[kind](self, **how)

    def to_latex(self, **how: Any) -> str:
        """Return the summary as a LaTeX table (booktabs).

        Parameters
        ----------
        **how
            Arguments of `summary`.

        Returns
        -------
        str
        """
        from skdisc.benchmark._tables import latex, with_intervals

        scores = how.get("scores", ("precision", "recall", "f1"))
        return latex(with_intervals(self.summary(**how), scores))


def _pairs(table, names):
    """Return a Series of tuples: the values of these columns in each row."""
    tuples = list(table[names].itertuples(index=False, name=None))
    return pd.Series(tuples, index=table.index, dtype=object)


def _interval(values, score, n_draws):
    """Return mean and t-interval of the defined values; no interval of few drawings."""
    values = values[~np.isnan(values)]
    if not len(values):
        return np.nan, np.nan, np.nan
    mean = float(values.mean())
    if n_draws < _FEWEST_DRAWS:
        return mean, np.nan, np.nan
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    shares = score in SCORES
    low, high = mean - half, mean + half
    return (mean, max(0.0, low), min(1.0, high)) if shares else (mean, low, high)


def _text(interval):
    """Return the label of a bin."""
    return f"({interval.left:.3g}, {interval.right:.3g}]"


def read_plan(folder):
    """Return the plan of the run in a folder; None if it has none.

    Raises ValueError if the file is damaged.
    """
    path = Path(folder) / _PLAN
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is damaged ({error}).") from error


def write_plan(folder, planned):
    """Add cells to the plan of the run in a folder, and return the whole plan."""
    before = read_plan(folder) or []
    names = {(dataset, repeat, audited): names for dataset, repeat, audited, names in before}
    for dataset, repeat, audited, detectors in planned:
        planned_names = names.setdefault((dataset, repeat, audited), [])
        planned_names += [name for name in detectors if name not in planned_names]
    whole = [[*draw, detectors] for draw, detectors in names.items()]
    write_text(Path(folder) / _PLAN, json.dumps(whole))
    return whole


def read_cell(path):
    """Return the rows of one stored cell.

    Raises ValueError if the file is damaged, or not a cell.
    """
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{str(path)!r} is damaged ({error}).") from error
    if lacking := {*_CELL, "cell"} - set(frame):
        raise ValueError(
            f"{str(path)!r} is not a cell of a benchmark: it lacks {', '.join(sorted(lacking))}."
        )
    return frame
