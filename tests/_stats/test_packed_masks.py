"""Packed masks, beside masks of booleans."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skdisc._stats import _packed_masks
from skdisc._stats._packed_masks import PackedMasks


@given(st.integers(0, 2**32 - 1), st.integers(0, 5), st.integers(0, 50), st.sampled_from([1, 100]))
def test_packed_masks_say_what_booleans_say(seed, n, n_cells, numbers):
    draw = np.random.default_rng(seed)
    masks, cells = draw.random((n, n_cells)) < 0.5, draw.permutation(n_cells)[: n_cells // 2]
    packed = PackedMasks.of(masks)
    assert len(packed) == n
    assert PackedMasks.of(packed) is packed
    assert (packed.unpacked() == masks).all()
    assert (packed.at(cells) == masks[:, cells]).all()
    both = packed.joined(packed[np.arange(n)[::-1]]).unpacked()
    assert (both == np.concatenate([masks, masks[::-1]])).all()
    usual, _packed_masks._NUMBERS = _packed_masks._NUMBERS, numbers
    try:
        blocks = list(packed.blocks())
    finally:
        _packed_masks._NUMBERS = usual
    assert [c for cells, _ in blocks for c in range(cells.start, cells.stop)] == [*range(n_cells)]
    for cells, inside in blocks:
        assert inside.dtype == bool
        assert (inside == masks[:, cells]).all()
