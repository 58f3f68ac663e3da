"""run_benchmark: runs every detector on every data set, and stores each cell when it is done."""

import hashlib
import io
import json
import time
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from skdisc import __version__
from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._default_models import DEFAULT_MODELS, default_model
from skdisc._space._codes import NOBODY
from skdisc._task._limits import Limits
from skdisc._task._progress import Progress
from skdisc._utils._files import write_bytes
from skdisc._utils._json import jsonable
from skdisc._utils._optional import require
from skdisc._utils._types import FilePath
from skdisc._utils._warnings import ignoring
from skdisc.base import BaseDetector
from skdisc.benchmark._benchmark_result import BenchmarkResult, read_cell, write_plan
from skdisc.benchmark._known_truth import KnownTruth
from skdisc.benchmark._score import SCORES, score_result
from skdisc.datasets import make_discrimination

AUDITED = ("labels", "oracle", *DEFAULT_MODELS)
_LIMITS = Limits(queries=20_000, seconds=60)


def run_benchmark(
    detectors: dict[str, BaseDetector],
    datasets: dict[str, dict],
    *,
    audited: Sequence[str] = ("labels", "forest"),
    limits: Limits | None = None,
    n_repeats: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
    out: FilePath | None = None,
    verbose: bool = False,
) -> BenchmarkResult:
    """Run every detector on every data set, and compare its findings with the planted groups.

    A cell is a run of one detector on one draw of one data set, which audits either the decisions
    or a model. Detectors that query a model skip the decisions. All cells have the same limits. A
    detector that fails is recorded with its error.

    Parameters
    ----------
    detectors : dict of name to detector
        Unfitted detectors; their protected columns and favorable label are set for each data set.
    datasets : dict of name to dict
        Arguments of `make_discrimination`.
    audited : sequence of str, default=("labels", "forest")
        "labels"; "oracle" (the law of the outcome); or a model trained on one half of the people,
        which is audited on the other half: "tree", "forest", "logistic", "svm", "mlp", "boosting".
    limits : Limits, default=None
        Limits of every cell, which a detector has besides its own: each gets the fields that it
        uses. None stands for 20,000 queries and 60 seconds.
    n_repeats : int, default=5
        Number of draws of each data set.
    random_state : int, default=0
        Determines all cells, independently of their order and of parallel execution.
    n_jobs : int or None, default=None
        Number of processes.
    out : str or Path, default=None
        Folder with one Parquet file per cell (needs the extra ``io``). Cells that exist are not run
        again, so an interrupted run can be resumed.
    verbose : bool, default=False
        Report progress on standard error.

    Returns
    -------
    BenchmarkResult

    Raises
    ------
    ValueError
        If `audited` has an unknown name, or `detectors` or `datasets` is not a non-empty dict.
    ImportError
        If `out` is passed and the extra ``io`` is not installed.

    Examples
    --------
    >>> from skdisc.subgroup import DivExplorer
    >>> small = {"n_pairs": 2, "n_background": 200, "granularity": 1, "intersectionality": 1}
    >>> done = run_benchmark(
    ...     {"DivExplorer": DivExplorer(max_predicates=2)},
    ...     {"small": small},
    ...     audited=["labels"],
    ...     n_repeats=2,
    ... )
    >>> len(done.to_frame())
    2
    """
    _check(detectors, datasets, audited)
    limits = _LIMITS if limits is None else limits.check()
    folder = None if out is None else _folder(out)
    draws = _draws(datasets, n_repeats, random_state)
    work = [
        (draw, what, [n for n, d in detectors.items() if what != "labels" or not d._asks])
        for draw in draws
        for what in audited
    ]
    planned = [(name, repeat, what, names) for (name, _, repeat, _), what, names in work]
    if folder is not None:
        write_plan(folder, planned)  # tells which cells are missing after an interruption
    progress = Progress("run_benchmark", verbose)
    step = partial(_cells, detectors=detectors, limits=limits, folder=folder)
    frames = []
    for done in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(step)(*w) for w in work):
        frames += done
        progress(f"{len(frames)} of {sum(len(names) for *_, names in work)} cells")
    return BenchmarkResult(pd.concat(frames, ignore_index=True), planned)


def _check(detectors, datasets, audited):
    """Raise ValueError for wrong arguments."""
    unknown = [a for a in audited if a not in AUDITED]
    if unknown or not len(audited):
        raise ValueError(f"audited must be among {', '.join(AUDITED)}; got {list(audited)!r}.")
    for what, argument in (("detectors", detectors), ("datasets", datasets)):
        if not isinstance(argument, dict) or not argument:
            raise ValueError(f"{what} must be a non-empty dict by name, got {argument!r}.")


def _folder(out):
    """Return the folder of the cells, which is made if it does not exist."""
    require("pyarrow", extra="io", purpose="Storing cells")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _draws(datasets, n_repeats, random_state):
    """Return (name, arguments, repeat, seed) of each draw; seeds depend on nothing else."""
    rng = check_random_state(random_state)
    base = int(rng.randint(2**31))
    draws = []
    for name, arguments in datasets.items():
        for repeat in range(n_repeats):
            text = json.dumps([base, name, jsonable(arguments), repeat], sort_keys=True)
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little") >> 1
            draws.append((name, arguments, repeat, seed))
    return draws


def _cells(draw, what, names, *, detectors, limits, folder):
    """Run the cells of one draw and one audited model; the data are made only for new cells."""
    frames, prepared = [], None
    for name in names:
        detector = detectors[name]
        key = _key(draw, what, name, detector, limits)
        path = None if folder is None else folder / f"{key}.parquet"
        if path is not None and (stored := _stored(path)) is not None:
            frames.append(stored)
            continue
        started = time.perf_counter()
        if prepared is None:
            prepared = _prepared(draw, what)
        preparing = time.perf_counter() - started
        frame = _cell(draw, what, name, detector, limits, prepared)
        frame["cell"], frame["seconds_to_prepare"] = key, preparing
        if path is not None:
            buffer = io.BytesIO()
            frame.to_parquet(buffer, index=False)
            write_bytes(path, buffer.getvalue())
        frames.append(frame)
    return frames


def _stored(path):
    """Return a cell that was stored; None if there is none, or if its file is damaged."""
    if not path.exists():
        return None
    try:
        return read_cell(path)
    except ValueError as error:
        warnings.warn(f"{error} The cell is run again.", UserWarning, stacklevel=2)
        return None


def _key(draw, what, name, detector, limits):
    """Return the name of a cell, a hash of its settings."""
    name_of_data, arguments, repeat, seed = draw
    settings = [jsonable(v) for v in (detector.get_params(deep=True), arguments, limits)]
    text = json.dumps([name, settings, name_of_data, repeat, seed, what, __version__], default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _prepared(draw, what):
    """Return the value of `_prepare`, or the error that it raised."""
    try:
        return _prepare(draw, what)
    except Exception as error:  # recorded in each cell of the draw
        return error


def _prepare(draw, what):
    """Return the data, the arguments of `fit`, and what is true of them."""
    _, arguments, _, seed = draw
    made = make_discrimination(**arguments, random_state=seed)
    if what == "labels":
        return made, (made.data, made.target, None), KnownTruth(made, None, seed)
    if what == "oracle":
        model = made.truth.oracle
        return made, (made.data, made.target, BlackBox(model)), KnownTruth(made, model, seed)
    rng = np.random.default_rng([seed, 2])
    half = rng.permutation(len(made.data)) < len(made.data) // 2
    with ignoring(ConvergenceWarning):  # the network stops after 30 epochs by design
        model = default_model(what, 0).fit(made.data[half], made.target[half])
    X, y = (part[~half].reset_index(drop=True) for part in (made.data, made.target))
    return made, (X, y, BlackBox(model)), KnownTruth(made, model, seed)


def _cell(draw, what, name, detector, limits, prepared):
    """Run one detector; return one row per target, or a single row if there are no targets."""
    name_of_data, _, repeat, seed = draw
    cell = {"detector": name, "dataset": name_of_data, "repeat": repeat, "audited": what}
    cell |= {"seed": seed, "error": "", "settings": changed(detector)}
    cell |= dict.fromkeys(SCORES, np.nan)
    targets, hit = [], []
    started = time.perf_counter()
    try:
        if isinstance(prepared, Exception):
            raise prepared
        made, (X, y, model), truth = prepared
        targets = truth.targets
        hit = [False] * len(targets)
        ready = _set_up(detector, made, limits, seed)
        result = ready.fit(X, y, model).result_
        cell["seconds"] = time.perf_counter() - started
        scores, hit = score_result(result, truth, np.random.default_rng(seed))
        cell |= scores | _spent(result)
        cell["queries_to_first"] = scores["first_true"] * (cell["n_queries"] or np.nan)
        cell["seconds_to_first"] = scores["first_true"] * cell["seconds"]
    except Exception as error:  # a detector that fails must not stop the others
        cell["error"] = f"{type(error).__name__}: {error}"
        cell.setdefault("seconds", time.perf_counter() - started)
    cell["seconds_to_score"] = time.perf_counter() - started - cell["seconds"]
    rows = [{**cell, "target": j, "hit": bool(hit[j]), **t.strata} for j, t in enumerate(targets)]
    frame = pd.DataFrame(rows or [{**cell, "target": NOBODY, "hit": False}])
    return frame.reindex(columns=BenchmarkResult.COLUMNS)


def changed(detector):
    """Return the settings of a detector that differ from the defaults, as text."""
    plain = type(detector)().get_params(deep=False)
    parameters = detector.get_params(deep=False).items()
    return ", ".join(f"{k}={v!r}" for k, v in parameters if repr(v) != repr(plain[k])) or "defaults"


def _set_up(detector, made, limits, seed):
    """Return a clone with protected columns, causal model, favorable label and limits set."""
    parameters = detector.get_params(deep=False)
    settings = {"protected": list(made.protected), "pos_label": 1, "random_state": seed}
    fields = {n: getattr(limits, n) for n in limits.changed() if n in detector.limit_fields}
    if fields:
        settings["limits"] = (detector.limits or Limits()).but(**fields)
    settings |= {} if made.truth.scm is None else {"counterfactuals": made.truth.scm}
    return clone(detector).set_params(**{n: v for n, v in settings.items() if n in parameters})


def _spent(result):
    """Return the costs of an audit, and its counts of tests and findings."""
    metrics = result.metrics
    return {name: float(metrics[name]) for name in ("TSN", "DSN", "SUR", "DSS")} | {
        "null": result.null,
        "n_queries": result.n_queries,
        "verdict": result.verdict,
        "stopped_by": result.stopped_by or "",
    }
