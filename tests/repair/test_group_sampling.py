"""Samplers and relabeling make label and group independent, up to one person of each group."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imblearn.pipeline import make_pipeline
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import OneHotEncoder

from skdisc.exceptions import SkdiscWarning
from skdisc.measures import get_scorer, mean_difference
from skdisc.repair import Massager, PreferentialSampler, UniformSampler
from skdisc.repair._group_sampling import apportion


class ByPoints(ClassifierMixin, BaseEstimator):
    """Ranks people by their points."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-X["points"].to_numpy(dtype=float)))
        return np.column_stack([1 - p, p])


@st.composite
def people(draw, groups="abc", max_size=12):
    """Draw people: groups with each label, and points."""
    n = draw(st.integers(0, max_size))
    group = draw(st.lists(st.sampled_from(groups), min_size=n, max_size=n))
    label = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    group, label = [*group, *sorted(groups * 2)], [*label, *[0, 1] * len(groups)]
    points = draw(st.lists(st.integers(-3, 3), min_size=len(group), max_size=len(group)))
    return pd.DataFrame({"group": group, "points": points}), pd.Series(label, name="label")


SAMPLERS = [
    UniformSampler("group", random_state=0),
    PreferentialSampler("group", ranker=ByPoints()),
]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: type(s).__name__)
@given(people())
def test_rates_are_equal_up_to_one_person(sampler, people):
    X, y = people
    X_new, y_new = clone(sampler).fit_resample(X, y)
    n = X["group"].value_counts()
    assert X_new["group"].value_counts().sort_index().equals(n.sort_index())
    favorable = y_new.groupby(X_new["group"]).sum()
    assert (abs(favorable - n * y.mean()) < 1).all()


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: type(s).__name__)
@given(people())
def test_sampled_rows_are_rows_of_the_data(sampler, people):
    X, y = people
    sampler = clone(sampler)
    X_new, y_new = sampler.fit_resample(X, y)
    at = sampler.sample_indices_
    pd.testing.assert_frame_equal(X_new, X.iloc[at].reset_index(drop=True))
    pd.testing.assert_series_equal(y_new, y.iloc[at].reset_index(drop=True))
    times = np.bincount(at, minlength=len(X))
    for _, part in pd.DataFrame({"times": times}).groupby([X["group"], y]):
        assert part["times"].max() - part["times"].min() <= 1  # none is repeated before another


@given(people())
def test_preferential_sampling_takes_the_border(people):
    X, y = people
    sampler = PreferentialSampler("group", ranker=ByPoints()).fit(X, y)
    times = np.bincount(sampler.sample_indices_, minlength=len(X))
    for (group, label), count in X.groupby(["group", y]).size().items():
        mine = ((X["group"] == group) & (y == label)).to_numpy()
        away = X.loc[mine, "points"].to_numpy() * (1 if label else -1)  # from the border
        by = times[mine][np.argsort(away, kind="stable")]
        grows = times[mine].sum() > count
        assert (np.diff(by) <= 0).all() if grows else (np.diff(by) >= 0).all()


@pytest.mark.slow
def test_uniform_sampling_is_uniform():
    X = pd.DataFrame({"sex": ["f"] * 10 + ["m"] * 10})
    y = np.array([1] * 2 + [0] * 8 + [1] * 8 + [0] * 2)
    times = sum(
        np.bincount(UniformSampler("sex", random_state=i).fit(X, y).sample_indices_, minlength=20)
        for i in range(200)
    )
    share = times / 200
    assert np.allclose(share[:2], 2.5, atol=0.15)
    assert np.allclose(share[2:10], 5 / 8, atol=0.15)


@given(people())
def test_after_massaging_rates_are_equal_up_to_one_person(people):
    X, y = people
    _, y_new = Massager("group", ranker=ByPoints()).fit_resample(X, y)
    n = X["group"].value_counts()
    assert y_new.sum() == y.sum()
    assert (abs(y_new.groupby(X["group"]).sum() - n * y.mean()) < 1).all()


@given(people(groups="ab", max_size=4))
def test_massaging_changes_the_fewest_labels(people):
    X, y = people
    massager = Massager("group", ranker=ByPoints()).fit(X, y)
    n, is_a = X["group"].value_counts(), (X["group"] == "a").to_numpy()

    def furthest(labels):
        exact = n * y.mean()
        counts = {"a": labels[is_a].sum(), "b": labels[~is_a].sum()}
        return max(abs(counts[g] - exact[g]) for g in "ab")

    fewest = min(
        (np.array(labels) != y).sum()
        for labels in product([0, 1], repeat=len(y))
        if sum(labels) == y.sum() and furthest(np.array(labels)) <= 0.5 + 1e-9
    )
    _, y_new = massager.fit_resample(X, y)
    best = furthest(y_new.to_numpy())
    assert len(massager.changed_) == (y_new != y).sum()
    assert len(massager.changed_) <= fewest + 2 * (best == 0.5)  # a tie: one person either way


def test_massaging_changes_the_number_of_the_paper():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"group": np.repeat(["a", "b"], [400, 600]), "points": rng.normal(size=1000)})
    y = (rng.random(1000) < np.where(X["group"] == "a", 0.2, 0.6)).astype(int)
    massager = Massager("group", ranker=ByPoints()).fit(X, y)
    gap = y[400:].mean() - y[:400].mean()
    assert len(massager.changed_) == 2 * round(gap * 400 * 600 / 1000)
    _, new = massager.fit_resample(X, y)
    promoted = new > y
    assert set(X["group"][promoted]) == {"a"}
    candidates = (X["group"] == "a") & (y == 0)
    assert X["points"][promoted].min() >= X["points"][candidates & ~promoted].max()
    demoted = new < y
    candidates = (X["group"] == "b") & (y == 1)
    assert X["points"][demoted].max() <= X["points"][candidates & ~demoted].min()


def test_several_labels():
    X = pd.DataFrame({"sex": list("ffffmmmm"), "x": range(8)})
    y = np.array(["no", "no", "later", "part", "full", "full", "part", "no"])
    massager = Massager("sex", pos_label=["part", "full"])
    _, new = massager.fit_resample(X, y)
    granted = np.isin(new, ["part", "full"])
    assert granted[:4].sum() == granted[4:].sum() == 2
    assert set(new) <= set(y)


@given(st.lists(st.fractions(0, 20), min_size=1, max_size=8))
def test_shares_are_rounded_to_their_sum(sizes):
    sizes = np.array([*map(float, sizes)])
    sizes = np.append(sizes, np.ceil(sizes.sum()) - sizes.sum())
    rounded = apportion(sizes)
    assert rounded.sum() == round(sizes.sum())
    assert (abs(rounded - sizes) < 1 + 1e-6).all()


def biased():
    """Return people whose labels depend on sex, with text and missing values."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "points": rng.normal(size=400)})
    y = (X["points"] + 1.5 * (X["sex"] == "m") + rng.normal(size=400) > 0.7).astype(int)
    return X, y


@pytest.mark.parametrize(
    "sampler",
    [UniformSampler("sex", random_state=0), PreferentialSampler("sex"), Massager("sex")],
    ids=lambda s: type(s).__name__,
)
def test_in_a_pipeline_and_a_search(sampler):
    X, y = biased()
    columns = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    pipe = make_pipeline(sampler, columns, LogisticRegression())
    scorer = get_scorer("neg_abs_mean_difference", protected="sex")
    step = pipe.steps[0][0]
    search = GridSearchCV(pipe, {step: [None, sampler]}, scoring=scorer, cv=3)
    without, repaired = search.fit(X, y).cv_results_["mean_test_score"]
    assert repaired > without / 2
    again = pickle.loads(pickle.dumps(clone(pipe).fit(X, y)))
    assert (again.predict(X) == clone(pipe).fit(X, y).predict(X)).all()
    assert sampler.fit(X, y).get_feature_names_out().tolist() == ["sex", "points"]
    before = mean_difference(y, y, protected=X["sex"])
    X_new, y_new = sampler.fit_resample(X, y)
    assert abs(mean_difference(y_new, y_new, protected=X_new["sex"])) < 0.01 < abs(before)


def test_missing_values_and_order():
    X = pd.DataFrame({"sex": ["f", "m", np.nan, "f", "m", np.nan], "x": [1, np.nan, 2, 3, 4, 5]})
    y = pd.Series([0, 1, 0, 1, 0, 1])
    X_new, _ = UniformSampler("sex", random_state=0).fit_resample(X, y)
    pd.testing.assert_frame_equal(X_new, X)  # three groups with one rate
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        UniformSampler("sex").fit_resample(X, y[::-1])


@pytest.mark.parametrize("sampler", [*SAMPLERS, Massager("group", ranker=ByPoints())])
def test_tables_of_polars_and_arrow_are_taken_as_frames(sampler):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X, y = (
        pd.DataFrame({"group": list("aabb") * 3, "points": range(12)}),
        [0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1],
    )
    expected, labels = clone(sampler).fit_resample(X, np.array(y))
    for table, target in ((pl.from_pandas(X), pl.Series(y)), (pa.Table.from_pandas(X), y)):
        rows, new = clone(sampler).fit_resample(table, target)
        pd.testing.assert_frame_equal(rows, expected)
        assert list(new) == list(labels)


def test_a_group_without_a_label_is_named():
    X, y = pd.DataFrame({"sex": list("ffmm")}), [0, 0, 0, 1]
    with pytest.warns(SkdiscWarning, match="group 'f' with label 1"):
        UniformSampler("sex", random_state=0).fit_resample(X, y)


def test_refusals():
    X, y = biased()
    with pytest.raises(ValueError, match="protected is None"):
        UniformSampler().fit_resample(X, y)
    with pytest.raises(ValueError, match="pos_label='yes' never occurs"):
        Massager("sex", pos_label="yes").fit_resample(X, y)
