"""DisparateImpactRemover: moves the distributions of numeric columns of all groups together."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from skdisc._utils import _validation as check
from skdisc._utils._settings import SHARE, HasSettings, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, Columns, FrameLike
from skdisc.preprocessing._rows import (
    FIT,
    NAMES_OUT,
    PROTECTED,
    TRANSFORM,
    frame_of,
    groups_of,
    like,
    named,
    numbers_of,
)


class DisparateImpactRemover(HasSettings, TransformerMixin, BaseEstimator):
    r"""Repair numeric columns, so that one value says less about the protected group.

    A value x of a person of group s, which has the distribution function :math:`F_s` in a column,
    becomes

    .. math:: (1 - \lambda) x + \lambda \, \operatorname{median}_{t} F_t^{-1}(F_s(x))

    that is, it moves toward the value which has the same rank in the median of the groups. Within a
    group the order of people stays.

    {parameters}

    Attributes
    ----------
    columns_ : list
        The columns that are repaired.
    groups_ : list of tuple
        The values of each group.
    quantiles_ : dict of column to list of ndarray
        The known values of each group at fit, in order.

    Notes
    -----
    The repair concerns one column at a time. The columns together can still say which group a
    person is from, if they depend on each other in another way in each group. People of a group
    with equal values stay equal, so that a column with few values keeps a part of the difference.
    Text columns are not changed. Missing values stay missing, and may tell the group.

    References
    ----------
    M. Feldman, S. Friedler, J. Moeller, C. Scheidegger, S. Venkatasubramanian: Certifying and
    removing disparate impact. KDD 2015. https://doi.org/10.1145/2783258.2783311

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sex": list("fffmmm"), "points": [1.0, 2, 3, 5, 6, 7]})
    >>> DisparateImpactRemover("sex").fit_transform(X)["points"].tolist()
    [3.0, 4.0, 5.0, 3.0, 4.0, 5.0]
    """

    protected: Columns | None = PROTECTED
    amount: float = setting(
        1.0,
        [SHARE],
        r"The factor :math:`\lambda`; 0 changes nothing.",
    )
    columns: Columns | None = setting(
        None,
        "no_validation",
        "The numeric columns to repair; None: all that are not protected.",
        kind="str, int or list of them",
    )
    unseen: str = setting(
        "raise",
        [StrOptions({"raise", "pool"})],
        """What happens to people of a group that did not occur at fit: an error, or they are ranked
        among all people.""",
    )
    keep_protected: bool = setting(
        False,
        ["boolean"],
        """Whether the protected columns stay among the columns. A model that gets them can undo the
        repair.""",
    )

    @with_sections(FIT)
    def fit(self, X: FrameLike, y: ArrayLike | None = None) -> Self:
        """Learn the distribution of each column in each group.

        Parameters
        ----------
        y : ignored

        Raises
        ------
        ValueError
            If no protected column is given, or one of `columns` does not exist, is protected, or is
            not numeric.
        """
        self._validate_params()
        frame = frame_of(self, X)
        self._protected = named(self.protected, frame)
        free = [n for n in frame.columns if n not in self._protected]
        numeric = [n for n in free if check.of_numbers(frame[n].dtype)]
        columns = numeric
        if self.columns is not None:
            columns = check.check_protected(self.columns, list(frame.columns), "columns")
            check.check_names("columns", columns, numeric, "numeric columns that are not protected")
        group, self.groups_ = groups_of(frame[self._protected])
        self.columns_ = columns
        self.quantiles_ = {
            name: [np.sort(x[(group == g) & ~np.isnan(x)]) for g in range(len(self.groups_))]
            for name, x in ((name, numbers_of(frame[name])) for name in columns)
        }
        self._columns_out = list(frame.columns) if self.keep_protected else free
        self._positions = [list(frame.columns).index(n) for n in self._columns_out]
        return self

    @with_sections(TRANSFORM)
    def transform(self, X: FrameLike) -> FrameLike:
        """Return the repaired rows.

        Raises
        ------
        ValueError
            If X has other columns than at fit, or a group that did not occur.
        """
        check_is_fitted(self, "quantiles_")
        frame = frame_of(self, X, reset=False)
        group, values = groups_of(frame[self._protected])
        position = {v: i for i, v in enumerate(self.groups_)}
        new = [v for v in values if v not in position]
        if new and self.unseen == "raise":
            raise ValueError(
                f"The group {new[0]!r} of {self._protected!r} did not occur at fit, so its "
                "distribution is unknown. Fit to rows of all groups, or set unseen='pool'."
            )
        group = np.array([position.get(v, len(position)) for v in values])[group]
        for name in self.columns_:
            frame[name] = self._repaired(numbers_of(frame[name]), group, self.quantiles_[name])
        return like(frame[self._columns_out], X)

    def _repaired(self, x, group, quantiles):
        """Return the values of one column moved toward the median of the groups."""
        if self.amount == 0:
            return x
        rank, filled = np.full(len(x), np.nan), [q for q in quantiles if len(q)]
        quantiles = [*quantiles, np.sort(np.concatenate(quantiles))]  # the last: those not seen
        for g in np.unique(group):
            members = (group == g) & ~np.isnan(x)
            if members.any():
                rank[members] = _ranks(quantiles[g], x[members])
        has_rank = ~np.isnan(rank)
        moved = np.full(len(x), np.nan)
        if has_rank.any():
            values = [np.interp(rank[has_rank], _places(len(q)), q) for q in filled]
            moved[has_rank] = np.median(values, axis=0)
        return (1 - self.amount) * x + self.amount * moved

    @with_sections(NAMES_OUT)
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The names of the columns of X, if fit got an array.
        """
        check_is_fitted(self, "quantiles_")
        return np.asarray(_check_feature_names_in(self, input_features), dtype=object)[
            self._positions
        ]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _places(n):
    """Return the ranks, between 0 and 1, of n values in order."""
    return (np.arange(n) + 0.5) / n


def _ranks(reference, x):
    """Return the ranks of values among known ones; equal values have their mean rank."""
    if not len(reference):
        return np.full(len(x), 0.5)
    values, count = np.unique(reference, return_counts=True)
    return np.interp(x, values, (np.cumsum(count) - count / 2) / len(reference))
