"""AIF360, metrics: the disparate impact of each value of each protected column."""

from aif360.sklearn.metrics import disparate_impact_ratio, statistical_parity_difference

PACKAGE = "aif360"


def find(table, settings):
    """Claim values whose rate is outside .8 and 1.25 times that of all others."""
    findings = []
    also = False
    for column in settings["protected"]:
        y = table.set_index(column)[settings["outcome"]]
        for value in table[column].dropna().unique():
            if y.index.nunique() == 2 and any(column in one["group"] for one in findings):
                continue  # the other side of the same contrast
            favored = [other for other in y.index.unique() if other != value]
            Z = y.rename(index=dict.fromkeys(favored, "others"))
            asked = {"prot_attr": column, "priv_group": "others", "pos_label": 1}
            ratio = disparate_impact_ratio(Z, **asked)
            gap = statistical_parity_difference(Z, **asked)
            also |= bool(abs(gap) > 0.1)
            claimed = bool(not 0.8 <= ratio <= 1.25)
            findings.append({"group": {column: [value]}, "claimed": claimed, "effect": gap})
    findings.sort(key=lambda one: -abs(one["effect"]))
    return {"findings": findings, "also": also}
