"""What every detector keeps to, whoever wrote it, as checks on small made-up data."""

import json
import pickle
from collections.abc import Callable, Collection
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binom
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc._blackbox._blackbox import BlackBox
from skdisc._results._audit_result import AuditResult
from skdisc._results._judgment import FOUND, NOTHING
from skdisc._task._limits import Limits
from skdisc._verdicts._rule import Rule
from skdisc.base import BaseDetector

_N, _N_NULL, _DRAWS = 400, 300, 20
_SURE = 0.999  # more false alarms than a test of its level has in one of 1,000 runs
_LIMITS = {"tests": "n_tested", "queries": "n_queries"}


class MadeUpPeople(NamedTuple):
    """Rows, their labels, and a fitted model."""

    X: pd.DataFrame
    y: np.ndarray
    model: object


def check_detector(detector: BaseDetector, *, skip: Collection[str] = ()) -> None:
    """Raise if a detector does not keep to what all detectors of skdisc keep to.

    The checks of scikit-learn are not among them: see
    ``sklearn.utils.estimator_checks.parametrize_with_checks``.

    Parameters
    ----------
    detector : BaseDetector
        An instance that is not fitted, with settings that take well under a second on 400 rows.
        The checks set `protected`, `pos_label` and `random_state` themselves.
    skip : collection of str
        Names of checks to leave out, keys of `detector_checks`.

    Raises
    ------
    AssertionError
        If a check fails; the message names the detector and the check, and says what differs.
    ValueError
        If `skip` names no check.

    Examples
    --------
    >>> from skdisc.subgroup import DivExplorer
    >>> check_detector(DivExplorer(max_predicates=1), skip=["false_alarms"])
    """
    checks = detector_checks()
    unknown = [name for name in skip if name not in checks]
    if unknown:
        raise ValueError(f"skip names {unknown[0]!r}; the checks are {', '.join(checks)}.")
    for name in [n for n in checks if n not in skip]:
        try:
            checks[name](detector)
        except AssertionError as error:
            raise AssertionError(f"{type(detector).__name__}, {name}: {error}") from error
        except Exception as error:
            error.add_note(f"raised in the check {name!r} of {type(detector).__name__}")
            raise


def detector_checks() -> dict[str, Callable[[BaseDetector], None]]:
    """Return the checks of `check_detector` by name, in order, to run each as a test of its own.

    Returns
    -------
    dict of str to callable
        Each takes a detector that is not fitted, and raises AssertionError.

    Examples
    --------
    >>> list(detector_checks())[:3]
    ['model_as_it_is', 'same_result', 'order_of_rows']
    """
    checks = (
        *(_model_as_it_is, _same_result, _order_of_rows, _names_of_values, _second_fit),
        *(_round_trips, _budgets, _pos_label, _clear_errors, _fair_model, _false_alarms),
    )
    return {check.__name__.removeprefix("_"): check for check in checks}


@cache
def made_up_people() -> MadeUpPeople:
    """Return people, labels that depend on sex, and a forest fitted to them.

    The forest has a length, so that scikit-learn's searches take it for data.
    """
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], _N),
            "town": pd.Categorical(rng.choice(list("abc"), _N)),
            "points": rng.integers(0, 20, _N),
        }
    )
    y = np.where(X["points"] + 5 * (X["sex"] == "M") + rng.normal(0, 2, _N) > 11, "yes", "no")
    columns = make_column_transformer((OneHotEncoder(), ["sex", "town"]), remainder="passthrough")
    forest = make_pipeline(columns, RandomForestClassifier(10, random_state=0))
    return MadeUpPeople(X, y, forest.fit(X, y))


def _made(detector, **more):
    """Return a copy of a detector for these people; settings that it does not have are left out."""
    changed = clone(detector)
    settings = {"protected": ["sex"], "pos_label": "yes", "random_state": 0} | more
    return changed.set_params(
        **{n: v for n, v in settings.items() if n in changed.get_params(deep=False)}
    )


def _require(is_right, fault):
    """Raise AssertionError with what is wrong."""
    if not is_right:
        raise AssertionError(fault)


def _model_as_it_is(detector):
    """A fitted model is audited as it is; rows, labels and audits without rows stay as they are."""
    X, y, model = made_up_people()
    rows, labels = X.copy(), y.copy()
    fitted = _made(detector).fit(rows, labels, model)
    _require(fitted.audited_ == "model", f"audited_ is {fitted.audited_!r}, not 'model'")
    _require(fitted.model_.model is model, "model_ is not the model that was passed")
    _require(fitted.audit() is fitted.result_, "audit() without rows is not result_")
    score = fitted.score(rows, labels)
    _require(np.isfinite(score), f"score is {score}")
    _require(rows.equals(X) and (labels == y).all(), "fit changed the rows or the labels")


def _same_result(detector):
    """Neither a second run, n_jobs, chunks, verbose nor NumPy's global seed change the result."""
    X, y, model = made_up_people()
    state = pickle.dumps(np.random.get_state())  # noqa: NPY002
    result = _made(detector).fit(X, y, model).result_
    untouched = pickle.dumps(np.random.get_state()) == state  # noqa: NPY002
    _require(untouched, "fit draws NumPy's global random numbers; use task.rng")
    for box, settings in (
        (model, {}),
        (BlackBox(model, chunk_size=11, n_jobs=1), {}),
        (BlackBox(model, chunk_size=37, n_jobs=2), {"n_jobs": 2}),
        (model, {"verbose": True}),
    ):
        second_run = _made(detector, **settings).fit(X, y, box).result_
        _require(
            second_run == result, f"another run with {settings or 'the same settings'} differs"
        )


def _order_of_rows(detector):
    """The order of the rows changes nothing; ``confirm`` goes by position, and is set to None."""
    X, y, model = made_up_people()
    order = np.random.default_rng(1).permutation(len(X))
    whole = {"confirm": None}
    pairs = (X, y), (X.iloc[order], y[order])
    results = [_made(detector, **whole).fit(A, b, model).result_ for A, b in pairs]
    twin = X.groupby(list(X.columns), observed=True).ngroup().to_numpy()
    unlike = _first_unlike(_in_order(results[0], twin), _in_order(results[1], twin[order]))
    _require(not unlike, f"the result depends on the order of the rows: {unlike}")


def _first_unlike(a, b, path=""):
    """Return the first place where two JSON values differ, and how, as text; "" if none does."""
    if type(a) is type(b) and isinstance(a, dict | list | tuple) and len(a) == len(b):
        keys = list(a) if isinstance(a, dict) else range(len(a))
        if isinstance(b, dict) and set(a) != set(b):
            return f"{path} has {sorted(a)} and {sorted(b)}"
        places = (_first_unlike(a[key], b[key], f"{path}[{key!r}]") for key in keys)
        return next(filter(None, places), "")
    return "" if a == b else f"{path} is {a!r} and {b!r}"


def _in_order(result, twin):
    """Return a result in which equal rows have one name, as they may change places."""
    data = json.loads(result._timeless())["discovery"]
    findings = data["findings"]
    if findings.get("row") is not None:
        findings["row"] = sorted(twin[findings["row"]].tolist())
    for table in data["tables"].values():
        named = [table["columns"].index(c) for c in ("row", "partner") if c in table["columns"]]
        for column in named:
            table["data"][column] = twin[table["data"][column]].tolist()
        if named:
            table["data"] = sorted(zip(*table["data"], strict=True), key=str)
    return data


def _names_of_values(detector):
    """Other names for the protected values, in another order, change no number."""
    X, y, model = made_up_people()
    codes = {"F": "zz", "M": "aa"}
    back = {v: k for k, v in codes.items()}

    def renamed(A):
        return model.predict(A.assign(sex=A["sex"].map(back)))

    result = _made(detector).fit(X, y, lambda A: model.predict(A)).result_
    renamed_result = _made(detector).fit(X.assign(sex=X["sex"].map(codes)), y, renamed).result_
    _require(
        _numbers(result) == _numbers(renamed_result),
        _unlike(result, renamed_result, "renamed values"),
    )


def _numbers(result):
    """Return what no renaming changes."""
    effects = result.findings.table["effect"].sum()
    return result.n_tested, result.n_found, result.verdict, round(float(effects), 9)


def _unlike(result, second, what):
    """Return how the numbers of two results differ."""
    names = "n_tested, n_found, verdict and the sum of the effects"
    return f"with {what}, {names} are {_numbers(second)}, not {_numbers(result)}"


def _second_fit(detector):
    """A second fit forgets the first."""
    X, y, model = made_up_people()
    once = _made(detector).fit(X, y, model)
    twice = _made(detector).fit(X[["points", "sex"]], y).fit(X, y, model)
    for name in ("result_", "audited_", "space_", "n_features_in_"):
        is_same = getattr(twice, name) == getattr(once, name)
        _require(is_same, f"{name} of a second fit depends on the first")


def _round_trips(detector):
    """JSON gives the result again, pickle the detector, and clone one that is not fitted."""
    X, y, model = made_up_people()
    fitted = _made(detector).fit(X, y, model)
    read = AuditResult.from_json(fitted.result_.to_json())
    _require(read == fitted.result_, "from_json(to_json()) is another result")
    unpickled = pickle.loads(pickle.dumps(fitted))
    _require(unpickled.result_ == fitted.result_, "pickle gives another result")
    _require(unpickled.audit(X, y) == fitted.audit(X, y), "a pickled detector audits otherwise")
    copy = clone(fitted)
    _require(not hasattr(copy, "result_"), "clone keeps result_")
    _require(copy.fit(X, y, model).result_ == fitted.result_, "a clone finds something else")


def _budgets(detector):
    """No limit is exceeded, and what is cut short is no evidence of equality."""
    X, y, model = made_up_people()
    has = detector.limit_fields if "limits" in detector.get_params(deep=False) else ()
    for field in [n for n in ("tests", "queries", "seconds") if n in has]:
        for most in (0, 1):
            if field == "seconds" and most:
                continue  # a second suffices for some
            limits = Limits(**{field: most})
            result = _made(detector, limits=limits).fit(X, y, model).result_
            spent = getattr(result, _LIMITS[field]) if field in _LIMITS else 0
            _require(spent <= most, f"{_LIMITS.get(field)} is {spent} with {limits}")
            cut = result.verdict != NOTHING or result.stopped_by is None
            _require(cut, f"the verdict is {NOTHING!r} although {limits} ended the search")


def _pos_label(detector):
    """Labels of any names give the same numbers, and are refused if none is the favorable one."""
    X, y, model = made_up_people()
    result = _made(detector).fit(X, y, lambda A: model.predict(A)).result_
    coded = _made(detector, pos_label=1)
    coded_result = coded.fit(
        X, (y == "yes").astype(int), lambda A: model.predict(A) == "yes"
    ).result_
    _require(
        _numbers(result) == _numbers(coded_result), _unlike(result, coded_result, "labels 0 and 1")
    )
    _refuses(lambda: _made(detector, pos_label=None).fit(X, y, model), "pos_label")


def _clear_errors(detector):
    """What is not allowed is refused by name."""
    X, y, model = made_up_people()
    _refuses(lambda: _made(detector, protected=["sox"]).fit(X, y, model), "sox")
    if detector.card.finds == "group":
        _refuses(lambda: _made(detector, protected=None).fit(X, y, model), "needs protected")
    if "rule" in detector.get_params(deep=False):
        _refuses(
            lambda: _made(detector, rule=Rule(significance=2)).fit(X, y, model), "significance"
        )
    _refuses(lambda: _made(detector).audit(), "not fitted", NotFittedError)
    order = np.random.default_rng(1).permutation(len(X))
    labels = pd.Series(y, X.index)
    message = "y has the index of X in another order"
    _refuses(lambda: _made(detector).fit(X, labels.iloc[order], model), message)
    fitted = _made(detector).fit(X, labels, model)
    _refuses(lambda: fitted.audit(X, labels.iloc[order]), "Put both in the same order")
    _refuses(lambda: fitted.audit(X.drop(columns="town"), y), "town")


def _refuses(do, named, kind=ValueError):
    """Raise AssertionError unless a call raises an error whose message names something."""
    try:
        do()
    except kind as error:
        _require(named in str(error), f"the message does not name {named!r}: {error}")
    else:
        raise AssertionError(f"no {kind.__name__} that names {named!r}")


def _fair_model(detector):
    """A model that does not read the protected columns has no case of individual discrimination."""
    if detector.card.finds != "individual":
        return
    X, y, _ = made_up_people()
    fair = lambda A: np.where((A["points"] > 9) | (A["town"] == "a"), "yes", "no")  # noqa: E731
    fitted = _made(detector).fit(X, y, fair)
    for result in (fitted.result_, fitted.audit(X)):
        n_cases = len(result), result.n_found
        _require(n_cases == (0, 0), f"{n_cases[0]} cases in a model that does not read 'sex'")
        _require(result.n_tested > 0, "nothing was tested")
        _require(result.verdict != FOUND, f"the verdict is {FOUND!r}")
    score = fitted.score(X, y)
    _require(score == 0, f"score is {score} without a case")


def _false_alarms(detector):
    """Labels that depend on other columns only, to which sex is unrelated, are a disparity rarely.

    Detectors that query a model have `_fair_model` for it.
    """
    if detector._asks:
        return
    alarms = sum(
        _made(detector).fit(*_fair(seed)).result_.verdict == FOUND for seed in range(_DRAWS)
    )
    level = detector.significance
    most = int(binom.ppf(_SURE, _DRAWS, level))
    _require(
        alarms <= most,
        f"{FOUND!r} in {alarms} of {_DRAWS} data sets without one; at a level of {level:g}, at "
        f"most {most} are a matter of chance",
    )


def _fair(seed):
    """Return people whose labels and columns have nothing to do with their sex."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], _N_NULL),
            "town": rng.choice(list("abc"), _N_NULL),
            "points": rng.integers(0, 20, _N_NULL),
        }
    )
    p = np.where(X["town"] == "a", 0.3, 0.5) + 0.02 * X["points"]
    return X, np.where(rng.random(_N_NULL) < p, "yes", "no")
