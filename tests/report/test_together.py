"""What several detectors say together."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skdisc import BlackBox, Rule, report
from skdisc._blackbox._default_models import default_model
from skdisc._results._judgment import DIFFERS, FOUND, UNSURE, Judgment
from skdisc.group import GroupDisparity
from skdisc.individual import Themis
from skdisc.report._summary import summarize
from skdisc.report._together import holds_over_all, over_all


def people(n=400, gap=0.6):
    """Return people and labels whose rates differ by sex."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(list("uv"), n)})
    return X, (rng.random(n) < np.where(X["sex"] == "M", 0.5 + gap / 2, 0.5 - gap / 2)).astype(int)


def with_p(result, p):
    """Return the result of groups with this corrected p-value in each finding."""
    table = result.findings.table.assign(p_adjusted=p)
    findings = replace_table(result.findings, table)
    return replace(result, discovery=replace(result.discovery, findings=findings))


def replace_table(findings, table):
    from copy import copy

    findings = copy(findings)
    findings.table = table
    return findings


def judged(result, verdict, reason=""):
    return replace(result, discovery=replace(result.discovery, judgment=Judgment(verdict, reason)))


@pytest.fixture(scope="module")
def group():
    return GroupDisparity(protected="sex").fit(*people()).result_


@pytest.fixture(scope="module")
def cases():
    model = lambda X: (X["sex"] == "M").astype(int)  # noqa: E731
    return Themis(protected="sex", random_state=0).fit(people()[0], model=model).result_


@pytest.mark.parametrize(("p", "n", "holds"), [(0.02, 1, True), (0.02, 2, True), (0.02, 3, False)])
def test_p_values_are_corrected_for_the_number_of_detectors(group, p, n, holds):
    results = [with_p(group, p)] * n
    assert [holds_over_all(r, results) for r in results] == [holds] * n


def test_only_what_is_found_holds(group):
    for verdict in (DIFFERS, UNSURE):
        assert not holds_over_all(judged(group, verdict), [group])


def test_cases_of_a_model_that_was_passed_are_facts(cases, group):
    results = [cases, *[with_p(group, 0.04)] * 9]
    assert cases.verdict == FOUND
    assert [holds_over_all(r, results) for r in results] == [True] + [False] * 9


def test_chance_in_training_is_one_question(cases, group):
    training = pd.DataFrame({"p_value": [0.05]})
    tables = {**cases.tables, "training": training}
    trained = replace(cases, discovery=replace(cases.discovery, tables=tables))
    assert holds_over_all(group, [group, trained])
    assert not holds_over_all(group, [group, judged(trained, UNSURE, "training")])


def test_the_reader_is_told(cases, group):
    assert over_all([group]) == ""
    nothing = judged(group, UNSURE, "too few")
    assert over_all([nothing, nothing]) == "2 detectors were run, and none finds a disparity."
    told = over_all([with_p(group, 0.04), cases])
    assert told.startswith("2 detectors were run, and 2 find a disparity. ")
    assert told.endswith("corrected for their number, Themis still finds one.")
    for make in (report.to_text, report.to_html, report.to_markdown):
        assert "2 detectors were run" in " ".join(make([group, cases]).split())


def test_every_form_states_null_hypothesis_and_reason(group):
    result = judged(group, UNSURE, "too few people to judge: b")
    for page in (report.to_text(result), report.to_html(result), report.to_markdown(result)):
        page = " ".join(page.split())
        assert "Null hypothesis: the rates of the protected groups are equal." in page
        assert "Too few people to judge: b." in page
        assert "insufficient evidence" in page
    assert "null='marginal', insufficient evidence (too few people to judge: b): 1" in repr(result)


def test_the_sentence_does_not_contradict_the_verdict(group):
    found = summarize(group)
    assert "1 of 1 groups tested differs from" in found["sentence"]
    unsure = summarize(judged(group, UNSURE, "training alone"))
    assert (unsure["sentence"], unsure["reason"]) == (found["sentence"], "Training alone.")
    none = replace(group.discovery, n_found=0, judgment=Judgment(FOUND, "mean gap of F: 0.2"))
    said = summarize(replace(group, discovery=none))
    assert (said["sentence"], said["reason"]) == ("Mean gap of F: 0.2.", "")


def test_held_out_estimates_come_first(group):
    columns = {"effect": -0.5, "ci_low": -0.6, "ci_high": -0.4, "p_adjusted": 0.001}
    table = group.findings.table.assign(**{f"held_out_{k}": v for k, v in columns.items()})
    findings = replace_table(group.findings, table)
    shown = summarize(replace(group, discovery=replace(group.discovery, findings=findings)))
    names = shown["tables"][0]["columns"]
    assert names.index("Held-out effect") < names.index("Held-out interval") < names.index("Effect")
    assert "on held-out rows" in shown["intervals"]["title"]
    assert {row[1:] for row in shown["intervals"]["rows"]} == {(-0.5, -0.6, -0.4)}
    assert all(row[3] == -0.5 for row in shown["sizes"]["rows"])


def test_training_shows_in_the_notes():
    X, y = people()
    box = BlackBox.trained(default_model("tree", 0), *people())
    result = Themis(protected="sex", random_state=0, rule=Rule(significance=0.4))
    page = report.to_text(result.fit(X, y, box).result_)
    assert "a model that was trained in this audit" in " ".join(page.split())
    assert "0 of 2 models trained without the information" in " ".join(page.split())
