"""The contract of a detector: fit searches, audit hands out or re-measures, score is one number."""

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._resolve import resolve
from skdisc._results._audit_result import AuditResult
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._notes import notes_on
from skdisc._task._task import Task
from skdisc._utils import _validation as check
from skdisc._utils._json import jsonable
from skdisc._utils._sample_weight import check_weights
from skdisc._utils._validation import takes_missing

_COUNT = Interval(Integral, 0, None, closed="left")
_TECHNICAL = ("n_jobs", "verbose", "memory")  # settings that results do not depend on


class BaseDetector(MetaEstimatorMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of all detectors; see the guide on adding one."""

    _asks = False  # whether the search puts new questions to a model
    __metadata_request__fit = {"model": True}
    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "protected": ["array-like", str, Integral, None],
        "significance": [Interval(Real, 0, 1, closed="neither")],
        "max_tests": [_COUNT, None],
        "max_queries": [_COUNT, None],
        "max_found": [_COUNT, None],
        "time_budget": [Interval(Real, 0, None, closed="left"), None],
        "missing": [StrOptions({"category", "drop", "raise"})],
        "pos_label": "no_validation",
        "memory": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def fit(self, X, y=None, model=None):
        """Search once, and keep what was found in ``result_``.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), or FeatureSpace
            The people under audit, raw columns. Searches can run from a space alone.
        y : array-like of shape (n_samples,), optional
            Labels. May be left out when `model` is fitted.
        model : object, optional
            What is audited: a fitted estimator or pipeline, any object with ``predict``, a
            callable, or a `BlackBox`. An unfitted estimator is cloned and fitted.

        Returns
        -------
        self
        """
        self._validate_params()
        if isinstance(X, FeatureSpace):
            frame, y, self.space_ = None, None, self._given_space(X)
        else:
            frame, y, stay = self._read(X, y, reset=True)
            check.check_varied(frame, self.protected_)
            model = model.aligned(X, stay) if isinstance(model, BlackBox) else model
        self._resolve_model(frame, y, model)
        self.result_ = self._run(Task.open(self, frame, y), self._discover)
        return self

    def audit(self, X=None, y=None):
        """Return the result of `fit`, or measure again on new rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), optional
            Rows with the columns of fit.
        y : array-like of shape (n_samples,), optional
            Their labels, needed where labels were audited.

        Returns
        -------
        AuditResult
        """
        check_is_fitted(self, "result_")
        if X is None:
            return self.result_
        if self.audited_ == "decisions":
            raise ValueError(
                "BlackBox(decisions=...) answers only for the rows of fit: audit() without X gives "
                "their result. To audit new rows, fit with a model that can be asked."
            )
        frame, y, _ = self._read(X, y, reset=False)
        return self._run(Task.open(self, frame, y), self._remeasure)

    @abstractmethod
    def _discover(self, task):
        """Search, and return a Discovery."""

    @abstractmethod
    def _remeasure(self, task):
        """Measure what was found at fit on the rows of the task, and return a Discovery."""

    def _read(self, X, y, *, reset):
        """Check X and y, and say which rows stay; at fit, learn the space and what is protected."""
        frame, is_frame = check.check_frame(self, X, reset=reset)
        y = None if y is None else check.check_labels(y, len(frame))
        if reset:
            self.protected_ = self._protected_among(frame.columns, getattr(self, "space", None))
        stay = check.check_missing(frame, self.protected_, self.missing)
        if not stay.all():
            frame, y = frame[stay].reset_index(drop=True), None if y is None else y[stay]
        if reset:
            self._stay, self._n_dropped = stay, int((~stay).sum())
            space = getattr(self, "space", None)
            learned = FeatureSpace.from_frame(frame, protected=self.protected_, is_frame=is_frame)
            self.space_ = learned if space is None else space.adapt(learned)
        return frame, y, stay

    def _weights(self, X, sample_weight):
        """Return the weights of those rows of X that are audited, None where none are given."""
        if sample_weight is None:
            return None
        stay = self._read(X, None, reset=False)[2]
        return check_weights(sample_weight, len(stay))[stay]

    def _given_space(self, space):
        if not self._asks:
            raise TypeError(
                f"{type(self).__name__} audits decisions about people and needs rows of X; a "
                "FeatureSpace alone has none."
            )
        self.protected_ = self._protected_among(space.names, space)
        self.n_features_in_, self._n_dropped = len(space), 0
        return space.varying(self.protected_)

    def _protected_among(self, names, space):
        """Return the protected columns: those of the constructor, else those of a given space."""
        protected = check.check_protected(self.protected, list(names))
        if not protected and space is not None:
            protected = list(space.protected)
        if self._asks and not protected:
            raise ValueError(
                f"{type(self).__name__} needs protected=[...]: the columns whose values are varied."
            )
        return protected

    def _resolve_model(self, frame, y, model):
        X = frame if frame is None or self.space_.is_frame else frame.to_numpy()
        stand_in, weight = frame if self._asks else None, getattr(self, "_weight", None)
        box, self.audited_ = resolve(
            model, self.estimator, X, y, stand_in, self.memory, weight=weight
        )
        if box is None and y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: with "
                "neither model= nor estimator= there are no decisions to audit."
            )
        self.model_ = box
        classes = box.classes if box is not None else check.check_decisions(y)
        if classes is None and y is not None:
            classes = check.sorted_unique(y)
        self._labels = classes
        self.pos_label_, self._assumed = check.favourable_labels(self.pos_label, classes)

    def _run(self, task, search):
        discovery = search(task)
        discovery.notes[:0] = notes_on(self, task)
        if task.queries is not None and task.queries.constant:
            discovery.smallest_gap = float("nan")  # no decision differs, so none could have shown
        return AuditResult(
            detector=type(self).__name__,
            params={
                k: jsonable(v)
                for k, v in self.get_params(deep=False).items()
                if k not in _TECHNICAL
            },
            audited=self.audited_,
            pos_label=list(self.pos_label_),
            protected=list(self.protected_),
            n_samples=0 if task.X is None else len(task.X),
            n_queries=task.budget.queries,
            stopped_by=task.budget.stopped_by,
            total_time=task.budget.elapsed,
            discovery=discovery,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.allow_nan = self.estimator is None or takes_missing(self.estimator)
        tags.target_tags.required = not isinstance(self.estimator, FrozenEstimator)
        return tags
