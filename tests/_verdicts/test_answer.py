"""One rule for every verdict: what is judged, what the bound covers, and the words for it."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import _stats
from skdisc._verdicts._answer import (
    FOUND,
    NOTHING,
    UNSURE,
    Answer,
    decide,
    family_table,
    rounded_up,
)
from skdisc._verdicts._candidates import Candidates

GAP = 0.1


@st.composite
def questions(draw, least=0):
    """Draw candidates as arrays of x1, n1, x0, n0 and found."""
    n = draw(st.integers(least, 12))
    sizes = st.sampled_from([0, 1, 4, 5, 40, 40, 200, 800, 3000])
    n1, n0 = (np.array([draw(sizes) for _ in range(n)], dtype=int) for _ in range(2))
    x1, x0 = (np.array([draw(st.integers(0, int(m))) for m in ms], dtype=int) for ms in (n1, n0))
    found = np.array([draw(st.booleans()) and draw(st.booleans()) for _ in range(n)], dtype=bool)
    return x1, n1, x0, n0, found


def candidates(x1, n1, x0, n0, found=None, **settings):
    return Candidates.of_rates(x1, n1, x0, n0, found=found, **{"total": 5000, **settings})


def judged_one_by_one(question, a):
    """Clear candidates as the definition says it: one size after the other, until one is open."""
    x1, n1, x0, n0, found = question
    upper = []
    for counts in zip(x1, n1, x0, n0, strict=True):
        low, high = _stats.newcombe(*counts, 2 * a)
        upper.append(max(abs(low), abs(high)) if min(counts[1], counts[3]) >= 5 else np.inf)
    rest = [i for i in range(len(x1)) if n1[i] >= 0.05 * 5000 and not found[i]]
    by_size = {}
    for i in rest:
        by_size.setdefault(n1[i] * n0[i] / max(n1[i] + n0[i], 1), []).append(i)
    cleared = []
    for size in sorted(by_size, reverse=True):
        if any(upper[i] > GAP for i in by_size[size]):
            break
        cleared += by_size[size]
    return sorted(cleared), max((upper[i] for i in rest), default=None)


@given(question=questions())
def test_cleared_and_bound_are_those_of_the_definition(question):
    found = question[-1]
    k = int((found & (question[1] >= 250)).sum())
    answer = decide(candidates(*question), relevant_gap=GAP)
    cleared, bound = judged_one_by_one(question, 0.05 / (k + 2) if k else 0.05)
    assert sorted(answer.cleared) == cleared
    finite = bound is not None and np.isfinite(bound)
    assert (answer.bound is not None) == finite
    if finite:
        assert bound <= answer.bound + 1e-12
        assert answer.bound <= max(bound * 1.1, bound + 1e-9)  # two digits


@given(question=questions())
def test_the_answer_agrees_with_its_parts(question):
    answer = decide(candidates(*question), relevant_gap=GAP)
    found = question[-1]
    assert (answer.verdict == FOUND) == found.any()
    excluded = answer.bound is not None and answer.bound <= GAP
    assert (answer.verdict == NOTHING) == (not found.any() and answer.n_family > 0 and excluded)
    if answer.verdict == NOTHING:
        assert answer.n_cleared == answer.n_family
        assert f"no gap above {answer.bound:g}" in answer.reason
    if answer.verdict == UNSURE:
        assert answer.reason


@given(question=questions())
def test_no_interval_of_a_row_goes_beyond_the_bound(question):
    c = candidates(*question)
    answer = decide(c, relevant_gap=GAP)
    table = family_table(c, answer)
    others = table[table["judged"] & ~table["found"] & np.isfinite(table["upper"])]
    if answer.bound is not None:
        ends = others[["low", "high"]].abs().max(axis=1)
        assert (ends <= answer.bound + 1e-12).all()
        assert np.allclose(ends, others["upper"])
    assert set(table.index[table["cleared"]]) == set(answer.cleared)
    assert (table.loc[~table["judged"], "reason"] == "under 5 %: not judged").all()


@given(question=questions(least=1))
def test_a_candidate_more_never_lowers_the_bound_or_clears_smaller_ones(question):
    whole = decide(candidates(*question[:-1]), relevant_gap=GAP)
    fewer = decide(candidates(*(v[:-1] for v in question[:-1])), relevant_gap=GAP)
    if whole.bound is not None and fewer.bound is not None:
        assert whole.bound >= fewer.bound
    assert set(whole.cleared) - {len(question[0]) - 1} <= set(fewer.cleared)
    if fewer.n_family and fewer.verdict != NOTHING:
        assert whole.verdict != NOTHING


@given(question=questions(), seed=st.integers(0, 99))
def test_outcomes_do_not_change_who_is_judged_nor_the_order(question, seed):
    _, n1, _, n0, _ = question
    rng = np.random.default_rng(seed)
    one, other = (
        candidates(rng.binomial(n1, 0.4), n1, rng.binomial(n0, 0.4), n0) for _ in range(2)
    )
    answers = [decide(c, relevant_gap=GAP) for c in (one, other)]
    assert answers[0].family == answers[1].family
    shorter, longer = sorted((a.cleared for a in answers), key=len)
    assert longer[: len(shorter)] == shorter  # each list is a beginning of the same order


def test_equal_sizes_are_cleared_together_or_not_at_all():
    n = np.array([1000, 400, 600, 400])
    n0 = np.array([1000, 600, 400, 600])  # the last three have one size
    x1, x0 = n // 2, n0 // 2
    assert decide(candidates(x1, n, x0, n0), relevant_gap=GAP).n_cleared == 4
    x1[3] -= 60
    answer = decide(candidates(x1, n, x0, n0), relevant_gap=GAP)
    assert answer.cleared == [0]
    assert answer.resolution == 1000


def test_the_sides_of_one_contrast_have_one_bound():
    """Mirror images differ in the last digit of U: no verdict may turn by that."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n1, n0 = rng.integers(50, 3000, 2)
        x1, x0 = rng.binomial([n1, n0], 0.4)
        sides = candidates([x1, x0], [n1, n0], [x0, x1], [n0, n1], total=None)
        upper = sides.upper(0.05)
        answer = decide(sides, relevant_gap=float(upper.min()))
        assert answer.verdict == NOTHING
        assert sides.comparison[0] == sides.comparison[1]


def test_a_gap_beside_which_there_is_nobody_keeps_the_question_open():
    c = candidates([300, 500], [600, 1000], [2, 500], [4, 1000], name=["nurses", "all"])
    answer = decide(c, relevant_gap=GAP)
    assert (answer.verdict, answer.bound, answer.cleared) == (UNSURE, None, [1])
    assert answer.without_counterparts == ["nurses"]
    assert answer.aside == "1 group has next to nobody to compare with: nurses"
    assert "nurses" not in answer.reason
    assert answer.reason == (
        "no gap above 0.1 in 1 of 2 groups compared of 5 % of these people or more (95 %): those "
        "with 1,000 people on each side or as good as that"
    )
    after = decide(
        candidates(*([v, v] for v in (300, 600, 2, 4)), found=[False, True]), relevant_gap=GAP
    )
    assert after.bound is None
    assert after.n_found == 1


def test_the_ratio_decides_in_marginal_questions_only():
    counts = [[45, 45], [3000, 3000], [55, 55], [3000, 3000]]
    for ratios, verdict in ((False, NOTHING), (True, UNSURE)):
        c = candidates(*counts, ratios=ratios)
        answer = decide(c, relevant_gap=GAP, relevant_ratio=0.8)
        assert (answer.verdict, answer.open_by_ratio) == (verdict, ratios)
    assert "; a ratio of 0.59 is not excluded" in answer.reason
    assert answer.reason.startswith("no gap above 0.0")
    assert decide(c, relevant_gap=GAP, relevant_ratio=0.5).verdict == NOTHING
    assert decide(c, relevant_gap=GAP, relevant_ratio=0).verdict == NOTHING  # any ratio passes


def test_size_is_a_share_of_the_people_under_audit():
    counts = [50, 800], [99, 2000], [50, 800], [1000, 2000]
    assert decide(candidates(*counts, total=1980), relevant_gap=GAP).n_family == 2
    assert decide(candidates(*counts, total=1981), relevant_gap=GAP).n_family == 1
    one = decide(candidates(*counts, total=1981), relevant_gap=GAP, relevant_size=0.01)
    assert one.n_family == 2
    larger_side = candidates(*counts, size=[1000, 2000], total=1981)
    assert decide(larger_side, relevant_gap=GAP).n_family == 2
    assert decide(candidates(*counts, total=1e9), relevant_gap=GAP).verdict == UNSURE


def test_what_is_said_after_a_finding():
    n = np.array([1500, 900, 500, 300])
    x = (n * [0.4, 0.2, 0.4, 0.4]).astype(int)
    c = candidates(x, n, (5 * n * 0.4).astype(int), 5 * n, found=[False, True, False, False])
    answer = decide(c, relevant_gap=GAP)
    assert (answer.level, answer.n_found, answer.verdict) == (0.05 / 3, 1, FOUND)
    assert answer.cleared == [0, 2, 3]
    assert answer.reason == (
        "a gap is found in 1 of the 4 groups compared of 5 % of these people or more; "
        "no gap above 0.067 in the 3 others (95 %)"
    )
    tighter = decide(c, relevant_gap=0.06)
    assert tighter.reason.endswith(
        "no gap above 0.06 in 2 of the 3 others (95 %): those with 833 people on each side or as "
        "good as that; in none of them above 0.067 (95 %)"
    )
    none = decide(c, relevant_gap=0.01)
    assert "of none of the 3 others can it be said that its gap is at most 0.01" in none.reason
    small = candidates(x, n, 2 * x, 5 * n, found=[False, False, False, True], total=8000)
    assert decide(small, relevant_gap=GAP).level == 0.05  # the finding is under 5 %: K is 0


def test_bounds_of_several_measures_have_their_own_limits():
    counts = [[400, 15], [1000, 1000], [400, 15], [1000, 1000]]
    c = candidates(*counts, measure=["a", "b"])
    answer = decide(c, relevant_gap=[0.09, 0.02])
    assert answer.verdict == NOTHING
    assert answer.bounds == {"a": 0.036, "b": 0.0094}
    assert answer.relevant_gap == {"a": 0.09, "b": 0.02}
    assert "no gap above 0.036 (a), 0.0094 (b) in any" in answer.reason
    assert decide(c, relevant_gap=[0.09, 0.009]).verdict == UNSURE


def test_a_reason_comes_first_but_never_before_a_finding():
    c = candidates([40], [1000], [40], [1000])
    answer = decide(c, relevant_gap=GAP, reasons=["the search was cut short."])
    assert (answer.verdict, answer.reason) == (UNSURE, "the search was cut short")
    assert (answer.bound, answer.cleared, answer.curve) == (None, [], [])
    assert decide(c, relevant_gap=GAP, reasons=["x"], is_found=True).verdict == FOUND


def test_a_doubt_leaves_findings_and_takes_every_statement():
    nothing = decide(candidates([400], [1000], [400], [1000]), relevant_gap=GAP)
    doubted = nothing.doubted("Few clusters only.")
    assert (doubted.verdict, doubted.reason, doubted.bound) == (UNSURE, "Few clusters only", None)
    found = candidates([400, 400], [1000, 900], [400, 300], [1000, 900], found=[False, True])
    answer = decide(found, relevant_gap=GAP)
    assert answer.reason
    assert answer.doubted("x").verdict == FOUND
    assert (answer.doubted("x").reason, answer.doubted("x").cleared) == ("", [])


@pytest.mark.parametrize(
    "counts",
    [
        ([], [], [], []),
        ([0], [0], [0], [0]),
        ([3], [3], [0], [0]),
        ([0, 2], [3, 3], [3, 1], [3, 3]),
        ([4000], [4000], [0], [0]),
    ],
)
def test_too_few_people_for_any_answer(counts):
    for gap in (GAP, np.nan):
        answer = decide(candidates(*counts, total=10), relevant_gap=gap, relevant_ratio=0.8)
        assert answer.verdict == UNSURE
        assert answer.reason
        assert "nan" not in answer.reason
        assert "inf" not in answer.reason


@pytest.mark.parametrize("rates", [(0, 0), (1, 1), (0, 1)])
def test_rates_of_zero_and_one(rates):
    n = 2000
    c = candidates([rates[0] * n], [n], [rates[1] * n], [n], ratios=True)
    answer = decide(c, relevant_gap=GAP, relevant_ratio=0.8)
    assert answer.verdict == UNSURE  # equal shares of nothing exclude no ratio
    assert decide(c, relevant_gap=GAP).verdict == (NOTHING if rates[0] == rates[1] else UNSURE)


@given(question=questions())
def test_an_answer_is_json(question):
    answer = decide(candidates(*question, ratios=True), relevant_gap=GAP, relevant_ratio=0.8)
    text = json.dumps(answer.to_dict(), allow_nan=False)
    assert Answer.from_dict(json.loads(text)) == answer


@given(value=st.floats(1e-9, 1e9))
def test_bounds_are_rounded_up(value):
    up = rounded_up(value)
    assert value * (1 - 1e-9) <= up <= value * 1.1
    assert float(f"{up:.1e}") == up


# ---- what the statements promise, by simulation ------------------------------------------------


def towns(rng, n, gaps, share=0.5):
    """Draw counts of women and men in towns of equal size, and in all of them together."""
    people = np.full(len(gaps), n // len(gaps))
    women = rng.binomial(people, share)
    x1, x0 = rng.binomial(women, 0.45 + np.array(gaps)), rng.binomial(people - women, 0.45)
    counts = np.array([x1, women, x0, people - women])
    return np.column_stack([counts.sum(axis=1), counts])


def asked(counts, n, found=None):
    x1, n1, x0, n0 = counts
    size = np.maximum(n1, n0)
    return Candidates.of_rates(x1, n1, x0, n0, size=size, total=n, found=found)


@pytest.mark.statistics
@pytest.mark.parametrize("n", [1500, 3000, 6000])
@pytest.mark.parametrize("gap", [0.1, 0.15])
def test_nothing_is_said_beside_a_gap(n, gap):
    rng, wrong, false_bound, false_list = np.random.default_rng(n), 0, 0, 0
    for _ in range(400):
        answer = decide(asked(towns(rng, n, [-gap, 0, 0, 0, 0, 0]), n), relevant_gap=GAP)
        wrong += answer.verdict == NOTHING
        false_bound += answer.bound < gap
        false_list += 1 in answer.cleared
    limit = 400 * 0.05 + 2 * np.sqrt(400 * 0.05 * 0.95)
    assert max(wrong, false_bound, false_list) <= limit


@pytest.mark.statistics
def test_fair_data_are_cleared_with_enough_people():
    rng = np.random.default_rng(1)
    says = [
        decide(asked(towns(rng, 12_000, [0] * 6), 12_000), relevant_gap=GAP).verdict == NOTHING
        for _ in range(100)
    ]
    assert np.mean(says) > 0.9


@pytest.mark.statistics
@pytest.mark.parametrize("planted", [2, 4])
def test_what_is_said_about_others_after_a_finding(planted):
    """Of towns with gaps of exactly the relevant size, some are found and others are not."""
    rng, n = np.random.default_rng(planted), 8000
    gaps = [GAP if i % 2 else -GAP for i in range(planted)] + [0] * (8 - planted)
    false_list, false_bound, n_found = 0, 0, 0
    for _ in range(600):
        counts = towns(rng, n, gaps)
        p = _stats.adjust(_stats.score_test(*counts)[1], "bh")
        answer = decide(asked(counts, n, found=p <= 0.05), relevant_gap=GAP)
        if answer.verdict != FOUND:
            continue
        n_found += 1
        relevant = set(range(1, planted + 1))
        false_list += bool(relevant & set(answer.cleared))
        false_bound += bool(relevant - set(answer.found)) and answer.bound < GAP
    assert n_found > 300
    assert max(false_list, false_bound) <= 600 * 0.05 + 2 * np.sqrt(600 * 0.05 * 0.95)


def test_the_curve_holds_sizes_fixed_in_advance():
    n1 = np.array([2000, 900, 400, 240])
    c = candidates(n1 * 4 // 10, n1, n1 * 4 // 10, n1, total=5000)
    curve = decide(c, relevant_gap=GAP).curve
    assert [(point["share"], point["n_groups"]) for point in curve] == [
        (0.05, 3),
        (0.1, 2),
        (0.2, 1),
        (0.4, 1),
    ]
    upper = c.upper(0.05 / 4)
    assert [point["bound"] for point in curve] == [rounded_up(upper[i]) for i in (2, 1, 0, 0)]


def test_one_comparison_that_is_open_is_said_in_the_words_of_the_plan():
    """What was asked before, whether a gap above the one that matters exists, is answered after."""
    answer = decide(candidates([120], [300], [135], [300]), relevant_gap=GAP)
    assert answer.verdict == UNSURE
    assert answer.reason == (
        "whether there is a gap above 0.1, the one that matters, is open; none is above "
        f"{answer.bound:g} (95 %)"
    )
