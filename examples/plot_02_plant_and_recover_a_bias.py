"""
Does a method find the bias that is there, and none that is not?
================================================================

Discrimination is planted in four pairs of subgroups; half of them carry none. Then the truth is
compared with what a search for diverging subgroups finds.
"""

# %%
# Two of the four pairs are biased. The truth says which, and how large the effect of the bias is on
# the probability of a favourable decision, exactly.
from skdisc.datasets import fetch_adult, make_discrimination, plant_bias
from skdisc.subgroup import DivExplorer

made = make_discrimination(
    n_pairs=4, granularity=1, intersectionality=1, bias=2.0, group_size=400, random_state=0
)
columns = ["subgroup_a", "subgroup_b", "bias_a", "effect", "effect_due_to_bias"]
print(made.truth.groups[columns].round(3).to_string())

# %%
# The groups found in the decisions. Every one of these is a difference that is there; whether it is
# due to bias, only the truth can say.
detector = DivExplorer(protected=made.protected, max_predicates=2, pos_label=1, k=5)
for finding in detector.fit(made.data, made.target).result_:
    everyone = made.truth.effect(finding.subject)
    print(
        f"{finding.subject}   found {finding.effect:+.2f}   true {everyone.effect:+.2f}   "
        f"due to bias {everyone.due_to_bias:+.2f}"
    )

# %%
# The oracle is the true law as a model: what is found in it is there.
audit = DivExplorer(protected=made.protected, max_predicates=2, pos_label=1, k=5)
print(audit.fit(made.data, made.target, model=made.truth.oracle).result_[0].subject)

# %%
# The same in real data: half of the favourable labels of one group are turned round.
try:
    adult = fetch_adult(download_if_missing=False)
except OSError as missing:
    print(missing)
else:
    X = adult.data[["sex", "race", "education"]]
    group = adult.privileged["sex"]
    planted = plant_bias(X, adult.target, group, -0.5, pos_label=">50K", random_state=0)
    print(f"{group}: {planted.truth.before:.3f} before, {planted.truth.after:.3f} after")
