"""Recourse: the results for one protected column, or several combined, under any notion."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skdisc.subgroup._facts._comparison import compare_sides, describe
from skdisc.subgroup._facts._notions import (
    Notion,
    all_notions,
    dense_ranks,
    n_comparisons,
    worst_off,
)


@dataclass(frozen=True)
class Recourse:
    """The effects of the actions of each subgroup on the groups of one or more protected columns.

    All methods compute their results from counts; none queries the model.

    Attributes
    ----------
    protected : hashable
        Name of the column; of several, their names joined by " & ".
    groups : tuple of Predicate or Subgroup
        The groups compared.
    n_affected : ndarray of int, shape (n_groups,)
        Number of people with an unfavorable decision.
    plan : StudyPlan
        Subgroups and actions.
    measured : Measured
        Their effects.
    everyone : Measured
        The cheapest action that helps each person, among the actions of all subgroups of this
        person, with all affected people as one subgroup.
    mining : dict
        Counts: frequent subgroups by group, actions, common subgroups, valid pairs, subgroups,
        changes.
    phis, budgets : tuple of float
        Levels at which notions are tabulated.
    """

    protected: object
    groups: tuple
    n_affected: np.ndarray
    plan: object
    measured: object
    everyone: object
    mining: dict
    phis: tuple
    budgets: tuple

    def __len__(self):
        return len(self.plan)

    @property
    def subgroups(self):
        """The subgroups measured, a list of `Subgroup`."""
        return self.plan.subgroups

    def notion(self, notion="effectiveness", viewpoint=None, phi=None, budget=None):
        """Return a `Notion`; if no level is passed, at the first one tabulated.

        Raises
        ------
        ValueError
            If the notion or the viewpoint is not defined.
        """
        phi = self.phis[0] if phi is None else phi
        return Notion.checked(notion, viewpoint, phi, self.budgets[0] if budget is None else budget)

    @cached_property
    def notions(self):
        """Each notion in each viewpoint and at each level tabulated."""
        return all_notions(self.phis, self.budgets)

    def rank(self, notion="effectiveness", viewpoint=None, *, phi=None, budget=None):
        """Rank all subgroups by their unfairness under a notion.

        Parameters
        ----------
        notion : str
            effectiveness, choice, effectiveness_within_budget, cost_of_effectiveness, trade_off,
            mean_recourse or conditional_mean_recourse.
        viewpoint : {"macro", "micro"} or None
            None: the first that is defined for the notion.
        phi : float or None
            Share of a group that an action must help (choice, cost_of_effectiveness).
        budget : float or None
            Largest cost (effectiveness_within_budget).

        Returns
        -------
        DataFrame
            One row per subgroup, the most unfair first: ``rank`` (equal scores share one),
            ``subgroup``, ``unfairness``, ``bias_against`` (None if fair), the value of each
            group, and ``p_value`` of the group worst off (not corrected for the subgroups).

        Raises
        ------
        ValueError
            If the notion or the viewpoint is not defined.
        """
        notion = self.notion(notion, viewpoint, phi, budget)
        verdicts = worst_off(self.measured, notion)
        table = pd.DataFrame({"rank": dense_ranks(verdicts.score)})
        table["subgroup"] = _texts(self.subgroups)
        table["unfairness"] = verdicts.score
        table["bias_against"] = self._names(verdicts)
        for group, values in zip(self.groups, self.measured.values(notion).T, strict=True):
            table[str(group)] = values
        sides = verdicts.sides(self.measured)
        table["p_value"] = self.corrected(compare_sides(*sides, notion, 0.05)["p_value"])
        order = np.lexsort((table["p_value"], table["rank"]))
        return table.iloc[order].reset_index(drop=True)

    def corrected(self, p_value):
        """Return p-values corrected for the choice of the worst of several groups."""
        return np.minimum(1, p_value * n_comparisons(len(self.groups)))

    def _names(self, verdicts):
        names = _texts(self.groups)[verdicts.against]
        return pd.Series(np.where(verdicts.score > 0, names, None), dtype=object)

    def find(self, subgroup):
        """Return the number of a subgroup, given as a `Subgroup`, as its text, or as a number.

        Raises
        ------
        KeyError
            If the subgroup was not measured.
        """
        if isinstance(subgroup, (int, np.integer)) and 0 <= subgroup < len(self):
            return int(subgroup)
        numbers = self._by_text if isinstance(subgroup, str) else self._numbers
        if subgroup in numbers:
            return numbers[subgroup]
        raise KeyError(
            f"The subgroup {str(subgroup)!r} is not among the {len(self)} measured; see rank()."
        )

    @cached_property
    def _numbers(self):
        return {group: i for i, group in enumerate(self.subgroups)}

    @cached_property
    def _by_text(self):
        return {str(group): i for i, group in enumerate(self.subgroups)}

    def profile(self, subgroup):
        """Return rank, direction and score of one subgroup under each notion.

        Parameters
        ----------
        subgroup : Subgroup, str or int

        Returns
        -------
        DataFrame
            One row per notion: ``notion``, ``rank``, ``bias_against``, ``unfairness``, and the
            value of each group.

        Raises
        ------
        KeyError
            If the subgroup was not measured.
        """
        i, rows = self.find(subgroup), []
        for notion, (verdicts, rank) in self._rankings.items():
            values = self.measured.values(notion)[i]
            rows.append(
                {
                    "notion": str(notion),
                    "rank": rank[i],
                    "bias_against": self._names(verdicts)[i],
                    "unfairness": verdicts.score[i],
                    **{str(g): v for g, v in zip(self.groups, values, strict=True)},
                }
            )
        return pd.DataFrame(rows).astype({"bias_against": object})

    def profiles(self, subgroups):
        """Return the verdicts on several subgroups under each notion side by side, as in table 1.

        Parameters
        ----------
        subgroups : iterable of Subgroup, str or int

        Returns
        -------
        DataFrame
            One row per notion, and for each subgroup the columns ``rank``, ``bias_against`` and
            ``unfairness``; ``bias_against`` is "Fair" where no group is worse off.

        Raises
        ------
        KeyError
            If a subgroup was not measured.
        """
        shown, parts = ["rank", "bias_against", "unfairness"], {}
        for i in map(self.find, subgroups):
            profile = self.profile(i).set_index("notion")[shown]
            parts[str(self.plan.at(i))] = profile.fillna({"bias_against": "Fair"})
        return pd.concat(parts, axis=1, names=["subgroup", "verdict"])

    @cached_property
    def _rankings(self):
        verdicts = {n: worst_off(self.measured, n) for n in self.notions}
        return {n: (v, dense_ranks(v.score)) for n, v in verdicts.items()}

    def ranking_analysis(self, top=0.1):
        """Count the most unfair subgroups under each notion, and the groups biased against.

        Parameters
        ----------
        top : float, default=0.1
            Share of the unfair subgroups looked at for the direction.

        Returns
        -------
        DataFrame
            ``notion``, ``most_unfair`` (ties in rank 1; 0 if all is fair), ``unfair``, and for
            each group how many of the `top` most unfair are biased against it.
        """
        rows = []
        for notion, (verdicts, rank) in self._rankings.items():
            unfair = verdicts.score > 0
            order = np.argsort(rank, kind="stable")[: int(top * unfair.sum())]
            count = np.bincount(verdicts.against[order], minlength=len(self.groups))
            row = {"notion": str(notion), "most_unfair": int(((rank == 1) & unfair).sum())}
            row["unfair"] = int(unfair.sum())
            row |= {f"against {g}": int(c) for g, c in zip(self.groups, count, strict=True)}
            rows.append(row)
        return pd.DataFrame(rows)

    def aggregated_rankings(self):
        """Compare the ranks of the most unfair subgroups of each notion under the others.

        Returns
        -------
        DataFrame
            Row i, column j: the mean rank in j of the subgroups ranked first in i, divided by the
            last rank of j; NaN on the diagonal. Near 0: as unfair under j; 1: fair.
        """
        ranks = [rank for _, rank in self._rankings.values()]
        names = [str(n) for n in self._rankings]
        table = [
            [r[first == 1].mean() / r.max() if len(r) else np.nan for r in ranks] for first in ranks
        ]
        table = np.array(table, dtype=float)
        np.fill_diagonal(table, np.nan)
        return pd.DataFrame(table, index=names, columns=names)

    def counterfactuals(self, subgroup):
        """Return the effectiveness and cost of each action of a subgroup for each group.

        Parameters
        ----------
        subgroup : Subgroup, str or int

        Returns
        -------
        DataFrame
            One row per action and group: ``subgroup``, ``group``, ``coverage`` (share of the
            affected people of the group that are members), ``action``, ``effectiveness``,
            ``cost``.

        Raises
        ------
        KeyError
            If the subgroup was not measured.
        """
        i = self.find(subgroup)
        pairs = np.arange(*self.plan.start[i : i + 2])
        names, n = _texts(self.groups), self.measured.n[i]
        with np.errstate(divide="ignore", invalid="ignore"):
            coverage, share = n / self.n_affected, self.measured.hits[pairs] / n
        columns = {
            "subgroup": str(self.plan.at(i)),
            "group": np.repeat(names, len(pairs)),
            "coverage": np.repeat(coverage, len(pairs)),
            "action": np.tile(_texts(map(self.plan.action, pairs)), len(names)),
            "effectiveness": share.T.ravel(),
            "cost": np.tile(self.plan.cost[pairs], len(names)),
        }
        return pd.DataFrame(columns).astype(dict.fromkeys(("subgroup", "group", "action"), object))

    def curves(self, subgroup):
        """Return the effectiveness-cost distribution of each group.

        Parameters
        ----------
        subgroup : Subgroup, str or int

        Returns
        -------
        DataFrame
            ``group``, ``cost``, ``micro`` and ``macro`` effectiveness within that cost; one row
            per group and cost.

        Raises
        ------
        KeyError
            If the subgroup was not measured.
        """
        one = self.measured.at(np.array([self.find(subgroup)]))
        ends, names = one.is_end, _texts(self.groups)
        columns = {
            "group": np.repeat(names, ends.sum()),
            "cost": np.tile(one.cost[ends], len(names)),
            **{view: one.curve(view)[ends].T.ravel() for view in ("micro", "macro")},
        }
        return pd.DataFrame(columns).astype({"group": object})

    def population(self):
        """Return the burden of each group: the notions for all affected people as one subgroup.

        The actions of a person are those of all subgroups of this person, at the person's cost;
        only the micro viewpoint is defined.

        Returns
        -------
        DataFrame
            One row per notion: ``notion``, the value of each group, ``unfairness``,
            ``bias_against``, ``p_value``.
        """
        rows, whole = [], self.everyone
        for notion in [n for n in self.notions if n.viewpoint == "micro"]:
            verdicts = worst_off(whole, notion)
            p_value = compare_sides(*verdicts.sides(whole), notion, 0.05)["p_value"]
            values = zip(self.groups, whole.values(notion)[0], strict=True)
            row = {"notion": str(notion), **{str(g): v for g, v in values}}
            row |= {"unfairness": verdicts.score[0], "bias_against": self._names(verdicts)[0]}
            rows.append({**row, "p_value": self.corrected(p_value)[0]})
        return pd.DataFrame(rows)

    def to_text(self, subgroup, notion="effectiveness", viewpoint=None, *, phi=None, budget=None):
        """Return the comparative subgroup counterfactuals of one subgroup as text.

        Parameters
        ----------
        subgroup : Subgroup, str or int
        notion, viewpoint, phi, budget
            See `rank`. Only actions that count under the notion are listed.

        Returns
        -------
        str

        Raises
        ------
        KeyError
            If the subgroup was not measured.
        ValueError
            If the notion or the viewpoint is not defined.
        """
        notion = self.notion(notion, viewpoint, phi, budget)
        i = self.find(subgroup)
        verdicts = worst_off(self.measured.at(np.array([i])), notion)
        return describe(
            self.counterfactuals(i), notion, self._names(verdicts)[0], float(verdicts.score[0])
        )


def _texts(objects):
    """Return the texts of objects, an array."""
    return np.array([str(o) for o in objects], dtype=object)
