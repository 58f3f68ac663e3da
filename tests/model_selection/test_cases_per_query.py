"""cases_per_query: the ratio of a run on the rows of the fold, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from skdisc import BlackBox, Limits
from skdisc.individual import KOSEI
from skdisc.model_selection import cases_per_query
from skdisc.subgroup import DivExplorer


@pytest.fixture(scope="module")
def audited():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 6, (400, 3)), columns=["sex", "a", "b"])
    y = (X["a"] + X["b"] + (X["sex"] > 2) > 6).astype(int)
    return X, y, DecisionTreeClassifier(random_state=0).fit(X, y)


def test_it_is_the_ratio_of_a_run_on_these_rows(audited):
    X, y, model = audited
    search = KOSEI(protected="sex", limits=Limits(tests=100), random_state=0)
    fitted = search.fit(X.head(200), y.head(200), model)
    rest = X.tail(200), y.tail(200)
    again = (
        KOSEI(protected="sex", limits=Limits(tests=100), random_state=0).fit(*rest, model).result_
    )
    assert again.n_found > 0
    assert cases_per_query(fitted, *rest) == again.n_found / again.n_queries


def test_it_scores_searches_over_settings(audited):
    X, y, model = audited
    search = KOSEI(protected="sex", limits=Limits(tests=60), random_state=0)
    tuned = GridSearchCV(search, {"n_seeds": [1, 60]}, scoring=cases_per_query, cv=2)
    scores = tuned.fit(X, y, model=BlackBox(model)).cv_results_["mean_test_score"]
    assert scores[1] > scores[0]
    assert tuned.best_params_ == {"n_seeds": 60}


def test_groups_and_unfitted_searches_are_refused(audited):
    X, y, _ = audited
    for detector in (DivExplorer(protected="sex").fit(X, y), KOSEI(protected="sex")):
        with pytest.raises(TypeError, match="find cases by queries to a model"):
            cases_per_query(detector, X, y)
