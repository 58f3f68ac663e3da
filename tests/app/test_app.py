"""From a file to its page, by requests as a browser sends them."""

import asyncio
import io
import json
import re
import shlex
import subprocess
import sys
import threading
import time
import zipfile
from html import unescape
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("starlette")
pytest.importorskip("python_multipart")

from skdisc import Audit
from skdisc._registry import all_detectors
from skdisc._task import _large_tables
from skdisc._verdicts._rule import Rule
from skdisc.app import _looking
from skdisc.app._jobs import _STEPS, Job
from skdisc.app._looking import look
from skdisc.app._study import Study
from skdisc.cli._beside import power_lines
from skdisc.subgroup import DisparityPursuit

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def people(n=600, seed=0):
    """Return a table in which women are hired less often, with what goes wrong in tables."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    score = rng.integers(0, 100, n)
    hired = np.where(rng.random(n) < np.where(sex == "m", 0.6, 0.25), "yes", "no")
    frame = pd.DataFrame({"nr": np.arange(n) + 5000, "sex": sex, "score": score, "hired": hired})
    frame["rejected"] = np.where(hired == "yes", 0, 1)
    frame["dress"] = np.where(rng.random(n) < 0.95, sex == "f", sex == "m").astype(int)
    frame["age"] = rng.integers(20, 60, n)
    frame.loc[::10, "age"] = 999
    frame.loc[::50, "hired"] = frame.loc[::50, "hired"].str.upper()
    return frame


def sent(app, text, name="people.csv", **how):
    """Send a file; return the answer."""
    content = text if isinstance(text, bytes) else text.encode()
    return app.client.post("/files", files={"file": (name, content)}, **how)


def address_of(answer):
    assert answer.status_code == 200, answer.text
    return answer.url.path.removesuffix("/columns")


class Form(HTMLParser):
    """What a browser sends of the last form of a page: a dict of lists."""

    def __init__(self, page):
        super().__init__()
        self.fields, self._select, self._area = {}, None, None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        about = dict(attrs)
        if tag == "form":
            self.fields = {}
        elif tag == "select":
            self._select = self.fields.setdefault(about["name"], [])
        elif tag == "option" and self._select is not None:
            if "selected" in about or not self._select:
                self._select[:] = [about.get("value", "")]
        elif tag == "input" and "name" in about:
            is_sent = about.get("type") != "checkbox" or "checked" in about
            if is_sent:
                self.fields.setdefault(about["name"], []).append(about.get("value", "on"))

    def handle_endtag(self, tag):
        self._select = None if tag == "select" else self._select


def fields(app, address, **more):
    """Return the form of the page of columns as a browser would send it."""
    return Form(app.client.get(f"{address}/columns").text).fields | more


def choose(app, address, **more):
    return app.client.post(f"{address}/columns", data=fields(app, address, **more))


def asked(app, address):
    """Choose outcome, favorable value and the protected column, and go to the question."""
    choose(app, address, target="hired", look="1")
    choose(app, address, target="hired", favorable=["yes"], **{"role-1": "protected"})
    answer = choose(app, address, next="1")
    assert answer.url.path == f"{address}/question", answer.text
    return answer


def run(app, address):
    answer = app.client.post(f"{address}/question", data={"run": "1"})
    assert re.fullmatch(r"/audits/[\w-]+", answer.url.path), answer.text
    return answer.url.path


def without_seconds(document):
    """Return a document without the time that it took."""
    if isinstance(document, dict):
        return {k: without_seconds(v) for k, v in document.items() if k != "seconds"}
    return list(map(without_seconds, document)) if isinstance(document, list) else document


@pytest.mark.slow
def test_whole_way_and_the_command_that_gives_the_same(app, ended, tmp_path):
    text = people().to_csv(index=False)
    address = address_of(sent(app, text))
    assert "600 rows, 7 columns" in app.client.get(address).text
    asked(app, address)
    page = choose(app, address).text
    for seen in ("age=999: means missing", "as numbers of rows do", "the outcome in other words"):
        assert seen in page
    assert "goes strongly with" in page
    fields_now = fields(app, address)
    del fields_now["missing"]  # unticked
    fields_now |= {"role-0": "", "role-4": "", "look": "1"}
    page = app.client.post(f"{address}/columns", data=fields_now).text
    for seen in ("999 in ", "as identifiers do", "each of its values goes with one outcome"):
        assert seen in page
    for place, argv in ((6, "--missing|age=999"), (0, "--ignore|nr"), (4, "--ignore|rejected")):
        assert f'value="{place}|{argv}"' in page
        choose(app, address, apply=f"{place}|{argv}")
    page = app.client.get(f"{address}/columns").text
    assert "999 in " not in page
    assert "each of its values goes with one" not in page
    question = app.client.get(f"{address}/question").text
    assert "shows a lower rate with power 0.8" in question
    audit = run(app, address)
    assert ended(audit) == "done"
    page = app.client.get(audit).text
    places = [page.index(text) for text in ('<p class="said">', "Keep it:", 'id="verdicts"')]
    assert places == sorted(places)  # the answer, what can be done with it, and the details
    assert "less often than sex = 'm'" in " ".join(unescape(re.sub("<[^>]*>", "", page)).split())
    command = re.search(r'aria-label="Command"><code>(.*?)</code>', page, re.S)[1]
    python = re.search(r'aria-label="Python code"><code>(.*?)</code>', page, re.S)[1]
    own = app.client.get(f"{audit}/audit.json").text
    (tmp_path / "people.csv").write_text(text)
    argv = shlex.split(unescape(command).replace("audit.html", "a.json").replace("\\\n", ""))
    subprocess.run([sys.executable, "-m", *argv], cwd=tmp_path, check=False, capture_output=True)
    code = [sys.executable, "-c", unescape(python).replace("audit.json", "b.json")]
    subprocess.run(code, cwd=tmp_path, check=False, capture_output=True)
    documents = [own, *((tmp_path / n).read_text() for n in ("a.json", "b.json"))]
    texts = {json.dumps(without_seconds(json.loads(d)), indent=1) for d in documents}
    assert len(texts) == 1
    for end in ("html", "md", "txt"):
        answer = app.client.get(f"{audit}/audit.{end}")
        assert answer.headers["content-disposition"] == f'attachment; filename="people-audit.{end}"'
    again = app.client.post(f"{audit}/again", data={"column": "dress"})
    assert ended(again.url.path) == "done"
    assert "--ignore=nr,rejected,dress" in unescape(app.client.get(again.url.path).text)


@pytest.mark.slow
def test_a_plan_is_written_and_its_hash_stands_on_the_page(app, ended):
    address = address_of(sent(app, people(300).to_csv(index=False)))
    asked(app, address)
    page = app.client.post(f"{address}/question", data={"plan": "1", "relevant_gap": "0.1"}).text
    sha256 = re.search(r"SHA-256: <code>(\w{64})", page)[1]
    assert app.client.get(f"{address}/plan.json").json()["options"]["relevant_gap"] == 0.1
    audit = app.client.post(f"{address}/question", data={"run": "1", "relevant_gap": "0.1"})
    assert ended(audit.url.path) == "done"
    document = app.client.get(f"{audit.url.path}/audit.json").json()
    assert document["plan"]["sha256"] == sha256
    # another question is no longer that of the plan
    page = app.client.post(f"{address}/question", data={"relevant_gap": "0.2"}).text
    assert "SHA-256: <code>" not in page


def test_what_has_to_be_chosen_is_said(app):
    frame = people(60).rename(columns={"hired": "h", "sex": "s", "rejected": "r", "age": "a"})
    frame["h"] = frame["h"].map({"yes": "A", "no": "B"})
    address = address_of(sent(app, frame.to_csv(index=False)))
    for go_on in ({"next": "1"}, {"run": "1"}):
        answer = choose(app, address, target="", **go_on)
        assert "Choose the column with what was decided" in answer.text
        choose(app, address, target="h", look="1")
        assert "which of its values people want" in choose(app, address, **go_on).text
        answer = choose(app, address, favorable=["A"], **go_on)
        assert "at least one column protected" in answer.text
    question = app.client.post(f"{address}/question", data={"run": "1"})
    assert question.url.path == f"{address}/columns"


@pytest.mark.slow
def test_cells_names_and_columns_are_escaped(app, ended):
    evil = "<script>alert(1)</script>"
    frame = people(300)
    frame["sex"] = frame["sex"].replace({"f": evil, "m": '"><img src=x onerror=alert(1)>'})
    frame = frame.rename(columns={"score": "<b>score</b>"})
    address = address_of(sent(app, frame.to_csv(index=False), name=f"../{evil}.csv"))
    asked(app, address)
    audit = run(app, address)
    assert ended(audit) == "done"
    pages = [app.client.get(p).text for p in ("/", address, f"{address}/columns", audit)]
    pages.append(app.client.get(f"{address}/question").text)
    for page in pages:
        assert not re.search(r"<script>|<img|<b>score", page)
    assert any("&lt;script&gt;alert" in page for page in pages)


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "..\\..\\evil.csv", "/etc/evil.csv", "C:\\evil.csv", "a/../evil.csv"]
)
def test_a_name_leads_nowhere(app, name):
    address = address_of(sent(app, "a,b\n1,2\n", name=name))
    study = app.pages.studies[address.rpartition("/")[2]]
    assert study.name == "evil.csv"
    assert study.path.name == "data.csv"
    assert study.path.parent.parent == app.folder.path


@pytest.mark.slow
def test_limit_of_bytes(app):
    most = app.pages.most_bytes
    text = b"a,b\n" + b"1,2\n" * (most // 4 - 1)
    assert len(text) == most
    assert sent(app, text).status_code == 200
    answer = sent(app, text + b"\n")
    assert answer.status_code == 413
    assert "larger than 5 MB" in answer.text
    assert len(list(app.folder.path.glob("file-*"))) == 1


def raw(app, chunks, length=None, kind="multipart/form-data; boundary=b"):
    """Send the form of a file in chunks, perhaps with another length than it has."""
    headers = {"content-type": kind} | ({} if length is None else {"content-length": str(length)})
    return app.client.post("/files", content=iter(chunks), headers=headers)


HEAD = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
END = b"\r\n--b--\r\n"


@pytest.mark.slow
def test_a_length_that_lies(app):
    much = [HEAD, *[b"1,2\n" * 250_000] * 9, END]
    assert raw(app, much, length=100).status_code == 413
    assert raw(app, [HEAD, b"a,b\n1,2\n", END], length=10**12).status_code == 413
    assert not app.pages.studies
    assert not list(app.folder.path.glob("file-*"))


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([HEAD, b"a,b\n1,2\n"], "did not arrive as a whole"),
        ([b"nonsense"], "damaged"),
        ([HEAD, b"a\n1\n\r\n", HEAD, b"a\n2\n", END], "one file at a time"),
        ([HEAD, END], "is empty"),
        ([HEAD.replace(b"a.csv", b"a.exe"), b"x", END], "no table that can be read"),
        ([HEAD.replace(b"a.csv", b""), b"", END], "Choose a file first"),
        ([HEAD.replace(b"; filename", b"; other"), b"x", END], "not the form of a file"),
        ([HEAD.replace(b"a.csv", b"a" * 9_000), b"x", END], "damaged"),
    ],
)
def test_uploads_that_are_no_file(app, chunks, message):
    answer = raw(app, chunks)
    assert answer.status_code == 400
    assert message in answer.text
    assert not list(app.folder.path.glob("file-*"))


def test_a_boundary_that_no_browser_makes(app):
    answer = raw(app, [HEAD, END], kind="multipart/form-data; boundary=" + "b" * 500)
    assert answer.status_code == 400
    assert "damaged" in answer.text


def test_a_full_disk(app, monkeypatch):
    from skdisc.app import _upload

    monkeypatch.setattr(_upload, "_FREE", 10**18)
    answer = sent(app, "a,b\n1,2\n")
    assert answer.status_code == 507
    assert "Make room" in answer.text


def test_a_spreadsheet_that_unpacks_to_too_much(app):
    pytest.importorskip("python_calamine")
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 1_000_000)
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 1_000_000)
    told = bytearray(book.getvalue())
    for found in re.finditer(b"PK\x01\x02", bytes(told)):  # the directory tells 4 GB for each
        told[found.start() + 24 : found.start() + 28] = b"\xfe\xff\xff\xff"
    answer = sent(app, bytes(told), name="bomb.xlsx")
    assert "unpacks to more than 4 GB" in answer.text
    assert app.client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("content", "end", "words"),
    [
        (b"a,a\n1,2\n", ".csv", "several columns named"),
        (b"a,b\n", ".csv", "no rows"),
        (b"a,b\n1,2,3\n4,5,6\n", ".csv", "more values than"),
        (b"a,b\n\x81\x8d,\x8f\x90\n", ".csv", "UTF-8"),
        (b"PK\x03\x04x", ".xlsx", "could not be read as a spreadsheet"),
        (b"PAR1", ".parquet", "Parquet"),
        (b'{"a": [1]}\n', ".jsonl", "objects or lists"),
        (b"nonsense", ".dta", "could not be read"),
    ],
)
def test_errors_name_the_file_of_the_user(app, content, end, words):
    name = f"pay <b>& co{end}"
    page = sent(app, content, name=name).text
    assert "<b>" not in page
    told = re.search(r'role="alert">(.*?)</p>', page, re.S)
    assert words in told[1]
    assert f"pay &lt;b&gt;&amp; co{end}" in told[1]
    assert f"data{end}" not in page


def test_errors_about_a_large_file_name_the_file_of_the_user(app, monkeypatch):
    text = people(600).to_csv(index=False)
    monkeypatch.setattr(app.pages, "_executor", lambda: None)  # it looks in a thread here
    monkeypatch.setenv("SKDISC_APP_FOLDER", str(app.folder.path))
    monkeypatch.setattr(_looking, "COUNTED", 1_000)
    monkeypatch.setattr(_looking, "_HEAD", 2_000)
    page = sent(app, text.replace("sex", "nr", 1)).text
    assert "several columns named" in page
    assert "people.csv" in page
    (study,) = app.pages.studies.values()
    assert study.in_words(f"no room for {study.path}.") == "no room for people.csv."
    assert not re.search(r"(head|data)\.csv", page)


@pytest.mark.slow
def test_errors_of_an_audit_name_the_file_of_the_user(app, ended):
    address = address_of(sent(app, people(100).to_csv(index=False)))
    asked(app, address)
    (study,) = app.pages.studies.values()
    study.path.write_text("a,a\n1,2\n")  # which the process of the audit reads anew
    audit = run(app, address)
    assert ended(audit) == "failed"
    page = app.client.get(audit).text
    assert "several columns named" in page
    assert "data.csv" not in page


def test_files_that_cannot_be_read_are_told_and_the_app_goes_on(app):
    wide = ",".join(f"c{i}" for i in range(3_000)) + "\n" + ",".join("1" * 3_000) + "\n"
    assert "3,000 columns" in sent(app, wide).text
    assert "several columns named" in sent(app, "a,a\n1,2\n").text
    assert "no rows" in sent(app, "a,b\n").text
    assert "could not be read as a spreadsheet" in sent(app, b"PK\x03\x04x", name="a.xlsx").text
    assert "has names" in app.client.get("/").text or app.client.get("/").status_code == 200


@pytest.mark.slow
def test_a_process_that_looks_and_is_killed(app):
    address = address_of(sent(app, "a,b\n1,2\n"))
    app.pages._pool = None  # that of the other tests goes on
    app.pages._looks.clear()
    app.client.get(address)
    for process in app.pages._pool._processes.values():
        process.kill()
    app.pages._looks.clear()
    assert "The app goes on" in app.client.get(address).text
    app.pages._looks.clear()
    assert "1 rows, 2 columns" in app.client.get(address).text


def waits(monkeypatch, app, result):
    """Let looking at files wait; return an event that ends this, after which it has a result."""
    go_on = threading.Event()

    async def look(argv, progress):
        progress.write_text("0.4")
        while not go_on.is_set():
            await asyncio.sleep(0.01)
        return await asyncio.to_thread(result, argv)

    monkeypatch.setattr(app.pages, "_look", look)
    app.pages.soon = 0.05
    return go_on


def until_done(app, address, state):
    """Wait while a state lasts; return the next one."""
    for _ in range(2_000):
        told = app.client.get(f"{address}/state").json()
        if told["state"] != state:
            return told["state"]
        assert 0 <= told["done"] < told["of"]
        assert told["seconds"] >= 0
        time.sleep(0.02)
    raise AssertionError(f"{state} does not end")


def test_the_first_rows_are_shown_while_the_file_is_read(app, monkeypatch):
    monkeypatch.setenv("SKDISC_APP_FOLDER", str(app.folder.path))
    go_on = waits(monkeypatch, app, look)
    text = people(60).to_csv(index=False)
    address = address_of(sent(app, text))
    page = app.client.get(address).text
    assert "<td>5000</td>" in page
    assert "<td>5019</td>" in page
    assert "<td>5020</td>" not in page
    assert "Reading the file: 40.0 %" in page
    assert 'data-state="reading"' in page
    assert "7 columns, as the first rows tell them" in page
    assert app.client.get(f"{address}/state").json() == {
        "state": "reading",
        "seconds": 0,
        "text": "Reading the file: 40.0 %",
        "done": 0.4,
        "of": 1,
    }
    assert 'data-state="reading"' in app.client.get(f"{address}/columns").text
    go_on.set()
    assert until_done(app, address, "reading") == "done"
    page = app.client.get(address).text
    assert "60 rows, 7 columns" in page
    assert "data-state" not in page


def test_a_choice_waits_for_what_is_noticed(app, monkeypatch):
    """The script of the page takes its parts from the answer, however long looking takes."""
    monkeypatch.setenv("SKDISC_APP_FOLDER", str(app.folder.path))

    def slowly(argv):
        time.sleep(0.3)
        return look(argv)

    waits(monkeypatch, app, slowly).set()
    address = address_of(sent(app, people(60).to_csv(index=False)))
    assert until_done(app, address, "reading") == "done"
    page = app.client.post(f"{address}/columns", data={"target": "hired", "look": "1"}).text
    assert 'id="about"' in page
    assert "What do people want?" in page


def test_a_file_that_cannot_be_read_is_told_after_its_first_rows(app, monkeypatch):
    def fails(argv):
        return {"error": "a row is too long"}

    go_on = waits(monkeypatch, app, fails)
    address = address_of(sent(app, people(60).to_csv(index=False)))
    assert "<td>5000</td>" in app.client.get(address).text
    go_on.set()
    assert until_done(app, address, "reading") == "done"
    assert "a row is too long" in app.client.get(address).text


@pytest.mark.slow
def test_all_rows_of_a_large_file_are_counted_after_its_beginning_is_seen(app, monkeypatch):
    monkeypatch.setenv("SKDISC_APP_FOLDER", str(app.folder.path))
    monkeypatch.setattr(_looking, "COUNTED", 1_000)
    monkeypatch.setattr(_looking, "_HEAD", 2_000)
    waits(monkeypatch, app, look).set()
    app.pages.soon = 60
    address = address_of(sent(app, people(600).to_csv(index=False)))
    page = app.client.get(address).text
    assert "A large file, 7 columns" in page
    assert 'data-state="counting"' in page
    assert 'data-state="counting"' in app.client.get(f"{address}/columns").text
    assert until_done(app, address, "counting") == "done"
    assert "600 rows, 7 columns" in app.client.get(address).text
    page = app.client.get(f"{address}/columns").text
    assert "data-state" not in page
    assert "number, 600 different" in page
    # its process ends with a file that is deleted
    address = address_of(sent(app, people(600).to_csv(index=False)))
    work = app.pages._counts[address.rpartition("/")[2]]
    app.client.post(f"{address}/delete")
    for _ in range(500):
        if work.task.done():
            break
        time.sleep(0.02)
    assert work.task.cancelled()


def slow_audit(app):
    """Return the address of a file, and of an audit of it that takes long."""
    rng = np.random.default_rng(0)
    frame = people(20_000)
    for i in range(15):
        frame[f"x{i}"] = rng.integers(0, 9, len(frame))
    address = address_of(sent(app, frame.to_csv(index=False)))
    asked(app, address)
    return address, run(app, address)


@pytest.mark.slow
def test_cancel_gives_what_was_found(app, ended):
    _, audit = slow_audit(app)
    # a second upload, and the other pages, while one runs
    assert app.client.post("/files", files={"file": ("b.csv", b"a,b\n1,2\n")}).status_code == 200
    assert app.client.get("/").status_code == 200
    seen = []
    for _ in range(400):
        told = app.client.get(f"{audit}/state").json()
        seen.append(told["done"])
        if told["text"].startswith("Step 2 of 3"):
            break
        time.sleep(0.05)
    assert "comparing the groups of sex within smaller groups" in told["text"]
    assert told["state"] == "running"
    assert all(0 <= x < 1 for x in seen)
    assert seen == sorted(seen)
    assert len(set(seen)) > 0.8 * len(seen)  # it moves with the time
    assert app.client.post(f"{audit}/cancel").status_code == 200
    assert ended(audit) == "interrupted"
    page = app.client.get(audit)
    assert "Cancelled: this page says what was found until then" in page.text
    assert "interrupted after" in page.text


def test_steps_are_told_in_the_words_of_those_who_ask(tmp_path):
    study = Study("k", "a.csv", tmp_path / "a.csv", roles={"sex": "protected"})
    job = object.__new__(Job)
    job.study, job._since, job._share = study, time.monotonic(), tmp_path / "read"
    job.began, job.ended = time.monotonic(), 0.0
    job.document, job._process = tmp_path / "none", None
    words = {
        "": "Reading the table",
        "1 of 4: GroupDisparity sex": "Step 1 of 4: comparing the groups of sex among all people",
        "2 of 4: GroupDisparity sex (calibration)": "whether scores mean the same",
        "3 of 4: DisparityPursuit birth place": "people of different birth place who are",
        "4 of 4: KOSEI": "checking the groups of sex once more",
    }
    done = []
    for step, said in words.items():
        job._step = step
        assert said in job.told["text"]
        done.append(job.told["done"])
    assert done == sorted(done)
    assert done[0] < 0.15 <= done[1] < 0.4 < 0.78 < done[-1] < 1
    job._since -= 5  # seconds later
    assert done[-1] + 0.05 < job.told["done"] < 1
    job._step = ""
    job._share.write_text("0.4321")
    assert job.told["text"] == "Reading the table, round 1: 43.2 %"
    read = [0.1, 0.9, 1.2, 3.0, 9.5]  # how often
    done = [(job._share.write_text(str(x)), job.told["done"])[1] for x in read]
    assert done == sorted(set(done))
    assert done[-1] < 0.15
    names = set(all_detectors()) | {"calibration", "errors"}
    assert set(_STEPS) <= names


@pytest.mark.slow
def test_an_audit_that_crashes_leaves_the_app(app, ended):
    _, audit = slow_audit(app)
    app.pages.jobs[audit.rpartition("/")[2]]._process.kill()
    assert ended(audit) == "failed"
    page = app.client.get(audit)
    assert page.status_code == 422
    assert "ended from outside (SIGKILL)" in page.text
    assert app.client.get("/").status_code == 200


@pytest.mark.slow
def test_what_the_command_says_is_told(app, ended):
    address = address_of(sent(app, people(100).to_csv(index=False)))
    asked(app, address)
    data = {"run": "1", "relevant_size": "7"}
    audit = app.client.post(f"{address}/question", data=data).url.path
    assert ended(audit) == "failed"
    assert "--relevant-size" in app.client.get(audit).text


def test_unused_files_are_deleted(app):
    address = address_of(sent(app, "a,b\n1,2\n"))
    study = app.pages.studies[address.rpartition("/")[2]]
    app.pages.tidy(study.used + 3_500)
    assert app.client.get(address).status_code == 200
    app.pages.tidy(study.used + 3_700)
    answer = app.client.get(address)
    assert answer.status_code == 404
    assert "nothing here, or no longer" in answer.text
    assert not study.folder.exists()


def test_files_are_deleted_by_hand(app):
    address = address_of(sent(app, "a,b\n1,2\n"))
    app.client.post(f"{address}/delete")
    assert app.client.get(address).status_code == 404
    assert not list(app.folder.path.glob("file-*"))


def test_an_error_of_the_program_shows_no_traceback(app, monkeypatch):
    def broken(*_, **__):
        raise KeyError("secret place")

    monkeypatch.setattr(app.pages, "shown", _first_fails(app.pages.shown, broken))
    answer = app.client.get("/")
    assert answer.status_code == 500
    assert "KeyError" in answer.text
    assert "Traceback" not in answer.text
    assert "secret" not in answer.text


def _first_fails(shown, broken):
    calls = []

    def of(*args, **values):
        calls.append(args)
        return broken() if len(calls) == 1 else shown(*args, **values)

    return of


def pay_table(n=400, seed=0):
    """Return pay that is 10 % lower for women, per hour."""
    rng = np.random.default_rng(seed)
    sex, grade = rng.choice(["f", "m"], n), rng.choice(["G1", "G2"], n)
    hours = rng.choice([20, 40], n)
    pay = hours * rng.lognormal(3, 0.2, n) * np.where(sex == "f", 0.9, 1.0)
    return pd.DataFrame({"sex": sex, "grade": grade, "hours": hours, "pay": pay.round(2)})


@pytest.mark.slow
def test_a_number_as_the_outcome(app, ended):
    address = address_of(sent(app, pay_table().to_csv(index=False)))
    page = choose(app, address, target="pay", look="1").text
    assert "pay is a number: means are compared" in page
    choose(app, address, **{"role-0": "protected", "role-2": "hours"})
    question = choose(app, address, next="1").text
    assert "is the mean of" in question
    assert "per hour" in question
    assert "shows a lower mean with power 0.8" in question
    audit = run(app, address)
    assert ended(audit) == "done", app.pages.jobs[audit.rpartition("/")[2]].error
    document = app.client.get(f"{audit}/audit.json").json()
    assert document["settings"]["output"] == "value"
    assert "--number" in document["code"]
    assert "--hours=hours" in document["code"]
    # the table of a law
    choose(app, address, **{"role-1": "category"})
    data = {"run": "1", "template": "pay_transparency"}
    audit = app.client.post(f"{address}/question", data=data).url.path
    assert ended(audit) == "done", app.pages.jobs[audit.rpartition("/")[2]].error
    assert "--number" not in app.client.get(f"{audit}/audit.json").json()["code"]


def parts_of_pay(n=400, seed=0):
    """Return base pay that is 10 % lower for women, and variable pay that is 60 % lower."""
    draw = np.random.default_rng(seed)
    sex = draw.choice(["female", "male"], n)
    base = 3000 * draw.lognormal(0, 0.1, n) * np.where(sex == "female", 0.9, 1.0)
    more = 500 * np.where(sex == "female", 0.4, 1.0)
    return pd.DataFrame({"sex": sex, "hours": 40, "base_pay": base.round(2), "variable_pay": more})


def asked_of_pay(app, frame):
    """Choose base pay as the outcome and mark hours and variable pay; return the address."""
    address = address_of(sent(app, frame.to_csv(index=False)))
    choose(app, address, target="base_pay", look="1")
    roles = {"role-0": "protected", "role-1": "hours", "role-3": "variable"}
    answer = choose(app, address, next="1", **roles)
    assert answer.url.path == f"{address}/question", answer.text
    return address


def test_a_part_of_pay_without_the_table_of_a_law_is_said_before_the_run(app):
    address = asked_of_pay(app, parts_of_pay())
    choose(app, address, **{"role-3": "ignore"})
    choose(app, address, **{"role-3": "variable"})  # which the user has said, no guess
    answer = app.client.post(f"{address}/question", data={"run": "1"})
    assert answer.url.path == f"{address}/question"
    assert "variable_pay is marked as variable pay, which only the table of a law" in answer.text
    assert "--" not in re.search(r'id="wrong"[^>]*>(.*?)</p>', answer.text)[1]


def test_total_pay_is_asked_about_at_once_and_a_tick_changes_it(app):
    address = address_of(sent(app, parts_of_pay().to_csv(index=False)))
    page = app.client.get(f"{address}/columns").text
    assert "is the mean of <strong>total pay (base_pay + variable_pay)</strong>" in page
    assert re.search(r'name="table" value="1" checked', page)
    assert "the file has base and variable pay" in page
    assert "not in this number" not in page
    unticked = fields(app, address)
    del unticked["table"]
    page = app.client.post(f"{address}/columns", data=unticked).text
    assert "is the mean of <strong>base_pay</strong>" in page
    assert "variable_pay is not in this number" in page
    (study,) = app.pages.studies.values()
    assert study.columns("ignore") == ["variable_pay"]
    page = choose(app, address, table="1").text
    assert "total pay (base_pay + variable_pay)" in page
    assert "the file has base and variable pay" not in page  # the user has chosen it
    page = app.client.post(f"{address}/question", data={"template": "general"}).text
    assert "total pay (" not in page
    page = choose(app, address, target="variable_pay").text
    assert "not in this number" not in page


@pytest.mark.slow
def test_above_an_answer_without_variable_pay_stands_that_it_is_not_in_it(app, ended):
    frame = parts_of_pay().assign(variable_pay=lambda of: of["variable_pay"].where(of.index > 9))
    address = address_of(sent(app, frame.to_csv(index=False)))
    page = app.client.get(f"{address}/columns").text
    assert 'name="table"' not in page
    assert "variable_pay is missing in 10 rows" in page
    audit = choose(app, address, run="1").url.path
    assert ended(audit) == "done", app.pages.jobs[audit.rpartition("/")[2]].error
    page = app.client.get(audit).text
    assert page.index("variable_pay is not in this number") < page.index('<p class="said">')


def test_what_people_could_show_is_about_total_pay(app):
    frame = parts_of_pay()
    frame["hours"] = np.where(np.arange(len(frame)) % 3, 40, 20)
    draw = np.random.default_rng(0)
    frame["variable_pay"] = draw.gamma(0.5, 4_000, len(frame)).round(2)
    said = {}
    for includes in ("yes", "no"):
        address = asked_of_pay(app, frame)
        law = {"template": "pay_transparency", "includes": includes}
        page = app.client.post(f"{address}/question", data=law).text
        said[includes] = re.findall(r"from a gap of [\d.]+", page)
    per_hour = (
        frame["base_pay"] / frame["hours"],
        (frame["base_pay"] + frame["variable_pay"]) / frame["hours"],
    )
    for includes, numbers in zip(("yes", "no"), per_hour, strict=True):
        shares = {"sex": frame["sex"].value_counts(normalize=True).to_dict()}
        spread = numbers.std() / numbers.mean()
        lines = power_lines(Rule(), len(frame), shares, 0.5, spread=spread)
        assert said[includes] == re.findall(r"from a gap of [\d.]+", "\n".join(lines))
    assert said["yes"] != said["no"]


@pytest.mark.slow
@pytest.mark.parametrize("includes", ["no", "yes"])
def test_total_pay_is_what_was_said(app, ended, includes):
    frame = parts_of_pay()
    address = asked_of_pay(app, frame)
    law = {"run": "1", "template": "pay_transparency"}
    question = app.client.get(f"{address}/question").text
    assert "chosen because of the name base_pay" in question
    answer = app.client.post(f"{address}/question", data=law | {"includes": ""})
    assert "chosen because of the name base_pay" not in answer.text
    assert "Does base_pay include variable_pay? Say so" in answer.text  # and nothing has run
    answer = app.client.post(f"{address}/question", data=law | {"plan": "1", "includes": includes})
    audit = answer.url.path
    assert ended(audit) == "done", app.pages.jobs[audit.rpartition("/")[2]].error
    document = app.client.get(f"{audit}/audit.json").json()
    is_base = includes == "no"
    total = frame["base_pay"] + frame["variable_pay"] * is_base
    means = total.groupby(frame["sex"]).mean()
    (row,) = (
        r
        for r in document["pay"]
        if (r["figure"], r["component"], r["basis"]) == ("mean", "total", "per hour")
    )
    assert row["gap"] == pytest.approx(1 - means["female"] / means["male"])
    assert ("--base=base_pay" in document["code"]) == is_base
    assert ("--target=base_pay" in document["code"]) != is_base
    question = app.client.get(f"{address}/question").text
    assert ("base_pay + variable_pay)</strong>" in question) == is_base


def test_a_plan_of_base_and_variable_pay(app):
    address = asked_of_pay(app, parts_of_pay())
    law = {"plan": "1", "template": "pay_transparency", "includes": "no"}
    assert "Plan written" in app.client.post(f"{address}/question", data=law).text
    options = app.client.get(f"{address}/plan.json").json()["options"]
    assert (options["base"], options["variable"]) == ("base_pay", "variable_pay")


def test_logib_model_is_offered_beside_the_table_of_pay(app):
    frame, draw = parts_of_pay(), np.random.default_rng(0)
    parts = {"training": "school", "experience": "career", "service": "tenure"}
    for column in parts.values():
        frame[column] = draw.integers(1, 30, len(frame))
    parts |= {"level": "level", "position": "rank"}
    frame["level"], frame["rank"] = draw.choice(list("ab"), (2, len(frame)))
    address = asked_of_pay(app, frame)
    page = app.client.get(f"{address}/question").text
    assert "Potential years of experience" in page
    assert not re.search(r'id="logib-level".*?<option value="hours"', page)  # no part of the model
    fields = {f"logib-{key}": column for key, column in parts.items()}
    law = {"plan": "1", "template": "pay_transparency", "includes": "no"}
    answer = app.client.post(f"{address}/question", data=law | {"logib-level": "level"})
    assert "years of training has none" in answer.text
    for wrong, message in (
        ({"template": "uk_gender_pay_gap"}, "stands beside the table of Directive (EU) 2023/970"),
        ({"public": "1"}, "its figures do not leave the house"),
    ):
        answer = app.client.post(f"{address}/question", data=law | fields | wrong)
        assert message in answer.text
    answer = app.client.post(f"{address}/question", data=law | fields)
    assert "Plan written" in answer.text
    assert re.search(r'id="logib-position".*?<option value="rank" selected', answer.text)
    (study,) = app.pages.studies.values()
    expected = "logib:training=school,experience=career,service=tenure,level=level,position=rank"
    assert f"--compare-with={expected}" in study.options()
    app.client.post(f"{address}/question", data={"plan": "1", "logib-level": "hours"})
    assert study.logib == {}
    assert not any(o.startswith("--compare-with") for o in study.options())


def test_a_column_held_equal_says_why_until_the_user_has_chosen_it(app):
    address = address_of(sent(app, parts_of_pay(60).assign(tenure=1).to_csv(index=False)))
    why = "held equal because no other role fits: leave it out"
    assert app.client.get(f"{address}/columns").text.count(why) == 1
    choose(app, address, **{"role-4": "ignore"})
    assert why not in choose(app, address, **{"role-4": ""}).text


def test_another_outcome_keeps_the_roles_of_pay(app):
    frame = parts_of_pay()
    frame["hired"] = np.where(np.arange(len(frame)) % 2, "yes", "no")
    address = asked_of_pay(app, frame)
    page = choose(app, address, target="hired", look="1").text
    assert ">hours of work</option>" not in page
    choose(app, address, target="hired", favorable=["yes"], look="1")
    (study,) = app.pages.studies.values()
    assert not any(o.startswith(("--hours", "--variable")) for o in study.options())
    choose(app, address, target="base_pay", look="1")
    assert study.columns("hours") == ["hours"]
    assert study.columns("variable") == ["variable_pay"]
    choose(app, address, **{"role-1": ""})
    assert study.columns("hours") == []


def test_styles_of_the_form_of_columns_are_not_those_of_the_report(app):
    styles = app.client.get("/static/app.css").text
    selectors = re.findall(r"[^{}]*(?=\{)", re.sub(r"/\*.*?\*/", "", styles, flags=re.S))
    of_columns = [s for several in selectors for s in several.split(",") if ".column" in s]
    assert of_columns
    assert all(".columns " in selector for selector in of_columns), of_columns


def test_pages_lead_to_each_other_and_show_what_a_role_has(app):
    start = app.client.get("/").text
    assert "(hired, granted, promoted, or paid)" in start
    assert "Another file" not in start
    address = asked_of_pay(app, parts_of_pay(60))
    page = choose(app, address, **{"role-3": "ignore", "role-0": "protected", "bins-3": "100"}).text
    assert '<a href="/">Another file</a>' in page
    assert "5. Result</a>" not in page
    is_hidden = {i: bool(h) for i, h in re.findall(r'class="cut" id="cut(\d)"( hidden)?', page)}
    assert is_hidden == {"1": True, "3": True}  # hours, and what is left out
    page = choose(app, address, **{"role-3": ""}).text
    assert 'id="cut3">' in page
    assert "people of the same age" in page
    (study,) = app.pages.studies.values()
    done = {"study": study, "what": "audit", "state": "done", "close": lambda: None}
    app.pages.jobs["k"] = SimpleNamespace(address="/audits/k", **done)
    assert '<a href="/audits/k">5. Result</a>' in app.client.get(f"{address}/columns").text
    del app.pages.jobs["k"]


def test_reading_that_ends_while_the_first_rows_are_made_ready(app, monkeypatch):
    app.pages.soon = 0

    def first_rows_late(argv, folder):
        (study,) = app.pages.studies.values()
        until = time.monotonic() + 60
        while not app.pages._looks[study.key].task.done() and time.monotonic() < until:
            time.sleep(0.02)

    monkeypatch.setattr("skdisc.app._pages.first_rows", first_rows_late)
    page = sent(app, people(60).to_csv(index=False))
    assert page.status_code == 200
    assert "What was decided?" in page.text


@pytest.mark.slow
def test_the_last_page_names_a_sample_that_answers_a_question(app, monkeypatch, tmp_path):
    monkeypatch.setattr(_large_tables, "FEW", 3)
    monkeypatch.setattr(DisparityPursuit, "_most", 300)
    frame = people()
    for name in ("town", "school"):
        frame[name] = np.random.default_rng(1).integers(0, 9, len(frame))
    X, y = frame[["sex", "score", "age", "town", "school"]], frame["hired"].str.lower()
    report = Audit(protected="sex", pos_label="yes", random_state=0).fit(X, y).report_
    report.save(tmp_path / "report.json")
    address_of(sent(app, frame.to_csv(index=False)))
    (study,) = app.pages.studies.values()
    process = SimpleNamespace(stdin=io.StringIO(), stderr=[], wait=lambda: 0, returncode=0)
    job = Job("k", study, [], tmp_path, SimpleNamespace(taken=lambda: process))
    job._reader.join()
    app.pages.jobs["k"] = job
    page = app.client.get("/audits/k").text
    del app.pages.jobs["k"]
    text = "For gaps at equal columns, 300 of 600 people were drawn by chance and examined."
    assert text in page.partition("Keep it:")[0]
