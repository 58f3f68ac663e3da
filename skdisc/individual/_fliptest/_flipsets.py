"""Flipsets: pairs of a transport, those decided unlike, and how they differ."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._neighbors._neighbor_shares import NeighborShares
from skdisc.individual._fliptest._optimal_transport import solve
from skdisc.individual._group_comparison import Comparison

UNTESTED = "Flips were not compared with those of groups drawn at random: n_permutations is 0."
SETS = {"positive": 1, "negative": -1}
NOTE = (
    "People who are paired differ in more than the protected attribute: flips happen under any "
    "rule. Read them with the net and the transparency report."
)
_BLOCK, _BLOCKS = 100, 10  # people of a group carried at once, how often, to test their flips
_REPORT = ["attribute", "group", "flipset", "feature", "mean", "sign", "rank_mean", "rank_sign"]


@dataclass(frozen=True)
class TransportProblem:
    """Who is transported to whom in one comparison.

    Parameters
    ----------
    comparison : Comparison
    points : ndarray of shape (n, n_coordinates)
    one, zero : ndarray of int
        Rows of the two groups, in an order that does not depend on that of the data.
    strata : ndarray of shape (n,)
        People are transported within a stratum.
    settings : dict
        cost, solver, max_rows, n_draws
    """

    comparison: Comparison
    points: np.ndarray
    one: np.ndarray
    zero: np.ndarray
    strata: np.ndarray
    settings: dict

    def solve(self, a, b, rng):
        """Return the optimal transport from the rows `a` to the rows `b`."""
        return solve(self.points[a], self.points[b], rng=rng, **self.settings)


@dataclass(frozen=True)
class TransportOfFit:
    """The people of fit and the pairs that were found among them.

    Parameters
    ----------
    columns : list
        The columns that people are compared by.
    space : MixedSpace
        Their coordinates.
    X, decided, points, strata : DataFrame, ndarray
        The people, their decisions, coordinates and strata.
    carried : list of (Comparison, DataFrame)
        The pairs of each comparison.
    unlike_chance : list of bool
        Whether the flips of each comparison are more than chance explains.
    """

    columns: list
    space: MixedSpace
    X: pd.DataFrame
    decided: np.ndarray
    points: np.ndarray
    strata: np.ndarray
    carried: list
    unlike_chance: list


def carry(problem, rng):
    """Return the pairs of a transport from one group to the other, and its facts.

    Parameters
    ----------
    problem : TransportProblem
    rng : Generator

    Returns
    -------
    pairs : DataFrame
        row, partner, weight (of several draws: its mean), distance (L1)
    facts : dict
    """
    parts, found = [], []
    points, strata = problem.points, problem.strata
    for stratum in np.unique(strata[problem.one]):
        a, b = (rows[strata[rows] == stratum] for rows in (problem.one, problem.zero))
        if len(b):
            t = problem.solve(a, b, rng)
            found.append((t, t.weight.sum() / t.draws))
            parts.append((a[t.source], b[t.target], t.weight / t.draws))
    columns = [np.concatenate([p[i] for p in parts]) if parts else np.empty(0) for i in range(3)]
    pairs = pd.DataFrame(dict(zip(("row", "partner", "weight"), columns, strict=True)))
    pairs = pairs.astype({"row": np.int64, "partner": np.int64, "weight": float})
    pairs["distance"] = np.abs(points[pairs["row"]] - points[pairs["partner"]]).sum(axis=1)
    carried = sum(n for _, n in found)
    cost = sum(t.cost * n for t, n in found) / carried if carried else np.nan
    exact = bool(found) and all(t.exact for t, _ in found)
    draws = max((t.draws for t, _ in found), default=0)
    solver = problem.settings["solver"]
    return pairs, {"cost": cost, "solver": solver, "exact": exact, "draws": draws}


def carry_alike(problem, transport, carried):
    """Return the pairs that carry rows to the partner of the nearest person of fit, and facts.

    Parameters
    ----------
    problem : TransportProblem
        About new rows; people are carried within strata.
    transport : TransportOfFit
        The people of fit.
    carried : DataFrame
        The pairs of fit.
    """
    points, one, strata = problem.points, problem.one, problem.strata
    at_fit, strata_at_fit = transport.points, transport.strata
    known = carried.sort_values("weight", ascending=False, kind="stable").drop_duplicates("row")
    from_, to = known["row"].to_numpy(), known["partner"].to_numpy()
    partner = np.full(len(points), -1)
    for stratum in np.intersect1d(strata[one], strata_at_fit[from_]):
        rows, there = one[strata[one] == stratum], strata_at_fit[from_] == stratum
        near, _ = NeighborShares(at_fit[from_[there]]).query(points[rows], 1)
        partner[rows] = to[there][near[:, 0]]
    rows = np.flatnonzero(partner >= 0)
    partner = partner[rows]
    pairs = pd.DataFrame({"row": rows, "partner": partner, "weight": 1.0})
    pairs["distance"] = np.abs(points[pairs["row"]] - at_fit[partner]).sum(axis=1)
    return pairs, {"cost": np.nan, "solver": "nearest of fit", "exact": False, "draws": 1}


def flips_by_chance(problem, decided, rng, n_permutations, significance):
    """Return how the larger flipset compares with those of groups drawn from both.

    Under the null people of both groups are one population of attributes and decisions (in each
    stratum), so that it does not matter who is in which.

    Returns
    -------
    facts : dict
        p_value: how often it is as large; by_chance: its mean share of the people carried; and
        smallest_gap: the share above that mean which would be seen with probability 0.8, by the
        standard deviation. NaN without permutations.
    """
    one, zero, strata = problem.one, problem.zero, problem.strata

    def larger(one, zero):
        """Return the share of the larger flipset, carrying a block of people at a time."""
        signed, total = np.zeros(2), 0.0
        for stratum in np.unique(strata[one]):
            sides = [rng.permutation(rows[strata[rows] == stratum]) for rows in (one, zero)]
            size = min(_BLOCK, *map(len, sides))
            for i in range(min(_BLOCKS, -(-max(map(len, sides)) // size)) if size else 0):
                block = np.arange(i * size, (i + 1) * size)
                a, b = (rows.take(block, mode="wrap") for rows in sides)
                t = problem.solve(a, b, rng)
                flip = decided[a[t.source]] - decided[b[t.target]]
                signed += [t.weight[flip > 0].sum(), t.weight[flip < 0].sum()]
                total += t.weight.sum()
        return signed.max() / total if total else np.nan

    everybody = np.concatenate([one, zero])
    everybody = everybody[np.argsort(strata[everybody], kind="stable")]
    is_one = np.isin(everybody, one)
    if not n_permutations or np.isnan(seen := larger(one, zero)):
        return dict.fromkeys(("p_value", "by_chance", "smallest_gap"), float("nan"))
    drawn = np.empty(n_permutations)
    for i in range(n_permutations):
        mixed = everybody[np.lexsort((rng.random(len(everybody)), strata[everybody]))]
        drawn[i] = larger(mixed[is_one], mixed[~is_one])
    return {
        "p_value": float((1 + np.sum(drawn >= seen - 1e-9)) / (1 + n_permutations)),
        "by_chance": float(drawn.mean()),
        "smallest_gap": float(drawn.std() * (ndtri(1 - significance) + ndtri(0.8))),
    }


def attribute_name(comparison):
    """Return the protected attributes that a comparison is about."""
    return ", ".join(map(str, comparison.columns))


def flip_row(problem, pairs, facts):
    """Return one row about the flipsets of a comparison."""
    comparison = problem.comparison
    flip, weight = pairs["flip"].to_numpy(), pairs["weight"].to_numpy()
    positive, negative = (float(weight[flip == s].sum()) for s in SETS.values())
    return {
        "attribute": attribute_name(comparison),
        "group": str(comparison.group),
        "reference": comparison.versus,
        "n_group": len(problem.one),
        "n_reference": len(problem.zero),
        "n": float(weight.sum()),
        "positive": positive,
        "negative": negative,
        "net": positive - negative,
        **facts,
    }


def transparency(about, pairs, gap, names):
    """Return how the people of each flipset differ from those they are carried to.

    `gap` holds the differences of the pairs, shape (n_pairs, n_coordinates).
    Columns: attribute, group, flipset, feature, mean (difference, in standard deviations, or of
    the shares with a category), sign (mean sign), rank_mean and rank_sign (1 is the largest).
    """
    tables = []
    for name, sign in SETS.items():
        inside = (pairs["flip"] == sign).to_numpy()
        if not inside.any():
            continue
        weight = pairs["weight"].to_numpy()[inside]
        mean = np.average(gap[inside], axis=0, weights=weight)
        signs = np.average(np.sign(np.round(gap[inside], 12)), axis=0, weights=weight)
        table = pd.DataFrame({"feature": names, "mean": mean, "sign": signs})
        for column in ("mean", "sign"):
            ranks = table[column].abs().rank(ascending=False, method="min")
            table[f"rank_{column}"] = ranks.astype(int)
        table.insert(0, "flipset", name)
        table.insert(0, "group", about["group"])
        table.insert(0, "attribute", about["attribute"])
        tables.append(table)
    return tables


def coordinate_names(space, columns):
    """Return the name of each coordinate, and what makes its difference one of units or shares."""
    names, scale = [], []
    for column, known in zip(columns, space.columns, strict=True):
        number = isinstance(known, float)
        names += [str(column)] if number else [f"{column}={value}" for value in known]
        scale += [1.0] if number else [2.0] * len(known)
    return names, np.array(scale)


def report_table(reports):
    """Return the transparency reports one below the other."""
    if reports:
        return pd.concat(reports, ignore_index=True)
    text, numbers = dict.fromkeys(_REPORT[:4], object), dict.fromkeys(_REPORT[4:], float)
    return pd.DataFrame(columns=_REPORT).astype({**text, **numbers})


def runs_table(pairs):
    """Return per protected attribute the usual counts; a run is one comparison."""
    names = ["attribute", "values", "runs", "successful", "TSN", "DSN", "SUR", "distance"]
    rows = []
    for attribute, some in pairs.groupby("attribute", sort=False):
        tested, found = some["row"].nunique(), some.loc[some["case"], "row"].nunique()
        by_run = some.groupby(["group", "reference"], sort=False)["case"].any()
        values = "; ".join(f"{g} / {r}" for g, r in by_run.index)
        runs = len(by_run), int(by_run.sum())
        rows.append(
            (attribute, values, *runs, tested, found, found / tested, some["distance"].mean())
        )
    return pd.DataFrame(rows, columns=names)
