"""Null cells, and whether they fail; counts of one cell."""

from math import sqrt

import numpy as np
import pandas as pd
from scipy.stats import beta, binom

from benchmarks.calibration.counts import FOUND, of_rows
from benchmarks.calibration.measure import WORLDS
from skdisc import all_detectors

LEVEL = 0.05
LOOKS, MOST = (40, 60, 100), 200  # data sets after which a cell may stop, and of a whole cell
CLAIMS = {  # by kind of world: what may be false, and among which data sets; None: all
    "null": [("found", None)],
    "grid": [("reassured", "relevant")],
    "after": [("false_list", None), ("false_bound", None)],
    "fair": [],  # a share without a target
}
SAID = ("first", "shown", "misses", "relevant", "reassured", "cleared", "false_list", "false_bound")


def limit(n):
    """Return the level plus two standard errors."""
    return LEVEL + 2 * sqrt(LEVEL * (1 - LEVEL) / n)


def is_settled(rows, kind):
    """Return whether the rows of a cell show that it would not fail with all data sets.

    It is looked at after 40, 60 and 100 data sets. It stops where the one-sided 95 % upper end
    (Clopper and Pearson) of each share of false claims is at most the limit of 200 data sets, .081:
    at 0 of 40, up to 1 of 60, or up to 3 of 100. A cell whose share is .081 stops so in .07, one of
    .10 in .03.

    Parameters
    ----------
    rows : list of dict
        From `measure`, by seed.
    kind : str
        Of the world; cells of kinds whose shares are to be estimated never stop.
    """
    if len(rows) not in LOOKS or kind not in CLAIMS or any(row["error"] for row in rows):
        return False
    for claim, among in CLAIMS[kind]:
        asked = [row for row in rows if among is None or row[among]]
        false = sum(
            row["verdict"] == FOUND if claim == "found" else bool(row[claim]) for row in asked
        )
        if false == len(asked) or beta.ppf(0.95, false + 1, len(asked) - false) > limit(MOST):
            return False
    return True


def null_cells(counts):
    """Return a frame with a row per null cell that counts: detector, world, k, n, p, again."""
    known = {name for name, world in WORLDS.items() if world.kind == "null"}
    counts = counts[counts["world"].isin(known) & (counts["n"] > 0)]
    out = []
    for (detector, world), part in counts.groupby(["detector", "world"]):
        word = word_of(detector, part)
        fails = WORLDS[world].fails
        reason = fails.get(str(word), "") if word else next(iter(fails.values()), "")
        first, new = (part[part["fresh"] == is_new] for is_new in (0, 1))
        one = {"detector": detector, "world": world, "excused": reason, "earlier": False}
        one |= _counted(first["found"].sum(), first["n"].sum())
        one |= {"new_k": new["found"].sum(), "new_n": new["n"].sum()}
        out.append(one)
    names = ["detector", "world", "excused", "earlier", "k", "n", "p", "above", "new_k", "new_n"]
    return pd.DataFrame(out, columns=names)


def with_earlier(cells, counts):
    """Return the cells, with the counts of earlier versions where these have more data sets.

    Parameters
    ----------
    cells : DataFrame
        From `null_cells`.
    counts : DataFrame
        Columns detector, world, k, n: data sets of earlier versions whose rows are not kept.
    """
    now = cells.set_index(["detector", "world"])
    for detector, world, k, n in counts.itertuples(index=False):
        at = detector, world
        if at not in now.index or (now.at[at, "n"] < n and not now.at[at, "excused"]):
            new = {"new_k": 0, "new_n": 0} if at not in now.index else dict(now.loc[at])
            now.loc[at, :] = new | {"excused": "", "earlier": True} | _counted(k, n)
    return now.reset_index()


def _counted(k, n):
    return {"k": k, "n": n, "p": binom.sf(k - 1, n, LEVEL), "above": n > 0 and k / n > limit(n)}


def judged(cells):
    """Return the cells whose null hypothesis holds, with whether they fail."""
    held = cells[cells["excused"] == ""].copy()
    held["failed"] = held["p"] <= LEVEL / max(1, len(held))
    new = held["new_n"] > 0
    fresh = held["new_k"] / held["new_n"].where(new)
    held["fresh_failed"] = new & (fresh > held["new_n"].where(new, 1).map(limit))
    return held


def failing(counts):
    """Return the (detector, world) of the null cells above two standard errors."""
    held = judged(null_cells(counts))
    above = held[held["above"] | held["failed"]]
    return set(zip(above["detector"], above["world"], strict=True))


def line(rows):
    """Return one line about the rows of a cell, for the terminal."""
    row = of_rows(pd.DataFrame(rows)).iloc[-1]
    more = "".join(f"  {n} {row[n]:.0f}" for n in SAID if row[n])
    name = f"{row['detector']:32} {row['world']:34}"
    counts = f"found {row['found']:4} no {row['nothing']:4} of {row['n']:4}"
    return f"{name} {counts}{more}  {row['seconds']:.2f} s  {row['error'][:150]}"


def fcr(counts, which=""):
    """Return the false coverage rate, the mean of misses / max(1, shown), and its error."""
    n, total = counts["n"].sum(), counts[f"{which}fcr"].sum()
    squares = counts[f"{which}fcr2"].sum() - total**2 / max(n, 1)
    return total / n, sqrt(max(squares, 0) / (n - 1) / n) if n > 1 else np.nan


def word_of(detector, counts):
    """Return the null hypothesis of the results, or of the class of the detector."""
    kind = all_detectors().get(detector.partition(",")[0])
    return next((word for word in counts["null"] if word), "") or getattr(kind, "null", "")
