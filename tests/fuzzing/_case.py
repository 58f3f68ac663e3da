"""One case of the fuzz suite."""

from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class FuzzCase:
    """A call that is drawn from the number of the case.

    Parameters
    ----------
    number : int
    call : str
        What is called, for people.
    run : callable
        Calls it, and returns a list of sentences about what is wrong in its answer.
    names : collection of str
        Names of parameters and columns, of which a clear error names one.
    """

    number: int
    call: str
    run: Callable[[], list]
    names: Collection[str] = ()
