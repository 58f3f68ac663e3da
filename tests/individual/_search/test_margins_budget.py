"""A limit on rows that ends a search by gradients in the middle of a question."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from skdisc.individual import ADF, EIDIG


@pytest.mark.parametrize("search", [ADF, EIDIG])
def test_any_limit_on_rows_is_kept(search):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 6, (200, 4)), columns=list("abcd"))
    y = (X["a"] + 2 * (X["d"] > 2) > 4).astype(int)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    for limit in range(100, 2500, 150):
        detector = search(protected="d", max_queries=limit, n_seeds=20, n_local=20, random_state=0)
        result = detector.fit(X, y, model).result_
        assert result.n_queries <= limit
