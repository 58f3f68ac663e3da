"""The default sample of detectors whose time grows fast with rows and columns."""

import pandas as pd

from skdisc._task._limits import ROWS
from skdisc._utils._hashing import row_hashes

FEW = 10  # columns up to which all rows are used


def rows_of_wide(most):
    """Return what the limit of rows is, and by default."""
    return (
        f"{ROWS}; by default {most:,} of a table with more different rows and more than {FEW} "
        "columns that are searched or adjusted for, otherwise all. Counts, and rows with "
        "frequencies, are never sampled"
    )


def most_rows(detector, people):
    """Return the largest number of rows under audit, or None.

    `detector`: a BaseDetector with a limit of rows, and with `_most`, that of a wide table by
    default. `people`: People.
    """
    if people.frequency is not None:  # a row drawn would be all of its people
        return None
    if detector.limits is not None and detector.limits.rows is not None:
        return detector._limit("rows")
    most = detector._most
    if len(people.X) <= most or detector._width(list(people.X.columns)) <= FEW:
        return None
    return most if len(pd.unique(row_hashes(people.X))) > most else None
