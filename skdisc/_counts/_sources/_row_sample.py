"""Samples of rows, stratified, from a table that is read part by part."""

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from skdisc._utils._validation import of_numbers, plain

_ROWS_TO_HASH = 1000


class DrawnRows:
    """Rows with random priorities, of which the first ones of each stratum are kept.

    `strata`: tuples of values. `size`: number of rows to keep of each stratum.
    """

    def __init__(self, frames: list, strata: np.ndarray, priority: np.ndarray, size: dict):
        self._frames, self._strata, self._priority = frames, strata, priority
        self._size = size

    @classmethod
    def of(
        cls, frame: pd.DataFrame, by: Sequence[Hashable], size: dict, random_state: int
    ) -> "DrawnRows":
        """Draw the priorities of the rows of a part, from the random state and some of its rows."""
        hashed_rows = frame.iloc[:: len(frame) // _ROWS_TO_HASH + 1]
        content = int(pd.util.hash_pandas_object(hashed_rows, index=False).sum())
        priority = np.random.default_rng([random_state, content]).random(len(frame))
        codes, strata = strata_of(frame, by)
        return cls([frame], strata[codes], priority, size)._limited()

    def __add__(self, other: "DrawnRows") -> "DrawnRows":
        strata = np.concatenate([self._strata, other._strata])
        priority = np.concatenate([self._priority, other._priority])
        return DrawnRows(self._frames + other._frames, strata, priority, self._size)._limited()

    def _limited(self):
        """Return the rows of least priority of each stratum."""
        codes, values = pd.factorize(self._strata)
        order = np.lexsort((self._priority, codes))
        starts = np.searchsorted(codes[order], np.arange(len(values)))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - starts[codes[order]]
        keep = rank < np.array([self._size[v] for v in values])[codes]
        ends = np.cumsum([len(f) for f in self._frames])[:-1]
        frames = [f[k] for f, k in zip(self._frames, np.split(keep, ends), strict=True)]
        frames = [f for f in frames if len(f)]
        return DrawnRows(frames, self._strata[keep], self._priority[keep], self._size)

    @property
    def frame(self) -> pd.DataFrame:
        """The rows in the order in which they were drawn."""
        stacked = stack(self._frames)
        return stacked.iloc[np.argsort(self._priority)].reset_index(drop=True)


def strata_of(frame: pd.DataFrame, by: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of the stratum of each row, and the strata, tuples of values."""
    codes, table = np.zeros(len(frame), dtype=np.int64), [()]
    for name in by:
        column_codes, values = pd.factorize(frame[name])
        values = [*map(plain, values), None]
        codes = codes * len(values) + column_codes % len(values)
        table = [(*stratum, value) for stratum in table for value in values]
    strata = np.empty(len(table), dtype=object)
    strata[:] = table
    return codes, strata


def sizes_of(frame: pd.DataFrame, by: Sequence[Hashable]) -> Counter:
    """Return the number of rows of each stratum."""
    codes, strata = strata_of(frame, by)
    n = np.bincount(codes, minlength=len(strata))
    return Counter({s: k for s, k in zip(strata, n.tolist(), strict=True) if k})


def allocated(sizes: Counter, n: int) -> dict:
    """Return how many rows to draw of each stratum: in proportion, but at least one.

    `sizes`: number of rows of each stratum. `n`: number of rows in all; fewer strata than that, or
    each has one row.
    """
    total = sum(sizes.values())
    if n >= total:
        return dict(sizes)
    strata = sorted(sizes, key=lambda s: (-sizes[s], repr(s)))
    exact = np.array([sizes[s] * n / total for s in strata])
    whole = np.maximum(np.floor(exact).astype(np.int64), 1)
    for position in np.argsort(whole - exact, kind="stable")[: max(n - whole.sum(), 0)]:
        whole[position] += 1
    while whole.sum() > max(n, len(strata)):  # small strata took more than their share
        whole[np.argmax(whole)] -= 1
    return dict(zip(strata, whole.tolist(), strict=True))


def stack(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames of the same columns one below another, whatever is missing in some."""
    if len(frames) == 1:
        return frames[0].reset_index(drop=True)
    return pd.DataFrame({name: _joined([f[name] for f in frames]) for name in frames[0].columns})


def _joined(pieces):
    dtypes = {p.dtype for p in pieces}
    if len(dtypes) == 1:
        return pd.concat(pieces, ignore_index=True)
    if all(of_numbers(dtype) for dtype in dtypes):
        values = [p.to_numpy(dtype=np.float64, na_value=np.nan) for p in pieces]
        return pd.Series(np.concatenate(values))
    return pd.Series(np.concatenate([p.to_numpy(dtype=object) for p in pieces])).infer_objects()
