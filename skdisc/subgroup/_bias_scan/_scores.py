r"""Scores of a scan: log-likelihood ratios that add up over rows.

With the direction folded into the sign of :math:`a`, the score of a group is

.. math:: \max_{t \ge 0} F(t), \quad F(t) = a t - \sum_b h_b \ell_b(\pm t),

concave in t, where :math:`a` (observed outcomes) and :math:`h` (weights of bins of rows with equal
expectations) are sums over its members. Groups are rows of arrays: a of shape (...,), h of shape
(..., n_bins).
"""

from itertools import islice

import numpy as np

_STEPS = 12
_NEAR = 1e-7


def _odds(p):
    def loss(theta):
        share = p * np.exp(theta)
        share /= 1 - p + share
        yield np.log1p(np.expm1(theta) * p)
        yield share
        yield share * (1 - share)

    return loss


def _rate(theta):
    q = np.exp(theta)
    yield from (np.expm1(theta), q, q)


def _square(theta):
    yield from (theta**2 / 2, theta, np.ones_like(theta))


class Score:
    """One score in one direction.

    Parameters
    ----------
    kind : {"odds", "rate", "square"}
        The loss of the alternative: odds multiplied by exp(t), rates multiplied by exp(t), or a
        normal mean shifted by t.
    sign : {-1, 1}
        1: more than expected; -1: less.
    p : ndarray of float, shape (n_bins,)
        Expected share of each bin; only its length is used if `kind` is not "odds".
    furthest : float
        Largest t.
    """

    def __init__(self, kind, sign, p, furthest=12.0):
        self._loss = {"odds": _odds(p), "rate": _rate, "square": _square}[kind]
        self.sign, self.n_bins = sign, len(p)
        self.grid = furthest * np.linspace(0, 1, 33) ** 2
        self._gaps = np.diff(self.grid)
        self._table = np.ascontiguousarray(
            np.broadcast_to(next(self._losses(self.grid)), (len(self.grid), self.n_bins)).T
        )

    def _losses(self, t):
        """Yield the loss of each bin at t and its two derivatives, shape (..., n_bins or 1).

        Each is computed when it is asked for.
        """
        losses = self._loss(self.sign * t[..., None])
        yield next(losses)
        yield self.sign * next(losses)
        yield next(losses)

    def _at(self, t, a, h, n=3):
        """Return F and its derivatives at t, the first n of three."""
        total, sums = None, []
        for x in islice(self._losses(t), n):
            if x.shape[-1] == 1:
                total = h.sum(axis=-1) if total is None else total
                sums.append(np.squeeze(x, -1) * total)
            else:
                sums.append(np.einsum("...b,...b", h, x))
        loss, first, *second = sums
        return a * t - loss, a - first, *(-x for x in second)

    def on_grid(self, a, h):
        """Return F at each point of the grid, shape (..., n_points)."""
        return a[..., None] * self.grid - h @ self._table

    def peak(self, a, h, grid_values=None):
        """Return the position of the maximum of F, and the maximum.

        Returns
        -------
        t, value : ndarray of float, shape (...,)
        """
        values = self.on_grid(a, h) if grid_values is None else grid_values
        index = values.argmax(axis=-1)
        low = self.grid[np.maximum(index - 1, 0)]
        high = self.grid[np.minimum(index + 1, len(self.grid) - 1)]
        t = self.grid[index]
        best = np.take_along_axis(values, index[..., None], -1)[..., 0]
        best_t = t
        for _ in range(_STEPS):
            previous = t
            value, slope, bend = self._at(t, a, h)
            best_t, best = np.where(value > best, t, best_t), np.maximum(value, best)
            low, high = np.where(slope > 0, t, low), np.where(slope < 0, t, high)
            t = np.divide(slope, -bend, out=np.full_like(t, np.inf), where=bend < 0) + t
            t = np.where((t > low) & (t < high), t, (low + high) / 2)
            if (np.abs(slope * (t - previous)) <= _NEAR).all():  # bounds the gain of a step
                break
        return best_t, best

    def may_win(self, values, cost, allowed):
        """Return which candidates of a row may have the largest F less cost, given F on the grid.

        Parameters
        ----------
        values : ndarray of float, shape (n_rows, n_candidates, n_points)
        cost : ndarray of float, broadcast to (n_rows, n_candidates)
        allowed : ndarray of bool, shape (n_rows, n_candidates)
        """
        upper = self._bound(values)
        lower = np.where(allowed, values.max(axis=-1) - cost, -np.inf)
        return allowed & (upper - cost >= lower.max(axis=1, keepdims=True) - 1e-9)

    def _bound(self, values):
        """Return an upper bound on the peak, given F on the grid.

        F is concave, so the extended chords next to its largest value on the grid are above it.
        """
        inner = np.clip(values.argmax(axis=-1)[..., None], 1, len(self.grid) - 2)
        rows = values.reshape(-1, len(self.grid))
        start = len(self.grid) * np.arange(len(rows)).reshape(inner.shape)
        before, middle, after = (rows.take((start + inner + i)[..., 0]) for i in (-1, 0, 1))
        gap_before, gap_after = (self._gaps[inner[..., 0] + i] for i in (-1, 0))
        beyond = np.maximum(
            (middle - before) / gap_before * gap_after, (middle - after) / gap_after * gap_before
        )
        upper = np.maximum(middle + beyond, np.maximum(before, after))
        return upper

    def interval(self, a, h, level):
        """Return the ends of {t : F(t) > level}, an interval as F is concave; level >= 0.

        Returns
        -------
        low, high : ndarray of float, shape (...,)
            Both are the end of the grid if the interval is empty; `high` is the end of the grid if
            F does not fall to the level before it.
        """
        end = self.grid[-1]
        low, high = np.full(a.shape, end), np.full(a.shape, end)
        has_roots = self._at(np.zeros(1), a, h, n=2)[1] > 0  # F(0) = 0, so F must increase
        a, h = a[has_roots], h[has_roots]
        values = self.on_grid(a, h)
        t, peak = self.grid[values.argmax(axis=-1)], values.max(axis=-1)
        unsure = (peak <= level) & (self._bound(values) > level)
        if unsure.any():
            t[unsure], peak[unsure] = self.peak(a[unsure], h[unsure], values[unsure])
        above = peak > level
        has_roots[has_roots] = above
        if not has_roots.any():
            return low, high
        t, a, h, values = t[above], a[above], h[above], values[above]
        below = values <= level
        below_left = below & (self.grid <= t[:, None])
        below_right = below & (self.grid >= t[:, None])
        start = self.grid[len(self.grid) - 1 - np.argmax(below_left[:, ::-1], axis=1)]
        stop = self.grid[np.argmax(below_right, axis=1)]
        roots = self._root(np.stack([start, stop]), a, h, level, t)
        low[has_roots], high[has_roots] = roots[0], np.where(below_right.any(axis=1), roots[1], end)
        return low, high

    def _root(self, start, a, h, level, peak):
        """Return the roots of F(t) = level by Newton's method.

        F is concave, and at `start` at or below the level, on the side of the root that is away
        from `peak`. From there, the tangent reaches the level before F does, so that no step
        passes the root.

        Parameters
        ----------
        start : ndarray of float, shape (..., n)
        a, h : sums of n groups
        level : float
        peak : ndarray of float, shape (n,)
            A point at which F is above the level.
        """
        t, ends = start, (np.minimum(start, peak), np.maximum(start, peak))
        for _ in range(_STEPS):
            value, slope = self._at(t, a, h, n=2)
            step = np.divide(value - level, slope, out=np.zeros_like(t), where=slope != 0)
            before, t = t, np.clip(t - step, *ends)
            if (np.abs(t - before) <= 1e-4 * t).all():  # the next step is far smaller
                break
        return t
