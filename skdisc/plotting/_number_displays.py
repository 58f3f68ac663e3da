"""Displays of gaps between numbers, such as pay: their parts, and quantiles of two groups."""

from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special
from sklearn.utils import check_consistent_length

from skdisc._results._audit_result import AuditResult
from skdisc._results._shared_values import MIN_CELL
from skdisc._stats._ranks import weighted_quantile, weighted_quantile_limits
from skdisc._utils._shared_sections import with_sections
from skdisc.plotting._cause_displays import _folded, _high, _places, group_with_gap
from skdisc.plotting._group_displays import _GREY, _LOWER, FROM_RESULT, _Display, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EXPLAINED, _REMAINING = "#b9a26a", "#b3261e"
_SHADES = ("#b3261e", _LOWER, "#4a7c59", "#7a5195", "#b8860b", _GREY)


class OaxacaDisplay(_Display):
    """Parts of a gap of means that add up to it, each with its interval."""

    @classmethod
    @with_sections(FROM_RESULT)
    def from_result(
        cls,
        result: AuditResult,
        *,
        group: str | None = None,
        show_people: bool = False,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw what each column accounts for, and what remains.

        Parameters
        ----------
        result : AuditResult
            Result of `OaxacaBlinder`.
        group : str or None, default=None
            A group of ``tables["parts"]``; None: the one with the largest gap.
        """
        result = shown(result, show_people)
        if not {"parts", "factors"} <= set(result.tables):
            raise ValueError("This plot shows results of OaxacaBlinder, which have parts of gaps.")
        parts, factors = result.tables["parts"], result.tables["factors"]
        gaps = parts[parts["part"] == "gap"].set_index("group")["estimate"]
        group = group_with_gap(group, gaps)
        columns = factors[(factors["group"] == group) & (factors["part"] == "explained")]
        order = columns["estimate"].abs().sort_values(ascending=False, kind="stable").index
        columns = columns.loc[order]
        columns = columns.assign(part="with " + columns["factor"].astype(str))
        of_group = parts[parts["group"] == group].set_index("part")
        remaining, gap = of_group.loc[["unexplained"]], of_group.loc[["gap"]]
        names = ["group", "part", "estimate", "ci_low", "ci_high"]
        several = [columns, remaining.assign(part="remains at equal columns")]
        several.append(gap.assign(part="the whole gap"))
        table = pd.concat([rows[names] for rows in several], ignore_index=True)
        start = table["estimate"].cumsum().shift(fill_value=0.0)
        start.iloc[-1] = 0.0  # the gap itself
        return cls(table.assign(start=start)).plot(ax)

    def _figure(self):
        return _high(self.table["part"])

    def _draw(self, ax):
        """Draw one bar per part where the last one ended, with the interval of its end."""
        positions, bottom = _places(self.table["part"])
        colors = [*[_EXPLAINED] * (len(positions) - 2), _REMAINING, _GREY]
        amount, start = self.table["estimate"].to_numpy(), self.table["start"].to_numpy()
        ax.barh(positions, amount, left=start, color=colors, height=0.7)
        low, high = (start + self.table[name].to_numpy() for name in ("ci_low", "ci_high"))
        ax.hlines(positions, low, high, color="white", linewidth=3.5)
        ax.hlines(positions, low, high, color="black", linewidth=1.5)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.margins(x=0.08)
        ax.set_yticks(positions, [_folded(part) for part in self.table["part"]], fontsize=8)
        ax.set_ylim(bottom, -0.7)
        ax.set_xlabel("parts of the difference of means, with intervals")
        ax.set_title(self.table["group"].iloc[0], fontsize=10, loc="left")


class QuantilesDisplay(_Display):
    """Quantiles of numbers, such as pay, in each group, with bands."""

    @classmethod
    def from_values(
        cls,
        y: ArrayLike,
        protected: ArrayLike,
        *,
        significance: float = 0.05,
        show_people: bool = False,
        ax: "Axes | None" = None,
    ) -> Self:
        r"""Draw the numbers that a share of each group does not exceed.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Numbers.
        protected : array-like of shape (n_samples,)
            The group of each; groups without a value are left out.
        significance : float, default=0.05
            One minus the level of each limit of Woodruff (1952).
        show_people : bool, default=False
            Whether quantiles with fewer than 10 people of the group beyond are drawn, too.
        ax : matplotlib Axes or None, default=None
            None stands for a new figure.

        Returns
        -------
        display
            With its axes in ``ax_``; ``table`` has group, quantile, value, ci_low and ci_high.

        Raises
        ------
        ValueError
            If a number is missing, or no group has enough people for a quantile.
        ImportError
            If matplotlib is not installed.
        """
        check_consistent_length(y, protected)
        values, groups = np.asarray(y, dtype=float).ravel(), pd.Series(np.asarray(protected))
        if not np.isfinite(values).all():
            n = int((~np.isfinite(values)).sum())
            raise ValueError(f"y has {n:,} missing or infinite numbers: leave these rows out.")
        z, rows = special.ndtri(1 - significance / 2), []
        for group, places in groups.groupby(groups, sort=True).indices.items():
            ordered, n = np.sort(values[places]), len(places)
            weight = np.ones(n)
            for quantile in np.arange(1, 20) / 20:
                if not show_people and n * min(quantile, 1 - quantile) < MIN_CELL:
                    continue
                value = weighted_quantile(ordered, weight, quantile)
                ends = weighted_quantile_limits(ordered, weight, quantile, n, z)
                rows.append((str(group), quantile, value, *ends))
        if not rows:
            raise ValueError(
                f"No group has {2 * MIN_CELL} people or more, so that no quantile is drawn; "
                "show_people=True draws them."
            )
        names = ["group", "quantile", "value", "ci_low", "ci_high"]
        return cls(pd.DataFrame(rows, columns=names)).plot(ax)

    def _draw(self, ax):
        """Draw one line and band per group."""
        for i, (group, rows) in enumerate(self.table.groupby("group", sort=True)):
            color = _SHADES[i % len(_SHADES)]
            band = rows[np.isfinite(rows[["ci_low", "ci_high"]]).all(axis=1)]
            ax.fill_between(
                100 * band["quantile"],
                band["ci_low"],
                band["ci_high"],
                color=color,
                alpha=0.2,
            )
            ax.plot(100 * rows["quantile"], rows["value"], color=color, label=group)
        ax.set_xlabel("% of the group have no more")
        ax.set_ylabel("value, with the range of each quantile")
        ax.legend()
