"""RankedList: people in the order of their scores, their exposure, and what it is without one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

EXPOSURES: dict[str, Callable] = {
    "log": lambda place, n: 1 / np.log2(1 + place),
    "reciprocal": lambda place, n: 1 / place,
    "linear": lambda place, n: (n - place) / max(n - 1, 1),
}


@dataclass(frozen=True)
class RankedList:
    """The people of one list, best first.

    `start` and `end`: where the block of people with the score of each one begins, and where it
    ends (excluded). `exposure`: a key of `EXPOSURES`, or a function of places from 1 on.
    """

    start: np.ndarray
    end: np.ndarray
    exposure: str | Callable

    @classmethod
    def of(cls, score: np.ndarray, exposure: str | Callable) -> "RankedList":
        """Return the list of some scores, which must fall."""
        n = len(score)
        first = np.flatnonzero(np.append(True, score[1:] != score[:-1]))
        sizes = np.diff(np.append(first, n))
        return cls(np.repeat(first, sizes), np.repeat(first + sizes, sizes), exposure)

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def value(self) -> np.ndarray:
        """The exposure of each person: the mean of the places of all who tie."""
        return self._mean_of_places(len(self), 0, 0)

    @cached_property
    def _without(self):
        """The exposures if one person less is in the list: earlier, tied, and later than they."""
        n = len(self) - 1
        return tuple(self._mean_of_places(n, *place) for place in ((0, 0), (0, 1), (1, 1)))

    @cached_property
    def _blocks(self):
        """Where the people of each score begin."""
        return np.unique(self.start)

    def _mean_of_places(self, n, earlier, fewer):
        """Return means of places ``start - earlier`` to ``end - fewer`` of a list of n people."""
        low, high = np.maximum(self.start - earlier, 0), np.minimum(self.end - fewer, n)
        of_place = self._of_places(n)
        total = np.append(0.0, np.cumsum(of_place))
        size = np.maximum(high - low, 0)
        return (total[high] - total[np.minimum(low, high)]) / np.maximum(size, 1)

    def _of_places(self, n):
        """Return the exposure of each place in a list of n people, in units of their mean."""
        if n < 1:
            return np.empty(0)
        place = np.arange(1.0, n + 1)
        if not isinstance(self.exposure, str):
            exposure = np.asarray(self.exposure(place), dtype=float)
            if (
                exposure.shape != place.shape
                or not np.isfinite(exposure).all()
                or exposure.mean() <= 0
            ):
                raise ValueError(
                    "exposure= must return one finite number for each place from 1 on, with a "
                    f"positive mean; for {n} places it returned an array of shape {exposure.shape}."
                )
            return exposure / exposure.mean()
        exposure = EXPOSURES[self.exposure](place, n)
        return exposure if self.exposure == "linear" else exposure / exposure.mean()

    def sums_without(self, member: np.ndarray) -> np.ndarray:
        """Return the summed exposure of a group without each person in turn.

        The result has shape (n_groups, n). Shapes: `member` (n_groups, n).
        """
        before, tied, after = (mean[self._blocks] for mean in self._without)
        g = member.astype(float)
        mates = np.add.reduceat(g, self._blocks, axis=1)
        ahead, behind = np.cumsum(mates * before, axis=1), np.cumsum(mates * after, axis=1)
        sum_of_others = ahead - mates * (before - tied) + behind[:, -1:] - behind
        sizes = self.end[self._blocks] - self._blocks
        return np.repeat(sum_of_others, sizes, axis=1) - g * np.repeat(tied, sizes)
