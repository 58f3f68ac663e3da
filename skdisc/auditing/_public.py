"""Public documents: which counts of a table may be printed, so that nothing tells about few people.

The choice looks at columns, not at outcomes, so that all documents about one table have the same
choice, and two of them tell no more than one; only columns of which whole numbers would tell more
are left out whole. What is printed keeps all digits, for rounding does not help: three digits of a
rate tell every count up to 1,000.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from skdisc._stats._printed_sums import PrintedSums
from skdisc._stats._whole_numbers import discloses_few, printable_blocks
from skdisc._utils._hashing import numbers_of, typed
from skdisc._utils._inputs import check_is_frame, check_order
from skdisc._utils._types import ArrayLike, Columns
from skdisc._utils._validation import check_protected, plain

_DISTINCT = 10  # numbers; a column with more is cut at its quartiles
_MISSING = "missing"


def merged(values: pd.Series, least: int) -> np.ndarray:
    """Join the values of fewer than `least` people, with the next rarest until they are as many.

    `values`: numbers with more than ten different values are cut at their quartiles. `least`: twice
    the smallest group: 9 of 10 people are nearly all of them. Returns an ndarray of str: joined
    values are "others", or "b or others" if the large value "b" had to join.
    """
    names, code = coded(values)
    size = np.bincount(code, minlength=len(names))
    rest_name = "others" if "others" not in names else "all others"
    label, people = rest_name, 0
    joined = np.zeros(len(names), dtype=bool)
    for i in np.argsort(size, kind="stable"):
        if size[i] >= least and (people == 0 or people >= least):
            break
        joined[i], people = True, people + size[i]
        label = rest_name if size[i] < least else f"{names[i]} or {rest_name}"
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
    were outcomes independent. A column is left out if the sums would tell, because people are
    whole, that all or none of other people than those of a group have the outcome. An audit of
    these counts sees nothing else, and may be published.

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
    candidates = []
    for name, values in columns.items():
        for value in sorted(set(values)):
            inside = values == value
            candidates.append((-min(inside.sum(), (~inside).sum()), str(name), value, inside))
    candidates.sort(key=lambda row: row[:3])
    chosen = []
    if columns:
        sums = PrintedSums(list(columns.values()), min_cell)
        masks = np.array([inside[sums.first] for *_, inside in candidates])
        sides = np.stack([masks, ~masks], axis=1)
        chosen = sums.choose(sides)
        everyone = np.ones((1, len(sums.first)), dtype=bool)
        column_of_candidate = np.array([name for _, name, *_ in candidates])

        def discloses(several):
            is_printed = chosen & np.isin(column_of_candidate, several)
            printed = np.concatenate([everyone, *sides[is_printed]])
            return discloses_few(sums, printed, sums.in_cells(favorable))

        printable = printable_blocks(sorted(set(column_of_candidate.tolist())), discloses)
        chosen &= np.isin(column_of_candidate, printable)
    rows = [
        (name, value, int(inside.sum()), int(favorable[inside].sum()))
        for (_, name, value, inside), stays in zip(candidates, chosen, strict=True)
        if stays
    ]
    counts = pd.DataFrame(rows, columns=["attribute", "group", "n", "selected"])
    several = counts.groupby("attribute")["n"].transform("size") > 1
    counts = counts[counts["attribute"].isin([str(n) for n in names]) & several]
    return counts.sort_values(["attribute", "group"], ignore_index=True)


def coded(values):
    """Return the texts of values in order, and the number of each row's; quartiles of numbers."""
    is_number = is_numeric_dtype(values) and not is_bool_dtype(values)
    code, distinct = numbers_of(values)  # each value is read once; -1 is missing
    if is_number and len(distinct) > _DISTINCT:
        numbers = pd.to_numeric(pd.Series(distinct)).to_numpy(float)
        present = numbers[code[code >= 0]]
        ends = np.unique(np.quantile(present, (0.25, 0.5, 0.75), method="inverted_cdf"))
        texts = [f"at most {ends[0]:g}"]
        texts += [f"above {a:g}, at most {b:g}" for a, b in pairwise(ends)]
        texts = [*texts, f"above {ends[-1]:g}"]
        number = np.searchsorted(ends, numbers)  # 100,000 numbers have four texts
    else:
        texts = [text_of(plain(value)) for value in typed(distinct)]
        number = np.arange(len(distinct))
    names, place = np.unique(np.array([*texts, _MISSING], dtype=str), return_inverse=True)
    place = place.ravel()
    code = np.append(place[number], place[-1])[code]  # the last one for -1
    used, code = np.unique(code, return_inverse=True)
    return names[used], code.ravel()


def text_of(value):
    """Return the text of a value; 1, 1.0 and True have the same text, as in a file."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)
