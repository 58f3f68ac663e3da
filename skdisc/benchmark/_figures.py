"""Figures of a benchmark, drawn from its tables."""

import numpy as np

from skdisc._utils._optional import require

_STYLES = ("-", "--", "-.", ":")
_MARKERS = "osD^vP*X<>"


def recall(result, by="magnitude", audited=None, bins=3):
    """Draw the share of targets found against one of their properties, one line per detector."""
    table = _rows_of_model(result.strata(by, bins), audited)
    figure, ax = _axes()
    order = list(dict.fromkeys(sorted(table["stratum"], key=_first_number)))
    for (name, part), style in zip(_by_detector(table), _styles(), strict=False):
        positions = [order.index(s) for s in part["stratum"]]
        error = np.clip([part["recall"] - part["ci_low"], part["ci_high"] - part["recall"]], 0, 1)
        ax.errorbar(positions, part["recall"], error, capsize=3, label=name, **style)
    ax.set_xticks(range(len(order)), [str(s) for s in order])
    ax.set_xlabel(by.replace("n_people", "people in the group"))
    ax.set_ylabel("share of planted groups found")
    ax.set_ylim(-0.02, 1.02)
    return _with_legend(figure, ax)


def precision_recall(result, audited=None, own=False):
    """Draw mean precision and recall of each detector, and of random findings, best F1 first.

    With `own`, findings are compared with the truth of the null hypothesis of their detector.
    """
    names = ["f1", "precision", "recall", "guess_precision", "guess_recall"]
    cells = _rows_of_model(result.to_frame(), audited)
    means = cells.groupby("detector")[[f"own_{n}" if own else n for n in names]].mean()
    means.columns = names
    means = means.sort_values("f1", ascending=False)
    figure, (ax,) = _rows(means.index)
    for name, marker, color in (("precision", "o", "C0"), ("recall", "^", "C1")):
        style = {"marker": marker, "color": color, "linestyle": ""}
        ax.plot(means[name], range(len(means)), label=name, **style)
        ax.plot(
            means[f"guess_{name}"],
            range(len(means)),
            fillstyle="none",
            label=f"{name} of random findings",
            **style,
        )
    ax.set_xlabel("mean over data sets and what is audited")
    ax.set_xlim(-0.02, 1.02)
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize="small")
    return figure


def ranks(result, score="f1", audited=None):
    """Draw a critical-difference diagram, which joins ranks that do not differ significantly."""
    mean, gap, _ = result.ranks(score, audited)
    plt = require("matplotlib.pyplot", extra="plot", purpose="Figures")
    figure, ax = plt.subplots(figsize=(7, 0.8 + 0.35 * len(mean)), layout="constrained")
    for i, (name, value) in enumerate(mean.items()):
        ax.plot([value], [i], "o", color="C0")
        ax.annotate(name, (value, i), (8, 0), textcoords="offset points", va="center")
    start = 0
    for first in range(len(mean)):
        last = int(np.searchsorted(mean.to_numpy(), mean.iloc[first] + gap, side="right")) - 1
        if last > first and last >= start:
            x = mean.iloc[first] - 0.03
            ax.plot([x, x], [first, last], color="0.4", linewidth=3, alpha=0.5)
            start = last + 1
    ax.set_yticks([])
    ax.invert_yaxis()
    ax.set_xlim(0.7, max(1.35 * mean.max(), 2))  # room for the names
    words = "" if np.isnan(gap) else f"; critical difference {gap:.2f}"
    ax.set_xlabel(f"mean rank by {score} (1 is best{words})")
    return figure


def heatmap(result, by="magnitude", audited=None, bins=3):
    """Draw the share of targets found as a heatmap of detectors and strata."""
    table = _rows_of_model(result.strata(by, bins), audited)
    order = list(dict.fromkeys(sorted(table["stratum"], key=_first_number)))
    sums = table.assign(hits=table["recall"] * table["n"])
    sums = sums.groupby(["detector", "stratum"], observed=True)[["hits", "n"]].sum()
    wide = (sums["hits"] / sums["n"]).unstack("stratum")[order]
    figure, ax = _axes(2 + 0.35 * len(wide))
    image = ax.imshow(wide, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    for (i, j), value in np.ndenumerate(wide.to_numpy()):
        if not np.isnan(value):
            color = "white" if value > 0.6 else "black"
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", color=color)
    ax.set_xticks(range(len(order)), [str(s) for s in order])
    ax.set_yticks(range(len(wide)), wide.index)
    ax.set_xlabel(by.replace("n_people", "people in the group"))
    figure.colorbar(image, label="share found")
    return figure


def time(result, audited=None):
    """Draw seconds and mean recall of each detector, the fastest first."""
    cells = _rows_of_model(result.to_frame(), audited)
    means = cells.groupby("detector")[["seconds", "recall"]].mean().sort_values("seconds")
    figure, (left, right) = _rows(means.index, 2)
    left.plot(means["seconds"], range(len(means)), "o")
    left.set_xscale("log")
    left.set_xlabel("seconds")
    right.plot(means["recall"], range(len(means)), "^", color="C1")
    right.set_xlabel("recall")
    right.set_xlim(-0.02, 1.02)
    return figure


KINDS = {
    "recall": recall,
    "precision_recall": precision_recall,
    "ranks": ranks,
    "heatmap": heatmap,
    "time": time,
}


def _rows_of_model(table, audited):
    """Return the rows with one audited model; all rows for None."""
    return table if audited is None else table[table["audited"] == audited]


def _by_detector(table):
    """Yield the table of each detector, averaged over the audited models."""
    for name, part in table.groupby("detector"):
        yield (
            name,
            part.groupby("stratum", observed=True, as_index=False)[
                ["recall", "ci_low", "ci_high"]
            ].mean(),
        )


def _first_number(stratum):
    """Return the first number in the label of a stratum."""
    text = str(stratum).strip("([").partition(",")[0]
    return float(text)


def _styles():
    """Yield 40 distinct line styles."""
    for i in range(40):
        yield {
            "color": f"C{i % 10}",
            "marker": _MARKERS[(i + i // 10) % len(_MARKERS)],
            "linestyle": _STYLES[i // 10 % 4],
        }


def _axes(height=4.5):
    """Return a new figure and its axes."""
    plt = require("matplotlib.pyplot", extra="plot", purpose="Figures")
    return plt.subplots(figsize=(8, height), layout="constrained")


def _rows(names, n_panels=1):
    """Return a new figure with a row for each name, and its axes."""
    plt = require("matplotlib.pyplot", extra="plot", purpose="Figures")
    size = 8, 1.2 + 0.25 * len(names)
    figure, axes = plt.subplots(
        1, n_panels, figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    for ax in axes[0]:
        ax.grid(axis="y", color="0.9")
        ax.set_axisbelow(True)
    axes[0, 0].set_yticks(range(len(names)), names)
    axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
    return figure, axes[0]


def _with_legend(figure, ax):
    """Return the figure with a legend to the right."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize="small")
    return figure
