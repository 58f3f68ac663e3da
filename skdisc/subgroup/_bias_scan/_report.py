"""From a scan to findings: the search, the p-value of the whole scan, and what is reported."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from skdisc import _stats
from skdisc._results._audit_result import Discovery
from skdisc._results._findings import GroupFindings
from skdisc._space._items import count_values, value_name
from skdisc.subgroup._bias_scan._ascent import Scan
from skdisc.subgroup._bias_scan._cells import Table
from skdisc.subgroup._bias_scan._starts import ScanRules, Starts
from skdisc.subgroup._estimation._confirmation import confirmed
from skdisc.subgroup._estimation._single_groups import excluded_groups, largest

_SIGNS = {"lower": (-1,), "higher": (1,), "both": (-1, 1)}
_TEST = "best score, against scans of data in which the expectations hold"
_DRAWN_AT_ONCE = 5_000_000


@dataclass(frozen=True)
class _End:
    """Where one ascent ended."""

    total: float
    target: int
    sign: int
    group: object


def search(detector, task, outcome):
    """Scan, find the p-value of the scan, and return a Discovery with the first k subsets."""
    d = detector
    items = d._items_of(outcome.X, outcome.weight)
    signs = [outcome.sense * s for s in _SIGNS[d.direction]] if len(outcome) else []
    table = Table(items, outcome) if signs else None
    ends, scans, null = [], pd.DataFrame(), np.empty(0)
    if signs:
        rules = _rules(d, table, outcome.size)
        starts = Starts.draw(table.cells, rules, d.n_restarts, task.rng)
        machines = {
            (t, s): Scan(
                table.cells, outcome.score(s, table.p[t], t), table.bins[t], table.h[t], rules
            )
            for t in range(len(outcome.y))
            for s in signs
        }
        ends, scans = _observed(d, task, table, machines, starts, outcome)
        null = _null(d, task, table, machines, starts)
    kept, masks = _distinct(ends, outcome.X, d.k, d.max_overlap)
    targets = [e.target for e in kept]
    frame = outcome.compared(masks, targets, d.significance)
    frame["direction"] = _texts("higher" if e.sign == outcome.sense else "lower" for e in kept)
    triples = zip(masks, targets, kept, strict=True)
    frame["score"] = [outcome.score_of(m, t, e.sign) for m, t, e in triples]
    frame["score"] -= _prices(d, [e.group for e in kept])
    frame["p_value"] = frame["p_adjusted"] = [_p_value(e.total, null) for e in kept]
    frame["test"] = _texts(_TEST for _ in kept)  # one that tests a subset alone knows of no search
    groups = [e.group for e in kept]
    keys = [task.space.subgroup_key(g) for g in groups]
    findings = GroupFindings(groups, frame, task.space.names, keys)
    found = [g for g, p in zip(groups, frame["p_adjusted"], strict=True) if p <= d.significance]
    discovery = _report(d, outcome, items, findings, task.budget.tests, found, null)
    discovery.tables["scans"] = scans
    if not len(null):
        discovery.notes.append("No scan of data without bias was made: there is no p-value.")
    return discovery


def _rules(detector, table, n_rows):
    d, m = detector, len(table.cells.attributes)
    required = table.protected if d.must_include == "protected" else ()
    limit = m if d.max_predicates is None else d.max_predicates
    return ScanRules(float(d.penalty), _min_rows(d, n_rows), limit, required)


def _min_rows(detector, n_rows):
    return max(1, math.ceil(detector.min_support * n_rows - 1e-9))


def _observed(detector, task, table, machines, starts, outcome):
    """Scan what was observed; return all ends, best first, and a table of the scans."""
    ends, rows, constant = [], [], _constant(outcome)
    for (target, sign), scan in machines.items():
        sets, total = scan.run(
            sign * table.a[target][None], starts, lambda n: detector._spend(task, n) == n
        )
        best = total.max()
        for i in np.flatnonzero((total[0] > 1e-6) & ~constant[target]):
            group = table.subgroup([s[0, i] for s in sets])
            ends.append(_End(float(total[0, i]), target, sign, group))
        reached = np.mean(total[0] >= best - 1e-6 * max(1.0, abs(best)))
        direction = "higher" if sign == outcome.sense else "lower"
        score = float(best) if np.isfinite(best) else np.nan
        rows.append((outcome.names[target], direction, score, float(reached)))
    ends = sorted({(e.target, e.sign, e.group): e for e in ends}.values(), key=_rank)
    return ends, pd.DataFrame(rows, columns=["measure", "direction", "best", "reached_by"])


def _constant(outcome):
    """Say which outcomes are expected to be their mean and never differ from it."""
    return outcome.is_mean & (outcome.y == outcome.y[:, :1]).all(axis=1)


def _rank(end):
    return -round(end.total, 6), len(end.group), end.target, end.sign, str(end.group)


def _null(detector, task, table, machines, starts):
    """Return the best penalised score of each scan of data in which the expectations hold."""
    best, left = [], detector.n_bootstrap
    size = max(1, _DRAWN_AT_ONCE // (len(table.cells.n) * len(table.a) + 1))
    while left and task.budget.stopped_by is None and task.budget.allow(1):
        n = min(size, left)
        drawn = table.null(n, task.rng)
        totals = [
            scan.run(sign * drawn[target], starts)[1].max(axis=1)
            for (target, sign), scan in machines.items()
        ]
        best.append(np.max(totals, axis=0))
        left -= n
        task.progress(f"{detector.n_bootstrap - left} of {detector.n_bootstrap} null scans")
    return np.maximum(np.concatenate(best), 0.0) if best else np.empty(0)  # 0: nobody stands out


def _p_value(total, null):
    return (1 + np.sum(null >= total - 1e-6)) / (len(null) + 1) if len(null) else np.nan


def _distinct(ends, X, k, max_overlap):
    """Return the first k ends that share little with those before them, and their members."""
    kept, masks = [], []
    for end in ends:
        if len(kept) == k:
            break
        mask = end.group.mask(X)
        shared = [(mask & m).sum() / (mask | m).sum() for m in masks]
        if max(shared, default=0.0) < max_overlap:
            kept.append(end)
            masks.append(mask)
    return kept, masks


def _prices(detector, groups):
    """Return the penalty of each group: a price per value, or range, of its conditions."""
    sizes = [sum(len(p.values or (p,)) for p in g.predicates) for g in groups]
    return detector.penalty * np.array(sizes, dtype=float)


def _texts(values):
    return np.array(list(values), dtype=object)


def measure_again(detector, findings, outcome):
    """Measure findings on other rows; p-values are corrected over these findings."""
    at_fit = findings.table
    targets = [outcome.names.index(m) for m in at_fit["measure"]]
    masks = [g.mask(outcome.X) for g in findings.subgroups]
    table = outcome.compared(masks, targets, detector.significance)
    table["direction"] = at_fit["direction"].to_numpy()
    signs = [outcome.sense * (1 if x == "higher" else -1) for x in table["direction"]]
    triples = zip(masks, targets, signs, strict=True)
    table["score"] = [outcome.score_of(m, t, s) for m, t, s in triples]
    table["score"] -= _prices(detector, findings.subgroups)
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), detector.correction)
    table["effect_at_fit"] = at_fit["effect"].to_numpy()
    return table


def remeasured(detector, outcome):
    """Return the Discovery of the findings of fit, measured on these rows."""
    at_fit = detector.result_.findings
    table = measure_again(detector, at_fit, outcome)
    findings = GroupFindings(at_fit.subgroups, table, at_fit.columns, at_fit.keys)
    again = confirmed(table, detector.significance)
    found = [g for g, yes in zip(at_fit.subgroups, again, strict=True) if yes]
    items = detector._items_of(outcome.X, outcome.weight)
    n_tested = len(set(at_fit.subgroups))
    return _report(detector, outcome, items, findings, n_tested, found, None)


def _report(detector, outcome, items, findings, n_tested, found, null):
    """Put a Discovery together; null=None: findings were measured again, each by one test."""
    d = detector
    groups, gap = _single(d, outcome, items, n_tested, null)
    hits = count_values(set(found), set(found), d.protected_)
    searched = {value_name(items.predicates[i]) for i in np.flatnonzero(items.protected)}
    by_value = dict.fromkeys(sorted(searched), (n_tested, 0))
    by_value |= {v: (n_tested, n) for v, (_, n) in hits.items()}
    return Discovery(
        findings=findings,
        measure=", ".join(outcome.names),
        n_tested=n_tested,
        n_found=len(set(found)),
        smallest_gap=gap,
        required_gap=float(d.relevant_gap),
        by_value=by_value,
        estimates=outcome.overall(d.significance),
        excluded=excluded_groups(groups, _min_rows(d, outcome.size)),
        tables={"groups": groups},
    )


def _single(detector, outcome, items, n_tested, null):
    """Compare every single protected value, and say what gap the scan would have shown."""
    d, at = detector, np.flatnonzero(items.protected)
    insides = list(items.masks(at))
    masks, targets = insides * len(outcome.y), np.repeat(np.arange(len(outcome.y)), len(at))
    groups = outcome.compared(masks, targets, d.significance)
    names = _texts(str(items.predicates[i]) for i in at)
    groups.insert(0, "group", np.tile(names, len(outcome.y)))
    groups["trials"] = groups["support"]
    if null is None:
        threshold = _threshold(d.significance / max(n_tested, 1))
    else:
        threshold = np.quantile(null, 1 - d.significance) + d.penalty if len(null) else np.nan
        threshold /= outcome.inflation
    groups["min_detectable_gap"] = outcome.smallest_gaps(groups, masks, targets, threshold)
    groups["p_adjusted"] = _stats.adjust(groups["p_value"].to_numpy(), d.correction)
    unit = 1.0 if outcome.is_share or not len(outcome) else outcome.y.std() or 1.0
    gap = largest(groups["min_detectable_gap"]) / unit
    return groups, np.nan if _constant(outcome).all() else gap


def _threshold(level):
    """Return the score, half a squared normal quantile, at which one two-sided test rejects."""
    return special.ndtri(level / 2) ** 2 / 2
