"""Optimal transport: pair the people of two groups at the least total cost."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from skdisc._utils._optional import require

_SOLVED = 1  # the result code of POT for an optimum
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
    solver : {"assignment", "pot"}
    exact : bool
        Whether this is an optimum over all people, not over samples of them.
    draws : int
        Number of samples that were transported.
    """

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    cost: float
    solver: str
    exact: bool
    draws: int


def solve(one, zero, *, cost, solver, max_rows, n_draws, rng):
    """Transport `one` to `zero`: all at once if there are few, else samples of them.

    Parameters
    ----------
    one, zero : ndarray of shape (n, n_coordinates)
    cost : {"squared_l1", "l1", "squared_l2"} or callable
    solver : {"assignment", "pot"}
    max_rows : int
        Largest number of people of a group in one problem.
    n_draws : int
    rng : Generator
    """
    n, m = len(one), len(zero)
    size = min(n, m, max_rows)
    whole = max(n, m) <= max_rows and (n == m or solver == "pot")
    if whole:
        i, j, weight, mean = _problem(one, zero, cost, solver)
        return Transport(i, j, weight, mean, solver, True, 1)
    parts = []
    for _ in range(n_draws):
        a = np.sort(rng.choice(n, size, replace=False))
        b = np.sort(rng.choice(m, size, replace=False))
        i, j, weight, mean = _problem(one[a], zero[b], cost, solver)
        parts.append((a[i], b[j], weight, mean))
    i, j, weight, means = (np.concatenate([np.atleast_1d(p[x]) for p in parts]) for x in range(4))
    return Transport(i, j, weight, float(means.mean()), solver, False, n_draws)


def costs(one, zero, cost):
    """Return the matrix of costs."""
    if callable(cost):
        return np.asarray(cost(one, zero), dtype=float)
    if cost == "squared_l2":
        return cdist(one, zero, "sqeuclidean")
    distance = cdist(one, zero, "cityblock")
    return distance**2 if cost == "squared_l1" else distance


def _problem(one, zero, cost, solver):
    matrix = costs(one, zero, cost)
    if solver == "assignment":
        i, j = linear_sum_assignment(matrix)
        return i, j, np.ones(len(i)), float(matrix[i, j].mean())
    ot = require("ot", extra="ot", purpose='solver="pot"')
    plan, log = ot.emd([], [], matrix, numItermax=10**7, log=True)
    if log["warning"] is not None or log["result_code"] != _SOLVED:
        raise ArithmeticError(
            f"The transport of {len(one)} people to {len(zero)} did not converge "
            f"({log['warning']}), so the result is not optimal. Lower max_rows, or use "
            'solver="assignment".'
        )
    i, j = np.nonzero(plan > _LEAST / len(one))
    return i, j, plan[i, j] * len(one), float((plan * matrix).sum())
