"""After a full repair a column has one distribution in all groups, and its order stays."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, ks_2samp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from skdisc.measures import get_scorer
from skdisc.repair import DisparateImpactRemover

NUMBERS = st.floats(-100, 100, allow_subnormal=False)


@st.composite
def people(draw, min_size=2):
    """Draw people of three groups with different distributions of two columns."""
    sizes = draw(st.lists(st.integers(min_size, 8), min_size=3, max_size=3))
    group = np.repeat(["a", "b", "c"], sizes)
    columns = {c: draw(st.lists(NUMBERS, min_size=len(group), max_size=len(group))) for c in "xz"}
    return pd.DataFrame({"group": group, **columns})


def by_hand(X, name, amount):
    """Repair one column as the paper defines it, person by person."""
    people = list(zip(X["group"], X[name], strict=True))
    all_known = {group: sorted(x for g, x in people if g == group) for group, _ in people}
    out = []
    for group, x in people:
        mine = all_known[group]
        below, equal = sum(v < x for v in mine), sum(v == x for v in mine)
        rank = (below + equal / 2) / len(mine)
        values = []
        for known in all_known.values():
            place = min(max(rank * len(known) - 0.5, 0), len(known) - 1)
            low = int(place)
            high = min(low + 1, len(known) - 1)
            values.append(known[low] + (place - low) * (known[high] - known[low]))
        out.append((1 - amount) * x + amount * sorted(values)[1])
    return np.array(out)


@given(people(), st.sampled_from([0.0, 0.3, 1.0]))
def test_it_is_the_repair_of_the_paper(X, amount):
    repaired = DisparateImpactRemover("group", amount=amount).fit_transform(X)
    assert list(repaired) == ["x", "z"]
    for name in repaired:
        assert np.allclose(repaired[name], by_hand(X, name, amount), atol=1e-9)


@given(people(), st.floats(0, 1))
def test_order_within_a_group_stays(X, amount):
    repaired = DisparateImpactRemover("group", amount=amount).fit_transform(X)
    for group in "abc":
        mine = (X["group"] == group).to_numpy()
        before, after = X.loc[mine, "x"].to_numpy(), repaired.loc[mine, "x"].to_numpy()
        assert (np.diff(after[np.argsort(before, kind="stable")]) >= -1e-9).all()


@given(st.integers(2, 9), st.integers(0, 10**6))
def test_groups_of_equal_size_get_equal_values(n, seed):
    x = np.random.default_rng(seed).normal(size=3 * n)
    X = pd.DataFrame({"group": np.repeat(["a", "b", "c"], n), "x": x})
    repaired = DisparateImpactRemover("group").fit_transform(X)["x"].to_numpy()
    first, *others = np.sort(repaired.reshape(3, n), axis=1)
    for other in others:
        assert np.allclose(first, other)


def shifted(n, seed):
    """Return people of two groups whose columns differ in location, spread and shape."""
    rng = np.random.default_rng(seed)
    is_a = rng.random(n) < 0.4
    x = np.where(is_a, rng.normal(2, 1, n), rng.exponential(3, n))
    z = np.where(is_a, rng.uniform(0, 1, n), rng.normal(0, 4, n))
    return pd.DataFrame({"group": np.where(is_a, "a", "b"), "x": x, "z": z})


@pytest.mark.parametrize("seed", range(3))
def test_no_classifier_of_repaired_columns_beats_the_base_rate(seed):
    X, new = shifted(3000, seed), shifted(3000, 100 + seed)
    remover = DisparateImpactRemover("group").fit(X)
    base = max(new["group"].value_counts())
    chance = binom.isf(0.0005, len(new), base / len(new))
    for classifier in (DecisionTreeClassifier(min_samples_leaf=30), LogisticRegression()):
        if isinstance(classifier, DecisionTreeClassifier):
            plain = classifier.fit(X[["x", "z"]], X["group"])
            assert (plain.predict(new[["x", "z"]]) == new["group"]).sum() > chance
        repaired = classifier.fit(remover.transform(X), X["group"])
        assert (repaired.predict(remover.transform(new)) == new["group"]).sum() <= chance
    after = remover.transform(new)
    is_a = new["group"] == "a"
    for name in after:
        assert ks_2samp(after.loc[is_a, name], after.loc[~is_a, name]).pvalue > 1e-3


def test_columns_together_can_still_tell_the_group():
    rng = np.random.default_rng(0)
    is_a, x = np.arange(2000) % 2 == 0, rng.normal(size=2000)
    X = pd.DataFrame({"group": is_a, "x": x, "z": np.where(is_a, x, -x)})
    repaired = DisparateImpactRemover("group").fit_transform(X)
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    assert (cross_val_predict(tree, repaired, is_a) == is_a).mean() > 0.9
    for name in repaired:
        found = cross_val_predict(tree, repaired[[name]], is_a)
        assert (found == is_a).mean() < 0.55


def test_what_is_not_repaired_stays():
    X = pd.DataFrame({"sex": list("ffmm"), "job": list("abab"), "x": [1, 2, 3, np.nan], "n": 1})
    X = X.set_index(pd.Index([5, 3, 1, 0]))
    remover = DisparateImpactRemover("sex", columns="x", keep_protected=True).fit(X)
    after = remover.transform(X)
    pd.testing.assert_frame_equal(after.drop(columns="x"), X.drop(columns="x"))
    assert after["x"].isna().tolist() == [False, False, False, True]
    pd.testing.assert_frame_equal(
        DisparateImpactRemover("sex", amount=0).fit_transform(X),
        X.drop(columns="sex"),
        check_dtype=False,
    )


def test_names_containers_and_copies():
    X = shifted(50, 0)
    remover = DisparateImpactRemover("group").fit(X)
    assert remover.get_feature_names_out().tolist() == ["x", "z"]
    array = X.assign(group=X["group"] == "a").to_numpy(dtype=float)
    from_array = DisparateImpactRemover(0).fit(array)
    assert np.allclose(from_array.transform(array), remover.transform(X))
    assert from_array.get_feature_names_out().tolist() == ["x1", "x2"]
    out = from_array.set_output(transform="pandas").transform(array)
    assert list(out) == ["x1", "x2"]
    for again in (pickle.loads(pickle.dumps(remover)), clone(remover).fit(X)):
        pd.testing.assert_frame_equal(again.transform(X), remover.transform(X))


def test_the_amount_is_searched_for():
    X = shifted(600, 1)
    y = (X["x"] > 3).astype(int)
    pipe = make_pipeline(DisparateImpactRemover("group"), DecisionTreeClassifier(max_depth=3))
    scorer = get_scorer("neg_abs_mean_difference", protected="group")
    grid = {"disparateimpactremover__amount": [0.0, 1.0]}
    search = GridSearchCV(pipe, grid, scoring=scorer, cv=3).fit(X, y)
    assert search.best_params_ == {"disparateimpactremover__amount": 1.0}


def test_groups_that_did_not_occur():
    X = shifted(50, 0)
    new = X.assign(group="c")
    with pytest.raises(ValueError, match=r"group \('c',\) of \['group'\] did not occur"):
        DisparateImpactRemover("group").fit(X).transform(new)
    pooled = DisparateImpactRemover("group", unseen="pool").fit(X).transform(new)
    assert (np.diff(pooled["x"].to_numpy()[np.argsort(new["x"])]) >= 0).all()


def test_refusals():
    X = shifted(50, 0).assign(job="a")
    with pytest.raises(ValueError, match=r"columns names .*job.* not among the numeric columns"):
        DisparateImpactRemover("group", columns=["job"]).fit(X)
    with pytest.raises(ValueError, match=r"columns names .*group"):
        DisparateImpactRemover("group", columns=["group"]).fit(X)
    with pytest.raises(ValueError, match="protected is None"):
        DisparateImpactRemover().fit(X)


def test_of_two_groups_it_takes_the_middle_and_aif360_the_smaller_quantile():
    """Figures of AIF360 0.6.1: DisparateImpactRemover(repair_level=1).fit_transform(...)."""
    i = np.arange(30)
    points = (i * 37 % 61).astype(float) + 15 * (i % 2)
    X = pd.DataFrame({"sex": (i % 2).astype(float), "points": points})
    of_aif360 = [0, 39, 13, 52, 26, 0, 39, 13, 52, 26, 4, 43, 17, 56, 30]
    of_aif360 += [4, 43, 17, 56, 30, 8, 47, 21, 60, 34, 8, 47, 21, 60, 34]
    repaired = DisparateImpactRemover("sex").fit_transform(X)["points"]
    women, men = np.sort(points[::2]), np.sort(points[1::2])
    place = np.where(X["sex"] == 0, np.searchsorted(women, points), np.searchsorted(men, points))
    assert of_aif360 == np.minimum(women, men)[place].tolist()
    assert repaired.tolist() == ((women + men) / 2)[place].tolist()
