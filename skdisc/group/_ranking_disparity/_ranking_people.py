"""The people of a comparison in rankings: their exposures, and the lists they are in."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skdisc.group._pairwise._group_pairs import GroupPair
from skdisc.group._ranking_disparity._exposure_gap import ExposureGap, Side
from skdisc.group._ranking_disparity._ranked_list import RankedList


@dataclass(frozen=True)
class RankingPeople:
    """Both sides of a comparison, list by list.

    Parameters
    ----------
    sides : list of Side
        One for each list, in an order that depends on their content alone.
    names : list
        The name of each list; None if there is one.
    relevant : list of ndarray of bool, or None
        Who has a favorable label, in the order of each list.
    """

    sides: list[Side]
    names: list
    relevant: list | None = None

    @classmethod
    def of(
        cls,
        pair: GroupPair,
        X: pd.DataFrame,
        score: np.ndarray,
        list_of: pd.Series | None,
        exposure: str | Callable,
        relevant: np.ndarray | None = None,
    ) -> "RankingPeople":
        """Return the people of a pair.

        `score`: larger is better. `list_of`: the list that each row is in. Shapes: `X` (n_rows,
        n_columns).
        """
        group = pair.group.mask(X)
        reference = ~group if pair.reference is None else pair.reference.mask(X)
        codes, names = np.zeros(len(X), dtype=int), [None]
        if list_of is not None:
            codes, uniques = pd.factorize(list_of, sort=True)
            names = list(uniques)
        ties = [] if relevant is None else [relevant]
        order = np.lexsort([*ties, reference, group, -score, codes])
        edges = np.flatnonzero(np.diff(codes[order])) + 1
        sides = [
            Side(RankedList.of(score[rows], exposure), group[rows], reference[rows])
            for rows in np.split(order, edges)
        ]
        if relevant is not None:
            relevant = [relevant[rows] for rows in np.split(order, edges)]
        return cls(sides, names, relevant)

    @cached_property
    def gap(self) -> ExposureGap | None:
        """The gap over the lists that have people of both sides, if there are any."""
        compared = [s for s in self.sides if s.compares]
        return ExposureGap(compared) if compared else None

    @property
    def y(self) -> np.ndarray:
        """The exposure of each person of both sides."""
        return np.concatenate([s.ranked.value[s.group | s.reference] for s in self.sides])

    @property
    def inside(self) -> np.ndarray:
        """Whether each person of both sides is of the group."""
        return np.concatenate([s.group[s.group | s.reference] for s in self.sides])

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of people of the group and of the reference."""
        pairs = [(int(s.group.sum()), int(s.reference.sum())) for s in self.sides]
        group, reference = np.sum(pairs, axis=0)
        return int(group), int(reference)
