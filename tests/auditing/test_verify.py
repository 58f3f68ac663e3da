"""Verification: equal for what was audited, and what differs is said."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from documents import breaches, example
from sklearn.linear_model import LogisticRegression

from skdisc import Audit, AuditReport, Rule, cli
from skdisc.auditing import verify
from skdisc.auditing._verify import differences

COLUMNS = ["points", "debt"]


@pytest.fixture(scope="module")
def people():
    draw = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame(
        {
            "sex": draw.choice(["f", "m"], n),
            "points": draw.integers(0, 20, n),
            "debt": draw.normal(0, 1, n),
            "note": [f"n{i}" for i in range(n)],
        }
    )
    score = frame["points"] + 5 * (frame["sex"] == "m") + draw.normal(0, 3, n)
    frame["paid"] = np.where(score > 12, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def audited(people):
    X, y = people[["sex", *COLUMNS]], people["paid"]
    model = LogisticRegression().fit(X[COLUMNS], y)
    audit = Audit(protected="sex", pos_label="yes", max_predicates=2, random_state=0)
    return X, y, model, audit.fit(X, y, model).report_.to_dict()


@pytest.mark.slow
def test_the_same_audit_is_equal(audited):
    X, y, model, document = audited
    assert verify(document, X, y, model) == []
    assert verify(document, X.astype({"sex": "category"})[[*X][::-1]], y, model) == []


@pytest.mark.slow
def test_other_inputs_are_told(audited):
    X, y, model, document = audited
    changed = X.copy()
    changed.loc[3, "points"] += 1
    assert verify(document, changed, y, model)[0] == "data: these are other rows"
    assert verify(document, X[1:], y[1:], model)[0] == "data: these are other rows: 499, not 500"
    flipped = y.where(y.index != 7, np.where(y == "yes", "no", "yes"))
    told = verify(document, X, flipped, model)  # outcomes have no hash, but change the answers
    assert told
    assert all(line.partition(":")[0] not in ("data", "model") for line in told)
    other = LogisticRegression(C=1e-4).fit(X[COLUMNS], y)
    assert any(line.startswith("groups[0].rate: ") for line in verify(document, X, y, other))
    assert verify(document, X, y) == ["model: the audit had one, pass it"]
    renamed = X.rename(columns={"debt": "depth"})
    assert verify(document, renamed, y, model) == ["data: there is no column 'debt'"]


@pytest.mark.slow
def test_settings_and_code_are_told(audited):
    X, y, model, document = audited
    seed = {"random_state": 1}
    told = verify(document, X, y, model, expected=seed)
    assert told == ["settings: random_state is 0 in the audit, not 1"]
    edited = copy.deepcopy(document)
    edited["settings"]["random_state"] = 1
    told = verify(edited, X, y, model)
    assert told[0] == "settings: they were changed after the audit, their hash is another one"
    old = copy.deepcopy(document)
    old["fingerprints"]["code"] = "0.1.0 " + "a" * 64
    (line,) = verify(old, X, y, model)
    assert line.startswith("skdisc: the audit was made by skdisc 0.1.0 (aaaaaaaaaaaa), this is")


@pytest.mark.slow
@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict", "verdict"), "no disparity found"),
        (("verdicts", 0, "p_value"), 0.5),
        (("groups", 0, "rate"), 0.123),
        (("log", 0, "n_tested"), 99),
        (("limits", 0), "It is fair."),
        (("plan", "steps", 0, "role"), "corroborates"),
    ],
)
def test_any_changed_answer_is_told(audited, path, value):
    X, y, model, document = audited
    edited = copy.deepcopy(document)
    part = edited
    for step in path[:-1]:
        part = part[step]
    assert part[path[-1]] != value
    part[path[-1]] = value
    place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
    (line,) = verify(edited, X, y, model)
    assert line.startswith(f"{place}: ")


@pytest.mark.slow
def test_what_cannot_be_run_again_is_told(audited):
    X, y, model, document = audited
    edited = copy.deepcopy(document)
    edited["about"]["interrupted"] = True
    assert verify(edited, X, y, model) == [
        "run: the audit was interrupted, so that it cannot be run again alike"
    ]
    edited["about"]["audited"] = "counts"
    with pytest.raises(ValueError, match="there are no rows to check"):
        verify(edited, X, y)
    edited = copy.deepcopy(document)
    edited["settings"]["mood"] = "good"
    with pytest.raises(ValueError, match="no setting 'mood'"):
        verify(edited, X, y, model)


@pytest.mark.slow
def test_the_verdicts_under_other_settings_are_checked(people):
    X, y = people[["sex"]], people["paid"]
    audit = Audit(protected="sex", pos_label="yes", detectors=["GroupDisparity"]).fit(X, y)
    audit.robustness(X, y)
    document = audit.report_.to_dict()
    assert document["robustness"]
    assert verify(document, X, y) == []
    document["robustness"][0]["verdict"] = "no disparity found"
    (line,) = verify(document, X, y)
    assert line == "robustness[0].verdict: no disparity found, now disparity found"


def test_columns_may_have_the_names_of_what_is_not_compared():
    before, after = example(), example()
    names = ("seconds", "meta", "source", "code", "plan", "versions", "fingerprints")
    for name in names:
        before["cases"][0]["examples"][0]["original"][name] = 1
        after["cases"][0]["examples"][0]["original"][name] = 2
    assert len(list(differences(before, after))) == len(names)


def test_differences_of_documents():
    before, after = example(), example()
    assert list(differences(before, after)) == []
    after["about"]["seconds"] = 99.0
    after["log"][0]["seconds"] = 99.0
    after["evidence"][0]["effect"] *= 1 + 1e-9
    assert list(differences(before, after)) == []
    after["evidence"][0]["effect"] = -0.07
    after["shadows"].pop()
    del after["gaps"][0]["part"]
    after["groups"][1]["judged"] = 1
    assert list(differences(before, after)) == [
        "evidence[0].effect: -0.08, now -0.07",
        "shadows: 2 entries, now 1",
        "groups[1].judged: True, now 1",
        "gaps[0].part: only in the first document",
    ]


FILES = {
    "other order, .csv.gz": lambda f, path: f.sample(frac=1, random_state=1).to_csv(
        path / "again.csv.gz", index=False
    ),
    "other columns, Parquet": lambda f, path: f[list(f)[::-1]].to_parquet(path / "again.parquet"),
}


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize("how", FILES)
@pytest.mark.parametrize("kind", ["labels", "fit"])
def test_the_command(people, tmp_path, capsys, how, kind):
    data, written = tmp_path / "people.csv", tmp_path / "audit.json"
    people.to_csv(data, index=False)
    options = ["--target", "paid", "--favorable", "yes", "--protected", "sex", "--ignore", "note"]
    options += ["--fit", "tree"] if kind == "fit" else []
    assert cli.main(["audit", str(data), *options, "--report", str(written)]) in (0, 1, 3)
    FILES[how](people, tmp_path)
    (again,) = tmp_path.glob("again*")
    capsys.readouterr()
    assert cli.main(["verify", str(written), str(again)]) == 0
    assert "Nothing differs." in capsys.readouterr().out
    assert cli.main(["verify", str(written), str(again), "--seed", "5"]) == 1
    assert "random_state is 0 in the audit, not 5" in capsys.readouterr().out
    changed = people.copy()
    changed.loc[11, "debt"] += 1e-9
    changed.to_csv(data, index=False)
    assert cli.main(["verify", str(written), str(data)]) == 1
    assert "data: these are other rows" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_with_a_model(people, tmp_path, capsys):
    io = pytest.importorskip("skops.io")
    data, written = tmp_path / "people.parquet", tmp_path / "audit.json"
    people.to_parquet(data)
    files = [tmp_path / "one.skops", tmp_path / "two.skops"]
    for file, c in zip(files, (1.0, 1e-4), strict=True):
        io.dump(LogisticRegression(C=c).fit(people[COLUMNS], people["paid"]), file)
    options = ["--target", "paid", "--favorable", "yes", "--protected", "sex", "--ignore", "note"]
    options += ["--model", str(files[0]), "--report", str(written)]
    assert cli.main(["audit", str(data), *options]) in (0, 1, 3)
    assert breaches(json.loads(written.read_text())) == []
    assert str(tmp_path) not in written.read_text()
    verify_it = ["verify", str(written), str(data)]
    assert cli.main([*verify_it, "--model", str(files[0])]) == 0
    assert cli.main([*verify_it, "--model", str(files[1])]) == 1
    assert "model: this is another file" in capsys.readouterr().out
    assert cli.main(verify_it) == 2
    assert "'one.skops' was audited. Pass it by --model" in capsys.readouterr().err


def test_usage(people, audited, tmp_path, capsys):
    data, written = tmp_path / "people.csv", tmp_path / "audit.json"
    people.to_csv(data, index=False)
    assert cli.main(["verify", str(written), str(data)]) == 2
    written.write_text("no JSON")
    assert cli.main(["verify", str(written), str(data)]) == 2
    written.write_text(AuditReport(audited[3]).to_json())
    assert cli.main(["verify", str(written), str(data)]) == 2
    assert "was not made by skdisc audit" in capsys.readouterr().err


def test_a_page_is_checked_like_its_document(people, tmp_path, capsys):
    data, page = tmp_path / "people.csv", tmp_path / "audit.html"
    people.drop(columns="note").to_csv(data, index=False)
    options = ["--target", "paid", "--favorable", "yes", "--protected", "sex"]
    options += ["--detectors", "GroupDisparity", "--report", str(page)]
    assert cli.main(["audit", str(data), *options]) in (0, 1, 3)
    capsys.readouterr()
    assert cli.main(["verify", str(page), str(data)]) == 0
    text = page.read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8-sig")  # as some editors save it
    assert cli.main(["verify", str(page), str(data)]) == 0
    page.write_text(text.replace("500 recorded", "900 recorded"), encoding="utf-8")
    assert cli.main(["verify", str(page), str(data)]) == 1
    assert "page: it does not show the document in it" in capsys.readouterr().out
    page.write_text("<!DOCTYPE html><p>A page</p>", encoding="utf-8")
    assert cli.main(["verify", str(page), str(data)]) == 2
    assert "Pass the .json of the audit" in capsys.readouterr().err
    page.write_text("no report", encoding="utf-8")
    assert cli.main(["verify", str(page), str(data)]) == 2
    assert "is not a report of skdisc audit in JSON or HTML" in capsys.readouterr().err


def test_a_rule_in_the_settings_is_an_object_that_is_read_again():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 300)})
    y = (rng.random(300) < 0.5).astype(int)
    rule = Rule(significance=0.01, relevant_gap=0.2)
    audit = Audit(protected="sex", detectors=["GroupDisparity"], rule=rule, random_state=0)
    document = audit.fit(X, y).report_.document
    assert document["settings"]["rule"]["significance"] == 0.01
    assert verify(document, X, y) == []
    assert verify(document, X, y, expected={"relevant_gap": 0.2}) == []
    (told,) = verify(document, X, y, expected={"relevant_gap": 0.1})
    assert told == "settings: relevant_gap is 0.2 in the audit, not 0.1"
