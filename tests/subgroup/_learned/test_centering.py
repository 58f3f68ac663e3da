"""Centering, rules and witnesses of learned audits against brute force and statsmodels."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from skdisc._expectations import Covariates
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc._space._subgroup import Predicate
from skdisc.subgroup._learned._centering import Centering, ProtectedCells
from skdisc.subgroup._learned._report import beta
from skdisc.subgroup._learned._witness import in_cells, learn

seeds = st.integers(0, 2**16)


def people(seed, n=300):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "edu": rng.choice(["low", "high"], n),
            "points": rng.normal(size=n),
        }
    )


def cells_of(X):
    space = FeatureSpace.from_frame(X)
    items = make_items(X, space, list(X), ["sex", "race"], 3)
    return ProtectedCells.of(items)


@given(seeds)
def test_what_depends_on_legitimate_columns_alone_cancels(seed):
    X = people(seed)
    rng, cells = np.random.default_rng(seed), cells_of(X)
    cell = cells.numbers(X)
    X, cell = X[cell >= 0], cell[cell >= 0]
    x, y = X[["points"]], rng.normal(size=len(X))
    centering = Centering.of(Covariates.of(x), cell, len(cells), y, "additive", rng)
    of_x = np.repeat(np.exp(x.to_numpy()), len(cells), axis=1)
    assert centering.parts.sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert (centering.center(of_x) == 0).all()


@given(seeds)
def test_a_centered_function_is_that_of_the_own_cell_less_its_expectation(seed):
    rng = np.random.default_rng(seed)
    cell, share = rng.integers(3, size=50), rng.dirichlet(np.ones(3), 50)
    values = rng.normal(size=(50, 3))
    centering = Centering(np.zeros(50), cell, np.eye(3)[cell] - share)
    own = values[np.arange(50), cell] - (share * values).sum(axis=1)
    assert centering.center(values) == pytest.approx(own)


@given(seeds, st.sampled_from(["f", "m"]), st.sampled_from([("a",), ("b",), ("a", "b")]))
def test_a_rule_in_the_own_cell_is_its_mask(seed, sex, races):
    X = people(seed)
    cells = cells_of(X)
    cell = cells.numbers(X)
    rule = Predicate.equals("sex", sex) & Predicate.equals("edu", "low")
    if len(races) == 1:
        rule = rule & Predicate.equals("race", races[0])
    X, cell = X[cell >= 0], cell[cell >= 0]
    inside = in_cells(rule, X, cells)
    assert (inside[np.arange(len(X)), cell] == rule.mask(X)).all()
    for number, combo in enumerate(cells.combos):  # as if all were of one cell
        names = [cells.items.predicates[i] for i in combo]
        moved = X.assign(**{p.column: p.values[0] for p in names})
        assert (inside[:, number] == rule.mask(moved)).all()


@given(seeds)
def test_slopes_are_those_of_least_squares_with_sandwich_errors(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 50))
    fit = sm.OLS(y, x).fit(cov_type="HC0")
    assert beta(x, y) == pytest.approx((fit.params[0], fit.bse[0]), rel=1e-9)


@given(seeds)
def test_the_group_of_an_exact_witness_is_the_best_of_all_unions_of_cells(seed):
    X = people(seed)
    rng, cells = np.random.default_rng(seed), cells_of(X)
    cell = cells.numbers(X)
    X, cell = X[cell >= 0], cell[cell >= 0]
    y = rng.integers(0, 2, len(X)).astype(float)
    left = y - y.mean()
    centering = Centering(left, cell, np.eye(len(cells))[cell] - 1 / len(cells))
    none = np.empty((len(X), 0))
    witness = learn(DecisionTreeRegressor(), none, cells, centering, True, rng)
    own = witness.values(none)[np.arange(len(X)), cell]
    by_hand = max(
        (np.isin(cell, np.flatnonzero(chosen)) * left).mean()  # its size times its gap
        for chosen in product([0, 1], repeat=len(cells))
    )
    assert (own * left).mean() == pytest.approx(by_hand)
