"""Audit: one question, one answer, from all detectors that can say something about it."""

import time
from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc._counts._counts import Counts
from skdisc._space._bins import Bins
from skdisc._task._limits import LimitedMixin, Limits
from skdisc._utils._hashing import numbered_once
from skdisc._utils._published_names import SaysWhatIsMeant
from skdisc._utils._settings import AT_LEAST_ONE, AT_LEAST_TWO, INNER_SHARE
from skdisc._utils._types import (
    ArrayLike,
    Columns,
    Estimator,
    FilePath,
    FrameLike,
    Labels,
    Model,
    RandomState,
)
from skdisc._verdicts._rule import Rule, RuledMixin
from skdisc.auditing._audit_report import AuditReport
from skdisc.auditing._audited_rows import AuditedRows
from skdisc.auditing._beside._methods import BesideMixin
from skdisc.auditing._disclosure import INTERNAL, PUBLIC, check_public, public_rows
from skdisc.auditing._document import make_report
from skdisc.auditing._internal import with_joined_values
from skdisc.auditing._pay._templates import OF_RATES, TEMPLATES
from skdisc.auditing._plan import Plan, make_plan
from skdisc.auditing._run import Run
from skdisc.report._audit_page import meta_fields


class Audit(
    SaysWhatIsMeant, RuledMixin, LimitedMixin, BesideMixin, MetaEstimatorMixin, BaseEstimator
):
    """Audit a table of decisions, or a model, for discrimination: all methods, one answer.

    The audit asks, for each protected column, the questions that what was given can answer: do the
    rates of its groups differ (marginal); do they within the same context (contextual); and at
    equal legitimate columns (conditional); with labels and decisions also whether equal decisions
    mean equal outcomes (calibration); and of a model whether the decision about a person depends on
    the column (individual). Each question is answered by one test that is fixed in advance, and
    the answers are corrected for their number (Holm 1979). Other detectors corroborate.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model. With neither, the labels y are audited.
    protected : column name or position, or sequence of them
        The protected columns. Required.
    detectors : {"auto", "all"} or sequence of str, default="auto"
        "auto": GroupDisparity, DivExplorer, DisparityPursuit and, with a model, Themis. "all":
        every detector that can run. Of those named, the first for each null hypothesis leads.
    output : {"decision", "value", "probability"}, default="decision"
        What is compared: decisions; numbers ("value"), such as pay in y, or what a fitted model
        predicts; or a model's probabilities of the favorable outcome. Means of groups are then
        compared in place of rates. y with more than 20 different numbers, without a `pos_label`,
        is compared as "value", and the report says so. Of numbers more is better, unless
        ``pos_label="low"``. The gap that matters is 5 % of the mean, unless the rule has another.
    outcome_scale : {"difference", "log"}, default="difference"
        How numbers are compared: by differences of means, or of means of logarithms, which are
        ratios of geometric means.
    metric : str or sequence of str, default="selection_rate"
        The outcome of subgroups: a rate of `DivExplorer`, several, or "all"; a detector of one
        rate takes the first.
    adjust_for : "others" or sequence of column names, default="others"
        The legitimate columns of conditional questions. "others": all but the protected column
        that is asked about. A list may name protected columns, too: each is then legitimate in
        questions about the others. Those that a list does not name are not adjusted for.
    counterfactuals : object, default=None
        A causal model or counterfactual rows, for the detectors that need them.
    n_bins : int, dict or Bins, default=4
        Number of quantile bins of a numeric column; a dict has by column a number, or the edges
        of the bins: ``{"age": [25, 60]}``. An edge belongs to the bin below. `Bins` has more.
    max_predicates : int, default=3
        Largest number of columns in the definition of a group.
    confirm : float or None, default=None
        Share of the rows held out: groups are searched on the others and tested on these.
    rule : Rule or None, default=None
        When a question is answered. None: ``Rule()``. Its `significance` is the chance that the
        audit says "disparity found" where none of its null hypotheses is false. Each detector gets
        the fields that it uses.
    limits : Limits or None, default=None
        Where the audit and its detectors end. `seconds` are for all that `fit` does: reading,
        training, detectors and models trained again; what was not asked in this time stands in the
        report with the reason. Each detector gets the other fields that it uses. Tables outside
        memory are sampled to `rows`.
    settings : dict or None, default=None
        Further parameters of detectors: ``{"redundancy": 0.05}`` for all that have them, and
        ``{"KOSEI": {"n_seeds": 50}}`` for one. There, ``"rule"`` and ``"limits"`` are dicts of the
        fields in which those of this detector differ:
        ``{"DivExplorer": {"rule": {"correction": "holm"}}}``.
    min_cell : int, default=10
        Groups of fewer people are counted, but not described.
    weights : {"probability", "frequency"}, default="probability"
        What `sample_weight` means.
    missing : {"category", "drop", "raise"}, default="category"
        How missing protected values are treated.
    disclosure : {"internal", "public"}, default="internal"
        For whom the report is. "internal": for those who have the table. "public": it may leave the
        house. Groups are then chosen by columns alone, before outcomes are read, so that nothing
        follows about fewer than `min_cell` people; rates of groups and of groups within contexts
        are compared, and nothing else is asked. X must have all columns that describe people, also
        those that the report is not about. See doc/privacy.md.
    template : {"general", "four_fifths", "ll144", "pay_transparency", "uk_gender_pay_gap"}, \
            default="general"
        What the page of the report shows beside the answers. "pay_transparency": what Article 9(1)
        of Directive (EU) 2023/970 lists; "uk_gender_pay_gap": what the United Kingdom's employers
        publish. Both compare numbers in y, total pay, of the first protected column that has women.
    pay : dict or None, default=None
        For templates of pay, columns of X: "category" (of workers), "base" and "variable" (parts of
        total pay, which is their sum where y is left out), "hours" (pay is compared per hour); and
        "women", the value of the column of sex, where it is not understood. "logib": Logib's model
        stands beside, a dict of its columns "training", "experience", "service" (years), "level"
        and "position"; those that are left out are named so.
    meta : dict or None, default=None
        What a reader must know and data do not tell: "system", "period", "population", "auditor",
        "independence". With the template "four_fifths" also "position" and "procedure"; with
        "ll144" also "audit_date", "data_source", "unknown_category" and "distribution_date". What
        is left out is printed as "not stated".
    cache : str or None, default=None
        Folder that keeps the result of each detector, so that an audit that was interrupted goes on
        where it stopped, and the counts of files. Results hold groups and made-up inputs, and of
        detectors that judge single people also their rows.
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default 1 or True; other labels need one. "high" and
        "low" are the greatest and least of numeric labels.
    random_state : int, RandomState instance or None, default=0
        Seed of all detectors.
    n_jobs : int or None, default=None
        Number of threads that share large queries to the model, models that are trained again, and
        searches for neighbors.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    report_ : AuditReport
        The answers.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Names of the columns; only if all are text.

    Raises
    ------
    ValueError
        If a setting, a column or a label is not allowed; the message names it.

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(2000, random_state=0, return_X_y=True)
    >>> report = Audit(protected="gender").fit(X, y).report_
    >>> report.to_frame("verdicts")[["null", "verdict"]]
              null                verdict
    0     marginal        disparity found
    1   contextual        disparity found
    2  conditional  insufficient evidence
    """

    _more_columns = None  # that describe people, and that the command leaves out of X
    _started = None  # when the command began whose time the budget covers; None: with `fit`
    __metadata_request__fit = {"model": True, "sample_weight": True, "groups": True}
    rule_fields = tuple(Rule().get_params())
    limit_fields = dict.fromkeys(Limits().get_params(), "")
    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "protected": ["array-like", str, Integral, None],
        "detectors": ["array-like", str],
        "output": [StrOptions({"decision", "value", "probability"})],
        "outcome_scale": [StrOptions({"difference", "log"})],
        "metric": [str, "array-like"],
        "adjust_for": ["array-like", str],
        "counterfactuals": "no_validation",
        "n_bins": [AT_LEAST_TWO, dict, Bins],
        "max_predicates": [AT_LEAST_ONE],
        "confirm": [INNER_SHARE, None],
        "rule": [Rule, None],
        "limits": [Limits, None],
        "settings": [dict, None],
        "min_cell": [AT_LEAST_ONE],
        "weights": [StrOptions({"probability", "frequency"})],
        "missing": [StrOptions({"category", "drop", "raise"})],
        "disclosure": [StrOptions({INTERNAL, PUBLIC})],
        "template": [StrOptions({"general", *OF_RATES, *TEMPLATES})],
        "pay": [dict, None],
        "meta": [dict, None],
        "cache": [str, None],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        detectors: str | Sequence[str] = "auto",
        output: str = "decision",
        outcome_scale: str = "difference",
        metric: str | Sequence[str] = "selection_rate",
        adjust_for: str | Sequence[Hashable] = "others",
        counterfactuals: Any = None,
        n_bins: int | dict | Bins = 4,
        max_predicates: int = 3,
        confirm: float | None = None,
        rule: Rule | None = None,
        limits: Limits | None = None,
        settings: dict | None = None,
        min_cell: int = 10,
        weights: str = "probability",
        missing: str = "category",
        disclosure: str = INTERNAL,
        template: str = "general",
        pay: dict | None = None,
        meta: dict | None = None,
        cache: str | None = None,
        pos_label: Labels | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.estimator = estimator
        self.protected = protected
        self.detectors = detectors
        self.output = output
        self.outcome_scale = outcome_scale
        self.metric = metric
        self.adjust_for = adjust_for
        self.counterfactuals = counterfactuals
        self.n_bins = n_bins
        self.max_predicates = max_predicates
        self.confirm = confirm
        self.rule = rule
        self.limits = limits
        self.settings = settings
        self.min_cell = min_cell
        self.weights = weights
        self.missing = missing
        self.disclosure = disclosure
        self.template = template
        self.pay = pay
        self.meta = meta
        self.cache = cache
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @numbered_once
    def fit(
        self,
        X: FrameLike | Counts | FilePath,
        y: ArrayLike | Hashable | None = None,
        model: Model | str | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Run the audit and keep its answers in ``report_``.

        An interruption (Ctrl-C) ends it with what was found so far.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), table or Counts
            The rows under audit, raw columns. A path, an Ibis table, a Dask or a lazy frame is
            counted part by part; detectors that need rows have a sample of 50,000, or of
            ``limits=Limits(rows=n)``.
        y : array-like of shape (n_samples,), or column name, optional
            Labels; of a table that is counted, their column. May be left out when `model` is
            fitted. `Counts` have their own.
        model : object, or column name, optional
            What is audited: a fitted estimator or pipeline, any object with ``predict``, a
            callable, or a `BlackBox`. An unfitted estimator is cloned and fitted. Of a table that
            is counted also the column of decisions already made.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts; rows of weight 0 are left out. A detector that takes no
            weights is left out, or refused if it is named; not those that find cases of single
            people.
        groups : array-like of shape (n_samples,), optional
            The cluster of each row. Detectors that take no clusters are left out in the same way.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a setting, a column or a label is not allowed; the message names it.
        TypeError
            If a column holds a type that cannot be audited.
        ModelError
            If the model raises an error, or does not return one outcome per row.
        """
        started = time.perf_counter() if self._started is None else self._started
        self._check_settings()
        if self.disclosure == PUBLIC:
            check_public(self, X, sample_weight, groups)
        audited = AuditedRows.read(self, X, y, model, sample_weight, groups)
        is_public_pay = audited.roll is not None and self.disclosure == PUBLIC
        if self.disclosure == PUBLIC and not is_public_pay:
            audited = public_rows(audited, self.min_cell, self._more_columns)
        elif self.disclosure != PUBLIC and self.counterfactuals is None:
            # Not with counterfactuals, which are about values as they are.
            audited = with_joined_values(audited, self)
        # Means of the pay of further groups would tell about few people.
        plan = Plan([], [], {}) if is_public_pay else make_plan(self, audited)
        is_model = audited.box is not None and audited.box.decisions is None
        self._box = audited.box if is_model else None
        run = Run(self, audited, plan, started).go()
        self.report_ = make_report(self, audited, plan, run)
        return self

    def audit(self, X: FrameLike | None = None, y: ArrayLike | None = None) -> AuditReport:
        """Return the report of `fit`, or of the same audit of new rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), optional
            Rows with the columns of fit. The model of `fit` is audited on them.
        y : array-like of shape (n_samples,), optional
            Their labels.

        Returns
        -------
        AuditReport

        Raises
        ------
        NotFittedError
            If the audit is not fitted.
        ValueError
            If given decisions were audited, which new rows do not have.
        """
        check_is_fitted(self, "report_")
        if X is None:
            return self.report_
        kind = self.report_.document["about"]["audited"]
        if kind == "decisions":
            raise ValueError(
                "Given decisions were audited, and new rows have none. Fit another Audit with the "
                "decisions about them."
            )
        audit = type(self)(**self.get_params(deep=False))
        if hasattr(self, "_plan"):
            audit._plan = self._plan
        outcome = self.report_.document["about"].get("outcome", {})
        audit.set_params(estimator=None, output=outcome.get("output", self.output))
        return audit.fit(X, y, self._box).report_

    def score(self, X: FrameLike, y: ArrayLike | None = None) -> float:
        """Return the largest gap that an audit of these rows is sure of, as a loss: 0 is best.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            Minus the largest absolute effect in the evidence table that holds after correction; 0
            if there is none.

        Raises
        ------
        NotFittedError
            If the audit is not fitted.
        """
        rows = self.audit(X, y).document["evidence"]
        return -max((abs(r["effect"]) for r in rows if r["found"]), default=0.0)

    def _check_settings(self):
        """Raise ValueError if a setting or a field of `meta` is not allowed."""
        self._validate_params()
        self._check_rule()
        self._check_limits()
        self._sha256_of_plan()
        if self.pay is not None and self.template not in TEMPLATES:
            raise ValueError(
                f"pay={self.pay!r} is for the templates {' and '.join(TEMPLATES)}; the template is "
                f"{self.template!r}."
            )
        fields = meta_fields(self.template)
        unknown = [n for n in self.meta or {} if n not in fields]
        if unknown:
            raise ValueError(f"meta has no field {unknown[0]!r}. Its fields: {', '.join(fields)}.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags
