"""Whether there is a model as good and less unequal, and how often that is said wrongly."""

import json
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdisc.auditing import Audit, AuditReport
from skdisc.exceptions import SurrogateWarning
from skdisc.model_selection import AlternativeReport, AlternativeSearch
from skdisc.model_selection._alternatives import _candidates, _split
from skdisc.model_selection._alternatives._choice import Choice, people_needed
from skdisc.model_selection._alternatives._gains import all_pairs, contrasts_of, gains
from skdisc.model_selection._alternatives._question import Groups, Predictions, Question
from skdisc.model_selection._alternatives._split import least_people, places

N = 1600


@pytest.fixture(autouse=True)
def unopened(monkeypatch):
    """Forget which claim parts the other tests have opened."""
    monkeypatch.setattr(_split, "_SEARCHES", {})


@pytest.fixture(scope="module")
def people():
    """Return people whose rating is lower for one sex, whose test is not, and who is able."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], N), "race": rng.choice(["a", "b"], N)})
    ability = rng.normal(size=N)
    X["test"] = ability + rng.normal(size=N) / 2
    X["rating"] = ability - 1.5 * (X["sex"] == "f") + rng.normal(size=N) / 2
    return X, (ability + rng.normal(size=N) / 2 > 0).astype(int)


def on(*names):
    return make_pipeline(
        make_column_transformer(("passthrough", list(names))), LogisticRegression()
    )


def search(candidates=None, **settings):
    candidates = (
        {"test": on("test"), "both": on("test", "rating")} if candidates is None else candidates
    )
    return AlternativeSearch(
        on("rating"), candidates, **{"protected": "sex", "margin": 0.03} | settings
    )


@pytest.fixture(scope="module")
def found(people):
    return search(watched="race").fit(*people)


def test_an_alternative_is_shown_and_is_the_model_that_was_tested(people, found):
    X, _ = people
    assert found.claim_
    assert found.report_.verdict == "a less discriminatory alternative is shown"
    results = pd.DataFrame(found.cv_results_).set_index("name")
    assert results.loc[found.best_name_, "shown"]
    assert (found.predict(X) == found.best_estimator_.predict(X)).all()
    gap = {s: found.predict(X[X["sex"] == s]).mean() for s in "fm"}
    before = {s: found.present_estimator_.predict(X[X["sex"] == s]).mean() for s in "fm"}
    assert abs(gap["m"] - gap["f"]) < abs(before["m"] - before["f"])
    assert 0.9 < found.foreseen_ <= 1


def test_nothing_of_the_claim_part_reaches_the_models(people, found):
    """Labels of the claim part changed after the split leave models, choice and order alone."""
    X, y = people
    place = places(X, y)
    design = np.argsort(place)[np.sort(place) >= 0.5]
    model = clone(on(*found.best_estimator_[0].transformers_[0][2])).fit(X.iloc[design], y[design])
    assert np.allclose(model[-1].coef_, found.best_estimator_[-1].coef_)


def test_the_order_of_rows_and_the_seed_change_nothing(people, found):
    X, y = people
    order = np.random.default_rng(1).permutation(N)
    other = search(watched="race").fit(X.iloc[order], y[order])
    assert (
        other.report_.document["log"]["claim_part"] == found.report_.document["log"]["claim_part"]
    )
    for name in ("score", "gap", "score_z", "gain_z", "gain_low"):
        np.testing.assert_allclose(other.cv_results_[name], found.cv_results_[name])


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30), st.integers(0, 3))
def test_places_depend_on_values_alone_and_equal_rows_have_different_ones(values, salt):
    X, y = pd.DataFrame({"x": values}), np.zeros(len(values))
    place = places(X, y, salt=salt)
    assert len(set(place)) == len(values)
    assert ((place >= 0) & (place < 1)).all()
    back = places(X.iloc[::-1].reset_index(drop=True), y, salt=salt)
    assert sorted(back) == sorted(place)
    assert sorted(back[np.array(values)[::-1] == 1]) == sorted(place[np.array(values) == 1])


def test_clusters_stay_together(people):
    X, y = people
    groups = np.arange(N) // 4
    place = places(X, y, groups)
    assert (place.reshape(-1, 4) == place.reshape(-1, 4)[:, :1]).all()
    assert "Clusters" in " ".join(search().fit(X, y, groups=groups).report_.document["notes"])


def test_gains_are_linear_contrasts_with_a_person_favored_by_one_model_alone_in_each_group():
    rng = np.random.default_rng(2)
    a, b, group = rng.random(300) < 0.5, rng.random(300) < 0.4, rng.integers(0, 3, 300)
    pairs = all_pairs(3)
    gain, error = gains(a, b, group, *[contrasts_of(pairs, 3)] * 2)
    more = np.r_[group, 0, 1, 2, 0, 1, 2]
    a, b = np.r_[a, [True] * 3, [False] * 3], np.r_[b, [False] * 3, [True] * 3]
    for i, (high, low) in enumerate(pairs):
        for j, (up, down) in enumerate(pairs):
            each = np.zeros(len(a))
            for sign, g, d in ((1, high, a), (-1, low, a), (-1, up, b), (1, down, b)):
                mine = more == g
                each[mine] += sign * (d[mine] - d[mine].mean()) / mine.sum()
            rate = lambda d, g: d[more == g].mean()  # noqa: E731
            expected = rate(a, high) - rate(a, low) - rate(b, up) + rate(b, down)
            assert gain[i, j] == pytest.approx(expected)
            assert error[i, j] == pytest.approx(np.sqrt((each**2).sum()))


def question_of(n, k, n_parts, rng):
    """Return a question about n people of k groups in some parts, and two models."""
    groups = {"group": Groups(rng.integers(0, k, n), list("abcdef"[:k]), [])}
    how = {"scoring": "accuracy", "metric": "selection_rate", "scale": "difference"}
    part = rng.integers(0, n_parts, n)
    question = Question(
        rng.integers(0, 2, n), [1], groups, **how, margin=0.1, min_gain=0.0, part=part, by_part=True
    )
    return question, *(Predictions((rng.random(n) < p).astype(int)) for p in (0.5, 0.4))


@pytest.mark.parametrize("k", [2, 3])
def test_a_recipe_is_held_to_every_assignment_of_pairs_to_parts(k):
    """By brute force: of all assignments, the least z, and the bounds."""
    rng = np.random.default_rng(3)
    question, present, other = question_of(400, k, 3, rng)
    pairs = rng.permuted(np.tile(np.arange(k), (3, 1)), axis=1)[:, :2]
    code, part = question.groups["group"].code, question.part
    shares = np.bincount(part) / 400
    rates, n = {}, {}
    for g, f in product(range(k), range(3)):
        mine = (code == g) & (part == f)
        n[g, f] = mine.sum() + 2 / 3
        a, b = present.label[mine], other.label[mine]
        rates[g, f] = [(m.sum() + 1 / 3) / n[g, f] for m in (a, b, a & b)]
        rates[g, f][2] = (a & b).sum() / n[g, f]
    several = list(permutations(range(k), 2))

    def gain_and_error(before, after):
        gain, variance = 0.0, 0.0
        for f, share in enumerate(shares):
            for g in range(k):
                a, b, both = rates[g, f]
                u, v = (float(p[0] == g) - float(p[1] == g) for p in (before[f], after[f]))
                gain += share * (u * a - v * b)
                of_both = 2 * u * v * (both - a * b)
                spread = u**2 * a * (1 - a) + v**2 * b * (1 - b) - of_both
                variance += share**2 * spread / n[g, f]
        return gain, np.sqrt(variance)

    held = np.array([gain_and_error(pairs, chosen) for chosen in product(several, repeat=3)]).T
    free = np.array([gain_and_error(chosen, pairs) for chosen in product(several, repeat=3)]).T
    assert question.n_assignments("group") == len(several) ** 3
    both = {"group": pairs}
    assert question.gain_z(present, other, both) == pytest.approx((held[0] / held[1]).min())
    low, high = question.gain_bounds(present, other, both, both, 1.96)
    assert low == pytest.approx((held[0] - 1.96 * held[1]).min())
    assert high == pytest.approx((free[0] + 1.96 * free[1]).max())


def test_gaps_of_opposite_signs_in_two_parts_do_not_cancel():
    rng = np.random.default_rng(6)
    question, *_ = question_of(4000, 2, 2, rng)
    group, part = question.groups["group"].code, question.part
    present = Predictions((group == 0).astype(int))
    other = Predictions((group == part).astype(int))
    assert question.gap(present, "group")[1] == question.gap(other, "group")[1] == 1
    pairs = question.gap(other, "group")[0]
    assert pairs.tolist() == [[0, 1], [1, 0]]
    fixed = {"group": np.array([[0, 1], [0, 1]])}
    assert abs(question.gain_z(present, other, fixed)) < 0.1
    pooled = replace(question, by_part=False)
    assert pooled.gap(other, "group")[1] < 0.1
    low, high = question.gain_bounds(present, other, fixed, {"group": pairs}, 1.96)
    assert low < 0 < high < 0.1


def test_one_part_is_as_all_people():
    rng = np.random.default_rng(7)
    question, present, other = question_of(300, 3, 1, rng)
    pooled = replace(question, by_part=False)
    for pair in permutations(range(3), 2):
        z = question.gain_z(present, other, {"group": [pair]})
        assert z == pytest.approx(pooled.gain_z(present, other, {"group": pair}))


def test_the_ladder_begins_with_the_safest_and_only_goes_down():
    choice = Choice(
        pairs=[{}] * 5,
        score=np.zeros(5),
        gap=np.array([0.3, 0.2, 0.25, 0.1, np.nan]),
        score_z=np.array([3.0, 2.0, 1.0, np.nan]),
        gain_z=np.array([2.0, 4.0, 1.0, np.nan]),
        ladder=[0, 2],
        n=100,
    )
    assert choice.z.tolist()[:3] == [2.0, 2.0, 1.0]
    assert choice.foreseen(100, 0.05)[0] == pytest.approx(0.2593, abs=1e-3)  # Phi(1 - 1.645)
    assert people_needed(3.0, 100, 0.05) == np.ceil(100 * (0.8416 + 1.6449) ** 2 / 9)
    assert np.isnan(people_needed(0.0, 100, 0.05))


class Decides(ClassifierMixin, BaseEstimator):
    """A model whose decisions are a column."""

    def __init__(self, column="y", fails=False, score=None):
        self.column, self.fails, self.score = column, fails, score

    def fit(self, X, y):
        if self.fails:
            raise RuntimeError("no memory")
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return X[self.column].to_numpy()

    def predict_proba(self, X):
        p = X[self.column].to_numpy() * (self.score or 1.0)
        return np.column_stack([1 - p, p])


@pytest.fixture
def decided():
    """Return decisions of several models; group f is favored less by "old", alike by "new"."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 4000), "id": np.arange(4000)})
    y = rng.integers(0, 2, 4000)
    keep = rng.random(4000)
    X["old"] = np.where((X["sex"] == "f") & (keep < 0.4), 0, y)
    X["new"] = np.where(keep > 0.9, 1 - y, y)
    X["none"] = 0
    X["same"] = X["old"]
    return X, y


def of(candidates, **settings):
    how = {"protected": "sex", "margin": 0.05} | settings
    return AlternativeSearch(Decides("old"), candidates, **how)


def test_levelling_down_and_costs_are_counted(decided):
    X, y = decided
    X["down"] = np.where((X["sex"] == "m") & (X["id"] % 5 < 2), 0, X["old"])
    fitted = of({"down": Decides("down")}, margin=0.15).fit(X, y)
    assert fitted.claim_
    assert fitted.report_.document["warnings"][0].startswith("Leveling down")
    people = fitted.costs_.decisions.set_index("group")
    assert people["gain"].tolist() == [0, 0]
    assert people.loc["m", "lose"] > 40
    assert people.loc["f", "lose"] == 0
    place = places(X, y)
    claim = X[place < 0.5]
    lost = ((claim["down"] == 0) & (claim["old"] == 1)).sum()
    assert people.loc["m", "lose"] == lost
    errors = fitted.costs_.errors.set_index("group")
    men = (claim["sex"] == "m") & (y[place < 0.5] == 1)
    assert errors.loc["m", "false_negative_rate_after"] == pytest.approx(
        1 - claim.loc[men, "down"].mean()
    )
    assert fitted.costs_.cases == {"before": 0, "after": 0}


def test_a_gain_in_one_column_that_another_one_pays_is_said_first(decided):
    X, y = decided
    X["race"] = np.where(X["id"] % 2, "a", "b")
    lose = (X["race"] == "a") & (X["id"] % 5 < 2)
    X["pays"] = np.where(lose, 0, y)
    fitted = of({"pays": Decides("pays")}, watched="race", margin=0.1).fit(X, y)
    assert fitted.claim_
    assert "The gap by race grows" in " ".join(fitted.report_.document["warnings"])
    gaps = fitted.costs_.gaps.set_index("column")
    assert list(gaps.index) == ["sex", "race", "sex & race"]
    assert gaps.loc["race", "change"] > 0.05
    assert gaps.loc["race", "p_larger"] < 0.05


def test_none_shown_names_what_failed_and_keeps_the_present_model(decided):
    X, y = decided
    equal = of({"same": Decides("same")}).fit(X, y)
    assert not equal.claim_
    assert equal.best_name_ == "the present model"
    assert "smaller largest gap" in equal.report_.document["sentence"]
    assert "not worse" not in equal.report_.document["sentence"]
    _split._SEARCHES.clear()
    worse = of({"none": Decides("none")}).fit(X, y)
    assert "not worse in accuracy" in worse.report_.document["sentence"]
    assert "smaller largest" not in worse.report_.document["sentence"]
    assert worse.cv_results_["gain_high"][1] > 0
    _split._SEARCHES.clear()
    few = of({"none": Decides("none")}, margin=0.01).fit(X, y)
    assert few.report_.document["sentence"].startswith("Too few people for this margin")


def test_failed_candidates_are_kept_with_their_errors(decided):
    X, y = decided
    broken = {"broken": Decides("new", fails=True), "other scale": Decides("new", score=3.0)}
    fitted = of({**broken, "new": Decides("new")}, scoring="neg_brier_score", margin=0.15).fit(X, y)
    errors = dict(zip(fitted.cv_results_["name"], fitted.cv_results_["error"], strict=True))
    assert errors["broken"] == "RuntimeError: no memory"
    assert "from 0 to 3" in errors["other scale"]
    assert errors["new"] == ""
    assert np.isnan(fitted.cv_results_["score_z"][1])
    text = " ".join(fitted.report_.to_text().split())
    assert "2 candidates failed: broken (RuntimeError: no memory), other scale (" in text
    alone = of({"broken": Decides("new", fails=True)}).fit(X, y)
    assert not alone.claim_
    assert "No candidate could be fitted" in alone.report_.document["sentence"]
    with pytest.raises(RuntimeError, match="no memory"):
        AlternativeSearch(
            Decides("old", fails=True), {"new": Decides("new")}, protected="sex", margin=0.05
        ).fit(X, y)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_brier_score", "neg_log_loss"])
def test_identical_models_are_no_alternative_by_any_score(people, scoring):
    fitted = search({"itself": on("rating")}, scoring=scoring).fit(*people)
    assert not fitted.claim_
    assert fitted.cv_results_["score_z"][1] > 0


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", "neg_log_loss"])
def test_other_scores(people, scoring):
    assert search(scoring=scoring, margin=0.05).fit(*people).claim_


@pytest.mark.parametrize(
    ("settings", "is_shown"),
    [
        ({"scale": "ratio"}, True),
        ({"metric": "false_negative_rate"}, True),
        ({"min_gain": 0.1}, True),
        ({"min_gain": 0.6}, False),
    ],
)
def test_ratios_rates_of_errors_and_limits(people, settings, is_shown):
    assert search(**settings).fit(*people).claim_ == is_shown


@pytest.mark.parametrize(("factor", "is_shown"), [(0.9, False), (1.1, True)])
def test_the_level_is_the_largest_p_value_that_is_shown(people, factor, is_shown):
    X, y = (part[:500] for part in people)
    with_one = search({"test": on("test")}, margin=0.1)
    p = clone(with_one).fit(X, y).report_.document["tests"][0]["p_value"]
    _split._SEARCHES.clear()
    fitted = clone(with_one).set_params(significance=factor * p)
    assert fitted.fit(X, y).report_.document["tests"][0]["shown"] == is_shown


def test_at_most_so_many_steps_are_tested(people):
    candidates = {"both": on("test", "rating"), "test": on("test")}
    steps = [
        len(search(candidates, n_claims=n).fit(*people).report_.to_frame("tests"))
        for n in (None, 1)
    ]
    assert steps == [2, 1]


def test_many_groups_take_more_than_one(people):
    """A gap among five groups closes only if the gap between each two of them does."""
    X, y = people
    rng = np.random.default_rng(5)
    X = X.assign(sex=np.where(X["sex"] == "f", "f", rng.choice(list("mnop"), N)))
    assert (
        search().fit(X, y).cv_results_["gain_z"][1] < search().fit(*people).cv_results_["gain_z"][1]
    )


def test_small_groups_are_left_out_and_named(people):
    X, y = people
    X = X.assign(sex=np.where(np.arange(N) < 10, "rare", X["sex"]))
    assert "rare" in " ".join(search().fit(X, y).report_.document["warnings"])
    with pytest.raises(ValueError, match="it takes two"):
        search(min_support=0.6).fit(X, y)


def test_too_few_people_are_refused_before_anything_is_fitted(people):
    X, y = people
    with pytest.raises(ValueError, match="takes at least 268 people"):
        search({"broken": Decides(fails=True)}, margin=0.01).fit(X[:400], y[:400])
    assert least_people(0.01, 1.6449) == 268


def test_a_second_search_on_the_same_people_is_exploratory(people):
    X, y = people
    X = X.assign(more=np.arange(N))
    first = search().fit(X, y)
    assert first.claim_
    again = search().fit(X, y)
    assert again.claim_
    second = search(margin=0.04).fit(X, y)
    assert second.exploratory_
    assert not second.claim_
    assert second.report_.verdict == "exploratory"
    assert second.report_.document["warnings"][0].startswith("Exploratory")
    assert second.best_name_ == "the present model"
    assert (second.predict(X) == second.present_estimator_.predict(X)).all()


def test_a_log_counts_the_searches_of_all_processes(people, tmp_path, monkeypatch):
    X, y = people
    log = tmp_path / "log.json"
    assert search(log=log).fit(X, y).claim_
    monkeypatch.setattr(_split, "_SEARCHES", {})
    order = np.random.default_rng(0).permutation(N)
    second = search(log=log, claim_size=0.4).fit(X.iloc[order], y[order])
    assert second.exploratory_
    assert second.report_.document["log"]["searches_on_these_people"] == 2
    assert search(log=log).fit(X, y).claim_
    log.write_text("[]")
    with pytest.raises(ValueError, match="no log of searches"):
        search(log=log).fit(X, y)
    log.write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        search(log=log).fit(X, y)


@pytest.mark.slow
def test_a_recipe_is_tested_in_five_parts_and_kept_only_if_refitted(people):
    X, y = people
    X, y = X[:800], y[:800]
    fitted = search(claim="recipe", margin=0.05).fit(X, y)
    assert fitted.claim_
    assert "on average of five" in fitted.report_.document["sentence"]
    assert fitted.cv_results_["times_chosen"].sum() == 5
    with pytest.raises(AttributeError, match="refit=True"):
        fitted.predict(X)
    several = search(claim="recipe", margin=0.05, n_partitions=2, refit=True).fit(
        X.assign(more=0), y
    )
    p = several.report_.document["tests"][0]["p_value"]
    assert 0 <= p <= 1
    assert several.predict(X.assign(more=0)).mean() > 0.2


def test_a_frozen_model_is_compared_as_it_is(people):
    X, y = people
    model = on("rating").fit(X[:200].drop(columns="sex"), y[:200])
    frozen = AlternativeSearch(
        FrozenEstimator(model), {"test": on("test")}, protected="sex", margin=0.04
    ).fit(X[200:], y[200:])
    assert frozen.present_estimator_.estimator is model
    assert "has not seen these people" in frozen.report_.document["sentence"]
    with pytest.warns(SurrogateWarning, match="already fitted"):
        AlternativeSearch(model, {"test": on("test")}, protected="sex", margin=0.05).fit(X, y)


class Spoils(LogisticRegression):
    """A model that writes into the table that it gets."""

    def fit(self, X, y):
        X["test"], X["sex"] = 0.0, "f"
        y[:] = 1 - y
        return super().fit(X[["rating"]], y)

    def predict(self, X):
        X["sex"] = 1.0
        return super().predict(X[["rating"]])


class SpoilsWhatItIsAskedAbout(ClassifierMixin, BaseEstimator):
    """A model of the rating that writes into the table about which it is asked."""

    def __init__(self, spoils=True):
        self.spoils = spoils

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X[["rating"]], y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        decided = self.model_.predict(X[["rating"]])
        if self.spoils:
            X["sex"], X["test"], X["rating"] = "f", 0.0, 0.0
            del X["race"]
        return decided

    def predict_proba(self, X):
        return self.model_.predict_proba(X[["rating"]])


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_a_present_model_that_writes_where_it_predicts_is_judged_by_the_table_as_it_is(
    people, scoring
):
    columns = ["score", "gap", "claim_score", "claim_gap", "gain_low", "reads_protected"]
    several = []
    for spoils in (True, False):
        present = SpoilsWhatItIsAskedAbout(spoils)
        _split._SEARCHES.clear()
        candidates = {"test": on("test"), "spoils": clone(present), "both": on("test", "rating")}
        fitted = AlternativeSearch(present, candidates, protected="sex", scoring=scoring)
        several.append(pd.DataFrame(fitted.fit(*people).cv_results_)[columns])
    assert several[0]["claim_score"].notna().all()
    pd.testing.assert_frame_equal(*several)


@pytest.mark.parametrize("most_cells", [0, 10**6])
def test_a_model_that_writes_into_its_table_changes_nothing_for_the_others(
    people, most_cells, monkeypatch
):
    monkeypatch.setattr(_candidates, "_MANY_CELLS", most_cells)
    before = [part.copy() for part in people]
    with_it = search({"spoils": Spoils(), "test": on("test")}).fit(*people)
    monkeypatch.setattr(_split, "_SEARCHES", {})
    alone = search({"test": on("test")}).fit(*people)
    ours, theirs = (
        pd.DataFrame(s.cv_results_).set_index("name").loc[["the present model", "test"]]
        for s in (with_it, alone)
    )
    columns = ["score", "gap", "gain_z", "claim_score", "claim_gap"]
    pd.testing.assert_frame_equal(ours[columns], theirs[columns])
    for part, was in zip(people, before, strict=True):
        assert (part == was).all(axis=None)


@pytest.mark.skipif(
    int(pd.__version__.split(".")[0]) < 3, reason="tables are shared where pandas copies on write"
)
def test_parts_are_taken_once_for_all_candidates(people, monkeypatch):
    taken, take = [], _candidates.ModelRows.take
    monkeypatch.setattr(
        _candidates.ModelRows,
        "take",
        lambda rows, part: taken.append(len(part)) or take(rows, part),
    )
    search({name: on("test") for name in "abcdefgh"}).fit(*people)
    assert len(taken) <= 5 * 2 + 1 + 4  # folds, the design part, and the people of the claim


def test_candidates_that_need_the_protected_column_are_marked(people):
    X, y = people
    encoder = make_column_transformer((OneHotEncoder(), ["sex"]), ("passthrough", ["rating"]))
    both = {"by sex": make_pipeline(encoder, LogisticRegression()), "test": on("test")}
    fitted = search(both).fit(X, y)
    marked = dict(
        zip(fitted.cv_results_["name"], fitted.cv_results_["reads_protected"], strict=True)
    )
    assert marked == {"the present model": False, "by sex": True, "test": False}


def test_forms_of_candidates(people):
    X, y = people
    names = search({"logisticregression__C": [0.1, 1.0]}).fit(X, y).cv_results_["name"].tolist()
    assert names[1:] == ["logisticregression__C=0.1", "logisticregression__C=1.0"]
    several = [("first", on("test")), on("both" and "test"), {"logisticregression__C": [2.0]}]
    assert search(several).fit(X, y).cv_results_["name"].tolist()[1:] == [
        *("first", "Pipeline 1", "logisticregression__C=2.0"),
    ]
    from scipy.stats import uniform

    drawn = search({"logisticregression__C": uniform(0, 2)}, n_iter=3).fit(X, y)
    assert len(drawn.cv_results_["name"]) == 4
    for wrong in ("abc", [3], 7):
        with pytest.raises(TypeError, match="candidates must be"):
            search(wrong).fit(X, y)
    for wrong, words in (([], "empty"), ([("a", on("test"))] * 2, "different names")):
        with pytest.raises(ValueError, match=words):
            search(wrong).fit(X, y)


def test_seeds_are_fitted_once_and_chosen_on_others(people):
    X, y = people
    tree = DecisionTreeClassifier(max_features=1, max_depth=5, random_state=0)
    numbers = X[["test", "rating"]]
    seeds = AlternativeSearch(tree, {"random_state": [1, 2, 3]}, margin=0.1)
    seeds.fit(numbers, y, sensitive_features=X["sex"])
    assert "Of further seeds" in " ".join(seeds.report_.document["notes"])
    other = AlternativeSearch(tree, {"max_depth": [3]}, margin=0.1)
    other.fit(numbers, y, sensitive_features=X["sex"])
    assert "Of further seeds" not in " ".join(other.report_.document["notes"])
    design = other.report_.document["log"]["n_design"]
    assert seeds.present_estimator_.tree_.n_node_samples[0] == round(0.6 * design)
    assert other.present_estimator_.tree_.n_node_samples[0] == design


def test_how_candidates_are_chosen_can_be_set(people):
    X, y = people
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    how = {"choice": "held-out", "margin": 0.1, "n_jobs": 2}
    fitted = AlternativeSearch(tree, {"max_depth": [2]}, **how)
    fitted.fit(X[["test", "rating"]], y, sensitive_features=X["sex"])
    design = fitted.report_.document["log"]["n_design"]
    assert fitted.present_estimator_.tree_.n_node_samples[0] == round(0.6 * design)


def test_a_protected_number_is_cut_into_bins(people):
    X, y = people
    X = X.assign(sex=np.where(X["sex"] == "f", 20.0, 40.0) + np.arange(N) % 10)
    groups = search(n_bins=2).fit(X, y).costs_.decisions["group"].tolist()
    assert len(groups) == 2
    assert groups[0].startswith("<=")
    assert len(search(n_bins=3).fit(X, y).costs_.decisions) == 3


def test_missing_protected_values_are_in_no_group(people):
    X, y = people
    X = X.assign(sex=np.where(np.arange(N) < 100, None, X["sex"]))
    fitted = search().fit(X, y)
    n = fitted.report_.document["log"]["n_claim"]
    assert fitted.costs_.decisions["n"].sum() < n - 20
    assert fitted.claim_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scoring": "r2"}, "scoring must be one of"),
        ({"protected": None}, "pass sensitive_features"),
        ({"protected": "age"}, "not a column"),
        ({"watched": "age"}, "not a column"),
        ({"margin": 0.0}, "margin"),
        ({"metric": "positive_predictive_value"}, "metric"),
    ],
)
def test_bad_settings(people, settings, message):
    with pytest.raises(ValueError, match=message):
        search(**settings).fit(*people)


def test_bad_input(people):
    X, y = people
    with pytest.raises(ValueError, match="undefined in the group 'f'"):
        search(metric="true_positive_rate").fit(X, np.where(X["sex"] == "f", 0, y))
    with pytest.raises(ValueError, match="favorable ones in pos_label"):
        search().fit(X, np.arange(N) % 3)
    assert search(pos_label=[1, 2]).fit(X, y + (X["test"] > 1)).n_features_in_ == 4
    with pytest.raises(ValueError, match="sensitive_features has 5 rows"):
        search(protected=None).fit(X, y, sensitive_features=X["sex"][:5].to_numpy())
    ridge = search({"ridge": make_pipeline(on("test")[0], RidgeClassifier())}, scoring="roc_auc")
    assert ridge.fit(X, y).cv_results_["error"].tolist() == ["", ""]


def test_metadata_is_routed_to_models_that_request_it(people):
    X, y = people
    weight = np.random.default_rng(6).random(N)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    X = X.drop(columns=["sex", "race"]).assign(sex=(X["sex"] == "f") * 1)
    with config_context(enable_metadata_routing=True):
        present = clone(tree).set_fit_request(sample_weight=True)
        other = clone(tree).set_fit_request(sample_weight=False)
        fitted = AlternativeSearch(present, {"unweighted": other}, protected="sex", margin=0.1)
        fitted.fit(X, y, sample_weight=weight)
        assert "do not weight" in " ".join(fitted.report_.document["notes"])
        fitted.set_score_request(sample_weight=False)
        scores = cross_validate(fitted, X, y, params={"sample_weight": weight}, cv=2)
        assert (scores["test_score"] > 0.5).all()
    weighted = fitted.present_estimator_.tree_.weighted_n_node_samples[0]
    assert weighted < fitted.report_.document["log"]["n_design"] * 0.6


def test_it_is_nested_and_cloned(people):
    X, y = people
    nested = cross_validate(search(), X, y, cv=2, return_estimator=True)
    assert (nested["test_score"] > 0.6).all()
    assert clone(search()).get_params()["margin"] == 0.03


def test_the_report_is_a_page_a_text_and_a_document(people, found, tmp_path):
    report = found.report_
    text = report.to_text()
    assert "whom neither model had seen" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    page = report.to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert "<svg" in page
    again = AlternativeReport(json.loads(report.to_json()))
    assert again.to_html() == page
    assert set(report.to_frame("gaps")["column"]) == {"sex", "race", "sex & race"}
    for name in ("page.html", "page.md", "page.txt", "page.json"):
        report.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 500
    with pytest.raises(ValueError, match="extension"):
        report.save(tmp_path / "page.pdf")
    with pytest.raises(ValueError, match="kind must be"):
        report.to_frame("people")
    with pytest.raises(ValueError, match="schema"):
        AlternativeReport({})


def test_it_is_part_of_the_document_of_an_audit(people, found):
    X, y = people
    audit = Audit(protected="sex", detectors=["GroupDisparity"]).fit(X, y).report_
    both = found.report_.add_to(audit)
    assert "alternatives" not in audit.document
    again = AuditReport.from_json(both.to_json())
    assert AlternativeReport(again.document["alternatives"]).to_text() == found.report_.to_text()
    public = AuditReport({"about": {"disclosure": "public"}})
    with pytest.raises(ValueError, match="internal report"):
        found.report_.add_to(public)


def test_names_from_the_data_are_escaped(people):
    X, y = people
    X = X.rename(columns={"sex": "<b>sex"}).assign(
        **{"<b>sex": np.where(X["sex"] == "f", "<i>f", "m")}
    )
    fitted = search({"<script>x": on("test")}, protected="<b>sex").fit(X, y)
    page = fitted.report_.to_html()
    assert "<script>x" not in page
    assert "<b>sex" not in page
    assert "<i>f" not in page
    assert "&lt;script&gt;x" in page


class OfTwo(AlternativeSearch):
    """Finds two labels, two groups and enough people where scikit-learn's checks have few."""

    def fit(self, X, y, **more):
        labels = [] if y is None else pd.unique(pd.Series(np.asarray(y).ravel()))
        self.pos_label = sorted(labels)[-1] if len(labels) == 2 else None
        try:
            return super().fit(X, y, **more)
        finally:
            self.pos_label = None


@pytest.mark.every(6)
@parametrize_with_checks(
    [
        OfTwo(
            DecisionTreeClassifier(max_depth=2, random_state=0),
            {"max_depth": [1, 3]},
            protected=[0],
            margin=0.6,
            n_bins=2,
            min_support=0.2,
            claim_size=0.45,
        )
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def shown_of(fitted):
    """Return whether it is exploratory, and how the people were divided."""
    log = fitted.report_.document["log"]
    return fitted.exploratory_, log["claim_part"], log["people"]


def test_models_that_are_written_alike_are_other_searches(people):
    X, y = people
    X = X.assign(again=X["test"])

    def chosen(function):
        return make_pipeline(FunctionTransformer(function), LogisticRegression())

    first = search({"one": chosen(lambda frame: frame[["test"]])}).fit(X, y)
    second = search({"one": chosen(lambda frame: frame[["test", "rating"]])}).fit(X, y)
    same = search({"one": chosen(lambda frame: frame[["again"]])}).fit(X, y)
    assert [f.exploratory_ for f in (first, second)] == [False, True]
    assert same.cv_results_["step"].tolist() == first.cv_results_["step"].tolist()


def test_frozen_models_and_weights_are_other_searches(people):
    X, y = people
    X, y, rest, labels = X[:1200], y[:1200], X[1200:], y[1200:]
    found = []
    for n in (200, 400):
        present, other = (
            FrozenEstimator(on(c).fit(rest[:n], labels[:n])) for c in ("rating", "test")
        )
        fitted = AlternativeSearch(present, {"test": other}, protected="sex", margin=0.05)
        found.append(fitted.fit(X, y).exploratory_)
    assert found == [False, True]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    found = []
    numbers = X[["test", "rating"]].assign(more=np.arange(1200))
    for seed in (0, 1):
        weight = np.random.default_rng(seed).exponential(size=1200) ** 3
        fitted = AlternativeSearch(tree, {"max_depth": [2]}, margin=0.1)
        fitted.fit(numbers, y, sensitive_features=X["sex"], sample_weight=weight)
        found.append(fitted.exploratory_)
    assert found == [False, True]


def test_other_protected_values_are_another_search(people):
    X, y = people
    found = [
        search(protected=None).fit(X, y, sensitive_features=X[name].to_numpy()).exploratory_
        for name in ("sex", "race")
    ]
    assert found == [False, True]


@pytest.mark.parametrize(
    "written",
    [
        lambda X, y: (X, y.astype(bool), None),
        lambda X, y: (X, np.where(y, "yes", "no"), "yes"),
        lambda X, y: (X.assign(sex=X["sex"] == "f"), y, None),
        lambda X, y: (X.assign(race=X["race"].map({"a": 7, "b": 3})), y, None),
        lambda X, y: (X.assign(constant=0), y, None),
        lambda X, y: (X[["test", "race", "sex", "rating"]], y, None),
    ],
)
def test_how_values_are_written_and_constant_columns_divide_nobody_otherwise(people, written):
    X, y = people
    _, *first = shown_of(search().fit(X, y))
    X, y, label = written(X, y)
    is_exploratory, *again = shown_of(search(pos_label=label, margin=0.04).fit(X, y))
    assert first == again
    assert is_exploratory


def test_people_of_one_cluster_are_counted_by_their_rows(people):
    X, y = people
    groups = np.arange(N) // 2
    first = search().fit(X, y, groups=groups)
    other = search().fit(X.assign(test=-X["test"]), y, groups=groups)
    assert not other.exploratory_
    _, mine, _ = shown_of(first)
    assert mine == shown_of(other)[1]
    assert search(margin=0.05).fit(X, y, groups=groups).exploratory_
    assert search(margin=0.05).fit(X, y).exploratory_


def test_a_search_of_this_process_counts_beside_those_of_the_log(people, tmp_path):
    X, y = people
    log = tmp_path / "log.json"
    assert not search().fit(X, y).exploratory_
    assert search(log=log, margin=0.04).fit(X, y).exploratory_
    _split._SEARCHES.clear()
    assert len(json.loads(log.read_text()).popitem()[1]) == 2
    first = search(log=tmp_path / "new.json").fit(X, y)
    assert "Searches on these people: 1 with this one, by the log\n" in first.report_.to_text(
        10_000
    )
    _split._SEARCHES.clear()
    assert "not counted without a log" in search().fit(X, y).report_.to_text(10_000)


def test_an_exploratory_search_shows_nothing(people):
    X, y = people
    assert search().fit(X, y).claim_
    second = search({"test": on("test")}, margin=0.04).fit(X, y)
    document = second.report_.document
    assert document["sentence"].startswith("Exploratory, so that nothing is claimed")
    assert not any(test["shown"] for test in document["tests"])
    assert not second.cv_results_["shown"].any()
    assert not any("at most" in note for note in document["notes"])


def test_the_claim_has_both_gaps(people, found):
    gaps = found.costs_.gaps.set_index("column").loc["sex"]
    assert f"from {gaps['before']:.3f} to {gaps['after']:.3f}" in found.report_.document["sentence"]


class Fails(Decides):
    """Fails when it is asked about, or fitted to, more people than some."""

    def __init__(self, column="y", asked=10**9, learned=10**9):
        super().__init__(column)
        self.asked, self.learned = asked, learned

    def fit(self, X, y):
        if len(X) > self.learned:
            raise RuntimeError("too many to learn")
        return super().fit(X, y)

    def predict(self, X):
        if len(X) > self.asked:
            raise RuntimeError("too many to ask")
        return super().predict(X)


def test_a_candidate_that_fails_on_the_people_of_the_claim_is_left_out(decided):
    X, y = decided
    fitted = of({"new": Fails("new", asked=1500)}, margin=0.15).fit(X, y)
    assert fitted.cv_results_["error"][1] == "RuntimeError: too many to ask"
    assert "nothing was tested" in fitted.report_.document["sentence"]
    assert not fitted.claim_
    X = X.assign(more=np.arange(4000))
    both = {"first": Fails("new", asked=1500), "next": Decides("new")}
    X["next"] = np.where(X["sex"] == "m", X["new"], np.where(X["id"] % 50, X["new"], 1))
    both["next"].column = "next"
    fitted = of(both, margin=0.15).fit(X, y)
    steps = dict(zip(fitted.cv_results_["name"], fitted.cv_results_["tested"], strict=True))
    assert not steps["first"]
    assert "too many to ask" in fitted.report_.to_text()


@pytest.mark.parametrize("has_another", [False, True])
def test_a_candidate_that_fails_in_the_five_parts_only_is_left_out(decided, has_another):
    X, y = decided
    X, y = X[:1000], y[:1000]
    tried = {"broken": Fails("new", learned=700)}
    if has_another:
        X = X.assign(bold=np.where(X["id"] % 10, X["new"], 1 - X["new"]))
        tried["bold"] = Decides("bold")
    fitted = of(tried, claim="recipe", margin=0.25, refit=True).fit(X, y)
    errors = dict(zip(fitted.cv_results_["name"], fitted.cv_results_["error"], strict=True))
    assert errors["broken"] == "RuntimeError: too many to learn"
    assert fitted.cv_results_["times_chosen"][1] == 0
    sentence = fitted.report_.document["sentence"]
    assert ("nothing was tested" in sentence) != has_another
    assert (fitted.costs_ is None) != has_another
    assert bool(fitted.report_.document["tests"]) == has_another
    if has_another:
        assert "the safest of 2 candidates, which is 'bold' in each of 5 parts" in sentence
    text = fitted.report_.to_text(1000)
    assert "People: 1,000, each judged by models of four parts of the others" in text


class Column(Decides):
    """Returns an array of one column."""

    def predict(self, X):
        return super().predict(X)[:, None]


class AnyArgument(Decides):
    """Takes any argument of `fit`, but not this one."""

    def fit(self, X, y, **kwargs):
        if kwargs:
            raise TypeError(f"unexpected {list(kwargs)}")
        return super().fit(X, y)


class Texts(Decides):
    """Returns labels of another type."""

    def predict(self, X):
        return super().predict(X).astype(str)


def test_forms_of_predictions_and_of_fit(decided):
    X, y = decided
    tried = {"column": Column("new"), "any": AnyArgument("new"), "texts": Texts("new")}
    fitted = of(tried, margin=0.15).fit(X, y)
    assert fitted.cv_results_["error"].tolist()[:3] == [""] * 3
    assert fitted.cv_results_["error"][3] == (
        "ValueError: predict(X) returns '0', but the labels are 0, 1."
    ) or fitted.cv_results_["error"][3].startswith("ValueError: predict(X) returns '1'")
    assert fitted.cv_results_["gap"][1] == fitted.cv_results_["gap"][2]


def test_a_stack_predicts_only_when_it_is_fitted(people):
    X, y = people
    stack = StackingClassifier([("one", on("test")), ("two", on("rating"))], cv=2)
    fitted = search({"stack": stack}, margin=0.05).fit(X, y)
    assert fitted.cv_results_["error"].tolist() == ["", ""]


def test_equal_draws_are_one_candidate(people):
    X, y = people
    from scipy.stats import randint

    drawn = search({"logisticregression__max_iter": randint(100, 102)}, n_iter=9).fit(X, y)
    assert len(drawn.cv_results_["name"]) == 3


@pytest.mark.parametrize("claim", ["model", "recipe"])
def test_clusters_that_are_few_or_missing_are_refused(people, claim):
    X, y = people
    with pytest.raises(ValueError, match="groups has 3 different values"):
        search(claim=claim).fit(X, y, groups=np.arange(N) % 3)
    with pytest.raises(ValueError, match="one column of clusters"):
        search(claim=claim).fit(X, y, groups=X[["race", "sex"]])
    with pytest.raises(ValueError, match="groups has 16 missing"):
        search(claim=claim).fit(X, y, groups=np.where(np.arange(N) % 100, np.arange(N), np.nan))


class NeedsProtected(Decides):
    """Has to be passed the protected columns by the same names."""

    def fit(self, X, y, *, sensitive_features):
        self.names_ = list(sensitive_features)
        return super().fit(X, y)

    def predict(self, X, *, sensitive_features):
        assert list(sensitive_features) == self.names_
        return super().predict(X)


@pytest.mark.parametrize("protected", [None, "id"])
def test_predict_passes_the_columns_that_fit_passed(decided, protected):
    X, y = decided
    fitted = of({"new": NeedsProtected("new")}, margin=0.15, protected=protected, n_bins=2)
    sex = X[["sex"]]
    fitted.fit(X, y, sensitive_features=sex)
    assert fitted.cv_results_["error"][1] == ""
    fitted.best_estimator_ = NeedsProtected("new").fit(
        X, y, sensitive_features=pd.DataFrame(columns=["id", "protected sex"][protected is None :])
    )
    assert (fitted.predict(X, sensitive_features=sex) == X["new"]).all()


def test_a_gap_that_grows_is_no_leveling_down(decided):
    X, y = decided
    X["less"] = np.where((X["sex"] == "f") | (X["id"] % 10 < 2), 0, X["old"])
    fitted = of({"less": Decides("less")}, margin=0.5).fit(X, y)
    assert fitted.costs_.leveling_down["sex"]["loses"] < 0
    assert fitted.costs_.is_leveling_down == []
    X["both"] = np.where(X["id"] % 10 < np.where(X["sex"] == "f", 2, 6), 0, X["old"])
    fitted = of({"both": Decides("both")}, margin=0.5).fit(X.assign(other=1), y)
    (warning,) = [w for w in fitted.report_.document["warnings"] if w.startswith("Leveling")]
    assert "no group gains" in warning


def test_people_without_a_protected_value_are_counted(people):
    X, y = people
    X = X.assign(sex=np.where(np.arange(N) < 300, None, X["sex"]))
    fitted = search().fit(X, y)
    missing = fitted.report_.document["log"]["n_claim"] - fitted.costs_.decisions["n"].sum()
    assert f"{missing:,} of" in " ".join(fitted.report_.document["warnings"])


class BySex(Decides):
    """Depends on sex and another column."""

    def __init__(self, column="y", how="xor"):
        super().__init__(column)
        self.how = how

    def predict(self, X):
        is_f = X["sex"].to_numpy() == "f"
        if self.how == "strict":
            if (is_f != (X["code"] == 1)).any():
                raise ValueError("code and sex differ")
            return super().predict(X)
        if self.how == "rarely":
            return np.where(is_f & (X["id"] == X["id"].max()), 1, super().predict(X))
        return np.where(is_f ^ (X["race"].to_numpy() == "a"), 1, super().predict(X))


def test_a_model_that_reads_protected_columns_in_any_way_is_marked(decided):
    X, y = decided
    X["race"] = np.where(X["id"] % 2, "a", "b")
    fitted = of({"xor": BySex("none")}, protected=["sex", "race"], margin=0.9).fit(X, y)
    assert fitted.cv_results_["reads_protected"].tolist() == [False, True]
    assert fitted.costs_.cases["after"] > 500
    X["code"] = (X["sex"] == "f") * 1
    fitted = of({"strict": BySex("new", "strict")}, margin=0.15).fit(X, y)
    assert fitted.cv_results_["reads_protected"].tolist() == [False, None]
    assert fitted.costs_.cases == {"before": 0, "after": None}
    assert "unknown, as it cannot be asked" in fitted.report_.to_text(10_000)


def test_an_undefined_ratio_does_not_end_the_ladder():
    rng = np.random.default_rng(8)
    question, *_ = question_of(4000, 2, 1, rng)
    question = replace(question, scale="ratio", margin=0.99, by_part=False)
    code = question.groups["group"].code
    decided = (rng.random(4000) < np.where(code == 0, 0.5, 0.3)).astype(int)
    slight = decided.copy()
    slight[np.flatnonzero((code == 1) & (decided == 0))[:40]] = 1
    slight[np.flatnonzero((code == 1) & (decided == 1))[:38]] = 0
    models = [Predictions(d) for d in (decided, np.zeros(4000, dtype=int), slight)]
    choice = Choice.of(question, models)
    assert np.isnan(choice.gap).tolist() == [False, True, False]
    assert choice.z[0] > choice.z[1]
    assert choice.ladder == choice.safest_first == [1]


def test_an_undefined_gap_is_said(decided):
    X, y = decided
    fitted = of({"new": Decides("new")}, scale="ratio", margin=0.9)
    fitted.estimator = Decides("none")
    assert "undefined to" in fitted.fit(X, y).report_.document["sentence"]
