"""
Who would have got the loan, and how would people like them have fared?
=======================================================================

A bank decides by salary and balance, and never looks at gender; but gender has an effect on both.
Situation testing compares a woman with men who have the same salary and balance; counterfactual
situation testing compares her with men who have what she would have, had she been a man.
"""

# %%
# Loans, and what everybody would have had as a man. A causal model fitted to the data gives nearly
# the same rows as the law that made them.
from skdisc import report
from skdisc.causal import StructuralCausalModel
from skdisc.datasets import make_loan
from skdisc.individual import (
    CounterfactualFairness,
    CounterfactualSituationTesting,
    FlipTest,
    SituationTesting,
)

X, y = make_loan(2000, random_state=0, return_X_y=True)


def bank(X):
    """Decide."""
    return (X.annual_salary + 5 * X.account_balance > 225_000).astype(int)


edges = [("gender", "annual_salary"), ("gender", "account_balance")]
scm = StructuralCausalModel([*edges, ("annual_salary", "account_balance")])

# %%
# The three methods. ``criterion="gap"`` counts every difference, as the literature does; without it
# only differences count that are significant after correction for everybody tested.
settings = {"protected": "gender", "n_neighbors": [15, 30, 50, 100], "criterion": "gap"}
settings["store_neighbours"] = True
tests = {
    "ST": SituationTesting(**settings),
    "CST": CounterfactualSituationTesting(counterfactuals=scm, **settings),
    "CF": CounterfactualFairness(protected="gender", counterfactuals=scm, n_resamples=0),
}
results = {name: test.fit(X, model=bank).result_ for name, test in tests.items()}
compared = report.compare_cases(list(results.values()), list(results))
print(compared["counts"].pivot(index="method", columns="n_neighbors", values="cases"))
print(compared["overlaps"].query("n_neighbors == 15"))

# %%
# Cases against neighbours; how many are significant.
from skdisc.plotting import plot_case_counts, plot_complainant, plot_groups, plot_transparency

both = [results["ST"], results["CST"]]
plot_case_counts(both, ["ST", "CST"])
print(results["CST"].tables["counts"])

# %%
# The first complainant: who she is, who she would be, and both groups.
print(results["CST"][0])
plot_complainant(results["CST"])

# %%
# The groups of somebody who has a case by both methods.
row = min(set(both[0].findings.row) & set(both[1].findings.row))
plot_groups(both, row, "annual_salary", names=["ST", "CST"])

# %%
# FlipTest pairs women with men at the least total distance. The women refused where their partner
# is accepted have less: the report says that the rule turns on balance and salary.
flips = FlipTest(protected="gender", group="female", max_rows=500, n_draws=2, random_state=0)
flips.fit(X, model=bank)
print(flips.result_.tables["flipsets"].T)
plot_transparency(flips.result_)
