"""Reports say the same in every form, load nothing, and escape what users typed."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from skdisc import report
from skdisc.individual import KOSEI, Themis
from skdisc.report._summary import interval, number, p_value, summarize, text
from skdisc.report._svg import intervals_svg
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
        KOSEI(**settings, max_tests=50).fit(X, y, model).result_,
        Themis(**settings).fit(X, y, model).result_,
        KOSEI(**settings, max_tests=0).fit(X, y, model).result_,
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
    assert "script" not in page.tags
    assert page.fetched == []
    assert "http" not in re.sub(r"&[^;]+;|http://b", "", html)
    assert EVIL in " ".join(page.text).replace("\n", " ")
    assert page.tags.count("section") == len(results)
    assert page.tags.count("svg") == 3


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
        assert "is a judgement" in " ".join(page.split())


@pytest.mark.parametrize("width", [40, 80, 120])
def test_text_stays_within_its_width(results, width):
    assert max(map(len, report.to_text(results, width=width).splitlines())) <= width


def test_summary_is_plain_and_finds_its_numbers(results):
    import json

    for result in results:
        summary = summarize(result)
        assert json.loads(json.dumps(summary)) is not None
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
