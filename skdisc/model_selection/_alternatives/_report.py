"""AlternativeReport: what a search for alternatives says, as a document and as a page."""

import json
from pathlib import Path
from textwrap import shorten

import numpy as np
import pandas as pd

from skdisc import __version__
from skdisc._results._shared_values import MIN_CELL
from skdisc._utils._files import check_extension, write_text
from skdisc._utils._json import jsonable
from skdisc._utils._safe_text import clean
from skdisc._utils._types import FilePath
from skdisc.auditing import AuditReport
from skdisc.model_selection._alternatives import _sentence as say
from skdisc.model_selection._alternatives._candidates import text_of
from skdisc.report._frontier import frontier_svg
from skdisc.report._html import page_of
from skdisc.report._markdown import markdown_of
from skdisc.report._text import text_of as sections_as_text

SCHEMA = "skdisc-alternatives/1"
TABLES = ("candidates", "tests", "decisions", "errors", "calibration", "gaps")
_TITLE = "Search for a less discriminatory alternative"
_CAVEAT = (
    "What counts as good enough, and which gap matters, is a human judgment: it belongs into the "
    "margin and the metric before the data are looked at."
)
_NOT_SETTINGS = ("estimator", "candidates", "verbose")
_SHOWN = 40  # candidates on a page
_LONG = 200  # characters of a model
_HEADINGS = {
    "candidates": "Candidates, in the order of the search",
    "tests": "The tests, in their order",
    "decisions": "Who changes decision",
    "errors": "Error rates",
    "calibration": "Mean probability less share of favorable labels",
    "gaps": "Gaps by column and intersection",
}


def document_of(search, run, findings):
    """Return the document of a fitted search, a dict of JSON types."""
    results, costs = search.cv_results_, search.costs_
    names = [n for n in results if n not in ("fit_time", "predict_time", "params")]
    candidates = [
        {n: results[n][i] for n in names} | {"params": results["params"][i]}
        for i in range(len(run.everyone))
    ]
    chosen = findings.chosen
    name = run.everyone[0 if chosen is None else chosen + 1].name
    step_of = {s.index: i + 1 for i, s in enumerate(findings.claim.steps)}
    tests = [
        {
            "step": step_of[s.index],
            "candidate": run.everyone[s.index + 1].name if s.index >= 0 else name,
            "score_z": s.score_z,
            "gain_z": s.gain_z,
            "p_value": s.p_value,
            "shown": s.shown,
        }
        for s in findings.claim.steps
    ]
    settings = search.get_params(deep=False)
    if search.log is not None:  # where it lies is nothing that an answer depends on
        settings["log"] = Path(search.log).name
    document = {
        "schema": SCHEMA,
        "verdict": say.verdict_of(search.claim_, search.exploratory_),
        "claim": search.claim_,
        "sentence": say.claim_sentence(search, findings, name, list(findings.question.groups)),
        "warnings": list(say.warnings_of(search, findings, costs, candidates)),
        "notes": say.notes_of(search, findings, run),
        "alternative": None if chosen is None else name,
        "candidates": candidates,
        "tests": tests,
        "most": findings.claim.most,
        "foreseen": search.foreseen_,
        "settings": {n: jsonable(v) for n, v in settings.items() if n not in _NOT_SETTINGS},
        "log": {
            "skdisc": __version__,
            "present": text_of(search.estimator),
            "candidates": {c.name: text_of(c.estimator) for c in run.everyone[1:]},
            "n_design": findings.n_design,
            "n_claim": len(findings.people),
            "claim_part": findings.claim_part_hash,
            "search": findings.search_hash,
            "people": run.people,
            "searches_on_these_people": findings.n_searches,
        },
    }
    if costs is not None:
        for table in ("decisions", "errors", "calibration", "gaps"):
            document[table] = getattr(costs, table).to_dict("records")
        document |= {"cases": costs.cases, "leveling_down": costs.leveling_down}
    return clean(jsonable(document))


class AlternativeReport:
    """What an `AlternativeSearch` says.

    Parameters
    ----------
    document : dict
        Of JSON types; text, page and tables are made from it alone.

    Examples
    --------
    >>> AlternativeReport({"schema": SCHEMA, "verdict": "exploratory"}).verdict
    'exploratory'
    """

    def __init__(self, document: dict) -> None:
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise ValueError(
                f"This is not the document of a search for alternatives: its schema must be "
                f"{SCHEMA!r}. Pass what AlternativeReport.to_dict returned."
            )
        self.document = document

    @property
    def verdict(self) -> str:
        """Whether an alternative is shown, in words."""
        return self.document["verdict"]

    def to_dict(self) -> dict:
        """Return the document."""
        return self.document

    def to_json(self, indent: int | None = None) -> str:
        """Return the document as JSON text."""
        return json.dumps(self.document, indent=indent, allow_nan=False)

    def add_to(self, audit: AuditReport) -> AuditReport:
        """Return the report of an audit whose document has this one as ``alternatives``.

        Parameters
        ----------
        audit : AuditReport
            It is not changed.

        Returns
        -------
        AuditReport

        Raises
        ------
        ValueError
            If the audit is public: the search tells about groups that it leaves out.
        """
        if audit.document["about"].get("disclosure") == "public":
            raise ValueError(
                "A public report tells nothing about few people, but a search for alternatives "
                "counts them. Add it to an internal report."
            )
        document = audit.document | {"alternatives": self.document}
        return AuditReport(document, audit.results, audit.details)

    def to_frame(self, kind: str = "candidates") -> pd.DataFrame:
        """Return a table of the document.

        Parameters
        ----------
        kind : {"candidates", "tests", "decisions", "errors", "calibration", "gaps"}

        Returns
        -------
        DataFrame

        Raises
        ------
        ValueError
            If there is no such table.
        """
        if kind not in TABLES:
            raise ValueError(f"kind must be one of {', '.join(TABLES)}; got {kind!r}.")
        return pd.DataFrame(self.document.get(kind, []))

    def to_text(self, width: int = 80) -> str:
        """Return the report as text of lines of at most `width` characters."""
        return sections_as_text([self._section()], width, _CAVEAT)

    def to_markdown(self) -> str:
        """Return the report as Markdown, with every name and value escaped."""
        return markdown_of([self._section()], _TITLE, _CAVEAT)

    def to_html(self) -> str:
        """Return the report as one page that loads nothing, with the frontier as a picture.

        Raises
        ------
        ImportError
            If the extra ``report`` (jinja2) is not installed.
        """
        section = self._section()
        points = [
            (c["name"], c["score"], c["gap"], c["shown"], i == 0)
            for i, c in enumerate(self.document["candidates"])
            if c["score"] is not None and c["gap"] is not None
        ]
        title = (
            "Score and largest gap of all candidates, on the people of the choice. The large point "
            "is the present model, filled ones are shown, the dashed line is its score less the "
            "margin"
        )
        margin = self.document["settings"]["margin"]
        section["picture"] = frontier_svg(title, points, margin) if points else None
        section["intervals"] = {"title": title}
        return page_of([section], _TITLE, _CAVEAT)

    def save(self, path: FilePath) -> None:
        """Write the report to a file, whole or not at all: .html, .md, .txt or .json.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        ValueError
            If the extension is unknown, or the file cannot be written.
        ImportError
            If the path ends in .html and the extra ``report`` (jinja2) is not installed.
        """
        self.check_format(path)
        write_text(path, _FORMS[Path(path).suffix.lower()](self))

    @staticmethod
    def check_format(path: FilePath) -> None:
        """Raise ValueError if the extension of `path` is not that of a report."""
        check_extension(path, _FORMS)

    def _section(self):
        """Return the content in the form of the sections of results."""
        d = self.document
        log = d["log"]
        facts = [
            ("Present model", shorten(log["present"], _LONG)),
            ("Candidates", f"{len(d['candidates']) - 1:,}"),
            *_people(d),
            ("Settings", ", ".join(f"{n} = {v}" for n, v in _changed(d["settings"]).items())),
            ("Claim part (hash)", log["claim_part"]),
            ("Search (hash)", log["search"]),
            ("Searches on these people", _searches(d)),
        ]
        tables = [_table(kind, d.get(kind) or []) for kind in TABLES]
        cases = d.get("cases")
        more = []
        if cases:
            before, after = (
                "unknown, as it cannot be asked," if n is None else f"{n:,}"
                for n in (cases["before"], cases["after"])
            )
            more.append(
                "People whose decision changes with another protected value: "
                f"{before} by the present model, {after} by the alternative."
            )
        return {
            "detector": "AlternativeSearch",
            "verdict": d["verdict"],
            "level": "found" if d["claim"] else "unsure",
            "reason": "",
            "sentence": d["sentence"],
            "null": "",
            "notes": [*d["warnings"], *d["notes"], *more],
            "facts": facts,
            "tables": [t for t in tables if t["rows"]],
            "picture": None,
            "scatter": None,
            "intervals": {"title": ""},
        }

    def _repr_html_(self):
        return self.to_html()

    def __repr__(self):
        return f"AlternativeReport({self.verdict}: {self.document['sentence']})"


_FORMS = {
    ".html": AlternativeReport.to_html,
    ".md": AlternativeReport.to_markdown,
    ".txt": AlternativeReport.to_text,
    ".json": lambda report: report.to_json(indent=1),
}


def _people(document):
    """Return how many people chose and decided."""
    log = document["log"]
    if document["settings"]["claim"] == "recipe":
        return [
            ("People", f"{log['n_claim']:,}, each judged by models of four parts of the others")
        ]
    return [
        ("People of the design", f"{log['n_design']:,}"),
        ("People of the claim", f"{log['n_claim']:,}"),
    ]


def _searches(document):
    """Return how many searches there were, as far as they were counted."""
    n = document["log"]["searches_on_these_people"]
    if document["settings"].get("log") is not None:
        return str(n)
    in_this_process = "" if n == 1 else f"{n} in this process; "
    return f"{in_this_process}those before are not counted without a log"


def _changed(settings):
    """Return the settings that are set, those that say what was compared first."""
    always = ("metric", "scoring", "margin", "min_gain", "significance")
    shown_settings = {n: v for n, v in settings.items() if v not in (None, False) or n in always}
    return {n: shown_settings[n] for n in dict.fromkeys([*always, *shown_settings])}


_COLUMNS = {  # of the candidates on a page
    "name": "candidate",
    "score": "score",
    "gap": "gap",
    "score_z": "z of the score",
    "gain_z": "z of the gain",
    "step": "step",
    "claim_score": "score (claim)",
    "claim_gap": "gap (claim)",
    "times_chosen": "times chosen",
    "reads_protected": "reads protected",
    "error": "error",
}


def _table(kind, rows):
    """Return a table of text for a page; groups of few people are left out."""
    rows = [r for r in rows if r.get("n", MIN_CELL) >= MIN_CELL]
    names = list(dict.fromkeys(n for r in rows for n in r))
    heads = {n: n.replace("_", " ") for n in names}
    if kind == "candidates":
        names = [n for n in _COLUMNS if any(r.get(n) not in (None, "") for r in rows)]
        heads, rows = _COLUMNS, rows[:_SHOWN]
    cells = [[_cell(n, r.get(n)) for n in names] for r in rows]
    return {"title": _HEADINGS[kind], "columns": [heads[n] for n in names], "rows": cells}


def _cell(name, value):
    """Return a value as text."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (
        f"{value:{'.2g' if name.startswith('p_') else '.3f'}}"
        if isinstance(value, float)
        else str(value)
    )
