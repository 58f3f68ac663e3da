"""Pictures of situation tests and FlipTest show the numbers of the result."""

import numpy as np
import pandas as pd
import pytest

from skdisc.datasets import make_hiring, make_loan
from skdisc.individual import CounterfactualSituationTesting, FlipTest, SituationTesting
from skdisc.plotting import (
    plot_case_counts,
    plot_complainant,
    plot_flipsets,
    plot_groups,
    plot_transparency,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def results():
    loans = make_loan(400, random_state=0)
    settings = {"protected": "gender", "criterion": "gap", "n_neighbors": [10, 25]}
    settings["store_neighbors"] = True
    world = loans.counterfactual.data
    tests = (
        SituationTesting(**settings),
        CounterfactualSituationTesting(counterfactuals=world, **settings),
    )
    return [t.fit(loans.data, loans.target).result_ for t in tests]


def test_case_counts(results):
    ax = plot_case_counts(results, ["ST", "CST"])
    for drawn, result in zip(ax.lines, results, strict=True):
        assert drawn.get_ydata().tolist() == result.tables["counts"]["case"].tolist()
    assert len(plot_case_counts(results[0]).lines) == 1


def test_card_of_a_complainant(results):
    ax = plot_complainant(results[1])
    drawn = sum(len(c.get_offsets()) for c in ax.collections)
    groups = results[1].tables["neighbors"]
    assert drawn == (groups["case_id"] == 0).sum()
    assert f"{results[1][0].effect:+.2f}" in ax.get_title()


def test_card_of_a_complainant_whose_outcome_is_a_number():
    X = pd.DataFrame({"sex": ["F", "M"] * 30, "a": np.arange(60.0), "b": np.arange(60.0) ** 2})
    y = 100.0 * (X["sex"] == "M") + X["a"]
    test = SituationTesting(protected="sex", reference="M", output="value", criterion="gap")
    test.set_params(n_neighbors=5, store_neighbors=True)
    result = test.fit(X, y).result_
    ax = plot_complainant(result)
    groups = result.tables["neighbors"].query("case_id == 0")
    assert sum(len(c.get_offsets()) for c in ax.collections) == len(groups)
    for role, own in groups.groupby("role"):
        if role in ("control", "test"):
            mean = np.average(own["outcome"], weights=own["share"])
            assert f"{role} group, mean {mean:.3g}" in ax.get_legend_handles_labels()[1]


def test_boxes_of_the_groups(results):
    rows = set(results[0].findings.row) & set(results[1].findings.row)
    ax = plot_groups(results, min(rows), "annual_salary", names=["ST", "CST"])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["control", "test: ST", "test: CST"]
    with pytest.raises(ValueError, match="has no case"):
        plot_groups(results, -1, "annual_salary")


def test_boxes_of_the_groups_of_several_people(results):
    rows = sorted(set(results[0].findings.row) & set(results[1].findings.row))[:5]
    assert len(rows) == 5
    ax = plot_groups(results, rows, "annual_salary", names=["ST", "CST"])
    labels = [t.get_text() for t in ax.get_xticklabels()]
    assert labels == ["control", "test: ST", "test: CST"] * 5
    assert [t.get_text() for t in ax.child_axes[0].get_xticklabels()] == [f"row {r}" for r in rows]
    medians = [line.get_ydata()[0] for line in ax.lines if line.get_linewidth() == 2.5]
    for i, row in enumerate(rows):
        alone = plot_groups(results, row, "annual_salary", names=["ST", "CST"])
        own = [line.get_ydata()[0] for line in alone.lines if line.get_linewidth() == 2.5]
        assert medians[3 * i : 3 * i + 3] == own
        heights = [one.collections[j].get_segments()[0][0, 1] for one, j in ((ax, i), (alone, 0))]
        assert heights[0] == heights[1]
    with pytest.raises(ValueError, match="row is empty: give at least one row of a complainant"):
        plot_groups(results, [], "annual_salary")


@pytest.fixture(scope="module")
def flips():
    hiring = make_hiring(300, random_state=0)
    detector = FlipTest(protected="gender", group="female", solver="assignment", random_state=0)
    return detector.fit(hiring.data, hiring.decision).result_, hiring.data


def test_flipsets_and_their_report(flips):
    result, X = flips
    ax = plot_flipsets(result, X, "hair_length")
    assert len(ax.get_legend().get_texts()) == 3
    ax = plot_flipsets(result, X, "gender")
    assert [b.get_height() for b in ax.patches] == [1.0] * 3
    ax = plot_flipsets(result, X.assign(tall=X["hair_length"] > 20), "tall")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["False", "True"]
    ax = plot_transparency(result)
    report = result.tables["transparency"]
    drawn = sorted(b.get_width() for b in ax.patches)
    assert drawn == pytest.approx(sorted(report["mean"]))
    assert not np.isnan(drawn).any()


def test_flipsets_of_an_array_are_drawn_by_position(flips):
    result, X = flips
    ax = plot_flipsets(result, X.to_numpy(), X.columns.get_loc("gender"))
    assert [b.get_height() for b in ax.patches] == [1.0] * 3
    with pytest.raises(ValueError, match="column=9 is not a column of X"):
        plot_flipsets(result, X.to_numpy(), 9)


def test_wording(results, flips):
    with pytest.raises(ValueError, match="has no flipsets"):
        plot_transparency(results[0])
    with pytest.raises(ValueError, match="attribute must be one of"):
        plot_transparency(flips[0], attribute="x")
    with pytest.raises(ValueError, match="store_neighbors=True"):
        plot_complainant(flips[0])
    with pytest.raises(ValueError, match="no table 'counts'"):
        plot_case_counts(flips[0])


def test_transparency_of_one_of_several_groups():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": np.resize(["F", "M", "X"], 90), "x": rng.normal(0, 1, 90)})
    y = ((X["x"] > 0) & (X["sex"] == "M")).astype(int)
    test = FlipTest(protected="sex", reference="M", n_permutations=0, solver="assignment")
    result = test.fit(X, y).result_
    groups = result.tables["transparency"]["group"].unique().tolist()
    assert len(groups) == 2
    assert plot_transparency(result).get_title() == groups[0]
    assert plot_transparency(result, group=groups[1]).get_title() == groups[1]
    with pytest.raises(ValueError, match="group must be one of"):
        plot_transparency(result, group="sex = 'M'")
