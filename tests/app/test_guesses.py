"""What the app chooses beforehand, always with a reason, and what it leaves open."""

import numpy as np
import pandas as pd
import pytest

from skdisc.app._guesses import (
    guess,
    guess_again,
    has_table,
    leave_table,
    not_in_pay,
    offered,
    table_lacks,
    take_table,
)
from skdisc.app._looking import look
from skdisc.app._study import Study


@pytest.fixture
def guessed(tmp_path, monkeypatch):
    """Return a function that guesses about a table; it returns the study, and what is seen."""
    monkeypatch.setenv("SKDISC_APP_FOLDER", str(tmp_path))

    def of(frame, study=None):
        path = tmp_path / "data.csv"
        frame.to_csv(path, index=False)
        study = Study("k", "people.csv", path) if study is None else study
        seen = look(study.looked_at())
        while guess(study, seen):
            seen = look(study.looked_at())
        return study, seen

    return of


def people(n=400, **columns):
    """Return a table of people with columns of names and values to draw from."""
    draw = np.random.default_rng(0)
    drawn = {name: draw.choice(values, n) for name, values in columns.items()}
    return pd.DataFrame({"score": draw.integers(0, 30, n), **drawn})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sex", "sex"),
        ("Gender", "sex"),
        ("Geschlecht", "sex"),
        ("sexe", "sex"),
        ("applicantSex", "sex"),
        ("race", "origin or race"),
        ("Ethnicity_code", "origin or race"),
        ("Nationalität", "origin or race"),
        ("Herkunft", "origin or race"),
        ("minority", "origin or race"),
        ("native-country", "origin or race"),
        ("Religion", "religion"),
        ("Behinderung", "disability"),
        ("age", "age"),
        ("Alter", "age"),
        ("page", ""),
        ("vehicle age", ""),
        ("Sussex", ""),
        ("average", ""),
        ("tenure", ""),
    ],
)
def test_protected_columns_are_recognized_by_whole_words(guessed, name, kind):
    study, seen = guessed(people(**{name: ["a", "b"], "hired": ["yes", "no"]}))
    assert study.columns("protected") == [name] * bool(kind)
    assert study.because.get(name, "") == (f"its name says {kind}" if kind else "")
    assert [column["name"] for column in offered(study, seen)] == [name] * bool(kind)


@pytest.mark.parametrize(
    ("name", "is_left_out"),
    [
        ("Straße", True),
        ("street_name", True),
        ("home address", True),
        ("rue", True),
        ("zip_code", True),
        ("Zipcode", True),
        ("postcode", True),
        ("PLZ", True),
        ("email_address", False),
        ("company_address", False),
        ("zipper", False),
        ("plzx", False),
    ],
)
def test_where_people_live_is_not_held_equal_silently(guessed, name, is_left_out):
    study, _ = guessed(people(sex=["f", "m"], hired=["yes", "no"], **{name: ["a", "b", "c"]}))
    assert study.columns("ignore") == [name] * is_left_out
    assert ("stand in for their origin" in study.because.get(name, "")) == is_left_out
    study.set_role(name, "")
    study, _ = guessed(
        people(sex=["f", "m"], hired=["yes", "no"], **{name: ["a", "b", "c"]}), study
    )
    assert name in study.columns_equal()  # what was undone stays undone


def test_age_is_offered_beside_others_and_not_asked_about(guessed):
    study, seen = guessed(people(sex=["f", "m"], age=range(20, 60), hired=["yes", "no"]))
    assert study.columns("protected") == ["sex"]
    assert [column["name"] for column in offered(study, seen)] == ["sex", "age"]
    assert "tick it" in offered(study, seen)[1]["why"]


@pytest.mark.parametrize(
    ("columns", "target"),
    [
        ({"hired": ["yes", "no"], "region": ["n", "s"]}, "hired"),
        ({"Eingestellt": ["ja", "nein"], "Absage": [0, 1]}, "Eingestellt"),
        ({"rejected": [0, 1]}, "rejected"),
        ({"decision": ["A", "B", "C"]}, "decision"),
        ({"hired": ["yes", "no"], "invited": ["yes", "no"]}, ""),  # either may be meant
        ({"hired": range(1990, 2020)}, ""),  # years
        ({"test_result": range(100)}, ""),
        ({"salary": range(1000, 4000, 7)}, "salary"),
        ({"base_pay": range(1000, 4000, 7), "bonus_pay": range(0, 900, 7)}, "base_pay"),
        ({"desired_salary": range(1000, 4000, 7)}, ""),
        ({"x": ["yes", "no"]}, ""),
    ],
)
def test_the_outcome_is_chosen_if_it_is_clear(guessed, columns, target):
    study, _ = guessed(people(sex=["f", "m"], **columns))
    assert study.target == target
    assert ("target" in study.why) == bool(target)


@pytest.mark.parametrize(
    ("name", "values", "favorable"),
    [
        ("hired", ["yes", "no"], "yes"),
        ("hired", ["Hired", "Not hired"], "Hired"),
        ("hired", ["Y", "N", "pending"], "Y"),
        ("hired", [0, 1], "1"),
        ("rejected", [0, 1], "0"),
        ("Absage", ["ja", "nein"], "nein"),
        ("denial", ["approved", "denied"], "approved"),
        ("decision", ["rejected", "other"], "other"),
        ("decision", ["A", "B"], ""),
        ("decision", ["accepted", "admitted", "denied"], ""),
        ("dismissed", ["true", "false"], "False"),
    ],
)
def test_what_people_want_is_chosen_if_it_is_clear(guessed, name, values, favorable):
    study, seen = guessed(people(sex=["f", "m"], **{name: values}))
    assert study.favorable == favorable
    assert ("favorable" in study.why) == bool(favorable)
    assert [v["text"] for v in seen["values"] if v["chosen"]] == [favorable] * bool(favorable)


def test_codes_whose_meaning_is_open_are_chosen_with_a_warning(guessed):
    study, _ = guessed(people(sex=["f", "m"], outcome=[0, 1]))
    assert study.favorable == "1"
    assert "check it" in study.why["favorable"]


def test_numbers_of_rows_are_left_out_and_measurements_are_not(guessed):
    frame = people(600, sex=["f", "m"], hired=["yes", "no"])
    draw = np.random.default_rng(0)
    frame["file_nr"] = draw.permutation(range(0, 60_000, 100))
    frame["weight_in_grams"] = draw.permutation(range(50_000, 110_000, 100))
    study, seen = guessed(frame)
    noticed = [n["column"] for n in seen["notices"] if "as identifiers do" in n["seen"]]
    assert study.columns("ignore") == ["file_nr"]
    assert noticed == ["weight_in_grams"]  # said, and left to the user


def test_copies_are_left_out_only_if_even_their_number_is_the_same(guessed):
    frame = people(600, sex=["f", "m"], hired=["yes", "no"], x=range(500), z=range(500))
    study, seen = guessed(pd.concat([frame, frame.head(60)]))
    assert any("copies of others" in n["seen"] for n in seen["notices"])
    assert "drop-copies" not in study.flags
    frame["nr"] = np.arange(600)
    study, _ = guessed(pd.concat([frame, frame.head(60)]))
    assert "drop-copies" in study.flags
    assert study.why["drop-copies"] == "even their nr is the same"


def test_another_outcome_is_guessed_about_anew(guessed):
    frame = people(sex=["f", "m"], hired=["yes", "no"])
    frame["refused"] = np.where(frame["hired"] == "yes", "no", "yes")
    study, _ = guessed(frame)
    assert (study.target, study.favorable, study.roles["refused"]) == ("hired", "yes", "ignore")
    study.target, study.favorable = "refused", ""
    guess_again(study)
    study, _ = guessed(frame, study)
    assert study.favorable == "no"
    assert study.columns("ignore") == ["hired"]
    assert study.columns("protected") == ["sex"]


def test_what_was_undone_stays_undone(guessed):
    frame = people(sex=["f", "m", "F"], age=[*range(20, 60), 999, 999, 999], hired=["yes", "no"])
    study, seen = guessed(frame)
    assert (study.fold, study.missing) == (["sex"], ["age=999"])
    assert study.columns_equal() == ["score", "age"]
    study.fold, study.missing = [], []
    study.set_role("sex", "")
    assert not guess(study, seen)
    study, _ = guessed(frame, study)
    assert (study.fold, study.missing, study.columns("protected")) == ([], [], [])


def test_parts_of_pay_and_hours(guessed):
    columns = {"base_pay": range(1000, 4000, 7), "bonus": range(0, 900, 7), "hours": [20, 40]}
    study, _ = guessed(people(sex=["f", "m"], **columns))
    assert study.is_number
    assert study.columns("hours") == ["hours"]
    assert study.columns("variable") == ["bonus"]
    assert study.includes == "no"
    assert study.is_base
    assert study.why["template"].startswith("chosen because the file has base and variable pay")
    leave_table(study)
    assert study.columns("ignore") == ["bonus"]
    assert "part of pay" in study.because["bonus"]
    assert not_in_pay(study) == ["bonus"]
    assert "template" not in study.why


def pay_of_people(**columns):
    """Return pay of women and men, with other columns in place of some."""
    named = {"base_pay": range(1000, 4000, 7), "bonus": range(0, 900, 7), "grade": ["G1", "G2"]}
    return people(**({"sex": ["f", "m"]} | named | columns))


def test_all_parts_of_pay_are_asked_about_in_one_run(guessed):
    frame = pay_of_people(origin=["a", "b"])
    study, _ = guessed(frame[["origin", *frame.columns.drop("origin")]])
    assert {"--base=base_pay", "--variable=bonus", "--category=grade"} <= set(study.options())
    assert "--protected=sex,origin" in study.options()  # the table is about the first of them
    assert study.compared == "total pay (base_pay + bonus)"
    assert study.columns_equal() == ["score", "grade"]
    total = frame["base_pay"] + frame["bonus"]
    study, _ = guessed(frame.assign(total_pay=total))
    expected = {"--target=total_pay", "--base=base_pay", "--variable=bonus"}
    assert expected <= set(study.options())
    assert study.compared == "total pay (total_pay)"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"zulage": range(0, 900, 7)}, "several columns"),
        ({"sex": ["a", "b"]}, "women and men"),
        ({"bonus": [0.0, np.nan, 50.0, 80.0]}, "is missing in"),
        ({"bonus": [-1, 50, 80]}, "is negative"),
    ],
)
def test_variable_pay_that_the_table_cannot_have_is_said(guessed, columns, words):
    study, seen = guessed(pay_of_people(**columns))
    assert (study.target, study.is_of_pay) == ("base_pay", False)
    assert words in table_lacks(study, seen)
    assert set(not_in_pay(study)) == {"bonus", *(n for n in columns if n == "zulage")}


@pytest.mark.parametrize("name", ["bonus_percent", "variable", "expected_bonus", "has_bonus"])
def test_columns_that_are_no_amount_of_pay_are_not_added_to_it(guessed, name):
    values = [0, 1] if name == "has_bonus" else range(20)
    frame = pay_of_people(**{name: values}).drop(columns="bonus")
    study, seen = guessed(frame)
    assert not study.is_of_pay
    assert not has_table(study, seen)


def test_whether_pay_includes_the_bonus_is_left_to_the_user(guessed):
    frame = pay_of_people().rename(columns={"base_pay": "salary"})
    study, seen = guessed(frame)
    assert study.target == "salary"
    assert not study.is_of_pay
    assert has_table(study, seen)
    assert not_in_pay(study) == ["bonus"]
    take_table(study, seen)
    assert "Does salary include bonus?" in study.lacks_law
