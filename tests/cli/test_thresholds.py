"""Scores cut at thresholds on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, BlackBox, Rule, cli
from skdisc.cli._thresholds import are_of_risk, note_on_cut


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """Return scores that are .1 lower for women, outcomes, and the path of both."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"sex": rng.choice(["female", "male"], 900)})
    frame["score"] = rng.random(900) * 0.9 + 0.1 * (frame["sex"] == "male")
    frame["paid"] = np.where(rng.random(900) < frame["score"], "yes", "no")
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    frame.to_csv(path, index=False)
    return frame, path


def command(path, *more):
    about = ["--target", "paid", "--favorable", "yes", "--protected", "sex"]
    cut = ["--predictions", "score", "--detectors", "GroupDisparity"]
    return ["audit", str(path), *about, *cut, *more]


def test_each_cut_is_audited_at_its_share_of_the_level(scores, tmp_path, capsys):
    frame, path = scores
    code = cli.main(command(path, "--threshold", "0.5,0.8", "--report", str(tmp_path / "a.json")))
    assert code == 1
    assert "All thresholds together: a disparity at" in capsys.readouterr().out
    for i, cut in enumerate((0.5, 0.8), start=1):
        document = json.loads((tmp_path / f"a-{i}.json").read_text())
        decided = np.where(frame["score"] >= cut, "yes", "no")
        audit = Audit(protected="sex", detectors="GroupDisparity", pos_label="yes")
        audit.set_params(rule=Rule(significance=0.025))
        box = BlackBox(decisions=decided)
        expected = audit.fit(frame[["sex"]], frame["paid"], box).report_.document
        for part in ("groups", "evidence", "verdicts"):
            assert document[part] == expected[part]
        assert cli.main(["verify", str(tmp_path / f"a-{i}.json"), str(path)]) == 0


def test_a_model_is_cut_at_its_probability(scores, tmp_path):
    joblib = pytest.importorskip("joblib")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame, _ = scores
    X, y = frame[["sex"]].assign(rank=frame["score"].round(1).astype(str)), frame["paid"]
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    X.assign(paid=y).to_csv(tmp_path / "people.csv", index=False)
    asked = ["--target", "paid", "--favorable", "yes", "--protected", "sex", "--text", "rank"]
    out, file = tmp_path / "m.json", str(tmp_path / "model.joblib")
    more = ["--detectors", "GroupDisparity", "--threshold", "0.6", "--report", str(out)]
    trusted = ["--model", file, "--trust-pickle"]
    cli.main(["audit", str(tmp_path / "people.csv"), *asked, *trusted, *more])
    rates = {
        row["group"]: row["rate"]
        for row in json.loads(out.read_text())["groups"]
        if row["measure"] == "selection_rate"
    }
    is_above = model.predict_proba(X)[:, 1] >= 0.6
    assert rates["sex = 'male'"] == pytest.approx(is_above[frame["sex"] == "male"].mean())
    assert cli.main(["verify", str(out), str(tmp_path / "people.csv"), *trusted]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threshold", "high"], "names no numbers"),
        (["--threshold", "2"], "all scores of 'score' are below it"),
        (["--threshold", "0.5", "--output", "probability"], "makes decisions of scores"),
        (["--threshold", "0.5", "--public"], "--threshold goes without --public"),
    ],
)
def test_what_cannot_be_cut_is_said(scores, options, message, capsys):
    assert cli.main(command(scores[1], *options)) == cli.USAGE
    assert message in capsys.readouterr().err


def test_scores_are_needed(scores, capsys):
    about = ["--target", "paid", "--favorable", "yes", "--protected", "sex", "--threshold", "0.5"]
    assert cli.main(["audit", str(scores[1]), *about]) == cli.USAGE
    assert "--threshold cuts scores" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("times", "cut", "doubt"),
    [(100, 0.5, " (perhaps 50 is meant)"), (100, 50, ""), (1, 0.5, "")],
)
def test_a_share_as_threshold_of_percents_is_doubted(times, cut, doubt):
    scores = pd.Series(np.arange(0, 101) / 100 * times, name="score").round(2)
    words = note_on_cut(cut, scores).seen
    assert words.startswith(f"scores of {cut:g} or more")
    assert words.endswith(doubt)
    assert bool(doubt) == ("they go up to 100" in words)


@pytest.mark.parametrize(
    ("sign", "n", "is_doubted"), [(-1, 200, True), (1, 200, False), (-1, 9, 0)]
)
def test_scores_of_a_risk_as_favorable_are_doubted(sign, n, is_doubted):
    """Of nine people, the lower scores of the favorable ones may be chance."""
    labels = pd.Series(np.arange(n) % 3 > 0)
    scores = pd.Series(sign * labels + np.random.default_rng(0).normal(0, 1, n), name="risk")
    of_risk = are_of_risk(scores, labels)
    assert of_risk == is_doubted
    assert ("risk" in note_on_cut(0, scores, of_risk=of_risk).seen) == is_doubted
