"""Predefined protocols: detectors, data sets, audited models, and numbers of repeats."""

from pathlib import Path
from typing import Any

import pandas as pd

from skdisc._registry import all_detectors
from skdisc._task._limits import Limits
from skdisc._utils._files import write_text
from skdisc._utils._types import FilePath
from skdisc.base import BaseDetector
from skdisc.benchmark._benchmark_result import BenchmarkResult
from skdisc.benchmark._run import run_benchmark
from skdisc.benchmark._tune import tune_detectors, with_best

BASE = {"n_pairs": 6, "n_attributes": 8, "granularity": 2, "intersectionality": 1, "bias": 1.5}
BASE |= {"group_size": 150, "n_background": 1500}
QUICK = {**BASE, "n_pairs": 4, "n_attributes": 6, "bias": (1.0, 4.0)}
QUICK |= {"group_size": 75, "n_background": 400}  # all detectors take less than two minutes of CPU
VARIED = {
    "granularity": [0, 1, 2, 3],
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
    "correlation": [0.3],
    "graph": ["roles"],
    "reference": ["adult", "compas"],
}
MODELS = ("tree", "forest", "boosting", "logistic", "mlp")

ROOM = {  # what else it takes so that pairs with these values can be planted
    "granularity=0": {"n_pairs": 2, "n_values": 5},
    "intersectionality=3": {"protected_share": 0.4},
}


def _grid(names):
    """Return the base data set, and one for each other value of each of these parameters.

    Data learned from a reference have as many attributes as it has.
    """
    datasets = {"base": dict(BASE)}
    for name in names:
        base = {k: v for k, v in BASE.items() if name != "reference" or k != "n_attributes"}
        for value in VARIED[name]:
            if BASE.get(name) != value:
                title = f"{name}={value}"
                datasets[title] = {**base, name: value, **ROOM.get(title, {})}
    return datasets


PROTOCOLS = {
    "quick": {
        "datasets": {"base": QUICK},
        "audited": ("labels", "tree"),
        "n_repeats": 1,
        "limits": Limits(queries=5_000),  # no time limit: nothing is stopped by a slow machine
    },
    "medium": {
        "datasets": _grid(VARIED),
        "audited": ("labels", "oracle", *MODELS),
        "n_repeats": 3,
        "limits": Limits(queries=20_000, seconds=60),  # the machine decides nothing
    },
    "article": {
        "datasets": _grid(VARIED),
        "audited": ("labels", "oracle", *MODELS),
        "n_repeats": 20,
        "limits": Limits(queries=100_000, seconds=60),
    },
}


def default_detectors() -> dict[str, BaseDetector]:
    """Return all detectors by name, with the settings that the protocols use.

    Returns
    -------
    dict of name to detector

    Examples
    --------
    >>> "DivExplorer" in default_detectors()
    True
    """
    return {name: cls(**_SETTINGS.get(name, {})) for name, cls in all_detectors().items()}


_LATTICE = {"max_predicates": 4, "min_support": 0.01}  # includes the planted subgroups
_SLICES = {**_LATTICE, "errors": "unfavorable"}
_SETTINGS = {
    "BiasScan": {"n_restarts": 5, "n_resamples": 49},
    "CounterfactualFairness": {"n_resamples": 0},
    "DiscriminationPatterns": _LATTICE,
    "DiscriminatoryRules": _LATTICE,
    "DisparityPursuit": {"max_predicates": 4},
    "DivExplorer": _LATTICE,
    "FACTS": {"min_support": 0.01},
    "GroupDisparity": {"measures": ["mean_difference"], "reference": "rest"},
    "SliceFinder": _SLICES,
    "SliceLine": _SLICES,
}


def default_grids() -> dict[str, dict]:
    """Return the settings that `tune_detectors` tries for each detector, by name.

    No setting changes the measure of the effect, because scores of different measures cannot be
    compared.

    Returns
    -------
    dict of name to dict

    Examples
    --------
    >>> default_grids()["LIMI"]
    {'step': [0.1, 0.3, 1.0]}
    """
    return {name: dict(grid) for name, grid in _GRIDS.items()}


_GRIDS = {
    "ADF": {"next_state": ["walk", "restart"]},
    "Aequitas": {"mode": ["random", "semi", "fully"]},
    "BiasScan": {"penalty": [0.5, 1.0, 2.0]},
    "BoundarySearch": {"share": [0.1, 0.2, 0.5]},
    "CounterfactualFairness": {"min_gap": [0.0, 0.5]},
    "CounterfactualSituationTesting": {"n_neighbors": [5, 15, 30]},
    "DiscriminationPatterns": {"delta": [0.01, 0.05]},
    "DiscriminatoryRules": {"max_predicates": [3, 4]},
    "DisparityPursuit": {"nuisance": ["boosting", "additive"]},
    "DivExplorer": {"max_predicates": [3, 4]},
    "EIDIG": {"momentum": [0.0, 0.5]},
    "ExactTree": {"n_checks": [100, 1000]},
    "ExpGA": {"mutation": [0.05, 0.2]},
    "FACTS": {"min_support": [0.01, 0.05]},
    "FlipTest": {"max_distance": [0.5, 1.0, None]},
    "GroupDisparity": {"intersections": [1, 2]},
    "KOSEI": {"n_seeds": [500, 2000]},
    "LIMI": {"step": [0.1, 0.3, 1.0]},
    "SG": {"n_seeds": [100, 1000]},
    "SituationTesting": {"n_neighbors": [5, 15, 30]},
    "SliceFinder": {"effect_size": [0.2, 0.4]},
    "SliceLine": {"alpha": [0.9, 0.95]},
    "Themis": {"margin": [0.02, 0.1]},
    "VeriFair": {"slack": [0.15, 0.2]},
}


def run_protocol(
    name: str,
    *,
    detectors: dict[str, BaseDetector] | None = None,
    tune: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    out: FilePath | None = None,
    verbose: bool = False,
    **changes: Any,
) -> BenchmarkResult:
    """Run a predefined protocol.

    Parameters
    ----------
    name : {"quick", "medium", "article"}
        "quick": one drawing of one data set; the decisions and a tree; two minutes of CPU time and
        no limit on time. "medium": all properties of the planted groups, varied one at a time; the
        decisions, the law of the outcome and five models, with 3 repeats; hours. "article": the
        same with 20 repeats and larger limits; days.
    detectors : dict of name to detector, default=None
        None stands for `default_detectors`.
    tune : bool, default=False
        First choose the settings of each detector from `default_grids`, on a draw that is not used
        for the comparison, and store the scores of all settings as ``tuning.csv`` in `out`.
        Detectors that are in this file already are not tuned again.
    random_state : int, default=0
        As in `run_benchmark`.
    n_jobs : int or None, default=None
        As in `run_benchmark`.
    out : str or Path, default=None
        As in `run_benchmark`.
    verbose : bool, default=False
        As in `run_benchmark`.
    **changes
        Values of datasets, audited, n_repeats or limits that replace those of the protocol.

    Returns
    -------
    BenchmarkResult

    Raises
    ------
    ValueError
        If the protocol is unknown.

    Examples
    --------
    >>> from skdisc.subgroup import DivExplorer
    >>> data = {"strong": {"n_pairs": 2, "bias": 3.0, "n_background": 200}}
    >>> few = {"datasets": data, "audited": ["labels"], "n_repeats": 1}
    >>> run_protocol("quick", detectors={"DivExplorer": DivExplorer()}, **few)
    BenchmarkResult(1 detectors, 1 data sets, 1 cells, 1 targets, 0 failed)
    """
    if name not in PROTOCOLS:
        raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {name!r}.")
    protocol = {**PROTOCOLS[name], **changes}
    detectors = default_detectors() if detectors is None else detectors
    if tune:
        settings = {"limits": protocol["limits"], "random_state": random_state}
        detectors = _tuned(detectors, out, settings)
    technical = {"random_state": random_state, "n_jobs": n_jobs, "out": out, "verbose": verbose}
    return run_benchmark(detectors, protocol.pop("datasets"), **protocol, **technical)


def _tuned(detectors, out, settings):
    """Return detectors with the best of the settings tried; each is tuned and stored in turn."""
    path = None if out is None else Path(out) / "tuning.csv"
    tried = [pd.read_csv(path)] if path is not None and path.is_file() else []
    tuned = set(tried[0]["detector"]) if tried else set()
    for name in [n for n in detectors if n in _GRIDS and n not in tuned]:
        one = {name: detectors[name]}
        tried.append(tune_detectors(one, {"base": BASE}, {name: _GRIDS[name]}, **settings)[1])
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, pd.concat(tried).to_csv(index=False))
    return with_best(detectors, pd.concat(tried)) if tried else detectors
