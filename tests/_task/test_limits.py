"""The limits of a fit: one object, set and read alike in detectors, audits and plans."""

import inspect
import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from smallest import smallest

from skdisc import Audit, AuditResult, FeatureSpace, Limits, all_detectors
from skdisc.auditing import verify
from skdisc.individual import KOSEI, LIMI, SituationTesting
from skdisc.monitoring import DisparityMonitor
from skdisc.subgroup import DivExplorer

OTHER = {"tests": 7, "queries": 70, "found": 3, "seconds": 900.0, "rows": 40}
LIMITED = [d for d in all_detectors().values() if "limits" in inspect.signature(d).parameters]
BY_NAME = pytest.mark.parametrize("detector", LIMITED, ids=lambda d: d.__name__)
OLD = {"max_tests", "max_queries", "max_found", "time_budget", "max_rows"}


def people(n=200, seed=0):
    """Return people and labels of which sex moves the rate."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "points": rng.integers(0, 30, n)})
    return X, (rng.random(n) < np.where(X["sex"] == "m", 0.6, 0.3)).astype(int)


def model(X):
    """Return decisions that depend on sex for some."""
    return ((X["points"] > 14) | ((X["sex"] == "m") & (X["points"] > 9))).astype(int)


def test_limits_have_exactly_these_fields():
    assert Limits().get_params() == dict.fromkeys(OTHER)


def test_limits_are_equal_by_their_fields():
    assert Limits(**OTHER) == Limits(**OTHER)
    assert pickle.loads(pickle.dumps(Limits(tests=4))) == clone(Limits(tests=4))
    for name, value in OTHER.items():
        assert Limits() != Limits(**{name: value}), name
    assert Limits() != Limits().to_dict()
    with pytest.raises(TypeError, match="unhashable"):
        hash(Limits())


def test_limits_are_written_as_json_and_read_again():
    limits = Limits(tests=np.int64(5), queries=math.inf, seconds=1.5)
    fields = json.loads(json.dumps(limits.to_dict(), allow_nan=False))
    assert fields["queries"] == "inf"
    assert Limits.from_dict(fields) == limits


@pytest.mark.parametrize("estimator", [*all_detectors().values(), Audit])
def test_no_estimator_has_a_limit_of_its_own(estimator):
    assert not set(estimator().get_params()) & (set(OTHER) | OLD)
    assert (estimator.limits is None) if estimator is not Audit else (Audit().limits is None)
    assert bool(estimator.limit_fields) == (estimator is Audit or estimator in LIMITED)
    assert set(estimator.own_limits) <= set(estimator.limit_fields) <= set(OTHER)


@pytest.mark.parametrize("estimator", [*LIMITED, Audit])
def test_a_field_is_set_read_and_cloned(estimator):
    for name in estimator.limit_fields:
        made = estimator().set_params(**{f"limits__{name}": OTHER[name]})
        again = pickle.loads(pickle.dumps(clone(made)))
        for one in (made, again, estimator(limits=Limits(**{name: OTHER[name]}))):
            assert one.limits == Limits(**{name: OTHER[name]})
            assert one.get_params()[f"limits__{name}"] == OTHER[name]
            assert one._limit(name) == OTHER[name]
        assert made.set_params(**{f"limits__{name}": math.inf})._limit(name) is None
        assert estimator()._limit(name) == estimator.own_limits.get(name)
    assert clone(estimator()).limits is None


def test_a_field_that_is_set_changes_no_other_detector():
    limits = Limits(tests=5)
    first, second = KOSEI(limits=limits), KOSEI(limits=limits)
    second.set_params(limits__tests=9, limits__found=1)
    assert first.limits == limits == Limits(tests=5)
    assert second.limits == Limits(tests=9, found=1)
    assert second.set_params(limits=None, limits__found=2).limits == Limits(found=2)


@BY_NAME
def test_the_docstring_lists_the_fields(detector):
    text = detector.__doc__.partition("\nlimits : Limits or None")[2].partition("\nmissing :")[0]
    for name in OTHER:
        assert (f"- `{name}`: " in text) == (name in detector.limit_fields), name


@BY_NAME
def test_a_field_that_is_not_used_is_an_error(detector):
    X, y = people(40)
    for name in set(OTHER) - set(detector.limit_fields):
        wrong = detector(protected="sex", limits=Limits(**{name: OTHER[name]}))
        said = rf"limits has {name}=.*which {detector.__name__} does not use\. It uses "
        with pytest.raises(ValueError, match=said) as e:
            wrong.fit(X, y)
        assert all(field in str(e.value) for field in detector.limit_fields)


@pytest.mark.parametrize(
    ("field", "value"),
    [(f, v) for f in OTHER for v in (-1, "many", math.nan, -math.inf)] + [("rows", 0)],
)
def test_what_is_not_allowed_is_refused_by_name(field, value):
    X, y = people(40)
    users = [d for d in (KOSEI, SituationTesting, Audit) if field in d.limit_fields]
    for user in users:
        audit = user(protected="sex", limits=Limits(**{field: value}))
        with pytest.raises(ValueError, match=f"The '{field}' parameter of Limits must be"):
            audit.fit(X, y, model)


def test_inf_is_no_limit_and_none_the_classs_own():
    assert KOSEI()._limit("tests") == KOSEI(limits=Limits(seconds=5))._limit("tests") == 10_000
    assert LIMI()._limit("rows") == 10_000
    assert LIMI(limits=Limits(rows=math.inf))._limit("rows") is None
    space = FeatureSpace.from_domains({"sex": [0, 1], "a": (0, 99_999)}, protected="sex")
    search = KOSEI(seeds="uniform", n_seeds=15_000, n_local=0, random_state=0)
    own = search.fit(space, model=lambda X: X["a"] > 5).result_
    assert (own.n_tested, own.stopped_by) == (10_000, "tests")
    search.set_params(limits=Limits(tests=math.inf))
    assert search.fit(space, model=lambda X: X["a"] > 5).result_.n_tested > 10_000


def test_a_grid_search_chooses_among_limits():
    X, y = people(100)
    search = GridSearchCV(DivExplorer(protected="sex"), {"limits__tests": [1, 5]}, cv=2)
    search.fit(X, y)
    assert search.best_estimator_.limits in (Limits(tests=1), Limits(tests=5))
    assert search.estimator.limits is None


def test_a_result_has_the_limits_in_force_as_json():
    X, y = people()
    search = KOSEI(protected="sex", limits=Limits(found=4, queries=math.inf), random_state=0)
    result = search.fit(X, y, model).result_
    in_force = {"tests": 10_000, "queries": "inf", "found": 4, "seconds": None}
    assert result.params["limits"] == in_force
    assert AuditResult.from_json(result.to_json()).params["limits"] == in_force
    assert (result.n_found, result.stopped_by) == (4, "found")
    monitor = DisparityMonitor(protected="sex").fit(X, y)
    assert "limits" not in monitor.result_.params
    assert not any(name in monitor.to_json() for name in (*OLD, "limits"))


def test_an_audit_hands_down_what_each_detector_uses():
    X, y = people()
    limits = Limits(tests=50, queries=5000, rows=100, seconds=900)
    names = ["GroupDisparity", "DivExplorer", "Themis", "SituationTesting"]
    settings = {"DivExplorer": {"limits": {"tests": 2, "seconds": 800}}}
    audit = Audit(protected="sex", limits=limits, detectors=names, settings=settings)
    report = audit.fit(X, y, model).report_
    used = {r.detector: r.params.get("limits") for r in report.results.values()}
    assert used["GroupDisparity"] is None
    assert used["SituationTesting"] == {"rows": 100}
    assert used["DivExplorer"]["tests"] == 2
    assert 0 < used["DivExplorer"]["seconds"] < 800
    assert (used["Themis"]["tests"], used["Themis"]["queries"]) == (50, 5000)
    assert limits == Limits(tests=50, queries=5000, rows=100, seconds=900)
    assert report.document["settings"]["limits"] == limits.to_dict()
    assert report.document["code"].startswith("from skdisc import Audit, Limits\n")
    assert "limits=Limits(queries=5000, rows=100, seconds=900, tests=50)" in report.document["code"]
    short = {"limits": Limits(seconds=1)}
    assert Audit(protected="sex", settings={"Themis": {}}, **short).limits.seconds == 1
    for wrong in ({"DivExplorer": {"limits": 3}}, {"DivExplorer": {"limits": Limits(tests=3)}}):
        with pytest.raises(ValueError, match=r"limits=.*; give a dict of the fields"):
            audit.set_params(settings=wrong).fit(X, y, model)
    with pytest.raises(ValueError, match="pass it to Audit itself, as limits="):
        audit.set_params(settings={"limits": {"tests": 3}}).fit(X, y, model)


def test_seconds_of_an_audit_are_no_part_of_its_results(tmp_path):
    """A result that was kept in a folder is read again, whatever time the audit has."""
    X, y = people()
    how = {"protected": "sex", "cache": str(tmp_path), "detectors": ["DivExplorer"]}
    Audit(**how, limits=Limits(seconds=500)).fit(X, y)
    kept = sorted(tmp_path.iterdir())
    assert kept
    Audit(**how, limits=Limits(seconds=700)).fit(X, y)
    assert sorted(tmp_path.iterdir()) == kept


def test_a_plan_holds_limits_as_an_object(tmp_path):
    path = tmp_path / "plan.json"
    limits = Limits(tests=50, found=math.inf)
    Audit(protected=["sex"], limits=limits).to_plan(path)
    plan = json.loads(path.read_text(encoding="utf-8"))
    assert plan["settings"]["limits"] == limits.to_dict()
    audit = Audit.from_plan(path)
    assert audit.limits == limits
    with pytest.raises(ValueError, match=r"tests=60 contradicts the plan"):
        audit.set_params(limits__tests=60).fit(*people())
    plan["settings"] |= {"time_budget": 60}
    path.write_text(json.dumps(plan), encoding="utf-8")
    with pytest.raises(ValueError, match=r"'time_budget'|changed"):
        Audit.from_plan(path)


def test_an_audit_with_limits_is_verified():
    X, y = people()
    how = {"protected": "sex", "detectors": ["GroupDisparity", "DivExplorer"]}
    document = Audit(**how, limits=Limits(tests=30, found=math.inf)).fit(X, y).report_.document
    assert verify(document, X, y) == []
    assert verify(document, X, y, expected={"tests": 30}) == []
    assert "tests is 30 in the audit, not 31" in verify(document, X, y, expected={"tests": 31})[0]
    document["settings"]["max_tests"] = 5
    with pytest.raises(ValueError, match="has no setting 'max_tests'"):
        verify(document, X, y)


@BY_NAME
def test_what_stops_a_search_is_a_field_of_limits(detector):
    if "tests" not in detector.limit_fields:
        return
    X, y = people(100)
    given = {"protected": "sex", "pos_label": 1, "limits": Limits(tests=0)}
    result = smallest(detector.__name__, **given).fit(X, y, model).result_
    assert (result.n_tested, result.stopped_by) == (0, "tests")
