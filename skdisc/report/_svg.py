"""Charts of intervals, and of effects against sizes, as SVG text."""

import math
from html import escape

WIDTH, HEIGHT, _ROW, _SIDE, _TOP = 420, 320, 38, 16, 8
_LONGEST = 62  # characters of a label that fit the width


def intervals_svg(title, rows):
    """Draw one line per row with label, point and interval; zero is marked.

    Parameters
    ----------
    title : str
    rows : sequence of (str, float, float, float)
        Label, value, low and high; all finite.

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
        return _SIDE + (WIDTH - 2 * _SIDE) * (value - low) / (high - low)

    bottom = _TOP + _ROW * len(rows)
    parts = [_grid(low, high, step, x, bottom)]
    for i, (label, *values) in enumerate(rows):
        parts.append(_row(label, *map(x, values), _TOP + _ROW * i))
    return (
        f'<svg viewBox="0 0 {WIDTH} {bottom + 24}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def sizes_svg(title, rows, link):
    """Draw one numbered point per row, effect against size; an effect of zero is marked.

    Parameters
    ----------
    title : str
    rows : sequence of (int, str, int, float, bool)
        Rank, label, size, effect, and whether the effect is significant (a filled point).
    link : str
        Target of the link of a point; ``{}`` is replaced by the rank.

    Returns
    -------
    str
        An ``<svg>`` element; labels are escaped.
    """
    left, right, bottom = 52, WIDTH - 16, HEIGHT - 40
    sizes, effects = [r[2] for r in rows], [r[3] for r in rows]
    across, x = axis(0, max(sizes), left, right)
    up, y = axis(min(0, *effects), max(0, *effects), bottom, 16)
    parts = [
        f'<line class="grid" x1="{x(v):.1f}" x2="{x(v):.1f}" y1="8" y2="{bottom}"/>'
        f'<text class="tick" x="{x(v):.1f}" y="{bottom + 16}">{v:,.10g}</text>'
        for v in across
    ]
    parts += [
        f'<line class="{"grid" if v else "zero"}" x1="{left}" x2="{right}" y1="{y(v):.1f}" '
        f'y2="{y(v):.1f}"/><text class="tick" x="{left - 24}" y="{y(v) + 4:.1f}">{v:.10g}</text>'
        for v in up
    ]
    for rank, label, size, effect, sure in reversed(rows):
        text = escape(f"{rank}: {label}, {size:,} people, effect {effect:z.3f}")
        text += "" if sure else ", not significant"
        position = f'cx="{x(size):.1f}" cy="{y(effect):.1f}" r="9"'
        parts.append(
            f'<a href="{escape(link.format(rank))}" aria-label="{text}"><title>{text}</title>'
            f'<circle class="{"sure" if sure else "unsure"}" {position}/><text class="rank" '
            f'x="{x(size):.1f}" y="{y(effect) + 3.5:.1f}">{rank}</text></a>'
        )
    parts.append(f'<text class="tick" x="{(left + right) / 2}" y="{HEIGHT - 6}">people</text>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="group" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def axis(low, high, start, stop):
    """Return the round values to mark, and the function from a value to its position."""
    step = _step(high - low)
    first, last = math.floor(low / step), max(math.ceil(high / step), math.floor(low / step) + 1)
    marks = [float(f"{i * step:.12g}") for i in range(first, last + 1)]
    return marks, lambda v: start + (stop - start) * (v - marks[0]) / (marks[-1] - marks[0])


def _step(span):
    """Return the round step that gives four to eight ticks."""
    return round_step(span, 4, 6) if span > 0 else 0.1


def round_step(span, fewest, most):
    """Return 1, 2 or 5 times a power of ten, which a span holds from `fewest` to `most` times."""
    power = 10.0 ** math.floor(math.log10(span / fewest))
    return next((m * power for m in (1, 2, 5) if span / (m * power) <= most), 10 * power)


def _grid(low, high, step, x, bottom):
    """Draw vertical lines with their ticks."""
    lines = []
    for i in range(round((high - low) / step) + 1):
        value = low + i * step
        kind = "zero" if abs(value) < step / 2 else "grid"
        line_x = f"{x(value):.1f}"
        lines.append(
            f'<line class="{kind}" x1="{line_x}" x2="{line_x}" y1="{_TOP}" y2="{bottom}"/>'
        )
        lines.append(f'<text class="tick" x="{line_x}" y="{bottom + 16}">{value:.10g}</text>')
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
