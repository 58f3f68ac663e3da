"""A column goes if it tells the protected group and moves decisions, not if it does one of both."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdisc.preprocessing import ProxySelector
from skdisc.preprocessing._proxy_selector import _association


def people(n=800):
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, n)
    used, idle = (np.where(rng.random(n) < 0.9, sex, 1 - sex) for _ in range(2))
    X = pd.DataFrame({"sex": sex, "used": used, "idle": idle, "skill": rng.normal(size=n)})
    return X, (X["skill"] + 2 * X["used"] > 1).astype(int)


def test_only_a_used_proxy_is_dropped():
    X, y = people()
    selector = ProxySelector("sex", random_state=0).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["sex", "idle", "skill"]
    assert list(selector.transform(X)) == ["sex", "idle", "skill"]
    assert selector.association_[0] == pytest.approx(1)
    assert ProxySelector("sex", association=1.0).fit(X, y).get_support().all()


def test_the_association_is_that_of_the_paper():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 500)
    b = np.where(rng.random(500) < 0.5, a, rng.integers(0, 4, 500))
    joint = pd.crosstab(a, b).to_numpy() / 500

    def entropy(p):
        return -(p[p > 0] * np.log(p[p > 0])).sum()

    both, of_a, of_b = entropy(joint), entropy(joint.sum(1)), entropy(joint.sum(0))
    assert _association(a, b) == pytest.approx(1 - (both - of_b + both - of_a) / both)
    assert _association(a, np.zeros(500)) == 0
    assert _association(np.zeros(5), np.zeros(5)) == 0


@pytest.mark.slow
def test_in_a_pipeline_and_a_search():
    X, y = people()
    pipe = make_pipeline(ProxySelector("sex", random_state=0), LogisticRegression())
    search = GridSearchCV(pipe, {"proxyselector__influence": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"proxyselector__influence": 1.0}  # accuracy keeps the proxy
