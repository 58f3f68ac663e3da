"""Causes: the joint estimates of the groups found, and what their effects add up to."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special

from skdisc._expectations import widening
from skdisc._space._subgroup import Subgroup
from skdisc._stats import level_of_two_tests
from skdisc._verdicts._candidates import Candidates
from skdisc.subgroup._disparity_pursuit._fits import AdjustedScores, errors, variance_hidden_by
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores
from skdisc.subgroup._disparity_pursuit._skewness import compared_sides

TEST = "orthogonal score, largest of all candidates by multiplier bootstrap"
TEST_OF_FEW = "joint least squares of residuals, sandwich variance"
CLIP = 0.02  # shares of a protected part are kept this far from 0 and 1


def estimates(
    scores: Scores, groups: list[int], level: float | np.ndarray, flipped: np.ndarray | None = None
) -> pd.DataFrame:
    """Return the joint estimates of some groups.

    Parameters
    ----------
    level : float or ndarray of float, shape (n,)
        One minus the confidence level of the intervals.
    flipped : ndarray of bool, shape (n,), optional
        Whether the rest of a context is meant instead of the group in it.

    Returns
    -------
    DataFrame
        ``outcome`` (mean of the members), ``effect`` (difference between the protected part and
        the others in the context, weighted by overlap) with ``ci_low``, ``ci_high``, ``p_value``,
        ``support``, ``support_context``, ``change`` (mean difference for the members, if they were
        treated as others are) with its interval, ``overlap`` (information for each member), and
        ``alone`` (the same difference as ``effect``, but not adjusted for other groups) with its
        interval, ``scale``, on which effects are the same for all, and ``level`` of the intervals.
    """
    level = np.broadcast_to(level, len(groups))
    fit, c, r = scores.fit(groups), scores.candidates, scores.residuals
    index = np.array(groups, dtype=int)
    flipped = np.zeros(len(index), dtype=bool) if flipped is None else flipped
    effect = np.where(flipped, -fit.effect, fit.effect)
    error, reach, freedom = errors(scores, fit, level)
    below, above = np.where(flipped, reach[::-1], reach)
    effect = np.where(scores.testable[index], effect, np.nan)
    pairs = [(scores.adjusted_for_others(g, groups), g) for g in groups]
    is_estimable = np.array([others.is_estimable[g] for others, g in pairs], dtype=bool)
    statistic = np.array([others.deviate[g] for others, g in pairs])
    members = _members(scores, groups, flipped)
    weight = r.root**2
    size = np.maximum([weight[mask].sum() for mask in members], 1e-300)
    changes = [_change(scores, fit, k, members[k], freedom) for k in range(len(index))]
    change, its_error = np.array(changes, dtype=float).reshape(-1, 2).T
    change = np.where(scores.testable[index], change, np.nan)
    down, up = _widening(scores, groups, flipped)
    ends = _made_consistent_with_tests(
        effect, effect - below * error, effect + above * error, statistic, level, scores.least
    )
    total = c.support_context[index]
    alone, alone_low, alone_high = unadjusted_effects(scores, groups, level, flipped).T
    columns = {
        "outcome": np.array([(r.raw * r.root)[mask].sum() for mask in members]) / size,
        "effect": effect,
        "ci_low": ends[0] - down,
        "ci_high": ends[1] + up,
        "p_value": np.where(is_estimable, 2 * special.ndtr(-np.abs(statistic)), np.nan),
        "support": np.where(flipped, total - c.support[index], c.support[index]).astype(np.int64),
        "support_context": total.astype(np.int64),
        "change": change,
        "change_low": change - below * its_error - down,
        "change_high": change + above * its_error + up,
        "overlap": scores.information[index] / size,
        "alone": alone,
        "alone_low": alone_low,
        "alone_high": alone_high,
        "scale": np.full(len(index), scores.scale, dtype=object),
        "level": 1 - level,
    }
    return pd.DataFrame(columns)


def _made_consistent_with_tests(effect, low, high, deviate, level, least):
    """Return the ends of intervals, changed so that they exclude exactly what the tests reject.

    A test takes variances as they are without an effect, and exact tails where people are few; an
    interval takes variances as observed. For rates near 0 or 1, the two may disagree about effects
    up to the `least` that counts. There the end is test-based: the effect times 1 - z / deviate
    (Miettinen, American Journal of Epidemiology 1976).
    """
    z = -special.ndtri(level / 2)
    sign, size = np.sign(effect), np.abs(deviate)
    nearer = np.where(effect < 0, -high, low)
    with np.errstate(divide="ignore", invalid="ignore"):
        test_end = least + np.maximum(np.abs(effect) - least, 0) * (1 - z / size)
        differs = (size > 0) & np.isfinite(test_end) & ((nearer > least) != (size > z))
        differs &= ~np.isnan(nearer)  # there is no interval
    nearer = sign * np.where(differs, test_end, nearer)
    return np.where(effect < 0, low, nearer), np.where(effect < 0, nearer, high)


def unadjusted_effects(
    scores: Scores, groups: list[int], level: float | np.ndarray, flipped: np.ndarray
) -> np.ndarray:
    """Return the effect of each group, not adjusted for others: estimate, low, high, by row.

    Intervals are widened by what the legitimate columns would still add.
    """
    effects = np.full((len(groups), 3), np.nan)
    level = np.broadcast_to(level, len(groups))
    for row, group, is_flipped, group_level in zip(effects, groups, flipped, level, strict=True):
        if scores.testable[group]:
            fit = scores.fit([group])
            error, (below, above), _ = errors(scores, fit, group_level)
            effect, adjusted_scores = fit.effect[0], scores.adjusted_for_others(group, [group])
            ends = _made_consistent_with_tests(
                effect,
                low=effect - below[0] * error[0],
                high=effect + above[0] * error[0],
                deviate=adjusted_scores.deviate[group],
                level=group_level,
                least=scores.least,
            )
            ends = np.array([effect, *ends])
            ends += np.append(0.0, np.array(widening(scores.unlearned(group))) * [-1, 1])
            row[:] = -ends[[0, 2, 1]] if is_flipped else ends
    return effects


def _widening(scores, groups, flipped):
    """Return by how much the ends of intervals move down and up, each shape (n,)."""
    widths = np.array([widening(scores.unlearned(g)) for g in groups]).reshape(-1, 2)
    return np.where(flipped[:, None], widths[:, ::-1], widths).T


def overturned_findings(
    scores: Scores, table: pd.DataFrame, groups: list[int], level: float
) -> np.ndarray:
    """Return which findings would not be significant if effects lost what is left to learn.

    `table`: with ``effect``, ``p_value`` and ``p_adjusted`` of the findings. `level`: the
    significance.
    """
    is_overturned = np.zeros(len(groups), dtype=bool)
    for k, group in enumerate(groups):
        fit = scores.fit([group])
        down, up = widening(scores.unlearned(group))
        effect, shift = fit.effect[0], down if fit.effect[0] > 0 else up
        error = errors(scores, fit, level)[0][0]
        if shift <= 0 or error <= 0:  # nothing may be left to learn, and a fit may be perfect
            continue
        p = np.maximum(special.ndtr(-abs(effect) / error), 1e-300)
        p_of_smaller = special.ndtr(-max(abs(effect) - shift, 0) / error)
        # the p-value of the smaller effect is corrected by the same factor
        corrected = max(float(table["p_adjusted"].iloc[k]), 1e-300) * p_of_smaller / p
        is_overturned[k] = corrected > level
    return is_overturned


def at_equal_columns(scores: Scores, values: dict, level: float) -> pd.DataFrame:
    """Return how each protected group differs from all others at equal legitimate columns.

    Parameters
    ----------
    values : dict of str to ndarray of bool, shape (n_rows,)
        The people of each protected group.
    level : float
        One minus the confidence level of each interval.

    Returns
    -------
    DataFrame
        ``group``, ``support``, ``effect`` (weighted by overlap, not adjusted for causes) with
        ``ci_low`` and ``ci_high``; NaN where the legitimate columns nearly determine who belongs to
        the group, where it is smaller than the groups that are tested, or if all outcomes are
        equal, which tells nothing about those of other people.
    """
    rows, r = [], scores.residuals
    for name, inside in values.items():
        numbers, (group, is_other) = np.full(3, np.nan), _group_of(scores, inside)
        if group is not None and not r.is_constant:
            (numbers,) = unadjusted_effects(scores, [group], level, [is_other])
        rows.append((name, r.people_in(inside), *numbers))
    return pd.DataFrame(rows, columns=["group", "support", "effect", "ci_low", "ci_high"])


def _members(scores, groups, flipped):
    """Return the members of groups, or of the rest of their contexts, shape (n, n_rows)."""
    c = scores.candidates
    members = np.zeros((len(groups), c.n_rows), dtype=bool)
    for row, group, is_flipped in zip(members, groups, flipped, strict=True):
        row[:] = c.context_mask(group) & (c.is_part[c.part[group]] != is_flipped)
    return members


def _change(scores, fit, group_number, members, freedom):
    """Return the mean effect on some members by a one-step estimator, and its standard error."""
    c, r, root = scores.candidates, scores.residuals, scores.residuals.root
    group = fit.groups[group_number]
    in_context, is_part = c.context_mask(group), c.is_part[c.part[group]]
    share = is_part - r.parts[c.part[group]] / root + scores.middle[group]
    is_other = not np.array_equal(members, in_context & is_part)
    share = np.clip(1 - share if is_other else share, CLIP, 1 - CLIP)
    effect = fit.slope[group_number] * scores.room * (-1 if is_other else 1)
    balance = np.where(in_context, np.where(members, 1.0, -share / (1 - share)), 0.0)
    size = max((root[members] ** 2).sum(), 1e-300)
    residual = fit.outcome * root + effect * members * root**2
    change = (balance @ residual) / size
    noise = r.noise(fit.outcome) * root + (effect - change) * members * root**2 / r.share
    influence = r.by_cluster((balance * noise)[None])[0] / freedom
    hidden = variance_hidden_by(scores, group, balance * root**2 / r.share, balance * noise)
    return change, np.sqrt((influence**2).sum() + hidden) / size


def indistinguishable(scores: Scores, groups: list[int], critical: float) -> pd.DataFrame:
    """Return the candidates that explain nearly as much as a cause does.

    `critical`: critical value c of a standardized score: an exchange may cost less than c² / 2.
    Returns a DataFrame: ``finding`` (position), ``candidate``, ``effect``, ``cost`` (loss in twice
    the log likelihood, at most 0 if nothing is lost).
    """
    parts = []
    for k, group in enumerate(groups):
        adjusted_scores = scores.adjusted_for([*groups[:k], *groups[k + 1 :]])
        z = adjusted_scores.z
        cost = z[group] ** 2 - z**2
        near = (
            adjusted_scores.is_estimable
            & (cost < critical**2 / 2)
            & (np.sign(z) == np.sign(z[group]))
        )
        near[group] = False
        candidate = np.flatnonzero(near)
        candidate = candidate[np.argsort(cost[candidate], kind="stable")]
        parts.append(
            pd.DataFrame(
                {
                    "finding": k,
                    "candidate": candidate,
                    "effect": adjusted_scores.effect[candidate],
                    "cost": cost[candidate],
                }
            )
        )
    empty = pd.DataFrame({"finding": [], "candidate": [], "effect": [], "cost": []})
    return pd.concat(parts, ignore_index=True) if parts else empty.astype({"candidate": int})


def shadows(
    scores: Scores,
    groups: list[int],
    initial: AdjustedScores,
    final: AdjustedScores,
    critical: float,
) -> pd.DataFrame:
    """Return the candidates that differ on their own, but not given the causes.

    Returns a DataFrame: ``candidate``, ``finding`` (position of the cause that it shares most
    with), ``effect_alone``, ``z_alone``, ``effect_beside``, ``z_beside``.
    """
    z = initial.z
    candidate = np.flatnonzero(np.abs(z) > critical)
    candidate = candidate[~np.isin(candidate, groups)]
    candidate = candidate[np.argsort(-np.abs(z[candidate]), kind="stable")]
    cause = np.full(len(candidate), -1)
    if groups:
        cross = scores.crossed(groups)[candidate]
        cause = np.abs(cross / np.sqrt(scores.in_room[groups])).argmax(axis=1)
    columns = {
        "candidate": candidate,
        "finding": cause,
        "effect_alone": initial.effect[candidate],
        "z_alone": z[candidate],
        "effect_beside": final.effect[candidate],
        "z_beside": final.z[candidate],
    }
    return pd.DataFrame(columns)


def bounds_on_remaining_effects(
    scores: Scores, adjusted_scores: AdjustedScores, critical: float, sizes: list[int]
) -> pd.DataFrame:
    """Return simultaneous bounds on the effects that remain, for groups of at least some sizes.

    Returns a DataFrame: ``people`` (fewest members), ``n_groups``, ``bound``, ``candidate`` (the
    one with it).
    """
    reach = np.abs(adjusted_scores.effect) + critical * adjusted_scores.error
    rows = []
    for size in sizes:
        eligible = np.flatnonzero(
            adjusted_scores.is_estimable & (scores.candidates.support >= size)
        )
        if len(eligible):
            largest = eligible[np.argmax(reach[eligible])]
            rows.append((size, len(eligible), reach[largest], largest))
    return pd.DataFrame(rows, columns=["people", "n_groups", "bound", "candidate"])


def parts_of_gaps(
    scores: Scores,
    groups: list[int],
    names: list[Subgroup],
    values: dict,
    equal: pd.DataFrame,
    significance: float,
) -> pd.DataFrame:
    """Divide the gap of each protected group by what remains at equal columns, and by column.

    What remains is the effect that `at_equal_columns` states, with its interval. The columns share
    the rest: their contributions to a prediction of the outcome less that effect of the members. (A
    prediction of the outcome itself would attribute the effect of membership to columns that are
    correlated with it: if women mostly work part-time, hours would seem to matter.)

    Parameters
    ----------
    names : list of Subgroup
        The causes by name: each of `groups`, or the rest of its context.
    values : dict of str to ndarray of bool, shape (n_rows,)
        The people of each protected group.
    equal : DataFrame
        From `at_equal_columns`.
    significance : float
        Of the interval of the gap.

    Returns
    -------
    DataFrame
        ``group``, ``support``, ``kind`` ("gap", "column", "interactions", "equal", "cause"),
        ``finding`` (position of a cause, else -1), ``part`` (its name), ``amount`` with ``ci_low``
        and ``ci_high`` (NaN for parts without an interval). Columns, interactions and what remains
        at equal columns add up to the gap; causes are parts of what remains. Of a group without
        an effect at equal columns there is only the gap.
    """
    r, fit = scores.residuals, scores.fit(groups)
    weight, raw = r.root**2, r.raw / r.root
    regressors, tables = scores.regressors(groups), []
    effects = equal.set_index("group")
    for name, inside in values.items():
        if not inside.any() or inside.all():
            continue
        contrast = np.where(inside, weight / weight[inside].sum(), 0)
        contrast -= np.where(inside, 0, weight / weight[~inside].sum())
        of_group, of_others = (weight[m] @ raw[m] / weight[m].sum() for m in (inside, ~inside))
        means = np.where(inside, of_group, of_others)
        gap = contrast @ raw
        (influence,) = r.by_cluster((contrast * (raw - means) / r.share)[None])
        half = special.ndtri(1 - significance / 2) * np.sqrt((influence**2).sum())
        rows = [("gap", -1, "gap", gap, gap - half, gap + half)]
        effect, low, high = effects.loc[name, ["effect", "ci_low", "ci_high"]].astype(float)
        if np.isfinite(effect):
            outcome_without_effect = raw - effect * inside
            columns = {} if r.learned is None else r.learned.contributions(outcome_without_effect)
            shares = [(column, contrast @ part) for column, part in columns.items()]
            rows += [
                ("column", -1, _together(column), share, np.nan, np.nan) for column, share in shares
            ]
            rest = gap - effect - sum(share for _, share in shares)
            together = "legitimate columns together"
            rows.append(("interactions", -1, together, rest, np.nan, np.nan))
            rows.append(("equal", -1, "at equal legitimate columns", effect, low, high))
            # The effect is f'r / f'f, with the group's own regressor f. Of r, the causes explain
            # v F b (see `Scores`): cause k is f'(v F_k) b_k / f'f of the effect.
            group, is_other = _group_of(scores, inside)
            (f,), sign = scores.regressors([group]), -1.0 if is_other else 1.0
            shares = sign * fit.slope * (regressors @ (f * scores.room)) / (f @ f)
            rows += [
                ("cause", k, str(cause), share, np.nan, np.nan)
                for k, (cause, share) in enumerate(zip(names, shares, strict=True))
            ]
        table = pd.DataFrame(
            rows, columns=["kind", "finding", "part", "amount", "ci_low", "ci_high"]
        )
        tables.append(table.assign(group=name, support=r.people_in(inside)))
    order = ["group", "support", "kind", "finding", "part", "amount", "ci_low", "ci_high"]
    return pd.concat(tables, ignore_index=True)[order] if tables else pd.DataFrame(columns=order)


def _together(columns):
    """Return the names of columns that are one part."""
    *first, last = map(str, columns)
    return f"{', '.join(first)} and {last}" if first else last


def _group_of(scores, inside):
    """Return the candidate of some people among all, or of all others, and whether of the others.

    None if there is no such candidate.
    """
    c = scores.candidates
    for group in np.flatnonzero(c.context == 0):
        for is_other in (False, True):
            if np.array_equal(c.is_part[c.part[group]] != is_other, inside):
                return group, is_other
    return None, False


def candidates_of(
    scores: Scores, causes: list[Subgroup], size: np.ndarray, gap: float, problem: str = ""
) -> Candidates:
    """Return the candidates of a question about effects at equal legitimate columns.

    Each has its effect by itself, not adjusted for the causes found. Candidates are ordered by
    their information, which depends on columns alone and not on outcomes.

    `scores`: the scores of the groups that the question is about. `causes`: those that are among
    the groups, or the other side of one, are found. `size`: size of the people of each row. `gap`:
    the relevant gap, in the unit of the outcome. `problem`: why there is no answer.
    """
    c, adjusted_scores = scores.candidates, scores.adjusted_for([])
    is_estimable = adjusted_scores.is_estimable & (adjusted_scores.error > 0)
    test, (down, up) = None, _widening_of_parts(scores)
    if not scores.residuals.is_binary and len(c):  # numbers, which may be skewed
        test = compared_sides(scores, adjusted_scores, np.arange(len(c)))
        test = replace(test, gap=adjusted_scores.effect, error=adjusted_scores.error)

    def interval(a):
        if test is not None:
            low, high = test.interval(level_of_two_tests(a))
        else:
            half = special.ndtri(1 - np.minimum(a, 0.5)) * adjusted_scores.error
            low, high = adjusted_scores.effect - half, adjusted_scores.effect + half
        return np.where(is_estimable, low - down, np.nan), np.where(is_estimable, high + up, np.nan)

    keys, names = {str(g) for g in causes}, [str(c.groups[i]) for i in range(len(c))]
    other_sides = [c.sides[i] for i in range(len(c))]
    is_found = [
        name in keys or str(side) in keys for name, side in zip(names, other_sides, strict=True)
    ]
    inside = c.over_groups(c.is_part, size[:, None])[:, 0]
    whole = c.over_contexts(size[None])[c.context, 0] if len(c) else np.zeros(0)
    two = np.array([side is not None for side in other_sides], dtype=bool)
    lacking = np.where(
        scores.dominated,
        "the weights of a side amount to fewer than five people",
        "the legitimate columns nearly determine who belongs to it",
    )
    return Candidates(
        c.support,
        c.support_context - c.support,
        np.where(is_estimable, adjusted_scores.effect, np.nan),
        interval,
        size=np.where(two, np.maximum(inside, whole - inside), inside),
        total=float(size.sum()),
        found=is_found,
        name=names,
        comparison_size=scores.information,
        relevant_gap=np.full(len(c), gap),
        problem=problem,
        reason=np.where(scores.testable | (c.support_context <= c.support), "", lacking),
    )


def _widening_of_parts(scores):
    """Return by how much ends move down and up for what is left to learn of the whole part."""
    learned, c = scores.residuals.learned, scores.candidates
    if learned is None or scores.residuals.is_centered:
        return np.zeros((2, len(c)))
    return np.array([learned.widening(p) for p in range(len(c.is_part))]).reshape(-1, 2)[c.part].T
