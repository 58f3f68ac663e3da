"""The default surrogate takes the frames that people have."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from skdisc import Limits
from skdisc._blackbox._default_models import (
    DEFAULT_MODELS,
    default_model,
    numbered,
    small_boosting,
    sparse_logistic,
    surrogate,
)
from skdisc.individual import SG


def people():
    rng = np.random.default_rng(0)
    town, points = rng.choice(list("abc"), 80), rng.integers(0, 9, 80)
    return pd.DataFrame({"points": points, "town": town}), (points > 4).astype(int)


@pytest.mark.parametrize("name", [None, "boosting", "logistic"])
def test_names_that_are_numbers_are_no_positions(name):
    X, y = people()
    make = surrogate if name is None else lambda: default_model(name, random_state=0)
    expected = make().fit(X, y).predict(X)
    numbered = X.set_axis([1, 0], axis=1)
    assert (make().fit(numbered, y).predict(numbered) == expected).all()


@pytest.mark.parametrize("name", [None, *DEFAULT_MODELS])
def test_missing_values_of_masked_columns(name):
    make = surrogate if name is None else lambda: default_model(name, random_state=0)
    X, y = people()
    X["ok"] = X["points"] > 2
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    masked = X.astype({"points": "Int64", "town": "string", "ok": "boolean"})
    before = masked.copy()
    plain = X.astype({"points": float, "ok": float})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the network stops early on purpose
        fitted = [make().fit(rows, y).predict(rows) for rows in (masked, plain)]
    assert (fitted[0] == fitted[1]).all()
    pd.testing.assert_frame_equal(masked, before)


@pytest.mark.every(3)
@pytest.mark.parametrize("names", [["sex", "n"], [0, 1], [1, 0]])
def test_a_surrogate_is_asked_whatever_columns_are_called(names):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M", None], 60), "n": rng.integers(0, 9, 60)})
    y = (X["n"] + 3 * (X["sex"] == "M") > 5).astype(int)
    X = X.astype({"sex": "string", "n": "Int64"}).mask(rng.random((60, 2)) < 0.1)
    results = []
    for frame in (X, X.set_axis(names, axis=1)):
        search = SG(
            protected=[frame.columns[0]], limits=Limits(tests=20), n_samples=50, random_state=0
        )
        results.append(search.fit(frame, y).result_)
    assert results[0].n_tested == results[1].n_tested > 0
    assert results[0].n_found == results[1].n_found


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_models_learn_the_same_from_text_and_from_its_numbers(dtype):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"town": rng.choice([*"zab", None], 600), "points": rng.normal(size=600)})
    X["ok"], X["odd"] = rng.random(600) < 0.5, np.where(np.arange(600) < 7, "x", "y")
    y = (X["points"] + (X["town"] == "b") - X["ok"] + rng.normal(size=600) > 0).astype(int)
    X["town"] = X["town"].astype(dtype)
    X["place"] = pd.Categorical(rng.choice(["v", "u"], 600), ["v", "none", "u"])
    again = pd.DataFrame({name: numbered(X[name]) for name in X})
    assert [again[c].dtype == X[c].dtype for c in X] == [c == "points" for c in X]
    shown = []
    for rows in (X, again):
        trees, line = small_boosting().fit(rows[:400], y[:400]), sparse_logistic()
        shown.append((trees.predict_proba(rows), line.fit(rows[:400], y[:400]).predict_proba(rows)))
    assert_array_equal(shown[0][0], shown[1][0])
    assert_allclose(shown[0][1], shown[1][1], atol=1e-4)
    dense = default_model("logistic").fit(X[:400], y[:400]).predict_proba(X)
    assert_allclose(shown[0][1], dense, atol=1e-4)


def test_values_that_cannot_be_sorted_stay():
    mixed = pd.Series(["a", 1, None], dtype=object)
    assert numbered(mixed) is mixed
    assert numbered(pd.Series(["b", None, "a", "b"])).tolist()[::3] == [1, 1]
