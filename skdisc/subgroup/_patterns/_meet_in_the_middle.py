"""Exact search for patterns of discrimination, meeting in the middle.

With the log-odds L that a context y gives and Λ that x adds, the degree of discrimination is

    Δ = σ(L + Λ) - σ(L) = sinh(Λ/2) / (cosh(m) + cosh(Λ/2)),   m = L + Λ/2:

for given x it increases as L approaches -Λ/2, and is at most tanh(|Λ|/4). L is a sum of
independent choices, so each context is a pair of choices, one for each half of the features.
"""

import math

import numpy as np

from skdisc._space._codes import PAD

_BEST_SIZE = 2**17  # number of sums that are sorted
MAX_SIZE = 2**23


class _Contexts:
    """All assignments of some features: two sets of sums, one of them sorted."""

    def __init__(self, nb, features):
        self.nb = nb
        sizes = {f: 1 + len(nb.items[f]) for f in features}
        most = max(_BEST_SIZE, math.isqrt(math.prod(sizes.values())) + 1)
        self.few, self.many, size = [], [], 1
        for f in sorted(features, key=sizes.get):
            fits = size * sizes[f] <= most
            size *= sizes[f] if fits else 1
            (self.many if fits else self.few).append(f)
        self.outer = np.sort(self._sums(self.few))[::-1]  # sorted targets are faster to search
        self.inner = np.sort(self._sums(self.many))

    def _sums(self, features):
        sums = np.zeros(1)
        for f in features:
            choices = np.append(0.0, self.nb.weights[self.nb.items[f]])
            sums = np.add.outer(sums, choices).ravel()
        return sums

    def count_within(self, center, reach):
        """Count the contexts whose sum differs from `center` by less than `reach`."""
        target = center - self.outer
        high = np.searchsorted(self.inner, target + reach, side="left")
        return int((high - np.searchsorted(self.inner, target - reach, side="right")).sum())

    def nearest(self, center, k):
        """Return the items of the k contexts whose sums are closest to `center`."""
        target = center - self.outer
        place = np.searchsorted(self.inner, target)
        last = len(self.inner) - 1
        gap = np.minimum(
            np.abs(self.inner[np.minimum(place, last)] - target),
            np.abs(self.inner[np.maximum(place - 1, 0)] - target),
        )
        # Each of the k nearest outer sums has a partner nearer than any partner of the other sums.
        few = np.argsort(gap, kind="stable")[:k]
        inner_place = place[few, None] + np.arange(-k, k)
        distance = np.abs(self.inner[np.clip(inner_place, 0, last)] - target[few, None])
        distance[(inner_place < 0) | (inner_place > last)] = np.inf
        best = np.argsort(distance, axis=None, kind="stable")[:k]
        best = best[np.isfinite(distance.ravel()[best])]
        outer = np.argsort(self._sums(self.few), kind="stable")[::-1][few[best // (2 * k)]]
        inner = np.argsort(self._sums(self.many), kind="stable")[inner_place.ravel()[best]]
        return np.hstack([self._items(self.few, outer), self._items(self.many, inner)])

    def _items(self, features, number):
        """Return the items of the assignments of these numbers, PAD where a feature is not set."""
        columns = np.empty((len(number), len(features)), dtype=np.int64)
        for column, f in zip(columns.T[::-1], features[::-1], strict=True):
            number, digit = np.divmod(number, 1 + len(self.nb.items[f]))
            column[:] = np.append(PAD, self.nb.items[f])[digit]
        return columns


class Meeting:
    """All patterns of a naive Bayes model.

    `assignments`, of shape (n, n_sensitive_features): the values x; an empty one is skipped. Raises
    ValueError if there are too many contexts for half of the features.
    """

    def __init__(self, nb, assignments):
        self.nb, self.assignments = nb, assignments
        self.added = nb.added(assignments)
        contexts = math.prod(1 + len(items) for items in nb.items)
        if math.isqrt(contexts) > MAX_SIZE:
            raise ValueError(
                f"There are {contexts:.1e} contexts, too many for an exact search. Set "
                "max_predicates, min_support or features, or fewer n_bins."
            )
        self._of = {}

    def _contexts(self, x):
        used = self.nb.feature[x[x != PAD]].tolist()
        key = frozenset(range(len(self.nb.items))).difference(used)
        if key not in self._of:
            self._of[key] = _Contexts(self.nb, sorted(key))
        return self._of[key]

    def top(self, k, delta, allowed, before=None):
        """Return the k patterns with the largest degree of discrimination above delta.

        `allowed`: whether x may be each assignment. `before`: ``before(1)`` is called before each
        assignment; if it returns 0, the search ends.
        """
        width = len(self.nb.items)
        x, y = np.empty((0, self.assignments.shape[1]), np.int64), np.empty((0, width), np.int64)
        least = delta
        bound = np.tanh(np.abs(self.added) / 4)
        for i in np.argsort(-bound, kind="stable"):
            if bound[i] <= least or (len(x) == k and bound[i] <= least + 1e-15):
                break
            if not allowed[i]:
                continue
            if before is not None and not before(1):
                break
            contexts = self._contexts(self.assignments[i])
            near = contexts.nearest(-self.added[i] / 2 - self.nb.log_odds, k)
            padded = np.full((len(near), width), PAD, dtype=np.int64)
            padded[:, : near.shape[1]] = near
            x = np.vstack([x, np.repeat(self.assignments[i][None], len(near), axis=0)])
            y = np.vstack([y, padded])
            size = np.abs(self.nb.delta(x, y))
            best = first(size, x, y)[:k]
            best = best[size[best] > delta]
            x, y = x[best], y[best]
            least = size[best[-1]] if len(best) == k else delta
        return x, y

    def count(self, delta, allowed, before=None):
        """Count exactly, for each assignment, the patterns that discriminate by more than delta.

        ``before(1)`` is called before each assignment; if it returns 0, the count ends.
        """
        counts = np.zeros(len(self.assignments), dtype=np.int64)
        half = np.abs(self.added) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            cosh = np.where(half > 0, np.sinh(half) / delta - np.cosh(half), 0)
        for i in np.flatnonzero(allowed & (cosh > 1)):
            if before is not None and not before(1):
                break
            center = -self.added[i] / 2 - self.nb.log_odds
            counts[i] = self._contexts(self.assignments[i]).count_within(
                center, np.arccosh(cosh[i])
            )
        return counts


def first(score, x, y):
    """Return the order of patterns: larger scores, then fewer conditions, then lower items."""
    items = np.hstack([x, y])
    length = (items != PAD).sum(axis=1)
    return np.lexsort((*np.sort(items, axis=1).T, length, -np.round(score, 12)))
