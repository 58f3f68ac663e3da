"""EffectivenessCostDisplay: effectiveness-cost curves of the groups of a subgroup."""

from typing import TYPE_CHECKING, Self

import pandas as pd

from skdisc._results._audit_result import AuditResult
from skdisc._utils._shared_sections import with_sections
from skdisc.plotting._axes import Plotted, wrapped
from skdisc.plotting._group_displays import FROM_RESULT, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class EffectivenessCostDisplay(Plotted):
    """Share of each group that actions help, against the cost of the actions.

    Parameters
    ----------
    curves : DataFrame
        One row per group and cost, with columns ``group``, ``cost``, ``micro`` and ``macro``.
    title : str, default=""
        The subgroup.

    Attributes
    ----------
    ax_ : matplotlib Axes
        After `plot`.
    figure_ : matplotlib Figure
        After `plot`.
    lines_ : list of matplotlib Line2D
        One per group.
    """

    def __init__(self, curves: pd.DataFrame, title: str = "") -> None:
        self.curves, self.title = curves, title

    @classmethod
    @with_sections(FROM_RESULT)
    def from_result(
        cls,
        result: AuditResult,
        rank: int = 1,
        viewpoint: str = "micro",
        ax: "Axes | None" = None,
        *,
        show_people: bool = False,
    ) -> Self:
        """Draw one finding of `FACTS`.

        Parameters
        ----------
        rank : int, default=1
            Rank of the finding.
        viewpoint : {"micro", "macro"}, default="micro"
            Whether each person takes the action best for them ("micro"), or all members of a group
            take the same action ("macro").
        """
        result = shown(result, show_people)
        curves = result.tables.get("curves")
        if curves is None or not (curves["rank"] == rank).any():
            raise ValueError(
                f"The {result.detector} result has no effectiveness-cost curves of a finding of "
                f"rank {rank}; it has {len(result)} findings. Only FACTS has such curves."
            )
        rows = result.tables["counterfactuals"]
        title = rows.loc[rows["rank"] == rank, "subgroup"].iloc[0]
        return cls(curves[curves["rank"] == rank], title).plot(viewpoint, ax=ax)

    @with_sections(Plotted.plot.__doc__)
    def plot(self, viewpoint: str = "micro", ax: "Axes | None" = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        viewpoint : {"micro", "macro"}, default="micro"

        Raises
        ------
        ValueError
            If `viewpoint` is unknown.
        """
        if viewpoint not in ("micro", "macro"):
            raise ValueError(f"viewpoint must be 'micro' or 'macro', got {viewpoint!r}.")
        return self._plotted(ax, viewpoint=viewpoint)

    def _draw(self, ax, viewpoint):
        last = 1.05 * self.curves["cost"].max()  # so that what the largest cost achieves is seen
        self.lines_ = []
        for group, curve in self.curves.groupby("group", sort=False):
            cost, share = curve["cost"].tolist(), curve[viewpoint].tolist()
            self.lines_ += ax.step(
                [0.0, *cost, last], [0.0, *share, share[-1]], where="post", label=wrapped(group)
            )
        ax.set(xlabel="cost of recourse", ylabel=f"effectiveness ({viewpoint})")
        ax.set_title(wrapped(self.title))
        ax.set_ylim(0, 1.02)
        ax.legend()
