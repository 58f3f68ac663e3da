"""Every detector passes scikit-learn's checks and our own."""

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdisc.group import GroupDisparity, VeriFair
from skdisc.individual import (
    ADF,
    EIDIG,
    KOSEI,
    LIMI,
    SG,
    Aequitas,
    BoundarySearch,
    CounterfactualFairness,
    CounterfactualSituationTesting,
    ExactTree,
    ExpGA,
    FlipTest,
    SituationTesting,
    Themis,
)
from skdisc.subgroup import (
    FACTS,
    BiasScan,
    DiscriminationPatterns,
    DiscriminatoryRules,
    DivExplorer,
    FairNaiveBayes,
    SliceFinder,
    SliceLine,
)

SMALL = {"max_tests": 500}


@parametrize_with_checks(
    [
        VeriFair(protected=[0], **SMALL),
        VeriFair(LogisticRegression(), protected=[0], **SMALL),
        Themis(protected=[0], **SMALL),
        Themis(LogisticRegression(), protected=[0], **SMALL),
        KOSEI(protected=[0], **SMALL),
        KOSEI(LogisticRegression(), protected=[0], **SMALL),
        FlipTest(protected=[0], n_bins=2, n_draws=1, missing="raise"),
        SituationTesting(protected=[0], n_neighbors=1, n_bins=2, reference="rest", missing="raise"),
        CounterfactualSituationTesting(
            LogisticRegression(),
            protected=[0],
            n_neighbors=1,
            n_bins=2,
            reference="rest",
            centres=True,
        ),
        GroupDisparity(protected=[0]),
        GroupDisparity(LogisticRegression(), protected=[0], measures="all"),
        CounterfactualFairness(protected=[0], n_resamples=2),
        CounterfactualFairness(LogisticRegression(), protected=[0], n_resamples=2),
        BiasScan(n_restarts=2, n_bootstrap=9),
        BiasScan(LogisticRegression(), protected=[0], n_restarts=2, n_bootstrap=9),
        DiscriminationPatterns(protected=[0]),
        DiscriminationPatterns(LogisticRegression(), protected=[0], min_support=0.0),
        FairNaiveBayes(protected=[0]),
        DiscriminatoryRules(protected=[0]),
        DiscriminatoryRules(LogisticRegression(), measure="olift"),
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
        FACTS(protected=[0], max_predicates=2),
        FACTS(LogisticRegression(), protected=[0], max_predicates=2),
        SliceFinder(),
        SliceFinder(LogisticRegression(), protected=[0], errors="loss"),
        SliceLine(),
        SliceLine(LogisticRegression(), protected=[0], errors=["fp", "fn", "loss"]),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
