"""Displays of a pursuit: what a gap is made of, and the shadows of each cause."""

import textwrap
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from skdisc._results._audit_result import AuditResult
from skdisc._utils._inputs import check_count
from skdisc._utils._shared_sections import with_sections
from skdisc.plotting._group_displays import (
    _GREY,
    _HIGHER,
    _LOWER,
    FROM_RESULT,
    _color,
    _Display,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_THROUGH = "#b9a26a"
_LINE = 34  # characters of a line of a name
_SMALL = 0.05  # share of the largest part below which columns are drawn together
_ROW, _WIDTH = 0.34, 6.4  # inches


class GapDisplay(_Display):
    """Waterfall of a gap: what runs through legitimate columns, and what remains at equal ones."""

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
        """Draw the gap between one protected group and all others.

        Parameters
        ----------
        result : AuditResult
            Result of `DisparityPursuit`.
        group : str or None, default=None
            A group of ``tables["gaps"]``; None: the one with the largest gap.
        """
        result = shown(result, show_people)
        gaps = _table(result, "gaps")
        amounts = gaps[gaps["kind"] == "gap"].set_index("group")["amount"]
        gap_rows = gaps[gaps["group"] == group_with_gap(group, amounts)]
        return cls(_steps(gap_rows)).plot(ax)

    def _figure(self):
        return _high(self.table["part"])

    def _draw(self, ax):
        """Draw one bar per part, and the gap below them."""
        positions, ends = _places(self.table["part"])
        colors = [
            _THROUGH if kind == "column" else _color(amount) if kind == "equal" else _GREY
            for kind, amount in self.table[["kind", "amount"]].to_numpy()
        ]
        ax.barh(positions, self.table["amount"], left=self.table["start"], color=colors, height=0.8)
        stops = (self.table["start"] + self.table["amount"]).to_numpy()
        for y, nxt, x in zip(positions[:-1], positions[1:], stops[:-1], strict=True):
            ax.plot([x, x], [y, nxt], color="black", linewidth=0.6)
        for y, amount, start in zip(
            positions, self.table["amount"], self.table["start"], strict=True
        ):
            ax.annotate(
                f"{amount:+z.3f}",
                (max(start, start + amount), y),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        ax.axvline(0, color="black", linewidth=0.8)
        ax.use_sticky_edges = False  # of bars, beside which numbers stand
        ax.margins(x=0.16)
        ax.set_yticks(positions, [_folded(part) for part in self.table["part"]], fontsize=8)
        ax.set_ylim(ends, -0.7)
        ax.set_xlabel("difference from all others")
        ax.set_title(self.table["group"].iloc[0], fontsize=10, loc="left")


class ShadowsDisplay(_Display):
    """Below each cause its shadows: their effects alone, and beside all causes."""

    @classmethod
    @with_sections(FROM_RESULT)
    def from_result(
        cls,
        result: AuditResult,
        *,
        max_rows: int = 5,
        show_people: bool = False,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the causes and the strongest shadows of each.

        Parameters
        ----------
        result : AuditResult
            Result of `DisparityPursuit`.
        max_rows : int, default=5
            Maximal number of shadows drawn below each cause.
        """
        check_count("max_rows", max_rows)
        result = shown(result, show_people)
        shadows, causes = _table(result, "shadows"), result.to_frame()
        if not len(causes):
            raise ValueError("The result has no causes, so there are no shadows to draw.")
        parts = []
        for k, cause in enumerate(causes.itertuples()):
            shadows_of_cause = shadows[shadows["finding"] == k]
            is_drawn = np.isfinite(shadows_of_cause["effect_beside"])
            about = {"finding": k, "n_shadows": len(shadows_of_cause), "is_cause": True}
            about |= {"group": str(cause.subject), "alone": np.nan, "beside": cause.effect}
            parts.append(pd.DataFrame([about]))
            drawn = shadows_of_cause[is_drawn].head(max_rows)
            shadow_rows = {"group": drawn["group"], "alone": drawn["effect_alone"], "n_shadows": 0}
            shadow_rows |= {"beside": drawn["effect_beside"], "finding": k, "is_cause": False}
            parts.append(pd.DataFrame(shadow_rows))
        return cls(pd.concat([p for p in parts if len(p)], ignore_index=True)).plot(ax)

    def _figure(self):
        return _high(self.table["group"])

    def _draw(self, ax):
        """Draw one diamond per cause, and two dots per shadow."""
        positions, ends = _places(self.table["group"])
        labels = []
        for y, row in zip(positions, self.table.itertuples(), strict=True):
            if row.is_cause:
                ax.plot(row.beside, y, "D", color=_HIGHER, markersize=7)
                labels.append(_folded(row.group))
                continue
            ax.plot([row.alone, row.beside], [y, y], color=_GREY, linewidth=1.5, zorder=1)
            ax.plot(row.alone, y, "o", color=_LOWER, markersize=5)
            ax.plot(row.beside, y, "o", color=_LOWER, markersize=5, markerfacecolor="white")
            labels.append(_folded(row.group, indent="  "))
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(positions, labels, fontsize=8)
        for label, is_cause in zip(ax.get_yticklabels(), self.table["is_cause"], strict=True):
            label.set_fontweight("bold" if is_cause else "normal")
        ax.set_ylim(ends, -0.7)
        ax.set_xlabel("effect")
        marks = [("D", _HIGHER, "cause"), ("o", _LOWER, "shadow alone")]
        for mark, color, text in marks:
            ax.plot([], [], mark, color=color, label=text)
        ax.plot([], [], "o", color=_LOWER, markerfacecolor="white", label="beside the causes")
        ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=3, fontsize=7, frameon=False)


def group_with_gap(group, gaps):
    """Return the name of the group to draw, of a Series of gaps by group; None: the largest."""
    if group is None and len(gaps):
        group = gaps.abs().idxmax()
    if str(group) not in gaps.index:
        raise ValueError(f"group={group!r} has no gap in the result; it has {list(gaps.index)}.")
    return str(group)


def _steps(gap_rows):
    """Return the bars of a waterfall: start, amount; the gap itself comes last."""
    parts = gap_rows[gap_rows["kind"].isin(["column", "interactions", "equal"])].copy()
    through = parts["kind"].isin(["column", "interactions"])
    size = parts["amount"].abs()
    small = through & (size < _SMALL * max(size.max(), gap_rows["amount"].abs().max()))
    total_of_small = parts.loc[small, "amount"].sum()
    parts["part"] = np.where(through, "through " + parts["part"], parts["part"])
    parts["kind"] = np.where(through, "column", parts["kind"])
    large = parts[~small]
    block = large[large["kind"] == "column"]
    blocks = [block.iloc[np.argsort(-block["amount"].abs(), kind="stable")]]
    joined = {"kind": "column", "part": f"through {small.sum()} others", "amount": total_of_small}
    blocks += [pd.DataFrame([joined])] if small.any() else []
    blocks += [large[large["kind"] == "equal"], gap_rows[gap_rows["kind"] == "gap"]]
    columns = ["kind", "part", "amount"]
    table = pd.concat([b[columns] for b in blocks if len(b)], ignore_index=True)
    ends = table["amount"].cumsum()
    start = np.where(table["kind"] == "gap", 0.0, ends - table["amount"])
    table.insert(0, "group", gap_rows["group"].iloc[0])
    return table.assign(start=start)


def _folded(name, indent=""):
    """Return a name in lines that fit beside the axes."""
    lines = textwrap.wrap(str(name), _LINE, break_long_words=True) or [""]
    return "\n".join(lines) if not indent else "\n".join(line + indent for line in lines)


def _lines(names):
    """Return the number of lines of each name."""
    return np.array([_folded(name).count("\n") + 1 for name in names])


def _high(names):
    """Return the settings of a figure with room for the lines of these names."""
    n_rows = float(_places(names)[1]) + 1
    return {"figsize": (_WIDTH, max(2.0, 1.2 + _ROW * n_rows))}


def _places(names):
    """Return the place of each name, so that names of several lines do not touch, and the end."""
    high = np.maximum(0.25 + 0.55 * _lines(names), 1.0)
    ends = high.cumsum()
    return ends - high / 2 - 0.5, ends[-1]


def _table(result, name):
    """Return a table that a pursuit adds, or raise ValueError."""
    if name not in result.tables:
        raise ValueError(
            f"The result has no table {name!r}. This plot shows results of DisparityPursuit."
        )
    return result.tables[name]
