"""What became of the people selected: a loan repaid, a weapon found."""

import numpy as np
import pandas as pd

from skdisc._utils._settings import setting
from skdisc.group._pairwise._pairwise_detector import PairwiseDetector

SELECTED = setting(  # of `pos_label`
    None,
    text="The decision that selects, and the outcome that is a success; by default 1 or True.",
)
DECIDES = setting(  # of `estimator`
    None,
    text="""Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is.
    Decisions come from the model, or from ``model=BlackBox(decisions=...)``; y are the outcomes, of
    which only those of selected people are read.""",
)


class OutcomeDetector(PairwiseDetector):
    """Base of detectors that compare what became of the people selected.

    Labels are outcomes, of which only those of selected people are read.

    `pos_label_`: the labels of selection and success.
    """

    _needs_labels = True
    _needs = ("outcomes",)

    def _columns(self, names):
        return self._legitimate(names, getattr(self, "adjust_for", None))

    def _relevant_gap_of(self, task, y, labels):
        """Return the `RelevantGap` of what became of the people selected."""
        if task.queries is None:
            return self._gap_that_matters(y)
        return self._gap_that_matters(y if labels is None else labels[y == 1])

    def _read_people(self, request, *, reset):
        labels = [] if request.y is None else request.y
        missing = pd.isna(np.asarray(labels, dtype=object)).ravel()
        if missing.any():
            raise ValueError(
                f"Input y contains NaN: {int(missing.sum())} outcomes are missing, the first in "
                f"row {int(np.argmax(missing))}. The outcomes of people who were not selected are "
                "not read: give them any label. Leave out selected people without one."
            )
        return super()._read_people(request, reset=reset)
