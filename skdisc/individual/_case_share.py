"""CaseShare: the share of people, or of inputs, whose outcome changes with protected values."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skdisc import _stats
from skdisc._task._limits import limit_named
from skdisc._task._task import Task
from skdisc._utils._hashing import KeyIndex, NumberedColumns, at_ranks
from skdisc._verdicts._answer import Answer
from skdisc._verdicts._share import decide_share
from skdisc.individual._prober import ROWS_AT_ONCE, Prober, all_inputs, n_inputs

MOST_ROWS, FEWEST = 30_000, 2_000
_COMPARED = 1.25, 4, None  # times as many people as are examined are compared first; None: all
_TIME_SHARE = 0.25  # of the time budget, kept for the share of people
_ROWS_TIMED = 2_000  # after which the time is checked


@dataclass(frozen=True)
class CaseShare:
    """The share of people (or of inputs) with a case among their own changed inputs.

    Attributes
    ----------
    population : {"people", "inputs"}
        Whose share it is.
    estimate, low, high : float
        The share and its interval, which has no width if everyone was examined; NaN if nobody was.
    n : int
        Number examined.
    incomplete : str
        Why a person without a case may have one that was not looked for; "" if all combinations of
        protected values were tried.
    ended_by : str or None
        The limit that ended the run, if any.
    """

    population: str
    estimate: float
    low: float
    high: float
    n: int
    incomplete: str
    ended_by: str | None = None

    @property
    def row(self) -> tuple:
        """The row of `estimates`: name, estimate, ci_low, ci_high, n."""
        population = {"inputs": "uniformly drawn inputs"}.get(self.population, self.population)
        return f"share of {population} with a case", self.estimate, self.low, self.high, self.n

    def answer(self, detector: Any, caveats: Sequence[str] = ()) -> Answer:
        """Return the answer; a caveat is a reason why the absence of cases is inconclusive."""
        incomplete = (self.incomplete or "; ".join(caveats)).rstrip(".")
        answer = decide_share(
            self.estimate,
            self.low,
            self.high,
            relevant_share=detector.relevant_share,
            significance=detector.significance,
            incomplete=incomplete,
            noun=self.population,
        )
        if not self.n and self.ended_by:
            limit = limit_named(self.ended_by)
            reason = f"{limit} was reached before any {self.population} were examined"
            return replace(answer, reason=reason)
        return answer


RANDOM = "the model is not deterministic, and hides changes that are rarer than its own"


def beyond_chance(
    population: str,
    hits: int,
    n: int,
    changes: np.ndarray,
    significance: float,
    *,
    n_effective: float,
    ended_by: str | None = None,
) -> CaseShare:
    """Return the share whose outcome changes with the variant, less the share of chance changes.

    Where the outcomes of all variants of a row have one distribution, querying the variants is
    querying one of them as many times. The difference of the two shares is then 0 on average.

    Parameters
    ----------
    population : {"people", "inputs"}
    hits, n : int
        Number whose outcome differs between their variants, and number examined.
    changes : ndarray of bool
        Whether the outcome of a row differs between repeated queries of one variant, as many as it
        has variants; for some of the rows examined.
    n_effective : float
        Effective number of rows examined, from `effective_number`.
    """
    if not n or not len(changes):
        return CaseShare(population, *[math.nan] * 3, 0, RANDOM, ended_by)
    scale = min(n_effective / n, 1.0)
    counts = np.array([hits, n, changes.sum(), len(changes)]) * scale
    low, high = map(float, _stats.newcombe(*counts, significance))
    share = max(hits / n - changes.mean(), 0.0)
    return CaseShare(population, share, max(low, 0.0), max(high, 0.0), n, RANDOM, ended_by)


def effective_number(row_numbers: np.ndarray) -> float:
    """Return the effective number of different rows, as equal rows are queried only once.

    `row_numbers`: the number of each row; equal rows have equal numbers.
    """
    counts = np.bincount(row_numbers)
    return float(len(row_numbers) ** 2 / max((counts**2).sum(), 1))


CHANCE_NOTE = (
    "Rows were also queried as often as they have variants, with their protected values kept: only "
    "the share of people whose outcome changes beyond the share of those whose outcome changes by "
    "itself counts, and no single case is shown."
)


def time_kept(task: Task) -> AbstractContextManager:
    """Keep a quarter of the time budget for the share of people, while a search goes on."""
    return task.budget.keeping(_TIME_SHARE)


def everyone(has_case: np.ndarray, n_people: int, incomplete: str) -> CaseShare:
    """Return the share among the first rows of X.

    If a budget ended before the last row, the others may have a case or not: they are no sample.

    `n_people`: number of rows of X.
    """
    n, hits = len(has_case), int(has_case.sum())
    if not n:
        return CaseShare("people", *[math.nan] * 3, 0, incomplete)
    high = (hits + n_people - n) / n_people
    return CaseShare("people", hits / n, hits / n_people, high, n, incomplete)


def share_of_cases(detector: Any, task: Task, ledgers: Sequence = ()) -> CaseShare:
    """Examine the people of X, or inputs of the space if there is no X.

    At most 2,000 different ones are examined, or more if they need no more than 30,000 queries. If
    there are more, a random sample is drawn, the same at every call. The limit of tests holds for
    their number, apart from the inputs of a search; queries and seconds are what the search has
    left. What a search has tested is not queried again.

    `task`: its queries and budget are used. `ledgers`: what a search has tested, one for each part
    of the task.
    """
    columns = task.space.protected
    spaces = (
        [task.space.varying([c]) for c in columns] if detector.scope == "each" else [task.space]
    )
    population = "inputs" if task.X is None else "people"
    parts = [
        _Variation(replace(task, space=space), detector.min_gap, population) for space in spaces
    ]
    most = _most(task.budget, sum(p.rows_each for p in parts))
    rng = np.random.default_rng([*map(int, detector._seeds), len(columns)])
    drawn = _inputs(task, most, detector.scope, rng) if task.X is None else _people(task, most, rng)
    with task.budget.besides_tests():
        has_case = _examine(parts, drawn, ledgers or [None] * len(parts), task.budget)
        changes = None
        if task.queries.is_random:
            changes = drawn.expand(_by_itself(parts, drawn.rows.X.iloc[: len(has_case)], task))
    has_case = drawn.expand(has_case)
    n, hits = len(has_case), int(has_case.sum())
    if changes is not None:
        return beyond_chance(
            population,
            hits,
            n,
            changes,
            detector.significance,
            n_effective=effective_number(drawn.which[:n]),
            ended_by=task.budget.stopped_by,
        )
    if drawn.n_all is None:  # with replacement; without, the interval shrinks to 0 at everyone
        low, high = _stats.clopper_pearson(hits, n, detector.significance)
    else:
        low, high = _stats.hypergeometric(hits, n, drawn.n_all, detector.significance)
    share, why = hits / n if n else math.nan, detector._why_incomplete(task.space)
    return CaseShare(population, share, float(low), float(high), n, why, task.budget.stopped_by)


def _most(budget, rows_each):
    """Return how many are examined at most."""
    if budget.max_found == 0:
        return 0
    most = max(FEWEST, MOST_ROWS // rows_each)
    return most if budget.max_tests is None else min(most, budget.max_tests)


@dataclass
class _Drawn:
    """Distinct rows, the row of each draw, and the number of all drawn from (None: infinite)."""

    rows: NumberedColumns
    which: np.ndarray
    n_all: int | None

    def expand(self, has_case):
        """Return which draws have a case, up to the first of a row that was not examined."""
        missed = self.which >= len(has_case)
        n = int(missed.argmax()) if missed.any() else len(missed)
        return has_case[self.which[:n]]


def _people(task, most, rng):
    """Draw people without replacement: all of them, unless they are too many different ones."""
    # The limit is on different rows, so people are drawn until there are enough of these: some more
    # than are examined at first, as a sort of all keys takes long.
    keys = task.people.numbered.hashes()
    rank = rng.permutation(len(keys))
    for times in _COMPARED:
        positions = at_ranks(keys, rank if times is None else rank[: math.ceil(times * most)])
        row_numbers, first = KeyIndex().add(keys[positions])
        if first.sum() > most:
            positions, row_numbers, first = positions[:most], row_numbers[:most], first[:most]
            break
    positions = positions[first]
    rows = task.X.iloc[positions].reset_index(drop=True)
    return _Drawn(task.people.numbered.taken(positions, rows), row_numbers, len(task.X))


def _inputs(task, most, scope, rng):
    """Draw inputs: all in random order, or `most` with replacement."""
    space = task.space
    varied = space.np_index if scope == "joint" else range(len(space))
    total = n_inputs(space, varied)
    if total > most:
        codes = space.sample(most, rng)
        row_numbers, first = KeyIndex().add(space.key(codes, varied))
        return _Drawn(NumberedColumns(space.decode(codes[first])), row_numbers, None)
    codes = all_inputs(space, varied, rng)
    return _Drawn(NumberedColumns(space.decode(codes)), np.arange(total), total)


def _examine(parts, drawn, ledgers, budget):
    """Return which rows have a case in any part, for the first rows only if a budget ends."""
    rows = drawn.rows
    search_results = [
        part.look_up(rows, ledger) for part, ledger in zip(parts, ledgers, strict=True)
    ]
    n_rows = sum(
        int((~tested).sum()) * p.rows_each
        for p, (tested, _) in zip(parts, search_results, strict=True)
    )
    rows_each = sum(p.rows_each for p in parts)
    n = len(rows.X)
    if n_rows > budget.queries_left:
        n, budget.stopped_by = int(budget.queries_left) // rows_each, "queries"
    size = max(1, (ROWS_AT_ONCE if budget.max_seconds is None else _ROWS_TIMED) // rows_each)
    has_case = np.zeros(n, dtype=bool)
    for start in range(0, n, size):
        stop = end = min(start + size, n)
        for part, (tested, is_case) in zip(parts, search_results, strict=True):
            part_has_case = part.cases(rows, start, tested[start:end], is_case[start:end])
            end = start + len(part_has_case)
            has_case[start:end] |= part_has_case
        if end < stop:
            return has_case[:end]
    return has_case


def _by_itself(parts, X, task):
    """Return which rows change their outcome when one variant is queried repeatedly."""
    n_times = 1 + sum(part.prober.n_distinct(X) - 1 for part in parts)
    if task.budget.queries_left < n_times.sum():
        n = int(np.searchsorted(np.cumsum(n_times), task.budget.queries_left, "right"))
        X, n_times = X.iloc[:n], n_times[:n]
    return changes_by_itself(task.queries, X, n_times, parts[0].prober.min_gap, parts[0].population)


def changes_by_itself(queries, X, n_times, min_gap, population="people"):
    """Return whether the outcomes of rows differ between several queries, an array of bool.

    `n_times`: how often each row is queried. `min_gap`: the gap that must be exceeded: between any
    two outcomes of inputs, and between the first outcome of people and the others. `population`:
    one of "people", "inputs". Shapes: `X` (n_rows, n_columns).
    """
    first = queries.ask(X)
    low, high = first.copy(), first.copy()
    for time in range(1, n_times.max(initial=1)):
        positions = np.flatnonzero(n_times > time)
        outcomes = queries.ask(X.iloc[positions])
        low[positions] = np.minimum(low[positions], outcomes)
        high[positions] = np.maximum(high[positions], outcomes)
    gap = high - low if population == "inputs" else np.maximum(high - first, first - low)
    return gap > min_gap


class _Variation:
    """Rows examined by varying the protected columns of a task."""

    def __init__(self, task, min_gap, population):
        self.task, self.population, self.prober = task, population, Prober(task, min_gap)
        self.rows_each = self.prober.n_combos + 1

    def look_up(self, rows, ledger):
        """Return which rows the search has tested, and which of them are cases."""
        no_rows = np.zeros(len(rows.X), dtype=bool)
        if ledger is None or not len(rows.X):
            return no_rows, no_rows
        space, codes = self.task.space, self.task.space.encode(rows.X, rows)
        tested, is_case = ledger.look_up(space.key(codes, space.np_index))
        if not tested.any():
            return tested, tested
        for j, column in enumerate(space.columns):
            tested &= _is_exact(column, rows.X[column.name], codes[:, j])
        for j, combo in zip(space.p_index, self.prober.combos.T, strict=True):
            tested &= np.isin(codes[:, j], combo)
        if self.task.queries.output != "decision" and self.population == "people":
            tested &= ~is_case  # two variants differ, but one's own may be between them
        return tested, is_case & tested

    def cases(self, rows, start, tested, is_case):
        """Return which rows from `start` on have a case: fewer rows if a budget ends."""
        todo, is_case = np.flatnonzero(~tested), is_case.copy()
        positions = start + todo
        X = rows.X if len(positions) == len(rows.X) else rows.X.iloc[positions]
        original_outcomes, outcomes = self.prober.rows(
            X, rows if X is rows.X else rows.taken(positions, X)
        )
        if self.population == "people":
            gap = np.abs(outcomes - original_outcomes[:, None]).max(axis=1)
        else:
            gap = np.ptp(np.column_stack([original_outcomes, outcomes]), axis=1)
        is_case[todo[: len(original_outcomes)]] = gap > self.prober.min_gap
        n = len(original_outcomes)
        return is_case if n == len(todo) else is_case[: todo[n]]


def _is_exact(column, values, codes):
    """Return where a code stands for the very value, and not for one near it."""
    inside = (codes >= column.least) & (codes < column.size)
    if column.kind != "numeric":
        return inside
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    decoded = np.asarray(column.decode(np.where(inside, codes, 0)), dtype=float)
    return inside & ((numbers == decoded) | (np.isnan(numbers) & np.isnan(decoded)))
