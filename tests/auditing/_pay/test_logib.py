"""Logib's model beside a report of pay: equal to statsmodels, and to Kennedy's formula by hand."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from documents import breaches

from skdisc import Audit
from skdisc.auditing._pay._payroll import read_payroll
from skdisc.auditing._pay._record import pay_record
from skdisc.report._audit_page._pay import pay_page

COLUMNS = {
    "training": "school",
    "experience": "career",
    "service": "tenure",
    "level": "grade",
    "position": "rank",
}
PAY = {"base": "base", "hours": "hours", "category": "grade", "logib": COLUMNS}


def table(n=240, seed=0, gap=0.06):
    draw = np.random.default_rng(seed)
    sex, grade = draw.choice(["f", "m"], n), draw.integers(1, 4, n)
    school, career = draw.integers(7, 18, n), draw.integers(0, 40, n)
    tenure = np.minimum(draw.integers(0, 20, n), career)
    rank = np.where(draw.random(n) < 0.2, "head", "staff")
    hours = np.where(sex == "f", draw.choice([20, 40], n), 40)
    log = 3 + 0.03 * school + 0.02 * career - 3e-4 * career**2 + 0.005 * tenure + 0.1 * grade
    log = log + 0.2 * (rank == "head") + np.log(1 - gap) * (sex == "f") + draw.normal(0, 0.1, n)
    columns = {"sex": sex, "grade": grade, "school": school, "career": career, "tenure": tenure}
    return pd.DataFrame({**columns, "rank": rank, "hours": hours, "base": np.exp(log) * hours})


def audit_of(pay=PAY, **settings):
    audit = Audit(protected="sex", template="pay_transparency", pay=pay)
    return audit.set_params(**settings)


def made(X, weight=None, groups=None, **settings):
    audit = audit_of(**settings)
    return pay_record(audit, read_payroll(audit, X, None, None, weight, groups)).about


FORMULA = (
    "np.log(base / hours) ~ school + career + I(career ** 2) + tenure + C(grade) + C(rank) + woman"
)


@pytest.mark.parametrize(("seed", "significance"), [(0, 0.05), (1, 0.1)])
def test_the_gap_is_that_of_statsmodels_after_kennedy(seed, significance):
    X = table(seed=seed)
    X.insert(0, "woman", (X["sex"] == "f").astype(int))
    fitted = smf.ols(FORMULA, X).fit()
    c, v = fitted.params["woman"], fitted.bse["woman"] ** 2
    low, high = fitted.conf_int(significance).loc["woman"]
    found = made(X.drop(columns="woman"), rule__significance=significance)["logib"]
    assert -found["gap"] == pytest.approx(np.exp(c) / np.exp(v / 2) - 1, rel=1e-10)
    assert found["ci_low"] == pytest.approx(1 - np.exp(high), rel=1e-9)
    assert found["ci_high"] == pytest.approx(1 - np.exp(low), rel=1e-9)
    assert found["ci_level"] == 1 - significance
    assert [found["women"], found["men"]] == X["woman"].value_counts()[[1, 0]].tolist()
    assert found["columns"] == COLUMNS


def test_rows_that_logib_cannot_use_are_left_out_and_counted():
    X = table()
    X["school"] = X["school"].astype(float)
    X.loc[0, "school"], X.loc[1, "base"], X.loc[2, "sex"] = np.nan, 0.0, "x"
    X["rank"] = X["rank"].mask(X.index == 3)
    found = made(X)["logib"]
    rest = made(X.drop(index=range(4)))["logib"]
    assert found["left_out"] == 3  # a person who is neither is in no gap
    assert rest["left_out"] == 0
    assert found["gap"] == pytest.approx(rest["gap"], rel=1e-10)


def test_columns_that_follow_from_others_change_nothing():
    """Level and position are the same column, and training does not vary."""
    X = table().assign(school=12)
    once = made(X.assign(rank="staff"))["logib"]
    twice = made(X, pay=PAY | {"logib": COLUMNS | {"position": "grade"}})["logib"]
    assert twice["gap"] == pytest.approx(once["gap"], rel=1e-10)
    assert twice["ci_low"] == pytest.approx(once["ci_low"], rel=1e-9)


def test_columns_that_tell_sex_leave_no_gap():
    X = table()
    found = made(X.assign(rank=X["sex"]))["logib"]
    assert found["gap"] is None
    assert found["reason"] == "the other columns tell who is a woman"


def test_few_people_are_protected():
    X = table(400)
    few = X[(X["sex"] == "m") | (np.cumsum(X["sex"] == "f") <= 9)]
    found = made(few)["logib"]
    assert [found[name] for name in ("gap", "women", "men", "left_out")] == [None] * 4
    assert found["reason"] == "fewer than 10 women or men: left out, to protect them"


def test_without_the_preset_nothing_is_said():
    about = made(table(), pay={n: c for n, c in PAY.items() if n != "logib"})
    assert "logib" not in about


def test_columns_named_as_the_model_names_them_need_no_name():
    X = table()
    renamed = X.rename(columns={name: key for key, name in COLUMNS.items()})
    found = made(renamed, pay=PAY | {"category": "level", "logib": {}})["logib"]
    assert found["gap"] == made(X)["logib"]["gap"]


@pytest.mark.parametrize(
    ("pay", "settings", "extra", "message"),
    [
        ({"logib": {"training": "school"}}, {}, {},
         "Logib's model needs a column of experience: name it by --compare-with "
         "logib:experience=COL (pay={'logib': {'experience': ...}})"),
        ({"logib": COLUMNS | {"training": "schol"}}, {}, {},
         "training of Logib's model: there is no column 'schol'"),
        ({"logib": COLUMNS | {"service": "rank"}}, {}, {},
         "service of Logib's model is a number of years, but 'rank' holds 'head'"),
        ({"logib": COLUMNS | {"age": "career"}}, {}, {}, "Logib's model has no 'age'"),
        ({"logib": "school"}, {}, {}, "pay={'logib': ...} is a dict"),
        ({"logib": COLUMNS}, {"disclosure": "public"}, {}, "a public report has none"),
        ({"logib": COLUMNS}, {"template": "uk_gender_pay_gap"}, {},
         "--template pay_transparency"),
        ({"logib": COLUMNS}, {}, {"weight": np.ones(240)}, "leave out weights"),
        ({"logib": COLUMNS}, {}, {"groups": np.arange(240)}, "leave out weights and groups"),
    ],
)  # fmt: skip
def test_what_the_model_cannot_use_is_refused(pay, settings, extra, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        made(table(), pay={"base": "base"} | pay, **settings, **extra)


def said(about, language="en"):
    rows = pay_record(audit_of(), read_payroll(audit_of(), table(), None, None, None, None)).rows
    page = pay_page({"pay": rows, "about_pay": about}, language)
    return [" ".join(text.split()) for text in page["sentences"]], page["notes"]


def test_the_figure_stands_beside_that_at_equal_columns():
    about = made(table())
    about["logib"] |= {"gap": 0.061, "ci_low": 0.034, "ci_high": 0.0871, "left_out": 2}
    sentences, notes = said(about)
    (at,) = [i for i, text in enumerate(sentences) if "model of Logib" in text]
    assert sentences[at] == (
        "By the model of Logib (Switzerland), at equal school, career, tenure, grade and rank "
        "women's total pay per hour is 6.1 % lower than men's (3.4 to 8.7)."
    )
    assert sentences[at + 1].startswith("Logib compares logarithms of pay")
    own = next(i for i, text in enumerate(sentences) if text.startswith("At equal "))
    assert own < at
    columns = re.match("At equal (.*) women's", sentences[own])[1]
    assert f"the figure at equal {columns} compares mean pay" in sentences[at + 1]
    assert any(text.startswith("Logib's model leaves out 2 rows") for text in notes)
    about["equal"] = []
    assert not [text for text in said(about)[0] if "logarithms" in text]


@pytest.mark.parametrize("language", ["de", "fr"])
def test_other_languages_have_the_same_numbers(language):
    about = made(table())
    about["logib"] |= {"gap": 0.061, "ci_low": 0.034, "ci_high": 0.0871, "left_out": 2}
    texts, notes = said(about, language)
    text = next(text for text in texts if "Logib" in text)
    assert [n in text for n in ("6,1", "3,4", "8,7", "school")] == [True] * 4
    assert [n for n in notes if "Logib" in n and "2" in n]


def test_a_report_has_the_figure_and_keeps_to_the_schema():
    report = audit_of(detectors=["GroupDisparity"]).fit(table()).report_
    assert report.document["about_pay"]["logib"]["gap"] == made(table())["logib"]["gap"]
    assert not breaches(json.loads(json.dumps(report.document)))
    assert "By the model of Logib" in " ".join(report.to_text(2000).replace("\u00a0", " ").split())
