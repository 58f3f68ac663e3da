"""AnswerCache: what was answered once is never queried again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skdisc._blackbox._queries import AnswerCache


@given(st.lists(st.lists(st.integers(0, 9), max_size=8), max_size=5))
def test_every_key_is_queried_once_and_answered_always(batches):
    cache, queried = AnswerCache(), []
    for batch in batches:
        keys = np.array(batch, dtype=np.uint64)

        def query(new, keys=keys):
            queried.extend(keys[new].tolist())
            return keys[new] / 2

        assert cache.get(keys, query).tolist() == [key / 2 for key in batch]
    assert queried == list(dict.fromkeys(key for batch in batches for key in batch))


def test_placeholders_stay():
    cache, keys = AnswerCache(bool), np.arange(3, dtype=np.uint64)
    assert not cache.get(keys, lambda new: np.zeros(len(new), bool)).any()
    later = cache.get(np.arange(4, dtype=np.uint64), lambda new: np.ones(len(new), bool))
    assert later.tolist() == [False, False, False, True]
