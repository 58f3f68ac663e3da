"""Bisection of many intervals at once."""

from collections.abc import Callable

import numpy as np


def bisected(
    is_below: Callable, low: np.ndarray, high: np.ndarray, n_halvings: int
) -> tuple[np.ndarray, np.ndarray]:
    """Narrow brackets around where a condition that holds on the left ceases to hold.

    >>> low, high = bisected(lambda x: x**2 < np.array([2, 9]), np.zeros(2), np.full(2, 5.0), 50)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([1.414214, 3.0], [1.414214, 3.0])
    """
    for _ in range(n_halvings):
        middle = (low + high) / 2
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low, high
