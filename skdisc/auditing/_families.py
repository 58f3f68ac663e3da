"""The groups that a question compares, by the size of their comparisons."""

import numpy as np
import pandas as pd

from skdisc._verdicts._answer import rounded_up
from skdisc.auditing._figures import finite_or_none, whole_or_none
from skdisc.auditing._plan import LEAD

_COLUMNS = ("group", "measure", "comparison", "estimate", "excluded", "cleared", "found")
_MOST_LISTED = 400  # of each question: with 30 columns, thousands are compared


def families(plan, results):
    """Return the candidates of each question that is answered by them, the largest first.

    Of more than 400, those with the largest comparisons are listed, those found, and those that
    bounds of the answer come from.

    Returns a list of dict: as in the document.
    """
    rows = []
    for step in plan.steps:
        table = None if step.name not in results else results[step.name].tables.get("family")
        if step.role != LEAD or step.on != "given" or table is None:
            continue
        candidates = table[table["judged"]]
        candidates = candidates[listed(candidates, results[step.name].answer)]
        candidates = candidates.sort_values("comparison", ascending=False, kind="stable")
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


def listed(family, answer):
    """Return which groups of a family a document lists: a mask, of shape (n_candidates,).

    `family`, `answer`: as for `ends_of_bounds`.
    """
    is_listed = family["found"].to_numpy(dtype=bool) | ends_of_bounds(family, answer)
    order = np.argsort(-family["comparison"].to_numpy(dtype=float), kind="stable")
    is_listed[order[:_MOST_LISTED]] = True
    return is_listed


def ends_of_bounds(family, answer):
    """Return which groups of a family the bounds of its answer come from.

    These are the largest end of an interval, of several measures by their relevant gaps; the
    smallest comparison that is cleared; and the largest that is neither cleared nor found.

    Parameters
    ----------
    family : DataFrame
        Judged candidates, with columns found, cleared, excluded, comparison and measure.
    answer : Answer or None

    Returns
    -------
    ndarray of bool, shape (n_candidates,)
    """
    is_found, is_cleared = (family[name].to_numpy(dtype=bool) for name in ("found", "cleared"))
    upper, size = (family[name].to_numpy(dtype=float) for name in ("excluded", "comparison"))
    is_open = ~is_found & ~is_cleared
    largest_end = _largest_ends(family, np.where(is_found, -np.inf, upper), answer)
    smallest_cleared = np.where(is_cleared, size, np.inf).min(initial=np.inf)
    largest_open = np.where(is_open, size, -np.inf).max(initial=-np.inf)
    is_end = ~is_found & (upper >= largest_end * (1 - 1e-9))
    is_end |= is_cleared & (size <= smallest_cleared)
    return is_end | (is_open & (size >= largest_open))


def _largest_ends(family, ends, answer):
    """Return the end that the bound comes from; inf for the measures that it is not about.

    Shapes: `ends` and what is returned (n_candidates,).
    """
    gaps = None if answer is None else answer.relevant_gap
    if not isinstance(gaps, dict):
        return np.full(len(ends), ends.max(initial=-np.inf))
    number, names = pd.factorize(family["measure"])
    largest = np.full(len(names), -np.inf)
    np.maximum.at(largest, number, ends)
    gap = np.array([gaps.get(name) or np.nan for name in names], dtype=float)
    bound = np.array([rounded_up(end) for end in largest])
    bound = np.where(largest <= gap, np.minimum(bound, gap), bound)  # as `decide` has it
    share = np.nan_to_num(bound / gap, nan=np.inf)
    return np.where(share >= share.max(initial=-np.inf) * (1 - 1e-9), largest, np.inf)[number]
