"""Reports of results as text, Markdown, HTML or JSON, all made from the same summary."""

from skdisc.report._compare import compare_cases
from skdisc.report._html import to_html
from skdisc.report._markdown import to_markdown
from skdisc.report._text import to_text
from skdisc.report._write import check_format, write

__all__ = ["check_format", "compare_cases", "to_html", "to_markdown", "to_text", "write"]
