"""Protocols: every data set can be made, with the property that it is named after."""

import numpy as np
import pytest

from skdisc.benchmark._protocols import PROTOCOLS
from skdisc.datasets import make_discrimination

DATASETS = PROTOCOLS["medium"]["datasets"]
REFERENCES = [name for name in DATASETS if "reference" in DATASETS[name]]


@pytest.mark.every(6)
@pytest.mark.parametrize("name", [name for name in DATASETS if name not in REFERENCES])
def test_every_data_set_can_be_made(name):
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_every_data_set_of_a_reference_can_be_made(name, load, named_data_dir):
    load(DATASETS[name]["reference"])  # skips where it is missing
    check(name)


def check(name):
    """Make a data set: all of its pairs are planted."""
    made = make_discrimination(**DATASETS[name], random_state=0)
    n_pairs = DATASETS[name]["n_pairs"]
    assert len(made.truth.groups) == n_pairs
    assert set(made.target) == {0, 1}
    assert (made.truth.scm is not None) == ("graph" in DATASETS[name])


def test_attributes_depend_on_one_another_where_they_should():
    found = {}
    for name in ("base", "correlation=0.3", "graph=roles"):
        made = make_discrimination(**DATASETS[name], random_state=0)
        people = made.truth.sample(5000, random_state=0).astype(float)
        r = people.corr(method="spearman").abs().to_numpy()[np.triu_indices(8, 1)]
        found[name] = r.mean(), r.max()
    assert found["base"][1] < 0.05
    assert 0.25 < found["correlation=0.3"][0] < 0.35
    assert found["graph=roles"][1] > 0.15
