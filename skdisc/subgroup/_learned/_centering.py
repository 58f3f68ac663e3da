"""Functions of legitimate columns and protected cells, centered over the cells."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdisc._blackbox._training import SMALL_TREES, threads_for
from skdisc._space._items import Items
from skdisc._task._cross_fitting import CrossFitter

_LEAST = 10  # people of a cell, in each half
_RANK = 1e-10  # eigenvalues, relative to the largest, that count as zero
_FULL = 1 / 3  # terms per person above which main effects leave too little


@dataclass(frozen=True)
class ProtectedCells:
    """The combinations of protected values that enough people have.

    Attributes
    ----------
    items : Items
        All items, without rows; those of protected columns come first.
    combos : ndarray of int, shape (n_cells, n_protected)
        The item of each cell in each protected column.
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
        """The protected columns."""
        return {self.items.predicates[i].column for i in np.flatnonzero(self.items.protected)}

    @property
    def indicators(self) -> np.ndarray:
        """Whether a cell has a protected item, shape (n_cells, n_protected_items)."""
        at = np.flatnonzero(self.items.protected)
        return (self.combos[:, :, None] == at).any(axis=1).astype(float)

    def numbers(self, X: pd.DataFrame) -> np.ndarray:
        """Return the number of the cell of each row, -1 for one without."""
        codes = _protected_codes(self.items.on(X))
        found = np.full(len(codes), -1)
        for number, combo in enumerate(self.combos):
            found[(codes == combo).all(axis=1)] = number
        return found


def _protected_codes(items):
    """Return the items of the protected columns, shape (n_rows, n_protected)."""
    n = len(np.unique(items.feature[items.protected]))
    return items.codes[:n].T


@dataclass(frozen=True)
class Centering:
    r"""Residuals of people and, given the legitimate columns, the shares of the protected cells.

    A function :math:`h(x, a)` is centered as :math:`h - \sum_a \hat P(a \mid x)\, h(x, a)`. What
    depends on x alone cancels exactly, however well it predicts the outcome, and errors of
    :math:`\hat P` are multiplied by those of the expected outcome.

    What is compared in the end is also *free* of main effects of the legitimate columns: least
    squares takes them out of residuals and of centered functions. So a column of many values, each
    of few people, of which neither expectation is learned well, does not look like a protected one.

    Attributes
    ----------
    residual : ndarray of float, shape (n_rows,)
        The outcome less what is expected given the legitimate columns.
    cell : ndarray of int, shape (n_rows,)
    share : ndarray of float, shape (n_rows, n_cells), or None
        None: functions are taken as they are, and residuals are the outcomes.
    numbers : ndarray of float, shape (n_rows, n_terms), or None
        The legitimate columns.
    """

    residual: np.ndarray
    cell: np.ndarray
    share: np.ndarray | None
    numbers: np.ndarray | None = None

    @classmethod
    def of(cls, X, numbers, cell, n_cells, outcome, nuisance, fold) -> "Centering":
        """Learn both expectations out of fold.

        Parameters
        ----------
        X : DataFrame
        numbers : ndarray of float, shape (n_rows, n_terms), or None
            The legitimate columns; None: nothing is centered.
        cell : ndarray of int, shape (n_rows,)
        n_cells : int
        outcome : ndarray of float, shape (n_rows,)
        nuisance : {"auto", "linear", "boosting"}
        fold : ndarray of int, shape (n_rows,)

        Returns
        -------
        Centering
        """
        if numbers is None:
            return cls(outcome, cell, None)
        fitter = CrossFitter(X, numbers, fold)
        expected = [fitter.expect(outcome, kind) for kind in _kinds(nuisance)]
        expected = min(expected, key=lambda own: ((outcome - own) ** 2).sum())
        share = _shares(numbers, cell, n_cells, fold, nuisance)
        return cls(outcome - expected, cell, share, numbers)

    def center(self, values: np.ndarray) -> np.ndarray:
        """Return a function of cells, an array of shape (n_rows, n_cells), centered: (n_rows,)."""
        own = values[np.arange(len(values)), self.cell]
        return own if self.share is None else own - (self.share * values).sum(axis=1)

    def free(self, values: np.ndarray) -> np.ndarray:
        """Return a function of cells, centered and free of main effects, shape (n_rows,)."""
        return self._without_main_effects(self.center(values))

    @cached_property
    def left(self) -> np.ndarray:
        """The residuals, free of main effects."""
        return self._without_main_effects(self.residual)

    @property
    def freedom(self) -> float:
        """The share of the variance that least squares on the main effects leaves to residuals."""
        return 1.0 if self._basis is None else 1 - self._basis.shape[1] / len(self.cell)

    @property
    def is_full(self) -> bool:
        """Whether the legitimate columns have too many values for so few people."""
        return self._span is not None and self._span.shape[1] > _FULL * len(self.cell)

    @property
    def _basis(self):
        """The span of the main effects, or None where they would leave too little."""
        return None if self.is_full else self._span

    @cached_property
    def _span(self):
        """An orthonormal basis of the main effects, shape (n_rows, rank), or None."""
        if self.share is None or self.numbers is None or not self.numbers.shape[1]:
            return None
        design = np.column_stack([np.ones(len(self.numbers)), self.numbers])
        design = design / np.maximum(np.sqrt((design**2).sum(axis=0)), 1e-300)
        values, vectors = np.linalg.eigh(design.T @ design)
        known = values > _RANK * max(values[-1], 1e-300)
        return design @ (vectors[:, known] / np.sqrt(values[known]))

    def _without_main_effects(self, values):
        return values if self._basis is None else values - self._basis @ (self._basis.T @ values)

    def at(self, rows: np.ndarray) -> "Centering":
        """Return some of the people, by their positions or a mask."""
        share, numbers = (None if a is None else a[rows] for a in (self.share, self.numbers))
        return Centering(self.residual[rows], self.cell[rows], share, numbers)

    def beside(self, other: "Centering") -> "Centering":
        """Return the people of both."""
        pairs = (self.share, other.share), (self.numbers, other.numbers)
        share, numbers = (None if a is None else np.vstack([a, b]) for a, b in pairs)
        residual = np.append(self.residual, other.residual)
        return Centering(residual, np.append(self.cell, other.cell), share, numbers)


def _shares(numbers, cell, n_cells, fold, nuisance):
    """Return P(cell | x) out of fold, by main effects or trees, whichever predicts better."""
    if n_cells == 1 or not numbers.shape[1]:
        return _predicted(None, numbers, cell, n_cells, fold)
    found = [_predicted(kind, numbers, cell, n_cells, fold) for kind in _kinds(nuisance)]
    truth = cell[:, None] == np.arange(n_cells)
    return min(found, key=lambda own: ((truth - own) ** 2).sum())


def _kinds(nuisance):
    """Return the learners of which the one with the smaller error out of fold is taken."""
    return ["linear", "boosting"] if nuisance == "auto" else [nuisance]


def _predicted(kind, numbers, cell, n_cells, fold):
    """Return the shares of the cells for each row by a learner that did not see its fold."""
    out = np.zeros((len(cell), n_cells))
    for k in np.unique(fold):
        rest, own = fold != k, fold == k
        rest = rest if rest.any() else own
        known = np.unique(cell[rest])
        if kind is None or len(known) == 1:
            out[own] = np.bincount(cell[rest], minlength=n_cells) / rest.sum()
            continue
        if kind == "linear":
            model = make_pipeline(StandardScaler(), LogisticRegression(C=100.0, max_iter=1000))
        else:
            model = HistGradientBoostingClassifier(**SMALL_TREES)
        with threads_for(rest.sum()):
            model.fit(numbers[rest], cell[rest])
            out[np.ix_(own, known)] = model.predict_proba(numbers[own])
    return out
