"""What the tests of the searches share: spaces, people, models, and how much is searched."""

import math
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skdisc import FeatureSpace, Limits, all_detectors
from skdisc.extending import SearchDetector
from skdisc.individual import (
    ADF,
    EIDIG,
    KOSEI,
    LIMI,
    SG,
    Aequitas,
    BoundarySearch,
    ExpGA,
)

SPACE = FeatureSpace.from_domains(
    {"a": (0, 7), "job": [0, 1, 2], "b": (0, 5), "sex": [0, 1], "race": [0, 1, 2]},
    protected=["sex", "race"],
)


PATIENT = {  # enough work to find everything in a small space
    "Aequitas": Aequitas(n_local=200),
    "ADF": ADF(n_local=200),
    "EIDIG": EIDIG(n_local=200),
    "KOSEI": KOSEI(n_local=None),
    "KOSEI at the boundary": KOSEI(n_local=None, seeds="boundary"),
    "SG": SG(n_samples=500),
    "ExpGA": ExpGA(n_draws=200, n_generations=300, mutation=0.4),
    "LIMI": LIMI(generator="uniform", n_samples=3000, n_boundary=500, n_baseline=1000),
    "BoundarySearch": BoundarySearch(generator="uniform", n_pool=3000, share=1.0),
}


for _name, _search in all_detectors().items():  # another search finds everything by default
    if issubclass(_search, SearchDetector) and _name not in PATIENT:
        PATIENT[_name] = _search()


QUICK = {  # little work, for what does not depend on how much is done
    "Aequitas": {"n_local": 10},
    "ADF": {"n_local": 10},
    "EIDIG": {"n_local": 10},
    "SG": {"n_samples": 100, "n_seeds": 60},
    "ExpGA": {"n_draws": 60, "n_generations": 3},
    "LIMI": {"n_samples": 300, "n_boundary": 100, "n_baseline": 30},
    "BoundarySearch": {"n_pool": 200, "share": 0.5},
}


every = pytest.mark.parametrize("name", PATIENT)


def search(name, **settings):
    detector = PATIENT[name].__class__(**PATIENT[name].get_params())
    limits = settings.pop("limits", None) or Limits()
    if limits.tests is None:
        limits = limits.but(tests=math.inf)
    return detector.set_params(**{"random_state": 0, **settings}, limits=limits)


def quick(name, **settings):
    return search(name, **{**QUICK.get(name, {}), **settings})


def rows_of(space=SPACE):
    sizes = [c.size for c in space.columns]
    return np.indices(sizes).reshape(len(sizes), -1).T


@lru_cache
def make(kind, seed):
    """Return people, and a model trained on decisions that depend on sex and race."""
    rng = np.random.default_rng(seed)
    X = SPACE.decode(SPACE.sample(400, rng))
    z = X["a"] / 2 + X["b"] / 3 + (X["sex"] == 1) - (X["race"] == 0) + (X["job"] == 1)
    y = (z + rng.normal(0, 0.6, 400) > z.median()).astype(int).to_numpy()
    model = DecisionTreeClassifier(max_depth=6, random_state=0)
    return X, y, (model if kind == "tree" else LogisticRegression()).fit(X, y)


def truth(model):
    """Return which inputs are discriminatory, an array of shape (8, 3, 6)."""
    sizes = [c.size for c in SPACE.columns]
    decided = (model.predict(SPACE.decode(rows_of())) == 1).reshape(sizes)
    return decided.any(axis=(3, 4)) & ~decided.all(axis=(3, 4))


def cases_of(model):
    return set(map(tuple, np.argwhere(truth(model)).tolist()))


def inputs_of(result):
    codes = SPACE.encode(result.findings.original)[:, :3]
    return [tuple(row) for row in codes.tolist()]


def points(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.integers(0, 60, n), "b": rng.integers(0, 60, n)})
    return X.assign(sex=rng.integers(0, 2, n))


def linear(X, gap=6):
    y = X["a"] + 2 * X["b"] + gap * X["sex"] > 90
    return LogisticRegression(C=1e4, max_iter=5000).fit(X, y)


def applicants(n=600, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 40, n)
    b = np.clip(a + rng.integers(-5, 6, n), 0, 39)
    job = np.where(rng.random(n) < 0.8, "u", rng.choice(list("vw"), n))
    return pd.DataFrame({"a": a, "job": job, "b": b, "sex": rng.integers(0, 2, n)})


class Loan:
    """A margin that grows with a and b, and a little with sex."""

    classes_ = np.array([0, 1])

    def decision_function(self, X):
        return (X["a"] + X["b"] + 4 * X["sex"] - 41.5).to_numpy() / 3

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)
