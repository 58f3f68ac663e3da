"""One protected group against the others in each subgroup: tests, intervals, equivalence, text."""

import numpy as np
from scipy import stats

from skdisc import _stats
from skdisc._stats._means import Welch, skewness_known
from skdisc._stats._rates import AGAINST_REST, names_of_tests
from skdisc._verdicts._candidates import Candidates
from skdisc._verdicts._relevant import RATE, relevant_gap
from skdisc.subgroup._facts._notions import Verdicts, shortfalls

WELCH = "Welch's and Hall's test of the costs of recourse"
SMIRNOV = "two-sample Kolmogorov-Smirnov test, asymptotic"
CHOICE = "binomial tests of the actions against phi, corrected for their number"
COST = "binomial tests of the curves against phi"
BEST_ACTION = "tests of the actions of others against the best one as cheap, times their number"


def chosen_sides(learning, tested, verdicts, notion):
    """Return the counts of both sides under the best action of each, chosen on other people.

    From few people a worse action may be chosen: the first side gets the better of both choices, so
    that it does not look worse off for this reason.

    `learning` and `tested`: counts of the same pairs: among the people on whom actions are chosen,
    and among the people who are compared. Returns `group_side` and `rest_side`: with all actions if
    the notion does not compare the best one of each side.
    """
    group_side, rest_side = verdicts.sides(tested)
    if not (notion.is_share and notion.viewpoint == "macro") or not len(tested):
        return group_side, rest_side
    budget = np.inf if notion.level is None else notion.level
    group_pair, rest_pair = (side.best_pair(budget) for side in verdicts.sides(learning))
    group_pair = np.where(
        group_side.hits[group_pair, 0] >= group_side.hits[rest_pair, 0], group_pair, rest_pair
    )
    return group_side.only(group_pair), rest_side.only(rest_pair)


def sides_of(recourse, verdicts, notion):
    """Return the counts of both sides, on people on whom no action was chosen."""
    measured = recourse.measured
    if measured.part is None:
        return verdicts.sides(measured)
    is_best = notion.is_share and notion.viewpoint == "macro"
    tested = measured.others() if is_best else measured
    return chosen_sides(measured.part, tested, verdicts, notion)


def compare_sides(group_side, rest_side, notion, significance, agree=False):
    """Compare one side with the other in each subgroup, and test the difference.

    `group_side` and `rest_side`: counts of one group each. `significance`: None: intervals are NaN.
    `agree`: whether intervals of differences of shares invert the test, instead of Newcombe's.
    Returns a dict of ndarray: ``outcome``, ``outcome_rest``, ``effect`` (group minus rest),
    ``ci_low``, ``ci_high``, ``p_value``, ``test``, ``support``, ``support_rest``.
    """
    a, b = group_side.values(notion).ravel(), rest_side.values(notion).ravel()
    n_a, n_b = group_side.n.ravel(), rest_side.n.ravel()
    with np.errstate(invalid="ignore"):
        effect = np.where(np.isinf(a) & (a == b), 0.0, a - b)
    low = high = np.full(len(a), np.nan)
    if notion.is_share:
        x_a, x_b = (helped(side, notion) for side in (group_side, rest_side))
        p_value, test = _two_shares(x_a, n_a, x_b, n_b)
        if significance is not None and agree:
            low, high = _stats.score_interval(x_a, n_a, x_b, n_b, significance, p_value)
        elif significance is not None:
            low, high = _stats.newcombe(x_a, n_a, x_b, n_b, significance)
    elif notion.name.endswith("mean_recourse"):
        low, high, p_value, test = _two_means(group_side, rest_side, notion, significance)
    else:
        if notion.name == "trade_off":
            pairs = (group_side, rest_side), (rest_side, group_side)
            down, up = (shortfalls(*pair, notion).ravel() for pair in pairs)
            effect = np.where(down >= up, -down, up)
        function, name = {
            ("choice", "macro"): (_choice_test, CHOICE),
            ("cost_of_effectiveness", "macro"): (_cost_test, COST),
            ("cost_of_effectiveness", "micro"): (_cost_test, COST),
            ("trade_off", "macro"): (_trade_off_test, BEST_ACTION),
            ("trade_off", "micro"): (_smirnov, SMIRNOV),
        }[notion.name, notion.viewpoint]
        p_value = function(group_side, rest_side, notion)
        test = np.full(len(a), name, dtype=object)
    undefined = (n_a == 0) | (n_b == 0)
    effect, p_value = (np.where(undefined, np.nan, v) for v in (effect, p_value))
    return {
        "outcome": a,
        "effect": effect,
        "ci_low": low,
        "ci_high": high,
        "p_value": p_value,
        "test": test,
        "support": n_a,
        "outcome_rest": b,
        "support_rest": n_b,
    }


def helped(side, notion):
    """Count the people of one side whom the actions that a notion of shares compares help."""
    budget = np.inf if notion.level is None else notion.level
    return side.best(notion.viewpoint, budget).ravel()


def _two_shares(x_a, n_a, x_b, n_b):
    """Test the equality of two shares by the score test, or by mid-p if counts are small."""
    p_value, is_exact = _stats.proportions_test(x_a, n_a, x_b, n_b)
    return p_value, names_of_tests(is_exact, AGAINST_REST)


def _smirnov(group_side, rest_side, notion):
    """Test the equality of two effectiveness-cost distributions, with the bound of the paper."""
    gap = np.abs(group_side.curve("micro") - rest_side.curve("micro"))
    largest = group_side.of_subgroups(
        np.maximum, np.where(group_side.is_end[:, None], gap, 0)
    ).ravel()
    n_a, n_b = group_side.n.ravel(), rest_side.n.ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.minimum(1, 2 * np.exp(-2 * largest**2 * n_a * n_b / (n_a + n_b)))


def _people_of_actions(group_side, rest_side):
    """Return how many people of each side each action is for."""
    return (side.n.ravel()[group_side.subgroup] for side in (group_side, rest_side))


def _choice_test(group_side, rest_side, notion):
    """Test the hypothesis that one side has at least as many effective actions as the other.

    With K actions, the other side has m of them or more if the m-th smallest p-value of "helps
    fewer than phi" is small, and this side has fewer than m if that of "helps phi or more" is, at
    the (K - m + 1)-th. If neither p-value of an action is wrong, which Bonferroni's correction
    grants, both hold only where the hypothesis is false. An action that helps both sides
    differently, but counts for both or for neither, is no evidence.
    """
    n_group, n_rest = _people_of_actions(group_side, rest_side)
    below = _below(group_side.hits.ravel(), n_group, notion.level)
    above = _above(rest_side.hits.ravel(), n_rest, notion.level)
    rising = above[np.lexsort((above, group_side.subgroup))]
    falling = below[np.lexsort((-below, group_side.subgroup))]
    n_actions = np.diff(group_side.start)
    return _either_side(
        group_side.of_subgroups(np.minimum, np.maximum(rising, falling)) * n_actions
    )


def _cost_test(group_side, rest_side, notion):
    """Test the hypothesis that one side reaches the share phi at no higher cost than the other.

    It is false if, at some cost, the other side reaches phi and this side does not. Both curves
    rise with the cost, so that among all costs at which one of the two is wrongly rejected, one
    decides: the correction is only for the best of several actions, which the other side's macro
    curve is.
    """
    x_group, x_rest = (side.reached(notion.viewpoint).ravel() for side in (group_side, rest_side))
    n_group, n_rest = _people_of_actions(group_side, rest_side)
    above = _above(x_rest, n_rest, notion.level)
    if notion.viewpoint == "macro":
        above = above * np.diff(group_side.start)[group_side.subgroup]
    p_value = np.maximum(above, _below(x_group, n_group, notion.level))
    p_value = np.where(group_side.is_end, p_value, 1.0)
    return _either_side(group_side.of_subgroups(np.minimum, p_value))


def _either_side(p_value):
    """Return p-values doubled for the two errors, and again for the side that data have chosen."""
    return np.minimum(1, 4 * p_value)


def _above(x, n, phi):
    """Return the exact p-values of the hypotheses that shares are below phi."""
    return stats.binom.sf(x - 1, n, phi)


def _below(x, n, phi):
    """Return the exact p-values of the hypotheses that shares are at least phi."""
    return stats.binom.cdf(x, n, phi)


def _trade_off_test(group_side, rest_side, notion):
    """Test the hypothesis that within no cost the other side's best action helps a larger share.

    Each action of the other side is compared with this side's best one that is as cheap: under the
    hypothesis, some such action helps at least as large a share.
    """
    # The last action of each cost; the best one at a cost may stand later.
    last = np.flatnonzero(group_side.is_end)
    x_group = group_side.reached("macro").ravel()[
        last[np.searchsorted(last, np.arange(len(group_side.cost)))]
    ]
    n_group, n_rest = _people_of_actions(group_side, rest_side)
    x_rest = rest_side.hits.ravel()
    p_value, _ = _two_shares(x_group, n_group, x_rest, n_rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = np.where(x_rest / n_rest > x_group / n_group, p_value, 1.0)
    return np.minimum(1, group_side.of_subgroups(np.minimum, p_value) * np.diff(group_side.start))


def _two_means(group_side, rest_side, notion, significance):
    """Test the equality of mean costs, or of shares with recourse if one side has no mean."""
    a, b = ([part.ravel() for part in side.moments(notion)] for side in (group_side, rest_side))
    sides = [(skewness, n) for *_, n, skewness in (a, b)]
    a[3], b[3] = skewness_known(sides, sides)
    welch = Welch.of(a, b)
    p_value = welch.p_value()
    low = high = np.full(len(p_value), np.nan)
    if significance is not None:
        low, high = welch.interval(significance)
    test = np.full(len(p_value), WELCH, dtype=object)
    one_sided = np.isinf(a[0]) != np.isinf(b[0])
    if one_sided.any():
        pairs = ((side.best("micro"), side.n) for side in (group_side, rest_side))
        counts = [count.ravel()[one_sided] for pair in pairs for count in pair]
        p_value[one_sided], test[one_sided] = _two_shares(*counts)
    return low, high, p_value, test


def candidates_of(d, recourse, findings, problem=""):
    """Return the family of the question: each group in each subgroup of the refused.

    Only for notions that compare shares; costs and counts have no gap in units of shares.

    `recourse`: by protected column. `findings`: the findings: protected column, number of the
    subgroup, number of the group. `problem`: why the absence of findings is inconclusive. Returns a
    Candidates or None: sizes are shares of the people refused whose protected value is known. None:
    no notion compares shares.
    """
    parts, names = [], []
    for column, r in recourse.items():
        notion = r.notion(d.notion, d.viewpoint)
        if not notion.is_share or not len(r):
            continue
        total, n = float(r.n_affected.sum()), r.measured.n.reshape(len(r), -1)
        for g, group in enumerate(r.groups):
            verdicts = Verdicts(np.full(len(r), g), None)
            counts = [(helped(s, notion), s.n.ravel()) for s in sides_of(r, verdicts, notion)]
            size = n.max(axis=1) if len(r.groups) == 2 else n[:, g]
            is_found = np.zeros(len(r), dtype=bool)
            is_found[[k for name, k, against in findings if (name, against) == (column, g)]] = True
            parts.append((*counts[0], *counts[1], size / total, is_found))
            names += r.plan.texts_with(group)
    if not parts:
        return None
    x1, n1, x0, n0, size, is_found = (np.concatenate(part) for part in zip(*parts, strict=True))
    rate = (x1.sum() + x0.sum()) / max(1.0, float(n1.sum() + n0.sum()))
    relevant = relevant_gap(d.relevant_gap, kind=RATE, mean=float(rate))
    return Candidates.of_rates(
        x1,
        n1,
        x0,
        n0,
        size=size,
        total=1.0,
        found=is_found,
        name=names,
        relevant_gap=np.full(len(n1), relevant.size),
        problem=relevant.problem or problem,
    )


def describe(rows, notion, against, score):
    """Return the actions that help each group of one subgroup, and the verdict, as text.

    `rows`: subgroup, group, coverage, action, effectiveness, cost. `notion`: only actions that
    count under it are listed. `against`: the group that the bias is against.
    """
    lines = [f"If {rows['subgroup'].iloc[0]}:"]
    for group, group_rows in rows.groupby("group", sort=False):
        lines.append(f"  Protected subgroup {group}, {group_rows['coverage'].iloc[0]:.2%} covered")
        listed = group_rows[counts_under(group_rows, notion)].sort_values(
            ["effectiveness", "cost"], ascending=[False, True], kind="stable"
        )
        lines += [
            f"    Make {row.action} with effectiveness {row.effectiveness:.2%}, cost {row.cost:g}."
            for row in listed.itertuples()
        ]
        lines += [] if len(listed) else ["    No recourses for this subgroup."]
    if against is None:
        return "\n".join([*lines, f"  No bias with respect to {notion}."])
    return "\n".join(
        [*lines, f"  Bias against {against} due to {notion}. Unfairness score = {score:.4g}."]
    )


def counts_under(rows, notion):
    """Return which actions count under a notion, a bool Series."""
    if notion.name in ("choice", "cost_of_effectiveness"):
        return rows["effectiveness"] >= notion.level - 1e-9
    if notion.name == "effectiveness_within_budget":
        return (rows["effectiveness"] > 0) & (rows["cost"] <= notion.level + 1e-9)
    return rows["effectiveness"] > 0
