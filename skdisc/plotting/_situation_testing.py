"""Plots of situation tests: cases by number of neighbors, a complainant, neighborhoods."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from skdisc._results._audit_result import AuditResult
from skdisc._utils._validation import of_numbers
from skdisc.plotting._axes import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = {"control": "tab:orange", "test": "tab:blue"}


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
    ax : matplotlib Axes or None, default=None

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a result is not that of a situation test.
    ImportError
        If matplotlib is not installed.
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
    ax : matplotlib Axes or None, default=None

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the result has no stored neighbors, or `columns` does not name two columns.
    ImportError
        If matplotlib is not installed.
    """
    groups = _groups(result, case_id)
    given = [c for c in result.findings.original.columns if of_numbers(groups[c].dtype)]
    columns = list(given[:2] if columns is None else columns)
    if len(columns) < 2:
        raise ValueError(f"columns must name two numeric columns of {given!r}; got {columns!r}.")
    ax = axes_or_new(ax)
    for role, color in _COLORS.items():
        for some, marker, word in _outcomes(groups[groups["role"] == role]):
            label = f"{role} group, {word}"
            ax.scatter(some[columns[0]], some[columns[1]], c=color, marker=marker, label=label)
    for role, marker, inside in (("person", "*", "black"), ("counterpart", "D", "none")):
        one = groups[groups["role"] == role]
        look = {"marker": marker, "facecolors": inside, "edgecolors": "black", "s": 90}
        ax.scatter(one[columns[0]], one[columns[1]], label=role, **look)
    finding = result[case_id]
    interval = f"[{finding.ci_low:+.2f}, {finding.ci_high:+.2f}]"
    ax.set(xlabel=str(columns[0]), ylabel=str(columns[1]))
    ax.set_title(
        f"difference {finding.effect:+.2f} {interval}, adjusted p {finding.p_adjusted:.2g}"
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
        some = outcome == value
        yield members[some], marker, f"{word} ({share[some].sum():.3g})"


def plot_groups(
    results: Sequence[AuditResult],
    row: int,
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
    row : int
        Row of the complainant, who must have a case in each result.
    column : name of a numeric column
    names : sequence of str, default=None
        Names of the methods; by default those of the detectors.
    ax : matplotlib Axes or None, default=None

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the row has no case in a result, or a result has no stored neighbors.
    ImportError
        If matplotlib is not installed.
    """
    names = [r.detector for r in results] if names is None else list(names)
    boxes = {}
    for result, name in zip(results, names, strict=True):
        at = np.flatnonzero(result.findings.row == row)
        if not len(at):
            raise ValueError(f"Row {row} has no case in the result {name!r}.")
        groups = _groups(result, int(at[0]))
        boxes.setdefault("control", groups.loc[groups["role"] == "control", column])
        boxes[f"test: {name}"] = groups.loc[groups["role"] == "test", column]
    ax = axes_or_new(ax)
    values = [b.to_numpy(dtype=float) for b in boxes.values()]
    ax.boxplot(values, medianprops={"linewidth": 2.5})
    ax.set_xticks(range(1, len(boxes) + 1), list(boxes))
    own = groups.loc[groups["role"] == "person", column].to_numpy(dtype=float)[0]
    ax.axhline(own, linestyle="--", color="black", label="the person")
    ax.set(ylabel=str(column), title=f"row {row}")
    ax.legend()
    return ax


def _table(result, name):
    """Return a table of the result, or raise ValueError."""
    if name not in result.tables:
        raise ValueError(f"The {result.detector} result has no table {name!r}.")
    return result.tables[name]


def _groups(result, case_id):
    """Return the person, the counterpart and the neighbors of one finding."""
    if "neighbours" not in result.tables:
        raise ValueError(
            f"The {result.detector} result has no stored neighbors. Fit with store_neighbors=True."
        )
    groups = result.tables["neighbours"]
    return groups[groups["case_id"] == range(len(result))[case_id]]
