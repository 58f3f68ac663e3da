"""OutcomeRows: what rows with counts and rows with numbers share."""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from skdisc._space._items import Items
from skdisc._utils._frequency import ManyPeople, people_in
from skdisc.subgroup._lattice._conjunctions import Patterns


def by_measure(measure: np.ndarray, table_of: Callable) -> pd.DataFrame:
    """Return a table whose rows are about several measures; those of one measure are made at once.

    `measure`: that of each row, by position. `table_of`: ``table_of(j, positions)`` returns the
    rows of a measure at these positions.
    """
    parts = []
    for j in np.unique(measure) if len(measure) else [0]:
        positions = np.flatnonzero(measure == j)
        parts.append(table_of(j, positions).set_axis(positions))
    return pd.concat(parts).sort_index()


class PeopleRows(ManyPeople):
    """Rows that may each stand for many people; a subclass has X, `at` and `outcome`.

    `frequency`: number of equal people of each row; None: 1.
    """

    weight = cluster = None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def size(self) -> float:
        """Number of people, or the sum of their weights."""
        return self.n if self.weight is None else self.weight.sum()

    @property
    def mass(self) -> np.ndarray:
        """Weight of the people of each row, 1 where none is given, shape (n_rows,)."""
        if self.frequency is not None:  # their weights are 1
            return self.frequency.astype(float)
        return np.ones(len(self)) if self.weight is None else self.weight

    def _X_at(self, which):  # noqa: N802
        """Return the rows of X selected by a mask or by positions, numbered anew."""
        rows = self.X.iloc[which if which.dtype != bool else np.flatnonzero(which)]
        return rows.reset_index(drop=True)

    def people_in(self, masks: Iterable) -> np.ndarray:
        """Return the number of people in the rows of each bool mask."""
        return np.array([people_in(m, self.frequency) for m in masks], dtype=np.int64)

    def held_out(self, share: float, rng: np.random.Generator) -> np.ndarray:
        """Draw a mask of about this share of the rows, whole clusters."""
        if self.cluster is None:
            return rng.permutation(len(self)) < share * len(self)
        cluster = np.unique(self.cluster, return_inverse=True)[1]
        n = cluster.max(initial=-1) + 1
        return (rng.permutation(n) < share * n)[cluster]


class OutcomeRows(PeopleRows):
    """What `Counted` and `Summed` share.

    `names`: names of the measures. Shapes: `X` (n_rows, n_columns).
    """

    has_numbers = False  # whether means of numbers are compared, which may be skewed

    @property
    def tree_target(self) -> np.ndarray:
        """The outcome of each row by the first measure, to which tree bins are fitted."""
        return self.outcome(0)

    @property
    def test_of(self) -> list[int]:
        """For each measure, the first one that has the same test: itself."""
        return list(range(len(self.names)))

    def sizes(self, items: Items) -> np.ndarray:
        """Return the size of each item: its people, or the sum of their weights."""
        if self.weight is None:
            return self.item_support(items)
        return items.sums(self.weight[None])[:, 0]

    def item_support(self, items: Items) -> np.ndarray:
        """Return the number of people of each item."""
        return items.counts(np.zeros(len(self), dtype=np.int64), 1, self.frequency)[:, 0]

    def mine(
        self,
        items: Items,
        least: float,
        max_len: int | None,
        first: np.ndarray | None,
        spend: Callable,
        distinct: bool = False,
    ) -> Patterns:
        """Return the patterns of items of at least some size.

        Parameters
        ----------
        items : Items
        least : float
            Smallest size of a pattern.
        max_len : int or None
        first : ndarray of bool, shape (n_items,), or None
            The items that a pattern may begin with; None: all. Protected items come first.
        spend : callable
            ``spend(n)`` gets the number of candidates that come next, and returns how many of
            them may be counted.
        distinct : bool, default=False
            Whether items of all rows, and of the same rows as an earlier item, are left out.

        Returns
        -------
        Patterns
        """
        return self.miner(items, least, distinct)(max_len, first, spend)

    def miner(self, items: Items, least: float, distinct: bool) -> Callable:
        """Return a function of the other arguments of `mine`, for several runs on one lattice."""
        frequent = np.flatnonzero(self.sizes(items) >= least)
        search_order, first_equal_item = items.walk(frequent, distinct)
        heaviest = 1.0 if self.weight is None else max(1.0, self.weight.max(initial=1.0))
        fewest = max(1, int(np.ceil(least / heaviest)))
        lattice = self._lattice(items.masks(search_order), items.feature[search_order])

        def mine_patterns(max_len, first, spend):
            roots = None if first is None else np.flatnonzero(first[search_order])
            patterns = lattice.mine(
                fewest, max_len, roots=roots, before_block=spend, numbers=first_equal_item
            )
            # The lattice counts rows; `fewest` rows of the heaviest weight reach the size.
            if self.weight is not None:
                patterns = patterns.at(patterns.sums[:, 0] >= least)
            return patterns

        return mine_patterns

    def compare(self, j: int, masks: Iterable, significance: float) -> pd.DataFrame:
        """Compare groups, given as an iterable of bool masks, by a measure.

        Returns
        -------
        DataFrame
            The columns of `GroupTally.compare`, ``support`` and ``measure``.
        """
        masks = list(masks)
        table = self.tally(j, self.group_sums(j, masks)).compare(significance)
        table.insert(6, "support", self.people_in(masks))
        table["measure"] = np.full(len(masks), self.names[j], dtype=object)
        return table
