"""Detectors that compare groups in pairs take a stated sample of large, wide tables."""

import math

import numpy as np
import pandas as pd
import pytest

from skdisc import BlackBox, Limits
from skdisc._task import _large_tables
from skdisc.group import EffectDecomposition, OaxacaBlinder, RiskAdjustedRegression

FAST = {
    EffectDecomposition: {"nuisance": "linear", "classifier": "linear", "mediators": ["a", "b"]},
    OaxacaBlinder: {},
    RiskAdjustedRegression: {"learner": "linear"},
}
EACH = pytest.mark.parametrize("kind", FAST)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Sample tables of more than 400 different rows and 3 columns."""
    monkeypatch.setattr(_large_tables, "FEW", 3)
    for kind in FAST:
        monkeypatch.setattr(kind, "_most", 400)


def table(n, values=30):
    """Return people of whom one in twenty are in group c, their outcomes, and decisions."""
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"race": draw.choice(["a", "b", "c"], n, p=[0.5, 0.45, 0.05])})
    for name in "abcd":
        X[name] = draw.integers(0, values, n)
    outcome = (draw.random(n) < 0.3 + 0.4 * X["a"] / values).astype(int)
    return X, outcome, (X["a"] + draw.normal(0, values / 3, n) > values / 2).astype(int)


def fitted(kind, X, outcome, decisions, **settings):
    settings = {"protected": "race", "random_state": 0, "pos_label": 1} | FAST[kind] | settings
    return kind(**settings).fit(X, outcome, BlackBox(decisions=decisions))


@EACH
def test_a_large_wide_table_is_sampled_and_the_result_says_so(kind):
    X, outcome, decisions = table(4000)
    detector = fitted(kind, X, outcome, decisions)
    rows, result = detector.sampled_rows_, detector.result_
    assert len(rows) == result.n_samples == 400
    assert result.n_drawn_from == 4000
    assert any(note.startswith("400 of 4,000 rows were used") for note in result.notes)
    everybody = Limits(rows=math.inf)
    drawn = X.iloc[rows], outcome[rows], decisions[rows]
    alone = fitted(kind, *drawn, limits=everybody).result_.findings.table
    numbers = result.findings.table.select_dtypes("number")
    pd.testing.assert_frame_equal(numbers, alone.select_dtypes("number"))


@EACH
def test_groups_are_drawn_in_proportion_as_pairs_have_no_weights(kind):
    X, outcome, decisions = table(4000)
    rows = fitted(kind, X, outcome, decisions).sampled_rows_
    expected = X["race"].value_counts() / 10
    assert (X["race"].iloc[rows].value_counts() - expected).abs().max() <= 1


@EACH
@pytest.mark.parametrize(
    ("n", "values", "settings"),
    [
        (400, 30, {}),
        (1500, 2, {}),  # many rows, few different ones
        (1500, 30, {"limits": Limits(rows=math.inf)}),
    ],
)
def test_other_tables_are_not(kind, n, values, settings):
    assert fitted(kind, *table(n, values), **settings).sampled_rows_ is None


def test_few_columns_are_not_sampled():
    X, outcome, decisions = table(1500)
    detector = fitted(OaxacaBlinder, X, outcome, decisions, adjust_for=["a", "b", "c"])
    assert detector.sampled_rows_ is None
