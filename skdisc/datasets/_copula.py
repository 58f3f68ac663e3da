"""The Gaussian copula: sampling people, everybody or exactly those who satisfy conditions."""

import math

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from skdisc._subgroup import Subgroup
from skdisc.datasets._latent import solve

_SETS = 8
_BLOCK = 2**16  # proposals at once
_PATIENCE, _RAREST = 2**21, 1e-5  # proposals before a share this small is called too small


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
        fixed = self._intervals(condition)
        return self._decode(self._scores(n_samples, fixed, generator(random_state)), fixed)

    def probability(self, condition, *, n_draws=4096, random_state=0):
        """Estimate the share of people who satisfy a condition; exact for a single attribute."""
        fixed = self._intervals(condition)
        if not fixed:
            return 1.0
        box = _Box(self.latent_, fixed)
        return box.probability(n_draws, generator(random_state))

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
        u = np.clip(np.concatenate(sets), 1e-12, 1 - 1e-12)
        free, weight = ndtri(u[:, k:size]).T, np.ones(len(u))
        if fixed:
            box = _Box(self.latent_, fixed)
            given, weight = box.propose(u[:, :k])
            z = self._complete(box, given, free)
        else:
            z = (self._root @ free).T
        values = np.asarray(function(self._decode(z, fixed), u[:, size]), dtype=float)
        weight = weight.reshape(_SETS, n)
        sums = np.einsum("si,si...->s...", weight, values.reshape(_SETS, n, *values.shape[1:]))
        means = (sums.T / weight.sum(axis=1)).T
        return means.mean(axis=0), means.std(axis=0, ddof=1) / math.sqrt(_SETS)

    def _scores(self, n, fixed, rng):
        """Draw latent scores, an array of shape (n, n_attributes) in column order."""
        size = len(self.latent_)
        if not fixed:
            return (self._root @ rng.standard_normal((size, n))).T
        box = _Box(self.latent_, fixed)
        free = rng.standard_normal((size - len(fixed), n))
        return self._complete(box, box.draw(n, rng), free)

    def _complete(self, box, given, free):
        """Return all scores, given those in the box, from standard normal ones for the others."""
        size = len(self.latent_)
        z = np.empty((len(given), size), order="F")
        z[:, box.index] = given
        rest = np.setdiff1d(np.arange(size), box.index)
        if len(rest):
            weights = np.linalg.solve(
                self.latent_[np.ix_(box.index, box.index)], self.latent_[np.ix_(box.index, rest)]
            )
            cover = (
                self.latent_[np.ix_(rest, rest)] - self.latent_[np.ix_(rest, box.index)] @ weights
            )
            root = np.linalg.cholesky(cover + 1e-9 * np.eye(len(rest)))
            z[:, rest] = given @ weights + (root @ free).T
        return z

    def _decode(self, z, fixed):
        columns = {}
        for j, attribute in enumerate(self.schema.attributes):
            scores = z[:, j]
            if j not in fixed:
                columns[attribute.name] = attribute.decode(scores)
                continue
            low, high, predicate = fixed[j]  # rounding may put a score beyond an end
            values = attribute.decode(np.clip(scores, np.nextafter(low, math.inf), high))
            columns[attribute.name] = (
                values if attribute.is_discrete else _within(values, predicate)
            )
        return pd.DataFrame(columns)

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


class _Box:
    """A normal vector within a box, drawn exactly.

    One coordinate after the other is drawn from its truncated conditional law; the draw is kept
    with probability w / w_max, w the product of the conditional probabilities of the intervals
    (which the proposal ignores) and w_max a bound on it over the box.
    """

    def __init__(self, latent, fixed):
        widths = {j: _mass(low, high) for j, (low, high, _) in fixed.items()}
        self.index = np.array(sorted(fixed, key=widths.get))
        self.low, self.high = np.array([fixed[j][:2] for j in self.index]).T
        m = len(self.index)
        cover = latent[np.ix_(self.index, self.index)]
        self.slopes, self.scales = [], []
        for i in range(m):
            slope = np.linalg.solve(cover[:i, :i], cover[:i, i])
            self.slopes.append(slope)
            self.scales.append(math.sqrt(max(cover[i, i] - slope @ cover[:i, i], 1e-12)))
        self.bounds = [self._bound(i) for i in range(m)]

    def _bound(self, i):
        """Return the highest conditional probability of interval `i` over the box so far."""
        slope = self.slopes[i]
        used = slope != 0
        ends = slope[used, None] * np.column_stack([self.low[:i], self.high[:i]])[used]
        low, high = (ends.min(axis=1).sum(), ends.max(axis=1).sum()) if used.any() else (0.0, 0.0)
        middle = (self.low[i] + self.high[i]) / 2
        if np.isnan(middle):
            middle = 0.0
        mean = min(max(middle, low), high)
        if np.isinf(mean):
            return 1.0
        a, b = (self.low[i] - mean) / self.scales[i], (self.high[i] - mean) / self.scales[i]
        return float(_mass(a, b))

    def propose(self, u):
        """Return the proposals at uniform numbers of shape (n, n_fixed), and their weights w."""
        n = len(u)
        z, weight = np.empty((n, len(self.index)), order="F"), np.ones(n)
        for i, (slope, scale) in enumerate(zip(self.slopes, self.scales, strict=True)):
            mean = z[:, :i] @ slope
            a, b = (self.low[i] - mean) / scale, (self.high[i] - mean) / scale
            z[:, i] = mean + scale * _truncated(a, b, u[:, i])
            if i:
                weight *= _mass(a, b)
        return z, weight

    def probability(self, n, rng):
        first = float(_mass(self.low[0], self.high[0]))
        return (
            first * float(self.propose(rng.random((n, len(self.index))))[1].mean())
            if len(self.index) > 1
            else first
        )

    def draw(self, n, rng):
        """Draw `n` vectors in the box."""
        most = math.prod(self.bounds[1:])
        if len(self.index) == 1:
            return self.propose(rng.random((n, 1)))[0]
        kept, found, tried = [], 0, 0
        while found < n:
            if most == 0 or (tried > _PATIENCE and found < tried * _RAREST):
                raise ValueError("Hardly anybody satisfies these conditions together.")
            rate = (found + 1) / (tried + 1)
            size = min(max(int(1.1 * (n - found) / rate) + 32, 256), _BLOCK)
            z, weight = self.propose(rng.random((size, len(self.index))))
            kept.append(z[rng.random(size) * most < weight][: n - found])
            found, tried = found + len(kept[-1]), tried + size
        return np.concatenate(kept) if kept else np.empty((0, len(self.index)))


def _mass(a, b):
    """Return the standard normal probability of [a, b], accurate in both tails."""
    flip = a > 0
    return ndtr(np.where(flip, -a, b)) - ndtr(np.where(flip, -b, a))


def _truncated(a, b, u):
    """Return the quantiles `u` of the standard normal within [a, b], accurate in both tails."""
    flip = a > 0
    low, high = ndtr(np.where(flip, -b, a)), ndtr(np.where(flip, -a, b))
    x = ndtri(low + np.where(flip, 1 - u, u) * (high - low))
    return np.clip(np.where(flip, -x, x), a, b)
