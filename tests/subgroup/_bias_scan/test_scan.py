"""The scan's steps against brute force over all sets, and its scores against closed forms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from skdisc.subgroup._bias_scan import _ascent
from skdisc.subgroup._bias_scan._ascent import Scan, best_totals
from skdisc.subgroup._bias_scan._cells import Cells, ScanAttribute, ScanRules
from skdisc.subgroup._bias_scan._scores import Score
from skdisc.subgroup._bias_scan._starts import Starts

FREE = ScanRules(penalty=0.0, min_rows=1, max_conditions=99, required=())


def loss(kind, theta, p):
    if kind == "odds":
        return np.log(1 - p + p * np.exp(theta))
    return {"rate": np.exp(theta) - 1, "square": theta**2 / 2}[kind] * np.ones_like(p)


def peak_by_search(kind, sign, a, h, p, furthest=12.0):
    """The largest F on [0, furthest], by golden section on a concave function."""
    negative = lambda t: -(a * t - h @ loss(kind, sign * t, p))  # noqa: E731
    found = optimize.minimize_scalar(
        negative, bounds=(0, furthest), method="bounded", options={"xatol": 1e-11}
    )
    return max(0.0, -found.fun, -negative(furthest))


sums = st.tuples(st.integers(1, 8), st.integers(1, 4), st.integers(0, 10**6))


@settings(max_examples=40)
@given(sums, st.sampled_from(["odds", "rate", "square"]), st.sampled_from([-1, 1]))
def test_peaks_are_those_of_a_numeric_search(drawn, kind, sign):
    n, n_bins, seed = drawn
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n_bins if kind == "odds" else 1)
    h = rng.integers(0, 30, (n, len(p))).astype(float)
    observed = rng.binomial(h.astype(int), rng.uniform(0, 1, (n, 1))).sum(axis=1)
    a = sign * observed if kind != "square" else rng.normal(0, 9, n)
    score = Score(kind, sign, p)
    found = score.peak(a.astype(float), h)[1]
    expected = [peak_by_search(kind, sign, *pair, p) for pair in zip(a, h, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_closed_forms():
    """Poisson's is Y ln(Y/E) + E - Y, Berk-Jones' N KL(Y/N || alpha), the normal one z^2 / 2."""
    y, e, n, alpha = 37.0, 25.0, 100.0, 0.25
    rate = Score("rate", 1, np.ones(1)).peak(np.array([y]), np.array([[e]]))
    assert rate[0][0] == pytest.approx(np.log(y / e), abs=1e-4)
    assert rate[1][0] == pytest.approx(y * np.log(y / e) + e - y, abs=1e-6)
    odds = Score("odds", 1, np.array([alpha])).peak(np.array([y]), np.array([[n]]))[1][0]
    s = y / n
    kl = s * np.log(s / alpha) + (1 - s) * np.log((1 - s) / (1 - alpha))
    assert odds == pytest.approx(n * kl, abs=1e-6)
    square = Score("square", 1, np.ones(1)).peak(np.array([12.0]), np.array([[9.0]]))[1][0]
    assert square == pytest.approx(12**2 / (2 * 9), abs=1e-6)
    wrong_side = Score("rate", -1, np.ones(1)).peak(np.array([-y]), np.array([[e]]))
    assert wrong_side[1][0] == 0


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([-1, 1]), st.floats(0, 2))
def test_intervals_are_where_a_value_exceeds_the_level(seed, sign, level):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, 3)
    h = rng.integers(0, 40, (5, 3)).astype(float)
    a = sign * rng.binomial(h.astype(int), rng.uniform(0, 1, (5, 1))).sum(axis=1).astype(float)
    score = Score("odds", sign, p)
    low, high = score.interval(a, h, level)
    t = np.linspace(0, score.grid[-1], 2001)[:-1]
    losses = np.array([loss("odds", sign * x, p) for x in t])
    for i in range(5):
        values = a[i] * t - losses @ h[i]
        inside = (t > low[i]) & (t < high[i])
        assert (values[inside] > level - 1e-5).all()
        assert (values[~inside] <= level + 1e-5).all()


def problem(seed, sizes, n=60, kind="odds", sign=1, n_bins=3):
    """Return random cells, their score, and what was observed."""
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, s, n) for s in sizes])
    bins = rng.integers(0, n_bins, n)
    p = rng.uniform(0.1, 0.9, n_bins)
    rows = rng.integers(1, 6, n).astype(float)
    tilt = rng.uniform(-2, 2, sizes[0])[codes[0]]
    share = 1 / (1 + np.exp(-(np.log(p / (1 - p))[bins] + tilt)))
    y = rng.binomial(rows.astype(int), share).astype(float)
    h = rows if kind == "odds" else rows * p[bins]
    if kind != "odds":
        bins, p = np.zeros(n, dtype=int), np.ones(1)
    cells = Cells(codes, [ScanAttribute(s) for s in sizes], rows)
    return cells, Score(kind, sign, p), bins, h, sign * y


def sums_by_value(cells, bins, h, a, n_bins, j=0):
    size = cells.attributes[j].size
    H = np.zeros((1, size, n_bins))
    np.add.at(H[0], (cells.codes[j], bins), h)
    total = [np.bincount(cells.codes[j], w, minlength=size)[None] for w in (a, cells.n)]
    return total[0], H, total[1]


def every_set(size):
    return [np.array(s) for s in product([False, True], repeat=size) if any(s)]


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.integers(2, 8),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from(["odds", "rate"]),
    st.sampled_from([-1, 1]),
    st.booleans(),
)
def test_one_step_is_the_best_of_all_sets(seed, size, penalty, kind, sign, bound):
    cells, score, bins, h, a = problem(seed, [size], kind=kind, sign=sign)
    scan = Scan(cells, score, bins, h, ScanRules(penalty, 0, 99, ()))
    a_v, h_v, n_v = sums_by_value(cells, bins, h, a, score.n_bins)
    attribute, flag = cells.attributes[0], np.array([bound])
    chosen, value = scan.best_sets(attribute, a_v, h_v, n_v, flag, np.array([False]))
    best = -np.inf
    for s in every_set(size):
        if not (bound and s.all()):
            own = score.peak(a_v[:, s].sum(1), h_v[:, s].sum(1))[1][0]
            best = max(best, own - attribute.cost(s, penalty))
    assert value[0] == pytest.approx(best, abs=1e-6)
    own = score.peak(a_v[:, chosen[0]].sum(1), h_v[:, chosen[0]].sum(1))[1][0]
    assert own - attribute.cost(chosen[0], penalty) == pytest.approx(best, abs=1e-6)


def value_of(scan, sets, a, penalty):
    """The score of one subset less its penalty; 0 if nobody is in it."""
    cells = scan.cells
    inside = np.logical_and.reduce([s[c] for s, c in zip(sets, cells.codes, strict=True)])
    h = np.bincount(scan.bins[inside], scan.h[inside], minlength=scan.score.n_bins)
    cost = sum(x.cost(s, penalty) for x, s in zip(cells.attributes, sets, strict=True))
    return scan.score.peak(a[inside].sum()[None], h[None])[1][0] - cost


def best_by_brute_force(scan, a, penalty):
    every = product(*[every_set(x.size) for x in scan.cells.attributes])
    return max(value_of(scan, sets, a, penalty) for sets in every)


def test_ends_are_the_best_subset_of_all_or_nearly():
    """No step improves an end, and on small tables nearly every scan finds the best subset."""
    exact = 0
    for seed in range(10):
        penalty = 0.5 * (seed % 2)
        cells, score, bins, h, a = problem(seed, [3, 4, 2], n=40, sign=(-1) ** seed)
        scan = Scan(cells, score, bins, h, ScanRules(penalty, 0, 99, ()))
        starts = Starts.draw(cells, scan.rules, 20, np.random.default_rng(seed))
        sets, total = scan.run(a[None], starts)
        best = best_by_brute_force(scan, a, penalty)
        assert total.max() <= best + 1e-6
        exact += total.max() >= best - 1e-5
        i = total[0].argmax()
        chosen = [s[0, i] for s in sets]
        assert total.max() == pytest.approx(value_of(scan, chosen, a, penalty), abs=1e-6)
        for j, attribute in enumerate(cells.attributes):
            for other in every_set(attribute.size):
                changed = [*chosen[:j], other, *chosen[j + 1 :]]
                assert value_of(scan, changed, a, penalty) <= total.max() + 1e-5
    assert exact >= 9


def test_rules_hold_in_every_subset_found():
    cells, score, bins, h, a = problem(3, [4, 3, 3, 5], n=200)
    rules = ScanRules(0.1, 90.0, 2, (1, 2))
    starts = Starts.draw(cells, rules, 20, np.random.default_rng(0))
    sets, total = Scan(cells, score, bins, h, rules).run(a[None], starts)
    assert np.isfinite(total).any()
    for i in np.flatnonzero(np.isfinite(total[0])):
        chosen = [s[0, i] for s in sets]
        conditions = [not s.all() for s in chosen]
        assert sum(conditions) <= 2
        assert conditions[1] or conditions[2]
        inside = np.logical_and.reduce([s[c] for s, c in zip(chosen, cells.codes, strict=True)])
        assert cells.n[inside].sum() >= 90


def test_data_sets_scanned_together_are_as_if_scanned_alone(monkeypatch):
    cells, score, bins, h, a = problem(5, [4, 3, 5], n=150)
    rng = np.random.default_rng(1)
    many = np.stack([a, *[rng.permutation(a) for _ in range(4)]])
    starts = Starts.draw(cells, FREE, 6, rng)
    scan = Scan(cells, score, bins, h, FREE)
    sets, total = scan.run(many, starts)
    for i, alone in enumerate(many):
        one, its_total = scan.run(alone[None], starts)
        np.testing.assert_allclose(its_total[0], total[i])
        assert all((x[0] == s[i]).all() for x, s in zip(one, sets, strict=True))
    monkeypatch.setattr("skdisc.subgroup._bias_scan._ascent._CELLS_AT_ONCE", 400)
    monkeypatch.setattr("skdisc.subgroup._bias_scan._ascent._CELLS_IN_CACHE", 1)
    np.testing.assert_allclose(scan.run(many, starts)[1], total)


def test_ordered_values_come_in_ranges():
    cells, score, bins, h, a = problem(9, [5, 2], n=120)
    ranges = np.array([[i <= v <= j for v in range(5)] for i in range(5) for j in range(i, 5)])
    cells = Cells(cells.codes, [ScanAttribute(5, ranges), ScanAttribute(2)], cells.n)
    scan = Scan(cells, score, bins, h, FREE)
    starts = Starts.draw(cells, FREE, 5, np.random.default_rng(0))
    sets, _ = scan.run(a[None], starts)
    assert {tuple(s) for s in sets[0][0]} <= {tuple(r) for r in ranges}


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([3, 10**6]))
def test_pairs_of_several_scans_at_once_are_those_of_each_alone(seed, is_required, most):
    rng = np.random.default_rng(seed)
    cells = Cells(
        np.array([rng.integers(0, size, 60) for size in (2, 3, 4, 2, 3)]),
        [ScanAttribute(size) for size in (2, 3, 4, 2, 3)],
        rng.integers(1, 9, 60).astype(float),
    )
    rules = ScanRules(1.0, 5, 99, (1, 4) if is_required else ())
    bins, p = rng.integers(0, 2, 60), np.array([0.3, 0.6])
    scans = [Scan(cells, Score("odds", sign, p), bins, cells.n, rules) for sign in (-1, 1)]
    a = rng.binomial(cells.n.astype(int), 0.5, (4, 60)).astype(float)
    start = Starts.draw(cells, rules, 1, rng)
    together = start.from_pairs(scans, a, 6, most)
    for scan, own in zip(scans, together, strict=True):
        for row, found in zip(a, own, strict=True):
            alone = start.from_pairs([scan], row[None], 6, most)[0][0]
            np.testing.assert_array_equal(found.bound, alone.bound)
            for one, other in zip(found.sets, alone.sets, strict=True):
                np.testing.assert_array_equal(one, other)
    assert any(len(found.bound) for own in together for found in own), "pairs were found"


@pytest.mark.parametrize("n_bins", [1, 2])
def test_ascents_alone_end_where_they_end_together(monkeypatch, n_bins):
    """What is added up for a run alone is kept between steps, for several it is looked up anew."""
    rng, sizes = np.random.default_rng(n_bins), (2, 3, 4, 2, 3)
    codes = np.array([rng.integers(0, size, 80) for size in sizes])
    cells = Cells(codes, [ScanAttribute(s) for s in sizes], rng.integers(1, 9, 80).astype(float))
    rules, p = ScanRules(0.5, 5, 99, ()), np.array([0.3, 0.6])[:n_bins]
    scan = Scan(cells, Score("odds", 1, p), rng.integers(0, n_bins, 80), cells.n, rules)
    share = 0.2 + 0.4 * ((codes[0] == 1) & (codes[2] < 2))
    a = rng.binomial(cells.n.astype(int), share, (3, 80)).astype(float)
    starts, ends = Starts.draw(cells, rules, 6, rng), []
    for room in (1, 10**6):
        monkeypatch.setattr(_ascent, "_CELLS_IN_CACHE", room)
        ends.append(scan.run(a, starts))
    assert (scan.summed[2] is None) == (n_bins == 1)
    np.testing.assert_array_equal(ends[0][1], ends[1][1])
    for alone, together in zip(*(sets for sets, _ in ends), strict=True):
        np.testing.assert_array_equal(alone, together)
    assert not all(s.all() for s in ends[0][0])


@settings(max_examples=20)
@given(
    st.integers(0, 10**6), st.sampled_from(["odds", "rate"]), st.sampled_from([(), (0,), (0, 2)])
)
def test_steps_that_are_remembered_are_the_steps_computed_anew(seed, kind, required):
    rules = ScanRules(penalty=0.3, min_rows=2, max_conditions=2, required=required)
    cells, score, bins, h, a = problem(seed, (2, 4, 3, 3), 60, kind)
    scan = Scan(cells, score, bins, h, rules)
    starts = Starts.draw(cells, rules, 8, np.random.default_rng(seed))
    sets, total = scan.run(a[None], starts)
    tested, memory = scan.n_tested, {}
    for _ in range(2):
        other_sets, other_total = scan.run(a[None], starts, memory=memory)
        np.testing.assert_allclose(total, other_total, atol=1e-6)
        for one, other in zip(sets, other_sets, strict=True):
            np.testing.assert_array_equal(one, other)
    assert scan.n_tested - tested <= tested  # the second run computed nothing


@settings(max_examples=20)
@given(
    st.integers(0, 10**6), st.sampled_from(["odds", "rate"]), st.sampled_from([(), (0,), (0, 2)])
)
def test_tables_scanned_together_are_as_if_scanned_alone(seed, kind, required):
    rules = ScanRules(penalty=0.3, min_rows=2, max_conditions=2, required=required)
    rng = np.random.default_rng(seed)
    scans, sums, starts = [], [], []
    for i, n in enumerate((60, 45, 80)):
        cells, score, bins, h, a = problem(seed + i, (2, 4, 3), n, kind)
        scans.append(Scan(cells, scans[0].score if scans else score, bins, h, rules))
        starts.append(Starts.draw(cells, rules, 4, rng))
        starts[-1] = Starts(starts[-1].sets, starts[0].turns, starts[-1].bound)
        sums.append(a)
    alone = [
        scan.run(a[None], own, n_kicks=0)[1].max()
        for scan, a, own in zip(scans, sums, starts, strict=True)
    ]
    assert best_totals(scans, sums, starts) == pytest.approx(alone)
