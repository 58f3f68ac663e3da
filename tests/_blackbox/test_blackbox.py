"""BlackBox and Queries: whatever decides is asked alike, counted, and never believed blindly."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skdisc import BlackBox, Budget, FeatureSpace
from skdisc._blackbox._blackbox import AuditedModel, resolve
from skdisc._blackbox._queries import Queries
from skdisc.exceptions import ModelError, SkdiscWarning, SurrogateWarning

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "income": np.arange(100) / 10,
        "sex": rng.integers(0, 2, 100),
        "race": rng.integers(0, 3, 100),
    }
)
y = (X["income"] + X["sex"] > 5).astype(int).to_numpy()
names = np.where(y, "yes", "no")
space = FeatureSpace.from_frame(X, protected=["sex"])
array_space = FeatureSpace.from_frame(X, protected=["sex"], is_frame=False)


def queries(model, favorable=(1,), *, in_space=space, chunk_size=100_000, n_jobs=None, **options):
    box = model
    if not isinstance(model, BlackBox):
        box = BlackBox(model, chunk_size=chunk_size, n_jobs=n_jobs)
    return Queries(box, list(favorable), in_space, Budget(), **options)


def answers(model, favorable=(1,), frame=X, **options):
    return queries(model, favorable, **options).ask(frame)


def rule(frame):
    return (frame["income"] + frame["sex"] > 5).to_numpy()


class Only:
    """An object with nothing but the given methods."""

    def __init__(self, **methods):
        for name, method in methods.items():
            setattr(self, name, method)


def chances(frame):
    p = 1 / (1 + np.exp(-(frame["income"] + frame["sex"] - 5)))
    return np.column_stack([1 - p, p])


# Everything that decides


KINDS = {
    "fitted on a frame": (LogisticRegression().fit(X, y), 1),
    "fitted on an array": (LogisticRegression().fit(X.to_numpy(), y), 1),
    "forest": (RandomForestClassifier(5, random_state=0).fit(X, y), 1),
    "labels": (LogisticRegression().fit(X, names), "yes"),
    "frozen": (FrozenEstimator(LogisticRegression().fit(X, y)), 1),
    "search": (GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2).fit(X, y), 1),
    "pipeline": (make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y), 1),
    "pipeline that drops a column": (
        make_pipeline(
            make_column_transformer(("passthrough", ["income", "sex"])), LogisticRegression()
        ).fit(X, y),
        1,
    ),
    "pipeline that wants a frame": (
        make_pipeline(FunctionTransformer(lambda f: f[["income"]]), LogisticRegression()).fit(X, y),
        1,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_fitted_model_answers_as_it_predicts(kind):
    model, favorable = KINDS[kind]
    rows = X.to_numpy() if kind == "fitted on an array" else X
    assert answers(model, [favorable]).tolist() == (model.predict(rows) == favorable).tolist()
    chance = answers(model, [favorable], output="probability")
    assert chance == pytest.approx(
        model.predict_proba(rows)[:, list(model.classes_).index(favorable)]
    )


@pytest.mark.parametrize(
    "model",
    [
        rule,
        lambda f: rule(f).astype(int),
        lambda f: rule(f).astype(float),
        lambda f: pd.Series(rule(f), index=f.index),
        lambda f: pd.Series(rule(f)).astype("boolean"),
        lambda f: rule(f).tolist(),
        lambda f: rule(f)[:, None],
        Only(predict=rule),
        Only(predict_proba=chances),
        Only(predict_proba=lambda f: chances(f)[:, 1]),
        Only(decision_function=lambda f: f["income"] + f["sex"] - 5),
        Only(decision_function=lambda f: -2 * chances(f)[:, ::-1]),
        LinearSVC().fit(X, y).predict,
        BlackBox(rule),
        BlackBox(BlackBox(rule)),
    ],
)
def test_objects_and_callables(model):
    wanted = y if "LinearSVC" not in repr(model) else LinearSVC().fit(X, y).predict(X)
    assert answers(model).tolist() == wanted.tolist()


def test_callables_may_return_labels():
    assert answers(lambda f: np.where(rule(f), "yes", "no"), ["yes"]).tolist() == y.tolist()
    assert answers(lambda f: pd.Series(names), ["no"]).tolist() == (1 - y).tolist()
    assert answers(lambda f: pd.Categorical(names), ["no"]).tolist() == (1 - y).tolist()


def test_callables_may_return_probabilities():
    half = answers(lambda f: chances(f)[:, 1], output="probability")
    assert half == pytest.approx(chances(X)[:, 1])


def test_any_of_several_labels_may_be_favorable():
    three = np.array(["a", "b", "c"])[X["race"]]
    model = DecisionTreeClassifier(random_state=0).fit(X, three)
    assert answers(model, ["a", "c"]).tolist() == (three != "b").tolist()
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[["income"]], three)
    both = tree.predict_proba(X[["income"]])[:, [0, 2]].sum(axis=1)
    assert answers(tree, ["a", "c"], output="probability") == pytest.approx(both)


def test_the_likeliest_label_decides():
    p = np.array([[0.4, 0.3, 0.3], [0.2, 0.5, 0.3]])
    model = Only(predict_proba=lambda f: p, classes_=["a", "b", "c"])
    assert answers(model, ["b", "c"], frame=X[:2]).tolist() == [0, 1]
    assert answers(model, ["b", "c"], frame=X[:2], output="probability") == pytest.approx(
        [0.6, 0.8]
    )
    margins = Only(decision_function=lambda f: np.log(p), classes_=["a", "b", "c"])
    assert answers(margins, ["b", "c"], frame=X[:2]).tolist() == [0, 1]


def test_columns_are_numbered_where_the_classes_are_unknown():
    p = np.array([[0.4, 0.6], [0.7, 0.3]])
    model = Only(predict_proba=lambda f: p)
    assert answers(model, [0], frame=X[:2], output="probability").tolist() == [0.4, 0.7]
    assert answers(model, [True], frame=X[:2], output="probability").tolist() == [0.6, 0.3]


def test_what_cannot_decide_is_refused():
    for thing in (5, "model", object()):
        with pytest.raises(TypeError, match=r"A \w+ cannot be audited: it has none of predict, "):
            BlackBox(thing)


# Its own columns, in its own container


class Spy:
    """Remembers what it is asked."""

    def __init__(self):
        self.asked = []

    def predict(self, rows):
        self.asked.append(rows)
        return np.ones(len(rows), dtype=int)


def test_columns_are_picked_by_name():
    model = LogisticRegression().fit(X[["sex", "income"]], y)
    wanted = model.predict(X[["sex", "income"]])
    assert answers(model).tolist() == wanted.tolist()
    shuffled = X[["race", "income", "sex"]].assign(more=1)
    assert answers(model, frame=shuffled).tolist() == wanted.tolist()


def test_the_container_is_the_one_the_model_knows():
    spy = Spy()
    answers(spy)
    answers(spy, in_space=array_space)
    spy.n_features_in_ = 3
    answers(spy)
    spy.feature_names_in_ = np.array(["race", "sex"])
    answers(spy)
    assert [type(rows) for rows in spy.asked] == [
        pd.DataFrame,
        np.ndarray,
        np.ndarray,
        pd.DataFrame,
    ]
    assert list(spy.asked[-1]) == ["race", "sex"]


def test_a_named_model_and_rows_of_an_array():
    model = LogisticRegression().fit(X, y)
    unnamed = X.set_axis(["x0", "x1", "x2"], axis=1)
    assert answers(model, frame=unnamed, in_space=array_space).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("fitted_on", "message"),
    [
        (
            X.assign(town=1),
            r"fitted on the columns \['income', 'sex', 'race', 'town'\], but X has 3",
        ),
        (X.to_numpy()[:, :2], r"fitted on 2 features, but X has 3 columns \(\['income', "),
        (X.rename(columns={"sex": "gender"}), r"fitted on the columns \['income', 'gender'"),
    ],
)
def test_columns_that_the_model_needs_and_lacks(fitted_on, message):
    model = LogisticRegression().fit(fitted_on, y)
    with pytest.raises(ValueError, match=message + ".*Fit the model on a DataFrame"):
        answers(model)


# Counting


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
@pytest.mark.parametrize("chunk_size", [1, 7, 50, 100, 1000])
def test_chunks_and_threads_change_nothing_but_the_chunks(chunk_size, n_jobs):
    sizes = []

    def model(frame):
        sizes.append(len(frame))
        return rule(frame)

    asked = queries(model, chunk_size=chunk_size, n_jobs=n_jobs)
    assert asked.ask(X).tolist() == y.tolist()
    assert asked.budget.queries == sum(sizes) == 100
    assert max(sizes) == min(chunk_size, 100)
    assert len(sizes) == -(-100 // chunk_size)


def test_threads_belong_to_the_model():
    box = BlackBox(rule, n_jobs=3)
    assert (box.n_jobs, BlackBox(box).n_jobs, BlackBox(box, n_jobs=2).n_jobs) == (3, 3, 2)
    assert BlackBox(rule).n_jobs is None
    training = pd.DataFrame({"a": [0, 1, 2, 3]}), [0, 0, 1, 1]
    trained = BlackBox.trained(LogisticRegression(), *training, n_jobs=2)
    assert trained.n_jobs == 2
    audited = AuditedModel(trained, "refit", [0, 1], [1])
    assert audited.retrained(training[0]).box.n_jobs == 2
    resolved, kind = resolve(BlackBox(LogisticRegression(), n_jobs=2), None, *training)
    assert (kind, resolved.n_jobs) == ("refit", 2)
    for wrong in (0, 1.5, "2"):
        with pytest.raises(ValueError, match=f"n_jobs must be a number of threads.*{wrong}"):
            BlackBox(rule, n_jobs=wrong)


def test_no_row_is_asked_twice():
    seen = []

    def model(frame):
        seen.extend(frame.itertuples(index=False))
        return rule(frame)

    asked = queries(model)
    twice = pd.concat([X, X[::-1]])
    assert asked.decide(twice).tolist() == [*y, *y[::-1]]
    assert asked.budget.queries == len(seen) == len(set(seen)) == 100
    assert asked.decide(X[10:20]).tolist() == y[10:20].tolist()
    assert asked.budget.queries == 100
    new = X[:3].assign(race=7)
    assert asked.decide(pd.concat([new, X[:3]])).tolist() == [*rule(new), *y[:3]]
    assert asked.budget.queries == len(seen) == 103


@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from(["a", "b", None]), max_size=8), max_size=4))
def test_answers_do_not_depend_on_who_was_asked_before(batches):
    asked = queries(lambda f: f["a"].isna())
    for batch in batches:
        frame = pd.DataFrame({"a": pd.Series(batch, dtype=object)})
        assert asked.decide(frame).tolist() == [v is None for v in batch]
    assert asked.budget.queries == len({v for batch in batches for v in batch})


def test_ask_asks_every_row():
    asked = queries(rule)
    asked.ask(X)
    asked.ask(X)
    assert asked.budget.queries == 200


def test_no_rows_no_question():
    def model(frame):
        raise AssertionError("asked")

    asked = queries(model)
    assert len(asked.ask(X[:0])) == len(asked.decide(X[:0])) == asked.budget.queries == 0


def test_the_extreme_answers_are_remembered():
    asked = queries(lambda f: chances(f)[:, 1], output="probability")
    assert asked.lowest > asked.highest
    asked.ask(X[:10])
    asked.decide(X[5:])
    assert (asked.lowest, asked.highest) == (chances(X)[:, 1].min(), chances(X)[:, 1].max())


@pytest.mark.parametrize(
    ("model", "rows", "constant"),
    [
        (lambda f: np.ones(len(f)), 5, True),
        (lambda f: np.zeros(len(f)), 5, True),
        (lambda f: np.ones(len(f)), 1, False),
        (rule, 100, False),
    ],
)
def test_answers_that_never_differ(model, rows, constant):
    asked = queries(model)
    assert not asked.constant
    asked.ask(X[:rows])
    assert asked.constant == constant


def test_each_audit_counts_its_own():
    box = BlackBox(rule)
    first, second = queries(box), queries(box)
    first.ask(X)
    second.decide(X[:5])
    assert (first.budget.queries, second.budget.queries) == (100, 5)


# Decisions already taken


def test_decisions_answer_for_their_rows_only():
    asked = queries(BlackBox(decisions=pd.Series(names, index=range(100, 200))), ["yes"])
    assert asked.given(X).tolist() == y.tolist()
    assert asked.budget.queries == 0
    with pytest.raises(ValueError, match=r"holds 100 decisions for 99 rows.*one decision per row"):
        asked.given(X[1:])
    for ask in (asked.ask, asked.decide):
        with pytest.raises(ValueError, match=r"cannot be queried about new ones.*Pass a model"):
            ask(X)


def test_decisions_stay_with_their_rows():
    stay = np.arange(100) % 3 > 0
    box = BlackBox(decisions=y)
    assert box.aligned(X, np.ones(100, dtype=bool)) is box
    assert box.aligned(X, stay).decisions.tolist() == y[stay].tolist()
    model = BlackBox(rule)
    assert model.aligned(X, stay) is model
    short = BlackBox(decisions=y[:99])
    assert short.aligned(X, stay) is short  # told when they are used


def test_decisions_with_an_index_of_their_own():
    box = BlackBox(decisions=pd.Series(y, index=X.index))
    assert box.aligned(X, np.ones(100, dtype=bool)) is box
    other = BlackBox(decisions=pd.Series(y, index=X.index[::-1]))
    message = r"a Series whose index is not that of X\. .*decisions\.reindex\(X\.index\)"
    for stay in (np.ones(100, dtype=bool), np.arange(100) > 5):
        with pytest.raises(ValueError, match=message):
            other.aligned(X, stay)
        with pytest.raises(ValueError, match=message):
            BlackBox(other).aligned(X, stay)
    assert other.aligned(X.to_numpy(), np.ones(100, dtype=bool)) is other


def test_a_model_is_asked_where_there_are_no_decisions():
    asked = queries(rule)
    assert asked.given(X).tolist() == y.tolist()
    assert asked.budget.queries == 100


@pytest.mark.parametrize(
    ("decisions", "error", "message"),
    [
        ([1, None, 0], ValueError, r"Input decisions contains NaN: 1 label\(s\).* in row 1\."),
        ([0.2, 0.7, 0.1], ValueError, r"decisions holds continuous values, e\.g\. 0\.2; .* >= thr"),
        ([[1, 0], [0, 1]], ValueError, r"should be a 1d array"),
        (1, ValueError, r"should be a 1d array"),
    ],
)
def test_bad_decisions(decisions, error, message):
    with pytest.raises(error, match=message):
        BlackBox(decisions=decisions)


@pytest.mark.parametrize("dtype", [bool, "boolean", "Int64", "category", object, "bool[pyarrow]"])
def test_decisions_of_every_dtype(dtype):
    asked = queries(BlackBox(decisions=pd.Series(y).astype(bool).astype(dtype)))
    assert asked.given(X).tolist() == y.tolist()


# What is no answer


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda f: 1 / 0, r"raised ZeroDivisionError for a query of 100 rows: division by zero"),
        (lambda f: [1, 0], r"function returned 2 values for 100 rows; one per row is needed"),
        (lambda f: 1, r"function returned one value for 100 rows"),
        (lambda f: None, r"function returned one value for 100 rows"),
        (lambda f: np.where(y, 1, np.nan), r"returned NaN for 46 of 100 rows"),
        (lambda f: np.where(y, "a", None), r"returned NaN for 46 of 100 rows"),
        (lambda f: pd.array(np.where(y, 1, None), "Int64"), r"returned NaN for 46 of 100 rows"),
        (lambda f: np.ones((100, 2)), r"returned an array of shape \(100, 2\); one decision per"),
        (lambda f: np.ones((100, 1, 1)), r"returned an array of shape \(100, 1, 1\)"),
        (lambda f: f["income"], r"returned 0\.1, which is not a decision.* >= threshold"),
        (lambda f: np.full(100, np.inf), r"returned inf, which is not a decision"),
        (lambda f: names, r"'no', but the favorable label is 1, of another type"),
        (lambda f: [[1], [2, 3]], r"raised ValueError for a query of 100 rows"),
        (
            LinearRegression().fit(X, y),
            r"LinearRegression returned -?0\.\d+, which is not",
        ),
        (FrozenEstimator(LogisticRegression()), r"raised NotFittedError for a query"),
        (Only(predict_proba=lambda f: chances(f) + 1), r"outside \[0, 1\], from 1\.\d+ to 1\.99"),
        (
            Only(predict_proba=lambda f: -chances(f)),
            r"Only returned probabilities outside \[0, 1\]",
        ),
        (Only(predict_proba=lambda f: chances(f) * np.nan), r"returned NaN for 100 of 100 rows"),
        (Only(predict_proba=lambda f: names), r"array of \S+ of shape \(100,\); one probability"),
        (Only(predict_proba=lambda f: chances(f)[:5]), r"returned 5 values for 100 rows"),
        (Only(decision_function=lambda f: [0.5]), r"returned 1 values for 100 rows"),
        (Only(decision_function=lambda f: np.full(100, np.nan)), r"NaN for 100 of 100 rows"),
    ],
)
def test_no_answer(model, message):
    with pytest.raises(ModelError, match=message):
        answers(model)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            lambda f: rule(f) * 2,
            r"function returned probabilities outside \[0, 1\], from 0 to 2",
        ),
        (lambda f: rule(f) - 0.5, r"outside \[0, 1\], from -0\.5 to 0\.5"),
        (lambda f: names, r"one probability per row, or per row and label, is needed"),
    ],
)
def test_no_probability(model, message):
    with pytest.raises(ModelError, match=message):
        answers(model, output="probability")


def test_rounding_is_no_mistake():
    model = Only(predict_proba=lambda f: np.full((100, 2), [-1e-12, 1 + 1e-12]))
    assert answers(model).tolist() == [1] * 100


@pytest.mark.parametrize("output", ["decision", "probability"])
@pytest.mark.parametrize(
    ("model", "favorable"),
    [
        (Only(predict_proba=chances), "yes"),
        (Only(predict_proba=chances), 2),
        (Only(predict_proba=chances, classes_=["a", "b", "c"]), "a"),
    ],
)
def test_columns_of_unknown_labels(model, favorable, output):
    message = r"returns 2 columns, and it is not known which .*Set classes_, in the order"
    with pytest.raises(ModelError, match=message):
        answers(model, [favorable], output=output)


def test_margins_of_unknown_labels():
    with pytest.raises(ModelError, match=r"favorable label 'yes'\. Set classes_"):
        answers(Only(decision_function=lambda f: f["income"]), ["yes"])


def test_answers_of_another_kind_than_the_labels():
    """Never equal to the favorable label, they would read as unfavorable, and as fair."""
    with pytest.raises(ModelError, match=r"returned False, but the favorable label is 'yes', of a"):
        answers(rule, ["yes"])
    with pytest.raises(
        ModelError, match=r"returned 'no', but .* True, .*Return labels of that type"
    ):
        answers(lambda f: names, [True])


def test_labels_that_are_known():
    assert answers(rule, labels=[0, 1]).tolist() == y.tolist()
    message = r"returned 2, which is none of the labels \[0, 1\]\. Return labels, or set"
    with pytest.raises(ModelError, match=message):
        answers(lambda f: rule(f) + 1, labels=[0, 1])


@pytest.mark.parametrize("model", [Only(predict=rule), LinearSVC().fit(X, y)])
def test_probabilities_of_a_model_that_has_none(model):
    message = r"needs a model with predict_proba; \w+ has none\. Use output='decision'"
    with pytest.raises(ValueError, match=message):
        answers(model, output="probability")


def test_an_error_in_a_thread_is_the_same_error():
    def model(frame):
        raise KeyError("town")

    with pytest.raises(ModelError, match=r"raised KeyError for a query of 10 rows: 'town'") as info:
        answers(model, chunk_size=10, n_jobs=2)
    assert info.value.__cause__ is not None
    with pytest.raises(ModelError, match="KeyError") as info:
        answers(model)
    assert isinstance(info.value.__cause__, KeyError)


def test_a_model_error_is_a_value_error():
    assert issubclass(ModelError, ValueError)
    assert issubclass(SurrogateWarning, SkdiscWarning)
    assert issubclass(SkdiscWarning, UserWarning)


# The wrapper


def test_a_black_box_is_never_taken_for_data():
    box = BlackBox(RandomForestClassifier().fit(X, y))
    assert not hasattr(box, "__len__")
    assert not hasattr(box, "predict")
    assert not hasattr(box, "shape")
    with pytest.raises(TypeError):
        len(box)


def test_repr():
    assert repr(BlackBox(LogisticRegression())) == "BlackBox(LogisticRegression)"
    assert repr(BlackBox(decisions=y)) == "BlackBox(decisions=100 rows)"


def test_a_box_in_a_box_is_one_box():
    decisions = BlackBox(BlackBox(decisions=y))
    assert decisions.model is None
    assert decisions.decisions.tolist() == y.tolist()
    assert BlackBox(BlackBox(rule), chunk_size=5).chunk_size == 5
    assert BlackBox(BlackBox(rule)).model is rule


def test_classes():
    assert BlackBox(LogisticRegression().fit(X, names)).classes == ["no", "yes"]
    assert BlackBox(decisions=[2, 0, 2]).classes == [0, 2]
    assert BlackBox(rule).classes is None
    assert BlackBox(LogisticRegression().fit(X, y)).has_probabilities
    assert not BlackBox(LinearSVC().fit(X, y)).has_probabilities
    assert not BlackBox(Only(predict_proba=chances)).has_probabilities
    assert not BlackBox(decisions=y).has_probabilities


@pytest.mark.parametrize("options", [{}, {"model": rule, "decisions": [0, 1]}])
def test_a_model_or_decisions(options):
    with pytest.raises(TypeError, match=r"needs either a model or decisions=, and not both"):
        BlackBox(**options)


@pytest.mark.parametrize("size", [0, -1, 2.5, None, "many"])
def test_chunk_size_must_be_a_number_of_rows(size):
    with pytest.raises(ValueError, match=r"chunk_size must be an integer >= 1, got "):
        BlackBox(rule, chunk_size=size)


# What is audited


def test_a_fitted_model_is_used_as_it_is():
    model = LogisticRegression().fit(X, y)
    for thing in (model, make_pipeline(model), FrozenEstimator(model), Only(predict=rule), rule):
        box, audited = resolve(thing, DecisionTreeClassifier(), X, y)
        assert audited == "model"
        assert box.model is thing
    box = BlackBox(model, chunk_size=7)
    assert resolve(box, None, X, None) == (box, "model")


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: BlackBox(m, chunk_size=7)])
def test_an_unfitted_model_is_cloned_and_fitted(wrap):
    model = LogisticRegression(C=0.5)
    box, audited = resolve(wrap(model), None, X, y)
    assert audited == "refit"
    assert box.model is not model
    assert box.model.C == 0.5
    assert not hasattr(model, "coef_")
    assert np.array_equal(box.model.coef_, clone(model).fit(X, y).coef_)
    assert box.chunk_size == (7 if isinstance(wrap(model), BlackBox) else 100_000)


def test_an_estimator_is_cloned_and_fitted():
    estimator = LogisticRegression()
    box, audited = resolve(None, estimator, X, y)
    assert audited == "refit"
    assert box.model is not estimator
    assert not hasattr(estimator, "coef_")


def test_a_frozen_estimator_is_used_as_it_is():
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    box, audited = resolve(None, frozen, X, None)
    assert (box.model, audited) == (frozen, "model")


def test_a_fitted_estimator_that_is_not_frozen_warns():
    estimator = LogisticRegression().fit(X, 1 - y)
    message = r"LogisticRegression is already fitted.*fit\(X, y, model=\.\.\.\).*FrozenEstimator"
    with pytest.warns(SurrogateWarning, match=message):
        box, audited = resolve(None, estimator, X, y)
    assert audited == "refit"
    assert answers(box).tolist() == LogisticRegression().fit(X, y).predict(X).tolist()


def test_the_warning_points_at_the_caller():
    from skdisc.subgroup import DivExplorer

    detector = DivExplorer(LogisticRegression().fit(X, y), protected=["sex"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        detector.fit(X, y)
    assert [w.filename for w in caught if w.category is SurrogateWarning] == [__file__]


def test_decisions_are_audited_as_they_are():
    box = BlackBox(decisions=y)
    assert resolve(box, LogisticRegression(), X, y) == (box, "decisions")


def test_with_nothing_else_the_labels_are_audited():
    assert resolve(None, None, X, y) == (None, "labels")
    assert resolve(None, None, X, None) == (None, "labels")


def test_a_surrogate_stands_in_where_questions_must_be_asked():
    box, audited = resolve(None, None, X, y, surrogate_X=X)
    assert audited == "surrogate"
    assert (answers(box) == y).mean() > 0.9


@pytest.mark.parametrize(
    ("model", "estimator", "frame", "surrogate_X"),
    [
        (LogisticRegression(), None, X, None),
        (BlackBox(LogisticRegression()), None, X, None),
        (None, LogisticRegression(), X, None),
        (None, None, X, X),
        (None, None, None, None),
    ],
)
def test_nothing_is_fitted_without_labels(model, estimator, frame, surrogate_X):
    message = (
        r"requires y to be passed, but the target y is None: .*Pass a fitted model as model=, or y"
    )
    with pytest.raises(ValueError, match=message):
        resolve(model, estimator, frame, None, surrogate_X)


def test_an_unfitted_thing_that_is_no_estimator_is_asked_as_it_is():
    thing = Only(predict=rule, fit=lambda X, y: None)
    assert resolve(thing, None, X, y)[1] == "model"
    with pytest.raises(NotFittedError):
        LogisticRegression().predict(X)
