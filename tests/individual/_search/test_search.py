"""Moves, neighbours and the flood, step by step."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import FeatureSpace
from skdisc._space._column import Column
from skdisc._task._budget import Budget
from skdisc.individual import KOSEI
from skdisc.individual._prober import small_dtype
from skdisc.individual._search._loop import Rows, run
from skdisc.individual._search._neighbors import NeighborMoves, Neighbours


def column(name, kind, size, missing):
    """Return a column of `size` values; -1 is one of its codes if values can be missing."""
    if kind == "numeric":
        ends = {"low": 5.0, "high": 5.0 + 2 * (size - 1), "step": 2.0}
        return Column(name, kind, np.dtype(float), missing=missing, **ends)
    return Column(name, kind, np.dtype(object), tuple("abcdefg"[:size]), missing=missing)


@st.composite
def spaces(draw):
    kinds = st.tuples(
        st.sampled_from(["nominal", "ordinal", "numeric"]), st.integers(1, 4), st.booleans()
    )
    drawn = draw(st.lists(kinds, min_size=1, max_size=4))
    columns = [column(f"c{i}", *kind) for i, kind in enumerate(drawn)]
    sex = Column("sex", "nominal", np.dtype(object), ("F", "M"), probes=(0, 1))
    at = draw(st.integers(0, len(columns)))
    immutable = [c.name for c in columns if draw(st.integers(0, 3)) == 0]
    return FeatureSpace([*columns[:at], sex, *columns[at:]], ["sex"], immutable=immutable)


def one_change(space, row):
    """Yield all neighbours of a row, by the definition."""
    for j in space.np_index:
        own = space.columns[j]
        if own.name in space.immutable:
            continue
        codes = [*([-1] if own.missing else []), *range(own.size)]
        for code in codes:
            near = row[j] >= 0 and code >= 0 and abs(code - row[j]) == 1
            if (own.kind == "nominal" and code != row[j]) or (own.kind != "nominal" and near):
                yield (*row[:j], code, *row[j + 1 :])


@given(space=spaces(), seed=st.integers(0, 99))
def test_neighbours_are_all_single_changes_and_know_their_keys(space, seed):
    parents = space.sample(5, np.random.default_rng(seed))
    found = Neighbours(space, NeighborMoves(space), parents, None)
    rows = found.codes(np.arange(len(found.keys)))
    assert (found.keys == space.key(rows, space.np_index)).all()
    expected = [list(one_change(space, tuple(p))) for p in parents.tolist()]
    offset = 0
    for i, wanted in enumerate(expected):
        own = rows[offset : offset + len(wanted)]
        assert (found.parent[offset : offset + len(wanted)] == i).all()
        assert sorted(map(tuple, own.tolist())) == sorted(wanted)
        offset += len(wanted)
    assert offset == len(rows)


def test_neighbours_leave_their_parents_alone():
    space = FeatureSpace.from_domains({"a": (0, 5), "sex": ["F", "M"]}, protected="sex")
    parents = np.array([[2, 0], [5, 1]])
    found = Neighbours(space, NeighborMoves(space), parents, None)
    rows = found.codes(np.arange(len(found.keys)))
    assert rows.tolist() == [[1, 0], [3, 0], [4, 1]]
    assert parents.tolist() == [[2, 0], [5, 1]]


class Asked:
    """A prober in whose eyes even numbers are discriminatory."""

    n_combos, tests_at_once, shape = 1, 2, (1,)

    def __init__(self, space):
        self.space, self.combos, self.codes = space, np.zeros((1, 1), int), []

    def outcomes(self, codes):
        self.codes += codes[:, 0].tolist()
        return codes[:, :1] % 2.0

    def is_case(self, outcomes):
        return outcomes[:, 0] == 0

    def couples(self, outcomes):
        return np.zeros(len(outcomes), int), np.zeros(len(outcomes), int)


class Twice:
    """Proposes the same rows again and again."""

    def __init__(self, space, batches, limit):
        self.space, self.batches, self.limit, self.told = space, batches, limit, []

    def ask(self):
        if not self.batches:
            return None
        rows = np.array([[n, 0] for n in self.batches.pop(0)])
        return Rows(rows, self.space.key(rows, self.space.np_index), self.limit)

    def tell(self, candidates, ids, new, ledger):
        self.told.append((ids.tolist(), new.tolist(), ledger.hit.tolist()))


@pytest.mark.parametrize("limit", [None, 2])
def test_the_loop_asks_what_is_new_in_the_order_proposed(limit):
    space = FeatureSpace.from_domains({"n": (0, 99), "sex": ["F", "M"]}, protected="sex")
    strategy = Twice(space, [[5, 8, 5, 2], [8, 2, 9, 9, 5, 4, 6]], limit)
    prober, budget = Asked(space), Budget()
    ledger = run(strategy, prober, budget, lambda text: None)
    if limit is None:
        assert prober.codes == [5, 8, 2, 9, 4, 6]
        assert strategy.told[0] == ([0, 1, 0, 2], [0, 1, 3], [False, True, True])
        assert strategy.told[1][:2] == ([1, 2, 3, 3, 0, 4, 5], [2, 5, 6])
        assert ledger.hit.tolist() == [False, True, True, False, True, True]
        assert ledger.found()[0][:, 0].tolist() == [8, 2, 4, 6]
    else:
        assert prober.codes == [5, 8, 9, 4]
    assert (budget.tests, budget.found) == (len(prober.codes), ledger.hit.sum())


@pytest.mark.parametrize("n_local", [0, 1, 3])
def test_the_flood_ends_after_so_many_tests_per_discriminatory_seed(n_local):
    space = FeatureSpace.from_domains(
        {"a": (0, 999), "b": (0, 999), "sex": ["F", "M"]}, protected="sex"
    )
    search = KOSEI(seeds="uniform", n_seeds=20, n_local=n_local, random_state=0)
    everybody = search.fit(space, model=lambda X: X["sex"] == "M").result_
    assert everybody.n_tested == 20 + 20 * n_local
    assert everybody.stopped_by is None
    some = search.fit(space, model=lambda X: (X["a"] < 500) & (X["sex"] == "M")).result_
    hits = round(some.estimates["estimate"][0] * 20)
    assert some.n_tested == 20 + hits * n_local


def test_a_column_of_nothing_but_one_value_has_no_neighbours():
    space = FeatureSpace.from_domains({"a": ["x"], "sex": ["F", "M"]}, protected="sex")
    result = KOSEI(seeds="uniform", random_state=0).fit(space, model=lambda X: X["sex"] == "M")
    assert (result.result_.n_tested, result.result_.n_found) == (1, 1)


def test_missing_values_are_never_stepped_into():
    X = pd.DataFrame({"n": [1.0, 2, 3, np.nan] * 5, "sex": ["F", "M"] * 10})
    asked = []

    def model(X):
        asked.append(X)
        return (X["sex"] == "M") & X["n"].notna()

    search = KOSEI(protected="sex", seeds="uniform", n_seeds=1, n_local=None)
    for seed in range(5):
        asked.clear()
        search.set_params(random_state=seed).fit(X, model=model)
        first = asked[0]["n"].isna().any()
        assert pd.concat(asked)["n"].isna().any() == first


@pytest.mark.parametrize(("size", "dtype"), [(2, np.int8), (128, np.int8), (129, np.int16)])
def test_the_smallest_dtype_holds_every_code(size, dtype):
    space = FeatureSpace.from_domains({"a": (1, size), "sex": ["F", "M"]}, protected="sex")
    assert small_dtype(space) == dtype
    assert np.iinfo(dtype).max >= size - 1
