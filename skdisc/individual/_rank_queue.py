"""The queue of SG: inputs by rank, and what negating the conditions on their paths leads to."""

from functools import cached_property

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from skdisc._column import MISSING
from skdisc._hashing import KeyIndex
from skdisc.individual._paths import paths
from skdisc.individual._search import Growing, propose
from skdisc.individual._steps import Steps

_SHARE = 0.02


class Queue:
    """The strategy: the best of the queue, then what negating their conditions leads to."""

    seeds = None

    def __init__(self, settings, task, prober, rows):
        self.settings, self.task, self.prober, self.space = settings, task, prober, task.space
        self.free = Steps(task.space).columns
        self.only = np.array([task.space.monotone.get(n, 0) for n in task.space.names])
        self.waiting = Waiting(len(task.space))
        self.waiting.push(rows, np.full(len(rows), 5.0))
        self.solved, self.surrogate, self.age = KeyIndex(), None, 0

    def ask(self):
        if not self.waiting.n:
            return None
        n = max(self.settings.batch_size, int(_SHARE * self.task.budget.tests))
        return propose(self.space, self.waiting.pop(n))

    def tell(self, candidates, ids, new, ledger):
        rows, is_new = candidates.rows, np.zeros(len(ids), dtype=bool)
        is_new[new] = True
        hit = ledger.hit[ids] & is_new
        self.age += len(new)
        if not len(self.free):
            return
        if self.settings.surrogate == "shared":
            if self.surrogate is None or self.age >= (self.settings.refresh or np.inf):
                self.surrogate, self.age = self._learn(rows), 0
            self._push(self.surrogate, rows, hit)
            return
        for i in range(len(rows)):  # a tree of its own for each
            self._push(self._learn(rows[i : i + 1]), rows[i : i + 1], hit[i : i + 1])

    def _learn(self, rows):
        """Return a tree that learned the decisions about inputs drawn from the marginals.

        With it, the leaves whose paths were followed: locally, and globally.
        """
        task, n = self.task, self.settings.n_samples
        samples = self._marginals(n)
        drawn = self.prober.draw_combos(task.X, n, task.rng)
        samples[:, self.space.p_index] = drawn
        if not task.budget.affords(n):
            return None
        answers = task.queries.decide(self.space.decode(samples))
        decided = answers > (np.median(answers) if self.settings.output == "value" else 0.5)
        if callable(self.settings.surrogate):
            tree = self.settings.surrogate(samples, decided.astype(int), rows)
        else:
            tree = DecisionTreeClassifier(random_state=int(task.rng.integers(2**31)))
            tree.fit(samples[:, self.space.np_index], decided)
        return tree.tree_, KeyIndex(), KeyIndex()

    def _marginals(self, n):
        if self.task.X is None:
            return self.space.sample(n, self.task.rng)
        at = self.task.rng.integers(len(self.values), size=(n, len(self.space)))
        return np.take_along_axis(self.values, at, axis=0)

    @cached_property
    def values(self):
        """The codes of X, each column in order: whatever the order of the rows."""
        low = [MISSING if c.missing else 0 for c in self.space.columns]
        return np.sort(np.maximum(self.space.encode(self.task.X), low), axis=0)

    def _push(self, surrogate, rows, hit):
        """Put what negating conditions leads to into the queue; each path is followed once."""
        if surrogate is None:
            return
        tree, *followed = surrogate
        for leaves, explained in zip(followed, (rows[hit], rows), strict=True):
            leaf = tree.apply(explained[:, self.space.np_index].astype(np.float32))
            explained = explained[leaves.add(leaf.astype(np.uint64))[1]]
            p = paths(tree, explained, self.space.np_index, self.free)
            if leaves is followed[0]:
                kept = p.others
                able, rank = p.can_be_negated(kept), 1 + p.confidence_among(kept)
            else:
                kept = p.above
                able = p.can_be_negated(kept) & p.down_to(self.settings.min_confidence)
                rank = 10 - p.confidence_among(kept)
            able &= self.only[p.column] != np.where(p.is_left, -1, 1)  # negated left goes up
            _, first = self.solved.add(p.keys(kept)[able])
            self.waiting.push(p.negated(explained)[able][first], rank[able][first])


class Waiting:
    """Inputs that wait, by rank."""

    def __init__(self, n_columns):
        self.rows, self.rank, self.n = Growing(np.int64, n_columns), Growing(float), 0

    def push(self, rows, rank):
        self.rows.extend(rows)
        self.rank.extend(rank)
        self.n += len(rows)

    def pop(self, n):
        """Return the `n` inputs of the lowest ranks in order, of equal ones those pushed first."""
        rank, n = self.rank.rows, min(n, self.n)
        least = np.partition(rank, n - 1)[n - 1]
        below, equal = np.flatnonzero(rank < least), np.flatnonzero(rank == least)
        best = np.sort(np.concatenate([below, equal[: n - len(below)]]))
        taken = self.rows.rows[best[np.argsort(rank[best], kind="stable")]]
        rank[best] = np.inf
        self.n -= n
        if 2 * self.n < len(rank):  # those that are gone are let go
            stay, rows = rank < np.inf, self.rows.rows
            self.__init__(rows.shape[1])
            self.push(rows[stay], rank[stay])
        return taken
