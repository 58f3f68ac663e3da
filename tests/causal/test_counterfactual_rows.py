"""Counterfactual rows from a model, a function and a file are the same rows."""

import numpy as np
import pandas as pd
import pytest

from skdisc.causal import StructuralCausalModel
from skdisc.causal._counterfactual_rows import counterfactual_rows

DO = {"sex": {"F": "M", "M": "F"}}


@pytest.fixture(name="X")
def people():
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 40)
    frame = pd.DataFrame({"town": rng.choice(list("ab"), 40), "sex": sex})
    return frame.assign(pay=rng.normal(size=40) + (sex == "M")).set_index(np.arange(40) * 3)


@pytest.fixture
def scm():
    return StructuralCausalModel([("sex", "pay")])


def test_all_sources_agree(X, scm):
    rows, decisions = counterfactual_rows(scm, X, DO)
    assert decisions is None
    assert not hasattr(scm, "mechanisms_")
    fitted = scm.fit(X)
    given = rows.reset_index(drop=True)
    for source in (
        fitted,
        lambda frame, do: fitted.counterfactual(frame, do)[["pay", "sex"]],
        given,
        given[["pay"]],
        rows,
    ):
        pd.testing.assert_frame_equal(counterfactual_rows(source, X, DO)[0], rows)
    same, decisions = counterfactual_rows((given, np.arange(40) % 2), X, None)
    pd.testing.assert_frame_equal(same, rows)
    assert decisions.tolist() == [0, 1] * 20
    pd.testing.assert_frame_equal(counterfactual_rows(None, X, {"sex": "M"})[0], X.assign(sex="M"))
    blocked, _ = counterfactual_rows(fitted, X, DO, block=[("sex", "pay")])
    assert (blocked["pay"] == X["pay"]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.iloc[:-1], "39 rows, but X has 40"),
        (lambda X: X.assign(wage=1), r"\['wage'\], which X does not have"),
        (lambda X: X.assign(pay=np.nan), "missing values in column 'pay'"),
        (lambda X: (X, [1, 0]), "decisions has 2 rows"),
    ],
)
def test_what_is_not_aligned_is_refused(X, change, message):
    with pytest.raises(ValueError, match=message):
        counterfactual_rows(change(X), X, DO)


def test_other_sources_are_refused(X):
    with pytest.raises(TypeError, match="must be a StructuralCausalModel"):
        counterfactual_rows(3, X, DO)
    with pytest.raises(TypeError, match="returned a list"):
        counterfactual_rows(lambda X, do: [1], X, DO)
    with pytest.raises(ValueError, match="block= needs"):
        counterfactual_rows(X, X, DO, block=[("sex", "pay")])
