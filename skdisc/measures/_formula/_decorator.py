"""Turn one formula into a measure: the function that returns a float, and its report."""

import inspect
import re
from functools import partial, wraps

import numpy as np
from sklearn.utils import check_consistent_length

from skdisc._utils._sample_weight import check_weights
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.measures._formula._decisions import as_numbers, check_target, group_decisions
from skdisc.measures._formula._evaluation import AVERAGES, Evaluation, omnibus
from skdisc.measures._formula._strata import strata_codes

_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD
_COMMON = {
    "protected": inspect.Parameter.empty,
    "reference": "largest",
    "average": "max",
    "intersections": 1,
    "missing": "category",
    "min_size": 1,
    "sample_weight": None,
    "pos_label": 1,
}
_ONLY_REPORT = {
    "significance": 0.05,
    "correction": "bh",
    "n_resamples": 999,
    "permutations": 0,
    "random_state": 0,
}
_TEXTS = {
    "y_true": "array-like of shape (n,), labels, or None{labels}",
    "y_pred": "array-like of shape (n,), the decisions; past decisions are measured as `y_pred`",
    "protected": "array-like of shape (n,) or (n, n_columns), or DataFrame: the protected values",
    "reference": 'group, "largest", "best", "rest", "overall" or "pairs", default="largest"; whom\n'
    "    each group is compared with: one group, everyone else, everyone, or every larger group",
    "average": '{"max", "weighted"}, default="max"; of several groups: the value furthest from no\n'
    "    discrimination, or the mean weighted by the sizes of the groups",
    "intersections": "int, default=1; up to how many protected columns are combined",
    "missing": '{"category", "drop", "raise"}, default="category"; missing protected values',
    "min_size": "float, default=1; smaller groups are left out, and listed in the report",
    "sample_weight": "array-like of shape (n,), default=None; how often each row counts",
    "pos_label": "label or set of labels, default=1; the favourable decision; None: decisions are\n"
    "    numbers, and more is better",
    "significance": "float, default=0.05; one minus the confidence of the intervals",
    "correction": '{"bh", "by", "holm", "bonferroni", "none"}, default="bh"; for several groups',
    "n_resamples": "int, default=999; of the bootstrap, where there is no closed interval",
    "permutations": "int, default=0; above 0 the p-values come from as many permutations",
    "random_state": "int, RandomState instance or None, default=0",
}
_RETURNS = "value : float, NaN where undefined\n    See `{name}_report` for every group."
_REPORT = """Every group of `{name}`: value, interval, test, and who is left out and why.

Parameters
----------
{parameters}

Returns
-------
table : DataFrame
    One row per comparison: attribute, group, reference, n, n_reference (weights), estimate, ci_low,
    ci_high, p_value, p_adjusted, test, excluded, reason. What is undefined is NaN and `excluded`,
    with a reason. The interval is closed where {name} has one, else a stratified bootstrap.

See Also
--------
{name} : The measure, as one number.
"""
_SECTION = re.compile(r"^(Other Parameters|Notes|References|Examples)\n-+\n", re.MULTILINE)


def measure(function=None, *, by_rows=False, omnibus=False, each=False, of_numbers=None):
    """Turn `function`, pair -> Contrast, into a measure, and put its report beside it.

    Parameters
    ----------
    function : callable
        Its name is a key of the catalogue; keyword-only parameters are options of the measure. An
        option `explanatory` gives the strata of the pair. In its docstring the options
        stand under "Other Parameters".
    by_rows : bool, default=False
        Whether it needs rows even where counts would do.
    omnibus : bool, default=False
        Whether it compares all groups at once; it then has no `reference` and no `average`.
    each : bool, default=False
        Whether it looks at each group alone; it then has no `reference`.
    of_numbers : callable, default=None
        (s, y, weight, position, **options) -> Contrast, for a protected column that is a number.
    """
    if function is None:
        how = {"by_rows": by_rows, "omnibus": omnibus, "each": each, "of_numbers": of_numbers}
        return partial(measure, **how)
    plan = _MeasurePlan(function, by_rows, omnibus, each, of_numbers)

    @wraps(function)
    def value(*args, **kwargs):
        settings = plan.bind(value, args, kwargs)
        average = settings.get("average", "max")
        if average not in AVERAGES:
            raise ValueError(f"average must be one of {AVERAGES}, got {average!r}")
        evaluation = plan.evaluate(settings)
        if not isinstance(evaluation, Evaluation):
            return float(evaluation.value)
        return evaluation.reduce(evaluation.values(evaluation.contrasts()), average)

    @wraps(function)
    def report(*args, **kwargs):
        settings = plan.bind(report, args, kwargs)
        evaluation = plan.evaluate(settings)
        if not isinstance(evaluation, Evaluation):
            return numbers_report(evaluation, settings)
        return evaluation.report(**{name: settings[name] for name in _ONLY_REPORT})

    value.entry, value.plan, value.report = plan.entry, plan, report
    plan.describe(value, report)
    return value


class _MeasurePlan:
    """How a measure is called, checked and evaluated."""

    def __init__(self, function, by_rows, omnibus, each, of_numbers):
        self.function, self.by_rows, self.omnibus = function, by_rows, omnibus
        self.each, self.of_numbers, self.entry = each, of_numbers, CATALOGUE[function.__name__]
        self.options = dict(list(inspect.signature(function).parameters.items())[1:])

    @property
    def _needs_strata(self):
        default = inspect.Parameter.empty
        return "explanatory" in self.options and self.options["explanatory"].default is default

    def describe(self, value, report):
        """Give both functions their signature, docstring and place."""
        own, module = self.function.__name__, self.function.__globals__
        common = dict(_COMMON)
        for name in ("reference", "average") if self.omnibus else ("reference",) * self.each:
            del common[name]
        shared = [inspect.Parameter(n, _PLAIN) for n in ("y_true", "y_pred")]
        shared += [inspect.Parameter(n, _KEYWORD, default=d) for n, d in common.items()]
        shared += list(self.options.values())
        more = [inspect.Parameter(n, _KEYWORD, default=d) for n, d in _ONLY_REPORT.items()]
        value.__signature__ = inspect.Signature(shared)
        report.__signature__ = inspect.Signature(shared + more)
        report.__name__ = report.__qualname__ = f"{own}_report"
        doc = inspect.getdoc(self.function)
        head, rest = _split(doc)
        options, rest = _options(rest)
        texts = [*_describe(["y_true", "y_pred", *common], self.entry), *options]
        value.__doc__ = "\n".join(
            [
                *(head, "", "Parameters", "----------", *texts, ""),
                *("Returns", "-------", _RETURNS.format(name=own), "", rest),
            ]
        )
        texts += _describe(_ONLY_REPORT, self.entry)
        report.__doc__ = _REPORT.format(name=own, parameters="\n".join(texts))
        module[report.__name__] = report
        module.setdefault("__test__", {})[own] = value  # where doctest looks for them

    def bind(self, function, args, kwargs):
        """Return all settings by name."""
        bound = function.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def evaluate(self, settings):
        """Check the settings and return an `Evaluation`, or the contrast of a numeric column."""
        options = {name: settings[name] for name in self.options}
        numbers = as_numbers(settings["protected"])
        y_true = settings["y_true"] if self.entry.needs_labels else None
        if self.entry.needs_labels and y_true is None:
            raise ValueError(f"{self.entry.name} compares decisions with labels: y_true is needed")
        if numbers is not None:
            return self._of_numbers(numbers, settings, options)
        strata = None
        if options.get("explanatory") is not None or self._needs_strata:
            strata = strata_codes(settings["explanatory"])
        rows = group_decisions(
            y_true,
            settings["y_pred"],
            settings["protected"],
            strata=strata,
            **{n: settings[n] for n in ("pos_label", "sample_weight", "intersections", "missing")},
        )
        return self.on_rows(rows, settings.get("reference", "rest"), settings["min_size"], options)

    def on_rows(self, rows, reference, min_size, options):
        """Return the `Evaluation` of rows that are checked."""
        if rows.is_numeric and "numeric" not in self.entry.target:
            raise ValueError(
                f"{self.entry.name} is defined for {' and '.join(self.entry.target)} decisions, "
                "got numbers. Compare them with a threshold first, as y_pred >= threshold."
            )
        found = omnibus(rows) if self.omnibus else rows.comparisons(reference, min_size)
        formula = partial(self.function, **options)
        how = (self.by_rows, self.omnibus, self.each)
        return Evaluation(self.entry, formula, rows, found, *how, min_size)

    def _of_numbers(self, s, settings, options):
        if self.of_numbers is None:
            raise ValueError(
                f"{self.entry.name} compares groups, and protected is a number with "
                f"{len(np.unique(s))} values. Bin it first, as pandas.cut(age, [0, 30, 60, 120])."
            )
        y = check_target(settings["y_pred"], settings["pos_label"], "y_pred").astype(float)
        weight = settings["sample_weight"]
        weight = np.ones(len(y)) if weight is None else check_weights(weight, len(y))
        check_consistent_length(s, y, weight)
        if np.isnan(s).any() and settings["missing"] != "drop":
            raise ValueError("protected is a number with missing values: missing='drop' is needed")
        kept = np.flatnonzero(~np.isnan(s))
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.of_numbers(s[kept], y[kept], weight[kept], kept, **options)


def numbers_report(contrast, settings):
    """Return the report of a protected column that is a number: one row."""
    import pandas as pd

    from skdisc.measures._formula._evaluation import COLUMNS

    low, high = (np.nan, np.nan)
    if contrast.interval is not None:
        low, high = contrast.interval(settings["significance"])
    p_value, test = (np.nan, "") if contrast.p_value is None else contrast.p_value()
    gone = bool(np.isnan(contrast.value))
    n = float(np.sum(settings["sample_weight"])) if settings["sample_weight"] is not None else None
    n = float(len(settings["y_pred"])) if n is None else n
    name = getattr(settings["protected"], "name", None) or "protected"
    row = [name, "all", "a number", n, n, contrast.value, low, high, p_value, p_value, test, gone]
    return pd.DataFrame([[*row, "nothing varies" if gone else ""]], columns=COLUMNS)


def _describe(names, entry):
    labels = "; needed" if entry.needs_labels else ": not used"
    return [f"{name} : {_TEXTS[name].replace('{labels}', labels)}" for name in names]


def _split(doc):
    """Split a docstring before its first section."""
    found = _SECTION.search(doc)
    return (doc[: found.start()].rstrip(), doc[found.start() :]) if found else (doc, "")


def _options(rest):
    """Take the text of the section "Other Parameters" out of the sections."""
    found = _SECTION.match(rest)
    if not found or found[1] != "Other Parameters":
        return [], rest
    body, after = rest[found.end() :], ""
    following = _SECTION.search(body)
    if following:
        body, after = body[: following.start()], body[following.start() :]
    return [body.rstrip()], after
