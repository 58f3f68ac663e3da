"""Questions to a model: rows in the form that it expects, and what it returns for them."""

import numpy as np

from skdisc.exceptions import ModelError


def ask_model(model, method, rows):
    """Return what a model returns for some rows; every question to it passes here.

    The model gets a copy, because some change what they are passed. It is asked once: an error
    is raised, and nothing is tried again.

    Parameters
    ----------
    model : object
    method : str or None
        Name of the method; None: the model is called.
    rows : DataFrame or ndarray
        As `rows_for` makes them.

    Returns
    -------
    ndarray

    Raises
    ------
    ModelError
        If the model raises an error, which is the cause.
    """
    try:
        return np.asarray((getattr(model, method) if method else model)(rows.copy()))
    except Exception as error:
        raise ModelError(
            f"The audited model raised {type(error).__name__} for a query of {len(rows)} rows: "
            f"{error}"
        ) from error


def without_message(error):
    """Return a `ModelError` as text without the message of the model, which can name people."""
    text = str(error)
    return text if error.__cause__ is None else text.removesuffix(f": {error.__cause__}")


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
