"""When the command began: its time budget covers imports, reading and training, too."""

import time

_began = None


def begin() -> None:
    """Start the clock of a command."""
    global _began
    _began = time.perf_counter()


def began() -> float | None:
    """Return when the command began, by `time.perf_counter`; None without a command."""
    return _began


def seconds_left(time_budget: float) -> float:
    """Return the seconds of a time budget that are left, at least 0."""
    return time_budget if _began is None else max(_began + time_budget - time.perf_counter(), 0.0)
