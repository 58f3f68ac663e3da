"""The generator: discrimination planted in pairs of comparable subgroups, with its truth."""

from numbers import Integral, Real

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import logit as logit_of
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from skdisc.datasets import _settings
from skdisc.datasets._copula import GaussianCopula, generator
from skdisc.datasets._law import PROXY, PROXY_NOISE, Base, OutcomeLaw
from skdisc.datasets._learn import schema_from_frame
from skdisc.datasets._plan import Levels, plan
from skdisc.datasets._population import populate
from skdisc.datasets._schema import Schema
from skdisc.datasets._truth import Truth

_RANGE = [Real, tuple, list]
_OF_SCHEMA = {
    "n_attributes": 10,
    "protected_share": 0.3,
    "n_values": (3, 5),
    "n_numeric": 0,
    "correlation": 0.0,
}


@validate_params(
    {
        "n_pairs": [Interval(Integral, 0, None, closed="left")],
        "n_attributes": [Interval(Integral, 2, None, closed="left"), None],
        "protected_share": [Interval(Real, 0, 1, closed="neither"), None],
        "n_values": [*_RANGE, None],
        "n_numeric": [Interval(Integral, 0, None, closed="left"), None],
        "group_size": _RANGE,
        "imbalance": _RANGE,
        "granularity": _RANGE,
        "intersectionality": _RANGE,
        "similarity": _RANGE,
        "bias": [*_RANGE, np.ndarray],
        "null_fraction": [Interval(Real, 0, 1, closed="both"), None],
        "n_background": [Interval(Integral, 0, None, closed="left")],
        "aleatoric": _RANGE,
        "epistemic": _RANGE,
        "coverage": _RANGE,
        "correlation": [Real, "array-like", None],
        "signal": [Interval(Real, 0, None, closed="left")],
        "outcome": [StrOptions({"binary", "probability", "categorical", "continuous"})],
        "n_classes": [Interval(Integral, 2, None, closed="left"), None],
        "base_rate": [Interval(Real, 0, 1, closed="neither"), None],
        "threshold": ["boolean"],
        "bias_in": [StrOptions({"labels", "proxy", "both"})],
        "overlap": [StrOptions({"forbid", "add"})],
        "schema": [Schema, None],
        "reference": [pd.DataFrame, None],
        "protected": [str, list, tuple, None],
        "target": [str, None],
        "return_X_y": ["boolean"],
        "as_frame": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
    },
    prefer_skip_nested_validation=True,
)
def make_discrimination(
    n_pairs=10,
    *,
    n_attributes=None,
    protected_share=None,
    n_values=None,
    n_numeric=None,
    group_size=(50, 200),
    imbalance=0.0,
    granularity=(1, 3),
    intersectionality=(1, 2),
    similarity=(0.0, 1.0),
    bias=(0.5, 2.0),
    null_fraction=None,
    n_background=1000,
    aleatoric=0.0,
    epistemic=0.0,
    coverage=1.0,
    correlation=None,
    signal=1.0,
    outcome="binary",
    n_classes=None,
    base_rate=None,
    threshold=False,
    bias_in="labels",
    overlap="forbid",
    schema=None,
    reference=None,
    protected=None,
    target=None,
    return_X_y=False,
    as_frame=True,
    random_state=None,
):
    r"""Make people and decisions with discrimination planted in pairs of comparable subgroups.

    Four phases: a Gaussian copula is made from a schema (prescriptive) or learned from `reference`
    (descriptive); pairs (A, B) of subgroups are defined that differ in a protected attribute;
    people are drawn for each, and for a background that belongs to none; outcomes follow

    .. math::

        P(y = 1 \mid x) = E\,\sigma(b + w \cdot z(x) + \text{bias}(x) + s(x)\,\varepsilon), \quad
        \varepsilon \sim N(0, 1),

    with z the unprotected attributes, standardised over everybody.

    Parameters
    ----------
    n_pairs : int, default=10
        Number of pairs. Those that cannot be had are listed in ``truth.rejected``.
    n_attributes : int, default=10
        Number of attributes of the random schema.
    protected_share : float, default=0.3
        Share of protected attributes (rounded, at least one).
    n_values : int or (low, high), default=(3, 5)
        Number of values of a categorical attribute.
    n_numeric : int, default=0
        Number of numeric attributes, among the unprotected; in a definition they are cut at their
        quartiles.
    group_size : int or (low, high), default=(50, 200)
        Mean number of people of A and B.
    imbalance : float or (low, high), default=0.0
        (n_b - n_a) / (n_a + n_b), in [-1, 1].
    granularity : int or (low, high), default=(1, 3)
        Number of unprotected attributes in the definitions.
    intersectionality : int or (low, high), default=(1, 2)
        Number of protected attributes in the definitions.
    similarity : float or (low, high), default=(0.0, 1.0)
        Share of the m defining attributes whose values are equal in A and B; round((1 - s) m) are
        changed, a protected one in any case.
    bias : float, (low, high), or array of shape (n_pairs, 2), default=(0.5, 2.0)
        Magnitude of the bias of A, a logit, of random sign; or the biases of A and B of each pair.
    null_fraction : float, default=None
        Share of the pairs (rounded) without bias; None: 0.5, or what the array `bias` says.
    n_background : int, default=1000
        Number of people in no planted subgroup.
    aleatoric : float or (low, high), default=0.0
        Standard deviation s of the noise on the logit, per pair; the background has the lowest.
    epistemic : float or (low, high), default=0.0
        Standard deviation of the relative error of the weights in an ensemble of 32 models, per
        pair; the background has the lowest. It moves ``truth.rows["epistemic"]``, never a label.
    coverage : float or (low, high), default=1.0
        Share of the people of A that are kept, per pair: too little data to know about them.
    correlation : float or array, default=0.0
        Spearman correlations of the attributes of the random schema; see `Schema`.
    signal : float, default=1.0
        Standard deviation of w z(x) were the attributes independent.
    outcome : {"binary", "probability", "categorical", "continuous"}, default="binary"
        What is observed: a decision, a probability with its noise, ordered classes, or
        the logit itself with its noise.
    n_classes : int, default=3
        Number of classes ("categorical" only), equally frequent; the highest is favourable.
    base_rate : float, default=0.5
        Mean of the favourable outcome without bias ("binary" and "probability" only).
    threshold : bool, default=False
        Whether a decision is favourable where the noisy logit exceeds a threshold, which is such
        that the share of favourable decisions is `base_rate` ("binary" only).
    bias_in : {"labels", "proxy", "both"}, default="labels"
        Whether the bias acts on the outcome; flows through ``Proxy_X``, an unprotected
        column that is the bias plus N(0, 0.25) and enters the logit; or half and half.
    overlap : {"forbid", "add"}, default="forbid"
        Whether subgroups of different pairs are disjoint, or may overlap and their biases, and
        the variances of their noise, add up.
    schema : Schema, default=None
        Instead of a random one.
    reference : DataFrame, default=None
        Real data from which the schema is learned.
    protected : column name or sequence of them, default=None
        Protected columns of `reference`.
    target : str, default=None
        Column of `reference` that is left out.
    return_X_y : bool, default=False
        Return only the data and the target.
    as_frame : bool, default=True
        Return pandas objects; else arrays, with categories as their places in the schema.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    bunch : Bunch
        ``data``, ``target``, ``frame`` (both; None for arrays), ``feature_names``, ``protected``,
        ``target_names``, ``schema``, ``truth`` (a `Truth`), ``arguments``, ``DESCR``.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    ValueError
        If a parameter is wrong, goes with others only, or leaves nobody.

    Examples
    --------
    >>> made = make_discrimination(n_pairs=4, null_fraction=0.5, random_state=0)
    >>> pair = made.truth.groups.query("not is_null").iloc[0]
    >>> print(pair.subgroup_a, "/", pair.subgroup_b, "/", round(pair.effect_due_to_bias, 2))
    Attr2_X = 2 and Attr3_T = 1 / Attr2_X = 2 and Attr3_T = 0 / 0.2
    """
    arguments = dict(locals())
    rng = generator(random_state)
    schema = _schema(arguments, rng)
    _check_outcome(arguments)
    sampler, levels = GaussianCopula(schema), Levels(schema)
    wanted = _settings.requests(n_pairs, granularity, intersectionality, similarity, rng)
    planted, reasons = plan(levels, wanted, overlap, _roughly(sampler), rng)
    kept = [r for r in wanted if r.number in planted]
    asked = _asked(arguments, rng)
    law = _law(levels, schema, arguments, [planted[r.number] for r in kept], kept, asked, rng)
    at = [r.number for r in kept]
    X, origin = populate(sampler, law, asked["sizes"][at].ravel(), n_background, rng)
    X, y = _outcome(law, X, arguments, rng)
    columns = ("coverage", "aleatoric_asked", "epistemic_asked")
    rejected = [
        (r.number, r.granularity, r.intersectionality, r.similarity, reasons[r.number])
        for r in wanted
        if r.number in reasons
    ]
    names = ["pair", "granularity", "intersectionality", "similarity", "reason"]
    of_pair = [(r, {c: float(asked[c][r.number]) for c in columns}) for r in kept]
    truth = Truth(law, sampler, X, origin, of_pair, pd.DataFrame(rejected, columns=names))
    return _bunch(X, y, schema, truth, arguments)


def _roughly(sampler):
    return lambda group: sampler.probability(group, n_draws=256)


def _schema(arguments, rng):
    """Return the schema given, learned or drawn; refuse what does not go with it."""
    given = [n for n in ("schema", "reference") if arguments[n] is not None]
    extra = [n for n in _OF_SCHEMA if arguments[n] is not None]
    lost = [n for n in ("protected", "target") if arguments[n] is not None]
    if len(given) == 2 or (given and extra) or (lost and given != ["reference"]):
        raise ValueError(
            f"A schema, a reference (with protected and target) or {', '.join(_OF_SCHEMA)} say "
            f"what people are like, one of the three; got {[*given, *extra, *lost]!r}."
        )
    if given == ["schema"]:
        schema = arguments["schema"]
    elif given:
        frame, target = arguments["reference"], arguments["target"]
        if target is not None and target not in frame:
            raise ValueError(f"target={target!r} is no column of the reference.")
        frame = frame.drop(columns=[] if target is None else target)
        schema = schema_from_frame(frame, protected=arguments["protected"])
    else:
        values = {n: d if arguments[n] is None else arguments[n] for n, d in _OF_SCHEMA.items()}
        arguments.update(values)
        schema = _settings.prescribe(**values, rng=rng)
    if not schema.protected or len(schema.protected) == len(schema.attributes):
        raise ValueError("Protected attributes are needed, and unprotected ones.")
    return schema


def _check_outcome(arguments):
    """Set the defaults that depend on the outcome; refuse what does not go with it."""
    outcome = arguments["outcome"]
    for name, value, fits in (
        ("n_classes", 3, outcome == "categorical"),
        ("base_rate", 0.5, outcome in ("binary", "probability")),
    ):
        if not fits and arguments[name] is not None:
            raise ValueError(f"{name}={arguments[name]!r} has no meaning with outcome={outcome!r}.")
        if fits and arguments[name] is None:
            arguments[name] = value
    if arguments["threshold"] and outcome != "binary":
        raise ValueError(f"threshold=True has no meaning with outcome={outcome!r}.")


def _asked(arguments, rng):
    """Return what is asked of each pair besides its definition."""
    n = arguments["n_pairs"]
    size = _settings.draws("group_size", arguments["group_size"], n, rng, least=1, whole=True)
    tilt = _settings.draws("imbalance", arguments["imbalance"], n, rng, least=-1.0, most=1.0)
    cover = _settings.draws("coverage", arguments["coverage"], n, rng, least=0.0, most=1.0)
    sizes = np.column_stack([size * (1 - tilt) * cover, size * (1 + tilt)])
    levels = {
        f"{name}_asked": _settings.draws(name, arguments[name], n, rng, least=0.0)
        for name in ("aleatoric", "epistemic")
    }
    bias = _settings.biases(arguments["bias"], arguments["null_fraction"], n, rng)
    return {"sizes": np.rint(sizes).astype(int), "coverage": cover, "bias": bias, **levels}


def _law(levels, schema, arguments, definitions, kept, asked, rng):
    at = np.array([r.number for r in kept], dtype=int)
    definitions = np.concatenate(definitions) if definitions else np.empty((0, len(levels.sizes)))
    level = [np.repeat(asked[f"{name}_asked"][at], 2) for name in ("aleatoric", "epistemic")]
    rest = [float(np.min(arguments[name])) for name in ("aleatoric", "epistemic")]
    base = Base(schema, arguments["signal"], rng)
    form = arguments["bias_in"], arguments["outcome"]
    return OutcomeLaw(
        levels, base, definitions, asked["bias"][at].ravel(), *level, rest, *form, rng
    )


def _outcome(law, X, arguments, rng):
    """Return the people with their proxy, and their outcomes; sets the free numbers of the law."""
    n, outcome = len(X), arguments["outcome"]
    bias, sigma, _ = person = law.person(X)
    if law.has_proxy:
        noise = PROXY_NOISE * rng.standard_normal(n)
        X = X.assign(**{PROXY: (1 - law.direct) * bias + noise})
    if outcome in ("binary", "probability") and not arguments["threshold"]:
        law.intercept = _intercept(law, X, person, arguments["base_rate"])
    noisy = law.logit(X, bias) + sigma * rng.standard_normal(n)
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
    at = np.arange(1, arguments["n_classes"]) / arguments["n_classes"]
    law.cuts = np.quantile(utility, at)
    classes = np.searchsorted(law.cuts, utility, side="left")
    if len(np.unique(classes)) < arguments["n_classes"]:
        raise ValueError(f"n_classes={arguments['n_classes']} is too many for {n} people.")
    return X, classes


def _intercept(law, X, person, base_rate):
    """Return the intercept at which the mean outcome without bias is `base_rate`."""
    bias, sigma, _ = person
    at = slice(0, 20_000)
    logit = law.logit(X.iloc[at], bias[at], fair=True)
    return brentq(lambda b: law.mean_of(logit + b, sigma[at]).mean() - base_rate, -60, 60)


def _bunch(X, y, schema, truth, arguments):
    y = pd.Series(y, name="outcome", index=X.index)
    data, target, frame = X, y, X.assign(outcome=y)
    if not arguments["as_frame"]:
        places = {
            a.name: pd.Series(a.values).reset_index().set_index(0)["index"]
            for a in schema.attributes
            if a.kind != "numeric"
        }
        coded = [X[c].map(places[c]) if c in places else X[c] for c in X]
        data, target, frame = np.column_stack(coded).astype(float), y.to_numpy(), None
    if arguments["return_X_y"]:
        return data, target
    classes = {"binary": ["unfavourable", "favourable"]}.get(arguments["outcome"], ["outcome"])
    if arguments["outcome"] == "categorical":
        classes = list(map(str, range(arguments["n_classes"])))
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=list(X),
        protected=schema.protected,
        target_names=classes,
        schema=schema,
        truth=truth,
        arguments=arguments,
        DESCR=make_discrimination.__doc__,
    )
