"""What printed sums tell because outcomes are whole people: none, all, or something between."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.sparse import csr_array
from scipy.special import expit

from skdisc._stats._packed_masks import PackedMasks
from skdisc._stats._printed_sums import PrintedSums, common_people, independent, tolerance

_STEPS, _HALVES = 25, 20  # of Newton's method
_CLOSE = 1e-2  # a step in log odds, after which steps vanish


def discloses_few(sums: PrintedSums, printed: np.ndarray, favorable: np.ndarray) -> bool:
    """Return whether outcomes of some people follow from sums, and from 0 <= x <= n in each cell.

    If all or none of a printed group have the outcome, the outcomes of its members are disclosed.
    The sums disclose nothing about the others if and only if there are numbers x with 0 < x < n
    in each cell that give the sums: then every combination of sums that has no negative weights is
    positive, and no set of people must have all or none. Such numbers exist if and only if the
    likelihood of the logistic regression on the printed groups has a maximum (Albert and Anderson
    1984, *On the existence of maximum likelihood estimates in logistic regression models*); at the
    maximum, expected and printed sums are equal. Without one, each step of Newton's method adds 1
    to some log odds, for ever.

    A set may also follow by subtracting people whose outcomes are disclosed.

    `sums`: gives the people of each cell, and the small sets. `printed`, of shape (n_sums,
    n_cells): the cells of the groups whose sums are known; the first group is everyone.
    `favorable`: how many people of each cell have the outcome; only the sums are used.
    """
    people, total = sums.people, printed @ favorable
    has_nobody, has_everybody = total == 0, total == printed @ people
    is_open = (people > 0) & ~printed[has_nobody | has_everybody].any(axis=0)
    if not is_open.any():
        return False
    disclosed = np.where(printed[has_everybody].any(axis=0), people, 0.0) * ~is_open
    total = (total - printed @ disclosed)[~(has_nobody | has_everybody)]
    rows, people = printed[~(has_nobody | has_everybody)][:, is_open], people[is_open]
    # without most of all people, a group is the sum of all less that of few: fewer numbers
    is_most = rows.sum(axis=1) > rows.shape[1] / 2
    rows = np.concatenate([rows[:1], rows[1:] ^ is_most[1:, None]])
    total = np.where(np.append(False, is_most[1:]), total[0] - total, total)
    place, factor = independent(common_people(PackedMasks.of(rows), people))
    rows = rows[place]
    if (has_nobody | has_everybody).any() and _follow(
        rows, factor, people, sums.small[:, is_open]
    ).any():
        return True
    return not _have_room(csr_array(rows.astype(float)), people, total[place])


def printable_blocks(blocks: Sequence[Hashable], discloses: Callable[[list], bool]) -> list:
    """Return the blocks of sums that may be printed, in order, each whole or not at all.

    `discloses`: returns whether too much follows from some blocks. Returns a list: it tells
    nothing; the next block after each part of it would.
    """
    chosen, remaining = [], list(blocks)
    while remaining and discloses([*chosen, *remaining]):
        least, most = 0, len(remaining)  # the first `least` tell nothing, the first `most` too much
        while most - least > 1:
            n = (least + most) // 2
            least, most = (least, n) if discloses([*chosen, *remaining[:n]]) else (n, most)
        chosen, remaining = [*chosen, *remaining[:least]], remaining[most:]
    return [*chosen, *remaining]


def _follow(rows, factor, people, sets):
    """Return which sets follow from sums by adding and subtracting."""
    size = sets @ people
    common = (sets @ csr_array((rows * people).T)).toarray()
    explained = (solve_triangular(factor, common.T, lower=True) ** 2).sum(axis=0)
    return (size > 0) & (size - explained <= tolerance(size))


def _have_room(rows, people, total):
    """Return whether numbers strictly between none and all people of each cell give the sums."""

    def likelihood(weight):
        odds = rows.T @ weight
        return total @ weight - people @ np.logaddexp(0.0, odds)

    weight = np.zeros(rows.shape[0])
    for _ in range(_STEPS):
        rate = expit(rows.T @ weight)
        short = total - rows @ (people * rate)
        spread = people * rate * (1 - rate)
        curvature = (rows.multiply(spread[None, :]).tocsr() @ rows.T).toarray()
        scale = np.sqrt(curvature.diagonal())
        if not (scale > 0).all():
            return False
        try:
            factor = cho_factor(curvature / np.outer(scale, scale))
        except np.linalg.LinAlgError:
            return False
        step = cho_solve(factor, short / scale) / scale
        if np.abs(rows.T @ step).max() < _CLOSE:
            return True
        before = likelihood(weight)
        for _ in range(_HALVES):  # far from the maximum, a whole step can go too far
            if likelihood(weight + step) >= before:
                break
            step = step / 2
        weight = weight + step
    return False
