"""The gap of everyone else mirrors that of a group; no other group takes its number."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit

N = 3000


def table():
    """Return people of whom women have less, most under women; and who was promoted."""
    rng = np.random.default_rng(22)
    X = pd.DataFrame({name: rng.choice(["f", "m"], N) for name in ("sex", "boss_sex")})
    X["age"] = rng.integers(18, 67, N)
    less = np.where(X["boss_sex"] == "f", 0.35, 0.14) * (X["sex"] == "f") + 0.2 * (X["age"] > 50)
    return X, (rng.random(N) < 0.6 - less).astype(int)


def gap_of(X, y, conditions):
    """Return the rate of a group less that of the others with the same superior."""
    members, context = (
        X.eval(" and ".join(c) or "index >= 0") for c in (conditions, conditions[1:])
    )
    return y[members].mean() - y[context & ~members].mean()


def test_a_column_whose_name_ends_like_the_protected_one_is_left_as_it_is():
    X, y = table()
    X = X.drop(columns="age")
    document = Audit(protected="sex", min_cell=5).fit(X, y).report_.to_dict()
    rows = [row for row in document["evidence"] if row["kind"] == "cause"]
    groups = {row["group"] for row in rows}
    assert groups == {"boss_sex = 'f' and sex = 'f'", "boss_sex = 'm' and sex = 'f'"}
    for row in [*rows, *document["shadows"]]:
        boss, *_, sex = row["group"].replace(" = ", " == ").split(" and ")
        assert row["gap"] == pytest.approx(gap_of(X, y, [sex, boss])), row["group"]
    for row in rows:
        assert row["alone"] == pytest.approx(row["gap"], abs=0.02)
        assert row["people"] == sum(X.eval(row["group"].replace(" = ", " == ")))


def test_numbers_cut_in_two_have_one_interval():
    X, y = table()
    report = Audit(protected="age", n_bins={"age": 2}).fit(X[["age", "sex"]], y).report_
    one, other = report.to_dict()["comparable"]
    for name in ("effect", "gap"):
        assert one[name] == pytest.approx(-other[name])
    for low, high in (("ci_low", "ci_high"), ("gap_ci_low", "gap_ci_high")):
        assert one[low] == pytest.approx(-other[high])
        assert one[high] == pytest.approx(-other[low])
    assert one["ci_level"] == other["ci_level"]
