"""The Gaussian copula: sampling people, everybody or exactly those who satisfy conditions."""

import math
from functools import lru_cache
from itertools import pairwise
from numbers import Integral

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import qmc

from skdisc._space._subgroup import Subgroup
from skdisc.datasets._copula._latent_correlation import solve
from skdisc.datasets._copula._truncated_normal import Box

_SETS = 8
_MANY = 50  # columns above which pandas wants them together in memory
_BLOCK = 2**16  # people whose scores stay in a processor's cache


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
        columns = [a.empty(ends[-1]) for a in self.schema.attributes]
        for (start, end), condition in zip(pairwise(ends), conditions, strict=True):
            fixed, index, given = self._intervals(condition), (), np.empty((0, end - start))
            if fixed:
                box = Box(self.latent_, fixed)
                index, given = box.index, box.draw(end - start, rng)
            for at in range(start, end, _BLOCK):
                rows = slice(at, min(at + _BLOCK, end))
                scores = np.empty((len(columns), rows.stop - at))
                scores[: len(index)] = given[:, at - start : rows.stop - start]
                rng.standard_normal(out=scores[len(index) :])
                self._fill(columns, rows, scores, index, fixed)
        return self._table(columns)

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
        fixed = self._intervals(condition)
        size, k = len(self.latent_), len(fixed)
        points = _points if isinstance(random_state, Integral) else _points.__wrapped__
        u, normal = points(size + 1, n_points // _SETS, random_state)
        columns = [a.empty(u.shape[1]) for a in self.schema.attributes]
        index, given, weight = (), u[:0], np.ones(u.shape[1])
        if fixed:
            box = Box(self.latent_, fixed)
            index, (given, weight) = box.index, box.propose(u[:k])
        scores = np.concatenate([given, normal[k:size]])
        self._fill(columns, slice(None), scores, index, fixed)
        people = self._table(columns)
        values = np.asarray(function(people, u[size]), dtype=float)
        weight = weight.reshape(_SETS, -1)
        sums = np.einsum("si,si...->s...", weight, values.reshape(*weight.shape, *values.shape[1:]))
        means = (sums.T / weight.sum(axis=1)).T
        return means.mean(axis=0), means.std(axis=0, ddof=1) / math.sqrt(_SETS)

    def _fill(self, columns, rows, scores, index, fixed):
        """Write into some rows the people with these scores: those at `index`, then normal ones."""
        rest, weights = self._completion(tuple(index))
        z = dict(zip((*index, *rest), (*scores[: len(index)], *(weights @ scores)), strict=True))
        for j, (attribute, column) in enumerate(zip(self.schema.attributes, columns, strict=True)):
            least, greatest = fixed[j][2] if j in fixed else (None, None)
            if least is None:
                column[rows] = attribute.decode(z[j])
            elif least == greatest:
                column[rows] = least
            else:  # rounding may have put a score beyond an end
                column[rows] = np.clip(attribute.decode(z[j]), least, greatest)

    def _table(self, columns):
        pairs = zip(self.schema.attributes, columns, strict=True)
        return table({a.name: a.take(c) if a.is_discrete else c for a, c in pairs})

    def _completion(self, index):
        """Return the other attributes, and their weights on those at `index` and on normal ones."""
        if index not in self._completions:
            rest, latent = np.setdiff1d(np.arange(len(self.latent_)), index), self.latent_
            across = latent[np.ix_(index, rest)]
            weights = np.linalg.solve(latent[np.ix_(index, index)], across)
            cover = latent[np.ix_(rest, rest)] - across.T @ weights
            root = np.linalg.cholesky(cover + 1e-9 * np.eye(len(rest)))
            self._completions[index] = rest, np.hstack([weights.T, root])
        return self._completions[index]

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
            fixed[j] = low, high, _ = _interval(self.schema.attributes[j], predicate)
            if not low < high:
                raise ValueError(f"Nobody satisfies the condition '{predicate}'.")
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
    objects = {
        n: pd.Series(x, dtype=object, copy=False) for n, x in columns.items() if x.dtype == object
    }
    return pd.DataFrame({**columns, **objects}, copy=len(columns) > _MANY)


def _ends(predicate, is_whole):
    """Return the least and the greatest number in an interval."""
    low, high = predicate.low, predicate.high
    if not is_whole:
        least = low if predicate.low_closed else np.nextafter(low, math.inf)
        return least, high if predicate.high_closed else np.nextafter(high, -math.inf)
    if low > -math.inf:
        low = math.ceil(low) if predicate.low_closed else math.floor(low) + 1
    if high < math.inf:
        high = math.floor(high) if predicate.high_closed else math.ceil(high) - 1
    return low, high


def _interval(attribute, predicate):
    """Return the latent interval in which an attribute satisfies a predicate, and what it takes.

    That is the first and the last of its values, or the least and the greatest number.
    """
    if not attribute.is_discrete:
        if predicate.values is not None:
            raise ValueError(
                f"'{predicate}': a continuous attribute has no single values; give an interval."
            )
        low = attribute.share_below(predicate.low, not predicate.low_closed)
        high = attribute.share_below(predicate.high, predicate.high_closed)
        return float(ndtri(low)), float(ndtri(high)), _ends(predicate, attribute.is_whole)
    fits = predicate._holds if predicate.values is None else predicate.values.__contains__
    codes = [c for c, v in enumerate(attribute.values) if attribute.weights[c] > 0 and fits(v)]
    if not codes:
        return 0.0, 0.0, (0, 0)
    between = attribute.weights[codes[0] : codes[-1] + 1]
    if len(codes) < np.count_nonzero(between):
        raise ValueError(f"'{predicate}': the values must be neighbours in {attribute.values!r}.")
    first, last = codes[0], codes[-1]
    return float(attribute.cuts[first]), float(attribute.cuts[last + 1]), (first, last)


@lru_cache(maxsize=2)
def _points(n_columns, n, seed):
    """Return uniform numbers of shape (n_columns, _SETS * n), and the normal ones they stand for.

    They are independently scrambled sets of Sobol's points.
    """
    rng = generator(seed)
    sets = [qmc.Sobol(n_columns, seed=rng).random(n) for _ in range(_SETS)]
    u = np.clip(np.concatenate(sets).T, 1e-12, 1 - 1e-12)
    normal = ndtri(u)
    u.flags.writeable = normal.flags.writeable = False
    return u, normal
