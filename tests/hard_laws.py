"""Worlds in which legitimate columns follow laws that are hard to learn, and a gap or none."""

import numpy as np
import pandas as pd


def codes(seed, gap=0.0, n=2000, n_codes=40):
    """Outcome and share of women follow the zip code, without any order in its numbers."""
    rng = np.random.default_rng(seed)
    zips = rng.choice(np.arange(10_000, 99_999), n_codes, replace=False)
    u = rng.permutation(np.resize([-1, 1], n_codes))
    i = rng.integers(n_codes, size=n)
    woman = rng.random(n) < 0.5 + 0.3 * u[i]
    y = rng.random(n) < 0.45 + 0.15 * u[i] + gap * woman
    X = {"zip": zips[i], "points": rng.integers(0, 30, n), "town": rng.choice([*"abc"], n)}
    return pd.DataFrame(X), y.astype(float), woman.astype(float)


def parity(seed, gap=0.0, n=1500):
    """Outcome and share of women follow the parity of three columns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(2, size=(n, 5)), columns=[*"abcde"])
    sign = 1 - 2 * (X["a"] ^ X["b"] ^ X["c"]).to_numpy()
    woman = rng.random(n) < 0.5 + 0.3 * sign
    y = rng.random(n) < 0.5 + 0.15 * sign + gap * woman
    return X, y.astype(float), woman.astype(float)


def turning_code(seed, gap=0.0, n=2000, n_codes=20):
    """What a code means for outcome and share of women turns with a flag."""
    rng = np.random.default_rng(seed)
    zips = rng.choice(np.arange(10_000, 99_999), n_codes, replace=False)
    u = rng.permutation(np.resize([-1, 1], n_codes))
    i, flag = rng.integers(n_codes, size=n), rng.integers(2, size=n)
    sign = u[i] * (2 * flag - 1)
    woman = rng.random(n) < 0.5 + 0.3 * sign
    y = rng.random(n) < 0.5 + 0.15 * sign + gap * woman
    X = {"zip": zips[i], "flag": flag, "points": rng.integers(0, 30, n)}
    return pd.DataFrame(X), y.astype(float), woman.astype(float)
