"""Abduction: the noise behind rows, and draws of latent variables given the observed ones."""

import numpy as np
import pandas as pd

_WARM_UP, _BETWEEN = 40, 3  # steps before the first draw, and between two draws


def abduct(scm, X, nodes, n_draws):
    """Return the noise behind the given nodes.

    `X`, of shape (n_rows, n_features): the rows, repeated `n_draws` times if that is a number.
    Returns `noise`: maps a node to an ndarray of shape (n_rows,) or (n_rows, n_categories);
    `every`: the same as columns by name, preceded by the columns of latent nodes.
    """
    X = X.assign(**_latents(scm, X, n_draws or 1)) if scm.latent_ else X
    noise, columns = {}, {name: X[name] for name in scm.latent_}
    for number, node in enumerate(scm.parents_):
        if node in nodes:
            rng = np.random.default_rng([*scm._seeds, number])  # independent of the other nodes
            pa = X[list(scm.parents_[node])]
            noise[node] = u = scm.mechanisms_[node].abduct(pa, X[node], rng)
            names = [node] if u.ndim == 1 else [f"{node}={v}" for v in scm.values_[node]]
            columns |= dict(zip(names, u.reshape(len(X), -1).T, strict=True))
    return noise, columns


def _latents(scm, X, n_draws):
    """Draw the latent columns of repeated rows from their posterior."""
    children = [n for n, above in scm.parents_.items() if set(above) & set(scm.latent_)]
    n = len(X) // n_draws
    observed_columns = {name: X[name].iloc[:n] for name in X.columns}

    def log_likelihood(u):
        total, rows = np.zeros(n), observed_columns | u
        for node in children:
            pa = pd.DataFrame({p: rows[p] for p in scm.parents_[node]})
            total += scm.mechanisms_[node].log_likelihood(
                pa, observed_columns[node], scm.scale[node]
            )
        return total

    rng = np.random.default_rng(scm._seeds)
    draws = draw_latents(log_likelihood, n, scm.latent_, n_draws, rng)
    return {name: np.concatenate([d[name] for d in draws]) for name in scm.latent_}


def draw_latents(log_likelihood, n, names, n_draws, rng):
    r"""Draw standard normal latents from their posterior by elliptical slice sampling.

    A step proposes :math:`u' = u \cos\theta + \nu \sin\theta` with :math:`\nu \sim N(0, I)` and
    shrinks the angle until the likelihood exceeds a random height (Murray, Adams, MacKay 2010).
    All rows step at once.

    `log_likelihood`: maps a dict of name to ndarray of shape (n,) to an ndarray of shape (n,). `n`:
    number of rows. `names`: the latent nodes. Returns a list of dict: for each draw, a dict of name
    to ndarray of shape (n,).
    """
    u = {name: rng.standard_normal(n) for name in names}
    height, draws = log_likelihood(u), []
    for step in range(_WARM_UP + _BETWEEN * (n_draws - 1) + 1):
        u, height = _step(log_likelihood, u, height, n, rng)
        if step >= _WARM_UP and (step - _WARM_UP) % _BETWEEN == 0:
            draws.append(u)
    return draws


def _step(log_likelihood, u, height, n, rng):
    """Return the next state of every row and its log likelihood."""
    nu = {name: rng.standard_normal(n) for name in u}
    level = height + np.log1p(-rng.random(n))  # a uniform share of the likelihood
    angle = rng.uniform(0, 2 * np.pi, n)
    low, high = angle - 2 * np.pi, angle.copy()
    while True:
        new = {name: u[name] * np.cos(angle) + nu[name] * np.sin(angle) for name in u}
        likelihood = log_likelihood(new)
        # The bracket shrinks towards angle 0, the state before, which lies above the level; the
        # width ends the loop where rounding hides this.
        outside = (likelihood < level) & (high - low > 1e-12)
        if not outside.any():
            return new, likelihood
        low = np.where(outside & (angle < 0), angle, low)
        high = np.where(outside & (angle >= 0), angle, high)
        angle = np.where(outside, rng.uniform(low, high), angle)
