"""Itemset frames of mlxtend: groups as sets of text, and read again."""

import ast
import re
from collections.abc import Iterable
from functools import cache

import pandas as pd

from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._validation import plain

_END = r"(-?[\w.+-]+)"
_INTERVAL = re.compile(rf"(?:{_END} (<=?) )?(.+) ([<>]=?) {_END}", re.DOTALL)


def to_itemsets(groups: Iterable, support: Iterable[float]) -> pd.DataFrame:
    """Return groups as a frame of mlxtend: support, and itemsets (frozensets of text)."""
    sets = [frozenset(map(str, g.predicates or (g,))) for g in groups]
    frame = pd.DataFrame({"support": list(support)}, dtype=float)
    return frame.assign(itemsets=pd.Series(sets, dtype=object))


def from_itemsets(
    itemsets: pd.DataFrame | Iterable, X: pd.DataFrame, *, prefix_sep: str = "_"
) -> list[Subgroup]:
    """Return the groups that an itemset frame of mlxtend describes.

    Parameters
    ----------
    itemsets : DataFrame with a column ``itemsets``, or iterable of sets
        As from mlxtend's ``fpgrowth`` or ``apriori`` with ``use_colnames=True`` on
        ``pandas.get_dummies(X)``, or from `to_itemsets` of a detector. An item is the name of a
        dummy (``"sex_F"``; a column of two values by its own name), the text of a predicate
        (``"sex = 'F'"``, ``"25 < age <= 45"``), or a `Predicate`.
    X : DataFrame of shape (n_rows, n_columns)
        The table before it was encoded.
    prefix_sep : str, default="_"
        What stands between column and value in the name of a dummy.

    Returns
    -------
    list of Subgroup
        One per itemset.

    Raises
    ------
    ValueError
        If an item is no condition on a column of X, or may be several.

    Notes
    -----
    `DivExplorer` and `FACTS` take the groups as ``subgroups=``. To measure them, each against all
    other people, pass their masks to a measure::

        groups = from_itemsets(itemsets, X)
        masks = pd.DataFrame({str(group): group.mask(X) for group in groups})
        report = mean_difference_report(None, y, protected=masks, reference="rest")
        report[report["group"]]

    Examples
    --------
    >>> X = pd.DataFrame({"sex": ["F", "M", "M"], "age": [30, 40, 50]})
    >>> print(*from_itemsets([{"sex_F"}, {"sex = 'M'", "30 < age <= 50"}], X), sep=", ")
    sex = 'F', 30 < age <= 50 and sex = 'M'
    """
    sets = itemsets["itemsets"] if isinstance(itemsets, pd.DataFrame) else itemsets
    read = cache(lambda item: _predicate(item, X, prefix_sep))
    return [Subgroup([read(item) for item in items]) for items in sets]


def _predicate(item, X, sep):
    """Return the predicate that an item stands for."""
    if isinstance(item, Predicate):
        return item
    names = [c for c in X.columns if str(c) in str(item)]
    candidates = [p for c in names for text, p in _conditions(X[c], sep) if text == str(item)]
    candidates = (
        list(dict.fromkeys(candidates)) or _several(str(item), X) or _intervals(str(item), X)
    )
    if len(candidates) == 1:
        return candidates[0]
    are = (
        f"may be {' or '.join(map(str, candidates))}"
        if candidates
        else "is no condition on a column of X"
    )
    raise ValueError(
        f"The item {item!r} {are}. Pass the name of a dummy column of pandas.get_dummies(X), with "
        f"prefix_sep={sep!r} before the value, or a Predicate. Columns of X: {list(X.columns)!r}."
    )


def _conditions(column, sep):
    """Yield the texts that stand for one value of a column, and the predicate of each."""
    values = [plain(v) for v in column.dropna().unique()]
    for value in values:
        one = Predicate.equals(column.name, value)
        yield f"{column.name}{sep}{value}", one
        yield str(one), one
        if value == 1 and set(values) <= {0, 1}:
            yield str(column.name), one  # a dummy already
    missing = Predicate.is_missing(column.name)
    yield f"{column.name}{sep}nan", missing
    yield str(missing), missing


def _several(text, X):
    """Return the list of values that a text describes, a list of one Predicate, or none."""
    name, is_list, values = text.removesuffix("}").partition(" in {")
    names = {str(c): c for c in X.columns}
    if not is_list or name not in names:
        return []
    is_missing = values.endswith("missing")
    try:
        literals = ast.literal_eval(f"[{values.removesuffix('missing')}]")
    except (SyntaxError, ValueError):  # no literals: some other text
        return []
    return [Predicate.isin(names[name], literals + [None] * is_missing)]


def _intervals(text, X):
    """Return the interval that a text describes, a list of one Predicate, or none."""
    match = _INTERVAL.fullmatch(text)
    names = {str(c): c for c in X.columns}
    if match is None or match[3] not in names:
        return []
    low, after, name, sign, high = match.groups()
    if low is None and sign[0] == ">":
        low, after, high, sign = high, sign.replace(">", "<"), None, "<="
    column = X[names[name]]
    ends = {"low": low, "high": high}
    ends = {end: _end(value, column) for end, value in ends.items() if value is not None}
    closed = {"low_closed": after == "<=", "high_closed": sign == "<="}
    return [Predicate(column.name, **ends, **closed)]


def _end(text, column):
    """Return the end of an interval: the value of the column with this text, or the number."""
    value = float(text)  # a text has 15 digits, and the ends of bins are values
    near = column[(column - value).abs() <= 1e-14 * abs(value)]
    return value if near.empty else near.iloc[0]
