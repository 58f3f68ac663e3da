"""
Which measure shows the level of discrimination?
================================================

People stand in a queue in random order. Then a share of them, the true level of discrimination, is
sorted by group, with the protected group last. The first people in the queue are accepted. A good
measure shows this level independently of the shares of protected and accepted people. The example
reproduces figures 2 and 3 of Žliobaitė (2017), https://doi.org/10.1007/s10618-017-0506-1, with 25
settings and 21 levels from reverse to full discrimination.
"""

# %%
# One queue of 10,000 people for each setting and level, and six measures of each. Ratios are
# defined as in the survey: the rate of the regular group over that of the protected group.
# ``impact_ratio`` itself is the inverse, as in the four-fifths rule.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skdisc import measures
from skdisc.datasets import make_ranking_discrimination

DIFFERENCES = {
    "mean difference": measures.mean_difference,
    "normalized difference": measures.normalized_difference,
    "mutual information": measures.mutual_information,
}
RATIOS = {
    "impact ratio (inverse)": lambda *a, **k: np.divide(1, measures.impact_ratio(*a, **k)),
    "elift (of the others)": lambda *a, **k: measures.elift(*a, convention="general", **k),
    "odds ratio": measures.odds_ratio,
}
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
LEVELS = np.linspace(-1, 1, 21).round(1)


def measured(p_protected, p_positive, level, n_samples=10_000):
    """Return all six measures of one queue."""
    group, accepted = make_ranking_discrimination(
        n_samples,
        p_protected=p_protected,
        p_positive=p_positive,
        discrimination=level,
        return_X_y=True,
        random_state=0,
    )
    how = {"protected": group["group"]}
    values = {}
    with np.errstate(divide="ignore"):
        for name, measure in {**DIFFERENCES, **RATIOS}.items():
            against = {} if measure is measures.mutual_information else {"reference": "regular"}
            values[name] = measure(None, accepted, **how, **against)
    return values


table = pd.DataFrame(
    {"protected": q, "accepted": p, "level": level, **measured(q, p, level)}
    for q in SHARES
    for p in SHARES
    for level in LEVELS
)


# %%
# One panel per setting: the share of protected people increases to the right, that of accepted
# people upwards.
def draw(names, low, high, ideal):
    """Draw one panel per setting; the dashed line is the level itself."""
    grid = {"sharex": True, "sharey": True, "layout": "constrained"}
    figure, axes = plt.subplots(5, 5, figsize=(10, 10), **grid)
    for (q, p), part in table.groupby(["protected", "accepted"]):
        ax = axes[4 - SHARES.index(p), SHARES.index(q)]
        if ideal:
            ax.plot([-1, 1], [-1, 1], color="0.6", linestyle="--", linewidth=1)
        for name, style in zip(names, ("-", "-.", ":"), strict=True):
            ax.plot(part["level"], part[name].clip(low, high), style, label=name)
        ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        ax.set_xticks([-1, 0, 1])
        if p == SHARES[-1]:
            ax.set_title(f"{q:.0%} protected", fontsize=10)
        if q == SHARES[0]:
            ax.set_ylabel(f"{p:.0%} accepted")
    figure.supxlabel("discrimination in the data")
    figure.supylabel("measured discrimination")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


draw(DIFFERENCES, -1, 1, ideal=True)

# %%
# The normalized difference follows the diagonal in all panels. The mean difference and mutual
# information do so only if both shares are close to one half; with 90 % protected and 90 % accepted
# people, they are small even for full discrimination.
draw(RATIOS, 0, 6, ideal=False)

# %%
# Ratios should not follow the diagonal, but look the same in all panels. The odds ratio and the
# impact ratio do not; elift is more stable. All of them grow fast if few people are accepted.
worst = (table["normalized difference"] - table["level"]).abs().max()
print(f"normalized difference: at most {worst:.3f} from the level")
plt.show()
