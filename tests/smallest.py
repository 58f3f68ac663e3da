"""How every detector does little work: what the common checks go by.

``tests/test_common.py`` and ``tests/test_contract.py`` check every detector of
``skdisc.all_detectors()``, with its default settings unless it has an entry: in `SMALLEST` here, or
as a constant ``SMALLEST`` of its own test file.
"""

import runpy
from functools import cache
from inspect import isclass, signature
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from skdisc import Limits, all_detectors, individual, preprocessing, repair
from skdisc._blackbox._default_models import default_model


def audited(**more):
    """Return settings of an instance that audits a model."""
    return {"estimator": LogisticRegression(), **more}


class Entry(NamedTuple):
    """How one detector does little work.

    Parameters
    ----------
    settings : dict
        For a few hundred people, as in ``tests/test_contract.py``.
    grid : dict
        One setting and two of its values, for a grid search.
    numbers : dict
        For the data of scikit-learn's checks, 10 to 200 rows of numbers, in place of `settings`.
    others : sequence of dict
        Further instances that take scikit-learn's checks; each changes some of `numbers`.
    """

    settings: dict = {}
    grid: dict = {"random_state": [0, 1]}
    numbers: dict = {}
    others: tuple = (audited(),)


FEW = {"limits": Limits(tests=500)}
NEAREST = {"n_neighbors": 1, "n_bins": 2, "reference": "rest"}
BARE = {"protected": None}
LINEAR = {"witness": "linear", "nuisance": "additive"}


SMALLEST = {
    "ADF": Entry(
        {"limits": Limits(tests=100), "n_seeds": 10, "max_iter": 3, "n_local": 3},
        {"n_seeds": [5, 10]},
        FEW | {"n_seeds": 5, "n_local": 3},
    ),
    "Aequitas": Entry(
        {"limits": Limits(tests=100), "n_seeds": 50, "n_local": 3},
        {"mode": ["random", "fully"]},
        FEW | {"n_local": 3},
    ),
    "BiasScan": Entry(
        {"n_restarts": 2, "n_resamples": 19, "min_support": 0.05, "penalty": 0.0},
        {"n_restarts": [1, 2]},
        {"n_restarts": 2, "n_resamples": 9, "weights": "frequency"},
        (BARE, audited(estimator=LogisticRegression(tol=1e-8))),  # that weights and copies agree
    ),
    "BoundarySearch": Entry(
        {"limits": Limits(tests=100), "n_pool": 300}, {"share": [0.1, 0.3]}, FEW | {"n_pool": 300}
    ),
    "CounterfactualFairness": Entry(
        {"n_resamples": 10}, {"min_gap": [0.0, 0.5]}, {"n_resamples": 2}
    ),
    "CounterfactualSituationTesting": Entry(
        {"n_neighbors": 20},
        {"n_neighbors": [10, 20]},
        NEAREST | {"missing": "raise"},
        (audited(centers=True, missing="category"),),
    ),
    "DiscriminationPatterns": Entry(
        {"max_predicates": 2},
        {"delta": [0.01, 0.05]},
        {"weights": "frequency"},
        (audited(min_support=0.0),),
    ),
    "DiscriminatoryRules": Entry(
        {"max_predicates": 2},
        {"threshold": [1.0, 1.25]},
        {},
        (audited(protected=None, measure="olift"),),
    ),
    "DisparityPursuit": Entry(
        {"max_predicates": 2, "nuisance": "additive", "n_resamples": 0},
        {"min_support": [0.05, 0.2]},
        {"n_resamples": 19, "nuisance": "additive"},
    ),
    "DisparityMonitor": Entry({}, {"run_length": [100, 1000]}, {}, (audited(intersections=2),)),
    "DivExplorer": Entry(
        {"max_predicates": 2},
        {"min_support": [0.05, 0.2]},
        {},
        (BARE, audited(metric="all")),
    ),
    "EIDIG": Entry(
        {"limits": Limits(tests=100), "n_seeds": 10, "max_iter": 3, "n_local": 3},
        {"momentum": [0.0, 0.5]},
        FEW | {"n_seeds": 5, "n_local": 3},
    ),
    "ExactTree": Entry({"limits": Limits(tests=300)}, {"n_checks": [10, 20]}, FEW),
    "ExpGA": Entry(
        {"limits": Limits(tests=100), "n_draws": 30, "n_population": 10, "n_generations": 1},
        {"mutation": [0.05, 0.2]},
        FEW | {"n_generations": 2},
    ),
    "EffectDecomposition": Entry(
        {"nuisance": "linear", "classifier": "linear", "n_folds": 2},
        {"n_folds": [2, 3]},
        {"nuisance": "linear", "classifier": "linear", "n_folds": 2},
        (audited(nuisance="auto"),),
    ),
    "FACTS": Entry({"max_predicates": 2}, {"min_support": [0.05, 0.1]}, {"max_predicates": 2}),
    "FlipTest": Entry(
        {"solver": "assignment", "max_distance": 0.0, "n_draws": 1},
        {"max_distance": [0.0, 1.0]},
        {"n_bins": 2, "n_draws": 1, "missing": "raise"},
    ),
    "GerrymanderingAudit": Entry(LINEAR, {"witness": ["linear", "boosting"]}, LINEAR),
    "GroupDisparity": Entry(
        {"intersections": 1},
        {"reference": ["rest", "best"]},
        {},
        (audited(measures="all"),),
    ),
    "KOSEI": Entry({"limits": Limits(tests=300), "n_seeds": 200}, {"n_seeds": [50, 100]}, FEW),
    "LIMI": Entry(
        {"limits": Limits(tests=100), "n_samples": 200, "n_boundary": 200, "n_baseline": 50},
        {"step": [0.1, 0.3]},
        FEW | {"n_samples": 300, "n_boundary": 300},
    ),
    "MultiaccuracyAudit": Entry(
        LINEAR | {"output": "decision"},
        {"witness": ["linear", "boosting"]},
        LINEAR,
        (audited(), LINEAR | {"versus": "everyone"}),
    ),
    "MulticalibrationAudit": Entry(
        LINEAR | {"output": "decision"}, {"n_score_bins": [2, 4]}, LINEAR, (audited(),)
    ),
    "OaxacaBlinder": Entry(
        {},
        {"coefficients": ["pooled", "reference"]},
        {},
        (
            audited(method="fairlie"),
            {"method": "reweighting", "n_resamples": 2},
            {"method": "gelbach"},
        ),
    ),
    "ProxyDisparity": Entry(
        {"learner": "linear", "n_folds": 2},
        {"n_folds": [2, 3]},
        {"learner": "linear", "n_folds": 2},
    ),
    "RiskAdjustedRegression": Entry(
        {"n_folds": 2, "learner": "linear"},
        {"n_folds": [2, 3]},
        audited(n_folds=2, learner="linear"),
        (audited(use_group=False, learner="linear"),),
    ),
    "SG": Entry(
        {"limits": Limits(tests=100), "n_samples": 200, "n_seeds": 50},
        {"n_seeds": [20, 50]},
        FEW | {"n_samples": 50},
    ),
    "SituationTesting": Entry(
        {"n_neighbors": 20},
        {"criterion": ["gap", "adjusted"]},
        NEAREST | {"missing": "raise"},
    ),
    "SliceFinder": Entry(
        {"effect_size": 0.1}, {"min_rows": [20, 32]}, {}, (BARE, audited(errors="loss"))
    ),
    "SliceLine": Entry(
        {"max_predicates": 2},
        {"min_rows": [20, 32]},
        {},
        (BARE, audited(errors=["fp", "fn", "loss"])),
    ),
    "ThresholdTest": Entry({"place": "points"}, {"model_error": [0.0, 0.1]}),
    "Themis": Entry({"margin": 0.1}, {"margin": [0.1, 0.2]}, FEW),
    "VeriFair": Entry({}, {"slack": [0.1, 0.2]}, FEW),
}


def entry(name):
    """Return the entry of a detector; without one, the settings that every detector has."""
    return SMALLEST.get(name) or of_its_test_file(name, "SMALLEST") or Entry()


@cache
def of_its_test_file(name, constant):
    """Return a constant that the test file of a detector may have, or None."""
    path = path_of_tests(name)
    if not path.exists() or f"\n{constant} = " not in path.read_text(encoding="utf-8"):
        return None
    return runpy.run_path(str(path))[constant]


def path_of_tests(name):
    """Return the path of the test file of a detector's own name."""
    *rooms, file = all_detectors()[name].__module__.removeprefix("skdisc.").split(".")
    return Path(__file__).parent.joinpath(*rooms, f"test{file}.py")


def smallest(name, estimator=None, **more):
    """Return a detector that does little work."""
    settings = {"random_state": 0} | entry(name).settings | more
    return all_detectors()[name](estimator, **settings)


def for_numbers(name, **more):
    """Return a detector that does little work on the data of scikit-learn's checks."""
    common = {"protected": [0], "pos_label": "high"}  # their labels are any integers
    given = common | entry(name).numbers | more
    return all_detectors()[name](**given)


def has(name, setting):
    """Return whether a detector has a setting, read from its signature (or from that of fit)."""
    detector = all_detectors()[name]
    return any(setting in signature(of).parameters for of in (detector, detector.fit))


def transformers():
    """Return each transformer, sampler and meta-estimator that is no detector, by name."""
    found = {}
    for room in (preprocessing, repair):
        classes = {n: getattr(room, n) for n in room.__all__ if isclass(getattr(room, n))}
        found |= {n: c for n, c in classes.items() if issubclass(c, BaseEstimator)}
    return found


def same_rows(X, do):
    """Return the rows as they are."""
    return X


NAMED = pd.DataFrame({"a": [1, 2], "b": [2, 1]}, ["0", "1"])  # people by name or place and group

# How each of `transformers` is built for the data of scikit-learn's checks; all must be here.
TRANSFORMERS = {
    "CaseResampler": lambda: repair.CaseResampler(
        individual.Themis(
            default_model("tree", 0),
            protected=[0],
            limits=Limits(tests=100),
            pos_label="high",
            random_state=0,
        ),
        voters=[default_model("tree", 0)],
        random_state=0,
    ),
    "CounterfactualRows": lambda: preprocessing.CounterfactualRows(source=same_rows),
    "Discretizer": lambda: preprocessing.Discretizer(2),
    "DisparateImpactRemover": lambda: repair.DisparateImpactRemover([0], unseen="pool"),
    "Massager": lambda: repair.Massager([0], pos_label="high"),
    "PreferentialSampler": lambda: repair.PreferentialSampler([0]),
    "ProxySelector": lambda: preprocessing.ProxySelector([0], association=0.99, random_state=0),
    "Reweigher": lambda: repair.Reweigher(LogisticRegression(), protected=[0]),
    "SituationFeatures": lambda: preprocessing.SituationFeatures([0], pos_label="high"),
    "SurnameGeocoding": lambda: preprocessing.SurnameGeocoding(NAMED, NAMED, surname=0, place=-1),
    "UniformSampler": lambda: repair.UniformSampler([0]),
}
