"""Errors on the command line name its options, not the parameters of Python."""

import numpy as np
import pandas as pd
import pytest

from skdisc import cli


@pytest.fixture
def told(tmp_path, capsys):
    """Return what a command says about a table that is wrong in one column."""

    def run(command, *options, **wrong):
        table = pd.DataFrame({"sex": ["F", "M"] * 20, "hired": ["yes", "no", "no", "no"] * 10})
        table = table.assign(**{"weight": 1.0, "home": np.arange(40) // 2, "said": "yes"} | wrong)
        path = tmp_path / "people.csv"
        table.to_csv(path, index=False)
        start = [str(path)] if command == "audit" else [str(tmp_path / "state.json"), str(path)]
        assert cli.main([command, *start, "--protected=sex", *options]) == cli.USAGE
        return capsys.readouterr().err

    return run


GAPS = [None, None, *["yes"] * 38]
AUDIT = ("--target=hired", "--favorable=yes")


@pytest.mark.parametrize(
    ("options", "column"),
    [
        ([], "hired"),
        (["--weights=weight"], "weight"),
        (["--groups=home"], "home"),
        (["--predictions=said"], "said"),
    ],
)
def test_missing_values_are_those_of_an_option(told, options, column):
    option = options[0].partition("=")[0] if options else "--target"
    error = told("audit", *AUDIT, *options, **{column: GAPS})
    assert f"{option} '{column}' is missing in 2 rows. Drop these rows" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weights=weight"], "error: --weights must be finite"),
        (["--favorable=yes,no"], "error: --favorable=['yes', 'no'] names every label"),
        (["--relevant-gap=-1"], "The --relevant-gap parameter of Rule must be"),
        (["--refits=-1", "--fit=tree"], "error: --refits must be an integer >= 0"),
        (["--refits=9"], "error: --refits is about a model that --fit trains"),
        (["--max-tests=-1"], "The --max-tests parameter of Limits must be"),
        (["--groups=said"], "error: --groups has one cluster only"),
    ],
)
def test_parameters_are_told_as_options(told, options, message):
    assert message in told("audit", *AUDIT, *options, weight=-1.0)


def test_a_monitor_names_its_options(told):
    error = told("monitor", "--decision=hired")
    assert "error: --favorable is missing" in error
    assert "pos_label" not in error
    error = told("monitor", "--decision=said", "--favorable=yes", said=GAPS)
    assert "--decision 'said' is missing in 2 rows" in error
    given = "--decision=hired", "--favorable=yes", "--metric=true_positive_rate"
    assert "--label 'said' is missing in 2 rows" in told(
        "monitor", *given, "--label=said", said=GAPS
    )
