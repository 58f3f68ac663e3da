"""Searches do not depend on the order of the columns, even those that a limit of tests cuts off."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Limits
from skdisc.subgroup import (
    FACTS,
    DiscriminationPatterns,
    DiscriminatoryRules,
    DivExplorer,
    SliceFinder,
    SliceLine,
)

FEW = {"max_predicates": 3, "min_support": 0.02, "k": 1000}


def people(copies):
    """Return people in columns that are not in the order of their names, and outcomes."""
    rng, n = np.random.default_rng(0), 160
    X = pd.DataFrame(
        {
            "town": rng.choice(list("uvw"), n),
            "sex": rng.choice(["F", "M"], n),
            "pay": rng.integers(0, 6, n),
            "race": rng.choice(list("abc"), n),
            "age": rng.integers(0, 3, n).astype(str),
        }
    )
    if copies:
        X["copy"] = X["town"].map({"u": "n", "v": "e", "w": "n"})
        X["Same"] = X["race"].map({"a": "x", "b": "y", "c": "z"})
    worse = (X["sex"] == "F") & (X["town"] == "u")
    return X, (rng.random(n) < 0.35 + 0.3 * worse).astype(int)


@pytest.mark.parametrize("tests", [17, 60, 150])
@pytest.mark.parametrize(
    ("cls", "settings", "copies"),
    [
        (DivExplorer, {}, True),
        (DivExplorer, {"versus": "everyone", "must_include": None}, True),
        (DiscriminatoryRules, {}, True),
        (DiscriminationPatterns, {}, True),
        (SliceFinder, {"approach": "lattice"}, True),
        (SliceLine, {}, True),
        (SliceLine, {"versus": "everyone", "must_include": None}, False),
    ],
)
def test_a_search_that_is_cut_off_finds_the_same_groups(cls, settings, copies, tests):
    X, y = people(copies)
    found = set()
    for columns in (X.columns, X.columns[::-1], sorted(X.columns)):
        given = {**FEW, "protected": ["sex", "race"], "limits": Limits(tests=tests), **settings}
        result = cls(**given).fit(X[list(columns)], y).result_
        groups = frozenset(g.mask(X).tobytes() for g in result.findings.subgroups)
        found.add((result.n_tested, result.verdict, result.stopped_by, groups))
    assert len(found) == 1


def of_men_or_aged(X):
    """Return decisions of a model that reads columns by their names."""
    return ((X["sex"] == "M") & (X["pay"] > 2) | (X["race"] == "a") & (X["age"] > "0")).astype(int)


@pytest.mark.parametrize("settings", [{}, {"confirm": 0.4}, {"k": 10}])
def test_facts_divides_people_and_takes_the_first_of_equal_actions_whatever_the_order(settings):
    X, _ = people(copies=True)
    found = set()
    for columns in (X.columns, X.columns[::-1], sorted(X.columns)):
        given = {**FEW, "max_predicates": 2, "protected": ["sex", "race"], **settings}
        facts = FACTS(random_state=0, **given).fit(X[list(columns)], model=of_men_or_aged)
        groups = frozenset(g.mask(X).tobytes() for g in facts.result_.findings.subgroups)
        found.add((facts.result_.n_tested, groups))
    assert len(found) == 1
