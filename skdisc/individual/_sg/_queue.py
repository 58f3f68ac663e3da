"""The queue of SG: inputs by rank, and the changes that negate conditions on their paths."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from skdisc._utils._hashing import Growing
from skdisc.individual._prober import small_dtype
from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._steps import Steps

_EARLY = 4000  # up to this many tests a batch is half of the tests so far, then as many again
_LEAST_CONFIDENCE = 0.3  # of each condition of a global change: T1 of the paper
_SMALLEST, _MOST = 64, 2**18  # inputs in a batch: more would take too much memory


@dataclass
class Changes:
    """Changes of one column that negate one condition on the path to a leaf, as parallel arrays.

    Attributes
    ----------
    leaf : ndarray of int
        Position of the leaf.
    column, value : ndarray of int
        Column of the condition, and the code nearest to the leaf that negates it.
    confidence : ndarray of float
        Mean confidence of the conditions kept and of the negated one.
    """

    leaf: np.ndarray
    column: np.ndarray
    value: np.ndarray
    confidence: np.ndarray

    @classmethod
    def joined(cls, parts):
        """Return several `Changes` as one."""
        return cls(
            *(np.concatenate(a) for a in zip(*(vars(p).values() for p in parts), strict=True))
        )


class _Conditions:
    """For each node of a tree the condition that leads to it; the root has none.

    The condition is that `column` is at most `cut` (`is_left`), or above it. Its confidence,
    `share`, is the share of the samples at the parent node that satisfy it; `total` is the sum of
    confidences from the root, over `depth` conditions.
    """

    def __init__(self, tree, columns, can_go, least):
        n, inner = tree.node_count, np.flatnonzero(tree.children_left >= 0)
        self.parent, self.is_left = np.zeros(n, np.intp), np.zeros(n, dtype=bool)
        for side in (tree.children_left, tree.children_right):
            self.parent[side[inner]] = inner
        self.is_left[tree.children_left[inner]] = True
        self.column = columns[np.maximum(tree.feature, 0)][self.parent]
        self.cut = np.floor(tree.threshold).astype(np.int64)[self.parent]
        self.share = tree.n_node_samples / tree.n_node_samples[self.parent]
        is_weak = can_go[:, self.column].any(axis=0) & (self.share < least)
        self.depth, self.total = np.zeros(n, np.int64), np.zeros(n)
        self.is_strong = np.ones(n, dtype=bool)  # all changeable conditions so far are confident
        level = np.zeros(1, np.intp)
        while len(level := level[tree.children_left[level] >= 0]):
            for side in (tree.children_left, tree.children_right):
                below = side[level]
                self.depth[below] = self.depth[level] + 1
                self.total[below] = self.total[level] + self.share[below]
                self.is_strong[below] = self.is_strong[level] & ~is_weak[below]
            level = np.concatenate([tree.children_left[level], tree.children_right[level]])


def changes_of(tree, leaves, columns, can_go, least):
    """Return the local and the global `Changes` of some leaves.

    Local changes keep all other conditions; a condition can be negated if it is the tightest on its
    side of its column. Global changes keep the conditions above the negated one, all of which must
    be confident.

    `tree`: fitted to `columns` of the codes. `leaves`: nodes of the tree. `columns`: columns of the
    space that are the features of the tree. `can_go`, of shape (2, n_columns of the space): whether
    each column may go down, and up. `least`: the least confidence of a condition of a global
    change.
    """
    nodes = _Conditions(tree, columns, can_go, least)
    leaf, node = np.arange(len(leaves)), leaves
    passed = np.zeros((2, len(leaves), can_go.shape[1]), dtype=bool)
    none = Changes(leaf[:0], leaf[:0], leaf[:0], np.zeros(0))
    parts = [none], [none]
    while (node > 0).any():  # from the leaves upwards
        leaf, node = leaf[node > 0], node[node > 0]
        direction, column, share = (
            nodes.is_left[node].astype(int),
            nodes.column[node],
            nodes.share[node],
        )
        # A condition is an interval of one column, so the nearest value that negates it is cut + 1
        # or cut: the paper's constraint solver is not needed.
        is_allowed, value = can_go[direction, column], nodes.cut[node] + direction
        tightest, passed[direction, leaf, column] = ~passed[direction, leaf, column], True
        for part, end, is_possible in zip(
            parts, (leaves[leaf], node), (tightest, nodes.is_strong[node]), strict=True
        ):
            positions = np.flatnonzero(is_allowed & is_possible)
            mean = (nodes.total[end[positions]] + 1 - 2 * share[positions]) / nodes.depth[
                end[positions]
            ]
            part.append(Changes(leaf[positions], column[positions], value[positions], mean))
        node = nodes.parent[node]
    return [Changes.joined(part) for part in parts]


class Queue(Strategy):
    """The strategy: the inputs of lowest rank, then what changes of their paths lead to.

    Local changes have ranks from 1 to 2, seeds 5, global changes from 9 to 10. So there are three
    queues: `queues[0]`, the seeds in `rows`, and `queues[1]`.
    """

    def __init__(self, settings, task, prober, rows):
        self.settings, self.task, self.prober, self.space = settings, task, prober, task.space
        self.can_go = Steps(task.space).can_go()
        self.rows = rows.astype(small_dtype(task.space))  # the seeds left
        self.queues = [ChangeQueue(task.space), ChangeQueue(task.space)]  # local, global
        self.surrogate, self.before = None, task.budget.tests
        self.n_random = 0  # of `Strategy`: seeds tested so far
        self.n_pending = 0  # seeds asked for in this batch, not tested yet

    def ask(self):
        """Return local changes, then seeds, then global changes."""
        n = self._batch_size()
        first = self.queues[0].pop(n)
        n -= len(first)
        seeds, self.rows = self.rows[:n], self.rows[n:]
        self.n_pending = len(seeds)
        rows = np.concatenate([first, seeds, self.queues[1].pop(n - len(seeds))])
        return propose(self.space, rows) if len(rows) else None

    def _batch_size(self):
        """Return the number of inputs of the next batch: large searches need few queries."""
        n_tests = self.task.budget.tests - self.before
        n_tests = min(n_tests if n_tests >= _EARLY else n_tests // 2, _MOST)
        limit = self.task.budget.max_tests
        if limit is not None:  # a quarter more than the tests left, as some were tested before
            n_left = limit - self.task.budget.tests
            n_tests = min(n_tests, n_left + n_left // 4)
        return max(_SMALLEST, n_tests)

    def tell(self, candidates, ids, new, ledger):
        """Queue what the paths of the inputs tested lead to."""
        rows, hit = candidates.codes(new), ledger.hit[ids[new]]
        self.n_random += self.n_pending
        if not self.can_go.any() or not len(new):
            return
        if self.settings.surrogate == "shared":
            if self.surrogate is None:
                self.surrogate = self._learn_and_queue(rows)
            self._push(self.surrogate, rows, hit)
            return
        for i in range(len(rows)):  # a tree for each
            self._push(self._learn_and_queue(rows[i : i + 1]), rows[i : i + 1], hit[i : i + 1])

    def _learn_and_queue(self, rows):
        """Fit a tree to the decisions about samples, and queue the changes of its leaves.

        Returns the tree, and for each node the position of its list, counted from the end; None if
        the budget forbids the queries.
        """
        task, n, limit = self.task, self.settings.n_samples, self.task.budget.max_queries
        n = n if limit is None else min(n, max(limit // 4, 1))
        samples = self._marginals(n)
        samples[:, self.space.p_index] = self.prober.draw_combos(n, task.rng)
        if not task.budget.affords(n):
            return None
        outcomes = task.queries.decide(self.space.decode(samples), self.space.key(samples))
        decided = outcomes > (np.median(outcomes) if self.settings.output == "value" else 0.5)
        if callable(self.settings.surrogate):
            tree = self.settings.surrogate(samples, decided.astype(int), rows.astype(int)).tree_
        else:
            seed = int(task.rng.integers(2**31))
            # One random column per split: paths then have conditions on more columns, and lead to
            # more cases, than with the best splits.
            tree = DecisionTreeClassifier(max_features=1, random_state=seed)
            tree = tree.fit(samples[:, self.space.np_index], decided).tree_
        leaves = np.flatnonzero(tree.children_left < 0)
        if self.settings.surrogate != "shared":
            leaves = np.unique(self._leaf(tree, rows))
        local_and_global = changes_of(
            tree, leaves, self.space.np_index, self.can_go, _LEAST_CONFIDENCE
        )
        for queue, changes, sign in zip(self.queues, local_and_global, (1, -1), strict=True):
            queue.add_changes(changes, len(leaves), sign)
        number = np.zeros(tree.node_count, np.intp)
        number[leaves] = np.arange(-len(leaves), 0)
        return tree, number

    def _leaf(self, tree, rows):
        """Return the leaf of each input."""
        return tree.apply(rows[:, self.space.np_index].astype(np.float32))

    def _marginals(self, n):
        """Draw samples, each column independently from its values in X."""
        if self.task.X is None:
            return self.space.sample(n, self.task.rng)
        draws = self.task.rng.integers(len(self.values), size=(n, len(self.space)))
        return np.take_along_axis(self.values, draws, axis=0)

    @cached_property
    def values(self):
        """Codes of X sorted within each column, so that draws do not depend on row order."""
        low = [c.least for c in self.space.columns]
        return np.sort(np.maximum(self.task.codes, low), axis=0)

    def _push(self, surrogate, rows, hit):
        """Queue inputs for the global changes of their leaves, and cases for the local ones."""
        if surrogate is None:
            return
        tree, number = surrogate
        which = number[self._leaf(tree, rows)]
        self.queues[0].push(rows.compress(hit, axis=0), which[hit])
        self.queues[1].push(rows, which)


class _Lists:
    """Lists of whole numbers, one behind the other in one array."""

    def __init__(self):
        self.numbers = self.length = np.zeros(0, np.int64)

    def add(self, n):
        """Add n empty lists."""
        self.length = np.concatenate([self.length, np.zeros(n, np.int64)])

    def append(self, numbers, which):
        """Append each number to one of the lists; positions may count from the end."""
        which = which % max(len(self.length), 1)
        order = np.argsort(which.astype(np.min_scalar_type(len(self.length))), kind="stable")
        ends = np.cumsum(self.length)[which[order]]
        self.numbers = np.insert(self.numbers, ends, numbers[order])
        self.length += np.bincount(which, minlength=len(self.length))

    def get(self, which, nth):
        """Return the nth number of each of these lists."""
        start = np.cumsum(self.length) - self.length
        return self.numbers[start[which] + nth]


class ChangeQueue:
    """Changes that are applied to all inputs of their leaf, one input after the other.

    Changes applied least often come first, then those of the lowest rank.

    Attributes
    ----------
    rows : Growing
        The inputs, as rows of codes.
    leaves : _Lists
        For each leaf the inputs that reached it, as positions in `rows`.
    leaf, column, value, n_applied : ndarray of int, shape (n_changes,)
        For each change, in order of `rank`: the position of its leaf, the column that takes the
        value, and to how many inputs of the leaf it was applied.
    """

    def __init__(self, space):
        self.rows, self.leaves = Growing(small_dtype(space), len(space)), _Lists()
        self.leaf = self.column = self.value = self.n_applied = np.zeros(0, np.int64)
        self.rank = np.zeros(0, np.uint16)

    def add_changes(self, changes, n_leaves, sign):
        """Add the changes of further leaves, ranked by sign * confidence to four digits."""
        # Ranks are 1 + r for local and 10 - r for global changes, with r the mean confidence.
        largest = np.iinfo(self.rank.dtype).max
        rank = np.rint(largest * (0.5 + sign * (changes.confidence - 0.5))).astype(np.uint16)
        rank = np.concatenate([self.rank, rank])
        order = np.argsort(rank, kind="stable")  # a radix sort, as there are 16 bits only
        self.rank = rank[order]
        leaf = len(self.leaves.length) + changes.leaf
        self.leaf = np.concatenate([self.leaf, leaf])[order]
        self.column = np.concatenate([self.column, changes.column])[order]
        self.value = np.concatenate([self.value, changes.value])[order]
        self.n_applied = np.concatenate([self.n_applied, 0 * leaf])[order]
        self.leaves.add(n_leaves)

    def push(self, rows, which):
        """Add inputs to these leaves; positions may count from the end."""
        n = len(self.rows.rows)
        self.rows.extend(rows)
        self.leaves.append(np.arange(n, n + len(rows)), which)

    def pop(self, n):
        """Return the next n inputs, changed, or all if there are fewer."""
        if not n:
            return self.rows.rows[:0]
        which, times = self._next(n)
        change = np.repeat(which, times)
        before = np.repeat(np.cumsum(times) - times, times)
        nth = self.n_applied[change] + np.arange(len(change)) - before
        rows = self.rows.rows.take(self.leaves.get(self.leaf[change], nth), axis=0)
        rows[np.arange(len(rows)), self.column[change]] = self.value[change]
        self.n_applied[which] += times
        return rows

    def _next(self, n):
        """Return the changes to apply next, and how many times each.

        Round r is the r-th application of all changes whose leaf has r inputs or more. The next n
        inputs are those of all rounds up to some round, the last one cut off by rank.
        """
        n_inputs = self.leaves.length[self.leaf]
        which = np.flatnonzero(n_inputs > self.n_applied)
        n_inputs, done = n_inputs[which], self.n_applied[which]
        size = n_inputs.max(initial=0) + 1
        begun, ended = (np.bincount(a, minlength=size) for a in (done, n_inputs))
        in_round = np.cumsum(begun - ended)  # number of changes to apply in round 1, 2, ...
        last = np.searchsorted(np.cumsum(in_round), n) + 1  # the round that reaches n inputs
        times = np.maximum(np.minimum(n_inputs, last) - done, 0)
        in_last = np.flatnonzero((times > 0) & (done + times == last))
        surplus = max(times.sum() - n, 0)
        times[in_last[len(in_last) - surplus :]] -= 1
        return which, times
