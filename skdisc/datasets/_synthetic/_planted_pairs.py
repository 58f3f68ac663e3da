"""Phase 2: the pairs of subgroups to plant."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from skdisc._space._codes import FREE
from skdisc._space._subgroup import Subgroup

_UNKNOWN = FREE - 1  # a value without a level
_BATCH, _BATCHES = 32, 6
_PATIENCE = 20  # failures in a row after which requests of the same shape are not tried
_ATTEMPTS = 5  # with finer and finer pairs
_MOST_PLANTED = 0.95  # of the people, if some are to be in the background
_MIN_SHARE = 1e-5  # a subgroup with a smaller share of the people counts as empty


class Levels:
    """The conditions that can define a subgroup, and the level of each row in each attribute."""

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
    level = np.array([*(table.get(v, _UNKNOWN) for v in values), 0], dtype=np.int16)[position]
    return np.where(position < 0, missing if None in table else _UNKNOWN, level)


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


def plan(levels, requests, ranges, *, overlap, n_background, probability, rng):
    """Return the pairs to plant: their requests, and their definitions.

    If pairs with the numbers of attributes drawn cannot all be planted, the coarsest ones get more
    attributes, within the ranges asked for, until they can.

    Parameters
    ----------
    requests : list of PairRequest
    ranges : dict of str to (int, int)
        Least and greatest "granularity" and "intersectionality" of a pair.
    overlap : {"forbid", "add"}
        Whether the subgroups of different pairs must be disjoint.
    n_background : int
        If positive, a part of the people has to be in no subgroup.
    probability : callable
        Returns the share of people in a `Subgroup`.

    Returns
    -------
    requests : list of PairRequest
    definitions : list of ndarray of int, shape (2, n_attributes)
        Two rows of levels for each request.

    Raises
    ------
    ValueError
        If the pairs cannot be planted; the message says what would do.
    """
    usable = usable_attributes(levels)
    room = _MOST_PLANTED if n_background else 1.0
    order = sorted(requests, key=lambda r: r.size)
    most_planted = 0
    for attempt in range(_ATTEMPTS + 1):
        if attempt:  # half as many people in subgroups each time, by the mean number of values
            refined = _refined(order, ranges, levels, usable, 0.5 ** (attempt - 1))
            if refined == order and attempt > 1:
                break
            order = sorted(refined, key=lambda r: r.size)
        planted = _in_scopes(levels, order, overlap, probability, usable, room, rng)
        most_planted = max(most_planted, len(planted))
        if len(planted) == len(order):
            order = sorted(order, key=lambda r: r.number)
            return order, [planted[r.number] for r in order]
    raise ValueError(_what_would_do(len(requests), most_planted, ranges, overlap, usable))


def _in_scopes(levels, requests, overlap, probability, usable, room, rng):
    """Plant pairs with definitions from all attributes, then from as few as possible."""
    numbers = [(r.intersectionality, r.granularity) for r in requests]
    most = np.max(numbers, axis=0) if numbers else (0, 0)
    for spare in (None, 2, 1, 0):
        scope = [
            rng.permutation(u)[: None if spare is None else m + spare]
            for u, m in zip(usable, most, strict=True)
        ]
        planted = _fill(levels, requests, overlap, probability, scope, room, rng, spare == 0)
        if len(planted) == len(requests):
            break
    return planted


def usable_attributes(levels):
    """Return the positions of protected, and of other attributes that have two values."""
    masks = levels.is_protected, ~levels.is_protected
    return [np.flatnonzero(mask & (levels.sizes > 1)) for mask in masks]


def _refined(requests, ranges, levels, usable, most):
    """Give the coarsest pairs more attributes, until their subgroups have a share of `most`."""
    n_values = [np.exp(np.log(levels.sizes[u]).mean()) if len(u) else 1.0 for u in usable]
    refined = list(requests)

    def share(r):
        return 2 * n_values[0] ** -float(r.intersectionality) * n_values[1] ** -float(r.granularity)

    shares = np.array([share(r) for r in refined])
    while shares.sum() > most:
        k = int(shares.argmax())
        r = refined[k]
        if r.granularity < ranges["granularity"][1]:
            refined[k] = replace(r, granularity=r.granularity + 1)
        elif r.intersectionality < ranges["intersectionality"][1]:
            refined[k] = replace(r, intersectionality=r.intersectionality + 1)
        else:
            break  # the coarsest one is as fine as allowed, and so are all others
        shares[k] = share(refined[k])
    return refined


def _what_would_do(n_pairs, n_planted, ranges, overlap, usable):
    """Return the message that not all pairs can be planted."""
    remedies = [f"n_pairs={max(n_planted * 3 // 4, 1)}"] if n_planted else []
    for name, columns in (("granularity", usable[1]), ("intersectionality", usable[0])):
        low, high = ranges[name]
        if high < len(columns):
            remedies.append(f"{name}=({low}, {len(columns)})")
    remedies.append("more attributes, or attributes with more values")
    if overlap == "forbid":
        remedies.append("overlap='add'")
    disjoint = " that are disjoint" if overlap == "forbid" else ""
    return (
        f"Only {n_planted} of n_pairs={n_pairs} pairs{disjoint} were found with the granularity, "
        f"intersectionality and background asked for. What may do: {'; '.join(remedies)}."
    )


def _fill(levels, requests, overlap, probability, scope, room, rng, is_last):
    """Plant the pairs in turn; stop at the first failure, except in the last attempt.

    Returns `planted`: maps the number of a request to two rows of levels.
    """
    definitions = np.empty((0, len(levels.sizes)), dtype=np.int16)
    planted, in_a_row, outside = {}, Counter(), 1.0
    for request in requests:
        shape = request.granularity, request.intersectionality
        if in_a_row[shape] == _PATIENCE:
            continue
        proposals = _proposals(levels, request, scope, rng)
        for _ in range(_BATCHES):
            batch = np.array(list(islice(proposals, _BATCH)), dtype=np.int16)
            for pair in batch[_is_disjoint(batch, definitions, overlap)]:
                shares = [probability(levels.subgroup(d)) for d in pair]
                share_left = (
                    outside * (1 - sum(shares)) if overlap == "add" else outside - sum(shares)
                )
                if min(shares) > _MIN_SHARE and share_left >= 1 - room - 1e-9:
                    definitions, outside = np.concatenate([definitions, pair]), share_left
                    planted[request.number] = pair
                    break
            if request.number in planted:
                break
        is_missing = request.number not in planted
        if is_missing and not is_last:
            break
        in_a_row[shape] = in_a_row[shape] + 1 if is_missing else 0
    return planted


def _is_disjoint(pairs, definitions, overlap):
    """Return a mask of the pairs disjoint from the definitions taken (with "add": distinct)."""
    if overlap == "add":
        is_same = (pairs[:, :, None] == definitions).all(axis=-1)
        return ~is_same.any(axis=(1, 2))
    is_fixed = (pairs[:, :, None] != FREE) & (definitions != FREE)
    differ = (is_fixed & (pairs[:, :, None] != definitions)).any(axis=-1)
    return differ.all(axis=(1, 2))


def _proposals(levels, request, scope, rng):
    """Yield random pairs of definitions, arrays of shape (2, n_attributes)."""
    counts, n_changed = (request.intersectionality, request.granularity), request.n_changed
    while True:
        protected, unprotected = (
            rng.permutation(s)[:k] for s, k in zip(scope, counts, strict=True)
        )
        chosen = np.concatenate([protected, unprotected])
        sizes = levels.sizes[chosen]
        values = rng.integers(sizes)
        changed = np.concatenate([[0], 1 + rng.permutation(len(chosen) - 1)])[:n_changed]
        other_values = values.copy()  # the first attribute, a protected one, always changes
        other_values[changed] += rng.integers(1, sizes[changed])
        pair = np.full((2, len(levels.sizes)), FREE, dtype=np.int16)
        pair[:, chosen] = values, other_values % sizes
        yield pair
