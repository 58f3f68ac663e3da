"""Are the planted groups the first rows of an audit's evidence table?

Claim: on the base data sets of the medium protocol, labels audited with the default settings, a
planted group that can be detected (an oracle that knows all other causes would find it with a
chance of .9 or more, see `benchmarks/detection_limit.py`) is among the first rows of the evidence
table, with nothing that was not planted above it, in at least 90 % of cases; and all of them are,
in at least 90 % of the data sets of which the oracle would find all groups with a chance of .9.

A row is a planted group if it has its direction and exactly its members, or is its mirror image:
the others in the same context, who are better off by as much. ``alike`` counts rows that the
benchmark takes for the group, too (`skdisc.benchmark.match_groups`).

Run: python -m benchmarks.audit_first_rows FILE [--repeats 20]
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.detection_limit import limits_of
from skdisc import Audit
from skdisc.benchmark import _run as runs
from skdisc.benchmark import match_groups
from skdisc.benchmark._protocols import PROTOCOLS

DETECTABLE = 0.9
EXACT = 1.0


def first_rows(document, results, truth, threshold):
    """Return the target of each row of an evidence table, -1 for none, in the order of the rows."""
    rows = [r for r in document["evidence"] if r["found"]]
    known = {str(g): g for result in results.values() for g in result.findings.subgroups}
    signs = [int(np.sign(r["effect"])) for r in rows]
    groups = [known[r["group"]] for r in rows]
    return match_groups(groups, signs, truth.targets, truth.people, threshold)


def is_first(matched, target):
    """Return True if a row is about a target, and all rows above are about targets, too."""
    at = np.flatnonzero(matched == target)
    return bool(len(at) and (matched[: at[0]] >= 0).all())


def rows_of(draw):
    """Return what became of each planted group of a draw, a DataFrame with a row for each."""
    made, (X, y, _), truth = runs._prepare(draw, "labels")
    audit = Audit(protected=list(made.protected), pos_label=1, random_state=draw[3])
    report = audit.fit(X, y).report_
    table = limits_of(draw)
    for name, threshold in (("first", EXACT), ("alike", 0.5)):
        matched = first_rows(report.document, report.results, truth, threshold)
        table[name] = [is_first(matched, j) for j in table["target"]]
        table[f"only_{name}"] = bool((matched[: len(np.unique(matched[matched >= 0]))] >= 0).all())
    return table


def summary(table):
    """Return the lines of the summary."""
    sure = table[table["limit"] >= DETECTABLE]
    whole = sure.groupby("repeat")[["first", "alike"]].all()
    limit = table.groupby("repeat")["limit"].prod()
    sure_drawings = table[table["repeat"].isin(limit.index[limit >= DETECTABLE])]
    lines = [f"{table['repeat'].nunique()} drawings, {len(table)} planted groups"]
    for name in ("first", "alike"):
        lines.append(
            f"{name}: {sure[name].sum()} of {len(sure)} detectable groups, all of them in "
            f"{whole[name].sum()} of {len(whole)} drawings; nothing else among the first rows in "
            f"{table.groupby('repeat')[f'only_{name}'].all().sum()} drawings"
        )
        every = sure_drawings.groupby("repeat")[name].all()
        lines.append(
            f"  all groups, where the limit of all is {DETECTABLE}: {every.sum()} of {len(every)}"
        )
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="CSV file of the groups; a run can be resumed")
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args()
    table = pd.read_csv(given.file) if given.file.is_file() else pd.DataFrame({"repeat": []})
    for draw in runs._draws({"base": PROTOCOLS["medium"]["datasets"]["base"]}, given.repeats, 0):
        if draw[2] not in set(table["repeat"]):
            table = pd.concat([table, rows_of(draw)], ignore_index=True)
            table.to_csv(given.file, index=False)
    print("\n".join(summary(table)))


if __name__ == "__main__":
    main()
