"""Tables of a pursuit, with groups by name; of two sides, the one treated worse is named."""

import numpy as np
import pandas as pd

from skdisc._space._items import Items
from skdisc._stats import STRONG_V, cramers_v
from skdisc._utils._frequency import count, numbered_in_order, people_in
from skdisc.subgroup._disparity_pursuit import _causes
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores
from skdisc.subgroup._disparity_pursuit._search import Pursuit, Step

_MOST = 1000  # rows of a table of shadows or alternatives
_SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000)


def worse_sides(
    scores: Scores, index: np.ndarray, effect: np.ndarray, worse: int
) -> tuple[list, list]:
    """Return the side of each candidate that is treated worse, and whether it is the other side."""
    candidates, groups, flipped = scores.candidates, [], []
    for i, value in zip(index, effect, strict=True):
        other_side = candidates.sides[i] if value * worse < 0 else None
        groups.append(candidates.groups[i] if other_side is None else other_side)
        flipped.append(other_side is not None)
    return groups, flipped


def causes(scores: Scores, groups: list[int], level: np.ndarray, worse: int) -> tuple:
    """Return the table of the causes, and the groups by name."""
    effect = scores.fit(groups).effect
    subjects, flipped = worse_sides(scores, np.array(groups, dtype=int), effect, worse)
    return _causes.estimates(scores, groups, level, np.array(flipped, dtype=bool)), subjects


def about_causes(scores: Scores, pursuit: Pursuit, worse: int, critical: float) -> dict:
    """Return the tables that describe causes.

    `worse`: sign of the effects of groups that are treated worse. `critical`: the largest
    standardized score that chance gives to any candidate. Returns a dict of DataFrame: ``path``,
    ``indistinguishable``, ``shadows``, ``left``.
    """
    alike = _causes.indistinguishable(scores, pursuit.groups, critical)
    near = _causes.shadows(scores, pursuit.groups, pursuit.initial, pursuit.final, critical)
    sizes = [n for n in _SIZES if n <= scores.residuals.n_people]
    bounds = _causes.bounds_on_remaining_effects(scores, pursuit.final, critical, sizes)
    path = pd.DataFrame(pursuit.steps, columns=Step._fields).rename(columns={"group": "candidate"})
    tables = {"path": path, "indistinguishable": alike, "shadows": near, "left": bounds}
    sign = {"path": "z", "indistinguishable": "effect", "shadows": "z_alone", "left": None}
    for name, table in tables.items():
        table = table.head(_MOST)
        sign_by_row = np.full(len(table), worse) if sign[name] is None else table[sign[name]]
        groups, flipped = worse_sides(scores, table["candidate"].astype(int), sign_by_row, worse)
        table = table.drop(columns="candidate")
        table.insert(0, "group", np.array([str(g) for g in groups], dtype=object))
        turn = np.where(flipped, -1.0, 1.0)
        for column in table.columns.intersection(_SIGNED):
            table[column] = table[column] * turn
        tables[name] = table.reset_index(drop=True)
    return tables


def associations(items: Items, values: dict, legitimate: list, people: object) -> pd.DataFrame:
    """Return how strongly each legitimate column goes with each protected value.

    Parameters
    ----------
    values : dict of str to ndarray of bool, shape (n_rows,)
        The people of each protected group.
    people : ndarray of int64, shape (n_rows,), or None
        Number of people of each row.

    Returns
    -------
    DataFrame
        ``group``, ``column``, ``cramers_v``: between being in the group and the values, or bins, of
        the column, the strongest first; a column that is associated alike with two groups, such as
        women and men, is named once.
    """
    rows = []
    for feature, first_item in zip(*np.unique(items.feature, return_index=True), strict=True):
        codes, column = items.codes[feature], items.predicates[first_item].column
        if column not in legitimate:
            continue
        code = numbered_in_order(codes)
        size = 2 * (int(code.max(initial=-1)) + 1)
        n = people_in(np.ones(len(code), dtype=bool), people)
        for group, inside in values.items():
            table = count(2 * code + inside, size, people).reshape(-1, 2)
            rows.append((group, str(column), cramers_v(table, n)))
    table = pd.DataFrame(rows, columns=["group", "column", "cramers_v"]).dropna()
    table = table[~table.assign(v=table["cramers_v"].round(9)).duplicated(["column", "v"])]
    return table.sort_values("cramers_v", ascending=False, kind="stable").reset_index(drop=True)


def strong_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return the row of each column that stands for a protected value: Cramér's V of .5 or more."""
    return table[table["cramers_v"] >= STRONG_V].drop_duplicates("column")


def column_notes(table: pd.DataFrame) -> list[str]:
    """Return a note on the legitimate columns that stand for a protected value, if there are."""
    strong = strong_columns(table)
    named = [f"{r.column} ({r.cramers_v:.2f} with {r.group})" for r in strong.itertuples()]
    if not named:
        return []
    return [
        f"Legitimate columns that stand for a protected value (Cramér's V): {', '.join(named)}. "
        "What runs through them does not count as a disparity. If decisions should not depend on "
        "them, leave them out (adjust_for, or --ignore)."
    ]


_SIGNED = ["z", "effect", "effect_alone", "z_alone", "effect_beside", "z_beside"]


def notes(tables: dict, table: pd.DataFrame, critical: float, adjusts: bool) -> list[str]:
    """Return the notes on a pursuit.

    `tables`: those of `about_causes`. `table`: the causes. `critical`: as in `about_causes`.
    `adjusts`: whether there are legitimate columns.
    """
    sentences = []
    if adjusts:
        sentences.append(
            "Effects are direct: what runs through the legitimate columns does not count; it is in "
            "tables['gaps']."
        )
    if len(table) and table["scale"].iloc[0] != "difference":
        sentences.append(
            f"Each cause is taken to have the same {table['scale'].iloc[0]} for all its members, "
            "which fits better than the same difference; effects are means."
        )
    n = len(tables["shadows"])
    n_significant = int((tables["shadows"]["z_beside"].abs() > critical).sum())
    if n and not n_significant:
        sentences.append(
            f"{n:,} further groups differ on their own, and no longer do beside the causes: "
            "tables['shadows']."
        )
    bounds = tables["left"]
    if len(bounds):
        row = bounds.iloc[min(3, len(bounds) - 1)]
        sentences.append(
            f"Beside the causes, no effect above {row['bound']:.2g} is left in groups of "
            f"{int(row['people']):,} people or more: tables['left']."
        )
    return sentences
