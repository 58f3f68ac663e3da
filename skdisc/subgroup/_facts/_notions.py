"""The notions of fair recourse, computed from counts: the group that is worse off."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

NOTIONS = {
    "effectiveness": ("macro", "micro"),
    "choice": ("macro",),
    "effectiveness_within_budget": ("macro", "micro"),
    "cost_of_effectiveness": ("macro", "micro"),
    "trade_off": ("macro", "micro"),
    "mean_recourse": ("micro",),
    "conditional_mean_recourse": ("micro",),
}
_MORE_IS_BETTER = ("effectiveness", "choice", "effectiveness_within_budget", "trade_off")
_TEXT = {
    "effectiveness": "equal effectiveness",
    "choice": "equal choice for recourse",
    "effectiveness_within_budget": "equal effectiveness within budget",
    "cost_of_effectiveness": "equal cost of effectiveness",
    "trade_off": "fair effectiveness-cost trade-off",
    "mean_recourse": "equal mean recourse",
    "conditional_mean_recourse": "equal conditional mean recourse",
}
_EPS = 1e-9


@dataclass(frozen=True)
class Notion:
    """One notion of fairness: its name, its viewpoint, and its level, if it has one.

    Attributes
    ----------
    name : str
        A key of `NOTIONS`.
    viewpoint : {"macro", "micro"}
        One action for the whole group, or the best one for each person.
    level : float or None
        The share phi, or the budget c.
    """

    name: str
    viewpoint: str
    level: float | None = None

    @classmethod
    def checked(cls, name, viewpoint=None, phi=None, budget=None):
        """Return the notion; raise ValueError if the name or the viewpoint is not defined."""
        defined = [f"{n} ({v})" for n, views in NOTIONS.items() for v in views]
        if name not in NOTIONS or viewpoint not in (None, *NOTIONS[name]):
            setting = f"{name!r}" if viewpoint is None else f"{name!r} with viewpoint={viewpoint!r}"
            raise ValueError(f"notion={setting} is not defined. Use one of: {', '.join(defined)}.")
        level = None
        if name in ("choice", "cost_of_effectiveness"):
            level = float(phi)
        elif name == "effectiveness_within_budget":
            level = float(budget)
        return cls(name, viewpoint or NOTIONS[name][0], level)

    @property
    def is_share(self):
        """Whether the values are shares of people."""
        return self.name in ("effectiveness", "effectiveness_within_budget")

    @property
    def more_is_better(self):
        """Whether the group with less is worse off."""
        return self.name in _MORE_IS_BETTER

    def __str__(self):
        if self.level is None:
            return f"{_TEXT[self.name]} ({self.viewpoint})"
        what = "c" if self.name == "effectiveness_within_budget" else "phi"
        return f"{_TEXT[self.name]} ({self.viewpoint}, {what} = {self.level:g})"


@dataclass(frozen=True)
class Measured:
    """The effects of the actions of each subgroup on each protected group, as counts.

    Pairs (of a subgroup and an action) are sorted by subgroup, then by cost.

    Attributes
    ----------
    hits, first : ndarray of int, shape (n_pairs, n_groups)
        Members whom the action helps, and members whom no earlier (cheaper) action helps.
    n : ndarray of int, shape (n_subgroups, n_groups)
        Number of members.
    start : ndarray of int, shape (n_subgroups + 1,)
        First pair of each subgroup, and the end.
    c_inf : float
        The cost of recourse of people whom no action helps.
    part : Measured or None
        The counts of some of the people, on whom actions are chosen.
    """

    hits: np.ndarray
    first: np.ndarray
    n: np.ndarray
    cost: np.ndarray
    start: np.ndarray
    c_inf: float
    part: "Measured | None" = None

    def __len__(self):
        return len(self.n)

    def others(self):
        """Return the counts of the people who are not in `part`."""
        return replace(
            self,
            hits=self.hits - self.part.hits,
            first=self.first - self.part.first,
            n=self.n - self.part.n,
            part=None,
        )

    def best_pair(self, budget):
        """Return the pair within budget that helps most of the group, of equals the cheapest."""
        helped = self.hits[:, 0] * (self.cost <= budget + _EPS)
        return np.lexsort((-helped, self.subgroup))[self.start[:-1]]

    def only(self, pair):
        """Return the counts with one pair of each subgroup."""
        start = np.arange(len(self) + 1)
        return Measured(
            self.hits[pair], self.hits[pair], self.n, self.cost[pair], start, self.c_inf
        )

    @cached_property
    def subgroup(self):
        """The subgroup of each pair."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def rest(self):
        """Return, in place of each group, the counts of all other groups together."""
        hits, first, n = (
            counts.sum(axis=1, keepdims=True) - counts for counts in (self.hits, self.first, self.n)
        )
        return replace(self, hits=hits, first=first, n=n, part=None)

    def pick(self, group):
        """Return the counts of one group of each subgroup."""
        pair, pair_group = np.arange(len(self.cost)), group[self.subgroup]
        return replace(
            self,
            hits=self.hits[pair, pair_group][:, None],
            first=self.first[pair, pair_group][:, None],
            n=self.n[np.arange(len(self)), group][:, None],
            part=None,
        )

    def at(self, i):
        """Return the counts of the subgroups at these positions, an array of int."""
        pairs = np.concatenate(
            [np.arange(*self.start[j : j + 2]) for j in i] or [np.empty(0, np.int64)]
        )
        start = np.concatenate([[0], np.cumsum(np.diff(self.start)[i])]).astype(np.int64)
        return Measured(
            self.hits[pairs], self.first[pairs], self.n[i], self.cost[pairs], start, self.c_inf
        )

    def of_subgroups(self, function, values):
        """Reduce the values of pairs to one value of each subgroup."""
        if not len(self):
            return values[:0]
        return function.reduceat(values, self.start[:-1], axis=0)

    def reached(self, viewpoint):
        """Count the members whom the best action, or any action, up to each pair helps."""
        if viewpoint == "macro":
            lift = (self.subgroup * (self.n.sum() + 1))[:, None]  # separates the subgroups
            return np.maximum.accumulate(self.hits + lift, axis=0) - lift
        before = np.cumsum(self.first, axis=0) - self.first
        base = before[self.start[:-1]] if len(self) else before
        return before + self.first - base[self.subgroup]

    def best(self, viewpoint, budget=np.inf):
        """Count the members whom actions within budget help, shape (n_subgroups, n_groups)."""
        is_within = (self.cost <= budget + _EPS)[:, None]
        if viewpoint == "macro":
            return self.of_subgroups(np.maximum, self.hits * is_within)
        return self.of_subgroups(np.add, self.first * is_within)

    @cached_property
    def is_end(self):
        """Whether a pair is the last of its cost, where curves are defined."""
        same_cost = np.diff(self.cost, append=np.inf) == 0
        return ~same_cost | (np.diff(self.subgroup, append=-1) != 0)

    def curve(self, viewpoint):
        """Return the effectiveness up to each pair; the curve consists of the ends of a cost."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.reached(viewpoint) / self.n[self.subgroup]

    def values(self, notion):
        """Return the value that a notion compares, shape (n_subgroups, n_groups); NaN if n = 0.

        For the trade-off this is the end of the curve; the comparison is of whole curves.
        """
        view, level = notion.viewpoint, notion.level
        if notion.name in ("effectiveness", "effectiveness_within_budget", "trade_off"):
            with np.errstate(divide="ignore", invalid="ignore"):
                out = self.best(view, np.inf if level is None else level) / self.n
        elif notion.name == "choice":
            enough = self.hits >= level * self.n[self.subgroup] - _EPS
            out = self.of_subgroups(np.add, enough.astype(float))
        elif notion.name == "cost_of_effectiveness":
            enough = self.reached(view) >= level * self.n[self.subgroup] - _EPS
            costs = np.where(enough, self.cost[:, None], np.inf)
            out = self.of_subgroups(np.minimum, costs)
        else:
            out = self.moments(notion)[0]
        return np.where(self.n == 0, np.nan, out)

    def moments(self, notion):
        """Return mean and variance of costs of recourse, numbers of people, skewness of means."""
        n_saved = self.best("micro")
        total, squares, cubes = (
            self.of_subgroups(np.add, self.first * self.cost[:, None] ** k) for k in (1, 2, 3)
        )
        n = n_saved
        if notion.name == "mean_recourse":
            n_lost, n = self.n - n_saved, self.n
            total, squares = total + n_lost * self.c_inf, squares + n_lost * self.c_inf**2
            cubes = cubes + n_lost * self.c_inf**3
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = total / n
            variance = np.maximum(squares / n - mean**2, 0) * n / (n - 1)
            third = (cubes / n - 3 * mean * squares / n + 2 * mean**3) / ((n - 1) * (n - 2))
            shows = (n > 2) & (variance > 0)
            skewness = np.where(shows, third / np.where(shows, variance / n, 1) ** 1.5, 0.0)
        return np.where(n == 0, np.inf, mean), variance, n, skewness


def shortfalls(group_side, rest_side, notion):
    """Return by how much one side is worse off than the other; 0 for two infinite costs.

    `group_side` and `rest_side`: columns that broadcast against each other. Returns an ndarray of
    float of shape (n_subgroups, n_columns): negative if it is better off; for the trade-off the
    largest gap between the curves.
    """
    if notion.name == "trade_off":
        gap = rest_side.curve(notion.viewpoint) - group_side.curve(notion.viewpoint)
        # Between actions of one cost, curves are unions of some of them in an arbitrary order: gaps
        # there, which AIF360 counts, are overstated.
        gap = np.where(group_side.is_end[:, None], gap, 0)
        return group_side.of_subgroups(np.maximum, np.maximum(gap, 0))
    a, b = group_side.values(notion), rest_side.values(notion)
    with np.errstate(invalid="ignore"):
        worse = b - a if notion.more_is_better else a - b
    # Neither side has recourse, which is no bias; the difference of infinite costs would be NaN.
    return np.where(np.isinf(a) & (a == b), 0.0, worse)


def dense_ranks(score):
    """Return the ranks of scores, largest first; equal scores share a rank."""
    score = np.round(score, 12)
    return 1 + np.unique(-score, return_inverse=True)[1].ravel()


def all_notions(phis, budgets):
    """Return each notion in each viewpoint and at each level that it is defined for."""
    levels = dict.fromkeys(("choice", "cost_of_effectiveness"), phis)
    levels["effectiveness_within_budget"] = budgets
    return [
        Notion(name, view, None if level is None else float(level))
        for name, views in NOTIONS.items()
        for view in views
        for level in levels.get(name, (None,))
    ]


@dataclass(frozen=True)
class Verdicts:
    """The group that is worst off in each subgroup, arrays of shape (n_subgroups,).

    `against`: number of the group. `score`: by how much it is worse off; 0 if no group is, NaN if
    undefined.
    """

    against: np.ndarray
    score: np.ndarray

    def sides(self, measured):
        """Return the counts of the group, and of all others together."""
        return measured.pick(self.against), measured.rest().pick(self.against)


def worst_off(measured, notion):
    """Return the `Verdicts`: the group that is worst off, compared with all others together."""
    rows = np.arange(len(measured))
    if not len(measured):
        return Verdicts(rows, np.zeros(0))
    gap = shortfalls(measured, measured.rest(), notion)
    worse = np.where(np.isnan(gap), -np.inf, gap.round(12))
    is_worst = worse == worse.max(axis=1, keepdims=True)
    against = np.where(is_worst, measured.n, -1).argmax(axis=1)  # of ties, the larger group
    return Verdicts(against, np.maximum(gap[rows, against], 0))


def n_comparisons(n_groups):
    """Return the number of comparisons that the worst of each subgroup is chosen from."""
    return 1 if n_groups == 2 else n_groups
