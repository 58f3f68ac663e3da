"""The page of a report of pay: its table first, and sentences from all of its numbers."""

import json
import re
import string
from copy import deepcopy
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skdisc import AuditReport
from skdisc._stats._means import TOO_LARGE
from skdisc.auditing import _notices
from skdisc.auditing._numbers import ComparedNumbers
from skdisc.auditing._pay._gaps import PaidPeople, mean_gaps, median_gap, share_gap
from skdisc.auditing._pay._record import DOMINATED
from skdisc.report._audit_page import _words as words
from skdisc.report._audit_page import (
    audit_to_html,
    audit_to_markdown,
    audit_to_notebook,
    audit_to_text,
)
from skdisc.report._audit_page._pay import pay_page
from skdisc.report._audit_page._view import view
from skdisc.report._first_page import first_page, in_language, texts_of

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
    for share, low, high, hourly, expected in (
        (1.66, 1.2, 2.1, -0.1, "Per hour the gap goes the other way: women's mean pay is 10.0 %"),
        (-0.5, -0.9, -0.1, 0.3, "Per hour the gap is larger: women's mean pay is 30.0 % lower"),
        (0.9, 0.6, 1.2, 0.02, "Per hour women's mean pay is 2.0 % lower, not divided by hours"),
        (1.1, 0.6, 1.6, -0.02, "Per hour women's mean pay is 2.0 % higher, not divided by"),
    ):
        text = of_hours(share, low, high, hourly, 0.2)
        assert expected in text
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


def test_equal_averages_are_as_high_and_a_range_on_one_side_has_its_direction():
    document = changed("median", gap=0.0, ci_low=0.0, ci_high=0.0)
    assert "their median is as high as men's (0.0 to 0.0)." in said(document)
    document = changed("median", gap=0.0, ci_low=0.0, ci_high=0.06)
    assert "is as high as men's (between 0.0 % higher and 6.0 % lower)." in said(document)
    assert "0.0 % higher than" not in said(document)


def test_a_state_that_one_person_turns_is_named_with_its_basis():
    document = deepcopy(DOCUMENT)
    for row in document["pay"]:
        row["turned_by_one"] = False
    mean = next(r for r in document["pay"] if r["figure"] == "mean" and r["basis"] == "per hour")
    document["pay"].append(mean | {"basis": "as recorded", "turned_by_one": True})
    assert "another answer for: total pay of all (as recorded)." in said(document)
    mean["turned_by_one"] = True
    assert "for: total pay of all and total pay of all (as recorded)." in said(document)


def test_without_a_question_there_is_no_verdict():
    document = deepcopy(DOCUMENT)
    document["verdicts"], document["answers"] = [], []
    for make in (audit_to_html, audit_to_markdown, audit_to_text):
        text = make(document).lower()
        assert "no verdict is given" in text
        assert "insufficient evidence" not in text


def pieces(value):
    """Yield the parts of a text of a language that stand between its fields."""
    if isinstance(value, dict):
        for one in value.values():
            yield from pieces(one)
    else:
        yield from (text for text, *_ in string.Formatter().parse(value))


def catalog(language):
    """Return the words of a language, by the names of its texts."""
    module = import_module(f"skdisc.report._first_page.languages.{language}")
    return {name: set(pieces(value)) for name, value in vars(module).items() if name.isupper()}


FEW_RECEIVE = "fewer than 10 women or men receive it: left out, to protect them"
PUBLIC_REASON = "public reports of pay state figures, and ask no question about them"
LOGIB = {
    "columns": dict.fromkeys(("training", "experience", "service", "level", "position"), "tenure"),
    **{"women": 90, "men": 110, "left_out": 2, "reason": ""},
    **{"gap": 0.06, "ci_low": 0.03, "ci_high": 0.09, "ci_level": 0.95},
}
TELLS_SEX = LOGIB | {"gap": None, "left_out": 1, "reason": "the other columns tell who is a woman"}

WORLDS = {
    "whole": DOCUMENT,
    "hidden": changed("receive", "variable", gap=None, reason=FEW_RECEIVE),
    "around zero": changed("mean", gap=0.01, ci_low=-0.02, ci_high=0.04, ci_level=0.9),
    "unknown": changed("mean", gap=0.01, ci_low=None, ci_high=None, reason="too few people"),
    "higher": changed("category", "base", state="above", gap=-0.2, ci_low=-0.3, ci_high=-0.1),
    "few": changed("category", "base", state="cannot tell", gap=0.04, needed=1151),
    "clustered": DOCUMENT | {"about_pay": DOCUMENT["about_pay"] | {"clustered": True}},
    "Logib": DOCUMENT | {"about_pay": DOCUMENT["about_pay"] | {"logib": LOGIB}},
    "no Logib": DOCUMENT | {"about_pay": DOCUMENT["about_pay"] | {"logib": TELLS_SEX}},
    "UK": DOCUMENT | {"about_pay": DOCUMENT["about_pay"] | {"template": "uk_gender_pay_gap"}},
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("language", ["de", "fr"])
def test_no_english_sentence_is_left_on_a_page_of_another_language(world, language):
    english, own = catalog("en"), catalog(language)
    words = {text for name in english for text in english[name] - own[name]}
    words = {text for text in words if len(re.findall(r"[A-Za-z]{2,}", text)) > 1}
    assert len(words) > 150
    document = WORLDS[world]
    pay, first = pay_page(document, language), first_page(document, language)
    shown = [pay["title"], *pay["sentences"], *pay["notes"]]
    shown += [text for t in pay["tables"] for row in [t["columns"], *t["rows"]] for text in row]
    shown += [text for c in first["columns"] for text in (c["word"], c["first"], *c["more"])]
    shown += [text for c in [*first["columns"], first] for pair in c["lines"] for text in pair]
    page = audit_to_text(document, 1000, language)
    for text in shown:
        assert not [word for word in words if word.strip() in text.replace("\u00a0", " ")], text
        assert " and " not in text
    assert " ".join(pay["sentences"][0].split()) in " ".join(page.split())
    html = audit_to_html(document, language)
    assert f'<section class="pay" lang="{language}"' in html


ENGLISH = re.compile(
    r"\b(the|of|and|are|were|is|with|not|which|by|than|from|audited|people|rows|they|it)\b", re.I
)


def first_screen(document, language):
    """Return what stands above the questions, without names in quotes and columns."""
    text = " ".join(audit_to_text(document, 1000, language).replace("\u00a0", " ").split())
    below = (
        "Questions and answers",
        "What was asked",
        "No question was answered",
        "Each protected",
    )
    for heading in below:
        text = text.partition(heading)[0]
    return re.sub(r"(?<!\w)'[^']*'|--[\w-]+|adjust_for", "", text)


def noticed_columns():
    """Return all that an audit notices above its answers, of tables made to have it."""
    n, draw = 400, np.random.default_rng(0)
    pay = np.exp(draw.normal(8, 0.2, n))
    pay[:20] *= 50
    numbers = ComparedNumbers(pay, "value", "difference", "pay", False, is_automatic=True)
    X = pd.DataFrame({"sex": draw.choice(["f", "m", "F"], n, p=[0.4, 0.4, 0.2]), "again": 2 * pay})
    X["age"] = draw.integers(20, 60, n)
    X.loc[:30, "age"] = 999
    X["title"] = np.where(X["sex"] == "m", "Mr", "Ms")
    few = ComparedNumbers(np.append(pay[20:], 1e9), "value", "difference", "pay", False)
    notes = [*_notices.of_numbers(X, numbers), *_notices.of_numbers(X[:0], few, least=10)]
    notes += _notices.of_numbers(X, numbers, is_pay=True)
    notes += _notices.parts_of_pay({"variable": "bonus", "base": None})
    notes += _notices.codes_of_missing(X) + _notices.spellings(X, ["sex"])
    notes += _notices.stand_ins(X[["sex", "title"]], ["sex"]) + _notices.copies(pd.concat([X, X]))
    person = np.repeat(np.arange(100), 4)
    alike = np.repeat(draw.normal(size=100), 4) + draw.normal(0, 0.01, n)
    people = pd.DataFrame({"person": person})
    notes += _notices.rows_of_people(people, alike)
    notes += _notices.rows_of_people(people.assign(sex=person % 2), None, ["sex"], alike)
    return [note.to_dict() for note in notes if note.above]


READ = (  # how a file was read
    ("numbers with the decimal mark ','", "read as numbers", "--text 'pay' keeps the text"),
    ("numbers", "read as numbers, without EUR; one text in 3 rows counts as missing", "--text 'a'"),
    (
        "numbers that fit the decimal marks ',' and '.'",
        "read as numbers, with ',' as decimal mark",
        "--decimal .",
    ),
    ("its numbers have the decimal mark ','", "read as text", "--decimal ,"),
    ("the file is not in UTF-8", "read as cp1252 (Western European)", "--encoding reads another"),
    ("1,200 rows with hours that are missing, 0 or less", "left out", "by --drop-unlabeled"),
    ("dates", "which are not compared; an age is made of dates of birth", "--derive 'age=born'"),
    ("the other sheets are empty", "sheet 'pay' was read", "--sheet"),
)


@pytest.mark.parametrize("language", ["de", "fr"])
def test_how_a_file_was_read_is_told_in_each_language(language):
    names = ("seen", "done", "option")
    about = {"column": "pay", "above": False}
    notes = [about | dict(zip(names, parts, strict=True)) for parts in READ]
    noticed = view(DOCUMENT | {"notices": [], "source": {"notes": notes}}, language)["noticed"]
    assert len(noticed) == len(READ)
    for text in noticed:
        plain = re.sub(r"(?<!\w)'[^']*'|--[\w-]+", "", text)
        assert not ENGLISH.search(plain), text
        assert not re.search("read|numbers|text |missing|left out|dates of", plain), text


def test_all_that_is_noticed_of_pay_is_told_in_each_language():
    rows = noticed_columns()
    assert len({row["seen"] for row in rows}) > 8
    for language in ("de", "fr"):
        texts = texts_of(DOCUMENT, language)
        for row in rows:
            for name in ("seen", "done", "option"):
                assert in_language(texts, row[name]) != row[name], row[name]
        document = DOCUMENT | {"notices": rows}
        for text in view(document, language)["noticed"]:
            plain = re.sub(r"'[^']*'|--[\w-]+", "", text)
            assert not ENGLISH.search(plain), text
        assert view(document)["noticed"] == [words.note(row) for row in rows]


OPENINGS = {
    "labels": {"about": {"audited": "labels"}},
    "public": {
        "about": {
            "audited": "labels",
            "outcome": {"name": "pay", "output": "value", "scale": "log", "better": "low"},
            "sentence": "Pay. This is a public document: 1,018 groups were not looked at.",
        },
    },
    "public pay": {
        "about": {"favorable": [], "sentence": "total pay per hour: 600 people were audited."}
    },
    "interrupted": {"about": {"interrupted": True}},
    "no verdict": {
        "verdicts": [],
        "answers": [],
        "verdict": DOCUMENT["verdict"] | {"reason": PUBLIC_REASON},
    },
    "no name": {"meta": DOCUMENT["meta"] | {"system": None}},
}


@pytest.mark.parametrize("world", [*WORLDS, *OPENINGS])
@pytest.mark.parametrize("language", ["de", "fr"])
def test_the_first_screen_has_no_english_sentence(world, language):
    document = deepcopy(WORLDS.get(world, DOCUMENT))
    for name, fields in OPENINGS.get(world, {}).items():
        document[name] = document[name] | fields if fields and name == "about" else fields
    document["notices"] = []
    text = first_screen(document, language)
    found = [m[0] for m in ENGLISH.finditer(text)]
    assert not found, (found, text)
    assert ENGLISH.search(first_screen(document, "en"))
    if world == "public pay":
        assert re.search("Gesamtentgelt je Stunde: |salaire total par heure : ", text)
    if world == "public":
        assert re.search(r"1[. \u202f]018 (Gruppen|groupes)", text)


@pytest.mark.parametrize("language", ["de", "fr"])
def test_languages_have_the_same_numbers(language):
    digits = []
    for code in ("en", language):
        page = pay_page(DOCUMENT, code)
        cells = [cell for t in page["tables"] for row in t["rows"] for cell in row]
        digits.append(re.findall(r"\d", " ".join([*page["sentences"][1:], *cells])))
    assert sorted(digits[0]) == sorted(digits[1])


def gaps_without_an_interval():
    """Yield the reasons that gaps of odd pay have."""
    n = 40
    is_woman = np.arange(n) < n // 2
    skewed = np.where(np.arange(n) % 20 == 0, 1e6, 1.0)
    for pay, women, men in (
        (np.zeros(n), is_woman, ~is_woman),
        (np.ones(n), is_woman & (np.arange(n) < 1), ~is_woman),
        (np.ones(n), is_woman & (np.arange(n) < 0), ~is_woman),
        (skewed, is_woman, ~is_woman),
        (np.arange(n) % 4.0, is_woman, ~is_woman),
        (np.arange(n) % 2.0, is_woman & (np.arange(n) < 3), ~is_woman & (np.arange(n) > 36)),
    ):
        people = PaidPeople(women, men, np.ones(n))
        for of in (mean_gaps, median_gap):
            yield from of(pay, people, 0.05).reason
        yield from share_gap(pay > 0, people, 0.05).reason


def test_reasons_are_told_in_each_language():
    """No reason that figures of pay may have is missing from the catalog."""
    reasons = {str(reason) for reason in gaps_without_an_interval()} - {""}
    reasons |= {row["reason"] for row in DOCUMENT["pay"]} - {""}
    reasons |= {TOO_LARGE.format(n=30), "nobody receives variable pay", DOMINATED}
    few = "fewer than 10 women or men{}: left out, to protect them"
    reasons |= {few.format(which) for which in ("", " receive it", " receive variable pay")}
    assert len(reasons) > 8
    english = catalog("en")["PAY_REASONS"]
    for reason in reasons:
        document = changed("mean", gap=None, ci_low=None, ci_high=None, reason=reason)
        assert f"not compared ({reason})" in said(document)
        text = " ".join(pay_page(document, "de")["sentences"][0].split())
        assert "nicht verglichen (" in text
        assert not [word for word in english if len(word) > 3 and word in text], reason


def test_pictures_show_the_numbers_of_the_document():
    """Parts lie end to end and add up to the gap; points are the gaps by quantile."""
    parts, points = pay_page(DOCUMENT)["pictures"]
    rows = DOCUMENT["about_pay"]["equal"]
    assert len(parts["bars"]) == len(parts["rows"]) == 3 * len(rows)
    for k, row in enumerate(rows):
        (_, whole, _), (_, accounted, none), (_, remains, interval) = parts["bars"][
            3 * k : 3 * k + 3
        ]
        assert whole == pytest.approx([0, 100 * row["gap"]])
        assert accounted == pytest.approx([0, 100 * row["accounted"]])
        assert remains == pytest.approx([accounted[1], whole[1]])
        assert list(none) == []
        ends = [100 * (row["accounted"] + row[name]) for name in ("ci_low", "ci_high")]
        assert interval == pytest.approx(ends)
        text = parts["rows"][3 * k + 2][1].replace("\u00a0", " ")
        assert text.startswith(f"{100 * row['remains']:.1f} % [")
    for (kind, at, ends), row in zip(
        points["bars"], DOCUMENT["about_pay"]["quantiles"], strict=True
    ):
        numbers = [100 * row[name] for name in ("gap", "ci_low", "ci_high")]
        assert kind == "point"
        assert [*at, *ends] == pytest.approx(numbers)
    low, high, _ = parts["axis"]
    assert low <= 0 < high
    assert all(low <= v <= high for _, ends, _ in parts["bars"] for v in ends)
    html = audit_to_html(DOCUMENT)
    assert html.count('class="waterfall pictured"') == 2
    assert "shaded: below 5" in html
    assert "Gaps by quantile of pay per hour" in audit_to_text(DOCUMENT, 200)


def test_documents_without_quantiles_have_no_picture_of_them():
    document = deepcopy(DOCUMENT)
    del document["about_pay"]["quantiles"]
    document["about_pay"]["equal"] = []
    assert pay_page(document)["pictures"] == []
    assert "pictured" not in audit_to_html(document).split("</style>")[1]
