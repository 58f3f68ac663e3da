"""A time budget covers all that a call does: training, the search, and models trained again."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from skdisc import Audit, BlackBox, Limits
from skdisc._task._budget import Budget
from skdisc.cli import main
from skdisc.individual import KOSEI, Themis
from skdisc.multiclass import OneVsRest

UNSURE = "insufficient evidence"


class Clock:
    """Seconds that pass only where a model is trained or queried."""

    now, query = 0.0, 0.1

    def __call__(self):
        return self.now


CLOCK = Clock()


class SlowTree(DecisionTreeClassifier):
    """A tree that takes ten seconds to be trained, and some time for a query."""

    def fit(self, X, y):
        CLOCK.now += 10
        return super().fit(X, y)

    def predict(self, X):
        CLOCK.now += CLOCK.query
        return super().predict(X)


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(CLOCK, "now", 0.0)
    monkeypatch.setattr(CLOCK, "query", 0.1)
    monkeypatch.setattr(time, "perf_counter", CLOCK)
    return CLOCK


def people(n=300, seed=0, n_classes=2):
    """Return people of two sexes (0, 1), and labels that follow sex in two of three cases.

    The others follow points, which a tree of one split takes where sex tells nothing.
    """
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.integers(0, 2, n), "points": rng.integers(0, 9, n)})
    points = np.where(X["points"] > 4, n_classes - 1, 0)
    y = np.where(rng.random(n) < 2 / 3, X["sex"], points)
    return X, y


def search(pos_label=1, **settings):
    return KOSEI(protected="sex", pos_label=pos_label, random_state=0, **settings)


def test_training_takes_of_the_budget(clock):
    X, y = people()
    result = search(estimator=SlowTree(max_depth=1), limits=Limits(seconds=5)).fit(X, y).result_
    assert (result.stopped_by, result.n_tested) == ("seconds", 0)
    assert result.total_time == clock.now >= 10


def test_models_trained_again_take_of_the_budget_and_of_the_total_time(clock):
    X, y = people()
    box = BlackBox.trained(SlowTree(max_depth=1), X, y)
    clock.now = 0.0
    result = search(limits=Limits(seconds=60, tests=50)).fit(X, y, box).result_
    assert clock.now < 60 + 10  # no more than one training is under way when the time ends
    assert result.total_time == clock.now
    assert (result.verdict, result.stopped_by) == (UNSURE, "seconds")
    said = "the time budget ended the comparison with chance in training"
    assert said in result.reason
    assert "19" in result.reason


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_budget_that_suffices_changes_nothing(clock, n_jobs):
    X, y = people()
    box = BlackBox.trained(SlowTree(max_depth=1), X, y, n_jobs=n_jobs)
    results = [
        search(limits=Limits(tests=50, seconds=limit)).fit(X, y, box).result_
        for limit in (None, 1e6)
    ]
    for result in results:
        assert result.total_time > 19 * 10
        assert result.stopped_by != "seconds"
    tables = [result.to_frame("training") for result in results]
    pd.testing.assert_frame_equal(*tables)
    assert results[0].verdict == results[1].verdict


def test_a_search_of_a_trained_model_leaves_time_for_the_comparison(clock):
    X, y = people()
    box = BlackBox.trained(SlowTree(max_depth=1), X, y)
    clock.now = 0.0
    detector = Themis(protected="sex", pos_label=1, random_state=0, limits=Limits(seconds=600))
    result = detector.fit(X, y, box).result_
    assert result.to_frame("training")["n_refits"].item() >= 1
    assert clock.now < 610


def test_an_audit_of_new_rows_has_one_clock_too(clock):
    X, y = people()
    detector = search(limits=Limits(tests=50, seconds=60))
    detector.fit(X, y, BlackBox.trained(SlowTree(max_depth=1), X, y))
    clock.now = 0.0
    result = detector.audit(*people(seed=1))
    assert result.total_time == clock.now < 70


def test_shares_are_those_of_the_time_left_at_the_opening(clock):
    budget = Budget(max_seconds=100, started=-80.0)
    assert (budget.elapsed, budget.seconds_left) == (80, 20)
    clock.now = 9
    assert not budget.has_spent(0.5)
    clock.now = 11
    assert budget.has_spent(0.5)
    assert not budget.has_spent(1)
    budget.renew(2)
    assert (budget.elapsed, budget.seconds_left) == (0, 2)
    clock.now = 14
    assert budget.has_spent(1)
    late = Budget(max_seconds=10, started=0.0)
    assert late.has_spent(0.1)


def test_the_classes_of_a_decision_share_the_budget(clock):
    X, y = people(n_classes=3)
    model = SlowTree(max_depth=1).fit(X, y)
    clock.now, clock.query = 0.0, 20.0
    OneVsRest(search(pos_label=None, limits=Limits(seconds=30))).fit(X, y, model)
    assert clock.now <= 60  # three classes, each with one query that is under way when time ends


def test_an_audit_begins_before_its_model_is_trained(clock):
    X, y = people()
    report = (
        Audit(SlowTree(max_depth=1), protected="sex", limits=Limits(seconds=5), pos_label=1)
        .fit(X, y)
        .report_
    )
    assert report.document["about"]["seconds"] >= 10
    assert not report.results
    said = "its test did not run: the time budget of 5 s was spent"
    assert {row["reason"] for row in report.document["verdicts"]} == {said}
    assert said in " ".join(report.to_text().split()).replace("Its", "its")


@pytest.mark.slow
def test_an_audit_ends_in_time_with_models_trained_again(clock):
    X, y = people()
    audit = Audit(SlowTree(max_depth=1), protected="sex", limits=Limits(seconds=100), pos_label=1)
    report = audit.fit(X, y).report_
    assert clock.now < 100 + 10
    assert report.document["about"]["seconds"] == pytest.approx(clock.now, abs=1)
    individual = next(r for r in report.document["verdicts"] if r["null"] == "individual")
    assert individual["verdict"] == UNSURE
    assert "time budget" in individual["reason"]


@pytest.mark.slow
def test_the_audits_of_a_table_of_robustness_share_the_budget(clock):
    X, y = people()
    how = {
        "protected": "sex",
        "limits": Limits(seconds=100),
        "pos_label": 1,
        "detectors": ["Themis"],
    }
    Audit(SlowTree(max_depth=1), **how).robustness(X, y)
    assert clock.now < 100 + 10


def test_progress_counts_models_trained_again(monkeypatch, capsys):
    monkeypatch.setattr("skdisc._task._progress._SECONDS", 0.0)
    X, y = people()
    tree = DecisionTreeClassifier(random_state=0)
    how = {"detectors": ["Themis"], "pos_label": 1}
    Audit(protected="sex", verbose=True, **how).fit(X, y, BlackBox(tree, n_refits=19))
    assert "Themis: 19 of 19 models trained again" in capsys.readouterr().err


def test_a_command_begins_before_its_file_is_read(clock, monkeypatch, tmp_path, capsys):
    X, y = people()
    X.assign(hired=y).to_csv(tmp_path / "people.csv", index=False)
    from skdisc.cli import _audit

    def slow(*args, **kwargs):
        clock.now += 60
        return read(*args, **kwargs)

    read = _audit.read_in
    monkeypatch.setattr(_audit, "read_in", slow)
    options = ["--target=hired", "--protected=sex", "--favorable=1", "--time-budget=50"]
    assert main(["audit", str(tmp_path / "people.csv"), *options]) == 3
    page = " ".join(capsys.readouterr().out.split())
    assert "GroupDisparity sex did not run: the time budget of 50 s was spent" in page
