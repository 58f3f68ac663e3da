"""What the tests of situation testing share: people, and both groups found by brute force."""

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist


def people(n=300, seed=0, gap=1.0):
    """Return people of three groups, and decisions that ask more of F."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M", "D"], n, p=[0.4, 0.5, 0.1])
    X = pd.DataFrame({"sex": sex, "x": rng.normal(0, 1, n), "job": rng.choice(list("abc"), n)})
    y = (X["x"] - gap * (sex == "F") + rng.normal(0, 0.3, n) > 0).astype(int)
    return X, y


def table(detector, X, y, **more):
    """Return the table of complainants, without a caliper."""
    people = (
        detector.set_params(similarity__caliper=None).fit(X, y, **more).result_.tables["people"]
    )
    return people.set_index(["n_neighbors", "row"]).sort_index()


def by_hand(X, y, k, others=None):
    """Return p_c and p_t of every F against M, by the whole matrix of distances, ties shared."""

    def points(frame):
        return np.column_stack([frame["x"] / np.ptp(X["x"]), pd.get_dummies(frame["job"]) / 2])

    bad = 1.0 - y.to_numpy()
    women, men = (np.flatnonzero(X["sex"] == s) for s in "FM")
    at, there = points(X)[women], points(X if others is None else others)[women]
    control = cdist(at, points(X)[women], "cityblock")
    np.fill_diagonal(control, np.inf)
    test = cdist(there, points(X)[men], "cityblock")
    return [share_refused(d, bad[rows], k) for d, rows in ((control, women), (test, men))]


def share_refused(distance, bad, k):
    bound = np.sort(distance, axis=1)[:, k - 1 : k]
    inside, tied = distance < bound - 1e-9, np.abs(distance - bound) <= 1e-9
    left = (k - inside.sum(1, keepdims=True)) / tied.sum(1, keepdims=True)
    return (inside + tied * left) @ bad / k
