"""Prober: the outcomes of inputs under all combinations of protected values."""

import math
from functools import cached_property, partial

import numpy as np
import pandas as pd

from skdisc._blackbox._queries import Queries
from skdisc._results._findings import CaseFindings
from skdisc._task._task import Task
from skdisc._utils._hashing import KeyIndex, NumberedColumns, combined, hash_of
from skdisc._utils._validation import cast_if_lossless

ROWS_AT_ONCE = 100_000


class Prober:
    """Queries the model about many inputs at once, under all protected combinations.

    An input is the non-protected part of a row, and a variant of it is a row with one of the
    combinations of protected values. An input is discriminatory if the outcomes of two variants
    differ by more than `min_gap`, whatever the protected values of the row it was taken from.

    Parameters
    ----------
    task : Task
    min_gap : float
        Gap between outcomes that must be exceeded.

    Attributes
    ----------
    combos : ndarray of int, shape (n_combos, n_protected)
        The combinations as codes, in the order of a grid of shape `shape`.
    largest_gap : float
        The largest gap between outcomes so far.

    Examples
    --------
    >>> from skdisc.extending import People
    >>> from skdisc.individual import Themis
    >>> X = pd.DataFrame({"sex": ["F", "F", "M", "M"], "age": [20, 30, 40, 50]})
    >>> model = lambda rows: ((rows["sex"] == "M") | (rows["age"] > 40)).astype(int)
    >>> detector = Themis(protected="sex", random_state=0).fit(X, model=model)
    >>> task = Task.open(detector, People(X))
    >>> prober = Prober(task, min_gap=0.0)
    >>> outcomes = prober.outcomes(task.codes)  # of each row as a woman, and as a man
    >>> outcomes
    array([[0., 1.],
           [0., 1.],
           [0., 1.],
           [1., 1.]])
    >>> prober.is_case(outcomes)
    array([ True,  True,  True, False])
    """

    def __init__(self, task: Task, min_gap: float) -> None:
        self.space, self.budget, self._task = task.space, task.budget, task
        self.min_gap = min_gap
        self.combos = self.space.combos()
        self.shape = tuple(len(self.space.columns[j].probes) for j in self.space.p_index)
        self.n_combos = len(self.combos)
        self.tests_at_once = max(1, ROWS_AT_ONCE // self.n_combos)  # memory
        self.largest_gap = 0.0
        self._varied = {j: k for k, j in enumerate(self.space.p_index.tolist())}

    @property
    def queries(self) -> Queries | None:
        """The queries of the task."""
        return self._task.queries

    @cached_property
    def order(self) -> np.ndarray:
        """Positions of the combinations, the most frequent among the rows of X first."""
        return np.argsort(-self._shares, kind="stable")

    def outcomes(self, codes: np.ndarray) -> np.ndarray:
        """Return the outcomes of all variants of new inputs.

        Parameters
        ----------
        codes : ndarray of int, shape (n_inputs, n_columns)

        Returns
        -------
        ndarray of float, shape (n_queried, n_combos)
            Only the first inputs, if the time budget ends.

        Raises
        ------
        ModelError
            If the model raises an error or returns something other than outcomes.
        """
        parts = [np.empty(0)]
        for piece in self.budget.pieces(len(codes), ROWS_AT_ONCE, self.n_combos):
            if piece.start and not self.budget.affords(0):
                break
            parts.append(self.queries.ask(self.space.variants(codes[piece], self.combos)))
        outcomes = np.concatenate(parts).reshape(-1, self.n_combos)
        return np.asfortranarray(outcomes)  # much faster to reduce over few combinations

    def draw_combos(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw protected combinations as codes, as frequent as in X, or uniformly without X.

        Draws do not depend on the names of values, as combinations are sorted by frequency.
        """
        shares = self._shares[self.order]
        return self.combos[rng.choice(self.order, n, p=shares / shares.sum())]

    @cached_property
    def _shares(self):
        """Number of rows of X with each combination, or nearest to it; without X, 1."""
        X = self._task.X
        if X is None:
            return np.ones(self.n_combos)
        columns = [self.space.columns[j] for j in self.space.p_index]
        numbered = self._task.people.numbered
        codes = np.column_stack([c.encode(X[c.name], numbered) for c in columns])
        keys = codes.astype(np.uint64) @ self.space.multipliers[self.space.p_index]
        ids, first = KeyIndex().add(keys)
        near = np.abs(codes[first][:, None, :] - self.combos).sum(axis=2).argmin(axis=1)
        return np.bincount(near[ids], minlength=self.n_combos)

    def is_case(self, outcomes: np.ndarray) -> np.ndarray:
        """Return a boolean mask of the discriminatory inputs, given `outcomes`."""
        gap = outcomes.max(axis=1) - outcomes.min(axis=1)
        self.largest_gap = max(self.largest_gap, gap.max(initial=0.0))
        return gap > self.min_gap

    def couples(self, outcomes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Choose an unfavorable and a favorable variant of each discriminatory input.

        For decisions, two variants that differ in one column only, with the most frequent
        combinations, so that a case is realistic. They exist, as the combinations are a full grid:
        on a way from an unfavorable to a favorable variant, one column changed at a time, one step
        changes the decision. For probabilities and values, the two variants with the largest gap.

        Returns
        -------
        low, high : ndarray of int, shape (n_inputs,)
            Positions in `combos`.
        """
        if self.queries.output != "decision" or self.n_combos == 2 or not len(outcomes):
            return outcomes.argmin(axis=1), outcomes.argmax(axis=1)
        favorable = (outcomes > 0.5).reshape(-1, *self.shape)
        has_favorable_neighbor = np.zeros_like(favorable)
        for axis in range(1, favorable.ndim):
            has_favorable_neighbor |= favorable.any(axis=axis, keepdims=True)
        low = self._most_frequent(has_favorable_neighbor & ~favorable)
        is_neighbor = (self.combos[low][:, None, :] != self.combos).sum(axis=2) == 1
        return low, self._most_frequent(is_neighbor & favorable.reshape(outcomes.shape))

    def _most_frequent(self, is_candidate):
        """Return, for each input, the most frequent of the combinations that are True."""
        is_candidate = is_candidate.reshape(len(is_candidate), -1)
        return self.order[np.take(is_candidate, self.order, axis=1).argmax(axis=1)]

    def cases(
        self,
        codes: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        outcome: np.ndarray,
        altered_outcome: np.ndarray,
    ) -> CaseFindings:
        """Return the findings of discriminatory inputs: unfavorable against favorable variant.

        Parameters
        ----------
        codes : ndarray of int, shape (n_inputs, n_columns)
        low, high : ndarray of int, shape (n_inputs,)
            Positions in `combos` of the unfavorable and of the favorable variant: see `couples`.
        outcome, altered_outcome : ndarray of float, shape (n_inputs,)
            The outcomes of the unfavorable and of the favorable variant.
        """
        original, altered = (
            partial(_frame, self.space, codes, self.combos[combo]) for combo in (low, high)
        )
        return CaseFindings(original, altered, outcome, altered_outcome, space=self.space)

    def rows(
        self, X: pd.DataFrame, numbered: NumberedColumns | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the outcomes of rows of X as they are, and of all their variants.

        Rows keep unprotected values that are unknown to the space. A row that is one of its
        variants is queried as such.

        Parameters
        ----------
        X : DataFrame
        numbered : NumberedColumns, optional
            The values of X as numbers, if they are known.

        Returns
        -------
        original_outcomes : ndarray of float, shape (n_rows,)
            Only the first rows, if a budget ends.
        outcomes : ndarray of float, shape (n_rows, n_combos)

        Raises
        ------
        ModelError
            If the model raises an error or returns something other than outcomes.
        """
        original_outcomes, outcomes = [np.empty(0)], [np.empty(0)]
        rows_each = self.n_combos + 1
        n = self.budget.allow(len(X), rows_each)
        if n < len(X):
            X, numbered = X.iloc[:n], None
        X = self._in_dtypes_of_space(X)
        keys, variant_keys = self._row_keys(X, numbered)
        for piece in self.budget.pieces(len(X), ROWS_AT_ONCE, rows_each):
            part = X if piece.stop - piece.start >= len(X) else X.iloc[piece]
            if self.budget.allow(len(part), rows_each) < len(part):
                break  # the time is up
            make = partial(self._variants, part)
            outcomes.append(self.queries.decide(make, variant_keys[piece].ravel()))
            original_outcomes.append(self.queries.decide(part, keys[piece]))
        return np.concatenate(original_outcomes), np.concatenate(outcomes).reshape(
            -1, self.n_combos
        )

    def n_distinct(self, X: pd.DataFrame) -> np.ndarray:
        """Return how many different rows each row of X and its variants are."""
        row_keys, variant_keys = self._row_keys(self._in_dtypes_of_space(X), None)
        return self.n_combos + ~(variant_keys == row_keys[:, None]).any(axis=1)

    def _row_keys(self, X, numbered):
        """Return a key of each row, shape (n_rows,), and of its variants, (n_rows, n_combos)."""
        numbered = numbered or NumberedColumns(X)
        hashes, variant_hashes = [], []
        for j, name in enumerate(X.columns):
            if j in self._varied:
                hashes.append(hash_of(X[name]))  # in the dtype of the space
                variant_hashes.append(hash_of(pd.Series(self._decoded(j, slice(None)))))
            else:
                hashes.append(numbered.hash_of(name))
                variant_hashes.append(hashes[-1][:, None])
        return combined(hashes, len(X)), combined(variant_hashes, (len(X), self.n_combos))

    def _variants(self, X, positions):
        """Return some variants of rows of X; variant k of row i has the position i n_combos + k."""
        row, combo = np.divmod(positions, self.n_combos)
        columns = {
            name: self._decoded(j, combo)
            if j in self._varied
            else _kept(X[name].array.take(row), X[name].dtype)
            for j, name in enumerate(X.columns)
        }
        frame = pd.DataFrame(columns, copy=False)
        frame.columns = X.columns
        return frame

    def _decoded(self, j, combo):
        """Return the values of a protected column in some combinations."""
        column = self.space.columns[j]
        return _kept(column.decode(self.combos[combo, self._varied[j]]), column.dtype)

    def row_cases(
        self, X: pd.DataFrame, original_outcomes: np.ndarray, outcomes: np.ndarray
    ) -> tuple[np.ndarray, CaseFindings]:
        """Return the cases among rows: each row against its closest variant with another outcome.

        Returns
        -------
        positions : ndarray of int
            Positions of the rows with a case.
        findings : CaseFindings
        """
        gap = np.abs(outcomes - original_outcomes[:, None])
        self.largest_gap = max(self.largest_gap, gap.max(initial=0.0))
        positions = np.flatnonzero(gap.max(axis=1) > self.min_gap)
        rows = X.iloc[positions]
        distance = -gap[positions]
        if self.queries.output == "decision":
            codes = self.space.encode(rows)[:, self.space.p_index]
            distance = (codes[:, None, :] != self.combos).sum(axis=2).astype(float)
        distance[gap[positions] <= self.min_gap] = np.inf
        chosen = distance.argmin(axis=1)
        altered = self._altered(self._in_dtypes_of_space(rows), self.combos[chosen])
        return positions, CaseFindings(
            rows,
            altered,
            outcome=original_outcomes[positions],
            altered_outcome=outcomes[positions, chosen],
            space=self.space,
            row=positions,
        )

    def _altered(self, X, combos):
        """Return the rows with these protected codes, one combination per row."""
        X = X.copy()
        for j, codes in zip(self.space.p_index, combos.T, strict=True):
            column = self.space.columns[j]
            X[column.name] = column.decode(codes)
        return X

    def _in_dtypes_of_space(self, X):
        """Cast protected columns to the dtypes of the space if the cast is lossless."""
        columns = [self.space.columns[j] for j in self.space.p_index]
        columns_to_cast = [c for c in columns if X[c.name].dtype != c.dtype]
        if not columns_to_cast:
            return X
        X = X.copy()
        for column in columns_to_cast:
            cast = cast_if_lossless(X[column.name], column.dtype)
            X[column.name] = X[column.name] if cast is None else cast
        return X


def _kept(values, dtype):
    """Return values such that their dtype is kept; of objects, pandas 3 would infer text."""
    return pd.Series(values, dtype=object) if dtype == np.dtype(object) else values


def _frame(space, codes, combos):
    """Return rows with these protected codes, one combination per row, as a DataFrame."""
    rows = codes.copy()
    rows[:, space.p_index] = combos
    return space.decode(rows)


def n_inputs(space, varied=None):
    """Return the number of possible inputs of a space, whose columns are `varied`."""
    columns = [space.columns[j] for j in (space.np_index if varied is None else varied)]
    return math.prod(c.size - c.least for c in columns)


def all_inputs(space, varied, rng):
    """Return all possible inputs as rows of codes, in random order; see `n_inputs`."""
    codes = np.zeros((n_inputs(space, varied), len(space)), dtype=np.int64)
    codes[:, space.p_index] = space.combos()[0]
    columns = [space.columns[j] for j in varied]
    digits = np.unravel_index(
        rng.permutation(len(codes)), [c.size - c.least for c in columns] or [1]
    )
    # Without columns there is one input: codes of one array, and no column for it.
    for j, column, digit in zip(varied, columns, digits, strict=False):
        codes[:, j] = column.least + digit
    return codes


def small_dtype(space):
    """Return the smallest dtype that holds all codes of a space, to store many rows."""
    return np.result_type(*(np.min_scalar_type(-max(c.size, 2)) for c in space.columns))


def count_by_value(prober, n_tested, before, after):
    """Count, for each protected value, the inputs tested and the cases that change it.

    Each input is tested with all values, so the first count is the same for all.

    `n_tested`: number of inputs tested. `before` and `after`, of shape (n_cases, n_protected): the
    protected codes of the two variants of each case.
    """
    counts = {}
    for position, j in enumerate(prober.space.p_index):
        column = prober.space.columns[j]
        a, b = before[:, position], after[:, position]
        for code in column.probes:
            n_found = int(np.sum((a != b) & ((a == code) | (b == code))))
            counts[f"{column.name}={column.text(code)}"] = (n_tested, n_found)
    return counts
