"""Queries: counted, chunked and cached queries to the model under audit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from skdisc._blackbox._array_model import array_model
from skdisc._blackbox._blackbox import BlackBox, deciding_method, margin_method
from skdisc._blackbox._model_input import as_numbers, ask_model, rows_for
from skdisc._blackbox._outputs import (
    decide_by_margin,
    decide_by_probability,
    read_decisions,
    read_margins,
    read_probabilities,
    read_values,
)
from skdisc._blackbox._repeats import Repeats
from skdisc._space._feature_space import FeatureSpace
from skdisc._utils._hashing import Growing, KeyIndex, row_hashes
from skdisc._utils._types import FrameLike
from skdisc._utils._validation import is_favorable


class Queries:
    """The queries to a `BlackBox` in one fit or audit: counted, chunked, and cached on request.

    Parameters
    ----------
    box : BlackBox
    favorable : list
        The favorable labels.
    space : FeatureSpace
        Its `is_frame` tells whether the data were passed as a DataFrame.
    budget : Budget
        Counts the rows queried.
    output : {"decision", "probability", "value", "margin", "mean"}
        The outcome of a row: 1 if its decision is favorable, else 0; the probability of a favorable
        decision; a number (the prediction of a regressor, the decision function of a classifier);
        or the margin, by which the highest favorable score exceeds the highest other one (1 or -1
        for a model that returns decisions only).
    labels : list or None
        The labels that the model may return; None: any label of the type of the favorable ones.

    Attributes
    ----------
    array_model : object or None
        A copy of the model that takes arrays, if there is one; see `_array_model`.
    lowest, highest : float
        The smallest and the largest outcome so far.
    repeats : Repeats or None
        Rows that were queried twice; see `check_repeats`.

    Examples
    --------
    >>> from skdisc.extending import Budget
    >>> X = pd.DataFrame({"sex": ["F", "M", "M"], "age": [20, 40, 40]})
    >>> space = FeatureSpace.from_frame(X, protected="sex")
    >>> box = BlackBox(lambda rows: np.where(rows["sex"] == "M", "yes", "no"))
    >>> queries = Queries(box, favorable=["yes"], space=space, budget=Budget(max_queries=100))
    >>> queries.decide(X)
    array([0., 1., 1.])
    >>> queries.budget.queries  # equal rows are queried once
    2
    """

    def __init__(
        self,
        box: BlackBox,
        favorable: list,
        space: FeatureSpace,
        budget: Any,
        output: str = "decision",
        labels: list | None = None,
    ) -> None:
        self.box, self.favorable, self.space, self.budget = box, favorable, space, budget
        self.output, self.labels = output, labels
        self.array_model = array_model(box.model)
        self._cache, self._fitting = AnswerCache(), None
        self.lowest, self.highest = np.inf, -np.inf
        self.repeats = None

    def check_repeats(self, is_refused: bool = False) -> None:
        """Query some of the first rows twice from now on, to learn if the model is deterministic.

        The number of queries is that of distinct rows, so these are not counted.

        Parameters
        ----------
        is_refused : bool, default=False
            Whether other outcomes the second time raise a ModelError.
        """
        name = type(self.box.model).__name__
        self.repeats = Repeats(name, is_refused, self.budget.max_queries)

    @property
    def is_random(self) -> bool:
        """Whether rows that were queried twice got other outcomes."""
        return self.repeats is not None and self.repeats.n_changed > 0

    @property
    def constant(self) -> bool:
        """Whether several rows were queried and all outcomes were equal."""
        return self.lowest == self.highest and self.budget.queries > 1

    def given(self, X: pd.DataFrame) -> np.ndarray:
        """Return the outcomes of the rows under audit, from the model or from given decisions.

        Raises
        ------
        ValueError
            If the number of given decisions is not the number of rows.
        """
        if self.box.decisions is None:
            return self.decide(X)
        if len(self.box.decisions) != len(X):
            raise ValueError(
                f"BlackBox(decisions=...) holds {len(self.box.decisions)} decisions for {len(X)} "
                "rows. Pass one decision per row, in the order of X; inside cross-validation pass "
                "a model."
            )
        return is_favorable(self.box.decisions, self.favorable).astype(float)

    def decide(self, X: pd.DataFrame | Callable, keys: np.ndarray | None = None) -> np.ndarray:
        """Return the outcome of each row, querying the model about new rows only.

        Parameters
        ----------
        X : DataFrame, or callable that takes positions and returns these rows
            A callable makes new rows only, and needs `keys`.
        keys : ndarray of uint64, shape (n_rows,), optional
            Rows with equal keys are the same row. By default the values are hashed, which is
            slower.

        Returns
        -------
        ndarray of float, shape (n_rows,)

        Raises
        ------
        ModelError
            If the model raises an error or returns something other than outcomes.
        """
        keys = row_hashes(X) if keys is None else keys

        def query(new):
            if not len(new):
                return np.empty(0)
            if callable(X):
                return self.ask(X(new))
            return self.ask(X if len(new) == len(X) else X.iloc[new])

        return self._cache.get(keys, query)

    def ask(self, X: pd.DataFrame) -> np.ndarray:
        """Return the outcome of each row, querying the model about every row.

        Returns
        -------
        ndarray of float, shape (n_rows,)

        Raises
        ------
        ValueError
            If decisions were given in place of a model.
        ModelError
            If the model raises an error or returns something other than outcomes.
        """
        if self.box.model is None:
            raise ValueError(
                "BlackBox(decisions=...) holds decisions about the rows it was given only and "
                "cannot be queried about new ones. Pass a model."
            )
        if not len(X):
            return np.empty(0)
        self.budget.queries += len(X)
        size = self.box.chunk_size
        if len(X) <= size:
            outcomes = self._outcomes(X)
        else:
            chunks = [X.iloc[i : i + size] for i in range(0, len(X), size)]
            threads = Parallel(n_jobs=self.box.n_jobs, prefer="threads")
            outcomes = np.concatenate(threads(delayed(self._outcomes)(c) for c in chunks))
        if self.repeats is not None and not self.budget.has_spent(1):
            self.repeats.compare(X, outcomes, self._outcomes)
        self.lowest = min(self.lowest, outcomes.min())
        self.highest = max(self.highest, outcomes.max())
        return outcomes

    def _outcomes(self, X):
        """Return the outcomes of a chunk of rows."""
        model, name = self.box.model, type(self.box.model).__name__
        method = self._method_for(model, name)
        rows = self.rows_for_model(X)
        if self.array_model is not None and isinstance(rows, pd.DataFrame):
            numbers = as_numbers(rows)
            if numbers is not None:
                rows, model = numbers, self.array_model
        raw = ask_model(model, method, rows)
        n, favorable, classes = len(X), self.favorable, self.box.classes
        if self.output == "value":
            return read_values(raw, n, name)
        if self.output == "margin":
            return read_margins(raw, n, name, favorable, classes, method)
        if self.output == "probability":
            return read_probabilities(raw, n, name, favorable, classes)
        if self.output == "mean":
            shares = [read_probabilities(raw, n, name, [c], classes) for c in classes]
            return np.array(classes, dtype=float) @ np.array(shares)
        if method == "predict_proba":
            return decide_by_probability(raw, n, name, favorable, classes)
        if method == "decision_function":
            return decide_by_margin(raw, n, name, favorable, classes)
        return read_decisions(raw, n, name, favorable, self.labels)

    def _method_for(self, model, name):
        """Return the name of the method that returns the wanted output, None for a call."""
        if self.output == "decision":
            return deciding_method(model)
        if self.output == "value":
            return (
                "decision_function"
                if hasattr(model, "decision_function")
                else deciding_method(model)
            )
        if self.output == "margin":
            return margin_method(self.box)
        if hasattr(model, "predict_proba"):
            return "predict_proba"
        if deciding_method(model) is None:
            return None
        raise ValueError(
            f"output='probability' needs a model with predict_proba; {name} has none. Use "
            "output='decision', or pass a callable that returns probabilities."
        )

    def rows_for_model(self, X: pd.DataFrame) -> FrameLike:
        """Return the rows as the model expects them: its own columns, in its own container."""
        if X.columns is self._fitting:
            return X
        rows = rows_for(self.box.model, X, self.space.is_frame)
        self._fitting = X.columns if rows is X else None  # comparing names is slow
        return rows


class AnswerCache:
    """Answers of a model, by the 64-bit key of the row.

    `dtype`: type of an answer.
    """

    def __init__(self, dtype=float):
        self._index, self._answers = KeyIndex(), Growing(dtype)

    def get(self, keys, query):
        """Return the answer for each key, after `query` has supplied those for new keys.

        `keys`: rows with equal keys are the same row. `query`: takes the positions of the keys that
        are new, each at its first place, and returns one answer per position. These rows are known
        from then on and are never queried again, so where a budget forbids the query, `query`
        returns placeholders.
        """
        ids, is_new = self._index.add(keys)
        self._answers.extend(query(np.flatnonzero(is_new)))
        return self._answers.rows[ids]
