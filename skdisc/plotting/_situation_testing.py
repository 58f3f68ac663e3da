"""Pictures of situation tests: cases by number of neighbours, one complainant, their groups."""

import numpy as np

from skdisc._utils._optional import require
from skdisc._utils._scalars import of_numbers

_COLOURS = {"control": "tab:orange", "test": "tab:blue"}


def _axes(ax):
    if ax is not None:
        return ax
    plt = require("matplotlib.pyplot", extra="plot", purpose="A picture")
    return plt.subplots()[1]


def plot_case_counts(results, names=None, *, count="case", ax=None):
    """Draw the number of cases against the number of neighbours.

    Parameters
    ----------
    results : AuditResult or sequence of them
        Of situation tests.
    names : sequence of str, default=None
        By default the names of the detectors.
    count : {"case", "gap", "interval", "adjusted"}, default="case"
        The rule that counts.
    ax : Axes, default=None

    Returns
    -------
    Axes
    """
    results = [results] if hasattr(results, "tables") else list(results)
    names = [r.detector for r in results] if names is None else list(names)
    ax = _axes(ax)
    for result, name in zip(results, names, strict=True):
        table = _table(result, "counts").sort_values("n_neighbors")
        ax.plot(table["n_neighbors"], table[count], marker="o", label=name)
    ax.set(
        xlabel="number of neighbours",
        ylabel="cases" if count == "case" else f"cases ({count})",
        ylim=(0, None),
    )
    ax.legend()
    return ax


def plot_complainant(result, case_id=0, *, columns=None, ax=None):
    """Draw one person, their counterfactual and both groups, and write down what was decided.

    Of outcomes that are no decisions the legend gives the mean of each group.

    Parameters
    ----------
    result : AuditResult
        Of a situation test with ``store_neighbours=True``.
    case_id : int, default=0
        Place of the finding.
    columns : pair of names of columns, default=None
        What the axes are; by default the first two numbers.
    ax : Axes, default=None

    Returns
    -------
    Axes
    """
    groups = _groups(result, case_id)
    given = [c for c in result.findings.original.columns if of_numbers(groups[c].dtype)]
    columns = list(given[:2] if columns is None else columns)
    if len(columns) < 2:
        raise ValueError(f"columns must name two numbers of X, got {columns!r} of {given!r}.")
    ax = _axes(ax)
    for role, colour in _COLOURS.items():
        for some, marker, word in _outcomes(groups[groups["role"] == role]):
            label = f"{role} group, {word}"
            ax.scatter(some[columns[0]], some[columns[1]], c=colour, marker=marker, label=label)
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
    """Yield the members who were decided alike, or all; a marker, and words for the legend."""
    outcome, share = members["outcome"].to_numpy(dtype=float), members["share"].to_numpy()
    if not np.isin(outcome, (0, 1)).all():
        yield members, "o", f"mean {np.average(outcome, weights=share):.3g}"
        return
    for value, marker, word in ((1, "o", "accepted"), (0, "x", "refused")):
        some = outcome == value
        yield members[some], marker, f"{word} ({share[some].sum():.3g})"


def plot_groups(results, row, column, *, names=None, ax=None):
    """Draw box plots of one attribute in the control group and the test group of each method.

    Parameters
    ----------
    results : sequence of AuditResult
        Of situation tests with ``store_neighbours=True``, on the same rows.
    row : int
        Row of the complainant, who must have a case in each.
    column : name of a numeric column
    names : sequence of str, default=None
    ax : Axes, default=None

    Returns
    -------
    Axes
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
    ax = _axes(ax)
    values = [b.to_numpy(dtype=float) for b in boxes.values()]
    ax.boxplot(values, medianprops={"linewidth": 2.5})
    ax.set_xticks(range(1, len(boxes) + 1), list(boxes))
    own = groups.loc[groups["role"] == "person", column].to_numpy(dtype=float)[0]
    ax.axhline(own, linestyle="--", color="black", label="the person")
    ax.set(ylabel=str(column), title=f"row {row}")
    ax.legend()
    return ax


def _table(result, name):
    if name not in result.tables:
        raise ValueError(f"The {result.detector} result has no table {name!r}.")
    return result.tables[name]


def _groups(result, case_id):
    if "neighbours" not in result.tables:
        raise ValueError(
            f"The {result.detector} result has no table 'neighbours'; fit with "
            "store_neighbours=True."
        )
    groups = result.tables["neighbours"]
    return groups[groups["case_id"] == range(len(result))[case_id]]
