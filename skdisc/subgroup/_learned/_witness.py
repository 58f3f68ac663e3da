"""The witness of a learned audit: a regression of residuals, and the rules that it is put into."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdisc._blackbox._training import threads_for
from skdisc._space._items import Items
from skdisc._space._subgroup import Group
from skdisc.subgroup._estimation._contrasts import context_of, protected_part
from skdisc.subgroup._estimation._outcomes import Summed
from skdisc.subgroup._lattice._conjunctions import Patterns
from skdisc.subgroup._learned._centering import Centering, ProtectedCells

_FOLDS, _LEAF = 3, 20
_MIRROR = 0.99  # correlation of two rules that are one
_REFINED = 40  # rules that are compared by their centered parts


@dataclass(frozen=True)
class WitnessDesign:
    """Legitimate columns as numbers that mean the same on any rows.

    `middle`: the median of each numeric column, for missing values.
    """

    space: Any
    columns: list
    middle: dict

    @classmethod
    def of(cls, X: pd.DataFrame, space: Any, columns: Sequence[Hashable]) -> "WitnessDesign":
        """Return the design of some columns of X."""
        numeric = [c for c in columns if space[c].kind == "numeric"]
        numbers = {c: X[c].to_numpy(dtype=float, na_value=np.nan) for c in numeric}
        middle = {c: float(np.nanmedian(x)) for c, x in numbers.items() if not np.isnan(x).all()}
        used = [c for c in columns if c in middle or c not in numbers]
        return cls(space, used, middle)

    def on(self, X: pd.DataFrame) -> np.ndarray:
        """Return the numbers of some rows, shape (n_rows, n_terms)."""
        parts = [np.empty((len(X), 0))]
        for name in self.columns:
            if name in self.middle:
                x = X[name].to_numpy(dtype=float, na_value=np.nan)
                is_missing = np.isnan(x)
                parts.append(
                    np.column_stack([np.where(is_missing, self.middle[name], x), is_missing])
                )
            else:
                codes = self.space[name].encode(X[name])
                parts.append((codes[:, None] == np.arange(len(self.space[name].values))) + 0.0)
        return np.hstack(parts)


@dataclass(frozen=True)
class Witness:
    """A learned function of legitimate columns and protected cells.

    Attributes
    ----------
    model : estimator
        Fitted to the numbers of the columns and the indicators of the cell.
    indicators : ndarray of float, shape (n_cells, n_protected_items)
    is_group : bool
        Whether the function is the indicator of positive predictions.
    """

    model: Any
    indicators: np.ndarray
    kind: str
    is_group: bool

    def values(self, numbers: np.ndarray) -> np.ndarray:
        """Return the function for each row and each cell, shape (n_rows, n_cells)."""
        values = np.empty((len(numbers), len(self.indicators)))
        if not len(numbers):  # no person of a half has a score in this part
            return values
        for cell, indicator in enumerate(self.indicators):
            table = np.hstack([numbers, np.broadcast_to(indicator, (len(numbers), len(indicator)))])
            with threads_for(len(table)):
                values[:, cell] = self.model.predict(table)
        return (values > 0).astype(float) if self.is_group else values


def learn(
    learner: Any,
    numbers: np.ndarray,
    cells: ProtectedCells,
    centering: Centering,
    is_group: bool,
    rng: np.random.Generator,
) -> Witness:
    """Learn a witness from the residuals of some people.

    `learner` ({"auto", "linear", "boosting"} or regressor): "auto": of main effects and trees, what
    is more correlated with residuals out of fold. Shapes: `numbers` (n_rows, n_terms).
    """
    indicators = cells.indicators
    table = np.hstack([numbers, indicators[centering.cell]])
    kinds = ["linear", "boosting"] if isinstance(learner, str) and learner == "auto" else [learner]
    if len(kinds) > 1:
        fold = rng.permutation(len(table)) % _FOLDS
        gains = [_gain(k, table, numbers, indicators, centering, is_group, fold) for k in kinds]
        kinds = [kinds[int(np.argmax(gains))]]
    name = kinds[0] if isinstance(kinds[0], str) else type(kinds[0]).__name__
    model = _fitted(kinds[0], table, centering.residual)
    return Witness(model, indicators, name, is_group)


def _gain(kind, table, numbers, indicators, centering, is_group, fold):
    """Return the standardized covariance of a learner's witness with residuals out of fold."""
    products = np.zeros(len(table))
    for k in range(_FOLDS):
        rest, held_out = fold != k, fold == k
        model = _fitted(kind, table[rest], centering.residual[rest])
        part = centering.at(held_out)
        values = Witness(model, indicators, "", is_group).values(numbers[held_out])
        centered = part.center(values)
        products[held_out] = centered * part.residual / max(np.sqrt((centered**2).mean()), 1e-300)
    return standardized(products)


def standardized(values: np.ndarray) -> float:
    """Return the mean in its standard errors; 0 for values that are all 0."""
    spread = values.std()
    return float(values.mean() / spread * np.sqrt(len(values))) if spread > 0 else 0.0


def _fitted(learner, table, target):
    """Return a fitted regression of residuals."""
    if isinstance(learner, str):
        if learner == "linear":
            model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-1, 4, 6)))
        else:
            model = HistGradientBoostingRegressor(
                max_iter=60,
                max_leaf_nodes=6,
                min_samples_leaf=_LEAF,
                l2_regularization=1.0,
                learning_rate=0.1,
                early_stopping=False,
                random_state=0,
            )
        with threads_for(len(table)):
            return model.fit(table, target)
    try:
        model = clone(learner).fit(table, target)
        if not np.isfinite(model.predict(table[:1])).all():
            raise ValueError("its predictions are not finite")
    except Exception as error:
        raise ValueError(
            f"witness={type(learner).__name__} failed on {table.shape[1]} columns of numbers: "
            f"{error}. It must be a regressor."
        ) from error
    return model


def in_cells(group: Group, X: pd.DataFrame, cells: ProtectedCells) -> np.ndarray:
    """Return whether each row would be in a rule if it were of each cell, (n_rows, n_cells)."""
    inside, protected = np.ones(len(cells), dtype=bool), cells.columns
    for item in cells.items.numbers_of(protected_part(group, protected)):
        inside &= (cells.combos == item).any(axis=1)
    return context_of(group, protected).mask(X)[:, None] & inside


def in_words(rows: Summed, items: Items, patterns: Patterns, center: Callable) -> tuple:
    """Return the rules that keep most of a witness, one where it is low, one where it is high.

    Parameters
    ----------
    rows : Summed
        Rows whose values are the centered witness.
    patterns : Patterns
        Rules mined from them.
    center : callable
        Takes a rule, returns its centered indicator, shape (n_rows,).

    Returns
    -------
    rules : list of Subgroup
        At most two; one if the other is about the rest of the same context.
    largest : float
        The largest sum of squares of the witness that one of them explains.
    """
    signal = rows.values[0]
    n, total = rows.pattern_sums(patterns)[0][:2]
    squares, rules, indicators, largest = total**2 / np.maximum(n, 1), [], [], 0.0
    for side in (-1, 1):
        order = np.argsort(-np.where(side * total > 0, squares, -1), kind="stable")[:_REFINED]
        best, best_indicator, most = None, None, 0.0
        for i in order[side * total[order] > 0]:
            group = items.subgroup(patterns.items[i])
            indicator = center(group)
            gain = side * (indicator @ signal) / max(np.sqrt(indicator @ indicator), 1e-300)
            if gain > most * (1 + 1e-9):
                best, best_indicator, most = group, indicator, gain
        if best is not None and not any(
            _is_mirror(best_indicator, earlier) for earlier in indicators
        ):
            rules.append(best)
            indicators.append(best_indicator)
            largest = max(largest, most**2)
    return rules, largest


def _is_mirror(f, g):
    """Return whether two centered functions say the same, with opposite signs."""
    return f @ g < -_MIRROR * np.sqrt((f @ f) * (g @ g))
