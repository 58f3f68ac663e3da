"""Verification by adaptive concentration: sample until every specification is decided."""

import math
from dataclasses import dataclass, field

import numpy as np

from skdisc import _stats
from skdisc._stats._bisection import bisected
from skdisc.group._verifair_specification import FAIR, UNDECIDED, UNFAIR

_GROWTH = 1.5  # factor by which the draws of a mean grow with each batch


def radius(n, delta):
    r"""Return the error bound of the mean of n draws in [0, 1], valid at any stopping time.

    :math:`\sqrt{(0.6 \ln(\log_{1.1} n + 1) + \frac59 \ln(24 / \delta)) / n}`: with probability
    1 - delta, for all n at once (Zhao et al. 2016, :doi:`10.48550/arXiv.1610.07214`).

    >>> print([round(radius(n, 0.5e-10), 4) for n in (1_000, 10_000, 100_000)])
    [0.1324, 0.0421, 0.0134]
    """
    if n < 1:
        return math.inf
    loops = 0.6 * math.log(math.log(n, 1.1) + 1)
    return math.sqrt((loops + 5 / 9 * math.log(24 / delta)) / n)


@dataclass
class DrawTally:
    """Draws of the outcomes behind one mean.

    Parameters
    ----------
    draw : callable
        Takes a number n and returns n outcomes in [0, 1], independent of earlier ones.
    rows : ndarray of float, or None
        The outcomes that are drawn from, if they are known; themselves a sample of people.
    """

    draw: object
    rows: object = None
    n: int = 0
    total: float = 0.0

    def extend(self, n):
        """Draw n more."""
        self.total += float(np.sum(self.draw(n)))
        self.n += n

    @property
    def mean(self):
        """Mean of the draws; NaN before the first."""
        return self.total / self.n if self.n else math.nan

    def near(self, delta):
        """Return the mean of the draws, and its error bound for the source of the draws."""
        return (self.mean, radius(self.n, delta)) if self.n else (math.nan, math.inf)

    def beyond(self, delta):
        """Return the mean of the rows, and its error bound for the population."""
        mean = float(self.rows.mean())
        low, high = _stats.clopper_pearson(self.rows.sum(), len(self.rows), delta)
        return mean, float(max(high - mean, mean - low))

    def error(self, delta):
        """Return the error bound of the mean of the draws for the population."""
        if self.rows is None:
            return self.near(delta)[1]
        return self.near(delta / 2)[1] + self.beyond(delta / 2)[1]


@dataclass
class Verification:
    """A specification, and the draws that decide it, in one or both orientations.

    Parameters
    ----------
    spec : Spec
    tallies : dict of Mean to DrawTally
    delta : float
        Probability that any verdict is wrong.
    ambiguity : float
        A term known to be this close to 0 may get either verdict.
    swaps : tuple of bool
        The orientations to decide: a against b (False), and b against a (True).
    gap : tuple of (float, float), optional
        A gap of the means of both groups, and an error rate: where the specification holds,
        sampling goes on until a larger gap is excluded, or the error is a quarter of it.
    """

    spec: object
    tallies: dict
    delta: float
    ambiguity: float = 0.0
    swaps: tuple = (False, True)
    gap: tuple | None = None
    certificates: list = field(default_factory=list)

    @property
    def n_draws(self):
        """Number of draws, all means together."""
        return sum(t.n for t in self.tallies.values())

    def run(self, first, most, go_on):
        """Draw batches that grow geometrically until all orientations are decided.

        Parameters
        ----------
        first : int
            Draws per mean in the first batch.
        most : int
            Largest number of draws per mean.
        go_on : callable
            Takes the number of draws of the next batch; returns how many of them are allowed.
        """
        n = 0
        while n < most:
            target = min(most, first if n == 0 else math.ceil(n * _GROWTH))
            n_draws = (target - n) * len(self.tallies)
            if go_on(n_draws) < n_draws:
                break
            for tally in self.tallies.values():
                tally.extend(target - n)
            n = target
            self.decide()
            if all(c.verdict != UNDECIDED for c in self.certificates) and self._is_sharp():
                break
        self.decide()

    @property
    def sides(self):
        """The draws of the first mean of both groups, a tuple of DrawTally."""
        means = sorted(self.tallies, key=lambda m: m.group)
        return tuple(self.tallies[next(m for m in means if m.group == g)] for g in "ab")

    def _is_sharp(self):
        """Return whether more draws would say no more about the gap."""
        if self.gap is None or any(c.verdict == UNFAIR for c in self.certificates):
            return True
        (first, second), (largest, a) = self.sides, self.gap
        error = first.near(a / 2)[1] + second.near(a / 2)[1]
        excluded = abs(first.mean - second.mean) + error <= largest
        return not np.isfinite(largest) or excluded or error <= largest / 4

    def decide(self):
        """Decide by the draws so far, in all orientations, and keep the certificates."""
        self.certificates = [self._decided(swap, self.delta) for swap in self.swaps]

    def _decided(self, swap, delta, bound=DrawTally.near):
        """Decide the specification with the error rate delta, divided among all means."""
        # By the union bound: error rates of the means of a specification add up.
        delta_of_mean = delta / len(self.tallies)

        def bounded(mean):
            tally = self.tallies[mean.swapped() if swap else mean]
            return bound(tally, delta_of_mean)

        return self.spec.decide(bounded, self.ambiguity)

    def is_fair(self):
        """Return whether both orientations are certified as fair, of the population, too."""
        verdicts = [c.verdict for c in self.certificates]
        if all(t.rows is not None for t in self.tallies.values()):
            for swap in self.swaps:
                verdicts.append(self._decided(swap, self.delta, DrawTally.beyond).verdict)
        return set(verdicts) == {FAIR}

    def p_value(self, orientation):
        """Return the smallest delta at which the verdict is unfair; 1 if there is none.

        If rows are drawn from, the verdict on the population must be unfair at delta, too.
        """
        bounds = [DrawTally.near]
        if all(tally.rows is not None for tally in self.tallies.values()):
            bounds.append(DrawTally.beyond)
        swap = self.swaps[orientation]
        return max(self._smallest_delta(swap, bound) for bound in bounds)

    def _smallest_delta(self, swap, bound):
        """Return the smallest delta at which the verdict is unfair, by bisection of its logarithm.

        The error bounds of means grow as delta falls, so that above this delta the verdict stays
        unfair. A smaller delta than 1e-300 is not looked for.

        Parameters
        ----------
        swap : bool
            The orientation.
        bound : callable
            `DrawTally.near` or `DrawTally.beyond`: the mean of a tally, and its error bound.
        """
        low, high = math.log(1e-300), 0.0

        def unfair(log_delta):
            return self._decided(swap, math.exp(log_delta), bound).verdict == UNFAIR

        if not unfair(high):
            return 1.0
        return math.exp(bisected(lambda x: not unfair(x), low, high, 40)[1])
