"""An audit's document as a page, as Markdown, text, Word and PDF, and in a notebook."""

from skdisc.report._audit_page._as_markdown import audit_to_markdown
from skdisc.report._audit_page._as_notebook import audit_to_notebook
from skdisc.report._audit_page._as_pdf import check_printer, html_to_pdf
from skdisc.report._audit_page._as_text import audit_to_text
from skdisc.report._audit_page._as_word import audit_to_word, check_writer
from skdisc.report._audit_page._embedded import document_in, without_document
from skdisc.report._audit_page._page import audit_to_html
from skdisc.report._audit_page._words import META, labels, meta_fields

__all__ = [
    "META",
    "audit_to_html",
    "audit_to_markdown",
    "audit_to_notebook",
    "audit_to_text",
    "audit_to_word",
    "check_printer",
    "check_writer",
    "document_in",
    "html_to_pdf",
    "labels",
    "meta_fields",
    "without_document",
]
