"""Null cells, and whether they fail; counts of one cell."""

from math import sqrt

import numpy as np
import pandas as pd
from scipy.stats import binom

from benchmarks.calibration.measure import FOUND, NOTHING, WORLDS
from skdisc import all_detectors

LEVEL, NEW_SEEDS = 0.05, 10_000  # the latter are those of reruns


def limit(n):
    """Return the level plus two standard errors."""
    return LEVEL + 2 * sqrt(LEVEL * (1 - LEVEL) / n)


def null_cells(rows):
    """Return a frame with a row per null cell that counts: detector, world, k, n, p, again."""
    known = {name for name, world in WORLDS.items() if world.kind == "null"}
    rows = rows[rows["world"].isin(known) & (rows["error"] == "")]
    out = []
    for (detector, world), part in rows.groupby(["detector", "world"]):
        word = word_of(detector, part)
        fails = WORLDS[world].fails
        reason = fails.get(str(word), "") if word else next(iter(fails.values()), "")
        first, new = (part[part["seed"].ge(NEW_SEEDS) == is_new] for is_new in (False, True))
        one = {"detector": detector, "world": world, "excused": reason, "earlier": False}
        one |= _counted((first["verdict"] == FOUND).sum(), len(first))
        one |= {"new_k": (new["verdict"] == FOUND).sum(), "new_n": len(new)}
        out.append(one)
    return pd.DataFrame(out)


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


def failing(rows):
    """Return the (detector, world) of the null cells above two standard errors."""
    held = judged(null_cells(rows))
    above = held[held["above"] | held["failed"]]
    return set(zip(above["detector"], above["world"], strict=True))


def line(rows):
    """Return one line about the rows of a cell, for the terminal."""
    table = pd.DataFrame(rows)
    verdicts = table["verdict"].value_counts()
    counts = f"found {verdicts.get(FOUND, 0):4} no {verdicts.get(NOTHING, 0):4} of {len(table):4}"
    more = f"  first {table['first'].sum():3}" if table["first"].any() else ""
    if table["shown"].any():
        more += "".join(f"  {n} {fcr(table, n)[0]:.3f}" for n in ("", "new_"))
    error = next((e for e in table["error"] if e), "")
    name = f"{table['detector'][0]:32} {table['world'][0]:34}"
    return f"{name} {counts}{more}  {table['seconds'].mean():.2f} s  {error[:150]}"


def fcr(rows, which=""):
    """Return the false coverage rate, the mean of misses / max(1, shown), and its error."""
    share = rows[f"{which}misses"] / rows[f"{which}shown"].clip(lower=1)
    return share.mean(), share.std(ddof=1) / sqrt(len(share)) if len(share) > 1 else np.nan


def word_of(detector, rows):
    """Return the null hypothesis of the results, or of the class of the detector."""
    kind = all_detectors().get(detector.partition(",")[0])
    return next((word for word in rows["null"] if word), "") or getattr(kind, "null", "")
