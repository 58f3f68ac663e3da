"""Candidates: what a user passes as a list of models, and what becomes of each of them."""

import inspect
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, column_or_1d

from skdisc._utils._json import describe
from skdisc._utils._validation import check_labels, is_favorable, plain
from skdisc.model_selection._alternatives._question import Predictions

PRESENT = "the present model"
_COPIES_ON_WRITE = int(pd.__version__.split(".")[0]) >= 3
_MANY_CELLS = 10**6  # of which several copies are not kept
_PLACE = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Candidate:
    """One model to try.

    `estimator`: not fitted, unless it is frozen. `params`: the settings in which it differs from
    the present model, where they are known.
    """

    name: str
    estimator: object
    params: dict = field(default_factory=dict)


@dataclass(frozen=True)
class ModelRows:
    """The people as models get them.

    Attributes
    ----------
    X : DataFrame or ndarray, shape (n, n_columns)
    protected : DataFrame of shape (n, n_protected)
    inside : list
        Names of the protected columns that X has.
    """

    X: object
    y: np.ndarray
    protected: pd.DataFrame
    inside: list

    def take(self, rows):
        """Return some of the people."""
        return ModelRows(
            _safe_indexing(self.X, rows), self.y[rows], self.protected.iloc[rows], self.inside
        )

    def __len__(self):
        return len(self.y)


class SharedParts:
    """Parts of the people, which are taken once for all candidates if the table is small.

    Each candidate gets a table of its own all the same: pandas copies it when it is written to.
    """

    def __init__(self, rows):
        self.X, self._rows, self._parts = rows.X, rows, {}
        self._is_shared = _COPIES_ON_WRITE and isinstance(rows.X, pd.DataFrame)
        self._is_shared &= rows.X.size <= _MANY_CELLS

    def take(self, rows):
        """Return some of the people, as `ModelRows`."""
        if not self._is_shared:
            return self._rows.take(rows)
        key = rows.tobytes()
        if key not in self._parts:
            self._parts[key] = self._rows.take(rows)
        part = self._parts[key]
        return ModelRows(
            _private_copy(part.X), part.y.copy(), _private_copy(part.protected), part.inside
        )


def _private_copy(table):
    """Return a table that a model may write to, and nobody else sees it."""
    if isinstance(table, pd.DataFrame):
        return table.copy(deep=not _COPIES_ON_WRITE)
    return table.copy()


def read_candidates(estimator, candidates, n_iter, random_state):
    """Return the candidates of what a user passed.

    Raises TypeError if it is no grid, and no list or dict of estimators. Raises ValueError if there
    is none, or two have one name.
    """
    read = list(_read(estimator, candidates, n_iter, random_state))
    if not read:
        raise ValueError(
            "candidates is empty: pass a grid of settings, or estimators to compare with."
        )
    names = [c.name for c in read]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice or PRESENT in names:
        raise ValueError(
            f"candidates must have different names, other than {PRESENT!r}; got "
            f"{(twice or [PRESENT])[0]!r} twice. Pass a dict of name and estimator."
        )
    return read


def _read(estimator, candidates, n_iter, random_state):
    if isinstance(candidates, Mapping) and not any(_is_model(v) for v in candidates.values()):
        yield from _of_grid(estimator, [candidates], n_iter, random_state)
        return
    if isinstance(candidates, Mapping):
        candidates = list(candidates.items())
    if isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise TypeError(_FORMS.format(candidates))
    n_of_name = {}
    for entry in candidates:
        if isinstance(entry, Mapping):
            yield from _of_grid(estimator, [entry], n_iter, random_state)
        elif _is_model(entry):
            name = type(entry).__name__
            n_of_name[name] = n_of_name.get(name, 0) + 1
            yield Candidate(f"{name} {n_of_name[name]}", entry)
        elif isinstance(entry, tuple) and len(entry) == 2 and _is_model(entry[1]):
            yield Candidate(str(entry[0]), entry[1])
        else:
            raise TypeError(_FORMS.format(entry))


_FORMS = (
    "candidates must be a dict of settings and their values, a dict of names and estimators, or a "
    "list of these, of estimators, or of pairs (name, estimator); got {!r}."
)


def _of_grid(estimator, grids, n_iter, random_state):
    """Yield a candidate for each setting of a grid, or for draws where there are distributions."""
    if any(hasattr(values, "rvs") for grid in grids for values in grid.values()):
        drawn = list(ParameterSampler(grids, n_iter, random_state=random_state))
        several = {repr(sorted(params.items())): params for params in drawn}.values()
    else:  # a single value is a list of one
        several = ParameterGrid(
            [{k: v if np.iterable(v) and not isinstance(v, str) else [v] for k, v in g.items()}
             for g in grids]
        )  # fmt: skip
    for params in several:
        changed = clone(estimator).set_params(
            **{k: clone(v, safe=False) for k, v in params.items()}
        )
        name = ", ".join(f"{k}={describe(v)[:60]}" for k, v in sorted(params.items()))
        yield Candidate(name, changed, dict(params))


def _is_model(value):
    """Return whether it is a model; some have `predict` only when they are fitted."""
    if isinstance(value, type) or not hasattr(value, "fit"):
        return False
    return hasattr(value, "predict") or (isinstance(value, BaseEstimator) and is_classifier(value))


def differ_in_seeds(estimator, candidates):
    """Return whether all candidates are the present model with other seeds."""
    several = [estimator, *(c.estimator for c in candidates)]
    if any(isinstance(e, FrozenEstimator) or not isinstance(e, BaseEstimator) for e in several):
        return False
    names = set(estimator.get_params())
    if any(set(e.get_params()) != names for e in several):  # so most need not be written out
        return False
    present = _without_seeds(estimator)
    return all(_without_seeds(c.estimator) == present for c in candidates)


def _without_seeds(estimator):
    """Return an estimator as text, with the same seeds for all."""
    seeds = [k for k in estimator.get_params() if k.endswith("random_state")]
    return _written(clone(estimator).set_params(**dict.fromkeys(seeds)))


def text_of(estimator):
    """Return an estimator with its changed settings as one line, without places in memory."""
    return " ".join(_PLACE.sub("", _written(estimator)).split())


def _written(value):
    """Return what scikit-learn's repr of an estimator is, whole.

    That repr formats for a page before it is cut, which takes a third of the time of a search
    beside its models.
    """
    if isinstance(value, BaseEstimator) and type(value).__repr__ is BaseEstimator.__repr__:
        default = {n: p.default for n, p in inspect.signature(type(value)).parameters.items()}
        texts = {n: _written(v) for n, v in value.get_params(deep=False).items()}
        changed = (
            f"{n}={text}"
            for n, text in texts.items()
            if n not in default or text != _written(default[n])
        )
        return f"{type(value).__name__}({', '.join(changed)})"
    if type(value) is list:
        return f"[{', '.join(map(_written, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(_written, value))}{',' * (len(value) == 1)})"
    if type(value) is dict:
        items = sorted((repr(k), _written(v)) for k, v in value.items())
        return f"{{{', '.join(map(': '.join, items))}}}"
    return repr(value)


def kind_of(estimator):
    """Return what a model is in words: the last step of a pipeline, and what it stands in."""
    around = []
    while True:
        if isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        elif getattr(estimator, "steps", None):
            around.append(f"last of {len(estimator.steps)} steps of a {type(estimator).__name__}")
            estimator = estimator.steps[-1][1]
        else:
            return ", ".join([text_of(estimator), *around])


def way_of(text):
    """Return how a candidate of the command line differs from the present model, or ""."""
    remover = re.search(r"DisparateImpactRemover\(([^()]*)\)", text)
    if remover:
        amount = float(re.search(r"amount=([\d.]+)|$", remover[1])[1] or 1)
        if amount == 0:
            return ""  # its name says it
        return (
            f"the present model on numeric columns that are moved by {amount:g} of the way to "
            "values that are distributed alike in each protected group"
        )
    for name, way in _WAYS.items():
        if f"{name}(" in text:
            return way
    return ""


_WAYS = {
    "Reweigher": "the present model, fitted with a weight for each person by which label and "
    "protected group are independent",
    "ProxySelector": "the present model without the protected columns and those that tell the "
    "protected group",
    "FixedThresholdClassifier": "the present model with another threshold of the probability from "
    "which a decision is favorable",
}


@dataclass
class TriedCandidate:
    """What became of a candidate.

    `error`: why there are no predictions, or "". `fit_time` and `predict_time`: seconds.
    """

    model: object = None
    predictions: Predictions | None = None
    error: str = ""
    exception: Exception | None = None
    fit_time: float = 0.0
    predict_time: float = 0.0


@dataclass(frozen=True)
class CandidateTrial:
    """How models are fitted and asked: shared by all candidates.

    `random_state`: for models that draw when they predict. `labels`: all labels of the people; None
    if they are not known.
    """

    favorable: list
    scoring: str
    random_state: object = None
    labels: np.ndarray | None = None

    def run(self, candidates, rows, folds, final_rows, params, n_jobs):
        """Fit each candidate to rows, and ask it about others; return a `TriedCandidate` for each.

        Parameters
        ----------
        candidates : iterable of Candidate
            Each is drawn when it is to be fitted.
        rows : ModelRows
        folds : list of (ndarray of int, ndarray of int)
            Rows that a clone is fitted to and asked about; their predictions are joined.
        again : ndarray of int or None
            Rows to which the model that is kept is fitted; None: that of the only fold is kept.
        params : list of dict
            Arguments of `fit` of each candidate, by row.
        """
        run, parts = delayed(self._run), SharedParts(rows)
        return Parallel(n_jobs=n_jobs)(
            run(c.estimator, parts, folds, final_rows, p)
            for c, p in zip(candidates, params, strict=True)
        )

    def _run(self, estimator, parts, folds, final_rows, params):
        outcome = TriedCandidate()
        if isinstance(estimator, FrozenEstimator):  # one model, which is asked once
            folds, final_rows = [(None, np.concatenate([ask for _, ask in folds]))], None
        try:
            answers = []
            for learn, ask in folds:
                model = self._fitted(estimator, parts, learn, params, outcome)
                answers.append(self.ask(model, parts.take(ask), outcome))
            if final_rows is not None:
                model = self._fitted(estimator, parts, final_rows, params, outcome)
            outcome.predictions = Predictions.joined(answers, [ask for _, ask in folds])
            outcome.model = model
        except Exception as error:  # any: candidates are of other libraries
            outcome.error = f"{type(error).__name__}: {error}"
            outcome.exception = error
        return outcome

    def _fitted(self, estimator, parts, learn, params, outcome):
        """Return a fitted clone; a frozen model is used as it is."""
        if isinstance(estimator, FrozenEstimator):
            return clone(estimator)
        part = parts.take(learn)
        how = _check_method_params(parts.X, params, learn)
        if takes_protected(estimator, "fit"):
            how["sensitive_features"] = part.protected
        begin = time.perf_counter()
        model = clone(estimator)
        try:
            model.fit(part.X, part.y, **how)
        except TypeError as error:  # it takes any argument, but not this one
            if "sensitive_features" not in str(error) or names_protected(model, "fit"):
                raise
            part = parts.take(learn)
            how = _check_method_params(part.X, params, learn)
            model = clone(estimator).fit(part.X, part.y, **how)
        outcome.fit_time += time.perf_counter() - begin
        return model

    def ask(self, model, rows, outcome=None):
        """Return the predictions of a fitted model.

        Raises ValueError if it returns no label, or no score, for some row, or scores of another
        scale.
        """
        begin = time.perf_counter()
        n = len(rows)
        label = check_labels(
            column_or_1d(_predict(model, "predict", rows, self.random_state)), n, "predict(X)"
        )
        labels = None if self.labels is None else {plain(v) for v in self.labels}
        if labels is not None and labels.isdisjoint(plain(v) for v in pd.unique(label)):
            raise ValueError(
                f"predict(X) returns {plain(label[0])!r}, but the labels are "
                f"{', '.join(repr(plain(v)) for v in self.labels)}."
            )
        score = None if self.scoring == "accuracy" else self._score(model, rows)
        if outcome is not None:
            outcome.predict_time += time.perf_counter() - begin
        return Predictions(label, score)

    def _score(self, model, rows):
        method = "predict_proba"
        if self.scoring == "roc_auc" and not hasattr(model, method):
            method = "decision_function"
        score = np.asarray(_predict(model, method, rows, self.random_state), dtype=float)
        classes = [plain(c) for c in model.classes_]
        favored = is_favorable(np.asarray(model.classes_), self.favorable)
        if score.ndim == 2:
            if score.shape[1] != len(classes):
                raise ValueError(
                    f"{method} has {score.shape[1]} columns for {len(classes)} labels."
                )
            score = score[:, favored].sum(axis=1)
        elif not favored[-1]:
            score = -score
        if np.isnan(score).any():
            raise ValueError(f"{method} returns NaN for {int(np.isnan(score).sum())} rows.")
        low, high = score.min(), score.max()
        if self.scoring != "roc_auc" and (low < -1e-9 or high > 1 + 1e-9):
            raise ValueError(
                f"{method} returns values from {low:.3g} to {high:.3g}, but {self.scoring} "
                "compares probabilities. Calibrate the model, or take scoring='roc_auc'."
            )
        return score


def probabilities(model, rows, favorable, random_state):
    """Return the probability of a favorable label by row, or None if a model has none."""
    if not hasattr(model, "predict_proba"):
        return None
    try:
        return CandidateTrial(favorable, "neg_brier_score", random_state)._score(model, rows)
    except Exception:  # calibration is left out
        return None


def takes_protected(model, method):
    """Return whether a method has to be passed the protected values.

    It names `sensitive_features` without a default, or with one and no protected column of its
    own; or it takes any argument, and hands none of them on to other estimators.
    """
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    parameters = inspect.signature(getattr(model, method)).parameters
    if names_protected(model, method):
        named = parameters["sensitive_features"]
        return named.default is inspect.Parameter.empty or (
            method == "fit" and getattr(model, "protected", "") is None
        )
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    # Estimators that hand arguments on override the method; calling it walks all their steps.
    routes = getattr(type(model), "get_metadata_routing", None)
    return method == "fit" and takes_any and routes is BaseEstimator.get_metadata_routing


def names_protected(model, method):
    """Return whether a method has an argument of the name."""
    return "sensitive_features" in inspect.signature(getattr(model, method)).parameters


def _predict(model, method, rows, random_state):
    """Return what a model says about a table of its own, with what its method has to be passed."""
    X, names = _private_copy(rows.X), getattr(model, "feature_names_in_", None)
    if isinstance(X, pd.DataFrame) and names is not None and set(names) < set(X.columns):
        X = X[list(names)]
    how = {}
    if takes_protected(model, method):
        how["sensitive_features"] = _private_copy(rows.protected)
    parameters = inspect.signature(getattr(model, method)).parameters
    if "random_state" in parameters and random_state is not None:
        how["random_state"] = random_state
    return getattr(model, method)(X, **how)


def with_other_groups(rows):
    """Return the people with other protected values, each column alone, and all of them.

    Each value becomes the next one.
    """
    shifted = rows.protected.apply(_next_value)
    names = list(shifted)
    several = [[name] for name in names] + [names] * (len(names) > 1)
    return [_with_values(rows, _replaced(rows.protected, shifted, columns)) for columns in several]


def _replaced(table, replacement, names):
    """Return a table with some columns of another one."""
    return pd.concat([(replacement if name in names else table)[name] for name in table], axis=1)


def _with_values(rows, protected):
    """Return the people with these protected values."""
    if not rows.inside:
        return ModelRows(rows.X, rows.y, protected, [])
    if isinstance(rows.X, pd.DataFrame):
        X = rows.X.copy()
        for name in rows.inside:
            X[name] = protected[name].set_axis(X.index).astype(X[name].dtype)
    else:
        X = rows.X.copy()
        for name in rows.inside:
            X[:, int(str(name)[1:])] = protected[name].to_numpy()
    return ModelRows(X, rows.y, protected, rows.inside)


def _next_value(column):
    """Return a column in which each value is replaced by the next one that occurs."""
    values = column.dropna().unique()
    after = dict(zip(values, np.roll(values, -1), strict=True))
    return column.map(after).astype(column.dtype) if len(values) else column
