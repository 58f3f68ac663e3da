"""Transformers and samplers know which label is favorable by the rule of detectors."""

import numpy as np
import pandas as pd
import pytest

from skdisc.preprocessing import Discretizer, SituationFeatures
from skdisc.repair import Massager
from skdisc.subgroup import BiasScan, Bins, DivExplorer


def people(n=120):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "age": rng.normal(size=n)})
    return X, (X["age"] + (X["sex"] == "M") + rng.normal(size=n) > 0.5).to_numpy().astype(int)


@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2)])
def test_labels_that_are_no_codes_must_be_named(labels):
    X, y = people()
    named = np.array(labels)[y]
    massager, features = Massager(protected="sex"), SituationFeatures(protected="sex")
    tree = Discretizer(n_bins=Bins(how="tree"))
    calls = [
        (massager, lambda m, y: m.fit_resample(X, y)[1] == y),
        (features, lambda m, y: m.fit(X, y).transform(X)),
        (tree, lambda m, y: m.fit(X[["age"]], y).transform(X[["age"]])),
    ]
    for method, ask in calls:
        with pytest.raises(ValueError, match="pos_label is not set"):
            ask(method, named)
        expected = ask(method, y)
        np.testing.assert_array_equal(ask(method.set_params(pos_label=labels[1]), named), expected)


@pytest.mark.parametrize("detector", [BiasScan, DivExplorer])
def test_a_dict_of_features_is_refused_where_one_list_is_meant(detector):
    X, y = people()
    with pytest.raises(ValueError, match="features must name columns"):
        detector(protected="sex", features={"sex": ["age"], "age": []}).fit(X, y)
