"""Warnings that are ignored while something runs, also where several threads do."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_CHANGING = threading.Lock()


@contextmanager
def ignoring(category: type[Warning]) -> Iterator[None]:
    """Ignore warnings of a category while the context is open.

    `warnings.catch_warnings` replaces the list of filters and restores the former one. Two threads
    that leave in another order than they entered therefore restore each other's filters: warnings
    stay ignored for good, or appear where they should not. Here each context adds an entry of its
    own to the list, and removes that entry only.
    """
    entry = ("ignore", None, category, None, 0)
    with _CHANGING:
        filters = warnings.filters
        filters.insert(0, entry)
    try:
        yield
    finally:
        with _CHANGING:  # of two lists, if another thread has opened `catch_warnings` meanwhile
            for changed in (filters, warnings.filters):
                changed[:] = [f for f in changed if f is not entry]
