"""Ready protocols: which detectors, which data, what is audited, how often."""

from skdisc._registry import all_detectors
from skdisc.benchmark._run import run_benchmark

BASE = {"n_pairs": 6, "n_attributes": 8, "granularity": 2, "intersectionality": 1, "bias": 1.5}
BASE |= {"group_size": 150, "n_background": 1500}
VARIED = {
    "granularity": [1, 2, 3],
    "intersectionality": [1, 2, 3],
    "similarity": [0.0, 0.5, 1.0],
    "bias": [0.25, 0.5, 1.0, 2.0, 4.0],
    "group_size": [25, 50, 100, 400],
    "imbalance": [-0.8, 0.8],
    "aleatoric": [1.0, 2.0],
    "epistemic": [0.5, 1.0],
    "coverage": [0.1, 0.3],
    "bias_in": ["proxy", "both"],
    "null_fraction": [0.0, 0.9, 1.0],
}
MODELS = ("tree", "forest", "boosting", "logistic", "mlp")


def _grid(names):
    """Return the base data set, and one for each other value of each parameter named."""
    found = {"base": dict(BASE)}
    for name in names:
        found |= {f"{name}={v}": {**BASE, name: v} for v in VARIED[name] if BASE.get(name) != v}
    return found


PROTOCOLS = {
    "quick": {
        "datasets": {"base": BASE, "bias=4.0": {**BASE, "bias": 4.0}},
        "audited": ("labels", "tree"),
        "n_repeats": 1,
        "budget": {"max_queries": 5_000, "time_budget": 2},
    },
    "medium": {
        "datasets": _grid(["granularity", "bias", "group_size"]),
        "audited": ("labels", "forest"),
        "n_repeats": 2,
        "budget": {"max_queries": 20_000, "time_budget": 5},
    },
    "article": {
        "datasets": _grid(VARIED),
        "audited": ("labels", "oracle", *MODELS),
        "n_repeats": 20,
        "budget": {"max_queries": 100_000, "time_budget": 60},
    },
}


def unchanged_otherwise(X, do):
    """Return the rows with other protected values, everything else as it is.

    The counterfactual of the generator's people where protected attributes have no effects on
    others.

    Parameters
    ----------
    X : DataFrame
    do : dict of column name to value or values

    Returns
    -------
    DataFrame
    """
    return X.assign(**do)


def default_detectors():
    """Return every detector with the settings that the protocols use, by name.

    Examples
    --------
    >>> "DivExplorer" in default_detectors()
    True
    """
    return {name: cls(**_SETTINGS.get(name, {})) for name, cls in all_detectors().items()}


_SETTINGS = {
    "BiasScan": {"n_restarts": 5, "n_bootstrap": 49},
    "CounterfactualFairness": {"n_resamples": 0},
    "DivExplorer": {"max_predicates": 3, "min_support": 0.01},
    "GroupDisparity": {"measures": ["mean_difference"], "reference": "rest"},
}


def run_protocol(
    name, *, detectors=None, random_state=0, n_jobs=None, out=None, verbose=False, **changes
):
    """Run a ready protocol.

    Parameters
    ----------
    name : {"quick", "medium", "article"}
        quick: two data sets, minutes. medium: three properties of what is planted varied one at a
        time, half an hour on two cores. article: all of them, the decisions, the law and five
        models, 20 repeats; days.
    detectors : dict of name to detector, default=None
        None: `default_detectors`.
    random_state, n_jobs, out, verbose : as in `run_benchmark`
    **changes
        Other values of datasets, audited, n_repeats or budget.

    Returns
    -------
    BenchmarkResult
    """
    if name not in PROTOCOLS:
        raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {name!r}.")
    how = {**PROTOCOLS[name], **changes}
    detectors = default_detectors() if detectors is None else detectors
    technical = {"random_state": random_state, "n_jobs": n_jobs, "out": out, "verbose": verbose}
    return run_benchmark(detectors, how.pop("datasets"), **how, **technical)
