"""
How large are the gaps in the public data sets of the field?
============================================================

Papers on fairness use the same handful of data sets. The example loads them, and draws the
difference between the favorable rates of each protected group and everyone else, with intervals.
Nothing is adjusted for: these are the gaps that a method starts from.
"""

# %%
# Each data set comes with its favorable outcome and its protected columns. Ages are cut at
# quartiles, and groups of fewer than 200 people are left out.
import matplotlib.pyplot as plt
import pandas as pd

from skdisc import datasets
from skdisc.group import GroupDisparity

fetched = {
    "Adult": datasets.fetch_adult(),
    "ACS income": datasets.fetch_acs_income(),
    "Bank marketing": datasets.fetch_bank(),
    "COMPAS": datasets.fetch_compas(),
    "German credit": datasets.fetch_german(),
    "Law school": datasets.fetch_law_school(),
    "Chicago SSL": datasets.fetch_ssl(),
}
tables = []
for name, data in fetched.items():
    X = data.data[data.protected].sample(min(len(data.data), 100_000), random_state=0)
    gaps = GroupDisparity(
        protected=data.protected,
        measures=["mean_difference"],
        intersections=1,
        reference="rest",
        pos_label=data.favorable,
    )
    table = gaps.fit(X, data.target.loc[X.index]).result_.tables["measures"]
    tables.append(table[table["n"] >= 200].assign(data=name))
gaps = pd.concat(tables, ignore_index=True)

# %%
# A mean difference is that of the others minus that of the group: right of 0, the group is worse
# off.
figure, axes = plt.subplots(4, 2, figsize=(11, 15), layout="constrained")
for ax, name in zip(axes.ravel(), fetched, strict=False):
    own = gaps[gaps["data"] == name].sort_values("estimate").tail(14)
    ax.errorbar(
        own["estimate"],
        range(len(own)),
        xerr=[own["estimate"] - own["ci_low"], own["ci_high"] - own["estimate"]],
        fmt="o",
        color="#1b6e9c",
    )
    ax.axvline(0, color="#8a8a8a", lw=0.8)
    labels = [str(group)[:34] for group in own["group"]]
    ax.set(yticks=range(len(own)), yticklabels=labels, title=name, xlabel="difference in rates")
    ax.spines[["top", "right"]].set_visible(False)
axes.ravel()[-1].set_axis_off()
plt.show()
