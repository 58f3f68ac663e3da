"""The rule of verdicts: one object, set and read alike in detectors, audits and plans."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdisc import Audit, AuditResult, Rule, all_detectors
from skdisc._verdicts._rule import CORRECTIONS
from skdisc.group import GroupDisparity, VeriFair
from skdisc.individual import Themis
from skdisc.multiclass import OneVsRest
from skdisc.subgroup import DivExplorer, SliceFinder

OTHER = {
    "significance": 0.01,
    "relevant_gap": 0.07,
    "relevant_ratio": 0.7,
    "relevant_size": 0.1,
    "relevant_share": 0.02,
    "min_effect": 0.03,
    "correction": "by",
}


def people(n=400, seed=0):
    """Return people and labels of which sex moves the rate."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "town": rng.choice(["u", "v"], n)})
    return X, (rng.random(n) < np.where(X["sex"] == "m", 0.6, 0.3)).astype(int)


def test_a_rule_has_exactly_these_fields():
    assert Rule().get_params() == {
        "significance": 0.05,
        "relevant_gap": None,
        "relevant_ratio": 0.8,
        "relevant_size": 0.05,
        "relevant_share": 0.01,
        "min_effect": 0.0,
        "correction": None,
    }
    assert set(OTHER) == set(Rule().get_params())


def test_rules_are_equal_by_their_fields():
    assert Rule(**OTHER) == Rule(**OTHER)
    assert pickle.loads(pickle.dumps(Rule(min_effect=0.1))) == clone(Rule(min_effect=0.1))
    for name, value in OTHER.items():
        assert Rule() != Rule(**{name: value}), name
    assert Rule() != Rule().to_dict()
    with pytest.raises(TypeError, match="unhashable"):
        hash(Rule())


@pytest.mark.parametrize("estimator", [*all_detectors().values(), Audit])
def test_no_estimator_has_a_field_of_its_own(estimator):
    assert not set(estimator().get_params()) & set(OTHER)
    assert estimator().rule is None
    for name in OTHER:
        with pytest.raises((AttributeError, TypeError)):
            setattr(estimator(), name, OTHER[name])


@pytest.mark.parametrize("estimator", [*all_detectors().values(), Audit])
def test_a_field_is_set_read_and_cloned(estimator):
    for name in estimator.rule_fields:
        made = estimator().set_params(**{f"rule__{name}": OTHER[name]})
        again = pickle.loads(pickle.dumps(clone(made)))
        for one in (made, again, estimator(rule=Rule(**{name: OTHER[name]}))):
            assert getattr(one, name) == OTHER[name]
            assert one.get_params()[f"rule__{name}"] == OTHER[name]
            assert f"{name}={OTHER[name]!r}" in repr(one)
        others = [n for n in OTHER if n not in (name, "correction")]
        assert [getattr(made, n) for n in others] == [getattr(Rule(), n) for n in others]
    assert estimator().set_params(rule=None, rule__significance=0.2).significance == 0.2
    assert clone(estimator()).rule is None


def test_clones_do_not_share_a_rule():
    first = GroupDisparity(rule=Rule())
    clone(first).set_params(rule__significance=0.01)
    assert first.significance == 0.05


def test_the_correction_is_the_classs_own_if_the_rule_leaves_it_open():
    for detector in all_detectors().values():
        if "correction" in detector.rule_fields:
            assert detector(rule=Rule()).correction == detector.own_correction in CORRECTIONS
            assert detector(rule=Rule(correction="none")).correction == "none"


@pytest.mark.parametrize("estimator", all_detectors().values())
def test_a_field_that_is_not_used_is_an_error(estimator):
    X, y = people(40)
    for name in set(OTHER) - set(estimator.rule_fields):
        detector = estimator(protected="sex", rule=Rule(**{name: OTHER[name]}))
        with pytest.raises(ValueError, match=rf"{name}=.*{estimator.__name__} does not use") as e:
            detector.fit(X, y)
        assert all(field in str(e.value) for field in estimator.rule_fields)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (name, value)
        for name, values in {
            "significance": [0, 1, "a"],
            "relevant_gap": [0, -1, "large", "0%", "%"],
            "relevant_ratio": [0, 1],
            "relevant_size": [0, 1],
            "relevant_share": [-1, 1],
            "min_effect": [-1],
            "correction": ["fdr"],
        }.items()
        for value in values
    ],
)
def test_what_is_not_allowed_is_refused_by_name(field, value):
    X, y = people(40)
    for audit in (Audit(protected="sex"), DivExplorer(protected="sex")):
        if field in audit.rule_fields:
            with pytest.raises(ValueError, match=field):
                audit.set_params(**{f"rule__{field}": value}).fit(X, y)


def test_alpha_investing_is_for_slice_finder_only():
    X, y = people(200)
    rule = Rule(correction="alpha-investing")
    assert SliceFinder(rule=rule).correction == "alpha-investing"
    with pytest.raises(ValueError, match="'alpha-investing', which DivExplorer does not have"):
        DivExplorer(protected="sex", rule=rule).fit(X, y)


def test_a_result_has_the_rule_in_force_as_json():
    X, y = people()
    result = GroupDisparity(protected="sex", rule=Rule(significance=0.01)).fit(X, y).result_
    fields = {n: getattr(Rule(), n) for n in GroupDisparity.rule_fields}
    assert result.rule == fields | {"significance": 0.01, "correction": "bh"}
    assert AuditResult.from_json(result.to_json()).rule == result.rule
    assert result.significance == 0.01
    assert VeriFair.rule_fields == ("significance", "relevant_gap")
    assert Themis(protected="sex").fit(X, y).result_.rule == {
        "significance": 0.05,
        "relevant_share": 0.01,
    }


@pytest.mark.slow
def test_an_audit_hands_down_what_each_detector_uses():
    X, y = people(300)
    rule = Rule(**OTHER)
    settings = {"DivExplorer": {"rule": {"correction": "none"}}}
    audit = Audit(protected="sex", rule=rule, settings=settings).fit(X, y)
    for result in audit.report_.results.values():
        detector = all_detectors()[result.detector]
        expected = {n: OTHER[n] for n in detector.rule_fields}
        if result.detector == "DivExplorer":
            expected["correction"] = "none"
        assert result.rule == expected
    assert audit.report_.document["settings"]["rule"] == OTHER
    assert rule.get_params() == OTHER
    assert "rule=Rule(correction=" in audit.report_.document["code"]
    with pytest.raises(ValueError, match="rule=3; give a dict of the fields"):
        audit.set_params(settings={"DivExplorer": {"rule": 3}}).fit(X, y)


def test_a_plan_holds_a_rule_as_an_object(tmp_path):
    path = tmp_path / "plan.json"
    Audit(protected=["sex"], rule=Rule(**OTHER)).to_plan(path)
    plan = json.loads(path.read_text(encoding="utf-8"))
    assert plan["schema"] == "skdisc-plan/2"
    assert plan["settings"]["rule"] == OTHER
    audit = Audit.from_plan(path)
    assert audit.rule.get_params() == OTHER
    with pytest.raises(ValueError, match=r"relevant_gap=0.2 contradicts the plan"):
        audit.set_params(rule__relevant_gap=0.2).fit(*people())


@pytest.mark.slow
def test_a_plan_without_a_rule_fixes_the_defaults(tmp_path):
    path = tmp_path / "plan.json"
    Audit(protected=["sex"]).to_plan(path)
    X, y = people()
    assert Audit.from_plan(path).set_params(rule=Rule()).fit(X, y).report_ is not None
    with pytest.raises(ValueError, match="contradicts the plan"):
        Audit.from_plan(path).set_params(rule__significance=0.01).fit(X, y)


def test_one_vs_rest_divides_the_level_of_the_rule():
    X, y = people(300)
    y = np.where(X["town"] == "u", y, 2)
    rule = Rule(significance=0.03, relevant_gap=0.2)
    audit = OneVsRest(GroupDisparity(protected="sex", rule=rule)).fit(X, y)
    for detector in audit.detectors_.values():
        assert (detector.significance, detector.relevant_gap) == (0.01, 0.2)
    assert rule.significance == 0.03
