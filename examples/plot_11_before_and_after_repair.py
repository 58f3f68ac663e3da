"""
Does a repair help, and what does it cost?
==========================================

Cases found by a search are added to the training data, with labels chosen by the vote of several
models. The retrained model is compared with the old one on held-out people. A variant adds cases
in rounds of growing size until the share of cases stops falling.
"""

# %%
# Credit decisions that depend on sex.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from skdisc import AuditResult
from skdisc.individual import KOSEI
from skdisc.repair import CaseResampler, repair_report
from skdisc.testing import replay

rng = np.random.default_rng(1)
X = pd.DataFrame({"income": rng.integers(10, 100, 3000), "debts": rng.integers(0, 50, 3000)})
X["sex"] = rng.choice(["female", "male"], 3000)
points = X["income"] - X["debts"] + 12 * (X["sex"] == "male")
y = (points + rng.normal(0, 5, 3000) > 30).astype(int)
train, new = slice(None, 2000), slice(2000, None)


def credit_model():
    """Return an unfitted model with its preprocessing inside."""
    columns = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    return make_pipeline(columns, DecisionTreeClassifier(min_samples_leaf=10, random_state=0))


before = credit_model().fit(X[train], y[train])

# %%
# A repair that adds half as many rows, and one in rounds of growing size.
search = KOSEI(credit_model(), protected="sex", pos_label=1, store_tested=True, random_state=0)
once = CaseResampler(search, share=0.5, random_state=0)
rounds = CaseResampler(search, rounds="auto", random_state=0)
models = {"before": before}
for name, sampler in {"share of 0.5": once, "rounds": rounds}.items():
    models[name] = credit_model().fit(*sampler.fit_resample(X[train], y[train]))
print("share of cases after each round:", np.round(rounds.prevalence_, 3))

# %%
# The tested inputs are a test suite: after saving and loading, it counts the inputs whose decision
# still depends on sex.
kept = AuditResult.from_json(once.audit().to_json())
for name, model in models.items():
    verdicts = replay(kept, model)
    print(f"{name}: {verdicts['is_case_now'].sum()} of {len(verdicts)} inputs are cases")

# %%
# Individual discrimination, group disparities and accuracy, with intervals.
reports = {
    name: repair_report(before, models[name], X[new], y[new], protected="sex", pos_label=1)
    for name in ("share of 0.5", "rounds")
}
for name, report in reports.items():
    print(name, report[["before", "after", "change"]].round(3), sep="\n")

# %%
# The same as a plot.
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
first = next(iter(reports.values()))
drawn = {"before": first.filter(like="before")}
drawn |= {name: report.filter(like="after") for name, report in reports.items()}
for shift, (name, table) in zip((-0.2, 0, 0.2), drawn.items(), strict=True):
    middle, low, high = table.to_numpy().T
    place = np.arange(len(table)) + shift
    axes.errorbar(middle, place, xerr=[middle - low, high - middle], fmt="o", label=name)
labels = ["cases, random people", "cases, new people", "parity difference", "odds difference"]
axes.set_yticks(range(5), [*labels, "accuracy"])
axes.axvline(0, color="grey", lw=0.8)
axes.invert_yaxis()
axes.set_xlabel("estimate and its 95 % interval")
axes.legend(frameon=False, title="model")
plt.show()
