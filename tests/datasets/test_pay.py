"""make_pay: the law of its docstring, and the gap that is planted."""

import numpy as np
import pandas as pd
import pytest

from skdisc.datasets import make_pay
from skdisc.group import EffectDecomposition, OaxacaBlinder


def test_the_direct_gap_is_that_of_the_category():
    made = make_pay(20_000, direct=(0.0, 0.1, 0.2), random_state=0)
    assert made.direct == {"assistant": 0.0, "specialist": 0.1, "manager": 0.2}
    lacking = 1 - made.target / made.pay_as_man
    expected = made.data["category"].map(made.direct) * (made.data["gender"] == "female")
    assert lacking.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-12)


def test_pay_follows_its_law():
    made = make_pay(50_000, spread=0.0, direct=(0, 0, 0), random_state=0)
    X = made.data
    base = X["category"].map({"assistant": 18, "specialist": 26, "manager": 40})
    law = base * 1.03 ** X["education"] * 1.01 ** X["experience"]
    assert made.target.to_numpy() == pytest.approx(law.to_numpy())
    assert (X["gender"] == "female").mean() == pytest.approx(0.45, abs=0.01)
    women = X[X["gender"] == "female"]
    assert women["experience"].mean() == pytest.approx(40 * 1.5 / 4.5, abs=0.2)
    assert (women["category"] == "manager").mean() < (X["category"] == "manager").mean()


def test_frames_and_arrays_are_of_the_same_people():
    frame, arrays = (make_pay(50, as_frame=flag, random_state=1) for flag in (True, False))
    assert arrays.frame is None
    assert arrays.target == pytest.approx(frame.target.to_numpy())
    assert arrays.data[:, 2] == pytest.approx(frame.data["experience"].to_numpy())
    assert (arrays.data[:, 0] == (frame.data["gender"] == "female")).all()
    X, y = make_pay(50, return_X_y=True, random_state=1)
    pd.testing.assert_frame_equal(X, frame.data)
    pd.testing.assert_series_equal(y, frame.target)


@pytest.mark.parametrize("direct", [(0.1,), (0, 0, 2.0)])
def test_wrong_gaps_are_refused(direct):
    with pytest.raises(ValueError, match="direct must be three shares"):
        make_pay(direct=direct)


@pytest.mark.slow
def test_decompositions_recover_the_direct_gap_by_category():
    """Of the logarithm, which is additive; each category is a small firm of its own."""
    made = make_pay(20_000, random_state=0)
    for category, gap in made.direct.items():
        own = made.data["category"] == category
        X, y = made.data[own].drop(columns="category"), np.log(made.target[own])
        for detector in (OaxacaBlinder, EffectDecomposition):
            fitted = detector(protected="gender", output="value", random_state=0).fit(X, y)
            finding = fitted.result_.to_frame().iloc[0]
            assert finding["ci_low"] - 0.002 < np.log(1 - gap) < finding["ci_high"] + 0.002
            assert (finding["p_adjusted"] < 0.01) == (gap > 0)
