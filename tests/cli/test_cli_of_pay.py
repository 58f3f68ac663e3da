"""Reports of pay on the command line: written, verified, public; options that contradict."""

import json

import numpy as np
import pandas as pd
import pytest

from skdisc import cli


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    draw = np.random.default_rng(0)
    sex, grade = draw.choice(["female", "male"], 300), draw.choice(["A", "B"], 300)
    grade[:6] = "C"
    hours = np.where(sex == "female", draw.choice([20, 40], 300), 40)
    base = (20 + 8 * (grade == "B") + draw.normal(0, 2, 300)) * hours
    variable = np.where(draw.random(300) < 0.5, 100.0, 0.0)
    columns = {"sex": sex, "grade": grade, "hours": hours, "base": base.round(2)}
    path = tmp_path_factory.mktemp("pay") / "pay.csv"
    pd.DataFrame({**columns, "variable": variable}).to_csv(path, index=False)
    return path


COLUMNS = ["--category", "grade", "--base", "base", "--variable", "variable", "--hours", "hours"]
OPTIONS = ["--template", "pay_transparency", "--protected", "sex", *COLUMNS]


def failed(capsys, *options):
    """Return the message of a command that ends with 2."""
    assert cli.main([str(option) for option in options]) == 2
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--public"]])
def test_a_report_is_written_and_verified(table, tmp_path, capsys, more):
    page = tmp_path / "pay.html"
    detectors = [] if more else ["--detectors", "GroupDisparity"]
    code = cli.main(["audit", str(table), *OPTIONS, *more, *detectors, "--report", str(page)])
    said = capsys.readouterr().out
    assert code in (0, 1, 3)
    assert "THE FIGURES OF ARTICLE 9(1)" in said
    assert "(a) Mean pay" in said
    assert cli.main(["verify", str(page), str(table)]) == 0
    assert "Nothing differs" in capsys.readouterr().out
    assert "--base=base" in said if not more else "NO VERDICT IS GIVEN. Public" in said


@pytest.mark.slow
def test_a_public_report_has_no_means_and_larger_categories(table, tmp_path):
    path = tmp_path / "pay.json"
    cli.main(["audit", str(table), *OPTIONS, "--public", "--report", str(path)])
    document = json.loads(path.read_text())
    means = [r for r in document["pay"] if r["figure"] in ("mean", "median", "category")]
    assert {r["women_value"] for r in means} == {r["men_value"] for r in means} == {None}
    assert {r["turned_by_one"] for r in document["pay"]} == {None}
    assert "outcome" not in document["about"]
    assert document["about_pay"]["equal"] == []
    assert document["about_pay"]["implausible"] == {}
    for row in document["pay"]:
        if row["figure"] == "category":
            assert min(row["women"], row["men"]) >= 20
    assert "C" in document["about_pay"]["joined"]


def test_options_that_do_not_go_together(table, capsys):
    audit = "audit", table, "--protected", "sex"
    pay = "--template", "pay_transparency"
    assert "--category is for reports of pay: add --template" in failed(
        capsys, *audit, "--target", "base", "--category", "grade"
    )
    assert "needs total pay (--target COL), or base pay" in failed(capsys, *audit, *pay)
    assert "--fit does not go with --template pay_transparency" in failed(
        capsys, *audit, *pay, "--base", "base", "--fit", "logistic"
    )
    assert "There are no men in 'grade'" in failed(
        capsys, "audit", table, "--protected", "grade", *pay, "--base", "base", "--women", "A"
    )
    assert "'sex' has no value 'W'" in failed(
        capsys, *audit, *pay, "--base", "base", "--women", "W"
    )
    assert "--target is missing" in failed(capsys, *audit, "--favorable", "1")


def test_hours_of_0_are_left_out_if_asked(table, tmp_path, capsys):
    frame = pd.read_csv(table)
    frame.loc[0, "hours"] = 0
    path = tmp_path / "zero.csv"
    frame.to_csv(path, index=False)
    message = failed(capsys, "audit", path, *OPTIONS)
    assert "is missing, 0 or less in 1 row" in message
    assert "--drop-unlabeled" in message


@pytest.mark.parametrize(
    "named",
    ["logib:training=school,experience=career", "Logib: training=school, experience=career"],
)
def test_the_model_of_logib_stands_beside_a_report(table, tmp_path, named):
    draw, frame = np.random.default_rng(1), pd.read_csv(table)
    for name in ("school", "career", "service"):
        frame[name] = draw.integers(5, 30, len(frame))
    frame["level"], frame["position"] = frame["grade"], draw.choice(["head", "staff"], len(frame))
    data, path = tmp_path / "pay.csv", tmp_path / "pay.json"
    frame.to_csv(data, index=False)
    options = [*OPTIONS, "--compare-with", named, "--detectors", "GroupDisparity"]
    assert cli.main(["audit", str(data), *options, "--report", str(path)]) in (0, 1, 3)
    logib = json.loads(path.read_text())["about_pay"]["logib"]
    assert logib["gap"] is not None
    assert logib["columns"] == {
        **{"training": "school", "experience": "career"},
        **{name: name for name in ("service", "level", "position")},
    }
    assert cli.main(["verify", str(path), str(data)]) == 0


def test_a_model_that_is_not_named_as_it_should_be(table, capsys):
    audit = "audit", table, *OPTIONS, "--compare-with"
    assert "--compare-with has one model, logib, not 'egapro'" in failed(capsys, *audit, "egapro")
    assert "write logib:training=COL,experience=COL" in failed(capsys, *audit, "logib:hours")
    assert (
        "--compare-with logib:training: 'hour' is not a column of the file; did you mean"
        in failed(capsys, *audit, "logib:training=hour")
    )
    assert "Logib's model needs a column of training" in failed(capsys, *audit, "logib")
    assert "--compare-with is for reports of pay" in failed(
        capsys, "audit", table, "--protected", "sex", "--target", "base", "--compare-with", "logib"
    )
