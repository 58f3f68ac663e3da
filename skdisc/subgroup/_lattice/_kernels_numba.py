"""The kernels of `_kernels`, compiled by numba; imported only where it is installed."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _popcount(x):
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True)
def _walk(covers, parents, bits, items, edges, out):
    for r in range(len(items)):
        for c in range(len(edges) - 1):
            item = bits[items[r], edges[c] : edges[c + 1]]
            cover = covers[parents[r], edges[c] : edges[c + 1]]
            total = np.uint64(0)
            for w in range(len(item)):  # counting from 0 lets the compiler use wide registers
                total += _popcount(item[w] & cover[w])
            out[r, c] = total


@njit(cache=True, nogil=True)
def _fill(covers, parents, bits, items, out):
    for r in range(len(items)):
        item, cover, joined = bits[items[r]], covers[parents[r]], out[r]
        for w in range(len(joined)):
            joined[w] = item[w] & cover[w]


@njit(cache=True, nogil=True)
def _add_up(covers, values, out):
    for r in range(len(covers)):
        for w in range(covers.shape[1]):
            word = covers[r, w]
            while word:
                lowest = word & (~word + np.uint64(1))
                bit = np.int64(_popcount(lowest - np.uint64(1)))
                row = 64 * w + (bit & ~7) + 7 - (bit & 7)  # bytes ascend, bits in a byte descend
                for c in range(len(values)):
                    out[r, c] += values[c, row]
                word ^= lowest


def count(covers, parents, bits, items, edges):
    """Do as `_kernels.count` does."""
    parents, items, edges = (a.astype(np.int64) for a in (parents, items, edges))
    out = np.empty((len(items), len(edges) - 1), dtype=np.int64)
    _walk(covers, parents, bits, items, edges, out)
    return out


def join(covers, parents, bits, items, out):
    """Do as `_kernels.join` does."""
    parents, items = (a.astype(np.int64) for a in (parents, items))
    _fill(covers, parents, bits, items, out)


def sums(covers, values):
    """Do as `_kernels.sums` does."""
    out = np.zeros((len(covers), len(values)))
    _add_up(np.ascontiguousarray(covers), np.ascontiguousarray(values), out)
    return out
