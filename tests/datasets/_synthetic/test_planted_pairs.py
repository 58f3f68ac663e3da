"""Planting: all pairs asked for are planted, or an error says soon what may do."""

import re

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


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["forbid", "add"])
def test_the_work_for_impossible_pairs_does_not_grow_with_their_number(proposed, overlap):
    asked = {"n_attributes": 4, "n_values": 3, "granularity": 1, "overlap": overlap}
    work, most = [], []
    for n_pairs in (150, 1500):
        proposed.clear()
        with pytest.raises(ValueError, match=rf"Only \d+ of n_pairs={n_pairs} pairs") as error:
            make_discrimination(
                n_pairs, **asked, intersectionality=1, n_background=0, random_state=0
            )
        work.append(len(proposed))
        most.append(int(re.search(r"Only (\d+)", str(error.value)).group(1)))
    assert min(most) > 3
    assert work[1] < 2 * work[0] + 20 * _planted_pairs._BATCH * _planted_pairs._BATCHES


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_coarse_pairs_that_do_not_fit_get_more_attributes_within_the_ranges(seed):
    asked = {"granularity": (1, 3), "intersectionality": (1, 2), "null_fraction": 0.3}
    made = make_discrimination(50, **asked, random_state=seed)
    groups = made.truth.groups
    assert len(groups) == 50
    assert groups["is_null"].sum() == 15
    assert groups["granularity"].isin([1, 2, 3]).all()
    assert groups["intersectionality"].isin([1, 2]).all()
    assert made.truth.rows["group_key"].isna().sum() == 1000
    for k, subgroup in enumerate(made.truth.subgroups):  # disjoint
        assert ((made.truth._origin == k) == subgroup.mask(made.data)).all()


@pytest.mark.slow
def test_a_hundred_pairs_of_fifteen_attributes():
    """The largest example of the document that the generator comes from; it takes 5 s."""
    asked = {"n_attributes": 15, "protected_share": 0.3, "null_fraction": 0.2}
    made = make_discrimination(100, **asked, random_state=0)
    assert len(made.truth.groups) == 100
    assert made.truth.groups["is_null"].sum() == 20


IMPOSSIBLE = {
    "few values": (20, {"n_attributes": 3, "n_values": 2, "granularity": 1}),
    "coarse": (60, {"granularity": 1, "intersectionality": 1}),
    "six attributes": (100, {"n_attributes": 6, "protected_share": 0.1, "n_values": (2, 4)}),
    "overlap": (200, {"n_attributes": 4, "granularity": 0, "overlap": "add", "n_values": 3}),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", IMPOSSIBLE)
@pytest.mark.parametrize("seed", range(2))
def test_as_many_pairs_as_the_error_says_can_be_planted(case, seed):
    n_pairs, asked = IMPOSSIBLE[case]
    with pytest.raises(ValueError, match="What may do") as error:
        make_discrimination(n_pairs, **asked, random_state=seed)
    fewer = int(re.search(r"What may do: n_pairs=(\d+)", str(error.value)).group(1))
    made = make_discrimination(fewer, **asked, random_state=seed)
    assert len(made.truth.groups) == fewer > 0


@pytest.mark.parametrize("seed", range(4))
def test_ranges_end_at_the_number_of_attributes_that_there_are(seed):
    """One protected column, whatever the default range of the number of protected attributes."""
    X = make_discrimination(0, n_background=800, n_attributes=6, random_state=1).data
    made = make_discrimination(10, reference=X, protected=next(iter(X)), random_state=seed)
    assert len(made.truth.groups) == 10
    assert set(made.truth.groups["intersectionality"]) == {1}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"intersectionality": 9}, "intersectionality=9 asks for 9 protected attributes, but 3"),
        ({"granularity": (8, 9)}, r"granularity=\(8, 9\) asks for 8 unprotected attributes, but 7"),
    ],
)
def test_more_attributes_than_there_are(asked, message):
    with pytest.raises(ValueError, match=message):
        make_discrimination(3, **asked, random_state=0)
