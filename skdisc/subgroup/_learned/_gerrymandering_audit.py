"""GerrymanderingAudit: the group of protected columns that fares worst."""

from skdisc._task._card import Card
from skdisc._utils._settings import setting
from skdisc._utils._types import Columns, Estimator
from skdisc.subgroup._estimation._task_rows import rows_of
from skdisc.subgroup._learned._learned_auditor import OF_WITNESSES, LearnedAuditor
from skdisc.subgroup._learned._people import ScoredPeople


class GerrymanderingAudit(LearnedAuditor):
    r"""Learn which group of protected columns fares worst (Kearns, Neel, Roth, Wu).

    Rates may be equal for women and men, for young and old, and yet be low for old women: fairness
    gerrymandering. The auditor looks for the group g with the largest

    .. math:: \Pr(g) \cdot |\Pr(d = 1 \mid g) - \Pr(d = 1)|.

    As in the paper, the search is reduced to a regression of decisions on the protected columns:
    the group is where it predicts more than the mean rate (of its complement, less). It learns from
    half of the rows and is tested on the others, so the p-value is honest whatever learned, and is
    then put into words. The null hypothesis is that the rates of all protected groups and their
    intersections are equal.

    {parameters}

    Raises
    ------
    ValueError
        If `protected` is not given, if the rate needs labels or decisions that are missing, or if
        the witness cannot learn from numbers.

    See Also
    --------
    GroupDisparity : Compares every protected group and intersection.
    DisparityPursuit : Adjusts for other columns, and tests groups of few conditions.

    References
    ----------
    M. Kearns, S. Neel, A. Roth, Z. S. Wu: Preventing fairness gerrymandering: auditing and learning
    for subgroup fairness. ICML 2018. https://proceedings.mlr.press/v80/kearns18a.html

    Examples
    --------
    Women and men are selected equally often, young and old people, too; old women are not.

    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 4000), "old": rng.choice([0, 1], 4000)})
    >>> rate = np.where((X["sex"] == "f") == (X["old"] == 1), 0.4, 0.6)
    >>> y = (rng.random(4000) < rate).astype(int)
    >>> audit = GerrymanderingAudit(protected=["sex", "old"], random_state=0).fit(X, y)
    >>> audit.result_.verdict
    'disparity found'
    """

    metric: str = setting(
        "selection_rate",
        [str],
        "A rate of `RATES`; error rates need a model and labels.",
    )
    adjust_for: str | Columns | None = setting(
        None,
        "no_validation",
        """Legitimate columns that are held equal, and that may define groups, too. None: none,
        as published.""",
        kind='"others", sequence of column names, or None',
    )
    witness: str | Estimator = setting(
        "auto",
        text="""What learns: linear thresholds, boosted trees, whichever of them is better out
        of fold, or any regressor of scikit-learn, which gets all columns as numbers.""",
    )

    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="size of a learned group times its gap",
        output="test on rows not seen, and the group in words",
        published="finds groups of large size times gap on four data sets",
        reference="Kearns, Neel, Roth and Wu 2018",
        summary="the group of protected columns with the largest size times gap",
        needs="labels or decisions",
        claims="The rates of the protected groups and intersections are not all equal.",
        does_not_say="That legitimate columns do not explain it.",
        **OF_WITNESSES,
    )
    # Pr(g) (E[d | g] - E[d]) is the sum of d - E[d] over the group, divided by n: it is largest for
    # the people for whom more than the mean is predicted.
    _is_group = True

    @property
    def null(self) -> str:
        """The null hypothesis: "marginal", or "conditional" with columns adjusted for."""
        return "marginal" if self.adjust_for is None else "conditional"

    @property
    def _measure(self):
        return self.metric

    def _people(self, task):
        rows = rows_of(task, self.metric)
        return ScoredPeople(rows.X, rows.tree_target.astype(float))
