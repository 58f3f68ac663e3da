"""ProxySelector: drops columns that tell the protected group and change decisions."""

from typing import Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import mutual_info_score
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from skdisc._blackbox._default_models import default_model
from skdisc._space._bins import Bins
from skdisc._utils import _validation as check
from skdisc._utils._inputs import check_order, refuse_huge
from skdisc._utils._settings import AT_LEAST_ONE, AT_LEAST_TWO, SHARE, HasSettings, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, Columns, FrameLike, RandomState
from skdisc.preprocessing._discretizer import Discretizer
from skdisc.preprocessing._rows import FIT, PROTECTED, TRANSFORM, frame_of, groups_of, like, named


class ProxySelector(HasSettings, SelectorMixin, BaseEstimator):
    r"""Drop proxies: columns that are associated with the protected group and used by a model.

    The association of a column X with the group Z is

    .. math:: 1 - \frac{H(X|Z) + H(Z|X)}{H(X, Z)}

    0 if they are independent, 1 if each follows from the other. Its influence is the share of
    decisions of a model that change when the column is shuffled. A column is dropped if both
    are larger than a limit; the same holds for protected columns. With ``influence=None`` the
    association alone decides, no model is fitted, and protected columns are always dropped.

    {parameters}

    Attributes
    ----------
    association_, influence_ : ndarray of float, shape (n_features,)
        Without `influence_` if ``influence=None``.
    estimator_ : fitted estimator
        Not if ``influence=None``.

    Notes
    -----
    Each column is looked at alone. Several columns together can be a proxy that none is alone, and
    dropping one column makes a model lean on the others: fit the selector again to what is left.

    References
    ----------
    A. Datta, M. Fredrikson, G. Ko, P. Mardziel, S. Sen: Use privacy in data-driven systems. CCS
    2017. https://doi.org/10.1145/3133956.3134097

    Examples
    --------
    >>> X = pd.DataFrame({"sex": list("ffmm") * 20, "title": list("ffmm") * 20, "x": range(80)})
    >>> selector = ProxySelector("sex", random_state=0).fit(X, X["title"] == "m")
    >>> selector.get_feature_names_out().tolist()
    ['title', 'x']
    """

    protected: Columns | None = PROTECTED
    estimator: BaseEstimator | None = setting(
        None,
        [HasMethods(["fit", "predict"]), None],
        "Cloned, and fitted to the rows as a DataFrame. None: a decision tree after encoding.",
        kind="estimator",
    )
    association: float = setting(
        0.05,
        [SHARE],
        "Limit of the association.",
    )
    influence: float | None = setting(
        0.01,
        [SHARE, None],
        "Limit of the influence; None: columns are dropped whether a model uses them or not.",
    )
    n_bins: int | dict | Bins = setting(
        4,
        [AT_LEAST_TWO, dict, Bins],
        "Bins of numeric columns with more values, for the association.",
    )
    n_repeats: int = setting(
        5,
        [AT_LEAST_ONE],
        "How often each column is shuffled.",
    )
    random_state: RandomState = setting(
        None,
        ["random_state"],
        "Seed of all that is drawn.",
    )

    @with_sections(FIT)
    def fit(self, X: FrameLike, y: ArrayLike) -> Self:
        """Measure the association and the influence of each column.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The decisions that the model learns.

        Raises
        ------
        ValueError
            If no protected column is given, or y has one class only.
        """
        self._validate_params()
        frame = frame_of(self, X)
        if y is None:
            raise ValueError("ProxySelector requires y to be passed, but the target y is None.")
        check_order(X=X, y=y)
        y = check.check_labels(y, len(frame))
        check.check_decisions(y)
        group, _ = groups_of(frame[named(self.protected, frame)])
        refuse_huge(frame)
        binned = Discretizer(self.n_bins).fit_transform(frame)
        codes = [pd.factorize(binned[name], use_na_sentinel=False)[0] for name in binned]
        self.association_ = np.array([_association(c, group) for c in codes])
        for name in ("estimator_", "influence_"):
            vars(self).pop(name, None)
        protected = named(self.protected, frame)
        self._is_protected = np.array([name in protected for name in frame])
        if self.influence is None:
            return self
        rng = check_random_state(self.random_state)
        if self.estimator is None:
            model = default_model("tree", rng.randint(2**31))
        else:
            model = clone(self.estimator)
        self.estimator_ = model.fit(frame, y)
        self.influence_ = np.array([self._influence(frame, name, rng) for name in frame.columns])
        return self

    def _influence(self, frame, name, rng):
        """Return the share of decisions that change when a column is shuffled."""
        before, changed = self.estimator_.predict(frame), []
        for _ in range(self.n_repeats):
            mixed = frame[name].take(rng.permutation(len(frame))).set_axis(frame.index)
            changed.append(
                np.mean(self.estimator_.predict(frame.assign(**{name: mixed})) != before)
            )
        return np.mean(changed)

    def _get_support_mask(self):
        check_is_fitted(self, "association_")
        is_proxy = self.association_ > self.association
        if self.influence is None:
            return ~(is_proxy | self._is_protected)
        return ~(is_proxy & (self.influence_ > self.influence))

    @with_sections(TRANSFORM)
    def transform(self, X: FrameLike) -> FrameLike:
        """Return the columns that are kept."""
        keep = self.get_support()
        frame = frame_of(self, X, reset=False)
        return like(frame.loc[:, keep], X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.estimator is None or check.takes_missing(self.estimator)
        return tags


def _association(a, b):
    """Return the mutual information of two codes over their joint entropy."""
    joint_shares = np.unique(np.column_stack([a, b]), axis=0, return_counts=True)[1] / len(a)
    joint_entropy = -(joint_shares * np.log(joint_shares)).sum()
    return (
        0.0 if joint_entropy <= 0 else min(1.0, max(0.0, mutual_info_score(a, b) / joint_entropy))
    )
