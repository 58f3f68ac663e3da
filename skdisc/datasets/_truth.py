"""What was planted: pairs, rows, oracles and exact effects."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from skdisc import _keys
from skdisc._domain import categories
from skdisc._subgroup import Subgroup
from skdisc.datasets._law import PROXY, PROXY_NOISE
from skdisc.datasets._plan import FREE


@dataclass(frozen=True)
class Effect:
    """Difference of the expected outcome between two subgroups.

    Parameters
    ----------
    effect : float
        E[p | A] - E[p | B], a difference of probabilities (continuous outcomes: of means).
    due_to_bias : float
        The part of it that is not there without the planted bias.
    standard_error, standard_error_due_to_bias : float
        Numerical errors of the two.
    """

    effect: float
    due_to_bias: float
    standard_error: float
    standard_error_due_to_bias: float


class OracleClassifier(ClassifierMixin, BaseEstimator):
    """A model that knows the true probabilities, with or without the planted bias.

    Parameters
    ----------
    law : OutcomeLaw
    fair : bool, default=False
        Whether to leave the planted bias out.
    """

    def __init__(self, law, fair=False):
        self.law = law
        self.fair = fair

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        """The classes, an array."""
        cuts = self.law.cuts
        return np.arange(2 if cuts is None else len(cuts) + 1)

    def predict_proba(self, X):
        """Return the true probability of each class, an array of shape (n_rows, n_classes)."""
        return self.law.class_probabilities(X, fair=self.fair)

    def predict(self, X):
        """Return the most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class OracleRegressor(RegressorMixin, BaseEstimator):
    """A model that knows the true expected outcome, with or without the planted bias.

    Parameters
    ----------
    law : OutcomeLaw
    fair : bool, default=False
        Whether to leave the planted bias out.
    """

    def __init__(self, law, fair=False):
        self.law = law
        self.fair = fair

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Return the true expected outcome of each row."""
        return self.law.expected(X, fair=self.fair)


class Truth:
    """The ground truth of `make_discrimination`.

    Attributes
    ----------
    groups : DataFrame
        One row per planted pair: keys and both `Subgroup`; similarity (asked and obtained),
        granularity, intersectionality; numbers of rows and their imbalance (n_b - n_a over their
        sum); coverage; bias (logit) of both; ``effect`` and ``effect_due_to_bias`` with numerical
        standard errors; ``magnitude`` (its absolute value), ``disparity`` (mean distance of the two
        from everybody's expected outcome), ``ratio`` (A over B); aleatoric and epistemic levels
        asked, and measured (mean standard deviation over the rows of the pair); ``is_null``.
    rows : DataFrame
        One row per row of the data: ``subgroup_key`` and ``group_key`` (None: background),
        ``indv_key``, ``bias`` (logit), ``p``, ``p_without_bias``, ``epistemic``, ``aleatoric``
        (standard deviations of p).
    rejected : DataFrame
        The pairs asked for that cannot be had, with the reason.
    oracle, fair_oracle : estimator
        The true law of the outcome as a model, with and without the planted bias.
    subgroups : list of Subgroup
        The planted subgroups, A and B of each pair in turn.
    """

    def __init__(self, law, sampler, X, origin, requests, rejected):
        self.law, self.rejected = law, rejected
        self._sampler, self._X, self._origin, self._requests = sampler, X, origin, requests
        self._means = {}
        kind = OracleRegressor if law.outcome in ("probability", "continuous") else OracleClassifier
        self.oracle, self.fair_oracle = kind(law), kind(law, fair=True)
        self.subgroups = [law.levels.subgroup(d) for d in law.definitions]
        self._slots = [
            _slots(a, p) for a, p in zip(law.levels.attributes, law.levels.predicates, strict=True)
        ]

    def mean(self, subgroup=None):
        """Return the expected outcome of a subgroup with and without bias, and standard errors.

        Parameters
        ----------
        subgroup : Subgroup, Predicate or None, default=None
            None: everybody.

        Returns
        -------
        mean, standard_error : ndarray of shape (2,)
        """
        group = Subgroup() if subgroup is None else Subgroup() & subgroup
        if group not in self._means:
            self._means[group] = self._sampler.integrate(self._both, group)
        return self._means[group]

    def _both(self, X, extra):
        person = self.law.person(X)
        if self.law.has_proxy:
            X[PROXY] = (1 - self.law.direct) * person[0] + PROXY_NOISE * ndtri(extra)
        return np.column_stack(
            [self.law.expected(X, fair=fair, person=person) for fair in (False, True)]
        )

    def effect(self, A, B=None):
        """Return the oracle effect between any two subgroups, planted or not.

        Parameters
        ----------
        A, B : Subgroup, Predicate or None
            None: everybody.

        Returns
        -------
        Effect
        """
        (a, error_a), (b, error_b) = self.mean(A), self.mean(B)
        biased, fair = a - b
        errors = np.hypot(error_a, error_b)
        return Effect(
            float(biased), float(biased - fair), float(errors[0]), float(np.hypot(*errors))
        )

    def effects(self):
        """Return the effects between all planted subgroups, a DataFrame of one row for each two."""
        keys = self._subgroup_keys
        rows = []
        for i, first in enumerate(self.subgroups):
            for j in range(i + 1, len(self.subgroups)):
                found = self.effect(first, self.subgroups[j])
                rows.append((keys[i], keys[j], found.effect, found.due_to_bias))
        return pd.DataFrame(rows, columns=["subgroup_a", "subgroup_b", "effect", "due_to_bias"])

    @cached_property
    def _subgroup_keys(self):
        return [
            _keys.join(
                [_keys.FREE if c == FREE else s[c] for s, c in zip(self._slots, d, strict=True)]
            )
            for d in self.law.definitions
        ]

    @cached_property
    def _group_keys(self):
        keys = self._subgroup_keys
        return [_keys.couple(a, b) for a, b in zip(keys[::2], keys[1::2], strict=True)]

    @cached_property
    def rows(self):
        """One row per row of the data."""
        law, X = self.law, self._X
        person = law.person(X)
        aleatoric, epistemic = law.uncertainty(X, person)
        subgroup = np.array([*self._subgroup_keys, None], dtype=object)[self._origin]
        group = np.array([*np.repeat(self._group_keys, 2), None], dtype=object)[self._origin]
        columns = {
            "subgroup_key": subgroup,
            "group_key": group,
            "indv_key": _indv_keys(law.levels.attributes, X),
            "bias": person[0],
            "p": law.expected(X, person=person),
            "p_without_bias": law.expected(X, fair=True, person=person),
            "epistemic": epistemic,
            "aleatoric": aleatoric,
        }
        return pd.DataFrame(columns, index=X.index)

    @cached_property
    def groups(self):
        """One row per planted pair."""
        law = self.law
        measured = self.rows[["aleatoric", "epistemic"]].to_numpy()
        everybody = self.mean()[0][0]
        table = []
        for k, (request, asked) in enumerate(self._requests):
            a, b = self.subgroups[2 * k : 2 * k + 2]
            rows = [np.flatnonzero(self._origin == 2 * k + i) for i in (0, 1)]
            n = list(map(len, rows))
            found, means = self.effect(a, b), [self.mean(g)[0][0] for g in (a, b)]
            bias = law.bias[2 * k : 2 * k + 2].tolist()
            level = measured[np.concatenate(rows)].mean(axis=0) if sum(n) else [np.nan, np.nan]
            table.append(
                {
                    "group_key": self._group_keys[k],
                    "subgroup_key_a": self._subgroup_keys[2 * k],
                    "subgroup_key_b": self._subgroup_keys[2 * k + 1],
                    "subgroup_a": a,
                    "subgroup_b": b,
                    "similarity_asked": request.similarity,
                    "similarity": len(set(a.predicates) & set(b.predicates)) / len(a),
                    **self._counts(a),
                    "n_a": n[0],
                    "n_b": n[1],
                    "imbalance": (n[1] - n[0]) / sum(n) if sum(n) else np.nan,
                    **asked,
                    "bias_a": bias[0],
                    "bias_b": bias[1],
                    "effect": found.effect,
                    "effect_due_to_bias": found.due_to_bias,
                    "effect_error": found.standard_error,
                    "effect_due_to_bias_error": found.standard_error_due_to_bias,
                    "magnitude": abs(found.effect),
                    "disparity": float(np.mean(np.abs(np.array(means) - everybody))),
                    "ratio": float(means[0] / means[1]) if means[1] else np.nan,
                    "aleatoric": level[0],
                    "epistemic": level[1],
                    "is_null": not any(bias),
                }
            )
        return pd.DataFrame(table)

    def _counts(self, subgroup):
        protected = {a.name for a in self.law.levels.attributes if a.protected}
        n = sum(p.column in protected for p in subgroup.predicates)
        return {"granularity": len(subgroup) - n, "intersectionality": n}


def _slots(attribute, predicates):
    """Return the text of each level inside a key."""
    if attribute.kind == "numeric":
        return [_keys.interval(p.low, p.high, p.low_closed, p.high_closed) for p in predicates]
    texts = _codes(attribute)
    return [texts[p.values[0]] for p in predicates]


def _codes(attribute):
    """Return the text of each category: its place in the order of `FeatureSpace`."""
    values = [v for v in attribute.values if v is not None]
    order = values if attribute.dtype == "category" else categories(pd.Series(values))
    return {**{v: str(order.index(v)) for v in values}, None: _keys.MISSING}


def _indv_keys(attributes, X):
    """Return the key of each row, an array of str."""
    columns = []
    for a in attributes:
        position, uniques = X[a.name].factorize()
        known = _codes(a) if a.kind != "numeric" else None
        texts = [known[v] if known else _keys.number(v) for v in uniques.tolist()]
        columns.append(np.array([*texts, _keys.MISSING], dtype=object)[position])
    return np.array(list(map("|".join, zip(*columns, strict=True))), dtype=object)
