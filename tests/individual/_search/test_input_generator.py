"""Generators of inputs, by name and of the caller's own."""

import numpy as np
import pandas as pd
import pytest
from searches import (
    Loan,
    applicants,
)

from skdisc import Limits
from skdisc._task._task import People, Task
from skdisc.individual import LIMI, BoundarySearch
from skdisc.individual._prober import Prober
from skdisc.individual._search._input_generator import make_generator


@pytest.mark.parametrize("kind", ["copula", "pca", "uniform"])
def test_generators_give_inputs_of_the_space(kind):
    X = applicants()
    search = BoundarySearch(protected="sex", n_pool=10, random_state=0).fit(X, model=Loan())
    task = Task.open(search, People(X))
    generator = make_generator(kind, task)
    rows = generator.codes(np.random.default_rng(0).standard_normal((4000, generator.latent_dim)))
    drawn = task.space.decode(rows)
    assert (rows[:, task.space.np_index] >= 0).all()
    correlation = np.corrcoef(drawn["a"], drawn["b"])[0, 1]
    assert (correlation > 0.8) == (kind != "uniform")
    if kind == "copula":
        shares = drawn["job"].value_counts(normalize=True)
        np.testing.assert_allclose(
            shares, X["job"].value_counts(normalize=True)[shares.index], atol=0.03
        )
    if kind == "uniform":
        assert drawn["job"].value_counts(normalize=True).min() > 0.3


class Young:
    """A generator of the caller's that knows young people only."""

    latent_dim = 2

    def decode(self, Z):
        a = np.clip(20 + Z[:, 0], 15, 25)
        return pd.DataFrame({"a": a, "job": "u", "b": np.clip(20 + 3 * Z[:, 1], 0, 39)})


@pytest.mark.parametrize("search", [LIMI(n_samples=500), BoundarySearch(n_pool=500)])
def test_a_generator_of_ones_own(search):
    detector = search.set_params(protected="sex", generator=Young(), random_state=0)
    result = detector.fit(applicants(), model=Loan()).result_
    assert result.n_found > 0
    assert result.findings.original["a"].between(15, 25).all()
    assert set(result.findings.original["job"]) == {"u"}


@pytest.mark.parametrize("kind", ["copula", "pca"])
def test_a_generator_learns_from_a_sample_of_many_rows(kind):
    X = pd.concat([applicants()] * 4, ignore_index=True)
    search = BoundarySearch(protected="sex", n_pool=10, random_state=0).fit(X, model=Loan())

    def codes(X, max_rows, n=4000):
        generator = make_generator(kind, Task.open(search, People(X)), max_rows)
        scores = np.random.default_rng(0).standard_normal((n, generator.latent_dim))
        return generator.codes(scores)

    few = codes(X, len(X) // 8)
    shuffled = X.sample(frac=1, random_state=0).reset_index(drop=True)
    assert (few == codes(shuffled, len(X) // 8)).all()
    assert (codes(X, None) == codes(X, len(X))).all()
    every = codes(X, None)
    assert not (few == every).all()
    error = 4 * every.std(axis=0).max() / np.sqrt(len(X) // 8)
    np.testing.assert_allclose(few.mean(axis=0), every.mean(axis=0), atol=error)


def test_limi_audits_all_rows_though_its_generator_knows_some():
    X = applicants()
    limi = LIMI(protected="sex", n_samples=200, limits=Limits(rows=50), random_state=0)
    assert limi.fit(X, model=Loan()).result_.n_samples == len(X)
    assert limi.sampled_rows_ is None


def test_a_generator_that_is_not_learned_in_time_says_so():
    """Its columns keep their laws, and are independent."""
    X = applicants()
    search = BoundarySearch(protected="sex", n_pool=10, random_state=0).fit(X, model=Loan())
    task = Task.open(search, People(X))
    task.budget.has_spent = lambda share: True
    generator = make_generator("copula", task)
    rows = generator.codes(np.random.default_rng(0).standard_normal((4000, generator.latent_dim)))
    drawn = task.space.decode(rows)
    assert abs(np.corrcoef(drawn["a"], drawn["b"])[0, 1]) < 0.06
    assert abs(drawn["a"].mean() - X["a"].mean()) < 0.1 * X["a"].std()
    assert "time budget ended" in generator.notes[0]
    strategy = search._strategy(task, Prober(task, 0.0), False)
    assert list(strategy.notes) == list(generator.notes)
