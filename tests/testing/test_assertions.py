"""Strategies draw possible people and shrink; assertions name the person or the group."""

import contextlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import find, given, settings

from skdisc import BlackBox, FeatureSpace
from skdisc.testing import (
    assert_no_disparity,
    assert_no_individual_discrimination,
    individual_pairs,
    individuals,
    people,
)

DOMAINS = {"income": (0, 99), "town": ["a", "b", "c"], "sex": ["F", "M"], "race": ["x", "y", "z"]}
SPACE = FeatureSpace.from_domains(DOMAINS, protected=["sex", "race"])


@given(individuals(SPACE))
def test_individuals_are_possible_people(person):
    assert person.shape == (1, 4)
    assert (SPACE.encode(person) >= 0).all()


@given(people(SPACE, min_size=2, max_size=5))
def test_sizes_are_kept(X):
    assert 2 <= len(X) <= 5
    assert list(X.columns) == list(DOMAINS)


@given(individual_pairs(SPACE))
def test_pairs_differ_in_protected_columns_only(pair):
    assert len(pair) == 2
    same = pair.iloc[0] == pair.iloc[1]
    assert same[["income", "town"]].all()
    assert not same[["sex", "race"]].all()


def test_strategies_of_data_have_its_types_and_its_missing_values():
    X = pd.DataFrame(
        {
            "age": np.array([20, 30, 40], dtype=np.int32),
            "sex": pd.Categorical(["F", "M", None]),
            "score": [0.5, np.nan, 1.5],
        }
    )
    found = find(individuals(X), lambda p: p["sex"].isna().all() and p["score"].isna().all())
    assert found.dtypes.equals(X.dtypes)
    array = find(individuals(X[["age"]].to_numpy()), lambda p: p[0, 0] > 25)
    assert isinstance(array, np.ndarray)


def test_pairs_need_a_protected_column():
    with pytest.raises(ValueError, match="A pair needs a protected column with two values"):
        individual_pairs(FeatureSpace.from_domains({"income": (0, 9)}))


@pytest.mark.parametrize(("at", "town"), [(1, "a"), (37, "c"), (64, "b"), (98, "c")])
def test_the_person_named_is_the_minimal_one(at, town):
    """One flip is planted: only people of at least this income in this town are affected."""

    def model(X):
        return (X["income"] >= at) & (X["town"] == town) & (X["sex"] == "M")

    with pytest.raises(AssertionError) as error:
        assert_no_individual_discrimination(model, SPACE)
    person = f"income={at}, town='{town}', sex='F'"
    assert person in str(error.value)
    assert "sex 'F' -> 'M': 0 -> 1" in str(error.value)
    pair = find(individual_pairs(SPACE), lambda pair: model(pair).nunique() > 1)
    assert pair["income"].tolist() == [at, at]


@pytest.mark.statistics
@given(individual_pairs(SPACE))
@settings(max_examples=1000, deadline=None)
def test_a_fair_model_passes_a_thousand_examples(pair):
    decided = (pair["income"] > 40) | (pair["town"] == "b")
    assert decided.nunique() == 1


def test_a_fair_model_passes_the_assertion():
    asked = []

    def model(X):
        asked.append(len(X))
        return (X["income"] > 40) | (X["town"] == "b")

    assert_no_individual_discrimination(model, SPACE, max_queries=2000)
    assert 1000 < sum(asked) <= 2000


def test_rows_are_tried_too():
    """A case far from what a search would meet: one identifier among many."""
    X = pd.DataFrame({"id": np.arange(5000) * 1_000_003, "sex": ["F", "M"] * 2500})

    def model(X):
        return (X["id"] == 4321 * 1_000_003) & (X["sex"] == "M")

    with pytest.raises(AssertionError, match="id=4321012963"):
        assert_no_individual_discrimination(model, X, protected="sex", max_queries=40_000)


def test_people_whom_the_space_rounds_are_named_as_they_are():
    """A step of the space is a hundredth of the range; the case lies between two of them."""
    income = np.append(np.linspace(0, 1, 99) ** 2 * 50_000, 50_000.0)
    X = pd.DataFrame({"sex": ["F", "M"] * 50, "income": income})
    near = X["income"][17] - 1, X["income"][17] + 1

    def model(X):
        return X["income"].between(*near) & (X["sex"] == "M")

    with pytest.raises(AssertionError) as error:
        assert_no_individual_discrimination(model, X, protected="sex")
    text = str(error.value)
    assert text.startswith("The outcome changes with sex 'M' -> 'F': 1 -> 0.\nThe person found: ")
    assert f"income={float(X['income'][17])!r}" in text


@pytest.mark.parametrize("max_queries", [0, 1])
def test_nobody_tried_is_no_pass(max_queries):
    with pytest.raises(AssertionError, match=f"No row was tested: max_queries={max_queries}"):
        assert_no_individual_discrimination(
            lambda X: X["sex"] == "M", SPACE, max_queries=max_queries
        )


def test_probabilities_need_a_gap():
    def model(X):
        return 0.5 + 0.001 * (X["sex"] == "M").to_numpy()

    space = FeatureSpace.from_domains(DOMAINS, protected="sex")
    how = {"output": "probability", "pos_label": 1}
    assert_no_individual_discrimination(model, space, min_gap=0.01, max_queries=3000, **how)
    with pytest.raises(AssertionError, match=r"sex 'F' -> 'M': 0\.5 -> 0\.501"):
        assert_no_individual_discrimination(model, space, **how)


@pytest.fixture
def applicants():
    """Return people and decisions: 60 per cent of men, 40 of women."""
    X = pd.DataFrame({"sex": ["F", "M"] * 1000})
    place = np.arange(2000) // 2 / 1000
    return X, (place < np.where(X["sex"] == "M", 0.6, 0.4)).astype(int)


def test_the_group_is_named_with_its_numbers(applicants):
    with pytest.raises(AssertionError) as error:
        assert_no_disparity(None, *applicants, protected="sex", reference="M")
    text = str(error.value)
    assert "mean_difference is beyond 0.1:" in text
    assert "sex = 'F' (n=1000) is worse off than sex = 'M': 0.2 [" in text
    assert_no_disparity(None, *applicants, protected="sex", threshold=0.25)


def test_ratios_must_be_reached_in_both_directions(applicants):
    for reference in ("F", "M"):
        how = {"protected": "sex", "measure": "impact_ratio", "reference": reference}
        with pytest.raises(AssertionError, match=r"impact_ratio is beyond 0\.8"):
            assert_no_disparity(None, *applicants, **how)
        assert_no_disparity(None, *applicants, threshold=0.6, **how)


def test_too_few_people_do_not_pass_unless_told(applicants):
    X, _ = applicants
    with pytest.raises(AssertionError, match="Too few people to show mean_difference"):
        assert_no_disparity(None, X[:20], np.tile([0, 0, 1, 1], 5), protected="sex")
    how = {"protected": "sex", "insufficient": "pass"}
    assert_no_disparity(None, X[:20], np.tile([0, 0, 1, 1], 5), **how)


def test_a_measure_without_direction_is_refused(applicants):
    with pytest.raises(ValueError, match="'mutual_information' has no direction"):
        assert_no_disparity(None, *applicants, protected="sex", measure="mutual_information")


def test_measures_that_are_offered_are_taken(applicants):
    with pytest.raises(
        ValueError, match=r"is not a measure of groups; did you mean 'impact_ratio'\?"
    ):
        assert_no_disparity(None, *applicants, protected="sex", measure="impactratio")
    with pytest.raises(ValueError, match="'rank_test' is not a measure of groups") as error:
        assert_no_disparity(None, *applicants, protected="sex", measure="rank_test")
    offered = str(error.value).rpartition("Measures: ")[2].rstrip(".").split(", ")
    assert len(offered) > 5
    X, y = applicants
    for measure in offered:
        how = {"measure": measure, "threshold": 0.1, "insufficient": "pass"}
        with contextlib.suppress(AssertionError):  # what the measure says is another matter
            assert_no_disparity(BlackBox(decisions=y), X, y, protected="sex", **how)
