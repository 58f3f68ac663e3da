"""What the fuzz suite found, each by itself: right now, or refused in words."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from skdisc import Counts, FeatureSpace, Limits, Predicate
from skdisc import measures as m
from skdisc._neighbors._mixed_space import MixedSpace
from skdisc.datasets import Attribute, GaussianCopula, plant_bias, schema_from_frame
from skdisc.group import GroupDisparity, OaxacaBlinder, ProxyDisparity
from skdisc.individual import (
    ADF,
    KOSEI,
    LIMI,
    SG,
    Aequitas,
    ExpGA,
    FlipTest,
    Similarity,
    SituationTesting,
)
from skdisc.monitoring import DisparityMonitor
from skdisc.plotting import ForestDisplay, ShadowsDisplay, plot_complainant, plot_groups
from skdisc.preprocessing import ProxySelector
from skdisc.repair import CaseResampler, Massager
from skdisc.report import to_text
from skdisc.subgroup import FACTS, BiasScan, DisparityPursuit, DivExplorer, SliceLine

pytestmark = pytest.mark.usefixtures("no_refits")

N = 40
rng = np.random.default_rng(0)
X = pd.DataFrame(
    {"sex": rng.choice(["F", "M"], N), "town": rng.choice(list("abc"), N), "age": range(N)}
)
Y = (rng.random(N) < 0.3 + 0.4 * (X["sex"] == "M")).to_numpy(int)
SEX = X["sex"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"protected": X[[]]}, "protected has no columns"),
        ({"protected": X[["sex", "sex"]]}, "protected names columns twice"),
        ({"protected": pd.Series([[1]] * N, name="sex")}, "'sex' holds values that cannot be comp"),
        ({"intersections": []}, "'intersections' parameter of mean_difference must be"),
        ({"weights": pd.NA}, "'weights' parameter"),
        ({"missing": np.zeros(3)}, "'missing' parameter"),
        ({"min_size": len}, "'min_size' parameter"),
        ({"average": pd.NA}, "'average' parameter|average must be one of"),
        ({"pos_label": pd.NA}, "pos_label is missing"),
        ({"pos_label": pd.DataFrame()}, "pos_label must be a label, or several"),
        ({"reference": pd.NA}, "reference=nan is not a group of 'sex'"),
        ({"reference": pd.DataFrame()}, "reference must be a group, a rule or a dict"),
        ({"y_pred": 1}, "y_pred must hold the decision of each row, got 1"),
        ({"y_pred": np.where(Y, np.inf, 0.0)}, "Input y_pred contains infinity"),
        ({"y_pred": np.where(Y, "a", "b"), "pos_label": None}, "y_pred must hold numbers with"),
    ],
)
def test_measures_refuse_in_words(given, message):
    with pytest.raises(ValueError, match=message):
        m.mean_difference(**({"y_true": None, "y_pred": Y, "protected": SEX} | given))


@pytest.mark.parametrize("report", [m.mean_difference.report, m.disparities])
@pytest.mark.parametrize(
    "given", [{"significance": 2}, {"correction": None}, {"n_resamples": -1}, {"random_state": "a"}]
)
def test_reports_refuse_in_words(report, given):
    (name,) = given
    with pytest.raises(ValueError, match=f"'{name}' parameter|seed"):
        report(None, Y, protected=SEX, **given)


def test_more_measures_refuse_in_words():
    with pytest.raises(ValueError, match="X has no columns"):
        m.lipschitz_ratio(None, Y, X=X[[]])
    with pytest.raises(ValueError, match="X has no rows"):
        m.consistency(None, Y[:0], X=X[:0])
    with pytest.raises(TypeError, match="'town' holds unsupported types"):
        m.consistency(None, Y, X=X.assign(town=[[1]] * N))
    with pytest.raises(ValueError, match="X must be a table, one row per person, got str"):
        m.cluster_strata("X")
    with pytest.raises(ValueError, match="protected must be one column"):
        m.propensity_strata(X, X[["sex"]])
    with pytest.raises(TypeError, match="get_scorer has no setting 'bogus'"):
        m.get_scorer("min_odds_ratio", bogus=1)
    with pytest.raises(TypeError, match=r"'town' .* mixes or holds unsupported types"):
        m.balanced_error_rate(X=X[["town"]].map(lambda v: {v: 1}), protected=SEX)


def test_intervals_of_biased_statistics_contain_their_estimates():
    """Information is never negative, so that replicates exceed the estimate."""
    numbers = np.random.default_rng(2).normal(size=12)
    groups = np.array(["F", "M"])[np.arange(12) % 2]
    report = m.mutual_information_report(
        None, numbers, protected=groups, pos_label=None, n_resamples=19
    )
    assert report["ci_low"][0] <= report["estimate"][0] <= report["ci_high"][0]


def test_numbers_near_the_ends_of_their_type():
    for dtype in ("uint64", "int64"):
        ends = np.iinfo(dtype)
        frame = X.assign(age=np.where(Y, ends.max, ends.min).astype(dtype))
        space = FeatureSpace.from_frame(frame, protected="sex")
        codes = space.encode(frame)
        assert (space.encode(space.decode(codes)) == codes).all()
        drawn = GaussianCopula(schema_from_frame(frame)).sample(5, random_state=0)
        assert drawn["age"].dtype == dtype
    half = X.assign(age=np.where(Y, 65504, 0).astype("float16"))
    assert FeatureSpace.from_frame(half)["age"].size > 1


@pytest.mark.parametrize("settings", [{"protected": 1.5}, {"protected": [["sex"]]}])
def test_spaces_refuse_in_words(settings):
    with pytest.raises(ValueError, match=r"protected|Names of columns"):
        FeatureSpace.from_frame(X, **settings)


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="X must be a DataFrame, got ndarray"):
        FeatureSpace.from_frame(X.to_numpy())
    with pytest.raises(TypeError, match="frame must be a DataFrame, got ndarray"):
        schema_from_frame(X.to_numpy())
    pytest.importorskip("narwhals")
    with pytest.raises(TypeError, match="list is no table that can be read"):
        Counts.of(X.to_numpy().tolist(), protected="sex")
    with pytest.raises(ValueError, match="several columns named"):
        Counts.of(X[["sex", "sex"]], protected="sex")


def test_generators_refuse_in_words():
    copula = GaussianCopula(schema_from_frame(X))
    for n in (-1, 1.5):
        with pytest.raises(ValueError, match="n_samples must be a whole number >= 0"):
            copula.sample(n)
    with pytest.raises(ValueError, match="subgroup names \\['gone'\\], not among the columns"):
        plant_bias(X, Y, Predicate.equals("gone", 1), 0.5)
    with pytest.raises(ValueError, match="y has numbers beyond"):
        plant_bias(X, np.where(Y, 1.7e308, 0), Predicate.equals("sex", "F"), 1, kind="shift")


def test_labels_that_detectors_refuse_in_words():
    mixed = np.array(["0", 1], dtype=object)[Y]
    for refused in (DivExplorer(protected="sex").fit, Massager("sex").fit_resample):
        with pytest.raises(ValueError, match="y mixes labels of several types"):
            refused(X, mixed)
    with pytest.raises(ValueError, match="pos_label is missing"):
        DivExplorer(protected="sex", pos_label=pd.NA).fit(X, Y)
    with pytest.raises(ValueError, match=r"protected must name columns of X, got 1.5"):
        Massager(1.5).fit_resample(X, Y)
    with pytest.raises(ValueError, match="gaps must be numbers between 0 and 1"):
        DisparityMonitor(protected="sex", gaps={"a"}).fit(X, Y)


def test_missing_marks_of_objects_reach_no_encoder():
    marked = X.assign(age=pd.Series([pd.NA, *range(1, N)], dtype=object))
    selector = ProxySelector("sex", n_repeats=1, random_state=0).fit(marked, Y)
    assert selector.influence_.shape == (3,)
    scan = BiasScan(protected="sex", n_resamples=9, random_state=0)
    assert scan.fit(marked, Y, model=lambda f: Y[: len(f)]).result_.n_samples == N


def test_a_column_without_values_is_resampled_without_a_word():
    from sklearn.linear_model import LogisticRegression

    from skdisc._blackbox._default_models import default_model

    model = default_model("logistic", 0).fit(X.assign(age=np.nan), Y)
    assert isinstance(model[-1], LogisticRegression)
    assert model.predict(X.assign(age=np.nan)).shape == (N,)


def test_any_share_of_cases():
    from skdisc.individual import Themis

    themis = Themis(protected="sex", limits=Limits(tests=100), random_state=0)
    themis.set_params(estimator=ProxyModel())
    made = CaseResampler(themis, share=1e308, voters=[ProxyModel()], random_state=0)
    assert len(made.fit_resample(X, Y)[0]) >= N


class ProxyModel:
    """Favours men, whatever it is fitted to."""

    def __sklearn_tags__(self):
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier().__sklearn_tags__()

    def get_params(self, deep=True):
        return {}

    def set_params(self, **params):
        return self

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X["sex"] == "M").to_numpy(int)


@pytest.mark.slow
def test_facts_with_findings_in_one_of_two_columns():
    """The table of the other column is empty, and made whole numbers fractions."""
    settings = {"max_predicates": 2, "random_state": 0}
    for seed in range(6):
        drawn = np.random.default_rng(seed).integers(0, 2, N)
        facts = FACTS(protected=["sex", "town"], **settings).fit(
            X,
            Y,
            model=lambda f, d=drawn: d[
                pd.util.hash_pandas_object(f.astype(str), index=False).to_numpy() % N
            ],
        )
        assert facts.audit(X, Y).n_samples == N


def test_text_is_no_ordered_number():
    ordered = X.assign(town=pd.Categorical(rng.integers(0, 3, N), [2, 0, 1], ordered=True))
    test = SituationTesting(protected="sex", n_neighbors=3).fit(ordered, Y)
    with pytest.raises(ValueError, match="'town' held numbers at fit"):
        test.audit(X, Y)


@pytest.mark.parametrize("max_rows", [-1, 1.5, "a", None, True])
def test_reports_need_a_number_of_rows(max_rows):
    result = DivExplorer(protected="sex").fit(X, Y).result_
    with pytest.raises(ValueError, match="max_rows must be a whole number >= 0"):
        to_text(result, max_rows=max_rows)
    with pytest.raises(ValueError, match="max_rows must be a whole number >= 0"):
        ForestDisplay.from_result(result, max_rows=max_rows)


def test_plots_of_no_finding_are_refused():
    settings = {"n_neighbors": 3, "store_neighbors": True}
    result = SituationTesting(protected="sex", **settings).fit(X, Y).result_
    for case_id in (len(result), "a", np.nan):
        with pytest.raises(ValueError, match=r"case_id=.* is no position of the"):
            plot_complainant(result, case_id)
    with pytest.raises(ValueError, match="results is empty"):
        plot_groups([], 0, "age")
    with pytest.raises(ValueError, match="DivExplorer result has no stored neighbors"):
        plot_groups(DivExplorer(protected="sex").fit(X, Y).result_, 0, "age")


@pytest.mark.parametrize("max_rows", [1.5, -1, None])
def test_shadows_need_a_number_of_rows(max_rows):
    result = DisparityPursuit(protected="sex").fit(X[["sex", "town"]], Y).result_
    with pytest.raises(ValueError, match="max_rows must be a whole number >= 0"):
        ShadowsDisplay.from_result(result, max_rows=max_rows)


def test_new_rows_may_hold_nobody_of_the_reference():
    proxy = ProxyDisparity(protected="sex").fit(X, Y)
    assert proxy.audit(X.assign(sex=None), Y).verdict != "disparity found"


@pytest.mark.parametrize("scale", ["range", "std", None])
def test_numbers_whose_squares_are_zero_do_not_differ(scale):
    tiny = pd.DataFrame({"a": np.arange(4) * 5e-324, "b": range(4)})
    both = MixedSpace(tiny, scale).encode(tiny)
    assert np.isfinite(both).all()
    assert not np.ptp(both[:, 0])


def test_measures_refuse_words_that_are_none():
    y, sex = [0, 1, 0, 1], list("ffmm")
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0]})
    for word in (pd.DataFrame(), ["pairs"], None, 1):
        with pytest.raises(ValueError, match='convention must be "pairs" or "mean"'):
            m.consistency(None, y, X=X, n_neighbors=1, convention=word)
        with pytest.raises(ValueError, match='loss must be "squared" or "zero_one"'):
            m.one_variable_prediction(None, y, protected=sex, loss=word)
        with pytest.raises(ValueError, match='convention must be "protected" or "general"'):
            m.elift(None, y, protected=sex, convention=word)


def test_an_interval_of_one_variable_prediction_contains_one():
    y, each = [0, 1] * 20, [f"person {i}" for i in range(40)]
    row = m.one_variable_prediction_report(None, y, protected=each).iloc[0]
    assert (row["estimate"], row["ci_high"]) == (1, 1)


def test_twins_of_people_with_a_missing_nullable_value():
    X = pd.DataFrame({"sex": pd.array([0, 1, None, 1], dtype="Int64"), "age": [1, 2, 3, 4]})
    model = SimpleNamespace(predict=lambda Z: Z["age"].to_numpy() > 2)
    report = m.twin_test_report(model, X, protected=["sex"])
    assert report["n"].tolist() == [4, 1, 2]
    assert report["estimate"].tolist() == [0, 0, 0]


def test_redlining_by_columns_with_several_markers_of_missing_values():
    town = ["a", pd.NA, "b", np.nan, None, "a"] * 5
    X = pd.DataFrame({"town": pd.Series(town, dtype=object), "rent": [1.0, 2, 3, 4, 5, 6] * 5})
    rates = [
        m.balanced_error_rate(Z, protected=list("fm") * 15)
        for Z in (X, X.assign(town=X["town"].where(X["town"].notna(), np.nan)))
    ]
    assert rates[0] == rates[1]


def test_a_scorer_says_that_lists_are_no_groups():
    X = pd.DataFrame({"sex": [["f"], ["m"]] * 5, "age": range(10)})
    scorer = m.get_scorer("neg_abs_mean_difference", protected=["sex"])
    with pytest.raises((TypeError, ValueError), match="sex"):
        scorer(DummyClassifier().fit(X, [0, 1] * 5), X, [0, 1] * 5)


_FEW = {FlipTest: {"solver": "assignment", "n_draws": 1}, SituationTesting: {"n_neighbors": 3}}


@pytest.mark.parametrize("number", [1.7e308, -1e200])
@pytest.mark.parametrize("detector", [FlipTest, SituationTesting])
def test_numbers_too_large_for_a_distance_are_named(detector, number):
    huge = X.assign(age=X["age"].astype(float).where(X["age"] != 7, number))
    test = detector(protected="sex", random_state=0, **_FEW[detector])
    with pytest.raises(ValueError, match=r"Column 'age' of X has numbers beyond 1e\+150"):
        test.fit(huge, Y)
    test.set_params(features=["age"])
    known = test.fit(X.assign(age=X["age"].astype(float)), Y)
    for ask in (known.audit, known.score):
        with pytest.raises(ValueError, match="Column 'age' of X has numbers beyond"):
            ask(huge, Y)


def test_twins_by_two_columns():
    people = pd.DataFrame({"sex": list("ffmm"), "town": list("abab"), "age": [1, 2, 3, 4]})
    model = SimpleNamespace(predict=lambda Z: (Z["sex"] == "m").to_numpy())
    report = m.twin_test_report(model, people, protected=["sex", "town"])
    assert report["n"].tolist() == [4, 1, 1, 1, 1]
    assert report["estimate"].tolist() == [1] * 5


@pytest.mark.parametrize("search", [ADF, ExpGA, KOSEI, SG])
def test_people_without_known_values_have_no_score(search):
    model = lambda Z: (Z["sex"] == "M").to_numpy(int)  # noqa: E731
    people = X[["sex", "age"]].astype({"age": float})
    fitted = search(protected="sex", limits=Limits(tests=20), random_state=0).fit(people, Y, model)
    assert np.isnan(fitted.score(people.assign(age=np.nan), Y))
    assert 0 < fitted.score(people, Y) <= 1


def test_a_count_may_be_true():
    model = lambda Z: (Z["sex"] == "M").to_numpy(int)  # noqa: E731
    settings = {"protected": "sex", "n_baseline": 20, "n_boundary": 20, "random_state": 0}
    one, true = (
        LIMI(n_samples=n, **settings).fit(X[["sex", "age"]], Y, model).result_ for n in (1, True)
    )
    assert one.n_tested == true.n_tested > 0
    assert one.verdict == true.verdict


@pytest.mark.parametrize("metric", [lambda *_: 1, lambda a, b: [["x"] * len(b)] * len(a)])
def test_a_metric_returns_all_distances(metric):
    X = pd.DataFrame({"sex": ["f", "m"] * 20, "points": range(40)})
    test = SituationTesting(protected="sex", n_neighbors=2, similarity=Similarity(metric=metric))
    with pytest.raises(ValueError, match="array of numbers of shape"):
        test.fit(X, [0, 1, 1, 0] * 10)


@pytest.mark.parametrize(
    "wrong",
    [
        {"law": ("uniform", 0, 0)},
        {"values": (1, "a")},
        {"values": (1, 2), "weights": (1e308, 1e308)},
    ],
)
def test_attributes_have_a_law(wrong):
    with pytest.raises(ValueError, match="attribute 'pay'"):
        Attribute("pay", "numeric", **wrong)


def test_columns_of_one_name_are_refused():
    twice = pd.concat([X, X[["town"]]], axis=1)
    with pytest.raises(ValueError, match="several columns named 'town'"):
        m.balanced_error_rate(twice, protected=SEX)
    with pytest.raises(ValueError, match="several columns named 'town'"):
        m.twin_test(DummyClassifier(), twice, protected=["sex"])


def test_true_is_a_number_of_permutations():
    found = m.calibration_difference_report(Y, Y, protected=SEX, permutations=True, random_state=0)
    assert set(found["p_value"]) <= {0.5, 1.0}


def test_measures_need_a_group():
    with pytest.raises(ValueError, match="no row has a known group"):
        m.balanced_residuals(Y, Y, protected=pd.Series([None] * N), missing="drop")


def test_quantiles_are_numbers():
    with pytest.raises(ValueError, match="must be ascending and not missing"):
        Attribute("pay", "numeric", quantiles=("a", "b"))


def test_a_category_that_never_occurs_has_no_weight():
    seen = pd.Categorical(["a", "b"] * 20, ["z", "y", "x", "a", "b"], ordered=True)
    X = pd.DataFrame({"job": seen, "sex": ["f", "m", "m", "f"] * 10})
    assert schema_from_frame(X, protected="sex").names == ["job", "sex"]


def test_a_shift_beyond_all_numbers_is_refused():
    X = pd.DataFrame({"sex": ["f", "m"] * 20})
    with pytest.raises(ValueError, match="rate must be a number up to"):
        plant_bias(X, [0, 1] * 20, Predicate.equals("sex", "f"), 1e308, kind="shift")


def test_true_is_a_number_of_findings():
    one = GroupDisparity(protected="sex", k=True).fit(X, Y).result_
    assert len(one) == 1


def test_one_bootstrap_sample_has_no_spread():
    blinder = OaxacaBlinder(protected="sex", n_resamples=1, random_state=0).fit(X, Y)
    assert blinder.result_.verdict == "insufficient evidence"


def test_what_is_asked_again_needs_what_was_asked_first():
    rows, labels = pd.concat([X] * 10, ignore_index=True), np.tile(SEX == "F", 10).astype(int)
    slices = SliceLine(protected="sex", max_predicates=1)
    slices.fit(rows, labels, DummyClassifier(strategy="constant", constant=1).fit(rows, labels))
    assert len(slices.result_)
    with pytest.raises(ValueError, match="Pass labels y, as at fit"):
        slices.audit(rows)


@pytest.mark.parametrize(
    ("detector", "message"),
    [
        (Aequitas(protected="sex", seeds=pd.DataFrame()), "all columns of X; 'sex' is missing"),
        (DisparityMonitor(protected="sex", subgroups=np.zeros(3)), "must hold Subgroup objects"),
    ],
)
def test_what_is_given_is_looked_at(detector, message):
    with pytest.raises(ValueError, match=message):
        detector.fit(X, Y)
