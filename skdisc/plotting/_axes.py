"""Axes to draw on: those that the user passed, or new ones."""

from textwrap import fill

from skdisc._utils._optional import require

ON_AXES = """
    Parameters
    ----------
    ax : matplotlib Axes or None, default=None
        None stands for a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
"""


def pyplot():
    """Import ``matplotlib.pyplot``, or raise ImportError with the extra to install."""
    return require("matplotlib.pyplot", extra="plot", purpose="A plot")


def axes_or_new(ax, **figure):
    """Return `ax`, or the axes of a new figure made with the given settings."""
    return pyplot().subplots(**({"layout": "constrained"} | figure))[1] if ax is None else ax


def wrapped(text, width=60):
    """Return text in lines of at most `width` characters, so that a picture does not cut it off."""
    return fill(str(text), width)
