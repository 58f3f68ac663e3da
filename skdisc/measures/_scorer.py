"""Measures as scorers of models: greater means less discrimination."""

import warnings
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from skdisc._utils._favorable import AUTO, ENDS, favorable_labels
from skdisc._utils._inputs import as_frame, check_order, distinct_values
from skdisc._utils._types import ArrayLike, Columns, FrameLike, Labels, Model
from skdisc._utils._validation import check_protected, closest, refuse_shape
from skdisc.exceptions import UndefinedMeasureWarning
from skdisc.measures import _absolute, _association, _conditional, _dependence, _label_based
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.measures._formula._decisions import RULES, protected_columns
from skdisc.measures._formula._decorator import AVERAGES

_MODULES = (_absolute, _association, _dependence, _label_based, _conditional)
_MEASURES = {
    name: getattr(module, name)
    for module in _MODULES
    for name in CATALOGUE
    if hasattr(module, name) and name not in ("belift", "propensity_stratified_difference")
}


class _Decided:
    """Decisions that were made, as a model."""

    def __init__(self, decisions):
        self.decisions = decisions

    def predict(self, X):
        """Return the decisions."""
        return self.decisions


def _name(entry):
    """Return the name of the scorer of a measure."""
    return ("min_" if entry.scale == "ratio" else "neg_abs_") + entry.name


class DisparityScorer(BaseEstimator):
    r"""Score a model by a measure of discrimination: greater is better.

    For a measure m given by name, with the value v_0 of no discrimination
    (`skdisc.measures.catalogue`):

    .. math:: -|m - v_0| \;\text{for differences},\qquad \min(m, 1/m) \;\text{for ratios}

    with the maxima 0 and 1. For a callable: sign × its value.

    Parameters
    ----------
    measure : str or callable, default="mean_difference"
        Name of a measure, or a callable ``(y_true, y_pred, *, protected) -> float``.
    protected : str, int or list of them, default=None
        Columns of the X that is scored, by name or position. The model does not have to use them.
    sign : {-1, 1}, default=None
        None: 1 for ratios and -1 otherwise, so that greater is better.
    explanatory : str, int or list of them, default=None
        Columns of X, for measures that need strata.
    groups : list, default=None
        Groups that each fold has to contain; the categories of a categorical column are always
        required.
    response_method : {"predict", "predict_proba"}, default="predict"
        Decisions, or the probability of `pos_label`.
    options : dict, default=None
        Other settings of the measure; they take precedence over the parameters below.
    reference : group or rule, default=None
        What the groups are compared with; None: the default of the measure.
    average : {"max", "weighted", "defined"}, default=None
        How several groups become one number; None: "max".
    pos_label : label or set of labels, "auto", "high", "low" or None, default="auto"
        The favorable decision, as in every measure. A callable gets it, `reference` and `average`
        only if they are set.

    Notes
    -----
    With metadata routing enabled, `sensitive_features` is requested by default: pass it to
    `cross_validate(params=...)` or `GridSearchCV.fit` if the protected column is not in X. With
    routing disabled it can only be passed in a call. It takes precedence over `protected`.

    A fold that lacks one of the groups, or in which the measure is undefined for one, gives NaN and
    one `UndefinedMeasureWarning`.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X = pd.DataFrame({"sex": ["m", "m", "f", "f"], "x": [1, 2, 3, 4]})
    >>> model = DummyClassifier(strategy="constant", constant=1).fit(X, [0, 1, 0, 1])
    >>> DisparityScorer("equal_opportunity", protected="sex")(model, X, [0, 1, 0, 1])
    -0.0
    """

    __metadata_request__score = {
        "estimator": UNUSED,
        "y_true": UNUSED,
        "sensitive_features": True,
    }

    def __init__(
        self,
        measure: str | Callable[..., float] = "mean_difference",
        *,
        protected: Columns | None = None,
        sign: int | None = None,
        explanatory: Columns | None = None,
        groups: Collection[Hashable] | None = None,
        response_method: str = "predict",
        options: Mapping[str, Any] | None = None,
        reference: Any = None,
        average: str | None = None,
        pos_label: Labels | None = "auto",
    ) -> None:
        self.measure = measure
        self.protected = protected
        self.sign = sign
        self.explanatory = explanatory
        self.groups = groups
        self.response_method = response_method
        self.options = options
        self.reference = reference
        self.average = average
        self.pos_label = pos_label

    def score(
        self,
        estimator: Model,
        X: FrameLike,
        y_true: ArrayLike | None = None,
        sensitive_features: ArrayLike | FrameLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the score of a fitted model.

        Parameters
        ----------
        estimator : object with predict
        X : DataFrame or array-like of shape (n, n_columns)
        y_true : array-like of shape (n,), default=None
        sensitive_features : array-like of shape (n,) or (n, n_columns), default=None
            The protected values, if they are not in X.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        score : float, greater is better; NaN where undefined

        Raises
        ------
        ValueError
            If a setting is invalid, columns are not in X, or the measure rejects the input.

        Warns
        -----
        UndefinedMeasureWarning
            If a group is missing in the rows, or the measure is undefined for it.
        """
        measure = self.measure if callable(self.measure) else _find(self.measure)
        if self.sign not in (None, -1, 1):
            raise ValueError(f"sign must be -1, 1 or None, got {self.sign!r}")
        options = self._options()
        protected = sensitive_features
        check_order(X=X, y_true=y_true, sensitive_features=protected, sample_weight=sample_weight)
        if protected is None:
            protected = _columns(X, self.protected, "protected")
        if self.explanatory is not None:
            options["explanatory"] = _columns(X, self.explanatory, "explanatory")
        if sample_weight is not None:
            options["sample_weight"] = sample_weight
        if lacking := self._lacking(protected, options):
            warnings.warn(
                f"the rows contain no member of {lacking!r}: the score is NaN",
                UndefinedMeasureWarning,
                stacklevel=2,
            )
            return float("nan")
        response = self._response(estimator, X, options.get("pos_label", AUTO))
        if callable(self.measure):
            return float(
                (self.sign or -1) * measure(y_true, response, protected=protected, **options)
            )
        return self._signed(measure, y_true, response, protected, options)

    __call__ = score

    def _options(self):
        """Return the settings of the measure that are set."""
        if not isinstance(self.options, Mapping | None):
            raise ValueError(
                "options must be a dict of settings of the measure by name, or None; got "
                f"{self.options!r}"
            )
        given = {"reference": self.reference, "average": self.average}
        given = {name: value for name, value in given.items() if value is not None}
        if not (isinstance(self.pos_label, str) and self.pos_label == AUTO):
            given["pos_label"] = self.pos_label
        options = given | dict(self.options or {})
        average = options.get("average", "max")
        if not isinstance(average, str) or average not in AVERAGES:
            raise ValueError(f"average must be one of {AVERAGES}, got {average!r}")
        return options

    @property
    def _score_func(self):
        """The score of decisions, for scikit-learn's search over thresholds (its sign is 1)."""
        return self._score_decisions

    _sign = 1

    @property
    def _kwargs(self):
        """The further arguments of `_score_func`; scikit-learn reads the favorable label here."""
        label = self._options().get("pos_label", AUTO)
        known = label is not None and not (isinstance(label, str) and label in (AUTO, *ENDS))
        return {"pos_label": label} if known else {}

    def _score_decisions(self, y_true, y_pred, *, sensitive_features=None, **weights):
        """Return the score of decisions about rows whose columns are not at hand."""
        if sensitive_features is None:
            raise ValueError(
                "A search over thresholds does not pass X to its scorer. Enable metadata routing, "
                "sklearn.set_config(enable_metadata_routing=True), and pass sensitive_features to "
                "fit."
            )
        weights.pop("pos_label", None)
        return self.score(_Decided(y_pred), None, y_true, sensitive_features, **weights)

    def _signed(self, measure, y_true, response, protected, options):
        """Return the score by a measure of the catalogue."""
        average = options.get("average", "max")
        settings = measure.plan.settings(y_true, response, protected=protected, **options)
        evaluation = measure.plan.evaluate(settings)
        if hasattr(evaluation, "comparisons"):
            value = evaluation.reduce(evaluation.values(evaluation.contrasts(), average), average)
        else:
            value = float(evaluation.value)
        if measure.entry.scale == "ratio":
            if value == 0:
                return (self.sign or 1) * 0.0
            return (self.sign or 1) * min(value, 1 / value)
        return (self.sign or -1) * abs(value - measure.entry.none)

    def _lacking(self, protected, options):
        """Return the required groups that the rows do not contain."""
        columns = protected_columns(protected)
        required = set(self.groups or ())
        reference = options.get("reference", "largest")
        if len(columns) == 1:
            values = columns[0][1]
            if isinstance(values.dtype, pd.CategoricalDtype):
                required |= set(values.cat.categories)
            is_one = isinstance(reference, Hashable) and pd.notna(reference) is True
            if is_one and reference not in RULES:
                required.add(reference)
        present = set().union(*(set(distinct_values(values.dropna())) for _, values in columns))
        return sorted(required - present, key=str)

    def _response(self, estimator, X, pos_label):
        """Return the decisions or probabilities of the model."""
        if self.response_method == "predict":
            return estimator.predict(X)
        if self.response_method != "predict_proba":
            raise ValueError(
                'response_method must be "predict" or "predict_proba", got '
                f"{self.response_method!r}"
            )
        given = None if isinstance(pos_label, str) and pos_label == AUTO else pos_label
        favorable, _ = favorable_labels(given, np.asarray(estimator.classes_).tolist())
        return estimator.predict_proba(X)[:, np.isin(estimator.classes_, favorable)].sum(axis=1)


def get_scorer(name: str, *, protected: Columns | None = None, **settings: Any) -> DisparityScorer:
    """Return the scorer with a name: ``neg_abs_<measure>`` or ``min_<ratio>``.

    ``neg_abs_`` scorers are minus the distance from no discrimination, at most 0; ``min_`` scorers
    are the smaller one of the ratio and its inverse, between 0 and 1.

    Parameters
    ----------
    name : str, one of `get_scorer_names`
    protected : str, int or list of them, columns of X
    **settings
        Settings of `DisparityScorer`.

    Returns
    -------
    scorer : DisparityScorer

    Raises
    ------
    ValueError
        If there is no scorer with this name.

    Examples
    --------
    >>> get_scorer("neg_abs_mean_difference", protected="sex")
    DisparityScorer(protected='sex')
    """
    names = {_name(CATALOGUE[m]): m for m in _MEASURES}
    if name not in names:
        of_measure = {own: scorer for scorer, own in names.items()}
        meant = closest(name, names)
        if name in of_measure:
            meant = f"; did you mean {of_measure[name]!r}?"
        raise ValueError(f"{name!r} is not a scorer{meant} Names: {', '.join(sorted(names))}.")
    if unknown := sorted(set(settings) - set(DisparityScorer._get_param_names())):
        raise TypeError(f"get_scorer has no setting {unknown[0]!r}; see DisparityScorer.")
    return DisparityScorer(names[name], protected=protected, **settings)


def get_scorer_names() -> list[str]:
    """Return the sorted names of all scorers.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> "min_impact_ratio" in get_scorer_names()
    True
    """
    return sorted(_name(CATALOGUE[name]) for name in _MEASURES)


def _find(name):
    """Return the measure with a name."""
    if name not in _MEASURES:
        raise ValueError(f"measure={name!r} is unknown. Measures: {', '.join(sorted(_MEASURES))}.")
    return _MEASURES[name]


def _columns(X, wanted, what):
    """Return columns of X by name or position."""
    if wanted is None:
        raise ValueError(
            f"{what} is None: name columns of X, or pass sensitive_features to the scorer."
        )
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    frame = as_frame(X)
    names = check_protected(wanted, list(frame.columns), what)
    if not frame.columns.is_unique:
        refuse_shape(frame)
    return frame[names[0]] if len(names) == 1 else frame[names]
