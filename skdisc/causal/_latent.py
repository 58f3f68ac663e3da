"""Draws of latent variables given what was observed."""

import numpy as np


def draw_latents(log_likelihood, n, names, n_draws, rng, warm_up=40, thin=3):
    r"""Draw standard normal latents from their posterior, row by row, by elliptical slices.

    :math:`u' = u \cos\theta + \nu \sin\theta`, :math:`\nu \sim N(0, I)`, the angle shrunk until the
    likelihood exceeds a random height (Murray, Adams, MacKay 2010). All rows move at once.

    Parameters
    ----------
    log_likelihood : callable
        From a dict of name to ndarray of shape (n,) to an ndarray of shape (n,).
    n : int
    names : sequence of hashable
    n_draws : int
    rng : Generator
    warm_up, thin : int
        Steps before the first draw, and between two draws.

    Returns
    -------
    list of dict
        One dict of name to ndarray of shape (n,) per draw.
    """
    u = {name: rng.standard_normal(n) for name in names}
    height, draws = log_likelihood(u), []
    for step in range(warm_up + thin * (n_draws - 1) + 1):
        u, height = _step(log_likelihood, u, height, n, rng)
        if step >= warm_up and (step - warm_up) % thin == 0:
            draws.append(u)
    return draws


def _step(log_likelihood, u, height, n, rng):
    nu = {name: rng.standard_normal(n) for name in u}
    level = height + np.log1p(-rng.random(n))
    angle = rng.uniform(0, 2 * np.pi, n)
    low, high = angle - 2 * np.pi, angle.copy()
    while True:
        new = {name: u[name] * np.cos(angle) + nu[name] * np.sin(angle) for name in u}
        found = log_likelihood(new)
        outside = (found < level) & (high - low > 1e-12)
        if not outside.any():
            return new, found
        low = np.where(outside & (angle < 0), angle, low)
        high = np.where(outside & (angle >= 0), angle, high)
        angle = np.where(outside, rng.uniform(low, high), angle)
