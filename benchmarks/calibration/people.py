"""What a world draws: people, their outcomes, and how they are to be audited."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

WORDS = ("marginal", "contextual", "conditional", "individual", "counterfactual", "calibration")

CURVED = "outcomes and who is a woman follow one law that is not linear, so this gap is true"


@dataclass
class People:
    """A data set, and what an audit of it is given.

    Parameters
    ----------
    X : DataFrame
    y : ndarray
    model : callable, optional
        A model to audit; `fitted` instead is an estimator to fit inside the audit.
    weight, groups : ndarray, optional
        Weights and clusters of the rows.
    protected : list of str
    settings : dict
        Settings of detectors that have them, e.g. a causal model.
    chance : ndarray, optional
        True chance of each person to be favored, by which claims about groups are judged.
    """

    X: pd.DataFrame
    y: np.ndarray
    model: Callable | None = None
    fitted: object = None
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    protected: list = field(default_factory=lambda: ["sex", "race"])
    settings: dict = field(default_factory=dict)
    chance: np.ndarray | None = None


@dataclass(frozen=True)
class World:
    """A way to draw people, and the truth about them.

    Parameters
    ----------
    name : str
    draw : callable
        Maps a seed to `People`.
    about : str
        One clause for the page.
    fails : dict
        Maps the null hypotheses that do *not* hold to the reason.
    kind : str
        What is measured in it: "null", "reassurance", "power", "useful", "coverage", "shares",
        "notes"; "equal" (intervals at equal columns), "found" (how often a gap is found), "grid"
        (false reassurance by the gaps of candidates), "after" (the same after a finding), "fair".
    planted : dict
        The conditions of the planted group by column.
    gaps : dict
        Maps null hypotheses to the largest true gap, in multiples of the relevant gap (or ratio).
    share : float
        True share of uniformly drawn inputs with a case.
    only : tuple of str
        Names of the detectors measured in it; empty: all that can.
    population : callable, optional
        Returns people of whom every combination of values has its exact share.
    equal : float, optional
        True effect of being a woman at equal other columns.
    """

    name: str
    draw: Callable
    about: str
    fails: dict = field(default_factory=dict)
    kind: str = "null"
    planted: dict = field(default_factory=dict)
    gaps: dict = field(default_factory=dict)
    share: float = 0.0
    only: tuple = ()
    population: Callable | None = None
    equal: float | None = None


def columns(rng, n):
    """Return independent columns: two protected ones, a town and a number of points."""
    return pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1]),
            "town": rng.choice(list("uvw"), n),
            "points": rng.normal(size=n).round(1),
        }
    )


def toss(rng, p, n=None):
    """Return 0/1 outcomes of the given chances."""
    return (rng.random(n if n is not None else len(p)) < p).astype(int)


def fair_model(X):
    """Decide by columns that are independent of the protected ones."""
    return np.where((X["points"] > 0) ^ (X["town"] == "u"), 1, 0)


def legitimate(X):
    """Return chances that depend on town and points alone."""
    return (0.2 + 0.3 * (X["town"] == "u") + 0.4 * (X["points"] > 0)).to_numpy()
