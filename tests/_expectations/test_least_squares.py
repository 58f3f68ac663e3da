"""Residuals by sweeps are those of least squares on the whole design, and its rank is exact."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import SplineTransformer

from skdisc._expectations import Covariates
from skdisc._expectations._least_squares import LeastSquares, Spline


def table(seed, n=400, n_towns=5):
    rng = np.random.default_rng(seed)
    income = np.where(rng.random(n) < 0.3, 30_000.0, rng.normal(30_000, 9_000, n).round())
    income[rng.random(n) < 0.03] = np.nan
    return pd.DataFrame(
        {
            "score": rng.normal(size=n),
            "income": income,
            "months": rng.integers(12, size=n),
            "town": rng.integers(n_towns, size=n).astype(str),
            "work": rng.choice(["a", "b", None], n),
        }
    )


def indicators(values):
    return np.eye(values.nunique())[pd.factorize(values)[0]]


def design_by_hand(X, people=None):
    """Splines between quartiles, categories, and values that ten people share."""
    columns = [np.ones((len(X), 1))]
    times = np.ones(len(X), int) if people is None else people
    for name in X:
        if X[name].dtype == object or not pd.api.types.is_numeric_dtype(X[name]):
            columns.append(indicators(X[name].fillna("missing")))
            continue
        repeated = X[name].repeat(times)
        known = repeated.dropna()
        knots = np.unique(np.quantile(known, np.linspace(0, 1, 5)))[:, None]
        x = X[[name]].fillna(known.median()).to_numpy(float)
        spline = SplineTransformer(knots=knots, extrapolation="constant")
        columns.append(spline.fit(x).transform(x) if len(knots) > 2 else x)
        counts = known.value_counts()
        shared = [v for v, count in counts.items() if count >= 10]
        columns += [(X[name] == v).to_numpy(float)[:, None] for v in shared]
        columns.append(X[name].isna().to_numpy(float)[:, None])
    return np.hstack(columns)


def residual_by_hand(design, values, weight=None):
    root = np.ones(len(values)) if weight is None else np.sqrt(weight)
    size = np.maximum(np.abs(design).max(axis=0), 1e-300)
    slopes = np.linalg.lstsq(design / size * root[:, None], values * root[:, None], rcond=1e-10)[0]
    return values - design / size @ slopes


def cells_of(rng, n, size):
    return rng.integers(size, size=n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_blocks", [0, 1, 3])
def test_residuals_are_those_of_lstsq(weighted, n_blocks):
    X, rng = table(0), np.random.default_rng(1)
    values, weight = rng.normal(size=(len(X), 3)), rng.uniform(0.2, 3, len(X)) if weighted else None
    least_squares = LeastSquares(Covariates.of(X), weight)
    design = design_by_hand(X)
    for _ in range(n_blocks):
        cells = cells_of(rng, len(X), 20)
        least_squares.add((0, 1), cells)
        design = np.hstack([design, np.eye(20)[cells]])
    left = least_squares.residual(values)
    np.testing.assert_allclose(left, residual_by_hand(design, values, weight), atol=2e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_rank_of_main_effects_is_exact(seed):
    X = table(seed)
    X["copy"] = 2 * X["score"] + 1
    least_squares = LeastSquares(Covariates.of(X))
    design = design_by_hand(X)
    design = design / np.maximum(np.sqrt((design**2).sum(axis=0)), 1e-300)
    assert least_squares.rank == np.linalg.matrix_rank(design, tol=1e-3)


def test_a_column_of_very_many_values_is_projected_off_too():
    X, rng = table(0, n=1500, n_towns=320), np.random.default_rng(0)
    least_squares, values = LeastSquares(Covariates.of(X)), rng.normal(size=(1500, 2))
    assert len(least_squares.blocks) == 1  # no matrix
    left = least_squares.residual(values)
    np.testing.assert_allclose(left, residual_by_hand(design_by_hand(X), values), atol=2e-6)
    rank = np.linalg.matrix_rank(design_by_hand(X[["town", "work", "months", "score"]]))
    assert least_squares.whole_rank() == pytest.approx(rank, rel=0.15)


def test_rows_of_many_people_are_copies():
    X, rng = table(3), np.random.default_rng(2)
    people = rng.integers(1, 5, len(X))
    values = rng.normal(size=(len(X), 2))
    cells = cells_of(rng, len(X), 15)
    counted = LeastSquares(Covariates.of(X), people.astype(float), people)
    repeated = LeastSquares(Covariates.of(X.loc[X.index.repeat(people)]))
    counted.add((0,), cells)
    repeated.add((0,), cells.repeat(people))
    assert counted.rank == repeated.rank
    left = repeated.residual(values.repeat(people, axis=0))
    np.testing.assert_allclose(counted.residual(values).repeat(people, axis=0), left, atol=1e-6)


def test_leverage_is_that_of_the_hat_matrix():
    X = table(5, n=300)
    least_squares, design = LeastSquares(Covariates.of(X)), design_by_hand(X)
    size = np.maximum(np.sqrt((design**2).sum(axis=0)), 1e-300)
    hat = np.diag(design / size @ np.linalg.pinv(design / size, rcond=1e-6))
    np.testing.assert_allclose(least_squares.leverage(), hat, atol=1e-5)
    assert least_squares.leverage().sum() == pytest.approx(least_squares.rank)


@pytest.mark.parametrize("n_towns", [5, 320])
def test_parts_of_columns_add_up_to_the_fit_of_main_effects(n_towns):
    X, rng = table(7, n=1500, n_towns=n_towns), np.random.default_rng(0)
    least_squares, y = LeastSquares(Covariates.of(X)), rng.normal(size=1500)
    fit = y - least_squares.residual(y[:, None])[:, 0]
    least_squares.add((0, 3), cells_of(rng, 1500, 12))
    parts = least_squares.parts(y)
    assert set(parts) == {(j,) for j in range(5)}
    rest = fit - sum(parts.values())
    np.testing.assert_allclose(rest, rest[0], atol=1e-5)


def test_several_numbers_of_many_shared_values_contribute_what_least_squares_says():
    rng, n = np.random.default_rng(8), 20_000
    X = pd.DataFrame({f"points_{j}": rng.integers(400, size=n) + 0.0 for j in range(4)})
    X = X.assign(work=rng.choice(list("abc"), n), age=rng.normal(size=n))
    y = rng.normal(size=n) + 0.1 * X["points_0"] % 3
    design = LeastSquares(Covariates.of(X))
    assert len(design.blocks) == 4
    parts = design.parts(y.to_numpy())
    assert set(parts) == {(j,) for j in range(6)}
    rest = y - sum(parts.values())
    for j in range(4):  # a part has a value for each number, and all leave nothing of its mean
        assert pd.Series(parts[j,].round(9)).groupby(X[f"points_{j}"]).nunique().max() == 1
        means = (rest - rest.mean()).groupby(X[f"points_{j}"]).mean()
        np.testing.assert_allclose(means, 0, atol=1e-5)


def test_a_spline_of_numbers_that_are_mostly_zero_is_a_line():
    gains = np.append(np.zeros(80), [100.0, 5000.0])
    line = Spline(gains, None).columns(gains)
    assert line.shape == (82, 1)
    np.testing.assert_array_equal(line[:, 0], gains)


@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_of_many_columns_are_those_of_each(weighted):
    rng = np.random.default_rng(4)
    X = table(4)
    design = LeastSquares(Covariates.of(X), rng.uniform(0.2, 3, 400) if weighted else None)
    for size in (20, 30):
        design.add((), cells_of(rng, 400, size))
    values = rng.normal(size=(400, 6)) + X[["months"]].to_numpy()
    each = [design.residual(values[:, [j]], 1e-12) for j in range(6)]
    together = design.residual(values, 1e-12)
    np.testing.assert_allclose(together, np.hstack(each), atol=1e-8)
    assert np.abs(together).max() > 0.1
