"""The verdicts of a document as the results of tests, in JUnit XML."""

import re
from xml.etree import ElementTree

from skdisc._results._judgment import FOUND, NOTHING
from skdisc.report._audit_page._words import confidence

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(document):
    """Return JUnit XML: a test case for each verdict.

    A disparity found is a failure; insufficient evidence is skipped; an interrupted audit has an
    error more.
    """
    cases = [_case(document, row) for row in document["verdicts"]]
    if document["about"]["interrupted"]:
        case = ElementTree.Element("testcase", classname="skdisc.audit", name="completed")
        ElementTree.SubElement(case, "error", message="the audit was interrupted")
        cases.append(case)
    counts = {"tests": len(cases)} | {
        kind: sum(case.find(tag) is not None for case in cases)
        for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    counts = {name: str(number) for name, number in counts.items()}
    counts["time"] = f"{document['about']['seconds']:.3f}"
    suites = ElementTree.Element("testsuites", name="skdisc", **counts)
    suite = ElementTree.SubElement(suites, "testsuite", name="skdisc.audit", **counts)
    suite.extend(cases)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(document, row):
    """Return the test case of a verdict."""
    case = ElementTree.Element(
        "testcase",
        classname=_valid(f"skdisc.audit.{row['attribute']}"),
        name=_valid(f"{row['attribute']}, {row['null']}: {row['claim']}"),
    )
    if row["verdict"] == FOUND:
        failure = ElementTree.SubElement(
            case, "failure", type=FOUND, message=_valid(_sentence(row))
        )
        failure.text = _valid("\n".join(_details(document, row)))
    elif row["verdict"] != NOTHING:
        message = f"{row['verdict']}: {row['reason']}" if row["reason"] else row["verdict"]
        ElementTree.SubElement(case, "skipped", message=_valid(message))
    return case


def _sentence(row):
    """Return the disparity of a verdict in one sentence."""
    measure = row.get("measure")
    subject = f"{row['group']}, {measure}" if row["group"] and measure else row["group"]
    parts = [row["verdict"], subject, _estimate(row), row["reason"]]
    return "; ".join(part for part in parts if part)


def _details(document, row):
    """Return a line for each finding of evidence about the attribute and null of a verdict."""
    for finding in document["evidence"]:
        if row["attribute"] in finding["attributes"] and row["null"] == finding["null"]:
            people = "" if finding["people"] is None else f", {finding['people']:,} people"
            subject = f"{finding['group']}, {finding['measure']}"
            yield f"{subject}: {_estimate(finding)}{people}"


def _estimate(row):
    """Return effect and interval as text, '' if there is none."""
    if row["effect"] is None:
        return ""
    ends = [row["ci_low"], row["ci_high"]]
    span = "" if None in ends else " [{:+z.3f}, {:+z.3f}]".format(*ends)
    level = f" ({confidence(row['ci_level'])})" if span and row["ci_level"] else ""
    return f"effect {row['effect']:+z.3f}{span}{level}"


def _valid(text):
    """Replace the characters that XML cannot have."""
    return _NOT_XML.sub("\ufffd", text)
