"""64-bit keys of rows, and a vectorized index that numbers distinct keys."""

from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps

import numpy as np
import pandas as pd

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_EMPTY = np.uint64(0)
_PLACE = np.uint64(48)  # bits below the 16 highest ones, by which keys are divided
_LEAST = 2**11  # keys that always have room
_PIECE = 2**16  # keys looked up at once: few enough to stay in the processor's cache
_START, _FACTOR, _END = np.uint64(0x345678), 1000003, np.uint64(97531)  # of combined hashes
_MISSING = np.uint64(2**64 - 1)  # hash of a missing text
_MANY_VALUES = 100  # of a column of numbers that are not names of a few groups
_FIRST = 2**12  # numbers that show whether hashing is faster than sorting


@lru_cache
def multipliers(n):
    """Return `n` fixed, odd, pseudo-random 64-bit integers, one per column.

    They are the same on every machine, so that keys are too.
    """
    with np.errstate(over="ignore"):
        z = (np.arange(1, n + 1, dtype=np.uint64) * _GOLDEN) ^ np.uint64(0x5DEECE66D)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    z |= np.uint64(1)
    z.flags.writeable = False
    return z


class KeyIndex:
    """Numbers distinct 64-bit keys 0, 1, 2, … in the order in which they first appear.

    An open-addressing hash table whose operations are whole-array NumPy calls, so that a
    search finds out which of 100,000 inputs are new in some tens of nanoseconds each.

    `room`: number of keys to allocate room for, at least 2,048; the table grows when more come.
    """

    def __init__(self, room=0):
        self._n = 0
        self._allocate((2 * max(room, _LEAST) - 1).bit_length())

    def __len__(self):
        return self._n

    def add(self, keys):
        """Add keys, and return their numbers and which of them are new.

        Returns `ids`: the number of each key; equal keys have equal numbers; `first`: True where a
        key is seen for the first time, at its first place in `keys`.
        """
        ids, first = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=bool)
        for start in range(0, len(keys), _PIECE):
            part = slice(start, start + _PIECE)
            ids[part], first[part] = self._add(keys[part])
        return ids, first

    def _add(self, keys):
        self._reserve(len(keys))
        slots = self._slots(np.where(keys == _EMPTY, _GOLDEN, keys))
        new = np.flatnonzero(self._ids[slots] < 0)
        free_slots = slots[new]
        self._ids[free_slots[::-1]] = ~new[::-1]  # reversed: the last written is the first
        is_first = self._ids[free_slots] == ~new
        fresh = free_slots[is_first]
        self._ids[fresh] = np.arange(self._n, self._n + len(fresh))
        self._n += len(fresh)
        first = np.zeros(len(keys), dtype=bool)
        first[new[is_first]] = True
        return self._ids[slots], first

    def _slots(self, keys):
        """Return the slot of each key; a new key takes a free slot."""
        with np.errstate(over="ignore"):
            slots = ((keys * _GOLDEN) >> np.uint64(64 - self._bits)).astype(np.int64)
        todo = np.flatnonzero(self._table[slots] != keys)
        while todo.size:
            tried, tried_keys = slots[todo], keys[todo]
            free = self._table[tried] == _EMPTY
            self._table[tried[free]] = tried_keys[free]  # several keys: one stays, others go on
            todo = todo[self._table[tried] != tried_keys]
            slots[todo] = (slots[todo] + 1) & (len(self._table) - 1)
        return slots

    def _allocate(self, bits):
        self._bits = bits
        self._table = np.full(1 << bits, _EMPTY, dtype=np.uint64)
        self._ids = np.full(1 << bits, -1, dtype=np.int32)

    def _reserve(self, n_more):
        """Grow so that the table stays at most half full."""
        if 2 * (self._n + n_more) <= len(self._table):
            return
        used = self._table != _EMPTY
        keys, ids = self._table[used], self._ids[used]
        self._allocate(int(2 * (self._n + n_more) - 1).bit_length() + 1)
        self._ids[self._slots(keys)] = ids


class Growing:
    """An array that grows at its end in amortized constant time per row."""

    def __init__(self, dtype, *shape):
        self._buffer, self._n = np.empty((1024, *shape), dtype), 0

    def extend(self, rows):
        end = self._n + len(rows)
        if end > len(self._buffer):
            larger = np.empty((2 * end, *self._buffer.shape[1:]), self._buffer.dtype)
            larger[: self._n] = self.rows
            self._buffer = larger
        self._buffer[self._n : end] = rows
        self._n = end

    @property
    def rows(self):
        return self._buffer[: self._n]


_record: ContextVar[dict | None] = ContextVar("record", default=None)


@contextmanager
def one_numbering():
    """Number the values of each column once inside, whoever asks for them.

    Frames that share a column share its values, which nothing changes during a run; so columns are
    known by where their values are stored. Runs inside of a run share its record.
    """
    token = _record.set({} if _record.get() is None else _record.get())
    try:
        yield
    finally:
        _record.reset(token)


def numbered_once(run):
    """Decorate a run in which columns are numbered once, as in `one_numbering`.

    `one_numbering` as a decorator would put a frame of the standard library between the caller and
    the package, to which warnings would point.
    """

    @wraps(run)
    def recorded(*args, **kwargs):
        with one_numbering():
            return run(*args, **kwargs)

    return recorded


def numbers_of(column):
    """Return the number of the value of each row, -1 if missing, and the distinct values."""
    record, (data, key) = _record.get(), _stored(column)
    if record is not None and key in record:
        return record[key][1:]
    number, values = pd.factorize(column)
    if isinstance(values.dtype, (np.dtype, pd.StringDtype)):
        values = np.asarray(values)  # much faster to go through than an index
    number = number.astype(np.min_scalar_type(-len(values) - 1))
    if record is not None:
        record[key] = data, number, values  # with the data, whose place is not used again so long
    return number, values


def typed(values):
    """Return the distinct values of `numbers_of` as pandas has them: dates are no numbers."""
    return values if values.dtype == object else pd.Series(values).array


def _stored(column):
    """Return what holds the values of a Series, and a key of its place."""
    data = column.array
    if getattr(column.dtype, "storage", "") == "pyarrow":
        data = data.__arrow_array__()  # which Series that share it wrap each in an array of its own
    if not isinstance(column.dtype, np.dtype):
        return data, (id(data), column.dtype)
    interface = column.to_numpy().__array_interface__
    return data, (interface["data"][0], interface["strides"], len(column), column.dtype)


class NumberedColumns:
    """The values of the columns of a frame as numbers, which are found once for each column.

    Examples
    --------
    >>> columns = NumberedColumns(pd.DataFrame({"sex": ["F", None, "M", "F"]}))
    >>> number, values = columns["sex"]
    >>> number, list(values)
    (array([ 0, -1,  1,  0], dtype=int8), ['F', 'M'])
    """

    def __init__(self, X):
        self.X, self._known = X, {}

    def __contains__(self, name):
        """Whether the values of a column were numbered."""
        return name in self._known

    def __getitem__(self, name):
        """Return the number of the value of each row, -1 if missing, and the distinct values."""
        if name not in self._known:
            self._known[name] = numbers_of(self.X[name])
        return self._known[name]

    def taken(self, positions, X):
        """Return the columns of some rows, `X`, without looking for their values again.

        `positions`: positions of the rows. `X`: these rows.
        """
        part = NumberedColumns(X)
        part._known = {
            name: (number[positions], values) for name, (number, values) in self._known.items()
        }
        return part

    def hashes(self):
        """Return `row_hashes` of the frame; each text is hashed once."""
        return combined([self.hash_of(name) for name in self.X.columns], len(self.X))

    def hash_of(self, name):
        """Return a 64-bit hash of the value of each row in a column; missing values have one."""
        column = self.X[name]
        if column.dtype.kind != "O" or isinstance(column.dtype, pd.CategoricalDtype):
            return hash_of(column)
        number, values = self[name]
        of_value = pd.util.hash_array(values, categorize=False)
        return np.append(of_value, _MISSING)[number]


def hash_of(column):
    """Return a 64-bit hash of each value of a Series; one that has none counts as its text."""
    values = column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array
    try:
        return pd.util.hash_array(values)
    except TypeError:
        return pd.util.hash_array(column.map(_text).to_numpy(dtype=object))


def combined(hashes, shape):
    """Return one hash of the hashes of all columns, as pandas combines them.

    `hashes`: one for each column, of shapes that broadcast to `shape`.
    """
    key, factor = np.full(shape, _START), _FACTOR
    for n_left, column_hashes in zip(range(len(hashes), 0, -1), hashes, strict=True):
        key ^= column_hashes
        key *= np.uint64(factor)
        factor += 82520 + 2 * n_left
    return key + _END


def row_hashes(X):
    """Return a 64-bit hash of each row; a value without one, such as a list, counts as its text."""
    return combined([hash_of(column) for _, column in X.items()], len(X))


def hashes_of_content(X, y, people):
    """Return a 64-bit hash of each row that does not depend on how values are spelled or stored.

    A value counts as its rank by the number of its people, then by their outcomes, so that 0 and 1,
    False and True, "no" and "yes" are the same; only ties of both are broken by the value itself.
    Numbers with many values count as they are.

    `y`: outcomes, which may be missing. `people`: the number of people of each row. None: one.
    """
    people = np.ones(len(X)) if people is None else np.asarray(people, dtype=float)
    outcome = np.nan_to_num(y) * people
    return combined([_hash_of_ranks(column, outcome, people) for _, column in X.items()], len(X))


def _hash_of_ranks(column, outcome, people):
    """Return a hash of each value of a Series by the rank that `hashes_of_content` describes."""
    code, values = numbers_of(column)
    is_number = column.dtype.kind in "iuf" and not isinstance(column.dtype, pd.CategoricalDtype)
    if is_number and len(values) > _MANY_VALUES:
        return pd.util.hash_array(column.to_numpy(dtype=float, na_value=np.nan))
    by_text = pd.Series(np.asarray(values, dtype=object)).map(_text).rank(method="first")
    code = np.append(by_text.to_numpy(dtype=int) - 1, -1)[code]
    return pd.util.hash_array(ranks_of_codes(code, outcome, people), categorize=False)


def ranks_of_codes(code, outcome, people):
    """Return the rank of the value of each row by its people, then outcomes, as floats.

    `code`: numbers of values from 0, negative where missing; these break ties. `outcome` and
    `people`: the sum of the outcomes, and the number, of the people of each row. Returns an ndarray
    of float: -1 where missing.
    """
    n, has_value = int(code.max(initial=-1)) + 1, code >= 0
    people, outcome = (np.bincount(code[has_value], x[has_value], n) for x in (people, outcome))
    return np.append(ranks_by_content(people, outcome), -1.0)[code]


def ranks_by_content(people, outcomes):
    """Return ranks by numbers of people, then by sums of outcomes; ties in their order."""
    # Sums of floats depend on the order of rows in their last digits.
    outcomes = np.round(outcomes / (np.abs(outcomes).sum() or 1), 9)
    rank = np.empty(len(people))
    rank[np.lexsort((outcomes, people))] = np.arange(len(people))
    return rank


def without_direction(y, people):
    """Return outcomes that are the same whichever of two values is the favorable one.

    The rarer of two values becomes 0; other outcomes are returned as they are.
    """
    values = np.unique(y[~np.isnan(y)])
    if len(values) != 2:
        return y
    people = np.ones(len(y)) if people is None else np.asarray(people, dtype=float)
    first, second = (people[y == value].sum() for value in values)
    return np.where(np.isnan(y), np.nan, (y == values[0]) == (first > second))


def at_ranks(keys, ranks):
    """Return ``np.argsort(keys, kind="stable")[ranks]``; keys far from these are not sorted.

    >>> print(at_ranks(np.array([7, 2**63, 7], dtype=np.uint64), [2, 1]))
    [1 2]
    """
    place = (keys >> _PLACE).astype(np.intp)
    size = np.bincount(place, minlength=1 << 16)
    end = np.cumsum(size)
    of_rank = np.searchsorted(end, ranks, side="right")
    is_needed = np.zeros(len(size), dtype=bool)
    is_needed[of_rank] = True
    rows = np.flatnonzero(is_needed[place])
    rows = rows[np.argsort(keys[rows], kind="stable")]
    skipped = np.cumsum(np.where(is_needed, 0, size))
    return rows[np.asarray(ranks) - skipped[of_rank]]


def _text(value):
    """Return a value as text that is not abridged, as that of a long array is."""
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def canonical_order(X, *more):
    """Return an order of the rows by content, ties by `more`, so that sums do not depend on X's."""
    return np.lexsort((*more, row_hashes(X)))


def by_name(X):
    """Return the columns in the order of their names."""
    return X.iloc[:, np.argsort([str(c) for c in X.columns], kind="stable")]


def canonical_rank(X):
    """Return the rank of each row in the canonical order."""
    rank = np.empty(len(X), dtype=np.intp)
    rank[canonical_order(X)] = np.arange(len(X))
    return rank


def distinct(x):
    """Return the sorted distinct values of numbers, hashed first where a few stand for many."""
    x = np.asarray(x)
    first = x[:_FIRST]
    has_few_values = (
        len(x) > 16 * _FIRST and x.dtype.kind in "iuf" and len(np.unique(first)) <= len(first) // 2
    )
    return np.unique(pd.unique(x) if has_few_values else x)
