"""BlackBox: a model seen only through its answers, and Queries: the questions of one audit."""

import numpy as np
import pandas as pd

from skdisc._blackbox._torch import as_model
from skdisc._utils._validation import check_decisions, check_labels, sorted_unique


class BlackBox:
    """A model, or decisions already taken, in a wrapper that is never mistaken for data.

    Use it to pass a fitted model through scikit-learn's searches,
    ``GridSearchCV(detector, grid).fit(X, y, model=BlackBox(model))``, or to audit decisions
    without a model, ``detector.fit(X, y, BlackBox(decisions=d))``.

    Parameters
    ----------
    model : object, optional
        A fitted estimator or pipeline, any object with ``predict``, ``predict_proba`` or
        ``decision_function``, or a callable that takes rows and returns one decision each.
    decisions : array-like of shape (n_samples,), optional
        One decision per row of the X that is audited, in its order. New rows cannot be asked.
    chunk_size : int, default=100_000
        Most rows handed to the model at once. Results do not depend on it.

    Raises
    ------
    TypeError
        If neither or both of `model` and `decisions` are given, or `model` cannot answer.

    Examples
    --------
    >>> BlackBox(lambda X: X["income"] > 50)
    BlackBox(function)
    """

    def __init__(self, model=None, *, decisions=None, chunk_size=100_000):
        if (model is None) == (decisions is None):
            raise TypeError("BlackBox needs either a model or decisions=, and not both.")
        model = as_model(model)
        self.index = decisions.index if isinstance(decisions, pd.Series) else None
        if isinstance(model, BlackBox):
            model, decisions, self.index = model.model, model.decisions, model.index
        if model is not None and not callable(model) and _method(model) is None:
            raise TypeError(
                f"A {type(model).__name__} cannot be audited: it has none of predict, "
                "predict_proba, decision_function and is not callable."
            )
        if not isinstance(chunk_size, (int, np.integer)) or chunk_size < 1:
            raise ValueError(f"chunk_size must be an integer >= 1, got {chunk_size!r}.")
        if decisions is not None:
            decisions = check_labels(decisions, what="decisions")
            check_decisions(decisions, what="decisions")
        self.model, self.decisions, self.chunk_size = model, decisions, int(chunk_size)

    def __repr__(self):
        what = (
            f"decisions={len(self.decisions)} rows"
            if self.model is None
            else type(self.model).__name__
        )
        return f"BlackBox({what})"

    def aligned(self, X, stay):
        """Return the box with the decisions about the rows of X that stay, a bool mask."""
        if self.decisions is None or len(self.decisions) != len(stay):
            return self
        if (
            self.index is not None
            and isinstance(X, pd.DataFrame)
            and not self.index.equals(X.index)
        ):
            raise ValueError(
                "BlackBox(decisions=...) was given a Series whose index is not that of X. Put both "
                "in one order (decisions.reindex(X.index)), or pass decisions.to_numpy()."
            )
        return self if stay.all() else BlackBox(decisions=self.decisions[stay])

    @property
    def classes(self):
        """The labels that the model can give, a list; None where it does not say."""
        if self.model is None:
            return sorted_unique(self.decisions)
        classes = getattr(self.model, "classes_", None)
        return None if classes is None else np.asarray(classes).tolist()

    def gradient(self, X, favourable=None):
        """Return how fast the margin of a favourable decision rises with each column.

        Parameters
        ----------
        X : DataFrame or ndarray of shape (n_rows, n_columns)
            As the model takes them.
        favourable : list, optional
            The favourable labels; by default the last class.

        Returns
        -------
        ndarray of float, shape (n_rows, n_columns), or None
            In units of the margin (a decision function or log odds) per unit of the column; NaN in
            columns that the model encodes. None if the model has no gradient.
        """
        from skdisc._blackbox._gradient import (
            model_gradient,  # here, for it imports much of scikit-learn
        )

        return model_gradient(self.model, X, favourable or self.classes[-1:])

    @property
    def has_margins(self):
        """Whether the model says how close its decisions are."""
        return _margin_method(self) in ("decision_function", "predict_proba")

    @property
    def has_probabilities(self):
        """Whether the model gives probabilities of its classes."""
        return hasattr(self.model, "predict_proba") and self.classes is not None


def _method(model):
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, name):
            return name
    return None


def _margin_method(box):
    """Return the name of the method that says most about how close a decision is."""
    if box.classes is not None:
        for name in ("decision_function", "predict_proba"):
            if hasattr(box.model, name):
                return name
    return "predict" if hasattr(box.model, "predict") else None
