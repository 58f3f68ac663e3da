"""
Who is called "high risk"?
==========================

COMPAS scores are decisions whose outcome is known: was a defendant charged again within two years?
An outcome test and a regression on risk ask whether race matters for being called high risk. They
disagree, and the reason is the lesson.
"""

# %%
# A decile of five or more is "high risk", the decision. The labels are outcomes.
import matplotlib.pyplot as plt
import pandas as pd

from skdisc import BlackBox
from skdisc.datasets import fetch_compas
from skdisc.group import GroupDisparity, OutcomeTest, RiskAdjustedRegression, ThresholdTest
from skdisc.multiclass import OneVsRest

compas = fetch_compas()
two = compas.data["race"].isin(["African-American", "Caucasian"])
X = compas.data[two].drop(columns="age_cat").reset_index(drop=True)
again = compas.target[two].to_numpy()
high = (compas.details["decile_score"][two] >= 5).astype(int).to_numpy()
decided = BlackBox(decisions=high)
roles = {"protected": "race", "reference": "Caucasian", "pos_label": 1}

# %%
# Of those called high risk, how many were charged again?
test = OutcomeTest(**roles).fit(X, again, decided).result_
print(test.tables["rates"].drop(columns=["group", "reference"]).round(3).to_string(index=False))
print(test.reason)

# %%
# More of the African-American defendants called high risk were charged again. For a burden such as
# this, an outcome test says: *white* defendants are called high risk on less evidence. But it
# compares means over all who are above the line, not people at the line, and African-American
# defendants have higher risks, so that more of them are far above any line.
#
# How are people of *equal* risk treated? Risk is learned from those called high risk, out of fold.
regression = RiskAdjustedRegression(**roles, random_state=0).fit(X, again, decided).result_
print(regression.reason)
print(regression.notes)

# %%
# At equal risk, African-American defendants are called high risk more often, nearly everywhere.
risk = regression.tables["risk"]
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for side, name in (("group", "African-American"), ("reference", "Caucasian")):
    own = risk[risk["side"] == side]
    axis.plot(own["risk"], own["decision_rate"], "o-", label=name)
axis.set(xlabel="risk of another charge", ylabel='share called "high risk"', ylim=(0, 1))
axis.legend(loc="upper left")
plt.show()

# %%
# Risk was learned from those called high risk. If the score knows what the data lack, others of
# equal columns have another risk. Here this can be checked: the outcomes of *all* are known.
whole = RiskAdjustedRegression(**roles, outcomes="all", random_state=0)
print(whole.fit(X, again, decided).result_.reason)

# %%
# The gap stays, but two fifths of it were due to risks that are too high for those who were not
# selected. Where the outcomes of others are not known, as usual, a table says what an omitted
# column would change that moves the odds of both the decision and the outcome of one group.
table = regression.tables["sensitivity"]
print(table[table["prevalence"] == 0.5].drop(columns=["group", "reference"]).round(3).to_string())

# %%
# A third way needs no risk of each person: which thresholds lead to the rates of selection and of
# success, in cells of people whose risks differ? Age and prior charges make twelve.
age = pd.cut(X["age"], [0, 24, 29, 39, 120], labels=["under 25", "25 to 29", "30 to 39", "40 on"])
priors = pd.cut(X["priors_count"], [-1, 0, 3, 100], labels=["none", "1 to 3", "more"])
cells = X.assign(cell=age.astype(str) + ", priors: " + priors.astype(str))
thresholds = ThresholdTest(**roles, place="cell", random_state=0)
result = thresholds.fit(cells, again, decided).result_
print(result.to_frame()[["subject", "outcome", "effect", "ci_low", "ci_high"]].round(3).to_string())
print(result.verdict, "-", result.reason)

# %%
# The threshold of African-American defendants is lower by .04: they are called high risk from a
# risk of .18 on, others from .21. But the interval is wide, not least by .15 on both sides for what
# the model of risks leaves out. It points where the regression does, and is not sure of it.
shown = ["place", "side", "n", "selection_rate", "success_rate", "threshold"]
print(result.tables["places"][shown].round(2).head(12).to_string(index=False))

# %%
# Scores are shown to judges in three words. Where no word alone is the decision, each is compared
# with the rest, at a third of the level.
deciles = compas.details["decile_score"][two].to_numpy()
word = pd.cut(deciles, [0, 4, 7, 10], labels=["low", "medium", "high"]).astype(str)
words = OneVsRest(GroupDisparity(protected="race", reference="Caucasian")).fit(X, word)
own = words.table_.query("measure == 'mean_difference'")
print(words.verdict_, words.found_)
print(own[["class", "subject", "outcome", "effect", "ci_low", "ci_high"]].round(3).to_string())
