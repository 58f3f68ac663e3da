"""Neighborhoods: the people of fit among whom neighbors are searched, and sums over them."""

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat

import numpy as np
import pandas as pd

from skdisc._neighbors._distances import Distances, features_of
from skdisc._neighbors._nearest import shares, slack
from skdisc._neighbors._neighbor_sums import NeighborSums
from skdisc._space._codes import NOBODY
from skdisc.individual._situation_testing._mean_gap import as_numbers

_PERCENTILE = 0.95


@dataclass(frozen=True)
class Neighborhoods:
    """Sums over the control and the test group of several people, for several sizes of groups.

    Parameters
    ----------
    sums_c, sums_t : ndarray of float, shape (n, n_k, n_values)
        Sums over the control group and over the test group.
    n_c, n_t : ndarray of float, shape (n, n_k)
        Numbers of neighbors; ties that share a place make fractions.
    """

    sums_c: np.ndarray
    n_c: np.ndarray
    sums_t: np.ndarray
    n_t: np.ndarray

    def with_centers(self, person_values, counterpart_values):
        """Return the sums with the values of the persons and of their counterfactuals added."""
        sums = self.sums_c + person_values[:, None, :], self.sums_t + counterpart_values[:, None, :]
        return Neighborhoods(sums[0], self.n_c + 1, sums[1], self.n_t + 1)

    def and_centers(self, person_values, counterpart_values, n):
        """Return the sums with n sizes more: the persons and their counterfactuals alone."""
        one = np.ones((len(person_values), n))
        sums = [
            np.concatenate([s, np.repeat(values[:, None], n, axis=1)], axis=1)
            for s, values in ((self.sums_c, person_values), (self.sums_t, counterpart_values))
        ]
        sizes = [np.hstack([k, one]) for k in (self.n_c, self.n_t)]
        return Neighborhoods(sums[0], sizes[0], sums[1], sizes[1])


class Pools:
    """The control and the test pool of one comparison.

    Parameters
    ----------
    comparison : Comparison
    X : DataFrame
        The people of fit.
    values : ndarray of shape (n, n_values)
        What is summed over neighbors.
    detector : SituationDetector
        Its settings: features, similarity and n_jobs.
    like : Pools or None
        Another comparison of the same people, with which is shared what does not differ.
    """

    def __init__(self, comparison, X, values, detector, like=None):
        self.comparison, self.values = comparison, values
        is_control, is_test = comparison.control(X), comparison.test(X)
        self.control, self.test = np.flatnonzero(is_control), np.flatnonzero(is_test)
        self.columns = detector._feature_names(X, comparison.columns)
        frame = features_of(X, self.columns)
        metric, scale = detector._metric, detector._similarity.scale
        alike = like is not None and like.columns == self.columns
        like = like if alike and not callable(metric) and metric != "propensity" else None
        rows_compared = is_control | is_test if metric == "propensity" else slice(None)
        self.distances = (
            like.distances
            if like
            else Distances(
                metric,
                frame[rows_compared],
                scale,
                values[rows_compared, 0],
                is_control[rows_compared],
            )
        )
        self._limit_and_k = detector._largest_distance, max(detector._ks)
        self._position = np.full(len(X), NOBODY)
        self._position[self.control] = np.arange(len(self.control))
        self._sums = [self._summed(frame, self.control, detector.n_jobs)]
        has_same_test = like is not None and np.array_equal(like.test, self.test)
        self._sums.append(
            like._sums[1] if has_same_test else self._summed(frame, self.test, detector.n_jobs)
        )

    def with_residuals(self, residual):
        """Return the same pools that sum residuals and their squares, too.

        Parameters
        ----------
        residual : ndarray of float, shape (n,)
            Residuals of the outcomes of the people of fit, given the features.
        """
        pools = copy(self)
        pools.values = np.column_stack([self.values, summable(residual), summable(residual**2)])
        rows = self.control, self.test
        pools._sums = [s.of(pools.values[r]) for s, r in zip(self._sums, rows, strict=True)]
        return pools

    def _summed(self, frame, rows, n_jobs):
        """Return the sums over the neighbors among some rows; the distances then cover them."""
        self.distances, points = self.distances.with_rows(frame.iloc[rows])
        settings = {"metric": self.distances.metric, "nominal": self.distances.nominal}
        return NeighborSums(points, self.values[rows], n_jobs=n_jobs, **settings)

    @property
    def sizes(self):
        """How many neighbors there can be: others in the group, people of the reference."""
        return len(self.control) - 1, len(self.test)

    @cached_property
    def limit(self):
        """The largest distance of a neighbor.

        By default people of the other group are no farther away than the k-th nearest people of
        one's own group usually are: the 95th percentile, in the group where it is smaller.
        """
        largest_distance, k = self._limit_and_k
        if largest_distance != "auto":
            return largest_distance
        pools = [p for p in self._sums if len(p.values) > k]
        ends = [np.quantile(p.reach(k), _PERCENTILE, method="lower") for p in pools]
        return min(ends, default=np.inf)

    def apart(self, features, numbers, test, k):
        """Return how far people are from the means of their test groups, per column.

        Parameters
        ----------
        features : DataFrame
            The columns of the people, n rows.
        numbers, test : ndarray of float, shape (n, n_columns) and (n_test, n_columns)
        k : int
            0: everyone inside the limit.
        """
        distances, points = self.distances.with_rows(features)
        test_sums = self._sums[1].using(distances.metric).of(test)
        sums, weight = test_sums.query(points, [k or len(test)], max_distance=self.limit)
        has = weight[:, 0] > 0
        if not has.any():
            return np.full(numbers.shape[1], np.nan)
        return (numbers[has] - sums[has, 0] / weight[has]).mean(axis=0)

    def imbalance(self, X, people, counterparts, rows, k):
        """Return how far control and test groups are apart, per person and feature.

        The mean of the control group less the person, less the mean of the test group less the
        counterfactual, in standard deviations.

        Parameters
        ----------
        X : DataFrame
            The people of fit.
        people, counterparts, rows
            As in `sums`.
        k : int
            0: everyone inside the limit.

        Returns
        -------
        DataFrame of shape (n_persons, n_features)
            NaN where a group is empty, or a feature constant.
        """
        parts = [features_of(frame, self.columns) for frame in (X, people, counterparts)]
        numbers = as_numbers(pd.concat(parts))
        ends = np.cumsum([len(part) for part in parts])[:2]
        everyone, person_numbers, counterpart_numbers = np.split(numbers.to_numpy(), ends)
        pools = [everyone[self.control], everyone[self.test]]
        spread = np.sqrt(np.mean([pool.var(axis=0) for pool in pools], axis=0))
        spread[spread == 0] = np.nan
        like = copy(self)
        like._sums = [s.of(pool) for s, pool in zip(self._sums, pools, strict=True)]
        near = like.sums(people, counterparts, rows, [k or len(X)])
        with np.errstate(invalid="ignore", divide="ignore"):
            control, test = near.sums_c[:, 0] / near.n_c, near.sums_t[:, 0] / near.n_t
        difference = np.abs((control - person_numbers) - (test - counterpart_numbers)) / spread
        return pd.DataFrame(difference, columns=numbers.columns)

    def sums(self, people, counterparts, rows, ks):
        """Sum over neighbors: of people in the control pool, of counterparts in the test pool.

        Parameters
        ----------
        people, counterparts : DataFrame
            The centers, aligned: the people and, in counterfactual tests, their counterfactuals.
        rows : ndarray of int or None
            Rows at fit of people of fit, who are not their own neighbors; None for new people.
        ks : list of int

        Returns
        -------
        Neighborhoods
        """
        control, test = self._sums
        distances, position_in_control = self.distances, None
        if rows is None:
            distances, points = distances.with_rows(features_of(people, self.columns))
        else:
            position_in_control = self._position[rows]
            points = control.points(position_in_control)
        points_in_test = points
        if counterparts is not people:
            distances, points_in_test = distances.with_rows(features_of(counterparts, self.columns))
        # A callable metric takes positions of rows, so it must know the new frames, too.
        control, test = control.using(distances.metric), test.using(distances.metric)
        # People belong to the control pool only, so only there could they be their own neighbors.
        control = control.query(
            points, ks, row_of_point=position_in_control, max_distance=self.limit
        )
        return Neighborhoods(*control, *test.query(points_in_test, ks, max_distance=self.limit))

    def neighbors(self, people, counterparts, rows, k):
        """Return role, row, share and distance of all members of both groups, a list per person."""
        neighbors, k = [[] for _ in range(len(people))], k or len(self.values)
        position_in_control = None if rows is None else self._position[rows]
        for role, centers, members, row_of_person, sums in (
            ("control", people, self.control, position_in_control, self._sums[0]),
            ("test", counterparts, self.test, None, self._sums[1]),
        ):
            distances, points = self.distances.with_rows(features_of(centers, self.columns))
            distance = sums.using(distances.metric).distances(points)
            if row_of_person is not None:
                distance[np.arange(len(row_of_person)), row_of_person] = np.inf
            near, distance_of_near, share = _with_a_share(distance, k)
            share *= distance_of_near <= self.limit
            for person, has_share in enumerate(share > 0):
                rows, place_share, far = (
                    a[person, has_share] for a in (near, share, distance_of_near)
                )
                neighbors[person] += zip(repeat(role), members[rows], place_share, far)
        return neighbors


def summable(values):
    """Return numbers rounded to multiples of one small number, a power of 2.

    Their sums are then exact, up to 2^17 of them, so that they do not depend on the order of rows.
    """
    peak = np.nanmax(np.abs(values), initial=0.0)
    if not 0 < peak < np.inf:
        return values
    unit = 2.0 ** (np.ceil(np.log2(peak)) - 36)
    return np.round(values / unit) * unit


def _with_a_share(distance, k):
    """Return the rows that may have one of k places in order, their distances and `shares`.

    Parameters
    ----------
    distance : ndarray of float, shape (n_persons, n)
    k : int

    Returns
    -------
    near, distance_of_near, share : ndarray, shape (n_persons, width)
    """
    n = distance.shape[1]
    width = min(n, k + 8)
    while True:
        near = np.sort(np.argpartition(distance, width - 1, axis=1)[:, :width], axis=1)
        distance_of_near = np.take_along_axis(distance, near, axis=1)
        order = np.argsort(distance_of_near, axis=1, kind="stable")
        near, distance_of_near = (
            np.take_along_axis(a, order, axis=1) for a in (near, distance_of_near)
        )
        bound = distance_of_near[:, min(k, n) - 1]
        if width == n or (distance_of_near[:, -1] > bound + slack(bound)).all():
            break
        width = min(n, 2 * width)
    return near, distance_of_near, shares(distance_of_near, k)


@dataclass(frozen=True)
class PeopleOfFit:
    """The people of fit, among whom neighbors are searched.

    Parameters
    ----------
    X : DataFrame
    outcome : ndarray of float, shape (n,)
    predicates : tuple of Predicate
        The values or ranges of the protected columns.
    pools : list of Pools
        One for each comparison.
    excluded : list of (group, size, reason)
        The groups that are too small.
    sources, recipes : dict
        By protected column: the source of counterfactual rows, and the unfitted causal model of a
        source that was fitted here.
    clusters : ndarray of shape (n,), or None
    found_groups : list of str
        The groups whose mean gap was significant at fit.
    """

    X: pd.DataFrame
    outcome: np.ndarray
    predicates: tuple
    pools: list
    excluded: list
    sources: dict
    recipes: dict
    clusters: np.ndarray | None = None
    found_groups: list = field(default_factory=list)


@dataclass(frozen=True)
class Judged:
    """One comparison at one run: its pools, and the counterfactuals of the rows under audit.

    Parameters
    ----------
    pools : Pools
    counterparts : DataFrame
        The centers of the test groups, aligned with the rows under audit.
    decided : ndarray of float, shape (n,), or None
        The outcomes of these centers, where they are known.
    """

    pools: Pools
    counterparts: pd.DataFrame
    decided: np.ndarray | None

    @property
    def comparison(self):
        return self.pools.comparison
