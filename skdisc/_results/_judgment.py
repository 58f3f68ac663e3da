"""Judgment: the verdict of a result with its reason, and the words for null hypotheses."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc._verdicts._answer import FOUND, NOTHING, UNSURE, decide
from skdisc._verdicts._candidates import Candidates

__all__ = [
    "DIFFERS",
    "FOUND",
    "NOTHING",
    "NULLS",
    "ONLY_THE_MODEL",
    "UNSURE",
    "Judgment",
    "confirmed_p",
    "favored_leads",
    "is_reversed",
    "judge_effects",
    "surest_gap",
]

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
ONLY_THE_MODEL = (  # why what a model that was trained here does is no finding
    "the model does, but not the labels that it was trained on: chance in training could make it"
)
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


def judge_effects(
    effects: pd.DataFrame, reasons: list[str], gap: float, significance: float
) -> Judgment:
    """Judge mean effects, each with its interval and corrected p-value.

    Parameters
    ----------
    effects : DataFrame
        One row per effect: ``group``, ``gap``, ``ci_low``, ``ci_high``, ``p_adjusted``, and
        ``low`` and ``high``, the interval at twice the significance level.
    reasons : list of str
        Why the absence of findings is inconclusive.
    gap : float
        The relevant gap; NaN if there is none.

    Returns
    -------
    Judgment
        With a reason also if a disparity is found: the effect with the smallest p-value, of several
        the largest.
    """
    if (effects["p_adjusted"] <= significance).any():
        return Judgment(FOUND, surest_gap(effects))
    ends = effects["low"].to_numpy(dtype=float), effects["high"].to_numpy(dtype=float)
    whole = np.full(len(effects), np.inf)
    candidates = Candidates(
        whole,
        n_others=whole,
        estimate=effects["gap"].to_numpy(dtype=float),
        interval=lambda a: ends,
        name=list(effects["group"]),
    )
    answer = decide(
        candidates,
        relevant_gap=gap,
        significance=significance,
        reasons=reasons,
        noun="mean gap",
    )
    return Judgment(answer.verdict, answer.reason)


def surest_gap(effects):
    """Return in words the mean effect with the smallest p-value, of several the largest."""
    order = np.lexsort((-effects["gap"].abs(), effects["p_adjusted"]))
    first = effects.iloc[order[0]]
    between = f"{first['ci_low']:.2g} to {first['ci_high']:.2g}"
    return f"mean gap of {first['group']}: {first['gap']:.2g} ({between})"


def favored_leads(favored, worse_off):
    """Return which groups lead, of those that are better off than others.

    Where one group is favored, each of the others is somewhat worse off than the rest of all people
    only because the favored one is among them. So it leads if the whole interval of its gap is
    larger, without signs, than those of the groups that are worse off.

    `favored`, `worse_off`: low and high ends, shapes (n, 2) and (m, 2). NaN: unknown.
    """
    largest = np.fmax.reduce(np.abs(worse_off).max(axis=1), initial=np.nan)
    return (np.abs(favored).min(axis=1) > largest) & (favored.prod(axis=1) > 0)


def is_reversed(table):
    """Return which effects have another sign on other rows than in the search, a Series of bool.

    Other rows are those held out or, in an audit of new rows, those measured. Their p-values are
    two-sided, so that a small one of a reversed effect confirms nothing.
    """
    for first, second in (("effect", "held_out_effect"), ("effect_at_fit", "effect")):
        if first in table and second in table:
            return np.sign(table[first]) != np.sign(table[second])
    return pd.Series(False, index=table.index)


def confirmed_p(table):
    """Return the corrected p-values on which findings rest, a Series: held out, if there are such.

    They are 1 where the effect is reversed.
    """
    p = table["held_out_p_adjusted" if "held_out_p_adjusted" in table else "p_adjusted"]
    return p.mask(is_reversed(table) & p.notna(), 1.0)
