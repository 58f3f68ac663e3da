"""Cases of what makes data: generators, planted bias, copulas, spaces, counts, transformers."""

import inspect

import numpy as np
import pandas as pd

from fuzzing._arguments import other_settings, small_settings
from fuzzing._case import FuzzCase
from fuzzing._detector_cases import encoded_tree, names_of
from fuzzing._hazards import hostile_table, pick
from skdisc import Limits, datasets, preprocessing, repair
from skdisc._counts._counts import Counts
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc.individual import Themis

_SHARES = [0, 1, 0.5, -0.1, 1.1, np.nan, (0.2, 0.4), (0.4, 0.2), [], "bogus", None]
_SIZES = [100, 1, 0, -1, 2.5, "many"]
_COUNTS = [1, 2, 0, -1, 3.5, (1, 2), (3, 1), "two", None, np.int64(2)]
_ALIKE = {
    "n_samples n_background n_seed": _SIZES,
    "n_pairs n_attributes n_numeric granularity intersectionality n_values n_classes": _COUNTS,
    "protected_share imbalance similarity null_fraction aleatoric epistemic coverage": _SHARES,
    "correlation base_rate p_female p_protected p_positive discrimination": _SHARES,
}
_VALUES = {  # of the parameters of generators
    **{name: values for names, values in _ALIKE.items() for name in names.split()},
    "bias": [0.0, 1.0, (0.5, 1.0), np.inf, np.nan, [1.0], "much"],
    "group_size": [(10, 20), 5, 1, 0, -3, (20, 10), np.inf, "big"],
    "outcome": ["binary", "ordinal", "numeric", "multiclass", "bogus"],
    "graph": [None, "random", "bogus", [("a", "b")], [("a", "b"), ("b", "a")]],
    "bias_in": ["labels", "data", "bogus"],
    "overlap": ["forbid", "allow", "bogus"],
    "signal": [0.0, 1.0, -1.0, np.inf, "loud"],
    "threshold": [True, False, 1, "yes"],
    "random_state": [0, None, -1, 1.5, "seed"],
}
_DESCRIBED = {  # an attribute by hand
    "name": ["a", "", "x y"],
    "kind": ["nominal", "ordinal", "numeric", "numeric", "bogus"],
    "values": [(), (), ("a", "b"), (1, 2), (2, 1), (1, 1), (None, "a"), (1, "a")],
    "weights": [(), (), (0.5, 0.5), (0, 0), (-1, 2), (np.nan, 1), (1,), (1e308, 1e308)],
    "quantiles": [(), (), (0, 1), (1, 0), (0, np.inf), (0,), (0, 0, 0), ("a", "b")],
    "law": [(), (), ("norm", 0, 1), ("norm", 0, -1), ("cauchy",), ("uniform", 0, 0)],
    "dtype": ["", "", "int64", "bogus", "category"],
}
_MAKERS = [n for n in datasets.__all__ if n.startswith("make_")]
_TRANSFORMERS = [
    cls
    for room in (preprocessing, repair)
    for cls in (getattr(room, n) for n in room.__all__)
    if inspect.isclass(cls)
]


def generator_case(number: int, rng: np.random.Generator) -> FuzzCase:
    """Return the case of something that makes data, on a table and with settings drawn."""
    kinds = (_maker, _transformer, _transformer, _planted, _learned, _attribute, _space, _counts)
    return pick(rng, kinds)(number, rng)


def _maker(number, rng):
    """Return a case of a generator of data."""
    name = pick(rng, _MAKERS)
    function = getattr(datasets, name)
    parameters = inspect.signature(function).parameters
    small = {"n_pairs": 2, "group_size": (10, 20), "n_background": 50, "n_samples": 60}
    given = {n: small[n] for n in small if n in parameters and name != "make_discrimination"}
    if name == "make_discrimination":
        given = {n: small[n] for n in ("n_pairs", "group_size", "n_background")}
    free = [n for n in parameters if n in _VALUES]
    given |= {n: pick(rng, _VALUES[n]) for n in (pick(rng, free) for _ in range(3))}
    given["random_state"] = given.get("random_state", 0)

    def run():
        made, again = function(**given), function(**given)
        found = [] if len(made.data) == len(made.target) else ["data and target differ in length"]
        if given["random_state"] == 0 and not made.data.equals(again.data):
            found.append("other data, with the same random_state")
        if isinstance(n := given.get("n_samples"), int) and len(made.data) != n:
            found.append(f"{len(made.data)} rows for n_samples={n}")
        return found

    return FuzzCase(number, f"{name}({given})", run, parameters)


def _transformer(number, rng):
    """Return a case of a transformer or sampler."""
    cls, table = pick(rng, _TRANSFORMERS), hostile_table(rng)
    settings = small_settings(cls) | other_settings(cls, rng)
    if "protected" in cls._get_param_names():
        settings["protected"] = table.protected
    if cls is preprocessing.CounterfactualRows:
        settings["source"] = pick(rng, [lambda X, do: X, lambda X, do: X[:1], lambda X, do: None])
    if cls is repair.CaseResampler:
        themis = Themis(encoded_tree(table), protected=table.protected, limits=Limits(tests=50))
        settings |= {"detector": themis.set_params(random_state=0)}
    if cls is repair.Reweigher:
        settings["estimator"] = encoded_tree(table)
    makes = "fit_resample" if hasattr(cls, "fit_resample") else "fit"

    def run():
        maker = cls(**settings)
        if makes == "fit_resample":
            X, y = maker.fit_resample(table.X, table.y)
            return [] if len(X) == len(y) else [f"{len(X)} rows and {len(y)} labels"]
        maker.fit(table.X, table.y)
        if not hasattr(maker, "transform"):
            return _short(maker.predict(table.X), table.X)
        return _short(maker.transform(table.X), table.X, cls is preprocessing.CounterfactualRows)

    call = f"{cls.__name__}({settings}).{makes}; {table.hazards}"
    return FuzzCase(number, call, run, names_of(table, settings))


def _short(made, X, may_be_longer=False):
    wrong = len(made) < len(X) if may_be_longer else len(made) != len(X)
    return [f"{len(made)} rows for {len(X)}"] if wrong else []


def _planted(number, rng):
    """Return a case of bias that is planted in a table."""
    table, column = hostile_table(rng), pick(rng, ["sex", "town", "income", "gone"])
    subgroup = pick(
        rng, [Predicate.equals(column, "F"), Predicate.equals(column, 3), Subgroup(), "sex", None]
    )
    rate = pick(rng, [0.3, -0.3, 0, 1, -1, 2, np.nan, np.inf, 1e308, "much"])
    kind = pick(rng, ["flip", "flip", "shift", "bogus"])

    def run():
        made = datasets.plant_bias(table.X, table.y, subgroup, rate, kind=kind, random_state=0)
        return _short(made.target, table.X)

    call = f"plant_bias(subgroup={subgroup}, rate={rate}, kind={kind!r}); {table.hazards}"
    return FuzzCase(number, call, run, names_of(table, {"subgroup", "rate", "kind", column}))


def _learned(number, rng):
    """Return a case of a schema that is learned from a table, and of people drawn from it."""
    table = hostile_table(rng, kinds=("X", "protected"))
    n = pick(rng, [20, 0, 1, -1, 1.5])

    def run():
        schema = datasets.schema_from_frame(table.X, protected=table.protected)
        drawn = datasets.GaussianCopula(schema).sample(n, random_state=0)
        same = list(drawn.columns) == list(table.X.columns)
        return _short(drawn, range(n)) + ([] if same else ["other columns than in the table"])

    call = f"schema_from_frame, GaussianCopula.sample({n}); {table.hazards}"
    return FuzzCase(number, call, run, names_of(table, {"protected", "n_samples", "frame"}))


def _attribute(number, rng):
    """Return a case of an attribute that is described by hand."""
    given = {name: pick(rng, values) for name, values in _DESCRIBED.items()}
    correlation = pick(rng, [0.0, 0.5, 1.0, -1.0, np.nan, [[1, 0.5], [0.5, 1]], "much"])

    def run():
        first = datasets.Attribute(**given)
        second = datasets.Attribute("second", values=("u", "v"))
        schema = datasets.Schema([first, second], correlation=correlation)
        return _short(datasets.GaussianCopula(schema).sample(9, random_state=0), range(9))

    call = f"Schema([Attribute({given}), ...], {correlation})"
    return FuzzCase(number, call, run, {*given, "correlation", "attribute", "second"})


def _space(number, rng):
    """Return a case of a feature space: rows become codes, and rows again."""
    table = hostile_table(rng, kinds=("X", "protected"))

    def run():
        space = FeatureSpace.from_frame(table.X, protected=table.protected)
        found = _short(space.sample(7, np.random.default_rng(0)), range(7))
        codes = space.encode(table.X)
        same = np.array_equal(space.encode(space.decode(codes)), codes)
        return found + ([] if same else ["other codes after decoding and encoding"])

    return FuzzCase(number, f"FeatureSpace; {table.hazards}", run, names_of(table, {"protected"}))


def _counts(number, rng):
    """Return a case of the counts of a table."""
    table = hostile_table(rng, kinds=("X", "y"))

    def run():
        whole = table.X.copy() if isinstance(table.X, pd.DataFrame) else table.X
        is_frame = isinstance(whole, pd.DataFrame)
        if is_frame and len(np.shape(table.y)) == 1 and len(table.y) == len(whole):
            whole["hired"] = np.asarray(table.y)
        counts = Counts.of(whole, protected="sex", label="hired")
        rows = len(counts.frame())
        wrong = [] if counts.n_people == len(whole) else [f"{counts.n_people} of {len(whole)}"]
        return wrong + ([] if rows == len(counts.n) else [f"{rows} rows of {len(counts.n)} cells"])

    return FuzzCase(number, f"Counts.of; {table.hazards}", run, names_of(table, {"hired"}))
