"""Seeds: uniform draws, rows of X, rows from clusters of X, or rows that the caller passes."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._task import Task
from skdisc._utils._hashing import KeyIndex

_MOST_CLUSTERED = 20_000  # rows that are assigned to clusters
_MOST_LEARNED = 2_000  # rows that the clusters are fitted to
NAMES = {
    "uniform": "share of uniformly drawn inputs",
    "data": "share of sampled inputs of X, moved to the lattice",
    "clusters": "share of inputs of X drawn by cluster, moved to the lattice",
    "boundary": "share of the drawn inputs that are closest to the boundary",
    "given": "share of the seeds given",
    "drawn": "share of inputs drawn from the generator",
}


@dataclass
class Seeds:
    """The inputs that a search tests first.

    Attributes
    ----------
    rows : ndarray of int, shape (n_seeds, n_columns)
        Distinct inputs as codes.
    which : ndarray of int, shape (n_draws,)
        Position of the seed of each draw.
    origin : ndarray of str, shape (n_draws,)
        Origin of each draw, a key of `NAMES`.

    Examples
    --------
    >>> space = FeatureSpace.from_domains({"sex": ["F", "M"], "age": (18, 65)}, protected=["sex"])
    >>> drawn = np.array([[0, 5], [0, 7], [0, 5]])
    >>> seeds = Seeds.of(space, drawn, ["uniform"] * 3)
    >>> seeds.which  # the third draw is the first input again
    array([0, 1, 0])
    >>> seeds.shares(np.array([True, False]))
    [('share of uniformly drawn inputs', 2, 3)]
    """

    rows: np.ndarray
    which: np.ndarray
    origin: np.ndarray

    @classmethod
    def of(cls, space: FeatureSpace, drawn: np.ndarray, origin: np.ndarray) -> "Seeds":
        """Return the seeds of draws with repetitions."""
        which, first = KeyIndex().add(space.key(drawn, space.np_index))
        return cls(drawn[first], which, np.asarray(origin))

    def n_random(self, n_tested: int) -> int:
        """Return how many of the first inputs tested were drawn at random, not selected."""
        picked = self.which[self.origin == "boundary"]
        return min(n_tested, len(self.rows)) - len(np.unique(picked[picked < n_tested]))

    def shares(self, hit: np.ndarray, *, ended_by_case: bool = False) -> list[tuple[str, int, int]]:
        """Return (name, number of cases, number of draws) for each origin.

        Draws count in their order. If a budget ended the seeds, later draws do not count, not even
        those of inputs tested before: new inputs among them would be missing. A draw whose case
        ended the seeds does not count, because it is a case by design; (cases - 1) / (draws - 1) is
        unbiased (Haldane 1945, :doi:`10.1093/biomet/33.3.222`).

        Parameters
        ----------
        hit : ndarray of bool, shape (n_tested,)
            Whether each input tested is a case, the seeds first.
        ended_by_case : bool, default=False
            Whether the search ended with the last of them because it is a case.
        """
        n, n_tested = len(self.which), len(hit)
        if n_tested < len(self.rows) + ended_by_case:
            last = self.which == n_tested - 1
            n = int(last.argmax()) + (not ended_by_case) if last.any() else 0
        which, origins, drawn = self.which[:n], self.origin[:n], []
        for origin, name in NAMES.items():
            hits = hit[which[origins == origin]]
            drawn += [(name, int(hits.sum()), len(hits))] if origin in self.origin else []
        return drawn


def draw_seeds(task: Task, n: int, kind: str | pd.DataFrame, n_clusters: int = 4) -> Seeds:
    """Draw seeds.

    Parameters
    ----------
    task : Task
    n : int
        Number of draws; fewer if X has fewer distinct inputs.
    kind : {"uniform", "data", "both", "clusters"} or DataFrame
        Uniform draws; distinct inputs of X; half of each; inputs of X from each k-means cluster in
        turn; or these rows. Without X, all kinds but "data" are uniform draws.
    n_clusters : int, default=4
        Number of clusters.

    Returns
    -------
    Seeds

    Raises
    ------
    ValueError
        If `kind` is "data" and the task has no X.
    """
    space = task.space
    if not isinstance(kind, str):
        columns_lost = [c.name for c in space.columns if c.name not in kind]
        if columns_lost:
            raise ValueError(f"seeds= must have all columns of X; {columns_lost[0]!r} is missing.")
        rows = space.encode(kind)
        return Seeds.of(space, rows, np.repeat("given", len(rows)))
    if task.X is None and kind != "uniform":
        kind = _without_data(kind)
    n_data = {"both": n // 2, "uniform": 0}.get(kind, n)
    data = distinct_inputs(task) if n_data else np.empty((0, len(space)), np.int64)
    data = data.take(task.rng.permutation(len(data)), axis=0)
    if kind == "clusters":
        order = _in_turn(space, data[:_MOST_CLUSTERED], n_clusters, task.rng)
        data = data.take(order[:n], axis=0)
        return Seeds(data, np.arange(len(data)), np.repeat("clusters", len(data)))
    data = data[:n_data]
    n_uniform = 0 if kind == "data" else n - n_data
    drawn = np.concatenate([data, space.sample(n_uniform, task.rng)])
    origin = np.repeat(["data", "uniform"], [len(data), n_uniform])
    order = task.rng.permutation(len(drawn))
    return Seeds.of(space, drawn[order], origin[order])


def _without_data(kind):
    """Return the kind of seeds used without X; raise if rows of X were requested."""
    if kind == "data":
        raise ValueError(
            "seeds='data' needs rows of X, but a FeatureSpace was passed. Use seeds='uniform'."
        )
    return "uniform"


def inputs_of(task):
    """Return the inputs of X that lie in the space, as codes, and their keys, sorted by key."""
    codes, keys, order = _inputs(task)
    return codes.take(order, axis=0), keys[order]


def distinct_inputs(task):
    """Return the distinct inputs of X in the space, in an order that rows of X do not affect."""
    codes, keys, order = _inputs(task)
    keys = keys[order]
    return codes.take(order[np.diff(keys, prepend=~keys[:1]) != 0], axis=0)


def _inputs(task):
    """Return the inputs of X that lie in the space, as codes, their keys, and the order of keys."""
    space, codes = task.space, task.codes.copy(order="K")
    codes[:, space.p_index] = 0
    inside = (codes >= [c.least for c in space.columns]).all(axis=1)
    if not inside.all():
        codes = codes.compress(inside, axis=0)
    keys = space.key(codes, space.np_index)
    return codes, keys, np.argsort(keys)


def _in_turn(space, rows, n_clusters, rng):
    """Return an order of the rows that takes one row of each k-means cluster in turn."""
    sizes = np.array([max(c.size - 1, 1) for c in space.columns])
    points = rows[:, space.np_index] / sizes[space.np_index]
    n_clusters = min(n_clusters, len(rows))
    if n_clusters < 2:
        return np.arange(len(rows))
    # The gradient searches take seeds from each cluster in turn, so that they start all over X.
    k_means = KMeans(n_clusters, n_init=1, random_state=int(rng.integers(2**31)))
    cluster = k_means.fit(points[: max(_MOST_LEARNED, n_clusters)]).predict(points)
    turn, by_cluster = np.empty(len(rows), np.int64), np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[by_cluster], cluster[by_cluster])
    turn[by_cluster] = np.arange(len(rows)) - starts
    return np.lexsort((cluster, turn))
