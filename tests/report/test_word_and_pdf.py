"""Word and PDF say what the page says, and open in the programs that people have."""

import io
import json
import re
import subprocess
import sys
import zipfile
from copy import deepcopy
from functools import cache
from pathlib import Path

import docx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from programs import needs

from skdisc import AuditReport
from skdisc._utils._safe_text import clean
from skdisc.report import _audit_page
from skdisc.report._audit_page import _as_pdf, _blocks
from skdisc.report._first_page import first_page

EXAMPLE = json.loads(Path(__file__).with_name("audit.json").read_text(encoding="utf-8"))
SIZES_MM = {"A4": (210, 297), "Letter": (216, 279)}


def word(document, language="en"):
    """Return the Word file of a document, read again."""
    return docx.Document(io.BytesIO(_audit_page.audit_to_word(document, language)))


def texts(file):
    """Return all texts of paragraphs and cells."""
    cells = [cell.text for table in file.tables for row in table.rows for cell in row.cells]
    return [p.text for p in file.paragraphs] + cells


def squeezed(text):
    """Return a text as one line, in which a minus is a hyphen."""
    return " ".join(text.replace("−", "-").split())


def replaced(document, by):
    """Return a document with the texts of its groups and reasons replaced."""
    document = deepcopy(document)
    document["about"]["sentence"] = document["meta"]["system"] = by
    for row in document["evidence"]:
        row["group"] = by
    for row in document["verdicts"]:
        row["reason"] = by
    return document


def test_word_has_every_text_of_the_blocks_in_their_order():
    file = word(EXAMPLE)
    headings = [p.text for p in file.paragraphs if p.style.name.startswith(("Heading", "Title"))]
    several = _blocks.blocks(EXAMPLE)
    expected = [b.text for b in several if isinstance(b, _blocks.Heading)]
    assert [h for h in headings if h in expected] == expected
    tables = [b for b in several if isinstance(b, _blocks.Grid)]
    assert len(file.tables) == len(tables) > 3
    for drawn, table in zip(file.tables, tables, strict=True):
        written = [[squeezed(cell.text) for cell in row.cells] for row in drawn.rows]
        rows = [
            [squeezed(str(cell)) or "–" for cell in row] for row in (table.columns, *table.rows)
        ]
        assert written == rows
        header = drawn.rows[0]._tr.xml
        assert "w:tblHeader" in header
        assert drawn.rows[-1]._tr.xml.count("w:tblHeader") == 0


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_word_has_the_first_page_and_its_language(language):
    file = word(EXAMPLE, language)
    said = "\n".join(map(squeezed, texts(file)))
    for column in first_page(clean(EXAMPLE), language)["columns"]:
        sentences = squeezed(" ".join([column["first"], *column["more"]]))
        assert sentences in said
        assert column["word"] in said
        for name, text in column["lines"]:
            assert squeezed(f"{name}: {text}") in said
    tag = {"en": "en-US", "de": "de-DE", "fr": "fr-FR"}[language]
    assert file.core_properties.language == tag
    first = first_page(clean(EXAMPLE), language)["columns"][0]["first"]
    languages = {
        run.text: re.search(r'w:lang w:val="([^"]*)"', run._r.xml)[1]
        for paragraph in file.paragraphs
        for run in paragraph.runs
    }
    assert languages[first] == tag
    assert languages["What was asked, and the answers"] == "en-US"


@cache
def plain_tags():
    """Return the tags of a document with plain texts."""
    return [element.tag for element in word(replaced(EXAMPLE, "plain")).element.body.iter()]


@pytest.mark.slow
@settings(deadline=None, max_examples=8)
@given(st.text(min_size=1, max_size=30))
@example("<w:p/>&amp;]]>")
@example("\x1b[31mred\x00\ud800")
def test_texts_change_no_structure(text):
    file = word(replaced(EXAMPLE, f"x{text}x"))
    assert [element.tag for element in file.element.body.iter()] == plain_tags()
    assert clean(f"x{text}x") in texts(file)


def test_markup_in_a_text_is_text():
    text = "<w:p/>&amp;]]>"
    file = word(replaced(EXAMPLE, text))
    assert [element.tag for element in file.element.body.iter()] == plain_tags()
    assert text in texts(file)


def test_equal_documents_give_equal_files():
    def parts(data):
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return {name: file.read(name) for name in file.namelist()}

    first, again = (parts(_audit_page.audit_to_word(deepcopy(EXAMPLE))) for _ in range(2))
    assert first == again


def test_word_without_its_package_is_refused_before_the_audit(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(ImportError, match=r'docx.*pip install "skdisc\[word\]"'):
        AuditReport.check_format(tmp_path / "audit.docx")
    with pytest.raises(ImportError, match=r"skdisc\[word\]"):
        AuditReport.from_dict(EXAMPLE).save(tmp_path / "audit.docx")
    assert not list(tmp_path.iterdir())


def test_pdf_without_a_printer_is_refused_before_the_audit(monkeypatch, tmp_path):
    monkeypatch.setattr(_as_pdf, "which", lambda name: None)
    monkeypatch.setattr(_as_pdf, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"browser on the PATH or `pip install weasyprint`"):
        AuditReport.check_format(tmp_path / "audit.pdf")


def test_a_browser_that_fails_leaves_no_file(monkeypatch, tmp_path):
    monkeypatch.setattr(_as_pdf, "which", lambda name: "/bin/false")
    with pytest.raises(OSError, match=r"/bin/false did not print the report"):
        AuditReport.from_dict(EXAMPLE).save(tmp_path / "audit.pdf")
    assert not list(tmp_path.iterdir())


def pages(path):
    """Return the text of each page of a PDF."""
    done = subprocess.run(
        ["pdftotext", "-layout", str(path), "-"], check=True, capture_output=True, text=True
    )
    return [squeezed(page) for page in done.stdout.split("\f")]


def first_sentences():
    """Return what page one must have."""
    columns = first_page(clean(EXAMPLE))["columns"]
    words = [text for c in columns for text in (c["word"], c["first"].split(":")[0])]
    last = first_page(clean(EXAMPLE))["lines"][-1][1]
    return [*words, last.split(":")[0]]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES_MM)
def test_word_opens_with_its_first_page_complete(size, tmp_path):
    needs("soffice", "pdftotext")
    file = word(EXAMPLE)
    section = file.sections[0]
    section.page_width, section.page_height = map(docx.shared.Mm, SIZES_MM[size])
    file.save(tmp_path / "audit.docx")
    subprocess.run(
        [
            *("soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless"),
            *("--convert-to", "pdf", "--outdir", str(tmp_path), str(tmp_path / "audit.docx")),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    printed = pages(tmp_path / "audit.pdf")
    for text in first_sentences():
        assert squeezed(text) in printed[0]
    assert printed[1].startswith("What was asked, and the answers")


@pytest.mark.slow
def test_pdf_opens_with_its_first_page_complete(tmp_path):
    needs("chromium", "pdftotext")
    AuditReport.from_dict(EXAMPLE).save(tmp_path / "audit.pdf")
    printed = pages(tmp_path / "audit.pdf")
    for text in first_sentences():
        assert squeezed(text) in printed[0]
    assert any("The distinct findings" in page for page in printed)
