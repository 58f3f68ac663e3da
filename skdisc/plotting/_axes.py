"""Axes to draw on: those that the user passed, or new ones."""

from textwrap import fill
from typing import TYPE_CHECKING, Self

from skdisc._utils._optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


class Plotted:
    """What can be drawn; a subclass has ``_draw(ax)``, which may take settings of `plot`."""

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None stands for a new figure.

        Returns
        -------
        self

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return self._plotted(ax)

    def _plotted(self, ax, **settings):
        self.ax_ = axes_or_new(ax, **self._figure())
        self.figure_ = self.ax_.figure
        self._draw(self.ax_, **settings)
        return self

    def _figure(self):
        """Return the settings of a new figure."""
        return {}


def pyplot():
    """Import ``matplotlib.pyplot``, or raise ImportError with the extra to install."""
    return require("matplotlib.pyplot", extra="plot", purpose="A plot")


def axes_or_new(ax, **figure):
    """Return `ax`, or the axes of a new figure made with the given settings."""
    return pyplot().subplots(**({"layout": "constrained"} | figure))[1] if ax is None else ax


def wrapped(text, width=60):
    """Return text in lines of at most `width` characters, so that a picture does not cut it off."""
    return fill(str(text), width)
