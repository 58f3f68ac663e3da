"""StructuralCausalModel: what follows from what, and what would have followed otherwise."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skdisc._space._domain import categories
from skdisc.causal._abduction import abduct
from skdisc.causal._builder import Builder, is_nominal
from skdisc.causal._graph import check_columns, descendants, read_graph, refuse_unknown
from skdisc.causal._interventions import check_do, read_do, take_do


class StructuralCausalModel(BaseEstimator):
    r"""What a row would be, had some of its values been others.

    Every node with parents follows from them and from a noise of its own, :math:`x_j = f_j(pa_j,
    u_j)`. A counterfactual keeps the noise of the person (abduction), sets values (action), and
    lets the equations run (prediction), in topological order: with additive noise

    .. math:: x_j^{cf} = f_j(pa_j^{cf}) + \hat u_j, \qquad \hat u_j = x_j - f_j(pa_j).

    All rows at once, one prediction per node and world. Where no parent changed, a node keeps its
    value exactly, so that doing what was observed gives back the row.

    Parameters
    ----------
    dag : iterable of (parent, child) pairs and single nodes, or graph of networkx
        The nodes are columns of X, or latent.
    equations : dict, default=None
        By node, in place of a fitted model: a callable from the frame of its parents to one number
        per row (nominal node: one probability per category), or a pair ``forward(parents, u)``,
        ``inverse(parents, x)``.
    noise : {"additive", "multiplicative", "none"} or dict by node, default="additive"
        How noise enters a numeric node: f + u, f * u (f > 0), or not at all; with "none" a
        counterfactual is the mean, and doing what was observed does not give back the row.
    regressor, classifier : estimator or dict by node, default=None
        Fitted on the frame of the parents. By default least squares (of the logarithm, if the
        noise is multiplicative) or logistic regression, with one term per combination of nominal
        parents and straight lines in numeric ones.
    coupling : {"quantile", "gumbel"}, default="quantile"
        How worlds share the noise of a nominal node. The data cannot tell couplings apart.
    kinds : dict, default=None
        By column "numeric" or "nominal"; by default numbers with at most two values are nominal.
    latent : dict, default=None
        By latent node, standard normal, nothing but a description. Its children need an equation,
        and a standard deviation of their noise (multiplicative: of its logarithm) in `scale`.
    scale : dict, default=None
        By child of a latent node.
    confounding : dict, default=None
        By column with two values, or numeric: an assumed correlation in (-1, 1) between it and the
        noise of its numeric children, which is taken out of their fitted equations.
    clip : dict, default=None
        By numeric node (low, high): where counterfactuals end. Clipping cannot be undone.
    random_state : int, RandomState instance or None, default=None
        Seeds the noise of nominal nodes and the draws of latent ones.

    Attributes
    ----------
    parents_ : dict
        By node its parents, in topological order.
    values_ : dict
        By nominal column its values.
    mechanisms_ : dict
        By node with parents how it follows from them.

    Notes
    -----
    A combination of nominal values that never occurred gets the shortest least-squares solution:
    effects of its parts, and no interaction that was not seen.

    References
    ----------
    J. Pearl: Causality. Cambridge University Press 2009, chapter 7.
    :doi:`10.1017/CBO9780511803161`

    Examples
    --------
    >>> X = pd.DataFrame({"sex": list("FFMM"), "pay": [10.0, 12.0, 15.0, 19.0]})
    >>> scm = StructuralCausalModel([("sex", "pay")]).fit(X)
    >>> scm.counterfactual(X, {"sex": "M"})["pay"].round(6).tolist()
    [16.0, 18.0, 15.0, 19.0]
    """

    def __init__(
        self,
        dag=(),
        *,
        equations=None,
        noise="additive",
        regressor=None,
        classifier=None,
        coupling="quantile",
        kinds=None,
        latent=None,
        scale=None,
        confounding=None,
        clip=None,
        random_state=None,
    ):
        self.dag = dag
        self.equations = equations
        self.noise = noise
        self.regressor = regressor
        self.classifier = classifier
        self.coupling = coupling
        self.kinds = kinds
        self.latent = latent
        self.scale = scale
        self.confounding = confounding
        self.clip = clip
        self.random_state = random_state

    def fit(self, X, y=None):
        """Fit the mechanism of every node that has parents and no equation.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
            With a column for every node that is not latent; other columns are left alone.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the graph has a cycle, a name is no node, or a node has no column or missing values.
        """
        self.parents_ = read_graph(self.dag)
        self.latent_ = list(self.latent or {})
        for what in ("equations", "noise", "regressor", "classifier", "scale", "confounding"):
            given = getattr(self, what)
            if isinstance(given, Mapping):
                refuse_unknown(what, given, self.parents_)
        for what in ("latent", "clip"):
            refuse_unknown(what, getattr(self, what) or {}, self.parents_)
        X = self._columns(X, self.parents_)
        seen = [node for node in self.parents_ if node not in self.latent_]
        nominal = [node for node in seen if is_nominal(X[node], self.kinds)]
        self.values_ = {node: list(categories(X[node])) for node in nominal}
        self._seeds = check_random_state(self.random_state).randint(2**31, size=4).tolist()
        builder = Builder(self, X)
        self.mechanisms_ = {n: builder.build(n) for n in seen if self.parents_[n]}
        self._seen = X[seen]
        return self

    def abduct(self, X, *, n_draws=None):
        """Return the noise of every row: what makes the people of X who they are.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
        n_draws : int, default=None
            Draws from the posterior of what X does not determine, stacked under an index of draw
            and row; by default one.

        Returns
        -------
        DataFrame
            A column per node with parents and per latent node; with Gumbel noise one per category.
        """
        check_is_fitted(self, "mechanisms_")
        X = self._stacked(self._columns(X, self.parents_), n_draws)
        return pd.DataFrame(abduct(self, X, list(self.mechanisms_), n_draws)[1], index=X.index)

    def counterfactual(self, X, do, *, block=(), n_draws=None):
        """Return the rows of X as they would be under an intervention.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
        do : dict
            By node a value, a map from value to value (``{0: 1, 1: 0}`` flips), or a column.
        block : sequence of (parent, child) pairs, default=()
            Edges along which nothing is passed on: the child sees the parent as it was.
        n_draws : int, default=None
            As in `abduct`.

        Returns
        -------
        DataFrame
            The columns of X; what follows from `do` is changed. ``attrs["clipped"]`` counts the
            values that `clip` cut, by node.
        """
        check_is_fitted(self, "mechanisms_")
        check_do(do, self._columns(X, ()))
        refuse_unknown("do", do, self.parents_)
        edges = {(parent, child) for child, above in self.parents_.items() for parent in above}
        refuse_unknown("block", [tuple(e) for e in block], edges)
        follow = [n for n in descendants(self.parents_, list(do)) if n in self.mechanisms_]
        needed = [*do, *follow, *(p for n in follow for p in self.parents_[n])]
        needed = self.parents_ if self.latent_ else dict.fromkeys(needed)
        do = take_do(do, np.tile(np.arange(len(X)), n_draws or 1))
        X = self._stacked(self._columns(X, needed), n_draws)
        return self._run(X, do, {tuple(e) for e in block}, follow, n_draws)

    def sample(self, n, random_state=None):
        """Draw new people: parentless values as they were seen, noise likewise, then the equations.

        Parameters
        ----------
        n : int
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        DataFrame of shape (n, n_nodes), without latent nodes
        """
        check_is_fitted(self, "mechanisms_")
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
        rows, noise = pd.DataFrame(index=range(n)), self.abduct(self._seen)
        for node in self.parents_:
            if node in self.latent_:
                rows[node] = rng.standard_normal(n)
            elif node not in self.mechanisms_:
                drawn = rng.integers(len(self._seen), size=n)
                rows[node] = self._seen[node].array.take(drawn)
            else:
                u = self._noise_of(node, n, rng, noise)
                rows[node] = self.mechanisms_[node].predict(rows[list(self.parents_[node])], u)
        return rows.drop(columns=self.latent_)

    def plot(self, ax=None):
        """Draw the graph; needs matplotlib. Returns the axes."""
        from skdisc.causal._plot import draw_graph

        return draw_graph(read_graph(self.dag), list(self.latent or {}), ax)

    def _noise_of(self, node, n, rng, noise):
        if node in self.values_:
            return self.mechanisms_[node].prior(n, rng)
        if node in (self.scale or {}):
            u = self.scale[node] * rng.standard_normal(n)
            return np.exp(u) if self.mechanisms_[node].noise == "multiplicative" else u
        return rng.choice(noise[node].to_numpy(), n)

    def _columns(self, X, nodes):
        return check_columns(X, [n for n in nodes if n not in self.latent_])

    @staticmethod
    def _stacked(X, n_draws):
        if n_draws is None:
            return X
        return pd.concat([X] * n_draws, keys=range(n_draws), names=["draw", *X.index.names])

    def _run(self, X, do, blocked, follow, n_draws):
        noise, every = abduct(self, X, follow, n_draws)
        old = {name: X[name] for name in X.columns} | {name: every[name] for name in self.latent_}
        new, nobody, clipped = dict(old), np.zeros(len(X), dtype=bool), {}
        changed = dict.fromkeys(self.parents_, nobody)
        for name, column in read_do(do, X, self.values_).items():
            new[name], changed[name] = column, (column != old[name]).to_numpy()
        for node in follow:
            open_to = [p for p in self.parents_[node] if (p, node) not in blocked]
            pa = {p: (new if p in open_to else old)[p] for p in self.parents_[node]}
            values = self.mechanisms_[node].predict(pd.DataFrame(pa), noise[node])
            changed[node] = np.any([nobody, *(changed[p] for p in open_to)], axis=0)
            if getattr(self.mechanisms_[node], "noise", "") == "none":
                changed[node] = ~nobody
            values = pd.Series(values, index=X.index)
            values = values.astype(X[node].dtype) if node in self.values_ else values
            values = self._cut(node, values, changed[node], clipped)
            new[node] = values.where(changed[node], old[node])
        rows = pd.DataFrame({name: new[name] for name in X.columns})
        rows.attrs["clipped"] = clipped
        return rows

    def _cut(self, node, values, changed, clipped):
        if node not in (self.clip or {}):
            return values
        cut = values.clip(*self.clip[node])
        clipped[node] = int((cut != values)[changed].sum())
        return cut
