"""Steps: what a search may change about an input, one column at a time."""

import numpy as np

from skdisc._space._column import MISSING


class Steps:
    """Changes of single columns that are neither protected nor immutable.

    Parameters
    ----------
    space : FeatureSpace
    size : int, default=1
        How many steps of a numeric or ordinal column one change makes.

    Attributes
    ----------
    columns : ndarray of int
        Positions of the columns; other attributes are parallel to it.
    is_nominal : ndarray of bool
    low, high : ndarray of int
        First and last code.
    only : ndarray of int
        1 where a column only goes up, -1 where it only goes down, else 0.
    """

    def __init__(self, space, size=1):
        self.space, self.size = space, size
        columns = [j for j in space.np_index if space.names[j] not in space.immutable]
        own = [space.columns[j] for j in columns]
        self.columns = np.array(columns, dtype=np.intp)
        self.is_nominal = np.array([c.kind == "nominal" for c in own], dtype=bool)
        self.low = np.array([MISSING if c.missing else 0 for c in own], dtype=np.int64)
        self.high = np.array([c.size - 1 for c in own], dtype=np.int64)
        self.only = np.array([space.monotone.get(c.name, 0) for c in own], dtype=np.int64)

    def __len__(self):
        return len(self.columns)

    def towards(self, codes, sign):
        """Return the codes one change up (1), down (-1) or nowhere (0), clipped, where allowed.

        Parameters
        ----------
        codes, sign : ndarray of shape (n_rows, len(self))
        """
        moved = np.clip(codes + self.size * sign.astype(np.int64), 0, self.high)
        return self.held(np.where(codes == MISSING, codes, moved), codes)

    def held(self, codes, own):
        """Return the codes, but those of monotone columns no further back than where they were.

        Parameters
        ----------
        codes, own : ndarray of int, shape (n_rows, len(self))
        """
        if not self.only.any():
            return codes
        ahead = np.where(self.only > 0, np.maximum(codes, own), np.minimum(codes, own))
        ahead = np.where((codes == MISSING) | (own == MISSING), own, ahead)
        return np.where(self.only == 0, codes, ahead)

    def allowed(self, which, sign):
        """Return the signs, where a column has but one direction that one."""
        return np.where(self.only[which] == 0, sign, self.only[which])

    def change(self, rows, which, sign, u):
        """Return the rows with one column changed each; `walk` with a single step."""
        return self.walk(rows, which[None], sign[None], u[None])[0]

    def walk(self, rows, which, sign, u):
        """Return where the rows are after each of some changes, one column of each at a time.

        Parameters
        ----------
        rows : ndarray of int, shape (n_rows, n_columns)
        which : ndarray of int, shape (n_steps, n_rows)
            Positions in `columns`.
        sign : ndarray of int, shape (n_steps, n_rows)
            Where the numeric or ordinal columns go, 1 or -1; monotone ones go their own way.
        u : ndarray of float, shape (n_steps, n_rows)
            Uniform numbers that choose among the other values of nominal columns.

        Returns
        -------
        ndarray of int, shape (n_steps, n_rows, n_columns)
        """
        low, high, nominal = self.low[which], self.high[which], self.is_nominal[which]
        n_values, step = high - low + 1, self.size * self.allowed(which, sign)
        jump = (u * (n_values - 1)).astype(np.int64) + 1 - low
        can_miss = (self.low == MISSING).any()
        made = np.empty((len(which), *rows.shape), dtype=rows.dtype)
        at = np.arange(len(rows)) * rows.shape[1] + self.columns[which]
        for i, now in enumerate(made):
            now[:] = made[i - 1] if i else rows
            flat = now.reshape(-1)
            code = flat[at[i]]
            moved = np.minimum(np.maximum(code + step[i], 0), high[i])
            if can_miss:
                moved = np.where(code == MISSING, code, moved)
            if self.is_nominal.any():
                moved = np.where(nominal[i], low[i] + (code + jump[i]) % n_values[i], moved)
            flat[at[i]] = moved
        return made


def weighted_choice(weights, u):
    """Return positions drawn with these weights by uniform numbers.

    Parameters
    ----------
    weights : ndarray of float, shape (n,), or (n, n_draws), a set for each draw
    u : ndarray of float of any shape, or of shape (n_draws,)
    """
    total = np.cumsum(weights, axis=0)
    if weights.ndim == 1:
        chosen = np.searchsorted(total, u * total[-1])
    else:
        chosen = (total < u * total[-1]).sum(axis=0)
    return np.minimum(chosen, len(weights) - 1)
