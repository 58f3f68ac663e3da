"""SearchDetector: the base of the detectors that are a strategy of the shared search."""

from abc import abstractmethod

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import StrOptions

from skdisc._result import Discovery
from skdisc._task import Task
from skdisc.individual._base import REQUIRED_SHARE, IndividualDetector
from skdisc.individual._probe import Prober
from skdisc.individual._search import run

SEED_CHOICES = [StrOptions({"both", "clusters", "data", "uniform"}), pd.DataFrame]
_POINTS = 100


class SearchDetector(IndividualDetector):
    """Base of the detectors that search for cases; one is its strategy and its settings."""

    def score(self, X, y=None, sample_weight=None):
        """Return the success rate (SUR) of a fresh search started from the rows of X.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : None
            Refused: a search has no weights.

        Returns
        -------
        float
            Discriminatory inputs per input tested, in [0, 1]; NaN when none was tested.
        """
        if sample_weight is not None:
            raise ValueError(
                f"{type(self).__name__}.score is the success rate of a search and takes no "
                "sample_weight."
            )
        self.audit()  # raises if not fitted
        frame, _, _ = self._read(X, None, reset=False)
        task = Task.open(self, frame, None)
        return self._run(task, lambda task: self._hunt(task, from_rows=True)).metrics["SUR"]

    def _discover(self, task):
        return self._hunt(task, from_rows=False)

    @abstractmethod
    def _strategy(self, task, prober, from_rows):
        """Return the strategy: ``ask``, ``tell``, and ``seeds`` (Seeds tested first, or None).

        With `from_rows` it starts from the rows of ``task.X``, whatever the settings say.
        """

    def _hunt(self, task, from_rows):
        prober = Prober(task, self.min_gap)
        strategy = self._strategy(task, prober, from_rows)
        ledger = run(strategy, prober, task.budget, task.progress)
        seeds, n = strategy.seeds, task.budget.tests
        if seeds is not None:
            n = min(n, len(seeds.rows))
        notes = self._probe_notes(task) + self._blindness(task, prober)
        return Discovery(
            findings=prober.cases(*ledger.found()),
            measure=self._measure(),
            n_tested=task.budget.tests,
            n_found=task.budget.found,
            smallest_gap=self._smallest_share(task, n),
            required_gap=REQUIRED_SHARE,
            by_value=ledger.by_value(),
            estimates=self._shares([] if seeds is None else seeds.shares(ledger.hit)),
            tables={"curve": _curve(ledger.hit)},
            notes=notes + list(getattr(strategy, "notes", [])),
        )


def _curve(hit):
    """Return how many were found by how many tests, at up to a hundred points."""
    tested = np.unique(np.linspace(1, len(hit), _POINTS).astype(np.int64)) if len(hit) else []
    found = np.cumsum(hit)[np.asarray(tested, dtype=np.int64) - 1]
    return pd.DataFrame({"tested": np.asarray(tested, np.int64), "found": found.astype(np.int64)})
