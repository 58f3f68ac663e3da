"""Questions to a model: rows in the form that it expects, and what it returns for them."""

import numpy as np
import pandas as pd

from skdisc._utils._inputs import is_reordered
from skdisc.exceptions import ModelError

# What float() and NumPy say of text that is no number.
_NO_NUMBER = ("could not convert string to float", "Cannot cast object dtype to float")


def is_about_text(error):
    """Return whether an error says that text is no number."""
    return any(words in str(error) for words in _NO_NUMBER)


def _text_columns(X):
    """Return the names of the columns that are no numbers, as text, at most five of them."""
    names = [c for c in X.columns if not pd.api.types.is_numeric_dtype(X[c].dtype)]
    return f"{names}" if len(names) <= 5 else f"{names[:5]}"[:-1] + ", ...]"


def texts_of(X):
    """Return what an estimator cannot read among these rows, in words."""
    if not isinstance(X, pd.DataFrame):
        return "text"
    return f"the columns {_text_columns(X)}, which are no numbers"


def encoding_pipeline(X, model):
    """Return the code of a pipeline that encodes columns of text before a model."""
    columns = _text_columns(X) if isinstance(X, pd.DataFrame) else "[...]"
    return (
        "make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown='ignore'), "
        f"{columns}), remainder='passthrough'), {model})"
    )


def ask_model(model, method, rows):
    """Return what a model returns for some rows; every question to it passes here.

    The model gets a copy, because some change what they are passed. It is asked once: an error
    is raised, and nothing is tried again.

    `method`: name of the method; None: the model is called. `rows`: as `rows_for` makes them.
    Raises ModelError if the model raises an error, which is the cause, or returns the index of the
    rows in another order, unless it counts them anew.
    """
    try:
        answer = (getattr(model, method) if method else model)(rows.copy())
        raw = np.asarray(answer)
    except Exception as error:
        if is_about_text(error):  # without its words, which contain the value of a cell
            name = type(model).__name__
            raise ModelError(
                f"The audited model, {name}, cannot read {texts_of(rows)}. Pass as the model a "
                "pipeline of what encoded them for its training and the model, such as "
                "make_pipeline(encoder, model); or let a pipeline be trained here, such as "
                f"{encoding_pipeline(rows, f'{name}()')}, with y."
            ) from error
        raise ModelError(
            f"The audited model raised {type(error).__name__} for a query of {len(rows)} rows: "
            f"{error}"
        ) from error
    if isinstance(rows, pd.DataFrame) and isinstance(answer, (pd.Series, pd.DataFrame)):
        is_counted = answer.index.equals(pd.RangeIndex(len(rows)))
        if not is_counted and is_reordered(rows.index, answer.index):
            raise ModelError(
                f"{type(model).__name__} returned a {type(answer).__name__} with the index of the "
                "rows in another order, and answers are matched by position. Let it return them in "
                "the order of the rows, as by answers.loc[X.index]."
            )
    return raw


def without_message(error):
    """Return a `ModelError` as text without the message of the model, which can name people."""
    text = str(error)
    return text if error.__cause__ is None else text.removesuffix(f": {error.__cause__}")


def rows_for(model, X, is_frame):
    """Select the columns that the model was fitted on, in the container that it was fitted on.

    `is_frame`: whether the data were passed as a DataFrame, so that the names of columns are
    meaningful. Raises ValueError if X lacks columns that the model needs.
    """
    names = getattr(model, "feature_names_in_", None)
    width = getattr(model, "n_features_in_", X.shape[1])
    if names is not None and set(names) <= set(X.columns):
        return X if list(names) == list(X.columns) else X[list(names)]
    if width != X.shape[1] or (names is not None and is_frame):
        expected = f"{width} features" if names is None else f"the columns {list(names)!r}"
        raise ValueError(
            f"The model was fitted on {expected}, but X has {X.shape[1]} columns "
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
