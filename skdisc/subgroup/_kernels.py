"""Popcounts of conjunctions: the NumPy kernel, and its twin in the extra ``speed`` (numba)."""

from functools import cache

import numpy as np

_CHUNK_BYTES = 2**20


def count(covers, parents, bits, items, edges):
    """Count the bits of ``covers[parents] & bits[items]``, cell by cell.

    Parameters
    ----------
    covers : ndarray of uint64, shape (n_covers, n_words)
    parents, items : ndarray of int, shape (n,)
    bits : ndarray of uint64, shape (n_items, n_words)
    edges : ndarray of int, shape (n_cells + 1,)
        Words at which the cells begin and end.

    Returns
    -------
    ndarray of int64, shape (n, n_cells)
    """
    kernels = compiled()
    return (kernels[0] if kernels else count_numpy)(covers, parents, bits, items, edges)


def join(covers, parents, bits, items):
    """Return ``covers[parents] & bits[items]``, an array of uint64, shape (n, n_words)."""
    kernels = compiled()
    return (kernels[1] if kernels else join_numpy)(covers, parents, bits, items)


def count_numpy(covers, parents, bits, items, edges):
    """Do as `count` does, in NumPy, a cache-sized chunk at a time."""
    out = np.empty((len(items), len(edges) - 1), dtype=np.int64)
    size = max(1, _CHUNK_BYTES // (8 * max(1, bits.shape[1])))
    for start in range(0, len(items), size):
        part = slice(start, start + size)
        ones = np.bitwise_count(join_numpy(covers, parents[part], bits, items[part]))
        for c in range(len(edges) - 1):
            out[part, c] = ones[:, edges[c] : edges[c + 1]].sum(axis=1, dtype=np.uint32)
    return out


def join_numpy(covers, parents, bits, items):
    """Do as `join` does, in NumPy."""
    joined = covers[parents]
    joined &= bits[items]
    return joined


@cache
def compiled():
    """Return the numba kernels (count, join), or None where numba is not installed."""
    try:
        from numba import njit
    except ImportError:
        return None
    return _compile(njit)


def _compile(njit):
    @njit(cache=True, nogil=True)
    def popcount(x):
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + (
            (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
        )
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)

    @njit(cache=True, nogil=True)
    def walk(covers, parents, bits, items, edges, out):
        for r in range(len(items)):
            for c in range(len(edges) - 1):
                item = bits[items[r], edges[c] : edges[c + 1]]
                cover = covers[parents[r], edges[c] : edges[c + 1]]
                total = np.uint64(0)
                for w in range(len(item)):  # counting from 0 lets the compiler use wide registers
                    total += popcount(item[w] & cover[w])
                out[r, c] = total

    @njit(cache=True, nogil=True)
    def fill(covers, parents, bits, items, out):
        for r in range(len(items)):
            item, cover, joined = bits[items[r]], covers[parents[r]], out[r]
            for w in range(len(joined)):
                joined[w] = item[w] & cover[w]

    def count_numba(covers, parents, bits, items, edges):
        out = np.empty((len(items), len(edges) - 1), dtype=np.int64)
        walk(
            covers,
            parents.astype(np.int64),
            bits,
            items.astype(np.int64),
            edges.astype(np.int64),
            out,
        )
        return out

    def join_numba(covers, parents, bits, items):
        out = np.empty((len(items), bits.shape[1]), dtype=np.uint64)
        fill(covers, parents.astype(np.int64), bits, items.astype(np.int64), out)
        return out

    return count_numba, join_numba
