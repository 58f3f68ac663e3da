"""
How were the loan applications of similar people decided?
=========================================================

A bank decides by salary and balance. It does not use gender, but gender affects both. Situation
testing compares a woman with men who have similar salary and balance. Counterfactual situation
testing compares her with men who are similar to her counterfactual self as a man.
"""

# %%
# Loans, and a causal model. Fitted to the data, it produces nearly the same counterfactual rows as
# the law that generated the data.
from skdisc import Limits, report
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
    """Return the decisions of the bank."""
    return (X.annual_salary + 5 * X.account_balance > 225_000).astype(int)


edges = [("gender", "annual_salary"), ("gender", "account_balance")]
scm = StructuralCausalModel([*edges, ("annual_salary", "account_balance")])

# %%
# Three methods. ``criterion="gap"`` counts every difference, as in the literature; by default, only
# differences that are significant after correction for all tests count.
settings = {"protected": "gender", "n_neighbors": [15, 30, 50, 100], "criterion": "gap"}
settings["store_neighbors"] = True
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
# The number of cases against the number of neighbors, and how many of them are significant.
from skdisc.plotting import plot_case_counts, plot_complainant, plot_groups, plot_transparency

both = [results["ST"], results["CST"]]
plot_case_counts(both, ["ST", "CST"])
print(results["CST"].tables["counts"])

# %%
# The first complainant, her counterfactual self, and both neighborhoods.
print(results["CST"][0])
plot_complainant(results["CST"])

# %%
# The neighborhoods of a complainant with a case in both methods.
row = min(set(both[0].findings.row) & set(both[1].findings.row))
plot_groups(both, row, "annual_salary", names=["ST", "CST"])

# %%
# FlipTest pairs women with men at the smallest total distance. Women who are rejected while their
# counterpart is accepted have lower balances and salaries, as the transparency report shows.
flips = FlipTest(
    protected="gender", group="female", limits=Limits(rows=500), n_draws=2, random_state=0
)
flips.fit(X, model=bank)
print(flips.result_.tables["flipsets"].T)
plot_transparency(flips.result_)
