"""Ignored warnings come back, in whatever order threads begin and end."""

import threading
import warnings

import pytest

from skdisc._utils._warnings import ignoring


class FirstWarning(UserWarning):
    pass


class SecondWarning(UserWarning):
    pass


def test_a_category_is_ignored_only_inside():
    with ignoring(FirstWarning):
        warnings.warn("ignored", FirstWarning, stacklevel=1)
        with pytest.warns(SecondWarning):
            warnings.warn("seen", SecondWarning, stacklevel=1)
    with pytest.warns(FirstWarning):
        warnings.warn("seen again", FirstWarning, stacklevel=1)


def test_the_filters_are_those_of_before_after_an_error_too():
    before = list(warnings.filters)
    with pytest.raises(ZeroDivisionError), ignoring(FirstWarning):
        raise ZeroDivisionError
    assert warnings.filters == before


def test_threads_that_leave_in_another_order_leave_no_filter():
    before, steps = list(warnings.filters), [threading.Event() for _ in range(3)]

    def first():
        with ignoring(FirstWarning):
            steps[0].set()
            steps[1].wait(10)
        steps[2].set()

    def second():
        steps[0].wait(10)
        with ignoring(SecondWarning):
            steps[1].set()
            steps[2].wait(10)  # the thread that came first leaves first

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before


def test_a_list_replaced_meanwhile_keeps_nothing():
    before = list(warnings.filters)
    context = ignoring(FirstWarning)
    context.__enter__()
    with warnings.catch_warnings():
        context.__exit__(None, None, None)
    assert warnings.filters == before


def test_a_filter_of_the_user_stays():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FirstWarning)
        with ignoring(FirstWarning):
            pass
        warnings.warn("the user ignores it", FirstWarning, stacklevel=1)
