"""An audit as a Word document, so that a cover note can be written into it."""

import re
from datetime import datetime
from functools import singledispatchmethod
from io import BytesIO

import numpy as np

from skdisc._utils._optional import require
from skdisc.report._audit_page import _blocks
from skdisc.report._first_page import STATES

_LANGUAGES = {"en": "en-US", "de": "de-DE", "fr": "fr-FR"}
# A state has a shape and a color, as on the page.
_RED, _GREEN, _BROWN = "9C2F17", "1D6244", "6D5100"
_MARKS = dict(
    zip(
        STATES,
        (("●", _RED), ("◐", _RED), ("□", _BROWN), ("◇", _BROWN), ("◐", _GREEN), ("○", _GREEN)),
        strict=True,
    )
)
_WIDTH_MM, _HEIGHT_MM = 210, 297  # A4; the first page fits on Letter, too
_MARGIN_MM = 16
_LONGEST_WORD = 16  # characters that no column need be wider for
_MM_AROUND_TEXT, _MM_PER_CHARACTER = 4, 1.8  # of the 8 points that tables have
_FONT, _CODE_FONT = "Arial", "Courier New"


def audit_to_word(document: dict, language: str = "en") -> bytes:
    """Return an audit as the content of a .docx file.

    Parameters
    ----------
    document : dict
        The document of an audit (`AuditReport.to_dict`).
    language : {"en", "de", "fr"}, default="en"
        Of figures of pay and of the first page; all that stands below is in English.

    Returns
    -------
    bytes
        Equal documents give files with equal content.

    Raises
    ------
    ImportError
        If the extra ``word`` (python-docx) is not installed.
    """
    writer = _Writer(check_writer(), language)
    for block in _blocks.blocks(document, language):
        writer.write(block)
    return writer.content()


def check_writer():
    """Return the package that writes Word documents; an ImportError says how to install it."""
    return require("docx", extra="word", purpose="A report as .docx")


class _Writer:
    """A Word document to which blocks are added in their order."""

    def __init__(self, docx, language):
        self.units, self.ns = docx.shared, docx.oxml.ns
        self.element = docx.oxml.OxmlElement
        self.begins_page = False
        self.document = docx.Document()
        self.asked, self.language = _LANGUAGES[language], _LANGUAGES["en"]
        self._set_properties()
        self._set_page()
        self._set_styles()

    def _set_properties(self):
        properties = self.document.core_properties
        properties.author = properties.last_modified_by = "skdisc"
        properties.comments = ""
        properties.language = self.asked
        properties.created = properties.modified = datetime(2000, 1, 1)  # equal for equal audits

    def _set_page(self):
        section = self.document.sections[0]
        section.page_width, section.page_height = map(self.units.Mm, (_WIDTH_MM, _HEIGHT_MM))
        for side in ("left", "right", "top", "bottom"):
            setattr(section, f"{side}_margin", self.units.Mm(_MARGIN_MM))

    def _set_styles(self):
        styles = self.document.styles
        sizes = {"Normal": 10, "Title": 16, "Heading 2": 12, "Heading 3": 10.5}
        sizes |= {"List Bullet": 9.5, "Intense Quote": 10}
        for name, size in sizes.items():
            style = styles[name]
            style.font.name, style.font.size = _FONT, self.units.Pt(size)
            style.font.color.rgb = self.units.RGBColor.from_string("1A212B")
            fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
            for script in ("ascii", "hAnsi", "cs", "eastAsia"):  # else the theme's font is taken
                fonts.set(self.ns.qn(f"w:{script}"), _FONT)
            for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
                fonts.attrib.pop(self.ns.qn(f"w:{theme}"), None)
            layout = style.paragraph_format
            is_heading = name.startswith(("Heading", "Title"))
            layout.space_before = self.units.Pt(10 if name.startswith("Heading") else 0)
            layout.space_after = self.units.Pt(4 if is_heading else 3)
            layout.keep_with_next = is_heading

    def content(self):
        """Return the document as bytes."""
        file = BytesIO()
        self.document.save(file)
        return file.getvalue()

    @singledispatchmethod
    def write(self, block):
        """Add a block."""
        raise TypeError(f"There is no form for {type(block).__name__} in Word.")

    @write.register
    def _(self, heading: _blocks.Heading):
        style = "Title" if heading.level == 1 else f"Heading {heading.level}"
        paragraph = self._paragraph(style, heading.text)
        paragraph.paragraph_format.page_break_before = self.begins_page
        self.begins_page = False

    @write.register
    def _(self, state: _blocks.StateLine):
        paragraph = self.document.add_paragraph(style="Heading 2")
        self._add(paragraph, f"{state.attribute}: ")
        mark, color = _MARKS[state.state]
        run = self._add(paragraph, f"{mark} {state.word}")
        run.font.color.rgb = self.units.RGBColor.from_string(color)

    @write.register
    def _(self, sentences: _blocks.Sentences):
        paragraph = self.document.add_paragraph()
        if sentences.stressed:
            self._add(paragraph, sentences.stressed).bold = True
        if sentences.text:
            self._add(paragraph, " " * bool(sentences.stressed) + str(sentences.text))

    @write.register
    def _(self, remark: _blocks.Remark):
        self._paragraph("Intense Quote", remark.text)

    @write.register
    def _(self, items: _blocks.Bullets):
        for i, text in enumerate(items.texts):
            paragraph = self._paragraph("List Bullet", text)
            paragraph.paragraph_format.space_before = self.units.Pt(3 * (i == 0))

    @write.register
    def _(self, table: _blocks.Grid):
        drawn = self.document.add_table(rows=0, cols=len(table.columns), style="Table Grid")
        drawn.autofit = False
        widths = [self.units.Mm(width) for width in _widths(table)]
        for column, width in zip(drawn.columns, widths, strict=True):
            column.width = width
        self._add_row(drawn, table.columns, widths, is_header=True)
        for row in table.rows:
            self._add_row(drawn, row, widths)
        self.document.add_paragraph()

    @write.register
    def _(self, code: _blocks.Code):
        for line in code.text.split("\n"):
            run = self._paragraph("Normal", line).runs[0]
            run.font.name, run.font.size = _CODE_FONT, self.units.Pt(8)

    @write.register
    def _(self, start: _blocks.Translated):
        self.language = self.asked

    @write.register
    def _(self, end: _blocks.PageEnd):
        self.begins_page = True
        self.language = _LANGUAGES["en"]

    def _paragraph(self, style, text):
        paragraph = self.document.add_paragraph(style=style)
        self._add(paragraph, text)
        return paragraph

    def _add(self, paragraph, text):
        """Add a run of text in the language of this part of the document."""
        run = paragraph.add_run(str(text))
        language = self.element("w:lang")
        language.set(self.ns.qn("w:val"), self.language)
        run._r.get_or_add_rPr().append(language)
        return run

    def _add_row(self, table, texts, widths, is_header=False):
        """Add a row that no page divides; a header is repeated on each page."""
        row = table.add_row()
        marks = ["w:cantSplit", "w:tblHeader"] if is_header else ["w:cantSplit"]
        for mark in marks:
            row._tr.get_or_add_trPr().append(self.element(mark))
        for cell, text, width in zip(row.cells, texts, widths, strict=True):
            cell.width = width
            paragraph = cell.paragraphs[0]
            paragraph.paragraph_format.space_after = self.units.Pt(1)
            run = self._add(paragraph, _unbroken(text))
            run.font.size, run.bold = self.units.Pt(8), is_header


def _widths(table):
    """Return the widths of columns in mm: their longest words, and room for the rest of the text.

    Long texts get more of the room, by the square root of their length.
    """
    cells = [[_unbroken(cell) for cell in row] for row in (table.columns, *table.rows)]
    words = [[max(map(len, cell.split(" "))) for cell in row] for row in cells]
    words = np.minimum(np.max(words, axis=0), _LONGEST_WORD)
    lengths = np.max([[len(cell) for cell in row] for row in cells], axis=0)
    page = _WIDTH_MM - 2 * _MARGIN_MM
    least = _MM_AROUND_TEXT + _MM_PER_CHARACTER * words
    room = np.sqrt(lengths) / np.sqrt(lengths).sum()
    return least * min(1, page / least.sum()) + max(0, page - least.sum()) * room


def _unbroken(value):
    """Return the text of a cell in which no line ends between a minus and its number."""
    return re.sub(r"-(?=\.?\d)", "−", "–" if value in ("", None) else str(value))
