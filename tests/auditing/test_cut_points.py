"""Cut points of numbers can be declared, wherever numbers are binned."""

import json

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, all_detectors, cli
from skdisc._space._bins import Bins
from skdisc.auditing import verify
from skdisc.group import GroupDisparity


@pytest.fixture(scope="module")
def ages():
    rng = np.random.default_rng(0)
    age, sex = rng.integers(20, 65, 1500), rng.choice(["f", "m"], 1500)
    hired = rng.random(1500) < np.where(age >= 40, 0.3, 0.6)
    return pd.DataFrame({"age": age, "sex": sex}), hired.astype(int)


CUTS = [{"age": [39]}, Bins(edges={"age": [39]})]


@pytest.mark.slow
@pytest.mark.parametrize("n_bins", [*CUTS, Bins(4, edges={"age": [39]}, nested=True)])
def test_an_audit_of_a_declared_limit(ages, n_bins):
    named = ["GroupDisparity", "DivExplorer"]
    report = Audit(protected="age", n_bins=n_bins, detectors=named).fit(*ages).report_
    groups = set(report.to_frame("groups")["group"])
    assert groups == {"age <= 39", "age > 39"}
    assert report.document["verdict"]["exit_code"] == 1
    json.dumps(report.document["settings"])
    if isinstance(n_bins, dict) or not n_bins.nested:
        assert verify(report.to_dict(), *ages) == []


def test_numbers_and_edges_by_column(ages):
    X, y = ages
    X = X.assign(pay=np.arange(len(X)))
    table = GroupDisparity(protected=["age", "pay"], n_bins={"age": [25, 60], "pay": 3}).fit(X, y)
    groups = set(table.result_.by_value)
    assert {"age <= 25", "25 < age <= 60", "age > 60"} <= groups
    assert sum("pay" in g for g in groups) == 3
    assert Bins.of({"Bins": Bins(3, edges={"a": [1]}).to_dict()["Bins"]}) == Bins(
        3, edges={"a": [1]}
    )


@pytest.mark.parametrize(
    ("n_bins", "message"),
    [
        ({"aeg": [39]}, "'aeg' is not one"),
        ({"age": 1}, "n_bins of 'age' must be a whole number of at least 2, or a list of edges"),
        ({"age": []}, "edges of 'age' must be finite numbers"),
        ({"age": [40, 25]}, "edges of 'age' must increase"),
        ({"age": ["x"]}, "edges of 'age' must be numbers"),
        ({"sex": [1]}, "'sex' is not one"),
    ],
)
def test_what_is_no_cut_is_refused(ages, n_bins, message):
    with pytest.raises(ValueError, match=message):
        Audit(protected="age", n_bins=n_bins, detectors=["GroupDisparity"]).fit(*ages)


BINNED = [
    name
    for name, detector in all_detectors().items()
    if "n_bins" in detector().get_params() and name != "ThresholdTest"
]


@pytest.mark.parametrize("name", BINNED)
@pytest.mark.parametrize("n_bins", CUTS)
def test_every_detector_that_bins_numbers_takes_cuts(name, n_bins):
    detector = all_detectors()[name](protected="age").set_params(n_bins=n_bins)
    detector._validate_params()


def test_cuts_of_the_command_line(ages, tmp_path, capsys):
    X, y = ages
    X.assign(hired=y).to_csv(tmp_path / "a.csv", index=False)
    how = ["--target=hired", "--favorable=1", "--protected=age", "--detectors=GroupDisparity"]
    report = tmp_path / "a.json"
    given = ["audit", str(tmp_path / "a.csv"), *how, f"--report={report}"]
    assert cli.main([*given, "--bins=age=39"]) == cli.DISPARITY_FOUND
    document = json.loads(report.read_text())
    assert "--bins=age=39" in document["code"].replace("'", "")
    assert {row["group"] for row in document["groups"]} == {"age <= 39", "age > 39"}
    assert cli.main(["verify", str(report), str(tmp_path / "a.csv")]) == 0
    assert cli.main([*given, "--bins=3"]) in (0, 1, 3)
    assert len({row["group"] for row in json.loads(report.read_text())["groups"]}) == 3
    assert cli.main([*given, "--bins=aeg=39"]) == cli.USAGE
    assert "did you mean 'age'" in capsys.readouterr().err
    assert cli.main([*given, "--bins=age=old"]) == cli.USAGE
    assert "--bins 'age=old' is neither" in capsys.readouterr().err
