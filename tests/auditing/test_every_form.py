"""What the forms of an audit print beyond its JSON: nothing, so that who attacks it attacks all.

Text, page, Markdown, tables and exports are functions of the JSON document: the same comes out of a
report that was read from it. So what follows from any of them follows from the JSON, which
test_disclosure.py attacks by the names and numbers of its rows. What is left to show here is that
sentences have no numbers or names beside those of the rows.
"""

import re
import sys
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from test_audit_privacy import outputs

from skdisc import Audit, AuditReport
from skdisc._results._findings import GroupFindings
from skdisc.auditing import _document
from skdisc.auditing._internal import hidden_rows

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.disclosure import table  # noqa: E402

sys.path.remove(str(ROOT))

NAMED = {"detectors": ["GroupDisparity", "DivExplorer"]}
KINDS = {
    "general": NAMED,
    "ll144": NAMED | {"template": "ll144"},
    "four_fifths": NAMED | {"template": "four_fifths"},
    "public": {"disclosure": "public"},
    "public ll144": {"disclosure": "public", "template": "ll144"},
}
DECIMAL = re.compile(r"(?<![\w.])\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)(?!\w)")
NO_NUMBER = re.compile(r"'[^']*'|have the level [\d.]+")
OF_LAWS = {"1607.4"}  # 29 CFR 1607.4, the four-fifths rule
NUMBERS = ("ci_low", "ci_high", "p_value")  # two groups may have one gap, such as 1/4
GAPS = ("rate", "gap", "effect", "estimate", "amount")


def values_of(value, kind, but=()):
    """Yield all values of a kind in a document."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in pairs:
            if name not in but:
                yield from values_of(inner, kind, but)
    elif isinstance(value, kind) and not isinstance(value, bool):
        yield value


def what_forms_add(report):
    """Return which forms are no functions of the JSON document."""
    again = dict(outputs(AuditReport.from_json(report.to_json())))
    return [name for name, text in outputs(report) if again[name] != text]


def numbers_of_sentences(report):
    """Return decimal numbers in the sentences of a document that none of its rows has.

    Bounds of tests that corroborate may be those of groups of which the document has others.
    """
    document = report.document
    sentences = values_of(document, str, ("code", "versions", "fingerprints", "plan"))
    written = set().union(*(DECIMAL.findall(NO_NUMBER.sub("", text)) for text in sentences))
    names = {row["group"] for row in dicts_of(document) if row.get("group")}
    families = (result.tables.get("family") for result in report.results.values())
    ends = [f.loc[f["group"].isin(names), "excluded"] for f in families if f is not None]
    known = np.abs([*values_of(document, int | float), *np.concatenate([[], *ends])])
    known = np.concatenate([known, 100 * known])
    more = []
    for text in written - OF_LAWS:
        digits, _, power = text.partition("e")
        unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
        if not (np.abs(known - float(text)) <= 1.00001 * unit).any():  # bounds are rounded up
            more.append(text)
    return more


def told_of_hidden(report, refused):
    """Return names and numbers of rows that are not shown, and that the document has anyway.

    The p-value of a question may be that of a row without a name in the document (not found, and
    of too few people to be listed), unless this row was refused.
    """
    document, numbers, of_shown, hidden = report.document, set(), set(), set()
    names = {row["group"] for row in dicts_of(document) if row.get("group")}
    for result in report.results.values():
        if not isinstance(result.findings, GroupFindings):
            continue
        table = result.findings.table
        own = table[[c for c in NUMBERS if c in table]].abs().to_numpy(dtype=float)
        corrected = table["p_adjusted"]
        is_least = (corrected == corrected.min()) & (corrected < 1)
        groups = map(str, result.findings.subgroups)
        for group, least, row in zip(groups, is_least, own, strict=True):
            row = set(row[np.isfinite(row)].tolist())
            is_asked = group in names or (least and group not in refused)
            (of_shown if is_asked else numbers).update(row)
            hidden |= set() if is_asked else {group}
    printed = np.sort(np.abs([*values_of(document, float, GAPS)]))
    own = np.array(sorted(n for n in numbers if round(n, 4) != round(n, 12)))
    own = own[distance(own, np.array(sorted(of_shown))) > 1e-9]
    told = own[distance(own, printed) < 1e-12].tolist()
    longest_first = sorted(names, key=len, reverse=True)
    sentences = {text for text in values_of(document, str) if " = '" in text} - names
    sentences = {text for text in sentences if "next to nobody" not in text}  # of columns alone
    for group in hidden:
        longer = [name for name in longest_first if group in name]
        for text in (text for text in sentences if group in text):
            for name in longer:
                text = text.replace(name, "")
            told += [group] * (group in text)
    return told, len(hidden)


def distance(numbers, ordered):
    """Return how far each number is from the nearest of others, which are in order."""
    place = np.searchsorted(ordered, numbers)
    ends = np.concatenate([[-np.inf], ordered, [np.inf]])
    return np.minimum(numbers - ends[place], ends[place + 1] - numbers)


def dicts_of(value):
    """Yield all objects of a document."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from dicts_of(inner)


def audited(seed, kind):
    """Return the report of an audit of a simulated table, and the groups that it refuses."""
    X, favorable = table(seed)
    refused = set()

    def recorded(*args):
        rows = hidden_rows(*args)
        refused.update(key[1] for key in rows.keys)
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_document, "hidden_rows", recorded)
        return Audit(protected=["p", "q"], **KINDS[kind]).fit(X, favorable).report_, refused


@pytest.mark.parametrize(
    "seeds", [(2,), pytest.param(range(100, 150), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_no_form_tells_more_than_the_rows_of_the_document(seeds):
    n_hidden = 0
    for seed, kind in zip(seeds, cycle(KINDS), strict=False):
        report, refused = audited(seed, kind)
        assert what_forms_add(report) == [], (seed, kind)
        assert numbers_of_sentences(report) == [], (seed, kind)
        leaks, n = told_of_hidden(report, refused)
        assert leaks == [], (seed, kind)
        n_hidden += n
    assert n_hidden > 0


def test_the_check_finds_a_form_that_prints_more(monkeypatch):
    report, refused = audited(2, "general")
    assert told_of_hidden(report, refused)[0] == what_forms_add(report) == []
    result = report.results["DivExplorer p"]
    names = {row["group"] for row in dicts_of(report.document) if row.get("group")}
    table = result.findings.table.assign(group=list(map(str, result.findings.subgroups)))
    hidden = table[~table["group"].isin(names)].iloc[0]
    monkeypatch.setattr(AuditReport, "to_text", lambda report: f"{len(report.results)} results")
    assert what_forms_add(report) == ["to_text"]
    document = report.document
    note = f"The gap of {hidden['group']} is 0.123456."
    log = [document["log"][0] | {"notes": [note]}, *document["log"][1:]]
    verdicts = [document["verdicts"][0] | {"ci_low": hidden["ci_low"]}]
    more = AuditReport(document | {"log": log, "verdicts": verdicts}, report.results)
    assert numbers_of_sentences(more) == ["0.123456"]
    assert told_of_hidden(more, refused)[0] == [abs(hidden["ci_low"]), hidden["group"]]
