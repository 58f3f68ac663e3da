"""One row of numbers of what a tool returned for one table."""

from math import isfinite

from benchmarks.league.worlds import draw, members, planted, population, true_effect

NO = {"alarm": None, "also": None, "found": 0, "first": False, "f1": 0.0, "f1_rows": 0.0}
NO |= {"shown": 0, "misses": 0, "largest": 0, "largest_misses": 0, "error": ""}
NO |= {"seconds": float("nan"), "mb": float("nan"), "version": ""}


def measure(tool, match, seed, returned):
    """Return a dict with the alarm of a tool in one table, and what its findings are worth.

    Parameters
    ----------
    tool : str
    match : Match
    seed : int
    returned : dict
        What an adapter returns, with ``seconds``, ``mb`` and ``version``, or ``error``.

    Returns
    -------
    dict
        ``found`` groups claimed, ``first``: whether the first one is a side of the planted
        contrast; ``f1`` of the claims, of which the two sides count as one, and ``f1_rows`` of the
        people of the first one; ``shown`` intervals, ``misses`` of the truth, and the same of
        the largest difference.
    """
    row = {"detector": tool, "world": match.name, "seed": seed, **NO}
    row |= {name: returned[name] for name in set(NO) & set(returned)}
    if row["error"]:
        return row
    table, settings = draw(match, seed)
    protected = settings["protected"]
    findings = [one | {"group": told(table, one["group"])} for one in returned["findings"]]
    claims = [o["group"] for o in findings if o["claimed"] and set(protected) & set(o["group"])]
    row["found"] = returned.get("n_claimed", len(claims))
    row["alarm"] = returned.get("alarm", bool(claims))
    if sides := planted(match):
        row |= worth(table, claims, row["found"], sides)
    people = population(match)
    if people is not None:
        row |= coverage(people, findings, protected)
    return row


def told(table, group):
    """Return the conditions that not all rows satisfy."""
    return {
        column: sorted(map(str, values))
        for column, values in group.items()
        if not set(table[column].unique()) <= set(map(str, values))
    }


def worth(table, claims, n_claimed, sides):
    """Return whether the planted contrast is first, and two kinds of F1."""
    if not claims:
        return {"first": False, "f1": 0.0, "f1_rows": 0.0}
    hits = sum(group in sides for group in claims)
    n = n_claimed - max(0, hits - 1)
    rows = [f1_rows(members(table, claims[0]), members(table, side)) for side in sides]
    found = {"first": claims[0] in sides, "f1": 2 * (hits > 0) / (n + 1)}
    return found | {"f1_rows": float(max(rows))}


def f1_rows(found, true):
    """Return twice the people in both groups, divided by the people of the two groups."""
    return 2 * (found & true).sum() / (found.sum() + true.sum())


def coverage(people, findings, protected):
    """Return how many intervals there are, and how many miss the truth."""
    row = {"shown": 0, "misses": 0, "largest": 0, "largest_misses": 0}
    for one in findings:
        low, high = (one.get(name) for name in ("low", "high"))
        if low is None or not (isfinite(low) and isfinite(high)):
            continue
        missed = not low - 1e-9 <= true_effect(people, one, protected) <= high + 1e-9
        kinds = ("largest", "largest_misses") if one["versus"] == "largest" else ("shown", "misses")
        row[kinds[0]] += 1
        row[kinds[1]] += int(missed)
    return row
