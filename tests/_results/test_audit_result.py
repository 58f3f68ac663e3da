"""An AuditResult says one thing in every form: numbers, frames, JSON, a verdict."""

import copy
import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from columns import frames, known
from hypothesis import given, settings
from hypothesis import strategies as st

import skdisc
from skdisc import AuditResult, Case, FeatureSpace, Finding, Predicate, Subgroup
from skdisc._results._audit_result import SCHEMA_VERSION
from skdisc._results._findings import (
    STATISTICS,
    CaseFindings,
    Discovery,
    GroupFindings,
    feature_names,
)
from skdisc._results._judgment import Judgment
from skdisc._space._keys import couple
from skdisc._verdicts._answer import Answer, decide
from skdisc._verdicts._candidates import Candidates
from skdisc.group import GroupDisparity

PEOPLE = pd.DataFrame(
    {
        "age": [30, 45, 61],
        "income": [1.5, np.nan, -0.25],
        "sex": ["F", "M", None],
        "grade": pd.Categorical(["lo", None, "hi"], ["lo", "mid", "hi"], ordered=True),
        "veteran": pd.array([True, None, False], dtype="boolean"),
    }
)
CLOCK = {"total_time": 12.0, "versions": {"python": "0"}}


def cases(X=PEOPLE, protected="sex", row=None):
    """Make the findings "the first protected value against the second", one per row."""
    space = FeatureSpace.from_frame(X if len(X) else PEOPLE, protected=[protected])
    altered = X.assign(**{protected: X[protected].to_numpy()[::-1]})
    outcome = np.linspace(0, 0.5, len(X))
    return CaseFindings(X, altered, outcome, 1 - outcome, space=space, row=row)


def groups(n=3):
    subgroups = [
        Subgroup([Predicate.equals("sex", "F"), Predicate.between("age", 30, np.inf)]),
        Subgroup([Predicate.is_missing("sex")]),
        Subgroup([Predicate.isin("grade", ["lo", None])]),
    ][:n]
    table = pd.DataFrame(
        {
            "outcome": [0.25, np.nan, 1.0],
            "effect": [-0.25, np.nan, 0.5],
            "ci_low": [-0.5, np.nan, 0.1],
            "ci_high": [0.0, np.nan, np.inf],
            "p_value": [0.01, np.nan, 1e-300],
            "p_adjusted": [0.02, np.nan, 2e-300],
            "test": ["exact", None, "exact"],
            "support": [10, 0, 2],
            "trials": [10, 0, 2],
        }
    ).iloc[:n]
    space = FeatureSpace.from_frame(PEOPLE)
    keys = [space.subgroup_key(g) for g in subgroups]
    return GroupFindings(subgroups, table, space.names, keys)


def discovery(findings, **changes):
    fields = {
        "findings": findings,
        "measure": "decision",
        "n_tested": 8,
        "n_found": 2,
        "by_value": {"sex=F": (8, 2), "sex=missing": (0, 0)},
        "estimates": pd.DataFrame({"name": ["share"], "estimate": [np.nan], "n": [0]}),
        "excluded": pd.DataFrame({"subject": ["sex = 'X'"], "n": [1], "reason": ["too few"]}),
        "tables": {"curve": pd.DataFrame({"x": [0.0, np.inf], "y": ["a", None]})},
        "notes": ["a note"],
    }
    return Discovery(**{**fields, **changes})


def result(findings=None, *, found=None, **changes):
    findings = cases() if findings is None else findings
    fields = {
        "detector": "Detector",
        "params": {"k": 10, "gap": None, "rule": {"significance": 0.1}, "features": ["a", "b"]},
        "audited": "model",
        "pos_label": [1],
        "protected": ["sex"],
        "n_samples": 3,
        "n_queries": 16,
        "stopped_by": None,
        "total_time": 4.0,
        "discovery": discovery(findings, **(found or {})),
    }
    return AuditResult(**{**fields, **changes})


both = pytest.mark.parametrize("make", [cases, groups], ids=["cases", "groups"])


def reject(constant):
    raise AssertionError(f"{constant} is no JSON")


# JSON


@both
@pytest.mark.parametrize("indent", [None, 2])
def test_json_round_trip(make, indent):
    one = result(make())
    text = one.to_json(indent=indent)
    again = AuditResult.from_json(text)
    assert again == one
    assert again.to_json(indent=indent) == text
    assert ("\n" in text) == (indent is not None)
    json.loads(text, parse_constant=reject)


@both
def test_what_comes_back_is_the_same_in_every_form(make):
    one = result(make())
    again = AuditResult.from_json(one.to_json())
    for kind in ("findings", "pairs" if make is cases else "subgroups"):
        got, wanted = again.to_frame(kind), one.to_frame(kind)
        assert list(got) == list(wanted)
        for name in wanted:
            assert known(got[name]) == known(wanted[name])
            assert got[name].dtype == wanted[name].dtype
    assert [str(f) for f in again] == [str(f) for f in one]
    assert str(again.metrics) == str(one.metrics)
    assert (again.verdict, again.significance) == (one.verdict, one.significance)
    assert (again.notes, again.by_value) == (one.notes, one.by_value)
    assert again.tables["curve"].equals(one.tables["curve"])
    assert again.excluded.equals(one.excluded)
    assert again.estimates.equals(one.estimates)


@pytest.mark.slow
@settings(max_examples=20)
@given(frames(min_columns=2), st.booleans())
def test_json_round_trip_of_cases_of_any_dtype(X, with_rows):
    row = np.arange(len(X)) * 2 if with_rows else None
    findings = cases(X, next(iter(X)), row)
    one = result(findings, protected=list(X)[:1])
    again = AuditResult.from_json(one.to_json())
    assert again == one
    assert [f.subject for f in again] == [f.subject for f in one]
    assert (again.findings.row is None) == (not with_rows)


@both
def test_nothing_found(make):
    findings = cases(PEOPLE.iloc[:0]) if make is cases else groups(0)
    one = result(
        findings, found={"estimates": None, "excluded": None, "tables": {}, "by_value": {}}
    )
    again = AuditResult.from_json(one.to_json())
    assert again == one
    assert len(again) == len(again.to_frame()) == 0
    kind = "pairs" if make is cases else "subgroups"
    assert (
        list(again.to_frame(kind))
        == list(one.to_frame(kind))
        == list(result(make()).to_frame(kind))
    )
    assert again.estimates is None


def test_an_answer_comes_back():
    candidates = Candidates.of_rates([40, 2], [100, 3], [42, 80], [100, 197], total=200)
    answer = decide(candidates, relevant_gap=0.1, relevant_size=0.01)
    one = result(found={"answer": answer})
    again = AuditResult.from_json(one.to_json())
    assert again.answer == one.answer
    assert again == one
    assert again.answer.bound is None  # three people bound nothing


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1, None, "1"])
def test_another_schema_is_refused(version):
    data = {**result().to_dict(), "schema_version": version}
    message = rf"This is schema version {version!r}; .* reads version {SCHEMA_VERSION}"
    with pytest.raises(ValueError, match=message):
        AuditResult.from_dict(data)
    with pytest.raises(ValueError, match=r"This is schema version None"):
        AuditResult.from_json("{}")


def test_json_needs_no_objects():
    one = result(n_samples=np.int64(3), n_queries=np.int32(4), found={"n_tested": np.int64(8)})
    assert AuditResult.from_json(one.to_json()) == one
    assert json.loads(one.to_json())["n_samples"] == 3


# Equality


@both
def test_equality_ignores_time_and_versions(make):
    assert result(make()) == result(make(), **CLOCK)
    params = dict(reversed(result().params.items()))
    assert result(make(), params=params) == result(make())


@pytest.mark.parametrize(
    "change",
    [
        {"detector": "Other"},
        {"params": {"k": 11}},
        {"audited": "surrogate"},
        {"pos_label": [0]},
        {"protected": []},
        {"n_samples": 4},
        {"n_queries": 17},
        {"stopped_by": "tests"},
        {"found": {"n_tested": 9}},
        {"found": {"n_found": 1}},
        {"found": {"answer": Answer("no disparity found")}},
        {"found": {"notes": []}},
        {"found": {"by_value": {}}},
        {"found": {"excluded": None}},
        {"found": {"tables": {}}},
        {"found": {"measure": "other"}},
    ],
)
def test_equality_sees_everything_else(change):
    assert result(**change) != result()


def test_results_of_other_findings_differ():
    assert result(cases(PEOPLE.iloc[:2])) != result()
    assert result(groups(2)) != result(groups(3))
    assert result(groups()) != result(cases())
    assert result() != "result"
    with pytest.raises(TypeError, match="unhashable"):
        hash(result())


@both
def test_pickle_and_copy(make):
    one = result(make())
    for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
        assert again == one
        assert again.total_time == one.total_time


def test_frozen():
    with pytest.raises(AttributeError):
        result().detector = "Other"
    with pytest.raises(AttributeError):
        result()[0].rank = 2


# Metrics


def test_metrics():
    metrics = result().metrics
    assert metrics == {
        "TSN": 8,
        "DSN": 2,
        "SUR": 0.25,
        "DSS": 2.0,
        "EGS": 0.5,
        "total_time": 4.0,
        "dsn_by_attr_value": metrics["dsn_by_attr_value"],
    }
    by_value = metrics["dsn_by_attr_value"]
    assert list(by_value) == ["sex=F", "sex=missing", "total"]
    assert by_value["sex=F"] == {"TSN": 8, "DSN": 2, "SUR": 0.25, "DSS": 2.0}
    assert by_value["total"] == {"TSN": 8, "DSN": 2, "SUR": 0.25, "DSS": 2.0}
    nothing = by_value["sex=missing"]
    assert (nothing["TSN"], nothing["DSN"]) == (0, 0)
    assert math.isnan(nothing["SUR"])
    assert math.isnan(nothing["DSS"])


@pytest.mark.parametrize(
    ("tested", "found", "sur", "dss"),
    [(0, 0, math.nan, math.nan), (5, 0, 0.0, math.nan), (4, 4, 1.0, 1.0)],
)
def test_undefined_metrics_are_nan_never_0(tested, found, sur, dss):
    metrics = result(found={"n_tested": tested, "n_found": found}).metrics
    assert [metrics["SUR"], metrics["DSS"]] == pytest.approx([sur, dss], nan_ok=True)


def test_subgroups_have_dsr_too():
    metrics = result(groups()).metrics
    assert metrics["DSR"] == metrics["SUR"] == 0.25
    assert "DSR" not in result(cases()).metrics
    assert "DSR" not in metrics["dsn_by_attr_value"]["total"]


# Verdict


@pytest.mark.parametrize(
    ("n_found", "judgment", "verdict"),
    [
        (1, None, "disparity found"),
        (0, None, "insufficient evidence"),
        (1, Judgment("insufficient evidence", "few"), "insufficient evidence"),
        (0, Judgment("no disparity found"), "no disparity found"),
    ],
)
def test_verdict(n_found, judgment, verdict):
    one = result(found={"n_found": n_found, "judgment": judgment})
    assert one.verdict == verdict
    assert AuditResult.from_json(one.to_json()).verdict == verdict
    assert verdict in repr(one)


def test_significance_is_that_of_the_parameters():
    assert result().significance == 0.1
    assert result(params={}).significance == 0.05


def test_repr():
    wanted = "AuditResult(Detector, audited='model', disparity found: 2 of 8 tested, 16 queries)"
    assert repr(result()) == wanted


# Findings


def test_findings_are_objects_on_access():
    one = result(groups())
    assert len(one) == 3
    first = one[0]
    assert isinstance(first, Finding)
    assert first.subject == one.findings.subgroups[0]
    assert first.rank == 1
    assert (first.effect, first.ci_low, first.p_value, first.support) == (-0.25, -0.5, 0.01, 10)
    assert [type(getattr(first, s)) for s in STATISTICS] == [float] * 5 + [str, int]
    assert [f.rank for f in one] == [1, 2, 3]
    assert one[-1] == one[2]
    assert one[-1].rank == 3
    assert one[:2] == [one[0], one[1]]
    with pytest.raises(IndexError):
        one[3]


def test_direction_is_the_sign_and_0_where_undefined():
    assert [f.direction for f in result(groups())] == [-1, 0, 1]
    assert math.isnan(result(groups())[1].effect)


def test_a_case_has_a_gap_and_no_sampling_error():
    one = result(cases())
    finding = one[0]
    assert isinstance(finding.subject, Case)
    assert finding.subject.changed == ("sex",)
    assert finding.subject.original == {
        "age": 30,
        "income": 1.5,
        "sex": "F",
        "grade": "lo",
        "veteran": True,
    }
    assert finding.effect == finding.subject.effect == -1.0
    assert finding.support == 1
    assert finding.test == "none (fixed model)"
    missing = [finding.ci_low, finding.ci_high, finding.p_value, finding.p_adjusted]
    assert all(map(math.isnan, missing))
    assert one[1].subject.original["income"] is None


@both
def test_the_tidy_frame(make):
    one = result(make())
    frame = one.to_frame()
    assert list(frame)[:2] == ["rank", "subject"]
    assert set(STATISTICS) < set(frame)
    assert frame["rank"].tolist() == [1, 2, 3]
    assert frame["subject"].tolist() == [str(f.subject) for f in one]
    assert frame["effect"].tolist() == pytest.approx([f.effect for f in one], nan_ok=True)
    frame["effect"] = 99
    assert one[0].effect != 99


def test_rows_of_cases_are_told():
    assert result(cases(row=np.array([4, 7, 9]))).to_frame()["row"].tolist() == [4, 7, 9]
    assert "row" not in result(cases()).to_frame()
    empty = CaseFindings.from_dict(cases(PEOPLE.iloc[:0], row=[]).to_dict())
    assert empty.row.dtype == np.int64


# Pairs


def test_pairs_have_two_rows_per_case_in_the_documented_order():
    one = result(cases())
    frame = one.to_frame("pairs")
    assert list(frame) == [
        *PEOPLE,
        *("indv_key", "outcome", "couple_key", "diff_outcome", "case_id"),
        *("TSN", "DSN", "SUR", "DSS", "total_time"),
    ]
    assert len(frame) == 6
    assert frame.index.tolist() == list(range(6))
    for name in PEOPLE:
        assert known(frame[name][::2]) == known(PEOPLE[name])
        assert frame[name].dtype == PEOPLE[name].dtype
    assert known(frame["sex"][1::2]) == [None, "M", "F"]
    assert frame["case_id"].tolist() == [0, 0, 1, 1, 2, 2]
    assert frame["outcome"].tolist() == [0, 1, 0.25, 0.75, 0.5, 0.5]
    assert frame["diff_outcome"].tolist() == [-1, -1, -0.5, -0.5, 0, 0]
    for name, value in (("TSN", 8), ("DSN", 2), ("SUR", 0.25), ("DSS", 2.0)):
        assert frame[name].tolist() == [value] * 6


def test_keys_of_pairs():
    frame = result(cases()).to_frame("pairs")
    space = FeatureSpace.from_frame(PEOPLE)
    assert frame["indv_key"].tolist() == space.indv_keys(frame[list(PEOPLE)])
    mine, theirs = frame["indv_key"][::2].tolist(), frame["indv_key"][1::2].tolist()
    wanted = [couple(a, b) for a, b in zip(mine, theirs, strict=True)]
    assert frame["couple_key"][::2].tolist() == frame["couple_key"][1::2].tolist() == wanted
    assert space.read_indv_key(mine[2]) == {
        "age": 61,
        "income": -0.25,
        "sex": None,
        "grade": "hi",
        "veteran": False,
    }


# Subgroups


def test_subgroups_have_a_row_per_group_in_the_documented_order():
    frame = result(groups()).to_frame("subgroups")
    assert list(frame) == [
        *PEOPLE,
        *("subgroup_key", "outcome", "diff_outcome", "size"),
        *("ci_low", "ci_high", "p_value", "p_adjusted", "test", "trials"),
        *("TSN", "DSN", "SUR", "DSS", "DSR", "total_time"),
    ]
    assert known(frame["sex"]) == ["F", "missing", None]
    assert known(frame["age"]) == ["age > 30", None, None]
    assert known(frame["income"]) == [None, None, None]
    assert frame["subgroup_key"].tolist() == ["(30,inf]|*|0|*|*", "*|*|?|*|*", "*|*|*|{0,?}|*"]
    assert frame["size"].tolist() == [10, 0, 2]
    assert known(frame["diff_outcome"]) == [-0.25, None, 0.5]
    assert frame["DSR"].tolist() == [0.25] * 3


@pytest.mark.parametrize("make", [cases, groups])
@pytest.mark.parametrize("kind", ["pairs", "subgroups", "couples", None])
def test_the_wrong_kind_of_frame(make, kind):
    own = "pairs" if make is cases else "subgroups"
    if kind == own:
        return
    message = rf"kind must be 'findings' or '{own}' for a Detector result, got {kind!r}"
    with pytest.raises(ValueError, match=message):
        result(make()).to_frame(kind)


def test_columns_of_the_data_that_are_named_like_results():
    X = PEOPLE.rename(columns={"age": "outcome", "income": "TSN"})
    frame = result(cases(X)).to_frame("pairs")
    assert list(frame)[:3] == ["outcome_feature", "TSN_feature", "sex"]
    assert frame["outcome_feature"][::2].tolist() == PEOPLE["age"].tolist()
    assert frame["outcome"].tolist() == [0, 1, 0.25, 0.75, 0.5, 0.5]
    assert frame["TSN"].tolist() == [8] * 6
    names = GroupFindings(groups().subgroups, groups().table, ["size", "test", "sex"], "abc")
    frame = result(names).to_frame("subgroups")
    assert list(frame)[:4] == ["size_feature", "test_feature", "sex", "subgroup_key"]
    assert frame["size"].tolist() == [10, 0, 2]


# What else it holds


def test_everything_discovered_can_be_read_from_the_result():
    one = result()
    assert one.n_tested == 8
    assert one.notes == ["a note"]
    assert one.tables["curve"]["x"].tolist() == [0.0, math.inf]
    with pytest.raises(AttributeError, match=r"AuditResult has no attribute 'findngs'"):
        _ = one.findngs


def test_versions():
    versions = result().versions
    assert versions["skdisc"] == skdisc.__version__
    assert versions["pandas"] == pd.__version__
    assert set(versions) == {"python", "skdisc", "numpy", "scipy", "pandas", "scikit-learn"}


def test_a_feature_named_like_a_result_is_renamed():
    assert feature_names(["age", "row"], ("row", "case")) == {"age": "age", "row": "row_feature"}


def test_dir_lists_what_a_result_has():
    X = pd.DataFrame({"sex": ["f", "m"] * 20})
    result = GroupDisparity(protected="sex").fit(X, [0, 1] * 20).result_
    names = dir(result)
    assert {"findings", "notes", "tables", "n_tested", "verdict", "to_frame"} <= set(names)
    for name in names:
        assert name == "curve" or hasattr(result, name), name
