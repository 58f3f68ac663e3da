"""Repeats: rows that are queried twice, to learn whether a model is deterministic."""

import numpy as np

from skdisc.exceptions import ModelError

MOST = 200  # rows queried twice: of a model that changes 1 % of its outcomes, .87 are noticed
_SHARE = 10  # one in ten of a limit on queries
_ROUNDING = 1e-5  # of the range of outcomes: matrix products depend on the number of rows


class Repeats:
    """Rows that were queried a second time, and how many of them got another outcome.

    Parameters
    ----------
    name : str
        Name of the model, for messages.
    is_refused : bool
        Whether a model with other outcomes the second time is an error.
    limit : int or None
        The limit on queries.
    """

    def __init__(self, name, is_refused, limit):
        self.name, self.is_refused = name, is_refused
        self.n = self.n_changed = 0
        self._most = MOST if limit is None else min(MOST, limit // _SHARE)

    def compare(self, X, outcomes, query):
        """Query some rows again, unless enough were.

        `outcomes`: what the model has returned for them. `query`: takes rows, and returns their
        outcomes. Raises ModelError if outcomes have changed, and this is refused.
        """
        n = min(self._most - self.n, len(X))
        if n <= 0:
            return
        positions = np.unique(np.linspace(0, len(X) - 1, n).astype(int))
        repeated = query(X.iloc[positions])
        apart = np.abs(repeated - outcomes[positions])
        self.n += len(positions)
        self.n_changed += int((apart > _ROUNDING * max(np.ptp(outcomes), 1.0)).sum())
        if self.n_changed and self.is_refused:
            raise ModelError(
                f"{self} A search for rows whose outcome changes with protected values would take "
                "such changes for cases. Fix the random seed of the model, or wrap it so that it "
                "returns probabilities or decisions without chance; Themis counts only changes "
                "beyond chance, and GroupDisparity compares groups."
            )

    def __str__(self):
        return (
            f"{self.name} is not deterministic: {self.n_changed} of {self.n} rows got another "
            "outcome when they were queried a second time."
        )
