"""One row of numbers: what a detector says about one data set, and whether it is true."""

import warnings
from time import process_time

import numpy as np

from benchmarks.calibration.nulls import NULLS
from benchmarks.calibration.planted import PLANTED
from skdisc.exceptions import SkdiscWarning

WORLDS = {world.name: world for world in [*NULLS, *PLANTED]}
FOUND, NOTHING = "disparity found", "no disparity found"
SHOWN = 10  # rows of a result that a report shows
ESTIMATES = (  # effects with their intervals, the one that a report gives first at the top
    ("held_out_effect", "held_out_ci_low", "held_out_ci_high"),
    ("effect", "ci_low", "ci_high"),
)
NO = {"shown": 0, "misses": 0, "new_shown": 0, "new_misses": 0, "first": False, "noted": False}


def measure(configuration, world, seed):
    """Return a dict with the verdict of one detector on one data set, and what it is worth.

    Parameters
    ----------
    configuration : Configuration
    world : World
    seed : int

    Returns
    -------
    dict
        ``shown`` rows of the result, of which ``misses`` have an interval that does not contain
        the truth; the same (``new_``) of these groups on new rows; ``first``, whether the planted
        group is first; ``noted``, whether a note names repeated or clustered rows; ``error``.
    """
    row = {"detector": configuration.name, "world": world.name, "seed": seed, **NO}
    row |= {"verdict": "", "null": "", "found": 0, "error": ""}
    people, start = world.draw(seed), process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkdiscWarning)
            detector, result = configuration.result(people, seed)
            row["seconds"] = process_time() - start
            row |= {name: getattr(result, name) for name in ("verdict", "null")}
            row |= {"found": int(result.n_found), "noted": _noted(result)}
            if world.kind == "null" and hasattr(result, "document"):
                row["verdict"] = _about_true_nulls(result, world)
            if world.planted and row["found"]:
                row["first"] = first(result) in sides(world.planted)
            if world.kind == "coverage":
                row |= coverage(detector, world, seed)
            if world.kind == "shares":
                row |= shares(result, world.share)
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}"[:300]
        row.setdefault("seconds", process_time() - start)
    return row


def _about_true_nulls(result, world):
    """Return the verdict of an audit on the null hypotheses that hold in a world."""
    answers = [r["verdict"] for r in result.document["verdicts"] if r["null"] not in world.fails]
    return FOUND if FOUND in answers else result.verdict.replace(FOUND, "insufficient evidence")


def sides(planted):
    """Return the keys of both sides of the planted contrast."""
    other = planted | {"sex": "M"}
    return [key(planted), key(other)]


def key(conditions):
    """Return conditions by column as text that does not depend on their order."""
    return " and ".join(sorted(f"{name} = '{value}'" for name, value in conditions.items()))


def first(result):
    """Return the key of the first group of a result, or "" if it is no conjunction."""
    if hasattr(result, "document"):
        conditions = result.document["evidence"][0]["conditions"]
        return " and ".join(sorted(c["text"] for c in conditions))
    if hasattr(result, "groups"):
        return key(result.groups[0])
    group = getattr(result.findings, "subgroups", [None])[0]
    return " and ".join(sorted(map(str, group.predicates))) if hasattr(group, "predicates") else ""


def coverage(detector, world, seed):
    """Return how many intervals of the rows shown miss the truth, and of new rows."""
    shown = detector.result_.to_frame().head(SHOWN)
    if "ci_low" not in shown or not len(shown):
        return {}
    truth = detector.audit(*world.population()).to_frame()
    people = world.draw(seed + 1_000_000)
    new = detector.audit(people.X, people.y).to_frame()
    new = new.merge(shown[["subject", "measure"]], on=["subject", "measure"])
    n, misses = _missed(shown, truth)
    new_n, new_misses = _missed(new, truth)
    return {"shown": n, "misses": misses, "new_shown": new_n, "new_misses": new_misses}


def shares(result, truth):
    """Return whether the intervals of the share of uniformly drawn inputs miss the truth."""
    table = result.estimates
    table = table[table["name"].str.contains("uniformly")].dropna(subset=["ci_low", "ci_high"])
    missed = (table["ci_low"] > truth) | (truth > table["ci_high"])
    return {"shown": len(table), "misses": int(missed.sum())}


def _missed(shown, truth):
    """Return the number of intervals that are known, and of those that miss the true effect."""
    effect, low, high = next(names for names in ESTIMATES if set(names) <= set(shown))
    names = ["subject", "measure"]
    true = truth[[*names, effect.removeprefix("held_out_")]].drop_duplicates(names)
    true.columns = [*names, "true"]
    both = shown.merge(true, on=names).dropna(subset=[low, high, "true"])
    inside = (both[low] - 1e-9 <= both["true"]) & (both["true"] <= both[high] + 1e-9)
    return len(both), int(np.sum(~inside))


def _noted(result):
    words = ("copies", "neighboring rows")
    return any(word in note.lower() for note in result.notes for word in words)
