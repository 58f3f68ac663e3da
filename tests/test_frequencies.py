"""Rows that stand for many people: results are those of the repeated rows."""

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from skdisc import BlackBox
from skdisc.group import GroupDisparity
from skdisc.subgroup import (
    Bins,
    DiscriminationPatterns,
    DiscriminatoryRules,
    DivExplorer,
    SliceFinder,
    SliceLine,
)

DETECTORS = {
    "groups": lambda: GroupDisparity(protected=["sex", "race"], n_resamples=19, random_state=0),
    "all measures": lambda: GroupDisparity(
        protected="sex", measures="all", n_resamples=9, random_state=0
    ),
    "numbers": lambda: GroupDisparity(protected=["age", "sex"], n_bins=3, random_state=0),
    "preset": lambda: GroupDisparity(protected=["race", "sex"], preset="ll144", random_state=0),
    "rest": lambda: GroupDisparity(
        protected="race", reference="rest", missing="drop", random_state=0
    ),
    "scores": lambda: GroupDisparity(protected=["race"], output="probability", random_state=0),
    "subgroups": lambda: DivExplorer(protected=["sex", "race"], n_bins=3, random_state=0),
    "subgroups of all": lambda: DivExplorer(
        protected="sex", metric="all", max_predicates=2, explain=True, random_state=0
    ),
    "subgroups, published": lambda: DivExplorer(
        protected="sex", versus="everyone", min_support=0.1, random_state=0
    ),
    "overall": lambda: GroupDisparity(
        protected="race", reference="overall", n_resamples=19, random_state=0
    ),
    "rules": lambda: DiscriminatoryRules(protected=["sex", "race"], min_support=0.05),
    "rules, published": lambda: DiscriminatoryRules(
        protected="sex", measure="olift", distinct=False, order="effect", min_support=0.05
    ),
    "slices": lambda: SliceLine(protected=["sex", "race"], min_rows=2),
    "slices, published": lambda: SliceLine(protected="race", versus="everyone", min_rows=2),
    "losses": lambda: SliceLine(protected="sex", errors="unfavorable", min_rows=5, k=3),
    "problematic slices": lambda: SliceFinder(protected=["sex", "race"], min_rows=2),
    "problematic slices, published": lambda: SliceFinder(
        protected="sex", versus="everyone", min_rows=2
    ),
    "patterns": lambda: DiscriminationPatterns(protected=["sex", "race"], random_state=0),
    "patterns of people": lambda: DiscriminationPatterns(
        protected="sex", min_support=0.05, binarize="median", max_predicates=2
    ),
    "nested bins": lambda: DivExplorer(
        protected="sex", n_bins=Bins(4, nested=True), max_predicates=2
    ),
}

SUMS_OF_NUMBERS = {"scores"}
LARGE = [
    lambda: GroupDisparity(protected=["sex", "age"], random_state=0),
    lambda: DivExplorer(protected="sex", random_state=0),
    lambda: SliceLine(protected="sex"),
    lambda: SliceFinder(protected="sex"),
    lambda: DiscriminatoryRules(protected="sex"),
]
MODELED = [lambda: DiscriminationPatterns(protected="sex", random_state=0)]
CONFIRMED = [
    lambda: GroupDisparity(protected="sex"),
    lambda: DivExplorer(protected="sex"),
    lambda: SliceLine(protected="sex"),
    lambda: DiscriminatoryRules(protected="sex"),
]


@st.composite
def tables(draw):
    """Draw a table with few distinct rows, labels, decisions, and a frequency of each row."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(4, 60))
    X = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c", None], n, p=[0.4, 0.3, 0.2, 0.1]),
            "age": rng.integers(20, 20 + draw(st.sampled_from([3, 40])), n),
            "pay": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(1)),
        }
    )
    X.loc[[0, 1], "sex"], X.loc[[0, 1], "race"] = ["f", "m"], ["a", "b"]
    X.loc[[0, 1], "age"] = [20, 22]
    most = draw(st.sampled_from([1, 4, 300]))
    frequency = rng.integers(0 if most > 1 else 1, most + 1, n)
    frequency[:4] = np.maximum(frequency[:4], 1)
    y, decided = rng.random(n) < 0.5, rng.random(n) < 0.5
    y[:2] = decided[:2] = [True, False]
    y[2:4] = decided[2:4] = [False, True]
    return X, y.astype(int), decided.astype(int), frequency


def one(make, table, kind, counted):
    """Return a detector fitted to frequencies (`counted`), or to repeated rows."""
    X, y, decided, frequency = table
    detector = make()
    model = of_ages(X, decided) if kind == "model" else None
    if counted:
        box = BlackBox(decisions=decided) if kind == "decisions" else model
        return detector.set_params(weights="frequency").fit(X, y, box, sample_weight=frequency)
    again = np.repeat(np.arange(len(X)), frequency)
    box = BlackBox(decisions=decided[again]) if kind == "decisions" else model
    return detector.fit(X.iloc[again].reset_index(drop=True), y[again], box)


def of_ages(X, decided):
    """Return a fitted model that reads the age only."""
    return OfAges().fit(X, decided)


class OfAges(DecisionTreeClassifier):
    """A tree on the column of ages."""

    def fit(self, X, y):
        return super().fit(X[["age"]], y)

    def predict(self, X, check_input=True):
        return super().predict(X[["age"]])

    def predict_proba(self, X, check_input=True):
        return super().predict_proba(X[["age"]])


def comparable(result):
    """Return a result without times, queries and settings, and without notes on copies."""
    told = json.loads(result.to_json())
    for name in ("total_time", "n_queries", "params"):
        told.pop(name)
    of_copies = "rows seem to be copies", "rows are copies of others", "the same outcome"
    notes = told["discovery"]["notes"]
    told["discovery"]["notes"] = [n for n in notes if not any(c in n for c in of_copies)]
    return told


def differences(one, other, path="", tolerance=0.0):
    """Yield what differs between two documents, numbers by more than a relative tolerance."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}):
            both = one.get(name, "none"), other.get(name, "none")
            yield from differences(*both, f"{path}.{name}", tolerance)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, both in enumerate(zip(one, other, strict=True)):
            yield from differences(*both, f"{path}[{i}]", tolerance)
    elif isinstance(one, float) and isinstance(other, float):
        if not abs(one - other) <= tolerance * max(1, abs(one)):
            yield path, one, other
    elif one != other:
        yield path, one, other


@pytest.mark.every(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("kind", ["labels", "decisions", "model"])
@settings(max_examples=4)
@given(table=tables())
def test_frequencies_give_the_results_of_repeated_rows(name, kind, table):
    tolerance = 1e-12 if name in SUMS_OF_NUMBERS else 0.0
    told = []
    for counted in (True, False):
        told.append(comparable(one(DETECTORS[name], table, kind, counted).result_))
    assert not list(differences(*told, tolerance=tolerance))


@pytest.mark.parametrize("make", LARGE + MODELED)
def test_ten_billion_people_take_no_memory_of_their_own(make):
    rng = np.random.default_rng(0)
    n = 1000
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(list("abc"), n)})
    X["age"] = rng.integers(20, 60, n)
    y = (rng.random(n) < np.where(X["sex"] == "f", 0.3, 0.6)).astype(int)
    frequency = rng.integers(1, 2 * 10**7, n)
    frequency[:9] = 10**9
    tracemalloc.start()
    result = make().set_params(weights="frequency").fit(X, y, sample_weight=frequency).result_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.n_samples == frequency.sum() > 10**10
    first = result.findings.subgroups[0]
    assert result.to_frame()["support"][0] == frequency[first.mask(X)].sum()
    assert peak < 200 * 2**20


@pytest.mark.parametrize("make", CONFIRMED)
def test_people_of_one_row_are_held_out_at_random(make):
    X = pd.DataFrame({"sex": ["f", "f", "m", "m"] * 2, "race": ["a"] * 4 + ["b"] * 4})
    y, frequency = [1, 0] * 4, np.array([300, 700, 600, 400] * 2)
    detector = make().set_params(weights="frequency", confirm=0.25, random_state=0)
    result = detector.fit(X, y, sample_weight=frequency).result_
    assert any("3000" in note and "1000" in note for note in result.notes)
    table = result.to_frame()
    assert result.n_found
    assert table["held_out_effect"].notna().all()
    assert (table["held_out_support"] < 0.4 * table["support"]).all()


def test_rows_of_a_model_that_is_trained_here_are_repeated():
    X = pd.DataFrame({"sex": ["f", "m"] * 20, "age": np.arange(40)})
    y, frequency = (np.arange(40) % 3 == 0).astype(int), np.arange(40) % 4
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    pipe = make_pipeline(OrdinalEncoder(), tree)
    again = np.repeat(np.arange(40), frequency)
    own = {"protected": "sex", "estimator": pipe, "n_resamples": 0, "random_state": 0}
    counted = GroupDisparity(**own, weights="frequency").fit(X, y, sample_weight=frequency)
    repeated = GroupDisparity(**own).fit(X.iloc[again].reset_index(drop=True), y[again])
    assert not list(differences(comparable(counted.result_), comparable(repeated.result_)))


@pytest.mark.parametrize("make", [DETECTORS["groups"], *LARGE, *MODELED])
def test_an_audit_of_frequencies_is_that_of_repeated_rows(make):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 60), "race": rng.choice(list("ab"), 60)})
    X["age"] = rng.integers(20, 60, 60)
    y, frequency = (rng.random(60) < 0.5).astype(int), rng.integers(0, 9, 60)
    again = np.repeat(np.arange(60), frequency)
    detector = make().set_params(weights="frequency").fit(X, y)
    other = X.assign(sex=np.where(np.arange(60) < 5, "x", X["sex"]))
    more = other.iloc[again].reset_index(drop=True)
    counted = detector.audit(other, y, sample_weight=frequency)
    assert not list(differences(comparable(counted), comparable(detector.audit(more, y[again]))))


def test_measures_of_single_rows_refuse_too_many_people():
    X, y = pd.DataFrame({"sex": ["f", "m"] * 4, "age": [1, 1, 2, 2] * 2}), [1, 0, 1, 1] * 2
    detector = GroupDisparity(protected="sex", output="probability", weights="frequency")
    model, frequency = of_ages(X, y), [10**9] * 8
    assert detector.fit(X, y, model, sample_weight=frequency).result_.n_samples == 8 * 10**9
    with pytest.raises(ValueError, match="at most 100,000,000"):
        detector.set_params(measures=["area_under_curve"]).fit(X, y, model, sample_weight=frequency)


def test_shared_values_are_of_people():
    X = pd.DataFrame({"sex": ["f", "m", "x"], "race": ["a", "b", "b"]})
    detector = GroupDisparity(protected="sex", weights="frequency", n_resamples=0)
    result = detector.fit(X, [1, 0, 1], sample_weight=[10, 30, 9]).result_
    assert result.shared_values == {"sex": ["m", "f"], "race": ["b", "a"]}


@pytest.mark.parametrize("wrong", [[1, 2.5, 1, 1], [-1, 1, 1, 1], [2.0**62, 2.0**62, 1, 1]])
def test_frequencies_are_whole_numbers(wrong):
    X = pd.DataFrame({"sex": ["f", "m"] * 2})
    with pytest.raises(ValueError, match=r"whole|>= 0|2\*\*62"):
        GroupDisparity(protected="sex", weights="frequency").fit(
            X, [1, 0, 0, 1], sample_weight=wrong
        )
