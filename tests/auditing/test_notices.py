"""What an audit notices in a table by itself."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit
from skdisc.auditing import _notices as notices
from skdisc.cli import main
from skdisc.report._audit_page import _words as words
from skdisc.report._first_page import LANGUAGES


def people(n=400):
    """Return a table and outcomes that follow none of its columns."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 71, n),
            "score": rng.normal(size=n),
            "town": rng.choice(["a", "b", "c"], n),
        }
    )
    return X, rng.integers(0, 2, n)


def named(found):
    """Return the columns that notes are about."""
    return [note.column for note in found]


def test_columns_that_are_the_outcome_in_other_words_are_named():
    X, y = people()
    rng = np.random.default_rng(1)
    X["reject"] = 1 - y
    X["answer"] = np.where(y == 1, "hired", "sorry")
    X["reason"] = np.where(y == 1, "", rng.choice(["late", "no license"], len(y)))
    X["points"] = np.where(y == 1, 60, 20) + rng.uniform(0, 30, len(y))
    X["id"] = [f"p{i}" for i in range(len(y))]
    X["guess"] = np.where(rng.uniform(size=len(y)) < 0.9, y, 1 - y)
    found = notices.outcome_columns(X, y, ["sex"])
    assert named(found) == ["reject", "answer", "reason", "points"]
    assert all(note.above for note in found)
    assert found[0].option == "leave it out: --ignore reject"
    assert "threshold" in found[3].seen


def test_missing_numbers_and_few_slips_do_not_hide_the_outcome():
    X, y = people()
    X["points"] = np.where(y == 1, 60.0, 20.0)
    X.loc[y == 0, "points"] = np.nan
    X["points"] += np.random.default_rng(2).uniform(0, 30, len(y))
    X["reject"] = 1 - y
    X.loc[:2, "reject"] = y[:3]
    found = notices.outcome_columns(X, y, ["sex"])
    assert named(found) == ["points", "reject"]
    assert "nearly all rows" in found[1].seen


def test_a_time_until_the_outcome_is_named():
    """Weeks until an arrest, at most 52: 4 of 114 people are arrested in the last week."""
    rng = np.random.default_rng(0)
    arrested = np.r_[np.ones(114), np.zeros(318)]
    week = np.where(arrested == 1, rng.integers(1, 52, 432), 52)
    week[:4] = 52
    found = notices.outcome_columns(pd.DataFrame({"week": week}), 1 - arrested)
    assert named(found) == ["week"]
    assert "nearly all rows" in found[0].seen


def test_a_table_without_such_columns_has_no_notice():
    X, y = people()
    assert not notices.outcome_columns(X, y, ["sex"])
    assert not notices.codes_of_missing(X)
    assert not notices.spellings(X, ["sex"])
    assert not notices.missing_with(X, ["sex"])
    assert not notices.copies(X, y)
    assert not notices.small_groups(X, ["sex"], 0.05)


@pytest.mark.parametrize("codes", [[999], [-1], [999, 998], [-9, 999], [-99]])
def test_codes_of_missing_values_are_named(codes):
    X, _ = people()
    for i, code in enumerate(codes):
        X.loc[40 * i : 40 * i + 39, "age"] = code
    found = notices.codes_of_missing(X, least=10)
    assert sorted(re.search(r"--missing age=(\S+)", n.option)[1] for n in found) == sorted(
        map(str, codes)
    )


@pytest.mark.parametrize(
    "values",
    [
        lambda rng, n: np.where(rng.uniform(size=n) < 0.9, 0, rng.integers(1000, 5000, n)),  # bonus
        lambda rng, n: rng.lognormal(3, 1.5, n),  # its largest values stand alone
        lambda rng, n: rng.integers(-1, 2, n),
        lambda rng, n: rng.integers(-1, 12, n),
        lambda rng, n: np.where(rng.uniform(size=n) < 0.1, 99, rng.integers(1, 100, n)),
    ],
)
def test_numbers_that_are_no_codes_are_not_named(values):
    n = 2000
    assert not notices.codes_of_missing(pd.DataFrame({"x": values(np.random.default_rng(0), n)}))


def test_spellings_of_few_people_are_not_named():
    X = pd.DataFrame({"sex": ["f"] * 50 + ["F"] * 3 + ["m"] * 50})
    (note,) = notices.spellings(X, ["sex"], least=10)
    assert "1 of fewer than 10 people" in note.seen
    assert "'F'" not in note.seen


def test_spellings_of_the_favorable_outcome_say_how_they_count():
    values = ["yes"] * 50 + ["Yes "] * 20 + ["no"] * 30
    (note,) = notices.favorable_spellings("label", values, ["yes"])
    assert note.done == "'Yes ' (20) count as unfavorable"
    (note,) = notices.favorable_spellings("label", values, ["yes", "Yes "])
    assert note.done == "all count as favorable"
    assert not notices.favorable_spellings("label", values, ["no"])


def test_missing_values_that_go_with_a_protected_column_are_named():
    X, _ = people(2000)
    rng = np.random.default_rng(3)
    X["income"] = np.where(
        rng.uniform(size=2000) < np.where(X["sex"] == "f", 0.3, 0.05), np.nan, rng.normal(size=2000)
    )
    X["house"] = np.where(rng.uniform(size=2000) < 0.2, np.nan, 1.0)
    (note,) = notices.missing_with(X, ["sex"])
    assert note.column == "income"
    assert "where sex is 'f'" in note.seen


@pytest.mark.parametrize("n_gone", [0, 3])
def test_numbers_of_people_are_named(n_gone):
    """A table of counts, with a few combinations that nobody has, and one of people."""
    cells = pd.MultiIndex.from_product([list("fm"), list("abcdef"), ["yes", "no"]])
    table = cells.to_frame(index=False, name=["sex", "department", "admitted"])[n_gone:]
    table["Freq"] = np.random.default_rng(0).integers(0, 400, len(table))
    y = table.pop("admitted")
    (note,) = notices.numbers_of_people(table, y)
    assert (note.column, note.above) == ("Freq", True)
    assert "--counts Freq" in note.option
    assert not notices.numbers_of_people(table.assign(Freq=table["Freq"] / 2), y)
    assert not notices.numbers_of_people(pd.concat([table, table]), [*y, *y])
    assert not notices.numbers_of_people(*people())


def test_small_groups_stand_in_one_line():
    X = pd.DataFrame({"sex": ["f"] * 500 + ["m"] * 470 + ["F"] * 29 + ["d"] + [None] * 36})
    (note,) = notices.small_groups(X, ["sex"], 0.05, least=10)
    assert note.seen == "people: 36 without a value, 30 in 2 small groups"


@pytest.mark.parametrize("frequency", [None, 2])
def test_categories_that_nobody_has_are_no_people(frequency):
    kept = pd.Categorical(["f"] * 500 + ["m"] * 470, categories=["f", "F", "m", "divers"])
    X = pd.DataFrame({"sex": kept})
    counted = None if frequency is None else np.full(len(X), frequency)
    assert not notices.small_groups(X, ["sex"], 0.05, frequency=counted)
    assert not notices.spellings(X, ["sex"], frequency=counted)


def test_all_forms_of_the_report_show_notices_above_the_answer():
    X, y = people()
    X["reject"] = 1 - y
    report = Audit(protected="sex", detectors="GroupDisparity").fit(X, y).report_
    (note,) = [n for n in report.document["notices"] if n["above"]]
    assert note["column"] == "reject"
    for text in (report.to_text(), report.to_markdown(), report.to_html()):
        text = " ".join(text.replace("\\", "").split())
        assert (
            0
            < text.index("leave it out: --ignore reject")
            < text.lower().index(report.verdict, text.index("Noticed in the table"))
        )
    assert type(report).from_json(report.to_json()) == report


def test_public_tables_have_no_false_notice(load):
    roles = {
        "adult": ("income", [">50K"], ["sex", "race"]),
        "german": ("credit", None, ["personal_status"]),
        "compas": ("two_year_recid", [0], ["sex", "race"]),
    }
    for name, (target, favorable, protected) in roles.items():
        frame = load(name)
        favorable = favorable or [frame[target].mode()[0]]
        outcome = frame[target].isin(favorable).astype(int).to_numpy()
        X = frame.drop(columns=target)
        found = [
            *notices.outcome_columns(X, outcome, protected),
            *notices.codes_of_missing(X, 10),
            *notices.spellings(X, protected, 10),
            *notices.numbers_of_people(X, outcome),
        ]
        assert not found, (name, list(map(str, found)))


def audited(path, tmp_path, capsys, *options):
    """Return what the command says about a table of people who apply, and its document."""
    report = tmp_path / "report.json"
    command = ["audit", str(path), "--target=Eingestellt", "--favorable=yes"]
    main([*command, "--protected=Geschlecht", f"--report={report}", *options])
    return capsys.readouterr().out, json.loads(report.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_options_on_the_screen_lead_to_the_right_answer(data_dir, tmp_path, capsys):
    """A messy table: the test alone decides, and women have lower results in it."""
    path = data_dir / "strangers" / "messy_cp1252.csv"
    if not path.is_file():
        pytest.skip("the table is not there")
    text, document = audited(path, tmp_path, capsys)
    assert document["about"]["sentence"].endswith("favorable is 'Yes', 'yes', 'yes '.")
    top = " ".join(text.partition("\nGeschlecht: ")[0].split())
    for part in (
        *("read as cp1252", "read as percent", "999 in 332 rows", "'f' (1,511), 'F' (29)"),
        *("'Yes' (147), 'yes ' (118)", "90 rows are copies", "'Absage': each of its values"),
    ):
        assert part in top
    offered = re.findall(
        r": (--(?:drop-copies|fold|ignore|missing)(?: (?!')[^\s)]+| '[^']+')?)", top
    )
    assert len(offered) == 4
    text, document = audited(path, tmp_path, capsys, *shlex.split(" ".join(offered)))
    rows = {r["group"]: r for r in document["comparable"]}
    assert set(rows) == {"Geschlecht = 'f'", "Geschlecht = 'm'"}
    for row in rows.values():
        assert row["ci_low"] < 0 < row["ci_high"]
        assert row["ci_high"] - row["ci_low"] < 0.08
    conditional = [v for v in document["verdicts"] if v["null"] == "conditional"]
    assert all(v["verdict"] != "disparity found" for v in conditional)
    assert not any(n["above"] for n in document["notices"] if n["column"] is not None)
    assert main(["verify", str(tmp_path / "report.json"), str(path)]) == 0


@pytest.mark.parametrize(
    ("values", "text"),
    [(["yes"], "yes"), (["a", "b"], "a, b"), (["yes "], "'yes '"), (["no", "No"], "'no', 'No'")],
)
def test_labels_are_quoted_where_blanks_or_case_tell_them_apart(values, text):
    assert words.labels(values) == text


def test_other_spellings_count_as_favorable_unless_only_the_exact_one_is_meant(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 300), "out": rng.choice(["yes", "Yes", "no"], 300)}
    )
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    command = ["audit", str(path), "--target=out", "--favorable=yes", "--protected=sex"]
    for more, favorable in (([], ["Yes", "yes"]), (["--favorable-exact"], ["yes"])):
        report = tmp_path / "r.json"
        main([*command, f"--report={report}", *more])
        document = json.loads(report.read_text(encoding="utf-8"))
        assert sorted(document["about"]["favorable"]) == favorable
        (note,) = [n for n in document["notices"] if "case or blanks" in n["seen"]]
        assert note["above"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_weights_are_said_above_the_answers(language):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 400)})
    y, weight = rng.integers(2, size=400), np.r_[np.zeros(20), np.full(380, 1.0)]
    weight[20:40] = 100.0  # 20 rows have 2,000 of 2,360

    def told(weight, **settings):
        audit = Audit(protected="sex", detectors=["GroupDisparity"], **settings)
        report = audit.fit(X, y, sample_weight=weight).report_
        return " ".join(report.to_text(language=language).split())

    said = {"en": "are weighted", "de": "sind gewichtet", "fr": "sont pondérés"}[language]
    left_out = {"en": "20 rows of weight 0", "de": "20 Zeilen mit", "fr": "20 lignes de poids"}
    text = told(weight)
    assert said in text
    assert re.search(r"380 (rows|Zeilen|lignes) .* 28 (without|ohne|sans)", text)
    assert left_out[language] in text
    assert said not in told(None)
    assert said not in told(np.ones(400))
    repeated = told(weight.astype(int), weights="frequency")
    assert said not in repeated
    assert left_out[language] in repeated


def test_several_favorable_values_are_no_spellings_of_each_other():
    y = np.array(["A"] * 30 + ["B"] * 30 + ["C"] * 30)
    assert not notices.favorable_spellings("label", y, ["A", "B"])
    (note,) = notices.favorable_spellings("label", np.r_[y, ["b"] * 12], ["A", "B"])
    assert "'B' (30), 'b' (12)" in note.seen
    assert "'A'" not in note.seen


def test_where_all_outcomes_are_equal_no_column_names_people():
    X = pd.DataFrame({"person": np.arange(300) // 3})
    assert notices.rows_of_people(X, 1.0 * X["person"].to_numpy())
    for value in (7.0, 17.35):  # the mean of the second is another number, by rounding
        assert notices.rows_of_people(X, np.full(300, value)) == []


@pytest.mark.parametrize("varies", [False, True])
def test_a_column_names_people_whose_sex_is_always_the_same(varies):
    """Their decisions may differ, as those on several applications do, but not at random."""
    rng = np.random.default_rng(0)
    person = rng.permutation(np.repeat(np.arange(200), 5))
    sex = rng.choice(["f", "m"], 200)[person]
    if varies:  # as within days, or places
        sex[rng.integers(0, 1000, 3)] = "other"
    X = pd.DataFrame({"person": person, "sex": sex, "month": rng.integers(1, 13, 1000)})
    y = (rng.random(1000) < rng.beta(2, 2, 200)[person]).astype(int)
    for groups in (None, person):
        report = Audit(protected="sex", detectors=["GroupDisparity"]).fit(X, y, groups=groups)
        named = [line for line in report.report_.to_text().splitlines() if "'person': 200" in line]
        assert len(named) == (not varies and groups is None)


def test_few_rows_of_one_sex_do_not_make_a_name_of_people():
    """Of a hundred codes with two rows each, all are alike by chance if nearly all are women."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"code": np.repeat(np.arange(100), 2), "sex": "f"})
    X.loc[:1, "sex"] = "m"
    y = 1.0 * np.repeat(rng.integers(0, 2, 100), 2)
    assert notices.rows_of_people(X, None, ["sex"], y) == []
    X["sex"] = np.repeat(rng.choice(["f", "m"], 100), 2)
    assert len(notices.rows_of_people(X, None, ["sex"], y)) == 1
    # First names tell sex as well, and nothing else.
    assert notices.rows_of_people(X, None, ["sex"], 1.0 * rng.integers(0, 2, 200)) == []
