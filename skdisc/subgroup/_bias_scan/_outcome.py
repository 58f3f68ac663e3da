"""Outcome: the rows of a scan with their observed and expected outcomes."""

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real

import numpy as np
import pandas as pd
from scipy import special

from skdisc import _stats
from skdisc._results._findings import ESTIMATES
from skdisc._utils._frequency import taken
from skdisc.subgroup._bias_scan import _counted_outcome
from skdisc.subgroup._bias_scan._scores import Score
from skdisc.subgroup._bias_scan._weighted_outcome import (
    NORMAL_TEST,
    measured,
    weighed,
    weighed_overall,
)
from skdisc.subgroup._estimation._outcome_rows import PeopleRows

KINDS = {
    "bernoulli": "odds",
    "berk_jones": "odds",
    "poisson": "rate",
    "gaussian": "square",
    "mean_shift": "square",
}
SCORINGS = {
    "binary": ("bernoulli", "poisson", "berk_jones"),
    "nominal": ("bernoulli", "berk_jones"),
    "ordinal": ("poisson", "mean_shift", "berk_jones"),
    "continuous": ("mean_shift", "gaussian", "berk_jones"),
}
_EDGE = 1e-6  # expected shares are kept this far from 0 and 1
_POWER = 0.8  # at which a smallest detectable gap is found


@dataclass(frozen=True)
class Outcome(PeopleRows):
    """Rows with observed and expected outcomes.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    y, mu : ndarray of float, shape (n_targets, n_rows)
        Observed and expected; several targets are the classes of a nominal outcome.
    names : list of str
        Names of the targets.
    scoring : str
        A key of `KINDS`.
    is_share : bool
        Whether outcomes are 0 or 1.
    is_mean : bool
        Whether the expectation is the mean of y.
    sense : {-1, 1}
        -1 if low outcomes are favorable: effects then have the opposite sign.
    weight : ndarray of float, shape (n_rows,), or None
    frequency : ndarray of int64, shape (n_rows,), or None
        Number of equal people of each row, if outcomes are shares; None: 1.
    cluster : ndarray of int, shape (n_rows,), or None
        The cluster of each row.
    """

    X: pd.DataFrame
    y: np.ndarray
    mu: np.ndarray | None
    names: list
    scoring: str
    is_share: bool
    is_mean: bool = False
    sense: int = 1
    weight: np.ndarray | None = None
    frequency: np.ndarray | None = None
    cluster: np.ndarray | None = None

    def expecting(self, mu):
        """Return the rows with these expectations; None: the mean of the outcomes."""
        is_mean = mu is None
        if is_mean:
            mu = np.broadcast_to(self._means(), self.y.shape)
        if self.is_share:
            mu = np.clip(mu, _EDGE, 1 - _EDGE)
        return replace(self, mu=mu, is_mean=is_mean)

    def _means(self):
        """Return the mean of each target over the people, shape (n_targets, 1)."""
        if not self.y.size:
            return self.y
        if self.weight is None and self.frequency is None:
            return np.sort(self.y, axis=1).mean(axis=1, keepdims=True)
        mass = self.weight if self.frequency is None else self.frequency
        return (self.y @ mass / mass.sum())[:, None]

    def __len__(self):
        return self.y.shape[1]

    def outcome(self, j):
        """Return the outcome of each row by a measure."""
        return self.y[j]

    @property
    def _is_counted(self):
        """Whether statistics are sums of whole numbers."""
        return self.is_share and self.weight is None

    @property
    def inflation(self):
        """The factor by which weights increase the scores of data without bias."""
        return 1.0 if self.weight is None else (self.weight**2).sum() / self.size

    @property
    def kind(self):
        """The kind of `Score`."""
        return KINDS[self.scoring]

    def at(self, which, people=None):
        """Return the rows selected by a mask or by positions, with `people` for frequencies.

        If the mean is expected, it is the mean of these rows. people=None: all people of a row.
        """
        columns = {"weight": self.weight, "frequency": self.frequency, "cluster": self.cluster}
        columns = {name: taken(column, which) for name, column in columns.items()}
        if people is not None:
            columns["frequency"] = people
        rows = replace(self, X=self._X_at(which), y=self.y[:, which], **columns)
        return rows.expecting(None if self.is_mean else self.mu[:, which])

    @cached_property
    def variance(self):
        """Variance of each outcome if the expectations hold, shape (n_targets, n_rows)."""
        if self.is_share:
            return self.mu * (1 - self.mu)
        if self.kind == "rate" and not self.is_mean:
            return self.mu
        squares = (self.y - self.mu) ** 2
        if self.weight is None:
            spread = np.mean(np.sort(squares, axis=1), axis=1, keepdims=True)
        else:
            spread = (squares @ self.weight / self.weight.sum())[:, None]
        return np.broadcast_to(np.where(spread > 0, spread, 1.0), self.y.shape)

    @cached_property
    def numbered_expectations(self):
        """By target, the distinct expectations, sorted, and the number of that of each row."""
        return [np.unique(mu, return_inverse=True) for mu in self.mu]

    def terms(self):
        """Return the terms a and h of one person of each row, each of shape (n_targets, n_rows)."""
        if self.kind == "odds":
            a, h = self.y, np.ones_like(self.y)
        elif self.kind == "rate":
            a, h = self.y, np.ascontiguousarray(self.mu)
        else:
            scale = self.mu if self.scoring == "gaussian" else np.ones_like(self.mu)
            a, h = (self.y - self.mu) * scale / self.variance, scale**2 / self.variance
        return a, h

    def parts(self):
        """Return the terms of the score of all people of each row."""
        a, h = self.terms()
        mass = self.weight if self.frequency is None else self.frequency
        return (a, h) if mass is None else (a * mass, h * mass)

    def score(self, sign, p, target=0):
        """Return the `Score` of a target in one direction, for bins with these expectations."""
        if self.kind != "square":
            return Score(self.kind, sign, p)
        a, h = (part[target] for part in self.parts())
        return Score("square", sign, p, furthest=float(np.max(np.abs(a / h), initial=0)) + 1e-9)

    def score_of(self, inside, target, sign):
        """Return the score of a group, given as a bool array over the rows."""
        if self._is_counted and self.kind == "odds":
            return _counted_outcome.score_of(self, inside, target, sign)
        a, h = (part[target][inside] for part in self.parts())
        mu = self.mu[target][inside]
        order = np.lexsort((h, mu))
        a, h, mu = np.sort(a), h[order], mu[order]
        if self.kind != "odds":
            mu = h = np.sort(h).sum(keepdims=True)
        score = self.score(sign, mu, target)
        return float(score.peak(sign * a.sum(keepdims=True), h[None])[1][0]) if len(h) else 0.0

    def measure(self, inside, target, significance, tally=None):
        """Compare the observed outcomes of a group with the expected ones.

        Parameters
        ----------
        inside : ndarray of bool, shape (n_rows,)
        target : int
        significance : float
        tally : Tally, optional
            That of the group, if there is one already.

        Returns
        -------
        dict
            outcome, effect (observed minus expected mean, with the opposite sign if low outcomes
            are favorable), its interval, p-value and test, support, observed, expected.
        """
        if self.weight is not None:
            return weighed(self, inside, target, significance)
        if self.is_share:
            tally = _counted_outcome.Tally(self, inside, target) if tally is None else tally
            return _counted_outcome.compared(self, tally, target, significance)
        mu, gap = np.sort(self.mu[target][inside]), self.y[target] - self.mu[target]
        gap, y = np.sort(gap[inside]), np.sort(self.y[target][inside])
        n = len(y)
        rest = 1 - n / max(len(self), 1) if self.is_mean else 1.0  # the mean depends on the members
        observed, expected = (x.mean() if n else np.nan for x in (y, mu))
        spread, p_value = np.sqrt(np.sort(self.variance[target][inside]).sum() * rest), np.nan
        if n and rest and spread:
            p_value = 2 * special.ndtr(-abs((y.sum() - mu.sum()) / spread))
        interval = self._interval(gap, rest, significance)
        return measured(self.sense, n, observed, expected, interval, p_value, NORMAL_TEST)

    def _interval(self, gap, rest, significance):
        """Return the interval of observed minus expected."""
        n = len(gap)
        if not n or not rest:
            return np.nan, np.nan
        error = gap.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        half = special.ndtri(1 - significance / 2) * error * np.sqrt(rest)
        return gap.mean() - half, gap.mean() + half

    def _tallies(self, insides, targets):
        """Return the `Tally` of each group; None of each where statistics are no counts."""
        if not self._is_counted:
            return [None] * len(insides)
        pairs = zip(insides, targets, strict=True)
        return [_counted_outcome.Tally(self, *pair) for pair in pairs]

    def compared(self, insides, targets, significance, tallies=None):
        """Return `measure` of several groups as a DataFrame, with the name of each target."""
        tallies = [None] * len(insides) if tallies is None else tallies
        groups = zip(insides, targets, tallies, strict=True)
        rows = [self.measure(inside, t, significance, tally) for inside, t, tally in groups]
        columns = ("outcome", "effect", "ci_low", "ci_high", "p_value", "test", "support")
        table = pd.DataFrame(rows, columns=[*columns, "observed", "expected"])
        table["test"] = table["test"].astype(object)
        table["measure"] = np.array([self.names[t] for t in targets], dtype=object)
        return table

    @property
    def is_constant(self):
        """Whether the mean of each target is expected, and no outcome differs from it."""
        return self.is_mean & (self.y == self.y[:, :1]).all(axis=1)

    def direction(self, sign):
        """Return the direction that a sign stands for, "higher" or "lower"."""
        return "higher" if sign == self.sense else "lower"

    def single_groups(self, items, significance, correction, threshold):
        """Compare each single protected value with its expectation, by each target.

        Parameters
        ----------
        items : Items
        significance : float
        correction : str
        threshold : float
            The score from which a group counts as found.

        Returns
        -------
        DataFrame
            The columns of `compared`, the group, and the smallest gap that its size could have
            shown.
        """
        protected_items, n = np.flatnonzero(items.protected), len(self.y)
        masks = list(items.masks(protected_items)) * n
        targets = np.repeat(np.arange(n), len(protected_items))
        tallies = self._tallies(masks, targets)
        groups = self.compared(masks, targets, significance, tallies)
        names = np.array([*map(str, items.protected_predicates)], dtype=object)
        groups.insert(0, "group", np.tile(names, n))
        groups["trials"] = groups["support"]
        groups["min_detectable_gap"] = self._detectable_gaps(masks, targets, tallies, threshold)
        groups["p_adjusted"] = _stats.adjust(groups["p_value"].to_numpy(), correction)
        return groups

    def _detectable_gaps(self, insides, targets, tallies, threshold):
        """Return the smallest gap of each group that the scan detects, given the score needed."""
        # The score of a group is about z**2 / 2 (`one_test_threshold`): its threshold as a z.
        z = np.sqrt(2 * threshold) + special.ndtri(_POWER)
        pairs, w = list(zip(insides, targets, strict=True)), self.mass
        if self._is_counted:
            spread = [np.sqrt(tally.variance) for tally in tallies]
            size = [float(tally.n) for tally in tallies]
        else:
            spread = [np.sqrt(np.sort(self.variance[t][i] * w[i] ** 2).sum()) for i, t in pairs]
            size = [w[i].sum() for i, _ in pairs]
        with np.errstate(divide="ignore", invalid="ignore"):
            return z * np.array(spread, dtype=float) / np.array(size, dtype=float)

    def overall(self, significance):
        """Return the overall observed mean with its interval, and the expected one."""
        rows = []
        for target, name in enumerate(self.names):
            observed, low, high, expected, n = self._overall(target, significance)
            rows += [(f"{name}, observed", observed, low, high, n)]
            rows += [(f"{name}, expected", expected, np.nan, np.nan, n)]
        return pd.DataFrame(rows, columns=ESTIMATES)

    def _overall(self, target, significance):
        """Return observed mean, ends of its interval, expected mean, and number of people."""
        if self.weight is not None:
            return weighed_overall(self, target, significance)
        if self.is_share:
            return _counted_outcome.overall(self, target, significance)
        y, mu, n = np.sort(self.y[target]), np.sort(self.mu[target]), len(self)
        if not n:
            return np.nan, np.nan, np.nan, np.nan, n
        low = high = np.nan
        if n > 1:
            half = special.ndtri(1 - significance / 2) * y.std(ddof=1) / np.sqrt(n)
            low, high = y.mean() - half, y.mean() + half
        return y.mean(), low, high, mu.mean(), n


def above(outcome, alpha):
    """Return the outcome of the Berk-Jones score: whether a row is above the (1 - alpha)-quantile.

    Shares are not changed; the expectation of each row is alpha, or the share of all rows if
    alpha is None.
    """
    y = outcome.y
    if not outcome.is_share:
        level = 0.5 if alpha is None else alpha
        y = (y > np.quantile(y, 1 - level, axis=1, method="higher", keepdims=True)).astype(float)
    names = outcome.names
    if not outcome.is_share:
        names = [f"share above a quantile of {n}" for n in names]
    is_fixed = outcome.is_share and alpha is not None
    outcome = replace(outcome, y=y, names=names, scoring="berk_jones", is_share=True)
    return outcome.expecting(np.full(y.shape, float(alpha)) if is_fixed else None)


def has_numbers(box):
    """Return whether a model has probabilities of classes that are numbers."""
    if box.model is None or not box.has_probabilities:
        return False
    return all(isinstance(c, Real | np.bool_) for c in box.classes)


def one_test_threshold(level):
    """Return the score, half a squared normal quantile, at which one two-sided test rejects."""
    return special.ndtri(level / 2) ** 2 / 2
