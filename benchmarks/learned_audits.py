"""Learned audits: how often do they find what is not there, and what is?

    python benchmarks/learned_audits.py [--runs 100] [--jobs 1] [--only fair|planted]

draws 1,000 people of worlds in which nobody is treated differently at equal legitimate columns, and
2,000 people of worlds in which women are, and prints of how many data sets a disparity was found.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from skdisc.exceptions import SkdiscWarning
from skdisc.subgroup import (
    DisparityPursuit,
    DivExplorer,
    GerrymanderingAudit,
    MultiaccuracyAudit,
)

FAIR, PLANTED = 1000, 2000  # people of a data set
PROTECTED = ["sex", "race"]


def people(rng, n, share=0.5):
    """Return columns that are independent but for sex, of which women have a share."""
    return pd.DataFrame(
        {
            "sex": np.where(rng.random(n) < share, "F", "M"),
            "race": rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1]),
            "education": rng.choice(["school", "college", "university"], n),
            "points": rng.normal(size=n).round(2),
            "years": rng.normal(size=n).round(2),
        }
    )


def coin(rng, n):
    """Labels are tossed by a coin."""
    return people(rng, n), np.full(n, 0.5)


def two_columns(rng, n):
    """Labels depend on education and points."""
    X = people(rng, n)
    return X, 0.2 + 0.3 * (X["education"] == "college") + 0.4 * (X["points"] > 0)


def curves(rng, n):
    """A curve of points decides, and another one the share of women."""
    X = people(rng, n)
    woman = rng.random(n) < 0.3 + 0.4 * np.exp(-(X["points"] ** 2))
    return X.assign(sex=np.where(woman, "F", "M")), 0.2 + 0.6 * np.exp(-(X["points"] ** 2))


def nearly_determined(rng, n):
    """Points decide, and nearly determine who is a woman."""
    X = people(rng, n)
    woman = rng.random(n) < np.where(X["points"] > 0, 0.95, 0.05)
    return X.assign(sex=np.where(woman, "F", "M")), 0.5 + 0.3 * np.tanh(X["points"])


def same_interaction(rng, n):
    """Whether two columns agree decides, and makes the share of women .8 or .2."""
    X = people(rng, n)
    agree = np.where((X["education"] == "college") == (X["points"] > 0), 1, -1)
    woman = rng.random(n) < 0.5 + 0.3 * agree
    return X.assign(sex=np.where(woman, "F", "M")), 0.5 + 0.2 * agree


def all_women(rng, n):
    """All women lose .1."""
    X = people(rng, n)
    return X, 0.5 - 0.1 * (X["sex"] == "F")


def one_education(rng, n):
    """Women of one level of education lose .2."""
    X = people(rng, n)
    return X, 0.5 - 0.2 * ((X["sex"] == "F") & (X["education"] == "college"))


def beyond_a_line(rng, n):
    """Women beyond an oblique line of two numbers lose .2."""
    X = people(rng, n)
    return X, 0.5 - 0.2 * ((X["sex"] == "F") & (X["points"] + X["years"] > 0.3))


def sine(rng, n):
    """Women gain and lose by a sine of a number, .12 at most."""
    X = people(rng, n)
    return X, 0.5 + 0.12 * np.sin(2 * X["points"]) * (X["sex"] == "F")


def crossed(rng, n):
    """One of two crossed groups gains .1, the other loses it."""
    X = people(rng, n)
    is_crossed = (X["sex"] == "F") == (X["race"] == "a")
    return X, 0.5 + np.where(is_crossed, 0.1, -0.1)


WORLDS = {  # the marginal null hypothesis of GerrymanderingAudit is false where sex follows columns
    coin: (MultiaccuracyAudit, GerrymanderingAudit),
    two_columns: (MultiaccuracyAudit, GerrymanderingAudit),
    curves: (MultiaccuracyAudit,),
    nearly_determined: (MultiaccuracyAudit,),
    same_interaction: (MultiaccuracyAudit,),
    **dict.fromkeys(
        (all_women, one_education, beyond_a_line, sine, crossed),
        (MultiaccuracyAudit, DisparityPursuit, DivExplorer),
    ),
}
NULLS = list(WORLDS)[:5]


def found(world, seed):
    """Return the verdicts on one data set, by detector."""
    rng = np.random.default_rng(seed)
    X, chance = world(rng, FAIR if world in NULLS else PLANTED)
    y, verdicts = (rng.random(len(X)) < chance).astype(int), {}
    for kind in WORLDS[world]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkdiscWarning)
            detector = kind(protected=PROTECTED, pos_label=1, random_state=seed)
            verdicts[kind.__name__] = detector.fit(X, y).result_.verdict
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=["fair", "planted"])
    options = parser.parse_args()
    pool = Parallel(options.jobs)
    for world in WORLDS:
        if options.only and (options.only == "fair") != (world in NULLS):
            continue
        verdicts = pd.DataFrame(pool(delayed(found)(world, s) for s in range(options.runs)))
        counts = (verdicts == "disparity found").sum()
        words = ", ".join(f"{name} {k}" for name, k in counts.items())
        print(f"{world.__doc__} Found, of {options.runs}: {words}", flush=True)


if __name__ == "__main__":
    main()
