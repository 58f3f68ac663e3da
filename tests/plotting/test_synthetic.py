"""The pictures of made data show what the truth says."""

import sys

import pytest

from skdisc.datasets import make_discrimination
from skdisc.plotting import plot_hierarchy, plot_phases

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def _no_window():
    matplotlib.use("Agg")
    yield
    sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module")
def made():
    return make_discrimination(
        4, n_numeric=3, group_size=30, n_background=60, granularity=(1, 2), random_state=2
    )


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_the_hierarchy_shows_groups_subgroups_and_individuals(made):
    ax = plot_hierarchy(made.truth, max_pairs=3, max_people=20)
    shown, groups = texts(ax), made.truth.groups.head(3)
    assert f"Data\n{len(made.data)} individuals, 4 groups" in shown
    assert sum(text.startswith("Group ") for text in shown) == 3
    assert sum("no bias" in text for text in shown) == groups["is_null"].sum()
    for pair in groups.itertuples():
        assert f"{pair.n_a} individuals" in shown
        for predicate in pair.subgroup_a.predicates:
            assert any(f"\n{predicate.column}: " in text for text in shown)
    assert "60 individuals" in shown
    dots = [len(c.get_offsets()) for c in ax.collections]
    assert dots == [min(n, 20) for n in [*groups[["n_a", "n_b"]].to_numpy().ravel(), 60]]


def test_the_phases_show_the_schema_the_pairs_the_sizes_and_the_outcomes(made):
    figure = plot_phases(made, max_pairs=4)
    schema, pairs, sizes, outcomes = figure.axes[:4]
    assert [t.get_text() for t in schema.get_yticklabels()] == made.schema.names
    defined = made.truth.groups[["granularity", "intersectionality"]].to_numpy().sum()
    assert len(pairs.texts) == 2 * defined
    differ = [t for t in pairs.texts if t.get_color() == "white"]
    similar = made.truth.groups["similarity"] * made.truth.groups[
        ["granularity", "intersectionality"]
    ].sum(axis=1)
    assert len(differ) == pytest.approx(2 * (defined - similar.sum()))
    widths = [bar.get_width() for bar in sizes.patches]
    assert widths == made.truth.groups[["n_a", "n_b"]].to_numpy().ravel().tolist()
    assert len(outcomes.lines) == 2 * 8  # with and without bias
    moved = [a.xy[0] != a.xyann[0] for a in outcomes.texts]
    assert sum(moved) == (~made.truth.groups["is_null"]).sum()


def test_axes_of_the_caller_are_used_and_empty_data_are_drawn(made):
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.subplots()
    assert plot_hierarchy(made.truth, ax=ax) is ax
    figure = Figure()
    assert plot_phases(made, figure=figure) is figure
    nobody = make_discrimination(2, coverage=0.0, imbalance=-1.0, n_background=5, random_state=0)
    assert len(plot_hierarchy(nobody.truth).collections) == 5
    none = make_discrimination(0, n_background=5, random_state=0)
    assert len(plot_hierarchy(none.truth).collections) == 1
    assert len(plot_phases(none).axes[1].texts) == 0


def test_without_matplotlib_the_extra_is_named(made, monkeypatch):
    import matplotlib.pyplot  # noqa: F401

    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib.pyplot", None)
        for draw in (plot_hierarchy, plot_phases):
            with pytest.raises(ImportError, match=r"skdisc\[plot\]"):
                draw(made.truth if draw is plot_hierarchy else made)
