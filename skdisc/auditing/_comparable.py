"""Protected values at equal legitimate columns, and which columns those are."""

from skdisc.auditing._figures import EQUAL, GAP
from skdisc.auditing._plan import LEAD


def comparable(plan, results, groups, figures, min_cell):
    """Return the gap of each protected value, raw and at equal legitimate columns.

    Nothing is known at equal columns where fewer than `min_cell` of the people on a side were
    searched, or drawn.

    `groups`: "groups" of the document, which count all people, not only those searched. `figures`:
    those of each attribute. Returns a list of dict: as in the document.
    """
    rows, sizes = [], {r["group"]: r["n"] for r in groups if r["measure"] == "selection_rate"}
    for step, tables in _leads(plan, results):
        attribute_figures = figures[step.attribute]
        n_rows = tables["comparable"]["support"].sum()
        for row in tables["comparable"].to_dict("records"):
            people = sizes.get(row["group"], row["support"])
            labels = {"attribute": step.attribute, "group": row["group"], "people": people}
            quantity = step.attribute, row["group"], "selection_rate"
            gap = attribute_figures.numbers(GAP, *quantity, ("gap", "gap_ci_low", "gap_ci_high"))
            equal = attribute_figures.numbers(EQUAL, *quantity)
            if min(row["support"], n_rows - row["support"]) < min_cell:
                equal = dict.fromkeys(equal)
            rows.append(labels | gap | equal)
    return rows


def legitimate(plan, results, audited):
    """Return the legitimate columns of each question at equal columns, and what goes with them.

    `audited`: AuditedRows. Returns a list of dict: as in the document; ``associated`` has the
    strongest group of each column.
    """
    rows = []
    for step, tables in _leads(plan, results):
        chosen = step.settings.get("adjust_for", "others")
        if isinstance(chosen, str):
            chosen = [c for c in audited.X if c not in step.protected]
        strongest = tables["associations"].drop_duplicates("column").to_dict("records")
        labels = {"attribute": step.attribute, "columns": [str(c) for c in chosen or []]}
        rows.append(labels | {"associated": strongest})
    return rows


def _leads(plan, results):
    """Yield the steps that lead a question at equal columns, each with its tables."""
    for step in plan.steps:
        result = results.get(step.name)
        tables = {} if result is None else result.tables
        if step.role == LEAD and step.on == "given" and {"comparable", "associations"} <= {*tables}:
            yield step, tables
