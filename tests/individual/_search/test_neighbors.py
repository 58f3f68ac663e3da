"""Neighbors of an input are all its single changes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skdisc import FeatureSpace
from skdisc._space._column import Column
from skdisc.individual._search._neighbors import Neighbors
from skdisc.individual._search._steps import Steps


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
    """Yield all neighbors of a row, by the definition."""
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
def test_neighbors_are_all_single_changes_and_know_their_keys(space, seed):
    parents = space.sample(5, np.random.default_rng(seed))
    found = Neighbors(Steps(space), parents, None)
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


def test_neighbors_leave_their_parents_alone():
    space = FeatureSpace.from_domains({"a": (0, 5), "sex": ["F", "M"]}, protected="sex")
    parents = np.array([[2, 0], [5, 1]])
    found = Neighbors(Steps(space), parents, None)
    rows = found.codes(np.arange(len(found.keys)))
    assert rows.tolist() == [[1, 0], [3, 0], [4, 1]]
    assert parents.tolist() == [[2, 0], [5, 1]]
