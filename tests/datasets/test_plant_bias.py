"""A bias planted in the user's own data is there, at the rate asked for, and is found."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import Predicate, Subgroup
from skdisc.datasets import make_hiring, make_loan, plant_bias
from skdisc.subgroup import DivExplorer

MEN = Predicate.equals("gender", "male")


@given(rate=st.floats(-1, 1), seed=st.integers(0, 99), text=st.booleans())
def test_the_rate_is_obtained(rate, seed, text):
    X, y = make_loan(60, random_state=1, return_X_y=True)
    y = y.map({0: "no", 1: "yes"}) if text else y
    X.index = y.index = range(100, 160)
    label = "yes" if text else None
    planted = plant_bias(X, y, MEN, rate, pos_label=label, random_state=seed)
    truth, favorable = planted.truth, "yes" if text else 1
    men = (X["gender"] == "male").to_numpy()
    np.testing.assert_array_equal(truth.members, men)
    np.testing.assert_array_equal(truth.changed, (planted.target != y).to_numpy())
    assert not (truth.changed & ~men).any()
    could = men & ((y == favorable).to_numpy() == (rate < 0))
    assert truth.changed.sum() == round(abs(rate) * could.sum())
    assert truth.rate == pytest.approx(rate, abs=0.5 / could.sum() + 1e-12)
    assert truth.after == pytest.approx((planted.target[men] == favorable).mean())
    assert truth.effect == pytest.approx(truth.after - truth.before)
    others = (y[~men] == favorable).mean()
    assert truth.gap_after == pytest.approx(truth.after - others)
    assert planted.data is X
    assert planted.frame.index.equals(X.index)
    again = plant_bias(X, y, MEN, rate, pos_label=label, random_state=seed)
    pd.testing.assert_series_equal(planted.target, again.target)


def test_scores_are_shifted():
    made = make_hiring(200, random_state=0)
    planted = plant_bias(made.data, made.probability, MEN, -0.2, kind="shift")
    men = planted.truth.members
    np.testing.assert_allclose(planted.target - made.probability, -0.2 * men)
    assert planted.truth.effect == pytest.approx(-0.2)
    assert planted.truth.rate == -0.2


def test_favorable_is_what_the_caller_says():
    X, y = make_loan(200, random_state=0, return_X_y=True)
    planted = plant_bias(X, y, MEN, 1.0, pos_label=0, random_state=0)
    assert (planted.target[planted.truth.members] == 0).all()
    everyone = plant_bias(X, y, Subgroup(), 1.0)
    assert np.isnan(everyone.truth.gap_after)
    assert everyone.truth.after == 1


def test_it_is_found():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 4000), "town": rng.choice(list("abc"), 4000)})
    y = pd.Series(rng.integers(0, 2, 4000))
    group = Subgroup([Predicate.equals("sex", "F"), Predicate.equals("town", "b")])
    planted = plant_bias(X, y, group, -0.5, random_state=0)
    result = DivExplorer(protected="sex", pos_label=1).fit(X, planted.target).result_
    assert result[0].subject == group


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rate": 2}, r"rate must be a share in \[-1, 1\]"),
        ({"pos_label": 7}, "pos_label=7 never occurs"),
        ({"subgroup": Predicate.equals("gender", "x")}, "No row of X is in the subgroup"),
        ({"y": list(range(50))}, "two classes"),
        ({"kind": "swap"}, "'kind'"),
    ],
)
def test_wrong_arguments(wrong, message):
    X, y = make_loan(50, random_state=0, return_X_y=True)
    with pytest.raises(ValueError, match=message):
        plant_bias(**{"X": X, "y": y, "subgroup": MEN, "rate": 0.5, **wrong})
    with pytest.raises(TypeError, match="share"):
        plant_bias(X, y, MEN, 0.5, share=1)


@pytest.mark.parametrize("name", [None, 1, "x"])
def test_labels_stand_beside_the_columns(name):
    X = pd.DataFrame({"g": ["f", "m"] * 20, "x": np.arange(40.0)})
    y = pd.Series([0, 1] * 20, name=name)
    if name == "x":
        with pytest.raises(ValueError, match="y has the name 'x'"):
            plant_bias(X, y, Predicate.equals("g", "f"), 0.5, random_state=0)
        return
    frame = plant_bias(X, y, Predicate.equals("g", "f"), 0.5, random_state=0).frame
    assert frame.columns.tolist() == ["g", "x", "target" if name is None else name]
