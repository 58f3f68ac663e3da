"""The command `skdisc alternatives`."""

import json
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skdisc.cli import main
from skdisc.cli._alternatives import candidates
from skdisc.model_selection._alternatives import _split


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Return the file of people whose rating depends on sex alone, and whose test does not."""
    monkeypatch.setattr(_split, "_SEARCHES", {})
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 1500), "town": rng.choice(["n", "s"], 1500)}
    )
    ability = rng.normal(size=1500)
    frame["test"] = ability + rng.normal(size=1500) / 2
    frame["rating"] = ability - 3 * (frame["sex"] == "f") + rng.normal(size=1500) / 2
    frame["hired"] = np.where(ability + rng.normal(size=1500) / 2 > 0, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    return str(tmp_path / "people.csv")


BASIC = ["--target", "hired", "--favorable", "yes", "--protected", "sex", "--margin", "0.1"]


@pytest.mark.slow
def test_a_model_is_trained_and_an_alternative_shown(people, tmp_path, capsys):
    begin = [
        "alternatives",
        people,
        *BASIC,
        "--fit",
        "logistic",
        "--watched",
        "town",
        "--seeds",
        "1",
    ]
    metric = ["--metric", "false_negative_rate", "--min-gain", "0.5"]
    assert main([*begin, *metric]) == 3
    assert "no alternative is shown" in capsys.readouterr().out
    page = tmp_path / "page.json"
    assert main([*begin, "--report", str(page), "--claim-size", "0.4"]) in (1, 3)
    document = json.loads(page.read_text())
    names = [c["name"] for c in document["candidates"]]
    assert names[:3] == ["the present model", "seed 1", "without the protected columns"]
    assert {"reweighed", "numbers repaired by 1", "threshold 0.40"} <= set(names)
    assert not [c["error"] for c in document["candidates"] if c["error"]]
    assert document["settings"]["watched"] == ["town"]


def test_a_model_that_rates_alone_has_an_alternative(people, tmp_path, capsys):
    X = pd.read_csv(people)
    model = LogisticRegression().fit(X[["rating"]][:100], X["hired"][:100])
    joblib.dump(model, tmp_path / "model.pkl")
    how = ["--model", str(tmp_path / "model.pkl"), "--trust-pickle", "--ignore", "town"]
    log = tmp_path / "log.json"
    code = main(["alternatives", people, *BASIC, *how, "--seeds", "0", "--log", str(log)])
    out = capsys.readouterr().out
    assert len(json.loads(log.read_text())) == 1
    assert "whoever passed it" in " ".join(out.split()) or code == 3
    assert "threshold 0.40" in out


def test_candidates_of_a_model_that_cannot_be_fitted_again():
    class Rule:
        def predict(self, X):
            return X

    assert candidates(Rule(), None, ["sex"], None, 0, 3) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "hired", "--favorable", "yes", "--protected", "sexx"], "--protected"),
        (["--target", "hired", "--protected", "sex"], "--favorable is missing"),
        ([*BASIC, "--ignore", "sex"], "also the target, ignored"),
        ([*BASIC[:-1], "0.001"], "takes at least 2,703 people"),
        ([*BASIC, "--report", "page.pdf"], "extension"),
        ([*BASIC, "--groups", "town,test"], "--groups takes one column"),
        ([*BASIC, "--seeds", "-1"], "--seeds must be at least 0"),
        ([*BASIC, "--min-gain", "-1"], "--min-gain"),
    ],
)
def test_mistakes(people, capsys, arguments, message):
    assert main(["alternatives", people, *arguments, "--fit", "logistic"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_rows_and_values_are_prepared_as_for_an_audit(people, tmp_path, capsys):
    """Spellings made one and copies left out leave the table, and so the document, as it was."""
    frame = pd.read_csv(people, dtype=str)  # numbers are then written as they were
    messy = frame.copy()
    messy.loc[:40, "hired"] = messy.loc[:40, "hired"].str.upper()
    messy = pd.concat([messy, messy.head(30)])
    (tmp_path / "messy").mkdir()
    messy.to_csv(tmp_path / "messy" / "people.csv", index=False)
    how = [*BASIC, "--fit", "logistic", "--seeds", "0", "--report"]
    texts = []
    for path, more in (
        (people, []),
        (tmp_path / "messy" / "people.csv", ["--fold", "hired", "--drop-copies"]),
    ):
        assert main(["alternatives", str(path), *how, str(tmp_path / "a.json"), *more]) in (1, 3)
        texts.append((tmp_path / "a.json").read_text())
    assert texts[0] == texts[1]
    assert "30 rows are copies; left out" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["model", "recipe"])
def test_progress_is_told_and_changes_no_answer(people, tmp_path, capsys, claim):
    how = [*BASIC, "--fit", "logistic", "--seeds", "0", "--claim", claim, "--log"]
    texts = []
    for name, more in (("a", []), ("b", ["--verbose"])):
        (tmp_path / name).mkdir()
        log, page = str(tmp_path / name / "log.json"), str(tmp_path / f"{name}.json")
        main(["alternatives", people, *how, log, "--report", page, *more])
        texts.append((tmp_path / f"{name}.json").read_text())
        told = [t for t in capsys.readouterr().err.splitlines() if t.startswith("Alternative")]
        assert bool(told) == bool(more)
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["settings"]["log"] == "log.json"
    n = len(json.loads(texts[0])["candidates"]) * (5 if claim == "recipe" else 1)
    steps = [found[1] for t in told if (found := re.match(r"\w+: (\d+ of \d+): ", t))]
    assert steps == [f"{i + 1} of {n}" for i in range(n)]
    assert len(told) - len(steps) == (claim == "model")  # what is foreseen
