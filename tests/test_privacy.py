"""No person in what is handed on: markers in every cell, looked for in every output."""

import re
from contextlib import redirect_stderr
from html import unescape
from io import StringIO

import pandas as pd
import pytest
from markers import described, marked_people, model
from smallest import smallest

from skdisc import AuditResult, all_detectors, report
from skdisc._results._findings import CaseFindings
from skdisc._results._shared_values import WITHHELD, SharedValues
from skdisc._task import _progress

every = pytest.mark.parametrize("name", sorted(all_detectors()))


@pytest.fixture(scope="module")
def people():
    return marked_people()


class Results(dict):
    """Two results of every detector: of a model, and of labels if it takes them; and its log."""

    def __init__(self, people):
        super().__init__()
        self.X, self.y = people
        self.logs = {}

    def __missing__(self, name):
        how = {"protected": ["sex", "origin"], "pos_label": "yes", "verbose": True}
        detector = smallest(name, **how)
        with pytest.MonkeyPatch.context() as patch, redirect_stderr(StringIO()) as log:
            patch.setattr(_progress, "_SECONDS", 0.0)  # each line of progress is written
            first = detector.fit(self.X, self.y, model).result_
            asks = detector._asks
            again = detector.audit(self.X) if asks else detector.fit(self.X, self.y).result_
        self[name], self.logs[name] = [first, again], log.getvalue()
        return self[name]


@pytest.fixture(scope="module")
def results(people):
    return Results(people)


def outputs(result, **how):
    yield "text", report.to_text(result, max_rows=1000, width=300, **how)
    yield "Markdown", report.to_markdown(result, max_rows=1000, **how)
    page = report.to_html(result, max_rows=1000, **how)
    yield "page", unescape(re.sub(r"<[^<>]*>", " ", page))
    yield "source of the page", "; ".join(re.findall(r"<[^<>]*>", page))


@every
def test_no_report_describes_a_person(name, people, results, tmp_path):
    X, _ = people
    for result in results[name]:
        report.write(result, tmp_path / "report.json")
        written = [*outputs(result), ("JSON", (tmp_path / "report.json").read_text())]
        written += [("repr", repr(result)), ("own JSON", result.without_people().to_json())]
        written += [("notebook", re.sub(r"<[^<>]*>", " ", result._repr_html_()))]
        found = {kind: described(text, X) for kind, text in written}
        assert found == {kind: [] for kind, _ in written}


@every
def test_no_log_describes_a_person(name, people, results):
    X, _ = people
    log = results[name] and results.logs[name]
    assert log.startswith(f"{name}: ")
    assert described(log, X) == []


@every
def test_what_is_left_is_a_result(name, results):
    for result in results[name]:
        left = result.without_people()
        assert AuditResult.from_json(left.to_json()) == left
        assert left.without_people() == left
        assert (left.verdict, left.n_found, left.n_tested) == (
            result.verdict,
            result.n_found,
            result.n_tested,
        )
        report.to_html(left, show_people=True)


def test_on_request_people_are_described(people, results, tmp_path):
    """The same search for markers finds them where people are shown: it is not blind."""
    X, _ = people
    for name in ("CounterfactualFairness", "SituationTesting"):  # they list people
        result = results[name][0]
        report.write(result, tmp_path / "report.json", show_people=True)
        written = [*outputs(result, show_people=True)]
        written.append(("JSON", (tmp_path / "report.json").read_text()))
        for kind, text in written:
            if kind == "source of the page":
                continue
            found = described(text, X)
            assert any(isinstance(m, str) for m in found), (name, kind)
            assert any(isinstance(m, float) for m in found), (name, kind)


def test_small_groups_are_counted(people):
    X, y = people
    group = smallest("GroupDisparity", protected=["origin"], pos_label="yes", reference="rest")
    left = group.fit(X, y).result_.without_people()
    names = {"origin = 'here'", "origin = 'there'"}
    assert set(left.tables["measures"]["group"]) == names
    assert "Groups of fewer than 10 people are counted, not described" in left.notes[-1]
    assert set(left.by_value) == {"origin=here", "origin=there"}


def test_made_up_inputs_are_shown_in_values_that_people_share(people, results):
    X, _ = people
    for name in all_detectors():
        result, _ = results[name]
        if not isinstance(result.findings, CaseFindings) or result.findings.row is not None:
            continue
        left = result.without_people()
        assert len(left) == len(result) > 0, name
        for end in (left.findings.original, left.findings.altered):
            assert set(end["name"]) == {WITHHELD}
            assert set(end["sex"]) <= {"f", "m"}
            assert not set(end["income"]) & set(X["income"])


def test_what_is_not_known_is_not_shown(results):
    from dataclasses import replace

    old = replace(results["KOSEI"][0], shared_values=None)
    assert len(old) > len(old.without_people()) == 0
    assert "show_people=True" in report.to_text(old)


VALUES = SharedValues({"a": ["x", "it's", 3, True], "town (now)": ["'", "y z"]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 'x'", True),
        ("a = 'w'", False),
        ('a = "it\'s" and b = 5', True),
        ("a = 3 and 5 < b <= 7", True),
        ("a = 4", False),
        ("a = True", True),
        ("a in {'x', 3}", True),
        ("a in {'x', 'w'}", False),
        ("a in {'x', '(12 withheld)'}", True),
        ("a in {'x', 'w", False),
        ("a is missing", True),
        ("a=x", True),
        ("a=w", False),
        ("a := 'w'", False),
        ("b = 'w'", True),
        ("data = 'w'", True),
        ("town (now) = 'y z' and a = 'x'", True),
        ("town (now) = 'y' and a = 'x'", False),
        ('town (now) = "\'"', True),
        ("a = '", False),
        ("a = ", False),
    ],
)
def test_texts_with_values_that_few_share_are_found(text, expected):
    assert VALUES.describe(text) is expected


def test_values_are_rounded_or_withheld():
    X = pd.DataFrame({"n": [7] * 10 + [7654], "t": ["a"] * 9 + ["b"] * 2, "d": [0.25] * 11})
    known = SharedValues.of(X)
    assert known.values == {"n": [7], "t": [], "d": [0.25]}
    assert (known.shown("n", 7), known.shown("n", 7654), known.shown("n", None)) == (7, 8000, None)
    assert known.shown("t", "a") == known.shown("n", "a") == WITHHELD
    assert known.shown("d", 0.37) == 0.4
    assert SharedValues.of(X, 2, ["t"]).values == {"t": ["a", "b"]}
    assert not SharedValues({"a": [1]}).has("a", True)
    assert SharedValues({"a": [1]}).has("b", 5)
