"""The choice: which candidates are tested, and in which order, before the claim part is opened."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

POWER = 0.8  # of the number of people that a claim needs


@dataclass(frozen=True)
class Choice:
    """Candidates ordered by how sure it is that they keep both promises: the safest first.

    The smallest gap within the margin is no good rule: it chooses a candidate that is truly beyond
    the margin in .11 to .47 of data sets.

    Attributes
    ----------
    pairs : list of dict
        The two groups of the largest gap by column, of the present model and of each candidate;
        None for candidates that failed.
    score, gap : ndarray of float, shape (n_candidates + 1,)
        Of the present model, and of each candidate; the gap is the largest of all columns.
    ladder : list of int
        Candidates in the order of the tests: each is less unequal than the one before.
    n : int
        People behind the choice.
    """

    pairs: list
    score: np.ndarray
    gap: np.ndarray
    score_z: np.ndarray
    gain_z: np.ndarray
    ladder: list
    n: int

    @classmethod
    def of(cls, question, predictions, *, by_part=False):
        """Return the choice by predictions of the present model and of each candidate, or None.

        `by_part`: whether the claim will be about the mean over parts of the largest gaps.
        """
        present, tested = predictions[0], replace(question, by_part=by_part)
        widest = [question.widest(p) if p is not None else None for p in predictions]
        pairs = [w and {name: pair for name, (pair, _) in w.items()} for w in widest]
        score, gap, score_z, gain_z = (np.full(len(predictions), np.nan) for _ in range(4))
        for i, p in enumerate(predictions):
            if p is not None:
                score[i], gap[i] = (
                    question.score(p),
                    largest({name: gap for name, (_, gap) in widest[i].items()}),
                )
                score_z[i] = question.score_z(present, p)
                gain_z[i] = tested.gain_z(present, p, pairs[0])
        score_z, gain_z = score_z[1:], gain_z[1:]
        ladder = []
        for k in np.argsort(-np.minimum(score_z, gain_z), kind="stable"):
            lower = not ladder or gap[k + 1] < gap[ladder[-1] + 1]
            if not np.isnan(gap[k + 1]) and lower:  # of failed ones, and of undefined ratios
                ladder.append(int(k))
        return cls(pairs, score, gap, score_z, gain_z, ladder, len(question.y))

    @property
    def z(self):
        """The smaller z of each candidate."""
        return np.minimum(self.score_z, self.gain_z)

    @property
    def safest_first(self):
        """All candidates that can be tested, in the order of their z."""
        order = np.argsort(-self.z, kind="stable")
        return [int(k) for k in order if not np.isnan(self.gap[k + 1])]

    def foreseen(self, n_claim, significance):
        r"""Return the probability that the test of m people shows each candidate.

        It is :math:`\Phi((z - 1) \sqrt{m / n} - z_\alpha)`: one is taken from z because the
        candidates were chosen by it.
        """
        return ndtr((self.z - 1) * np.sqrt(n_claim / self.n) + ndtri(significance))


def people_needed(z, n, significance):
    """Return how many people show with probability .8 what n people show with this z; else NaN."""
    if not z > 0:
        return np.nan
    return float(np.ceil(n * (ndtri(POWER) - ndtri(significance)) ** 2 / z**2))


def largest(gaps):
    """Return the largest gap of several columns; NaN if none is known."""
    values = [g for g in gaps.values() if not np.isnan(g)]
    return max(values) if values else np.nan
