"""Sums over columns that are counted together, against sums over each column alone."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc._space._codes import UNBOUND
from skdisc.subgroup._bias_scan import _ascent
from skdisc.subgroup._bias_scan._ascent import Scan
from skdisc.subgroup._bias_scan._cells import Cells, ScanAttribute, ScanRules
from skdisc.subgroup._bias_scan._joined import joined, packed, unpacked
from skdisc.subgroup._bias_scan._scores import Score

SIZES = st.lists(st.integers(1, 70), min_size=1, max_size=6)


@given(SIZES, st.sets(st.integers(0, 5)), st.integers(0, 10**6))
def test_sums_over_combinations_have_those_over_each_column(sizes, apart, seed):
    rng, n_bins = np.random.default_rng(seed), 3
    columns = [rng.integers(0, size, 50) for size in sizes]
    bins, weight = rng.integers(0, n_bins, 50), rng.integers(0, 9, 50).astype(float)
    pairs = joined(columns, sizes, apart)
    for j, (parts, axis) in enumerate(pairs):
        assert parts.columns[axis] is columns[j]
        table = np.zeros((n_bins, parts.size))
        np.add.at(table, (bins, parts.codes), weight)
        expected = np.zeros((sizes[j], n_bins))
        np.add.at(expected, (columns[j], bins), weight)
        np.testing.assert_array_equal(parts.of(axis, table), expected)
        together = {i for i, (other, _) in enumerate(pairs) if other is parts}
        assert len(together) == 1 or parts.size <= 64
        assert together <= apart or not together & apart


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 9)), min_size=1), st.data())
def test_packed_numbers_add_up_as_both_do(pairs, data):
    a, h = np.array(pairs, dtype=float).T
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=len(a), max_size=len(a))))
    both = unpacked(packed(a, h)[inside].sum())
    assert both == (a[inside].sum(), h[inside].sum())


def test_only_whole_numbers_with_small_sums_are_packed():
    one = np.ones(2)
    assert packed(one, one + 0.5) is None
    assert packed(one / 2, one) is None
    assert packed(one, one * 2**25) is None
    assert packed(np.stack([one, -one * 2**25]), one) is None
    most = 2.0**26 - 1
    for a in (most, -most):
        assert unpacked(packed(np.array([a]), np.array([most])))[0] == a


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans(), st.booleans())
def test_sums_of_a_run_are_those_over_its_cells(seed, n_bins, is_whole, is_alone):
    """For each attribute, over the cells that satisfy the conditions on all others."""
    rng, sizes, n = np.random.default_rng(seed), (2, 3, 70, 4, 3), 400
    codes = [rng.integers(0, size, n) for size in sizes]
    h = rng.integers(1, 4, n) * (1.0 if is_whole else 0.3)
    cells = Cells(codes, [ScanAttribute(s) for s in sizes], h, (1,))
    a, bins = rng.integers(0, 3, n).astype(float), rng.integers(0, n_bins, n)
    rules = ScanRules(0.5, 0, 99, ())
    scan = Scan(cells, Score("odds", 1, np.linspace(0.2, 0.6, n_bins)), bins, h, rules)
    numbers, n_runs = scan.numbers(a[None]), 3
    assert (numbers.h is None) == is_whole
    sets = [rng.random((n_runs, size)) < rng.choice([0.6, 1.0]) for size in sizes]
    no_data, unbound = np.zeros(n_runs, dtype=int), np.full(n_runs, UNBOUND)
    is_converged = np.zeros((n_runs, len(sizes)), dtype=bool)
    runs = _ascent._Runs(
        scan, numbers, no_data, [s.copy() for s in sets], unbound, is_converged, None
    )
    inside = np.array([s[:, column] for s, column in zip(sets, codes, strict=True)])
    chosen, which = ([1], [0]) if is_alone else ([0, 1, 2], [0, 1, 2])
    for _ in range(2):  # the second time, from what is kept
        for j, size in enumerate(sizes):
            sums_a, sums_h, sums_n = runs._sums(j, np.array(chosen))
            for i, run in zip(which, chosen, strict=True):
                open_cells = np.delete(inside[:, run], j, axis=0).all(axis=0)
                expected = np.zeros((size, n_bins))
                np.add.at(expected, (codes[j][open_cells], bins[open_cells]), h[open_cells])
                np.testing.assert_allclose(sums_h[i], expected, rtol=1e-12)
                np.testing.assert_allclose(sums_n[i], expected.sum(axis=1), rtol=1e-12)
                outcomes = np.bincount(codes[j][open_cells], a[open_cells], size)
                np.testing.assert_allclose(sums_a[i], outcomes, rtol=1e-12)
