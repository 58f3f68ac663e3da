"""A chart of score against gap, one point per model, as SVG text."""

from html import escape
from textwrap import shorten

from skdisc.report._svg import HEIGHT, WIDTH, axis, line, mark, picture

_LONGEST = 40  # characters of a name
_CHARACTER, _LINE = 6, 13  # pixels


def frontier_svg(title, points, margin, reported=None):
    """Draw the models, and a line at the score of the present model less the margin.

    Parameters
    ----------
    title : str
    points : list of (str, float, float, bool, bool)
        Name, score, gap, whether the model is shown to be an alternative, and whether it is the
        present one.
    margin : float
    reported : str or None, default=None
        The model whose name is written; that of the present one always is.

    Returns
    -------
    str
        An ``<svg>`` element; names are escaped.
    """
    left, right, bottom = 60, WIDTH - 16, HEIGHT - 40
    least = next((p[1] - margin for p in points if p[4]), None)
    scores = [p[1] for p in points] + ([] if least is None else [least])
    gaps = [p[2] for p in points]
    across, x = axis(min(0, *gaps, 0), max(gaps), left, right)
    up, y = axis(min(scores), max(scores), bottom, 28)
    parts = [
        line("grid", x(v), x(v), 20, bottom) + mark(x(v), bottom + 16, f"{v:.10g}") for v in across
    ]
    parts += [
        line("grid", left, right, y(v), y(v)) + mark(left - 28, y(v) + 4, f"{v:.10g}") for v in up
    ]
    if least is not None:
        parts.append(
            f'<line class="zero" x1="{left}" x2="{right}" y1="{y(least):.1f}" y2="{y(least):.1f}">'
            "<title>the present score less the margin</title></line>"
        )
    places, taken = {}, []
    for point in sorted(points, key=lambda p: (p[0] == reported, p[3], p[4])):
        places.setdefault((round(x(point[2])), round(y(point[1]))), []).append(point)
    for several in places.values():
        _, score, gap, is_shown, is_present = several[-1]
        names = ", ".join(p[0] for p in several)
        text = escape(f"{names}: score {score:.3f}, gap {gap:.3f}")
        text += ", shown" if is_shown else ""
        size = 8 if is_present else 6
        kind = "sure" if is_shown or is_present else "unsure"
        parts.append(
            f'<circle class="{kind}" cx="{x(gap):.1f}" cy="{y(score):.1f}" r="{size}">'
            f"<title>{text}</title></circle>"
        )
        label = []
        if any(p[4] for p in several):
            label.append("present")
        if any(p[0] == reported for p in several):
            label.append(shorten(reported, _LONGEST))
        if len(several) > 1:
            label.append(f"{len(several)} models")
        if label:
            taken.append((x(gap), y(score), ", ".join(label)))
    parts += _labels(taken, [(x(p[2]), y(p[1])) for p in points], left, right, bottom)
    parts += [mark((left + right) / 2, HEIGHT - 6, "largest gap"), mark(30, 12, "score")]
    return picture(title, parts)


def _labels(named, points, left, right, bottom):
    """Draw the names of points where they cover no point and no other name, with lines to them."""
    drawn, boxes = [], [(x - 9, x + 9, y - 9, y + 9) for x, y in points]
    for point_x, point_y, text in named:
        width = len(text) * _CHARACTER
        # The nearest free place: on either side, or above or below in the middle.
        places = [
            (point_x + across, point_y + 4 + down)
            for down in sorted(range(-12 * _LINE, 12 * _LINE + 1, _LINE), key=abs)
            for across in (14, -14 - width, -width / 2)
            if left <= point_x + across <= right - width and 24 <= point_y + down <= bottom - 4
        ]
        beside = min(point_x + 14, right - width), point_y + 4  # where all places are taken
        start, base = next((p for p in places if _is_free(*p, width, boxes)), beside)
        boxes.append((start, start + width, base - _LINE + 3, base + 3))
        if abs(base - 4 - point_y) > _LINE:
            end_x = min(max(point_x, start), start + width)
            end_y = base + 3 if base < point_y else base - _LINE + 3
            drawn.append(
                f'<line class="grid" x1="{point_x:.1f}" y1="{point_y:.1f}" x2="{end_x:.1f}" '
                f'y2="{end_y:.1f}"/>'
            )
        drawn.append(f'<text x="{start:.1f}" y="{base:.1f}">{escape(text)}</text>')
    return drawn


def _is_free(start, base, width, boxes):
    """Return whether a line of text touches no box."""
    return not any(
        start < stop and begin < start + width and base - _LINE + 3 < low and high < base + 3
        for begin, stop, high, low in boxes
    )
