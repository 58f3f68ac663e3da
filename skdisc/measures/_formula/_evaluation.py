"""Evaluation of a measure for all comparisons: values, intervals, tests, and one number."""

import warnings
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from skdisc import _stats
from skdisc.exceptions import UndefinedMeasureWarning
from skdisc.measures._formula._decisions import ComparedGroups
from skdisc.measures._formula._design import (
    OmnibusDesign,
    PairDesign,
    resampled_areas,
    weight_resampler,
)
from skdisc.measures._formula._pairs import CountPair, GroupValues, ValuePair
from skdisc.measures._formula._permutation import permutation_p

AVERAGES = ("max", "weighted", "defined")
EMPTY, ALONE, FEW = "the group is empty", "there is no group to compare with", "fewer than"
_MEANS = {"mean_difference", "balance_positive_class", "balance_negative_class"}
_MEANS |= {"balanced_residuals", "difference_of_means_test"}
_MEANS |= {"standardized_mean_difference", "quantile_difference"}
_RATES = {"normalized_difference", "impact_ratio", "elift", "odds_ratio", "area_under_curve"}
_RATES |= {"equal_opportunity", "average_odds_difference", "predictive_parity", "equalized_odds"}
_RATES |= {"unexplained_difference", "conditional_impact_ratio", "calibration_difference"}
_RATES |= {"two_proportions_test", "cochran_mantel_haenszel_test"}
_OMNIBUS = {"mutual_information", "eta_neutrality", "one_variable_prediction"}
_OMNIBUS |= {"many_proportions_test"}
_DESIGNED = {True: _MEANS | _OMNIBUS, False: _MEANS | _RATES | _OMNIBUS}  # by rows, by counts
_COUNTED = {"rank_test", "regression_slope_test"}  # tests for numbers of rows only
_ALIKE = 1e-12  # relative differences of values of samples, by rounding
COLUMNS = [
    *("attribute", "group", "reference", "n", "n_reference", "estimate", "ci_low", "ci_high"),
    *("p_value", "p_adjusted", "test", "excluded", "reason"),
]


def average_of(settings):
    """Return how a measure summarizes groups; ValueError for no such word."""
    average = settings.get("average", "max")
    if not isinstance(average, str) or average not in AVERAGES:
        raise ValueError(f"average must be one of {AVERAGES}, got {average!r}")
    return average


def _check_are_classes(name, labels):
    """Raise ValueError for labels of a measure that are numbers: they are favorable, or not."""
    numbers = labels[(labels != 0) & (labels != 1)]
    if len(numbers):
        raise ValueError(
            f"{name} compares people with a favorable label and others, and y_true holds numbers, "
            f"such as {numbers[0]:g}. Pass classes with pos_label, or compare the numbers with a "
            "threshold first, e.g. y_true >= threshold."
        )


@dataclass
class Evaluation:
    """A measure with its settings, the rows and the comparisons.

    Attributes
    ----------
    entry : Entry of the catalogue
    function : callable, pair -> Contrast, with its options bound
    rows : GroupedDecisions
    comparisons : list of ComparedGroups
    by_rows : bool, whether the measure needs rows, not only counts
    omnibus : bool, whether it compares all groups at once
    by_group : bool, whether it evaluates each group alone
    min_size : float, the smallest weight of a group that is not left out
    """

    entry: object
    function: object
    rows: object
    comparisons: list
    by_rows: bool
    omnibus: bool
    by_group: bool = False
    min_size: float = 1

    @classmethod
    def of(cls, plan, rows, reference, min_size, options, min_cell=0):
        """Return the evaluation of a `MeasurePlan` on `GroupedDecisions`, with these options.

        Groups of less than `min_cell` are not the best one (`GroupedDecisions.comparisons`).
        """
        if not plan.entry.suits(rows.is_numeric):
            problem = "classes. Pass pos_label=None if they are numbers."
            if rows.is_numeric:
                problem = "numbers. Compare them with a threshold first, e.g. y_pred >= threshold."
            types = " and ".join(plan.entry.target)
            raise ValueError(f"{plan.entry.name} is defined for {types} decisions, got {problem}")
        if plan.entry.needs_labels and not plan.entry.numeric_labels:
            _check_are_classes(plan.entry.name, rows.true)
        if plan.omnibus:
            comparisons = omnibus_groups(rows)
        else:
            comparisons = rows.comparisons(reference, min_size, min_cell)
        if rows.has_design and plan.entry.name in _COUNTED:
            raise ValueError(
                f"{plan.entry.name} takes neither groups nor probability weights; whole weights "
                'are numbers of equal rows with weights="frequency".'
            )
        if not len(comparisons):
            raise ValueError(f"{plan.entry.name} compares groups, and no row has a known group.")
        return cls(
            plan.entry,
            partial(plan.function, **options),
            rows,
            comparisons,
            plan.by_rows,
            plan.omnibus,
            plan.by_group,
            min_size,
        )

    def __post_init__(self):
        self.with_rows = self.by_rows or self.rows.is_numeric
        members = [(c.one, c.other, c.overlap) for c in self.comparisons]
        group, reference, overlap = (np.array(part) for part in zip(*members, strict=True))
        if self.by_rows or (self.with_rows and (overlap.any() or self.entry.name not in _MEANS)):
            self.rows = self.rows.repeated()
        size = self.rows.size
        self.n = group @ size
        self.n_reference = reference @ size + np.where(overlap, self.n, 0)
        if self.omnibus or self.by_group:
            self.n_reference = self.n
        if not self.omnibus and not self.with_rows:
            counts = self.rows.counts
            tables = (np.einsum("cg,zgij->zcij", m, counts) for m in (group, reference))
            self.pair = CountPair(*tables, overlap=bool(overlap.any()))
            if self.rows.has_design:
                self.pair = replace(self.pair, design=PairDesign(self.rows, group, reference))

    def contrasts(self):
        """Return a list of contrasts: one for all comparisons, or one per comparison."""
        contrasts = self._contrasts()
        if self.rows.has_design and self.entry.name not in _DESIGNED[self.with_rows]:
            return [c and replace(c, interval=None, p_value=None) for c in contrasts]
        return contrasts

    def _contrasts(self):
        """Return the contrasts of the formula."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.omnibus:
                several = [len(c.reference) > 1 for c in self.comparisons]
                pairs = zip(self.comparisons, several, strict=True)
                return [self.function(self._groups(c)) if s else None for c, s in pairs]
            if not self.with_rows:
                return [self.function(self.pair)]
            return [
                self.function(self._values(c)) if n > 0 and m > 0 else None
                for c, n, m in zip(self.comparisons, self.n, self.n_reference, strict=True)
            ]

    def pairs(self):
        """Yield each comparison with its rows; those without members or a reference are left out.

        For formulas that need rows.
        """
        for comparison, n, m in zip(self.comparisons, self.n, self.n_reference, strict=True):
            if n > 0 and m > 0:
                yield comparison, self._values(comparison)

    def _weight(self):
        """Return the weight of each row, 1 without weights."""
        weight = self.rows.weight
        return np.ones(len(self.rows.cell)) if weight is None else weight

    def _values(self, comparison, position=None):
        """Return the rows of a comparison; `position` replaces the rows of its two sides."""
        rows, parts = self.rows, []
        columns = (rows.pred, rows.true, self._weight(), rows.stratum, rows.positions)
        columns = [None if c is None else c * 1.0 if c.dtype == bool else c for c in columns]
        for k, cells in enumerate((comparison.one, comparison.other)):
            chosen = np.flatnonzero(cells[rows.cell]) if position is None else position[k]
            parts.append(tuple(None if c is None else c[chosen] for c in columns))
        n_strata = 1 if rows.stratum is None else int(rows.stratum.max()) + 1
        pair = ValuePair(*parts, comparison.overlap, n_strata)
        if not rows.has_design:
            return pair
        cluster = np.arange(len(rows.cell)) if rows.cluster is None else rows.cluster
        sides = (np.flatnonzero(m[rows.cell]) for m in (comparison.one, comparison.other))
        return replace(pair, clusters=tuple(cluster[side] for side in sides))

    def _groups(self, comparison):
        """Return all groups of a grouping: a table of counts, or their rows."""
        members, rows = comparison.reference, self.rows
        group = members.argmax(axis=0)[rows.cell]
        values = rows.pred * 1.0, self._weight(), group, len(members)
        design = OmnibusDesign(*values, rows.cluster) if rows.has_design else None
        if self.with_rows:
            return GroupValues(*values, design)
        table = np.einsum("cg,zgij->zcij", members, rows.counts)
        return CountPair(table, np.zeros_like(table), design=design)

    def values(self, contrasts, average="max"):
        """Return the value of each comparison, NaN if undefined or if a group is too small.

        With ``average="defined"``, a maximum ignores its undefined parts.
        """
        parts = []
        for contrast in contrasts:
            value = np.nan if contrast is None else contrast.value
            if average == "defined" and contrast is not None and contrast.defined is not None:
                value = contrast.defined
            parts.append(np.asarray(value, dtype=float).ravel())
        return np.where(self._is_small(), np.nan, np.hstack(parts))

    def _is_small(self):
        """Return a mask of the comparisons with a side of less weight than `min_size`, or none."""
        least = np.minimum(self.n, self.n_reference)
        return (least < self.min_size) | (least == 0)

    def reduce(self, value, average):
        """Reduce the values of all comparisons to one number.

        Groups of less than `min_size` are left out, as asked. Any other group whose value is
        undefined makes the number NaN, unless ``average="defined"``: the largest gap of the other
        groups would read as if there were none in this one.

        Parameters
        ----------
        value : ndarray of float, shape (n_comparisons,)
        average : {"max", "weighted", "defined"}

        Warns
        -----
        UndefinedMeasureWarning
            If a value is NaN.
        """
        defined = ~np.isnan(value)
        is_open = bool(np.any(~defined & ~self._is_small())) and average != "defined"
        if not defined.all():
            self._warn_undefined(defined, is_open)
        if is_open or not defined.any():
            return float("nan")
        if average == "weighted":
            with np.errstate(invalid="ignore"):  # inf and -inf have no mean
                return float(np.average(value[defined], weights=self.n[defined]))
        return self._furthest(value[defined])

    def _warn_undefined(self, defined, is_open):
        """Name the groups whose value is undefined, and say whether that makes the number NaN."""
        undefined = [self.comparisons[i] for i in np.flatnonzero(~defined)]
        names = ", ".join(f"{c.attribute}={c.group}" for c in undefined[:5])
        ellipsis = " ..." if len(undefined) > 5 else ""
        message = f"{self.entry.name} is undefined for {names}{ellipsis}; the report says why."
        if is_open and defined.any():
            message += ' The value is therefore NaN; average="defined" leaves undefined gaps out.'
        warnings.warn(message, UndefinedMeasureWarning, stacklevel=5)

    def _furthest(self, value):
        """Return the value furthest from no discrimination; of ties, the one worse for its group.

        Values tie up to rounding: with two groups, each compared with the other, the distances are
        equal, and which of them came out larger must not decide the sign.
        """
        distance = self.entry.distance(value)
        tied = value[distance >= distance.max() * (1 - 1e-9)]
        return float(tied.min() if self.entry.worse == "below" else tied.max())

    def intervals(self, contrasts, significance, n_resamples, rng):
        """Return the lower and the upper ends of the intervals of all comparisons."""
        ends = []
        for k, contrast in enumerate(contrasts):
            if contrast is None:
                ends.append((np.nan, np.nan))
            elif contrast.interval is not None and not self._overlaps:
                with np.errstate(divide="ignore", invalid="ignore"):
                    low, high = contrast.interval(significance)
                    ends.append(_stats.widened(low, high, np.asarray(contrast.value)))
            elif not n_resamples:
                ends.append(np.full((2, np.size(contrast.value)), np.nan))
            elif contrast.curve is not None:
                half = self._half_width(k, contrast, significance, n_resamples, rng)
                ends.append(_of_some_width(max(contrast.value - half, 0.0), contrast.value + half))
            else:
                drawn = np.nan, np.nan  # of one person, every sample would be the same
                if self._may_vary(self.comparisons[k]):
                    drawn = self._bootstrap(k, len(contrasts), significance, n_resamples, rng)
                drawn = _stats.widened(*drawn, np.ravel(contrast.value))
                ends.append(_of_some_width(*drawn))
        sides = zip(*ends, strict=True)
        flat = ([np.ravel(np.asarray(e, dtype=float)) for e in side] for side in sides)
        return (np.hstack(side) for side in flat)

    def _half_width(self, k, contrast, significance, n_resamples, rng):
        """Return the quantile of the area between the curve and the curves of bootstrap samples."""
        n = min(self.n[k], self.n_reference[k] - self.comparisons[k].overlap * self.n[k])
        with np.errstate(divide="ignore", invalid="ignore"):
            areas = resampled_areas(
                contrast.curve,
                rows=self.rows,
                comparison=self.comparisons[k],
                n_resamples=n_resamples,
                rng=rng,
            )
            return _stats.percentiles(areas, 2 * significance)[1] * np.sqrt(n / (n - 1))

    def _may_vary(self, comparison):
        """Return whether each side has two people or clusters to draw; of several, one group."""
        rows = self.rows

        def n_units(members):
            is_in = np.asarray(members)[rows.cell] > 0
            if rows.cluster is not None:
                return len(np.unique(rows.cluster[is_in]))
            return self._weight()[is_in].sum() if rows.is_frequency else is_in.sum()

        sides = comparison.reference if self.omnibus else (comparison.one, comparison.other)
        return (max if self.omnibus else min)(map(n_units, sides)) >= 2

    def _bootstrap(self, k, n_contrasts, significance, n_resamples, rng):
        """Return the ends of the bootstrap intervals of a contrast."""
        if self.rows.has_design:
            one = self if n_contrasts == 1 else replace(self, comparisons=[self.comparisons[k]])
            values = one._replicates(n_resamples, rng).T
            return np.array([_stats.percentiles(v, significance) for v in values]).T
        bootstrap = self._bootstrap_rows if self.with_rows else self._bootstrap_counts
        return bootstrap(k, significance, n_resamples, rng)

    @property
    def _overlaps(self):
        """Whether a reference includes its group."""
        return any(c.overlap for c in self.comparisons)

    def _replicates(self, n_resamples, rng):
        """Return bootstrap values of all comparisons, drawn by clusters or by weighted rows."""
        replicates, plain = [], replace(self.rows, cluster=None, is_frequency=True)
        draw = weight_resampler(self.rows, rng)
        for _ in range(n_resamples):
            rows = replace(plain, weight=draw())
            rows = rows.at(rows.weight > 0)
            if len(rows.cell):  # otherwise all that were drawn weigh 0
                drawn = replace(self, rows=rows, min_size=0)
                replicates.append(drawn.values(drawn._contrasts()))
        return np.reshape(replicates, (-1, len(self.comparisons)))

    def _bootstrap_counts(self, k, significance, n_resamples, rng):
        """Return bootstrap intervals of all comparisons, from multinomial draws of counts."""
        pair = self._groups(self.comparisons[k]) if self.omnibus else self.pair
        tables = (_stats.resample_counts(t, n_resamples, rng) for t in (pair.one, pair.other))
        drawn = replace(pair, **dict(zip(("one", "other"), tables, strict=True)))
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.asarray(self.function(drawn).value).reshape(n_resamples, -1)
        return np.array([_stats.percentiles(v, significance) for v in value.T]).T

    def _bootstrap_rows(self, k, significance, n_resamples, rng):
        """Return the bootstrap interval of one comparison, from resampled rows."""
        comparison = self.comparisons[k]
        if self.omnibus:
            rows = self._groups(comparison)
            parts, groups = rows.drawn, rows.group
        else:
            side_positions = [
                np.flatnonzero(m[self.rows.cell]) for m in (comparison.one, comparison.other)
            ]
            positions, groups = (
                np.concatenate(side_positions),
                np.repeat([0, 1], [len(w) for w in side_positions]),
            )
            first = len(side_positions[0])
            parts = partial(self._drawn, comparison, positions, first)
        return _stats.bootstrap(
            lambda i: float(np.ravel(self.function(parts(i)).value)[0]),
            groups,
            n_resamples=n_resamples,
            significance=significance,
            rng=rng,
        )[:2]

    def _drawn(self, comparison, positions, first, i):
        """Return the resampled rows of a comparison."""
        return self._values(comparison, (positions[i[:first]], positions[i[first:]]))

    def ends(self, *, significance, n_resamples, random_state):
        """Return the intervals of `columns` at a level, an array of shape (2, n_comparisons)."""
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        contrasts = self.contrasts()
        ends = list(self.intervals(contrasts, significance, n_resamples, rng))
        return np.where(np.isnan(self.values(contrasts)), np.nan, ends)

    def columns(self, *, significance, correction, n_resamples, permutations, random_state):
        """Return the columns of the tidy table as a dict."""
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        contrasts = self.contrasts()
        value = self.values(contrasts)
        low, high = self.intervals(contrasts, significance, n_resamples, rng)
        if permutations:
            p_value = permutation_p(self, value, int(permutations), rng)
            test = np.full(len(value), "permutation test", dtype=object)
        else:
            p_value, test = self._p_values(contrasts)
        is_undefined = np.isnan(value)
        p_value = np.where(is_undefined, np.nan, p_value)
        return {
            "attribute": [c.attribute for c in self.comparisons],
            "group": objects(c.group for c in self.comparisons),
            "reference": objects(self._reference(c) for c in self.comparisons),
            "n": self.n,
            "n_reference": self.n_reference,
            "estimate": value,
            "ci_low": np.where(is_undefined, np.nan, low),
            "ci_high": np.where(is_undefined, np.nan, high),
            "p_value": p_value,
            "p_adjusted": _stats.adjust(p_value, correction),
            "test": test,
            "excluded": is_undefined,
            "reason": [
                self._reason(i) if g else note
                for i, (g, note) in enumerate(
                    zip(is_undefined, self._notes(contrasts), strict=True)
                )
            ],
        }

    def _p_values(self, contrasts):
        """Return p-values and the names of the tests."""
        p_value, test = [], []
        for contrast in contrasts:
            p, name = np.nan, ""
            if contrast is not None and contrast.p_value is not None:
                with np.errstate(divide="ignore", invalid="ignore"):
                    p, name = contrast.p_value()
            size = 1 if contrast is None else np.size(contrast.value)
            p = np.broadcast_to(np.ravel(np.asarray(p, dtype=float)), size)
            p_value.append(p)
            test.append(np.broadcast_to(np.asarray(name, dtype=object).ravel(), p.shape))
        p_value, test = np.hstack(p_value), np.hstack(test)
        if self._overlaps:  # the reference includes the group; tests need the rest
            alone = [replace(c, overlap=False) for c in self.comparisons]
            rest = replace(self, comparisons=alone)
            return rest._p_values(rest.contrasts())
        return p_value, test

    def _reference(self, comparison):
        """Return the reference of a comparison as the report shows it."""
        if self.omnibus or self.by_group:
            return "all groups" if self.omnibus else "none"
        return comparison.reference

    def _notes(self, contrasts):
        """Return the note of each comparison on the rows it leaves out, "" if there are none."""
        notes = []
        for contrast in contrasts:
            size = 1 if contrast is None else np.size(contrast.value)
            note = None if contrast is None else contrast.note
            notes += [""] * size if note is None else list(np.ravel(note))
        return notes

    def _reason(self, i):
        """Return the reason why a comparison has no value."""
        if self.n[i] == 0:
            return EMPTY
        if self.n_reference[i] == 0 or (self.omnibus and len(self.comparisons[i].reference) < 2):
            return ALONE
        if min(self.n[i], self.n_reference[i]) < self.min_size:
            return f"{FEW} {self.min_size:g} rows (min_size)"
        return "a denominator of the formula is 0, or nothing varies"


def _of_some_width(low, high):
    """Return the ends of resampled intervals, NaN where all samples are alike.

    If people agree within each group, so do all samples, which tells nothing about other people.
    """
    are_alike = np.isclose(low, high, rtol=_ALIKE, atol=0)  # in any unit
    return np.where(are_alike, np.nan, low), np.where(are_alike, np.nan, high)


def tidy(columns):
    """Return columns as a DataFrame in which the values of groups keep their types."""
    for name in ("group", "reference"):
        columns[name] = pd.Series(columns[name], dtype=object)
    first = [name for name in columns if name not in COLUMNS]
    return pd.DataFrame(columns)[[*first, *COLUMNS]]


def objects(values):
    """Return values as an array of objects; tuples stay whole."""
    values = list(values)
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def omnibus_groups(rows):
    """Return one comparison per grouping: all its groups at once, stored as `reference`."""
    comparisons = []
    for name, _, members in rows.groupings:
        present = (members & (rows.size > 0)).any(axis=1)
        everyone, nobody = members.any(axis=0), np.zeros(members.shape[1], dtype=bool)
        comparisons.append(ComparedGroups(name, "all", members[present], everyone, nobody))
    return comparisons
