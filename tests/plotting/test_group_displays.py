"""Pictures show what the result says."""

import numpy as np
import pandas as pd
import pytest

from skdisc import BlackBox
from skdisc.individual import Themis
from skdisc.plotting import ForestDisplay, LatticeDisplay, SizeEffectDisplay, WaterfallDisplay
from skdisc.subgroup import DivExplorer, SliceFinder

figures = pytest.importorskip("matplotlib.figure")
pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(name="ax")
def axes():
    return figures.Figure().subplots()


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({c: rng.choice(list("ab"), 2000) for c in "uvw"})
    y = rng.integers(0, 2, 2000)
    wrong = rng.random(2000) < 0.1 + 0.3 * ((X["u"] == "a") & (X["v"] == "b"))
    return X, y, np.where(wrong, 1 - y, y)


@pytest.fixture(scope="module")
def result(people):
    X, y, decided = people
    settings = {"metric": "error_rate", "must_include": None, "pos_label": 1}
    return DivExplorer(explain=True, **settings).fit(X, y, BlackBox(decisions=decided)).result_


def test_forest(result, ax):
    display = ForestDisplay.from_result(result, max_rows=4, ax=ax)
    assert display.ax_ is ax
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert labels == [str(f.subject) for f in result[:4]]
    for i, finding in enumerate(result[:4]):
        assert list(ax.lines[2 * i].get_xdata()) == [finding.ci_low, finding.ci_high]
        assert list(ax.lines[2 * i + 1].get_xdata()) == [finding.effect]
    assert display.table["significant"].tolist() == [f.p_adjusted <= 0.05 for f in result[:4]]


def test_waterfall_adds_up_to_the_divergence(result, ax):
    display = WaterfallDisplay.from_result(result, rank=2, ax=ax)
    bars = ax.patches
    assert len(bars) == len(result[1].subject)
    divergence = result.to_frame()["effect_everyone"][1]
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(divergence)
    sizes = display.table["contribution"].abs()
    assert sizes.is_monotonic_decreasing


def test_lattice_has_every_part_of_the_group(result, ax, people):
    X, y, decided = people
    rank = next(r for r, f in enumerate(result, 1) if len(f.subject) == 3)
    table = LatticeDisplay.from_result(result, rank=rank, ax=ax).table
    assert len(table) == len(ax.texts) == 8
    assert len(ax.lines) == 12  # edges of a cube
    error = decided != y
    for row in table.itertuples():
        group = np.all(
            [p.mask(X) for p in result[rank - 1].subject.predicates if str(p) in row.group]
            + [np.ones(len(X), dtype=bool)],
            axis=0,
        )
        assert row.divergence == pytest.approx(error[group].mean() - error.mean())
    size = table.set_index("subset")["divergence"].abs()
    for row in table.itertuples():
        above = [row.subset ^ (1 << i) for i in range(3) if row.subset >> i & 1]
        assert row.corrective == any(size[row.subset] < size[s] for s in above if s)


def test_size_against_effect(people, ax):
    X, y, decided = people
    found = SliceFinder(pos_label=1).fit(X, y, BlackBox(decisions=decided)).result_
    SizeEffectDisplay.from_result(found, ax=ax)
    drawn = np.concatenate([c.get_offsets() for c in ax.collections])
    expected = [(f.support, f.effect) for f in found]
    np.testing.assert_allclose(sorted(map(tuple, drawn.tolist())), sorted(expected))


def test_a_figure_is_made_where_none_is_given(result):
    import matplotlib.pyplot as plt

    display = ForestDisplay.from_result(result)
    assert display.ax_.figure.number in plt.get_fignums()
    plt.close(display.ax_.figure)


def test_what_cannot_be_drawn_is_refused(result, people):
    X, y, _ = people
    plain = DivExplorer().fit(X, y).result_
    with pytest.raises(ValueError, match="explain=True"):
        WaterfallDisplay.from_result(plain)
    with pytest.raises(ValueError, match="no finding of rank"):
        LatticeDisplay.from_result(result, rank=99)
    cases = Themis(protected="u", random_state=0).fit(X, model=lambda X: X["u"] == "a").result_
    with pytest.raises(ValueError, match="individual cases"):
        ForestDisplay.from_result(cases)
    with pytest.raises(ValueError, match="overlap compares groups"):
        cases.overlap(X)


def test_overlap_is_the_share_of_the_union(result, people):
    X = people[0]
    table = result.overlap(X)
    assert table.shape == (len(result), len(result))
    assert (np.diag(table) == 1).all()
    masks = [f.subject.mask(X) for f in result]
    for i, a in enumerate(masks):
        for j, b in enumerate(masks):
            assert table.iloc[i, j] == pytest.approx((a & b).sum() / (a | b).sum())
    assert np.isnan(result.overlap(X.iloc[:0]).to_numpy()).all()
