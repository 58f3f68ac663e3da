"""BoundarySearch: its pool is tested from the boundary outward."""

import numpy as np
import pandas as pd
import pytest
from searches import (
    Loan,
    applicants,
)

from skdisc.individual import BoundarySearch, _boundary_search
from skdisc.individual._search import _input_generator


@pytest.mark.parametrize("at_once", [300, 100_000])
def test_the_boundary_pool_is_tested_closest_first(at_once, monkeypatch, search_only):
    monkeypatch.setattr(_input_generator, "_AT_ONCE", at_once)
    monkeypatch.setattr(_boundary_search, "_AT_ONCE", at_once)
    X, model = applicants(), Loan()
    asked = []
    model.predict = lambda A: (asked.append(A), Loan().predict(A))[1]
    search = BoundarySearch(protected="sex", n_pool=2000, share=0.2, random_state=0)
    result = search.fit(X, model=model).result_
    rows = pd.concat(asked)
    middle = np.abs(Loan().decision_function(rows.assign(sex=0.5)))
    assert len(rows) <= 2 * 400
    assert middle[:100].mean() < middle[-100:].mean()
    everything = search.set_params(share=1.0).fit(X, model=Loan()).result_
    assert result.metrics["SUR"] > 2 * everything.metrics["SUR"]
    assert result.n_found > 0.5 * everything.n_found
