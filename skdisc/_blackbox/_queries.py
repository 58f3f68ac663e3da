"""Queries: the questions put to a model in one audit."""

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from skdisc._blackbox._answer_cache import AnswerCache
from skdisc._blackbox._array_model import array_model
from skdisc._blackbox._blackbox import _margin_method, _method
from skdisc._blackbox._model_input import as_numbers, rows_for
from skdisc._blackbox._outputs import (
    decide_by_margin,
    decide_by_probability,
    read_decisions,
    read_margins,
    read_probabilities,
    read_values,
)
from skdisc._utils._validation import is_favourable
from skdisc.exceptions import ModelError


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
    array_model : object or None
        A twin of the model that takes arrays, if there is one.
    lowest, highest : float
        The extreme answers so far.
    """

    def __init__(self, box, favourable, space, budget, output="decision", n_jobs=None, labels=None):
        self.box, self.favourable, self.space, self.budget = box, favourable, space, budget
        self.output, self.n_jobs, self.labels = output, n_jobs, labels
        self.array_model = array_model(box.model)
        self._cache, self._fitting = AnswerCache(), None
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

        def query(new):
            if not len(new):
                return np.empty(0)
            return self.ask(X if len(new) == len(X) else X.iloc[new])

        return self._cache.get(keys, query)

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
        if self.array_model is not None and isinstance(rows, pd.DataFrame):
            numbers = as_numbers(rows)
            if numbers is not None:
                rows, model = numbers, self.array_model
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
