"""Adjustment: what is left of outcomes and memberships once the legitimate columns are known."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import linalg, sparse
from sklearn.preprocessing import SplineTransformer

from skdisc._space._codes import MISSING
from skdisc._utils._frequency import median, people_in, quantiles

_FEW = 10  # values up to which a numeric column has one main effect for each
_RANK = 1e-10  # eigenvalues, relative to the largest, that count as zero
LEAST = 0.05  # share of a row's variance that its own residual keeps at least
MANY_VALUES = 200  # indicators from which those of one column are swept out first
_BLOCK = 20_000
_LEAST_CHANCE = 0.002  # an expected chance is at least this far from 0 and 1,
_OF_MEAN = 0.1  # or this share of the mean chance


class MainEffects:
    """The main effects of some columns: an indicator for each value, splines for numbers.

    Residuals are those of weighted least squares.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    space : FeatureSpace
    root : ndarray of float, shape (n_rows,)
        Roots of the weights of the rows.
    frequency : ndarray of int64, shape (n_rows,), optional
        Number of people of each row, the weights; None: 1.
    """

    def __init__(self, X, space, root, frequency=None):
        blocks, names = [sparse.csr_matrix(np.ones((len(X), 1)))], [None]
        for name in X:
            own = _effects(X[name], space[name], frequency)
            blocks += own
            names += [name] * sum(block.shape[1] for block in own)
        design = sparse.csr_array(sparse.hstack(blocks, format="csr"))
        del blocks
        design.data *= np.repeat(root, np.diff(design.indptr))
        size = np.sqrt(np.bincount(design.indices, design.data**2, design.shape[1]))
        design = design if (size > 0).all() else design[:, size > 0]
        design.data /= size[size > 0][design.indices]
        self.design = design
        self.names = [name for name, there in zip(names, size > 0, strict=True) if there]
        self.basis = _basis(design, self._indicators_of_most_values(space))

    def _indicators_of_most_values(self, space):
        """Return a mask of the indicators of the column with most values, if it has many."""
        n = Counter(n for n in self.names if n is not None and space[n].kind != "numeric")
        name, size = max(n.items(), key=lambda pair: pair[1], default=(None, 0))
        return np.array([size > MANY_VALUES and name == other for other in self.names])

    def coordinates(self, planes):
        """Return the coordinates of planes, shape (n, n_rows), in the span of the effects."""
        return (self.design.T @ np.asarray(planes).T).T @ self.basis

    def residual(self, planes):
        """Return planes, shape (n, n_rows), without what the main effects explain."""
        inner = self.coordinates(planes) @ self.basis.T
        return planes - (self.design @ inner.T).T

    def by_column(self, values, root):
        """Yield each column with what it contributes to the fit of scaled values, shape (n_rows,).

        The contributions are determined up to constants.
        """
        slopes = self.basis @ self.coordinates(values[None])[0]
        for name in dict.fromkeys(self.names):
            if name is not None:
                own = np.array([other == name for other in self.names])
                yield name, (self.design[:, own] @ slopes[own]) / root

    def leverage(self):
        """Return the leverage of each row."""
        parts = range(0, self.design.shape[0], _BLOCK)
        return np.concatenate(
            [((self.design[i : i + _BLOCK] @ self.basis) ** 2).sum(axis=1) for i in parts]
        )


def _basis(design, first):
    """Return a matrix whose product with the design is an orthonormal basis of its span.

    Parameters
    ----------
    design : sparse array of shape (n_rows, n_effects)
        Columns of length 1.
    first : ndarray of bool, shape (n_effects,)
        Orthogonal columns, which are swept out of the others, so that a column of very many values
        costs little.
    """
    others = design[:, ~first]
    gram, swept = others.T @ others, None
    if first.any():
        swept = design[:, first].T @ others
        gram = gram - swept.T @ swept
    own, left = np.zeros((others.shape[1], 0)), gram.diagonal() > _RANK
    if left.any():
        values, vectors = linalg.eigh(gram[left][:, left].toarray())
        known = values > _RANK * values[-1]
        own = np.zeros((others.shape[1], known.sum()))
        own[left] = vectors[:, known] / np.sqrt(values[known])
    if swept is None:
        return own
    blocks = sparse.block_array([[sparse.eye_array(first.sum()), -(swept @ own)], [None, own]])
    return sparse.csr_array(blocks)[np.argsort(np.argsort(~first, kind="stable"))]


def _effects(series, column, frequency):
    """Return the columns of a design that stand for one column of a table."""
    if column.kind != "numeric":
        return [_indicators(column.encode(series))]
    x = series.to_numpy(dtype=np.float64, na_value=np.nan)
    there = ~np.isnan(x)
    if len(np.unique(x[there])) <= _FEW:
        return [_indicators(pd.factorize(x)[0])]
    own = None if frequency is None else frequency[there]
    middle = np.where(there, x, median(x[there], own))[:, None]
    knots = "quantile"
    if frequency is not None:
        knots = np.unique(quantiles(middle[:, 0], np.linspace(0, 1, 4), frequency))[:, None]
    splines = SplineTransformer(4, knots=knots, extrapolation="linear", sparse_output=True)
    missing = [] if there.all() else [sparse.csr_matrix((~there).astype(float)[:, None])]
    return [sparse.csr_matrix(splines.fit_transform(middle)), *missing]


def _indicators(codes):
    """Return one indicator for each code, missing values included."""
    number = pd.factorize(np.where(codes == MISSING, codes.max(initial=0) + 1, codes))[0]
    at = np.arange(len(number)), number
    return sparse.csr_matrix((np.ones(len(number)), at))


@dataclass(frozen=True)
class Residuals:
    """Outcomes and protected parts, adjusted for the legitimate columns; scaled by root weights.

    Attributes
    ----------
    outcome : ndarray of float, shape (n_rows,)
        r = y - E[y | x].
    parts : ndarray of float, shape (n_parts, n_rows)
        d = 1_P - P(P | x).
    root : ndarray of float, shape (n_rows,)
        Roots of the weights; of the numbers of people where rows stand for many.
    inflation : ndarray of float, shape (n_rows,)
        By how much the variance of a residual is larger than its square shows.
    effects : MainEffects or None
        None if nothing was projected off: the expectations were given.
    nuisance : str
        How the expectations were learned.
    raw : ndarray of float, shape (n_rows,)
        Outcomes, scaled.
    cluster : ndarray of int, shape (n_rows,), or None
        Numbers from 0.
    is_centered : bool
        Whether each candidate is centered within its own context.
    notes : list of str
    people : ndarray of int64, shape (n_rows,), or None
        Number of equal people of each row; None: 1.
    expected : ndarray of float, shape (n_rows,), or None
        Outcomes expected of rows by what was learned out of fold; None: by main effects of all.
    """

    outcome: np.ndarray
    parts: np.ndarray
    root: np.ndarray
    inflation: np.ndarray
    effects: MainEffects | None
    nuisance: str
    raw: np.ndarray
    cluster: np.ndarray | None = None
    is_centered: bool = False
    notes: list = field(default_factory=list)
    people: np.ndarray | None = None
    expected: np.ndarray | None = None

    @property
    def n_people(self):
        """Number of people."""
        return self.people_in(np.ones(len(self.outcome), dtype=bool))

    def people_in(self, mask):
        """Return the number of people in the rows of a mask."""
        return people_in(mask, self.people)

    @cached_property
    def share(self):
        """What scaled numbers of a row are divided by to be of one person: roots of `people`."""
        return 1.0 if self.people is None else np.sqrt(self.people)

    def mean(self, values):
        """Return the mean over the people of a number for each row."""
        return np.average(values, weights=self.people)

    @cached_property
    def scales(self) -> dict:
        """What the effect of a group on each outcome may be proportional to, each (n_rows,).

        Where hardly anybody has an outcome, or nearly everybody, an effect cannot be as large as
        elsewhere. With an expected chance of e, equal odds ratios are effects proportional to
        e (1 - e), to first order; equal ratios those to e, or to 1 - e.
        """
        found = {"difference": np.ones(len(self.raw))}
        if not self.is_binary or self.is_centered:  # or all have the same chance
            return found
        e = self._chances
        return found | {
            "odds ratio": e * (1 - e),
            "ratio": e,
            "ratio of the opposite outcome": 1 - e,
        }

    @cached_property
    def _chances(self):
        """The chance of the outcome 1 that other rows let expect of each, shape (n_rows,)."""
        expected = self._expected_by_others() if self.expected is None else self.expected
        mean = np.average(expected, weights=self.root**2) if len(expected) else 0.5
        least = max(min(_LEAST_CHANCE, _OF_MEAN * mean, _OF_MEAN * (1 - mean)), 1e-9)
        return np.clip(expected, least, 1 - least)

    def _expected_by_others(self):
        """Return the outcomes that main effects of all other rows let expect of each.

        Of values that few people have, these spread too far. They are drawn to their mean by as
        much.
        """
        weight, own = self.root**2, self.outcome / self.root * self.inflation
        expected = self.raw / self.root - own
        mean = weight @ expected / max(weight.sum(), 1e-300)
        away, error = expected - mean, own**2 * (1 - 1 / self.inflation)
        kept = 1 - (weight @ error) / max(weight @ away**2, 1e-300)
        return mean + np.clip(kept, 0, 1) * away

    def noise(self, left: np.ndarray) -> np.ndarray:
        """Return a fit's residuals, those of one person, inflated to the variance of outcomes."""
        return left * np.sqrt(self.inflation) / self.share

    def by_cluster(self, planes: np.ndarray) -> np.ndarray:
        """Sum planes over the rows of each cluster, shape (n, n_clusters)."""
        return planes if self.cluster is None else planes @ sums_by(self.cluster)

    def implied(self, left: np.ndarray) -> np.ndarray:
        """Return the variance of each row's outcome as the fit of all rows implies it.

        Few people, none of whom has the rarer outcome or an exceptional number, do not show how
        much outcomes vary.
        """
        if not self.is_binary:
            return self.mean((left / self.root) ** 2) * (self.root / self.share) ** 2
        chance, size = self.sampled(left)
        return chance * (1 - chance) * (size * self.root / self.share) ** 2

    def misfit(self, left: np.ndarray) -> float:
        """Return how many times outcomes of all rows vary as much around a fit as it implies."""
        noise, implied = self.noise(left), self.implied(left)
        return float(self.mean(noise**2) / max(self.mean(implied), 1e-300))

    def sampled(self, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the chance of each row's outcome among the rows at hand, and the size of its part.

        A weight may depend on the outcome, as where few of the outcomes were sampled, which then
        weigh more. If rows with and without the outcome weigh c1 and c0 times a number of their
        own, a fitted mean p is a chance q of the row with odds c0 p : c1 (1 - p), and the row's
        part of a score, w (y - p), is w s (y - q) with s = (c1 (1 - p) + c0 p) / c(y), so
        that both have a mean of 0. With other weights, q is p and s is 1.

        Parameters
        ----------
        left : ndarray of float, shape (n_rows,)
            What a fit leaves of the outcome.
        """
        p, (c0, c1) = np.clip((self.raw - left) / self.root, 0, 1), self._mean_weights
        size = (c1 * (1 - p) + c0 * p) / np.where(self.raw > 0, c1, c0)
        return c0 * p / (c0 * p + c1 * (1 - p)), size

    @cached_property
    def _mean_weights(self):
        """The mean weights of a person without and with the outcome; 1 where nobody is."""
        weight = np.broadcast_to((self.root / self.share) ** 2, self.raw.shape)
        people = np.ones(len(self.raw)) if self.people is None else self.people
        return [
            np.average(weight[of], weights=people[of]) if of.any() else 1.0
            for of in (self.raw == 0, self.raw != 0)
        ]

    @cached_property
    def is_binary(self) -> bool:
        """Whether outcomes are 0 or 1."""
        return bool(((self.raw == 0) | (self.raw == self.root)).all())

    @classmethod
    def of_known(cls, y, expected, is_part, shares, cluster=None):
        """Return residuals from known expectations, without weights."""
        one = np.ones(len(y))
        return cls(y - expected, is_part - shares, one, one, None, "known", y, cluster)


def inflation_of(effects, people=None):
    """Return the factor by which projected residuals must be inflated (HC2), by row."""
    leverage = effects.leverage() / (1 if people is None else people)
    return 1 / np.maximum(1 - leverage, LEAST)


def sums_by(cluster):
    """Return the matrix that sums rows by cluster."""
    n = len(cluster)
    shape = n, int(cluster.max(initial=-1)) + 1
    return sparse.csr_matrix((np.ones(n), (np.arange(n), cluster)), shape=shape)
