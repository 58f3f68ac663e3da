"""Functions of legitimate columns and protected cells, centered over the cells."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skdisc._expectations import Covariates, Expectations, Unlearned, learn, widening
from skdisc._space._items import Items
from skdisc._utils._frequency import taken

_LEAST = 10  # people of a cell, in each half
_FULL = 1 / 3  # terms per person above which least squares leaves too little


@dataclass(frozen=True)
class ProtectedCells:
    """The combinations of protected values that enough people have.

    `items`: all items, without rows; protected columns come first. `combos`, of shape (n_cells,
    n_protected): the item of each cell in each protected column.
    """

    items: Items
    combos: np.ndarray

    @classmethod
    def of(cls, items: Items) -> "ProtectedCells":
        """Return the cells of the rows of some items."""
        codes = _protected_codes(items)
        combos, size = np.unique(codes, axis=0, return_counts=True)
        enough = (size >= 2 * _LEAST) & (combos >= 0).all(axis=1)
        order = np.argsort(-size, kind="stable")  # whatever their names
        return cls(items.bare(), combos[order[enough[order]]])

    def __len__(self) -> int:
        return len(self.combos)

    @property
    def columns(self) -> set:
        return {predicate.column for predicate in self.items.protected_predicates}

    @property
    def indicators(self) -> np.ndarray:
        """Whether a cell has a protected item, shape (n_cells, n_protected_items)."""
        protected_items = np.flatnonzero(self.items.protected)
        return (self.combos[:, :, None] == protected_items).any(axis=1).astype(float)

    def numbers(self, X: pd.DataFrame) -> np.ndarray:
        """Return the number of the cell of each row, -1 for one without."""
        codes = _protected_codes(self.items.on(X))
        cell = np.full(len(codes), -1)
        for number, combo in enumerate(self.combos):
            cell[(codes == combo).all(axis=1)] = number
        return cell


def _protected_codes(items):
    """Return the items of the protected columns, shape (n_rows, n_protected)."""
    n = len(np.unique(items.feature[items.protected]))
    return items.codes[:n].T


@dataclass(frozen=True)
class Centering:
    r"""Residuals of outcomes and of cell memberships given the legitimate columns.

    A function :math:`h(x, a)` is centered as :math:`h - \sum_a \hat P(a \mid x)\, h(x, a)`. What
    depends on x alone cancels exactly, however well it predicts the outcome, and errors of
    :math:`\hat P` are multiplied by those of the expected outcome.

    What is compared in the end is also *free* of what the least squares of the engine explain: main
    effects, each value that ten people share, and the cells of crossings that joined.

    Attributes
    ----------
    residual : ndarray of float, shape (n_rows,)
        The outcome less what is expected given the legitimate columns.
    parts : ndarray of float, shape (n_rows, n_cells), or None
        Memberships of the cells less the shares expected. None: functions are taken as they are,
        and residuals are the outcomes.
    learned : tuple of Expectations
        Expectations of the rows in blocks, one after the other; none of some of the rows.
    """

    residual: np.ndarray
    cell: np.ndarray
    parts: np.ndarray | None
    learned: tuple[Expectations, ...] = ()

    @classmethod
    def of(
        cls,
        covariates: Covariates | None,
        cell: np.ndarray,
        n_cells: int,
        outcome: np.ndarray,
        nuisance: Any,
        rng: np.random.Generator,
        X: pd.DataFrame | None = None,
    ) -> "Centering":
        """Learn both expectations.

        `covariates`: the legitimate columns; None: nothing is centered. `nuisance`: {"boosting",
        "additive"} or estimator. `rng`: draws folds. `X`, of shape (n_rows, n_columns): the
        legitimate columns as an estimator gets them.
        """
        if covariates is None:
            return cls(outcome, cell, None)
        parts = (cell[:, None] == np.arange(n_cells)).astype(float)
        # One split: dividing people into halves moves a verdict more than the folds of trees do.
        expectations = learn(
            covariates, outcome, parts, rng, learner=nuisance, X=X, n_splits=1, tosses=True
        )
        return cls(expectations.outcome, cell, expectations.parts, (expectations,))

    def center(self, values: np.ndarray) -> np.ndarray:
        """Return a function of cells, an array of shape (n_rows, n_cells), centered: (n_rows,)."""
        if self.parts is None:
            return values[np.arange(len(values)), self.cell]
        # The parts of a person add up to 0. With differences, what depends on x alone is exactly 0.
        return (self.parts * (values - values[:, :1])).sum(axis=1)

    def free(self, values: np.ndarray) -> np.ndarray:
        """Return a function of cells, centered and free of main effects, shape (n_rows,)."""
        centered = self.center(values)
        for expectations, block in self._blocks():
            centered[block] = expectations.residual(centered[block, None])[:, 0]
        return centered

    def unlearned(self, part: np.ndarray, rows: np.ndarray | None = None) -> list[list[Unlearned]]:
        """Return what crossings would still add to the slope of residuals on a free function.

        `rows`: the rows that the slope is of; None: all. Returns a list of list of Unlearned: one
        list per block, the surest first (`Crossings.to_widen`).
        """
        return [
            expectations.left_to_learn(self.residual[block], part[block], taken(rows, block))
            for expectations, block in self._blocks()
        ]

    def widening(self, part: np.ndarray, rows: np.ndarray | None = None) -> tuple[float, float]:
        """Return by how much the ends of the interval of such a slope move down and up."""
        square = part**2 if rows is None else np.where(rows, part**2, 0)
        total = max(square.sum(), 1e-300)
        share = [square[block].sum() / total for _, block in self._blocks()]
        ends = [widening(crossings) for crossings in self.unlearned(part, rows)]
        down, up = np.reshape(ends, (-1, 2)).T
        return float(np.dot(share, down)), float(np.dot(share, up))

    @property
    def freedom(self) -> float:
        r"""The share of the variance of a slope that squares of residuals show.

        Least squares leaves :math:`1 - rank / n` of it. What learners take for a law increases
        the variance of both residuals, as it does that of a coin, by :math:`\tau`. Squares show
        that of each, and not that people of one fold who are alike have it in common, which
        increases the variance of the slope by :math:`1 + \tau` once more (by simulation, see
        doc/expectations.md).
        """
        n = max(len(self.cell), 1)
        taken = sum(e.taken_for_law * len(e.outcome) for e in self.learned) / n
        return max(1 - self._rank / n, 1 / n) / (1 + taken)

    @property
    def is_full(self) -> bool:
        """Whether the legitimate columns have too many values for so few people."""
        return self._rank > max(_FULL * len(self.cell), 1)

    @property
    def _rank(self):
        return sum(expectations.rank for expectations in self.learned)

    def _blocks(self):
        """Yield expectations, with the rows they are of."""
        start = 0
        for expectations in self.learned:
            yield expectations, slice(start, start + len(expectations.outcome))
            start += len(expectations.outcome)

    def at(self, rows: np.ndarray) -> "Centering":
        """Return some of the people, by their positions or a mask, to learn from."""
        return Centering(self.residual[rows], self.cell[rows], taken(self.parts, rows))

    def joined(self, centering: "Centering") -> "Centering":
        """Return the people of both."""
        return Centering(
            np.append(self.residual, centering.residual),
            np.append(self.cell, centering.cell),
            None if self.parts is None else np.vstack([self.parts, centering.parts]),
            (*self.learned, *centering.learned),
        )
