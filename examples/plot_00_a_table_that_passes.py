"""
Can a table pass the four-fifths rule and still hold people back?
=================================================================

A company checks its promotions by the four-fifths rule: the rate of women is more than four fifths
of the rate of men, so nothing is reported. The example finds the group behind the small difference,
and one woman who would have been promoted as a man.
"""

# %%
# Promotions depend on a rating and on experience. In the workshop, women need sixteen more points.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skdisc.group import GroupDisparity
from skdisc.individual import Themis
from skdisc.plotting import CaseDisplay
from skdisc.subgroup import DisparityPursuit

rng = np.random.default_rng(0)
n = 4000
X = pd.DataFrame(
    {
        "sex": rng.choice(["woman", "man"], n),
        "age": rng.integers(22, 64, n),
        "department": rng.choice(["office", "service", "workshop"], n, p=[0.45, 0.35, 0.2]),
        "experience": rng.integers(0, 21, n),
        "rating": rng.integers(1, 6, n),
    }
)


def promote(X, luck=0):
    """Return 1 for who is promoted."""
    held_back = (X["sex"] == "woman") & (X["department"] == "workshop")
    return (6 * X["rating"] + X["experience"] - 16 * held_back + luck > 27).astype(int)


y = promote(X, luck=rng.normal(0, 6, n))

# %%
# The table of the rule. No group is below .8 of the best one.
rule = GroupDisparity(protected="sex", preset="four_fifths").fit(X, y).result_
print(rule.tables["impact_ratios"][["group", "n", "rate", "impact_ratio"]].to_string(index=False))

# %%
# ``DisparityPursuit`` looks for the few groups that account for all differences, at equal age,
# department, experience and rating. It names the workshop. Its effect is an average over people
# with all ratings, also those whom sixteen points do not concern.
causes = DisparityPursuit(protected="sex", random_state=0).fit(X, y).result_
for cause in causes:
    print(f"{cause.subject}: {cause.effect:+.2f} [{cause.ci_low:+.2f}, {cause.ci_high:+.2f}]")

# %%
# Both views in one picture: rates of all, and rates by department.
rates = y.groupby([X["department"], X["sex"]]).mean().unstack()
rates.loc["all"] = y.groupby(X["sex"]).mean()
figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
order = ["workshop", "service", "office", "all"]
for i, name in enumerate(order):
    low, high = rates.loc[name, "woman"], rates.loc[name, "man"]
    color = "#b3261e" if abs(high - low) > 0.1 else "#6b6b6b"
    ax.plot([low, high], [i, i], color=color, lw=3, zorder=1)
    ax.text(max(low, high) + 0.02, i, f"{100 * (low - high):+.0f} points", va="center", color=color)
ax.scatter(rates.loc[order, "woman"], range(4), color="#b3261e", label="women", zorder=2)
ax.scatter(rates.loc[order, "man"], range(4), color="#1b6e9c", label="men", zorder=2)
ax.set(yticks=range(4), yticklabels=order, xlim=(0, 1), xlabel="share promoted")
ax.set_title(f"Impact ratio {rates.loc['all', 'woman'] / rates.loc['all', 'man']:.2f}: passes")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")

# %%
# One person. ``Themis`` asks the rule about every woman again as a man. This woman differs from her
# twin in nothing else.
people = Themis(protected="sex", random_state=0).fit(X, model=promote).result_
print(
    f"{len(people)} different rows of X are decided otherwise as the other sex, such as",
    people[0].subject,
)
CaseDisplay.from_result(people)
plt.show()
