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
