"""Worlds in which "no disparity found" would be false, after a finding, and on fair data.

The outcome depends on the planted groups and on nothing else, so the gap of any group in its
context is known from the people of the data set: the mean chance of its members less that of the
others in the context. A claim is judged by the gaps of the *candidates*, groups of one protected
value in a context of at most one condition that have at least `relevant_size` of these people.
"""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.calibration.people import People, World, toss
from skdisc import Rule

BASE = {
    "n": 5000,
    "gap": 0.1,
    "share": 0.08,
    "rate": 0.4,
    "towns": 6,
    "planted": "one",
    "columns": 1,
    "relevant_gap": 0.1,
}
FACTORS = {
    "n": (1000, 2000, 10_000, 20_000, 50_000),
    "gap": (0.12, 0.2),
    "share": (0.06, 0.1, 0.2),
    "rate": (0.1, 0.2, 0.6, 0.9),
    "towns": (3, 12),
    "planted": ("opposite", "range"),
    "columns": (2,),
}
DEFAULT_GAPS = {0.1: 0.065, 0.4: 0.1, 0.9: 0.065}  # at these rates just above that of Rule()
COMBINATIONS, FAIR_SIZES = 20, (1000, 2000, 5000, 10_000, 20_000, 50_000)
BINS = 4
SIZE = 0.05  # of the rule
GROUPS = {"max_predicates": 2}


def drawn(seed, n, gap, share, rate, towns, planted, columns, relevant_gap):
    """Draw people of whom some women are gap lower, or higher where the rate is below .5.

    Women are half of the people. The planted town holds 2 · share of them, the others equal shares.
    """
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n)})
    if columns == 2:
        X["race"] = rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1])
    p = np.r_[2 * share, np.full(towns - 1, (1 - 2 * share) / (towns - 1))]
    X["town"] = rng.choice([f"t{i}" for i in range(towns)], n, p=p)
    X["work"], X["age"] = rng.choice(list("pqr"), n), rng.integers(20, 70, n)
    woman, toward = (X["sex"] == "F").to_numpy(), 1 if rate < 0.5 else -1
    where = np.where(X["town"] == "t0", 1.0, 0.0)
    if planted == "opposite":
        where -= X["town"] == "t1"
    if planted == "range":  # half of the second and half of the third quarter of ages
        where = np.where(X["age"].between(38, 51), 1.0, 0.0)
    chance = rate + toward * gap * where * woman
    return _people(X, chance, rng, ["sex", "race"][:columns], relevant_gap)


def several(seed, n, k, correction):
    """Women of k of eight towns are .10 lower or higher, by turns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.integers(8, size=n)})
    sign = np.where(X["town"] < k, 1 - 2 * (X["town"] % 2), 0)
    chance = 0.4 + 0.1 * sign * (X["sex"] == "F")
    X["town"] = "t" + X["town"].astype(str)
    X["work"], X["age"] = rng.choice(list("pqr"), n), rng.integers(20, 70, n)
    return _people(X, chance.to_numpy(), rng, ["sex"], 0.1, correction)


def overlapping(seed, n, k):
    """Women of the first value of k of five columns are .10 lower, of several .10 in all."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n)})
    for name in "abcde":
        X[name] = rng.choice([f"{name}{i}" for i in range(5)], n)
    inside = np.any([X[name] == f"{name}0" for name in "abcde"[:k]], axis=0)
    return _people(X, 0.4 - 0.1 * (inside & (X["sex"] == "F")).to_numpy(), rng, ["sex"], 0.1)


def _people(X, chance, rng, protected, relevant_gap, correction=None):
    rule = Rule(relevant_gap=relevant_gap, correction=correction)
    settings = {"rule": rule} | GROUPS
    return People(X, toss(rng, chance), protected=protected, settings=settings, chance=chance)


def candidates(people):
    """Return the candidates of a data set.

    Returns
    -------
    DataFrame
        ``context`` ("" for everyone), ``part``, ``size`` (a share of the people; of two values that
        make up their context the larger), and the true ``gap``.
    """
    X, chance, rows = people.X, people.chance, []
    for column in people.protected:
        for name, context in _contexts(X.drop(columns=column)):
            values = X[column].unique()
            for value in sorted(values):
                inside = context & (X[column] == value).to_numpy()
                rest = context & ~inside
                if not inside.any() or not rest.any():
                    continue
                n = max(inside.sum(), rest.sum()) if len(values) == 2 else inside.sum()
                gap = chance[inside].mean() - chance[rest].mean()
                rows.append((name, f"{column} = {value!r}", n / len(X), gap))
    return pd.DataFrame(rows, columns=["context", "part", "size", "gap"])


def _contexts(X):
    """Yield name and mask of everyone, and of the people of each value or quarter of a number."""
    yield "", np.ones(len(X), dtype=bool)
    for column in X:
        x = X[column]
        if pd.api.types.is_numeric_dtype(x):
            x = pd.qcut(x, BINS, duplicates="drop").cat.codes
        for value in np.unique(x):
            yield f"{column} {value}", (x == value).to_numpy()


def relevant(people, column=None):
    """Return whether a candidate has a relevant gap: in any context, and among everybody.

    `column`: the protected column whose candidates count; None: all.
    """
    relevant_gap = people.settings["rule"].relevant_gap
    if relevant_gap is None:  # rounded down by the rule, so this misses hardly any
        relevant_gap = 0.2 * np.sqrt(people.y.mean() * (1 - people.y.mean()))
    table = candidates(people)
    if column is not None:
        table = table[table["part"].str.startswith(f"{column} = ")]
    large = table[table["size"] >= SIZE]
    is_large = large["gap"].abs() >= relevant_gap - 1e-9
    return {
        "groups": bool(is_large.any()),
        "everyone": bool(is_large[large["context"] == ""].any()),
    }


def true_gap(people, group):
    """Return the true gap of a group, given as text, to the others in its context.

    A condition on a protected column belongs to the context only if it stands behind "among".
    """
    X, (group, _, among) = people.X, group.partition(" among ")
    inside, context = np.ones(len(X), dtype=bool), np.ones(len(X), dtype=bool)
    for text, is_context in ((group, False), (among, True)):
        for part in text.split(" and ") if text else []:
            mask = X.eval(part.replace(" = ", " == ")).to_numpy()
            inside &= mask
            if is_context or part.partition(" ")[0] not in people.protected:
                context &= mask
    rest = context & ~inside
    if not inside.any() or not rest.any():
        return 0.0
    return people.chance[inside].mean() - people.chance[rest].mean()


def _name(settings):
    """Return the name of a world by what differs from the base."""
    words = [
        f"{key} {value:,}" if isinstance(value, int) else f"{key} {value}".replace("0.", ".")
        for key, value in settings.items()
        if key in ("gap", *FACTORS) and (value != BASE[key] or key == "gap")
    ]
    more = ", default relevant gap" if settings["relevant_gap"] is None else ""
    return "grid: " + ", ".join(words) + more


def _grid():
    """Return the settings of the worlds: one factor at a time, and drawn combinations."""
    found = [BASE, BASE | {"gap": 0.15}]
    found += [BASE | {key: value} for key, values in FACTORS.items() for value in values]
    found += [BASE | {"gap": 0.15, "n": n} for n in FACTORS["n"]]
    found += [BASE | {"gap": 0.15, "planted": kind} for kind in FACTORS["planted"]]
    found += [BASE | {"gap": 0.15, "columns": 2}]
    found += [
        BASE | {"rate": rate, "gap": gap, "relevant_gap": None}
        for rate, gap in DEFAULT_GAPS.items()
    ]
    rng, levels = np.random.default_rng(0), {k: (BASE[k], *v) for k, v in FACTORS.items()}
    levels["n"] = levels["n"][:-1]  # 50,000 people once
    while len(found) < len(FACTORS["n"]) * 2 + 20 + COMBINATIONS:
        drawn_one = BASE | {k: v[rng.integers(len(v))] for k, v in levels.items()}
        if drawn_one["rate"] in (0.1, 0.9) and drawn_one["gap"] > 0.12:
            drawn_one["gap"] = 0.12
        if drawn_one not in found:
            found.append(drawn_one)
    return found


def _planted(settings):
    about = ", ".join(f"{k} {v}" for k, v in settings.items())
    return World(_name(settings), partial(drawn, **settings), about, kind="grid")


def _fair(n, columns):
    settings = BASE | {"n": n, "gap": 0.0, "columns": columns, "relevant_gap": 0.1}
    name = f"fair, n = {n:,}, {columns} protected"
    return World(name, partial(drawn, **settings), "nothing is planted", kind="fair")


GRID = [
    *map(_planted, _grid()),
    *(
        World(
            f"after: {k} of 8 towns, n = {n:,}, {correction}",
            partial(several, n=n, k=k, correction=correction),
            "gaps of exactly ± .10, by turns",
            kind="after",
        )
        for k, n, correction in product((2, 4, 6), (8000, 20_000), ("bh", "holm"))
    ),
    *(
        World(
            f"after: {k} groups that overlap, n = {n:,}",
            partial(overlapping, n=n, k=k),
            "groups with a gap of .10",
            kind="after",
        )
        for k, n in product((1, 2, 5), (8000, 20_000))
    ),
    *(_fair(n, columns) for n, columns in product(FAIR_SIZES, (1, 2))),
]
