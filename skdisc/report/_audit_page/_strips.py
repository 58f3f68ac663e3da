"""Small pictures that stretch with the page: intervals and bars as SVG text."""

EDGE = 3.0  # percent of the width left free on each side
STATES = {
    "differs": "differs",
    "same": "may be no different",
    "open": "too small to be judged",
}  # in words


def interval_strip(numbers, axis, state="differs", band=None):
    """Draw value and interval on an axis.

    Parameters
    ----------
    numbers : tuple of three floats
        Value, low and high.
    axis : tuple of three floats
        Low end, high end and step.
    state : {"differs", "same", "open"}
        How the interval is drawn: filled, pale, or hollow and dashed.
    band : float, optional
        Values within plus or minus `band` lie on a shade.

    Returns
    -------
    str
        An ``<svg>`` element, for readers who see; the numbers stand beside it.
    """
    x, low, high = (place(v, axis) for v in numbers)
    parts = [_band(band, axis) if band else "", _zero(axis)]
    parts += [
        f'<line class="bar" x1="{low}%" x2="{high}%" y1="10" y2="10"/>',
        f'<circle cx="{x}%" cy="10" r="4.5"/>',
    ]
    return f'<svg class="strip {state}" aria-hidden="true">{"".join(parts)}</svg>'


def bar_strip(ends, axis, kind, interval=()):
    """Draw a bar between two ends on an axis, and the interval of its end, as an ``<svg>``."""
    low, high = sorted(place(v, axis) for v in ends)
    width = max(round(high - low, 2), 0.4)
    bar = f'<rect class="{kind}" x="{low}%" y="3" width="{width}%" height="14"/>'
    if interval:
        low, high = (place(v, axis) for v in interval)
        bar += f'<line class="whisker halo" x1="{low}%" x2="{high}%" y1="10" y2="10"/>'
        bar += f'<line class="whisker" x1="{low}%" x2="{high}%" y1="10" y2="10"/>'
    return f'<svg class="strip" aria-hidden="true">{bar}{_zero(axis)}</svg>'


def ticks(axis):
    """Draw the numbers of an axis: both ends and zero, as an ``<svg>`` element."""
    low, high, _ = axis
    marks = sorted({low, 0.0, high})
    texts = "".join(
        f'<text class="{_anchor(v, low, high)}" x="{place(v, axis)}%" y="11">{v:.4g}</text>'
        for v in marks
        if v in (low, high) or min(v - low, high - v) > 0.15 * (high - low)
    )
    return f'<svg class="ticks" aria-hidden="true">{texts}</svg>'


def place(value, axis):
    """Return where a value lies on an axis, in percent of the width; beyond its ends, the ends."""
    low, high, _ = axis
    fraction = min(max((value - low) / (high - low), 0.0), 1.0)
    return round(EDGE + (100 - 2 * EDGE) * fraction, 2)


def _zero(axis):
    """Draw the line of zero."""
    x = place(0.0, axis)
    return f'<line class="zero" x1="{x}%" x2="{x}%" y1="0" y2="20"/>'


def _band(band, axis):
    """Draw the shade of gaps that are too small to matter."""
    low, high = place(-band, axis), place(band, axis)
    return f'<rect class="band" x="{low}%" y="0" width="{round(high - low, 2)}%" height="20"/>'


def _anchor(value, low, high):
    """Return the class that keeps a number inside the picture."""
    return "start" if value == low else "end" if value == high else "middle"
