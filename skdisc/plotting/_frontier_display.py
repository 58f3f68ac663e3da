"""FrontierDisplay: score and gap of all models that a search for alternatives tried."""

from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from skdisc.plotting._axes import Plotted, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FrontierDisplay(Plotted):
    """Score against largest gap of the present model and of each candidate.

    Parameters
    ----------
    candidates : DataFrame
        One row per model, the present one first, with columns ``name``, ``score``, ``gap`` and
        ``shown``: whether it is shown to be an alternative.
    margin : float
        By how much the score may be worse.

    Attributes
    ----------
    ax_ : matplotlib Axes
        After `plot`.
    figure_ : matplotlib Figure
        After `plot`.

    Examples
    --------
    >>> models = {"name": ["present", "other"], "score": [0.8, 0.79], "gap": [0.2, 0.1]}
    >>> display = FrontierDisplay(pd.DataFrame(models).assign(shown=[False, True]), margin=0.02)
    >>> display.plot().ax_.get_xlabel()
    'largest gap'
    """

    def __init__(self, candidates: pd.DataFrame, margin: float) -> None:
        self.candidates, self.margin = candidates, margin

    @classmethod
    def from_report(cls, report: Any, ax: "Axes | None" = None) -> Self:
        """Draw what an `AlternativeSearch` tried, on the people of the choice.

        Parameters
        ----------
        report : AlternativeReport
        ax : matplotlib Axes or None, default=None
            None stands for a new figure.

        Returns
        -------
        FrontierDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        margin = report.document["settings"]["margin"]
        return cls(report.to_frame("candidates"), margin).plot(ax)

    def _draw(self, ax):
        """Draw the models, and the score of the present one less the margin."""
        table = self.candidates.astype({"score": float, "gap": float, "shown": bool})
        present, candidates = table.iloc[0], table.iloc[1:]
        for shown, label in ((False, "not shown"), (True, "shown")):
            rows = candidates[candidates["shown"] == shown]
            if len(rows):
                face = None if shown else "none"
                ax.scatter(
                    rows["gap"], rows["score"], facecolors=face, edgecolors="C0", label=label
                )
        for row in candidates[candidates["shown"]].itertuples():
            ax.annotate(wrapped(row.name, 30), (row.gap, row.score), fontsize="small")
        ax.scatter(present["gap"], present["score"], marker="s", color="C3", label="present model")
        ax.axhline(present["score"] - self.margin, linestyle="--", color="gray", label="margin")
        ax.set(xlabel="largest gap", ylabel="score")
        ax.legend()
