"""Simulated decision makers with known thresholds, about people with known risks."""

import numpy as np
import pandas as pd
from scipy.special import expit


def decided(n=2000, seed=0, gap=0.0, apart=0.7, *, exact=False):
    """Return people, outcomes, and decisions whose threshold of the risk is the same for all.

    Parameters
    ----------
    n, seed : int
    gap : float
        What is added to the chance of selection of people of the group "b".
    apart : float
        How much higher the mean of "x" is in the group "b", whose risks are then higher.
    exact : bool
        Whether everyone above the threshold is selected, and no one below.
    """
    rng = np.random.default_rng(seed)
    b = rng.random(n) < 0.4
    x = rng.normal(size=(n, 2))
    x[:, 0] += apart * b
    risk = expit(-0.3 + x[:, 0] + 0.5 * x[:, 1])
    chance = (risk > 0.45) * 1.0 if exact else np.clip(expit(6 * (risk - 0.45)) + gap * b, 0, 1)
    X = pd.DataFrame({"race": np.where(b, "b", "a"), "x": x[:, 0], "z": x[:, 1]})
    return X, (rng.random(n) < risk).astype(int), (rng.random(n) < chance).astype(int)
