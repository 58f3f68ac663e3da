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


def in_places(n=500, seed=0, thresholds=(-0.8, -0.8), risks=(-1.5, -2.0), n_places=20, **more):
    """Return people of two groups in places, outcomes, and decisions by thresholds of the risk.

    Parameters
    ----------
    n, seed, n_places : int
        n is the median number of people of each group in a place.
    thresholds, risks : tuple of float
        Logits of the group "b" and of the reference "a", at an average place.
    **more
        separations, of both groups (logs); risk_spread, apart_spread, separation_spread and
        threshold_spread, standard deviations over places of risks, of the difference of both
        groups' risks, of separations and of thresholds; follows, by how much thresholds rise with
        the risks of a place; noise, of single decisions; kind, "discriminant", "beta" or "normal".
    """
    how = {"separations": (0.5, 0.5), "risk_spread": 0.6, "apart_spread": 0.0, "follows": 0.0}
    how |= {"separation_spread": 0.15, "threshold_spread": 0.1, "noise": 0.0}
    how |= {"kind": "discriminant"}
    how |= more
    rng, parts = np.random.default_rng(seed), []
    for place in range(n_places):
        risk, separation = rng.normal(size=2) * (how["risk_spread"], how["separation_spread"])
        for side, name in enumerate("ba"):
            size = max(5, int(n * rng.lognormal(0, 0.7)))
            moved = risk + how["apart_spread"] * rng.normal()
            drawn = _risks(
                risks[side] + moved, np.exp(how["separations"][side] + separation), size, how, rng
            )
            threshold = thresholds[side] + how["threshold_spread"] * rng.normal()
            threshold += how["follows"] * moved
            chosen = drawn[0] + how["noise"] * rng.normal(size=size) > threshold
            parts.append(pd.DataFrame({"race": name, "place": place, "y": drawn[1], "d": chosen}))
    rows = pd.concat(parts, ignore_index=True)
    return rows[["race", "place"]], rows["y"].to_numpy(int), rows["d"].to_numpy(int)


def _risks(mean, distance, size, how, rng):
    """Return the logits of the risks of people, and their outcomes."""
    if how["kind"] == "discriminant":
        has = rng.random(size) < expit(mean)
        return mean + distance * (rng.normal(size=size) + distance * has) - distance**2 / 2, has
    if how["kind"] == "beta":
        risk = rng.beta(2.7 * expit(mean), 2.7 * expit(-mean), size=size).clip(1e-12, 1 - 1e-12)
    else:
        risk = expit(mean + 0.8 * distance * rng.normal(size=size))
    return np.log(risk / (1 - risk)), rng.random(size) < risk


def counted(X, y, decisions):
    """Return counts by place, group and cell: successes and failures selected, not selected."""
    cell = np.where(decisions == 0, 2, 1 - y)
    at = 6 * X["place"].to_numpy() + 3 * (X["race"] == "a").to_numpy() + cell
    return np.bincount(at, minlength=6 * (X["place"].max() + 1)).reshape(-1, 2, 3).astype(float)
