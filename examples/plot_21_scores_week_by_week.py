"""
Scores, week by week
====================

Had someone watched COMPAS from its first week in Broward County on, when would they have known? A
monitor may be looked at after each week, without raising its false alarms.
"""

# %%
# Each defendant has the date of the screening. A decile below five is "low risk", the decision that
# one would want.
import matplotlib.pyplot as plt
import pandas as pd

from skdisc.datasets import fetch_compas
from skdisc.monitoring import DisparityMonitor
from skdisc.plotting import MonitorDisplay

compas = fetch_compas()
week = pd.to_datetime(compas.details["compas_screening_date"]).dt.to_period("W").to_numpy()
low = (compas.details["decile_score"] < 5).astype(int).to_numpy()

# %%
# Ethnic groups and sexes, each against all others. The alarm is about the first one that is sure.
monitor = DisparityMonitor(protected=["race", "sex"], random_state=0)
for period in sorted(set(week)):
    before, rows = monitor.result_.verdict if hasattr(monitor, "result_") else "", week == period
    monitor.partial_fit(compas.data[rows], low[rows])
    if monitor.result_.verdict != before:
        print(f"{period}: {monitor.n_people_:,} people, {monitor.result_.verdict}")
print(f"alarm after {monitor.alarm_at_} of {monitor.n_people_:,} people")

# %%
# The evidence multiplies from week to week: a wealth of 20 is evidence at level .05.
MonitorDisplay.from_result(monitor.result_)
plt.show()

# %%
# Intervals of the gaps hold together at all times, so they are about twice as wide as for one look.
groups = monitor.result_.to_frame()
shown = ["subject", "outcome", "effect", "ci_low", "ci_high", "p_value", "support"]
print(groups[shown].round(3).to_string(index=False))

# %%
# Is it a matter of who is charged again? A monitor of false positives looks at those who were not:
# called high risk, and not charged again within two years. Their outcomes are known two years late.
# "Positive" is a high score here.
high = 1 - low
errors = DisparityMonitor(
    protected="race", metric="false_positive_rate", pos_label=1, random_state=0
)
for period in sorted(set(week)):
    rows = week == period
    errors.partial_fit(compas.data[rows], y=compas.target[rows], y_pred=high[rows])
print(errors.result_.verdict, "-", f"alarm after {errors.alarm_at_} people")
print(errors.result_.to_frame()[shown].head(3).round(3).to_string(index=False))
