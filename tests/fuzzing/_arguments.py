"""Settings for cases: small ones that keep a case short, other allowed ones, and wrong ones."""

from numbers import Integral

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from fuzzing._hazards import pick
from skdisc import Limits

SMALL = {
    "limits": Limits(tests=50),
    "n_resamples": 9,
    "n_restarts": 2,
    "n_seeds": 5,
    "n_local": 3,
    "max_iter": 2,
    "n_pool": 60,
    "n_neighbors": 3,
    "max_predicates": 2,
    "n_population": 6,
    "n_generations": 2,
    "n_samples": 60,
    "n_boundary": 40,
    "n_baseline": 20,
    "n_checks": 5,
    "min_rows": 5,
    "margin": 0.2,
    "first_batch": 20,
    "max_draws": 200,
    "n_repeats": 1,
    "random_state": 0,
}
_PEOPLE = pd.DataFrame({"a": [5, 1, 0], "b": [1, 2, 3]}, ["F", "M", "3"])  # by name and group
OF_ONE = {  # a parameter that other detectors use for other things
    "ExpGA": {"n_draws": 20},
    "FlipTest": {"n_draws": 1},
    "CounterfactualFairness": {"n_resamples": 2},
    "SurnameGeocoding": {"surnames": _PEOPLE, "places": _PEOPLE, "surname": 0, "place": -1},
    "DisparityPursuit": {"nuisance": "additive", "n_resamples": 0},
}
_COSTLY = {"n_jobs", "memory", "verbose", "random_state", "synthesizer", "estimator", "cache"}
_MEANINGFUL = {"protected", "X", "y", "y_true", "y_pred", "sample_weight"}  # from the table
_WRONG = (
    *(None, -1, 0, 1, 2, 0.5, 1.5, -0.0, np.nan, np.inf, -np.inf, 1e308, 5e-324),
    *("bogus", "", b"x", True, [], [1], ["a", "b"], (), {}, {"a": 1}, object()),
    *(np.zeros(3), np.int64(3), np.float32(0.5), pd.NA, pd.DataFrame(), {"sex"}, lambda *a: 1),
)
_MOST = 50  # the largest number drawn for a setting
_TRAININGS = {"n_folds": 5}  # each trains models anew: they take what is asked for


def small_settings(cls) -> dict:
    """Return settings that keep an estimator's work short."""
    known = set(cls._get_param_names())
    if "tests" not in getattr(cls, "limit_fields", {}):  # a limit that is not used is an error
        known.discard("limits")
    return {k: v for k, v in (SMALL | OF_ONE.get(cls.__name__, {})).items() if k in known}


def other_settings(cls, rng) -> dict:
    """Return one or two other settings of an estimator: half of the time all of them allowed."""
    constraints = getattr(cls, "_parameter_constraints", {})
    names = [n for n in cls._get_param_names() if n not in _COSTLY | _MEANINGFUL]
    chosen = [pick(rng, names) for _ in range(int(rng.integers(0, 3))) if names]
    is_allowed = rng.random() < 0.75
    allowed = {n: _allowed(constraints.get(n, []), rng, _TRAININGS.get(n, _MOST)) for n in chosen}
    if is_allowed:
        return {n: v for n, v in allowed.items() if v is not None}
    return {n: pick(rng, _WRONG) for n in chosen[:1]}


def _allowed(constraints, rng, most):
    """Return a value that the constraints of a parameter allow, or None where they do not say."""
    listed = constraints if isinstance(constraints, list) else []
    options = [sorted(c.options) for c in listed if isinstance(c, StrOptions)]
    options += [[True, False] for c in listed if c in ("boolean", bool)]
    options += [_within(c, most) for c in listed if isinstance(c, Interval)]
    return pick(rng, pick(rng, options)) if options else None


def _within(interval, most):
    low = -3 if interval.left is None else interval.left
    high = most if interval.right is None else min(interval.right, most)
    if interval.type is Integral:
        values = [int(v) for v in (low, high, low + 1, 3)]
    else:
        values = [float(low), float(high), float(low + high) / 2, 0.1]
    return [v for v in values if v in interval] or [None]


def wrong_value(rng):
    """Return a value that few parameters allow."""
    return pick(rng, _WRONG)
