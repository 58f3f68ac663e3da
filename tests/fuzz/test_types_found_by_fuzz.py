"""What the fuzz suite found about types of values, weights of 0 and cost."""

import datetime
import decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fuzzing.__main__ import fuzz_case
from fuzzing._detector_cases import encoded_tree

from skdisc import BlackBox, Counts, Predicate
from skdisc import measures as m
from skdisc._counts._profile import ColumnProfile
from skdisc._space._column import categories
from skdisc._stats._effective_tally import EffectiveTally
from skdisc._utils._hashing import row_hashes
from skdisc.datasets import Attribute, plant_bias
from skdisc.group import GroupDisparity
from skdisc.individual import BoundarySearch, Similarity, SituationTesting
from skdisc.individual._situation_testing._mean_gap import as_numbers
from skdisc.measures._formula import _evaluation
from skdisc.preprocessing import ProxySelector
from skdisc.subgroup import FACTS
from skdisc.subgroup._estimation._clusters import clustered

pytestmark = pytest.mark.usefixtures("no_refits")

EQUALS = [True, 1, "1", 1.0, "F", 1.5, decimal.Decimal("1.50"), None]
DECIDED = [0, 1] * 16
SAME = SimpleNamespace(predict=lambda X: np.ones(len(X), dtype=int))
SEX = pd.Series(["F", "M"] * 6, name="sex")
VALUES = [
    *(3, "a", 1.5, True, None, (1,), b"a", 10**30, decimal.Decimal("1.5")),
    *(datetime.date(2020, 1, 1), pd.Timestamp("2021-01-01")),
]


def columns():
    """Return columns of all types that pandas stores, by name; those of Arrow if it is there."""
    plain = {
        "text": pd.Series(["a", "b"]),
        "whole": pd.Series([3, 1]),
        "nullable": pd.Series([3, None], dtype="Int64"),
        "mixed": pd.Series([1.5, "a"], dtype=object),
        "category": pd.Series(["a", "b"], dtype="category"),
        "days": pd.Series(pd.to_datetime(["2020-06-01", "2021-01-01"])),
    }
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return plain
    arrow = {"decimal": pd.Series([decimal.Decimal("1.5")] * 2), **plain}
    made = {f"{n} (Arrow)": c.convert_dtypes(dtype_backend="pyarrow") for n, c in arrow.items()}
    return plain | made


@pytest.mark.parametrize("name", columns())
def test_a_predicate_takes_values_of_any_type(name):
    column = columns()[name]
    X = pd.DataFrame({"x": column})
    held = [None if pd.isna(v) else v for v in column.astype(object)]
    for value in VALUES:
        if isinstance(value, bytes) and "Arrow" in name:
            continue  # which are text to Arrow
        expected = [v is None if value is None else v == value for v in held]
        assert Predicate.equals("x", value).mask(X).tolist() == expected, value
    if "Arrow" not in name:
        everything = Predicate.isin("x", VALUES).mask(X)
        assert everything.tolist() == [any(v is w or v == w for w in VALUES) for v in held]


@pytest.mark.parametrize("name", columns())
def test_an_interval_needs_numbers(name):
    column = columns()[name]
    X, predicate = pd.DataFrame({"x": column}), Predicate.between("x", 2, 4)
    if name.split()[0] in ("whole", "nullable", "decimal"):
        assert predicate.mask(X).tolist() == [name.split()[0] != "decimal", False]
        return
    with pytest.raises(TypeError, match=r"'2 < x <= 4' compares numbers, and column 'x' holds"):
        predicate.mask(X)


def test_bias_is_planted_in_text_of_arrow():
    pytest.importorskip("pyarrow")
    X = SEX.to_frame().convert_dtypes(dtype_backend="pyarrow")
    with pytest.raises(ValueError, match="No row of X is in the subgroup 'sex = 3'"):
        plant_bias(X, [0, 1] * 6, Predicate.equals("sex", 3), -1)


def test_a_list_of_nothing_is_no_table():
    pytest.importorskip("narwhals")
    with pytest.raises(ValueError, match=r"There is no file \[\]. X takes a table, or paths of"):
        Counts.of([], protected="sex")


@pytest.mark.parametrize("wrong", ["y", 1, np.array(1)])
@pytest.mark.parametrize("name", ["y_true", "y_pred"])
def test_labels_and_decisions_are_one_per_row(name, wrong):
    given = {"y_true": [0, 1] * 6, "y_pred": [0, 1] * 6} | {name: wrong}
    with pytest.raises(ValueError, match=f"{name} must hold the (label|decision) of each row"):
        m.balance_negative_class(**given, protected=SEX)


def test_propensities_of_columns_of_one_name():
    X = pd.DataFrame(np.arange(24.0).reshape(12, 2), columns=["pay", "pay"])
    assert m.propensity_strata(X, SEX, 3).shape == (12,)
    with pytest.raises(ValueError, match=r"Column 'pay' of X has numbers beyond 1e\+150"):
        m.propensity_strata(X * 1e300, SEX, 3)


@pytest.mark.parametrize(
    "measure", ["one_variable_prediction", "wasserstein_distance", "correlation"]
)
def test_bootstrap_samples_without_weight(measure):
    """Four of twelve clusters have a weight: those without are no people."""
    report = getattr(m, f"{measure}_report")
    few = {"pos_label": None, "n_resamples": 99, "random_state": 0}
    weighted = {"sample_weight": [1] * 4 + [0] * 8, "groups": range(12)}
    found = report(None, np.arange(12.0), protected=SEX, **weighted, **few)
    four = report(None, np.arange(4.0), protected=SEX[:4], groups=range(4), **few)
    assert found["ci_low"].notna().all()
    pd.testing.assert_frame_equal(found, four)


def test_replicates_of_a_comparison_evaluate_no_other(monkeypatch):
    """Clustered rows of 4 groups: 4 intervals of 19 replicates, each of one comparison."""
    evaluated, contrasts = [], _evaluation.Evaluation._contrasts

    def counted(self):
        evaluated.append(len(self.comparisons))
        return contrasts(self)

    monkeypatch.setattr(_evaluation.Evaluation, "_contrasts", counted)
    groups, numbers = np.arange(40) % 10, np.random.default_rng(0).normal(size=40)
    town = np.array(list("abcd"))[np.arange(40) % 4]
    given = {"protected": town, "groups": groups, "n_resamples": 19, "reference": "rest"}
    m.correlation_report(None, numbers, **given)
    assert evaluated == [4, *[1] * 76]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"kind": "ordinal", "values": ("a", "b"), "dtype": "int64"},
            "dtype='int64' of the attrib",
        ),
        ({"kind": "numeric", "quantiles": (0, np.inf)}, "not missing or infinite"),
    ],
)
def test_attributes_can_be_drawn(wrong, message):
    with pytest.raises(ValueError, match=message):
        Attribute("pay", **wrong)


def test_a_predicate_about_columns_of_one_name():
    X = pd.concat([SEX, SEX], axis=1)
    with pytest.raises(ValueError, match="several columns named 'sex'"):
        plant_bias(X, [0, 1] * 6, Predicate.equals("sex", "F"), 1)


def test_proxies_among_huge_numbers():
    X = SEX.to_frame().assign(pay=[1.7e308, -1.7e308] * 6)
    with pytest.raises(ValueError, match=r"Column 'pay' of X has numbers beyond 1e\+150"):
        ProxySelector("sex", n_repeats=1, random_state=0).fit(X, [0, 1] * 6)


def test_covariates_are_known():
    covariates = pd.DataFrame({"age": pd.array([1, None, *range(10)])})
    with pytest.raises(ValueError, match="Column 'age' of X has 1 missing values"):
        m.regression_slope_test(None, [0, 1] * 6, protected=SEX, covariates=covariates)


def test_labels_of_too_few_rows_beside_weights_of_0():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GroupDisparity(protected="sex").fit(
            SEX.to_frame(), [0, 1] * 5, sample_weight=[True, False] * 6
        )


def test_actions_lead_to_categories_that_new_people_lack():
    """People of the categories b and c can move to a, which none of them has."""
    draws = np.random.default_rng(0)
    X = pd.DataFrame({"sex": draws.choice(["F", "M"], 300), "town": draws.choice(list("abc"), 300)})
    model = lambda Z: ((Z["town"].astype(object) == "a") & (Z["sex"] == "M")).to_numpy(int)  # noqa: E731
    facts = FACTS(protected="sex", random_state=0).fit(X, model(X), model)
    new = X[X["town"] != "a"].reset_index(drop=True)
    narrow = new.assign(town=pd.Categorical(new["town"], ["b", "c"]))
    as_text, as_category = facts.audit(new, model(new)), facts.audit(narrow, model(new))
    assert as_text.n_found == as_category.n_found > 0
    effects = [r.to_frame()["effect"].tolist() for r in (as_text, as_category)]
    assert effects[0] == effects[1]


@pytest.mark.parametrize("metric", ["manhattan", "alvarez2023"])
def test_complainants_of_the_other_group(metric):
    """Nobody whose treatment could be examined is named."""
    X = pd.DataFrame({"sex": ["f", "m", "m"] * 10, "points": range(30)})
    settings = {"protected": "sex", "n_neighbors": 2, "similarity": Similarity(metric=metric)}
    test = SituationTesting(complainants=[1, 2], **settings)
    with pytest.raises(ValueError, match="None of the 2 complainants belongs to a group"):
        test.fit(X, [0, 1, 1] * 10)


def test_a_pursuit_among_columns_without_a_condition():
    """A column that has no item describes no group; the case is repeated by its number."""
    assert fuzz_case(5204, 32).run() == []


@pytest.mark.parametrize("values", [[[1], [2], {}], [{"a": 1}, {"a": 2}, {1}]])
def test_a_model_is_asked_about_lists_and_dicts(values):
    """A column that only the model reads may hold what has no hash."""
    X, y = pd.DataFrame({"sex": SEX, "seen": values * 4}), np.arange(12) % 2

    def model(rows):
        return np.array([v == values[0] for v in rows["seen"]], dtype=int)

    detector = GroupDisparity(protected="sex").fit(X, y, model=model)
    plain = GroupDisparity(protected="sex").fit(
        X.assign(seen=0), y, model=BlackBox(decisions=model(X))
    )
    assert detector.result_.to_frame().equals(plain.result_.to_frame())
    assert detector.result_.n_queries == 6
    assert np.isfinite(detector.score(X, y))


def test_long_arrays_are_not_taken_for_others():
    """The text of an array of more than 1,000 numbers is abridged."""
    ones = np.zeros((3, 2000))
    ones[[0, 1], [900, 1000]] = 1
    assert len(set(row_hashes(pd.DataFrame({"seen": [*ones, ones[0].copy()]})))) == 3


def test_values_that_cannot_be_compared_are_named():
    X = pd.DataFrame({"sex": [["f"], ["m"], {}], "points": [1, 2, 3]})
    with pytest.raises(TypeError, match="Column 'sex' holds unsupported types"):
        m.twin_test(BlackBox(lambda rows: np.ones(len(rows))).model, X, protected="sex")
    with pytest.raises(ValueError, match="phi must be one number above 0 and at most 1"):
        FACTS(protected="sex", phi={"a": 1}).fit(SEX.to_frame(), [0, 1] * 6)


def test_one_cluster_may_be_called_true():
    assert m.cluster_strata([[0.0], [1.0]], n_clusters=True).tolist() == [0, 0]


def test_labels_in_two_columns_beside_an_unknown_favorable_one():
    y = np.array([[0, 1]] * 12)
    with pytest.raises(ValueError, match=r"never occurs in y_pred|y_true must have one dimension"):
        m.balance_positive_class_report(y, np.ones(12), protected=SEX, pos_label="yes")


def test_a_generator_that_only_decodes_is_refused():
    X = pd.DataFrame({"sex": ["f", "m"] * 6, "points": range(12)})
    with pytest.raises((TypeError, ValueError), match="generator"):
        BoundarySearch(protected="sex", generator=b"x").fit(X, [0, 1] * 6)


def test_numbers_that_are_all_missing_say_nothing_about_others():
    X = pd.DataFrame({"points": [np.nan] * 3, "pay": [1.0, np.nan, 3.0]})
    assert np.isfinite(as_numbers(X).to_numpy()).all()


def test_cells_of_one_cluster_say_nothing_however_many_people_they_have():
    two = np.array([2.0, 2.0])
    many = (np.array([np.inf, 2.0]),) * 4
    tally = EffectiveTally(two, 2 * two, 2 * two, 4 * two, two, two, many)
    cells = clustered(tally, np.array([np.inf, 2.0])).cells
    assert [c.tolist() for c in cells] == [[0.0, 1.0]] * 4


@pytest.mark.parametrize(
    "groups_of",
    [
        categories,
        lambda s: sorted(ColumnProfile.of(s).categories, key=repr),
        lambda s: m.mean_difference_report(None, DECIDED, protected=s, reference="rest")["group"],
        lambda s: m.twin_test_report(SAME, s.to_frame("g"), protected="g")["group"],
    ],
)
def test_equal_values_of_several_types_have_one_name_in_any_order_of_rows(groups_of):
    groups = [
        list(map(repr, groups_of(pd.Series(values * 4, dtype=object))))
        for values in (EQUALS, EQUALS[::-1], EQUALS[3:] + EQUALS[:3])
    ]
    assert groups[0] == groups[1] == groups[2]
    assert {"1", "'1'", "1.5", "'F'"} <= set(groups[0])
    assert not {"True", "1.0", "Decimal('1.50')"} & set(groups[0])


def test_the_tree_of_the_harness_learns_from_columns_of_several_types():
    table = SimpleNamespace(X=pd.DataFrame({"sex": [10**30, "F", None, True] * 3}))
    assert len(encoded_tree(table).fit(table.X, [0, 1] * 6).predict(table.X)) == 12
