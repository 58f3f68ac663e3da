"""Hypothesis strategies made from a FeatureSpace."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skdisc._space._codes import MISSING
from skdisc._space._feature_space import FeatureSpace
from skdisc._utils import _validation as check
from skdisc._utils._optional import require
from skdisc._utils._types import Columns, FrameLike

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def space_of(X, protected=None):
    """Return a FeatureSpace unchanged, or learn one from a DataFrame."""
    if isinstance(X, FeatureSpace):
        names = X.protected if protected is None else check.check_protected(protected, X.names)
        return X.varying(names)
    frame = pd.DataFrame(X)
    names = check.check_protected(protected, list(frame.columns))
    return FeatureSpace.from_frame(frame, protected=names, is_frame=isinstance(X, pd.DataFrame))


def individuals(space: FeatureSpace | FrameLike) -> "SearchStrategy[pd.DataFrame]":
    """Strategy of single people, as data frames of one row.

    Examples shrink towards the first value of every column: the lowest number, the first category.

    Parameters
    ----------
    space : FeatureSpace or DataFrame of shape (n_samples, n_features)

    Returns
    -------
    strategy of DataFrame of shape (1, n_features)

    Raises
    ------
    ImportError
        If the extra ``testing`` (hypothesis) is not installed.

    Examples
    --------
    >>> from hypothesis import find
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]})
    >>> find(individuals(space), lambda person: (person["income"] > 40).all()).values.tolist()
    [[41, 'F']]
    """
    return people(space, min_size=1, max_size=1)


def people(
    space: FeatureSpace | FrameLike, *, min_size: int = 0, max_size: int = 20
) -> "SearchStrategy[pd.DataFrame]":
    """Strategy of data frames of people; examples shrink towards fewer rows.

    Parameters
    ----------
    space : FeatureSpace or DataFrame of shape (n_samples, n_features)
    min_size, max_size : int, default=0, 20
        Minimal and maximal number of rows.

    Returns
    -------
    strategy of DataFrame of shape (n, n_features)

    Raises
    ------
    ImportError
        If the extra ``testing`` (hypothesis) is not installed.

    Examples
    --------
    >>> from hypothesis import find
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]})
    >>> find(people(space), lambda X: len(X) > 1).values.tolist()
    [[0, 'F'], [0, 'F']]
    """
    st = _strategies()
    space = space_of(space)
    rows = st.lists(_codes(space), min_size=min_size, max_size=max_size)

    @st.composite  # so that a failing test prints people, not codes
    def people_of(draw):
        return _decoded(space, draw(rows))

    return people_of()


def individual_pairs(
    space: FeatureSpace | FrameLike, *, protected: Columns | None = None
) -> "SearchStrategy[pd.DataFrame]":
    """Strategy of pairs of people who differ in protected columns only, as frames of two rows.

    Parameters
    ----------
    space : FeatureSpace or DataFrame of shape (n_samples, n_features)
    protected : column name or position, or sequence of them, default=None
        Protected columns; None stands for those of the space.

    Returns
    -------
    strategy of DataFrame of shape (2, n_features)

    Raises
    ------
    ImportError
        If the extra ``testing`` (hypothesis) is not installed.
    ValueError
        If no protected column has two values.

    Examples
    --------
    >>> from hypothesis import find
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> find(individual_pairs(space), lambda pair: loan(pair).nunique() > 1).values.tolist()
    [[41, 'F'], [41, 'M']]
    """
    st = _strategies()
    space = space_of(space, protected)
    combos = space.combos() if space.protected else np.empty((1, 0))
    if len(combos) < 2:
        raise ValueError(
            f"A pair needs a protected column with two values; protected={list(space.protected)!r}."
        )
    two = st.lists(st.integers(0, len(combos) - 1), min_size=2, max_size=2, unique=True)

    rows = _codes(space)

    @st.composite
    def pair_of(draw):
        codes, chosen = draw(rows), draw(two)
        pair = np.array([codes, codes])
        pair[:, space.p_index] = combos[sorted(chosen)]
        return _decoded(space, pair)

    return pair_of()


def _codes(space):
    """Return a strategy of rows of codes; missing values shrink to other ones."""
    st = _strategies()
    columns = []
    for column in space.columns:
        codes = st.integers(0, column.size - 1)
        columns.append(codes | st.just(MISSING) if column.missing else codes)
    return st.tuples(*columns)


def _decoded(space, codes):
    """Return rows of codes in the container that the space was learned from."""
    codes = np.array(codes, dtype=np.int64).reshape(-1, len(space))
    frame = space.decode(codes)
    return frame if space.is_frame else frame.to_numpy()


def _strategies():
    """Import hypothesis."""
    return require("hypothesis.strategies", extra="testing", purpose="Drawing people")
