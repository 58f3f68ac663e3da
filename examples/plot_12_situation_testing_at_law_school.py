"""
How were similar applicants admitted, by race, by gender and by both?
=====================================================================

An admission rule is a weighted sum of an average grade and a test score. Situation testing
compares applicants with people who have similar grades and scores. Counterfactual situation
testing compares them with people who are similar to their counterfactual self of another race or
gender. The data and the rule are those of a published study.
"""

# %%
# The applicants, the rule, and the causal model: race and gender affect grade and test.
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc import report
from skdisc.causal import StructuralCausalModel
from skdisc.datasets import fetch_law_school
from skdisc.individual import (
    CounterfactualFairness,
    CounterfactualSituationTesting,
    Similarity,
    SituationTesting,
)
from skdisc.plotting import WorldsDisplay, plot_case_counts, plot_complainant, plot_groups

law = fetch_law_school(scenario="cst").frame
X = law[["sex", "race_nonwhite", "LSAT", "UGPA"]]
scm = StructuralCausalModel(
    [(a, b) for a in ("sex", "race_nonwhite") for b in ("LSAT", "UGPA")]
).fit(X)


def admit(X):
    """Return the decisions of the rule."""
    return (0.6 * X["UGPA"] + 0.4 * X["LSAT"] >= 20.8).astype(int)


admitted = admit(X).groupby([X["race_nonwhite"], X["sex"]]).agg(["size", "mean"])
print(admitted.rename(columns={"size": "people", "mean": "admitted"}).round(4))

# %%
# Three comparisons. Each has a group of complainants, a reference group, and the features that
# define similarity; in the comparison by race, similar people also have the same gender.
grades = ["LSAT", "UGPA"]
comparisons = {
    "race": (
        {"race_nonwhite": "NonWhite"},
        {"race_nonwhite": "White"},
        [*grades, "sex"],
    ),
    "gender": ({"sex": "Female"}, {"sex": "Male"}, grades),
    "both": (
        {"race_nonwhite": "NonWhite", "sex": "Female"},
        {"race_nonwhite": "White", "sex": "Male"},
        grades,
    ),
}


def compare(group, reference, features):
    """Return the results of the three methods."""
    settings = {"protected": list(group), "group": group, "reference": reference}
    settings |= {"features": features, "n_neighbors": [15, 30, 50, 100]}
    settings |= {"criterion": "gap", "store_neighbors": len(group) > 1}
    settings |= {"similarity": Similarity(caliper=None)}  # as published: neighbors at any distance
    detectors = {
        "ST": SituationTesting(**settings),
        "CST": CounterfactualSituationTesting(counterfactuals=scm, **settings),
        "CF": CounterfactualFairness(
            protected=list(group),
            counterfactuals=scm,
            do=reference,
            group=group,
            n_resamples=0,
        ),
    }
    return {
        name: detector.set_params(pos_label=1).fit(X, model=admit).result_
        for name, detector in detectors.items()
    }


results = {name: compare(*settings) for name, settings in comparisons.items()}
for name, found in results.items():
    compared = report.compare_cases(list(found.values()), list(found))
    print(f"\n{name}: cases by number of neighbors")
    print(compared["counts"].pivot(index="method", columns="n_neighbors", values="cases"))
    print(compared["rates"].round(4).to_string(index=False))

# %%
# By race: few people are treated worse than people with similar grades, but ten times as many are
# treated worse than people similar to their counterfactual self. If the causal model is right,
# the difference is the effect of race on grades and tests, which the two distributions of the
# test show.
_, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
plot_case_counts(list(results["race"].values())[:2], ["ST", "CST"], ax=axes[0])
WorldsDisplay.from_result(
    results["race"]["CF"], "LSAT", group={"race_nonwhite": "NonWhite"}, ax=axes[1]
)

# %%
# By gender: there are differences in both directions. In the counterfactual world in which they are
# men, women have lower grades and higher test scores. The column "opposite" counts women who are
# treated better.
print(results["gender"]["CST"].tables["counts"].to_string(index=False))

# %%
# One applicant, by race and gender: her row, her counterfactual self, and the two neighborhoods.
# Then the grades of all neighborhoods and her own.
case = results["both"]["CST"]
print(case[0])
plot_complainant(case, columns=grades)
_, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
both = [results["both"][name] for name in ("ST", "CST")]
row = min(set(both[0].findings.row) & set(both[1].findings.row))
for column, ax in zip(grades, axes, strict=True):
    plot_groups(both, row, column, names=["ST", "CST"], ax=ax)

# %%
# Discrimination by two attributes can be intersectional (non-white women compared with white men)
# or multiple (women compared with men, *and* non-white people compared with white people). Few
# women have a case both by race and by gender.
multiple = CounterfactualSituationTesting(
    protected=["race_nonwhite", "sex"],
    combine="multiple",
    group={"race_nonwhite": "NonWhite", "sex": "Female"},
    reference={"race_nonwhite": "White", "sex": "Male"},
    features=grades,
    counterfactuals=scm,
    criterion="gap",
    pos_label=1,
).fit(X, model=admit)
print("intersectional", results["both"]["CST"].n_found, " multiple", multiple.result_.n_found)

# %%
# The study models the test score as a Poisson count; above it is linear. More people would then
# be admitted as men (56 in the study), or as white people (231 there).
edges = [(a, b) for a in ("sex", "race_nonwhite") for b in ("LSAT", "UGPA")]
counts = make_pipeline(OneHotEncoder(drop="first"), PoissonRegressor(alpha=0))
models = {"linear": scm, "Poisson": StructuralCausalModel(edges, regressor={"LSAT": counts}).fit(X)}
for name, model in models.items():
    worlds = {"as men": {"sex": "Male"}, "as white people": {"race_nonwhite": "White"}}
    flips = {world: admit(model.counterfactual(X, do)) > admit(X) for world, do in worlds.items()}
    print(name, {world: int(flip.sum()) for world, flip in flips.items()})

# %%
# So far every difference counts as a case, as in the study. How many are significant after
# correction for all complainants, with 15 and with 100 neighbors?
rows = {
    (name, method): found[method].tables["counts"].set_index("n_neighbors").loc[[15, 100]].stack()
    for name, found in results.items()
    for method in ("ST", "CST")
}
table = pd.DataFrame(rows).T.swaplevel(axis=1)[["gap", "interval", "adjusted"]]
print(table.astype(int).to_string())
plt.show()
