"""Bad input gets a clear error, or the behaviour that is documented, from every detector.

A message says what was got, what is allowed, what to do. Files and the command line are tested
in test_files.py and test_cli.py.
"""

import json
import math
from datetime import date
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from documents import breaches
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from skdisc import Audit, BlackBox, FeatureSpace, Limits, Rule, all_detectors
from skdisc.exceptions import ModelError
from skdisc.group import GroupDisparity
from skdisc.individual import KOSEI, Themis
from skdisc.subgroup import DivExplorer

N = 200
rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "income": rng.integers(0, 100, N),
        "sex": rng.choice(["F", "M"], N),
        "town": rng.choice(["A", "B", "C"], N),
    }
)
y = (X["income"] + 20 * (X["sex"] == "M") > 60).astype(int).to_numpy()
names = np.where(y, "yes", "no")

LITTLE = {"limits": Limits(tests=200), "rule": Rule(significance=0.4), "random_state": 0}
MAKE = {
    "Themis": lambda **k: Themis(**{"protected": "sex", **LITTLE, **k}),
    "KOSEI": lambda **k: KOSEI(**{"protected": "sex", **LITTLE, **k}),
    "DivExplorer": lambda **k: DivExplorer(**{"protected": "sex", **k}),
}
SEARCHES = ("Themis", "KOSEI")


@pytest.fixture(name="make", params=MAKE)
def detector(request):
    return MAKE[request.param]


@pytest.fixture(name="search", params=SEARCHES)
def search_detector(request):
    return MAKE[request.param]


class Model:
    """Reads sex and income, whatever the dtype, and counts the rows it is asked about."""

    classes_ = np.array([0, 1])

    def __init__(self):
        self.asked = 0

    def predict(self, frame):
        self.asked += len(frame)
        bonus = [20 * (str(sex) in ("M", "True")) for sex in frame["sex"]]
        income = frame["income"].to_numpy(dtype=float, na_value=0)
        return (income + np.array(bonus) > 60).astype(int)


class Broken(Model):
    """Answers with what it is given."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def predict(self, frame):
        return self.answer(frame)


def refused(make, frame, labels, message, error=ValueError, model=None, **options):
    """Assert the error with and without a model: neither may hide a mistake in the data."""
    for given in {None, model} if model else [None, Model()]:
        with pytest.raises(error, match=message):
            make(**options).fit(frame, labels, given)


# The table


def test_no_rows(make):
    message = r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"
    refused(make, X[:0], y[:0], message)
    with pytest.raises(ValueError, match=message):
        make().fit(X, y, Model()).audit(X[:0], y[:0])


def test_no_columns(make):
    refused(make, X[[]], y, r"0 feature\(s\) \(shape=\(200, 0\)\) while a minimum of 1 is required")


def test_one_row(make):
    message = r"Found 1 sample \(n_samples = 1\) while a minimum of 2 is required: .*Pass more rows"
    refused(make, X[:1], y[:1], message)


def test_one_row_to_audit_is_too_little_to_say_anything(make):
    result = make().fit(X, y, Model()).audit(X[:1], y[:1])
    assert result.n_samples == 1
    assert result.verdict in ("disparity found", "insufficient evidence")


@pytest.mark.parametrize("frame", [None, X["income"], X["income"].to_numpy(), {"a": [1]}, 5])
def test_what_is_no_table(make, frame):
    message = r"Expected 2D array|Expected a 2-dimensional container|must be a table .*, got dict"
    refused(make, frame, y, message)


def test_a_path_of_no_file(make):
    refused(make, "X.csv", y, "There is no file 'X.csv'")


def test_columns_of_the_same_name(make):
    doubled = X.set_axis(["income", "sex", "sex"], axis=1)
    refused(
        make, doubled, y, r"several columns named \['sex'\]\. Rename or drop all but one of each"
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "Float64", "double[pyarrow]"])
def test_infinity(make, dtype):
    endless = X.assign(income=X["income"].astype("float64").where(X.index != 3, np.inf))
    endless = endless.astype({"income": dtype})
    message = (
        r"X contains infinity: column 'income', row 3\. Replace it by a number or by a missing"
    )
    refused(make, endless, y, message)
    with pytest.raises(ValueError, match=message):
        make().fit(X, y, Model()).audit(endless, y)


def test_infinity_in_an_array(make):
    array = np.column_stack([np.where(y, np.inf, 0), rng.integers(0, 2, N)])
    refused(make, array, y, r"contains infinity", protected=[1], model=lambda rows: rows[:, 1])


def test_mixed_types_in_a_column(make):
    mixed = X.assign(town=pd.Series(["A", 1] * (N // 2), dtype=object))
    message = r"Column 'town' .* mixes .* \(int, str\): .*one kind per column.*X\['town'\]\.astype"
    refused(make, mixed, y, message, TypeError)


@pytest.mark.parametrize("cell", [{}, [1], b"a", date(2020, 1, 1), 1j])
def test_cells_that_are_no_values(make, cell):
    strange = X.assign(town=pd.Series([cell] * N, dtype=object))
    refused(make, strange, y, r"'town' \(object\) mixes or holds unsupported types", TypeError)


@pytest.mark.parametrize(
    "dates", [pd.date_range("2020", periods=N), pd.date_range("2020", periods=N, tz="UTC")]
)
def test_dates(make, dates):
    message = r"Column 'town' holds dates \(datetime64.* Turn it into a number or a category"
    refused(make, X.assign(town=dates), y, message, TypeError)


def test_ranges_as_categories(make):
    ranges = X.assign(income=pd.cut(X["income"], 4))
    as_text = ranges.assign(income=ranges["income"].cat.rename_categories(str))
    found = [make().fit(rows, y).result_ for rows in (ranges, as_text)]
    assert found[0].n_tested == found[1].n_tested > 0
    assert found[0].to_frame().equals(found[1].to_frame())
    bare = X.assign(income=pd.arrays.IntervalArray(ranges["income"]))
    message = r"'income' \(interval\[.* unsupported types \(Interval\).*astype\(str\)"
    refused(make, bare, y, message, TypeError)


def test_sparse(make):
    message = r"Sparse data was passed for X, but dense data is required\. Use '\.toarray\(\)'"
    for matrix in (sparse.csr_matrix(np.eye(4)), sparse.coo_array(np.eye(4))):
        refused(make, matrix, [0, 1, 0, 1], message, TypeError, protected=[0])
    column = X.assign(income=pd.arrays.SparseArray(X["income"]))
    refused(make, column, y, r"'income' is sparse, .*Pass dense data", TypeError)


def test_missing_values_that_the_estimator_does_not_take(make):
    holes = X.assign(income=X["income"].where(X["income"] > 9))[["income", "sex"]]
    holes["sex"] = (holes["sex"] == "M").astype(int)
    message = r"column 'income' has missing values, which LogisticRegression does not accept\. Put"
    with pytest.raises(ValueError, match=message):
        make(estimator=LogisticRegression()).fit(holes, y)


# Protected columns


@pytest.mark.parametrize(
    ("protected", "message"),
    [
        (
            "gender",
            r"protected='gender' is not a column of X\. Columns: \['income', 'sex', 'town'\]",
        ),
        (["sex", "twon"], r"protected='twon' is not a column of X; did you mean 'town'\? Columns"),
        (3, r"protected=3 is not a column of X"),
        ([], r"protected must name at least one column, got \[\]\. Columns: \['income', "),
    ],
)
def test_protected_that_is_not_there(make, protected, message):
    refused(make, X, y, message, protected=protected)


def test_searches_need_protected_columns(search):
    refused(search, X, y, r"needs protected=\[\.\.\.\]: the columns whose values", protected=None)


@pytest.mark.parametrize("value", ["F", None])
def test_a_constant_protected_column(make, value):
    message = rf"protected column 'sex' has one value only \({value!r}\): there is no other"
    refused(make, X.assign(sex=pd.Series([value] * N, dtype=object)), y, message)


def test_a_protected_column_that_is_constant_without_its_missing_values(make):
    halves = X.assign(sex=X["sex"].where(X["sex"] == "F"))
    refused(make, halves, y, r"'sex' has one value only \('F'\)", missing="drop")
    assert make(missing="category").fit(halves, y).result_.n_tested > 0


def test_missing_protected_values(make):
    holes = X.assign(sex=X["sex"].where(X.index > 9))
    message = r"10 of 200 rows have a missing value in the protected columns .*missing='drop'"
    refused(make, holes, y, message, missing="raise")
    refused(make, X.assign(sex=np.nan), y, "200 of 200 rows have a missing value", missing="drop")
    result = make(missing="drop").fit(holes, y).result_
    assert result.n_samples == N - 10
    assert any("10 rows with a missing protected value were dropped" in n for n in result.notes)


def test_too_many_protected_combinations(search):
    crowd = pd.DataFrame({name: [f"{name}{i}" for i in range(N)] for name in "abc"})
    message = r"\[200, 200, 200\] values, that is, 8,000,000 combinations; at most 10,000"
    refused(search, crowd, y, message, protected=["a", "b", "c"], model=lambda f: f["a"] == "a1")


# Labels


AUDITS_LABELS = [
    name
    for name, kind in all_detectors().items()
    if not kind._asks and name != "CounterfactualFairness"  # which learns the outcome from causes
]


@pytest.mark.parametrize("name", AUDITS_LABELS)
@pytest.mark.parametrize(
    ("labels", "favorable"),
    [
        (np.ones(N, dtype=int), None),
        (np.zeros(N, dtype=int), None),
        (np.ones(N, dtype=bool), None),
        (["yes"] * N, "yes"),
        (["no"] * N, "yes"),
    ],
)
def test_decisions_that_are_all_the_same(name, labels, favorable):
    """Perhaps the rows of the other decision are missing: that nothing differs shows nothing."""
    kind = all_detectors()[name]
    offered = signature(kind).parameters
    settings = {"protected": "sex", "legitimate": ["income"], "pos_label": favorable}
    result = kind(**{k: v for k, v in settings.items() if k in offered}).fit(X, labels).result_
    assert result.verdict == "insufficient evidence"
    assert result.reason.startswith("all outcomes are equal")
    assert result.n_found == 0


@pytest.mark.parametrize("favorable", ["yes", "no"])
def test_an_audit_of_decisions_that_are_all_the_same(favorable):
    audit = Audit(protected="sex", pos_label=favorable, random_state=0).fit(X, ["yes"] * N)
    verdicts = {(row["verdict"], row["reason"]) for row in audit.report_.document["verdicts"]}
    assert verdicts == {("insufficient evidence", "all outcomes are equal")}
    assert {row["effect"] for row in audit.report_.document["comparable"]} == {None}
    page = audit.report_.to_markdown()
    assert "Cannot tell" in page
    assert "add the people whose outcomes differ" in page


def test_decisions_that_are_all_the_same_beside_labels_that_differ():
    decisions = BlackBox(decisions=np.ones(N, dtype=int))
    result = GroupDisparity(protected="sex").fit(X, np.arange(N) % 2, decisions).result_
    assert result.verdict == "insufficient evidence"
    assert result.reason == "by selection rate, all outcomes are equal"
    with pytest.raises(ValueError, match=r"y holds 'no', which is not among the labels \[1\]"):
        GroupDisparity(protected="sex").fit(X, names, decisions)
    later = DivExplorer(protected="sex").fit(X, np.ones(N, dtype=int)).audit(X, y)
    assert later.reason != "all outcomes are equal"


@pytest.mark.parametrize(
    ("labels", "favorable", "message"),
    [
        (names, "Yes", r"pos_label='Yes' never occurs; did you mean 'yes'\?"),
        (names, ["no", "yes"], r"names every label \['no', 'yes'\]"),
        (np.where(y, "good", "bad"), "yes", r"y holds 'bad', which is not among the labels"),
    ],
)
def test_labels_tell_a_typo_beside_decisions_that_are_all_the_same(labels, favorable, message):
    with pytest.raises(ValueError, match=message):
        GroupDisparity(protected="sex", pos_label=favorable).fit(
            X, labels, BlackBox(decisions=["yes"] * N)
        )


def test_later_decisions_tell_a_typo():
    for favorable in ("yess", "Yes"):
        detector = DivExplorer(protected="sex", pos_label=favorable).fit(X, ["no"] * N)
        with pytest.raises(ValueError, match=r"y holds 'yes', which is not among the labels"):
            detector.audit(X, names)
    right = DivExplorer(protected="sex", pos_label="yes")
    first, again = right.fit(X, ["no"] * N).audit(X, names), right.fit(X, names).result_
    columns = ["group", "estimate"]
    pd.testing.assert_frame_equal(first.tables["family"][columns], again.tables["family"][columns])


@pytest.mark.parametrize(("end", "favorable"), [("high", 1), ("low", 0)])
def test_an_end_of_codes_is_known_from_one_of_them(end, favorable):
    for decision in (0, 1):
        detector = GroupDisparity(protected="sex", pos_label=end).fit(X, [decision] * N)
        assert detector.pos_label_ == [favorable]


def test_a_document_of_labels_that_are_all_the_same_is_valid():
    audit = Audit(protected="sex", random_state=0).fit(X, np.ones(N, int), BlackBox(decisions=y))
    assert breaches(json.loads(audit.report_.to_json())) == []


def test_labels_of_one_class_train_no_model(search):
    with pytest.raises(ValueError, match=r"y has one class \(1\) in 200 rows.*Pass rows with both"):
        search().fit(X, np.ones(N, dtype=int))
    with pytest.raises(ValueError, match=r"one class \('a'\)"):
        search(estimator=DecisionTreeClassifier()).fit(X, ["a"] * N)


@pytest.mark.parametrize("labels", [y.astype(float), names.astype(object)])
def test_missing_labels(make, labels):
    holes = pd.Series(labels).where(X.index != 7)
    message = (
        r"Input y contains NaN: 1 label\(s\) are missing, the first in row 7\. Drop these rows"
    )
    refused(make, X, holes, message)


@pytest.mark.parametrize("labels", [y[1:], np.append(y, 1), []])
def test_lengths_that_differ(make, labels):
    refused(make, X, labels, r"inconsistent numbers of samples: \[200, (199|201|0)\]")
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples"):
        make().fit(X, y, Model()).audit(X, labels)


def test_continuous_labels(make):
    with pytest.raises(ValueError, match=r"y holds continuous values.*Compare it with a threshold"):
        make().fit(X, X["income"] / 7)


def test_labels_of_two_columns(make):
    refused(make, X, np.column_stack([y, y]), r"y should be a 1d array, got an array of shape")


def test_no_labels_and_no_model(make):
    with pytest.raises(ValueError, match=r"requires y to be passed, but the target y is None"):
        make().fit(X)


@pytest.mark.parametrize("labels", [y, names])
def test_a_favorable_value_that_never_occurs(make, labels):
    message = r"pos_label='maybe' never occurs\. Labels: \[(0, 1|'no', 'yes')\]"
    with pytest.raises(ValueError, match=message):
        make(pos_label="maybe").fit(X, labels)
    numbers = X.assign(sex=(X["sex"] == "M").astype(int))[["income", "sex"]]
    model = LogisticRegression().fit(numbers, labels)
    with pytest.raises(ValueError, match=message):
        make(pos_label="maybe").fit(numbers, labels, model)
    with pytest.raises(ValueError, match=r"pos_label=\[.*\] names every label .* is unfavorable"):
        make(pos_label=sorted(set(labels.tolist()))).fit(X, labels)


def test_a_favorable_value_of_another_kind_than_the_answers(make):
    message = r"returned (True|False), but the favorable label is 'yes', of another type\. Return l"
    for labels in (None, names):
        with pytest.raises(ModelError, match=message):
            make(pos_label="yes").fit(X, labels, lambda f: f["sex"] == "M")


def test_a_favorable_value_that_no_answer_has(make):
    """It may be the wrong one, so nothing found is no evidence."""
    result = make(pos_label=5).fit(X, None, lambda f: f["sex"] == "M").result_
    assert result.n_found == 0
    assert result.verdict == "insufficient evidence"
    assert any("returned the same outcome (unfavorable) for all" in note for note in result.notes)


def test_answers_that_are_none_of_the_labels(make):
    message = r"function returned \d+, which is none of the labels \[0, 1\]\. Return labels, or set"
    with pytest.raises(ModelError, match=message):
        make().fit(X, y, lambda f: f["income"] + 2)


def test_labels_that_are_coded_otherwise_than_decisions():
    message = r"y holds 'no', which is not among the labels \[0, 1\] of the decisions\. Code labels"
    with pytest.raises(ValueError, match=message):
        MAKE["DivExplorer"](metric="accuracy").fit(X, np.sort(names), Model())


# New rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f[["sex", "income", "town"]], r"must be in the same order as they were in fit"),
        (lambda f: f[["income", "sex"]], r"(?s)seen at fit time, yet now missing:.*town"),
        (lambda f: f.drop(columns="sex"), r"(?s)seen at fit time, yet now missing:.*sex"),
        (lambda f: f.assign(more=1), r"(?s)unseen at fit time:.*more"),
        (lambda f: f.rename(columns={"sex": "gender"}), r"(?s)unseen at fit time:.*gender"),
        (lambda f: f.assign(income="high"), r"Column 'income' held numbers at fit .* Convert it"),
        (lambda f: f.assign(sex=1), r"Column 'sex' held text at fit .* and is int64 now"),
    ],
)
def test_other_columns_at_audit(make, change, message):
    fitted = make().fit(X, y, Model())
    with pytest.raises(ValueError, match=message):
        fitted.audit(change(X), y)


@pytest.mark.parametrize("dtype", [object, "category"])
def test_unseen_categories_at_audit(search, dtype):
    """A town never seen changes nothing; a sex never seen is compared with those of fit."""
    fitted = search().fit(X.astype({"sex": dtype, "town": dtype}), y, Model())
    moved = fitted.audit(X.assign(town="Z").astype({"sex": dtype, "town": dtype}))
    in_reach = X["income"].between(41, 60)
    assert len(moved) == in_reach.sum()
    assert moved.to_frame("pairs")["town"].unique().tolist() == ["Z"]
    other = fitted.audit(X.assign(sex="X").astype({"sex": dtype, "town": dtype}))
    pairs = other.to_frame("pairs")
    assert len(other) == in_reach.sum()
    assert pairs["sex"].tolist() == ["X", "M"] * len(other)
    assert pairs["indv_key"].str.contains("=X").sum() == len(other)


@pytest.mark.parametrize("dtype", [object, "category"])
def test_a_protected_value_that_does_not_occur_at_audit(search, dtype):
    """Women alone are compared with men all the same, also where their dtype knows no men."""
    fitted = search().fit(X.astype({"sex": dtype}), y, Model())
    women = X[X["sex"] == "F"].astype({"sex": dtype})
    pairs = fitted.audit(women).to_frame("pairs")
    assert len(pairs) == 2 * women["income"].between(41, 60).sum()
    assert pairs["sex"].astype(str).tolist() == ["F", "M"] * (len(pairs) // 2)


def test_groups_that_do_not_occur_at_audit_are_undefined():
    fitted = MAKE["DivExplorer"]().fit(X, y, Model())
    result = fitted.audit(X.assign(sex="X"), y)
    assert result.verdict == "insufficient evidence"
    of_sex = [f for f in result if str(f.subject).count("sex = ")]
    assert of_sex
    assert all(math.isnan(f.effect) and f.support == 0 and f.direction == 0 for f in of_sex)


# Columns of every kind


DTYPES = {
    "object": object,
    "category": "category",
    "string": "string",
    "string[pyarrow]": "string[pyarrow]",
    "str": pd.Series(["a"]).dtype,
}


def summary(result):
    groups = result.to_frame().drop(columns="subject", errors="ignore")
    numbers = groups.select_dtypes("number").fillna(-9).round(12)
    return result.n_tested, result.n_found, result.verdict, numbers.to_numpy().tolist()


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype", DTYPES)
def test_text_of_every_dtype_gives_the_same(make, dtype):
    wanted = make().fit(X, y, Model()).result_
    typed = X.astype({"sex": DTYPES[dtype], "town": DTYPES[dtype]})
    assert summary(make().fit(typed, y, Model()).result_) == summary(wanted)
    assert make().fit(typed, y).result_.n_tested > 0


@pytest.mark.every(6)
@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_nullable_and_arrow_columns_give_the_same(make, backend):
    wanted = make().fit(X, y, Model()).result_
    typed = X.convert_dtypes(dtype_backend=backend)
    assert not any(isinstance(dtype, np.dtype) for dtype in typed.dtypes)
    assert summary(make().fit(typed, y, Model()).result_) == summary(wanted)
    assert make().fit(typed, y).result_.n_tested > 0


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype", [bool, "boolean", "bool[pyarrow]", object])
def test_booleans_give_the_same(make, dtype):
    wanted = make().fit(X, y, Model()).result_
    flags = X.assign(sex=(X["sex"] == "M").astype(dtype))
    result = make().fit(flags, y, Model()).result_
    assert (result.n_tested, result.n_found) == (wanted.n_tested, wanted.n_found)
    assert make().fit(flags, y).result_.n_tested > 0


@pytest.mark.parametrize("column", ["income", "town", "sex"])
def test_missing_values_are_a_value(make, column):
    holes = X.assign(**{column: X[column].where(X.index % 5 > 0)})
    result = make().fit(holes, y, Model()).result_
    assert result.n_samples == N
    if column == "sex":
        assert "sex=missing" in result.metrics["dsn_by_attr_value"]


@pytest.mark.every(3)
def test_a_column_without_any_value(make):
    for empty in (np.nan, None, pd.NA):
        result = make().fit(X.assign(nothing=empty), y).result_
        assert result.n_tested > 0


# The model


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda f: 1 / 0, r"model raised ZeroDivisionError for a query of \d+ rows: division by"),
        (lambda f: f["age"], r"model raised KeyError for a query of \d+ rows: 'age'"),
        (lambda f: [1], r"Broken returned 1 values for \d+ rows; one per row is needed"),
        (lambda f: np.ones(len(f) + 1), r"returned \d+ values for \d+ rows"),
        (lambda f: 1, r"Broken returned one value for \d+ rows"),
        (lambda f: np.full(len(f), np.nan), r"Broken returned NaN for (\d+) of \1 rows; each row"),
        (lambda f: np.ones((len(f), 2)), r"returned an array of shape \(\d+, 2\)"),
        (
            lambda f: np.full(len(f), 0.5),
            r"returned 0\.5, which is not a decision\. Return",
        ),
        (lambda f: np.full(len(f), "yes"), r"returned 'yes', but the favorable label is 1, of an"),
    ],
)
def test_a_model_that_does_not_answer(make, answer, message):
    with pytest.raises(ModelError, match=message):
        make().fit(X, y, Broken(answer))


class Chances(Model):
    def __init__(self, answer):
        super().__init__()
        self.predict_proba = answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda f: np.full((len(f), 2), 1.5),
            r"outside \[0, 1\], from 1\.5 to 1\.5\. Add a link",
        ),
        (lambda f: np.full((len(f), 2), -0.1), r"outside \[0, 1\], from -0\.1 to -0\.1"),
        (lambda f: np.full((len(f), 2), np.nan), r"Chances returned NaN for"),
        (lambda f: np.full((len(f), 3), 0.3), r"returns 3 columns, and it is not known which"),
        (lambda f: np.full((3, 2), 0.5), r"Chances returned 3 values for \d+ rows"),
        (lambda f: 1 / 0, r"model raised ZeroDivisionError"),
    ],
)
def test_a_model_whose_probabilities_are_none(search, answer, message):
    with pytest.raises(ModelError, match=message):
        search(output="probability", min_gap=0.1).fit(X, y, Chances(answer))


def test_a_model_without_probabilities(search):
    message = r"output='probability' needs a model with predict_proba; Model has none\. Use output="
    with pytest.raises(ValueError, match=message):
        search(output="probability", min_gap=0.1).fit(X, y, Model())


def test_a_model_that_lacks_its_columns(make):
    numbers = X.assign(sex=(X["sex"] == "M").astype(int), age=1)[["income", "sex", "age"]]
    model = LogisticRegression().fit(numbers, y)
    message = r"fitted on the columns \['income', 'sex', 'age'\], but X has 2 columns.* give X all"
    with pytest.raises(ValueError, match=message):
        make().fit(numbers.drop(columns="age"), y, model)


def test_a_model_that_always_says_the_same_is_told(make):
    result = make().fit(X, y, Broken(lambda f: np.ones(len(f), dtype=int))).result_
    assert result.n_found == 0
    assert any("returned the same outcome (favorable) for all" in note for note in result.notes)


@pytest.mark.parametrize("model", [5, "model", X, FeatureSpace.from_domains({"a": (0, 1)})])
def test_what_is_no_model(make, model):
    with pytest.raises(TypeError, match=r"A \w+ cannot be audited: it has none of predict, "):
        make().fit(X, y, model)


def test_a_class_instead_of_a_model(make):
    with pytest.raises(TypeError, match="is a class, not an instance"):
        make().fit(X, y, LogisticRegression)


def test_a_frozen_model_that_is_not_fitted(make):
    with pytest.raises(ModelError, match="raised NotFittedError"):
        make(estimator=FrozenEstimator(LogisticRegression())).fit(X, y)


def test_decisions_of_another_length(make):
    box = BlackBox(decisions=y[1:])
    with pytest.raises(ValueError, match=r"holds 199 decisions for 200 rows|cannot be queried"):
        make().fit(X, y, box)


def test_decisions_of_rows_that_are_dropped():
    holes = X.assign(sex=X["sex"].where(X.index > 9))
    box = BlackBox(decisions=y)
    dropped = MAKE["DivExplorer"](missing="drop").fit(holes, y, box).result_
    wanted = MAKE["DivExplorer"]().fit(X[10:], y[10:], BlackBox(decisions=y[10:])).result_
    assert summary(dropped) == summary(wanted)


def test_decisions_in_another_order_than_the_rows():
    box = BlackBox(decisions=pd.Series(y)[::-1])
    with pytest.raises(
        ValueError, match=r"a Series whose index is not that of X\. Put both in the"
    ):
        MAKE["DivExplorer"]().fit(X, y, box)


def test_decisions_cannot_be_searched(search):
    message = r"about the rows it was given only and cannot be queried about new ones\. Pass a m"
    with pytest.raises(ValueError, match=message):
        search().fit(X, y, BlackBox(decisions=y))


def test_decisions_cannot_be_audited_on_new_rows():
    fitted = MAKE["DivExplorer"]().fit(X, y, BlackBox(decisions=y))
    assert fitted.audit() is fitted.result_
    with pytest.raises(
        ValueError, match=r"has decisions only for the rows of fit: audit\(\) without X"
    ):
        fitted.audit(X, y)


def test_new_labels_are_needed_where_labels_were_audited():
    fitted = MAKE["DivExplorer"]().fit(X, y)
    with pytest.raises(ValueError, match=r"Labels were audited at fit, so y is needed"):
        fitted.audit(X)


# Budgets


def limits(make):
    return list(make().limit_fields)


def test_every_detector_has_its_limits():
    assert limits(MAKE["KOSEI"]) == ["tests", "queries", "found", "seconds"]
    assert limits(MAKE["Themis"]) == ["tests", "queries", "found", "seconds"]
    assert limits(MAKE["DivExplorer"]) == ["tests", "seconds"]


def test_a_budget_of_0_asks_nothing_and_says_so(make):
    for limit in limits(make):
        model = Model()
        result = make(limits=Limits(**{"tests": math.inf, limit: 0})).fit(X, y, model).result_
        assert model.asked == result.n_queries == 0
        assert (result.n_tested, result.n_found, len(result)) == (0, 0, 0)
        assert result.verdict == "insufficient evidence"
        assert result.stopped_by == limit
        assert math.isnan(result.metrics["SUR"])


def test_a_budget_of_0_audits_no_new_rows(make):
    for limit in limits(make):
        model = Model()
        fitted = make(limits=Limits(**{"tests": math.inf, limit: 0})).fit(X, y, model)
        result = fitted.audit(X, y)
        assert model.asked == result.n_queries == 0
        assert result.verdict == "insufficient evidence"
        assert result.stopped_by == limit


def test_a_budget_of_0_without_a_model():
    for limit in ("tests", "seconds"):
        result = MAKE["DivExplorer"](limits=Limits(**{limit: 0})).fit(X, y).result_
        assert (result.n_tested, result.n_queries, len(result)) == (0, 0, 0)
        assert (result.verdict, result.stopped_by) == ("insufficient evidence", limit)


@pytest.mark.parametrize("value", [-1, "many", np.nan])
def test_a_budget_that_is_none(make, value):
    for limit in limits(make):
        message = rf"The '{limit}' parameter of Limits must be an? .* in the range \[0.* Got"
        with pytest.raises(ValueError, match=message):
            make(limits=Limits(**{limit: value})).fit(X, y)


# A space instead of data


def test_a_given_space_that_lacks_columns(search):
    space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]})
    with pytest.raises(ValueError, match=r"The space passed lacks the columns \['town'\] of X"):
        search(space=space).fit(X, y, Model())


def test_a_given_space_without_missing_values(search):
    domains = {"income": (0, 99), "sex": ["F", "M"], "town": ["A", "B", "C"]}
    holes = X.assign(town=X["town"].where(X.index > 3))
    message = r"The columns \['town'\] of X have missing values, which the space excludes"
    with pytest.raises(ValueError, match=message):
        search(space=FeatureSpace.from_domains(domains)).fit(holes, y, Model())


def test_a_space_alone_has_no_rows_to_audit():
    space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]})
    with pytest.raises(TypeError, match=r"decisions on rows of X; a FeatureSpace alone"):
        MAKE["DivExplorer"]().fit(space, model=Model())


def test_a_space_alone_needs_a_model(search):
    space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]})
    with pytest.raises(
        ValueError, match=r"there is no fitted model.*Pass a fitted model as model="
    ):
        search().fit(space)
    with pytest.raises(ValueError, match=r"protected='town' is not a column of X"):
        search(protected="town").fit(space, model=Model())


def test_names_of_several_levels(make):
    deep = X.set_axis(pd.MultiIndex.from_product([["a"], X.columns]), axis=1)
    for names in (deep.columns, pd.Index(deep.columns.to_list(), tupleize_cols=False)):
        named = X.set_axis(names, axis=1)
        refused(make, named, y, r"column names of several levels, .*one name: X.columns = ")


@pytest.mark.every(3)
def test_missing_values_are_left_to_the_steps_of_a_pipeline(make):
    holes = X.assign(income=X["income"].where(X["income"] > 9), sex=X["sex"].where(X.index > 3))
    words = make_column_selector(dtype_exclude="number")
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), (SimpleImputer(), ["income"])
    )
    model = make_pipeline(steps, DecisionTreeClassifier(random_state=0))
    for estimator in (model, FrozenEstimator(clone(model).fit(holes, y))):
        assert make(estimator=estimator).fit(holes, y).result_.n_tested > 0
