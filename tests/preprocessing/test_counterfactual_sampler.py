"""Each row comes once more, as the causal model has it, with its label."""

import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import make_pipeline
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from skdisc.causal import StructuralCausalModel
from skdisc.preprocessing import CounterfactualRows

FLIP = {"sex": {0: 1, 1: 0}}


def people(n=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.integers(0, 2, n)})
    X["pay"] = 2.0 * X["sex"] + rng.normal(size=n)
    return X, pd.Series((X["pay"] > 1).astype(int), name="granted")


def test_added_rows_are_those_of_the_model():
    X, y = people()
    scm = StructuralCausalModel([("sex", "pay")]).fit(X)
    sampler = CounterfactualRows(FLIP, source=scm)
    X_new, y_new = sampler.fit_resample(X, y)
    expected = scm.counterfactual(X, FLIP)
    assert sampler.n_added_ == len(X)
    pd.testing.assert_frame_equal(X_new[: len(X)], X)
    added = X_new[len(X) :].reset_index(drop=True)
    pd.testing.assert_frame_equal(added, expected, check_dtype=False)
    assert y_new.tolist() == [*y, *y]
    assert sampler.sample_indices_.tolist() == [*range(len(X)), *range(len(X))]


def test_a_model_trained_on_both_ignores_the_flipped_column():
    X, y = people()
    pipe = make_pipeline(CounterfactualRows(FLIP), LogisticRegression())
    flipped = X.assign(sex=1 - X["sex"])
    fitted = pipe.fit(X, y)
    assert np.allclose(
        fitted.predict_proba(X), fitted.predict_proba(flipped), atol=5e-3
    )  # up to the solver
    grid = {"counterfactualrows": [None, CounterfactualRows(FLIP)]}
    assert np.isfinite(GridSearchCV(pipe, grid, cv=3).fit(X, y).best_score_)


def test_equal_counterfactuals_are_not_added():
    X, y = people()
    sampler = CounterfactualRows([{"sex": 1}, {"sex": 0}]).fit(X, y)
    assert sampler.n_added_ == len(X)
    with pytest.raises(ValueError, match="do is None: pass an intervention"):
        CounterfactualRows().fit(X, y)


@pytest.mark.parametrize("as_array", [False, True])
def test_numbers_in_columns_of_integers_are_not_cut_off(as_array):
    X = pd.DataFrame({"sex": [0, 1, 0, 1], "points": [10, 11, 12, 13]})

    def half_a_point_more(rows, do):
        sex, points = rows  # the columns of an array are named x0 and x1
        return rows.assign(**{sex: 1 - rows[sex], points: rows[points] + 0.5})

    sampler = CounterfactualRows(source=half_a_point_more)
    X_new, _ = sampler.fit_resample(X.to_numpy() if as_array else X, [0, 1, 0, 1])
    points = X_new[:, 1] if as_array else X_new["points"]
    assert list(points) == [10, 11, 12, 13, 10.5, 11.5, 12.5, 13.5]
    do = {"x0" if as_array else "sex": {0: 1, 1: 0}}
    whole, _ = CounterfactualRows(do).fit_resample(X.to_numpy() if as_array else X, [0, 1, 0, 1])
    kinds = [whole.dtype] if as_array else list(whole.dtypes)
    assert all(pd.api.types.is_integer_dtype(kind) for kind in kinds)
