"""
Who can change an unfavorable decision?
=======================================

Two people are rejected. One would be accepted with a new job, the other would be rejected after
any change. FACTS compares, within each subgroup, the actions that would help the protected
groups. The data sets are those of the paper, with its preprocessing and its random seed.
"""

# %%
# Adult as in the paper: rows with "?" are dropped, age is binned by five quantiles, hours by five
# bands, and husbands and wives are merged. The rules for actions are declared explicitly: age and
# education can increase by at most two steps.
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skdisc.datasets import fetch_adult, fetch_compas, fetch_german
from skdisc.plotting import EffectivenessCostDisplay
from skdisc.subgroup import FACTS, Actions, Costs


def ordered(values):
    """Return values as an ordered categorical of text."""
    known = sorted(values.dropna().unique())
    return pd.Categorical(values.map(str), list(map(str, known)), ordered=True)


def fit(X, y, model):
    """Return the test rows, and a model fitted on the others."""
    rows = train_test_split(X, y, test_size=0.3, random_state=131313, stratify=y)
    words = make_column_selector(dtype_exclude="number")
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((encoder, words), remainder=StandardScaler())
    return rows[1], make_pipeline(columns, model).fit(rows[0], rows[2])


table = fetch_adult().frame
table = table[(table != "?").all(axis=1)].reset_index(drop=True)
target = (table["income"] == ">50K").astype(int)
hours = ["PartTime", "MidTime", "FullTime", "OverTime", "BrainDrain"]
adult = table.drop(columns=["fnlwgt", "education", "income"]).assign(
    **{
        "age": ordered(pd.qcut(table["age"], 5)),
        "education-num": pd.Categorical(table["education-num"], range(1, 17), ordered=True),
        "hours-per-week": pd.cut(table["hours-per-week"], [0.9, 25, 39, 40, 55, 100], labels=hours),
        "relationship": table["relationship"].replace({"Husband": "Married", "Wife": "Married"}),
    }
)
X, model = fit(adult, target, LogisticRegression(max_iter=1000))
rules = {
    "monotone": {"age": 1, "education-num": 1},
    "max_step": {"age": 2, "education-num": 2},
}
costs = Costs(
    weights={
        **{"native-country": 4, "marital-status": 5, "relationship": 5, "age": 10},
        **{"occupation": 4, "workclass": 2, "hours-per-week": 2, "education-num": 3},
    }
)
settings = {"costs": costs, "n_bins": None, "pos_label": 1, "phi": (0.3, 0.7)}

# %%
# Sex is protected, and the support is 0.05 (the paper's support of 0.01 finds more, and takes about
# ten seconds). The first finding by equal effectiveness, and the same subgroup under all notions.
but_race = Actions(immutable=["race"], **rules)
by_sex = FACTS(protected="sex", min_support=0.05, actions=but_race, **settings)
by_sex.fit(X, model=model)
recourse = by_sex.recourse_["sex"]
print(by_sex.result_)
print(recourse.mining)
first = recourse.rank()["subgroup"][0]
print(recourse.to_text(first))
print(recourse.profile(first).to_string(index=False))

# %%
# The share of each sex that actions help, against their cost.
EffectivenessCostDisplay.from_result(by_sex.result_, rank=1)

# %%
# Notions differ: the number of subgroups that are most unfair, and the direction of the bias in the
# most unfair tenth of the subgroups.
print(recourse.ranking_analysis().to_string(index=False))

# %%
# The first subgroup of the paper. Its action helps more women than men, a bias against men in data
# in which most biases are against women.
single = {
    "age": "(41.0, 50.0]",
    "marital-status": "Never-married",
    "race": "White",
    "relationship": "Not-in-family",
}
rare = FACTS(protected="sex", min_support=0.01, subgroups=[single], actions=but_race, **settings)
one = rare.fit(X, model=model).recourse_["sex"]
print(one.to_text(0))

# %%
# Other models. With boosting, no action helps 70 % of either sex; with the network, one action does
# so for women only, as in figures 8 and 9 of the paper.
network = MLPClassifier((16,), max_iter=40, early_stopping=True, random_state=0)
for other in (HistGradientBoostingClassifier(random_state=0), network):
    rows, fitted = fit(adult, target, other)
    one = rare.fit(rows, model=fitted).recourse_["sex"]
    print(type(other).__name__, one.to_text(0, "cost_of_effectiveness", phi=0.7), sep="\n")

# %%
# Race with five values, each compared with all others together, among divorced people without
# capital gains.
divorced = {"capital-gain": 0, "marital-status": "Divorced"}
settings |= {"protected": "race"}
five = FACTS(subgroups=[divorced], min_support=0.01, actions=Actions(**rules), **settings)
print(five.fit(X, model=model).recourse_["race"].to_text(0, "choice", phi=0.7))

# %%
# Race with two values, white people and all others; subgroups are mined.
two = adult.assign(race=np.where(adult["race"] == "White", "White", "Non-White"))
rows, fitted = fit(two, target, LogisticRegression(max_iter=1000))
by_race = FACTS(min_support=0.05, actions=Actions(immutable=["sex"], **rules), **settings)
recourse = by_race.fit(rows, model=fitted).recourse_["race"]
first = recourse.rank("cost_of_effectiveness")["subgroup"][0]
print(recourse.to_text(first, "cost_of_effectiveness"))
print(recourse.population().to_string(index=False))

# %%
# COMPAS, with African-American and Caucasian people; the favorable prediction is no new offense.
# The counts of juvenile offenses are numbers; each of their values is an item.
table = fetch_compas().frame
table = table[table["race"].isin(["African-American", "Caucasian"])].reset_index(drop=True)
ages = ["Less than 25", "25 - 45", "Greater than 45"]
counts = ["juv_fel_count", "juv_misd_count", "juv_other_count"]
compas = table[["sex", "race", *counts, "c_charge_degree"]].assign(
    age_cat=pd.Categorical(table["age_cat"], ages, ordered=True),
    priors_count=ordered(pd.cut(table["priors_count"], [-0.1, 1, 5, 10, 15, 38])),
)
rows, fitted = fit(compas, 1 - table["two_year_recid"], LogisticRegression(max_iter=1000))
detector = FACTS(
    protected="race",
    min_support=0.01,
    actions=Actions(monotone={"age_cat": 1}, immutable=["sex"]),
    costs=Costs(weights={"age_cat": 10}),
    n_bins=None,
    pos_label=1,
)
recourse = detector.fit(rows, model=fitted).recourse_["race"]
print(recourse.to_text("c_charge_degree = 'M' and juv_other_count = 1", "cost_of_effectiveness"))

# %%
# German credit by sex. Few people are rejected, so few differences are significant.
table = fetch_german().frame
german = table.drop(columns=["credit", "personal_status"], errors="ignore")
if "sex" not in german:
    german["sex"] = np.where(table["personal_status"] == "A92", "Female", "Male")
rows, fitted = fit(german, (table["credit"] == 1).astype(int), LogisticRegression(max_iter=1000))
detector = FACTS(protected="sex", min_support=0.15, max_predicates=3, pos_label=1)
result = detector.fit(rows, model=fitted).result_
print(result.verdict, result.to_frame()[["subject", "effect", "p_adjusted"]].head(3).to_string())
