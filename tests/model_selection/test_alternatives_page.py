"""Whether the page of a search says what was tested, of whom, and what it costs."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skdisc._blackbox._default_models import default_model
from skdisc.cli._alternatives import candidates
from skdisc.model_selection import AlternativeSearch
from skdisc.model_selection._alternatives import _candidates, _split
from skdisc.model_selection._alternatives._candidates import kind_of, text_of, way_of
from skdisc.model_selection._alternatives._choice import people_needed
from skdisc.model_selection._alternatives._costs import costs_of
from skdisc.model_selection._alternatives._question import Groups, Predictions, Question
from skdisc.model_selection._alternatives._split import places
from skdisc.report._frontier import frontier_svg

N = 4000


@pytest.fixture(autouse=True)
def unopened(monkeypatch):
    """Forget which claim parts the other tests have opened."""
    monkeypatch.setattr(_split, "_SEARCHES", {})


class Column(ClassifierMixin, BaseEstimator):
    """A model whose decisions are a column."""

    def __init__(self, column="present"):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[self.column].to_numpy()


def table(rates, seed=0, n=N, groups="abc", **columns):
    """Return people and labels; each model favors a share of each group, the same people first."""
    rng = np.random.default_rng(seed)
    group = rng.choice(list(groups), n)
    X = pd.DataFrame({"group": group, "number": rng.random(n)}).assign(**columns)
    luck = rng.random(n)
    for name, share in rates.items():
        X[name] = (luck < np.array([share[groups.index(g)] for g in group])).astype(int)
    return X, pd.Series((luck < 0.5).astype(int), name="hired")


def searched(X, y, *tried, **settings):
    how = {"protected": "group", "margin": 0.2} | settings
    return AlternativeSearch(Column(), {name: Column(name) for name in tried}, **how).fit(X, y)


def words(search, width=10_000):
    return search.report_.to_text(width)


def claim_rows(X, y):
    return places(X, y.to_numpy()) < 0.5


@pytest.fixture(scope="module")
def other_pair():
    """Return a search whose fixed pair is not the pair of the largest gap of the claim part.

    On the design part c is far above a; on the claim part b is further above a than c.
    """
    X, y = table({"present": (0.3, 0.45, 0.6), "other": (0.3, 0.45, 0.55)})
    is_claim = claim_rows(X[["group", "number"]], y)
    luck = np.random.default_rng(5).random(N)
    swapped = np.where(
        X["group"] == "b", luck < 0.7, np.where(X["group"] == "c", luck < 0.36, X["present"])
    )
    X["present"] = np.where(is_claim, swapped, X["present"]).astype(int)
    X["other"] = np.where(is_claim, (luck < 0.5) | (X["group"] == "b"), X["other"]).astype(int)
    place = places(X, y.to_numpy()) < 0.5
    assert (place == is_claim).all()
    _split._SEARCHES.clear()
    return X, y, searched(X, y, "other")


def test_the_pair_that_was_tested_is_named_beside_the_largest_gap(other_pair):
    X, y, search = other_pair
    part = X[claim_rows(X, y)]
    rate = part.groupby("group")["present"].mean()
    after = part.groupby("group")["other"].mean()
    (row,) = search.report_.document["tested_gaps"]
    assert row["pair"] == "'c' above 'a'"
    assert row["before"] == pytest.approx(rate["c"] - rate["a"])
    assert row["after"] == pytest.approx(after["c"] - after["a"])
    assert row["largest_before"] == pytest.approx(rate.max() - rate.min())
    assert row["largest_before"] > row["before"] + 0.1
    assert not row["is_largest"]
    text = words(search)
    assert f"of 'c' less that of 'a' is {row['before']:.3f} here, and {row['after']:.3f}" in text
    assert "It was not tested, because a pair that is picked" in text
    sentence = search.report_.document["sentence"]
    assert f"tested against {row['before']:.3f}" in sentence
    assert f"{row['largest_before']:.3f}" not in sentence


def test_where_the_fixed_pair_is_the_largest_no_other_gap_is_told():
    search = searched(*table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)}), "other")
    assert search.claim_
    assert "between 'c' and 'a'" in words(search)
    assert "was not tested, because" not in words(search)


@pytest.mark.parametrize("claim", ["model", "recipe"])
def test_a_gain_that_has_to_be_larger_is_named_wherever_a_smaller_gap_is_asked_for(claim):
    X, y = table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)}, n=1200)
    text = words(searched(X, y, "other", claim=claim, min_gain=0.9))
    assert text.count(" by more than 0.9") == 3
    assert "What was tested" not in text
    assert ("fitted anew in each of five parts" in text) == (claim == "recipe")


def test_both_tests_have_their_estimates_z_and_p():
    search = searched(*table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)}), "other")
    (test,) = search.report_.document["tests"]
    assert test["p_value"] == max(test["score_p"], test["gain_p"])
    assert test["score_p"] == pytest.approx(ndtr(-test["score_z"]))
    assert test["gain_p"] == pytest.approx(ndtr(-test["gain_z"]))
    sentence = search.report_.document["sentence"]
    assert f"({test['score_before']:.3f} to {test['score_after']:.3f}; p" in sentence
    assert f"from {test['gap_before']:.3f} to {test['gap_after']:.3f} (p below 0.0001)" in sentence
    part = words(search).partition("The tests by")[2].partition("Who gains")[0]
    assert len(re.findall("1: other", part)) == 2


def test_a_bound_of_the_gain_is_no_larger_than_the_gap_can_be():
    """The alternative has the opposite gap, so that little is known about what it gains."""
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b"], 300, p=[0.85, 0.15])
    X = pd.DataFrame({"group": group, "number": rng.random(300)})
    X["present"] = (rng.random(300) < np.where(group == "a", 0.5, 0.4)).astype(int)
    X["other"] = (rng.random(300) < 0.45).astype(int)
    search = searched(X, pd.Series(X["present"], name="y"), "other", margin=0.7, min_gain=0.2)
    assert not search.claim_
    text = words(search)
    most = float(re.search(r"at most (\d\.\d+) \(confidence 0.975\). No model", text)[1])
    assert search.cv_results_["gain_high"][1] > most
    for bound in re.findall(r"reduces the gap by (?:at most|more than) (\d\.\d+)", text):
        assert float(bound) <= most
    assert "no reduction is excluded, not even that of the whole gap" in text


@pytest.mark.parametrize("scale", ["difference", "ratio"])
def test_the_bound_of_the_present_gap_holds(scale):
    rng = np.random.default_rng(4)
    groups = {"g": Groups(np.arange(400) % 2, ["a", "b"], [])}
    how = {"scoring": "accuracy", "metric": "selection_rate", "margin": 0.1, "min_gain": 0.0}
    question = Question(
        np.zeros(400, dtype=int), [1], groups, **how, scale=scale, part=np.zeros(400, dtype=int)
    )
    truth = 0.2 if scale == "difference" else np.log(0.6 / 0.4)
    holds = []
    for _ in range(400):
        rate = np.where(np.arange(400) % 2, 0.4, 0.6)
        model = Predictions((rng.random(400) < rate).astype(int))
        holds.append(question.gap_bound(model, "g", 1.96) >= truth)
    assert 0.95 <= np.mean(holds) <= 1


def test_how_many_people_it_takes_is_said_of_the_test_that_failed_and_by_whom():
    # The alternative is nearly as unequal: the gap fails, and the score does not.
    X, y = table({"present": (0.4, 0.5, 0.6), "other": (0.42, 0.5, 0.6)}, seed=1)
    search = searched(X, y, "other", min_gain=0.014)
    (test,) = search.report_.document["tests"]
    assert not test["shown"]
    assert test["score_p"] < 0.05
    text = words(search)
    n = search.report_.document["log"]["n_claim"]
    assert test["gain_z"] > 0.3
    needed = people_needed(test["gain_z"], n, 0.05)
    told = f"a smaller gap of 'other' is shown by about {needed:,.0f} people of a claim"
    assert f"By the estimates of these {n:,} people, {told}, with probability 0.8" in text
    assert "margin of 'other'" not in text
    assert "people of a claim were to be enough for" in text
    # This one is beyond the margin.
    _split._SEARCHES.clear()
    X["worse"] = np.where(X["number"] < 0.5, 1 - y, y)
    search = searched(X, y, "worse", margin=0.02)
    assert "is not within the margin of 0.02: by this estimate more people would not help" in words(
        search
    )
    assert "takes about" not in words(search)


def test_what_was_foreseen_is_that_of_the_candidate_in_the_sentence():
    X, y = table({"present": (0.3, 0.5, 0.7), "safe": (0.38, 0.5, 0.62), "bold": (0.48, 0.5, 0.52)})
    X["bold"] = np.where(X["number"] < 0.2, 1 - X["bold"], X["bold"])
    search = searched(X, y, "safe", "bold", margin=0.11)
    assert search.report_.document["alternative"] == "bold"
    results = pd.DataFrame(search.cv_results_).set_index("name")
    assert results.loc["bold", "step"] == 2
    own = results.loc["bold", "foreseen"]
    assert own < search.foreseen_ - 0.02
    text = words(search)
    assert f"'bold' was foreseen as {own:.2f}" in text
    assert f"the first step, 'safe', as {search.foreseen_:.2f}" in text


def test_steps_that_were_not_tested_have_no_figures_of_the_claim_part():
    X, y = table({"present": (0.4, 0.5, 0.6), "slight": (0.405, 0.5, 0.6), "bold": (0.5, 0.5, 0.5)})
    X["bold"] = np.where(X["number"] < 0.2, 1 - X["bold"], X["bold"])
    search = searched(X, y, "slight", "bold", margin=0.1, n_claims=1)
    results = pd.DataFrame(search.cv_results_).set_index("name")
    untested = results.index[(results["step"] > 0) & ~results["tested"]]
    assert len(untested) == 1
    text = words(search)
    assert f"Not tested: {untested[0]!r} (step 2), as the order ended at step 1" in text
    table_of_candidates = text.partition("Candidates, in")[2].partition("The tests")[0]
    assert f"{results.loc[untested[0], 'claim_gap']:.3f}" not in table_of_candidates


def question_of(code, names, **settings):
    n = len(code)
    how = {"scoring": "accuracy", "metric": "selection_rate", "scale": "difference"} | settings
    groups = {"race": Groups(np.asarray(code), list(names), [])}
    return Question(
        np.arange(n) % 2, [1], groups, **how, margin=0.1, min_gain=0.0, part=np.zeros(n, dtype=int)
    )


def costs(code, names, before, after, **settings):
    """Return the costs of models that favor some number of each group."""
    code = np.asarray(code)
    labels = []
    for counts in (before, after):
        label = np.zeros(len(code), dtype=int)
        for k, count in enumerate(counts):
            label[np.flatnonzero(code == k)[:count]] = 1
        labels.append(Predictions(label))
    question = question_of(code, names, **settings)
    return costs_of(question, *labels, {}, 0.02, (None, None), (None, None))


def test_leveling_down_is_judged_over_all_groups():
    """The worst-off gain more than the best-off lose, but a third group loses more than both."""
    code = np.repeat([0, 1, 2], 100)
    told = costs(code, ["low", "middle", "high"], (50, 69, 72), (55, 62, 72))
    assert told.is_leveling_down == ["race"]
    change = told.leveling_down["race"]
    assert (change["loses_group"], change["gains_group"]) == ("middle", "low")
    assert change["loses"] == pytest.approx(-0.07)
    assert costs(code, ["low", "middle", "high"], (50, 69, 72), (58, 65, 72)).is_leveling_down == []


def test_a_floor_that_falls_is_noticed_whatever_the_gap_does():
    code = np.repeat([0, 1, 2], 100)
    told = costs(code, ["a", "b", "c"], (52, 58, 75), (56, 51, 69))
    assert told.lowered_floors == ["race"]
    floor = told.floors["race"]
    assert (floor["before_group"], floor["after_group"]) == ("a", "b")
    assert (floor["before"], floor["after"]) == (0.52, 0.51)
    # Of error rates, the highest is the worst: the first people of each group are favored.
    errors = costs(code, ["a", "b", "c"], (52, 58, 75), (56, 51, 69), metric="error_rate")
    y, number = np.arange(300) % 2, np.arange(300) % 100
    of_group = ((number < np.repeat([52, 58, 75], 100)) != y).reshape(3, 100).mean(axis=1)
    assert errors.floors["race"]["before"] == pytest.approx(of_group.max())


def test_a_group_that_loses_while_its_gap_narrows_is_said():
    X, y = table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)})
    rng = np.random.default_rng(9)
    X["race"] = rng.choice(["x", "z"], N)
    # Whoever is z had more, and both have less.
    X["other"] = np.where((rng.random(N) < 0.3) & (X["race"] == "z"), 0, X["other"])
    X["other"] = np.where((rng.random(N) < 0.1) & (X["race"] == "x"), 0, X["other"])
    X["present"] = np.where((rng.random(N) < 0.3) & (X["race"] == "z"), 1, X["present"])
    search = searched(X, y, "other", watched="race", margin=0.5)
    text = " ".join(search.report_.document["warnings"])
    rows = search.costs_.decisions.set_index(["column", "group"])
    row = rows.loc[("race", "x"), ["gain", "lose", "n"]].astype(int)
    assert row["lose"] > row["gain"]
    assert f"'x' ({row['gain']:,} gain, {row['lose']:,} lose, of {row['n']:,})" in text
    assert "no other group shown has more, so that its gap narrows by losses" in text


def test_columns_of_gaps_are_protected_or_watched_and_no_word_claims_anything():
    X, y = table({"present": (0.4, 0.5, 0.6), "other": (0.41, 0.5, 0.6)})
    X["race"] = np.random.default_rng(1).choice(["x", "z"], N)
    search = searched(X, y, "other", watched="race")
    assert search.costs_.gaps["role"].tolist() == ["protected", "watched", "intersection"]
    assert "claimed" not in words(search).partition("Gaps by column")[2]
    names = set(search.costs_.decisions["column"])
    assert names == {"group", "race", "group & race"}


def test_people_left_out_of_watched_columns_are_counted():
    X, y = table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)})
    X["race"] = np.where(X["number"] < 0.01, "rare", np.where(X["number"] < 0.5, "x", "z"))
    search = searched(X, y, "other", watched="race")
    n = int((X.loc[claim_rows(X, y), "race"] == "rare").sum())
    assert f"each: rare ({n} of the people of the claim)" in words(search)


def test_candidates_that_decide_alike_are_counted_once_in_words():
    X, y = table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)})
    search = searched(
        X.assign(again=X["other"], itself=X["present"]), y, "other", "again", "itself"
    )
    assert "Candidates: 3, of which 1 decide differently" in words(search)


@pytest.mark.parametrize("favorable", [0, "no"])
def test_the_case_is_told(favorable):
    """A label of 0 is one, too."""
    X, y = table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)})
    y = y.map({1: favorable, 0: 1 if favorable == 0 else "yes"})
    X = X.assign(
        **{
            n: X[n].map({1: favorable, 0: 1 if favorable == 0 else "yes"})
            for n in ("present", "other")
        }
    )
    text = words(searched(X, y, "other", pos_label=favorable))
    assert f"Favorable decision: hired = {favorable}" in text
    assert f"pos_label = {favorable}" in text
    assert "Present model: Column(); fitted anew" in text
    assert "4,000, with 4 columns" in text


def test_a_frozen_model_is_told_and_so_is_the_title():
    X, y = table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)})
    search = AlternativeSearch(
        FrozenEstimator(Column().fit(X, y)), {"o": Column("other")}, protected="group", margin=0.2
    ).fit(X, y)
    assert "used as it is (frozen)" in words(search)
    report = search.report_.titled("Hires of 2026\n")
    assert "Data: Hires of 2026;" in report.to_text(10_000)
    assert "<h1>Hires of 2026</h1>" in report.to_html()
    assert "title" not in search.report_.document


def test_kinds_and_ways_in_words():
    model = make_pipeline(StandardScaler(), LogisticRegression(C=2))
    assert kind_of(model) == "LogisticRegression(C=2), last of 2 steps of a Pipeline"
    assert kind_of(FrozenEstimator(model)) == kind_of(model)
    ways = {n: way_of(text_of(m)) for n, m in candidates(model, model, ["sex"], None, 0, 1).items()}
    assert "a weight for each person" in ways["reweighed"]
    assert "moved by 0.5 of the way" in ways["numbers repaired by 0.5"]
    assert "moved by 1 of the way" in ways["numbers repaired by 1"]
    assert ways["without the protected columns"] == ""
    assert "those that tell" in ways["without columns associated by more than 0.05"]
    assert "another threshold" in ways["threshold 0.40"]


class WrittenByItself(LogisticRegression):
    def __repr__(self):
        return "mine"


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=2, class_weight={"b": 1, "a": 2}),
        FrozenEstimator(LogisticRegression()),
        GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"a": [1], "b": (2,)}),
        ColumnTransformer([("a", "passthrough", ["x", "y"]), ("b", OneHotEncoder(), ("z",))]),
        AlternativeSearch(LogisticRegression(), [LogisticRegression(C=3)], protected="sex"),
        default_model("logistic", 0),
        WrittenByItself(C=2),
        np.mean,
    ],
)
def test_a_model_is_written_as_scikit_learn_writes_it(model):
    whole = {} if type(model).__repr__ is not BaseEstimator.__repr__ else {"N_CHAR_MAX": 10**6}
    written = re.sub(r" at 0x\w+", "", model.__repr__(**whole))
    assert text_of(model) == " ".join(written.split())


def test_a_search_writes_each_model_once(monkeypatch):
    X, y = table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)})
    asked = []
    monkeypatch.setattr(_candidates, "text_of", lambda model: asked.append(model) or repr(model))
    AlternativeSearch(Column(), {"o": Column("other")}, protected="group", margin=0.2).fit(X, y)
    assert len(asked) == 3  # both, and the kind of the present model in words


def test_candidates_without_associated_columns_do_not_read_the_protected_one():
    """A column that a tree does not use stays a proxy for the model that is then fitted."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 600)
    X = pd.DataFrame({"sex": sex, "title": np.where(sex == "f", "ms", "mr"), "x": rng.random(600)})
    model = make_pipeline(StandardScaler(), LogisticRegression())
    tried = candidates(model, model, ["sex"], None, 0, 1)
    for name in ("0.05", "0.02"):
        select = tried[f"without columns associated by more than {name}"][0]
        assert list(select.fit_transform(X, (X["x"] > 0.5).astype(int))) == ["x"]


@pytest.mark.parametrize("width", [80, 100])
def test_no_column_of_a_table_is_left_out_of_the_text(width):
    X, y = table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)})
    long = {"a": "a group with a rather long name", "b": "another group of people", "c": "c"}
    X["group"] = X["group"].map(long)
    X["a column with a long name"] = np.random.default_rng(1).choice(["x", "z"], N)
    X = X.rename(columns={"other": "other candidate with a long name"})
    search = searched(X, y, "other candidate with a long name", watched="a column with a long name")
    text = words(search, width)
    assert "more column" not in text
    assert max(map(len, text.splitlines())) <= width
    assert "FN after" in text
    assert "-0.000" not in text
    assert "e-0" not in text


def test_details_are_open_on_the_page_and_short_tables_are_kept_together():
    X, y = table({"present": (0.3, 0.5, 0.7), "other": (0.48, 0.5, 0.52)})
    page = searched(X, y, "other").report_.to_html()
    assert "<details open>" in page
    assert page.count('class="scroll short"') == len(re.findall("<table", page)) > 4
    assert "&lt;0.0001" in page


def test_the_picture_names_the_reported_candidate_and_counts_points_at_one_place():
    points = [
        ("now", 0.8, 0.3, False, True),
        ("seed", 0.8, 0.3, False, False),
        ("best", 0.8002, 0.297, True, False),
    ]
    picture = frontier_svg("title", points, 0.01, "best")
    assert picture.count("<circle") == 2
    assert ">present, 2 models</text>" in picture


@pytest.mark.parametrize("seed", range(30))
def test_names_in_the_picture_cover_no_point_and_no_other_name(seed):
    rng = np.random.default_rng(seed)
    scores, gaps = rng.uniform(0.76, 0.78, 12), rng.uniform(0.02, 0.3, 12)
    points = [(f"model {i}", scores[i], gaps[i], False, i == 0) for i in range(12)]
    picture = frontier_svg("title", points, 0.01, "model 3")
    circles = re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="(\d)"', picture)
    names = re.findall(r'<text x="([\d.]+)" y="([\d.]+)">(present|model 3)</text>', picture)
    assert len(circles) == 12
    assert len(names) == 2
    boxes = [(float(x), float(x) + 6 * len(text), float(y) - 8, float(y)) for x, y, text in names]
    boxes += [(float(x) - 5, float(x) + 5, float(y) - 5, float(y) + 5) for x, y, _ in circles]
    for k, (left, right, top, foot) in enumerate(boxes[:2]):
        for other in boxes[:k] + boxes[2:]:
            assert right < other[0] or other[1] < left or foot < other[2] or other[3] < top
