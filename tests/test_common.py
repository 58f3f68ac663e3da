"""Every detector passes scikit-learn's checks and our own."""

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdisc.individual import (
    ADF,
    EIDIG,
    KOSEI,
    LIMI,
    SG,
    Aequitas,
    BoundarySearch,
    ExactTree,
    ExpGA,
    Themis,
)
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
        Aequitas(protected=[0], n_local=3, **SMALL),
        ADF(protected=[0], n_seeds=5, n_local=3, **SMALL),
        ADF(LogisticRegression(), protected=[0], n_seeds=5, n_local=3, **SMALL),
        EIDIG(protected=[0], n_seeds=5, n_local=3, **SMALL),
        SG(protected=[0], n_samples=50, **SMALL),
        ExpGA(protected=[0], n_generations=2, **SMALL),
        LIMI(protected=[0], n_samples=300, n_boundary=300, **SMALL),
        BoundarySearch(protected=[0], n_pool=300, **SMALL),
        DivExplorer(),
        DivExplorer(protected=[0]),
        DivExplorer(LogisticRegression(), protected=[0], metric="all"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
