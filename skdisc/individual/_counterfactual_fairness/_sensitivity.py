"""Sensitivity: the mean effects if a protected column were confounded with its children."""

import numpy as np
import pandas as pd
from sklearn.base import clone

from skdisc.causal import StructuralCausalModel, sensitivity_worlds

CORRELATIONS = (-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4)
_NAMES = ["column", "correlation", "do", "group", "mean"]


def sensitivity_table(c, groups):
    """Return mean effects by assumed correlation of a protected column with hidden causes.

    `c`: WorldComparison. Returns a DataFrame or None: columns: column, correlation (0 as in the
    first world), do, group, mean. None if no confounding of the first world can be assumed.
    """
    column, correlations = confounded(c), c.detector.sensitivity
    if column is None:
        return None
    recipe = clone(c.detector.sources_[c.main])
    correlations = CORRELATIONS if isinstance(correlations, str) else correlations
    rows = [(column, 0.0, *row) for row in _means(c.mine, c.factual_outcome, groups)]
    n_rows = c.n * len(c.interventions)
    worlds = sensitivity_worlds(recipe, column, correlations)
    for r, world in zip(correlations, worlds.values(), strict=True):
        if not c.task.budget.allow(1, n_rows):
            break
        answers = c.answers_of(c.main, world.fit(c.X), c.X)
        rows += [(column, float(r), *row) for row in _means(answers, c.factual_outcome, groups)]
    table = pd.DataFrame(rows, columns=_NAMES)
    return table.sort_values("correlation", kind="stable", ignore_index=True)


def confounded(c):
    """Return the protected column that a sensitivity analysis is about, or None."""
    source = c.detector.sources_[c.main]
    if c.detector.sensitivity is None or c.refit or not c.n or c.task.is_audit:
        return None
    if not isinstance(source, StructuralCausalModel) or source.latent_ or source.equations:
        return None
    below = [
        p for p in c.detector.protected_ if any(p in above for above in source.parents_.values())
    ]
    binary_columns = [p for p in below if len(source.values_.get(p, (0, 1))) == 2]
    children = [
        n for n, above in source.parents_.items() if binary_columns and binary_columns[0] in above
    ]
    numeric = [n for n in children if n not in source.values_]
    return binary_columns[0] if len(below) == len(binary_columns) == 1 and numeric else None


def _means(answers, factual_outcome, groups):
    """Return (intervention, group, mean) of people whose row changes."""
    for answer in answers:
        gap = factual_outcome - answer.outcome
        for name, mask in groups.items():
            people = mask & answer.is_changed
            yield answer.do, name, float(gap[people].mean()) if people.any() else np.nan


def tipping_notes(table):
    """Return a note on the confounding that would explain the mean effects, a list of str."""
    if table is None:
        return []
    points, column = [], table["column"].iloc[0]
    for (do, group), rows in table.groupby(["do", "group"], sort=False):
        r, mean = rows["correlation"].to_numpy(), rows["mean"].to_numpy()
        main = mean[r == 0][0]
        if group == "everyone" or not abs(main) > 0 or np.isnan(mean).any():
            continue
        crossings = np.flatnonzero(np.sign(mean[:-1]) * np.sign(mean[1:]) <= 0)
        steps = [(mean[i + 1] - mean[i]) or 1.0 for i in crossings]  # 0: the mean is 0 at both ends
        ends = [
            r[i] - mean[i] * (r[i + 1] - r[i]) / s for i, s in zip(crossings, steps, strict=True)
        ]
        points.append((min(ends, key=abs, default=np.inf), do, group, main))
    if not points:
        return []
    point, do, group, main = min(points, key=lambda entry: abs(entry[0]))
    effect = f"the mean effect of {do} on {group} ({main:.2g})"
    if np.isinf(point):
        most = table["correlation"].abs().max()
        return [f"No correlation up to {most:g} of {column} with hidden causes explains {effect}."]
    return [
        f"A correlation of {point:+.2f} between {column} and hidden causes of its children would "
        f"explain {effect}; see the table of sensitivity."
    ]
