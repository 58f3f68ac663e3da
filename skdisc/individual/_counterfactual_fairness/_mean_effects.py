"""The verdict about counterfactual worlds: mean effects first, then the share of people."""

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from skdisc import _stats
from skdisc._results._judgment import surest_gap
from skdisc._task._limits import limit_named
from skdisc._task._notes import too_few_draws
from skdisc._verdicts._answer import FOUND, UNSURE, Answer, decide
from skdisc._verdicts._candidates import Candidates
from skdisc._verdicts._share import decide_share

_OF_MEANS, _OF_SHIFTS = 0.8, 0.2  # of the level of the verdict
_LEAST = 2  # replicates behind a standard deviation


def answer(c, effects, samples, is_known):
    """Return the `Answer` about the first world.

    Where nothing was fitted here, a case (a person whose outcome an intervention changes by more
    than ``min_gap``) is a fact, and the answer is about the share of people with a case. Otherwise
    two tests share the level: of the mean effects, with .8 of it, and of the mean absolute
    differences, with .2, which also sees effects that cancel in the mean.

    `c`: WorldComparison. `effects`: ``tables["effects"]``. `samples`: Resamples or None.
    `is_known`: whether neither counterfactuals nor model were fitted here.
    """
    d = c.detector
    if not c.n_changed:
        return Answer(UNSURE, "the interventions change nobody's row")
    if c.refit:
        return Answer(UNSURE, "evaluate='refit' compares two models and has no test")
    case = np.abs(c.factual_outcome - c.outcome) > d.min_gap
    low, high = map(float, _stats.wilson(int(case.sum()), len(case), d.significance))
    if is_known:
        stopped = f"{limit_named(c.task.budget.stopped_by)} ended the run"
        return decide_share(
            float(case.mean()),
            low,
            high,
            relevant_share=d.relevant_share,
            significance=d.significance,
            incomplete=stopped if c.n < len(c.task.X) else "",
        )
    if samples is None or np.isnan(samples.means).all():
        return Answer(UNSURE, "there are no bootstrap samples, so effects were not tested")
    of_world = effects[(effects["world"] == c.main) & (effects["n"] > 0)]
    of_groups = of_world[of_world["group"] != "everyone"]
    tested = of_groups if len(of_groups) else of_world
    table = _with_errors(tested, samples.means[:, tested.index])
    table["p_adjusted"] /= _OF_MEANS
    relevant = d._gap_that_matters(c.factual_outcome)
    # Effects of both signs may cancel in the mean: "nothing found" must also exclude a relevant
    # mean absolute difference, which for decisions is the share of people with a case.
    share_of_cases = high if d.output == "decision" else 0.0
    sizes = np.nanquantile(samples.sizes, 1 - d.significance, axis=0)
    largest = max(share_of_cases, float(sizes.max()))
    reasons = []
    if relevant.problem:
        reasons = [relevant.problem]
    elif not largest < relevant.size:
        reasons = [
            f"the mean absolute difference may be {largest:.2g}; {relevant.size:.2g} is relevant"
        ]
    n_valid = int((~np.isnan(samples.shifts).any(axis=1)).sum())
    few = too_few_draws(n_valid, _OF_SHIFTS * d.significance)
    by_means = _decided(d, table, few + reasons, relevant.size)
    p = p_of_shifts(c, samples)
    if by_means.verdict != FOUND and p <= _OF_SHIFTS * d.significance and low > d.relevant_share:
        share = f"{case.mean():.2g} of the people have a case ({low:.2g} to {high:.2g})"
        reason = f"{share}, more than models fitted to other samples differ by"
        return replace(by_means, verdict=FOUND, reason=reason)
    return by_means


def _decided(d, table, reasons, relevant):
    """Return the Answer by the mean effects of the interventions."""
    gap, error = table["gap"].to_numpy(dtype=float), table["error"].to_numpy(dtype=float)
    n = table["n"].to_numpy(dtype=float)
    is_found = (table["p_adjusted"] <= d.significance).to_numpy()
    candidates = Candidates(
        n,
        n,  # each person beside who they would be
        gap,
        lambda a: (gap + ndtri(a) * error, gap - ndtri(a) * error),
        found=is_found,
        name=list(table["group"]),
    )
    answer = decide(
        candidates,
        relevant_gap=relevant,
        significance=d.significance,
        reasons=reasons,
        noun="mean gap",
    )
    if not is_found.any():
        return answer
    return replace(answer, reason=surest_gap(table))


def _with_errors(effects, means):
    """Return the effects with their errors and p-values corrected by Holm."""
    table = effects[["group", "n", "mean", "ci_low", "ci_high", "p_value"]].copy()
    table = table.rename(columns={"mean": "gap"})
    enough = (~np.isnan(means)).sum(axis=0) >= _LEAST
    error = np.full(means.shape[1], np.nan)
    error[enough] = np.nanstd(means[:, enough], axis=0, ddof=1)
    table["error"] = error
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), "holm")
    return table


def p_of_shifts(c, samples):
    r"""Return the p-value of the mean absolute difference, whatever the signs.

    Without an effect, the differences :math:`\delta_i` between people and their counterfactuals
    would be errors of fitting alone. The changes :math:`\delta_i^b - \delta_i` in a bootstrap
    sample b are such errors. So the mean of :math:`|\delta_i|` is compared with the means of
    :math:`|\delta_i^b - \delta_i|`, each the largest over all interventions.
    """
    # The largest over interventions on both sides of the comparison needs no further correction.
    gaps = [np.abs(c.factual_outcome - a.outcome).mean() for a in c.mine]
    shifts = samples.shifts[~np.isnan(samples.shifts).any(axis=1)]
    largest = shifts.max(axis=1, initial=0.0)
    return (1 + np.sum(largest >= max(gaps) - 1e-12)) / (1 + len(largest))
