"""What was asked of the generator: numbers, ranges, and what goes with what."""

from numbers import Integral, Real

import numpy as np

from skdisc.datasets._copula._schema import Attribute, Schema
from skdisc.datasets._synthetic._planted_pairs import PairRequest


def draws(name, value, n, rng, *, least=-np.inf, most=np.inf, whole=False):
    """Return `n` values of a parameter that is a number or a range (low, high), ends included.

    Raises
    ------
    ValueError
        If it is neither, or beyond its bounds.
    """
    kind = Integral if whole else Real
    ends = value if isinstance(value, (tuple, list)) else (value, value)
    right = len(ends) == 2 and all(isinstance(e, kind) and not isinstance(e, bool) for e in ends)
    if not (right and least <= ends[0] <= ends[1] <= most and np.isfinite(ends).all()):
        what = "a whole number" if whole else "a number"
        raise ValueError(
            f"{name} must be {what} or a range (low, high), low <= high, both finite and within "
            f"[{least}, {most}], got {value!r}."
        )
    if whole:
        return rng.integers(ends[0], ends[1], n, endpoint=True)
    return rng.uniform(ends[0], ends[1], n)


def biases(bias, null_fraction, n, rng):
    """Return the bias of A and B of each pair, an array of shape (n, 2).

    A range: A gets a magnitude from it, of random sign, B nothing; a share of the pairs, rounded,
    gets none. Else one value per subgroup.
    """
    ends = np.shape(bias)
    if ends in ((), (2,)) and not (ends == (2,) and isinstance(bias, np.ndarray)):
        size = draws("bias", bias, n, rng, least=0.0)
        sign = rng.choice([-1.0, 1.0], n)
        share = 0.5 if null_fraction is None else null_fraction
        null = rng.permutation(n) < round(share * n)
        return np.column_stack([np.where(null, 0.0, sign * size), np.zeros(n)])
    if ends != (n, 2) or null_fraction is not None:
        raise ValueError(
            f"bias must be a range (low, high) of magnitudes, or, with null_fraction=None, one "
            f"value per subgroup: an array of shape {(n, 2)}; got shape {ends}, "
            f"null_fraction={null_fraction!r}."
        )
    bias = np.asarray(bias, dtype=float)
    if not np.isfinite(bias).all():
        raise ValueError(f"bias must be finite, 0 where there is none; got {bias.tolist()!r}.")
    return bias


def requests(n, granularity, intersectionality, similarity, rng):
    """Return what is asked of each pair, a list of `PairRequest`."""
    g = draws("granularity", granularity, n, rng, least=0, whole=True)
    t = draws("intersectionality", intersectionality, n, rng, least=1, whole=True)
    s = draws("similarity", similarity, n, rng, least=0.0, most=1.0)
    return [PairRequest(i, int(g[i]), int(t[i]), float(s[i])) for i in range(n)]


def prescribe(n_attributes, protected_share, n_values, n_numeric, correlation, rng):
    """Return a random schema: categories with random shares, and normal numbers."""
    n_protected = max(1, round(protected_share * n_attributes))
    n_free = n_attributes - n_protected
    if n_free < 1 or n_numeric > n_free:
        raise ValueError(
            f"n_attributes={n_attributes} with protected_share={protected_share} leaves {n_free} "
            f"unprotected attributes; one at least, and n_numeric={n_numeric}, are needed. Raise "
            "n_attributes, or lower protected_share or n_numeric."
        )
    sizes = draws("n_values", n_values, n_attributes, rng, least=2, whole=True)
    attributes = []
    for j, size in enumerate(sizes):
        protected, number = j < n_protected, j - n_protected + 1
        if not protected and number > n_free - n_numeric:
            ends = {"law": ("norm", 0.0, 1.0), "dtype": "float64"}
            attributes.append(Attribute(f"Attr{number}_X", "numeric", **ends))
            continue
        name = f"Attr{j + 1}_T" if protected else f"Attr{number}_X"
        kind = "ordinal" if not protected and rng.random() < 0.5 else "nominal"
        weights = rng.uniform(0.5, 1.5, size)
        attributes.append(Attribute(name, kind, range(size), weights, protected=protected))
    return Schema(attributes, correlation)
