"""Make the mechanism of each node from what the user gave, or from the defaults."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import clone

from skdisc._space._domain import infer_kind
from skdisc.causal._mechanisms import Discrete, Numeric, WorldPair
from skdisc.causal._saturated import SaturatedLogistic, SaturatedRegression, codes_of

NOISES, COUPLINGS = ("additive", "multiplicative", "none"), ("quantile", "gumbel")


def is_nominal(series, kinds):
    """Say whether a column is nominal: as `kinds` says, else if it has names or two numbers."""
    kind = (kinds or {}).get(series.name)
    if kind not in (None, "numeric", "nominal"):
        raise ValueError(f"kinds must be 'numeric' or 'nominal', got {kind!r}.")
    if kind is None:
        return infer_kind(series) != "numeric" or series.nunique() <= 2
    return kind == "nominal"


class Builder:
    """Builds the mechanisms of a causal model on the rows of X.

    Parameters
    ----------
    scm : StructuralCausalModel
        With its graph and kinds known.
    X : DataFrame
    """

    def __init__(self, scm, X):
        self.scm, self.X, self.parents, self.values = scm, X, scm.parents_, scm.values_
        for name, allowed in (("coupling", COUPLINGS), ("noise", NOISES)):
            given = getattr(scm, name)
            for value in given.values() if isinstance(given, Mapping) else [given]:
                if value not in allowed:
                    raise ValueError(f"{name} must be one of {allowed}, got {value!r}.")

    def build(self, node):
        """Return the fitted mechanism of a node that has parents."""
        equation = (self.scm.equations or {}).get(node)
        if isinstance(equation, (tuple, list)):
            return WorldPair(*equation)
        self._check_latent(node, equation)
        if node in self.values:
            f = equation or self._probabilities(node)
            return Discrete(pd.Index(self.values[node]), f, self.scm.coupling)
        noise = self._of("noise", node) or "additive"
        f = equation or self._fitted("regressor", node, self._least_squares(node, noise)).predict
        mechanism = Numeric(node, f, noise)
        return self._unconfounded(mechanism) if equation is None else mechanism

    def _check_latent(self, node, equation):
        hidden = [p for p in self.parents[node] if p in self.scm.latent_]
        known = equation is not None and node in (self.scm.scale or {})
        if hidden and (not known or node in self.values):
            raise ValueError(
                f"The node {node!r} has the latent parents {hidden!r}: it must be numeric and "
                "needs an equation in equations= and the standard deviation of its noise in scale=."
            )

    def _of(self, name, node):
        given = getattr(self.scm, name)
        return given.get(node) if isinstance(given, Mapping) else given

    def _fitted(self, name, node, default):
        model = self._of(name, node)
        model = default if model is None else clone(model)
        return model.fit(self.X[list(self.parents[node])], self.X[node])

    def _least_squares(self, node, noise):
        if noise == "multiplicative" and not (self.X[node] > 0).all():
            raise ValueError(
                f"The node {node!r} has multiplicative noise, but values down to "
                f"{float(self.X[node].min())!r}; that needs values > 0."
            )
        return SaturatedRegression(self._nominal_parents(node), log=noise == "multiplicative")

    def _nominal_parents(self, node):
        return {p: self.values[p] for p in self.parents[node] if p in self.values}

    def _probabilities(self, node):
        """Return a function of the parents that gives one probability per value of the node."""
        if len(self.values[node]) == 1:
            return lambda pa: np.ones((len(pa), 1))
        model = self._fitted("classifier", node, SaturatedLogistic(self._nominal_parents(node)))
        known = pd.Index(self.values[node])
        order = pd.Index(model.classes_).get_indexer(known)
        return lambda pa: model.predict_proba(pa)[:, order]

    def _unconfounded(self, mechanism):
        r"""Take out of f what assumed confounding put into it.

        With code a of the parent, x = f*(pa) + e and corr(a, e) = r, a regression finds
        :math:`f = f^* + r (\sigma_e / \sigma_a) a`, and the residual's standard deviation is
        :math:`\sigma_e \sqrt{1 - r^2}`.
        """
        node = mechanism.name
        assumed = {p: r for p, r in (self.scm.confounding or {}).items() if p in self.parents[node]}
        if not assumed or mechanism.noise == "none":
            return mechanism
        u = mechanism.abduct(self.X[list(self.parents[node])], self.X[node], None)
        logs = mechanism.noise == "multiplicative"
        spread, slopes, f = np.std(np.log(u) if logs else u), {}, mechanism.f
        for parent, r in assumed.items():
            if not -1 < r < 1:
                raise ValueError(f"confounding[{parent!r}] must lie in (-1, 1), got {r!r}.")
            slopes[parent] = r / np.sqrt(1 - r * r) * spread / self._code(self.X[parent]).std()

        def corrected(pa):
            bias = sum(slope * self._code(pa[p]) for p, slope in slopes.items())
            return f(pa) * np.exp(-bias) if logs else f(pa) - bias

        return Numeric(node, corrected, mechanism.noise)

    def _code(self, series):
        """Return numbers as they are, of two values 0 and 1."""
        values = self.values.get(series.name)
        if values is None:
            return series.to_numpy(dtype=float)
        if len(values) != 2:
            raise ValueError(
                f"confounding needs a numeric column or one of two values; {series.name!r} has "
                f"{len(values)}."
            )
        return codes_of(series, pd.Index(values)).astype(float)
