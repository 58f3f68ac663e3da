"""Tests of audits: plans, verdicts, evidence, interruption and resumption."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from skdisc import Audit, AuditReport, BlackBox, Limits, Rule
from skdisc._results._judgment import FOUND, NOTHING, UNSURE
from skdisc.auditing import _run
from skdisc.auditing._cells import _above
from skdisc.datasets import make_loan


def people(n=2000, seed=0):
    """Return sex, town and points, independent of each other."""
    rng = np.random.default_rng(seed)
    sex, town = rng.choice(["F", "M"], n), rng.choice(list("uvw"), n)
    return pd.DataFrame({"sex": sex, "town": town, "points": rng.integers(0, 20, n)}), rng


def planted(n=4000, gap=0.3, seed=0):
    """Return people and labels: women in town u are selected less often, by `gap`."""
    X, rng = people(n, seed)
    rate = 0.6 - gap * ((X["sex"] == "F") & (X["town"] == "u"))
    return X, (rng.random(n) < rate).astype(int)


def verdicts(report):
    """Return the verdict by null hypothesis."""
    return {r["null"]: r["verdict"] for r in report.document["verdicts"]}


class Decider:
    """A model that decides by a function of the columns."""

    classes_ = np.array([0, 1])

    def __init__(self, rule):
        self.rule = rule

    def predict(self, X):
        return self.rule(X).astype(int).to_numpy()


@pytest.mark.slow
def test_the_planted_group_is_the_first_row_and_its_shadows_are_folded():
    X, y = planted()
    report = Audit(protected="sex").fit(X, y).report_
    first = report.document["evidence"][0]
    assert first["group"] == "sex = 'F' and town = 'u'"
    assert (first["kind"], first["null"], first["found"]) == ("cause", "conditional", True)
    members = (X["sex"] == "F") & (X["town"] == "u")
    rest = (X["sex"] == "M") & (X["town"] == "u")
    assert first["people"] == members.sum()
    assert first["gap"] == pytest.approx(y[members].mean() - y[rest].mean())
    assert verdicts(report)["conditional"] == report.verdict == FOUND
    groups = [r["group"] for r in report.document["evidence"]]
    assert len(set(groups)) == len(groups)
    for shadow in report.document["shadows"]:
        assert 1 <= shadow["of"] <= len(groups)
        assert shadow["group"] not in groups


def test_what_is_found_is_no_shadow_of_what_is_not():
    """Women of one town are .3 worse off; the gap of all women is not significant in an audit."""
    for seed in (13, 16, 28):
        rng, n = np.random.default_rng(seed), 900
        X = pd.DataFrame({"sex": rng.choice(["m", "f"], n), "town": rng.choice(list("abcd"), n)})
        X["race"] = rng.choice(["x", "y"], n)
        planted = (X["sex"] == "f") & (X["town"] == "a")
        y = (rng.random(n) < 0.5 - 0.3 * planted).astype(int)
        audit = Audit(protected=["sex", "race"], detectors=["GroupDisparity", "DivExplorer"])
        report = audit.fit(X, y).report_
        first, second = report.document["evidence"]
        assert (first["group"], first["found"]) == ("sex = 'f' and town = 'a'", True)
        assert (second["group"], second["found"]) == ("sex = 'f'", False)
        assert report.document["answers"][0]["worst"]["group"] == first["group"]
        assert "no number: none may be shown" not in " ".join(report.to_text().split())


def test_a_corrected_p_value_that_is_too_large_is_not_printed_as_the_level():
    assert [_above(p, 0.05) for p in (0.0500027, 0.2, 0.054, 0.0513)] == [
        "0.050003",
        "0.2",
        "0.054",
        "0.051",
    ]


@pytest.mark.slow
def test_a_legitimate_column_explains_a_gap_that_is_found_anyway():
    X, rng = people(4000)
    X["points"] = X["points"] + 10 * (X["sex"] == "M")
    y = (rng.random(len(X)) < X["points"] / 40).astype(int)
    report = Audit(protected="sex").fit(X, y).report_
    assert verdicts(report)["marginal"] == FOUND
    assert verdicts(report)["conditional"] != FOUND
    assert all(r["kind"] != "cause" for r in report.document["evidence"])
    women = [r for r in report.document["gaps"] if r["group"] == "sex = 'F'"]
    amounts = [r["amount"] for r in women if r["kind"] != "cause"]
    assert amounts[0] == pytest.approx(sum(amounts[1:]), abs=1e-9)
    (equal,) = [r for r in report.document["comparable"] if r["group"] == "sex = 'F'"]
    remains = [r["amount"] for r in women if r["kind"] == "equal"]
    assert remains == [equal["effect"]]


@pytest.mark.parametrize("fewer", [{"limits": Limits(rows=1000)}, {"confirm": 0.5}], ids=str)
def test_the_parts_of_a_gap_add_up_beside_numbers_of_other_rows(fewer):
    X, y = planted(4000)
    report = Audit(protected="sex", random_state=0, **fewer).fit(X, y).report_
    parts = (
        pd.DataFrame(report.document["gaps"]).set_index(["group", "kind"])["amount"].sort_index()
    )
    people = {row["group"]: row["people"] for row in report.document["gaps"]}
    assert sum(people.values()) == (2000 if "confirm" in fewer else 1000)
    for group in people:
        pieces = parts[group].loc[["column", "interactions", "equal"]]
        assert pieces.sum() == pytest.approx(parts[group, "gap"].item())
    text = " ".join(report.to_text().split())
    assert any(f"with {n:,} people of the group, of a gap" in text for n in people.values())


@pytest.mark.slow
def test_nothing_explains_the_gap_of_a_group_that_is_not_compared():
    X, rng = people(300)
    X["number"] = [f"P{i}" for i in range(300)]
    y = (rng.random(300) < 0.3 + 0.4 * (X["sex"] == "M")).astype(int)
    document = Audit(protected="sex").fit(X, y).report_.document
    assert [r["effect"] for r in document["comparable"]] == [None, None]
    assert document["comparable"][0]["gap"] is not None
    assert document["gaps"] == []


@pytest.mark.slow
def test_what_one_test_finds_may_not_outlast_the_number_of_questions():
    X, rng = people(1000, seed=5)
    y = (rng.random(1000) < 0.5).astype(int)
    y[np.flatnonzero(X["sex"] == "M")[:75]] = 1
    report = Audit(protected=["sex", "town"]).fit(X, y).report_
    rows = report.document["verdicts"]
    for r in rows:
        assert r["p_adjusted"] >= r["p_value"]
        assert (r["verdict"] == FOUND) == (r["p_adjusted"] <= 0.05)
    assert any(r["p_value"] <= 0.05 < r["p_adjusted"] for r in rows)  # or the test is idle
    assert not any(r["found"] for r in report.document["evidence"])


@pytest.mark.slow
def test_facts_about_a_given_model_have_no_sampling_error():
    X, _ = people(500)
    fair, unfair = Decider(lambda X: X["points"] > 9), Decider(lambda X: X["sex"] == "M")
    assert verdicts(Audit(protected="sex").fit(X, None, fair).report_)["individual"] == NOTHING
    report = Audit(protected="sex").fit(X, None, unfair).report_
    row = next(r for r in report.document["verdicts"] if r["null"] == "individual")
    assert (row["kind"], row["verdict"], row["effect"]) == ("fact", FOUND, 1.0)
    assert row["p_value"] is None
    assert report.document["cases"][0]["n_cases"] == 500
    assert report.document["cases"][0]["examples"] == []  # each made-up input is somebody's row


@pytest.mark.slow
def test_causes_stand_in_the_order_of_their_evidence_whoever_is_worse_off():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(list("abcd"), 4000) for name in ("race", "town", "work")})
    strong = (X["race"] == "a") & (X["town"] == "a")
    weak = (X["race"] == "b") & (X["town"] == "b")
    y = (rng.random(4000) < 0.45 + 0.45 * strong - 0.25 * weak).astype(int)
    report = Audit(protected="race", random_state=0).fit(X, y).report_
    causes = [e for e in report.document["evidence"] if e["found"] and "town" in e["group"]]
    assert [e["group"] for e in causes][:2] == [
        "race = 'a' and town = 'a'",
        "race = 'b' and town = 'b'",
    ]
    assert causes[0]["p_adjusted"] < causes[1]["p_adjusted"]


@pytest.mark.slow
def test_the_gap_of_a_model_trained_here_counts_only_if_labels_have_one():
    X, rng = people(600, seed=1)
    y = (rng.random(600) < 0.5).astype(int)
    gapped = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    report = Audit(protected="sex").fit(X, y, BlackBox(gapped, n_refits=19)).report_
    assert report.document["about"]["audited"] == "fitted model"
    names = {s["name"] for s in report.document["plan"]["steps"]}
    assert "GroupDisparity sex (labels)" in names
    assert report.verdict != FOUND


def test_rates_of_errors_of_a_model_trained_here_are_shown_and_no_question():
    X, y = planted(2000, gap=0.4)
    words = make_pipeline(OneHotEncoder(), DecisionTreeClassifier(max_depth=3, random_state=0))
    audit = Audit(words, protected="sex", detectors=["GroupDisparity"]).fit(X, y)
    document = audit.report_.document
    shown = {(r["group"], r["measure"]): r for r in document["groups"]}
    decided = words.fit(X, y).predict(X)
    for group, sex in (("sex = 'F'", "F"), ("sex = 'M'", "M")):
        for measure, label in (("true_positive_rate", 1), ("false_positive_rate", 0)):
            among = (X["sex"] == sex).to_numpy() & (y == label)
            assert shown[group, measure]["rate"] == pytest.approx(decided[among].mean())
    assert [v["null"] for v in document["verdicts"]] == ["marginal"]
    assert {e["measure"] for e in document["evidence"]} == {"selection_rate"}
    roles = {s["name"]: s["role"] for s in document["plan"]["steps"]}
    assert roles["GroupDisparity sex (errors)"] == "describes"


def test_unknown_detectors_columns_and_fields_are_named():
    X, y = planted(200)
    with pytest.raises(ValueError, match="DivExplorer"):
        Audit(protected="sex", detectors=["DivExplorr"]).fit(X, y)
    with pytest.raises(ValueError, match="sex"):
        Audit(protected="sexx").fit(X, y)
    with pytest.raises(ValueError, match="protected"):
        Audit().fit(X, y)
    with pytest.raises(ValueError, match="meta has no field 'owner'"):
        Audit(protected="sex", meta={"owner": "me"}).fit(X, y)
    with pytest.raises(ValueError, match="Themis queries a model"):
        Audit(protected="sex", detectors=["Themis"]).fit(X, y)
    with pytest.raises(ValueError, match=r"'estimator' parameter of Audit must be .* Got 'sex'"):
        Audit("sex", protected="sex").fit(X, y)
    with pytest.raises(ValueError, match="labels y or a model"):
        Audit(protected="sex").fit(X)


@pytest.mark.parametrize("template", ["four_fifths", "ll144"])
def test_templates_have_ratios_of_all_groups_and_their_own_fields(template):
    X, y = planted(1000)
    field = {"four_fifths": "position", "ll144": "audit_date"}[template]
    settings = {"protected": "sex", "template": template, "detectors": ["GroupDisparity"]}
    document = Audit(**settings, meta={field: "known"}).fit(X, y).report_.document
    ratios = {g["group"]: g["rate"] for g in document["groups"] if g["measure"] == "impact_ratio"}
    rates = {g["group"]: g["rate"] for g in document["groups"] if g["measure"] == "selection_rate"}
    assert ratios.keys() == rates.keys()
    assert len(ratios) == X["sex"].nunique()
    best = max(rates.values())
    assert ratios == pytest.approx({group: rate / best for group, rate in rates.items()})
    assert document["meta"][field] == "known"
    assert document["meta"]["auditor"] is None
    with pytest.raises(ValueError, match=f"meta has no field '{field}'"):
        Audit(protected="sex", meta={field: "known"}).fit(X, y)


@pytest.mark.parametrize(("min_cell", "few"), [(10, 3), (60, 55)])
def test_what_an_audit_hides_is_no_reference(min_cell, few):
    """All of a group of few were selected; the answer is that without them."""
    counts = {"Black": (280, 1000), "White": (500, 1500), "Other": (few, few)}
    verdicts, settings = [], {"template": "four_fifths", "detectors": ["GroupDisparity"]}
    for names in (["Black", "White", "Other"], ["Black", "White"]):
        X = pd.DataFrame({"race": [name for name in names for _ in range(counts[name][1])]})
        y = [int(i < counts[name][0]) for name in names for i in range(counts[name][1])]
        audit = Audit(protected="race", min_cell=min_cell, **settings).fit(X, y)
        verdicts.append(audit.report_.document["verdicts"][0]["verdict"])
        rows = [r for r in audit.report_.document["groups"] if r["measure"] == "impact_ratio"]
        ratios = {row["group"]: row["rate"] for row in rows}
        assert ratios["race = 'White'"] == 1
        assert ratios["race = 'Black'"] == pytest.approx(0.84)
        assert "the reference" in " ".join(audit.report_.to_text().split())
    assert verdicts == ["disparity found", "disparity found"]


def test_a_detector_that_is_named_alone_leads_its_question():
    X, y = planted(1000)
    report = Audit(protected="sex", detectors=["DiscriminatoryRules"]).fit(X, y).report_
    assert [r["lead"] for r in report.document["verdicts"]] == ["DiscriminatoryRules"]


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("n_steps", [0, 1, 2])
def test_an_interrupted_audit_reports_what_there_is_and_repeats_nothing(
    n_steps, monkeypatch, tmp_path
):
    X, y = planted(1000)
    audit, ran = Audit(protected="sex", cache=str(tmp_path / "kept")), []
    fitted = _run.Run._fitted

    def interrupted(self, step, limit):
        if len(ran) == n_steps:
            raise KeyboardInterrupt
        ran.append(step.name)
        return fitted(self, step, limit)

    monkeypatch.setattr(_run.Run, "_fitted", interrupted)
    first = audit.fit(X, y).report_
    assert first.document["about"]["interrupted"]
    assert first.document["verdict"]["exit_code"] == 130
    assert len(first.document["log"]) == n_steps
    open_ones = [r for r in first.document["verdicts"] if r["reason"] == "its test did not run"]
    assert len(open_ones) == 3 - n_steps

    def counted(self, step, limit):
        ran.append(step.name)
        return fitted(self, step, limit)

    monkeypatch.setattr(_run.Run, "_fitted", counted)
    second = audit.fit(X, y).report_
    assert len(ran) == len(set(ran)) == 3
    whole = Audit(protected="sex").fit(X, y).report_
    assert timeless(second) == timeless(whole)


def timeless(report):
    """Return the document without seconds."""
    document = json.loads(report.to_json())
    document["about"]["seconds"] = None
    document["log"] = [line | {"seconds": None} for line in document["log"]]
    return document


def test_a_spent_budget_leaves_questions_open():
    X, y = planted(1000)
    report = Audit(protected="sex", limits=Limits(seconds=0.0)).fit(X, y).report_
    assert report.verdict == UNSURE
    assert {r["reason"] for r in report.document["not_run"]} >= {"the time budget of 0 s was spent"}


@pytest.mark.slow
def test_audits_are_estimators():
    X, y = planted(600)
    audit = clone(Audit(protected="sex", n_bins=3))
    assert audit.fit(X, y) is audit
    assert audit.audit() is audit.report_
    assert audit.score(X, y) == -max(
        abs(r["effect"]) for r in audit.report_.document["evidence"] if r["found"]
    )
    again = AuditReport.from_json(audit.report_.to_json())
    assert again == audit.report_


@pytest.mark.slow
def test_decisions_labels_and_models_give_the_same_answers():
    X, y = planted(1500)
    rule = Decider(lambda X: (X["points"] > 9) & ~((X["sex"] == "F") & (X["town"] == "u")))
    names = ["GroupDisparity", "DivExplorer", "DisparityPursuit"]
    settings = {"protected": "sex", "detectors": names, "pos_label": 1}
    decided = rule.predict(X)
    by_model = Audit(**settings).fit(X, None, rule).report_
    by_decision = Audit(**settings).fit(X, None, BlackBox(decisions=decided)).report_
    by_label = Audit(**settings).fit(X, decided).report_
    for name in ("evidence", "shadows", "verdicts"):
        assert by_model.document[name] == by_decision.document[name] == by_label.document[name]
    as_array = X.assign(sex=X["sex"] == "F", town=X["town"].map({"u": 0, "v": 1, "w": 2}))
    assert Audit(protected=[0]).fit(as_array.to_numpy(float), y).report_.verdict == FOUND


@pytest.mark.slow
@pytest.mark.parametrize(("gap", "least"), [(0.5, 40), (0.0, 80)])
def test_a_trained_model_takes_as_many_refits_as_its_question_is_left(gap, least, monkeypatch):
    X, rng = people(3000)
    X = X.drop(columns="points")
    y = (rng.random(len(X)) < 0.5 - gap * (X["sex"] == "F") + 0.2 * gap).astype(int)
    tree = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier())
    asked = []

    def fitted(self, step, limit, run=_run.Run._fitted):
        if step.null == "individual":
            asked.append(step.n_refits)
        return run(self, step, limit)

    monkeypatch.setattr(_run.Run, "_fitted", fitted)
    settings = {"protected": "sex", "random_state": 0}
    names = ["GroupDisparity", "DivExplorer", "DisparityPursuit", "Themis"]
    report = Audit(tree, detectors=names, **settings).fit(X, y).report_
    assert asked == [least]
    if gap:
        model = BlackBox(tree, n_refits=79)
        fixed = Audit(detectors=names, **settings).fit(X, y, model).report_
        assert verdicts(report) == verdicts(fixed)
        assert verdicts(report)["individual"] == FOUND
    else:
        assert report.verdict != FOUND


@pytest.mark.slow
def test_frequencies_are_repeated_rows():
    X, y = planted(600)
    counts = np.random.default_rng(0).integers(0, 4, 600)
    settings = {"protected": "sex", "weights": "frequency"}
    told = Audit(**settings).fit(X, y, sample_weight=counts).report_
    at = np.repeat(np.arange(600), counts)
    repeated = Audit(**settings).fit(X.iloc[at], y[at]).report_
    documents = [timeless(report) for report in (told, repeated)]
    notices = [[notice["seen"] for notice in document.pop("notices")] for document in documents]
    assert notices == [[f"{(counts == 0).sum()} rows of weight 0 are left out"], []]
    passed = [document.pop("code").partition(".fit(")[2] for document in documents]
    assert passed == ["X, y, sample_weight=sample_weight).report_\n", "X, y).report_\n"]
    assert documents[0] == documents[1]
    assert told.document["about"]["n_rows"] == counts.sum()


@pytest.mark.slow
def test_templates_list_the_intersections_of_protected_groups():
    X, y = planted(1500)
    X["race"] = np.random.default_rng(1).choice(["A", "B"], 1500)
    report = Audit(protected=["sex", "race"], template="ll144").fit(X, y).report_
    groups = report.to_frame("groups")
    ratios = groups[(groups["attribute"] == "sex, race") & (groups["measure"] == "impact_ratio")]
    assert len(ratios) == 4
    rates = {g: given.mean() for g, given in pd.Series(y).groupby([X["sex"], X["race"]])}
    best = max(rates.values())
    for group, ratio in zip(ratios["group"], ratios["rate"], strict=True):
        race, sex = (text.split("'")[1] for text in group.split(" and "))
        assert ratio == pytest.approx(rates[sex, race] / best)
    assert {r["attribute"] for r in report.document["verdicts"]} == {"sex", "race"}
    answer = next(r for r in report.document["verdicts"] if r["null"] == "marginal")
    rates = {g: given.mean() for g, given in pd.Series(y).groupby(X["sex"])}
    assert answer["effect"] == pytest.approx(rates["F"] - rates["M"])


@pytest.mark.slow
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_row_of_an_answer_names_the_town_that_differs(sign):
    """Also the one that is favored: the others are worse off only beside it."""
    X, _ = people(3000)
    rate = 0.5 - sign * 0.2 + sign * 0.4 * (X["town"] == "u")
    y = (np.random.default_rng(2).random(3000) < rate).astype(int)
    rows = Audit(protected="town").fit(X, y).report_.document["verdicts"]
    marginal = next(r for r in rows if r["null"] == "marginal")
    assert marginal["effect"] * sign > 0.3
    assert marginal["group"] == "town = 'u'"


def many_points(X):
    return X["points"] > 2


def woman_of_u(X):
    return (X["sex"] == "F") & (X["points"] == 4) & (X["town"] == "u")


def many_points_but_one(X):
    return many_points(X) & ~woman_of_u(X)


@pytest.mark.slow
def test_results_of_another_model_are_not_taken_from_the_folder(tmp_path):
    X, _ = people(400)
    X["points"] = X["points"] // 4
    seen = X[~woman_of_u(X)]  # about them, the two models decide alike
    audit, shares = Audit(protected="sex", cache=str(tmp_path)), []
    for rule in (many_points, many_points_but_one, many_points):
        report = audit.fit(seen, None, Decider(rule)).report_
        shares.append(report.document["cases"][0]["share"])
    assert shares[0] == shares[2] == 0 < shares[1]
    names = [path.name for path in tmp_path.iterdir()]
    assert sum(name.startswith("Themis") for name in names) == 2


def test_copies_are_named_unless_it_is_told_who_they_are_of():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(list("FM"), 60), "points": rng.normal(size=60)})
    X, y = (
        X.loc[np.repeat(X.index, 5)].reset_index(drop=True),
        np.repeat(rng.integers(2, size=60), 5),
    )
    audit = Audit(protected=["sex"], detectors=["GroupDisparity"], random_state=0)
    noticed = [n["seen"] for n in audit.fit(X, y).report_.document["notices"]]
    assert sum("rows seem to be copies" in text for text in noticed) == 1
    told = audit.fit(X, y, groups=np.arange(300) // 5).report_.document["notices"]
    assert not any("copies" in note["seen"] for note in told)


@pytest.mark.slow
def test_identifiers_are_named():
    X, y = make_loan(300, random_state=0, return_X_y=True)
    told = {}
    for name, column in {"number": range(300), "letters": [f"p{i}" for i in range(300)]}.items():
        rows = X.assign(**{name: column})
        rows, labels = pd.concat([rows, rows[:9]]), np.append(y, y[:9])  # nine are in it twice
        report = Audit(protected="gender").fit(rows, labels).report_
        told[name] = [
            n["column"] for n in report.document["notices"] if "value of its own" in n["seen"]
        ]
    assert told == {"number": ["number"], "letters": ["letters"]}
    notices = Audit(protected="gender").fit(X, y).report_.document["notices"]
    assert not any("value of its own" in note["seen"] for note in notices)


@pytest.mark.slow
def test_long_code_is_broken_into_lines_and_runs():
    X, y = make_loan(300, random_state=0, return_X_y=True)
    audit = Audit(
        protected=["gender"], pos_label=[1], rule=Rule(relevant_gap=0.15), metric=["selection_rate"]
    ).fit(X, y)
    code = audit.report_.document["code"]
    assert max(map(len, code.splitlines())) < 80
    names = {"X": X, "y": y, "model": None}
    exec(code, names)
    assert names["report"].verdict == audit.report_.verdict


def test_progress_names_no_column_that_steers_a_terminal(capsys):
    X, y = planted(200)
    X = X.rename(columns={"sex": "sex\x1b[2J\r"})
    Audit(protected="sex\x1b[2J\r", detectors=["GroupDisparity"], verbose=True).fit(X, y)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Audit: 1 of 1: GroupDisparity sex")
    assert line.isprintable()


@pytest.mark.slow
def test_a_cause_beside_another_has_its_whole_difference_and_the_gap_names_both():
    X, rng = people(8000)
    rate = 0.8 - 0.15 * (X["sex"] == "F") - 0.3 * ((X["sex"] == "F") & (X["town"] == "u"))
    y = (rng.random(len(X)) < rate).astype(int)
    document = Audit(protected="sex").fit(X, y).report_.document
    rows = {r["group"]: r for r in document["evidence"]}
    in_town = rows["sex = 'F' and town = 'u'"]
    women = (X["sex"] == "F").to_numpy()
    here = (X["town"] == "u").to_numpy()
    whole = y[women & here].mean() - y[~women & here].mean()
    assert in_town["alone_ci_low"] < whole < in_town["alone_ci_high"] < -0.4
    (row,) = (r for r in document["comparable"] if r["group"] == "sex = 'F'")
    assert row["gap"] == pytest.approx(y[women].mean() - y[~women].mean())
    assert row["ci_low"] < row["gap"] < row["ci_high"]  # legitimate columns are independent of sex
    assert document["legitimate"][0]["columns"] == ["town", "points"]


@pytest.mark.slow
def test_a_gap_that_consists_of_causes_names_them_and_is_not_denied():
    X, y = planted(8000, gap=0.6)
    evidence = Audit(protected="sex").fit(X, y).report_.document["evidence"]
    (cause,) = (r for r in evidence if r["kind"] == "cause")
    (gap,) = (r for r in evidence if r["group"] == "sex = 'F'")
    assert gap["again"] == {"detector": "DisparityPursuit", "ranks": [cause["rank"]]}
    assert gap["disagree"] == []


@pytest.mark.slow
def test_a_gap_that_columns_account_for_is_not_found_again():
    X, rng = people(8000)
    X["points"] = X["points"] + 10 * (X["sex"] == "M")
    y = (rng.random(len(X)) < X["points"] / 40).astype(int)
    evidence = Audit(protected="sex").fit(X, y).report_.document["evidence"]
    (gap,) = (r for r in evidence if r["group"] == "sex = 'F'")
    assert gap["again"] is None


@pytest.mark.slow
def test_protected_columns_that_are_listed_count_in_questions_about_the_others():
    X, rng = people(1000)
    X["race"] = rng.choice(["a", "b"], len(X))
    y = rng.integers(0, 2, len(X))
    listed = ["town", "sex", "race"]
    settings = {"protected": ["sex", "race"], "detectors": ["DisparityPursuit"]}
    document = Audit(**settings, adjust_for=listed).fit(X, y).report_.document
    assert {r["attribute"]: r["columns"] for r in document["legitimate"]} == {
        "sex": ["town", "race"],
        "race": ["town", "sex"],
    }
    with pytest.raises(ValueError, match="names no column but those that are asked about"):
        Audit(**settings | {"protected": "sex"}, adjust_for=["sex"]).fit(X, y)


@pytest.mark.slow
def test_people_are_counted_in_all_rows_whatever_is_held_out():
    X, y = planted(6000)
    document = Audit(protected="sex", confirm=0.5).fit(X, y).report_.document
    n_women = int((X["sex"] == "F").sum())
    sizes = {r["group"]: r["n"] for r in document["groups"]}
    assert sizes["sex = 'F'"] == n_women
    assert {r["group"]: r["people"] for r in document["comparable"]}["sex = 'F'"] == n_women
    (marginal,) = (v for v in document["verdicts"] if v["null"] == "marginal")
    assert marginal["people"] == n_women


@pytest.mark.slow
def test_people_are_counted_as_rows_whatever_their_weights():
    X, y = planted(2000)
    weight = np.where(X["sex"] == "F", 3.0, 1.0)
    report = Audit(protected="sex").fit(X, y, sample_weight=weight).report_
    (marginal,) = (v for v in report.document["verdicts"] if v["null"] == "marginal")
    assert marginal["group"] == "sex = 'F'"
    assert marginal["people"] == (X["sex"] == "F").sum()


def test_groups_of_light_rows_are_no_groups_of_few_people():
    X, y = planted(800)
    weight = np.where(np.arange(800) == np.argmax(X["sex"] == "F"), 1e5, 1.0)
    audit = Audit(protected="sex", detectors=["GroupDisparity"])
    document = audit.fit(X, y, sample_weight=weight).report_.document
    counts = X["sex"].map("sex = {!r}".format).value_counts().to_dict()
    assert {row["group"]: row["n"] for row in document["groups"]} == counts
    assert not any(row["suppressed"] for row in document["groups"])


def test_rows_of_weight_0_are_nobody():
    X, y = planted(600)
    weight = np.arange(600) % 3.0
    decisions = BlackBox(decisions=1 - y)
    audit = Audit(protected="sex", detectors=["GroupDisparity"])
    told = audit.fit(X, y, decisions, weight, np.arange(600) // 4).report_.document
    stay = np.flatnonzero(weight)
    decisions = BlackBox(decisions=(1 - y)[stay])
    audit.fit(X.iloc[stay], y[stay], decisions, weight[stay], (np.arange(600) // 4)[stay])
    alone = audit.report_.document
    assert told["about"]["n_rows"] == 400
    for part in ("verdicts", "evidence", "groups", "figures", "fingerprints"):
        assert told[part] == alone[part]


@pytest.mark.parametrize("has_decisions", [False, True])
def test_rows_of_weight_0_are_nobody_beside_counterfactual_rows(has_decisions):
    X, y = planted(400)
    other_sex = X.assign(sex=np.where(X["sex"] == "F", "M", "F"))
    weight = (np.arange(400) % 3 > 0).astype(float)
    stay = np.flatnonzero(weight)

    def is_man(X):
        return (X["sex"] == "M").astype(int)

    def document(rows, weight):
        counterfactuals, decisions = other_sex.iloc[rows], 1 - y[rows]
        audit = Audit(
            protected="sex",
            detectors=["GroupDisparity", "CounterfactualFairness"],
            counterfactuals=(counterfactuals, decisions) if has_decisions else counterfactuals,
            random_state=0,
        )
        return audit.fit(X.iloc[rows], y[rows], is_man, weight).report_.document

    told, alone = document(np.arange(400), weight), document(stay, weight[stay])
    assert told["about"]["n_rows"] == len(stay)
    assert {row["lead"] for row in told["verdicts"]} >= {"CounterfactualFairness"}
    for part in ("verdicts", "evidence", "groups", "figures", "fingerprints"):
        assert told[part] == alone[part]


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ({"groups": np.arange(300) // 2}, "clusters"),
        ({"sample_weight": 1 + np.arange(300) % 3}, "weights"),
    ],
)
def test_no_detector_counts_rows_as_independent_people_that_are_not(what, why):
    X, y = planted(300)
    X["p_women"] = np.where(X.pop("sex") == "F", 0.9, 0.1)
    audit = Audit(protected="p_women", detectors=["ProxyDisparity"])
    with pytest.raises(ValueError, match=f"ProxyDisparity takes no .*{why}"):
        audit.fit(X, y, **what)
    equal = {name: np.arange(300) if name == "groups" else np.ones(300) for name in what}
    assert audit.fit(X, y, **equal).report_.to_frame("verdicts")["verdict"].notna().all()
    report = audit.set_params(detectors="all", protected="town").fit(X, y, **what).report_
    reasons = {line["detector"]: line["reason"] for line in report.document["not_run"]}
    assert why in reasons["ProxyDisparity"]
    assert why in reasons["EffectDecomposition"]
    assert "model" in reasons["KOSEI"]
    ran = {line["detector"] for line in report.document["log"]}
    assert {"GroupDisparity", "DivExplorer", "DisparityPursuit"} <= ran
    assert ("SituationTesting" in ran) == (why == "clusters")


def test_a_cache_of_other_code_of_the_same_version_is_not_read(monkeypatch, tmp_path):
    X, y = planted(200)
    settings = {"detectors": ["GroupDisparity"], "cache": str(tmp_path)}
    audit, ran, fitted = Audit(protected="sex", **settings), [], _run.Run._fitted

    def counted(self, step, limit):
        ran.append(step.name)
        return fitted(self, step, limit)

    monkeypatch.setattr(_run.Run, "_fitted", counted)
    for code in ("0.2 one", "0.2 one", "0.2 other"):
        monkeypatch.setattr(_run, "code_fingerprint", lambda code=code: code)
        audit.fit(X, y)
    assert len(ran) == 2


def test_a_cache_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "kept").write_text("")
    X, y = make_loan(50, random_state=0, return_X_y=True)
    with pytest.raises(ValueError, match="is a file; it must be a folder"):
        Audit(protected="gender", cache=str(tmp_path / "kept")).fit(X, y)


@pytest.mark.slow
def test_the_code_passes_what_was_given():
    X, y = make_loan(200, random_state=0, return_X_y=True)
    groups = np.arange(200) // 2
    audit = Audit(protected="gender")
    code = audit.fit(X, y, groups=groups).report_.document["code"]
    names = {"X": X, "y": y, "groups": groups}
    exec(code, names)
    assert names["report"].verdict == audit.report_.verdict
    decided = audit.fit(X, None, BlackBox(decisions=y)).report_.document["code"]
    assert ".fit(X, None, model).report_" in decided


def test_threads_of_an_audit_are_those_of_its_model():
    X, y = pd.DataFrame({"sex": ["f", "m"] * 60, "a": range(120)}), [0, 1] * 60
    how = {"protected": "sex", "detectors": ["GroupDisparity"]}
    box = BlackBox(lambda rows: (rows["a"] > 50).astype(int), chunk_size=7, n_jobs=3)
    audits = [Audit(**how, n_jobs=n).fit(X, y, box) for n in (None, 1, 2)]
    assert [audit._box.n_jobs for audit in audits] == [3, 1, 2]
    assert {audit._box.chunk_size for audit in audits} == {7}
    evidence = [audit.report_.to_frame("evidence") for audit in audits]
    pd.testing.assert_frame_equal(evidence[0], evidence[2])
    assert box.n_jobs == 3
