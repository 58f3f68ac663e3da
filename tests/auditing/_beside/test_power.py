"""The gaps that an audit could show are shown as often as it says."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, Rule, _stats
from skdisc._verdicts._candidates import Candidates
from skdisc.cli import main

SEX = {"sex": {"F": 0.3, "M": 0.7}}


@pytest.mark.parametrize("share", [0.5, 0.1, 0.03])
@pytest.mark.parametrize("rate", [0.5, 0.2, 0.9])
@pytest.mark.parametrize("side", ["below", "above"])
def test_the_smallest_gap_is_shown_with_this_power(share, rate, side):
    n, rng = 8000, np.random.default_rng(0)
    row = Audit().power(n, {"sex": {"F": share, "M": 1 - share}}, rate).iloc[0]
    gap = row[f"gap_{side}"] * (1 if side == "above" else -1)
    n1, n0 = round(n * share), n - round(n * share)
    p1, p0 = rate + gap * n0 / n, rate - gap * n1 / n
    x1, x0 = rng.binomial(n1, p1, 2000), rng.binomial(n0, p0, 2000)
    shown = _stats.proportions_test(x1, n1, x0, n0)[0] <= row["level"]
    assert 0.75 < shown.mean() < 0.85


@pytest.mark.statistics
def test_the_audit_shows_it_where_its_other_questions_stay_open():
    n, rng, found = 1000, np.random.default_rng(1), []
    shares = {"sex": {"F": 0.4, "M": 0.6}, "race": {"b": 0.5, "w": 0.5}}
    row = Audit().power(n, shares, 0.5, n_questions=2).iloc[0]
    p = 0.5 - 0.6 * row["gap_below"], 0.5 + 0.4 * row["gap_below"]
    for _ in range(60):
        selected = [rng.binomial(400, p[0]), rng.binomial(600, p[1]), 250, 250]
        table = {
            "attribute": ["sex", "sex", "race", "race"],
            "group": ["F", "M", "b", "w"],
            "n": [400, 600, 500, 500],
            "selected": selected,
        }
        found.append(Audit.from_counts(table).document["verdict"]["exit_code"] == 1)
    assert abs(np.mean(found) - 0.8) < 3 * np.sqrt(0.8 * 0.2 / 60)


def test_more_people_show_more_and_more_questions_less():
    def gaps(n=1000, **how):
        return Audit().power(n, SEX, 0.4, **how).iloc[0][["gap_below", "gap_above"]]

    assert (gaps(2000) < gaps()).all()
    assert (gaps(n_questions=12) > gaps(n_questions=3)).all()
    assert (gaps(n_contexts=100) > gaps()).all()
    assert (gaps(power=0.95) > gaps()).all()
    pd.testing.assert_series_equal(gaps(2000, context=0.5), gaps())
    assert gaps(10).isna().all()


@pytest.mark.parametrize("n", [700, 4000])
def test_what_is_excluded_is_so_in_nine_of_ten_fair_tables(n):
    """The bound of `decide` about one comparison, where there is nothing to find."""
    row = Audit(rule=Rule(relevant_gap=0.08)).power(n, SEX, 0.3).iloc[0]
    rng, ones = np.random.default_rng(0), np.ones(2000)

    def excluded(n1, n0, gap):
        x1, x0 = rng.binomial(n1, 0.3, 2000), rng.binomial(n0, 0.3, 2000)
        return (Candidates.of_rates(x1, n1 * ones, x0, n0 * ones).upper(0.05) <= gap).mean()

    n1 = int(row["people"])
    assert excluded(n1, n - n1, row["excludes"]) == pytest.approx(0.9, abs=0.04)
    side = int(row["side_needed"])
    assert excluded(side, side, 0.08) == pytest.approx(0.9, abs=0.04)
    assert row["cleared"] == (n == 4000)
    few = round(0.05 * n), round(0.05 * n * (n - n1) / n1)
    assert excluded(*few, row["excludes_in_context"]) == pytest.approx(0.9, abs=0.06)


def test_a_table_is_a_dict():
    table = pd.DataFrame({"attribute": "sex", "group": ["F", "M"], "share": [0.3, 0.7]})
    one, other = (Audit().power(500, shares) for shares in (SEX, table))
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize(
    ("shares", "settings", "message"),
    [
        ({"sex": {"F": 0.3, "M": 0.6}}, {}, "add up to 1"),
        ({"sex": {"F": 1.0}}, {}, "two groups"),
        ({"sex": {"F": -0.5, "M": 1.5}}, {}, "positive"),
        ({"F": 0.3, "M": 0.7}, {}, "name groups by attribute"),
        ({}, {}, "no group"),
        (pd.DataFrame({"group": ["F"]}), {}, "no column 'attribute'"),
        (SEX, {"rate": 0}, "rate must be"),
        (SEX, {"power": 1}, "power must be"),
        (SEX, {"context": 0}, "context must be"),
        (SEX, {"n_questions": 0}, "n_questions must be"),
        (SEX, {"n_contexts": 0}, "n_contexts must be"),
        (SEX, {"n": 1}, "n must be"),
    ],
)
def test_impossible_plans_are_refused(shares, settings, message):
    with pytest.raises(ValueError, match=message):
        Audit().power(**{"n": 1000, "shares": shares} | settings)


def test_the_command(capsys):
    assert main(["power", "2000", "--shares", "sex:F=0.4,M=0.6", "--rate", "0.3"]) == 0
    out = capsys.readouterr().out
    gap = Audit().power(2000, {"sex": {"F": 0.4, "M": 0.6}}, 0.3)["gap_below"].iloc[0]
    assert (
        f"sex = F: 800 people\n    shows a lower rate with power 0.8 from a gap of {gap:.3f}" in out
    )
    assert main(["power", "30", "--shares", "sex:F=0.1,M=0.9", "--rate", "0.1"]) == 0
    out = capsys.readouterr().out
    assert "at no gap" in out
    assert "people on each side, or as good as that, would show whether a larger one exists" in out
    assert main(["power", "2000", "--shares", "sex"]) == 2
    assert "is not of the form" in capsys.readouterr().err


def test_on_the_class_there_are_no_settings():
    shares = {"sex": {"F": 0.4, "M": 0.6}}
    for given in ((), (2000, shares), (2000, shares, 0.4)):
        with pytest.raises(TypeError, match=r"Write Audit\(protected=...\).power\(...\)"):
            Audit.power(*given)
    with pytest.raises(TypeError, match="robustness was called on the class"):
        Audit.robustness(pd.DataFrame({"sex": ["F", "M"]}), [0, 1])
    with pytest.raises(TypeError, match="to_plan was called on the class"):
        Audit.to_plan("plan.json")
    audit = Audit(protected="sex")
    pd.testing.assert_frame_equal(Audit.power(audit, 2000, shares), audit.power(2000, shares))
