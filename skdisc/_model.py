"""BlackBox: a model seen only through its answers, and Queries: the questions of one audit."""

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from skdisc._answers import (
    decide_by_margin,
    decide_by_probability,
    read_decisions,
    read_margins,
    read_probabilities,
    read_values,
)
from skdisc._hashing import KeyIndex
from skdisc._rows import as_numbers, nameless, rows_for
from skdisc._torch import as_model
from skdisc._validation import check_decisions, check_labels, is_favourable, sorted_unique
from skdisc.exceptions import ModelError


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
        from skdisc._gradient import model_gradient  # here, for it imports much of scikit-learn

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


class Queries:
    """The questions put to a `BlackBox` in one fit or audit: counted, chunked, none asked twice.

    Parameters
    ----------
    box : BlackBox
    favourable : list
        The favourable labels.
    space : FeatureSpace
        Says whether the model expects a DataFrame or an array.
    budget : Budget
        Counts the rows.
    output : {"decision", "probability", "value", "margin"}
        What an answer is: 1 favourable and 0 not; the probability of favourable; a number (what a
        regressor predicts, the decision function of a classifier); or by how much the highest
        favourable score exceeds the highest other one (1 or -1 of bare decisions).
    n_jobs : int or None
        Threads among which the chunks of a large question are shared.
    labels : list or None
        The labels that the model may return; None: any of the kind of the favourable ones.

    Attributes
    ----------
    nameless : object or None
        A twin of the model that takes arrays, if there is one.
    lowest, highest : float
        The extreme answers so far.
    """

    def __init__(self, box, favourable, space, budget, output="decision", n_jobs=None, labels=None):
        self.box, self.favourable, self.space, self.budget = box, favourable, space, budget
        self.output, self.n_jobs, self.labels = output, n_jobs, labels
        self.nameless = nameless(box.model)
        self._seen, self._answers, self._fitting = KeyIndex(), np.empty(0), None
        self.lowest, self.highest = np.inf, -np.inf

    @property
    def constant(self):
        """Whether several rows were asked about, and all answers were the same."""
        return self.lowest == self.highest and self.budget.queries > 1

    def given(self, X):
        """Return the answers for the rows under audit, from the model or from given decisions."""
        if self.box.decisions is None:
            return self.decide(X)
        if len(self.box.decisions) != len(X):
            raise ValueError(
                f"BlackBox(decisions=...) holds {len(self.box.decisions)} decisions for {len(X)} "
                "rows. Give one decision per row, in the order of X; inside cross-validation pass "
                "a model that can be asked."
            )
        return is_favourable(self.box.decisions, self.favourable).astype(float)

    def decide(self, X, keys=None):
        """Return the answer for each row, asking the model only about rows not asked before.

        Rows with equal keys (uint64) are the same; by default their values are hashed, which takes
        longer.
        """
        keys = pd.util.hash_pandas_object(X, index=False).to_numpy() if keys is None else keys
        ids, first = self._seen.add(keys)
        if first.any():
            new = X if first.all() else X[first]
            self._answers = np.concatenate([self._answers, self.ask(new)])
        return self._answers[ids]

    def ask(self, X):
        """Ask the model about every row of X; the caller answers for their being new.

        Returns
        -------
        ndarray of float, shape (n_rows,)
        """
        if self.box.model is None:
            raise ValueError(
                "BlackBox(decisions=...) answers only for the rows it was given and cannot be "
                "asked about new ones. Pass a model that can be asked."
            )
        if not len(X):
            return np.empty(0)
        self.budget.queries += len(X)
        size = self.box.chunk_size
        if len(X) <= size:
            answers = self._answer(X)
        else:
            chunks = [X.iloc[i : i + size] for i in range(0, len(X), size)]
            threads = Parallel(n_jobs=self.n_jobs, prefer="threads")
            answers = np.concatenate(threads(delayed(self._answer)(c) for c in chunks))
        self.lowest = min(self.lowest, answers.min())
        self.highest = max(self.highest, answers.max())
        return answers

    def _answer(self, X):
        model, name = self.box.model, type(self.box.model).__name__
        method = self._ask_by(model, name)
        rows = self.rows_for_model(X)
        if self.nameless is not None and isinstance(rows, pd.DataFrame):
            numbers = as_numbers(rows, self.nameless)
            if numbers is not None:
                rows, model = numbers, self.nameless
        ask = getattr(model, method) if method else model
        try:
            raw = np.asarray(ask(rows))
        except Exception as error:
            raise ModelError(
                f"The audited model raised {type(error).__name__} when asked about {len(X)} rows: "
                f"{error}"
            ) from error
        asked = (raw, len(X), name, self.favourable)
        if self.output == "value":
            return read_values(raw, len(X), name)
        if self.output == "margin":
            return read_margins(*asked, self.box.classes, method)
        if self.output == "probability":
            return read_probabilities(*asked, self.box.classes)
        if method == "predict_proba":
            return decide_by_probability(*asked, self.box.classes)
        if method == "decision_function":
            return decide_by_margin(*asked, self.box.classes)
        return read_decisions(*asked, self.labels)

    def _ask_by(self, model, name):
        """Return the name of the method that gives the wanted output, None for a call."""
        if self.output == "decision":
            return _method(model)
        if self.output == "value":
            return "decision_function" if hasattr(model, "decision_function") else _method(model)
        if self.output == "margin":
            return _margin_method(self.box)
        if hasattr(model, "predict_proba"):
            return "predict_proba"
        if _method(model) is None:
            return None
        raise ValueError(
            f"output='probability' needs a model with predict_proba; {name} has none. Use "
            "output='decision', or pass a callable that returns probabilities."
        )

    def rows_for_model(self, X):
        """Return the rows as the model gets them: its own columns, in its own container."""
        if X.columns is self._fitting:
            return X
        rows = rows_for(self.box.model, X, self.space.is_frame)
        self._fitting = X.columns if rows is X else None  # names are slow to compare
        return rows
