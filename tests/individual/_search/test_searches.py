"""What every search keeps to, against exhaustive enumeration and the exact set of a tree."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import (
    PATIENT,
    SPACE,
    cases_of,
    every,
    inputs_of,
    make,
    quick,
    search,
    truth,
)

from skdisc import BlackBox, FeatureSpace, Limits, all_detectors
from skdisc.individual import _prober as probe_module
from skdisc.individual._search._base import SearchDetector

pytestmark = pytest.mark.usefixtures("nothing_repeated")


def test_every_search_is_checked():
    """One without an entry in tests/searches.py is checked with its default settings."""
    searches = {n for n, c in all_detectors().items() if issubclass(c, SearchDetector)}
    assert searches <= set(PATIENT)


@every
@given(kind=st.sampled_from(["tree", "logistic"]), seed=st.integers(0, 1000))
@settings(max_examples=3)
def test_what_is_found_is_true_and_differs_in_protected_columns_only(name, kind, seed):
    X, y, model = make(kind, seed)
    result = quick(name, space=SPACE, random_state=seed).fit(X, y, model).result_
    cases = truth(model)
    found = inputs_of(result)
    assert len(found) == len(set(found)) == result.n_found
    assert all(cases[x] for x in found)
    before, after = result.findings.original, result.findings.altered
    others = ["a", "job", "b"]
    pd.testing.assert_frame_equal(before[others], after[others])
    assert ((before[["sex", "race"]] != after[["sex", "race"]]).sum(axis=1) == 1).all()
    assert (model.predict(before) == 0).all()
    assert (model.predict(after) == 1).all()
    assert result.n_tested <= 8 * 3 * 6


@every
@pytest.mark.parametrize("kind", ["tree", "logistic"])
def test_all_cases_of_a_small_space_are_found_given_budget(name, kind):
    X, y, model = make(kind, 3)
    result = search(name, space=SPACE).fit(X, y, model).result_
    assert set(inputs_of(result)) == cases_of(model)
    assert result.stopped_by is None


@every
@pytest.mark.parametrize("limit", ["tests", "found", "queries"])
@pytest.mark.parametrize("most", [0, 5, 20])
def test_no_limit_is_exceeded_and_the_one_that_ended_it_is_named(name, limit, most):
    X, y, model = make("tree", 1)
    result = quick(name, space=SPACE, limits=Limits(**{limit: most})).fit(X, y, model).result_
    spent = {"tests": "n_tested", "found": "n_found", "queries": "n_queries"}
    assert getattr(result, spent[limit]) <= most
    assert result.stopped_by == limit
    if limit == "found":
        assert result.n_found == most


@every
def test_no_time_no_test(name):
    X, y, model = make("tree", 1)
    result = quick(name, space=SPACE, limits=Limits(seconds=0.0)).fit(X, y, model).result_
    assert (result.n_tested, result.stopped_by) == (0, "seconds")


@pytest.mark.every(6)
@every
@pytest.mark.parametrize("kind", ["tree", "logistic"])
def test_neither_chunks_nor_threads_nor_batches_change_anything(name, kind, monkeypatch):
    X, y, model = make(kind, 2)

    def run(size=100_000, n_jobs=None):
        detector = quick(name, space=SPACE, limits=Limits(tests=110))
        return detector.fit(X, y, BlackBox(model, chunk_size=size, n_jobs=n_jobs)).result_

    whole = run()
    assert run(7) == whole
    assert run(13, n_jobs=2) == whole
    monkeypatch.setattr(probe_module, "ROWS_AT_ONCE", 24)
    assert run() == whole


@every
def test_no_row_is_asked_twice_for_a_decision(name):
    X, y, model = make("tree", 4)
    asked = []
    decide = lambda A: (asked.append(SPACE.encode(A)), model.predict(A))[1]  # noqa: E731
    result = quick(name, space=SPACE, limits=Limits(tests=60)).fit(X, y, decide).result_
    rows = np.concatenate(asked)
    assert len(rows) == result.n_queries
    keys, times = np.unique(rows, axis=0, return_counts=True)
    assert times.max() <= 2  # once for the decision, once more for its margin
    assert len(keys) >= 6 * result.n_tested


@every
def test_searches_run_from_a_space_alone(name):
    _, _, model = make("logistic", 0)
    result = quick(name).fit(SPACE, model=model).result_
    assert result.n_found > 0
    assert result.n_samples == 0


@every
def test_probabilities_and_the_gap_that_counts(name):
    space = FeatureSpace.from_domains({"n": (0, 9), "sex": ["F", "M"]}, protected="sex")
    model = lambda X: 0.1 + 0.05 * X["n"] * (X["sex"] == "M")  # noqa: E731
    detector = search(name, output="probability", min_gap=0.21)
    result = detector.fit(space, model=model).result_
    assert sorted(result.findings.original["n"]) == [5, 6, 7, 8, 9]


@every
def test_immutable_columns_stay(name):
    space = FeatureSpace(SPACE.columns, ["sex", "race"], immutable=["a"])
    X, y, model = make("tree", 5)
    X = X.assign(a=3)
    detector = search(name, space=space)
    if "seeds" in detector.get_params() and detector.seeds != "boundary":
        detector.set_params(seeds="data")
    if "generator" in detector.get_params():
        detector.set_params(generator="copula")
    found = inputs_of(detector.fit(X, y, model).result_)
    assert {x[0] for x in found} == {3}
    assert set(found) <= cases_of(model)


@every
def test_a_curve_says_how_many_were_found_when(name):
    X, y, model = make("tree", 6)
    result = quick(name, space=SPACE, limits=Limits(tests=100)).fit(X, y, model).result_
    curve = result.tables["curve"]
    assert curve["tested"].is_monotonic_increasing
    assert curve["found"].is_monotonic_increasing
    assert tuple(curve.iloc[-1, :2]) == (result.n_tested, result.n_found)
    assert result.curve["seconds"].between(0, result.total_time).all()
    assert result.curve["seconds"].is_monotonic_increasing
    assert (curve["found"] <= curve["tested"]).all()
