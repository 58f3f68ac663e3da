"""No person in an audit: markers in every cell of a table, looked for in every output."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from documents import breaches, example
from markers import described, marked_people, model

from skdisc import Audit, BlackBox
from skdisc._results._shared_values import SharedValues
from skdisc.auditing._audit_report import TABLES
from skdisc.auditing._privacy import without_people

TAGS = r"<[^<>]*>"


@pytest.fixture(scope="module", params=["labels", "model", "small cells"])
def audited(request):
    X, y = marked_people()
    audit = Audit(protected=["sex", "origin"], pos_label="yes", max_predicates=2)
    if request.param == "small cells":
        audit.set_params(min_cell=1)
    given = model if request.param == "model" else None
    return X, audit.fit(X, y, given).report_, request.param == "small cells"


def outputs(report):
    page = report.to_html()
    yield "page", unescape(re.sub(TAGS, " ", page))
    yield "source of the page", "; ".join(re.findall(TAGS, page))
    yield "notebook", unescape(re.sub(TAGS, " ", report._repr_html_()))
    yield from {f"CSV {kind}": report.to_csv(kind=kind) for kind in TABLES}.items()
    yield "metrics", repr(report.metrics())
    for name in ("to_json", "to_markdown", "to_text", "to_junit", "to_model_card", "__repr__"):
        yield name, getattr(report, name)()


@pytest.mark.slow
@pytest.mark.every(3)
def test_no_output_describes_a_person(audited):
    X, report, small = audited
    found = {kind: described(text, X) for kind, text in outputs(report)}
    if small:  # the same search for markers finds them where small cells are described
        assert {"page", "to_json", "CSV groups"} <= {kind for kind, m in found.items() if m}
    else:
        assert found == {kind: [] for kind in found}
    assert breaches(report.document) == []


@pytest.mark.slow
def test_small_groups_are_counted_together(audited):
    _, report, small = audited
    rows = [r for r in report.document["groups"] if r["attribute"] == "origin"]
    together = [r for r in rows if r["group"].endswith("others'")]
    assert bool(together) is not small
    assert small or all(r["n"] >= 10 for r in rows)
    said = "Values of 'origin' that few people have are counted together."
    assert (said in report.document["limits"]) is not small


def test_what_is_large_is_kept():
    document = example()
    everything = SharedValues({})
    assert without_people(document, everything, 1) == document


def test_findings_about_few_are_left_out_and_counted():
    document = example()
    left = without_people(document, SharedValues({}), 1000)
    assert [row["group"] for row in left["evidence"]] == ["sex = 'Female'", "race = 'Black'"]
    assert [row["rank"] for row in left["evidence"]] == [1, 2]
    assert [row["of"] for row in left["shadows"]] == [1]  # the other was about 300 people
    assert left["limits"][-1].startswith("2 findings and shadows are left out")
    small = [row for row in left["groups"] if row["n"] < 1000]
    assert len(small) == 9
    assert all(row["rate"] is None and row["suppressed"] for row in small)
    assert breaches(left) == []


def test_values_that_few_share_are_not_named():
    known = {"sex": ["Female", "Male"], "race": ["White"], "education": [], "age": [37]}
    left = without_people(example(), SharedValues(known), 10)
    text = repr(left)
    assert "Black" not in text
    assert "Bachelors" not in text
    assert "HS-grad" not in text
    (case,) = left["cases"]
    assert case["examples"][0]["original"] == {
        "age": 37,
        "education": "(withheld)",
        "sex": "Female",
    }
    (verdict,) = [v for v in left["verdicts"] if v["attribute"] == "race" and v["effect"] is None][
        :1
    ]
    assert verdict["verdict"] == "disparity found"
    assert verdict["p_value"] == 1e-60
    rows = [r["group"] for r in left["groups"] if r["measure"] == "selection_rate"]
    assert rows[-1] == "4 groups of fewer than 10 people"


def test_rows_of_people_are_no_examples():
    document = example()
    document["cases"][0]["made_up"] = False
    assert without_people(document, SharedValues({}), 1)["cases"][0]["examples"] == []


@pytest.mark.parametrize("min_cell", [10, 1])
def test_a_rate_of_few_people_is_that_of_a_small_group(min_cell):
    """Of 40 people of one origin 8 are qualified, and none of these is selected."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"origin": ["a"] * 40 + ["b"] * 600 + ["c"] * 600})
    y = np.where(X["origin"] == "a", X.index < 8, rng.random(1240) < 0.5).astype(int)
    selected = np.where(X["origin"] == "a", (X.index >= 8) & (X.index < 28), y)
    audit = Audit(protected="origin", detectors=["GroupDisparity"], min_cell=min_cell)
    report = audit.fit(X, y, BlackBox(decisions=selected)).report_
    rates = {r["measure"]: r for r in report.document["groups"] if r["group"] == "origin = 'a'"}
    found = {r["measure"] for r in report.document["evidence"] if "'a'" in r["group"]}
    assert rates["selection_rate"]["rate"] == 0.5
    assert rates["false_positive_rate"]["rate"] == 0.625
    shown = min_cell == 1
    assert (rates["true_positive_rate"]["rate"] == 0) is shown
    assert (rates["true_positive_rate"]["gap"] is None) is not shown
    assert ("true_positive_rate" in found) is shown
    (answer,) = (v for v in report.document["verdicts"] if v["null"] == "marginal")
    assert answer["verdict"] == "disparity found"
    assert (answer["group"] == "origin = 'a'") is (answer["effect"] is not None) is shown
    assert any("are left out" in text for text in report.document["limits"]) is not shown
    assert breaches(report.document) == []


def test_the_gap_from_few_others_tells_what_they_got_and_is_not_shown():
    X = pd.DataFrame({"origin": ["a"] * 8 + ["b"] * 600, "town": ["u", "v"] * 304})
    y = np.where(X["origin"] == "a", 0, np.arange(608) % 8 > 0).astype(int)
    report = Audit(protected="origin").fit(X, y).report_.document
    rows = [r for r in report["groups"] if r["group"] == "origin = 'b'"]
    assert report["verdict"]["verdict"] == "disparity found"
    assert {r["gap"] for r in rows} == {r["rate"] for r in rows} == {None}
    assert not [r for r in report["evidence"] if "'b'" in r["group"]]
    assert {v["effect"] for v in report["verdicts"]} == {None}
    assert not report["gaps"]
    assert breaches(report) == []


def test_few_people_held_out_are_a_small_group():
    """Of 16 people of one origin, about half are held out; a rate of these is not shown."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"origin": ["a"] * 16 + ["b"] * 600 + ["c"] * 600})
    y = np.where(X["origin"] == "a", 0, rng.random(1216) < 0.7).astype(int)
    audit = Audit(protected="origin", detectors=["GroupDisparity", "DivExplorer"], confirm=0.5)
    report = audit.fit(X, y).report_
    result = report.results["GroupDisparity origin"]
    table = result.findings.table.assign(group=list(map(str, result.findings.subgroups)))
    table = table[table["measure"] == "mean_difference"].set_index("group")
    own = table.loc["origin = 'a'"]
    assert own["held_out_support"] < 10 < own["held_out_support"] + own["support"]
    numbers = {own["held_out_effect"], own["effect"], own["held_out_ci_low"], own["ci_low"]}
    assert not numbers & set(_floats(report.document))
    assert "'a'" not in str([row["group"] for row in report.document["evidence"]])
    assert own["held_out_effect"] not in set(_floats(result.without_people().to_dict()))


def _floats(value):
    """Yield all floating-point numbers in a document."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _floats(inner)
    elif isinstance(value, float):
        yield value
