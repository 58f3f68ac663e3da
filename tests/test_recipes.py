"""The default surrogate takes the frames that people have."""

import numpy as np
import pandas as pd
import pytest

from skdisc._recipes import recipe, surrogate


def people():
    rng = np.random.default_rng(0)
    town, points = rng.choice(list("abc"), 80), rng.integers(0, 9, 80)
    return pd.DataFrame({"points": points, "town": town}), (points > 4).astype(int)


@pytest.mark.parametrize("name", [None, "boosting", "logistic"])
def test_names_that_are_numbers_are_no_positions(name):
    X, y = people()
    make = surrogate if name is None else lambda: recipe(name, random_state=0)
    expected = make().fit(X, y).predict(X)
    numbered = X.set_axis([1, 0], axis=1)
    assert (make().fit(numbered, y).predict(numbered) == expected).all()


def test_missing_values_of_masked_columns():
    X, y = people()
    X["ok"] = X["points"] > 2
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    masked = X.astype({"points": "Int64", "town": "string", "ok": "boolean"})
    before = masked.copy()
    plain = X.astype({"points": float, "ok": float})
    assert (
        surrogate().fit(masked, y).predict(masked) == surrogate().fit(plain, y).predict(plain)
    ).all()
    pd.testing.assert_frame_equal(masked, before)
