"""Numbers as outcomes of an audit: pay, prices, and what models predict."""

import re

import numpy as np
import pandas as pd
import pytest
from documents import breaches
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeRegressor

from skdisc import Audit, Rule
from skdisc.auditing import AuditReport
from skdisc.auditing._numbers import outliers
from skdisc.group import GroupDisparity
from skdisc.report._first_page import first_page
from skdisc.subgroup import DivExplorer

SEXES = ("female", "male")


def pay_table(n=1_500, gap=0.0, seed=0, spread=0.2):
    """Return people and their pay per hour, by grade and tenure; women of G2 have less."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["female", "male"], n)})
    X["grade"] = rng.choice(["G1", "G2", "G3"], n, p=[0.4, 0.35, 0.25])
    X["tenure"] = rng.integers(0, 25, n)
    log = X["grade"].map({"G1": 0.0, "G2": 0.25, "G3": 0.5}) + 0.01 * X["tenure"]
    log += np.log(1 - gap) * ((X["sex"] == "female") & (X["grade"] == "G2"))
    return X, pd.Series(20 * np.exp(log + rng.normal(0, spread, n)), name="pay")


def test_means_are_compared_as_scipy_compares_them():
    X, y = pay_table(gap=0.3)
    report = quick().fit(X, y).report_
    women, men = y[X["sex"] == "female"], y[X["sex"] == "male"]
    (row,) = [r for r in report.document["groups"] if r["group"] == "sex = 'female'"]
    welch = stats.ttest_ind(women, men, equal_var=False)
    assert (row["measure"], row["rate"]) == ("mean", pytest.approx(women.mean()))
    assert row["gap"] == pytest.approx(women.mean() - men.mean())
    # The interval inverts Welch's test and Hall's, so that it holds that of Welch alone.
    low, high = welch.confidence_interval(row["ci_level"])
    assert row["ci_low"] <= low + 1e-9
    assert high - 1e-9 <= row["ci_high"]
    assert row["ci_high"] - row["ci_low"] < 1.1 * (high - low)


def quick(**own):
    """Return an audit of one question."""
    return Audit(protected="sex", detectors="GroupDisparity", **{"output": "value"} | own)


def test_the_gap_that_matters_is_a_share_of_the_mean():
    X, y = pay_table()
    about = quick().fit(X, y).report_.document["about"]["outcome"]
    assert about["relevant_gap"] == pytest.approx(0.05 * y.mean())
    rule = Rule(relevant_gap="20%")
    about = quick(rule=rule).fit(X, y).report_.document["about"]
    assert about["outcome"]["relevant_gap"] == pytest.approx(0.2 * y.mean())


def first_sentences(report, language="en"):
    (column,) = first_page(report.document, language)["columns"]
    return " ".join([column["first"], *column["more"]])


@pytest.fixture(scope="module")
def gap_in_a_grade():
    X, y = pay_table(2_000, gap=0.15)
    return X, y, Audit(protected="sex", output="value").fit(X, y).report_


def test_the_first_page_says_percent_of_the_others_mean(gap_in_a_grade):
    X, y, report = gap_in_a_grade
    women, men = y[X["sex"] == "female"].mean(), y[X["sex"] == "male"].mean()
    told = first_sentences(report).replace("\u00a0", " ")
    assert f"got less pay than sex = 'male': on average {women:.1f} against {men:.1f}" in told
    assert f"{100 * (men - women) / men:.1f} % less (" in told
    (cause,) = [r for r in report.document["evidence"] if r["kind"] == "cause"]
    of_g2 = y[(X["sex"] == "male") & (X["grade"] == "G2")].mean()
    assert cause["rate_others"] == pytest.approx(of_g2)
    assert f"{-100 * cause['effect'] / of_g2:.1f} % less than the others with" in told
    assert "points" not in told


@pytest.mark.parametrize("language", ["de", "fr"])
def test_other_languages_have_the_same_numbers(gap_in_a_grade, language):
    numbers = {
        name: re.findall(r"\d+", re.sub(r"(?<=\d)[.,](?=\d)", "", first_sentences(report, name)))
        for name, report in ((name, gap_in_a_grade[2]) for name in ("en", language))
    }
    assert sorted(numbers[language]) == sorted(numbers["en"])


def test_where_less_is_better_the_side_with_more_is_worse_off(gap_in_a_grade):
    X, y, report = gap_in_a_grade
    answer = Audit(protected="sex", output="value", pos_label="low").fit(X, y).report_
    (low,), (high,) = answer.document["answers"], report.document["answers"]
    assert low["raw"]["worse_off"] == high["raw"]["better_off"]
    assert low["raw"]["better_off"] == high["raw"]["worse_off"]
    assert low["raw"]["gap"] == high["raw"]["gap"] < 0
    assert low["worst"]["effect"] == -high["worst"]["effect"]
    told = first_sentences(answer)
    assert "sex = 'male' got more pay than sex = 'female'" in told


def test_logarithms_compare_geometric_means():
    X, y = pay_table(gap=0.15)
    report = quick(outcome_scale="log").fit(X, y).report_
    women, men = (np.exp(np.log(y[X["sex"] == sex]).mean()) for sex in ("female", "male"))
    told = first_sentences(report).replace("\u00a0", " ")
    means = " against ".join(f"{mean:.1f} (geometric mean)" for mean in (women, men))
    assert f"on average {means}, {100 * (1 - women / men):.1f} % less" in told
    assert report.document["about"]["outcome"]["relevant_gap"] == pytest.approx(np.log(1.05))


def test_numbers_of_many_values_need_no_word():
    X, y = pay_table(400)
    report = quick(output="decision").fit(X, y).report_
    assert report.document["about"]["outcome"]["output"] == "value"
    assert any("different numbers" in note["seen"] for note in report.document["notices"])
    explicit = quick().fit(X, y).report_
    assert explicit.document["evidence"] == report.document["evidence"]
    assert not any("different numbers" in note["seen"] for note in explicit.document["notices"])


def test_a_favorable_value_makes_decisions_of_numbers():
    X, y = pay_table(400)
    rounded = (y // 1).astype(int)
    report = Audit(protected="sex", pos_label=rounded.max()).fit(X, rounded).report_
    assert "outcome" not in report.document["about"]


def test_no_number_of_a_person_is_printed(gap_in_a_grade):
    X, y, _ = gap_in_a_grade
    y = y.copy()
    y.iloc[0] = 123_456.789
    report = quick().fit(X, y).report_
    assert "far from all others" in report.to_text()
    assert "123456" not in report.to_json()


@pytest.mark.parametrize(
    ("own", "change", "message"),
    [
        ({"outcome_scale": "log"}, lambda y: y - y.min(), "needs positive numbers, and 1 row has"),
        ({}, lambda y: y - 2 * y.mean(), "because the mean is"),
        ({}, lambda y: y.map("{:.0f} €".format), r"of the form '00 €': write numbers alone"),
        (
            {},
            lambda y: y.map("{:.0f} €".format).where(y.index % 2 == 0, "45 000 CHF"),
            r"several currencies \(CHF, €\) cannot be compared: convert",
        ),
        ({}, lambda y: y > 20, "True and False"),
        ({"pos_label": "most"}, lambda y: y, "'high' .more is better, the default. or 'low'"),
        ({"detectors": "SliceLine"}, lambda y: y, "Those that compare numbers: .*GroupDisparity"),
        ({"metric": "false_positive_rate"}, lambda y: y, "is a rate of decisions"),
        ({"template": "ll144"}, lambda y: y, "is about decisions"),
        ({"rule": Rule(relevant_gap="many")}, lambda y: y, "such as"),
    ],
)
def test_what_cannot_be_compared_is_said(own, change, message):
    X, y = pay_table(200)
    with pytest.raises(ValueError, match=message):
        Audit(protected="sex", output="value", **own).fit(X, change(y))


def test_decisions_take_no_scale():
    X, y = pay_table(200)
    with pytest.raises(ValueError, match="output='value'"):
        Audit(protected="sex", outcome_scale="log").fit(X, y > y.mean())


@pytest.fixture(scope="module")
def scored():
    """Return people, labels, and a model of probabilities that favors men by 1 on its logit."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"sex": rng.choice(["female", "male"], 800), "skill": rng.normal(size=800)})
    return X, np.where(rng.random(800) < 0.5, "yes", "no"), Scores()


class Scores:
    """A fitted model of two classes, and of a number."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-X["skill"] - (X["sex"] == "male")))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


def mean_of_women(report):
    rows = report.document["groups"]
    (row,) = [r for r in rows if (r["group"], r["measure"]) == ("sex = 'female'", "mean")]
    return row


def test_probabilities_of_a_model_are_compared_in_points(scored):
    X, y, model = scored
    report = quick(output="probability", pos_label="yes").fit(X, y, model).report_
    p = model.predict_proba(X)[:, 1]
    women, men = (p[X["sex"] == sex].mean() for sex in ("female", "male"))
    row = mean_of_women(report)
    assert row["rate"] == pytest.approx(women)
    assert row["gap"] == pytest.approx(women - men)
    spread = 0.2 * np.sqrt(p.mean() * (1 - p.mean()))
    assert report.document["about"]["outcome"]["relevant_gap"] == pytest.approx(spread, abs=0.001)
    assert f"{100 * (men - women):.1f} points less" in first_sentences(report).replace("\xa0", " ")
    other = quick(output="probability", pos_label="no").fit(X, y, model).report_
    assert mean_of_women(other)["gap"] == pytest.approx(men - women)


def test_probabilities_need_no_model(scored):
    X, _, model = scored
    p = model.predict_proba(X)[:, 1]
    alone = quick(output="probability").fit(X, p).report_
    asked = quick(output="probability", pos_label="yes").fit(X, None, model).report_
    assert alone.document["groups"] == asked.document["groups"]
    with pytest.raises(ValueError, match="between 0 and 1"):
        quick(output="probability").fit(X, 10 * p)


def test_numbers_that_a_model_predicts_are_compared(scored):
    X, _, _ = scored

    def offer(X):
        return 100.0 - 10 * (X["sex"] == "female") + X["skill"]

    asked = quick().fit(X, None, offer)
    assert asked.report_.document["groups"] == quick().fit(X, offer(X)).report_.document["groups"]
    some = X.iloc[:300]
    again = asked.audit(some).document["groups"]
    assert again == quick().fit(some, offer(some)).report_.document["groups"]


def test_a_model_that_would_be_trained_is_refused(scored):
    X, _, _ = scored
    audit = Audit(DecisionTreeRegressor(), protected="sex", output="value")
    with pytest.raises(ValueError, match="fit it on other rows"):
        audit.fit(X[["skill"]].assign(sex=X["sex"] == "male"), X["skill"])


def test_outcomes_at_equal_scores_are_asked_where_labels_are_known(scored):
    X, _, model = scored
    rng = np.random.default_rng(8)
    y = np.where(rng.random(len(X)) < 1 / (1 + np.exp(-X["skill"])), "yes", "no")  # not by sex
    report = quick(output="probability", pos_label="yes").fit(X, y, model).report_
    verdicts = {row["null"]: row["verdict"] for row in report.document["verdicts"]}
    assert verdicts["calibration"] == "disparity found"
    alone = GroupDisparity(
        protected="sex", output="probability", measures=["calibration_difference"], pos_label="yes"
    ).fit(X, y, model)
    (answer,) = report.document["answers"]
    assert answer["calibration"]["group"] == "sex = 'female'"
    assert -answer["calibration"]["gap"] == pytest.approx(abs(alone.result_[0].effect))
    assert "At equal scores, the outcomes of sex = 'female' are better" in first_sentences(report)
    assert AuditReport.from_dict(report.document) == report


def test_what_remains_at_equal_columns_is_the_coefficient_of_a_linear_law():
    sm = pytest.importorskip("statsmodels.api")
    X, _ = pay_table(1_500, seed=4)
    rng = np.random.default_rng(4)
    pay = 20 + 0.2 * X["tenure"] + 4 * (X["grade"] == "G2") - 1.5 * (X["sex"] == "female")
    pay = pay + rng.normal(0, 3, len(X))
    report = Audit(protected="sex", output="value", detectors="DisparityPursuit").fit(X, pay)
    rows = report.report_.document["comparable"]
    (own,) = [row["effect"] for row in rows if row["group"] == "sex = 'female'"]
    design = pd.get_dummies(X, drop_first=True).astype(float).assign(one=1.0)
    fit = sm.OLS(pay, design).fit()
    assert own == pytest.approx(-fit.params["sex_male"], abs=0.5 * fit.bse["sex_male"])


def test_pages_speak_of_means(gap_in_a_grade):
    page = gap_in_a_grade[2].to_html()
    assert "Are the means of the groups equal?" in page
    assert "Are the rates of the groups equal?" not in page
    assert re.search(r"below the gap that matters \(\d+\.\d{1,3}\)<", page)


def test_settings_of_numbers_are_varied():
    X, y = pay_table(400)
    audit = quick().fit(X, y)
    table = audit.robustness(X, y)
    gaps = table[table["setting"] == "relevant_gap"]["value"].unique()
    assert list(gaps) == [None, "2.5%", "5%", "10%"]
    assert "relevant_ratio" not in set(table["setting"])
    assert "Are the means" in audit.report_.to_text()
    assert "Are the rates" not in audit.report_.to_text()


@settings(max_examples=8)
@given(factor=st.floats(1e-3, 1e3), is_log=st.booleans(), seed=st.integers(0, 50))
def test_the_currency_changes_numbers_and_no_answer(factor, is_log, seed):
    """Pay in another currency has other effects by this factor; ratios stay as they are."""
    X, y = pay_table(150, gap=0.2, seed=seed)
    scale = "log" if is_log else "difference"
    one, other = (
        quick(outcome_scale=scale).fit(X, pay).report_.document for pay in (y, factor * y)
    )
    rows = [d["verdicts"][0] for d in (one, other)]
    assert rows[0]["verdict"] == rows[1]["verdict"]
    assert rows[0]["p_value"] == pytest.approx(rows[1]["p_value"], rel=1e-6)
    gaps = [np.array([row["gap"] for row in d["groups"]]) for d in (one, other)]
    assert gaps[1] == pytest.approx(gaps[0] * (1 if is_log else factor), rel=1e-6)


def test_frequencies_count_as_repeated_rows():
    X, y = pay_table(300)
    n = np.arange(300) % 3 + 1
    counted = quick(weights="frequency").fit(X, y, sample_weight=n).report_.document
    repeated = quick().fit(X.loc[X.index.repeat(n)], y.repeat(n)).report_.document
    assert counted["verdicts"] == repeated["verdicts"]
    for one, other in zip(counted["groups"], repeated["groups"], strict=True):
        assert one | {"rate": other["rate"]} == other
        assert one["rate"] == pytest.approx(other["rate"], rel=1e-12)
    assert counted["about"]["n_rows"] == n.sum()


def test_clusters_widen_intervals():
    """Each person three times, as in a file of three years."""
    X, y = pay_table(200)
    X, y = (pd.concat([table] * 3, ignore_index=True) for table in (X, y))
    person = np.tile(np.arange(200), 3)
    rows = [
        quick().fit(X, y, **more).report_.document["groups"][0] for more in ({}, {"groups": person})
    ]
    width = [row["ci_high"] - row["ci_low"] for row in rows]
    assert width[1] > 1.5 * width[0]


def test_weighted_means_are_those_of_numpy():
    X, y = pay_table(400)
    weight = np.linspace(0.5, 2, 400)
    row = mean_of_women(quick().fit(X, y, sample_weight=weight).report_)
    is_woman = X["sex"] == "female"
    assert row["rate"] == pytest.approx(np.average(y[is_woman], weights=weight[is_woman]))
    men = np.average(y[~is_woman], weights=weight[~is_woman])
    assert row["gap"] == pytest.approx(row["rate"] - men)


def test_equal_numbers_have_no_answer():
    X, y = pay_table(200)
    both = ["GroupDisparity", "DisparityPursuit"]
    audit = Audit(protected="sex", output="value", detectors=both, random_state=0)
    report = audit.fit(X, y * 0 + 7).report_
    assert report.verdict == "insufficient evidence"
    for row in report.document["verdicts"]:
        assert row["reason"] == "all outcomes are equal"
        assert (row["p_value"], row["p_adjusted"]) == (1, 1)
    assert {row["ci_low"] for row in report.document["comparable"]} == {None}


@pytest.mark.slow
def test_detectors_of_numbers_corroborate():
    X, y = pay_table(300, gap=0.3)
    report = Audit(protected="sex", output="value", detectors="all").fit(X, y).report_
    ran = {line["detector"] for line in report.document["log"]}
    assert {"OaxacaBlinder", "EffectDecomposition", "SituationTesting"} <= ran
    reasons = {row["detector"]: row["reason"] for row in report.document["not_run"]}
    assert reasons["SliceLine"] == "compares decisions, and the outcomes are numbers"


def test_medians_stand_beside_the_means(gap_in_a_grade):
    X, y, report = gap_in_a_grade
    women, men = (np.median(y[X["sex"] == sex]) for sex in ("female", "male"))
    (median,) = [r["median"] for r in report.document["groups"] if r["group"] == "sex = 'female'"]
    assert median["value"] == float(f"{women:.3g}")  # no more digits: it is the pay of somebody
    assert median["gap"] == pytest.approx(women / men - 1)
    assert median["ci_low"] < median["gap"] < median["ci_high"]
    told = first_sentences(report).replace("\u00a0", " ")
    assert f"The medians are {women:.1f} and {men:.1f} (gap: " in told
    ends = [f"{-100 * median[end]:.1f} %" for end in ("ci_high", "ci_low")]
    assert " to ".join(ends) in told


def test_groups_in_which_nobody_varies_differ():
    """Two constants differ by permutation; nothing shows how much other people vary."""
    X, _ = pay_table(150)
    constant = np.where(X["sex"] == "female", 1000.0, 2000.0)
    report = Audit(protected="sex", output="value").fit(X, constant).report_
    told = first_sentences(report).replace("\u00a0", " ")
    assert "sex = 'female' got less" in told
    assert "50.0 % less (range unknown)" in told
    assert "differ little" not in told
    for verdict in report.document["verdicts"]:
        assert verdict["verdict"] == "disparity found"
    raw = [row for row in report.document["evidence"] if row["null"] != "conditional"]
    assert raw
    for row in [*raw, *report.document["groups"]]:
        assert row["ci_low"] is None
    assert not breaches(report.document)
    few = Audit(protected="sex", output="value").fit(X[:12], constant[:12]).report_
    (asked,) = [v for v in few.document["verdicts"] if v["null"] == "contextual"]
    assert "the numbers of each group of sex are all equal" in asked["reason"]
    assert "skewed" not in asked["reason"]


@pytest.mark.parametrize("n", [10, 40])
def test_a_first_table_of_two_wages(n):
    """No other column says anything: expectations leave no residuals, and no range has a width."""
    X = pd.DataFrame({"sex": ["woman", "man"] * n, "team": list("aabb") * (n // 2)})
    pay = np.where(X["sex"] == "woman", 10.0, 12.0)
    report = Audit(protected="sex", output="value").fit(X, pay).report_
    told = " ".join(report.to_text().replace("\u00a0", " ").split())
    assert "16.7 % less (range unknown)" in told
    assert "At equal team, 16.7 % less remain (range unknown)" in told
    assert "at equal columns -2.000 (range unknown)" in told
    assert "[" not in told
    assert "not compared" not in told
    questions = {v["null"]: v["verdict"] for v in report.document["verdicts"]}
    assert questions["marginal"] == questions["conditional"] == "disparity found"
    assert not breaches(report.document)


def test_households_that_agree_count_once():
    """8 households of 20 have one wage each: 4 and 4 of them divide in one of 70 ways."""
    for n, detector in ((8, GroupDisparity), (8, DivExplorer), (80, DivExplorer)):
        household = np.repeat(np.arange(n), 20)
        sex, team = np.where(household % 2, "woman", "man"), list("aabb") * (5 * n)
        X = pd.DataFrame({"sex": sex, "team": team})
        tests = []
        for wages in ((10.0, 12.0), (1 / 3, 1e6 / 7)):  # the means of the second pair are rounded
            pay = np.where(household % 2, *wages)
            result = detector(protected="sex", output="value").fit(X, pay, groups=household).result_
            tests.append(result.findings.table["p_value"].to_numpy())
        assert tests[0] == pytest.approx(tests[1])
        assert (tests[0] > 2 / special.comb(n, n // 2) - 1e-9).all()
        assert len(tests[0]) > 0 or n == 8


@pytest.mark.parametrize("is_clustered", [False, True])
def test_on_a_pay_scale_no_gap_of_rounding_is_found(is_clustered):
    """Everyone of a grade earns the same, to the cent: within grades all gaps are exactly 0."""
    rng = np.random.default_rng(4)
    grade = rng.integers(0, 5, 700)
    pay = 1_712.37 * 1.13**grade
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 700), "grade": [f"G{g}" for g in grade]})
    groups = np.arange(700) // 2 if is_clustered else None
    report = Audit(protected="sex", output="value").fit(X, pay, groups=groups).report_
    verdicts = {v["null"]: v for v in report.document["verdicts"]}
    assert {v["verdict"] for v in verdicts.values()} == {"no disparity found"}
    within = [f for f in report.document["families"] if "grade" in f["group"]]
    assert within
    raw = [f for f in within if f["null"] == "contextual"]
    assert raw
    assert [f["estimate"] for f in raw] == pytest.approx(np.zeros(len(raw)), abs=1e-6)
    assert "range unknown" not in report.to_text()


def test_numbers_below_0_are_no_shares():
    """Profits of a group may be more than 100 % below those of the others."""
    X, y = pay_table(300)
    profit = np.where(X["sex"] == "female", y - 2 * y.mean(), y)
    groups = quick().fit(X, profit).report_.document["groups"]
    assert groups
    assert not any("relative" in row for row in groups)


def test_decisions_and_logarithms_have_no_medians(gap_in_a_grade):
    X, y, _ = gap_in_a_grade
    for audit, outcome in ((quick(outcome_scale="log"), y), (quick(output="decision"), y > 25)):
        assert all("median" not in row for row in audit.fit(X, outcome).report_.document["groups"])


def test_how_well_scores_order_labels_is_shown_by_group(scored):
    X, _, model = scored
    rng = np.random.default_rng(9)
    p = model.predict_proba(X)[:, 1]
    y = np.where(rng.random(len(X)) < np.where(X["sex"] == "male", p, 0.5), "yes", "no")
    report = quick(output="probability", pos_label="yes").fit(X, y, model).report_
    rows = {
        row["group"]: row
        for row in report.document["groups"]
        if row["measure"] == "area_under_the_curve"
    }
    of = {sex: roc_auc_score(y[X["sex"] == sex] == "yes", p[X["sex"] == sex]) for sex in SEXES}
    women = rows["sex = 'female'"]
    assert women["rate"] == pytest.approx(of["female"])
    assert women["gap"] == pytest.approx(of["female"] - of["male"])
    assert women["ci_high"] < 0  # scores order men's labels, and not women's
    assert rows["sex = 'male'"]["gap"] == -women["gap"]
    (standard,) = [
        row
        for row in report.document["groups"]
        if (row["group"], row["measure"]) == ("sex = 'female'", "standardized_mean_difference")
    ]
    spread = np.sqrt(sum(p[X["sex"] == sex].var(ddof=1) for sex in SEXES) / 2)
    assert standard["gap"] == pytest.approx(mean_of_women(report)["gap"] / spread, rel=0.02)
    assert standard["ci_low"] < standard["gap"] < standard["ci_high"] < 0
    assert "area under the curve" in report.to_text()


@pytest.mark.statistics
def test_intervals_of_areas_cover_the_truth(scored):
    X, _, model = scored
    covered = []
    for seed in range(100):
        y = np.where(np.random.default_rng(seed).random(len(X)) < 0.5, "yes", "no")
        report = quick(output="probability", pos_label="yes").fit(X, y, model).report_
        rows = [r for r in report.document["groups"] if r["measure"] == "area_under_the_curve"]
        covered.append(rows[0]["ci_low"] <= 0 <= rows[0]["ci_high"])
    assert 0.89 <= np.mean(covered) <= 0.99


@pytest.mark.parametrize("pos_label", ["low", "high"])
def test_more_and_less_on_the_log_scale_are_shares_of_those_compared_with(pos_label):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 900)
    price = 1000 * np.exp(0.2 * rng.standard_normal(900)) * np.where(sex == "f", 1.5, 1)
    X = pd.DataFrame({"sex": sex, "town": rng.integers(0, 3, 900)})
    audit = Audit(protected="sex", output="value", outcome_scale="log", pos_label=pos_label)
    told = " ".join(audit.fit(X, pd.Series(price, name="price")).report_.to_text().split())
    means = pd.Series(np.log(price)).groupby(sex).mean()
    ratio = np.exp(means["f"] - means["m"])
    word, share = ("more", ratio - 1) if pos_label == "low" else ("less", 1 - 1 / ratio)
    assert f"{100 * share:.1f} % {word} (" in told.partition("Questions and answers")[0]


def test_where_it_is_worst_the_gap_is_all_of_it():
    rng = np.random.default_rng(0)
    sex, grade = rng.choice(["f", "m"], 3000), rng.choice(["a", "b", "c"], 3000)
    share = np.where(sex == "f", 0.85, 1) * np.where((sex == "f") & (grade == "b"), 0.85, 1)
    pay = 100 * share * np.exp(0.1 * rng.standard_normal(3000))
    X = pd.DataFrame({"sex": sex, "grade": grade})
    report = Audit(protected="sex", output="value").fit(X, pd.Series(pay, name="pay")).report_
    mean = pd.Series(pay).groupby([grade, sex]).mean()["b"]
    worst = report.document["answers"][0]["worst"]
    assert worst["group"] == "grade = 'b' and sex = 'f'"
    assert worst["effect"] == pytest.approx(mean["f"] - mean["m"], rel=0.1)
    assert worst["ci_low"] < mean["f"] - mean["m"] < worst["ci_high"]


def test_what_lies_far_is_told_on_the_scale_where_quartiles_are_even():
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 2, 3000)  # some are near 0, which is far on the logarithmic scale only
    assert not outliers(scores).any()
    pay = np.exp(rng.normal(8, 0.5, 3000))
    assert not outliers(pay).any()
    assert outliers(np.append(pay, [3.0, 10**7]))[-2:].all()
    assert outliers(np.append(scores, 30.0)).nonzero()[0].tolist() == [3000]


def test_where_half_of_all_numbers_are_equal_none_lies_far():
    marks = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], [50, 150, 600, 250, 100])
    assert not outliers(marks).any()
    assert not outliers(np.append(np.zeros(900), np.arange(1.0, 60.0))).any()
