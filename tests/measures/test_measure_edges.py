"""Zero rates, one class, one group, empty strata, missing values: NaN or the documented value."""

import numpy as np
import pandas as pd
import pytest

from skdisc import measures as m
from skdisc.exceptions import UndefinedMeasureWarning
from skdisc.individual import Similarity, SituationTesting
from skdisc.measures._formula._strata import design

UNDEFINED = pytest.warns(UndefinedMeasureWarning, match="is undefined for")


def test_one_group_has_no_measure():
    for name in ("mean_difference", "impact_ratio", "eta_neutrality", "mutual_information"):
        with UNDEFINED:
            assert np.isnan(getattr(m, name)(None, [1, 0], protected=["f", "f"]))
        row = getattr(m, f"{name}_report")(None, [1, 0], protected=["f", "f"]).iloc[0]
        assert row.excluded
        assert row.reason == "there is no group to compare with"
        assert np.isnan(row.estimate)


def test_nobody_at_all():
    with pytest.raises(ValueError, match="y_pred is empty: there are no decisions"):
        m.mean_difference(None, [], protected=[])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1], "finite and >= 0; got -1"),
        ([1, np.nan], "finite and >= 0; got nan"),
        ([0, 0], "zero for every row"),
        ([1, 1, 1], "3 values for 2 rows"),
        ([[1, 1]], "2D array"),
        (["a", "b"], "must be numbers"),
    ],
)
def test_weights_are_checked_as_everywhere(weight, message):
    with pytest.raises(ValueError, match=message):
        m.mean_difference(None, [1, 0], protected=["a", "b"], sample_weight=weight)


def test_nobody_favored():
    y, s = [0, 0, 0, 0], [0, 0, 1, 1]
    assert m.mean_difference(None, y, protected=s) == 0
    assert m.area_under_curve(None, y, protected=s) == 0.5
    for name in (
        *("normalized_difference", "impact_ratio", "elift", "odds_ratio"),
        *("mutual_information", "eta_neutrality", "correlation", "one_variable_prediction"),
        *("many_proportions_test", "two_proportions_test"),
    ):
        with UNDEFINED:
            assert np.isnan(getattr(m, name)(None, y, protected=s)), name
    assert m.normalized_difference(None, y, protected=s, zero_division=0) == 0
    assert m.impact_ratio(None, y, protected=s, zero_division=1) == 1
    assert m.mutual_information(None, y, protected=s, normalized=False) == 0
    assert m.odds_ratio(None, y, protected=s, haldane=True) == 1


def test_zero_rates_of_one_group():
    y, s = [1, 0, 0, 0], [0, 0, 1, 1]
    assert m.impact_ratio(None, y, protected=s, reference=0) == 0
    assert m.impact_ratio(None, y, protected=s, reference=1) == np.inf
    assert m.odds_ratio(None, y, protected=s, reference=0) == np.inf
    assert m.odds_ratio(None, y, protected=s, reference=0, haldane=True) == 5
    row = m.impact_ratio_report(None, y, protected=s, reference=0).iloc[0]
    assert row.ci_low == 0
    assert 0 < row.ci_high < np.inf
    row = m.odds_ratio_report(None, y, protected=s, reference=0).iloc[0]
    assert row.ci_high == np.inf


def test_no_favorable_label():
    t, y, s = [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]
    for name in ("equal_opportunity", "equalized_odds", "average_odds_difference"):
        with UNDEFINED:
            assert np.isnan(getattr(m, name)(t, y, protected=s))


def test_an_undefined_group_is_listed_and_the_others_are_measured():
    t = [1, 0, 1, 0, 0, 0]
    y = [1, 0, 0, 0, 1, 0]
    s = list("aabbcc")
    with UNDEFINED:
        assert np.isnan(m.equal_opportunity(t, y, protected=s, reference="a"))
    with UNDEFINED:
        assert m.equal_opportunity(t, y, protected=s, reference="a", average="defined") == 1
    table = m.equal_opportunity_report(t, y, protected=s, reference="a").set_index("group")
    assert table["excluded"].to_dict() == {"b": False, "c": True}
    assert "a denominator of the formula is 0" in table.loc["c", "reason"]
    assert np.isnan(table.loc["c", ["estimate", "ci_low", "p_value"]].astype(float)).all()


def test_missing_protected_values():
    y, s = [1, 0, 1, 0, 1, 1], ["a", "a", "b", "b", None, np.nan]
    table = m.mean_difference_report(None, y, protected=s, reference="a")
    assert len(table) == 2
    assert table["group"].isna().sum() == 1
    assert table.loc[table["group"].isna(), "estimate"].item() == -0.5
    table = m.mean_difference_report(None, y, protected=s, missing="drop")
    assert table["n"].tolist() == [2]
    with pytest.raises(ValueError, match="2 of 6 rows have a missing value"):
        m.mean_difference(None, y, protected=s, missing="raise")


def test_a_category_without_rows_is_listed():
    s = pd.Series(["a", "a", "b", "b"], dtype=pd.CategoricalDtype(["a", "b", "c"]))
    table = m.mean_difference_report(None, [1, 0, 1, 0], protected=s).set_index("group")
    assert table.loc["c", "reason"] == "the group is empty"
    assert np.isnan(table.loc["c", "estimate"])


# Nobody of c has a favorable label: true positive rates of a and b are equal, that of c is unknown,
# and its false positive rate is 1/6 above the 0 of the others.
SOMEBODY = {
    "t": [1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    "y": [1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0],
    "s": list("aaaaaaa" + "bbbbb" + "cccccc"),
}


@pytest.mark.parametrize("reference", ["largest", "rest", "overall", "pairs", "a"])
def test_a_group_without_favorable_labels_is_not_without_a_gap(reference):
    t, y, s = SOMEBODY.values()
    with pytest.warns(
        UndefinedMeasureWarning, match="protected=c.* The value is therefore NaN"
    ) as caught:
        assert np.isnan(m.equalized_odds(t, y, protected=s, reference=reference))
    assert len(caught) == 1
    model, X = _Decided(y), pd.DataFrame({"town": s})
    scorer = m.get_scorer("neg_abs_equalized_odds", protected="town", reference=reference)
    with UNDEFINED:
        assert np.isnan(scorer(model, X, t))


def test_a_maximum_over_what_is_defined():
    t, y, s = SOMEBODY.values()
    how = {"reference": "a", "average": "defined"}
    assert m.equalized_odds(t, y, protected=s, **how) == pytest.approx(1 / 6)
    scorer = m.get_scorer("neg_abs_equalized_odds", protected="town", **how)
    assert scorer(_Decided(y), pd.DataFrame({"town": s}), t) == pytest.approx(-1 / 6)
    with UNDEFINED:  # a mean of two gaps is not known from one of them
        assert m.average_odds_difference(t, y, protected=s, **how) == 0
    same = {"protected": s, "strata": np.zeros(len(s)), **how}
    assert m.stratified(m.equalized_odds, t, y, **same) == pytest.approx(1 / 6)


@pytest.mark.parametrize("name", ["equal_opportunity", "predictive_parity", "impact_ratio"])
@pytest.mark.parametrize("average", ["max", "weighted"])
def test_one_undefined_group_makes_function_and_scorer_nan(name, average):
    t = [1, 0, 1, 1, 0, 1, 0, 0, 0]
    y = [0, 0, 0, 0, 0, 0, 0, 0, 0] if name == "impact_ratio" else [1, 0, 0, 1, 0, 1, 0, 0, 0]
    s = list("aaabbbccc")
    with UNDEFINED:
        assert np.isnan(getattr(m, name)(t, y, protected=s, average=average))
    scorer = m.DisparityScorer(name, protected="town", average=average)
    with UNDEFINED:
        assert np.isnan(scorer(_Decided(y), pd.DataFrame({"town": s}), t))


def test_groups_below_min_size_make_no_value_undefined():
    t, y, s = SOMEBODY.values()
    s = [*s[:-6], *"cccccd"]  # one person of d, of whom no rate is asked
    how = {"min_size": 2, "average": "max"}
    keep = np.array(s) != "c"
    t, y, s = np.array(t)[keep], np.array(y)[keep], np.array(s)[keep]
    with pytest.warns(UndefinedMeasureWarning, match="is undefined for protected=d; the report"):
        assert m.equalized_odds(t, y, protected=s, **how) == 0
    scorer = m.DisparityScorer("equalized_odds", protected="town", options=how)
    with UNDEFINED:
        assert scorer(_Decided(y), pd.DataFrame({"town": s}), t) == 0


class _Decided:
    """A model that returns decisions made before."""

    def __init__(self, decisions):
        self.decisions = np.array(decisions)

    def predict(self, X):
        return self.decisions


def test_small_groups_are_left_out():
    y, s = [1, 0] * 5 + [1], ["a"] * 10 + ["b"]
    with UNDEFINED:
        assert np.isnan(m.mean_difference(None, y, protected=s, min_size=2))
    row = m.mean_difference_report(None, y, protected=s, min_size=2).iloc[0]
    assert row.reason == "fewer than 2 rows (min_size)"


def test_strata_with_one_group_are_left_out_and_counted():
    y, s, z = [1, 0, 1, 1, 1], [0, 1, 0, 1, 1], [7, 7, 8, 8, 9]
    how = {"protected": s, "reference": 0, "explanatory": z}
    assert m.unexplained_difference(None, y, **how) == 0.5
    row = m.unexplained_difference_report(None, y, **how).iloc[0]
    assert row.reason == "left out: strata with a single group, 20.0% of rows"
    assert not row.excluded
    with UNDEFINED:
        how["explanatory"] = [1, 2, 1, 2, 2]
        assert np.isnan(m.unexplained_difference(None, y, **how))


def test_stratified_lists_every_stratum():
    y, s, z = [1, 0, 1, 1, 1], [0, 1, 0, 1, 1], [7, 7, 8, 8, 9]
    table = m.stratified_report(
        m.impact_ratio, None, y, protected=s, reference=0, strata=z
    ).set_index("stratum")
    assert table["estimate"].tolist()[:2] == [0, 1]
    assert table.loc[2, "reason"] == "there is no group to compare with"
    assert table.loc["all", "estimate"] == 0
    assert "20" in table.loc["all", "reason"] or "16.7" in table.loc["all", "reason"]


def test_targets_that_a_measure_is_not_defined_for():
    y, s = [0.5, 1.5, 2.5], ["a", "b", "b"]
    with pytest.raises(ValueError, match="defined for binary decisions, got numbers"):
        m.impact_ratio(None, y, protected=s)
    assert m.mean_difference(None, y, protected=s, reference="b") == 1.5
    ages = np.arange(40)
    with pytest.raises(ValueError, match="number with 40 values"):
        m.mean_difference(None, ages % 2, protected=ages)
    with pytest.raises(
        ValueError, match=r"pos_label is not set, and the values of y_pred are \['no', 'yes'\]"
    ):
        m.mean_difference(None, ["yes", "no"], protected=["a", "b"])
    with pytest.raises(ValueError, match="never occurs in y_pred"):
        m.mean_difference(None, ["yes", "no"], protected=["a", "b"], pos_label=1)
    with pytest.raises(ValueError, match="y_true is needed"):
        m.equal_opportunity(None, [1, 0], protected=["a", "b"])
    with pytest.raises(ValueError, match="y_pred is None"):
        m.mean_difference([1, 0], None, protected=["a", "b"])
    with pytest.raises(ValueError, match="is not a group of"):
        m.mean_difference(None, [1, 0], protected=["a", "b"], reference="z")
    with pytest.raises(ValueError, match="missing values"):
        m.mean_difference(None, [1, np.nan], protected=["a", "b"])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        m.mean_difference(None, [1, 0], protected=["a", "b", "c"])


def test_the_catalogue_says_what_is_possible():
    ages, rng = np.arange(300.0), np.random.default_rng(0)
    y_true, y, s = (rng.integers(0, 2, 300) for _ in range(3))
    more = {"X": ages[:, None], "explanatory": y_true}
    for name, entry in m._formula._catalogue.CATALOGUE.items():
        measure = getattr(m, name)
        if not hasattr(measure, "plan"):
            continue
        how = {k: v for k, v in more.items() if k in measure.plan.options}
        if entry.target == ("numeric",):
            with pytest.raises(ValueError, match=r"got classes\. Pass pos_label=None"):
                measure(y_true, y, protected=s, **how)
            how["pos_label"] = None
        assert np.isfinite(measure(y_true, y, protected=s, **how)), name
        for what, value in (("protected", {"protected": ages}), ("target", {"protected": s})):
            decided = y if what == "protected" else rng.random(300)
            if "numeric" in getattr(entry, what):
                assert np.isfinite(measure(y_true, decided, **value, **how)), name
            else:
                with pytest.raises(ValueError, match=r"numbers|is a number"):
                    measure(y_true, decided, **value, **how)


def test_mutual_information_of_numbers():
    rng = np.random.default_rng(0)
    age = rng.normal(size=2000)
    assert m.mutual_information(None, age**3, protected=age) == pytest.approx(1)
    assert m.mutual_information(None, rng.normal(size=2000), protected=age) < 0.03
    assert len(m.mutual_information_report(None, age > 0, protected=age)) == 1


def test_labels_of_any_type():
    y, s = ["hired", "no", "maybe", "no"], ["m", "m", "f", "f"]
    assert m.mean_difference(None, y, protected=s, pos_label="hired", reference="m") == 0.5
    assert m.mean_difference(None, y, protected=s, pos_label={"hired", "maybe"}) == 0
    assert m.mean_difference(None, np.array([True, False]), protected=[0, 1], reference=0) == 1


def test_references():
    y = [1, 1, 0, 1, 0, 0, 0, 0, 1]
    s = list("aaabbcccc")
    means = {"a": 2 / 3, "b": 1 / 2, "c": 1 / 4}
    table = m.mean_difference_report(None, y, protected=s)
    assert set(table["reference"]) == {"c"}
    table = m.mean_difference_report(None, y, protected=s, reference="best")
    assert set(table["reference"]) == {"a"}
    assert (table["estimate"] > 0).all()
    table = m.mean_difference_report(None, y, protected=s, reference="overall").set_index("group")
    for group, mean in means.items():
        assert table.loc[group, "estimate"] == pytest.approx(4 / 9 - mean)
    table = m.mean_difference_report(None, y, protected=s, reference="pairs")
    assert list(zip(table["reference"], table["group"], strict=True)) == [
        ("c", "a"),
        ("c", "b"),
        ("a", "b"),
    ]
    rest = m.mean_difference_report(None, y, protected=s, reference="rest").set_index("group")
    assert rest.loc["c", "estimate"] == pytest.approx(3 / 5 - 1 / 4)
    weighted = m.mean_difference(None, y, protected=s, reference="best", average="weighted")
    assert weighted == pytest.approx((2 * (2 / 3 - 1 / 2) + 4 * (2 / 3 - 1 / 4)) / 6)


def test_the_smaller_group_is_compared_with_the_larger_by_default():
    rng = np.random.default_rng(0)
    y_true, y, s = (rng.integers(0, 2, 300) for _ in range(3))
    s[:80] = 1  # the larger group
    more = {"X": rng.normal(size=(300, 1)), "explanatory": y_true}
    n_compared = 0
    for name, entry in m._formula._catalogue.CATALOGUE.items():
        plan = getattr(getattr(m, name), "plan", None)
        if plan is None or not {"binary"} <= set(entry.protected):
            continue
        how = {k: v for k, v in more.items() if k in plan.options}
        decided = (None, rng.normal(size=300)) if entry.target == ("numeric",) else (y_true, y)
        how |= {"pos_label": None} if entry.target == ("numeric",) else {}
        table = getattr(m, f"{name}_report")(*decided, protected=s, **how)
        references = set(table.get("reference", pd.Series(dtype=object)).dropna())
        if not references <= {"all groups", "none"}:  # as measures of all groups at once have
            assert (references, set(table["group"])) == ({1}, {0}), name
            n_compared += 1
    assert n_compared >= 20


def test_intersections():
    X = pd.DataFrame({"sex": list("mmff") * 3, "race": list("ab") * 6})
    y = [1, 1, 1, 0] * 3
    table = m.mean_difference_report(None, y, protected=X, intersections=2, reference="rest")
    assert table["attribute"].value_counts().to_dict() == {"sex": 2, "race": 2, "sex & race": 4}
    worst = m.mean_difference(None, y, protected=X, intersections=2, reference="rest")
    assert worst == 1
    assert m.mean_difference(None, y, protected=X, reference="rest") in (0.5, -0.5)
    by_name = {"sex": "m", "race": "a"}
    table = m.mean_difference_report(None, y, protected=X, intersections=2, reference=by_name)
    assert table["reference"].tolist() == ["m", "a", *[("m", "a")] * 3]
    with pytest.raises(ValueError, match="intersections must lie between"):
        m.mean_difference(None, y, protected=X["sex"], intersections=2)


def test_situation_testing_needs_enough_neighbors():
    y, s, x = [1, 0, 1, 0], [0, 0, 1, 1], [[0], [1], [0], [1]]
    with UNDEFINED:
        assert np.isnan(m.situation_testing(None, y, protected=s, X=x, n_neighbors=2))


def test_consistency_conventions_differ_for_numbers_only():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    d = y > 0
    pairs, mean = (
        m.consistency(None, d, X=X, convention=c, pos_label=True) for c in ("pairs", "mean")
    )
    assert pairs == pytest.approx(mean)
    pairs, mean = (m.consistency(None, y, X=X, convention=c) for c in ("pairs", "mean"))
    assert pairs < mean


def test_consistency_by_group_and_order():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 3, 60), "b": rng.choice(list("xy"), 60)})
    y, s = rng.integers(0, 2, 60), rng.choice(list("mf"), 60)
    table = m.consistency_report(None, y, X=X, protected=s)
    assert table["group"].tolist()[0] == "everyone"
    everyone, *parts = table["estimate"]
    assert everyone == pytest.approx(np.average(parts, weights=table["n"][1:]))
    order = rng.permutation(60)
    assert m.consistency(None, y[order], X=X.iloc[order]) == pytest.approx(everyone)


def test_twin_test():
    class Blind:
        def predict(self, X):
            return (X["x"] > 0).astype(int)

    class Biased:
        def predict(self, X):
            return np.where(X["sex"] == "m", "yes", "no")

    X = pd.DataFrame({"x": [-1, 1, 2], "sex": ["m", "f", "f"]})
    assert m.twin_test(Blind(), X, protected="sex") == 0
    assert m.twin_test(Biased(), X, protected="sex") == 1
    table = m.twin_test_report(Biased(), X, protected=["sex"])
    assert table["n"].tolist() == [3, 2, 1]
    alone = m.twin_test_report(Blind(), X[X["sex"] == "f"], protected="sex").iloc[0]
    assert np.isnan(alone.estimate)
    assert alone.reason


def test_lipschitz_ratio():
    assert m.lipschitz_ratio(None, [0, 1], X=[[1], [1]]) == np.inf
    assert m.lipschitz_ratio(None, [1, 1], X=[[0], [1]]) == 0
    table = m.lipschitz_ratio_report(None, [0, 0, 1], X=[[0], [9], [10]], protected=list("abc"))
    assert table.loc[0, ["row", "counterpart", "group"]].tolist() == [1, 2, "b"]


def test_balanced_error_rate():
    rng = np.random.default_rng(0)
    s = rng.choice(list("mf"), 400)
    noise = pd.DataFrame({"x": rng.normal(size=400), "c": rng.choice(list("ab"), 400)})
    row = m.balanced_error_rate_report(noise, protected=s).iloc[0]
    assert row.ci_low < 0.5 < row.ci_high
    proxy = noise.assign(zip=np.where(rng.random(400) < 0.9, s, "m"))
    row = m.balanced_error_rate_report(proxy, protected=s).iloc[0]
    assert row.estimate < 0.15
    assert row.p_value < 1e-6
    assert np.isnan(m.balanced_error_rate(noise, protected=np.repeat("m", 400)))
    numbers = m.balanced_error_rate(noise[["x"]].to_numpy(), protected=s)
    assert 0.4 < numbers < 0.6


def test_belift_with_redlining_columns_and_an_estimator():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    s, z, r = (rng.integers(0, 2, 400) for _ in range(3))
    y = (rng.random(400) < 0.8 - 0.4 * s).astype(int)
    how = {"protected": s, "reference": 0, "explanatory": z}
    shares = m.belift(None, y, redlining=r, **how)
    tree = m.belift(None, y, redlining=r, estimator=DecisionTreeClassifier(), **how)
    assert 0.4 < shares < 0.8
    assert tree == pytest.approx(shares)


def test_belift_with_an_estimator_counts_weights():
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    s, z, r = (rng.integers(0, 2, 400) for _ in range(3))
    y = (rng.random(400) < 0.8 - 0.4 * s).astype(int)
    weight = np.where(y == r, 0.5, 3)
    how = {"protected": s, "reference": 0, "explanatory": z, "redlining": r}
    how["sample_weight"] = weight
    tree = m.belift(None, y, estimator=DecisionTreeClassifier(), **how)
    assert tree == pytest.approx(m.belift(None, y, **how))
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        m.belift(None, y, estimator=KNeighborsClassifier(), **how)


def test_propensity_strata_remove_a_difference_that_x_explains():
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000)
    s = (rng.random(4000) < 1 / (1 + np.exp(-x))).astype(int)
    y = (rng.random(4000) < 1 / (1 + np.exp(x))).astype(int)
    plain = m.mean_difference(None, y, protected=s, reference=0)
    left = m.propensity_stratified_difference(
        None, y, protected=s, reference=0, X=x[:, None], n_strata=10
    )
    assert abs(left) < plain / 5
    clusters = m.cluster_strata(x[:, None], 10)
    left = m.unexplained_difference(None, y, protected=s, reference=0, explanatory=clusters)
    assert abs(left) < plain / 5


def test_nullable_truth_values_are_names_to_strata():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=200), "owns": rng.random(200) < 0.3})
    same = X.astype({"owns": "boolean"})
    assert np.array_equal(design(X), design(same))
    s = rng.integers(0, 2, 200)
    assert np.array_equal(m.propensity_strata(X, s), m.propensity_strata(same, s))


def test_calibration():
    rng = np.random.default_rng(0)
    score = rng.random(4000)
    t = (rng.random(4000) < score).astype(int)
    s = rng.choice(list("mf"), 4000)
    assert m.calibration_within_groups(t, score, protected=s) < 0.05
    harsh = np.where(s == "f", score / 2, score)
    table = m.calibration_within_groups_report(t, harsh, protected=s, n_resamples=9)
    assert table.set_index("group")["estimate"].to_dict() == pytest.approx(
        {"f": 0.25, "m": 0.02}, abs=0.03
    )
    assert m.calibration_difference(t, harsh, protected=s, reference="m") > 0.1
    with pytest.raises(ValueError, match="scores between 0 and 1"):
        m.calibration_difference(t, harsh * 10, protected=s)


@pytest.mark.parametrize("n", [6, 7, 11])
def test_a_slope_that_explains_all_has_no_error(n):
    y = (np.arange(n) > n // 2).astype(int)
    for weight in (None, np.arange(n) + 1):
        how = {"protected": y, "reference": 0, "sample_weight": weight, "weights": "frequency"}
        assert m.regression_slope_test(None, y, **how) == np.inf
        assert m.regression_slope_test(None, y + 1e6, pos_label=None, **how) == np.inf
        assert m.regression_slope_test_report(None, 1 - y, **how).iloc[0].p_value == 0


def test_opposite_infinite_slopes_have_no_average():
    y, s = [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1]
    how = {"protected": s, "reference": "rest"}
    assert np.isnan(m.regression_slope_test(None, y, average="weighted", **how))
    assert m.regression_slope_test(None, y, **how) == -np.inf  # the worse of the two


@pytest.mark.slow
def test_situation_testing_counts_as_the_detector_does():
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "x": rng.integers(0, 20, n)})
    y = rng.integers(0, 2, n)
    for direction in ("lower", "higher", "both"):
        for threshold in (0.0, 0.2, 0.3):  # of ten, differences of exactly .2 and .3 are frequent
            detector = SituationTesting(
                protected="sex",
                group="F",
                reference="M",
                n_neighbors=10,
                threshold=threshold,
                direction=direction,
                criterion="gap",
                similarity=Similarity(caliper=None),
            )
            wanted = detector.fit(X, y).result_.tables["counts"]["share"][0]
            found = m.situation_testing(
                None,
                y,
                protected=X["sex"],
                reference="M",
                X=X[["x"]],
                n_neighbors=10,
                threshold=threshold,
                direction=direction,
            )
            assert found == pytest.approx(wanted)
    with pytest.raises(ValueError, match="direction"):
        m.situation_testing(None, y, protected=X["sex"], X=X[["x"]], direction="up")
