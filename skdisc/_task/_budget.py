"""Budget: what one fit or audit has used of its limits."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

COUNTED = ("tests", "queries", "found", "seconds")  # fields of `Limits` that a run uses up


@dataclass
class Budget:
    """What one fit or audit has used of its limits; None stands for no limit.

    Parameters
    ----------
    max_tests : int or None
        Number of distinct inputs (individual search) or candidate subgroups (subgroup search).
    max_queries : int or None
        Number of distinct rows sent to the model.
    max_found : int or None
        Number of findings.
    max_seconds : float or None
        Seconds from the beginning of the call, checked between batches.
    started : float or None, default=None
        When the call began that the budget is for, by `time.perf_counter`: reading rows and
        training a model before the budget was opened take of its time. None: now.

    Attributes
    ----------
    tests, queries, found : int
        Numbers charged so far.
    stopped_by : str or None
        The limit that ended the search, a field of `Limits`; None if the search completed.

    Examples
    --------
    >>> Budget(max_tests=50).max_queries is None
    True
    """

    max_tests: int | None = None
    max_queries: int | None = None
    max_found: int | None = None
    max_seconds: float | None = None
    started: float | None = None
    tests: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)
    found: int = field(default=0, init=False)
    stopped_by: str | None = field(default=None, init=False)
    _before: float = field(default=0.0, init=False, repr=False)

    def __post_init__(self):
        now = time.perf_counter()
        self.started = now if self.started is None else self.started
        self._before = now - self.started
        for name in ("max_tests", "max_queries", "max_found"):  # NumPy integers could overflow
            limit = getattr(self, name)
            setattr(self, name, None if limit is None else int(limit))

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning of the call."""
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float:
        """Seconds until the time budget ends, at least 0; infinity without one."""
        remaining = self._left(self.max_seconds, self.elapsed)
        return float("inf") if remaining is None else remaining

    def renew(self, seconds: float) -> None:
        """Begin again, with a time budget of this many seconds from now."""
        self.started, self._before, self.max_seconds = time.perf_counter(), 0.0, seconds

    def allow(self, n: int, rows_each: int = 1) -> int:
        """Return how many of `n` further tests, with `rows_each` queries each, are allowed.

        If they are fewer than `n`, a limit ends the search, and `stopped_by` names it. A test with
        ``rows_each=0`` takes no query.
        """
        room = {"tests": self._left(self.max_tests, self.tests)}
        rows = self._left(self.max_queries, self.queries)
        room["queries"] = rows if rows is None else rows // rows_each if rows_each else None
        if self.max_found is not None and self.found >= self.max_found:
            room["found"] = 0
        if self.has_spent(1):
            room["seconds"] = 0
        for name, remaining in room.items():
            if remaining is not None and remaining < n:
                n, self.stopped_by = remaining, name
        return n

    def portions(self, n: int) -> Iterator[None]:
        """Yield n times, each time with limits at an equal share of the rest; then restore them.

        What one portion does not use remains for the next ones.
        """
        limits = {name: getattr(self, f"max_{name}") for name in COUNTED}
        ended = None
        try:
            for n_portions in range(n, 0, -1):
                self.stopped_by = None
                amounts = (self.tests, self.queries, self.found, self.elapsed)
                for (name, limit), spent in zip(limits.items(), amounts, strict=True):
                    if limit is not None:
                        more = max(limit - spent, 0)
                        share = more / n_portions if name == "seconds" else more // n_portions
                        setattr(self, f"max_{name}", limit if n_portions == 1 else spent + share)
                yield
                ended = ended or self.stopped_by
        finally:
            self.stopped_by = ended
            for name, limit in limits.items():
                setattr(self, f"max_{name}", limit)

    @contextmanager
    def keeping(self, share: float) -> Iterator[None]:
        """Keep a share of the time that is left for what comes after."""
        limit = self.max_seconds
        if limit is not None:
            self.max_seconds -= share * self.seconds_left
        try:
            yield
        finally:
            self.max_seconds = limit

    @contextmanager
    def besides_tests(self) -> Iterator[None]:
        """Lift the limits on tests and findings for queries that are none of them.

        Limits on queries and time hold, with what is left of them.
        """
        limits = self.max_tests, self.max_found, self.stopped_by
        self.max_tests = self.max_found = self.stopped_by = None
        try:
            yield
        finally:
            self.max_tests, self.max_found, before = limits
            self.stopped_by = before or self.stopped_by

    def has_spent(self, share: float) -> bool:
        """Return True if this share of the time that was left at the opening has elapsed."""
        if self.max_seconds is None:
            return False
        # By a share of the whole budget, a model that took long to train would end every search.
        return self.elapsed >= self._before + share * max(self.max_seconds - self._before, 0.0)

    def opens(self, n_rows: int) -> bool:
        """Return True if at least one test is allowed, and `n_rows` queries before it."""
        return self.allow(1) > 0 and self.affords(n_rows)

    @property
    def queries_left(self) -> float:
        """Number of further queries allowed; infinity without a limit."""
        remaining = self._left(self.max_queries, self.queries)
        return float("inf") if remaining is None else remaining

    def tests_left(self, rows_each: int) -> float:
        """Return how many more tests with `rows_each` queries each the limits on numbers allow."""
        limits = (self._left(self.max_tests, self.tests), self.queries_left // rows_each)
        return min(float("inf") if remaining is None else remaining for remaining in limits)

    def affords(self, n_rows: int) -> bool:
        """Return True if `n_rows` further queries are allowed; otherwise set `stopped_by`."""
        remaining = self._left(self.max_queries, self.queries)
        if remaining is not None and remaining < n_rows:
            self.stopped_by = "queries"
        elif self.has_spent(1):
            self.stopped_by = "seconds"
        else:
            return True
        return False

    def pieces(self, n: int, most: int, rows_each: int = 1) -> Iterator[slice]:
        """Yield slices that cover n tests of `rows_each` rows, with at most `most` rows per slice.

        With a time budget, a slice has as many rows as took a twentieth of it so far, and at least
        2,000, so that the time can be checked between slices.
        """
        start = 0
        while start < n:
            rows = most
            if self.max_seconds is not None:
                a_twentieth = self.queries * self.max_seconds / 20 / max(self.elapsed, 1e-9)
                rows = int(min(most, max(a_twentieth, 2000)))
            end = start + max(rows // rows_each, 1)
            yield slice(start, end)
            start = end

    @staticmethod
    def _left(limit, spent):
        """Return the rest of a limit; None if there is no limit."""
        return None if limit is None else max(limit - spent, 0)
