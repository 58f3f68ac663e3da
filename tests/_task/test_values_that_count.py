"""Notes on values that count as unfavorable without a word, and on values that look alike."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from skdisc import Audit, BlackBox, cli
from skdisc.group import GroupDisparity

pytestmark = pytest.mark.usefixtures("no_refits")

N = 300


def people():
    """Return people, and decisions of which 40 are not known and 3 were withdrawn."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], N), "age": rng.integers(20, 60, N)})
    decision = np.array(["yes"] * 150 + ["no"] * 107 + ["unknown"] * 40 + ["withdrawn"] * 3)
    return X, rng.permutation(decision)


def told(texts):
    return [text for text in texts if text.startswith("Counted as unfavorable")]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["labels", "decisions"])
def test_values_that_count_as_unfavorable_are_listed_with_their_numbers(what):
    X, y = people()
    given = (y,) if what == "labels" else (None, BlackBox(decisions=y))
    detector = GroupDisparity(protected="sex", pos_label="yes").fit(X, *given)
    (note,) = told(detector.result_.notes)
    assert f"among the {what}: 'no' (107), 'unknown' (40), 'withdrawn' (3)" in note
    (limit,) = told(
        Audit(protected="sex", pos_label="yes").fit(X, *given).report_.document["limits"]
    )
    assert f"among the {what}: 'no' (107), 'unknown' (40), 'withdrawn' (fewer than 10)" in limit


@pytest.mark.slow
def test_each_row_counts_as_often_as_its_frequency():
    X, y = people()
    audit = Audit(protected="sex", pos_label="yes", weights="frequency")
    report = audit.fit(X, y, sample_weight=np.full(N, 4)).report_
    assert "'unknown' (160), 'withdrawn' (12)" in told(report.document["limits"])[0]


@pytest.mark.slow
def test_two_values_need_no_word():
    X, y = people()
    known = np.isin(y, ["yes", "no"])
    audit = Audit(protected="sex", pos_label="yes").fit(X[known], y[known])
    assert not told(audit.report_.document["limits"])
    detector = GroupDisparity(protected="sex", pos_label="yes").fit(X[known], y[known])
    assert not told(detector.result_.notes)


def test_numbers_are_not_favorable_or_unfavorable():
    X, _ = people()
    result = GroupDisparity(protected="sex", output="value").fit(X, X["age"]).result_
    assert not told(result.notes)


@pytest.mark.slow
def test_a_model_of_several_labels_was_trained_on_values_that_are_listed():
    X, y = people()
    X["sex"] = (X["sex"] == "F").astype(int)
    audit = Audit(DecisionTreeClassifier(max_depth=2), protected="sex", pos_label="yes")
    (limit,) = told(audit.fit(X, y).report_.document["limits"])
    assert "among the labels: 'no' (107)" in limit


@pytest.mark.slow
@pytest.mark.parametrize("counted", [[], ["--by-parts"]])
def test_the_command_line_lists_them(tmp_path, capsys, counted):
    X, y = people()
    X.assign(decision=y).to_csv(tmp_path / "people.csv", index=False)
    options = ["--target=decision", "--favorable=yes", "--protected=sex", *counted]
    cli.main(["audit", str(tmp_path / "people.csv"), *options])
    text = " ".join(capsys.readouterr().out.split())
    assert "'no' (107), 'unknown' (40), 'withdrawn' (fewer than 10)" in text


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [object, "category"])
def test_values_that_differ_by_case_or_blanks_are_named(dtype):
    X, y = people()
    X["sex"] = X["sex"].map({"F": "female", "M": "male"})
    X.loc[:30, "sex"] = X.loc[:30, "sex"].str.upper()
    X.loc[60:90, "sex"] += " "
    X["sex"] = X["sex"].astype(dtype)
    detector = GroupDisparity(protected="sex", pos_label="yes").fit(X, y)
    (note,) = [text for text in detector.result_.notes if "case or blanks" in text]
    assert note.startswith("Values of sex")
    notices = Audit(protected="sex", pos_label="yes").fit(X, y).report_.document["notices"]
    (noticed,) = [n["seen"] for n in notices if "case or blanks" in n["seen"]]
    for text in (note.split(": ")[1], noticed):
        for values in (("'male'", "'MALE'", "'male '"), ("'female'", "'FEMALE'", "'female '")):
            assert all(value in text for value in values)


@pytest.mark.slow
def test_values_that_differ_otherwise_are_not_named():
    X, y = people()
    detector = GroupDisparity(protected=["sex", "age"], pos_label="yes").fit(X, y)
    report = Audit(protected=["sex", "age"], pos_label="yes").fit(X, y).report_
    noticed = [note["seen"] for note in report.document["notices"]]
    assert not any("case or blanks" in text for text in [*detector.result_.notes, *noticed])
