"""Phase 4: the law of the outcome, with and without the planted bias."""

import numpy as np
from scipy.special import expit, ndtr

from skdisc._space._codes import FREE
from skdisc.datasets._synthetic._planted_pairs import factorize

PROXY = "Proxy_X"
PROXY_NOISE = 0.5
N_MODELS = 32
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_BLOCK = 2**15


def gaussian_mean(function, logit, sigma):
    """Return E[function(logit + sigma * N(0, 1))] by Gauss-Hermite quadrature, row by row."""
    noisy = np.flatnonzero(sigma > 0)
    mean = function(logit)
    for start in range(0, len(noisy), _BLOCK):
        rows = noisy[start : start + _BLOCK]
        mean[rows] = function(logit[rows, None] + sigma[rows, None] * _NODES) @ _WEIGHTS
    return mean


class Base:
    """The base score: a linear model in the standardized unprotected attributes.

    `signal`: standard deviation of the score if the attributes were independent. `names`: of the
    attributes in the score; None stands for all unprotected ones.
    """

    def __init__(self, schema, signal, rng, names=None):
        self.terms = {}
        free = [
            a for a in schema.attributes if not a.protected and (names is None or a.name in names)
        ]
        weights = rng.standard_normal(len(free))
        weights *= signal / (np.linalg.norm(weights) or 1.0)
        for a, weight in zip(free, weights, strict=True):
            self.terms[a.name] = self._term(a, weight, rng)

    @staticmethod
    def _term(a, weight, rng):
        """Return what an attribute adds to the score: its weight times its standardized value.

        Returns a tuple of (mean, standard deviation, weight), or dict: for a numeric attribute the
        numbers to standardize it with; for others the score of each value.
        """
        shares = np.asarray(a.weights)
        if a.kind == "numeric" and a.is_discrete:
            x = np.asarray(a.values, float)
        elif a.kind == "numeric":  # the middles of 4096 parts of equal probability
            x = a.quantile((np.arange(4096) + 0.5) / 4096)
            shares = np.full(4096, 1 / 4096)
        elif a.kind == "nominal":  # values without an order get random numbers
            x = rng.standard_normal(len(shares))
        else:
            x = np.arange(len(shares), dtype=float)
        mean = shares @ x
        spread = np.sqrt(shares @ (x - mean) ** 2) or 1.0
        if a.kind == "numeric":
            return mean, spread, weight
        return dict(zip(a.values, weight * (x - mean) / spread, strict=True))

    def contributions(self, X):
        """Return what each attribute adds to the score, shape (n_rows, n_attributes)."""
        scores = np.empty((len(X), len(self.terms)), order="F")
        for j, (name, term) in enumerate(self.terms.items()):
            if isinstance(term, tuple):
                mean, spread, weight = term
                scores[:, j] = weight * (X[name].to_numpy(dtype=float) - mean) / spread
                continue
            position, values = factorize(X[name])
            score_of_value = [term.get(v, 0.0) for v in values]
            scores[:, j] = np.array([*score_of_value, term.get(None, 0.0)])[position]
        return scores


class OutcomeLaw:
    """The law of the outcome of any person, planted or not.

    Parameters
    ----------
    definitions : ndarray of shape (n_subgroups, n_attributes)
        The planted subgroups; two consecutive rows are a pair.
    bias, sigma, epistemic : ndarray of shape (n_subgroups,)
        Bias (logit), aleatoric level (standard deviation of the logit) and epistemic level
        (standard deviation of the relative error of a weight).
    rest : tuple of float
        Aleatoric and epistemic level of people in no planted subgroup.
    bias_in : {"labels", "proxy", "both"}
    outcome : {"binary", "probability", "categorical", "continuous"}
    """

    def __init__(
        self, levels, base, definitions, bias, sigma, epistemic, rest, bias_in, outcome, rng
    ):
        self.levels, self.base, self.definitions = levels, base, definitions
        self.bias, self.sigma, self.epistemic, self.rest = bias, sigma, epistemic, rest
        self.direct = {"labels": 1.0, "proxy": 0.0, "both": 0.5}[bias_in]
        self.outcome, self.intercept, self.cuts, self.step = outcome, 0.0, None, None
        self.errors = rng.standard_normal((len(base.terms), N_MODELS))

    @property
    def has_proxy(self):
        """Whether part of the bias flows through the proxy."""
        return self.direct < 1

    def with_proxy(self, X, bias, noise):
        """Return the people with their proxy column, if any, from standard normal noise."""
        if not self.has_proxy:
            return X
        return X.assign(**{PROXY: (1 - self.direct) * bias + PROXY_NOISE * noise})

    def members(self, X):
        """Return row and subgroup of each membership as two int arrays."""
        rows, groups = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
        if len(X) and len(self.definitions):
            codes, free = self.levels.encode(X), self.definitions == FREE
            is_present = (codes.min(axis=0) <= self.definitions) & (
                self.definitions <= codes.max(axis=0)
            )
            for k in np.flatnonzero((is_present | free).all(axis=1)):
                inside = np.ones(len(X), dtype=bool)
                for j in np.flatnonzero(~free[k]):
                    inside &= codes[:, j] == self.definitions[k, j]
                rows.append(np.flatnonzero(inside))
                groups.append(np.full(len(rows[-1]), k))
        return np.concatenate(rows), np.concatenate(groups)

    def person(self, X):
        """Return bias, aleatoric level and epistemic level of each row.

        Over several memberships of a row, biases and variances of the noise add up, and the largest
        epistemic level counts.
        """
        rows, groups = self.members(X)
        n = len(X)
        bias = np.bincount(rows, self.bias[groups], n)
        sigma = np.sqrt(np.bincount(rows, self.sigma[groups] ** 2, n))
        epistemic = np.zeros(n)
        np.maximum.at(epistemic, rows, self.epistemic[groups])
        background = np.bincount(rows, minlength=n) == 0
        sigma[background], epistemic[background] = self.rest
        return bias, sigma, epistemic

    def logit(self, X, person, *, fair=False, model=None):
        """Return the logit of each row without noise.

        With `model`, it is that of one model of the ensemble, whose weights have relative errors as
        large as the epistemic level of the person.
        """
        bias, _, level = person
        scores = self.base.contributions(X)
        logit = self.intercept + scores.sum(axis=1) + self._shift(X, bias, fair)
        return logit if model is None else logit + level * (scores @ self.errors[:, model])

    def _shift(self, X, bias, fair):
        """Return the contribution of bias and proxy to the logit."""
        shift = (self.direct - fair) * bias
        return shift + X[PROXY].to_numpy(dtype=float) if self.has_proxy else shift

    def expected(self, X, *, fair=False, person=None, model=None):
        """Return the expected outcome of each row, with the noise integrated out.

        This is the probability of the favorable outcome, or the mean of a continuous one.
        """
        person = self.person(X) if person is None else person
        return self.mean_of(self.logit(X, person, fair=fair, model=model), person[1])

    def with_and_without_bias(self, X, person):
        """Return the expected outcome of each row with and without its bias."""
        bias, sigma, _ = person
        logit = self.logit(X, person)
        p = self.mean_of(logit, sigma)
        fair, biased = p.copy(), np.flatnonzero(bias)
        fair[biased] = self.mean_of(logit[biased] - bias[biased], sigma[biased])
        return p, fair

    def over_proxy(self, X):
        """Return the expected outcomes with and without bias, with the proxy integrated out."""
        bias, sigma, epistemic = self.person(X)
        sigma = np.hypot(sigma, PROXY_NOISE) if self.has_proxy else sigma
        X = self.with_proxy(X, bias, 0.0)
        return self.with_and_without_bias(X, (bias, sigma, epistemic))

    def mean_of(self, logit, sigma):
        """Return the expected outcome for a logit with noise."""
        if self.outcome == "continuous":
            return logit
        if self.outcome == "categorical":
            return gaussian_mean(expit, logit - self.cuts[-1], sigma)
        if self.step is not None:
            sure = (logit >= self.step).astype(float)
            noisy = ndtr((logit - self.step) / np.where(sigma > 0, sigma, 1.0))
            return np.where(sigma > 0, noisy, sure)
        return gaussian_mean(expit, logit, sigma)

    def class_probabilities(self, X, *, fair, model):
        """Return the probability of each class, an array of shape (n_rows, n_classes)."""
        person = self.person(X)
        if self.outcome != "categorical":
            p = self.expected(X, fair=fair, person=person, model=model)
            return np.column_stack([1 - p, p])
        logit = self.logit(X, person, fair=fair, model=model)
        above = [gaussian_mean(expit, logit - cut, person[1]) for cut in self.cuts]
        return -np.diff(np.column_stack([np.ones(len(X)), *above, np.zeros(len(X))]), axis=1)

    def uncertainty(self, X, person):
        """Return the aleatoric and the epistemic uncertainty of each row.

        The aleatoric one is the standard deviation of the noisy probability (or of the continuous
        outcome). The epistemic one is the standard deviation of the expected outcome over the
        ensemble of models with perturbed weights.
        """
        _, sigma, level = person
        logit = self.logit(X, person)
        if self.outcome == "continuous":
            noise = sigma
        else:
            offset = self.cuts[-1] if self.outcome == "categorical" else self.step or 0.0
            first = gaussian_mean(expit, logit - offset, sigma)
            second = gaussian_mean(lambda x: expit(x) ** 2, logit - offset, sigma)
            noise = np.sqrt(np.maximum(second - first**2, 0.0))
        spread = np.zeros(len(X))
        unsure = np.flatnonzero(level > 0)
        for start in range(0, len(unsure), _BLOCK):
            rows = unsure[start : start + _BLOCK]
            moved = self.base.contributions(X.iloc[rows]) @ self.errors
            moved = logit[rows, None] + level[rows, None] * moved
            wide = np.repeat(sigma[rows], moved.shape[1])
            spread[rows] = self.mean_of(moved.ravel(), wide).reshape(moved.shape).std(axis=1)
        return noise, spread
