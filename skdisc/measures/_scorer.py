"""Measures as scorers of models: greater means less discrimination."""

import inspect
import warnings
from collections.abc import Callable, Collection, Hashable, Mapping
from functools import partial
from types import SimpleNamespace
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
from skdisc.measures import (
    _absolute,
    _association,
    _conditional,
    _dependence,
    _individual,
    _label_based,
    _redlining,
    _situation,
    _tests,
)
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.measures._formula._decisions import RULES, protected_columns
from skdisc.measures._formula._evaluation import average_of
from skdisc.measures._formula._target import check_target

_MODULES = (
    *(_absolute, _association, _dependence, _label_based, _conditional),
    *(_tests, _situation, _individual, _redlining),
)
_MEASURES, _REPORTS = (
    {
        name: getattr(module, name + suffix)
        for name in CATALOGUE
        for module in _MODULES
        if hasattr(module, name + "_report")
    }
    for suffix in ("", "_report")
)
# Arguments of measures that are columns of X, besides `explanatory` and `features`.
_COLUMN_OPTIONS = ("redlining", "covariates")


def _closeness(entry, value):
    """Return how close values of a measure are to no discrimination: greater is fairer."""
    value = np.asarray(value, dtype=float)
    if entry.scale == "ratio":
        with np.errstate(divide="ignore"):
            return np.minimum(value, 1 / value)
    return -np.abs(value - entry.none)


def _score_of_groups(measure, arguments, average):
    """Return the score of a measure that compares groups.

    Scores are averaged, not values: gaps of .3 and -.3 average to 0, which is not fair.
    """
    evaluation = measure.plan.evaluate(measure.plan.settings(**arguments))
    if not hasattr(evaluation, "comparisons"):  # a protected number
        return float(_closeness(measure.entry, evaluation.value))
    value = evaluation.values(evaluation.contrasts(), average)
    # Whether the score is undefined does not depend on what is averaged.
    if np.isnan(evaluation.reduce(value, "defined" if average == "defined" else "max")):
        return float("nan")
    is_defined = ~np.isnan(value)
    closeness = _closeness(measure.entry, value[is_defined])
    if average == "weighted":
        return float(np.average(closeness, weights=evaluation.n[is_defined]))
    return float(closeness.min())


def _check_names(name, parameters, arguments):
    """Raise TypeError for settings that a measure does not have."""
    allowed = [key for key in parameters if key not in ("y_true", "y_pred", "X")]
    if name == "twin_test":
        allowed.remove("estimator")  # the model that is scored
    if unknown := sorted(set(arguments) - {*allowed, "protected", "pos_label"}):
        raise TypeError(
            f"{name} got an unexpected keyword argument {unknown[0]!r}. "
            f"Arguments: {', '.join(allowed)}."
        )


def _name(entry):
    """Return the name of the scorer of a measure."""
    return ("min_" if entry.scale == "ratio" else "neg_abs_") + entry.name


class ModelScorer(BaseEstimator):
    """Base of the scorers of models: what they are called with. A subclass has `_score`."""

    __metadata_request__score = {
        "estimator": UNUSED,
        "y_true": UNUSED,
        "sensitive_features": True,
    }

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
            Weights of the rows, for the performance and the gap.

        Returns
        -------
        score : float, greater is better; NaN where the measure is undefined

        Raises
        ------
        ValueError
            If a setting is invalid, columns are not in X, the measure rejects the input, or the
            performance of a `ConstrainedScorer` is below -1.

        Warns
        -----
        UndefinedMeasureWarning
            If a group is missing in the rows, or the measure is undefined for it.
        """
        return self._score(estimator, X, y_true, sensitive_features, sample_weight)

    __call__ = score


class DisparityScorer(ModelScorer):
    r"""Score a model by a measure of discrimination: greater is fairer.

    For a measure m of the catalogue (`skdisc.measures.catalogue`), with the value v_0 of no
    discrimination, each group compared with its reference has the score

    .. math:: -|m - v_0| \;\text{for differences},\qquad \min(m, 1/m) \;\text{for ratios}

    with the maxima 0 and 1, whatever the reference and whichever group is worse off. The score of
    the model is that of the group furthest from fairness; `report` shows all groups, and what they
    are compared with.

    Parameters
    ----------
    measure : str or callable, default="mean_difference"
        A measure of the catalogue, by name or as the function (or a `functools.partial` of it); or
        any other callable ``(y_true, y_pred, *, protected) -> float``, scored as sign × its value.
    protected : str, int or list of them, default=None
        Columns of the X that is scored, by name or position. The model does not have to use them.
        `consistency` and `lipschitz_ratio` need none; they leave these columns out of `features`.
    sign : {-1, 1}, default=None
        Only for a callable that is no measure of the catalogue, and needed there: 1 if greater
        values are fairer, -1 if smaller ones are.
    explanatory : str, int or list of them, default=None
        Columns of X, for measures that need strata.
    features : str, int or list of them, default=None
        Columns of X that make rows similar, for measures with an argument X; None: all but
        `protected`.
    groups : list, default=None
        Groups that each fold has to contain; the categories of a categorical column are always
        required.
    response_method : {"predict", "predict_proba"}, default="predict"
        Decisions, or the probability of `pos_label`.
    options : dict, default=None
        Other settings of the measure; they take precedence over the parameters below. `redlining`
        and `covariates` are names of columns of X.
    reference : group or rule, default=None
        What the groups are compared with; None: the default of the measure, which is the largest
        group of the rows that are scored.
    average : {"max", "weighted", "defined"}, default=None
        How the scores of several groups become one: that of the group furthest from fairness
        ("max", the default), the mean weighted by size, or that of the group furthest from fairness
        among those for which the measure is defined.
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

    Three measures are adapted. `balanced_error_rate` is the error of predicting the group from
    the model's decisions, and counts only if it is lower than by guessing. `situation_testing`
    counts differences in both directions, unless `direction` is set. `twin_test` asks the model
    about rows with other protected values, which it finds in `protected`.

    A measure without a maximum, such as the statistic of a test or `lipschitz_ratio`, can score
    minus infinity. Statistics of tests grow with the number of rows: compare models on the same
    rows.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X = pd.DataFrame({"sex": ["m", "m", "f", "f"], "x": [1, 2, 3, 4]})
    >>> model = DummyClassifier(strategy="constant", constant=1).fit(X, [0, 1, 0, 1])
    >>> DisparityScorer("equal_opportunity", protected="sex")(model, X, [0, 1, 0, 1])
    -0.0
    """

    def __init__(
        self,
        measure: str | Callable[..., float] = "mean_difference",
        *,
        protected: Columns | None = None,
        sign: int | None = None,
        explanatory: Columns | None = None,
        features: Columns | None = None,
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
        self.features = features
        self.groups = groups
        self.response_method = response_method
        self.options = options
        self.reference = reference
        self.average = average
        self.pos_label = pos_label

    def _score(self, estimator, X, y_true, sensitive_features, sample_weight):
        """Return the score of a fitted model."""
        name, function = self._measure()
        arguments = self._arguments(X, y_true, sensitive_features, sample_weight)
        if lacking := self._lacking(arguments["protected"], arguments):
            warnings.warn(
                f"the rows contain no member of {lacking!r}: the score is NaN",
                UndefinedMeasureWarning,
                stacklevel=3,
            )
            return float("nan")
        if name is None:
            response = self._response(estimator, X, arguments.get("pos_label", AUTO))
            return float(self.sign * function(y_true, response, **arguments))
        average = arguments.get("average", "max")
        arguments = self._arguments_of(name, function, estimator, X, y_true, arguments)
        if hasattr(function, "plan"):
            return _score_of_groups(function, arguments, average)
        value = function(**arguments)
        if np.isnan(value):
            warnings.warn(
                f"{name} is undefined for these rows: the score is NaN. "
                f"skdisc.measures.{name}_report gives the reason.",
                UndefinedMeasureWarning,
                stacklevel=3,
            )
        if name == "balanced_error_rate":
            # A larger error than by guessing is chance: decisions say nothing about the group.
            groups = protected_columns(arguments["protected"])[0][1].nunique(dropna=False)
            return float(np.minimum(value - (1 - 1 / groups), 0.0))
        return float(_closeness(CATALOGUE[name], value))

    def report(
        self,
        estimator: Model,
        X: FrameLike,
        y_true: ArrayLike | None = None,
        sensitive_features: ArrayLike | FrameLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Return the report of the measure: the groups, and what each is compared with.

        Parameters
        ----------
        estimator, X, y_true, sensitive_features, sample_weight : as in `score`

        Returns
        -------
        table : DataFrame
            As returned by the report of the measure, such as
            `skdisc.measures.mean_difference_report`.

        Raises
        ------
        ValueError
            As in `score`, and if the measure is not of the catalogue.

        Examples
        --------
        >>> from sklearn.dummy import DummyClassifier
        >>> X = pd.DataFrame({"home": ["a", "a", "b", "c"]})
        >>> model = DummyClassifier(strategy="constant", constant=1).fit(X, [0, 1, 0, 1])
        >>> table = DisparityScorer(protected="home").report(model, X)
        >>> table[["group", "reference", "estimate"]].values.tolist()
        [['b', 'a', 0.0], ['c', 'a', 0.0]]
        """
        name, function = self._measure()
        if name is None:
            raise ValueError(f"Only measures of the catalogue have a report, not {function!r}.")
        arguments = self._arguments(X, y_true, sensitive_features, sample_weight)
        report = _REPORTS[name]
        return report(**self._arguments_of(name, report, estimator, X, y_true, arguments))

    def _measure(self):
        """Return the name and the function of the measure; the name of another callable is None."""
        if self.sign not in (None, -1, 1):
            raise ValueError(f"sign must be -1, 1 or None, got {self.sign!r}")
        name = function = self.measure
        if callable(name):
            function = name.func if isinstance(name, partial) else name
            name = next((key for key, value in _MEASURES.items() if value is function), None)
            if name is None:
                if self.sign is None:
                    raise ValueError(
                        f"{self.measure!r} is no measure of the catalogue: set sign=1 if greater "
                        "values are fairer, or sign=-1 if smaller ones are."
                    )
                return None, self.measure
        if self.sign is not None:
            raise ValueError(
                f"sign={self.sign} is for callables that are no measure of the catalogue. The "
                f"score of {name!r} is greater the fairer the model is, whatever its sign."
            )
        return name, _find(name)

    def _arguments(self, X, y_true, sensitive_features, sample_weight):
        """Return the settings of a call that all measures share, with the protected columns."""
        arguments = self._options()
        check_order(
            X=X, y_true=y_true, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        arguments["protected"] = sensitive_features
        if sensitive_features is None and (self.protected is not None or self._needs_groups()):
            arguments["protected"] = _columns(X, self.protected, "protected")
        if self.explanatory is not None:
            arguments["explanatory"] = _columns(X, self.explanatory, "explanatory")
        if sample_weight is not None:
            arguments["sample_weight"] = sample_weight
        return arguments

    def _needs_groups(self):
        """Return whether the measure compares groups."""
        name, _ = self._measure()
        return name is None or bool(CATALOGUE[name].protected)

    def _arguments_of(self, name, function, estimator, X, y_true, arguments):
        """Return all arguments of a measure of the catalogue, or of its report, by name."""
        parameters = inspect.signature(function).parameters
        arguments = dict(arguments)
        if not hasattr(_MEASURES[name], "plan"):  # those with a plan check their arguments
            _check_names(name, parameters, arguments)
        for key in set(_COLUMN_OPTIONS) & set(arguments):
            if arguments[key] is not None:
                arguments[key] = _columns(X, arguments[key], key)
        label = arguments.get("pos_label", AUTO)
        if "pos_label" not in parameters:
            arguments.pop("pos_label", None)
        if "protected" not in parameters:
            del arguments["protected"]
        if name == "twin_test":
            return arguments | self._twins(estimator, X, label)
        response = self._response(estimator, X, label)
        if name == "balanced_error_rate":
            decisions = check_target(response, label, "y_pred").astype(float)
            return arguments | {"X": pd.DataFrame({"decision": decisions})}
        if "X" in parameters:
            arguments["X"] = self._features(X)
        if name == "situation_testing":
            arguments.setdefault("direction", "both")
        return {"y_true": y_true, "y_pred": response, **arguments}

    def _features(self, X):
        """Return the columns of X that make rows similar."""
        if X is None or self.features is not None:
            return _columns(X, self.features, "features")
        frame = as_frame(X)
        if self.protected is None:
            return frame
        return frame.drop(columns=check_protected(self.protected, list(frame.columns)))

    def _twins(self, estimator, X, label):
        """Return the arguments of the twin test, which asks the model about changed rows."""
        if self.protected is None or X is None:
            raise ValueError(
                "twin_test changes the protected columns of X: name them in protected; values that "
                "are passed beside X cannot be changed in it."
            )
        frame = as_frame(X)
        is_array = not hasattr(X, "columns")

        def decide(twins):
            return self._response(estimator, twins.to_numpy() if is_array else twins, label)

        names = check_protected(self.protected, list(frame.columns))
        return {"estimator": SimpleNamespace(predict=decide), "X": frame, "protected": names}

    def _options(self):
        """Return the settings of the measure that are set."""
        if not isinstance(self.options, Mapping | None):
            raise ValueError(
                "options must be a dict of settings of the measure by name, or None; got "
                f"{self.options!r}"
            )
        settings = {"reference": self.reference, "average": self.average}
        settings = {name: value for name, value in settings.items() if value is not None}
        if not (isinstance(self.pos_label, str) and self.pos_label == AUTO):
            settings["pos_label"] = self.pos_label
        if isinstance(self.measure, partial):
            settings |= self.measure.keywords
        settings |= dict(self.options or {})
        average_of(settings)  # which raises for another word
        return settings

    @property
    def _score_func(self):
        """The score of decisions, for scikit-learn's search over thresholds (its sign is 1)."""
        return self._score_decisions

    _sign = 1

    @property
    def _kwargs(self):
        """The further arguments of `_score_func`; scikit-learn reads the favorable label here."""
        label = self._options().get("pos_label", AUTO)
        is_label = label is not None and not (isinstance(label, str) and label in (AUTO, *ENDS))
        return {"pos_label": label} if is_label else {}

    def _score_decisions(self, y_true, y_pred, *, sensitive_features=None, **weights):
        """Return the score of decisions about rows whose columns are not at hand."""
        if sensitive_features is None:
            raise ValueError(
                "A search over thresholds does not pass X to its scorer. Enable metadata routing, "
                "sklearn.set_config(enable_metadata_routing=True), and pass sensitive_features to "
                "fit."
            )
        weights.pop("pos_label", None)
        model = SimpleNamespace(predict=lambda X: y_pred)
        return self.score(model, None, y_true, sensitive_features, **weights)

    def _lacking(self, protected, options):
        """Return the required groups that the rows do not contain."""
        if protected is None:
            return []
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
        label = None if isinstance(pos_label, str) and pos_label == AUTO else pos_label
        favorable, _ = favorable_labels(label, np.asarray(estimator.classes_).tolist())
        return estimator.predict_proba(X)[:, np.isin(estimator.classes_, favorable)].sum(axis=1)


def get_scorer(name: str, *, protected: Columns | None = None, **settings: Any) -> DisparityScorer:
    """Return the scorer with a name: ``neg_abs_<measure>`` or ``min_<ratio>``.

    Every measure of the catalogue is a scorer. ``neg_abs_`` scorers are minus the distance from no
    discrimination, at most 0; ``min_`` scorers are the smaller one of the ratio and its inverse,
    between 0 and 1.

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
        of_measure = {scorer_name: scorer for scorer, scorer_name in names.items()}
        suggestion = closest(name, names)
        if name in of_measure:
            suggestion = f"; did you mean {of_measure[name]!r}?"
        raise ValueError(f"{name!r} is not a scorer{suggestion} Names: {', '.join(sorted(names))}.")
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


def _columns(X, columns, what):
    """Return columns of X by name or position."""
    if X is None:
        raise ValueError(
            f"{what} is taken from X, which a search over thresholds does not pass to its scorer; "
            "search over models, as GridSearchCV does."
        )
    if columns is None:
        raise ValueError(
            f"{what} is None: name columns of X, or pass sensitive_features to the scorer."
        )
    frame = as_frame(X)
    names = check_protected(columns, list(frame.columns), what)
    if not frame.columns.is_unique:
        refuse_shape(frame)
    return frame[names[0]] if len(names) == 1 else frame[names]
