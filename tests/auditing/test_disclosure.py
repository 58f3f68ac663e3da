"""Public audits: every output is made of sums from which nothing about few people follows."""

import itertools
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from documents import breaches
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from test_audit_privacy import outputs

from skdisc import Audit, BlackBox, Counts, Limits
from skdisc._results._judgment import UNSURE
from skdisc._stats._printed_sums import PrintedSums
from skdisc._verdicts._answer import Answer
from skdisc.auditing import _internal
from skdisc.auditing._audited_rows import AuditedRows
from skdisc.auditing._beside import _compare
from skdisc.auditing._disclosure import PublicChoice, public_rows
from skdisc.auditing._internal import joined_values, shown_answer
from skdisc.auditing._public import merged, public_counts

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.disclosure import (  # noqa: E402
    attacked,
    attacked_internal,
    follow,
    known_sums,
    table,
)

sys.path.remove(str(ROOT))


def choice_of(X, bases=()):
    return PublicChoice({c: merged(X[c], 20) for c in X}, 10, bases)


def other_outcomes(sums, favorable, people, seed, least=None):
    """Return other numbers of favorable outcomes of each cell that give the same sums."""
    draw = np.random.default_rng(seed)
    known = LinearConstraint(sums, sums @ favorable, sums @ favorable)
    least = np.zeros(len(people)) if least is None else least
    how = {"constraints": known, "integrality": np.ones(len(people))}
    found = milp(draw.normal(size=len(people)), bounds=Bounds(least, people), **how)
    return np.round(found.x).astype(int)


def dealt(cell, n, among=None):
    """Return outcomes of which each cell has n, given to its first people."""
    outcome, among = np.zeros(len(cell), dtype=int), np.ones(len(cell)) if among is None else among
    for c, some in enumerate(n):
        outcome[np.flatnonzero((cell == c) & (among == 1))[:some]] = 1
    return outcome


def without_seconds(report):
    """Return the document of a report, in place without the time that it took."""
    report.document["about"]["seconds"] = 0.0
    for line in report.document["log"]:
        line["seconds"] = 0.0
    return report.document


@pytest.mark.parametrize(
    ("seed", "template"), [(0, "general"), (2, "ll144"), (3, "four_fifths"), (5, "general")]
)
def test_every_number_follows_from_the_sums_that_may_be_printed(seed, template):
    """Other outcomes with the same sums give the same document."""
    X, favorable = table(seed)
    choice = choice_of(X)
    sums, own = known_sums(choice), choice._sums[0]
    n = np.bincount(own._cell, favorable).astype(int)
    other = other_outcomes(sums, n, own.people, seed)
    assert (other != n).sum() >= 2
    assert (sums @ other == sums @ n).all()
    audit = Audit(protected=["p", "q"], disclosure="public", template=template)
    several = [audit.fit(X, dealt(own._cell, k)).report_ for k in (n, other)]
    assert without_seconds(several[0]) == without_seconds(several[1])
    assert breaches(audit.report_.document) == []
    if seed == 0:
        assert dict(outputs(several[0])) == dict(outputs(several[1]))  # page, text, CSV, ...
        more = Audit(protected=["p", "q"], detectors=["GroupDisparity", "DivExplorer"])
        several = [more.fit(X, dealt(own._cell, k)).report_ for k in (n, other)]
        assert without_seconds(several[0]) != without_seconds(several[1])  # the choice is off


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_rates_of_errors_follow_from_the_sums_that_may_be_printed(seed):
    """Other numbers of the qualified among the selected, with the same sums in all bases."""
    X, labels = table(seed)
    decisions = np.where(np.random.default_rng(seed).random(len(X)) < 0.3, 1 - labels, labels)
    choice = choice_of(X, [labels == 1, labels == 0, decisions == 1])
    sums, own = known_sums(choice, among=True), choice._sums[0]
    assert 0 < len(sums) <= len(known_sums(choice))
    of_labels, of_decisions, both = (
        np.bincount(own._cell, v, len(own.first)).astype(int)
        for v in (labels, decisions, labels & decisions)
    )
    least, most = of_labels + of_decisions - own.people, np.minimum(of_labels, of_decisions)
    other = other_outcomes(sums, both, most, seed, least=np.maximum(0, least))
    assert (other != both).any()
    documents = []
    for true in (both, other):
        y = dealt(own._cell, of_labels)
        d = dealt(own._cell, true, y == 1) + dealt(own._cell, of_decisions - true, y == 0)
        audit = Audit(protected=["p", "q"], disclosure="public")
        documents.append(without_seconds(audit.fit(X, y, BlackBox(decisions=d)).report_))
    assert documents[0] == documents[1]
    measures = {row["measure"] for row in documents[0]["groups"]}
    assert {"true_positive_rate", "false_positive_rate", "positive_predictive_value"} <= measures


@pytest.mark.slow
def test_nothing_follows_about_few_people_from_all_that_may_be_printed():
    """The sums of all public documents about a table at once, attacked by who knows all columns.

    `benchmarks/disclosure.py` does it with 1,000 tables; its figures are in doc/privacy.md.
    """
    attacks = [attacked(*table(seed), seed) for seed in range(100)]
    total = {name: sum(a[name] for a in attacks) for name in attacks[0]}
    assert total["linear"] == 0 < 1000 < total["sets"]
    assert total["pinned_between"] == 0 < 100 < total["programs"]
    assert total["pinned"] <= 0.08 * total["programs"]
    assert total["pinned_elsewhere"] == 0  # but in printed groups of which all or none have it
    assert total["single"] >= 0.96 * total["single_asked"]
    assert total["in_context"] >= 0.2 * total["in_context_asked"]
    # with the choice switched off, the same attack gets sets back
    off = {"most": 1.1, "room": False, "programs": 0}
    assert sum(attacked(*table(seed), seed, **off)["linear"] for seed in range(20)) > 20


@pytest.mark.slow
def test_whole_numbers_tell_nothing_beside_printed_groups_of_all_or_none():
    """In these tables, sums of several groups leave one number, 0 or all, of other people."""
    for seed in (1228, 1428):
        told = [attacked(*table(seed), seed, programs=20, room=room) for room in (True, False)]
        assert told[0]["pinned_elsewhere"] == 0 < told[1]["pinned_elsewhere"]
        assert told[0]["single"] == told[1]["single"]
        assert told[0]["in_context"] > 0.6 * told[1]["in_context"]


def test_groups_by_columns_that_tell_by_whole_numbers_are_left_out():
    X, favorable = table(1228)
    document = Audit(protected=["c", "p"], disclosure="public").fit(X, favorable).report_.document
    assert document["limits"][-1].endswith("only where they follow from others: 'c' with 't'.")
    columns = {c: merged(X[c], 20) for c in X}
    choice, of_columns = PublicChoice(columns, 10, outcomes=[favorable]), choice_of(X)
    assert (choice.not_crossed, of_columns.not_crossed) == ([["c", "t"]], [])
    by = [{choice._names[c] for c, _ in ((row[0], 0), *row[2])} for row in choice._rows]
    stay = of_columns._chosen & [names != {"c", "t"} for names in by]
    assert (choice._chosen == stay).all()
    assert 0 < stay.sum() < of_columns._chosen.sum()
    everyone = PublicChoice(columns, 10, outcomes=[np.ones(len(X))])
    assert everyone.not_crossed == []  # all have it, which is told openly


def test_columns_that_tell_by_whole_numbers_are_no_public_counts():
    """If x has as many as u, which is a part of it, the other 30 people of x have none."""
    X = pd.DataFrame({"a": np.repeat(["u", "v", "w"], 40), "b": np.repeat(["x", "y"], [70, 50])})
    favorable = np.arange(120) % 4 == 0
    assert set(public_counts(X, favorable)["attribute"]) == {"a", "b"}
    favorable[40:70] = False
    assert set(public_counts(X, favorable)["attribute"]) == {"a"}


@pytest.mark.slow
def test_nothing_follows_by_linear_algebra_from_simulated_internal_rows(monkeypatch):
    """100 tables; whole-number programs get more back than in public mode, as the page says."""
    attacks = [attacked_internal(*table(seed), seed) for seed in range(100)]
    total = {name: sum(a[name] for a in attacks) for name in attacks[0]}
    assert total["linear"] == 0 < 1000 < total["sets"]
    assert total["pinned"] <= 0.2 * total["programs"] > 0
    assert total["single"] == total["single_asked"]
    assert total["in_context"] >= 0.55 * total["in_context_asked"]
    for name in ("MOST_IN_ALL", "MOST_OF_SINGLE"):  # with the check switched off
        monkeypatch.setattr(f"benchmarks.disclosure.{name}", 1.1)
    assert sum(attacked_internal(*table(seed), seed)["linear"] for seed in range(10)) > 10


def test_the_choice_is_that_of_columns_whatever_is_asked():
    X, favorable = table(3)
    several = []
    for protected, template, order in (
        ("p", "general", "pqct"),
        (["q", "p"], "ll144", "tcqp"),
        ("c", "four_fifths", "ctpq"),
    ):
        audit = Audit(protected=protected, disclosure="public", template=template)
        given = AuditedRows.read(audit, X[list(order)], favorable, None, None, None)
        several.append(public_rows(given, 10).choice.fingerprint)
        favorable = 1 - favorable
    assert len(set(several)) == 1


def test_groups_that_are_refused_are_counted_and_enter_nothing():
    X, favorable = table(3)
    report = Audit(protected=["p", "q"], disclosure="public").fit(X, favorable).report_
    choice = choice_of(X)
    n = choice.refused(["p", "q"], 3)
    assert n > 0
    assert f"{n} groups were not looked at, to protect people" in report.to_text()
    assert f"{n} groups were not looked at, to protect people" in report.document["limits"][-2]
    merged_X = pd.DataFrame({c: merged(X[c], 20) for c in X})
    allowed = set()
    for row, stays in zip(choice._rows, choice._chosen, strict=True):
        column, value, context = row
        if stays:
            conditions = [(column, value), *context]
            allowed.add(frozenset((choice._names[c], choice._values[c][v]) for c, v in conditions))
    tested = [r for line in report.document["families"] for r in [line["group"]]]
    assert tested
    for size in (1, 2, 3):
        for columns in itertools.combinations("pqct", size):
            for values in itertools.product(*[sorted(set(merged_X[c])) for c in columns]):
                text = " and ".join(f"{c} = {v!r}" for c, v in zip(columns, values, strict=True))
                if text in tested:
                    assert frozenset(zip(columns, values, strict=True)) in allowed


def test_a_column_of_which_no_group_is_looked_at_is_not_asked_about():
    X = pd.DataFrame({"sex": ["f", "m"] * 100, "rare": ["a"] * 195 + ["b"] * 5})
    audit = Audit(protected=["sex", "rare"], disclosure="public")
    document = audit.fit(X, np.arange(200) % 3 > 0).report_.document
    rows = [v for v in document["verdicts"] if v["attribute"] == "rare"]
    assert rows
    assert {v["verdict"] for v in rows} == {"insufficient evidence"}
    assert all("none of its groups is looked at" in v["reason"] for v in rows)
    assert not [g for g in document["groups"] if g["attribute"] == "rare"]


def test_columns_that_the_audit_leaves_out_count_for_the_choice():
    """The command passes those that it was told to ignore."""
    X, _ = table(3)
    audit = Audit(protected="p", disclosure="public")
    given = AuditedRows.read(audit, X[["p", "q"]], np.arange(len(X)) % 2, None, None, None)
    assert public_rows(given, 10, X[["c", "t"]]).choice.fingerprint == choice_of(X).fingerprint
    assert public_rows(given, 10).choice.fingerprint != choice_of(X).fingerprint


@pytest.mark.parametrize(
    ("settings", "passed", "message"),
    [
        ({"confirm": 0.5}, {}, "takes no confirm: rates of the rows held out"),
        ({"missing": "drop"}, {}, "takes no missing"),
        ({"n_bins": 5}, {}, "cut at their quartiles in all public documents"),
        ({"settings": {"DivExplorer": {"k": 5}}}, {}, "takes no settings"),
        ({"limits": Limits(tests=5, seconds=60)}, {}, "takes no limit of tests"),
        ({"metric": ["accuracy"]}, {}, "takes no metric"),
        ({"adjust_for": ["q"]}, {}, "takes no adjust_for"),
        ({"detectors": "all"}, {}, "no detector 'all'"),
        ({"detectors": ["BiasScan"]}, {}, "no detector 'BiasScan'"),
        ({}, {"sample_weight": 1.5}, "takes no sample_weight"),
        ({}, {"groups": 1}, "takes no groups"),
    ],
)
def test_what_would_add_to_the_sums_is_refused(settings, passed, message):
    X, favorable = table(3)
    passed = {name: np.full(len(X), value) for name, value in passed.items()}
    audit = Audit(protected="p", disclosure="public", **settings)
    with pytest.raises(ValueError, match=message):
        audit.fit(X, favorable, **passed)


def test_robustness_and_counts_are_not_public():
    X, favorable = table(3)
    with pytest.raises(ValueError, match="goes without robustness"):
        Audit(protected="p", disclosure="public").robustness(X, favorable)
    counts = pd.DataFrame({"attribute": "p", "group": ["a", "b"], "n": 50, "selected": [20, 30]})
    with pytest.raises(ValueError, match="public_counts makes such counts"):
        Audit.from_counts(counts, disclosure="public")


def test_frequencies_are_people_of_a_public_audit():
    X, favorable = table(3)
    cells = X.assign(y=favorable).value_counts().rename("n").reset_index()
    one = Audit(protected="p", disclosure="public").fit(X, favorable).report_
    again = Audit(protected="p", disclosure="public", weights="frequency")
    again.fit(cells[list("pqct")], cells["y"], sample_weight=cells["n"])
    assert again.report_.document["groups"] == one.document["groups"]
    assert again.report_.document["families"] == one.document["families"]


def test_a_model_decides_about_values_as_they_were():
    """Rare values are joined in groups, not in what the model is asked."""
    X = pd.DataFrame({"sex": ["f", "m"] * 200, "town": ["u"] * 390 + ["rare"] * 10})

    def decide(rows):
        return np.where(rows["town"] == "rare", 1, rows["sex"] == "m").astype(int)

    report = Audit(protected="sex", disclosure="public").fit(X, model=decide).report_
    rates = {r["group"]: r["rate"] for r in report.document["groups"]}
    assert rates["sex = 'f'"] == pytest.approx(5 / 200)


def test_a_model_that_is_trained_in_a_public_audit():
    X, favorable = table(3)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    report = Audit(model, protected="p", disclosure="public").fit(X, favorable).report_
    assert {v["null"] for v in report.document["verdicts"]} == {"marginal", "contextual"}
    left_out = {row["detector"] for row in report.document["not_run"]}
    assert {"DisparityPursuit", "Themis"} <= left_out


def test_arrays_have_columns_by_number():
    draw = np.random.default_rng(0)
    X, y = draw.integers(0, 3, (500, 2)), draw.integers(0, 2, 500)
    report = Audit(protected=0, disclosure="public").fit(X, y).report_
    assert {v["null"] for v in report.document["verdicts"]} == {"marginal", "contextual"}
    assert len(report.document["families"]) > 3


@pytest.mark.slow
def test_results_of_an_internal_audit_are_not_taken_from_the_cache(tmp_path):
    X, favorable = table(3)
    X, documents = pd.DataFrame({c: merged(X[c], 20) for c in X}), []  # the same rows in both
    for disclosure, cache in (("internal", True), ("public", True), ("public", False)):
        audit = Audit(protected="p", disclosure=disclosure, cache=str(tmp_path) if cache else None)
        documents.append(without_seconds(audit.fit(X, favorable).report_))
    assert documents[0]["families"] != documents[1]["families"]
    for part in ("families", "groups", "verdicts", "evidence", "log"):
        assert documents[1][part] == documents[2][part]


NO_OUTCOMES = {"n", "people", "others", "rank", "of", "share", "judged", "suppressed", "n_shadows"}
NO_OUTCOMES |= {"level", "ci_level", "gap_ci_level", "equal_ci_level", "alone_ci_level"}


def named_groups(document):
    """Return name and protected columns of each group with a number that depends on outcomes."""
    of = {row["rank"]: row["attributes"] for row in document["evidence"]}
    # The answers of the first page are made from the other parts alone.
    named, rows = set(), [{name: v for name, v in document.items() if name != "answers"}]
    while rows:
        value = rows.pop()
        if isinstance(value, list):
            rows += value
        if not isinstance(value, dict):
            continue
        rows += value.values()
        numbers = {n for n, v in value.items() if isinstance(v, int | float)}
        if isinstance(value.get("group"), str) and numbers - NO_OUTCOMES:
            several = value.get("attributes", of.get(value.get("of"), [value.get("attribute")]))
            named |= {(value["group"], attribute) for attribute in several}
    return named


def printed_sums(document, X):
    """Return the cells of all sums that a document tells, read from its names, and the sets.

    Whoever has the document reads "p = 'p1' and t = 't2'" as the people with p1 among those with
    t2, and joined values as those that are not named.
    """
    everyone = np.ones(len(X), dtype=bool)
    masks, rare = [everyone], {c: X[c].map(X[c].value_counts()) < 10 for c in X}
    for text, attribute in named_groups(document):
        context = group = everyone
        for column, value in re.findall(r"(\w+) = '([^']*)'", text):
            mask = X[column] == value
            if value.endswith("others"):
                mask = rare[column] | (X[column] == value.removesuffix(" or others"))
            group = group & mask.to_numpy()
            context = context if column in attribute.split(", ") else context & mask.to_numpy()
        masks += [group, context & ~group]
    raw = PrintedSums([X[c].to_numpy(str) for c in X], 10)
    return np.unique(np.array(masks)[:, raw.first], axis=0).astype(int), raw


def attacked_documents(seeds):
    """Return how many small sets, printed sums and single groups internal documents tell."""
    told = {"sets": 0, "sums": 0, "single": 0, "hidden": 0}
    for seed in seeds:
        X, favorable = table(seed)
        audit = Audit(protected=["p", "q"], detectors=["GroupDisparity", "DivExplorer"])
        document = json.loads(audit.fit(X, favorable).report_.to_json())
        sums, raw = printed_sums(document, X)
        told["sets"] += int(follow(sums, raw.small.toarray().astype(int)).sum())
        told["sums"] += len(sums)
        told["single"] += len({r["group"] for r in document["groups"] if not r["suppressed"]})
        told["hidden"] += any("not shown" in text for text in document["limits"])
    return told


@pytest.mark.parametrize(
    "seeds", [(2, 3), pytest.param(range(4, 34), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_nothing_follows_by_linear_algebra_from_an_internal_document(seeds, monkeypatch):
    told = attacked_documents(seeds)
    assert told["sets"] == 0 < told["hidden"]
    monkeypatch.setattr(_internal, "MOST", 1.1)  # the check is off
    assert attacked_documents(seeds[-1:])["sets"] > 0


def with_weights(audit, X, y):
    return audit.fit(X, y, sample_weight=np.random.default_rng(0).uniform(0.5, 3, len(X)))


def in_clusters(audit, X, y):
    return audit.fit(X, y, groups=np.arange(len(X)) // 3)


def of_three_labels(audit, X, y):
    draw = np.random.default_rng(0).random(len(X))
    labels = np.where(y == 1, "yes", np.where(draw < 0.3, "later", "no"))
    return audit.set_params(pos_label="yes").fit(X, labels)


def of_counts(audit, X, y):
    return audit.fit(Counts.of(X.assign(y=y), protected=["p", "q"], label="y"))


def from_the_largest(audit, X, y):
    return audit.set_params(settings={"GroupDisparity": {"reference": "largest"}}).fit(X, y)


def of_decisions(audit, X, y):
    draw = np.random.default_rng(0).random(len(X))
    return audit.fit(X, y, BlackBox(decisions=np.where(draw < 0.2, 1 - y, y)))


@pytest.mark.slow
@pytest.mark.every(6)
@pytest.mark.parametrize(
    "audited",
    [with_weights, in_clusters, of_three_labels, of_counts, from_the_largest, of_decisions],
)
def test_nothing_follows_in_other_designs(audited, monkeypatch):
    """Weights, clusters, several labels, counts, a reference and labels beside decisions."""
    for most, seed in ((_internal.MOST, 2), (_internal.MOST, 3), (1.1, 3)):
        monkeypatch.setattr(_internal, "MOST", most)
        X, favorable = table(seed)
        audit = Audit(protected=["p", "q"], detectors=["GroupDisparity", "DivExplorer"])
        document = json.loads(audited(audit, X, favorable).report_.to_json())
        sums, raw = printed_sums(document, X)
        follows = follow(sums, raw.small.toarray().astype(int)).any()
        assert follows == (most > 1), seed


@pytest.mark.slow
def test_single_groups_stay_and_most_of_the_others(monkeypatch):
    told = attacked_documents(range(5))
    monkeypatch.setattr(_internal, "MOST", 1.1)
    everything = attacked_documents(range(5))
    assert told["single"] == everything["single"]
    assert everything["sums"] > told["sums"] > 0.6 * everything["sums"]


def test_rows_that_are_not_shown_are_nowhere():
    X, favorable = table(3)
    audit = Audit(protected=["p", "q"], detectors=["GroupDisparity", "DivExplorer"])
    report = audit.fit(X, favorable).report_
    (line,) = [text for text in report.document["limits"] if "not shown" in text]
    assert "because together with the others they would tell about fewer than 10 people" in line
    n = int(line.split()[0].replace(",", ""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_internal, "MOST", 1.1)
        everything = audit.fit(X, favorable).report_.document
    shown = {(r["attribute"], r["group"]) for r in report.document["families"]}
    hidden = {(r["attribute"], r["group"]) for r in everything["families"]} - shown
    assert 0 < len(hidden) <= n
    assert {v["verdict"] for v in report.document["verdicts"]} == {
        v["verdict"] for v in everything["verdicts"]
    }
    for attribute, group in hidden:
        for part in ("evidence", "verdicts", "groups", "figures"):
            for row in report.document[part]:
                names = row.get("attributes", [row.get("attribute")])
                assert not (attribute in names and row["group"] == group)
    for v in report.document["verdicts"]:
        rows = [r for r in everything["families"] if r["attribute"] == v["attribute"]]
        rows = [r for r in rows if r["null"] == v["null"]]
        widest = max(rows, key=lambda r: r["upper"])
        if (v["attribute"], widest["group"]) in hidden:
            assert v["bound"] is None
            assert "none above" not in v["reason"]
            assert "in no group above" not in v["reason"]


@pytest.mark.parametrize(
    ("values", "joined"),
    [
        (["a"] * 30 + ["b"] * 10, None),
        (["a"] * 30 + ["b"] * 15 + ["c"] * 6, {"a", "b or others"}),
        (["a"] * 30 + ["b"] * 7 + ["c"] * 6, {"a", "others"}),
        (["a"] * 30 + ["b"] * 15 + ["others"] * 7 + [None] * 3, {"a", "b", "all others"}),
        (["a"] * 30 + ["b"] * 15 + ["c"] * 4 + [None] * 3, {"a", "b or others"}),
        (["f"] * 30 + ["m"] * 20 + [None] * 3, {"f", "m"}),
        (["f"] * 30 + ["m"] * 20 + [None] * 13, None),
        (["f"] * 30 + ["m"] * 4 + [None] * 13, {"f or others", None}),
        ([1.0] * 30 + [0.0] * 20 + [np.nan] * 3, {0.0, 1.0}),
        ([True] * 30 + [False] * 20 + [None] * 3, {True, False}),
        ([1.0] * 30 + [0.0] * 20 + [2.0] * 3, {"1", "0 or others"}),
        (["a"] * 30 + ["c"] * 6, None),  # one group is no column to ask about
        (["a"] * 30 + [None] * 6, None),
        ([*range(30), np.nan], {*range(30)}),  # cut into bins, with the missing one at its median
        (range(30), None),
    ],
)
def test_rare_values_of_protected_columns_are_joined(values, joined):
    again = joined_values(pd.Series(values), 10, n_bins=4)
    assert (again if again is None else set(again)) == joined


def test_a_comparison_computes_no_gap_that_a_document_leaves_out():
    """Rows that are passed give the gap of a finding that the other document does not have."""
    X, favorable = table(3)
    audit = Audit(protected=["p", "q"], detectors=["GroupDisparity", "DivExplorer"])
    n = audit.fit(X, favorable).report_.document["about"]["n_not_shown"]
    row = {"null": "marginal", "group": "p = 'p1'", "measure": "selection_rate", "alone": None}
    gaps = [[0.1, 0.0, 0.2, 0.95], [0.3, 0.2, 0.4, 0.95]]
    for about, expected in (({}, gaps[1]), ({"n_not_shown": n}, None)):
        documents = [{"figures": [], "verdicts": [], "families": [], "about": about}] * 2
        assert _compare._without_finding("disappeared", row, documents, gaps) == expected


@given(st.integers(0, 90), st.integers(0, 5))
def test_parts_of_rows_are_those_that_a_code_and_all_masks_tell_apart(n_masks, seed):
    rng = np.random.default_rng(seed)
    code, masks = rng.integers(0, 3, 40), list(rng.random((n_masks, 40)) < 0.01)
    parts = _internal._parts(code, masks)
    told = ["".join(map(str, row)) for row in np.column_stack([code, *masks]).tolist()]
    assert len(set(zip(parts, told, strict=True))) == len(set(told)) == len(set(parts))


def test_an_answer_that_a_ratio_leaves_open_has_no_bound_where_groups_are_hidden():
    """Without its ratio, the bound would say that nothing is open."""
    answer = Answer(
        UNSURE, n_family=3, bound=0.05, ratio=0.59, open_by_ratio=True, relevant_gap=0.1
    )
    family = pd.DataFrame({"found": [False] * 3, "cleared": [True] * 3})
    shown = shown_answer(replace(answer, n_cleared=3), family, np.array([True, False, False]))
    assert (shown.bound, shown.ratio, shown.open_by_ratio) == (None, None, False)
    assert "0.05" not in shown.reason
