"""Cases of measures, their reports, tables of several measures, and scorers."""

import inspect

import numpy as np
import pandas as pd

from fuzzing._answers import wrong_in_table
from fuzzing._arguments import wrong_value
from fuzzing._case import FuzzCase
from fuzzing._detector_cases import HashedRows, names_of
from fuzzing._hazards import hostile_table, pick
from skdisc import measures

_FUNCTIONS = [n for n in measures.__all__ if inspect.isfunction(getattr(measures, n))]
_CALLS = [n for n in _FUNCTIONS if n not in ("catalogue", "get_scorer", "get_scorer_names")]
_SETTINGS = {  # values that are allowed, of the parameters that have a few
    "reference": ["largest", "rest", "best", "F", "M", "none such"],
    "average": ["max", "weighted", "defined"],
    "intersections": [1, 2],
    "missing": ["category", "drop", "raise"],
    "min_size": [1, 5, 1000],
    "weights": ["probability", "frequency"],
    "pos_label": ["auto", None, 1, 0, "yes", "high", "low", [1, 2]],
    "significance": [0.01, 0.5],
    "correction": ["bh", "by", "bonferroni", "holm", None],
    "permutations": [0, 19],
    "random_state": [0, None],
    "zero_division": [np.nan, 0.0, 1.0],
    "haldane": [True, False],
    "hedges": [True, False],
    "quantile": [0.01, 0.5, 0.9],
    "pooled": [True, False],
    "normalized": [True, False],
    "n_bins": [1, 2, 10],
    "loss": ["squared", "absolute"],
    "n_strata": [1, 2, 5],
    "n_neighbors": [1, 5, 500],
    "threshold": [0.0, 0.1, 1.0],
    "min_gap": [0.0, 0.5],
    "n_clusters": [1, 3, 1000],
    "convention": ["pairs", "means"],
}
_TABLES = ("X", "explanatory", "strata", "covariates", "redlining")


def measure_case(number: int, rng: np.random.Generator) -> FuzzCase:
    """Return the case of one measure, on a table and with settings that are drawn."""
    if rng.random() < 0.12:
        return _scorer_case(number, rng)
    name = pick(rng, _CALLS)
    function, table = getattr(measures, name), hostile_table(rng)
    parameters = inspect.signature(function).parameters
    given = _arguments(parameters, table, rng)
    asks = {"again": rng.random() < 0.3, "permuted": rng.random() < 0.3}

    def run():
        answer = function(**given)
        found = wrong_in_answer(answer)
        if asks["again"] and given.get("random_state", 0) is not None:
            found += differs(answer, function(**given), "again")
        is_drawn = given.get("permutations") and given.get("random_state", 0) is None
        if asks["permuted"] and name.removesuffix("_report") in _ORDERLESS and not is_drawn:
            turned = function(**_permuted(given))
            found += differs(_estimates(answer), _estimates(turned), "in another order of the rows")
        return found

    shown = {k: v for k, v in given.items() if k not in (*_TABLES, "y_true", "y_pred")}
    shown = {k: v for k, v in shown.items() if k not in ("protected", "sample_weight", "groups")}
    call = f"measures.{name}({shown}, protected={_kind(given.get('protected'))}); {table.hazards}"
    return FuzzCase(number, call, run, names_of(table, parameters))


_ORDERLESS = {"mean_difference", "normalized_difference", "impact_ratio", "elift", "odds_ratio"}
_ORDERLESS |= {"equal_opportunity", "equalized_odds", "average_odds_difference", "correlation"}
_ORDERLESS |= {"group_rates", "predictive_parity", "two_proportions_test", "area_under_curve"}


def _estimates(answer):
    """Return the part of an answer that no drawing of rows changes."""
    known = ("measure", "attribute", "group", "reference", "n", "estimate", "p_value")
    return answer[[c for c in known if c in answer]] if isinstance(answer, pd.DataFrame) else answer


def _arguments(parameters, table, rng):
    """Return arguments of a measure; most of its settings keep their defaults."""
    names = list(table.protected) if isinstance(table.protected, list) else table.protected
    given = {
        "y_true": table.labels if rng.random() < 0.8 else None,
        "y_pred": table.y,
        "protected": _protected(table, names),
        "sample_weight": table.weight,
        "groups": table.groups,
        "estimator": HashedRows(),
        "measure": getattr(measures, pick(rng, ["mean_difference", "odds_ratio", "rank_test"])),
        "n_resamples": 19,
    }
    given |= {name: _table_for(name, table, rng) for name in _TABLES}
    if "estimator" in parameters:  # the twin test, and strata of propensity
        is_model = parameters["estimator"].default is inspect.Parameter.empty
        given |= {"protected": names} if is_model else {"estimator": None}
    free = [n for n in parameters if n in _SETTINGS]
    for name in (pick(rng, free) for _ in range(int(rng.integers(0, 3))) if free):
        given[name] = pick(rng, _SETTINGS[name])
    if free and rng.random() < 0.12:
        given[pick(rng, free)] = wrong_value(rng)
    if "settings" in parameters:
        given["settings"] = {}
    return {n: given[n] for n in parameters if n in given and n != "settings"}


def _protected(table, names):
    """Return the protected columns as a measure takes them: values, not names."""
    try:
        columns = table.X[list(names)]
    except Exception:
        return names
    return columns.iloc[:, 0] if columns.shape[1] == 1 else columns


def _table_for(name, table, rng):
    if name == "X":
        return table.X
    try:
        return table.X.iloc[:, int(rng.integers(table.X.shape[1]))]
    except Exception:
        return table.X


def _permuted(given):
    """Return the arguments with their rows in reverse order."""
    rows = ("y_true", "y_pred", "protected", "sample_weight", "groups", *_TABLES)
    return {k: _reversed(v) if k in rows and v is not None else v for k, v in given.items()}


def _reversed(values):
    return values.iloc[::-1] if hasattr(values, "iloc") else values[::-1]


def _kind(value):
    is_short = value is None or isinstance(value, (str, list, dict, float))
    return value if is_short else type(value).__name__


def _scorer_case(number, rng):
    """Return the case of one scorer, made by its name."""
    name, table = pick(rng, measures.get_scorer_names()), hostile_table(rng)
    settings = {n: pick(rng, _SETTINGS[n]) for n in ("reference", "average") if rng.random() < 0.2}
    if rng.random() < 0.5:
        settings["explanatory"] = pick(rng, ["town", "income", "gone"])
    if rng.random() < 0.15:
        settings[pick(rng, ["reference", "average", "pos_label", "bogus"])] = wrong_value(rng)

    def run():
        scorer = measures.get_scorer(name, protected=table.protected, **settings)
        score = scorer(HashedRows(), table.X, table.y)
        entry = measures.catalogue().loc[scorer.measure]
        is_bounded = entry["scale"] == "ratio" or np.isfinite(entry["maximum"])
        is_wrong = score > 1 or (np.isinf(score) and is_bounded)
        return [f"score = {score}"] if is_wrong else []

    call = f"get_scorer({name!r}, {settings}, protected={table.protected}); {table.hazards}"
    names = names_of(table, {"protected", "bogus", *_SETTINGS})
    return FuzzCase(number, call, run, names)


def wrong_in_answer(answer) -> list:
    """Return what is wrong in a number, an array of strata, or a report."""
    if isinstance(answer, pd.DataFrame):
        return wrong_in_table(answer)
    if isinstance(answer, (float, int, np.ndarray)):
        return []
    return [f"{type(answer).__name__} is neither a number nor a table"]


def differs(answer, again, how: str) -> list:
    """Return what differs between two answers that should be the same."""
    if isinstance(answer, pd.DataFrame):
        by = [c for c in ("measure", "attribute", "group", "reference") if c in answer]
        key = {"key": lambda c: c.astype(str), "ignore_index": True}
        tables = [t.sort_values(by, **key) if by else t for t in (answer, again)]
        try:
            pd.testing.assert_frame_equal(*tables, rtol=1e-6, atol=1e-9)
        except AssertionError as error:
            return [f"{how}, the report differs: {' '.join(str(error).split())[:200]}"]
        return []
    same = np.allclose(answer, again, rtol=1e-6, atol=1e-9, equal_nan=True)
    return [] if same else [f"{answer}, and {again} {how}"]
