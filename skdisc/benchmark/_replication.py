"""Published success rates next to those measured on the original networks."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.neural_network import MLPClassifier

from skdisc import _stats
from skdisc._blackbox._blackbox import BlackBox
from skdisc._space._feature_space import FeatureSpace
from skdisc._utils._types import FilePath
from skdisc.benchmark._protocols import default_detectors
from skdisc.individual._base import IndividualDetector

NETWORKS = (
    *(("census", 0, "age"), ("census", 7, "race"), ("census", 8, "gender")),
    *(("bank", 0, "age"), ("credit", 12, "age"), ("credit", 8, "gender")),
)
# In the order of NETWORKS; None if not published. Sources:
# Themis: share of uniform inputs, ADF paper, table 3. Aequitas, ADF: ADF paper, tables 4, 6, 9.
# SG: ADF paper, table 5 (500 s). ExpGA: its own paper, one hour on other networks.
PUBLISHED = {
    "Themis": (0.1088, 0.0975, 0.0314, 0.0460, 0.2793, 0.0768),
    "Aequitas": (0.11, 0.09, 0.09, 0.27, 0.39, 0.15),
    "ADF": (256_980 / 491_650, 139_179 / 344_162, 47_644 / 259_227, None, 233_664 / 398_209, None),
    "SG": (544 / 1290, 632 / 1541, 282 / 1480, 842 / 1385, 1574 / 2752, 926 / 3202),
    "ExpGA": (0.678, 0.334, 0.287, 0.579, 0.734, 0.231),
}


def replicate(
    detectors: dict[str, IndividualDetector] | None = None,
    *,
    max_tests: int = 20_000,
    random_state: int = 0,
    data_home: FilePath | None = None,
) -> pd.DataFrame:
    """Measure the success rates of searches on the networks audited in the literature.

    Parameters
    ----------
    detectors : dict of name to individual detector, default=None
        None stands for the individual detectors of `default_detectors` that query a model.
    max_tests : int, default=20_000
        Number of distinct inputs tested by each detector.
    random_state : int, default=0
    data_home : str or Path, default=None
        Folder with ``adf/nets.npz`` and the data sets; None stands for the environment variable
        ``SKDISC_DATA``.

    Returns
    -------
    DataFrame
        One row per network and method: method, network, protected, published (share of tested
        inputs with a case; NaN if not published), measured (the same here) with Wilson's interval,
        tested, seconds, error.

    Raises
    ------
    ValueError
        If the networks are missing.

    References
    ----------
    P. Zhang et al.: White-box fairness testing through adversarial sampling. ICSE 2020.
    https://doi.org/10.1145/3377811.3380331

    M. Fan et al.: Explanation-guided fairness testing through genetic algorithm. ICSE 2022.
    https://doi.org/10.1145/3510003.3510137
    """
    if detectors is None:
        available = default_detectors().items()
        detectors = {n: d for n, d in available if d.card.finds == "individual" and d._asks}
    folder = _folder(data_home)
    rows = []
    for position, (name, column, label) in enumerate(NETWORKS):
        X, space, model = network(folder, name, column)
        for method, detector in detectors.items():
            row = {"method": method, "network": name, "protected": label}
            published = PUBLISHED.get(method, (None,) * len(NETWORKS))[position]
            row["published"] = np.nan if published is None else published
            rows.append(row | _measured(detector, X, space, model, max_tests, random_state))
    return pd.DataFrame(rows)


def _measured(detector, X, space, model, max_tests, random_state):
    """Return the success rate of one detector on one network, or its error."""
    settings = {"protected": list(space.protected), "pos_label": 1, "space": space}
    settings["random_state"] = random_state
    parameters = detector.get_params(deep=False)
    settings = {n: v for n, v in settings.items() if n in parameters}
    if "tests" in detector.limit_fields:
        settings["limits__tests"] = max_tests
    unknown = dict.fromkeys(("measured", "ci_low", "ci_high", "tested", "seconds"), np.nan)
    try:
        ready = clone(detector).set_params(**settings)
        result = ready.fit(X, None, model).result_
    except Exception as error:  # a detector that fails must not stop the others
        return unknown | {"error": f"{type(error).__name__}: {error}"}
    n_tested, n_found = result.n_tested, result.n_found
    low, high = _stats.wilson(n_found, n_tested)
    return {
        "measured": n_found / n_tested if n_tested else np.nan,
        "ci_low": float(low),
        "ci_high": float(high),
        "tested": n_tested,
        "seconds": result.total_time,
        "error": "",
    }


def _folder(data_home):
    """Return the folder of the networks, or raise ValueError."""
    home = os.environ.get("SKDISC_DATA") if data_home is None else data_home
    folder = None if home is None else Path(home) / "adf"
    if folder is None or not (folder / "nets.npz").is_file():
        raise ValueError(
            "The original networks are missing: set SKDISC_DATA to a folder that has adf/nets.npz, "
            "adf/census.csv.gz, adf/bank.csv.gz and adf/credit.csv.gz."
        )
    return folder


def network(folder, name, column):
    """Return the data, the space of possible inputs and the network of one data set.

    `folder`: Path. `name`: one of "census", "bank", "credit". `column`: position of the protected
    column.
    """
    X = pd.read_csv(folder / f"{name}.csv.gz").iloc[:, :-1]
    with np.load(folder / "nets.npz") as nets:
        weights = [nets[f"{name}_W{i}"].astype(float) for i in range(6)]
        biases = [nets[f"{name}_b{i}"].astype(float) for i in range(6)]
        bounds = nets[f"{name}_bounds"].astype(int)
    X = X.clip(bounds[:, 0], bounds[:, 1], axis=1)
    domains = {c: range(low, high + 1) for c, (low, high) in zip(X, bounds.tolist(), strict=True)}
    space = FeatureSpace.from_domains(domains, protected=[X.columns[column]])
    weights[-1], biases[-1] = np.diff(weights[-1], axis=1), np.diff(biases[-1])
    return X, space, BlackBox(_classifier(weights, biases, list(X.columns)))


def _classifier(weights, biases, names):
    """Return a fitted classifier with these weights; two softmax outputs become a logistic one."""
    model = MLPClassifier(tuple(w.shape[1] for w in weights[:-1]), max_iter=1)
    rows = pd.DataFrame(np.eye(2, len(names)), columns=names)
    model.partial_fit(rows, [0, 1], classes=[0, 1])
    model.coefs_, model.intercepts_ = weights, biases
    return model
