"""One row of numbers: what a detector says about one data set, and whether it is true."""

import warnings
from time import process_time

import numpy as np

from benchmarks.calibration import grid
from benchmarks.calibration.hard import HARD
from benchmarks.calibration.nulls import NULLS
from benchmarks.calibration.planted import PLANTED
from skdisc.exceptions import SkdiscWarning

WORLDS = {world.name: world for world in [*NULLS, *PLANTED, *HARD, *grid.GRID]}
FOUND, NOTHING = "disparity found", "no disparity found"
SHOWN = 10  # rows of a result that a report shows
ESTIMATES = (  # effects with their intervals, the one that a report gives first at the top
    ("held_out_effect", "held_out_ci_low", "held_out_ci_high"),
    ("effect", "ci_low", "ci_high"),
)
RULE = "2"  # of verdicts: 2, about all groups of a share of the people; 1, about the largest groups
NO = {"shown": 0, "misses": 0, "new_shown": 0, "new_misses": 0, "first": False, "noted": False}
NO |= {"relevant": False, "reassured": False, "judged": 0, "cleared": 0}
NO |= {"false_list": False, "false_bound": False}


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
        group is first; ``noted``, whether a note names repeated or clustered rows; ``relevant``,
        whether a candidate has a relevant gap, and ``reassured``, whether there is none by what
        is said; after a finding, ``false_list`` and ``false_bound``, whether a cleared group has a
        relevant gap, or another a larger one than the bound says; ``error``.
    """
    row = {"detector": configuration.name, "world": world.name, "seed": seed, "rule": RULE, **NO}
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
            if world.equal is not None and configuration.null not in world.fails:
                row |= at_equal_columns(result, world.equal)
            if world.kind in ("grid", "after", "fair"):
                row |= claims(configuration, result, people)
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


def at_equal_columns(result, truth):
    """Return whether the interval of women's effect at equal columns misses the truth."""
    if hasattr(result, "document"):
        return {}
    if "comparable" in result.tables:
        table = result.tables["comparable"].rename(columns={"group": "subject"})
    elif result.detector == "SituationTesting":
        table = result.tables["gaps"].rename(columns={"group": "subject"})
    elif result.detector in ("EffectDecomposition", "OaxacaBlinder"):
        table = result.to_frame()
    else:
        return {}
    known = table.dropna(subset=["ci_low", "ci_high"])
    for row in known.head(1).itertuples():
        true = truth if str(row.subject) == "sex = 'F'" else -truth
        return {"shown": 1, "misses": int(not row.ci_low <= true <= row.ci_high)}
    return {}


def claims(configuration, result, people):
    """Return which statements about groups are false, by the true gaps of the candidates.

    A detector of subgroups is asked about all candidates, as an audit is in its contextual and
    conditional questions; others about each protected value among everybody.
    """
    true = grid.relevant(people)
    if hasattr(result, "document"):  # its questions are each about one protected column
        of_column = {column: grid.relevant(people, column) for column in people.protected}
        false = [
            row["verdict"] == NOTHING
            and of_column[row["attribute"]]["everyone" if row["null"] == "marginal" else "groups"]
            for row in result.document["verdicts"]
        ]
        whole = result.verdict == NOTHING and true["groups"]
        return {"relevant": true["groups"], "reassured": bool(whole or any(false))}
    about = true[configuration.level]
    row = {"relevant": about, "reassured": bool(about and result.verdict == NOTHING)}
    answer, family = getattr(result.discovery, "answer", None), result.tables.get("family")
    if answer is None or family is None:
        return row
    judged = family[family["judged"].astype(bool)]
    row |= {"judged": len(judged), "cleared": int(judged["cleared"].sum())}
    others = judged[~judged["found"].astype(bool)]
    gaps = np.array([abs(grid.true_gap(people, str(g))) for g in others["group"]])
    relevant, cleared = answer.relevant_gap, others["cleared"].to_numpy(dtype=bool)
    if result.verdict != FOUND:  # then list and bound are those of the verdict
        return row
    if isinstance(relevant, float):
        row["false_list"] = bool((gaps[cleared] >= relevant - 1e-9).any())
    if answer.bound is not None:
        row["false_bound"] = bool((gaps > answer.bound + 1e-9).any())
    return row


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
