"""Settings of detectors whose value changes nothing, on a few small tables.

Each setting of each detector takes other values than its default, one at a time, on several tables.
It is listed if no value changes the result on any of them: the result without `time`, or an error.
The list is one of suspects: a setting may need another table (many rows, missing values, several
protected columns) or another setting. Settings that by design change no finding are left out.

Run: python benchmarks/inert_settings.py [DETECTOR ...] [--verbose]
"""

import argparse
import sys
import warnings
from inspect import signature
from numbers import Integral
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import Interval, Options

from skdisc import all_detectors

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from smallest import SMALLEST

NO_FINDING = {"n_jobs", "verbose", "memory", "random_state", "estimator", "protected", "space"}
BUDGETS = {"max_tests", "max_queries", "max_found", "time_budget"}
NEEDS = {
    "min_gap": {"output": "probability"}
}  # without effect between decisions, which differ by 1
COLUMNS = {
    "adjust_for": ["skill"],
    "features": ["age", "town"],
    "centers": None,
    "actionable": ["skill"],
}


def people(n, seed):
    """Return people and decisions that depend on skill, age, town, sex and race."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "skill": rng.normal(50, 10, n).round(1),
            "age": rng.integers(18, 66, n),
            "town": rng.choice(list("nsew"), n),
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
        }
    )
    gain = 6 * (X["sex"] == "M") + 8 * ((X["race"] == "a") & (X["town"] == "n"))
    score = X["skill"] + 0.2 * X["age"] + gain + rng.normal(0, 5, n)
    return X, (score > score.median()).astype(int).to_numpy()


class Coded:
    """A model of the people above: `learner` on numbers for their values."""

    classes_ = np.array([0, 1])

    def __init__(self, learner, X, y):
        self.levels = {c: sorted(X[c].dropna().unique()) for c in ("town", "sex", "race")}
        self.learner = learner.fit(self._coded(X), y)

    def _coded(self, X):
        codes = {c: [pd.Series(X[c]) == v for v in levels] for c, levels in self.levels.items()}
        numbers = X[["skill", "age"]].astype(float).fillna(0).to_numpy()
        return np.column_stack([numbers, *(v for group in codes.values() for v in group)])

    def predict(self, X):
        return self.learner.predict(self._coded(X))

    def predict_proba(self, X):
        return self.learner.predict_proba(self._coded(X))


def tables():
    """Yield names, people, decisions and the model, if any, that made them."""
    X, y = people(300, 0)
    yield "decisions", X, y, None
    X, y = people(400, 1)
    yield "linear", X, y, Coded(LogisticRegression(max_iter=2000), X, y)
    X, y = people(400, 2)
    yield "forest", X, y, Coded(RandomForestClassifier(10, random_state=0), X, y)
    X, y = people(400, 3)
    rng = np.random.default_rng(0)
    X = X.mask(pd.DataFrame(rng.random(X.shape) < 0.05, columns=X.columns))
    X["age"] = X["age"].astype(float)
    yield "missing", X, y, None


def other_values(constraints, default):
    """Return values that the constraints of a setting allow, other than its default."""
    values = []
    for constraint in constraints:
        if constraint is None or constraint == "boolean":
            values += [None] if constraint is None else [True, False]
        elif isinstance(constraint, Options):
            values += sorted(constraint.options, key=str)
        elif isinstance(constraint, Interval):
            low, high = constraint.left, constraint.right
            is_number = isinstance(default, (int, float)) and not isinstance(default, bool)
            middle = default if is_number and default else 1
            near = [middle / 4, middle / 2, middle * 2, middle * 5, low, high, 1, 2, 5, 20]
            near = [v for v in near if v is not None and np.isfinite(v)]
            if constraint.type is Integral:
                near = [int(v) for v in near]
            values += [v for v in near if v in constraint]
    distinct = []
    for value in values:
        if value != default and value not in distinct and value is not default:
            distinct.append(value)
    return distinct


def result_of(cls, settings, X, y, model):
    """Return the result of a detector, or the text of its error."""
    detector = cls(**settings)
    try:
        return detector.fit(X, y, model=model).result_ if model else detector.fit(X, y).result_
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def is_same(first, second):
    """Return whether two results are equal but for their settings and seconds."""
    if isinstance(first, str) or isinstance(second, str):
        return isinstance(first, str) and isinstance(second, str)
    return _shown(first) == _shown(second)


def _shown(result):
    parts = [result.to_frame(), result.estimates, *map(result.tables.get, sorted(result.tables))]
    parts = [
        p.drop(columns=[c for c in p if "seconds" in str(c) or str(c) == "EGS"]).to_csv()
        for p in parts
        if isinstance(p, pd.DataFrame)
    ]
    metrics = {k: v for k, v in result.metrics.items() if k in ("TSN", "DSN", "SUR")}
    return parts, metrics, result.verdict, result.n_tested, result.n_queries, list(result.notes)


def inert(name, verbose=False):
    """Return the settings of a detector that change nothing, as a list of names."""
    cls = all_detectors()[name]
    base = {"protected": ["sex", "race"], **SMALLEST[name].settings, "random_state": 0}
    defaults = {
        p.name: p.default
        for p in signature(cls).parameters.values()
        if p.name not in NO_FINDING | BUDGETS
    }
    base = {k: v for k, v in base.items() if k in signature(cls).parameters}
    alive, worlds = {}, [(n, X, y, m, result_of(cls, base, X, y, m)) for n, X, y, m in tables()]
    for setting, default in defaults.items():
        now = base.get(setting, default)
        values = other_values(cls._parameter_constraints.get(setting, []), now)
        values += [COLUMNS[setting]] if COLUMNS.get(setting) else []
        with_it, before = base, [r for *_, r in worlds]
        if setting in NEEDS and set(NEEDS[setting]) <= set(defaults):
            with_it = base | NEEDS[setting]
            before = [result_of(cls, with_it, X, y, model) for _, X, y, model, _ in worlds]
        changes = (
            not isinstance(after := result_of(cls, {**with_it, setting: value}, X, y, model), str)
            and not is_same(first, after)
            for value in values
            for (_, X, y, model, _), first in zip(worlds, before, strict=True)
        )
        alive[setting] = any(changes) if values else None
        if verbose:
            print(name, setting, values[:6], alive[setting], flush=True)
    silent = [s for s, works in alive.items() if works is False]
    unknown = [s for s, works in alive.items() if works is None]
    return silent, unknown, [n for n, *_, r in worlds if isinstance(r, str)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=sorted(all_detectors()))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.names or sorted(all_detectors()):
        silent, unknown, failed = inert(name, options.verbose)
        print(f"{name}: {', '.join(silent) or '-'}", end="")
        print(f" (no values to try: {', '.join(unknown)})" if unknown else "", end="")
        print(f" (errors on {', '.join(failed)})" if failed else "", flush=True)


if __name__ == "__main__":
    main()
