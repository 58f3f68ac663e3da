"""The original networks decide as published, and have cases as often as published."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skdisc.benchmark._replication import NETWORKS, network, replicate
from skdisc.individual import Themis

HOME = os.environ.get("SKDISC_DATA")
needs_networks = pytest.mark.skipif(
    not HOME or not (Path(HOME) / "adf" / "nets.npz").is_file(), reason="needs adf/nets.npz"
)
ACCURACY = {"census": 0.8815, "bank": 0.9227, "credit": 1.0}


@needs_networks
@pytest.mark.parametrize("name", ACCURACY)
def test_accuracies_are_those_published(name):
    X, _, box = network(Path(HOME) / "adf", name, 0)
    raw = pd.read_csv(Path(HOME) / "adf" / f"{name}.csv.gz")
    accuracy = np.mean(box.model.predict(raw[X.columns]) == raw.iloc[:, -1])
    assert accuracy == pytest.approx(ACCURACY[name], abs=5e-4)


@needs_networks
def test_uniform_inputs_have_cases_as_often_as_published():
    table = replicate({"Themis": Themis(margin=0.02)}, max_tests=6000)
    assert len(table) == len(NETWORKS)
    assert (table["error"] == "").all()
    assert (table["measured"] - table["published"]).abs().max() < 0.03
    assert (table["ci_low"] <= table["measured"]).all()


def test_without_the_networks_it_is_said_what_is_needed(tmp_path):
    with pytest.raises(ValueError, match=r"set SKDISC_DATA to a folder that has adf/nets\.npz"):
        replicate(data_home=tmp_path)
