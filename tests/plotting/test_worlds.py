"""The picture of two worlds shows the numbers of the result."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from skdisc.causal import StructuralCausalModel
from skdisc.individual import CounterfactualFairness, Themis
from skdisc.plotting import WorldsDisplay

mpl.use("Agg")


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 200)
    X = pd.DataFrame({"sex": sex, "pay": rng.normal(size=200) + (sex == "M")})
    scm = StructuralCausalModel([("sex", "pay")])
    detector = CounterfactualFairness(protected="sex", counterfactuals=scm, n_resamples=0)
    detector.set_params(do={"sex": "M"}, pos_label=1)
    return detector.fit(X, model=lambda X: (X["pay"] > 0.5).astype(int)).result_


def test_an_attribute_in_both_worlds(result):
    display = WorldsDisplay.from_result(result, "pay", group={"sex": "F"}, bins=10)
    women = result.tables["factual"]["sex"] == "F"
    pays = [result.tables[t].loc[women, "pay"] for t in ("factual", "counterfactual")]
    edges = np.histogram_bin_edges(np.concatenate(pays), 10)
    for bars, pay in zip(display.ax_.containers, pays, strict=True):
        assert [b.get_height() for b in bars] == np.histogram(pay, edges)[0].tolist()
    lines = [line.get_xdata()[0] for line in display.ax_.lines]
    assert lines == [p.mean() for p in pays]
    assert display.difference == pytest.approx(lines[0] - lines[1])
    assert display.ax_.get_title().startswith("sex = 'F'   mean difference -")


def test_decisions_and_names_as_shares(result):
    outcomes = [result.tables[t]["outcome"] for t in ("factual", "counterfactual")]
    display = WorldsDisplay.from_result(result)
    for bars, outcome in zip(display.ax_.containers, outcomes, strict=True):
        heights = [b.get_height() for b in bars]
        assert heights == pytest.approx([1 - outcome.mean(), outcome.mean()])
    named = WorldsDisplay.from_result(result, "sex", ax=display.ax_)
    assert named.ax_ is display.ax_
    assert np.isnan(named.difference)
    assert [t.get_text() for t in named.ax_.get_xticklabels()] == ["F", "M"]


def test_what_cannot_be_drawn_is_refused(result):
    with pytest.raises(ValueError, match="'wage' is not a column"):
        WorldsDisplay.from_result(result, "wage")
    with pytest.raises(ValueError, match="no row of the result belongs to it"):
        WorldsDisplay.from_result(result, group={"sex": "X"})
    X = pd.DataFrame({"sex": ["F", "M"] * 20})
    other = Themis(protected="sex", random_state=0).fit(X, model=lambda X: X["sex"] == "M")
    with pytest.raises(ValueError, match="Themis result has no table 'factual'"):
        WorldsDisplay.from_result(other.result_)


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
