"""MulticalibrationAudit: a learned witness of errors at equal scores."""

from sklearn.utils._param_validation import StrOptions

from skdisc._task._card import Card
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc._utils._types import Columns, Estimator
from skdisc.subgroup._learned._learned_auditor import OF_WITNESSES, LearnedAuditor
from skdisc.subgroup._learned._outcome_of import errors_at_scores


class MulticalibrationAudit(LearnedAuditor):
    r"""Learn where a score means less for some groups (Hébert-Johnson, Kim, Reingold, Rothblum).

    A score p is multicalibrated if, in every group and at every score, as many people succeed as it
    says. Here a *witness* :math:`c(p, x, a)` learns to predict the errors p - y from half of the
    rows. It is tested on the others, as a whole and in bins of the score. It is centered over the
    protected columns a given the score (and the columns that are adjusted for), so a score that is
    wrong for everyone alike is no finding. The null hypothesis is that, given the score, outcomes
    do not depend on the protected columns.

    The verdict comes from all rows together, where the witness counts most where it predicts most.
    Bins share no rows, so their p-values are independent and are corrected exactly (Šidák). The
    witness is then put into words, for everyone or in the bin in which rules keep most of it, on
    the rows that it learned from.

    {parameters}

    Raises
    ------
    ValueError
        If `protected` is not given, if a model is audited without labels, or if the witness cannot
        learn from numbers.

    See Also
    --------
    MultiaccuracyAudit : Errors at equal columns.
    OutcomeTest : Success rates of those selected.

    Notes
    -----
    A negative effect says that the scores of a group are too low: it does better than others of the
    same score.

    References
    ----------
    Ú. Hébert-Johnson, M. P. Kim, O. Reingold, G. N. Rothblum: Multicalibration: calibration for the
    (computationally-identifiable) masses. ICML 2018.
    https://proceedings.mlr.press/v80/hebert-johnson18a.html

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 4000), "score": rng.random(4000)})
    >>> truth = np.where(X["sex"] == "f", X["score"] ** 2, X["score"])
    >>> y = (rng.random(4000) < truth).astype(int)
    >>> audit = MulticalibrationAudit(protected="sex", random_state=0)
    >>> result = audit.fit(X, y, model=lambda X: X["score"]).result_
    >>> result.verdict
    'disparity found'
    >>> print(result[0].subject, result[0].effect < 0)
    sex = 'm' True
    """

    estimator: Estimator | None = setting(
        None,
        text="""Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it
        is. Errors need its probabilities, and labels. Without a model, labels are audited as if
        all had the same score.""",
    )
    output: str = setting(
        "auto",
        [StrOptions({"auto", "probability", "decision"})],
        """The score; of decisions, predictive values are compared. "auto": probabilities,
        unless the model can only decide.""",
    )
    n_score_bins: int = setting(
        4,
        [AT_LEAST_ONE],
        "Number of quantile bins of the score.",
    )
    # By definition, people of equal scores are compared, whatever their other columns.
    adjust_for: str | Columns | None = setting(
        None,
        "no_validation",
        """Columns that are held equal beside the score, and that the witness may use. None:
        none.""",
        kind='"others", sequence of column names, or None',
    )

    null = "calibration"
    card = Card(
        finds="subgroup",
        where="model or data",
        access="probabilities",
        statistic="covariance of a learned witness with errors in bins of the score",
        output="test in each bin on rows not seen, and the witness in words",
        published="algorithm and guarantees",
        reference="Hébert-Johnson, Kim, Reingold and Rothblum 2018",
        summary="scores at which outcomes depend on protected columns",
        needs="probabilities and labels",
        claims="At equal scores, outcomes depend on protected columns.",
        does_not_say="That the score is right for anyone.",
        **OF_WITNESSES,
    )
    _no_numbers = "errors"
    _measure = "score minus label"
    rule_fields = ("significance", "relevant_gap", "relevant_size")

    def _people(self, task):
        return errors_at_scores(task)
