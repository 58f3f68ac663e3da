"""Display of a monitor: the wealth of each group, and its gap with confidence sequence."""

import math
from typing import TYPE_CHECKING, Self

import numpy as np

from skdisc._results._audit_result import AuditResult
from skdisc._utils._inputs import check_count
from skdisc._utils._shared_sections import with_sections
from skdisc.plotting._axes import Plotted, axes_or_new
from skdisc.plotting._group_displays import _GREY, FROM_RESULT, _Display, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = ("#b3261e", "#1b6e9c", "#b9a26a", "#4f7d4a", "#7a5195", "#8a5a44")


class MonitorDisplay(_Display):
    """Course of a monitor over its batches: wealths above, gaps of the same groups below."""

    @classmethod
    @with_sections(FROM_RESULT)
    def from_result(
        cls,
        result: AuditResult,
        *,
        max_groups: int = 4,
        show_people: bool = False,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the groups ranked first, over the number of people.

        Passed axes show the wealths, without gaps; a new figure has both.

        Parameters
        ----------
        result : AuditResult
            Result of `DisparityMonitor`.
        max_groups : int, default=4
            Largest number of groups.
        """
        if "history" not in result.tables:
            raise ValueError(
                f"A {result.detector} result has no table 'history': pass that of a "
                "DisparityMonitor."
            )
        check_count("max_groups", max_groups, 1)
        result = shown(result, show_people)
        history = result.tables["history"]
        names = [str(f.subject) for f in result.findings][:max_groups]
        display = cls(history[history["group"].isin([*names, "all groups"])])
        display.names = names
        display.level = result.significance
        display.is_of_numbers = result.params.get("output") == "value"
        return display.plot(ax)

    @with_sections(Plotted.plot.__doc__)
    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the table.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes for the wealths, without gaps; None: a new figure with both.
        """
        if ax is not None:
            self.ax_ = ax
            self._draw_wealth(ax)
            return self
        axes = axes_or_new(None, nrows=2, sharex=True, figsize=(7, 6), layout="constrained")
        self.ax_ = axes[0]
        self._draw_wealth(axes[0])
        axes[0].set_xlabel("")
        self._draw_gaps(axes[1])
        return self

    def _draw_wealth(self, ax):
        for name, color in self._colored({"all groups": _GREY}):
            course = self.table[self.table["group"] == name]
            ax.plot(course["n"], course["log_wealth"] / math.log(10), color=color, label=name)
        alarm = -math.log10(self.level)
        ax.axhline(alarm, color="black", linestyle="--", linewidth=1)
        ax.annotate(
            f"alarm of all groups ({1 / self.level:g})",
            (0.99, alarm),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize="small",
        )
        ax.set_ylabel("wealth (power of ten)")
        ax.set_xlabel("people")
        ax.legend(fontsize="small", loc="best")

    def _draw_gaps(self, ax):
        for name, color in self._colored({}):
            course = self.table[self.table["group"] == name]
            low, high = course["ci_low"], course["ci_high"]
            ax.plot(course["n"], course["effect"], color=color)
            ax.fill_between(course["n"], low, high, color=color, alpha=0.15)
        ax.axhline(0, color="black", linewidth=1)
        ends = self.table["effect"].abs().max()
        if not self.is_of_numbers:
            limit = 1.0 if not np.isfinite(ends) else min(1.0, max(0.1, 2.5 * ends))
            ax.set_ylim(-limit, limit)
        elif ends > 0:
            ax.set_ylim(-2.5 * ends, 2.5 * ends)
        ax.set_ylabel(f"gap, {100 * (1 - self.level):g} % confidence sequence")
        ax.set_xlabel("people")

    def _colored(self, other_colors):
        """Return names of groups with their colors."""
        group_colors = {n: _COLORS[i % len(_COLORS)] for i, n in enumerate(self.names)}
        return list((other_colors | group_colors).items())
