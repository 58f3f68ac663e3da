"""Steps: the changes that a search may make to single columns of an input."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdisc._space._codes import MISSING
from skdisc._space._feature_space import FeatureSpace


@dataclass(frozen=True)
class StepList:
    """All steps of single columns, as parallel arrays with one entry per step.

    Attributes
    ----------
    column : ndarray of int
        Position of the column in the space.
    is_relative : ndarray of bool
        True for numeric and ordinal columns, False for nominal ones.
    target : ndarray of int
        The new code of a nominal column; 1 or -1, to be added to the code of another.
    fixed : ndarray of int
        The only code that the step does not change: the end of the scale, or the target.
    """

    column: np.ndarray
    is_relative: np.ndarray
    target: np.ndarray
    fixed: np.ndarray

    def __len__(self):
        return len(self.column)


class Steps:
    """Changes of single columns that are neither protected nor immutable.

    A numeric or ordinal column goes up or down, never from or to a missing value, and a monotone
    one in its own direction only; a nominal column takes any other value.

    Parameters
    ----------
    space : FeatureSpace
    size : int, default=1
        By how many codes a numeric or ordinal column moves in one step.

    Attributes
    ----------
    columns : ndarray of int
        Positions of the columns in the space. The other attributes are parallel to it.
    is_nominal : ndarray of bool
    low, high : ndarray of int
        First and last code.
    direction : ndarray of int
        1 for columns that can only go up, -1 for columns that can only go down, else 0.
    """

    def __init__(self, space: FeatureSpace, size: int = 1) -> None:
        self.space, self.size = space, size
        positions = [j for j in space.np_index if space.names[j] not in space.immutable]
        columns = [space.columns[j] for j in positions]
        self.columns = np.array(positions, dtype=np.intp)
        self.is_nominal = np.array([c.kind == "nominal" for c in columns], dtype=bool)
        self.low = np.array([c.least for c in columns], dtype=np.int64)
        self.high = np.array([c.size - 1 for c in columns], dtype=np.int64)
        self.direction = np.array([space.monotone.get(c.name, 0) for c in columns], dtype=np.int64)

    def __len__(self):
        return len(self.columns)

    @cached_property
    def single(self) -> "StepList":
        """The `StepList` of all steps of size 1."""
        pairs = [(k, target) for k in range(len(self)) for target in self._targets(k)]
        k, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        end = np.where(target > 0, self.high[k], 0)
        is_nominal = self.is_nominal[k]
        return StepList(self.columns[k], ~is_nominal, target, np.where(is_nominal, target, end))

    def _targets(self, k):
        if self.is_nominal[k]:
            return range(self.low[k], self.high[k] + 1)
        return [sign for sign in (-1, 1) if sign != -self.direction[k]]

    def can_go(self) -> np.ndarray:
        """Return whether each column of the space can go down (row 0) and up (row 1)."""
        can = np.zeros((2, len(self.space)), dtype=bool)
        can[:, self.columns] = self.direction < 1, self.direction > -1
        return can

    def towards(self, codes: np.ndarray, sign: np.ndarray) -> np.ndarray:
        """Return the codes after a step up (1), down (-1) or none (0), within the limits.

        Parameters
        ----------
        codes, sign : ndarray of shape (n_rows, len(self))
        """
        moved = np.clip(codes + self.size * sign.astype(np.int64), 0, self.high)
        return self.clip_monotone(np.where(codes == MISSING, codes, moved), codes)

    def clip_monotone(self, codes: np.ndarray, original_codes: np.ndarray) -> np.ndarray:
        """Clip codes of monotone columns so that they never move against their direction.

        Parameters
        ----------
        codes, original_codes : ndarray of int, shape (n_rows, len(self))
            The new codes and the original ones.
        """
        if not self.direction.any():
            return codes
        clipped = np.where(
            self.direction > 0, np.maximum(codes, original_codes), np.minimum(codes, original_codes)
        )
        clipped = np.where(
            (codes == MISSING) | (original_codes == MISSING), original_codes, clipped
        )
        return np.where(self.direction == 0, codes, clipped)

    def signs(self, which: np.ndarray, sign: np.ndarray) -> np.ndarray:
        """Return the signs, overridden by the only allowed direction of monotone columns."""
        return np.where(self.direction[which] == 0, sign, self.direction[which])

    def variants(self, codes: np.ndarray, k: int) -> np.ndarray:
        """Return the rows with every value of nominal column k, or one step down and one up.

        Returns
        -------
        ndarray of int, shape (n_values * n_rows, n_columns)
            All rows with the first value, then all rows with the second, and so on.
        """
        j = self.columns[k]
        if self.is_nominal[k]:
            values = np.arange(self.low[k], self.high[k] + 1)
            rows = np.tile(codes, (len(values), 1))
            rows[:, j] = np.repeat(values, len(codes))
            return rows
        rows = np.tile(codes, (2, 1))
        step = np.repeat([-self.size, self.size], len(codes))
        moved = np.clip(rows[:, j] + step, 0, self.high[k])
        rows[:, j] = np.where(rows[:, j] == MISSING, MISSING, moved)
        return rows

    def change(
        self, rows: np.ndarray, which: np.ndarray, sign: np.ndarray, u: np.ndarray
    ) -> np.ndarray:
        """Return the rows after one step each; see `walk`."""
        return self.walk(rows, which[None], sign[None], u[None])[0]

    def walk(
        self, rows: np.ndarray, which: np.ndarray, sign: np.ndarray, u: np.ndarray
    ) -> np.ndarray:
        """Return the rows after each of several steps, each of which changes one column per row.

        Parameters
        ----------
        rows : ndarray of int, shape (n_rows, n_columns)
        which : ndarray of int, shape (n_steps, n_rows)
            Positions in `columns`.
        sign : ndarray of int, shape (n_steps, n_rows)
            Whether a numeric or ordinal column goes up (1) or down (-1); monotone columns go in
            their own direction.
        u : ndarray of float, shape (n_steps, n_rows)
            Uniform numbers that select one of the other values of a nominal column.

        Returns
        -------
        ndarray of int, shape (n_steps, n_rows, n_columns)
        """
        low, high, nominal = self.low[which], self.high[which], self.is_nominal[which]
        n_values, step = high - low + 1, self.size * self.signs(which, sign)
        jump = (u * (n_values - 1)).astype(np.int64) + 1 - low
        can_miss = (self.low == MISSING).any()
        states = np.empty((len(which), *rows.shape), dtype=rows.dtype)
        flat_index = np.arange(len(rows)) * rows.shape[1] + self.columns[which]
        for i, state in enumerate(states):
            state[:] = states[i - 1] if i else rows
            flat = state.reshape(-1)
            code = flat[flat_index[i]]
            moved = np.minimum(np.maximum(code + step[i], 0), high[i])
            if can_miss:
                moved = np.where(code == MISSING, code, moved)
            if self.is_nominal.any():
                moved = np.where(nominal[i], low[i] + (code + jump[i]) % n_values[i], moved)
            flat[flat_index[i]] = moved
        return states


def weighted_choice(weights, u):
    """Return positions drawn with probabilities proportional to weights.

    `weights`: the same weights for all draws, or one column for each draw. `u`: uniform numbers,
    one per draw: of any shape, or of shape (n_draws,).
    """
    total = np.cumsum(weights, axis=0)
    if weights.ndim == 1:
        chosen = np.searchsorted(total, u * total[-1])
    else:
        chosen = (total < u * total[-1]).sum(axis=0)
    return np.minimum(chosen, len(weights) - 1)
