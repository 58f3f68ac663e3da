"""The robustness table is what separate audits say, without computing anything twice."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, AuditReport
from skdisc.auditing import _run
from skdisc.auditing._beside._robustness import SETTINGS
from skdisc.cli import main

QUICK = {"protected": ["sex"], "detectors": ["GroupDisparity", "DivExplorer"]}


@pytest.fixture(scope="module")
def people():
    """Return people, some of unknown sex, and labels."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 1500), "points": rng.integers(0, 40, 1500)})
    y = (rng.random(1500) < 0.5 + 0.3 * ((X["sex"] == "M") & (X["points"] > 33))).astype(int)
    X["sex"] = X["sex"].astype(object).where(rng.random(1500) > 0.05, None)
    return X, y


@pytest.fixture(scope="module")
def table(people):
    return Audit(**QUICK).robustness(*people)


@pytest.mark.slow
def test_rows_are_what_separate_audits_say(people, table):
    chosen = [
        ("n_bins", 6),
        ("missing", "drop"),
        ("rule__relevant_gap", 0.15),
        ("max_predicates", 1),
    ]
    for name, value in chosen:
        document = Audit(**QUICK).set_params(**{name: value}).fit(*people).report_.document
        own = table[(table["setting"] == name.removeprefix("rule__")) & (table["value"] == value)]
        assert own["verdict"].tolist() == [v["verdict"] for v in document["verdicts"]]
        assert own["null"].tolist() == [v["null"] for v in document["verdicts"]]
    assert table["verdict"].nunique() > 1


@pytest.mark.slow
def test_each_value_appears_once_the_own_one_first(table):
    for name, values in SETTINGS.items():
        name = name.removeprefix("rule__")
        own = table[table["setting"] == name]
        default = getattr(Audit(), name)
        assert sorted(own["value"].unique(), key=str) == sorted({*values, default}, key=str)
        assert own["value"].iloc[0] == default
        assert not own.duplicated(["attribute", "null", "value"]).any()


@pytest.mark.slow
def test_what_a_setting_does_not_change_is_not_computed_again(people, monkeypatch):
    ran, fitted = [], _run.Run._fitted

    def counted(self, step, limit):
        ran.append(step)
        return fitted(self, step, limit)

    monkeypatch.setattr(_run.Run, "_fitted", counted)
    Audit(**QUICK).robustness(*people)
    assert sum("n_bins" in s.settings for s in ran) > 0
    groups = [s.settings for s in ran if s.detector == "GroupDisparity"]
    assert len(groups) == 1 + 2 + 1 + 3 + 2  # as it is, bins, missing, gaps, ratios
    assert len({json.dumps(s, default=str, sort_keys=True) for s in groups}) == len(groups)


@pytest.mark.slow
def test_the_document_keeps_it_for_the_same_rows_only(people, table):
    X, y = people
    audit = Audit(**QUICK).fit(X, y)
    assert audit.report_.document["robustness"] == []
    audit.robustness(X[:1000], y[:1000])
    assert audit.report_.document["robustness"] == []
    audit.robustness(X, y)
    rows = audit.report_.document["robustness"]
    assert rows == table.to_dict("records")
    again = AuditReport.from_json(audit.report_.to_json())
    assert again.document["robustness"] == rows
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(again.document, AuditReport.schema())


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("form", ["to_text", "to_markdown", "to_html"])
def test_every_form_names_the_verdicts_that_move(people, form):
    audit = Audit(**QUICK).fit(*people)
    assert "How the answers move" not in getattr(audit.report_, form)()
    rows = audit.robustness(*people)
    text = re.sub(r"\s+", " ", getattr(audit.report_, form)().replace("\\", ""))
    own = rows.drop_duplicates(["attribute", "null", "setting"]).set_index(["null", "setting"])
    moved = [r for r in rows.itertuples() if own.loc[(r.null, r.setting), "verdict"] != r.verdict]
    several = len({r.null for r in moved})
    assert f"10 other values of settings, one at a time; {several} of {len(own) // 5}" in text
    assert moved
    for row in moved:
        assert f"{row.setting} = {row.value}" in text


def test_an_interruption_of_other_settings_is_told(people, monkeypatch, tmp_path, capsys):
    n_fits, fitted = [], _run.Run._fitted

    def interrupted(self, step, limit):
        n_fits.append(step)
        if len(n_fits) == 4:
            raise KeyboardInterrupt
        return fitted(self, step, limit)

    monkeypatch.setattr(_run.Run, "_fitted", interrupted)
    X, y = people
    X.assign(y=y).to_csv(tmp_path / "people.csv", index=False)
    out = tmp_path / "report.json"
    options = ["--target", "y", "--favorable", "1", "--protected", "sex", "--robustness"]
    options += ["--detectors", "GroupDisparity", "--report", str(out)]
    assert main(["audit", str(tmp_path / "people.csv"), *options]) == 130
    assert "were interrupted, and are left out" in capsys.readouterr().out
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["robustness"] == []
    assert not document["about"]["interrupted"]


@pytest.mark.slow
def test_the_command(people, tmp_path, capsys):
    X, y = people
    X.head(500).assign(y=y[:500]).to_csv(tmp_path / "people.csv", index=False)
    out = tmp_path / "report.json"
    options = ["--target", "y", "--favorable", "1", "--protected", "sex", "--robustness"]
    options += ["--detectors", "GroupDisparity", "--report", str(out)]
    main(["audit", str(tmp_path / "people.csv"), *options])
    assert "repeated with 10 other values" in capsys.readouterr().out
    assert len(json.loads(out.read_text(encoding="utf-8"))["robustness"]) == 15
