"""Cases of detectors: fit on hostile tables, and audit, score and fit again."""

from contextlib import suppress

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from fuzzing._answers import wrong_in_result
from fuzzing._arguments import other_settings, small_settings
from fuzzing._case import FuzzCase
from fuzzing._hazards import hostile_table, pick
from skdisc._blackbox._blackbox import BlackBox
from skdisc._registry import all_detectors

ORDERED = ("BiasScan", "DivExplorer", "SliceLine", "DiscriminationPatterns", "GroupDisparity")


class HashedRows:
    """A model whose decision depends on all columns of a row, whatever they hold."""

    def __init__(self, answer=None):
        self.answer = answer

    def predict(self, X):
        """Return a decision for each row."""
        if self.answer is not None:
            return self.answer(X)
        if not len(X):
            return np.zeros(0, dtype=int)
        rows = _as_text(pd.DataFrame(X)).agg("|".join, axis=1)
        return (pd.util.hash_array(rows.to_numpy(dtype=object)) % 5 > 1).astype(int)


def _as_text(X):
    return X.astype(object).map(str)


def _fails(X):
    raise KeyError("income")


_HOSTILE_MODELS = {
    "NaN": lambda X: np.full(len(X), np.nan),
    "one value": lambda X: 1,
    "one row too few": lambda X: np.ones(len(X))[1:],
    "text": lambda X: np.full(len(X), "yes"),
    "two columns": lambda X: np.ones((len(X), 2)),
    "inf": lambda X: np.full(len(X), np.inf),
    "an error": _fails,
    "None": lambda X: None,
    "always 1": lambda X: np.ones(len(X), dtype=int),
}


def detector_case(number: int, rng: np.random.Generator) -> FuzzCase:
    """Return the case of one detector, on a table and with settings that are drawn."""
    detectors = all_detectors()
    name = pick(rng, sorted(detectors))
    cls, table = detectors[name], hostile_table(rng)
    settings = small_settings(cls) | {"protected": table.protected} | other_settings(cls, rng)
    what, model = _model(rng, table)
    then = pick(rng, ["nothing", "again", "again", "audit", "score", "columns"])
    fit = _fit_arguments(cls, table)
    new = _new_table(rng, table) if then in ("audit", "score") else None

    def run():
        asked = BlackBox(decisions=table.y) if what == "decisions" else model
        given = table, asked, fit
        detector = cls(**settings).fit(table.X, table.y, asked, **fit)
        return wrong_in_result(detector.result_) + _afterwards(
            then, cls, settings, given, detector, new
        )

    shown = {k: v for k, v in settings.items() if v is not small_settings(cls).get(k, cls)}
    hazards = table.hazards + ([f"then {then} with {new.hazards}"] if new else [f"then {then}"])
    call = f"{name}({shown}).fit, model: {what}, {sorted(fit)}; {hazards}"
    return FuzzCase(number, call, run, names_of(table, settings))


def _new_table(rng, table):
    """Return rows to audit, with the columns of those of fit as far as there are any."""
    new = hostile_table(rng, kinds=("X", "y"))
    with suppress(Exception):
        gone = {c: rng.permutation(table.X[c]) for c in table.X.columns if c not in new.X}
        new.X = new.X.assign(**gone)[list(table.X.columns)]
    return new


def names_of(table, settings) -> set:
    """Return the names that an error message may be about."""
    columns = getattr(table.X, "columns", ())
    return {str(c) for c in columns} | set(settings) | {"sex", "town", "income", "score"}


def _model(rng, table):
    """Return the name of a kind of model, and a model of this kind."""
    kind = pick(rng, [*["none", "rows", "rows"] * 4, *["tree", "decisions"] * 2, "hostile"])
    if kind == "rows":
        return kind, HashedRows()
    if kind == "tree":
        return kind, encoded_tree(table)
    if kind == "hostile":
        answer = pick(rng, sorted(_HOSTILE_MODELS))
        return f"returns {answer}", HashedRows(_HOSTILE_MODELS[answer])
    return kind, None


def encoded_tree(table):
    """Return a pipeline that reads the columns of text, whatever is in them."""
    names = [c for c in getattr(table.X, "columns", ()) if c in ("sex", "town")]
    encoder = make_pipeline(FunctionTransformer(_as_text), OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer((encoder, names), remainder="drop")
    return make_pipeline(columns, DecisionTreeClassifier(max_depth=3, random_state=0))


def _fit_arguments(cls, table):
    known = cls.fit.__code__.co_varnames[: cls.fit.__code__.co_argcount]
    given = {"sample_weight": table.weight, "groups": table.groups}
    return {k: v for k, v in given.items() if v is not None and k in known}


def _afterwards(then, cls, settings, given, detector, new):
    """Use a fitted detector once more, and return what is wrong."""
    table, model, fit = given
    if then == "again":
        own, again = detector.result_, cls(**settings).fit(table.X, table.y, model, **fit).result_
        if again == own or "seconds" in (own.stopped_by, again.stopped_by):
            return []  # how far a run comes in its time depends on the machine
        return ["another result, with the same random_state"]
    if then == "audit":
        return wrong_in_result(detector.audit(new.X, new.y))
    if then == "score":
        score = detector.score(new.X, new.y)
        return [] if np.isfinite(score) or np.isnan(score) else [f"score = {score}"]
    if then == "columns" and cls.__name__ in ORDERED and isinstance(table.X, pd.DataFrame):
        turned = table.X[list(table.X.columns[::-1])]
        settings = settings | {"protected": detector.protected_ or None}  # positions change
        return _same_groups(detector.result_, cls(**settings).fit(turned, table.y, model, **fit))
    return []


def _same_groups(result, turned):
    """Return what differs after the order of the columns was reversed."""
    if isinstance(turned.model_, BlackBox) and turned.audited_ == "model":
        return []  # a model may depend on the order of columns
    tested = result.n_tested, turned.result_.n_tested
    return [] if tested[0] == tested[1] else [f"{tested} tests in two orders of the columns"]
