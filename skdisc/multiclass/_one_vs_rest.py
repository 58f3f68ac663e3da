"""OneVsRest: a detector for each class of a decision, with one level for all."""

import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skdisc._blackbox._blackbox import BlackBox
from skdisc._results._judgment import FOUND, NOTHING, UNSURE
from skdisc._utils._inputs import sorted_unique
from skdisc._utils._interruption import INTERRUPTED
from skdisc._utils._types import ArrayLike, Estimator, FrameLike
from skdisc._utils._validation import check_labels, plain


class OneVsRest(MetaEstimatorMixin, BaseEstimator):
    """Audit a decision of three classes or more: each class against the rest.

    A detector looks at decisions that are favorable or not. Where none of several classes is
    (departments, diagnoses, kinds of contract), a clone of the detector is fitted for each of them,
    with this class as `pos_label` and with its share of the level: the `significance` of its rule
    over the number of classes (Bonferroni). The probability that a class differs by chance is then
    at most `significance` over all of them, whatever depends on what, and all intervals hold
    together.

    Parameters
    ----------
    detector : detector or Audit
        Any detector with a `pos_label`, which must not be set; cloned, never fitted itself. An
        `Audit` asks all its questions about each class.
    classes : sequence of labels or None, default=None
        The classes to audit. None: those of the model, if it has ``classes_``, else those in y.

    Attributes
    ----------
    classes_ : list
        The classes audited.
    classes_left_ : list
        The others: those that an `Audit` which the user interrupted (Ctrl-C) did not come to.
    significance_ : float
        The level of each class.
    detectors_ : dict of detectors
        By class, fitted.
    results_ : dict of AuditResult, or of AuditReport
        By class. An effect is a gap in how often people get this class.
    table_ : DataFrame
        The findings of all classes, as `to_frame` of the results has them, after a column
        ``class``.
    verdict_ : {"disparity found", "no disparity found", "insufficient evidence"}
        The first if it is the verdict of any class, the second if it is that of all classes and
        none is left.
    found_ : list
        The classes with a disparity.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Names of the columns; only if all are text.

    Raises
    ------
    ValueError
        If there are fewer than three classes, or the detector has a `pos_label`.

    Notes
    -----
    A detector that permutes cannot reach a level below one over the number of its draws, such as
    `n_permutations`, which are left as they are. A model that is trained here is compared with as
    many others as the level takes.

    See Also
    --------
    skdisc.group.GroupDisparity : Takes several classes as favorable together, by `pos_label`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skdisc.group import GroupDisparity
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 900)})
    >>> job = np.where(X["sex"] == "f", rng.choice(["desk", "field", "desk"], 900), "field")
    >>> job = np.where(rng.random(900) < 0.3, "abroad", job)
    >>> audit = OneVsRest(GroupDisparity(protected="sex")).fit(X, job)
    >>> print(audit.verdict_, audit.found_)
    disparity found ['desk', 'field']
    """

    def __init__(self, detector: Estimator, *, classes: Sequence | None = None) -> None:
        self.detector = detector
        self.classes = classes

    def fit(self, X: FrameLike, y: ArrayLike | None = None, model: Any = None, **more: Any) -> Self:
        """Fit the detector for each class.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Classes.
        model : estimator, callable or BlackBox, optional
            Its decisions are audited; without it those of y, or of the detector's estimator.
        **more
            Given to `fit` of the detector, such as `sample_weight`.

        Returns
        -------
        OneVsRest
        """
        self._check_detector()
        classes = self._classes(y, model)
        self.significance_ = self.detector.significance / len(classes)
        settings = {"rule__significance": self.significance_}
        self.detectors_, started = {}, time.perf_counter()
        limit = self.detector._limit("seconds")
        for n_left, c in zip(range(len(classes), 0, -1), classes, strict=True):
            if limit is not None:  # the classes share it
                rest = max(started + limit - time.perf_counter(), 0.0)
                settings["limits__seconds"] = rest / n_left
            detector = clone(self.detector).set_params(**settings, pos_label=c)
            self.detectors_[c] = detector.fit(X, y, model=model, **more)
            if _is_interrupted(detector):  # an Audit answers Ctrl-C with what it has
                break
        self.results_ = self.audit()
        self.classes_ = list(self.detectors_)
        self.classes_left_ = classes[len(self.classes_) :]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(detector, name):
                setattr(self, name, getattr(detector, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def audit(
        self, X: FrameLike | None = None, y: ArrayLike | None = None, **more: Any
    ) -> dict[Any, Any]:
        """Return the results of `fit`, or measure again on new rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), optional
            Rows with the columns of fit.
        y : array-like of shape (n_samples,), optional
            Their classes, needed where labels were audited.
        **more
            Given to `audit` of the detector, such as `sample_weight`.

        Returns
        -------
        dict of AuditResult, or of AuditReport
            By class.

        Raises
        ------
        NotFittedError
            If there is no `fit` before.
        ValueError
            If the rows do not have the columns of fit, or given decisions were audited.
        """
        check_is_fitted(self, "detectors_")
        return {c: d.audit(X, y, **more) for c, d in self.detectors_.items()}

    def score(self, X: FrameLike, y: ArrayLike | None = None, **more: Any) -> float:
        """Return the largest score of the classes' detectors on these rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Classes, needed where labels were audited.
        **more
            Given to `score` of the detector, such as `sample_weight`.

        Returns
        -------
        float
            NaN if no class has a score.

        Raises
        ------
        NotFittedError
            If there is no `fit` before.
        ValueError
            If the rows do not have the columns of fit, or given decisions were audited.
        """
        check_is_fitted(self, "detectors_")
        scores = [d.score(X, y, **more) for d in self.detectors_.values()]
        return max((s for s in scores if not np.isnan(s)), default=float("nan"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.detector)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags

    def _check_detector(self):
        """Raise ValueError if this is no detector, or has its own favorable label."""
        if not hasattr(self.detector, "audit"):
            raise ValueError(
                f"detector must be a detector of skdisc, or an Audit, got {self.detector!r}."
            )
        params = self.detector.get_params(deep=False)
        if params.get("pos_label", "none") is not None:
            raise ValueError(
                "OneVsRest names each class in turn as pos_label, so the detector needs this "
                f"setting at None; {self.detector!r} has "
                f"{'pos_label=' + repr(params['pos_label']) if 'pos_label' in params else 'none'}."
            )

    def _classes(self, y, model):
        """Return the classes to audit."""
        source, labels = "classes=", self.classes
        if labels is not None and (isinstance(labels, str) or np.ndim(labels) != 1):
            raise ValueError(f"classes must be a list of labels or None, got {labels!r}.")
        if labels is None:
            is_box = isinstance(model, BlackBox)
            labels = model.classes if is_box else getattr(model, "classes_", None)
            source = "the model"
        if labels is None:
            if model is not None or y is None:
                no_y = "requires y to be passed, but the target y is None"
                raise ValueError(
                    f"OneVsRest {no_y if model is None else 'knows no classes'}: they follow from "
                    "y, or from classes_ of a model. Name them: OneVsRest(detector, classes=[...])."
                )
            source, labels = "y", np.asarray(y)
            if pd.isna(labels).any():
                raise ValueError(f"y has {int(pd.isna(labels).sum())} missing classes; drop them.")
            labels = check_labels(y)
        classes = [plain(c) for c in sorted_unique(np.asarray(labels))]
        if len(classes) < 3:
            number = "1 class" if len(classes) == 1 else f"{len(classes)} classes"
            raise ValueError(
                f"{source} has {number}, {classes!r}, fewer than three. Fit the detector itself, "
                "with pos_label."
            )
        return classes

    @property
    def verdict_(self) -> str:
        """The verdict over all classes."""
        check_is_fitted(self, "results_")
        verdicts = {result.verdict for result in self.results_.values()}
        if verdicts - {NOTHING, UNSURE}:
            return FOUND
        return NOTHING if verdicts == {NOTHING} and not self.classes_left_ else UNSURE

    @property
    def found_(self) -> list:
        """The classes with a disparity."""
        check_is_fitted(self, "results_")
        return [c for c, r in self.results_.items() if r.verdict not in (NOTHING, UNSURE)]

    @property
    def table_(self) -> pd.DataFrame:
        """The findings of all classes."""
        check_is_fitted(self, "results_")
        frames = [r.to_frame() for r in self.results_.values()]
        for c, frame in zip(self.results_, frames, strict=True):
            frame.insert(0, "class", pd.Series([c] * len(frame), index=frame.index, dtype=object))
        return pd.concat([f for f in frames if len(f)] or frames[:1], ignore_index=True)


def _is_interrupted(detector):
    """Return whether this is an audit that the user interrupted."""
    report = getattr(detector, "report_", None)
    return report is not None and report.document["verdict"]["exit_code"] == INTERRUPTED
