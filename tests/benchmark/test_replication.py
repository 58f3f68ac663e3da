"""The original networks decide as published, and have cases as often as published."""

import numpy as np
import pandas as pd
import pytest

from skdisc.benchmark._replication import NETWORKS, network, replicate
from skdisc.individual import Themis

ACCURACY = {"census": 0.8815, "bank": 0.9227, "credit": 1.0}


@pytest.fixture
def networks(data_dir):
    """Return the folder of the networks and their data."""
    folder = data_dir / "adf"
    return folder if (folder / "nets.npz").is_file() else pytest.skip("needs adf/nets.npz")


@pytest.mark.parametrize("name", ACCURACY)
def test_accuracies_are_those_published(name, networks):
    X, _, box = network(networks, name, 0)
    raw = pd.read_csv(networks / f"{name}.csv.gz")
    accuracy = np.mean(box.model.predict(raw[X.columns]) == raw.iloc[:, -1])
    assert accuracy == pytest.approx(ACCURACY[name], abs=5e-4)


@pytest.mark.slow
def test_uniform_inputs_have_cases_as_often_as_published(networks):
    table = replicate({"Themis": Themis(margin=0.02)}, max_tests=6000, data_home=networks.parent)
    assert len(table) == len(NETWORKS)
    assert (table["error"] == "").all()
    assert (table["measured"] - table["published"]).abs().max() < 0.03
    assert (table["ci_low"] <= table["measured"]).all()


def test_without_the_networks_it_is_said_what_is_needed(tmp_path):
    with pytest.raises(ValueError, match=r"set SKDISC_DATA to a folder that has adf/nets\.npz"):
        replicate(data_home=tmp_path)
