"""Counterfactual rows, wherever they come from: a causal model, a function, or a file."""

import numpy as np
import pandas as pd
from sklearn.base import clone

from skdisc.causal._interventions import read_do
from skdisc.causal._scm import StructuralCausalModel


def ready(source, X):
    """Return a source that can answer: an unfitted causal model is cloned and fitted on X."""
    if isinstance(source, StructuralCausalModel) and not hasattr(source, "mechanisms_"):
        return clone(source).fit(X)
    return source


def counterfactual_rows(source, X, do, *, block=()):
    """Return what the rows of X would be under an intervention, and their decisions where given.

    Parameters
    ----------
    source : StructuralCausalModel, callable, DataFrame, (DataFrame, decisions) or None
        A causal model, fitted on X if it is not yet; a callable ``(X, do) -> frame``; a frame
        aligned with X, row by row, whose missing columns are those of X after `do`; the same with
        one decision per row; None: nothing follows from what `do` sets.
    X : DataFrame of shape (n_samples, n_features)
    do : dict or None
        By column a value, a map from value to value, or a column. None only where frames say it.
    block : sequence of (parent, child) pairs, default=()
        Edges along which a causal model passes nothing on.

    Returns
    -------
    rows : DataFrame of shape (n_samples, n_features)
        With the columns and the index of X.
    decisions : ndarray of shape (n_samples,) or None

    Raises
    ------
    ValueError
        If a frame has another number of rows, unknown columns or missing values that X has not.
    TypeError
        If `source` is none of these.
    """
    source, decisions = ready(source, X), None
    if isinstance(source, StructuralCausalModel):
        return source.counterfactual(X, do, block=block), None
    if len(block):
        raise ValueError("block= needs a StructuralCausalModel as the source of counterfactuals.")
    if isinstance(source, tuple) and len(source) == 2:
        source, decisions = source
        decisions = np.asarray(decisions)
        refuse_length("decisions", len(decisions), X)
    if source is None:
        source = pd.DataFrame(index=X.index)
    elif not isinstance(source, pd.DataFrame):
        if not callable(source):
            raise TypeError(
                "counterfactuals must be a StructuralCausalModel, a callable (X, do) -> frame, a "
                f"DataFrame aligned with X or a pair of it and decisions, got {type(source)!r}."
            )
        source = _called(source, X, do)
    return _aligned(source, X, do), decisions


def _called(source, X, do):
    frame = source(X.copy(), do)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"The callable given as counterfactuals returned a {type(frame).__name__}; a DataFrame "
            "with the columns of X is needed."
        )
    return frame


def _aligned(frame, X, do):
    """Return the columns of X, those of `frame` where it has them."""
    refuse_length("counterfactuals", len(frame), X)
    unknown = [c for c in frame.columns if c not in X.columns]
    if unknown:
        raise ValueError(
            f"The counterfactual rows have the columns {unknown!r}, which X has not. Select or "
            f"rename them; columns of X: {list(X.columns)!r}."
        )
    rows = frame.set_axis(X.index, axis=0).reindex(columns=X.columns)
    set_here = {} if do is None else read_do(do, X)
    for name in X.columns:
        if name not in frame.columns:
            rows[name] = set_here.get(name, X[name])
        elif (rows[name].isna() & X[name].notna()).any():
            raise ValueError(f"The counterfactual rows have missing values in column {name!r}.")
    return rows


def refuse_length(what, n, X):
    """Refuse what is not one for each row of X."""
    if n != len(X):
        raise ValueError(
            f"{what} has {n} rows for the {len(X)} rows of X: they must be aligned, one for each."
        )


def is_frame(source):
    """Say whether a source is a table of rows, which knows only those."""
    return isinstance(source, (pd.DataFrame, tuple))


def take_rows(source, stay, at=slice(None)):
    """Return a source for rows at some positions, of those rows of the X given that stay."""
    frame, *decisions = source if isinstance(source, tuple) else (source,)
    if not isinstance(frame, pd.DataFrame):
        return source
    at = np.flatnonzero(stay)[at]
    for what, given in zip(("counterfactuals", "decisions"), (frame, *decisions), strict=False):
        refuse_length(what, len(given), stay)
    frame, decisions = frame.iloc[at], [np.asarray(d)[at] for d in decisions]
    return (frame, *decisions) if isinstance(source, tuple) else frame
