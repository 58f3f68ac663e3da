"""Whom a change would help: the changed rows, each distinct one asked about once."""

from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from skdisc._blackbox._queries import AnswerCache
from skdisc._utils._hashing import multipliers

_CELLS = 2**24  # people times changes looked at together
_ROWS = 500_000  # changed rows made at once


class Layout:
    """People as bits, group by group, each group padded to whole 64-bit words.

    Parameters
    ----------
    group : ndarray of int, shape (n_people,)
    n_groups : int
    """

    def __init__(self, group, n_groups):
        sizes = np.bincount(group, minlength=n_groups)
        self.group, self.sizes = group, sizes
        self.edges = np.concatenate([[0], np.cumsum(-(-sizes // 64))])
        order = np.argsort(group, kind="stable")
        first = np.cumsum(sizes) - sizes
        self._place = np.empty(len(group), dtype=np.int64)
        group = group[order]
        self._place[order] = 64 * self.edges[group] + np.arange(len(group)) - first[group]

    def pack(self, masks):
        """Return bool rows, one column per person, as rows of 64-bit words."""
        wide = np.zeros((len(masks), 64 * self.edges[-1]), dtype=bool)
        wide[:, self._place] = masks
        return np.packbits(wide, axis=1).view(np.uint64)

    def unpack(self, bits):
        """Undo `pack`."""
        return np.unpackbits(bits.view(np.uint8), axis=1)[:, self._place].astype(bool)

    def count(self, bits):
        """Count the people of each group, an int array of shape (n, n_groups)."""
        ones = np.bitwise_count(bits)
        out = np.empty((len(bits), len(self.sizes)), dtype=np.int64)
        for g, (start, stop) in enumerate(pairwise(self.edges)):
            out[:, g] = ones[:, start:stop].sum(axis=1)
        return out


class Changed:
    """The rows of X after a change, as codes of their values; tables are made on demand.

    Parameters
    ----------
    X : DataFrame
    moves : Moves
    shift : bool
        Whether a number moves by the distance between the middles of its bin and the target's;
        else it becomes the middle of the target's bin. Those in it already keep theirs.
    """

    def __init__(self, X, moves, shift):
        self.moves, self.names = moves, list(X.columns)
        self.column = [self.names.index(f) for f in moves.features]
        self.local = np.zeros(len(moves.targets), dtype=np.int64)
        self.codes = np.empty((len(X), len(self.names)), dtype=np.int64)
        self.tables, self.parts, self.moved = [], [], {}
        weights = multipliers(len(self.names))
        for j, name in enumerate(self.names):
            extra = [X[name].iloc[:0]]
            f = moves.features.index(name) if name in moves.features else None
            code, distinct = pd.factorize(X[name], use_na_sentinel=False)
            distinct = pd.Series(distinct, dtype=X[name].dtype)
            if f is not None:
                to, stays = self._destinations(distinct, f, shift)
                extra = [to]
            both = pd.concat([distinct, *extra], ignore_index=True).astype(X[name].dtype)
            number, table = pd.factorize(both, use_na_sentinel=False)
            if f is not None:
                own = number[: len(distinct), None]
                new = number[len(distinct) :].reshape(len(distinct), -1)
                self.moved[f] = np.where(stays, own, new)
            self.codes[:, j] = number[code]
            self.tables.append(table)
            hashed = pd.util.hash_pandas_object(pd.Series(table), index=False).to_numpy()
            with np.errstate(over="ignore"):
                self.parts.append(hashed * weights[j])

    def _destinations(self, distinct, f, shift):
        """Return the value that each distinct one gets by each target, and where it stays."""
        moves, scale = self.moves, self.moves.scales[f]
        targets = np.flatnonzero(moves.target_feature == f)
        self.local[targets] = np.arange(len(targets))
        frame = distinct.to_frame(moves.features[f])
        stays = np.array([moves.targets[t].mask(frame) for t in targets], dtype=bool)
        stays = stays.reshape(len(targets), len(frame)).T
        values = [moves.values[t] for t in targets]
        if shift and scale.kind == "numeric":
            x = distinct.to_numpy(dtype=float, na_value=np.nan)[:, None]
            middle = scale.middle[np.searchsorted(scale.upper[:-1], x)]
            x = np.where(np.isnan(x), scale.places(values), x + scale.places(values) - middle)
            x = np.clip(x, scale.low, scale.high).ravel()
            whole = distinct.dtype.kind in "iu"
            return pd.Series(np.rint(x) if whole else x).astype(distinct.dtype), stays
        every = scale.series(values)
        return every.iloc[np.tile(np.arange(len(values)), len(distinct))], stays

    @cached_property
    def _unchanged(self):
        with np.errstate(over="ignore"):
            return np.sum([p[c] for p, c in zip(self.parts, self.codes.T, strict=True)], axis=0)

    def keys(self, rows=slice(None), change=None):
        """Return a 64-bit key of each row after its change (None: as it is)."""
        keys = self._unchanged[rows]
        if change is None:
            return keys
        with np.errstate(over="ignore"):
            for f, at, old, new in self._changes(rows, change):
                part = self.parts[self.column[f]]
                keys[at] += part[new] - part[old]
        return keys

    def frame(self, rows, change):
        """Return the rows after their changes as a DataFrame."""
        codes = self.codes[rows]
        for f, at, _, new in self._changes(rows, change):
            codes[at, self.column[f]] = new
        columns = {}
        for name, table, code in zip(self.names, self.tables, codes.T, strict=True):
            columns[name] = pd.Series(table.take(code))
        return pd.DataFrame(columns, copy=False)

    def _changes(self, rows, change):
        """Yield column, positions, and codes before and after, where a change is asked for."""
        for f, j in enumerate(self.column):
            at = np.flatnonzero(change[:, f] >= 0)
            if len(at):
                old = self.codes[rows[at], j]
                yield f, at, old, self.moved[f][old, self.local[change[at, f]]]


class DecisionCache:
    """The cache.about rows and changed rows, so that the model is queried about each once."""

    def __init__(self, task):
        self._queries, self._budget = task.queries, task.budget
        self._cache, self._is_over = AnswerCache(bool), False

    def learn(self, keys, decided):
        """Enter the cache.about rows as they are, which were queried already."""
        self._cache.get(keys, decided.__getitem__)

    def about(self, changed, rows, change):
        """Return the decision about each changed row; None once the budget forbids a query."""
        if self._is_over:
            return None

        def query(new):
            self._is_over = not self._budget.affords(len(new))
            decided = np.zeros(len(new), dtype=bool)
            for start in range(0, 0 if self._is_over else len(new), _ROWS):
                part = slice(start, start + _ROWS)
                answers = self._queries.ask(changed.frame(rows[new[part]], change[new[part]]))
                decided[part] = answers > 0.5
            return decided

        decided = self._cache.get(changed.keys(rows, change), query)
        return None if self._is_over else decided


def find_flips(cache, changed, layout, people, changes, members):
    """Ask about every member of a change with the change applied.

    Parameters
    ----------
    cache : DecisionCache
    changed : Changed
    layout : Layout
    people : ndarray of int
        Rows of X that the bits stand for.
    changes : ndarray of int, shape (n_changes, n_features)
    members : ndarray of uint64, shape (n_changes, n_words)

    Returns
    -------
    flips : ndarray of uint64, shape (n_changes, n_words)
        Whom the change helps.
    n_asked : int
        Changes asked about before the budget ended it, all if it did not.
    """
    flips = np.zeros_like(members)
    size = max(1, _CELLS // max(1, len(people)))
    for start in range(0, len(changes), size):
        block = slice(start, start + size)
        masks = layout.unpack(members[block])
        c, person = np.nonzero(masks)
        good = cache.about(changed, people[person], changes[block][c])
        if good is None:
            return flips, start
        masks[c, person] = good
        flips[block] = layout.pack(masks)
    return flips, len(changes)
