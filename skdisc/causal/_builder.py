"""Builder: makes the mechanism of each node from the user's settings or the defaults."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import clone

from skdisc._space._column import infer_kind
from skdisc.causal._mechanisms import Discrete, Numeric, WorldPair
from skdisc.causal._saturated import (
    SaturatedLogistic,
    SaturatedRegression,
    SaturatedSpread,
    codes_of,
)

NOISES = ("additive", "heteroscedastic", "multiplicative", "none")
COUPLINGS = ("quantile", "gumbel")


def is_nominal(series, kinds):
    """Return True if `kinds`, or else its values (names, or at most two numbers), are nominal."""
    kind = (kinds or {}).get(series.name)
    if kind not in (None, "numeric", "nominal"):
        raise ValueError(f"kinds must be 'numeric' or 'nominal', got {kind!r}.")
    if kind is None:
        return infer_kind(series) != "numeric" or series.nunique() <= 2
    return kind == "nominal"


class Builder:
    """Builds the mechanisms of a causal model on the rows of X.

    `scm`: with the attributes ``parents_``, ``latent_`` and ``values_`` set. Raises ValueError if
    the coupling or the noise is unknown.
    """

    def __init__(self, scm, X):
        self.scm, self.X, self.parents, self.values = scm, X, scm.parents_, scm.values_
        for name, allowed in (("coupling", COUPLINGS), ("noise", NOISES)):
            setting = getattr(scm, name)
            for value in setting.values() if isinstance(setting, Mapping) else [setting]:
                if value not in allowed:
                    raise ValueError(f"{name} must be one of {allowed}, got {value!r}.")

    def build(self, node):
        """Return the fitted mechanism of a node with parents."""
        equation = (self.scm.equations or {}).get(node)
        if isinstance(equation, (tuple, list)):
            return WorldPair(*equation)
        self._check_latent(node, equation)
        if node in self.values:
            f = equation or self._probabilities(node)
            return Discrete(pd.Index(self.values[node]), f, self.scm.coupling)
        noise = self._of("noise", node) or "additive"
        f = equation or self._fitted("regressor", node, self._least_squares(node, noise)).predict
        mechanism = Numeric(node, f, "additive" if noise == "heteroscedastic" else noise)
        mechanism = self._unconfounded(mechanism) if equation is None else mechanism
        return self._spread_out(mechanism) if noise == "heteroscedastic" else mechanism

    def _spread_out(self, mechanism):
        """Return the mechanism with noise in units of a fitted standard deviation."""
        node = mechanism.name
        parents = self.X[list(self.parents[node])]
        e = mechanism.abduct(parents, self.X[node], None)
        spread = SaturatedSpread(self._nominal_parents(node)).fit(parents, e)
        return Numeric(node, mechanism.f, "heteroscedastic", spread.predict)

    def _check_latent(self, node, equation):
        """Raise unless a child of latent nodes is numeric and has an equation and a scale."""
        hidden = [p for p in self.parents[node] if p in self.scm.latent_]
        has_equation = equation is not None and node in (self.scm.scale or {})
        if hidden and (not has_equation or node in self.values):
            raise ValueError(
                f"The node {node!r} has latent parents {hidden!r}, so it must be numeric, with an "
                "equation in equations= and the standard deviation of its noise in scale=."
            )

    def _of(self, name, node):
        """Return a setting of the model for a node."""
        setting = getattr(self.scm, name)
        return setting.get(node) if isinstance(setting, Mapping) else setting

    def _fitted(self, name, node, default):
        """Return the user's estimator, or the default, fitted to the parents of a node."""
        model = self._of(name, node)
        model = default if model is None else clone(model)
        return model.fit(self.X[list(self.parents[node])], self.X[node])

    def _least_squares(self, node, noise):
        """Return the default regressor of a node."""
        if noise == "multiplicative" and not (self.X[node] > 0).all():
            raise ValueError(
                f"Multiplicative noise needs values > 0, but the node {node!r} has values down to "
                f"{float(self.X[node].min())!r}."
            )
        return SaturatedRegression(self._nominal_parents(node), log=noise == "multiplicative")

    def _nominal_parents(self, node):
        """Return the values of the nominal parents of a node by name."""
        return {p: self.values[p] for p in self.parents[node] if p in self.values}

    def _probabilities(self, node):
        """Return a function from the parents to one probability per value of the node."""
        if len(self.values[node]) == 1:
            return lambda pa: np.ones((len(pa), 1))
        model = self._fitted("classifier", node, SaturatedLogistic(self._nominal_parents(node)))
        values = pd.Index(self.values[node])
        order = pd.Index(model.classes_).get_indexer(values)
        return lambda pa: model.predict_proba(pa)[:, order]

    def _unconfounded(self, mechanism):
        r"""Remove the bias of assumed confounding from f.

        If a is the code of the parent, x = f*(pa) + e and corr(a, e) = r, then a regression
        estimates :math:`f = f^* + r (\sigma_e / \sigma_a) a`, with a residual standard deviation
        of :math:`\sigma_e \sqrt{1 - r^2}`.
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
        """Return a numeric column as floats, and a column of two values as 0 and 1."""
        values = self.values.get(series.name)
        if values is None:
            return series.to_numpy(dtype=float)
        if len(values) != 2:
            raise ValueError(
                f"confounding needs a numeric column or one with two values; {series.name!r} has "
                f"{len(values)} values."
            )
        return codes_of(series, pd.Index(values)).astype(float)
