"""The scans: of the outcomes observed, and of data in which the expectations hold."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc.subgroup._bias_scan._ascent import Scan
from skdisc.subgroup._bias_scan._cells import ScanRules, Starts, Table

_SIGNS = {"lower": (-1,), "higher": (1,), "both": (-1, 1)}
_DRAWN_AT_ONCE = 5_000_000
_TIED = 1e-6  # scores this near count as equal


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
        Best penalized score of each scan of data in which the expectations hold.
    """

    ends: list
    scans: pd.DataFrame
    null: np.ndarray

    def p_value(self, end):
        """Return the p-value of the score of an end; NaN without scans of data without bias."""
        if not len(self.null):
            return np.nan
        return (1 + np.sum(self.null >= end.total - _TIED)) / (len(self.null) + 1)

    def distinct(self, X, k, max_overlap):
        """Return the first k ends that share little with those before them, and their members."""
        kept, masks = [], []
        for end in self.ends:
            if len(kept) == k:
                break
            mask = end.group.mask(X)
            shared = [(mask & m).sum() / (mask | m).sum() for m in masks]
            if max(shared, default=0.0) < max_overlap:
                kept.append(end)
                masks.append(mask)
        return kept, masks


def scan_all(detector, task, outcome, items):
    """Scan the outcomes observed, in each direction, and data in which the expectations hold.

    Parameters
    ----------
    detector : BiasScan
    task : Task
    outcome : Outcome
    items : Items

    Returns
    -------
    Scanned
    """
    d = detector
    if not len(outcome):
        return Scanned([], pd.DataFrame(), np.empty(0))
    table = Table(items, outcome)
    required = table.protected if d.must_include == "protected" else ()
    rules = rules_of(d, table, outcome, required)
    starts = Starts.draw(table.cells, rules, d.n_restarts, task.rng)
    scans = scans_of(d, table, outcome, rules)
    go_on = lambda n: d._spend(task, n) == n  # noqa: E731
    ends, frame = observed_ends(task, table, scans, starts, outcome, go_on)
    return Scanned(ends, frame, _null(task, table, scans, starts, d.n_bootstrap))


def scans_of(detector, table, outcome, rules):
    """Return the scan of each target in each direction, by target and sign."""
    return {
        (t, s): Scan(table.cells, outcome.score(s, table.p[t], t), table.bins[t], table.h[t], rules)
        for t in range(len(outcome.y))
        for s in (outcome.sense * s for s in _SIGNS[detector.direction])
    }


def rules_of(detector, table, outcome, required):
    """Return the rules of a detector; a subset must have a condition on a required attribute."""
    d, m = detector, len(table.cells.attributes)
    limit = m if d.max_predicates is None else d.max_predicates
    return ScanRules(float(d.penalty), d._least(outcome), limit, required)


def observed_ends(task, table, scans, starts, outcome, go_on):
    """Scan the outcomes observed; return the ends, best first, and a table of the scans."""
    ends, rows = [], []
    for (target, sign), scan in scans.items():
        sets, total = scan.run(sign * table.a[target][None], starts, go_on)
        best = total.max()
        for i in np.flatnonzero((total[0] > _TIED) & ~outcome.is_constant[target]):
            group = table.subgroup([s[0, i] for s in sets])
            ends.append(ScanEnd(float(total[0, i]), target, sign, group))
        reached = np.mean(total[0] >= best - _TIED * max(1.0, abs(best)))
        score = float(best) if np.isfinite(best) else np.nan
        rows.append((outcome.names[target], outcome.direction(sign), score, float(reached)))
    ends = {(e.target, e.sign, e.group): e for e in ends}.values()
    frame = pd.DataFrame(rows, columns=["measure", "direction", "best", "reached_by"])
    return sorted(ends, key=lambda end: end.rank), frame


def _null(task, table, scans, starts, n_bootstrap):
    """Return the best penalized score of each scan of data in which the expectations hold."""
    best, left = [], n_bootstrap
    size = max(1, _DRAWN_AT_ONCE // (len(table.cells.n) * len(table.a) + 1))
    while left and task.budget.stopped_by is None and task.budget.allow(1):
        n = min(size, left)
        drawn = table.null(n, task.rng)
        totals = [
            scan.run(sign * drawn[target], starts)[1].max(axis=1)
            for (target, sign), scan in scans.items()
        ]
        best.append(np.max(totals, axis=0))
        left -= n
        task.progress(f"{n_bootstrap - left} of {n_bootstrap} null scans")
    return np.maximum(np.concatenate(best), 0.0) if best else np.empty(0)  # 0: no subset
