"""
How do searches use decisions, probabilities or gradients of a model?
=====================================================================

The more a model reveals, the fewer queries a search needs. The same network is audited three
times, by its decisions only, by its probabilities, and by its gradient. The quality of the cases
is measured as well, because a search with many cases may find unrealistic people.
"""

# %%
# A network trained on decisions that favored men, and held-out people.
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skdisc.individual import ADF, KOSEI, BoundarySearch

rng = np.random.default_rng(0)
n = 4000
X = pd.DataFrame({"age": rng.integers(18, 80, n)})
X["years_employed"] = (rng.random(n) * (X["age"] - 17)).astype(int)
X["income"] = np.clip(rng.normal(20 + X["years_employed"], 10), 5, 99).round().astype(int)
X["job"] = rng.choice(["office", "trade", "care"], n)
X["sex"] = rng.choice(["female", "male"], n)
points = X["income"] + X["years_employed"] + 8 * (X["sex"] == "male")
y = np.where(points + rng.normal(0, 5, n) > 60, "granted", "refused")

columns = make_column_transformer(
    (OneHotEncoder(), ["job", "sex"]), (StandardScaler(), ["age", "years_employed", "income"])
)
model = make_pipeline(columns, MLPClassifier((16, 8), max_iter=60, random_state=0))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # sixty iterations suffice here
    model.fit(X[:2000], y[:2000])
people = X[2000:]

# %%
# Three searches with the same number of tests. A lambda hides everything except the decisions.
searches = {
    "decisions: KOSEI": (KOSEI(), lambda X: model.predict(X)),
    "probabilities: BoundarySearch": (BoundarySearch(n_pool=30_000), model),
    "gradient: ADF": (ADF(), model),
}
results = {}
for name, (search, audited) in searches.items():
    search.set_params(protected="sex", pos_label="granted", limits__tests=3000, n_quality=500)
    results[name] = search.set_params(random_state=0).fit(people, model=audited).result_
print(pd.DataFrame({k: r.metrics for k, r in results.items()}).loc[["TSN", "DSN", "SUR", "EGS"]])

# %%
# The first cases, with two rows each.
print(
    results["probabilities: BoundarySearch"].to_frame("pairs").iloc[:6, :7].to_string(index=False)
)

# %%
# The shares of cases in the space and among the rows are estimated from random samples, which do
# not depend on the search; the three results agree. Naturalness is 1 if the cases are distributed
# like the rows.
quality = pd.DataFrame(
    {k: r.tables["quality"].set_index("name")["estimate"] for k, r in results.items()}
)
print(quality.round(3).to_string())

# %%
# Left: cases found against inputs tested. Right: naturalness against distance from the nearest row.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for name, result in results.items():
    left.plot(result.curve["tested"], result.curve["found"], label=name)
    row = quality[name]
    far = row["columns in which a case differs from the nearest row of X"]
    right.scatter(far, row["naturalness"], s=60)
left.set(xlabel="inputs tested", ylabel="cases found", title="Number of cases")
left.legend(frameon=False)
right.set(
    xlabel="columns that differ from the nearest row", ylabel="naturalness", title="Naturalness"
)
right.set(xlim=(0, 3), ylim=(0, 1))
plt.show()
