"""Matching by hand-made cases, and what must hold for any."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import Predicate, Subgroup
from skdisc._results._findings import CaseFindings
from skdisc.benchmark import Target, match_cases, match_groups

X = pd.DataFrame([(a, b, c) for a in "xy" for b in "pqr" for c in (0, 1)] * 5, columns=list("abc"))
A = Subgroup([Predicate.equals("a", "x"), Predicate.equals("b", "p")])
B = Subgroup([Predicate.equals("a", "y"), Predicate.equals("b", "q")])
TARGETS = [Target(A, -1, frozenset("a"), {}), Target(B, 1, frozenset("a"), {})]


def match(groups, signs):
    return match_groups(groups, signs, TARGETS, X).tolist()


def test_the_truth_itself_is_matched():
    assert match([A, B], [-1, 1]) == [0, 1]


def test_nothing_reported():
    assert match([], []) == []
    assert match_groups([A], [-1], [], X).tolist() == [-1]


def test_a_wrong_sign_is_no_match():
    assert match([A, B], [1, 1]) == [-1, 1]
    assert match([A], [0]) == [-1]


def test_a_duplicate_counts_once():
    assert sorted(match([A, A], [-1, -1])) == [-1, 0]


def test_the_better_of_two_is_matched():
    rough = Subgroup([Predicate.equals("b", "p")])
    assert match([rough, A], [-1, -1]) == [-1, 0]


def test_partial_overlap_matches_from_one_half_on():
    """A with one value more: a third of its members fewer, ... conditions 1 of 3."""
    wider = Subgroup([Predicate.equals("a", "x"), Predicate.isin("b", ["p", "q"])])
    assert match([wider], [-1]) == [-1]  # members 1/2, conditions 1/3
    narrower = A & Predicate.equals("c", 0)
    assert match([narrower], [-1]) == [0]  # members 1/2, conditions 2/3


def test_the_same_members_in_other_words_match():
    words = Subgroup([Predicate.equals("a", "x"), Predicate.isin("b", ["p"])])
    assert match([words], [-1]) == [0]


def test_everything_reported_matches_each_target_once():
    groups = [
        Subgroup([Predicate.equals("a", a), Predicate.equals("b", b)]) for a in "xy" for b in "pqr"
    ]
    for sign in (-1, 1):
        matched = match(groups, [sign] * 6)  # one target, and the mirror image of the other
        assert sorted(m for m in matched if m >= 0) == [0, 1]


@given(order=st.permutations(range(5)), signs=st.lists(st.sampled_from([-1, 1]), min_size=5))
def test_order_changes_nothing(order, signs):
    groups = [
        A,
        B,
        A & Predicate.equals("c", 0),
        Subgroup([Predicate.equals("b", "p")]),
        Subgroup(),
    ]
    signs = signs[:5]
    known = {m for m in match(groups, signs) if m >= 0}
    again = match([groups[i] for i in order], [signs[i] for i in order])
    assert {m for m in again if m >= 0} == known


def test_the_others_in_the_same_context_are_the_mirror_image():
    """With three values a mirror image takes both others; one of them alone is another group."""
    three = pd.DataFrame([(a, b) for a in "xyz" for b in "pq"] * 5, columns=["a", "b"])
    context = Predicate.equals("b", "p")
    target = [Target(Subgroup([Predicate.equals("a", "x"), context]), -1, frozenset("a"), {})]
    both, one = (Subgroup([Predicate.isin("a", v), context]) for v in ("yz", "y"))
    for group, sign, expected in ((both, 1, 0), (both, -1, -1), (one, 1, -1), (one, -1, -1)):
        assert match_groups([group], [sign], target, three).tolist() == [expected]
    other = Subgroup([Predicate.isin("a", "yz"), Predicate.equals("b", "q")])
    assert match_groups([other], [1], target, three).tolist() == [-1]
    found = match_groups([both, target[0].subgroup], [1, -1], target, three)
    assert sorted(found) == [-1, 0]  # one target, told twice


def test_groups_that_cannot_be_told_apart_match_what_they_name():
    elsewhere = Subgroup([Predicate.equals("c", 0)])
    named = pd.DataFrame({"finding": [1, 1], "group": [B, Subgroup()]})
    found = match_groups([elsewhere, elsewhere], [1, 1], TARGETS, X, alternatives=named)
    assert found.tolist() == [-1, 1]
    wrong = match_groups([elsewhere, elsewhere], [1, -1], TARGETS, X, alternatives=named)
    assert wrong.tolist() == [-1, -1]


def cases(rows, outcomes):
    before, after = (pd.DataFrame([r[k] for r in rows], columns=list("abc")) for k in (0, 1))
    low, high = zip(*outcomes, strict=True)
    return CaseFindings(before, after, low, high)


@pytest.mark.parametrize(
    ("before", "after", "outcomes", "target"),
    [
        (("x", "p", 0), ("y", "p", 0), (0, 1), 0),  # the member is worse off, as planted
        (("y", "p", 0), ("x", "p", 0), (1, 0), 0),  # the same case, told from the other side
        (("x", "p", 0), ("y", "p", 0), (1, 0), -1),  # better off: not what was planted
        (("x", "p", 0), ("x", "q", 0), (0, 1), -1),  # the protected column is not changed
        (("x", "q", 0), ("y", "q", 0), (0, 1), 1),  # the counterpart is the favored member of B
        (("x", "r", 0), ("y", "r", 0), (0, 1), -1),  # nobody planted here
    ],
)
def test_cases(before, after, outcomes, target):
    assert match_cases(cases([(before, after)], [outcomes]), TARGETS).tolist() == [target]


def test_no_cases():
    assert match_cases(CaseFindings(X[:0], X[:0], [], []), TARGETS).size == 0


def test_missing_values_that_stay_missing_do_not_count_as_changed():
    before = pd.DataFrame({"a": [None], "b": ["p"], "c": [0]})
    targets = [Target(Subgroup([Predicate.is_missing("a")]), -1, frozenset("a"), {})]
    found = CaseFindings(before, before, [0.0], [1.0])
    assert match_cases(found, targets).tolist() == [-1]
    changed = CaseFindings(before, before.assign(a="x"), [0.0], [1.0])
    assert match_cases(changed, targets).tolist() == [0]
