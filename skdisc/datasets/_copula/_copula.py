"""Gaussian copula: draws people from a schema, also exactly under conditions."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from numbers import Integral

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import qmc

from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._inputs import check_count
from skdisc._utils._types import Seed
from skdisc.datasets._copula._latent_correlation import solve
from skdisc.datasets._copula._schema import Schema
from skdisc.datasets._copula._truncated_normal import Box

_SETS = 8
_MANY = 50  # with more columns, pandas is faster on one block of memory
_BLOCK = 2**16  # number of people whose scores fit into the processor's cache


class GaussianCopula:
    r"""Distribution of people with the marginals of a schema and a Gaussian dependence.

    With :math:`z \sim N(0, R)`, attribute j is :math:`F_j^{-1}(\Phi(z_j))`, where R is such that
    the attributes have the correlations of the schema.

    Parameters
    ----------
    schema : Schema

    Attributes
    ----------
    latent_ : ndarray of shape (n_attributes, n_attributes)
        The matrix R.

    Raises
    ------
    ValueError
        If no distribution has the correlations of the schema.

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

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.latent_ = solve(schema)
        self._completions = {}

    def sample(
        self,
        n_samples: int,
        condition: Subgroup | Predicate | None = None,
        *,
        random_state: Seed = None,
    ) -> pd.DataFrame:
        """Draw people.

        Parameters
        ----------
        n_samples : int
        condition : Subgroup, Predicate or None, default=None
            The people to draw from; None stands for all people. Each condition must be an interval
            in the order of the attribute: one value, adjacent values, or an interval of numbers.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        DataFrame of shape (n_samples, n_attributes)

        Raises
        ------
        ValueError
            If the condition is not an interval, or has a probability of zero or below 1e-5.
        """
        return self.sample_each([n_samples], [condition], random_state=random_state)

    def sample_each(
        self,
        sizes: Sequence[int],
        conditions: Sequence[Subgroup | Predicate | None],
        *,
        random_state: Seed = None,
    ) -> pd.DataFrame:
        """Draw people under several conditions, one after the other, into one table.

        Parameters
        ----------
        sizes : sequence of int
            Number of people for each condition.
        conditions : sequence of Subgroup, Predicate or None
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        DataFrame of shape (sum(sizes), n_attributes)

        Raises
        ------
        ValueError
            As in `sample`.
        """
        for size in sizes:
            check_count("n_samples", size)
        rng, ends = generator(random_state), np.cumsum([0, *sizes])
        columns = [a.empty(ends[-1]) for a in self.schema.attributes]
        for (start, end), condition in zip(pairwise(ends), conditions, strict=True):
            fixed, index, fixed_scores = self._intervals(condition), (), np.empty((0, end - start))
            if fixed:
                box = Box(self.latent_, fixed)
                index, fixed_scores = box.index, box.draw(end - start, rng)
            for first in range(start, end, _BLOCK):
                rows = slice(first, min(first + _BLOCK, end))
                scores = np.empty((len(columns), rows.stop - first))
                scores[: len(index)] = fixed_scores[:, first - start : rows.stop - start]
                rng.standard_normal(out=scores[len(index) :])
                self._fill(columns, rows, scores, index, fixed)
        return self._table(columns)

    def probability(
        self,
        condition: Subgroup | Predicate | None,
        *,
        n_draws: int = 4096,
        random_state: Seed = 0,
    ) -> float:
        """Estimate the probability of a condition; exact for a condition on one attribute.

        Parameters
        ----------
        condition : Subgroup, Predicate or None
        n_draws : int, default=4096
        random_state : int, RandomState, Generator or None, default=0

        Returns
        -------
        float

        Raises
        ------
        ValueError
            As in `sample`.
        """
        fixed = self._intervals(condition)
        if not fixed:
            return 1.0
        return Box(self.latent_, fixed).probability(n_draws, generator(random_state))

    def integrate(
        self,
        function: Callable[[pd.DataFrame, np.ndarray], np.ndarray],
        condition: Subgroup | Predicate | None = None,
        *,
        n_points: int = 2**14,
        random_state: Seed = 0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return means over all people who satisfy a condition, by randomized quasi-Monte Carlo.

        Parameters
        ----------
        function : callable
            Takes a DataFrame of people and an array of one further uniform number per person, of
            shape (n,). Returns an array of shape (n,) or (n, k).
        condition : Subgroup, Predicate or None, default=None
        n_points : int, default=2**14
            Total number of people, in eight independent sets.
        random_state : int, RandomState, Generator or None, default=0

        Returns
        -------
        mean, standard_error : float or ndarray of shape (k,)
            The standard error is computed between the sets.

        Raises
        ------
        ValueError
            As in `sample`.
        """
        fixed = self._intervals(condition)
        size, k = len(self.latent_), len(fixed)
        points = _points if isinstance(random_state, Integral) else _points.__wrapped__
        u, normal = points(size + 1, n_points // _SETS, random_state)
        columns = [a.empty(u.shape[1]) for a in self.schema.attributes]
        index, fixed_scores, weight = (), u[:0], np.ones(u.shape[1])
        if fixed:
            box = Box(self.latent_, fixed)
            index, (fixed_scores, weight) = box.index, box.propose(u[:k])
        scores = np.concatenate([fixed_scores, normal[k:size]])
        self._fill(columns, slice(None), scores, index, fixed)
        people = self._table(columns)
        values = np.asarray(function(people, u[size]), dtype=float)
        weight = weight.reshape(_SETS, -1)
        sums = np.einsum("si,si...->s...", weight, values.reshape(*weight.shape, *values.shape[1:]))
        means = (sums.T / weight.sum(axis=1)).T
        return means.mean(axis=0), means.std(axis=0, ddof=1) / math.sqrt(_SETS)

    def _fill(self, columns, rows, scores, index, fixed):
        """Write people into rows, from latent scores: first those of `index`, then normal ones."""
        rest, weights = self._completion(tuple(index))
        z = dict(zip((*index, *rest), (*scores[: len(index)], *(weights @ scores)), strict=True))
        for j, (attribute, column) in enumerate(zip(self.schema.attributes, columns, strict=True)):
            least, greatest = fixed[j][2] if j in fixed else (None, None)
            if least is None:
                column[rows] = attribute.decode(z[j])
            elif least == greatest:
                column[rows] = least
            else:  # rounding may have moved a score beyond an end
                column[rows] = np.clip(attribute.decode(z[j]), least, greatest)

    def _table(self, columns):
        """Return the columns as a DataFrame of values."""
        pairs = zip(self.schema.attributes, columns, strict=True)
        return table({a.name: a.take(c) if a.is_discrete else c for a, c in pairs})

    def _completion(self, index):
        """Return the other attributes, and their weights on the scores of `index` and on noise."""
        if index not in self._completions:
            rest, latent = np.setdiff1d(np.arange(len(self.latent_)), index), self.latent_
            across = latent[np.ix_(index, rest)]
            weights = np.linalg.solve(latent[np.ix_(index, index)], across)
            cover = latent[np.ix_(rest, rest)] - across.T @ weights
            root = np.linalg.cholesky(cover + 1e-9 * np.eye(len(rest)))
            self._completions[index] = rest, np.hstack([weights.T, root])
        return self._completions[index]

    def _intervals(self, condition):
        """Return the latent interval of each attribute in the condition by position."""
        fixed = {}
        for predicate in predicates_of(condition, self.schema.names):
            j = self.schema.names.index(predicate.column)
            fixed[j] = low, high, _ = _interval(self.schema.attributes[j], predicate)
            if not low < high:
                raise ValueError(f"The condition '{predicate}' has probability zero.")
        return fixed


def as_group(condition):
    """Return a condition as a `Subgroup`; None stands for all people."""
    return Subgroup() if condition is None else Subgroup() & condition


def predicates_of(condition, names):
    """Return the predicates of a condition; ValueError if one is about none of the attributes."""
    predicates = as_group(condition).predicates
    for predicate in predicates:
        if predicate.column not in names:
            raise ValueError(
                f"The column of the condition '{predicate}' is not among the attributes {names!r}."
            )
    return predicates


def generator(random_state):
    """Return a NumPy Generator from a seed, a RandomState or a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**32, size=4, dtype=np.uint64)
    return np.random.default_rng(random_state)


def table(columns):
    """Return a DataFrame of arrays by name; object arrays keep their dtype."""
    objects = {
        n: pd.Series(x, dtype=object, copy=False) for n, x in columns.items() if x.dtype == object
    }
    return pd.DataFrame({**columns, **objects}, copy=len(columns) > _MANY)


def _ends(predicate, is_whole):
    """Return the smallest and the largest number in an interval."""
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
    """Return the latent interval in which an attribute satisfies a predicate, and its ends.

    The ends are the first and last value, or the smallest and largest number.
    """
    if not attribute.is_discrete:
        if predicate.values is not None:
            raise ValueError(
                f"'{predicate}': single values of a continuous attribute have probability zero; "
                "use an interval."
            )
        low = attribute.share_below(predicate.low, not predicate.low_closed)
        high = attribute.share_below(predicate.high, predicate.high_closed)
        return float(ndtri(low)), float(ndtri(high)), _ends(predicate, attribute.is_whole)
    codes = attribute._codes_with(predicate)
    if not codes:
        return 0.0, 0.0, (0, 0)
    between = attribute.weights[codes[0] : codes[-1] + 1]
    if len(codes) < np.count_nonzero(between):
        raise ValueError(f"'{predicate}': the values must be adjacent in {attribute.values!r}.")
    first, last = codes[0], codes[-1]
    return float(attribute.cuts[first]), float(attribute.cuts[last + 1]), (first, last)


@lru_cache(maxsize=2)
def _points(n_columns, n, seed):
    """Return uniform numbers of shape (n_columns, _SETS * n), and their normal quantiles.

    The numbers are independently scrambled sets of Sobol points.
    """
    rng = generator(seed)
    sets = [qmc.Sobol(n_columns, seed=rng).random(n) for _ in range(_SETS)]
    u = np.clip(np.concatenate(sets).T, 1e-12, 1 - 1e-12)
    normal = ndtri(u)
    u.flags.writeable = normal.flags.writeable = False
    return u, normal
