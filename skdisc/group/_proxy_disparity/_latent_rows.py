"""The people of a comparison of groups that are known with a probability."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from skdisc.group._proxy_disparity._latent_groups import LatentPair


@dataclass(frozen=True)
class LatentRows:
    """People in the order of their content.

    `y`: outcomes. `q` and `q_other`: probabilities of membership in the group and in its reference.
    """

    y: np.ndarray
    q: np.ndarray
    q_other: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, pair: LatentPair, X: pd.DataFrame, y: np.ndarray, place: np.ndarray) -> Self:
        """Return the people who may be of a side, of all rows."""
        q, q_reference = pair.shares(X)
        positions = np.flatnonzero(q + q_reference > 0)  # NaN is not larger
        positions = positions[
            np.lexsort([place[positions], y[positions], q_reference[positions], q[positions]])
        ]
        return cls(y[positions], q[positions], q_reference[positions], place[positions])

    @property
    def sizes(self) -> tuple[int, int]:
        """Expected numbers of people."""
        return round(float(self.q.sum())), round(float(self.q_other.sum()))
