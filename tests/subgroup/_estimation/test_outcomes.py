"""Counted and summed rows have one interface, and agree where both can be used."""

import numpy as np
import pandas as pd
import pytest

from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc._stats._rates import rate_values
from skdisc.subgroup._estimation._confirmation import measure_again
from skdisc.subgroup._estimation._discovery import Effects, FoundCounts, single_groups
from skdisc.subgroup._estimation._outcomes import Counted, Summed

NAMES = ["false_positive_rate", "accuracy", "error_rate"]


@pytest.fixture(scope="module")
def both():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice(list("abc"), (400, 3)), columns=list("uvw"))
    cell = rng.integers(0, 4, 400)
    values = np.array([rate_values(cell, name) for name in NAMES])
    items = make_items(X, FeatureSpace.from_frame(X), list("uvw"), ["u"], 4)
    return Counted(X, cell, NAMES), Summed.ordered(X, values, NAMES), items


def mined(rows, items, least=10):
    return rows.mine(items, least, 2, None, lambda n: n)


def test_effects_of_mined_patterns_agree(both):
    *rows, items = both
    counted, summed = (Effects.of(r, mined(r, items)) for r in rows)
    np.testing.assert_array_equal(counted.effect, summed.effect)
    np.testing.assert_allclose(counted.p_value(), summed.p_value(), rtol=1e-12)
    for mine, theirs in zip(counted.posterior(), summed.posterior(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    at = np.array([2, 0, 2, 1]), np.array([5, 0, 1, 3])
    pd.testing.assert_frame_equal(*(e.compare(*at, 0.05) for e in (counted, summed)))


def test_single_groups_and_estimates_agree(both):
    *rows, items = both
    tables = [single_groups(r, items, 0.05, "bh", 0) for r in rows]
    pd.testing.assert_frame_equal(*tables)
    assert len(tables[0]) == 3 * len(NAMES)
    estimates = [r.overall(0.05) for r in rows]
    pd.testing.assert_frame_equal(*estimates, check_dtype=False)


def test_a_group_measured_again_has_its_rate(both):
    counted, summed, items = both
    groups = [items.subgroup([i]) for i in range(3)]

    class Findings:
        subgroups = groups
        table = pd.DataFrame({"measure": ["accuracy", NAMES[0], "accuracy"], "effect": 0.0})

    tables = [measure_again(Findings, rows, 0.05, "bh") for rows in (counted, summed)]
    pd.testing.assert_frame_equal(*tables)
    inside = groups[0].mask(counted.X)
    expected = np.isin(counted.cell[inside], [0, 3]).mean()
    assert tables[0]["outcome"][0] == pytest.approx(expected)
    assert tables[0]["support"][0] == inside.sum()


def test_weights_of_two_are_rows_given_twice(both):
    counted, summed, items = both
    twice = Summed.ordered(counted.X, summed.values, NAMES, np.full(400, 2.0))
    assert twice.size == 800
    np.testing.assert_allclose(twice.sizes(items), 2 * counted.sizes(items))
    patterns = mined(twice, items, least=20)
    assert patterns.items.tolist() == mined(counted, items).items.tolist()


def test_groups_are_counted_once(both):
    items = both[2]
    groups = [items.subgroup([i]) for i in (0, 0, 1)]
    counts = FoundCounts.of(groups, [False, True, False], ["u"])
    assert (counts.n_tested, counts.n_found) == (2, 1)
    assert counts.by_value == {"u=a": (1, 1), "u=b": (1, 0)}


def test_sums_do_not_depend_on_the_order_of_rows_with_frequencies():
    rng = np.random.default_rng(0)
    X, values = pd.DataFrame({"sex": rng.choice(["f", "m"], 500)}), rng.normal(size=(1, 500))
    values[0, ::2] = values[0, 0]  # equal numbers, told apart by their frequencies alone
    frequency, shuffled = rng.integers(1, 9, 500), rng.permutation(500)
    one = Summed.ordered(X, values, NAMES[:1], frequency=frequency)
    other = Summed.ordered(
        X.iloc[shuffled], values[:, shuffled], NAMES[:1], frequency=frequency[shuffled]
    )
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.frequency, other.frequency)
