"""What a report of pay prints in all its parts together tells about no few people."""

import re

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit
from skdisc.auditing._pay._payroll import read_payroll
from skdisc.auditing._pay._record import JOINED, pay_record

PAY = {"category": "grade", "base": "base"}
LEAST = 10


def small_table(seed):
    """Return a table with small grades, and few people of a third sex or without a sex."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(80, 260))
    sex = draw.choice(["f", "m"], n).astype(object)
    n_others = int(draw.choice([0, 1, 3, 9, 12, 15]))
    sex[:n_others] = draw.choice(["d", None], n_others)
    grade = draw.choice(["a", "b", "c", "d"], n, p=draw.dirichlet(np.ones(4)))
    alone = np.flatnonzero((sex == "m") & (draw.random(n) < 0.5))[:1]
    few = np.flatnonzero(sex == "f")[: int(draw.integers(3, 14))]
    grade[np.concatenate([alone, few])] = "e"
    site = draw.choice(["x", "y"], n)
    pay = 1000 * np.exp(0.2 * draw.standard_normal(n)) * np.where(sex == "f", 0.8, 1.0)
    return pd.DataFrame({"sex": sex, "grade": grade, "site": site, "base": pay})


def members(X, text):
    """Return who meets the conditions of a group that a document names."""
    inside = np.ones(len(X), dtype=bool)
    for part in text.split(" and "):
        column, value = re.fullmatch(r"(\w+) = '(\w+)'", part).groups()
        inside &= (X[column] == value).to_numpy()
    return inside


def printed(X, document):
    """Return the groups whose average pay a document has, masks of shape (n_groups, n)."""
    is_counted = X["sex"].isin(["f", "m"]).to_numpy()
    masks, sides = [is_counted], {"women": X["sex"] == "f", "men": X["sex"] == "m"}
    for row in document["pay"]:
        if row["figure"] not in ("mean", "category") or row["component"] != "total":
            continue
        inside = is_counted
        if row["group"] == JOINED:
            inside = X["grade"].isin(document["about_pay"]["joined"]).to_numpy()
        elif row["group"] is not None:
            inside = (X["grade"] == row["group"]).to_numpy()
        masks += [
            inside & side
            for name, side in sides.items()
            if row[f"{name}_value"] is not None
            and row[name] == (inside & side.to_numpy()).sum()  # of whom the average is said to be
        ]
    for row in document["groups"]:
        if row["rate"] is not None and row["measure"] == "mean":
            masks += [members(X, row["group"]) & is_counted]
            masks += [~masks[-1] & is_counted] if row["gap"] is not None else []
    for row in [*document["figures"], *document["evidence"], *document["families"]]:
        context = [p for p in row["group"].split(" and ") if not p.startswith("sex")]
        around = members(X, " and ".join(context)) if context else is_counted
        group = members(X, row["group"])
        masks += [group, around & ~group & is_counted]
    return np.unique([np.asarray(mask, dtype=bool) for mask in masks], axis=0)


def told(masks):
    """Return the sizes of sets of few people that follow from two groups, or unions of two."""
    unions = [a | b for i, a in enumerate(masks) for b in masks[:i] if not (a & b).any()]
    larger = np.unique([*masks, *unions], axis=0).astype(int)
    size = larger.sum(axis=1)
    is_inside = larger @ larger.T == size[None, :]  # the second lies in the first
    left = (size[:, None] - size[None, :])[is_inside]
    return left[(left > 0) & (left < LEAST)].tolist()


def cells_told(X, masks):
    """Return the sizes of groups of few people by sex, grade and site that follow from all sums."""
    sums, found = masks.astype(float).T, []
    for columns in (["sex"], ["sex", "grade"], ["sex", "site"], ["sex", "grade", "site"]):
        for _, rows in X.reset_index(drop=True).groupby(columns, dropna=False):
            if 0 < len(rows) < LEAST:
                cell = np.zeros(len(X))
                cell[rows.index] = 1
                left = cell - sums @ np.linalg.lstsq(sums, cell, rcond=None)[0]
                found += [len(rows)] if (left**2).sum() < 1e-6 else []
    return found


@pytest.mark.every(17)
@pytest.mark.parametrize("seed", range(50))
def test_all_averages_together_tell_about_no_few_people(seed):
    X = small_table(seed)
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY, random_state=0)
    masks = printed(X, audit.fit(X).report_.document)
    assert len(masks) > 2 or min((X["sex"] == s).sum() for s in "fm") < LEAST
    assert told(masks) == []
    assert cells_told(X, masks) == []


@pytest.mark.every(17)
@pytest.mark.parametrize("seed", range(50))
def test_neither_do_averages_of_several_years(seed):
    draw, X = np.random.default_rng(seed), small_table(seed)
    person = np.repeat(np.arange(len(X)), draw.integers(1, 4, len(X)))
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY, random_state=0)
    document = audit.fit(X.iloc[person].reset_index(drop=True), groups=person).report_.document
    masks = printed(X, document)  # of people, whose rows are all alike
    assert told(masks) == []
    assert cells_told(X, masks) == []


def test_few_people_of_neither_sex_are_in_no_part():
    X = small_table(3).assign(sex=lambda t: np.where(np.arange(len(t)) % 2, "f", "m"))
    X.loc[0, "sex"], X.loc[1, "sex"] = "d", None
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY, random_state=0)
    report = audit.fit(X).report_
    assert report.document["about"]["n_rows"] == len(X) - 2
    quarters = [r for r in report.document["pay"] if r["figure"] == "quarter"]
    assert sum(r["women"] + r["men"] + r["others"] for r in quarters) == len(X) - 2
    told = " ".join(report.to_text().split())
    assert "Fewer than 10 people are neither women nor men, or have no value of sex" in told
    kept = audit.fit(X[X["sex"].isin(["f", "m"])]).report_.document
    assert kept["pay"] == report.document["pay"]


def test_several_rows_of_a_person_are_one():
    """A grade of one woman and one man with twelve years each."""
    draw = np.random.default_rng(0)
    years, n = 12, 120
    person = np.arange(n)
    grade = np.where(person < 2, "boss", np.where(person < 60, "a", "b"))
    X = pd.DataFrame({"sex": np.where(person % 2, "f", "m"), "grade": grade})
    X["base"] = np.where(person < 2, 9000.0, 1000.0) * draw.uniform(0.9, 1.1, n)
    several = pd.concat([X] * years, ignore_index=True)
    groups = np.tile(person, years)
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY)
    once = pay_record(audit, read_payroll(audit, X, None, None, None, None))
    twelve = pay_record(audit, read_payroll(audit, several, None, None, None, groups))
    assert twelve.about["joined"] == once.about["joined"]
    assert "boss" in twelve.about["joined"]
    for row, other in zip(once.rows, twelve.rows, strict=True):
        assert row["group"] == other["group"]
        assert row["gap"] == (None if other["gap"] is None else pytest.approx(other["gap"]))
        if row["figure"] != "quarter":
            assert (row["women"], row["men"]) == (other["women"], other["men"])
    document = audit.fit(several, groups=groups).report_.document
    assert "boss" not in str([document[p] for p in ("evidence", "figures", "families", "shadows")])


@pytest.mark.parametrize("n_recipients", [1, 4, 9])
def test_variable_pay_of_few_does_not_follow_from_base_and_total(n_recipients):
    """Few women of one grade receive variable pay, many of the others."""
    n = 240
    person = np.arange(n)
    grade = np.array(["a", "b", "c"])[person % 3]
    X = pd.DataFrame({"sex": np.where(person < 120, "f", "m"), "grade": grade, "base": 1000.0})
    X["base"] += person
    is_few = (X["sex"] == "f") & (X["grade"] == "a")
    X["variable"] = np.where(is_few & (is_few.cumsum() > n_recipients), 0.0, 50.0 + person)
    pay = PAY | {"variable": "variable"}
    audit = Audit(protected="sex", template="pay_transparency", pay=pay)
    rows = pay_record(audit, read_payroll(audit, X, None, None, None, None)).rows
    of = {(r["component"], r["group"]): r for r in rows if r["figure"] == "category"}
    shown = {name for (part, name), r in of.items() if part == "variable" and r["women_value"]}
    assert "a" not in shown
    hidden = X[(X["sex"] == "f") & ~X["grade"].isin(shown)]
    assert (hidden["variable"] > 0).sum() >= LEAST
    for name in "abc":
        assert (of["base", name]["women_value"] is None) == (name not in shown)
        assert of["base", name]["gap"] is not None
        assert of["total", name]["women_value"] is not None


@pytest.mark.parametrize("n_women", [1, 9])
def test_averages_of_few_women_are_not_printed(n_women):
    person = np.arange(200)
    X = pd.DataFrame(
        {"sex": np.where(person < n_women, "f", "m"), "grade": "a", "base": 1e3 + person}
    )
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY)
    rows = pay_record(audit, read_payroll(audit, X, None, None, None, None)).rows
    for row in rows:
        if row["figure"] in ("mean", "median"):
            assert (row["women_value"], row["gap"]) == (None, None)
            assert "fewer than 10 women or men" in row["reason"]


@pytest.mark.every(5)
@pytest.mark.parametrize("seed", range(40))
def test_variable_pay_that_follows_is_that_of_enough_people(seed):
    """Of all hidden grades together, and of each that is not, none or enough people receive it."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(150, 500))
    X = pd.DataFrame({"sex": draw.choice(["f", "m"], n), "base": draw.uniform(1e3, 2e3, n)})
    X["grade"] = draw.choice(list("abcde"), n, p=draw.dirichlet(np.full(5, 3.0)))
    share = dict(zip("abcde", draw.choice([0.0, 0.05, 0.2, 0.6], 5), strict=True))
    X["variable"] = np.where(draw.random(n) < X["grade"].map(share), 100.0, 0.0)
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY | {"variable": "variable"})
    made = pay_record(audit, read_payroll(audit, X, None, None, None, None))
    of = {(r["component"], r["group"]): r for r in made.rows if r["figure"] == "category"}
    grade = X["grade"].where(~X["grade"].isin(made.about["joined"]), JOINED)
    everybody = next(r for r in made.rows if (r["figure"], r["component"]) == ("mean", "variable"))
    for sex, name in (("f", "women_value"), ("m", "men_value")):
        receives = (X["variable"] > 0) & (X["sex"] == sex)
        told = {k for (_, k) in of if None not in (of["base", k][name], of["total", k][name])}
        told |= {k for (part, k) in of if part == "variable" and of[part, k][name] is not None}
        left = [int((receives & (grade == k)).sum()) for k in told]
        if everybody[name] is not None:
            left.append(int((receives & ~grade.isin(told)).sum()))
        assert not [few for few in left if 0 < few < LEAST]


def test_people_of_weight_0_hide_nobody_and_weights_have_no_unit():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": np.repeat(["f", "m"], 100), "grade": np.tile(["a", "b"], 100)})
    X["base"] = 1000 * np.exp(0.2 * rng.standard_normal(200)).round(3)
    weight = rng.integers(1, 4, 200) / 1.0
    in_b = np.flatnonzero((X["sex"] == "f") & (X["grade"] == "b"))
    weight[in_b[1:]] = 0  # one woman is left in grade b
    documents = [
        Audit(protected="sex", template="pay_transparency", pay=PAY, detectors=["GroupDisparity"])
        .fit(X, sample_weight=w)
        .report_.document
        for w in (weight, 1e9 * weight)
    ]
    her_pay = X["base"][in_b[0]]
    for row in documents[0]["pay"]:
        assert row["women_value"] != pytest.approx(her_pay)
        assert row["women"] is None or row["women"] <= 51
    quarters = [
        [(row["women"], row["men"]) for row in d["pay"] if row["row"] == "f"] for d in documents
    ]
    np.testing.assert_allclose(*quarters)
    assert np.sum(quarters[0]) == pytest.approx(151)


def test_a_report_needs_no_column_beside_the_category():
    """Within a category nothing can be held equal then, and no sentence is about it."""
    draw = np.random.default_rng(0)
    table = pd.DataFrame(
        {"sex": draw.choice(["f", "m"], 900), "grade": draw.choice(["a", "b"], 900)}
    )
    is_worse_off = (table["sex"] == "f") & (table["grade"] == "a")
    table["base"] = 1000 * np.exp(0.1 * draw.standard_normal(900)) * np.where(is_worse_off, 0.8, 1)
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY, random_state=0)
    report = audit.fit(table).report_
    rows = {row["group"]: row["columns"] for row in report.document["about_pay"]["equal"]}
    assert rows == {None: ["grade"], "a": []}
    told = " ".join(report.to_text().split())
    assert "At equal grade women's total pay" in told
    assert "In category a, at equal" not in told
    assert report.to_html()
