"""
How similar are synthetic data to the data they are learned from?
=================================================================

In descriptive mode, the generator learns the distribution of people from real data, here Adult (US
census of 1994). The example compares the marginal distributions and the pairwise associations of
the original with those of a synthetic twin, and shows the planted groups.
"""

# %%
# ``education-num`` duplicates ``education`` and is dropped. Six pairs of subgroups are planted. The
# twin consists of equally many new people, drawn from the learned distribution.
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skdisc.datasets import fetch_adult, make_discrimination
from skdisc.plotting import plot_phases

adult = fetch_adult().frame.drop(columns="education-num")
made = make_discrimination(
    6,
    reference=adult,
    protected=["sex", "race", "age"],
    target="income",
    granularity=1,
    group_size=300,
    random_state=0,
)
real = adult.drop(columns="income")
twin = made.truth.sample(len(real), random_state=0)
print(twin.head().to_string())

# %%
# Shares of the values of each column, with numbers in bins. The total variation distance is half
# the sum of the absolute differences.
numeric = real.select_dtypes("number").columns


def binned(column):
    """Return both columns, with numbers binned at Adult's deciles and 98 %, and the bin labels."""
    if column not in numeric:
        return real[column], twin[column], None
    levels = [*np.linspace(0.1, 0.9, 9), 0.95, 0.98]
    edges = np.unique(real[column].quantile(levels))
    both = (pd.Series(np.searchsorted(edges, frame[column])) for frame in (real, twin))
    return *both, [*(f"≤ {edge:,.0f}" for edge in edges), f"> {edges[-1]:,.0f}"]


bins = {column: binned(column) for column in real}
figure, axes = plt.subplots(4, 4, figsize=(13, 10), layout="constrained")
for ax in axes.ravel()[len(bins) :]:
    ax.set_axis_off()
for ax, (column, (*both, names)) in zip(axes.ravel(), bins.items(), strict=False):
    shares = pd.concat([s.value_counts(normalize=True) for s in both], axis=1).fillna(0)
    shares.columns = ["Adult", "twin"]
    gap = shares.diff(axis=1)["twin"].abs().sum() / 2
    shares = shares.sort_index() if names else shares.head(12)
    shares.plot.bar(ax=ax, width=0.8, legend=False, color=["#2c5f8a", "#e0a33a"])
    labels = [names[value] if names else value[:14] for value in shares.index]
    ax.set_title(f"{column}: {gap:.3f}", fontsize=10)
    ax.set_xticks(range(len(labels)), labels, rotation=90, fontsize=6)
    ax.set_xlabel("")
figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="lower right", fontsize=14)
figure.suptitle("Shares of values or bins (at most 12), and total variation distance")

# %%
# The association of each pair of columns: Spearman's correlation for two numbers, otherwise
# Cramér's V.


def association(columns, which):
    """Return the association of two columns of Adult (0) or the twin (1)."""
    if set(columns) <= set(numeric):
        return (real, twin)[which][list(columns)].corr(method="spearman").iloc[0, 1]
    table = pd.crosstab(*(bins[column][which] for column in columns)).to_numpy(dtype=float)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi2 = ((table - expected) ** 2 / expected).sum()
    return np.sqrt(chi2 / table.sum() / (min(table.shape) - 1))


pairs = list(combinations(real, 2))
strength = np.array([[association(pair, which) for which in (0, 1)] for pair in pairs])
matrices = np.eye(len(bins))[None].repeat(2, axis=0)
for (first, second), values in zip(pairs, strength, strict=True):
    i, j = real.columns.get_loc(first), real.columns.get_loc(second)
    matrices[:, i, j] = matrices[:, j, i] = values

figure, axes = plt.subplots(1, 3, figsize=(14, 5), layout="constrained")
for ax, matrix, name in zip(axes, matrices, ("Adult", "twin"), strict=False):
    image = ax.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
    ax.set_xticks(range(len(bins)), real.columns, rotation=90, fontsize=8)
    ax.set_yticks(range(len(bins)), real.columns, fontsize=8)
    ax.set_title(name)
figure.colorbar(image, ax=axes[:2], shrink=0.7)
axes[2].axline((0, 0), slope=1, color="grey")
for shift in (-0.05, 0.05):
    axes[2].axline((0, shift), slope=1, color="grey", linestyle=":")
axes[2].plot(*strength.T, "o", markersize=4, color="#2c5f8a")
axes[2].set(xlabel="Adult", ylabel="twin", aspect="equal", title="pairs of columns (dotted: 0.05)")
print(f"largest difference of an association: {np.abs(np.diff(strength)).max():.3f}")

# %%
# The four phases of the generator. Half of the pairs have no bias.
plot_phases(made)
