"""A Discretizer has the bins of the detectors, and keeps the order of values."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from skdisc import FeatureSpace
from skdisc._space._items import make_items
from skdisc.group import GroupDisparity
from skdisc.preprocessing import Discretizer
from skdisc.subgroup import Bins

VALUES = st.lists(st.integers(-20, 20), min_size=2, max_size=40)


@given(VALUES, st.integers(2, 6), st.sampled_from(["quantile", "width"]))
def test_rows_share_a_bin_if_and_only_if_detectors_put_them_together(values, n, how):
    X = pd.DataFrame({"x": values})
    number = Discretizer(Bins(n, how)).fit_transform(X)["x"].to_numpy()
    codes = make_items(X, FeatureSpace.from_frame(X), ["x"], [], Bins(n, how)).codes[0]
    assert (np.equal.outer(number, number) == np.equal.outer(codes, codes)).all()
    assert (np.diff(number[np.argsort(values)]) >= 0).all()


def test_text_missing_values_and_other_columns():
    X = pd.DataFrame({"x": [1.0, 2, 3, np.nan], "job": list("abab")}, index=[4, 3, 2, 1])
    bins = Discretizer(Bins(edges={"x": [1.5, 2.5]}), encode="text").fit(X)
    out = bins.transform(X)
    assert out["x"].tolist()[:3] == ["<= 1.5", "(1.5, 2.5]", "> 2.5"]
    assert out["x"].isna().tolist() == [False, False, False, True]
    assert out["job"].equals(X["job"])
    assert bins.get_feature_names_out().tolist() == ["x", "job"]
    far = bins.transform(pd.DataFrame({"x": [-9.0, 99], "job": ["a", "z"]}))
    assert far["x"].tolist() == ["<= 1.5", "> 2.5"]


def test_bins_of_a_tree_follow_the_labels():
    X = np.arange(100.0)[:, None]
    tree = Discretizer(Bins(2, how="tree")).fit(X, X[:, 0] > 69)
    assert tree.cuts_["x0"].tolist() == [69]
    with pytest.raises(ValueError, match="fitted to y, and y is None"):
        Discretizer(Bins(how="tree")).fit(X)
    with pytest.raises(ValueError, match=r"edges names .*job"):
        Discretizer(Bins(edges={"job": [1]})).fit(X)


def test_in_a_pipeline_and_a_search():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=200), "job": rng.choice(["a", "b"], 200)})
    y = (X["x"].abs() < 0.7).astype(int)
    numbers = make_column_transformer(("passthrough", make_column_selector(pattern="x")))
    pipe = make_pipeline(Discretizer(), numbers, GaussianNB())
    search = GridSearchCV(pipe, {"discretizer__n_bins": [2, 4, Bins(5, "width")]}, cv=3)
    search.fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert (again.predict(X) == search.predict(X)).all()
    fitted = Discretizer().set_output(transform="pandas").fit(X.to_numpy())
    assert list(fitted.transform(X.to_numpy())) == ["x0", "x1"]
    assert clone(fitted).get_params() == fitted.get_params()


def over_forty(X):
    """A model that knows ages."""
    return (pd.to_numeric(X["age"], errors="coerce") > 40).astype(int)


@pytest.mark.parametrize("encode", ["ordinal", "text"])
def test_bins_are_no_rows_for_a_fitted_model(encode):
    """Before, the model was queried about bins as if they were values, and nothing was found."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 2000), "age": rng.integers(20, 70, 2000)})
    bins = Discretizer(encode=encode)
    pipe = make_pipeline(bins, GroupDisparity(protected="sex"))
    with pytest.raises(ValueError, match=r"model=make_pipeline\(discretizer, model\)"):
        pipe.fit(X, groupdisparity__model=over_forty)
    with pytest.raises(ValueError, match="Pass the rows as they were before"):
        GroupDisparity(protected="sex").fit(bins.transform(X), model=over_forty)
    y = (X["age"] > 40).astype(int)
    tree = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier())
    of_bins = make_pipeline(bins, tree).fit(X, y)
    detector = GroupDisparity(protected="sex").fit(X, model=of_bins)
    assert detector.audited_ == "model"
    with pytest.raises(ValueError, match="Pass the rows as they were before"):
        detector.audit(bins.transform(X))
    # What is trained on the bins here, and labels, are about the bins.
    assert make_pipeline(bins, GroupDisparity(clone(tree), protected="sex")).fit(X, y)
    assert make_pipeline(bins, GroupDisparity(protected="sex")).fit(X, y)


def test_arrays_of_bins_are_no_rows_for_a_fitted_model():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 500), rng.integers(20, 70, 500)])
    y = (X[:, 1] > 40).astype(int)
    model, bins = DecisionTreeClassifier().fit(X, y), Discretizer().fit(X)
    pipe = make_pipeline(bins, GroupDisparity(protected=[0]))
    with pytest.raises(ValueError, match=r"model=make_pipeline\(discretizer, model\)"):
        pipe.fit(X, groupdisparity__model=model)
    rows = bins.transform(X)
    for part in (rows, rows[:100], rows.copy(), pickle.loads(pickle.dumps(rows))):
        with pytest.raises(ValueError, match="Pass the rows as they were before"):
            GroupDisparity(protected=[0]).fit(part, model=model)
    detector = GroupDisparity(protected=[0]).fit(X, model=make_pipeline(bins, model))
    with pytest.raises(ValueError, match="Pass the rows as they were before"):
        detector.audit(rows)
    # What is trained on the bins here, labels, and what is computed from bins.
    tree = DecisionTreeClassifier(max_depth=3)
    assert make_pipeline(bins, GroupDisparity(tree, protected=[0])).fit(X, y)
    assert make_pipeline(bins, GroupDisparity(protected=[0])).fit(X, y)
    for values in (rows + 0, np.asarray(rows), np.concatenate([rows, rows]), rows.sum(), rows == 1):
        assert type(values) in (np.ndarray, np.int64, np.float64)
