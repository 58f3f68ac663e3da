"""WorldsDisplay: distributions in the factual and in a counterfactual world."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from skdisc._results._audit_result import AuditResult
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._validation import of_numbers
from skdisc.plotting._axes import Plotted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = "tab:blue", "tab:orange"


class WorldsDisplay(Plotted):
    """Distribution of an outcome, or of an attribute, in the factual and a counterfactual world.

    Numbers are drawn as two histograms over the same bins, with their means; names and decisions
    as bars side by side.

    Parameters
    ----------
    factual, counterfactual : Series
        Values of the same people in both worlds.
    name : str
        Name of the outcome or attribute.
    title : str, default=""

    Attributes
    ----------
    ax_ : matplotlib Axes
        After `plot`.
    figure_ : matplotlib Figure
        After `plot`.

    Examples
    --------
    >>> display = WorldsDisplay(pd.Series([1.0, 2.0]), pd.Series([2.0, 3.0]), "grade")
    >>> display.difference
    -1.0
    """

    def __init__(
        self, factual: pd.Series, counterfactual: pd.Series, name: str, title: str = ""
    ) -> None:
        self.factual = factual
        self.counterfactual = counterfactual
        self.name = name
        self.title = title

    @property
    def difference(self) -> float:
        """Mean of factual minus counterfactual values; NaN if they are not numbers."""
        if not self._is_numeric():
            return float("nan")
        return float(np.mean(self.factual.to_numpy(float) - self.counterfactual.to_numpy(float)))

    @classmethod
    def from_result(
        cls,
        result: AuditResult,
        column: Hashable | None = None,
        *,
        group: dict | None = None,
        ax: "Axes | None" = None,
        bins: int = 40,
    ) -> Self:
        """Draw a result of `CounterfactualFairness`.

        Parameters
        ----------
        result : AuditResult
            Result with the tables ``factual`` and ``counterfactual``.
        column : hashable, default=None
            An attribute of X; None stands for the outcomes.
        group : dict, default=None
            Factual values by column, which select the people drawn; None stands for all people.
        ax : matplotlib Axes or None, default=None
        bins : int, default=40

        Returns
        -------
        WorldsDisplay

        Raises
        ------
        ValueError
            If the result has no such tables, a column does not exist, or the group is empty.
        """
        lacking = [t for t in ("factual", "counterfactual") if t not in result.tables]
        if lacking:
            raise ValueError(
                f"The {result.detector} result has no table {lacking[0]!r}; pass a result of "
                "CounterfactualFairness."
            )
        factual, counterfactual = result.tables["factual"], result.tables["counterfactual"]
        name = "outcome" if column is None else column
        columns = [name, *(group or {})]
        unknown = [c for c in columns if c not in factual.columns]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not a column of X: {list(factual.columns)!r}.")
        mask = np.ones(len(factual), dtype=bool)
        for key, value in (group or {}).items():
            mask &= (factual[key] == value).to_numpy()
        if not mask.any():
            raise ValueError(f"The group {group!r} is empty: no row of the result belongs to it.")
        group_name = " and ".join(f"{key} = {value!r}" for key, value in (group or {}).items())
        display = cls(
            factual.loc[mask, name], counterfactual.loc[mask, name], str(name), group_name
        )
        return display.plot(ax=ax, bins=bins)

    @with_sections(Plotted.plot.__doc__)
    def plot(self, ax: "Axes | None" = None, bins: int = 40) -> Self:
        """Draw both distributions.

        Parameters
        ----------
        bins : int, default=40
        """
        return self._plotted(ax, bins=bins)

    def _draw(self, ax, bins):
        names = "factual", "counterfactual"
        pair = self.factual, self.counterfactual
        values = pd.unique(pd.concat([p.astype(object) for p in pair]))
        if self._is_numeric() and len(values) > 2:
            edges = np.histogram_bin_edges(np.concatenate([p.to_numpy(float) for p in pair]), bins)
            for world, color, name in zip(pair, _COLORS, names, strict=True):
                ax.hist(world.to_numpy(float), edges, alpha=0.6, color=color, label=name)
                ax.axvline(world.mean(), color=color, linestyle="--")
            ax.set(xlabel=self.name, ylabel="people")
        else:
            values = sorted(values, key=str)
            for side, (world, color, name) in enumerate(zip(pair, _COLORS, names, strict=True)):
                shares = [np.mean((world == v).to_numpy()) for v in values]
                places = np.arange(len(values)) + 0.4 * (side - 0.5)
                ax.bar(places, shares, 0.4, color=color, label=name)
            ax.set_xticks(range(len(values)), [f"{v:g}" if _number(v) else str(v) for v in values])
            ax.set(xlabel=self.name, ylabel="share of people")
        gap = self.difference
        ax.set_title(self.title + ("" if np.isnan(gap) else f"   mean difference {gap:+z.3f}"))
        ax.legend()

    def _is_numeric(self):
        """Return True if the values of both worlds are numbers."""
        return all(of_numbers(s.dtype) for s in (self.factual, self.counterfactual))


def _number(value):
    """Return True for a number that is not a bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
