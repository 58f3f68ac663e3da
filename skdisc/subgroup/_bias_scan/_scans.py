"""The scans: of the outcomes observed, and of data in which the expectations hold.

The p-value compares the best score of a quick scan, few ascents without perturbations, with those
of the same quick scan of data in which the expectations hold, so it is exact. A subset that only
the full scan finds is as significant as the best one of the quick scan, no more.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from skdisc._utils._frequency import people_in
from skdisc.subgroup._bias_scan._ascent import Scan, best_totals
from skdisc.subgroup._bias_scan._cells import ScanRules, Table
from skdisc.subgroup._bias_scan._starts import Starts

_SIGNS = {"lower": (-1,), "higher": (1,), "both": (-1, 1)}
_DRAWN_AT_ONCE = 5_000_000
_TIED = 1e-6  # scores this near count as equal
_BATCHES = 4  # largest number of times that starts from pairs of values are added
_MOST_OVERLAP = 0.5  # the Jaccard index of a subset shown with each before it is below this
_PERTURBED = 4  # ends that are perturbed
_QUICK_ATTRIBUTES = 12  # above which it does not try all pairs
_QUICK_PAIRS = 2  # starts from pairs of values in a quick scan


@dataclass(frozen=True)
class ScanEnd:
    """The subset that an ascent ended in.

    Attributes
    ----------
    total : float
        Its score less its penalty.
    target : int
    sign : {-1, 1}
    group : Subgroup
    """

    total: float
    target: int
    sign: int
    group: object

    @property
    def rank(self):
        """Sort key: larger scores first, then fewer conditions."""
        return -round(self.total, 6), len(self.group), self.target, self.sign, str(self.group)


@dataclass(frozen=True)
class Scanned:
    """The results of the scans.

    Attributes
    ----------
    ends : list of ScanEnd
        Best first.
    scans : DataFrame
        One row per target and direction: measure, direction, best score, and the share of starts
        that reached it.
    null : ndarray of float
        Best penalized score of the quick scan of each data set in which the expectations hold.
    quick : float
        Best penalized score of the quick scan of the outcomes observed.
    """

    ends: list
    scans: pd.DataFrame
    null: np.ndarray
    quick: float = 0.0

    def p_value(self, end):
        """Return the p-value of the score of an end; NaN without scans of data without bias."""
        if not len(self.null):
            return np.nan
        total = min(end.total, self.quick) - _TIED
        return (1 + np.sum(self.null >= total)) / (len(self.null) + 1)

    def by_chance(self, significance):
        """Return the score that scans of data without bias exceed this rarely; NaN: unknown.

        What the full scan of the outcomes observed gained over the quick one is added.
        """
        if not len(self.null):
            return np.nan
        gain = max(0.0, self.ends[0].total - self.quick) if self.ends else 0.0
        return float(np.quantile(self.null, 1 - significance, method="higher")) + gain

    def distinct(self, outcome, k):
        """Return the first k ends that share little with those before them, and their members."""
        selected, masks, n = [], [], outcome.frequency
        for end in self.ends:
            if len(selected) == k:
                break
            mask = end.group.mask(outcome.X)
            shared = [people_in(mask & m, n) / people_in(mask | m, n) for m in masks]
            if max(shared, default=0.0) < _MOST_OVERLAP:
                selected.append(end)
                masks.append(mask)
        return selected, masks


def scan_all(detector, task, outcome, items):
    """Scan the outcomes observed, in each direction, and data in which the expectations hold.

    Returns
    -------
    Scanned
    """
    if not len(outcome):
        return Scanned([], pd.DataFrame(), np.empty(0))
    table = Table(items, outcome)
    rules = rules_of(detector, table, outcome, required=())
    starts = Starts.draw(table.cells, rules, detector.n_restarts, task.rng)
    scans = scans_of(detector, table, outcome, rules)
    go_on = lambda n: detector._spend(task, n) == n  # noqa: E731
    ends, frame = observed_ends(table, scans, starts, outcome, go_on)
    if not detector.n_resamples:
        return Scanned(ends, frame, np.empty(0))
    null = _null(task, table, scans, starts, detector.n_resamples)
    return Scanned(ends, frame, null, quick_scores(scans, table.a[:, None], starts)[0])


def scans_of(detector, table, outcome, rules):
    """Return the scan of each target in each direction, by target and sign."""
    return {
        (t, s): Scan(table.cells, outcome.score(s, table.p[t], t), table.bins[t], table.h[t], rules)
        for t in range(len(outcome.y))
        for s in (outcome.sense * s for s in _SIGNS[detector.direction])
    }


def rules_of(detector, table, outcome, required):
    """Return the rules of a detector; a subset must have a condition on a required attribute."""
    m = len(table.cells.attributes)
    limit = m if detector.max_predicates is None else detector.max_predicates
    return ScanRules(float(detector.penalty), detector._least(outcome), limit, required)


def observed_ends(table, scans, starts, outcome, go_on):
    """Scan the outcomes observed; return the ends, best first, and a table of the scans."""
    ends, rows, n = [], [], len(starts.bound) * _BATCHES
    for (target, sign), scan, pair_starts in _with_pairs(scans, table.a[:, None], starts, n):
        sets, total = _full(scan, sign * table.a[target], starts, pair_starts[0], go_on)
        best = total.max()
        for i in np.flatnonzero((total[0] > _TIED) & ~outcome.is_constant[target]):
            group = table.subgroup([s[0, i] for s in sets])
            ends.append(ScanEnd(float(total[0, i]), target, sign, group))
        share_reached = np.mean(total[0] >= best - _TIED * max(1.0, abs(best)))
        score = float(best) if np.isfinite(best) else np.nan
        rows.append((outcome.names[target], outcome.direction(sign), score, float(share_reached)))
    ends = {(e.target, e.sign, e.group): e for e in ends}.values()
    frame = pd.DataFrame(rows, columns=["measure", "direction", "best", "reached_by"])
    return sorted(ends, key=lambda end: end.rank), frame


def _with_pairs(scans, a, starts, n, most=10**6):
    """Yield each target and sign, its scan, and its starts from pairs of each data set."""
    for target, sums in enumerate(a):
        target_scans = {key: scan for key, scan in scans.items() if key[0] == target}
        pairs = starts.from_pairs(list(target_scans.values()), sums, n, most)
        for (key, scan), pair_starts in zip(target_scans.items(), pairs, strict=True):
            yield key, scan, pair_starts


def _full(scan, a, starts, pair_starts, go_on):
    """Ascend from all starts, then from starts of pairs while they raise the best score.

    The best ends are perturbed.
    """
    n, a, memory = len(starts.bound), a[None], {}
    run = partial(scan.run, go_on=go_on, memory=memory)
    # The first two batches of pairs are always tried: with the other starts, in steps for all.
    sets, total = run(a, starts.joined(pair_starts.only(slice(2 * n))), n_kicks=0)
    for first in range(2 * n, len(pair_starts.bound), n):
        before = total[0, :first].max()
        if total.max() <= before + _TIED:
            break
        new_sets, new_total = run(a, pair_starts.only(slice(first, first + n)), n_kicks=0)
        sets = [np.concatenate(pair, axis=1) for pair in zip(sets, new_sets, strict=True)]
        total = np.concatenate([total, new_total], axis=1)
    bound = np.concatenate([starts.bound, pair_starts.bound])
    ends = Starts([s[0] for s in sets], starts.turns, bound[: total.shape[1]])
    best = _several(ends, total[0])
    new_sets, new_total = run(np.repeat(a, len(best), axis=0), [ends.only([i]) for i in best])
    better = new_total[:, 0] > total[0, best] + _TIED
    for old, new in zip(sets, new_sets, strict=True):
        old[0, best[better]] = new[better, 0]
    total[0, best[better]] = new_total[better, 0]
    return sets, total


def _several(ends, total):
    """Return the numbers of the best distinct ends."""
    order, keys, best = np.argsort(-total, kind="stable"), set(), []
    for i in order[np.isfinite(total[order])]:
        key = b"".join(np.packbits(s[i]).tobytes() for s in ends.sets)
        if key not in keys and len(best) < _PERTURBED:
            keys.add(key)
            best.append(i)
    return np.array(best or order[:1])


def quick_scores(scans, a, starts):
    """Return the best score of the quick scans of each data set, at least 0.

    Parameters
    ----------
    scans : dict
        By target and sign.
    a : ndarray of float, shape (n_targets, n_data, n_cells)
    starts : Starts
        Only the first ones, which start from all rows, are used.

    Returns
    -------
    ndarray of float, shape (n_data,)
    """
    first, n = _quick(scans, starts)
    best = np.zeros(a.shape[1])
    for (target, sign), scan, pair_starts in _with_pairs(scans, a, first, n, _QUICK_ATTRIBUTES):
        data_starts = [first.joined(pairs.filled(n, first)) for pairs in pair_starts]
        best = np.maximum(best, scan.run(sign * a[target], data_starts, n_kicks=0)[1].max(axis=1))
    return best


def quick_scores_of_tables(scans, a, starts):
    """Return the best score of the quick scan of each of several tables, at least 0.

    Parameters
    ----------
    scans : list of dict
        By target and sign; all with the same attributes, expectations and rules.
    a : list of ndarray of float, shape (n_targets, n_cells)
    starts : Starts

    Returns
    -------
    ndarray of float, shape (n_tables,)
    """
    first, n = _quick(scans[0], starts)
    best, table_data = np.zeros(len(a)), zip(scans, a, strict=True)
    tables = [
        _with_pairs(table_scans, sums[:, None], first, n, _QUICK_ATTRIBUTES)
        for table_scans, sums in table_data
    ]
    for table_runs in zip(*tables, strict=True):
        target, sign = table_runs[0][0]
        table_starts = [
            first.joined(pair_starts[0].filled(n, first)) for *_, pair_starts in table_runs
        ]
        signed = [sign * sums[target] for sums in a]
        best = np.maximum(
            best, best_totals([scan for _, scan, _ in table_runs], signed, table_starts)
        )
    return best


def _quick(scans, starts):
    """Return the starts of a quick scan from all rows, and the number of starts from pairs."""
    required = next(iter(scans.values())).rules.required
    first = starts.only(np.arange(min(len(starts.bound), max(1, len(required)))))
    return first, len(first.bound) * _QUICK_PAIRS


def _null(task, table, scans, starts, n_resamples):
    """Return the best quick score of each data set in which the expectations hold."""
    best, n_left = [], n_resamples
    size = max(1, _DRAWN_AT_ONCE // (len(table.cells.n) * len(table.a) + 1))
    while n_left and task.budget.stopped_by is None and task.budget.allow(1):
        n = min(size, n_left)
        best.append(quick_scores(scans, table.null(n, task.rng), starts))
        n_left -= n
        task.progress(f"{n_resamples - n_left} of {n_resamples} null scans")
    return np.concatenate(best) if best else np.empty(0)
