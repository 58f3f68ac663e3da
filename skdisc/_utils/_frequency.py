"""Rows that each stand for a number of equal people: exact counts, quantiles and random splits."""

from dataclasses import replace

import numpy as np

_EXACT = 2**53  # up to which floats are whole numbers
_LOW = 26  # bits


def count(index: np.ndarray, n: int, frequency: np.ndarray | None = None) -> np.ndarray:
    """Return the number of people with each index below `n`, an array of int64.

    >>> print(count(np.array([0, 2, 2]), 3, np.array([5, 10**12, 1])))
    [            5             0 1000000000001]

    `frequency`: number of people of each row; None: 1.
    """
    if frequency is None:
        return np.bincount(index, minlength=n)
    if frequency.sum() < _EXACT:
        return np.bincount(index, weights=frequency, minlength=n).astype(np.int64)
    high, low = frequency >> _LOW, frequency & (2**_LOW - 1)
    parts = (np.bincount(index, weights=part, minlength=n).astype(np.int64) for part in (high, low))
    return (next(parts) << _LOW) + next(parts)


def numbered_in_order(codes: np.ndarray, most_per_row: int = 8) -> np.ndarray:
    """Number the distinct values of an array of whole numbers from 0, in their order.

    Values are looked up, not sorted, unless they are far apart: by more than `most_per_row` times
    their number. To look them up takes 9 bytes for each value between the least and the largest.

    >>> numbered_in_order(np.array([7, -1, 7, 5])).tolist()
    [2, 0, 2, 1]
    """
    if not len(codes):
        return codes.astype(np.intp)
    low, high = int(codes.min()), int(codes.max())
    if high - low > most_per_row * len(codes) + 1000:
        return np.unique(codes, return_inverse=True)[1].ravel()
    shifted = codes.astype(np.intp) - low
    occurs = np.zeros(high - low + 1, dtype=bool)
    occurs[shifted] = True
    return (np.cumsum(occurs) - 1)[shifted]


def numbered_within(sizes: np.ndarray) -> np.ndarray:
    """Number the members of each of several groups from 0, one group after the other.

    >>> numbered_within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def taken(values: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    """Return what some rows have of optional numbers of all rows; None stays None."""
    return None if values is None else values[rows]


def runs_of_equal_rows(
    keys: list[np.ndarray], frequency: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return where each run of rows with equal keys starts, and its number of people.

    >>> starts, people = runs_of_equal_rows([np.array([3, 3, 4])], None)
    >>> starts.tolist(), people.tolist()
    ([0, 2], [2, 1])

    `keys`: arrays of one number for each row. `frequency`: number of people of each row; None: 1.
    """
    people = np.ones(len(keys[0]), dtype=np.int64) if frequency is None else frequency
    if not len(people):
        return np.empty(0, dtype=np.intp), people
    differs = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    starts = np.flatnonzero(np.append(True, differs))
    return starts, np.add.reduceat(people, starts)


def summed_over_equal(keys: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct columns of keys in order, and the sums of `n` over equal ones.

    >>> keys, n = summed_over_equal(np.array([[4, 3, 4]]), np.array([1, 2, 5]))
    >>> keys.tolist(), n.tolist()
    ([[3, 4]], [2, 6])

    Shapes: `keys` (n_keys, n_rows), `n` (n_rows,).
    """
    # One key is sorted fast where it stands in two sorted pieces.
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    keys = keys[:, order]
    starts, sums = runs_of_equal_rows(list(keys), n[order])
    return keys[:, starts], sums


def people_in(mask: np.ndarray, frequency: np.ndarray | None = None) -> int:
    """Return the number of people in the rows of a mask."""
    return int(np.count_nonzero(mask) if frequency is None else frequency[mask].sum())


def lower_quantiles(x: np.ndarray, share: np.ndarray, frequency: np.ndarray) -> np.ndarray:
    """Return what ``np.quantile(..., method="lower")`` returns for repeated values."""
    n, value_at = _in_order(x, frequency)
    return value_at(np.floor((n - 1) * share).astype(np.int64))


def quantiles(x: np.ndarray, share: np.ndarray, frequency: np.ndarray | None) -> np.ndarray:
    """Return what ``np.quantile`` returns for repeated values; None: none is repeated."""
    if frequency is None:
        return np.quantile(x, share)
    n, value_at = _in_order(x, frequency)
    positions = (n - 1) * share
    low, high = (value_at(f(positions).astype(np.int64)) for f in (np.floor, np.ceil))
    return low + (high - low) * (positions - np.floor(positions))


def median(x: np.ndarray, frequency: np.ndarray | None = None) -> float:
    """Return the median of the people."""
    if frequency is None:
        return np.median(x)
    n, value_at = _in_order(x, frequency)
    return value_at(np.array([(n - 1) // 2, n // 2])).mean()


def _in_order(x, frequency):
    """Return how many people there are, and a function from places in their order to values."""
    order = np.argsort(x, kind="stable")
    ends = np.cumsum(frequency[order])
    return ends[-1], lambda places: x[order][np.searchsorted(ends, places, side="right")]


def deal(frequency: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Deal the people into n hands of nearly equal size, all deals alike.

    Returns an ndarray of int64 of shape (n, n_rows): how many people of each row are in each hand.
    """
    rest, hands = frequency, []
    for n_hands in range(n, 1, -1):
        hands.append(hold_out(rest, 1 / n_hands, rng))
        rest = rest - hands[-1]
    return np.array([*hands, rest])


def evenly(frequency: np.ndarray, most: int) -> np.ndarray:
    """Return the rows of persons at equal distances, so that there are at most `most` of them."""
    ends = np.cumsum(frequency)
    n = int(ends[-1]) if len(ends) else 0
    return np.searchsorted(ends, np.arange(0, n, max(-(-n // most), 1)), side="right")


def hold_out(frequency: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw a share of the people, all samples of that size alike, and return how many of each row.

    The numbers have a multivariate hypergeometric distribution.
    """
    return _drawn(frequency, int(np.ceil(share * frequency.sum())), share, rng)


class ManyPeople:
    """Rows `X` that stand for many people each, `frequency`; None: one.

    A subclass has ``at(mask)``, and ``held_out(share, rng)``, which draws a mask of whole rows.
    """

    frequency = None

    @property
    def n(self) -> int:
        """Number of people."""
        return len(self.X) if self.frequency is None else int(self.frequency.sum())

    def split(self, share: float, rng: np.random.Generator) -> tuple:
        """Return the rows to search, and a random share of the people to hold out.

        Clusters stay whole; the people of one row need not.
        """
        if self.frequency is None:
            is_out = self.held_out(share, rng)
            return self.at(~is_out), self.at(is_out)
        out = hold_out(self.frequency, share, rng)
        parts = (replace(self, frequency=f) for f in (self.frequency - out, out))
        return tuple(part.at(part.frequency > 0) for part in parts)


def permuted(
    values: np.ndarray, frequency: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    """Permute the values of all people, and return the mean that the people of each row get.

    `values`: few distinct ones: people are drawn for each of them. `frequency`: number of people of
    each row, at least 1; None: 1.
    """
    if frequency is None:
        return rng.permutation(values)
    kinds, kind_of_row = np.unique(values, return_inverse=True)
    rest, total = frequency, np.zeros(len(values))
    for kind, size in zip(kinds, count(kind_of_row, len(kinds), frequency).tolist(), strict=True):
        dealt = _drawn(rest, size, size / rest.sum(), rng)
        rest, total = rest - dealt, total + kind * dealt
    return total / frequency


def _drawn(frequency, size, share, rng):
    """Draw `size` people, and return how many of each row.

    Numbers are drawn from binomial distributions; then people are removed or added at random until
    the size is right.
    """
    out = rng.binomial(frequency, share)
    excess = int(out.sum()) - size
    removable = out if excess > 0 else frequency - out
    ends = np.cumsum(removable)
    drawn = rng.choice(int(ends[-1]), size=abs(excess), replace=False) if excess else []
    moved = np.bincount(np.searchsorted(ends, drawn, side="right"), minlength=len(out))
    return out - np.sign(excess) * moved
