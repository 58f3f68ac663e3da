"""The tests of choice, cost of effectiveness and trade-off: of the notion, and in its direction."""

import numpy as np
import pytest

from skdisc.subgroup._facts._comparison import compare_sides
from skdisc.subgroup._facts._notions import Measured, Notion, Verdicts, worst_off

N_SETS, N_PEOPLE, PHI = 400, 300, 0.3
COST = np.array([1.0, 1.0, 2.0, 2.0, 3.0, 4.0])
NOTIONS = {
    "choice": Notion("choice", "macro", PHI),
    "cost": Notion("cost_of_effectiveness", "macro", PHI),
    "cost, micro": Notion("cost_of_effectiveness", "micro", PHI),
    "trade-off": Notion("trade_off", "macro"),
}


def measured(shares, n_people=N_PEOPLE, seed=0):
    """Data sets as subgroups: `shares` of the people of each group whom each action helps."""
    rng, hits, first = np.random.default_rng(seed), [], []
    for share in shares:
        helps = rng.random((N_SETS, n_people, len(COST))) < share
        earlier = np.cumsum(helps, axis=2) - helps > 0
        hits.append(helps.sum(axis=1).ravel())
        first.append((helps & ~earlier).sum(axis=1).ravel())
    return Measured(
        hits=np.stack(hits, axis=1),
        first=np.stack(first, axis=1),
        n=np.full((N_SETS, len(shares)), n_people),
        cost=np.tile(COST, N_SETS),
        start=np.arange(N_SETS + 1) * len(COST),
        c_inf=4.0,
    )


def p_values(people, notion):
    """Test the group that seems worse off, as the detector does."""
    verdicts = worst_off(people, notion)
    p_value = compare_sides(*verdicts.sides(people), notion, 0.05)["p_value"]
    return np.where(verdicts.score > 0, p_value, 1.0), verdicts.against


# Worlds in which the notion holds: equal choice, equal costs, or equal curves. Actions differ.
FAIR = {
    "choice": ([0.8, 0.8, 0.8, 0.1, 0.1, 0.1], [0.5, 0.5, 0.1, 0.02, 0.5, 0.02]),
    "choice, at phi": ([0.3, 0.3, 0.3, 0.0, 0.0, 0.0], [0.9, 0.9, 0.9, 0.0, 0.0, 0.0]),
    "cost": ([0.1, 0.0, 0.9, 0.9, 0.9, 0.9], [0.0, 0.0, 0.5, 0.0, 0.5, 0.5]),
    "cost, at phi": ([0.3, 0.0, 0.9, 0.9, 0.9, 0.9], [0.9, 0.9, 0.5, 0.0, 0.5, 0.5]),
    "cost, micro": ([0.1, 0.0, 0.9, 0.9, 0.9, 0.9], [0.0, 0.0, 0.5, 0.0, 0.5, 0.5]),
    "cost, micro, at phi": ([0.3, 0.0, 0.9, 0.9, 0.9, 0.9], [0.9, 0.9, 0.5, 0.0, 0.5, 0.5]),
    "trade-off": ([0.6, 0.1, 0.1, 0.8, 0.0, 0.0], [0.1, 0.6, 0.8, 0.1, 0.3, 0.3]),
}


@pytest.mark.parametrize("world", FAIR)
def test_actions_may_differ_where_the_notion_holds(world):
    notion = NOTIONS[world.removesuffix(", at phi")]
    p_value, _ = p_values(measured(FAIR[world]), notion)
    assert (p_value <= 0.05).mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / N_SETS)


# Worlds in which the first group is worse off by the notion.
UNFAIR = {
    "choice": ([0.5, 0.05, 0.05, 0.05, 0.05, 0.05], [0.5, 0.5, 0.5, 0.05, 0.05, 0.05]),
    "cost": ([0.05, 0.05, 0.05, 0.05, 0.9, 0.9], [0.5, 0.05, 0.05, 0.05, 0.05, 0.05]),
    "cost, micro": ([0.05, 0.05, 0.02, 0.02, 0.9, 0.9], [0.2, 0.3, 0.05, 0.05, 0.0, 0.0]),
    "trade-off": ([0.3, 0.2, 0.2, 0.2, 0.4, 0.8], [0.6, 0.2, 0.2, 0.2, 0.0, 0.9]),
}


@pytest.mark.parametrize("world", UNFAIR)
def test_unfairness_is_found_against_the_group_worse_off(world):
    p_value, against = p_values(measured(UNFAIR[world]), NOTIONS[world])
    assert ((p_value <= 0.05) & (against == 0)).mean() > 0.95
    assert not ((p_value <= 0.05) & (against == 1)).any()


@pytest.mark.parametrize("world", UNFAIR)
def test_the_group_better_off_is_never_found(world):
    people, notion = measured(UNFAIR[world]), NOTIONS[world]
    verdicts = Verdicts(np.ones(N_SETS, dtype=int), np.ones(N_SETS))
    assert (compare_sides(*verdicts.sides(people), notion, 0.05)["p_value"] > 0.2).all()


def test_p_values_by_hand():
    """One action helps 1 and 9 of 10; P(X <= 1) and P(X >= 9) of the binomial of 10 and .5."""
    people = Measured(
        hits=np.array([[1, 9]]),
        first=np.array([[1, 9]]),
        n=np.array([[10, 10]]),
        cost=np.ones(1),
        start=np.array([0, 1]),
        c_inf=1.0,
    )
    for name, view in (
        ("choice", "macro"),
        ("cost_of_effectiveness", "macro"),
        ("cost_of_effectiveness", "micro"),
    ):
        p_value, against = p_values(people, Notion(name, view, 0.5))
        assert p_value == pytest.approx([4 * 11 / 1024])
        assert against == 0
