"""Models of fairlearn as candidates."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skdisc.model_selection import AlternativeSearch

pytestmark = pytest.mark.extras("fairlearn")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pandas, in fairlearn
def test_reductions_and_postprocessing_are_candidates():
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient, GridSearch

    rng = np.random.default_rng(0)
    n = 3000
    sex = pd.Series(rng.integers(0, 2, n), name="sex")
    ability = rng.normal(size=n)
    X = pd.DataFrame(
        {"rating": ability - sex + rng.normal(size=n) / 2, "test": ability + rng.normal(size=n)}
    )
    y = (ability + rng.normal(size=n) / 2 > 0).astype(int)
    model = LogisticRegression()
    candidates = {
        "gradient": ExponentiatedGradient(model, DemographicParity(), max_iter=10),
        "grid": GridSearch(model, DemographicParity(), grid_size=5),
        "thresholds": ThresholdOptimizer(estimator=model, predict_method="predict_proba"),
    }
    search = AlternativeSearch(model, candidates, margin=0.05).fit(X, y, sensitive_features=sex)
    results = pd.DataFrame(search.cv_results_).set_index("name")
    assert results["error"].tolist() == [""] * 4
    assert (results["gap"][1:] < results["gap"].iloc[0]).all()
    assert results["reads_protected"].to_dict() == {
        "the present model": False,
        "gradient": False,
        "grid": False,
        "thresholds": True,
    }
    assert search.claim_
    assert len(search.predict(X, sensitive_features=sex)) == n
    again = AlternativeSearch(model, candidates, margin=0.05).fit(X, y, sensitive_features=sex)
    np.testing.assert_array_equal(again.cv_results_["claim_gap"], search.cv_results_["claim_gap"])
