"""Task: what one fit or audit works on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from skdisc._blackbox._queries import Queries
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._budget import Budget
from skdisc._utils._progress import Progress
from skdisc._utils._validation import check_known_labels, is_favourable

_LIMITS = ("max_tests", "max_queries", "max_found", "time_budget")


@dataclass
class Task:
    """What one fit or audit works on; X is None when a space alone was given."""

    X: pd.DataFrame | None
    y: np.ndarray | None
    queries: Queries | None
    space: FeatureSpace
    budget: Budget
    rng: np.random.Generator
    progress: Progress
    favourable: list
    labels: list | None
    weight: np.ndarray | None = None  # of each row of X

    @classmethod
    def open(cls, detector, X, y):
        """Open a budget, a query counter and a random generator for one run of a fitted detector.

        Parameters
        ----------
        detector : BaseDetector
            With ``model_``, ``space_`` and ``pos_label_``.
        X : DataFrame or None
        y : ndarray or None

        Returns
        -------
        Task
        """
        d = detector
        budget = Budget(**{name: getattr(d, name, None) for name in _LIMITS})
        queries = None
        if d.model_ is not None:
            output = getattr(d, "output", "decision")
            labels = d._labels if d.model_.classes is None else None
            queries = Queries(d.model_, d.pos_label_, d.space_, budget, output, d.n_jobs, labels)
        seeds = check_random_state(d.random_state).randint(2**31, size=4)
        progress = Progress(type(d).__name__, d.verbose)
        rng = np.random.default_rng(seeds)
        return cls(X, y, queries, d.space_, budget, rng, progress, d.pos_label_, d._labels)

    @cached_property
    def codes(self):
        """The rows of X as codes of the space, which several steps of a search read."""
        codes = self.space.encode(self.X)
        codes.flags.writeable = False
        return codes

    def decisions(self):
        """Return 1 for a favourable decision and 0 for another, per row of X."""
        if self.queries is not None:
            return self.queries.given(self.X)
        if self.y is None:
            raise ValueError("The labels were audited at fit: y is needed to audit new data.")
        return self.favourable_labels().astype(float)

    def favourable_labels(self):
        """Say which labels of y are favourable, refusing labels that were unknown at fit."""
        check_known_labels(self.y, self.labels)
        return is_favourable(self.y, self.favourable)
