"""From the page of an audit to a search for a less discriminatory model."""

import json
import re
import shlex
import subprocess
import sys
from html import unescape

import pandas as pd
import pytest
from test_app import address_of, choose, people, run, sent

pytest.importorskip("starlette")
pytest.importorskip("python_multipart")

from skdisc.app import _pages, _search
from skdisc.app._search import outcome_refused, reach, search_options, search_refused
from skdisc.app._study import Study
from skdisc.auditing import AuditReport
from skdisc.model_selection._alternatives._split import is_small, least_people
from skdisc.report._first_page import STATES

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def small_people():
    """Return a table of unequal decisions with the columns that a model needs."""
    return people(400)[["sex", "score", "hired"]]


@pytest.mark.slow
def test_the_whole_way_and_the_command_that_gives_the_same(app, ended, tmp_path):
    text = small_people().to_csv(index=False)
    address = address_of(sent(app, text))
    choose(app, address, target="hired", look="1")
    choose(app, address, target="hired", favorable=["yes"], **{"role-0": "protected"})
    audit = run(app, address)
    assert ended(audit) == "done"
    assert f'href="{audit}/alternative"' in app.client.get(audit).text
    page = app.client.get(f"{audit}/alternative").text
    assert "All 400 people are judged" in page
    assert "About 200 of the 400 people are kept" in page
    assert 'value="recipe" selected' in page
    assert "were searched before" not in page
    form = {"fit": "logistic", "protected": "sex", "margin": "0.1", "claim": "model"}
    search = app.client.post(f"{audit}/alternative", data=form).url.path
    assert re.fullmatch(r"/searches/[\w-]+", search)
    assert ended(search) == "done", app.pages.jobs[search.rpartition("/")[2]].error
    page = app.client.get(search).text
    assert "Search for a less discriminatory alternative" in page
    assert "<svg" in page
    assert str(app.folder.path) not in page
    own = app.client.get(f"{search}/alternatives.json").text
    for end in ("html", "md", "txt"):
        answer = app.client.get(f"{search}/alternatives.{end}")
        kept = f'attachment; filename="people-alternatives.{end}"'
        assert answer.headers["content-disposition"] == kept
    assert app.client.get(f"{search}/alternatives.docx").status_code == 404
    command = unescape(re.search(r'aria-label="Command"><code>(.*?)</code>', page, re.S)[1])
    python = unescape(re.search(r'aria-label="Python code"><code>(.*?)</code>', page, re.S)[1])
    texts = [own]
    for name, argv in (
        ("a", ["-m", *shlex.split(command.replace(".html", ".json").replace("\\\n", ""))]),
        ("b", ["-c", python]),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "people.csv").write_text(text)
        subprocess.run([sys.executable, *argv], cwd=folder, check=False, capture_output=True)
        texts.append((folder / "alternatives.json").read_text())
    assert texts[0] == texts[1] == texts[2]
    assert json.loads(own)["settings"]["protected"] == ["sex"]
    # another kind of model on the same people claims nothing
    assert "were searched before" in app.client.get(f"{audit}/alternative").text
    search = app.client.post(f"{audit}/alternative", data=form | {"fit": "boosting"}).url.path
    assert ended(search) == "done"
    document = app.client.get(f"{search}/alternatives.json").json()
    assert document["verdict"] == "exploratory"
    # what cannot be shown is refused by the command before anything is fitted
    search = app.client.post(f"{audit}/alternative", data=form | {"margin": "0.001"}).url.path
    assert ended(search) == "failed"
    page = app.client.get(search)
    assert page.status_code == 422
    assert "a margin of 0.001 takes at least 2,703 people" in page.text
    # and a search that is canceled says so
    search = app.client.post(f"{audit}/alternative", data=form | {"fit": "forest"}).url.path
    assert "/cancel" in app.client.get(search).text
    app.client.post(f"{search}/cancel")
    assert ended(search) == "failed"
    assert "cancelled; it claims nothing" in app.client.get(search).text
    assert app.client.get(search.replace("searches", "audits")).status_code == 404


def study(tmp_path, **more):
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    about = {"target": "hired", "favorable": "yes", "roles": {"sex": "protected"}} | more
    return Study("k", "data.csv", tmp_path / "data.csv", **about)


def document_in(monkeypatch, state):
    """Return a document whose only protected column is in a state."""
    told = [{"attribute": "sex", "state": state}]
    monkeypatch.setattr(_search, "answers", lambda document: told)
    return {}


@pytest.mark.parametrize("state", STATES)
def test_a_search_follows_each_disparity_and_nothing_else(tmp_path, monkeypatch, state):
    reason = search_refused(study(tmp_path), document_in(monkeypatch, state))
    assert (reason == "") == (STATES.index(state) < 3)
    assert reason == "" or "found no disparity" in reason


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"is_number": True}, "is a number"),
        ({"flags": ["public"]}, "may leave the house"),
        ({"roles": {"sex": "protected", "w": "weights"}}, "know no weights"),
        ({"roles": {"sex": "protected", "n": "counts"}}, "rows of several people"),
    ],
)
def test_audits_that_no_search_follows(tmp_path, monkeypatch, more, words):
    document = document_in(monkeypatch, STATES[0])
    assert words in search_refused(study(tmp_path, **more), document)


def test_a_file_that_is_counted_part_by_part_is_not_searched(tmp_path, monkeypatch):
    from skdisc.app import _study

    monkeypatch.setattr(_study, "is_counted", lambda path: True)
    document = document_in(monkeypatch, STATES[0])
    assert "part by part" in search_refused(study(tmp_path), document)


def value(text, *spellings):
    return {"text": text, "spellings": list(spellings)}


@pytest.mark.parametrize(
    ("values", "flags", "words"),
    [
        ([value("yes"), value("no")], [], ""),
        ([value("yes", "'YES'"), value("no")], [], ""),
        ([value("yes", "'YES'"), value("no")], ["favorable-exact"], "hired has 3 values"),
        ([value("yes"), value("no"), value("open")], [], "hired has 3 values"),
        ([], [], "hired has many values"),
    ],
)
def test_outcomes_that_no_search_follows(tmp_path, values, flags, words):
    reason = outcome_refused(study(tmp_path, flags=flags), {"values": values})
    assert words in reason
    assert bool(reason) == bool(words)


def test_options_are_those_of_the_same_rows_and_columns(tmp_path):
    own = study(tmp_path, missing=["age=999"], fold=["sex"], flags=["drop-copies", "public"])
    own.roles |= {"town": "protected", "nr": "ignore", "decided": "predictions", "home": "groups"}
    seen = {"values": [value("yes", "'YES'"), value("no")]}
    form = {"fit": ["forest"], "protected": ["sex"], "margin": ["0.02"], "claim": ["model"]}
    assert search_options(own, seen, form) == [
        "--target=hired",
        "--favorable=yes",
        "--fit=forest",
        "--protected=sex",
        "--watched=town",
        "--ignore=nr,decided",
        "--groups=home",
        "--margin=0.02",
        "--claim=model",
        "--fold=sex,hired",
        "--missing=age=999",
        "--drop-copies",
    ]
    for name in ("fit", "protected", "claim"):
        with pytest.raises(ValueError, match=f"{name}: 'svm' is not offered"):
            search_options(own, seen, form | {name: ["svm"]})


@pytest.mark.parametrize("n", [120, 5_000])
def test_what_is_said_beforehand_is_what_the_search_refuses(n):
    told = reach(n)
    assert told["claim"] == ("recipe" if n < 2_000 else "model")
    for claim, kept in (("model", n // 2), ("recipe", n)):
        numbers = [float(v) for v in re.findall(r"below (\d\.\d+)", told["sentences"][claim])]
        least, usual = numbers
        assert least_people(least * 1.1, 1.645) <= kept < least_people(least * 0.9, 1.645)
        assert is_small(kept, usual * 0.9)
        assert not is_small(kept, usual * 1.1)


@pytest.mark.slow
def test_why_there_is_no_search_stands_on_the_page_and_at_the_step(app, monkeypatch):
    """An audit of people among whom nothing is unequal."""
    frame = pd.DataFrame({"sex": ["f", "m"] * 60, "hired": ["yes", "yes", "no", "no"] * 30})
    address = address_of(sent(app, frame.to_csv(index=False)))
    choose(app, address, target="hired", look="1")
    choose(app, address, target="hired", favorable=["yes"], **{"role-0": "protected"})
    audit = run(app, address)
    job = app.pages.jobs[audit.rpartition("/")[2]]
    job._reader.join(timeout=60)
    assert isinstance(job.report(), AuditReport)
    words = "No less discriminatory model is looked for: the audit found no disparity"
    page = app.client.get(audit).text
    assert words in page
    assert "/alternative" not in page
    step = app.client.get(f"{audit}/alternative")
    assert step.status_code == 400
    assert words in step.text
    assert words in app.client.post(f"{audit}/alternative", data={}).text
    # nor once the file is deleted, whatever was found
    monkeypatch.setattr(_pages, "search_refused", lambda *_: "")
    app.client.post(f"{address}/delete")
    assert "its file is no longer here" in app.client.get(audit).text
