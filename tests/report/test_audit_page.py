"""Pages of an audit say what its document says, escape it, load nothing, and fit their width."""

import ast
import json
import re
import shlex
import subprocess
import sys
import zlib
from base64 import b64encode
from copy import deepcopy
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from skdisc import Audit, AuditReport
from skdisc._utils._json import misfit
from skdisc._utils._safe_text import clean, columns, wrap
from skdisc.report import _audit_page
from skdisc.report._audit_page import _as_text, _embedded, _page, _pictures, _strips, _words

EXAMPLE = json.loads(Path(__file__).with_name("audit.json").read_text(encoding="utf-8"))
FORMS = (_audit_page.audit_to_html, _audit_page.audit_to_markdown, _audit_page.audit_to_text)
COMMON = "ab, '\"$\\-"  # in values, and read by a shell
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onload="alert(1)',
    "' onload='alert(1)",
    "[a](javascript:alert(1))",
    "](javascript:alert(1))",
    "=cmd|' /C calc'!A0",
    "```\n# heading\n| a | b |",
    "\x1b[31mred\x1b[0m\x00\x07",
    "abc\u202edcba",
    "\ud800",
    "{{ 7 * 7 }}{% raw %}",
    "</title></style></code></pre>",
    "https://example.org www.example.org @someone",
    "日本語のとても長い名前" * 4,
    "W" * 300,
    "- item",
    "a\u2028b\u2029c\x85d",
]
NO_INTERVAL = dict.fromkeys(("ci_low", "ci_high", "ci_level"))
KEPT = {"schema", "template", "verdict", "kind", "role", "null", "measure", "of", "rank"}


def texts_replaced(value, by):
    """Return a document with each text of its cells and names replaced."""
    if isinstance(value, str):
        return by
    if isinstance(value, list):
        return [texts_replaced(v, by) for v in value]
    if isinstance(value, dict):
        return {
            k: v if k in KEPT and isinstance(v, str) else texts_replaced(v, by)
            for k, v in value.items()
        }
    return value


def without_optional(value, schema, defs):
    """Return a part of a document without all that its schema lets be null or left out."""
    schema = defs[schema["$ref"].removeprefix("#/$defs/")] if "$ref" in schema else schema
    if misfit(None, schema, defs=defs) is None:
        return None
    if isinstance(value, dict):
        known, required = schema.get("properties", {}), schema.get("required", ())
        names = required if known else value
        more = schema.get("additionalProperties") or {}
        return {n: without_optional(value[n], known.get(n, more), defs) for n in names}
    if isinstance(value, list):
        return [without_optional(v, schema.get("items", {}), defs) for v in value]
    return value


def many(n):
    """Return a document with n findings, each with shadows, and 12 protected values."""
    document = deepcopy(EXAMPLE)
    name = "a_column_with_a_long_name = 'a value of several words and of some length' and sex = 'F'"
    first, shadow, group = (document[key][0] for key in ("evidence", "shadows", "groups"))
    document["evidence"] = [{**first, "rank": i, "group": f"{name} {i}"} for i in range(1, n + 1)]
    document["shadows"] = [
        {**shadow, "of": i, "group": f"{name} and points > {j}"}
        for i in range(1, n + 1)
        for j in range(40)
    ]
    document["groups"] = [
        {**group, "attribute": "origin", "group": f"origin = 'number {i}'", "measure": m}
        for i in range(12)
        for m in ("selection_rate", "true_positive_rate", "false_positive_rate", "precision", "f1")
    ]
    document["log"] = [{**document["log"][0], "name": f"step {i}"} for i in range(60)]
    return document


class Page(HTMLParser):
    """Collects tags with their attributes, and text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.text.append(data)

    def skeleton(self):
        """Return tags and names of attributes without the places where words may break."""
        names = [(tag, name) for tag, name, _ in self.attributes]
        return [tag for tag in self.tags if tag != "wbr"], names


PLAIN = Page(_audit_page.audit_to_html(texts_replaced(EXAMPLE, "word")))


@pytest.mark.parametrize("make", FORMS)
def test_every_form_says_the_answers(make):
    page = " ".join(re.sub(r"<[^>]*>|\\", "", make(EXAMPLE)).split()).lower()
    for text in ("disparity found", "unequal even where", "8,021", "0.041", "41 shadows"[:2]):
        assert text in page
    assert "human judgment" in page
    assert "not stated" in page
    assert "needs a causal model" in page


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_change_no_structure(text):
    html = _audit_page.audit_to_html(texts_replaced(EXAMPLE, text))
    page = Page(html)
    assert page.skeleton() == PLAIN.skeleton()
    assert clean(text).replace(" ", "") in re.sub(r"\s", "", "".join(page.text))
    html.encode("utf-8")


@settings(deadline=None, max_examples=40)
@given(st.text(min_size=1))
@example("<b>")
@example("&lt;b&gt;")
def test_every_text_is_escaped_in_html(text):
    page = Page(_audit_page.audit_to_html(texts_replaced(EXAMPLE, f"x{text}x")))
    assert page.skeleton() == PLAIN.skeleton()
    notebook = Page(_audit_page.audit_to_notebook(texts_replaced(EXAMPLE, f"x{text}x")))
    plain = Page(_audit_page.audit_to_notebook(texts_replaced(EXAMPLE, "word")))
    assert notebook.skeleton() == plain.skeleton()


@settings(deadline=None, max_examples=40)
@given(st.one_of(st.text(min_size=1), st.sampled_from(HOSTILE)))
def test_every_text_is_escaped_in_markdown(text):
    def skeleton(word):
        document = {**texts_replaced(EXAMPLE, f"x{word}x"), "code": "1"}
        lines = _audit_page.audit_to_markdown(document).split("\n")
        return [re.match(r"[#>|-]*", line)[0] + str(cells(line)) for line in lines]

    def cells(line):
        return len(re.split(r"(?<!\\)(?:\\\\)*\|", line))

    markdown = _audit_page.audit_to_markdown({**texts_replaced(EXAMPLE, text), "code": "1"})
    assert skeleton(text) == skeleton("word")
    assert not re.search(r"<[a-z/!]", markdown)
    assert not re.search(r"(?<!\\)\](?:\(|:)|https?:/|www\.[a-z]|(?<!\\)@", markdown)


@settings(deadline=None, max_examples=40)
@given(st.one_of(st.text(), st.sampled_from(HOSTILE)), st.integers(20, 120))
def test_no_line_is_wider_than_asked(text, width):
    for document in (texts_replaced(EXAMPLE, text), EXAMPLE):
        lines = _audit_page.audit_to_text(document, width).split("\n")
        assert max(map(columns, lines)) <= width
        assert not re.search(
            "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "".join(lines)
        )


def test_the_text_of_the_example_fits_80_columns():
    lines = _audit_page.audit_to_text(EXAMPLE).split("\n")
    assert 60 < max(map(len, lines)) <= 80


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.text(st.sampled_from("ab, '\"$\\-"), max_size=60), min_size=1), st.integers(20, 80)
)
def test_a_command_that_is_too_wide_is_broken_where_a_shell_joins_it(values, width):
    words = [shlex.quote(value) for value in values]
    line = f"skdisc audit DATA --x={' '.join(words)}"
    code = _as_text._code(line, width)
    assert max(map(columns, code)) <= width
    shell = 'skdisc() { printf "%s\\0" "$@"; }\n'
    told = [
        subprocess.run(["sh", "-c", shell + text], capture_output=True, check=True).stdout
        for text in (line, "\n".join(code))
    ]
    assert told[0] == told[1]


def test_python_that_is_too_wide_is_broken_between_its_arguments():
    columns_of = [f"column {i}, 'quoted' \"twice\"" for i in range(9)]
    line = f"f(adjust_for={columns_of!r}, sizes={dict.fromkeys(columns_of, 1.5)!r})"
    code = _as_text._code(line, 60)
    assert len(code) > 9
    assert max(map(len, code)) <= 60
    assert ast.dump(ast.parse("\n".join(code))) == ast.dump(ast.parse(line))
    assert _as_text._code(line, 20) == wrap(
        "# A line is too wide for this text; it is in the JSON document.", 20
    )


def test_a_text_of_fewer_columns_than_20_is_refused():
    with pytest.raises(ValueError, match="at least 20 columns, got 19"):
        _audit_page.audit_to_text(EXAMPLE, 19)


@settings(deadline=None)
@given(st.text(), st.integers(2, 40))
def test_wrapping_keeps_every_character(text, width):
    text = clean(text)
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(columns(line) <= width for line in lines)


@pytest.mark.parametrize("make", [*FORMS, _audit_page.audit_to_notebook])
def test_every_optional_value_may_be_missing(make):
    schema = AuditReport.schema()
    least = without_optional(EXAMPLE, schema, schema["$defs"])
    for row in least["evidence"]:  # what is found has an effect
        row["found"] = False
    make(AuditReport.from_dict(least).document)
    empty = {k: [] if isinstance(v, list) else v for k, v in least.items()}
    make(AuditReport.from_dict(empty | {"code": ""}).document)


@pytest.mark.parametrize("make", [*FORMS, _audit_page.audit_to_notebook])
def test_pages_are_functions_of_the_document(make):
    before = json.dumps(EXAMPLE)
    assert make(EXAMPLE) == make(json.loads(before))
    assert json.dumps(EXAMPLE) == before


def test_sixty_findings_take_less_than_400_kb():
    page = _audit_page.audit_to_html(many(60))
    assert page.count('<tbody id="f') == 60
    assert len(page.encode()) < 400_000
    assert "The first 5 of 41 shadows" in page


def test_the_page_loads_nothing_and_names_its_script_and_style():
    html = _audit_page.audit_to_html(EXAMPLE)
    page = Page(html)
    assert page.tags.count("script") == page.tags.count("style") == 1
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        own = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.S)[1]
        assert f"{rule} 'sha256-{b64encode(sha256(own.encode()).digest()).decode()}'" in html
        assert "url(" not in own
        assert "@import" not in own
    assert not [a for a in page.attributes if a[1] in ("src", "style", "action", "srcset")]
    assert not [a for a in page.attributes if a[1].startswith("on")]
    assert all(value.startswith("#") for _, name, value in page.attributes if name == "href")
    assert "http" not in html.replace("http-equiv", "")


def test_links_and_labels_lead_somewhere():
    page = Page(_audit_page.audit_to_html(EXAMPLE))
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    wanted = [v.lstrip("#") for _, n, v in page.attributes if n in ("href", "aria-labelledby")]
    assert set(wanted) <= set(ids)
    assert ("html", "lang", "en") in page.attributes


def luminance(color):
    """Return the relative luminance of ``#rrggbb`` (WCAG 2)."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    """Return the contrast ratio of two colors (WCAG 2)."""
    high, low = sorted(map(luminance, (a, b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_texts_and_pictures():
    css = files("skdisc.report").joinpath("templates", "audit.css").read_text(encoding="utf-8")
    themes = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\}", css, re.S)
    ]
    assert len(themes) == 2
    assert themes[0].keys() == themes[1].keys()
    used = set(re.findall(r"[^-]color: var\(--(\w+)\)|fill: var\(--(\w+)\)", css))
    texts = {a or b for a, b in used} - {"paper", "band"}
    assert {"ink", "soft", "found", "nothing", "unsure", "link"} <= texts
    for theme in themes:
        for name in texts:
            for ground in (
                ("paper", "wash", "band") if name in ("ink", "soft") else ("paper", "wash")
            ):
                assert contrast(theme[name], theme[ground]) >= 4.5, (name, ground)
        assert contrast(theme["ink"], theme["marked"]) >= 4.5
    assert not re.findall(r"#[0-9a-f]{3,8}\b", re.sub(r":root \{.*?\}", "", css, flags=re.S))


def test_hollow_where_the_data_cannot_tell():
    html = _audit_page.audit_to_html(EXAMPLE)
    cells = [g for g in EXAMPLE["groups"] if not g["judged"]]
    assert html.count('class="strip open"') == len(cells) + 1  # and the legend
    assert html.count("too small to be judged: ") == len(cells)
    assert "o......" in _audit_page.audit_to_text(EXAMPLE)


def test_a_screen_reader_is_told_what_a_table_is_and_what_an_interval_shows():
    html = _audit_page.audit_to_html(EXAMPLE)
    page = Page(html)
    named = [n for tag, n, _ in page.attributes if tag == "table" and n.startswith("aria-label")]
    assert len(named) == page.tags.count("table") > 5
    for state, words in _strips.STATES.items():
        drawn = re.findall(rf'<td data-label="[^"]*" class="{state}">', html)
        assert len(drawn) == html.count(f'<span class="sr">{words}: </span>') > 0


def test_decisions_about_a_person_are_said_in_words():
    document = deepcopy(EXAMPLE)
    case = document["cases"][0]["examples"][0]
    case |= {"outcome": 0, "altered_outcome": 1}
    for make in FORMS:
        assert re.search("unfavorable.*favorable", make(document), re.S)
    case |= {"outcome": 0.25, "altered_outcome": 1}
    for make in FORMS:
        assert re.search(r"0\\?\.250.*1", make(document), re.S)


def test_suppressed_groups_have_no_figures():
    document = deepcopy(EXAMPLE)
    document["groups"] = [
        {**g, "suppressed": True, "n": 7, "rate": 0.98765, "gap": 0.8765, "measure": measure}
        for g in EXAMPLE["groups"]
        for measure in ("selection_rate", "impact_ratio")
    ]
    document["about"]["template"] = "ll144"
    for make in FORMS:
        page = make(document)
        assert "too few people" in page.replace("\n", " ")
        assert not re.search(r"0\.98[78]|0\.87[67]|data-sort=\"7\"", page)
        assert not re.search(r"\b7 people", page)


@pytest.mark.parametrize("template", ["four_fifths", "ll144"])
def test_rules_show_ratios_and_never_judge(template):
    document = deepcopy(EXAMPLE)
    document["about"]["template"] = template
    rates = [g for g in document["groups"] if g["measure"] == "selection_rate"]
    document["groups"] += [{**g, "measure": "impact_ratio", "rate": 0.4321} for g in rates]
    for make in FORMS:
        page = " ".join(re.sub(r"<[^>]*>|\\", "", make(document)).split())
        assert page.count("0.432") >= len(rates)
        assert "does not report whether" in page
        assert not re.search(r"\b(passe[sd]|fail(s|ed)?|complies|compliant)\b", page, re.I)
        assert page.count("not stated") > make(EXAMPLE).count("not stated")


def test_the_reference_of_ratios_is_named_and_large_groups_have_not_few_people():
    document = deepcopy(EXAMPLE)
    document["about"]["template"] = "four_fifths"
    about = {"attribute": "race", "ci_low": None, "ci_high": None, "ci_level": None}
    rows = [("best", 50_000, 1.0, None, True), ("small", 40_000, 0.6, -0.4, False)]
    document["groups"] = [
        {**about, "group": g, "n": n, "measure": m, "rate": r, "gap": gap, "judged": judged}
        | {"suppressed": False}
        for g, n, r, gap, judged in rows
        for m in ("selection_rate", "impact_ratio")
    ]
    size = next(v["answer"]["relevant_size"] for v in document["verdicts"] if v["answer"])
    for make in FORMS:
        page = " ".join(re.sub(r"<[^>]*>|\\", "", make(document)).split())
        assert "the reference" in page
        assert f"under {100 * size:g} % of the people: not judged" in page.replace("\u00a0", " ")
        assert "the ratio is uncertain" not in page


@pytest.mark.parametrize(
    ("measure", "counted"),
    [("true_positive_rate", "with a favorable label"), ("selection_rate", "")],
)
def test_the_people_of_an_answer_are_those_whom_the_rate_is_about(measure, counted):
    document = deepcopy(EXAMPLE)
    document["verdicts"] = document["verdicts"][:1]
    document["verdicts"][0] |= {"measure": measure, "people": 4711, "reason": "", "aside": ""}
    for make in FORMS:
        page = " ".join(re.sub(r"<[^>]*>|\\", " ", make(document)).split())
        assert re.search(f"4,711 (people )?{counted}", page)
        assert bool(counted) == ("with a favorable label" in page)


def test_parts_of_a_gap_start_where_the_last_one_ended():
    (picture,) = _pictures.gap_parts(EXAMPLE["gaps"])
    causes = [row["bar"] for row in picture["rows"] if row["class"] == "cause"]
    whole, *parts = [row["bar"] for row in picture["rows"] if row["class"] != "cause"]
    assert [a for a, _ in parts[1:]] == [b for _, b in parts[:-1]]
    assert causes[0][0] == parts[-1][0]  # a cause lies beside what remains, of which it is a part
    assert (parts[0][0], parts[-1][1]) == (0.0, pytest.approx(whole[1]))
    assert picture["sentence"].startswith("Of a gap of -0.174, -0.145 goes with legitimate columns")


@pytest.mark.parametrize(
    ("explained", "remaining", "caused", "told"),
    [
        (-2.0, -1.25, -0.4, "-1.250 remains where these are equal, -0.400 of it with the causes"),
        (-2.0, -1.25, None, "-1.250 remains where these are equal."),
        (
            -2.0,
            -1.25,
            -2.5,
            "-1.250 remains where these are equal: -2.500 with the causes found, and 1.250, the "
            "other way, elsewhere.",
        ),
        (
            -2.0,
            1.25,
            -0.5,
            "1.250, the other way, remains where these are equal: -0.500 with the causes found, "
            "and 1.750, the other way, elsewhere.",
        ),
        (-2.0, 1.25, 0.5, "1.250, the other way, remains where these are equal, 0.500 of it with"),
        (0.02, -0.07, None, "0.020, the other way, goes with legitimate columns, and -0.070 rem"),
        (0.0001, -0.07, None, "0 goes with legitimate columns, and -0.070 remains where these"),
        (-0.1, 0.0001, None, "-0.100 goes with legitimate columns, and 0 remains where these"),
        (
            0.03,
            -0.05,
            0.01,
            "-0.050 remains where these are equal: 0.010, the other way, with the causes found, "
            "and -0.060 elsewhere.",
        ),
    ],
)
def test_a_part_that_is_larger_than_the_whole_is_explained(explained, remaining, caused, told):
    """Parts of opposite signs add up to less than the larger one."""
    parts = {"gap": explained + remaining, "column": explained, "equal": remaining}
    parts |= {} if caused is None else {"cause": caused}
    rows = [
        {"group": "g", "part": kind, "kind": kind, "amount": n, **NO_INTERVAL}
        for kind, n in parts.items()
    ]
    (picture,) = _pictures.gap_parts(rows)
    assert told in picture["sentence"]


@example([0.0, 5e-324])
@given(st.lists(st.floats(-1e9, 1e9), max_size=9))
def test_an_axis_holds_zero_and_all_numbers(numbers):
    low, high, step = axis = _pictures.axis(numbers)
    assert low <= 0 <= high
    assert low < high
    slack = 1e-6 * step
    assert all(low - slack <= v <= high + slack for v in numbers)
    assert all(_strips.EDGE <= _strips.place(v, axis) <= 100 - _strips.EDGE for v in numbers)


def test_an_interrupted_audit_says_how_far_it_came():
    document = deepcopy(EXAMPLE)
    document["about"]["interrupted"] = True
    for make in (*FORMS, _audit_page.audit_to_notebook):
        page = " ".join(make(document).split())
        assert "interrupted after 2 of 2 steps" in page
        assert "interrupted" not in make(EXAMPLE)


def test_a_report_is_saved_in_the_form_of_its_extension(tmp_path):
    report = AuditReport.from_dict(EXAMPLE)
    forms = {
        "html": report.to_html(),
        "md": report.to_markdown(),
        "txt": report.to_text(),
        "json": report.to_json(indent=1),
    }
    for ending, text in forms.items():
        path = tmp_path / f"audit.{ending}"
        report.save(path)
        assert path.read_text(encoding="utf-8") == text
    with pytest.raises(ValueError, match=r"\.xml, \.docx, \.pdf; got .*audit\.odt"):
        report.save(tmp_path / "audit.odt")
    assert report._repr_html_() == _audit_page.audit_to_notebook(EXAMPLE)


def test_a_fact_without_a_number_shows_the_share_of_its_cases():
    document = deepcopy(EXAMPLE)
    fact = document["verdicts"][-1]
    assert (fact["kind"], fact["lead"]) == ("fact", document["cases"][0]["detector"])
    fact |= {"effect": None, "ci_low": None, "ci_high": None, "reason": ""}
    assert "share 0.031 [0.029, 0.033]" in _audit_page.audit_to_text(document)
    document["cases"] = []
    assert "share" not in _audit_page.audit_to_text(document)


def test_a_finding_is_not_drawn_as_what_the_data_cannot_tell():
    document = deepcopy(EXAMPLE)
    unjudged = {(g["group"], g["measure"]) for g in document["groups"] if not g["judged"]}
    group, measure = sorted(unjudged)[0]
    document["evidence"].append({**document["evidence"][0], "group": group, "measure": measure})
    html = _audit_page.audit_to_html(document)
    assert html.count("too small to be judged: ") == len(unjudged) - 1


def test_mirrored_gaps_are_shown_once_and_small_columns_together():
    rows = [
        {"group": group, "kind": kind, "part": part, "amount": sign * amount, **NO_INTERVAL}
        for group, sign in (("sex = 'M'", 1), ("sex = 'F'", -1))
        for kind, part, amount in [
            ("gap", "gap", 0.21),
            *(("column", f"c{i}", 0.01 * i) for i in range(1, 7)),
            ("column", "c0", 0.001),
            ("equal", "at equal legitimate columns", -0.001),
        ]
    ]
    (picture,) = _pictures.gap_parts(rows)
    assert picture["group"] == "sex = 'F'"
    parts = [(r["part"], r["amount"]) for r in picture["rows"]]
    assert parts[1] == ("c6", "-0.060")
    assert parts[-2:] == [
        ("2 other columns", "-0.011"),
        ("What remains at equal legitimate columns", "0.001"),
    ]
    assert picture["rows"][-1]["bar"][1] == pytest.approx(-0.21)


def test_the_interval_of_a_ratio_is_that_of_the_ratio():
    rows = [
        {"attribute": "sex", "group": "sex = 'F'", "measure": "impact_ratio", "n": 50, "rate": 0.9}
        | {"gap": -0.1, "ci_low": -0.2, "ci_high": 0.05, "judged": True, "suppressed": False},
        {"attribute": "sex", "group": "sex = 'M'", "measure": "impact_ratio", "n": 50, "rate": 1.0}
        | {"gap": None, "ci_low": None, "ci_high": None, "judged": True, "suppressed": False},
    ]
    rows = [row | {"ci_level": None} for row in rows]
    ratios = [row["ratio"] for row in _pictures.impact_ratios(rows)]
    assert ratios == ["0.900 [0.800, 1.050]", "1"]


def test_only_the_page_needs_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    _page._template.cache_clear()
    with pytest.raises(ImportError, match=r'jinja2.*pip install "skdisc\[report\]"'):
        _audit_page.audit_to_html(EXAMPLE)
    for make in (*FORMS[1:], _audit_page.audit_to_notebook):
        assert "8,021" in make(EXAMPLE)


def test_notes_of_several_steps_are_printed_once():
    document = deepcopy(EXAMPLE)
    for step in document["log"]:
        step["notes"] = ["Said by both.", f"Said by {step['name']}."]
    html = _audit_page.audit_to_html(document)
    for note in ("Said by both.", "Said by BiasScan."):
        assert html.count(note) == 1


def test_an_answer_names_the_rate_of_its_gap_and_groups_stay_together():
    document = deepcopy(EXAMPLE)
    document["verdicts"][0]["measure"] = "true_positive_rate"
    first, second = (deepcopy(document["groups"][i]) for i in (0, -1))
    assert first["attribute"] != second["attribute"]
    document["groups"].append(first | {"group": "2 groups of fewer than 10 people"})
    for make in FORMS:
        page = unescape(" ".join(re.sub(r"<[^>]*>|\\", "", make(document)).split()))
        assert f"{document['verdicts'][0]['group']}, true positive rate" in page
        assert "selection rate, selection rate" not in page
    (block,) = _pictures.group_blocks(document["groups"], set())
    attributes = [row["attribute"] for row in block["rows"]]
    assert attributes == sorted(attributes, key=attributes.index)
    assert len(attributes) > len(set(attributes)) > 1


def test_effects_of_causes_are_said_to_be_joint_beside_the_whole_difference():
    first = EXAMPLE["evidence"][0]
    for form in FORMS:
        told = " ".join(unescape(form(EXAMPLE)).split())
        assert "what its group adds to the other causes" in told
        assert f"{first['alone']:.3f}" in told
    alone = deepcopy(EXAMPLE)
    alone["evidence"][0]["alone"] = None
    assert all("adds to the other causes" not in form(alone) for form in FORMS)


def test_protected_values_stand_at_equal_columns_beside_their_raw_gaps():
    for form in FORMS:
        told = unescape(re.sub(r"</?[a-z][^>]*>|\\", "", form(EXAMPLE)))
        told = " ".join(told.split())
        assert "-0.029 [-0.041, -0.017]" in told
        assert "not compared" in told
        assert "hours-per-week (0.63 with sex = 'Female') goes strongly with sex" in told
        assert "Not adjusted for: race." in told
        assert "finds part of it at equal columns: finding 1" in told


def test_rows_held_out_are_said():
    document = deepcopy(EXAMPLE)
    document["settings"]["confirm"] = 0.4
    for form in FORMS:
        assert "Groups were searched on 60\u00a0% of the rows" in " ".join(
            form(document).split(" ")
        )


def test_the_document_is_in_the_page():
    page = _audit_page.audit_to_html(EXAMPLE)
    assert _audit_page.document_in(page) == EXAMPLE
    changed = deepcopy(EXAMPLE)
    changed["verdict"]["verdict"] = "no disparity found"
    other = _audit_page.audit_to_html(changed)
    assert _audit_page.without_document(page) != _audit_page.without_document(other)
    too_deep = b64encode(zlib.compress(b"[" * 100_000)).decode()
    own = _embedded.embedded(EXAMPLE)
    pages = [page.replace(own, other) for other in (_embedded.embedded([EXAMPLE]), too_deep)]
    for broken in ("<p></p>", page.replace('content="eN', 'content="aN'), *pages):
        with pytest.raises(ValueError, match=r"does not contain the document.*\.json"):
            _audit_page.document_in(broken)


def test_a_gap_that_is_found_and_small_is_said_to_be_small():
    document = deepcopy(EXAMPLE)
    row = document["verdicts"][0] | {"verdict": "disparity found", "reason": "", "kind": "cell"}
    document["verdicts"] = [row | {"effect": 0.04, "ci_low": 0.03, "ci_high": 0.05}]
    answer = next(row["answer"] for row in EXAMPLE["verdicts"] if row["answer"])
    for gap, is_said in ((0.1, True), (0.045, False)):
        document["verdicts"][0]["answer"] = answer | {"relevant_gap": gap}
        for form in FORMS:
            told = " ".join(form(document).replace("\\", "").split())
            assert (f"smaller than the gap that matters ({gap})" in told) == is_said


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("a gap is found in 2 of the 3 groups", "A gap is found in 2 of the 3 groups."),
        ("p = .04, and .08 after correction", "p = .04, and .08 after correction."),
        ("x<3 holds for nobody", "x<3 holds for nobody."),
        ("a is missing as a whole", "a is missing as a whole."),
        ("", ""),
    ],
)
def test_a_reason_is_a_sentence(reason, sentence):
    """It begins with a capital, unless it begins with a symbol or the name of a column."""
    assert _words.sentence(reason) == sentence


def test_two_findings_of_one_group_are_told_apart():
    """Gaps of several rates, or from several people, are not two numbers for one thing."""
    document = deepcopy(EXAMPLE)
    contrasts = ["everyone in sales", "everyone in service"]
    first = document["evidence"][0]
    rows = [first | {"rank": i, "compared_with": who} for i, who in enumerate(contrasts, 1)]
    document["evidence"] = [*rows, first | {"rank": 3, "measure": "true_positive_rate"}]
    for form in FORMS:
        told = " ".join(unescape(re.sub(r"</?[a-z][^>]*>|\\", "", form(document))).split())
        assert all(f"ompared with {who}" in told for who in contrasts), form
        assert ", true positive rate" in told[told.index("The distinct findings") :]


def test_a_gap_without_a_context_is_not_called_one_within_a_context():
    document = deepcopy(EXAMPLE)
    row = document["evidence"][0]
    row |= {"kind": "context", "conditions": row["conditions"][:1]}
    row["attributes"] = [row["conditions"][0]["column"]]
    assert "from everyone else" in _audit_page.audit_to_text(document).lower()


def test_a_gap_that_is_whole_at_equal_columns_is_not_called_a_part():
    document = deepcopy(EXAMPLE)
    row = next(row for row in document["evidence"] if row["again"])
    cause = document["evidence"][row["again"]["ranks"][0] - 1]
    row["again"]["ranks"] = [cause["rank"]]
    cause["group"] = row["group"]
    for form in FORMS:
        told = " ".join(unescape(re.sub(r"</?[a-z][^>]*>|\\", "", form(document))).split())
        assert f"finds it at equal columns: finding {cause['rank']}" in told


def test_a_step_that_finds_what_the_audit_does_not_says_so():
    """What is significant by itself, and not after correction, is no answer of the audit."""
    document = deepcopy(EXAMPLE)
    for row in document["verdicts"]:
        row["verdict"] = "insufficient evidence"
    answered = {(row["attribute"], row["null"]) for row in document["verdicts"]}
    document["log"] = [s for s in document["log"] if (s["attribute"], s["null"]) in answered]
    assert {step["verdict"] for step in document["log"]} == {"disparity found"}
    for form in FORMS:
        told = " ".join(unescape(re.sub(r"</?[a-z][^>]*>|\\", "", form(document))).split())
        tried = told[told.rindex("What was tried") :]
        assert "disparity found by this step alone" in tried
        assert not re.search(r"disparity found(?! by this step alone)", tried.split("Limits")[0])


class BySexAlone(ClassifierMixin, BaseEstimator):
    """A model that learns nothing, and selects men."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X["sex"].to_numpy()


def test_whose_p_value_decides_where_a_model_was_trained_here():
    """Beside an interval of the model far from 0 stands the p-value of the labels, by its name."""
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (300, 3)), columns=["sex", "b", "c"])
    X["sex"] = X["sex"] % 2
    y = np.random.default_rng(1).integers(0, 2, 300)  # nothing depends on anything
    settings = {"protected": "sex", "random_state": 0, "detectors": ["DivExplorer"]}
    report = Audit(BySexAlone(), **settings).fit(X, y).report_
    (row,) = (v for v in report.document["verdicts"] if v["null"] == "contextual")
    assert row["reason"].startswith("the model does, but not the labels")
    told = " ".join(report.to_text().split())
    assert re.search(r"corrected p [.0-9]+ \(of the labels\), not significant", told)
    labels = Audit(**settings).fit(X, y).report_
    assert "(of the labels)" not in labels.to_text()


def test_a_gap_of_whole_groups_alone_is_no_answer_about_smaller_groups():
    """The question within contexts is one about the group as a whole, too, and says so."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"dept": rng.choice(["A", "B"], 4000)})
    X["sex"] = np.where(rng.random(4000) < np.where(X["dept"] == "A", 0.7, 0.3), "f", "m")
    y = (rng.random(4000) < np.where(X["dept"] == "A", 0.3, 0.6)).astype(int)
    report = Audit(protected="sex", detectors=["DivExplorer"], random_state=0).fit(X, y).report_
    assert {row["group"] for row in report.to_dict()["evidence"]} == {"sex = 'f'"}
    told = " ".join(report.to_text().split())
    assert "as a whole or within smaller groups of people? disparity found" in told
