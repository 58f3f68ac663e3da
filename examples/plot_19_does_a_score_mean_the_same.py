"""
Does a score mean the same for everyone?
========================================

A score is calibrated for a group if, of the people with a score of 7, as many are charged again as
of any others with a score of 7. A regression looks for groups for which this fails, and rows that
it has not seen decide.
"""

# %%
# The score is the decile of COMPAS, the label whether a defendant was charged again.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skdisc import BlackBox
from skdisc.datasets import fetch_compas
from skdisc.subgroup import MultiaccuracyAudit, MulticalibrationAudit

compas = fetch_compas()
two = compas.data["race"].isin(["African-American", "Caucasian"])
X = compas.data[two].drop(columns="age_cat").reset_index(drop=True)
X["decile"] = compas.details["decile_score"][two].to_numpy() / 10
again = compas.target[two].to_numpy()
score = BlackBox(lambda rows: rows["decile"].to_numpy())

# %%
# At equal scores, does it matter who one is?
audit = MulticalibrationAudit(protected=["sex", "race"], pos_label=1, random_state=0)
result = audit.fit(X, again, score).result_
print(result.verdict, "-", result.reason)
print(result.tables["witness"].round(4).to_string())

# %%
# It does, and the result says for whom. The effect is the score minus the outcome, compared with
# others of the same score: where it is positive, people are charged again less often than others
# with that score.
columns = ["subject", "effect", "ci_low", "ci_high", "kept"]
print(result.to_frame()[columns].round(3).to_string(index=False))

# %%
# The picture: the same decile stands for a lower risk if a woman has it.
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
table = pd.DataFrame({"sex": X["sex"], "decile": (10 * X["decile"]).round(), "again": again})
for sex, own in table.groupby("sex"):
    rates = own.groupby("decile")["again"].agg(["mean", "size"])
    error = 1.96 * np.sqrt(rates["mean"] * (1 - rates["mean"]) / rates["size"])
    shift = 0.1 if sex == "Female" else -0.1
    axis.errorbar(rates.index + shift, rates["mean"], error, marker="o", capsize=2, label=sex)
axis.set(xlabel="decile of the score", ylabel="share charged again", ylim=(0, 1))
axis.legend(loc="upper left")
plt.show()

# %%
# Multiaccuracy asks another question: at equal *columns*, does the score err differently? Here the
# columns are the record of the defendants and their age; the score is what is audited.
record = ["age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]
roles = {"protected": ["sex", "race"], "adjust_for": [*record, "c_charge_degree"], "pos_label": 1}
errors = MultiaccuracyAudit(**roles, random_state=0).fit(X, again, score).result_
print(errors.verdict, "-", errors.reason)
for finding in errors:
    print(
        f"{finding.subject}: {finding.effect:+.3f} ({finding.ci_low:.3f} to {finding.ci_high:.3f})"
    )

# %%
# Scores of young men are too low for what follows, compared with young women of equal record.
