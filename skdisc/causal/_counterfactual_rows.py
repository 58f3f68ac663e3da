"""Counterfactual rows from any source: a causal model, a function, or a table."""

import numpy as np
import pandas as pd
from sklearn.base import clone

from skdisc.causal._interventions import read_do
from skdisc.causal._scm import StructuralCausalModel


def ready(source, X):
    """Return a source ready for use; an unfitted causal model is cloned and fitted on X."""
    if isinstance(source, StructuralCausalModel) and not hasattr(source, "mechanisms_"):
        return clone(source).fit(X)
    return source


def ready_each(sources, X):
    """Return the sources ready for use, and the originals of those fitted here; both by name."""
    fitted = {name: ready(source, X) for name, source in sources.items()}
    return fitted, {name: source for name, source in sources.items() if fitted[name] is not source}


def resampled(recipe, fitted, X):
    """Return an unfitted causal model fitted on a sample of the rows that `fitted` was fitted on.

    Its columns are of the kinds that they are among all rows.
    """
    kinds = {
        name: "nominal" if name in fitted.values_ else "numeric"
        for name in fitted.parents_
        if name not in fitted.latent_
    }
    return clone(recipe).set_params(kinds=kinds).fit(X)


def counterfactual_rows(source, X, do, *, block=()):
    """Return the rows of X under an intervention, and their decisions if the source has them.

    Parameters
    ----------
    source : StructuralCausalModel, callable, DataFrame, (DataFrame, decisions) or None
        - A causal model; it is fitted on X if it is not fitted yet.
        - A callable ``(X, do) -> frame``.
        - A frame aligned with X row by row. Columns that it lacks are those of X after `do`.
        - A pair of such a frame and one decision per row.
        - None: no column follows from the columns that `do` sets.
    X : DataFrame of shape (n_samples, n_features)
    do : dict or None
        Maps a column to a value, to a dict from value to value, or to an array of values. It may
        be None if the source is a frame.
    block : sequence of (parent, child) pairs, default=()
        Edges of a causal model along which the intervention has no effect.

    Returns
    -------
    rows : DataFrame of shape (n_samples, n_features)
        With the columns and the index of X.
    decisions : ndarray of shape (n_samples,) or None

    Raises
    ------
    ValueError
        If a frame has another number of rows than X, unknown columns, or values missing that X
        has; or if `block` is passed with a source that is not a causal model.
    TypeError
        If `source` is of another type, or a callable does not return a frame.
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
                "DataFrame aligned with X, or a pair of such a frame and decisions; got "
                f"{type(source)!r}."
            )
        source = _called(source, X, do)
    return _aligned(source, X, do), decisions


def _called(source, X, do):
    """Return the frame that a callable makes of a copy of X."""
    frame = source(X.copy(), do)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"The callable passed as counterfactuals returned a {type(frame).__name__}; it must "
            "return a DataFrame with the columns of X."
        )
    return frame


def _aligned(frame, X, do):
    """Return X after `do`, with the columns that `frame` has replaced by those of `frame`."""
    refuse_length("counterfactuals", len(frame), X)
    unknown = [c for c in frame.columns if c not in X.columns]
    if unknown:
        raise ValueError(
            f"The counterfactual rows have columns {unknown!r}, which X does not have. Drop or "
            f"rename them. Columns of X: {list(X.columns)!r}."
        )
    rows = frame.set_axis(X.index, axis=0).reindex(columns=X.columns)
    set_here = {} if do is None else read_do(do, X)
    for name in X.columns:
        if name not in frame.columns:
            rows[name] = set_here.get(name, X[name])
        elif (rows[name].isna() & X[name].notna()).any():
            raise ValueError(f"The counterfactual rows have missing values in column {name!r}.")
    return rows


def refuse_length(name, n, X):
    """Raise ValueError unless n is the number of rows of X."""
    if n != len(X):
        raise ValueError(
            f"{name} has {n} rows, but X has {len(X)}: one row is needed for each row of X."
        )


def is_frame(source):
    """Return True if a source is a table, which has counterfactuals for its own rows only."""
    return isinstance(source, (pd.DataFrame, tuple))


def take_rows(source, stay, positions=slice(None)):
    """Return a source for the rows that stay (a mask over X as passed), at some positions."""
    frame, *decisions = source if isinstance(source, tuple) else (source,)
    if not isinstance(frame, pd.DataFrame):
        return source
    positions = np.flatnonzero(stay)[positions]
    for name, part in zip(("counterfactuals", "decisions"), (frame, *decisions), strict=False):
        refuse_length(name, len(part), stay)
    frame, decisions = frame.iloc[positions], [np.asarray(d)[positions] for d in decisions]
    return (frame, *decisions) if isinstance(source, tuple) else frame
