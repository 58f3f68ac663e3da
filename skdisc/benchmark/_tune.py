"""tune_detectors: the settings of each detector that score best, on data of their own."""

import pandas as pd
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV

from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._default_models import default_model
from skdisc.benchmark._run import _draws, _set_up
from skdisc.datasets import make_discrimination

_TUNING = 1_000_003  # added to the seed, so that data of tuning and of comparison differ


def tune_detectors(
    detectors,
    datasets,
    grids,
    *,
    audited="forest",
    search="grid",
    cv=2,
    budget=None,
    random_state=0,
):
    """Choose settings by scikit-learn's searches, on drawings that no comparison uses.

    Each detector is searched on one drawing of every data set; the setting with the best mean score
    over them is taken (`score` of the detector: how strongly its first finding shows on new rows,
    or how many people have a case).

    Parameters
    ----------
    detectors : dict of name to detector
    datasets : dict of name to dict
        Arguments of `make_discrimination`.
    grids : dict of name to dict
        Settings to try, per detector; one without grid is returned as it is.
    audited : "labels" or name of a model, default="forest"
    search : {"grid", "halving"}, default="grid"
        `GridSearchCV`, or `HalvingRandomSearchCV` over rows.
    cv : int, default=2
    budget : dict, default=None
        Limits, as in `run_benchmark`.
    random_state : int, default=0
        That of the comparison; the seeds used here differ from all of its.

    Returns
    -------
    tuned : dict of name to detector
    scores : DataFrame
        detector, dataset, setting (text), score: everything that was tried.

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
        raise ValueError(f"grids names {unknown!r}, which are no detectors.")
    rows = []
    for name, arguments, _, seed in _draws(datasets, 1, random_state + _TUNING):
        made = make_discrimination(**arguments, random_state=seed)
        asked = {} if audited == "labels" else {"model": _model(audited, made)}
        for detector, grid in grids.items():
            ready = _set_up(detectors[detector], made, budget or {}, seed)
            if audited == "labels" and ready._asks:
                continue
            found = _searched(search, ready, grid, cv, seed).fit(made.data, made.target, **asked)
            table = pd.DataFrame(found.cv_results_)[["params", "mean_test_score"]]
            rows += [(detector, name, p, s) for p, s in table.itertuples(index=False)]
    tried = pd.DataFrame(rows, columns=["detector", "dataset", "params", "score"])
    tried["setting"] = tried["params"].map(repr)
    tuned = dict(detectors)
    for detector, part in tried.groupby("detector"):
        best = part.groupby("setting", sort=False)["score"].mean().fillna(-1).idxmax()
        chosen = part.loc[part["setting"] == best, "params"].iloc[0]
        tuned[detector] = clone(detectors[detector]).set_params(**chosen)
    return tuned, tried[["detector", "dataset", "setting", "score"]]


def _model(name, made):
    return BlackBox(default_model(name, 0).fit(made.data, made.target))


def _searched(search, detector, grid, cv, seed):
    if search == "grid":
        return GridSearchCV(detector, grid, cv=cv, refit=False)
    return HalvingRandomSearchCV(detector, grid, cv=cv, refit=False, random_state=seed)
