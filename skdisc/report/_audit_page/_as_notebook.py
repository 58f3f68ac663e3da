"""An audit in a notebook: a compact page without style sheet or script."""

from html import escape

from skdisc._results._notebook import html_table
from skdisc.report._audit_page._page import soft
from skdisc.report._audit_page._view import view

MOST_FINDINGS = 5


def audit_to_notebook(document: dict) -> str:
    """Return the compact form of an audit that notebooks show.

    Parameters
    ----------
    document : dict
        The document of an audit (`AuditReport.to_dict`).

    Returns
    -------
    str
        A ``<div>`` with the first page, the table of verdicts and the first findings. It takes the
        colors of the notebook.
    """
    page = view(document)
    parts = [
        *_pay(page["pay"]),
        *_first(page),
        f"<p>{escape(page['interrupted'])}</p>" if page["interrupted"] else "",
        _verdicts(page),
        _findings(page),
        f"<p><small>{escape(page['caveat'])}</small></p>",
    ]
    return f'<div class="skdisc-audit">{"".join(parts)}</div>'


def _pay(pay):
    """Return the first sentence and the first table of a report of pay."""
    if not pay:
        return []
    table = pay["tables"][0]
    sentence = f"<p><strong>{soft(pay['sentences'][0])}</strong></p>"
    return [f"<p>{soft(pay['title'])}</p>", sentence, html_table(table["columns"], table["rows"])]


def _first(page):
    """Return the paragraph of each protected column."""
    columns = page["first"]["columns"]
    if not columns:
        verdict = f"<strong>{soft(page['verdict'].capitalize())}.</strong> {soft(page['reason'])}"
        return [f"<p>{verdict}<br>{soft(page['sentence'])}</p>"]
    return [
        f"<p>{soft(column['attribute'])}: {soft(column['word'])}.<br>"
        f"<strong>{soft(column['first'])}</strong> {soft(' '.join(column['more']))}</p>"
        for column in columns
    ] + [f"<p>{soft(page['sentence'])}</p>"]


def _verdicts(page):
    """Return the table of verdicts."""
    columns = "Protected", "Question", "Answer", "Largest gap", "People", "No gap above"
    rows = [
        (
            v["attribute"],
            v["question"],
            v["verdict"] + (f": {v['reason']}" if v["level"] != "found" and v["reason"] else ""),
            v["gap"] or "–",
            v["people"] or "–",
            v["bound"] or "–",
        )
        for v in page["verdicts"]
    ]
    return html_table(columns, rows) if rows else ""


def _findings(page):
    """Return the table of the first findings."""
    shown = page["findings"][:MOST_FINDINGS]
    if not shown:
        return ""
    columns = "#", "Finding", "Effect", "People", "Corrected p", "Shadows"
    rows = [
        (
            f["rank"] or i,
            f["group"],
            " ".join(filter(None, [f["effect"], f["interval"], f["where"]])),
            f["people"],
            f["p"],
            f["n_shadows"],
        )
        for i, f in enumerate(shown, 1)
    ]
    n_left = len(page["findings"]) - len(shown)
    more = f"<p><small>And {n_left} more: see to_frame() or save().</small></p>" if n_left else ""
    return html_table(columns, rows) + more
