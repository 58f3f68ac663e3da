"""threads_for: few rows are learned from by one thread."""

from functools import lru_cache

from threadpoolctl import ThreadpoolController

_ENOUGH = 20_000  # rows below which threads wait for each other longer than they work


def threads_for(n_rows):
    """Return a context in which OpenMP, and so boosted trees, has one thread for few rows.

    Where other work keeps the cores busy, its threads wait for each other many times as long as
    they work.
    """
    return _controller().limit(limits=1 if n_rows < _ENOUGH else None, user_api="openmp")


@lru_cache(maxsize=1)
def _controller():
    """Return what knows the loaded libraries; looking for them takes milliseconds."""
    return ThreadpoolController()
