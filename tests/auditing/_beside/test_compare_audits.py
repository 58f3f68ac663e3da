"""A comparison of two audits says what moved, and is not surprised by chance."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from documents import example
from scipy import stats

from skdisc import Audit, Rule
from skdisc.auditing import AuditComparison
from skdisc.cli import main


def audited(selected, n=1000, **settings):
    """Return an audit of counts: women and men, and who of them is selected."""
    table = {"attribute": "sex", "group": ["F", "M"], "n": n, "selected": selected}
    return Audit.from_counts(table, **settings)


def test_the_change_is_that_of_two_differences_of_proportions():
    before, after = audited([300, 500]), audited([400, 500])
    row = before.compare(after).evidence.iloc[0]
    assert (row["status"], row["change"]) == ("both", pytest.approx(0.1))
    error = np.sqrt(sum(p * (1 - p) / 1000 for p in (0.3, 0.5, 0.4, 0.5)))
    assert row["ci_low"] == pytest.approx(0.1 - 1.96 * error, abs=0.002)
    assert row["ci_high"] == pytest.approx(0.1 + 1.96 * error, abs=0.002)
    assert row["p_value"] == pytest.approx(2 * stats.norm.sf(0.1 / error), rel=0.1)


def test_back_and_forth_are_mirror_images():
    a, b = audited([300, 500]), audited([400, 500])
    there, back = a.compare(b).evidence.iloc[0], b.compare(a).evidence.iloc[0]
    assert there["change"] == -back["change"]
    assert there["ci_low"] == pytest.approx(-back["ci_high"])
    assert there["p_value"] == pytest.approx(back["p_value"])


def test_an_audit_does_not_differ_from_itself():
    a = audited([300, 500])
    same = a.compare(a)
    assert (same.verdicts["change"] == "same").all()
    assert (same.evidence["change"] == 0).all()
    assert (same.evidence["p_value"] == 1).all()
    assert not same.found_anew
    assert "same rows" in same.notes[0]


@pytest.mark.statistics
def test_intervals_cover_a_change_and_equal_worlds_are_seldom_told_apart():
    rng, p, covered = np.random.default_rng(0), [], []
    for _ in range(40):
        before, after = (
            audited(rng.binomial(400, rates).tolist(), n=400).document
            for rates in ([0.2, 0.6], [0.2, 0.6])
        )
        row = AuditComparison(before, after).evidence.iloc[0]
        p.append(row["p_value"])
        covered.append(row["ci_low"] <= 0 <= row["ci_high"])
    assert np.mean(np.array(p) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)
    assert np.mean(covered) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 40)
    assert np.quantile(p, 0.5) < 0.65  # or it would never tell anything


def test_a_gap_that_turned_is_new():
    one, other = audited([300, 500]), audited([500, 300])
    turned = one.compare(other)
    assert (turned.verdicts["change"] == "same").all()
    assert turned.found_anew
    assert other.compare(one).found_anew


@pytest.mark.parametrize("confirm", [None, 0.5])
def test_a_gap_that_turned_is_new_in_halves_held_out_too(confirm):
    sex = np.repeat(["f", "m"], 1500)
    hired = np.tile(np.arange(10), 300) < np.where(sex == "f", 3, 6)
    audit = Audit(detectors="GroupDisparity", protected="sex", confirm=confirm, random_state=0)
    X = pd.DataFrame({"sex": sex})
    one, other = (audit.fit(X, y.astype(int)).report_ for y in (hired, hired[::-1]))
    for comparison in (one.compare(other), other.compare(one)):
        assert comparison.found_anew
        assert comparison.evidence["has_turned"].all()
    assert not one.compare(one).found_anew


def test_findings_appear_and_disappear():
    found, nothing = audited([300, 500]), audited([500, 500])
    gone, new = found.compare(nothing), nothing.compare(found)
    assert gone.evidence["status"].tolist() == ["disappeared"]
    row, back = gone.evidence.iloc[0], new.evidence.iloc[0]
    assert row[["effect_before", "effect_after"]].tolist() == pytest.approx([-0.2, 0.0])
    assert (row["change"], back["change"]) == (pytest.approx(0.2), -row["change"])
    error = np.sqrt(sum(p * (1 - p) / 1000 for p in (0.3, 0.5, 0.5, 0.5)))
    assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * 1.96 * error, rel=0.02)
    assert new.evidence["status"].tolist() == ["appeared"]
    assert new.found_anew
    assert not gone.found_anew
    assert gone.verdicts.loc[0, ["before", "after", "change"]].tolist() == [
        "disparity found",
        "no disparity found",
        "other",
    ]
    assert "disparity found -> no disparity found" in gone.to_text()
    assert nothing.compare(nothing).evidence.empty


def test_questions_of_one_audit_only_are_named():
    table = {"attribute": "race", "group": ["b", "w"], "n": 1000, "selected": [300, 500]}
    race = Audit.from_counts(table, rule=Rule(relevant_gap=0.2))
    both = audited([300, 500]).compare(race)
    assert both.verdicts["change"].tolist() == ["only before", "only after"]
    assert both.evidence["status"].tolist() == ["disappeared", "appeared"]
    changed = "protected (['sex'] before, ['race'] after), relevant_gap (None before, 0.2 after)"
    assert both.notes[0] == f"The audits differ in {changed}."
    assert max(map(len, both.to_text().splitlines())) <= 80


def test_held_out_estimates_are_compared_where_both_have_them():
    documents = [json.loads(audited(k).to_json()) for k in ([300, 500], [400, 500])]
    for document, effect in zip(documents, (-0.15, -0.05), strict=True):
        numbers = {"effect": effect, "ci_low": effect - 0.1, "ci_high": effect + 0.1}
        numbers["ci_level"] = 0.95
        document["evidence"][0] |= {f"held_out_{n}": v for n, v in numbers.items()}
    row = AuditComparison(*documents).evidence.iloc[0]
    assert row["change"] == pytest.approx(0.1)
    assert row["ci_high"] - row["ci_low"] == pytest.approx(0.2 * np.sqrt(2))


def test_the_command(tmp_path, capsys):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, selected in zip(paths, ([500, 500], [300, 500]), strict=True):
        path.write_text(audited(selected).to_json(), encoding="utf-8")
    assert main(["compare", *map(str, paths)]) == 1
    said = r"appeared: \+0\.000 -> -0\.200: -0\.200 \[-0\.\d+, -0\.\d+\], p = .*; 1,000 people"
    assert re.search(said, capsys.readouterr().out)
    assert main(["compare", *map(str, paths[::-1])]) == 0
    (tmp_path / "c.json").write_text("[]", encoding="utf-8")
    (tmp_path / "e.csv").write_text("a,b", encoding="utf-8")
    for bad in ("c.json", "d.json", "e.csv"):
        assert main(["compare", str(paths[0]), str(tmp_path / bad)]) == 2
        assert bad in capsys.readouterr().err


def test_pages_are_compared_as_documents_are(tmp_path, capsys):
    pytest.importorskip("jinja2")
    audited([500, 500]).save(tmp_path / "a.html")
    audited([300, 500]).save(tmp_path / "b.json")
    assert main(["compare", str(tmp_path / "a.html"), str(tmp_path / "b.json")]) == 1
    assert "appeared: +0.000 -> -0.200: -0.200 [" in capsys.readouterr().out


def test_tables_are_frames():
    both = audited([300, 500]).compare(audited([400, 500]))
    assert isinstance(both.verdicts, pd.DataFrame)
    assert repr(both) == "AuditComparison(0 of 1 verdicts differ)"


def two_models(seed, n=1000, gap=0.3, flipped=0.1):
    """Return people, and what two models decided that differ about a share of the women."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(["u", "v"], n)})
    before = rng.random(n) < 0.6 - gap * (X["sex"] == "F")
    helped = (rng.random(n) < flipped) & (X["sex"] == "F")
    return X, before.astype(int), (before | helped).astype(int)


def both_audits(X, before, after, **settings):
    audit = Audit(protected="sex", detectors=["GroupDisparity"], **settings)
    return [audit.fit(X, d).report_ for d in (before, after)]


def paired_errors(X, before, after):
    """Return the standard error of the change of the gap of women, from the people."""
    change, women = after - before, (X["sex"] == "F").to_numpy()
    return np.sqrt(sum(change[m].var(ddof=0) / m.sum() for m in (women, ~women)))


def test_the_interval_of_two_models_is_that_of_the_same_people():
    X, before, after = two_models(0)
    one, two = both_audits(X, before, after)
    paired = one.compare(two, X, (before, after)).evidence.set_index("measure")
    row = paired.loc["selection_rate"]
    women = X["sex"] == "F"
    change = (after - before)[women].mean() - (after - before)[~women].mean()
    assert row["paired"]
    assert row["change"] == pytest.approx(change)
    width = 2 * 1.96 * paired_errors(X, before, after)
    assert row["ci_high"] - row["ci_low"] == pytest.approx(width, rel=0.1)
    alone = one.compare(two).evidence.set_index("measure").loc["selection_rate"]
    assert alone["change"] == row["change"]
    assert alone["ci_high"] - alone["ci_low"] > 2 * width
    assert not alone["paired"]
    assert "skdisc compare --data" in one.compare(two).notes[-1]
    assert "same people" in " ".join(one.compare(two, X, (before, after)).notes)


def test_a_finding_that_is_gone_has_both_values_and_a_paired_interval():
    X, before, _ = two_models(1)
    women = (X["sex"] == "F").to_numpy()
    rate = before[~women].mean()
    after = before.copy()
    after[
        np.flatnonzero(women & (before == 0))[: int(rate * women.sum() - before[women].sum())]
    ] = 1
    comparison = both_audits(X, before, after)[0].compare(
        both_audits(X, before, after)[1], X, (before, after)
    )
    row = comparison.evidence.set_index("measure").loc["selection_rate"]
    assert (row["status"], row["paired"]) == ("disappeared", True)
    assert row["effect_after"] == pytest.approx(after[women].mean() - rate)
    assert row["ci_low"] < row["change"] < row["ci_high"]
    assert row["ci_low"] > 0.1
    assert re.search(r"disappeared: -0\.\d+ -> [+-]0\.\d+: \+0\.\d+ \[", comparison.to_text())


@pytest.mark.statistics
def test_paired_intervals_cover_the_change():
    """Women are helped by .1 of those rejected: the gap changes by .1 times their share."""
    covered, n = 0, 60
    for seed in range(n):
        X, before, after = two_models(seed, n=600)
        one, two = both_audits(X, before, after)
        row = one.compare(two, X, (before, after)).evidence.set_index("measure")
        row = row.loc["selection_rate"]
        covered += row["ci_low"] <= 0.1 * 0.7 <= row["ci_high"]
    assert covered / n > 0.95 - 3 * np.sqrt(0.05 * 0.95 / n)


def test_people_and_decisions_come_together():
    X, before, after = two_models(2, n=200)
    one, two = both_audits(X, before, after)
    with pytest.raises(ValueError, match=r"both X and decisions"):
        one.compare(two, X)
    with pytest.raises(ValueError, match="199 rows; 200 were audited"):
        one.compare(two, X[1:], (before[1:], after[1:]))
    with pytest.raises(ValueError, match="those before and after, got 3"):
        one.compare(two, X, (before, after, after))


@pytest.mark.slow
def test_the_command_pairs_two_models_of_one_file(tmp_path, capsys):
    X, before, after = two_models(3)
    y = np.random.default_rng(0).integers(0, 2, len(X))
    table = X.assign(hired=y, one=before, two=after)
    file = tmp_path / "people.csv"
    table.to_csv(file, index=False)
    reports = []
    for name, other in (("one", "two"), ("two", "one")):
        reports.append(str(tmp_path / f"{name}.json"))
        options = ["--target=hired", "--protected=sex", "--favorable=1", f"--predictions={name}"]
        options += [f"--ignore={other}", "--detectors=GroupDisparity", "--seed=0"]
        main(["audit", str(file), *options, f"--report={reports[-1]}"])
    capsys.readouterr()
    main(["compare", *reports])
    alone = capsys.readouterr().out
    assert "skdisc compare --data" in " ".join(alone.split())
    main(["compare", *reports, f"--data={file}"])
    paired = capsys.readouterr().out
    assert "same people" in " ".join(paired.split())

    def widths(text):
        ends = re.findall(r"\[([+-][\d.]+), ([+-][\d.]+)\]", text)
        return [float(high) - float(low) for low, high in ends]

    assert widths(paired)[0] < widths(alone)[0] / 1.5
    for other, said in ((table[1:], "other rows than"), (table[["sex"]], "there is no column")):
        other.to_csv(tmp_path / "less.csv", index=False)
        assert main(["compare", *reports, f"--data={tmp_path / 'less.csv'}"]) == 2
        assert said in capsys.readouterr().err


def test_shares_who_receive_variable_pay_differ_by_points():
    text = AuditComparison(example(), example()).to_text()
    head, rest = text.split("Pay: women's is lower by, in percent, and the change in points", 1)
    assert "Pay:" not in head
    lines = rest.split("Evidence")[0].strip().splitlines()
    for name, numbers in zip(lines[::2], lines[1::2], strict=True):
        assert numbers.endswith(" points") == name.startswith("  (e)")
    assert "points" in rest


def test_gaps_of_pay_stand_beside_their_change():
    before, after = example(), example()
    for document, gap in ((before, 0.20), (after, 0.15)):
        for row in document["pay"]:
            if row["figure"] == "mean" and row["component"] == "total":
                row |= {"gap": gap, "ci_low": gap - 0.03, "ci_high": gap + 0.04, "ci_level": 0.95}
    text = AuditComparison(before, after).to_text()
    # sqrt(.03^2 + .04^2) = .05 to both sides
    assert "20.0 [17.0, 24.0] -> 15.0 [12.0, 19.0]: change -5.0 [-10.0, 0.0]" in text
    assert "(f) share of women in quarter 1, " in text
    assert "are too wide" in " ".join(text.split())


def test_reports_of_pay_in_other_units_are_not_compared():
    public, monthly = example(), example()
    public["about"]["disclosure"] = "public"
    public["about"].pop("outcome", None)
    monthly["about_pay"]["columns"]["hours"] = None
    for other, said in (
        (public, "first report of pay is internal, the second public"),
        (monthly, "first report of pay is per hour, the second not divided by hours"),
    ):
        with pytest.raises(ValueError, match=said):
            AuditComparison(example(), other)
    assert len(AuditComparison(public, public).pay)


def test_notes_on_changes_of_pay_say_how_sure_they_are_and_of_joined_ones_only_if_there_are_some():
    before, after = example(), example()
    after["about_pay"]["joined"] = ["A", "B"]
    row = next(row for row in after["pay"] if row["figure"] == "category")
    after["pay"].append(row | {"group": "other categories"})
    assert "with 95 %" in (text := " ".join(AuditComparison(before, after).notes))
    assert "were joined" in text
    for document in (before, after):
        document["pay"] = [row for row in document["pay"] if row["figure"] != "category"]
    assert "were joined" not in " ".join(AuditComparison(before, after).notes)


def test_what_one_audit_does_not_ask_has_not_disappeared():
    before, after = example(), example()
    nulls = {row["null"] for row in before["evidence"]} & {"conditional"}
    assert nulls
    for name in ("verdicts", "evidence", "figures", "families"):
        after[name] = [row for row in after[name] if row.get("null") != "conditional"]
    after["figures"] = [row for row in after["figures"] if row["what"] != "equal"]
    text = AuditComparison(before, after).to_text()
    assert "people; not asked about after" in text
    assert "disappeared" not in text
    assert "people; not asked about before" in AuditComparison(after, before).to_text()


def test_a_column_that_is_no_longer_audited_is_not_asked_about():
    """That the question is asked about another column does not count."""
    before, after = example(), example()
    for name in ("verdicts", "evidence", "figures", "families", "groups"):
        after[name] = [row for row in after[name] if "race" not in str(row)]
    assert {row["null"] for row in after["verdicts"]} >= {"marginal"}
    text = AuditComparison(before, after).to_text()
    assert "people; not asked about after" in text
    assert "disappeared" not in text


def test_numbers_of_another_name_are_said_to_differ():
    """They may be in other units, such as pay in cents."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 300)})
    pay = pd.Series(rng.normal(3000, 300, 300), name="pay")
    audit = Audit(protected="sex", output="value")
    first, second = (audit.fit(X, y).report_ for y in (pay, (100 * pay).rename("cents")))
    assert "the numbers compared ('pay' before, 'cents' after)" in " ".join(
        first.compare(second).notes
    )
    assert not any("the numbers compared" in note for note in first.compare(first).notes)
