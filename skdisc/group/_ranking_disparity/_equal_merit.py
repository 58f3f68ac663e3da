"""Exposure at equal merit: what relevant people of both sides are worth in a ranking."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from skdisc.group._ranking_disparity._exposure_gap import ExposureGap, Side


def merit_table(
    sides: Sequence[Side],
    relevant: Sequence[np.ndarray],
    significance: float,
    rng: np.random.Generator,
) -> pd.DataFrame | None:
    """Return the exposures of relevant people of both sides, and exposure over merit.

    The gap is the one of `ExposureGap`, among people with a favorable label, at the places that
    they have in the whole list, with the same test and interval. The *treatment ratio* (Singh and
    Joachims 2018) divides the exposure of a group by its share of relevant people, and what comes
    out for the group by the same of the reference.

    `sides`: one for each list. `relevant`: who is relevant, in the order of each list. Returns a
    DataFrame or None: one row; None if no list has relevant people of both sides.
    """
    worthy = [
        replace(s, group=s.group & r, reference=s.reference & r)
        for s, r in zip(sides, relevant, strict=True)
    ]
    worthy = [s for s in worthy if s.compares]
    if not worthy:
        return None
    gap = ExposureGap(worthy)
    estimate = gap.permuted(rng) or gap.estimate()
    low, high = estimate.interval(significance)
    group, reference = gap.n.sum(axis=0).astype(int)
    return pd.DataFrame(
        {
            "n_group": [group],
            "n_reference": [reference],
            "gap": [gap.value],
            "ci_low": [low],
            "ci_high": [high],
            "p_value": [estimate.p_value],
            "ratio": [gap.ratio],
            "treatment_ratio": [treatment_ratio(sides, relevant)],
        }
    )


def treatment_ratio(sides: Sequence[Side], relevant: Sequence[np.ndarray]) -> float:
    """Return the exposure over merit of the group, over that of the reference.

    Returns a float: NaN where the group has no exposure and no merit.
    """
    compared = [(s, r) for s, r in zip(sides, relevant, strict=True) if s.compares]
    gap = ExposureGap([s for s, _ in compared])
    merit = gap.weight @ [[r[s.group].mean(), r[s.reference].mean()] for s, r in compared]
    exposure = gap.weight @ gap.means
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(exposure[0] * merit[1] / (exposure[1] * merit[0]))
