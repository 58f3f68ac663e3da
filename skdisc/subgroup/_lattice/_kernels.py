"""Popcounts of conjunctions: in NumPy, and compiled by numba with the extra ``speed``."""

from functools import cache

import numpy as np

_CHUNK_BYTES = 2**19
_WORTH = 2**28  # words joined in NumPy whose time would have paid for loading numba
_done = 0


def count(covers, parents, bits, items, edges):
    """Count the bits of ``covers[parents] & bits[items]``, cell by cell.

    `edges`: words at which the cells begin and end. The result has shape (n, n_cells). Shapes:
    `covers` (n_covers, n_words), `bits` (n_items, n_words).
    """
    kernels = _worthwhile(len(items) * bits.shape[1])
    return (kernels[0] if kernels else count_numpy)(covers, parents, bits, items, edges)


def join(covers, parents, bits, items, out=None):
    """Return ``covers[parents] & bits[items]``, an array of uint64, shape (n, n_words).

    `out`: where to put it; None: in a new array.
    """
    if out is None:
        out = np.empty((len(items), bits.shape[1]), dtype=np.uint64)
    kernels = _worthwhile(out.size)
    (kernels[1] if kernels else join_numpy)(covers, parents, bits, items, out)
    return out


def count_numpy(covers, parents, bits, items, edges):
    """Return what `count` does, in NumPy, one cache-sized chunk at a time."""
    out = np.empty((len(items), len(edges) - 1), dtype=np.int64)
    for part, joined in _chunks(covers, parents, bits, items):
        ones = np.bitwise_count(joined)
        for c in range(len(edges) - 1):
            out[part, c] = ones[:, edges[c] : edges[c + 1]].sum(axis=1, dtype=np.uint32)
    return out


def join_numpy(covers, parents, bits, items, out):
    """Do as `join` does, in NumPy."""
    for part, joined in _chunks(covers, parents, bits, items):
        out[part] = joined


def _chunks(covers, parents, bits, items):
    """Yield slices and ``covers[parents] & bits[items]`` of each, in one and the same memory.

    Fresh memory for each, or for all of them, would take longer than the operation itself.
    """
    size = max(1, _CHUNK_BYTES // (8 * max(1, bits.shape[1])))
    parent_rows, item_rows = np.empty((2, min(size, len(items)), bits.shape[1]), dtype=np.uint64)
    for start in range(0, len(items), size):
        part = slice(start, start + size)
        n = len(items[part])
        np.take(
            covers, parents[part], axis=0, out=parent_rows[:n], mode="clip"
        )  # "raise" makes a copy
        np.take(bits, items[part], axis=0, out=item_rows[:n], mode="clip")
        yield part, np.bitwise_and(parent_rows[:n], item_rows[:n], out=parent_rows[:n])


def sums(covers, values):
    """Add up the values of the rows in each cover.

    `values`, of shape (n_columns, 64 * n_words): in the order of the bits. The result has shape (n,
    n_columns). Shapes: `covers` (n, n_words).
    """
    kernels = compiled()
    return (kernels[2] if kernels else sums_numpy)(covers, values)


def sums_numpy(covers, values):
    """Return what `sums` does, in NumPy, one chunk at a time."""
    out = np.empty((len(covers), len(values)))
    size = max(1, 16 * _CHUNK_BYTES // (8 * max(1, values.shape[1])))
    for start in range(0, len(covers), size):
        members = np.unpackbits(covers[start : start + size].view(np.uint8), axis=1)
        out[start : start + size] = members.astype(np.float64) @ values.T
    return out


def _worthwhile(words):
    """Return the compiled kernels once the words joined in this process pay for loading them."""
    global _done
    _done += words
    return compiled() if _done >= _WORTH else None


@cache
def compiled():
    """Return the compiled kernels (count, join, sums), or None if numba is not installed."""
    try:
        from skdisc.subgroup._lattice import _kernels_numba
    except ImportError:
        return None
    return _kernels_numba.count, _kernels_numba.join, _kernels_numba.sums
