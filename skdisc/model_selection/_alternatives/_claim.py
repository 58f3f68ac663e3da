"""The claim: tests of the chosen candidates on people whom nothing has seen."""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri


@dataclass
class LadderStep:
    """The test of one candidate.

    `index`: of the candidate; -1: several, of a recipe.
    """

    index: int
    score_z: float
    gain_z: float
    p_value: float
    shown: bool


@dataclass
class Claim:
    """What the claim part shows.

    Attributes
    ----------
    steps : list of LadderStep
        In the order of the ladder, up to the first that fails.
    low, high : ndarray of float, shape (n_candidates,)
        Bounds of the gain of each candidate, each at `significance` / 2; NaN for failed ones.
    most : float
        Upper bound of what any candidate gains that may keep the margin.
    """

    steps: list
    low: np.ndarray = field(default_factory=lambda: np.empty(0))
    high: np.ndarray = field(default_factory=lambda: np.empty(0))
    most: float = np.nan

    @property
    def shown(self):
        """The boldest step that is shown, or None."""
        return ([s for s in self.steps if s.shown] or [None])[-1]


def climb(question, predictions, choice, significance, n_claims):
    """Test the ladder in its order, each step at the full significance, until one fails.

    The order does not depend on these people, so the probability that any claim is false is at
    most `significance`, without a correction for the number of steps or candidates.

    `question`: about the claim part. `predictions`: of the present model and of each candidate;
    None of one that failed. `n_claims`: largest number of steps.
    """
    present, *candidates = predictions
    steps = steps_of(question, predictions, choice, significance, n_claims)
    low, high = np.full((2, len(candidates)), np.nan)
    critical, upper_bounds = -ndtri(significance / 2), [0.0]
    for k, candidate in enumerate(candidates):
        if candidate is None:
            continue
        low[k], high[k] = question.gain_bounds(
            present, candidate, choice.pairs[0], choice.pairs[k + 1], critical
        )
        # `score_z` is large where a candidate is surely within the margin, so that this leaves out
        # only those that are surely beyond it.
        if question.score_z(present, candidate) > -critical:
            upper_bounds.append(high[k])
    # The candidate that truly gains most is one, though it is not known which: its bound alone
    # has to hold, whatever the number of candidates.
    return Claim(steps, low, high, max(upper_bounds))


def steps_of(question, predictions, choice, significance, n_claims):
    """Return the tests of the ladder, up to the first that fails; see `climb`."""
    present, *alternatives = predictions
    steps = []
    # Some candidates cannot be asked about these people.
    testable = [k for k in choice.ladder if alternatives[k] is not None]
    for k in testable[:n_claims]:
        steps.append(judged(question, present, alternatives[k], choice.pairs[0], significance, k))
        if not steps[-1].shown:
            break
    return steps


def judged(question, present, alternative, pairs, significance, index=-1):
    """Return the test of one alternative: both promises have to hold (intersection-union)."""
    score_z = question.score_z(present, alternative)
    gain_z = question.gain_z(present, alternative, pairs)
    z = min(score_z, gain_z)
    return LadderStep(index, score_z, gain_z, float(ndtr(-z)), bool(z > -ndtri(significance)))
