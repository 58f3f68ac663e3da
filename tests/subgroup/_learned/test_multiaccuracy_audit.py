"""MultiaccuracyAudit: what it finds, and its level in worlds where its null holds."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsRegressor

from skdisc import BlackBox
from skdisc._space._subgroup import Predicate
from skdisc.subgroup import MultiaccuracyAudit


def people(rng, n):
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "edu": rng.choice(["low", "mid", "high"], n),
            "points": rng.normal(size=n),
        }
    )


def coin(rng, n):
    return people(rng, n), np.full(n, 0.5)


def proxy(rng, n):
    """The outcome and the share of women are curves of the same column."""
    X = people(rng, n)
    X["sex"] = np.where(rng.random(n) < 1 / (1 + np.exp(-1.5 * X["points"])), "f", "m")
    return X, 1 / (1 + np.exp(-(X["points"] ** 2 - 1 + np.sin(3 * X["points"]))))


def interaction(rng, n):
    """Both depend on the same interaction of columns."""
    X = people(rng, n)
    both = (X["points"] > 0) == (X["edu"] == "high")
    X["sex"] = np.where(rng.random(n) < np.where(both, 0.8, 0.2), "f", "m")
    return X, np.where(both, 0.7, 0.3)


def draw(rng, p):
    return (rng.random(len(p)) < p).astype(int)


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("world", "witness"),
    [(coin, "linear"), (proxy, "boosting"), (interaction, "boosting")],
)
def test_the_null_is_seldom_rejected(world, witness):
    n_worlds, p_values = 15, []  # fails with probability .94 where half are rejected
    for seed in range(n_worlds):
        rng = np.random.default_rng(seed)
        X, p = world(rng, 600)
        audit = MultiaccuracyAudit(protected="sex", witness=witness, random_state=seed)
        tests = audit.fit(X, draw(rng, p)).result_.tables["witness"]
        p_values.append(tests["p_adjusted"].iloc[0])
    rejected = int(np.sum(np.array(p_values) <= 0.05))
    assert rejected <= stats.binom.ppf(0.999, n_worlds, 0.05)


@pytest.mark.slow
def test_a_group_whose_scores_are_too_low_is_put_into_words():
    rng = np.random.default_rng(0)
    X = people(rng, 6000)
    score = 1 / (1 + np.exp(-X["points"].to_numpy()))
    low = ((X["sex"] == "f") & (X["edu"] == "low")).to_numpy()
    y = draw(rng, np.clip(score + 0.25 * low, 0, 1))
    model = BlackBox(lambda A: 1 / (1 + np.exp(-A["points"].to_numpy())))
    audit = MultiaccuracyAudit(protected="sex", random_state=0).fit(X, y, model)
    result = audit.result_
    assert result.verdict == "disparity found"
    row = result.findings.table.iloc[0]
    assert result[0].subject == Predicate.equals("sex", "f") & Predicate.equals("edu", "low")
    assert row["ci_low"] < row["effect"] < row["ci_high"] < 0
    assert row["kept"] > 0.8
    assert audit.audit(X, y).verdict == "disparity found"


@pytest.mark.slow
def test_errors_that_all_share_are_a_matter_of_accuracy_alone():
    rng = np.random.default_rng(1)
    X = people(rng, 3000)
    y = draw(rng, np.where(X["edu"] == "low", 0.8, 0.4))
    model = BlackBox(lambda A: np.full(len(A), 0.5))
    raw = MultiaccuracyAudit(protected="sex", versus="everyone", random_state=0)
    assert raw.fit(X, y, model).result_.verdict == "differs from everyone"
    audit = MultiaccuracyAudit(protected="sex", random_state=0).fit(X, y, model)
    assert audit.result_.verdict != "disparity found"
    assert (raw.null, audit.null) == ("everyone", "conditional")


@pytest.mark.slow
def test_any_regressor_is_a_witness():
    rng = np.random.default_rng(2)
    X = people(rng, 3000)
    y = draw(rng, np.where(X["sex"] == "f", 0.3, 0.6))
    audit = MultiaccuracyAudit(protected="sex", witness=KNeighborsRegressor(30), random_state=0)
    result = audit.fit(X, y).result_
    assert result.verdict == "disparity found"
    assert any("KNeighborsRegressor" in note for note in result.notes)


class Constant:
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def get_params(self, deep=True):
        return {}


class Broken(Constant):
    def predict(self, X):
        raise RuntimeError("no numbers here")


@pytest.mark.slow
def test_a_witness_that_learns_nothing_is_no_evidence():
    X = people(np.random.default_rng(3), 400)
    y = draw(np.random.default_rng(4), np.full(400, 0.5))
    result = MultiaccuracyAudit(protected="sex", witness=Constant()).fit(X, y).result_
    assert result.verdict == "insufficient evidence"
    with pytest.raises(ValueError, match=r"witness=Broken failed.*no numbers here"):
        MultiaccuracyAudit(protected="sex", witness=Broken()).fit(X, y)


def test_errors_need_a_model_and_labels():
    X = people(np.random.default_rng(5), 100)
    with pytest.raises(ValueError, match="residual='error' is probabilities minus labels"):
        MultiaccuracyAudit(protected="sex", residual="error").fit(X, np.arange(100) % 2)
    with pytest.raises(ValueError, match=r"needs protected="):
        MultiaccuracyAudit().fit(X, np.arange(100) % 2)


@pytest.mark.slow
def test_people_of_rare_groups_are_left_out_and_said():
    rng = np.random.default_rng(6)
    X = people(rng, 500)
    X.loc[:4, "sex"] = "x"
    result = MultiaccuracyAudit(protected="sex", random_state=0).fit(X, np.arange(500) % 2).result_
    assert any("5 of 500 rows were left out" in note for note in result.notes)
    few = MultiaccuracyAudit(protected="sex").fit(X.iloc[:20], np.arange(20) % 2).result_
    assert few.verdict == "insufficient evidence"
