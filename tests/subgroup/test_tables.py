"""Tables of findings have the columns of each method's literature, and members' own outcomes."""

import numpy as np
import pandas as pd
import pytest
from smallest import smallest

COLUMNS = {
    "BiasScan": ["direction", "score", "observed", "expected"],
    "DivExplorer": ["metric", "rate", "divergence", "t"],
    "DiscriminationPatterns": [
        "case_id",
        "nature",
        "discrimination_score",
        "p_unfavorable_sensitive",
        "p_unfavorable_others",
        "nodes_visited",
    ],
    "DiscriminatoryRules": ["elift", "slift", "olift", "confidence", "context"],
    "SliceLine": [
        "metric",
        "slice_score",
        "sum_slice_error",
        "max_slice_error",
        "slice_size",
        "slice_average_error",
        "slice",
    ],
    "SliceFinder": ["approach", "slice_index", "slice_size", "effect_size", "metric"],
    "VeriFair": ["nodes_visited", "rate"],
}
COMMON = ["subgroup_key", "outcome", "diff_outcome", "size", "TSN", "DSN", "SUR", "DSS", "DSR"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice(list("abc"), (800, 3)), columns=["sex", "town", "job"])
    X["age"] = rng.integers(18, 60, len(X))
    denied = (X["sex"] == "a") & (X["town"] != "b")
    return X, (rng.random(len(X)) > np.where(denied, 0.8, 0.3)).astype(int)


def fit(name, people):
    return smallest(name, protected="sex").fit(*people)


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_subgroups_have_the_columns_of_the_literature(name, people):
    frame = fit(name, people).result_.to_frame("subgroups")
    assert set(people[0].columns) <= set(frame.columns)
    assert set(COLUMNS[name] + COMMON) <= set(frame.columns)


@pytest.mark.parametrize("name", sorted(set(COLUMNS) - {"VeriFair"}))
def test_subgroups_of_new_rows_have_the_columns_of_fit(name, people):
    detector = fit(name, people)
    X, y = people
    at_fit = detector.result_.to_frame("subgroups")
    again = detector.audit(X[:400], y[:400]).to_frame("subgroups")
    assert not set(at_fit.columns) - set(again.columns)
    assert again["subgroup_key"].tolist() == at_fit["subgroup_key"].tolist()


def test_gaps_to_everyone_are_those_of_the_new_rows(people):
    X, y = people[0][300:], people[1][300:]
    again = fit("DivExplorer", people).audit(X, y)
    frame = again.to_frame("subgroups")
    gaps = [y[g.mask(X)].mean() - y.mean() for g in again.findings.subgroups]
    np.testing.assert_allclose(frame["divergence"], gaps)


@pytest.mark.parametrize("name", sorted(set(COLUMNS) - {"VeriFair"}))
def test_outcomes_are_means_of_members_whom_transform_marks(name, people):
    X, y = people
    detector = fit(name, people)
    inside, result = detector.transform(X), detector.result_
    assert inside.shape == (len(X), len(result))
    assert len(detector.get_feature_names_out()) == len(result)
    errors = name.startswith("Slice")  # without a model, an error is an unfavorable label
    means = [(1 - y[m] if errors else y[m]).mean() for m in inside.T]
    np.testing.assert_allclose(result.to_frame()["outcome"], means)
    assert inside.sum(axis=0).tolist() == result.to_frame()["support"].tolist()
    overlap = result.overlap(X).to_numpy()
    both = (inside[:, 0] & inside[:, 1]).sum() / (inside[:, 0] | inside[:, 1]).sum()
    assert overlap[0, 1] == pytest.approx(both)


def test_slices_as_rules_and_counted_by_approach(people):
    result = fit("SliceFinder", people).result_
    assert result.params["approach"] == "both"
    assert set(result.to_frame("approaches")["approach"]) == {"lattice", "tree"}
    rules = result.to_frame("rules")
    names = ["case", "feature_name", "threshold", "operator", "order", "effect", "effect_size"]
    assert rules.columns.tolist() == names
    found = result.to_frame()
    for case, rows in rules.groupby("case"):
        of_slice = [p.column for p in result.findings.subgroups[case].predicates]
        assert rows["feature_name"].drop_duplicates().tolist() == of_slice
        assert rows["order"].drop_duplicates().tolist() == [*range(1, len(of_slice) + 1)]
        assert set(rows["effect"]) == {found["effect"][case]}
        assert set(rows["effect_size"]) == {found["effect_size"][case]}
    assert rules["case"].nunique() == len(result)
