"""Gaps of pay between women and men, in percent of men's, with intervals: arrays in, arrays out.

A gap is the difference of the averages of men and women as a share of men's: Directive (EU)
2023/970, Article 3(1)(c) and (e), and regulations 8 to 11 of the United Kingdom's Gender Pay Gap
Information Regulations 2017. It is positive where women's pay is lower.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from skdisc._stats import DesignMeans, newcombe, wilson
from skdisc._stats._bisection import bisected
from skdisc._stats._equivalence import power_quantile
from skdisc._stats._means import Welch, too_skewed
from skdisc._stats._ranks import weighted_quantile, weighted_quantile_limits

ABOVE, BELOW, OPEN = "above", "below", "cannot tell"
WOMEN, MEN = 0, 1
_LEAST = -99.0  # a gap of -9,900 %: men have a hundredth of women's pay
_ALL, _LEFT_OUT = 40, 16  # people of a sex of whom each, or so many, are left out, one at a time
_SURE = 0.1  # of the largest pay, what all but the two largest must add up to at least
_ROUNDING = 1e-9  # relative
_HALVINGS = 44  # of 100, after which ends are known to 1e-11


@dataclass(frozen=True)
class PaidPeople:
    """Whose averages are compared.

    Parameters
    ----------
    is_woman, is_man : ndarray of bool, shape (n,)
        Those who are neither have a place in quarters of all people, and no part in gaps.
    weight : ndarray of float, shape (n,)
    cluster : ndarray of int, shape (n,), default=None
        None: each row is a person.
    """

    is_woman: np.ndarray
    is_man: np.ndarray
    weight: np.ndarray
    cluster: np.ndarray | None = None

    @property
    def is_simple(self) -> bool:
        """Whether each row is a person who counts once."""
        return self.cluster is None and bool((self.weight == 1).all())

    def only(self, members: np.ndarray) -> "PaidPeople":
        """Return the people of a mask, or of an array of positions."""
        return PaidPeople(
            is_woman=self.is_woman[members],
            is_man=self.is_man[members],
            weight=self.weight[members],
            cluster=None if self.cluster is None else self.cluster[members],
        )

    def counts(self, stratum: np.ndarray, n_strata: int) -> np.ndarray:
        """Return the numbers of women, men and others, shape (3, n_strata).

        Several rows of a cluster are one person.
        """
        sides = self.is_woman, self.is_man, ~(self.is_woman | self.is_man)
        strata = [stratum[side] for side in sides]
        if self.cluster is not None:
            pairs = (np.stack([stratum[side], self.cluster[side]]) for side in sides)
            strata = [np.unique(pair, axis=1)[0] for pair in pairs]
        return np.array([np.bincount(codes, minlength=n_strata) for codes in strata])

    def sizes(self) -> list[int]:
        """Return the numbers of women, men and others."""
        return self.counts(np.zeros(len(self.weight), dtype=int), 1)[:, 0].tolist()

    def means(self, values: np.ndarray, stratum: np.ndarray | None = None, n_strata: int = 1):
        """Return the weighted means of women and men in strata, a `DesignMeans`."""
        return DesignMeans.of(
            values,
            self.weight,
            self.is_woman,
            self.is_man,
            self.cluster,
            stratum=stratum,
            n_strata=n_strata,
        )


@dataclass(frozen=True)
class Gaps:
    """Gaps, one for each stratum; NaN where men's average is 0 or a side is empty.

    Attributes
    ----------
    averages : ndarray of float, shape (2, n_strata)
        Of women and of men.
    gap, low, high : ndarray of float, shape (n_strata,)
        Shares of men's average; the ends are infinite where nothing is known.
    reason : ndarray of object, shape (n_strata,)
        Why there is no interval, or "".
    """

    averages: np.ndarray
    gap: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reason: np.ndarray


def dominated(pay: np.ndarray, people: PaidPeople, inside: np.ndarray) -> bool:
    """Return whether an average of women or men would tell the pay of one of them.

    By the p % rule of official statistics: who has the second-largest pay knows it, and estimates
    the largest by the sum of all others. This must be wrong by a tenth of the largest pay or more,
    so the rest has to be as much. (A. Hundepool et al., *Statistical Disclosure Control*, 2012,
    section 4.2.)

    Parameters
    ----------
    pay : ndarray of float, shape (n,)
        At least 0.
    people : PaidPeople
    inside : ndarray of bool, shape (n,)
        Those whom the average is about.
    """
    for side in (people.is_woman, people.is_man):
        members = side & inside
        several = pay[members]
        if people.cluster is not None:
            several = np.bincount(people.cluster[members], several)
        largest = np.sort(several)[::-1]
        if largest[:1].sum() > 0 and largest[2:].sum() < _SURE * largest[0]:
            return True
    return False


def mean_gaps(
    pay: np.ndarray,
    people: PaidPeople,
    significance: float,
    stratum: np.ndarray | None = None,
    n_strata: int = 1,
) -> Gaps:
    r"""Return gaps of mean pay, and the gaps that are not rejected (Fieller 1954).

    A gap g is rejected if the means of women's pay and of :math:`(1 - g)` times men's differ by the
    test of `Welch`, which knows skew; variances are those of `DesignMeans`.

    Parameters
    ----------
    pay : ndarray of float, shape (n,)
    people : PaidPeople
    significance : float
        One minus the level of the intervals.
    stratum : ndarray of int, shape (n,), optional
        Gaps are those within strata.
    n_strata : int, default=1
    """
    design = people.means(pay, stratum, n_strata)
    women, men = design.mean
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(men > 0, 1 - women / men, np.nan)

    def limits(tested_gap):
        return _compared(design, tested_gap).interval(significance)

    at_gap = limits(np.nan_to_num(gap))[0]
    is_known = ~np.isnan(at_gap) & ~np.isnan(gap)
    is_bounded = is_known & np.isfinite(at_gap)
    low = _root(lambda tested_gap: limits(tested_gap)[1] > 0, n_strata)
    high = _root(lambda tested_gap: limits(tested_gap)[0] > 0, n_strata)
    # Where nobody varies both ends are the gap, which halving finds up to rounding.
    low, high = np.fmin(low, gap), np.fmax(high, gap)
    low, high = np.where(is_bounded, low, -np.inf), np.where(is_bounded, high, np.inf)
    samples = zip(*_scaled(design, np.nan_to_num(gap)).moments(), strict=True)
    none = np.where(men == 0, "men's average is 0", "fewer than 2 people of a sex")
    reason = np.where(is_known, too_skewed(*samples, significance), none)
    return Gaps(design.mean, gap, low, high, reason)


def _scaled(design, gap):
    """Return the means of women's pay and of (1 - gap) times men's."""
    factor = np.array([np.ones_like(gap), 1 - gap])
    return replace(
        design,
        mean=design.mean * factor,
        variance=design.variance * factor**2,
        covariance=design.covariance * factor[MEN],
        third=design.third * factor**3,
    )


def _compared(design, gap):
    """Compare women's mean with (1 - gap) times men's; nobody varies: they are equal or not."""
    women, men = zip(*_scaled(design, gap).moments(), strict=True)
    welch = Welch.of(women, men)
    is_constant = (welch.error == 0) & ~np.isnan(welch.gap)
    return replace(welch, df=np.where(is_constant, np.inf, welch.df))


def _root(is_beyond: Callable, n_strata: int) -> np.ndarray:
    """Return the least gap at which a limit is positive; limits grow with the gap."""
    ends = np.full(n_strata, _LEAST), np.ones(n_strata)
    low, high = bisected(lambda gap: ~is_beyond(gap), *ends, _HALVINGS)
    return np.where(low == _LEAST, -np.inf, high)


def median_gap(
    pay: np.ndarray, people: PaidPeople, significance: float, quantile: float = 0.5
) -> Gaps:
    r"""Return the gap of median pay, or of another quantile, of all people as one stratum.

    The limits of each quantile are Woodruff's, with the size that the variance of the share below
    it has in this design; those of the ratio are by Zou and Donner (2008,
    :doi:`10.1002/sim.3095`), on the scale of logarithms.
    """
    z = special.ndtri(1 - significance / 2)
    sides = people.is_woman, people.is_man
    if min(map(np.count_nonzero, sides)) < 2:
        return _one_gap([np.nan, np.nan], np.nan, reason="fewer than 2 people of a sex")
    medians, limits = [], []
    for side in sides:
        order = np.argsort(pay[side], kind="stable")
        value, weight = pay[side][order], people.weight[side][order]
        medians.append(weighted_quantile(value, weight, quantile))
        size = len(value)
        if not people.is_simple:
            is_below = (pay <= medians[-1]).astype(float)
            opposite = people.is_man if side is people.is_woman else people.is_woman
            side_first = replace(people, is_woman=side, is_man=opposite)
            size = float(side_first.means(is_below).sizes()[WOMEN, 0])
        limits.append(weighted_quantile_limits(value, weight, quantile, size, z))
    (women, men), (of_women, of_men) = np.array(medians), limits
    if not men > 0:
        return _one_gap(medians, np.nan, reason="the median of men is 0")
    with np.errstate(divide="ignore", invalid="ignore"):
        center = np.log(women) - np.log(men)
        down = np.hypot(np.log(women) - np.log(of_women[0]), np.log(of_men[1]) - np.log(men))
        up = np.hypot(np.log(of_women[1]) - np.log(women), np.log(men) - np.log(of_men[0]))
        low, high = 1 - np.exp(center + up), 1 - np.exp(center - down)
    if women == 0 and of_men[0] > 0:
        low, high = 1 - of_women[1] / men, 1.0
    gap = 1 - women / men
    if np.isfinite(low) and not np.isnan(high):
        return _one_gap(medians, gap, low, high)
    reason = "too few people for an interval, or the median may be 0"
    return _one_gap(medians, gap, reason=reason)


def _one_gap(averages, gap, low=-np.inf, high=np.inf, reason=""):
    """Return the gap of a single stratum."""
    numbers = (np.array([value]) for value in (gap, low, high))
    return Gaps(np.array(averages)[:, None], *numbers, np.array([reason], dtype=object))


def share_gap(receives: np.ndarray, people: PaidPeople, significance: float) -> Gaps:
    """Return the shares of women and of men who receive something, and men's less women's.

    The interval is Newcombe's; with weights or clusters, with effective numbers of people.
    """
    design = people.means(receives.astype(float))
    sizes = np.array([[people.is_woman.sum()], [people.is_man.sum()]], dtype=float)
    if not people.is_simple:
        sizes = design.sizes()
    women, men = design.mean
    low, high = newcombe(
        men * sizes[MEN], sizes[MEN], women * sizes[WOMEN], sizes[WOMEN], significance
    )
    is_known = ~np.isnan(low)
    reason = np.where(is_known, "", "a sex is missing").astype(object)
    low, high = np.where(is_known, low, -np.inf), np.where(is_known, high, np.inf)
    return Gaps(design.mean, men - women, low, high, reason)


def quarters(pay: np.ndarray, people: PaidPeople) -> np.ndarray:
    """Return how many women, men and others each quarter of pay has, the lowest first.

    The four quarters have as equal numbers of people as possible. Where people of the same pay are
    on both sides of a border, women and men are divided between these in the proportion in which
    they have that pay: regulation 13(2) of the Gender Pay Gap Information Regulations 2017. Numbers
    of people are whole; sums of weights are not.

    Parameters
    ----------
    pay : ndarray of float, shape (n,)
    people : PaidPeople

    Returns
    -------
    ndarray of float, shape (4, 3)
    """
    is_whole = bool((people.weight == 1).all())
    is_other = ~(people.is_woman | people.is_man)
    level = np.unique(pay, return_inverse=True)[1].ravel()
    n_levels = int(level.max(initial=-1)) + 1
    sides = people.is_woman, people.is_man, is_other
    of_level = np.array([np.bincount(level[s], people.weight[s], n_levels) for s in sides])
    below = np.concatenate([np.zeros((3, 1)), np.cumsum(of_level, axis=1)], axis=1)
    total = below.sum(axis=0)
    borders = total[-1] * np.arange(5) / 4
    if is_whole:
        borders = np.floor(borders + 0.5)
    ends = np.zeros((5, 3))
    for i, border in enumerate(borders[1:], start=1):
        position = int(np.searchsorted(total, border, side="right")) - 1
        ends[i] = np.maximum(below[:, position], ends[i - 1])
        shortfall = border - ends[i].sum()
        if shortfall > 0:  # places to fill with people whose pay is that of the border
            rest = below[:, position + 1] - ends[i]
            parts = rest * shortfall / rest.sum()
            ends[i] += _whole(parts, shortfall) if is_whole else parts
    return np.diff(ends, axis=0)


def _whole(parts, total):
    """Return whole numbers next to parts that add up to a whole total: largest remainders."""
    whole = np.floor(parts + 1e-9)
    missing = round(total - whole.sum())
    whole[np.argsort(whole - parts, kind="stable")[:missing]] += 1
    return whole


def share_of_women(counts: np.ndarray, significance: float) -> np.ndarray:
    """Return the share of women among women and men, and Wilson's interval, shape (3, ...).

    Parameters
    ----------
    counts : ndarray of float, shape (..., 3)
        Women, men and others; sums of weights are to be scaled to effective numbers.
    significance : float
    """
    women, total = counts[..., 0], counts[..., :2].sum(axis=-1)
    low, high = wilson(women, total, significance)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array([women / total, low, high])


def hours_share(pay, hourly, people, significance):
    """Return which share of the gap of pay goes with hours: 1 - gap per hour / gap of pay.

    Errors are linearized. NaN where the gap of pay may be 0, for then there is nothing to divide,
    and where both gaps are equal, as they are if everybody works the same hours.

    Parameters
    ----------
    pay, hourly : ndarray of float, shape (n,)
    people : PaidPeople
    significance : float

    Returns
    -------
    share, low, high : float
    """
    raw = mean_gaps(pay, people, significance)
    if not (raw.low[0] > 0 or raw.high[0] < 0) or not np.isfinite([raw.low[0], raw.high[0]]).all():
        return (np.nan,) * 3
    g, per_hour = raw.gap[0], 1 - np.divide(*people.means(hourly).mean)[0]
    if abs(per_hour - g) <= _ROUNDING * abs(g):
        return (np.nan,) * 3

    def influence(values):
        women, men = people.means(values).mean[:, 0]
        return np.where(people.is_woman, -1.0, women / men) * (values / men)

    moved = -influence(hourly) / g + per_hour * influence(pay) / g**2
    design = people.means(np.where(people.is_woman | people.is_man, moved, 0.0))
    error = np.sqrt(design.variance.sum() + 2 * design.covariance[0])
    share, z = 1 - per_hour / g, special.ndtri(1 - significance / 2)
    return share, share - z * error, share + z * error


def states(gaps: Gaps, relevant: float) -> np.ndarray:
    """Return whether each gap is surely above a size, surely below, or neither, by its interval.

    A gap to the disadvantage of men counts like one to that of women.
    """
    above = (gaps.low > relevant) | (gaps.high < -relevant)
    below = (gaps.low > -relevant) & (gaps.high < relevant)
    return np.where(above, ABOVE, np.where(below, BELOW, OPEN))


def _state_of_means(pay, people, significance, relevant):
    """Return the state of one gap of means: `states`, without its interval."""
    design = people.means(pay)
    of_women, of_men = (
        _compared(design, np.array([gap])).interval(significance) for gap in (relevant, -relevant)
    )
    if of_women[1][0] < 0 or of_men[0][0] > 0:
        return ABOVE
    return BELOW if of_women[0][0] > 0 and of_men[1][0] < 0 else OPEN


def people_to_tell(gaps: Gaps, counts: np.ndarray, relevant: float, significance: float):
    """Return how many people it would take to tell whether each gap is above or below a size.

    If the gap is as it was estimated, then with that many people of the same kind the interval
    would be on one side with probability .9. Infinite where the estimate is the size itself.

    Parameters
    ----------
    gaps : Gaps
    counts : ndarray of int, shape (2, n_strata)
        Of women and men.
    relevant, significance : float

    Returns
    -------
    ndarray of float, shape (n_strata,); NaN where there is no interval
    """
    z = special.ndtri(1 - significance / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = (gaps.high - gaps.low) / (2 * z)
        distance = np.abs(np.abs(gaps.gap) - relevant)
        needed = counts.sum(axis=0) * (power_quantile(significance / 2) * error / distance) ** 2
    return np.where(np.isfinite(error), needed, np.nan)


def turned_by_one(
    pay: np.ndarray, people: PaidPeople, significance: float, relevant: float
) -> bool:
    """Return whether the state of a gap is another one if any single person is left out.

    Each person, or cluster, of a sex of up to 40 people is left out in turn; of a larger one, 16
    are, from the lowest to the highest pay: how an end of the interval moves is a smooth function
    of pay.
    """
    first = _state_of_means(pay, people, significance, relevant)
    return any(
        _state_of_means(pay[positions], people.only(positions), significance, relevant) != first
        for positions in _without_one(pay, people)
    )


def _mean(pay, people):
    """Return mean pay, 0 if nobody counts."""
    return np.average(pay, weights=people.weight) if people.weight.sum() > 0 else 0.0


def _without_one(pay, people):
    """Yield the positions of all people but one, or one cluster."""
    unit = np.arange(len(pay)) if people.cluster is None else people.cluster
    left_out_units = set()
    for side in (people.is_woman, people.is_man):
        places = np.flatnonzero(side)
        n = len(places)
        order = places[np.argsort((people.weight * (pay - _mean(pay, people)))[places])]
        ranks = np.linspace(0, n - 1, n if n <= _ALL else _LEFT_OUT).round().astype(int)
        for place in order[ranks]:
            if unit[place] not in left_out_units:
                left_out_units.add(unit[place])
                yield np.flatnonzero(unit != unit[place])
