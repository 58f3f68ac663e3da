"""Margins: how close decisions are to changing, and their slopes along single columns."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from skdisc._blackbox._gradient import model_gradient
from skdisc._blackbox._queries import AnswerCache, Queries
from skdisc.individual._prober import ROWS_AT_ONCE

_TINY = 1e-15
_KIND = {"analytic": "analytic", "autograd": "automatic (PyTorch)"}


@dataclass
class Slopes:
    """Slopes of the margin along the columns that a search may change.

    `change`, of shape (n_rows, n_steps): change of the margin per step up; for nominal columns, the
    range over all values. `up` and `down`, of shape (n_rows, n_steps): codes of nominal columns
    with the highest and the lowest margin.
    """

    change: np.ndarray
    up: np.ndarray | None = None
    down: np.ndarray | None = None

    def targets(self, steps, codes, change, rises):
        """Return the codes after a step of each column that raises or lowers the margin.

        `change`, of shape (n_rows, n_steps): the slopes to follow: at these rows, or with momentum.
        `rises`: whether the margin should rise. The result has shape (n_rows, n_steps). Shapes:
        `codes` (n_rows, n_columns).
        """
        sign, step_codes = np.where(rises[:, None], 1, -1), codes[:, steps.columns]
        ordered = steps.towards(step_codes, np.sign(change) * sign)
        if self.up is not None:
            step_codes = np.where(rises[:, None], self.up, self.down)
        return np.where(steps.is_nominal, step_codes, ordered)


class Margins:
    """Margins of rows of codes, cached, and their slopes.

    Each row queried counts as a query. Where the budget forbids a query the margin is 0.

    Parameters
    ----------
    gradient : {"auto", "analytic", "autograd", "difference"} or callable, default="auto"
        How slopes are computed.

    Attributes
    ----------
    is_flat : bool
        Whether the model returns decisions only, so that most slopes are 0.
    is_value : bool
        Whether margins are values of a regressor or of a decision function.
    """

    def __init__(self, task, steps, gradient="auto"):
        queries, box = task.queries, task.queries.box
        self.space, self.budget, self.steps = task.space, task.budget, steps
        self.favorable, self.gradient = task.favorable, gradient
        self.from_probability = queries.output == "probability" and not box.has_margins
        self.is_value = queries.output == "value"
        # Margins, not probabilities: these are constant to rounding where a model is confident, and
        # have no gradient there.
        kind = queries.output if self.from_probability or self.is_value else "margin"
        self.queries = Queries(
            box,
            favorable=task.favorable,
            space=task.space,
            budget=task.budget,
            output=kind,
            labels=queries.labels,
        )
        self._cache, self._place = AnswerCache(), None
        self._array_at = self._array_columns()
        self.is_flat = not (box.has_margins or self.from_probability or self.is_value)

    def at(self, codes):
        """Return the margin of each row of codes."""
        return self._cache.get(
            self.space.key(codes), lambda new: self._query(codes.take(new, axis=0))
        )

    def _query(self, new):
        """Return the margins of rows not queried before, 0 for those that the budget forbids."""
        margins = np.zeros(len(new))
        for piece in self.budget.pieces(len(new), ROWS_AT_ONCE):
            if self.budget.affords(len(margins[piece])):
                margins[piece] = self.queries.ask(self.space.decode(new[piece]))
                if self.from_probability:
                    margins[piece] = logit(np.clip(margins[piece], _TINY, 1 - _TINY))
        return margins

    def over(self, codes, combos):
        """Return the margins of each row under each protected combination."""
        rows = np.repeat(codes, len(combos), axis=0)
        rows[:, self.space.p_index] = np.tile(combos, (len(codes), 1))
        return self.at(rows).reshape(len(codes), len(combos))

    def slopes(self, codes, revive=True):
        """Return the `Slopes` at rows of codes.

        Slopes of nominal columns and of columns that the model encodes, and, if `revive`, slopes
        of rows where the gradient vanishes, are differences: between a step up and a step down, or
        over all values.
        """
        change = self._derived(codes)
        if change is None:
            change = np.full((len(codes), len(self.steps)), np.nan)
        elif revive and not callable(self.gradient):
            change[(np.nan_to_num(change) == 0).all(axis=1)] = np.nan
        if not np.isnan(change.min(initial=0)):
            return Slopes(change)
        by_rows, step_codes = np.isnan(change), codes[:, self.steps.columns]
        slopes = Slopes(change, step_codes, step_codes.copy())
        everywhere = by_rows.all(axis=0)
        self._difference(codes, np.flatnonzero(everywhere), slopes, np.arange(len(codes)))
        vanished = np.flatnonzero((by_rows & ~everywhere).any(axis=1))
        self._difference(codes[vanished], np.flatnonzero(~everywhere), slopes, vanished)
        return slopes

    def _derived(self, codes):
        """Return the gradient per step of each column, NaN where it is not available, or None."""
        if self.gradient == "difference" or not len(codes) or self.steps.is_nominal.all():
            return None
        if not self.budget.affords(len(codes)):
            return np.ones((len(codes), len(self.steps)))
        model, names = self.queries.box.model, self.space.names
        if callable(self.gradient):
            gradient = np.asarray(self.gradient(self.space.decode(codes)), dtype=float)
        elif self._array_at is not None and (numbers := self.space.numbers(codes)) is not None:
            names, rows = model.feature_names_in_, numbers[:, self._array_at]
            gradient = model_gradient(self.queries.array_model, rows, self.favorable, self.gradient)
        else:
            rows = self.queries.rows_for_model(self.space.decode(codes))
            names = getattr(rows, "columns", names)
            gradient = model_gradient(model, rows, self.favorable, self.gradient)
        if gradient is None:
            if self.gradient != "auto":
                raise ValueError(
                    f"No {_KIND[self.gradient]} gradient is available for "
                    f"{type(model).__name__}. Use gradient='auto' or 'difference', or pass a "
                    "callable that returns the gradient of the margin."
                )
            self.gradient = "difference"
            return None
        self.budget.queries += len(codes)
        return self._per_step(gradient, names)

    def _array_columns(self):
        """Return the positions of the model's columns if it takes arrays, else None."""
        names = getattr(self.queries.box.model, "feature_names_in_", None)
        if (
            names is None
            or self.queries.array_model is None
            or not set(names) <= set(self.space.names)
        ):
            return None
        positions = [self.space.names.index(name) for name in names]
        return slice(None) if positions == list(range(len(self.space))) else positions

    def _per_step(self, gradient, names):
        """Return a gradient in the model's columns as a gradient per step of each column."""
        if gradient.shape[1] != len(names):
            raise ValueError(
                f"The gradient has {gradient.shape[1]} columns; one for each of the {len(names)} "
                "columns of X is needed."
            )
        if self._place is None:
            names = [*names, *self.space.names]  # the model's columns first, then all others
            columns = [self.space.columns[j] for j in self.steps.columns]
            positions = np.array([names.index(c.name) for c in columns], dtype=np.intp)
            is_model_column = positions < gradient.shape[1]
            step = np.where(self.steps.is_nominal, np.nan, [c.step for c in columns])
            self._place = np.where(is_model_column, positions, 0), is_model_column * step
        positions, step = self._place
        return (gradient.T[positions] * step[:, None]).T  # in the memory order of networks

    def _difference(self, codes, steps, slopes, positions):
        """Fill in the slopes of some columns by differences, for the rows at some positions."""
        if not len(steps) or not len(codes):
            return
        variants = [self.steps.variants(codes, k) for k in steps]
        margins = self.at(np.concatenate([codes, *variants]))
        start = len(codes)
        for k, rows in zip(steps, variants, strict=True):
            j = self.steps.columns[k]
            column_margins = margins[start : start + len(rows)].reshape(-1, len(codes))
            values = rows[:, j].reshape(-1, len(codes))
            start += len(rows)
            if self.steps.is_nominal[k]:
                slopes.change[positions, k] = np.ptp(column_margins, axis=0)
                n = np.arange(len(codes))
                slopes.up[positions, k] = values[column_margins.argmax(axis=0), n]
                slopes.down[positions, k] = values[column_margins.argmin(axis=0), n]
            else:
                slopes.change[positions, k] = (column_margins[1] - column_margins[0]) / np.maximum(
                    values[1] - values[0], 1
                )
