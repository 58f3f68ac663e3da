"""Every detector passes scikit-learn's checks and our own."""

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdisc.individual import KOSEI, ExactTree, Themis
from skdisc.subgroup import DivExplorer

SMALL = {"max_tests": 500}


@parametrize_with_checks(
    [
        Themis(protected=[0], **SMALL),
        Themis(LogisticRegression(), protected=[0], **SMALL),
        KOSEI(protected=[0], **SMALL),
        KOSEI(LogisticRegression(), protected=[0], **SMALL),
        ExactTree(protected=[0], **SMALL),
        ExactTree(LogisticRegression(), protected=[0], **SMALL),
        DivExplorer(),
        DivExplorer(protected=[0]),
        DivExplorer(LogisticRegression(), protected=[0], metric="all"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
