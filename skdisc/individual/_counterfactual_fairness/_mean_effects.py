"""The verdict about counterfactual worlds: mean effects first, then the share of people."""

import numpy as np
from scipy.special import ndtri

from skdisc import _stats
from skdisc._results._judgment import FOUND, UNSURE, Judgment, judge_effects, judge_share
from skdisc._task._notes import too_few_draws

_OF_MEANS, _OF_SHIFTS = 0.8, 0.2  # of the level of the verdict
_LEAST = 2  # replicates behind a standard deviation


def judgment(c, effects, groups, samples, is_known):
    """Return the `Judgment` of the first world.

    Parameters
    ----------
    c : WorldComparison
    effects : DataFrame
        The table of that name.
    groups : dict of ndarray of bool
    samples : Resamples or None
    is_known : bool
        Whether neither counterfactuals nor model were fitted here, so that a case is a fact.
    """
    d = c.detector
    if not c.n_changed:
        return Judgment(UNSURE, "the interventions change nobody's row")
    if c.refit:
        return Judgment(UNSURE, "evaluate='refit' compares two models and has no test")
    case = np.abs(c.own - c.outcome) > d.min_gap
    low, high = map(float, _stats.wilson(int(case.sum()), len(case), d.significance))
    if is_known:
        stopped = f"the limit {c.task.budget.stopped_by} ended the run"
        cut = stopped if c.n < len(c.task.X) else ""
        return judge_share(low, high, d.relevant_share, cut)
    if samples is None or np.isnan(samples.means).all():
        return Judgment(UNSURE, "there are no bootstrap samples, so effects were not tested")
    mine = effects[(effects["world"] == c.main) & (effects["n"] > 0)]
    several = mine[mine["group"] != "everyone"]
    mine = several if len(several) else mine
    table = _with_intervals(d, mine, samples.means[:, mine.index])
    table["p_adjusted"] /= _OF_MEANS
    table["rate"] = [c.own[groups[name]].mean() for name in table["group"]]
    bound = high if d.output == "decision" else 0.0
    gap = d._gap_that_matters(c.own)
    relevant = gap.size
    largest = max(bound, float(np.nanquantile(samples.sizes, 1 - d.significance, axis=0).max()))
    reasons = (
        [gap.problem]
        if gap.problem
        else (
            []
            if largest < relevant
            else [f"the mean absolute difference may be {largest:.2g}; {relevant:.2g} is relevant"]
        )
    )
    n_valid = int((~np.isnan(samples.shifts).any(axis=1)).sum())
    few = too_few_draws(n_valid, _OF_SHIFTS * d.significance)
    ratio = d.relevant_ratio if d.output == "decision" else 0.0
    found = judge_effects(table, few + reasons, relevant, ratio, d.significance)
    p = p_of_shifts(c, samples)
    if found.verdict != FOUND and p <= _OF_SHIFTS * d.significance and low > d.relevant_share:
        share = f"{case.mean():.2g} of the people have a case ({low:.2g} to {high:.2g})"
        return Judgment(FOUND, f"{share}, more than models fitted to other samples differ by")
    return found


def _with_intervals(d, mine, means):
    """Return the effects with an interval at twice the level and p-values corrected by Holm."""
    table = mine[["group", "mean", "ci_low", "ci_high", "p_value"]].copy()
    table = table.rename(columns={"mean": "gap"})
    enough = (~np.isnan(means)).sum(axis=0) >= _LEAST
    error = np.full(means.shape[1], np.nan)
    error[enough] = np.nanstd(means[:, enough], axis=0, ddof=1)
    half = -ndtri(d.significance) * error
    table["low"], table["high"] = table["gap"] - half, table["gap"] + half
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), "holm")
    return table


def p_of_shifts(c, samples):
    r"""Return the p-value of the mean absolute difference, whatever the signs.

    Were there no effect, the differences :math:`\delta_i` would be what fitting makes of 0, as
    the changes :math:`\delta_i^b - \delta_i` of a bootstrap sample are what it makes of
    :math:`\delta_i`. Their means, the largest over interventions, are compared.
    """
    gaps = [np.abs(c.own - a.outcome).mean() for a in c.mine]
    shifts = samples.shifts[~np.isnan(samples.shifts).any(axis=1)]
    largest = shifts.max(axis=1, initial=0.0)
    return (1 + np.sum(largest >= max(gaps) - 1e-12)) / (1 + len(largest))
