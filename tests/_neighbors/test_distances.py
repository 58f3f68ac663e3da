"""Distances by name or by a callable; queries change nothing."""

import numpy as np
import pandas as pd
import pytest

from skdisc._neighbors._distances import METRICS, Distances, features_of
from skdisc._neighbors._nearest import compares_pairs
from skdisc._neighbors._neighbor_sums import NeighborSums


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"n": rng.random(40), "c": rng.choice(list("abc"), 40)})


def made(metric, frame):
    is_control = np.arange(len(frame)) % 2 == 0
    return Distances(metric, frame, "range", is_control * 1.0, is_control)


def unlike(a, b):
    return np.abs(a["n"].to_numpy()[:, None] - b["n"].to_numpy())


def test_a_callable_covers_the_rows_of_a_query_without_a_trace(frame):
    at_fit, pool = made(unlike, frame).with_rows(frame)
    sums = NeighborSums(pool, np.ones((40, 1)), metric=at_fit.metric)
    near, far = frame.head(3), frame.head(5).assign(n=9.0)
    (one, points), (other, away) = at_fit.with_rows(near), at_fit.with_rows(far)
    assert sums.using(at_fit.metric) is sums
    assert sums.using(one.metric).distances(points)[0] == pytest.approx(unlike(near, frame)[0])
    assert sums.using(other.metric).distances(away)[4] == pytest.approx(unlike(far, frame)[4])
    assert sums.search.metric == at_fit.metric
    assert len(at_fit.with_rows(near)[1]) == 3
    assert at_fit.with_rows(near)[1].tolist() == points.tolist()


@pytest.mark.parametrize("metric", METRICS)
def test_names_cover_all_rows(frame, metric):
    distances = made(metric, frame)
    same, points = distances.with_rows(frame)
    assert same is distances
    np.testing.assert_array_equal(points, distances.encode(frame))
    sums = NeighborSums(points, np.ones((40, 1)), metric=same.metric, nominal=same.nominal)
    assert sums.distances(points).diagonal() == pytest.approx(0)


def test_ordered_categories_are_ranks():
    level = pd.Categorical(["low", None, "high"], ["low", "high"], ordered=True)
    ranks = features_of(pd.DataFrame({"level": level}), ["level"])["level"]
    assert ranks.tolist()[::2] == [0, 1]
    assert np.isnan(ranks[1])


def test_gower_is_the_mean_over_what_both_rows_know():
    n, c, same = [0.0, 4.0, np.nan, 1.0], ["a", None, "b", "b"], [7.0] * 4
    frame = pd.DataFrame({"n": n, "c": c, "same": same})
    distances, points = made("gower", frame).with_rows(frame)
    found = distances.metric(points, points)
    gaps = {(0, 1): [1.0, 0.0], (0, 2): [1.0, 0.0], (0, 3): [0.25, 1.0, 0.0]}
    gaps |= {(1, 2): [0.0], (1, 3): [0.75, 0.0], (2, 3): [0.0, 0.0]}
    for pair, own in gaps.items():
        assert found[pair] == found[pair[::-1]] == pytest.approx(3 * np.mean(own))


@pytest.mark.parametrize(
    ("metric", "sizes", "n_numbers", "is_slow"),
    [
        ("propensity", [9] * 9, 99, False),
        ("gower", [], 1, True),
        (unlike, [], 1, True),
        ("euclidean", [10, 5], 5, False),
        ("euclidean", [10, 5], 6, True),
        ("hvdm", [10, 50], 18, False),
        ("hvdm", [10, 50], 19, True),
        ("manhattan", [2, 2], 20, False),
    ],
)
def test_which_searches_compare_most_pairs(metric, sizes, n_numbers, is_slow):
    assert compares_pairs(metric, sizes, n_numbers) == is_slow


def test_unlike_categories_are_one_unit_apart():
    frame = pd.DataFrame({"c": list("abca")})
    distances, points = made("euclidean", frame).with_rows(frame)
    found = np.linalg.norm(points[:, None] - points, axis=-1)
    assert found == pytest.approx(1.0 * (frame[["c"]].to_numpy() != frame["c"].to_numpy()))
    assert distances.metric == "euclidean"


def test_categories_are_as_far_apart_as_their_decisions():
    """HVDM: the root of the squared differences of the shares, summed over both decisions."""
    frame = pd.DataFrame({"c": list("aabbbc")})
    unfavorable, is_control = np.array([0, 1, 1, 1, 0, 1.0]), np.ones(6, dtype=bool)
    points = Distances("hvdm", frame, "range", unfavorable, is_control).encode(frame)
    share = np.array([[1 / 2, 1 / 2], [2 / 3, 1 / 3], [1, 0]])[[0, 0, 1, 1, 1, 2]]
    expected = np.linalg.norm(share[:, None] - share, axis=-1)
    assert np.linalg.norm(points[:, None] - points, axis=-1) == pytest.approx(expected)
