"""What does the FACTS paper report, and what comes out here?

Prints, for Adult by sex and by race, COMPAS and German, the counts of the paper's table 12 and the
paper's figures for its first subgroups, each beside ours. Preprocessing, split (70 to 30,
stratified, seed 131313), support and weights are the paper's as far as it gives them; the model is
a logistic regression behind a one-hot encoder. Nothing is fitted to the paper's figures.

Run: python benchmarks/paper_facts.py [DATA]
"""

import argparse
import os
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skdisc import BlackBox, Predicate, Subgroup
from skdisc.subgroup import FACTS, Actions, Costs

HOURS = ["PartTime", "MidTime", "FullTime", "OverTime", "BrainDrain"]
RULES = {
    "monotone": {"age": 1, "education-num": 1},
    "max_step": {"age": 2, "education-num": 2},
}
WEIGHTS = {
    **{"native-country": 4, "marital-status": 5, "relationship": 5, "age": 10},
    **{"occupation": 4, "workclass": 2, "hours-per-week": 2, "education-num": 3},
}
COUNTS = ("first group", "second group", "actions", "common", "valid pairs", "subgroups")
TABLE_12 = {
    "Adult by sex": (27_510, 28_176, 57_008, 13_300, 97_413, 12_556),
    "Adult by race": (27_767, 24_664, 56_394, 18_692, 112_879, 15_672),
    "COMPAS": (1_431, 3_984, 2_895, 95, 188, 88),
    "German": (244_777, 241_287, 83_631, 36_970, 117_143, 31_509),
}
FIRST = {  # subgroup; paper: its largest effectiveness in each group, bias against
    "Adult by sex": [
        (
            {
                **{"age": "(41.0, 50.0]", "marital-status": "Never-married"},
                **{"race": "White", "relationship": "Not-in-family"},
            },
            {"Male": "none of 70 %", "Female": "70.49 %"},
            "Male",
        ),
        (
            {
                **{"workclass": "Private", "hours-per-week": "FullTime", "race": "White"},
                **{"marital-status": "Married-civ-spouse", "occupation": "Adm-clerical"},
            },
            {"Male": "80.00 %", "Female": "74.51 %"},
            "Female",
        ),
        (
            {"age": "(41.0, 50.0]", "occupation": "Sales"},
            {"Male": "39.74 %", "Female": "6.94 %"},
            "Female",
        ),
        (
            {
                **{"hours-per-week": "FullTime", "occupation": "Adm-clerical"},
                "marital-status": "Married-civ-spouse",
            },
            {"Male": "72.00 %", "Female": "none of 70 %"},
            "Female",
        ),
    ],
    "Adult by race": [
        (
            {
                **{"hours-per-week": "FullTime", "native-country": "United-States"},
                **{"occupation": "Adm-clerical", "relationship": "Married"},
            },
            {"White": "70.00 %", "Non-White": "none of 30 %"},
            "Non-White",
        ),
        (
            {
                **{"hours-per-week": "PartTime", "marital-status": "Divorced"},
                "native-country": "United-States",
            },
            {"White": "16.16 %", "Non-White": "0.00 %"},
            "Non-White",
        ),
    ],
    "COMPAS": [
        (
            {
                **{"age_cat": "25 - 45", "c_charge_degree": "M", "juv_misd_count": 0},
                "priors_count": "(10.0, 15.0]",
            },
            {"Caucasian": "100.00 %", "African-American": "100.00 %"},
            "African-American",
        ),
        (
            {"c_charge_degree": "M", "juv_other_count": 1},
            {"Caucasian": "42.86 %", "African-American": "none of 30 %"},
            "African-American",
        ),
        (
            {
                **{"age_cat": "Greater than 45", "c_charge_degree": "F", "juv_fel_count": 0},
                **{"juv_misd_count": 0, "juv_other_count": 0, "sex": "Male"},
            },
            {"Caucasian": "7.14 %", "African-American": "0.00 %"},
            "African-American",
        ),
    ],
    "German": [],
}


def ordered(values):
    """Return values as ordered text."""
    known = sorted(values.dropna().unique())
    return pd.Categorical(values.map(str), list(map(str, known)), ordered=True)


def adult(folder):
    table = pd.read_csv(folder / "adult.csv.gz")
    table = table[(table != "?").all(axis=1)].reset_index(drop=True)
    y = (table["income"] == ">50K").astype(int)
    X = table.drop(columns=["fnlwgt", "education", "income", "split"])
    X["relationship"] = X["relationship"].replace({"Husband": "Married", "Wife": "Married"})
    X["hours-per-week"] = pd.cut(X["hours-per-week"], [0.9, 25, 39, 40, 55, 100], labels=HOURS)
    X["age"] = ordered(pd.qcut(X["age"], 5))
    X["education-num"] = pd.Categorical(X["education-num"], range(1, 17), ordered=True)
    words = X.columns[X.dtypes.map(pd.api.types.is_string_dtype)]
    return X.astype(dict.fromkeys(words, "category")), y


def compas(folder):
    table = pd.read_csv(folder / "compas.csv.gz", low_memory=False)
    kept = table["days_b_screening_arrest"].between(-30, 30) & (table["is_recid"] != -1)
    kept &= (table["c_charge_degree"] != "O") & table["c_charge_desc"].notna()
    kept &= table["race"].isin(["African-American", "Caucasian"])
    table = table[kept].reset_index(drop=True)
    names = ["sex", "age_cat", "race", "juv_fel_count", "juv_misd_count", "juv_other_count"]
    X = table[[*names, "priors_count", "c_charge_degree"]].copy()
    X["priors_count"] = ordered(pd.cut(X["priors_count"], [-0.1, 1, 5, 10, 15, 38]))
    ages = ["Less than 25", "25 - 45", "Greater than 45"]
    X["age_cat"] = pd.Categorical(X["age_cat"], ages, ordered=True)
    return X, 1 - table["two_year_recid"]  # favorable: no new offence


def german(folder):
    table = pd.read_csv(folder / "german.csv.gz")
    y = (table.pop("credit") == 1).astype(int)
    status = table.pop("personal_status")
    return table.assign(sex=np.where(status == "A92", "Female", "Male")), y


def audits(folder):
    """Yield name, rows, labels, and the detector of each audit of the paper."""
    X, y = adult(folder)
    common = {"n_bins": None, "pos_label": 1, "min_support": 0.01, "phi": (0.3, 0.7)}
    actions = Actions(immutable=["race"], **RULES)
    costs = Costs(weights=WEIGHTS, budget=(5, 10, 18))
    yield "Adult by sex", X, y, FACTS(protected="sex", actions=actions, costs=costs, **common)
    race = np.where(X["race"] == "White", "White", "Non-White")
    actions = Actions(immutable=["sex"], **RULES)
    costs = Costs(weights=WEIGHTS, budget=(1.15, 10, 21))
    by_race = FACTS(protected="race", actions=actions, costs=costs, **common)
    yield "Adult by race", X.assign(race=race), y, by_race
    actions = Actions(monotone={"age_cat": 1}, immutable=["sex"])
    costs = Costs(weights={"age_cat": 10}, budget=(1, 10))
    yield "COMPAS", *compas(folder), FACTS(protected="race", actions=actions, costs=costs, **common)
    by_sex = FACTS(protected="sex", actions=Actions(monotone={"age": 1}), **common)
    yield "German", *german(folder), by_sex.set_params(min_support=0.04)


def fit(X, y, model):
    """Return test rows, and the model fitted on the others."""
    train, test, y_train, _ = train_test_split(X, y, test_size=0.3, random_state=131313, stratify=y)
    words = make_column_selector(dtype_exclude="number")
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        remainder=StandardScaler(),
    )
    return test.reset_index(drop=True), make_pipeline(columns, model).fit(train, y_train)


def as_subgroup(conditions):
    return Subgroup([Predicate.equals(c, v) for c, v in conditions.items()])


def show_first(name, recourse):
    for conditions, paper, against in FIRST[name]:
        group = as_subgroup(conditions)
        print(f"  {group}")
        if group not in recourse.subgroups:
            print("    not a common subgroup here")
            continue
        rows = recourse.counterfactuals(group).groupby("group")
        for predicate in recourse.groups:
            best = rows["effectiveness"].max()[str(predicate)]
            covered = rows["coverage"].first()[str(predicate)]
            value = predicate.values[0]
            print(f"    {value}: {covered:.2%} covered, at most {best:.2%}; paper {paper[value]}")
        bias = recourse.profile(group)["bias_against"].dropna().value_counts().to_dict()
        print(f"    bias against, over all notions: {bias}; paper: {against}")


def show_models(folder):
    """Repeat Adult's first subgroup under boosting and a network, and race with five values."""
    X, y = adult(folder)
    group = as_subgroup(FIRST["Adult by sex"][0][0])
    settings = {"costs": Costs(weights=WEIGHTS), "n_bins": None, "pos_label": 1}
    settings |= {"min_support": 0.01}
    models = (
        HistGradientBoostingClassifier(random_state=0),
        MLPClassifier((32,), max_iter=60, random_state=0),
    )
    for model in models:
        test, fitted = fit(X, y, model)
        actions = Actions(immutable=["race"], **RULES)
        by_sex = FACTS(protected="sex", subgroups=[group], actions=actions, **settings)
        recourse = by_sex.fit(test, model=fitted).recourse_["sex"]
        print(type(model).__name__)
        print(recourse.to_text(0, "cost_of_effectiveness", phi=0.7))
    group = as_subgroup({"capital-gain": 0, "marital-status": "Divorced"})
    test, fitted = fit(X, y, LogisticRegression(max_iter=1000))
    by_race = FACTS(protected="race", subgroups=[group], actions=Actions(**RULES), **settings)
    recourse = by_race.fit(test, model=fitted).recourse_["race"]
    print(recourse.to_text(0, "choice", phi=0.7))


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("data", nargs="?", default=os.environ.get("SKDISC_DATA", beside))
    folder = Path(parser.parse_args().data)
    for name, X, y, detector in audits(folder):
        test, model = fit(X, y, LogisticRegression(max_iter=1000))
        started = perf_counter()
        detector.fit(test, model=BlackBox(model, n_jobs=2))
        seconds = perf_counter() - started
        recourse = detector.recourse_[detector.protected]
        print(f"{name}: {seconds:.1f} s, {recourse.n_affected.sum():,} affected people,", end=" ")
        print(f"{detector.result_.n_queries:,} distinct rows asked about")
        counts = list(recourse.mining.values())[:6]
        for what, mine, paper in zip(
            COUNTS, [counts[1], counts[0], *counts[2:]], TABLE_12[name], strict=True
        ):
            print(f"  {what:12}  {mine:>9,}   paper {paper:>9,}   {mine / paper:6.2f}")
        show_first(name, recourse)
        print(recourse.ranking_analysis().to_string(index=False))
    show_models(folder)


if __name__ == "__main__":
    main()
