"""The groups that a question compares, by the size of their comparisons."""

from skdisc.auditing._figures import finite_or_none, whole_or_none
from skdisc.auditing._plan import LEAD

_COLUMNS = ("group", "measure", "comparison", "estimate", "excluded", "cleared", "found")


def families(plan, results):
    """Return the candidates of each question that is answered by them, the largest first.

    Returns a list of dict: as in the document.
    """
    rows = []
    for step in plan.steps:
        table = None if step.name not in results else results[step.name].tables.get("family")
        if step.role != LEAD or step.on != "given" or table is None:
            continue
        candidates = table[table["judged"]].sort_values(
            "comparison", ascending=False, kind="stable"
        )
        labels = {"attribute": step.attribute, "null": step.null}
        for row in candidates[[*_COLUMNS, "n", "n_others"]].to_dict("records"):
            people = {"people": round(row.pop("n")), "others": whole_or_none(row.pop("n_others"))}
            row["upper"] = row.pop("excluded")
            row["measure"] = row["measure"] or results[step.name].measure
            numbers = {
                n: v if isinstance(v, (str, bool)) else finite_or_none(v) for n, v in row.items()
            }
            rows.append(labels | numbers | people)
    return rows
