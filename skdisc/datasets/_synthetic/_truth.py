"""Truth: the planted pairs, rows, oracles and exact effects."""

from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skdisc._space import _keys
from skdisc._space._codes import FREE
from skdisc._space._column import categories
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._types import Seed
from skdisc.causal import StructuralCausalModel
from skdisc.datasets._bayesian_network._network import BayesianNetwork
from skdisc.datasets._copula._copula import as_group, generator
from skdisc.datasets._synthetic._causal_truth import causal_effects, causal_model
from skdisc.datasets._synthetic._oracle import OracleClassifier, OracleRegressor
from skdisc.datasets._synthetic._outcome_law import N_MODELS

_PlantedPair = namedtuple(  # a row of `Truth.groups`
    "_PlantedPair",
    [
        "group_key",
        "subgroup_key_a",
        "subgroup_key_b",
        "subgroup_a",
        "subgroup_b",
        "similarity_asked",
        "similarity",
        "granularity",
        "intersectionality",
        "n_a",
        "n_b",
        "imbalance",
        "coverage",
        "aleatoric_asked",
        "epistemic_asked",
        "bias_a",
        "bias_b",
        "effect",
        "effect_due_to_bias",
        "effect_error",
        "effect_due_to_bias_error",
        "magnitude",
        "disparity",
        "ratio",
        "aleatoric",
        "epistemic",
        "is_null",
    ],
)


@dataclass(frozen=True)
class Effect:
    """Difference between the expected outcomes of two subgroups.

    Parameters
    ----------
    effect : float
        E[p | A] - E[p | B], a difference of probabilities (or of means for continuous outcomes).
    due_to_bias : float
        The part of the effect that vanishes without the planted bias.
    standard_error, standard_error_due_to_bias : float
        Numerical errors of both.

    Examples
    --------
    >>> from skdisc.datasets import make_discrimination
    >>> truth = make_discrimination(2, bias=2.0, null_fraction=0, random_state=0).truth
    >>> effect = truth.effect(truth.subgroups[0], truth.subgroups[1])
    >>> isinstance(effect, Effect), abs(effect.due_to_bias) > 0.1
    (True, True)
    """

    effect: float
    due_to_bias: float
    standard_error: float
    standard_error_due_to_bias: float


class Truth:
    """The ground truth of `make_discrimination`.

    Attributes
    ----------
    groups : DataFrame
        One row per planted pair: keys and both subgroups; similarity (requested and obtained),
        granularity and intersectionality; numbers of rows and their imbalance (n_b - n_a over their
        sum); coverage; biases (logit) of A and B; ``effect`` and ``effect_due_to_bias`` with
        numerical standard errors; ``magnitude`` (absolute effect), ``disparity`` (mean distance of
        A and B from the expected outcome of all people), ``ratio`` (A over B); aleatoric and
        epistemic level, requested and measured (mean standard deviation over the rows of the pair);
        ``is_null``.
    rows : DataFrame
        One row per row of the data: ``subgroup_key`` and ``group_key`` (None for the background),
        ``indv_key``, ``bias`` (logit), ``p``, ``p_without_bias``, ``epistemic`` and ``aleatoric``
        (standard deviations of p).
    oracle, fair_oracle : estimator
        Models that predict by the true law of the outcome, with and without the planted bias.
    ensemble : list of 32 estimators
        Models with perturbed weights; their spread is the epistemic uncertainty.
    subgroups : list of Subgroup
        The planted subgroups, A and B of each pair in turn.
    scm : StructuralCausalModel or None
        With ``graph=``, the causal model of the columns, fitted, whose equations are the law.

    Examples
    --------
    >>> from skdisc.datasets import make_discrimination
    >>> truth = make_discrimination(2, random_state=0).truth
    >>> isinstance(truth, Truth), len(truth.groups), len(truth.subgroups)
    (True, 2, 4)
    """

    def __init__(
        self,
        law: Any,
        sampler: Any,
        X: pd.DataFrame,
        origin: np.ndarray,
        requests: list,
    ) -> None:
        self.law = law
        self._sampler, self._X, self._origin, self._requests = sampler, X, origin, requests
        self._means = {}
        self._network = sampler if isinstance(sampler, BayesianNetwork) else None
        kind = OracleRegressor if law.outcome in ("probability", "continuous") else OracleClassifier
        self.oracle, self.fair_oracle = kind(law), kind(law, fair=True)
        self.ensemble = [kind(law, model=k) for k in range(N_MODELS)]
        self.subgroups = [law.levels.subgroup(d) for d in law.definitions]
        self._slots = [
            _slots(a, p) for a, p in zip(law.levels.attributes, law.levels.predicates, strict=True)
        ]

    def __repr__(self):
        pairs = self.law.bias.reshape(-1, 2)
        n_null = int((pairs == 0).all(axis=1).sum())
        return (
            f"Truth of {len(self._X):,} people: {len(pairs)} planted pairs of subgroups, {n_null} "
            f"of them without bias"
        )

    def sample(
        self,
        n_samples: int,
        subgroup: Subgroup | Predicate | None = None,
        *,
        random_state: Seed = None,
    ) -> pd.DataFrame:
        """Draw new people from the same law; the oracle predicts their outcomes.

        Parameters
        ----------
        n_samples : int
        subgroup : Subgroup, Predicate or None, default=None
            The people to draw from; None stands for all people, in planted subgroups or not.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        DataFrame of shape (n_samples, n_features)

        Raises
        ------
        ValueError
            If the subgroup has no, or too few, people.
        """
        rng = generator(random_state)
        X = self._sampler.sample(n_samples, subgroup, random_state=rng)
        return self.law.with_proxy(X, self.law.person(X)[0], rng.standard_normal(n_samples))

    def mean(self, subgroup: Subgroup | Predicate | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected outcome of a subgroup with and without bias, and standard errors.

        Parameters
        ----------
        subgroup : Subgroup, Predicate or None, default=None
            None stands for all people.

        Returns
        -------
        mean, standard_error : ndarray of shape (2,)

        Raises
        ------
        ValueError
            If the subgroup has no, or too few, people.
        """
        group = as_group(subgroup)
        if group not in self._means:
            self._means[group] = self._sampler.integrate(self._both, group)
        return self._means[group]

    def _both(self, X, extra):
        """Return the expected outcomes of rows with and without bias, one column each."""
        if self._network is not None:
            return np.column_stack(self.law.over_proxy(X))
        person = self.law.person(X)
        X = self.law.with_proxy(X, person[0], ndtri(extra))
        return np.column_stack(self.law.with_and_without_bias(X, person))

    def effect(
        self, A: Subgroup | Predicate | None, B: Subgroup | Predicate | None = None
    ) -> Effect:
        """Return the true effect between any two subgroups, planted or not.

        Parameters
        ----------
        A, B : Subgroup, Predicate or None
            None stands for all people.

        Returns
        -------
        Effect

        Raises
        ------
        ValueError
            If a subgroup has no, or too few, people.
        """
        (a, error_a), (b, error_b) = self.mean(A), self.mean(B)
        biased, fair = a - b
        errors = np.hypot(error_a, error_b)
        return Effect(
            float(biased), float(biased - fair), float(errors[0]), float(np.hypot(*errors))
        )

    def effects(self) -> pd.DataFrame:
        """Return the effects between all planted subgroups, with one row per pair of them."""
        keys = self._subgroup_keys
        rows = []
        for i, first in enumerate(self.subgroups):
            for j in range(i + 1, len(self.subgroups)):
                effect = self.effect(first, self.subgroups[j])
                rows.append((keys[i], keys[j], effect.effect, effect.due_to_bias))
        return pd.DataFrame(rows, columns=["subgroup_a", "subgroup_b", "effect", "due_to_bias"])

    @cached_property
    def scm(self) -> StructuralCausalModel | None:
        """The causal model of the columns; None without a graph."""
        return None if self._network is None else causal_model(self._network, self.law)

    def causal_effects(self) -> pd.DataFrame:
        r"""Return direct, indirect and spurious effects of the protected attributes.

        With :math:`y_b` the outcome of a person if the attribute is set to b, and
        :math:`y_{b, W_a}` that if, besides, all other columns stay as they are under a,

        .. math::

            E[y \mid b] - E[y \mid a]
            = \underbrace{E[y_{b, W_a} - y_a \mid a]}_{\text{direct}}
            + \underbrace{E[y_b - y_{b, W_a} \mid a]}_{\text{indirect}}
            + \underbrace{E[y \mid b] - E[y_b \mid a]}_{\text{spurious}}.

        They are exact for the law of all people, by enumeration.

        Returns
        -------
        DataFrame
            One row per protected attribute (``column``), ``value`` b and ``reference`` a:
            ``gap``, the sum of the three parts ``direct``, ``indirect`` and ``spurious``; and
            ``total``, E[y_b] - E[y_a] over all people.

        Raises
        ------
        ValueError
            Without a graph, or if the attributes have more than 2**20 combinations of values.

        References
        ----------
        J. Zhang, E. Bareinboim: Fairness in decision-making, the causal explanation formula. AAAI
        2018. :doi:`10.1609/aaai.v32i1.11564`
        """
        if self._network is None:
            raise ValueError("Causal effects need a causal graph: make the data with graph=.")
        return causal_effects(self._network, self.law)

    @cached_property
    def _subgroup_keys(self):
        """The keys of the planted subgroups."""
        return [
            _keys.join(
                [_keys.FREE if c == FREE else s[c] for s, c in zip(self._slots, d, strict=True)]
            )
            for d in self.law.definitions
        ]

    @cached_property
    def _group_keys(self):
        """The keys of the planted pairs."""
        keys = self._subgroup_keys
        return [_keys.couple(a, b) for a, b in zip(keys[::2], keys[1::2], strict=True)]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """One row per row of the data."""
        law, X = self.law, self._X
        person = law.person(X)
        aleatoric, epistemic = law.uncertainty(X, person)
        p, fair = law.with_and_without_bias(X, person)
        subgroup = np.array([*self._subgroup_keys, None], dtype=object)[self._origin]
        group = np.array([*np.repeat(self._group_keys, 2), None], dtype=object)[self._origin]
        columns = {
            "subgroup_key": subgroup,
            "group_key": group,
            "indv_key": _indv_keys(law.levels.attributes, X),
            "bias": person[0],
            "p": p,
            "p_without_bias": fair,
            "epistemic": epistemic,
            "aleatoric": aleatoric,
        }
        return pd.DataFrame(columns, index=X.index)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """One row per planted pair."""
        pairs = [self._pair(k, *request) for k, request in enumerate(self._requests)]
        return pd.DataFrame(pairs, columns=_PlantedPair._fields)

    def _pair(self, k, request, settings):
        """Return the row of pair `k` in `groups`."""
        keys, groups = self._subgroup_keys[2 * k : 2 * k + 2], self.subgroups[2 * k : 2 * k + 2]
        members = [self._origin == 2 * k + side for side in (0, 1)]
        n_a, n_b = (int(inside.sum()) for inside in members)
        protected = {a.name for a in self.law.levels.attributes if a.protected}
        n_protected = sum(p.column in protected for p in groups[0].predicates)
        effect = self.effect(*groups)
        means = np.array([self.mean(group)[0][0] for group in groups])
        bias = self.law.bias[2 * k : 2 * k + 2].tolist()
        measured = self.rows.loc[members[0] | members[1], ["aleatoric", "epistemic"]].mean()
        return _PlantedPair(
            group_key=self._group_keys[k],
            subgroup_key_a=keys[0],
            subgroup_key_b=keys[1],
            subgroup_a=groups[0],
            subgroup_b=groups[1],
            similarity_asked=request.similarity,
            similarity=len(set(groups[0].predicates) & set(groups[1].predicates)) / len(groups[0]),
            granularity=len(groups[0]) - n_protected,
            intersectionality=n_protected,
            n_a=n_a,
            n_b=n_b,
            imbalance=(n_b - n_a) / (n_a + n_b) if n_a + n_b else np.nan,
            **settings,
            bias_a=bias[0],
            bias_b=bias[1],
            effect=effect.effect,
            effect_due_to_bias=effect.due_to_bias,
            effect_error=effect.standard_error,
            effect_due_to_bias_error=effect.standard_error_due_to_bias,
            magnitude=abs(effect.effect),
            disparity=float(np.mean(np.abs(means - self.mean()[0][0]))),
            ratio=float(means[0] / means[1]) if means[1] else np.nan,
            **measured,
            is_null=not any(bias),
        )


def _slots(attribute, predicates):
    """Return the text of each level inside a key."""
    if attribute.kind == "numeric":
        return [_keys.interval(p.low, p.high, p.low_closed, p.high_closed) for p in predicates]
    texts = _codes(attribute)
    return [texts[p.values[0]] for p in predicates]


def _codes(attribute):
    """Return the text of each category: its position in the order of `FeatureSpace`."""
    values = [v for v in attribute.values if v is not None]
    order = values if attribute.dtype == "category" else categories(pd.Series(values))
    return {**{v: str(order.index(v)) for v in values}, None: _keys.MISSING}


def _indv_keys(attributes, X):
    """Return the key of each row as an array of str."""
    columns = []
    for a in attributes:
        position, uniques = X[a.name].factorize()
        codes = _codes(a) if a.kind != "numeric" else None
        texts = [codes[v] if codes else _keys.number(v) for v in uniques.tolist()]
        columns.append(np.array([*texts, _keys.MISSING], dtype=object)[position])
    return np.array(list(map("|".join, zip(*columns, strict=True))), dtype=object)
