"""Further figures of a model's probabilities by group, which decide nothing."""

import numpy as np
from scipy import special

from skdisc._stats._ranks import rank_statistic
from skdisc._utils._validation import is_favorable
from skdisc._verdicts._relevant import PROBABILITY
from skdisc.measures import standardized_mean_difference_report

AREA, STANDARDIZED = "area_under_the_curve", "standardized_mean_difference"


def rows_of_scores(audited, members, row, min_cell, significance):
    """Return further rows of the table of groups, where outcomes are probabilities.

    Parameters
    ----------
    audited : AuditedRows
    members : ndarray of bool, shape (n_rows,)
        The people of the group, who are compared with all others.
    row : dict
        The row of their mean.
    min_cell : int
        Fewest people of each label, in the group and among the others.

    Returns
    -------
    list of dict
        The standardized mean difference, and, where labels are known, the area under the ROC
        curve: the chance that somebody with a favorable label has a higher score than somebody
        without. Nothing for people with weights, clusters or frequencies.
    """
    numbers = audited.numbers
    is_simple = all(part is None for part in (audited.weight, audited.groups, audited.frequency))
    if numbers is None or numbers.output != PROBABILITY or not is_simple:
        return []
    common = row | {"rate": None, "ci_level": 1 - significance}
    rows = [common | _standardized(numbers.compared, members, significance)]
    if numbers.is_of_labels and audited.y is not None:
        is_yes = is_favorable(audited.y, audited.favorable)
        area = _area(numbers.raw, is_yes, members, min_cell, significance)
        rows += [common | area] * bool(area)
    return [scored_row for scored_row in rows if np.isfinite(scored_row["gap"])]


def _standardized(values, members, significance):
    """Return the difference of the means in pooled standard deviations, below 0 for lower ones."""
    report = standardized_mean_difference_report(
        None, values, protected=members, reference=False, pos_label=None, significance=significance
    ).iloc[0]
    ends = {"gap": -report["estimate"], "ci_low": -report["ci_high"], "ci_high": -report["ci_low"]}
    return {"measure": STANDARDIZED} | {name: float(end) for name, end in ends.items()}


def _area(scores, is_yes, members, min_cell, significance):
    """Return how well scores order labels in a group, less than among the others.

    The errors are those of DeLong, DeLong and Clarke-Pearson (1988). Empty with few labels of a
    kind.
    """
    place = np.unique(scores, return_inverse=True)[1]
    sides = []
    for side in (members, ~members):
        kinds = side & ~is_yes, side & is_yes
        if min(map(np.count_nonzero, kinds)) < min_cell:
            return {}
        counts = (np.bincount(place[kind], minlength=place.max() + 1) for kind in kinds)
        sides.append(rank_statistic(*counts)[:2])
    (area_members, error), (area_others, other_error) = sides
    gap = float(area_members - area_others)
    reach = float(special.ndtri(1 - significance / 2) * np.hypot(error, other_error))
    ends = {"gap": gap, "ci_low": gap - reach, "ci_high": gap + reach}
    return {"measure": AREA, "rate": float(area_members)} | ends
