"""Noise that depends on the parents is noticed, and modeled on request."""

import numpy as np
import pandas as pd
import pytest

from skdisc.causal import StructuralCausalModel
from skdisc.causal._residual_check import residual_notes


def noted(pay, sex, **settings):
    X = pd.DataFrame({"sex": sex, "pay": pay})
    scm = StructuralCausalModel([("sex", "pay")], **settings).fit(X)
    return residual_notes(scm, X), scm, X


def test_spread_that_depends_on_a_parent():
    rng = np.random.default_rng(0)
    sex, u = rng.choice(["F", "M"], 800), rng.normal(size=800)
    assert noted(10 + (sex == "M") + u, sex)[0] == []
    pay = 10 + (sex == "M") + u * np.where(sex == "M", 3, 1)
    notes, _, X = noted(pay, sex)
    assert len(notes) == 1
    assert "noise={'pay': 'heteroscedastic'}" in notes[0]
    notes, scm, X = noted(pay, sex, noise="heteroscedastic")
    assert notes == []
    there = scm.counterfactual(X, {"sex": "M"})["pay"].to_numpy()
    women = sex == "F"
    ratio = X["pay"][~women].std(ddof=0) / X["pay"][women].std(ddof=0)
    away = X["pay"][women] - X["pay"][women].mean()
    assert there[women] == pytest.approx(X["pay"][~women].mean() + ratio * away, rel=1e-6)
    back = scm.counterfactual(X, {"sex": X["sex"].to_numpy()})
    pd.testing.assert_frame_equal(back, X)


def test_a_multiplicative_link_is_noticed():
    rng = np.random.default_rng(1)
    sex = rng.choice(["F", "M"], 800)
    pay = np.exp(0.8 * (sex == "M") + 0.4 * rng.normal(size=800))
    assert "'multiplicative'" in noted(pay, sex)[0][0]
    assert noted(pay, sex, noise="multiplicative")[0] == []
