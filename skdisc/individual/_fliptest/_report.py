"""What FlipTest returns: flipsets, transparency reports and cases."""

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._findings import ESTIMATES, CaseFindings, Discovery, share_estimate
from skdisc._space._items import value_name
from skdisc._utils._hashing import canonical_rank
from skdisc.individual._fliptest import _net_of_flips as verdict

UNTESTED = (
    "Flips were not tested: n_permutations is 0, so the flipsets were not compared with those of "
    "groups drawn at random."
)
SETS = {"positive": 1, "negative": -1}
NOTE = (
    "Paired people differ in more than the protected attribute, so flips occur under any decision "
    "rule. Read them together with the net and the transparency report."
)
_REPORT = ["attribute", "group", "flipset", "feature", "mean", "sign", "rank_mean", "rank_sign"]


def make_discovery(detector, task, people, parts):
    """Find the flips among the pairs, and return a Discovery.

    `task`: with a `TransportOfFit` as its memory. `people`: the rows under audit. `parts`: list of
    Transported.
    """
    at_fit, rows, reports, tables = task.memory, [], [], []
    names, scale = _coordinate_names(at_fit.space, at_fit.columns)
    limit = np.inf if detector.max_distance is None else detector.max_distance + 1e-9
    n_tests = detector._n_contrasts([part.problem.comparison for part in parts], True)
    adjusted = _stats.adjust([part.facts["p_value"] for part in parts], n_tests=n_tests)
    for part, p, significant in zip(parts, adjusted, at_fit.is_significant, strict=True):
        pairs = part.pairs
        outcome, partner_outcome = (
            people.decided[pairs["row"]],
            at_fit.people.decided[pairs["partner"]],
        )
        pairs = pairs.assign(
            outcome=outcome,
            partner_outcome=partner_outcome,
            flip=np.sign(outcome - partner_outcome),
        )
        flipset = _flip_row(part.problem, pairs, part.facts | {"p_adjusted": float(p)})
        pairs["case"] = (pairs["flip"] != 0) & (pairs["distance"] <= limit)
        pairs["case"] &= significant if np.isnan(p) else bool(p <= detector.significance)
        for name in ("attribute", "group", "reference"):
            pairs[name] = pd.Series([flipset[name]] * len(pairs), dtype=object)
        gap = people.points[pairs["row"]] - at_fit.people.points[pairs["partner"]]
        reports += _transparency(flipset, pairs, gap * scale, names)
        tables.append(pairs)
        rows.append(flipset)
    pairs = pd.concat(tables, ignore_index=True)
    flipsets = pd.DataFrame(rows)
    caveats = verdict.too_few(detector, flipsets, n_tests)
    discovery = _discovery(detector, task, pairs, flipsets, reports, caveats)
    discovery.answer = verdict.answer(detector, people, parts, flipsets, caveats)
    return discovery


def _discovery(detector, task, pairs, flipsets, reports, caveats):
    n_tested, n_found = _numbers_of_people(pairs)
    name = "share of people carried to one decided unlike them"
    share = share_estimate(name, n_found, n_tested, detector.significance)
    caveats = [] if n_found else caveats
    return Discovery(
        findings=_findings(task, pairs),
        measure="decision, person minus the one they are carried to",
        n_tested=n_tested,
        n_found=n_found,
        by_value=_count_by_group(task.memory, pairs),
        estimates=pd.DataFrame([share], columns=ESTIMATES),
        tables={
            "flipsets": flipsets,
            "transparency": _report_table(reports),
            "runs": _runs_table(pairs),
            "transported": pairs,
        },
        notes=[NOTE, UNTESTED] if detector.n_permutations == 0 else [NOTE, *caveats],
        versus="the people they are paired with",
    )


def _findings(task, pairs):
    """Return one case per person and attribute, the nearest pairs first."""
    cases = pairs[pairs["case"]].sort_values(["distance", "row"], kind="stable")
    rank = canonical_rank(task.X)[cases["row"]]
    cases = cases.iloc[np.lexsort((rank, cases["distance"].round(12)))]
    cases = cases.drop_duplicates(["row", "attribute"], ignore_index=True)
    rows = cases["row"].to_numpy()
    return CaseFindings(
        task.X.iloc[rows],
        task.memory.people.X.iloc[cases["partner"]],
        cases["outcome"].to_numpy(),
        cases["partner_outcome"].to_numpy(),
        space=task.space,
        row=rows,
        statistics=cases[["attribute", "distance"]],
    )


def _count_by_group(at_fit, pairs):
    """Count, per protected value and attribute, the people transported and those with a case."""
    counts = {}
    for comparison, _ in at_fit.transported:
        group_pairs = pairs[pairs["group"] == str(comparison.group)]
        rows_with_case = set(group_pairs.loc[group_pairs["case"], "row"])
        ends = [comparison.group] + [r for r in (comparison.reference,) if r is not None]
        names = {value_name(p) for end in ends for p in end.predicates}
        for name in names | {_attribute_name(comparison)}:
            tested, with_case = counts.setdefault(name, (set(), set()))
            tested.update(group_pairs["row"])
            with_case.update(rows_with_case)
    return {name: (len(a), len(b)) for name, (a, b) in sorted(counts.items())}


def _attribute_name(comparison):
    """Return the names of the protected columns of a comparison."""
    return ", ".join(map(str, comparison.columns))


def _flip_row(problem, pairs, facts):
    """Return the row of a comparison in the table of flipsets."""
    comparison = problem.comparison
    flip, weight = pairs["flip"].to_numpy(), pairs["weight"].to_numpy()
    positive, negative = (float(weight[flip == s].sum()) for s in SETS.values())
    return {
        "attribute": _attribute_name(comparison),
        "group": str(comparison.group),
        "reference": comparison.versus,
        "n_group": len(problem.one),
        "n_reference": len(problem.zero),
        "n": float(weight.sum()),
        "positive": positive,
        "negative": negative,
        "net": positive - negative,
        **facts,
    }


def _transparency(flipset, pairs, gap, names):
    """Return, per flipset, how its people differ from their partners, a list of DataFrame.

    `gap` holds the differences of the pairs, shape (n_pairs, n_coordinates). Columns: attribute,
    group, flipset, feature, mean (difference, in standard deviations, or of the shares with a
    category), sign (mean sign), rank_mean and rank_sign (1 is the largest).
    """
    tables = []
    for name, sign in SETS.items():
        inside = (pairs["flip"] == sign).to_numpy()
        if not inside.any():
            continue
        weight = pairs["weight"].to_numpy()[inside]
        mean = np.average(gap[inside], axis=0, weights=weight)
        signs = np.average(np.sign(np.round(gap[inside], 12)), axis=0, weights=weight)
        table = pd.DataFrame({"feature": names, "mean": mean, "sign": signs})
        for column in ("mean", "sign"):
            ranks = table[column].abs().rank(ascending=False, method="min")
            table[f"rank_{column}"] = ranks.astype(int)
        table.insert(0, "flipset", name)
        table.insert(0, "group", flipset["group"])
        table.insert(0, "attribute", flipset["attribute"])
        tables.append(table)
    return tables


def _coordinate_names(space, columns):
    """Return the name of each coordinate, and the factor that makes 1 the difference of values."""
    names, scale = [], []
    for column, levels in zip(columns, space.columns, strict=True):
        number = isinstance(levels, float)
        names += [str(column)] if number else [f"{column}={value}" for value in levels]
        scale += [1.0] if number else [2.0] * len(levels)
    return names, np.array(scale)


def _report_table(reports):
    """Return the transparency reports one below the other."""
    if reports:
        return pd.concat(reports, ignore_index=True)
    text, numbers = dict.fromkeys(_REPORT[:4], object), dict.fromkeys(_REPORT[4:], float)
    return pd.DataFrame(columns=_REPORT).astype({**text, **numbers})


def _numbers_of_people(pairs):
    """Return how many people were transported, and how many of them have a case."""
    return pairs["row"].nunique(), pairs.loc[pairs["case"], "row"].nunique()


def _runs_table(pairs):
    """Return TSN, DSN and SUR per protected attribute; a run is one comparison."""
    names = ["attribute", "values", "runs", "successful", "TSN", "DSN", "SUR", "distance"]
    rows = []
    for attribute, attribute_pairs in pairs.groupby("attribute", sort=False):
        n_tested, n_found = _numbers_of_people(attribute_pairs)
        by_run = attribute_pairs.groupby(["group", "reference"], sort=False)["case"].any()
        values = "; ".join(f"{g} / {r}" for g, r in by_run.index)
        runs, distance = (len(by_run), int(by_run.sum())), attribute_pairs["distance"].mean()
        numbers = n_tested, n_found, n_found / n_tested
        rows.append((attribute, values, *runs, *numbers, distance))
    return pd.DataFrame(rows, columns=names)
