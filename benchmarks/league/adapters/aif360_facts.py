"""AIF360, FACTS: subgroups in which recourse differs, of a tree fitted to the outcomes."""

import pandas as pd
from aif360.sklearn.detectors import FACTS
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

PACKAGE = "aif360"


def find(table, settings):
    """Claim subgroups with unequal recourse for the values of a protected column."""
    X, y, protected = table[settings["columns"]], table[settings["outcome"]], settings["protected"]
    columns = list(X)
    tree = DecisionTreeClassifier(max_depth=5, min_samples_leaf=50, random_state=settings["seed"])
    encode = OneHotEncoder(handle_unknown="ignore")
    tree = make_pipeline(encode, tree).fit(X, y)
    model = _On(tree, columns)
    X = X.assign(age=pd.Interval(0, 100))  # FACTS 0.6.1 fails on tables without such a column
    ranked = []
    for column in protected if len(set(model.predict(X))) == 2 else []:
        kept = {"feats_not_allowed_to_change": [*protected, "age"]}
        facts = FACTS(model, column, categorical_features=list(X), **kept)
        facts.fit(X, verbose=False).bias_scan(filter_sequence=["remove-fair-rules"])
        for rule in facts.top_rules:
            costs = facts.subgroup_costs[rule]
            group = {c: [v] for c, v in zip(rule.features, rule.values, strict=True) if c != "age"}
            worst = max(costs, key=costs.get)  # minus the share that the best action helps
            one = {"group": group | {column: [worst]}, "claimed": True}
            ranked.append((max(costs.values()) - min(costs.values()), one))
    ranked.sort(key=lambda pair: -pair[0])
    return {"findings": [one for _, one in ranked]}


class _On:
    def __init__(self, model, columns):
        self.predict = lambda X: model.predict(X[columns])
