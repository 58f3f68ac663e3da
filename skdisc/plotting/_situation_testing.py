"""Plots of situation tests: cases by number of neighbors, a complainant, neighborhoods."""

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from skdisc._results._audit_result import AuditResult
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._validation import of_numbers
from skdisc.plotting._axes import ON_AXES, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EACH = {"row": "row of a complainant", "results": "result of a situation test"}
_COLORS = {"control": "tab:orange", "test": "tab:blue"}


@with_sections(ON_AXES)
def plot_case_counts(
    results: AuditResult | Sequence[AuditResult],
    names: Sequence[str] | None = None,
    *,
    count: str = "case",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the number of cases against the number of neighbors.

    Parameters
    ----------
    results : AuditResult or sequence of AuditResult
        Results of situation tests.
    names : sequence of str, default=None
        Names of the methods; by default those of the detectors.
    count : {"case", "gap", "interval", "adjusted"}, default="case"
        The criterion for a case.

    Raises
    ------
    ValueError
        If a result is not that of a situation test.
    """
    results = [results] if isinstance(results, AuditResult) else list(results)
    names = [r.detector for r in results] if names is None else list(names)
    ax = axes_or_new(ax)
    for result, name in zip(results, names, strict=True):
        table = _table(result, "counts").sort_values("n_neighbors")
        ax.plot(table["n_neighbors"], table[count], marker="o", label=name)
    ax.set(
        xlabel="number of neighbors",
        ylabel="cases" if count == "case" else f"cases ({count})",
        ylim=(0, None),
    )
    ax.legend()
    return ax


@with_sections(ON_AXES)
def plot_complainant(
    result: AuditResult,
    case_id: int = 0,
    *,
    columns: Sequence[Hashable] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw one complainant, their counterpart, and both neighborhoods with their decisions.

    If the outcomes are not decisions, the legend shows the mean outcome of each neighborhood.

    Parameters
    ----------
    result : AuditResult
        Result of a situation test with ``store_neighbors=True``.
    case_id : int, default=0
        Position of the finding.
    columns : pair of names of columns, default=None
        Columns on the axes; None stands for the first two numeric columns.

    Raises
    ------
    ValueError
        If the result has no stored neighbors or no such finding, or `columns` does not name two
        columns.
    """
    groups = _groups(result, case_id)
    numeric_columns = [c for c in result.findings.original.columns if of_numbers(groups[c].dtype)]
    columns = list(numeric_columns[:2] if columns is None else columns)
    if len(columns) < 2:
        raise ValueError(
            f"columns must name two numeric columns of {numeric_columns!r}; got {columns!r}."
        )
    ax = axes_or_new(ax)
    for role, color in _COLORS.items():
        for members, marker, word in _outcomes(groups[groups["role"] == role]):
            label = f"{role} group, {word}"
            ax.scatter(
                members[columns[0]], members[columns[1]], c=color, marker=marker, label=label
            )
    for role, marker, inside in (("person", "*", "black"), ("counterpart", "D", "none")):
        one = groups[groups["role"] == role]
        look = {"marker": marker, "facecolors": inside, "edgecolors": "black", "s": 90}
        ax.scatter(one[columns[0]], one[columns[1]], label=role, **look)
    finding = result[case_id]
    interval = f"[{finding.ci_low:+z.2f}, {finding.ci_high:+z.2f}]"
    ax.set(xlabel=str(columns[0]), ylabel=str(columns[1]))
    ax.set_title(
        f"difference {finding.effect:+z.2f} {interval}, adjusted p {finding.p_adjusted:.2g}"
    )
    ax.legend()
    return ax


def _outcomes(members):
    """Yield members with the same decision (or all members), a marker, and text for the legend."""
    outcome, share = members["outcome"].to_numpy(dtype=float), members["share"].to_numpy()
    if not np.isin(outcome, (0, 1)).all():
        yield members, "o", f"mean {np.average(outcome, weights=share):.3g}"
        return
    for value, marker, word in ((1, "o", "accepted"), (0, "x", "rejected")):
        has_value = outcome == value
        yield members[has_value], marker, f"{word} ({share[has_value].sum():.3g})"


@with_sections(ON_AXES)
def plot_groups(
    results: Sequence[AuditResult],
    row: int | Sequence[int],
    column: Hashable,
    *,
    names: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw box plots of one attribute in the control group and the test group of each method.

    Parameters
    ----------
    results : sequence of AuditResult
        Results of situation tests with ``store_neighbors=True``, on the same rows.
    row : int or sequence of int
        Rows of complainants, who must have a case in each result. Of several, the boxes of each
        stand beside one another.
    column : name of a numeric column
    names : sequence of str, default=None
        Names of the methods; by default those of the detectors.

    Raises
    ------
    ValueError
        If a row has no case in a result, a result has no stored neighbors, or there is no row.
    """
    results = [results] if isinstance(results, AuditResult) else list(results)
    rows = np.atleast_1d(row).tolist()
    if not results or not rows:
        what = "row" if results else "results"
        raise ValueError(f"{what} is empty: give at least one {_EACH[what]}.")
    names = [r.detector for r in results] if names is None else list(names)
    person_values, boxes = zip(*(_boxes(results, names, r, column) for r in rows), strict=True)
    ax, n, ticks = axes_or_new(ax), len(boxes[0]), []
    for i, box in enumerate(boxes):
        positions = i * (n + 1) + np.arange(1, n + 1)
        ax.boxplot(list(box.values()), positions=positions, medianprops={"linewidth": 2.5})
        person = {"linestyle": "--", "color": "black", "label": "" if i else "the person"}
        ax.hlines(person_values[i], positions[0] - 0.5, positions[-1] + 0.5, **person)
        ticks.extend(positions)
    several = len(rows) > 1
    ax.set_xticks(ticks, list(boxes[0]) * len(rows), rotation=90 if several else 0)
    ax.set(ylabel=str(column), title="" if several else f"row {rows[0]}")
    if several:
        above = ax.secondary_xaxis("top")
        above.set_xticks([np.mean(t) for t in np.split(np.array(ticks), len(rows))])
        above.set_xticklabels([f"row {r}" for r in rows])
        above.tick_params(length=0)
    ax.legend()
    return ax


def _boxes(results, names, row, column):
    """Return the value of a complainant, and those of their groups by name."""
    boxes = {}
    for result, name in zip(results, names, strict=True):
        _neighbors(result)  # raises if this is not the result of a situation test
        case_ids = np.flatnonzero(result.findings.row == row)
        if not len(case_ids):
            raise ValueError(f"Row {row} has no case in the result {name!r}.")
        groups = _groups(result, int(case_ids[0]))
        values_by_role = {
            role: g[column].to_numpy(dtype=float) for role, g in groups.groupby("role")
        }
        boxes.setdefault("control", values_by_role["control"])
        boxes[f"test: {name}"] = values_by_role["test"]
    return values_by_role["person"][0], boxes


def _table(result, name):
    """Return a table of the result, or raise ValueError."""
    if name not in result.tables:
        raise ValueError(f"The {result.detector} result has no table {name!r}.")
    return result.tables[name]


def _neighbors(result):
    """Return the table of stored neighbors, or raise ValueError."""
    if "neighbors" not in result.tables:
        raise ValueError(
            f"The {result.detector} result has no stored neighbors. Fit SituationTesting or "
            "CounterfactualSituationTesting with store_neighbors=True."
        )
    return result.tables["neighbors"]


def _groups(result, case_id):
    """Return the person, the counterpart and the neighbors of one finding."""
    groups, n = _neighbors(result), len(result)
    if not isinstance(case_id, Integral) or not -n <= case_id < n:
        raise ValueError(f"case_id={case_id!r} is no position of the {n} findings of the result.")
    return groups[groups["case_id"] == range(n)[case_id]]
