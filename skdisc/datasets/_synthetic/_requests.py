"""Arguments of the generator: draws from numbers and ranges, biases, and a random schema."""

from numbers import Integral, Real

import numpy as np

from skdisc.datasets._copula._schema import Attribute, Schema
from skdisc.datasets._synthetic._planted_pairs import PairRequest, usable_attributes


def draws(name, value, n, rng, *, least=-np.inf, most=np.inf, whole=False):
    """Draw `n` values of a parameter that is a number or a range (low, high), ends included.

    Raises ValueError if the parameter is neither, or out of bounds.
    """
    kind = Integral if whole else Real
    ends = value if isinstance(value, (tuple, list)) else (value, value)
    right = len(ends) == 2 and all(isinstance(e, kind) and not isinstance(e, bool) for e in ends)
    if not (right and least <= ends[0] <= ends[1] <= most and np.isfinite(ends).all()):
        what = "an integer" if whole else "a number"
        raise ValueError(
            f"{name} must be {what} or a range (low, high) with low <= high, finite and within "
            f"[{least}, {most}]; got {value!r}."
        )
    if whole:
        return rng.integers(ends[0], ends[1], n, endpoint=True)
    return rng.uniform(ends[0], ends[1], n)


def biases(bias, null_fraction, n, rng):
    """Return the biases of A and B of each pair, an array of shape (n, 2).

    From a range, A gets a bias with a magnitude in the range and a random sign, and B gets none; a
    share of the pairs (rounded) has no bias. An array holds one bias per subgroup.
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
            "bias must be a range (low, high) of magnitudes or, with null_fraction=None, an array "
            f"of shape {(n, 2)} with one value per subgroup; got shape {ends} and "
            f"null_fraction={null_fraction!r}."
        )
    bias = np.asarray(bias, dtype=float)
    if not np.isfinite(bias).all():
        raise ValueError(
            f"bias must be finite, and 0 for subgroups without bias; got {bias.tolist()!r}."
        )
    return bias


def divide(sizes, n_background, n_samples):
    """Return the sizes of subgroups and background, scaled so that they add up to `n_samples`.

    Raises ValueError if a part would be empty, or all parts are.
    """
    parts = np.append(sizes, n_background).astype(float)
    exact = parts * n_samples / max(parts.sum(), 1.0)
    sizes_rounded = np.floor(exact).astype(int)
    short = n_samples - sizes_rounded.sum()
    sizes_rounded[np.argsort(sizes_rounded - exact, kind="stable")[:short]] += 1
    if not parts.any() or (sizes_rounded[parts > 0] == 0).any():
        raise ValueError(
            f"n_samples={n_samples} people cannot be divided among {np.count_nonzero(sizes)} "
            f"subgroups and a background of n_background={n_background} in proportion to their "
            "sizes, at least one each. Raise n_samples, or plant fewer pairs."
        )
    return sizes_rounded[:-1], int(sizes_rounded[-1])


def requests(n, granularity, intersectionality, similarity, levels, rng):
    """Return one `PairRequest` per pair, and the ranges of its numbers of attributes.

    Ranges end at the number of attributes with two values that there are.

    Raises ValueError if a parameter is out of bounds, or there are fewer attributes than the least
    number.
    """
    ranges, drawn, (protected, others) = {}, {}, usable_attributes(levels)
    for name, value, least, usable, what in (
        ("granularity", granularity, 0, others, "unprotected"),
        ("intersectionality", intersectionality, 1, protected, "protected"),
    ):
        draws(name, value, 0, rng, least=least, whole=True)  # checks the parameter
        low, high = value if isinstance(value, (tuple, list)) else (value, value)
        if low > len(usable) and n:
            raise ValueError(
                f"{name}={value!r} asks for {low} {what} attributes, but {len(usable)} have two "
                f"values. Pass {name}={len(usable)} or less, or more attributes."
            )
        ranges[name] = int(low), int(min(high, len(usable)))
        drawn[name] = draws(name, ranges[name] if n else value, n, rng, least=least, whole=True)
    s = draws("similarity", similarity, n, rng, least=0.0, most=1.0)
    g, t = drawn["granularity"], drawn["intersectionality"]
    return [PairRequest(i, int(g[i]), int(t[i]), float(s[i])) for i in range(n)], ranges


def prescribe(n_attributes, protected_share, n_values, n_numeric, correlation, rng):
    """Return a random schema of categories with random shares and of normal numbers."""
    n_protected = max(1, round(protected_share * n_attributes))
    n_free = n_attributes - n_protected
    if n_free < 1 or n_numeric > n_free:
        raise ValueError(
            f"n_attributes={n_attributes} with protected_share={protected_share} leaves {n_free} "
            f"unprotected attributes, but at least one and n_numeric={n_numeric} are needed. Raise "
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
