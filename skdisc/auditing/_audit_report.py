"""AuditReport: what an audit answers, as a document and as the results behind it."""

import json
from importlib.resources import files
from typing import Self

import pandas as pd

from skdisc._results._audit_result import AuditResult

SCHEMA = "skdisc-audit/1"
TABLES = ("verdicts", "evidence", "shadows", "groups", "gaps", "log", "not_run")


class AuditReport:
    """What an `Audit` answers.

    Parameters
    ----------
    document : dict
        The answers, of JSON types. Text, pages, exports and verification are made from it alone.
    results : dict of str to AuditResult, optional
        The results of the steps, by name; a report read from JSON has none.

    Attributes
    ----------
    verdict : {"disparity found", "no disparity found", "insufficient evidence"}
        The verdict of the whole audit.
    document, results
        As passed.
    """

    def __init__(self, document: dict, results: dict[str, AuditResult] | None = None) -> None:
        self.document, self.results = document, dict(results or {})

    @property
    def verdict(self) -> str:
        """The verdict of the whole audit."""
        return self.document["verdict"]["verdict"]

    def to_frame(self, kind: str = "evidence") -> pd.DataFrame:
        """Return a table of the document.

        Parameters
        ----------
        kind : {"verdicts", "evidence", "shadows", "groups", "gaps", "log", "not_run"}

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
        return pd.DataFrame(self.document[kind])

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
            If the document has another schema.
        """
        if document.get("schema") != SCHEMA:
            raise ValueError(
                f"The schema of the document is {document.get('schema')!r}; this version of skdisc "
                f"reads {SCHEMA!r}. Read it with the skdisc that wrote it."
            )
        return cls(document)

    @staticmethod
    def schema() -> dict:
        """Return the JSON Schema (draft 2020-12) of documents, which the package ships."""
        path = files("skdisc.auditing").joinpath("schemas", "audit-1.json")
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
            If the text is not JSON, or has another schema.
        """
        return cls.from_dict(json.loads(text))

    def __eq__(self, other):
        if not isinstance(other, AuditReport):
            return NotImplemented
        return self.to_json() == other.to_json()

    __hash__ = None

    def __repr__(self):
        about = self.document["about"]
        return f"AuditReport({self.verdict}: {about['sentence']})"
