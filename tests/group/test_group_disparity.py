"""GroupDisparity against counts made by hand, by pandas and by the measures themselves."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skdisc import BlackBox, measures
from skdisc.datasets import make_loan
from skdisc.group import GroupDisparity
from skdisc.report import to_html, to_text


def people(counts):
    """Return one row per person from {(value, ...): (favored, all)}, and the decisions."""
    rows, decided = [], []
    for values, (x, n) in counts.items():
        rows += [values] * n
        decided += [1] * x + [0] * (n - x)
    names = ["sex", "race"][: len(rows[0])]
    return pd.DataFrame(rows, columns=names), np.array(decided)


@pytest.fixture
def hired():
    """Return the example of the four-fifths rule: 80 applicants, 48 of them hired; 40, 12."""
    return people({("m",): (48, 80), ("f",): (12, 40)})


def test_difference_and_ratio_of_the_rates(hired):
    result = GroupDisparity(protected="sex").fit(*hired).result_
    table = result.to_frame().set_index("measure")
    assert list(table["subject"]) == ["sex = 'f'"] * 2
    assert list(table["reference"]) == ["sex = 'm'"] * 2
    assert table["effect"].to_dict() == pytest.approx(
        {"mean_difference": -0.3, "impact_ratio": -0.5}
    )
    assert table["estimate"].to_dict() == pytest.approx(
        {"mean_difference": 0.3, "impact_ratio": 0.5}
    )
    assert table["outcome"].tolist() == pytest.approx([0.3, 0.3])
    report = measures.mean_difference_report(None, hired[1], protected=hired[0]["sex"]).iloc[0]
    row = table.loc["mean_difference"]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((-report.ci_high, -report.ci_low))
    assert row["p_value"] == pytest.approx(report.p_value)
    assert (result.verdict, result.n_tested, result.n_found) == ("disparity found", 1, 1)
    assert result.by_value == {"sex=f": (1, 1), "sex=m": (0, 0)}


def test_the_table_is_that_of_the_measures(hired):
    X, y = hired
    result = GroupDisparity(protected="sex", measures="all").fit(X, y).result_
    table = result.tables["measures"].set_index("measure")
    wanted = measures.disparities(None, y, protected=X["sex"]).set_index("measure")
    assert list(table.index) == list(wanted.index)
    for name in ("estimate", "p_value", "p_adjusted", "n"):
        assert table[name].to_numpy() == pytest.approx(wanted[name].to_numpy(), nan_ok=True)


def test_every_effect_is_below_zero_for_a_group_that_is_worse_off(hired):
    X, y = hired
    labels = np.ones(len(y), dtype=int)
    labels[::3] = 0
    detector = GroupDisparity(protected="sex", measures="all", pos_label=1)
    result = detector.fit(X, labels, BlackBox(decisions=y)).result_
    effect = result.to_frame().groupby("measure")["effect"].first()
    below = ["mean_difference", "impact_ratio", "odds_ratio", "area_under_curve", "correlation"]
    assert (effect[[*below, "equal_opportunity", "average_odds_difference"]] < 0).all()
    assert {"equalized_odds", "mutual_information"} <= set(result.tables["measures"]["measure"])
    assert not {"equalized_odds", "mutual_information"} & set(effect.index)


def test_intersections_are_measured_and_can_be_left_out():
    counts = {("m", "a"): (30, 60), ("m", "b"): (30, 60), ("f", "a"): (30, 60), ("f", "b"): (3, 60)}
    X, y = people(counts)
    result = GroupDisparity(protected=["sex", "race"]).fit(X, y).result_
    first = result.to_frame().query("measure == 'mean_difference'")
    worst = first.loc[first["effect"].idxmin()]
    assert worst["subject"] == "race = 'b' and sex = 'f'"
    assert worst["effect"] == pytest.approx(0.05 - 0.5)
    assert result.n_tested == 1 + 1 + 3
    alone = GroupDisparity(protected=["sex", "race"], intersections=1).fit(X, y).result_
    assert alone.n_tested == 2


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=4))
@settings(max_examples=20, deadline=None)
def test_effects_are_rates_compared_by_pandas(cells):
    counts = {(f"g{i}",): (x, x + z + 1) for i, (x, z) in enumerate(cells)}
    X, y = people(counts)
    if y.min() == y.max():
        return
    for reference in ("largest", "best", "rest", "overall", "g0"):
        table = GroupDisparity(protected="sex", reference=reference, pos_label=1).fit(X, y)
        rate = pd.Series(y).groupby(X["sex"]).mean()
        size = X["sex"].value_counts().sort_index()
        large = size[size >= 0.02 * len(X)]
        large = large[large >= 10] if large.max() >= 10 else large
        for row in table.result_.to_frame().query("measure == 'mean_difference'").itertuples():
            value = row.subject.split("'")[1]
            other = {
                "rest": y[X["sex"] != value].mean(),
                "overall": y.mean(),
                "best": rate[large.index].max(),
                "g0": rate["g0"],
                "largest": rate[size.idxmax()],
            }[reference]
            assert row.effect == pytest.approx(rate[value] - other)


def test_four_fifths():
    """48 of 80 and 12 of 40: ratio 0.5, 12 short of equal rates, 8 short of four fifths."""
    X, y = people({("m",): (48, 80), ("f",): (12, 40)})
    result = GroupDisparity(protected="sex", preset="four_fifths").fit(X, y).result_
    table = result.tables["impact_ratios"].set_index("group")
    row = table.loc["sex = 'f'"]
    assert (row["n"], row["favorable"], row["rate"]) == (40, 12, pytest.approx(0.3))
    assert row["impact_ratio"] == pytest.approx(0.5)
    assert row["shortfall"] == 12
    assert row["p_value"] == pytest.approx(stats.fisher_exact([[12, 28], [48, 32]])[1])
    assert result.to_frame()["p_value"].iloc[0] == pytest.approx(row["p_value"])
    assert np.isnan(table.loc["sex = 'm'", "impact_ratio"])
    assert "meets_threshold" not in table
    for text in (to_text(result), to_html(result)):
        assert "pass" not in text.lower().replace("passed", "")
        assert "fail" not in text.lower()
    judged = GroupDisparity(protected="sex", preset="four_fifths", threshold=0.8).fit(X, y).result_
    row = judged.tables["impact_ratios"].set_index("group").loc["sex = 'f'"]
    assert (row["meets_threshold"], row["shortfall_at_threshold"]) == ("no", 8)


def test_the_best_group_is_no_tiny_one():
    X, y = people({("m",): (48, 80), ("f",): (12, 40), ("x",): (1, 1)})
    detector = GroupDisparity(protected="sex", preset="four_fifths", min_share=0.02)
    result = detector.fit(X, y).result_
    table = result.tables["impact_ratios"].set_index("group")
    assert set(table["reference"].dropna()) == {"sex = 'm'"}
    assert np.isnan(table.loc["sex = 'x'", "impact_ratio"])
    assert table.loc["sex = 'x'", "rate"] == 1
    excluded = result.excluded.set_index("subject").loc["sex = 'x'"]
    assert excluded["n"] == 1
    assert "fewer than" in excluded["reason"]


def test_ll144_lists_small_groups_and_counts_the_unknown():
    counts = {("m", "a"): (60, 100), ("f", "a"): (50, 100), ("m", "b"): (2, 2), ("f", "b"): (1, 2)}
    X, y = people(counts)
    X.loc[len(X)] = ["m", None]
    X.loc[len(X)] = [None, None]
    y = np.append(y, [1, 0])
    result = GroupDisparity(protected=["sex", "race"], preset="ll144").fit(X, y).result_
    table = result.tables["impact_ratios"].set_index("group")
    assert table.loc["race = 'b'", "note"].startswith("fewer than")
    assert table.loc["race = 'b'", "rate"] == 3 / 4
    assert np.isnan(table.loc["race = 'b'", "impact_ratio"])
    both = table.loc["race = 'a' and sex = 'f'"]
    assert both["impact_ratio"] == pytest.approx(0.5 / 0.6)
    unknown = table[table["note"].str.startswith("unknown")]
    assert unknown["n"].to_dict() == {"race is missing": 2, "sex is missing": 1}
    assert unknown["impact_ratio"].isna().all()
    assert not any("missing" in str(f.subject) for f in result)


def test_ll144_of_scores_counts_who_is_above_the_median():
    X = pd.DataFrame({"sex": list("mmmmffff"), "points": [1, 6, 7, 8, 2, 3, 4, 5]})

    def score(frame):
        return frame["points"].to_numpy() / 10

    detector = GroupDisparity(protected="sex", preset="ll144", output="probability", pos_label=1)
    table = detector.fit(X, None, score).result_.tables["impact_ratios"].set_index("group")
    assert table["favorable"].to_dict() == {"sex = 'm'": 3, "sex = 'f'": 1}
    assert table.loc["sex = 'f'", "impact_ratio"] == pytest.approx(1 / 3)


def test_scores_are_compared_by_their_means():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "points": rng.random(300)})

    def score(frame):
        return frame["points"].to_numpy() * np.where(frame["sex"] == "m", 1, 0.6)

    detector = GroupDisparity(protected="sex", output="probability", pos_label=1, reference="m")
    (finding,) = detector.fit(X, None, score).result_
    means = pd.Series(score(X)).groupby(X["sex"]).mean()
    assert finding.effect == pytest.approx(means["f"] - means["m"])


def test_numbers_are_binned_and_the_edges_are_named():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 90, 2000)})
    y = (rng.random(2000) < np.where(X["age"] > 72, 0.2, 0.6)).astype(int)
    fitted = GroupDisparity(protected="age", n_bins=4).fit(X, y)
    worst = min(fitted.result_, key=lambda f: f.effect)
    assert str(worst.subject).startswith("age > ")
    assert len(fitted.result_.by_value) == 4
    again = fitted.audit(X[:900], y[:900]).to_frame()
    assert set(again["subject"]) == set(fitted.result_.to_frame()["subject"])


def test_new_rows_are_compared_with_the_reference_of_fit(hired):
    fitted = GroupDisparity(protected="sex", pos_label=1).fit(*hired)
    X, y = people({("m",): (10, 20), ("f",): (60, 100)})  # now the women are more, and better off
    again = fitted.audit(X, y)
    row = again.to_frame().set_index("measure").loc["mean_difference"]
    assert (row["subject"], row["reference"]) == ("sex = 'f'", "sex = 'm'")
    assert row["effect"] == pytest.approx(0.6 - 0.5)
    assert row["effect_at_fit"] == pytest.approx(-0.3)
    assert again.n_found == 0
    assert fitted.score(X, y) == pytest.approx(-0.1)
    same = fitted.audit(*hired)
    assert same.to_frame()["effect"].tolist() == fitted.result_.to_frame()["effect"].tolist()


def test_a_group_that_new_rows_lack_is_undefined(hired):
    fitted = GroupDisparity(protected="sex", pos_label=1).fit(*hired)
    again = fitted.audit(*people({("m",): (10, 20)}))
    assert again.to_frame()["effect"].isna().all()
    assert again.n_found == 0
    assert again.verdict == "insufficient evidence"


def test_too_few_people_are_no_evidence_of_fairness():
    result = GroupDisparity(protected="sex").fit(*people({("m",): (5, 10), ("f",): (5, 9)})).result_
    assert result.verdict == "insufficient evidence"
    assert result.answer.bound > 0.1


def test_equal_rates_of_many_are_no_disparity():
    X, y = people({("m",): (5000, 10_000), ("f",): (5000, 10_000)})
    result = GroupDisparity(protected="sex").fit(X, y).result_
    assert result.verdict == "no disparity found"
    assert result.answer.bound < 0.03


@pytest.mark.statistics
def test_noise_is_seldom_found():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(
            {"sex": rng.choice(["f", "m"], 500), "race": rng.choice(list("abcd"), 500)}
        )
        y = rng.integers(0, 2, 500)
        found += GroupDisparity(protected=["sex", "race"]).fit(X, y).result_.n_found > 0
    assert found <= 6  # 5 per cent of 40, and two standard errors


@pytest.mark.statistics
def test_the_planted_group_comes_first_and_its_interval_covers():
    covered = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"sex": rng.choice(["f", "m"], 800), "race": rng.choice(["a", "b"], 800)})
        hit = (X["sex"] == "f") & (X["race"] == "b")
        y = (rng.random(800) < np.where(hit, 0.2, 0.6)).astype(int)
        detector = GroupDisparity(protected=["sex", "race"], reference="rest")
        first = detector.fit(X, y).result_[0]
        assert str(first.subject) == "race = 'b' and sex = 'f'"
        covered += first.ci_low <= -0.4 <= first.ci_high
    assert covered >= 34


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protected": None}, r"GroupDisparity needs protected="),
        ({"measures": ["mean_diference"]}, r"mean_diference.*[Dd]id you mean.*mean_difference"),
        ({"measures": ["equal_opportunity"]}, r"compares decisions with labels"),
        ({"reference": "x"}, r"reference must be one of \['f', 'm'\] for column 'sex'; got 'x'"),
        ({"intersections": 0}, r"intersections"),
        ({"preset": "nyc"}, r"preset"),
    ],
)
def test_bad_settings_are_named(hired, changes, message):
    with pytest.raises(ValueError, match=message):
        GroupDisparity(**{"protected": "sex", **changes}).fit(*hired)


def test_a_reference_per_column_and_for_their_intersections():
    counts = {("m", "a"): (30, 60), ("m", "b"): (20, 60), ("f", "a"): (30, 60), ("f", "b"): (3, 60)}
    detector = GroupDisparity(protected=["sex", "race"], reference={"sex": "m", "race": "b"})
    table = detector.fit(*people(counts)).result_.to_frame()
    assert set(table["reference"]) == {"sex = 'm'", "race = 'b'", "race = 'b' and sex = 'm'"}
    with pytest.raises(ValueError, match=r"reference=.* has no value for 'race'"):
        detector.set_params(reference={"sex": "m"}).fit(*people(counts))
    with pytest.raises(ValueError, match=r"reference='m' is one value, .* several"):
        detector.set_params(reference="m").fit(*people(counts))


def test_measures_of_all_groups_at_once_leave_the_reference_of_fit_alone():
    X, y = make_loan(400, random_state=0, return_X_y=True)
    one = GroupDisparity(protected="gender", measures=["mean_difference"]).fit(X, y)
    all_of_them = GroupDisparity(protected="gender", measures="all", n_resamples=0).fit(X, y)
    for result in (all_of_them.result_, all_of_them.audit(X[:200], y[:200])):
        table = result.to_frame("measures").query("measure == 'mean_difference'")
        assert set(table["reference"]) == set(one.result_.to_frame("measures")["reference"])


def test_people_are_counted_whatever_their_weights():
    """One of 400 women has nearly all of the weight: there are 400 men to compare with."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": np.repeat(["f", "m"], 400)})
    y = rng.integers(2, size=800)
    weight = rng.uniform(0.5, 2, 800)
    weight[0] = 1e5
    result = GroupDisparity(protected="sex").fit(X, y, sample_weight=weight).result_
    assert (result.to_frame()["support"] == 400).all()
    family = result.tables["family"]
    assert (family["n"] == 400).all()
    assert (family["n_others"] == 400).all()
    assert result.verdict == "insufficient evidence"
    assert not result.answer.aside  # nobody is without anyone to compare with
    cells = GroupDisparity(protected="sex", weights="frequency")
    twice = cells.fit(X, y, sample_weight=np.full(800, 2)).result_
    assert (twice.to_frame()["support"] == 800).all()
