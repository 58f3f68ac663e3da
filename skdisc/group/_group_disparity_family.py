"""The candidates of a question about protected groups: each with what it is compared with."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import special

from skdisc._stats import compared_size, level_of_two_tests
from skdisc._verdicts._answer import Answer, family_table
from skdisc._verdicts._candidates import Candidates
from skdisc._verdicts._relevant import RelevantGap
from skdisc._verdicts._whom import whom
from skdisc.group._group_disparity_table import texts
from skdisc.measures._formula import _contrast
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.measures._formula._evaluation import Evaluation
from skdisc.measures._formula._pairs import CountPair, Rates

TPR, FPR, PPV = "true_positive_rate", "false_positive_rate", "positive_predictive_value"
SELECTION, RESIDUAL, OMITTED = "selection_rate", "mean_residual", "false_omission_rate"
_BEHIND = {  # the rates or means behind a measure; those of all others are selection rates
    "equal_opportunity": (TPR,),
    "equalized_odds": (TPR, FPR),
    "average_odds_difference": (TPR, FPR),
    "balance_positive_class": (TPR,),
    "balance_negative_class": (FPR,),
    "predictive_parity": (PPV,),
    "calibration_difference": (PPV, OMITTED),
    "calibration_within_groups": (RESIDUAL,),
    "balanced_residuals": (RESIDUAL,),
}
_RULES = ("rest", "overall")
_ALSO = ", also those whom the rate is not about,"


@dataclass(frozen=True)
class GapMargins:
    """What a disparity has to exceed to be relevant.

    Parameters
    ----------
    gap : callable
        Takes a rate that everyone has, or NaN for a mean, and returns its `RelevantGap`.
    size : float
        Share of the people from which on a group is judged.
    rarer : bool, default=True
        Whether ratios are of the rarer outcome, rather than of favorable ones.
    ratios : bool, default=True
        Whether ratios decide, as in marginal questions.
    """

    gap: Callable[[float], RelevantGap]
    size: float
    rarer: bool = True
    ratios: bool = True


@dataclass(frozen=True)
class ComparedQuantities:
    """The comparisons of groups by the rates, or means, behind measures.

    Parameters
    ----------
    is_judged : ndarray of bool, shape (n_comparisons,)
        Of two sides that are compared with each other, only one is judged.
    size : ndarray of float, shape (n_comparisons,)
        Size of the group; of two sides that are all people, the larger.
    order : ndarray of float, shape (n_comparisons,)
        Size of the comparison, which no outcome determines.
    total : float
        Size of all people.
    """

    comparisons: list
    quantities: list
    is_judged: np.ndarray
    size: np.ndarray
    order: np.ndarray
    total: float
    margins: GapMargins

    def candidates(self, found_pairs: set) -> Candidates:
        """Return the candidates; `found_pairs` are of the text of a group and a quantity."""
        positions = np.flatnonzero(self.is_judged)
        names = texts([c.group for c in self.comparisons])
        twin = self._mirrored()
        quantities = self.quantities

        def interval(a):
            ends = [q.interval(level_of_two_tests(a)) for q in quantities]
            return tuple(np.concatenate([end[k][positions] for end in ends]) for k in (0, 1))

        def ratio(a):
            return np.concatenate(
                [q.smallest_ratio(level_of_two_tests(a))[positions] for q in quantities]
            )

        def is_found(i, quantity):
            sides = [i] if twin[i] < 0 else [i, twin[i]]
            return any((names[k], quantity) in found_pairs for k in sides)

        rates = [q.rate for q in quantities]
        matters = [self.margins.gap(rate) for rate in rates]
        problems = [gap.problem for gap in matters]
        if not all(
            problems
        ):  # of some rates only, as where everyone with a favorable label is selected
            named = zip(quantities, problems, strict=True)
            problems = [
                problem and f"by {q.name.replace('_', ' ')}, {problem}" for q, problem in named
            ]
        return Candidates(
            np.concatenate([q.n[positions] for q in quantities]),
            np.concatenate([q.n_reference[positions] for q in quantities]),
            np.concatenate([q.gap[positions] for q in quantities]),
            interval,
            size=np.tile(self.size[positions], len(quantities)),
            total=self.total,
            found=[is_found(i, q.name) for q in quantities for i in positions],
            ratio=ratio if self.margins.ratios and not np.isnan(rates).all() else None,
            name=[names[i] for _ in quantities for i in positions],
            measure=np.repeat([q.name for q in quantities], len(positions)).astype(object),
            comparison_size=np.tile(self.order[positions], len(quantities)),
            relevant_gap=np.repeat([gap.size for gap in matters], len(positions)),
            problem=next(filter(None, problems), ""),
            # Sizes count the rows of X: whom an error rate is about depends on labels and
            # decisions.
            counted=_ALSO if whom(q.name for q in quantities) else "",
        )

    def family(self, candidates: Candidates, answer: Answer) -> pd.DataFrame:
        """Return the table of the family, with the reference of each group.

        Two sides that are compared with each other are both listed, and count once.
        """
        positions, twin = np.flatnonzero(self.is_judged), self._mirrored()
        table = family_table(candidates, answer)
        names = np.array(texts([c.reference for c in self.comparisons]), dtype=object)
        groups = np.array(texts([c.group for c in self.comparisons]), dtype=object)
        place = np.tile(positions, len(self.quantities))
        table.insert(1, "reference", names[place])
        has_twin = twin[place] >= 0
        mirrored = table[has_twin].copy()
        mirrored["group"], mirrored["reference"] = (
            v[twin[place[has_twin]]] for v in (groups, names)
        )
        mirrored[["n", "n_others"]] = table.loc[has_twin, ["n_others", "n"]].to_numpy()
        mirrored[["estimate", "low", "high"]] = -table.loc[
            has_twin, ["estimate", "high", "low"]
        ].to_numpy(dtype=float)
        order = np.argsort(np.r_[place, twin[place[has_twin]]], kind="stable")
        return pd.concat([table, mirrored], ignore_index=True).iloc[order].reset_index(drop=True)

    def gaps(self, quantity: str, significance: float) -> pd.DataFrame:
        """Return group, reference and gap with its interval, of all comparisons by a quantity."""
        named = [q for q in self.quantities if q.name == quantity]
        table = {
            "group": texts([c.group for c in self.comparisons]),
            "reference": texts([c.reference for c in self.comparisons]),
        }
        nan = np.full(len(self.comparisons), np.nan)
        gap, low, high = nan, nan, nan
        for q in named:
            gap, (low, high) = q.gap, q.interval(level_of_two_tests(significance))
        return pd.DataFrame(table | {"gap": gap, "gap_low": low, "gap_high": high})

    def _mirrored(self):
        """Return the position of the comparison of the same people the other way round, or -1."""
        if any(c.overlap for c in self.comparisons):  # everyone is no side
            return np.full(len(self.comparisons), -1)
        keys = [(c.attribute, c.one.tobytes(), c.other.tobytes()) for c in self.comparisons]
        place = {key: i for i, key in enumerate(keys)}
        return np.array(
            [place.get((name, reference, group), -1) for name, group, reference in keys], dtype=int
        )


@dataclass(frozen=True)
class _Quantity:
    """A rate or mean of groups and of what they are compared with."""

    name: str
    pieces: list
    rate: float
    of_unfavorable: bool
    overlap: bool
    of_people: "_Quantity | None" = None  # of the same rows without weights and clusters

    def _stacked(self, values):
        """Return what each piece has, for all comparisons; NaN for one that nobody is left for."""
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [np.nan if p is None else values(p) for p in self.pieces]
        parts = [np.atleast_1d(np.asarray(v, dtype=float)).ravel() for v in parts]
        return np.concatenate(parts) if parts else np.empty(0)

    @property
    def n(self):
        """People of each group."""
        if self.of_people is not None:
            return self.of_people.n
        return self._stacked(lambda p: np.broadcast_to(p.n1, np.shape(_gap_of(p))))

    @property
    def n_reference(self):
        """People that each group is compared with."""
        if self.of_people is not None:
            return self.of_people.n_reference
        return self._stacked(lambda p: np.broadcast_to(p.n0, np.shape(_gap_of(p))))

    @property
    def gap(self):
        """Rate or mean of each group minus that of its reference."""
        return self._stacked(lambda p: _gap_of(p) * self._rest(p))

    def interval(self, level):
        """Return both ends of each gap, at one minus the confidence level."""

        def end(k):  # measures subtract the group from the reference
            return lambda p: -_contrast.difference(p).interval(level)[k] * self._rest(p)

        return self._stacked(end(1)), self._stacked(end(0))

    def smallest_ratio(self, level):
        """Return the smallest ratio that is not excluded, 1 where means are compared."""
        if np.isnan(self.rate):
            return np.ones(len(self.pieces) and len(self.n))

        def smallest(p):
            _, low, high = _ratio(p, level, self.of_unfavorable, self.overlap)
            return np.minimum(low, 1 / high)

        return np.clip(self._stacked(smallest), 0, 1)

    def _rest(self, part):
        """Return the share of what a group is compared with that is not the group."""
        return part.n0 / (part.n1 + part.n0) if self.overlap else 1.0


def compared_quantities(rows, names, reference, margins, min_size, min_cell):
    """Compare groups with their references by the rates, or means, behind measures.

    `rows`: GroupedDecisions. `names`: names of measures. `margins`: GapMargins. `min_size` and
    `min_cell`: sizes of a group below which it is not the best one.
    """
    quantities = dict.fromkeys(q for n in names for q in behind(n))
    comparisons = rows.comparisons(reference, min_size, min_cell)
    n = np.array([rows.size[c.one].sum() for c in comparisons], dtype=float)
    n_others = np.array([rows.size[c.other].sum() for c in comparisons], dtype=float)
    total = float(rows.size.sum())
    # Which group is the best depends on outcomes: the order takes all others in its place.
    n_against = total - n if reference == "best" else n_others
    compared = ComparedQuantities(
        comparisons,
        [_quantity(rows, q, comparisons, margins) for q in quantities],
        np.ones(len(comparisons), dtype=bool),
        np.where(np.isclose(n + n_others, total), np.maximum(n, n_others), n),
        compared_size(n, np.maximum(n_against, 0.0)),
        total,
        margins,
    )
    # A group against the rest is a side of two only where the rest is a group, too.
    twin = compared._mirrored()
    has_twin = twin >= 0
    one_column = np.array(
        [np.ndim(c.reference) == 0 and c.reference not in _RULES for c in comparisons]
    )
    is_partition = has_twin | one_column.astype(bool)
    size = np.where(is_partition, compared.size, n)
    return replace(compared, is_judged=~has_twin | (twin > np.arange(len(comparisons))), size=size)


def behind(measure):
    """Return the rates or means behind a measure, a tuple of str."""
    return _BEHIND.get(measure, (SELECTION,))


def _quantity(rows, name, comparisons, margins):
    quantity = RESIDUAL if rows.is_numeric and name in (PPV, OMITTED) else name
    overlap = any(c.overlap for c in comparisons)
    formula, entry = partial(_part, quantity=quantity), CATALOGUE["mean_difference"]
    separate = [replace(c, overlap=False) for c in comparisons]
    pieces = (
        Evaluation(entry, formula, rows, separate, False, False).contrasts() if comparisons else []
    )
    is_rate = any(isinstance(p, Rates) for p in pieces)
    rate = _overall(rows, quantity) if is_rate else np.nan
    of_people = None
    if rows.has_design:
        # What a mean varies like, with weights or clusters, are fewer people than there are.
        weight = rows.weight if rows.is_frequency else None
        people = replace(rows, weight=weight, cluster=None)
        of_people = _quantity(people, name, comparisons, margins)
    return _Quantity(name, pieces, rate, margins.rarer and rate > 0.5, overlap, of_people)


def _gap_of(part):
    """Return rate or mean of the groups minus that of their references."""
    return -np.asarray(_contrast.difference(part).value, dtype=float)


def _part(pair, quantity):
    """Return the rates or the moments of a quantity of a pair."""
    if quantity == RESIDUAL:
        return pair.residual
    if quantity == SELECTION:
        return pair.selection
    return pair.score(int(quantity == TPR)) if pair.is_numeric else pair.rates(quantity)


def _overall(rows, quantity):
    """Return the rate of everyone."""
    everyone = rows.counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return float(_part(CountPair(everyone, np.zeros_like(everyone)), quantity).protected[0])


def _ratio(part, level, of_unfavorable, overlap):
    """Return the ratios of rates, group over reference, and both ends of their intervals."""
    if of_unfavorable:
        part = part.complement
    share = part.share if overlap else 0.0
    ratio = _contrast.ratio(part, lambda r: np.where(np.isinf(r), r, r / (share * r + 1 - share)))
    return np.stack([ratio.value, *ratio.interval(level)])


def beyond(table, compared, least, significance):
    """Return the larger of each p-value and the p-value against effects of at most `least` in size.

    For a ratio the effect is the difference of the rates behind it.
    """
    is_ratio = np.array([CATALOGUE[name].scale == "ratio" for name in table["measure"]])
    gaps = compared.gaps(SELECTION, significance).set_index(["group", "reference"])
    pairs = pd.MultiIndex.from_frame(table[["subject", "reference"]])
    gaps = gaps[["gap", "gap_low", "gap_high"]].astype(float).reindex(pairs).to_numpy()
    effects = table[["effect", "effect_low", "effect_high"]].to_numpy(dtype=float)
    level = np.where(is_ratio, level_of_two_tests(significance), significance)
    effect, low, high = np.where(is_ratio[:, None], gaps, effects).T
    near = np.where(effect > 0, effect - low, high - effect)  # the end that is nearer to 0
    with np.errstate(invalid="ignore", divide="ignore"):
        error = near / -special.ndtri(level / 2)
        z = (np.abs(effect) - least) / error, (np.abs(effect) + least) / error
    p_value = special.ndtr(-z[0]) + special.ndtr(-z[1])
    p_of_table = table["p_value"].to_numpy(dtype=float)
    return np.where(np.isnan(p_of_table), np.nan, np.fmax(p_of_table, np.minimum(p_value, 1)))
