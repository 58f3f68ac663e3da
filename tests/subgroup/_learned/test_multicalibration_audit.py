"""MulticalibrationAudit: errors at equal scores."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

from skdisc.subgroup import MulticalibrationAudit


def scored(rng, n):
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "score": rng.random(n)})
    X["sex"] = np.where(rng.random(n) < 0.2 + 0.6 * X["score"], "f", "m")
    return X


def score(X):
    return X["score"].to_numpy()


@pytest.mark.statistics
@pytest.mark.parametrize("curve", [lambda s: s, lambda s: s**3], ids=["calibrated", "for no one"])
def test_a_score_that_errs_for_all_alike_is_seldom_a_finding(curve):
    n_worlds, found = 15, 0  # rejected with probability .94 where half are found
    for seed in range(n_worlds):
        rng = np.random.default_rng(seed)
        X = scored(rng, 800)
        y = (rng.random(len(X)) < curve(X["score"])).astype(int)
        audit = MulticalibrationAudit(protected="sex", witness="linear", random_state=seed)
        found += audit.fit(X, y, score).result_.verdict == "disparity found"
    assert found <= stats.binom.ppf(0.999, n_worlds, 0.05)


@pytest.mark.slow
def test_the_bin_in_which_a_score_means_less_is_found():
    rng = np.random.default_rng(0)
    X = scored(rng, 6000)
    high = (X["score"] > 0.8) & (X["sex"] == "f")
    y = (rng.random(len(X)) < X["score"] - 0.3 * high).astype(int)
    audit = MulticalibrationAudit(protected="sex", random_state=0).fit(X, y, score)
    result, tests = audit.result_, audit.result_.tables["witness"]
    assert result.verdict == "disparity found"
    assert list(tests["p_adjusted"] < 0.05) == [True, False, False, False, True]
    assert set(result.findings.table["part"]) == {tests["part"].iloc[-1]}
    again = audit.audit(X, y)
    assert again.verdict == "disparity found"
    assert len(again) == len(result)


@pytest.mark.slow
def test_bins_are_corrected_as_independent_tests():
    rng = np.random.default_rng(1)
    X = scored(rng, 2000)
    y = (rng.random(len(X)) < X["score"]).astype(int)
    audit = MulticalibrationAudit(protected="sex", n_score_bins=5, random_state=0)
    tests = audit.fit(X, y, score).result_.tables["witness"]
    everyone, bins = tests.iloc[0], tests.iloc[1:]
    assert (len(bins), bins["n"].sum(), everyone["n"]) == (5, 1000, 1000)
    assert everyone["p_adjusted"] == everyone["p_value"]
    one_of_five = 1 - (1 - bins["p_value"]) ** 5
    assert bins["p_adjusted"].to_numpy() == pytest.approx(
        np.maximum(one_of_five, everyone["p_value"])
    )


def test_without_labels_there_is_no_calibration():
    X = scored(np.random.default_rng(2), 200)
    result = MulticalibrationAudit(protected="sex").fit(X, model=score).result_
    assert (result.verdict, result.reason) == (
        "insufficient evidence",
        "no labels y were given to compare scores with",
    )


class Sure(ClassifierMixin, BaseEstimator):
    """A model whose scores are 0 and 1."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.column_stack([1 - X["yes"], X["yes"]])

    def predict(self, X):
        return X["yes"].to_numpy()


def test_a_part_of_scores_that_nobody_has_is_no_obstacle():
    """Of 0 and 1, by halves, the median is .5: no score lies between the first two edges."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 80), "yes": rng.permutation([0, 1] * 40)})
    audit = MulticalibrationAudit(protected=["sex"], random_state=0)
    result = audit.fit(X, rng.integers(0, 2, 80), Sure()).result_
    assert result.verdict == "insufficient evidence"
