"""Shared parts of the small scenarios: parameters, random numbers, and the returned Bunch."""

import numpy as np
import pandas as pd
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import validate_params

from skdisc._utils._settings import AT_LEAST_ONE, SHARE
from skdisc._utils._shared_sections import with_sections

_ALLOWED = {
    "n_samples": [AT_LEAST_ONE],
    "p_female": [SHARE],
    "return_X_y": ["boolean"],
    "as_frame": ["boolean"],
    "random_state": ["random_state", np.random.Generator],
}
_SECTIONS = """
    Parameters
    ----------
    n_samples : int
    p_female : float
        Expected share of women.
    return_X_y : bool, default=False
        Return only the data and the target.
    as_frame : bool, default=True
        Return pandas objects; otherwise arrays, with gender 1 for women and 0 for men.
    random_state : int, RandomState, Generator or None, default=None

    Raises
    ------
    ValueError
        If a parameter is out of range.
"""


def scenario(**allowed):
    """Return a decorator of a scenario: its parameters are checked, and shared ones described.

    `allowed`: what further parameters may be.
    """
    check = validate_params(_ALLOWED | allowed, prefer_skip_nested_validation=True)
    return lambda make: check(with_sections(_SECTIONS)(make))


def numbers_from(random_state):
    """Return a Generator unchanged, and a RandomState for any other seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return check_random_state(random_state)


def tables(columns, words, target, name, as_frame):
    """Return the data and the target, as pandas objects or arrays.

    `columns`: arrays by name; the first has the values 0 and 1. `words`: the values of the first
    column in a DataFrame instead of 0 and 1. `name`: name of the target.
    """
    if not as_frame:
        return np.column_stack(list(columns.values())).astype(float), target
    first, *_ = columns
    data = pd.DataFrame({**columns, first: np.where(columns[first] == 1, *words[::-1])})
    return data, pd.Series(target, name=name)


def bunch_of(data, target, columns, target_names, doc, **more):
    """Return the Bunch of a scenario; its first column is protected."""
    as_frame = isinstance(data, pd.DataFrame)
    return Bunch(
        data=data,
        target=target,
        frame=data.assign(**{target.name: target}) if as_frame else None,
        feature_names=list(columns),
        target_names=target_names,
        protected=list(columns)[:1],
        DESCR=doc,
        **more,
    )
