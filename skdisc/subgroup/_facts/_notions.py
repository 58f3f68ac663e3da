"""The notions of fair recourse, from counts alone: nothing here asks a model."""

from dataclasses import dataclass
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
    """One notion of fairness: its name, the viewpoint, and the level where it has one.

    Attributes
    ----------
    name : str
        A key of `NOTIONS`.
    viewpoint : {"macro", "micro"}
        One action for all, or each person's own.
    level : float or None
        The share phi, or the budget c.
    """

    name: str
    viewpoint: str
    level: float | None = None

    @classmethod
    def checked(cls, name, viewpoint=None, phi=None, budget=None):
        """Return the notion, refusing a name or a viewpoint that is not defined."""
        defined = [f"{n} ({v})" for n, views in NOTIONS.items() for v in views]
        if name not in NOTIONS or viewpoint not in (None, *NOTIONS[name]):
            got = f"{name!r}" if viewpoint is None else f"{name!r} with viewpoint={viewpoint!r}"
            raise ValueError(f"notion={got} is not defined. Defined are: {', '.join(defined)}.")
        level = None
        if name in ("choice", "cost_of_effectiveness"):
            level = float(phi)
        elif name == "effectiveness_within_budget":
            level = float(budget)
        return cls(name, viewpoint or NOTIONS[name][0], level)

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
    """What the actions of each subgroup do for each protected group, as counts.

    Pairs (of a subgroup and an action) stand sorted by subgroup, then by cost.

    Attributes
    ----------
    hits, first : ndarray of int, shape (n_pairs, n_groups)
        Members whom the action helps; those whom no earlier (cheaper) action of the subgroup does.
    n : ndarray of int, shape (n_subgroups, n_groups)
        Members.
    cost : ndarray of float, shape (n_pairs,)
    start : ndarray of int, shape (n_subgroups + 1,)
        First pair of each subgroup, and the end.
    c_inf : float
        The cost of recourse of those whom no action helps.
    """

    hits: np.ndarray
    first: np.ndarray
    n: np.ndarray
    cost: np.ndarray
    start: np.ndarray
    c_inf: float

    def __len__(self):
        return len(self.n)

    @cached_property
    def subgroup(self):
        """The subgroup of each pair."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def rest(self):
        """Return the same for the members of all other groups together, beside each group."""
        others = (a.sum(axis=1, keepdims=True) - a for a in (self.hits, self.first, self.n))
        return Measured(*others, self.cost, self.start, self.c_inf)

    def pick(self, group):
        """Return the same for one group of each subgroup, as the only one."""
        pair, of_pair = np.arange(len(self.cost)), group[self.subgroup]
        counts = (a[pair, of_pair][:, None] for a in (self.hits, self.first))
        n = self.n[np.arange(len(self)), group][:, None]
        return Measured(*counts, n, self.cost, self.start, self.c_inf)

    def at(self, i):
        """Return the same for the subgroups at these positions, an array of int."""
        pairs = np.concatenate(
            [np.arange(*self.start[j : j + 2]) for j in i] or [np.empty(0, np.int64)]
        )
        start = np.concatenate([[0], np.cumsum(np.diff(self.start)[i])]).astype(np.int64)
        counts = self.hits[pairs], self.first[pairs], self.n[i]
        return Measured(*counts, self.cost[pairs], start, self.c_inf)

    def of_subgroups(self, function, values):
        """Reduce values of pairs to one of each subgroup."""
        if not len(self):
            return values[:0]
        return function.reduceat(values, self.start[:-1], axis=0)

    def reached(self, viewpoint):
        """Count whom the actions up to each help: the best one of them, or any of them."""
        if viewpoint == "macro":
            lift = (self.subgroup * (self.n.sum() + 1))[:, None]  # no subgroup sees another's
            return np.maximum.accumulate(self.hits + lift, axis=0) - lift
        before = np.cumsum(self.first, axis=0) - self.first
        base = before[self.start[:-1]] if len(self) else before
        return before + self.first - base[self.subgroup]

    def best(self, viewpoint, budget=np.inf):
        """Count whom the actions within budget help, shape (n_subgroups, n_groups)."""
        within = (self.cost <= budget + _EPS)[:, None]
        if viewpoint == "macro":
            return self.of_subgroups(np.maximum, self.hits * within)
        return self.of_subgroups(np.add, self.first * within)

    @cached_property
    def is_end(self):
        """Whether a pair is the last of its cost: curves are defined there."""
        same_cost = np.diff(self.cost, append=np.inf) == 0
        return ~same_cost | (np.diff(self.subgroup, append=-1) != 0)

    def curve(self, viewpoint):
        """Return the effectiveness at each pair's cost; only the ends of a cost are the curve's."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.reached(viewpoint) / self.n[self.subgroup]

    def values(self, notion):
        """Return the number that a notion compares, shape (n_subgroups, n_groups); NaN if n = 0.

        For the trade-off this is where the curve ends, to show; curves are compared as wholes.
        """
        view, level = notion.viewpoint, notion.level
        if notion.name in ("effectiveness", "effectiveness_within_budget"):
            out = self._share(self.best(view, np.inf if level is None else level))
        elif notion.name == "trade_off":
            out = self._share(self.best(view))
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
        """Return mean and variance of the cost of recourse, and the number of people."""
        n_saved = self.best("micro")
        total, squares = (
            self.of_subgroups(np.add, self.first * self.cost[:, None] ** k) for k in (1, 2)
        )
        n = n_saved
        if notion.name == "mean_recourse":
            lost, n = self.n - n_saved, self.n
            total, squares = total + lost * self.c_inf, squares + lost * self.c_inf**2
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = total / n
            variance = np.maximum(squares / n - mean**2, 0) * n / (n - 1)
        return np.where(n == 0, np.inf, mean), variance, n

    def _share(self, count):
        with np.errstate(divide="ignore", invalid="ignore"):
            return count / self.n


def shortfalls(mine, theirs, notion):
    """Say by how much the one side is worse off than the other; inf against inf is no bias.

    Parameters
    ----------
    mine, theirs : Measured
        Columns that broadcast against each other.
    notion : Notion

    Returns
    -------
    ndarray of float, shape (n_subgroups, n_columns)
        Negative where it is better off; for the trade-off the largest gap of the curves.
    """
    if notion.name == "trade_off":
        gap = theirs.curve(notion.viewpoint) - mine.curve(notion.viewpoint)
        gap = np.where(mine.is_end[:, None], gap, 0)
        return mine.of_subgroups(np.maximum, np.maximum(gap, 0))
    a, b = mine.values(notion), theirs.values(notion)
    with np.errstate(invalid="ignore"):
        worse = b - a if notion.more_is_better else a - b
    return np.where(np.isinf(a) & (a == b), 0.0, worse)


def dense_ranks(score):
    """Rank scores, largest first; equal ones share a rank."""
    score = np.round(score, 12)
    return 1 + np.unique(-score, return_inverse=True)[1].ravel()


def all_notions(phis, budgets):
    """Return every notion in every viewpoint and at every level that it is defined for."""
    levels = {
        "choice": phis,
        "cost_of_effectiveness": phis,
        "effectiveness_within_budget": budgets,
    }
    return [
        Notion(name, view, None if level is None else float(level))
        for name, views in NOTIONS.items()
        for view in views
        for level in levels.get(name, (None,))
    ]
