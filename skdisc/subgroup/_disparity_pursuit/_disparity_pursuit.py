"""DisparityPursuit: the few groups that account for all others."""

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from itertools import compress

import pandas as pd
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc._results._audit_result import AuditResult
from skdisc._results._judgment import confirmed_p
from skdisc._task._card import Card
from skdisc._task._clustered import ClusteredMixin
from skdisc._task._large_tables import rows_of_wide
from skdisc._task._shared_settings import CONFIRM
from skdisc._utils import _validation as check
from skdisc._utils._settings import AT_LEAST_ONE, COUNT, setting
from skdisc._utils._types import Estimator, FrameLike
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._disparity_pursuit._run import (
    candidates_on,
    explained_by,
    measured,
    measured_causes,
    rows_under_audit,
    searched,
)
from skdisc.subgroup._estimation._confirmation import with_effects_at_fit
from skdisc.subgroup._estimation._task_rows import NumbersMixin


class DisparityPursuit(NumbersMixin, ClusteredMixin, SubgroupDetector):
    r"""Find the few groups whose treatment accounts for all disparities.

    A group has a *protected part* P (conditions on protected columns) and a *context* C (conditions
    on other columns). If its people are treated differently, hundreds of groups that overlap with
    it differ, too: its shadows. The pursuit adds one group at a time, the one with the strongest
    evidence given the groups already chosen, drops or exchanges what later groups explain,
    and divides a group whose two causes explain more, until nothing is left that chance does not
    give.

    The evidence comes from orthogonal scores: with :math:`e(x) = E[y \mid x]` and
    :math:`\pi(x) = P(P \mid x)` learned from the legitimate columns x,

    .. math:: \sum_{i \in C} (1_P - \pi(x_i)) (y_i - e(x_i))

    has mean 0 if, within C, the outcome does not depend on P at given x; errors in e and in
    :math:`\pi` enter it only by their product.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        Findings are the causes, in the order of their evidence; effects are differences between the
        protected part and the others in the context, at given legitimate columns. Tables:
        ``indistinguishable`` (groups that the data cannot tell from a cause), ``shadows`` (groups
        that differ on their own, but not given the causes), ``gaps`` (what the gap of each
        protected group consists of: the share of each column, of several together if one is nearly
        a function of the others, and what remains at equal ones),
        ``comparable`` (the gap of each protected group at equal legitimate columns),
        ``associations`` (Cramér's V of protected groups and legitimate columns), ``left`` (bounds
        on what remains), ``path`` (the search; a group enters if its ``evidence``, the log of its
        weight divided by its p-value, exceeds ``critical``, the most that chance gives to any
        group).
    {inherited}

    Raises
    ------
    ValueError
        If no protected column is given, if `adjust_for` names one, or if the rate is unknown, or
        needs labels or decisions that are not available.

    See Also
    --------
    DivExplorer : All groups that differ within their context, shadows included.

    Notes
    -----
    Effects of several causes are estimated together by least squares of the residuals (Robinson
    1988) with variances between rows, or between clusters, of any size: each is what a group adds
    to the others. ``alone`` is the whole difference of a group, without adjusting for others.
    Effects on outcomes that are 0 or 1 are proportional to e (1 - e), to 1, to e or to 1 - e (equal
    odds ratios, differences, or ratios), whichever fits best; on other outcomes, to 1. ``scale``
    says which. ``effect`` is a mean that weighs people by overlap; ``change`` is the mean
    difference for the members themselves. The p-value of a finding is corrected for all candidates.
    Its interval has the level that decided about it, so that it excludes no effect: the p-value up
    to which a candidate with its weight is found, or its share of the false-coverage-rate level
    where that is larger. ``level`` has one minus that. Where test and interval would disagree about
    no effect, the end follows the test.

    References
    ----------
    P. M. Robinson: Root-N-consistent semiparametric regression. Econometrica 56, 1988.
    https://doi.org/10.2307/1912705

    R. D. Shah, J. Peters: The hardness of conditional independence testing and the generalised
    covariance measure. Annals of Statistics 48, 2020. https://doi.org/10.1214/19-AOS1857

    V. Chernozhukov, D. Chetverikov, K. Kato: Gaussian approximations and multiplier bootstrap for
    maxima of sums of high-dimensional random vectors. Annals of Statistics 41, 2013.
    https://doi.org/10.1214/13-AOS1161

    Examples
    --------
    >>> from skdisc.datasets import make_discrimination
    >>> size = {"n_pairs": 1, "n_attributes": 4, "null_fraction": 0}
    >>> made = make_discrimination(**size, bias=3.0, random_state=0)
    >>> detector = DisparityPursuit(protected=made.protected, random_state=0)
    >>> result = detector.fit(made.data, made.target).result_
    >>> print(*(f"{f.subject}: {f.effect:.2f}" for f in result), sep="\n")
    Attr1_T = 3 and Attr3_X = 2: 0.26
    >>> print(made.truth.groups["subgroup_a"][0])
    Attr1_T = 3 and Attr3_X = 2
    """

    metric: str | Callable = setting(
        "selection_rate",
        [str, callable],
        """The outcome: a rate of `DivExplorer`, such as "selection_rate" or
        "false_negative_rate", or a callable that takes labels and decisions (None where they
        are not available) and returns one number per row, NaN for rows that do not enter.""",
    )
    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability", "value"})],
        """Whether decisions are audited, probabilities of the model, or the numbers in y
        ("value", without a model). `metric` applies to decisions.""",
    )
    adjust_for: str | Sequence[Hashable] | None = setting(
        "others",
        [str, "array-like", None],
        """The legitimate columns x; contexts use these only. "others": all that are not
        protected. Effects are then direct ones: what runs through a column that is adjusted for
        is not counted, so leave out columns that decisions should not depend on. None: nothing
        is adjusted for, and members are compared with the others in the same context.""",
        kind='"others", sequence of column names, or None',
    )
    nuisance: str | Estimator = setting(
        "boosting",
        [StrOptions({"additive", "boosting"}), HasMethods(["fit", "predict"])],
        """How e and π are learned: by main effects of the legitimate columns, by the cells of
        those crossings of up to three columns that surely move an effect, and, out of fold, by
        boosted trees, or by clones of an estimator in their place. "additive": without either,
        which is faster. In each case, what the cells of crossings would still add widens
        intervals.""",
        kind='{"boosting", "additive"} or estimator',
    )
    borrow: bool = setting(
        True,
        ["boolean"],
        """Whether candidates are weighted: by their information, so that the level is spread
        over people instead of groups; less for each protected column that they name; and by how
        their whole context fares, if main effects are adjusted for. This raises the power for
        groups that are not small, name one protected column, or lie in a context that shows the
        effect, too, and leaves the level.""",
    )
    min_support: float = setting(
        0.01,
        text="""Smallest share of the rows that a group, and the rest of its context, must
        cover.""",
    )
    k: int = setting(
        50,
        [AT_LEAST_ONE],
        "Largest number of causes.",
    )
    n_resamples: int = setting(
        199,
        [COUNT],
        """Number of draws of the Gaussian multiplier bootstrap of the largest evidence; 0:
        Bonferroni.""",
    )
    confirm: float | None = CONFIRM
    weights: str = setting(
        "probability",
        [StrOptions({"probability", "frequency"})],
        """What `sample_weight` means: how many people a row stands for, on which variances
        depend, but not on the unit; or how often it is repeated, a whole number.""",
    )

    _most = 50_000
    limit_fields = SubgroupDetector.limit_fields | {
        "tests": "candidate groups, shortest first",
        "rows": rows_of_wide(_most),
    }
    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="orthogonal score of a protected part in a context, beside the other causes",
        output="the causes with effect, interval, corrected p-value, shadows and parts of each gap",
        published="not published elsewhere",
        reference="this package; scores as in Shah and Peters, Annals of Statistics 2020",
        summary="the few groups that account for all disparities, given the legitimate columns",
        needs="labels, decisions, probabilities or numbers",
        claims="People of a protected group are treated differently from others of the same "
        "context with the same legitimate columns; the list is a smallest one that accounts for "
        "all that differ.",
        does_not_say="That another group is not a cause, if it is listed as indistinguishable; or "
        "that the legitimate columns are legitimate.",
        family="all groups in contexts of `relevant_size` or more, at equal legitimate columns",
        bounded="gap at equal columns",
        decides="gap",
    )
    null = "conditional"
    must_include = "protected"
    own_correction = "holm"  # of lists of single groups
    _expects = _takes_trees = True
    rule_fields = ("significance", "min_effect", "relevant_gap", "relevant_ratio", "relevant_size")

    def explain_by(self, result: AuditResult, X: FrameLike) -> pd.DataFrame:
        """Return how much of another result's effects the causes found here account for.

        Parameters
        ----------
        result : AuditResult
            With findings about groups.
        X : DataFrame or array-like of shape (n_samples, n_features)
            The people in whom memberships are counted.

        Returns
        -------
        DataFrame
            One row per finding of `result`: ``group``, ``measure``, ``effect``, ``explained`` (what
            the causes add to the outcome of its members, less what they add to the outcome of the
            people it is compared with; NaN if the effect is not a difference of the outcome audited
            here, such as a ratio, or if it is not known here with whom they are compared), ``left``
            (the difference), and ``cause``, the cause that adds most ("" if none adds anything).
            Each effect is taken as its mean, also where it is larger for some members than for
            others, as on scales other than "difference".

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        ValueError
            If X does not have the columns of fit, or `result` is not an AuditResult about groups.
        """
        check_is_fitted(self, "result_")
        frame, _ = check.check_frame(self, X, reset=False)
        return explained_by(self.result_, result, frame, self.protected_, self._memory)

    def _legitimate(self, names=None):
        """Return which of some columns, or of all, are adjusted for; None for none."""
        if self.adjust_for is None:
            return None
        if not isinstance(self.adjust_for, str) and not len(self.adjust_for):
            raise ValueError(
                "adjust_for=[] names no column. To adjust for none, set adjust_for=None; for all "
                "that are not protected, adjust_for='others'."
            )
        return self._adjusted_for(list(self.space_.names if names is None else names))

    def _features(self, names):
        """Return the columns that may define groups, and the protected ones among them."""
        if not self.protected_:
            raise ValueError("DisparityPursuit needs protected=[...]: the columns it is about.")
        chosen, protected = super()._features(names)
        # In a context given by another column people would be compared at equal values of it, as if
        # it were adjusted for.
        legitimate = self._legitimate(names)
        if legitimate is not None:
            chosen = [c for c in chosen if c in protected or c in legitimate]
        return chosen, protected

    def _width(self, names):
        return len(self._legitimate(names) or self._features(names)[0])

    @property
    def _counts_rows(self):
        return isinstance(self.nuisance, str)

    def _on_decisions(self):
        return copy(self) if self.metric == "selection_rate" else None

    def _rows(self, task):
        return rows_under_audit(self, task)

    def _search(self, task, rows):
        """Search for the causes, and describe them."""
        return searched(self, task, rows)

    def _measure_held_out(self, task, findings, rows):
        """Return a table of the causes measured together on the rows held out."""
        table = measured(self, task, rows, findings)[1]
        # Family-wise, as the p-values of the search are.
        return with_effects_at_fit(table, findings, "holm")

    def _reasons(self, discovery):
        return []  # its bounds are about effects given the legitimate columns

    def _candidates(self, task, discovery, rows, items):
        sure = (confirmed_p(discovery.findings.table) <= self.significance).to_numpy()
        groups = discovery.findings.subgroups
        causes = list(compress(groups, sure))
        return candidates_on(self, task, rows, items, causes)

    def _remeasure(self, task):
        """Measure the causes of fit on other rows, together."""
        return measured_causes(self, task, self._rows(task))
