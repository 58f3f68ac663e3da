"""A legitimate column of very many values, as identifiers have, is adjusted for at little cost."""

import numpy as np
import pandas as pd
import pytest

from skdisc.extending import FeatureSpace
from skdisc.subgroup import DisparityPursuit
from skdisc.subgroup._disparity_pursuit import _adjustment, _expectations


def table(seed, n=120):
    """Two columns of many values, one of few, and a number; values of two people among them."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": rng.integers(0, 60, n).astype(str),
            "case": rng.integers(0, 90, n).astype(str),
            "town": rng.choice(list("abc"), n),
            "age": rng.normal(size=n),
        }
    )


@pytest.mark.parametrize("seed", range(5))
def test_effects_swept_out_first_leave_the_residuals_of_least_squares(monkeypatch, seed):
    X, rng = table(seed), np.random.default_rng(seed)
    root, planes = rng.uniform(0.5, 2, len(X)), rng.normal(size=(3, len(X)))
    space = FeatureSpace.from_frame(X)
    found = []
    for many in (np.inf, 1):
        monkeypatch.setattr(_adjustment, "MANY_VALUES", many)
        effects = _adjustment.MainEffects(X, space, root)
        parts = dict(effects.by_column(planes[0], root)).values()
        inner = effects.coordinates(planes)
        found.append([effects.residual(planes), effects.leverage(), sum(parts), inner @ inner.T])
    design = effects.design.toarray()
    fit = np.linalg.lstsq(design, planes.T, rcond=None)[0]
    np.testing.assert_allclose(found[1][0], planes - (design @ fit).T, atol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-9)
    np.testing.assert_allclose(found[0][3], found[1][3], atol=1e-9)
    centered = [total - total.mean() for _, _, total, _ in found]
    np.testing.assert_allclose(*centered, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_main_effects_of_many_values_are_learned_as_those_of_few(monkeypatch, seed):
    X, rng = table(seed), np.random.default_rng(seed)
    root, planes = rng.uniform(0.5, 2, len(X)), rng.normal(size=(2, len(X)))
    out = np.arange(len(X)) % 3 == 0
    predicted = []
    for many in (np.inf, 1):
        monkeypatch.setattr(_expectations, "MANY_VALUES", many)
        effects = _adjustment.MainEffects(X, FeatureSpace.from_frame(X), root)
        predicted.append(_expectations._additive(effects, root)(planes, ~out, out))
    np.testing.assert_allclose(*predicted, atol=1e-6)


def test_identifiers_are_no_dense_matrix_of_their_number(monkeypatch):
    sizes = []

    def kept(module, name):
        own = getattr(module, name)
        return lambda a, *more: sizes.append(len(a)) or own(a, *more)

    monkeypatch.setattr(_adjustment.linalg, "eigh", kept(_adjustment.linalg, "eigh"))
    monkeypatch.setattr(np.linalg, "solve", kept(np.linalg, "solve"))
    X = table(0, 400).assign(sex=list("FM") * 200, row=[f"r{i}" for i in range(400)])
    y = np.random.default_rng(0).integers(0, 2, 400)
    result = DisparityPursuit(protected="sex", pos_label=1, random_state=0).fit(X, y).result_
    assert "row (fewer than five people for each value)" in result.reason
    assert max(sizes, default=0) < 100
