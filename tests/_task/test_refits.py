"""A disparity of a model trained here counts if training alone does not make it as large."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skdisc import BlackBox, Rule
from skdisc._blackbox._default_models import default_model
from skdisc._task._refits import evidence
from skdisc._task._task import People, Task
from skdisc.group import GroupDisparity
from skdisc.individual import CounterfactualSituationTesting, Themis
from skdisc.subgroup import DivExplorer


def people(n, seed, gap=0.0):
    """Return people whose income tells their sex, and labels of which sex moves the rate by gap."""
    rng = np.random.default_rng(seed)
    income = rng.normal(size=n)
    sex = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * income)), "M", "F")
    town, points = rng.choice(list("uvw"), n), rng.integers(0, 30, n)
    X = pd.DataFrame({"sex": sex, "income": income, "town": town, "points": points})
    p = 0.5 + np.where(sex == "M", gap / 2, -gap / 2)
    return X, (rng.random(n) < p).astype(int)


class Scripted(Themis):
    """Themis whose model has a given statistic, and each refit the next one."""

    def __init__(self, protected=None, values=(), rule=None):
        super().__init__(protected=protected, rule=rule, random_state=0)
        self.values = values

    def _statistic(self, task):
        self.log.append(task)
        return self.values[len(self.log) - 1]


def scripted(values, n_refits=None, rule=None):
    detector = Scripted(protected="sex", values=values, rule=rule)
    detector.log = []
    model = BlackBox(default_model("tree"), n_refits=n_refits)
    return detector.fit(*people(500, 0, 0.8), model), detector.log


def test_found_takes_that_no_refit_is_as_large():
    detector, log = scripted([1.0] + [0.5] * 19)
    result = detector.result_
    assert (result.verdict, len(log)) == ("disparity found", 20)
    training = result.to_frame("training").iloc[0]
    assert (training["n_refits"], training["n_as_large"], training["p_value"]) == (19, 0, 0.05)
    assert any("0 of 19 models" in note for note in result.notes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_threads_change_nothing(seed):
    X, y = people(400, seed, 0.3)
    tables = []
    for n_jobs in (None, 2, 3):
        model = BlackBox.trained(
            DecisionTreeClassifier(random_state=0),
            X[["points"]].assign(sex=X["sex"] == "M"),
            y,
            n_refits=24,
            n_jobs=n_jobs,
        )
        detector = Themis(protected="sex", random_state=0)
        own = X[["points"]].assign(sex=X["sex"] == "M")
        tables.append(detector.fit(own, y, model).result_.to_frame("training"))
    pd.testing.assert_frame_equal(tables[0], tables[1])
    pd.testing.assert_frame_equal(tables[0], tables[2])


def test_the_statistic_of_many_people_is_that_of_some_whatever_their_order():
    X, _ = people(9000, 0)
    model = BlackBox(lambda X: (X["income"] > 0.5) & (X["sex"] == "M"))
    runs = [Themis(protected="sex", random_state=0).fit(rows, None, model) for rows in (X, X[::-1])]
    share = (X["income"] > 0.5).mean()
    opened = [Task.open(d, People(rows)) for d, rows in zip(runs, (X, X[::-1]), strict=True)]
    own = [d._statistic(task) for d, task in zip(runs, opened, strict=True)]
    assert own[0] == own[1] == pytest.approx(share, abs=0.03)
    assert opened[0].budget.queries <= 30_000


@pytest.mark.parametrize("as_large", [1.0, 2.0, np.nan])
def test_one_that_is_as_large_ends_it(as_large):
    detector, log = scripted([1.0, 0.5, 0.5, as_large])
    assert len(log) == 4
    assert detector.result_.verdict == "insufficient evidence"
    assert detector.result_.reason == (
        "training a model without the information of the protected columns gives as large a "
        "statistic: p = 0.5, 3 refits"
    )


@pytest.mark.slow
def test_more_refits_allow_for_more_that_are_as_large():
    detector, log = scripted([1.0, 2.0] + [0.5] * 38, n_refits=39)
    assert (detector.result_.verdict, len(log)) == ("disparity found", 40)
    detector, log = scripted([1.0, 2.0, 2.0], n_refits=39)
    assert (detector.result_.verdict, len(log)) == ("insufficient evidence", 3)


@pytest.mark.parametrize(
    ("n_refits", "level", "least"), [(0, 0.05, 19), (18, 0.05, 19), (8, 0.1, 9)]
)
def test_too_few_refits_are_no_evidence(n_refits, level, least):
    detector, log = scripted([], n_refits=n_refits, rule=Rule(significance=level))
    assert (detector.result_.verdict, log) == ("insufficient evidence", [])
    assert (
        f"takes n_refits >= {least} at level {level:g}, not {n_refits}" in detector.result_.reason
    )


def test_rows_trained_on_are_audited_with_the_values_trained_on():
    _, log = scripted([1.0, 0.5, 2.0])
    own, one, two = (task.X for task in log)
    assert not one["sex"].equals(own["sex"])
    assert not one["sex"].equals(two["sex"])
    assert one.drop(columns="sex").equals(own.drop(columns="sex"))
    X, y = people(500, 1, 0.8)
    detector = Scripted(protected="sex", values=[1.0, 0.5, 2.0])
    detector.log = []
    detector.fit(X, y, BlackBox.trained(default_model("tree"), *people(500, 2, 0.8)))
    assert all(task.X.equals(X) for task in detector.log)


def test_a_model_that_was_given_is_a_fact():
    X, y = people(500, 0, 0.8)
    model = default_model("tree").fit(X, y)
    result = Themis(protected="sex", random_state=0).fit(X, model=model).result_
    assert (result.verdict, result.audited) == ("disparity found", "model")
    assert "training" not in result.tables


@pytest.mark.slow
def test_new_rows_are_weighed_too_and_scores_cost_no_refit(monkeypatch):
    X, y = people(1000, 0, 0.8)
    detector = Themis(protected="sex", random_state=0).fit(X, y)
    new = people(500, 1, 0.8)[0]
    again = detector.audit(new)
    assert again.verdict == "disparity found"
    assert again.to_frame("training")["n_refits"].item() == 19
    monkeypatch.setattr(Themis, "_statistic", None)
    assert detector.score(new) > 0.5


def test_a_surrogate_without_cases_is_no_evidence_about_the_labels():
    X, _ = people(1000, 0)
    y = (X["points"] > 15).astype(int)
    result = Themis(protected="sex", random_state=0).fit(X, y).result_
    assert result.verdict == "insufficient evidence"


@pytest.mark.slow
@pytest.mark.every(6)
@pytest.mark.parametrize("kind", ["tree", "logistic"])
@pytest.mark.parametrize("detector", [Themis, GroupDisparity, DivExplorer])
def test_a_strong_effect_is_found(detector, kind):
    box = BlackBox.trained(default_model(kind, 0), *people(1000, 0, 0.7))
    X, y = people(1000, 1, 0.7)
    for given in ({"model": box}, {"model": None}):
        fitted = detector(protected="sex", random_state=0, pos_label=1)
        if given["model"] is None:
            fitted.set_params(estimator=default_model(kind, 0))
        result = fitted.fit(X, y, **given).result_
        assert (result.audited, result.verdict) == ("refit", "disparity found")


def test_evidence_is_the_smallest_p_value_and_then_the_largest_effect():
    detector = GroupDisparity(protected="sex").fit(*people(300, 0, 0.5))
    found = detector.result_.discovery
    table = found.findings.table

    def of(p, effect):
        findings = copy(found.findings)
        findings.table = table.assign(p_value=p, effect=effect)
        return evidence(replace(found, findings=findings))

    n = len(table)
    assert of([1e-4] + [np.nan] * (n - 1), 0.5) == pytest.approx(4)
    assert of(np.nan, 0.5) == 0
    assert of(0.0, -0.6) > of(0.0, 0.5) > of(1e-300, 0.9)


@pytest.mark.slow
@pytest.mark.statistics
@pytest.mark.parametrize("detector", [Themis, GroupDisparity])
def test_labels_tossed_by_a_coin_are_seldom_unfair(detector):
    found = 0
    for seed in range(20):
        X, y = people(400, seed)
        tree = DecisionTreeClassifier(max_depth=4, random_state=0)
        fitted = detector(protected="sex", random_state=seed, pos_label=1)
        given = X.assign(town=X["town"].map(ord), sex=(X["sex"] == "M").astype(int)), y
        found += fitted.set_params(estimator=tree).fit(*given).result_.verdict == "disparity found"
    assert found <= 4  # more has probability .003 at level .05, .994 where half are found unfair


def test_arrays_are_redrawn_too():
    X, y = people(600, 0, 0.8)
    array = np.column_stack([X["sex"] == "M", X["income"]]).astype(float)
    detector = Themis(LogisticRegression(), protected=0, random_state=0).fit(array, y)
    assert detector.result_.verdict == "disparity found"
    assert detector.result_.to_frame("training")["n_as_large"].item() == 0


class Failing(Scripted):
    """Its refits from the second on cannot be measured."""

    def _statistic(self, task):
        if len(self.log) > 1:
            raise ValueError("a group has 3 people.")
        return super()._statistic(task)


def test_a_refit_that_fails_counts_as_as_large():
    detector = Failing(protected="sex", values=[1.0, 0.5])
    detector.log = []
    result = detector.fit(*people(500, 0, 0.8)).result_
    assert result.verdict == "insufficient evidence"
    assert "1 of 2 refits could not be measured: a group has 3 people" in result.reason
    training = result.to_frame("training").iloc[0]
    assert (training["n_refits"], training["n_as_large"], training["p_value"]) == (2, 1, 2 / 3)
    assert any("count as as large: a group has 3 people." in note for note in result.notes)


@pytest.mark.slow
def test_situation_testing_whose_refits_all_fail_finds_nothing(monkeypatch):
    X, y = people(600, 0, 0.8)
    kind = CounterfactualSituationTesting  # about decisions that no labels can confirm
    detector = kind(default_model("tree", 0), protected="sex", random_state=0)
    discover = kind._discover

    def failing(self, task):
        if self is not detector:  # a copy with a model trained again
            raise ValueError("fewer than 15 neighbors.")
        return discover(self, task)

    monkeypatch.setattr(kind, "_discover", failing)
    result = detector.fit(X, y).result_
    assert result.verdict == "insufficient evidence"
    assert "could not be measured: fewer than 15 neighbors" in result.reason


def proxies(n, seed, gap):
    """Return people whose incomes differ by sex, and labels that follow the income alone."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    X = pd.DataFrame({"sex": sex, "income": rng.normal(gap * (sex == "M"), 1, n)})
    return X, (X["income"] + rng.normal(0, 0.5, n) > 0.5).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["selection_rate", None])
def test_a_gap_that_labels_show_too_counts(metric):
    X, y = proxies(1500, 0, 1.0)
    detector = GroupDisparity if metric is None else DivExplorer
    result = detector(default_model("forest", 0), protected="sex", random_state=0).fit(X, y).result_
    # redrawn values of sex keep what incomes tell, so that refits have the same gap
    assert (result.audited, result.verdict) == ("refit", "disparity found")
    assert any("The labels show a disparity, too" in note for note in result.notes)
    new = proxies(1500, 1, 1.0)
    fitted = detector(default_model("forest", 0), protected="sex", random_state=0).fit(X, y)
    assert fitted.audit(*new).verdict == "disparity found"


def test_a_gap_of_the_model_alone_does_not_count():
    X, y = people(300, 3)  # labels tossed by a coin
    model = BlackBox.trained(DecisionTreeClassifier(), X[["points"]].assign(sex=X["sex"] == "M"), y)
    rows = X[["points"]].assign(sex=X["sex"] == "M")
    unfair = lambda rows: np.where(rows["sex"], 1, rows["points"] > 25)  # noqa: E731
    model.model = unfair
    result = GroupDisparity(protected="sex", measures=["mean_difference"]).fit(rows, y, model)
    assert result.result_.verdict == "insufficient evidence"
    assert "but not the labels that it was trained on" in result.result_.reason


def test_labels_confirm_no_errors():
    X, y = proxies(1500, 0, 1.0)
    settings = {"protected": "sex", "measures": ["equal_opportunity"], "random_state": 0}
    result = GroupDisparity(default_model("tree", 0), **settings).fit(X, y).result_
    if result.verdict == "disparity found" or "refits" in result.reason:
        assert "training" in result.tables
