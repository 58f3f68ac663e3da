"""The page of a report of pay: its table first, and sentences from all of its numbers."""

import json
from copy import deepcopy
from pathlib import Path

import pytest

from skdisc import AuditReport
from skdisc.report._audit_page import (
    audit_to_html,
    audit_to_markdown,
    audit_to_notebook,
    audit_to_text,
)
from skdisc.report._audit_page._pay import pay_page

DOCUMENT = json.loads(
    Path(__file__).parents[1].joinpath("document.json").read_text(encoding="utf-8")
)


def said(document):
    return " ".join(" ".join(pay_page(document)["sentences"]).replace("\u00a0", " ").split())


def changed(figure, component="total", group=None, **values):
    """Return the document with other numbers in some rows."""
    document = deepcopy(DOCUMENT)
    for row in document["pay"]:
        if (row["figure"], row["component"]) == (figure, component) and (
            group in (None, row["group"])
        ):
            row.update(values)
    return document


@pytest.mark.parametrize("make", [audit_to_html, audit_to_markdown, audit_to_text])
def test_the_table_of_the_law_stands_before_the_paragraphs(make):
    text = make(DOCUMENT).replace("\\", "").lower()
    law = text.index("article 9(1)")
    assert law < text.index("what was asked") if "what was asked" in text else True
    first = DOCUMENT["answers"][0]["attribute"] if DOCUMENT.get("answers") else None
    assert first is None or law < text.index(f"{first.lower()}:", law)
    for letter in ("(a)", "(c)", "(e)", "(f)", "(g)"):
        assert letter in text


def test_a_notebook_has_the_table_of_the_law():
    page = audit_to_notebook(DOCUMENT)
    assert "(a) Mean pay" in page
    assert page.index("(a) Mean pay") < page.index("Does it") if "Does it" in page else True


def test_without_a_template_of_pay_there_is_none():
    document = {k: v for k, v in DOCUMENT.items() if k not in ("pay", "about_pay")}
    assert pay_page(document) is None
    for make in (audit_to_html, audit_to_markdown, audit_to_text):
        assert "pay gap" not in make(document).lower()


def test_words_follow_from_the_numbers():
    less = {"gap": 0.1, "ci_low": 0.06, "ci_high": 0.14}
    more = {"gap": -0.1, "ci_low": -0.14, "ci_high": -0.06}
    unsure = {"gap": 0.01, "ci_low": -0.02, "ci_high": 0.04}
    unknown = {"gap": 0.1, "ci_low": None, "ci_high": None, "reason": "too few people"}
    assert "mean pay per hour is 10.0 % lower than men's (6.0 to 14.0)" in said(
        changed("mean", basis="per hour", **less)
    )
    assert "10.0 % higher than men's (6.0 to 14.0)" in said(changed("mean", **more))
    assert "1.0 % lower than men's (between 2.0 % higher and 4.0 % lower)" in said(
        changed("mean", **unsure)
    )
    assert "range unknown: too few people" in said(changed("mean", **unknown))
    assert "not compared" in said(changed("mean", gap=None, ci_low=None, ci_high=None))


def test_categories_are_counted_by_their_states():
    groups = [r["group"] for r in DOCUMENT["pay"] if r["figure"] == "category"]
    n = len(groups)
    document = changed("category", "base", state="below", gap=0.01, ci_low=-0.02, ci_high=0.04)
    assert f"surely 5 % or more in none of {n}; surely below in {n} of {n}." in said(
        document
    ).replace(f"{n} of {n}. The", f"{n} of {n}.. The").replace("..", ".")
    document = changed("category", "base", groups[0], state="above", gap=-0.2, ci_low=-0.3)
    document["pay"] = [
        r | {"ci_high": -0.1} if r["group"] == groups[0] else r for r in document["pay"]
    ]
    assert f"surely 5 % or more in 1 of {n}: {groups[0]}, 20.0 % higher than men's" in said(
        document
    )


def test_what_is_hidden_is_said_and_has_no_number():
    hidden = dict.fromkeys(("gap", "ci_low", "ci_high", "women_value", "men_value"))
    document = changed("receive", "variable", **hidden, reason="left out")
    assert "not shown, to protect the few who do" in said(document)


def test_notes_name_what_was_joined_left_out_and_implausible():
    notes = " ".join(pay_page(DOCUMENT)["notes"])
    for text in ("G5 and G6", "1 figure is left out", "1 row is over ten", "3 rows are over four"):
        assert text in notes
    assert "does not report whether a duty is met" in notes


def test_a_report_of_pay_survives_json():
    report = AuditReport.from_json(json.dumps(DOCUMENT))
    assert len(report.to_frame("pay")) == len(DOCUMENT["pay"])
    assert report.to_csv(kind="pay").count("\n") == len(DOCUMENT["pay"]) + 1


def of_hours(share, low, high, hourly, recorded):
    """Return what is said where the gap per hour and that of pay as recorded are these."""
    document = changed("mean", basis="per hour")
    for row in document["pay"]:
        if (row["figure"], row["component"]) == ("mean", "total"):
            row["gap"] = hourly if row["basis"] == "per hour" else recorded
    document["pay"].append(document["pay"][0] | {"basis": "as recorded", "gap": recorded})
    document["about_pay"]["hours_share"] = {"share": share, "ci_low": low, "ci_high": high}
    return said(document)


def test_a_share_that_goes_with_hours_is_a_share():
    text = of_hours(0.4, 0.3, 0.5, 0.12, 0.2)
    assert "40 % goes with hours (30 % to 50 %): so much smaller is the gap per hour" in text
    for share, low, high, hourly, told in (
        (1.66, 1.2, 2.1, -0.1, "Per hour the gap goes the other way: women's mean pay is 10.0 %"),
        (-0.5, -0.9, -0.1, 0.3, "Per hour the gap is larger: women's mean pay is 30.0 % lower"),
        (0.9, 0.6, 1.2, 0.02, "Per hour women's mean pay is 2.0 % lower, not divided by hours"),
        (1.1, 0.6, 1.6, -0.02, "Per hour women's mean pay is 2.0 % higher, not divided by"),
    ):
        text = of_hours(share, low, high, hourly, 0.2)
        assert told in text
        assert "% goes with hours" not in text


def test_rows_of_people_are_named_rows_and_weights_weights():
    document = deepcopy(DOCUMENT)
    heads = pay_page(document)["tables"][1]["columns"]
    assert heads[1:3] == ("Women", "Men")
    document["about_pay"]["clustered"] = True
    page = pay_page(document)
    assert "Quarters of all rows" in page["tables"][1]["title"]
    assert page["tables"][1]["columns"][1:3] == ("Rows of women", "Rows of men")
    assert "Several rows are one person" in " ".join(page["notes"])
    document["about_pay"] |= {"clustered": False, "weighted": True}
    heads = pay_page(document)["tables"][1]["columns"]
    assert heads[1:3] == ("Sum of weights of women", "Sum of weights of men")


def test_levels_but_95_percent_are_named_and_what_pay_is_compared():
    document = deepcopy(DOCUMENT)
    row = document["about_pay"]["equal"][0]
    assert "women's total pay per hour is 2.8 % lower than men's (1.1 to 4.6)" in said(document)
    row["ci_level"] = 0.993
    assert "(1.1 to 4.6, 99.3 %)" in said(document)
    row |= {"ci_low": None, "ci_high": None, "ci_level": None}
    document["about_pay"]["clustered"] = True
    assert "2.8 % lower than men's (range unknown: several rows are one person)" in said(document)


def test_more_people_than_a_firm_has_are_not_counted():
    ends = {"gap": 0.0499, "ci_low": 0.01, "ci_high": 0.09, "state": "cannot tell"}
    document = changed("category", "base", **ends, needed=12e6)
    text = f"{said(document)} {pay_page(document)['tables']}".replace("\u00a0", " ")
    assert "only more people there than such a firm has would tell" in text
    assert "(only more people than such a firm has would)" in text
    assert "12,000,000" not in text
    assert "about 1,200 people there would tell" in said(
        changed("category", "base", **ends, needed=1151)
    )


def test_one_person_is_no_people():
    document = deepcopy(DOCUMENT)
    document["about_pay"]["others"] = 1
    assert "1 person is neither" in " ".join(pay_page(document)["notes"])
    quarter = next(r for r in document["pay"] if r["figure"] == "quarter")
    quarter["others"] = 1
    assert "(and 1 other)" in pay_page(document)["tables"][1]["rows"][0][0]


def test_equal_shares_are_equal():
    document = changed("receive", "variable", women_value=0.4, men_value=0.4, gap=0.0)
    assert "as often to women" in said(document)
    assert "points" not in said(document)
    document = changed("receive", "variable", women_value=0.0, men_value=0.0, gap=0.0)
    assert "Nobody receives variable pay." in said(document)


def test_without_a_question_there_is_no_verdict():
    document = deepcopy(DOCUMENT)
    document["verdicts"], document["answers"] = [], []
    for make in (audit_to_html, audit_to_markdown, audit_to_text):
        text = make(document).lower()
        assert "no verdict is given" in text
        assert "insufficient evidence" not in text
