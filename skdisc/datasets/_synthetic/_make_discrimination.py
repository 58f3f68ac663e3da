"""make_discrimination: people and decisions with discrimination planted in pairs of subgroups."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch
from sklearn.utils._param_validation import HasMethods, StrOptions, validate_params

from skdisc._utils._settings import (
    AT_LEAST_ONE,
    AT_LEAST_TWO,
    COUNT,
    INNER_SHARE,
    NOT_NEGATIVE,
    SHARE,
)
from skdisc._utils._types import ArrayLike, Seed
from skdisc.datasets._bayesian_network._causal_graph import ROLES
from skdisc.datasets._copula._copula import generator
from skdisc.datasets._copula._schema import Schema
from skdisc.datasets._synthetic import _requests, _steps
from skdisc.datasets._synthetic._planted_pairs import Levels, plan
from skdisc.datasets._synthetic._population import populate
from skdisc.datasets._synthetic._reference import REFERENCES
from skdisc.datasets._synthetic._truth import Truth

_RANGE = [Real, tuple, list]
Range = float | tuple[float, float] | list[float]


@validate_params(
    {
        "n_pairs": [COUNT],
        "n_attributes": [AT_LEAST_TWO, None],
        "protected_share": [INNER_SHARE, None],
        "n_values": [*_RANGE, None],
        "n_numeric": [COUNT, None],
        "group_size": _RANGE,
        "imbalance": _RANGE,
        "granularity": _RANGE,
        "intersectionality": _RANGE,
        "similarity": _RANGE,
        "bias": [*_RANGE, np.ndarray],
        "null_fraction": [SHARE, None],
        "n_background": [COUNT],
        "n_samples": [AT_LEAST_ONE, None],
        "aleatoric": _RANGE,
        "epistemic": _RANGE,
        "coverage": _RANGE,
        "correlation": [Real, "array-like", None],
        "graph": [StrOptions({ROLES}), list, tuple, None],
        "signal": [NOT_NEGATIVE],
        "outcome": [StrOptions({"binary", "probability", "categorical", "continuous"})],
        "n_classes": [AT_LEAST_TWO, None],
        "base_rate": [INNER_SHARE, None],
        "threshold": ["boolean"],
        "bias_in": [StrOptions({"labels", "proxy", "both"})],
        "overlap": [StrOptions({"forbid", "add"})],
        "schema": [Schema, None],
        "reference": [pd.DataFrame, StrOptions(REFERENCES), None],
        "protected": [str, list, tuple, None],
        "target": [str, None],
        "synthesizer": [
            StrOptions({"gaussian_copula", "sdv"}),
            HasMethods(["sample", "sample_from_conditions", "reset_sampling"]),
        ],
        "n_seed": [AT_LEAST_ONE, None],
        "return_X_y": ["boolean"],
        "as_frame": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
    },
    prefer_skip_nested_validation=True,
)
def make_discrimination(
    n_pairs: int = 10,
    *,
    n_attributes: int | None = None,
    protected_share: float | None = None,
    n_values: Range | None = None,
    n_numeric: int | None = None,
    group_size: Range = (50, 200),
    imbalance: Range = 0.0,
    granularity: Range = (1, 3),
    intersectionality: Range = (1, 2),
    similarity: Range = (0.0, 1.0),
    bias: Range | np.ndarray = (0.5, 2.0),
    null_fraction: float | None = None,
    n_background: int = 1000,
    n_samples: int | None = None,
    aleatoric: Range = 0.0,
    epistemic: Range = 0.0,
    coverage: Range = 1.0,
    correlation: float | ArrayLike | None = None,
    graph: str | Sequence[tuple] | None = None,
    signal: float = 1.0,
    outcome: str = "binary",
    n_classes: int | None = None,
    base_rate: float | None = None,
    threshold: bool = False,
    bias_in: str = "labels",
    overlap: str = "forbid",
    schema: Schema | None = None,
    reference: pd.DataFrame | str | None = None,
    protected: str | list | tuple | None = None,
    target: str | None = None,
    synthesizer: Any = "gaussian_copula",
    n_seed: int | None = None,
    return_X_y: bool = False,
    as_frame: bool = True,
    random_state: Seed = None,
) -> Bunch | tuple[Any, Any]:
    r"""Make people and decisions with discrimination planted in pairs of comparable subgroups.

    The generator has four phases. First, a synthesizer is made from a schema (prescriptive) or
    learned from `reference` (descriptive). Second, pairs (A, B) of subgroups are defined, which
    differ in a protected attribute. Third, people are drawn for each subgroup and for a background
    that belongs to none. Fourth, outcomes are drawn from

    .. math::

        P(y = 1 \mid x) = E\,\sigma(b + w \cdot z(x) + \text{bias}(x) + s(x)\,\varepsilon), \quad
        \varepsilon \sim N(0, 1),

    where z are the unprotected attributes, standardized over all people.

    Parameters
    ----------
    n_pairs : int, default=10
        Number of pairs. Where pairs with as many attributes as were drawn do not fit beside each
        other, the coarsest ones get more attributes, within the ranges asked for.
    n_attributes : int, default=10
        Number of attributes of the random schema.
    protected_share : float, default=0.3
        Share of protected attributes (rounded, at least one).
    n_values : int or (low, high), default=(3, 5)
        Number of values of a categorical attribute.
    n_numeric : int, default=0
        Number of numeric attributes among the unprotected ones. Subgroups use their quartiles.
    group_size : int or (low, high), default=(50, 200)
        Mean number of people of A and B.
    imbalance : float or (low, high), default=0.0
        (n_b - n_a) / (n_a + n_b), in [-1, 1].
    granularity : int or (low, high), default=(1, 3)
        Number of unprotected attributes that define a subgroup.
    intersectionality : int or (low, high), default=(1, 2)
        Number of protected attributes that define a subgroup.
    similarity : float or (low, high), default=(0.0, 1.0)
        Share s of the m defining attributes with equal values in A and B; round((1 - s) m) values
        differ, at least one of them protected.
    bias : float, (low, high), or array of shape (n_pairs, 2), default=(0.5, 2.0)
        Magnitude of the bias of A on the logit, with random sign; or the biases of A and B for each
        pair.
    null_fraction : float, default=None
        Share of the pairs (rounded) without bias. None stands for 0.5, or for the share that the
        array `bias` implies.
    n_background : int, default=1000
        Number of people in no planted subgroup.
    n_samples : int, default=None
        Number of all people. The sizes of the planted subgroups and of the background are scaled to
        add up to it; None leaves them as they are.
    aleatoric : float or (low, high), default=0.0
        Standard deviation s of the noise on the logit, per pair. The background has the lowest.
    epistemic : float or (low, high), default=0.0
        Standard deviation of the relative errors of the weights in an ensemble of 32 models, per
        pair. The background has the lowest. It affects ``truth.rows["epistemic"]``, but no label.
    coverage : float or (low, high), default=1.0
        Share of the people of A that are kept, per pair; a low share makes the data on A scarce.
    correlation : float or array, default=0.0
        Spearman correlations of the attributes of the random schema; see `Schema`.
    graph : "roles", sequence of (parent, child) or (parent, child, strength), or None; default=None
        Causal graph of the attributes. The strength (0.5 by default) is about the correlation of
        the two; marginals are those of the schema. Edges into "outcome" say which unprotected
        attributes enter w z(x) (all, if there are none); effects of protected attributes on the
        outcome are planted. "roles": the unprotected attributes are in turn a mediator (protected
        -> it -> outcome), a proxy (protected -> it), a confounder (it -> protected, it -> outcome)
        and legitimate (it -> outcome). All attributes need values; see `Truth.scm` and
        `Truth.causal_effects`.
    signal : float, default=1.0
        Standard deviation of w z(x) if the attributes were independent.
    outcome : {"binary", "probability", "categorical", "continuous"}, default="binary"
        The observed outcome: a decision, a probability with noise, ordered classes, or the logit
        with noise.
    n_classes : int, default=3
        Number of equally frequent classes ("categorical" only); the highest class is favorable.
    base_rate : float, default=0.5
        Mean of the favorable outcome without bias ("binary" and "probability" only).
    threshold : bool, default=False
        Whether a decision is favorable if and only if the noisy logit exceeds a threshold, chosen
        so that the share of favorable decisions is `base_rate` ("binary" only).
    bias_in : {"labels", "proxy", "both"}, default="labels"
        Whether the bias acts on the outcome directly; through ``Proxy_X``, an unprotected column
        that is the bias plus N(0, 0.25) and enters the logit; or half through each.
    overlap : {"forbid", "add"}, default="forbid"
        Whether subgroups of different pairs must be disjoint, or may overlap. Where they overlap,
        their biases and the variances of their noise add up.
    schema : Schema, default=None
        The schema to use instead of a random one.
    reference : DataFrame, {"adult", "compas"} or None, default=None
        Real data from which the schema is learned; a name stands for the data of `fetch_adult` or
        `fetch_compas` with their protected columns, without columns that duplicate another.
    protected : column name or sequence of them, default=None
        Protected columns of `reference`, or of the data of a fitted `synthesizer`.
    target : str, default=None
        Column of `reference` or of these data to leave out.
    synthesizer : {"gaussian_copula", "sdv"} or object, default="gaussian_copula"
        The distribution of people: `GaussianCopula`; SDV's GaussianCopulaSynthesizer, fitted here
        (needs the extra ``sdv``); or any fitted single-table synthesizer of SDV. Its schema is
        `schema`, or learned from `reference`, or learned from rows that it draws.
    n_seed : int, default=10_000
        Number of rows drawn from the schema to fit SDV ("sdv" without `reference`), or drawn from a
        fitted synthesizer to learn the schema.
    return_X_y : bool, default=False
        Return only the data and the target.
    as_frame : bool, default=True
        Return pandas objects; otherwise arrays, with categories as positions in the schema.
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
        If a parameter is out of range or incompatible with others, if `n_pairs` pairs cannot be
        planted (the message says what may do), or if no row can be drawn.
    ImportError
        If ``synthesizer="sdv"`` and SDV is not installed.
    OSError
        If `reference` is a name, and the data are missing and cannot be downloaded.

    Notes
    -----
    SDV draws people under a condition from an approximation of the conditional law (all of them at
    one point of each value's latent interval), and its law is known from draws only. The effects in
    the truth are then means over 16,384 people, with their standard errors.

    Examples
    --------
    >>> made = make_discrimination(n_pairs=4, null_fraction=0.5, random_state=0)
    >>> pair = made.truth.groups.query("not is_null").iloc[0]
    >>> print(pair.subgroup_a, "/", pair.subgroup_b, "/", round(pair.effect_due_to_bias, 2))
    Attr2_X = 2 and Attr3_T = 1 / Attr2_X = 2 and Attr3_T = 0 / 0.2
    """
    arguments = dict(locals())
    rng = generator(random_state)
    _steps.check_outcome(arguments)
    schema, sampler = _steps.find_people(arguments, rng)
    levels = Levels(schema)
    requests, ranges = _requests.requests(
        n_pairs, granularity, intersectionality, similarity, levels, rng
    )
    pairs, definitions = plan(
        levels,
        requests,
        ranges,
        overlap=overlap,
        n_background=n_background,
        probability=lambda group: sampler.probability(group, n_draws=256),  # roughly
        rng=rng,
    )
    settings = _steps.pair_settings(arguments, rng)
    law = _steps.find_law(levels, sampler, arguments, definitions, settings, rng)
    sizes = settings["sizes"].ravel()
    if n_samples is not None:
        sizes, n_background = _requests.divide(sizes, n_background, n_samples)
    X, origin = populate(sampler, law, sizes, n_background, rng)
    X, y = _steps.draw_outcome(law, X, arguments, rng)
    columns = ("coverage", "aleatoric_asked", "epistemic_asked")
    of_pair = [(r, {c: float(settings[c][r.number]) for c in columns}) for r in pairs]
    truth = Truth(law, sampler, X, origin, of_pair)
    return _bunch(X, y, schema, truth, arguments)


def _bunch(X, y, schema, truth, arguments):
    """Return the data in the form that the caller requested."""
    y = pd.Series(y, name="outcome", index=X.index)
    data, target, frame = X, y, X.assign(outcome=y)
    if not arguments["as_frame"]:
        named = {a.name: a for a in schema.attributes if a.kind != "numeric"}
        coded = [named[c].codes(X[c]) if c in named else X[c] for c in X]
        data, target, frame = np.column_stack(coded).astype(float), y.to_numpy(), None
    if arguments["return_X_y"]:
        return data, target
    classes = {"binary": ["unfavorable", "favorable"]}.get(arguments["outcome"], ["outcome"])
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
        DESCR=_description(X, schema, truth, arguments),
    )


def _description(X, schema, truth, arguments):
    """Return what was made, as text."""
    protected = ", ".join(map(str, schema.protected))
    rest = ", ".join(str(name) for name in X if name not in schema.protected)
    lines = [
        f"{truth}.",
        f"Protected columns: {protected}. Other columns: {rest}.",
        f"Outcome: {arguments['outcome']}.",
    ]
    for k, (base, compared) in enumerate(
        zip(truth.subgroups[::2], truth.subgroups[1::2], strict=True)
    ):
        bias = " and ".join(f"{b:.3g}" for b in truth.law.bias[2 * k : 2 * k + 2])
        lines.append(f"Pair {k + 1}: {base} / {compared}; biases on the logit: {bias}.")
    return "\n".join([*lines, "", "Made by skdisc.datasets.make_discrimination."])
