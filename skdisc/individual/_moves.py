"""Single-column changes of coded rows, and the neighbours that they make."""

import numpy as np

from skdisc._column import MISSING


class Moves:
    """Every change of one unprotected, mutable column, as parallel arrays over the moves.

    A numeric or ordinal column goes a step up or down, never into or out of a missing value; a
    nominal column goes to any other value.
    """

    def __init__(self, space):
        columns, targets, steps = [], [], []
        for j in space.np_index:
            column = space.columns[j]
            if column.name in space.immutable:
                continue
            values = (
                range(MISSING if column.missing else 0, column.size)
                if column.kind == "nominal"
                else (-1, 1)
            )
            columns += [j] * len(values)
            targets += values
            steps += [column.kind != "nominal"] * len(values)
        self.n = len(columns)
        self.column = np.array(columns, dtype=np.intp)
        self.target = np.array(targets, dtype=np.int64)
        self.is_step = np.array(steps, dtype=bool)
        self.size = np.array([space.columns[j].size for j in columns], dtype=np.int64)
        self.multiplier = space.multipliers[self.column]


class Neighbours:
    """The neighbours of some inputs, whose keys are known before their rows are made."""

    def __init__(self, space, moves, parents, limit):
        self.parents, self.limit, self.column = parents, limit, moves.column
        here = parents[:, moves.column]
        there = np.where(moves.is_step, here + moves.target, moves.target)
        stepped = (here >= 0) & (there >= 0) & (there < moves.size)
        valid = np.where(moves.is_step, stepped, there != here)
        with np.errstate(over="ignore"):
            change = (there - here).astype(np.uint64) * moves.multiplier
            keys = space.key(parents, space.np_index)[:, None] + change
        self.parent, self.move = np.nonzero(valid)
        self.keys = keys[valid]
        self.value = there[valid]

    def codes(self, at):
        """Return the neighbours at these positions as rows of codes."""
        rows = self.parents[self.parent[at]]
        rows[np.arange(len(rows)), self.column[self.move[at]]] = self.value[at]
        return rows
