"""Shares of decisions among neighbors, compared with a count by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdisc.preprocessing import SituationFeatures


def people(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "x": rng.normal(size=n)})
    return X, (X["x"] + 0.8 * (X["sex"] == "m") + rng.normal(size=n) > 0).astype(int)


def by_hand(X, y, k, sex, x, skip):
    """Return the shares of one person, without the row `skip`."""
    shares = []
    for mine in (X["sex"] == sex, X["sex"] != sex):
        rows = [i for i in np.flatnonzero(mine) if i != skip]
        near = sorted(rows, key=lambda i: abs(X["x"][i] - x))[:k]
        shares.append(np.mean(y[near]))
    return shares


@pytest.mark.parametrize("k", [1, 7])
def test_shares_are_those_counted_by_hand(k):
    X, y = people()
    features = SituationFeatures("sex", n_neighbors=k)
    within = features.fit_transform(X, y)
    new, _ = people(20, seed=1)
    for frame, out, leaves_out in ((X, within, True), (new, features.transform(new), False)):
        for i, (sex, x) in enumerate(zip(frame["sex"], frame["x"], strict=True)):
            own, others = by_hand(X, y, k, sex, x, i if leaves_out else None)
            assert np.allclose(out.iloc[i], [own, others, others - own])


def test_the_own_decision_does_not_describe_itself():
    X, y = people()
    before = SituationFeatures("sex").fit_transform(X, y)
    for i in range(5):
        flipped = y.copy()
        flipped[i] = 1 - flipped[i]
        after = SituationFeatures("sex").fit_transform(X, flipped)
        assert (after.iloc[i] == before.iloc[i]).all()


def test_in_a_pipeline_and_a_search():
    X, y = people(200)
    pipe = make_pipeline(SituationFeatures("sex"), LogisticRegression())
    search = GridSearchCV(pipe, {"situationfeatures__n_neighbors": [3, 30]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5
    names = pipe.fit(X, y)[0].get_feature_names_out().tolist()
    assert names == ["situation_own", "situation_others", "situation_difference"]
    with pytest.raises(ValueError, match="Input X contains NaN"):
        pipe.fit(X.assign(x=np.nan), y)
