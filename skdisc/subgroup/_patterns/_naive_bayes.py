"""Naive Bayes over items, and its patterns of discrimination.

A *pattern* is a pair (x, y): x sets some sensitive features, y any others. Patterns are given as
two arrays of item numbers, padded by PAD, one row per pattern.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np
from scipy.special import expit

from skdisc._space._codes import PAD

_LEAST = 1e-10  # smallest pseudo-count: a probability of 0 has no logarithm


@dataclass(frozen=True)
class NaiveBayes:
    """P(class, items) with items of different features independent given the class.

    Attributes
    ----------
    log_p : ndarray of float, shape (2, n_items)
        Logarithm of P(item | class); class 1 is the favorable one.
    feature : ndarray of int, shape (n_items,)
        Number of the feature of each item, from 0; items of a feature are adjacent.
    trials : ndarray of float, shape (2, n_items), default=None
        Number of rows, pseudo-counts included, that each probability was learned from.
    """

    log_p: np.ndarray
    log_prior: np.ndarray
    feature: np.ndarray
    sensitive: np.ndarray
    trials: np.ndarray | None = None

    @classmethod
    def learn(cls, counts, n, feature, sensitive, smoothing):
        """Learn from the number of rows of each item, and of all rows, by class.

        `smoothing`: pseudo-count added to each count of an item. Shapes: `counts` (n_items, 2).
        """
        counts = counts.T + max(smoothing, _LEAST)
        starts = np.flatnonzero(np.diff(feature, prepend=-1))
        trials = np.add.reduceat(counts, starts, axis=1)[:, feature]
        return cls(np.log(counts / trials), np.log(n / n.sum()), feature, sensitive, trials)

    @cached_property
    def weights(self):
        """Log-odds that each item adds: ln P(item | 1) - ln P(item | 0)."""
        return self.log_p[1] - self.log_p[0]

    @property
    def log_odds(self):
        """Log-odds of the favorable class without any item."""
        return self.log_prior[1] - self.log_prior[0]

    @cached_property
    def items(self):
        """Numbers of the items of each feature, a list of arrays."""
        return np.split(np.arange(len(self.feature)), np.flatnonzero(np.diff(self.feature)) + 1)

    @cached_property
    def sensitive_features(self):
        """Numbers of the features that x may set."""
        return [f for f, items in enumerate(self.items) if self.sensitive[items[0]]]

    def assignments(self):
        """Return each assignment of the sensitive features, the empty one first.

        Returns an ndarray of int of shape (n_assignments, n_sensitive_features): items, PAD where a
        feature is not set; the last feature changes fastest.
        """
        choices = [np.append(PAD, self.items[f]) for f in self.sensitive_features]
        grid = np.meshgrid(*choices, indexing="ij")
        return np.stack(grid, axis=-1).reshape(-1, len(choices))

    def added(self, items):
        """Return the log-odds that each row of items adds."""
        return total(self.weights, items)

    def delta(self, x, y):
        """Return the degree of discrimination, P(1 | x, y) - P(1 | y)."""
        base = self.log_odds + self.added(y)
        return expit(base + self.added(x)) - expit(base)

    def probability(self, items):
        """Return P(class, items), shape (2, n)."""
        return np.exp(
            [p + total(q, items) for p, q in zip(self.log_prior, self.log_p, strict=True)]
        )

    def divergence(self, x, y, delta):
        """Return the divergence, in nats, to the nearest distribution that discriminates by delta.

        That distribution differs from this one inside (x, y) only; the divergence is 0 if the
        pattern does not discriminate by more than delta.
        """
        return divergence(self.probability(np.hstack([x, y])), self.probability(y), delta)


def total(values, items):
    """Return the sum of the values of each row of items; PAD counts 0."""
    return np.append(values, 0.0)[items].sum(axis=-1)


def divergence(joint, base, delta):
    """Return the divergence score from P(class, x, y) and P(class, y), both of shape (2, n)."""
    share, whole = joint.sum(axis=0), base.sum(axis=0)
    gap = joint[1] / share - base[1] / whole
    # A mass r that moves between the classes inside (x, y) changes the degree by r (1 / P(x, y) - 1
    # / P(y)). The nearest distribution moves as much as makes the degree delta (Choi et al. 2020),
    # and no more than there is.
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = (np.sign(gap) * delta - gap) / (1 / share - 1 / whole)
        moved = np.clip(moved, -joint[1], joint[0])
        score = joint[1] * np.log(joint[1] / (joint[1] + moved))
        score += joint[0] * np.log(joint[0] / (joint[0] - moved))
    return np.where(np.abs(gap) <= delta, 0.0, score)


def n_patterns(nb, assignments, max_predicates):
    """Return the number of patterns (x, y) of each assignment x, as Python integers.

    `nb`: NaiveBayes. `max_predicates`: largest number of conditions in x and y together. Shapes:
    `assignments` (n, n_sensitive_features).
    """
    sizes = [len(items) for items in nb.items]
    limit = len(sizes) if max_predicates is None else max_predicates
    counts, cache = [], {}
    for row in assignments != PAD:
        key = row.tobytes()
        if key not in cache:
            used = set(compress(nb.sensitive_features, row))
            by_length = [1]  # number of contexts with 0, 1, … conditions
            for f, k in enumerate(sizes):
                if f not in used:
                    longer = [k * c for c in by_length]
                    pairs = zip([*by_length, 0], [0, *longer], strict=True)
                    by_length = [a + b for a, b in pairs]
            cache[key] = sum(by_length[: max(limit - len(used) + 1, 0)]) if used else 0
        counts.append(cache[key])
    return counts
