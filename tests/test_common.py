"""Every detector passes scikit-learn's checks and our own."""

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdisc.group import VeriFair
from skdisc.individual import KOSEI, Themis
from skdisc.subgroup import BiasScan, DivExplorer

SMALL = {"max_tests": 500}


@parametrize_with_checks(
    [
        VeriFair(protected=[0], **SMALL),
        VeriFair(LogisticRegression(), protected=[0], **SMALL),
        Themis(protected=[0], **SMALL),
        Themis(LogisticRegression(), protected=[0], **SMALL),
        KOSEI(protected=[0], **SMALL),
        KOSEI(LogisticRegression(), protected=[0], **SMALL),
        BiasScan(n_restarts=2, n_bootstrap=9),
        BiasScan(LogisticRegression(), protected=[0], n_restarts=2, n_bootstrap=9),
        DivExplorer(),
        DivExplorer(protected=[0]),
        DivExplorer(LogisticRegression(), protected=[0], metric="all"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
