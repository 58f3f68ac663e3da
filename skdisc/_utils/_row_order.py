"""Whether the columns that users pass are in one order."""

import pandas as pd


def check_order(**columns):
    """Raise ValueError if a Series or DataFrame has the index of the first one in another order.

    Rows are matched by position; indexes with other labels say nothing about their order.
    """
    indexed = {n: c for n, c in columns.items() if isinstance(c, (pd.Series, pd.DataFrame))}
    first = next(iter(indexed), None)
    for name, values in indexed.items():
        if _is_reordered(indexed[first].index, values.index):
            raise ValueError(
                f"{name} has the index of {first} in another order, and rows are matched by "
                f"position. Put both in the same order ({name}.loc[{first}.index]), or pass "
                f"{name}.to_numpy() if its rows are those of {first} already."
            )


def _is_reordered(index, other):
    """Return whether two indexes have the same labels, each once, in different orders."""
    if len(index) != len(other) or index.equals(other):
        return False
    return bool(index.is_unique and other.is_unique and other.isin(index).all())
