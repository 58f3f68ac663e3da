"""Every figure of Article 9(1), equal to a computation by hand; what is joined and left out."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from documents import breaches
from scipy import stats

from skdisc import Audit, AuditReport
from skdisc.auditing._beside._compare import _pay
from skdisc.auditing._pay._gaps import PaidPeople, dominated
from skdisc.auditing._pay._payroll import read_payroll
from skdisc.auditing._pay._record import JOINED, joined_categories, pay_record
from skdisc.report._audit_page._pay import pay_page

PAY = {"category": "grade", "base": "base", "variable": "variable", "hours": "hours"}


def table(n=240, seed=0):
    draw = np.random.default_rng(seed)
    sex = draw.choice(["f", "m"], n)
    hours = np.where(sex == "f", draw.choice([20, 40], n), 40)
    grade = draw.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2])
    rate = 20 + 10 * (grade == "B") + 25 * (grade == "C") + draw.normal(0, 2, n)
    bonus = np.where(draw.random(n) < np.where(sex == "f", 0.4, 0.6), draw.integers(50, 90, n), 0)
    columns = {"sex": sex, "grade": grade, "hours": hours, "base": (rate * hours).round(2)}
    return pd.DataFrame({**columns, "variable": bonus * hours / 40})


def record(X, y=None, weight=None, groups=None, **settings):
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY).set_params(**settings)
    return pay_record(audit, read_payroll(audit, X, y, None, weight, groups))


def one(rows, **asked):
    (row,) = [r for r in rows if all(r[k] == v for k, v in asked.items())]
    return row


def averages(values, X, weight, of):
    """Return the average of women and men, and the gap, by NumPy and by repeating rows."""
    sides = []
    for sex in ("f", "m"):
        here = (X["sex"] == sex).to_numpy()
        sides.append(of(np.repeat(values[here], weight[here])))
    return [*sides, 1 - sides[0] / sides[1]]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_every_figure_of_article_9_by_hand(is_weighted):
    X = table(600)
    weight = (
        np.random.default_rng(1).integers(1, 4, len(X)) if is_weighted else np.ones(len(X), int)
    )
    rows = record(X, weight=weight.astype(float) if is_weighted else None).rows
    total = (X["base"] + X["variable"]).to_numpy()
    hours, variable = X["hours"].to_numpy(), X["variable"].to_numpy()
    for basis, divisor in (("as recorded", 1), ("per hour", hours)):
        for figure, of in (("mean", np.mean), ("median", np.median)):
            for component, pay in (("total", total), ("variable", variable)):
                expected = averages(pay / divisor, X, weight, of)
                row = one(rows, figure=figure, component=component, basis=basis, among="all")
                digits = 5e-3 if figure == "median" else 1e-9  # a median is that of a person
                sides = [row["women_value"], row["men_value"]]
                assert sides == pytest.approx(expected[:2], rel=digits)
                if expected[1] > 0:
                    assert row["gap"] == pytest.approx(expected[2])
                    if expected[0] > 0:  # else men's median may be 0, too
                        assert row["ci_low"] < row["gap"] < row["ci_high"] <= 1
    some = variable > 0
    expected = averages(variable[some], X[some], weight[some], np.mean)
    row = one(rows, figure="mean", component="variable", basis="as recorded", among="recipients")
    assert row["gap"] == pytest.approx(expected[2])
    assert (row["women"], row["men"]) == tuple((X["sex"][some] == s).sum() for s in "fm")
    row = one(rows, figure="receive")
    expected = averages(some.astype(float), X, weight, np.mean)
    assert [row["women_value"], row["men_value"]] == pytest.approx(expected[:2])
    assert row["gap"] == pytest.approx(expected[1] - expected[0])
    for component, pay in (("base", X["base"]), ("variable", X["variable"]), ("total", total)):
        rate = np.asarray(pay) / hours
        for grade in "ABC":
            here = (X["grade"] == grade).to_numpy()
            expected = averages(rate[here], X[here], weight[here], np.mean)
            row = one(rows, figure="category", component=component, group=grade)
            assert row["gap"] == pytest.approx(expected[2])
            assert row["ci_level"] == pytest.approx(1 - 0.05 / 3)


def test_letters_are_those_of_the_laws():
    rows = record(table()).rows
    letters = {(r["row"], r["figure"], r["component"]) for r in rows if r["figure"] != "category"}
    assert letters == {
        ("a", "mean", "total"),
        ("b", "mean", "variable"),
        ("c", "median", "total"),
        ("d", "median", "variable"),
        ("e", "receive", "variable"),
        ("f", "quarter", "total"),
    }
    assert {r["row"] for r in rows if r["figure"] == "category"} == {"g"}
    rows = record(table(), template="uk_gender_pay_gap").rows
    assert [(r["row"], r["figure"], r["component"], r["among"]) for r in rows] == [
        ("a", "mean", "total", "all"),
        ("b", "median", "total", "all"),
        ("c", "mean", "variable", "recipients"),
        ("d", "median", "variable", "recipients"),
        ("e", "receive", "variable", "all"),
        *[("f", "quarter", "total", "all")] * 4,
    ]


def test_raw_figures_add_up_to_what_is_printed():
    X = table(600)
    rows = record(X).rows
    for sex, letter in (("women", "f"), ("men", "m")):
        n = int((X["sex"] == letter).sum())
        assert sum(r[sex] for r in rows if r["figure"] == "quarter") == n
        for component in ("base", "variable", "total"):
            of = [r for r in rows if (r["figure"], r["component"]) == ("category", component)]
            assert sum(r[sex] for r in of) == n
        of = {r["component"]: r for r in rows if r["group"] == "A"}
        parts = of["base"][f"{sex}_value"] + of["variable"][f"{sex}_value"]
        assert of["total"][f"{sex}_value"] == pytest.approx(parts)


@pytest.mark.slow
def test_total_pay_or_its_parts_say_the_same():
    X = table()
    total = (X["base"] + X["variable"]).rename("total")
    first = record(X).rows
    rest = {k: v for k, v in PAY.items() if k != "base"}
    assert len(record(X, total).rows) == len(first)
    for pay in (PAY, rest):
        again = record(X, total, pay=pay).rows
        for row, other in zip(first, again, strict=True):
            assert row["gap"] == (None if row["gap"] is None else pytest.approx(other["gap"]))
    without = record(X, pay={"category": "grade", "base": "base"}).rows
    assert {r["basis"] for r in without} == {"as recorded"}
    assert {r["component"] for r in without} == {"total", "base"}


@pytest.mark.parametrize(
    ("named", "is_noticed"),
    [({"variable"}, True), ({"base", "variable"}, False), ({"base"}, False), (set(), False)],
)
def test_variable_pay_as_a_part_of_the_target_is_noticed(named, is_noticed):
    X = table(80)
    pay = {part: part for part in named}
    audit = Audit(protected="sex", template="pay_transparency", pay=pay)
    audit.set_params(detectors=["GroupDisparity"])
    left = X.drop(columns=[c for c in ("base", "variable") if c not in named])
    document = audit.fit(left, X["base"] + X["variable"]).report_.document
    told = [n for n in document["notices"] if n["seen"].startswith("total pay is the target alone")]
    assert [(n["column"], n["above"]) for n in told] == [("variable", True)] * is_noticed


def test_a_gap_of_men_is_found_as_one_of_women_is():
    X = table(600)
    turned = X.assign(base=np.where(X["sex"] == "m", 0.8, 1.0) * X["base"])
    row = one(record(turned).rows, figure="category", component="base", group="A")
    assert row["state"] == "above"
    assert row["gap"] < -0.15


def test_the_level_of_categories_is_shared_by_all():
    rows = record(table(), rule__significance=0.1).rows
    assert one(rows, figure="category", component="total", group="A")["ci_level"] == pytest.approx(
        1 - 0.1 / 3
    )
    assert one(rows, figure="mean", component="total", basis="per hour")["ci_level"] == 0.9


def test_small_categories_are_joined_until_both_sexes_are_enough():
    X = table(300)
    X.loc[:14, "grade"] = "D"
    X.loc[:14, "sex"] = ["f"] * 13 + ["m"] * 2
    made = record(X)
    groups = list(dict.fromkeys(r["group"] for r in made.rows if r["figure"] == "category"))
    assert JOINED in groups
    assert made.about["joined"] == ["C", "D"]
    for row in made.rows:
        if row["figure"] == "category":
            assert min(row["women"], row["men"]) >= 10
    assert record(X, min_cell=2).about["joined"] == []


def test_joining_leaves_no_category_to_be_had_by_subtraction():
    draw = np.random.default_rng(0)
    for _ in range(50):
        category = draw.choice(list("abcdefg"), 120, p=draw.dirichlet(np.ones(7)))
        X = pd.DataFrame({"sex": draw.choice(["f", "m"], 120), "grade": category, "base": 1.0})
        audit = Audit(protected="sex", template="pay_transparency", pay={"base": "base"})
        people = read_payroll(audit, X, None, None, None, None).people
        names, code, joined = joined_categories(category, people, 10)
        counts = people.counts(code, len(names))[:2]
        assert len(names) == 1 or counts.min() >= 10
        assert len(joined) != 1
        assert counts.sum() == 120


def test_figures_of_few_recipients_are_left_out():
    X = table()
    X["variable"] = 0.0
    X.loc[X.index[X["sex"] == "f"][:3], "variable"] = 500.0
    X.loc[X.index[X["sex"] == "m"][:40], "variable"] = 500.0
    made = record(X)
    of = [r for r in made.rows if r["component"] == "variable"]
    assert {r["gap"] for r in of if r["figure"] in ("mean", "receive")} == {None}
    assert all(r["women_value"] is None for r in of if r["figure"] in ("mean", "receive"))
    assert made.about["n_left_out"] >= 5


def test_implausible_entries_are_counted_in_two_severities():
    X = table()
    X.loc[0, "base"] *= 50
    X.loc[1, "base"] *= 5
    X.loc[2, "hours"] = 90
    assert record(X).about["implausible"] == {"wrong": 1, "to check": 2}


def test_people_of_neither_sex_count_in_quarters_only():
    X = table()
    X.loc[:11, "sex"] = "diverse"
    made = record(X)
    assert made.about["others"] == 12
    quarters = [r for r in made.rows if r["figure"] == "quarter"]
    assert sum(r["women"] + r["men"] + r["others"] for r in quarters) == len(X)
    assert one(made.rows, figure="mean", component="total", basis="per hour")["women"] == (
        (X["sex"] == "f").sum()
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.assign(sex="f"), r"There are no men in 'sex' \(values: f\)"),
        (lambda X: X.assign(sex="x"), "Which values of 'sex' are women is not known: x"),
        (lambda X: X.assign(hours=X["hours"].where(X.index > 1, 0)), "0 or less in 2 rows"),
        (lambda X: X.assign(base=-X["base"]), r"'base' is negative in 240 rows"),
        (lambda X: X.assign(base=X["base"].where(X.index > 0)), "'base' is missing in 1 row"),
        (lambda X: X.assign(base=X["base"].map("{} €".format)), "text in place of numbers"),
        (lambda X: X.drop(columns="grade"), "there is no column 'grade'"),
    ],
)
def test_bad_input_is_said_in_a_sentence(change, message):
    with pytest.raises(ValueError, match=message):
        record(change(table()))


def test_bad_settings_are_said_in_a_sentence():
    X = table()
    with pytest.raises(ValueError, match=r"'variable' is larger than total pay \('y'\) in"):
        record(X.assign(variable=1e6), X["base"].to_numpy())
    with pytest.raises(ValueError, match="Total pay is not known"):
        record(X, pay={"hours": "hours"})
    with pytest.raises(ValueError, match=r"pay has no key 'wage'\. Its keys: category, base"):
        record(X, pay={"wage": "base"})
    with pytest.raises(ValueError, match="'sex' has no value 'woman'"):
        record(X, pay=PAY | {"women": "woman"})
    with pytest.raises(ValueError, match="names the column 'base' twice"):
        record(X, pay={"base": "base", "variable": "base"})
    with pytest.raises(ValueError, match=r"figures of all people, and confirm .* leave it out"):
        record(X, confirm=0.5)
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY)
    with pytest.raises(ValueError, match="is about pay in y, and takes no model"):
        read_payroll(audit, X, None, len, None, None)
    with pytest.raises(ValueError, match="is for the templates pay_transparency and uk"):
        Audit(protected="sex", pay=PAY).fit(X, X["base"] > 900)


@pytest.mark.parametrize("women", [None, "f"])
def test_the_column_of_sex_is_found_in_whatever_order_columns_are_protected(women):
    X = table()
    X["origin"] = np.random.default_rng(1).choice(["here", "abroad"], len(X))
    several = {"pay": PAY | ({} if women is None else {"women": women})}
    whole = record(X, protected=["origin", "sex"], **several)
    assert whole.rows == record(X, protected=["sex", "origin"], **several).rows


def test_women_may_be_named():
    X = table()
    X["sex"] = X["sex"].map({"f": 2, "m": 1})
    named = record(X, pay=PAY | {"women": 2})
    assert named.about["columns"]["women"] == "2"
    assert named.about["columns"]["men"] == "1"
    plain = record(table())
    assert [r["gap"] for r in named.rows] == [r["gap"] for r in plain.rows]


STRANGERS = Path(os.environ.get("SKDISC_DATA", "")) / "strangers" / "pay.csv"


@pytest.mark.slow
@pytest.mark.skipif(not STRANGERS.is_file(), reason="SKDISC_DATA has no table of pay")
def test_the_truth_about_the_table_of_strangers():
    X = pd.read_csv(STRANGERS).drop(columns="person")
    columns = {"category": "grade", "base": "base_pay", "variable": "variable_pay"}
    audit = Audit(
        protected="sex", template="pay_transparency", pay=columns | {"hours": "weekly_hours"}
    )
    report = audit.fit(X).report_
    assert breaches(report.document) == []
    rows = report.document["pay"]
    base = {r["group"]: r for r in rows if (r["figure"], r["component"]) == ("category", "base")}
    assert base["G2"]["ci_low"] < 0.08 < base["G2"]["ci_high"]
    assert base["G2"]["ci_low"] > 0
    for grade in ("G1", "G3", "G4"):
        assert base[grade]["ci_low"] < 0 < base[grade]["ci_high"]
        assert base[grade]["state"] != "above"
        assert base[grade]["state"] == "below" or base[grade]["needed"] > 0
    receive = one(rows, figure="receive")
    assert receive["women_value"] == pytest.approx(0.35, abs=0.05)
    assert receive["men_value"] == pytest.approx(0.50, abs=0.05)
    assert receive["ci_low"] < 0.15 < receive["ci_high"]
    share = report.document["about_pay"]["hours_share"]
    assert 0.3 < share["ci_low"] < share["share"] < share["ci_high"] < 0.6
    frame = AuditReport.from_json(report.to_json()).to_frame("pay")
    assert len(frame) == len(rows)
    text = report.to_text()
    assert "Women's mean pay per hour is 14.0 % lower than men's (11.4 to 16.4)" in " ".join(
        text.replace("\u00a0", " ").split()
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.assign(base=1000.0, variable=0.0, hours=40.0),
        lambda X: X.assign(base=0.0, variable=0.0),
        lambda X: X.assign(base=X["base"] * 1e-300, variable=0.0),
        lambda X: X.assign(grade=[f"g{i}" for i in range(len(X))]),
        lambda X: X.assign(sex=["f"] + ["m"] * (len(X) - 1)),
        lambda X: X.head(2).assign(sex=["f", "m"]),
        lambda X: X.set_index(np.zeros(len(X), int)),
    ],
)
def test_odd_tables_have_a_record_that_can_be_written(change):
    made = record(change(table()))
    document = {"pay": made.rows, "about_pay": made.about}
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    said = pay_page(document)
    words = [*said["sentences"], *said["notes"], *(str(t) for t in said["tables"])]
    assert not any(re.search(r"\bnan\b|None\b", text) for text in words)


def test_constant_pay_has_a_gap_of_0_without_doubt():
    made = record(table().assign(base=1000.0, variable=0.0, hours=40.0))
    row = one(made.rows, figure="mean", component="total", basis="per hour")
    assert (row["ci_low"], row["gap"]) == (0, 0)
    assert row["ci_high"] == pytest.approx(0, abs=1e-9)
    assert made.about["hours_share"] is None


def test_no_more_than_all_of_mens_pay_remains_at_equal_columns():
    """One salary of 9 million made "women's total pay is 156.0 % lower than men's" of 92 %."""
    X = table()
    audit = Audit(protected="sex", template="pay_transparency", pay=PAY)
    roll = read_payroll(audit, X, None, None, None, None)
    ends = {"ci_low": -1e4, "ci_high": 1e4, "ci_level": 0.9}
    for effect, n in ((-1.0, 1), (-1e3, 0)):
        made = pay_record(audit, roll, {"sex = 'f'": ends | {"effect": effect}})
        assert len([row for row in made.about["equal"] if row["group"] is None]) == n


def test_two_reports_stand_side_by_side():
    X = table()
    late = X.assign(base=np.where(X["sex"] == "f", 1.1, 1.0) * X["base"])
    made = [record(frame) for frame in (X, late[late["grade"] != "C"])]
    frame = _pay(*({"pay": m.rows} for m in made), 0.05)
    assert len(frame) == len(made[0].rows)
    for side, rows in zip(("before", "after"), (m.rows for m in made), strict=True):
        asked = (frame["figure"] == "mean") & (frame["component"] == "total")
        first = frame[asked & (frame["basis"] == "per hour")].iloc[0]
        row = one(rows, figure="mean", component="total", basis="per hour")
        assert first[f"gap_{side}"] == row["gap"]
    gone = frame[frame["group"] == "C"]
    assert gone["gap_after"].isna().all()
    assert gone["gap_before"].notna().any()
    assert _pay({}, {}, 0.05).empty


@pytest.mark.parametrize("significance", [0.05, 0.2])
def test_a_change_has_the_interval_of_different_people(significance):
    """Zou and Donner (2008): arms of both intervals, here by hand, from their levels to one."""
    made = [record(table(seed=seed)).rows for seed in (0, 1)]
    frame = _pay(*({"pay": rows} for rows in made), significance)
    n_told = 0
    for row in frame.to_dict("records"):
        names = ("row", "figure", "component", "among", "basis", "group")
        asked = {n: None if pd.isna(row[n]) else row[n] for n in names}
        sides = [one(rows, **asked) for rows in made]
        value = "women_value" if row["figure"] == "quarter" else "gap"
        if None in (ends := [s[n] for s in sides for n in (value, "ci_low", "ci_high")]):
            assert np.isnan([row["ci_low"], row["ci_high"]]).all()
            continue
        old, old_low, old_high, new, new_low, new_high = ends
        z = [stats.norm.ppf((1 + s["ci_level"]) / 2) for s in sides]
        down = np.hypot((new - new_low) / z[1], (old_high - old) / z[0])
        up = np.hypot((new_high - new) / z[1], (old - old_low) / z[0])
        wide = stats.norm.ppf(1 - significance / 2)
        assert row["change"] == pytest.approx(new - old)
        assert row["ci_low"] == pytest.approx(new - old - wide * down)
        assert row["ci_high"] == pytest.approx(new - old + wide * up)
        n_told += 1
    assert n_told > 15
    assert set(frame["figure"]) == {"mean", "median", "receive", "quarter", "category"}


def test_joined_categories_that_are_others_have_no_change():
    rows = record(table()).rows
    rows = [r for r in rows if (r["figure"], r["component"]) == ("category", "total")]
    rows = [row | {"group": JOINED} if row["group"] == "C" else row for row in rows]
    about = [{"joined": ["C", "D"]}, {"joined": ["C", "E"]}]
    for first, second in ((0, 0), (0, 1)):
        sides = ({"pay": rows, "about_pay": about[k]} for k in (first, second))
        frame = _pay(*sides, 0.05)
        others = frame[frame["group"] == JOINED]
        assert others["gap_after"].notna().all()
        assert others["change"].isna().all() == (first != second)
        assert frame[frame["group"] == "A"]["change"].notna().all()


def test_several_rows_of_a_person_have_the_intervals_of_one():
    X = table(400).assign(site=lambda t: np.arange(len(t)) % 3)
    X["base"] *= np.where(X["sex"] == "f", 0.8, 1.0)
    person = np.arange(len(X))
    once = record(X)
    twelve = record(pd.concat([X] * 12, ignore_index=True), groups=np.tile(person, 12))
    for row, other in zip(once.rows, twelve.rows, strict=True):
        for end in ("ci_low", "ci_high") if row["figure"] != "median" else ():  # whose ranks tie
            both = row[end], other[end]
            assert both[1] == (None if both[0] is None else pytest.approx(both[0], abs=1e-3))
    remains = [[r["remains"] for r in made.about["equal"]] for made in (once, twelve)]
    assert len(remains[0]) == 4
    assert remains[1] == pytest.approx(remains[0])
    assert {r["ci_low"] for r in twelve.about["equal"]} == {None}
    assert None not in {r["ci_low"] for r in once.about["equal"]}


def test_variable_pay_of_nobody_is_no_matter_of_few_people():
    X = table().assign(variable=0.0)
    rows = [r for r in record(X).rows if r["component"] == "variable" and r["figure"] != "receive"]
    assert {r["reason"] for r in rows} == {"nobody receives variable pay"}
    X["variable"] = np.where(X["sex"] == "f", 10.0 + np.arange(len(X)), 0.0)
    row = one(record(X).rows, figure="mean", component="variable", basis="per hour", among="all")
    assert row["reason"] == "men's average is 0"


def test_gaps_by_quantile_by_hand():
    """Each is between at least ten women and ten men beyond it, of three digits, but the median."""
    X = table(n=170)
    made = record(X)
    rows = {row["quantile"]: row for row in made.about["quantiles"]}
    assert list(rows) == [0.25, 0.5, 0.75]  # a tenth of 85 are fewer than ten
    rate = ((X["base"] + X["variable"]) / X["hours"]).to_numpy()
    sides = [rate[(X["sex"] == sex).to_numpy()] for sex in ("f", "m")]
    for quantile, row in rows.items():
        women, men = (np.quantile(s, quantile, method="averaged_inverted_cdf") for s in sides)
        assert row["gap"] == pytest.approx(1 - women / men, abs=5.1e-4)
        assert row["ci_low"] < row["gap"] < row["ci_high"]
    median = one(made.rows, figure="median", component="total", basis="per hour")
    ends = ("gap", "ci_low", "ci_high", "ci_level")
    assert [rows[0.5][name] for name in ends] == [median[name] for name in ends]
    assert record(X, disclosure="public").about["quantiles"] == []
    assert [row["quantile"] for row in record(table(60)).about["quantiles"]] == [0.5]


def test_public_averages_in_which_one_person_has_nearly_all_are_left_out():
    """By the p % rule: the second-largest must not know the largest to within a tenth."""
    X = table(2000)
    boss = np.flatnonzero((X["sex"] == "m") & (X["grade"] == "A") & (X["variable"] > 0))[0]
    of_category = {"figure": "category", "component": "variable", "group": "A"}
    of_all = {"figure": "mean", "component": "variable", "basis": "per hour", "among": "all"}
    for times, is_told in ((1, True), (100, True), (1e6, False)):
        X.loc[boss, "variable"] = 80.0 * times
        public = record(X, disclosure="public").rows
        for asked in (of_category, of_all):
            row = one(public, **asked)
            assert (row["gap"] is not None) == is_told
            assert ("one person has nearly all" in row["reason"]) != is_told
            assert one(record(X).rows, **asked)["gap"] is not None
        others = [r for r in public if r["figure"] == "category" and r["group"] == "B"]
        assert None not in [r["gap"] for r in others]


def test_the_largest_pay_is_dominant_if_the_others_but_one_have_less_than_a_tenth():
    people = PaidPeople(np.array([True] * 4 + [False]), np.array([False] * 4 + [True]), np.ones(5))
    everyone = np.ones(5, dtype=bool)
    assert dominated(np.array([100.0, 50, 9, 0.9, 0]), people, everyone)
    assert not dominated(np.array([100.0, 50, 9, 1.0, 0]), people, everyone)
    assert dominated(np.array([100.0, 50, 9, 1.0, 3]), people, everyone)  # a single man
    assert not dominated(np.zeros(5), people, everyone)
