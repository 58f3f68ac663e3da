"""Base class of detectors: `fit` searches, `audit` measures again, `score` is one number."""

import time
from abc import ABCMeta, abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc._blackbox._blackbox import AuditedModel, BlackBox, is_trained, resolve
from skdisc._counts._counted_request import with_rows
from skdisc._results._audit_result import AuditResult
from skdisc._results._case_findings import of_people
from skdisc._results._findings import CaseFindings, Discovery, GroupFindings
from skdisc._results._judgment import NOTHING, UNSURE, Judgment
from skdisc._results._shared_values import SharedValues
from skdisc._space._column import Column
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._clustered import AUDIT, FIT
from skdisc._task._large_tables import most_rows
from skdisc._task._limits import LimitedMixin
from skdisc._task._notes import few_clusters, notes_on, unseen, with_caveats
from skdisc._task._refits import evidence, time_for_refits, weigh_training
from skdisc._task._sampled_rows import under_audit
from skdisc._task._task import People, Request, Task
from skdisc._utils import _validation as check
from skdisc._utils._favorable import favorable_labels, known_classes
from skdisc._utils._hashing import numbered_once
from skdisc._utils._inputs import check_settings_order, refuse_binned
from skdisc._utils._json import settings
from skdisc._utils._published_names import SaysWhatIsMeant
from skdisc._utils._run_clock import OutOfTime, clock
from skdisc._utils._sample_weight import check_groups, check_weights, frequencies
from skdisc._utils._settings import HasSettings, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import (
    ArrayLike,
    Columns,
    Estimator,
    FrameLike,
    Labels,
    Model,
    RandomState,
)
from skdisc._verdicts._relevant import NUMBER, PROBABILITY, RATE, relevant_gap_of
from skdisc._verdicts._rule import Rule, RuledMixin, rule_text

SCORE = """
    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
        Labels, needed where labels were audited or the measure compares with them.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts, for detectors that use it; others refuse it.

    Returns
    -------
    float

    Raises
    ------
    NotFittedError
        If the detector is not fitted.
    ValueError
        If the rows do not have the columns of fit, y is missing where it is needed, given decisions
        were audited, or `sample_weight` is not used.
    ModelError
        If the model raises an error or returns something other than outcomes.
"""
_TECHNICAL = ("n_jobs", "verbose")  # settings that results do not depend on


class BaseDetector(
    SaysWhatIsMeant,
    RuledMixin,
    LimitedMixin,
    HasSettings,
    MetaEstimatorMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Base of all detectors; see the guide on adding one.

    Besides its documented attributes, a fitted detector keeps three records: ``_audited``, the
    `AuditedModel`; ``_memory``, which `_discover` left in ``task.memory`` for audits of new rows;
    and ``_seeds``, drawn once, so that all runs of one fitted detector draw the same numbers.
    Nothing is written after `fit`, so `audit`, `score` and `transform` may run in several threads
    at once.

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found.
    model_ : BlackBox or None
        The model, or the decisions, under audit; None if labels are.
    audited_ : {"model", "refit", "surrogate", "decisions", "labels"}
        What was audited.
    space_ : FeatureSpace
        The columns and their possible values.
    protected_ : list
        Names of the protected columns.
    pos_label_ : list
        The favorable labels.

    Examples
    --------
    What all detectors have, code can use without knowing them:

    >>> from skdisc import all_detectors
    >>> detectors = all_detectors().values()
    >>> all(issubclass(detector, BaseDetector) for detector in detectors)
    True
    >>> sorted(d.__name__ for d in detectors if d.null == "counterfactual")
    ['CounterfactualFairness', 'CounterfactualSituationTesting', 'FlipTest']
    """

    estimator: Estimator | None = setting(
        None,
        [HasMethods(["fit", "predict"]), None],
        """Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is.
        With neither, the labels y are the decisions.""",
        kind="estimator or None",
        kw_only=False,
        leads=True,
    )
    protected: Columns | None = setting(
        None,
        ["array-like", str, Integral, None],
        "The protected columns.",
        kind="column name or position, or sequence of them",
        leads=True,
    )
    missing: str = setting(
        "category",
        [StrOptions({"category", "drop", "raise"})],
        """How rows with a missing protected value are treated: as a group of their own, left
        out, or as an error.""",
    )
    rule: Rule | None = setting(
        None,
        [Rule, None],
        rule_text,
    )
    pos_label: Labels | None = setting(
        None,
        "no_validation",
        """The favorable outcome; by default 1 or True; other labels need one. "high" and "low"
        are the greatest and least of numeric labels.""",
        kind="label or collection of labels",
    )
    random_state: RandomState = setting(
        None,
        ["random_state"],
        "Seed of all that is drawn.",
    )

    null = "contextual"  # what "disparity found" rejects, a key of `NULLS`
    _asks = False  # whether the search queries the model about other rows than those of X
    _needs = ()  # of an audit: some of "arrivals", "outcomes", "places", "scores", "worlds"
    _no_numbers = "counts"  # why it compares no numbers, if so: or "boundary", or "errors"
    _counted_bins = None  # of the counts that it was fitted to
    _counts_rows = False  # whether a row may stand for many people (`People.frequency`)
    _most = None  # rows of a wide table that are audited by default; None: all
    _draws_evenly = False  # whether a sample of rows has small groups in proportion to their size
    _weighs = False  # whether sample_weight enters the search; rows of weight 0 are then left out
    _decisions_only = (
        "BlackBox(decisions=...) has decisions only for the rows of fit: audit() without X returns "
        "their result. To audit new rows, fit with a model that can be queried."
    )
    _needs_repeatable = False  # whether a model that is not deterministic is refused
    _memory = None
    _resamples_training = False  # whether intervals and p-values count chance in training
    space = None  # these are settings of some detectors
    weights = "probability"
    output = "decision"
    verbose = False
    __metadata_request__fit = {"model": True}

    @with_sections(FIT)
    def fit(
        self, X: FrameLike | FeatureSpace, y: ArrayLike | None = None, model: Model | None = None
    ) -> Self:
        """Search for findings and keep them in ``result_``.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), FeatureSpace or Counts
            Raw columns; for searches a space; `Counts`; or a table outside memory, such as a path.
        """
        return self._fit(Request(X, y, model))

    @with_sections(AUDIT)
    def audit(self, X: FrameLike | None = None, y: ArrayLike | None = None) -> AuditResult:
        """Return the result of `fit`, or measure again on new rows."""
        return self._audit(Request(X, y))

    @with_sections(SCORE)
    def score(
        self, X: FrameLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the effect on X of the finding ranked first at fit, times its direction there.

        NaN if it is undefined on X.
        """
        self._refuse_weight(sample_weight)
        return self._effect_again(Request(X, y))

    @numbered_once
    def _fit(self, request):
        started = time.perf_counter()
        self._validate_params()
        self._check_rule()
        self._check_limits()
        check_settings_order(self, request.X)
        request = with_rows(self, request, at_fit=True)
        self._counted_bins = request.bins
        request = self._repeated(request, is_trained(request.model, self.estimator))
        people, model = self._learn(request), request.model
        if isinstance(model, BlackBox) and people.X is not None:
            model = model.aligned(request.X, people.stay)
        self._audited = self._resolve_model(people, model)
        if self._audited.kind == "model":
            refuse_binned(request.X)
        self._seeds = check_random_state(self.random_state).randint(2**31, size=4)
        people, self._audited = under_audit(self, replace(people, started=started))
        self.model_, self.audited_ = self._audited.box, self._audited.kind
        self.pos_label_ = self._audited.favorable
        self.sampled_rows_ = None if people.sample is None else people.sample.rows
        task = self._opened(people)
        with time_for_refits(self, task):
            result = self._conclude(task, self._in_time(task, self._discover))
        result = weigh_training(self, task, result)
        self.result_ = replace(result, total_time=task.budget.elapsed)
        self._memory = task.memory
        return self

    @numbered_once
    def _audit(self, request):
        if request.X is None:
            check_is_fitted(self, "result_")
            return self.result_
        started = time.perf_counter()
        people = replace(self._read(request), started=started)
        task = self._opened(under_audit(self, people)[0], is_audit=True)
        with time_for_refits(self, task):
            result = self._conclude(task, self._in_time(task, self._remeasure))
        return replace(weigh_training(self, task, result), total_time=task.budget.elapsed)

    def _opened(self, people, *, is_audit=False):
        """Return a task that learns from its first queries whether the model is deterministic."""
        task = Task.open(self, people, is_audit=is_audit)
        if task.queries is not None and task.queries.box.model is not None:
            task.queries.check_repeats(self._needs_repeatable)
        return task

    def _in_time(self, task, discover):
        """Return the Discovery of a task; one without findings where its time was over before."""

        def say(doing):
            if self.verbose:
                task.progress(f"{doing}, {task.budget.elapsed:.0f} s")

        try:
            with clock(lambda: task.budget.affords(0), say):
                return discover(task)
        except OutOfTime as cut:
            task.budget.stopped_by = "seconds"  # its own, or that of the audit it is part of
            is_about_people = self.card.finds == "individual"
            findings = (CaseFindings if is_about_people else GroupFindings).none(self.space_)
            reason = f"the time budget ended while {cut.doing}: nothing was compared"
            return Discovery(findings, "", 0, 0, judgment=Judgment(UNSURE, reason))

    def _output_of(self, box):
        """Return what a `BlackBox` is asked for."""
        return self.output

    def _repeated(self, request, trained):
        """Return the request with repeated rows, if weights are frequencies and are not counted."""
        if self.weights != "frequency" or request.sample_weight is None:
            return request
        counted = self._counts_rows and request.groups is None and not trained
        return request if counted else request.repeated()

    def _most_rows(self, people):
        """Return the largest number of rows under audit, or None."""
        return self._limit("rows") if self._most is None else most_rows(self, people)

    def _width(self, names):
        """Return the number of columns that are searched or adjusted for."""
        return len(names)

    def _measure_on(self, people):
        """Return the AuditResult of the findings of fit on these rows; its verdict is not final."""
        task = self._opened(people, is_audit=True)
        return self._conclude(task, self._remeasure(task))

    def _refuse_weight(self, sample_weight):
        """Raise ValueError if `score` gets weights that it does not use."""
        if sample_weight is not None:
            raise ValueError(f"{type(self).__name__}.score does not use sample_weight; omit it.")

    def _effect_again(self, request):
        """Return the effect of the first finding on new rows, times its direction at fit."""
        result = self._measure_on(self._read(request))
        has_findings = len(self.result_) > 0
        return float(self.result_[0].direction * result[0].effect) if has_findings else float("nan")

    def _statistic(self, task):
        """Return how strong the evidence of a disparity is; larger is stronger.

        It is computed for the model under audit and for refits, always in the same way.
        """
        discovery = self._remeasure(task) if task.is_audit else self._discover(task)
        return evidence(discovery)

    def _on_decisions(self):
        """Return the detector with those of its comparisons that labels can confirm, or None.

        These are comparisons of the decisions about groups, not of errors, nor of the answers to
        other rows than those of X.
        """
        return None

    @abstractmethod
    def _discover(self, task):
        """Search, and return a Discovery; ``task.memory`` keeps what audits need later."""

    @abstractmethod
    def _remeasure(self, task):
        """Measure what was found at fit on the rows of the task, and return a Discovery."""

    def _learn(self, request):
        """Read the rows of fit, and learn the space and which columns are protected."""
        if isinstance(request.X, FeatureSpace):
            self.space_ = self._given_space(request.X)
            return People()
        people, is_frame = self._read_people(request, reset=True)
        numbered = people.numbered
        columns = [Column.from_series(s, numbered=numbered) for _, s in numbered.X.items()]
        space = FeatureSpace(columns, self.protected_, is_frame=is_frame)
        self.space_ = space if self.space is None else self.space.adapt(space)
        check.check_varied(people.X, self.protected_)
        return people

    def _read(self, request):
        """Read rows for an audit; nothing is written."""
        check_is_fitted(self, "result_")
        if self.audited_ == "decisions":
            raise ValueError(self._decisions_only)
        if self.audited_ == "model":
            refuse_binned(request.X)
        trained = getattr(self._audited.box, "training", None) is not None
        request = self._repeated(with_rows(self, request), trained)
        return self._read_people(request, reset=False)[0]

    def _read_people(self, request, *, reset):
        """Return the People of a request, and whether its X is a DataFrame."""
        counts = None
        if self._weighs and request.sample_weight is not None:
            request, counts = request.without_weightless()
        frame, is_frame = check.check_frame(self, request.X, reset=reset)
        y, weight = request.y, request.sample_weight
        y = None if y is None else check.check_labels(y, len(frame))
        if weight is not None and counts is None:  # else checked already
            weight = check_weights(weight, len(frame))
        if reset:
            self.protected_ = self._protected_among(frame.columns, self.space)
        stay = check.check_missing(frame, self.protected_, self.missing)
        groups = None if request.groups is None else check_groups(request.groups, len(frame))
        frequency = request.frequency
        if weight is not None and self.weights == "frequency":
            weight, frequency = None, frequencies(weight)
        people = People(frame, y, weight, None, 0, groups, request.sample, frequency).only(stay)
        if counts is not None:
            counts[counts] = stay
            people = replace(people, stay=counts)
        return people, is_frame

    def _given_space(self, space):
        if not self._asks:
            raise TypeError(
                f"{type(self).__name__} audits decisions on rows of X; a FeatureSpace alone has no "
                "rows."
            )
        self.protected_, self.n_features_in_ = self._protected_among(space.names, space), len(space)
        return space.varying(self.protected_)

    def _protected_among(self, names, space):
        """Return the protected columns: those of the constructor, else those of a given space."""
        protected = check.check_protected(self.protected, list(names))
        if not protected and space is not None:
            protected = list(space.protected)
        if not protected and (self._asks or self.card.finds == "group"):
            used = "columns whose values are varied" if self._asks else "columns to compare by"
            raise ValueError(f"{type(self).__name__} needs protected=[...]: the {used}.")
        return protected

    @property
    def _compares_numbers(self):
        """Whether the outcomes are numbers in y."""
        return self.output == "value" and not self._asks

    def _resolve_model(self, people, model):
        """Return the `AuditedModel`: what is audited, and which labels are favorable."""
        if self._compares_numbers:
            if model is not None or self.estimator is not None or people.y is None:
                raise ValueError("output='value' compares the numbers in y: give y, and no model.")
            return AuditedModel(None, "labels", None, [])
        X, y = people.X, people.y
        X = X if X is None or self.space_.is_frame else X.to_numpy()
        box, kind = resolve(
            model,
            self.estimator,
            X,
            y,
            surrogate_X=people.X if self._asks else None,
            weight=people.weight,
            groups=people.groups,
        )
        if box is None and y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: with "
                "neither model= nor estimator= there are no decisions to audit."
            )
        classes = known_classes(box, y)
        of_numbers = {"value", "nominal"} & {getattr(self, n, "") for n in ("output", "mode")}
        favorable, is_assumed = favorable_labels(self.pos_label, classes, bool(of_numbers))
        return AuditedModel(box, kind, classes, favorable, is_assumed)

    def _conclude(self, task, discovery):
        """Return the AuditResult of a Discovery, with the notes common to all detectors."""
        discovery.notes[:0] = notes_on(self, task)
        if discovery.judgment is None and discovery.answer is not None:
            discovery.judgment = Judgment(discovery.answer.verdict, discovery.answer.reason)
        is_constant = task.queries is not None and task.queries.constant
        verdict = None if discovery.judgment is None else discovery.judgment.verdict
        if is_constant and verdict == NOTHING:
            discovery.judgment = Judgment(UNSURE, "all outcomes of the model are equal")
        caveats = few_clusters(task.people.groups)
        if task.is_audit and self.card.finds != "individual":
            caveats += unseen(task, self.protected_)
        discovery = with_caveats(discovery, caveats).in_agreement()
        discovery.items = None  # the data, which the run is done with
        shared = self._shared_values(task, discovery.findings)
        findings = discovery.findings
        if isinstance(findings, CaseFindings) and findings.row is None and task.X is not None:
            people = task.people.numbered.X
            findings.of_people = of_people(findings, people, self.space_, SharedValues(shared))
        return AuditResult(
            detector=type(self).__name__,
            params=self._settings(),
            audited=self.audited_,
            pos_label=list(self.pos_label_),
            protected=list(self.protected_),
            n_samples=task.people.n,
            n_queries=task.budget.queries,
            stopped_by=task.budget.stopped_by,
            total_time=task.budget.elapsed,
            discovery=discovery,
            null=self.null,
            shared_values=shared,
            n_drawn_from=None if task.people.sample is None else task.people.sample.n_all,
        )

    def _gap_that_matters(self, outcome, weight=None, mean=None):
        """Return the `RelevantGap` of outcomes.

        Parameters
        ----------
        outcome : array-like of float
            NaN for people whom the measure is not about.
        weight : array-like of float, optional
        mean : float, optional
            For outcomes that are numbers, the mean of the reference; None: of all people.
        """
        outcome = np.asarray(outcome, dtype=float)
        is_rate = np.isin(outcome[~np.isnan(outcome)], (0.0, 1.0)).all()
        of_numbers = PROBABILITY if self.output == "probability" else NUMBER
        kind = RATE if is_rate else of_numbers
        return relevant_gap_of(self.relevant_gap, outcome, kind=kind, weight=weight, mean=mean)

    def _settings(self):
        """Return the parameters in JSON types, with the rule and the limits in force."""
        params = self.get_params(deep=False) | {"rule": self._rule_to_dict()}
        if "limits" in params:
            params["limits"] = self._limits_to_dict()
        return settings(params, but=_TECHNICAL)

    def _shared_values(self, task, findings):
        """Return, by column, the values that so many people have that reports may show them.

        Made-up cases show values of all columns. Other findings show no single values of
        unprotected numbers, for which the values of people are not counted.
        """
        if task.X is None:  # there are no people
            return {}
        columns = list(task.X)
        are_made_up = isinstance(findings, CaseFindings) and findings.row is None
        if not are_made_up:
            numeric = {c.name for c in self.space_.columns if c.kind == "numeric"}
            columns = [c for c in columns if c in self.protected_ or c not in numeric]
        people = task.people
        shared = SharedValues.of(
            people.numbered.X,
            columns=columns,
            frequency=people.frequency,
            numbered=people.numbered,
        )
        return shared.values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.allow_nan = self.estimator is None or check.takes_missing(self.estimator)
        tags.target_tags.required = not isinstance(self.estimator, FrozenEstimator)
        return tags
