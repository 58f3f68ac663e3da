"""What FlipTest hands out: flipsets, reports and cases."""

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._audit_result import Discovery
from skdisc._results._findings import CaseFindings
from skdisc._space._items import value_name
from skdisc._task._notes import too_few_draws
from skdisc.individual._base import REQUIRED_SHARE
from skdisc.individual._fliptest._flipsets import (
    NOTE,
    UNTESTED,
    attribute_name,
    coordinate_names,
    flip_row,
    report_table,
    runs_table,
    transparency,
)

_ESTIMATE = ["name", "estimate", "ci_low", "ci_high", "n"]


class FlipCases:
    """The part of FlipTest that turns pairs into findings."""

    def _report(self, task, decided, points, parts):
        """Find the flips among the pairs, and put a Discovery together."""
        known, rows, reports, tables = task.memory, [], [], []
        names, scale = coordinate_names(known.space, known.columns)
        limit = np.inf if self.max_distance is None else self.max_distance + 1e-9
        adjusted = _stats.adjust([facts["p_value"] for _, _, facts in parts])
        for (problem, pairs, facts), p, unlike in zip(
            parts, adjusted, known.unlike_chance, strict=True
        ):
            facts["p_adjusted"] = float(p)
            own, other = decided[pairs["row"]], known.decided[pairs["partner"]]
            pairs = pairs.assign(outcome=own, partner_outcome=other, flip=np.sign(own - other))
            rows.append(flip_row(problem, pairs, facts))
            pairs["case"] = (pairs["flip"] != 0) & (pairs["distance"] <= limit)
            pairs["case"] &= unlike if np.isnan(p) else bool(p <= self.significance)
            for name in ("attribute", "group", "reference"):
                pairs[name] = pd.Series([rows[-1][name]] * len(pairs), dtype=object)
            gap = points[pairs["row"]] - known.points[pairs["partner"]]
            reports += transparency(rows[-1], pairs, gap * scale, names)
            tables.append(pairs)
        pairs = pd.concat(tables, ignore_index=True)
        return self._discovery(task, pairs, pd.DataFrame(rows), reports)

    def _discovery(self, task, pairs, flipsets, reports):
        tested, found = pairs["row"].nunique(), pairs.loc[pairs["case"], "row"].nunique()
        low, high = _stats.wilson(found, tested, self.significance)
        share = [found / tested if tested else np.nan, float(low), float(high), tested]
        alone = float(_stats.min_detectable_share(tested, self.significance))
        name = "share of people carried to one decided unlike them"
        few = [] if found else too_few_draws(self.n_permutations, self.significance)
        smallest = float("nan") if few else max(alone, *flipsets["smallest_gap"].fillna(0.0))
        return Discovery(
            findings=self._findings(task, pairs),
            measure="decision, person minus the one they are carried to",
            n_tested=tested,
            n_found=found,
            smallest_gap=smallest,
            required_gap=REQUIRED_SHARE,
            by_value=self._by_value(task.memory, pairs),
            estimates=pd.DataFrame([[name, *share]], columns=_ESTIMATE),
            tables={
                "flipsets": flipsets,
                "transparency": report_table(reports),
                "runs": runs_table(pairs),
                "pairs": pairs,
            },
            notes=[NOTE, *few] if self.n_permutations else [NOTE, UNTESTED],
            versus="those they are paired with",
        )

    def _findings(self, task, pairs):
        """Return one case per person and attribute, the nearest pairs first."""
        cases = pairs[pairs["case"]].sort_values(["distance", "row"], kind="stable")
        content = pd.util.hash_pandas_object(task.X, index=False).to_numpy()
        cases = cases.iloc[np.lexsort((content[cases["row"]], cases["distance"].round(12)))]
        cases = cases.drop_duplicates(["row", "attribute"], ignore_index=True)
        rows = cases["row"].to_numpy()
        return CaseFindings(
            task.X.iloc[rows],
            task.memory.X.iloc[cases["partner"]],
            cases["outcome"].to_numpy(),
            cases["partner_outcome"].to_numpy(),
            space=task.space,
            row=rows,
            statistics=cases[["attribute", "distance"]],
        )

    def _by_value(self, known, pairs):
        """Count, per protected value and attribute, the people carried and those with a case."""
        counts = {}
        for comparison, _ in known.carried:
            some = pairs[pairs["group"] == str(comparison.group)]
            found = set(some.loc[some["case"], "row"])
            ends = [comparison.group] + [r for r in (comparison.reference,) if r is not None]
            names = {value_name(p) for end in ends for p in end.predicates}
            for name in names | {attribute_name(comparison)}:
                known = counts.setdefault(name, (set(), set()))
                known[0].update(some["row"])
                known[1].update(found)
        return {name: (len(a), len(b)) for name, (a, b) in sorted(counts.items())}
