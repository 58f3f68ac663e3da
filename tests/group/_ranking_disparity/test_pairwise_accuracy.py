"""Pairwise accuracy: all pairs by hand, errors by leaving out, and coverage."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score

from skdisc import Predicate
from skdisc.group import RankingDisparity
from skdisc.group._pairwise._group_pairs import GroupPair
from skdisc.group._ranking_disparity._pairwise_accuracy import pairwise_accuracy
from skdisc.group._ranking_disparity._ranking_people import RankingPeople

people = st.tuples(st.integers(0, 4), st.integers(0, 2), st.booleans(), st.booleans())


def found(score, lists, group, relevant):
    X = pd.DataFrame({"group": np.where(group, "b", "a"), "list": lists})
    pair = GroupPair(Predicate.equals("group", "b"), None)
    rows = RankingPeople.of(pair, X, score.astype(float), X["list"], "log", relevant)
    return pairwise_accuracy(rows.sides, rows.relevant)


def by_hand(score, lists, side, relevant):
    """Return the share of ordered pairs of relevant people of a side and others, ties as half."""
    right = [
        np.sign(score[i] - score[j]) / 2 + 0.5
        for i in np.flatnonzero(side & relevant)
        for j in np.flatnonzero(~relevant & (lists == lists[i]))
    ]
    return np.mean(right) if right else np.nan


@settings(deadline=None, max_examples=60)
@given(rows=st.lists(people, min_size=4, max_size=25))
def test_accuracies_are_those_of_all_pairs(rows):
    score, lists, group, relevant = (np.array(c) for c in zip(*rows, strict=True))
    own = found(score, lists, group, relevant)
    wanted = [by_hand(score, lists, side, relevant) for side in (group, ~group)]
    assert (own is None) == bool(np.isnan(wanted).any())
    assume(own is not None)
    assert [own[n].value for n in ("group", "reference")] == pytest.approx(wanted)
    assert own["gap"].value == pytest.approx(wanted[0] - wanted[1])


def drawn(seed, n=300, n_lists=1, gap=0.0):
    rng = np.random.default_rng(seed)
    lists, group = np.repeat(np.arange(n_lists), n // n_lists), rng.random(n) < 0.4
    relevant = rng.random(n) < 0.3 + 0.2 * group
    score = rng.normal(size=n) + relevant * (1.2 - gap * group)
    return score + 5 * rng.normal(size=n_lists)[lists], lists, group, relevant


def test_errors_are_those_of_leaving_out_each_person():
    given = drawn(0, 120)
    own = found(*given)
    gaps = []
    for i in range(120):
        rest = [np.delete(column, i) for column in given]
        gaps.append(found(*rest)["gap"].value)
    jackknife = np.sqrt(119 / 120 * np.sum((np.array(gaps) - np.mean(gaps)) ** 2))
    assert own["gap"].error == pytest.approx(jackknife, rel=0.05)


def test_one_list_has_the_area_under_the_curve():
    score, lists, group, relevant = drawn(1)
    everyone = found(score, lists, np.ones(300, bool) & relevant, relevant)
    assert everyone is None  # no relevant people of the reference
    own = found(score, lists, group, relevant)
    part = group | ~relevant
    assert own["group"].value == pytest.approx(roc_auc_score(relevant[part], score[part]))


@pytest.mark.statistics
@pytest.mark.parametrize("n_lists", [1, 30])
def test_intervals_cover(n_lists):
    truth = stats.norm.cdf(0.7 / np.sqrt(2)) - stats.norm.cdf(1.2 / np.sqrt(2))
    inside = 0
    for seed in range(200):
        low, high = found(*drawn(seed, n_lists=n_lists, gap=0.5))["gap"].interval(0.05)
        inside += low <= truth <= high
    assert 0.91 <= inside / 200 <= 0.99


class Scorer(ClassifierMixin, BaseEstimator):
    """Ranks people by the column "score"."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        p = expit(X["score"].to_numpy())
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return (X["score"].to_numpy() > 0).astype(int)


def test_it_stands_beside_exposure_where_a_model_ranks_people_with_labels():
    score, _, group, relevant = drawn(2, gap=1.2)
    X = pd.DataFrame({"sex": np.where(group, "f", "m"), "score": score})
    y, box = relevant.astype(int), Scorer()
    detector = RankingDisparity(protected="sex", reference={"sex": "m"}, random_state=0)
    result = detector.fit(X, y, box).result_
    table = result.tables["accuracy"].set_index("part")
    assert table.loc["gap", "p_value"] < 0.05
    assert table.loc["gap", "estimate"] == pytest.approx(found(*drawn(2, gap=1.2))["gap"].value)
    assert result.to_frame()["accuracy_gap"].item() == table.loc["gap", "estimate"]
    assert "accuracy" not in detector.fit(X, score).result_.tables
