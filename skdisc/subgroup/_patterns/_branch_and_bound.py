"""Exact search for patterns of discrimination by branch and bound.

Features are decided in sequence: not set, set in y, or (sensitive features) set in x. Nodes are
expanded in blocks, most promising first.
"""

import numpy as np
from scipy.special import expit, log_expit

from skdisc.subgroup._patterns._meet_in_the_middle import first
from skdisc.subgroup._patterns._naive_bayes import divergence

_BLOCK = 2**13
_X, _Y = slice(0, 2), slice(2, 4)  # ln P(x | class), ln P(y | class)
_LOW, _HIGH = 4, 5  # smallest and largest log-odds that the features of x could add


class Branching:
    """The tree of patterns of a naive Bayes model.

    Parameters
    ----------
    delta : float
        Degree of discrimination that a pattern must exceed.
    allowed : ndarray of bool
        Whether x may be each row of ``nb.assignments()``.
    rank : {"discrimination", "divergence"}

    Attributes
    ----------
    visited : int
        Number of patterns visited.
    """

    def __init__(self, nb, delta, allowed, rank="discrimination", max_predicates=None):
        self.nb, self.delta, self.allowed, self.rank = nb, delta, allowed, rank
        self.limit = len(nb.items) if max_predicates is None else max_predicates
        self.visited = 0
        self._levels = [self._level(f) for f in range(len(nb.items))]
        low = np.array([nb.weights[items].min() for items in nb.items])
        high = np.array([nb.weights[items].max() for items in nb.items])
        low, high = np.minimum(low, 0), np.maximum(high, 0)
        sensitive = np.isin(np.arange(len(nb.items)), nb.sensitive_features)
        ends = [low, high, low * sensitive, high * sensitive]
        self._left = np.array([np.append(np.cumsum(e[::-1])[::-1], 0) for e in ends])

    def _level(self, f):
        """Return the choices at a feature: their numbers, terms, and codes of x."""
        nb, items = self.nb, self.nb.items[f]
        choice, added, code = [0, *(items + 1)], np.zeros((1 + len(items), 6)), [0] * len(items)
        added[1:, _Y] = nb.log_p[:, items].T
        if f in nb.sensitive_features:
            after = nb.sensitive_features[nb.sensitive_features.index(f) + 1 :]
            stride = int(np.prod([1 + len(nb.items[g]) for g in after], dtype=np.int64))
            inside = np.zeros((len(items), 6))
            inside[:, _X] = nb.log_p[:, items].T
            w = nb.weights[items]
            inside[:, _LOW], inside[:, _HIGH] = w.min(), w.max()
            choice, added = [*choice, *-(items + 1)], np.vstack([added, inside])
            code = [*code, *(stride * np.arange(1, len(items) + 1))]
        return np.array(choice), added, np.array([0, *code])

    def top(self, k, before=None):
        """Return the k patterns of largest score whose discrimination exceeds delta.

        `before`: ``before(n)`` gets the number of nodes that come next, and returns how many of
        them may be visited. Returns x, of shape (n, n_sensitive_features), and y, of shape (n,
        n_features).
        """
        width = len(self.nb.items)
        choices, scores = np.zeros((0, width), dtype=np.int64), np.zeros(0)
        for chosen, score in self._walk(before):
            padded = np.zeros((len(chosen), width), dtype=np.int64)
            padded[:, : chosen.shape[1]] = chosen
            choices, scores = np.vstack([choices, padded]), np.append(scores, score)
            best = first(scores, *_sides(choices))[:k]
            choices, scores = choices[best], scores[best]
            if len(scores) == k:
                self._least = scores[-1]
        x, y = _sides(choices)
        return x[:, self.nb.sensitive_features], y

    def count(self, before=None):
        """Count, for each assignment x, the patterns that discriminate by more than delta."""
        counts = np.zeros(len(self.allowed), dtype=np.int64)
        strides = [
            c[-1] // len(i) for (_, _, c), i in zip(self._levels, self.nb.items, strict=True)
        ]
        for chosen, _ in self._walk(before):
            inside = np.maximum(-chosen, 0)
            starts = [self.nb.items[f][0] for f in range(chosen.shape[1])]
            code = np.where(inside > 0, inside - starts, 0) @ np.array(strides[: chosen.shape[1]])
            np.add.at(counts, code, 1)
        return counts

    def _walk(self, before):
        """Yield new patterns that may be among the best, and their scores, in blocks."""
        self._least = self.delta if self.rank == "discrimination" else 0.0
        empty = np.zeros((1, 0), np.int64), np.zeros((1, 6)), np.zeros(1, np.int64), np.ones(1)
        stack = [empty]
        while stack:
            chosen, state, code, bound = stack.pop()
            keep = bound > self._least
            chosen, state, code = chosen[keep], state[keep], code[keep]
            if not len(chosen):
                continue
            chosen, state, code, new = self._expand(chosen, state, code)
            n = int(new.sum())
            if before is not None and before(n) < n:
                return
            self.visited += n
            is_scored = new & self.allowed[code]
            score, delta = self._score(state[is_scored])
            good = (np.abs(delta) > self.delta) & (score > self._least)
            if good.any():
                yield chosen[is_scored][good], score[good]
            if chosen.shape[1] < len(self._levels):
                self._push(stack, chosen, state, code)

    def _expand(self, chosen, state, code):
        """Return the children at the next feature, and which of them are new patterns."""
        choice, added, codes = self._levels[chosen.shape[1]]
        n, c = len(chosen), len(choice)
        chosen = np.column_stack([np.repeat(chosen, c, axis=0), np.tile(choice, n)])
        state = (state[:, None] + added).reshape(-1, 6)
        code = np.add.outer(code, codes).ravel()
        fits = (chosen != 0).sum(axis=1) <= self.limit
        return chosen[fits], state[fits], code[fits], (chosen[:, -1] != 0)[fits]

    def _push(self, stack, chosen, state, code):
        bound = self._bound(state, chosen.shape[1])
        order = np.flatnonzero(bound > self._least)
        order = order[np.argsort(bound[order], kind="stable")]
        for part in np.array_split(order, -(-len(order) // _BLOCK)) if len(order) else []:
            stack.append((chosen[part], state[part], code[part], bound[part]))

    def _score(self, state):
        """Return the score and the degree of discrimination of nodes."""
        base = self.nb.log_odds + state[:, 3] - state[:, 2]
        delta = expit(base + state[:, 1] - state[:, 0]) - expit(base)
        if self.rank == "discrimination":
            return np.abs(delta), delta
        y = np.exp(state[:, _Y].T + self.nb.log_prior[:, None])
        return divergence(y * np.exp(state[:, _X].T), y, self.delta), delta

    def _bound(self, state, depth):
        """Return an upper bound on the score of all patterns below a node."""
        low, high, x_low, x_high = self._left[:, depth]
        base = self.nb.log_odds + state[:, 3] - state[:, 2]
        added = state[:, 1] - state[:, 0]
        bound = np.zeros(len(state))
        for end in (added + x_low, added + x_high):
            # For fixed log-odds added by x, the degree is largest at base = -end / 2. Choi et al.'s
            # code does not clip this to what the context can reach, and prunes less.
            peak = np.clip(-end / 2, base + low, base + high)
            bound = np.maximum(bound, np.abs(expit(peak + end) - expit(peak)))
        bound *= 1 + 1e-12  # rounding must not prune
        if self.rank == "discrimination":
            return bound
        joint = np.exp(state[:, _X].T + state[:, _Y].T + self.nb.log_prior[:, None])
        best = log_expit(base + added + high) - log_expit(base + state[:, _LOW] + low)
        worst = log_expit(-base - added - low) - log_expit(-base - state[:, _HIGH] - high)
        return np.where(bound > self.delta, np.maximum(joint[1] * best, joint[0] * worst), 0)


def _sides(chosen):
    """Return x and y of the choices."""
    return np.maximum(-chosen, 0) - 1, np.maximum(chosen, 0) - 1
