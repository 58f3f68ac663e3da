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
    return picture(title, parts, bottom + 24)


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
        line("grid", x(v), x(v), 8, bottom) + mark(x(v), bottom + 16, f"{v:,.10g}") for v in across
    ]
    for v in up:
        parts.append(line("grid" if v else "zero", left, right, y(v), y(v)))
        parts.append(mark(left - 24, y(v) + 4, f"{v:.10g}"))
    for rank, label, size, effect, sure in reversed(rows):
        text = escape(f"{rank}: {label}, {size:,} people, effect {effect:z.3f}")
        text += "" if sure else ", not significant"
        position = f'cx="{x(size):.1f}" cy="{y(effect):.1f}" r="9"'
        parts.append(
            f'<a href="{escape(link.format(rank))}" aria-label="{text}"><title>{text}</title>'
            f'<circle class="{"sure" if sure else "unsure"}" {position}/><text class="rank" '
            f'x="{x(size):.1f}" y="{y(effect) + 3.5:.1f}">{rank}</text></a>'
        )
    parts.append(mark((left + right) / 2, HEIGHT - 6, "people"))
    return picture(title, parts, role="group")


def line(kind, x1, x2, y1, y2):
    """Draw a line of a class."""
    x1, x2, y1, y2 = map(_place, (x1, x2, y1, y2))
    return f'<line class="{kind}" x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}"/>'


def mark(x, y, text, kind="tick"):
    """Write a number or a word beside an axis."""
    return f'<text class="{kind}" x="{_place(x)}" y="{_place(y)}">{text}</text>'


def _place(value):
    """Return a coordinate with a decimal, unless it is whole."""
    return value if isinstance(value, int) else f"{value:.1f}"


def picture(title, parts, height=HEIGHT, role="img", kind=""):
    """Return an ``<svg>`` element with a title."""
    kind, title = f'class="{kind}" ' * bool(kind), escape(title)
    return (
        f'<svg {kind}viewBox="0 0 {WIDTH} {height}" role="{role}" aria-label="{title}">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
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
        lines.append(line(kind, x(value), x(value), _TOP, bottom))
        lines.append(mark(x(value), bottom + 16, f"{value:.10g}"))
    return "".join(lines)


def _row(label, x, low, high, top):
    """Draw a label with its interval below it."""
    short = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
    y = top + 26
    return (
        f'<text x="2" y="{top + 14}"><title>{escape(label)}</title>{escape(short)}</text>'
        f"{line('interval', low, high, y, y)}"
        f'<circle cx="{x:.1f}" cy="{y}" r="4"/>'
    )
