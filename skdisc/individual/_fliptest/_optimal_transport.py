"""Optimal transport: pair the people of two groups at the least total cost."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from skdisc._utils._optional import require

_SOLVED = 1  # the result code of POT for an optimum
_FASTER = 2000  # people of each group, up to which an assignment is faster than POT
_LEAST = 1e-9  # weights below this are 0


@dataclass(frozen=True)
class Transport:
    """Who is transported to whom.

    Parameters
    ----------
    source, target : ndarray of int, shape (n_pairs,)
        Positions in the two groups.
    weight : ndarray of float, shape (n_pairs,)
        Share of the person with this partner; the weights of a person sum to 1.
    cost : float
        Mean cost of a person.
    exact : bool
        Whether this is an optimum over all people, not over samples of them.
    draws : int
        Number of samples that were transported.
    """

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    cost: float
    exact: bool
    draws: int


def solve(one, zero, *, cost, solver, max_rows, draw_rows, n_draws, nominal, rng, budget):
    """Transport `one` to `zero`: all at once if there are few, else samples of them.

    A time budget that is spent ends the draws after the first.

    Parameters
    ----------
    one, zero : ndarray of shape (n, n_coordinates)
    cost : {"squared_l1", "l1", "squared_l2"} or callable
    solver : {"assignment", "pot"}
    max_rows : int
        Largest number of people of a group in a problem that has all of them.
    draw_rows : int
        Number of people of a group in a sample.
    nominal : ndarray of bool, shape (n_coordinates,)
        The coordinates that are 0 or ½.
    """
    n, m = len(one), len(zero)
    size = min(n, m, int(draw_rows))  # True is 1
    is_whole = max(n, m) <= max_rows and (n == m or solver == "pot")
    if is_whole:
        i, j, weight, mean = _problem(costs(one, zero, cost, nominal), solver)
        return Transport(i, j, weight, mean, True, 1)
    parts, by = [], "assignment" if size <= _FASTER else solver
    for _ in range(n_draws):
        a = np.sort(rng.choice(n, size, replace=False))
        b = np.sort(rng.choice(m, size, replace=False))
        i, j, weight, mean = _problem(costs(one[a], zero[b], cost, nominal), by)
        parts.append((a[i], b[j], weight, mean))
        if not budget.affords(0):
            break
    i, j, weight, means = (np.concatenate([np.atleast_1d(p[x]) for p in parts]) for x in range(4))
    return Transport(i, j, weight, float(means.mean()), False, len(parts))


def costs(one, zero, cost, nominal):
    """Return the matrix of costs.

    Nominal coordinates are 0 or ½, so that products of matrices give their part without rounding.
    """
    if callable(cost):
        return np.asarray(cost(one, zero), dtype=float)
    # For u and v of 0 or 1/2, |u - v| = u + v - 4uv and (u - v)^2 = u^2 + v^2 - 2uv.
    u, v = (points[:, nominal].astype(np.float32) for points in (one, zero))
    squared, power = cost == "squared_l2", 2 if cost == "squared_l2" else 1
    distance = cdist(one[:, ~nominal], zero[:, ~nominal], "sqeuclidean" if squared else "cityblock")
    distance += (u**power).sum(axis=1)[:, None] + (v**power).sum(axis=1)
    distance -= (2 if squared else 4) * (u @ v.T)
    return distance**2 if cost == "squared_l1" else distance


def reduced(costs):
    """Return costs with the same optimal assignments, which are found sooner.

    A constant that is taken from a row or a column lowers the cost of each assignment by as much.

    `costs`, of shape (..., n, m): one or several matrices.
    """
    costs = costs - costs.min(axis=-1, keepdims=True)
    return costs - costs.min(axis=-2, keepdims=True)


def _problem(matrix, solver):
    if solver == "assignment":
        i, j = linear_sum_assignment(reduced(matrix))
        return i, j, np.ones(len(i)), float(matrix[i, j].mean())
    n, m = matrix.shape
    ot = require("ot", extra="ot", purpose='solver="pot"')
    plan, log = ot.emd([], [], matrix, numItermax=10**7, log=True)
    if log["warning"] is not None or log["result_code"] != _SOLVED:
        raise ArithmeticError(
            f"The transport of {n} people to {m} did not converge "
            f"({log['warning']}), so the result is not optimal. Lower limits.rows, or use "
            'solver="assignment".'
        )
    i, j = np.nonzero(plan > _LEAST / n)
    return i, j, plan[i, j] * n, float((plan * matrix).sum())
