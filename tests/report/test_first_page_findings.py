"""What the first page says of several groups, of errors alone, and without other columns."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, BlackBox, Rule
from skdisc.report import _summary
from skdisc.report._first_page import answers, first_page
from skdisc.report._first_page._paragraphs import texts_of
from skdisc.report._first_page._units import units_of


def told(report):
    """Return the paragraph of the only protected column, with plain blanks."""
    (paragraph,) = first_page(report.document)["columns"]
    return paragraph["word"], " ".join(paragraph["more"]).replace("\u00a0", " ")


def opposite(n=3000):
    """Return a world where women are worse off in one department, and men in another."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "dept": rng.choice(list("abc"), n)})
    is_woman, dept = X["sex"] == "f", X["dept"]
    share = 0.5 - 0.15 * np.where(is_woman, 1, -1) * (1.0 * (dept == "a") - (dept == "b"))
    return X, (rng.random(n) < share).astype(int)


def test_a_second_group_is_named_beside_the_one_that_leads():
    report = Audit(protected="sex").fit(*opposite()).report_
    _, said = told(report)
    causes = [row for row in report.document["evidence"] if row["kind"] == "cause"]
    groups = {row["group"]: row["effect"] for row in causes if row["found"]}
    assert {group.split(" and ")[0] for group in groups} == {"dept = 'a'", "dept = 'b'"}
    (answer,) = answers(report.document)
    (second,) = {*groups} - {answer["worst"]["group"]}
    assert "Gaps are found at equal columns in 2 groups" in said
    assert f"one of them is {second}, with {100 * abs(groups[second]):.1f} points less" in said
    assert "without a finding" in said
    assert "other groups" not in said


def test_gaps_of_errors_are_not_said_to_be_at_equal_columns():
    """Decisions are as frequent, and miss the suitable women more often."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 3000), "year": rng.integers(0, 3, 3000)})
    y = rng.integers(0, 2, 3000)
    is_right = rng.random(3000) < np.where(X["sex"] == "f", 0.6, 0.9)
    decided = np.where(is_right, y, 1 - y)
    report = Audit(protected="sex").fit(X, y, BlackBox(decisions=decided)).report_
    verdicts = {v["null"]: v["verdict"] for v in report.document["verdicts"]}
    assert verdicts["calibration"] == "disparity found"
    assert verdicts["conditional"] == "no disparity found"
    assert told(report)[0] == "Unequal in its errors"


def test_gaps_of_rates_and_of_errors_are_both_in_the_heading():
    """Decisions are less frequent for women, and right as often: skill accounts for the rates."""
    rng = np.random.default_rng(5)
    is_woman = rng.random(4000) < 0.5
    skill = rng.integers(0, 4, 4000) + 2 * ~is_woman
    X = pd.DataFrame({"sex": np.where(is_woman, "f", "m"), "skill": skill})
    decided = (rng.random(4000) < 0.2 + 0.1 * skill).astype(int)
    y = np.where(rng.random(4000) < np.where(is_woman, 0.95, 0.7), decided, 1 - decided)
    report = Audit(protected="sex").fit(X, y, BlackBox(decisions=decided)).report_
    verdicts = {v["null"]: v["verdict"] for v in report.document["verdicts"]}
    assert verdicts["marginal"] == verdicts["calibration"] == "disparity found"
    assert verdicts["conditional"] != "disparity found"
    assert told(report)[0] == "Unequal, also in its errors"


def test_without_other_columns_none_is_equal():
    X, y = opposite()
    y = np.where((X["sex"] == "f") & (X["dept"] == "a"), 0, y)
    report = Audit(protected="sex").fit(X[["sex"]], y).report_
    word, said = told(report)
    assert word == "Unequal"
    assert "No other columns were given" in said


def test_a_whole_group_that_only_equal_columns_show_is_named():
    """One group has much lower grades, and another less pay at equal grades."""
    rng = np.random.default_rng(0)
    group, grade = rng.choice(list("abcd"), 2000), rng.integers(2, 6, 2000)
    grade = np.where(group == "a", np.maximum(grade - 2, 0), grade)
    grade = np.where(group == "d", grade + 1, grade)
    pay = 100 + 10.0 * grade - 12 * (group == "d") + rng.normal(0, 3, 2000)
    X = pd.DataFrame({"group": group, "grade": grade})
    report = Audit(protected="group", output="value").fit(X, pay).report_
    causes = [row for row in report.document["evidence"] if row["kind"] == "cause"]
    assert [row["group"] for row in causes if row["found"]] == ["group = 'd'"]
    (paragraph,) = first_page(report.document)["columns"]
    assert "it is worst for group = 'd'" in told(report)[1]
    assert "group = 'd'" in dict(paragraph["lines"])["Another group"]


@pytest.mark.parametrize("settings", [{}, {"outcome_scale": "log"}, {"confirm": 0.5}])
def test_wages_that_floats_do_not_average_exactly_have_no_range(settings):
    X, _ = opposite(600)
    wage = np.where(X["sex"] == "f", 17.35, 18.99)
    report = Audit(protected="sex", output="value", random_state=0, **settings).fit(X, wage).report_
    (paragraph,) = first_page(report.document)["columns"]
    lines = dict(paragraph["lines"])
    for line in ("Number to quote", "At equal columns"):
        assert lines[line].replace("\u00a0", " ") == "8.6 % less for sex = 'f' (range unknown)"
    (row,) = [r for r in report.document["verdicts"] if r["null"] == "marginal"]
    assert row["verdict"] == "disparity found"
    assert row["ci_low"] is None


def test_all_outcomes_equal_leave_no_range_to_quote():
    X, _ = opposite(400)
    report = Audit(protected="sex", output="value").fit(X, np.full(400, 1000.0)).report_
    (paragraph,) = first_page(report.document)["columns"]
    lines = dict(paragraph["lines"])
    assert lines["Number to quote"] == "no number: this audit found no answer"
    assert "At equal columns" not in lines


def test_why_nobody_is_compared_at_equal_columns_is_said_where_nothing_is_found():
    """A column that determines sex makes it impossible, not the number of people."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 800)})
    X["title"] = X["sex"].map({"f": "Ms", "m": "Mr"})
    report = Audit(protected="sex").fit(X, rng.integers(0, 2, 800)).report_
    (verdict,) = [v for v in report.document["verdicts"] if v["null"] == "conditional"]
    assert "title" in verdict["reason"]
    assert "title" in told(report)[1]


def test_no_bound_is_beyond_what_rates_can_differ_by():
    report = Audit(protected="sex").fit(*opposite(300)).report_
    units = units_of(report.document, texts_of(report.document, "en"))
    assert units.bound(1.3).startswith("100")
    assert units.bound(0.123).startswith("12.3")


@pytest.mark.parametrize("n", [200, 6000])
def test_more_people_are_asked_for_only_where_so_many_are_not_there(n):
    """Of 6,000 people the gaps of open groups are about the one that matters: more show no less."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "team": rng.choice(list("ab"), n)})
    pay = 1000 * np.exp(0.1 * rng.standard_normal(n)) * np.where(X["sex"] == "f", 0.95, 1)
    document = Audit(protected="sex", output="value").fit(X, pay).report_.document
    (answer,) = answers(document)
    families = [f for f in document["families"] if f["null"] == "conditional"]
    still_open = [f for f in families if not f["found"] and not f["cleared"]]
    needed = (answer["others"]["equal"] or {}).get("needed")
    if needed is not None:
        assert all(f["comparison"] < needed / 2 for f in still_open)
    assert (needed is None) == (n == 6000)


def test_errors_of_rounding_are_shown_as_zero():
    assert _summary.number(2.9e-16) == "0"
    assert _summary.number(-4.4e-6) == "-4.4e-06"


def told_of_numbers(pay, **settings):
    """Return the first paragraph about numbers that differ by sex."""
    X = pd.DataFrame({"sex": np.resize(["f", "m"], len(pay))})
    report = Audit(protected="sex", output="value", **settings).fit(X, pay).report_
    (paragraph,) = first_page(report.document)["columns"]
    return paragraph["first"].replace("\u00a0", " ")


def test_means_of_logarithms_are_said_to_be_geometric():
    rng = np.random.default_rng(0)
    pay = np.exp(rng.normal(8, 0.4, 1000)) * np.resize([0.8, 1.0], 1000)
    means = [np.exp(np.log(pay[side::2]).mean()) for side in (0, 1)]
    said = told_of_numbers(pay, outcome_scale="log")
    for mean in means:
        assert f"{mean:,.0f} (geometric mean)" in said
    assert "geometric" not in told_of_numbers(pay)


def test_digits_are_those_of_numbers_whose_mean_is_near_zero():
    rng = np.random.default_rng(0)
    balance = np.resize([-27.0, 27.0], 1000) + rng.normal(0, 50, 1000)
    balance -= balance.mean() - 1e-7
    said = told_of_numbers(balance, rule=Rule(relevant_gap=10))
    women, men = balance[::2].mean(), balance[1::2].mean()
    assert f"on average −{-women:.1f} against {men:.1f}" in said


@pytest.mark.parametrize("is_rare", [False, True])
def test_a_ratio_is_said_to_be_of_which_outcomes(is_rare):
    """Of 99 of 100 people who get it, no ratio is far from 1; of those who do not, it may be."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 3000)})
    y = (rng.random(3000) < 0.013).astype(int)
    report = Audit(protected="sex").fit(X, y if is_rare else 1 - y).report_
    (answer,) = answers(report.document)
    assert answer["others"]["whole"]["ratio"] is not None
    ratio = "a ratio of rates of " if is_rare else "a ratio of rates of unfavorable outcomes of "
    assert ratio + f"{answer['others']['whole']['ratio']:.2f}" in told(report)[1]
