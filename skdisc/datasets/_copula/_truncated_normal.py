"""Exact draws of a normal vector within a box."""

import math

import numpy as np
from scipy.special import ndtr, ndtri

_BLOCK = 2**16  # number of proposals drawn at once
_MIN_PROPOSALS, _MIN_SHARE = 2**21, 1e-5  # a smaller accepted share after this many is an error


class Box:
    """A normal vector within a box, drawn exactly by rejection.

    A proposal draws the coordinates in turn from their truncated conditional laws. It is accepted
    with probability w / w_max, where w is the product of the conditional probabilities of the
    intervals, which the proposal ignores, and w_max is a bound on w over the box.
    """

    def __init__(self, latent, fixed):
        self.index = np.array(list(fixed))
        self.low, self.high = np.array([ends[:2] for ends in fixed.values()]).T
        order = mass(self.low, self.high).argsort(kind="stable")
        self.index, self.low, self.high = self.index[order], self.low[order], self.high[order]
        cover = latent[self.index[:, None], self.index]
        self.slopes, self.scales, self.most = [np.empty(0)], [1.0], 1.0
        for i in range(1, len(order)):
            slope = np.linalg.solve(cover[:i, :i], cover[:i, i])
            self.slopes.append(slope)
            self.scales.append(math.sqrt(max(1 - slope @ cover[:i, i], 1e-12)))
            self.most *= self._bound(i)

    def _bound(self, i):
        """Return a bound on the conditional probability of interval `i` over the box so far."""
        slope = self.slopes[i]
        used = slope != 0
        ends = slope[used] * (self.low[:i][used], self.high[:i][used])
        low, high = ends.min(axis=0).sum(), ends.max(axis=0).sum()
        middle = (self.low[i] + self.high[i]) / 2
        if np.isnan(middle):
            middle = 0.0
        mean = min(max(middle, low), high)
        if math.isinf(mean):
            return 1.0
        a, b = (self.low[i] - mean) / self.scales[i], (self.high[i] - mean) / self.scales[i]
        return float(mass(a, b))

    def propose(self, u):
        """Return the proposals for uniform numbers of shape (n_fixed, n), and their weights w."""
        z, weight = np.empty(u.shape), np.ones(u.shape[1])
        for i, (slope, scale) in enumerate(zip(self.slopes, self.scales, strict=True)):
            mean = slope @ z[:i] if i else 0.0  # a scalar keeps the first interval cheap
            low, high = self.low[i], self.high[i]
            if low == -math.inf:
                x, share = below((high - mean) / scale, u[i])
            elif high == math.inf:
                x, share = below((mean - low) / scale, 1 - u[i])
                x = np.negative(x, out=x)
            else:
                x, share = truncated((low - mean) / scale, (high - mean) / scale, u[i])
            z[i] = mean + scale * x if i else x
            if i:
                weight *= share
        return z, weight

    def probability(self, n, rng):
        """Estimate the probability of the box from `n` proposals; exact in one dimension."""
        first = float(mass(self.low[0], self.high[0]))
        if len(self.index) == 1:
            return first
        return first * float(self.propose(rng.random((len(self.index), n)))[1].mean())

    def draw(self, n, rng):
        """Draw `n` vectors in the box, as an array of shape (n_fixed, n)."""
        m, most = len(self.index), self.most
        if m == 1:
            return self.propose(rng.random((1, n)))[0]
        parts, n_found, n_tried = [np.empty((m, 0))], 0, 0
        while n_found < n:
            if most == 0 or (n_tried > _MIN_PROPOSALS and n_found < n_tried * _MIN_SHARE):
                raise ValueError(
                    "Fewer than 1 in 100,000 simulated people satisfy all conditions; relax one of "
                    "them."
                )
            rate = (n_found + 1) / (n_tried + 1)
            size = min(max(int(1.1 * (n - n_found) / rate) + 32, 256), _BLOCK)
            z, weight = self.propose(rng.random((m, size)))
            accepted = np.flatnonzero(rng.random(size) * most < weight)[: n - n_found]
            parts.append(z[:, accepted])
            n_found, n_tried = n_found + len(accepted), n_tried + size
        return parts[-1] if len(parts) == 2 else np.concatenate(parts, axis=1)


def mass(a, b):
    """Return the standard normal probability of [a, b], accurate in both tails."""
    flip = a > 0
    return ndtr(np.where(flip, -a, b)) - ndtr(np.where(flip, -b, a))


def below(b, u):
    """Return the quantiles `u` of the standard normal below b, and the probability below b."""
    share = ndtr(b)
    return ndtri(u * share), share


def truncated(a, b, u):
    """Return the quantiles `u` of the standard normal within [a, b], and its probability.

    Both are accurate in both tails.
    """
    if np.max(a) < 1:  # accurate without reflection
        low = ndtr(a)
        share = ndtr(b) - low
        return np.clip(ndtri(low + u * share), a, b), share
    flip = a > 0
    low, high = ndtr(np.where(flip, -b, a)), ndtr(np.where(flip, -a, b))
    share = high - low
    x = ndtri(low + np.where(flip, 1 - u, u) * share)
    return np.clip(np.where(flip, -x, x), a, b), share
