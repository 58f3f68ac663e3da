"""Task: what one fit or audit works on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.utils import check_random_state

from skdisc._blackbox._queries import Queries
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._budget import Budget
from skdisc._task._request import People
from skdisc._utils._progress import Progress
from skdisc._utils._validation import check_known_labels, is_favourable

_LIMITS = ("max_tests", "max_queries", "max_found", "time_budget")


@dataclass
class Task:
    """What one fit or audit works on.

    Parameters
    ----------
    people : People
        The rows under audit; their X is None when a space alone was passed.
    queries : Queries or None
        None where labels are audited.
    space : FeatureSpace
    budget : Budget
    rng : numpy.random.Generator
    progress : Progress
    favourable, labels : list
        The favorable labels, and all of them; `labels` is None where they are not known.
    is_audit : bool
        Whether findings of fit are measured again.
    memory : object
        What `_discover` leaves for audits, one record; at an audit, that of fit.
    """

    people: People
    queries: Queries | None
    space: FeatureSpace
    budget: Budget
    rng: np.random.Generator
    progress: Progress
    favourable: list
    labels: list | None
    is_audit: bool = False
    memory: object = None

    @classmethod
    def open(cls, detector, people, *, is_audit=False):
        """Open a budget, a query counter and a random generator for one run of a fitted detector.

        Parameters
        ----------
        detector : BaseDetector
            With ``model_``, ``space_`` and ``pos_label_``.
        people : People
        is_audit : bool, default=False

        Returns
        -------
        Task
        """
        d, audited = detector, detector._audited
        budget = Budget(**{name: getattr(d, name) for name in _LIMITS})
        queries = None
        if audited.box is not None:
            labels = audited.labels if audited.box.classes is None else None
            queries = Queries(
                audited.box, audited.favorable, d.space_, budget, d.output, d.n_jobs, labels
            )
        rng = np.random.default_rng(check_random_state(d.random_state).randint(2**31, size=4))
        progress = Progress(type(d).__name__, d.verbose)
        memory = d._memory if is_audit else None
        given = queries, d.space_, budget, rng, progress, audited.favorable, audited.labels
        return cls(people, *given, is_audit, memory)

    @property
    def X(self):  # noqa: N802
        """The rows under audit, a DataFrame; None when a space alone was passed."""
        return self.people.X

    @property
    def y(self):
        """The labels of the rows, None where none were passed."""
        return self.people.y

    @cached_property
    def weight(self):
        """The weight of each row, None where none were passed; scaled to a mean of 1 if small."""
        weight = self.people.weight
        is_small = weight is not None and 0 < weight.max(initial=0) < 1
        return weight / weight.mean() if is_small else weight

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
