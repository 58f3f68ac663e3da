"""The tables of the league, and the truth about them."""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.calibration.measure import WORLDS
from benchmarks.calibration.people import People, toss

OUTCOME, CLUSTERS = "decision", "household"
FOUR = "four groups of 200"


@dataclass(frozen=True)
class Match:
    """A world of the calibration under the name of its column on the page.

    Parameters
    ----------
    name, world : str
    kind : {"null", "gap", "planted", "coverage"}
        gap: the rates of the groups differ, for a legitimate reason.
    about : str
        One clause for the page.
    """

    name: str
    world: str
    kind: str
    about: str


_U = "rate .6, women in the town u {} lower; n = {:,}"
_WORK = "n = 5,000, gap .10 and an effect of work of .3"
MATCHES = [
    Match("four groups", FOUR, "null", "race has four values of 200 people each, y is a coin"),
    Match("coin", "coin", "null", "y is a coin; sex, race, town and points; n = 1,000"),
    Match("legitimate", "legitimate", "null", "y depends on town and points alone; n = 1,000"),
    Match("interaction", "interaction", "null", "y depends on town and points together; n = 1,000"),
    Match("rare", "rare 5 %", "null", "rate .05, six columns with about 1,000 groups; n = 5,000"),
    Match("fivefold", "fivefold", "null", "y is a coin, every row occurs five times; n = 1,000"),
    Match("correlated", "correlated", "gap", "sex goes with town, y depends on town; n = 2,000"),
    Match("women .10", "gap at the margin, n = 1,000", "planted", "rate .5, women .4; n = 1,000"),
    Match("women in u .05", "n = 5,000, gap .05", "planted", _U.format(".05", 5000)),
    Match("women in u .10", "n = 5,000, gap .10", "planted", _U.format(".10", 5000)),
    Match("women in u .20", "n = 5,000, gap .20", "planted", _U.format(".20", 5000)),
    Match("u .10, work .30", _WORK, "planted", "as *women in u .10*, one work of five .30 lower"),
    *(
        Match(f"intervals {gap}", f"n = 1,000, gap {gap}, intervals", "coverage", about)
        for gap in (".00", ".05", ".15")
        for about in [_U.format(gap, 1000)]
    ),
]


def four_groups(seed):
    """Four equal groups of 200 with the same chance."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"race": np.repeat(list("abcd"), 200), "town": rng.choice(list("uvw"), 800)})
    return People(X, toss(rng, 0.5, 800), protected=["race"])


def draw(match, seed):
    """Return the table and the settings of a match.

    Returns
    -------
    tuple of (DataFrame, dict)
        All columns are text (numbers in quarters) but the outcome, 0 or 1, and the clusters.
    """
    people = four_groups(seed) if match.world == FOUR else WORLDS[match.world].draw(seed)
    X = people.X.copy()
    for name in X.select_dtypes("number"):
        X[name] = "q" + pd.qcut(X[name], 4, labels=False).astype(str)
    settings = {"outcome": OUTCOME, "columns": list(X), "protected": people.protected}
    settings |= {"seed": seed, "min_support": people.settings.get("min_support", 0.05)}
    settings["clusters"] = None if people.groups is None else CLUSTERS
    table = X.assign(**{OUTCOME: people.y})
    if people.groups is not None:
        table[CLUSTERS] = people.groups
    return table, settings


def planted(match):
    """Return the conditions of both sides of the planted contrast, or an empty list."""
    group = {} if match.world == FOUR else WORLDS[match.world].planted
    side = {column: [value] for column, value in group.items()}
    return [side, side | {"sex": ["M"]}] if group and match.kind == "planted" else []


def population(match):
    """Return the table of all people, or None where it is not enumerated."""
    if match.world == FOUR:
        rows = list(product("abcd", "uvw", (0, 1)))
        return pd.DataFrame(rows, columns=["race", "town", OUTCOME])
    if match.kind != "coverage":
        return None
    X, y = WORLDS[match.world].population()
    return X.assign(**{OUTCOME: y})


def members(table, group):
    """Return a mask of the rows that satisfy all conditions."""
    parts = [table[column].isin(values).to_numpy() for column, values in group.items()]
    return np.logical_and.reduce([np.ones(len(table), dtype=bool), *parts])


def true_effect(table, finding, protected):
    """Return the effect of a finding in the table of all people."""
    rate = partial(_rate, table)
    group, versus = finding["group"], finding["versus"]
    if versus == "nobody":
        return rate(members(table, group))
    if versus == "largest":
        rates = table.groupby(protected)[OUTCOME].mean()
        return rates.max() - rates.min()
    others = np.ones(len(table), dtype=bool)
    if isinstance(versus, dict):
        others = members(table, versus)
    elif versus == "context":
        context = {c: v for c, v in group.items() if c not in protected}
        others = members(table, context) & ~members(table, group)
    return rate(members(table, group)) - rate(others)


def _rate(table, mask):
    return table.loc[mask, OUTCOME].mean()
