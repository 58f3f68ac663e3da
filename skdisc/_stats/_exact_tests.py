r"""Fisher's exact test and its mid-p value for many tables at once.

The logarithm of the probability of a table is :math:`\sum \pm g(n) - \sum o \ln(o/e)`, with the
counts n of its margins and cells, its observed and expected cells o and e, and
:math:`g(n) = \ln n! - n \ln n + n` (after Loader 2000, *Fast and accurate computation of binomial
probabilities*). So it is accurate to some 1e-14 even where the digits of log factorials do not
suffice. These do suffice to tell which tables are more probable than which.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import special

_SLACK = 1e-7  # log-probabilities this near are equal up to rounding, as in ``fisher.test`` of R
_LARGE = 10**6  # up to this total, errors of log factorials are far below the slack
_SMALL = 16  # below it Stirling's series is less accurate than the factorial
_LARGEST_KEY = 2**62
AT_ONCE = 2**15  # tables, as many as fit in a fast memory
_WORTH = 40  # up to this total per table, functions are computed for all whole numbers beforehand
_NEGLIGIBLE = 1e-17  # a term below this share of a sum does not change it
_FAR = 50  # nor does a tail that begins this much lower in logarithms


def distinct(tables):
    """Return the first position of each distinct column of integers, and the inverse.

    Many groups have equal tables, whose exact p-value then is computed once. The columns are
    numbered anew where the next row would make their keys too large for 64 bits.
    """
    key, n_keys = np.zeros(tables.shape[1], dtype=np.int64), 1
    for row in tables:
        n_values = int(row.max(initial=0)) + 1
        if n_keys * n_values > _LARGEST_KEY:
            key, numbered = pd.factorize(key)
            n_keys = len(numbered)
        key, n_keys = key * n_values + row, n_keys * n_values
    inverse, keys = pd.factorize(key)
    first = np.empty(len(keys), dtype=np.intp)
    first[inverse[::-1]] = np.arange(len(inverse))[::-1]
    return first, inverse


def fisher_p_values(x1, n1, x0, n0, alternative, mid):
    """Return the p-values of `fisher` for tables of integers without empty groups.

    Equal tables are computed once, and as many others at once as fit in a fast memory.
    """
    tables = np.stack([x1, n1, x0, n0]).astype(np.int64, copy=False)
    first, inverse = distinct(tables)
    p_value = np.empty(len(first))
    functions = _functions(int((n1 + n0).max(initial=0)), len(first))
    for start in range(0, len(first), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        p_value[part] = _p_values(*tables[:, first[part]], functions, alternative, mid)
    return p_value[inverse]


def _p_values(x1, n1, x0, n0, functions, alternative, mid):
    """Return p-values; tails are sums of a few terms that fall away from the mode."""
    margins = _FixedMargins(n1, n0, x1 + x0, *functions)
    # Exchanging events and non-events mirrors x1 into the lower tail, where the sum is short and
    # is not one minus a number close to one.
    mirrored = {"less": False, "greater": True, "two-sided": x1 > margins.mode()}[alternative]
    x1, margins = np.where(mirrored, n1 - x1, x1), margins.mirrored(mirrored)
    mass = margins.mass(x1)
    if alternative == "two-sided":
        first, ties, counts = _upper_tail(x1, margins)
        p_value, tied = _lower_tail(x1, margins, mass), mass * (1 + ties)
        above, first = margins.only(counts).mirrored(True), n1[counts] - first[counts]
        p_value[counts] += _lower_tail(first, above, above.mass(first))
    else:
        above = x1 > margins.mode()
        nearest, rest = np.where(above, n1 - x1 - 1, x1), margins.mirrored(above)
        tail = _lower_tail(nearest, rest, rest.mass(nearest))
        p_value, tied = np.where(above, 1 - tail, tail), mass
    return np.clip(p_value - tied / 2 if mid else p_value, 0.0, 1.0)


@dataclass(frozen=True)
class _FixedMargins:
    r"""The margins of tables: sizes of both groups, and events of both together.

    Attributes
    ----------
    n1, n0, drawn : ndarray of int, shape (n_tables,)
    log_factorial, correction : callable
        :math:`\ln n!` and g(n) of arrays of whole numbers up to the largest total.
    """

    n1: np.ndarray
    n0: np.ndarray
    drawn: np.ndarray
    log_factorial: object
    correction: object

    def only(self, which):
        """Return the margins of some tables."""
        return replace(self, n1=self.n1[which], n0=self.n0[which], drawn=self.drawn[which])

    def mirrored(self, which):
        """Return the margins with events and non-events exchanged in some tables."""
        drawn = np.where(which, self.n1 + self.n0 - self.drawn, self.drawn)
        return _FixedMargins(self.n1, self.n0, drawn, self.log_factorial, self.correction)

    def mode(self):
        """Return the most probable number of events of the first group."""
        mode = (self.drawn + 1.0) * (self.n1 + 1) // (self.n1 + self.n0 + 2)
        return mode.astype(np.int64)

    def mass(self, x1):
        """Return the probabilities of tables; 0 outside the support."""
        inside = (x1 >= np.maximum(0, self.drawn - self.n0)) & (x1 <= self.last())
        return np.where(inside, np.exp(self._log_mass(np.where(inside, x1, self.last()))), 0.0)

    def weight(self, x1):
        """Return log-probabilities up to one constant for each table; -inf above the support."""
        inside = x1 <= self.last()
        x1 = np.where(inside, x1, self.last())
        if (self.n1 + self.n0).max() > _LARGE:
            return np.where(inside, self._log_mass(x1), -np.inf)
        return np.where(inside, -sum(map(self.log_factorial, self._cells(x1))), -np.inf)

    def last(self):
        """Return the largest number of events that the first group can have."""
        return np.minimum(self.n1, self.drawn)

    def _cells(self, x1):
        x0 = self.drawn - x1
        return x1, self.n1 - x1, x0, self.n0 - x0

    def _log_mass(self, x1):
        total = self.n1 + self.n0
        margins = self.n1, self.n0, self.drawn, total - self.drawn
        cells, g = self._cells(x1), self.correction
        # All four cells differ from what is expected by the same number.
        excess = (x1.astype(float) * total - self.n1 * self.drawn.astype(float)) / total
        log_mass = sum(map(g, margins)) - g(total) - sum(map(g, cells))
        for cell, size, events, sign in zip(
            cells, np.repeat(margins[:2], 2, axis=0), margins[2:] * 2, (1, -1, -1, 1), strict=True
        ):
            expected = np.maximum(size * (events / total), np.finfo(float).tiny)
            log_mass = log_mass - special.xlog1py(cell, sign * excess / expected)
        return log_mass


def _functions(most, n_tables):
    """Return the functions of `_FixedMargins` of totals up to `most`, for so many tables."""
    functions = _log_factorial, _correction
    if most >= _WORTH * n_tables:
        return functions
    return tuple(partial(np.take, f(np.arange(most + 1))) for f in functions)


def _log_factorial(n):
    return special.gammaln(n + 1.0)


def _correction(n):
    """Return ln n! - n ln n + n, which is of the size of ln n."""
    x = np.maximum(n, _SMALL).astype(float)
    square = x * x
    series = 0.0
    for term in (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series = term + series / square
    series = series / x
    small = np.minimum(n, _SMALL)
    exact = special.gammaln(small + 1.0) - special.xlogy(small, small) + small
    return np.where(n < _SMALL, exact, 0.5 * np.log(2 * np.pi * x) + series)


def _lower_tail(x1, margins, mass):
    """Return the probability of x1 or less, at or below the mode, by terms relative to its own."""
    n1, n0, drawn = (part.astype(float) for part in (margins.n1, margins.n0, margins.drawn))
    tail = mass.copy()
    open_tables, x, term, part = np.arange(len(x1)), x1.astype(float), mass, tail
    while True:
        adds = term > _NEGLIGIBLE * part
        if np.count_nonzero(adds) <= 0.7 * len(adds):  # few enough to be worth a copy
            tail[open_tables] = part
            open_tables, x, term, part, n1, n0, drawn = (
                z[adds] for z in (open_tables, x, term, part, n1, n0, drawn)
            )
            if not len(open_tables):
                return tail
        term = term * (x / (n1 - x + 1)) * ((n0 - drawn + x) / (drawn - x + 1))
        part, x = part + term, x - 1


def _upper_tail(x1, margins):
    """Find the upper tail that is no more probable than x1, which is not above the mode.

    Returns
    -------
    first : ndarray of int
        Its first number of events; one above the support where there is no such tail.
    ties : ndarray of int
        How many other tables are as probable as that of x1.
    counts : ndarray of int
        The tables to whose p-value it adds anything.
    """
    weight, last = margins.weight(x1), margins.last()
    low, high = x1 + 1, last + 1
    while np.any(low < high):  # bisection: once below that of x1, probabilities stay so
        middle = (low + high) // 2
        inside = margins.weight(middle) <= weight + _SLACK
        low, high = np.where(inside, low, middle + 1), np.where(inside, middle, high)
    first, before = margins.weight(low), margins.weight(np.maximum(x1 - 1, 0))
    ties = (np.abs(first - weight) <= _SLACK) + ((x1 > 0) & (before >= weight - _SLACK)).astype(int)
    return low, ties, np.flatnonzero(first > weight - _FAR)
