"""Mechanisms: a node as a function of parents and noise, and noise as a function of both."""

import numpy as np

from skdisc.causal._saturated import codes_of

SMALLEST = 1e-300  # a probability of 0 has no logarithm


class Numeric:
    """A numeric node: f(parents) + u, f(parents) + s(parents) * u, f(parents) * u, or f(parents).

    Parameters
    ----------
    f : callable
        Maps the columns of the parents to one number per row.
    noise : {"additive", "heteroscedastic", "multiplicative", "none"}
    spread : callable, default=None
        s, with "heteroscedastic".
    """

    def __init__(self, name, f, noise, spread=None):
        self.name, self.f, self.noise, self.spread = name, f, noise, spread

    def location(self, pa):
        """Return f(parents); raise ValueError if multiplicative noise meets values <= 0."""
        f = np.asarray(self.f(pa), dtype=float)
        if f.shape != (len(pa),):
            raise ValueError(
                f"The equation of {self.name!r} returned shape {f.shape} for {len(pa)} rows; it "
                "must return one number per row."
            )
        if self.noise == "multiplicative" and not np.all(f > 0):
            raise ValueError(
                f"Multiplicative noise needs values > 0, but the equation of {self.name!r} gave "
                f"{float(f.min())!r}. Use noise='additive' for this node."
            )
        return f

    def abduct(self, pa, x, rng):
        """Return the noise behind x, shape (n_rows,)."""
        x = np.asarray(x, dtype=float)
        if self.noise == "none":
            return np.zeros(len(x))
        f = self.location(pa)
        if self.noise == "heteroscedastic":
            return (x - f) / self.spread(pa)
        return x - f if self.noise == "additive" else x / f

    def predict(self, pa, u):
        """Return the values that follow from parents and noise."""
        f = self.location(pa)
        if self.noise == "heteroscedastic":
            return f + self.spread(pa) * u
        return {"additive": f + u, "multiplicative": f * u, "none": f}[self.noise]

    def log_likelihood(self, pa, x, scale):
        """Return the log density of x up to a constant, for normal or log-normal noise."""
        u = self.abduct(pa, x, None)
        return -0.5 * ((np.log(u) if self.noise == "multiplicative" else u) / scale) ** 2


class WorldPair:
    """A node defined by the user: x = forward(parents, u) and u = inverse(parents, x)."""

    noise = "user-defined"

    def __init__(self, forward, inverse):
        self.forward, self.inverse = forward, inverse

    def abduct(self, pa, x, rng):
        """Return the noise behind x, shape (n_rows,)."""
        return np.asarray(self.inverse(pa, np.asarray(x, dtype=float)), dtype=float)

    def predict(self, pa, u):
        """Return the values that follow from parents and noise."""
        return np.asarray(self.forward(pa, u), dtype=float)


class Discrete:
    """A nominal node, whose category is chosen by noise that is shared between worlds.

    With quantile coupling, the noise is one uniform u, and selects the category at quantile u. With
    Gumbel-max coupling, it is one Gumbel g per category, and selects the category with the largest
    log p + g. The noise behind an observed category is drawn from its exact posterior.

    Parameters
    ----------
    values : Index
        The categories. Their order matters for quantile coupling only.
    probabilities : callable
        Maps the columns of the parents to an array of shape (n_rows, n_categories).
    coupling : {"quantile", "gumbel"}
    """

    noise = "shared"

    def __init__(self, values, probabilities, coupling):
        self.values, self.probabilities, self.coupling = values, probabilities, coupling

    def _p(self, pa):
        """Return the probabilities of the categories, normalized and positive."""
        p = np.maximum(np.asarray(self.probabilities(pa), dtype=float), SMALLEST)
        return p / p.sum(axis=1, keepdims=True)

    def abduct(self, pa, x, rng):
        """Draw noise that leads to x, shape (n_rows,) or (n_rows, n_categories)."""
        p, code, rows = self._p(pa), codes_of(x, self.values), np.arange(len(x))
        if self.coupling == "quantile":
            # Given its category, u is uniform on the part of [0, 1] that belongs to this category.
            ends = np.column_stack([np.zeros(len(p)), p.cumsum(axis=1)])
            low, high = ends[rows, code], ends[rows, code + 1]
            return low + rng.random(len(p)) * (high - low)
        # The largest of log p + g is a standard Gumbel, whichever category has it: it is drawn
        # first and given to the category observed; the others are Gumbels that lie below it.
        log_p, top = np.log(p), rng.gumbel(size=(len(p), 1))
        perturbed = -np.logaddexp(-(log_p + rng.gumbel(size=p.shape)), -top)
        perturbed[rows, code] = top[:, 0]
        return perturbed - log_p

    def predict(self, pa, u):
        """Return the categories that parents and noise give."""
        p = self._p(pa)
        if self.coupling == "quantile":
            chosen = (u[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)
        else:
            chosen = (np.log(p) + u).argmax(axis=1)
        return self.values.take(chosen)

    def prior(self, n, rng):
        """Draw noise from its prior."""
        if self.coupling == "quantile":
            return rng.random(n)
        return rng.gumbel(size=(n, len(self.values)))
