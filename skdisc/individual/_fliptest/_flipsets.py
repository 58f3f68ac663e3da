"""Flipsets: the transport of each comparison, and how its flips compare with chance."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._neighbors._neighbor_shares import NeighborShares
from skdisc._space._codes import NOBODY
from skdisc.individual._fliptest._optimal_transport import solve
from skdisc.individual._group_comparison import Comparison

_BLOCK, _BLOCKS = 100, 10  # people of a group in one transport, and transports, of the test


@dataclass(frozen=True)
class PlacedPeople:
    """People, their decisions and their coordinates.

    Parameters
    ----------
    X : DataFrame
    decided : ndarray of float, shape (n,)
        The decisions, 1 favorable and 0 not.
    points : ndarray of shape (n, n_coordinates)
    strata : ndarray of shape (n,)
        People are transported within a stratum.
    """

    X: pd.DataFrame
    decided: np.ndarray
    points: np.ndarray
    strata: np.ndarray


@dataclass(frozen=True)
class TransportProblem:
    """Who is transported to whom in one comparison.

    Parameters
    ----------
    comparison : Comparison
    people : PlacedPeople
    one, zero : ndarray of int
        Rows of the two groups, in an order that does not depend on that of the data.
    settings : dict
        cost, solver, max_rows, n_draws
    """

    comparison: Comparison
    people: PlacedPeople
    one: np.ndarray
    zero: np.ndarray
    settings: dict

    def solve(self, a, b, rng):
        """Return the optimal transport from the rows `a` to the rows `b`."""
        points = self.people.points
        return solve(points[a], points[b], rng=rng, **self.settings)


@dataclass(frozen=True)
class Transported:
    """The pairs of one comparison.

    Parameters
    ----------
    problem : TransportProblem
    pairs : DataFrame
        row, partner, weight (of several draws: its mean), distance (L1)
    facts : dict
        cost, solver, exact, draws; after the test also p_value, by_chance and smallest_gap.
    """

    problem: TransportProblem
    pairs: pd.DataFrame
    facts: dict


@dataclass(frozen=True)
class TransportOfFit:
    """The people of fit and the pairs that were found among them.

    Parameters
    ----------
    columns : list
        The columns that people are compared by.
    space : MixedSpace
        Their coordinates.
    people : PlacedPeople
    transported : list of (Comparison, DataFrame)
        The pairs of each comparison.
    is_significant : list of bool
        Whether there are more flips in each comparison than chance explains.
    """

    columns: list
    space: MixedSpace
    people: PlacedPeople
    transported: list
    is_significant: list


def transport(problem, rng):
    """Return the pairs of an optimal transport from one group to the other, `Transported`."""
    parts, found = [], []
    points, strata = problem.people.points, problem.people.strata
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
    n = sum(weight for _, weight in found)
    cost = sum(t.cost * weight for t, weight in found) / n if n else np.nan
    exact = bool(found) and all(t.exact for t, _ in found)
    draws = max((t.draws for t, _ in found), default=0)
    facts = {"cost": cost, "solver": problem.settings["solver"], "exact": exact, "draws": draws}
    return Transported(problem, pairs, facts)


def transport_as_at_fit(problem, at_fit, pairs):
    """Return the pairs of new rows with the partners of their nearest people of fit.

    Parameters
    ----------
    problem : TransportProblem
        About new rows; people are transported within strata.
    at_fit : TransportOfFit
    pairs : DataFrame
        The pairs of this comparison at fit.

    Returns
    -------
    Transported
    """
    one, points, strata = problem.one, problem.people.points, problem.people.strata
    known = pairs.sort_values("weight", ascending=False, kind="stable").drop_duplicates("row")
    from_, to = known["row"].to_numpy(), known["partner"].to_numpy()
    partner = np.full(len(points), NOBODY)
    their_strata, their_points = at_fit.people.strata[from_], at_fit.people.points
    for stratum in np.intersect1d(strata[one], their_strata):
        rows, there = one[strata[one] == stratum], their_strata == stratum
        near, _ = NeighborShares(their_points[from_[there]]).query(points[rows], 1)
        partner[rows] = to[there][near[:, 0]]
    rows = np.flatnonzero(partner != NOBODY)
    partner = partner[rows]
    pairs = pd.DataFrame({"row": rows, "partner": partner, "weight": 1.0})
    pairs["distance"] = np.abs(points[pairs["row"]] - their_points[partner]).sum(axis=1)
    facts = {"cost": np.nan, "solver": "nearest of fit", "exact": False, "draws": 1}
    return Transported(problem, pairs, facts)


def flips_by_chance(problem, rng, n_permutations, significance, n_enough=None):
    """Compare the larger flipset with those of groups drawn at random from both.

    Under the null hypothesis the people of both groups (of each stratum) are samples of one
    population of attributes and decisions, so that group membership can be permuted. After
    `n_enough` of them the rest is drawn only if fewer than a tenth had as large a flipset.

    Returns
    -------
    facts : dict
        p_value: the share of permutations with as large a flipset; by_chance: the mean share of
        people in it; and smallest_gap: the share above that mean which would be detected with
        probability 0.8, by the standard deviation; excess: the share above that mean;
        n_permutations: their number. NaN without permutations.
    """
    one, zero = problem.one, problem.zero
    strata, decided = problem.people.strata, problem.people.decided

    def larger(one, zero):
        """Return the share of people in the larger flipset, transporting block by block."""
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

    both = np.concatenate([one, zero])
    both = both[np.argsort(strata[both], kind="stable")]
    is_one = np.isin(both, one)
    if not n_permutations or np.isnan(seen := larger(one, zero)):
        names = "p_value", "by_chance", "excess", "n_permutations", "smallest_gap"
        return dict.fromkeys(names, float("nan"))
    drawn, n_as_large = [], 0
    while len(drawn) < n_permutations:
        mixed = both[np.lexsort((rng.random(len(both)), strata[both]))]
        drawn.append(larger(mixed[is_one], mixed[~is_one]))
        n_as_large += drawn[-1] >= seen - 1e-9
        if len(drawn) == n_enough and n_as_large >= n_enough / 10:
            break
    drawn = np.array(drawn)
    return {
        "p_value": float((1 + n_as_large) / (1 + len(drawn))),
        "by_chance": float(drawn.mean()),
        "excess": float(seen - drawn.mean()),
        "n_permutations": len(drawn),
        "smallest_gap": float(drawn.std() * (ndtri(1 - significance) + ndtri(0.8))),
    }
