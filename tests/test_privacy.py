"""No person in what is handed on: markers in every cell, looked for in every output."""

import json
import re
from contextlib import redirect_stderr
from html import unescape
from inspect import signature
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from markers import described, marked_people, model
from smallest import smallest

from skdisc import AuditResult, all_detectors, cli, plotting, report
from skdisc._results._findings import CaseFindings
from skdisc._results._shared_values import WITHHELD, SharedValues
from skdisc._task import _progress
from skdisc.monitoring import DisparityMonitor

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
        how = {"protected": ["sex", "origin"], "pos_label": "yes"}
        if "verbose" in signature(all_detectors()[name]).parameters:
            how["verbose"] = True
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


@pytest.mark.every(12)
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


@pytest.mark.every(12)
@every
def test_no_log_describes_a_person(name, people, results):
    X, _ = people
    log = results[name] and results.logs[name]
    # What needs no time to speak of says nothing.
    assert log.startswith(f"{name}: ") == ("verbose" in signature(all_detectors()[name]).parameters)
    assert described(log, X) == []


@pytest.mark.every(6)
@every
def test_what_is_left_is_a_result(name, results):
    for result in results[name]:
        left, shown = result.without_people(), result.last_shown or result  # of a monitor
        assert AuditResult.from_json(left.to_json()) == left
        assert left.without_people() == left
        assert left.verdict == result.verdict
        assert (left.n_found, left.n_tested) == (shown.n_found, shown.n_tested)
        report.to_html(left, show_people=True)


@pytest.mark.slow
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


def made_up(results):
    """Yield the results of searches, which make their inputs up."""
    for name in sorted(all_detectors()):
        result, _ = results[name]
        if isinstance(result.findings, CaseFindings) and result.findings.row is None:
            yield name, result


@pytest.mark.slow
def test_made_up_inputs_are_shown_in_values_that_people_share(people, results):
    X, _ = people
    for name, result in made_up(results):
        left = result.without_people()
        assert (len(left) > 0) == (not result.findings.of_people.all()), name
        for end in (left.findings.original, left.findings.altered):
            assert set(end["name"]) <= {WITHHELD}
            assert set(end["sex"]) <= {"f", "m"}
            assert not set(end["income"]) & set(X["income"])


class Coarse(Results):
    """Results about people whose rows are few enough for a search to meet them."""

    def __init__(self, people):
        super().__init__(people)
        draw = np.random.default_rng(1)
        self.X = pd.DataFrame(
            {
                "sex": self.X["sex"],
                "origin": draw.choice(["here", "there", "where"], len(self.X)),
                "points": draw.integers(0, 30, len(self.X)),
                "pay": draw.integers(20, 40, len(self.X)) * 1000,  # of one or two digits
            }
        )


def rows_of(frame, columns):
    return set(frame[columns].itertuples(index=False, name=None))


@pytest.mark.slow
def test_no_made_up_input_is_the_row_of_a_person(people):
    """Searches start from rows of people; protected columns, which they vary, do not count."""
    results = Coarse(people)
    X, own = results.X, ["points", "pay"]
    known, met = rows_of(X, own), []
    for name, result in made_up(results):
        left = result.without_people()
        theirs = [
            row in known for row in zip(*(result.findings.original[c] for c in own), strict=True)
        ]
        met += [name] * any(theirs)
        for end in (left.findings.original, left.findings.altered):
            assert not rows_of(end, own) & known, name
        assert len(left) <= len(result) - sum(theirs)
        assert AuditResult.from_json(result.to_json()).without_people() == left
        n = len(result) - len(left)
        said = f"{n:,} of {len(result):,} cases are left out, because their values, protected"
        assert (n > 0) == any(said in note for note in left.notes), name
        assert left.n_found == result.n_found
    assert len(met) >= 5, met  # the searches of this table do meet people


def test_cases_that_were_not_compared_with_people_are_not_shown(results):
    from dataclasses import replace

    result = results["KOSEI"][0]
    data = result.to_dict()
    del data["discovery"]["findings"]["of_people"]
    assert len(AuditResult.from_dict(data).without_people()) == 0
    without_rows = replace(AuditResult.from_dict(data), shared_values={})
    assert len(without_rows.without_people()) == len(result)
    data["discovery"]["findings"]["of_people"] = [True]
    with pytest.raises(ValueError, match="of_people must have one value for each case"):
        AuditResult.from_dict(data)


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


@pytest.fixture(scope="module")
def monitor(people):
    X, y = people
    watch = DisparityMonitor(protected=["sex", "origin"], pos_label="yes")
    for rows in (slice(0, 100), slice(100, None)):
        watch = watch.partial_fit(X[rows], y[rows])
    return watch


def test_no_report_of_a_monitor_describes_a_person(people, monitor, tmp_path):
    X, _ = people
    result = monitor.result_
    written = [*outputs(result), ("repr", repr(result)), ("notebook", result._repr_html_())]
    written.append(("own JSON", result.without_people().to_json()))
    found = {kind: described(text, X) for kind, text in written}
    assert found == {kind: [] for kind, _ in written}
    left = result.without_people()
    assert set(left.tables["history"]["group"]) == {
        *("all groups", "sex = 'f'", "sex = 'm'", "origin = 'there'")
    }  # with the other large group, the few others would follow


def test_the_state_of_a_monitor_says_that_it_is_data_about_people(people, monitor):
    """It has the outcomes of groups of one person: it is kept like the rows."""
    X, _ = people
    assert described(monitor.to_json(), X) == list(X["origin"][:6])
    assert json.loads(monitor.to_json())["about"].startswith("Data about people, not a document")


def test_a_small_group_of_a_monitor_is_not_named_in_what_is_printed():
    """Of 300 people, three are of an origin that the first batches do not have."""
    X = pd.DataFrame({"origin": ["a", "b"] * 150})
    X.loc[[250, 260, 270], "origin"] = "few"
    y = np.arange(300) % 3 == 0
    watch = DisparityMonitor(protected="origin")
    for start in range(0, 300, 100):
        watch = watch.partial_fit(X[start : start + 100], y[start : start + 100])
    left = watch.result_.without_people()
    assert "few" in watch.result_.to_json()
    assert "'few'" not in left.to_json()
    assert "few'" not in " ".join(text for _, text in outputs(watch.result_))
    again = DisparityMonitor.from_json(watch.to_json()).result_
    assert "'few'" not in again.without_people().to_json()
    assert again.shared_values == watch.result_.shared_values == {"origin": ["a", "b"]}
    history = watch.result_.tables["history"]
    assert history.loc[history["group"] == "origin = 'few'", "effect"].isna().all()


AUDIT = ["audit", "{}", "--protected", "sex"]
MONITOR = ["monitor", "{state}", "{}", "--protected", "sex"]
PAID = ["--target", "paid", "--favorable", "yes"]
DECIDED = ["--decision", "paid", "--favorable", "yes"]
MISTAKES = {
    "favorable does not occur": [*AUDIT, "--target", "paid", "--favorable", "maybe"],
    "favorable of a column of names": [*AUDIT, "--target", "name", "--favorable", "name1"],
    "favorable of a column of numbers": [*AUDIT, "--target", "income", "--favorable", "20000"],
    "favorable of a column with rare values": [
        *(*AUDIT, "--target", "origin", "--favorable", "here,orig")
    ],
    "no favorable name": [*AUDIT, "--target", "name"],
    "no favorable origin": [*AUDIT, "--target", "origin"],
    "weights are names": [*AUDIT, *PAID, "--weights", "name"],
    "dates are names": [*AUDIT, *PAID, "--derive", "age=name@2026-01-01"],
    "predictions are names": [*AUDIT, *PAID, "--predictions", "name"],
    "predictions are rare": [*AUDIT, *PAID, "--predictions", "origin"],
    "a cut is no number": [*AUDIT, *PAID, "--bins", "name=3"],
    "monitored favorable does not occur": [*MONITOR, "--decision", "paid", "--favorable", "maybe"],
    "monitored favorable is rare": [*MONITOR, "--decision", "origin", "--favorable", "orig"],
    "monitored decisions are names": [*MONITOR, "--decision", "name"],
    "monitored decisions are rare": [*MONITOR, "--decision", "origin"],
    "monitored groups are names": [*MONITOR[:-1], "name", *DECIDED],
}


def run(capsys, folder, people, command):
    X, y = people
    X.assign(paid=y).to_csv(folder / "people.csv", index=False)
    places = {"{}": str(folder / "people.csv"), "{state}": str(folder / "state.json")}
    code = cli.main([places.get(part, part) for part in command])
    printed = capsys.readouterr()
    return code, printed.out + printed.err


@pytest.mark.parametrize("what", MISTAKES)
def test_no_message_about_a_mistake_describes_a_person(people, tmp_path, capsys, what):
    code, printed = run(capsys, tmp_path, people, MISTAKES[what])
    assert code == 2, printed
    assert printed.startswith("skdisc: error: ")
    assert described(printed, people[0]) == []


def test_no_line_of_a_monitor_describes_a_person(people, tmp_path, capsys):
    command = [*MONITOR[:-1], "sex,origin", *DECIDED]
    for _ in range(2):  # the second time, the batch is known
        _, printed = run(capsys, tmp_path, people, command)
        assert "origin = 'there'" in printed
        assert described(printed, people[0]) == []


def texts_of(display):
    """Return all texts of a picture."""
    found = display.ax_.figure.findobj(lambda part: hasattr(part, "get_text"))
    return "\n".join(text.get_text() for text in found)


def test_pictures_name_no_small_group(people, monitor):
    """Names of groups of few are drawn on request only, as a picture is handed on, too."""
    pytest.importorskip("matplotlib")
    X, y = people
    how = {"pos_label": "yes", "protected": ["origin"]}
    groups = smallest("GroupDisparity", **how, reference="rest").fit(X, y).result_
    drawn = [(plotting.ForestDisplay, groups), (plotting.SizeEffectDisplay, groups)]
    drawn.append((plotting.MonitorDisplay, monitor.result_))
    for kind, result in drawn:
        more = {"max_groups": 20} if kind is plotting.MonitorDisplay else {}
        assert described(texts_of(kind.from_result(result, **more)), X) == []
        if kind is not plotting.SizeEffectDisplay:  # which draws points without names
            shown = kind.from_result(result, show_people=True, **more)
            assert described(texts_of(shown), X) == list(X["origin"][:6])
    points = plotting.SizeEffectDisplay.from_result(groups).table
    assert set(points["subject"]) == {"origin = 'here'", "origin = 'there'"}


@pytest.mark.parametrize("dtype", ["float32", "Float32", "Float64", object])
def test_numbers_of_any_type_are_rounded_to_one_digit(dtype):
    column = pd.Series([0.31, 0.37, 0.42, 0.99], dtype=dtype)
    shared = SharedValues.of(pd.DataFrame({"score": column}))
    assert [float(shared.shown("score", value)) for value in column] == [0.3, 0.4, 0.4, 1.0]


@pytest.mark.parametrize("dtype", ["float32", "Float32", "Float64"])
def test_no_case_that_is_shown_is_a_row_whatever_the_type_of_its_numbers(dtype):
    score = np.r_[np.arange(-9, -4) / 10, 0.2, 0.3, 0.4, np.arange(60, 100) / 100]
    X = pd.DataFrame({"sex": np.arange(len(score)) % 2, "score": score}).astype({"score": dtype})

    def score_and_sex(rows):
        return (rows["score"].astype(float) + 0.35 * rows["sex"] > 0.5).astype(int).to_numpy()

    detector = all_detectors()["Themis"](protected="sex", random_state=0)
    shown = detector.fit(X, None, score_and_sex).result_.without_people().findings.original
    assert len(shown)
    assert not np.isin(
        shown["score"].astype(float).round(4), X["score"].astype(float).round(4)
    ).any()
