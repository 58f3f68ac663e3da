"""Long loops ask the one clock of a run, and what is cut says what was not asked."""

import inspect

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, AuditResult, Limits, Rule, all_detectors
from skdisc._blackbox._default_models import default_model
from skdisc._neighbors._nearest import NearestSearch
from skdisc._task import _refits
from skdisc._task._budget import Budget
from skdisc._task._cross_fitting import CrossFitter
from skdisc._utils._run_clock import OutOfTime, clock, go_on, unhurried
from skdisc.group import GroupDisparity
from skdisc.subgroup import FACTS, DisparityPursuit
from skdisc.subgroup._disparity_pursuit import _run

UNSURE = "insufficient evidence"
WITH_BUDGET = [d for d in all_detectors().values() if "seconds" in d.limit_fields]


def people(n=400, n_columns=5, seed=0):
    """Return numbers, sex, and labels that are .3 lower for women."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, n_columns)), columns=list("abcdefgh")[:n_columns])
    X.insert(0, "sex", rng.choice(["F", "M"], n))
    return X, (rng.random(n) < np.where(X["sex"] == "F", 0.3, 0.6)).astype(int)


@pytest.fixture
def asked(monkeypatch):
    """Return what loops said while there was time; it ends when ``until(text)`` was said."""
    said, end = [], [None]

    class Recorded(Budget):
        def affords(self, n_rows):
            if end[0] is not None and any(end[0](text) for text in said):
                self.stopped_by = "seconds"
                return False
            return super().affords(n_rows)

    monkeypatch.setattr("skdisc._task._task.Budget", Recorded)
    monkeypatch.setattr("skdisc._task._progress._SECONDS", 0.0)
    monkeypatch.setattr("skdisc._task._progress.Progress.__call__", lambda _, t: said.append(t))

    def until(condition):
        said.clear()
        end[0] = condition

    return said, until


def pursuit(**settings):
    return DisparityPursuit(protected="sex", pos_label=1, random_state=0, verbose=True, **settings)


def test_nothing_is_cut_outside_a_run_or_in_an_answer_that_is_described():
    go_on("counting")
    with clock(lambda: False, lambda text: None):
        with pytest.raises(OutOfTime, match="while counting"):
            go_on("counting")
        with unhurried():
            go_on("counting")
        with clock(lambda: True, lambda text: None), pytest.raises(OutOfTime):
            go_on("counting")  # the outer run is over


@pytest.mark.parametrize(
    "doing",
    ["learning expectations", "looking at crossings", "counting groups", "drawing chance"],
)
def test_a_search_ends_in_the_midst_of_each_long_loop(asked, doing):
    said, until = asked
    until(lambda text: text.startswith(doing))
    result = pursuit(limits=Limits(seconds=1e6)).fit(*people()).result_
    assert (result.verdict, result.stopped_by, result.n_tested) == (UNSURE, "seconds", 0)
    assert f"the time budget ended while {doing}" in result.reason
    assert said[-1].startswith(doing)  # nothing was begun after it


@pytest.mark.parametrize(
    "doing", ["listing the steps", "pairing groups with", "counting the people of"]
)
def test_actions_are_cut_before_the_model_is_asked(asked, doing):
    said, until = asked
    until(lambda text: text.startswith(doing))
    X, _ = people(300, 2)
    detector = FACTS(
        protected="sex", pos_label=1, random_state=0, verbose=True, limits=Limits(seconds=1e6)
    )
    result = detector.fit(X, None, lambda rows: (rows["a"] > 0).astype(int)).result_
    assert (result.verdict, result.stopped_by) == (UNSURE, "seconds")
    assert f"the time budget ended while {doing}" in result.reason
    assert said[-1].startswith(doing)


@pytest.mark.slow
def test_shorter_groups_are_answered_before_the_time_ends(asked, monkeypatch):
    _, until = asked
    X, y = people(300, 3)
    whole = pursuit().fit(X, y).result_
    shorter = pursuit(max_predicates=2).fit(X, y).result_
    monkeypatch.setattr(_run, "_MANY_CONTEXTS", 1)
    patient = pursuit(limits=Limits(seconds=1e6)).fit(X, y).result_
    assert (patient.n_tested, patient.stopped_by) == (whole.n_tested, None)
    for name, table in whole.tables.items():
        pd.testing.assert_frame_equal(table, patient.tables[name])
    until(lambda text: text.startswith(f"drawing chance for {whole.n_tested:,}"))
    cut = pursuit(limits=Limits(seconds=1e6)).fit(X, y).result_
    assert (cut.n_tested, cut.stopped_by) == (shorter.n_tested, "seconds")
    said = "no groups of more than 2 conditions were compared, of the 3 asked for"
    assert said in " ".join(cut.notes)
    columns = ["effect", "ci_low", "ci_high", "p_adjusted"]
    assert [str(f.subject) for f in cut] == [str(f.subject) for f in shorter] == ["sex = 'F'"]
    found = (r.findings.table[columns] for r in (cut, shorter))
    pd.testing.assert_frame_equal(*found, rtol=1e-5)


@pytest.mark.slow
def test_a_fair_table_is_not_cleared_by_a_search_that_was_cut(asked, monkeypatch):
    _, until = asked
    X, _ = people(3000, 3)
    y = np.random.default_rng(1).integers(0, 2, len(X))
    monkeypatch.setattr(_run, "_MANY_CONTEXTS", 1)
    rule = Rule(relevant_gap=0.6)
    assert (
        pursuit(rule=rule, limits=Limits(seconds=1e6)).fit(X, y).result_.verdict
        == "no disparity found"
    )
    until(lambda text: text.startswith("drawing chance for") and " 1 groups" not in text)
    cut = pursuit(rule=rule, limits=Limits(seconds=1e6)).fit(X, y).result_
    assert (cut.verdict, cut.stopped_by) == (UNSURE, "seconds")
    assert "the search was cut short by the limit of seconds" in cut.reason


@pytest.mark.parametrize("detector", WITH_BUDGET, ids=lambda d: d.__name__)
def test_a_run_that_is_cut_before_anything_is_compared_is_a_result(detector, monkeypatch):
    X, y = people(120, 2)
    wanted = {"protected": "sex", "pos_label": 1, "random_state": 0, "limits": Limits(seconds=1e6)}
    own = inspect.signature(detector).parameters

    def cut(self, task):
        raise OutOfTime("looking")

    monkeypatch.setattr(detector, "_discover", cut)
    fitted = detector(**{k: v for k, v in wanted.items() if k in own})
    result = fitted.fit(X, y, lambda rows: (rows["a"] > 0).astype(int)).result_
    assert (result.verdict, result.stopped_by, len(result)) == (UNSURE, "seconds", 0)
    assert "the time budget ended while looking: nothing was compared" in result.reason
    assert AuditResult.from_json(result.to_json()).verdict == UNSURE
    assert len(result.to_frame()) == 0


def test_an_audit_ends_methods_without_a_budget_of_their_own(monkeypatch):
    seen = []

    def slow(self, task):
        seen.append(self)
        monkeypatch.setattr("skdisc.auditing._run.Run.seconds", 1e9)
        go_on("comparing")

    monkeypatch.setattr(GroupDisparity, "_discover", slow)
    how = {
        "protected": "sex",
        "pos_label": 1,
        "limits": Limits(seconds=1e6),
        "detectors": ["GroupDisparity"],
    }
    report = Audit(**how).fit(*people(120, 1)).report_
    assert seen
    verdicts = {(v["verdict"], v["reason"]) for v in report.document["verdicts"]}
    assert verdicts
    assert all(verdict == UNSURE for verdict, _ in verdicts)


@pytest.mark.parametrize("algorithm", ["tree", "cells", "blocks", "brute"])
def test_a_search_for_neighbors_asks_every_few_points(monkeypatch, algorithm):
    """Of 60,000 people with 12 numbers it went on for a minute after the end."""
    rng = np.random.default_rng(0)
    pool = np.column_stack([rng.integers(0, 2, 700) / 2, rng.random((700, 2))])
    points = np.column_stack([rng.integers(0, 2, 1200) / 2, rng.random((1200, 2))])
    search = NearestSearch(pool, np.array([True, False, False]), algorithm=algorithm)
    asked = []
    with clock(lambda: True, asked.append):
        parts = search.nearest(points, 5)
    assert asked == ["looking for neighbors"] * 3
    monkeypatch.setattr("skdisc._neighbors._nearest._POINTS", len(points))
    for part, whole in zip(parts, search.nearest(points, 5), strict=True):
        np.testing.assert_array_equal(part, whole)
    with clock(lambda: False, asked.append), pytest.raises(OutOfTime, match="for neighbors"):
        search.nearest(points, 5)


def test_each_fold_of_an_expectation_asks():
    X, y = people(100, 2)
    fitter = CrossFitter(X[["a"]], X[["a"]].to_numpy(), np.arange(100) % 4)
    asked = []
    with clock(lambda: True, asked.append):
        fitter.choose(y.astype(float))
    assert asked == ["learning expectations"] * 8  # by main effects, and by trees


def trained(**settings):
    return pursuit(estimator=default_model("tree", 0), **settings)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["own", "audit"])
def test_the_search_of_labels_is_cut_like_that_of_the_model(monkeypatch, how):
    """It was not, alone; within an audit it ended with an error that nobody caught."""
    search, spent = _refits._verdict, []

    def late(detector, task):
        spent.append(True)
        return search(detector, task)

    monkeypatch.setattr(_refits, "_verdict", late)
    if how == "own":
        has_spent = Budget.has_spent
        monkeypatch.setattr(
            Budget, "has_spent", lambda b, share: bool(spent) or has_spent(b, share)
        )
        cut = trained(limits=Limits(seconds=1e6)).fit(*people(1000, 2)).result_
    else:
        with clock(lambda: not spent, lambda text: None):
            cut = trained().fit(*people(1000, 2)).result_
    assert spent
    assert (cut.verdict, cut.stopped_by) == (UNSURE, "seconds")
    assert "the time budget ended the comparison with chance in training while" in cut.reason


def test_an_audit_leaves_out_what_is_cut_beyond_its_search(monkeypatch):
    conclude = GroupDisparity._conclude

    def slow(self, task, discovery):
        monkeypatch.setattr("skdisc.auditing._run.Run.seconds", 1e9)
        go_on("describing groups")
        return conclude(self, task, discovery)

    monkeypatch.setattr(GroupDisparity, "_conclude", slow)
    how = {
        "protected": "sex",
        "pos_label": 1,
        "limits": Limits(seconds=1e6),
        "detectors": ["GroupDisparity"],
    }
    document = Audit(**how).fit(*people(120, 1)).report_.document
    reason = "the time budget of 1e+06 s ended while describing groups"
    assert [line["reason"] for line in document["not_run"]] == [reason]
    assert document["verdicts"][0]["reason"] == f"its test did not run: {reason}"
