"""
Which settings of a search find the most cases?
===============================================

The ``score`` of a search is the success rate of a new search from the given rows. Therefore,
scikit-learn's searches tune it like any estimator. The audited model is frozen.
"""

# %%
# Decisions that favored men, and a forest trained on them.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from skdisc.individual import KOSEI

rng = np.random.default_rng(0)
X = pd.DataFrame({"income": rng.integers(10, 100, 2000), "debts": rng.integers(0, 50, 2000)})
X["children"], X["sex"] = rng.integers(0, 5, 2000), rng.choice(["female", "male"], 2000)
points = X["income"] - X["debts"] + 6 * (X["sex"] == "male")
y = (points + rng.normal(0, 5, 2000) > 30).astype(int)
columns = make_column_transformer((OrdinalEncoder(), ["sex"]), remainder="passthrough")
model = make_pipeline(columns, RandomForestClassifier(10, min_samples_leaf=5, random_state=0))
model.fit(X, y)

# %%
# Each setting is evaluated by two searches, from one half of the rows each.
search = KOSEI(FrozenEstimator(model), protected="sex", pos_label=1)
search.set_params(limits__tests=2000, random_state=0)
grid = {"n_seeds": [50, 200, 800], "n_local": [5, 50]}
tuned = GridSearchCV(search, grid, cv=2).fit(X, y)
table = pd.DataFrame(tuned.cv_results_)
rates = table.pivot_table("mean_test_score", "param_n_seeds", "param_n_local")
print(rates.round(3))
print("best:", tuned.best_params_)

# %%
# The best setting has been run on all rows, and its result is available.
result = tuned.best_estimator_.audit()
print(result)
print(result[0].subject, "for", result[0].subject.original)

# %%
# Success rates by setting.
axes = rates.plot.bar(figsize=(6, 3.4), rot=0)
axes.set(xlabel="seeds", ylabel="cases per input tested")
axes.legend(title="tests around each case", frameon=False)
axes.figure.set_layout_engine("constrained")
plt.show()
