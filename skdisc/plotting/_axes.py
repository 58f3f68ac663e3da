"""Axes to draw on: those that the user passed, or new ones."""

from skdisc._utils._optional import require


def pyplot():
    """Import ``matplotlib.pyplot``, or raise ImportError with the extra to install."""
    return require("matplotlib.pyplot", extra="plot", purpose="A plot")


def axes_or_new(ax, **figure):
    """Return `ax`, or the axes of a new figure made with the given settings."""
    return pyplot().subplots(**figure)[1] if ax is None else ax
