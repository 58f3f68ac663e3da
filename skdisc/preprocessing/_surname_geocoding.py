"""SurnameGeocoding: probabilities of groups from names and places."""

import warnings
from collections.abc import Hashable
from numbers import Real
from typing import Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from skdisc._utils._settings import HasSettings, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, FrameLike
from skdisc._utils._validation import check_protected
from skdisc.exceptions import SkdiscWarning
from skdisc.preprocessing._rows import FIT, NAMES_OUT, TRANSFORM, frame_of, like
from skdisc.preprocessing._surname_geocoding_tables import name_key, people_table, place_key

_HALF = 0.5


class SurnameGeocoding(HasSettings, TransformerMixin, BaseEstimator):
    r"""Turn surnames and places into probabilities of groups (BISG), with tables of your own.

    If surname s and place g are independent among the people of a group r,

    .. math:: P(r \mid s, g) \propto P(r \mid s) \, P(g \mid r)

    With a table of first names f, :math:`P(f \mid r)` is a further factor. The columns that come
    out are what `skdisc.group.ProxyDisparity` takes. No table is shipped: pass those of your
    census.

    {parameters}

    Attributes
    ----------
    groups_ : list
        The groups, in the order of the columns of `surnames`.
    unknown_ : dict of column to int
        Numbers of rows at fit whose surname, place or first name is in no table.
    surnames_ : DataFrame
        P(group | surname), by normalized name.
    places_, first_names_ : DataFrame
        P(place | group) and P(first name | group). `first_names_` is None without a table.
    shares_ : Series
        P(group), from `places`.

    Raises
    ------
    ValueError
        If a table is missing, holds no numbers of people, or has other groups than `surnames`.

    Warns
    -----
    SkdiscWarning
        If more than half of the values of a column at fit are in no table.

    See Also
    --------
    skdisc.group.ProxyDisparity : Bounds and estimates of gaps, from these columns.

    Notes
    -----
    *Normalized* are names, in X and in tables: capital letters; without accents; a last word JR,
    SR, II, III or IV is dropped; then everything that is no letter or digit. "de la Cruz, Jr." is
    "DELACRUZ". Places are capital text without outer blanks, and 2139.0 is "2139"; leading zeros
    matter. Rows of a table with one name are added up, rows of nobody left out.

    *Unknown* to the tables means not observed: without the surname, P(group) of `places` is in its
    place; without the place or the first name, the factor is left out. If surname and place are
    both unknown, or if any of the values is missing, the probabilities are NaN. So they are if no
    group has both the name and the place, which needs ``prior=0``.

    Independence of name and place within groups does not hold everywhere, and applicants are no
    random sample of a population: check the calibration where some groups are known.

    References
    ----------
    M. N. Elliott, P. A. Morrison, A. Fremont, D. F. McCaffrey, P. Pantoja, N. Lurie: Using the
    Census Bureau's surname list to improve estimates of race/ethnicity and associated disparities.
    Health Services and Outcomes Research Methodology 9, 2009.

    I. Voicu: Using first name information to improve race and ethnicity classification. Statistics
    and Public Policy 5, 2018. https://doi.org/10.1080/2330443X.2018.1427012

    K. Imai, S. Olivella, E. T. R. Rosenman: Addressing census data problems in race imputation via
    fully Bayesian Improved Surname Geocoding and name supplements. Science Advances 8, 2022.

    Examples
    --------
    Of 100 people named Kim 90 are Asian, and half of all Asians live in the east.

    >>> surnames = pd.DataFrame({"asian": [90, 10], "other": [10, 190]}, ["Kim", "Hill"])
    >>> places = pd.DataFrame({"asian": [50, 50], "other": [20, 180]}, ["east", "west"])
    >>> X = pd.DataFrame({"surname": ["KIM", "Kim Jr.", "Lee"], "place": ["east", "west", "east"]})
    >>> model = SurnameGeocoding(surnames, places, prior=0).fit(X)
    >>> model.transform(X).round(3)
       p_asian  p_other
    0    0.978    0.022
    1    0.833    0.167
    2    0.714    0.286
    >>> model.unknown_
    {'surname': 1, 'place': 0}
    """

    surnames: pd.DataFrame | None = setting(
        None,
        "no_validation",
        "*Numbers of people* by surname (index) and group (columns). Required.",
        kind="DataFrame",
        kw_only=False,
    )
    places: pd.DataFrame | None = setting(
        None,
        "no_validation",
        "Numbers of people by place and group, for *all* places of the population. Required.",
        kind="DataFrame",
        kw_only=False,
    )
    first_names: pd.DataFrame | None = setting(
        None,
        "no_validation",
        "Numbers of people by first name and group.",
        kind="DataFrame or None",
        kw_only=False,
    )
    surname: Hashable = setting(
        "surname",
        "no_validation",
        "The column of X that holds surnames.",
        kind="column name or position",
    )
    place: Hashable = setting(
        "place",
        "no_validation",
        "The column of X that holds places.",
        kind="column name or position",
    )
    first_name: Hashable | None = setting(
        None,
        "no_validation",
        "The column of first names; needed if `first_names` is given.",
        kind="column name or position, or None",
    )
    prior: float = setting(
        1.0,
        [Interval(Real, 0, 1e9, closed="both")],
        """This many people, in the shares that the groups have in the whole table, are added to
        each row of each table: the mean of a Dirichlet posterior. So no probability is 0 because of
        a count that is 0, and rare names say less. 0: tables as they are.""",
    )

    @with_sections(FIT)
    def fit(self, X: FrameLike, y: ArrayLike | None = None) -> Self:
        """Read the tables, and count the names and places that they lack.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            People, with the columns of names and places; others are not used.
        y : ignored

        Raises
        ------
        ValueError
            If a table does not hold numbers of people by group, or X lacks a column.
        """
        self._validate_params()
        if (self.first_names is None) != (self.first_name is None):
            parameter, lacking = "first_names", "first_name"
            if self.first_names is None:
                parameter, lacking = f"first_name={self.first_name!r}", "first_names"
            raise ValueError(f"{parameter} is given, and {lacking} is None: pass both or neither.")
        names = people_table(self.surnames, "surnames", name_key, None, self.prior)
        self.groups_ = list(names.columns)
        self.surnames_ = names.div(names.sum(axis=1), axis=0)
        places = people_table(self.places, "places", place_key, self.groups_, self.prior)
        self.shares_ = places.sum() / places.to_numpy().sum()
        self.places_ = places / places.sum()
        self.first_names_ = None
        if self.first_names is not None:
            first_names = people_table(
                self.first_names, "first_names", name_key, self.groups_, self.prior
            )
            self.first_names_ = first_names / first_names.sum()
        frame = frame_of(self, X)
        self.unknown_ = {}
        for name, key, table in self._read(frame):
            positions, is_missing = _rows_of(frame[name], key, table)
            unknown = frame.loc[(positions < 0) & ~is_missing, name]
            self.unknown_[name] = len(unknown)
            if len(unknown) > _HALF * len(frame):
                _warn(unknown, len(frame))
        return self

    def _read(self, frame):
        """Return the column of each table, how its values are compared, and the table."""
        sources = [("surname", name_key, self.surnames_), ("place", place_key, self.places_)]
        if self.first_name is not None:
            sources.append(("first_name", name_key, self.first_names_))
        return [(self._column(what, frame), key, table) for what, key, table in sources]

    def _column(self, what, frame):
        """Return the name of the column that a parameter names."""
        value = getattr(self, what)
        columns = check_protected(value, list(frame), what)
        if len(columns) != 1:
            raise ValueError(f"{what} must name one column of X, got {value!r}.")
        return columns[0]

    @with_sections(TRANSFORM)
    def transform(self, X: FrameLike) -> FrameLike:
        """Return the probabilities of the groups.

        Returns
        -------
        DataFrame or ndarray of shape (n_samples, n_groups)
            A frame for a frame. Rows add up to 1, or are NaN.
        """
        check_is_fitted(self, "surnames_")
        frame = frame_of(self, X, reset=False)
        product, is_lost, is_in_table = np.ones((len(frame), len(self.groups_))), False, []
        for name, key, table in self._read(frame):
            positions, is_missing = _rows_of(frame[name], key, table)
            factor = table.to_numpy()[positions]
            factor[positions < 0] = 1.0 if is_in_table else self.shares_  # the surname is the first
            product *= factor / factor.max(axis=1, keepdims=True)
            is_lost |= is_missing
            is_in_table.append(positions >= 0)
        product[is_lost | ~(is_in_table[0] | is_in_table[1])] = np.nan
        with np.errstate(invalid="ignore"):  # 0 / 0: no group has both
            product /= product.sum(axis=1, keepdims=True)
        return like(pd.DataFrame(product, columns=self.get_feature_names_out()), X)

    @with_sections(NAMES_OUT)
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the columns, ``p_`` and the group.

        Returns
        -------
        ndarray of str, shape (n_groups,)
        """
        check_is_fitted(self, "surnames_")
        return np.array([f"p_{group}" for group in self.groups_], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _rows_of(column, key, table):
    """Return the row of the table for each value, -1 if it has none, and which are missing."""
    codes, values = pd.factorize(column)
    row = table.index.get_indexer([key(value) for value in values])
    return np.append(row, -1)[codes], codes < 0


def _warn(unknown, n):
    """Warn that most values of a column are unknown."""
    warnings.warn(
        f"{len(unknown)} of {n} values of column {unknown.name!r} are in no row of the table, e.g. "
        f"{unknown.iloc[0]!r}. Compare how both are written.",
        SkdiscWarning,
        stacklevel=3,
    )
