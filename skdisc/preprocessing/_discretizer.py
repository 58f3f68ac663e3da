"""Discretizer: the bins of numeric columns, as a transformer."""

from itertools import pairwise
from typing import Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc._space._bins import Bins, cuts_of
from skdisc._utils import _validation as check
from skdisc._utils._favorable import favorable_labels
from skdisc._utils._inputs import BINNED, BinnedArray
from skdisc._utils._settings import AT_LEAST_TWO, SHARE, HasSettings, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, FrameLike, Labels
from skdisc.preprocessing._rows import FIT, TRANSFORM, frame_of, like, numbers_of


class Discretizer(HasSettings, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace the values of numeric columns by their bins, those of the detectors of groups.

    {parameters}

    Attributes
    ----------
    cuts_ : dict of column to ndarray
        The upper limits of all bins but the last; a limit belongs to the bin below.

    References
    ----------
    E. Pastor, E. Baralis, L. de Alfaro: A hierarchical approach to anomalous subgroup discovery.
    ICDE 2023.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [20, 30, 40, 50], "sex": list("fmfm")})
    >>> Discretizer(2, encode="text").fit_transform(X)["age"].tolist()
    ['<= 30', '<= 30', '> 30', '> 30']
    """

    n_bins: int | dict | Bins = setting(
        4,
        [AT_LEAST_TWO, dict, Bins],
        """The number of quantile bins of a column, or another rule. A column with at most that many
        values has one bin per value. Nested bins and taxonomies are ignored.""",
        kw_only=False,
    )
    encode: str = setting(
        "ordinal",
        [StrOptions({"ordinal", "text"})],
        """The number of the bin, from 0, or its limits, such as ``"(20, 30]"``.""",
    )
    min_support: float = setting(
        0.05,
        [SHARE],
        """Smallest share of the rows in a leaf of ``Bins(how="tree")``.""",
    )
    pos_label: Labels | None = setting(
        None,
        "no_validation",
        """The favorable labels, for ``Bins(how="tree")``; None: 1 or True.""",
        kind="label or collection of labels",
    )

    @with_sections(FIT)
    def fit(self, X: FrameLike, y: ArrayLike | None = None) -> Self:
        """Learn the bins.

        Parameters
        ----------
        y : array-like of shape (n_samples,), default=None
            Labels, for ``Bins(how="tree")`` only.

        Raises
        ------
        ValueError
            If bins depend on labels and y is None, or edges are given for a column that is not a
            numeric one.
        """
        self._validate_params()
        bins = Bins.of(self.n_bins)
        frame = frame_of(self, X)
        numeric = [n for n in frame.columns if check.of_numbers(frame[n].dtype)]
        check.check_names("edges", bins.edges or (), numeric, "numeric columns")
        check.check_names("n_bins", bins.numbers or (), numeric, "numeric columns")
        guide = self._guide(y, len(frame)) if bins.how == "tree" else None
        columns = {name: numbers_of(frame[name]) for name in numeric}
        self.cuts_ = {name: self._cuts(x, bins, name, guide) for name, x in columns.items()}
        return self

    def _guide(self, y, n):
        """Return 1 for favorable labels and 0 for others."""
        if y is None:
            raise ValueError("Bins(how='tree') are fitted to y, and y is None.")
        y = check.check_labels(y, n)
        chosen, _ = favorable_labels(self.pos_label, check.check_decisions(y))
        return check.is_favorable(y, chosen).astype(float)

    def _cuts(self, x, bins, name, guide):
        """Return the cuts of one column."""
        has_number = ~np.isnan(x)
        values = np.unique(x[has_number])
        if not len(values):
            return values
        if len(values) <= bins.most(name) and name not in (bins.edges or {}):
            return values[:-1]
        guide = None if guide is None else guide[has_number]
        least = self.min_support * len(x)
        return cuts_of(x[has_number], bins, name, bins.most(name), None, guide, None, least)[0]

    @with_sections(TRANSFORM)
    def transform(self, X: FrameLike) -> FrameLike:
        """Return the bins of numeric columns, and other columns as they are.

        Returns
        -------
        DataFrame or ndarray of shape (n_samples, n_features)
            A frame for a frame. Missing values stay missing. A detector refuses such a table
            together with a fitted model: it takes the rows as they were before.
        """
        check_is_fitted(self, "cuts_")
        frame = frame_of(self, X, reset=False)
        for name, cuts in zip(frame.columns, map(self.cuts_.get, self._names(frame)), strict=True):
            if cuts is None:
                continue
            x = numbers_of(frame[name])
            number, has_number = np.searchsorted(cuts, x, side="left"), ~np.isnan(x)
            if self.encode == "text":
                frame[name] = pd.Series(_texts(cuts)[number], dtype=object).where(
                    has_number, np.nan
                )
            else:
                frame[name] = number if has_number.all() else np.where(has_number, number, np.nan)
        out = like(frame, X)
        if isinstance(out, np.ndarray):
            return out.view(BinnedArray)
        out.attrs[BINNED] = True
        return out

    def _names(self, frame):
        """Return the names that columns had at fit."""
        return list(getattr(self, "feature_names_in_", frame.columns))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _texts(cuts):
    """Return the limits of each bin as text."""
    ends = [f"{c:.12g}" for c in cuts]
    if not ends:
        return np.array(["any"], dtype=object)
    middle = [f"({a}, {b}]" for a, b in pairwise(ends)]
    return np.array([f"<= {ends[0]}", *middle, f"> {ends[-1]}"], dtype=object)
