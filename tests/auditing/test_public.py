"""Public documents, attacked: exact linear algebra, and whole-number programs."""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.linalg

from skdisc import Audit
from skdisc._stats import _printed_sums
from skdisc._stats._printed_sums import PrintedSums
from skdisc.auditing import public_counts
from skdisc.auditing._public import merged

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.disclosure import ends, follow, table  # noqa: E402

sys.path.remove(str(ROOT))


def attacked(X, favorable, counts):
    """Return what an attacker has who knows all columns: sums, outcomes, people and small sets."""
    known = PrintedSums([X[c].to_numpy(str) for c in X], 10)  # values before they were joined
    groups = [np.ones(len(X), dtype=bool)]
    groups += [merged(X[r.attribute], 20) == r.group for r in counts.itertuples()]
    sums = [np.bincount(known._cell, g, len(known.cells)) > 0 for g in groups]
    outcomes = np.bincount(known._cell, favorable, len(known.cells))
    return np.array(sums, dtype=int), outcomes, known.people, known.small.toarray().astype(int)


def test_the_attackers_find_what_hiding_a_group_leaves():
    """Of 500, 400 and 6 people the third group is hidden, and follows from the other two."""
    sums, people = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0]]), np.array([500, 400, 6])
    favorable, hidden = np.array([250, 120, 4]), np.array([0, 0, 1])
    assert follow(sums, [hidden, [1, 1, 0], [1, 0, 1]]).tolist() == [True, True, True]
    assert follow(sums[:2], [hidden, [0, 1, 1]]).tolist() == [False, True]
    assert ends(sums, favorable, people, hidden) == (4, 4)
    assert ends(sums[:2], favorable, people, hidden) == (0, 6)


def test_a_group_that_would_be_told_is_joined():
    origin = pd.Series(np.repeat(["a", "b", "c"], [500, 400, 6]))
    assert set(merged(origin, 20)) == {"a", "b or others"}
    y = np.r_[np.repeat([1, 0], [250, 250]), np.repeat([1, 0], [120, 280]), [1, 1, 1, 1, 0, 0]]
    counts = public_counts(origin.to_frame("origin"), y)
    assert counts.to_numpy().tolist() == [
        ["origin", "a", 500, 250],
        ["origin", "b or others", 406, 124],
    ]
    raw = PrintedSums([origin.to_numpy(str)], 10)
    groups = np.array([(origin == v).to_numpy()[raw.first] for v in "abc"])
    asked = np.stack([groups, ~groups], axis=1)
    assert raw.choose(asked).tolist() == [True, False, False]
    assert raw.choose(asked).tolist() == [True, False, False]  # what is printed may be again


def small_by_definition(sums, depths):
    """Return the small sets of a table, each as the set of its cells: slow, and independent."""
    width, least = sums.cells.shape[1], sums.min_cell

    def is_small(cells):
        return 0 < sum(sums.people[i] for i in cells) < least

    def by_value(columns):
        groups = {}
        for i, values in enumerate(sums.cells[:, columns].tolist()):
            groups.setdefault(tuple(values), set()).add(i)
        return groups

    small = set()
    for depth in {*depths, width}:
        for columns in map(list, combinations(range(width), depth)):
            groups = by_value(columns)
            small |= {frozenset(g) for g in groups.values() if is_small(g)}
            for out in range(depth):
                for context, whole in by_value(columns[:out] + columns[out + 1 :]).items():
                    inside = [g for v, g in groups.items() if v[:out] + v[out + 1 :] == context]
                    together = set().union(*(g for g in inside if is_small(g)))
                    several = [together, *(whole - g for g in inside)]
                    small |= {frozenset(g) for g in several if is_small(g)}
    return {frozenset(i for i in g if sums.people[i]) for g in small}


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("width", [3, 7, 9])
def test_small_sets_are_those_of_the_definition(monkeypatch, n, width):
    """Counted pair by pair or all at once, in one block or several, with people of any number."""
    monkeypatch.setattr(_printed_sums, "_BLOCK", 9)
    monkeypatch.setattr(_printed_sums, "_CHUNK", 700)
    draw = np.random.default_rng(n + width)
    sizes = draw.choice([2, 3, 5, 14], width)
    columns = [np.sqrt(draw.random(n) * k * k).astype(int) for k in sizes]
    for base in (None, draw.integers(0, 3, n)):
        sums = PrintedSums(columns, 10, base=base)
        rows = sums.small.tolil().rows
        seen = [frozenset(i for i in row if sums.people[i]) for row in rows]
        depths = (1, 2, 3) if width <= 5 else (1, 2)
        assert set(seen) == small_by_definition(sums, depths)


def test_pairs_of_columns_without_small_sets_are_not_looked_at_one_by_one(monkeypatch):
    """The 20,000 pairs of 200 columns took 9 s."""
    seen, small_of = [], PrintedSums._small_of
    monkeypatch.setattr(
        PrintedSums, "_small_of", lambda self, c: seen.append(c) or small_of(self, c)
    )
    draw = np.random.default_rng(0)
    columns = [draw.integers(0, 4, 2000) for _ in range(40)] + [draw.integers(0, 90, 2000)]
    assert PrintedSums(columns, 10).small.shape[0] > 0
    assert sorted(map(len, seen)) == [1] * 41 + [2] * 40 + [41]


@pytest.mark.slow
def test_no_sum_of_few_people_follows_from_public_counts():
    """Of all columns at once, so that any number of documents about the table tell no more."""
    n_sets = n_printed = n_asked = pinned = tried = 0
    for seed in range(30):
        X, favorable = table(seed)
        counts = public_counts(X, favorable)
        n_printed += len(counts)
        joined = [set(merged(X[c], 20)) for c in X]
        n_asked += sum(len(values) for values in joined if len(values) > 1)
        sums, outcomes, people, small = attacked(X, favorable, counts)
        assert not follow(sums, small).any(), seed
        n_sets += len(small)
        goal = small[np.random.default_rng(seed).integers(len(small))] if len(small) else None
        if goal is not None and len(people) <= 120:
            least, most = ends(sums, outcomes, people, goal)
            tried, pinned = tried + 1, pinned + (least == most)
    assert n_sets > 2000
    assert n_printed >= 0.9 * n_asked
    assert tried > 10
    assert pinned <= 0.05 * tried


def test_hiding_small_groups_alone_is_undone_by_the_same_attack():
    undone = few = 0
    for seed in range(40):
        X, _ = table(seed)
        size = {c: X[c].value_counts() for c in X}
        shown = [(c, v) for c in X for v, n in size[c].items() if n >= 10]
        hidden = [(c, v) for c in X for v, n in size[c].items() if n < 10]
        known = PrintedSums([X[c].to_numpy(str) for c in X], 10)
        masks = [np.ones(len(X), dtype=bool), *((X[c] == v).to_numpy() for c, v in shown)]
        sums = [np.bincount(known._cell, g, len(known.cells)) > 0 for g in masks]
        goals = [np.bincount(known._cell, X[c] == v, len(known.cells)) > 0 for c, v in hidden]
        if hidden:
            few += 1
            undone += follow(np.array(sums, int), np.array(goals, int)).any()
    assert few > 10
    assert undone > 0.5 * few


def test_the_choice_depends_on_columns_alone():
    X, favorable = table(3)
    counts = public_counts(X, favorable)
    other = public_counts(X.sample(frac=1, random_state=0), 1 - favorable)
    keys = ["attribute", "group", "n"]
    assert counts[keys].equals(other[keys])
    one = public_counts(X, favorable, protected="p")
    assert one.equals(counts[counts["attribute"] == "p"].reset_index(drop=True))


def test_an_audit_of_public_counts_names_no_rare_value():
    X, favorable = table(3)
    X.loc[:2, "p"] = "rare"
    report = Audit.from_counts(public_counts(X, favorable, protected="p"))
    assert "rare" not in report.to_json()
    assert {r["n"] for r in report.document["groups"]} == set(merged_sizes(X["p"]))


def merged_sizes(values):
    return np.unique(merged(values, 20), return_counts=True)[1].tolist()


def test_what_cannot_be_counted_is_refused():
    X, favorable = table(3)
    with pytest.raises(ValueError, match="must be 0 or 1 for each row"):
        public_counts(X, favorable + 1)
    with pytest.raises(ValueError, match="'sex'"):
        public_counts(X, favorable, protected="sex")


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        (["a"] * 30 + ["b"] * 30, {"a", "b"}),
        (["a"] * 30 + ["b"] * 12 + ["c"] * 9, {"a", "others"}),
        (["a"] * 30 + ["b"] * 25 + ["c"] * 9, {"a", "b or others"}),
        (["a"] * 30 + ["others"] * 25 + ["c"] * 9, {"a", "others or all others"}),
        ([f"name{i}" for i in range(60)], {"others"}),
        ([1.0] * 30 + [0.0] * 30, {"0", "1"}),
        ([True] * 30 + [None] * 30, {"True", "missing"}),
        (
            list(range(80)),
            {"at most 19", "above 19, at most 39", "above 39, at most 59", "above 59"},
        ),
    ],
)
def test_rare_values_are_joined(values, groups):
    assert set(merged(pd.Series(values), 20)) == groups


@pytest.mark.parametrize(("seed", "most"), [(0, 0.5), (3, 0.9), (2, 0.5)])
def test_the_choice_is_that_of_projections_one_row_after_the_other(seed, most, monkeypatch):
    """The oracle solves a least-squares problem for each row and set."""
    monkeypatch.setattr(_printed_sums, "_EXACT", 0)  # the sketch is tried, too
    X, _ = table(seed)
    draw, columns = np.random.default_rng(seed), [X[c].to_numpy(str) for c in X]
    sums = PrintedSums(columns, 10, base=draw.integers(0, 3, len(X)), most=most)
    single = np.array([sums.cells[:, c] == v for c in range(4) for v in range(5)])
    inside = single[draw.integers(len(single), size=60)]
    groups = inside & single[draw.integers(len(single), size=60)]
    asked = np.stack([groups, inside & ~groups], axis=1)
    root, small = np.sqrt(sums.people), sums.small.toarray()
    printed, expected = [np.ones(len(root))], []
    for row in asked:
        tried = [*printed, *row.astype(float)]
        basis = scipy.linalg.orth(np.transpose(tried) * root[:, None])
        length = ((small * root) @ basis) ** 2
        explained = length.sum(axis=1) / (small @ sums.people)
        stays = bool((row @ sums.people >= 10).all() and explained.max() <= most + 1e-7)
        expected.append(stays)
        printed = tried if stays else printed
    assert sums.choose(asked).tolist() == expected
    assert 0 < sum(expected) < (asked @ sums.people >= 10).all(axis=1).sum()
    assert sums.follow(np.array(printed, dtype=bool)).all()
    assert not sums.follow(small[:5] > 0).any()
