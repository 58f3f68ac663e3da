"""Flipsets: the transport of each comparison, and how its flips compare with chance."""

from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from skdisc._blackbox._clustered_draws import ClusteredDraws
from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._neighbors._neighbor_shares import NeighborShares
from skdisc._space._codes import NOBODY
from skdisc.individual._fliptest._optimal_transport import costs, reduced, solve
from skdisc.individual._group_comparison import Comparison

# An assignment takes, at worst, time in the cube of its size, and each permutation needs new ones:
# twenty of 50 people take a 400th of the time of one of 1,000.
_BLOCK, _BLOCKS = 50, 20  # people of a group in one transport, and transports, of the test
FEWEST_PERMUTATIONS = 39


@dataclass(frozen=True)
class PlacedPeople:
    """People, their decisions and their coordinates.

    Parameters
    ----------
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
    clusters: np.ndarray | None = None


@dataclass(frozen=True)
class TransportProblem:
    """Who is transported to whom in one comparison.

    `one` and `zero`: rows of the two groups, in the same order however the data are ordered.
    `settings`: cost, solver, max_rows, draw_rows, n_draws, nominal: the arguments of `solve`.
    """

    comparison: Comparison
    people: PlacedPeople
    one: np.ndarray
    zero: np.ndarray
    settings: dict

    def solve(self, a, b, rng, budget):
        """Return the optimal transport from the rows `a` to the rows `b`."""
        points = self.people.points
        return solve(points[a], points[b], rng=rng, budget=budget, **self.settings)

    def costs(self, a, b):
        """Return the matrix of costs between the rows `a` and the rows `b`."""
        points = self.people.points
        return costs(points[a], points[b], self.settings["cost"], self.settings["nominal"])


@dataclass(frozen=True)
class Transported:
    """The pairs of one comparison.

    `pairs`: row, partner, weight (of several draws: its mean), distance (L1). `facts`: cost,
    solver, exact, draws; after the test also p_value, by_chance and spread.
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


def transport(problem, rng, budget):
    """Return the pairs of an optimal transport from one group to the other, `Transported`."""
    parts, solutions = [], []
    points, strata = problem.people.points, problem.people.strata
    for stratum in np.unique(strata[problem.one]):
        a, b = (rows[strata[rows] == stratum] for rows in (problem.one, problem.zero))
        if len(b):
            t = problem.solve(a, b, rng, budget)
            solutions.append((t, t.weight.sum() / t.draws))
            parts.append((a[t.source], b[t.target], t.weight / t.draws))
    columns = [np.concatenate([p[i] for p in parts]) if parts else np.empty(0) for i in range(3)]
    pairs = pd.DataFrame(dict(zip(("row", "partner", "weight"), columns, strict=True)))
    pairs = pairs.astype({"row": np.int64, "partner": np.int64, "weight": float})
    pairs["distance"] = np.abs(points[pairs["row"]] - points[pairs["partner"]]).sum(axis=1)
    n = sum(weight for _, weight in solutions)
    cost = sum(t.cost * weight for t, weight in solutions) / n if n else np.nan
    exact = bool(solutions) and all(t.exact for t, _ in solutions)
    draws = max((t.draws for t, _ in solutions), default=0)
    facts = {"cost": cost, "solver": problem.settings["solver"], "exact": exact, "draws": draws}
    return Transported(problem, pairs, facts)


def transport_as_at_fit(problem, at_fit, pairs):
    """Return the pairs of new rows with the partners of their nearest people of fit.

    `problem`: about new rows; people are transported within strata. `at_fit`: TransportOfFit.
    `pairs`: the pairs of this comparison at fit.
    """
    one, points, strata = problem.one, problem.people.points, problem.people.strata
    heaviest_pairs = pairs.sort_values("weight", ascending=False, kind="stable").drop_duplicates(
        "row"
    )
    from_, to = heaviest_pairs["row"].to_numpy(), heaviest_pairs["partner"].to_numpy()
    partner = np.full(len(points), NOBODY)
    their_strata, their_points = at_fit.people.strata[from_], at_fit.people.points
    for stratum in np.intersect1d(strata[one], their_strata):
        rows, in_stratum = one[strata[one] == stratum], their_strata == stratum
        near, _ = NeighborShares(their_points[from_[in_stratum]]).query(points[rows], 1)
        partner[rows] = to[in_stratum][near[:, 0]]
    rows = np.flatnonzero(partner != NOBODY)
    partner = partner[rows]
    pairs = pd.DataFrame({"row": rows, "partner": partner, "weight": 1.0})
    pairs["distance"] = np.abs(points[pairs["row"]] - their_points[partner]).sum(axis=1)
    facts = {"cost": np.nan, "solver": "nearest of fit", "exact": False, "draws": 1}
    return Transported(problem, pairs, facts)


def permutations(n_tests, significance):
    """Return the largest number of permutations, and how many as large flipsets end them."""
    return min(max(ceil(n_tests / significance), 99), 1999), 10


def flips_by_chance(problem, rng, n_permutations, budget, n_enough):
    """Compare the larger flipset with flipsets of groups drawn at random from both.

    Under the null hypothesis the people of both groups (of each stratum) are samples of one
    population of attributes and decisions, so that group membership can be permuted: here among
    at most 1,000 people of each group, who are drawn once. Clusters are permuted as a whole or,
    where they are mixed, membership is drawn as alike within clusters as it is, by the shares of
    the groups (`ClusteredDraws`). With `n_enough`, the permutations end with that many which have
    as large a flipset, after at least 39 (Besag and Clifford, 1991); they also end with the time
    budget.

    Returns
    -------
    facts : dict
        p_value: of k among l permutations with as large a flipset, (k + 1) / (l + 1), or k / l if
        k ended them; by_chance: the mean share of people in it; spread: its standard deviation;
        excess: the share above that mean; n_permutations: their number. NaN without permutations.
    """
    pools = list(_pools(problem, rng)) if n_permutations else []
    if not pools:
        names = "p_value", "by_chance", "excess", "n_permutations", "spread"
        return dict.fromkeys(names, float("nan"))
    observed_share = _larger(pools, rng, is_permuted=False)
    drawn, n_as_large = [], 0
    while len(drawn) < n_permutations:
        drawn.append(_larger(pools, rng, is_permuted=True))
        n_as_large += drawn[-1] >= observed_share - 1e-9
        is_enough = n_enough is not None and n_as_large >= n_enough
        if (is_enough and len(drawn) >= FEWEST_PERMUTATIONS) or not budget.affords(0):
            break
    n, drawn = len(drawn), np.array(drawn)
    ended = is_enough and n > FEWEST_PERMUTATIONS
    return {
        "p_value": float(n_as_large / n if ended else (1 + n_as_large) / (1 + n)),
        "by_chance": float(drawn.mean()),
        "excess": float(observed_share - drawn.mean()),
        "n_permutations": n,
        "spread": float(drawn.std()),
    }


@dataclass(frozen=True)
class _Pool:
    """People of both groups in one stratum, the first group first."""

    costs: np.ndarray
    decided: np.ndarray
    n_one: int
    draws: ClusteredDraws | None = None

    def sides(self, rng):
        """Return the people of both groups if membership is a matter of chance."""
        rows, one = np.arange(len(self.decided)), self.n_one
        if self.draws is None:
            rows = rng.permutation(rows)
            return rows[:one], rows[one:]
        if self.draws.is_shared:
            is_one = self.draws.permuted(rows < one, rng)
        else:
            share = np.tile([one / len(rows), 1 - one / len(rows)], (len(rows), 1))
            is_one = self.draws.donors(share, [rows[:one], rows[one:]], rng) < one
        if is_one.all() or not is_one.any():
            return self.sides(rng)
        return rng.permutation(rows[is_one]), rng.permutation(rows[~is_one])


def _pools(problem, rng):
    """Yield a `_Pool` of at most 1,000 people of each group for each stratum with both."""
    strata, decided = problem.people.strata, problem.people.decided
    for stratum in np.unique(strata[problem.one]):
        sides = [rng.permutation(g[strata[g] == stratum]) for g in (problem.one, problem.zero)]
        rows = np.concatenate([side[: _BLOCK * _BLOCKS] for side in sides])
        n_one = min(len(sides[0]), _BLOCK * _BLOCKS)
        if n_one < len(rows):
            matrix = problem.costs(rows, rows).astype(np.float32)  # half the memory traffic
            draws = _draws(problem.people.clusters, rows, n_one)
            yield _Pool(matrix, decided[rows], n_one, draws)


def _draws(clusters, rows, n_one):
    """Return the `ClusteredDraws` of membership; None without clusters, or with only one."""
    if clusters is None:
        return None
    names, code = np.unique(clusters[rows], return_inverse=True)
    if len(names) < 2:
        return None
    side = (np.arange(len(rows)) >= n_one).astype(np.intp)
    share = np.tile(np.bincount(side) / len(rows), (len(rows), 1))
    return ClusteredDraws(code, side, side, share)


def _larger(pools, rng, *, is_permuted):
    """Return the share of people in the larger flipset, transporting block by block."""
    signed, total = np.zeros(2), 0
    for pool in pools:
        sides = np.split(np.arange(len(pool.decided)), [pool.n_one])  # a pool is in random order
        sides = pool.sides(rng) if is_permuted else sides
        most, size = max(map(len, sides)), min(_BLOCK, *map(len, sides))
        blocks = np.arange(min(-(-most // size), _BLOCKS) * size).reshape(-1, size)
        a, b = (side.take(blocks, mode="wrap") for side in sides)
        for x, z, matrix in zip(a, b, reduced(pool.costs[a[:, :, None], b[:, None]]), strict=True):
            i, j = linear_sum_assignment(matrix)
            flip = pool.decided[x[i]] - pool.decided[z[j]]
            signed += np.count_nonzero(flip > 0), np.count_nonzero(flip < 0)
        total += blocks.size
    return signed.max() / total
