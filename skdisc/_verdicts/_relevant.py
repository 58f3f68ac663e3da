"""The gap that matters to a question: named by its rule, or following from the outcomes."""

from dataclasses import dataclass
from math import floor, isfinite, log10, sqrt

import numpy as np

from skdisc._utils._types import ArrayLike
from skdisc._verdicts._rule import share_of_mean

RATE, PROBABILITY, NUMBER = "rate", "probability", "number"  # kinds of outcomes
_DEVIATIONS = 0.2  # standard deviations of a yes-or-no outcome
_OF_MEAN = 0.05  # of the mean of a number
_DIGITS = 2
ALL_EQUAL = "all outcomes are equal"


@dataclass(frozen=True)
class RelevantGap:
    """The gap that matters, in the unit of the outcome.

    Parameters
    ----------
    size : float
        NaN where there is none.
    source : str
        What it follows from, for reports: "as set", or a clause with the share or mean.
    problem : str, default=""
        Why nothing can be answered, for a verdict "insufficient evidence".

    Examples
    --------
    >>> gap = RelevantGap(0.05, source="as set")
    >>> print(gap.size, gap.source)
    0.05 as set
    """

    size: float
    source: str
    problem: str = ""


def relevant_gap(
    setting: float | str | None, *, kind: str, mean: float, all_equal: bool = False
) -> RelevantGap:
    """Return the gap that matters to a question.

    Parameters
    ----------
    setting : float, str or None
        As `Rule` has it.
    kind : {"rate", "probability", "number"}
        What the outcomes are.
    mean : float
        The share of favorable outcomes among all people whom the measure is about; the mean of
        probabilities; of numbers, the mean of the reference, or of all people without one.
    all_equal : bool, default=False
        Whether all outcomes are equal, so that no gap could be seen.

    Returns
    -------
    RelevantGap

    Raises
    ------
    ValueError
        If what is asked for is no gap of such outcomes.

    Examples
    --------
    >>> print(relevant_gap(None, kind="rate", mean=0.4).size)
    0.097
    >>> relevant_gap("3%", kind="number", mean=2500).size
    75.0
    """
    if isinstance(setting, str) and kind != NUMBER:
        raise ValueError(
            f"relevant_gap={setting!r} is a share of a mean, for outcomes that are numbers. The "
            f"outcomes here are {'rates' if kind == RATE else 'probabilities'}: give a gap between "
            "0 and 1, or None."
        )
    if setting is not None and not isinstance(setting, str):
        if kind != NUMBER and setting > 1:
            raise ValueError(f"relevant_gap={setting!r} is no gap of rates, which are at most 1.")
        return RelevantGap(float(setting), "as set", ALL_EQUAL if all_equal else "")
    if all_equal or (kind != NUMBER and not 0 < mean < 1):
        problem = ALL_EQUAL if all_equal or mean in (0, 1) else "there are no outcomes"
        return RelevantGap(np.nan, "", problem)
    if kind != NUMBER:
        source = f"{_DEVIATIONS:g} standard deviations of outcomes with a share of {mean:.2g}"
        return RelevantGap(rounded_down(_DEVIATIONS * sqrt(mean * (1 - mean))), source)
    share = _OF_MEAN if setting is None else share_of_mean(setting)
    if not (isfinite(mean) and mean > 0):
        problem = (
            f"a relevant gap of {100 * share:g} % of the mean is not defined, because the mean is "
            f"{mean:.3g}; set relevant_gap in the unit of the outcome"
        )
        return RelevantGap(np.nan, "", problem)
    return RelevantGap(rounded_down(share * mean), f"{100 * share:g} % of a mean of {mean:.3g}")


def relevant_gap_of(
    setting: float | str | None,
    outcome: ArrayLike,
    *,
    kind: str,
    weight: ArrayLike | None = None,
    mean: float | None = None,
) -> RelevantGap:
    """Return the gap that matters to a question about these outcomes.

    `outcome`: the outcomes of all people whom the measure is about. `weight`: how much, or for how
    many, each counts. `mean`: the mean of the reference, of numbers; by default that of all. Raises
    ValueError as `relevant_gap`.
    """
    outcome = np.asarray(outcome, dtype=float)
    counts = ~np.isnan(outcome)
    if weight is not None:
        counts &= np.asarray(weight) > 0
        weight = np.asarray(weight)[counts]
    outcome = outcome[counts]
    if not len(outcome):
        return RelevantGap(np.nan, "", "there are no outcomes")
    if mean is None or kind != NUMBER:
        mean = float(np.average(outcome, weights=weight))
    return relevant_gap(setting, kind=kind, mean=mean, all_equal=bool(np.ptp(outcome) == 0))


def rounded_down(value: float) -> float:
    """Return a positive number rounded down to `_DIGITS` significant digits.

    0.2 · √(0.1 · 0.9) is 0.06, although its floating-point value is a trifle less.
    """
    places = _DIGITS - 1 - floor(log10(value))
    scale = 10.0**places
    return round(floor(value * scale * (1 + 1e-9)) / scale, max(places, 0))
