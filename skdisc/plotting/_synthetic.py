"""Plots of synthetic data: the hierarchy of groups, and the phases of the generator."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Bunch

from skdisc._utils._shared_sections import with_sections
from skdisc.plotting._axes import ON_AXES, axes_or_new, pyplot
from skdisc.plotting._group_displays import _GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PAIR = ("#c0392b", "#2c5f8a")  # A and B


@with_sections(ON_AXES)
def plot_hierarchy(
    truth: Any, *, max_pairs: int = 3, max_people: int = 48, ax: "Axes | None" = None
) -> "Axes":
    """Draw the hierarchy of synthetic data: groups, their two subgroups, and individuals.

    Parameters
    ----------
    truth : Truth
        The truth of data made by `skdisc.datasets.make_discrimination`.
    max_pairs : int, default=3
        Maximal number of groups drawn; the others are only counted.
    max_people : int, default=48
        Maximal number of individuals drawn per subgroup.
    """
    groups, rows = truth.groups.head(max_pairs), truth.rows
    columns = 2 * len(groups) + 1
    ax = axes_or_new(ax, figsize=(3 + 1.5 * columns, 6), layout="constrained")
    top = (columns - 1) / 2
    names = truth.groups["group_key"].nunique()
    _box(ax, top, 3, f"Data\n{len(rows):,} individuals, {names} groups", "black")
    limits = rows["p"].min(), rows["p"].max()
    for k, pair in enumerate(groups.itertuples()):
        middle = 2 * k + 0.5
        _line(ax, top, 3, middle, 2)
        kind = "no bias" if pair.is_null else f"effect {pair.effect:+.2f}"
        _box(ax, middle, 2, f"Group {k + 1}\n{kind}", "black")
        for side, letter in enumerate("ab"):
            x = 2 * k + side
            values = _values(getattr(pair, f"subgroup_{letter}"))
            subgroup = "\n".join(f"{column}: {value}" for column, value in values.items())
            people = rows[rows["subgroup_key"] == getattr(pair, f"subgroup_key_{letter}")]
            _line(ax, middle, 2, x, 1)
            _box(ax, x, 1, f"Subgroup {letter.upper()}\n{subgroup}", _PAIR[side])
            dots = _dots(ax, x, people["p"], max_people, limits)
    background = rows[rows["subgroup_key"].isna()]
    _line(ax, top, 3, columns - 1, 2)
    _line(ax, columns - 1, 2, columns - 1, 0.55)
    _box(ax, columns - 1, 2, "Background\nin no planted\nsubgroup", _GREY)
    dots = _dots(ax, columns - 1, background["p"], max_people, limits)
    ax.figure.colorbar(dots, ax=ax, shrink=0.5, label="expected outcome")
    ax.set(xlim=(-0.7, columns - 0.3), ylim=(-0.9, 3.4))
    ax.set_axis_off()
    return ax


def plot_phases(made: Bunch, *, max_pairs: int = 6, figure: "Figure | None" = None) -> "Figure":
    """Draw the four phases of the generator: synthesizer, pairs, population, outcome.

    Parameters
    ----------
    made : Bunch
        Data made by `skdisc.datasets.make_discrimination`.
    max_pairs : int, default=6
        Maximal number of groups drawn.
    figure : matplotlib Figure or None, default=None

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if figure is None:
        figure = pyplot().figure(figsize=(13, 9), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    groups = made.truth.groups.head(max_pairs)
    _correlations(axes[0], made.schema)
    _definitions(axes[1], made.schema, groups)
    _sizes(axes[2], groups, int(made.truth.rows["subgroup_key"].isna().sum()))
    _outcomes(axes[3], groups, made.truth.rows)
    titles = (
        "1  Synthesizer: attributes and their correlations",
        "2  Pairs of subgroups: common and differing conditions",
        "3  Population: independent samples of each subgroup",
        "4  Outcome: expected value without and with the planted bias",
    )
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, loc="left", fontsize=11)
    return figure


def _correlations(ax, schema):
    """Draw the correlation matrix of the attributes."""
    matrix = np.asarray(schema.correlation)
    image = ax.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
    ax.set_xticks(range(len(matrix)), schema.names, rotation=90)
    ax.set_yticks(range(len(matrix)), schema.names)
    for label, attribute in zip(ax.get_yticklabels(), schema.attributes, strict=True):
        label.set_fontweight("bold" if attribute.protected else "normal")
    name = "latent correlation" if schema.latent else "Spearman's correlation"
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=f"{name} (bold: protected)")


def _definitions(ax, schema, groups):
    """Draw a table of values with one row per subgroup and one column per attribute."""
    pairs = [(row.subgroup_a, row.subgroup_b) for row in groups.itertuples()]
    names = [n for n in schema.names if any(n in _values(s) for pair in pairs for s in pair)]
    for k, pair in enumerate(pairs):
        values = [_values(subgroup) for subgroup in pair]
        for side, color in enumerate(_PAIR):
            for j, name in enumerate(names):
                if name not in values[side]:
                    continue
                same = values[0][name] == values[1][name]
                style = {"facecolor": "white" if same else color, "edgecolor": color}
                ax.text(
                    j,
                    _row(k, side),
                    values[side][name],
                    color="black" if same else "white",
                    bbox={"boxstyle": "round,pad=0.25", **style},
                    ha="center",
                    va="center",
                    fontsize=8,
                )
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
    _pairs_axis(ax, len(pairs))
    ax.set_xlabel("filled: differs between A and B")


def _sizes(ax, groups, n_background):
    """Draw the numbers of individuals of each subgroup."""
    for k, row in enumerate(groups.itertuples()):
        for side, n in enumerate((row.n_a, row.n_b)):
            ax.barh(_row(k, side), n, 0.35, color=_PAIR[side])
            ax.text(n, _row(k, side), f" {n:,}", va="center", fontsize=8)
    _pairs_axis(ax, len(groups))
    ax.margins(x=0.12)
    ax.set_xlabel(f"individuals (and {n_background:,} in no planted subgroup)")


def _outcomes(ax, groups, rows):
    """Draw an arrow from the mean expected outcome without bias to that with bias."""
    means = rows.groupby("subgroup_key")[["p", "p_without_bias"]].mean()
    for k, row in enumerate(groups.itertuples()):
        for side, key in enumerate((row.subgroup_key_a, row.subgroup_key_b)):
            if key not in means.index:  # the subgroup has no rows
                continue
            p, fair = means.loc[key]
            ax.annotate(
                "",
                (p, _row(k, side)),
                (fair, _row(k, side)),
                arrowprops={"arrowstyle": "->", "color": _PAIR[side], "shrinkA": 0, "shrinkB": 0},
            )
            ax.plot(fair, _row(k, side), "o", mfc="white", color=_PAIR[side])
            ax.plot(p, _row(k, side), "o", color=_PAIR[side], ms=4)
    _pairs_axis(ax, len(groups))
    ax.set_xlabel("mean expected outcome of the sample (circle: without bias)")


def _pairs_axis(ax, n):
    """Label the rows of each pair, A above B."""
    places = [(_row(k, side), f"{k + 1} {'AB'[side]}") for k in range(n) for side in (0, 1)]
    ax.set_yticks([y for y, _ in places], [text for _, text in places])
    ax.set_ylim(n - 0.4, -0.6)


def _row(k, side):
    """Return the vertical position of one side of a pair."""
    return k + (-0.2, 0.2)[side]


def _values(subgroup):
    """Return the conditions of a subgroup as short texts by column."""
    return {predicate.column: _short(predicate) for predicate in subgroup.predicates}


def _short(predicate):
    """Return the values of a predicate as a short text."""
    if predicate.values is not None:
        return " or ".join(map(str, predicate.values))
    low, high = f"{predicate.low:.3g}", f"{predicate.high:.3g}"
    if np.isinf(predicate.low):
        return f"≤ {high}"
    return f"> {low}" if np.isinf(predicate.high) else f"{low} to {high}"


def _box(ax, x, y, text, color):
    """Draw a text in a rounded box."""
    style = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": color}
    ax.text(x, y, text, ha="center", va="center", fontsize=9, bbox=style, zorder=3)


def _line(ax, x0, y0, x1, y1):
    """Draw an edge of the hierarchy."""
    ax.plot([x0, x1], [y0, y1], color=_GREY, lw=1, zorder=1)


def _dots(ax, x, p, most, limits):
    """Draw individuals as dots below their subgroup, colored by their expected outcome."""
    shown = p.head(most).to_numpy()
    numbers, width = np.arange(len(shown)), 8
    dot_x = x + (numbers % width - (width - 1) / 2) * 0.1
    dot_y = 0.4 - numbers // width * 0.13
    dots = ax.scatter(dot_x, dot_y, c=shown, s=18, cmap="viridis", vmin=limits[0], vmax=limits[1])
    low = dot_y.min() if len(dot_y) else 0.4
    ax.text(x, low - 0.2, f"{len(p):,} individuals", ha="center", va="center", fontsize=8)
    return dots
