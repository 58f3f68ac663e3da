"""Pools: the people of fit among whom neighbours are looked for."""

import numpy as np

from skdisc._neighbors._distances import Distances, features_of
from skdisc._neighbors._nearest import shares
from skdisc._neighbors._neighbor_sums import NeighborSums


class Pools:
    """The control and the test pool of one comparison.

    Parameters
    ----------
    comparison : Comparison
    X : DataFrame
        The people of fit.
    values : ndarray of shape (n, n_values)
        What is added up over neighbours.
    detector : SituationTesting
        Its settings: features, metric, scale, n_jobs.
    """

    def __init__(self, comparison, X, values, detector):
        self.comparison, self.values = comparison, values
        is_control, is_test = comparison.control(X), comparison.test(X)
        self.control, self.test = np.flatnonzero(is_control), np.flatnonzero(is_test)
        self.columns = detector._feature_names(X)
        frame = features_of(X, self.columns)
        both = is_control | is_test if detector.metric == "propensity" else slice(None)
        self.distances, points = Distances(
            detector.metric, frame[both], detector.scale, values[both, 0], is_control[both]
        ).with_rows(frame)
        self._position = np.full(len(X), -1)
        self._position[self.control] = np.arange(len(self.control))
        how = {"metric": self.distances.metric, "nominal": self.distances.nominal}
        self._sums = [
            NeighborSums(points[rows], values[rows], n_jobs=detector.n_jobs, **how)
            for rows in (self.control, self.test)
        ]

    @property
    def sizes(self):
        """How many neighbours there can be: others in the group, people of the reference."""
        return len(self.control) - 1, len(self.test)

    def sums(self, people, others, rows, ks, limit):
        """Add up the neighbours of people in the control pool, and of `others` in the test pool.

        Parameters
        ----------
        people, others : DataFrame
            The centres, aligned: the people and, in counterfactual tests, their counterfactuals.
        rows : ndarray of int or None
            Their rows at fit, where they come from there: nobody is their own neighbour.
        ks : list of int
        limit : float
            Largest distance of a neighbour.

        Returns
        -------
        (sums_c, n_c), (sums_t, n_t)
        """
        own = None if rows is None else self._position[rows]
        distances, at = self.distances.with_rows(features_of(people, self.columns))
        there = at
        if others is not people:
            distances, there = distances.with_rows(features_of(others, self.columns))
        control, test = (pool.using(distances.metric) for pool in self._sums)
        control = control.query(at, ks, own=own, max_distance=limit)
        return control, test.query(there, ks, max_distance=limit)

    def neighbours(self, person, other, row, k, limit):
        """Return role, row, share and distance of everybody in both groups of one person."""
        found, k = [], k or len(self.values)
        own = None if row is None else self._position[row]
        for role, centre, rows, mine, sums in (
            ("control", person, self.control, own, self._sums[0]),
            ("test", other, self.test, None, self._sums[1]),
        ):
            distances, point = self.distances.with_rows(features_of(centre, self.columns))
            distance = sums.using(distances.metric).distances(point)[0]
            if mine is not None:
                distance[mine] = np.inf
            share = shares(distance, k) * (distance <= limit)
            near = np.flatnonzero(share)
            near = near[np.argsort(distance[near], kind="stable")]
            found += [(role, rows[i], share[i], distance[i]) for i in near]
        return found
