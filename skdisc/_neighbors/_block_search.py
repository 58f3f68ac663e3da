"""Exact nearest rows among many mixed columns: blocks of similar rows, pruned by their bounds.

With many coordinates a tree of single rows visits nearly all of its leaves. Here rows are put into
blocks of similar ones; a block of queries meets only the blocks that can hold a neighbor; and there
only the rows whose categories alone are not too far away: a count of differing bits.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial.distance import cdist

from skdisc._utils._frequency import numbered_within

BLOCK = 64  # rows of a block
_PAIRS = 2**17  # pairs of rows compared at once
_SAMPLE = 256  # rows from which the coordinate of a split is chosen
_SLACK = 1e-9  # of bounds: more than rounding errors
_FAR = 1e100  # a limit beyond it is none


def similar_order(points, nominal, size=BLOCK):
    """Return an order of points in which near ones are adjacent, by repeated splits into halves.

    `nominal`: indicators of categories, which are split by their two values. `size`: parts of at
    most this many points are not split. Shapes: `points` (n, n_coordinates).
    """
    weight, done, todo = np.where(nominal, 2.0, 1.0), [], [np.arange(len(points))]
    while todo:
        rows = todo.pop()
        sample = points[rows[:: max(1, len(rows) // _SAMPLE)]] if len(rows) > size else points[:0]
        spread = (
            np.abs(sample - sample.mean(axis=0)).mean(axis=0) * weight
            if len(sample)
            else weight * 0
        )
        j = int(spread.argmax()) if len(spread) else 0
        if not len(spread) or spread[j] == 0:
            done.append(rows)
            continue
        x = points[rows, j]
        cut = 0.0 if nominal[j] else np.median(sample[:, j])
        right = x > cut if (x > cut).any() else x >= cut
        todo += [rows[right], rows[~right]]
    return np.concatenate(done) if done else np.empty(0, np.intp)


class BlockSearch:
    """Exact search for the nearest rows of a pool with many coordinates.

    Parameters
    ----------
    pool : ndarray of float, shape (n, n_coordinates)
    nominal : ndarray of bool, shape (n_coordinates,)
        Coordinates that are 0 or one other value, the same in all of them.
    power : {1, 2}
        1: Manhattan distances; 2: Euclidean ones.
    n_jobs : int or None
        Threads that share the queries.
    size : int, default=64
        Rows of a block; results do not depend on it.
    """

    def __init__(self, pool, nominal, power=1, n_jobs=None, size=BLOCK):
        self.nominal, self.power, self.n_jobs, self.size = nominal, power, n_jobs, size
        self.rows = similar_order(pool, nominal, size)
        first = np.arange(0, len(pool), size)
        self.sizes = np.diff(first, append=len(pool))
        self.bits, self.worth, self.numbers = self.parts(pool[self.rows])
        self.low, self.high = (f.reduceat(self.numbers, first) for f in (np.minimum, np.maximum))
        self.some = np.bitwise_or.reduceat(self.bits, first)
        self.fewest = np.minimum.reduceat(_ones(self.bits), first)

    def parts(self, points):
        """Return the categories as bits, what a bit is worth, and the numbers."""
        named = points[:, self.nominal]
        worth = float(named.max(initial=0.0)) ** self.power
        return _packed(named > 0), worth, np.ascontiguousarray(points[:, ~self.nominal])

    def nearest(self, points, width, limit=np.inf):
        """Return the distances, ascending, and the positions of the `width` nearest rows.

        Equally near rows come in their order. Rows beyond the limit may be left out: their
        distances are infinite.

        Parameters
        ----------
        points : ndarray of float, shape (m, n_coordinates)
        width : int, at most the size of the pool
        limit : float, default=infinity

        Returns
        -------
        distance, index : ndarray, shape (m, width)
        """
        distance = np.full((len(points), width), np.inf)
        index = np.zeros((len(points), width), dtype=np.intp)
        order = similar_order(points, self.nominal, self.size)
        parts = [order[i : i + self.size] for i in range(0, len(order), self.size)]
        reach = limit**self.power if limit < _FAR else np.inf
        threads = Parallel(n_jobs=self.n_jobs, require="sharedmem")
        results = threads(delayed(self._some)(points[p], width, reach) for p in parts)
        for part, (d, rows) in zip(parts, results, strict=True):
            distance[part], index[part] = d, rows
        return (distance if self.power == 1 else np.sqrt(distance)), index

    def _some(self, points, width, reach):
        """Search for one block of queries; distances are powers."""
        near, queries = _NearestSoFar(len(points), width, reach), _QueryBlock(self, points)
        order = np.argsort(queries.least.sum(axis=0), kind="stable")
        n_first = 1 + int(np.searchsorted(np.cumsum(self.sizes[order]), 2 * width))
        near.add(*queries.pairs(order[:n_first], near.limit))
        rest = order[n_first:]
        rest = rest[(queries.least[:, rest] <= near.limit[:, None]).any(axis=0)]
        step = max(1, _PAIRS // (self.size * len(points)))
        for start in range(0, len(rest), step):
            blocks = rest[start : start + step]
            blocks = blocks[(queries.least[:, blocks] <= near.limit[:, None]).any(axis=0)]
            if len(blocks):
                near.add(*queries.pairs(blocks, near.limit))
        return near.result()


class _QueryBlock:
    """A block of queries against the blocks of a pool.

    `least`, of shape (n_queries, n_blocks): a lower bound of the distances from the rows of each
    block.
    """

    def __init__(self, pool, points):
        self.pool = pool
        self.bits, worth, self.numbers = pool.parts(points)
        self._worth = max(worth, pool.worth) or 1.0
        n_bits = _ones(self.bits)[:, None].astype(np.int32) + pool.fewest
        for query_word, pool_word in zip(self.bits.T, pool.some.T, strict=True):
            n_bits -= 2 * np.bitwise_count(query_word[:, None] & pool_word).astype(np.int32)
        self._gaps = np.zeros(n_bits.shape)
        for x, low, high in zip(self.numbers.T, pool.low.T, pool.high.T, strict=True):
            gap = np.maximum(low - x[:, None], x[:, None] - high)
            np.maximum(gap, 0.0, out=gap)
            self._gaps += gap if pool.power == 1 else gap * gap
        self.least = self._gaps + self._worth * np.maximum(n_bits, 0)

    def pairs(self, blocks, limit):
        """Return query, row of the pool and distance of the pairs of some blocks inside limits."""
        pool, sizes = self.pool, self.pool.sizes[blocks]
        candidates = (blocks[:, None] * pool.size + np.arange(pool.size)).ravel()
        candidates = candidates[candidates < len(pool.rows)]
        if not pool.bits.shape[1]:
            distance = self._between(candidates)
            query, place = np.nonzero(distance <= limit[:, None])
            return query, pool.rows[candidates[place]], distance[query, place]
        n_differing = _differing(self.bits, pool.bits[candidates])
        most = (limit[:, None] - self._gaps[:, blocks]) / self._worth
        most = np.clip(np.floor(most) + 1, 0, np.iinfo(n_differing.dtype).max).astype(
            n_differing.dtype
        )
        inside = n_differing < np.repeat(most, sizes, axis=1)
        query = np.repeat(np.arange(len(inside)), np.count_nonzero(inside, axis=1))
        flat = np.flatnonzero(inside)
        place = flat - query * len(candidates)
        distance = self._worth * n_differing.ravel()[flat]
        if len(flat) > n_differing.size // 8:
            distance += self._between(candidates).ravel()[flat]
        elif pool.numbers.shape[1]:
            gaps = np.abs(self.numbers[query] - pool.numbers[candidates[place]])
            for gap in (gaps if pool.power == 1 else gaps * gaps).T:
                distance += gap
        inside = distance <= limit[query]
        return query[inside], pool.rows[candidates[place[inside]]], distance[inside]

    def _between(self, positions):
        """Return the distances by numbers alone."""
        metric = "cityblock" if self.pool.power == 1 else "sqeuclidean"
        return cdist(self.numbers, self.pool.numbers[positions], metric)


class _NearestSoFar:
    """The nearest rows of each query among the pairs added so far.

    `limit`: the distance within which a row may still be one of the nearest, rounding errors
    included.
    """

    def __init__(self, n, width, reach):
        self.width, self._reach = width, reach + _SLACK * (1 + reach if reach < np.inf else 0)
        self.limit = np.full(n, self._reach)
        self._parts, self._n_new = [], 0

    def add(self, query, row, distance):
        self._parts.append((query, row, distance))
        self._n_new += len(query)
        if self._n_new >= 2 * self.width * len(self.limit):
            self._tighten()

    def _tighten(self):
        """Lower the limits to the distance of the last place, and drop what lies beyond."""
        query, row, distance = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        order = np.argsort(query.astype(np.uint16), kind="stable")
        n_each = np.bincount(query, minlength=len(self.limit))
        rank = numbered_within(n_each)
        table = np.full((len(n_each), max(self.width, n_each.max(initial=0))), np.inf)
        table[query[order], rank] = distance[order]
        last = np.partition(table, self.width - 1, axis=1)[:, self.width - 1]
        self.limit = np.minimum(self._reach, last + _SLACK * (1 + np.where(last < np.inf, last, 0)))
        is_near = distance <= self.limit[query]
        self._parts, self._n_new = [(query[is_near], row[is_near], distance[is_near])], 0

    def result(self):
        """Return distances, ascending, and rows, shape (n_queries, width); infinite if lacking."""
        self._tighten()
        query, row, distance = self._parts[0]
        order = np.lexsort((row, distance, query))
        query = query[order]
        rank = np.arange(len(query)) - np.searchsorted(query, query)
        order, query, rank = (part[rank < self.width] for part in (order, query, rank))
        shape = len(self.limit), self.width
        distances, rows = np.full(shape, np.inf), np.zeros(shape, dtype=np.intp)
        distances[query, rank], rows[query, rank] = distance[order], row[order]
        return distances, rows


def _packed(named):
    """Return bool rows as rows of 64-bit words."""
    n_words = -(-named.shape[1] // 64)
    wide = np.zeros((len(named), 64 * n_words), dtype=bool)
    wide[:, : named.shape[1]] = named
    return np.packbits(wide, axis=1).view(np.uint64)


def _ones(bits):
    """Count the bits of each row."""
    return np.bitwise_count(bits).sum(axis=1, dtype=np.int32)


def _differing(bits, pool_bits):
    """Count the bits in which rows differ from other rows, shape (n_rows, n_others)."""
    small = np.uint8 if 64 * bits.shape[1] < 256 else np.uint16
    total = np.zeros((len(bits), len(pool_bits)), dtype=small)
    for word, pool_word in zip(bits.T, pool_bits.T, strict=True):
        total += np.bitwise_count(word[:, None] ^ pool_word)
    return total
