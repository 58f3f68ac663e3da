"""Counterfactual targets and weights for training, and models of assumed confounding."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skdisc._utils._inputs import check_order
from skdisc._utils._types import ArrayLike
from skdisc.causal._counterfactual_rows import ready
from skdisc.causal._scm import StructuralCausalModel


def sensitivity_worlds(
    scm: StructuralCausalModel, column: Hashable, correlations: Sequence[float]
) -> dict[str, StructuralCausalModel]:
    """Return one causal model per assumed confounding of a protected column.

    Parameters
    ----------
    scm : StructuralCausalModel
    column : hashable
        The confounded column: numeric, or with two values (the first in order counts as 0).
    correlations : sequence of float in (-1, 1)
        Assumed correlations between the column and the noise of its children.

    Returns
    -------
    dict
        Unfitted causal models by name, for the parameter ``worlds``.

    Examples
    --------
    >>> scm = StructuralCausalModel([("sex", "pay")])
    >>> list(sensitivity_worlds(scm, "sex", [-0.1, 0.1]))
    ['confounding of sex -0.1', 'confounding of sex +0.1']
    """
    worlds = {}
    for r in correlations:
        assumed = {**(scm.confounding or {}), column: r}
        worlds[f"confounding of {column} {r:+.12g}"] = clone(scm).set_params(confounding=assumed)
    return worlds


class CounterfactualTargets(BaseEstimator):
    r"""Outcomes of people under interventions, as targets and weights for training.

    A world w is a causal model with the outcome y as a node. Under each intervention and in each
    world, a person with outcome :math:`y_i` has the counterfactual outcome :math:`y_i^w`. The
    target is the mean of these outcomes. The weight is :math:`1 + \lambda s_i / \bar s`, where the
    spread :math:`s_i` is the range of the counterfactual outcomes and the factual one.

    In a `Pipeline` of imbalanced-learn, the step is a sampler: the steps after it are trained on
    the targets in place of y, and predictions need no outcomes.

    Parameters
    ----------
    worlds : StructuralCausalModel, or list or dict of them
    target : hashable
        The numeric column of outcomes; for `fit_resample` the node of y.
    do : dict or list of dict
        The interventions, as in `StructuralCausalModel.counterfactual`.
    strength : float, default=1
        The factor :math:`\lambda`. The mean weight is 1 + strength if any outcomes differ.

    Attributes
    ----------
    worlds_ : list of StructuralCausalModel
        The fitted models.

    References
    ----------
    M. Kusner, J. Loftus, C. Russell, R. Silva: Counterfactual fairness. NeurIPS 2017.
    C. Russell, M. Kusner, J. Loftus, R. Silva: When worlds collide. NeurIPS 2017.

    Examples
    --------
    >>> X = pd.DataFrame({"sex": list("FFMM"), "grade": [1.0, 2.0, 2.5, 3.5]})
    >>> scm = StructuralCausalModel([("sex", "grade")])
    >>> fair = CounterfactualTargets(scm, "grade", {"sex": "M"}).fit(X)
    >>> fair.targets(X).round(6).tolist(), fair.weights(X).round(6).tolist()
    ([2.5, 3.5, 2.5, 3.5], [3.0, 3.0, 1.0, 1.0])

    The mean of the grades that people would have as men (of those they have: 2.25):

    >>> from imblearn.pipeline import make_pipeline
    >>> from sklearn.dummy import DummyRegressor
    >>> fair = CounterfactualTargets(scm, "grade", {"sex": "M"})
    >>> model = make_pipeline(fair, DummyRegressor()).fit(X[["sex"]], X["grade"])
    >>> model.predict(X[["sex"]]).round(6).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    def __init__(
        self,
        worlds: StructuralCausalModel
        | Sequence[StructuralCausalModel]
        | Mapping[str, StructuralCausalModel],
        target: Hashable,
        do: dict | list[dict],
        *,
        strength: float = 1.0,
    ) -> None:
        self.worlds = worlds
        self.target = target
        self.do = do
        self.strength = strength

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        """Fit the causal models that are not fitted yet.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
            Includes the column of outcomes.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no world, or `target` is not a numeric column of X.
        """
        worlds = self.worlds
        if isinstance(worlds, StructuralCausalModel):
            worlds = [worlds]
        worlds = list(worlds.values()) if isinstance(worlds, dict) else list(worlds)
        if not worlds:
            raise ValueError("worlds is empty; at least one StructuralCausalModel is needed.")
        if self.target not in X.columns or not pd.api.types.is_numeric_dtype(X[self.target]):
            raise ValueError(
                f"target must name a numeric column of X, got {self.target!r}. Columns: "
                f"{list(X.columns)!r}. Encode two classes as 0 and 1."
            )
        self.worlds_ = [ready(world, X) for world in worlds]
        return self

    def fit_resample(self, X: pd.DataFrame, y: ArrayLike) -> tuple[pd.DataFrame, pd.Series]:
        """Fit the causal models to X and y, and return X with the targets in place of y.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
            Without a column named as `target`.
        y : array-like of shape (n_samples,)
            The outcomes.

        Returns
        -------
        X : DataFrame of shape (n_samples, n_features)
            As passed.
        targets : Series of shape (n_samples,)

        Raises
        ------
        TypeError
            If X is not a DataFrame.
        ValueError
            If X has the column `target`, y has another length or its index another order, or as in
            `fit`.
        """
        if not isinstance(X, pd.DataFrame):
            raise TypeError(
                f"X must be a DataFrame with the columns of the causal models, got "
                f"{type(X).__name__}. Put this step before those that return arrays."
            )
        if self.target in X.columns:
            raise ValueError(
                f"X has a column {self.target!r}, which is the name of the outcomes y. Drop it, or "
                "call fit and targets."
            )
        check_order(X=X, y=y)
        check_consistent_length(X, y)
        outcomes = pd.Series(np.asarray(y), index=X.index, name=self.target)
        rows = pd.concat([X, outcomes], axis=1)
        return X, self.fit(rows).targets(rows)

    def targets(self, X: pd.DataFrame) -> pd.Series:
        """Return the mean outcome over worlds and interventions.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)

        Returns
        -------
        Series of shape (n_samples,), with the index of X

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        return self._outcomes(X).mean(axis=1).rename(self.target)

    def weights(self, X: pd.DataFrame) -> np.ndarray:
        """Return the weight of each row.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        outcomes = np.column_stack([self._outcomes(X), X[self.target]])
        spread = np.ptp(outcomes, axis=1)
        return 1 + self.strength * spread / (spread.mean() or 1.0)

    def _outcomes(self, X):
        """Return the counterfactual outcomes, one column per world and intervention."""
        check_is_fitted(self, "worlds_")
        interventions = [self.do] if isinstance(self.do, dict) else self.do
        columns = [w.counterfactual(X, d)[self.target] for w in self.worlds_ for d in interventions]
        return pd.concat(columns, axis=1, keys=range(len(columns))).astype(float)
