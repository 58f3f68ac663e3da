"""Type aliases for the annotations of the public API."""

from collections.abc import Collection, Hashable, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

ArrayLike = pd.Series | pd.Index | np.ndarray | Sequence[Any]  # one value per row
FrameLike = pd.DataFrame | np.ndarray | Sequence[Sequence[Any]]  # rows and columns
Columns = Hashable | Sequence[Hashable]  # a name or position, or several
Labels = Hashable | Collection[Hashable]  # one label, or several
Model = Any  # fitted estimator, callable, or BlackBox
FilePath = str | PathLike[str]
RandomState = int | np.random.RandomState | None
Seed = int | np.random.RandomState | np.random.Generator | None
Estimator = BaseEstimator  # a clone of it is fitted
