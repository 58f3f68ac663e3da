"""Small pictures in SVG: null shares with their intervals, and power against the baseline."""

from html import escape

import numpy as np
from scipy.stats import binomtest

from benchmarks.calibration.measure import WORLDS

ROW, LEFT, WIDTH = 18, 230, 560
STYLE = "font-family='sans-serif' font-size='11' fill='#333'"
COLORS = ("#1b6ca8", "#b3541e", "#2e7d32", "#7b3fa0", "#a8871b", "#555", "#c2185b", "#00838f")


def share_picture(held):
    """Return a row per detector: its worst cell with an exact interval, its others as ticks."""
    held = held[held["n"] > 0].assign(share=lambda t: t["k"] / t["n"])
    names = sorted(held["detector"].unique())
    height = ROW * (len(names) + 3)

    def x(share):
        return LEFT + (WIDTH - LEFT - 20) * np.sqrt(share)

    text = [_open(WIDTH, height)]
    for share in (0, 0.05, 0.2, 0.5, 1):
        color = "#c0392b" if share == 0.05 else "#ddd"
        text.append(_line(x(share), ROW, x(share), height - 1.5 * ROW, color))
        text.append(_text(x(share), height - 4, f"{share:g}", "middle"))
    for i, name in enumerate(names):
        y = ROW * (i + 1.5)
        part = held[held["detector"] == name]
        worst = part.loc[part["share"].idxmax()]
        ends = binomtest(int(worst["k"]), int(worst["n"])).proportion_ci()
        text += [_line(x(share), y - 4, x(share), y + 4, "#9bb") for share in set(part["share"])]
        text.append(_line(x(ends.low), y, x(ends.high), y, "#1b6ca8", 2))
        text.append(f"<circle cx='{x(worst['share']):.0f}' cy='{y:.0f}' r='3.5' fill='#1b6ca8'/>")
        text.append(_text(LEFT - 8, y + 4, name, "end"))
    return "\n".join([*text, "</svg>\n"])


def power_picture(counts):
    """Return two curves per detector over the planted gap: found (dashed), and planted first."""
    worlds = [w for w in WORLDS.values() if w.kind == "power" and w.name.startswith("n = 5,000")]
    worlds = [w for w in worlds if " and " not in w.name]
    shown = ("baseline", "DivExplorer", "DiscriminatoryRules", "SliceLine", "SliceFinder")
    text = [_open(WIDTH, 260)]
    for share in (0, 0.5, 1):
        text.append(_line(40, 220 - 190 * share, 340, 220 - 190 * share, "#ddd"))
        text.append(_text(34, 224 - 190 * share, f"{share:g}", "end"))
    for world in worlds:
        text.append(_text(_gap(world), 240, f"gap {world.gaps['contextual'] / 10:g}", "middle"))
    for i, name in enumerate(shown):
        part = counts[counts["detector"] == name]
        for column, dash in (("found", " stroke-dasharray='4 3'"), ("first", "")):
            points = []
            for world in worlds:
                one = part[part["world"] == world.name]
                if len(one):
                    share = one[column].sum() / one["n"].sum()
                    points.append(f"{_gap(world):.0f},{220 - 190 * share:.0f}")
            text.append(
                f"<polyline points='{' '.join(points)}' fill='none' stroke='{COLORS[i]}'"
                f" stroke-width='1.8'{dash}/>"
            )
        text.append(_line(365, 40 + 20 * i, 390, 40 + 20 * i, COLORS[i], 2))
        text.append(_text(398, 44 + 20 * i, name, "start"))
    text.append(_text(365, 160, "solid: planted first; dashed: found", "start"))
    return "\n".join([*text, "</svg>\n"])


def _gap(world):
    return 40 + 150 * world.gaps["contextual"]


def _open(width, height):
    size = f"viewBox='0 0 {width} {height:.0f}' width='{width}' height='{height:.0f}'"
    back = "<rect width='100%' height='100%' fill='#fff'/>"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size}>{back}"


def _line(x0, y0, x1, y1, color, width=1):
    ends = f"x1='{x0:.0f}' y1='{y0:.0f}' x2='{x1:.0f}' y2='{y1:.0f}'"
    return f"<line {ends} stroke='{color}' stroke-width='{width}'/>"


def _text(x, y, words, anchor):
    return f"<text x='{x:.0f}' y='{y:.0f}' text-anchor='{anchor}' {STYLE}>{escape(words)}</text>"
