"""The monitor: state, order, shards of streams, new groups, changes, errors."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc import BlackBox, Counts, Predicate, Subgroup
from skdisc.monitoring import DisparityMonitor, _stream
from skdisc.report import to_text
from skdisc.subgroup import DivExplorer


def batch(rng, n=200, gap=0.0, values="fm"):
    X = pd.DataFrame({"sex": rng.choice(list(values), n), "town": rng.choice(["u", "v"], n)})
    return X, (rng.random(n) < 0.5 - gap * (X["sex"] == "f").to_numpy()).astype(int)


def watched(seed, gaps, **settings):
    rng = np.random.default_rng(seed)
    monitor = DisparityMonitor(protected="sex", **{"random_state": 0} | settings)
    for gap in gaps:
        monitor.partial_fit(*batch(rng, gap=gap))
    return monitor


@pytest.mark.slow
def test_a_gap_is_found_and_stays_found():
    monitor = watched(0, [0.3] * 6)
    assert monitor.result_.verdict == "disparity found"
    assert str(monitor.result_[0].subject) == "sex = 'f'"
    assert monitor.result_[0].effect < 0 < monitor.alarm_at_ <= 1200
    assert monitor.n_people_ == monitor.result_.n_samples == 1200
    rng, alarm = np.random.default_rng(1), monitor.alarm_at_
    for _ in range(40):
        monitor.partial_fit(*batch(rng, gap=-0.3))
    assert monitor.alarm_at_ == alarm
    assert monitor.result_.verdict == "disparity found"


def test_people_without_a_stratum_are_a_stratum():
    X, y = batch(np.random.default_rng(0))
    X["town"] = np.resize(["a", None, "b"], len(X))
    found = DisparityMonitor(protected="sex", strata="town").partial_fit(X, y)
    named = X.fillna({"town": "missing"})
    expected = DisparityMonitor(protected="sex", strata="town").partial_fit(named, y)
    columns = ["subject", "support", "outcome", "effect"]
    tables = (m.result_.to_frame()[columns] for m in (found, expected))
    pd.testing.assert_frame_equal(*tables)
    assert "Wealth and changes of the groups" in to_text(found.result_)


def test_strata_are_not_protected():
    with pytest.raises(ValueError, match="strata names 'sex', which is protected"):
        DisparityMonitor(protected="sex", strata="sex").partial_fit(
            *batch(np.random.default_rng(0))
        )


@pytest.mark.slow
def test_an_alarm_by_all_groups_together_says_when():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"town": rng.integers(0, 12, 1500).astype(str)})
    y = rng.random(1500) < 0.4 + 0.2 * (X["town"].astype(int) < 6).to_numpy()
    monitor = DisparityMonitor(protected="town", random_state=0)
    for rows in np.array_split(np.arange(1500), 15):
        monitor.partial_fit(X.iloc[rows], y[rows].astype(int))
        if monitor.alarm_at_ is not None:
            break
    assert monitor.result_.n_found == 0
    assert monitor.result_.reason == "by all groups together, after 1,300 people"


def test_many_equal_people_are_no_disparity_and_few_are_insufficient():
    assert watched(0, [0.0]).result_.verdict == "insufficient evidence"
    rng, monitor = np.random.default_rng(0), DisparityMonitor(protected="sex")
    monitor.partial_fit(*batch(rng, 20_000))
    assert monitor.result_.verdict == "no disparity found"
    assert "no gap above" in monitor.result_.reason


@pytest.mark.slow
def test_a_change_is_dated():
    monitor = watched(3, [0.0] * 15 + [0.25] * 10)
    row = monitor.result_.tables["groups"].iloc[0]
    assert 3000 <= row["changed_at"] <= 4000
    assert abs(row["change_since"] - 3000) <= 400
    assert watched(3, [0.0] * 25).result_.tables["groups"]["changed_at"].isna().all()


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_in_a_batch_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    for output in ("decision", "probability"):
        kept = {"protected": "sex", "random_state": 0}
        one, other = (DisparityMonitor(output=output, **kept) for _ in range(2))
        for _ in range(2):
            X, y = batch(rng, 30)
            y = y if output == "decision" else rng.random(30)
            at = rng.permutation(30)
            one.partial_fit(X, y)
            other.partial_fit(X.iloc[at].reset_index(drop=True), y[at])
        a, b = (json.loads(m.to_json())["stream"]["groups"] for m in (one, other))
        for first, second in zip(a, b, strict=True):
            np.testing.assert_allclose(first["log_e"], second["log_e"], atol=1e-12)
            np.testing.assert_allclose(first["seen"], second["seen"], atol=1e-9)


@pytest.mark.parametrize("output", ["decision", "probability"])
def test_the_state_survives_a_file(output):
    rng = np.random.default_rng(0)
    monitor = DisparityMonitor(protected="sex", output=output, strata="town", random_state=3)
    for n in (1, 3, 100):
        X, y = batch(rng, n)
        monitor.partial_fit(X, y)
    again = DisparityMonitor.from_json(monitor.to_json())
    assert again.to_json() == monitor.to_json()
    pd.testing.assert_frame_equal(again.result_.to_frame(), monitor.result_.to_frame())
    for _ in range(3):
        X, y = batch(rng)
        monitor.partial_fit(X, y)
        again.partial_fit(X, y)
    assert again.to_json() == monitor.to_json()
    with pytest.raises(ValueError, match="columns of earlier batches"):
        DisparityMonitor.from_json(monitor.to_json()).partial_fit(X[["sex"]], y)


def test_a_state_that_was_begun_with_other_bets_goes_on_with_them():
    """Such as one that was saved when the defaults were others: the bets stand in the state."""
    rng, bets = np.random.default_rng(0), (0.05, 0.1, 0.2)
    before = DisparityMonitor(protected="sex", gaps=bets, random_state=0)
    before.partial_fit(*batch(rng, gap=0.1))
    again = DisparityMonitor.from_json(before.to_json())
    X, y = batch(rng, gap=0.1)
    expected, got = (m.partial_fit(X, y).to_json() for m in (before, again))
    assert got == expected
    group, _ = json.loads(got)["stream"]["groups"]
    assert len(group["log_e"]) == 6


def test_a_state_of_version_1_is_read_and_goes_on_with_its_wealth():
    """To start anew would spend the level twice: the wealth of three batches stays."""
    text = Path(__file__).with_name("state_of_version_1.json").read_text(encoding="utf-8")
    old, monitor = json.loads(text), DisparityMonitor.from_json(text)
    new = json.loads(monitor.to_json())
    assert (old["version"], new["version"]) == (1, 2)
    rule = monitor.rule
    assert (rule.significance, rule.relevant_gap, rule.relevant_ratio) == (0.01, 0.15, 0.8)
    for before, after in zip(old["stream"]["groups"], new["stream"]["groups"], strict=True):
        assert before.items() <= after.items()
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 40)})
    monitor.partial_fit(X, (rng.random(40) < 0.5).astype(int))
    again = DisparityMonitor.from_json(monitor.to_json())
    assert again.to_json() == monitor.to_json()
    assert again.result_.answer is not None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 99}', '{"version": 1}'])
def test_a_damaged_state_is_refused(text):
    with pytest.raises(ValueError, match="not the state of a DisparityMonitor"):
        DisparityMonitor.from_json(text)


def test_a_file_that_is_no_state_says_what_is_lacking():
    with pytest.raises(ValueError, match="no 'version' in it"):
        DisparityMonitor.from_json('{"verdicts": []}')


@pytest.mark.slow
def test_the_state_is_small_and_holds_no_rows(monkeypatch):
    """Of a tenth of the records that are kept, a tenth of 200 kB; of all that were met, more."""
    most = 200_000 * 40 / _stream._MOST_RECORDS
    monkeypatch.setattr(_stream, "_MOST_RECORDS", 40)
    rng, monitor = np.random.default_rng(0), DisparityMonitor(protected="sex")
    for _ in range(80):
        X, y = batch(rng, 5)
        monitor.partial_fit(X.assign(name="MARKER"), y)
    assert len(monitor.to_json()) < most
    assert "MARKER" not in monitor.to_json()


@pytest.mark.slow
def test_one_person_at_a_time_waits_for_the_other_side():
    monitor = DisparityMonitor(protected="sex")
    blocks = []
    for sex in 30 * "f" + "m" + 12 * "fm" + "f":
        monitor.partial_fit(pd.DataFrame({"sex": [sex]}), [len(blocks) % 2])
        blocks.append(monitor.result_.tables["groups"]["n_blocks"].max())
    assert blocks == 30 * [0] + 25 * [1] + [2]  # 30 and 1 are a block, then 13 and 12


@pytest.mark.slow
def test_a_value_that_comes_later_is_a_group_with_what_is_left_of_the_level():
    monitor = watched(0, [0.0, 0.0])
    rng = np.random.default_rng(1)
    for _ in range(12):
        X, y = batch(rng, values="fmx")
        monitor.partial_fit(X, np.where(X["sex"] == "x", 0, y))
    shares = monitor.result_.tables["groups"].set_index("group")["share_of_level"]
    assert shares.sum() <= 1
    assert shares["sex = 'x'"] == pytest.approx(0.05)
    assert str(monitor.result_[0].subject) == "sex = 'x'"
    assert monitor.result_[0].p_adjusted <= 0.05


def test_findings_of_an_audit_are_watched_in_their_context():
    rng = np.random.default_rng(0)
    women_in_u = Subgroup([Predicate.equals("sex", "f"), Predicate.equals("town", "u")])
    monitor = DisparityMonitor(protected="sex", subgroups=[women_in_u])
    assert monitor.null == "contextual"
    for _ in range(10):
        X, y = batch(rng)
        y = np.where((X["sex"] == "f") & (X["town"] == "u"), 0, y)
        monitor.partial_fit(X, np.where(X["town"] == "v", 1, y))  # the town makes no disparity
    (finding,) = monitor.result_
    assert finding.subject == women_in_u
    assert finding.effect == pytest.approx(-0.5, abs=0.1)
    found = DivExplorer(protected="sex").fit(*batch(rng, 1000, gap=0.4)).result_
    assert len(DisparityMonitor(protected="sex", subgroups=found).fit(*batch(rng)).result_)


def test_error_rates_need_labels_and_leave_others_out():
    rng = np.random.default_rng(0)
    X, y = batch(rng, 2000)
    decided = np.where((X["sex"] == "f") & (rng.random(2000) < 0.4), 0, y)
    monitor = DisparityMonitor(protected="sex", metric="true_positive_rate")
    monitor.partial_fit(X, y, decided)
    assert monitor.n_people_ == y.sum()
    assert monitor.result_.findings.table["outcome_rest"][0] == 1
    assert monitor.result_[0].effect == pytest.approx(-0.4, abs=0.06)
    with pytest.raises(ValueError, match="true_positive_rate"):
        monitor.partial_fit(X, decided)


@pytest.mark.slow
def test_within_strata_only_gaps_within_them_count():
    rng = np.random.default_rng(0)
    plain, within = (DisparityMonitor(protected="sex", strata=s) for s in (None, "town"))
    for _ in range(20):
        X = pd.DataFrame({"town": rng.choice(["u", "v"], 300)})
        X["sex"] = np.where(rng.random(300) < np.where(X["town"] == "u", 0.8, 0.2), "f", "m")
        y = (rng.random(300) < np.where(X["town"] == "u", 0.2, 0.8)).astype(int)
        plain.partial_fit(X, y)
        within.partial_fit(X, y)
    assert plain.result_.n_found
    assert not within.result_.n_found


def test_fit_starts_anew_and_audits_see_their_rows_alone():
    rng = np.random.default_rng(0)
    monitor = DisparityMonitor(protected="sex").fit(*batch(rng, 1000, gap=0.3))
    assert monitor.result_.n_found
    assert monitor.audited_ == "labels"
    again = monitor.audit(*batch(rng, 1000, gap=0.0))
    assert again.verdict != "disparity found"
    assert abs(again[0].effect) < 0.15
    assert monitor.score(*batch(rng, 1000, gap=0.3)) > 0.15
    assert monitor.fit(*batch(rng, 500)).n_people_ == 500
    monitor.partial_fit(*batch(rng, 300))
    assert monitor.n_people_ == 800
    model = BlackBox(lambda X: (X["sex"] == "m").astype(int))
    assert monitor.fit(batch(rng)[0], model=model).result_.n_found


WRONG = [
    ({"protected": "sexx"}, {}, "did you mean 'sex'"),
    ({}, {}, "needs protected"),
    ({"protected": "sex", "gaps": [0.0]}, {}, "gaps must be numbers between 0 and 1"),
    ({"protected": "sex", "run_length": 1}, {}, "run_length"),
    ({"protected": "age"}, {}, "too many to be groups"),
    ({"protected": "sex"}, {"y": None}, "needs decisions, as y or y_pred"),
    ({"protected": "sex"}, {"y": ["yes"] * 100}, "pos_label is not set"),
    ({"protected": "sex", "output": "probability"}, {"y": [2.0] * 100}, "between 0 and 1"),
    ({"protected": "sex"}, {"y": [0] * 99}, "inconsistent numbers of samples"),
]


@pytest.mark.parametrize(("settings", "given", "message"), WRONG)
def test_what_is_wrong_is_said(settings, given, message):
    X, y = batch(np.random.default_rng(0), 100)
    X["age"] = np.arange(100)
    with pytest.raises(ValueError, match=message):
        DisparityMonitor(**settings).partial_fit(X, **({"y": y} | given))


def test_a_wrong_batch_leaves_the_state_as_it_was():
    monitor = watched(0, [0.1] * 3)
    before = monitor.to_json()
    X, _ = batch(np.random.default_rng(0))
    with pytest.raises(ValueError, match="holds 7"):
        monitor.partial_fit(X, np.full(200, 7))
    assert monitor.to_json() == before


def test_text_decisions_need_their_favorable_one():
    X, y = batch(np.random.default_rng(0), 500, gap=0.4)
    text = np.where(y, "hired", "refused")
    monitor = DisparityMonitor(protected="sex", pos_label="hired").partial_fit(X, text)
    assert monitor.result_[0].effect == pytest.approx(
        DisparityMonitor(protected="sex").partial_fit(X, y).result_[0].effect
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), n_shards=st.integers(1, 5))
def test_counts_of_shards_add_up_to_the_batch(seed, n_shards):
    rng, kept = np.random.default_rng(seed), {"protected": ["sex", "town"], "random_state": 0}
    rows, shards = (DisparityMonitor(intersections=2, **kept) for _ in range(2))
    start = batch(np.random.default_rng(0), 400)  # in which every value occurs
    schema = counts_of(*start).schema
    for n in (30, 200):
        X, y = batch(rng, n, gap=0.2)
        part = rng.integers(n_shards, size=n)
        parts = [counts_of(X[part == i], y[part == i], schema) for i in rng.permutation(n_shards)]
        rows.partial_fit(X, y)
        shards.partial_fit(Counts.sum(parts))
    a, b = (json.loads(m.to_json())["stream"] for m in (rows, shards))
    assert (a["n_people"], a["n_batches"]) == (b["n_people"], b["n_batches"]) == (230, 2)
    for first, second in zip(a["groups"], b["groups"], strict=True):
        assert first["group"] == second["group"]
        assert first["seen"] == second["seen"]
        np.testing.assert_allclose(first["log_e"], second["log_e"], atol=1e-12)


def counts_of(X, y, schema=None):
    table = X.assign(hired=y)
    if schema is not None:
        return Counts.of_frame(table, schema)
    return Counts.of(table, protected=["sex", "town"], decision="hired")


def test_counts_of_what_cannot_be_counted_are_refused():
    X, y = batch(np.random.default_rng(0), 100)
    counts = counts_of(X, y)
    monitor = DisparityMonitor(protected="sex")
    with pytest.raises(ValueError, match="got y or y_pred besides"):
        monitor.partial_fit(counts, y)
    with pytest.raises(ValueError, match="hold decisions, not numbers"):
        DisparityMonitor(protected="sex", output="probability").partial_fit(counts)
    with pytest.raises(ValueError, match="'age' was cut into bins"):
        monitor.partial_fit(counts_of(X.assign(age=np.arange(100)), y))
    monitor.partial_fit(counts)
    assert monitor.n_people_ == 100
