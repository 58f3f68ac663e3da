"""RiskAdjustedRegression: decisions about people of equal risk, by group."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import HasMethods, StrOptions

from skdisc._space._design_matrix import DesignMatrix
from skdisc._stats._bisection import bisected
from skdisc._task._card import OF_GROUPS, Card
from skdisc._task._cross_fitting import CrossFitter, folds_of
from skdisc._task._large_tables import rows_of_wide
from skdisc._task._limits import LIMITS, Limits
from skdisc._utils._settings import AT_LEAST_TWO, setting
from skdisc._utils._types import Estimator, Labels
from skdisc.group._outcome_tests._gap_at_equal_risk import RiskRegression, gap_at_equal_risk
from skdisc.group._outcome_tests._omitted import risk_with_omitted
from skdisc.group._outcome_tests._selected import DECIDES, SELECTED, OutcomeDetector
from skdisc.group._pairwise._comparison_report import TOO_FEW, WITHOUT_DECISIONS, PairComparison

_LEAST = 5  # selected people of each side; successes, and failures, of both
_FAR = 0.05  # largest share of people whose risk is beyond those of the selected people
_PREVALENCES, _ODDS_RATIOS = (0.1, 0.5, 0.9), (1.5, 2.0, 3.0)
_STRONGEST, _HALVINGS = 10.0, 12  # odds ratio, which is found by bisection
_N_BINS = 10


class RiskAdjustedRegression(OutcomeDetector):
    r"""Compare decisions about people of equal risk (Jung, Corbett-Davies, Gaebler, Shroff, Goel).

    The risk of each person, :math:`r(x, g) = P(y = 1 \mid x, g)`, is learned out of fold from the
    people whose outcomes are known, as a rule those selected. Decisions are then regressed on the
    group and a continuous curve of the risk,

    .. math:: E[a \mid g, r] = \theta g + s(\operatorname{logit} r).

    The null hypothesis is :math:`\theta = 0`: at equal risk, the group makes no difference. What
    does not predict the outcome is no excuse for a decision, and what does is no omitted variable.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        One finding per group: its gap at equal risk (`effect`), with ``gap``, the whole gap, and
        ``vanishes_at``, the odds ratio with which an omitted column would have to move both
        selection and outcome of one side for the gap to vanish (infinite if above 10; NaN if all
        outcomes are known). Tables: ``risk`` (people by tenth of the risk: decisions of both
        sides, and known outcomes), ``sensitivity`` (the gap under omitted columns).
    {inherited}

    Raises
    ------
    ValueError
        If `protected` is not given, if `adjust_for` names a protected column, or if outcomes are
        missing.

    See Also
    --------
    OutcomeTest : Success rates of those selected, without a model of risk.
    skdisc.subgroup.DisparityPursuit : Adjusts for columns themselves, not for the risk.

    Notes
    -----
    Errors come from a jackknife over 20 parts of the people that learns the risk again without
    each: with the risk taken as known, intervals of .95 cover .26 to .75. They do not count that a
    learner may miss the risk: main effects where it is not linear, or trees that learn
    it with much noise, leave a gap that is none. Compare the columns ``risk`` and ``success_rate``
    of the table ``risk``, and more than one `learner`.

    Risk is the risk of the people selected. If the decision makers saw something that the data
    lack, others of equal columns have another risk, and the gap is wrong: on COMPAS, where the
    outcomes of all are known, by two thirds. Table ``sensitivity`` and ``vanishes_at`` say how
    strong such a column would have to be (Rosenbaum and Rubin's binary covariate).

    References
    ----------
    J. Jung, S. Corbett-Davies, J. Gaebler, R. Shroff, S. Goel: Mitigating included- and
    omitted-variable bias in estimates of disparate impact. 2018. https://arxiv.org/abs/1809.05651

    P. R. Rosenbaum, D. B. Rubin: Assessing sensitivity to an unobserved binary covariate in an
    observational study with binary outcome. JRSS B 45, 1983.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdisc import BlackBox
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"race": rng.choice(["a", "b"], 2000), "score": rng.normal(size=2000)})
    >>> outcome = rng.random(2000) < 1 / (1 + np.exp(-X["score"]))
    >>> approved = rng.random(2000) < 0.3 + 0.3 * (X["score"] > 0) - 0.2 * (X["race"] == "b")
    >>> detector = RiskAdjustedRegression(protected="race", reference="a", random_state=0)
    >>> detector.fit(X, outcome, BlackBox(decisions=approved)).result_.verdict
    'disparity found'
    """

    estimator: Estimator | None = DECIDES
    adjust_for: str | Sequence[Hashable] = setting(
        "others",
        [str, "array-like"],
        """The columns that risk is learned from: what was known at the decision. "others": all
        that are not protected.""",
        kind='"others", or sequence of column names',
    )
    outcomes: str = setting(
        "selected",
        [StrOptions({"selected", "all"})],
        """Whose outcomes are known, so that risk is learned from them. With "selected", the
        outcomes of others are not read.""",
    )
    use_group: bool = setting(
        True,
        ["boolean"],
        """Whether risk is learned from the group, too. If not, people of one x have one risk
        even where the outcomes of the groups differ.""",
    )
    learner: str | Estimator = setting(
        "auto",
        [StrOptions({"auto", "linear", "boosting"}), HasMethods(["fit", "predict"])],
        """Learns the risk: a logistic regression of main effects, boosted trees, or any
        classifier or regressor, which gets the raw columns as a DataFrame. "auto" takes trees
        where they predict outcomes better by more than a standard error.""",
        kind='{"auto", "linear", "boosting"} or estimator',
    )
    n_folds: int = setting(
        5,
        [AT_LEAST_TWO],
        "Number of folds.",
    )
    pos_label: Labels | None = SELECTED
    limits: Limits | None = LIMITS

    _most = 20_000
    limit_fields = {"rows": rows_of_wide(_most)}
    card = Card(
        finds="group",
        where="model or data",
        access="labels and predict",
        statistic="gap of decisions at equal risk",
        output="the gap at equal risk, by tenth of the risk, and under omitted columns",
        published="the regression of the paper; errors that count that risk is learned",
        reference="Jung, Corbett-Davies, Gaebler, Shroff and Goel 2018",
        summary="gaps in decisions about people of equal risk",
        needs="outcomes, and decisions or a model",
        claims="People of a group are selected at another rate than people of equal risk of its "
        "reference, the risk being learned from the columns.",
        does_not_say="That the learned risk is the one that those who decided saw: columns left "
        "out may account for the gap.",
        bounded="gap of decisions at equal risk",
        **OF_GROUPS,
    )
    _measure = "gap at equal risk"
    _test = "jackknife"

    def _relevant_gap_of(self, task, y, labels):
        return self._gap_that_matters(y)  # of decisions, which are compared here

    def _compare(self, task, people, rng):
        if people.labels is None:
            return WITHOUT_DECISIONS
        is_known, success = people.y == 1, people.labels
        if self.outcomes == "all":
            is_known = np.ones(len(people.y), bool)
        if why := _too_few(people.inside, is_known, success):
            return why
        fitter, learner = self._fitter(task, people, is_known, rng), self.learner
        if isinstance(learner, str) and learner == "auto":
            learner = fitter.choose(success, is_known)[1]

        # Called again without each part of the jackknife: with the risk taken as known, intervals
        # of .95 cover .26 to .75.
        def learned(rows):
            return fitter.on(rows).expect(success[rows], learner, is_known[rows], "learner")

        regression = RiskRegression(people.y, success, people.inside, learned)
        effect, risk = regression.estimate(rng)
        if not np.isfinite(effect.value):
            return "risk determines the group"
        columns = {"gap": people.gap, "vanishes_at": np.nan}
        tables = {"risk": _by_risk(people, is_known, success, risk)}
        if self.outcomes == "selected":  # else no one's risk is taken from others
            selection = fitter.expect(people.y, learner, name="learner")
            omitted = _Omitted(people.y, people.inside, risk, selection)
            columns["vanishes_at"] = omitted.vanishes_at(effect.value)
            tables["sensitivity"] = omitted.table()
        return PairComparison(effect, columns, tables, _notes(learner), _doubts(risk, is_known))

    def _fitter(self, task, people, is_known, rng):
        """Return what learns risks: from the columns, and from the group."""
        columns = self._columns(list(people.X))
        X, numbers = people.X[columns], DesignMatrix.of(people.X, task.space, columns).values
        if self.use_group:
            column = people.inside.astype(float)
            X = X.assign(**{_free_name(X): column})
            numbers = np.column_stack([numbers, column])
        # Each fold has people of both sides, with and without known outcomes.
        fold = folds_of(2 * people.inside + is_known, self.n_folds, rng)
        return CrossFitter(X, numbers, fold)


def _free_name(X):
    """Return a name for the group's column that X does not have."""
    name = "group"
    while name in X.columns:
        name += "_"
    return name


def _too_few(inside, is_known, success):
    """Return why risk cannot be learned, if so."""
    if min(np.sum(is_known & inside), np.sum(is_known & ~inside)) < _LEAST:
        return f"{TOO_FEW} selected: {_LEAST} are needed on each side"
    if min(np.sum(success[is_known] == 1), np.sum(success[is_known] == 0)) < _LEAST:
        return "too few outcomes of one kind among those known"
    return None


def _notes(learner):
    """Return how risk was learned."""
    name = learner if isinstance(learner, str) else type(learner).__name__
    return [f"Risk was learned by: {name}."]


def _doubts(risk, is_known):
    """Return why risks may be wrong."""
    low, high = risk[is_known].min(), risk[is_known].max()
    share = np.mean((risk < low) | (risk > high))
    if share > _FAR:
        return [f"{100 * share:.0f} % of the people have a risk beyond those with known outcomes"]
    return []


def _by_risk(people, is_known, success, risk):
    """Return decisions and outcomes by tenth of the risk and side."""
    edges = np.unique(np.quantile(risk, np.linspace(0, 1, _N_BINS + 1)[1:-1]))
    tenth = np.searchsorted(edges, risk, side="right")
    table = pd.DataFrame(
        {
            "tenth": tenth + 1,
            "side": np.where(people.inside, "group", "reference"),
            "risk": risk,
            "decision_rate": people.y,
            "success_rate": np.where(is_known, success, np.nan),
        }
    )
    by = table.groupby(["tenth", "side"])
    return by.mean().assign(n=by.size(), n_known=by["success_rate"].count()).reset_index()


class _Omitted:
    """The gap at equal risk, had an omitted column moved the selection and outcomes of one side."""

    def __init__(self, decision, inside, risk, selection):
        self.decision, self.inside, self.risk = decision, inside, risk
        self.selection = selection

    def gap(self, members, prevalence, on_selection, on_outcome):
        """Return the gap; effects are odds ratios, which hold for `members`, a mask of a side."""
        risk = self.risk.copy()
        risk[members] = risk_with_omitted(
            risk[members],
            self.selection[members],
            prevalence,
            on_selection=np.log(on_selection),
            on_outcome=np.log(on_outcome),
        )
        return gap_at_equal_risk(self.decision, self.inside, risk)

    def table(self):
        """Return the gap for omitted columns of several kinds."""
        rows = [
            (side, prevalence, ratio, effect, self.gap(members, prevalence, ratio, effect))
            for side, members in (("group", self.inside), ("reference", ~self.inside))
            for prevalence in _PREVALENCES
            for ratio in _ODDS_RATIOS
            for effect in (ratio, 1 / ratio)
        ]
        names = ["side", "prevalence", "odds_ratio_selection", "odds_ratio_outcome", "gap"]
        return pd.DataFrame(rows, columns=names)

    def vanishes_at(self, gap):
        """Return the smallest odds ratio, of one of the sides, with which the gap changes sign.

        The column holds for half of the side, and moves selection and outcome alike, or contrary.
        """
        return min(
            self._root(np.sign(gap), members, against)
            for members in (self.inside, ~self.inside)
            for against in (1, -1)
        )

    def _root(self, sign, members, against):
        def left(log_ratio):
            return sign * self.gap(members, 0.5, np.exp(log_ratio), np.exp(against * log_ratio))

        high = np.log(_STRONGEST)
        if left(high) > 0:
            return np.inf
        return float(np.exp(bisected(lambda x: left(x) > 0, 0.0, high, _HALVINGS)[1]))
