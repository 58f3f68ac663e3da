"""A claim of one person has its own answer, and the table says why a row is no case."""

import numpy as np
import pandas as pd
import pytest
from situations import people

from skdisc.datasets import make_loan
from skdisc.individual import CounterfactualSituationTesting, Similarity, SituationTesting

PAIR = {"protected": "sex", "group": "F", "reference": "M"}

FREE = Similarity(caliper=None)


def one_refused_woman(n=400, seed=0):
    """Return people decided alike by age, but for the women around one of 40."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": np.tile(["F", "M"], n // 2), "age": rng.uniform(20, 60, n)})
    y = np.ones(n, dtype=int)
    near = (X["sex"] == "F") & (X["age"].between(39, 41))
    y[near] = 0
    y[(X["sex"] == "M") & (X["age"] < 22)] = 0  # on average nobody is worse off
    return X, y, int(np.flatnonzero(near)[0])


def test_a_claim_does_not_wait_for_the_mean_gap_of_the_group():
    X, y, row = one_refused_woman()
    screened = SituationTesting(n_neighbors=8, **PAIR).fit(X, y).result_
    result = SituationTesting(n_neighbors=8, complainants=[row], **PAIR).fit(X, y).result_
    assert screened.verdict == result.verdict  # about all women, whoever complains
    pd.testing.assert_frame_equal(screened.tables["gaps"], result.tables["gaps"])
    claim = result.tables["claims"].iloc[0]
    assert (claim["row"], claim["answer"], claim["reason"]) == (row, "disparity found", "")
    assert (claim["p_c"], claim["p_t"]) == (1.0, 0.0)
    assert claim["p_adjusted"] == claim["p_value"] < 0.001
    assert result.n_found == len(result) == 1
    assert any("1 of 1 claims are upheld" in note for note in result.notes)


def test_screened_people_are_no_cases_where_the_mean_gap_is_open_and_the_table_says_so():
    X, y, row = one_refused_woman()
    table = SituationTesting(n_neighbors=8, **PAIR).fit(X, y).result_.tables["people"]
    mine = table.set_index("row").loc[row]
    assert mine["p_adjusted"] <= 0.05
    assert not mine["case"]
    assert mine["reason"] == "the mean gap of the group is not significant"


@pytest.mark.parametrize("settings", [{}, {"criterion": "interval"}, {"criterion": "gap"}])
def test_every_row_is_a_case_or_says_why_not(settings):
    X, y = people(gap=0.5)
    table = SituationTesting(protected="sex", **settings).fit(X, y).result_.tables["people"]
    assert set(table["case"]) == {True, False}
    assert ((table["reason"] == "") == table["case"]).all()
    lacks = table["delta"].isna()
    assert (table.loc[lacks, "reason"] == "fewer than 8 of 15 neighbors within the caliper").all()
    worse = (table["delta"] if settings else table["residual"]) > 0
    accounted = {"not treated worse", "the features account for the difference"}
    assert table.loc[~lacks & ~worse, "reason"].isin(accounted).all()
    if not settings:
        assert (table["case"] <= worse & (table["p_adjusted"] <= 0.05)).all()


def test_a_claim_whose_groups_differ_is_not_upheld():
    rng = np.random.default_rng(0)
    n = 200
    sex = np.tile(["F", "M"], n // 2)
    points = np.where(sex == "F", rng.uniform(0, 1, n), rng.uniform(2, 3, n))
    X, y = pd.DataFrame({"sex": sex, "points": points}), (points > 1.5).astype(int)
    result = SituationTesting(complainants=[0], similarity=FREE, criterion="gap", **PAIR).fit(X, y)
    claim = result.result_.tables["claims"].iloc[0]
    assert claim["p_value"] < 1e-6  # but the points account for it, and no man has as few
    assert claim["answer"] == "insufficient evidence"
    assert result.result_.n_found == 0
    assert claim["imbalance_in"] == "points"
    wanted = f"differ by {claim['imbalance']:.2f} standard deviations in points"
    assert wanted in claim["reason"]


def test_imbalance_is_that_by_hand():
    X, y = people()
    k, rows = 5, np.flatnonzero(X["sex"] == "F")[:3]
    detector = SituationTesting(
        features=["x"], n_neighbors=k, complainants=rows, similarity=FREE, **PAIR
    )
    claims = detector.fit(X, y).result_.tables["claims"]
    x, women, men = X["x"].to_numpy(), X["sex"].eq("F").to_numpy(), X["sex"].eq("M").to_numpy()
    spread = np.sqrt((x[women].var() + x[men].var()) / 2)
    for row, found in zip(claims["row"], claims["imbalance"], strict=True):
        others = women & (np.arange(len(x)) != row)
        near = [x[m][np.argsort(np.abs(x[m] - x[row]))[:k]].mean() for m in (others, men)]
        assert found == pytest.approx(abs(near[0] - near[1]) / spread)


def test_what_the_protected_attribute_changes_is_no_imbalance():
    loans = make_loan(1000, random_state=0)
    women = np.flatnonzero(loans.data["gender"] == "female")[:40]
    detector = CounterfactualSituationTesting(
        protected="gender", counterfactuals=loans.counterfactual.data, complainants=women
    )
    claims = detector.fit(loans.data, loans.target).result_.tables["claims"]
    assert claims["imbalance"].median() < 0.15  # while salaries differ by the causal model
    assert claims["answer"].eq("disparity found").any()


def test_complainants_outside_of_the_group():
    X, y = people()
    women, men = (np.flatnonzero(X["sex"] == s) for s in "FM")
    with pytest.raises(ValueError, match="None of the 2 complainants belongs to a group"):
        SituationTesting(complainants=men[:2], **PAIR).fit(X, y)
    rows = [women[0], *men[:3]]
    result = SituationTesting(complainants=rows, **PAIR).fit(X, y).result_
    assert result.tables["claims"]["row"].tolist() == [women[0]]
    assert any("3 of the complainants belong to no group" in note for note in result.notes)


def test_one_new_person_is_judged_by_the_groups_of_fit():
    X, y = people(gap=1.0)
    detector = SituationTesting(**PAIR).fit(X, y)
    assert detector.result_.verdict == "disparity found"
    row = detector.result_.findings.row[0]
    again = detector.audit(X.iloc[[row]], y.iloc[[row]]).tables["people"].iloc[0]
    assert again["case"]


@pytest.mark.parametrize("metric", ["manhattan", "alvarez2023"])
@pytest.mark.parametrize("centers", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_stored_groups_are_those_of_the_shares(metric, centers, seed):
    X, y = people(n=200, seed=seed)
    X["x"] = X["x"].round(1)  # many people at one place
    X = pd.concat([X, X.iloc[:30].assign(x=X["x"].iloc[0], job="a")], ignore_index=True)
    y = np.append(y, y[:30])
    world = X[["x", "job"]].assign(x=X["x"] + 0.5)
    rng = np.random.default_rng(seed)
    detector = CounterfactualSituationTesting(
        counterfactuals=(world, rng.integers(0, 2, len(X))),
        centers=centers,
        criterion="gap",
        similarity=Similarity(metric=metric, caliper=None),
        n_neighbors=8,
        store_neighbors=True,
        **PAIR,
    )
    result = detector.fit(X, y).result_
    kept = result.tables["neighbors"]
    for case_id in range(len(result)):
        case = kept[kept["case_id"] == case_id]
        for roles, p in ((["person", "control"], "p_c"), (["counterpart", "test"], "p_t")):
            group = case[case["role"].isin(roles) & (case["share"] > 0)]
            bad = (group["share"] * (1 - group["outcome"])).sum() / group["share"].sum()
            assert bad == pytest.approx(result.findings.table[p][case_id])


def test_published_groups_of_new_people_are_refused():
    X, y = people()
    detector = SituationTesting(similarity=Similarity(metric="alvarez2023"), **PAIR).fit(X, y)
    with pytest.raises(ValueError, match="judges the people of fit only"):
        detector.neighbors(X.iloc[[0]])


def test_numbers_as_they_are():
    X, y = people()
    X["z"] = 1000 * X["x"]
    near = Similarity(scale=None, max_distance=2.0)
    wide, narrow = (
        SituationTesting(features=[f], similarity=near, n_neighbors=5, **PAIR)
        .fit(X, y)
        .result_.tables["people"]["n_t"]
        for f in ("x", "z")
    )
    assert (wide == 5).mean() > 0.9
    assert (narrow < 5).mean() > 0.9
