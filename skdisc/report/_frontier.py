"""A chart of score against gap, one point per model, as SVG text."""

from html import escape
from textwrap import shorten

from skdisc.report._svg import HEIGHT, WIDTH, axis

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
        f'<line class="grid" x1="{x(v):.1f}" x2="{x(v):.1f}" y1="20" y2="{bottom}"/>'
        f'<text class="tick" x="{x(v):.1f}" y="{bottom + 16}">{v:.10g}</text>'
        for v in across
    ]
    parts += [
        f'<line class="grid" x1="{left}" x2="{right}" y1="{y(v):.1f}" y2="{y(v):.1f}"/>'
        f'<text class="tick" x="{left - 28}" y="{y(v) + 4:.1f}">{v:.10g}</text>'
        for v in up
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
        label = [
            *(["present"] if any(p[4] for p in several) else []),
            *([shorten(reported, _LONGEST)] if any(p[0] == reported for p in several) else []),
        ]
        if len(several) > 1:
            label.append(f"{len(several)} models")
        if label:
            taken.append((x(gap), y(score), ", ".join(label)))
    parts += _labels(taken, left, right)
    parts.append(
        f'<text class="tick" x="{(left + right) / 2}" y="{HEIGHT - 6}">largest gap</text>'
        '<text class="tick" x="30" y="12">score</text>'
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _labels(places, left, right):
    """Draw the names of points, those that would touch one above the other."""
    drawn, boxes = [], []
    for at_x, at_y, text in places:
        width = len(text) * _CHARACTER
        is_left = at_x - 12 - width > left
        start = at_x - 12 - width if is_left else min(at_x + 12, right - width)
        down = at_y - 12
        while any(
            abs(down - other) < _LINE and start < stop and begin < start + width
            for begin, stop, other in boxes
        ):
            down += _LINE
        boxes.append((start, start + width, down))
        drawn.append(f'<text x="{start:.1f}" y="{down:.1f}">{escape(text)}</text>')
    return drawn
