"""Pictures of numbers: parts add up to the gap, and lines are the quantiles."""

import numpy as np
import pandas as pd
import pytest

from skdisc.datasets import make_pay
from skdisc.group import GroupDisparity, OaxacaBlinder
from skdisc.plotting import OaxacaDisplay, QuantilesDisplay

figures = pytest.importorskip("matplotlib.figure")
pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(name="ax")
def axes():
    return figures.Figure().subplots()


@pytest.fixture(scope="module")
def result():
    made = make_pay(800, random_state=0)
    detector = OaxacaBlinder(protected="gender", output="value")
    return detector.fit(made.data, np.log(made.target)).result_


def test_parts_add_up_to_the_gap_and_have_their_intervals(result, ax):
    table = OaxacaDisplay.from_result(result, ax=ax).table
    *parts, gap = table["estimate"]
    assert sum(parts) == pytest.approx(gap)
    factors = result.tables["factors"].query("part == 'explained'").set_index("factor")
    assert {f"with {name}" for name in factors.index} < set(table["part"])
    bars = ax.patches
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    assert [bar.get_x() for bar in bars[1:-1]] == pytest.approx(ends[:-2])
    assert ends[-2] == pytest.approx(ends[-1]) == pytest.approx(gap)
    drawn = ax.collections[-1].get_segments()
    for part, (low, high) in zip(table.itertuples(), drawn, strict=True):
        assert low[0] == pytest.approx(part.start + part.ci_low)
        assert high[0] == pytest.approx(part.start + part.ci_high)
    education = table[table["part"] == "with education"].iloc[0]
    assert education["ci_high"] == pytest.approx(factors.loc["education", "ci_high"])


def test_other_results_and_groups_are_refused(result, ax):
    with pytest.raises(ValueError, match="has no gap"):
        OaxacaDisplay.from_result(result, group="nobody", ax=ax)
    X = pd.DataFrame({"sex": list("ab") * 50})
    other = GroupDisparity(protected="sex").fit(X, np.arange(100) // 2 % 2).result_
    with pytest.raises(ValueError, match="OaxacaBlinder"):
        OaxacaDisplay.from_result(other, ax=ax)


def test_lines_are_quantiles_and_bands_hold_them(ax):
    draw = np.random.default_rng(0)
    y, sex = draw.lognormal(3, 0.4, 1000), np.repeat(["f", "m"], 500)
    table = QuantilesDisplay.from_values(y, sex, ax=ax).table
    for row in table.itertuples():
        own = y[sex == row.group]
        assert row.value == pytest.approx(
            np.quantile(own, row.quantile, method="averaged_inverted_cdf")
        )
        assert row.ci_low < row.value < row.ci_high
    assert [line.get_label() for line in ax.lines] == ["f", "m"]
    assert list(ax.lines[0].get_ydata()) == table.loc[table["group"] == "f", "value"].tolist()


def test_quantiles_of_few_people_are_not_drawn(ax):
    y, sex = np.arange(100.0), np.repeat(["f", "m"], [40, 60])
    table = QuantilesDisplay.from_values(y, sex, ax=ax).table
    smallest = table.groupby("group")["quantile"].min()
    assert (smallest * [40, 60] >= 10).all()
    everything = QuantilesDisplay.from_values(y, sex, show_people=True, ax=ax).table
    assert len(everything) == 38 > len(table)
    with pytest.raises(ValueError, match="No group has 20 people"):
        QuantilesDisplay.from_values(y[:10], sex[:10], ax=ax)
    with pytest.raises(ValueError, match="1 missing"):
        QuantilesDisplay.from_values([np.nan, *y[1:]], sex, ax=ax)
