"""Cases by number: each is drawn from its seed and number alone."""

from collections.abc import Iterable, Iterator
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

from fuzzing._case import FuzzCase
from fuzzing._detector_cases import detector_case
from fuzzing._generator_cases import generator_case
from fuzzing._judge import FuzzOutcome, judged
from fuzzing._measure_cases import measure_case
from fuzzing._report_cases import report_case

KINDS = {
    "detectors": detector_case,
    "measures": measure_case,
    "generators": generator_case,
    "reports": report_case,
}
LIMIT = 10.0  # seconds of CPU time for a case


def fuzz_case(number: int, seed: int = 0) -> FuzzCase:
    """Return the case of a number; the remainder of the number by 4 is its kind.

    Parameters
    ----------
    number : int
    seed : int, default=0

    Returns
    -------
    FuzzCase
    """
    make = list(KINDS.values())[number % len(KINDS)]
    return make(number, np.random.default_rng([seed, number]))


def numbers_of(n: int, kind: str | None = None, start: int = 0) -> Iterable[int]:
    """Return the numbers of n cases: all kinds in turn, or those of one kind.

    Parameters
    ----------
    n : int
    kind : {"detectors", "measures", "generators", "reports"} or None
    start : int, default=0
        Cases to leave out before the first.

    Returns
    -------
    range of int
    """
    if kind is None:
        return range(start, start + n)
    first, step = list(KINDS).index(kind), len(KINDS)
    return range(first + step * start, first + step * (start + n), step)


def run_cases(numbers: Iterable[int], seed: int = 0, limit: float = LIMIT) -> Iterator[FuzzOutcome]:
    """Yield the `FuzzOutcome` of each case.

    Parameters
    ----------
    numbers : iterable of int
    seed : int, default=0
    limit : float, default=10.0
        CPU seconds after which a case is stopped.

    Yields
    ------
    FuzzOutcome
    """
    no_refits = mock.patch("skdisc._task._refits.enough_for", return_value=0)
    with no_refits, threadpool_limits(1):  # CPU time would count all threads
        for number in numbers:
            yield judged(fuzz_case(number, seed), limit)
