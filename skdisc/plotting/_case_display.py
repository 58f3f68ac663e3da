"""Display of a case: a person beside their counterpart, column by column."""

from typing import TYPE_CHECKING, Self

import pandas as pd

from skdisc._results._audit_result import AuditResult
from skdisc._results._case import Case
from skdisc._utils._validation import plain
from skdisc.plotting._group_displays import _GREY, _HIGHER, _LOWER, _Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CHANGED = "#f6e3b0"


class CaseDisplay(_Display):
    """One person beside their counterpart: each column's values, and both outcomes."""

    @classmethod
    def from_result(cls, result: AuditResult, *, case: int = 0, ax: "Axes | None" = None) -> Self:
        """Draw one case of an `AuditResult`.

        Parameters
        ----------
        result : AuditResult
            Result with individual cases.
        case : int, default=0
            Position of the finding in the result.
        ax : matplotlib Axes or None, default=None

        Returns
        -------
        CaseDisplay

        Raises
        ------
        ValueError
            If the result has no such case.
        """
        subjects = [finding.subject for finding in result]
        if not -len(subjects) <= case < len(subjects) or not isinstance(subjects[case], Case):
            raise ValueError(
                f"No case at position {case}: this {result.detector} result has "
                f"{sum(isinstance(subject, Case) for subject in subjects)} individual cases."
            )
        drawn_case = subjects[case]
        rows = {c: (drawn_case.original[c], drawn_case.altered[c]) for c in drawn_case.original}
        rows["outcome"] = (drawn_case.outcome, drawn_case.altered_outcome)
        table = pd.DataFrame(rows, index=["person", "counterpart"], dtype=object).T
        table["differs"] = [*(c in drawn_case.changed for c in drawn_case.original), True]
        return cls(table).plot(ax)

    def _figure(self):
        return {"figsize": (6.4, 0.42 * len(self.table) + 0.9)}

    def _draw(self, ax):
        last, roles = len(self.table) - 1, ("person", "counterpart")
        for i, (name, row) in enumerate(self.table.iterrows()):
            if row["differs"] and i < last:
                ax.axhspan(i - 0.5, i + 0.5, color=_CHANGED, lw=0)
            weight = "bold" if row["differs"] else "normal"
            ax.text(0.02, i, name, va="center", color="black" if i == last else _GREY)
            for x, role, other_role in ((0.4, *roles), (0.75, *roles[::-1])):
                color = "black"
                if i == last:  # the outcomes
                    color = _LOWER if row[role] > row[other_role] else _HIGHER
                ax.text(x, i, _shown(row[role]), va="center", weight=weight, color=color)
        for x, role in zip((0.4, 0.75), roles, strict=True):
            ax.text(x, -0.95, role, va="center", weight="bold")
        ax.axhline(last - 0.5, color=_GREY, lw=0.8)
        ax.set(xlim=(0, 1), ylim=(last + 0.6, -1.5))
        ax.set_axis_off()


def _shown(value):
    """Return a value as short text."""
    if plain(value) is None:
        return "missing"
    text = f"{value:,.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else text[:23] + "…"
