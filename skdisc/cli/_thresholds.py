"""Scores cut at thresholds: each cut is audited as decisions, all of them with one level."""

from typing import Any

import numpy as np
import pandas as pd

from skdisc import BlackBox
from skdisc._stats._ranks import rank_statistic
from skdisc._utils._tables import TableNote
from skdisc._utils._validation import plain
from skdisc.auditing._numbers import finite_numbers
from skdisc.cli._notes import note_of

_SURE = 4.0  # standard errors, so that the doubt is not raised by chance


def thresholds_of(text: str) -> list[float]:
    """Return the thresholds that an option names, in its order.

    Raises ValueError if one is no number, or there are none.
    """
    try:
        cuts = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        cuts = []
    if not cuts or not np.isfinite(cuts).all():
        raise ValueError(f"--threshold {text!r} names no numbers: give one, or several as 0.3,0.5.")
    return list(dict.fromkeys(cuts))


def scores_in(frame: pd.DataFrame, names: list) -> pd.Series | None:
    """Return the scores in the one column that is named, as numbers; None if none is.

    Raises ValueError if they are no numbers.
    """
    if not names:
        return None
    (name,) = names
    numbers = finite_numbers(frame[name], f"--predictions {name!r}")
    return pd.Series(numbers, index=frame.index, name=name)


def decisions_at(
    threshold: float, labels: pd.Series, favorable: list, model: Any, scores: pd.Series | None
) -> BlackBox:
    """Return the decisions of scores that are at or above a threshold.

    Parameters
    ----------
    labels : Series
        The target; decisions are labels, too.
    favorable : list
        The favorable labels.
    model : object, optional
        A fitted model: its probability of a favorable label, its decision function, or the number
        that it predicts is the score.
    scores : Series of float, optional
        The scores, in place of a model.

    Raises
    ------
    ValueError
        If all decisions would be equal.
    """
    unfavorable = [plain(v) for v in labels.dropna().unique() if v not in favorable]
    if not unfavorable:
        raise ValueError("--threshold needs a target with an unfavorable value.")
    words = np.array([unfavorable[0], plain(favorable[0])])
    if scores is None:
        return BlackBox(_CutModel(model, favorable, words, threshold))
    is_above = (scores >= threshold).to_numpy()
    if is_above.all() or not is_above.any():
        side = "at or above" if is_above.all() else "below"
        raise ValueError(
            f"--threshold {threshold:g}: all scores of {scores.name!r} are {side} it, so that all "
            "decisions would be equal. Name a threshold between them."
        )
    return BlackBox(decisions=words[is_above.astype(int)])


def note_on_cut(threshold: float, scores: pd.Series | None, *, of_risk: bool = False) -> TableNote:
    """Return a note on what is favorable, which is in doubt of two kinds of scores.

    These are scores of a risk, and scores up to 100 with a threshold below 1. `scores`: those of a
    column; None: of a model. `of_risk`: from `are_of_risk`.
    """
    most, name = 1.0, None
    if scores is not None:
        name = scores.name
        if scores.max() <= 100 and (scores % 1 == 0).all():  # as percents are
            most = scores.max()
    seen, fields = "threshold", {"value": f"{threshold:g}"}
    if of_risk:
        seen = "threshold of risk"
    elif 0 < threshold < 1 < most:
        seen = "threshold of percents"
        fields |= {"most": f"{most:g}", "hundredfold": f"{100 * threshold:g}"}
    return note_of("--threshold", name, seen, "favorable decisions", **fields)


def are_of_risk(scores: pd.Series, is_favorable: pd.Series) -> bool:
    """Return whether scores are lower where the label is favorable, by more than chance.

    By the test of Mann and Whitney.
    """
    code = np.unique(scores, return_inverse=True)[1]
    favorable = np.bincount(code, is_favorable)
    others = np.bincount(code) - favorable
    if min(favorable.sum(), others.sum()) < 2 or code.max() == 0:
        return False
    return bool(rank_statistic(favorable, others)[2] > _SURE)


class _CutModel:
    """A model that decides by whether the score of another one reaches a threshold."""

    def __init__(self, model, favorable, words, threshold):
        self.model = getattr(model, "model", model)
        self.favorable, self.threshold = favorable, threshold
        self.classes_ = words
        if hasattr(self.model, "feature_names_in_"):
            self.feature_names_in_ = self.model.feature_names_in_

    def predict(self, X):
        """Return a decision for each row."""
        return self.classes_[(self._scores(X) >= self.threshold).astype(int)]

    def _scores(self, X):
        if hasattr(self.model, "predict_proba"):
            is_favorable = [plain(c) in self.favorable for c in self.model.classes_]
            return np.asarray(self.model.predict_proba(X))[:, is_favorable].sum(axis=1)
        if hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(X))
        return finite_numbers(self.model.predict(X), "what the model predicts")
