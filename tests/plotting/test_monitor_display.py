"""The picture of a monitor: what is drawn is the history."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from skdisc.group import GroupDisparity
from skdisc.monitoring import DisparityMonitor
from skdisc.plotting import MonitorDisplay


@pytest.fixture(scope="module")
def result():
    rng, monitor = np.random.default_rng(0), DisparityMonitor(protected="sex", random_state=0)
    for _ in range(6):
        X = pd.DataFrame({"sex": rng.choice(["f", "m"], 200)})
        rate = np.where(X["sex"] == "f", 0.3, 0.5)
        monitor.partial_fit(X, (rng.random(200) < rate).astype(int))
    return monitor.result_


def test_lines_are_the_wealths_of_the_groups(result):
    display = MonitorDisplay.from_result(result)
    lines = {line.get_label(): line for line in display.ax_.lines}
    history = result.last_shown.tables["history"]
    for name in ("all groups", "sex = 'f'", "sex = 'm'"):
        own = history[history["group"] == name]
        np.testing.assert_allclose(lines[name].get_ydata() * np.log(10), own["log_wealth"])
        np.testing.assert_array_equal(lines[name].get_xdata(), own["n"])
    gaps = display.ax_.figure.axes[1]
    drawn = gaps.lines[0].get_ydata()
    own = history[history["group"] == str(result[0].subject)]
    np.testing.assert_allclose(drawn, own["effect"])
    plt.close("all")


def test_gaps_of_numbers_are_drawn_in_their_unit():
    rng = np.random.default_rng(0)
    monitor = DisparityMonitor(protected="sex", output="value", bounds=(0, 9000))
    for _ in range(3):
        X = pd.DataFrame({"sex": rng.choice(["f", "m"], 200)})
        pay = rng.uniform(3000, 5000, 200) * np.where(X["sex"] == "f", 0.8, 1)
        monitor.partial_fit(X, pay)
    gaps = MonitorDisplay.from_result(monitor.result_).ax_.figure.axes[1]
    low, high = gaps.get_ylim()
    assert low < gaps.lines[0].get_ydata().min() < -500 < 500 < high
    plt.close("all")


def test_on_given_axes_there_are_wealths_only(result):
    _, ax = plt.subplots()
    display = MonitorDisplay.from_result(result, max_groups=1, ax=ax)
    assert display.ax_ is ax
    assert len(ax.lines) == 3  # all groups, one group, the alarm
    plt.close("all")


def test_other_results_have_no_history():
    X = pd.DataFrame({"sex": ["f", "m"] * 30})
    other = GroupDisparity(protected="sex").fit(X, [0, 1] * 30).result_
    with pytest.raises(ValueError, match="no table 'history'"):
        MonitorDisplay.from_result(other)
