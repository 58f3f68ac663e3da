"""Pictures of a result about groups: intervals, contributions, a lattice, size against effect."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc._results._findings import GroupFindings
from skdisc._utils._optional import require

_HIGHER, _LOWER, _DULL = "#b3261e", "#1b6e9c", "#8a8a8a"
_MARKED = "#f6c445"


@dataclass
class _Display:
    """A table and the picture of it.

    Attributes
    ----------
    table : DataFrame
        What is drawn.
    ax_ : matplotlib Axes
        Where it is drawn; set by `plot`.
    """

    table: pd.DataFrame

    def plot(self, ax=None):
        """Draw on `ax`, or on a figure of its own; return self."""
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plot", purpose="A picture")
            _, ax = pyplot.subplots()
        self.ax_ = ax
        self._draw(ax)
        return self


class ForestDisplay(_Display):
    """Effects of the groups found, with their intervals, one below the other."""

    @classmethod
    def from_result(cls, result, *, max_rows=20, ax=None):
        """Draw the first findings of an `AuditResult`.

        Parameters
        ----------
        result : AuditResult
            About groups.
        max_rows : int, default=20
        ax : matplotlib Axes, optional

        Returns
        -------
        ForestDisplay
        """
        columns = ["subject", "measure", "effect", "ci_low", "ci_high", "p_adjusted"]
        frame = _groups(result).to_frame()[columns].head(max_rows)
        significant = frame.pop("p_adjusted") <= result.significance
        return cls(frame.assign(significant=significant)).plot(ax)

    def _draw(self, ax):
        at = np.arange(len(self.table))
        for y, row in zip(at, self.table.itertuples(), strict=True):
            color = _color(row.effect) if row.significant else _DULL
            ax.plot([row.ci_low, row.ci_high], [y, y], color=color, linewidth=2)
            ax.plot(row.effect, y, "o", color=color)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(at, self.table["subject"])
        ax.invert_yaxis()
        ax.set_xlabel("effect: group minus everyone, with interval")


class WaterfallDisplay(_Display):
    """What each condition of one finding contributes to its divergence (Shapley values)."""

    @classmethod
    def from_result(cls, result, *, rank=1, ax=None):
        """Draw one finding of a DivExplorer result with ``explain=True``.

        Parameters
        ----------
        result : AuditResult
        rank : int, default=1
            Which finding.
        ax : matplotlib Axes, optional

        Returns
        -------
        WaterfallDisplay
        """
        own = _of_rank(result, "shapley", rank)
        order = own["contribution"].abs().sort_values(ascending=False, kind="stable").index
        own = own.loc[order, ["item", "contribution"]].reset_index(drop=True)
        ends = own["contribution"].cumsum()
        return cls(own.assign(start=ends - own["contribution"])).plot(ax)

    def _draw(self, ax):
        at = np.arange(len(self.table))
        colors = [_color(v) for v in self.table["contribution"]]
        ax.barh(at, self.table["contribution"], left=self.table["start"], color=colors)
        total = self.table["contribution"].sum()
        ax.axvline(0, color="black", linewidth=0.8)
        ax.axvline(total, color=_DULL, linestyle="--", linewidth=1)
        ax.set_yticks(at, self.table["item"])
        ax.invert_yaxis()
        ax.set_xlabel(f"contributions to a divergence of {total:+.3f}")


class LatticeDisplay(_Display):
    """All groups that contain one finding, down to everyone, with their divergences.

    A marked group has a condition that brings the rate nearer to everyone's than the group has it
    without that condition.
    """

    @classmethod
    def from_result(cls, result, *, rank=1, ax=None):
        """Draw one finding of a DivExplorer result with ``explain=True``.

        Parameters
        ----------
        result : AuditResult
        rank : int, default=1
            Which finding.
        ax : matplotlib Axes, optional

        Returns
        -------
        LatticeDisplay
        """
        own = _of_rank(result, "lattice", rank)[["subset", "group", "divergence"]]
        size = dict(zip(own["subset"], own["divergence"].abs(), strict=True))
        marked = [any(size[s] < size[t] for t in _below(s) if t) for s in own["subset"]]
        own = own.assign(length=[int(s).bit_count() for s in own["subset"]], corrective=marked)
        place = own.groupby("length").cumcount() + 1
        width = own.groupby("length")["subset"].transform("size") + 1
        return cls(own.assign(x=place / width).reset_index(drop=True)).plot(ax)

    def _draw(self, ax):
        place = {s: (x, -n) for s, x, n in self.table[["subset", "x", "length"]].to_numpy()}
        for s in self.table["subset"]:
            for t in _below(s):
                ax.plot(*zip(place[s], place[t], strict=True), color=_DULL, linewidth=0.8, zorder=0)
        for row in self.table.itertuples():
            face = _MARKED if row.corrective else "white"
            text = f"{row.group or 'everyone'}\n{row.divergence:+.3f}"
            box = {"boxstyle": "round", "facecolor": face, "edgecolor": _color(row.divergence)}
            ax.text(row.x, -row.length, text, ha="center", va="center", fontsize=7, bbox=box)
        ax.set_xlim(0, 1)
        ax.set_ylim(-self.table["length"].max() - 0.5, 0.5)
        ax.set_axis_off()


class SizeEffectDisplay(_Display):
    """Number of people of each group found against its effect."""

    @classmethod
    def from_result(cls, result, *, ax=None):
        """Draw the findings of an `AuditResult`.

        Parameters
        ----------
        result : AuditResult
            About groups.
        ax : matplotlib Axes, optional

        Returns
        -------
        SizeEffectDisplay
        """
        frame = _groups(result).to_frame()[["subject", "support", "effect", "p_adjusted"]]
        significant = frame.pop("p_adjusted") <= result.significance
        return cls(frame.assign(significant=significant)).plot(ax)

    def _draw(self, ax):
        for yes, label in ((True, "significant"), (False, "not significant")):
            own = self.table[self.table["significant"] == yes]
            color = _HIGHER if yes else _DULL
            ax.scatter(own["support"], own["effect"], color=color, label=label, alpha=0.8)
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_xlabel("people in the group")
        ax.set_ylabel("effect: group minus everyone")
        ax.legend()


def _color(value):
    return _HIGHER if value > 0 else _LOWER


def _below(subset):
    """Return the subsets with one member less, as bit masks."""
    subset = int(subset)
    return [subset & ~(1 << i) for i in range(subset.bit_length()) if subset >> i & 1]


def _groups(result):
    if not isinstance(result.findings, GroupFindings):
        raise ValueError(
            f"This picture is of groups, and a {result.detector} result has individual cases."
        )
    return result


def _of_rank(result, table, rank):
    """Return the rows of one finding in a table that DivExplorer adds when asked to explain."""
    if table not in result.tables:
        raise ValueError(
            f"The result has no table {table!r}: fit DivExplorer with explain=True to draw this."
        )
    own = result.tables[table]
    own = own[own["rank"] == rank]
    if not len(own):
        raise ValueError(f"rank={rank} is none of the findings, of which there are {len(result)}.")
    return own
