"""A budget allows no more than its limits, and names the one that ended a search."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import Budget, FeatureSpace, Limits
from skdisc.individual import SG
from skdisc.individual._case_share import time_kept

limits = st.none() | st.integers(0, 50)


def test_no_limit():
    budget = Budget()
    assert budget.allow(10**9, rows_each=1000) == 10**9
    assert budget.stopped_by is None


@pytest.mark.parametrize(
    ("name", "limit", "allowed"),
    [
        ("tests", 7, 7),
        ("queries", 7, 3),
        ("queries", 1, 0),
        ("found", 7, 10),
        ("seconds", 60, 10),
        ("tests", 10, 10),
        ("queries", 20, 10),
    ],
)
def test_what_is_allowed_at_first(name, limit, allowed):
    budget = Budget(**{f"max_{name}": limit})
    assert budget.allow(10, rows_each=2) == allowed
    assert budget.stopped_by == (name if allowed < 10 else None)


@pytest.mark.parametrize("name", ["tests", "queries", "found", "seconds"])
def test_zero_allows_nothing(name):
    budget = Budget(**{f"max_{name}": 0})
    assert budget.allow(5, rows_each=3) == 0
    assert budget.stopped_by == name


def test_what_was_spent_counts():
    budget = Budget(max_tests=10, max_queries=100, max_found=2)
    budget.tests, budget.queries, budget.found = 8, 90, 1
    assert budget.allow(2, rows_each=5) == 2
    assert budget.stopped_by is None
    assert budget.allow(3, rows_each=5) == 2
    assert budget.stopped_by == "tests"
    assert budget.allow(3, rows_each=6) == 1
    assert budget.stopped_by == "queries"
    budget.found = 2
    assert budget.allow(1) == 0
    assert budget.stopped_by == "found"


def test_spent_more_than_allowed_leaves_nothing():
    budget = Budget(max_tests=5)
    budget.tests = 9
    assert budget.allow(1) == 0


def test_nothing_asked_is_nothing_stopped():
    budget = Budget(max_tests=0, max_seconds=0)
    assert budget.allow(0) == 0
    assert budget.stopped_by is None


def test_limits_given_as_numbers_of_numpy_do_not_overflow():
    budget = Budget(max_tests=np.int8(100), max_queries=np.int16(30_000))
    budget.tests = 90
    assert budget.max_tests * 10 == 1000
    assert budget.allow(7, rows_each=2000) == 7
    space = FeatureSpace.from_domains({"a": (0, 9999), "sex": ["F", "M"]}, protected="sex")
    search = SG(limits=Limits(tests=np.int64(3000)), n_seeds=5000, random_state=0)
    assert search.fit(space, model=lambda X: X["a"] > 20).result_.n_tested == 3000


def test_time():
    budget = Budget(max_seconds=60)
    assert 0 <= budget.elapsed < 60
    assert budget.allow(10) == 10
    budget.started -= 60
    assert budget.elapsed >= 60
    assert budget.allow(10) == 0
    assert budget.stopped_by == "seconds"


@given(limits, limits, limits, st.integers(0, 40), st.integers(1, 5), st.data())
def test_allow_is_the_most_that_no_limit_forbids(tests, queries, found, n, rows, data):
    budget = Budget(max_tests=tests, max_queries=queries, max_found=found)
    for name in ("tests", "queries", "found"):
        setattr(budget, name, data.draw(st.integers(0, 30)))

    def fits(k):
        return (
            (tests is None or budget.tests + k <= tests)
            and (queries is None or budget.queries + k * rows <= queries)
            and (found is None or budget.found < found)
        )

    wanted = max([k for k in range(n + 1) if fits(k)], default=0)
    assert budget.allow(n, rows) == wanted
    assert (budget.stopped_by is None) == (wanted == n)


@pytest.mark.parametrize("name", ["tests", "queries", "found", "stopped_by"])
def test_what_was_spent_is_not_given(name):
    with pytest.raises(TypeError, match=name):
        Budget(**{name: 1})


def test_tells_what_it_is():
    assert "max_tests=3" in repr(Budget(max_tests=3))
    assert "_started" not in repr(Budget())


def test_tests_that_ask_nothing_are_not_limited_by_rows():
    budget = Budget(max_queries=5, max_tests=7)
    budget.queries = 5
    assert budget.allow(9, rows_each=0) == 7
    assert budget.stopped_by == "tests"


def test_rows_that_are_no_tests_are_not_limited_by_tests():
    budget = Budget(max_queries=5, max_tests=1)
    budget.tests = 1
    assert budget.affords(5)
    assert budget.stopped_by is None
    assert not budget.affords(6)
    assert budget.stopped_by == "queries"
    late = Budget(max_seconds=0)
    assert not late.affords(1)
    assert late.stopped_by == "seconds"


def test_rows_beside_the_tests_are_afforded_or_end_the_search():
    budget = Budget(max_tests=1, max_queries=10)
    budget.queries = 7
    assert budget.affords(3)
    assert budget.stopped_by is None
    assert not budget.affords(4)
    assert budget.stopped_by == "queries"
    late = Budget(max_seconds=0.0)
    assert not late.affords(1)
    assert late.stopped_by == "seconds"


@pytest.mark.parametrize(
    "name", ["DivExplorer", "SliceLine", "GroupDisparity", "DiscriminatoryRules"]
)
def test_few_tests_are_no_few_people(name):
    """A limit on the groups tested does not limit how many decisions are looked at."""
    from skdisc import all_detectors

    X = pd.DataFrame({"sex": ["f", "m"] * 100, "zone": list("abcd") * 50})
    detector = all_detectors()[name](protected="sex", pos_label=1)
    if "tests" in detector.limit_fields:
        detector.set_params(limits__tests=5)
    result = detector.fit(X, [0, 1, 1, 1] * 50, lambda X: (X["sex"] == "m").astype(int)).result_
    assert result.n_queries == 4  # different rows
    assert result.n_tested > 0


def test_portions_of_a_budget_pass_on_what_is_left():
    budget, seen = Budget(max_tests=10, max_found=3), []
    for _ in budget.portions(3):
        seen.append((budget.allow(99), budget.max_found))
        budget.tests += 2 if len(seen) == 1 else seen[-1][0]
    assert seen == [(3, 1), (4, 1), (4, 3)]
    assert (budget.max_tests, budget.max_found, budget.stopped_by) == (10, 3, "tests")


def test_an_error_leaves_a_budget_as_it_was():
    budget = Budget(max_tests=10, max_found=3, max_seconds=100.0)
    task = SimpleNamespace(budget=budget)
    for context in (budget.besides_tests, lambda: time_kept(task)):
        with pytest.raises(ZeroDivisionError), context():
            raise ZeroDivisionError
    portions = budget.portions(3)
    next(portions)
    portions.close()  # as when the loop ends by an error
    assert (budget.max_tests, budget.max_found, budget.max_seconds) == (10, 3, 100.0)
