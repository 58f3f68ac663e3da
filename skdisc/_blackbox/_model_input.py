"""Rows in the form that a model expects: its own columns, in the container of its training data."""

import numpy as np


def rows_for(model, X, is_frame):
    """Select the columns that the model was fitted on, in the container that it was fitted on.

    Parameters
    ----------
    model : object
    X : DataFrame
    is_frame : bool
        Whether the data were passed as a DataFrame, so that the names of columns are meaningful.

    Returns
    -------
    DataFrame or ndarray

    Raises
    ------
    ValueError
        If X lacks columns that the model needs.
    """
    names = getattr(model, "feature_names_in_", None)
    width = getattr(model, "n_features_in_", X.shape[1])
    if names is not None and set(names) <= set(X.columns):
        return X if list(names) == list(X.columns) else X[list(names)]
    if width != X.shape[1] or (names is not None and is_frame):
        wanted = f"{width} features" if names is None else f"the columns {list(names)!r}"
        raise ValueError(
            f"The model was fitted on {wanted}, but X has {X.shape[1]} columns "
            f"({list(X.columns)!r}). Fit the model on a DataFrame, so that its own columns can "
            "be picked out by name, and give X all of them."
        )
    if names is not None:
        return X.set_axis(list(names), axis=1)
    fitted_on_array = hasattr(model, "n_features_in_")
    return X.to_numpy() if fitted_on_array or not is_frame else X


def as_numbers(frame):
    """Return a DataFrame as an array if all its columns have numeric NumPy dtypes, else None."""
    is_plain = all(isinstance(d, np.dtype) and d.kind in "iuf" for d in set(frame.dtypes))
    return frame.to_numpy() if is_plain else None
