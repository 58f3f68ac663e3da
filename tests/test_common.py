"""Every detector passes scikit-learn's checks and our own."""

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdisc.group import GroupDisparity
from skdisc.individual import KOSEI, Themis
from skdisc.subgroup import DivExplorer, SliceFinder, SliceLine

SMALL = {"max_tests": 500}


@parametrize_with_checks(
    [
        Themis(protected=[0], **SMALL),
        Themis(LogisticRegression(), protected=[0], **SMALL),
        KOSEI(protected=[0], **SMALL),
        KOSEI(LogisticRegression(), protected=[0], **SMALL),
        GroupDisparity(protected=[0]),
        GroupDisparity(LogisticRegression(), protected=[0], measures="all"),
        DivExplorer(significance=1e-9),  # weights are no copies to a test, so none may decide
        DivExplorer(protected=[0]),
        DivExplorer(LogisticRegression(), protected=[0], metric="all"),
        SliceFinder(),
        SliceFinder(LogisticRegression(), protected=[0], errors="loss"),
        SliceLine(),
        SliceLine(LogisticRegression(), protected=[0], errors=["fp", "fn", "loss"]),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
