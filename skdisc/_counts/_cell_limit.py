"""The limit on distinct cells, and which columns to coarsen where a table has more."""

from typing import Any

import numpy as np

MOST_CELLS = 20_000_000  # of 16 bytes; adding them up takes about 2 GB
_NAMED = 3  # columns in the advice


class TooManyCells(ValueError):  # noqa: N818 - a ValueError to those who count
    """A table has more distinct cells than `max_cells`."""


def check_cells(counts: Any) -> None:
    """Raise TooManyCells with advice if counts have more cells than their `max_cells`."""
    most = counts.max_cells
    if most is not None and len(counts.n) > most:
        raise TooManyCells(_advice(counts, most))


def _advice(counts, most):
    """Return which columns have most values, and how many cells are left with fewer."""
    columns, codes = counts.schema.parts, counts.part_codes()
    n = len(counts.n)
    largest = sorted(range(len(counts.schema.columns)), key=lambda i: -columns[i].size)[:_NAMED]
    texts = []
    for i in largest:
        column = columns[i]
        values = f"{column.size:,} {'bins' if column.kind == 'bins' else 'values'}"
        effects = f"without it {_n_cells(codes, i, None):,} combinations"
        if column.kind in ("bins", "number") and column.size > 2:
            half = -(-column.size // 2)
            effects = (
                f"with {half} bins {_n_cells(codes, i, codes[i] // 2):,} combinations, {effects}"
            )
        texts.append(f"{column.name!r} ({values}; {effects})")
    return (
        f"The table has more than {most:,} combinations of values (max_cells), {n:,} so far. Leave "
        "columns out (columns=), group rare values, or use fewer bins (n_bins={'age': 3}). The "
        f"columns with most values, and what of these {n:,} would be left: {'; '.join(texts)}. "
        "With more memory, raise max_cells; or audit a sample of the rows."
    )


def _n_cells(codes, place, instead):
    """Return the number of distinct cells with other codes of a column, None for none of it."""
    columns = [*codes[:place], *([] if instead is None else [instead]), *codes[place + 1 :]]
    key = np.zeros(len(codes[0]), dtype=np.int64)
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if int(key.max(initial=0)) >= 2**62 // size:
            key = np.unique(key, return_inverse=True)[1]
        key = key * size + column
    return len(np.unique(key))
