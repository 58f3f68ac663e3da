"""Cells: the verdict on each protected column and null hypothesis, corrected over all of them."""

import math

import numpy as np

from skdisc._results._findings import CaseFindings
from skdisc._results._judgment import (
    FOUND,
    NOTHING,
    NULLS,
    ONLY_THE_MODEL,
    UNSURE,
    confirmed_p,
    favored_leads,
    is_reversed,
)
from skdisc.auditing._figures import (
    HELD_OUT,
    RATE_OF,
    RATIO,
    REVERSED,
    as_gaps,
    gap_of,
)
from skdisc.auditing._plan import FACTS, NULL_ORDER
from skdisc.report._together import p_of

_REFITS = 80
NOT_RUN = "its test did not run"


def holm(p_values, weights):
    """Return p-values corrected by Holm's procedure with weights.

    `weights`: positive; shares of the level.

    References
    ----------
    S. Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 1979.
    """
    p, w = np.asarray(p_values, dtype=float), np.asarray(weights, dtype=float)
    order = np.argsort(p / w, kind="stable")
    remaining = np.cumsum(w[order][::-1])[::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(remaining * (p / w)[order]))
    return adjusted


def lead_p(result):
    """Return the p-value of the whole question that a lead answers; 1 if it tested nothing."""
    if result is None:
        return 1.0
    if "training" in result.tables:
        return float(result.tables["training"]["p_value"].iloc[0])
    if "path" in result.tables and result.params.get("confirm") is None:
        first = result.tables["path"]["p_adjusted"]
        p = float(first.iloc[0]) if len(first) else 1.0
    else:
        p = p_of(result)
    if isinstance(result.findings, CaseFindings) and result.verdict != FOUND and p == 0:
        return 1.0  # cases without a test of a mean
    return p if math.isfinite(p) else 1.0


def refits_needed(plan, results, significance, cell):
    """Return the number of refits with which a question about a model trained here is answered.

    If k of n refits have a disparity at least as large as the model, the p-value is (k + 1) /
    (n + 1). So n is the smallest number that can reach the level that Holm's procedure leaves to
    this question after the others; or twice as many, so that k may be 1, but then at most 80. That
    n depends on other results does not change the level of the test: what is found at a lower level
    would have been found at a higher one, too, with the first of the same refits.

    `results`: those of the other questions. `cell`: the question.
    """
    cells = list(plan.weights)
    weights = np.array([plan.weights[c] for c in cells])
    p = [1.0 if c == cell else _cell_p(_leads(plan, results, c)) for c in cells]
    is_open = holm(p, weights) > significance
    level = significance * plan.weights[cell] / weights[is_open].sum()
    least = math.floor(1 / level + 1e-9)
    return max(least, min(2 * least, _REFITS))


def judge(plan, results, significance, figures=None):
    """Return the rows of the table of verdicts.

    `results`: the results of the steps that ran, by the name of the step. `figures`: by protected
    attribute; without them, rows have no numbers. Returns a list of dict: in the order of the
    attributes in the plan, and of `NULL_ORDER`.
    """
    leads = {cell: _leads(plan, results, cell) for cell in plan.weights}
    p_values = np.array([_cell_p(pairs) for pairs in leads.values()])
    adjusted = holm(p_values, np.array(list(plan.weights.values()))) if leads else p_values
    rows = []
    for (cell, pairs), p, p_adjusted in zip(leads.items(), p_values, adjusted, strict=True):
        attribute, null = cell
        step, result = pairs[0]  # what is shown is the result of the first lead
        verdict = _judged([r for _, r in pairs], p, p_adjusted, significance, len(leads))
        share = _share(result) if null == "individual" else {}
        figures_shown = None if figures is None else figures[attribute]
        rows.append(_row(cell, "cell", step, result, figures_shown) | share | verdict)
        rows[-1] |= {"p_value": float(p), "p_adjusted": float(p_adjusted)}
    for step in plan.steps:
        if step.role == FACTS:
            # A fact has no sampling error: it is outside of the correction, as if p were 0.
            result, cell = results.get(step.name), (step.attribute, step.null)
            verdict = _judged([result], 0.0, 0.0, significance, 1)
            rows.append(_row(cell, "fact", step, result) | verdict | _share(result))
    place_of_null = {null: i for i, null in enumerate(NULL_ORDER)}
    # Reversed, so that the first step about an attribute gives its place.
    places = {s.attribute: i for i, s in reversed(list(enumerate(plan.steps)))}
    last = len(place_of_null)
    return sorted(rows, key=lambda r: (places[r["attribute"]], place_of_null.get(r["null"], last)))


def _cell_p(pairs):
    """Return the p-value of a cell: the largest, since all of its leads must find a disparity."""
    return max(lead_p(r) for _, r in pairs)


def _leads(plan, results, cell):
    """Return the leads of a cell as pairs of step and result, None for those that did not run.

    The second lead asks about the labels that a model was trained on. If the first finds nothing in
    the model, labels have nothing to explain, and the first lead is returned alone.
    """
    pairs = [(s, results.get(s.name)) for s in plan.leads_of(cell)]
    first = pairs[0][1]
    return pairs[:1] if first is not None and first.verdict != FOUND else pairs


def _judged(results, p, corrected, significance, n_cells):
    """Return verdict and reason of a cell, from the results of its leads."""
    if any(r is None for r in results):
        return {"verdict": UNSURE, "reason": NOT_RUN}
    if all(r.verdict == FOUND for r in results):
        if corrected <= significance:
            answer = _answer(results[0])
            return {"verdict": FOUND, "reason": "" if answer is None else answer.reason}
        shown = _above(corrected, significance)
        reason = f"p = {p:.2g}, and {shown} after correction for {n_cells} questions"
        return {"verdict": UNSURE, "reason": reason}
    if results[0].verdict == FOUND:
        return {"verdict": UNSURE, "reason": ONLY_THE_MODEL}
    verdict = NOTHING if results[0].verdict == NOTHING else UNSURE
    return {"verdict": verdict, "reason": results[0].reason}


def _above(p, level):
    """Return a p-value above a level in two digits, or in as many as show that it is above."""
    texts = (f"{p:.{digits}g}" for digits in range(2, 18))
    return next(text for text in texts if float(text) > level)


def _row(cell, kind, step, result, figures=None):
    """Return the row of a cell without its verdict."""
    attribute, null = cell
    answer = _answer(result)
    row = {
        "attribute": attribute,
        "null": null,
        "claim": NULLS[null],
        "kind": kind,
        "lead": step.detector,
        "bound": None if answer is None else answer.bound,
        **dict.fromkeys(("group", "measure", "effect", "ci_low", "ci_high", "ci_level", "people")),
        **dict.fromkeys(("judged", "p_value", "p_adjusted")),
        "answer": answer_facts(answer),
        "aside": "" if answer is None else answer.aside,
    }
    if figures is None or result is None or isinstance(result.findings, CaseFindings):
        return row
    shown = _widest(step, result, figures) if result.verdict != FOUND else None
    what, group, measure, people = shown or _strongest(step, result, figures) or (None,) * 4
    if what is None:
        return row
    record = figures.get(what, attribute, group, measure) or {}
    return row | {
        **figures.numbers(what, attribute, group, measure),
        "group": group,
        "measure": RATE_OF.get(measure, measure),
        "people": people,
        "judged": record.get("judged"),
    }


def _answer(result):
    """Return the answer of a lead; None where it has none, as where nobody is compared."""
    return None if result is None else result.answer


def _strongest(step, result, figures):
    """Return what is estimated of the strongest finding, its group, measure and people.

    None without findings. Findings of people worse off come first, unless a favored group leads in
    their measure. A ratio has the p-value of its gap.
    """
    if not len(result.findings):
        return None
    table = as_gaps(result.findings.table)
    prefix = "held_out_" if "held_out_effect" in table else ""
    is_significant = (confirmed_p(table) <= result.significance).to_numpy()
    is_worse_off = _is_worse_off(table, prefix).to_numpy()
    is_gap = (table["measure"] != "impact_ratio").to_numpy()
    first = is_significant & is_worse_off
    leads = np.zeros(len(table), dtype=bool)
    ends = table[[f"{prefix}ci_low", f"{prefix}ci_high"]].to_numpy(dtype=float)
    for of_measure in table.groupby("measure").indices.values():
        favored = of_measure[(is_significant & ~is_worse_off)[of_measure]]
        leads[favored] = favored_leads(ends[favored], ends[of_measure[first[of_measure]]])
    is_beside_leading = table["measure"].isin(table["measure"][leads]).to_numpy()
    if leads.any() and not (first & ~is_beside_leading).any():
        first = leads
    else:
        first &= ~is_beside_leading
    i = int(np.argmax(strength(table, prefix) + 1000 * first + 10_000 * is_gap))
    measure = table["measure"].iloc[i]
    # With several causes, the whole gap of the group, not what it adds to the other causes: the
    # page states the same number wherever it names the group.
    what = RATIO if measure == "impact_ratio" else gap_of(step)
    what += HELD_OUT if prefix else ""
    group = result.findings.subgroups[i]
    audited, people = figures.audited, examined(table.iloc[i])
    # Not only those searched, and only those whom the rate is about; of a sample, those drawn.
    if step.on == "given" and not audited.drew_others(result):
        people = audited.people(audited.among(RATE_OF.get(measure, measure), group.mask(audited.X)))
    return what, str(group), measure, people


def examined(row):
    """Return how many people of a group a finding is about, both searched and held out."""
    return int(row["support"] + row.get("held_out_support", 0))


def _widest(step, result, figures):
    """Return what is estimated of the group whose gap may be largest, it, measure and people.

    It is the one that the bound is about. One that another question shows as a finding, with an
    interval of another level, is passed over.
    """
    table = result.tables.get("family")
    if table is None:
        return None
    table = table[table["judged"] & np.isfinite(table["upper"])]
    for row in table.sort_values("upper", ascending=False, kind="stable").to_dict("records"):
        measure = row["measure"] or result.measure
        record = figures.get(gap_of(step), step.attribute, row["group"], measure)
        if record is not None and np.isclose(record["level"], row["level"]):
            return gap_of(step), row["group"], measure, round(row["n"])
    return None


def answer_facts(answer):
    """Return what an answer rests on, without sentences and positions; None without one."""
    if answer is None:
        return None
    names = ("n_family", "n_found", "n_cleared", "relevant_gap", "relevant_ratio", "relevant_size")
    more = ("ratio", "open_by_ratio", "resolution", "significance", "level", "curve")
    facts = {name: getattr(answer, name) for name in names + more}
    return facts | {"n_without_counterparts": len(answer.without_counterparts)}


def strength(table, prefix=""):
    """Return how strong the evidence of each finding is; of equal evidence the side worse off.

    What is reversed on the rows held out is no evidence.
    """
    worse = _is_worse_off(table, prefix).to_numpy()
    p = table[f"{prefix}p_value"].mask(is_reversed(table)).fillna(1.0).to_numpy()
    return -np.log10(np.maximum(p, 1e-300)) + 1e-9 * worse


def _is_worse_off(table, prefix):
    """Return whether the people of each finding, as a gap, are worse off."""
    is_reversed_rate = table["measure"].isin(REVERSED)
    return (table[f"{prefix}effect"] < 0) != (is_reversed_rate & table[f"{prefix}effect"].notna())


def _share(result):
    """Return the share of people with a case as the effect of a fact."""
    if result is None or result.estimates is None or not len(result.estimates):
        return {}
    _, share, low, high, n = result.estimates.iloc[0]
    people = round(share * n) if n else None
    facts = {"effect": share, "ci_low": low, "ci_high": high, "people": people}
    if result.verdict == FOUND:
        share_of_people = f"{100 * share:.3g} % of the people"
        facts["reason"] = f"{share_of_people} have another outcome for another value alone"
    return facts
