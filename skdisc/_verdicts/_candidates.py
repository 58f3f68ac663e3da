"""The candidates of one question: the groups that it compares, and what their data exclude."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import infer_dtype

from skdisc import _stats

MEASURABLE = 5  # people on either side from which on a comparison says anything
Interval = Callable[[float], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Candidates:
    """Groups, each with the people that it is compared with, by one measure or several.

    Sizes depend on the people (X, weights, clusters) only, never on their outcomes: which
    candidates are judged and in which order follows from them, so that statements about candidates
    that were chosen by looking hold all the same.

    Parameters
    ----------
    n, n_others : array-like of float, shape (n_candidates,)
        People of the group, and of those that it is compared with; with a measure of some people
        (such as a true positive rate), only these.
    estimate : array-like of float, shape (n_candidates,)
        The effect: rate or mean of the group minus that of the others.
    interval : callable
        Takes a one-sided error rate a and returns ``low`` and ``high``, the ends of the effect
        that are wrong in a of samples each. NaN where nothing is known.
    size : array-like of float, shape (n_candidates,), default=None
        Size of the group among the people under audit, or the sum of its weights; of a comparison
        of two protected values that are all of their context, the larger. None: `n`.
    total : float, default=None
        Number of all people under audit, or the sum of their weights. None: there is no smallest
        size, and all candidates are judged.
    found : array-like of bool, shape (n_candidates,), default=None
        The findings. None: there are none.
    ratio : callable, default=None
        Takes a one-sided error rate a and returns the smallest ratio of the rarer outcome (or its
        inverse, if that is smaller) that is not excluded, in [0, 1]; for marginal questions about
        rates. None: ratios decide nothing.
    name : callable or sequence of str, default=None
        The name of the candidate at a position. None: its number.
    measure : array-like of str, shape (n_candidates,), default=None
        The measure of each candidate. None: there is one.
    comparison_size : array-like of float, shape (n_candidates,), default=None
        Size of each comparison, where `n` and `n_others` do not give it: with weights, the size of
        a comparison of people without weights that would be as accurate.
    relevant_gap : array-like of float, shape (n_candidates,), default=None
        The gap that matters to each. None: it is passed to `decide`.
    problem : str, default=""
        Why the question has no answer, for example that all outcomes are equal.
    ranges : str, default=""
        Which numbers are compared in bins, a sentence for "no disparity found".
    reason : array-like of str, shape (n_candidates,), default=None
        Why a candidate cannot be measured, or "", for example that its values are too skewed.
    counted : str, default=""
        Which people `comparison_size` counts, to stand behind "people" (`whom`). "": all of them.

    Examples
    --------
    >>> c = Candidates.of_rates([10, 300], [100, 500], [40, 240], [400, 400])
    >>> c.estimate.round(2).tolist(), c.upper(0.05).round(3).tolist()
    ([0.0, 0.0], [0.064, 0.054])
    >>> c.comparison.tolist()
    [80.0, 222.2222...]
    """

    n: np.ndarray
    n_others: np.ndarray
    estimate: np.ndarray
    interval: Interval
    size: np.ndarray | None = None
    total: float | None = None
    found: np.ndarray | None = None
    ratio: Callable[[float], np.ndarray] | None = None
    name: Callable[[int], str] | Sequence[str] | None = None
    measure: np.ndarray | None = None
    comparison_size: np.ndarray | None = None
    relevant_gap: np.ndarray | None = None
    problem: str = ""
    ranges: str = ""
    reason: np.ndarray | None = None
    counted: str = ""

    def __post_init__(self):
        for field in ("n", "n_others", "estimate"):
            object.__setattr__(self, field, np.asarray(getattr(self, field), dtype=float))
        n = len(self.n)
        size = self.n if self.size is None else np.asarray(self.size, dtype=float)
        is_found = np.zeros(n, dtype=bool) if self.found is None else np.asarray(self.found, bool)
        measure = np.array([""] * n if self.measure is None else self.measure, dtype=object)
        reason = np.array([""] * n if self.reason is None else self.reason, dtype=object)
        for field, value in (("size", size), ("found", is_found), ("measure", measure)):
            object.__setattr__(self, field, value)
        object.__setattr__(self, "reason", reason)

    @classmethod
    def of_rates(
        cls,
        x1: ArrayLike,
        n1: ArrayLike,
        x0: ArrayLike,
        n0: ArrayLike,
        *,
        ratios: bool = False,
        **settings: Any,
    ) -> "Candidates":
        """Compare rates by Newcombe's intervals.

        Parameters
        ----------
        x1, n1, x0, n0 : array-like of float, shape (n_candidates,)
            Events and people of the groups, and of those that they are compared with.
        ratios : bool, default=False
            Whether ratios count, as in marginal questions.
        **settings
            As for `Candidates`.
        """
        x1, n1, x0, n0 = (np.asarray(v, dtype=float) for v in (x1, n1, x0, n0))
        with np.errstate(divide="ignore", invalid="ignore"):
            estimate = x1 / n1 - x0 / n0

        def interval(a):
            return _stats.newcombe(x1, n1, x0, n0, _stats.level_of_two_tests(a))

        def ratio(a):
            return smallest_ratio(x1, n1, x0, n0, a)

        return cls(n1, n0, estimate, interval, ratio=ratio if ratios else None, **settings)

    @classmethod
    def single(
        cls, estimate: float, low: float, high: float, *, n: float = np.inf, name: str = ""
    ) -> "Candidates":
        """Return a question with one candidate, whose ends at the level in use are known."""
        ends = np.array([low], dtype=float), np.array([high], dtype=float)
        return cls([n], [np.inf], [estimate], lambda a: ends, name=[name])

    def __len__(self):
        return len(self.n)

    @cached_property
    def comparison(self) -> np.ndarray:
        """Size of each comparison, n1 n0 / (n1 + n0), to nine digits: equal sizes are equal."""
        size = self.comparison_size
        if size is None:
            size = _stats.compared_size(np.fmin(self.n, 1e150), np.fmin(self.n_others, 1e150))
        fraction, exponent = np.frexp(size)
        return np.ldexp(np.round(fraction * 2**30) / 2**30, exponent)

    @cached_property
    def measurable(self) -> np.ndarray:
        """Whether there are enough people on both sides to say anything."""
        return np.minimum(self.n, self.n_others) >= MEASURABLE

    @cached_property
    def _can_be_measured(self):
        """Whether there are enough people, and no reason why not."""
        return self.measurable & (self.reason == "")

    def upper(self, a: float) -> np.ndarray:
        """Return U, the one-sided 1 - a end of the size of each effect; infinite if unknown."""
        low, high = self.interval(a)
        upper = np.maximum(np.abs(low), np.abs(high))
        return np.where(self._can_be_measured & ~np.isnan(upper), upper, np.inf)

    def smallest_ratios(self, a: float) -> np.ndarray:
        """Return the smallest ratio that is not excluded; 1 where ratios decide nothing."""
        if self.ratio is None:
            return np.ones(len(self))
        ratio = np.nan_to_num(np.asarray(self.ratio(a), dtype=float), nan=0.0)
        return np.where(self.measurable, ratio, 0.0)

    def family(self, relevant_size: float) -> np.ndarray:
        """Return which candidates hold at least a share of the people under audit."""
        if self.total is None:
            return np.ones(len(self), dtype=bool)
        # A sum of weights is known to its last digits only.
        return self.size >= relevant_size * self.total * (1 - 1e-9)

    def name_of(self, i: int) -> str:
        """Return the name of the candidate at a position."""
        if callable(self.name):
            return str(self.name(int(i)))
        return str(i) if self.name is None else str(self.name[i])

    def names_of(self, which: np.ndarray) -> np.ndarray:
        """Return the names of the candidates at some positions, an object array."""
        names = self.name
        if isinstance(names, np.ndarray) and infer_dtype(names, skipna=False) == "string":
            return names[which].astype(object)
        return np.array([self.name_of(i) for i in which], dtype=object)

    def table(self, a: float, which: np.ndarray | None = None) -> pd.DataFrame:
        """Return the candidates with the two-sided 1 - 2a intervals of their effects.

        Parameters
        ----------
        a : float
            One-sided error rate.
        which : ndarray of int, optional
            Positions; None: all.

        Returns
        -------
        DataFrame
            ``group``, ``measure``, ``n``, ``n_others``, ``comparison``, ``estimate``, ``low``,
            ``high``, ``upper`` and ``level``, the confidence level of the interval.
        """
        return pd.DataFrame(self.columns(a, which))

    def columns(self, a: float, which: np.ndarray | None = None) -> dict:
        """Return the columns of `table`, a dict of arrays of their own."""
        which = np.arange(len(self)) if which is None else which
        low, high = (np.asarray(end, dtype=float)[which] for end in self.interval(a))
        return {
            "group": self.names_of(which),
            "measure": self.measure[which],
            "n": self.n[which],
            "n_others": self.n_others[which],
            "comparison": self.comparison[which],
            "estimate": self.estimate[which],
            "low": low,
            "high": high,
            "upper": self.upper(a)[which],
            "level": np.full(len(which), 1 - float(_stats.level_of_two_tests(a))),
        }


def smallest_ratio(x1, n1, x0, n0, a):
    """Return the smallest ratio of two rates that one-sided tests at level a do not exclude.

    The rates are of the events, or of the non-events where these are rarer in both groups
    together. Either rate may be the smaller one, so the result is the smaller of the lower ends of
    p1 / p0 and of p0 / p1, in [0, 1].

    >>> print(smallest_ratio(300, 1000, 3000, 10_000, 0.05).round(3))
    0.919

    Parameters
    ----------
    x1, n1, x0, n0 : array-like of float, counts of the two groups; fractions are allowed
    a : float, the one-sided error rate

    Returns
    -------
    ndarray of float, NaN where a group is empty, or nobody has the rarer outcome
    """
    x1, n1, x0, n0 = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (x1, n1, x0, n0)))
    rarer = 2 * (x1 + x0) <= n1 + n0
    e1, e0 = np.where(rarer, x1, n1 - x1), np.where(rarer, x0, n0 - x0)
    low, high = _stats.ratio_interval(e1, n1, e0, n0, _stats.level_of_two_tests(a))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.minimum(low, 1 / np.asarray(high)), 0, 1)


def smallest_ratio_of_gap(gap, low, high, rate):
    r"""Return the smallest ratio of two rates that an interval of their difference leaves open.

    For comparisons without counts. The rates are of the outcome that is rarer in both groups
    together. The ratio p / q is at most :math:`\rho` if p - q is at most :math:`-(1-\rho) q`. So
    the ends of the interval of p - q are compared with the estimate of q. This errs on the safe
    side, as p - q has a larger variance than :math:`p-\rho q`.

    >>> print(smallest_ratio_of_gap([-0.01, -0.01], -0.03, 0.01, [0.29, 0.05]).round(2))
    [0.9 0.5]

    Parameters
    ----------
    gap, low, high : array-like of float, the difference and the ends of its interval
    rate : array-like of float, rate of the first group; the other rate is less by the gap

    Returns
    -------
    ndarray of float, in [0, 1]; NaN where an end is NaN
    """
    gap, low, high, rate = np.broadcast_arrays(*np.atleast_1d(gap, low, high, rate))
    p, q = np.clip(rate, 0, 1), np.clip(rate - gap, 0, 1)
    rarer = p + q <= 1
    p, q = np.where(rarer, p, 1 - p), np.where(rarer, q, 1 - q)
    low, high = np.where(rarer, low, -high), np.where(rarer, high, -low)
    with np.errstate(divide="ignore", invalid="ignore"):
        below, above = 1 + np.minimum(low, 0) / q, 1 - np.maximum(high, 0) / p
    return np.clip(np.minimum(below, above), 0, 1)
