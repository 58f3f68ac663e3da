"""Null worlds: data without the disparity that a null hypothesis names."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.calibration.people import (
    CURVED,
    People,
    World,
    columns,
    fair_model,
    legitimate,
    toss,
)
from skdisc.causal import StructuralCausalModel

MIXED = "sex and town go together and outcomes depend on the town, so this gap is true"
CORRELATED = dict.fromkeys(("marginal", "contextual", "counterfactual", "calibration"), MIXED)


def logistic():
    """Return an unfitted classifier for text and numbers."""
    text = make_column_selector(dtype_exclude="number")
    encode = make_column_transformer((OneHotEncoder(), text), remainder="passthrough")
    return make_pipeline(encode, LogisticRegression(max_iter=500))


def coin(seed, n=1000, p=0.5, **more):
    rng = np.random.default_rng(seed)
    return People(columns(rng, n), toss(rng, p, n), **more)


def depends_on_others(seed, n=1000):
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    return People(X, toss(rng, legitimate(X)))


def interaction(seed, n=1000):
    """Points help in one town and harm in the others."""
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    return People(X, toss(rng, np.where((X["points"] > 0) ^ (X["town"] == "u"), 0.8, 0.3)))


def correlated(seed, n=2000, n_places=3):
    """Women live in other places than men, and outcomes depend on the place alone."""
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    place = rng.integers(n_places, size=n)
    X["sex"] = np.where(toss(rng, 0.25 + 0.5 * place / (n_places - 1)), "F", "M")
    X["town"] = [f"t{i}" for i in place]
    return People(X, toss(rng, 0.3 + 0.4 * place / (n_places - 1)))


def simpson(seed, n=1000):
    """Most women live in one town, and only there points count, and count much."""
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    X["sex"] = np.where(toss(rng, np.where(X["town"] == "u", 0.85, 0.3)), "F", "M")
    helped = (X["town"] == "u") & (X["points"] > 0)
    return People(X, toss(rng, np.where(helped, 0.9, 0.3)))


def agreement(seed, n=1500):
    """Women live where town and work agree, on which outcomes depend, without main effects."""
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    X["town"], X["work"] = rng.choice(["u", "v"], (2, n))
    agree = np.where(X["town"] == X["work"], 1, -1)
    X["sex"] = np.where(toss(rng, 0.5 + 0.3 * agree), "F", "M")
    return People(X, toss(rng, 0.5 + 0.1 * agree))


def thirty(seed, n=2000):
    rng = np.random.default_rng(seed)
    X = columns(rng, n).drop(columns="sex")
    X["race"] = [f"r{i:02}" for i in rng.integers(30, size=n)]
    return People(X, toss(rng, 0.3, n), protected=["race"])


def rare(seed, n, rate):
    """About 1,000 groups, few of whom have the outcome."""
    rng = np.random.default_rng(seed)
    sizes = {"sex": 2, "race": 4, "town": 6, "work": 6, "school": 5, "year": 5}
    X = pd.DataFrame({k: [f"{k}{i}" for i in rng.integers(m, size=n)] for k, m in sizes.items()})
    return People(X, toss(rng, rate, n), settings={"min_support": 0.01})


def fivefold(seed, n=1000, told=True):
    """Every row occurs five times."""
    one = coin(seed, n // 5)
    groups = np.repeat(np.arange(n // 5), 5)
    X = one.X.loc[groups].reset_index(drop=True)
    return People(X, one.y[groups], groups=groups if told else None)


def households(seed, n=1000, told=True):
    """Five people of a household live in one town, are of one race, and mostly decided alike."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n // 5), 5)
    X, shared = columns(rng, n), columns(rng, n // 5)
    for name in ("race", "town"):
        X[name] = shared[name].to_numpy()[groups]
    chance = rng.choice([0.2, 0.8], n // 5)[groups]
    return People(X, toss(rng, chance), groups=groups if told else None)


def lognormal(seed):
    one = coin(seed)
    one.weight = np.random.default_rng([seed, 1]).lognormal(size=len(one.X))
    return one


def tiny(seed):
    one = coin(seed)
    one.weight = 1e-3 * np.random.default_rng([seed, 1]).uniform(0.5, 1.5, len(one.X))
    return one


def heavy_few(seed):
    one = coin(seed)
    one.weight = np.where(np.random.default_rng([seed, 1]).random(len(one.X)) < 0.02, 50.0, 1.0)
    return one


def by_outcome(seed):
    one = coin(seed)
    one.weight = np.where(one.y == 1, 10.0, 1.0)
    return one


def undersampled(seed, n=2000):
    """One event in 20 was sampled, and every second other row."""
    rng = np.random.default_rng(seed)
    X = columns(rng, 4 * n)
    y = toss(rng, 0.3, 4 * n)
    kept = rng.random(4 * n) < np.where(y == 1, 0.05, 0.5)
    weight = np.where(y == 1, 20.0, 2.0)[kept]
    return People(X[kept].reset_index(drop=True), y[kept], weight=weight)


def fair(seed, n=500):
    one = coin(seed, n)
    one.model = fair_model
    return one


def fair_by_place(seed):
    """A model that decides by the place, where women and men live in different ones."""
    one = correlated(seed, 1000)
    one.model = by_place
    return one


def by_place(X):
    return (X["town"] != "t0").astype(int).to_numpy()


def pay_moved(seed, n=600):
    """Sex moves pay; the audited outcome depends on neither."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    pay = (sex == "M") + rng.normal(size=n)
    X = pd.DataFrame({"sex": sex, "pay": pay, "points": rng.normal(size=n)})
    scm = StructuralCausalModel([("sex", "pay"), "points"])
    return People(X, toss(rng, 0.5, n), protected=["sex"], settings={"counterfactuals": scm})


def uneven_numbers(seed, n=1000):
    """A number whose spread, not its mean, depends on sex and town."""
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    X["sex"] = rng.choice(["F", "M"], n, p=[0.2, 0.8])
    spread = np.where(X["sex"] == "F", 3.0, 1.0) * np.where(X["town"] == "u", 2.0, 1.0)
    return People(X, rng.normal(size=n) * spread)


def heavy_losses(seed, n=1000):
    """Errors of a model with very long tails, which have nothing to do with any column."""
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    return People(X, rng.standard_t(2.1, n), model=zero, settings={"errors": "squared"})


def zero(X):
    return np.zeros(len(X))


def noisy_labels(seed, n=1000):
    """A fair model errs more in one town, for everybody alike."""
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    wrong = toss(rng, np.where(X["town"] == "u", 0.4, 0.05))
    return People(X, fair_model(X) ^ wrong, model=fair_model)


def protected_number(seed, n=1000):
    rng = np.random.default_rng(seed)
    X = columns(rng, n).drop(columns="race")
    X["age"] = rng.gamma(4, 10, n).round() + 18
    return People(X, toss(rng, legitimate(X)), protected=["sex", "age"])


def missing_values(seed, n=1000):
    one = depends_on_others(seed, n)
    rng = np.random.default_rng([seed, 1])
    one.X["sex"] = one.X["sex"].where(rng.random(n) > 0.1)
    one.X["race"] = one.X["race"].where(rng.random(n) > 0.3)
    return one


def many_columns(seed, n=1000):
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    more = {f"c{i}": rng.choice(list("xyz"), n) for i in range(26)}
    return People(X.join(pd.DataFrame(more)), toss(rng, legitimate(X)))


def _sized(draw, *args, **kwargs):
    return lambda seed: draw(seed, *args, **kwargs)


NULLS = [
    World("coin", coin, "y is the toss of a coin; n = 1,000"),
    World("legitimate", depends_on_others, "y depends on town and points alone; n = 1,000"),
    World("interaction", interaction, "y depends on an interaction of town and points"),
    World("correlated", correlated, "sex goes with town, y depends on town; n = 2,000", CORRELATED),
    World("60 places", _sized(correlated, 2000, 60), "the same, with 60 towns", CORRELATED),
    World("200 places", _sized(correlated, 2000, 200), "the same, with 200 towns", CORRELATED),
    World("simpson", simpson, "points count only where most women live", CORRELATED),
    World(
        "agreement",
        agreement,
        "women live where town and work agree, and y depends on this interaction alone, "
        "which a linear model does not have",
        CORRELATED | {"linear": CURVED},
    ),
    World("30 values", thirty, "30 protected values, n = 2,000, rate .3"),
    World("rare .2 %", _sized(rare, 5000, 0.002), "rate .002, n = 5,000, 1,000 groups"),
    World("rare 5 %", _sized(rare, 5000, 0.05), "rate .05, n = 5,000, 1,000 groups"),
    World("rare .2 %, 20,000", _sized(rare, 20_000, 0.002), "rate .002, n = 20,000"),
    World("rare 5 %, 20,000", _sized(rare, 20_000, 0.05), "rate .05, n = 20,000"),
    World("fivefold", fivefold, "every row five times, with `groups=`"),
    World("households", households, "households of five, with `groups=`"),
    World("fair model", fair, "a model of points xor town; n = 500"),
    World("model by place", fair_by_place, "a model of the town; sex goes with town", CORRELATED),
    World("noisy labels", noisy_labels, "a fair model errs more in one town"),
    World("surrogate", _sized(coin, 500), "y a coin, no model: a surrogate"),
    World(
        "surrogate, legitimate", _sized(depends_on_others, 500), "y by town and points, no model"
    ),
    World("fitted", _sized(coin, 500, fitted=logistic()), "y a coin, a logistic model fitted"),
    World("scm", pay_moved, "sex moves pay, y depends on neither; n = 600"),
    World("weights lognormal", lognormal, "a coin, lognormal weights"),
    World("weights 1e-3", tiny, "a coin, weights of about 1e-3"),
    World("weights 50", heavy_few, "a coin, one row in 50 weighs 50"),
    World("weights by y", by_outcome, "a coin, favorable rows weigh 10"),
    World("weights undersampled", undersampled, "rate .3, one event in 20 sampled"),
    World("uneven numbers", uneven_numbers, "y a number, whose spread depends on sex and town"),
    World("heavy losses", heavy_losses, "errors of a model with long tails"),
    World("protected number", protected_number, "age is protected; y by town and points"),
    World("missing values", missing_values, "10 and 30 % of protected values are missing"),
    World("30 columns", many_columns, "30 columns; y by town and points"),
    World("n = 100", _sized(coin, 100), "a coin, n = 100"),
    World("n = 50,000", _sized(depends_on_others, 50_000), "y by town and points, n = 50,000"),
    World("fivefold, untold", _sized(fivefold, told=False), "without `groups=`", kind="notes"),
    World("households, untold", _sized(households, told=False), "the same", kind="notes"),
]
