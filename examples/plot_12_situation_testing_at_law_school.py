"""
Who would have been admitted, and how do people like them fare? By race, gender and both
========================================================================================

An admission rule weighs an average grade and a test, and asks for nothing else. Situation testing
looks at people with the same grade and test score; counterfactual situation testing at people with
those that an applicant would have had as a White person, or as a man. The data and the rule are
those of a published study.
"""

# %%
# The applicants, the rule, and the causal model: race and gender come before grade and test.
import matplotlib.pyplot as plt
import pandas as pd

from skdisc import report
from skdisc.causal import StructuralCausalModel
from skdisc.datasets import fetch_law_school
from skdisc.individual import (
    CounterfactualFairness,
    CounterfactualSituationTesting,
    SituationTesting,
)
from skdisc.plotting import WorldsDisplay, plot_case_counts, plot_complainant, plot_groups

law = fetch_law_school(scenario="cst").frame
X = law[["sex", "race_nonwhite", "LSAT", "UGPA"]]
scm = StructuralCausalModel(
    [(a, b) for a in ("sex", "race_nonwhite") for b in ("LSAT", "UGPA")]
).fit(X)


def admit(X):
    """Decide."""
    return (0.6 * X["UGPA"] + 0.4 * X["LSAT"] >= 20.8).astype(int)


admitted = admit(X).groupby([X["race_nonwhite"], X["sex"]]).agg(["size", "mean"])
print(admitted.rename(columns={"size": "people", "mean": "admitted"}).round(4))

# %%
# Three questions. Whose members may complain, whom they are compared with, and what makes people
# alike are named each time: in the question of race, people alike have the same gender, too.
grades = ["LSAT", "UGPA"]
questions = {
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


def ask(group, reference, features):
    """Return the results of the three methods."""
    settings = {"protected": list(group), "group": group, "reference": reference}
    settings |= {"features": features, "n_neighbors": [15, 30, 50, 100]}
    settings |= {"criterion": "gap", "store_neighbours": len(group) > 1}
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


results = {name: ask(*question) for name, question in questions.items()}
for name, found in results.items():
    compared = report.compare_cases(list(found.values()), list(found))
    print(f"\n{name}: cases by number of neighbours")
    print(compared["counts"].pivot(index="method", columns="n_neighbors", values="cases"))
    print(compared["rates"].round(4).to_string(index=False))

# %%
# By race: few people are treated worse than others with their own grades, and ten times as many
# worse than those with the grades they would have had. What lies between is what race did to grades
# and tests, if the causal model is right. It shows in the two distributions of the test.
_, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
plot_case_counts(list(results["race"].values())[:2], ["ST", "CST"], ax=axes[0])
WorldsDisplay.from_result(
    results["race"]["CF"], "LSAT", group={"race_nonwhite": "NonWhite"}, ax=axes[1]
)

# %%
# By gender: the differences run both ways. Women would have had lower grades, and higher test
# scores, as men: the column "opposite" counts women who are better off.
print(results["gender"]["CST"].tables["counts"].to_string(index=False))

# %%
# One applicant, by both: she, who she would have been, and the two groups. Then the grades of all
# groups, and of herself.
case = results["both"]["CST"]
print(case[0])
plot_complainant(case, columns=grades)
_, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
both = [results["both"][name] for name in ("ST", "CST")]
row = min(set(both[0].findings.row) & set(both[1].findings.row))
for column, ax in zip(grades, axes, strict=True):
    plot_groups(both, row, column, names=["ST", "CST"], ax=ax)

# %%
# Two ways to be discriminated against twice: as a non-white woman among white men (intersectional),
# or as a woman among men *and* as a non-white person among whites (multiple). Women who are a case
# by race are seldom one by gender.
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
# A difference is counted above wherever there is one, as the study does. How many are significant,
# after correction for everybody who may complain, with 15 neighbours and with 100?
rows = {
    (name, method): found[method].tables["counts"].set_index("n_neighbors").loc[[15, 100]].stack()
    for name, found in results.items()
    for method in ("ST", "CST")
}
table = pd.DataFrame(rows).T.swaplevel(axis=1)[["gap", "interval", "adjusted"]]
print(table.astype(int).to_string())
plt.show()
