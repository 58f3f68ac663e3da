"""The display of a case: the values of both people, and what differs."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from skdisc.group import GroupDisparity
from skdisc.individual import Themis
from skdisc.plotting import CaseDisplay


def women_are_refused(X):
    return ((X["sex"] == "m") & (X["points"] > 3)).astype(int)


@pytest.fixture
def result():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 60), "points": rng.integers(0, 9, 60)})
    return Themis(protected="sex", random_state=0).fit(X, model=women_are_refused).result_


def test_table_has_both_people_and_marks_what_differs(result):
    display = CaseDisplay.from_result(result, case=1)
    case = result[1].subject
    assert display.table["person"].to_dict() == case.original | {"outcome": case.outcome}
    assert display.table["counterpart"].to_dict() == case.altered | {
        "outcome": case.altered_outcome
    }
    assert display.table["differs"].to_dict() == {"sex": True, "points": False, "outcome": True}
    drawn = [text.get_text() for text in display.ax_.texts]
    assert {"f", "m", "0", "1", "sex", "points", "outcome"} <= set(drawn)
    plt.close("all")


def test_long_and_missing_values_are_drawn_short():
    table = pd.DataFrame(
        {"person": ["x" * 50, None, 0.0], "counterpart": ["y", 1.23456789, 1.0]},
        index=["a", "b", "outcome"],
        dtype=object,
    ).assign(differs=True)
    texts = {text.get_text() for text in CaseDisplay(table).plot().ax_.texts}
    assert {"x" * 23 + "…", "missing", "1.235"} <= texts
    plt.close("all")


@pytest.mark.parametrize("case", [-100, 10_000])
def test_a_case_that_is_not_there_is_refused(result, case):
    with pytest.raises(ValueError, match=rf"No case at position {case}: this Themis result has"):
        CaseDisplay.from_result(result, case=case)


def test_groups_are_no_cases():
    X = pd.DataFrame({"sex": ["f", "m"] * 30})
    other = GroupDisparity(protected="sex").fit(X, [0, 1] * 30).result_
    with pytest.raises(ValueError, match="GroupDisparity result has 0 individual cases"):
        CaseDisplay.from_result(other)
