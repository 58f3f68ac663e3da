"""Latent normal correlations that lead to given associations of attributes."""

import numpy as np
from scipy.special import ndtr, ndtri

_RHO = np.sin(np.linspace(-1, 1, 41) * np.arcsin(0.995))  # denser near -1 and 1
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_MOST_CELLS = 40
_TOLERANCE = 0.03


def cells(attribute):
    """Return the shares of the cells of an attribute: its values, or at most 40 bins of numbers."""
    if not attribute.is_discrete:
        return np.full(_MOST_CELLS, 1 / _MOST_CELLS)
    weights = np.asarray(attribute.weights)
    if attribute.kind != "numeric" or len(weights) <= _MOST_CELLS:
        return weights
    middle = np.cumsum(weights) - weights / 2
    bins = np.minimum((middle * _MOST_CELLS).astype(int), _MOST_CELLS - 1)
    shares = np.bincount(bins, weights)
    return shares[shares > 0]


def joint(first, second, rho):
    """Return the table of cell probabilities for the latent correlation `rho`.

    `first` and `second`: shares of the cells, in the order of the latent score.
    """
    ends = np.concatenate([[0.0], np.cumsum(first)])
    u = ends[:-1, None] + first[:, None] * (_NODES + 1) / 2
    z = ndtri(np.clip(u, 1e-15, 1 - 1e-15))
    cuts = ndtri(np.minimum(np.cumsum(second)[:-1] / second.sum(), 1.0))
    below = ndtr((cuts - rho * z[..., None]) / np.sqrt(1 - rho**2))
    ones = np.ones((*below.shape[:-1], 1))
    mass = np.diff(np.concatenate([0 * ones, below, ones], axis=-1), axis=-1)
    return first[:, None] * np.einsum("k,ikj->ij", _WEIGHTS / 2, mass)


def spearman(table):
    """Return the Spearman correlation of a table of shares, with mean ranks for ties."""
    scores = [np.cumsum(m) - m / 2 - 0.5 for m in (table.sum(axis=1), table.sum(axis=0))]
    spread = [m @ s**2 for m, s in zip((table.sum(axis=1), table.sum(axis=0)), scores, strict=True)]
    return scores[0] @ table @ scores[1] / np.sqrt(spread[0] * spread[1])


def latent_correlation(first, second, target, measure=spearman):
    """Return the latent correlation for a given association of two attributes.

    Parameters
    ----------
    first, second : ndarray
        Shares of the cells.
    target : float
        The association; its sign is that of the latent correlation.
    measure : callable
        Measure of association: `spearman` or `cramers_v`.

    Returns
    -------
    rho : float
        If `target` cannot be reached, the value that comes closest.
    reached : float
        The association at `rho`.
    slope : float
        Derivative of the association with respect to `rho`.
    """
    if len(first) < 2 or len(second) < 2 or target == 0:
        return 0.0, 0.0, 1.0
    side = np.abs(_RHO[_RHO >= 0 if target > 0 else _RHO <= 0])
    side = np.sort(side)
    reached = np.array([abs(measure(joint(first, second, np.sign(target) * r))) for r in side])
    reached[0] = 0.0 if measure is spearman else reached[0]
    rises = np.maximum.accumulate(reached)
    rho = np.interp(abs(target), rises, side)
    slope = np.interp(rho, side, np.gradient(reached, side))
    return np.sign(target) * rho, np.sign(target) * np.interp(rho, side, reached), abs(slope)


def solve(schema):
    """Return the latent correlation matrix of a schema.

    Raises ValueError if no latent matrix leads to the correlations of the schema within 0.03.
    """
    target = np.asarray(schema.correlation)
    if schema.latent:
        return nearest(target)
    shares = [cells(a) for a in schema.attributes]
    n = len(shares)
    latent, cache = np.eye(n), {}
    for i in range(n):
        for j in range(i):
            key = (shares[i].tobytes(), shares[j].tobytes(), target[i, j])
            if key not in cache:
                cache[key] = latent_correlation(shares[i], shares[j], target[i, j])
            latent[i, j] = latent[j, i] = cache[key][0]
            if abs(cache[key][1] - target[i, j]) > _TOLERANCE and min(map(len, shares)) > 1:
                raise ValueError(
                    f"{schema.names[i]!r} and {schema.names[j]!r} cannot have the correlation "
                    f"{target[i, j]:.3g}; their marginals allow at most {cache[key][1]:.3g}."
                )
    near = nearest(latent)
    if np.abs(near - latent).max() > _TOLERANCE:
        raise ValueError(
            "No distribution has all of these correlations: the nearest latent matrix differs by "
            f"{np.abs(near - latent).max():.3g}. Choose a smaller correlation, or equal signs."
        )
    return near


def nearest(matrix, weights=None, in_time=lambda: True):
    """Return the correlation matrix nearest to a symmetric matrix, by weighted differences.

    Without weights the method is Higham's alternating projections, with weights projected gradient.
    Once `in_time` returns False, a correlation matrix that is less near is returned.
    """
    lowest = np.linalg.eigvalsh(matrix)[0]
    if lowest > 1e-8:
        return matrix
    if not in_time():  # correlations nearer to 0
        return np.where(np.eye(len(matrix)), 1.0, matrix / (1 + 1e-6 - lowest))
    near = _project(matrix)
    if weights is not None:
        for _ in range(100):
            if not in_time():
                break
            near = _project(near + weights / weights.max() * (matrix - near), n_steps=20)
    return near


def _project(matrix, n_steps=200):
    """Return the nearest correlation matrix by alternating projections."""
    y, correction = matrix, 0.0
    for _ in range(n_steps):
        values, vectors = np.linalg.eigh(y - correction)
        x = (vectors * np.maximum(values, 1e-6)) @ vectors.T
        correction = x - (y - correction)
        y = x.copy()
        np.fill_diagonal(y, 1.0)
    scale = np.sqrt(np.diag(x))
    near = x / np.outer(scale, scale)
    np.fill_diagonal(near, 1.0)
    return (near + near.T) / 2
