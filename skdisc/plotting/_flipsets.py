"""Pictures of FlipTest: who is in the flipsets, and what they turn on."""

import numpy as np
import pandas as pd

from skdisc._utils._optional import require

_COLOURS = {"positive": "tab:blue", "negative": "tab:orange"}
_SIGNS = {"positive": 1, "negative": -1}


def plot_flipsets(result, X, column, *, attribute=None, bins=20, ax=None):
    """Draw the distribution of one attribute in the flipsets, beside that of everybody carried.

    Parameters
    ----------
    result : AuditResult
        Of FlipTest.
    X : DataFrame
        The rows that were audited.
    column : name of a column of X
    attribute : str, default=None
        The protected attribute, by default the first.
    bins : int, default=20
    ax : Axes, default=None

    Returns
    -------
    Axes
    """
    pairs = _of(result, "pairs", attribute)
    values = X[column].reset_index(drop=True)
    parts = {"everybody": values[pairs["row"]]}
    parts |= {
        f"{n} flipset": values[pairs.loc[pairs["flip"] == s, "row"]] for n, s in _SIGNS.items()
    }
    colours = ["lightgrey", *_COLOURS.values()]
    plt = require("matplotlib.pyplot", extra="plot", purpose="A picture")
    ax = plt.subplots()[1] if ax is None else ax
    if pd.api.types.is_numeric_dtype(values.dtype):
        edges = np.histogram_bin_edges(parts["everybody"].to_numpy(dtype=float), bins)
        for (name, part), colour in zip(parts.items(), colours, strict=True):
            filled = name == "everybody"
            kind = "stepfilled" if filled else "step"
            share = np.full(len(part), 1 / max(len(part), 1))
            ax.hist(part, edges, weights=share, color=colour, histtype=kind, label=name)
    else:
        kinds = sorted(parts["everybody"].unique(), key=str)
        for i, ((name, part), colour) in enumerate(zip(parts.items(), colours, strict=True)):
            shares = [float(np.mean(part == v)) if len(part) else 0.0 for v in kinds]
            ax.bar(np.arange(len(kinds)) + 0.27 * (i - 1), shares, 0.27, color=colour, label=name)
        ax.set_xticks(range(len(kinds)), [str(k) for k in kinds])
    ax.set(xlabel=str(column), ylabel="share of people")
    ax.legend()
    return ax


def plot_transparency(result, *, attribute=None, group=None, ax=None):
    """Draw the transparency report: mean difference of each attribute, and its sign, per flipset.

    Parameters
    ----------
    result : AuditResult
        Of FlipTest.
    attribute : str, default=None
        The protected attribute, by default the first.
    group : str, default=None
        The group that was carried, by default the first with flips.
    ax : Axes, default=None

    Returns
    -------
    Axes
    """
    report = _of(result, "transparency", attribute)
    groups = report["group"].unique().tolist()
    if group is not None and group not in groups:
        raise ValueError(f"group must be one of {groups!r}, got {group!r}.")
    report = report[report["group"] == (group or next(iter(groups), None))]
    names = report["feature"].drop_duplicates().tolist()[::-1]
    plt = require("matplotlib.pyplot", extra="plot", purpose="A picture")
    ax = plt.subplots()[1] if ax is None else ax
    for i, (flipset, colour) in enumerate(_COLOURS.items()):
        some = report[report["flipset"] == flipset].set_index("feature").reindex(names)
        places = np.arange(len(names)) + 0.4 * (0.5 - i)
        ax.barh(places, some["mean"].fillna(0.0), 0.4, color=colour, label=f"{flipset} flipset")
        for place, mean, sign in zip(places, some["mean"], some["sign"], strict=True):
            if np.isfinite(mean):
                side = "left" if mean >= 0 else "right"
                ax.text(mean, place, f" {sign:+.2f} ", va="center", ha=side)
    ax.margins(x=0.2)
    ax.set_yticks(range(len(names)), names)
    title = ", ".join(report["group"].unique())
    ax.set(xlabel="mean difference from the partner (text: mean sign)", title=title)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.legend()
    return ax


def _of(result, name, attribute):
    if "flipsets" not in result.tables:
        raise ValueError(f"The {result.detector} result has no flipsets; give one of FlipTest.")
    table, known = result.tables[name], result.tables["flipsets"]["attribute"].tolist()
    attribute = known[0] if attribute is None else attribute
    if attribute not in known:
        raise ValueError(f"attribute must be one of {known!r}, got {attribute!r}.")
    return table[table["attribute"] == attribute]
