"""Generators of natural inputs, and the pool of those that a model is least sure about."""

import math

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.decomposition import PCA

from skdisc._space._codes import MISSING
from skdisc._utils._hashing import Growing
from skdisc.datasets._copula._copula import GaussianCopula
from skdisc.datasets._copula._schema_from_frame import schema_from_frame
from skdisc.individual._prober import small_dtype

KINDS = ("copula", "pca", "uniform")
_AT_ONCE = 100_000


def make_generator(kind, task):
    """Return a generator of inputs: ``latent_dim``, and ``codes(Z)`` of standard normal scores Z.

    Parameters
    ----------
    kind : {"copula", "pca", "uniform"} or object
        Learned from the rows of X; or an object with ``latent_dim`` and ``decode(Z)``, which
        returns rows with the columns of X, those that are protected optional.
    task : Task
        Without X, inputs are uniform.
    """
    if not isinstance(kind, str):
        return _Given(task.space, kind)
    if kind == "uniform" or task.X is None or not len(task.space.np_index):
        return _Uniform(task.space)
    order = np.lexsort(task.codes[:, task.space.np_index].T)  # whatever the order of the rows
    codes = task.codes[order]
    return (_Copula if kind == "copula" else _Components)(task.space, codes)


def boundary_pool(task, prober, margins, generator, n, share=1.0):
    """Return a share of n inputs drawn: those about which the model is least sure, in order."""
    most = task.budget.max_queries
    if most is not None:  # half of what is left is for the tests
        n = max(min(n, (most - task.budget.queries) // 2), 1)
    drawn, unsure = Growing(small_dtype(task.space), len(task.space)), Growing(float)
    for start in range(0, n, _AT_ONCE):
        m = min(n - start, _AT_ONCE)
        rows = generator.codes(task.rng.standard_normal((m, generator.latent_dim)))
        rows[:, task.space.p_index] = prober.draw_combos(len(rows), task.rng)
        drawn.extend(rows)
        unsure.extend(np.abs(margins.at(rows)))
    best = np.argsort(unsure.rows, kind="stable")[: math.ceil(share * n)]
    return drawn.rows.take(best, axis=0)


class _Uniform:
    """Every input is equally likely."""

    def __init__(self, space):
        self.space, self.latent_dim = space, max(len(space.np_index), 1)

    def codes(self, Z):
        rows = np.zeros((len(Z), len(self.space)), dtype=np.int64)
        for score, j in zip(ndtr(Z.T), self.space.np_index, strict=False):
            column = self.space.columns[j]
            low = MISSING if column.missing else 0
            rows[:, j] = low + np.minimum((score * (column.size - low)), column.size - low - 1)
        return rows


class _Copula:
    """Marginals of X and a Gaussian dependence, over the unprotected columns."""

    def __init__(self, space, codes):
        self.space = space
        names = [str(j) for j in space.np_index]
        frame = pd.DataFrame(codes[:, space.np_index], columns=names)
        nominal = [n for n, j in zip(names, space.np_index, strict=True) if _is_nominal(space, j)]
        learned = schema_from_frame(frame, kinds=dict.fromkeys(nominal, "nominal"))
        self.attributes, self.latent_dim = learned.attributes, len(names)
        latent = GaussianCopula(learned).latent_
        self.root = np.linalg.cholesky(latent + 1e-9 * np.eye(len(latent)))

    def codes(self, Z):
        rows = np.zeros((len(Z), len(self.space)), dtype=np.int64)
        for attribute, score in zip(self.attributes, self.root @ Z.T, strict=True):
            drawn = attribute.decode(score)
            values = attribute.take(drawn) if attribute.is_discrete else drawn
            rows[:, int(attribute.name)] = np.asarray(values)
        return _moved_inside(self.space, rows)


class _Components:
    """Principal components of the codes, moved to the nearest code."""

    def __init__(self, space, codes):
        self.space = space
        self.pca = PCA(whiten=True, svd_solver="full").fit(codes[:, space.np_index])
        self.latent_dim = self.pca.n_components_

    def codes(self, Z):
        rows = np.zeros((len(Z), len(self.space)), dtype=np.int64)
        rows[:, self.space.np_index] = np.rint(self.pca.inverse_transform(Z))
        return _moved_inside(self.space, rows)


class _Given:
    """A generator of the caller's."""

    def __init__(self, space, generator):
        self.space, self.generator, self.latent_dim = space, generator, int(generator.latent_dim)

    def codes(self, Z):
        rows = self.generator.decode(Z)
        if not isinstance(rows, pd.DataFrame):
            rows = pd.DataFrame(np.asarray(rows), columns=list(self.space.names))
        codes = np.zeros((len(rows), len(self.space)), dtype=np.int64)
        for j in self.space.np_index:
            codes[:, j] = self.space.columns[j].encode(rows[self.space.names[j]])
        return _moved_inside(self.space, codes)


def _is_nominal(space, j):
    return space.columns[j].kind == "nominal"


def _moved_inside(space, rows):
    """Move codes to the nearest that a column has."""
    low = [MISSING if c.missing else 0 for c in space.columns]
    return np.clip(rows, low, [c.size - 1 for c in space.columns])
