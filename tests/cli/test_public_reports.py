"""`skdisc audit --public`: reports that may leave the house."""

import json

import numpy as np
import pandas as pd
import pytest

from skdisc import cli


@pytest.fixture
def file(tmp_path):
    draw = np.random.default_rng(0)
    n = 600
    X = pd.DataFrame(
        {
            "sex": draw.choice(["f", "m"], n),
            "town": draw.choice(["u", "v", "w"], n),
            "origin": ["a"] * 593 + ["b"] * 7,
            "street": draw.choice([f"s{i}" for i in range(12)], n),
        }
    )
    X["hired"] = (draw.random(n) < np.where(X["sex"] == "f", 0.3, 0.6)).astype(int)
    path = tmp_path / "people.csv"
    X.to_csv(path, index=False)
    return path


def run(file, *more):
    options = ["--target=hired", "--favorable=1", "--protected=sex,town", "--public"]
    return cli.main(["audit", str(file), *options, *more])


def test_a_public_report_says_so_and_can_be_verified(file, tmp_path, capsys):
    path = tmp_path / "report.json"
    assert run(file, "--ignore=street", f"--report={path}") == 1
    assert "This is a public document:" in capsys.readouterr().out
    document = json.loads(path.read_text())
    assert document["settings"]["disclosure"] == document["about"]["disclosure"] == "public"
    assert "--public" in document["code"]
    assert not document["notices"]
    assert "notes" not in document["source"]
    assert cli.main(["verify", str(path), str(file)]) == 0


def test_what_is_ignored_counts_for_the_choice(file, tmp_path):
    """Two reports of a table, one of which ignores a column, look at the same other groups."""
    groups = []
    for more in (["--ignore=street"], []):
        path = tmp_path / "report.json"
        run(file, f"--report={path}", *more)
        families = json.loads(path.read_text())["families"]
        groups.append({r["group"] for r in families if "street" not in r["group"]})
    assert groups[0] == groups[1]


@pytest.mark.parametrize(
    "option",
    ["--details=d.json", "--robustness", "--fit=boosting", "--by-parts", "--groups=town"],
)
def test_options_that_print_more_are_refused(file, option, capsys):
    assert run(file, option) == 2
    assert "--public" in capsys.readouterr().err
