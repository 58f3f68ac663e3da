"""Tests of the report of an audit."""

import pytest
from documents import at, breaches, example, places

from skdisc import AuditReport
from skdisc.auditing import verify
from skdisc.auditing._audit_report import TABLES


def test_a_document_of_another_schema_is_refused():
    with pytest.raises(ValueError, match="reads 'skdisc-audit/2'"):
        AuditReport.from_dict({"schema": "skdisc-audit/99"})


def test_reports_are_equal_if_their_documents_are():
    document = example()
    report = AuditReport(document)
    assert AuditReport.from_json(report.to_json()) == report
    assert report.verdict == document["verdict"]["verdict"]
    slower = example()
    slower["about"]["seconds"] += 1
    slower["log"][0]["seconds"] += 1
    assert AuditReport(slower) == report
    slower["about"]["n_rows"] += 1
    assert AuditReport(slower) != report
    with pytest.raises(ValueError, match="kind must be one of"):
        report.to_frame("people")


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_has_its_columns_whatever_is_in_it(kind):
    document = example()
    full = AuditReport(document).to_frame(kind)
    document[kind] = []
    empty = AuditReport(document).to_frame(kind)
    assert not len(empty)
    assert set(empty) >= set(full)
    assert len(empty.columns)


@pytest.mark.every(6)
@pytest.mark.parametrize("path", list(places(example())), ids=str)
def test_parts_that_are_missing_or_of_another_type_are_named(path):
    document = example()
    part = at(document, path)
    for name in list(part):
        kept = part.pop(name)
        for odd in ([1], "odd", True, None):
            part[name] = odd
            check_as_the_validator(document)
        del part[name]
        check_as_the_validator(document)
        part[name] = kept


def check_as_the_validator(document):
    """Raise unless a document is refused as an independent validator of its schema does."""
    if not breaches(document, but=("pattern",)):
        AuditReport.from_dict(document)
        return
    with pytest.raises(ValueError, match=r"not the document of an audit: .+\. Pass|The schema"):
        AuditReport.from_dict(document)


@pytest.mark.parametrize("document", [None, [], 5, "audit"])
def test_what_is_no_document_is_refused(document):
    with pytest.raises(ValueError, match="the document must be of type object"):
        AuditReport.from_dict(document)
    with pytest.raises(ValueError, match="the document must be of type object"):
        verify(document, None)
    with pytest.raises(TypeError, match="after must be an AuditReport"):
        AuditReport(example()).compare(document)


@pytest.mark.parametrize(("rate", "fits"), [("inf", True), ("-inf", True), ("nan", False)])
def test_a_ratio_to_zero_is_infinite(rate, fits):
    document = example()
    document["groups"][0]["rate"] = rate
    assert (not breaches(document)) == fits
    check_as_the_validator(document)


def test_the_message_names_the_place():
    document = example() | {"evidence": [1]}
    with pytest.raises(ValueError, match=r"document\.evidence\[0\] must be of type object, got 1"):
        verify(document, None)
    with pytest.raises(ValueError, match="nested too deeply"):
        AuditReport.from_json("[" * 10**5 + "]" * 10**5)
