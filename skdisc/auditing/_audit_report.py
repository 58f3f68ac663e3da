"""AuditReport: what an audit answers, as a document and as the results behind it."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import pandas as pd

from skdisc._results._audit_result import AuditResult
from skdisc._utils._files import check_extension, write_bytes
from skdisc._utils._json import misfit
from skdisc._utils._types import ArrayLike, FilePath, FrameLike
from skdisc.auditing._beside._compare import AuditComparison
from skdisc.auditing._beside._paired import PairedPeople
from skdisc.auditing._exports import _tables
from skdisc.auditing._exports._junit import to_junit
from skdisc.auditing._exports._metrics import metrics
from skdisc.auditing._exports._model_card import to_model_card
from skdisc.report._audit_page import (
    audit_to_html,
    audit_to_markdown,
    audit_to_notebook,
    audit_to_text,
    audit_to_word,
    check_printer,
    check_writer,
    html_to_pdf,
)

SCHEMA = "skdisc-audit/2"
FORMATS = (".html", ".md", ".txt", ".json", ".xml", ".docx", ".pdf")
TABLES = (
    *("verdicts", "evidence", "shadows", "groups", "gaps", "comparable", "figures", "families"),
    *("log", "not_run", "pay"),
)


class AuditReport:
    """What an `Audit` answers.

    Parameters
    ----------
    document : dict
        The answers, of JSON types. Text, pages, exports and verification are made from it alone.
    results : dict of str to AuditResult, optional
        The results of the steps, by name; a report read from JSON has none.
    details : dict of str to AuditResult, optional
        The same with the rows of groups that the document has, and without people: what may be
        written to a file beside the document. Public documents have none.

    Attributes
    ----------
    verdict : {"disparity found", "no disparity found", "insufficient evidence"}
        The verdict of the whole audit.
    document, results, details
        As passed.
    """

    def __init__(
        self,
        document: dict,
        results: dict[str, AuditResult] | None = None,
        details: dict[str, AuditResult] | None = None,
    ) -> None:
        self.document, self.results, self.details = document, dict(results or {}), details or {}

    @property
    def verdict(self) -> str:
        """The verdict of the whole audit."""
        return self.document["verdict"]["verdict"]

    def to_frame(self, kind: str = "evidence") -> pd.DataFrame:
        """Return a table of the document.

        Parameters
        ----------
        kind : {"verdicts", "evidence", "shadows", "groups", "gaps", "comparable", "figures", \
                "families", "log", "not_run", "pay"}

        Returns
        -------
        DataFrame
            One without rows has its columns, too.

        Raises
        ------
        ValueError
            If there is no such table.
        """
        _check_kind(kind)
        rows = self.document.get(kind, [])
        names = {name: None for row in rows for name in row}
        columns = list(names) or list(self.schema()["properties"][kind]["items"]["properties"])
        return pd.DataFrame(rows, columns=columns)

    def compare(
        self,
        after: "AuditReport",
        X: FrameLike | None = None,
        decisions: Sequence[ArrayLike] | None = None,
        y: ArrayLike | None = None,
    ) -> AuditComparison:
        """Return what differs between this audit and another one.

        Parameters
        ----------
        after : AuditReport
            A later audit of other people, or that of another model about the same people.
        X : DataFrame or array-like of shape (n_samples, n_features), optional
            The people, if they are the same: intervals of changes are then paired.
        decisions : pair of array-like of shape (n_samples,), optional
            What both models decided about them, before and after.
        y : array-like of shape (n_samples,), optional
            Their labels, for error rates.

        Returns
        -------
        AuditComparison

        Raises
        ------
        TypeError
            If `after` is not an AuditReport.
        ValueError
            If X and decisions do not come together, or are not those of the people audited.
        """
        if not isinstance(after, AuditReport):
            raise TypeError(
                f"after must be an AuditReport, got {type(after).__name__}. Read a document with "
                "AuditReport.from_dict."
            )
        if (X is None) != (decisions is None):
            raise ValueError("A paired comparison needs both X and decisions=(before, after).")
        people = None if X is None else PairedPeople(X, decisions, y, self.document)
        return AuditComparison(self.document, after.document, people)

    def to_dict(self) -> dict:
        """Return the document, a dict of JSON types, the inverse of `from_dict`."""
        return self.document

    @classmethod
    def from_dict(cls, document: dict) -> Self:
        """Return a report from a dict made by `to_dict`.

        Parameters
        ----------
        document : dict

        Returns
        -------
        AuditReport

        Raises
        ------
        ValueError
            If the document has another schema, or is not as its schema says.
        """
        schema = document.get("schema") if isinstance(document, dict) else SCHEMA
        if schema != SCHEMA:
            raise ValueError(
                f"The schema of the document is {schema!r}; this version of skdisc "
                f"reads {SCHEMA!r}. Read it with the skdisc that wrote it."
            )
        wrong = misfit(document, cls.schema())
        if wrong:
            raise ValueError(
                f"This is not the document of an audit: {wrong}. Pass what AuditReport.to_dict "
                "returned or --report wrote, unchanged."
            )
        return cls(document)

    @staticmethod
    def schema() -> dict:
        """Return the JSON Schema (draft 2020-12) of documents, which the package ships."""
        path = files("skdisc.auditing").joinpath("schemas", "audit-2.json")
        return json.loads(path.read_text(encoding="utf-8"))

    def to_json(self, indent: int | None = None) -> str:
        """Return the document as JSON text, the inverse of `from_json`."""
        return json.dumps(self.document, indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return a report from a text made by `to_json`.

        Raises
        ------
        ValueError
            If the text is not JSON, has another schema, or is not as its schema says.
        """
        try:
            document = json.loads(text)
        except RecursionError:
            raise ValueError("The text is nested too deeply to be that of an audit.") from None
        return cls.from_dict(document)

    def to_csv(self, path: FilePath | None = None, kind: str = "evidence") -> str | None:
        """Return a table as CSV, or write it to a file.

        A text that a spreadsheet would take for a formula gets a leading apostrophe.

        Parameters
        ----------
        path : str or Path, optional
            A file; it is written completely or not at all.
        kind : {"verdicts", "evidence", "shadows", "groups", "gaps", "comparable", "figures", \
                "families", "log", "not_run", "pay"}

        Returns
        -------
        str or None
            The text, if there is no `path`.

        Raises
        ------
        ValueError
            If there is no such table, or the file cannot be written.
        """
        _check_kind(kind)
        return _tables.to_csv(self.document, self.schema(), kind, path)

    def to_sql(self, connection: Any, prefix: str = "audit", **how: Any) -> None:
        """Write the tables to a database, by `DataFrame.to_sql`.

        Table `prefix` has one row for the audit, and ``{prefix}_evidence`` the rows of evidence;
        so for each table. The column ``audit`` is the key of the audit in all of them.

        Parameters
        ----------
        connection : engine, connection or URL of SQLAlchemy, or connection of sqlite3
            With an engine or a URL, all rows are written in one transaction.
        prefix : str, default="audit"
        **how
            Further arguments of `DataFrame.to_sql`; ``if_exists="append"`` for one more audit.

        Raises
        ------
        ValueError
            If a table exists and `if_exists` is not passed.
        ImportError
            If a URL is passed, and the extra ``sql`` (SQLAlchemy) is not installed.
        """
        _tables.to_sql(self.document, self.schema(), connection, prefix, TABLES, **how)

    def metrics(self) -> dict[str, float]:
        """Return the numbers of the audit by name, for example for ``mlflow.log_metrics``.

        Returns
        -------
        dict of str to float
            For example ``sex.marginal.p_adjusted``; a number that is not known is left out.
        """
        return metrics(self.document)

    def to_junit(self) -> str:
        """Return JUnit XML, which CI systems read: each verdict is a test case.

        A disparity found is a failure, and insufficient evidence a skipped test.
        """
        return to_junit(self.document)

    def to_model_card(self) -> str:
        """Return a section of a model card: verdicts, disparities and limits in Markdown."""
        return to_model_card(self.document)

    def to_html(self, language: str = "en") -> str:
        """Return the audit as one HTML page that loads nothing and is readable without scripts.

        Parameters
        ----------
        language : {"en", "de", "fr"}, default="en"
            Of figures of pay and of the first page; all that stands below is in English.

        Returns
        -------
        str

        Raises
        ------
        ImportError
            If the extra ``report`` (jinja2) is not installed.
        """
        return audit_to_html(self.document, language)

    def to_markdown(self, language: str = "en") -> str:
        """Return the audit as Markdown, with every name and value escaped.

        Parameters
        ----------
        language : {"en", "de", "fr"}, default="en"
            Of the first page.

        Returns
        -------
        str
        """
        return audit_to_markdown(self.document, language)

    def to_text(self, width: int = 80, language: str = "en") -> str:
        """Return the audit as text of lines of at most `width` columns.

        Parameters
        ----------
        width : int, default=80
            At least 20.
        language : {"en", "de", "fr"}, default="en"
            Of the first page.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If `width` is below 20.
        """
        return audit_to_text(self.document, width, language)

    def save(self, path: FilePath, language: str = "en") -> None:
        """Write the audit to a file: .html, .md, .txt, .json, .xml (JUnit), .docx or .pdf.

        The file is either written completely or not at all. A .pdf is the HTML page, printed by
        Chromium, Chrome or Edge where one is on the PATH, else by WeasyPrint.

        Parameters
        ----------
        path : str or Path
        language : {"en", "de", "fr"}, default="en"
            Of the first page, except in .json and .xml.

        Raises
        ------
        ValueError
            If the extension or the language is unknown, the file cannot be written, or there is
            nothing that prints a .pdf.
        ImportError
            If the path ends in .html or .pdf and the extra ``report`` is not installed, or in
            .docx and the extra ``word`` is not.
        """
        self.check_format(path)
        forms = (
            lambda: self.to_html(language),
            lambda: self.to_markdown(language),
            lambda: self.to_text(language=language),
            lambda: self.to_json(indent=1),
            self.to_junit,
            lambda: audit_to_word(self.document, language),
            lambda: html_to_pdf(self.to_html(language)),
        )
        written = dict(zip(FORMATS, forms, strict=True))[Path(path).suffix.lower()]()
        write_bytes(path, written if isinstance(written, bytes) else written.encode("utf-8"))

    @staticmethod
    def check_format(path: FilePath) -> None:
        """Check that the extension of `path` is that of a report that can be written here.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        ValueError
            If the extension is not .html, .md, .txt, .json, .xml, .docx or .pdf, or is .pdf and
            there is neither a browser nor WeasyPrint.
        ImportError
            If it is .docx and the extra ``word`` is not installed.
        """
        check_extension(path, FORMATS)
        needs = {".docx": check_writer, ".pdf": check_printer}
        needs.get(Path(path).suffix.lower(), lambda: None)()

    def _repr_html_(self):
        return audit_to_notebook(self.document)

    def __eq__(self, other):
        if not isinstance(other, AuditReport):
            return NotImplemented
        return self._timeless() == other._timeless()

    __hash__ = None

    def _timeless(self):
        """Return the document without the seconds that the audit took."""
        about = self.document["about"] | {"seconds": None}
        log = [step | {"seconds": None} for step in self.document["log"]]
        return self.document | {"about": about, "log": log}

    def __repr__(self):
        about = self.document["about"]
        return f"AuditReport({self.verdict}: {about['sentence']})"


def _check_kind(kind):
    """Raise if there is no table of a name."""
    if kind not in TABLES:
        raise ValueError(f"kind must be one of {', '.join(TABLES)}; got {kind!r}.")
