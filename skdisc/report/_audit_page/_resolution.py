"""How small a gap the data can see: the groups of a question by the size of their comparison."""

import math
from html import escape

from skdisc.report._audit_page import _words as words
from skdisc.report._svg import WIDTH, line, mark, picture, round_step

HEIGHT = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 10, 12, 40
_MOST = 400  # groups drawn
_FEWEST = 3  # groups from which a picture says more than the sentence


def resolutions(document):
    """Return a picture of each question that compares several groups.

    Returns
    -------
    list of dict
        ``attribute``, ``question``, ``sentence``, ``sizes`` (bounds by size of group, pairs of
        text) and ``points``: dicts of group, comparison in people on each side, upper, state.
    """
    several = {}
    for row in document["families"]:
        several.setdefault((row["attribute"], row["null"]), []).append(row)
    pictures = []
    for verdict in document["verdicts"]:
        answer, rows = verdict["answer"], several.get((verdict["attribute"], verdict["null"]), [])
        points = [_point(row) for row in rows[:_MOST] if row["upper"] is not None]
        gap = None if answer is None else answer["relevant_gap"]
        if len(points) < _FEWEST or not isinstance(gap, (int, float)):
            continue
        pictures.append(
            {
                "attribute": verdict["attribute"],
                "question": words.question(verdict["null"], verdict["claim"])[0],
                "sentence": words.sentence(verdict["reason"]),
                "relevant": gap,
                "resolution": answer["resolution"],
                "sizes": _sizes(answer),
                "points": points,
            }
        )
    return pictures


def _point(row):
    """Return a group as a point of the picture."""
    state = "found" if row["found"] else "cleared" if row["cleared"] else "uncleared"
    return {
        "group": row["group"],
        "side": 2 * row["comparison"],  # n people on each side are a comparison of size n / 2
        "upper": row["upper"],
        "state": state,
    }


def _sizes(answer):
    """Return the bounds of the groups of each size, which hold together."""
    return [
        (
            f"{words.percent(row['share'])} of the people or more",
            "open" if row["bound"] is None else words.number(row["bound"]),
        )
        for row in answer["curve"]
        if row["n_groups"]
    ]


def resolution_svg(title, points, relevant, resolution):
    """Draw groups by the size of their comparison, with the largest gap that is not excluded.

    Parameters
    ----------
    title : str
    points : list of dict
        From `resolutions`.
    relevant : float
        The gap that matters, a line.
    resolution : float or None
        Comparisons with so many people on each side are cleared; a line.

    Returns
    -------
    str
        An ``<svg>`` element; texts are escaped.
    """
    sides = [p["side"] for p in points]
    low, high = math.log10(max(min(sides), 1.0)) - 0.05, math.log10(max(sides)) + 0.05
    top = max(relevant, *(p["upper"] for p in points)) * 1.05
    bottom = HEIGHT - _BOTTOM

    def x(side):
        share = (math.log10(max(side, 1.0)) - low) / (high - low)
        return round(_LEFT + (WIDTH - _LEFT - _RIGHT) * share, 1)

    def y(gap):
        return round(bottom - (bottom - _TOP) * gap / top, 1)

    parts = [_rows(top, y), _columns(low, high, x, bottom)]
    if resolution is not None and low <= math.log10(resolution) <= high:
        parts.append(line("resolution", x(resolution), x(resolution), _TOP, bottom))
    parts.append(line("relevant", _LEFT, WIDTH - _RIGHT, y(relevant), y(relevant)))
    parts += [_mark(p, x(p["side"]), y(p["upper"])) for p in points]
    middle, text = (_LEFT + WIDTH - _RIGHT) / 2, "people on each side (or as good as that)"
    parts.append(mark(middle, HEIGHT - 6, text, "axis"))
    return picture(title, parts, HEIGHT, kind="resolution")


def _mark(point, x, y):
    """Draw a group: a disk if it is cleared, a ring if not, a square if it is found."""
    label = {"cleared": "cleared", "uncleared": "not cleared", "found": "found"}[point["state"]]
    title = escape(
        f"{point['group']}: as good as {point['side']:,.0f} people on each side, no gap above "
        f"{point['upper']:.3f}, {label}"
    )
    if point["state"] == "found":
        shape = f'<rect class="found" x="{x - 4}" y="{y - 4}" width="8" height="8">'
        return f"{shape}<title>{title}</title></rect>"
    shape = f'<circle class="{point["state"]}" cx="{x}" cy="{y}" r="4">'
    return f"{shape}<title>{title}</title></circle>"


def _rows(top, y):
    """Draw the lines of gaps, with their numbers."""
    step = round_step(top, 3, 6)
    lines = []
    for i in range(int(top / step) + 1):
        height = y(i * step)
        lines.append(line("grid", _LEFT, WIDTH - _RIGHT, height, height))
        lines.append(mark(_LEFT - 6, height + 4, f"{i * step:.6g}", "gaps"))
    return "".join(lines)


def _columns(low, high, x, bottom):
    """Draw the ticks of numbers of people, on a logarithmic axis."""
    marks = [
        m * 10**k
        for k in range(math.floor(low), math.ceil(high) + 1)
        for m in (1, 2, 5)
        if low <= math.log10(m * 10**k) <= high
    ]
    if len(marks) > 6:
        marks = [m for m in marks if str(m)[0] != "2"]
    return "".join(
        line("grid", x(m), x(m), _TOP, bottom) + mark(x(m), bottom + 16, f"{m:,}") for m in marks
    )
