"""Columns of whole numbers that look like codes, such as zip codes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from skdisc._expectations._covariates import PEOPLE_PER_VALUE, Covariates
from skdisc._expectations._least_squares import Spline

_LEVEL = 0.001


@dataclass(frozen=True)
class CodeColumn:
    """A column of whole numbers whose values tell more than a smooth curve over them."""

    name: Any
    n_values: int


def code_columns(covariates: Covariates, targets: np.ndarray, sampling: Any) -> list[CodeColumn]:
    """Return the columns that look like codes.

    Whole numbers, at least ten people for each value, and the values explain more of a target
    than the spline does by an F test, at p < .001 corrected for the number of targets.

    Shapes: `targets` (n_rows, n_targets).
    """
    n, code_like = sampling.n_people(covariates.n_rows), []
    mass = np.ones(covariates.n_rows) if sampling.mass is None else sampling.mass
    mass = mass * n / mass.sum()
    for name, x, is_number in zip(
        covariates.names, covariates.values, covariates.is_number, strict=True
    ):
        if not is_number or np.isnan(x).any() or not (x == np.rint(x)).all():
            continue
        values, code = np.unique(x, return_inverse=True)
        if len(values) < 3 or n < PEOPLE_PER_VALUE * len(values):
            continue
        size = np.bincount(code, mass)[:, None]
        means = np.column_stack([np.bincount(code, mass * y) for y in targets.T]) / size
        within = (mass[:, None] * (targets - means[code]) ** 2).sum(axis=0)
        curve = Spline(x, sampling.people).columns(values)
        curve = np.column_stack([np.ones(len(values)), curve]) * np.sqrt(size)
        slopes, _, rank, _ = np.linalg.lstsq(curve, means * np.sqrt(size), rcond=None)
        between = ((means * np.sqrt(size) - curve @ slopes) ** 2).sum(axis=0)
        free, rest = len(values) - rank, n - len(values)
        if free < 1:
            continue
        f = (between / free) / np.maximum(within / rest, 1e-300)
        if (special.fdtrc(free, rest, f) < _LEVEL / targets.shape[1]).any():
            code_like.append(CodeColumn(name, len(values)))
    return code_like


def note_on_codes(column: CodeColumn) -> str:
    """Return a note about a column that looks like codes."""
    return (
        f"{str(column.name)!r} looks like a code: its {column.n_values} values tell people apart "
        "as no smooth curve over the numbers does. Each value was adjusted for on its own; if it "
        "is a code, store it as text, so that groups are not described by ranges of it."
    )
