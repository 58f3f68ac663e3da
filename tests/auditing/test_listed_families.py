"""The list of the groups that a question compares, where these are many."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, BlackBox, Rule
from skdisc._verdicts._answer import decide, family_table, rounded_up
from skdisc._verdicts._candidates import Candidates
from skdisc.auditing import _families

COLUMNS = ["found", "cleared", "excluded", "comparison"]


@pytest.fixture(scope="module")
def wide():
    """Return people of 24 columns, of which the first is protected, and fair outcomes."""
    draw = np.random.default_rng(1)
    X = pd.DataFrame(draw.integers(0, 2, (6_000, 24)), columns=[f"c{i}" for i in range(24)])
    X["sex"] = np.where(draw.random(6_000) < 0.5, "F", "M")
    return X.astype(str), draw.integers(0, 2, 6_000)


@pytest.fixture(scope="module")
def audits(wide):
    """Return two audits of the same people: lists of at most 60 groups and more, and of all."""
    reports = []
    for most in (60, 10**6):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(_families, "_MOST_LISTED", most)
            audit = Audit(protected="sex", detectors=["DivExplorer"], min_cell=2, random_state=0)
            reports.append(audit.fit(*wide).report_)
    return reports


def test_of_many_groups_those_with_the_largest_comparisons_are_listed(audits):
    short, whole = (pd.DataFrame(r.document["families"]) for r in audits)
    assert 60 <= len(short) < 80 < len(whole)
    # With all columns of two values, a group and its rest have the largest comparison.
    least = whole["comparison"].nlargest(60).min()
    listed = whole[whole["group"].isin(short["group"])]
    assert set(whole["group"][whole["comparison"] > least]) <= set(listed["group"])
    pd.testing.assert_frame_equal(short, listed.reset_index(drop=True))


def test_the_answer_is_about_all_groups_and_its_bound_about_a_listed_one(audits):
    (short,), (whole,) = (
        [v for v in r.document["verdicts"] if v["null"] == "contextual"] for r in audits
    )
    # Bounds by size of group come from groups that are not listed; all else is the same.
    assert whole["answer"].pop("curve")
    assert short["answer"].pop("curve") == []
    assert short == whole
    family = pd.DataFrame(audits[0].document["families"])
    assert short["answer"]["n_family"] > len(family)
    assert 0 <= short["bound"] - family["upper"].max() < 0.01  # which is rounded up


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # the largest end is that of a group that is not found, the second one
        ([(True, False, 0.9, 9), (False, False, 0.3, 5), (False, False, 0.2, 4)], [0, 1, 0]),
        # of cleared ones the smallest comparison, of open ones the largest
        ([(False, True, 0.1, 9), (False, True, 0.05, 8), (False, False, 0.3, 3)], [0, 1, 1]),
        ([], []),
    ],
)
def test_groups_that_bounds_come_from(rows, expected):
    family = pd.DataFrame(rows, columns=COLUMNS)
    assert _families.ends_of_bounds(family, None).tolist() == [bool(value) for value in expected]


def test_of_several_measures_the_bound_is_of_the_one_that_is_largest_by_its_relevant_gap():
    n = np.array([900, 60, 900, 40]), np.array([900, 900, 900, 900])
    gaps = np.array([0.1, 0.1, 0.02, 0.02])
    candidates = Candidates.of_rates(
        [450, 30, 855, 38], n[0], [450, 450, 855, 855], n[1], measure=["a", "a", "b", "b"]
    )
    answer = decide(candidates, relevant_gap=gaps)
    family = family_table(candidates, answer)
    assert family["excluded"][1] > family["excluded"][3]
    assert answer.bound == rounded_up(family["excluded"][3])
    assert _families.ends_of_bounds(family, answer)[3]


def test_no_bound_is_printed_that_comes_from_a_group_of_few_people():
    draw = np.random.default_rng(57)
    X = pd.DataFrame({"g": draw.choice(list("abcd"), 900, p=draw.dirichlet([4, 4, 0.6, 0.3]))})
    y = (draw.random(900) < draw.uniform(0.15, 0.5)).astype(int)
    decisions = np.where(y == 1, draw.random(900) < 0.93, draw.random(900) < 0.35).astype(int)
    audit = Audit(protected="g", detectors=["GroupDisparity"], rule=Rule(relevant_size=0.01))
    answers = audit.fit(X, y, BlackBox(decisions=decisions)).report_
    (verdict,) = (v for v in answers.document["verdicts"] if v["null"] == "marginal")
    result = answers.results["GroupDisparity g"]
    family = result.tables["family"]
    few = family[family[["n", "n_others"]].min(axis=1) < 10]
    assert result.answer.bound in map(rounded_up, few["excluded"])
    assert verdict["bound"] is None
    assert f"{result.answer.bound:g} (" not in verdict["reason"]


def test_no_bound_of_another_measure_is_printed_whose_group_is_not_listed(monkeypatch):
    monkeypatch.setattr(_families, "_MOST_LISTED", 12)
    draw = np.random.default_rng(3)
    X = pd.DataFrame(draw.integers(0, 3, (1500, 5)), columns=list("abcde")).astype(str)
    X["sex"] = draw.choice(["F", "M"], 1500)
    y = (draw.random(1500) < 0.4).astype(int)
    decisions = BlackBox(decisions=(draw.random(1500) < 0.3 + 0.4 * y).astype(int))
    rates = ["selection_rate", "true_positive_rate", "false_positive_rate"]
    audit = Audit(protected="sex", detectors=["DivExplorer"], metric=rates, random_state=0)
    answers = audit.fit(X, y, decisions).report_
    (line,), (result,) = answers.document["log"], answers.results.values()
    (verdict,), (details,) = answers.document["verdicts"], answers.details.values()
    assert len(result.answer.bounds) == 3
    assert line["reason"] == details.reason == verdict["reason"]
    assert f"above {verdict['bound']:g} (95 %)" in line["reason"]


def test_the_results_behind_a_document_count_the_same_groups(audits):
    for report in audits:
        verdicts = {v["null"]: v for v in report.document["verdicts"]}
        details = [r for r in report.details.values() if r.answer is not None]
        assert details
        for result in details:
            assert result.answer.n_family == verdicts[result.null]["answer"]["n_family"]
            assert result.answer.bound == verdicts[result.null]["bound"]
