import numpy as np
import pandas as pd
import pytest

from skdisc.plotting import EffectivenessCostDisplay
from skdisc.subgroup import FACTS, DivExplorer

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 300), "hours": rng.integers(1, 6, 300)})
    detector = FACTS(protected="sex", notion="trade_off", viewpoint="micro", pos_label=True)
    return detector.fit(X, model=lambda X: X["hours"] + (X["sex"] == "M") > 4).result_


@pytest.mark.parametrize("viewpoint", ["micro", "macro"])
def test_the_curves_drawn_are_those_of_the_table(result, viewpoint):
    display = EffectivenessCostDisplay.from_result(result, rank=2, viewpoint=viewpoint)
    table = result.tables["curves"]
    table = table[table["rank"] == 2]
    assert [line.get_label() for line in display.lines_] == list(dict.fromkeys(table["group"]))
    for line in display.lines_:
        own = table[table["group"] == line.get_label()]
        x, y = line.get_data()
        assert list(x) == [0, *own["cost"], 1.05 * table["cost"].max()]
        assert list(y) == [0, *own[viewpoint], own[viewpoint].iloc[-1]]
    assert display.ax_.get_title() in str(result[1].subject)
    matplotlib.pyplot.close(display.figure_)


def test_axes_of_your_own_are_drawn_into(result):
    figure, ax = matplotlib.pyplot.subplots()
    assert EffectivenessCostDisplay.from_result(result, ax=ax).figure_ is figure
    matplotlib.pyplot.close(figure)


def test_what_has_no_curve_is_refused(result):
    with pytest.raises(ValueError, match="no effectiveness-cost curves of a finding of rank 99"):
        EffectivenessCostDisplay.from_result(result, rank=99)
    with pytest.raises(ValueError, match="viewpoint must be"):
        EffectivenessCostDisplay.from_result(result, viewpoint="both")
    X = pd.DataFrame({"sex": ["F", "M"] * 20})
    labels = DivExplorer(protected="sex").fit(X, [0, 1] * 20).result_
    with pytest.raises(ValueError, match="Only FACTS has such curves"):
        EffectivenessCostDisplay.from_result(labels)
