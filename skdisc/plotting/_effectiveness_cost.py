"""The effectiveness-cost curves of the groups of a subgroup."""

from skdisc._utils._optional import require


class EffectivenessCostDisplay:
    """Draw what share of each group actions help, against what they cost.

    Parameters
    ----------
    curves : DataFrame
        ``group``, ``cost``, ``micro``, ``macro``: one row per group and cost.
    title : str
        The subgroup.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After `plot`.
    lines_ : list of matplotlib Line2D
        One per group.
    """

    def __init__(self, curves, title=""):
        self.curves, self.title = curves, title

    @classmethod
    def from_result(cls, result, rank=1, viewpoint="micro", ax=None):
        """Draw one finding of `FACTS`.

        Parameters
        ----------
        result : AuditResult
        rank : int, default=1
            Of the finding.
        viewpoint : {"micro", "macro"}, default="micro"
            Each person's own action, or the best one for all of a group.
        ax : matplotlib Axes or None, default=None

        Returns
        -------
        EffectivenessCostDisplay

        Raises
        ------
        ValueError
            If the result has no such finding, or no curves.
        """
        curves = result.tables.get("curves")
        if curves is None or not (curves["rank"] == rank).any():
            raise ValueError(
                f"The {result.detector} result has no effectiveness-cost curves of a finding of "
                f"rank {rank}; it has {len(result)} findings. Only FACTS has such curves."
            )
        rows = result.tables["counterfactuals"]
        title = rows.loc[rows["rank"] == rank, "subgroup"].iloc[0]
        return cls(curves[curves["rank"] == rank], title).plot(viewpoint, ax=ax)

    def plot(self, viewpoint="micro", ax=None):
        """Draw the curves.

        Parameters
        ----------
        viewpoint : {"micro", "macro"}, default="micro"
        ax : matplotlib Axes or None, default=None
            None: a new figure.

        Returns
        -------
        self
        """
        if viewpoint not in ("micro", "macro"):
            raise ValueError(f"viewpoint must be 'micro' or 'macro', got {viewpoint!r}.")
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plot", purpose="Drawing")
            ax = pyplot.subplots()[1]
        last = self.curves["cost"].max()
        self.lines_ = []
        for group, own in self.curves.groupby("group", sort=False):
            cost, share = own["cost"].tolist(), own[viewpoint].tolist()
            ends = [0.0, *cost, last], [0.0, *share, share[-1]]
            self.lines_ += ax.step(*ends, where="post", label=str(group))
        ax.set(xlabel="cost of recourse", ylabel=f"effectiveness ({viewpoint})", title=self.title)
        ax.set_ylim(0, 1.02)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
