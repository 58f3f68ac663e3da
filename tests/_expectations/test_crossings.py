"""What crossings add: B against all pairs, its error, and which crossings are looked at."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skdisc._expectations import Covariates, Crossings, Sampling, widening
from skdisc._expectations._crossings import Unlearned, added_by


def by_pairs(cells, e, d, weight, cluster):
    """B, its variance and what joining leaves of d, from all pairs of people."""
    n = len(cells)
    other = cluster[:, None] != cluster[None]
    pairs = weight[:, None] * weight * other * (cells[:, None] == cells)
    share = np.zeros(n)
    for cell in np.unique(cells):
        own = cells == cell
        total = pairs[np.ix_(own, own)].sum() / weight[own].sum()
        share[own] = 1 / total if total > 0 else 0
    of_pair = pairs * share[:, None]
    kept = max(1 - (of_pair * np.outer(d, d)).sum() / (weight * d**2).sum(), 0.1)
    return (of_pair * np.outer(e, d)).sum() / kept, of_pair / kept


@pytest.mark.parametrize("kind", ["alone", "weights", "clusters", "both"])
def test_b_is_a_sum_over_all_pairs(kind):
    rng = np.random.default_rng(0)
    n = 120
    cells, e, d = rng.integers(9, size=n), rng.normal(size=n), rng.normal(size=n)
    weight = rng.uniform(0.2, 3, n) if kind in ("weights", "both") else None
    cluster = rng.integers(50, size=n) if kind in ("clusters", "both") else None
    w = np.ones(n) if weight is None else weight
    b, pairs = by_pairs(cells, e, d, w, np.arange(n) if cluster is None else cluster)
    found = added_by(cells, e, d, Sampling(weight=weight, cluster=cluster))
    assert found[0] == pytest.approx(b)
    if cluster is None:  # (i, j) and (j, i) go together, all others are independent
        left = pairs * np.outer(e, d)
        assert found[1] == pytest.approx(np.sqrt((left**2 + left * left.T).sum()))


def test_rows_of_many_people_are_copies():
    rng = np.random.default_rng(1)
    cells, e, d = rng.integers(4, size=40), rng.normal(size=40), rng.normal(size=40)
    people, weight = rng.integers(1, 6, 40), rng.uniform(0.5, 2, 40)
    counted = added_by(cells, e, d, Sampling(weight=weight, people=people))
    copies = added_by(*(a.repeat(people) for a in (cells, e, d)), Sampling(weight.repeat(people)))
    np.testing.assert_allclose(counted, copies)


def test_the_unit_of_weights_does_not_count():
    rng = np.random.default_rng(1)
    cells, e, d = rng.integers(4, size=40), rng.normal(size=40), rng.normal(size=40)
    weight = rng.uniform(0.5, 2, 40)
    one, many = (added_by(cells, e, d, Sampling(weight * unit)) for unit in (1, 1000))
    assert many == pytest.approx((one[0] * 1000, one[1] * 1000, one[2]))


@pytest.mark.statistics
def test_b_and_its_error_hold_on_average():
    rng = np.random.default_rng(0)
    cells = rng.integers(40, size=800)
    u = rng.normal(size=40)[cells]
    null, real = [], []
    for _ in range(400):
        e, d = rng.normal(size=(2, 800))
        null.append(added_by(cells, e, d)[:2])
        real.append(added_by(cells, e + 0.3 * u, d + 0.2 * u))
    z = np.array(null)[:, 0] / np.array(null)[:, 1]
    assert abs(z.mean()) < 3 / 20
    assert z.std() == pytest.approx(1, abs=0.12)
    bias, _, kept = np.array(real).T
    assert (bias * kept).mean() == pytest.approx(0.06 * (u**2).sum(), rel=0.1)


def test_crossings_have_five_people_a_cell():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(6, size=(300, 4)), columns=[*"abcd"])
    crossings = Crossings(Covariates.of(X), Sampling())
    found = {crossings.names(joint.indices): joint for joint in crossings.walk()}
    wanted = [own for k in (1, 2) for own in combinations("abcd", k)]  # of 216 cells: 1.4
    assert sorted(found) == sorted(wanted)
    for names, joint in found.items():
        assert joint.n_cells == len(X[[*names]].drop_duplicates())
        alike = joint.codes[:, None] == joint.codes
        assert (alike == (X[[*names]].to_numpy()[:, None] == X[[*names]].to_numpy()).all(-1)).all()


@pytest.mark.parametrize("kind", ["alone", "weights", "clusters"])
def test_b_of_several_estimates_is_that_of_each(kind):
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.integers(6, size=(400, 3)), columns=[*"abc"])
    r, d = rng.normal(size=400) + X["a"], rng.normal(size=(400, 5)) + X[["a"]].to_numpy()
    gap = np.array([0.5, -0.2, 0.0, 1.0, 2.0])
    sampling = Sampling(
        weight=rng.uniform(0.2, 3, 400) if kind == "weights" else None,
        cluster=rng.integers(150, size=400) if kind == "clusters" else None,
    )
    crossings = Crossings(Covariates.of(X), sampling)
    found = crossings.unlearned(r.to_numpy(), d, gap, np.zeros(5))
    for part, of_part in enumerate(found):
        assert of_part
        e, w = r - gap[part] * d[:, part], 1 if kind != "weights" else sampling.weight
        size = (w * d[:, part] ** 2).sum()
        for own in of_part:
            codes = crossings.joint(own.indices).codes
            bias, error, _ = added_by(codes, e.to_numpy(), d[:, part], sampling)
            assert (own.bias, own.error) == pytest.approx((bias / size, error / size))


def test_a_second_look_does_not_make_cells_again(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(4, size=(400, 4)), columns=[*"abcd"])
    crossings = Crossings(Covariates.of(X), Sampling())
    before = {own.indices: own.codes for own in crossings.walk()}
    again = pickle.loads(pickle.dumps(crossings))  # without the cells
    assert len(pickle.dumps(crossings)) < 1.2 * len(pickle.dumps(Crossings(*_of(crossings))))
    for cells in (crossings.walk(), again.walk(), map(crossings.joint, before)):
        for own in cells:
            np.testing.assert_array_equal(own.codes, before[own.indices])
    monkeypatch.setattr(crossings, "_joined", None)
    assert [own.indices for own in crossings.walk()] == list(before)
    assert [crossings.joint(at).indices for at in before] == list(before)


def _of(crossings):
    return crossings.covariates, crossings.sampling


def test_numbers_are_cut_into_eighths_and_shared_values():
    rng = np.random.default_rng(0)
    x = np.where(rng.random(800) < 0.2, 30.0, rng.normal(30, 9, 800))
    x[:20] = np.nan
    eighths, shared = Crossings(Covariates.of(pd.DataFrame({"x": x})), Sampling()).columns
    assert (eighths.n_cells, shared.n_cells) == (9, 10)  # missing is one of them
    assert len(np.unique(eighths.codes[:20])) == 1
    assert not np.isin(eighths.codes[20:], eighths.codes[0]).any()
    heap = shared.codes[x == 30]
    assert len(np.unique(heap)) == 1
    assert not np.isin(shared.codes[x != 30], heap).any()


def test_wide_tables_cross_few_columns_by_threes_but_all_of_few_values_up_to_forty():
    rng = np.random.default_rng(0)
    n_threes = {}
    for n_columns in (29, 30, 41):
        X = pd.DataFrame(rng.integers(9, size=(4000, n_columns)).astype(str))
        X.columns = [f"x{j}" for j in X]
        X[["x0", "x1", "x2"]] = rng.integers(2, size=(4000, 3)).astype(str)
        crossings = Crossings(Covariates.of(X), Sampling())
        r, d = rng.normal(size=(2, 4000))
        crossings.narrow(np.column_stack([r, d]), r[:, None], d[:, None])
        threes = [j.indices for j in crossings.walk() if len(j.indices) == 3]
        n_threes[n_columns] = len(threes)
        pairs = [j.indices for j in crossings.walk() if len(j.indices) == 2]
        assert len(pairs) == n_columns * (n_columns - 1) // 2
    assert n_threes[29] == 29 * 28 * 27 // 6
    assert n_threes[30] in (120, 121)  # ten columns, and the three of two values
    assert n_threes[41] == 120


def test_intervals_are_widened_to_the_side_of_the_bias():
    up, down = Unlearned(("a",), 4, 0.03, 0.01), Unlearned(("b",), 4, -0.02, 0.005)
    assert widening([]) == (0, 0)
    assert widening([up]) == pytest.approx((0.05, 0))  # the estimate is too large
    assert widening([up, down]) == pytest.approx((0.05, 0.03))


def test_what_cells_that_joined_may_have_taken_for_nothing_moves_one_end():
    up, taken = Unlearned(("a",), 4, 0.03, 0.01), Unlearned(("b",), 4, -0.02, 0, has_joined=True)
    assert widening([taken]) == pytest.approx((0, 0.02))  # B was taken, so the truth lies above
    assert widening([up, taken]) == pytest.approx((0.05, 0.02))
    back = Unlearned(("c",), 4, 0.015, 0, has_joined=True)
    assert widening([taken, back]) == pytest.approx((0, 0.005))  # what joining took adds up


def test_cells_of_a_law_that_is_sure_are_in_no_doubt():
    crossings = Crossings(Covariates.of(pd.DataFrame({"x": [1.0, 2.0]})), Sampling())
    crossings.n_crossings = 100
    doubts = [
        crossings.doubt(Unlearned(("a",), 4, sign * z * 0.01, 0.01), 1).bias
        for sign, z in ((1, 2.5), (-1, 2.5), (1, 3.5), (1, 6))
    ]
    # 100 crossings have a B of 2.5 errors for nothing anyway, one of 3.5 in .0465
    np.testing.assert_allclose(doubts[:2], [-0.025, 0.025])
    assert doubts[2] == pytest.approx(-0.035 * 200 * norm.sf(3.5))
    assert abs(doubts[3]) < 1e-7


def test_of_crossings_that_are_equally_sure_the_first_joins_whatever_rounding_made_of_them():
    crossings = Crossings(Covariates.of(pd.DataFrame({"a": [1.0, 2.0]})), Sampling())
    first, second = (
        Unlearned(("a",), 4, bias=0.03 + rounding, error=1e-4, indices=indices)
        for rounding, indices in ((0, (0,)), (1e-16, (1,)))
    )
    assert crossings.to_join([[second, first]], np.array([0.01])) == [first, second]
