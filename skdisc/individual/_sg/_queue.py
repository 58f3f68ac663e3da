"""The queue of SG: inputs by rank, and what negating the conditions on their paths leads to."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from skdisc._space._codes import MISSING
from skdisc._utils._hashing import Growing
from skdisc.individual._prober import small_dtype
from skdisc.individual._search._loop import propose
from skdisc.individual._search._steps import Steps


@dataclass
class Changes:
    """Changes of one column that negate one condition on the path to a leaf.

    Attributes
    ----------
    leaf : ndarray of int
        Which of the leaves; other attributes are parallel to it.
    column, value : ndarray of int
        The column of the condition, and the code with which it does not hold that is nearest to
        those at the leaf.
    confidence : ndarray of float
        Mean confidence of the conditions kept and of the one negated.
    """

    leaf: np.ndarray
    column: np.ndarray
    value: np.ndarray
    confidence: np.ndarray

    def at(self, which):
        """Return the changes that a mask, or positions, choose."""
        return Changes(*(a[which] for a in vars(self).values()))


class _Nodes:
    """The condition that leads to each node of a tree, from the node above; the root has none.

    It says that a column is at most `cut` (left), or above it. Its confidence is the share of the
    samples at the node above that meet it; `total` sums those from the root.
    """

    def __init__(self, tree, columns, free, least):
        n, inner = tree.node_count, np.flatnonzero(tree.children_left >= 0)
        self.above, self.is_left = np.zeros(n, np.intp), np.zeros(n, dtype=bool)
        for side in (tree.children_left, tree.children_right):
            self.above[side[inner]] = inner
        self.is_left[tree.children_left[inner]] = True
        self.column = columns[np.maximum(tree.feature, 0)][self.above]
        self.cut = np.floor(tree.threshold).astype(np.int64)[self.above]
        self.share = tree.n_node_samples / tree.n_node_samples[self.above]
        unsure = free[:, self.column].any(axis=0) & (self.share < least)
        self.depth, self.total = np.zeros(n, np.int64), np.zeros(n)
        self.is_sure = np.ones(n, dtype=bool)  # no condition so far that could be negated is unsure
        level = np.zeros(1, np.intp)
        while len(level := level[tree.children_left[level] >= 0]):
            for side in (tree.children_left, tree.children_right):
                below = side[level]
                self.depth[below] = self.depth[level] + 1
                self.total[below] = self.total[level] + self.share[below]
                self.is_sure[below] = self.is_sure[level] & ~unsure[below]
            level = np.concatenate([tree.children_left[level], tree.children_right[level]])


def changes(tree, leaves, columns, free, least):
    """Return the `Changes` of leaves: with all other conditions kept, and with those above.

    With all others kept, a condition can be negated if it is the tightest on its side of its
    column; with those above kept, if they and itself are confident.

    Parameters
    ----------
    tree : sklearn.tree._tree.Tree
        Grown on `columns` of the codes.
    leaves : ndarray of int
        Nodes of the tree.
    columns : ndarray of int
        Columns of the space that are its features.
    free : ndarray of bool, shape (2, n_columns of the space)
        Whether each column may go down, and up.
    least : float
        The least confidence.
    """
    nodes = _Nodes(tree, columns, free, least)
    leaf, node = np.arange(len(leaves)), leaves
    passed = np.zeros((2, len(leaves), free.shape[1]), dtype=bool)
    empty = Changes(leaf[:0], leaf[:0], leaf[:0], np.zeros(0))
    parts = [empty], [empty]
    while (node > 0).any():  # from the leaves upwards
        leaf, node = leaf[node > 0], node[node > 0]
        left, column, share = nodes.is_left[node].astype(int), nodes.column[node], nodes.share[node]
        can, value = free[left, column], nodes.cut[node] + left
        tightest, passed[left, leaf, column] = ~passed[left, leaf, column], True
        for part, end, able in zip(
            parts, (leaves[leaf], node), (tightest, nodes.is_sure[node]), strict=True
        ):
            of = np.flatnonzero(can & able)
            mean = (nodes.total[end[of]] + 1 - 2 * share[of]) / nodes.depth[end[of]]
            part.append(Changes(leaf[of], column[of], value[of], mean))
        node = nodes.above[node]
    return [_joined(part) for part in parts]


def _joined(parts):
    return Changes(
        *(np.concatenate(p) for p in zip(*(vars(c).values() for c in parts), strict=True))
    )


_EARLY = 4000  # until so many tests a batch is half of what was tested, then as much as that
_MOST = 2**18  # inputs in a batch: more take too much memory


class Queue:
    """The strategy: the best of the queue, then what negating their conditions leads to.

    Local changes have ranks from 1 to 2, seeds 5, global changes from 9 to 10: three queues.
    """

    seeds = None

    def __init__(self, settings, task, prober, rows):
        self.settings, self.task, self.prober, self.space = settings, task, prober, task.space
        self.free = Steps(task.space).can_go()
        self.rows = rows.astype(small_dtype(task.space))
        self.waiting = [Waiting(task.space), Waiting(task.space)]
        self.surrogate, self.age, self.before = None, 0, task.budget.tests
        self.n_random = self.n_asked = 0  # seeds tested, seeds of this batch

    def ask(self):
        tests = self.task.budget.tests - self.before
        tests = min(tests if tests >= _EARLY else tests // 2, _MOST)
        most, least = self.task.budget.max_tests, self.settings.batch_size
        if most is not None:  # not many more than can be tested, a few of which were before
            left = most - self.task.budget.tests
            tests = min(tests, left + left // 4)
        n = max(least, tests)
        first = self.waiting[0].pop(n)
        n -= len(first)
        seeds, self.rows = self.rows[:n], self.rows[n:]
        self.n_asked = len(seeds)
        rows = np.concatenate([first, seeds, self.waiting[1].pop(n - len(seeds))])
        return propose(self.space, rows) if len(rows) else None

    def tell(self, candidates, ids, new, ledger):
        rows, hit = candidates.codes(new), ledger.hit[ids[new]]
        self.age += len(new)
        self.n_random += self.n_asked
        if not self.free.any() or not len(new):
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

        The changes that its leaves suggest, all or those of the rows, wait for inputs from now on.
        With it, by node, which list is that of a leaf, counted from the end.
        """
        task, n, most = self.task, self.settings.n_samples, self.task.budget.max_queries
        n = n if most is None else min(n, max(most // 4, 1))
        samples = self._marginals(n)
        samples[:, self.space.p_index] = self.prober.draw_combos(n, task.rng)
        if not task.budget.affords(n):
            return None
        answers = task.queries.decide(self.space.decode(samples), self.space.key(samples))
        decided = answers > (np.median(answers) if self.settings.output == "value" else 0.5)
        if callable(self.settings.surrogate):
            tree = self.settings.surrogate(samples, decided.astype(int), rows.astype(int)).tree_
        else:
            seed = int(task.rng.integers(2**31))
            tree = DecisionTreeClassifier(max_features=1, random_state=seed)
            tree = tree.fit(samples[:, self.space.np_index], decided).tree_
        leaves = np.flatnonzero(tree.children_left < 0)
        if self.settings.surrogate != "shared":
            leaves = np.unique(self._leaf(tree, rows))
        both = changes(tree, leaves, self.space.np_index, self.free, self.settings.min_confidence)
        for waiting, own, sign in zip(self.waiting, both, (1, -1), strict=True):
            waiting.expect(own, len(leaves), sign)
        number = np.zeros(tree.node_count, np.intp)
        number[leaves] = np.arange(-len(leaves), 0)
        return tree, number

    def _leaf(self, tree, rows):
        return tree.apply(rows[:, self.space.np_index].astype(np.float32))

    def _marginals(self, n):
        if self.task.X is None:
            return self.space.sample(n, self.task.rng)
        at = self.task.rng.integers(len(self.values), size=(n, len(self.space)))
        return np.take_along_axis(self.values, at, axis=0)

    @cached_property
    def values(self):
        """The codes of X, each column in order: whatever the order of the rows."""
        low = [MISSING if c.missing else 0 for c in self.space.columns]
        return np.sort(np.maximum(self.task.codes, low), axis=0)

    def _push(self, surrogate, rows, hit):
        """Let the inputs wait for the changes of their leaves: locally where they hit."""
        if surrogate is None:
            return
        tree, number = surrogate
        which = number[self._leaf(tree, rows)]
        self.waiting[0].push(rows.compress(hit, axis=0), which[hit])
        self.waiting[1].push(rows, which)


class Waiting:
    """Inputs that wait for changes, in a list for each leaf of a tree.

    Those changes come first that were made least often, then those of the lowest rank.
    """

    def __init__(self, space):
        self.rows = Growing(small_dtype(space), len(space))
        self.order = self.length = np.zeros(0, np.int64)  # inputs list by list, how many in each
        self.list = self.column = self.value = self.made = np.zeros(0, np.int64)  # of the changes
        self.rank = np.zeros(0, np.uint16)

    def expect(self, changes, n_leaves, sign):
        """Add changes, ranked by sign * confidence to four digits, and a list for each leaf."""
        more = {"list": len(self.length) + changes.leaf, "made": 0 * changes.leaf}
        more |= {"column": changes.column, "value": changes.value}
        most = np.iinfo(self.rank.dtype).max
        more["rank"] = np.rint(most * (0.5 + sign * (changes.confidence - 0.5))).astype(np.uint16)
        rank = np.concatenate([self.rank, more["rank"]])
        order = np.argsort(rank, kind="stable")  # a radix sort: for 16 bits or fewer only
        for name, values in more.items():
            setattr(self, name, np.concatenate([getattr(self, name), values]).take(order))
        self.length = np.concatenate([self.length, np.zeros(n_leaves, np.int64)])

    def push(self, rows, which):
        """Add inputs to the lists at these positions, which may count from the end."""
        which = which % max(len(self.length), 1)
        at = np.argsort(which.astype(np.min_scalar_type(len(self.length))), kind="stable")
        n = len(self.rows.rows)
        self.rows.extend(rows)
        self.order = np.insert(self.order, np.cumsum(self.length)[which[at]], n + at)
        self.length += np.bincount(which, minlength=len(self.length))

    def pop(self, n):
        """Return the next inputs, changed: `n`, or all."""
        if not n:
            return self.rows.rows[:0]
        which, take = self._how_many(n)
        change = np.repeat(which, take)
        nth = np.arange(len(change)) - np.repeat(np.cumsum(take) - take, take) + self.made[change]
        start = np.cumsum(self.length) - self.length
        rows = self.rows.rows.take(self.order[start[self.list[change]] + nth], axis=0)
        rows[np.arange(len(rows)), self.column[change]] = self.value[change]
        self.made[which] += take
        return rows

    def _how_many(self, n):
        """Return the changes for which inputs wait, and how often each is made next."""
        length = self.length[self.list]
        which = np.flatnonzero(length > self.made)
        length, made = length[which], self.made[which]
        n_times = length.max(initial=0) + 1
        begun = np.bincount(made, minlength=n_times) - np.bincount(length, minlength=n_times)
        inputs = np.cumsum(np.cumsum(begun))  # in all, if each change is made once, twice, ...
        most = np.searchsorted(inputs, n) + 1  # the smallest number of times that leads to n
        take = np.maximum(np.minimum(length, most) - made, 0)
        last = np.flatnonzero((take > 0) & (made + take == most))
        take[last[len(last) - max(take.sum() - n, 0) :]] -= 1
        return which, take
