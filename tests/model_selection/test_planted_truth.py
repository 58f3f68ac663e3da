"""PlantedTruth: what is planted, what is left of other disparities, and searches that use it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skdisc import BlackBox
from skdisc.individual import KOSEI
from skdisc.model_selection import PlantedTruth
from skdisc.subgroup import DisparityPursuit, DivExplorer


def table(n=2000, seed=0, gap=0.4, slope=0.1):
    """Return people whose decisions depend on "x", and on sex if there is a gap."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2]),
            "town": rng.choice(["north", "south"], n),
            "x": rng.normal(size=n),
        }
    )
    chance = 0.5 + slope * np.sign(X["x"]) - gap * (X["sex"] == "F")
    return X, (rng.random(n) < chance).astype(int)


DETECTOR = DivExplorer(protected=["sex", "race"], max_predicates=2)


@pytest.mark.slow
def test_decisions_about_the_planted_groups_change_at_the_rate():
    X, y = table()
    for made in PlantedTruth(rate=0.5, n_groups=1).plant(X, y, ["sex", "race"]):
        (target,) = made.targets
        members = target.subgroup.mask(made.data)
        assert (made.target[~members] == y[~members]).all()
        left = made.target[members & (y == 1)].mean()
        assert left == pytest.approx(0.5, abs=0.02)
        assert (made.target[members & (y == 0)] == 0).all()


@pytest.mark.slow
def test_groups_are_worse_and_better_off_in_turn_and_not_alike():
    X, y = table()
    made = PlantedTruth(n_groups=4).plant(X, y, ["sex", "race"])[0]
    assert [t.sign for t in made.targets] == [-1, 1, -1, 1]
    assert len({t.subgroup for t in made.targets}) == 4
    for t in made.targets:
        assert {"sex", "race"} & {p.column for p in t.subgroup.predicates}
        assert 0.05 <= t.subgroup.mask(made.data).mean() <= 0.5


@pytest.mark.slow
def test_other_disparities_are_gone_and_other_effects_stay():
    X, y = table()
    made = PlantedTruth(rate=1e-3).plant(X, y, ["sex", "race"])[0]
    rates = pd.Series(made.target).groupby(made.data["sex"]).mean()
    assert abs(rates["F"] - rates["M"]) < 0.07  # three standard errors; .4 before
    pd.testing.assert_frame_equal(made.data[["town", "x"]], X[["town", "x"]])
    effect = pd.Series(made.target).groupby(X["x"] > 0).mean()
    assert effect[True] - effect[False] > 0.12
    scores = PlantedTruth(rate=1e-3).scores(DETECTOR, X, y)
    assert scores["n_claimed"].sum() <= 1
    assert (scores["f1"] == 0).all()


@pytest.mark.slow
def test_a_plain_truth_is_found_and_shadows_cost_precision():
    """Rates are equal: else the effect of changing nine of ten decisions depends on x, too."""
    X, y = table(slope=0)
    scorer = PlantedTruth(n_groups=1, rate=0.9, max_predicates=1)
    own = scorer.scores(DisparityPursuit(protected=["sex", "race"], random_state=0), X, y)
    assert own["recall"].tolist() == own["precision"].tolist() == [1.0, 1.0, 1.0]
    every = scorer.scores(DETECTOR, X, y)
    assert every["recall"].tolist() == [1.0, 1.0, 1.0]
    assert (every["precision"] < 1).all()
    assert (every["f1"] == 2 * every["precision"] / (1 + every["precision"])).all()


@pytest.mark.slow
def test_settings_are_compared_on_the_same_drawings():
    X, y = table(500)
    drawn = [PlantedTruth(random_state=s).plant(X, y, ["sex"], pos_label=1) for s in (0, 0, 1)]
    names = [[str(t.subgroup) for made in d for t in made.targets] for d in drawn]
    assert names[0] == names[1] != names[2]
    scorer = PlantedTruth(n_drawings=2)
    assert scorer(clone(DETECTOR).fit(X, y), X, y) == scorer(DETECTOR, X, y)


@pytest.mark.slow
def test_a_search_takes_the_setting_that_finds_more():
    X, y = table(1200)
    scorer = PlantedTruth(n_groups=2, rate=0.8, n_drawings=1, metric="recall")
    search = GridSearchCV(DETECTOR, {"min_support": [0.02, 0.55]}, scoring=scorer, cv=2)
    assert search.fit(X, y).best_params_ == {"min_support": 0.02}
    assert search.cv_results_["mean_test_score"][1] < search.best_score_


@pytest.mark.slow
def test_labels_may_have_any_names():
    X, y = table(600)
    detector = clone(DETECTOR).set_params(pos_label="yes")
    scorer = PlantedTruth(n_drawings=1)
    assert scorer(detector, X, np.where(y, "yes", "no")) == scorer(DETECTOR, X, y)


@pytest.mark.slow
def test_a_model_is_not_ignored_without_a_word():
    X, y = table(300)
    fitted = clone(DETECTOR).fit(X, y, BlackBox(decisions=y))
    with pytest.raises(TypeError, match="Leave model out of fit"):
        PlantedTruth()(fitted, X, y)
    assert len(PlantedTruth(n_drawings=1).scores(clone(DETECTOR).fit(X, y), X, y)) == 1


@pytest.mark.slow
def test_what_cannot_be_scored_is_refused():
    X, y = table(300)
    with pytest.raises(TypeError, match="take cases_per_query"):
        PlantedTruth()(KOSEI(protected="sex"), X, y)
    with pytest.raises(ValueError, match="Lower n_groups or min_support"):
        PlantedTruth(n_groups=50)(DETECTOR, X, y)
    with pytest.raises(ValueError, match="'rate' parameter of PlantedTruth"):
        PlantedTruth(rate=2)
    assert "n_groups=2" in repr(PlantedTruth(n_groups=2))
