"""The queue of SG against plain lists: changes of a path, and their order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from skdisc import FeatureSpace
from skdisc.individual._sg._queue import ChangeQueue, Changes, changes_of


def path_of(tree, row):
    """Return the path of a row, walked one node at a time: (column, cut, went left, share)."""
    node, path = 0, []
    while tree.children_left[node] >= 0:
        left = row[tree.feature[node]] <= tree.threshold[node]
        child = tree.children_left[node] if left else tree.children_right[node]
        share = tree.n_node_samples[child] / tree.n_node_samples[node]
        path.append((tree.feature[node], int(np.floor(tree.threshold[node])), left, share))
        node = child
    return path


@given(seed=st.integers(0, 500))
@settings(max_examples=20)
def test_changes_negate_one_condition_of_the_path_to_a_leaf(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (200, 3))
    tree = DecisionTreeClassifier(max_depth=5, random_state=seed).fit(X, rng.random(200) < 0.5)
    free = np.array([[True, False, True], [True, False, False]])  # column 1 stays, 2 only falls
    leaves = np.flatnonzero(tree.tree_.children_left < 0)
    local, along = changes_of(tree.tree_, leaves, np.arange(3), free, 0.3)
    for row in rng.integers(0, 8, (10, 3)):
        path, expected = path_of(tree.tree_, row), ([], [])
        for k, (column, cut, left, share) in enumerate(path):
            there = row.copy()
            there[column] = cut + 1 if left else cut
            holds = [(there[c] <= t) == w for c, t, w, _ in path]
            assert not holds[k]
            if not free[int(left), column]:
                continue
            above = [s for *_, s in path[:k]]
            if all(h for j, h in enumerate(holds) if j != k):
                rank = np.mean([s for j, (*_, s) in enumerate(path) if j != k] + [1 - share])
                expected[0].append((column, there[column], rank))
            if all(s >= 0.3 for c, _, _, s in path[: k + 1] if c != 1):
                assert all(holds[:k])
                expected[1].append((column, there[column], np.mean([*above, 1 - share])))
        leaf = tree.apply(row[None])[0]
        for made, wanted in zip((local, along), expected, strict=True):
            own = leaves[made.leaf] == leaf
            given = zip(made.column[own], made.value[own], made.confidence[own], strict=True)
            for ours, theirs in zip(sorted(given), sorted(wanted), strict=True):
                assert ours == pytest.approx(theirs)


@given(seed=st.integers(0, 500))
@settings(max_examples=20)
def test_changes_made_least_often_come_first_and_then_by_rank(seed):
    """Against a plain list: two trees, whose leaves have inputs that wait for their changes."""
    rng = np.random.default_rng(seed)
    space = FeatureSpace.from_domains({"id": (0, 999), "a": (0, 9)}, protected=())
    queue, made, lists, n = ChangeQueue(space), {}, {}, 0
    for turn in range(12):
        if turn in (0, 5):
            leaf = np.sort(rng.integers(0, 3, 5))
            mean = (rng.permutation(5) + turn / 10) / 5
            at, value = np.ones(5, int), np.arange(5) + turn
            queue.add_changes(Changes(leaf, at, value, mean), 3, 1)
            made |= {(m, v, (turn, w)): 0 for m, v, w in zip(mean, value, leaf, strict=True)}
            lists |= {(turn, w): [] for w in range(3)}
            latest = turn
        which = rng.integers(0, 3, rng.integers(0, 5))
        for i, w in enumerate(which):
            lists[latest, w].append(n + i)
        queue.push(np.column_stack([n + np.arange(len(which)), 0 * which]), which - 3)
        n, k = n + len(which), int(rng.integers(0, 12))
        ready = [
            (nth, mean, value, lists[own][nth], (mean, value, own))
            for (mean, value, own), done in made.items()
            for nth in range(done, len(lists[own]))
        ]
        best = sorted(ready)[:k]
        assert sorted(queue.pop(k).tolist()) == sorted([who, value] for *_, value, who, _ in best)
        for *_, change in best:
            made[change] += 1
