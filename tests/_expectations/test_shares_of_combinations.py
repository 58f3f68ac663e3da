"""Shares of combinations are products of those of their sides, whatever rows stand for."""

import numpy as np
import pandas as pd
import pytest

from skdisc._expectations import Covariates, learn


def people(n=240, seed=0):
    """Return legitimate columns, outcomes, and memberships in two parts and their intersection."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(size=n), "town": rng.choice(list("uvw"), n)})
    woman = rng.random(n) < 0.3 + 0.3 * (X["town"] == "u")
    black = rng.random(n) < 0.3 + 0.2 * (X["age"] > 0)
    y = (rng.random(n) < 0.5 - 0.2 * woman).astype(float)
    return X, y, np.column_stack([woman, black, woman & black]).astype(float)


def learned(X, y, parts, folds, checked=(0, 1), **how):
    drawn = np.random.default_rng(0)
    return learn(Covariates.of(X), y, parts, drawn, folds=folds, checked=list(checked), **how)


def same(one, other, order=slice(None), rtol=1e-5):
    for name in ("shares", "expected"):
        np.testing.assert_allclose(getattr(one, name)[order], getattr(other, name), atol=1e-6)
    np.testing.assert_allclose(one.gap, other.gap, atol=1e-6)
    np.testing.assert_allclose(one.error, other.error, rtol=rtol)


@pytest.fixture(params=["plain", "weights", "clusters"])
def sampling(request):
    rng = np.random.default_rng(1)
    weight, cluster = rng.uniform(0.3, 3, 240), np.arange(240) // 3
    return {"plain": {}, "weights": {"weight": weight}, "clusters": {"cluster": cluster}}[
        request.param
    ]


def folds_of(sampling):
    unit = sampling.get("cluster", np.arange(240))
    return (np.random.default_rng(2).permutation(240) % 3)[unit][None]


def test_the_order_of_rows_and_columns_does_not_count(sampling):
    X, y, parts = people()
    folds, order = folds_of(sampling), np.random.default_rng(3).permutation(240)
    moved = {name: values[order] for name, values in sampling.items()}
    one = learned(X, y, parts, folds, **sampling)
    how = X.iloc[order, ::-1].reset_index(drop=True), y[order], parts[order], folds[:, order]
    same(one, learned(*how, **moved), order)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_row_of_many_people_is_as_many_rows(is_weighted):
    X, y, parts = people()
    folds = folds_of({})
    times = np.random.default_rng(4).integers(1, 4, 240)
    at = np.repeat(np.arange(240), times)
    weight = np.random.default_rng(5).uniform(0.3, 3, 240) if is_weighted else None
    of_rows = {} if weight is None else {"weight": weight}
    repeated = {} if weight is None else {"weight": weight[at]}
    one = learned(X, y, parts, folds, people=times, **of_rows)
    each = learned(X.iloc[at].reset_index(drop=True), y[at], parts[at], folds[:, at], **repeated)
    # The rank of joined cells, in errors, is estimated from random signs of the rows.
    same(one, each, at, rtol=0.01)
