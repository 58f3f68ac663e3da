"""Steps of the generator, from its arguments to outcomes."""

from copy import deepcopy

import numpy as np
from scipy.optimize import brentq
from scipy.special import logit as logit_of

from skdisc.datasets._bayesian_network._causal_graph import build
from skdisc.datasets._copula._copula import GaussianCopula
from skdisc.datasets._copula._schema_from_frame import schema_from_frame
from skdisc.datasets._synthetic import _requests
from skdisc.datasets._synthetic._outcome_law import PROXY, Base, OutcomeLaw
from skdisc.datasets._synthetic._reference import read_reference
from skdisc.datasets._synthetic._sdv import SDVSampler, draw_sdv, fit_sdv

_OF_SCHEMA = {
    "n_attributes": 10,
    "protected_share": 0.3,
    "n_values": (3, 5),
    "n_numeric": 0,
    "correlation": 0.0,
}
_SEED = 10_000


def find_people(arguments, rng):
    """Return the schema (passed, learned or random), and the sampler of people."""
    synthesizer = arguments["synthesizer"]
    if not isinstance(synthesizer, str):
        if not getattr(synthesizer, "_fitted", True):
            raise ValueError(f"The {type(synthesizer).__name__} has not been fitted. Fit it first.")
        synthesizer = deepcopy(synthesizer)  # the state of the caller's object does not change
    source = _source(arguments)
    copula = arguments["synthesizer"] == "gaussian_copula"
    graph_cannot_apply = arguments["reference"] is not None or not copula
    if arguments["graph"] is not None and graph_cannot_apply:
        raise ValueError(
            "graph= needs attributes of schema= or of n_attributes=, without reference= and with "
            "synthesizer='gaussian_copula'."
        )
    frame, protected = arguments["reference"], arguments["protected"]
    if isinstance(frame, str):
        frame, protected = read_reference(frame)
    if source == "synthesizer":
        frame = draw_sdv(synthesizer, arguments["n_seed"], {}, rng)
    schema = arguments["schema"] or _find_schema(arguments, frame, protected, rng)
    if not schema.protected or len(schema.protected) == len(schema.attributes):
        raise ValueError(
            "The schema needs at least one protected and one unprotected attribute. Its "
            f"attributes are {schema.names!r}, of which {schema.protected!r} are protected."
        )
    reserved = {"outcome", PROXY} & set(schema.names)
    if reserved:
        raise ValueError(f"{sorted(reserved)!r} are names of generated columns; rename yours.")
    if arguments["graph"] is not None:
        return schema, build(schema, arguments["graph"], rng)
    if synthesizer == "gaussian_copula":
        return schema, GaussianCopula(schema)
    if synthesizer == "sdv":
        if frame is None:
            frame = GaussianCopula(schema).sample(arguments["n_seed"], random_state=rng)
        synthesizer = fit_sdv(frame[schema.names], schema)
    return schema, SDVSampler(synthesizer, schema)


def _source(arguments):
    """Return the source of attributes, and set `n_seed` where rows are drawn to learn from.

    Raises ValueError for arguments that do not belong to the source.
    """
    sources = [n for n in ("schema", "reference") if arguments[n] is not None]
    if not sources and not isinstance(arguments["synthesizer"], str):
        sources = ["synthesizer"]
    extra = [n for n in _OF_SCHEMA if arguments[n] is not None]
    unused = [n for n in ("protected", "target") if arguments[n] is not None]
    named = isinstance(arguments["reference"], str)
    learned = sources in (["reference"], ["synthesizer"]) and not named
    if len(sources) == 2 or (sources and extra) or (unused and not learned):
        raise ValueError(
            "Pass exactly one source of attributes: schema=; reference= by name; reference= as a "
            "frame or a fitted synthesizer= (with protected= and target=); or "
            f"{'=, '.join(_OF_SCHEMA)}=. Got "
            f"{[*sources, *extra, *unused]!r}."
        )
    seeded = arguments["synthesizer"] == "sdv" and sources != ["reference"]
    if seeded or sources == ["synthesizer"]:
        arguments["n_seed"] = arguments["n_seed"] or _SEED
    elif arguments["n_seed"] is not None:
        raise ValueError(
            f"n_seed={arguments['n_seed']} has no effect here. It is the number of rows to which "
            "synthesizer='sdv' is fitted without reference=, or from which the schema of a fitted "
            "synthesizer is learned without schema= and reference=. Leave it out."
        )
    return sources[0] if sources else "arguments"


def _find_schema(arguments, frame, protected, rng):
    """Return a schema learned from a frame, or a random one if there is no frame."""
    if frame is None:
        values = {n: d if arguments[n] is None else arguments[n] for n, d in _OF_SCHEMA.items()}
        arguments.update(values)
        return _requests.prescribe(**values, rng=rng)
    target = arguments["target"]
    if target is not None and target not in frame:
        raise ValueError(f"target={target!r} is not a column of the reference.")
    frame = frame.drop(columns=[] if target is None else target)
    return schema_from_frame(frame, protected=protected)


def check_outcome(arguments):
    """Set the defaults that depend on the outcome; raise ValueError for incompatible arguments."""
    outcome = arguments["outcome"]
    for name, value, fits in (
        ("n_classes", 3, outcome == "categorical"),
        ("base_rate", 0.5, outcome in ("binary", "probability")),
    ):
        if not fits and arguments[name] is not None:
            raise ValueError(f"{name}={arguments[name]!r} has no effect with outcome={outcome!r}.")
        if fits and arguments[name] is None:
            arguments[name] = value
    if arguments["threshold"] and outcome != "binary":
        raise ValueError(f"threshold=True has no effect with outcome={outcome!r}.")


def pair_settings(arguments, rng):
    """Return the requested properties of each pair other than its definition."""
    n = arguments["n_pairs"]
    size = _requests.draws("group_size", arguments["group_size"], n, rng, least=1, whole=True)
    tilt = _requests.draws("imbalance", arguments["imbalance"], n, rng, least=-1.0, most=1.0)
    cover = _requests.draws("coverage", arguments["coverage"], n, rng, least=0.0, most=1.0)
    sizes = np.column_stack([size * (1 - tilt) * cover, size * (1 + tilt)])
    levels = {
        f"{name}_asked": _requests.draws(name, arguments[name], n, rng, least=0.0)
        for name in ("aleatoric", "epistemic")
    }
    bias = _requests.biases(arguments["bias"], arguments["null_fraction"], n, rng)
    return {"sizes": np.rint(sizes).astype(int), "coverage": cover, "bias": bias, **levels}


def find_law(levels, sampler, arguments, definitions, settings, rng):
    """Return the law of the outcome, except for the numbers that `draw_outcome` sets."""
    definitions = np.concatenate(definitions) if definitions else np.empty((0, len(levels.sizes)))
    rest = [float(np.min(arguments[name])) for name in ("aleatoric", "epistemic")]
    outcome_names = sampler.into_outcome if arguments["graph"] is not None else None
    base = Base(sampler.schema, arguments["signal"], rng, outcome_names)
    return OutcomeLaw(
        levels,
        base,
        definitions,
        bias=settings["bias"].ravel(),
        sigma=np.repeat(settings["aleatoric_asked"], 2),
        epistemic=np.repeat(settings["epistemic_asked"], 2),
        rest=rest,
        bias_in=arguments["bias_in"],
        outcome=arguments["outcome"],
        rng=rng,
    )


def draw_outcome(law, X, arguments, rng):
    """Return the people with their proxy, and their outcomes; set the free numbers of the law."""
    n, outcome = len(X), arguments["outcome"]
    bias, sigma, _ = person = law.person(X)
    X = law.with_proxy(X, bias, rng.standard_normal(n))
    if outcome in ("binary", "probability") and not arguments["threshold"]:
        law.intercept = _intercept(law, X, person, arguments["base_rate"])
    noisy = law.logit(X, person) + sigma * rng.standard_normal(n)
    if outcome == "continuous":
        return X, noisy
    if outcome == "probability":
        return X, 1 / (1 + np.exp(-noisy))
    if arguments["threshold"]:
        law.step = float(np.quantile(noisy, 1 - arguments["base_rate"], method="higher"))
        return X, (noisy >= law.step).astype(int)
    utility = noisy + logit_of(rng.random(n))
    if outcome == "binary":
        return X, (utility >= 0).astype(int)
    levels = np.arange(1, arguments["n_classes"]) / arguments["n_classes"]
    law.cuts = np.quantile(utility, levels)
    classes = np.searchsorted(law.cuts, utility, side="left")
    if len(np.unique(classes)) < arguments["n_classes"]:
        raise ValueError(f"n_classes={arguments['n_classes']} is too large for {n} rows.")
    return X, classes


def _intercept(law, X, person, base_rate):
    """Return the intercept for which the mean outcome without bias is `base_rate`."""
    rows = slice(0, 20_000)
    people = tuple(values[rows] for values in person)
    logit = law.logit(X.iloc[rows], people, fair=True)
    return brentq(lambda b: law.mean_of(logit + b, people[1]).mean() - base_rate, -60, 60)
