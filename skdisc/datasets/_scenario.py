"""What the small scenarios share: common parameters, random numbers, and the form of the answer."""

import numpy as np
import pandas as pd
from sklearn.utils import Bunch, check_random_state

COMMON = {
    "return_X_y": ["boolean"],
    "as_frame": ["boolean"],
    "random_state": ["random_state", np.random.Generator],
}


def numbers_from(random_state):
    """Return a Generator as it is, and a RandomState of anything else."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return check_random_state(random_state)


def tables(columns, words, target, name, as_frame):
    """Return the data and the target, pandas objects or arrays.

    Parameters
    ----------
    columns : dict
        By name; the first is 0 or 1.
    words : pair of str
        What 0 and 1 of the first column are called in a DataFrame.
    target : ndarray
    name : str
        Name of the target.
    as_frame : bool
    """
    if not as_frame:
        return np.column_stack(list(columns.values())).astype(float), target
    first, *_ = columns
    data = pd.DataFrame({**columns, first: np.where(columns[first] == 1, *words[::-1])})
    return data, pd.Series(target, name=name)


def answer(data, target, columns, target_names, doc, **more):
    """Return the Bunch of a scenario, whose first column is the protected one."""
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
