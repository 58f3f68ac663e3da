"""The measures as data: what each indicates, the types it is defined for, and its limits.

After tables 1, 3 and 4 of Zliobaite (2017), :doi:`10.1007/s10618-017-0506-1`. The types marked in
table 3 are derived here from first principles, and the limits from the formulas; if these differ
from table 4, the docstring of the measure states it. Targets of several classes are split into
favorable and unfavorable ones (`pos_label`), but for measures of categorical or ordinal targets.
Every measure is checked against this table.
"""

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

ASPECTS = {
    "test": ("presence or absence of discrimination", "indirect"),
    "absolute": ("magnitude of discrimination", "indirect"),
    "conditional": ("magnitude of discrimination", "indirect"),
    "situation": ("spread of discrimination", "direct or indirect"),
    "individual": ("spread of discrimination", "direct"),
}
B, C, N, O = "binary", "categorical", "numeric", "ordinal"  # noqa: E741
_GROUPS = (B, C)
_MARKS = (*_GROUPS, N)
INF, NAN = float("inf"), float("nan")


@dataclass(frozen=True)
class Entry:
    """Properties of a measure.

    Attributes
    ----------
    name : str
    aspect : str, a key of `ASPECTS`
    protected, target : tuple of str, the types that the measure is defined for
    maximum, none, reverse : float, the values of maximal, no and reverse discrimination; NaN if the
        measure has no such value
    worse : str, whether the value of a worse-off protected group lies "above" or "below" `none`;
        "unsigned" if both directions give the same value
    scale : str, "difference" or "ratio"; distances from `none` are absolute, or of logarithms
    needs_labels : bool, whether the measure compares decisions with the labels `y_true`
    numeric_labels : bool, whether these may be numbers; else they are favorable or not
    """

    name: str
    aspect: str
    protected: tuple
    target: tuple
    maximum: float
    none: float
    reverse: float
    worse: str = "above"
    scale: str = "difference"
    needs_labels: bool = False
    numeric_labels: bool = False

    @property
    def is_symmetric(self):
        """Whether discrimination and its reverse are measured in the same units."""
        return self.scale == "difference" and self.worse != "unsigned"

    def suits(self, is_numeric):
        """Whether the measure is defined for decisions that are numbers, or that are classes."""
        return "numeric" in self.target if is_numeric else self.target != ("numeric",)

    def distance(self, value):
        """Return the distance of values from no discrimination, at least 0."""
        value = np.asarray(value, dtype=float)
        if self.scale == "difference":
            return np.abs(value - self.none)
        with np.errstate(divide="ignore"):
            return np.abs(np.log(value))


def _test(name, protected=_GROUPS, target=(B,), worse="above"):
    """Return the entry of a statistical test."""
    return Entry(name, "test", protected, target, NAN, 0.0, NAN, worse)


def _signed(name, aspect="absolute", target=(B,), labels=False, groups=_GROUPS):
    """Return the entry of a difference between -1 and 1."""
    return Entry(name, aspect, groups, target, 1.0, 0.0, -1.0, "above", needs_labels=labels)


def _share(name, aspect, target, labels=False, groups=_GROUPS):
    """Return the entry of an unsigned measure between 0 and 1."""
    return Entry(name, aspect, groups, target, 1.0, 0.0, 1.0, "unsigned", needs_labels=labels)


_ENTRIES = (
    _test("regression_slope_test", (*_GROUPS, N), (B, N), "below"),
    _test("difference_of_means_test", target=(B, N)),
    _test("two_proportions_test"),
    _test("many_proportions_test", worse="unsigned"),
    _test("rank_test", target=(B, O, N)),
    _test("cochran_mantel_haenszel_test"),
    _signed("mean_difference", target=(B, N)),
    Entry("standardized_mean_difference", "absolute", _GROUPS, (N,), INF, 0.0, -INF),
    Entry("quantile_difference", "absolute", _GROUPS, (N,), INF, 0.0, -INF),
    Entry("wasserstein_distance", "absolute", _GROUPS, (N,), INF, 0.0, INF, "unsigned"),
    _signed("normalized_difference"),
    Entry("area_under_curve", "absolute", _GROUPS, (B, O, N), 1.0, 0.5, 0.0),
    Entry("impact_ratio", "absolute", _GROUPS, (B,), 0.0, 1.0, INF, "below", "ratio"),
    Entry("elift", "absolute", _GROUPS, (B,), 0.0, 1.0, INF, "below", "ratio"),
    Entry("odds_ratio", "absolute", _GROUPS, (B,), INF, 1.0, 0.0, "above", "ratio"),
    _share("mutual_information", "absolute", (B, C, N), groups=_MARKS),
    Entry("eta_neutrality", "absolute", _GROUPS, (B,), INF, 0.0, INF, "unsigned"),
    Entry(  # mean residuals lie between -1 and 1 in each group, so that their difference reaches 2
        *("balanced_residuals", "absolute", _GROUPS, (B, N), 2.0, 0.0, -2.0),
        needs_labels=True,
        numeric_labels=True,
    ),
    _signed("correlation", target=(B, O, N), groups=_MARKS),
    Entry("balanced_error_rate", "absolute", (B,), (), 0.0, 0.5, 0.0, "unsigned"),
    _share("one_variable_prediction", "absolute", (B, N)),
    _share("equalized_odds", "absolute", (B,), labels=True),
    _signed("equal_opportunity", labels=True),
    _signed("average_odds_difference", labels=True),
    _signed("predictive_parity", labels=True),
    _share("calibration_within_groups", "absolute", (B, N), labels=True),
    _signed("calibration_difference", target=(B, N), labels=True),
    _signed("balance_positive_class", target=(B, N), labels=True),
    _signed("balance_negative_class", target=(B, N), labels=True),
    _signed("unexplained_difference", "conditional", (B, N)),
    _signed("propensity_stratified_difference", "conditional", (B, N)),
    Entry("belift", "conditional", _GROUPS, (B,), 0.0, 1.0, INF, "below", "ratio"),
    Entry(
        "conditional_impact_ratio", "conditional", _GROUPS, (B,), 0.0, 1.0, INF, "below", "ratio"
    ),
    Entry("situation_testing", "situation", _GROUPS, (B, N), 1.0, 0.0, 0.0),
    Entry("consistency", "situation", (), (B, N), 0.0, 1.0, 0.0, "unsigned"),
    Entry("twin_test", "individual", _GROUPS, (B, N), 1.0, 0.0, 1.0, "unsigned"),
    Entry("lipschitz_ratio", "individual", (), (B, N), INF, 0.0, INF, "unsigned"),
)
CATALOGUE = {entry.name: entry for entry in _ENTRIES}


def catalogue() -> pd.DataFrame:
    """Return the table of all measures: aspect, types, limits, direction, symmetry.

    Returns
    -------
    DataFrame
        One row per measure, indexed by its name.

    Examples
    --------
    >>> catalogue().loc["impact_ratio", ["indicates", "scale", "worse"]].tolist()
    ['magnitude of discrimination', 'ratio', 'below']
    """
    rows = []
    for entry in CATALOGUE.values():
        indicates, form = ASPECTS[entry.aspect]
        more = {"indicates": indicates, "form": form, "symmetric": entry.is_symmetric}
        rows.append(asdict(entry) | more)
    return pd.DataFrame(rows).set_index("name")
