"""aequitas, the toolkit: rates of the values of each protected column against its largest group."""

from aequitas import Audit
from aequitas.fairness import Fairness

PACKAGE = "aequitas"
PARITY, TESTED = "Impact Parity", "pprev"


def find(table, settings):
    """Claim values whose rate is below .8 times, or above 1.25 times, that of the largest group."""
    y, protected = table[settings["outcome"]], settings["protected"]
    frame = table[protected].astype(object).assign(score=y, label_value=y)
    audit = Audit(frame, label_column="label_value", sensitive_attribute_column=protected)
    tests = {"check_significance": True, "mask_significance": False}
    audit.audit(bias_args=tests | {"selected_significance": [TESTED]})
    judged = Fairness().get_group_value_fairness(audit.disparity_df)
    reference = judged["attribute_value"] == judged["pprev_ref_group_value"]
    judged = judged[~reference].sort_values(
        "pprev_disparity", key=lambda ratio: (1 - ratio).abs(), ascending=False
    )
    findings = [
        {"group": {row["attribute_name"]: [row["attribute_value"]]}, "claimed": not row[PARITY]}
        | {"p": row.get("pprev_significance"), "effect": row["pprev"]}
        for row in judged.to_dict("records")
    ]
    return {"findings": findings, "also": any(one["p"] <= 0.05 for one in findings)}
