"""Pictures of a pursuit show what its tables say."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from skdisc.plotting import GapDisplay, ShadowsDisplay
from skdisc.subgroup import DisparityPursuit, DivExplorer

figures = pytest.importorskip("matplotlib.figure")
pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(name="ax")
def axes():
    return figures.Figure().subplots()


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({c: rng.choice(list("abc"), 3000) for c in ["sex", "town", "job", "w"]})
    X.loc[(X["sex"] == "a") & (rng.random(3000) < 0.5), "job"] = "a"
    hit = (X["sex"] == "a") & (X["town"] == "b")
    rate = 0.6 - 0.3 * hit - 0.2 * (X["job"] == "a")
    y = (rng.random(3000) < rate).astype(int)
    return DisparityPursuit(protected="sex", pos_label=1, random_state=0).fit(X, y).result_


@pytest.mark.slow
def test_a_waterfall_ends_at_the_gap(result, ax):
    display = GapDisplay.from_result(result, group="sex = 'a'", ax=ax)
    assert display.ax_ is ax
    gaps = result.tables["gaps"]
    own = gaps[gaps["group"] == "sex = 'a'"]
    gap = own.loc[own["kind"] == "gap", "amount"].item()
    table = display.table
    assert table["kind"].iloc[-2] == "equal"
    assert table["part"].iloc[-1] == "gap"
    before = table.iloc[-2]
    assert before["start"] + before["amount"] == pytest.approx(gap)
    bars = ax.patches
    assert [b.get_width() for b in bars] == pytest.approx(table["amount"].tolist())
    assert [b.get_x() for b in bars] == pytest.approx(table["start"].tolist())
    assert bars[-1].get_x() == 0
    assert bars[-1].get_width() == pytest.approx(gap)


@pytest.mark.slow
def test_small_columns_are_drawn_together(result, ax):
    table = GapDisplay.from_result(result, group="sex = 'a'", ax=ax).table
    assert "through job" in set(table["part"])
    assert "through w" not in set(table["part"])
    gaps = result.tables["gaps"]
    own = gaps[(gaps["group"] == "sex = 'a'") & gaps["kind"].isin(["column", "interactions"])]
    drawn = table.loc[table["kind"] == "column", "amount"].sum()
    assert drawn == pytest.approx(own["amount"].sum())


@pytest.mark.slow
def test_the_largest_gap_is_drawn_where_no_group_is_named(result, ax):
    gaps = result.tables["gaps"]
    sizes = gaps[gaps["kind"] == "gap"].set_index("group")["amount"].abs()
    assert GapDisplay.from_result(result, ax=ax).table["group"].iloc[0] == sizes.idxmax()


@pytest.mark.slow
def test_shadows_are_drawn_below_their_causes(result, ax):
    table = ShadowsDisplay.from_result(result, max_rows=3, ax=ax).table
    causes = table[table["is_cause"]]
    assert causes["group"].tolist() == [str(f.subject) for f in result]
    assert causes["beside"].tolist() == [f.effect for f in result]
    shadows = result.tables["shadows"].set_index("group")
    below = table[~table["is_cause"]]
    assert len(below) >= 2
    assert below.groupby("finding").size().max() <= 3
    for row in below.itertuples():
        assert row.alone == shadows.loc[row.group, "effect_alone"]
        assert row.beside == shadows.loc[row.group, "effect_beside"]
    drawn = [
        line.get_xdata()[0]
        for line in ax.lines
        if line.get_marker() == "D" and len(line.get_xdata())
    ]
    assert drawn == causes["beside"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("display", [GapDisplay, ShadowsDisplay])
def test_nothing_is_cut_off_in_a_new_figure(result, display):
    import matplotlib.pyplot as plt

    figure = display.from_result(result).ax_.figure
    figure.canvas.draw()
    ax = figure.axes[0]
    for label in [*ax.get_yticklabels(), *ax.texts, ax.xaxis.label]:
        box = label.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))
    plt.close(figure)


@pytest.mark.slow
def test_what_cannot_be_drawn_is_refused(result):
    with pytest.raises(ValueError, match="has no gap"):
        GapDisplay.from_result(result, group="nobody")
    X = pd.DataFrame({"sex": list("ab") * 100, "w": list("aabb") * 50})
    y = np.arange(200) // 2 % 2
    plain = DivExplorer(protected="sex").fit(X, y).result_
    with pytest.raises(ValueError, match="DisparityPursuit"):
        GapDisplay.from_result(plain)
    nothing = DisparityPursuit(protected="sex").fit(X, y).result_
    with pytest.raises(ValueError, match="no causes"):
        ShadowsDisplay.from_result(nothing)
