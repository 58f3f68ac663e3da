"""From tested groups to a Discovery: effects, the first k, counts, and detectable gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._findings import Discovery, GroupFindings
from skdisc._results._judgment import UNSURE, Judgment
from skdisc._space._items import Items, count_items, count_values
from skdisc._space._subgroup import Group
from skdisc._stats._rates import GroupTally
from skdisc.subgroup._estimation._clusters import item_tallies


@dataclass(frozen=True)
class FoundCounts:
    """The numbers of groups tested and found.

    Attributes
    ----------
    n_tested, n_found : int
    by_value : dict
        ``"attr=value"`` to (tested, found), for each protected value.

    Examples
    --------
    >>> from skdisc.extending import Predicate, Subgroup
    >>> groups = [Subgroup([Predicate.equals("sex", v)]) for v in "FM"]
    >>> FoundCounts.of(groups, np.array([True, False]), protected=["sex"])
    FoundCounts(n_tested=2, n_found=1, by_value={'sex=F': (1, 1), 'sex=M': (1, 0)})
    """

    n_tested: int
    n_found: int
    by_value: dict

    @classmethod
    def of_itemsets(
        cls, items: Items, itemsets: Any, is_tested: Any, is_found: Any
    ) -> "FoundCounts":
        """Count the itemsets that two masks select."""
        by_value = count_items(items, itemsets[is_tested], itemsets[is_found])
        return cls(int(is_tested.sum()), int(is_found.sum()), by_value)

    @classmethod
    def of(
        cls, groups: Sequence[Group], is_found: np.ndarray, protected: Sequence
    ) -> "FoundCounts":
        """Count groups, each once; `is_found` is a bool array."""
        tested = set(groups)
        found_groups = set(compress(groups, is_found))
        return cls(len(tested), len(found_groups), count_values(tested, found_groups, protected))


def subgroup_discovery(
    detector: Any,
    rows: Any,
    findings: GroupFindings,
    counts: FoundCounts,
    groups: pd.DataFrame,
    **more: Any,
) -> Discovery:
    """Return the Discovery of a detector of subgroups.

    Parameters
    ----------
    detector : SubgroupDetector
    rows : Counted, Summed or Outcome
        The rows that the findings were measured on.
    findings : GroupFindings
    counts : FoundCounts
    groups : DataFrame
        Each single protected value compared with the rest, as from `single_groups`.
    **more
        Fields of the Discovery to add or replace.

    Returns
    -------
    Discovery

    Examples
    --------
    >>> from skdisc.extending import Counted, FeatureSpace, Predicate, Subgroup, make_items
    >>> from skdisc.subgroup import DivExplorer
    >>> X = pd.DataFrame({"sex": ["F"] * 20 + ["M"] * 30 + ["X"] * 5})
    >>> cell = np.repeat([3, 0, 3, 0], [5, 15, 20, 15])  # favorable: 5 of 20, 20 of 30, 0 of 5
    >>> rows = Counted(X, cell, ["selection_rate"])
    >>> space = FeatureSpace.from_frame(X, protected="sex")
    >>> items = make_items(X, space, X.columns, ["sex"], n_bins=4)
    >>> groups = single_groups(rows, items, significance=0.05, correction="holm", n_tests=3)
    >>> women = Subgroup([Predicate.equals("sex", "F")])
    >>> found = GroupFindings.of([women], groups.iloc[:1], space)
    >>> counts = FoundCounts.of([women], np.array([True]), ["sex"])
    >>> detector = DivExplorer(protected="sex")  # whose settings count
    >>> discovery = subgroup_discovery(detector, rows, found, counts, groups, notes=["A note."])
    >>> discovery.n_found, discovery.measure, discovery.notes
    (1, 'selection_rate', ['A note.'])
    """
    relevant = detector._gap_that_matters_on(rows)
    if relevant.problem and not counts.n_found:
        more.setdefault("judgment", Judgment(UNSURE, relevant.problem))
    fields = {
        "findings": findings,
        "measure": ", ".join(rows.names),
        "n_tested": counts.n_tested,
        "n_found": counts.n_found,
        "by_value": counts.by_value,
        "estimates": rows.overall(detector.significance),
        "excluded": excluded_groups(groups, detector._least(rows)),
        "tables": {"groups": groups},
    }
    return Discovery(**{**fields, **more})


def single_groups(
    rows: Any,
    items: Items,
    significance: float,
    correction: str,
    n_tests: int,
    is_contrast: bool = False,
) -> pd.DataFrame:
    """Compare each single protected item with the rest of the rows, by each measure.

    Parameters
    ----------
    rows : Counted or Summed
    items : Items
    significance : float
    correction : str
    n_tests : int
        Number of tests that p-values and gaps are corrected for, if there are not more here.
    is_contrast : bool, default=False
        Whether the effect is the difference from the rest, not from everyone.

    Returns
    -------
    DataFrame
        The group, the columns of `GroupTally.compare` or ``contrast``, the rows of the group,
        corrected p-values, and the smallest gap between group and rest that its size could have
        shown (two-sided, power 0.8, at the level that Bonferroni's correction leaves for a test).

    Examples
    --------
    >>> from skdisc.extending import Counted, FeatureSpace, make_items
    >>> X = pd.DataFrame({"sex": ["F"] * 20 + ["M"] * 30 + ["X"] * 5})
    >>> cell = np.repeat([3, 0, 3, 0], [5, 15, 20, 15])  # favorable: 5 of 20, 20 of 30, 0 of 5
    >>> rows = Counted(X, cell, ["selection_rate"])
    >>> space = FeatureSpace.from_frame(X, protected="sex")
    >>> items = make_items(X, space, X.columns, ["sex"], n_bins=4)
    >>> groups = single_groups(rows, items, significance=0.05, correction="holm", n_tests=3)
    >>> groups[["group", "outcome", "outcome_rest", "p_adjusted"]].round(3)
           group  outcome  outcome_rest  p_adjusted
    0  sex = 'F'    0.250         0.571       0.043
    1  sex = 'M'    0.667         0.200       0.002
    2  sex = 'X'    0.000         0.500       0.043
    """
    protected_items = np.flatnonzero(items.protected)
    names = np.array([*map(str, items.protected_predicates)], dtype=object)
    support = rows.item_support(items)[protected_items]
    tallies = item_tallies(rows, items, protected_items)
    parts = [
        t.contrast(significance) if is_contrast else t.compare(significance)
        for t in _in_one_call(tallies)
    ]
    table = pd.concat(parts, ignore_index=True)
    table.insert(0, "group", np.tile(names, len(tallies)))
    table.insert(7, "support", np.tile(support, len(tallies)))
    table["measure"] = np.array(rows.names, dtype=object).repeat(len(protected_items))
    p_value = table["p_value"].to_numpy()
    n_tests = max(n_tests, int(np.sum(~np.isnan(p_value))), 1)
    level = significance if correction == "none" else significance / n_tests
    gaps = [tally.min_detectable_gap(level) for tally in tallies]
    table["min_detectable_gap"] = np.concatenate(gaps)
    table["p_adjusted"] = _stats.adjust(p_value, correction, n_tests)
    return table


def excluded_groups(groups: pd.DataFrame, min_rows: int) -> pd.DataFrame:
    """Return the single protected groups that were not searched or have no rate, and why.

    Examples
    --------
    >>> from skdisc.extending import Counted, FeatureSpace, make_items
    >>> X = pd.DataFrame({"sex": ["F"] * 20 + ["M"] * 30 + ["X"] * 5})
    >>> cell = np.repeat([3, 0, 3, 0], [5, 15, 20, 15])  # favorable: 5 of 20, 20 of 30, 0 of 5
    >>> rows = Counted(X, cell, ["selection_rate"])
    >>> space = FeatureSpace.from_frame(X, protected="sex")
    >>> items = make_items(X, space, X.columns, ["sex"], n_bins=4)
    >>> groups = single_groups(rows, items, significance=0.05, correction="holm", n_tests=3)
    >>> excluded_groups(groups, min_rows=10)[["subject", "n", "reason"]]
         subject  n                                     reason
    0  sex = 'X'  5  fewer rows than min_support requires (10)
    """
    few = (groups["support"] < min_rows).to_numpy()
    undefined = (groups["trials"] == 0).to_numpy()
    table = groups.loc[few | undefined, ["group", "measure", "support"]]
    table.columns = ["subject", "measure", "n"]
    too_few = f"fewer rows than min_support requires ({min_rows})"
    reason = np.where(few, too_few, "rate undefined: the group has no row that enters it")
    table["reason"] = reason[few | undefined].astype(object)
    return table.reset_index(drop=True)


@dataclass(frozen=True)
class Effects:
    """The comparison of each pattern with the rest by each measure.

    `sums`, of shape (4, n_patterns): the sums over each pattern, by measure.
    """

    rows: object
    sums: list

    @classmethod
    def of(cls, rows, patterns):
        """Compare the patterns mined from some rows."""
        return cls(rows, rows.pattern_sums(patterns))

    @cached_property
    def tallies(self):
        """The comparison by each measure."""
        return [self.rows.tally(j, sums) for j, sums in enumerate(self.sums)]

    @property
    def effect(self):
        """Rate or mean minus the overall one, shape (n_measures, n_patterns)."""
        return np.array([t.effect for t in self.tallies])

    def p_value(self):
        """Return the p-value of each pattern against the rest, shape (n_measures, n_patterns)."""
        tested = list(dict.fromkeys(self.rows.test_of))
        tallies = _in_one_call([self.tallies[j] for j in tested])
        p_value = np.concatenate([t.p_value() for t in tallies]).reshape(len(tested), -1)
        return p_value[[tested.index(j) for j in self.rows.test_of]]

    def posterior(self):
        """Return mean and variance of the rate or mean, each of shape (n_measures, n_patterns)."""
        mean, variance = zip(*(t.posterior() for t in self.tallies), strict=True)
        return np.array(mean), np.array(variance)

    def compare(self, measure, pattern, significance):
        """Return the table of `GroupTally.compare` for pairs of measure and pattern."""
        measures = np.unique(measure) if len(measure) else [0]
        positions = [np.flatnonzero(measure == j) for j in measures]
        tallies = [
            self.rows.tally(j, self.sums[j][:, pattern[part]])
            for j, part in zip(measures, positions, strict=True)
        ]
        table = pd.concat([t.compare(significance) for t in _in_one_call(tallies)])
        return table.set_axis(np.concatenate(positions)).sort_index()


def _in_one_call(tallies):
    """Return comparisons of counts as one, so that one call compares all rates; others as are."""
    are_counts = all(type(tally) is GroupTally for tally in tallies)
    return [GroupTally.joined(tallies)] if are_counts else tallies


def redundant(patterns, effect, threshold):
    """Return which groups have nearly the effect of a group with one condition less.

    `threshold`: effects that differ by no more than this count as equal; None: no group is
    redundant. The result has shape (n_measures, n_patterns). Shapes: `effect` (n_measures,
    n_patterns).
    """
    is_redundant = np.zeros(effect.shape, dtype=bool)
    if threshold is not None:
        child, parent, _ = patterns.parents()
        with_everyone = np.pad(effect, ((0, 0), (0, 1)))  # EVERYONE, the last, has no effect
        with np.errstate(invalid="ignore"):  # infinite beside infinite
            same = np.abs(effect[:, child] - with_everyone[:, parent]) <= threshold
        measure, edge = np.nonzero(same)
        is_redundant[measure, child[edge]] = True
    return is_redundant


def without_redundant(worth, patterns, effect, threshold, significant):
    """Return which groups worth showing are not `redundant`; all if no significant one would be.

    `worth` and `significant`, of shape (n_measures, n_patterns): pairs worth showing, and
    significant ones.
    """
    lean = worth & ~redundant(patterns, effect, threshold)
    return lean if (lean & significant).any() or not significant.any() else worth


def in_direction(effect, direction):
    """Return which effects are defined and "lower" or "higher" than 0; "both" takes either."""
    sign = {"lower": -1, "higher": 1, "both": 0}[direction]
    return ~np.isnan(effect) if sign == 0 else sign * effect > 0


def first_k(k, effect, support, significant, worth):
    """Choose k findings of each measure: significant ones first, then by effect and support.

    `significant` and `worth`, of shape (n_measures, n_patterns): pairs that are not worth showing
    are never chosen. Returns `measure` and `pattern`: the pairs chosen, in order. Shapes: `effect`
    (n_measures, n_patterns).
    """
    size = np.where(worth, np.abs(effect), -np.inf)
    groups = []
    for row, is_significant in zip(size, significant, strict=True):
        first = _largest(k, np.where(is_significant, row, -np.inf), support)
        rest = _largest(k - len(first), np.where(is_significant, -np.inf, row), support)
        groups.append(np.concatenate([first, rest]))
    measure = np.repeat(np.arange(len(size)), [len(g) for g in groups])
    group = np.concatenate([np.empty(0, dtype=np.intp), *groups])
    chosen = measure, group
    order = np.lexsort((group, -support[group], -size[chosen], ~significant[chosen]))
    return measure[order], group[order]


def _largest(k, size, support):
    """Return the positions of the k largest finite sizes, in order; of ties by support."""
    # Partition takes linear time; only sizes from the k-th on, with its ties, are sorted.
    n = min(k, np.count_nonzero(size > -np.inf))
    last = np.partition(size, len(size) - n)[len(size) - n] if n else np.inf
    positions = np.flatnonzero(size >= last)
    return positions[np.lexsort((positions, -support[positions], -size[positions]))[:n]]
