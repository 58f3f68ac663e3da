"""A plan is kept, or the audit refuses; its hash does not depend on how the file is written."""

import json
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from skdisc import Audit, Rule
from skdisc._space._bins import Bins
from skdisc.cli import main

PLAN = ["plan", "--target", "y", "--favorable", "1", "--protected", "sex"]


@pytest.fixture
def people(tmp_path):
    """Return a CSV file of people."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 300), "town": rng.choice(list("uv"), 300)})
    X["y"] = (rng.random(300) < 0.3 + 0.3 * (X["sex"] == "M")).astype(int)
    X.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def canonical(plan):
    return sha256(json.dumps(plan, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@pytest.mark.slow
def test_reports_have_the_hash_of_their_plan(tmp_path, people):
    path = tmp_path / "plan.json"
    plan = Audit(protected=["sex"], rule=Rule(significance=0.01), n_bins=3, pos_label=1).to_plan(
        path
    )
    assert json.loads(path.read_text(encoding="utf-8")) == plan
    X = pd.read_csv(people)
    for audit in (Audit.from_plan(path), clone(Audit.from_plan(path, n_jobs=2))):
        document = audit.fit(X.drop(columns="y"), X["y"]).report_.document
        assert document["plan"]["sha256"] == canonical(plan)
        assert document["settings"]["rule"]["significance"] == 0.01
    path.write_text(json.dumps(dict(reversed(plan.items())), indent=7), encoding="utf-8")
    again = Audit.from_plan(path).fit(X.drop(columns="y"), X["y"]).report_.document
    assert again["plan"]["sha256"] == canonical(plan)
    unplanned = Audit(protected="sex").fit(X.drop(columns="y"), X["y"]).report_.document
    assert unplanned["plan"]["sha256"] is None


def test_an_audit_of_new_rows_keeps_the_plan(tmp_path, people):
    X, path = pd.read_csv(people), tmp_path / "plan.json"
    plan = Audit(protected=["sex"], detectors=["GroupDisparity"], pos_label=1).to_plan(path)
    audit = Audit.from_plan(path).fit(X.drop(columns="y"), X["y"])
    again = audit.audit(X.drop(columns="y").tail(100), X["y"].tail(100)).document
    assert again["plan"]["sha256"] == canonical(plan)


def test_what_contradicts_a_plan_is_refused(tmp_path, people):
    path, X = tmp_path / "plan.json", pd.read_csv(people)
    Audit(protected=["sex"], rule=Rule(significance=0.01)).to_plan(path)
    with pytest.raises(ValueError, match=r"significance=0.05 contradicts the plan.*0.01"):
        Audit.from_plan(path, rule=Rule(significance=0.05))
    changed = Audit.from_plan(path).set_params(n_bins=7)
    with pytest.raises(ValueError, match=r"n_bins=7 contradicts the plan"):
        changed.fit(X.drop(columns="y"), X["y"])
    Audit.from_plan(
        path, estimator=LogisticRegression(), meta={"system": "x"}, rule=Rule(significance=0.01)
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no json", "cannot be read"),
        ("[]", "is not a plan"),
        ('{"schema": "skdisc-plan/9"}', "is not a plan"),
        ('{"schema": "skdisc-plan/1", "settings": {}}', r"version 1 \(skdisc-plan/1\)"),
        ('{"schema": "skdisc-plan/2", "options": {}}', "a plan for skdisc audit --plan"),
        ('{"schema": "skdisc-plan/2", "settings": {"colour": 1}}', "'colour', which there is not"),
    ],
)
def test_files_that_are_no_plans_are_refused(content, message, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Audit.from_plan(path)
    with pytest.raises(ValueError, match="cannot be read"):
        Audit.from_plan(tmp_path / "none.json")


def test_a_setting_that_is_newer_than_a_plan_does_not_contradict_it(tmp_path):
    path = tmp_path / "plan.json"
    plan = Audit(protected=["sex"], rule=Rule(significance=0.01)).to_plan()
    del plan["settings"]["max_predicates"], plan["settings"]["rule"]["relevant_size"]
    path.write_text(json.dumps(plan), encoding="utf-8")
    audit = Audit.from_plan(path)
    assert audit._sha256_of_plan() == canonical(plan)
    assert (audit.rule.significance, audit.rule.relevant_size) == (0.01, 0.05)
    for changed in ({"max_predicates": 2}, {"rule__relevant_size": 0.1}):
        with pytest.raises(ValueError, match="contradicts the plan"):
            clone(audit).set_params(**changed)._sha256_of_plan()


def test_objects_cannot_be_planned():
    with pytest.raises(ValueError, match=r"settings=.* is neither"):
        Audit(protected="sex", settings={"DivExplorer": {"n_bins": Bins(3)}}).to_plan()
    with pytest.raises(ValueError, match="significance"):
        Audit(protected="sex", rule=Rule(significance=2)).to_plan()


@pytest.mark.slow
def test_the_command_writes_a_plan_and_keeps_to_it(tmp_path, people, capsys):
    path, out = str(tmp_path / "plan.json"), str(tmp_path / "report.json")
    assert main([*PLAN, "--significance", "0.01", "--relevant-gap", "0.2", "--out", path]) == 0
    with open(path, encoding="utf-8") as file:
        expected = canonical(json.load(file))
    assert f"SHA-256: {expected}" in capsys.readouterr().out
    planned = main(["audit", str(people), "--plan", path, "--report", out])
    with open(out, encoding="utf-8") as file:
        document = json.load(file)
    assert document["plan"]["sha256"] == expected
    assert document["about"]["significance"] == 0.01
    assert document["settings"]["rule"]["relevant_gap"] == 0.2
    same = ["--significance=0.01", "--jobs", "2", "--target", "y"]
    assert main(["audit", str(people), f"--plan={path}", *same]) == planned


@pytest.mark.parametrize(
    "option",
    [
        ["--significance", "0.05"],  # the default, but not the plan's
        ["--protected", "town"],
        ["--fit", "tree"],
        ["--adjust-for", "town"],
        ["--seed", "1"],
        ["--confirm", "0.5"],
    ],
)
def test_the_command_refuses_what_contradicts_the_plan(option, tmp_path, people, capsys):
    path = str(tmp_path / "plan.json")
    main([*PLAN, "--significance", "0.01", "--out", path])
    assert main(["audit", str(people), "--plan", path, *option]) == 2
    assert f"{option[0]} {option[1]} contradicts the plan" in capsys.readouterr().err


def test_a_plan_leaves_open_where_things_are(tmp_path, capsys):
    path = str(tmp_path / "plan.json")
    assert main([*PLAN, "--report", "r.html", "--out", path]) == 2
    assert "leaves report open" in capsys.readouterr().err
