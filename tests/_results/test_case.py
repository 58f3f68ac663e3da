"""A case is a person, the counterpart, and what changed."""

import pickle

import numpy as np
import pandas as pd
import pytest

from skdisc import Case

ROW = {"sex": "F", "age": 30, "income": 1.5}


def case(outcome=0.0, altered_outcome=1.0, **changes):
    return Case(ROW, {**ROW, **changes}, outcome, altered_outcome)


def test_what_was_changed():
    assert case(sex="M").changed == ("sex",)
    assert case(income=2.0, sex="M").changed == ("sex", "income")
    assert case().changed == ()
    assert case(age=30.0).changed == ()


@pytest.mark.parametrize("gone", [None, np.nan, pd.NA])
def test_missing_is_a_value(gone):
    assert case(sex=gone).changed == ("sex",)
    assert Case({"sex": gone}, {"sex": gone}, 0.0, 1.0).changed == ()
    assert Case({"sex": gone}, {"sex": None}, 0.0, 1.0).changed == ()


@pytest.mark.parametrize(("mine", "theirs", "effect"), [(0, 1, -1), (0.75, 0.25, 0.5), (1, 1, 0)])
def test_effect_is_subject_minus_counterpart(mine, theirs, effect):
    assert case(mine, theirs, sex="M").effect == effect


def test_text():
    assert str(case(sex="M")) == "sex 'F' -> 'M': outcome 0 -> 1"
    both = case(0.1234, 0.9, sex=None, age=31)
    assert str(both) == "sex 'F' -> missing, age 30 -> 31: outcome 0.123 -> 0.9"


def test_equality_and_hash():
    assert case(sex="M") == case(sex="M")
    assert case(sex="M") != case(sex="X")
    assert case(sex="M") != case(1.0, 0.0, sex="M")
    same = Case(dict(reversed(ROW.items())), {**ROW, "age": 30.0}, 0, 1)
    assert same == case()
    assert hash(same) == hash(case())
    assert len({case(sex="M"), case(sex="M"), case(sex="X")}) == 2


def test_frozen_and_pickle():
    one = case(sex="M")
    with pytest.raises(AttributeError):
        one.outcome = 1.0
    assert pickle.loads(pickle.dumps(one)) == one
