"""Public documents: which counts of a table may be printed, so that nothing tells about few people.

The choice looks at columns, never at an outcome: what is left out tells nothing, and all documents
about one table have the same choice, so that two of them tell no more than one. What is printed
keeps all digits, for rounding does not help: three digits of a rate tell every count up to 1,000.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from scipy.sparse import csr_array

from skdisc._utils._inputs import check_is_frame, check_order
from skdisc._utils._types import ArrayLike, Columns
from skdisc._utils._validation import check_protected

_MOST = 0.5  # of the variation of a small set; 1 is what follows by adding and subtracting
_DISTINCT = 10  # numbers; a column with more is cut at its quartiles
_DEEP = 5  # columns up to which small sets have up to three conditions, beyond it two
_MISSING = "missing"


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
    texts = _texts(values)
    names, code, size = np.unique(texts, return_inverse=True, return_counts=True)
    others = "others" if "others" not in names else "all others"
    label, people = others, 0
    joined = np.zeros(len(names), dtype=bool)
    for i in np.lexsort((names, size)):
        if size[i] >= least and (people == 0 or people >= least):
            break
        joined[i], people = True, people + size[i]
        label = others if size[i] < least else f"{names[i]} or {others}"
    return np.where(joined, label, names).astype(object)[code.ravel()]


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
    no set may exceed one half.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_people,)
        All columns that can describe a small set.
    min_cell : int
        Small sets have fewer people. They are those of up to three conditions (two, if there are
        more than five columns), or of all columns; contexts without one of their values; and the
        small values of a context together.
    """

    def __init__(self, columns: list[np.ndarray], min_cell: int) -> None:
        self._codes = [np.unique(c, return_inverse=True)[1].ravel() for c in columns]
        self.min_cell = min_cell
        self.cells, cell = np.unique(np.array(self._codes).T, axis=0, return_inverse=True)
        self._cell = cell.ravel()  # people with equal columns are in equal groups
        self.people = np.bincount(self._cell, minlength=len(self.cells))
        self.small = self._small_sets()
        size = self.small @ self.people
        share = self.small.multiply(self.people[None, :]).tocsr()
        share.data = np.sqrt(share.data / np.repeat(size, np.diff(share.indptr)))
        self._unit = share  # rows of length 1
        self._explained = np.zeros(len(size))
        self._basis = np.zeros((0, len(self.cells)))  # orthonormal, of the printed sums
        self._add(*self._with([np.ones(len(self._cell), dtype=bool)]))  # all are known

    def may_print(self, *groups: np.ndarray) -> bool:
        """Count groups as printed if all of them may be; they are masks of people."""
        if min(group.sum() for group in groups) < self.min_cell:
            return False
        basis, explained = self._with(groups)
        if (explained > _MOST + 1e-9).any() and len(basis) > len(self._basis):
            return False
        self._add(basis, explained)
        return True

    def _add(self, basis, explained):
        self._basis, self._explained = basis, explained

    def _with(self, groups):
        """Return basis and explained shares if groups were printed, too."""
        basis, explained = self._basis, self._explained
        for group in groups:
            inside = np.bincount(self._cell, group, len(self.cells)) > 0
            new = start = np.sqrt(self.people) * inside  # outcomes of n people vary by sqrt(n)
            for _ in range(2):  # once leaves rounding errors
                new = new - basis.T @ (basis @ new)
            if np.linalg.norm(new) > 1e-9 * np.linalg.norm(start):  # else its sum follows anyway
                new = new / np.linalg.norm(new)
                basis = np.vstack([basis, new])
                explained = explained + (self._unit @ new) ** 2
        return basis, explained

    def _small_sets(self):
        """Return the small sets, a sparse matrix of 0 and 1: one row each, one column per cell."""
        width = self.cells.shape[1]
        deep = 3 if width <= _DEEP else 2
        rows, cells, n = [], [], 0
        for depth in {*range(1, min(deep, width) + 1), width}:
            for columns in combinations(range(width), depth):
                for of_set, member in self._small_of(columns):
                    _, number = np.unique(of_set, return_inverse=True)
                    rows.append(number.ravel() + n)
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
        few = size < self.min_cell
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
        number = np.zeros(len(self.cells), dtype=int)
        for c in columns:
            number = number * (self.cells[:, c].max() + 1) + self.cells[:, c]
            number = np.unique(number, return_inverse=True)[1].ravel()
        return number


def _texts(values):
    """Return values as texts; many numbers as the quartiles in which they are."""
    known = values.notna().to_numpy()
    is_number = is_numeric_dtype(values) and not is_bool_dtype(values)
    if is_number and values.nunique() > _DISTINCT:
        numbers = pd.to_numeric(values).to_numpy(float, na_value=np.nan)
        ends = np.unique(np.quantile(numbers[known], (0.25, 0.5, 0.75), method="inverted_cdf"))
        names = [f"at most {ends[0]:g}"]
        names += [f"above {a:g}, at most {b:g}" for a, b in pairwise(ends)]
        names = np.array([*names, f"above {ends[-1]:g}"], dtype=object)
        texts = names[np.searchsorted(ends, np.where(known, numbers, ends[0]))]
    else:
        texts = values.astype(object).map(_text).to_numpy(dtype=object)
    return np.where(known, texts, _MISSING).astype(str)


def _text(value):
    """Return the text of a value; 1, 1.0 and True are told apart no more than a file does."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)
