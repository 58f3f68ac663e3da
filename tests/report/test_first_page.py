"""The first page: six states, numbers as they stand in the document, the same in each language."""

import copy
import re
import string
from functools import cache
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, BlackBox, Limits
from skdisc.auditing import AuditReport
from skdisc.cli import main
from skdisc.report._first_page import (
    LANGUAGES,
    STATES,
    _paragraphs,
    answers,
    exit_code,
    first_page,
    texts_of,
)
from skdisc.report._first_page._answers import _leading, state_of
from skdisc.report._first_page._told import opening

FOUND, NOTHING, UNSURE = "disparity found", "no disparity found", "insufficient evidence"


def people(rng, n):
    """Return applicants, with columns that decide."""
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["Abo", "Bern", "Cork", "Delft"], n),
            "skill": rng.integers(0, 10, n),
        }
    )


def outcomes(rng, X, change=0.0):
    """Return outcomes that skill decides, and a change of their probability."""
    chance = 0.4 + 0.03 * (X["skill"] - 4.5) + change
    return (rng.random(len(X)) < np.clip(chance, 0, 1)).astype(int)


def document(world, n=3000, seed=0, protected=("sex",)):
    """Return the document of an audit of a world: how sex changes the probability."""
    rng = np.random.default_rng(seed)
    X = people(rng, n)
    if world == "skill":  # women have less of what decides
        X = X.drop(columns="town")
        again = np.minimum(X["skill"], rng.integers(0, 10, n))
        X["skill"] = np.where(X["sex"] == "f", again, X["skill"])
    is_woman = X["sex"] == "f"
    if world == "town":
        change = -0.4 * (is_woman & (X["town"] == "Cork"))
    else:
        change = {"sex": -0.15, "reversed": 0.15}.get(world, 0.0) * is_woman
    y = outcomes(rng, X, change)
    return Audit(protected=list(protected), random_state=0).fit(X, y).report_.to_dict()


@pytest.fixture(scope="module")
def documents():
    """The documents of six worlds."""
    worlds = {
        "sex": ("sex", 2000),
        "reversed": ("reversed", 2000),
        "town": ("town", 3000),
        "skill": ("skill", 8000),
        "fair": ("fair", 2000),
        "few": ("fair", 60),
    }
    return {name: document(*how) for name, how in worlds.items()}


def only(document):
    """Return the one answer and the one paragraph of a document."""
    (answer,), (paragraph,) = answers(document), first_page(document)["columns"]
    return answer, paragraph


@pytest.mark.parametrize(
    ("verdicts", "cleared", "state"),
    [
        ({"marginal": FOUND, "conditional": FOUND}, 0, "unequal at equal columns"),
        ({"marginal": NOTHING, "conditional": FOUND}, 1, "unequal at equal columns"),
        ({"marginal": NOTHING, "individual": FOUND}, 1, "unequal at equal columns"),
        ({"calibration": FOUND, "conditional": NOTHING}, 0, "unequal at equal columns"),
        ({"marginal": FOUND, "conditional": NOTHING}, 0, "unequal, accounted for"),
        ({"contextual": FOUND, "conditional": UNSURE}, 0, "unequal, open at equal columns"),
        ({"marginal": FOUND}, 0, "unequal, open at equal columns"),
        ({"marginal": NOTHING, "conditional": NOTHING}, 1, "nothing found"),
        ({"marginal": NOTHING, "conditional": UNSURE}, 1, "nothing found as far as one can see"),
        ({"marginal": UNSURE, "conditional": NOTHING}, 0, "cannot tell"),
        ({"contextual": UNSURE}, 2, "nothing found as far as one can see"),
    ],
)
def test_states(verdicts, cleared, state):
    """A column has the state of the most serious of its questions."""
    rows = [
        {"null": null, "verdict": verdict, "answer": {"n_cleared": cleared}}
        for null, verdict in verdicts.items()
    ]
    assert state_of(rows) == state


@pytest.mark.parametrize(
    ("world", "state"),
    [
        ("sex", "unequal at equal columns"),
        ("reversed", "unequal at equal columns"),
        ("town", "unequal at equal columns"),
        ("skill", "unequal, accounted for"),
        ("fair", "nothing found as far as one can see"),
        ("few", "cannot tell"),
    ],
)
def test_each_world_has_its_state(documents, world, state):
    """What is true of a world is the state of its page."""
    answer, paragraph = only(documents[world])
    assert answer["state"] == paragraph["state"] == state
    assert documents[world]["answers"] == answers(documents[world])


def test_who_is_worse_off_comes_first(documents):
    """Women lead where they lose, men where women win; the gap is that of the table of groups."""
    for world, worse in (("sex", "sex = 'f'"), ("reversed", "sex = 'm'")):
        answer, paragraph = only(documents[world])
        raw = answer["raw"]
        assert paragraph["first"].startswith(f"{worse} got ")
        assert raw["ci_low"] < raw["gap"] < raw["ci_high"] < 0
        assert raw["gap"] == pytest.approx(raw["worse_off"]["rate"] - raw["better_off"]["rate"])
        rows = {
            r["group"]: r for r in documents[world]["groups"] if r["measure"] == "selection_rate"
        }
        assert rows[worse]["gap"] == pytest.approx(raw["gap"])
        assert rows[raw["better_off"]["group"]]["rate"] == pytest.approx(raw["better_off"]["rate"])
        assert raw["worse_off"]["people"] + raw["better_off"]["people"] == answer["people"]
        assert answer["equal"]["gap"] < 0


def test_the_town_is_named(documents):
    """The group that is worst off is named with its size, and its gap at equal columns."""
    answer, paragraph = only(documents["town"])
    assert answer["worst"]["at_equal_columns"]
    assert "other columns are equal it is worst for sex = 'f' and town = 'Cork'" in " ".join(
        paragraph["more"]
    )


@cache
def favored(others, n=4000):
    """Return the document of an audit of five origins; one is favored, or all others are."""
    rng = np.random.default_rng(0)
    X = people(rng, n).drop(columns="sex").assign(origin=rng.choice(list("abcde"), n))
    y = outcomes(rng, X, 0.35 * ((X["origin"] == "c") != others))
    return Audit(protected="origin", random_state=0).fit(X, y).report_.to_dict()


def test_a_group_that_is_favored_leads():
    """One origin has more than all others; that these have less than the rest is no news."""
    one = favored(others=False)
    assert sum(e["found"] and e["effect"] < 0 for e in one["evidence"]) > 0  # others are found, too
    answer, paragraph = only(one)
    assert paragraph["first"].startswith("origin = 'c' got the favorable outcome (1) more often")
    assert answer["equal"]["gap"] < 0  # of everyone else
    assert re.search(r"At equal town and skill, \d\d\.\d points more remain", paragraph["more"][0])
    lines = dict(paragraph["lines"])
    for name in ("Number to quote", "At equal columns"):
        assert " points more for origin = 'c' (" in lines[name]
    assert lines["People"].startswith("4,000 (origin = 'c': ")
    rows = {row["null"]: row for row in one["verdicts"]}
    assert all(rows[null]["group"] == "origin = 'c'" for null in ("marginal", "contextual"))
    answer, paragraph = only(favored(others=True))
    assert paragraph["first"].startswith("origin = 'c' got the favorable outcome (1) less often")
    assert answer["raw"]["gap"] < 0


@pytest.mark.parametrize(
    ("gaps", "first"),
    [
        ({"a": (0.10, 0.02), "b": (-0.09, 0.02), "c": (-0.06, 0.02)}, "b"),  # which is larger?
        ({"a": (0.10, 0.02), "b": (-0.04, 0.02), "c": (-0.03, 0.02)}, "a"),
        ({"a": (0.10, 0.02), "b": (-0.10, 0.02)}, "b"),  # two sides of one gap
        ({"a": (0.10, 0.02), "b": (0.20, 0.02)}, "b"),
        ({"a": (0.10, None), "b": (-0.01, 0.002)}, "b"),
        ({"a": (0.10, 0.12), "b": (-0.01, 0.005)}, "b"),  # a may be no larger than 0
    ],
)
def test_who_leads(gaps, first):
    """The group that is worse off, unless the gap of one better off is surely larger."""
    rows = [
        {"group": group, "gap": gap}
        | {"ci_low": gap - half if half else None, "ci_high": gap + half if half else None}
        for group, (gap, half) in gaps.items()
    ]
    assert _leading(rows)["group"] == first


def test_a_smaller_group_leads_where_all_together_hardly_differ():
    """Women of one town are the finding where the gap of all women is less than matters."""
    rng = np.random.default_rng(3)
    X = people(rng, 6000).assign(town=lambda X: rng.choice(list("abcdefgh"), len(X)))
    y = outcomes(rng, X, -0.35 * ((X["sex"] == "f") & (X["town"] == "c")))
    answer, paragraph = only(Audit(protected="sex", random_state=0).fit(X, y).report_.to_dict())
    group = "sex = 'f' and town = 'c'"
    assert answer["worst"]["context"] == "town = 'c'"
    assert paragraph["first"].startswith(f"Where the other columns are equal, {group} got the fav")
    assert "less often than the others with town = 'c': " in paragraph["first"]
    assert "less than the gap that matters here" in " ".join(paragraph["more"])
    assert " ".join(paragraph["more"]).count(group) == 0
    lines = dict(paragraph["lines"])
    assert f"for {group}, at equal columns" in lines["Number to quote"]
    assert "for sex = 'f' (" in lines["All together"]
    assert f"for {group} (" in lines["At equal columns"]
    assert "Smaller group" not in lines


def test_ranges_around_zero_are_those_of_whom_is_told():
    """What may be more for one group may be less for the others."""
    one = copy.deepcopy(favored(others=False))
    answer = one["answers"][0]
    answer["state"] = "unequal, open at equal columns"
    answer["equal"] |= {"gap": -0.02, "ci_low": -0.07, "ci_high": 0.03, "ci_level": 0.95}
    said = _paragraphs._Paragraph(answer, one, texts_of(one, "en")).said()
    assert "what remains is between 3.0 points less and 7.0 more" in " ".join(said["more"])
    remains = dict(said["lines"])["At equal columns"]
    assert remains == "not known, but between 3.0 points less and 7.0 more for origin = 'c'"


@cache
def unequal_in_one_town(n=6000):
    """Return a document: women have less of what decides, and lose more in one town alone."""
    rng = np.random.default_rng(4)
    X = people(rng, n)
    again = np.minimum(X["skill"], rng.integers(0, 10, n))
    X["skill"] = np.where(X["sex"] == "f", again, X["skill"])
    is_there, is_woman = X["town"] == "Cork", X["sex"] == "f"
    change = np.where(is_there, -0.15, 0.05) * is_woman
    return Audit(protected="sex", random_state=0).fit(X, outcomes(rng, X, change)).report_.to_dict()


@pytest.mark.parametrize(
    ("language", "word", "together"),
    [
        ("en", "Unequal in a smaller group, even where", "; all together: not known, but between "),
        ("de", "Ungleich in einer kleineren Gruppe, auch wo", "; alle zusammen: nicht bekannt, "),
        ("fr", "Inégal dans un groupe plus petit, même là où", " ; tous ensemble : inconnu, mais "),
    ],
)
def test_the_headline_says_if_only_a_smaller_group_is_unequal(language, word, together):
    """The state stays; the words say of whom it is, and the line has both."""
    one = unequal_in_one_town()
    (answer,), (paragraph,) = answers(one), first_page(one, language)["columns"]
    assert answer["state"] == paragraph["state"] == "unequal at equal columns"
    assert answer["equal"]["ci_low"] < 0 < answer["equal"]["ci_high"]
    group = "sex = 'f' and town = 'Cork'"
    assert answer["worst"]["group"] == group
    assert paragraph["word"].startswith(word)
    lines = dict(paragraph["lines"])
    texts = texts_of(one, language)
    remains = lines[texts.LINES["remains"]]
    assert remains.index("town = 'Cork'") < remains.index(together)
    assert texts.LINES["smaller"] not in lines
    assert paragraph["word"] in AuditReport(one).to_markdown(language)


def test_the_headline_is_of_all_where_all_are_found(documents):
    """A gap of all women that remains is no matter of a smaller group."""
    texts = texts_of(documents["sex"], "en")
    for world in ("sex", "reversed", "skill"):
        _, paragraph = only(documents[world])
        assert paragraph["word"] == texts.STATES[paragraph["state"]]
    # The same page, if the cause found is that of all women.
    one = copy.deepcopy(unequal_in_one_town())
    (cause,) = [row for row in one["evidence"] if row["kind"] == "cause" and row["found"]]
    one["evidence"].append(cause | {"conditions": [{"column": "sex", "text": "sex = 'f'"}]})
    assert only(one)[1]["word"] == texts.STATES["unequal at equal columns"]


def test_a_smaller_group_is_named_though_that_of_all_may_be_larger():
    """Where nobody knows what remains for all, the finding is what the page has to tell."""
    one = copy.deepcopy(unequal_in_one_town())
    for row in one["comparable"]:
        sign = np.sign(row["effect"])
        row |= {"effect": sign * 0.5, "ci_low": sign * 0.5 - 0.6, "ci_high": sign * 0.5 + 0.6}
    answer, paragraph = only(one)
    assert answer["worst"]["group"] == "sex = 'f' and town = 'Cork'"
    assert paragraph["word"].startswith("Unequal in a smaller group")


def test_a_smaller_group_may_be_unequal_without_columns_held_equal():
    """Of a gap that is found within a context alone, the headline says so, too."""
    one = copy.deepcopy(unequal_in_one_town())
    one["verdicts"] = [
        row | {"verdict": FOUND if row["null"] == "contextual" else UNSURE}
        for row in one["verdicts"]
    ]
    one["evidence"] = [
        row | {"kind": "context"} for row in one["evidence"] if row["kind"] == "cause"
    ]
    answer, paragraph = only(one)
    assert answer["state"] == "unequal, open at equal columns"
    assert paragraph["word"] == (
        "Unequal in a smaller group; what the other columns explain is open"
    )


@pytest.mark.parametrize("bound", [0.12, 0.62])
@pytest.mark.parametrize("language", LANGUAGES)
def test_bounds_that_exclude_next_to_nothing_are_not_printed(documents, bound, language):
    """Of too few people no number is said, in no line; the document keeps it."""
    for world in ("sex", "fair"):
        one = copy.deepcopy(documents[world])
        for row in one["verdicts"]:
            row["bound"] = bound
            row["answer"] |= {"n_cleared": 1, "n_family": 9}
        several = []
        for resolution in (None, 300):
            for row in one["verdicts"]:
                row["answer"]["resolution"] = resolution
            (paragraph,) = first_page(one, language)["columns"]
            said = [paragraph["first"], *paragraph["more"], *(v for _, v in paragraph["lines"])]
            several.append(" ".join(said))
        shown = texts_of(one, language).POINTS.format(n=f"{100 * bound:.0f}")
        assert all((shown in said) == (bound < 0.4) for said in several), (world, several)
        assert answers(one)[0]["others"]["raw"]["bound"] == bound


def test_a_bound_that_is_wide_because_the_gap_is_large_is_no_lack_of_people():
    """Thousands of people show a gap of 55 points, also in the groups that it includes."""
    rng = np.random.default_rng(21)
    X = people(rng, 4000)[["sex", "town"]]
    chance = 0.8 - 0.55 * (X["sex"] == "f") - 0.1 * X["town"].isin(["Abo", "Bern"])
    y = (rng.random(4000) < chance).astype(int)
    one = Audit(protected="sex", random_state=0).fit(X, y).report_.to_dict()
    answer, paragraph = only(one)
    exclusion = answer["others"]["equal"]
    assert exclusion["bound"] > 0.5
    said = " ".join(paragraph["more"])
    assert "too few" not in said
    assert "too small" not in said
    bound = f"{100 * exclusion['bound']:.0f}"
    (text,) = (text for text in paragraph["more"] if "without a finding" in text)
    assert text == (
        f"In the comparisons at equal columns without a finding ({exclusion['n']}), gaps of up to "
        f"{bound} points are possible (95\xa0%)."
    )
    for language in ("de", "fr"):
        (column,) = first_page(one, language)["columns"]
        assert any(f" {bound} " in text for text in column["more"])


def test_far_more_people_than_there_are_is_no_number(documents):
    """Ten times the people are a number of people; more are far more than these."""
    said = {}
    for relevant in (0.1, 0.01):
        one = copy.deepcopy(documents["few"])
        for row in one["verdicts"]:
            row["answer"]["relevant_gap"] = relevant
        said[relevant] = " ".join(only(one)[1]["more"])
    assert re.search(r"About \d+ people in each group would show", said[0.1])
    assert "Only far more people than these would show whether a gap above 1 points" in said[0.01]
    assert not re.search(r"About [\d,]+ people", said[0.01])


def test_one_spelling_of_the_favorable_outcome_is_shown():
    """All spellings count; one is enough to say which outcome that is."""
    rng = np.random.default_rng(0)
    X = people(rng, 2000)
    y = np.where(outcomes(rng, X, -0.2 * (X["sex"] == "f")), "Yes", "no")
    y = np.where((rng.random(2000) < 0.2) & (y == "Yes"), "yes ", y)
    audit = Audit(protected="sex", pos_label=["Yes", "yes "], random_state=0)
    one = audit.fit(X, y).report_.to_dict()
    assert "got the favorable outcome (Yes, also in other spellings) less" in only(one)[1]["first"]
    text = AuditReport(one).to_text(width=400)
    assert "were audited for sex; favorable is Yes, also in other spellings." in text
    assert "'yes '" in one["about"]["sentence"]


def test_a_row_of_a_smaller_group_has_the_whole_group_beside_it():
    """The question at equal columns is about all women as well."""
    one = unequal_in_one_town()
    text = " ".join(AuditReport(one).to_text(width=400).split())
    (row,) = [row for row in one["comparable"] if row["group"] == "sex = 'f'"]
    assert f"As a whole, sex = 'f': {row['effect']:.3f} [" in text


def test_a_gap_that_turns_at_equal_columns_is_said_so():
    """Women are hired less often, and more often than equal men; no number is below 0."""
    rng = np.random.default_rng(0)
    X = people(rng, 6000).drop(columns="town")
    X["skill"] = np.where(X["sex"] == "f", X["skill"] // 4, X["skill"])
    chance = 0.1 + 0.08 * X["skill"] + 0.12 * (X["sex"] == "f")
    y = (rng.random(len(X)) < chance).astype(int)
    one = Audit(protected="sex", random_state=0).fit(X, y).report_.to_dict()
    answer, paragraph = only(one)
    assert answer["raw"]["worse_off"]["group"] == "sex = 'f'"
    assert answer["equal"]["ci_low"] > 0
    said = " ".join(paragraph["more"])
    assert re.search(r"At equal skill, it is the other way round: \d+\.\d points more \(\d", said)
    lines = dict(paragraph["lines"])
    assert re.match(r"\d+\.\d points more for sex = 'f' \(\d", lines["At equal columns"])
    for language in LANGUAGES:
        (page,) = first_page(one, language)["columns"]
        assert "\u2212" not in " ".join(
            [page["first"], *page["more"], *(v for _, v in page["lines"])]
        )


@pytest.mark.parametrize("n_groups", [2, 3])
def test_whom_a_group_is_compared_with_at_equal_columns_is_said_where_it_is_another(n_groups):
    """The gap of c to the best group a is .25, that to everyone else .21 at equal columns."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"race": rng.choice(["a", "b", "c"], 4000, p=[0.5, 0.3, 0.2])})
    X["score"] = rng.integers(0, 10, len(X))
    chance = 0.5 + 0.02 * (X["score"] - 5) + X["race"].map({"a": 0.1, "b": 0.0, "c": -0.15})
    y = (rng.random(len(X)) < chance).astype(int)
    is_asked = X["race"] != "b" if n_groups == 2 else X["race"] != ""
    audit = Audit(protected="race", template="four_fifths", random_state=0)
    one = audit.fit(X[is_asked], y[is_asked]).report_.to_dict()
    for language in LANGUAGES:
        texts, (page,) = texts_of({}, language), first_page(one, language)["columns"]
        told = texts.AGAINST_EVERYONE.format(group="race = 'c'", other_group="race = 'a'")
        line = dict(page["lines"])[texts.LINES["remains"]]
        assert (told in page["more"]) == (n_groups == 3)
        assert line.endswith(texts.QUOTE_AGAINST) == (n_groups == 3)


def test_groups_that_differ_from_a_reference_are_not_said_to_differ_from_the_others():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"race": rng.choice(["a", "b", "c"], 3000)})
    y = (rng.random(3000) < X["race"].map({"a": 0.7, "b": 0.5, "c": 0.4})).astype(int)
    for template, whom in (("four_fifths", "race = 'a'"), ("general", "the others")):
        audit = Audit(protected="race", detectors=["GroupDisparity"], template=template)
        text = " ".join(only(audit.fit(X, y).report_.to_dict())[1]["more"])
        assert f"Different from {whom} as well: race = " in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_opening_line_names_the_cut_that_makes_decisions(documents, language):
    one = copy.deepcopy(documents["fair"])
    one["about"] |= {"audited": "decisions", "favorable": [0]}
    one["source"] = {"target": "paid", "predictions": "score", "threshold": 0.5}
    first = opening(one, texts_of(one, language))
    shown = "score ≥ 0.5" if language == "en" else "score ≥ 0,5"
    assert first.endswith(f" {shown}.")
    assert shown in str(first_page(one, language)["columns"])


def test_each_question_of_a_reader_has_a_line(documents):
    """Each state has a number to quote, what remains, of how many people, and what to do."""
    for world, one in documents.items():
        page = first_page(one)
        lines = [name for name, _ in page["columns"][0]["lines"] + page["lines"]]
        for name in ("Number to quote", "At equal columns", "Columns held equal", "People"):
            assert name in lines, (world, name)
        assert lines[-4:] == [
            "What to do next",
            "How sure",
            "What cannot be seen",
            "Against the law?",
        ]


def test_the_first_screen_has_no_term_that_needs_the_manual(documents):
    """What "legitimate" means is said where the word first stands, below the answers."""
    for one in documents.values():
        html = AuditReport(one).to_html()
        body = html[html.index("<header>") : html.index("</table>", html.index('id="verdicts"'))]
        assert "legitimate" not in re.sub(r"<[^>]*>", "", body)
        after = re.sub(r"<[^>]*>", "", html[html.index("<header>") :])
        assert "because they may explain a difference" in after[: after.index("legitimate")]


def numbers(text):
    """Return the numbers of a text."""
    return [float(t.replace(",", "")) for t in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def test_each_number_stands_in_the_document(documents):
    """No number of a page is computed but by turning shares into points or rounding."""

    def leaves(value):
        if isinstance(value, dict):
            return [v for one in value.values() for v in leaves(one)]
        if isinstance(value, list):
            return [v for one in value for v in leaves(one)]
        return [float(value)] if isinstance(value, (int, float)) else []

    for world in ("sex", "town", "skill", "fair"):
        parts = [abs(v) for v in leaves(answers(documents[world]))]
        printed = {round(v, 4) for v in parts} | {round(100 * v, d) for v in parts for d in (0, 1)}
        printed |= {np.floor(1000 * v + 1e-6) / 10 for v in parts}  # levels are rounded down
        _, paragraph = only(documents[world])
        said = [paragraph["first"], *paragraph["more"], *(v for _, v in paragraph["lines"][:2])]
        without_groups = re.sub(r"\(1\)", "", " ".join(said))
        for number in numbers(without_groups):
            assert any(np.isclose(number, v, atol=1e-9) for v in printed), (world, number)


def test_what_accounts_for_a_gap_is_said_with_its_bound(documents):
    """Where the legitimate columns account for a gap, the page names them and the bound."""
    answer, paragraph = only(documents["skill"])
    said = " ".join(paragraph["more"])
    assert "At equal skill, what remains for the group as a whole is" in said
    assert "In none of the groups compared (" in said
    assert "Whether these columns may count is your decision." in said
    assert dict(paragraph["lines"])["Columns held equal"] == "skill"
    assert answer["equal"]["verdict"] == NOTHING


def test_why_nobody_is_compared_is_said():
    """Where a column stands for sex, the page says so, and does not ask for more people."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 800)
    X = pd.DataFrame({"sex": sex, "pay": rng.normal(np.where(sex == "f", 20, 30), 1).round(1)})
    y = (rng.random(800) < 0.2 + 0.25 * (sex == "m")).astype(int)
    _, paragraph = only(Audit(protected="sex", random_state=0).fit(X, y).report_.to_dict())
    assert paragraph["state"] == "unequal, open at equal columns"
    assert "nearly determine who belongs to sex = 'f'" in " ".join(paragraph["more"])
    assert "more people" not in dict(paragraph["lines"])["What to do next"]


def test_a_copy_of_the_outcome_accounts_for_nothing():
    """Where the outcome itself is held equal no gap can show, which explains none."""
    rng = np.random.default_rng(0)
    X = people(rng, 1500)
    y = outcomes(rng, X, -0.2 * (X["sex"] == "f"))
    audit = Audit(protected="sex", random_state=0)
    _, paragraph = only(audit.fit(X.assign(reject=1 - y), y).report_.to_dict())
    assert paragraph["state"] == "unequal, open at equal columns"
    said = " ".join(paragraph["more"])
    assert "'reject': each of its values goes with one outcome" in said
    assert "account for the gap" not in said.replace("accounted", "")
    assert "compared at equal columns" not in said  # no gap there reassures nobody
    _, paragraph = only(audit.fit(X, y).report_.to_dict())
    assert paragraph["state"] == "unequal at equal columns"


def test_equal_decisions_are_no_lack_of_people():
    """A reason other than few people is said in place of them."""
    rng = np.random.default_rng(0)
    X = people(rng, 500)
    y = outcomes(rng, X)
    _, paragraph = only(
        Audit(protected="sex").fit(X, y, lambda X: np.ones(len(X))).report_.to_dict()
    )
    said = " ".join([paragraph["first"], *paragraph["more"], *(v for _, v in paragraph["lines"])])
    assert "all outcomes are equal" in paragraph["first"]
    assert "too few" not in said
    assert "more people" not in said


def test_with_rows_held_out_rates_are_those_of_the_groups():
    """Gaps of one half and rates of all people do not add up, so no rate is made of them."""
    rng = np.random.default_rng(0)
    X = people(rng, 2000)
    y = outcomes(rng, X, -0.2 * (X["sex"] == "f"))
    one = Audit(protected="sex", confirm=0.5, random_state=0).fit(X, y).report_.to_dict()
    rates = {r["group"]: r["rate"] for r in one["groups"] if r["measure"] == "selection_rate"}
    raw = only(one)[0]["raw"]
    for side in ("worse_off", "better_off"):
        assert raw[side]["rate"] == rates[raw[side]["group"]]


def bare(document, null, verdict, **numbers):
    """Return a document of 300 people with one verdict, and nothing beside it."""
    one = copy.deepcopy(document)
    row = {"null": null, "verdict": verdict, "answer": None} | numbers
    one["verdicts"] = [one["verdicts"][0] | row]
    one |= {part: [] for part in ("evidence", "groups", "comparable", "figures", "families", "log")}
    one["about"]["n_rows"] = 300
    return one


def test_what_comes_first_is_not_said_twice(documents):
    """Where only single people are found, one sentence says so."""
    one = bare(documents["sex"], "individual", FOUND, effect=0.1, people=30)
    _, paragraph = only(one)
    assert paragraph["first"].startswith("For 30 people (10\xa0%)")
    assert paragraph["first"] not in paragraph["more"]


def test_the_rates_beside_a_bound_are_of_groups_that_it_is_about():
    rng = np.random.default_rng(0)
    X = people(rng, 2000)
    # Thirty people without a value are under 5 %, and further from all others than women from men.
    X["sex"] = X["sex"].where(X.index >= 30)
    y = outcomes(rng, X)
    y.iloc[:30] = (np.arange(30) < 17).astype(int)
    audit = Audit(protected="sex", detectors=["GroupDisparity"], random_state=0).fit(X, y)
    answer, text = only(audit.report_.to_dict())
    assert answer["state"] == "nothing found"
    groups = {answer["raw"][side]["group"] for side in ("worse_off", "better_off")}
    assert groups & {"sex = 'f'", "sex = 'm'"}
    assert "missing" not in str(text)


def test_a_finding_that_is_hidden_is_no_lack_of_people(documents):
    """A document may keep a verdict whose groups it hides."""
    _, paragraph = only(bare(documents["sex"], "conditional", FOUND))
    assert paragraph["first"] == "Unequal even where the other columns are equal."
    assert dict(paragraph["lines"])["Number to quote"] == "no number: none may be shown"


def test_a_time_budget_is_no_lack_of_people():
    """Where no test ran, the page says why, and asks for no more people."""
    rng = np.random.default_rng(0)
    X = people(rng, 300)
    audit = Audit(protected="sex", random_state=0, limits=Limits(seconds=1e-9))
    _, paragraph = only(audit.fit(X, outcomes(rng, X)).report_.to_dict())
    assert paragraph["state"] == "cannot tell"
    assert "the time budget" in paragraph["first"]
    said = " ".join([paragraph["first"], *paragraph["more"], *(v for _, v in paragraph["lines"])])
    assert "more people" not in said
    assert "too few" not in said
    assert "cannot be told from" not in said


@pytest.mark.parametrize("n", [3, 8, 12])
@pytest.mark.parametrize("language", LANGUAGES)
def test_so_few_people_that_no_number_may_be_printed_are_too_few_people(n, language):
    """Their bounds are hidden, which is no reason why nothing was compared."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(["a", "b"], n)})
    y = np.resize([0, 1, 1], n)
    document = Audit(protected="sex", random_state=0).fit(X, y).report_.to_dict()
    (paragraph,) = first_page(document, language)["columns"]
    texts = texts_of(document, language)
    assert paragraph["first"] == texts.UNKNOWN_ALL.format(attribute="sex", people=n)
    said = [value for _, value in paragraph["lines"]]
    assert texts.QUOTE_NONE in said
    assert texts.NEXT["cannot tell"] in said


def test_many_small_groups_are_no_lack_of_people():
    """None of 40 equal groups has a twentieth of the people, however many are collected."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"origin": rng.permutation(np.arange(4000) % 40).astype(str)})
    audit = Audit(protected="origin", detectors=["GroupDisparity"], random_state=0)
    _, paragraph = only(audit.fit(X, rng.integers(0, 2, 4000)).report_.to_dict())
    assert paragraph["state"] == "cannot tell"
    said = " ".join([paragraph["first"], *paragraph["more"], *(v for _, v in paragraph["lines"])])
    assert "no group to compare of 5 % of these people or more" in said
    assert "collect more people" not in said


def test_the_most_serious_column_comes_first():
    """Columns are ordered by their state."""
    rng = np.random.default_rng(1)
    X = people(rng, 3000).assign(origin=lambda X: rng.choice(["a", "b"], len(X)))
    y = outcomes(rng, X, -0.2 * (X["origin"] == "b"))
    report = Audit(protected=["sex", "origin"], random_state=0).fit(X, y).report_
    states = [answer["state"] for answer in report.document["answers"]]
    assert report.document["answers"][0]["attribute"] == "origin"
    assert states == sorted(states, key=STATES.index)


def test_languages_say_the_same(documents):
    """Each language has the same texts with the same fields, and the same numbers."""
    texts = {
        name: import_module(f"skdisc.report._first_page.languages.{name}") for name in LANGUAGES
    }

    forms = {"Less": "less", "fewer": "less", "More": "more", "greater": "more"}

    def fields(value):
        if isinstance(value, dict):
            return {key: fields(one) for key, one in value.items()}
        names = {name for _, name, _, _ in string.Formatter().parse(value) if name}
        return sorted({forms.get(name, name) for name in names})

    for module in texts.values():
        for name in (n for n in vars(texts["en"]) if n.isupper()):
            if name not in ("DECIMAL", "THOUSANDS"):
                assert fields(getattr(module, name)) == fields(getattr(texts["en"], name)), name
    for one in documents.values():
        digits = []
        for language in LANGUAGES:
            page = first_page(one, language)
            said = [[c["first"], *c["more"], *(v for _, v in c["lines"])] for c in page["columns"]]
            digits.append(sorted(re.findall(r"\d", " ".join(said[0]))))
        assert digits[0] == digits[1] == digits[2]


@pytest.mark.parametrize(
    ("states", "code"),
    [
        (["nothing found", "unequal, accounted for"], 0),
        (["nothing found", "unequal, open at equal columns"], 3),
        (["unequal, accounted for", "cannot tell"], 3),
        (["nothing found as far as one can see"], 3),
        (["unequal at equal columns", "nothing found"], 1),
    ],
)
def test_what_legitimate_columns_account_for_may_pass(states, code):
    """With --fail-on equal-columns only what remains at equal columns fails."""
    assert exit_code([{"state": state} for state in states]) == code


def test_an_unknown_language_is_refused(documents):
    """The message names the languages."""
    with pytest.raises(ValueError, match="language='it' is not one of en, de, fr"):
        first_page(documents["fair"], "it")


def test_every_form_begins_with_the_first_page(documents):
    """Text, Markdown, HTML and the notebook say the same first sentence."""
    report = AuditReport(documents["sex"])
    sentence = only(documents["sex"])[1]["first"]
    words = sentence.split(" against")[0].replace("(1)", "")
    for form in (report.to_text(width=400), report.to_html(), report._repr_html_()):
        plain = re.sub(r"&#x27;|&#39;", "'", re.sub(r"<[^>]+>", "", form)).replace("(1)", "")
        assert words in plain
    assert "Ungleich, auch wo die anderen Spalten gleich sind" in report.to_html("de")
    assert "Inégal même là où les autres colonnes sont égales" in report.to_markdown("fr")
    assert report.to_text(language="de") != report.to_text()


@pytest.mark.parametrize("better", ["high", "low"])
def test_ranges_of_numbers_end_at_100_percent_less(better):
    """Nobody has more than 100 % less than others, of numbers that are 0 or more."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "town": rng.choice(["a", "b"], 400)})
    share = np.where(X["sex"] == "f", 0.01, 1.0) if better == "high" else 1.0
    y = rng.exponential(100, 400) * share
    pos_label = None if better == "high" else "low"
    document = Audit(protected="sex", output="value", pos_label=pos_label).fit(X, y).report_
    document = document.to_dict()
    sign = 1 if better == "high" else -1
    for answer in document["answers"]:
        reference = answer["raw"]["better_off"]["rate"]
        answer["equal"] |= {"gap": -0.98 * reference, "ci_level": 0.95}
        answer["equal"] |= {"ci_low": -1.2 * reference, "ci_high": -0.8 * reference}
    answer = document["answers"][0]
    said = _paragraphs._Paragraph(answer, document, texts_of(document, "en"))
    shown = said._range(said.equal).replace("\u00a0", " ")
    assert shown == f"80.0 % to {100.0 if sign > 0 else 120.0} %"


def test_where_nothing_can_be_told_both_ranges_are_of_the_group_that_is_named():
    """The largest gap is that of a group that is better off, so everyone else is worse off."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"origin": np.repeat(["a", "b", "c"], [60, 60, 30])})
    X["town"] = rng.choice(["Abo", "Bern"], 150)
    y = np.tile([1, 0, 0, 0, 1, 0], 25)
    y[120:] = np.tile([1, 1, 0, 0, 0, 0], 5)
    y[120:123] = 1
    names = ["GroupDisparity", "DisparityPursuit"]
    audit = Audit(protected="origin", detectors=names, random_state=0)
    text = " ".join(audit.fit(X, y).report_.to_text().split())
    told = re.search(
        r"of origin = 'c' got .*, (\S+) % of everyone else, and the true difference may be between "
        r"(\S+) points less and (\S+) more .* is between (\S+) points less and (\S+) more",
        text,
    )
    assert told, text
    less, more, less_at_equal, more_at_equal = map(float, told.groups()[1:])
    assert less < more
    assert less_at_equal < more_at_equal


def needed_of(n_households, size, seed=0):
    """Return how many people a page says to be needed, and how many the smaller group has.

    Nobody differs; the people of a household have the same sex, and nearly the same outcome.
    """
    rng = np.random.default_rng(seed)
    household = np.repeat(np.arange(n_households), size)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n_households)[household]})
    X["town"] = rng.choice(["Abo", "Bern"], len(X))
    y = (rng.normal(size=n_households)[household] + 0.3 * rng.normal(size=len(X)) > 0).astype(int)
    audit = Audit(protected="sex", detectors=["GroupDisparity"], random_state=0)
    text = " ".join(audit.fit(X, y, groups=household).report_.to_text().split())
    needed = re.search(r"About ([\d,]+) people in each group would show", text)
    n_needed = None if needed is None else int(needed[1].replace(",", ""))
    return n_needed, X["sex"].value_counts().min(), text


def test_people_needed_are_those_of_the_design():
    """440 independent people in each group would be enough; households of five say less."""
    needed, smaller, _ = needed_of(60, 5)
    assert needed > 1000 > smaller
    needed, smaller, text = needed_of(200, 5)
    assert "cannot be told" in text
    assert needed > smaller > 440


def test_as_many_people_as_there_are_are_not_said_to_show_more():
    """A gap of .06 among 500 people on each side is neither found nor excluded."""
    X = pd.DataFrame({"sex": np.repeat(["f", "m"], 500), "town": np.tile(["Abo", "Bern"], 500)})
    y = np.r_[np.arange(500) < 220, np.arange(500) < 250].astype(int)
    X, y = X.iloc[::-1], y[::-1]
    audit = Audit(protected="sex", detectors=["GroupDisparity"], random_state=0)
    text = " ".join(audit.fit(X, y).report_.to_text().split())
    assert "sex: CANNOT TELL" in text
    assert "people in each group would show" not in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_gap_that_the_correction_leaves_open_was_compared(language):
    """The gap of women has p = .03, and .06 or more with the other questions of the audit."""
    X = pd.DataFrame({"sex": np.repeat(["f", "m"], 500), "town": np.tile(["Abo", "Bern"], 500)})
    y = np.r_[np.arange(500) * 67 % 500 < 200, np.arange(500) * 67 % 500 < 234].astype(int)
    report = Audit(protected="sex", random_state=0).fit(X, y).report_
    (marginal,) = [v for v in report.document["verdicts"] if v["null"] == "marginal"]
    assert "after correction for 3 questions" in marginal["reason"]
    texts = texts_of(report.document, language)
    (paragraph,) = first_page(report.document, language)["columns"]
    assert paragraph["state"] == "cannot tell"
    said = [paragraph["first"], *paragraph["more"], *(v for _, v in paragraph["lines"])]
    assert any(text.startswith("p = ") for text in said)
    assert texts.QUOTE_NOTHING not in said
    assert texts.NEXT_OF_NOTHING not in said
    assert dict(paragraph["lines"])[texts.LINES["next"]] == texts.NEXT["cannot tell"]


def test_numbers_too_skewed_to_compare_have_no_parts_and_no_impossible_ranges():
    """One woman has nearly all of the pay; three groups, the smallest with 18 people."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"sex": rng.choice(["m", "f", "x"], 900, p=[0.5, 0.47, 0.03])})
    X["grade"] = rng.choice(["G1", "G2", "G3"], 900)
    pay = rng.lognormal(4, 0.3, 900)
    pay[np.flatnonzero(X["sex"] == "f")[0]] = 1e5
    report = Audit(protected="sex", output="value", random_state=0).fit(X, pay).report_
    ends = {row["group"]: row["ci_low"] for row in report.document["comparable"]}
    compared = {group for group, low in ends.items() if low is not None}
    assert set(ends) - compared
    assert {row["group"] for row in report.document["gaps"]} == compared
    text = " ".join(report.to_text().split())
    assert max(map(float, re.findall(r"(\d+)\.\d % less", text)), default=0) <= 100
    assert "--outcome-scale log weighs them less" in text
    logs = Audit(protected="sex", output="value", outcome_scale="log", random_state=0)
    assert "--outcome-scale log" not in logs.fit(X, pay).report_.to_text().partition("sex: ")[0]


def test_both_sides_of_a_gap_are_of_its_measure():
    """Nearly everyone is selected, and fewer of the women who are have a favorable label."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": np.repeat(["f", "m"], 600)})
    y = (rng.random(1200) < np.where(X["sex"] == "f", 0.45, 0.65)).astype(int)
    decisions = np.where((y == 0) & (rng.random(1200) < 0.04), 0, 1)
    audit = Audit(protected="sex", detectors=["GroupDisparity"], random_state=0)
    document = audit.fit(X, y, BlackBox(decisions=decisions)).report_.document
    (answer,) = answers(document)
    raw = answer["raw"]
    assert raw["measure"] == "positive_predictive_value"
    rates = {
        row["group"]: row["rate"] for row in document["groups"] if row["measure"] == raw["measure"]
    }
    assert {raw[side]["group"]: raw[side]["rate"] for side in ("worse_off", "better_off")} == rates
    assert raw["worse_off"]["rate"] - raw["better_off"]["rate"] == pytest.approx(raw["gap"])
    (marginal,) = [v for v in document["verdicts"] if v["null"] == "marginal"]
    assert marginal["reason"] == "by true positive rate, all outcomes are equal"


def test_decisions_in_a_column_are_told_by_its_name(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 600), "hired": rng.choice(["no", "yes"], 600)}
    )
    table["advice"], table["score"] = rng.choice(["no", "yes"], 600), rng.random(600).round(3)
    table.to_csv(tmp_path / "t.csv", index=False)
    for more, told in [
        ([], "hired = yes"),
        (["--predictions", "advice", "--ignore", "score"], "advice = yes"),
        (["--predictions", "score", "--threshold", "0.25", "--ignore", "advice"], "score ≥ 0,25"),
    ]:
        command = ["audit", str(tmp_path / "t.csv"), "--target", "hired", "--favorable", "yes"]
        report = ["--report", str(tmp_path / "t.html"), "--language", "de"]
        main([*command, "--protected", "sex", "--detectors", "GroupDisparity", *more, *report])
        page = (tmp_path / "t.html").read_text()
        assert f"das günstige Ergebnis ({told})" in " ".join(page.split())
        about = told.removeprefix("hired = ").removeprefix("advice = ").replace(",", ".")
        assert re.search(f">Favorable outcome<.*?>{about}<", page)


def test_a_reference_group_is_named_with_its_rate():
    """Of three groups, women and others are compared with men."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"sex": rng.choice(["D", "F", "M"], 2000, p=[0.1, 0.44, 0.46])})
    X["town"] = rng.choice(["Abo", "Bern"], 2000)
    y = (rng.random(2000) < 0.5 - 0.15 * (X["sex"] == "F")).astype(int)
    names = ["GroupDisparity", "DisparityPursuit"]
    reference = {"reference": {"sex": "M"}}
    audit = Audit(protected="sex", detectors=names, settings=reference, random_state=0)
    document = audit.fit(X, y).report_.to_dict()
    (answer,) = answers(document)
    sides = {
        answer["raw"][side]["group"]: answer["raw"][side] for side in ("worse_off", "better_off")
    }
    assert set(sides) == {"sex = 'F'", "sex = 'M'"}
    for value in "FM":
        assert sides[f"sex = '{value}'"]["rate"] == pytest.approx(y[X["sex"] == value].mean())
    equal = {row["group"]: row["effect"] for row in document["comparable"]}
    assert answer["equal"]["gap"] == equal["sex = 'F'"]


def test_no_gap_of_rates_is_above_100_points():
    """At equal columns an estimate of a gap of 1 may be larger."""
    units = _paragraphs.units_of({}, texts_of({}, "en"))
    assert units.gap(1.001, None) == units.gap(1.0, None)
    assert units.end(1.01, True, None) == "100.0"


def test_a_group_too_small_to_be_judged_is_told_where_nothing_else_is_found():
    """Women of a town of 4 % of the people are worse off; the table of findings names them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 3000)})
    X["town"] = rng.choice(["Abo", "Bern", "Cork"], 3000, p=[0.04, 0.48, 0.48])
    planted = (X["sex"] == "f") & (X["town"] == "Abo")
    y = (rng.random(3000) < 0.5 - 0.45 * planted).astype(int)
    document = Audit(protected="sex", random_state=0).fit(X, y).report_.to_dict()
    found = [row for row in document["evidence"] if row["found"]]
    assert {row["group"] for row in found} == {"sex = 'f' and town = 'Abo'"}
    assert not any(row["judged"] for row in found)
    (paragraph,) = first_page(document)["columns"]
    assert dict(paragraph["lines"])["Number to quote"] != "no number: none may be shown"
    assert "sex = 'f' and town = 'Abo' got" in paragraph["first"]


@pytest.mark.parametrize("language", ["de", "fr"])
def test_groups_without_a_value_have_no_english_name_in_a_reason(language):
    texts = texts_of({}, language)
    reason = (
        "the legitimate columns nearly determine who belongs to sex = 'd', sex is missing, so "
        "nobody like them is left to compare with; leave such columns (copy) out (adjust_for, or "
        "--ignore)"
    )
    told = _paragraphs.in_language(texts, reason)
    assert texts.MISSING.format(name="sex") in told
    assert "is missing" not in told


def test_medians_that_differ_the_other_way_round_are_told_so():
    """The page wrote "gap: -8.9 % to -6.2 % less"."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 400)})
    y = np.where(X["sex"] == "f", 3300.0, np.where(rng.random(400) < 0.3, 7000.0, 3000.0))
    audit = Audit(protected="sex", output="value", detectors=["GroupDisparity"])
    report = audit.fit(X, y + rng.normal(0, 100, 400)).report_
    text = " ".join(report.to_text().replace("\u00a0", " ").split())
    found = re.search(
        r"medians are 3,[23]\d0 and 3,[01]\d0 \(gap: (\d.*?) % to (\d.*?) % more\)", text
    )
    assert found
    low, high = map(float, found.groups())
    assert 0 < low < high < 15


def test_a_group_that_is_too_small_to_be_judged_leads_only_where_nothing_else_is_found():
    """The number to quote is not of a group that "what cannot be seen" names."""
    rng = np.random.default_rng(0)
    chances = {"a": 0.55, "b": 0.36, "c": 0.5, "d": 0.1}
    X = pd.DataFrame({"origin": rng.choice(list("abcd"), 2000, p=[0.38, 0.3, 0.3, 0.02])})
    y = (rng.random(2000) < X["origin"].map(chances)).astype(int)
    detectors = ["GroupDisparity"]
    one = Audit(protected="origin", detectors=detectors, random_state=0).fit(X, y).report_.to_dict()
    assert any(row["found"] and not row["judged"] for row in one["evidence"])
    _, paragraph = only(one)
    assert paragraph["first"].startswith("origin = 'b' got")
    assert "origin = 'd'" not in str(paragraph)
    one["evidence"] = [row for row in one["evidence"] if not row["judged"]]
    assert only(one)[1]["first"].startswith("origin = 'd' got")
    unseen = dict(first_page(one)["lines"])["What cannot be seen"]
    assert unseen.startswith("other gaps in groups under 5\xa0% of the people;")


def test_what_is_not_found_is_no_number_to_quote():
    """Where a gap is no finding after correction, the line at equal columns has a range alone."""
    rng = np.random.default_rng(19)
    X = pd.DataFrame({name: rng.choice(list("ab"), 5000) for name in ("sex", "unit")})
    one = Audit(protected="sex", random_state=0).fit(X, rng.integers(0, 2, 5000)).report_.to_dict()
    raw = {"verdict": UNSURE, "reason": "p = 0.028, and 0.084 after correction for 3 questions"}
    for row in one["verdicts"]:
        row |= raw | {"answer": row["answer"] | {"n_cleared": 0}, "bound": None}
    ends = {"ci_low": -0.061, "ci_high": -0.001, "ci_level": 0.966}
    for part, name in (("comparable", "effect"), ("groups", "gap")):
        for row in one[part]:
            row |= ends | {name: -0.031} if row["gap"] < 0 else {}
    _, paragraph = only(one)
    assert paragraph["state"] == "cannot tell"
    lines = dict(paragraph["lines"])
    assert re.fullmatch(
        r"not known, but 0\.1 to 6\.1 points less \(96\.6\xa0%\) for sex = '[ab]'",
        lines["At equal columns"],
    )


@pytest.mark.parametrize("language", ["en", "de", "fr"])
@pytest.mark.parametrize(("template", "ratio", "bound"), [("general", 79, 79), ("ll144", 78, 82)])
def test_what_only_a_ratio_leaves_open_is_said_of_the_ratio(language, template, ratio, bound):
    """The page wrote "no gap above 9.2 points where ...; in smaller comparisons up to 7.9"."""
    table = {"attribute": "race", "group": ["A", "B", "C", "D"], "n": [1200, 600, 190, 10]}
    report = Audit.from_counts(table | {"selected": [372, 186, 62, 0]}, template=template)
    (verdict,) = report.document["verdicts"]
    assert verdict["answer"]["open_by_ratio"]
    text = " ".join(report.to_text(language=language).replace("\u00a0", " ").split())
    first = text[: text.index("Questions and answers")]
    comma = "." if language == "en" else ","
    assert f"0{comma}{ratio}" in first
    assert f"{bound / 10:.1f}".replace(".", comma) in first
    assert f"9{comma}2" not in first  # the gap that matters: none is as large


@pytest.mark.parametrize("language", LANGUAGES)
def test_columns_that_no_question_was_about_are_not_said_to_be_missing(language):
    rng = np.random.default_rng(0)
    X = people(rng, 2000)
    y = outcomes(rng, X, -0.2 * (X["sex"] == "f"))
    texts, audit = texts_of({}, language), Audit(protected="sex", detectors=["GroupDisparity"])
    for columns, said in ((["sex", "town"], texts.NOT_ASKED), (["sex"], texts.NO_COLUMNS)):
        (page,) = first_page(audit.fit(X[columns], y).report_.to_dict(), language)["columns"]
        assert said in page["more"]
        step = dict(page["lines"])[texts.LINES["next"]]
        assert (step == texts.NEXT_OF_UNASKED) == (said == texts.NOT_ASKED)


def test_with_rows_held_out_rates_of_all_rows_are_not_called_nearly_equal(documents):
    one = copy.deepcopy(documents["town"])
    one["evidence"] = [row for row in one["evidence"] if row["kind"] != "gap"]
    nearly = texts_of(one, "en").NEARLY_EQUAL
    said = {}
    for confirm in (None, 0.5):
        one["settings"]["confirm"] = confirm
        said[confirm] = " ".join(only(one)[1]["more"])
        assert "of sex = 'f' got" in said[confirm]
    assert nearly in said[None]
    assert nearly not in said[0.5]
