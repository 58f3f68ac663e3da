"""The published tables of situation testing, and the numbers of other conventions."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Rule
from skdisc.individual import CounterfactualSituationTesting, Similarity, SituationTesting

pytestmark = pytest.mark.slow

KS = [15, 30, 50, 100]
AS_PUBLISHED = Similarity(metric="alvarez2023")
METHODS = ("ST", "CSTwo", "CSTwi")
LOAN = {
    "std": [[55, 65, 84, 107], [433, 456, 487, 539], [440, 461, 490, 539]],
    "range": [[54, 65, 79, 102], [431, 454, 482, 537], [438, 459, 485, 537]],
}
LAW = {  # of the cells that ties do not decide; without centers, and with them
    ("White", "std"): [[309, 347, 377, 445]] * 2,
    ("White", "range"): [[303, 316, 361, 396]] * 2,
    ("Male", "std"): [[196, None, 285, 320], [196, None, 295, 320]],
    ("Male", "range"): [[148, None, None, 304]] * 2,
}
LAW_SHARED = {"Male": [77, 116, 202, 285], "White": [40, 42, 59, 64]}


def law(load, who):
    """Return features, decisions, counterfactual rows and their decisions."""
    d, cf = load("cst/clean_LawSchool"), load(f"cst/cf_LawSchool_lev3_do{who}")
    protected = {"Male": "sex", "White": "race_nonwhite"}[who]
    columns = ["sex", "race_nonwhite", "LSAT", "UGPA"]
    others = cf[["scf_LSAT", "scf_UGPA"]].set_axis(["LSAT", "UGPA"], axis=1)
    features = ["LSAT", "UGPA"] if who == "Male" else ["sex", "LSAT", "UGPA"]
    decisions = [admitted(x) for x in (d, others)]
    return d[columns], decisions[0], (others, decisions[1]), protected, features


def admitted(x):
    return (0.6 * x["UGPA"] + 0.4 * x["LSAT"] >= 20.8).astype(int)


def loan(load):
    d, cf = load("cst/LoanApplication_v2"), load("cst/cf_LoanApplication_v2")
    features = ["AnnualSalary", "AccountBalance"]
    world = cf[features], cf["LoanApproval"].to_numpy()
    return d[[*features, "Gender"]], d["LoanApproval"], world, "Gender", features


def audit(method, data, **settings):
    X, y, world, protected, features = data
    settings = {"protected": protected, "features": features, "pos_label": 1, **settings}
    settings.setdefault("similarity", Similarity(caliper=None))
    if method == "ST":
        return SituationTesting(**settings).fit(X, y).result_
    centers = method == "CSTwi"
    detector = CounterfactualSituationTesting(counterfactuals=world, centers=centers, **settings)
    return detector.fit(X, y).result_


def check_published(published, data):
    """Compare every cell of a published file: cases, those significant, their mean differences."""
    ks, table = published["k"].tolist(), published.set_index("k")
    for method in METHODS:
        result = audit(method, data, n_neighbors=ks, similarity=AS_PUBLISHED)
        people, counts = result.tables["people"], result.tables["counts"].set_index("n_neighbors")
        for rule, suffix in (("gap", ""), ("interval", "_sig")):
            assert counts[rule].tolist() == table[method + suffix].tolist()
            mean = people[people[rule]].groupby("n_neighbors")["delta"].mean().reindex(ks)
            if f"{method}_delta" in table:
                published_mean = table[f"{method}_delta{suffix}"]
                assert mean.to_numpy() == pytest.approx(published_mean.to_numpy(), nan_ok=True)
    flipped = people[people["flip"] == -1]
    assert counts["flips"].tolist() == table["CF"].tolist()
    assert flipped.groupby("n_neighbors")["interval"].sum().tolist() == table["CF_sig"].tolist()


def test_loan_table_1_and_the_whole_published_file(load):
    check_published(load("cst/results/res_LoanApplication_abs"), loan(load))


@pytest.mark.parametrize("who", ["White", "Male"])
def test_law_school_tables_4_and_5_and_the_whole_published_files(load, who):
    check_published(load(f"cst/results/res_LawSchool_{who}_abs"), law(load, who))


TABLES_2_AND_3 = {  # row: (p_c, p_t, low, high)
    44: (1, 0, 1, 1),
    5: (0.0625, 0, -0.04, 0.16),
    55: (0.8125, 0, 0.65, 0.97),
    147: (0.5, 0, 0.29, 0.71),
    150: (1, 0.9375, -0.04, 0.16),
    435: (0.375, 0, 0.18, 0.574),  # printed .58
    203: (1, 0.875, -0.01, 0.26),
    1958: (0.125, 0, -0.01, 0.26),
    218: (0.5625, 0, 0.36, 0.77),
    2926: (0.75, 0, 0.57, 0.93),
}


def test_loan_tables_2_and_3(load):
    result = audit("CSTwi", loan(load), similarity=AS_PUBLISHED)
    people = result.tables["people"].set_index("row").loc[list(TABLES_2_AND_3)]
    expected = np.array(list(TABLES_2_AND_3.values()), dtype=float)
    found = people[["p_c", "p_t", "ci_low", "ci_high"]].to_numpy()
    assert found[:, :2] == pytest.approx(expected[:, :2])
    assert found[:, 2:] == pytest.approx(expected[:, 2:], abs=0.006)


def test_relations_between_the_methods(load):
    cases = {}
    for method in METHODS:
        result = audit(method, loan(load), similarity=AS_PUBLISHED)
        cases[method] = set(result.findings.row.tolist())
    people = result.tables["people"]
    flips = set(people.loc[people["flip"] == -1, "row"].tolist())
    assert len(cases["ST"] & cases["CSTwi"]) == 55
    assert len(flips & cases["CSTwi"]) == 376
    rates = result.tables["rates"].set_index("group")
    assert rates.loc["Gender = 1", "factual"] == pytest.approx(0.6063, abs=5e-5)
    assert rates.loc["Gender = 1", "counterfactual"] == pytest.approx(0.3867, abs=5e-5)


@pytest.mark.parametrize("scale", ["std", "range"])
def test_one_common_scaler_on_the_loans(load, scale):
    for method, expected in zip(METHODS, LOAN[scale], strict=True):
        similar = Similarity(scale=scale, caliper=None)
        counts = audit(method, loan(load), n_neighbors=KS, similarity=similar).tables["counts"]
        assert counts["gap"].tolist() == expected


def test_fisher_and_correction_of_the_published_cases(load):
    expected = {"CSTwo": [250, 234], "ST": [17, 0]}
    for method, counts in expected.items():
        for correction, n in zip(("bh", "by"), counts, strict=True):
            result = audit(
                method, loan(load), similarity=AS_PUBLISHED, rule=Rule(correction=correction)
            )
            assert result.tables["counts"]["adjusted"].tolist() == [n]


@pytest.mark.parametrize("who", ["Male", "White"])
def test_shared_ties_of_situation_testing_on_the_law_school(load, who):
    how = {"n_neighbors": KS, "similarity": Similarity(scale="std", caliper=None)}
    counts = audit("ST", law(load, who), **how).tables["counts"]["gap"]
    assert counts.tolist() == LAW_SHARED[who]
    X, y, world, protected, features = law(load, who)
    order = np.random.default_rng(0).permutation(len(X))
    mixed = X.iloc[order], y.iloc[order], world, protected, features
    again = audit("ST", mixed, **how).tables["counts"]["gap"]
    assert again.tolist() == counts.tolist()


@pytest.mark.parametrize(("who", "scale"), LAW)
def test_one_common_scaler_on_the_law_school(load, who, scale):
    for method, expected in zip(METHODS[1:], LAW[who, scale], strict=True):
        similar = Similarity(scale=scale, caliper=None)
        result = audit(method, law(load, who), n_neighbors=KS, similarity=similar)
        counts = result.tables["counts"]["gap"]
        pairs = zip(counts, expected, strict=True)
        assert all(n is None or found == n for found, n in pairs), counts.tolist()


def test_two_protected_columns_at_once(load):
    d, cf = load("cst/clean_LawSchool"), load("cst/cf_LawSchool_lev3_doMaleWhite")
    others = cf[["scf_LSAT", "scf_UGPA"]].set_axis(["LSAT", "UGPA"], axis=1)
    detector = CounterfactualSituationTesting(
        protected=["sex", "race_nonwhite"],
        group={"sex": "Female", "race_nonwhite": "NonWhite"},
        reference="rest",
        features=["LSAT", "UGPA"],
        counterfactuals=(others, admitted(others)),
        similarity=Similarity(caliper=None),
    )
    X = d[["sex", "race_nonwhite", "LSAT", "UGPA"]]
    counts = detector.fit(X, admitted(d)).result_.tables["counts"]
    assert counts.loc[0, ["n", "flips"]].tolist() == [1833, 113]
    assert isinstance(detector.result_.to_frame("pairs"), pd.DataFrame)
