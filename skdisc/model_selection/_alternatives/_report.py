"""AlternativeReport: what a search for alternatives says, as a document and as a page."""

import json
from pathlib import Path
from textwrap import shorten

import numpy as np
import pandas as pd

from skdisc import __version__
from skdisc._results._shared_values import MIN_CELL
from skdisc._utils._files import check_extension, write_text
from skdisc._utils._json import jsonable, settings
from skdisc._utils._safe_text import clean
from skdisc._utils._types import FilePath
from skdisc.auditing import AuditReport
from skdisc.model_selection._alternatives import _sentence as say
from skdisc.model_selection._alternatives._candidates import kind_of, way_of
from skdisc.model_selection._alternatives._notes import notes_of, warnings_of
from skdisc.model_selection._alternatives._tested import test_of_step
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
_ROUNDED = "Numbers are rounded one by one: a change is that of the numbers before rounding."
_SHOWN = 40  # candidates on a page
_LONG = 200  # characters of a model
_HEADINGS = {
    "candidates": "Candidates, in the order of the search; score, gap and z by the people of the "
    "choice",
    "tests": "The tests by the people of the claim, in their order; the gap before is that of the "
    "fixed pair, the gap after the largest, and z the smallest of all pairs of the alternative",
    "decisions": "Who gains and who loses the favorable decision: rates before and after, people",
    "errors": "Error rates: favorable decisions of people without the favorable label (FP), "
    "unfavorable ones of people with it (FN)",
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
    tests = []
    for number, s in enumerate(findings.claim.steps, 1):
        step, predictions = number, findings.predictions
        if s.index >= 0:
            step = int(results["step"][s.index + 1])
            predictions = [findings.claim_predictions[k] for k in (0, s.index + 1)]
        tests.append(
            {"step": step, "candidate": run.everyone[s.index + 1].name if s.index >= 0 else name}
            | test_of_step(findings.question, *predictions, findings.pairs, s)
        )
    params = search.get_params(deep=False)
    if search.log is not None:  # where it lies is nothing that an answer depends on
        params["log"] = Path(search.log).name
    texts = {c.name: text for c, text in zip(run.everyone, run.texts, strict=True)}
    present = texts.pop(run.everyone[0].name)
    document = {
        "schema": SCHEMA,
        "verdict": say.verdict_of(search.claim_, search.exploratory_),
        "claim": search.claim_,
        "sentence": say.claim_sentence(search, findings, name, list(findings.question.groups)),
        "warnings": list(warnings_of(search, findings, costs, candidates)),
        "notes": notes_of(search, findings, run),
        "alternative": None if chosen is None else name,
        "candidates": candidates,
        "tests": tests,
        "tested_gaps": findings.tested_gaps,
        "most": findings.claim.most,
        "foreseen": search.foreseen_,
        "settings": settings(params, _NOT_SETTINGS),
        "log": {
            "skdisc": __version__,
            "target": findings.target,
            "favorable": findings.question.favorable,
            "n_columns": search.n_features_in_,
            "present": present,
            "kind": kind_of(search.estimator),
            "is_frozen": say.is_frozen(search),
            "ways": {name: way_of(text) for name, text in texts.items()},
            "n_different": _n_different(findings),
            "candidates": texts,
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
        document |= {"floors": costs.floors, "total": costs.total}
    return clean(jsonable(document))


def _n_different(findings):
    """Return how many candidates decide differently from the present model and each other.

    None for a recipe, whose candidates are asked in no part all.
    """
    if findings.claim_predictions is None:
        return None
    labels = [tuple(p.label.tolist()) for p in findings.claim_predictions if p is not None]
    return len(set(labels)) - 1


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

    def titled(self, title: str) -> "AlternativeReport":
        """Return the report of the same search that says what the data are.

        Parameters
        ----------
        title : str
            Such as the name of the data, its version and its date.
        """
        return AlternativeReport(self.document | {"title": clean(title)})

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
            "margin; points at one place are counted"
        )
        margin = self.document["settings"]["margin"]
        reported = self.document["alternative"]
        section["picture"] = frontier_svg(title, points, margin, reported) if points else None
        section["intervals"] = {"title": title}
        return page_of([section], self.document.get("title") or _TITLE, _CAVEAT)

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
            *([("Data", d["title"])] if d.get("title") else []),
            *_case(d),
            ("Present model", _present(d)),
            ("Candidates", _candidates(d)),
            *_people(d),
            ("Settings", ", ".join(f"{n} = {v}" for n, v in _changed(d["settings"]).items())),
            ("Claim part (hash)", log["claim_part"]),
            ("Search (hash)", log["search"]),
            ("Version", f"skdisc {log['skdisc']}"),
            ("Searches on these people", _searches(d)),
        ]
        tables = [_table(kind, rows) for kind in TABLES for rows in [_rows(d, kind)]]
        return {
            "detector": "AlternativeSearch",
            "verdict": d["verdict"],
            "level": "found" if d["claim"] else "unsure",
            "reason": "",
            "sentence": d["sentence"],
            "null": "",
            "notes": [*_ways(d), *d["warnings"], *d["notes"], *_counts(d), _ROUNDED],
            "facts": facts,
            "tables": [t for t in tables if t["rows"]],
            "picture": None,
            "scatter": None,
            "intervals": {"title": ""},
            "is_open": True,
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


def _case(document):
    """Return what is decided, and which decision is favorable."""
    log = document["log"]
    labels = " or ".join(map(str, log["favorable"]))
    target = log["target"]
    return [("Favorable decision", f"{target} = {labels}" if target else labels)]


def _present(document):
    """Return what the present model is, and whether it was fitted here."""
    how = "fitted anew, on the people of the design"
    if document["log"]["is_frozen"]:
        how = "used as it is (frozen)"
    elif document["settings"]["claim"] == "recipe":
        how = "fitted anew in each of five parts"
    return f"{shorten(document['log']['kind'], _LONG)}; {how}"


def _candidates(document):
    """Return how many candidates there are, and how many of them decide differently."""
    n, different = len(document["candidates"]) - 1, document["log"]["n_different"]
    if different is None:
        return f"{n:,}"
    return (
        f"{n:,}, of which {different:,} decide differently from the present model and from each "
        "other about the people of the claim"
    )


def _ways(document):
    """Return what the name of the candidate that is reported stands for, a sentence or none."""
    name = document["alternative"]
    way = document["log"]["ways"].get(name)
    return [f"{name!r} is {way}."] if way else []


def _counts(document):
    """Yield how many people change decision, and whose decision the protected values change."""
    total, cases = document.get("total"), document.get("cases")
    if total:
        net = total["gain"] - total["lose"]
        more = "more" if net > 0 else "fewer"
        yield (
            f"In all, {total['gain']:,} people gain the favorable decision and {total['lose']:,} "
            f"lose it: {'as many as before' if net == 0 else f'{abs(net):,} {more}'}."
        )
    if cases:
        before, after = (
            "unknown, as it cannot be asked," if n is None else f"{n:,}"
            for n in (cases["before"], cases["after"])
        )
        are_more = None not in cases.values() and cases["after"] > cases["before"]
        yield (
            "People whose decision changes with another protected value: "
            f"{before} by the present model, {after} by the alternative"
            f"{', which is more' if are_more else ''}."
        )


def _people(document):
    """Return how many people chose and decided."""
    log = document["log"]
    if document["settings"]["claim"] == "recipe":
        return [
            ("People", f"{log['n_claim']:,}, each judged by models of four parts of the others")
        ]
    n = log["n_design"] + log["n_claim"]
    return [
        ("People", f"{n:,}, with {log['n_columns']:,} columns"),
        ("People of the design", f"{log['n_design']:,}, by whom candidates were fitted and chosen"),
        ("People of the claim", f"{log['n_claim']:,}, by whom they were tested"),
    ]


def _searches(document):
    """Return how many searches there were, as far as they were counted."""
    n = document["log"]["searches_on_these_people"]
    if document["settings"].get("log") is not None:
        return f"{n} with this one, by the log"
    first = "this is the first" if n == 1 else f"this is number {n}"
    return f"{first} of this session; those of other sessions are not counted without a log"


def _changed(settings):
    """Return the settings that are set, those that say what was compared first."""
    always = ("metric", "scoring", "margin", "min_gain", "significance")
    shown_settings = {
        n: v for n, v in settings.items() if not (v is None or v is False) or n in always
    }
    return {n: shown_settings[n] for n in dict.fromkeys([*always, *shown_settings])}


_COLUMNS = {  # of the tables on a page
    "candidates": {
        "step": "step",
        "name": "candidate",
        "score": "score",
        "gap": "gap",
        "score_z": "z score",
        "gain_z": "z gap",
        "times_chosen": "chosen",
        "reads_protected": "reads protected",
        "error": "error",
    },
    "tests": {
        "step": "step: candidate",
        "what": "what",
        "before": "before",
        "after": "after",
        "z": "z",
        "p_value": "p",
        "shown": "shown",
    },
    "decisions": {
        "group": "group",
        "n": "people",
        "rate_before": "before",
        "rate_after": "after",
        "gain": "gain",
        "lose": "lose",
        "net": "net",
    },
    "errors": {
        "group": "group",
        "n": "people",
        "false_positive_rate_before": "FP before",
        "false_positive_rate_after": "FP after",
        "false_negative_rate_before": "FN before",
        "false_negative_rate_after": "FN after",
    },
    "calibration": {"group": "group", "n": "people", "before": "before", "after": "after"},
    "gaps": {
        "column": "gap by",
        "n": "people",
        "before": "before",
        "after": "after",
        "change": "change",
        "pair_after": "furthest apart after",
    },
}


def _rows(document, kind):
    """Return the rows of a table as they stand on a page."""
    rows = document.get(kind) or []
    if kind == "tests":
        return [half for row in rows for half in _halves(document, row)]
    if kind == "candidates":
        # A step of 0 is none.
        return [row | {"step": row["step"] or None} for row in rows[:_SHOWN]]
    if kind == "decisions":
        rows = [row | {"net": f"{row['gain'] - row['lose']:+d}"} for row in rows]
    rows = [row for row in rows if row.get("n", MIN_CELL) >= MIN_CELL]  # few people are left out
    if kind == "gaps":
        plain = "intersection"
        names = [(r["column"], "" if r["role"] == plain else f" ({r['role']})") for r in rows]
        return [r | {"column": name + role} for r, (name, role) in zip(rows, names, strict=True)]
    return [row | {"group": f"{row['column']}: {row['group']}"} for row in rows]


def _halves(document, test):
    """Yield the two tests of a step."""
    step = f"{test['step']}: {test['candidate']}"
    level, is_exploratory = (
        document["settings"]["significance"],
        document["verdict"] == say.EXPLORATORY,
    )
    scoring = document["settings"]["scoring"].removeprefix("neg_").replace("_", " ")
    for what, before, after, z, p in (
        (scoring, "score_before", "score_after", "score_z", "score_p"),
        ("gap", "gap_before", "gap_after", "gain_z", "gain_p"),
    ):
        yield {
            "step": step,
            "what": what,
            "before": test[before],
            "after": test[after],
            "z": test[z],
            "p_value": test[p],
            "shown": test["shown"] or (test[p] < level and not is_exploratory),
        }


def _table(kind, rows):
    """Return a table of text for a page."""
    heads = _COLUMNS[kind]
    names = [n for n in heads if any(r.get(n) not in (None, "") for r in rows)]
    cells = [[_cell(n, r.get(n)) for n in names] for r in rows]
    return {"title": _HEADINGS[kind], "columns": [heads[n] for n in names], "rows": cells}


def _cell(name, value):
    """Return a value as text."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        is_p = name.startswith("p_")
        return say.p_in_words(value).replace("below ", "<") if is_p else f"{value:z.3f}"
    return str(value)
