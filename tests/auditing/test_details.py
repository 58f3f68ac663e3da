"""What the results behind a document tell together with it: nothing about fewer than ten people."""

import html
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_disclosure import printed_sums
from test_every_form import dicts_of

from skdisc import Audit, AuditReport, AuditResult, BlackBox, report
from skdisc._results._findings import GroupFindings
from skdisc.auditing import _document

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.disclosure import follow, table  # noqa: E402

sys.path.remove(str(ROOT))

NAMED = {"detectors": ["GroupDisparity", "DivExplorer"]}


def rows_of(results, path):
    """Return the groups that a file of results names, in the form of rows of a document."""
    report.write(list(results.values()), path)
    rows = []
    for result in map(AuditResult.from_dict, json.loads(path.read_text())):
        attribute, groups = ", ".join(result.protected), []
        if isinstance(result.findings, GroupFindings):
            groups += map(str, result.findings.subgroups)
        for several in result.tables.values():
            groups += several.get("group", pd.Series(dtype=object)).tolist()
        rows += [{"group": group, "attribute": attribute, "rate": 0.5} for group in groups]
    return rows


def attacked_details(seeds, path, settings=NAMED):
    """Return how many small sets, and rows, the documents and details of audits give."""
    told = {"sets": 0, "of_document": 0, "rows": 0, "left_out": 0}
    for seed in seeds:
        X, favorable = table(seed)
        answers = Audit(protected=["p", "q"], **settings).fit(X, favorable).report_
        details = rows_of(answers.details, path)
        both = answers.document | {"details": details}
        sums, raw = printed_sums(both, X)
        goals = raw.small.toarray().astype(int)
        told["sets"] += int(follow(sums, goals).sum())
        told["of_document"] += int(follow(printed_sums(answers.document, X)[0], goals).sum())
        told["rows"] += len(details)
        told["left_out"] += "are left out, because the document" in path.read_text()
    return told


def as_they_are(document, hidden, plan, results, is_all_known):
    """Return results with all rows about at least ten people: the check of details is off."""
    return results


@pytest.mark.parametrize(
    "seeds", [(2,), pytest.param(range(3, 11), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_nothing_follows_from_details_beside_the_document(seeds, tmp_path, monkeypatch):
    path = tmp_path / "details.json"
    told = attacked_details(seeds, path)
    assert told["sets"] == told["of_document"] == 0 < told["left_out"]
    assert told["rows"] > 10 * len(seeds)
    monkeypatch.setattr(_document, "shown_results", as_they_are)
    everything = attacked_details(seeds[-1:], path)
    assert everything["sets"] > 0


def with_everything(X, y):
    return Audit(protected=["p"], detectors="all", max_predicates=2).fit(X, y)


def of_a_law(X, y):
    return Audit(protected=["p", "q"], template="ll144").fit(X, y)


def of_decisions(X, y):
    draw = np.random.default_rng(0).random(len(X))
    return Audit(protected=["p", "q"]).fit(X, y, BlackBox(decisions=np.where(draw < 0.2, 1 - y, y)))


@pytest.mark.slow
@pytest.mark.parametrize("audited", [with_everything, of_a_law, of_decisions])
def test_details_name_the_groups_of_the_document_and_have_their_numbers(audited, tmp_path):
    X, favorable = table(2)
    answers = audited(X, favorable).report_
    names = {row["group"] for row in dicts_of(answers.document) if row.get("group")}
    rows = rows_of(answers.details, tmp_path / "details.json")
    of_columns = [r.answer.without_counterparts for r in answers.details.values() if r.answer]
    assert len(rows) > 0
    assert {row["group"] for row in rows} <= names
    of_all = rows_of(answers.results, tmp_path / "all.json")
    assert {row["group"] for row in of_all} - names
    hidden = {row["group"] for row in of_all} - names
    for suffix in (".json", ".md", ".html"):
        path = tmp_path / f"details{suffix}"
        report.write(list(answers.details.values()), path)
        text = html.unescape(path.read_text())
        for group in hidden:
            without = text
            for name in names.union(*of_columns):  # of which it may be a part
                without = without.replace(name, "") if group in name else without
            assert group not in without
    for name, result in answers.details.items():
        assert result.n_tested <= answers.results[name].n_tested
        assert AuditResult.from_dict(result.to_dict()) == result


def test_public_documents_and_those_that_were_read_have_no_details():
    X, favorable = table(3)
    answers = Audit(protected="p", disclosure="public").fit(X, favorable).report_
    assert answers.details == AuditReport.from_json(answers.to_json()).details == {}


def test_details_have_no_corrected_p_value_of_a_row_that_is_left_out():
    draw = np.random.default_rng(3)
    X = pd.DataFrame(draw.integers(0, 3, (700, 4)), columns=list("abcd")).astype(str)
    X["sex"] = draw.choice(["F", "M"], 700)
    y = (draw.random(700) < 0.4).astype(int)
    audit = Audit(protected="sex", detectors=["DivExplorer"], confirm=0.4, random_state=0)
    answers, n_compared = audit.fit(X, y).report_, 0
    for name, result in answers.results.items():
        details = answers.details[name].findings
        groups = set(map(str, details.subgroups))
        is_left_out = [str(group) not in groups for group in result.findings.subgroups]
        left_out = result.findings.table[is_left_out]
        for start in ("", "held_out_"):
            corrected, raw = f"{start}p_adjusted", f"{start}p_value"
            for row in left_out[left_out[corrected] < 1].itertuples():
                ties = details.table[details.table[corrected] == getattr(row, corrected)]
                assert (ties[raw] == getattr(row, raw)).all()
                n_compared += 1
        assert details.table["held_out_p_adjusted"].notna().any()
    assert n_compared
