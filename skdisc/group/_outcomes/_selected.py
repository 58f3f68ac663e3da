"""What became of the people selected: a loan repaid, a weapon found."""

import numpy as np
import pandas as pd

from skdisc.group._pairwise._pairwise_detector import PairwiseDetector


class OutcomeDetector(PairwiseDetector):
    """Base of detectors that compare what became of the people selected.

    Labels are outcomes, of which only those of selected people are read.
    """

    _needs_labels = True

    def _columns(self, names):
        return self._legitimate(names, getattr(self, "adjust_for", None))

    def _read_people(self, request, *, reset):
        name = type(self).__name__
        if request.y is None:
            raise ValueError(
                f"{name} requires y to be passed, but the target y is None: y are the outcomes of "
                "the people selected."
            )
        missing = pd.isna(np.asarray(request.y, dtype=object)).ravel()
        if missing.any():
            raise ValueError(
                f"Input y contains NaN: {int(missing.sum())} outcomes are missing, the first in "
                f"row {int(np.argmax(missing))}. {name} does not read the outcomes of people who "
                "were not selected: give them any label. Leave out selected people without one."
            )
        return super()._read_people(request, reset=reset)

    @staticmethod
    def _read(people):
        """Return who is selected, and the outcomes; without decisions everyone is selected."""
        if people.labels is None:
            return np.ones(len(people.y), bool), people.y
        return people.y == 1, people.labels
