"""A group and its reference, in the terms of the formulas of the measures."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from skdisc._stats import DesignMeans
from skdisc._stats._means import away_from, skewness_known
from skdisc._stats._rates import FN, FP, N_CELLS, RATES, TN, TP

ALL = (TN, FP, FN, TP)


@dataclass(frozen=True)
class Rates:
    """Counts x among n in the group (1) and in its reference (0), arrays that broadcast.

    `sizes` has the effective numbers of rows of group and reference, if they are not n1 and n0.
    """

    x1: np.ndarray
    n1: np.ndarray
    x0: np.ndarray
    n0: np.ndarray
    sizes: tuple | None = None

    @property
    def effective(self):
        """The same rates with effective counts, for intervals and tests."""
        if self.sizes is None:
            return self
        n1, n0 = self.sizes
        return Rates(self.protected * n1, n1, self.reference * n0, n0)

    @property
    def swapped(self):
        """The reference compared with the group."""
        return Rates(self.x0, self.n0, self.x1, self.n1, self.sizes and self.sizes[::-1])

    @property
    def complement(self):
        """The rates of the other outcome."""
        return Rates(self.n1 - self.x1, self.n1, self.n0 - self.x0, self.n0, self.sizes)

    @property
    def protected(self):
        """Rate of the group, b in the formulas."""
        return self.x1 / self.n1

    @property
    def reference(self):
        """Rate of the reference, a in the formulas."""
        return self.x0 / self.n0

    @property
    def pooled(self):
        """Rate of group and reference together."""
        return (self.x1 + self.x0) / (self.n1 + self.n0)

    @property
    def share(self):
        """Share of the group in the union of group and reference."""
        return self.n1 / (self.n1 + self.n0)


@dataclass(frozen=True)
class Moments:
    """Mean, sample variance, size and skewness of the mean, of the group and of the reference."""

    group: tuple
    reference: tuple

    @classmethod
    def of(cls, y1, w1, y0, w0):
        """Compute the moments of weighted values along the last axis; weights are frequencies."""
        (*group, s1), (*reference, s0) = _moments(y1, w1), _moments(y0, w0)
        skewness = [(s1, group[2]), (s0, reference[2])]
        s1, s0 = skewness_known(skewness, skewness)
        return cls((*group, s1), (*reference, s0))

    @property
    def n1(self):
        """Size of the group."""
        return self.group[2]

    @property
    def n0(self):
        """Size of the reference."""
        return self.reference[2]


def _moments(y, w):
    """Return mean, sample variance, size and skewness of the mean, along the last axis."""
    n = w.sum(axis=-1)
    mean = (y * w).sum(axis=-1) / n
    away = away_from(y, np.expand_dims(mean, -1))
    variance = (away**2 * w).sum(axis=-1) / (n - 1)
    with np.errstate(over="ignore"):  # such numbers count as too skewed
        third = (away**3 * w).sum(axis=-1) / (n * (n - 1) * (n - 2))
    shows = (n > 2) & (variance > 0)
    return mean, variance, n, np.where(shows, third / np.where(shows, variance / n, 1) ** 1.5, 0.0)


@dataclass(frozen=True)
class CountPair:
    """Tables of counts of many comparisons at once.

    Attributes
    ----------
    one, other : ndarray of shape (..., n_strata, n_comparisons, 2, 2)
        Rows of the group, and of the rows outside it, by decision and label.
    overlap : bool
        Whether the reference is all rows, including the group.
    design : PairDesign, OmnibusDesign or None
        The rows, if variances depend on weights or clusters.
    """

    one: np.ndarray
    other: np.ndarray
    overlap: bool = False
    design: object = None
    is_numeric = False

    @property
    def zero(self):
        """The table of the reference."""
        return self.one + self.other if self.overlap else self.other

    @cached_property
    def merged(self):
        """Tables of group and reference without strata, shape (..., n_comparisons, 2, 2)."""
        return self.one.sum(axis=-4), self.zero.sum(axis=-4)

    def rates(self, name):
        """Return a rate of `RATES`."""
        return self._with_sizes(_rates(*self.merged, name), name)

    def _with_sizes(self, rates, name, by_stratum=False):
        """Return rates with effective numbers of rows if there is a design."""
        if self.design is None or self.overlap:
            return rates
        return replace(rates, sizes=tuple(self.sizes(name, by_stratum)))

    def sizes(self, name, by_stratum=False):
        """Return the effective numbers of rows of group and reference behind a rate."""
        hits, misses = RATES[name]
        return self.design.sizes(_mask(hits), _mask(hits + misses), by_stratum)

    @property
    def selection(self):
        """Rates of favorable decisions."""
        return self.rates("selection_rate")

    @property
    def levels(self):
        """The two decisions, and their weights in group and reference, on the last axis."""
        return (np.arange(2), *(table.sum(axis=-1) for table in self.merged))

    @property
    def strata(self):
        """Rates of favorable decisions per stratum, shape (..., n_strata, n_comparisons)."""
        rates = _rates(self.one, self.zero, "selection_rate")
        return self._with_sizes(rates, "selection_rate", by_stratum=True)

    def by_score(self, n_bins):
        """Return the rates of favorable labels with decisions as strata, and the decisions."""
        del n_bins  # a decision is 0 or 1
        names = ("false_omission_rate", "positive_predictive_value")
        several = [self.rates(name) for name in names]
        parts = [(r.x1, r.n1, r.x0, r.n0) for r in several]
        rates = Rates(*(np.stack(pair, axis=-2) for pair in zip(*parts, strict=True)))
        if several[0].sizes is not None:
            sizes = zip(*(r.sizes for r in several), strict=True)
            rates = replace(rates, sizes=tuple(np.stack(pair, axis=-2) for pair in sizes))
        return rates, np.array([[0.0], [1.0]])

    @property
    def residual(self):
        """Moments of label minus decision."""
        return self._moments(np.array([0.0, 1.0]) - np.array([0.0, 1.0])[:, None])

    def score(self, label):
        """Return the rates of favorable decisions among rows with the label 1 or 0."""
        return self.rates("true_positive_rate" if label else "false_positive_rate")

    def _moments(self, value, cells=ALL):
        """Return the moments of a value per decision and label, over some confusion cells."""
        if self.design is not None and not self.overlap:
            moments = self.design.moments(np.asarray(value), _mask(cells))
            return Moments(*zip(*moments, strict=True))
        tables = ((t * _mask(cells)).reshape(*t.shape[:-2], 4) for t in self.merged)
        (one, zero), value = tables, np.asarray(value).ravel()
        return Moments.of(value, one, value, zero)


def _rates(one, zero, name):
    """Return a rate of `RATES` from two tables by decision and label."""
    hits, misses = RATES[name]
    masks = _mask(hits), _mask(hits + misses)
    return Rates(*((table * mask).sum((-1, -2)) for table in (one, zero) for mask in masks))


def _mask(cells):
    """Return confusion cells as a 0/1 table by decision and label."""
    table = np.zeros(N_CELLS, dtype=int)
    table[list(cells)] = 1
    return table.reshape(2, 2).T  # cell = 2 * label + decision


def _sums(index, values, size):
    """Return the sums of values by index, shape (size, 1)."""
    return np.bincount(index, weights=values, minlength=size)[:, None]


@dataclass(frozen=True)
class ValuePair:
    """Rows of one comparison, if decisions or labels are numbers.

    Attributes
    ----------
    one, other : tuple of (pred, true, weight, stratum, position), arrays of shape (n_rows,)
        The rows of the group, and the rows outside it; true and stratum may be None.
    overlap : bool
        Whether the reference is all rows, including the group.
    n_strata : int
    clusters : tuple of ndarray of int, or None
        The cluster of each row of `one` and of `other`, if variances depend on weights or clusters.
    """

    one: tuple
    other: tuple
    overlap: bool = False
    n_strata: int = 1
    clusters: tuple | None = None
    is_numeric = True

    @cached_property
    def zero(self):
        """Rows of the reference."""
        if not self.overlap:
            return self.other
        sides = zip(self.one, self.other, strict=True)
        return tuple(None if a is None else np.concatenate([a, b]) for a, b in sides)

    def with_decisions(self, group, rest):
        """Return the same rows with other decisions of the group, and of the rows outside it."""
        return replace(self, one=(group, *self.one[1:]), other=(rest, *self.other[1:]))

    @property
    def selection(self):
        """Moments of the decisions."""
        return self._moments(lambda pred, true: pred)

    @property
    def residual(self):
        """Moments of label minus decision."""
        return self._moments(lambda pred, true: true - pred)

    def _moments(self, value, label=None):
        """Return the moments of a function of decision and label, of rows with one label."""
        parts, clusters = [], []
        for k, (pred, true, weight, *_) in enumerate((self.one, self.zero)):
            has_label = slice(None) if label is None else true == label
            parts += [value(pred, true)[has_label], weight[has_label]]
            clusters.append(None if self.clusters is None else self.clusters[k][has_label])
        if self.clusters is None or self.overlap:
            return Moments.of(*parts)
        first = np.repeat([True, False], [len(parts[0]), len(parts[2])])
        y, weight = (np.concatenate(parts[k::2]) for k in (0, 1))
        means = DesignMeans.of(y, weight, first, ~first, np.concatenate(clusters))
        return Moments(*zip(*(part[:, 0] for part in means.moments()), strict=True))

    def score(self, label):
        """Return the moments of decisions among rows with the label 1 or 0."""
        return self._moments(lambda pred, true: pred, label)

    @property
    def strata(self):
        """Sums and sizes per stratum as `Rates`, shape (n_strata, 1)."""
        parts = []
        for pred, _, weight, stratum, _ in (self.one, self.zero):
            parts += [_sums(stratum, pred * weight, self.n_strata)]
            parts += [_sums(stratum, weight, self.n_strata)]
        return Rates(*parts)

    @property
    def strata_moments(self):
        """Squared errors and third cumulants of means per stratum, of group and of reference.

        A list of two tuples of arrays of shape (n_strata, 1). Cumulants are those of the skewness
        of the stratum or, if that is larger, of all residuals of the side, in units of the spread
        of their stratum.
        """
        moments = []
        for pred, _, weight, stratum, _ in (self.one, self.zero):
            n = _sums(stratum, weight, self.n_strata)
            mean = _sums(stratum, weight * pred, self.n_strata) / n
            away = pred - mean[stratum, 0]
            variance = _sums(stratum, weight * away**2, self.n_strata) / (n - 1)
            spread = np.sqrt(variance)[stratum, 0]
            standard = np.divide(away, spread, out=np.zeros(len(away)), where=spread > 0)
            cubes = _sums(stratum, weight * standard**3, self.n_strata)
            stratum_skewness = np.where(n > 2, cubes * n / ((n - 1) * (n - 2)), 0.0)
            side_skewness = weight @ standard**3 / max(weight.sum(), 1e-300)
            skewness = np.where(
                np.abs(stratum_skewness) >= np.abs(side_skewness), stratum_skewness, side_skewness
            )
            moments.append((variance / n, skewness * variance**1.5 / n**2))
        return moments

    def by_score(self, n_bins):
        """Return the rates of favorable labels per bin of scores, and the group's mean scores."""
        parts, bins = [], []
        for pred, true, weight, _, _ in (self.one, self.zero):
            if np.any((pred < 0) | (pred > 1)):
                raise ValueError("y_pred must hold scores between 0 and 1, estimates of P(y = +)")
            bins.append(np.minimum((pred * n_bins).astype(np.int64), n_bins - 1))
            parts += [_sums(bins[-1], true * weight, n_bins), _sums(bins[-1], weight, n_bins)]
        return Rates(*parts), _sums(bins[0], self.one[0] * self.one[2], n_bins) / parts[1]

    @cached_property
    def levels(self):
        """Distinct decisions, and the weight of each in the group and in the reference."""
        value, index = np.unique(np.concatenate([self.one[0], self.zero[0]]), return_inverse=True)
        k = len(self.one[0])
        w1 = np.bincount(index[:k], weights=self.one[2], minlength=len(value))
        return value, w1, np.bincount(index[k:], weights=self.zero[2], minlength=len(value))


@dataclass(frozen=True)
class GroupValues:
    """Rows of all groups of a grouping, if decisions are numbers."""

    value: np.ndarray
    weight: np.ndarray
    group: np.ndarray
    n_groups: int
    design: object = None
    is_numeric = True

    def drawn(self, index):
        """Return the groups with the values of a bootstrap sample of rows."""
        return replace(self, value=self.value[index])
