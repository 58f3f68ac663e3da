"""Write small results of every detector, which later versions must read and find again.

The files beside this script were written by version 0.1: ``python write_results.py FOLDER``.
Models are plain rules and their numbers small integers, so that results depend neither on the
machine nor on the versions of other packages.
"""

import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from skdisc import all_detectors
from skdisc.causal import StructuralCausalModel

PUBLISHED = {"versus": "everyone", "order": "effect", "distinct": False}  # as 0.1 had it
SEARCH = {"seeds": "data", "n_seeds": 6, "max_tests": 40, "max_found": 9}
WALK = {**SEARCH, "max_iter": 3, "n_local": 6, "gradient": "difference"}


def people(n, seed):
    """Return people with text, categories, numbers and missing values, and their labels."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]).astype(object)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n).astype(object),
            "race": race,
            "town": pd.Categorical(rng.choice(["north", "south"], n)),
            "points": rng.integers(0, 12, n),
            "years": rng.integers(0, 30, n).astype(float),
        }
    )
    y = (_points(X) + rng.integers(-4, 5, n) > 24).astype(int)
    X.loc[rng.random(n) < 0.05, "race"] = None
    return X, y


def complete(n, seed):
    """Return people without missing values."""
    X, y = people(n, seed)
    return X.fillna({"race": "a"}), y


def _points(X):
    """Return the points that the rule gives, whole numbers from 0 to 63."""
    men, b = (X["sex"] == "M").to_numpy(), (X["race"] == "b").to_numpy()
    south = (X["town"] == "south").to_numpy()
    own = 2 * X["points"].to_numpy() + np.floor(X["years"].to_numpy() / 2)
    return (own + 8 * men - 5 * (b & south) + 6).astype(int)


def rule(X):
    """Decide by points: what the tests audit as a model."""
    return (_points(X) > 24).astype(int)


def careless(X):
    """Decide by the rule, but against all women of the south: what the slices audit."""
    return rule(X) * ((X["sex"] == "M") | (X["town"] == "north")).to_numpy()


class Rule:
    """The rule as a model with probabilities, which are multiples of 1/64 and exact."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        """Decide."""
        return rule(X)

    def predict_proba(self, X):
        """Return two columns."""
        p = (2 * _points(X) + 15) / 128
        return np.column_stack([1 - p, p])


def numbers(n, seed):
    """Return the same people as whole numbers, for models that take nothing else."""
    X, y = people(n, seed)
    codes = {"sex": {"F": 0, "M": 1}, "town": {"north": 0, "south": 1}}
    columns = {name: X[name].map(code).astype(int) for name, code in codes.items()}
    return pd.DataFrame({**columns, "points": X["points"]}), y


def linear():
    """Return a logistic regression with coefficients that were not fitted but chosen."""
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.array([[4.0, -1.0, 1.0]]), np.array([-8.0])
    model.classes_, model.n_features_in_ = np.array([0, 1]), 3
    model.feature_names_in_ = np.array(["sex", "town", "points"], dtype=object)
    return model


def had_they_been_men(X, do=None):
    """Return the same people as men, those who were women with two points more."""
    return X.assign(sex="M", points=X["points"] + 2 * (X["sex"] == "F"))


# name of the run: detector, settings, what is audited (a model, or None for the labels),
# and how the rows are weighted
RUNS = {
    "adf": ("ADF", WALK, Rule, None),
    "aequitas": ("Aequitas", {**SEARCH, "n_local": 20}, rule, None),
    "bias_scan": ("BiasScan", {"n_restarts": 2, "n_bootstrap": 19, "k": 3}, None, None),
    "bias_scan_weighted": (
        "BiasScan",
        {"n_restarts": 2, "n_bootstrap": 19, "k": 3, "max_predicates": 2},
        None,
        "weights",
    ),
    "boundary_search": (
        "BoundarySearch",
        {"max_tests": 40, "max_found": 8, "n_pool": 200, "protected": ["sex"]},
        Rule,
        None,
    ),
    "counterfactual_fairness": (
        "CounterfactualFairness",
        {"n_resamples": 9, "protected": ["sex"], "counterfactuals": had_they_been_men},
        Rule,
        None,
    ),
    "counterfactual_fairness_scm": (
        "CounterfactualFairness",
        {
            "n_resamples": 9,
            "protected": ["sex"],
            "counterfactuals": "scm",
            "sensitivity": None,
        },
        rule,
        None,
    ),
    "counterfactual_situation_testing": (
        "CounterfactualSituationTesting",
        {
            "n_neighbors": 5,
            "caliper": None,
            "criterion": "gap",
            "threshold": 0.3,
            "protected": ["sex"],
            "counterfactuals": had_they_been_men,
        },
        rule,
        None,
    ),
    "discrimination_patterns": (
        "DiscriminationPatterns",
        {"max_predicates": 2, "features": ["sex", "race", "town"], "k": 4},
        None,
        None,
    ),
    "discriminatory_rules": (
        "DiscriminatoryRules",
        {"max_predicates": 2, "features": ["sex", "race", "town"], "k": 4, "order": "bound"},
        rule,
        None,
    ),
    "divexplorer": ("DivExplorer", {"max_predicates": 2, "k": 4}, None, None),
    "divexplorer_weighted": (
        "DivExplorer",
        {
            "max_predicates": 2,
            "k": 3,
            "metric": ["false_positive_rate", "selection_rate"],
            "explain": True,
        },
        rule,
        "weights",
    ),
    "divexplorer_confirmed": (
        "DivExplorer",
        {"max_predicates": 2, "k": 3, "confirm": 0.5, "redundancy": 0.02},
        rule,
        None,
    ),
    "eidig": ("EIDIG", WALK, Rule, None),
    "exact_tree": ("ExactTree", {"max_tests": 30, "protected": ["sex"]}, linear, None),
    "expga": (
        "ExpGA",
        {"seeds": "data", "n_draws": 20, "n_population": 8, "n_generations": 2, "max_tests": 60},
        Rule,
        None,
    ),
    "facts": (
        "FACTS",
        {
            "max_predicates": 2,
            "protected": ["sex"],
            "n_bins": 2,
            "min_support": 0.15,
            "k": 3,
            "choose_on": None,
        },
        rule,
        None,
    ),
    "fliptest": (
        "FlipTest",
        {"solver": "assignment", "n_draws": 1, "n_permutations": 0, "protected": ["sex"]},
        rule,
        None,
    ),
    "group_disparity": (
        "GroupDisparity",
        {
            "measures": ["mean_difference", "impact_ratio", "equal_opportunity"],
            "intersections": 1,
            "protected": ["sex", "town"],  # groups all treated alike had another p-value in 0.1
        },
        rule,
        None,
    ),
    "group_disparity_numbers": (
        "GroupDisparity",
        {"measures": ["mean_difference"], "output": "probability", "protected": ["sex"]},
        Rule,
        None,
    ),
    "kosei": ("KOSEI", {**SEARCH, "n_local": 20}, rule, None),
    "kosei_each": (
        "KOSEI",
        {**SEARCH, "n_local": 9, "scope": "each", "output": "probability", "min_gap": 0.07},
        Rule,
        None,
    ),
    "limi": (
        "LIMI",
        {"n_samples": 60, "n_boundary": 60, "n_baseline": 10, "max_tests": 50},
        Rule,
        None,
    ),
    "sg": ("SG", {**SEARCH, "n_samples": 40, "batch_size": 8}, rule, None),
    "situation_testing": (
        "SituationTesting",
        {
            "n_neighbors": 3,
            "caliper": None,
            "criterion": "gap",
            "threshold": 0.3,
            "complainants": range(12),
            "protected": ["sex"],
        },
        None,
        None,
    ),
    "slice_finder": (
        "SliceFinder",
        {"effect_size": 0.1, "min_rows": 10, "k": 3, "approach": "lattice"},
        careless,
        None,
    ),
    "slice_line": ("SliceLine", {"max_predicates": 2, "min_rows": 10, "k": 3}, careless, None),
    "slice_line_weighted": (
        "SliceLine",
        {"max_predicates": 2, "min_rows": 10, "k": 2, "errors": ["fp", "fn"]},
        careless,
        "weights",
    ),
    "themis": ("Themis", {"margin": 0.2, "block_size": 50}, rule, None),
    "verifair": ("VeriFair", {"protected": ["sex"], "first_batch": 50}, rule, None),
}
COMPLETE = {"fliptest", "counterfactual_situation_testing", "situation_testing"}
WORDY = {
    "CounterfactualFairness",
    "CounterfactualSituationTesting",
    "FlipTest",
    "SituationTesting",
}
ONCE = {  # whose audits would show nothing that those of other runs do not show: only scores
    "adf",
    "aequitas",
    "bias_scan",
    "boundary_search",
    "counterfactual_fairness_scm",
    "divexplorer",
    "eidig",
    "expga",
    "group_disparity_numbers",
    "kosei_each",
    "limi",
    "sg",
    "slice_finder",
    "slice_line",
    "themis",
}


def weights(n):
    """Return whole weights, some of which are 0."""
    return np.arange(n) % 4


def data_of(name):
    """Return X and y of fit, and X and y of the audit."""
    kind = numbers if RUNS[name][2] is linear else complete if name in COMPLETE else people
    n = 44 if RUNS[name][0] in WORDY else 160
    return *kind(n, 0), *kind(n // 4, 1)


def fitted(name):
    """Return the fitted detector of a run."""
    kind, settings, model, weighted = RUNS[name]
    X, y = data_of(name)[:2]
    settings = {"protected": ["sex", "race"], "random_state": 0, **settings}
    if settings.get("counterfactuals") == "scm":
        settings["counterfactuals"] = StructuralCausalModel([("sex", "points")])
    known = inspect.signature(all_detectors()[kind]).parameters
    own = {name: value for name, value in PUBLISHED.items() if name in known}
    detector = all_detectors()[kind](**{**own, **settings})
    model = model() if isinstance(model, type) or model is linear else model
    how = {"sample_weight": weights(len(X))} if weighted else {}
    return detector.fit(X, y, model, **how)


def outcomes(name):
    """Return all that a run gives: the results of fit and of audit, score and transform."""
    detector = fitted(name)
    X, y = data_of(name)[2:]
    how = {"sample_weight": weights(len(X))} if RUNS[name][3] else {}
    own = {"score": detector.score(X, y, **how)}
    if hasattr(detector, "transform"):
        own["transform"] = detector.transform(X).astype(int).tolist()
    return detector.result_, detector.audit(X, y, **how), own


def main(folder):
    """Write the results of fit and of audit, and one file with the scores."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    numbers = {}
    for name in RUNS:
        at_fit, again, numbers[name] = outcomes(name)
        (folder / f"{name}.json").write_text(at_fit.to_json() + "\n")
        if name not in ONCE:
            (folder / f"{name}-audit.json").write_text(again.to_json() + "\n")
    (folder / "scores.json").write_text(json.dumps(numbers) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
