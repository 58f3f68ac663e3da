"""Phase 2: the pairs of subgroups to plant, and the requests that cannot be met."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

import numpy as np

from skdisc._space._codes import FREE
from skdisc._space._subgroup import Subgroup

_UNKNOWN = FREE - 1  # a value without a level
_BATCH, _BATCHES = 32, 6
_PATIENCE = 20  # failures in a row after which requests of the same shape are not tried
_MIN_SHARE = 1e-5  # a subgroup with a smaller share of the people counts as empty


class Levels:
    """The conditions that can define a subgroup, and the level of each row in each attribute.

    Parameters
    ----------
    schema : Schema
    """

    def __init__(self, schema):
        self.attributes = schema.attributes
        self.predicates = [a.levels() for a in schema.attributes]
        self.sizes = np.array([len(p) for p in self.predicates])
        self.is_protected = np.array([a.protected for a in schema.attributes])

    def encode(self, X):
        """Return the level of each value, an int16 array of shape (n_rows, n_attributes)."""
        codes = np.empty((len(X), len(self.attributes)), dtype=np.int16, order="F")
        for j, (attribute, predicates) in enumerate(
            zip(self.attributes, self.predicates, strict=True)
        ):
            column = X[attribute.name]
            if attribute.kind == "numeric":
                x = column.to_numpy(dtype=float)
                codes[:, j] = np.sum([x > p.high for p in predicates[:-1]], axis=0)
                continue
            for code, predicate in enumerate(predicates):
                if predicate.values == (None,):
                    codes[column.isna().to_numpy(), j] = code
            table = {p.values[0]: code for code, p in enumerate(predicates)}
            codes[:, j] = _lookup(column, table, codes[:, j])
        return codes

    def subgroup(self, definition):
        """Return the `Subgroup` of a row of levels, with `FREE` for no condition."""
        fixed = np.flatnonzero(definition != FREE)
        return Subgroup([self.predicates[j][definition[j]] for j in fixed])


def factorize(column):
    """Return the position of each element among the distinct values (-1 if missing), and these."""
    if hasattr(column, "cat"):
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    position, uniques = column.factorize()
    return position, uniques.tolist()


def _lookup(column, table, missing):
    """Return the level of each element, that in `missing` for missing ones, or _UNKNOWN."""
    position, values = factorize(column)
    found = np.array([*(table.get(v, _UNKNOWN) for v in values), 0], dtype=np.int16)[position]
    return np.where(position < 0, missing if None in table else _UNKNOWN, found)


@dataclass(frozen=True)
class PairRequest:
    """The requested properties of one pair: its number, and those of its attributes."""

    number: int
    granularity: int
    intersectionality: int
    similarity: float

    @property
    def size(self):
        """Number of defining attributes."""
        return self.granularity + self.intersectionality

    @property
    def n_changed(self):
        """Number of attributes that differ between the two subgroups."""
        return int(np.clip(round((1 - self.similarity) * self.size), 1, self.size))


def plan(levels, requests, overlap, probability, rng):
    """Return the definitions of the pairs to plant, and the reasons for rejecting others.

    Parameters
    ----------
    levels : Levels
    requests : list of PairRequest
    overlap : {"forbid", "add"}
        Whether the subgroups of different pairs must be disjoint.
    probability : callable
        Returns the share of people in a `Subgroup`.
    rng : Generator

    Returns
    -------
    planted : dict
        Maps the number of a request to two rows of levels.
    rejected : dict
        Maps the number of a request to the reason.
    """
    usable = [np.flatnonzero(mask & (levels.sizes > 1)) for mask in _two(levels.is_protected)]
    rejected = {}
    for r in requests:
        for wanted, known, what in (
            (r.intersectionality, usable[0], "protected"),
            (r.granularity, usable[1], "unprotected"),
        ):
            if wanted > len(known):
                rejected[r.number] = (
                    f"{wanted} {what} attributes requested, but {len(known)} have two values"
                )
    feasible = sorted((r for r in requests if r.number not in rejected), key=lambda r: r.size)
    most = [max((k(r) for r in feasible), default=0) for k in (_protected, _unprotected)]
    for spare in (None, 2, 1, 0):  # from all attributes to as few as possible
        scope = [
            rng.permutation(u)[: None if spare is None else m + spare]
            for u, m in zip(usable, most, strict=True)
        ]
        planted, failed = _fill(levels, feasible, overlap, probability, scope, rng, spare == 0)
        if not failed:
            break
    return planted, {**rejected, **failed}


def _two(mask):
    """Return a mask and its complement."""
    return mask, ~mask


def _protected(request):
    """Return the number of protected attributes of a request."""
    return request.intersectionality


def _unprotected(request):
    """Return the number of unprotected attributes of a request."""
    return request.granularity


def _fill(levels, requests, overlap, probability, scope, rng, is_last):
    """Plant the pairs in turn; stop at the first failure, except in the last attempt."""
    taken = np.empty((0, len(levels.sizes)), dtype=np.int16)
    planted, failed, in_a_row = {}, {}, Counter()
    for request in requests:
        shape = request.granularity, request.intersectionality
        if in_a_row[shape] == _PATIENCE:
            failed[request.number] = (
                f"not tried, because the {_PATIENCE} pairs before, with as many attributes, could "
                "not be planted"
            )
            continue
        proposals = _proposals(levels, request, scope, rng)
        failed[request.number] = "no definition found that is disjoint from those of other pairs"
        for _ in range(_BATCHES):
            batch = np.array(list(islice(proposals, _BATCH)), dtype=np.int16)
            free = _apart(batch, taken, overlap)
            chosen = next((p for p in batch[free] if _exists(p, levels, probability)), None)
            if chosen is not None:
                taken = np.concatenate([taken, chosen])
                planted[request.number] = chosen
                del failed[request.number]
                break
            if free.any():
                failed[request.number] = f"fewer than a share of {_MIN_SHARE} fit the definition"
        if failed and not is_last:
            break
        in_a_row[shape] = in_a_row[shape] + 1 if request.number in failed else 0
    return planted, failed


def _exists(pair, levels, probability):
    """Return True if both subgroups of a pair have a positive share of the people."""
    return all(probability(levels.subgroup(d)) > _MIN_SHARE for d in pair)


def _apart(pairs, taken, overlap):
    """Return a mask of the pairs disjoint from the definitions taken (with "add": distinct)."""
    if overlap == "add":
        same = (pairs[:, :, None] == taken).all(axis=-1)
        return ~same.any(axis=(1, 2))
    both = (pairs[:, :, None] != FREE) & (taken != FREE)
    differ = (both & (pairs[:, :, None] != taken)).any(axis=-1)
    return differ.all(axis=(1, 2))


def _proposals(levels, request, scope, rng):
    """Yield random pairs of definitions, arrays of shape (2, n_attributes)."""
    counts, n_changed = (request.intersectionality, request.granularity), request.n_changed
    while True:
        first, other = (rng.permutation(s)[:k] for s, k in zip(scope, counts, strict=True))
        chosen = np.concatenate([first, other])
        sizes = levels.sizes[chosen]
        values = rng.integers(sizes)
        changed = np.concatenate([[0], 1 + rng.permutation(len(chosen) - 1)])[:n_changed]
        other_values = values.copy()  # the first attribute, a protected one, always changes
        other_values[changed] += rng.integers(1, sizes[changed])
        pair = np.full((2, len(levels.sizes)), FREE, dtype=np.int16)
        pair[:, chosen] = values, other_values % sizes
        yield pair
