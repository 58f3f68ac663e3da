"""Reports say the same in every form, load nothing, and escape what users typed."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from skdisc import Limits, report
from skdisc.group import VeriFair
from skdisc.individual import KOSEI, Themis
from skdisc.report._summary import interval, number, p_value, summarize, text
from skdisc.report._svg import intervals_svg, sizes_svg
from skdisc.subgroup import DivExplorer

EVIL = "<script>alert('x')</script>|`*_[a](http://b) & \"q\""


@pytest.fixture(scope="module")
def results():
    """Return results whose column names and values try to break out of the page."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({EVIL: rng.choice([EVIL, "plain"], 400), "points": rng.integers(0, 9, 400)})
    y = np.where(rng.random(400) < np.where(X[EVIL] == "plain", 0.7, 0.2), EVIL, "no")

    def model(rows):
        return np.where((rows["points"] > 4) & (rows[EVIL] == "plain"), EVIL, "no")

    settings = {"protected": [EVIL], "pos_label": EVIL, "random_state": 0}
    return [
        DivExplorer(**settings, k=30).fit(X, y).result_,
        KOSEI(**settings, limits=Limits(tests=50)).fit(X, y, model).result_,
        Themis(**settings).fit(X, y, model).result_,
        KOSEI(**settings, limits=Limits(tests=0)).fit(X, y, model).result_,
    ]


class Page(HTMLParser):
    """Collects tags, and whatever would be fetched."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.fetched, self.text = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.fetched += [
            v for k, v in attrs if k in ("src", "href", "action") and not v.startswith("#")
        ]
        assert not any(k.startswith("on") for k, _ in attrs)

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_self_contained_and_escaped(results):
    html = report.to_html(results)
    page = Page(html)
    assert page.tags.count("script") == 1
    script = re.search(r"<script>(.*?)</script>", html, re.S)[1]
    assert EVIL not in script
    hashed = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{hashed}'" in html  # no other script would run
    assert page.fetched == []
    assert "http" not in re.sub(r"&[^;]+;|http://b|http-equiv", "", html)
    assert EVIL in " ".join(page.text).replace("\n", " ")
    assert page.tags.count("section") == len(results)
    assert page.tags.count("svg") == 4


def test_findings_can_be_sorted_and_stand_beside_their_scatter(results):
    html, result = report.to_html(results[0], max_rows=5), results[0]
    shown = result.to_frame().head(5)
    assert html.count('class="sortable"') == 1
    rows = re.findall(r'<tr id="s1f(\d)">(.*?)</tr>', html)
    assert [int(n) for n, _ in rows] == list(range(1, len(shown) + 1))
    for (_, row), effect, size in zip(rows, shown["effect"], shown["support"], strict=True):
        keys = re.findall(r'data-sort="([^"]*)"', row)
        assert float(keys[1]) == size
        assert float(keys[3]) == effect
    links = re.findall(r'<a href="#(s1f\d)"', html)
    assert sorted(links) == [f"s1f{n}" for n, _ in rows]
    assert summarize(results[1])["sizes"]["rows"] == []


def test_markdown_is_escaped(results):
    markdown = report.to_markdown(results)
    assert "<script" not in markdown
    assert "](http" not in markdown
    for block in re.findall(r"(?:^\|.*\n)+", markdown, re.M):
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_every_form_says_the_verdicts(results):
    for make in (report.to_html, report.to_markdown, report.to_text):
        page = make(results)
        for verdict in ("disparity found", "insufficient evidence"):
            assert verdict in page
        assert "human judgment" in " ".join(page.split())


@pytest.mark.parametrize("width", [40, 80, 120])
def test_text_stays_within_its_width(results, width):
    assert max(map(len, report.to_text(results, width=width).splitlines())) <= width


def as_json(value):
    """Return a value as JSON has it, with lists in place of tuples."""
    if isinstance(value, dict):
        return {key: as_json(v) for key, v in value.items()}
    return list(map(as_json, value)) if isinstance(value, list | tuple) else value


def test_summary_is_plain_and_finds_its_numbers(results):
    import json

    for result in results:
        summary = summarize(result)
        assert json.loads(json.dumps(summary, allow_nan=False)) == as_json(summary)
        facts = dict(summary["facts"])
        assert facts["Tested (TSN)"] == f"{result.n_tested:,}"
        assert facts["Found (DSN)"] == f"{result.n_found:,}"
    assert "first 1 of" in summarize(results[0], max_rows=1)["tables"][0]["title"]
    assert summarize(results[3])["sentence"] == "Nothing was tested."


def test_write_refuses_other_endings(results, tmp_path):
    with pytest.raises(ValueError, match=r"\.html, \.md, \.json; got"):
        report.write(results, tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []
    report.write(results[0], tmp_path / "report.HTML")
    assert (tmp_path / "report.HTML").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_missing_extra_is_named(results, monkeypatch):
    import sys

    from skdisc.report import _html

    monkeypatch.setitem(sys.modules, "jinja2", None)
    _html._template.cache_clear()
    with pytest.raises(ImportError, match=r'jinja2.*pip install "skdisc\[report\]"'):
        report.to_html(results)


def test_svg_is_well_formed_and_to_scale():
    rows = [(EVIL, -0.2, -0.3, -0.1), ("long " * 30, 0.05, 0.0, 0.1)]
    root = ElementTree.fromstring(intervals_svg(EVIL, rows))
    lines = [e for e in root if e.get("class") == "interval"]
    zero = next(float(e.get("x1")) for e in root if e.get("class") == "zero")
    dots = [float(e.get("cx")) for e in root if e.tag == "circle"]
    assert (zero - dots[0]) == pytest.approx(4 * (dots[1] - zero), abs=0.5)
    assert float(lines[0].get("x2")) < zero
    assert float(lines[1].get("x1")) == pytest.approx(zero, abs=0.1)
    width = float(root.get("viewBox").split()[2])
    assert all(0 <= float(e.get(k)) <= width for e in root for k in ("x1", "x2", "cx") if e.get(k))
    ElementTree.fromstring(intervals_svg("all zero", [("a", 0.0, 0.0, 0.0)]))


def test_scatter_is_to_scale_and_escaped():
    rows = [(1, EVIL, 100, -0.2, True), (2, "b", 50, 0.1, False), (3, "c", 0, 0.0, False)]
    root = ElementTree.fromstring(sizes_svg(EVIL, rows, "#f{}"))
    found = {a.get("href"): a.find("circle") for a in root.iter("a")}
    place = [
        (float(found[f"#f{i}"].get("cx")), float(found[f"#f{i}"].get("cy"))) for i in (1, 2, 3)
    ]
    (x1, y1), (x2, y2), (x3, y3) = place
    assert x1 - x3 == pytest.approx(2 * (x2 - x3), abs=0.3)
    assert y1 - y3 == pytest.approx(2 * (y3 - y2), abs=0.3)
    assert found["#f1"].get("class") == "sure"
    assert EVIL in next(root.iter("a[@href='#f1']"), root.findall("a")[-1]).get("aria-label")
    ElementTree.fromstring(sizes_svg("one", [(1, "a", 3, 0.0, False)], "#f{}"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.12345, "0.123"),
        (12345.0, "12,345"),
        (3.0, "3"),
        (float("nan"), "–"),
        (0.00012, "0.00012"),
        (-0.5, "-0.500"),
    ],
)
def test_numbers(value, expected):
    assert number(value) == expected


def test_cells():
    assert text(None) == "–"
    assert text(np.int64(3)) == "3"
    assert interval(-0.1, 0.25) == "[-0.100, 0.250]"
    assert interval(float("nan"), 1.0) == "–"
    assert p_value(0.00001) == "< 0.0001"
    assert p_value(float("nan")) == "–"


def test_a_page_without_findings_shown(results):
    page = report.to_html(results[0], max_rows=0)
    assert results[0].verdict in page
    assert "<svg" not in page


def test_draws_are_no_groups():
    X = pd.DataFrame({"sex": ["F", "M"] * 100, "x": np.arange(200) % 7})
    audit = VeriFair(protected="sex", random_state=0)
    unfair = audit.fit(X, model=lambda A: (A["sex"] == "M").astype(int)).result_
    assert "1 of 1 pairs of groups tested with " in " ".join(report.to_text([unfair]).split())
    fair = audit.fit(X, model=lambda A: (A["x"] > 3).astype(int)).result_
    shown = " ".join(report.to_text([fair]).split())
    assert f"None of 1 pairs of groups tested with {fair.n_tested:,} random draws" in shown


def test_a_column_with_the_name_of_the_outcome_stays_a_column():
    X = pd.DataFrame({"sex": ["F", "M"] * 20, "Outcome": np.arange(40)})
    detector = KOSEI(protected="sex", limits=Limits(tests=50), random_state=0)
    result = detector.fit(X, model=lambda rows: (rows["sex"] == "M").astype(int)).result_
    shown = summarize(result, 3, True)["tables"][0]
    assert {"Outcome", "Outcome (column)", "sex"} <= set(shown["columns"])
    at = shown["columns"].index("Outcome")
    assert all("→" in row[at] for row in shown["rows"])
