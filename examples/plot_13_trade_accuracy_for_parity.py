"""
What does parity cost in accuracy?
==================================

A pipeline repairs numeric columns by an amount that a grid search varies. Each amount is scored by
accuracy and by the largest difference of rates between groups, on people that it was not fitted to.
"""

# %%
# Decisions that depend on points, which differ between the sexes.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdisc.measures import get_scorer
from skdisc.repair import DisparateImpactRemover, Reweigher

rng = np.random.default_rng(0)
X = pd.DataFrame({"woman": rng.integers(0, 2, 2000)})
X["points"] = rng.normal(size=2000) - X["woman"]
X["years"] = rng.exponential(3, 2000)
y = (X["points"] + 0.2 * X["years"] + rng.normal(0, 0.5, 2000) > 0).astype(int)

# %%
# The amount of the repair is a setting like any other.
pipe = make_pipeline(DisparateImpactRemover("woman"), LogisticRegression())
scoring = {"accuracy": "accuracy", "parity": get_scorer("neg_abs_mean_difference", protected=0)}
amounts = np.linspace(0, 1, 6)
search = GridSearchCV(
    pipe, {"disparateimpactremover__amount": amounts}, scoring=scoring, refit=False, cv=5
)
table = pd.DataFrame(search.fit(X, y).cv_results_)
table = table[["param_disparateimpactremover__amount", "mean_test_accuracy", "mean_test_parity"]]
print(table.round(3).to_string(index=False))

# %%
# Weights change the training, and leave the columns as they are.
weighted = GridSearchCV(
    Reweigher(LogisticRegression(), protected="woman"),
    {"estimator__C": [1.0]},
    scoring=scoring,
    refit=False,
).fit(X, y)
point = [float(weighted.cv_results_[f"mean_test_{name}"][0]) for name in ("parity", "accuracy")]

# %%
# Accuracy against the difference of rates.
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(-table["mean_test_parity"], table["mean_test_accuracy"], "o-", label="columns repaired")
axes.plot(-point[0], point[1], "s", label="weights")
axes.set(xlabel="largest difference of rates", ylabel="accuracy")
axes.legend(frameon=False)
plt.show()
