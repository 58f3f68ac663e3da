"""Notes on rows that seem to depend on each other: tests take them for independent people."""

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy import special

from skdisc._utils._hashing import numbers_of

_FEWEST = 20  # distinct rows; the counts of this many have no common divisor by chance
_SHARE = 0.02  # of the rows, of which copies are worth a note
_TIMES = 3  # as many equal pairs as by chance
_LARGEST_KEY = 2**62
_FEW_KEYS = 10  # for each row, that are counted rather than looked up
_CHANCE = 1e-4  # of as many equal pairs, if rows are independent
_ENOUGH, _FAR = 200, range(25, 35)  # rows to compare neighbors, and distances of others
_ALIKE, _ERRORS = 0.05, 5.0  # by which neighbors correlate more, also in standard errors
_SAMPLE, _FINE = 1000, 400  # rows, and values that they have of a column with n / 2 of them


def dependent_rows(X, y):
    """Return a note if rows are copies, or outcomes of neighboring rows alike, a list of str."""
    return repeated_rows(X, y) or alike_neighbors(X, y)


def alike_neighbors(X, y):
    """Return a note if outcomes are more alike in neighboring rows than in rows further apart.

    Members of a household often follow each other in a table, which then is the only trace of it.
    In a sorted table, or with a trend, rows further apart are alike, too. Equal neighbors do not
    count, which may stand for people who are alike.

    `y`: outcomes with two values, or classes; numbers have no note. Shapes: `X` (n_rows,
    n_columns).
    """
    if y is None or len(y) < _ENOUGH:
        return []
    codes = _codes(pd.Series(y, copy=False))
    times = np.bincount(codes)
    if len(times) < 2 or (len(times) > 2 and is_numeric_dtype(y)):
        return []
    outcome = (codes == times.argmax()).astype(float)
    outcome = (outcome - outcome.mean()) / outcome.std()
    far = np.mean([outcome[:-k] @ outcome[k:] / (len(outcome) - k) for k in _FAR])
    products = outcome[:-1] * outcome[1:]
    if not _exceeds(products, far):
        return []
    columns = (_codes(X.iloc[:, j]) for j in range(X.shape[1]))
    differs = np.logical_or.reduce([c[1:] != c[:-1] for c in columns])
    # Where equal rows end in a sorted table, outcomes have means of their own.
    before, after = outcome[:-1][differs], outcome[1:][differs]
    if not differs.any() or not before.std() * after.std():
        return []
    products = (before - before.mean()) * (after - after.mean()) / (before.std() * after.std())
    if not _exceeds(products, far):
        return []
    return [
        f"Outcomes of neighboring rows are alike (correlation {products.mean():.2f}; "
        f"{far:.2f} further apart). If rows that follow each other belong together, as members of "
        "a household do, p-values and intervals are too small: pass groups=."
    ]


def _exceeds(products, far):
    """Return whether the mean of products of independent rows would exceed that of others."""
    if not products.size:
        return False
    error = np.sqrt((1 + 1 / len(_FAR)) / len(products))
    return products.mean() - far >= max(_ALIKE, _ERRORS * error)


def repeated_rows(X, y):
    """Return a note if rows are copies of others, a list of str.

    They are if the numbers of times that the distinct rows occur have a common divisor, or if
    rows are equal although a column has more values than half of the rows, and more often than
    rows with equal values of this column would be equal in the others by chance.

    Shapes: `X` (n_rows, n_columns).
    """
    n = len(X)
    columns = [X.iloc[:, j] for j in range(X.shape[1])] + (
        [] if y is None else [pd.Series(y, copy=False)]
    )
    if n > 2 * _SAMPLE and not _may_be_copies(columns):
        return []
    codes = [_codes(c) for c in columns]
    times = _times(codes)
    if not n or times.max() == 1:
        return []
    divisor = int(np.gcd.reduce(times))
    if divisor > 1 and len(times) >= _FEWEST:
        return [
            f"Each row occurs {divisor} times or a multiple of that, so rows seem to be copies. If "
            "so, p-values and intervals are too small: leave copies out, or pass groups=."
        ]
    finest = max(codes, key=lambda c: c.max())
    copies = n - len(times)
    if finest.max() < n / 2 or copies < _SHARE * n:
        return []
    other_codes = [c for c in codes if c is not finest]
    equal = _pairs(_times(other_codes)) / (n * (n - 1) / 2) if other_codes else 1.0
    pairs, expected = _pairs(times), equal * _pairs(np.bincount(finest))
    if pairs <= _TIMES * expected or special.pdtrc(pairs - 1, expected) > _CHANCE:
        return []
    return [
        f"{copies} rows are copies of others in every column. If they are not people of their own, "
        "p-values and intervals are too small: leave copies out, or pass groups=."
    ]


def _codes(column):
    """Return the values of a column as numbers; lists, which do not compare, by their text."""
    try:
        codes, values = numbers_of(column)
    except TypeError:
        codes, values = pd.factorize(column.map(repr))
    return np.where(codes < 0, len(values), codes.astype(np.intp))


def _may_be_copies(columns):
    """Return whether a column has n / 2 values, or the counts of values have a common divisor.

    The sample of a column with n / 2 values has at least as many values as rows that are the first
    with their value. These are 500 on average, and below 400 in one of 10^9 samples.
    A divisor of the counts of rows divides those of the values of each column.
    """
    n, divisor = len(columns[0]), 0
    sample = np.random.default_rng(0).choice(n, _SAMPLE, replace=False, shuffle=False)
    for column in columns:
        # Names are numbered anyway, but numbers are not: a sample tells whether that is needed.
        is_fine = not is_numeric_dtype(column) or column.iloc[sample].nunique(False) > _FINE
        if is_fine and _codes(column).max() >= n / 2:
            return True
    for column in columns:
        times = np.bincount(_codes(column))
        divisor = np.gcd(divisor, np.gcd.reduce(times))
        if divisor == 1:
            return False
    return True


def _times(codes):
    """Return how often each distinct row of several columns of codes occurs."""
    key, n_keys = np.zeros(len(codes[0]), dtype=np.int64), 1
    for column in codes:
        n_values = int(column.max(initial=0)) + 1
        if n_keys * n_values > _LARGEST_KEY:
            key = pd.factorize(key)[0]
            n_keys = int(key.max(initial=0)) + 1
        key, n_keys = key * n_values + column, n_keys * n_values
    if n_keys <= _FEW_KEYS * len(key):
        times = np.bincount(key)
        return times[times > 0]
    return np.bincount(pd.factorize(key)[0])


def _pairs(times):
    return float((times * (times - 1) / 2).sum())
