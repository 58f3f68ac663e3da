"""Generators of realistic inputs, and pools of the inputs closest to the decision boundary."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.decomposition import PCA

from skdisc._space._codes import UNSEEN
from skdisc._task._sampled_rows import sampled_rows
from skdisc._utils._hashing import Growing
from skdisc.datasets._copula._copula import GaussianCopula
from skdisc.datasets._copula._schema_from_frame import learned_schema
from skdisc.individual._prober import small_dtype

KINDS = ("copula", "pca", "uniform")
_AT_ONCE = 100_000
_IN_TIME = 10_000  # with a limit on time
_MOST_SAMPLED = 10_000
_LEARNING = 0.5  # share of the time for learning a copula
_DRAWING = 0.7  # share of the time until inputs are drawn; the rest is for tests
_UNFINISHED = (
    "The time budget ended before the generator had learned how all columns are associated: some "
    "are drawn independently of each other."
)


def make_generator(kind, task, max_rows=10_000):
    """Return a generator: it has ``latent_dim``, and ``codes(Z)`` for standard normal scores Z.

    Parameters
    ----------
    kind : {"copula", "pca", "uniform"} or object
        Fitted to the rows of X; or an object with ``latent_dim`` and ``decode(Z)``, which returns
        rows with the columns of X, where protected columns are optional; or a synthesizer, whose
        ``sample(n)`` returns n rows, to which a copula is fitted.
    task : Task
        Without X, inputs are uniform.
    max_rows : int or None
        Largest number of rows that it is fitted to; of more, a random sample stratified by
        protected group.

    Raises
    ------
    TypeError
        If an object can do neither.
    """
    if hasattr(kind, "decode") and hasattr(kind, "latent_dim"):
        return _PassedGenerator(task.space, kind)
    if hasattr(kind, "sample"):
        codes = _sampled_codes(kind, task.space, max_rows or _MOST_SAMPLED)
        return _Copula(task.space, codes, task.budget)
    if not isinstance(kind, str):
        raise TypeError(
            f"generator={kind!r} has neither latent_dim and decode(Z) nor sample(n). Pass an "
            "object that has, or 'copula', 'pca' or 'uniform'."
        )
    if kind == "uniform" or task.X is None or not len(task.space.np_index):
        return _Uniform(task.space)
    if max_rows is not None and len(task.X) > max_rows:
        drawn = sampled_rows(task.X, None, max_rows, task.space, task.rng.spawn(1)[0]).drawn
        codes = task.space.encode(task.X[drawn])
    else:
        codes = task.codes
    codes = codes[np.lexsort(codes[:, task.space.np_index].T)]  # no effect of row order
    if kind == "copula":
        return _Copula(task.space, codes, task.budget)
    return _Components(task.space, codes)


def boundary_pool(task, prober, margins, generator, n, share=1.0):
    """Return the inputs with the smallest absolute margins, a share of n drawn, in that order.

    `generator`: see `make_generator`. `n`: number of inputs drawn; fewer if the limit of queries is
    small, or the time runs out. The result has shape (n_selected, n_columns).
    """
    limit = task.budget.max_queries
    # Ranking a pool costs a query for each input drawn, besides the queries of the tests.
    if limit is not None:  # half of the queries left are kept for the tests
        n = max(min(n, (limit - task.budget.queries) // 2), 1)
    drawn, distance = Growing(small_dtype(task.space), len(task.space)), Growing(float)
    at_once = _AT_ONCE if task.budget.max_seconds is None else _IN_TIME
    for start in range(0, n, at_once):
        if start and task.budget.has_spent(_DRAWING):
            break
        m = min(n - start, at_once)
        rows = generator.codes(task.rng.standard_normal((m, generator.latent_dim)))
        rows[:, task.space.p_index] = prober.draw_combos(len(rows), task.rng)
        drawn.extend(rows)
        distance.extend(np.abs(margins.at(rows)))
    best = np.argsort(distance.rows, kind="stable")[: math.ceil(share * n)]
    return drawn.rows.take(best, axis=0)


def _sampled_codes(synthesizer, space, n):
    """Return the codes of rows that a synthesizer samples; SDV returns a dict of one table."""
    rows = synthesizer.sample(n)
    if isinstance(rows, Mapping):
        (rows,) = rows.values()
    lacking = [name for name in space.names if name not in rows]
    if lacking:
        raise ValueError(f"generator.sample returns rows without the columns {lacking!r} of X.")
    codes = space.encode(rows[list(space.names)])
    codes = codes[(codes != UNSEEN).all(axis=1)]
    if not len(codes):
        raise ValueError("generator.sample returns no row whose values are those of X.")
    return codes


class _Generator:
    """Base of the generators, whose ``codes(Z)`` returns a row of codes for each row of scores.

    `notes`: what a result says about how it was learned.
    """

    notes = ()


class _Uniform(_Generator):
    """All inputs are equally likely."""

    def __init__(self, space):
        self.space, self.latent_dim = space, max(len(space.np_index), 1)

    def codes(self, Z):
        rows = np.zeros((len(Z), len(self.space)), dtype=np.int64)
        for score, j in zip(ndtr(Z.T), self.space.np_index, strict=False):
            column = self.space.columns[j]
            n = column.size - column.least
            rows[:, j] = column.least + np.minimum(score * n, n - 1)
        return rows


class _Copula(_Generator):
    """The marginals of the unprotected columns of X, joined by a Gaussian copula."""

    def __init__(self, space, codes, budget):
        self.space = space
        names = [str(j) for j in space.np_index]
        frame = pd.DataFrame(codes[:, space.np_index], columns=names)
        nominal = [j for j in space.np_index if space.columns[j].kind == "nominal"]
        kinds = dict.fromkeys(map(str, nominal), "nominal")
        learned = learned_schema(
            frame, kinds=kinds, in_time=lambda: not budget.has_spent(_LEARNING)
        )
        self.notes = [_UNFINISHED] if budget.has_spent(_LEARNING) else []
        self.attributes, self.latent_dim = learned.attributes, len(names)
        latent = GaussianCopula(learned).latent_
        self.root = np.linalg.cholesky(latent + 1e-9 * np.eye(len(latent)))

    def codes(self, Z):
        rows = np.zeros((len(Z), len(self.space)), dtype=np.int64)
        for attribute, score in zip(self.attributes, self.root @ Z.T, strict=True):
            drawn = attribute.decode(score)
            values = attribute.take(drawn) if attribute.is_discrete else drawn
            rows[:, int(attribute.name)] = np.asarray(values)
        return _clipped(self.space, rows)


class _Components(_Generator):
    """Principal components of the codes, rounded to the nearest code."""

    def __init__(self, space, codes):
        self.space = space
        self.pca = PCA(whiten=True, svd_solver="full").fit(codes[:, space.np_index])
        self.latent_dim = self.pca.n_components_

    def codes(self, Z):
        rows = np.zeros((len(Z), len(self.space)), dtype=np.int64)
        rows[:, self.space.np_index] = np.rint(self.pca.inverse_transform(Z))
        return _clipped(self.space, rows)


class _PassedGenerator(_Generator):
    """The generator that the caller passed."""

    def __init__(self, space, generator):
        self.space, self.generator, self.latent_dim = space, generator, int(generator.latent_dim)

    def codes(self, Z):
        rows = self.generator.decode(Z)
        if not isinstance(rows, pd.DataFrame):
            rows = pd.DataFrame(np.asarray(rows), columns=list(self.space.names))
        codes = np.zeros((len(rows), len(self.space)), dtype=np.int64)
        for j in self.space.np_index:
            codes[:, j] = self.space.columns[j].encode(rows[self.space.names[j]])
        return _clipped(self.space, codes)


def _clipped(space, rows):
    """Return the codes, clipped to the range of their columns."""
    ends = np.array([(c.least, c.size - 1) for c in space.columns])
    return np.clip(rows, *ends.T)
