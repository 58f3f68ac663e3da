"""Planting: pairs that cannot be planted end quickly, with the reason."""

import pytest

from skdisc.datasets import make_discrimination
from skdisc.datasets._synthetic import _planted_pairs


@pytest.fixture
def proposed(monkeypatch):
    """Count the definitions that are tried."""
    counts, proposals = [], _planted_pairs._proposals

    def counted(*given):
        for pair in proposals(*given):
            counts.append(1)
            yield pair

    monkeypatch.setattr(_planted_pairs, "_proposals", counted)
    return counts


@pytest.mark.parametrize("overlap", ["forbid", "add"])
def test_the_work_for_impossible_pairs_does_not_grow_with_their_number(proposed, overlap):
    asked = {"n_attributes": 4, "n_values": 3, "granularity": 1, "overlap": overlap}
    asked["intersectionality"] = 1
    work, planted = [], []
    for n_pairs in (150, 1500):
        proposed.clear()
        made = make_discrimination(n_pairs, **asked, n_background=0, random_state=0)
        work.append(len(proposed))
        planted.append(len(made.truth.subgroups) // 2)
        rejected = made.truth.rejected["reason"]
        assert planted[-1] + len(rejected) == n_pairs
        assert rejected.str.contains("no definition found that is disjoint").any()
        late = rejected.str.contains("not tried, because the 20 pairs before, with as many attri")
        assert late.sum() >= n_pairs - planted[-1] - 20 * (planted[-1] + 1)
        assert late.any()
    tries = _planted_pairs._BATCH * _planted_pairs._BATCHES
    assert work[1] <= tries * (4 * planted[1] + 3 + _planted_pairs._PATIENCE * (planted[1] + 1))
    assert work[1] < 2 * work[0] + 20 * tries


@pytest.mark.slow
def test_patience_is_per_number_of_attributes():
    """Coarse pairs fill the population first; finer ones are tried all the same."""
    made = make_discrimination(
        120,
        n_attributes=6,
        granularity=(0, 3),
        intersectionality=1,
        overlap="add",
        n_background=0,
        similarity=0.0,
        random_state=0,
    )
    planted, rejected = made.truth.groups, made.truth.rejected
    assert {0} <= set(rejected["granularity"]) <= {0, 1}
    assert {2, 3} <= set(planted["granularity"])


def test_as_many_people_as_can_be_had_are_left_to_the_background_or_the_reason_is_said():
    with pytest.raises(ValueError, match="nearly all people belong to a planted subgroup"):
        make_discrimination(1000, n_attributes=5, random_state=0)
