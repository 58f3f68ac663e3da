"""Names of settings in papers and other tools, and what they are called here."""

import inspect
from typing import Any, Self

from skdisc._utils._validation import closest

# What each published name is here; not every class has such a setting.
PUBLISHED_NAMES = {
    "K": "k",
    "alpha": "rule",
    "bias_scan_favorable_value": "pos_label",
    "bias_scan_mode": "mode",
    "bias_scan_num_iters": "n_restarts",
    "bias_scan_scoring": "scoring",
    "cluster_num": "n_clusters",
    "decay": "momentum",
    "degree": "max_predicates",
    "drop_na": "missing",
    "dt_max_depth": "max_depth",
    "epsilon": "effect_size",
    "gamma": "min_gap",
    "k": "n_neighbors",
    "lambda_val": "step",
    "local_search_limit": "n_local",
    "max_global": "n_seeds",
    "max_l": "max_predicates",
    "max_local": "n_local",
    "min_effect_size": "effect_size",
    "min_size": "min_rows",
    "model_type": "estimator",
    "n_approx_samples": "n_boundary",
    "n_test_samples": "n_samples",
    "num_samples": "n_seeds",
    "one_attr_at_a_time": "scope",
    "protected_attributes": "protected",
    "random_seed": "random_state",
    "th_redundancy": "redundancy",
    "update_interval": "refresh_interval",
}

# Published names of fields of an object, by the setting that takes it, and what they are here.
FIELDS = {
    "actions": {
        "action_bins": "n_bins",
        "action_features": "columns",
        "action_support": "min_support",
        "feats_not_allowed_to_change": "immutable",
        "immutable": "immutable",
        "max_step": "max_step",
        "monotone": "monotone",
        "numeric_action": "numbers",
    },
    "costs": {
        "budget": "budget",
        "c_inf": "infinity",
        "cost": "function",
        "feature_weights": "weights",
        "weights": "weights",
    },
    "limits": {
        "max_found": "found",
        "max_queries": "queries",
        "max_rows": "rows",
        "max_runtime_seconds": "seconds",
        "max_tests": "tests",
        "max_tsn": "tests",
        "time_budget": "seconds",
    },
    "similarity": {
        "caliper": "caliper",
        "compat": "metric",
        "max_distance": "max_distance",
        "metric": "metric",
        "scale": "scale",
    },
}
THREADS = ("max_workers", "n_jobs")  # of the model, which detectors share


def meant_by(name, settings):
    """Return the end of a sentence: which of the settings an unknown name means, or a period."""
    new_name = PUBLISHED_NAMES.get(name)
    if new_name in settings:
        return f"; it is {new_name!r} in skdisc."
    for setting, fields in FIELDS.items():
        if name in fields and setting in settings:
            return f"; write {setting}={setting.capitalize()}({fields[name]}=...)."
    if name in THREADS and "n_jobs" not in settings:
        return "; threads belong to the model: fit(X, y, BlackBox(model, n_jobs=...))."
    return closest(name, settings)


class SaysWhatIsMeant:
    """Refuses unknown settings by a TypeError that says which one is meant."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Return an object; raise TypeError for an unknown setting, with the one that is meant."""
        if kwargs:
            parameters = inspect.signature(cls.__init__).parameters
            takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
            unknown = [name for name in kwargs if name not in parameters]
            if unknown and not takes_any:
                name, settings = unknown[0], list(parameters)[1:]
                raise TypeError(
                    f"{cls.__name__}.__init__() got an unexpected keyword argument {name!r}"
                    f"{meant_by(name, settings)}"
                )
        return super().__new__(cls)
