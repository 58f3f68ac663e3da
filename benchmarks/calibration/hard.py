"""Null worlds that have deceived an audit: codes, parities, drift, heaps, part-time work, skew.

In most of them women are found where outcomes are better or worse for another reason, which a
detector must learn to see that sex adds nothing; the reason is a law that lines and shallow trees
do not learn. Each is drawn fair, and with women `EFFECT` lower at equal columns, for intervals.
"""

from functools import partial

import numpy as np
import pandas as pd

from benchmarks.calibration.people import CURVED, People, World, toss

EFFECT = -0.1
AWAY = "the other columns account for a gap that is there without them"
ACCOUNTED = dict.fromkeys(("marginal", "contextual", "counterfactual", "calibration"), AWAY)
NOT_LINEAR = ACCOUNTED | {"linear": CURVED}
NUMBERS = ("DivExplorer", "DisparityPursuit", "GroupDisparity")


def decided(X, share, chance, effect, rng, **settings):
    """Draw who is a woman and who is favored, from chances of both."""
    woman = toss(rng, share) == 1
    X.insert(0, "sex", np.where(woman, "F", "M"))
    y = toss(rng, np.clip(chance + effect * woman, 0, 1))
    return People(X, y, protected=["sex"], settings=settings)


def others(rng, n):
    """Return two columns that have nothing to do with anything."""
    return {"points": rng.integers(0, 30, n), "work": rng.choice(list("pqr"), n)}


def codes(seed, n, k, effect, columns=1, as_text=False):
    """Outcomes and the share of women follow zip codes, which are numbers without an order."""
    rng = np.random.default_rng(seed)
    X, law = pd.DataFrame(others(rng, n)), np.zeros(n)
    for j in range(columns):
        names, place = (
            rng.choice(np.arange(10_000, 99_999), k, replace=False),
            rng.integers(k, size=n),
        )
        law += rng.permutation(np.resize([-1, 1], k))[place] / columns
        X[f"zip{j}"] = names[place].astype(str) if as_text else names[place]
    return decided(X, 0.5 + 0.3 * law, 0.55 + 0.15 * law, effect, rng)


def parity(seed, n, strength, effect):
    """Both follow the parity of three columns of yes and no, none of which shows it alone."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(others(rng, n) | {name: rng.integers(2, size=n) for name in "abc"})
    sign = 1 - 2 * (X[list("abc")].sum(axis=1) % 2).to_numpy()
    return decided(X, 0.5 + strength * sign, 0.55 + strength / 2 * sign, effect, rng)


def turned_codes(seed, n, k, effect):
    """What a code means for both turns with a flag."""
    rng = np.random.default_rng(seed)
    place, flag = rng.integers(k, size=n), rng.integers(2, size=n)
    X = pd.DataFrame(others(rng, n) | {"code": 100 + 7 * place, "flag": flag})
    law = rng.permutation(np.resize([-1, 1], k))[place] * (2 * flag - 1)
    return decided(X, 0.5 + 0.3 * law, 0.55 + 0.15 * law, effect, rng)


def drift(seed, n, effect):
    """A policy stops for three of 24 months, in which hardly any women apply."""
    rng = np.random.default_rng(seed)
    month = rng.integers(1, 25, n)
    X, stopped = pd.DataFrame(others(rng, n) | {"month": month}), np.isin(month, [11, 12, 13])
    return decided(X, np.where(stopped, 0.2, 0.55), np.where(stopped, 0.25, 0.6), effect, rng)


def heaps(seed, n, effect):
    """One person in five states a salary of 30,000: mostly women, and less often accepted."""
    rng = np.random.default_rng(seed)
    heaped, salary = rng.random(n) < 0.2, np.exp(10.3 + 0.4 * rng.normal(size=n)).round(-1)
    X = pd.DataFrame(others(rng, n) | {"salary": np.where(heaped, 30_000, salary)})
    return decided(X, np.where(heaped, 0.75, 0.4), np.where(heaped, 0.4, 0.65), effect, rng)


def squared(seed, n, effect):
    """Both follow the square of a number, whose line is flat."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(2)
    X = pd.DataFrame(others(rng, n) | {"x": x})
    return decided(
        X, np.clip(0.2 + 0.3 * x**2, 0.1, 0.9), np.clip(0.3 + 0.15 * x**2, 0, 0.9), effect, rng
    )


def part_time(seed, n, effect):
    """Women mostly work part-time; hours have no effect on anybody."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < 0.5
    short = rng.random(n) < np.where(woman, 0.85, 0.12)
    hours = np.where(short, rng.integers(15, 30, n), rng.integers(35, 45, n))
    X = pd.DataFrame({"sex": np.where(woman, "F", "M"), "hours": hours} | others(rng, n))
    return People(X, toss(rng, 0.6 + effect * woman), protected=["sex"])


def skewed(seed, n, spreads, share, gap=0.0):
    """Lognormal pay with means that are equal, or a share `gap` apart, and spreads of its log."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < share
    X = pd.DataFrame({"sex": np.where(woman, "F", "M"), "town": rng.choice(list("uvwxyz"), n)})
    X["work"], X["age"] = rng.choice(list("pqrs"), n), rng.integers(20, 65, n)
    spread = np.where(woman, *spreads)
    pay = 3000 * np.exp(spread * rng.normal(size=n) - spread**2 / 2) * (1 + gap * woman)
    return People(X, pay, protected=["sex"], settings={"output": "value"})


def rates(seed, n, rate):
    """Outcomes of a rate of 0 or nearly so, which nothing explains."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(list("uvw"), n)})
    return People(X.assign(**others(rng, n)), toss(rng, rate, n), protected=["sex"])


def _pair(name, draw, about, fails=NOT_LINEAR):
    """Return a world without an effect of sex, and the same with one, for its intervals."""
    fair, lower = (partial(draw, effect=effect) for effect in (0.0, EFFECT))
    with_effect = f"{name}, women .10 lower"
    return [
        World(name, fair, about, fails, equal=0.0),
        World(with_effect, lower, f"{about}; and an effect of sex", kind="equal", equal=EFFECT),
    ]


def _skewed(name, n, spreads, share, gap=0.0):
    about = f"pay with spreads of the log of {spreads[0]} and {spreads[1]}, {share:.0%} women"
    draw = partial(skewed, n=n, spreads=spreads, share=share, gap=gap)
    if gap:
        return World(
            name, draw, f"{about}, whose mean is a fifth lower", kind="found", only=NUMBERS
        )
    return World(name, draw, f"{about}, equal means", only=NUMBERS)


HARD = [
    *_pair("40 codes", partial(codes, n=2000, k=40), "40 zip codes as integers; n = 2,000"),
    *_pair("100 codes", partial(codes, n=4000, k=100), "100 zip codes as integers; n = 4,000"),
    *_pair(
        "two columns of codes",
        partial(codes, n=4000, k=40, columns=2),
        "two columns of 40 codes, whose meanings add up; n = 4,000",
    ),
    *_pair(
        "40 codes as text",
        partial(codes, n=2000, k=40, as_text=True),
        "40 zip codes as text; n = 2,000",
        ACCOUNTED,  # a linear model has an indicator for each of them
    ),
    *_pair("parity, weak", partial(parity, n=1500, strength=0.15), "parity of three; n = 1,500"),
    *_pair(
        "parity, strong",
        partial(parity, n=1500, strength=0.35),
        "parity of three, which decides more; n = 1,500",
    ),
    *_pair("code x flag", partial(turned_codes, n=3000, k=20), "20 codes that turn with a flag"),
    *_pair("drift", partial(drift, n=2000), "a policy stops for three of 24 months; n = 2,000"),
    *_pair("heaps", partial(heaps, n=1200), "salaries heaped at 30,000; n = 1,200"),
    *_pair("x squared", partial(squared, n=1200), "both follow the square of a number; n = 1,200"),
    *_pair("part-time", partial(part_time, n=2000), "hours differ and have no effect", {}),
    _skewed("skew 1.0 and .3, n = 800", 800, (1.0, 0.3), 0.2),
    _skewed("skew 1.0 and .3, n = 3,000", 3000, (1.0, 0.3), 0.2),
    _skewed("skew .7 and .4, n = 800", 800, (0.7, 0.4), 0.4),
    _skewed("skew .3 and 1.0, n = 3,000", 3000, (0.3, 1.0), 0.2),
    _skewed("skew .5, a fifth lower, n = 2,000", 2000, (0.5, 0.5), 0.4, gap=-0.2),
    World("constant", partial(rates, n=1000, rate=1.0), "everybody is favored; n = 1,000"),
    World("1 in 1,000", partial(rates, n=5000, rate=0.001), "five people are favored; n = 5,000"),
]
