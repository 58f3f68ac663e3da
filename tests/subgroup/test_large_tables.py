"""FACTS, DisparityPursuit and scans in contexts take a stated sample of large, wide tables."""

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from skdisc import BlackBox, Limits
from skdisc._expectations._crossings import Joint, Sampling, _PairsOfPeople, _shares_of_pairs
from skdisc._task import _large_tables
from skdisc._utils._hashing import row_hashes
from skdisc.subgroup import (
    FACTS,
    BiasScan,
    DisparityPursuit,
    GerrymanderingAudit,
    MultiaccuracyAudit,
    MulticalibrationAudit,
)

FAST = {
    FACTS: {},
    DisparityPursuit: {"nuisance": "additive", "n_resamples": 0},
    BiasScan: {"n_resamples": 0, "n_restarts": 1},
}
SHARED = {"protected": "sex", "max_predicates": 2, "random_state": 0, "pos_label": 1}
EACH = pytest.mark.parametrize("kind", FAST)


def table(n, values=6):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n, p=[0.4, 0.6])})
    for name in "abcd":
        X[name] = rng.integers(0, values, n)
    return X, ((X["a"] + rng.normal(0, 1, n) - (X["sex"] == "F")) > 2).astype(int)


def bank(X):
    return (X["a"] + X["b"] - (X["sex"] == "F") > 5).astype(int)


def fitted(kind, X, y, **settings):
    detector = kind(**SHARED, **FAST[kind]).set_params(**settings)
    return detector.fit(X, y, bank if kind is FACTS else None)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Sample tables of more than 400 different rows and 3 columns."""
    monkeypatch.setattr(_large_tables, "FEW", 3)
    for kind in FAST:
        monkeypatch.setattr(kind, "_most", 400)


@EACH
def test_a_large_wide_table_is_sampled_and_the_result_says_so(kind):
    X, y = table(1500)
    detector = fitted(kind, X, y)
    rows, result = detector.sampled_rows_, detector.result_
    assert len(rows) == result.n_samples == 400
    assert result.n_drawn_from == 1500
    said = [note for note in result.notes if note.startswith("400 of 1,500 rows were used")]
    assert len(said) == 1
    assert said[0] in result.to_json()
    alone = fitted(kind, X.iloc[rows], y.iloc[rows], limits=Limits(rows=math.inf)).result_
    assert alone.n_samples == 400
    assert len(alone.notes) == len(result.notes) - 1


@EACH
@pytest.mark.parametrize(
    ("n", "values", "settings"),
    [
        (400, 6, {}),
        (1500, 2, {}),  # many rows, few different ones
        (1500, 6, {"features": ["sex", "a", "b"]}),
        (1500, 6, {"limits": Limits(rows=math.inf)}),
    ],
)
def test_other_tables_are_not(kind, n, values, settings, monkeypatch):
    X, y = table(n, values)
    if kind is DisparityPursuit and "features" in settings:
        settings = {**settings, "adjust_for": ["a", "b"]}
    assert len(set(row_hashes(X))) > 400 or n == 400 or values == 2
    detector = fitted(kind, X, y, **settings)
    assert detector.sampled_rows_ is detector.result_.n_drawn_from is None
    monkeypatch.setattr(kind, "_most", 10**9)
    assert fitted(kind, X, y, **settings | {"limits": None}).result_.findings.table.equals(
        detector.result_.findings.table
    )


@EACH
def test_new_rows_are_sampled_alike(kind):
    X, y = table(1900)
    detector = fitted(kind, X[:400], y[:400])
    again = detector.audit(X[400:], y[400:])
    assert detector.sampled_rows_ is None
    assert again.n_samples == 400
    assert any(note.startswith("400 of 1,500 rows were used") for note in again.notes)


def test_given_decisions_are_drawn_with_their_rows():
    X, y = table(1500)
    settings = SHARED | FAST[DisparityPursuit]
    detector = DisparityPursuit(**settings).fit(X, y, BlackBox(decisions=bank(X)))
    rows = detector.sampled_rows_
    np.testing.assert_array_equal(detector.model_.decisions, bank(X).to_numpy()[rows])


def test_frequencies_are_not_sampled():
    X, y = table(1500)
    frequency = np.arange(len(X)) % 3 + 1
    detector = DisparityPursuit(**SHARED, **FAST[DisparityPursuit], weights="frequency")
    detector.set_params(limits=Limits(rows=300)).fit(X, y, sample_weight=frequency)
    assert detector.sampled_rows_ is None
    assert detector.result_.n_samples == frequency.sum()


def test_memory_is_that_of_the_sample():
    X, y = table(20_000, values=40)

    def peak(**settings):
        tracemalloc.start()
        fitted(DisparityPursuit, X, y, **settings)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak() < peak(limits=Limits(rows=math.inf)) / 2


@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_over_pairs_copy_no_planes(order):
    """The planes are kept as a sparse product reads them, however residuals are stored."""
    rng = np.random.default_rng(0)
    n, n_parts = 20_000, 7
    d = np.asarray(rng.normal(size=(n, n_parts)), order=order)
    pairs = _PairsOfPeople(rng.normal(size=(n, 1)), d, Sampling(), np.zeros(n_parts))
    codes = rng.integers(0, 50, n).astype(np.intp)
    share = _shares_of_pairs(codes, np.bincount(codes), Sampling())
    joint = Joint((0,), codes, 50, share)
    pairs.over(joint)
    tracemalloc.start()
    pairs.over(joint)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < pairs.planes.nbytes


def test_a_scan_against_everyone_takes_all_rows():
    X, y = table(1500)
    assert fitted(BiasScan, X, y, versus="everyone").sampled_rows_ is None
    assert len(fitted(BiasScan, X, y, versus="everyone", limits=Limits(rows=300)).sampled_rows_)


def test_groups_of_a_scan_are_drawn_in_proportion():
    X, y = table(4000)
    X["sex"] = np.where(np.arange(4000) % 50 == 0, "D", X["sex"])
    rows = fitted(BiasScan, X, y).sampled_rows_
    assert (X["sex"].iloc[rows].value_counts() - X["sex"].value_counts() / 10).abs().max() <= 1


@pytest.mark.parametrize("kind", [GerrymanderingAudit, MultiaccuracyAudit, MulticalibrationAudit])
def test_learned_audits_draw_a_sample_of_a_wide_table(kind, monkeypatch):
    monkeypatch.setattr(kind, "_most", 400)
    X, y = table(1500)
    settings = SHARED | {"witness": "linear", "nuisance": "additive"}
    detector = kind(**settings).fit(X, y, BlackBox(decisions=bank(X)))
    assert detector.result_.n_drawn_from == 1500
    assert len(detector.sampled_rows_) == 400
    everybody = kind(**settings, limits=Limits(rows=math.inf))
    assert everybody.fit(X, y, BlackBox(decisions=bank(X))).sampled_rows_ is None
    few = kind(**settings, features=["sex", "a", "b"])
    assert few.fit(X, y, BlackBox(decisions=bank(X))).sampled_rows_ is None
