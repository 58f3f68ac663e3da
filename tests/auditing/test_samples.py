"""Answers about a sample that a detector drew: as data, and wherever a reader meets them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from documents import breaches, example

from skdisc import Audit, AuditReport, AuditResult, Limits
from skdisc._space._feature_space import FeatureSpace
from skdisc._task import _large_tables, _sampled_rows
from skdisc._task._sampled_rows import SourceSample, sampled_rows
from skdisc.group import GroupDisparity
from skdisc.individual import SituationTesting
from skdisc.report import to_html
from skdisc.report._first_page import LANGUAGES, answers, first_page
from skdisc.subgroup import DisparityPursuit

N, DRAWN = 1500, 400
SENTENCES = {
    "en": "For gaps at equal columns, 400 of 1,500 people were drawn by chance and examined.",
    "de": (
        "Für Abstände bei gleichen Spalten wurden 400 von 1.500 Personen zufällig gezogen und "
        "untersucht."
    ),
    "fr": (
        "Pour les écarts à colonnes égales, 400 personnes sur 1\u202f500 ont été tirées au hasard "
        "et examinées."
    ),
}
PEOPLE = {"en": "People", "de": "Personen", "fr": "Personnes"}


def table():
    """Return people of whom women are hired less often, whatever the other columns."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], N, p=[0.4, 0.6])})
    for name in "abcd":
        X[name] = rng.integers(0, 6, N)
    return X, (X["a"] + rng.normal(0, 1, N) - 2 * (X["sex"] == "F") > 1).astype(int)


def audited(**settings):
    """Return the report of an audit whose question at equal columns is about a sample."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_large_tables, "FEW", 3)
        patch.setattr(DisparityPursuit, "_most", DRAWN)
        audit = Audit(protected="sex", pos_label=1, random_state=0, **settings)
        return audit.fit(*table()).report_


@pytest.fixture(scope="module")
def report():
    return audited()


def paragraph(document, language="en"):
    """Return the sentences of the one column, and its lines by name."""
    (column,) = first_page(document, language)["columns"]
    return [column["first"], *column["more"]], dict(column["lines"])


def test_a_result_holds_of_how_many_rows_it_was_drawn():
    X, y = table()
    settings = {"protected": "sex", "pos_label": 1, "random_state": 0, "n_neighbors": 5}
    result = SituationTesting(limits=Limits(rows=300), **settings).fit(X, y).result_
    assert (result.n_samples, result.n_drawn_from) == (300, N)
    assert result.without_people().n_drawn_from == N
    assert AuditResult.from_json(result.to_json()).n_drawn_from == N
    assert "300 of 1,500, drawn by chance" in to_html(result)
    assert GroupDisparity(protected="sex", pos_label=1).fit(X, y).result_.n_drawn_from is None


def test_a_sample_of_a_sample_was_drawn_from_all_rows():
    X, y = table()
    space = FeatureSpace.from_frame(X, protected=["sex"])
    sample = sampled_rows(X, y, 300, space, np.random.default_rng(0))
    assert sample.n_all == N
    assert replace(sample, before=SourceSample(N, 80_000, ("sex",))).n_all == 80_000


def test_a_result_of_an_earlier_version_is_read():
    data = GroupDisparity(protected="sex", pos_label=1).fit(*table()).result_.to_dict()
    del data["n_drawn_from"]
    assert AuditResult.from_dict(data).n_drawn_from is None
    with pytest.raises(ValueError, match="n_drawn_from: it must be int or NoneType"):
        AuditResult.from_dict(data | {"n_drawn_from": "all"})


def test_one_question_is_about_a_sample_and_the_others_about_everybody(report):
    assert not breaches(report.document)
    drawn = {
        row["detector"]: (row["n_drawn"], row["n_drawn_from"]) for row in report.document["log"]
    }
    none = None, None
    assert drawn == {
        "GroupDisparity": none,
        "DivExplorer": none,
        "DisparityPursuit": (DRAWN, N),
    }
    (answer,) = answers(report.document)
    assert answer["people"] == N
    assert answer["samples"] == [{"nulls": ["conditional"], "n": DRAWN, "n_drawn_from": N}]
    (said,) = [text for text in report.document["limits"] if "drawn by chance" in text]
    assert said.startswith(f"DisparityPursuit examined {DRAWN} of 1,500 rows")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_page_names_the_sample_in_each_language(report, language):
    sentences, lines = paragraph(report.document, language)
    assert sentences[-1] == SENTENCES[language]
    shown = lines[PEOPLE[language]]
    assert shown.startswith(("1,500 (", "1.500 (", "1\u202f500 ("))
    assert SENTENCES[language].split(" wurden ")[0].split(",")[0].split(" ", 1)[1] in shown
    assert str(DRAWN) in shown
    html, text = report.to_html(language), report.to_text(language=language)
    assert SENTENCES[language] in html.partition("</header>")[0]
    assert " ".join(SENTENCES[language].split()) in " ".join(text.split())
    assert SENTENCES[language] in report.to_markdown(language)


def test_people_of_findings_are_those_examined(report):
    """The number beside an effect is that of the people behind it, and the share that of all."""
    is_female = (table()[0]["sex"] == "F").to_numpy()
    rows = {row["lead"]: row for row in report.document["evidence"] if row["group"] == "sex = 'F'"}
    n_drawn = rows["DisparityPursuit"]["people"]
    assert n_drawn == pytest.approx(is_female.sum() * DRAWN / N, abs=1)
    assert rows["DisparityPursuit"]["share"] == pytest.approx(is_female.mean())
    assert rows["GroupDisparity"]["people"] == is_female.sum()
    people = {row["null"]: row["people"] for row in report.document["verdicts"]}
    assert (people["marginal"], people["conditional"]) == (is_female.sum(), n_drawn)
    shadows = [row for row in report.document["shadows"] if row["method"] == "DivExplorer"]
    assert shadows
    assert max(row["people"] for row in shadows) > n_drawn


@pytest.mark.slow
def test_people_held_out_are_examined_too():
    """With `confirm`, a finding is about those searched and those held out."""
    (row,) = [
        row
        for row in audited(confirm=0.5).document["evidence"]
        if (row["lead"], row["group"]) == ("DisparityPursuit", "sex = 'F'")
    ]
    n_drawn = (table()[0]["sex"] == "F").mean() * DRAWN
    assert row["people"] == pytest.approx(n_drawn, abs=1)


@pytest.mark.parametrize("detectors", [["DisparityPursuit"], "auto"], ids=str)
def test_groups_of_whom_few_people_were_drawn_have_no_numbers_at_equal_columns(detectors):
    X, y = table()
    X["race"] = np.where(np.arange(N) % 10 == 0, "A", np.where(np.arange(N) % 10 < 4, "B", "C"))
    audit = Audit(protected="race", detectors=detectors, limits=Limits(rows=50), random_state=0)
    answers = audit.fit(X, y).report_
    drawn = answers.results["DisparityPursuit race"].tables["comparable"].set_index("group")
    of_few = drawn.index[drawn["support"] < 10]
    assert list(of_few) == ["race = 'A'"]
    assert drawn.loc[of_few, "effect"].notna().all()
    equal = {row["group"]: row["effect"] for row in answers.document["comparable"]}
    assert all((equal.get(group) is None) == (group in of_few) for group in drawn.index)
    assert {row["group"] for row in answers.document["gaps"]} == {*drawn.index} - {*of_few}


def test_a_document_that_is_read_back_says_the_same(report):
    again = AuditReport.from_json(report.to_json())
    for language in LANGUAGES:
        assert again.to_html(language) == report.to_html(language)
        assert paragraph(again.document, language)[0][-1] == SENTENCES[language]


def test_a_document_of_an_earlier_version_is_read(report):
    document = AuditReport.from_json(report.to_json()).document
    for row in document["log"]:
        del row["n_drawn"], row["n_drawn_from"]
    for answer in document["answers"]:
        del answer["samples"]
    again = AuditReport.from_dict(document)
    assert not breaches(again.document)
    sentences, lines = paragraph(again.document)
    assert not any("by chance" in text for text in [*sentences, *lines.values()])


def test_no_wording_of_a_note_decides(report, monkeypatch):
    """What an audit says of a sample does not hang on the English of the notes."""
    monkeypatch.setattr(_sampled_rows, "_note", lambda *given: "Only some were looked at.")
    again = audited()
    assert "Only some were looked at." in again.document["log"][-1]["notes"]
    assert again.document["limits"] == report.document["limits"]
    assert first_page(again.document) == first_page(report.document)
    assert again.document["evidence"] == report.document["evidence"]
    assert again.document["verdicts"] == report.document["verdicts"]


def of_nulls(**drawn):
    """Return a document with questions of one column, about samples or (None) everybody."""
    document = example()
    empty = {name: [] for name, part in document.items() if isinstance(part, list)}
    question = dict.fromkeys(document["verdicts"][0]) | {"kind": "cell", "reason": ""}
    question |= {"attribute": "sex", "verdict": "insufficient evidence"}
    step = dict.fromkeys(document["log"][0]) | {"attribute": "sex"}
    rows = [question | {"null": null, "lead": null} for null in drawn]
    log = [
        step
        | {"null": null, "detector": null, "n_drawn": n}
        | {"n_drawn_from": None if n is None else 3000}
        for null, n in drawn.items()
    ]
    about = document["about"] | {"n_rows": 3000}
    return document | empty | {"verdicts": rows, "log": log, "about": about}


def test_all_questions_about_one_sample():
    sentences, lines = paragraph(of_nulls(marginal=500, individual=500))
    assert sentences[-1] == (
        "For all questions, 500 of 3,000 people were drawn by chance and examined."
    )
    assert lines["People"] == "500"
    assert "from 500 people" in sentences[0]


def test_questions_about_samples_of_several_sizes():
    sentences, lines = paragraph(
        of_nulls(marginal=None, contextual=600, conditional=600, individual=200)
    )
    assert sentences[-2:] == [
        "For gaps in smaller groups and gaps at equal columns, 600 of 3,000 people were drawn by "
        "chance and examined.",
        "For comparisons of single people, 200 of 3,000 people were drawn by chance and examined.",
    ]
    assert lines["People"] == (
        "3,000; for gaps in smaller groups and gaps at equal columns, 600 drawn by chance; for "
        "comparisons of single people, 200 drawn by chance"
    )


def test_what_a_question_clears_is_as_far_as_its_people_can_show():
    document = of_nulls(marginal=None, conditional=600)
    cleared = dict.fromkeys(AuditReport.schema()["$defs"]["answer"]["properties"])
    cleared |= {
        "relevant_gap": 0.1,
        "resolution": 90,
        "n_family": 2,
        "n_cleared": 1,
        "n_found": 0,
        "significance": 0.05,
        "n_without_counterparts": 0,
    }
    document["verdicts"][0] |= {"verdict": "no disparity found", "answer": cleared}
    document["verdicts"][1] |= {"answer": cleared, "bound": 0.2}
    sentences, _ = paragraph(document)
    assert "as far as 600 people can show" in sentences[0]


def test_each_question_has_a_name_in_each_language():
    for language in LANGUAGES:
        for null in AuditReport.schema()["$defs"]["null"]["enum"]:
            sentences, _ = paragraph(of_nulls(**{"marginal": None, null: 200}), language)
            assert "200" in sentences[-1]
