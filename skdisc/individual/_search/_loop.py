"""The batched search: strategies propose inputs, the loop asks, records and tells them.

A strategy has ``ask()``, which returns candidates or None when it has no more, and
``tell(candidates, ids, new, ledger)``. Candidates have ``keys`` (uint64, one per candidate),
``codes(at)`` (their rows at these positions) and ``limit`` (at most so many new ones, or None).
"""

from dataclasses import dataclass

import numpy as np

from skdisc._space._feature_space import FeatureSpace
from skdisc._utils._hashing import Growing, KeyIndex
from skdisc.individual._prober import Prober, count_by_value, n_inputs, small_dtype

_MOST_ROOM = 2**20  # inputs for which there is room from the beginning


def propose(space: FeatureSpace, rows: np.ndarray, limit: int | None = None) -> "Rows":
    """Return rows of codes as candidates."""
    return Rows(rows, space.key(rows, space.np_index), limit)


@dataclass
class Rows:
    """Candidates given as rows of codes."""

    rows: np.ndarray
    keys: np.ndarray
    limit: int | None = None

    def codes(self, at: np.ndarray) -> np.ndarray:
        """Return the rows at these positions."""
        return self.rows.take(at, axis=0)


class Ledger:
    """What a search has tested and found. Inputs are numbered in the order of their first visit.

    Attributes
    ----------
    hit : ndarray of bool
        By number of the input: whether it is discriminatory.
    couple : ndarray of int, shape (n_inputs, 2)
        By number of the input: its couple, as positions in the prober's combinations; arbitrary
        where it is not discriminatory.
    tested : list of ndarray of int, or None
        The rows of codes tested, if they are kept.
    clock : list of (int, float)
        After each batch: inputs tested within the budget, and seconds since it was opened.
    """

    def __init__(self, prober: Prober, keep: bool = False, room: int = 0) -> None:
        self.prober = prober
        self.tested, self.clock = [] if keep else None, []
        self.visited = KeyIndex(room)
        self._hit, self._couple = Growing(bool), Growing(np.int16, 2)
        space = prober.space
        self._found, self._outcomes = Growing(small_dtype(space), len(space)), Growing(float, 2)

    @property
    def hit(self) -> np.ndarray:
        return self._hit.rows

    @property
    def couple(self) -> np.ndarray:
        return self._couple.rows

    @property
    def found_codes(self) -> np.ndarray:
        """The inputs that hit, as rows of codes in the order of their tests."""
        return self._found.rows

    def record(self, codes: np.ndarray, outcomes: np.ndarray, hit: np.ndarray) -> None:
        """Enter tested inputs; those that hit are kept."""
        if self.tested is not None:
            self.tested.append(codes)
        couple = np.zeros((len(hit), 2), np.int16)
        if hit.any():
            found = outcomes.compress(hit, axis=0)
            low, high = self.prober.couples(found)
            couple[hit] = np.column_stack([low, high])
            self._found.extend(codes.compress(hit, axis=0))
            at = np.arange(len(found))
            self._outcomes.extend(np.column_stack([found[at, low], found[at, high]]))
        self._hit.extend(hit)
        self._couple.extend(couple)

    def found(self) -> tuple[np.ndarray, ...]:
        """Return codes, low, high, outcome and counterpart's outcome of all that was found."""
        low, high = self.couple.compress(self.hit, axis=0).T
        return self.found_codes, low, high, *self._outcomes.rows.T

    def by_value(self) -> dict:
        """Count per protected value: inputs tested, and found with a couple that changes it."""
        _, low, high, *_ = self.found()
        return count_by_value(
            self.prober, len(self.hit), self.prober.combos[low], self.prober.combos[high]
        )


def run(strategy, prober, budget, progress, keep=False):
    """Ask the strategy for candidates until it, or the budget, ends the search.

    Only inputs never seen before are put to the model, all protected combinations at once; once
    every input of the space was, the search is over. The order of tests is the order in which
    candidates are proposed, so results depend neither on the size of batches nor on that of chunks.

    Returns
    -------
    Ledger
    """
    most = n_inputs(prober.space)
    ledger = Ledger(prober, keep, room=min(budget.max_tests or 0, most, _MOST_ROOM))
    while budget.stopped_by is None and len(ledger.hit) < most:
        candidates = strategy.ask()
        if candidates is None or budget.stopped_by is not None:
            break
        ids, first = ledger.visited.add(candidates.keys)
        new = np.flatnonzero(first)[: candidates.limit]
        for start in range(0, len(new), prober.tests_at_once):
            _test(candidates.codes(new[start : start + prober.tests_at_once]), ledger, budget)
            progress(f"{budget.tests:,} tested, {budget.found:,} found, {budget.elapsed:.0f} s")
            if budget.stopped_by is not None:
                return ledger
        strategy.tell(candidates, ids, new, ledger)
    return ledger


def _test(codes, ledger, budget):
    codes = codes[: budget.allow(len(codes), ledger.prober.n_combos)]
    outcomes = ledger.prober.outcomes(codes)
    codes = codes[: len(outcomes)]
    hit = ledger.prober.is_case(outcomes) if len(codes) else np.zeros(0, dtype=bool)
    if budget.max_found is not None:
        last = np.searchsorted(np.cumsum(hit), budget.max_found - budget.found)
        if last < len(hit):
            codes, outcomes, hit = codes[: last + 1], outcomes[: last + 1], hit[: last + 1]
            budget.stopped_by = "max_found"
    budget.tests += len(codes)
    budget.found += int(hit.sum())
    ledger.record(codes, outcomes, hit)
    ledger.clock.append((budget.tests, budget.elapsed))
