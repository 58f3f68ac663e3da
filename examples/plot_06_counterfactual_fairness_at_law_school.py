"""
What would the model have predicted if these students were of another race?
===========================================================================

Law schools in the US record grade averages, admission tests and first-year grades. A model that
predicts first-year grades from the other two does not use race or gender, but it can depend on
them indirectly. A published notebook analyzes this with a causal model. The example reproduces
its numbers and explains what each of them shows.
"""

# %%
# The students and the graph of the notebook: race and gender affect grades and tests.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from skdisc import report
from skdisc.causal import CounterfactualTargets, StructuralCausalModel, sensitivity_worlds
from skdisc.datasets import fetch_law_school
from skdisc.exceptions import RefitWarning
from skdisc.individual import CounterfactualFairness
from skdisc.plotting import WorldsDisplay

fetched = fetch_law_school()
law = fetched.frame.assign(ZFYA=fetched.details["ZFYA"])
law = law[law["race"].isin(["White", "Black"])].reset_index(drop=True)
X = law[["race", "sex", "UGPA", "LSAT"]].assign(sex=law["sex"].map({1: "woman", 2: "man"}))
y = law["ZFYA"]
dag = [("race", "UGPA"), ("race", "LSAT"), ("sex", "UGPA"), ("sex", "LSAT")]
scm = StructuralCausalModel(dag, random_state=0)
scm.plot()

# %%
# One attribute. The same model predicts for the factual and the counterfactual rows of each
# student. For Black students, the prediction is 0.44 standard deviations higher in the world in
# which they are White. The interval refits the causal model to bootstrap samples.
flip_race = {"race": {"Black": "White", "White": "Black"}}
unaware = LinearRegression().fit(X[["UGPA", "LSAT"]], y)


def audit(model, do, group, **settings):
    detector = CounterfactualFairness(
        protected=["race", "sex"],
        counterfactuals=scm,
        do=do,
        group=group,
        output="value",
        random_state=0,
        **{"n_resamples": 30, **settings},
    )
    return detector.fit(X, y, model).result_


def show(result, title):
    row = result.tables["effects"].iloc[1]
    interval = f"[{row['ci_low']:.3f}, {row['ci_high']:.3f}]" if row["ci_low"] < 0 else ""
    print(f"{title:<52}{row['group']}: {row['mean']:+.3f} {interval}")


black = {"race": "Black"}
by_race = audit(unaware, flip_race, black)
show(by_race, "race, model without race")

# %%
# Two plots: the predictions, and the admission test that mediates the difference.
_, axes = plt.subplots(1, 2, figsize=(11, 4))
WorldsDisplay.from_result(by_race, group=black, ax=axes[0])
WorldsDisplay.from_result(by_race, "LSAT", group=black, ax=axes[1])

# %%
# The notebook instead trains one model on the factual rows and another on the counterfactual rows
# with the *factual* grades, and compares the two models: -0.50 on its sample, -0.51 on all
# students. The second model is never deployed. Even with noise in place of the counterfactual
# rows, the result would be -0.41, so most of it is not due to the counterfactuals.
show(audit(unaware, flip_race, black, evaluate="refit"), "race, two models as in the notebook")

# %%
# Two attributes. The intervention and the group whose mean is reported are separate parameters.
flip_both = {**flip_race, "sex": {"man": "woman", "woman": "man"}}
black_women = {"race": "Black", "sex": "woman"}
show(audit(unaware, flip_both, black_women), "race and gender, model without them")
show(
    audit(unaware, flip_both, black_women, evaluate="refit"),
    "race and gender, two models as in the notebook",
)

# %%
# The "aware" model uses race. The notebook finds a difference of 0 and concludes that the model
# is counterfactually fair. However, with race among the columns, least squares predicts the mean
# grade of each group in every world, so the difference is 0 for any data. The same model without
# refitting changes its predictions for Black students by more than one standard deviation.
codes = X.assign(race=(X["race"] == "Black") * 1.0, sex=(X["sex"] == "woman") * 1.0)
aware = LinearRegression().fit(codes, y)
flip_codes = {"race": {0.0: 1.0, 1.0: 0.0}}
for evaluate in ("refit", "model"):
    detector = CounterfactualFairness(
        protected=["race", "sex"],
        counterfactuals=scm,
        do=flip_codes,
        group={"race": 1.0},
        output="value",
        evaluate=evaluate,
        n_resamples=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RefitWarning)
        show(detector.fit(codes, y, aware).result_, f"race, model with race, evaluate={evaluate!r}")

# %%
# Two models that are fair by construction: one uses only the noise of the causal model, that is,
# the part of grades and tests that does not follow from race and gender; the other is trained on
# the grades in the world in which all students are White men.
scm.fit(X)
noise_only = LinearRegression().fit(scm.abduct(X), y)
fair = audit(lambda rows: noise_only.predict(scm.abduct(rows)), flip_race, black)
largest = np.abs(fair.tables["counterfactual"]["difference"]).max()
print(f"model of the noise: largest difference {largest:.1e}")
grades = [*dag, ("race", "ZFYA"), ("sex", "ZFYA"), ("UGPA", "ZFYA"), ("LSAT", "ZFYA")]
as_white_men = {"race": "White", "sex": "man"}
with_grades = X.assign(ZFYA=y)
targets = CounterfactualTargets(StructuralCausalModel(grades), "ZFYA", as_white_men)
moved = targets.fit(with_grades).targets(with_grades).groupby(X["race"]).mean()
print("mean grade:", y.groupby(X["race"]).mean().round(2).to_dict())
print("mean grade as White men:", moved.round(2).to_dict())

# %%
# How much of the effect could be due to confounding of race? Data cannot identify it, but the
# causal model can assume it, and the analysis is repeated over a range of assumptions.
worlds = sensitivity_worlds(scm, "race", [-0.2, -0.1, 0.0, 0.1, 0.2])
swept = audit(unaware, flip_race, black, worlds=worlds, n_resamples=0)
effects = swept.tables["effects"]
print(effects[effects["group"] == "race = 'Black'"][["world", "mean"]].round(3).to_string())

# %%
# Decisions of an admission rule that uses grades and tests only, under interventions on gender, on
# race, and on both: people who are rejected, and would be admitted in the counterfactual world.
admissions = fetch_law_school(scenario="cst")
people = admissions.frame[["sex", "race_nonwhite", "LSAT", "UGPA"]]
rule = lambda X: (0.6 * X["UGPA"] + 0.4 * X["LSAT"] >= 20.8).astype(int)  # noqa: E731
edges = [(a, b) for a in ("sex", "race_nonwhite") for b in ("LSAT", "UGPA")]
interventions = {
    "women as men": {"sex": "Male"},
    "non-white people as white people": {"race_nonwhite": "White"},
    "both": {"sex": "Male", "race_nonwhite": "White"},
}
for title, do in interventions.items():
    detector = CounterfactualFairness(
        protected=["sex", "race_nonwhite"],
        counterfactuals=StructuralCausalModel(edges),
        do=do,
        pos_label=1,
        n_resamples=0,
    )
    result = detector.fit(people, model=rule).result_
    overall = result.tables["effects"].iloc[0]
    print(
        f"{title:<34}{overall['n']:>6} people, {overall['gains']} would gain, "
        f"{overall['losses']} would lose"
    )

# %%
# The full report of the last audit.
print(report.to_text(result, max_rows=3))
plt.show()
