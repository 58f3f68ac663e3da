"""A sum that is taken in a tree while its terms arrive."""

from functools import reduce
from typing import Any


class RunningTotal:
    """Adds up as a binary tree does: terms of equal size, with few partial sums at once.

    Examples
    --------
    >>> total = RunningTotal()
    >>> for word in ("a", "b", "c"):
    ...     total.add(word)
    >>> total.value
    'abc'
    """

    def __init__(self):
        self._sums: list[tuple[int, Any]] = []

    def add(self, value: Any) -> None:
        """Add a term; None is none."""
        if value is None:
            return
        level = 0
        while self._sums and self._sums[-1][0] == level:
            value = self._sums.pop()[1] + value
            level += 1
        self._sums.append((level, value))

    @property
    def value(self) -> Any:
        """The sum, None without terms."""
        if not self._sums:
            return None
        return reduce(lambda below, above: above + below, [v for _, v in reversed(self._sums)])
