"""The clock of a run: long loops ask it, however deep they are, and it ends them in time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_RUN = ContextVar("run", default=None)


class OutOfTime(Exception):  # noqa: N818 - no error: what is known so far is the answer
    """The time of a run is over; ``doing`` says during what."""

    def __init__(self, doing: str) -> None:
        super().__init__(f"The time is over, while {doing}.")
        self.doing = doing


@contextmanager
def clock(has_time: Callable[[], bool], say: Callable[[str], None]) -> Iterator[None]:
    """Let `go_on` ask for the time of a run; within another, for that of both.

    `has_time`: returns False when the time is over. `say`: ``say(text)`` reports progress.
    """
    outer = _RUN.get()

    def both_have_time():
        return has_time() and (outer is None or outer[0]())

    token = _RUN.set((both_have_time, say))
    try:
        yield
    finally:
        _RUN.reset(token)


@contextmanager
def unhurried() -> Iterator[None]:
    """Let nothing be cut: an answer is described when the time is over, too."""
    token = _RUN.set(None)
    try:
        yield
    finally:
        _RUN.reset(token)


def go_on(doing: str) -> None:
    """Report what is done next; raise OutOfTime if the time of the run is over.

    Outside a run it does nothing.

    Examples
    --------
    >>> with clock(lambda: True, print):
    ...     go_on("counting groups")
    counting groups
    """
    if _RUN.get() is None:
        return
    has_time, say = _RUN.get()
    say(doing)
    if not has_time():
        raise OutOfTime(doing)
