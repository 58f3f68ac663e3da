"""An audit of counts says what the audit of the people behind them says."""

import signal

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, Rule
from skdisc._results._judgment import FOUND
from skdisc.auditing import _document, _run

COLUMNS = ["attribute", "group", "n", "selected"]
SEX = [("sex", "F", 900, 180), ("sex", "M", 1100, 440)]
RACE = [("race", "white", 1000, 310), ("race", "black", 700, 200), ("race", "other", 300, 110)]
BOTH = [
    ("sex x race", f"{s} x {r}", n, k)
    for (s, r, n, k) in [
        ("F", "white", 500, 130),
        ("F", "black", 400, 50),
        ("M", "white", 1000, 400),
    ]
]


def table(*several):
    return pd.DataFrame([row for rows in several for row in rows], columns=COLUMNS)


def people(rows):
    """Return the people of the rows of one attribute, one by one."""
    X, y = [], []
    for _, group, n, selected in rows:
        X += [group] * n
        y += ["selected"] * selected + ["not selected"] * (n - selected)
    return pd.DataFrame({rows[0][0]: X}), np.array(y)


@pytest.mark.parametrize("template", ["general", "four_fifths", "ll144"])
@pytest.mark.parametrize("rows", [SEX, RACE, BOTH], ids=["sex", "race", "both"])
def test_counts_are_the_people_counted(rows, template):
    shuffled = table(rows).sample(frac=1, random_state=0)
    counted = Audit.from_counts(shuffled, template=template).document
    X, y = people(list(shuffled.itertuples(index=False, name=None)))
    settings = {"detectors": ["GroupDisparity"], "pos_label": "selected", "template": template}
    listed = Audit(protected=rows[0][0], **settings).fit(X, y).report_.document
    for name in ("verdict", "verdicts", "evidence", "shadows", "groups"):
        assert counted[name] == listed[name]
    assert counted["about"]["audited"] == "counts"


def test_attributes_after_an_interruption_are_open(monkeypatch):
    """It is told, whichever attribute was the last to run."""
    fitted, ran = _run.Run._fitted, []

    def interrupted(self, step, limit):
        ran.append(step.attribute)
        if step.attribute == "race":
            raise KeyboardInterrupt
        return fitted(self, step, limit)

    monkeypatch.setattr(_run.Run, "_fitted", interrupted)
    document = Audit.from_counts(table(SEX, RACE, BOTH)).document
    assert ran == ["sex", "race"]
    assert document["about"]["interrupted"]
    assert document["verdict"]["exit_code"] == 130
    reasons = [row["reason"] == "its test did not run" for row in document["verdicts"]]
    assert reasons == [False, True, True]


def test_an_interruption_waits_for_the_report(monkeypatch, capsys):
    answers = _document.answers

    def interrupted(document):
        signal.raise_signal(signal.SIGINT)
        return answers(document)

    monkeypatch.setattr(_document, "answers", interrupted)
    # A process in the background of a shell ignores interruptions.
    others = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        document = Audit.from_counts(table(SEX)).document
    finally:
        signal.signal(signal.SIGINT, others)
    assert document["verdict"]["exit_code"] == 130
    assert document["verdicts"][0]["verdict"] == FOUND
    assert "interrupted" in capsys.readouterr().err


def test_several_attributes_are_several_questions():
    report = Audit.from_counts(table(SEX, RACE, BOTH))
    rows = report.document["verdicts"]
    assert [r["attribute"] for r in rows] == ["sex", "race", "sex x race"]
    alone = {n: Audit.from_counts(table(t)).document for n, t in (("sex", SEX), ("race", RACE))}
    for row in rows[:2]:
        before = alone[row["attribute"]]["verdicts"][0]
        assert row["p_value"] == before["p_value"]
        assert row["effect"] == before["effect"]
        assert row["p_adjusted"] >= before["p_adjusted"]
    first = min(rows, key=lambda r: r["p_value"])
    assert first["p_adjusted"] == pytest.approx(3 * first["p_value"], rel=1e-6)
    assert first["verdict"] == FOUND
    evidence = report.document["evidence"]
    assert [e["rank"] for e in evidence] == list(range(1, len(evidence) + 1))
    assert [e["found"] for e in evidence] == sorted((e["found"] for e in evidence), reverse=True)
    assert "sex, race and sex x race" in report.document["about"]["sentence"]
    assert report.document["about"]["n_rows"] == 2000


def test_ratios_are_those_of_the_best_group():
    rows = Audit.from_counts(table(SEX), template="ll144").document["groups"]
    ratios = {r["group"]: r["rate"] for r in rows if r["measure"] == "impact_ratio"}
    assert ratios["sex = 'F'"] == pytest.approx((180 / 900) / (440 / 1100))


def test_the_code_repeats_the_audit():
    counts = table(SEX)
    report = Audit.from_counts(counts, template="ll144", rule=Rule(relevant_gap=0.05))
    names = {"table": counts}
    exec(report.document["code"], names)
    again = names["report"].document
    assert again["verdicts"] == report.document["verdicts"]
    assert again["settings"] == report.document["settings"]
    plain = {"table": counts}
    exec(Audit.from_counts(counts).document["code"], plain)
    assert plain["report"].document["fingerprints"] != again["fingerprints"]
    assert plain["report"].document["fingerprints"]["data"] == again["fingerprints"]["data"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"selected": [901, 440]}, "sex = 'F': more people are selected than there are"),
        ({"n": [-1, 1100]}, "sex = 'F': n is negative"),
        ({"selected": [0.2, 0.4]}, "sex = 'F': selected is a fraction"),
        ({"n": ["many", 1100]}, "sex = 'F': n is not a number"),
        ({"n": [None, 1100]}, "sex = 'F': n is not a number"),
        ({"n": [0, 1100], "selected": [0, 440]}, "'sex' has people in one group only"),
        ({"n": [0, 0], "selected": [0, 0]}, "counts nobody"),
        ({"group": ["M", "M"]}, "sex = 'M': the group has two rows"),
        ({"attribute": [None, "sex"]}, "The attribute is missing"),
        ({"n": [10**15, 1100]}, "1,000,000,000,001,100 people"),
        ({"n": [1e30, 1100]}, "sex = 'F': n is beyond"),
    ],
)
def test_tables_that_count_nothing_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Audit.from_counts(table(SEX).assign(**changes))


@pytest.mark.parametrize("name", COLUMNS)
def test_a_missing_column_is_named(name):
    with pytest.raises(ValueError, match=f"no column '{name}'"):
        Audit.from_counts(table(SEX).drop(columns=name))


def test_settings_are_checked():
    with pytest.raises(ValueError, match="template"):
        Audit.from_counts(table(SEX), template="five_fifths")
