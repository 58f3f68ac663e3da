"""Who is worse off in each subgroup, by how much, and how sure that is."""

from dataclasses import dataclass

import numpy as np

from skdisc import _stats
from skdisc._stats._means import Welch
from skdisc._stats._proportions import names_of_tests
from skdisc._stats._rates import AGAINST_REST
from skdisc.subgroup._facts._notions import shortfalls

REST = -1
WELCH = "Welch's t-test of the costs of recourse"
SMIRNOV = "two-sample Kolmogorov-Smirnov test, asymptotic"
ANY_ACTION = "smallest p-value of the actions, times their number"


@dataclass(frozen=True)
class Verdicts:
    """The group worst off in each subgroup, arrays of shape (n_subgroups,).

    Attributes
    ----------
    against : ndarray of int
        Number of the group.
    other : ndarray of int
        Number of the group it is compared with; -1: all others together.
    score : ndarray of float
        By how much it is worse off; 0 where no group is, NaN where undefined.
    """

    against: np.ndarray
    other: np.ndarray
    score: np.ndarray

    def sides(self, measured):
        """Return what is measured of the group, and of those it is compared with."""
        theirs = measured.rest().pick(self.against)
        if (self.other != REST).any():
            theirs = measured.pick(self.other)
        return measured.pick(self.against), theirs


def worst_off(measured, notion, compare):
    """Find the group that is worst off: against all others, or against the best-off.

    Parameters
    ----------
    measured : Measured
    notion : Notion
    compare : {"rest", "extremes"}

    Returns
    -------
    Verdicts
    """
    rows, m = np.arange(len(measured)), measured.n.shape[1]
    if not len(measured):
        return Verdicts(rows, rows, np.zeros(0))
    if compare == "rest" or m == 2:
        gap = shortfalls(measured, measured.rest(), notion)
        against, other = _largest(gap), np.full(len(rows), REST)
        score = gap[rows, against]
    else:
        gaps = [
            shortfalls(measured, measured.pick(np.full(len(rows), h)), notion) for h in range(m)
        ]
        gap = np.stack(gaps, axis=2).reshape(len(rows), m * m)
        worst = _largest(gap)
        against, other = np.divmod(worst, m)
        score = gap[rows, worst]
    return Verdicts(against, other, np.maximum(score, 0))


def _largest(gap):
    return np.where(np.isnan(gap), -np.inf, gap.round(12)).argmax(axis=1)


def n_comparisons(n_groups, compare):
    """Return how many comparisons the worst of each subgroup was chosen from."""
    if n_groups == 2:
        return 1
    return n_groups if compare == "rest" else n_groups * (n_groups - 1) // 2


def compare_sides(mine, theirs, notion, significance):
    """Measure and test how one side differs from the other in each subgroup.

    Parameters
    ----------
    mine, theirs : Measured
        Of one group each.
    notion : Notion
    significance : float

    Returns
    -------
    dict of ndarray
        ``outcome``, ``outcome_rest``, ``effect`` (mine minus theirs), ``ci_low``, ``ci_high``,
        ``p_value``, ``test``, ``support``, ``support_rest``.
    """
    a, b = mine.values(notion).ravel(), theirs.values(notion).ravel()
    n_a, n_b = mine.n.ravel(), theirs.n.ravel()
    with np.errstate(invalid="ignore"):
        effect = np.where(np.isinf(a) & (a == b), 0.0, a - b)
    low = high = np.full(len(a), np.nan)
    if notion.name in ("effectiveness", "effectiveness_within_budget"):
        budget = np.inf if notion.level is None else notion.level
        x_a, x_b = (side.best(notion.viewpoint, budget).ravel() for side in (mine, theirs))
        low, high = _stats.newcombe(x_a, n_a, x_b, n_b, significance)
        p_value, test = _two_shares(x_a, n_a, x_b, n_b)
    elif notion.name.endswith("mean_recourse"):
        low, high, p_value, test = _two_means(mine, theirs, notion, significance)
    else:
        if notion.name == "trade_off":
            down, up = (
                shortfalls(*pair, notion).ravel() for pair in ((mine, theirs), (theirs, mine))
            )
            effect = np.where(down >= up, -down, up)
        smirnov = notion.viewpoint == "micro"
        p_value = _smirnov(mine, theirs) if smirnov else _any_action(mine, theirs)
        test = np.full(len(a), SMIRNOV if smirnov else ANY_ACTION, dtype=object)
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


def _two_shares(x_a, n_a, x_b, n_b):
    """Test the equality of two shares: the score test, or mid-p where counts are small."""
    p_value, is_exact = _stats.proportions_test(x_a, n_a, x_b, n_b)
    return p_value, names_of_tests(is_exact, AGAINST_REST)


def _smirnov(mine, theirs):
    """Test the equality of two effectiveness-cost distributions, with the bound of the paper."""
    gap = np.abs(mine.curve("micro") - theirs.curve("micro"))
    largest = mine.of_subgroups(np.maximum, np.where(mine.is_end[:, None], gap, 0)).ravel()
    n_a, n_b = mine.n.ravel(), theirs.n.ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.minimum(1, 2 * np.exp(-2 * largest**2 * n_a * n_b / (n_a + n_b)))


def _any_action(mine, theirs):
    """Test whether no action helps one group more than the other."""
    of_pair = mine.subgroup
    counts = (
        mine.hits.ravel(),
        mine.n.ravel()[of_pair],
        theirs.hits.ravel(),
        theirs.n.ravel()[of_pair],
    )
    p_value, _ = _two_shares(*counts)
    return np.minimum(1, mine.of_subgroups(np.minimum, p_value) * np.diff(mine.start))


def _two_means(mine, theirs, notion, significance):
    """Test the equality of mean costs; of the shares with recourse where one side has no mean."""
    a, b = ([part.ravel() for part in side.moments(notion)] for side in (mine, theirs))
    welch = Welch.of(a, b)
    (low, high), p_value = welch.interval(significance), welch.p_value()
    test = np.full(len(p_value), WELCH, dtype=object)
    one_sided = np.isinf(a[0]) != np.isinf(b[0])
    if one_sided.any():
        reached = (side.best("micro").ravel()[one_sided] for side in (mine, theirs))
        n = (side.n.ravel()[one_sided] for side in (mine, theirs))
        p_value[one_sided], test[one_sided] = _two_shares(
            *[v for pair in zip(reached, n, strict=True) for v in pair]
        )
    return low, high, p_value, test
