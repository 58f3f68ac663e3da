"""The answer to a question about a share of people: a family of one."""

from dataclasses import replace

import numpy as np

from skdisc._verdicts._answer import FOUND, NOTHING, UNSURE, Answer, decide
from skdisc._verdicts._candidates import Candidates


def decide_share(
    share: float,
    low: float,
    high: float,
    *,
    relevant_share: float,
    significance: float,
    incomplete: str = "",
    noun: str = "people",
) -> Answer:
    """Answer whether a share of people (or inputs) with a case is relevant.

    `share`, `low` and `high`: the share and its two-sided interval of level 1 - significance, which
    has no width if everyone was examined; NaN if nobody was. `incomplete`: why someone without a
    case may have one: not all of their inputs were tried. `noun`: whose share it is.

    Examples
    --------
    >>> a = decide_share(0.004, 0.001, 0.0083, relevant_share=0.01, significance=0.05)
    >>> print(a.verdict, a.bound, a.reason)
    no disparity found 0.0083 at most 0.83 % of the people have a case
    """
    is_known = not np.isnan(low)
    reasons = [] if is_known else [f"no {noun} were examined"]
    if is_known and incomplete and high <= relevant_share:
        reasons = [incomplete]
    answer = decide(
        Candidates.single(share, low, high),
        relevant_gap=relevant_share,
        significance=significance,
        is_found=bool(is_known and low > relevant_share),
        reasons=reasons,
    )
    if not is_known or answer.verdict == FOUND:
        return replace(answer, reason=reasons[0] if reasons else "")
    if answer.verdict == NOTHING:
        return replace(answer, reason=f"at most {percent(high)} of the {noun} have a case")
    if answer.verdict == UNSURE and not reasons:
        between = f"{percent(low)} to {percent(high)} of the {noun} have a case"
        return replace(answer, reason=f"{between}; more than {percent(relevant_share)} is relevant")
    return answer


def percent(share: float) -> str:
    """Return a share in percent, as text."""
    return f"{100 * share:.2g} %"
