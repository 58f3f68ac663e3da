"""Budget: how much a search may spend, and what ended it."""

import time
from dataclasses import dataclass, field

_LIMITS = ("max_tests", "max_queries", "max_found", "time_budget")


@dataclass
class Budget:
    """Limits of one fit or audit; None is no limit, 0 asks nothing at all.

    Parameters
    ----------
    max_tests : int or None
        Distinct inputs (individual search) or candidate subgroups (subgroup search).
    max_queries : int or None
        Rows that the model is asked.
    max_found : int or None
        Findings.
    time_budget : float or None
        Seconds, looked at between batches.

    Attributes
    ----------
    tests, queries, found : int
        What has been spent.
    stopped_by : str or None
        The limit that ended the search, None if it came to its own end.
    """

    max_tests: int | None = None
    max_queries: int | None = None
    max_found: int | None = None
    time_budget: float | None = None
    tests: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)
    found: int = field(default=0, init=False)
    stopped_by: str | None = field(default=None, init=False)
    _started: float = field(default_factory=time.perf_counter, init=False, repr=False)

    def __post_init__(self):
        for name in ("max_tests", "max_queries", "max_found"):  # NumPy's own numbers may overflow
            limit = getattr(self, name)
            setattr(self, name, None if limit is None else int(limit))

    @property
    def elapsed(self):
        """Seconds since the budget was opened."""
        return time.perf_counter() - self._started

    def allow(self, n, rows_each=1):
        """Return how many of `n` further tests, each of `rows_each` model rows, may be made.

        A test with `rows_each` = 0 asks the model nothing.
        Fewer than asked for means that a limit ends the search; `stopped_by` names it.
        """
        room = {"max_tests": self._left(self.max_tests, self.tests)}
        rows = self._left(self.max_queries, self.queries)
        room["max_queries"] = rows if rows is None else rows // rows_each if rows_each else None
        if self.max_found is not None and self.found >= self.max_found:
            room["max_found"] = 0
        if self.has_spent(1):
            room["time_budget"] = 0
        for name, left in room.items():
            if left is not None and left < n:
                n, self.stopped_by = left, name
        return n

    def portions(self, n):
        """Yield n times, with limits at an equal share of what is left; at the end, as it was.

        What one portion does not spend is left for the next ones.
        """
        limits = {name: getattr(self, name) for name in _LIMITS}
        ended = None
        for left in range(n, 0, -1):
            self.stopped_by = None
            spent = (self.tests, self.queries, self.found, self.elapsed)
            for (name, limit), gone in zip(limits.items(), spent, strict=True):
                if limit is not None:
                    more = max(limit - gone, 0)
                    share = more / left if name == "time_budget" else more // left
                    setattr(self, name, limit if left == 1 else gone + share)
            yield
            ended = ended or self.stopped_by
        self.stopped_by = ended
        for name, limit in limits.items():
            setattr(self, name, limit)

    def has_spent(self, share):
        """Say whether this share of the time is gone."""
        return self.time_budget is not None and self.elapsed >= share * self.time_budget

    def opens(self, n_rows):
        """Say whether anything may be tested at all, and the model asked about `n_rows` first."""
        return self.allow(1) > 0 and self.affords(n_rows)

    def affords(self, n_rows):
        """Say whether the model may be asked about `n_rows` more; if not, `stopped_by` says why."""
        left = self._left(self.max_queries, self.queries)
        if left is not None and left < n_rows:
            self.stopped_by = "max_queries"
        elif self.has_spent(1):
            self.stopped_by = "time_budget"
        else:
            return True
        return False

    def pieces(self, n, most, rows_each=1):
        """Yield slices that cover n tests of `rows_each` rows, of `most` rows or fewer each.

        With a time budget as many rows as took a twentieth of it so far, and 2,000 at least, so
        that the clock can be looked at between them.
        """
        start = 0
        while start < n:
            rows = most
            if self.time_budget is not None:
                a_twentieth = self.queries * self.time_budget / 20 / max(self.elapsed, 1e-9)
                rows = min(most, max(int(a_twentieth), 2000))
            end = start + max(rows // rows_each, 1)
            yield slice(start, end)
            start = end

    @staticmethod
    def _left(limit, spent):
        return None if limit is None else max(limit - spent, 0)
