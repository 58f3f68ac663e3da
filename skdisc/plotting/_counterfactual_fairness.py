"""WorldsDisplay: how outcomes, or one attribute, are spread in the factual and another world."""

import numpy as np
import pandas as pd

from skdisc._utils._optional import require
from skdisc._utils._scalars import of_numbers

_COLOURS = "tab:blue", "tab:orange"


class WorldsDisplay:
    """Two distributions of the same people: as they are, and as they would have been.

    Numbers are drawn as two histograms over the same bins, with their means; names and decisions
    as bars side by side.

    Parameters
    ----------
    factual, counterfactual : Series
        The same people's values in both worlds.
    name : str
        What they are values of.
    title : str, default=""

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> display = WorldsDisplay(pd.Series([1.0, 2.0]), pd.Series([2.0, 3.0]), "grade")
    >>> display.difference
    -1.0
    """

    def __init__(self, factual, counterfactual, name, title=""):
        self.factual = factual
        self.counterfactual = counterfactual
        self.name = name
        self.title = title

    @property
    def difference(self):
        """Mean of the factual minus the counterfactual values; NaN where they are no numbers."""
        if not self._is_numeric():
            return float("nan")
        return float(np.mean(self.factual.to_numpy(float) - self.counterfactual.to_numpy(float)))

    @classmethod
    def from_result(cls, result, column=None, *, group=None, ax=None, bins=40):
        """Draw what `CounterfactualFairness` found.

        Parameters
        ----------
        result : AuditResult
            With the tables ``factual`` and ``counterfactual``.
        column : hashable, default=None
            An attribute of X; by default the outcomes.
        group : dict, default=None
            The people drawn, by column and factual value; by default everybody.
        ax : Axes, default=None
        bins : int, default=40

        Returns
        -------
        WorldsDisplay
        """
        lacking = [t for t in ("factual", "counterfactual") if t not in result.tables]
        if lacking:
            raise ValueError(
                f"The {result.detector} result has no table {lacking[0]!r}; give one of "
                "CounterfactualFairness."
            )
        factual, other = result.tables["factual"], result.tables["counterfactual"]
        name = "outcome" if column is None else column
        wanted = [name, *(group or {})]
        unknown = [c for c in wanted if c not in factual.columns]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no column of X: {list(factual.columns)!r}.")
        mask = np.ones(len(factual), dtype=bool)
        for key, value in (group or {}).items():
            mask &= (factual[key] == value).to_numpy()
        if not mask.any():
            raise ValueError(f"Nobody in the result is in the group {group!r}.")
        who = " and ".join(f"{key} = {value!r}" for key, value in (group or {}).items())
        display = cls(factual.loc[mask, name], other.loc[mask, name], str(name), who)
        return display.plot(ax=ax, bins=bins)

    def plot(self, ax=None, bins=40):
        """Draw on `ax`, or on new axes, and return the display."""
        if ax is None:
            plt = require("matplotlib.pyplot", extra="plot", purpose="A picture")
            _, ax = plt.subplots()
        names = "factual", "counterfactual"
        pair = self.factual, self.counterfactual
        values = pd.unique(pd.concat([p.astype(object) for p in pair]))
        if self._is_numeric() and len(values) > 2:
            edges = np.histogram_bin_edges(np.concatenate([p.to_numpy(float) for p in pair]), bins)
            for of, colour, name in zip(pair, _COLOURS, names, strict=True):
                ax.hist(of.to_numpy(float), edges, alpha=0.6, color=colour, label=name)
                ax.axvline(of.mean(), color=colour, linestyle="--")
            ax.set(xlabel=self.name, ylabel="people")
        else:
            values = sorted(values, key=str)
            for side, (of, colour, name) in enumerate(zip(pair, _COLOURS, names, strict=True)):
                shares = [np.mean((of == v).to_numpy()) for v in values]
                places = np.arange(len(values)) + 0.4 * (side - 0.5)
                ax.bar(places, shares, 0.4, color=colour, label=name)
            ax.set_xticks(range(len(values)), [f"{v:g}" if _number(v) else str(v) for v in values])
            ax.set(xlabel=self.name, ylabel="share of people")
        gap = self.difference
        ax.set_title(self.title + ("" if np.isnan(gap) else f"   mean difference {gap:+.3f}"))
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _is_numeric(self):
        return all(of_numbers(s.dtype) for s in (self.factual, self.counterfactual))


def _number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)
