"""
Does tuning a detector help?
============================

Which settings find most? In one's own table nobody knows what there is to find. ``PlantedTruth``
draws the protected columns anew, so that they make no difference, plants groups whose decisions
are flipped, and scores a setting by what it finds of them. A search over settings then has a truth
to go by; whether it has learned something shows on other people, with other groups planted.
"""

# %%
# Adult, with half of the rows for the search and half for the test.
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, train_test_split

from skdisc import BlackBox, Limits
from skdisc.datasets import fetch_adult
from skdisc.individual import KOSEI
from skdisc.model_selection import PlantedTruth, cases_per_query
from skdisc.subgroup import DivExplorer

adult = fetch_adult()
X = adult.data[["sex", "race", "education", "marital-status", "hours-per-week"]]
y = (adult.target == ">50K").astype(int)
X, X_new, y, y_new = train_test_split(X, y, train_size=5000, test_size=5000, random_state=0)

# %%
# How long may the list of groups be, and when is a group the shadow of a larger one?
detector = DivExplorer(protected=["sex", "race"], max_predicates=2)
grid = {"k": [3, 10], "redundancy": [None, 0.05, 0.1]}
search = GridSearchCV(detector, grid, scoring=PlantedTruth(n_drawings=2), cv=2, refit=False)
table = pd.DataFrame(search.fit(X, y).cv_results_)
print(table[["param_k", "param_redundancy", "mean_test_score"]].round(3).to_string(index=False))
print("chosen:", search.best_params_)

# %%
# The same question on other people, with other groups planted: eight drawings.
fresh = PlantedTruth(n_drawings=8, random_state=1)
scores = {
    name: fresh.scores(clone(detector).set_params(**settings), X_new, y_new)
    for name, settings in {"as it comes": {}, "tuned": search.best_params_}.items()
}
means = pd.DataFrame({name: s[["precision", "recall", "f1"]].mean() for name, s in scores.items()})
print(means.round(2))
gain = scores["tuned"]["f1"] - scores["as it comes"]["f1"]
print(f"gain in F1: {gain.mean():.2f}, standard error {gain.std() / len(gain) ** 0.5:.2f}")

# %%
# A search for cases has a truth of its own: every case is checked by asking the model. What
# settings change is how many queries a case takes.
codes = X.apply(lambda column: pd.factorize(column, sort=True)[0])
codes_new = X_new.apply(lambda column: pd.factorize(column, sort=True)[0])
model = RandomForestClassifier(20, max_depth=8, random_state=0).fit(codes, y)
kosei = KOSEI(protected=["sex", "race"], limits=Limits(tests=1000), random_state=0)
tuned = GridSearchCV(
    kosei, {"n_seeds": [50, 200, 800]}, scoring=cases_per_query, cv=2, refit=False
).fit(codes.head(2000), y.head(2000), model=BlackBox(model))
print(pd.DataFrame(tuned.cv_results_)[["param_n_seeds", "mean_test_score"]].round(4))
settings = {"as it comes": {}, "tuned": tuned.best_params_}
per_query = {
    name: cases_per_query(
        clone(kosei).set_params(**own).fit(codes, y, model), codes_new.head(2000), y_new.head(2000)
    )
    for name, own in settings.items()
}
print(per_query)

# %%
# Both at a glance.
figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
means.plot.bar(ax=axes[0], rot=0, ylim=(0, 1), title="groups found on new people")
axes[1].bar(list(per_query), list(per_query.values()))
axes[1].set_title("cases per query on new people")
plt.show()
