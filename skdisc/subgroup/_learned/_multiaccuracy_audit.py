"""MultiaccuracyAudit: a learned witness of errors that depend on protected columns."""

from sklearn.utils._param_validation import StrOptions

from skdisc._task._card import Card
from skdisc._task._large_tables import rows_of_wide
from skdisc._utils._settings import setting
from skdisc._utils._types import Columns
from skdisc.subgroup._learned._learned_auditor import OF_WITNESSES, LearnedAuditor
from skdisc.subgroup._learned._outcome_of import errors_or_decisions


class MultiaccuracyAudit(LearnedAuditor):
    r"""Learn where a score errs, or decisions differ, by protected group (Kim, Ghorbani, Zou).

    A model is multiaccurate if its errors :math:`r = p(x) - y` cannot be predicted. A regression,
    the *witness* :math:`c(x, a)`, learns to predict them from half of the rows, and is tested on
    the other half: whatever it is, the p-value of

    .. math:: \hat E[\tilde c(x, a)\,(r - \hat m(x))], \quad
              \tilde c(x, a) = c(x, a) - \sum_{a'} \hat P(a' \mid x)\, c(x, a')

    is honest. What the witness knows of the legitimate columns x alone cancels, so the null
    hypothesis is about the protected columns a: given x, errors do not depend on them. The witness
    is then put into words: the rules that keep most of it.

    {parameters}

    Raises
    ------
    ValueError
        If `protected` is not given, if errors are asked for without a model and labels, or if the
        witness cannot learn from numbers.

    See Also
    --------
    DisparityPursuit : Tests all groups of few conditions; better where the cause is one.
    MulticalibrationAudit : Errors at equal scores.
    GerrymanderingAudit : Groups defined by protected columns alone.

    Notes
    -----
    Centering and the product with a residual follow the projected covariance measure (Lundborg,
    Kim, Shah and Samworth 2024). The sum over the values of a is exact, so an outcome that depends
    on x in ways that no learner has found does not raise a false alarm unless P(a | x) is missed in
    the same way. Rows are split once: results vary with `random_state`.

    A negative effect on errors says that the scores of a group are too low.

    References
    ----------
    M. P. Kim, A. Ghorbani, J. Zou: Multiaccuracy: black-box post-processing for fairness in
    classification. AIES 2019. https://doi.org/10.1145/3306618.3314287

    A. R. Lundborg, I. Kim, R. D. Shah, R. J. Samworth: The projected covariance measure for
    assumption-lean variable significance testing. Annals of Statistics 52, 2024.
    https://doi.org/10.1214/24-AOS2447

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 4000), "age": rng.integers(20, 60, 4000)})
    >>> p = 0.5 - 0.3 * ((X["sex"] == "f") & (X["age"] > 50))
    >>> audit = MultiaccuracyAudit(protected="sex", random_state=0)
    >>> audit.fit(X, (rng.random(4000) < p).astype(int)).result_.verdict
    'disparity found'
    """

    residual: str = setting(
        "auto",
        [StrOptions({"auto", "error", "outcome"})],
        """Errors, what the model says minus labels; or what it says, or labels, themselves.
        "auto": errors where a model and labels are given.""",
    )
    output: str = setting(
        "auto",
        [StrOptions({"auto", "probability", "decision"})],
        """What the model says. "auto": probabilities, unless it can only decide.""",
    )
    adjust_for: str | Columns | None = setting(
        "others",
        "no_validation",
        """The legitimate columns x. "others": all that are not protected. None: none, so that
        protected groups and their intersections are compared as they are.""",
        kind='"others", sequence of column names, or None',
    )
    # A witness of the legitimate columns alone finds miscalibration that has nothing to do with
    # protected columns, so only the centered witness speaks of a disparity.
    versus: str = setting(
        "context",
        [StrOptions({"context", "everyone"})],
        """"everyone": the witness as published, not centered, may learn any pattern of errors.
        It tells whether the score is multiaccurate, which says nothing about protected columns.""",
    )

    _most = 50_000  # 200,000 rows of 30 columns take minutes
    limit_fields = LearnedAuditor.limit_fields | {"rows": rows_of_wide(_most)}
    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or probabilities",
        statistic="covariance of a learned witness with residuals, centered by protected group",
        output="test on rows not seen, and the witness in words",
        published="finds and repairs groups with large errors in face recognition",
        reference="Kim, Ghorbani and Zou 2019",
        summary="errors of a score that depend on protected columns, by any learner",
        needs="probabilities and labels; or labels",
        claims="Given the legitimate columns, errors (or outcomes) depend on protected columns: a "
        "learned function predicts them on rows that it has not seen.",
        does_not_say="Where: the rules given are an approximation, with the share of the signal "
        "that they keep.",
        other_null="marginal with `adjust_for=None`",
        **OF_WITNESSES,
    )
    _no_numbers = "errors"

    @property
    def null(self) -> str:
        """The null hypothesis: "conditional", "marginal" without columns, or "everyone"."""
        if self.versus == "everyone":
            return "everyone"
        return "marginal" if self.adjust_for is None else "conditional"

    def _people(self, task):
        return errors_or_decisions(task, self.residual)
