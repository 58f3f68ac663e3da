"""A legitimate column of very many values, as identifiers have, is adjusted for at little cost."""

import numpy as np
import pandas as pd
import pytest

from skdisc._expectations._least_squares import linalg
from skdisc.subgroup import DisparityPursuit


@pytest.mark.slow
def test_identifiers_are_no_dense_matrix_of_their_number(monkeypatch):
    sizes, factor = [], linalg.lapack.dpstrf
    monkeypatch.setattr(
        linalg.lapack, "dpstrf", lambda a, **how: sizes.append(len(a)) or factor(a, **how)
    )
    rng, n = np.random.default_rng(0), 400
    X = pd.DataFrame({"age": rng.normal(size=n), "town": rng.choice([*"abc"], n)})
    X = X.assign(sex=[*"FM"] * 200, row=[f"r{i}" for i in range(n)])
    result = (
        DisparityPursuit(protected="sex", pos_label=1, random_state=0)
        .fit(X, rng.integers(0, 2, n))
        .result_
    )
    assert "row (fewer than five people for each value)" in result.reason
    assert sizes
    assert max(sizes) < 100
