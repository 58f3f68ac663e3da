"""Tests of the report of an audit."""

import pytest

from skdisc import AuditReport
from skdisc.auditing._audit_report import SCHEMA


def test_a_document_of_another_schema_is_refused():
    with pytest.raises(ValueError, match="reads 'skdisc-audit/1'"):
        AuditReport.from_dict({"schema": "skdisc-audit/99"})


def test_reports_are_equal_if_their_documents_are():
    document = {"schema": SCHEMA, "verdict": {"verdict": "no disparity found"}, "log": []}
    report = AuditReport(document)
    assert AuditReport.from_json(report.to_json()) == report
    assert report.verdict == "no disparity found"
    with pytest.raises(ValueError, match="kind must be one of"):
        report.to_frame("people")
