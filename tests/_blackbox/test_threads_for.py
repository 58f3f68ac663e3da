"""threads_for: few rows get one thread of OpenMP, and others what they had."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from skdisc._blackbox import _training
from skdisc._blackbox._training import threads_for


@pytest.fixture(autouse=True)
def _libraries_of_other_tests():
    """Other tests may have loaded a library of OpenMP that boosted trees do not use."""
    _training._controller.cache_clear()
    with threads_for(1):
        pass


def n_threads():
    """Return the numbers of threads of all OpenMP libraries."""
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "openmp"}


@pytest.mark.parametrize(("n_rows", "expected"), [(1, 1), (19_999, 1), (20_000, 3)])
def test_few_rows_get_one_thread(n_rows, expected):
    with threadpool_limits(3, "openmp"):
        with threads_for(n_rows):
            assert n_threads() == {expected}
        assert n_threads() == {3}


def test_an_error_gives_the_threads_back():
    with threadpool_limits(3, "openmp"):
        with pytest.raises(ValueError, match="too few"), threads_for(1):
            raise ValueError("too few")
        assert n_threads() == {3}


def test_callers_wait_for_each_other():
    """Else the one that leaves last restores what the other had set."""
    entered, order = Event(), []

    def first():
        with threads_for(1):
            entered.set()
            second_is_in.wait(0.2)
            order.append("first leaves")

    def second():
        entered.wait()
        with threads_for(1):
            second_is_in.set()
            order.append("second enters")

    second_is_in = Event()
    with threadpool_limits(3, "openmp"):
        with ThreadPoolExecutor(2) as threads:
            for done in [threads.submit(first), threads.submit(second)]:
                done.result()
        assert order == ["first leaves", "second enters"]
        assert n_threads() == {3}
