"""Worlds with a planted disparity, and fair worlds in which a verdict should say so."""

from functools import partial
from itertools import product
from statistics import NormalDist

import numpy as np
import pandas as pd

from benchmarks.calibration.people import People, World, columns, fair_model, toss
from skdisc import Limits

DOMAINS = {"sex": "FM", "race": "aaab", "town": "uvw", "work": "pqrst"}
SUBGROUP = {"sex": "F", "town": "u"}
EVERYONE = {"sex": "F"}
SEEN = ("marginal", "contextual", "conditional", "counterfactual")  # the words of a gap of sex


def members(X, planted):
    """Return a mask of the planted group."""
    return np.logical_and.reduce([X[name] == value for name, value in planted.items()])


def chances(X, planted, gap, effect=0.0, base=0.6):
    """Return chances that are lower in the planted group, and for a legitimate reason."""
    return base - gap * members(X, planted) - effect * (X["work"] == "p").to_numpy()


def population(planted, gap, effect=0.0, base=0.6):
    """Return people of independent columns, each combination 100 times, with its exact share."""
    X = pd.DataFrame(list(product(*DOMAINS.values())), columns=list(DOMAINS))
    n_yes = np.rint(100 * chances(X, planted, gap, effect, base))
    y = (np.arange(100) < n_yes[:, None]).astype(int)
    return X.loc[np.repeat(X.index, 100)].reset_index(drop=True), y.ravel()


def drawn(seed, n, planted, gap, effect=0.0, base=0.6):
    """Draw people of independent columns, with a disparity."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.choice(list(values), n) for name, values in DOMAINS.items()})
    return People(X, toss(rng, chances(X, planted, gap, effect, base)))


def tenth(seed, n, gap):
    """A tenth of the people, women of one work among ten columns of it, are gap lower."""
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    X["work"] = rng.choice(list("pqrst"), n)
    inside = (X["sex"] == "F") & (X["work"] == "p")
    return People(X, toss(rng, np.where(inside, 0.6 - gap, 0.6)))


def errs(seed, n, gap):
    """A fair model errs more about a tenth of the people."""
    one = tenth(seed, n, 0.0)
    inside = (one.X["sex"] == "F") & (one.X["work"] == "p")
    wrong = toss(np.random.default_rng([seed, 1]), np.where(inside, 0.1 + gap, 0.1))
    one.y, one.model = fair_model(one.X) ^ wrong, fair_model
    return one


def women_lower(seed, n, low, high):
    """Rates of women and men."""
    rng = np.random.default_rng(seed)
    X = columns(rng, n)
    return People(X, toss(rng, np.where(X["sex"] == "F", low, high)))


def unfair_model(seed, n=1000, share=0.02):
    """A model that uses sex, for just this share of the people."""
    one = women_lower(seed, n, 0.5, 0.5)
    quantiles = map(NormalDist().inv_cdf, (np.arange(n) + 0.5) / n)
    one.X["points"] = np.random.default_rng([seed, 1]).permutation(list(quantiles))
    one.model = partial(_turned_away, above=NormalDist().inv_cdf(1 - share))
    return one


def _turned_away(X, above):
    best = X["points"] > above
    return np.where(best, X["sex"] == "M", fair_model(X)).astype(int)


def corner(seed, n=500, **settings):
    """A model that uses sex in one town for a fifth of the points: 1 in 15 inputs."""
    one = women_lower(seed, n, 0.5, 0.5)
    one.X["points"] = np.arange(n) % 100
    one.model, one.settings = _turned_away_in_a_corner, settings
    return one


def _turned_away_in_a_corner(X):
    inside = (X["town"] == "u") & (X["points"] >= 80)
    return np.where(inside, X["sex"] == "M", X["points"] > 49).astype(int)


def same_rates(seed, n, protected):
    """Fair data of race 60/30/10 (and sex), with a rate of .3."""
    rng = np.random.default_rng(seed)
    return People(columns(rng, n), toss(rng, 0.3, n), protected=protected)


def _planted(n, gap, effect=0.0):
    more = " and an effect of work of .3" if effect else ""
    return World(
        f"n = {n:,}, gap {gap:.2f}".replace("0.", ".") + more,
        partial(drawn, n=n, planted=SUBGROUP, gap=gap, effect=effect),
        f"sex = F and town = u are {gap} lower{more}",
        kind="power",
        planted=SUBGROUP,
        gaps={"contextual": gap / 0.1, "conditional": gap / 0.1, "marginal": gap / 0.3},
    )


def _interval(gap):
    return World(
        f"n = 1,000, gap {gap:.2f}, intervals".replace("0.", "."),
        partial(drawn, n=1000, planted=SUBGROUP, gap=gap),
        "what is shown against its true value",
        kind="coverage",
        planted=SUBGROUP,
        population=partial(population, SUBGROUP, gap),
    )


def _lower(name, n, low, high, times, about):
    return World(
        name,
        partial(women_lower, n=n, low=low, high=high),
        about,
        kind="reassurance",
        planted=EVERYONE,
        gaps=dict.fromkeys(SEEN, times),
    )


PLANTED = [
    *(_planted(5_000, gap) for gap in (0.05, 0.1, 0.2)),
    _planted(50_000, 0.05),
    _planted(5_000, 0.1, 0.3),
    *(_interval(gap) for gap in (0.0, 0.05, 0.15)),
    _lower("gap at the margin, n = 1,000", 1000, 0.4, 0.5, 1, "rates .4 and .5"),
    _lower("gap at the margin, n = 5,000", 5000, 0.4, 0.5, 1, "rates .4 and .5"),
    _lower("ratio at the margin, n = 20,000", 20_000, 0.08, 0.1, 1, "rates .08 and .1"),
    _lower("twice the gap, n = 1,000", 1000, 0.3, 0.5, 2, "rates .3 and .5"),
    _lower("twice the gap, n = 5,000", 5000, 0.3, 0.5, 2, "rates .3 and .5"),
    _lower("squared ratio, n = 20,000", 20_000, 0.064, 0.1, 2, "rates .064 and .1"),
    _lower("2 % and .5 %, n = 1,000", 1000, 0.005, 0.02, 2, "a ratio of 4"),
    _lower("every woman .15 lower, n = 600", 600, 0.35, 0.5, 1.5, "rates .35 and .5"),
    World(
        "a tenth .15 lower, n = 30,000",
        partial(tenth, n=30_000, gap=0.15),
        "women of one work",
        kind="reassurance",
        gaps={"contextual": 1.5},
    ),
    World(
        "a tenth .10 lower, n = 50,000",
        partial(tenth, n=50_000, gap=0.1),
        "women of one work",
        kind="reassurance",
        gaps={"contextual": 1.0},
    ),
    World(
        "a tenth .15 more errors, n = 30,000",
        partial(errs, n=30_000, gap=0.15),
        "a model errs more about women of one work",
        kind="reassurance",
        gaps={"contextual": 1.5},
        only=("SliceLine", "SliceFinder", "BiasScan"),
    ),
    World(
        "2 % depend on sex",
        unfair_model,
        "a model that uses sex for 2 % of the people",
        kind="reassurance",
        gaps={"individual": 2},
    ),
    *(
        World(
            f"share, limit of {limit} = {n}",
            partial(corner, limits=Limits(**{limit: n})),
            "a model that uses sex for one input in 15",
            kind="shares",
            share=1 / 15,
            gaps={"individual": 6.7},
        )
        for limit, n in (("tests", 300), ("found", 20))
    ),
    World(
        "fair, race, n = 5,000",
        partial(same_rates, n=5000, protected=["race"]),
        "race 60/30/10, rate .3",
        kind="useful",
    ),
    World(
        "fair, sex and race, n = 20,000",
        partial(same_rates, n=20_000, protected=["sex", "race"]),
        "race 60/30/10 and sex, rate .3",
        kind="useful",
    ),
]
