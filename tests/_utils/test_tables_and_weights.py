"""What is taken as a table and as weights, and what is refused, by itself."""

import signal

import numpy as np
import pandas as pd
import pytest

from skdisc._utils._frequency import count, evenly
from skdisc._utils._inputs import as_frame, check_order, refuse_huge, refuse_twice
from skdisc._utils._interruption import hold, release
from skdisc._utils._sample_weight import check_groups, check_weights
from skdisc.group import GroupDisparity
from skdisc.measures import mean_difference, mean_difference_report


@pytest.mark.parametrize("X", ["text", {"a": [1]}, 1.5, np.zeros((2, 2, 2))])
def test_what_is_no_table(X):
    with pytest.raises(ValueError, match="X must be a table, one row per person"):
        as_frame(X)


@pytest.mark.parametrize(("X", "shape"), [([1, 2], (2, 1)), ([[1, 2]], (1, 2))])
def test_lists_are_tables(X, shape):
    assert as_frame(X).shape == shape


def test_numbers_that_cannot_be_squared_are_refused():
    fine = pd.DataFrame({"a": [1.0, -1e150, np.nan], "b": [2**62, 0, 1]})
    refuse_huge(fine)
    with pytest.raises(ValueError, match=r"Column 'a' of X has numbers beyond 1e\+150"):
        refuse_huge(fine.assign(a=-1.5e150))


def test_two_columns_of_one_name_are_refused():
    refuse_twice(pd.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(ValueError, match="X has several columns named 'b'"):
        refuse_twice(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "b"]))


def test_an_index_in_another_order_is_refused():
    X = pd.DataFrame({"a": [1, 2, 3]})
    y = pd.Series([1, 2, 3])
    check_order(X=X, y=y)
    check_order(X=X, y=y.iloc[:2])
    check_order(X=X, y=y.set_axis([5, 6, 7]))
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        check_order(X=X, y=y[::-1])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, 2.0], "has 2 values for 3 rows"),
        ([0.0, 0.0, 0.0], "is zero for every row"),
        ([1.0, 1.0, 1.5e50], r"must be 0 or between 1e-50 and 1e\+50; got 1.5e\+50"),
        ([1.0, 1.0, 1e-51], "got 1e-51"),
        ([1.0, 1.0, -1.0], "must be finite and >= 0; got -1.0"),
        ([[1.0]], "1D array"),
        (["a", "b", "c"], "must be numbers"),
    ],
)
def test_what_are_no_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weight, 3)


def test_weights_are_floats():
    assert check_weights([0, 1e50, 1e-50], 3).tolist() == [0.0, 1e50, 1e-50]
    assert check_weights([], 0).tolist() == []


@pytest.mark.parametrize("most", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("frequency", [[3, 3], [1, 0, 4, 2], [7], []])
def test_every_so_many_th_person(frequency, most):
    people = np.repeat(np.arange(len(frequency)), np.array(frequency, dtype=int))
    step = max(-(-len(people) // most), 1)
    found = evenly(np.array(frequency, dtype=np.int64), most)
    assert found.tolist() == people[::step].tolist()


def test_people_are_counted_exactly_beyond_what_floats_hold():
    frequency = np.array([2**53, 1, 2**60 + 1, 200])
    assert count(np.array([0, 0, 1, 1]), 2, frequency).tolist() == [2**53 + 1, 2**60 + 201]


def test_an_interruption_waits_once(capsys):
    before = signal.getsignal(signal.SIGINT)
    try:
        hold()
        release()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        hold()
        signal.raise_signal(signal.SIGINT)
        assert "interrupted; what there is follows" in capsys.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)  # the second one stops at once
        with pytest.raises(KeyboardInterrupt):
            release()
        release()  # nothing waits any more
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        release()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_one_cluster_for_all_rows_is_no_evidence():
    with pytest.raises(ValueError, match=r"one cluster only \('ACME'\)"):
        check_groups(["ACME"] * 3, 3)
    assert check_groups(["ACME"], 1).tolist() == ["ACME"]


@pytest.mark.parametrize("groups", [pd.DataFrame({"a": [1] * 6, "b": [2] * 6}), "a", [1, 2]])
@pytest.mark.parametrize(
    "use",
    [
        lambda groups: check_groups(groups, 6),
        lambda groups: mean_difference(
            [1] * 6, [0, 1] * 3, protected=list("aabbab"), groups=groups
        ),
        lambda groups: GroupDisparity(protected=[0]).fit([[0], [1]] * 3, [0, 1] * 3, groups=groups),
    ],
)
def test_clusters_that_are_not_one_for_each_row(use, groups):
    with pytest.raises(ValueError, match="groups must hold the cluster of each of 6 rows, got an"):
        use(groups)


def test_clusters_may_be_a_frame_of_one_column():
    frame = pd.DataFrame({"household": [1, 1, 2, 2, 3, 3]})
    assert check_groups(frame, 6).tolist() == frame["household"].tolist()
    how = {"protected": list("abbaab"), "groups": frame}
    row = mean_difference_report(None, [0, 1, 0, 1, 1, 1], **how)
    how["groups"] = frame["household"]
    pd.testing.assert_frame_equal(row, mean_difference_report(None, [0, 1, 0, 1, 1, 1], **how))
