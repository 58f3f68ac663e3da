"""The app in a browser: Chromium of the system, driven by Playwright.

Needs the package playwright, a Chromium (SKDISC_CHROMIUM, or where Debian puts it) and for one test
axe-core (SKDISC_AXE: its axe.min.js); `.ci/browser` installs them. SKDISC_PICTURES is a folder for
pictures of the way, by Pillow; those in doc/app are made so.
"""

import os
import re
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("starlette")
api = pytest.importorskip("playwright.sync_api")

CHROMIUM = os.environ.get("SKDISC_CHROMIUM") or shutil.which("chromium")
AXE = os.environ.get("SKDISC_AXE")
MESSY = "strangers/messy_cp1252.csv"
MOST = 60_000  # milliseconds that a page may take where several processes share a core

pytestmark = pytest.mark.slow  # .ci/browser runs them


def lacking(what):
    """Skip, or fail where CI runs, which installs everything."""
    if os.environ.get("SKDISC_BROWSER_TESTS") == "needed":
        pytest.fail(f"{what} is missing")
    pytest.skip(f"{what} is missing; .ci/browser installs it")


@pytest.fixture(scope="module")
def launch():
    """Return a function that starts a browser with further arguments."""
    if not CHROMIUM:
        lacking("Chromium (SKDISC_CHROMIUM)")
    with api.sync_playwright() as playwright:

        def start(*more):
            how = {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--disable-gpu", *more]}
            return playwright.chromium.launch(**how)

        yield start


@pytest.fixture(scope="module")
def browser(launch):
    chromium = launch()
    yield chromium
    chromium.close()


@pytest.fixture
def started(tmp_path):
    """Return the address of an app that runs, and its process."""
    (tmp_path / "private").mkdir()
    command = [sys.executable, "-m", "skdisc", "app", "--no-browser"]
    own = os.environ | {"TMPDIR": str(tmp_path / "private")}
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "env": own}
    process = subprocess.Popen(command, **how)
    address = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
    yield address, process
    process.terminate()
    process.wait(timeout=30)
    process.stdout.close()


class Visit:
    """A page of a browser, with what it logged and asked for."""

    def __init__(self, browser, address, **how):
        self.home = address.partition("/?")[0]
        how = {"viewport": {"width": 1280, "height": 900}} | how
        self.context = browser.new_context(**how)
        self.page = self.context.new_page()
        self.page.set_default_timeout(MOST)
        self.told, self.elsewhere, self.is_refused = [], [], False
        self.context.on("console", self._told)
        self.context.on("weberror", lambda error: self.told.append(str(error.error)))
        self.context.on("request", self._asked)
        self.page.goto(address)
        self.page.wait_for_url(f"{self.home}/")

    def _told(self, message):
        if message.type in ("error", "warning"):
            self.told.append(message.text)

    def _asked(self, request):
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.elsewhere.append(request.url)

    def check(self):
        """Check that there was no error, and no request to another host.

        Chromium logs each answer of 400 and more, which a refusal is.
        """
        logged = "Failed to load resource: the server responded with a status of 40"
        told = [t for t in self.told if not (self.is_refused and t.startswith(logged))]
        assert not told
        assert not self.elsewhere

    def picture(self, name, **how):
        folder = os.environ.get("SKDISC_PICTURES")
        if folder:
            image = pytest.importorskip("PIL.Image").open(BytesIO(self.page.screenshot(**how)))
            image = image.resize((image.width * 5 // 8, image.height * 5 // 8))
            image.save(Path(folder) / f"{name}.webp", quality=20, method=6)

    def send(self, path):
        self.page.set_input_files("#file", str(path))
        self.page.get_by_label("What was decided?").wait_for()
        self.page.wait_for_load_state("load")

    def looked(self):
        """Wait until a choice was looked up."""
        api.expect(self.page.locator("[data-busy]")).to_have_text("", timeout=MOST)

    def choose(self, outcome, favorable, *protected):
        """Choose the outcome and the protected columns on the page of columns."""
        page = self.page
        page.get_by_label("What was decided?").wait_for()
        page.wait_for_load_state("load")
        page.get_by_label("What was decided?").select_option(outcome)
        self.looked()
        page.get_by_role("checkbox", name=re.compile(f"^{favorable}")).check()
        self.looked()
        for name in protected:
            page.get_by_label(f"Role of {name}", exact=True).select_option("protected")
            self.looked()

    def run(self):
        """Run the audit and wait for its page."""
        self.page.get_by_role("button", name="Run the audit").first.click()
        self.page.get_by_text("Keep it:").wait_for()

    def search(self):
        """Search for another model, from the page of its choices on, and wait for the answer."""
        self.page.get_by_label("Margin").fill("0.1")
        self.page.get_by_label("What is tested").select_option("one model")  # of fewer fits
        self.page.get_by_role("button", name="Search").click()
        self.page.get_by_text("Keep it:").wait_for()


@pytest.fixture
def visit(browser, started):
    """Return a function that opens the app; its pages are checked at the end."""
    visits = []

    def opened(**how):
        visits.append(Visit(browser, started[0], **how))
        return visits[-1]

    yield opened
    for one in visits:
        one.context.close()
        one.check()


@pytest.fixture
def decisions(tmp_path):
    """Return the path of a small table in which women are hired less often."""
    rng = np.random.default_rng(0)
    sex, score = rng.choice(["f", "m"], 800), rng.integers(0, 9, 800)
    hired = np.where(rng.random(800) < np.where(sex == "m", 0.6, 0.3), "yes", "no")
    frame = pd.DataFrame({"sex": sex, "score": score, "hired": hired})
    frame.to_csv(tmp_path / "decisions.csv", index=False)
    return tmp_path / "decisions.csv"


@pytest.fixture
def messy():
    """Return the path of a table with much that goes wrong."""
    path = Path(os.environ.get("SKDISC_DATA", "")) / MESSY
    if not path.is_file():
        pytest.skip(f"{MESSY} is missing; set SKDISC_DATA to the folder that holds it")
    return path


def text_of(page):
    return " ".join(page.locator("body").inner_text().split())


def test_from_a_messy_file_to_the_right_answer_with_one_click(visit, messy):
    way = visit()
    page = way.page
    way.picture("start")
    way.send(messy)
    told = text_of(page)
    for seen in (
        "chosen because its name says a decision",
        "3,090 rows in the file, 90 copies left out, 8 columns",
        "60 missing (61 before rows were left out)",
        "910 people; also spelled 'Yes', 'yes␣' (␣ is a blank)",
        "chosen because it says yes",
        "Alter=999: means missing far from all other numbers",
        "Geschlecht: spellings made one",
        "Copies of rows are left out even their Nr is the same",
        "is Eingestellt = yes as frequent in all groups of Geschlecht?",
        "alike in Alter, Testergebnis, Gehaltswunsch.",
    ):
        assert seen in told, seen
    assert "may stand in for their origin" in page.locator("#c1").inner_text()
    assert "held equal because no other role fits" in page.locator("#c3").inner_text()
    assert "read as percent" in page.locator("#c4").inner_text()
    assert "it is the outcome in other words" in page.locator("#c7").inner_text()
    assert is_on_the_first_screen(page.get_by_role("button", name="Run the audit").first)
    way.picture("columns")
    way.run()
    told = text_of(page)
    assert re.search(r"less often than Geschlecht = .m.: 27\.0 % against 33\.7 %", told)
    assert "accounted for by" in told  # nothing is found at equal columns
    assert is_on_the_first_screen(page.locator(".answer .said"))
    way.picture("page")
    with page.expect_download() as download:
        page.get_by_role("link", name="Page", exact=True).click()
    kept = Path(download.value.path()).read_text(encoding="utf-8")
    assert "<title>" in kept
    page.get_by_text("The command and the Python code").click()
    assert "--missing=Alter=999" in page.get_by_label("Command", exact=True).inner_text()


def is_on_the_first_screen(place):
    box = place.bounding_box()
    return box["y"] + box["height"] <= 900


def test_nothing_runs_before_a_choice_is_looked_up_and_its_reason_goes(visit, decisions):
    way = visit()
    page = way.page
    way.send(decisions)
    run = page.get_by_role("button", name="Run the audit").first
    assert "chosen because its name says sex" in page.locator("#role0").inner_text()
    held = []  # what the page asks for, until it may go on
    page.route("**/columns", lambda route: held.append(route))
    page.get_by_label("Role of sex", exact=True).select_option("held equal")
    api.expect(run).to_have_attribute("aria-disabled", "true")
    run.dispatch_event("click")
    page.wait_for_timeout(300)
    assert [route.request.method for route in held] == ["POST"]  # to look, not to run
    held[0].continue_()
    page.unroute("**/columns")
    way.looked()
    api.expect(run).to_have_attribute("aria-disabled", "false")
    assert "because" not in page.locator("#role0").inner_text()
    page.get_by_label("What was decided?").select_option("score")
    way.looked()
    assert "chosen because its name says a decision" not in text_of(page)


def test_what_was_guessed_is_undone_and_done_by_hand(visit, messy):
    way = visit()
    page = way.page
    way.send(messy)
    for label in ("Alter=999", "Geschlecht: spellings", "Copies of rows"):
        page.get_by_role("checkbox", name=re.compile(label)).uncheck()
        way.looked()
    for name in ("Nr", "Absage"):
        page.get_by_label(f"Role of {name}", exact=True).select_option("held equal")
        way.looked()
    told = text_of(page)
    for seen in ("also spelled 'Yes'", "999 in", "as identifiers do", "90 rows", "'F' (29)"):
        assert seen in told, seen
    assert "each of its values goes with one outcome" in page.locator("#c7").inner_text()
    assert "chosen because" not in page.locator("#c7").inner_text()
    buttons = {
        "#about": "Leave the copies out",
        "#c0": "Leave this column out",
        "#c2": "Make these values one",
        "#c3": "means missing",
        "#c7": "Leave this column out",
    }
    for place, words in buttons.items():
        page.locator(place).get_by_role("button", name=re.compile(words)).first.click()
        page.locator(place).get_by_role("button", name=re.compile(words)).wait_for(state="detached")
    page.get_by_role("link", name="The first rows").click()
    page.get_by_role("link", name="To the columns").wait_for()
    assert "cp1252" in text_of(page)
    assert "read as percent" in text_of(page)
    way.picture("file")
    page.get_by_role("link", name="To the columns").click()
    page.get_by_role("checkbox", name="Groups of Alter").check()
    way.looked()
    assert page.get_by_label("Role of Alter", exact=True).input_value() == "protected"
    page.get_by_role("button", name="More options").click()
    page.get_by_role("heading", name="What so many people could show").wait_for()
    way.picture("question", full_page=True)


def test_base_variable_and_total_pay_without_a_choice(visit):
    path = Path(os.environ.get("SKDISC_DATA", "")) / "strangers/pay.csv"
    if not path.is_file():
        pytest.skip("strangers/pay.csv is missing; set SKDISC_DATA to the folder that holds it")
    way = visit()
    page = way.page
    way.send(path)
    assert page.get_by_label("What was decided?").input_value() == "base_pay"
    for name, role in {
        "sex": "protected",
        "weekly_hours": "hours",
        "person": "ignore",
        "variable_pay": "variable",
        "grade": "category",
    }.items():
        assert page.get_by_label(f"Role of {name}", exact=True).input_value() == role, name
    assert "mean of total pay (base_pay + variable_pay) per hour" in text_of(page)
    assert is_on_the_first_screen(page.get_by_role("button", name="Run the audit").first)
    way.picture("pay-columns")
    way.run()
    told = text_of(page)
    for seen in (
        "Women's mean pay per hour is 14.0 % lower",
        "of Article 9(1)",
        "surely 5 % or more in 1 of 4: G2",
        "Variable pay goes to 36.4 % of women and 48.9 % of men",
        "Base pay by category",
    ):
        assert seen in told, seen
    assert "is not in this number" not in told
    way.picture("pay")


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_and_axe_finds_nothing_serious(visit, decisions, width, scheme):
    if not AXE:
        lacking("axe-core (SKDISC_AXE)")
    way = visit(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, source = way.page, Path(AXE).read_text(encoding="utf-8")

    def look(name, heading=None):
        page.get_by_role("heading", name=heading or re.compile("."), level=1).wait_for()
        page.wait_for_load_state("load")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} wide"
        page.evaluate(source)
        found = page.evaluate("axe.run()")["violations"]
        serious = [v for v in found if v["impact"] in ("serious", "critical")]
        nodes = [(v["id"], [n["html"][:200] for n in v["nodes"]][:3]) for v in serious]
        assert not nodes, name
        way.picture(f"{name}-{width}-{scheme}", full_page=True)

    look("start")
    way.send(decisions)
    page.get_by_role("link", name="The first rows").click()
    look("file", "decisions.csv")
    page.get_by_role("link", name="To the columns").click()
    way.choose("hired", "yes", "sex")
    look("columns", "What is asked of")
    page.get_by_role("button", name="More options").click()
    look("question", re.compile("^What is asked$"))
    page.get_by_text("What gap matters").click()
    page.get_by_role("button", name="Write the plan").click()
    page.get_by_text("SHA-256").wait_for()
    look("plan")
    page.get_by_role("button", name="Run the audit").click()
    look("running", re.compile("The audit runs|Audit"))
    page.get_by_text("Keep it:").wait_for()
    look("page", "Audit")
    page.get_by_role("link", name="Look for a less discriminatory model").click()
    look("alternative", "Is there a model")
    way.search()
    look("search", "Search for a less discriminatory alternative")
    page.goto(f"{way.home}/nothing")
    look("nothing")
    way.is_refused = True


def test_from_the_page_to_a_less_discriminatory_model(visit, decisions):
    way = visit()
    page = way.page
    way.send(decisions)
    way.choose("hired", "yes", "sex")
    page.get_by_role("button", name="More options").click()
    way.run()
    page.get_by_role("link", name="Look for a less discriminatory model").click()
    assert "All 800 people are judged" in text_of(page)
    page.get_by_label("Kind of model").select_option("logistic")
    way.picture("alternative")
    way.search()
    told = text_of(page)
    assert "largest gap in selection rate by sex" in told
    assert "People whose decision changes with another protected value" in told
    way.picture("search")
    with page.expect_download() as download:
        page.get_by_role("link", name="Page", exact=True).click()
    assert "<svg" in Path(download.value.path()).read_text(encoding="utf-8")
    page.get_by_text("The command and the Python code").click()
    command = page.get_by_label("Command", exact=True).inner_text()
    assert "--fit=logistic" in command
    assert "--log=searches.json" in command
    page.go_back()
    page.get_by_role("button", name="Search").wait_for()
    assert "These people were searched before" in text_of(page)


def test_keyboard_only(visit, decisions):
    way = visit()
    page = way.page
    page.set_input_files("#file", str(decisions))  # the dialog of the system is not of the page
    page.get_by_label("What was decided?").wait_for()
    page.wait_for_load_state("load")

    def tab_to(name, most=60):
        for _ in range(most):
            page.keyboard.press("Tab")
            about = page.evaluate(
                "(e => e === document.body ? '' :"
                " (e.labels && e.labels.length ? e.labels[0].innerText : '') + ' ' +"
                " (e.getAttribute('aria-label') || e.innerText || ''))(document.activeElement)"
            )
            if name in " ".join(about.split()):
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", name
                return
        raise AssertionError(f"Tab does not reach {name!r}")

    tab_to("What was decided?")
    page.keyboard.type("hired")
    way.looked()
    tab_to("no")
    page.keyboard.press("Space")
    way.looked()
    page.keyboard.press("Space")
    way.looked()
    tab_to("Groups of sex")
    page.keyboard.press("Space")
    way.looked()
    tab_to("Role of sex")
    page.keyboard.type("protected")
    way.looked()
    tab_to("More options")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What so many people could show").wait_for()
    tab_to("Run the audit")
    page.keyboard.press("Enter")
    page.get_by_text("Keep it:").wait_for()
    assert "less often than sex = " in text_of(page)


def test_reload_and_back(visit, decisions):
    way = visit()
    page = way.page
    way.send(decisions)
    page.reload()
    way.choose("hired", "yes", "sex")
    page.reload()
    assert page.get_by_label("Role of sex", exact=True).input_value() == "protected"
    assert page.get_by_role("checkbox", name=re.compile("^yes")).is_checked()
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Run the audit").click()
    page.wait_for_url("**/audits/*")
    page.reload()
    page.get_by_text("Keep it:").wait_for()
    page.reload()
    assert "less often than" in text_of(page)
    page.go_back()
    page.get_by_role("heading", name="What so many people could show").wait_for()
    page.go_back()
    assert page.get_by_label("Role of sex", exact=True).input_value() == "protected"


def test_cancel_and_two_tabs(visit, decisions, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.integers(0, 9, 30_000) for i in range(22)})
    frame["sex"], frame["hired"] = rng.choice(["f", "m"], 30_000), rng.choice(["yes", "no"], 30_000)
    frame.to_csv(tmp_path / "large.csv", index=False)
    way = visit()
    page = way.page
    way.send(tmp_path / "large.csv")
    way.choose("hired", "yes", "sex")
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Run the audit").click()
    seconds, seen = page.locator("[data-seconds]"), []
    for _ in range(8):
        seen.append(int(seconds.inner_text()))
        page.wait_for_timeout(500)
    assert len(set(seen)) >= 3  # it moves every second
    other = way.context.new_page()  # the other tab has a file of its own
    other.set_default_timeout(MOST)
    other.goto(way.home)
    assert "large.csv" in text_of(other)
    other.set_input_files("#file", str(decisions))
    other.get_by_text("800 rows").wait_for()
    api.expect(page.locator("[data-step]")).to_contain_text(re.compile("[23] of"), timeout=MOST)
    assert float(page.locator("[data-progress]").get_attribute("value")) > 0.2
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled: this page says what was found until then").wait_for()
    assert "hired" in text_of(page)
    assert "800 rows" in text_of(other)


def test_another_browser_and_an_app_that_ended(visit, browser, started):
    way = visit()
    other = browser.new_context().new_page()
    answer = other.goto(started[0])
    assert answer.status == 403
    assert "open in another one" in text_of(other)
    other.context.close()
    way.context.clear_cookies()
    assert way.page.goto(way.home).status == 403
    way.is_refused = True


def test_pages_of_others_change_nothing(visit, browser, decisions, tmp_path):
    way = visit()
    way.send(decisions)
    key = way.page.url
    evil = way.context.new_page()
    path = tmp_path / "evil.html"
    path.write_text(f'<form method="post" action="{key}/delete"><button>Win</button></form>')
    evil.goto(path.as_uri())
    evil.get_by_role("button", name="Win").click()
    evil.wait_for_url("**/delete")
    assert "403" not in text_of(evil)
    assert "may not use the app" in text_of(evil) or "refused" in text_of(evil)
    outcome = evil.evaluate(
        "fetch(location.origin + '/').then(r => r.status)"
    )  # of the page of refusal, which has no script
    assert outcome in (200, 403)
    assert way.page.goto(key).status == 200  # it is still there
    way.is_refused = True
    way.elsewhere.clear()


def test_another_name_of_this_machine_is_refused(started, launch):
    chromium = launch("--host-resolver-rules=MAP evil.example 127.0.0.1")
    page = chromium.new_page()
    answer = page.goto(started[0].replace("127.0.0.1", "evil.example"))
    assert answer.status == 403
    assert "its Host is not this machine" in text_of(page)
    chromium.close()


def test_a_hostile_file(visit, tmp_path):
    rng = np.random.default_rng(0)
    evil = "<img src=x onerror=alert(1)>"
    frame = pd.DataFrame({"<script>alert(1)</script>": rng.choice([evil, "=1+1", "m"], 400)})
    frame["hired"] = rng.choice(["yes", "javascript:alert(1)"], 400)
    path = tmp_path / "a<b>&.csv"
    frame.to_csv(path, index=False)
    way = visit()
    dialogs = []
    way.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    way.send(path)
    assert evil in text_of(way.page)
    way.choose("hired", "yes", "<script>alert(1)</script>")
    way.page.get_by_role("button", name="More options").click()
    way.run()
    assert not dialogs
