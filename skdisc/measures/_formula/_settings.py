"""Types and ranges of the settings that measures share."""

from collections.abc import Hashable
from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from skdisc._stats import CORRECTIONS

_COUNT, _SOME = (Interval(Integral, low, None, closed="left") for low in (0, 1))
_ANY_REAL = Interval(Real, None, None, closed="neither")
CONSTRAINTS = {
    "average": [str],
    "intersections": [Integral],
    "missing": [str],
    "min_size": [_ANY_REAL],
    "weights": [str],
    "significance": [Interval(Real, 1e-12, 1, closed="left")],  # 1 - level / 2 < 1
    "correction": [StrOptions(set(CORRECTIONS))],
    "n_resamples": [_COUNT],
    "permutations": [_COUNT],
    "random_state": ["random_state"],
    "haldane": ["boolean"],
    "pooled": ["boolean"],
    "normalized": ["boolean"],
    "hedges": ["boolean"],
    "quantile": [Interval(Real, 0, 1, closed="neither")],
    "zero_division": [Real],
    "n_bins": [_SOME, None],
    "n_strata": [_SOME],
    "n_clusters": [_SOME],
    "n_neighbors": [_SOME],
    "threshold": [_ANY_REAL],
    "min_gap": [Interval(Real, 0, None, closed="left")],
}


def check_settings(caller, **settings):
    """Raise ValueError, of which the name of `caller` is a part, about a setting not allowed."""
    reference = settings.get("reference")
    if not isinstance(reference, (Hashable, dict)):
        raise ValueError(f"reference must be a group, a rule or a dict, got {reference!r}.")
    constraints = {name: CONSTRAINTS[name] for name in settings if name in CONSTRAINTS}
    validate_parameter_constraints(constraints, settings, caller_name=caller)
