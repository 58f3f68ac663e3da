"""
Which pictures are there of a result?
=====================================

One example for each display: groups with their intervals, what an effect is made of, the lattice
below a group, causes and their shadows, the parts of a gap, a monitor over time, flipsets, and the
hierarchy of planted groups. Each display keeps its data in ``table``.
"""

# %%
# The data: women in one town are hired less often. The town and the score are legitimate.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skdisc.datasets import make_discrimination, make_hiring
from skdisc.individual import FlipTest
from skdisc.monitoring import DisparityMonitor
from skdisc.plotting import (
    ForestDisplay,
    GapDisplay,
    LatticeDisplay,
    MonitorDisplay,
    ShadowsDisplay,
    SizeEffectDisplay,
    WaterfallDisplay,
    plot_flipsets,
    plot_hierarchy,
)
from skdisc.subgroup import DisparityPursuit, DivExplorer

rng = np.random.default_rng(0)
n = 6000
X = pd.DataFrame(
    {
        "sex": rng.choice(["F", "M"], n),
        "race": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
        "town": rng.choice(["u", "v", "w"], n),
        "score": rng.integers(0, 10, n),
    }
)
here = (X["sex"] == "F") & (X["town"] == "u")
y = (rng.random(n) < 0.25 + 0.05 * X["score"] - 0.25 * here).astype(int)

# %%
# **Groups.** Effects with their intervals, and effects against the number of people.
divergent = DivExplorer(protected=["sex", "race"], explain=True).fit(X, y).result_
ForestDisplay.from_result(divergent, max_rows=8)
SizeEffectDisplay.from_result(divergent)

# %%
# **One group.** How much each of its conditions contributes to its effect (Shapley values), and the
# groups between everybody and this group.
WaterfallDisplay.from_result(divergent)
LatticeDisplay.from_result(divergent)

# %%
# **Causes.** What the gap of women consists of, and the shadows of each cause.
causes = DisparityPursuit(protected=["sex", "race"], random_state=0).fit(X, y).result_
GapDisplay.from_result(causes, group="sex = 'F'")
ShadowsDisplay.from_result(causes)

# %%
# **Over time.** A monitor that gets the same people in batches of 300. Its wealth may be looked at
# after each batch.
monitor = DisparityMonitor(protected="sex", random_state=0)
for start in range(0, n, 300):
    batch = slice(start, start + 300)
    monitor.partial_fit(X.iloc[batch], y.iloc[batch])
MonitorDisplay.from_result(monitor.result_)

# %%
# **Single people.** Hair length of those whose decision differs from that of their counterpart.
hiring = make_hiring(600, random_state=0)
flips = FlipTest(protected="gender", random_state=0, n_permutations=99)
pairs = flips.fit(hiring.data, hiring.decision).result_
plot_flipsets(pairs, hiring.data, "hair_length")

# %%
# **Synthetic data.** Groups, their two subgroups, and the people in them.
plot_hierarchy(make_discrimination(3, random_state=0).truth)
plt.show()
