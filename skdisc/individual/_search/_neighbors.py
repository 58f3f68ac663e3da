"""Single-column changes of coded rows, and the neighbours that they make."""

import numpy as np

from skdisc._space._column import MISSING


class NeighborMoves:
    """Every change of one unprotected, mutable column, as parallel arrays over the moves.

    A numeric or ordinal column goes a step up or down, never into or out of a missing value, and
    a monotone one in its own direction; a nominal column goes to any other value.
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
                else [way for way in (-1, 1) if way != -space.monotone.get(column.name, 0)]
            )
            columns += [j] * len(values)
            targets += values
            steps += [column.kind != "nominal"] * len(values)
        self.n = len(columns)
        self.column = np.array(columns, dtype=np.intp)
        self.target = np.array(targets, dtype=np.int64)
        self.is_step = np.array(steps, dtype=bool)
        size = np.array([space.columns[j].size for j in columns], dtype=np.int64)
        # the one value from which a move leads nowhere: the end of the scale, or its own target
        self.excluded = np.where(self.is_step, (size - 1) * (self.target > 0), self.target)
        self.multiplier = space.multipliers[self.column]
        self.shift = self.target.astype(np.uint64) * self.multiplier


class Neighbours:
    """The neighbours of some inputs, whose keys are known before their rows are made."""

    def __init__(self, space, moves, parents, limit):
        self.parents, self.limit, self.moves = parents, limit, moves
        here = parents[:, moves.column]
        valid = here != moves.excluded
        valid &= (here != MISSING) | ~moves.is_step
        keys = space.key(parents, space.np_index)[:, None] + moves.shift
        jump = np.flatnonzero(~moves.is_step)  # these leave their old value behind
        if len(jump):
            keys[:, jump] -= here[:, jump].astype(np.uint64) * moves.multiplier[jump]
        self.parent, self.move = np.nonzero(valid)
        self.keys = keys[valid]

    def codes(self, at):
        """Return the neighbours at these positions as rows of codes."""
        move, rows = self.move[at], self.parents.take(self.parent[at], axis=0)
        column, is_step = self.moves.column[move], self.moves.is_step[move]
        here = np.arange(len(rows)), column
        rows[here] = rows[here] * is_step + self.moves.target[move]
        return rows
