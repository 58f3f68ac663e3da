"""Permutation tests: rows are assigned to groups at random, and decisions stay."""

import numpy as np

from skdisc.measures._formula._pairs import CountPair


def permutation_p(evaluation, value, n_permutations, rng):
    r"""Return the p-value of every comparison, :math:`(1 + \#\{t^* \ge t\}) / (1 + B)`.

    t is the distance from no discrimination. If decisions are classes, the counts are drawn from
    their hypergeometric distribution, without permuting rows. With strata, rows are permuted within
    each stratum.

    Parameters
    ----------
    evaluation : Evaluation
    value : ndarray of float, the observed values
    n_permutations : int, B
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        If the measure compares all groups at once, or rows have weights.
    """
    if evaluation.omnibus:
        raise ValueError(f"{evaluation.entry.name} compares all groups at once: permutations=0")
    if evaluation.rows.has_design:
        raise ValueError(
            "permutation tests support neither groups nor probability weights; weights="
            '"frequency" is supported where decisions are classes.'
        )
    if evaluation.with_rows:
        evaluation.rows = evaluation.rows.repeated()
    drawn = (_by_rows if evaluation.with_rows else _by_counts)(evaluation, n_permutations, rng)
    distance = evaluation.entry.distance
    observed = distance(value)
    extreme = (distance(drawn) >= observed * (1 - 1e-9) - 1e-12).sum(axis=0)
    return (1 + extreme) / (1 + n_permutations)


def _by_counts(evaluation, n_permutations, rng):
    """Return the values of permutations, shape (n_permutations, n_comparisons), from counts."""
    group, reference = evaluation.pair.one, evaluation.pair.other
    z, c = group.shape[:2]
    total = (group + reference).reshape(z, c, 4).astype(np.int64)
    drawn = _hypergeometric(total, group.sum(axis=(-1, -2)).astype(np.int64), n_permutations, rng)
    drawn = drawn.reshape(n_permutations, z, c, 2, 2).astype(float)
    pair = CountPair(drawn, (group + reference)[None] - drawn, evaluation.pair.overlap)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(evaluation.function(pair).value).reshape(n_permutations, c)


def _hypergeometric(total, size, n_permutations, rng):
    """Draw the number of rows of each confusion cell in the group, cell by cell."""
    n_to_draw, rest, drawn = size, total.sum(axis=-1), []
    for k in range(total.shape[-1]):
        rest = rest - total[..., k]
        part = rng.hypergeometric(
            np.broadcast_to(total[..., k], (n_permutations, *size.shape)), rest, n_to_draw
        )
        n_to_draw = n_to_draw - part
        drawn.append(part)
    return np.stack(drawn, axis=-1)


def _by_rows(evaluation, n_permutations, rng):
    """Return the values of permutations, shape (n_permutations, n_comparisons), from rows."""
    values = np.full((n_permutations, len(evaluation.comparisons)), np.nan)
    means_only = evaluation.entry.name == "mean_difference" and not evaluation.by_rows
    for k, comparison in enumerate(evaluation.comparisons):
        cell, pred = evaluation.rows.cell, evaluation.rows.pred
        side_positions = [np.flatnonzero(m[cell]) for m in (comparison.one, comparison.other)]
        n1, positions = len(side_positions[0]), np.concatenate(side_positions)
        if not n1 or n1 == len(positions):
            continue
        if means_only:
            sums = sums_of_subsets(pred[positions], n1, n_permutations, rng)
            total, n0 = pred[positions].sum(), len(positions) - n1
            mean0 = total / len(positions) if comparison.overlap else (total - sums) / n0
            values[:, k] = mean0 - sums / n1
            continue
        stratum = evaluation.rows.stratum
        for b in range(n_permutations):
            order = rng.permutation(positions)
            if stratum is not None:
                order = _within(positions, order, stratum)
            pair = evaluation._values(comparison, (order[:n1], order[n1:]))
            with np.errstate(divide="ignore", invalid="ignore"):
                values[b, k] = np.ravel(evaluation.function(pair).value)[0]
    return values


def _within(positions, order, stratum):
    """Return the permuted rows, each in the place of a row of the same stratum."""
    placed = np.empty_like(positions)
    slots = np.argsort(stratum[positions], kind="stable")
    placed[slots] = order[np.argsort(stratum[order], kind="stable")]
    return placed


def sums_of_subsets(y, size, n_draws, rng):
    """Return the sums of random subsets of y of a given size, drawn without replacement.

    Each row is included with a probability near size / n, by one random byte; then random rows are
    added or removed until the size is right. Given its size, such a subset is uniformly distributed
    for any probability, so the draw is exact.
    """
    n, mean = len(y), np.mean(y)
    y = y - mean
    small = min(size, n - size)
    bound = np.uint8(min(255, round(256 * small / n)))
    sums = np.empty(n_draws)
    words, buffer = -(-n // 8), np.empty(n)
    source = np.random.SFC64(int(rng.integers(2**63)))
    for b in range(n_draws):
        member = source.random_raw(words).view(np.uint8)[:n] < bound
        np.copyto(buffer, member)
        excess = int(np.count_nonzero(member)) - small
        total = float(np.einsum("i,i->", y, buffer))  # single-threaded, which is faster here
        changed = _pick(member if excess > 0 else ~member, abs(excess), rng)
        sums[b] = total - np.sign(excess) * y[changed].sum()
    return (sums if size == small else -sums) + mean * size


def _pick(mask, k, rng):
    """Draw k of the rows in a mask, without replacement."""
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < k:
        tried = rng.integers(len(mask), size=4 * (k - len(chosen)) + 16)
        tried = np.concatenate([chosen, tried[mask[tried]]])
        first = np.unique(tried, return_index=True)[1]
        chosen = tried[np.sort(first)]
    return chosen[:k]
