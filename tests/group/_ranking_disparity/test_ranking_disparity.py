"""RankingDisparity: what it finds, what it must not, and how lists and models are given."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from skdisc.datasets import make_ranking_discrimination
from skdisc.group import RankingDisparity


def queue(n_lists=1, gap=0.0, n=30, seed=0):
    """Return rows with a list and a sex, and scores lower by `gap` for women."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"list": np.repeat(np.arange(n_lists), n)})
    X["sex"] = rng.choice(["f", "m"], len(X))
    X["points"] = rng.normal(size=len(X)) - gap * (X["sex"] == "f")
    return X, X["points"].to_numpy() + 10 * rng.normal(size=n_lists)[X["list"]]


def audit(X, y, **more):
    settings = {"protected": "sex", "random_state": 0} | more
    return RankingDisparity(**settings).fit(X, y).result_


@pytest.mark.parametrize("n_lists", [5, 40])
def test_lists_are_ranked_apart(n_lists):
    X, y = queue(n_lists, gap=1.0)
    result = audit(X, y, query="list", reference={"sex": "m"})
    assert result.verdict == "disparity found"
    assert result[0].effect < -0.1
    assert result.to_frame()["ratio"].item() < 1
    moved = audit(X, y + 100 * X["list"], query="list", reference={"sex": "m"})
    assert moved == result  # only the order within lists counts
    shuffled = np.random.default_rng(1).permutation(len(X))
    assert audit(X.iloc[shuffled], y[shuffled], query="list", reference={"sex": "m"}) == result


def test_a_column_of_lists_that_have_one_group_each_says_nothing():
    X, y = queue(10)
    X["sex"] = np.where(X["list"] % 2, "f", "m")
    result = audit(X, y + 5 * X["list"] % 2, query="list")
    assert result.verdict == "insufficient evidence"
    assert "no list has people of both sides" in result.reason


def test_of_the_top_only_prefixes_speak():
    sex = np.append(np.repeat(["m", "f"], 10), np.tile(["f", "m"], 190))
    result = audit(pd.DataFrame({"sex": sex}), -np.arange(400), exposure="linear")
    found = result.to_frame().iloc[0]
    assert result.verdict != "disparity found"
    assert found["p_prefix"] < 0.05
    assert (found["prefix"], len(result.tables["prefixes"])) == (10, 399)
    assert len(audit(pd.DataFrame({"sex": sex}), -np.arange(400), depth=5).tables["prefixes"]) == 5


@pytest.mark.parametrize("discrimination", [0.0, 0.6])
def test_queues_of_the_generator(discrimination):
    made = make_ranking_discrimination(400, discrimination=discrimination, random_state=0)
    result = audit(made.data, -made.place, protected="group")
    assert (result.verdict == "disparity found") == (discrimination > 0)


def test_two_labels_are_two_places():
    X, y = queue(gap=1.0, n=300)
    labels = (y > 0).astype(int)
    by_label = audit(X, labels, exposure="linear", reference={"sex": "m"})
    gap = labels[X["sex"] == "f"].mean() - labels[X["sex"] == "m"].mean()
    assert by_label[0].effect == pytest.approx(gap / 2 * 300 / 299)
    words = audit(X, np.where(labels, "yes", "no"), pos_label="yes", exposure="linear")
    assert words[0].effect == pytest.approx(audit(X, labels, exposure="linear")[0].effect)


@pytest.mark.parametrize(
    ("model", "output"),
    [
        (LogisticRegression(), "probability"),
        (LinearSVC(), "decision"),
        (RandomForestRegressor(5), "value"),
    ],
)
def test_models_are_asked_for_what_they_have(model, output):
    X, y = queue(gap=1.0, n=200)
    numbers = pd.DataFrame({"woman": (X["sex"] == "f").astype(int), "points": X["points"]})
    model.fit(numbers, (y > np.median(y)).astype(int) if output != "value" else y)
    result = RankingDisparity(protected="woman", random_state=0).fit(numbers, model=model).result_
    asked = RankingDisparity(protected="woman", random_state=0, output=output)
    assert asked.fit(numbers, model=model).result_.to_frame().equals(result.to_frame())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"query": "sex"}, "is a protected column"),
        ({"query": "lists"}, "is not a column of X"),
        ({"exposure": lambda place: place * 0}, "positive mean"),
        ({"exposure": "dcg"}, "exposure"),
    ],
)
def test_what_cannot_be_is_said(more, said):
    X, y = queue()
    with pytest.raises(ValueError, match=said):
        audit(X, y, **more)


def test_rows_in_no_list_are_refused():
    X, y = queue(3)
    X["list"] = X["list"].where(X["list"] > 0)
    with pytest.raises(ValueError, match="30 rows are in no list"):
        audit(X, y, query="list")


def test_new_rows_are_compared_in_the_direction_of_fit():
    X, y = queue(gap=1.0, n=400)
    detector = RankingDisparity(protected="sex", random_state=0).fit(X, y)
    other = queue(gap=1.0, n=400, seed=1)
    assert detector.audit(*other).verdict == "disparity found"
    assert detector.score(*other) > 0.1
    assert detector.audit(*queue(gap=-1.0, n=200, seed=1)).verdict != "disparity found"
