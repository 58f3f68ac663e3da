"""With few clusters, variances between them are too uncertain to exclude a gap."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, all_detectors
from skdisc.group import GroupDisparity

UNSURE, NOTHING = "insufficient evidence", "no disparity found"
CLUSTERED = {
    name: detector
    for name, detector in all_detectors().items()
    if "groups" in signature(detector.fit).parameters
}


def people(gap=0.0, n=3000):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(list("ab"), n)})
    return X, (rng.random(n) < 0.5 - gap * (X["sex"] == "F")).astype(int)


def fitted(name, n_clusters):
    settings = {"protected": "sex", "pos_label": 1}
    settings |= (
        {"random_state": 0} if "random_state" in signature(CLUSTERED[name]).parameters else {}
    )
    X, y = people()
    return CLUSTERED[name](**settings).fit(X, y, groups=np.arange(len(X)) % n_clusters)


@pytest.mark.slow
@pytest.mark.every(6)
@pytest.mark.parametrize("name", CLUSTERED)
def test_fewer_than_ten_clusters_clear_no_group(name):
    few = fitted(name, 4).result_
    assert few.verdict == UNSURE
    assert any("groups has 4 clusters only" in note for note in few.notes)
    many = fitted(name, 10).result_
    assert not any("clusters only" in note for note in [*many.notes, many.reason])


def test_what_few_clusters_leave_open_is_the_reason():
    few, many = (fitted("GroupDisparity", n).result_ for n in (9, 10))
    assert many.verdict == NOTHING
    assert few.verdict == UNSURE
    assert few.reason.startswith("groups has 9 clusters only")


def test_new_rows_of_few_clusters_clear_no_group():
    X, y = people()
    detector = GroupDisparity(protected="sex", pos_label=1).fit(X, y)
    assert detector.result_.verdict == NOTHING
    assert detector.audit(X, y, groups=np.arange(len(X)) % 4).verdict == UNSURE


@pytest.mark.slow
def test_an_audit_of_few_clusters_answers_no_question_without_a_disparity():
    X, y = people()
    report = Audit(protected="sex", pos_label=1).fit(X, y, groups=np.arange(len(X)) % 4).report_
    verdicts = report.to_frame("verdicts")
    assert (verdicts["verdict"] == UNSURE).all()
    assert verdicts["reason"].str.contains("4 clusters only").any()


def test_few_clusters_may_find_a_disparity():
    X, y = people(gap=0.4)
    detector = GroupDisparity(protected="sex", pos_label=1)
    assert detector.fit(X, y, groups=np.arange(len(X)) % 8).result_.verdict == "disparity found"
