"""The arithmetic of the detection limit, against simulated tables."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from known_expectations import known_residuals

from skdisc._space._subgroup import Predicate, Subgroup
from skdisc.subgroup._disparity_pursuit._adjustment import Residuals
from skdisc.subgroup._disparity_pursuit._context_groups import ContextGroups
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.audit_first_rows import is_first, summary  # noqa: E402
from benchmarks.detection_limit import (  # noqa: E402
    assumed_variance,
    main_effects,
    power,
    regressors,
)

sys.path.remove(str(ROOT))

N, N_DRAWS, CRITICAL = 900, 400, 2.8
GROUP = Subgroup([Predicate.equals("sex", "F"), Predicate.equals("town", "u")])


@pytest.fixture(scope="module")
def people():
    """Return a table, expected outcomes without bias, and the shift of the planted group."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"town": rng.choice(["u", "v", "w"], N), "work": rng.choice(["x", "y"], N)})
    share = np.where(X["town"] == "u", 0.3, 0.6)
    X.insert(0, "sex", np.where(rng.random(N) < share, "F", "M"))
    fair = (0.5 + 0.15 * (X["town"] == "v") + 0.1 * (X["work"] == "x")).to_numpy()
    return X, fair, np.where(GROUP.mask(X), -0.18, 0.0), share


def outcomes(p):
    rng = np.random.default_rng(11)
    return (rng.random((N_DRAWS, N)) < p).astype(float)


def agrees(found, limit):
    return abs(np.mean(found) - limit) < 3 * np.sqrt(limit * (1 - limit) / N_DRAWS)


def detected(X, left, residuals_of):
    """Return whether the detector's statistic of the group exceeds the critical value."""
    groups = ContextGroups.of_groups([GROUP], ["sex"], X)
    residuals = (residuals_of(y, groups.is_part) for y in left)
    z = [Scores(groups, r).adjusted_for([]).z[0] for r in residuals]
    return np.abs(z) > CRITICAL


@pytest.mark.slow
def test_the_limit_is_how_often_a_planted_group_is_found_if_the_nuisances_are_known(people):
    X, fair, shift, share = people
    p = fair + shift
    inside, woman = (X["town"] == "u").to_numpy(), (X["sex"] == "F").to_numpy()
    f = np.where(inside, woman - share, 0.0)
    limit = power(
        f, shift - np.where(inside, share * shift[GROUP.mask(X)][0], 0), p * (1 - p), CRITICAL
    )
    assert 0.3 < limit < 0.9
    expected = fair + np.where(inside, -0.18 * share, 0)

    def known(y, is_part):
        return known_residuals(y, expected, is_part, np.array([share]))

    assert agrees(detected(X, outcomes(p), known), limit)


@pytest.mark.slow
def test_the_limit_counts_only_what_main_effects_leave(people):
    X, fair, shift, _ = people
    p, effects = fair + shift, main_effects(X, ["sex"])
    f = regressors(GROUP, X, ["sex"], effects)
    limit, raw, _ = (power(one, shift, p * (1 - p), CRITICAL) for one in f)
    assert 0.3 < limit < raw < 0.95

    def learned(y, is_part):
        left = effects.residual(np.vstack([y, is_part]).T.astype(float)).T
        one = np.ones(N)
        return Residuals(left[0], left[1:], one, one, None, y)

    assert agrees(detected(X, outcomes(p), learned), limit)
    z = outcomes(p) @ f[1] / np.sqrt(f[1] ** 2 @ (p * (1 - p)))
    assert agrees(np.abs(z) > CRITICAL, raw)


@pytest.mark.slow
def test_a_score_assumes_more_variance_than_few_people_with_an_outcome_for_sure_have(people):
    X, _, _, _ = people
    rng = np.random.default_rng(5)
    X = X.assign(sex=np.where(rng.random(N) < 0.07, "F", "M"))
    own = np.where(GROUP.mask(X), 0.32, 0.0)
    p, effects = 0.5 + own, main_effects(X, ["sex"])
    f = regressors(GROUP, X, ["sex"], effects)[0]
    given = f, own, p * (1 - p), CRITICAL
    limit, score = power(*given), power(*given, assumed_variance(f, p, own, effects))
    assert 0.2 < score < limit - 0.1

    def learned(y, is_part):
        left = effects.residual(np.vstack([y, is_part]).T.astype(float)).T
        one = np.ones(N)
        return Residuals(left[0], left[1:], one, one, None, y)

    found = detected(X, outcomes(p), learned)
    assert agrees(found, score)
    assert not agrees(found, limit)


def test_without_a_shift_the_limit_is_the_level():
    f = np.array([1.0, -1.0, 0.5])
    assert power(f, np.zeros(3), np.ones(3), 1.959964) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize(
    ("matched", "first"),
    [([1, 0], True), ([-1, 0], False), ([0, -1], True), ([1], False), ([], False)],
)
def test_a_planted_group_is_first_if_nothing_else_is_above_it(matched, first):
    assert is_first(np.array(matched, dtype=int), 0) is first


def test_groups_that_cannot_be_detected_do_not_count():
    columns = {
        "repeat": [0, 0, 1],
        "limit": [0.95, 0.5, 0.99],
        "only_first": True,
        "only_alike": True,
    }
    table = pd.DataFrame({**columns, "first": [True, False, False], "alike": [True, False, True]})
    _, first, of_first, alike, of_alike = summary(table)
    assert first.startswith("first: 1 of 2 detectable groups, all of them in 1 of 2 drawings")
    assert alike.startswith("alike: 2 of 2 detectable groups, all of them in 2 of 2 drawings")
    assert of_first.endswith("0 of 1")
    assert of_alike.endswith("1 of 1")
