"""The batched search: strategies propose inputs; the loop tests those that are new."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from skdisc._space._feature_space import FeatureSpace
from skdisc._utils._hashing import Growing, KeyIndex
from skdisc.individual._prober import Prober, count_by_value, n_inputs, small_dtype

_MOST_ROOM = 2**20  # inputs that memory is reserved for at the start


class Strategy(ABC):
    """Base of the strategies: what a search tests next.

    Candidates are objects with ``keys`` (uint64, one per candidate), ``codes(at)`` (the rows at
    these positions) and ``limit`` (number of new candidates tested at most, or None); see `Rows`.

    Attributes
    ----------
    seeds : Seeds or None
        Inputs tested first, from whose draws the share of cases is estimated.
    n_random : int
        Without seeds: how many of the first inputs tested were drawn at random.
    notes : list of str
        Notes for the result.
    """

    seeds = None
    n_random = 0
    notes = ()

    @abstractmethod
    def ask(self) -> object | None:
        """Return the next candidates, or None if there are no more."""

    def tell(  # noqa: B027 (optional)
        self, candidates: object, ids: np.ndarray, new: np.ndarray, ledger: "Ledger"
    ) -> None:
        """Learn from the candidates after their test.

        Parameters
        ----------
        candidates : object
            What `ask` returned.
        ids : ndarray of int, shape (n_candidates,)
            Number of each candidate in the ledger.
        new : ndarray of int
            Positions of the candidates that were tested now.
        ledger : Ledger
        """


def propose(space: FeatureSpace, rows: np.ndarray, limit: int | None = None) -> "Rows":
    """Return rows of codes as candidates.

    Parameters
    ----------
    space : FeatureSpace
    rows : ndarray of int, shape (n_rows, n_columns)
    limit : int or None
        Number of new rows tested at most.

    Returns
    -------
    Rows
    """
    return Rows(rows, space.key(rows, space.np_index), limit)


@dataclass
class Rows:
    """Candidates of a search that are rows of codes, one per possible person.

    The rows under audit, which subgroup detectors read, are `Counted` or `Summed`.

    Examples
    --------
    >>> space = FeatureSpace.from_domains({"sex": ["F", "M"], "age": (18, 65)}, protected=["sex"])
    >>> rows = propose(space, np.array([[0, 5], [1, 5], [0, 7]]))
    >>> len(set(rows.keys))  # two inputs: the protected part does not count
    2
    >>> rows.codes(np.array([2]))
    array([[0, 7]])
    """

    rows: np.ndarray
    keys: np.ndarray
    limit: int | None = None

    def codes(self, positions: np.ndarray) -> np.ndarray:
        """Return the rows at these positions."""
        return self.rows.take(positions, axis=0)


class Ledger:
    """The inputs that a search has tested, numbered in the order of their tests.

    Parameters
    ----------
    prober : Prober
    keep : bool, default=False
        Whether to keep the inputs that are not cases, too.
    room : int, default=0
        Number of inputs that memory is reserved for.

    Attributes
    ----------
    visited : KeyIndex
        Numbers the inputs by key.
    hit : ndarray of bool, shape (n_inputs,)
        Whether each input is discriminatory.
    couple : ndarray of int, shape (n_inputs, 2)
        The two variants shown for each discriminatory input, as positions in the prober's
        combinations; arbitrary for other inputs.
    tested : list of ndarray of int, or None
        The rows of codes tested, if they are kept.
    clock : list of (int, float)
        After each batch: number of inputs tested, and seconds since the budget was opened.

    Examples
    --------
    >>> import pandas as pd
    >>> from skdisc.extending import People, Task
    >>> from skdisc.individual import Themis
    >>> X = pd.DataFrame({"sex": ["F", "F", "M", "M"], "age": [20, 30, 40, 50]})
    >>> model = lambda rows: ((rows["sex"] == "M") | (rows["age"] > 40)).astype(int)
    >>> detector = Themis(protected="sex", random_state=0).fit(X, model=model)
    >>> task = Task.open(detector, People(X))
    >>> prober = Prober(task, min_gap=0.0)
    >>> outcomes = prober.outcomes(task.codes)
    >>> ledger = Ledger(prober)
    >>> ledger.record(task.codes, outcomes, prober.is_case(outcomes))
    >>> ledger.hit
    array([ True,  True,  True, False])
    >>> ledger.found_codes
    array([[0, 0],
           [0, 1],
           [1, 2]], dtype=int8)
    >>> ledger.by_value()  # inputs tested, and cases
    {'sex=F': (4, 3), 'sex=M': (4, 3)}
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
        """Whether each input tested is discriminatory."""
        return self._hit.rows

    @property
    def couple(self) -> np.ndarray:
        """The two variants shown for each input tested."""
        return self._couple.rows

    @property
    def found_codes(self) -> np.ndarray:
        """The discriminatory inputs as rows of codes, in the order of their tests."""
        return self._found.rows

    def record(self, codes: np.ndarray, outcomes: np.ndarray, hit: np.ndarray) -> None:
        """Add tested inputs with the outcomes of their variants, and whether they are cases."""
        if self.tested is not None:
            self.tested.append(codes)
        couple = np.zeros((len(hit), 2), np.int16)
        if hit.any():
            case_outcomes = outcomes.compress(hit, axis=0)
            low, high = self.prober.couples(case_outcomes)
            couple[hit] = np.column_stack([low, high])
            self._found.extend(codes.compress(hit, axis=0))
            case_index = np.arange(len(case_outcomes))
            self._outcomes.extend(
                np.column_stack([case_outcomes[case_index, low], case_outcomes[case_index, high]])
            )
        self._hit.extend(hit)
        self._couple.extend(couple)

    def found(self) -> tuple[np.ndarray, ...]:
        """Return all discriminatory inputs, as arguments of `Prober.cases`."""
        low, high = self.couple.compress(self.hit, axis=0).T
        return self.found_codes, low, high, *self._outcomes.rows.T

    def look_up(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return whether each input was tested, and whether it is a case; after the search only."""
        ids, _ = self.visited.add(keys)
        tested, is_case = ids < len(self.hit), np.zeros(len(keys), dtype=bool)
        is_case[tested] = self.hit[ids[tested]]
        return tested, is_case

    def by_value(self) -> dict:
        """Return, per protected value, the numbers of inputs tested and of cases that change it."""
        _, low, high, *_ = self.found()
        return count_by_value(
            self.prober, len(self.hit), self.prober.combos[low], self.prober.combos[high]
        )


def run(strategy, prober, budget, progress, keep=False):
    """Test the candidates of a strategy until the strategy, the space or the budget ends.

    The model is queried about new inputs only, under all protected combinations at once. Inputs are
    tested in the order in which they are proposed, so results do not depend on the sizes of batches
    or chunks.

    `progress`: takes a message. `keep`: whether the ledger keeps all inputs tested.
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
    """Test as many inputs as the budget allows and enter them in the ledger."""
    codes = codes[: budget.allow(len(codes), ledger.prober.n_combos)]
    outcomes = ledger.prober.outcomes(codes)
    codes = codes[: len(outcomes)]
    hit = ledger.prober.is_case(outcomes) if len(codes) else np.zeros(0, dtype=bool)
    if budget.max_found is not None:
        last = np.searchsorted(np.cumsum(hit), budget.max_found - budget.found)
        if last < len(hit):
            codes, outcomes, hit = codes[: last + 1], outcomes[: last + 1], hit[: last + 1]
            budget.stopped_by = "found"
    budget.tests += len(codes)
    budget.found += int(hit.sum())
    ledger.record(codes, outcomes, hit)
    ledger.clock.append((budget.tests, budget.elapsed))
