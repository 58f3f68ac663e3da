"""Groups with one condition more than a group found: by hand, and where a group is planted."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skdisc.subgroup import DiscriminatoryRules, DivExplorer

PROTECTED = ["sex", "race"]


def people(seed, n=3000, gap=0.12, third=None):
    """Return people of whom the women of one town are worse off; those with `third` only."""
    rng = np.random.default_rng(seed)
    domains = {"sex": "FM", "race": "aab", "town": "uvw", "work": "pq"}
    X = pd.DataFrame({name: rng.choice(list(values), n) for name, values in domains.items()})
    hit = (X["sex"] == "F") & (X["town"] == "u")
    if third is not None:
        hit &= X[third[0]] == third[1]
    return X, (rng.random(n) < 0.6 - gap * hit).astype(int)


def rows_of(X, conditions):
    return np.all([X[c] == v for c, v in conditions.items()], axis=0) | np.zeros(len(X), bool)


def conditions_of(group):
    return {p.column: p.values[0] for p in group.predicates}


def contrast_of(X, conditions):
    """Return the rows of a group, and those of the rest of its context."""
    context = {c: v for c, v in conditions.items() if c not in PROTECTED}
    group = rows_of(X, conditions)
    return group, (rows_of(X, context) if context else np.ones(len(X), bool)) & ~group


def differs_by_hand(X, y, group, refined):
    """Return the p-value of a refinement against the rest of the group."""
    (added,) = set(group) - set(refined)
    one, whole = contrast_of(X, group), contrast_of(X, refined)
    if added in PROTECTED:
        sides = y[one[0]], y[whole[0] & ~one[0]]
        table = [[(s == v).sum() for v in (0, 1)] for s in sides]
        return stats.chi2_contingency(table, correction=False)[1]
    gaps, variances = [], []
    for sides in (one, [w & ~o for w, o in zip(whole, one, strict=True)]):
        moments = [stats.beta.stats(y[s].sum() + 1, (1 - y[s]).sum() + 1) for s in sides]
        gaps.append(y[sides[0]].mean() - y[sides[1]].mean())
        variances.append(sum(v for _, v in moments))
    return 2 * stats.norm.sf(abs(gaps[0] - gaps[1]) / np.sqrt(sum(variances)))


@pytest.mark.parametrize("seed", range(4))
def test_refinements_follow_a_group_found_unless_they_differ_from_the_rest_of_it(seed):
    X, y = people(seed)
    result = DivExplorer(protected=PROTECTED, k=1000, pos_label=1).fit(X, y).result_
    groups = [conditions_of(g) for g in result.findings.subgroups]
    found = (result.to_frame()["p_adjusted"] <= 0.05).to_numpy()
    place = {frozenset(g.items()): i for i, g in enumerate(groups)}
    n_checked = 0
    for parent, i in ((groups[i], i) for i in np.flatnonzero(found)):
        if not set(parent) - set(PROTECTED):
            continue
        of_parent = [g for g in groups if len(g) == len(parent) + 1 and parent.items() < g.items()]
        for child in of_parent:
            p = differs_by_hand(X, y, child, parent)
            if p > 0.05:  # more than the level divided by the number of refinements
                n_checked += 1
                assert place[frozenset(child.items())] > i
    assert n_checked


@pytest.mark.parametrize("detector", [DivExplorer, DiscriminatoryRules])
@pytest.mark.statistics
def test_a_planted_group_comes_before_its_refinements_and_a_planted_refinement_before_it(detector):
    two, three = 0, 0
    for seed in range(15):
        first = detector(protected=PROTECTED, pos_label=1).fit(*people(seed)).result_[0].subject
        two += str(first) == "sex = 'F' and town = 'u'"
        only = people(seed, gap=0.25, third=("work", "p"))
        first = detector(protected=PROTECTED, pos_label=1).fit(*only).result_[0].subject
        three += str(first) == "sex = 'F' and town = 'u' and work = 'p'"
    assert two >= 12
    assert three >= 12


def test_the_effect_orders_as_before():
    X, y = people(0)
    by_size = DivExplorer(protected=PROTECTED, k=1000, order="effect", pos_label=1).fit(X, y)
    size = by_size.result_.to_frame()["effect"].abs().to_numpy()
    assert (np.diff(size) <= 1e-9).all()
