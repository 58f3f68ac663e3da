"""OutcomeTest: success rates of those selected, by group."""

from functools import partial

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._stats._proportions import names_of_tests
from skdisc._task._card import OF_GROUPS, Card
from skdisc._utils._types import Labels
from skdisc.group._outcome_tests._selected import SELECTED, OutcomeDetector
from skdisc.group._pairwise._comparison_report import TOO_FEW, PairComparison
from skdisc.group._pairwise._estimates import Estimate

_LEAST = 5  # selected people of each side
_MARGIN = (
    "Success rates are means over all who were selected, not over those at the margin: groups with "
    "equal thresholds and unequal risks differ here, too (see RiskAdjustedRegression)."
)


class OutcomeTest(OutcomeDetector):
    r"""Compare the success rates of the people selected (Becker; Knowles, Persico, Todd 2001).

    If searched drivers of one group carry contraband less often than those of another, they were
    searched on less evidence; if the loans of one group are repaid more often, it had to be better
    to get them. The null hypothesis is that success rates *given selection* are equal.

    Selected are the people whose decision, by the model or in ``model=BlackBox(decisions=...)``, is
    `pos_label`; y are the outcomes, which are read for selected people only. With neither
    `model` nor `estimator`, everyone in X was selected.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        One finding per group: its success rate (`outcome`) minus that of the reference (`effect`),
        and ``gap``, the gap of the selection rates. Table ``rates``: people, selected people and
        successes of each side, with exact intervals (Clopper and Pearson).
    {inherited}

    Raises
    ------
    ValueError
        If `protected` is not given, or outcomes are missing.

    See Also
    --------
    RiskAdjustedRegression : Compares decisions about people of equal risk.

    Notes
    -----
    The sign has to be read with what selection is: for a benefit such as a loan a *positive* effect
    says that the group is held to a higher standard, for a burden such as a search a *negative*
    one. And a mean is not a margin: if risks are spread differently, success rates differ under
    equal thresholds (infra-marginality), and may agree under unequal ones.

    Intervals are hybrid score intervals (Newcombe), p-values are of the score test, or mid-p values
    where counts are small.

    References
    ----------
    G. Becker: The economics of discrimination. 1957.

    J. Knowles, N. Persico, P. Todd: Racial bias in motor vehicle searches: theory and evidence.
    Journal of Political Economy 109, 2001. https://doi.org/10.1086/318603

    I. Ayres: Outcome tests of racial disparities in police practices. Justice Research and Policy
    4, 2002. https://doi.org/10.3818/JRP.4.1.2002.131

    Examples
    --------
    >>> import pandas as pd
    >>> searched = pd.DataFrame({"race": ["a"] * 200 + ["b"] * 200})
    >>> found = [1] * 60 + [0] * 140 + [1] * 30 + [0] * 170
    >>> result = OutcomeTest(protected="race").fit(searched, found).result_
    >>> result.to_frame()[["outcome", "effect", "p_value"]].round(3).to_dict("records")
    [{'outcome': 0.15, 'effect': -0.15, 'p_value': 0.0}]
    """

    pos_label: Labels | None = SELECTED

    null = "calibration"
    card = Card(
        finds="group",
        where="model or data",
        access="labels or predict",
        statistic="difference of success rates among those selected",
        output="success and selection rates of each group with exact intervals",
        published="standard in studies of stops and of loans",
        worse=1,
        reference="Becker 1957; Knowles, Persico and Todd 2001",
        summary="gaps in the success rates of those selected",
        needs="outcomes, and decisions or a model",
        claims="Among those selected, the success rates of a group and of its reference differ.",
        does_not_say="That the group was selected from another risk on: rates of success differ "
        "between groups with one threshold, too, if their risks are spread differently.",
        bounded="gap of success rates among those selected",
        **OF_GROUPS,
    )
    _measure = "success rate difference"

    def _compare(self, task, people, rng):
        selected, success = people.y == 1, people.labels
        if task.queries is None:
            selected, success = np.ones(len(people.y), bool), people.y
        if success is None:
            return "no outcomes y were given"
        sides = [selected & people.inside, selected & ~people.inside]
        n = [int(side.sum()) for side in sides]
        if min(n) < _LEAST:
            return f"{TOO_FEW} selected: {_LEAST} are needed on each side"
        counts = success[sides[0]].sum(), n[0], success[sides[1]].sum(), n[1]
        rate, reference_rate = counts[0] / n[0], counts[2] / n[1]
        error = np.sqrt(rate * (1 - rate) / n[0] + reference_rate * (1 - reference_rate) / n[1])
        p_value, is_exact = _stats.proportions_test(*counts)
        return PairComparison(
            Estimate(rate - reference_rate, float(error)),
            {"outcome": rate, "gap": people.gap, "n_selected": n[0]},
            {"rates": _rates(people, counts, self.significance)},
            [_MARGIN],
            interval=partial(_ends, counts),
            p_value=float(p_value),
            test=str(names_of_tests(is_exact)),
            sizes=tuple(n),
        )


def _ends(counts, significance):
    """Return the interval of the difference."""
    # The normal interval has no width where on both sides all or none of those selected succeed.
    low, high = _stats.newcombe(*counts, significance)
    return float(low), float(high)


def _rates(people, counts, significance):
    """Return a row for each side."""
    rows = []
    for side, members, x, n in (
        ("group", people.inside, *counts[:2]),
        ("reference", ~people.inside, *counts[2:]),
    ):
        low, high = _stats.clopper_pearson(x, n, significance)
        ends = x / n, float(low), float(high)
        rows.append((side, int(members.sum()), n, n / members.sum(), int(x), *ends))
    names = ["side", "n", "n_selected", "selection_rate", "n_successes"]
    return pd.DataFrame(rows, columns=[*names, "success_rate", "ci_low", "ci_high"])
