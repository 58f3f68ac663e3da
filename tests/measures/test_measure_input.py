"""Columns, weights and models that cannot be used are refused by name, by every measure."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from skdisc import Predicate
from skdisc import measures as m
from skdisc.datasets import plant_bias
from skdisc.measures._formula._catalogue import CATALOGUE

N = 40
Y = np.arange(N) % 2
SEX = pd.Series(np.where(np.arange(N) % 3 == 0, "f", "m"))
X = pd.DataFrame({"age": np.arange(N) % 7, "score": np.arange(N) % 5})
TABLES = [
    (name, table)
    for name in m.__all__
    if inspect.isfunction(function := getattr(m, name))
    for table in ("X", "explanatory", "redlining", "strata")
    if table in inspect.signature(function).parameters
    and "y_pred" in inspect.signature(function).parameters
]


def _call(name, **given):
    """Call a measure with the arguments that it has."""
    function = getattr(m, name)
    known = inspect.signature(function).parameters
    usual = {"y_true": Y, "y_pred": Y, "protected": SEX, "measure": m.mean_difference}
    usual |= {"X": X, "explanatory": X["age"], "strata": X["age"]} | given
    return function(**{k: v for k, v in usual.items() if k in known})


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_tables_of_another_length_and_names_in_their_place_are_refused(name, table):
    with pytest.raises(ValueError, match=f"{table} has {N - 3} rows, and y_pred has {N}"):
        _call(name, **{table: X.iloc[:-3]})
    with pytest.raises(ValueError, match=f"{table} must hold the values of each row, got 'age'"):
        _call(name, **{table: "age"})


@pytest.mark.parametrize("name", ["stratified", "stratified_report"])
def test_the_measure_within_strata_is_a_function(name):
    with pytest.raises(ValueError, match="measure must be a function of skdisc"):
        _call(name, measure="mean_difference")


@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_weights_whose_squares_are_no_numbers_are_refused(weight):
    with pytest.raises(ValueError, match=r"must be 0 or between 1e-50 and 1e\+50; got .*Rescale"):
        m.mean_difference(None, Y, protected=SEX, sample_weight=np.full(N, weight))


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("uint64", 2**64 - 2, 2**64 - 1), ("int8", -100, 100), ("int64", -(2**63), 2**63 - 1)],
)
def test_protected_integers_at_the_ends_of_their_type(dtype, low, high):
    groups = pd.Series(np.where(Y == 1, high, low).astype(dtype))
    report = m.mean_difference_report(None, Y, protected=groups, reference=high)
    assert report["group"].tolist() == [low]
    assert report["estimate"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("decisions", "message"),
    [
        (np.full(N, np.nan), "40 missing decisions for 40 rows"),
        (np.array([1, None] * (N // 2), dtype=object), "20 missing decisions"),
        (np.zeros(N - 1), r"shape \(39,\) for 40 rows"),
        (np.zeros((N, 2)), r"shape \(40, 2\) for 40 rows"),
    ],
)
def test_the_twin_test_needs_a_decision_about_each_row(decisions, message):
    class Model:
        def predict(self, X):
            return decisions

    with pytest.raises(ValueError, match=message):
        m.twin_test(Model(), X.assign(sex=SEX), protected="sex")


def test_clusters_of_nothing_are_refused():
    with pytest.raises(ValueError, match="X must have rows and columns, got 0 × 2"):
        m.cluster_strata(X.iloc[:0])


@pytest.mark.parametrize("kind", ["flip", "shift"])
@pytest.mark.parametrize("rate", [np.inf, -np.inf, np.nan])
def test_no_bias_without_end_is_planted(kind, rate):
    with pytest.raises(ValueError, match=r"rate must be a number up to 1e\+150"):
        plant_bias(X, Y, Predicate.equals("age", 3), rate, kind=kind)


def test_scores_that_are_text_are_refused():
    with pytest.raises(ValueError, match=r"y must be scores \(numbers\) with kind='shift'"):
        plant_bias(X, SEX.to_numpy(), Predicate.equals("age", 3), 0.5, kind="shift")


REORDERED = np.random.default_rng(0).permutation(N)
WITH_GROUPS = [
    name
    for name in m.__all__
    if callable(getattr(m, name)) and not inspect.isclass(getattr(m, name))
    if {"y_pred", "protected"} <= set(inspect.signature(getattr(m, name)).parameters)
]


@pytest.mark.parametrize("name", WITH_GROUPS)
@pytest.mark.parametrize("column", ["protected", "sample_weight"])
def test_a_series_in_another_order_is_refused(name, column):
    if column not in inspect.signature(getattr(m, name)).parameters:
        return
    given = {"protected": SEX, "sample_weight": pd.Series(np.ones(N))}
    with pytest.raises(ValueError, match=f"{column} has the index of y_pred in another order"):
        _call(name, y_pred=pd.Series(Y), **{column: given[column].iloc[REORDERED]})


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_a_table_in_another_order_is_refused(name, table):
    with pytest.raises(ValueError, match=f"{table} has the index of y_pred in another order"):
        _call(name, y_pred=pd.Series(Y), **{table: X.iloc[REORDERED]})


def test_the_twin_test_needs_an_object_with_predict():
    with pytest.raises(TypeError, match="estimator must be an object with predict, got <function"):
        m.twin_test(lambda rows: rows["age"] > 3, X.assign(sex=SEX), protected="sex")


def test_an_index_with_other_labels_says_nothing_about_the_order():
    there = m.mean_difference(None, Y, protected=SEX)
    assert m.mean_difference(None, pd.Series(Y, np.arange(N) + 5), protected=SEX) == there
    same = pd.Series(Y, SEX.index[REORDERED]), SEX.set_axis(SEX.index[REORDERED])
    assert m.mean_difference(None, same[0], protected=same[1]) == there


def test_a_scorer_refuses_labels_in_another_order():
    model = DummyClassifier().fit(X, Y)
    scorer = m.get_scorer("neg_abs_equal_opportunity", protected=["age"])
    with pytest.raises(ValueError, match="y_true has the index of X in another order"):
        scorer(model, X, pd.Series(Y).iloc[REORDERED])


LABELED = [name for name, entry in CATALOGUE.items() if entry.needs_labels]


@pytest.mark.parametrize("name", LABELED)
def test_labels_are_classes_but_where_residuals_are_compared(name):
    """Rates of "favorable" incomes of 30,000 were errors about counts, or numbers."""
    draw = np.random.default_rng(0)
    incomes, score, sex = draw.normal(size=40), draw.random(40), ["f", "m"] * 20
    for function in (getattr(m, name), getattr(m, f"{name}_report")):
        if name == "balanced_residuals":
            function(incomes, score, protected=sex)
            continue
        for pos_label in ("auto", None, 1, [1, 2]):
            with pytest.raises(ValueError, match=f"{name} .*with a threshold first"):
                function(incomes, score, protected=sex, pos_label=pos_label)
