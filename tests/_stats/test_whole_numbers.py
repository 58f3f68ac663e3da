"""What follows from sums of whole people, beside each range by an exact whole-number program."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from skdisc._stats import _packed_masks
from skdisc._stats._packed_masks import PackedMasks
from skdisc._stats._printed_sums import PrintedSums, common_people
from skdisc._stats._whole_numbers import discloses_few, printable_blocks


def columns_of(counts):
    """Return the two columns of people who are counted in a table."""
    row, column = np.indices(np.shape(counts))
    return [np.repeat(code.ravel(), np.ravel(counts)) for code in (row, column)]


def ranges(printed, favorable, people):
    """Return the least and largest real number of favorable outcomes of each cell."""
    total = printed @ favorable
    known = LinearConstraint(printed.astype(float), total, total)
    ends = []
    for goal in np.eye(len(people)):
        ends.append(
            [milp(s * goal, constraints=known, bounds=Bounds(0, people)).fun for s in (1, -1)]
        )
    return np.abs(np.array(ends))


def tells(printed, favorable, people):
    """Return whether a cell must have none or all, and is in no group that has."""
    total = printed @ favorable
    is_alike = (total == 0) | (total == printed @ people)
    least, largest = ranges(printed, favorable, people).T
    is_fixed = (largest < 1e-9) | (least > people - 1e-9)
    return bool((is_fixed & (people > 0) & ~printed[is_alike].any(axis=0)).any())


def test_sums_tell_if_and_only_if_a_program_leaves_one_number():
    draw, counts = np.random.default_rng(0), {False: 0, True: 0}
    for _ in range(60):
        n_cells = int(draw.integers(4, 9))
        columns = [np.repeat(np.arange(n_cells), draw.integers(10, 14, n_cells))]
        sums = PrintedSums(columns, 10)
        assert sums.small.shape[0] == 0  # so that single cells are all that can be told
        printed = draw.random((int(draw.integers(1, 5)), n_cells)) < 0.6
        printed = np.concatenate([np.ones((1, n_cells), dtype=bool), printed])
        favorable = sums.people * (draw.random(n_cells) < 0.3)
        favorable[: n_cells // 2] = draw.integers(0, 4, n_cells // 2)
        expected = tells(printed, favorable, sums.people)
        assert discloses_few(sums, printed, favorable) == expected
        counts[expected] += 1
    assert min(counts.values()) > 8


def test_what_is_left_of_a_group_without_two_others_is_told():
    """Of a, b, c and d, the first two are printed, and have all that the four have."""
    sums = PrintedSums([np.repeat([0, 1, 2, 3], 20)], 10)
    printed = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0]], dtype=bool)
    assert discloses_few(sums, printed, np.array([5, 6, 0, 0]))
    assert not discloses_few(sums, printed, np.array([5, 6, 1, 0]))
    group = np.concatenate([printed, [[False, False, True, True]]])
    assert not discloses_few(sums, group, np.array([5, 6, 0, 0]))  # it is printed itself


def test_what_follows_beside_a_group_of_none_is_told():
    """16 people of a group have no outcome, as another group says: 4 of it are left."""
    sums = PrintedSums(columns_of([[16, 4, 20], [10, 20, 30]]), 10)
    assert sums.people.tolist() == [16, 4, 20, 10, 20, 30]
    printed = np.array([[1] * 6, [1, 1, 0, 0, 0, 0], [1, 0, 0, 1, 0, 0]], dtype=bool)
    assert discloses_few(sums, printed, np.array([0, 2, 10, 0, 5, 10]))
    assert not discloses_few(sums, printed, np.array([1, 1, 10, 0, 5, 10]))


@pytest.mark.parametrize("bad", [[], [3], [0, 1], [2, 5, 6], [1, 7]])
def test_as_few_blocks_are_left_out_as_tell_one_by_one(bad):
    asked = []

    def discloses(blocks):
        asked.append(list(blocks))
        return bool(set(blocks) & set(bad))

    assert printable_blocks(range(8), discloses) == [b for b in range(8) if b not in bad]
    assert len(asked) <= 1 + 4 * max(len(bad), 1)


@pytest.mark.parametrize("chunk", [7, 10**7])
def test_common_people_of_masks_are_sums_over_cells_whatever_the_size_of_blocks(monkeypatch, chunk):
    monkeypatch.setattr(_packed_masks, "_NUMBERS", chunk)
    draw = np.random.default_rng(0)
    masks, people = draw.random((5, 40)) < 0.5, draw.integers(0, 9, 40).astype(float)
    expected = [[people[a & b].sum() for b in masks] for a in masks]
    assert common_people(PackedMasks.of(masks), people).tolist() == expected
