"""AIF360, MDSS: the subset whose outcomes are lowest, or highest, against the mean."""

from aif360.sklearn.detectors import MDSS_bias_scan

PACKAGE = "aif360"


def find(table, settings):
    """Claim the subset of either direction with the higher score."""
    X, y = table[settings["columns"]], table[settings["outcome"]]
    found = []
    for is_lower in (True, False):
        subset, score = MDSS_bias_scan(X, y, pos_label=1, overpredicted=is_lower)
        group = {column: list(values) for column, values in subset.items()}
        found.append((float(score), {"group": group, "claimed": bool(score > 0)}))
    found.sort(key=lambda pair: -pair[0])
    return {"findings": [one for _, one in found]}
