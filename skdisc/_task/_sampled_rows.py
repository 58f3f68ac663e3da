"""A sample of the rows under audit, stratified by protected group."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from skdisc._blackbox._blackbox import BlackBox
from skdisc._space._codes import MISSING
from skdisc._utils._frequency import numbered_within
from skdisc._utils._hashing import canonical_order

_FLOOR = 1000  # rows of a group that are kept whatever its share
_N_BINS = 4  # of protected numbers with more values


@dataclass(frozen=True)
class SampledRows:
    """Which rows were drawn, and of how many.

    Parameters
    ----------
    drawn : ndarray of bool, shape (n_rows,)
        Over the rows that were read.
    rows : ndarray of int, shape (n_drawn,)
        Their positions in X as it was passed.
    share : ndarray of float, shape (n_drawn,)
        The share of its group that was drawn, of each row drawn.
    is_even : bool
        Whether every group was drawn in proportion to its size, but for rounding.
    names : tuple
        The columns whose combinations of values are the groups.
    before : SourceSample or None
        How X itself was drawn from a table.
    """

    drawn: np.ndarray
    rows: np.ndarray
    share: np.ndarray
    is_even: bool
    names: tuple
    before: "SourceSample | None" = None

    @property
    def n_all(self):
        """The number of rows that they were drawn from."""
        return len(self.drawn) if self.before is None else self.before.n_all

    def note(self):
        """Return what the sample is, a list of str."""
        first = [] if self.before is None else self.before.note()
        return [*first, _note(len(self.share), len(self.drawn), self.names, self.is_even)]


@dataclass(frozen=True)
class SourceSample:
    """How many rows were drawn from a table that is not held, in proportion.

    Parameters
    ----------
    n, n_all : int
        Number of rows drawn, and of rows of the table.
    names : tuple
        The columns whose combinations of values are the groups.
    why : str
        What allows no more rows.
    """

    n: int
    n_all: int
    names: tuple
    why: str = "limits.rows"
    rows: None = None

    def note(self):
        """Return what the sample is, a list of one str."""
        return [_note(self.n, self.n_all, self.names, True, self.why)]


def _note(n, n_all, names, is_even, why="limits.rows"):
    """Return what a sample is, as text."""
    by = ", ".join(map(str, names))
    proportions = "each in proportion to its size"
    effect = "They are"
    if not is_even:
        proportions = "small groups in a larger share than others"
        effect = "Shares of all people count small groups more; results about groups are"
    return (
        f"{n:,} of {n_all:,} rows were used ({why}): a random sample without replacement, "
        f"by random_state, of every group of {by or 'X'}, {proportions}. {effect} as uncertain as "
        f"those of {n:,} people: intervals and p-values are for the population that the rows "
        "come from, not only for these rows, and smaller effects may be missed than with all "
        "rows."
    )


def under_audit(detector, people):
    """Return the people under audit, all or a sample, and what is audited about them.

    Small groups have a floor if the groups compared are those drawn from: with several protected
    columns, each compared alone, larger shares of small combinations would make groups of one
    column differ in another. Where groups are not drawn in proportion to their size, weights are
    divided by their share.

    `detector`: with its model, space and seeds; ``_most_rows(people)`` returns the largest
    number of rows, or None.
    """
    audited = detector._audited
    most = None if people.X is None else detector._most_rows(people)
    if most is None or len(people.X) <= most:
        return people, audited
    rng = np.random.default_rng([*detector._seeds, len(people.X)])
    has_floor = len(detector.protected_) == 1 or vars(detector).get("combine") == "intersectional"
    floor = _FLOOR if has_floor and not detector._draws_evenly else 0
    sample = sampled_rows(people.X, people.y, most, detector.space_, rng, floor)
    weight, stay = people.weight, people.stay.copy()
    stay[stay] = sample.drawn
    if not sample.is_even:
        weight = (1.0 if weight is None else weight[sample.drawn]) / sample.share
    elif weight is not None:
        weight = weight[sample.drawn]
    sample = replace(sample, rows=np.flatnonzero(stay), before=people.sample)
    changes = {"stay": stay, "n_dropped": people.n_dropped, "sample": sample, "weight": weight}
    if audited.box is not None and audited.box.decisions is not None:
        box = BlackBox(decisions=audited.box.decisions[sample.drawn])
        audited = replace(audited, box=box)
    return replace(people.only(sample.drawn), **changes), audited


def sampled_rows(X, y, n, space, rng, floor=0):
    """Draw rows without replacement, stratified by combinations of the protected values.

    Groups are drawn in proportion to their size, except that at least `floor` rows of each group
    are, or all if it has fewer; with many groups, at least an equal share of n / 2. The sample
    does not depend on the order of the rows, but for rows that are equal, y included.

    `n`: rows that are wanted, fewer than X has. `space`: its protected columns define the groups;
    numbers are cut at their quartiles. Shapes: `X` (n_rows, n_columns).
    """
    order = canonical_order(X) if y is None else canonical_order(X, pd.factorize(y, sort=True)[0])
    group = _groups(X, space)[order]
    group = np.unique(group, return_inverse=True)[1]
    sizes = np.bincount(group)
    n_drawn = _allocated(sizes, n, floor)
    by_chance = np.lexsort((rng.random(len(group)), group))
    rank = numbered_within(sizes)
    drawn = np.zeros(len(group), dtype=bool)
    chosen = by_chance[rank < np.repeat(n_drawn, sizes)]
    drawn[order[chosen]] = True
    share = np.empty(len(group))
    share[order] = (n_drawn / sizes)[group]
    is_even = bool(np.all(np.abs(n_drawn - n * sizes / len(group)) <= 1))
    return SampledRows(drawn, np.flatnonzero(drawn), share[drawn], is_even, tuple(space.protected))


def _groups(X, space):
    """Return the number of the combination of protected values of each row."""
    group = np.zeros(len(X), dtype=np.int64)
    for j in space.p_index:
        column = space.columns[j]
        code = column.encode(X[column.name])
        if column.kind == "numeric" and column.size > _N_BINS:
            values, inner = X[column.name].to_numpy(dtype=float), np.arange(1, _N_BINS) / _N_BINS
            edges = np.quantile(values[code != MISSING], inner)
            code = np.where(code != MISSING, np.searchsorted(edges, values), MISSING)
        group = pd.factorize(group * (int(code.max()) + 3) + code + 2, sort=True)[0]
    return group


def _allocated(sizes, n, floor):
    """Return how many rows of each group are drawn; they sum to n.

    Groups below the floor get it, or all of their rows; the others share the rest in proportion
    to their sizes, rounded by largest remainders.
    """
    floor = np.minimum(sizes, min(floor, n // (2 * len(sizes))))
    is_small = np.zeros(len(sizes), dtype=bool)
    while True:
        remaining = n - floor[is_small].sum()
        exact = np.where(is_small, floor, remaining * sizes / max(sizes[~is_small].sum(), 1))
        below = ~is_small & (exact < floor)
        if not below.any():
            break
        is_small |= below
    n_drawn = np.floor(exact).astype(np.int64)
    remainder = np.argsort(n_drawn - exact, kind="stable")
    n_drawn[remainder[: n - n_drawn.sum()]] += 1
    return n_drawn
