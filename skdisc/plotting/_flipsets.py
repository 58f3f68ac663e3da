"""Plots of FlipTest: the flipsets, and the transparency report."""

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skdisc._results._audit_result import AuditResult
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import FrameLike
from skdisc._utils._validation import of_numbers
from skdisc.plotting._axes import ON_AXES, axes_or_new, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = {"positive": "tab:blue", "negative": "tab:orange"}
_SIGNS = {"positive": 1, "negative": -1}


@with_sections(ON_AXES)
def plot_flipsets(
    result: AuditResult,
    X: FrameLike,
    column: Hashable,
    *,
    attribute: str | None = None,
    bins: int = 20,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the distribution of one attribute in the flipsets and among all transported people.

    Parameters
    ----------
    result : AuditResult
        Result of FlipTest.
    X : DataFrame or array-like of shape (n_samples, n_features)
        The audited rows.
    column : name of a column of X
        In an array, the position of the column.
    attribute : str, default=None
        The protected attribute; None stands for the first.
    bins : int, default=20

    Raises
    ------
    ValueError
        If the result has no flipsets, or `attribute` or `column` is unknown.
    """
    pairs = _rows_of_attribute(result, "transported", attribute)
    X = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    if column not in X:
        raise ValueError(f"column={column!r} is not a column of X: {list(X.columns)!r}.")
    values = X[column].reset_index(drop=True)
    parts = {"all transported": values[pairs["row"]]}
    parts |= {
        f"{n} flipset": values[pairs.loc[pairs["flip"] == s, "row"]] for n, s in _SIGNS.items()
    }
    colors = ["lightgrey", *_COLORS.values()]
    ax = axes_or_new(ax)
    if of_numbers(values.dtype):
        edges = np.histogram_bin_edges(parts["all transported"].to_numpy(dtype=float), bins)
        for (name, part), color in zip(parts.items(), colors, strict=True):
            style = "stepfilled" if name == "all transported" else "step"
            share = np.full(len(part), 1 / max(len(part), 1))
            ax.hist(part, edges, weights=share, color=color, histtype=style, label=name)
    else:
        names = sorted(parts["all transported"].unique(), key=str)
        for i, ((name, part), color) in enumerate(zip(parts.items(), colors, strict=True)):
            shares = [float(np.mean(part == v)) if len(part) else 0.0 for v in names]
            ax.bar(np.arange(len(names)) + 0.27 * (i - 1), shares, 0.27, color=color, label=name)
        ax.set_xticks(range(len(names)), [str(k) for k in names])
    ax.set(xlabel=str(column), ylabel="share of people")
    ax.legend()
    return ax


@with_sections(ON_AXES)
def plot_transparency(
    result: AuditResult,
    *,
    attribute: str | None = None,
    group: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the transparency report: mean and mean sign of each difference, per flipset.

    Parameters
    ----------
    result : AuditResult
        Result of FlipTest.
    attribute : str, default=None
        The protected attribute; None stands for the first.
    group : str, default=None
        The transported group; None stands for the first with flips.

    Raises
    ------
    ValueError
        If the result has no flipsets, or `attribute` or `group` is unknown.
    """
    report = _rows_of_attribute(result, "transparency", attribute)
    groups = report["group"].unique().tolist()
    if group is not None and group not in groups:
        raise ValueError(f"group must be one of {groups!r}, got {group!r}.")
    report = report[report["group"] == (group or next(iter(groups), None))]
    names = report["feature"].drop_duplicates().tolist()[::-1]
    ax = axes_or_new(ax)
    for i, (flipset, color) in enumerate(_COLORS.items()):
        of_flipset = report[report["flipset"] == flipset].set_index("feature").reindex(names)
        places = np.arange(len(names)) + 0.4 * (0.5 - i)
        ax.barh(
            places, of_flipset["mean"].fillna(0.0), 0.4, color=color, label=f"{flipset} flipset"
        )
        for place, mean, sign in zip(places, of_flipset["mean"], of_flipset["sign"], strict=True):
            if np.isfinite(mean):
                side = "left" if mean >= 0 else "right"
                ax.text(mean, place, f" {sign:+.2f} ", va="center", ha=side)
    ax.margins(x=0.2)
    ax.set_yticks(range(len(names)), [wrapped(n, 24) for n in names])
    title = wrapped(", ".join(report["group"].unique()))
    ax.set(xlabel="mean difference from the counterpart\n(text: mean sign)", title=title)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.legend()
    return ax


def _rows_of_attribute(result, name, attribute):
    """Return the rows of one protected attribute in a table of FlipTest."""
    if "flipsets" not in result.tables:
        raise ValueError(
            f"The {result.detector} result has no flipsets; pass a result of FlipTest."
        )
    table, attributes = result.tables[name], result.tables["flipsets"]["attribute"].tolist()
    attribute = attributes[0] if attribute is None else attribute
    if attribute not in attributes:
        raise ValueError(f"attribute must be one of {attributes!r}, got {attribute!r}.")
    return table[table["attribute"] == attribute]
