"""Performance subject to a gap, in searches over models and over thresholds."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV

from skdisc.measures import ConstrainedScorer, DisparityScorer


class Share(ClassifierMixin, BaseEstimator):
    """A model that favors all men and a share of the women, each of whom merits it: 10 per sex."""

    def __init__(self, women=10):
        self.women = women

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return ((X["sex"] == "m") | (X["rank"] < self.women)).to_numpy() * 1


X = pd.DataFrame({"sex": np.repeat(["f", "m"], 10), "rank": np.tile(np.arange(10), 2)})
Y = np.r_[[1, 0, 0, 0, 0, 0, 0, 0, 0, 0], np.ones(10, dtype=int)]  # one woman is qualified
ALL = [(np.arange(20), np.arange(20))]


@pytest.mark.parametrize(("gap", "women"), [(1.0, 1), (0.5, 5), (0.2, 8), (0.19, 9), (0, 10)])
def test_the_most_accurate_model_within_the_gap_is_chosen(gap, women):
    """Accuracy falls with each unqualified woman who is favored, and so does the gap."""
    scorer = ConstrainedScorer("accuracy", gap=gap, protected="sex")
    search = GridSearchCV(Share(), {"women": range(11)}, scoring=scorer, cv=ALL).fit(X, Y)
    assert search.best_params_ == {"women": women}
    assert search.best_score_ == (21 - women) / 20
    scores = search.cv_results_["mean_test_score"]
    broken = {w: score for w, score in enumerate(scores) if score < 0}
    assert broken == {w: pytest.approx(-1 - (10 - w) / 10) for w in range(11) if 10 - w > 10 * gap}


@pytest.mark.parametrize("women", [7, 8])
def test_the_four_fifths_rule(women):
    rule = DisparityScorer("impact_ratio", protected="sex", reference="m")
    for settings in ({"measure": rule}, {"measure": "impact_ratio", "protected": "sex"}):
        score = ConstrainedScorer(gap=0.2, **settings)(Share(women).fit(X, Y), X, Y)
        assert score == pytest.approx((21 - women) / 20 if women == 8 else -1.3)


def test_a_search_over_thresholds():
    """The threshold with the greatest recall at a gap of at most .1, of those that there are."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 2000)
    skill = rng.normal(size=2000) + 0.8 * (sex == "m")
    y = np.where(skill + rng.normal(size=2000) > 0, "yes", "no")
    recall = make_scorer(recall_score, pos_label="yes")
    disparity = DisparityScorer(pos_label="yes")
    thresholds = np.arange(0.05, 1, 0.05)
    with config_context(enable_metadata_routing=True):
        search = TunedThresholdClassifierCV(
            LogisticRegression(),
            scoring=ConstrainedScorer(recall, gap=0.1, measure=disparity),
            thresholds=thresholds,
            store_cv_results=True,
            cv=2,
        ).fit(skill[:, None], y, sensitive_features=sex)
    scores = search.cv_results_["scores"]
    assert (scores >= 0).any()
    assert (scores < -1).any()
    chosen = np.where(search.estimator_.predict_proba(skill[:, None])[:, 1] >= 0.5, "yes", "no")
    assert disparity.score(search, skill[:, None], y, sex) > -0.12
    assert disparity.score(_Fixed(chosen), skill[:, None], y, sex) < -0.2


class _Fixed:
    """Decisions that are fixed."""

    def __init__(self, decisions):
        self.decisions = decisions

    def predict(self, X):
        return self.decisions


def test_weights_count_in_both_parts():
    weight = np.where(X["rank"] < 2, 1.0, 1e-9)
    scorer = ConstrainedScorer(gap=0.01, protected="sex")
    model = Share(2).fit(X, Y)
    assert scorer(model, X, Y, sample_weight=weight) == pytest.approx(0.75)
    assert scorer(model, X, Y) == pytest.approx(-1.8)


def test_wording():
    model = Share().fit(X, Y)
    for gap in (-0.1, "5%", True, np.nan):
        with pytest.raises(ValueError, match="gap must be a number of at least 0, got"):
            ConstrainedScorer(gap=gap, protected="sex")(model, X, Y)
    with pytest.raises(ValueError, match=r"is -9\. Scores below -1 cannot be told from those"):
        ConstrainedScorer(lambda estimator, X, y: -9, protected="sex")(model, X, Y)
    with pytest.raises(ValueError, match="measure is a DisparityScorer, which has its own"):
        ConstrainedScorer(protected="sex", measure=DisparityScorer())(model, X, Y)
    own = DisparityScorer(lambda y, p, *, protected: 0.0, sign=1, protected="sex")
    with pytest.raises(ValueError, match="measure must be one of the catalogue"):
        ConstrainedScorer(measure=own)(model, X, Y)
    scorer = ConstrainedScorer(lambda estimator, X, y: 1.0)
    with pytest.raises(ValueError, match="needs a scorer of decisions, such as 'accuracy'"):
        scorer._score_func(Y, Y, sensitive_features=X["sex"])
