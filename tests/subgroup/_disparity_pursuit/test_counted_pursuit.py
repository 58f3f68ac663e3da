"""DisparityPursuit on rows that stand for many people, and on counts."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc import BlackBox, Counts, Rule
from skdisc.subgroup import DisparityPursuit
from skdisc.subgroup._disparity_pursuit._expectations import in_folds
from skdisc.subgroup._estimation._outcomes import Counted

PROTECTED = ["sex", "race"]
SETTINGS = {"protected": PROTECTED, "random_state": 0, "pos_label": 1}
NEITHER = ("total_time", "params", "n_queries", "shared_values")


def table(seed, n, gap=0.3, numeric=True):
    """Return people: sex = F in town u is `gap` lower; y depends on town and work."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "town": rng.choice(["u", "v", "w"], n),
            "work": rng.choice(["x", "y", "z"], n),
        }
    )
    if numeric:
        X["age"] = rng.integers(20, 60, n).astype(float)
        X.loc[rng.random(n) < 0.05, "age"] = np.nan
    here = (X["sex"] == "F") & (X["town"] == "u")
    p = 0.5 + 0.15 * (X["town"] == "v") + 0.1 * (X["work"] == "x") - gap * here
    return X, (rng.random(n) < p).astype(int)


def assert_equal(found, expected, path="result"):
    """Compare documents; numbers to 1e-9, relative to 1."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for name in expected:
            assert_equal(found[name], expected[name], f"{path}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), path
        for i, pair in enumerate(zip(found, expected, strict=True)):
            assert_equal(*pair, f"{path}[{i}]")
    elif isinstance(expected, float) and not isinstance(found, str | None):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), path
    else:
        assert found == expected, path


def document(result):
    """Return all of a result that the people determine."""
    return {k: v for k, v in json.loads(result.to_json()).items() if k not in NEITHER}


VARIANTS = [
    {},
    {"adjust_for": None},
    {"output": "value"},
    {"metric": "false_negative_rate"},
    {"borrow": False, "rule": Rule(min_effect=0.05)},
]


@pytest.mark.slow
@pytest.mark.every(5)
@pytest.mark.parametrize("more", VARIANTS, ids=str)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_frequencies_equal_repeated_rows(more, seed):
    """All findings, tables and the verdict, and what is drawn."""
    assert_frequencies_equal_repeated_rows(more, *table(seed, 500), seed)


@pytest.mark.slow
def test_frequencies_equal_repeated_rows_with_boosting_and_rows_held_out():
    assert_frequencies_equal_repeated_rows(
        {"nuisance": "boosting", "confirm": 0.4}, *table(0, 400), 0
    )


def assert_frequencies_equal_repeated_rows(more, X, y, seed):
    """Compare the results of rows with frequencies and of the rows repeated."""
    rng = np.random.default_rng(seed)
    times = rng.choice([1, 1, 2, 3], len(y))
    if more.get("output") == "value":
        y = 100 * y + rng.integers(0, 30, len(y))
    model = [None, None]
    if "metric" in more:
        decided = rng.integers(0, 2, len(y))
        model = [BlackBox(decisions=d) for d in (decided, np.repeat(decided, times))]
    at = np.repeat(np.arange(len(y)), times)
    given_ = {**SETTINGS, "nuisance": "additive", **more}
    direct = DisparityPursuit(**given_).fit(X.iloc[at].reset_index(drop=True), y[at], model[1])
    counted = DisparityPursuit(weights="frequency", **given_)
    assert counted._counts_rows
    counted.fit(X, y, model[0], sample_weight=times)
    assert_equal(document(counted.result_), document(direct.result_))
    if "metric" not in more:
        again = [
            direct.audit(X.iloc[at].reset_index(drop=True), y[at]),
            counted.audit(X, y, sample_weight=times),
        ]
        assert_equal(document(again[1]), document(again[0]))


@pytest.mark.every(3)
@pytest.mark.parametrize("nuisance", ["additive", "boosting"])
def test_counts_give_the_causes_of_the_rows(nuisance):
    X, y = table(1, 6000)
    counts = Counts.of(X.assign(y=y), protected=PROTECTED, label="y")
    detector = DisparityPursuit(nuisance=nuisance, **SETTINGS)
    (cause,) = detector.fit(counts).result_
    assert str(cause.subject) == "sex = 'F' and town = 'u'"
    assert abs(cause.effect + 0.3) < 0.06
    assert [f.subject for f in detector.fit(X, y).result_] == [cause.subject]


def test_millions_of_people_take_the_memory_of_their_cells():
    X, y = table(2, 6000, numeric=False)
    counts = Counts.of(X.assign(y=y), protected=PROTECTED, label="y")
    many = Counts(counts.schema, counts.keys, counts.n * 10**5)
    result = DisparityPursuit(k=1, nuisance="additive", **SETTINGS).fit(many).result_
    assert result.n_samples == 6 * 10**8
    assert len(result) == 1


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=40), st.integers(0, 100))
def test_folds_divide_the_people_of_each_row(times, seed):
    """Each person is in one fold of each repetition, and folds are of equal size."""
    X = pd.DataFrame({"x": np.arange(len(times))})
    rows = Counted(X, np.zeros(len(times), int), ["selection_rate"], np.array(times))
    divided, folds = in_folds(rows, "boosting", np.random.default_rng(seed))
    people = np.bincount(divided.X["x"], divided.frequency, minlength=len(times))
    np.testing.assert_array_equal(people, times)
    for fold in folds:
        sizes = np.bincount(fold, divided.frequency)
        assert len(sizes) == min(5, sum(times))
        assert np.ptp(sizes) <= 1


def test_people_of_a_row_are_in_all_folds():
    """A fold of whole cells would never see the outcome that it predicts."""
    X = pd.DataFrame({"x": [0, 0, 1, 1]})
    rows = Counted(X, np.array([0, 3, 0, 3]), ["selection_rate"], np.full(4, 10_000))
    divided, (fold,) = in_folds(rows, "boosting", np.random.default_rng(0))
    assert fold.max() == 2
    for k in range(3):
        at = fold == k
        own = np.bincount(divided.X["x"][at] * 2 + (divided.cell[at] == 3), divided.frequency[at])
        np.testing.assert_allclose(own, 10_000 / 3, rtol=0.1)


@pytest.mark.statistics
@pytest.mark.parametrize(("nuisance", "n", "most"), [("additive", 40, 5), ("boosting", 20, 4)])
def test_nothing_is_found_in_counts_where_legitimate_columns_explain_all(nuisance, n, most):
    """Sex goes with town and work, outcomes depend on both: the marginal gap is large."""
    found = 0
    for seed in range(n):
        rng = np.random.default_rng(seed)
        X, _ = table(seed, 1500, numeric=False)
        at = (X["town"] == "u"), (X["work"] == "x")
        X["sex"] = np.where(rng.random(1500) < 0.3 + 0.3 * at[0] + 0.2 * at[1], "F", "M")
        y = (rng.random(1500) < 0.3 + 0.4 * at[0] + 0.2 * at[1]).astype(int)
        counts = Counts.of(X.assign(y=y), protected=PROTECTED, label="y")
        detector = DisparityPursuit(**{**SETTINGS, "nuisance": nuisance, "random_state": seed})
        found += detector.fit(counts).result_.n_found > 0
    assert found <= most  # P(more) = 0.014, 0.003 at level 0.05; unadjusted, all are found


def test_estimators_of_expectations_need_rows():
    from sklearn.linear_model import LinearRegression

    X, y = table(3, 300)
    counts = Counts.of(X.assign(y=y), protected=PROTECTED, label="y")
    with pytest.raises(TypeError, match="needs the rows"):
        DisparityPursuit(nuisance=LinearRegression(), **SETTINGS).fit(counts)


def test_columns_of_which_most_values_are_equal_are_adjusted_for():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 600)})
    X["gain"] = np.where(rng.random(600) < 0.9, 0.0, rng.integers(1, 40, 600))
    again = pd.concat([X, X.iloc[:300]], ignore_index=True)  # equal rows, which are counted
    y = (rng.random(900) < 0.5).astype(int)
    assert DisparityPursuit(protected="sex", nuisance="additive").fit(again, y).result_.n_tested
