"""CounterfactualRows: each row once more, as it would be with another protected value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skdisc._utils._settings import HasSettings, setting
from skdisc.causal._counterfactual_rows import counterfactual_rows
from skdisc.causal._scm import StructuralCausalModel
from skdisc.preprocessing._row_sampler import RowSampler


class CounterfactualRows(HasSettings, RowSampler):
    """Add to each row its counterfactuals under interventions, with the same label.

    A model trained on these rows learns that the label does not follow from what the intervention
    changes. Counterfactuals equal to their row are not added.

    The class is a sampler of imbalanced-learn, and works in its `Pipeline`.

    {parameters}

    Attributes
    ----------
    sample_indices_ : ndarray of int, shape (n_samples_new,)
        The row from which each returned row comes: all rows in order, then those added.
    n_added_ : int
        Number of added rows.

    References
    ----------
    S. Garg, V. Perot, N. Limtiaco, A. Taly, E. Chi, A. Beutel: Counterfactual fairness in text
    classification through robustness. AIES 2019. https://doi.org/10.1145/3306618.3317950

    Examples
    --------
    >>> X = pd.DataFrame({"sex": list("fm"), "points": [1, 2]})
    >>> X_new, y_new = CounterfactualRows({"sex": {"f": "m", "m": "f"}}).fit_resample(X, [0, 1])
    >>> X_new["sex"].tolist(), y_new
    (['f', 'm', 'm', 'f'], [0, 1, 0, 1])
    """

    do: dict | Sequence[dict] | None = setting(
        None,
        [dict, list, tuple, None],
        """Interventions, as in `skdisc.causal.StructuralCausalModel.counterfactual`: maps a column
        to a value, or to a dict from value to value. Columns of arrays are named x0, x1, ... None:
        `source` is a callable that needs none.""",
        kind="dict, list of dict or None",
        kw_only=False,
    )
    source: Any = setting(
        None,
        [StructuralCausalModel, callable, None],
        """Where counterfactuals come from; a causal model that is not fitted is cloned and fitted
        to the rows. None: nothing follows from the columns that `do` sets, as in a flip test.""",
        kind="StructuralCausalModel, callable (X, do) -> DataFrame, or None",
    )

    def _resampled(self, X, frame, y):
        if self.do is None and not callable(self.source):
            raise ValueError("do is None: pass an intervention, such as {column: {old: new}}.")
        parts, positions = [], [np.arange(len(frame))]
        for do in [self.do] if isinstance(self.do, dict | None) else self.do:
            rows, _ = counterfactual_rows(self.source, frame, do)
            same = (rows == frame) | (rows.isna() & frame.isna())
            changed = np.flatnonzero(~same.to_numpy(dtype=bool).all(axis=1))
            parts.append(rows.iloc[changed])
            positions.append(changed)
        self.sample_indices_ = np.concatenate(positions)
        self.n_added_ = len(self.sample_indices_) - len(frame)
        labels = y[self.sample_indices_]
        if not isinstance(X, pd.DataFrame):
            return np.concatenate([X, *(_typed(p.to_numpy(), X.dtype) for p in parts)]), labels
        added = [
            pd.DataFrame({name: _typed(part[name], X.dtypes[name]) for name in X}) for part in parts
        ]
        return pd.concat([X.reset_index(drop=True), *added], ignore_index=True), labels


def _typed(values, dtype):
    """Return values in the type of a column; of integers only where nothing is lost by it."""
    if pd.api.types.is_integer_dtype(dtype) and (values.astype(float) % 1 != 0).any():
        return values.astype(float)
    return values.astype(dtype)
