"""The people of a comparison of groups that are known with a probability."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from skdisc.group._proxy_disparity._latent_groups import LatentPair


@dataclass(frozen=True)
class LatentRows:
    """People in the order of their content.

    Parameters
    ----------
    y : ndarray of float, shape (n,)
        Outcomes.
    q, q_other : ndarray of float, shape (n,)
        Probabilities of membership in the group and in its reference.
    place : ndarray of int, shape (n,)
    """

    y: np.ndarray
    q: np.ndarray
    q_other: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, pair: LatentPair, X: pd.DataFrame, y: np.ndarray, place: np.ndarray) -> Self:
        """Return the people who may be of a side, of all rows."""
        q, other = pair.shares(X)
        at = np.flatnonzero(q + other > 0)  # NaN is not larger
        at = at[np.lexsort([place[at], y[at], other[at], q[at]])]
        return cls(y[at], q[at], other[at], place[at])

    @property
    def inside(self) -> np.ndarray:
        """Who belongs to the group with a larger probability than to the reference."""
        return self.q > self.q_other

    @property
    def sizes(self) -> tuple[int, int]:
        """Expected numbers of people."""
        return round(float(self.q.sum())), round(float(self.q_other.sum()))
