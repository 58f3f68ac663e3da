"""The default surrogate takes the frames that people have."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from skdisc._blackbox._default_models import DEFAULT_MODELS, default_model, surrogate
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


@pytest.mark.parametrize("names", [["sex", "n"], [0, 1], [1, 0]])
def test_a_surrogate_is_asked_whatever_columns_are_called(names):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M", None], 60), "n": rng.integers(0, 9, 60)})
    y = (X["n"] + 3 * (X["sex"] == "M") > 5).astype(int)
    X = X.astype({"sex": "string", "n": "Int64"}).mask(rng.random((60, 2)) < 0.1)
    results = []
    for frame in (X, X.set_axis(names, axis=1)):
        search = SG(protected=[frame.columns[0]], max_tests=20, n_samples=50, random_state=0)
        results.append(search.fit(frame, y).result_)
    assert results[0].n_tested == results[1].n_tested > 0
    assert results[0].n_found == results[1].n_found
