"""The Gaussian copula: sampling people, everybody or exactly those who satisfy conditions."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import qmc

from skdisc._subgroup import Subgroup
from skdisc.datasets._box import Box
from skdisc.datasets._latent import solve

_SETS = 8


class GaussianCopula:
    r"""People whose attributes have the marginals of a schema and a Gaussian dependence.

    :math:`z \sim N(0, R)`; attribute j is :math:`F_j^{-1}(\Phi(z_j))`, with R such that the
    attributes have the correlations of the schema.

    Parameters
    ----------
    schema : Schema

    Attributes
    ----------
    latent_ : ndarray of shape (n_attributes, n_attributes)
        The matrix R.

    Examples
    --------
    >>> from skdisc import Predicate, Subgroup
    >>> from skdisc.datasets import Attribute, Schema
    >>> sex = Attribute("sex", values=("F", "M"), weights=(1, 3))
    >>> age = Attribute("age", "numeric", law=("norm", 40, 10), dtype="float64")
    >>> copula = GaussianCopula(Schema([sex, age], correlation=0.5))
    >>> women = copula.sample(1000, Subgroup([Predicate.equals("sex", "F")]), random_state=0)
    >>> bool((women["sex"] == "F").all()), bool(women["age"].mean() < 35)
    (True, True)
    """

    def __init__(self, schema):
        self.schema = schema
        self.latent_ = solve(schema)
        self._root = np.linalg.cholesky(self.latent_ + 1e-12 * np.eye(len(self.latent_)))
        self._completions = {}

    def sample(self, n_samples, condition=None, *, random_state=None):
        """Draw people.

        Parameters
        ----------
        n_samples : int
        condition : Subgroup, Predicate or None, default=None
            Whom to draw; None: anybody. Each condition must be an interval of the attribute's
            order: one value, neighbouring values, or an interval of numbers.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        DataFrame of shape (n_samples, n_attributes)

        Raises
        ------
        ValueError
            If nobody, or hardly anybody, satisfies the condition.
        """
        return self.sample_each([n_samples], [condition], random_state=random_state)

    def sample_each(self, sizes, conditions, *, random_state=None):
        """Draw people for several conditions, one after the other, in one table.

        Parameters
        ----------
        sizes : sequence of int
            Number of people for each condition.
        conditions : sequence of Subgroup, Predicate or None
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        DataFrame of shape (sum(sizes), n_attributes)
        """
        rng, ends = generator(random_state), np.cumsum([0, *sizes])
        z = np.empty((len(self.latent_), ends[-1]))
        blocks = []
        for (start, end), condition in zip(pairwise(ends), conditions, strict=True):
            fixed = self._intervals(condition)
            self._draw(z[:, start:end], fixed, rng)
            blocks.append((slice(start, end), fixed))
        return self._decode(z, blocks)

    def probability(self, condition, *, n_draws=4096, random_state=0):
        """Estimate the share of people who satisfy a condition; exact for a single attribute."""
        fixed = self._intervals(condition)
        if not fixed:
            return 1.0
        return Box(self.latent_, fixed).probability(n_draws, generator(random_state))

    def integrate(self, function, condition=None, *, n_points=2**14, random_state=0):
        """Return means over everybody who satisfies a condition, by randomised quasi-Monte Carlo.

        Parameters
        ----------
        function : callable
            Takes a DataFrame of people and one more uniform number for each, of shape (n,);
            returns an array of shape (n,) or (n, k).
        condition : Subgroup, Predicate or None, default=None
        n_points : int, default=2**14
            Number of people in all, in eight independent sets.
        random_state : int, RandomState, Generator or None, default=0

        Returns
        -------
        mean, standard_error : float or ndarray of shape (k,)
            The standard error is that between the sets.
        """
        fixed, rng = self._intervals(condition), generator(random_state)
        size, k, n = len(self.latent_), len(fixed), n_points // _SETS
        sets = [qmc.Sobol(size + 1, seed=rng).random(n) for _ in range(_SETS)]
        u = np.clip(np.concatenate(sets).T, 1e-12, 1 - 1e-12)
        z, weight, given = np.empty((size, u.shape[1])), np.ones(u.shape[1]), None
        if fixed:
            box = Box(self.latent_, fixed)
            given, weight = box.propose(u[:k])
            given = given[np.argsort(box.index)]
        self._complete(z, sorted(fixed), given, ndtri(u[k:size]))
        people = self._decode(z, [(slice(None), fixed)])
        values = np.asarray(function(people, u[size]), dtype=float)
        weight = weight.reshape(_SETS, n)
        sums = np.einsum("si,si...->s...", weight, values.reshape(_SETS, n, *values.shape[1:]))
        means = (sums.T / weight.sum(axis=1)).T
        return means.mean(axis=0), means.std(axis=0, ddof=1) / math.sqrt(_SETS)

    def _draw(self, z, fixed, rng):
        """Draw latent scores into an array of shape (n_attributes, n)."""
        given, n = None, z.shape[1]
        if fixed:
            box = Box(self.latent_, fixed)
            given = box.draw(n, rng)[np.argsort(box.index)]
        self._complete(z, sorted(fixed), given, rng.standard_normal((len(z) - len(fixed), n)))

    def _complete(self, z, index, given, free):
        """Fill in all scores, given those at `index`, from standard normal ones for the others."""
        if not index:
            z[:] = self._root @ free
            return
        z[index] = given
        rest, weights, root = self._completion(tuple(index))
        if len(rest):
            z[rest] = weights @ given + root @ free

    def _completion(self, index):
        """Return the other attributes, and weights and root of their law given those at `index`."""
        if index not in self._completions:
            rest, latent = np.setdiff1d(np.arange(len(self.latent_)), index), self.latent_
            across = latent[np.ix_(index, rest)]
            weights = np.linalg.solve(latent[np.ix_(index, index)], across)
            cover = latent[np.ix_(rest, rest)] - across.T @ weights
            root = np.linalg.cholesky(cover + 1e-9 * np.eye(len(rest)))
            self._completions[index] = rest, weights.T, root
        return self._completions[index]

    def _decode(self, z, blocks):
        """Return the people with these scores; by block of rows, those in the intervals fixed."""
        for rows, fixed in blocks:  # rounding may have put a score beyond an end
            for j, (low, high, _) in fixed.items():
                z[j, rows] = np.clip(z[j, rows], np.nextafter(low, math.inf), high)
        columns = {}
        for j, attribute in enumerate(self.schema.attributes):
            values = columns[attribute.name] = attribute.decode(z[j])
            if attribute.is_discrete:
                continue
            for rows, fixed in blocks:
                if j in fixed:
                    values[rows] = _within(values[rows], fixed[j][2])
        return table(columns)

    def _intervals(self, condition):
        """Return the latent interval of each attribute in the condition, by position."""
        group = Subgroup() if condition is None else Subgroup() & condition
        fixed = {}
        for predicate in group.predicates:
            if predicate.column not in self.schema.names:
                raise ValueError(
                    f"The condition '{predicate}' is on no attribute of {self.schema.names!r}."
                )
            j = self.schema.names.index(predicate.column)
            low, high = _interval(self.schema.attributes[j], predicate)
            if not low < high:
                raise ValueError(f"Nobody satisfies the condition '{predicate}'.")
            fixed[j] = (low, high, predicate)
        return fixed


def generator(random_state):
    """Return a NumPy Generator from a seed, a RandomState or a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**32, size=4, dtype=np.uint64)
    return np.random.default_rng(random_state)


def table(columns):
    """Return a DataFrame of arrays by name; those of objects stay so, whatever they hold."""
    of_objects = {n: pd.Series(x, dtype=object) for n, x in columns.items() if x.dtype == object}
    return pd.DataFrame({**columns, **of_objects})


def _within(x, predicate):
    """Move values that rounding has put beyond an end of an interval back into it."""
    low, high = predicate.low, predicate.high
    if x.dtype.kind == "i":
        above = None if low == -math.inf else math.floor(low) + (not predicate.low_closed)
        below = None if high == math.inf else math.ceil(high) - (not predicate.high_closed)
        return np.clip(x, above, below)
    above = low if predicate.low_closed else np.nextafter(low, math.inf)
    below = high if predicate.high_closed else np.nextafter(high, -math.inf)
    return np.clip(x, above, below)


def _interval(attribute, predicate):
    """Return the latent interval in which an attribute satisfies a predicate."""
    if predicate.values is None:
        low = attribute.share_below(predicate.low, not predicate.low_closed)
        high = attribute.share_below(predicate.high, predicate.high_closed)
        return float(ndtri(low)), float(ndtri(high))
    if not attribute.is_discrete:
        raise ValueError(
            f"'{predicate}': a continuous attribute has no single values; give an interval."
        )
    codes = sorted(attribute.values.index(v) for v in predicate.values if v in attribute.values)
    codes = [c for c in codes if attribute.weights[c] > 0]
    if not codes:
        return 0.0, 0.0
    if codes != list(range(codes[0], codes[-1] + 1)):
        raise ValueError(f"'{predicate}': the values must be neighbours in {attribute.values!r}.")
    return float(attribute.cuts[codes[0]]), float(attribute.cuts[codes[-1] + 1])
