"""Simplification of a row of codes while a condition holds."""

import numpy as np

from skdisc._space._codes import MISSING


def simplest(codes, free, holds):
    """Lower the codes of free columns, one at a time, as long as `holds` is true.

    `codes`: a row for which `holds` is true. 0 is the simplest code, a missing value the least
    simple. `free`: columns that may change. `holds`: maps rows, shape (n, n_columns), to a bool
    array, or to None once no further rows can be evaluated. Returns an ndarray of int: a row in
    which no single free code can be set to 0, halved, or lowered by one.
    """
    while True:
        steps = [_lowered(codes, j, code) for j in free for code in _simpler(int(codes[j]))]
        if not steps:
            return codes
        answer = holds(np.array(steps))
        if answer is None or not answer.any():
            return codes
        codes = steps[int(np.argmax(answer))]


def _simpler(code):
    """Return the simpler codes to try, the simplest first."""
    if code == MISSING:
        return [0]
    return sorted({0, code // 2, code - 1} - {code, -1})


def _lowered(codes, j, code):
    """Return a copy of a row with one code replaced."""
    row = codes.copy()
    row[j] = code
    return row
