"""Compare the cases that several methods find among the same rows."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from skdisc._results._audit_result import AuditResult

FLIPS = "counterfactual decision"


def compare_cases(
    results: Sequence[AuditResult], names: Sequence[str] | None = None
) -> dict[str, pd.DataFrame]:
    """Count the cases that each method finds, and the cases that two methods share.

    Parameters
    ----------
    results : sequence of AuditResult
        Results of detectors fitted on the same rows. At least one is a situation test. Of the
        others (for example `CounterfactualFairness`), only people whose counterfactual outcome is
        better count as cases.
    names : sequence of str, default=None
        Names of the methods; by default those of the detectors, numbered where they repeat.

    Returns
    -------
    dict of DataFrame
        - ``counts``: method, n_neighbors, people, cases, share.
        - ``overlaps``: n_neighbors, two methods, and the numbers of cases found by both, by the
          first only, and by the second only.
        - ``rates``: factual and counterfactual share of unfavorable decisions of each group, if a
          result has them.

        If all results are situation tests, one with counterfactual decisions adds the method
        "counterfactual decision". Methods without neighbors appear at each number of neighbors.

    Raises
    ------
    ValueError
        If no result is a situation test, or `names` and `results` differ in length.

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.individual import CounterfactualSituationTesting, SituationTesting
    >>> loans = make_loan(1000, random_state=0)
    >>> settings = {"protected": "gender", "criterion": "gap", "n_neighbors": [15, 50]}
    >>> tests = [
    ...     SituationTesting(**settings),
    ...     CounterfactualSituationTesting(counterfactuals=loans.counterfactual.data, **settings),
    ... ]
    >>> results = [test.fit(loans.data, loans.target).result_ for test in tests]
    >>> compare_cases(results, ["ST", "CST"])["overlaps"]
       n_neighbors first second  both  first_only  second_only
    0           15    ST    CST    11           0           95
    1           50    ST    CST    26           0          142
    """
    names = _numbered([r.detector for r in results]) if names is None else list(names)
    if len(names) != len(results):
        raise ValueError(f"names has {len(names)} entries for {len(results)} results.")
    tests = {n: r.tables["people"] for n, r in zip(names, results, strict=True) if _is_test(r)}
    if not tests:
        raise ValueError("compare_cases needs the result of a situation test among the results.")
    first = next(iter(tests.values()))
    ks, audited = first["n_neighbors"].unique().tolist(), set(first["row"])
    cases = {}
    for name, result in zip(names, results, strict=True):
        if name in tests:
            people = tests[name]
            rows_by_k = people[people["case"]].groupby("n_neighbors")["row"].agg(set)
            cases[name] = {
                k: rows_by_k.get(k, set()) for k in people["n_neighbors"].unique().tolist()
            }
        else:
            better = result.findings.table["effect"].to_numpy() < 0
            same = set(np.asarray(result.findings.row)[better]) & audited
            cases[name] = dict.fromkeys(ks, same)
    for people in tests.values():
        if "flip" in people and len(tests) == len(results) and FLIPS not in cases:
            flipped = set(people.loc[people["flip"] < 0, "row"])
            cases[FLIPS] = dict.fromkeys(ks, flipped)
    rates = [r.tables["rates"] for r in results if len(r.tables.get("rates", ()))]
    return {
        "counts": _counts(cases, len(audited)),
        "overlaps": _overlaps(cases, ks),
        "rates": rates[0] if rates else pd.DataFrame(columns=["group", "n"]),
    }


def _is_test(result):
    """Return True for the result of a situation test."""
    return {"n_neighbors", "case"} <= set(result.tables.get("people", ()))


def _numbered(names):
    """Return the names, with a number behind each that repeats."""
    counts = dict.fromkeys(names, 0)
    numbered = []
    for name in names:
        counts[name] += 1
        numbered.append(f"{name} {counts[name]}" if names.count(name) > 1 else name)
    return numbered


def _counts(cases, n):
    """Return the number and the share of cases by method and number of neighbors."""
    rows = [
        (name, k, n, len(case_rows), len(case_rows) / n if n else np.nan)
        for name, by_k in cases.items()
        for k, case_rows in by_k.items()
    ]
    return pd.DataFrame(rows, columns=["method", "n_neighbors", "people", "cases", "share"])


def _overlaps(cases, ks):
    """Return how many cases each pair of methods shares, by number of neighbors."""
    rows = []
    for k in ks:
        for a, b in combinations(cases, 2):
            if k in cases[a] and k in cases[b]:
                one, two = cases[a][k], cases[b][k]
                rows.append((k, a, b, len(one & two), len(one - two), len(two - one)))
    columns = ["n_neighbors", "first", "second", "both", "first_only", "second_only"]
    return pd.DataFrame(rows, columns=columns)
