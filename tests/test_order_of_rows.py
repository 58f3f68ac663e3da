"""Rows are matched by position: an index in another order is refused, wherever rows are passed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skdisc import Audit, BlackBox, Predicate
from skdisc.datasets import plant_bias
from skdisc.exceptions import ModelError
from skdisc.group import GroupDisparity
from skdisc.individual import CounterfactualFairness
from skdisc.model_selection import PlantedTruth
from skdisc.multiclass import OneVsRest
from skdisc.preprocessing import ProxySelector, SituationFeatures
from skdisc.repair import repair_report

rng = np.random.default_rng(0)
X = pd.DataFrame({"sex": rng.integers(0, 2, 400), "age": rng.integers(20, 60, 400)})
Y = pd.Series((rng.random(400) < 0.7 - 0.3 * X["sex"]).astype(int))
JOBS = pd.Series(rng.choice(["desk", "field", "abroad"], 400))
ONES = pd.Series(np.ones(400))


def turned(values):
    return values[::-1]


def rule(rows):
    return (np.asarray(rows)[:, 1] > 40).astype(int)


def audit(**more):
    how = {"protected": "sex", "detectors": ["GroupDisparity"]} | more
    return Audit(**how)


def fairness(**more):
    how = {"protected": "sex", "n_resamples": 0, "counterfactuals": turned(flipped())} | more
    return CounterfactualFairness(**how)


def flipped():
    return X.assign(sex=1 - X["sex"])


WORLDS = {"detectors": ["CounterfactualFairness"], "counterfactuals": (turned(flipped()), Y)}
PAIR = (flipped(), turned(Y))
CALLS = {
    "y of Audit": lambda: audit().fit(X, turned(Y)),
    "sample_weight of Audit": lambda: audit().fit(X, Y, sample_weight=turned(ONES)),
    "groups of Audit": lambda: audit().fit(X, Y, groups=turned(ONES)),
    "frequencies of Audit": lambda: audit(weights="frequency").fit(
        X, Y, sample_weight=turned(ONES.astype(int))
    ),
    "y of Audit.audit": lambda: audit().fit(X, Y).audit(X, turned(Y)),
    "y of Audit.score": lambda: audit().fit(X, Y).score(X, turned(Y)),
    "y of Audit.robustness": lambda: audit().robustness(X, turned(Y)),
    "counterfactuals of Audit": lambda: audit(**WORLDS).fit(X, Y, rule),
    "y of OneVsRest(Audit)": lambda: OneVsRest(audit()).fit(X, turned(JOBS)),
    "y of OneVsRest": lambda: OneVsRest(GroupDisparity(protected="sex")).fit(X, turned(JOBS)),
    "y of ProxySelector": lambda: ProxySelector(protected="sex").fit(X, turned(Y)),
    "y of SituationFeatures": lambda: SituationFeatures(protected="sex").fit(X, turned(Y)),
    "counterfactuals": lambda: fairness().fit(X, Y, rule),
    "decisions about counterfactuals": lambda: fairness(counterfactuals=PAIR).fit(X, Y),
    "worlds": lambda: fairness(counterfactuals=None, worlds={"w": turned(flipped())}).fit(
        X, Y, rule
    ),
    "y of repair_report": lambda: repair_report(
        rule, rule, X, turned(Y), protected="sex", pos_label=1
    ),
    "y of plant_bias": lambda: plant_bias(X, turned(Y), Predicate.equals("sex", 1), 0.2),
    "y of PlantedTruth": lambda: PlantedTruth().plant(X, turned(Y), "sex"),
    "y of BlackBox.trained": lambda: BlackBox.trained(LogisticRegression(), X, turned(Y)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_index_in_another_order_is_refused(call):
    with pytest.raises(ValueError, match="has the index of X in another order"):
        call()


def test_rows_in_one_other_order_are_taken():
    """All in the same order, whose index is not that of the rows counted from 0."""
    report = audit().fit(X, Y).report_
    again = audit().fit(turned(X), turned(Y)).report_
    assert again.to_frame("groups").equals(report.to_frame("groups"))
    pair = turned(flipped()), turned(Y)
    worlds = audit(detectors=["CounterfactualFairness"], counterfactuals=pair)
    assert len(worlds.fit(turned(X), turned(Y), rule).report_.results) == 1


def test_an_index_of_several_levels_says_nothing_about_order():
    levels = pd.MultiIndex.from_product([range(20), range(20)])
    report = audit().fit(X, Y).report_
    assert audit().fit(X, Y.set_axis(levels)).report_.verdict == report.verdict
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        audit().fit(X.set_axis(levels), turned(Y.set_axis(levels)))


def test_answers_of_a_model_in_another_order_are_refused():
    """As of a rule that goes through the rows group by group."""

    def by_sex(rows):
        return pd.concat([group["age"] > 40 for _, group in rows.groupby("sex")])

    detector = GroupDisparity(protected="sex")
    message = "function returned a Series with the index of the rows in another order"
    with pytest.raises(ModelError, match=message):
        detector.fit(X, Y, by_sex)
    expected = detector.fit(X, Y, rule).result_
    assert detector.fit(X, Y, lambda rows: by_sex(rows).loc[rows.index]).result_ == expected
    assert (
        detector.fit(turned(X), turned(Y), lambda rows: pd.Series(rule(rows))).result_ == expected
    )
