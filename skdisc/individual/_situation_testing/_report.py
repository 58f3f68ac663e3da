"""SituationCases: what a situation test returns, cases and the people in their groups."""

import numpy as np
import pandas as pd

from skdisc._results._findings import CaseFindings
from skdisc._space._items import make_items, value_name
from skdisc._task._task import Request
from skdisc._utils._hashing import canonical_order
from skdisc.causal._counterfactual_rows import counterfactual_rows


class SituationCases:
    """The part of a situation test that turns its tables into findings."""

    def neighbours(self, X, n_neighbors=None):
        """Return the control and the test group of the first person of X, one row each.

        Parameters
        ----------
        X : DataFrame
            One row; new people, who are nobody's neighbours of fit.
        n_neighbors : int, optional
            By default the first that was asked for.

        Returns
        -------
        DataFrame
            Role ("control", "test"), row at fit, share of a place, distance, outcome, features.
        """
        frame, known = self._read(Request(X)).X.iloc[:1], self._memory
        for pools in known.pools:
            if pools.comparison.control(frame).all():
                other = self._counterfactuals(known, pools.comparison, frame)[0]
                centres = frame, other, None
                return self._group_table(known, pools, *centres, n_neighbors or self._ks[0])
        raise ValueError("This person belongs to no group whose members may complain.")

    def _in_order(self, X, cases):
        """Return the cases, the largest difference first, whatever the order of the rows."""
        rank = np.empty(len(X), dtype=np.int64)
        rank[canonical_order(X)] = np.arange(len(X))
        order = np.lexsort((rank[cases["row"]], cases["p_value"], -cases["delta"].abs()))
        return cases.iloc[order].reset_index(drop=True)

    def _findings(self, task, parts, cases):
        """Return one case for each, with the statistics of its two groups."""
        of = {name: column.to_numpy() for name, column in cases.items()}
        rows, means = of["row"], np.stack([of["p_c"], of["p_t"]])
        control, test = 1.0 - means if self.output == "decision" else means
        kept = {n: of[n] for n in ("p_value", "p_adjusted", "p_c", "p_t", "delta", "n_neighbors")}
        kept["ci_low"], kept["ci_high"] = -of["ci_high"], -of["ci_low"]
        kept["support"] = (of["n_c"] + of["n_t"]).round().astype(int)
        kept["test"] = np.full(len(cases), self._test_name(), dtype=object)
        frames = []
        for pools, others, _ in parts:
            at = rows[of["group"] == str(pools.comparison.group)]
            twins = counterfactual_rows(None, others.iloc[at], pools.comparison.do)[0]
            frames.append(twins.set_axis(at))
        altered = pd.concat(frames).loc[rows] if frames else task.X.iloc[:0]
        return CaseFindings(
            task.X.iloc[rows],
            altered,
            control,
            test,
            space=task.space,
            row=rows,
            statistics=pd.DataFrame(kept),
        )

    def _test_name(self):
        if self.output != "decision":
            return "Welch"
        if self.threshold > 0:
            return "Newcombe"
        return "Fisher" if self.test == "fisher" else "Fisher mid-p"

    def _by_value(self, task, first):
        """Count, per protected value, the people judged and those with a case."""
        rows, case = first["row"].to_numpy(), first["case"].to_numpy()
        at_fit = task.memory.X
        items = make_items(at_fit, task.space, self.protected_, self.protected_, self.n_bins)
        X, counts = task.X.iloc[rows], {}
        for predicate in items.predicates:
            inside = predicate.mask(X)
            counts[value_name(predicate)] = int(inside.sum()), int((inside & case).sum())
        return counts

    def _stored(self, task, parts, cases):
        """Return the groups of every case, one below the other."""
        tables = []
        for case_id, (row, group) in enumerate(zip(cases["row"], cases["group"], strict=True)):
            pools, others, _ = next(p for p in parts if str(p[0].comparison.group) == group)
            centres = task.X.iloc[[row]], others.iloc[[row]]
            own = None if task.is_audit else np.array([row])
            table = self._group_table(task.memory, pools, *centres, own, self._ks[0])
            table.insert(0, "case_id", case_id)
            tables.append(table)
        empty = pd.DataFrame({"case_id": pd.Series(dtype=int)})
        return pd.concat(tables, ignore_index=True) if tables else empty

    def _group_table(self, known, pools, person, other, own, k):
        """Return the person, their counterfactual, and both groups, one row each."""
        X = known.X
        found = pools.neighbours(person, other, own, k, self._limit)
        roles = pd.DataFrame(found, columns=["role", "at_fit", "share", "distance"])
        roles["outcome"] = known.outcome[roles["at_fit"].to_numpy(dtype=int)]
        taken = {c: f"{c}_feature" for c in X.columns if c in roles.columns}
        X, person, other = (f.rename(columns=taken) for f in (X, person, other))
        table = roles.join(X.iloc[roles["at_fit"]].reset_index(drop=True))
        centres = pd.concat([person, other], ignore_index=True)
        centres.insert(0, "role", ["person", "counterpart"])
        return pd.concat([centres, table], ignore_index=True)
