"""Types and ranges of the settings that measures share."""

from collections.abc import Hashable
from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from skdisc._stats import CORRECTIONS
from skdisc._utils._settings import AT_LEAST_ONE, COUNT, INNER_SHARE, NOT_NEGATIVE

_ANY_REAL = Interval(Real, None, None, closed="neither")
CONSTRAINTS = {
    "average": [str],
    "intersections": [Integral],
    "missing": [str],
    "min_size": [_ANY_REAL],
    "weights": [str],
    "significance": [Interval(Real, 1e-12, 1, closed="left")],  # 1 - level / 2 < 1
    "correction": [StrOptions(set(CORRECTIONS))],
    "n_resamples": [COUNT],
    "permutations": [COUNT],
    "random_state": ["random_state"],
    "haldane": ["boolean"],
    "pooled": ["boolean"],
    "normalized": ["boolean"],
    "hedges": ["boolean"],
    "quantile": [INNER_SHARE],
    "zero_division": [Real],
    "n_bins": [AT_LEAST_ONE, None],
    "n_strata": [AT_LEAST_ONE],
    "n_clusters": [AT_LEAST_ONE],
    "n_neighbors": [AT_LEAST_ONE],
    "threshold": [_ANY_REAL],
    "min_gap": [NOT_NEGATIVE],
}


def check_settings(caller, **settings):
    """Raise ValueError, of which the name of `caller` is a part, about a setting not allowed."""
    reference = settings.get("reference")
    if not isinstance(reference, (Hashable, dict)):
        raise ValueError(f"reference must be a group, a rule or a dict, got {reference!r}.")
    constraints = {name: CONSTRAINTS[name] for name in settings if name in CONSTRAINTS}
    validate_parameter_constraints(constraints, settings, caller_name=caller)
