"""Audits of published counts: how many people of each group there are, and were selected."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skdisc.auditing._audit_report import AuditReport
from skdisc.auditing._audited_rows import AuditedRows
from skdisc.auditing._document import make_code, make_report
from skdisc.auditing._fingerprints import data_fingerprint
from skdisc.auditing._plan import Plan, make_plan
from skdisc.auditing._run import Run

COLUMNS = ("attribute", "group", "n", "selected")
_MOST = 10**15  # people
_LIMIT = (
    "Counts of groups are all that was given: whether legitimate columns account for a gap, and "
    "who is in several groups, cannot be asked."
)


def audit_counts(audit: Any, table: Any) -> AuditReport:
    """Return the report of an audit of counts.

    `audit`: its settings; `protected`, `detectors` and `pos_label` are set here. `table`: with the
    columns `COLUMNS`. Raises ValueError if the table cannot be one of counts; the message says why.
    """
    table, started = _checked(table), time.perf_counter()
    names = list(dict.fromkeys(table["attribute"]))
    whole = type(audit)(**audit.get_params(deep=False))
    whole.set_params(
        detectors=["GroupDisparity"],
        pos_label="selected",
        weights="probability",
        protected=names,
    )
    runs = []
    for name in names:
        one = type(audit)(**whole.get_params(deep=False)).set_params(protected=[name])
        X, y, people = _people(name, table[table["attribute"] == name])
        audited = replace(AuditedRows.read(one, X, y, None, None, None), frequency=people)
        run = Run(one, replace(audited, kind="counts"), make_plan(one, audited), started)
        # After an interruption the other attributes are questions that were not asked.
        run.interrupted = any(before.interrupted for before in runs)
        runs.append(run if run.interrupted else run.go())
    plan = Plan(
        steps=[step for run in runs for step in run.plan.steps],
        not_run=[line for run in runs for line in run.not_run],
        weights={cell: 1 / len(names) for run in runs for cell in run.plan.weights},
    )
    largest = max((run.audited for run in runs), key=lambda audited: audited.people())
    last = runs[-1]
    last.not_run = plan.not_run
    last.results = {name: result for run in runs for name, result in run.results.items()}
    parts = [(run.audited, run.plan) for run in runs]
    report = make_report(whole, replace(largest, protected=names), plan, last, parts)
    document = report.document
    document["about"] |= {"seconds": last.seconds, "columns": names}
    document["fingerprints"]["data"] = data_fingerprint(table.drop(columns="selected"))
    document["limits"].append(_LIMIT)
    document["code"] = make_code(audit, ".from_counts(table, {arguments})").replace(", )", ")")
    return report


def _checked(table):
    """Return the table of counts, with whole numbers and without empty groups."""
    table = pd.DataFrame(table)
    missing = [c for c in COLUMNS if c not in table]
    if missing:
        raise ValueError(
            f"The table has no column {missing[0]!r}. Its columns are {', '.join(COLUMNS)}: one "
            "row for each group, with the numbers of people and of people selected."
        )
    table = table[list(COLUMNS)].reset_index(drop=True)
    if table["attribute"].isna().any():
        raise ValueError("The attribute is missing in a row.")
    table["attribute"] = table["attribute"].astype(str)
    for name in ("n", "selected"):
        table[name] = _whole(table, name)
    has_too_many = table["selected"] > table["n"]
    if has_too_many.any():
        raise ValueError(f"{_row(table, has_too_many)}: more people are selected than there are.")
    is_repeated = table.duplicated(["attribute", "group"])
    if is_repeated.any():
        raise ValueError(f"{_row(table, is_repeated)}: the group has two rows. Add them up.")
    table = table[table["n"] > 0]
    if not len(table):
        raise ValueError("The table counts nobody.")
    n_groups = table.groupby("attribute", sort=False)["group"].nunique(dropna=False)
    if n_groups.min() < 2:
        raise ValueError(
            f"{n_groups.idxmin()!r} has people in one group only: there is none to compare with."
        )
    if table["n"].sum() > _MOST:
        raise ValueError(f"The table counts {table['n'].sum():,} people; {_MOST:,} are allowed.")
    return table


def _whole(table, name):
    """Return a column of counts as int."""
    values = pd.to_numeric(table[name], errors="coerce").astype(float)
    for is_wrong, what in (
        (values.isna() | np.isinf(values), "is not a number"),
        (values < 0, "is negative"),
        (values > _MOST, f"is beyond {_MOST:,}"),
        (values % 1 != 0, "is a fraction; give the number of people, not their share"),
    ):
        if is_wrong.any():
            raise ValueError(f"{_row(table, is_wrong)}: {name} {what}.")
    return values.astype("int64")


def _row(table, mask):
    """Return the name of the first row of a mask."""
    row = table[mask].iloc[0]
    return f"{row['attribute']} = {row['group']!r}"


def _people(name, rows):
    """Return X, y and the number of people of each: the groups of one attribute, by outcome."""
    counts = np.column_stack([rows["selected"], rows["n"] - rows["selected"]]).ravel()
    has_people = counts > 0
    group = rows["group"].repeat(2)[has_people].reset_index(drop=True)
    outcome = np.tile(["selected", "not selected"], len(rows))
    return group.to_frame(name), outcome[has_people], counts[has_people]
