"""
Does a method find the planted bias, and nothing else?
======================================================

Four pairs of subgroups are generated, and half of them have a planted bias. The truth is compared
with the findings of a search for divergent subgroups.
"""

# %%
# Two of the four pairs are biased. The truth identifies them, and contains the exact effect of the
# bias on the probability of a favorable decision.
from skdisc.datasets import fetch_adult, make_discrimination, plant_bias
from skdisc.subgroup import DivExplorer

made = make_discrimination(
    n_pairs=4, granularity=1, intersectionality=1, bias=2.0, group_size=400, random_state=0
)
columns = ["subgroup_a", "subgroup_b", "bias_a", "effect", "effect_due_to_bias"]
print(made.truth.groups[columns].round(3).to_string())

# %%
# The groups found in the decisions. Each of them is a real difference; only the truth shows whether
# it is due to the bias.
detector = DivExplorer(protected=made.protected, max_predicates=2, pos_label=1, k=5)
for finding in detector.fit(made.data, made.target).result_:
    true = made.truth.effect(finding.subject)
    print(
        f"{finding.subject}   found {finding.effect:+.2f}   true {true.effect:+.2f}   "
        f"due to bias {true.due_to_bias:+.2f}"
    )

# %%
# The oracle predicts by the true law, so its groups have true effects.
audit = DivExplorer(protected=made.protected, max_predicates=2, pos_label=1, k=5)
print(audit.fit(made.data, made.target, model=made.truth.oracle).result_[0].subject)

# %%
# The same with real data: half of the favorable labels of one group are flipped.
try:
    adult = fetch_adult(download_if_missing=False)
except OSError as missing:
    print(missing)
else:
    X = adult.data[["sex", "race", "education"]]
    group = adult.privileged["sex"]
    planted = plant_bias(X, adult.target, group, -0.5, pos_label=">50K", random_state=0)
    print(f"{group}: {planted.truth.before:.3f} before, {planted.truth.after:.3f} after")
