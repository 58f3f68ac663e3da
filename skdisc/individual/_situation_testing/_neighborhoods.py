"""Pools: the people of fit among whom neighbours are looked for."""

import numpy as np

from skdisc._neighbors._distances import Distances, features_of
from skdisc._neighbors._neighbor_sums import NeighborSums, shares_of_places


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
        self.distances = Distances(
            detector.metric, frame[both], detector.scale, values[both, 0], is_control[both]
        )
        self._position = np.full(len(X), -1)
        self._position[self.control] = np.arange(len(self.control))
        how = {"metric": self.distances.name, "nominal": self.distances.nominal}
        points = self.distances.encode(frame)
        self._sums = [
            NeighborSums(points[rows], values[rows], n_jobs=detector.n_jobs, **how)
            for rows in (self.control, self.test)
        ]
        self._n_frames = len(self.distances.frames)

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
        at = self.encode(people)
        there = at if others is people else self.encode(others)
        control = self._sums[0].query(at, ks, own=own, max_distance=limit)
        test = self._sums[1].query(there, ks, max_distance=limit)
        del self.distances.frames[self._n_frames :]
        return control, test

    def encode(self, X):
        """Return the coordinates of the rows of X."""
        return self.distances.encode(features_of(X, self.columns))

    def neighbours(self, person, other, row, k, limit):
        """Return role, row, share and distance of everybody in both groups of one person."""
        found, k = [], k or len(self.values)
        own = None if row is None else self._position[row]
        for role, centre, rows, mine, sums in (
            ("control", person, self.control, own, self._sums[0]),
            ("test", other, self.test, None, self._sums[1]),
        ):
            distance = sums.distances(self.encode(centre))[0]
            if mine is not None:
                distance[mine] = np.inf
            share = shares_of_places(distance, k) * (distance <= limit)
            near = np.flatnonzero(share)
            near = near[np.argsort(distance[near], kind="stable")]
            found += [(role, rows[i], share[i], distance[i]) for i in near]
        del self.distances.frames[self._n_frames :]
        return found
