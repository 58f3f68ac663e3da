"""Where each setting of each detector matters: another value, a table, and other settings.

`test_settings_matter.py` fits each detector with its setting at the default and at the other
value, and fails if nothing changes: a detector that ignored the setting would fail.
"""

from functools import lru_cache
from inspect import signature

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from smallest import entry, of_its_test_file

from skdisc import Limits, Rule
from skdisc.individual import Similarity
from skdisc.subgroup import Actions, Costs

# They change how something is computed or shown, or are what is audited.
NO_FINDING = {"n_jobs", "verbose", "limits__seconds", "random_state"}
AUDITED = {"estimator", "protected", "space"}
OBJECTS = {
    "actions": Actions,
    "costs": Costs,
    "similarity": Similarity,
}  # each of their fields has a row


def people(n, seed):
    """Return people and decisions that depend on skill, age, town, sex and race."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "skill": rng.normal(50, 10, n).round(1),
            "age": rng.integers(18, 66, n),
            "town": rng.choice(list("nsew"), n),
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
        }
    )
    gain = 6 * (X["sex"] == "M") + 8 * ((X["race"] == "a") & (X["town"] == "n"))
    score = X["skill"] + 0.2 * X["age"] + gain + rng.normal(0, 5, n)
    return X, (score > score.median()).astype(int).to_numpy()


class Coded:
    """A model of the people above: `learner` on numbers for their values."""

    classes_ = np.array([0, 1])

    def __init__(self, learner, X, y):
        self.levels = {c: sorted(X[c].dropna().unique()) for c in ("town", "sex", "race")}
        self.learner = learner.fit(self._coded(X), y)

    def _coded(self, X):
        codes = {c: [pd.Series(X[c]) == v for v in levels] for c, levels in self.levels.items()}
        numbers = X[["skill", "age"]].astype(float).fillna(0).to_numpy()
        return np.column_stack([numbers, *(v for group in codes.values() for v in group)])

    def predict(self, X):
        return self.learner.predict(self._coded(X))

    def predict_proba(self, X):
        return self.learner.predict_proba(self._coded(X))


def tree():
    """Return a tree on codes, to be trained."""
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(codes, DecisionTreeClassifier(max_depth=4, random_state=0))


def same_rows(X, do):
    """Return the rows as they are: a source of counterfactuals where nothing follows from sex."""
    return X


@lru_cache
def table(name):
    """Return people, and what `fit` gets beside them."""
    if name == "decisions":
        X, y = people(140, 0)
        return X, {"y": y}
    if name == "weighted":
        X, y = people(140, 0)
        return X, {"y": y, "sample_weight": np.random.default_rng(1).integers(1, 4, 140)}
    if name == "gap":
        X, _ = people(140, 0)
        return X, {"y": ((X["sex"] == "M") & (X["skill"] > 40)).astype(int).to_numpy()}
    if name == "places":
        X, _ = people(600, 0)
        rng = np.random.default_rng(1)
        X["town"] = rng.integers(0, 10, 600).astype(str)
        chance = 0.2 + 0.04 * X["town"].astype(int) + 0.2 * (X["sex"] == "M")
        return X, {"y": (rng.random(600) < chance).astype(int).to_numpy()}
    if name == "many":
        X, y = people(140, 0)
        others = np.random.default_rng(1).normal(size=(140, 8))
        return X.join(pd.DataFrame(others, columns=list("abcdefgh"))), {"y": y}
    if name == "missing":
        X, y = people(140, 3)
        rng = np.random.default_rng(0)
        X = X.mask(pd.DataFrame(rng.random(X.shape) < 0.05, columns=X.columns))
        return X.astype({"age": float}), {"y": y}
    if name == "sex missing":
        X, y = people(140, 3)
        X["sex"] = X["sex"].mask(np.arange(140) % 15 == 0)
        return X, {"y": y}
    if name == "network":
        X, y = people(140, 1)
        X = X[["skill", "age"]].assign(sex=(X["sex"] == "M").astype(int))
        net = MLPClassifier((8, 4), alpha=0.1, max_iter=60, solver="lbfgs", random_state=0)
        return X, {"y": y, "model": net.fit(X, y)}
    learner, seed = {
        "linear": (LogisticRegression(max_iter=2000), 1),
        "forest": (RandomForestClassifier(10, random_state=0), 2),
    }[name]
    X, y = people(140, seed)
    return X, {"y": y, "model": Coded(learner, X, y)}


def settings_of(cls, name, more):
    """Return the settings of a detector that does little work, on one protected column."""
    settings = {"protected": ["sex"], **entry(name).settings, "random_state": 0}
    return {k: v for k, v in settings.items() if k in signature(cls).parameters} | more


# Where the same value matters on the same table in most of the detectors that have the setting.
SHARED = {
    "adjust_for": (["skill"], "decisions", {}),
    "similarity__caliper": (0.25, "decisions", {}),
    "combine": ("multiple", "decisions", {"protected": ["sex", "race"]}),
    "complainants": ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "decisions", {}),
    "confirm": (0.25, "decisions", {}),
    "counterfactuals": (same_rows, "decisions", {}),
    "criterion": ("gap", "decisions", {}),
    "direction": ("higher", "decisions", {}),
    "distinct": (False, "forest", {}),
    "errors": ("loss", "linear", {}),
    "features": (["town", "age"], "decisions", {}),
    "generator": ("pca", "decisions", {}),
    "gradient": ("difference", "network", {}),
    "group": ({"sex": "F"}, "decisions", {}),
    "intersections": (2, "decisions", {"protected": ["sex", "race"]}),
    "k": (2, "decisions", {}),
    "max_distance": (0.25, "decisions", {}),
    "limits__found": (0, "decisions", {}),
    "max_iter": (0, "decisions", {}),
    "max_predicates": (1, "decisions", {}),
    "limits__queries": (50, "linear", {}),
    "limits__rows": (2, "decisions", {}),
    "limits__tests": (20, "decisions", {}),
    "metric": ("accuracy", "linear", {}),
    "min_gap": (0.25, "linear", {"output": "probability"}),
    "min_rows": (8, "decisions", {}),
    "min_support": (1, "decisions", {}),
    "missing": ("drop", "missing", {}),
    "must_include": (None, "forest", {}),
    "n_bins": (2, "decisions", {"protected": ["age"]}),
    "n_clusters": (1, "decisions", {}),
    "n_folds": (4, "decisions", {}),
    "n_local": (0, "linear", {}),
    "n_neighbors": (5, "decisions", {}),
    "n_quality": (2, "decisions", {}),
    "n_resamples": (2, "decisions", {}),
    "n_seeds": (2, "decisions", {}),
    "nuisance": ("boosting", "decisions", {}),
    "order": ("effect", "decisions", {}),
    "output": ("probability", "linear", {}),
    "pos_label": ([0], "decisions", {}),
    "redundancy": (0.25, "decisions", {}),
    "reference": ("rest", "decisions", {}),
    "rule": (Rule(significance=0.6), "decisions", {}),
    "similarity__scale": ("std", "decisions", {}),
    "similarity__max_distance": (0.25, "decisions", {}),
    "similarity__metric": ("alvarez2023", "decisions", {}),
    "scope": ("each", "decisions", {}),
    "seeds": ("data", "decisions", {}),
    "step_size": (2, "decisions", {}),
    "store_neighbors": (True, "decisions", {}),
    "store_tested": (True, "decisions", {}),
    "subgroups": ([{"sex": "F"}], "decisions", {}),
    "learn_on": (0.875, "decisions", {}),
    "threshold": (0.25, "decisions", {}),
    "versus": ("everyone", "decisions", {}),
    "weights": ("frequency", "weighted", {}),
    "witness": ("boosting", "decisions", {}),
}

# The other rows; a detector's own may stand in its test file, as SETTINGS_THAT_MATTER.
BY_WITNESS = {  # of learned audits of scores
    "max_predicates": (1, "forest", {"protected": ["sex", "race"]}),
    "features": (
        ["skill", "age", "town", "sex", "race"],
        "forest",
        {"protected": ["sex", "race"]},
    ),
    "n_bins": (2, "forest", {"protected": ["sex", "race"]}),
    "limits__tests": (0, "decisions", {}),
}
OWN = {
    "ADF": {
        "next_state": ("restart", "linear", {}),
        "pair": ("own", "decisions", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "Aequitas": {
        "mode": (
            "random",
            "forest",
            {"n_local": 300, "limits": Limits(tests=3000), "n_seeds": 200},
        ),
        "n_seeds": (12, "decisions", {}),
        "step_size": (2, "linear", {}),
        "next_state": ("metropolis", "linear", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "BiasScan": {
        "mode": ("continuous", "decisions", {}),
        "scoring": ("poisson", "decisions", {}),
        "alpha": (0.1, "decisions", {"scoring": "berk_jones"}),
        "expected": ("mean", "linear", {}),
        "penalty": (0.25, "decisions", {}),
        "n_restarts": (1, "decisions", {}),
        "n_resamples": (4, "decisions", {}),
        "min_support": (0.0125, "decisions", {}),
        "max_predicates": (2, "decisions", {}),
    },
    "BoundarySearch": {
        "n_pool": (75, "decisions", {}),
        "share": (0.025, "decisions", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "CounterfactualFairness": {
        "do": ({"sex": "M"}, "decisions", {}),
        "worlds": ([same_rows], "decisions", {}),
        "group": ({"race": "b"}, "decisions", {}),
        "evaluate": ("refit", "decisions", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "CounterfactualSituationTesting": {
        "centers": (True, "linear", {}),
        "direction": ("both", "decisions", {}),
        "limits__rows": (100, "decisions", {"n_neighbors": 5}),
        "missing": ("drop", "sex missing", {"n_neighbors": 5}),
    },
    "DiscriminationPatterns": {
        "delta": (0.0025, "decisions", {}),
        "rank": ("divergence", "decisions", {}),
        "min_support": (0.1, "decisions", {}),
        "smoothing": (0.25, "decisions", {}),
        "binarize": ("median", "decisions", {}),
        "features": (["skill", "age", "town", "sex", "race"], "decisions", {}),
        "redundancy": (0, "missing", {}),
    },
    "DiscriminatoryRules": {
        "measure": ("olift", "decisions", {}),
        "threshold": (2.0, "missing", {}),
        "min_support": (0.1, "decisions", {}),
        "features": (["sex", "town"], "decisions", {}),
        "direction": ("lower", "decisions", {}),
        "order": ("bound", "decisions", {}),
        "distinct": (False, "decisions", {}),
    },
    "DisparityMonitor": {
        "strata": ("town", "decisions", {}),
        "gaps": ((0.3,), "decisions", {}),
        "run_length": (2, "missing", {}),
        "bounds": ((0, 2), "decisions", {"output": "value", "bounds": (0, 1)}),
    },
    "DisparityPursuit": {
        "borrow": (False, "decisions", {}),
        "features": (["sex", "town"], "decisions", {}),
        "k": (1, "linear", {}),
        "n_resamples": (2, "decisions", {}),
        "limits__tests": (0, "decisions", {}),
    },
    "DivExplorer": {
        "min_support": (0.1, "decisions", {}),
        "must_include": (None, "decisions", {"versus": "everyone"}),
        "features": (["sex", "town"], "decisions", {}),
        "explain": (True, "decisions", {}),
        "order": ("bound", "decisions", {}),
    },
    "EIDIG": {
        "momentum": (0, "decisions", {}),
        "refresh_interval": (1, "linear", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "EffectDecomposition": {
        "mediators": (["skill"], "decisions", {}),
        "confounders": (["age"], "decisions", {}),
        "classifier": ("boosting", "decisions", {}),
        "reference": ({"sex": "F"}, "decisions", {}),
    },
    "ExactTree": {
        "n_checks": (25, "decisions", {}),
        "limits__queries": (50, "decisions", {}),
        "rule": (Rule(relevant_share=0.9), "linear", {}),
    },
    "ExpGA": {
        "n_draws": (7, "decisions", {}),
        "n_population": (2, "decisions", {}),
        "n_generations": (0, "decisions", {}),
        "mutation": (0.0125, "decisions", {}),
        "fitness": ("hit", "decisions", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "FACTS": {
        "notion": ("choice", "decisions", {}),
        "viewpoint": ("micro", "decisions", {}),
        "phi": (0.25, "decisions", {}),
        "min_support": (0.0125, "decisions", {}),
        "actions__immutable": ("age", "decisions", {}),
        "actions__monotone": ({"skill": 1}, "decisions", {}),
        "actions__max_step": ({"skill": 1}, "linear", {}),
        "actions__columns": ("subset", "decisions", {}),
        "actions__min_support": (0.25, "decisions", {}),
        "actions__n_bins": (2, "decisions", {}),
        "actions__numbers": ("shift", "decisions", {}),
        "actions__candidates": ([{"town": "n"}], "decisions", {}),
        "costs__weights": ({"skill": 3.0}, "decisions", {}),
        "costs__function": (lambda column, before, after: 5.0, "linear", {}),
        "costs__budget": (0.25, "decisions", {}),
        "costs__infinity": (0.25, "missing", {}),
        "learn_on": (0.125, "decisions", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "FlipTest": {
        "group": ({"race": "b"}, "decisions", {"protected": ["sex", "race"]}),
        "combine": ("intersectional", "decisions", {"protected": ["sex", "race"]}),
        "max_attributes": (1, "decisions", {"protected": ["sex", "race"]}),
        "cost": ("l1", "decisions", {}),
        "outcome": ("y", "linear", {}),
        "equalized_odds": (True, "decisions", {}),
        "solver": ("auto", "decisions", {}),
        "n_draws": (2, "decisions", {}),
        "n_permutations": (0, "decisions", {}),
        "missing": ("drop", "sex missing", {}),
    },
    "GerrymanderingAudit": {
        "metric": ("all", "decisions", {}),
        "witness": ("boosting", "decisions", {}),
        "limits__tests": (0, "decisions", {}),
    },
    "GroupDisparity": {
        "measures": ("all", "decisions", {}),
        "preset": ("four_fifths", "decisions", {}),
        "min_share": (0.5, "decisions", {}),
        "threshold": (0.95, "decisions", {"preset": "four_fifths"}),
        "k": (1, "decisions", {}),
        "shrinkage": (True, "decisions", {}),
        "n_resamples": (30, "linear", {"measures": "all"}),
    },
    "KOSEI": {
        "n_seeds": (50, "decisions", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "LIMI": {
        "limits__rows": (1, "decisions", {}),
        "n_samples": (1, "decisions", {}),
        "n_boundary": (50, "decisions", {}),
        "confidence": (0.5, "linear", {}),
        "step": (0.075, "linear", {}),
        "n_baseline": (12, "decisions", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "MultiaccuracyAudit": {
        "residual": ("outcome", "linear", {}),
        "output": ("auto", "linear", {}),
        **BY_WITNESS,
    },
    "MulticalibrationAudit": {
        "output": ("auto", "linear", {}),
        "n_score_bins": (1, "linear", {}),
        "nuisance": ("boosting", "linear", {}),
        **BY_WITNESS,
    },
    "OaxacaBlinder": {
        "method": ("fairlie", "decisions", {}),
        "coefficients": ("cotton", "decisions", {}),
        "controls": (["age"], "decisions", {"method": "gelbach"}),
        "classifier": (tree(), "decisions", {"method": "reweighting"}),
        "n_folds": (2, "decisions", {"method": "reweighting", "classifier": tree()}),
        "reference": ({"sex": "F"}, "decisions", {}),
    },
    "OutcomeTest": {"reference": ({"sex": "F"}, "decisions", {})},
    "ProxyDisparity": {
        "place": ("town", "decisions", {}),
        "reference": ("largest", "missing", {}),
    },
    "RankingDisparity": {
        "query": ("town", "decisions", {}),
        "exposure": ("linear", "decisions", {}),
        "depth": (1, "decisions", {}),
        "output": ("decision", "linear", {}),
        "reference": ({"sex": "F"}, "decisions", {}),
    },
    "RiskAdjustedRegression": {
        "outcomes": ("all", "decisions", {}),
        "use_group": (False, "decisions", {}),
        "learner": ("auto", "decisions", {}),
        "missing": ("drop", "decisions", {}),
    },
    "SG": {
        "n_seeds": (100, "decisions", {}),
        "seeds": ("both", "decisions", {}),
        "surrogate": ("instance", "decisions", {}),
        "n_samples": (50, "decisions", {}),
        "limits__queries": (50, "decisions", {}),
    },
    "SituationTesting": {
        "direction": ("both", "decisions", {}),
        "limits__rows": (100, "decisions", {"n_neighbors": 5}),
        "missing": ("drop", "sex missing", {"n_neighbors": 5}),
    },
    "SliceFinder": {
        "approach": ("cluster", "decisions", {}),
        "effect_size": (0.025, "forest", {}),
        "max_depth": (1, "forest", {}),
        "features": (["skill", "age", "town", "sex", "race"], "forest", {}),
        "k": (2, "forest", {}),
        "order": ("bound", "forest", {}),
        "weights": ("frequency", "forest", {}),
        "limits__tests": (0, "decisions", {}),
        "missing": ("drop", "forest", {}),
    },
    "SliceLine": {
        "alpha": (0.2375, "decisions", {}),
        "features": (["skill", "age", "town", "sex", "race"], "forest", {}),
        "redundancy": (0.25, "forest", {}),
        "k": (2, "forest", {}),
        "n_permutations": (9, "decisions", {"versus": "everyone"}),
        "order": ("bound", "forest", {}),
        "weights": ("frequency", "forest", {}),
        "limits__tests": (0, "decisions", {}),
        "missing": ("drop", "forest", {}),
    },
    "Themis": {
        "intersections": (1, "decisions", {"protected": ["sex", "race"]}),
        "threshold": (0.05, "linear", {}),
        "margin": (0.025, "linear", {"protected": ["sex", "race"]}),
        "limits__queries": (50, "decisions", {}),
    },
    "ThresholdTest": {
        "place": (None, "places", {"place": "town"}),
        "reference": ({"sex": "F"}, "places", {"place": "town"}),
        "model_error": (0.2, "places", {"place": "town"}),
        "rule": (Rule(significance=0.6), "places", {"place": "town"}),
        "pos_label": ([0], "places", {"place": "town"}),
    },
    "VeriFair": {
        "spec": ("causal", "decisions", {}),
        "slack": (0.0375, "decisions", {}),
        "sampler": (
            lambda n, rng: table("linear")[0].sample(n, replace=True, random_state=0),
            "linear",
            {},
        ),
        "n_bins": (2, "linear", {"protected": ["age"]}),
        "ambiguity": (0.25, "decisions", {}),
        "first_batch": (50, "decisions", {}),
        "max_draws": (1, "decisions", {}),
        "min_gap": (0.2, "linear", {"spec": "individual", "output": "probability"}),
        "limits__queries": (50, "decisions", {}),
    },
}

# No table is known yet on which these matter. A new setting does not belong here.
WITHOUT = {
    "CounterfactualFairness": ["block", "sensitivity"],
    "DiscriminationPatterns": ["search"],
    "DisparityMonitor": ["subgroups"],
    "DivExplorer": ["distinct"],
    "FlipTest": ["max_distance"],
    "GerrymanderingAudit": ["features", "max_predicates", "nuisance"],
    "ProxyDisparity": ["learner", "max_difference", "n_bins", "n_folds", "proba"],
    "ThresholdTest": ["missing", "n_bins"],
    "VeriFair": ["keep"],
}


def rows_of(name, settings):
    """Return {setting: (value, table, other settings)} of a detector."""
    own = OWN.get(name) or of_its_test_file(name, "SETTINGS_THAT_MATTER") or {}
    without = WITHOUT.get(name, [])
    shared = {s: row for s, row in SHARED.items() if s in settings and s not in without}
    return shared | own


def outcome(cls, settings, name):
    """Return all that a detector says on a table, except its settings and seconds."""
    X, more = table(name)
    flat = {k: v for k, v in settings.items() if "__" not in k}
    fields = {k: v for k, v in settings.items() if "__" in k}
    result = cls(**flat).set_params(**fields).fit(X, **more).result_
    parts = [result.to_frame(), result.estimates, *map(result.tables.get, sorted(result.tables))]
    parts = [
        part.drop(columns=[c for c in part if "seconds" in str(c) or str(c) == "EGS"]).to_csv()
        for part in parts
        if isinstance(part, pd.DataFrame)
    ]
    metrics = {k: v for k, v in result.metrics.items() if k in ("TSN", "DSN", "SUR")}
    return parts, metrics, result.verdict, result.n_tested, result.n_queries, list(result.notes)
