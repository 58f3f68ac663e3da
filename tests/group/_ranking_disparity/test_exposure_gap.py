"""Exposures, gaps and their jackknife by brute force; levels and coverage by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc.group._ranking_disparity._exposure_gap import ExposureGap, Side
from skdisc.group._ranking_disparity._ranked_list import RankedList

KINDS = ["log", "reciprocal", "linear", lambda place: 1.0 * (place <= 3)]
PERSON = st.tuples(st.integers(0, 4), st.sampled_from(["group", "reference", "other"]))


def exposures(scores, kind):
    """Return the exposure of each person, by averaging over all places that a tie may take."""
    n = len(scores)
    place = np.arange(1.0, n + 1)
    known = {"log": 1 / np.log2(1 + place), "reciprocal": 1 / place}
    known["linear"] = (n - place) / max(n - 1, 1)
    worth = known[kind] if isinstance(kind, str) else kind(place)
    worth = worth if kind == "linear" else worth / worth.mean()
    ranked = np.sort(scores)[::-1]
    return np.array([worth[ranked == s].mean() for s in scores])


def gap_of(lists, kind):
    """Return the gap over lists of (score, side)."""
    total = weight = 0.0
    for people in lists:
        e = exposures(np.array([s for s, _ in people], dtype=float), kind) if people else []
        g = [v for v, (_, side) in zip(e, people, strict=True) if side == "group"]
        r = [v for v, (_, side) in zip(e, people, strict=True) if side == "reference"]
        if g and r:
            w = len(g) * len(r) / (len(g) + len(r))
            total, weight = total + w * (np.mean(g) - np.mean(r)), weight + w
    return total / weight if weight else np.nan


def sides_of(lists, kind):
    found = []
    for people in lists:
        ordered = sorted(people, key=lambda p: -p[0])
        score = np.array([s for s, _ in ordered], dtype=float)
        side = np.array([name for _, name in ordered])
        found.append(Side(RankedList.of(score, kind), side == "group", side == "reference"))
    return found


@pytest.mark.parametrize("kind", KINDS, ids=["log", "reciprocal", "linear", "top three"])
@given(st.lists(st.lists(PERSON, min_size=5, max_size=9), min_size=1, max_size=3))
def test_the_gap_and_its_jackknife_are_those_by_hand(kind, lists):
    for people in lists:  # so that someone of each side is left without any one person
        people += [(1, "group"), (2, "group"), (3, "reference"), (0, "reference")]
    gap = ExposureGap(sides_of(lists, kind))
    own = gap_of(lists, kind)
    assert gap.value == pytest.approx(own, abs=1e-9)
    without = [
        gap_of([p[:i] + p[i + 1 :] if other is p else other for other in lists], kind)
        for p in lists
        for i in range(len(p))
    ]
    by_hand = np.sqrt(np.sum(np.square(np.array(without) - own)))
    assert gap.estimate().error == pytest.approx(by_hand, abs=1e-9)


def drawn_gap(rng, n, m, shift, n_lists=1):
    """Return the gap of lists in which the scores of a group are shifted."""
    sides = []
    for _ in range(n_lists):
        inside = np.arange(n) < m
        score = rng.normal(size=n) + shift * inside
        order = np.argsort(-score)
        ranked = RankedList.of(score[order], "log")
        sides.append(Side(ranked, inside[order], ~inside[order]))
    return ExposureGap(sides)


@pytest.mark.statistics
@pytest.mark.parametrize(("n", "m", "n_lists"), [(60, 12, 1), (12, 4, 4), (10, 4, 30)])
def test_levels_and_coverage(n, m, n_lists):
    rng = np.random.default_rng(0)
    truth = np.mean([drawn_gap(rng, n, m, -0.5, n_lists).value for _ in range(1000)])
    covered, found = [], []
    for _ in range(120):
        gap = drawn_gap(rng, n, m, -0.5, n_lists)
        low, high = (gap.permuted(rng) or gap.estimate()).interval(0.05)
        covered.append(low <= truth <= high)
        null = drawn_gap(rng, n, m, 0.0, n_lists)
        found.append((null.permuted(rng) or null.estimate()).p_value <= 0.05)
    assert np.mean(covered) >= 0.9
    assert sum(found) <= 10  # fails with probability .98 where .15 are found


def test_p_value_and_interval_agree():
    rng = np.random.default_rng(0)
    for shift in (0.0, -0.4, -0.8, 1.0):
        for _ in range(10):
            permuted = drawn_gap(rng, 40, 15, shift).permuted(rng)
            low, high = permuted.interval(0.05)
            assert (low > 0 or high < 0) == (permuted.p_value <= 0.05)
