"""A picture of intervals, drawn as SVG text."""

import math
from html import escape

_WIDTH, _ROW, _SIDE, _TOP = 420, 38, 16, 8
_LONGEST = 62  # characters of a label that fit the width


def intervals_svg(title, rows):
    """Draw one line per row: label, point and interval, with zero marked.

    Parameters
    ----------
    title : str
    rows : sequence of (str, float, float, float)
        Label, value, low, high; all finite.

    Returns
    -------
    str
        An ``<svg>`` element; labels are escaped.
    """
    low = min([0.0, *(min(r[1:]) for r in rows)])
    high = max([0.0, *(max(r[1:]) for r in rows)])
    step = _step(high - low)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    high = high if high > low else low + step

    def x(value):
        return _SIDE + (_WIDTH - 2 * _SIDE) * (value - low) / (high - low)

    bottom = _TOP + _ROW * len(rows)
    parts = [_grid(low, high, step, x, bottom)]
    for i, (label, *values) in enumerate(rows):
        parts.append(_row(label, *map(x, values), _TOP + _ROW * i))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {bottom + 24}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _step(span):
    """Return the round step that makes four to eight ticks."""
    if span <= 0:
        return 0.1
    power = 10.0 ** math.floor(math.log10(span / 4))
    return next((m * power for m in (1, 2, 5) if span / (m * power) <= 6), 10 * power)


def _grid(low, high, step, x, bottom):
    lines = []
    for i in range(round((high - low) / step) + 1):
        value = low + i * step
        kind = "zero" if abs(value) < step / 2 else "grid"
        at = f"{x(value):.1f}"
        lines.append(f'<line class="{kind}" x1="{at}" x2="{at}" y1="{_TOP}" y2="{bottom}"/>')
        lines.append(f'<text class="tick" x="{at}" y="{bottom + 16}">{value:.10g}</text>')
    return "".join(lines)


def _row(label, x, low, high, top):
    """Draw a label with its interval below it."""
    short = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
    y = top + 26
    return (
        f'<text x="2" y="{top + 14}"><title>{escape(label)}</title>{escape(short)}</text>'
        f'<line class="interval" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
        f'<circle cx="{x:.1f}" cy="{y}" r="4"/>'
    )
