"""An audit's document as a page, as Markdown, as text, and in a notebook."""

from skdisc.report._audit_page._as_markdown import audit_to_markdown
from skdisc.report._audit_page._as_notebook import audit_to_notebook
from skdisc.report._audit_page._as_text import audit_to_text
from skdisc.report._audit_page._embedded import document_in, without_document
from skdisc.report._audit_page._page import audit_to_html
from skdisc.report._audit_page._words import META, labels, meta_fields

__all__ = [
    "META",
    "audit_to_html",
    "audit_to_markdown",
    "audit_to_notebook",
    "audit_to_text",
    "document_in",
    "labels",
    "meta_fields",
    "without_document",
]
