"""Turn one formula into a measure: the function that returns a float, and its report."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.utils import check_consistent_length

from skdisc._utils._sample_weight import check_weights
from skdisc._utils._types import ArrayLike, FrameLike, Labels, RandomState
from skdisc.measures._formula._catalogue import CATALOGUE, Entry
from skdisc.measures._formula._contrast import Contrast
from skdisc.measures._formula._decisions import (
    as_numbers,
    check_rows,
    group_decisions,
)
from skdisc.measures._formula._docstrings import docstrings
from skdisc.measures._formula._evaluation import COLUMNS, Evaluation, average_of, tidy
from skdisc.measures._formula._settings import check_settings
from skdisc.measures._formula._strata import strata_codes
from skdisc.measures._formula._target import check_target, is_auto, several_categories


class Measure(Protocol):
    """A measure of discrimination: a function that returns one number, and its report.

    These are the parameters that all measures share. At run time each measure has its own
    signature, with its options by name.

    `entry`: what the catalogue states about the measure. `plan`: how it is evaluated.
    """

    __name__: str
    entry: Entry
    plan: "MeasurePlan"

    def __call__(
        self,
        y_true: ArrayLike | None,
        y_pred: ArrayLike,
        *,
        protected: ArrayLike | FrameLike,
        reference: object = "largest",
        average: str = "max",
        intersections: int = 1,
        missing: str = "category",
        min_size: float = 1,
        sample_weight: ArrayLike | None = None,
        weights: str = "probability",
        groups: ArrayLike | None = None,
        pos_label: Labels | None = "auto",
        **options: Any,
    ) -> float:
        """Return the measure as one number."""

    def report(
        self,
        y_true: ArrayLike | None,
        y_pred: ArrayLike,
        *,
        protected: ArrayLike | FrameLike,
        reference: object = "largest",
        average: str = "max",
        intersections: int = 1,
        missing: str = "category",
        min_size: float = 1,
        sample_weight: ArrayLike | None = None,
        weights: str = "probability",
        groups: ArrayLike | None = None,
        pos_label: Labels | None = "auto",
        significance: float = 0.05,
        correction: str = "bh",
        n_resamples: int = 999,
        permutations: int = 0,
        random_state: RandomState = 0,
        **options: Any,
    ) -> pd.DataFrame:
        """Return the table of all groups."""


def _parameters(function):
    """Return the parameters of a method of `Measure` by name, without self and the options."""
    named = list(inspect.signature(function).parameters.values())[1:-1]
    return {p.name: p.replace(annotation=inspect.Parameter.empty) for p in named}


_COMMON = _parameters(Measure.__call__)
_ONLY_REPORT = {n: p for n, p in _parameters(Measure.report).items() if n not in _COMMON}


def measure(
    *, by_rows=False, omnibus=False, by_group=False, of_numbers=None
) -> Callable[[Callable[..., Contrast]], Measure]:
    """Return a decorator that turns a formula, pair -> Contrast, into a `Measure`.

    The name of the formula is a key of the catalogue. Its keyword-only parameters are the options
    of the measure, documented under "Other Parameters"; an option `explanatory` gives the strata of
    the pair. Signatures and docstrings combine the common parameters with the options: written out,
    they would repeat 15 parameters in some 60 functions.

    Parameters
    ----------
    by_rows : bool, default=False
        Whether the formula needs rows even if counts would do.
    omnibus : bool, default=False
        Whether it compares all groups at once; there is then no `reference` and no `average`.
    by_group : bool, default=False
        Whether it evaluates each group alone; there is then no `reference`.
    of_numbers : callable, default=None
        (s, y, weight, position, **options) -> Contrast, for a numeric protected column.
    """

    def decorate(function):
        plan = MeasurePlan(function, by_rows, omnibus, by_group, of_numbers)

        @wraps(function)
        def value(*args, **kwargs):
            return plan.value(plan.settings(*args, **kwargs))

        @wraps(function)
        def report(*args, **kwargs):
            return plan.report(_bind(report.__signature__, args, kwargs))

        value.__signature__, report.__signature__ = plan.signatures()
        shared = [name for name in plan.signature.parameters if name in _COMMON]
        value.__doc__, report.__doc__ = docstrings(
            inspect.getdoc(function), plan.entry, shared, list(_ONLY_REPORT)
        )
        report.__name__ = report.__qualname__ = f"{function.__name__}_report"
        value.entry, value.plan, value.report = plan.entry, plan, report
        return value

    return decorate


def _bind(signature, args, kwargs):
    """Return all arguments of a call by name, defaults included."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{error}. Arguments: {', '.join(signature.parameters)}.") from None
    bound.apply_defaults()
    return bound.arguments


class MeasurePlan:
    """How a measure is called, checked and evaluated.

    Attributes
    ----------
    function : callable, pair -> Contrast
        The formula.
    by_rows, omnibus, by_group, of_numbers
        As in `measure`.
    entry : Entry
    options : dict of Parameter
        The options of the formula.
    signature : Signature
        That of the measure.
    """

    def __init__(self, function, by_rows, omnibus, by_group, of_numbers):
        self.function, self.by_rows, self.omnibus = function, by_rows, omnibus
        self.by_group, self.of_numbers, self.entry = (
            by_group,
            of_numbers,
            CATALOGUE[function.__name__],
        )
        self.options = dict(list(inspect.signature(function).parameters.items())[1:])
        self.signature = self.signatures()[0]

    def signatures(self):
        """Return the signatures of the measure and of its report."""
        unused = (
            {"reference", "average"} if self.omnibus else {"reference"} if self.by_group else set()
        )
        shared = [p for name, p in _COMMON.items() if name not in unused]
        shared += self.options.values()
        return inspect.Signature(shared), inspect.Signature([*shared, *_ONLY_REPORT.values()])

    def settings(self, *args, **kwargs):
        """Return all settings of a call of the measure by name."""
        return _bind(self.signature, args, kwargs)

    def value(self, settings):
        """Return the measure as one number."""
        average = average_of(settings)
        evaluation = self.evaluate(settings)
        if isinstance(evaluation, Contrast):
            return float(evaluation.value)
        return evaluation.reduce(evaluation.values(evaluation.contrasts(), average), average)

    def report(self, settings):
        """Return the table of all groups."""
        evaluation = self.evaluate(settings)
        if isinstance(evaluation, Contrast):
            return _report_of_numbers(evaluation, settings)
        return tidy(evaluation.columns(**{name: settings[name] for name in _ONLY_REPORT}))

    def evaluate(self, settings):
        """Check the settings and return an `Evaluation`, or the Contrast of a numeric column."""
        check_settings(self.entry.name, **settings)
        settings = self._of_categories(dict(settings))
        options = {name: settings[name] for name in self.options}
        tables = {k: v for k, v in options.items() if k in ("X", "explanatory", "redlining")}
        if settings["y_pred"] is not None:
            check_rows(settings["y_pred"], **tables)
        numbers = as_numbers(settings["protected"])
        y_true = settings["y_true"] if self.entry.needs_labels else None
        if self.entry.needs_labels and y_true is None:
            raise ValueError(f"{self.entry.name} compares decisions with labels: y_true is needed")
        if numbers is not None:
            return self._of_numbers(numbers, settings, options)
        strata, required = None, inspect.Parameter.empty
        explained = self.options.get("explanatory")
        if explained and (explained.default is required or options["explanatory"] is not None):
            strata = strata_codes(options["explanatory"])
        names = ("pos_label", "sample_weight", "weights", "groups", "intersections", "missing")
        rows = group_decisions(
            y_true,
            settings["y_pred"],
            settings["protected"],
            strata=strata,
            **{name: settings[name] for name in names},
        )
        reference = settings.get("reference", "rest")
        return Evaluation.of(self, rows, reference, settings["min_size"], options)

    def _of_categories(self, settings):
        """Return the settings with decisions of several categories as codes.

        Ordered categories are the ranks of their values. Classes without an order are codes that
        only `mutual_information` takes, in bins of one value each.
        """
        y, label = settings["y_pred"], settings["pos_label"]
        if not is_auto(label) or not several_categories(y):
            return settings
        is_ordered = isinstance(y.dtype, pd.CategoricalDtype) and y.dtype.ordered
        kind = "ordinal" if is_ordered else "categorical"
        if kind not in self.entry.target:
            return settings  # the favorable ones have to be named
        if pd.isna(y).any():
            raise ValueError("y_pred has missing values; drop these rows, or impute them")
        if is_ordered and settings.get("method") == "pearson":
            raise ValueError(
                "The categories of y_pred have an order but no distances, which "
                'method="pearson" needs. Set method="spearman" or method="kendall".'
            )
        if not is_ordered:
            settings["n_bins"] = None
        elif "method" in settings:
            settings["method"] = settings["method"] or "spearman"
        codes = pd.Categorical(y).codes.astype(float)
        return settings | {"y_pred": codes, "pos_label": None}

    def _of_numbers(self, s, settings, options):
        """Return the Contrast of a numeric protected column."""
        if self.of_numbers is None:
            raise ValueError(
                f"{self.entry.name} compares groups, and protected is a number with "
                f"{len(np.unique(s))} values. Bin it first, e.g. pandas.cut(age, [0, 30, 60, 120])."
            )
        if settings["groups"] is not None or (
            settings["sample_weight"] is not None and settings["weights"] != "frequency"
        ):
            raise ValueError(
                f"{self.entry.name} of a protected number takes neither groups nor probability "
                'weights. Bin it first, e.g. by pandas.cut, or set weights="frequency".'
            )
        y = check_target(settings["y_pred"], settings["pos_label"], "y_pred").astype(float)
        weight = settings["sample_weight"]
        weight = np.ones(len(y)) if weight is None else check_weights(weight, len(y))
        check_consistent_length(s, y)
        if np.isnan(s).any() and settings["missing"] != "drop":
            raise ValueError("protected is numeric with missing values: missing='drop' is needed")
        positions = np.flatnonzero(~np.isnan(s))
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.of_numbers(
                s[positions], y[positions], weight[positions], positions, **options
            )


def _report_of_numbers(contrast, settings):
    """Return the report of a numeric protected column: one row."""
    low, high = (np.nan, np.nan)
    if contrast.interval is not None:
        low, high = contrast.interval(settings["significance"])
    p_value, test = (np.nan, "") if contrast.p_value is None else contrast.p_value()
    is_undefined = bool(np.isnan(contrast.value))
    weight = settings["sample_weight"]
    n = float(len(settings["y_pred"]) if weight is None else np.sum(weight))
    name = getattr(settings["protected"], "name", None) or "protected"
    row = [name, "all", "a number", n, n, contrast.value, low, high, p_value, p_value, test]
    reason = "nothing varies" if is_undefined else ""
    return pd.DataFrame([[*row, is_undefined, reason]], columns=COLUMNS)
