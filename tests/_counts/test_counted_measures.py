"""Measures of counts are those of the rows."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Counts, measures
from skdisc.measures._formula._catalogue import CATALOGUE

OPTIONS = ("explanatory", "covariates", "X")
NOT_OF_CELLS = {"lipschitz_ratio", "twin_test", "consistency", "situation_testing"}  # of pairs
OF_GROUPS = {"balanced_error_rate"}  # has an argument of its own


def table(n=800, seed=0):
    """Return people with two protected columns, a town, a label and a decision."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(list("abc"), n)})
    X["town"] = rng.choice([1, 2, 3], n)
    X["label"] = (rng.random(n) < 0.5 - 0.1 * (X["sex"] == "F")).astype(int)
    X["decision"] = (rng.random(n) < 0.3 + 0.3 * X["label"]).astype(int)
    return X


def names():
    """Return the measures that are functions of cells."""
    left_out = NOT_OF_CELLS | OF_GROUPS
    return [n for n, e in CATALOGUE.items() if n not in left_out and e.suits(is_numeric=False)]


@pytest.mark.parametrize("name", names())
def test_measures_of_counts_are_those_of_rows(name):
    import inspect

    rows = table()
    counts = Counts.of(rows, protected=["sex", "race"], label="label", decision="decision")
    measure = getattr(measures, name)
    options = [o for o in OPTIONS if o in inspect.signature(measure).parameters]
    direct = measure(
        rows["label"],
        rows["decision"],
        protected=rows[["sex", "race"]],
        **{o: rows[["town"]].astype(float) for o in options},
    )
    cells = counts.frame()[["town"]].astype(float)
    found = measure(**counts.arguments(), **dict.fromkeys(options, cells))
    assert np.isfinite(direct)
    np.testing.assert_allclose(found, direct, rtol=1e-12, atol=1e-12)


def test_tables_of_counts_equal_those_of_rows():
    """Rates and disparities are functions of integer counts: equal bit for bit."""
    rows = table()
    counts = Counts.of(rows, protected=["sex", "race"], label="label", decision="decision")
    given = rows["label"], rows["decision"]
    for function in (measures.group_rates, measures.disparities):
        direct = function(*given, protected=rows[["sex", "race"]])
        pd.testing.assert_frame_equal(function(**counts.arguments()), direct, check_exact=True)


def test_billions_of_people_are_measured():
    counts = Counts.of(table(), protected="sex", label="label")
    many = Counts(counts.schema, counts.keys, counts.n * 10**7)
    small, large = (measures.mean_difference(**c.arguments()) for c in (counts, many))
    assert large == pytest.approx(small, rel=1e-12)


def test_counts_without_outcomes_have_no_measures():
    with pytest.raises(ValueError, match="label= or decision="):
        Counts.of(table(), protected="sex").arguments()
