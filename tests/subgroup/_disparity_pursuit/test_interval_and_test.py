"""No interval contradicts the verdict beside it: what is found differs from 0 by its interval."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Rule
from skdisc.subgroup import DisparityPursuit
from skdisc.subgroup._disparity_pursuit._causes import _made_consistent_with_tests


def people(rate, gap, seed, n=600):
    """Return people of whom 12 % are women, whose rate differs by a gap."""
    rng = np.random.default_rng(seed)
    columns = {"sex": rng.choice(["F", "M"], n, p=[0.12, 0.88])}
    columns |= {"job": rng.choice(list("xyz"), n), "town": rng.choice(list("uvw"), n)}
    X = pd.DataFrame(columns)
    return X, (rng.random(n) < rate + gap * (X["sex"] == "F")).astype(int)


def found_in(rate, gap, seeds, **settings):
    """Return the tables of findings of several data sets, joined."""
    how = {"protected": "sex", "pos_label": 1, "max_predicates": 2, "random_state": 0}
    tables = []
    for seed in seeds:
        detector = DisparityPursuit(**how, nuisance="additive", **settings)
        tables.append(detector.fit(*people(rate, gap, seed)).result_.findings.table)
    return pd.concat(tables, ignore_index=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "gap", "settings"),
    [
        (0.05, 0.12, {}),
        (0.95, -0.12, {}),
        (0.5, -0.25, {"borrow": False, "n_resamples": 0}),
        (0.5, -0.3, {"rule": Rule(min_effect=0.05)}),
    ],
)
def test_the_interval_of_a_finding_excludes_no_effect(rate, gap, settings):
    table = found_in(rate, gap, range(5), **settings)
    least = settings["rule"].min_effect if "rule" in settings else 0.0
    assert len(table) >= 3
    nearest = np.where(table["effect"] > 0, table["ci_low"], -table["ci_high"])
    assert (nearest > least).all()
    assert (nearest <= table["effect"].abs()).all()
    assert table["level"].between(0.95, 1).all()  # that of the interval, which is printed
    if not least:
        assert (table["p_value"] < 1 - table["level"]).all()


def test_ends_are_moved_only_where_they_contradict_the_test():
    effect, deviate = np.array([0.2, 0.2, 0.2, -0.2, 0.2]), np.array([3.0, 3.0, 1.0, -3.0, 3.0])
    low = np.array([0.05, -0.01, 0.03, -0.4, -0.01])
    high = np.array([0.4, 0.4, 0.4, 0.01, 0.4])
    level = np.full(5, 0.05)
    level[4] = 0.0001
    ends = _made_consistent_with_tests(effect, low, high, deviate, level, 0.0)
    z = 1.959963984540054
    moved = 0.2 * (1 - z / 3)
    assert ends[0] == pytest.approx([0.05, moved, 0.2 * (1 - z), -0.4, -0.01])
    assert ends[1] == pytest.approx([0.4, 0.4, 0.4, -moved, 0.4])
    beyond = _made_consistent_with_tests(effect[:1], low[:1], high[:1], deviate[:1], level[:1], 0.1)
    assert beyond[0] == pytest.approx([0.1 + 0.1 * (1 - z / 3)])
