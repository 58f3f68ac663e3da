"""Residuals of outcomes and protected parts given the legitimate columns."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skdisc._expectations import Covariates, deal_rows, learn, n_splits_of
from skdisc.subgroup._disparity_pursuit._adjustment import Residuals


def adjust(
    rows: Any,
    is_part: np.ndarray,
    space: Any,
    columns: Sequence[Hashable] | None,
    nuisance: Any,
    rng: np.random.Generator,
    *,
    folds: np.ndarray | None = None,
    checked: Sequence[int] | None = None,
) -> Residuals:
    """Adjust outcomes and memberships in protected parts for the legitimate columns.

    Parameters
    ----------
    rows : Counted or Summed
        Rows with one outcome each.
    is_part : ndarray of bool, shape (n_parts, n_rows)
    columns : sequence of column names, or None
        The legitimate columns; None: candidates are centered in their own contexts instead.
    nuisance : {"boosting", "additive"} or estimator
    folds : ndarray of int, shape (n_splits, n_rows), optional
        Those of `in_folds`; None: drawn here.
    checked : sequence of int, optional
        The parts for which crossings of legitimate columns are looked at; None: all.
    """
    y, root = rows.tree_target.astype(float), np.sqrt(rows.mass)
    cluster = None
    if rows.cluster is not None:
        cluster = np.unique(rows.cluster, return_inverse=True)[1]
    if not len(y):
        return Residuals(
            y, is_part.astype(float), root, root, None, y, cluster, people=rows.frequency
        )
    X = rows.X[list(columns or [])]
    learned = learn(
        Covariates.of(X, space),
        y,
        is_part.T,
        rng,
        weight=rows.weight,
        people=rows.frequency,
        cluster=cluster,
        learner=nuisance,
        X=X,
        folds=folds,
        checked=checked,
    )
    return Residuals(
        learned.outcome * root,
        learned.parts.T * root,
        root,
        learned.inflation(),
        learned,
        y * root,
        cluster,
        is_centered=columns is None,
        people=rows.frequency,
    )


def in_folds(rows: Any, nuisance: Any, rng: np.random.Generator) -> tuple[Any, np.ndarray | None]:
    """Return rows whose people are dealt into folds, and the folds.

    The people of a row with a frequency are dealt at random as if each had a row, and the row is
    divided accordingly. In one fold, equal people with one outcome would get their expectation from
    those with the other outcome only.

    `nuisance`: {"boosting", "additive"} or estimator. Returns `folds`, of shape (n_splits, n_rows):
    None if there is nothing to deal: then `learn` draws folds of rows.
    """
    name = nuisance if isinstance(nuisance, str) else ""
    if rows.frequency is None or name == "additive":
        return rows, None
    n_splits = n_splits_of(int(rows.frequency.sum())) if name else 1
    row, people, folds = deal_rows(rows.frequency, n_splits, rng)
    return replace(rows.at(row), frequency=people), folds
