"""One class against the rest: binary runs by hand, level over classes, power, errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdisc import Audit, BlackBox, Limits, Rule
from skdisc.group import EffectDecomposition, GroupDisparity
from skdisc.individual import Themis
from skdisc.multiclass import OneVsRest
from skdisc.subgroup import DivExplorer, SliceLine

CLASSES = np.array(["abroad", "desk", "field"])


def staff(seed, n=400, gap=0.0):
    """Return people of two sexes and two towns; women are sent to the desk more often by `gap`."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "town": rng.choice(["u", "v"], n)})
    X["points"] = rng.normal(size=n)
    sent = rng.random(n) < gap * (X["sex"] == "f").to_numpy()
    return X, np.where(sent, "desk", CLASSES[rng.integers(3, size=n)])


@pytest.mark.parametrize(
    "detector",
    [
        GroupDisparity(protected=["sex", "town"]),
        DivExplorer(protected="sex"),
        SliceLine(protected="sex", random_state=0),
        EffectDecomposition(
            protected="sex", nuisance="linear", classifier="linear", random_state=0
        ),
    ],
    ids=lambda d: type(d).__name__,
)
def test_each_class_is_the_binary_run_at_its_share_of_the_level(detector):
    X, y = staff(0, gap=0.3)
    audit = OneVsRest(detector).fit(X, y)
    assert audit.classes_ == list(CLASSES)
    for c in CLASSES:
        own = clone(detector).set_params(rule__significance=0.05 / 3)
        own = own.fit(X, (y == c).astype(int)).result_
        found = audit.results_[c]
        assert found.verdict == own.verdict
        rows = audit.table_[audit.table_["class"] == c].drop(columns="class")
        left = rows.reset_index(drop=True)[own.to_frame().columns]
        pd.testing.assert_frame_equal(left, own.to_frame(), check_dtype=False)


@pytest.mark.statistics
def test_the_level_holds_over_classes_and_gaps_are_named():
    n, detector = 20, OneVsRest(GroupDisparity(protected="sex", intersections=1))
    found = [detector.fit(*staff(seed)).verdict_ == "disparity found" for seed in range(n)]
    assert np.mean(found) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n)
    named = [detector.fit(*staff(seed, gap=0.4)).found_ for seed in range(3)]
    assert all("desk" in classes for classes in named)


def test_verdicts_of_classes_make_one():
    detector = OneVsRest(GroupDisparity(protected="sex", intersections=1))
    assert detector.fit(*staff(0, n=60)).verdict_ == "insufficient evidence"
    assert detector.found_ == []
    assert detector.fit(*staff(0, n=20_000)).verdict_ == "no disparity found"
    audit = detector.fit(*staff(0, n=20_000, gap=0.3))
    assert audit.verdict_ == "disparity found"
    effect = audit.table_.groupby("class")["effect"].first()
    assert effect.to_list() == pytest.approx([-0.1, 0.2, -0.1], abs=0.03)
    assert effect.index.to_list() == list(CLASSES)


def test_models_name_their_classes_and_others_are_told():
    X, y = staff(1, gap=0.6)
    numbers = pd.get_dummies(X, dtype=float)
    model = LogisticRegression().fit(numbers, y)
    detector = GroupDisparity(protected="sex_f")
    assert OneVsRest(detector).fit(numbers, model=model).classes_ == list(CLASSES)
    two = OneVsRest(detector, classes=["desk", "abroad", "field"]).fit(numbers, model=model.predict)
    assert two.results_.keys() == set(CLASSES)
    for box in (BlackBox(model), BlackBox(decisions=y)):
        assert OneVsRest(detector).fit(numbers, model=box).classes_ == list(CLASSES)
    with pytest.raises(ValueError, match="they follow from y, or from classes_"):
        OneVsRest(detector).fit(numbers, model=model.predict)


@pytest.mark.slow
def test_models_trained_here_are_compared_with_enough_others():
    X, y = staff(2, gap=0.9)
    detector = Themis(
        LogisticRegression(), protected="sex_m", random_state=0, limits=Limits(tests=50)
    )
    audit = OneVsRest(detector).fit(pd.get_dummies(X, drop_first=True, dtype=float), y)
    assert audit.results_["desk"].tables["training"]["n_refits"].item() == 59
    assert audit.results_["desk"].verdict == "disparity found"


@pytest.mark.parametrize(
    ("detector", "y", "message"),
    [
        (GroupDisparity(protected="sex"), ["a", "b"] * 30, "fewer than three"),
        (GroupDisparity(protected="sex", pos_label="a"), list("abc") * 20, "pos_label='a'"),
        (LogisticRegression(), list("abc") * 20, "must be a detector"),
        (GroupDisparity(protected="sex"), ["a", "b", None] * 20, "20 missing classes"),
        (GroupDisparity(protected="sex"), [list("abc")] * 60, "1d array"),
    ],
)
def test_what_is_wrong_is_said(detector, y, message):
    with pytest.raises(ValueError, match=message):
        OneVsRest(detector).fit(staff(0, n=60)[0], y)


class OfThree(OneVsRest):
    """Has three classes where scikit-learn's checks have two."""

    def fit(self, X, y=None, model=None, **more):
        return super().fit(X, None if y is None else np.arange(len(y)) % 3, model, **more)


@pytest.mark.every(6)
@parametrize_with_checks([OfThree(GroupDisparity(protected=[0]))])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
def test_new_rows_are_audited_class_by_class():
    X, y = staff(0, gap=0.3)
    new = staff(1, n=300, gap=0.3)
    audit = OneVsRest(DivExplorer(protected="sex")).fit(X, y)
    assert audit.audit() == audit.results_
    again, scores = audit.audit(*new), []
    for c in CLASSES:
        own = DivExplorer(protected="sex", rule=Rule(significance=0.05 / 3)).fit(
            X, (y == c).astype(int)
        )
        y_new = (new[1] == c).astype(int)
        assert again[c].to_frame()["effect"].equals(own.audit(new[0], y_new).to_frame()["effect"])
        scores.append(own.score(new[0], y_new))
    assert audit.score(*new) == np.nanmax(scores)
    assert audit.feature_names_in_.tolist() == list(X)


@pytest.mark.slow
def test_an_audit_asks_its_questions_of_each_class():
    X, y = staff(0, n=1500, gap=0.3)
    plain = Audit(protected="sex", detectors=["GroupDisparity", "DivExplorer"])
    with pytest.raises(ValueError, match="audit each class against the rest with skdisc"):
        clone(plain).fit(X, y)
    audit = OneVsRest(plain).fit(X, y)
    assert audit.verdict_ == "disparity found"
    assert "desk" in audit.found_
    own = clone(plain).set_params(rule__significance=0.05 / 3, pos_label="desk").fit(X, y).report_
    assert audit.results_["desk"].to_frame().equals(own.to_frame())
    assert set(audit.table_["class"]) == set(audit.found_)
    assert set(audit.audit(*staff(1, gap=0.3))) == set(CLASSES)


@pytest.mark.parametrize("classes", [5, "abc", [["a"], ["b"], ["c"]]])
def test_classes_that_are_no_list_of_labels_are_refused(classes):
    X = pd.DataFrame({"sex": ["f", "m"] * 6})
    with pytest.raises(ValueError, match="classes must be a list of labels or None, got"):
        OneVsRest(GroupDisparity(protected="sex"), classes=classes).fit(X, list("abcabc") * 2)
