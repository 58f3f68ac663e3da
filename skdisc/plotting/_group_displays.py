"""Displays of groups: intervals, contributions, a lattice, effect against size."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from skdisc._results._audit_result import AuditResult
from skdisc._results._findings import GroupFindings
from skdisc._utils._inputs import check_count
from skdisc._utils._shared_sections import with_sections
from skdisc.plotting._axes import Plotted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HIGHER, _LOWER, _GREY = "#b3261e", "#1b6e9c", "#6b6b6b"
_MARKED = "#f6c445"


FROM_RESULT = """
    Parameters
    ----------
    result : AuditResult
    show_people : bool, default=False
        Whether groups of fewer than 10 people are drawn, too.
    ax : matplotlib Axes or None, default=None
        None stands for a new figure.

    Returns
    -------
    display
        With its axes in ``ax_``.

    Raises
    ------
    ValueError
        If the result does not have what is drawn, or a setting is not allowed.
    ImportError
        If matplotlib is not installed.
"""


@dataclass
class _Display(Plotted):
    """A table and its plot.

    Attributes
    ----------
    table : DataFrame
        The data of the plot.
    versus : str
        With whom groups are compared.
    ax_ : matplotlib Axes
        The axes of the plot; set by `plot`.
    """

    table: pd.DataFrame
    versus: str = "everyone else"


class ForestDisplay(_Display):
    """Forest plot: the effects of the groups found, with their intervals."""

    @classmethod
    @with_sections(FROM_RESULT)
    def from_result(
        cls,
        result: AuditResult,
        *,
        max_rows: int = 20,
        show_people: bool = False,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the first findings of an `AuditResult`.

        Parameters
        ----------
        result : AuditResult
            Result with groups.
        max_rows : int, default=20
            Maximal number of findings drawn.
        """
        columns = ["subject", "measure", "effect", "ci_low", "ci_high", "p_adjusted"]
        check_count("max_rows", max_rows)
        frame = _groups(result, show_people).to_frame()[columns].head(max_rows)
        significant = frame.pop("p_adjusted") <= result.significance
        return cls(frame.assign(significant=significant), result.versus).plot(ax)

    def _draw(self, ax):
        """Draw one line per group."""
        positions = np.arange(len(self.table))
        for y, row in zip(positions, self.table.itertuples(), strict=True):
            color = _color(row.effect) if row.significant else _GREY
            ax.plot([row.ci_low, row.ci_high], [y, y], color=color, linewidth=2)
            ax.plot(row.effect, y, "o", color=color)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(positions, self.table["subject"])
        ax.invert_yaxis()
        ax.set_xlabel(f"effect with interval, against\n{self.versus}")


class _OfFinding(_Display):
    """A display of one finding; a subclass has the `_name` of a table, and makes itself of it."""

    @classmethod
    @with_sections(FROM_RESULT)
    def from_result(
        cls,
        result: AuditResult,
        *,
        rank: int = 1,
        show_people: bool = False,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw one finding of a DivExplorer result with ``explain=True``.

        Parameters
        ----------
        rank : int, default=1
            Rank of the finding.
        """
        return cls._made_of(_of_rank(result, cls._name, rank, show_people)).plot(ax)


class WaterfallDisplay(_OfFinding):
    """Contribution of each condition of a finding to its divergence (Shapley values)."""

    _name = "shapley"

    @classmethod
    def _made_of(cls, contributions):
        sizes = contributions["contribution"].abs()
        order = sizes.sort_values(ascending=False, kind="stable").index
        contributions = contributions.loc[order, ["item", "contribution"]].reset_index(drop=True)
        ends = contributions["contribution"].cumsum()
        return cls(contributions.assign(start=ends - contributions["contribution"]))

    def _draw(self, ax):
        """Draw one bar per condition."""
        positions = np.arange(len(self.table))
        colors = [_color(v) for v in self.table["contribution"]]
        ax.barh(positions, self.table["contribution"], left=self.table["start"], color=colors)
        total = self.table["contribution"].sum()
        ax.axvline(0, color="black", linewidth=0.8)
        ax.axvline(total, color=_GREY, linestyle="--", linewidth=1)
        ax.set_yticks(positions, self.table["item"])
        ax.invert_yaxis()
        ax.locator_params(axis="x", nbins=6)
        ax.set_xlabel(f"contributions to a divergence of {total:+z.3f}")


class LatticeDisplay(_OfFinding):
    """All groups that contain a finding, from all rows down to it, with their divergences.

    A marked group has a corrective condition: with it, the divergence is smaller than without it.
    """

    _name = "lattice"

    @classmethod
    def _made_of(cls, groups):
        groups = groups[["subset", "group", "divergence"]]
        size = dict(zip(groups["subset"], groups["divergence"].abs(), strict=True))
        marked = [any(size[s] < size[t] for t in _below(s) if t) for s in groups["subset"]]
        groups = groups.assign(
            length=[int(s).bit_count() for s in groups["subset"]], corrective=marked
        )
        place = groups.groupby("length").cumcount() + 1
        width = groups.groupby("length")["subset"].transform("size") + 1
        return cls(groups.assign(x=place / width).reset_index(drop=True))

    def _draw(self, ax):
        """Draw one box per group and one line per edge."""
        place = {s: (x, -n) for s, x, n in self.table[["subset", "x", "length"]].to_numpy()}
        for s in self.table["subset"]:
            for t in _below(s):
                ax.plot(*zip(place[s], place[t], strict=True), color=_GREY, linewidth=0.8, zorder=0)
        for row in self.table.itertuples():
            face = _MARKED if row.corrective else "white"
            text = f"{row.group or 'all rows'}\n{row.divergence:+z.3f}"
            box = {"boxstyle": "round", "facecolor": face, "edgecolor": _color(row.divergence)}
            ax.text(row.x, -row.length, text, ha="center", va="center", fontsize=7, bbox=box)
        ax.set_xlim(0, 1)
        ax.set_ylim(-self.table["length"].max() - 0.5, 0.5)
        ax.set_axis_off()


class SizeEffectDisplay(_Display):
    """Effect of each group found against its number of people."""

    @classmethod
    @with_sections(FROM_RESULT)
    def from_result(
        cls, result: AuditResult, *, show_people: bool = False, ax: "Axes | None" = None
    ) -> Self:
        """Draw the findings of an `AuditResult`.

        Parameters
        ----------
        result : AuditResult
            Result with groups.
        """
        frame = _groups(result, show_people).to_frame()[
            ["subject", "support", "effect", "p_adjusted"]
        ]
        significant = frame.pop("p_adjusted") <= result.significance
        return cls(frame.assign(significant=significant), result.versus).plot(ax)

    def _draw(self, ax):
        """Draw one point per group."""
        for is_significant, label in ((True, "significant"), (False, "not significant")):
            points = self.table[self.table["significant"] == is_significant]
            color = _HIGHER if is_significant else _GREY
            ax.scatter(points["support"], points["effect"], color=color, label=label, alpha=0.8)
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_xlabel("people in the group")
        ax.set_ylabel(f"effect, against\n{self.versus}")
        ax.legend()


def _color(value):
    """Return the color of a positive or a negative effect."""
    return _HIGHER if value > 0 else _LOWER


def _below(subset):
    """Return the subsets with one member fewer, as bit masks."""
    subset = int(subset)
    return [subset & ~(1 << i) for i in range(subset.bit_length()) if subset >> i & 1]


def shown(result, show_people):
    """Return the result as a picture may show it: without groups of few people by default."""
    return result if show_people else result.without_people()


def _groups(result, show_people):
    """Return the result to draw if its findings are groups, else raise ValueError."""
    if not isinstance(result.findings, GroupFindings):
        raise ValueError(
            f"This plot shows groups, but the findings of {result.detector} are individual cases."
        )
    return shown(result, show_people)


def _of_rank(result, table, rank, show_people):
    """Return the rows of one finding in a table that ``explain=True`` adds."""
    if table not in result.tables:
        raise ValueError(
            f"The result has no table {table!r}. Fit DivExplorer with explain=True for this plot."
        )
    visible = shown(result, show_people)
    rows = visible.tables[table]
    rows = rows[rows["rank"] == rank]
    if not len(rows):
        n_hidden = len(result) - len(visible)
        hidden = (
            f"; {n_hidden} more are about fewer than 10 people (show_people=True)"
            if n_hidden
            else ""
        )
        raise ValueError(
            f"There is no finding of rank {rank}; the result has {len(visible)}{hidden}."
        )
    return rows
