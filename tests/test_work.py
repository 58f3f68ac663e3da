"""The work of six fits: a change that does some of it twice fails here, on any machine.

Counted are the calls that code of this package makes, so that the figures do not depend on the
versions of others. They are the counts of today: lower a limit when a change lowers its count.
"""

import sys
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skdisc import Audit, Limits, Subgroup
from skdisc._utils import _hashing
from skdisc.group import GroupDisparity
from skdisc.individual import ADF, SituationTesting
from skdisc.subgroup import FACTS, DivExplorer

SORTS = ("argsort", "lexsort", "sort", "unique")


@dataclass(frozen=True)
class Work:
    """What a fit may do at most."""

    factorizations: int  # calls of pd.factorize on a value of each person
    sorts: int  # calls of numpy's functions that sort
    predictions: int  # calls of the model, whatever their number of rows
    peak: float  # megabytes above those before the fit, with room for versions of numpy and pandas


class Model:
    """A linear model that counts its calls."""

    def __init__(self, X, y):
        self.n_calls, self.classes_ = 0, np.array([0, 1])
        self.inner = LogisticRegression().fit(X, y)

    def predict(self, X):
        self.n_calls += 1
        return self.inner.predict(X)

    def predict_proba(self, X):
        self.n_calls += 1
        return self.inner.predict_proba(X)


def people(n):
    rng = np.random.default_rng(0)
    numbers = {"sex": 2, "race": 3, "age": 40, "grade": 5}
    X = pd.DataFrame({name: rng.integers(0, most, n) for name, most in numbers.items()})
    y = (X["age"] + 8 * X["sex"] + rng.normal(0, 8, n) > 24).astype(int)
    return X, y


def text(X):
    """Return the people with texts in all columns but the age."""
    return X.astype(dict.fromkeys(["sex", "race", "grade"], str))


@pytest.fixture
def done(monkeypatch):
    """Return a function that fits a detector, and returns the work that it took."""

    def of(fit, X, y):
        counts = dict.fromkeys(("factorize", *SORTS), 0)

        def counted(name, function):
            def call(*args, **how):
                is_ours = sys._getframe(1).f_globals["__name__"].startswith("skdisc")
                is_of_few = name == "factorize" and len(args[0]) < len(X)  # tables of tests, names
                counts[name] += is_ours and not is_of_few
                return function(*args, **how)

            return call

        model = Model(X, y)
        with monkeypatch.context() as patch:
            for owner, names in ((pd, ("factorize",)), (np, SORTS)):
                for name in names:
                    patch.setattr(owner, name, counted(name, getattr(owner, name)))
            tracemalloc.start()
            try:
                fit(X, y, model)
                peak = tracemalloc.get_traced_memory()[1] / 2**20
            finally:
                tracemalloc.stop()
        return Work(counts["factorize"], sum(counts[s] for s in SORTS), model.n_calls, peak)

    return of


def by_decisions(X, y, model):
    GroupDisparity(protected=["sex", "race"], pos_label=1).fit(text(X), y)


def groups(X, y, model):
    DivExplorer(protected=["sex", "race"], pos_label=1).fit(text(X), y)


def situations(X, y, model):
    SituationTesting(protected="sex", pos_label=1).fit(text(X), y)


def search(X, y, model):
    ADF(protected="sex", pos_label=1, limits=Limits(tests=200), random_state=0).fit(X, y, model)


def recourse(X, y, model):
    FACTS(protected="sex", pos_label=1, random_state=0).fit(X, y, model)


def audit(X, y, model):
    Audit(protected=["sex", "race"], pos_label=1, random_state=0).fit(text(X), y)


LIMITS = {
    # y, and three columns of text; sorts for each of six measures, of groups and of rows.
    by_decisions: Work(factorizations=4, sorts=10, predictions=0, peak=0.8),
    # y, and three columns of text; the age is cut into bins, which sorts it once.
    groups: Work(factorizations=4, sorts=50, predictions=0, peak=0.5),
    # The same, and what neighbors are; expectations of decisions sort for each fold. The peak
    # is that of distances between blocks of rows.
    situations: Work(factorizations=5, sorts=79, predictions=0, peak=7.0),
    # Four columns of people. The model is called for the seeds, their gradients and their variants.
    search: Work(factorizations=4, sorts=17, predictions=6, peak=3.5),
    # The model is called for all people, and for all of them after each action, in one call.
    recourse: Work(factorizations=5, sorts=85, predictions=3, peak=8.0),
    # Six fits share the numbers of the columns; what is left is codes of pairs, and joined values.
    audit: Work(factorizations=20, sorts=477, predictions=0, peak=5.0),
}


def people_of(fit):
    return people(300 if fit is audit else 3000)


def excess(work, limit):
    """Return what exceeds its limit."""
    return {name for name, most in vars(limit).items() if getattr(work, name) > most}


@pytest.mark.parametrize(
    "fit",
    [pytest.param(fit, marks=[pytest.mark.slow] * (fit is audit)) for fit in LIMITS],
    ids=lambda fit: fit.__name__,
)
def test_a_fit_takes_no_more_work_than_its_limits(done, fit):
    if fit is not audit:
        done(fit, *people_of(fit))  # what is imported and kept for later fits is not their work
    work = done(fit, *people_of(fit))
    assert not excess(work, LIMITS[fit]), work


@pytest.mark.parametrize("fit", [by_decisions, groups, situations])
def test_columns_that_are_numbered_again_exceed_the_limits(done, fit, monkeypatch):
    monkeypatch.setattr(_hashing, "_stored", lambda column: (column, object()))
    assert "factorizations" in excess(done(fit, *people_of(fit)), LIMITS[fit])


def test_a_second_prediction_and_more_memory_exceed_the_limits(done):
    def twice(X, y, model):
        search(X, y, model)
        model.predict(X)
        np.ones((1000, 1000))

    assert excess(done(twice, *people_of(search)), LIMITS[search]) == {"predictions", "peak"}


def test_groups_below_the_size_that_is_judged_are_not_looked_for_in_the_table(monkeypatch):
    X, y = people(3000)
    n_calls, mask = 0, Subgroup.mask

    def counted(group, X):
        nonlocal n_calls
        n_calls += 1
        return mask(group, X)

    monkeypatch.setattr(Subgroup, "mask", counted)
    settings = {"versus": "everyone", "must_include": None, "min_support": 0.01, "k": 10**9}
    detector = DivExplorer(protected="sex", pos_label=1, **settings).fit(X, y)
    table = detector.result_.findings.table
    assert (table["support"] < detector.relevant_size * len(X)).sum() > 20
    assert n_calls == 0
