"""Equivalence of protected groups: which gaps and ratios of rates the data exclude."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import special

from skdisc._results._judgment import COVERED
from skdisc._stats import level_of_two_tests, people_needed
from skdisc.group._group_disparity_table import parts, text, texts
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
_MEASURED = [
    *("n", "n_reference", "n_needed", "gap", "gap_low", "gap_high"),
    *("ratio", "ratio_low", "ratio_high"),
]
_COLUMNS = [
    *("attribute", "group", "reference", "quantity", "n", "n_reference", "n_needed", "judged"),
    *("gap", "gap_low", "gap_high", "gap_inside"),
    *("ratio", "ratio_low", "ratio_high", "ratio_inside", "open"),
]


@dataclass(frozen=True)
class EquivalenceMargins:
    """What a disparity has to exceed to be relevant.

    Parameters
    ----------
    gap, ratio : float
        Rates whose difference is below `gap`, and whose ratio lies between `ratio` and its inverse,
        are equivalent.
    significance : float
    rarer : bool, default=True
        Whether the ratio is that of the rarer outcome, rather than that of favorable ones.
    """

    gap: float
    ratio: float
    significance: float
    rarer: bool = True

    def of_unfavorable(self, rate):
        """Return whether the ratio is that of unfavorable outcomes, given everyone's rate."""
        return self.rarer and rate > 0.5

    def needed(self, rate):
        """Return the number of people that a group needs to be judged, given everyone's rate."""
        of_ratio = 1 - rate if self.of_unfavorable(rate) else rate
        return people_needed(of_ratio, self.gap, self.ratio, self.significance)


def equivalence(rows, names, reference, margins, min_size):
    """Compare groups with their references by the rates, or means, behind measures.

    Parameters
    ----------
    rows : GroupedDecisions
    names : iterable of str
        Names of measures.
    reference : rule, or dict of predicates
    margins : EquivalenceMargins
    min_size : float
        Size below which a group is not judged.

    Returns
    -------
    DataFrame
        One row per group and quantity: whether it has the people needed (judged), its difference
        from the reference and its ratio to it (of the rarer outcome), with intervals of level 1 -
        2 significance, and whether they lie inside the margins. `open` is the protected value that
        the row is about if judged groups hold less than 90 % of its people, else "".
    """
    quantities = dict.fromkeys(q for n in names for q in _BEHIND.get(n, (SELECTION,)))
    if not quantities:
        return pd.DataFrame(columns=_COLUMNS)
    found = rows.comparisons(reference, min_size)
    named = {"attribute": [c.attribute for c in found]}
    named |= {"group": texts([c.group for c in found])}
    named |= {"reference": texts([c.reference for c in found])}
    tables = [named | _compared(rows, q, found, margins, min_size) for q in quantities]
    tables = [_with_open(table, rows, found) for table in tables]
    return pd.DataFrame({name: np.concatenate([t[name] for t in tables]) for name in _COLUMNS})


def _compared(rows, quantity, found, margins, min_size):
    """Return the comparisons of one quantity as a dict of arrays."""
    if rows.is_numeric and quantity in (PPV, OMITTED):
        quantity = RESIDUAL
    overlap = any(c.overlap for c in found)
    formula, entry = partial(_part, quantity=quantity), CATALOGUE["mean_difference"]
    alone = [replace(c, overlap=False) for c in found]
    evaluation = Evaluation(entry, formula, rows, alone, False, False)
    parts_of = evaluation.contrasts()
    rate = _overall(rows, quantity) if isinstance(parts_of[0], Rates) else np.nan
    pieces = [_estimates(part, margins, rate, overlap) for part in parts_of]
    values = {name: np.hstack([piece[name] for piece in pieces]) for name in pieces[0]}
    sizes = np.minimum(evaluation.n, evaluation.n_reference)
    values["judged"] = (values["n"] >= values["n_needed"]) & (sizes >= max(min_size, 1))
    values["gap_inside"] = _between(
        values["gap_low"], values["gap_high"], -margins.gap, margins.gap
    )
    inside = _between(values["ratio_low"], values["ratio_high"], margins.ratio, 1 / margins.ratio)
    values["ratio_inside"] = inside | np.isnan(rate)
    return values | {"quantity": [quantity] * len(found)}


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


def _between(low, high, least, most):
    """Return whether intervals lie strictly between two bounds."""
    return (low > least) & (high < most)


def _estimates(part, margins, rate, overlap):
    """Return sizes, gaps and ratios of groups, with intervals, a dict of arrays."""
    if part is None:
        return {name: [np.nan] for name in _MEASURED}
    level = level_of_two_tests(margins.significance)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = _contrast.difference(part)
        low, high = gap.interval(level)
        if not isinstance(part, Rates):
            at_half = people_needed(0.5, margins.gap, 0, margins.significance)  # variance 1/4
            needed = 4 * at_half * np.maximum(part.v1, part.v0)
            ratio = np.full((3, *np.shape(gap.value)), np.nan)
        else:
            needed = margins.needed(rate)
            ratio = _ratio(part, level, margins.of_unfavorable(rate), overlap)
        rest = part.n0 / (part.n1 + part.n0) if overlap else 1.0
        found = (part.n1, part.n0, needed, -gap.value * rest, -high * rest, -low * rest, *ratio)
    size = np.size(gap.value)
    return {
        name: np.broadcast_to(np.ravel(np.asarray(v, dtype=float)), size)
        for name, v in zip(_MEASURED, found, strict=True)
    }


def _ratio(part, level, of_unfavorable, overlap):
    """Return the ratios of rates, group over reference, and both ends of their intervals."""
    if of_unfavorable:
        part = part.complement
    share = part.share if overlap else 0.0
    ratio = _contrast.ratio(part, lambda r: np.where(np.isinf(r), r, r / (share * r + 1 - share)))
    return np.stack([ratio.value, *ratio.interval(level)])


def _with_open(table, rows, found):
    """Add which protected values are open: judged groups hold too few of their people."""
    size, quantity = rows.size, table["quantity"][0]
    if not rows.is_numeric and quantity != RESIDUAL:
        size = _part(CountPair(rows.counts, np.zeros_like(rows.counts)), quantity).n1
    one = table["judged"]
    other = one & (table["n_reference"] >= table["n_needed"])
    judged = [(c.group, c.one) for c, yes in zip(found, one, strict=True) if yes]
    judged += [(c.reference, c.other) for c, yes in zip(found, other, strict=True) if yes]
    covered, opened = {}, []
    for group, cells in judged:
        for value in parts(group) if not isinstance(group, str) else ():
            covered[value] = covered.get(value, False) | cells
    for attribute, labels, members in rows.groupings:
        for value, cells in zip(labels, members, strict=True):
            share = size[cells & covered.get(value, False)].sum() / max(size[cells].sum(), 1e-300)
            if not isinstance(value, tuple) and size[cells].any() and share < COVERED:
                opened.append((attribute, text(value)))
    pairs = list(zip(table["attribute"], table["group"], strict=True))
    table["open"] = [pair[1] if pair in opened else "" for pair in pairs]
    more = [_not_compared(*p, quantity) for p in dict.fromkeys(opened) if p not in pairs]
    return {name: [*table[name], *(row[name] for row in more)] for name in _COLUMNS}


def _not_compared(attribute, value, quantity):
    """Return the row of a reference that is too small to be judged."""
    row = dict.fromkeys(_COLUMNS, np.nan)
    row |= dict.fromkeys(("judged", "gap_inside", "ratio_inside"), False)
    return row | {
        "attribute": attribute,
        "group": value,
        "reference": "nobody",
        "quantity": quantity,
        "open": value,
    }


def beyond(table, checked, least, significance):
    """Return the larger of each p-value and that of an effect of at most `least` in size.

    For a ratio the effect is the difference of the rates behind it.
    """
    is_ratio = np.array([CATALOGUE[name].scale == "ratio" for name in table["measure"]])
    gaps = checked[checked["quantity"] == SELECTION].set_index(["group", "reference"])
    pairs = pd.MultiIndex.from_frame(table[["subject", "reference"]])
    gaps = gaps[["gap", "gap_low", "gap_high"]].astype(float).reindex(pairs).to_numpy()
    own = table[["effect", "effect_low", "effect_high"]].to_numpy(dtype=float)
    level = np.where(is_ratio, level_of_two_tests(significance), significance)
    effect, low, high = np.where(is_ratio[:, None], gaps, own).T
    near = np.where(effect > 0, effect - low, high - effect)  # the end that is nearer to 0
    with np.errstate(invalid="ignore", divide="ignore"):
        error = near / -special.ndtri(level / 2)
        z = (np.abs(effect) - least) / error, (np.abs(effect) + least) / error
    p_value = special.ndtr(-z[0]) + special.ndtr(-z[1])
    own = table["p_value"].to_numpy(dtype=float)
    return np.where(np.isnan(own), own, np.fmax(own, np.minimum(p_value, 1)))
