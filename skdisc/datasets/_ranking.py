"""Queue data: a random order of people, a share of whom discrimination then reorders by group."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval

from skdisc._stats._finite_population import log_ways
from skdisc._utils._settings import SHARE
from skdisc._utils._types import Seed
from skdisc.datasets._scenario import bunch_of, numbers_from, scenario, tables

_REACH = 9  # the exact law covers this many standard deviations of a hypergeometric count


@dataclass(frozen=True)
class RankingLaw:
    r"""The exact law of the number of accepted people in the protected group.

    Let :math:`T` of the :math:`k` reordered people have places among the first `n_positive`, let
    :math:`H` be the number of protected people among the other accepted people, and let :math:`k_1`
    (`n_picked_protected`) and :math:`k_0` (`n_picked_regular`) be the numbers of reordered people
    in each group. Then

    .. math::

        T &\sim \text{Hyp}(n, k, n_+), \quad H \mid T \sim \text{Hyp}(n - k, n_1 - k_1, n_+ - T) \\
        F_+ &= H + \max(0, T - k_0) \ (d \geq 0), \quad F_+ = H + \min(T, k_1) \ (d < 0).

    Parameters
    ----------
    n_protected, n_regular : int
        Number of people in each group.
    n_positive : int
        Number of people accepted.
    n_picked_protected, n_picked_regular : int
        Number of reordered people in each group.
    reverse : bool
        Whether the protected group is moved to the front.
    """

    n_protected: int
    n_regular: int
    n_positive: int
    n_picked_protected: int
    n_picked_regular: int
    reverse: bool

    @classmethod
    def of(
        cls, n_samples: int, p_protected: float, p_positive: float, discrimination: float
    ) -> Self:
        """Return the law for the parameters of `make_ranking_discrimination`."""
        n_protected, n_positive = (round(n_samples * p) for p in (p_protected, p_positive))
        n_regular = n_samples - n_protected
        return cls(
            n_protected=n_protected,
            n_regular=n_regular,
            n_positive=n_positive,
            n_picked_protected=round(abs(discrimination) * n_protected),
            n_picked_regular=round(abs(discrimination) * n_regular),
            reverse=discrimination < 0,
        )

    def pmf(self) -> np.ndarray:
        """Return the probability of each number of accepted protected people.

        Returns an ndarray that sums to one. Probabilities below about 1e-18 are zero.
        """
        n = self.n_protected + self.n_regular
        n_picked = self.n_picked_protected + self.n_picked_regular
        mass = np.zeros(self.n_protected + 1)
        first, p_first = _hypergeometric(n, n_picked, self.n_positive)
        for t, p in zip(first, p_first, strict=True):
            rest = self.n_protected - self.n_picked_protected
            rest_counts, q = _hypergeometric(n - n_picked, rest, self.n_positive - t)
            mass[rest_counts + self._of_picked(t)] += p * q
        return mass / mass.sum()

    def expect(self, function: Callable[[Any, Any], Any]) -> float:
        """Return the mean of ``function(a, b)`` over the law.

        `function`: takes two arrays, the acceptance rates of the regular (a) and the protected
        group (b). Returns a float: NaN if a group is empty.
        """
        if not self.n_protected or not self.n_regular:
            return np.nan
        mass = self.pmf()
        count = np.flatnonzero(mass)
        a = (self.n_positive - count) / self.n_regular
        return float(mass[count] @ function(a, count / self.n_protected))

    def sample(self, size: int, random_state: Seed = None) -> np.ndarray:
        """Draw numbers of accepted protected people, an int array of shape (size,)."""
        rng = numbers_from(random_state)
        n_picked = self.n_picked_protected + self.n_picked_regular
        n_others = self.n_protected + self.n_regular - n_picked
        first = _draw(rng, n_picked, n_others, np.full(size, self.n_positive))
        rest = self.n_protected - self.n_picked_protected
        return self._of_picked(first) + _draw(rng, rest, n_others - rest, self.n_positive - first)

    def _of_picked(self, first):
        """Return the number of protected people on the first reordered places."""
        if self.reverse:
            return np.minimum(first, self.n_picked_protected)
        return np.maximum(0, first - self.n_picked_regular)


def _draw(rng, good, bad, n_drawn):
    """Draw hypergeometric counts; samples and populations may be empty."""
    if not good + bad:
        return np.zeros_like(n_drawn)
    return np.where(n_drawn > 0, rng.hypergeometric(good, bad, np.maximum(n_drawn, 1)), 0)


def _hypergeometric(n, good, n_drawn):
    """Return the possible counts of a hypergeometric variable and their probabilities."""
    low, high = max(0, n_drawn - (n - good)), min(good, n_drawn)
    if n > 1:
        mean, spread = (
            good * n_drawn / n,
            good * n_drawn * (n - good) * (n - n_drawn) / n**2 / (n - 1),
        )
        reach = _REACH * np.sqrt(spread) + 30
        low, high = max(low, int(mean - reach)), min(high, int(mean + reach) + 1)
    x = np.arange(low, high + 1)
    logs = log_ways(good, x) + log_ways(n - good, n_drawn - x) - log_ways(n, n_drawn)
    return x, np.exp(logs)


@scenario(
    p_protected=[SHARE], p_positive=[SHARE], discrimination=[Interval(Real, -1, 1, closed="both")]
)
def make_ranking_discrimination(
    n_samples: int = 1000,
    *,
    p_protected: float = 0.5,
    p_positive: float = 0.5,
    discrimination: float = 0.0,
    return_X_y: bool = False,
    as_frame: bool = True,
    random_state: Seed = None,
) -> Bunch | tuple[Any, Any]:
    """Make a queue in random order, except for a share of people who are reordered by group.

    A share `discrimination` of each group is chosen at random. On their places, the people of the
    regular group are moved before those of the protected group. The first people in the queue are
    accepted.

    Parameters
    ----------
    n_samples : int, default=1000
    p_protected : float, default=0.5
        Share of protected people (exact up to rounding).
    p_positive : float, default=0.5
        Share of accepted people (exact up to rounding).
    discrimination : float, default=0.0
        Share of reordered people, from 0 (none) to 1 (all). If it is negative, the protected group
        is moved to the front.
    as_frame : bool, default=True
        Return pandas objects; otherwise arrays, with group 1 for protected and 0 for regular.

    Returns
    -------
    bunch : Bunch
        ``data`` (the column group), ``target`` (1 accepted), ``frame`` (both; None for arrays),
        ``place`` (position in the queue, from 0) and ``fair_place`` (before the reordering),
        ``feature_names``, ``target_names``, ``protected``, ``DESCR``; and ``law``, the exact law of
        the number of accepted protected people, with methods ``pmf()``, ``expect(function)`` and
        ``sample(size)``.
    (data, target) : tuple
        If `return_X_y`.

    Notes
    -----
    As in the author's program, the sizes of the groups are fixed, and the same share of each group
    is reordered. In the text of the paper, groups are drawn at random, and the reordered people are
    chosen without regard to group.

    References
    ----------
    I. Zliobaite: Measuring discrimination in algorithmic decision making. Data Mining and
    Knowledge Discovery 31 (2017), section 5. doi:10.1007/s10618-017-0506-1

    Examples
    --------
    >>> queue = make_ranking_discrimination(discrimination=0.5, random_state=0)
    >>> queue.frame.groupby("group")["accepted"].mean().to_dict()
    {'protected': 0.258, 'regular': 0.742}
    >>> round(queue.law.expect(lambda a, b: a - b), 3)
    0.487
    """
    rng = numbers_from(random_state)
    law = RankingLaw.of(n_samples, p_protected, p_positive, discrimination)
    protected = rng.permutation(np.repeat([True, False], [law.n_protected, law.n_regular]))
    fair_place = rng.permutation(n_samples)
    place = _reorder(protected, fair_place, law, rng)
    accepted = (place < law.n_positive).astype(int)
    columns = {"group": protected}
    data, target = tables(columns, ("regular", "protected"), accepted, "accepted", as_frame)
    if return_X_y:
        return data, target
    return bunch_of(
        data,
        target,
        columns,
        ["refused", "accepted"],
        make_ranking_discrimination.__doc__,
        place=place,
        fair_place=fair_place,
        law=law,
    )


def _reorder(protected, fair_place, law, rng):
    """Return the places after the chosen people are sorted by group among their own places."""
    groups = np.flatnonzero(~protected), np.flatnonzero(protected)
    sizes = law.n_picked_regular, law.n_picked_protected
    picked = [rng.choice(g, k, replace=False) for g, k in zip(groups, sizes, strict=True)]
    picked = [chosen[np.argsort(fair_place[chosen])] for chosen in picked]
    order = np.concatenate(picked[::-1] if law.reverse else picked)
    place = fair_place.copy()
    place[order] = np.sort(fair_place[order])
    return place
