"""Judgment: the verdict of a result with its reason, and the words for null hypotheses."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._verdicts._answer import FOUND, NOTHING, UNSURE

DIFFERS = "differs from everyone"  # groups do, which says nothing about their protected part
NULLS = {
    "marginal": "the rates of the protected groups are equal",
    "contextual": "within the other conditions of a group, its protected part makes no difference",
    "conditional": "given the legitimate columns, the protected columns make no difference",
    "linear": "given a linear model of the legitimate columns, the protected ones add nothing",
    "individual": "the decision about a person does not depend on the protected columns",
    "counterfactual": "the decision would be the same had the person been of another group",
    "calibration": "given the score, or given selection, outcomes do not differ between groups",
    "everyone": "no group differs from everyone else",
}
COVERED = 0.9  # share of the people of a protected value that judged groups must hold


@dataclass(frozen=True)
class Judgment:
    """A verdict and its reason.

    Parameters
    ----------
    verdict : str
        FOUND, NOTHING, UNSURE or DIFFERS.
    reason : str
        Why the verdict is not FOUND, or how much it excludes; one sentence without a final stop.

    Examples
    --------
    >>> Judgment("insufficient evidence", "only 12 people of sex = 'X'")
    Judgment(verdict='insufficient evidence', reason="only 12 people of sex = 'X'")
    """

    verdict: str
    reason: str = ""


def judge_groups(
    n_found: int,
    checked: pd.DataFrame,
    reasons: list[str],
    null: str,
    gap: float,
    significance: float = 0.05,
    what: str = "gap",
) -> Judgment:
    """Judge the groups of a result.

    Parameters
    ----------
    n_found : int
        Number of groups for which the null is rejected.
    checked : DataFrame
        One row per group and measure: ``group``, ``judged`` (whether it is large enough),
        ``gap_low``, ``gap_high``, ``gap_inside``, ``ratio_inside`` (True where ratios are not
        defined, as for means), and ``open``, the protected value that the row is about if the
        judged groups hold too few of its people, else "". With ``n`` and ``needed`` (or
        ``n_needed``), the reason says how many people a group needs.
    reasons : list of str
        Why the absence of findings is inconclusive.
    null : str
        A key of `NULLS`.
    gap : float
        The relevant gap.
    significance : float, default=0.05
        One minus the confidence with which larger gaps are excluded.
    what : str, default="gap"
        What is judged, for the reason.

    Returns
    -------
    Judgment
    """
    if n_found:
        return Judgment(DIFFERS if null == "everyone" else FOUND)
    if reasons:
        return Judgment(UNSURE, reasons[0].rstrip("."))
    judged = checked[checked["judged"]]
    few = checked[checked["open"] != ""]
    if len(few):
        names = ", ".join(dict.fromkeys(few["open"]))
        return Judgment(UNSURE, f"too few people to judge: {names}{_needed(few)}")
    if not len(judged):
        return Judgment(UNSURE, "no group has enough people to judge")
    ends = judged[["gap_low", "gap_high"]].abs().max(axis=1)
    largest = float(ends.max(skipna=False))
    bound = f"no {what} above {largest:.2g} ({100 * (1 - significance):g} %)"
    if not judged["gap_inside"].all():
        worst = judged.loc[ends.idxmax()] if ends.notna().any() else judged.iloc[0]
        return Judgment(
            UNSURE,
            f"a {what} of {gap:g} is not excluded: that of {worst['group']} may be "
            f"{worst['gap_low']:.2g} to {worst['gap_high']:.2g}",
        )
    if not judged["ratio_inside"].all():
        first = judged.loc[~judged["ratio_inside"], "group"].iloc[0]
        return Judgment(UNSURE, f"{what} within ± {gap:g}; ratio open for {first}")
    return Judgment(NOTHING, bound)


def _needed(few):
    """Return how many people a group needs, in words, if one has fewer and the number is known."""
    name = "needed" if "needed" in few else "n_needed"
    if name not in few:
        return ""
    needed = few[name].astype(float)
    least = needed[(few["n"] < needed) & np.isfinite(needed)].max()
    return "" if np.isnan(least) else f"; a group needs about {float(f'{least:.2g}'):,.0f}"


def judge_effects(
    effects: pd.DataFrame, reasons: list[str], gap: float, ratio: float, significance: float
) -> Judgment:
    """Judge mean effects, each with its interval and corrected p-value.

    Parameters
    ----------
    effects : DataFrame
        One row per effect: ``group``, ``gap``, ``ci_low``, ``ci_high``, ``p_adjusted``, ``low``,
        ``high``, the interval at twice the significance level, and ``rate``, that of the group.
    reasons : list of str
        Why the absence of findings is inconclusive.
    gap, ratio : float
        The relevant gap, and the relevant ratio of rates; 0 if the outcomes are none.
    significance : float

    Returns
    -------
    Judgment
        With a reason also if a disparity is found: the effect with the smallest p-value, of several
        the largest.
    """
    found = effects[effects["p_adjusted"] <= significance]
    if len(found):
        order = np.lexsort((-found["gap"].abs(), found["p_adjusted"]))
        first = found.iloc[order[0]]
        between = f"{first['ci_low']:.2g} to {first['ci_high']:.2g}"
        return Judgment(FOUND, f"mean gap of {first['group']}: {first['gap']:.2g} ({between})")
    ends = {"gap_low": effects["low"], "gap_high": effects["high"]}
    checked = effects[["group"]].assign(**ends, judged=True, open="")
    given = (effects[name].to_numpy(dtype=float) for name in ("gap", "low", "high", "rate"))
    checked["ratio_inside"] = _stats.ratio_inside(*given, ratio)
    checked["gap_inside"] = (effects["low"] > -gap) & (effects["high"] < gap)
    return judge_groups(0, checked, reasons, "", gap, significance, "mean gap")


def judge_share(
    low: float, high: float, relevant_share: float, incomplete: str, of: str = "people"
) -> Judgment:
    """Judge the share of people (or inputs) with a case.

    Parameters
    ----------
    low, high : float
        Interval of the share; NaN if nothing was tested.
    relevant_share : float
    incomplete : str
        Why the search of each one's inputs was not exhaustive; "" if it was.
    of : str, default="people"
        Whose share it is.

    Returns
    -------
    Judgment
    """
    if np.isnan(low):
        return Judgment(UNSURE, f"no {of} were examined")
    if low > relevant_share:
        return Judgment(FOUND)
    if high > relevant_share:
        share = f"{_percent(low)} to {_percent(high)} of the {of} have a case"
        return Judgment(UNSURE, f"{share}; more than {_percent(relevant_share)} is relevant")
    if incomplete:
        return Judgment(UNSURE, incomplete)
    return Judgment(NOTHING, f"at most {_percent(high)} of the {of} have a case")


def is_reversed(table):
    """Return which effects have another sign on other rows than in the search, a Series of bool.

    Other rows are those held out or, in an audit of new rows, those measured. Their p-values are
    two-sided, so that a small one of a reversed effect confirms nothing.
    """
    for one, other in (("effect", "held_out_effect"), ("effect_at_fit", "effect")):
        if one in table and other in table:
            return np.sign(table[one]) != np.sign(table[other])
    return pd.Series(False, index=table.index)


def confirmed_p(table):
    """Return the corrected p-values on which findings rest, a Series: held out, if there are such.

    They are 1 where the effect is reversed.
    """
    p = table["held_out_p_adjusted" if "held_out_p_adjusted" in table else "p_adjusted"]
    return p.mask(is_reversed(table) & p.notna(), 1.0)


def _percent(share):
    """Return a share in percent, as text."""
    return f"{100 * share:.2g} %"
