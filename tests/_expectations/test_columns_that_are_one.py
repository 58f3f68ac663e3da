"""Columns of which one is a function of others contribute together: no share is determined."""

import numpy as np
import pandas as pd
import pytest

from skdisc._expectations import Covariates
from skdisc._expectations._least_squares import LeastSquares
from skdisc.subgroup import DisparityPursuit


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    columns = {"wage": rng.lognormal(0, 0.5, n), "age": rng.normal(40, 10, n)}
    columns |= {"town": rng.choice(list("abcd"), n), "job": rng.choice(list("xyz"), n)}
    return pd.DataFrame(columns)


def added(X, seed=1):
    """Return tables with a column more, each with the columns that are one then."""
    rng = np.random.default_rng(seed)
    region, missing = (
        X["town"].map(dict(zip("abcd", "NNSS", strict=True))),
        rng.random(len(X)) < 0.1,
    )
    both = X.assign(job=X["job"].mask(missing), age=X["age"].mask(missing))
    heaped = X.assign(wage=X["wage"].round(1))
    return {
        "nothing": (X, []),
        "copy": (X.assign(more=X["wage"]), [{"more", "wage"}]),
        "monotone": (X.assign(more=np.log(X["wage"])), [{"more", "wage"}]),
        "nearly": (X.assign(more=X["wage"] + rng.normal(0, 0.01, len(X))), [{"more", "wage"}]),
        "related": (X.assign(more=X["wage"] + rng.normal(0, 0.5, len(X))), []),
        "sum": (X.assign(more=X["wage"] + X["age"] / 20), [{"age", "more", "wage"}]),
        "text": (heaped.assign(more=heaped["wage"].astype(str)), [{"more", "wage"}]),
        "region": (X.assign(more=region), [{"more", "town"}]),
        "constant": (X.assign(more="one"), []),
        "missing together": (both.assign(more=rng.normal(0, 1, len(X))), []),
    }


@pytest.mark.parametrize("name", list(added(people())))
@pytest.mark.parametrize("is_weighted", [False, True])
def test_columns_that_are_one_are_one_part(name, is_weighted):
    X, expected = added(people())[name]
    weight = np.random.default_rng(2).uniform(0.5, 2, len(X)) if is_weighted else None
    design = LeastSquares(Covariates.of(X), weight)
    y = (
        X["wage"]
        + X["age"].fillna(40) / 20
        + X["town"].map(dict(zip("abcd", range(4), strict=True)))
    )
    y = (y + np.random.default_rng(3).normal(0, 0.3, len(X))).to_numpy()
    parts = design.parts(y)
    names = [{X.columns[j] for j in several} for several in parts]
    assert [own for own in names if len(own) > 1] == expected
    fitted = y - design.residual(y[:, None])[:, 0]
    assert np.ptp(fitted - sum(parts.values())) < 1e-6  # they add up, but for a constant


def test_a_gap_is_not_made_of_parts_that_cancel():
    rng = np.random.default_rng(0)
    X = people(1200)
    X["sex"] = rng.choice(["F", "M"], len(X))
    X["wage"] *= np.where(X["sex"] == "F", 0.7, 1)
    y = (X["wage"] + rng.normal(0, 0.3, len(X)) > 0.8).astype(int)
    X["logwage"] = np.log(X["wage"])
    how = {"protected": "sex", "nuisance": "additive", "max_predicates": 1, "random_state": 0}
    table = DisparityPursuit(**how).fit(X, y).result_.tables["gaps"]
    own = table[table["group"] == "sex = 'F'"].set_index("part")["amount"]
    assert own["logwage and wage"] == pytest.approx(own["gap"], abs=0.03)
    assert (own.drop(["logwage and wage", "gap"]).abs() < 0.03).all()
