"""Is a planted group found first, and does its interval cover the truth as often as it says?

Claim: where a group has 0.3 fewer favorable outcomes, every detector of groups and subgroups ranks
it, or a part of it, first in nearly every sample (or, where two are compared, the group of the
other sex); and the interval measured on other rows covers
the true effect of what came first at the stated rate, 0.95, less two standard errors. Intervals of
the rows that a group was found on do so only where it is sure to be found: they know of no search,
which is seen with smaller gaps, say --gap 0.1.

Samples are drawn from a population in which every combination of values has its exact share: what
`audit` measures there is the truth, whatever the detector's effect is. Each detector is fitted on
one sample and audited on another one of the same size.

Run: python benchmarks/planted_group.py [--seeds 200] [--rows 1000] [--gap 0.3] [DETECTOR ...]
"""

import argparse
import inspect
import warnings
from itertools import product
from math import sqrt

import numpy as np
import pandas as pd

from skdisc import Rule, all_detectors
from skdisc.exceptions import SkdiscWarning

LEVEL = 0.05
DOMAINS = {"sex": "FM", "race": "aaab", "town": "uvw", "work": "pqrst"}
PLANTED = {"group": {"sex": "F"}, "subgroup": {"sex": "F", "town": "u"}}
ADDITIVE = ("DiscriminationPatterns",)  # naive Bayes has no interactions: what sex does, it does


def members(X, planted):
    """Say who belongs to the planted group."""
    return np.logical_and.reduce([X[name] == value for name, value in planted.items()])


def population(planted, gap):
    """Return people of independent columns, and labels of which each cell has its exact share."""
    X = pd.DataFrame(list(product(*DOMAINS.values())), columns=list(DOMAINS))
    n_yes = np.rint(100 * np.where(members(X, planted), 0.6 - gap, 0.6))
    labels = (np.arange(100) < n_yes[:, None]).astype(int)
    return X.loc[np.repeat(X.index, 100)].reset_index(drop=True), labels.ravel()


def biased_model(planted, gap):
    """Return a model that turns away one work in five, and more of them in the group."""
    works = list(DOMAINS["work"])[: 1 + round(5 * gap)]

    def decide(X):
        wrong = X["work"].isin(works) if gap else X["work"] == "p"
        return np.where(members(X, planted), ~wrong, X["work"] != "p").astype(int)

    return decide


def same(result, finding):
    """Return the row of a result for a finding of another one: of its group and measure."""
    table = result.to_frame()
    return table[(table["subject"] == finding.subject) & (table["measure"] == finding.measure)]


def shares(detector, seeds, n=1000, gap=0.3, **settings):
    """Return the shares of samples with the planted group first, and of intervals that hold.

    Samples without any finding are left out.

    Returns
    -------
    first, in_sample, held_out : float
    """
    known = inspect.signature(detector).parameters
    rule = Rule(significance=LEVEL)
    own = {"protected": ["sex", "race"], "rule": rule, "pos_label": 1, **settings}
    own = {name: value for name, value in own.items() if name in known}
    finds = "group" if detector.__name__ in ADDITIVE else detector.card.finds
    planted = PLANTED[finds]
    people, labels = population(planted, gap)
    model = biased_model(planted, gap) if detector._asks else None
    hits = []
    for seed in seeds:
        rows = np.random.default_rng(seed).integers(len(people), size=(2, n))
        (X, y), new = ((people.iloc[r].reset_index(drop=True), labels[r]) for r in rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkdiscWarning)
            fitted = detector(random_state=seed, **own).fit(X, y, model)
            if not len(fitted.result_):
                continue
            top = fitted.result_.to_frame().iloc[0]
            truth, again = (same(fitted.audit(*part), top) for part in ((people, labels), new))
        truth = truth["effect"].iloc[0]
        words = [n if n == "sex" else f"{n} = '{v}'" for n, v in planted.items()]
        ends = (top["ci_low"], top["ci_high"]), (again["ci_low"].iloc[0], again["ci_high"].iloc[0])
        first = all(word in top["subject"] for word in words)
        hits.append((first, *(low - 1e-9 <= truth <= high + 1e-9 for low, high in ends)))
    return np.mean(hits, axis=0)


def least(n_seeds, n_errors=2):
    """Return the stated rate less some standard errors."""
    return 1 - LEVEL - n_errors * sqrt(LEVEL * (1 - LEVEL) / n_seeds)


def detectors():
    """Return the detectors of groups and subgroups by name."""
    return {n: d for n, d in all_detectors().items() if d.card.finds in PLANTED}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="DETECTOR", help="default: all")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--gap", type=float, default=0.3)
    options = parser.parse_args()
    limit = least(options.seeds)
    print(
        f"{options.seeds} samples of {options.rows} rows, gap {options.gap}; at least {limit:.3f}"
    )
    print(f"{'':24} first  nominal  in sample  held out")
    for name, detector in detectors().items():
        if options.names and name not in options.names:
            continue
        seeds = range(options.seeds)
        first, inside, held_out = shares(detector, seeds, options.rows, options.gap)
        verdict = "met" if held_out >= limit else "missed"
        numbers = f"{first:.3f}  {1 - LEVEL:.3f}    {inside:.3f}      {held_out:.3f}"
        print(f"{name:24} {numbers}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
