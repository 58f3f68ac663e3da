"""The family of contrasts under test: which groups, corrected p-values, order, intervals.

The family depends on the columns of X, and on the outcomes only through their overall rate.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from skdisc import _stats
from skdisc._space._items import Items
from skdisc.subgroup._estimation._contrast_question import one_side_each, repeated
from skdisc.subgroup._estimation._contrasts import HIGHER_IS_WORSE, Contrasts
from skdisc.subgroup._estimation._discovery import in_direction
from skdisc.subgroup._estimation._refinements import unexceeded
from skdisc.subgroup._lattice._conjunctions import Patterns

_TINY = 1e-300  # smaller p-values are ordered by the statistic


@dataclass(frozen=True)
class Family:
    """Contrasts with their corrected p-values.

    Attributes
    ----------
    is_tested : ndarray of bool, shape (n_measures, n_groups)
        The family.
    p_value, p_adjusted : ndarray of float, shape (n_measures, n_groups)
        NaN where not tested.
    refined : list or None
        From `unexceeded`: which groups come after which.
    has_contrast : ndarray of bool, shape (n_groups,), or None
        Whether a mined group has a context to be compared with.
    least : float
        The smallest size of a group that was mined.
    """

    contrasts: Contrasts
    is_tested: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray
    refined: list | None = None
    has_contrast: np.ndarray | None = None
    least: float = np.inf

    @classmethod
    def of(cls, detector: Any, contrasts: Contrasts, tested: np.ndarray) -> "Family":
        """Test a family of contrasts.

        `detector`: with the settings ``min_effect`` and ``correction``. Shapes: `tested`
        (n_measures, n_groups).
        """
        any_tested = tested.any(axis=0)
        p_value = np.full(tested.shape, np.nan)
        tested_contrasts = contrasts.at(np.flatnonzero(any_tested))
        p_value[:, any_tested] = tested_contrasts.p_value()
        # No gap and a gap of at most `min_effect` must both be rejected, so the larger p-value
        # counts.
        if detector.min_effect:
            tallies = tested_contrasts.tallies
            beyond = np.array([t.p_beyond(detector.min_effect) for t in tallies])
            p_value[:, any_tested] = np.maximum(p_value[:, any_tested], beyond)
        p_value = np.where(tested, p_value, np.nan)
        return cls(contrasts, tested, p_value, _stats.adjust(p_value, detector._list_correction))

    @classmethod
    def mined(
        cls,
        detector: Any,
        rows: Any,
        patterns: Patterns,
        contexts: Patterns,
        items: Items,
        direction: str,
    ) -> "Family":
        """Test mined groups, each against the rest of its context.

        `detector`: with the settings of `of`, ``distinct`` and ``significance``. `direction`: which
        side of a context is kept if both sides are groups.
        """
        contrasts, has_contrast = Contrasts.of_patterns(rows, patterns, contexts, items)
        least = detector._least(rows)
        tested = candidates(contrasts, has_contrast, least, patterns, detector.distinct)
        tested, twin = one_side_each(contrasts, tested, patterns, items, direction)
        family = cls.of(detector, contrasts, tested)
        refined = unexceeded(family, patterns, items, twin, detector.significance)
        return replace(family, refined=refined, has_contrast=has_contrast, least=least)

    @property
    def n_tests(self) -> int:
        """Number of contrasts, each measure counted."""
        return int(self.is_tested.sum())

    def notes_on_skewness(self, significance: float, group_at: Callable) -> list[str]:
        """Return a note on the comparisons that numbers are too skewed for, if there are any.

        At the level that the correction leaves to each of the comparisons.

        `group_at`: returns the group of the contrast at a position.
        """
        level = significance / max(self.n_tests, 1)
        reason = np.where(self.is_tested, self.contrasts.too_skewed(level), "")
        refused = np.argwhere(reason != "")
        if not len(refused):
            return []
        support = self.contrasts.support[refused[:, 1]]
        measure, group = refused[np.argmax(support)]
        return [
            f"{len(refused):,} of {self.n_tests:,} comparisons of means: numbers are too skewed to "
            f"be compared at the level of this many comparisons. Of the largest, "
            f"{group_at(group)}: {reason[measure, group]}."
        ]

    @cached_property
    def gap(self) -> np.ndarray:
        """Gap of each contrast, shape (n_measures, n_groups); NaN where not tested."""
        return np.where(self.is_tested, self.contrasts.gap, np.nan)

    @cached_property
    def strength(self) -> np.ndarray:
        """Strength of the evidence: |z| by the p-value, or by the statistic if it underflows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            z = special.ndtri(np.maximum(self.p_value, _TINY) / 2)
            z = np.where(self.p_value > _TINY, -z, np.maximum(-z, self.contrasts.z()))
        return np.where(self.is_tested & ~np.isnan(z), z, -np.inf)

    @cached_property
    def standing(self) -> np.ndarray:
        """The strength by which contrasts are ordered: at most as large as of those they refine."""
        key = self.strength.copy()
        for strengths, levels in zip(key, self.refined or [], strict=False):
            for child, parent in levels:
                np.minimum.at(strengths, child, strengths[parent])
        return key

    def first(self, k: int, order: str, length: np.ndarray, worth: np.ndarray) -> tuple:
        """Choose k contrasts of each measure.

        Parameters
        ----------
        order : {"evidence", "bound", "effect"}
            By `standing`; by the end of the simultaneous interval that is nearer to 0; or by gap,
            significant ones first.
        length : ndarray of int, shape (n_groups,)
            Number of conditions; of equals the one with fewer comes first.
        worth : ndarray of bool, shape (n_measures, n_groups)
            Contrasts that may be chosen.

        Returns
        -------
        measure, group : ndarray of int
            Positions, in order.
        """
        key = self.standing
        if order == "effect":
            key = np.abs(self.gap)
        elif order == "bound":
            # The end nearer to 0 of Bonferroni's simultaneous 95 % interval: |gap| - critical s,
            # with s = |gap| / z the standard error.
            critical = special.ndtri(1 - 0.025 / max(self.n_tests, 1))
            with np.errstate(invalid="ignore", divide="ignore"):
                key = np.abs(self.gap) * (1 - critical / self.strength)
        key = np.where(worth & self.is_tested, key, -np.inf)
        flat_index = np.flatnonzero(key.ravel() > -np.inf)
        measure, group = np.divmod(flat_index, key.shape[1])
        size, names = self.contrasts.support[group], self.contrasts.rows.names
        worse = np.array([1 if name in HIGHER_IS_WORSE else -1 for name in names])[measure]
        better_off = worse * self.gap[measure, group] < 0
        columns = [group, -size, better_off, length[group], -key.ravel()[flat_index].round(9)]
        best = np.lexsort(columns)
        chosen = best[pd.Series(measure[best]).groupby(measure[best]).cumcount().to_numpy() < k]
        return measure[chosen], group[chosen]

    def table(
        self, measure: np.ndarray, group: np.ndarray, significance: float, significant: np.ndarray
    ) -> pd.DataFrame:
        """Return the statistics of the contrasts shown.

        Findings have false-coverage-rate intervals; the others have the two-sided interval whose
        larger end is the one that verdicts are about.
        """
        is_found = significant[measure, group]
        level = _stats.false_coverage_level(int(is_found.sum()), max(self.n_tests, 1), significance)
        table = self.contrasts.table(measure, group, level)
        wide = float(_stats.level_of_two_tests(significance))
        table["level"] = np.where(is_found, 1 - level, 1 - wide)
        for j in np.unique(measure[~is_found]):
            positions = np.flatnonzero(~is_found & (measure == j))
            low, high = self.contrasts.at(group[positions]).tallies[j].interval(wide)
            table.loc[positions, "ci_low"], table.loc[positions, "ci_high"] = low, high
        table["p_value"] = self.p_value[measure, group]
        table["p_adjusted"] = self.p_adjusted[measure, group]
        return table


def candidates(
    contrasts: Contrasts, has_contrast: np.ndarray, least: float, patterns: Patterns, distinct: bool
) -> np.ndarray:
    """Return which mined groups are in the family, a bool array of shape (n_measures, n_groups).

    Both sides must have at least `least` rows and five expected events. With `distinct`,
    groups with the rows of a shorter definition are not tested again.
    """
    tested = contrasts.enough(least) & has_contrast
    if distinct and len(patterns):
        child, parent = repeated(contrasts, patterns)
        for is_tested in tested:
            is_tested[child[is_tested[parent]]] = False
    return tested


def has_gap_in_direction(family: Family, direction: str) -> np.ndarray:
    """Return which contrasts of a family have a gap in the direction asked for."""
    return in_direction(family.gap, direction) & family.is_tested
