"""tune_detectors: settings with the best score on data that the comparison does not use."""

import ast

import pandas as pd
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV

from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._default_models import default_model
from skdisc._task._limits import Limits
from skdisc.base import BaseDetector
from skdisc.benchmark._run import _draws, _set_up
from skdisc.datasets import make_discrimination

_TUNING = 1_000_003  # added to the seed, so that tuning and comparison use different data


def tune_detectors(
    detectors: dict[str, BaseDetector],
    datasets: dict[str, dict],
    grids: dict[str, dict],
    *,
    audited: str = "forest",
    search: str = "grid",
    cv: int = 2,
    limits: Limits | None = None,
    random_state: int = 0,
) -> tuple[dict[str, BaseDetector], pd.DataFrame]:
    """Choose settings by scikit-learn's searches, on draws that the comparison does not use.

    Each detector is searched on one draw of every data set. The setting with the best mean score
    over the data sets is chosen. The score is that of the detector: the effect of its first finding
    on held-out rows, or the share of people with a case.

    Parameters
    ----------
    detectors : dict of name to detector
    datasets : dict of name to dict
        Arguments of `make_discrimination`.
    grids : dict of name to dict
        Settings to try for each detector; a detector without a grid is returned unchanged.
    audited : "labels" or name of a model, default="forest"
    search : {"grid", "halving"}, default="grid"
        `GridSearchCV`, or `HalvingRandomSearchCV` over rows.
    cv : int, default=2
        Number of folds.
    limits : Limits, default=None
        As in `run_benchmark`; None stands for each detector's own.
    random_state : int, default=0
        The seed of the comparison; the seeds of tuning are different ones.

    Returns
    -------
    tuned : dict of name to detector
    scores : DataFrame
        One row per detector, data set and setting: detector, dataset, setting (text), score.

    Raises
    ------
    ValueError
        If `search` is unknown, or `grids` names something that is not in `detectors`.

    Examples
    --------
    >>> from skdisc.subgroup import DivExplorer
    >>> small = {"n_pairs": 2, "n_background": 200, "granularity": 1, "intersectionality": 1}
    >>> tuned, scores = tune_detectors(
    ...     {"DivExplorer": DivExplorer(max_predicates=2)},
    ...     {"small": small},
    ...     {"DivExplorer": {"min_support": [0.05, 0.1]}},
    ...     audited="labels",
    ... )
    >>> tuned["DivExplorer"].min_support in (0.05, 0.1)
    True
    """
    if search not in ("grid", "halving"):
        raise ValueError(f"search must be 'grid' or 'halving', got {search!r}.")
    unknown = sorted(set(grids) - set(detectors))
    if unknown:
        raise ValueError(f"grids names {unknown!r}, which are not in detectors.")
    rows = []
    for name, arguments, _, seed in _draws(datasets, 1, random_state + _TUNING):
        made = make_discrimination(**arguments, random_state=seed)
        extra = {} if audited == "labels" else {"model": _model(audited, made)}
        for detector, grid in grids.items():
            ready = _set_up(detectors[detector], made, limits or Limits(), seed)
            if audited == "labels" and ready._asks:
                continue
            search_result = _searched(search, ready, grid, cv, seed).fit(
                made.data, made.target, **extra
            )
            table = pd.DataFrame(search_result.cv_results_)[["params", "mean_test_score"]]
            rows += [(detector, name, p, s) for p, s in table.itertuples(index=False)]
    tried = pd.DataFrame(rows, columns=["detector", "dataset", "params", "score"])
    tried["setting"] = tried["params"].map(repr)
    params_of_setting = dict(zip(tried["setting"], tried["params"], strict=True))
    tried = tried[["detector", "dataset", "setting", "score"]]
    return with_best(detectors, tried, params_of_setting.get), tried


def with_best(detectors, tried, read=ast.literal_eval):
    """Return detectors with the setting of the best mean score; `read` makes settings of text."""
    tuned = dict(detectors)
    for name, part in tried[tried["detector"].isin(list(detectors))].groupby("detector"):
        best = part.groupby("setting", sort=False)["score"].mean().fillna(-1).idxmax()
        tuned[name] = clone(detectors[name]).set_params(**read(best))
    return tuned


def _model(name, made):
    """Return a model trained on the data."""
    return BlackBox(default_model(name, 0).fit(made.data, made.target))


def _searched(search, detector, grid, cv, seed):
    """Return the search over the grid of a detector."""
    if search == "grid":
        return GridSearchCV(detector, grid, cv=cv, refit=False)
    return HalvingRandomSearchCV(detector, grid, cv=cv, refit=False, random_state=seed)
