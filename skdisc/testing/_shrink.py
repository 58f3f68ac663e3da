"""The simplest person of whom something holds, by steps that are all tried at once."""

import numpy as np

from skdisc._space._column import MISSING


def simplest(codes, free, holds):
    """Lower codes, one column after another, as long as `holds` stays true.

    Parameters
    ----------
    codes : ndarray of int, shape (n_columns,)
        A row for which `holds` is true; 0 is the simplest code, a missing value the least simple.
    free : sequence of int
        Columns that may change.
    holds : callable
        Takes rows, shape (n, n_columns), and returns a bool array; None where it may not be asked
        any more.

    Returns
    -------
    ndarray of int, shape (n_columns,)
        No single free code of it can be set to 0, halved, or lowered by one.
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
    """Return simpler codes, the simplest first."""
    if code == MISSING:
        return [0]
    return sorted({0, code // 2, code - 1} - {code, -1})


def _lowered(codes, j, code):
    row = codes.copy()
    row[j] = code
    return row
