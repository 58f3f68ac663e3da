"""Public documents: which counts of a table may be printed, so that nothing tells about few people.

The choice looks at columns, never at an outcome: what is left out tells nothing, and all documents
about one table have the same choice, so that two of them tell no more than one. What is printed
keeps all digits, for rounding does not help: three digits of a rate tell every count up to 1,000.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from scipy.sparse import csr_array

from skdisc._utils._inputs import check_is_frame, check_order
from skdisc._utils._types import ArrayLike, Columns
from skdisc._utils._validation import check_protected

MOST = 0.5  # of the variation of a small set; 1 is what follows by adding and subtracting
_DISTINCT = 10  # numbers; a column with more is cut at its quartiles
_DEEP = 5  # columns up to which small sets have up to three conditions, beyond it two
_MISSING = "missing"
_BLOCK = 64
_ROUNDING = 1e-7
_DEPENDENT = 1e-10  # of the people of a group; a single person is more than 1e-8 of these


def merged(values: pd.Series, least: int) -> np.ndarray:
    """Join the values of fewer than `least` people, with the next rarest until they are as many.

    Parameters
    ----------
    values : Series
        Numbers with more than ten different values are cut at their quartiles.
    least : int
        Twice the smallest group: 9 of 10 people are nearly all of them.

    Returns
    -------
    ndarray of str, shape (n_rows,)
        Joined values are "others", or "b or others" if the large value "b" had to join.
    """
    names, code = _coded(values)
    size = np.bincount(code, minlength=len(names))
    others = "others" if "others" not in names else "all others"
    label, people = others, 0
    joined = np.zeros(len(names), dtype=bool)
    for i in np.argsort(size, kind="stable"):
        if size[i] >= least and (people == 0 or people >= least):
            break
        joined[i], people = True, people + size[i]
        label = others if size[i] < least else f"{names[i]} or {others}"
    return np.where(joined, label, names).astype(object)[code]


def public_counts(
    X: pd.DataFrame,
    favorable: ArrayLike,
    *,
    protected: Columns | None = None,
    min_cell: int = 10,
) -> pd.DataFrame:
    """Return counts of groups from which no outcome of fewer than `min_cell` people follows.

    Groups are the values of single columns; those of fewer than 2 `min_cell` people are joined,
    and numbers cut at their quartiles. All columns of X are asked for, in an order of the columns
    alone: groups with more people on the smaller side first, then by name. A group stays if the
    sums that are then known explain at most half of the variation of every small set of people,
    were outcomes independent. An audit of these counts sees nothing else, and may be published.

    Parameters
    ----------
    X : DataFrame of shape (n_people, n_columns)
        All columns that describe people, whichever of them a document is about: two documents
        about one table then tell no more than one.
    favorable : array-like of shape (n_people,)
        1 or True for a favorable outcome, else 0 or False.
    protected : column name or sequence of them, default=None
        The columns whose groups are returned; None: all.
    min_cell : int, default=10
        Sets of fewer people are protected.

    Returns
    -------
    DataFrame
        attribute, group, n and selected, as `Audit.from_counts` takes them. Columns of which fewer
        than two groups stay are left out.

    Raises
    ------
    ValueError
        If X is not a DataFrame, a column does not exist, or outcomes are not 0 and 1.

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(2000, random_state=0, return_X_y=True)
    >>> table = public_counts(X, y == 1, protected="gender")
    >>> table.columns.tolist()
    ['attribute', 'group', 'n', 'selected']
    >>> int(table["n"].sum())
    2000
    """
    check_is_frame(X)
    check_order(X=X, y=favorable)
    favorable = np.asarray(favorable)
    if favorable.shape != (len(X),) or not np.isin(favorable, (0, 1)).all():
        raise ValueError("favorable must be 0 or 1 for each row of X.")
    names = list(X) if protected is None else check_protected(protected, list(X))
    columns = {name: merged(X[name], 2 * min_cell) for name in X}
    columns = {name: values for name, values in columns.items() if len(set(values)) > 1}
    asked = []
    for name, values in columns.items():
        for value in sorted(set(values)):
            inside = values == value
            asked.append((-min(inside.sum(), (~inside).sum()), str(name), value, inside))
    sums = PrintedSums(list(columns.values()), min_cell) if columns else None
    rows = [
        (name, value, int(inside.sum()), int(favorable[inside].sum()))
        for _, name, value, inside in sorted(asked, key=lambda row: row[:3])
        if sums.may_print(inside, ~inside)
    ]
    counts = pd.DataFrame(rows, columns=["attribute", "group", "n", "selected"])
    several = counts.groupby("attribute")["n"].transform("size") > 1
    counts = counts[counts["attribute"].isin([str(n) for n in names]) & several]
    return counts.sort_values(["attribute", "group"], ignore_index=True)


class PrintedSums:
    """The sums over groups printed so far, and whether another group may join them.

    Were outcomes independent, the printed sums would explain a share of the variation of each small
    set of people: 1 if its sum follows by adding and subtracting, 0 if it is not touched. That of
    no set may exceed `most`.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_rows,)
        All columns that can describe a small set.
    min_cell : int
        Small sets have fewer people. They are those of up to three conditions (two, if there are
        more than five columns), or of all columns; contexts without one of their values; and the
        small values of a context together.
    base : ndarray of bool or int, shape (n_rows,), default=None
        How many people of each row a rate is about; None: one.
    most : float, default=0.5

    Attributes
    ----------
    cells : ndarray of int, shape (n_cells, n_columns)
        The combinations of values that occur. People with equal values are in equal groups.
    people : ndarray of float, shape (n_cells,)
        Those whom the rate is about.
    first : ndarray of int, shape (n_cells,)
        A row of each cell.
    """

    def __init__(
        self,
        columns: Sequence[np.ndarray],
        min_cell: int,
        base: np.ndarray | None = None,
        most: float = MOST,
    ) -> None:
        self._codes = [np.unique(c, return_inverse=True)[1].ravel() for c in columns]
        self.min_cell, self.most = min_cell, most
        self._cell = np.zeros(len(self._codes[0]), dtype=np.int64)
        for code in self._codes:
            self._cell = _dense(self._cell * (int(code.max(initial=0)) + 1) + code)
        self.first = np.unique(self._cell, return_index=True)[1]
        self._numbers = {}
        self.cells = np.array([code[self.first] for code in self._codes]).T
        self.people = np.bincount(self._cell, base, len(self.first)).astype(float)
        self.small = self._small_sets()
        size = self.small @ self.people
        share = self.small.multiply(self.people[None, :]).tocsr()
        share.data = np.sqrt(share.data / np.repeat(size, np.diff(share.indptr)))
        self._unit = share  # rows of length 1
        self._basis = np.zeros((16, len(self.first)))  # orthonormal, of the printed sums
        self._rank = 0
        self._explained = np.zeros(len(size))
        self._add(*self._tried(np.ones((1, len(self.first)), dtype=bool)))  # all are known

    def may_print(self, *groups: np.ndarray) -> bool:
        """Count groups as printed if all of them may be; they are masks of rows."""
        return bool(self.choose(np.array([[g[self.first] for g in groups]]))[0])

    def choose(self, asked: np.ndarray) -> np.ndarray:
        """Count asked groups as printed, one row after the other, if all of a row may be.

        Parameters
        ----------
        asked : ndarray of bool, shape (n_rows, n_sides, n_cells)
            The cells of the groups of each row.

        Returns
        -------
        ndarray of bool, shape (n_rows,)
        """
        return choose([self], asked)

    def follow(self, groups: np.ndarray) -> np.ndarray:
        """Return which sums follow from printed ones; `groups` are masks of cells, one a row."""
        length = np.sqrt(groups @ self.people)
        return np.linalg.norm(self._without(groups), axis=1) <= _ROUNDING * (1 + length)

    def _tried(self, groups):
        """Return what masks of cells add to the basis, and what all explain then."""
        fresh = self._fresh(groups)
        return fresh, self._explained + ((self._unit @ fresh.T) ** 2).sum(axis=1)

    def _add(self, fresh, told):
        while self._rank + len(fresh) > len(self._basis):
            self._basis = np.vstack([self._basis, np.zeros_like(self._basis)])
        self._basis[self._rank : self._rank + len(fresh)] = fresh
        self._rank += len(fresh)
        self._explained = told

    def _fresh(self, groups):
        """Return orthonormal vectors for what masks of cells add to the basis."""
        left = self._without(groups)
        size, turned = np.linalg.eigh(left @ left.T)
        scale = max(float((groups @ self.people).max(initial=0.0)), 1.0)
        is_new = size > _DEPENDENT * scale  # else a sum follows from others
        fresh = (turned[:, is_new].T @ left) / np.sqrt(size[is_new])[:, None]
        fresh = fresh - (fresh @ self._basis[: self._rank].T) @ self._basis[: self._rank]
        return np.linalg.qr(fresh.T)[0].T

    def _without(self, groups):
        """Return masks of cells, in units of their variation, without what the basis explains."""
        basis = self._basis[: self._rank]
        left = groups * np.sqrt(self.people)  # outcomes of n people vary by sqrt(n)
        for _ in range(2):  # once leaves rounding errors
            left = left - (left @ basis.T) @ basis
        return left

    def _small_sets(self):
        """Return the small sets, a sparse matrix of 0 and 1: one row each, one column per cell."""
        width = self.cells.shape[1]
        deep = 3 if width <= _DEEP else 2
        rows, cells, n = [], [], 0
        for depth in {*range(1, min(deep, width) + 1), width}:
            for columns in combinations(range(width), depth):
                for of_set, member in self._small_of(columns):
                    number = _dense(of_set)
                    rows.append(number + n)
                    cells.append(member)
                    n += number.max(initial=-1) + 1
        rows, cells = np.concatenate(rows), np.concatenate(cells)
        draw = np.random.default_rng(0).integers(0, 2**63, len(self.cells), dtype=np.uint64)
        key = np.zeros(n, dtype=np.uint64)  # of equal sets, one is kept
        np.add.at(key, rows, draw[cells])
        _, first = np.unique(key, return_index=True)
        sets = csr_array((np.ones(len(rows)), (rows, cells)), shape=(n, len(self.cells)))
        return sets[np.sort(first)]

    def _small_of(self, columns) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield small sets of people with the same values of some columns: numbers and cells."""
        group = self._number(columns)
        size = np.bincount(group, self.people)
        few = (size > 0) & (size < self.min_cell)
        at = np.flatnonzero(few[group])
        yield group[at], at
        for out in columns:
            context = self._number([c for c in columns if c != out])
            whole = np.bincount(context, self.people)
            # the small values of a context together
            together = np.bincount(context[at], self.people[at], len(whole))
            own = at[(together < self.min_cell)[context[at]]]
            yield context[own], own
            # a context without one of its values: "in t5, but not a woman" need not be one group
            home = np.zeros(len(size), dtype=int)
            home[group] = context
            rest = whole[home] - size
            large = np.flatnonzero((rest > 0) & (rest < self.min_cell))
            if not len(large):
                continue
            order = np.argsort(context, kind="stable")
            n_cells = np.bincount(context)
            first = np.cumsum(n_cells) - n_cells
            times = n_cells[home[large]]  # each group is paired with the cells of its context
            g = np.repeat(large, times)
            place = np.arange(len(g)) - np.repeat(np.cumsum(times) - times, times)
            member = order[np.repeat(first[home[large]], times) + place]
            other = group[member] != g
            yield g[other], member[other]

    def _number(self, columns):
        """Return the number of the combination of some columns in each cell."""
        columns = tuple(columns)
        if columns in self._numbers:
            return self._numbers[columns]
        number = np.zeros(len(self.cells), dtype=np.int64)
        for c in columns:
            number = _dense(number * (self.cells[:, c].max() + 1) + self.cells[:, c])
        if len(columns) <= _DEEP:
            self._numbers[columns] = number
        return number


def choose(several: Sequence[PrintedSums], asked: np.ndarray) -> np.ndarray:
    """Count asked groups as printed, one row after the other, if all of a row may be.

    Parameters
    ----------
    several : sequence of PrintedSums
        By all of which a row must be allowed, such as those of all people and of the qualified.
    asked : ndarray of bool, shape (n_rows, n_sides, n_cells)
        The cells of the groups of each row.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
    """
    enough = [(asked @ sums.people >= sums.min_cell).all(axis=1) for sums in several]
    chosen, at = np.zeros(len(asked), dtype=bool), np.flatnonzero(np.all(enough, axis=0))
    start, size = 0, _BLOCK
    while start < len(at):
        # What is explained only grows, so rows that may all be printed may be one by one.
        block = at[start : start + size]
        tried = [sums._tried(asked[block].reshape(-1, asked.shape[2])) for sums in several]
        may = all(
            not len(fresh) or told.max(initial=0.0) <= sums.most + _ROUNDING
            for sums, (fresh, told) in zip(several, tried, strict=True)
        )
        if may:
            chosen[block] = True
            for sums, own in zip(several, tried, strict=True):
                sums._add(*own)
        if may or len(block) == 1:
            start, size = start + len(block), min(2 * size, _BLOCK)
        else:
            size = len(block) // 2
    return chosen


def _dense(number):
    """Return whole numbers as the numbers 0, 1, ... of their values, in order."""
    if len(number) and number.max() > 8 * len(number) + 1000:
        return np.unique(number, return_inverse=True)[1].ravel()
    occurs = np.bincount(number) > 0
    return (np.cumsum(occurs) - 1)[number]


def _coded(values):
    """Return the texts of values in order, and the number of each row's; quartiles of numbers."""
    is_number = is_numeric_dtype(values) and not is_bool_dtype(values)
    code, found = pd.factorize(values)  # each value is read once; -1 is missing
    if is_number and len(found) > _DISTINCT:
        numbers = pd.to_numeric(pd.Series(found)).to_numpy(float)
        known = numbers[code[code >= 0]]
        ends = np.unique(np.quantile(known, (0.25, 0.5, 0.75), method="inverted_cdf"))
        names = [f"at most {ends[0]:g}"]
        names += [f"above {a:g}, at most {b:g}" for a, b in pairwise(ends)]
        names = np.array([*names, f"above {ends[-1]:g}"], dtype=object)
        texts = names[np.searchsorted(ends, numbers)]
    else:
        texts = np.array([_text(value) for value in found], dtype=object)
    texts = np.append(texts, _MISSING).astype(str)
    names, number = np.unique(texts, return_inverse=True)
    code = number.ravel()[code]  # the last one for -1
    used, code = np.unique(code, return_inverse=True)
    return names[used], code.ravel()


def _text(value):
    """Return the text of a value; 1, 1.0 and True are told apart no more than a file does."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)
