"""Numbers as outcomes on the command line: --number, --hours, --outcome-scale."""

import json

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, cli
from skdisc.auditing import AuditReport


def staff(n=1_200, seed=3):
    """Return monthly pay of people in grades, where women of G2 have 12 % less per hour."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["female", "male"], n)
    grade = np.where(rng.random(n) < np.where(sex == "female", 0.6, 0.4), "G2", "G3")
    hours = np.where(rng.random(n) < np.where(sex == "female", 0.5, 0.1), 24, 40)
    hourly = np.where(grade == "G2", 20.0, 26.0) * np.exp(rng.normal(0, 0.08, n))
    hourly *= np.where((sex == "female") & (grade == "G2"), 0.88, 1.0)
    pay = np.round(hourly * hours, 2)
    return pd.DataFrame({"sex": sex, "grade": grade, "weekly_hours": hours, "base_pay": pay})


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Return table, path, and the document of its audit by the command."""
    folder = tmp_path_factory.mktemp("pay")
    frame, path = staff(), folder / "pay.csv"
    frame.to_csv(path, index=False)
    code = cli.main([*command(path), "--report", str(folder / "a.json")])
    assert code == 1
    return frame, path, folder / "a.json"


def command(path, *more):
    about = ["--target", "base_pay", "--number", "--hours", "weekly_hours", "--protected", "sex"]
    return ["audit", str(path), *about, *more]


def test_pay_is_compared_by_the_hour(audited):
    frame, _, report = audited
    document = json.loads(report.read_text())
    hourly = frame["base_pay"] / frame["weekly_hours"]
    means = {row["group"]: row["rate"] for row in document["groups"]}
    assert means["sex = 'female'"] == pytest.approx(hourly[frame["sex"] == "female"].mean())
    assert set(document["about"]["columns"]) == {"grade", "sex"}
    assert document["about"]["outcome"]["name"] == "base_pay per hour"
    (cause,) = [row for row in document["evidence"] if row["kind"] == "cause"]
    assert cause["group"] == "grade = 'G2' and sex = 'female'"
    share = [cause[end] / cause["rate_others"] for end in ("ci_low", "ci_high")]
    assert share[0] < -0.12 < share[1]


def test_python_says_the_same(audited):
    frame, _, report = audited
    X, y = frame[["grade", "sex"]], frame["base_pay"] / frame["weekly_hours"]
    again = Audit(protected="sex", output="value").fit(X, y).report_.document
    document = json.loads(report.read_text())
    effects = [[row["effect"] for row in d["evidence"]] for d in (document, again)]
    assert effects[0] == pytest.approx(effects[1], rel=1e-3)  # rows in another order


def test_verify_repeats_it(audited, tmp_path, capsys):
    frame, path, report = audited
    assert cli.main(["verify", str(report), str(path)]) == 0
    assert "Nothing differs." in capsys.readouterr().out
    changed = frame.assign(weekly_hours=frame["weekly_hours"].where(frame.index > 600, 38))
    changed.to_csv(tmp_path / "other.csv", index=False)
    assert cli.main(["verify", str(report), str(tmp_path / "other.csv")]) == 1


@pytest.mark.parametrize(
    "options",
    [["--favorable", "low"], ["--outcome-scale", "log"], ["--relevant-gap", "3%"]],
)
def test_verify_repeats_other_settings(audited, tmp_path, options):
    _, path, _ = audited
    out = tmp_path / "other.json"
    quick = ["--detectors", "GroupDisparity", "--report", str(out)]
    assert cli.main(command(path, *options, *quick)) == 1
    assert cli.main(["verify", str(out), str(path)]) == 0
    outcome = json.loads(out.read_text())["about"]["outcome"]
    expected = {
        "low": ("better", "low"),
        "log": ("scale", "log"),
        "3%": ("relevant_gap", pytest.approx(0.03 * outcome["mean"])),
    }
    name, value = expected[options[-1]]
    assert outcome[name] == value


def test_predictions_that_are_numbers_are_compared(audited, tmp_path):
    frame, _, _ = audited
    path, out = tmp_path / "offers.csv", tmp_path / "offers.json"
    frame.assign(offer=frame["base_pay"] / frame["weekly_hours"]).to_csv(path, index=False)
    asked = ["--target", "base_pay", "--number", "--predictions", "offer", "--protected", "sex"]
    quick = ["--detectors", "GroupDisparity", "--report", str(out)]
    assert cli.main(["audit", str(path), *asked, *quick]) == 1
    documents = [json.loads(one.read_text()) for one in (out, audited[2])]
    means = [{row["group"]: row["rate"] for row in d["groups"]} for d in documents]
    assert means[0] == pytest.approx(means[1])
    assert cli.main(["verify", str(out), str(path)]) == 0


def test_a_plan_keeps_the_question(audited, tmp_path):
    _, path, report = audited
    plan = tmp_path / "plan.json"
    asked = command(path)[2:]
    assert cli.main(["plan", *asked, "--out", str(plan)]) == 0
    second = tmp_path / "b.json"
    assert cli.main(["audit", str(path), "--plan", str(plan), "--report", str(second)]) == 1
    documents = [json.loads(one.read_text()) for one in (report, second)]
    assert documents[0]["evidence"] == documents[1]["evidence"]


def test_two_audits_of_the_same_people_are_compared_in_pairs(audited, tmp_path, capsys):
    frame = audited[0]
    frame = frame.assign(last=frame["base_pay"] / frame["weekly_hours"])
    is_group = (frame["sex"] == "female") & (frame["grade"] == "G2")
    frame["now"] = frame["last"] * np.where(is_group, 1 / 0.88, 1.0)
    frame.to_csv(tmp_path / "both.csv", index=False)
    asked = ["--number", "--protected", "sex", "--ignore"]
    paths = [tmp_path / f"{name}.json" for name in ("last", "now")]
    for target, other, out in (("last", "now", paths[0]), ("now", "last", paths[1])):
        more = [*asked, f"{other},base_pay,weekly_hours", "--report", str(out)]
        cli.main(["audit", str(tmp_path / "both.csv"), "--target", target, *more])
    cli.main(["compare", *map(str, paths), "--data", str(tmp_path / "both.csv")])
    assert "Both models decided about the same people" in capsys.readouterr().out
    before, after = (AuditReport.from_json(one.read_text()) for one in paths)
    X = frame[["grade", "sex"]]
    paired = before.compare(after, X, (frame["last"], frame["now"])).evidence
    apart = before.compare(after).evidence
    paired, apart = (t.set_index("null").loc["marginal"] for t in (paired, apart))
    width = [t["ci_high"] - t["ci_low"] for t in (paired, apart)]
    assert width[0] < width[1] / 2


def test_other_units_are_not_compared(audited, capsys):
    _, path, report = audited
    other = report.with_name("log.json")
    cli.main(command(path, "--outcome-scale", "log", "--report", str(other)))
    capsys.readouterr()
    assert cli.main(["compare", str(report), str(other)]) == cli.USAGE
    assert "values by their log" in capsys.readouterr().err


def test_many_numbers_need_no_option(audited, capsys):
    _, path, _ = audited
    asked = ["--target", "base_pay", "--protected", "sex", "--detectors", "GroupDisparity"]
    assert cli.main(["audit", str(path), *asked]) == 1
    assert "their means are compared" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--favorable", "3000"], "is no direction of numbers: high"),
        (["--output", "probability"], "which --output probability contradicts"),
        (["--fit", "boosting"], "--fit is about decisions"),
        (["--predictions", "grade"], "--hours divides the target"),
    ],
)
def test_options_that_contradict_each_other_are_named(audited, options, message, capsys):
    assert cli.main(command(audited[1], *options)) == cli.USAGE
    assert message in capsys.readouterr().err


def test_decisions_have_no_hours(audited, capsys):
    asked = ["--target", "grade", "--favorable", "G3", "--protected", "sex"]
    more = ["--hours", "weekly_hours"]
    assert cli.main(["audit", str(audited[1]), *asked, *more]) == cli.USAGE
    assert "--hours is about numbers: add --number" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("weekly_hours", 0, "missing, 0 or less in 1 row"),
        ("weekly_hours", np.nan, "missing, 0 or less in 1 row"),
        ("base_pay", np.nan, "is missing in 1 row"),
    ],
)
def test_a_number_that_is_none_is_said(audited, tmp_path, column, value, message, capsys):
    frame, path = audited[0].astype({column: object}), tmp_path / "bad.csv"
    frame.loc[3, column] = value
    frame.to_csv(path, index=False)
    assert cli.main(command(path)) == cli.USAGE
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weekly_hours": "full"}, "--hours 'weekly_hours' holds text in place of numbers"),
        ({"base_pay": ["3 000 €", "2 900 CHF"]}, "several currencies (CHF, €) cannot be compared"),
        ({"base_pay": ["around 3000", "2900"]}, "of the form 'around 0000': write numbers alone"),
    ],
)
def test_text_in_place_of_numbers_is_said(audited, tmp_path, change, message, capsys):
    frame, path = audited[0].copy(), tmp_path / "text.csv"
    for name, texts in change.items():
        frame[name] = np.resize(texts, len(frame))
    frame.to_csv(path, index=False)
    assert cli.main(command(path)) == cli.USAGE
    assert message in capsys.readouterr().err


def test_amounts_with_one_currency_are_numbers(audited, tmp_path):
    frame, path = audited[0].copy(), tmp_path / "euro.csv"
    frame["base_pay"] = frame["base_pay"].map("{:.2f} €".format)
    frame.to_csv(path, index=False)
    out = tmp_path / "euro.json"
    cli.main(command(path, "--detectors", "GroupDisparity", "--report", str(out)))
    groups = [json.loads(p.read_text())["groups"] for p in (audited[2], out)]
    assert groups[0][0]["rate"] == pytest.approx(groups[1][0]["rate"])


def test_one_pay_far_above_all_others_is_said(audited, tmp_path, capsys):
    frame, path = audited[0].head(300).copy(), tmp_path / "far.csv"
    frame.loc[3, "base_pay"] = 45_000.0
    frame.to_csv(path, index=False)
    assert cli.main(command(path)) == 3
    told = " ".join(capsys.readouterr().out.split())
    assert "fewer than 10 outcomes lie far from all others" in told
    assert "in 2 of 2 comparisons the numbers are too skewed" in told


def test_rows_without_hours_are_left_out_if_asked(audited, tmp_path, capsys):
    frame, path = audited[0].copy(), tmp_path / "gaps.csv"
    frame.loc[[3, 5], "weekly_hours"] = [0, -1]
    frame.to_csv(path, index=False)
    out = tmp_path / "gaps.json"
    more = ["--drop-unlabeled", "--detectors", "GroupDisparity", "--report", str(out)]
    assert cli.main(command(path, *more)) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "2 rows with hours that are missing, 0 or less" in told
    assert json.loads(out.read_text())["about"]["n_rows"] == len(frame) - 2
    assert cli.main(["verify", str(out), str(path)]) == 0


def test_several_rows_a_person_are_noticed(tmp_path, capsys):
    years = [staff(400).assign(person=np.arange(400)) for _ in range(3)]
    path = tmp_path / "years.csv"
    pd.concat(years).to_csv(path, index=False)
    quick = ["--detectors", "GroupDisparity"]
    cli.main(command(path, *quick))
    assert "--groups person" in " ".join(capsys.readouterr().out.split())
    cli.main(command(path, *quick, "--groups", "person"))
    assert "say so: --groups" not in capsys.readouterr().out


def test_power_of_numbers(capsys):
    assert cli.main(["power", "1800", "--shares", "sex:F=0.5,M=0.5", "--spread", "0.15"]) == 0
    assert "The gap that matters is 0.05: about 195 people on" in capsys.readouterr().out


def test_pay_of_the_invented_firm(data_dir, tmp_path, capsys):
    """Women of G2 have 8 % less per hour; in other grades nothing."""
    path, out = data_dir / "strangers" / "pay.csv", tmp_path / "pay.json"
    assert cli.main(command(path, "--ignore", "person,variable_pay", "--report", str(out))) == 1
    document = json.loads(out.read_text())
    (cause,) = [row for row in document["evidence"] if row["kind"] == "cause" and row["found"]]
    assert cause["group"] == "grade = 'G2' and sex = 'female'"
    low, high = (cause[end] / cause["rate_others"] for end in ("ci_low", "ci_high"))
    assert low < -0.08 < high
    assert cause["effect"] / cause["rate_others"] == pytest.approx(-0.08, abs=0.01)
    told = " ".join(capsys.readouterr().out.split())
    assert "none has a gap above 5 %" in told
    assert "people in each group would show whether a gap above 5 %" in told


def test_probabilities_in_a_column_have_a_direction_and_no_label(tmp_path, capsys):
    draw, n = np.random.default_rng(0), 300
    scores = {"sex": draw.choice(["f", "m"], n), "y": draw.choice(["yes", "no"], n)}
    path = tmp_path / "scores.csv"
    pd.DataFrame(scores | {"score": draw.random(n).round(3)}).to_csv(path, index=False)
    asked = ["audit", str(path), "--target", "y", "--predictions", "score", "--protected", "sex"]
    asked += ["--output", "probability", "--detectors", "GroupDisparity"]
    assert cli.main([*asked, "--favorable", "yes"]) == cli.USAGE
    message = " ".join(capsys.readouterr().err.split())
    assert "--favorable 'yes' is a label" in message
    assert "Leave --favorable out" in message
    for more in ([], ["--favorable", "high"], ["--favorable", "low"]):
        assert cli.main([*asked, *more]) in (0, 1, 3)
        shown = " ".join(capsys.readouterr().out.split())
        assert f"{'less' if 'low' in more else 'more'} is better" in shown


def test_a_word_in_place_of_pay_is_no_currency(tmp_path, capsys):
    pay = ["3016", "2815", "unknown", "2585"] * 40
    pd.DataFrame({"sex": ["f", "m"] * 80, "pay": pay}).to_csv(tmp_path / "pay.csv", index=False)
    about = ["--target", "pay", "--number", "--protected", "sex"]
    assert cli.main(["audit", str(tmp_path / "pay.csv"), *about]) == 2
    said = "".join(capsys.readouterr())
    assert "'pay' holds text in place of numbers in 40 rows, of the form 'unknown'" in said
    assert "if it says that a number is missing" in said
    assert "--missing TEXT" in said
    missing = ["--missing", "pay=unknown", "--drop-unlabeled"]
    assert cli.main(["audit", str(tmp_path / "pay.csv"), *about, *missing]) != 2
