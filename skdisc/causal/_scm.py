"""StructuralCausalModel: abduction, interventions and counterfactuals on a graph of columns."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skdisc._space._column import categories
from skdisc._utils._types import RandomState
from skdisc._utils._validation import check_names
from skdisc.causal._abduction import abduct
from skdisc.causal._builder import Builder, is_nominal
from skdisc.causal._graph import check_columns, descendants, read_graph
from skdisc.causal._interventions import check_do, read_do, take_do

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_NODES = "nodes of the causal model"


class StructuralCausalModel(BaseEstimator):
    r"""Structural causal model, which returns the rows of people under an intervention.

    Each node with parents is a function of them and of its own noise,
    :math:`x_j = f_j(pa_j, u_j)`. A counterfactual keeps the noise of a person (abduction), sets
    values (action), and evaluates the equations in topological order (prediction). With additive
    noise,

    .. math:: x_j^{cf} = f_j(pa_j^{cf}) + \hat u_j, \qquad \hat u_j = x_j - f_j(pa_j).

    All rows are computed at once, with one prediction per node and world. A node keeps its value
    exactly if no parent changed, so an intervention that sets the observed values returns the row.

    Parameters
    ----------
    dag : iterable of (parent, child) pairs and single nodes, or networkx graph
        Nodes are columns of X, or latent.
    equations : dict, default=None
        Maps a node to an equation that replaces the fitted model: a callable from the frame of the
        parents to one number per row (for a nominal node, one probability per category), or a pair
        of callables ``forward(parents, u)`` and ``inverse(parents, x)``.
    noise : str or dict of str by node, default="additive"
        Noise of a numeric node: "additive", f + u; "heteroscedastic", f + s * u with a fitted
        standard deviation s of the parents; "multiplicative", f * u (with f > 0); "none", f alone,
        where a counterfactual is the mean, and setting the observed values does not return the row.
    regressor, classifier : estimator or dict by node, default=None
        Fitted on the frame of the parents. None stands for least squares (of the logarithm if the
        noise is multiplicative) and logistic regression, with one term per combination of nominal
        parents and linear terms for numeric ones.
    coupling : {"quantile", "gumbel"}, default="quantile"
        How worlds share the noise of a nominal node. Couplings cannot be identified from data.
    kinds : dict, default=None
        Maps a column to "numeric" or "nominal". By default, numbers with at most two distinct
        values are nominal.
    latent : dict, default=None
        Maps a latent node, which is standard normal, to a description. Its children need an
        equation, and the standard deviation of their noise (of its logarithm if multiplicative)
        in `scale`.
    scale : dict, default=None
        Maps a child of a latent node to the standard deviation of its noise.
    confounding : dict, default=None
        Maps a column, numeric or with two values, to an assumed correlation in (-1, 1) with the
        noise of its numeric children. Its bias is removed from their fitted equations.
    clip : dict, default=None
        Maps a numeric node to (low, high), the range of its counterfactuals. Clipping loses
        information that later interventions cannot restore.
    random_state : int, RandomState instance or None, default=None
        Seeds the noise of nominal nodes and the draws of latent ones.

    Attributes
    ----------
    parents_ : dict
        Maps each node to its parents, in topological order.
    values_ : dict
        Maps each nominal column to its values.
    mechanisms_ : dict
        Maps each node with parents to its mechanism.

    Notes
    -----
    For combinations of nominal values that do not occur in X, the minimum-norm least squares
    solution adds the effects of the single values and of the interactions that do occur.

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
        dag: Iterable[Any] = (),
        *,
        equations: dict | None = None,
        noise: str | dict = "additive",
        regressor: BaseEstimator | dict | None = None,
        classifier: BaseEstimator | dict | None = None,
        coupling: str = "quantile",
        kinds: dict | None = None,
        latent: dict | None = None,
        scale: dict | None = None,
        confounding: dict | None = None,
        clip: dict | None = None,
        random_state: RandomState = None,
    ) -> None:
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

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        """Fit the mechanisms of all nodes with parents.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
            Has a column for each node that is not latent; other columns are ignored.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the graph has a cycle, a name is not a node, a node has no column or missing values,
            or a parameter has an unknown value.
        TypeError
            If X is not a DataFrame.
        """
        self.parents_ = read_graph(self.dag)
        self.latent_ = list(self.latent or {})
        for name in ("equations", "noise", "regressor", "classifier", "scale", "confounding"):
            setting = getattr(self, name)
            if isinstance(setting, Mapping):
                check_names(name, setting, self.parents_, _NODES)
        for name in ("latent", "clip"):
            check_names(name, getattr(self, name) or {}, self.parents_, _NODES)
        X = self._columns(X, self.parents_)
        observed_nodes = [node for node in self.parents_ if node not in self.latent_]
        nominal = [node for node in observed_nodes if is_nominal(X[node], self.kinds)]
        self.values_ = {node: list(categories(X[node])) for node in nominal}
        self._seeds = check_random_state(self.random_state).randint(2**31, size=4).tolist()
        builder = Builder(self, X)
        self.mechanisms_ = {n: builder.build(n) for n in observed_nodes if self.parents_[n]}
        self._observed = X[observed_nodes]
        return self

    def abduct(self, X: pd.DataFrame, *, n_draws: int | None = None) -> pd.DataFrame:
        """Return the noise behind each row.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
        n_draws : int, default=None
            Number of draws from the posterior of the noise, stacked under an index of draw and
            row. None stands for one draw under the index of X.

        Returns
        -------
        DataFrame
            One column per node with parents and per latent node; with Gumbel noise, one per
            category.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a node has no column in X, or its column has missing values.
        """
        check_is_fitted(self, "mechanisms_")
        X = self._stacked(self._columns(X, self.parents_), n_draws)
        return pd.DataFrame(abduct(self, X, list(self.mechanisms_), n_draws)[1], index=X.index)

    def counterfactual(
        self,
        X: pd.DataFrame,
        do: dict,
        *,
        block: Sequence[tuple[Hashable, Hashable]] = (),
        n_draws: int | None = None,
    ) -> pd.DataFrame:
        """Return the rows of X under an intervention.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
        do : dict
            Maps a node to a value, to a dict from value to value (``{0: 1, 1: 0}`` flips), or to an
            array with one value per row.
        block : sequence of (parent, child) pairs, default=()
            Edges along which the intervention has no effect: the child is computed from the
            factual value of the parent.
        n_draws : int, default=None
            As in `abduct`.

        Returns
        -------
        DataFrame
            The columns of X, with those changed that follow from `do`. ``attrs["clipped"]`` maps
            nodes to the number of values that `clip` cut.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If `do` or `block` names nodes or edges that do not exist, or values that do not occur.
        """
        check_is_fitted(self, "mechanisms_")
        check_do(do, self._columns(X, ()))
        check_names("do", do, self.parents_, _NODES)
        edges = {(parent, child) for child, above in self.parents_.items() for parent in above}
        check_names("block", [tuple(e) for e in block], edges, "edges of the causal model")
        follow = [n for n in descendants(self.parents_, list(do)) if n in self.mechanisms_]
        needed = [*do, *follow, *(p for n in follow for p in self.parents_[n])]
        needed = self.parents_ if self.latent_ else dict.fromkeys(needed)
        do = take_do(do, np.tile(np.arange(len(X)), n_draws or 1))
        X = self._stacked(self._columns(X, needed), n_draws)
        return self._run(X, do, {tuple(e) for e in block}, follow, n_draws)

    def sample(self, n: int, random_state: RandomState = None) -> pd.DataFrame:
        """Draw new people: roots and noise from their observed values, the rest by the equations.

        Parameters
        ----------
        n : int
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        DataFrame of shape (n, n_nodes), without latent nodes

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        check_is_fitted(self, "mechanisms_")
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
        rows, noise = pd.DataFrame(index=range(n)), self.abduct(self._observed)
        for node in self.parents_:
            if node in self.latent_:
                rows[node] = rng.standard_normal(n)
            elif node not in self.mechanisms_:
                drawn = rng.integers(len(self._observed), size=n)
                rows[node] = self._observed[node].array.take(drawn)
            else:
                u = self._noise_of(node, n, rng, noise)
                rows[node] = self.mechanisms_[node].predict(rows[list(self.parents_[node])], u)
        return rows.drop(columns=self.latent_)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the graph.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None stands for a new figure.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        from skdisc.causal._plot import draw_graph

        return draw_graph(read_graph(self.dag), list(self.latent or {}), ax)

    def _noise_of(self, node, n, rng, noise):
        """Draw n values of the noise of a node."""
        if node in self.values_:
            return self.mechanisms_[node].prior(n, rng)
        if node in (self.scale or {}):
            u = self.scale[node] * rng.standard_normal(n)
            return np.exp(u) if self.mechanisms_[node].noise == "multiplicative" else u
        return rng.choice(noise[node].to_numpy(), n)

    def _columns(self, X, nodes):
        """Return X if it has a complete column for each observed node."""
        return check_columns(X, [n for n in nodes if n not in self.latent_])

    @staticmethod
    def _stacked(X, n_draws):
        """Repeat the rows of X once per draw."""
        if n_draws is None:
            return X
        return pd.concat([X] * n_draws, keys=range(n_draws), names=["draw", *X.index.names])

    def _run(self, X, do, blocked, follow, n_draws):
        """Return the rows after abduction, action and prediction."""
        noise, every = abduct(self, X, follow, n_draws)
        old = {name: X[name] for name in X.columns} | {name: every[name] for name in self.latent_}
        new, no_row, clipped = dict(old), np.zeros(len(X), dtype=bool), {}
        changed = dict.fromkeys(self.parents_, no_row)
        for name, column in read_do(do, X, self.values_).items():
            new[name], changed[name] = column, (column != old[name]).to_numpy()
        for node in follow:
            open_to = [p for p in self.parents_[node] if (p, node) not in blocked]
            pa = {p: (new if p in open_to else old)[p] for p in self.parents_[node]}
            values = self.mechanisms_[node].predict(pd.DataFrame(pa), noise[node])
            changed[node] = np.any([no_row, *(changed[p] for p in open_to)], axis=0)
            if self.mechanisms_[node].noise == "none":  # a mean, whatever value was observed
                changed[node] = ~no_row
            values = pd.Series(values, index=X.index)
            values = values.astype(X[node].dtype) if node in self.values_ else values
            values = self._cut(node, values, changed[node], clipped)
            # f + (x - f) differs from x by rounding: values that do not change are kept.
            new[node] = values.where(changed[node], old[node])
        rows = pd.DataFrame({name: new[name] for name in X.columns})
        rows.attrs["clipped"] = clipped
        return rows

    def _cut(self, node, values, changed, clipped):
        """Clip the values of a node and count the changed ones that were cut."""
        if node not in (self.clip or {}):
            return values
        cut = values.clip(*self.clip[node])
        clipped[node] = int((cut != values)[changed].sum())
        return cut
