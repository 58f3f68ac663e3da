"""Queries: what was answered once is never queried again, and answers are checked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc._blackbox._outputs import _checked_probabilities
from skdisc._blackbox._queries import AnswerCache
from skdisc.exceptions import ModelError


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


@pytest.mark.parametrize("beyond", [1e-8, 0.1])
@pytest.mark.parametrize("end", [0, 1])
def test_probabilities_may_be_wrong_by_rounding_only(end, beyond):
    sign = 2 * end - 1
    for off, is_refused in ((1e-10, False), (beyond, True)):
        given = np.array([0.5, end + sign * off])
        if is_refused:
            with pytest.raises(ModelError, match=r"probabilities outside \[0, 1\]"):
                _checked_probabilities(given, 2, "predict_proba")
        else:
            assert (_checked_probabilities(given, 2, "predict_proba") == given).all()
